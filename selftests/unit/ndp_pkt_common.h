/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the tests of sch/ndp/ndpq_pkt.c
 *
 * frame.c builds the frames and records the offsets of their headers. Each call
 * of the core gets a buffer that ends where the core must stop to read or write,
 * so that ASan reports any access beyond.
 */
#ifndef _CLOSNET_UNIT_NDP_PKT_COMMON_H
#define _CLOSNET_UNIT_NDP_PKT_COMMON_H

#include "../../sch/ndp/ndpq_pkt.h"
#include "frame.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))
#define PORT		NDP_UDP_PORT
#define DSCP_TRIMMED	48
#define DSCP_RETURNED	49
#define STACKS		19
#define PROTOS		4

/* trim_size 128; match udp_port with the default port, and match all */
extern const struct ndpq_match by_port, match_all;

/* layers 2 and 3 of the frames in most tests */
extern const struct frame_spec stacks[STACKS];
extern const u8 protos[PROTOS];

/* random numbers and frame of the test */
extern struct rng rng;
extern struct frame frame;

/**
 * spec_of() - complete the specification of a frame
 * @stack: layers 2 and 3
 * @proto: protocol of the payload; PROTO_ICMP becomes ICMPv6 in IPv6
 * @len: length of the frame, bytes; raised to the shortest possible
 */
struct frame_spec spec_of(const struct frame_spec *stack, u8 proto, u32 len);

/**
 * plain() - specify Ethernet and IP without options or extensions
 * @ipv6: IPv6, else IPv4
 * @proto: as for spec_of()
 * @len: as for spec_of()
 */
struct frame_spec plain(bool ipv6, u8 proto, u32 len);

/**
 * headers_of() - headers that the core should find in the frame
 * @s: specification of the frame
 */
struct ndpq_pkt headers_of(const struct frame_spec *s);

/**
 * struct found - result of ndpq_pkt_classify()
 * @decided: the bytes were enough to classify the packet
 * @kind: kind
 * @pkt: headers
 */
struct found {
	bool decided;
	enum ndpq_kind kind;
	struct ndpq_pkt pkt;
};

/**
 * classify_part() - classify the frame by its first bytes
 * @m: configuration
 * @avail: number of bytes available
 * @len: length of the frame, bytes, as an argument of the core
 * @tag_len: bytes of an offloaded tag
 */
struct found classify_part(const struct ndpq_match *m, u32 avail, u32 len,
			   u32 tag_len);

#endif /* _CLOSNET_UNIT_NDP_PKT_COMMON_H */
