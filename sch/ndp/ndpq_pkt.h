/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Headers of an NDP packet: parse, classify, trim, return to sender
 *
 * The interface of ndpq_pkt.c, which works on a linear buffer of bytes. The
 * classifier runs for each packet and is inline: as a call it costs 32
 * instructions, 14 % of an enqueue and dequeue (selftests/bench/run qdiscs).
 */
#ifndef _CLOSNET_NDPQ_PKT_H
#define _CLOSNET_NDPQ_PKT_H

#include <linux/in.h>
#include <linux/in6.h>
#include <closnet/core.h>
#include <closnet/pkt_core.h>
#include "ndpq_queue.h"

#define NDPQ_UDP_HLEN		8U
/* IPv4 fragment offset and more-fragments bit */
#define NDPQ_IPV4_FRAGMENT	0x3fff
/* First byte of the first IPv4 address that is not unicast */
#define NDPQ_IPV4_GROUP		224
/* First byte of an IPv6 multicast address */
#define NDPQ_IPV6_GROUP		0xff
/* Extension headers to skip. In the order of RFC 8200, at most five precede the payload. */
#define NDPQ_IPV6_EXT_DEPTH	5

/**
 * struct ndpq_match - configuration of the classifier
 * @dscp_mask: for TC_NDP_MATCH_DSCP: bit n set: DSCP n is trimmable
 * @trim_size: length of a trimmed packet, bytes
 * @udp_port: for TC_NDP_MATCH_UDP_PORT: destination port, or source port of a
 *	returned packet, host byte order
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
 * struct ndpq_pkt - the headers of a packet; offsets count from its start
 * @l3_off: offset of the IP header, bytes
 * @l4_off: offset of the first byte after the IP header and its extensions
 * @ipv6: IPv6, else IPv4
 * @proto: IP protocol number after the extensions
 * @tag_len: length of the packet on the wire that is not in the buffer: 4 bytes
 *	if a VLAN tag is offloaded, else 0
 */
struct ndpq_pkt {
	u16 l3_off;
	u16 l4_off;
	bool ipv6;
	u8 proto;
	u8 tag_len;
};

/**
 * enum ndpq_parse - result of parsing
 * @NDPQ_PARSE_OK: success
 * @NDPQ_PARSE_OTHER: not NDP
 * @NDPQ_PARSE_SHORT: undecided, more bytes are needed
 */
enum ndpq_parse {
	NDPQ_PARSE_OK,
	NDPQ_PARSE_OTHER,
	NDPQ_PARSE_SHORT,
};

enum ndpq_kind ndpq_pkt_trimmed(const struct ndpq_match *m, const struct ndpq_pkt *pkt,
				u8 *data, u32 len);
bool ndpq_pkt_returnable(const struct ndpq_pkt *pkt, const u8 *data);
void ndpq_pkt_turn_round(const struct ndpq_pkt *pkt, u8 *data, u8 dscp);
void ndpq_pkt_set_dscp(const struct ndpq_pkt *pkt, u8 *data, u8 dscp);

/**
 * ndpq_pkt_keep() - compute the length of a packet after trimming
 * @m: configuration
 * @pkt: headers
 * @len: length of the packet from its start in the buffer, bytes
 *
 * The ports after the IP header always stay: without them a receiver could not
 * attribute the packet.
 *
 * Return: bytes from the start; @len if trimming would not shorten the packet.
 */
static inline u32 ndpq_pkt_keep(const struct ndpq_match *m, const struct ndpq_pkt *pkt,
				u32 len)
{
	u32 keep = max_t(u32, m->trim_size - pkt->tag_len, pkt->l4_off + NDPQ_UDP_HLEN);

	return min_t(u32, keep, len);
}

static inline u8 ndpq_pkt_dscp(const struct ndpq_pkt *pkt, const u8 *data)
{
	const u8 *iph = data + pkt->l3_off;

	return (pkt->ipv6 ? closnet_ipv6_dsfield(iph) : closnet_ipv4_dsfield(iph)) >> 2;
}

/* Has a switch trimmed or returned the packet? */
static inline bool ndpq_pkt_is_marked(const struct ndpq_match *m, const struct ndpq_pkt *pkt,
				      const u8 *data)
{
	u8 dscp = ndpq_pkt_dscp(pkt, data);

	return dscp == m->dscp_trimmed || dscp == m->dscp_returned;
}

/*
 * Has a switch returned the packet? A source port of NDP shows it, whatever the
 * DSCP: no sender uses the port of NDP's receivers.
 */
static inline bool ndpq_was_returned(const struct ndpq_match *m, u8 dscp, const u8 *ports)
{
	return dscp == m->dscp_returned ||
	       (m->mode == TC_NDP_MATCH_UDP_PORT && closnet_get16(ports) == m->udp_port);
}

/*
 * Does match dscp select the packet? A packet that was marked has lost the DSCP
 * of its sender, so the mark stands for it. But this holds for headers only:
 * otherwise dscp_trimmed CS6 would make long packets of a routing protocol
 * trimmable.
 */
static inline bool ndpq_pkt_matches_dscp(const struct ndpq_match *m,
					 const struct ndpq_pkt *pkt, const u8 *data,
					 bool is_short)
{
	return m->dscp_mask >> ndpq_pkt_dscp(pkt, data) & 1 ||
	       (is_short && ndpq_pkt_is_marked(m, pkt, data));
}

/* Does match udp_port select the ports? In a returned packet, the source port counts. */
static inline bool ndpq_pkt_matches_port(const struct ndpq_match *m,
					 const struct ndpq_pkt *pkt, const u8 *data)
{
	const u8 *ports = data + pkt->l4_off;

	return closnet_get16(ports + 2) == m->udp_port ||
	       (closnet_get16(ports) == m->udp_port && ndpq_pkt_is_marked(m, pkt, data));
}

static inline enum ndpq_parse ndpq_parse_ipv4(struct ndpq_pkt *pkt, const u8 *data, u32 avail)
{
	const u8 *iph = data + pkt->l3_off;
	u32 hlen;

	if (avail < pkt->l3_off + CLOSNET_IPV4_HLEN)
		return NDPQ_PARSE_SHORT;
	/* version 4 and a header of at least 5 words */
	if (iph[0] < 0x45 || iph[0] > 0x4f)
		return NDPQ_PARSE_OTHER;
	hlen = (iph[0] & 0x0f) * 4U;
	if (closnet_get16(iph + 6) & NDPQ_IPV4_FRAGMENT || iph[16] >= NDPQ_IPV4_GROUP)
		return NDPQ_PARSE_OTHER;
	pkt->ipv6 = false;
	pkt->proto = iph[9];
	pkt->l4_off = (u16)(pkt->l3_off + hlen);
	return NDPQ_PARSE_OK;
}

/* Skip hop-by-hop, routing and destination options. */
static inline enum ndpq_parse ndpq_skip_ipv6_ext(struct ndpq_pkt *pkt, const u8 *data,
						 u32 avail)
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

static inline enum ndpq_parse ndpq_parse_ipv6(struct ndpq_pkt *pkt, const u8 *data, u32 avail)
{
	const u8 *iph = data + pkt->l3_off;

	if (avail < pkt->l3_off + CLOSNET_IPV6_HLEN)
		return NDPQ_PARSE_SHORT;
	/* payload_len 0: a jumbogram, with its length in an option */
	if (iph[0] >> 4 != 6 || iph[24] == NDPQ_IPV6_GROUP || !closnet_get16(iph + 4))
		return NDPQ_PARSE_OTHER;
	pkt->ipv6 = true;
	pkt->proto = iph[6];
	pkt->l4_off = (u16)(pkt->l3_off + CLOSNET_IPV6_HLEN);
	return ndpq_skip_ipv6_ext(pkt, data, avail);
}

/* Find the headers of an unfragmented IP packet that is unicast at each layer. */
static inline enum ndpq_parse ndpq_parse(struct ndpq_pkt *pkt, const u8 *data, u32 avail,
					 u16 ethertype)
{
	u32 l3_off = pkt->l3_off;

	if (l3_off) {
		if (!closnet_find_l3(data, avail, &l3_off, &ethertype))
			return NDPQ_PARSE_SHORT;
		if (data[0] & 1)
			return NDPQ_PARSE_OTHER;
		pkt->l3_off = (u16)l3_off;
	}
	if (likely(ethertype == ETH_P_IP))
		return ndpq_parse_ipv4(pkt, data, avail);
	if (ethertype == ETH_P_IPV6)
		return ndpq_parse_ipv6(pkt, data, avail);
	return NDPQ_PARSE_OTHER;
}

/* Does match select the packet? */
static inline enum ndpq_parse ndpq_matches(const struct ndpq_match *m,
					   const struct ndpq_pkt *pkt, const u8 *data,
					   u32 avail, bool is_short)
{
	bool matches = true;

	if (m->mode == TC_NDP_MATCH_UDP_PORT) {
		if (pkt->proto != IPPROTO_UDP)
			return NDPQ_PARSE_OTHER;
		if (avail < pkt->l4_off + 4U)
			return NDPQ_PARSE_SHORT;
		matches = ndpq_pkt_matches_port(m, pkt, data);
	} else if (m->mode == TC_NDP_MATCH_DSCP) {
		matches = ndpq_pkt_matches_dscp(m, pkt, data, is_short);
	}
	return matches ? NDPQ_PARSE_OK : NDPQ_PARSE_OTHER;
}

/**
 * ndpq_pkt_classify() - parse and classify a packet
 * @m: configuration
 * @pkt: headers. On entry, @l3_off is the length of an Ethernet header, or 0 if
 *	the packet starts with its IP header, and @tag_len is set. Complete on
 *	return, except for NDPQ_KIND_OTHER and NDPQ_KIND_UNKNOWN.
 * @data: the packet, from its L2 header; VLAN tags may follow
 * @avail: bytes that can be read at @data
 * @len: length of the packet from @data on, bytes
 * @ethertype: if @l3_off is 0: the packet's protocol, host byte order
 *
 * A packet is data if trimming would shorten it, whatever its DSCP. A packet
 * that ends within 8 bytes after its IP header is other traffic.
 *
 * Return: the kind, or NDPQ_KIND_UNKNOWN.
 */
static inline enum ndpq_kind ndpq_pkt_classify(const struct ndpq_match *m,
					       struct ndpq_pkt *pkt, const u8 *data,
					       u32 avail, u32 len, u16 ethertype)
{
	enum ndpq_parse parse = ndpq_parse(pkt, data, avail, ethertype);
	bool is_short;

	if (parse == NDPQ_PARSE_SHORT)
		return NDPQ_KIND_UNKNOWN;
	if (parse == NDPQ_PARSE_OTHER || len < pkt->l4_off + NDPQ_UDP_HLEN)
		return NDPQ_KIND_OTHER;
	is_short = ndpq_pkt_keep(m, pkt, len) == len;
	parse = ndpq_matches(m, pkt, data, avail, is_short);
	if (parse != NDPQ_PARSE_OK)
		return parse == NDPQ_PARSE_SHORT ? NDPQ_KIND_UNKNOWN : NDPQ_KIND_OTHER;
	if (!is_short)
		return NDPQ_KIND_DATA;
	if (!ndpq_pkt_is_marked(m, pkt, data))
		return NDPQ_KIND_CONTROL;
	return ndpq_was_returned(m, ndpq_pkt_dscp(pkt, data), data + pkt->l4_off) ?
	       NDPQ_KIND_RETURNED : NDPQ_KIND_TRIMMED;
}

#endif /* _CLOSNET_NDPQ_PKT_H */
