// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IP header of a packet in a qdisc: below VLAN tags, in fragments
 */
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <closnet/skb_ip.h>

/* An L3 header: its offset from skb->data, and its protocol; 0: unknown */
struct closnet_l3 {
	u32 off;
	u16 proto;
};

/* Find the L3 header of a packet whose L2 header is short or in fragments. */
static noinline struct closnet_l3 closnet_find_l3_copy(const struct sk_buff *skb, u32 l2_len)
{
	u8 data[ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN];
	u32 len = min_t(u32, skb->len, sizeof(data));
	struct closnet_l3 l3 = { .off = l2_len };

	if (skb_copy_bits(skb, 0, data, len) ||
	    !closnet_find_l3(data, len, &l3.off, &l3.proto))
		l3.proto = 0;
	return l3;
}

/* By value: with a pointer, callers would need a stack protector. */
static __always_inline struct closnet_l3 closnet_find_skb_l3(const struct sk_buff *skb,
							     u32 l2_len)
{
	u32 len = l2_len + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN;
	struct closnet_l3 l3 = { .off = l2_len };

	if (!l2_len) {	/* an offset: an unknown L2 header, or a tunnel's */
		l3.proto = skb_network_offset(skb) ? 0 : ntohs(skb->protocol);
		return l3;
	}
	if (unlikely(skb_headlen(skb) < len))
		return closnet_find_l3_copy(skb, l2_len);
	if (!closnet_find_l3(skb->data, len, &l3.off, &l3.proto))
		l3.proto = 0;
	return l3;
}

/**
 * closnet_skb_l3() - find the L3 header
 * @skb: the packet, as a qdisc has it
 * @l2_len: closnet_l2_len() of the device
 * @off: result: offset of the header from skb->data, bytes
 *
 * Return: the L3 protocol, host byte order; 0: unknown.
 */
u16 closnet_skb_l3(const struct sk_buff *skb, u32 l2_len, u32 *off)
{
	struct closnet_l3 l3 = closnet_find_skb_l3(skb, l2_len);

	*off = l3.off;
	return l3.proto;
}

/* Read the first two bytes of an IP header in fragments; 0 on failure, which is not ECT. */
static noinline u16 closnet_skb_copy16(const struct sk_buff *skb, u32 off)
{
	u8 bytes[2];

	return skb_copy_bits(skb, off, bytes, sizeof(bytes)) ? 0 : closnet_get16(bytes);
}

/**
 * closnet_set_ce() - mark a packet: Congestion Experienced
 * @skb: the packet, as a qdisc has it
 * @l2_len: closnet_l2_len() of the device
 *
 * Unlike INET_ECN_set_ce(), it finds the header below VLAN tags, and copies a
 * header that is shared with a clone. A checksum of the whole packet
 * (CHECKSUM_COMPLETE) stays correct.
 *
 * Return: enum closnet_ce.
 */
enum closnet_ce closnet_set_ce(struct sk_buff *skb, u32 l2_len)
{
	struct closnet_l3 l3 = closnet_find_skb_l3(skb, l2_len);
	bool ipv4 = l3.proto == ETH_P_IP;
	u32 hlen = ipv4 ? CLOSNET_IPV4_HLEN : CLOSNET_IPV6_HLEN;
	u16 first;
	u8 ecn;

	if ((!ipv4 && l3.proto != ETH_P_IPV6) || skb->len < l3.off + hlen)
		return CLOSNET_CE_NOT_ECT;
	first = likely(skb_headlen(skb) >= l3.off + 2) ? closnet_get16(skb->data + l3.off) :
							 closnet_skb_copy16(skb, l3.off);
	ecn = ipv4 ? first : first >> 4;
	if (INET_ECN_is_not_ect(ecn))
		return CLOSNET_CE_NOT_ECT;
	if (INET_ECN_is_ce(ecn))
		return CLOSNET_CE_WAS_SET;
	if (skb_ensure_writable(skb, l3.off + hlen))
		return CLOSNET_CE_NOMEM;
	if (ipv4)
		IP_ECN_set_ce((struct iphdr *)(skb->data + l3.off));
	else
		IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + l3.off));
	return CLOSNET_CE_SET;
}
