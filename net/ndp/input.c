// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: packets from UDP
 *
 *	ingress -> [repair] -> IP -> UDP -> ndp_input() -> senders or receivers
 *	NDP sockets, answers -> LOCAL_OUT [guard] -> IP
 *
 * Two sockets of the kernel, for IPv4 and IPv6, have the UDP port. They exist from the creation of
 * the first NDP socket of a namespace until the namespace ends. UDP verifies lengths and checksums
 * and calls encap_rcv(). ICMP errors about packets to the port arrive by encap_err_rcv().
 *
 * Repair: UDP would drop trimmed packets, because their checksum is wrong, and IP drops those whose
 * lengths the switch did not correct. At the ingress of the namespace's devices, lengths of trimmed
 * DATA with valid header checksums are corrected, and the UDP checksum is marked as verified. A
 * returned packet has source port 61199, which no other packet has; its destination port is
 * changed to 61199. No other packet is changed.
 *
 * Trust: source ports are privileged (512 to 1023), and packets with other ports are dropped. So a
 * program without privileges cannot forge packets on any host. With a key, packets without a
 * valid tag are dropped as well (auth.c). At LOCAL_OUT, UDP packets to or
 * from port 61199 are dropped if this module did not make them: the socket that is passed to
 * ip_local_out() is an NDP socket or the port's, and no program can transmit through either.
 * AF_PACKET sockets, tc and XDP do not pass LOCAL_OUT; they need CAP_NET_RAW or CAP_NET_ADMIN.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <closnet/pkt_core.h>
#include "ndp.h"
#include "trace.h"

#define NDP_UDP_HLEN	((u32)sizeof(struct udphdr))

/* Read the header of a packet, @off bytes behind skb->data. Return: is there a valid one? */
static bool ndp_peek(const struct sk_buff *skb, u32 off, struct ndp_hdr *h)
{
	u8 buffer[NDP_HLEN];
	const u8 *b;
	u32 len;

	if (skb->len < off + NDP_NACK_HLEN)
		return false;
	len = skb->len - off;
	b = skb_header_pointer(skb, (int)off, (int)min_t(u32, len, sizeof(buffer)), buffer);
	return b && ndp_hdr_read(b, len, h) == NDP_READ_OK;
}

/* ---- ingress ---- */

/* Is a UDP datagram, @off bytes behind skb->data, trimmed DATA to the port or back from it? */
static bool ndp_is_repairable(const struct sk_buff *skb, u32 off, bool *returned)
{
	u8 buffer[NDP_UDP_HLEN + 4];
	const u8 *b = skb_header_pointer(skb, (int)off, sizeof(buffer), buffer);
	struct ndp_hdr h;
	u16 from, to;

	if (!b)
		return false;
	from = closnet_get16(b);
	to = closnet_get16(b + 2);
	*returned = from == NDP_UDP_PORT && ndp_path_is_port(to);
	if (to != NDP_UDP_PORT && !*returned)
		return false;
	/* most packets are whole, and their headers are read once only, in ndp_input() */
	if (!*returned && !ndp_hdr_is_cut(b + NDP_UDP_HLEN, skb->len - off - NDP_UDP_HLEN))
		return false;
	return ndp_peek(skb, off + NDP_UDP_HLEN, &h) && h.type == NDP_DATA &&
	       (*returned || ndp_is_trimmed(&h));
}

/* Repair the UDP header, @off bytes behind skb->data; @longer: IP's length was wrong. */
static void ndp_repair_udp(const struct nf_hook_state *state, struct sk_buff *skb, u32 off,
			   bool longer, bool returned)
{
	struct udphdr *uh = (struct udphdr *)(skb->data + off);

	/* padding of a short frame is no part of the datagram */
	if (ntohs(uh->len) > skb->len - off)
		uh->len = htons((u16)(skb->len - off));
	if (returned)
		uh->dest = htons(NDP_UDP_PORT);
	if (!uh->check)
		uh->check = CSUM_MANGLED_0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
	if (longer)
		ndp_count(ndp_net(state->net), NDP_N_IN_REPAIRED);
}

static void ndp_repair4(const struct nf_hook_state *state, struct sk_buff *skb)
{
	struct iphdr buffer, *iph;
	const struct iphdr *old = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	bool returned, longer;
	u32 hlen, len;

	if (!old || old->protocol != IPPROTO_UDP || old->version != 4 || old->ihl < 5 ||
	    ip_is_fragment(old))
		return;
	hlen = old->ihl * 4;
	longer = ntohs(old->tot_len) > skb->len;
	len = min_t(u32, ntohs(old->tot_len), skb->len);
	if (len < hlen + NDP_UDP_HLEN || !ndp_is_repairable(skb, hlen, &returned) ||
	    skb_ensure_writable(skb, (int)(hlen + NDP_UDP_HLEN)))
		return;
	iph = (struct iphdr *)skb->data;
	if (ip_fast_csum(iph, iph->ihl))
		return;
	if (longer) {
		csum_replace2(&iph->check, iph->tot_len, htons((u16)len));
		iph->tot_len = htons((u16)len);
	}
	if (!pskb_trim_rcsum(skb, len))
		ndp_repair_udp(state, skb, hlen, longer, returned);
}

static void ndp_repair6(const struct nf_hook_state *state, struct sk_buff *skb)
{
	const u32 hlen = sizeof(struct ipv6hdr);
	struct ipv6hdr buffer;
	const struct ipv6hdr *old = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	bool returned, longer;
	u32 len;

	if (!old || old->version != 6 || old->nexthdr != IPPROTO_UDP)
		return;
	longer = hlen + ntohs(old->payload_len) > skb->len;
	len = min_t(u32, hlen + ntohs(old->payload_len), skb->len);
	if (len < hlen + NDP_UDP_HLEN || !ndp_is_repairable(skb, hlen, &returned) ||
	    skb_ensure_writable(skb, (int)(hlen + NDP_UDP_HLEN)))
		return;
	if (longer)
		((struct ipv6hdr *)skb->data)->payload_len = htons((u16)(len - hlen));
	if (!pskb_trim_rcsum(skb, len))
		ndp_repair_udp(state, skb, hlen, longer, returned);
}

/* skb->data is at the L3 header. Ports of bridges and bonds pass packets on without repair. */
static unsigned int ndp_repair(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	if (skb->pkt_type == PACKET_OTHERHOST || skb_is_gso(skb) || skb_shared(skb) ||
	    rcu_access_pointer(skb->dev->rx_handler))
		return NF_ACCEPT;
	if (skb->protocol == htons(ETH_P_IP))
		ndp_repair4(state, skb);
	else if (skb->protocol == htons(ETH_P_IPV6))
		ndp_repair6(state, skb);
	return NF_ACCEPT;
}

/**
 * ndp_input_hook() - prepare the repair of trimmed packets that arrive by a device
 * @ops: result, for nf_register_net_hook()
 * @dev: device
 */
void ndp_input_hook(struct nf_hook_ops *ops, struct net_device *dev)
{
	*ops = (struct nf_hook_ops) {
		.hook = ndp_repair,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = NF_IP_PRI_FIRST,
	};
}

/* ---- encap_rcv() ---- */

static void ndp_input_drop(struct ndp_packet *p, enum ndp_counter why)
{
	ndp_count(p->nn, why);
	kfree_skb(p->skb);
}

static void ndp_input_count(const struct ndp_packet *p)
{
	static const u8 counters[] = {
		[NDP_DATA] = NDP_N_IN_DATA, [NDP_CONTROL] = NDP_N_IN_CONTROL,
		[NDP_PROBE] = NDP_N_IN_PROBE, [NDP_ERROR] = NDP_N_IN_ERROR,
		[NDP_COOKIE] = NDP_N_IN_COOKIE,
	};

	ndp_count(p->nn, ndp_is_trimmed(&p->h) ? NDP_N_IN_TRIMMED : counters[p->h.type]);
}

static void ndp_input_dispatch(struct ndp_packet *p, bool returned)
{
	ndp_input_count(p);
	trace_ndp_came(&p->addrs, &p->h, p->dsfield);
	if (returned) {
		ndp_count(p->nn, NDP_N_IN_RETURNED);
		ndp_tx_input(p, true);
	} else if (p->h.type == NDP_DATA || p->h.type == NDP_PROBE) {
		ndp_rx_input(p);
	} else if (p->h.type == NDP_ERROR && p->h.err.code == NDP_CODE_ABORT) {
		ndp_rx_error(p);
	} else {
		ndp_tx_input(p, false);
	}
}

static void ndp_input_addrs(struct ndp_packet *p)
{
	const struct sk_buff *skb = p->skb;
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct iphdr *ip4 = ip_hdr(skb);

	if (ip4->version == 4) {
		p->ifindex = inet_sdif(skb) ?: skb->dev->ifindex;
		if (inet_sdif(skb))
			p->addrs.ifindex = inet_iif(skb);
		ipv6_addr_set_v4mapped(ip4->daddr, &p->addrs.local);
		ipv6_addr_set_v4mapped(ip4->saddr, &p->addrs.remote);
		p->dsfield = ipv4_get_dsfield(ip4);
		return;
	}
	p->ifindex = inet6_sdif(skb) ?: skb->dev->ifindex;
	if (ipv6_addr_type(&ip6->saddr) & IPV6_ADDR_LINKLOCAL)
		p->addrs.ifindex = p->ifindex;
	else if (inet6_sdif(skb))
		p->addrs.ifindex = inet6_iif(skb);
	p->addrs.local = ip6->daddr;
	p->addrs.remote = ip6->saddr;
	p->dsfield = ipv6_get_dsfield(ip6);
}

/* Was the packet sent to one host, from addresses that can be answered? */
static bool ndp_is_unicast(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);

	if (skb->pkt_type == PACKET_BROADCAST || skb->pkt_type == PACKET_MULTICAST)
		return false;
	if (ip6->version == 4)
		return !ipv4_is_multicast(ip_hdr(skb)->daddr) &&
		       !ipv4_is_lbcast(ip_hdr(skb)->daddr);
	return !ipv6_addr_any(&ip6->saddr) && !ipv6_addr_v4mapped(&ip6->saddr) &&
	       !ipv6_addr_v4mapped(&ip6->daddr) && !ipv6_addr_is_multicast(&ip6->daddr);
}

/* A kept packet drops its references, but to the device. */
static void ndp_input_detach(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_scrub_packet(skb, false);
	skb->dev = NULL;
}

/* Read the header; skb->data is at UDP. Return: false: dropped */
static bool ndp_input_read(struct ndp_packet *p)
{
	struct sk_buff *skb = p->skb;
	enum ndp_read error;
	u32 len;

	if (skb->len < NDP_UDP_HLEN + NDP_NACK_HLEN) {
		ndp_input_drop(p, NDP_N_IN_SHORT);
		return false;
	}
	len = min_t(u32, skb->len - NDP_UDP_HLEN, NDP_HLEN_MAX);
	/* sockets must not keep packets of the kernel's reserve */
	if (skb_pfmemalloc(skb) || !pskb_may_pull(skb, NDP_UDP_HLEN + len)) {
		ndp_input_drop(p, NDP_N_IN_NO_MEMORY);
		return false;
	}
	error = ndp_hdr_read(skb->data + NDP_UDP_HLEN, skb->len - NDP_UDP_HLEN, &p->h);
	if (error) {
		ndp_input_drop(p, NDP_N_IN_SHORT + error - NDP_READ_SHORT);
		return false;
	}
	return true;
}

/* Is the tag valid? skb->data is at UDP. Switches swap the addresses of returned packets. */
static bool ndp_input_is_authentic(const struct ndp_packet *p, bool returned)
{
	const struct ndp_addrs *a = &p->addrs;

	return ndp_auth_check(p->nn, returned ? &a->local : &a->remote,
			      returned ? &a->remote : &a->local, &p->h,
			      p->skb->data + NDP_UDP_HLEN);
}

/* Process a datagram: encap_rcv() of the sockets of the port. Return: 0 */
static int ndp_input(struct sock *sk, struct sk_buff *skb)
{
	struct ndp_packet p = { .nn = ndp_net(sock_net(sk)), .skb = skb };
	const struct udphdr *uh;
	bool returned;
	u32 len;

	if (!ndp_is_unicast(skb)) {
		kfree_skb(skb);
		return 0;
	}
	ndp_count(p.nn, NDP_N_IN_PACKETS);
	if (!ndp_input_read(&p))
		return 0;
	uh = udp_hdr(skb);
	returned = uh->source == htons(NDP_UDP_PORT);
	if (!returned && !ndp_path_is_port(ntohs(uh->source))) {
		ndp_input_drop(&p, NDP_N_IN_BAD_SOURCE);
		return 0;
	}
	if (returned && p.h.type != NDP_DATA) {
		ndp_input_drop(&p, NDP_N_IN_VALUE);
		return 0;
	}
	if (!ndp_is_trimmed(&p.h) && !uh->check) {
		ndp_input_drop(&p, NDP_N_IN_UDP_CSUM);
		return 0;
	}
	ndp_input_addrs(&p);
	if (!ndp_input_is_authentic(&p, returned)) {
		ndp_input_drop(&p, NDP_N_IN_BAD_TAG);
		return 0;
	}
	len = min_t(u32, skb->len - NDP_UDP_HLEN, ndp_hdr_len(&p.h));
	__skb_pull(skb, NDP_UDP_HLEN + len);
	ndp_input_detach(skb);
	/* UDP may call from process context, if a packet was queued by NFQUEUE */
	local_bh_disable();
	ndp_input_dispatch(&p, returned);
	local_bh_enable();
	return 0;
}

/* ---- ICMP: skb->data is at the IP header of the packet that the error is about ---- */

static int ndp_input_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return udp_hdr(skb)->dest == htons(NDP_UDP_PORT) ? 0 : -ENOENT;
}

/* Return: a negative errno; 0: no error */
static int ndp_input_err4(const struct icmphdr *icmp)
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

static int ndp_input_err6(const struct icmp6hdr *icmp)
{
	int err = 0;

	icmpv6_err_convert(icmp->icmp6_type, icmp->icmp6_code, &err);
	return -err;
}

/* Return: bytes of the IP header; 0: it has extension headers */
static u32 ndp_input_err_addrs(const struct sk_buff *skb, struct ndp_packet *p)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;

	if (ip4->version == 4) {
		if (inet_sdif(skb))
			p->addrs.ifindex = inet_iif(skb);
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

/* Has the quoted packet a valid tag? Its header is @off bytes behind skb->data. */
static bool ndp_input_err_is_ours(const struct sk_buff *skb, u32 off, const struct ndp_packet *p)
{
	u32 len = p->h.is_short ? NDP_NACK_HLEN : ndp_hdr_len(&p->h);
	u8 buffer[NDP_HLEN_MAX];
	const u8 *b = skb_header_pointer(skb, (int)off, (int)len, buffer);

	return b && ndp_auth_check(p->nn, &p->addrs.local, &p->addrs.remote, &p->h, b);
}

static void ndp_input_err(struct sock *sk, struct sk_buff *skb, CLOSNET_ENCAP_ERR_ARGS)
{
	struct ndp_packet p = { .nn = ndp_net(sock_net(sk)) };
	u32 off = ndp_input_err_addrs(skb, &p);
	int error = sk->sk_family == AF_INET ? ndp_input_err4(icmp_hdr(skb)) :
					       ndp_input_err6(icmp6_hdr(skb));

	if (off && error && ndp_peek(skb, off + NDP_UDP_HLEN, &p.h) &&
	    ndp_input_err_is_ours(skb, off + NDP_UDP_HLEN, &p))
		ndp_tx_icmp(&p, (u8)-error);
}

/* ---- the sockets of the port ---- */

static void ndp_input_setup(struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		ip6_sock_set_v6only(sk);
	udp_sk(sk)->encap_type = 1;
	udp_sk(sk)->encap_rcv = ndp_input;
	udp_sk(sk)->encap_err_lookup = ndp_input_err_lookup;
	udp_sk(sk)->encap_err_rcv = ndp_input_err;
	/* trimmed packets may have no checksum */
	udp_set_no_check6_rx(sk, true);
	udp_tunnel_encap_enable(sk);
}

static int ndp_input_bind(struct socket *sock)
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

/* Return: 0 or errno. *@result: socket; NULL: the kernel has no IPv6 */
static int ndp_input_open(struct ndp_net *nn, int family, struct socket **result)
{
	struct socket *sock;
	int err;

	*result = NULL;
	err = sock_create_kern(nn->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err == -EAFNOSUPPORT && family == AF_INET6)
		return 0;
	if (err)
		return err;
	ndp_input_setup(sock->sk);
	err = ndp_input_bind(sock);
	if (err)
		sock_release(sock);
	else
		*result = sock;
	return err;
}

/**
 * ndp_input_take() - take the UDP port of a namespace, for its first NDP socket
 * @nn: namespace
 *
 * May sleep.
 *
 * Return: 0; -EADDRINUSE: another socket has the port; or another errno.
 */
int ndp_input_take(struct ndp_net *nn)
{
	int err = 0;

	mutex_lock(&nn->udp_lock);
	if (nn->udp_taken)
		goto unlock;
	err = ndp_input_open(nn, AF_INET, &nn->udp4);
	if (err)
		goto unlock;
	err = ndp_input_open(nn, AF_INET6, &nn->udp6);
	if (err)
		sock_release(nn->udp4);
	else
		/* pairs with ndp_udp_sk() */
		smp_store_release(&nn->udp_taken, true);
unlock:
	mutex_unlock(&nn->udp_lock);
	return err;
}

/* ---- guard ---- */

/* Is a socket NDP's? A raw one may have the same protocol. */
static bool ndp_is_sock(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_NDP && sk->sk_type != SOCK_RAW;
}

static bool ndp_guard_is_own(const struct nf_hook_state *state)
{
	const struct sock *sk = state->sk;

	return sk && (ndp_is_sock(sk) ||
		      sk == ndp_udp_sk(ndp_net(state->net), state->pf == NFPROTO_IPV4));
}

/* A datagram, or its first fragment; the UDP header is @off bytes behind skb->data. */
static unsigned int ndp_guard(const struct sk_buff *skb, int off, const struct nf_hook_state *state)
{
	__be16 buffer[2];
	const __be16 *ports = skb_header_pointer(skb, off, sizeof(buffer), buffer);

	if (!ports || (ports[0] != htons(NDP_UDP_PORT) && ports[1] != htons(NDP_UDP_PORT)) ||
	    ndp_guard_is_own(state))
		return NF_ACCEPT;
	ndp_count(ndp_net(state->net), NDP_N_OUT_FORGED);
	return NF_DROP;
}

static unsigned int ndp_guard_ipv4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);

	/* of the fragments of a raw socket, the first one has the ports */
	if (iph->protocol != IPPROTO_UDP || iph->frag_off & htons(IP_OFFSET))
		return NF_ACCEPT;
	return ndp_guard(skb, skb_network_offset(skb) + (int)ip_hdrlen(skb), state);
}

/* A program may put a routing header before UDP's. */
static unsigned int ndp_guard_ipv6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	unsigned int off = 0;

	if (ipv6_hdr(skb)->nexthdr == IPPROTO_TCP ||
	    ipv6_find_hdr(skb, &off, IPPROTO_UDP, NULL, NULL) != IPPROTO_UDP)
		return NF_ACCEPT;
	return ndp_guard(skb, (int)off, state);
}

static const struct nf_hook_ops ndp_guard_hooks[] = {
	{
		.hook = ndp_guard_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = ndp_guard_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
};

/**
 * ndp_input_init() - begin to drop forged packets of a namespace's programs
 * @nn: namespace
 *
 * Return: 0 or a negative error.
 */
int ndp_input_init(struct ndp_net *nn)
{
	return nf_register_net_hooks(nn->net, ndp_guard_hooks, ARRAY_SIZE(ndp_guard_hooks));
}

/**
 * ndp_input_exit() - take back ndp_input_init() and ndp_input_take()
 * @nn: namespace without NDP sockets
 */
void ndp_input_exit(struct ndp_net *nn)
{
	nf_unregister_net_hooks(nn->net, ndp_guard_hooks, ARRAY_SIZE(ndp_guard_hooks));
	if (!nn->udp_taken)
		return;
	if (nn->udp6)
		sock_release(nn->udp6);
	sock_release(nn->udp4);
}
