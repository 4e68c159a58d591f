// SPDX-License-Identifier: GPL-2.0-only
/*
 * RoCEv2 packets as skbs: headers in fragments, ECN bits of shared headers, CNPs
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <closnet/qdisc.h>
#include "roce_cnp.h"

/* Headers that are in fragments, at least in part */
static noinline enum roce_kind roce_parse_copy(const struct sk_buff *skb, u32 l2_len,
					       struct roce_pkt *pkt)
{
	u32 len = min_t(u32, skb->len, ROCE_HEADERS_MAX);
	enum roce_kind kind;
	u8 data[ROCE_HEADERS_MAX];

	if (skb_copy_bits(skb, 0, data, len))
		return ROCE_KIND_OTHER;
	pkt->l3_off = l2_len;
	kind = roce_pkt_parse(pkt, data, len, skb->len, ntohs(skb->protocol));
	return kind == ROCE_KIND_SHORT ? ROCE_KIND_OTHER : kind;
}

/**
 * roce_skb_parse() - classify a packet
 * @skb: the packet
 * @l2_len: length of the Ethernet header at skb->data; 0 if the IP header is there
 * @pkt: result, as for roce_pkt_parse()
 *
 * Return: the kind, not ROCE_KIND_SHORT.
 */
enum roce_kind roce_skb_parse(const struct sk_buff *skb, u32 l2_len, struct roce_pkt *pkt)
{
	enum roce_kind kind;

	pkt->l3_off = l2_len;
	kind = roce_pkt_parse(pkt, skb->data, skb_headlen(skb), skb->len, ntohs(skb->protocol));
	return likely(kind != ROCE_KIND_SHORT) ? kind : roce_parse_copy(skb, l2_len, pkt);
}

/**
 * roce_skb_set_ecn() - replace the ECN bits of a packet
 * @skb: the packet, with skb->data as for roce_skb_parse()
 * @pkt: its headers
 * @ecn: ECN bits
 *
 * Copies a header that is shared with a clone. A checksum of the whole packet
 * (CHECKSUM_COMPLETE) stays correct.
 *
 * Return: 0 or -ENOMEM.
 */
int roce_skb_set_ecn(struct sk_buff *skb, const struct roce_pkt *pkt, u8 ecn)
{
	u32 hlen = pkt->ipv6 ? CLOSNET_IPV6_HLEN : CLOSNET_IPV4_HLEN;
	__be32 before, *word;
	struct ipv6hdr *ip6;

	if (skb_ensure_writable(skb, pkt->l3_off + hlen))
		return -ENOMEM;
	if (!pkt->ipv6) {	/* the header's checksum balances the change */
		ipv4_change_dsfield((struct iphdr *)(skb->data + pkt->l3_off),
				    (u8)~INET_ECN_MASK, ecn);
		return 0;
	}
	ip6 = (struct ipv6hdr *)(skb->data + pkt->l3_off);
	word = (__be32 *)ip6;
	before = *word;
	ipv6_change_dsfield(ip6, (u8)~INET_ECN_MASK, ecn);
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->csum = csum_add(csum_sub(skb->csum, (__force __wsum)before),
				     (__force __wsum)(*word));
	return 0;
}

/**
 * roce_skb_cnp_valid() - verify the ICRC of a CNP
 * @skb: the packet, with skb->data as for roce_skb_parse()
 * @pkt: its headers, of ROCE_KIND_CNP
 *
 * Return: true if it is correct.
 */
bool roce_skb_cnp_valid(const struct sk_buff *skb, const struct roce_pkt *pkt)
{
	u32 len = min_t(u32, skb->len - pkt->l3_off, ROCE_CNP_MAX);
	u8 data[ROCE_CNP_MAX];

	return !skb_copy_bits(skb, pkt->l3_off, data, len) && roce_cnp_valid(data, len);
}

/* Put the Ethernet header of an answer to @data. Return: false if it cannot be answered */
static bool roce_put_l2(struct sk_buff *skb, const struct sk_buff *data, __be16 protocol)
{
	const struct ethhdr *from;
	struct ethhdr *eth;

	if (!closnet_l2_len(data->dev))
		return true;
	if (!skb_mac_header_was_set(data))
		return false;
	from = eth_hdr(data);
	if (is_multicast_ether_addr(from->h_source))
		return false;
	eth = skb_put(skb, sizeof(*eth));
	ether_addr_copy(eth->h_dest, from->h_source);
	ether_addr_copy(eth->h_source, from->h_dest);
	eth->h_proto = protocol;
	return true;
}

/**
 * roce_skb_cnp() - build the CNP for a received packet
 * @data: the packet, skb->data at its IP header
 * @cnp: fields of the CNP
 * @prio: skb->priority, and priority in the VLAN tag if @data had one
 *
 * Return: the CNP, skb->data at its L2 header, for dev_queue_xmit(); NULL: no memory, or
 * @data has no source to answer.
 */
struct sk_buff *roce_skb_cnp(const struct sk_buff *data, const struct roce_cnp *cnp, u8 prio)
{
	__be16 protocol = cnp->ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	struct net_device *dev = data->dev;
	struct sk_buff *skb;
	u32 len;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_HLEN + ROCE_CNP_MAX, GFP_ATOMIC);
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	if (!roce_put_l2(skb, data, protocol)) {
		kfree_skb(skb);
		return NULL;
	}
	skb_set_network_header(skb, skb->len);
	len = roce_cnp_build(skb_tail_pointer(skb), cnp);
	skb_put(skb, len);
	skb_set_transport_header(skb, skb->len - ROCE_UDP_HLEN - ROCE_CNP_LEN);
	skb->protocol = protocol;
	skb->dev = dev;
	skb->priority = prio;
	if (skb_vlan_tag_present(data))
		__vlan_hwaccel_put_tag(skb, data->vlan_proto,
				       skb_vlan_tag_get_id(data) | prio << VLAN_PRIO_SHIFT);
	return skb;
}
