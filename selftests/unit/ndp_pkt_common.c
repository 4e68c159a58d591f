// SPDX-License-Identifier: GPL-2.0-only
/* Shared by the tests of sch/ndp/ndpq_pkt.c, see ndp_pkt_common.h. */
#include <assert.h>
#include <string.h>

#include "ndp_pkt_common.h"

const struct ndpq_match by_port = {
	.trim_size = 128,
	.udp_port = PORT,
	.mode = TC_NDP_MATCH_UDP_PORT,
	.dscp_trimmed = DSCP_TRIMMED,
	.dscp_returned = DSCP_RETURNED,
};

const struct ndpq_match match_all = {
	.trim_size = 128,
	.mode = TC_NDP_MATCH_ALL,
	.dscp_trimmed = DSCP_TRIMMED,
	.dscp_returned = DSCP_RETURNED,
};

const struct frame_spec stacks[STACKS] = {
	{ .l2 = L2_ETHER },
	{ .l2 = L2_ETHER, .options = 1 },
	{ .l2 = L2_ETHER, .options = 10 },
	{ .l2 = L2_VLAN },
	{ .l2 = L2_VLAN, .options = 3 },
	{ .l2 = L2_QINQ },
	{ .l2 = L2_QINQ, .options = 10 },
	{ .l2 = L2_NONE },
	{ .l2 = L2_NONE, .options = 10 },
	{ .l2 = L2_ETHER, .ipv6 = true },
	{ .l2 = L2_ETHER, .ipv6 = true, .ext = { 0 }, .exts = 1 },
	{ .l2 = L2_ETHER, .ipv6 = true, .ext = { 60, 43 }, .exts = 2, .ext_units = 3 },
	{ .l2 = L2_ETHER, .ipv6 = true, .ext = { 0, 60, 43, 60, 60 }, .exts = 5 },
	{ .l2 = L2_VLAN, .ipv6 = true },
	{ .l2 = L2_VLAN, .ipv6 = true, .ext = { 43 }, .exts = 1, .ext_units = 20 },
	{ .l2 = L2_QINQ, .ipv6 = true },
	{ .l2 = L2_QINQ, .ipv6 = true, .ext = { 0, 43, 60 }, .exts = 3 },
	{ .l2 = L2_NONE, .ipv6 = true },
	{ .l2 = L2_NONE, .ipv6 = true, .ext = { 60 }, .exts = 1 },
};

const u8 protos[PROTOS] = { PROTO_UDP, PROTO_TCP, PROTO_ICMP, 253 };

struct rng rng;
struct frame frame;

struct frame_spec spec_of(const struct frame_spec *stack, u8 proto, u32 len)
{
	struct frame_spec s = *stack;

	s.proto = proto == PROTO_ICMP && s.ipv6 ? PROTO_ICMPV6 : proto;
	s.sport = 40000;
	s.dport = PORT;
	s.dscp = 10;
	s.ecn = (u8)rng_in(&rng, 0, 3);
	s.len = len > frame_min_len(&s) ? len : frame_min_len(&s);
	return s;
}

struct frame_spec plain(bool ipv6, u8 proto, u32 len)
{
	struct frame_spec stack = { .l2 = L2_ETHER, .ipv6 = ipv6 };

	return spec_of(&stack, proto, len);
}

struct ndpq_pkt headers_of(const struct frame_spec *s)
{
	return (struct ndpq_pkt) {
		.l3_off = (u16)frame.l3,
		.l4_off = (u16)frame.l4,
		.ipv6 = s->ipv6,
		.proto = s->proto,
	};
}

struct found classify_part(const struct ndpq_match *m, u32 avail, u32 len,
			   u32 tag_len)
{
	u32 l3_off = frame.l3 ? 14 : 0;
	u8 *b = exact_copy(frame.b, avail);
	struct found f = { .pkt = { .l3_off = (u16)l3_off, .tag_len = (u8)tag_len } };

	f.kind = ndpq_pkt_classify(m, &f.pkt, b, avail, len, l3_off ? 0 : frame.ethertype);
	f.decided = f.kind != NDPQ_KIND_UNKNOWN;
	assert(!memcmp(b, frame.b, avail));
	exact_free(b);
	return f;
}
