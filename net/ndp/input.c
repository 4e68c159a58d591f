// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: packets from UDP
 *
 *	ingress -> [repair] -> IP -> LOCAL_IN [keep] -> UDP -> ndp_input() -> senders or receivers
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
 * Batches (rx_batch.c): at LOCAL_IN, those to the port are marked, so that UDP does not segment
 * them. ndp_input() passes a batch on as a whole if its packets join each other. A batch of packets
 * without payload is processed one by one where it is. Other batches are segmented.
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
#include "rx_batch.h"
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

/* Count a packet, or the packets of a batch. */
static void ndp_input_count(const struct ndp_packet *p)
{
	static const u8 counters[] = {
		[NDP_DATA] = NDP_N_IN_DATA, [NDP_CONTROL] = NDP_N_IN_CONTROL,
		[NDP_PROBE] = NDP_N_IN_PROBE, [NDP_ERROR] = NDP_N_IN_ERROR,
		[NDP_COOKIE] = NDP_N_IN_COOKIE,
	};

	closnet_count_add(p->nn->counters.values,
			  ndp_is_trimmed(&p->h) ? NDP_N_IN_TRIMMED : counters[p->h.type],
			  p->packets ?: 1);
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

/* Is the tag of the header at @b valid? Switches swap the addresses of returned packets. */
static bool ndp_input_is_authentic(const struct ndp_packet *p, const u8 *b, bool returned)
{
	const struct ndp_addrs *a = &p->addrs;

	return ndp_auth_check(p->nn, returned ? &a->local : &a->remote,
			      returned ? &a->remote : &a->local, &p->h, b);
}

static bool ndp_input_is_returned(const struct udphdr *uh)
{
	return uh->source == htons(NDP_UDP_PORT);
}

/*
 * Read and check a header; @b: the first bytes of a packet of @len bytes, ndp_net_hlen() if there
 * are as many. Return: NDP_COUNTERS, or the reason for which the packet is dropped
 */
static enum ndp_counter ndp_input_read(struct ndp_packet *p, const u8 *b, u32 len,
				       const struct udphdr *uh)
{
	enum ndp_read error = ndp_hdr_read(b, len, &p->h);
	bool returned = ndp_input_is_returned(uh);

	if (error)
		return NDP_N_IN_SHORT + error - NDP_READ_SHORT;
	if (!returned && !ndp_path_is_port(ntohs(uh->source)))
		return NDP_N_IN_BAD_SOURCE;
	if (returned && p->h.type != NDP_DATA)
		return NDP_N_IN_VALUE;
	if (!ndp_is_trimmed(&p->h) && !uh->check)
		return NDP_N_IN_UDP_CSUM;
	if (!ndp_input_is_authentic(p, b, returned))
		return NDP_N_IN_BAD_TAG;
	return NDP_COUNTERS;
}

/* Process a single packet; skb->data is at UDP. */
static void ndp_input_packet(struct ndp_packet *p)
{
	struct sk_buff *skb = p->skb;
	enum ndp_counter error;
	bool returned;
	u32 len;

	ndp_count(p->nn, NDP_N_IN_PACKETS);
	if (skb->len < NDP_UDP_HLEN + NDP_NACK_HLEN)
		return ndp_input_drop(p, NDP_N_IN_SHORT);
	len = min_t(u32, skb->len - NDP_UDP_HLEN, ndp_net_hlen(p->nn));
	/* sockets must not keep packets of the kernel's reserve */
	if (skb_pfmemalloc(skb) || !pskb_may_pull(skb, NDP_UDP_HLEN + len))
		return ndp_input_drop(p, NDP_N_IN_NO_MEMORY);
	error = ndp_input_read(p, skb->data + NDP_UDP_HLEN, skb->len - NDP_UDP_HLEN, udp_hdr(skb));
	if (error != NDP_COUNTERS)
		return ndp_input_drop(p, error);
	returned = ndp_input_is_returned(udp_hdr(skb));
	len = min_t(u32, skb->len - NDP_UDP_HLEN, ndp_hdr_len(&p->h));
	__skb_pull(skb, NDP_UDP_HLEN + len);
	ndp_input_detach(skb);
	ndp_input_dispatch(p, returned);
}

/* ---- batches: skb->data is at UDP ---- */

/* First bytes of the packet of a batch that is @at bytes behind UDP's header; *@len: its length */
static const u8 *ndp_input_peek(const struct sk_buff *skb, u32 at, u8 *buffer, u32 *len)
{
	*len = min_t(u32, skb_shinfo(skb)->gso_size, skb->len - NDP_UDP_HLEN - at);
	return skb_header_pointer(skb, (int)(NDP_UDP_HLEN + at),
				  (int)min_t(u32, *len, NDP_HLEN_MAX), buffer);
}

/* Read the next header of a batch, @b, after that at @before. Return: do the packets join? */
static bool ndp_input_next(struct ndp_packet *p, const u8 *before, const u8 *b, u32 len)
{
	struct ndp_packet next;

	if (ndp_hdr_read_next(before, b, len, &p->last))
		return true;
	next = *p;
	if (ndp_input_read(&next, b, len, udp_hdr(p->skb)) != NDP_COUNTERS ||
	    !ndp_hdr_join(&p->last, &next.h))
		return false;
	p->last = next.h;
	return true;
}

/* Read the headers of a batch. Return: are they valid, and do the packets join each other? */
static bool ndp_input_join(struct ndp_packet *p)
{
	const u32 segment = skb_shinfo(p->skb)->gso_size, end = p->skb->len - NDP_UDP_HLEN;
	const u8 *b, *before = NULL;
	u8 buffers[2][NDP_HLEN_MAX];
	u32 at, len;

	if (ndp_input_is_returned(udp_hdr(p->skb)))
		return false;
	for (at = 0; at < end; at += segment, before = b) {
		b = ndp_input_peek(p->skb, at, buffers[p->packets++ % 2], &len);
		if (!b)
			return false;
		if (before) {
			if (!ndp_input_next(p, before, b, len))
				return false;
			continue;
		}
		if (ndp_input_read(p, b, len, udp_hdr(p->skb)) != NDP_COUNTERS)
			return false;
		p->last = p->h;
	}
	return true;
}

static void ndp_input_trace(const struct ndp_packet *p)
{
	struct ndp_hdr h;
	u32 i;

	if (!trace_ndp_came_enabled())
		return;
	for (i = 0; i < p->packets; i++) {
		h = ndp_hdr_nth(&p->h, &p->last, i);
		trace_ndp_came(&p->addrs, &h, p->dsfield);
	}
}

/* Pass a batch on as a whole. Return: false if its packets must be processed one by one */
static bool ndp_input_whole(const struct ndp_packet *batch)
{
	u64 __percpu *counters = batch->nn->counters.values;
	struct ndp_packet p = *batch;

	/* sockets must not keep packets of the kernel's reserve */
	if (skb_pfmemalloc(p.skb) || !ndp_input_join(&p) ||
	    !pskb_may_pull(p.skb, NDP_UDP_HLEN + ndp_hdr_len(&p.h)) || !ndp_rx_input_batch(&p))
		return false;
	closnet_count_add(counters, NDP_N_IN_PACKETS, p.packets);
	closnet_count_add(counters, NDP_N_IN_BATCHED, p.packets);
	closnet_count(counters, NDP_N_IN_BATCHES);
	ndp_input_count(&p);
	ndp_input_trace(&p);
	return true;
}

static bool ndp_input_needs_payload(const struct ndp_hdr *h)
{
	return h->type == NDP_DATA && !ndp_is_trimmed(h);
}

/* Process a packet of a batch where it is, if its payload is not needed. Return: false if it is */
static bool ndp_input_bare(const struct ndp_packet *batch, u32 at, bool dry)
{
	struct ndp_packet p = *batch;
	u8 buffer[NDP_HLEN_MAX];
	enum ndp_counter error;
	const u8 *b;
	u32 len;

	b = ndp_input_peek(batch->skb, at, buffer, &len);
	if (!b || len < NDP_NACK_HLEN || ((b[0] & 0x0f) == NDP_DATA && !ndp_hdr_is_cut(b, len)))
		return false;
	if (dry)
		return true;
	ndp_count(p.nn, NDP_N_IN_PACKETS);
	error = ndp_input_read(&p, b, len, udp_hdr(batch->skb));
	p.skb = NULL;
	/* pages of a packet socket's ring may have changed since the dry run */
	if (error == NDP_COUNTERS && ndp_input_needs_payload(&p.h))
		error = NDP_N_IN_VALUE;
	if (error != NDP_COUNTERS)
		ndp_input_drop(&p, error);
	else
		ndp_input_dispatch(&p, ndp_input_is_returned(udp_hdr(batch->skb)));
	return true;
}

/* Process a batch of packets without payload. Return: false if there is another one in it */
static bool ndp_input_headers(const struct ndp_packet *p, bool dry)
{
	const u32 segment = skb_shinfo(p->skb)->gso_size, end = p->skb->len - NDP_UDP_HLEN;
	u32 at;

	for (at = 0; at < end; at += segment)
		if (!ndp_input_bare(p, at, dry))
			return false;
	return true;
}

static void ndp_input_segment(struct sock *sk, const struct ndp_packet *p)
{
	struct sk_buff *skb = p->skb, *next;

	__skb_push(skb, (u32)-skb_mac_offset(skb));
	skb = udp_rcv_segment(sk, skb, ndp_is_ipv4(&p->addrs));
	if (!skb)
		ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
	for (; skb; skb = next) {
		struct ndp_packet packet = *p;

		next = skb->next;
		skb_mark_not_on_list(skb);
		__skb_pull(skb, (u32)skb_transport_offset(skb));
		packet.skb = skb;
		ndp_input_packet(&packet);
	}
}

static void ndp_input_batch(struct sock *sk, struct ndp_packet *p)
{
	/* set by ndp_rx_batch_keep() */
	skb_shinfo(p->skb)->gso_type &= ~SKB_GSO_UDP_TUNNEL;
	ndp_input_detach(p->skb);
	if (ndp_input_whole(p))
		return;
	if (!ndp_input_headers(p, true)) {
		ndp_input_segment(sk, p);
		return;
	}
	ndp_input_headers(p, false);
	consume_skb(p->skb);
}

/* Process a datagram: encap_rcv() of the sockets of the port. Return: 0 */
static int ndp_input(struct sock *sk, struct sk_buff *skb)
{
	struct ndp_packet p = { .nn = ndp_net(sock_net(sk)), .skb = skb };

	if (!ndp_is_unicast(skb)) {
		kfree_skb(skb);
		return 0;
	}
	ndp_input_addrs(&p);
	/* UDP may call from process context, if a packet was queued by NFQUEUE */
	local_bh_disable();
	if (ndp_rx_batch_is(skb, 0))
		ndp_input_batch(sk, &p);
	else
		ndp_input_packet(&p);
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

/* ---- LOCAL_IN: batches to this host ---- */

static unsigned int ndp_keep_ipv4(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	if (skb_is_gso(skb) && ip_hdr(skb)->protocol == IPPROTO_UDP)
		ndp_rx_batch_keep(skb, (u32)skb_network_offset(skb) + ip_hdrlen(skb));
	return NF_ACCEPT;
}

static unsigned int ndp_keep_ipv6(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	if (skb_is_gso(skb) && ipv6_hdr(skb)->nexthdr == IPPROTO_UDP)
		ndp_rx_batch_keep(skb, (u32)skb_network_offset(skb) + sizeof(struct ipv6hdr));
	return NF_ACCEPT;
}

static const struct nf_hook_ops ndp_keep_hooks[] = {
	{
		.hook = ndp_keep_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = ndp_keep_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

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

/* GRO of NICs makes batches, and UDP accepts them. */
static int ndp_input_accept_batches(struct socket *sock)
{
	int on = 1;

	return sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&on), sizeof(on));
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
	err = ndp_input_accept_batches(sock) ?: ndp_input_bind(sock);
	if (err)
		sock_release(sock);
	else
		*result = sock;
	return err;
}

static int ndp_input_open_all(struct ndp_net *nn)
{
	int err = ndp_input_open(nn, AF_INET, &nn->udp4);

	if (err)
		return err;
	err = ndp_input_open(nn, AF_INET6, &nn->udp6);
	if (err)
		goto release4;
	err = nf_register_net_hooks(nn->net, ndp_keep_hooks, ARRAY_SIZE(ndp_keep_hooks));
	if (err)
		goto release6;
	return 0;
release6:
	if (nn->udp6)
		sock_release(nn->udp6);
release4:
	sock_release(nn->udp4);
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
	if (!nn->udp_taken)
		err = ndp_input_open_all(nn);
	if (!err)
		/* pairs with ndp_udp_sk() */
		smp_store_release(&nn->udp_taken, true);
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
	nf_unregister_net_hooks(nn->net, ndp_keep_hooks, ARRAY_SIZE(ndp_keep_hooks));
	if (nn->udp6)
		sock_release(nn->udp6);
	sock_release(nn->udp4);
}
