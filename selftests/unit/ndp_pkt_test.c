// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/ndp/ndpq_pkt.h: parsing and classification
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ndp_pkt_common.h"

/* Classify the frame by all its bytes. */
static enum ndpq_kind kind_of(const struct ndpq_match *m, u32 tag_len)
{
	struct found f = classify_part(m, frame.len, frame.len, tag_len);

	assert_true(f.decided);
	return f.kind;
}

/* Build a frame and classify it. */
static enum ndpq_kind kind_of_spec(const struct ndpq_match *m,
				   const struct frame_spec *s)
{
	frame_build(&frame, s, &rng);
	return kind_of(m, 0);
}

static void assert_headers(const struct ndpq_pkt *pkt, const struct frame_spec *s)
{
	assert_int_equal(pkt->l3_off, frame.l3);
	assert_int_equal(pkt->l4_off, frame.l4);
	assert_int_equal(pkt->ipv6, s->ipv6);
	assert_int_equal(pkt->proto, s->proto);
}

/* ------------------------------------------------ classify */

/* Derive the kind of a frame from its specification. */
static enum ndpq_kind expected_kind(const struct ndpq_match *m,
				    const struct frame_spec *s, u32 wire_len)
{
	bool marked = s->dscp == m->dscp_trimmed || s->dscp == m->dscp_returned;
	/* headers with ports only are short, whatever their length */
	bool is_short = wire_len <= m->trim_size || s->len <= frame.l4 + 8;

	if (m->mode == TC_NDP_MATCH_UDP_PORT) {
		if (s->proto != PROTO_UDP)
			return NDPQ_KIND_OTHER;
		if (s->dport != m->udp_port && !(marked && s->sport == m->udp_port))
			return NDPQ_KIND_OTHER;
	}
	if (m->mode == TC_NDP_MATCH_DSCP && !(m->dscp_mask & 1ULL << s->dscp) &&
	    !(marked && is_short))
		return NDPQ_KIND_OTHER;
	if (!is_short)
		return NDPQ_KIND_DATA;
	if (!marked)
		return NDPQ_KIND_CONTROL;
	if (m->mode == TC_NDP_MATCH_UDP_PORT && s->sport == m->udp_port)
		return NDPQ_KIND_RETURNED;
	return s->dscp == m->dscp_trimmed ? NDPQ_KIND_TRIMMED : NDPQ_KIND_RETURNED;
}

static void check_kind(const struct ndpq_match *m, const struct frame_spec *s,
		       u32 tag_len)
{
	struct found f;

	frame_build(&frame, s, &rng);
	f = classify_part(m, frame.len, frame.len, tag_len);
	assert_true(f.decided);
	assert_int_equal(f.kind, expected_kind(m, s, s->len + tag_len));
	if (f.kind != NDPQ_KIND_OTHER)
		assert_headers(&f.pkt, s);
}

static void test_kind_of_all_stacks(void **state)
{
	static const u32 lens[] = { 60, 64, 65, 127, 128, 129, 500, 1514, 9018 };
	static const u32 trims[] = { 64, 128, 256, 1500, 9216 };
	static const u8 dscps[] = { 0, 10, DSCP_TRIMMED, DSCP_RETURNED, 63 };
	struct ndpq_match m = by_port;
	struct frame_spec s;
	size_t i, j, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks) * ARRAY_SIZE(protos); i++) {
		for (j = 0; j < ARRAY_SIZE(lens) * ARRAY_SIZE(trims); j++) {
			s = spec_of(&stacks[i / ARRAY_SIZE(protos)],
				    protos[i % ARRAY_SIZE(protos)],
				    lens[j / ARRAY_SIZE(trims)]);
			m.trim_size = trims[j % ARRAY_SIZE(trims)];
			for (k = 0; k < ARRAY_SIZE(dscps); k++) {
				s.dscp = dscps[k];
				m.mode = rng_in(&rng, 0, TC_NDP_MATCH_MAX);
				m.dscp_mask = 1ULL << 10 | 1ULL << 63;
				s.dport = rng_percent(&rng, 70) ? PORT : 53;
				s.sport = rng_percent(&rng, 70) ? 40000 : PORT;
				check_kind(&m, &s, rng_percent(&rng, 50) ? 4 : 0);
			}
		}
	}
}

/* Both bytes of the destination port count, in UDP only. */
static void test_match_udp_port(void **state)
{
	static const u16 others[] = { PORT + 1, PORT - 1, PORT ^ 0x100, PORT ^ 0x8000,
				      0, 0xffff, (PORT & 0xff) << 8 | PORT >> 8 };
	struct frame_spec s = plain(false, PROTO_UDP, 1000);
	size_t i;

	(void)state;
	assert_int_equal(kind_of_spec(&by_port, &s), NDPQ_KIND_DATA);
	s.sport = PORT;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		s.dport = others[i];
		assert_int_equal(kind_of_spec(&by_port, &s), NDPQ_KIND_OTHER);
	}
	s = plain(true, PROTO_TCP, 1000);
	assert_int_equal(kind_of_spec(&by_port, &s), NDPQ_KIND_OTHER);
	assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_DATA);
}

/* Bit n of the mask stands for DSCP n. */
static void test_match_dscp_mask(void **state)
{
	struct ndpq_match m = match_all;
	struct frame_spec s;
	int bit, dscp, ipv6;

	(void)state;
	m.mode = TC_NDP_MATCH_DSCP;
	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		s = plain(ipv6, PROTO_TCP, 1000);
		for (bit = 0; bit < 64; bit++) {
			m.dscp_mask = 1ULL << bit;
			for (dscp = 0; dscp < 64; dscp++) {
				s.dscp = (u8)dscp;
				assert_int_equal(kind_of_spec(&m, &s),
						 expected_kind(&m, &s, s.len));
			}
		}
	}
}

/* A mark decides the kind of a short NDP packet. A long packet is data. */
static void test_mark_decides_kind_of_short_packet(void **state)
{
	static const struct {
		u8 dscp;
		u32 len;
		u32 tag_len;
		enum ndpq_kind kind;
	} rows[] = {
		{ DSCP_TRIMMED, 128, 0, NDPQ_KIND_TRIMMED },
		{ DSCP_TRIMMED, 129, 0, NDPQ_KIND_DATA },
		{ DSCP_TRIMMED, 124, 4, NDPQ_KIND_TRIMMED },
		{ DSCP_TRIMMED, 125, 4, NDPQ_KIND_DATA },
		{ DSCP_RETURNED, 128, 0, NDPQ_KIND_RETURNED },
		{ DSCP_RETURNED, 129, 0, NDPQ_KIND_DATA },
		{ DSCP_RETURNED, 124, 4, NDPQ_KIND_RETURNED },
		{ DSCP_RETURNED, 125, 4, NDPQ_KIND_DATA },
		{ 0, 128, 0, NDPQ_KIND_CONTROL },
		{ 0, 129, 0, NDPQ_KIND_DATA },
	};
	struct frame_spec s;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		s = plain(i & 1, PROTO_UDP, rows[i].len);
		s.dscp = rows[i].dscp;
		frame_build(&frame, &s, &rng);
		assert_int_equal(kind_of(&by_port, rows[i].tag_len), rows[i].kind);
	}
}

/* A marked packet need not be NDP: routing protocols use CS6. */
static void test_mark_does_not_make_ndp(void **state)
{
	static const struct {
		u8 mode;
		u8 proto;
		bool from_port;
		u32 len;
		enum ndpq_kind kind;
	} rows[] = {
		{ TC_NDP_MATCH_UDP_PORT, PROTO_TCP, true, 128, NDPQ_KIND_OTHER },
		{ TC_NDP_MATCH_UDP_PORT, PROTO_TCP, true, 1000, NDPQ_KIND_OTHER },
		{ TC_NDP_MATCH_UDP_PORT, PROTO_UDP, false, 128, NDPQ_KIND_OTHER },
		{ TC_NDP_MATCH_UDP_PORT, PROTO_UDP, true, 128, NDPQ_KIND_RETURNED },
		{ TC_NDP_MATCH_UDP_PORT, PROTO_UDP, true, 129, NDPQ_KIND_DATA },
		{ TC_NDP_MATCH_DSCP, PROTO_TCP, false, 128, NDPQ_KIND_RETURNED },
		{ TC_NDP_MATCH_DSCP, PROTO_TCP, false, 129, NDPQ_KIND_OTHER },
		{ TC_NDP_MATCH_ALL, PROTO_TCP, false, 128, NDPQ_KIND_RETURNED },
		{ TC_NDP_MATCH_ALL, PROTO_TCP, false, 129, NDPQ_KIND_DATA },
	};
	struct ndpq_match m = by_port;
	struct frame_spec s;
	size_t i;

	(void)state;
	m.dscp_mask = 1;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		s = plain(i & 1, rows[i].proto, rows[i].len);
		s.sport = rows[i].from_port ? PORT : PORT + 1;
		s.dport = PORT + 2;
		s.dscp = DSCP_RETURNED;
		m.mode = rows[i].mode;
		frame_build(&frame, &s, &rng);
		assert_int_equal(kind_of(&m, 0), rows[i].kind);
	}
}

/* A packet that ends within 8 bytes after its IP header is other traffic. */
static void test_packet_without_ports_is_other(void **state)
{
	struct frame_spec s;
	struct found f;
	u32 len;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		s = plain(i & 1, 253, 0);
		s.dscp = i & 2 ? DSCP_TRIMMED : 0;
		frame_build(&frame, &s, &rng);
		for (len = frame.l4; len < frame.l4 + 8; len++) {
			f = classify_part(&match_all, len, len, 0);
			assert_true(f.decided);
			assert_int_equal(f.kind, NDPQ_KIND_OTHER);
		}
		assert_int_not_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	}
}

/* ------------------------------------------------ other traffic */

static void test_fragments_are_other(void **state)
{
	static const struct {
		u16 frag_off;
		enum ndpq_kind kind;
	} rows[] = {
		{ 0x0000, NDPQ_KIND_DATA },
		{ 0x4000, NDPQ_KIND_DATA },	/* don't fragment */
		{ 0x8000, NDPQ_KIND_DATA },	/* reserved bit */
		{ 0x2000, NDPQ_KIND_OTHER },	/* more fragments */
		{ 0x6000, NDPQ_KIND_OTHER },
		{ 0x0001, NDPQ_KIND_OTHER },
		{ 0x1000, NDPQ_KIND_OTHER },
		{ 0x00b9, NDPQ_KIND_OTHER },
		{ 0x1fff, NDPQ_KIND_OTHER },
	};
	struct frame_spec s = plain(false, PROTO_UDP, 1000);
	size_t i;

	(void)state;
	frame_build(&frame, &s, &rng);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		set16(frame.b + frame.l3 + 6, rows[i].frag_off);
		ipv4_fill_check(frame.b + frame.l3);
		assert_int_equal(kind_of(&match_all, 0), rows[i].kind);
	}
	/* IPv6: also an atomic fragment, and anywhere in the chain */
	s = plain(true, PROTO_UDP, 1000);
	s.ext[0] = 44;
	s.exts = 1;
	assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_OTHER);
	s.ext[0] = 0;
	s.ext[1] = 60;
	s.ext[2] = 44;
	s.exts = 3;
	assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_OTHER);
}

static void test_multicast_is_other(void **state)
{
	static const u8 groups[] = { 224, 232, 239, 240, 255 };
	static const u8 hosts[] = { 0, 1, 10, 127, 192, 223 };
	struct frame_spec s = plain(false, PROTO_UDP, 1000);
	size_t i;

	(void)state;
	frame_build(&frame, &s, &rng);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		frame.b[frame.l3 + 16] = groups[i];
		assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	}
	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		frame.b[frame.l3 + 16] = hosts[i];
		assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_DATA);
	}
	/* unicast IP in a multicast and in a broadcast frame */
	frame.b[0] |= 1;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	memset(frame.b, 0xff, 6);
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);

	s = plain(true, PROTO_UDP, 1000);
	assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_DATA);
	frame.b[frame.l3 + 24] = 0xfe;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_DATA);
	frame.b[frame.l3 + 24] = 0xff;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
}

static void test_non_ip_is_other(void **state)
{
	static const u16 types[] = { 0x0806, 0x0000, 0x05dc, 0x8847, 0x8863, 0x88f7,
				     0x0801, 0x86dc, 0x9100, 0xffff };
	struct frame_spec s = plain(false, PROTO_UDP, 1000);
	size_t i;
	u8 *b;

	(void)state;
	frame_build(&frame, &s, &rng);
	b = frame.b + frame.l3;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		set16(b - 2, types[i]);
		assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	}
	set16(b - 2, 0x0800);
	b[0] = 0x65;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	b[0] = 0x44;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	b[0] = 0x40;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	b[0] = 0x45;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_DATA);
	set16(b - 2, 0x86dd);
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	/* without L2, the ethertype is an argument */
	s.l2 = L2_NONE;
	frame_build(&frame, &s, &rng);
	frame.ethertype = 0x0806;
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
}

static void test_two_vlan_tags_are_skipped(void **state)
{
	struct frame_spec s = plain(false, PROTO_UDP, 1000);

	(void)state;
	for (s.l2 = L2_ETHER; s.l2 <= L2_QINQ; s.l2++)
		assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_DATA);
	s.l2 = L2_THREE_TAGS;
	assert_int_equal(kind_of_spec(&match_all, &s), NDPQ_KIND_OTHER);
}

static void test_jumbogram_is_other(void **state)
{
	struct frame_spec s = plain(true, PROTO_UDP, 1000);

	(void)state;
	frame_build(&frame, &s, &rng);
	set16(frame.b + frame.l3 + 4, 0);
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
}

/* Up to five extension headers are skipped (RFC 8200). */
static void test_five_extension_headers_are_skipped(void **state)
{
	static const u8 known[] = { 0, 43, 60 };
	struct frame_spec s;
	u32 n, i;

	(void)state;
	for (n = 0; n <= FRAME_EXTS; n++) {
		struct frame_spec stack = { .l2 = L2_ETHER, .ipv6 = true };

		for (i = 0; i < n; i++)
			stack.ext[i] = known[rng_in(&rng, 0, 2)];
		stack.exts = (u8)n;
		s = spec_of(&stack, PROTO_UDP, 1000);
		assert_int_equal(kind_of_spec(&by_port, &s),
				 n <= 5 ? NDPQ_KIND_DATA : NDPQ_KIND_OTHER);
	}
}

/* An unknown extension header counts as payload. */
static void test_unknown_extension_is_payload(void **state)
{
	static const u8 unknown[] = { 50, 51, 59, 135, 139, 140, 253, 255 };
	struct frame_spec s;
	struct found f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		s = plain(true, unknown[i], 1000);
		s.ext[0] = 60;
		s.exts = 1;
		assert_int_equal(kind_of_spec(&by_port, &s), NDPQ_KIND_OTHER);
		f = classify_part(&match_all, frame.len, frame.len, 0);
		assert_int_equal(f.kind, NDPQ_KIND_DATA);
		assert_headers(&f.pkt, &s);
	}
}

/* The longest possible headers, and one with a length beyond the packet. */
static void test_long_extension_headers(void **state)
{
	struct frame_spec stack = {
		.l2 = L2_QINQ, .ipv6 = true,
		.ext = { 0, 60, 43, 60 }, .exts = 4, .ext_units = 255,
	};
	struct frame_spec s = spec_of(&stack, PROTO_UDP, 9216);
	struct found f;

	(void)state;
	frame_build(&frame, &s, &rng);
	f = classify_part(&by_port, frame.len, frame.len, 0);
	assert_true(f.decided);
	assert_int_equal(f.kind, NDPQ_KIND_DATA);
	assert_headers(&f.pkt, &s);

	stack = (struct frame_spec) { .l2 = L2_ETHER, .ipv6 = true, .exts = 1 };
	s = spec_of(&stack, PROTO_UDP, 1000);
	frame_build(&frame, &s, &rng);
	frame.b[frame.l3 + 41] = 255;
	assert_int_equal(kind_of(&by_port, 0), NDPQ_KIND_OTHER);
	assert_int_equal(kind_of(&match_all, 0), NDPQ_KIND_OTHER);
	/* and another header after it, outside the packet */
	frame.b[frame.l3 + 40] = 60;
	assert_false(classify_part(&match_all, frame.len, frame.len, 0).decided);
}

/* ------------------------------------------------ partial packets */

/* Compute the number of bytes that decide the kind. */
static u32 bytes_that_decide(const struct ndpq_match *m, const struct frame_spec *s)
{
	u32 need = frame.l3 + 20;

	if (s->ipv6)
		need = s->exts ? frame.l4 - 8 * s->ext_units : frame.l3 + 40;
	if (m->mode == TC_NDP_MATCH_UDP_PORT && s->proto == PROTO_UDP)
		need = frame.l4 + 4;
	return need;
}

/* With too few linear bytes the kind is unknown. With enough it is correct. */
static void every_prefix(const struct ndpq_match *m, const struct frame_spec *s)
{
	u32 avail, need;
	struct found f;

	frame_build(&frame, s, &rng);
	need = bytes_that_decide(m, s);
	for (avail = 0; avail <= frame.len; avail++) {
		f = classify_part(m, avail, frame.len, 0);
		assert_int_equal(f.decided, avail >= need);
		if (!f.decided)
			continue;
		assert_int_equal(f.kind, expected_kind(m, s, s->len));
		if (f.kind != NDPQ_KIND_OTHER)
			assert_headers(&f.pkt, s);
	}
}

static void test_kind_of_every_prefix(void **state)
{
	static const u8 dscps[] = { 10, DSCP_TRIMMED, DSCP_RETURNED };
	const struct ndpq_match *m;
	struct frame_spec s;
	size_t i, j, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		for (j = 0; j < ARRAY_SIZE(protos); j++) {
			for (k = 0; k < 2 * ARRAY_SIZE(dscps); k++) {
				m = k & 1 ? &match_all : &by_port;
				s = spec_of(&stacks[i], protos[j],
					    k & 2 ? 100 : 300);
				s.dscp = dscps[k / 2];
				every_prefix(m, &s);
			}
		}
	}
}

/* A frame that ends early is other traffic, or its kind is unknown. */
static void test_truncated_frame_is_not_ndp(void **state)
{
	struct frame_spec s;
	struct found f;
	size_t i;
	u32 len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		s = spec_of(&stacks[i], PROTO_UDP, 0);
		frame_build(&frame, &s, &rng);
		for (len = 0; len < frame.len; len++) {
			f = classify_part(&by_port, len, len, 0);
			assert_true(!f.decided || f.kind == NDPQ_KIND_OTHER);
			f = classify_part(&match_all, len, len, 0);
			assert_true(!f.decided || f.kind == NDPQ_KIND_OTHER);
		}
		f = classify_part(&by_port, len, len, 0);
		assert_true(f.decided && f.kind != NDPQ_KIND_OTHER);
	}
}

/* A multicast address decides as soon as the Ethernet header is available. */
static void test_multicast_needs_ethernet_header_only(void **state)
{
	struct frame_spec s = plain(true, PROTO_UDP, 100);
	u32 avail;

	(void)state;
	frame_build(&frame, &s, &rng);
	frame.b[0] |= 1;
	for (avail = 0; avail <= frame.len; avail++)
		assert_int_equal(classify_part(&by_port, avail, frame.len, 0).decided,
				 avail >= 14);
}

static int setup_group(void **state)
{
	(void)state;
	rng_seed(&rng, 791);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind_of_all_stacks),
		cmocka_unit_test(test_match_udp_port),
		cmocka_unit_test(test_match_dscp_mask),
		cmocka_unit_test(test_mark_decides_kind_of_short_packet),
		cmocka_unit_test(test_mark_does_not_make_ndp),
		cmocka_unit_test(test_packet_without_ports_is_other),
		cmocka_unit_test(test_fragments_are_other),
		cmocka_unit_test(test_multicast_is_other),
		cmocka_unit_test(test_non_ip_is_other),
		cmocka_unit_test(test_two_vlan_tags_are_skipped),
		cmocka_unit_test(test_jumbogram_is_other),
		cmocka_unit_test(test_five_extension_headers_are_skipped),
		cmocka_unit_test(test_unknown_extension_is_payload),
		cmocka_unit_test(test_long_extension_headers),
		cmocka_unit_test(test_kind_of_every_prefix),
		cmocka_unit_test(test_truncated_frame_is_not_ndp),
		cmocka_unit_test(test_multicast_needs_ethernet_header_only),
	};

	return cmocka_run_group_tests_name("ndp_pkt", tests, setup_group, NULL);
}
