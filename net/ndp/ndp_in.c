// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: from the network
 *
 *	ingress -> [lengths repaired] -> IP -> LOCAL_IN -> flows that send, or are received
 *
 * Packets are taken at LOCAL_IN, behind all other hooks there, and before UDP: it would
 * drop what was trimmed, for its checksum. IPsec's policy is asked here, as UDP would.
 * IP has cut off the padding, checked its header, and put fragments together. With IPv6,
 * fragments and extension headers but hop-by-hop options come later than LOCAL_IN: packets
 * that have them go through UDP to the socket that has the port (ndp_udp.c). Before there
 * is one, the port is not ours, and nothing is taken.
 *
 * IP drops a packet that is shorter than it says. A switch that trims without
 * correcting lengths makes such packets; so they are corrected at the device's ingress,
 * before any other hook. That is done to nothing but trimmed DATA whose checksums are
 * right.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/route.h>
#include <net/xfrm.h>
#include "ndp.h"
#include "ndp_trace.h"

#define NDP_UDP_HLEN	((u32)sizeof(struct udphdr))

/**
 * ndp_in_peek() - read the header of a packet that is left as it is
 * @skb: packet
 * @off: of the UDP header, bytes behind skb->data
 * @h: result
 *
 * Return: is there one, and is it right?
 */
bool ndp_in_peek(const struct sk_buff *skb, u32 off, struct ndp_hdr *h)
{
	u8 buffer[NDP_UDP_HLEN + NDP_HLEN];
	const u8 *uh;
	u32 len;

	if (skb->len < off + NDP_UDP_HLEN + NDP_NACK_HLEN)
		return false;
	len = skb->len - off;
	uh = skb_header_pointer(skb, (int)off, (int)min_t(u32, len, sizeof(buffer)), buffer);
	return uh && ndp_hdr_read(uh + NDP_UDP_HLEN, len - NDP_UDP_HLEN, h) == NDP_READ_OK;
}

/*
 * Is a UDP datagram, @off bytes behind skb->data, one of ours, or ours and returned? What
 * comes from the port may also be somebody's who has it elsewhere.
 */
static bool ndp_in_is_ours(const struct sk_buff *skb, u32 off)
{
	__be16 buffer[2];
	const __be16 *ports = skb_header_pointer(skb, (int)off, sizeof(buffer), buffer);
	struct ndp_hdr h;

	if (!ports)
		return false;
	if (likely(ports[1] == htons(NDP_UDP_PORT)))
		return true;
	return ports[0] == htons(NDP_UDP_PORT) && ndp_in_peek(skb, off, &h) &&
	       h.type == NDP_DATA;
}

/* ---- LOCAL_IN ---- */

static void ndp_in_drop(struct ndp_packet *p, enum ndp_counter why)
{
	ndp_count(p->nn, why);
	kfree_skb(p->skb);
}

static void ndp_in_count(const struct ndp_packet *p)
{
	static const u8 counters[] = {
		[NDP_DATA] = NDP_N_IN_DATA, [NDP_CONTROL] = NDP_N_IN_CONTROL,
		[NDP_PROBE] = NDP_N_IN_PROBE, [NDP_ERROR] = NDP_N_IN_ERROR,
		[NDP_COOKIE] = NDP_N_IN_COOKIE,
	};

	ndp_count(p->nn, ndp_is_trimmed(&p->h) ? NDP_N_IN_TRIMMED : counters[p->h.type]);
}

static void ndp_in_dispatch(struct ndp_packet *p, bool returned)
{
	ndp_in_count(p);
	trace_ndp_came(&p->addrs, &p->h, p->dsfield);
	if (returned) {
		ndp_count(p->nn, NDP_N_IN_RETURNED);
		ndp_tx_returned(p);
	} else if (p->h.type == NDP_DATA || p->h.type == NDP_PROBE) {
		ndp_rx_input(p);
	} else if (p->h.type == NDP_ERROR && p->h.err.code == NDP_CODE_ABORT) {
		ndp_rx_error(p);
	} else {
		ndp_tx_input(p);
	}
}

/* skb->data is at UDP. Of a packet that is whole, all must be right. */
static bool ndp_in_checksum_right(struct sk_buff *skb)
{
	const struct udphdr *uh = udp_hdr(skb);

	if (!uh->check || ntohs(uh->len) != skb->len)
		return false;
	if (ip_hdr(skb)->version == 4)
		return !skb_checksum_validate(skb, IPPROTO_UDP, inet_compute_pseudo);
	return !skb_checksum_validate(skb, IPPROTO_UDP, ip6_compute_pseudo);
}

/* From IP's header, at skb->data; the upper layers will need no more of it */
static void ndp_in_addrs(struct ndp_packet *p)
{
	const struct sk_buff *skb = p->skb;
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct iphdr *ip4 = ip_hdr(skb);

	p->ifindex = skb->dev->ifindex;
	if (ip4->version == 4) {
		ipv6_addr_set_v4mapped(ip4->daddr, &p->addrs.local);
		ipv6_addr_set_v4mapped(ip4->saddr, &p->addrs.remote);
		p->dsfield = ipv4_get_dsfield(ip4);
		return;
	}
	p->addrs.local = ip6->daddr;
	p->addrs.remote = ip6->saddr;
	if (ipv6_addr_type(&ip6->saddr) & IPV6_ADDR_LINKLOCAL)
		p->addrs.ifindex = inet6_iif(skb);
	p->dsfield = ipv6_get_dsfield(ip6);
}

/* skb->data to UDP; skb->csum then is of what is left, as IP would have it */
static void ndp_in_pull_ip(struct sk_buff *skb, u32 off)
{
	/* the sum of an IPv4 header was 0 when it was received; since then options may change */
	if (ip_hdr(skb)->version == 4)
		__skb_pull(skb, off);
	else
		skb_pull_rcsum(skb, off);
	skb_reset_transport_header(skb);
}

/* skb is to be kept for long: it lets go of what it holds, but the device. */
static void ndp_in_free_of(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_scrub_packet(skb, false);
}

/* A datagram: IP's header is at skb->data and linear, UDP's off bytes behind it. */
static void ndp_in_datagram(struct ndp_net *nn, struct sk_buff *skb, u32 off)
{
	const u32 ndp_off = off + NDP_UDP_HLEN;
	struct ndp_packet p = { .nn = nn, .skb = skb };
	enum ndp_read error;
	bool returned;
	u32 len;

	ndp_count(nn, NDP_N_IN_PACKETS);
	if (skb->len < ndp_off + NDP_NACK_HLEN)
		return ndp_in_drop(&p, NDP_N_IN_SHORT);
	len = min_t(u32, skb->len - ndp_off, NDP_HLEN);
	/* what was allocated from the kernel's reserve must not be kept by a socket */
	if (skb_pfmemalloc(skb) || !pskb_may_pull(skb, ndp_off + len))
		return ndp_in_drop(&p, NDP_N_IN_NO_MEMORY);
	error = ndp_hdr_read(skb->data + ndp_off, skb->len - ndp_off, &p.h);
	if (error)
		return ndp_in_drop(&p, NDP_N_IN_SHORT + error - NDP_READ_SHORT);
	ndp_in_addrs(&p);
	ndp_in_pull_ip(skb, off);
	returned = ndp_is_returned(ntohs(udp_hdr(skb)->source), ntohs(udp_hdr(skb)->dest));
	if (returned && p.h.type != NDP_DATA)
		return ndp_in_drop(&p, NDP_N_IN_VALUE);
	if (!ndp_is_trimmed(&p.h) && !ndp_in_checksum_right(skb))
		return ndp_in_drop(&p, NDP_N_IN_UDP_CSUM);
	__skb_pull(skb, NDP_UDP_HLEN + len);
	ndp_in_free_of(skb);
	skb->dev = NULL;
	ndp_in_dispatch(&p, returned);
}

/* All checksums of what is not cut yet will be right. So it is with what GRO puts together. */
static bool ndp_in_will_be_right(const struct sk_buff *skb, u32 off)
{
	return skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_start_offset(skb) == (int)off &&
	       skb->csum_offset == offsetof(struct udphdr, check);
}

/* Segments, the first one's header at @pos: are they a run? */
static bool ndp_in_is_run(const struct sk_buff *skb, u32 pos, struct ndp_run *run)
{
	const u32 size = skb_shinfo(skb)->gso_size;
	struct ndp_hdr h;
	u8 buffer[NDP_HLEN];
	const u8 *b;
	u32 len;

	for (run->count = 0; pos < skb->len; pos += size) {
		len = min(size, skb->len - pos);
		b = len < NDP_HLEN ? NULL : skb_header_pointer(skb, (int)pos, NDP_HLEN, buffer);
		if (!b || run->count == NDP_BATCH_PACKETS ||
		    ndp_hdr_read(b, len, &h) != NDP_READ_OK)
			return false;
		if (!(run->count ? ndp_run_add(run, &h) : ndp_run_begin(run, &h)))
			return false;
	}
	return run->count > 1;
}

static void ndp_in_count_run(const struct ndp_packet *p, const struct ndp_run *run)
{
	u64 __percpu *counters = p->nn->counters.values;
	struct ndp_hdr h = run->first;

	closnet_count_add(counters, NDP_N_IN_PACKETS, run->count);
	closnet_count_add(counters, NDP_N_IN_DATA, run->count);
	closnet_count_add(counters, NDP_N_IN_RUNS, run->count);
	if (!trace_ndp_came_enabled())
		return;
	for (; h.seq != run->last.seq; h.seq++, h.data.offset += h.payload_len)
		trace_ndp_came(&p->addrs, &h, p->dsfield);
	trace_ndp_came(&p->addrs, &run->last, p->dsfield);
}

/* Segments that need not be cut. Return: were they taken? Else nothing has happened. */
static bool ndp_in_run(struct ndp_net *nn, struct sk_buff *skb, u32 off)
{
	const u32 pos = off + NDP_UDP_HLEN;
	struct ndp_packet p = { .nn = nn, .skb = skb };
	struct net_device *dev = skb->dev;
	struct ndp_run run;

	if (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST || skb_pfmemalloc(skb) ||
	    !ndp_in_will_be_right(skb, off) || !ndp_in_is_run(skb, pos, &run) ||
	    !pskb_may_pull(skb, pos + NDP_HLEN))
		return false;
	/* returned ones are for others */
	if (((struct udphdr *)(skb->data + off))->dest != htons(NDP_UDP_PORT))
		return false;
	p.h = run.first;
	ndp_in_addrs(&p);
	ndp_in_free_of(skb);
	skb->dev = NULL;
	skb_set_transport_header(skb, (int)off);
	__skb_pull(skb, pos + NDP_HLEN);
	if (ndp_rx_run(&p, &run)) {
		ndp_in_count_run(&p, &run);
		return true;
	}
	__skb_push(skb, pos + NDP_HLEN);
	skb->dev = dev;
	return false;
}

/* GRO may have put datagrams together, or a local socket may not have cut them. */
static void ndp_in_segments(struct ndp_net *nn, struct sk_buff *skb, u32 off)
{
	struct sk_buff *segs, *seg, *next;

	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 && ndp_in_run(nn, skb, off))
		return;
	/* UFO: one datagram, larger than any MTU, that was to become fragments */
	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4))
		segs = NULL;
	else
		segs = __skb_gso_segment(skb, NETIF_F_SG | NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM,
					 false);
	if (IS_ERR_OR_NULL(segs)) {
		ndp_count(nn, NDP_N_IN_PACKETS);
		ndp_count(nn, NDP_N_IN_VALUE);
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		ndp_in_datagram(nn, seg, off);
	}
}

static void ndp_in_take(struct net *net, struct sk_buff *skb, u32 off)
{
	/* what NFQUEUE hands back comes from a process */
	local_bh_disable();
	if (skb_is_gso(skb))
		ndp_in_segments(ndp_net(net), skb, off);
	else
		ndp_in_datagram(ndp_net(net), skb, off);
	local_bh_enable();
}

static unsigned int ndp_in_ipv4(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const u32 off = ip_hdrlen(skb);

	if (ip_hdr(skb)->protocol != IPPROTO_UDP || !READ_ONCE(ndp_net(state->net)->udp_taken) ||
	    !ndp_in_is_ours(skb, off) ||
	    skb_rtable(skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST))
		return NF_ACCEPT;
	if (!xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb))
		return NF_DROP;
	ndp_in_take(state->net, skb, off);
	return NF_STOLEN;
}

/* Addresses that are nobody's; a mapped one would pass for somebody's of IPv4 */
static bool ndp_in_addrs6_wrong(const struct ipv6hdr *iph)
{
	return ipv6_addr_any(&iph->saddr) || ipv6_addr_v4mapped(&iph->saddr) ||
	       ipv6_addr_v4mapped(&iph->daddr) || ipv6_addr_is_multicast(&iph->daddr);
}

static unsigned int ndp_in_ipv6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	/* what comes next, as ip6_protocol_deliver_rcu() would see it */
	const u8 nexthdr = skb_network_header(skb)[IP6CB(skb)->nhoff];
	const u32 off = (u32)skb_transport_offset(skb);

	if (nexthdr != IPPROTO_UDP || !READ_ONCE(ndp_net(state->net)->udp_taken) ||
	    !ndp_in_is_ours(skb, off) ||
	    ndp_in_addrs6_wrong(ipv6_hdr(skb)))
		return NF_ACCEPT;
	if (!xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb))
		return NF_DROP;
	ndp_in_take(state->net, skb, off);
	return NF_STOLEN;
}

/**
 * ndp_in_udp() - a datagram came through UDP
 * @nn: namespace
 * @skb: it, at the UDP header; it is taken over
 *
 * Under RCU, with bottom halves off, without locks.
 */
void ndp_in_udp(struct ndp_net *nn, struct sk_buff *skb)
{
	/* of IPv4 it is broadcasts and multicast */
	if (ip_hdr(skb)->version == 6 && !ndp_in_addrs6_wrong(ipv6_hdr(skb)))
		ndp_in_datagram(nn, skb, 0);
	else
		kfree_skb(skb);
}

static const struct nf_hook_ops ndp_in_hooks[] = {
	{
		.hook = ndp_in_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = ndp_in_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

/**
 * ndp_in_init() - begin to take packets
 * @nn: namespace, whose tables are there
 *
 * Return: 0 or a negative error.
 */
int ndp_in_init(struct ndp_net *nn)
{
	return nf_register_net_hooks(nn->net, ndp_in_hooks, ARRAY_SIZE(ndp_in_hooks));
}

/**
 * ndp_in_exit() - take no more packets; some may be on their way still, under RCU
 * @nn: namespace
 */
void ndp_in_exit(struct ndp_net *nn)
{
	nf_unregister_net_hooks(nn->net, ndp_in_hooks, ARRAY_SIZE(ndp_in_hooks));
}

/* ---- ingress ---- */

/* Is a UDP datagram, @off bytes behind skb->data, trimmed DATA of ours? */
static bool ndp_in_is_trimmed(const struct sk_buff *skb, u32 off)
{
	struct ndp_hdr h;

	return ndp_in_is_ours(skb, off) && ndp_in_peek(skb, off, &h) && ndp_is_trimmed(&h);
}

/* Of UDP, @off bytes behind skb->data. Its checksum stays: it says that this is not all. */
static void ndp_in_repair_udp(const struct nf_hook_state *state, struct sk_buff *skb, u32 off)
{
	struct udphdr *uh = (struct udphdr *)(skb->data + off);

	if (ntohs(uh->len) > skb->len - off)
		uh->len = htons((u16)(skb->len - off));
	skb->ip_summed = CHECKSUM_NONE;
	ndp_count(ndp_net(state->net), NDP_N_IN_REPAIRED);
}

static void ndp_in_repair4(const struct nf_hook_state *state, struct sk_buff *skb)
{
	struct iphdr buffer;
	const struct iphdr *old = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	struct iphdr *iph;
	u32 hlen;

	if (!old || ntohs(old->tot_len) <= skb->len || old->protocol != IPPROTO_UDP ||
	    old->version != 4 || old->ihl < 5 || ip_is_fragment(old))
		return;
	hlen = old->ihl * 4;
	if (!ndp_in_is_trimmed(skb, hlen) || skb_ensure_writable(skb, hlen + NDP_UDP_HLEN))
		return;
	iph = (struct iphdr *)skb->data;
	if (ip_fast_csum(iph, iph->ihl))
		return;
	csum_replace2(&iph->check, iph->tot_len, htons((u16)skb->len));
	iph->tot_len = htons((u16)skb->len);
	ndp_in_repair_udp(state, skb, hlen);
}

static void ndp_in_repair6(const struct nf_hook_state *state, struct sk_buff *skb)
{
	const u32 hlen = sizeof(struct ipv6hdr);
	struct ipv6hdr buffer;
	const struct ipv6hdr *old = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);

	if (!old || hlen + ntohs(old->payload_len) <= skb->len || old->version != 6 ||
	    old->nexthdr != IPPROTO_UDP || !ndp_in_is_trimmed(skb, hlen) ||
	    skb_ensure_writable(skb, hlen + NDP_UDP_HLEN))
		return;
	((struct ipv6hdr *)skb->data)->payload_len = htons((u16)(skb->len - hlen));
	ndp_in_repair_udp(state, skb, hlen);
}

/* skb->data is at the L3 header, and skb->protocol says what that is; VLAN tags are gone. */
static unsigned int ndp_in_repair(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	if (skb->pkt_type == PACKET_OTHERHOST || skb_is_gso(skb) || skb_shared(skb))
		return NF_ACCEPT;
	if (skb->protocol == htons(ETH_P_IP))
		ndp_in_repair4(state, skb);
	else if (skb->protocol == htons(ETH_P_IPV6))
		ndp_in_repair6(state, skb);
	return NF_ACCEPT;
}

/**
 * ndp_in_dev_init() - begin to repair what comes by a device
 * @dev: it
 * @ops: result: the hook; nf_unregister_net_hook() takes it back
 *
 * Return: 0 or a negative error.
 */
int ndp_in_dev_init(struct net_device *dev, struct nf_hook_ops *ops)
{
	*ops = (struct nf_hook_ops) {
		.hook = ndp_in_repair,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = NF_IP_PRI_FIRST,
	};
	return nf_register_net_hook(dev_net(dev), ops);
}
