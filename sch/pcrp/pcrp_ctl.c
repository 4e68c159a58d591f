// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's control packets as skbs
 *
 * pcrp_wire.c defines their payload. This file adds Ethernet header and VLAN tag, IP and
 * UDP, and checksums. A REQUEST or PROBE copies the headers of a data packet of its flow,
 * so it takes the same path. A GRANT has the headers of the last REQUEST or PROBE, with
 * source and destination swapped. So it needs no route and no neighbour, and leaves by
 * the device that receives the flow.
 *
 * UDP checksums are computed in software: the payload has only 64 bytes, and a capture
 * shows the packet as the peer receives it. A received packet without one is malformed.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <closnet/qdisc.h>
#include "pcrp_ctl.h"
#include "pcrp_host.h"

#define PCRP_CTL_TTL		64
#define PCRP_CTL_UDP_LEN	(sizeof(struct udphdr) + PCRP_WIRE_LEN)
/* Messages that GRO merges, at most: UDP_MAX_SEGMENTS of most kernels */
#define PCRP_CTL_MERGED_MAX	64

static bool pcrp_path_is_ipv4(const struct pcrp_path *path)
{
	return ipv6_addr_v4mapped(&path->dst);
}

/* ---- paths ---- */

static void pcrp_path_tag(struct pcrp_path *path, const struct sk_buff *skb)
{
	path->vlan_proto = 0;
	if (!skb_vlan_tag_present(skb))
		return;
	path->vlan_proto = skb->vlan_proto;
	path->vlan_tci = skb_vlan_tag_get_id(skb);
}

/* Path of a packet at egress; skb->data is at its L2 header. Return: false: no headers */
static bool pcrp_path_ahead(struct pcrp_path *path, const struct sk_buff *skb,
			    const struct pcrp_pkt *pkt)
{
	if (pkt->kind < PCRP_KIND_CONTROL || pkt->l3_off > sizeof(path->l2))
		return false;
	path->src = pkt->key.src;
	path->dst = pkt->key.dst;
	path->l2_len = pkt->l3_off;
	pcrp_path_tag(path, skb);
	return !skb_copy_bits(skb, 0, path->l2, path->l2_len);
}

/**
 * pcrp_path_back() - get the path back to the source of a received packet
 * @path: result
 * @skb: the packet, skb->data at its L3 header
 * @pkt: result of pcrp_parse()
 *
 * Return: false: there is no such path.
 */
bool pcrp_path_back(struct pcrp_path *path, const struct sk_buff *skb,
		    const struct pcrp_pkt *pkt)
{
	struct ethhdr *eth = (struct ethhdr *)path->l2;

	if (pkt->kind < PCRP_KIND_CONTROL)
		return false;
	path->src = pkt->key.dst;
	path->dst = pkt->key.src;
	path->l2_len = closnet_l2_len(skb->dev);
	pcrp_path_tag(path, skb);
	if (!path->l2_len)
		return true;
	if (!skb_mac_header_was_set(skb) || is_multicast_ether_addr(eth_hdr(skb)->h_source))
		return false;
	ether_addr_copy(eth->h_dest, eth_hdr(skb)->h_source);
	ether_addr_copy(eth->h_source, eth_hdr(skb)->h_dest);
	eth->h_proto = pkt->ip_hlen == CLOSNET_IPV4_HLEN ? htons(ETH_P_IP) :
							    htons(ETH_P_IPV6);
	return true;
}

/* ---- transmit ---- */

static void pcrp_ctl_put_ipv4(struct sk_buff *skb, const struct pcrp_path *path, u8 dscp)
{
	struct iphdr *iph = skb_put_zero(skb, sizeof(*iph));

	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = dscp << 2;
	iph->tot_len = htons(sizeof(*iph) + PCRP_CTL_UDP_LEN);
	iph->frag_off = htons(IP_DF);
	iph->ttl = PCRP_CTL_TTL;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = path->src.s6_addr32[3];
	iph->daddr = path->dst.s6_addr32[3];
	ip_send_check(iph);
}

static void pcrp_ctl_put_ipv6(struct sk_buff *skb, const struct pcrp_path *path, u8 dscp)
{
	struct ipv6hdr *iph = skb_put(skb, sizeof(*iph));

	ip6_flow_hdr(iph, dscp << 2, 0);
	iph->payload_len = htons(PCRP_CTL_UDP_LEN);
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = PCRP_CTL_TTL;
	iph->saddr = path->src;
	iph->daddr = path->dst;
}

/* UDP checksum. @sum: of UDP header and payload. Return: 0 for a correct packet */
static __sum16 pcrp_ctl_csum(const struct in6_addr *src, const struct in6_addr *dst, u32 len,
			     __wsum sum)
{
	if (ipv6_addr_v4mapped(dst))
		return csum_tcpudp_magic(src->s6_addr32[3], dst->s6_addr32[3], len,
					 IPPROTO_UDP, sum);
	return csum_ipv6_magic(src, dst, len, IPPROTO_UDP, sum);
}

static void pcrp_ctl_put_udp(struct sk_buff *skb, const struct pcrp_path *path,
			     const struct pcrp_msg *msg)
{
	struct udphdr *uh = skb_put(skb, sizeof(*uh));

	uh->source = htons(PCRP_UDP_PORT);
	uh->dest = htons(PCRP_UDP_PORT);
	uh->len = htons(PCRP_CTL_UDP_LEN);
	uh->check = 0;
	pcrp_msg_write(msg, skb_put(skb, PCRP_WIRE_LEN));
	uh->check = pcrp_ctl_csum(&path->src, &path->dst, PCRP_CTL_UDP_LEN,
				  csum_partial(uh, PCRP_CTL_UDP_LEN, 0)) ? :
		    CSUM_MANGLED_0;
}

/**
 * pcrp_ctl_build() - build a control packet
 * @dev: device by which it leaves
 * @path: its headers
 * @msg: its message
 * @dscp: its DSCP
 *
 * Return: the packet, skb->data at its L2 header; NULL: no memory.
 */
struct sk_buff *pcrp_ctl_build(struct net_device *dev, const struct pcrp_path *path,
			       const struct pcrp_msg *msg, u8 dscp)
{
	bool ipv4 = pcrp_path_is_ipv4(path);
	struct sk_buff *skb;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + sizeof(path->l2) + sizeof(struct ipv6hdr) +
			PCRP_CTL_UDP_LEN, GFP_ATOMIC);
	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	skb_put_data(skb, path->l2, path->l2_len);
	skb_set_network_header(skb, path->l2_len);
	if (ipv4)
		pcrp_ctl_put_ipv4(skb, path, dscp);
	else
		pcrp_ctl_put_ipv6(skb, path, dscp);
	skb_set_transport_header(skb, skb->len);
	pcrp_ctl_put_udp(skb, path, msg);
	if (path->l2_len)
		skb->protocol = eth_hdr(skb)->h_proto;
	else
		skb->protocol = ipv4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	if (path->vlan_proto)
		__vlan_hwaccel_put_tag(skb, path->vlan_proto, path->vlan_tci);
	skb->dev = dev;
	skb->priority = TC_PCRP_PRIOS - 1;
	return skb;
}

/**
 * pcrp_ctl_beside() - build a REQUEST or PROBE, in dequeue()
 * @data: data packet of its flow, skb->data at its L2 header
 * @pkt: result of pcrp_parse() for the data packet
 * @msg: its message
 * @dscp: its DSCP
 *
 * Return: the packet, as if it had been enqueued; NULL: no memory.
 */
struct sk_buff *pcrp_ctl_beside(const struct sk_buff *data, const struct pcrp_pkt *pkt,
				const struct pcrp_msg *msg, u8 dscp)
{
	struct pcrp_path path;
	struct sk_buff *skb;

	if (!pcrp_path_ahead(&path, data, pkt))
		return NULL;
	skb = pcrp_ctl_build(data->dev, &path, msg, dscp);
	if (unlikely(!skb))
		return NULL;
	skb_copy_queue_mapping(skb, data);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	closnet_set_pkt_segs(skb, 1);
	return skb;
}

/* ---- receive ---- */

/**
 * pcrp_ctl_for_us() - test whether a received control packet is for this host
 * @skb: the packet, of PCRP_KIND_CONTROL
 * @pkt: result of pcrp_parse()
 *
 * Forwarded packets are not, nor are packets whose source is no host, as they cannot be
 * answered.
 *
 * Return: true if so.
 */
bool pcrp_ctl_for_us(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	const struct in6_addr *src = &pkt->key.src;

	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_LOOPBACK)
		return false;
	if (pkt->ip_hlen == CLOSNET_IPV4_HLEN)
		return !ipv4_is_multicast(src->s6_addr32[3]) &&
		       !ipv4_is_lbcast(src->s6_addr32[3]) &&
		       !ipv4_is_zeronet(src->s6_addr32[3]) &&
		       pcrp_addr_is_local(skb->dev, &pkt->key.dst);
	return !ipv6_addr_is_multicast(src) && !ipv6_addr_any(src) &&
	       pcrp_addr_is_local(skb->dev, &pkt->key.dst);
}

/* Are UDP length and checksum right? GRO has verified the packets that it merges. */
static bool pcrp_ctl_valid(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	u32 len = sizeof(struct udphdr) + pkt->bytes;
	const struct udphdr *uh;
	struct udphdr buffer;

	uh = skb_header_pointer(skb, pkt->l4_off, sizeof(buffer), &buffer);
	if (unlikely(!uh))
		return false;
	if (skb_is_gso(skb))
		return true;
	if (ntohs(uh->len) != len)
		return false;
	if (skb_csum_unnecessary(skb))
		return true;
	return uh->check && !pcrp_ctl_csum(&pkt->key.src, &pkt->key.dst, len,
					   skb_checksum(skb, pkt->l4_off, len, 0));
}

/**
 * pcrp_ctl_count() - count the messages of a control packet
 * @skb: the packet, of PCRP_KIND_CONTROL
 * @pkt: result of pcrp_parse()
 *
 * Return: 1, or the number of packets that GRO merged; 0: it is malformed.
 */
u32 pcrp_ctl_count(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	u32 count = pkt->bytes / PCRP_WIRE_LEN;

	if (pkt->bytes % PCRP_WIRE_LEN || count > PCRP_CTL_MERGED_MAX)
		return 0;
	if (count != 1 && !skb_is_gso(skb))
		return 0;
	return pcrp_ctl_valid(skb, pkt) ? count : 0;
}

/**
 * pcrp_ctl_read() - read a message
 * @skb: the packet
 * @pkt: result of pcrp_parse()
 * @index: index of the message, less than pcrp_ctl_count()
 * @msg: result
 *
 * Return: false: it is malformed.
 */
bool pcrp_ctl_read(const struct sk_buff *skb, const struct pcrp_pkt *pkt, u32 index,
		   struct pcrp_msg *msg)
{
	u32 off = pkt->l4_off + sizeof(struct udphdr) + index * PCRP_WIRE_LEN;
	u8 buffer[PCRP_WIRE_LEN];
	const u8 *wire;

	wire = skb_header_pointer(skb, off, sizeof(buffer), buffer);
	return wire && pcrp_msg_read(wire, PCRP_WIRE_LEN, msg);
}
