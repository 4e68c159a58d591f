// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: its UDP port
 *
 * Packets of NDP are taken before UDP sees them (ndp_in.c), so that a UDP socket of that port
 * would wait in vain. Therefore the port is taken by sockets of the kernel, of IPv4 and of
 * IPv6, when the first NDP socket of a namespace is made, until the namespace ends. Whoever
 * has it before keeps it, and gets all that comes by it; then there are no NDP sockets.
 *
 * What UDP gives to these sockets is what LOCAL_IN does not see: IPv6 packets that were
 * fragments, or have extension headers. And what ICMP says of packets to this port: UDP updates
 * the route, then the flow is told.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/udp.h>
#include <net/icmp.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include "ndp.h"

static int ndp_udp_rcv(struct sock *sk, struct sk_buff *skb)
{
	ndp_in_udp(ndp_net(sock_net(sk)), skb);
	return 0;
}

/* ---- ICMP: skb->data is at the IP header of the packet in question ---- */

/* Return: 0: it is one of ours: not from the port, but to it. */
static int ndp_udp_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return udp_hdr(skb)->dest == htons(NDP_UDP_PORT) ? 0 : -ENOENT;
}

/* Return: a negative errno; 0: none */
static int ndp_udp_err4(const struct icmphdr *icmp)
{
	switch (icmp->type) {
	case ICMP_DEST_UNREACH:
		if (icmp->code == ICMP_FRAG_NEEDED)
			return -EMSGSIZE;
		return icmp->code <= NR_ICMP_UNREACH ? -icmp_err_convert[icmp->code].errno :
						       -EHOSTUNREACH;
	case ICMP_TIME_EXCEEDED:
		return -EHOSTUNREACH;
	case ICMP_PARAMETERPROB:
		return -EPROTO;
	default:
		return 0;
	}
}

static int ndp_udp_err6(const struct icmp6hdr *icmp)
{
	int err = 0;

	icmpv6_err_convert(icmp->icmp6_type, icmp->icmp6_code, &err);
	return -err;
}

/* Return: bytes of the packet's IP header; 0: it has more than that before UDP's */
static u32 ndp_udp_err_addrs(const struct sk_buff *skb, struct ndp_packet *p)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;

	if (ip4->version == 4) {
		ipv6_addr_set_v4mapped(ip4->saddr, &p->addrs.local);
		ipv6_addr_set_v4mapped(ip4->daddr, &p->addrs.remote);
		return ip4->ihl * 4;
	}
	p->addrs.local = ip6->saddr;
	p->addrs.remote = ip6->daddr;
	if (ipv6_addr_type(&ip6->daddr) & IPV6_ADDR_LINKLOCAL)
		p->addrs.ifindex = inet6_iif(skb);
	return ip6->nexthdr == IPPROTO_UDP ? sizeof(*ip6) : 0;
}

/* There need not be more of the packet than UDP's header. */
static void ndp_udp_err(struct sock *sk, struct sk_buff *skb, CLOSNET_ENCAP_ERR_ARGS)
{
	struct ndp_packet p = { .nn = ndp_net(sock_net(sk)) };
	u32 off = ndp_udp_err_addrs(skb, &p);
	int error = sk->sk_family == AF_INET ? ndp_udp_err4(icmp_hdr(skb)) :
					       ndp_udp_err6(icmp6_hdr(skb));

	if (off && error && ndp_in_peek(skb, off, &p.h))
		ndp_tx_icmp(&p, (u8)-error);
}

/* ---- the sockets ---- */

/* Before somebody can find it. IPv4 is not for the socket of IPv6. */
static void ndp_udp_setup(struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		ip6_sock_set_v6only(sk);
	udp_sk(sk)->encap_type = 1;
	udp_sk(sk)->encap_rcv = ndp_udp_rcv;
	udp_sk(sk)->encap_err_lookup = ndp_udp_err_lookup;
	udp_sk(sk)->encap_err_rcv = ndp_udp_err;
	udp_tunnel_encap_enable(sk);
}

static int ndp_udp_bind(struct socket *sock)
{
	struct sockaddr_in6 any6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(NDP_UDP_PORT),
	};
	struct sockaddr_in any4 = {
		.sin_family = AF_INET, .sin_port = htons(NDP_UDP_PORT),
	};

	if (sock->sk->sk_family == AF_INET)
		return kernel_bind(sock, (struct sockaddr_unsized *)&any4, sizeof(any4));
	return kernel_bind(sock, (struct sockaddr_unsized *)&any6, sizeof(any6));
}

/* Return: 0 or errno. *@result: the socket; NULL: the kernel has no IPv6 */
static int ndp_udp_open(struct ndp_net *nn, int family, struct socket **result)
{
	struct socket *sock;
	int err;

	*result = NULL;
	err = sock_create_kern(nn->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err == -EAFNOSUPPORT && family == AF_INET6)
		return 0;
	if (err)
		return err;
	ndp_udp_setup(sock->sk);
	err = ndp_udp_bind(sock);
	if (err)
		sock_release(sock);
	else
		*result = sock;
	return err;
}

/**
 * ndp_udp_take() - a namespace has an NDP socket
 * @nn: namespace
 *
 * May sleep. From now on packets are taken from UDP.
 *
 * Return: 0; -EADDRINUSE: somebody has the port; or another errno.
 */
int ndp_udp_take(struct ndp_net *nn)
{
	int err = 0;

	if (READ_ONCE(nn->udp_taken))
		return 0;
	mutex_lock(&nn->udp_lock);
	if (nn->udp_taken)
		goto unlock;
	err = ndp_udp_open(nn, AF_INET, &nn->udp4);
	if (err)
		goto unlock;
	err = ndp_udp_open(nn, AF_INET6, &nn->udp6);
	if (err)
		sock_release(nn->udp4);
	else
		/* the sockets are there, see ndp_udp_sk() */
		smp_store_release(&nn->udp_taken, true);
unlock:
	mutex_unlock(&nn->udp_lock);
	return err;
}

/**
 * ndp_udp_sk() - the socket that has the UDP port
 * @nn: namespace
 * @pf: NFPROTO_IPV4 or NFPROTO_IPV6
 *
 * Under RCU.
 *
 * Return: it; NULL: none, as there is no NDP socket yet.
 */
struct sock *ndp_udp_sk(const struct ndp_net *nn, u8 pf)
{
	const struct socket *sock;

	/* then the sockets are there */
	if (!smp_load_acquire(&nn->udp_taken))
		return NULL;
	sock = pf == NFPROTO_IPV4 ? nn->udp4 : nn->udp6;
	/* sock_release() sets it to NULL when the namespace ends */
	return sock ? READ_ONCE(sock->sk) : NULL;
}

/**
 * ndp_udp_exit() - a namespace ends, or the module is unloaded
 * @nn: namespace; there are no NDP sockets any more. Packets are under way still, under RCU
 */
void ndp_udp_exit(struct ndp_net *nn)
{
	if (!nn->udp_taken)
		return;
	if (nn->udp6)
		sock_release(nn->udp6);
	sock_release(nn->udp4);
}
