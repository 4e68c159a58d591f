// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers of an NDP packet: parse, classify, trim, return to sender
 *
 * Plain C on a linear buffer, compiled into sch_ndp, its unit tests and its
 * fuzzer. Every read is checked against the bytes that are available. A packet
 * that cannot be parsed is other traffic. The classifier is inline in ndpq_pkt.h:
 *
 *	      trimmable by match?
 *	        no |           | yes
 *	           v           v
 *	         OTHER     longer than trim_size and its headers?
 *	                    yes |        | no: by DSCP (and source port)
 *	                        v        v
 *	                      DATA    CONTROL, TRIMMED, RETURNED
 *
 * Trimming cuts the payload and changes these fields of the remaining bytes
 * (SIGCOMM 2017, section 3.1; SAI's DROP_AND_TRIM leaves the UDP length stale):
 *
 *	IPv4	tot_len, check (RFC 1624), DSCP
 *	IPv6	payload_len, DSCP
 *	UDP	len; with match udp_port, check becomes 0: no checksum
 *
 * ECN bits and the flow label stay.
 *
 * Checksum of the transport. With match udp_port, the receivers know NDP, and
 * recognise a trimmed packet by its content. No checksum can be correct for a
 * payload that is gone, and conntrack would take a wrong one for INVALID. With
 * match dscp and match all, any socket may be the receiver. There UDP and TCP
 * keep the checksum of the full packet, so that the socket drops the packet.
 *
 * Reference: M. Handley et al.: "Re-architecting datacenter networks and stacks
 * for low latency and high performance", SIGCOMM 2017, sections 3.1 and 3.2.4.
 *
 * Differences from the paper:
 * - Lengths, header checksum and DSCP of a trimmed packet are corrected, as
 *   today's trimming switches do. The paper's P4 switch set a fixed length.
 * - Trimmed and returned packets carry a DSCP of their own, since the qdisc
 *   trims any protocol and cannot count on a flag in NDP's header.
 */
#include <closnet/core.h>
#include "ndpq_pkt.h"

/*
 * Replace a 16-bit word of an IPv4 header.
 *
 * Return: ~m + m' of RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
 */
static u32 ndpq_ipv4_put16(u8 *word, u16 old, u16 val)
{
	closnet_put16(word, val);
	return (u16)~old + val;
}

static void ndpq_ipv4_fix_csum(u8 *iph, u32 diff)
{
	u32 sum = (u16)~closnet_get16(iph + 10) + diff;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	closnet_put16(iph + 10, (u16)~sum);
}

/*
 * Replace the DSCP. @first is the first word: version, header length and TOS.
 *
 * Return: as ndpq_ipv4_put16().
 */
static u32 ndpq_ipv4_put_dscp(u8 *iph, u16 first, u8 dscp)
{
	return ndpq_ipv4_put16(iph, first, (u16)((first & 0xff03) | dscp << 2));
}

static void ndpq_ipv6_put_dscp(u8 *iph, u8 dscp)
{
	iph[0] = (u8)((iph[0] & 0xf0) | dscp >> 2);
	iph[1] = (u8)((iph[1] & 0x3f) | dscp << 6);
}

/**
 * ndpq_pkt_set_dscp() - replace the DSCP; the ECN bits stay
 * @pkt: headers
 * @data: the packet, writable through its IP header
 * @dscp: 0 to 63
 */
void ndpq_pkt_set_dscp(const struct ndpq_pkt *pkt, u8 *data, u8 dscp)
{
	u8 *iph = data + pkt->l3_off;

	if (pkt->ipv6)
		ndpq_ipv6_put_dscp(iph, dscp);
	else
		ndpq_ipv4_fix_csum(iph, ndpq_ipv4_put_dscp(iph, closnet_get16(iph), dscp));
}

/* ---- trim ---- */

/* Lower the length and set the DSCP. Return true if the packet was returned before. */
static bool ndpq_trimmed_ipv4(const struct ndpq_match *m, const struct ndpq_pkt *pkt, u8 *data,
			      u32 len)
{
	u8 *iph = data + pkt->l3_off;
	u16 first = closnet_get16(iph), tot_len = closnet_get16(iph + 2);
	bool returned = ndpq_was_returned(m, (u8)first >> 2, data + pkt->l4_off);
	u32 diff = 0;

	len -= pkt->l3_off;
	if (!returned)
		diff = ndpq_ipv4_put_dscp(iph, first, m->dscp_trimmed);
	if (tot_len > len)
		diff += ndpq_ipv4_put16(iph + 2, tot_len, (u16)len);
	ndpq_ipv4_fix_csum(iph, diff);
	return returned;
}

/* As ndpq_trimmed_ipv4() */
static bool ndpq_trimmed_ipv6(const struct ndpq_match *m, const struct ndpq_pkt *pkt, u8 *data,
			      u32 len)
{
	u8 *iph = data + pkt->l3_off;
	bool returned = ndpq_was_returned(m, closnet_ipv6_dsfield(iph) >> 2, data + pkt->l4_off);

	len -= pkt->l3_off + CLOSNET_IPV6_HLEN;
	if (!returned)
		ndpq_ipv6_put_dscp(iph, m->dscp_trimmed);
	if (closnet_get16(iph + 4) > len)
		closnet_put16(iph + 4, (u16)len);
	return returned;
}

static void ndpq_trimmed_udp(const struct ndpq_match *m, u8 *udph, u32 len)
{
	if (closnet_get16(udph + 4) <= len)
		return;
	closnet_put16(udph + 4, (u16)len);
	if (m->mode == TC_NDP_MATCH_UDP_PORT)
		closnet_put16(udph + 6, 0);
}

/**
 * ndpq_pkt_trimmed() - correct the headers of a packet that was cut
 * @m: configuration
 * @pkt: headers
 * @data: the packet, writable through 8 bytes after its IP header
 * @len: its length after the cut, bytes
 *
 * Length fields only shrink: a field that was already too small stays. If only
 * padding was cut from a datagram, its checksum stays. A returned packet keeps
 * its DSCP, so that it is not returned twice.
 *
 * Return: NDPQ_KIND_TRIMMED or NDPQ_KIND_RETURNED.
 */
enum ndpq_kind ndpq_pkt_trimmed(const struct ndpq_match *m, const struct ndpq_pkt *pkt,
				u8 *data, u32 len)
{
	bool returned;

	if (pkt->proto == IPPROTO_UDP)
		ndpq_trimmed_udp(m, data + pkt->l4_off, len - pkt->l4_off);
	if (pkt->ipv6)
		returned = ndpq_trimmed_ipv6(m, pkt, data, len);
	else
		returned = ndpq_trimmed_ipv4(m, pkt, data, len);
	return returned ? NDPQ_KIND_RETURNED : NDPQ_KIND_TRIMMED;
}

/* ---- return to sender ---- */

/**
 * ndpq_pkt_returnable() - check whether a packet may be sent to its source
 * @pkt: headers
 * @data: the packet, from its Ethernet header
 *
 * Return: false if a source address is multicast, since no host sends that and
 * a bridge would flood the answer; or if TTL or hop limit is used up.
 */
bool ndpq_pkt_returnable(const struct ndpq_pkt *pkt, const u8 *data)
{
	const u8 *iph = data + pkt->l3_off;

	if (data[ETH_ALEN] & 1 || iph[pkt->ipv6 ? 7 : 8] <= 1)
		return false;
	return pkt->ipv6 ? iph[8] != NDPQ_IPV6_GROUP : iph[12] < NDPQ_IPV4_GROUP;
}

static void ndpq_swap(u8 *a, u8 *b, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		u8 tmp = a[i];

		a[i] = b[i];
		b[i] = tmp;
	}
}

/**
 * ndpq_pkt_turn_round() - address a packet to its sender
 * @pkt: headers
 * @data: the packet, from its Ethernet header, writable through 8 bytes after
 *	its IP header
 * @dscp: DSCP of a returned packet
 *
 * Swaps source and destination at each layer. No checksum changes, since a sum
 * does not depend on the order of its words. A return decrements TTL or hop
 * limit, so that it ends even if two ports have each other's DSCPs.
 */
void ndpq_pkt_turn_round(const struct ndpq_pkt *pkt, u8 *data, u8 dscp)
{
	u8 *iph = data + pkt->l3_off, *l4 = data + pkt->l4_off;
	u16 ttl;

	ndpq_swap(data, data + ETH_ALEN, ETH_ALEN);
	if (pkt->ipv6) {
		ndpq_swap(iph + 8, iph + 24, 16);
		iph[7]--;
	} else {
		ndpq_swap(iph + 12, iph + 16, 4);
		ttl = closnet_get16(iph + 8);
		ndpq_ipv4_fix_csum(iph, ndpq_ipv4_put16(iph + 8, ttl, (u16)(ttl - 0x100)));
	}
	if (pkt->proto == IPPROTO_UDP || pkt->proto == IPPROTO_TCP)
		ndpq_swap(l4, l4 + 2, 2);
	ndpq_pkt_set_dscp(pkt, data, dscp);
}
