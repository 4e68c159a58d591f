/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain packets: the next packet of a flow, without a full parse
 *
 * Most packets continue the flow of the previous packet, without VLAN tag, IP option,
 * extension header, SYN, FIN or RST. pcrp_plain_parse() compares such a packet with the
 * key of that flow. All other packets need pcrp_parse(). Both give the same result.
 * The key in the flow's entry is the only state, so there is nothing to invalidate: an
 * entry that is reused or zeroed has another key.
 *
 * Plain C on a linear buffer, for the module and its unit test. Inline: with a call, the
 * cost of a packet would miss the goal of Documentation/experiments/bench-qdiscs.rst.
 */
#ifndef _PCRP_PLAIN_H
#define _PCRP_PLAIN_H

#include <closnet/pkt_core.h>
#include <linux/in.h>
#include <linux/string.h>
#include "pcrp_key.h"

#define PCRP_UDP_HLEN		8U
#define PCRP_TCP_HLEN		20U
#define PCRP_TCP_FLAGS		0x07	/* FIN, SYN, RST */
#define PCRP_IPV4_PLAIN		0x45	/* version, and a header without options */
#define PCRP_IPV4_FRAGMENT	0x3fff	/* MF, and the offset */

/**
 * struct pcrp_plain - header lengths of a flow's plain packets; zeroed: not TCP or UDP
 * @ip_hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN
 * @hlen: Ethernet, IP and L4 header
 */
struct pcrp_plain {
	u8 ip_hlen;
	u8 hlen;
};

/**
 * struct pcrp_plain_pkt - result of pcrp_plain_parse()
 * @bytes: payload of TCP or UDP
 * @seq: TCP: sequence number of the first byte
 * @dsfield: DSCP and ECN bits
 */
struct pcrp_plain_pkt {
	u32 bytes;
	u32 seq;
	u8 dsfield;
};

/**
 * pcrp_plain_of() - get the header lengths of a flow's plain packets
 * @key: key of the flow
 *
 * Return: the lengths.
 */
static inline struct pcrp_plain pcrp_plain_of(const struct pcrp_key *key)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	u8 ip_hlen = memcmp(&key->src, mapped, sizeof(mapped)) ? CLOSNET_IPV6_HLEN :
								 CLOSNET_IPV4_HLEN;
	u8 l4_hlen = key->proto == IPPROTO_TCP ? PCRP_TCP_HLEN : PCRP_UDP_HLEN;

	if (key->proto != IPPROTO_TCP && key->proto != IPPROTO_UDP)
		return (struct pcrp_plain) {};
	return (struct pcrp_plain) { ip_hlen, ETH_HLEN + ip_hlen + l4_hlen };
}

/* Compare an IPv4 header. @len: length of the IP packet */
static inline bool pcrp_plain_ipv4(const struct pcrp_key *key, const u8 *ip, u32 len, bool gso)
{
	return ip[0] == PCRP_IPV4_PLAIN && ip[9] == key->proto &&
	       !(closnet_get16(ip + 6) & PCRP_IPV4_FRAGMENT) &&
	       !memcmp(ip + 12, &key->src.s6_addr32[3], 4) &&
	       !memcmp(ip + 16, &key->dst.s6_addr32[3], 4) &&
	       (closnet_get16(ip + 2) == len || gso);
}

static inline bool pcrp_plain_ipv6(const struct pcrp_key *key, const u8 *ip, u32 len, bool gso)
{
	return ip[6] == key->proto && !memcmp(ip + 8, &key->src, 16) &&
	       !memcmp(ip + 24, &key->dst, 16) &&
	       (closnet_get16(ip + 4) + CLOSNET_IPV6_HLEN == len || gso);
}

/* Parse a TCP header. @pkt->bytes includes its options at first. */
static inline bool pcrp_plain_tcp(const u8 *th, struct pcrp_plain_pkt *pkt)
{
	u32 options = (th[12] >> 4) * 4 - PCRP_TCP_HLEN;

	if (th[13] & PCRP_TCP_FLAGS || options >= pkt->bytes)
		return false;	/* also if the header is too short: options is huge */
	pkt->bytes -= options;
	pkt->seq = closnet_get32(th + 4);
	return true;
}

/**
 * pcrp_plain_parse() - parse a plain packet of a flow
 * @key: key of the flow
 * @plain: its pcrp_plain_of()
 * @data: the packet from its Ethernet header on
 * @linear: bytes that can be read at @data
 * @len: length of the packet
 * @gso: the packet will be segmented, so its IP length may be wrong
 * @pkt: result
 *
 * Return: false: it needs pcrp_parse(); @pkt is undefined.
 */
static __always_inline bool pcrp_plain_parse(const struct pcrp_key *key, struct pcrp_plain plain,
					     const u8 *data, u32 linear, u32 len, bool gso,
					     struct pcrp_plain_pkt *pkt)
{
	const u8 *ip = data + ETH_HLEN, *l4;
	u32 ip_len = len - ETH_HLEN;
	u16 ethertype;

	if (unlikely(linear < plain.hlen || !plain.hlen || data[0] & 1))
		return false;
	ethertype = closnet_get16(data + ETH_HLEN - 2);
	if (plain.ip_hlen == CLOSNET_IPV4_HLEN) {
		l4 = ip + CLOSNET_IPV4_HLEN;
		if (ethertype != ETH_P_IP || memcmp(l4, &key->word[4], 4) ||
		    !pcrp_plain_ipv4(key, ip, ip_len, gso))
			return false;
		pkt->dsfield = closnet_ipv4_dsfield(ip);
	} else {
		l4 = ip + CLOSNET_IPV6_HLEN;
		if (ethertype != ETH_P_IPV6 || memcmp(l4, &key->word[4], 4) ||
		    !pcrp_plain_ipv6(key, ip, ip_len, gso))
			return false;
		pkt->dsfield = closnet_ipv6_dsfield(ip);
	}
	pkt->bytes = len - plain.hlen;
	pkt->seq = 0;
	return key->proto == IPPROTO_UDP || pcrp_plain_tcp(l4, pkt);
}

#endif /* _PCRP_PLAIN_H */
