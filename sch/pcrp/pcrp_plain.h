/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain packets: TCP or UDP data that needs no full parse
 *
 * Most packets are TCP or UDP data without VLAN tag, IP option, extension header, SYN, FIN
 * or RST. pcrp_plain_parse() parses such a packet. pcrp_plain_has_key() then compares it
 * with the flow of the previous packet; if it is of another flow, pcrp_plain_key() makes
 * its key. All other packets need pcrp_parse(). Both ways give the same result.
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
#include "pcrp_wire.h"

#define PCRP_UDP_HLEN		8U
#define PCRP_TCP_HLEN		20U
#define PCRP_TCP_FLAGS		0x07	/* FIN, SYN, RST */
#define PCRP_IPV4_PLAIN		0x45	/* version, and a header without options */
#define PCRP_IPV4_FRAGMENT	0x3fff	/* MF, and the offset */
#define PCRP_IPV4_MULTICAST	224	/* least first byte of multicast and broadcast addresses */
#define PCRP_IPV6_MULTICAST	0xff
#define PCRP_PLAIN_CONTROL	(PCRP_UDP_PORT << 16 | PCRP_UDP_PORT)	/* both ports */

/**
 * struct pcrp_plain - result of pcrp_plain_parse()
 * @bytes: payload of TCP or UDP
 * @seq: TCP: sequence number of the first byte
 * @ip_hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN
 * @proto: IPPROTO_TCP or IPPROTO_UDP
 * @dsfield: DSCP and ECN bits
 */
struct pcrp_plain {
	u32 bytes;
	u32 seq;
	u8 ip_hlen;
	u8 proto;
	u8 dsfield;
};

/* Parse an IPv4 header. @len: length of the IP packet */
static inline bool pcrp_plain_ipv4(const u8 *ip, u32 len, struct pcrp_plain *pkt)
{
	pkt->ip_hlen = CLOSNET_IPV4_HLEN;
	pkt->proto = ip[9];
	pkt->dsfield = closnet_ipv4_dsfield(ip);
	return ip[0] == PCRP_IPV4_PLAIN && !(closnet_get16(ip + 6) & PCRP_IPV4_FRAGMENT) &&
	       closnet_get16(ip + 2) == len;
}

static inline bool pcrp_plain_ipv6(const u8 *ip, u32 len, struct pcrp_plain *pkt)
{
	pkt->ip_hlen = CLOSNET_IPV6_HLEN;
	pkt->proto = ip[6];
	pkt->dsfield = closnet_ipv6_dsfield(ip);
	return closnet_get16(ip + 4) + CLOSNET_IPV6_HLEN == len;
}

/* Parse a TCP header. @pkt->bytes includes it at first. */
static inline bool pcrp_plain_tcp(const u8 *th, struct pcrp_plain *pkt)
{
	u32 hlen = (th[12] >> 4) * 4;

	if (th[13] & PCRP_TCP_FLAGS || hlen < PCRP_TCP_HLEN || hlen >= pkt->bytes)
		return false;
	pkt->bytes -= hlen;
	pkt->seq = closnet_get32(th + 4);
	return true;
}

/**
 * pcrp_plain_parse() - parse a plain packet
 * @data: the packet from its Ethernet header on
 * @linear: bytes that can be read at @data
 * @len: length of the packet
 * @pkt: result
 *
 * Return: false: it needs pcrp_parse(); @pkt is undefined. So does a packet to be segmented whose
 * length does not fit into its IP header (BIG TCP).
 */
static __always_inline bool pcrp_plain_parse(const u8 *data, u32 linear, u32 len,
					     struct pcrp_plain *pkt)
{
	const u8 *ip = data + ETH_HLEN;
	u32 l4_off = ETH_HLEN + CLOSNET_IPV4_HLEN;
	u16 ethertype;

	if (unlikely(linear < l4_off + PCRP_UDP_HLEN || data[0] & 1))
		return false;
	ethertype = closnet_get16(data + ETH_HLEN - 2);
	if (likely(ethertype == ETH_P_IP)) {
		if (!pcrp_plain_ipv4(ip, len - ETH_HLEN, pkt))
			return false;
	} else {
		l4_off = ETH_HLEN + CLOSNET_IPV6_HLEN;
		if (ethertype != ETH_P_IPV6 || linear < l4_off + PCRP_UDP_HLEN ||
		    !pcrp_plain_ipv6(ip, len - ETH_HLEN, pkt))
			return false;
	}
	pkt->bytes = len - l4_off;
	if (pkt->proto == IPPROTO_TCP)
		return linear >= l4_off + PCRP_TCP_HLEN && pcrp_plain_tcp(data + l4_off, pkt);
	pkt->bytes -= PCRP_UDP_HLEN;
	pkt->seq = 0;
	return pkt->proto == IPPROTO_UDP;
}

/**
 * pcrp_plain_ip_hlen() - get the length of the IP header of a flow's plain packets
 * @key: key of the flow
 *
 * Return: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN.
 */
static inline u8 pcrp_plain_ip_hlen(const struct pcrp_key *key)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(&key->src, mapped, sizeof(mapped)) ? CLOSNET_IPV6_HLEN :
							   CLOSNET_IPV4_HLEN;
}

/**
 * pcrp_plain_has_key() - compare a plain packet with a flow
 * @data: the packet from its Ethernet header on
 * @pkt: result of pcrp_plain_parse()
 * @key: key of the flow, which has no multicast address and not the ports of PCRP; or zeroed
 * @ip_hlen: pcrp_plain_ip_hlen() of the key; 0: no flow
 *
 * Return: true if it is a packet of the flow.
 */
static __always_inline bool pcrp_plain_has_key(const u8 *data, const struct pcrp_plain *pkt,
					       const struct pcrp_key *key, u8 ip_hlen)
{
	const u8 *ip = data + ETH_HLEN;

	if (pkt->ip_hlen != ip_hlen || pkt->proto != key->proto)
		return false;
	if (likely(ip_hlen == CLOSNET_IPV4_HLEN))
		return !memcmp(ip + CLOSNET_IPV4_HLEN, &key->sport, 4) &&
		       !memcmp(ip + 12, &key->src.s6_addr32[3], 4) &&
		       !memcmp(ip + 16, &key->dst.s6_addr32[3], 4);
	return !memcmp(ip + CLOSNET_IPV6_HLEN, &key->sport, 4) &&
	       !memcmp(ip + 8, &key->src, 16) && !memcmp(ip + 24, &key->dst, 16);
}

/* An IPv4 address, mapped to IPv6 */
static inline struct in6_addr pcrp_plain_mapped(const u8 *ipv4)
{
	struct in6_addr addr = {};

	memset(&addr.s6_addr[10], 0xff, 2);
	memcpy(&addr.s6_addr[12], ipv4, 4);
	return addr;
}

/**
 * pcrp_plain_key() - make the key of a plain packet
 * @data: the packet from its Ethernet header on
 * @ip_hlen: as in struct pcrp_plain
 * @key: the key
 *
 * Return: false: a multicast address, or a control packet; it needs pcrp_parse().
 */
static inline bool pcrp_plain_key(const u8 *data, u8 ip_hlen, struct pcrp_key *key)
{
	const u8 *ip = data + ETH_HLEN;

	memcpy(&key->sport, ip + ip_hlen, sizeof(key->sport));
	memcpy(&key->dport, ip + ip_hlen + 2, sizeof(key->dport));
	if (unlikely(closnet_get32(ip + ip_hlen) == PCRP_PLAIN_CONTROL))
		return false;
	if (likely(ip_hlen == CLOSNET_IPV4_HLEN)) {
		key->proto = ip[9];
		key->src = pcrp_plain_mapped(ip + 12);
		key->dst = pcrp_plain_mapped(ip + 16);
		return ip[16] < PCRP_IPV4_MULTICAST;
	}
	key->proto = ip[6];
	memcpy(&key->src, ip + 8, 16);
	memcpy(&key->dst, ip + 24, 16);
	return ip[24] != PCRP_IPV6_MULTICAST;
}

#endif /* _PCRP_PLAIN_H */
