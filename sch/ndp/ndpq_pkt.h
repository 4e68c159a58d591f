/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet's bytes for sch_ndp: parse, classify, trim, turn round
 *
 * Plain C on a linear buffer, no kernel types: the unit test and the fuzzer
 * run the code that the module runs. Every read is checked against the bytes
 * at hand; a packet that cannot be parsed is other traffic.
 *
 * Trimming changes these fields of the bytes that stay (SIGCOMM 2017 section
 * 3.1; SAI's DROP_AND_TRIM does the same, and leaves the UDP length stale):
 *
 *	IPv4	tot_len, check (RFC 1624), DSCP; ECN bits and all else stay
 *	IPv6	payload_len, DSCP; ECN bits and flow label stay
 *	UDP	len; with match udp_port, check becomes 0: no checksum
 *
 * The checksum. With match udp_port the receivers are known: they recognise a
 * trimmed packet by its content. No checksum can be right for a payload that is
 * gone, and a wrong one would be INVALID to conntrack. With match dscp and
 * match all, any socket may be the receiver. There the checksum of UDP and TCP
 * stays that of the full packet, so that the socket drops a trimmed packet.
 */
#ifndef _CLOSNET_NDP_PKT_CORE_H
#define _CLOSNET_NDP_PKT_CORE_H

#include <linux/in.h>
#include <linux/in6.h>
#include <closnet/pkt_core.h>
#include "ndpq_queue.h"

#define NDPQ_UDP_HLEN		8U
/* IPv4's fragment offset and more-fragments bit */
#define NDPQ_IPV4_FRAGMENT	0x3fff
/* First byte of an IPv4 group's address, and of all that are nobody's */
#define NDPQ_IPV4_GROUP		224
#define NDPQ_IPV6_GROUP		0xff
/* Extension headers followed; RFC 8200 foresees five before the payload. */
#define NDPQ_IPV6_EXT_DEPTH	5

/**
 * struct ndpq_match - which packets are NDP's, and which of them are headers
 * @dscp_mask: TC_NDP_MATCH_DSCP: bit n set: DSCP n is trimmable
 * @trim_size: bytes that a trimmed packet keeps
 * @udp_port: TC_NDP_MATCH_UDP_PORT: destination port, or source port of a
 *	marked packet, host byte order
 * @mode: enum tc_ndp_match
 * @dscp_trimmed: DSCP of a trimmed packet
 * @dscp_returned: DSCP of a returned packet
 */
struct ndpq_match {
	u64 dscp_mask;
	u32 trim_size;
	u16 udp_port;
	u8 mode;
	u8 dscp_trimmed;
	u8 dscp_returned;
};

/**
 * struct ndpq_pkt - where a packet's headers are; offsets count from its start
 * @l3_off: IP header, bytes
 * @l4_off: first byte behind the IP header and its extensions, bytes
 * @ipv6: IPv6, else IPv4
 * @proto: IP protocol number behind the extensions
 * @dscp: DSCP
 */
struct ndpq_pkt {
	u16 l3_off;
	u16 l4_off;
	bool ipv6;
	u8 proto;
	u8 dscp;
};

/**
 * enum ndpq_parse - result of parsing
 * @NDPQ_PARSE_OK: an IP packet, unicast at each layer, no fragment
 * @NDPQ_PARSE_OTHER: anything else
 * @NDPQ_PARSE_SHORT: cannot tell: more linear bytes are needed
 */
enum ndpq_parse {
	NDPQ_PARSE_OK,
	NDPQ_PARSE_OTHER,
	NDPQ_PARSE_SHORT,
};

/* RFC 1624 equation 3: HC' = ~(~HC + ~m + m') */
static inline void ndpq_csum_replace(u8 *check, u16 from, u16 to)
{
	u32 sum = (u16)~closnet_get16(check);

	sum += (u16)~from;
	sum += to;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	closnet_put16(check, (u16)~sum);
}

/* Overwrites a 16-bit word of an IPv4 header, and keeps its checksum right. */
static inline void ndpq_ipv4_put16(u8 *iph, u32 off, u16 val)
{
	ndpq_csum_replace(iph + 10, closnet_get16(iph + off), val);
	closnet_put16(iph + off, val);
}

static inline enum ndpq_parse ndpq_parse_ipv4(const u8 *data, u32 avail,
					      struct ndpq_pkt *pkt)
{
	const u8 *iph = data + pkt->l3_off;
	u32 hlen;

	if (avail < pkt->l3_off + CLOSNET_IPV4_HLEN)
		return NDPQ_PARSE_SHORT;
	/* version 4, and a header of 5 words or more */
	if (iph[0] < 0x45 || iph[0] > 0x4f)
		return NDPQ_PARSE_OTHER;
	hlen = (iph[0] & 0x0f) * 4U;
	/* a fragment (offset or more-fragments), multicast, broadcast */
	if (closnet_get16(iph + 6) & NDPQ_IPV4_FRAGMENT || iph[16] >= NDPQ_IPV4_GROUP)
		return NDPQ_PARSE_OTHER;
	pkt->ipv6 = false;
	pkt->proto = iph[9];
	pkt->dscp = closnet_ipv4_dsfield(iph) >> 2;
	pkt->l4_off = (u16)(pkt->l3_off + hlen);
	return NDPQ_PARSE_OK;
}

/* Hop-by-hop, routing and destination options; behind a fragment header, none. */
static inline enum ndpq_parse ndpq_skip_ipv6_ext(const u8 *data, u32 avail,
						 struct ndpq_pkt *pkt)
{
	u32 off = pkt->l4_off, depth;

	for (depth = 0; depth <= NDPQ_IPV6_EXT_DEPTH; depth++) {
		if (pkt->proto == IPPROTO_FRAGMENT)
			return NDPQ_PARSE_OTHER;
		if (pkt->proto != IPPROTO_HOPOPTS && pkt->proto != IPPROTO_ROUTING &&
		    pkt->proto != IPPROTO_DSTOPTS) {
			pkt->l4_off = (u16)off;
			return NDPQ_PARSE_OK;
		}
		if (avail < off + 8)
			return NDPQ_PARSE_SHORT;
		pkt->proto = data[off];
		off += (data[off + 1] + 1U) * 8;
	}
	return NDPQ_PARSE_OTHER;
}

static inline enum ndpq_parse ndpq_parse_ipv6(const u8 *data, u32 avail,
					      struct ndpq_pkt *pkt)
{
	const u8 *iph = data + pkt->l3_off;

	if (avail < pkt->l3_off + CLOSNET_IPV6_HLEN)
		return NDPQ_PARSE_SHORT;
	/* payload_len 0: a jumbogram, whose true length is elsewhere */
	if (iph[0] >> 4 != 6 || iph[24] == NDPQ_IPV6_GROUP || !closnet_get16(iph + 4))
		return NDPQ_PARSE_OTHER;
	pkt->ipv6 = true;
	pkt->proto = iph[6];
	pkt->dscp = closnet_ipv6_dsfield(iph) >> 2;
	pkt->l4_off = (u16)(pkt->l3_off + CLOSNET_IPV6_HLEN);
	return ndpq_skip_ipv6_ext(data, avail, pkt);
}

/**
 * ndpq_pkt_parse() - find the headers of a packet
 * @data: the packet, from its L2 header (@l3_off 0: from its IP header)
 * @avail: bytes that can be read at @data
 * @l3_off: length of an Ethernet header (14) or 0; VLAN tags behind the
 *	Ethernet header are found
 * @ethertype: with @l3_off 0, the packet's protocol, host byte order
 * @pkt: result, valid if NDPQ_PARSE_OK is returned
 *
 * Return: enum ndpq_parse.
 */
static inline enum ndpq_parse ndpq_pkt_parse(const u8 *data, u32 avail, u32 l3_off,
					     u16 ethertype, struct ndpq_pkt *pkt)
{
	if (l3_off) {
		if (!closnet_find_l3(data, avail, &l3_off, &ethertype))
			return NDPQ_PARSE_SHORT;
		if (data[0] & 1)
			return NDPQ_PARSE_OTHER;
	}
	pkt->l3_off = (u16)l3_off;
	if (likely(ethertype == ETH_P_IP))
		return ndpq_parse_ipv4(data, avail, pkt);
	if (ethertype == ETH_P_IPV6)
		return ndpq_parse_ipv6(data, avail, pkt);
	return NDPQ_PARSE_OTHER;
}

/**
 * ndpq_pkt_keep() - bytes that a packet keeps when it is trimmed
 * @m: configuration
 * @pkt: its headers
 * @len: its length from @data on, bytes
 * @tag_len: bytes on the wire that are not at @data: an offloaded VLAN tag
 *
 * At least through the ports behind the IP header: without them no receiver
 * could tell whose packet it was.
 *
 * Return: bytes from @data on; at most @len, then nothing is cut.
 */
static inline u32 ndpq_pkt_keep(const struct ndpq_match *m, const struct ndpq_pkt *pkt,
				u32 len, u32 tag_len)
{
	u32 keep = max_t(u32, m->trim_size - tag_len, pkt->l4_off + NDPQ_UDP_HLEN);

	return min_t(u32, keep, len);
}

static inline bool ndpq_pkt_marked(const struct ndpq_match *m, const struct ndpq_pkt *pkt)
{
	return pkt->dscp == m->dscp_trimmed || pkt->dscp == m->dscp_returned;
}

/*
 * Was the packet returned by a switch? The ports tell, whatever the marks are:
 * no sender has the port of NDP's receivers. Then the mark.
 */
static inline bool ndpq_pkt_was_returned(const struct ndpq_match *m, const u8 *data,
					 const struct ndpq_pkt *pkt)
{
	return pkt->dscp == m->dscp_returned ||
	       (m->mode == TC_NDP_MATCH_UDP_PORT &&
		closnet_get16(data + pkt->l4_off) == m->udp_port);
}

/*
 * Is a parsed packet NDP's by the configured match? A mark stands for the
 * DSCP that it has replaced, but only on a header: else CS6, say, of a routing
 * protocol would make its long packets trimmable. A returned packet carries
 * the port as its source.
 */
static inline enum ndpq_parse ndpq_pkt_matches(const struct ndpq_match *m,
					       const u8 *data, u32 avail,
					       const struct ndpq_pkt *pkt, bool is_short)
{
	bool is = true;

	if (m->mode == TC_NDP_MATCH_UDP_PORT) {
		if (pkt->proto != IPPROTO_UDP)
			return NDPQ_PARSE_OTHER;
		if (avail < pkt->l4_off + 4U)
			return NDPQ_PARSE_SHORT;
		is = closnet_get16(data + pkt->l4_off + 2) == m->udp_port ||
		     (closnet_get16(data + pkt->l4_off) == m->udp_port &&
		      ndpq_pkt_marked(m, pkt));
	} else if (m->mode == TC_NDP_MATCH_DSCP) {
		is = m->dscp_mask >> pkt->dscp & 1 ||
		     (is_short && ndpq_pkt_marked(m, pkt));
	}
	return is ? NDPQ_PARSE_OK : NDPQ_PARSE_OTHER;
}

/**
 * ndpq_pkt_classify() - what a packet is to this port
 * @m: configuration
 * @data: as for ndpq_pkt_parse()
 * @avail: as for ndpq_pkt_parse()
 * @l3_off: as for ndpq_pkt_parse()
 * @ethertype: as for ndpq_pkt_parse()
 * @len: the packet's length from @data on, bytes
 * @tag_len: as for ndpq_pkt_keep()
 * @pkt: result; valid unless @kind is NDPQ_KIND_OTHER
 * @kind: result
 *
 * Data is what trimming would shorten: what is longer than trim_size, and than
 * its headers. A mark buys no data priority. What ends within 8 bytes behind
 * its IP header is nobody's.
 *
 * Return: false if more linear bytes are needed to tell, and @kind is not set.
 */
static inline bool ndpq_pkt_classify(const struct ndpq_match *m, const u8 *data,
				     u32 avail, u32 l3_off, u16 ethertype,
				     u32 len, u32 tag_len, struct ndpq_pkt *pkt,
				     enum ndpq_kind *kind)
{
	enum ndpq_parse parse = ndpq_pkt_parse(data, avail, l3_off, ethertype, pkt);
	bool is_short;

	if (parse == NDPQ_PARSE_SHORT)
		return false;
	*kind = NDPQ_KIND_OTHER;
	if (parse == NDPQ_PARSE_OTHER || len < pkt->l4_off + NDPQ_UDP_HLEN)
		return true;

	is_short = ndpq_pkt_keep(m, pkt, len, tag_len) == len;
	parse = ndpq_pkt_matches(m, data, avail, pkt, is_short);
	if (parse != NDPQ_PARSE_OK)
		return parse == NDPQ_PARSE_OTHER;
	if (!is_short)
		*kind = NDPQ_KIND_DATA;
	else if (!ndpq_pkt_marked(m, pkt))
		*kind = NDPQ_KIND_CONTROL;
	else if (ndpq_pkt_was_returned(m, data, pkt))
		*kind = NDPQ_KIND_RETURNED;
	else
		*kind = NDPQ_KIND_TRIMMED;
	return true;
}

/**
 * ndpq_pkt_set_dscp() - rewrite the DSCP; the ECN bits stay
 * @data: the packet, writable through its IP header
 * @pkt: its headers; its dscp follows
 * @dscp: 0..63
 */
static inline void ndpq_pkt_set_dscp(u8 *data, struct ndpq_pkt *pkt, u8 dscp)
{
	u8 *iph = data + pkt->l3_off;

	pkt->dscp = dscp;
	if (pkt->ipv6) {
		iph[0] = (u8)((iph[0] & 0xf0) | dscp >> 2);
		iph[1] = (u8)((iph[1] & 0x3f) | dscp << 6);
		return;
	}
	ndpq_ipv4_put16(iph, 0, (u16)(iph[0] << 8 | dscp << 2 | (iph[1] & 0x03)));
}

/**
 * ndpq_pkt_trimmed() - make the headers of a cut packet right
 * @data: the packet, writable through 8 bytes behind its IP header
 * @pkt: its headers
 * @len: its length after the cut, bytes
 * @m: configuration
 *
 * Lengths only shrink: padding and a length field that lied stay as they are.
 * A datagram of which nothing was cut but padding keeps its checksum. A packet
 * that was returned keeps its mark, so that it is not returned twice.
 *
 * Return: NDPQ_KIND_TRIMMED or NDPQ_KIND_RETURNED.
 */
static inline enum ndpq_kind ndpq_pkt_trimmed(u8 *data, struct ndpq_pkt *pkt, u32 len,
					      const struct ndpq_match *m)
{
	u8 *iph = data + pkt->l3_off, *udph = data + pkt->l4_off;
	u32 l3_len = len - pkt->l3_off, l4_len = len - pkt->l4_off;

	if (pkt->ipv6) {
		if (closnet_get16(iph + 4) > l3_len - CLOSNET_IPV6_HLEN)
			closnet_put16(iph + 4, (u16)(l3_len - CLOSNET_IPV6_HLEN));
	} else if (closnet_get16(iph + 2) > l3_len) {
		ndpq_ipv4_put16(iph, 2, (u16)l3_len);
	}
	if (pkt->proto == IPPROTO_UDP && closnet_get16(udph + 4) > l4_len) {
		closnet_put16(udph + 4, (u16)l4_len);
		if (m->mode == TC_NDP_MATCH_UDP_PORT)
			closnet_put16(udph + 6, 0);
	}
	if (ndpq_pkt_was_returned(m, data, pkt))
		return NDPQ_KIND_RETURNED;
	ndpq_pkt_set_dscp(data, pkt, m->dscp_trimmed);
	return NDPQ_KIND_TRIMMED;
}

/**
 * ndpq_pkt_returnable() - may a packet go to where it claims to come from?
 * @data: the packet, from its Ethernet header
 * @pkt: its headers
 *
 * Return: false if a source address is a group's: no host sends that, and
 * a bridge would flood the answer. False if TTL or hop limit is used up.
 */
static inline bool ndpq_pkt_returnable(const u8 *data, const struct ndpq_pkt *pkt)
{
	const u8 *iph = data + pkt->l3_off;

	if (data[ETH_ALEN] & 1 || iph[pkt->ipv6 ? 7 : 8] <= 1)
		return false;
	return pkt->ipv6 ? iph[8] != NDPQ_IPV6_GROUP : iph[12] < NDPQ_IPV4_GROUP;
}

static inline void ndpq_swap(u8 *a, u8 *b, u32 len)
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
 * @data: the packet, from its Ethernet header, writable through 8 bytes behind
 *	its IP header
 * @pkt: its headers
 * @dscp: DSCP of a returned packet
 *
 * Swaps the ends at each layer: no checksum changes by that, a sum does not
 * depend on the order of its words. A return is a hop: it takes one from TTL or
 * hop limit, so that it ends even if two ports confuse each other's marks.
 */
static inline void ndpq_pkt_turn_round(u8 *data, struct ndpq_pkt *pkt, u8 dscp)
{
	u8 *iph = data + pkt->l3_off, *l4 = data + pkt->l4_off;

	ndpq_swap(data, data + ETH_ALEN, ETH_ALEN);
	if (pkt->ipv6) {
		ndpq_swap(iph + 8, iph + 24, 16);
		iph[7]--;
	} else {
		ndpq_swap(iph + 12, iph + 16, 4);
		ndpq_ipv4_put16(iph, 8, (u16)(closnet_get16(iph + 8) - 0x100));
	}
	if (pkt->proto == IPPROTO_UDP || pkt->proto == IPPROTO_TCP)
		ndpq_swap(l4, l4 + 2, 2);
	ndpq_pkt_set_dscp(data, pkt, dscp);
}

#endif /* _CLOSNET_NDP_PKT_CORE_H */
