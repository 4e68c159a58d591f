// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sockets: connect(), poll(), ioctl(), options, close()
 */
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include "ndp.h"

/* SO_SNDBUF and SO_RCVBUF: 3 ms at 10 Gbit/s */
#define NDP_BUFFER_BYTES	(4U << 20)
/* longer than a sender retransmits a packet: NDP_TIMEOUT_MAX and the delay of a path */
#define NDP_TIME_WAIT_NS	(10ULL * NSEC_PER_SEC)
/* messages in progress of a socket */
#define NDP_MSGS_MAX		(4 * NDP_WINDOW_MAX)

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
	err = ndp_route(sk, &bound, &remote, ifindex, &route);
	if (err)
		goto unlock;
	ndp_set_local(sk, &route.local);
	inet->inet_daddr = ndp_ipv4_of(&remote);
	if (sk->sk_family == AF_INET6) {
		sk->sk_v6_daddr = remote;
		if (ifindex && !sk->sk_bound_dev_if) {
			ndp_sk(sk)->connect_dev = true;
			WRITE_ONCE(sk->sk_bound_dev_if, ifindex);
		}
	}
	inet->inet_dport = htons(port);
	WRITE_ONCE(sk->sk_state, TCP_ESTABLISHED);
unlock:
	release_sock(sk);
	return err;
}

/*
 * Only connect()'s own device is released: bind() gave the port for that of SO_BINDTODEVICE, and on
 * other devices it may be another user's.
 */
static int ndp_disconnect(struct sock *sk, int flags)
{
	struct inet_sock *inet = inet_sk(sk);

	lock_sock(sk);
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	inet->inet_daddr = 0;
	inet->inet_dport = 0;
	sk->sk_v6_daddr = in6addr_any;
	if (ndp_sk(sk)->connect_dev)
		WRITE_ONCE(sk->sk_bound_dev_if, 0);
	ndp_sk(sk)->connect_dev = false;
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		inet_reset_saddr(sk);
	release_sock(sk);
	return 0;
}

/* ---- poll() */

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
	if (ndp_rx_msg_readable(ndp_sk(sk)))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ndp_sock_is_writable(ndp_sk(sk)))
		mask |= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
	else
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	return mask;
}

/* ---- ioctl() */

/* Unread bytes of the next message; 0 without a message */
static u64 ndp_next_bytes(struct ndp_sock *ns)
{
	const struct ndp_rx_msg *rm;
	u64 bytes = 0;

	spin_lock_bh(&ns->rx_lock);
	rm = ndp_rx_msg_next(ns);
	if (rm && !rm->failed)
		bytes = rm->core.len - rm->core.read;
	spin_unlock_bh(&ns->rx_lock);
	return bytes;
}

/* Return: -ENOIOCTLCMD: another command */
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

/* Memory of a packet besides its payload */
#define NDP_PACKET_OVERHEAD	((u32)SKB_TRUESIZE(0))

static u32 ndp_rcv_charge(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share)
{
	struct sock *sk = &container_of(r, struct ndp_sock, rcv.mem)->inet.sk;

	if (most > least && ndp_mem_charge_receive(sk, most, share))
		return most;
	if (ndp_mem_charge_receive(sk, least, share))
		return least;
	ndp_count(ndp_net(sock_net(sk)), NDP_N_IN_NO_MEMORY);
	return 0;
}

static void ndp_rcv_uncharge(struct ndp_rmem *r, u32 bytes)
{
	struct ndp_sock *ns = container_of(r, struct ndp_sock, rcv.mem);

	ndp_mem_uncharge(&ns->inet.sk, bytes, SK_MEM_RECV);
}

static void ndp_rcv_init(struct ndp_sock *ns)
{
	ns->rcv = (struct ndp_rcv) {
		.mem = { .charge = ndp_rcv_charge, .uncharge = ndp_rcv_uncharge },
		.time_wait_ns = NDP_TIME_WAIT_NS, .msgs_max = NDP_MSGS_MAX,
		.overhead = NDP_PACKET_OVERHEAD, .window = NDP_WINDOW_MAX,
		.in_order = ndp_is_ordered(&ns->inet.sk),
	};
}

static int ndp_init_sock(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);

	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_sndbuf = NDP_BUFFER_BYTES;
	sk->sk_rcvbuf = NDP_BUFFER_BYTES;
	/* called with locks of qdiscs held */
	sk->sk_write_space = ndp_tx_write_space;
	spin_lock_init(&ns->mem_lock);
	spin_lock_init(&ns->tx_lock);
	INIT_LIST_HEAD(&ns->tx_list);
	spin_lock_init(&ns->rx_lock);
	mutex_init(&ns->region_lock);
	ndp_rx_init_sock(ns);
	ndp_rcv_init(ns);
	return ndp_input_take(ndp_net(sock_net(sk)));
}

/*
 * Queued messages continue, while SO_LINGER waits and then in the background: flows keep their
 * socket. With an SO_LINGER of 0 they are given up.
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

static int ndp_bind(struct socket *sock, struct sockaddr_unsized *addr, int len)
{
	int err = inet_bind(sock, addr, len);

	if (!err)
		ndp_sock_wait_hooked(sock->sk);
	return err;
}

static int ndp_bind6(struct socket *sock, struct sockaddr_unsized *addr, int len)
{
	int err = inet6_bind(sock, addr, len);

	if (!err)
		ndp_sock_wait_hooked(sock->sk);
	return err;
}

static const struct proto_ops ndp_ops = {
	.family		= PF_INET,
	.owner		= THIS_MODULE,
	.release	= inet_release,
	.bind		= ndp_bind,
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
	.bind		= ndp_bind6,
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

/* initialized by ndpv6_init() */
static struct proto ndpv6_prot;

static void __init ndpv6_init(void)
{
	ndpv6_prot = ndp_prot;
	strscpy(ndpv6_prot.name, "NDPv6", sizeof(ndpv6_prot.name));
	/* without padding: the kernel looks for @inet6 at the end */
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

/* Unregister the first ones of each. */
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
 * ndp_socks_init() - register the protocol
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
 * ndp_socks_exit() - unregister the protocol, which has no sockets
 */
void ndp_socks_exit(void)
{
	ndp_protosw_unregister(ARRAY_SIZE(ndp_protosw), ARRAY_SIZE(ndpv6_protosw));
	proto_unregister(&ndpv6_prot);
	proto_unregister(&ndp_prot);
}
