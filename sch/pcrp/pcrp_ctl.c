// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's control packets as skbs: see pcrp_ctl.h
 *
 * Checksums are made here, in software: a packet has 64 bytes of UDP, and what
 * captures it sees what the other host will. No packet goes out without one, so
 * none is taken without.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <closnet/qdisc.h>
#include "pcrp_ctl.h"

/* Hops: routers between the hosts of a rack or pod are few. */
#define PCRP_CTL_TTL		64
#define PCRP_CTL_UDP_LEN	(sizeof(struct udphdr) + PCRP_WIRE_LEN)
/* Messages that GRO has put together, at most: UDP_MAX_SEGMENTS of most kernels */
#define PCRP_CTL_MERGED_MAX	64

static bool pcrp_path_is_ipv4(const struct pcrp_path *path)
{
	return ipv6_addr_v4mapped(&path->dst);
}

/* ---- ways ---- */

static void pcrp_path_tag(struct pcrp_path *path, const struct sk_buff *skb)
{
	path->vlan_proto = 0;
	if (!skb_vlan_tag_present(skb))
		return;
	path->vlan_proto = skb->vlan_proto;
	path->vlan_tci = skb_vlan_tag_get_id(skb);
}

/**
 * pcrp_path_ahead() - the way that a packet at egress takes
 * @path: result
 * @skb: the packet, skb->data at its L2 header
 * @pkt: what pcrp_parse() says of it
 *
 * Return: false: it has no such headers.
 */
bool pcrp_path_ahead(struct pcrp_path *path, const struct sk_buff *skb,
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
 * pcrp_path_back() - the way back to where a packet at ingress came from
 * @path: result
 * @skb: the packet, skb->data at its L3 header
 * @pkt: what pcrp_parse() says of it
 *
 * Return: false: there is none.
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

/* ---- out ---- */

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

/* UDP's checksum; @sum: of the UDP header and what follows. 0: of a good packet */
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
 * pcrp_ctl_build() - make a control packet
 * @dev: where it will leave
 * @path: headers around it
 * @msg: what it says
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
 * pcrp_ctl_beside() - make a REQUEST or PROBE, in dequeue()
 * @data: a packet of its flow, skb->data at its L2 header
 * @pkt: what pcrp_parse() says of it
 * @msg: what it says
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

/* ---- in ---- */

/**
 * pcrp_addr_is_local() - is that an address of this host?
 * @dev: a device of it; its VRF is asked, if it has one
 * @addr: the address; an IPv4 address mapped
 *
 * Return: true if so.
 */
bool pcrp_addr_is_local(const struct net_device *dev, const struct in6_addr *addr)
{
	struct net *net = dev_net(dev);

	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type_dev_table(net, dev, addr->s6_addr32[3]) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(net, addr, NULL, 0);
}

/**
 * pcrp_ctl_for_us() - is a control packet at ingress addressed to this host?
 * @skb: the packet, of PCRP_KIND_CONTROL
 * @pkt: what pcrp_parse() says of it
 *
 * What is forwarded is not. Nor is what has no host for a source, which could not
 * be answered.
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

/* Is the UDP length that of IP, and the checksum right? GRO has looked at its own. */
static bool pcrp_ctl_sound(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
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
 * pcrp_ctl_count() - how many messages are in a control packet?
 * @skb: the packet, of PCRP_KIND_CONTROL
 * @pkt: what pcrp_parse() says of it
 *
 * Return: 1, or as many as GRO has put together; 0: it is malformed.
 */
u32 pcrp_ctl_count(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	u32 count = pkt->bytes / PCRP_WIRE_LEN;

	if (pkt->bytes % PCRP_WIRE_LEN || count > PCRP_CTL_MERGED_MAX)
		return 0;
	if (count != 1 && !skb_is_gso(skb))
		return 0;
	return pcrp_ctl_sound(skb, pkt) ? count : 0;
}

/**
 * pcrp_ctl_read() - read a message
 * @skb: the packet
 * @pkt: what pcrp_parse() says of it
 * @index: which one, less than pcrp_ctl_count()
 * @msg: result
 *
 * Return: false: it is malformed.
 */
bool pcrp_ctl_read(const struct sk_buff *skb, const struct pcrp_pkt *pkt, u32 index,
		   struct pcrp_msg *msg)
{
	u32 off = pkt->l4_off + sizeof(struct udphdr) + index * PCRP_WIRE_LEN;
	struct pcrp_wire buffer;
	const void *wire;

	wire = skb_header_pointer(skb, off, sizeof(buffer), &buffer);
	return wire && pcrp_msg_read(wire, PCRP_WIRE_LEN, msg);
}
