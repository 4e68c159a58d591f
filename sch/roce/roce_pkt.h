/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RoCEv2 packets: classify, verify and build; the interface of roce_pkt.c
 */
#ifndef _CLOSNET_ROCE_PKT_H
#define _CLOSNET_ROCE_PKT_H

#include <closnet/core.h>
#include <closnet/pkt_core.h>

#define ROCE_UDP_PORT		4791
#define ROCE_UDP_HLEN		8U
#define ROCE_BTH_LEN		12U
#define ROCE_DETH_LEN		8U
#define ROCE_ICRC_LEN		4U
/* BTH, 16 reserved bytes, ICRC */
#define ROCE_CNP_LEN		32U
/* A CNP from its IP header on, at most */
#define ROCE_CNP_MAX		(CLOSNET_IPV6_HLEN + ROCE_UDP_HLEN + ROCE_CNP_LEN)
/* Headers of any RoCEv2 packet from the L2 header on, at most */
#define ROCE_HEADERS_MAX	(ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN + \
				 CLOSNET_IPV6_HLEN + ROCE_UDP_HLEN + ROCE_BTH_LEN + \
				 ROCE_DETH_LEN)

/* Queue pair numbers and packet sequence numbers have 24 bits. */
#define ROCE_24_BITS		0xffffffU
#define ROCE_QPN_NONE		0xffffffffU

#define ROCE_ECN_MASK		3
#define ROCE_ECT_0		2
#define ROCE_CE			3

/**
 * struct roce_addr - an IP address; an IPv4 address mapped to IPv6
 * @b: bytes in network order
 */
struct roce_addr {
	u8 b[16];
};

/**
 * struct roce_key - one direction of a queue pair
 * @src: source of its packets
 * @dst: destination
 * @qpn: queue pair at the destination
 */
struct roce_key {
	struct roce_addr src;
	struct roce_addr dst;
	u32 qpn;
};

/**
 * enum roce_kind - what a packet is
 * @ROCE_KIND_OTHER: not RoCEv2
 * @ROCE_KIND_QP: a packet of a queue pair
 * @ROCE_KIND_CNP: congestion notification packet
 * @ROCE_KIND_SHORT: undecided, more bytes are needed
 */
enum roce_kind {
	ROCE_KIND_OTHER,
	ROCE_KIND_QP,
	ROCE_KIND_CNP,
	ROCE_KIND_SHORT,
};

/**
 * struct roce_pkt - the headers of a RoCEv2 packet
 * @key: addresses and destination queue pair
 * @psn: packet sequence number
 * @sqpn: queue pair of the sender, which only datagrams (UD) have; else ROCE_QPN_NONE
 * @l3_off: offset of the IP header, bytes
 * @sport: UDP source port
 * @dsfield: DSCP and ECN bits
 * @opcode: opcode of the BTH
 * @ipv6: IPv6, else IPv4
 * @data: limited by the sender's rate, and answered by CNPs if marked
 * @request: a request of a reliable connection; its response has the same PSN
 * @response: a response with the PSN of a request
 */
struct roce_pkt {
	struct roce_key key;
	u32 psn;
	u32 sqpn;
	u16 l3_off;
	u16 sport;
	u8 dsfield;
	u8 opcode;
	bool ipv6;
	bool data;
	bool request;
	bool response;
};

/**
 * struct roce_cnp - fields of a CNP to build
 * @key: addresses and the queue pair that is notified
 * @sport: UDP source port
 * @dscp: DSCP
 * @ipv6: IPv6, else IPv4
 */
struct roce_cnp {
	struct roce_key key;
	u16 sport;
	u8 dscp;
	bool ipv6;
};

enum roce_kind roce_pkt_parse(struct roce_pkt *pkt, const u8 *data, u32 avail, u32 len,
			      u16 ethertype);
u32 roce_icrc(const u8 *iph, u32 len);
bool roce_cnp_valid(const u8 *iph, u32 len);
u32 roce_cnp_build(u8 *iph, const struct roce_cnp *cnp);
u32 roce_key_hash(const struct roce_key *key, u64 seed);
u32 roce_pair_hash(const struct roce_key *key, u64 seed);
bool roce_sport_fits(u16 sport, u32 sqpn, u32 dqpn);

/* ECN bits of a packet */
static inline u8 roce_pkt_ecn(const struct roce_pkt *pkt)
{
	return pkt->dsfield & ROCE_ECN_MASK;
}

#endif /* _CLOSNET_ROCE_PKT_H */
