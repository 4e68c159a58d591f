/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames for the tests of packet cores
 *
 * This code does not use the code under test: it records offsets as it builds a
 * frame, and computes checksums from all words.
 */
#ifndef _CLOSNET_UNIT_FRAME_H
#define _CLOSNET_UNIT_FRAME_H

#include "rng.h"

#define FRAME_MAX	9216
#define FRAME_EXTS	8

#define PROTO_ICMP	1
#define PROTO_TCP	6
#define PROTO_UDP	17
#define PROTO_ICMPV6	58

enum frame_l2 {
	L2_NONE,	/* starts with the IP header */
	L2_ETHER,
	L2_VLAN,	/* 802.1Q */
	L2_QINQ,	/* 802.1ad, then 802.1Q */
	L2_THREE_TAGS,
};

/**
 * struct frame_spec - specification of a frame
 * @l2: headers before IP
 * @ipv6: IPv6, else IPv4
 * @proto: protocol of the payload
 * @dscp: DSCP
 * @ecn: ECN bits
 * @options: IPv4: 32-bit words of options, 0 to 10
 * @ext: IPv6: types of extension headers
 * @exts: IPv6: number of extension headers
 * @ext_units: IPv6: length field of each extension header: 8-byte units after the
 *	first
 * @sport: source port
 * @dport: destination port
 * @len: length of the frame, bytes, at least frame_min_len()
 * @pad: bytes after the end of the IP packet
 */
struct frame_spec {
	enum frame_l2 l2;
	bool ipv6;
	u8 proto;
	u8 dscp;
	u8 ecn;
	u8 options;
	u8 ext[FRAME_EXTS];
	u8 exts;
	u8 ext_units;
	u16 sport;
	u16 dport;
	u32 len;
	u32 pad;
};

/**
 * struct frame - a frame
 * @b: bytes
 * @len: length, bytes
 * @l3: offset of the IP header
 * @l4: offset of the payload of IP and its extensions
 * @ethertype: L3 protocol, host byte order
 */
struct frame {
	u8 b[FRAME_MAX];
	u32 len;
	u32 l3;
	u32 l4;
	u16 ethertype;
};

/**
 * frame_min_len() - compute the length through 8 bytes after IP, plus padding
 * @spec: specification
 */
u32 frame_min_len(const struct frame_spec *spec);

/**
 * frame_build() - build a frame with correct lengths and checksums
 * @f: result
 * @spec: specification
 * @rng: source of addresses, payload and all other free bytes
 */
void frame_build(struct frame *f, const struct frame_spec *spec, struct rng *rng);

/**
 * sum16() - compute the ones' complement sum of big-endian words
 * @b: bytes
 * @len: number of bytes; an odd number is padded with 0
 * @start: sum so far
 */
u16 sum16(const u8 *b, u32 len, u16 start);

/**
 * ipv4_fill_check() - compute the checksum of an IPv4 header
 * @iph: header
 */
void ipv4_fill_check(u8 *iph);

/**
 * ipv4_check_valid() - verify the checksum of an IPv4 header
 * @iph: header
 */
bool ipv4_check_valid(const u8 *iph);

/**
 * frame_l4_sum() - add up the pseudo header and the payload of IP
 * @f: frame as built, or with source and destination swapped
 * @spec: its specification
 *
 * Return: 0xffff if the checksum of UDP or TCP is correct.
 */
u16 frame_l4_sum(const struct frame *f, const struct frame_spec *spec);

/**
 * exact_copy() - copy bytes into memory that ends with them
 * @b: bytes
 * @len: number of bytes; may be 0
 *
 * Return: the copy, for exact_free().
 */
u8 *exact_copy(const u8 *b, u32 len);

/**
 * exact_free() - free a copy
 * @copy: from exact_copy()
 */
void exact_free(u8 *copy);

static inline u16 get16(const u8 *b)
{
	return (u16)(b[0] * 256 + b[1]);
}

static inline void set16(u8 *b, u32 val)
{
	b[0] = (u8)(val / 256);
	b[1] = (u8)(val % 256);
}

#endif /* _CLOSNET_UNIT_FRAME_H */
