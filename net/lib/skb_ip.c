// SPDX-License-Identifier: GPL-2.0-only
/*
 * The IP header of a packet in a qdisc: below VLAN tags, in fragments
 */
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <closnet/skb_ip.h>

/**
 * struct closnet_ip - an IP header
 * @off: offset from skb->data, bytes
 * @hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN; 0: the packet is not IP
 * @dsfield: DSCP and ECN bits
 */
struct closnet_ip {
	u32 off;
	u32 hlen;
	u8 dsfield;
};

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
	u32 len = min_t(u32, skb->len, l2_len + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN);
	u8 buffer[ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN];
	const u8 *data;
	u16 proto;

	*off = l2_len;
	if (!l2_len)	/* an offset: an unknown L2 header, or a tunnel's */
		return skb_network_offset(skb) ? 0 : ntohs(skb->protocol);
	data = skb_header_pointer(skb, 0, len, buffer);
	return data && closnet_find_l3(data, len, off, &proto) ? proto : 0;
}

static struct closnet_ip closnet_skb_ip(const struct sk_buff *skb, u32 l2_len)
{
	struct closnet_ip ip = {};
	const u8 *iph;
	u8 buffer[2];
	u16 proto;
	u32 hlen;

	proto = closnet_skb_l3(skb, l2_len, &ip.off);
	if (proto != ETH_P_IP && proto != ETH_P_IPV6)
		return ip;
	hlen = proto == ETH_P_IP ? CLOSNET_IPV4_HLEN : CLOSNET_IPV6_HLEN;
	iph = skb_header_pointer(skb, ip.off, sizeof(buffer), buffer);
	if (!iph || skb->len < ip.off + hlen)
		return ip;
	ip.hlen = hlen;
	ip.dsfield = proto == ETH_P_IP ? closnet_ipv4_dsfield(iph) :
					 closnet_ipv6_dsfield(iph);
	return ip;
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
	struct closnet_ip ip = closnet_skb_ip(skb, l2_len);

	if (!ip.hlen || INET_ECN_is_not_ect(ip.dsfield))
		return CLOSNET_CE_NOT_ECT;
	if (INET_ECN_is_ce(ip.dsfield))
		return CLOSNET_CE_WAS_SET;
	if (skb_ensure_writable(skb, ip.off + ip.hlen))
		return CLOSNET_CE_NOMEM;
	if (ip.hlen == CLOSNET_IPV4_HLEN)
		IP_ECN_set_ce((struct iphdr *)(skb->data + ip.off));
	else
		IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + ip.off));
	return CLOSNET_CE_SET;
}
