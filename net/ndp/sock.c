// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: addresses and ports of sockets; events for programs
 */
#include <linux/errqueue.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include "ndp.h"

/* ---- addresses ---- */

static int ndp_addr_read4(const struct sock *sk, __be32 from, struct in6_addr *addr)
{
	if (sk->sk_family == AF_INET6 && ipv6_only_sock(sk))
		return -ENETUNREACH;
	if (ipv4_is_multicast(from) || ipv4_is_lbcast(from))
		return -ENETUNREACH;
	ipv6_addr_set_v4mapped(from ?: htonl(INADDR_LOOPBACK), addr);
	return 0;
}

static int ndp_addr_read6(const struct sock *sk, const struct sockaddr_in6 *from, int len,
			  struct in6_addr *addr, int *ifindex)
{
	int type = ipv6_addr_type(&from->sin6_addr), dev = READ_ONCE(sk->sk_bound_dev_if);

	if (type & IPV6_ADDR_MAPPED)
		return ndp_addr_read4(sk, from->sin6_addr.s6_addr32[3], addr);
	if (type & IPV6_ADDR_MULTICAST)
		return -ENETUNREACH;
	*addr = type == IPV6_ADDR_ANY ? in6addr_loopback : from->sin6_addr;
	if (!__ipv6_addr_needs_scope_id(type))
		return 0;
	*ifindex = len >= (int)sizeof(*from) && from->sin6_scope_id ? from->sin6_scope_id : dev;
	return *ifindex && (!dev || *ifindex == dev) ? 0 : -EINVAL;
}

/**
 * ndp_addr_read() - read a peer's address from a program
 * @sk: socket
 * @from: sockaddr_in or, with AF_INET6 sockets, sockaddr_in6
 * @len: its length in bytes
 * @addr: result: address; IPv4 is mapped, and "any" becomes the loopback
 * @port: result: port, host byte order, not 0
 * @ifindex: result: device of a link-local address; else 0
 *
 * Return: 0; -EINVAL: too short, no port, or a link-local address without a device or with
 * another one than the socket's; -EAFNOSUPPORT; -ENETUNREACH: a group, or IPv4 with IPV6_V6ONLY.
 */
int ndp_addr_read(const struct sock *sk, const struct sockaddr *from, int len,
		  struct in6_addr *addr, u16 *port, int *ifindex)
{
	const struct sockaddr_in6 *from6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *from4 = (const struct sockaddr_in *)from;

	if (len < (int)sizeof(from->sa_family))
		return -EINVAL;
	*ifindex = 0;
	if (from->sa_family == AF_INET) {
		if (len < (int)sizeof(*from4) || !from4->sin_port)
			return -EINVAL;
		*port = ntohs(from4->sin_port);
		return ndp_addr_read4(sk, from4->sin_addr.s_addr, addr);
	}
	if (from->sa_family != AF_INET6 || sk->sk_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (len < SIN6_LEN_RFC2133 || !from6->sin6_port)
		return -EINVAL;
	*port = ntohs(from6->sin6_port);
	return ndp_addr_read6(sk, from6, len, addr, ifindex);
}

/**
 * ndp_addr_write() - write a peer's address for a program
 * @sk: socket
 * @addr: address
 * @port: host byte order
 * @ifindex: device of a link-local address; else 0
 * @to: result: sockaddr_in or sockaddr_in6, by the socket's family
 *
 * Return: its length.
 */
int ndp_addr_write(const struct sock *sk, const struct in6_addr *addr, u16 port, int ifindex,
		   void *to)
{
	if (sk->sk_family == AF_INET) {
		*(struct sockaddr_in *)to = (struct sockaddr_in) {
			.sin_family = AF_INET, .sin_port = htons(port),
			.sin_addr.s_addr = addr->s6_addr32[3],
		};
		return sizeof(struct sockaddr_in);
	}
	*(struct sockaddr_in6 *)to = (struct sockaddr_in6) {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *addr,
		.sin6_scope_id = ifindex,
	};
	return sizeof(struct sockaddr_in6);
}

/**
 * ndp_bound() - get the address to which a socket is bound
 * @sk: socket
 *
 * Return: address, or in6addr_any.
 */
struct in6_addr ndp_bound(const struct sock *sk)
{
	struct in6_addr addr = in6addr_any;

	if (sk->sk_family == AF_INET6)
		return sk->sk_v6_rcv_saddr;
	if (sk->sk_rcv_saddr)
		ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &addr);
	return addr;
}

static bool ndp_accepts_ipv4(const struct sock *sk)
{
	return sk->sk_family == AF_INET || !ipv6_only_sock(sk);
}

/* Does a socket accept packets to an address? 2: only to this one; 1: to any; 0: no */
static int ndp_accepts(const struct sock *sk, const struct in6_addr *to)
{
	struct in6_addr bound = ndp_bound(sk);

	if (!ipv6_addr_any(&bound))
		return ipv6_addr_equal(&bound, to) ? 2 : 0;
	return ipv6_addr_v4mapped(to) ? ndp_accepts_ipv4(sk) : sk->sk_family == AF_INET6;
}

/* ---- devices ---- */

/**
 * ndp_dev_find() - find a device
 * @nn: namespace
 * @ifindex: its index
 *
 * Under RCU or RTNL.
 *
 * Return: device, or NULL.
 */
struct ndp_dev *ndp_dev_find(struct ndp_net *nn, int ifindex)
{
	struct ndp_dev *nd;

	hash_for_each_possible_rcu(nn->devs, nd, node, ifindex, lockdep_rtnl_is_held())
		if (nd->ifindex == ifindex)
			return nd;
	return NULL;
}

/**
 * ndp_sock_dev() - find the device to which a socket is bound, alone or by its address
 * @sk: socket
 *
 * Under RCU.
 *
 * Return: device; NULL: none, a loopback device, or a VRF.
 */
struct ndp_dev *ndp_sock_dev(const struct sock *sk)
{
	struct net *net = sock_net(sk);
	int ifindex = READ_ONCE(sk->sk_bound_dev_if);
	struct in6_addr bound = ndp_bound(sk);
	struct net_device *dev = NULL;

	if (ifindex)
		dev = dev_get_by_index_rcu(net, ifindex);
	else if (ipv6_addr_v4mapped(&bound))
		dev = __ip_dev_find(net, bound.s6_addr32[3], false);
	else if (!ipv6_addr_any(&bound))
		dev = ipv6_dev_find(net, &bound, NULL);
	if (!dev || dev->flags & IFF_LOOPBACK || netif_is_l3_master(dev))
		return NULL;
	return ndp_dev_find(ndp_net(net), dev->ifindex);
}

/* Have all devices by which packets to a socket may arrive the repair of trimmed packets? */
static bool ndp_sock_is_hooked(const struct sock *sk)
{
	const struct ndp_dev *nd;
	bool hooked;

	rcu_read_lock();
	nd = ndp_sock_dev(sk);
	hooked = nd ? READ_ONCE(nd->hooked) : READ_ONCE(ndp_net(sock_net(sk))->hooked_all);
	rcu_read_unlock();
	return hooked;
}

/**
 * ndp_sock_wait_hooked() - wait until the devices of a socket have the repair of trimmed packets
 * @sk: socket with a port, not locked
 *
 * May sleep.
 */
void ndp_sock_wait_hooked(const struct sock *sk)
{
	if (!ndp_sock_is_hooked(sk))
		flush_work(&ndp_net(sock_net(sk))->hook);
}

/* ---- ports ---- */

static bool ndp_port_conflict(const struct sock *a, const struct sock *b)
{
	struct in6_addr bound_a = ndp_bound(a), bound_b = ndp_bound(b);
	int dev_a = READ_ONCE(a->sk_bound_dev_if), dev_b = READ_ONCE(b->sk_bound_dev_if);

	if (dev_a && dev_b && dev_a != dev_b)
		return false;
	if (!ipv6_addr_any(&bound_a))
		return ndp_accepts(b, &bound_a);
	if (!ipv6_addr_any(&bound_b))
		return ndp_accepts(a, &bound_b);
	return a->sk_family == b->sk_family || (ndp_accepts_ipv4(a) && ndp_accepts_ipv4(b));
}

static struct sock *ndp_sock_of(struct ndp_sock *ns)
{
	return &ns->inet.sk;
}

/* May sockets share a port? As for UDP and TCP, all of them have to agree, and have one owner. */
static bool ndp_port_is_shared(const struct sock *a, const struct sock *b)
{
	return a->sk_reuseport && b->sk_reuseport &&
	       uid_eq(READ_ONCE(a->sk_uid), READ_ONCE(b->sk_uid));
}

/* Return: false if another socket has the port */
static bool ndp_port_take(struct sock *sk, u16 port, bool share)
{
	struct ndp_net *nn = ndp_net(sock_net(sk));
	struct ndp_sock *ns = ndp_sk(sk), *other;
	bool free = true;

	spin_lock_bh(&nn->ports_lock);
	hash_for_each_possible(nn->ports, other, port_node, port) {
		struct sock *has = ndp_sock_of(other);

		if (other->inet.inet_num == port && ndp_port_conflict(sk, has) &&
		    !(share && ndp_port_is_shared(sk, has))) {
			free = false;
			break;
		}
	}
	if (free) {
		ns->inet.inet_num = port;
		sk->sk_hash = get_random_u32();
		hash_add_rcu(nn->ports, &ns->port_node, port);
	}
	spin_unlock_bh(&nn->ports_lock);
	return free;
}

/* Bind a free port of ip_local_port_range, beginning with a random one. */
static int ndp_port_choose(struct sock *sk)
{
	int low, high, count, i;
	u32 offset;

	inet_sk_get_local_port_range(sk, &low, &high);
	count = high - low + 1;
	offset = get_random_u32() % count;
	for (i = 0; i < count; i++) {
		u16 port = low + (offset + i) % count;

		if (!inet_is_local_reserved_port(sock_net(sk), port) &&
		    ndp_port_take(sk, port, false))
			return 0;
		cond_resched();
	}
	return -EADDRINUSE;
}

/**
 * ndp_get_port() - take a port: struct proto's get_port()
 * @sk: socket, locked; its addresses are set
 * @port: port; 0: any
 *
 * Return: 0 or -EADDRINUSE.
 */
int ndp_get_port(struct sock *sk, unsigned short port)
{
	int err;

	if (port)
		err = ndp_port_take(sk, port, true) ? 0 : -EADDRINUSE;
	else
		err = ndp_port_choose(sk);
	/* RTNL cannot be taken here, because the socket is locked */
	if (!err && !ndp_sock_is_hooked(sk))
		ndp_devs_changed(ndp_net(sock_net(sk)));
	return err;
}

/**
 * ndp_unhash() - release the port of a socket: struct proto's unhash()
 * @sk: socket; its counters are added to the namespace's
 */
void ndp_unhash(struct sock *sk)
{
	struct ndp_net *nn = ndp_net(sock_net(sk));
	struct ndp_sock *ns = ndp_sk(sk);
	int i;

	spin_lock_bh(&nn->ports_lock);
	if (!hlist_unhashed(&ns->port_node)) {
		hash_del_rcu(&ns->port_node);
		spin_lock(&nn->totals_lock);
		for (i = 0; i < NDP_RCV_VERDICTS; i++)
			nn->rcv_totals[i] += ns->rcv.verdicts[i];
		spin_unlock(&nn->totals_lock);
		schedule_delayed_work(&nn->idle, NDP_DEV_IDLE);
	}
	spin_unlock_bh(&nn->ports_lock);
}

/**
 * ndp_put_port() - bind() has failed after it took a port: struct proto's put_port()
 * @sk: socket
 */
void ndp_put_port(struct sock *sk)
{
	ndp_unhash(sk);
	/* readers of the hash list must not continue in the list of another port */
	synchronize_rcu();
	inet_sk(sk)->inet_num = 0;
}

/**
 * ndp_autobind() - bind a socket without a port
 * @sk: socket, not locked
 *
 * Return: 0 or -EAGAIN: all ports are in use.
 */
int ndp_autobind(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);
	int err = 0;

	if (READ_ONCE(inet->inet_sport))
		return 0;
	lock_sock(sk);
	if (!inet->inet_num)
		err = ndp_get_port(sk, 0) ? -EAGAIN : 0;
	WRITE_ONCE(inet->inet_sport, htons(inet->inet_num));
	release_sock(sk);
	ndp_sock_wait_hooked(sk);
	return err;
}

/**
 * ndp_sender_hash() - hash the address and port of a sender
 * @nn: namespace, which has a secret, so that a peer cannot force collisions
 * @addrs: addresses
 * @port: port
 *
 * Return: hash.
 */
u32 ndp_sender_hash(const struct ndp_net *nn, const struct ndp_addrs *addrs, u16 port)
{
	return jhash(addrs, sizeof(*addrs), port ^ (u32)nn->token_key.key[0]);
}

/* How well does a socket fit a packet? 0: not at all */
static int ndp_sock_score(const struct ndp_sock *ns, const struct ndp_packet *p)
{
	const struct sock *sk = &ns->inet.sk;
	int dev = READ_ONCE(sk->sk_bound_dev_if), takes;

	if (ns->inet.inet_num != p->h.dport || READ_ONCE(ns->closed) ||
	    (dev && dev != p->ifindex && dev != p->addrs.ifindex))
		return 0;
	takes = ndp_accepts(sk, &p->addrs.local);
	if (!takes)
		return 0;
	return 4 * takes + 2 * !!dev + (READ_ONCE(sk->sk_incoming_cpu) == raw_smp_processor_id());
}

/**
 * ndp_sock_lookup() - find the socket of a packet that opens a flow
 * @nn: namespace
 * @p: packet with all of its header
 *
 * Under RCU. Sockets that are bound to the address or the device go first, then those with
 * SO_INCOMING_CPU for this CPU. Of sockets that share the port, all flows of a sender have the
 * same one: that with the greatest hash, so few senders move when one is opened or closed. A
 * connected socket receives from all peers.
 *
 * Return: the socket, not counted, or NULL.
 */
struct sock *ndp_sock_lookup(struct ndp_net *nn, const struct ndp_packet *p)
{
	const u32 sender = ndp_sender_hash(nn, &p->addrs, p->h.sport);
	struct sock *best = NULL;
	struct ndp_sock *ns;
	int most = 0;

	hash_for_each_possible_rcu(nn->ports, ns, port_node, p->h.dport) {
		struct sock *sk = ndp_sock_of(ns);
		int score = ndp_sock_score(ns, p);

		if (score > most || (score && score == most &&
				     jhash_1word(sk->sk_hash, sender) >
				     jhash_1word(best->sk_hash, sender))) {
			most = score;
			best = sk;
		}
	}
	return best;
}

/* ---- programs ---- */

/**
 * ndp_sock_is_writable() - check whether sendmsg() would not wait
 * @ns: socket
 *
 * Return: true if so.
 */
bool ndp_sock_is_writable(const struct ndp_sock *ns)
{
	return atomic64_read(&ns->snd_bytes) < READ_ONCE(ns->inet.sk.sk_sndbuf) &&
	       !READ_ONCE(ns->turn_denied);
}

/**
 * ndp_sock_writable() - messages have ended, or their memory was freed
 * @sk: socket; wakes sendmsg(), poll() and close()
 */
void ndp_sock_writable(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_sync_poll(&wq->wait,
						EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (ndp_sock_is_writable(ndp_sk(sk)))
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

/**
 * ndp_sock_failed() - report a message that failed after sendmsg()
 * @sk: socket
 * @addrs: its addresses
 * @port: its destination port
 * @msg_no: number of the message
 * @error: errno
 */
void ndp_sock_failed(struct sock *sk, const struct ndp_addrs *addrs, u16 port, u64 msg_no,
		     u8 error)
{
	const struct ndp_failure failure = {
		.remote = addrs->remote, .ifindex = addrs->ifindex, .port = port,
		.failed = { .msg = msg_no, .error = error },
	};
	struct sk_buff *skb;

	if (sock_flag(sk, SOCK_DEAD))
		return;
	skb = alloc_skb(sizeof(failure), GFP_ATOMIC | __GFP_NOWARN);
	if (skb) {
		skb_put_data(skb, &failure, sizeof(failure));
		memset(skb->cb, 0, sizeof(skb->cb));
		SKB_EXT_ERR(skb)->ee.ee_origin = NDP_EE_ORIGIN;
	}
	if (!skb || sock_queue_err_skb(sk, skb)) {
		ndp_count(ndp_net(sock_net(sk)), NDP_N_FAILED_UNTOLD);
		kfree_skb(skb);
	}
	if (READ_ONCE(sk->sk_state) == TCP_ESTABLISHED) {
		WRITE_ONCE(sk->sk_err, error);
		sk_error_report(sk);
	}
}
