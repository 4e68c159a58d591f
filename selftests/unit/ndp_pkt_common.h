/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of sch/ndp/ndpq_pkt.h share
 *
 * Frames are built by frame.c, which knows where it put what. Each call of the
 * core gets a buffer that ends where its permission to read or write ends, so
 * that ASan sees a step too far.
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

/* trim_size 128; by the default port, or every packet */
extern const struct ndpq_match by_port, match_all;

/* layers 2 and 3 of which the frames of most tests are made */
extern const struct frame_spec stacks[STACKS];
extern const u8 protos[PROTOS];

/* the test's random numbers, and its frame */
extern struct rng rng;
extern struct frame frame;

/**
 * spec_of() - a stack with the rest filled in
 * @stack: layers 2 and 3
 * @proto: protocol of the payload; ICMP: that of the IP version
 * @len: length of the frame; raised to the shortest possible
 */
struct frame_spec spec_of(const struct frame_spec *stack, u8 proto, u32 len);

/**
 * plain() - Ethernet and IP without options or extensions
 * @ipv6: IPv6, else IPv4
 * @proto: as for spec_of()
 * @len: as for spec_of()
 */
struct frame_spec plain(bool ipv6, u8 proto, u32 len);

/**
 * headers_of() - what the core should find in the frame
 * @s: what was built
 */
struct ndpq_pkt headers_of(const struct frame_spec *s);

/**
 * struct found - result of ndpq_pkt_classify()
 * @told: it had enough bytes to decide
 * @kind: kind, if told
 * @pkt: headers
 */
struct found {
	bool told;
	enum ndpq_kind kind;
	struct ndpq_pkt pkt;
};

/**
 * classify_part() - classify the frame, of which only some bytes are at hand
 * @m: configuration
 * @avail: how many
 * @len: how long the core is told that the frame is
 * @tag_len: bytes of an offloaded tag
 */
struct found classify_part(const struct ndpq_match *m, u32 avail, u32 len,
			   u32 tag_len);

#endif /* _CLOSNET_UNIT_NDP_PKT_COMMON_H */
