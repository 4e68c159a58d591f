// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sockets: ports, addresses, options, errors, end
 */
#include <linux/errqueue.h>
#include <linux/sched/signal.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include "ndp.h"

/* 10 Gbit/s for 3 ms: messages that are on their way, and those that wait to be read */
#define NDP_BUFFER_BYTES	(4U << 20)
/* Longer than a sender goes on about a packet: NDP_TIMEOUT_MAX, and a path's delay */
#define NDP_TIME_WAIT_NS	(10ULL * NSEC_PER_SEC)
/* A sender begins no more messages at a time than it has packets in flight. */
#define NDP_MSGS_MAX		(4 * NDP_WINDOW_MAX)

/* ---- addresses */

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
 * ndp_addr_read() - what a socket's user says about a peer
 * @sk: socket
 * @from: sockaddr_in or, of AF_INET6 sockets, sockaddr_in6, too
 * @len: bytes of it that there are
 * @addr: result: address; IPv4 is mapped, and "any" is the loopback
 * @port: result: port, host byte order, not 0
 * @ifindex: result: of link-local addresses; else 0
 *
 * Return: 0; -EINVAL: too short, no port, or link-local and no device, or another one
 * than the socket's; -EAFNOSUPPORT; -ENETUNREACH: more than one host, or not for this
 * socket.
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
 * ndp_addr_write() - tell a socket's user about a peer
 * @sk: socket
 * @addr: address
 * @port: host byte order
 * @ifindex: of link-local addresses; else 0
 * @to: result: sockaddr_in or sockaddr_in6, as the socket's family is
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
 * ndp_bound() - the address that a socket is bound to
 * @sk: socket
 *
 * Return: it; the unspecified one of IPv6: to none.
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

static bool ndp_takes_ipv4(const struct sock *sk)
{
	return sk->sk_family == AF_INET || !ipv6_only_sock(sk);
}

/* Does a socket take what is sent to an address? 2: to just this one; 0: no */
static int ndp_takes(const struct sock *sk, const struct in6_addr *to)
{
	struct in6_addr bound = ndp_bound(sk);

	if (!ipv6_addr_any(&bound))
		return ipv6_addr_equal(&bound, to) ? 2 : 0;
	return ipv6_addr_v4mapped(to) ? ndp_takes_ipv4(sk) : sk->sk_family == AF_INET6;
}

/* ---- ports */

static bool ndp_port_conflict(const struct sock *a, const struct sock *b)
{
	struct in6_addr bound_a = ndp_bound(a), bound_b = ndp_bound(b);
	int dev_a = READ_ONCE(a->sk_bound_dev_if), dev_b = READ_ONCE(b->sk_bound_dev_if);

	if (dev_a && dev_b && dev_a != dev_b)
		return false;
	if (!ipv6_addr_any(&bound_a))
		return ndp_takes(b, &bound_a);
	if (!ipv6_addr_any(&bound_b))
		return ndp_takes(a, &bound_b);
	return a->sk_family == b->sk_family || (ndp_takes_ipv4(a) && ndp_takes_ipv4(b));
}

static struct sock *ndp_sock_of(struct ndp_sock *ns)
{
	return &ns->inet.sk;
}

/* Return: false if somebody else has it. */
static bool ndp_port_take(struct sock *sk, u16 port)
{
	struct ndp_net *nn = ndp_net(sock_net(sk));
	struct ndp_sock *ns = ndp_sk(sk), *other;
	bool free = true;

	spin_lock_bh(&nn->ports_lock);
	hash_for_each_possible(nn->ports, other, port_node, port) {
		if (other->inet.inet_num == port && ndp_port_conflict(sk, ndp_sock_of(other))) {
			free = false;
			break;
		}
	}
	if (free) {
		ns->inet.inet_num = port;
		hash_add_rcu(nn->ports, &ns->port_node, port);
	}
	spin_unlock_bh(&nn->ports_lock);
	return free;
}

/* A free port of those that ip_local_port_range has, from a random one on */
static int ndp_port_choose(struct sock *sk)
{
	int low, high, count, i;
	u32 offset;

	inet_sk_get_local_port_range(sk, &low, &high);
	count = high - low + 1;
	offset = get_random_u32() % count;
	for (i = 0; i < count; i++) {
		u16 port = low + (offset + i) % count;

		if (!inet_is_local_reserved_port(sock_net(sk), port) && ndp_port_take(sk, port))
			return 0;
		cond_resched();
	}
	return -EADDRINUSE;
}

/* Of bind(); the socket is locked, and its addresses are set. */
static int ndp_get_port(struct sock *sk, unsigned short port)
{
	if (!port)
		return ndp_port_choose(sk);
	return ndp_port_take(sk, port) ? 0 : -EADDRINUSE;
}

/* Returns a socket's port, and adds up what it has counted. */
static void ndp_unhash(struct sock *sk)
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
	}
	spin_unlock_bh(&nn->ports_lock);
}

/* bind() has changed its mind: nothing has come by this port yet. */
static void ndp_put_port(struct sock *sk)
{
	ndp_unhash(sk);
	/* Whoever looks for a socket is not to find himself among those of another port. */
	synchronize_rcu();
	inet_sk(sk)->inet_num = 0;
}

/**
 * ndp_autobind() - give a socket a port, if it has none
 * @sk: socket, not locked
 *
 * Return: 0 or -EAGAIN: all are in use.
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
	return err;
}

/**
 * ndp_sock_lookup() - whose is a packet that came?
 * @nn: namespace
 * @p: the packet; its header is there
 *
 * Under RCU. A socket that is bound to the address goes before one that takes all; one
 * that is connected takes messages of all peers.
 *
 * Return: the socket, not counted; NULL: none.
 */
struct sock *ndp_sock_lookup(struct ndp_net *nn, const struct ndp_packet *p)
{
	struct sock *best = NULL;
	struct ndp_sock *ns;
	int most = 0;

	hash_for_each_possible_rcu(nn->ports, ns, port_node, p->h.dport) {
		struct sock *sk = ndp_sock_of(ns);
		int dev = READ_ONCE(sk->sk_bound_dev_if), takes;

		if (ns->inet.inet_num != p->h.dport || (dev && dev != p->ifindex))
			continue;
		takes = ndp_takes(sk, &p->addrs.local);
		if (takes && 2 * takes + !!dev > most) {
			most = 2 * takes + !!dev;
			best = sk;
		}
	}
	return best;
}

/* ---- connect */

static __be32 ndp_ipv4_of(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr) ? addr->s6_addr32[3] : LOOPBACK4_IPV6;
}

static void ndp_set_local(struct sock *sk, const struct in6_addr *addr)
{
	struct inet_sock *inet = inet_sk(sk);
	struct in6_addr bound = ndp_bound(sk);

	if (!ipv6_addr_any(&bound))
		return;
	inet->inet_saddr = ndp_ipv4_of(addr);
	inet->inet_rcv_saddr = inet->inet_saddr;
	if (sk->sk_family == AF_INET6) {
		inet6_sk(sk)->saddr = *addr;
		sk->sk_v6_rcv_saddr = *addr;
	}
}

static int ndp_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int len)
{
	struct inet_sock *inet = inet_sk(sk);
	struct in6_addr remote, bound;
	struct ndp_route route;
	int err, ifindex;
	u16 port;

	lock_sock(sk);
	err = ndp_addr_read(sk, (struct sockaddr *)uaddr, len, &remote, &port, &ifindex);
	if (err)
		goto unlock;
	bound = ndp_bound(sk);
	err = ndp_out_route(sk, &bound, &remote, ifindex, &route);
	if (err)
		goto unlock;
	ndp_set_local(sk, &route.local);
	inet->inet_daddr = ndp_ipv4_of(&remote);
	if (sk->sk_family == AF_INET6) {
		sk->sk_v6_daddr = remote;
		if (ifindex)
			WRITE_ONCE(sk->sk_bound_dev_if, ifindex);
	}
	inet->inet_dport = htons(port);
	WRITE_ONCE(sk->sk_state, TCP_ESTABLISHED);
unlock:
	release_sock(sk);
	return err;
}

static int ndp_disconnect(struct sock *sk, int flags)
{
	struct inet_sock *inet = inet_sk(sk);

	lock_sock(sk);
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	inet->inet_daddr = 0;
	inet->inet_dport = 0;
	sk->sk_v6_daddr = in6addr_any;
	/* as UDP does: connect() to a link-local address has set it */
	WRITE_ONCE(sk->sk_bound_dev_if, 0);
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		inet_reset_saddr(sk);
	release_sock(sk);
	return 0;
}

/* ---- who waits */

static bool ndp_is_writable(const struct ndp_sock *ns)
{
	return atomic64_read(&ns->snd_bytes) < READ_ONCE(ns->inet.sk.sk_sndbuf) &&
	       !READ_ONCE(ns->turn_denied);
}

/**
 * ndp_sock_writable() - messages have ended, or less of them is kept
 * @sk: socket; those that sleep in sendmsg(), poll() and close() look again
 */
void ndp_sock_writable(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_sync_poll(&wq->wait,
						EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (ndp_is_writable(ndp_sk(sk)))
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

static __poll_t ndp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk = sock->sk;
	u8 shutdown = READ_ONCE(sk->sk_shutdown);
	__poll_t mask = 0;

	sock_poll_wait(file, sock, wait);
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR | (sock_flag(sk, SOCK_SELECT_ERR_QUEUE) ? EPOLLPRI : 0);
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLRDHUP | EPOLLIN | EPOLLRDNORM;
	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (ndp_got_readable(ndp_sk(sk)))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ndp_is_writable(ndp_sk(sk)))
		mask |= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
	else
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	return mask;
}

/* ---- how much there is */

/* Bytes that the message has which is next, less what was read of it; 0: none is there */
static u64 ndp_next_bytes(struct ndp_sock *ns)
{
	const struct ndp_got *got;
	u64 bytes = 0;

	spin_lock_bh(&ns->rcv_lock);
	got = ndp_got_next(ns);
	if (got && !got->failed)
		bytes = got->core.len - got->core.read;
	spin_unlock_bh(&ns->rcv_lock);
	return bytes;
}

/* Return: -ENOIOCTLCMD: it is not about that */
static int ndp_sock_ioctl(struct sock *sk, unsigned int cmd, unsigned long arg)
{
	u64 bytes;

	if (cmd == SIOCINQ)
		bytes = ndp_next_bytes(ndp_sk(sk));
	else if (cmd == SIOCOUTQ)
		bytes = (u64)atomic64_read(&ndp_sk(sk)->snd_bytes);
	else
		return -ENOIOCTLCMD;
	return put_user((int)min_t(u64, bytes, INT_MAX), (int __user *)arg);
}

static int ndp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	int err = ndp_sock_ioctl(sock->sk, cmd, arg);

	return err == -ENOIOCTLCMD ? inet_ioctl(sock, cmd, arg) : err;
}

static int ndpv6_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	int err = ndp_sock_ioctl(sock->sk, cmd, arg);

	return err == -ENOIOCTLCMD ? inet6_ioctl(sock, cmd, arg) : err;
}

/* ---- messages that failed */

/**
 * ndp_sock_failed() - tell a socket of a message that failed, after sendmsg()
 * @sk: socket
 * @addrs: to whom it was
 * @port: to which port
 * @msg_no: number of the message
 * @error: why: errno
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

/* ---- options */

static int ndp_set_u32(u32 *option, u32 value, u32 min, u32 max)
{
	if (value && (value < min || value > max))
		return -EINVAL;
	WRITE_ONCE(*option, value);
	return 0;
}

static int ndp_setsockopt(struct sock *sk, int level, int name, sockptr_t optval,
			  unsigned int len)
{
	struct ndp_sock *ns = ndp_sk(sk);
	u32 value;

	if (level != SOL_NDP && sk->sk_family == AF_INET6)
		return ipv6_setsockopt(sk, level, name, optval, len);
	if (level != SOL_NDP)
		return ip_setsockopt(sk, level, name, optval, len);
	if (name == NDP_REGION || name == NDP_REGION_FREE)
		return ndp_region_setsockopt(sk, name, optval, len);
	if (len < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	switch (name) {
	case NDP_INITIAL_WINDOW:
		return ndp_set_u32(&ns->initial_window, value, 1, NDP_WINDOW_MAX);
	case NDP_TIMEOUT:
		return ndp_set_u32(&ns->timeout_ms, value, NDP_TIMEOUT_MIN, NDP_TIMEOUT_MAX);
	default:
		return -ENOPROTOOPT;
	}
}

static int ndp_getsockopt(struct sock *sk, int level, int name, char __user *optval,
			  int __user *optlen)
{
	union { struct ndp_info info; u32 value; } out = {};
	struct ndp_sock *ns = ndp_sk(sk);
	int len, size = sizeof(out.value);

	if (level != SOL_NDP && sk->sk_family == AF_INET6)
		return ipv6_getsockopt(sk, level, name, optval, optlen);
	if (level != SOL_NDP)
		return ip_getsockopt(sk, level, name, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	switch (name) {
	case NDP_INFO:
		size = sizeof(out.info);
		ndp_tx_info(sk, &out.info);
		ndp_rx_info(sk, &out.info);
		break;
	case NDP_INITIAL_WINDOW:
		out.value = READ_ONCE(ns->initial_window);
		break;
	case NDP_TIMEOUT:
		out.value = READ_ONCE(ns->timeout_ms);
		break;
	default:
		return -ENOPROTOOPT;
	}
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, &out, len))
		return -EFAULT;
	return 0;
}

/* ---- begin and end */

/* Who counts flows has their limits: they are the namespace's. */
static void ndp_rcv_params_init(struct ndp_sock *ns)
{
	ns->rcv_params = (struct ndp_rcv_params) {
		.memory_max = ns->inet.sk.sk_rcvbuf, .time_wait_ns = NDP_TIME_WAIT_NS,
		.msgs_max = NDP_MSGS_MAX, .window = NDP_WINDOW_MAX,
	};
	ns->rcv.p = &ns->rcv_params;
}

static int ndp_init_sock(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);

	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_sndbuf = NDP_BUFFER_BYTES;
	sk->sk_rcvbuf = NDP_BUFFER_BYTES;
	/* A packet has left the NIC; perhaps a qdisc's lock is held. */
	sk->sk_write_space = ndp_tx_write_space;
	spin_lock_init(&ns->mem_lock);
	spin_lock_init(&ns->tx_lock);
	INIT_LIST_HEAD(&ns->tx_list);
	spin_lock_init(&ns->rcv_lock);
	mutex_init(&ns->region_lock);
	INIT_LIST_HEAD(&ns->rx_list);
	INIT_LIST_HEAD(&ns->lines);
	INIT_LIST_HEAD(&ns->whole);
	INIT_LIST_HEAD(&ns->partial);
	INIT_LIST_HEAD(&ns->held);
	ndp_rcv_params_init(ns);
	return ndp_udp_take(ndp_net(sock_net(sk)));
}

/*
 * What was sent goes on, as long as SO_LINGER waits or, then, in the background: its flows
 * keep the socket. With SO_LINGER and no time, it is given up.
 */
static void ndp_close(struct sock *sk, long timeout)
{
	bool abort = sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime;
	struct ndp_sock *ns = ndp_sk(sk);

	ndp_rx_close(sk);
	ndp_region_close(sk);
	if (timeout)
		wait_event_interruptible_timeout(*sk_sleep(sk), !atomic_read(&ns->tx_busy),
						 timeout);
	ndp_tx_close(sk, abort);
	sk_common_release(sk);
}

static struct proto ndp_prot = {
	.name			= "NDP",
	.owner			= THIS_MODULE,
	.close			= ndp_close,
	.connect		= ndp_connect,
	.disconnect		= ndp_disconnect,
	.init			= ndp_init_sock,
	.setsockopt		= ndp_setsockopt,
	.getsockopt		= ndp_getsockopt,
	.unhash			= ndp_unhash,
	.get_port		= ndp_get_port,
	.put_port		= ndp_put_port,
	.memory_allocated	= &ndp_memory_allocated,
	.per_cpu_fw_alloc	= &ndp_memory_fw_alloc,
	.sysctl_mem		= ndp_memory_limits,
	.sysctl_wmem		= &ndp_memory_min,
	.sysctl_rmem		= &ndp_memory_min,
	.obj_size		= sizeof(struct ndp_sock),
};

static const struct proto_ops ndp_ops = {
	.family		= PF_INET,
	.owner		= THIS_MODULE,
	.release	= inet_release,
	.bind		= inet_bind,
	.connect	= inet_dgram_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= inet_getname,
	.poll		= ndp_poll,
	.ioctl		= ndp_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= sock_no_listen,
	.shutdown	= inet_shutdown,
	.setsockopt	= sock_common_setsockopt,
	.getsockopt	= sock_common_getsockopt,
	.sendmsg	= ndp_sendmsg,
	.recvmsg	= ndp_recvmsg,
	.mmap		= ndp_region_mmap,
};

static const struct proto_ops ndpv6_ops = {
	.family		= PF_INET6,
	.owner		= THIS_MODULE,
	.release	= inet6_release,
	.bind		= inet6_bind,
	.connect	= inet_dgram_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= inet6_getname,
	.poll		= ndp_poll,
	.ioctl		= ndpv6_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= sock_no_listen,
	.shutdown	= inet_shutdown,
	.setsockopt	= sock_common_setsockopt,
	.getsockopt	= sock_common_getsockopt,
	.sendmsg	= ndp_sendmsg,
	.recvmsg	= ndp_recvmsg,
	.mmap		= ndp_region_mmap,
};

/* As that of IPv4, but for ndpv6_init() */
static struct proto ndpv6_prot;

static void __init ndpv6_init(void)
{
	ndpv6_prot = ndp_prot;
	strscpy(ndpv6_prot.name, "NDPv6", sizeof(ndpv6_prot.name));
	/* Without the padding, so that what is behind @inet6 is nothing */
	ndpv6_prot.obj_size = offsetofend(struct ndp6_sock, inet6);
	closnet_set_ipv6_pinfo_offset(&ndpv6_prot, offsetof(struct ndp6_sock, inet6));
}

static struct inet_protosw ndp_protosw[] = {
	{
		.type		= SOCK_RDM,
		.protocol	= IPPROTO_NDP,
		.prot		= &ndp_prot,
		.ops		= &ndp_ops,
	},
	{
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_NDP,
		.prot		= &ndp_prot,
		.ops		= &ndp_ops,
	},
};

static struct inet_protosw ndpv6_protosw[] = {
	{
		.type		= SOCK_RDM,
		.protocol	= IPPROTO_NDP,
		.prot		= &ndpv6_prot,
		.ops		= &ndpv6_ops,
	},
	{
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_NDP,
		.prot		= &ndpv6_prot,
		.ops		= &ndpv6_ops,
	},
};

/* The first so many of each */
static void ndp_protosw_unregister(int v4, int v6)
{
	while (v6--)
		inet6_unregister_protosw(&ndpv6_protosw[v6]);
	while (v4--)
		inet_unregister_protosw(&ndp_protosw[v4]);
}

static int __init ndp_protosw_register(void)
{
	int i, err = 0;

	for (i = 0; i < (int)ARRAY_SIZE(ndp_protosw); i++)
		inet_register_protosw(&ndp_protosw[i]);
	for (i = 0; i < (int)ARRAY_SIZE(ndpv6_protosw) && !err; i++)
		err = inet6_register_protosw(&ndpv6_protosw[i]);
	if (err)
		ndp_protosw_unregister(ARRAY_SIZE(ndp_protosw), i - 1);
	return err;
}

/**
 * ndp_is_sock() - is it one of NDP's sockets?
 * @sk: any socket
 *
 * A raw socket may have the same protocol, but not the same struct proto.
 *
 * Return: true if so.
 */
bool ndp_is_sock(const struct sock *sk)
{
	return sk->sk_prot == &ndp_prot || sk->sk_prot == &ndpv6_prot;
}

/**
 * ndp_socks_init() - from now on there are sockets
 *
 * Return: 0 or errno.
 */
int __init ndp_socks_init(void)
{
	int err;

	ndp_mem_init();
	ndpv6_init();
	err = proto_register(&ndp_prot, 1);
	if (err)
		return err;
	err = proto_register(&ndpv6_prot, 1);
	if (err) {
		proto_unregister(&ndp_prot);
		return err;
	}
	err = ndp_protosw_register();
	if (err) {
		proto_unregister(&ndpv6_prot);
		proto_unregister(&ndp_prot);
	}
	return err;
}

/**
 * ndp_socks_exit() - from now on there is no new socket, and there was none any more
 */
void ndp_socks_exit(void)
{
	ndp_protosw_unregister(ARRAY_SIZE(ndp_protosw), ARRAY_SIZE(ndpv6_protosw));
	proto_unregister(&ndpv6_prot);
	proto_unregister(&ndp_prot);
}
