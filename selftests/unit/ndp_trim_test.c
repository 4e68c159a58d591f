// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/ndp/ndpq_pkt.c: each byte of trimmed and returned packets
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ndp_pkt_common.h"

/* ------------------------------------------------ trim */

static u32 expected_keep(u32 trim_size, u32 tag_len, u32 len)
{
	u32 keep = trim_size - tag_len;

	if (keep < frame.l4 + 8)
		keep = frame.l4 + 8;
	return keep < len ? keep : len;
}

/* Lower an expected length field to @covers bytes. Return whether it was more. */
static bool expect_len(u8 *field, u32 covers)
{
	if (get16(field) <= covers)
		return false;
	set16(field, covers);
	return true;
}

/* Set the expected DSCP and a correct header checksum. */
static void expect_dscp(u8 *iph, bool ipv6, u8 dscp)
{
	if (ipv6) {
		iph[0] = 0x60 + dscp / 4;
		iph[1] = dscp % 4 * 64 + iph[1] % 64;
		return;
	}
	iph[1] = dscp * 4 + iph[1] % 4;
	ipv4_fill_check(iph);
}

/* Compute the expected first @keep bytes of the frame after trimming, with match udp_port. */
static void expected_trimmed(u8 *b, const struct frame_spec *s, u32 keep, u8 dscp)
{
	u8 *iph = b + frame.l3;

	memcpy(b, frame.b, keep);
	if (s->ipv6)
		expect_len(iph + 4, keep - frame.l3 - 40);
	else
		expect_len(iph + 2, keep - frame.l3);
	if (s->proto == PROTO_UDP && expect_len(b + frame.l4 + 4, keep - frame.l4))
		set16(b + frame.l4 + 6, 0);
	expect_dscp(iph, s->ipv6, dscp);
}

/* Trim the frame. The core gets only the bytes that it may write. */
static void core_trimmed(u8 *b, const struct frame_spec *s, u32 keep)
{
	struct ndpq_pkt pkt = headers_of(s);
	u8 *head = exact_copy(frame.b, frame.l4 + 8);

	memcpy(b, frame.b, keep);
	assert_int_equal(ndpq_pkt_trimmed(&by_port, &pkt, head, keep), NDPQ_KIND_TRIMMED);
	memcpy(b, head, frame.l4 + 8);
	exact_free(head);
	assert_int_equal(pkt.l3_off, frame.l3);
	assert_int_equal(pkt.l4_off, frame.l4);
}

static void check_trim(const struct frame_spec *s, u32 trim_size, u32 tag_len)
{
	static u8 got[FRAME_MAX], want[FRAME_MAX];
	struct ndpq_match m = by_port;
	struct ndpq_pkt pkt = headers_of(s);
	u32 keep;

	m.trim_size = trim_size;
	pkt.tag_len = (u8)tag_len;
	keep = ndpq_pkt_keep(&m, &pkt, frame.len);
	assert_int_equal(keep, expected_keep(trim_size, tag_len, frame.len));
	if (keep == frame.len)
		return;
	core_trimmed(got, s, keep);
	expected_trimmed(want, s, keep, DSCP_TRIMMED);
	assert_memory_equal(got, want, keep);
}

/* All stacks and protocols, many lengths and trim sizes. */
static void test_trimmed_bytes_of_all_stacks(void **state)
{
	static const u32 trims[] = { 64, 65, 100, 128, 256, 257, 1500, 9000, 9216 };
	size_t i, j, k;
	u32 len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		for (j = 0; j < ARRAY_SIZE(protos); j++) {
			for (len = 60; len <= 9018; len += len < 300 ? 1 : 239) {
				struct frame_spec s = spec_of(&stacks[i], protos[j],
							      len);

				frame_build(&frame, &s, &rng);
				for (k = 0; k < ARRAY_SIZE(trims); k++)
					check_trim(&s, trims[k],
						   len % 3 ? 0 : 4);
			}
		}
	}
}

/* The usual lengths, with constants as expected values. */
static void test_trimmed_usual_frames(void **state)
{
	struct frame_spec s = plain(false, PROTO_UDP, 1514);
	u8 got[FRAME_MAX];

	(void)state;
	s.ecn = 2;
	frame_build(&frame, &s, &rng);
	core_trimmed(got, &s, 128);
	assert_int_equal(got[15], 0xc2);
	assert_int_equal(get16(got + 16), 114);
	assert_true(ipv4_check_valid(got + 14));
	assert_int_equal(get16(got + 34 + 4), 94);
	assert_int_equal(get16(got + 34 + 6), 0);
	assert_memory_equal(got + 42, frame.b + 42, 86);

	s = plain(true, PROTO_UDP, 9018);
	s.ecn = 3;
	frame_build(&frame, &s, &rng);
	core_trimmed(got, &s, 128);
	assert_int_equal(got[14], 0x6c);
	assert_int_equal(got[15] & 0xf0, 0x30);
	assert_int_equal(get16(got + 18), 74);
	assert_int_equal(get16(got + 54 + 4), 74);
}

/* With match dscp and match all, a socket must detect that the packet was cut. */
static void test_match_dscp_and_all_keep_checksum(void **state)
{
	static const u8 modes[] = { TC_NDP_MATCH_DSCP, TC_NDP_MATCH_ALL };
	static const u8 both[] = { PROTO_UDP, PROTO_TCP };
	struct ndpq_match m = match_all;
	struct frame_spec s;
	struct ndpq_pkt pkt;
	u8 check[2];
	u32 i, off;

	(void)state;
	for (i = 0; i < 8; i++) {
		m.mode = modes[i / 4];
		s = plain(i & 1, both[i / 2 % 2], 1514);
		frame_build(&frame, &s, &rng);
		pkt = headers_of(&s);
		off = frame.l4 + (s.proto == PROTO_UDP ? 6 : 16);
		memcpy(check, frame.b + off, 2);
		assert_int_equal(ndpq_pkt_trimmed(&m, &pkt, frame.b, 128), NDPQ_KIND_TRIMMED);
		assert_memory_equal(frame.b + off, check, 2);
	}
}

/* A length field that is too small stays, and padding does not count. */
static void test_small_length_fields_stay(void **state)
{
	static const u32 lies[] = { 1, 7, 8, 19, 20, 47, 48, 60, 73, 74, 75, 93, 94, 95,
				    113, 114, 115, 500, 986, 1000, 0x8000, 0xffff };
	static const u32 sizes[] = { 64, 128, 500 };
	struct frame_spec s;
	size_t i, j;
	int ipv6;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lies) * ARRAY_SIZE(lies); i++) {
		for (ipv6 = 0; ipv6 < 2; ipv6++) {
			s = plain(ipv6, PROTO_UDP, 1000);
			frame_build(&frame, &s, &rng);
			set16(frame.b + frame.l3 + (ipv6 ? 4 : 2),
			      lies[i / ARRAY_SIZE(lies)]);
			set16(frame.b + frame.l4 + 4, lies[i % ARRAY_SIZE(lies)]);
			if (!ipv6)
				ipv4_fill_check(frame.b + frame.l3);
			for (j = 0; j < ARRAY_SIZE(sizes); j++)
				check_trim(&s, sizes[j], 0);
		}
	}
	/* a short packet, padded by the sender to be longer than trim_size */
	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		struct frame_spec stack = { .l2 = L2_ETHER, .ipv6 = ipv6, .pad = 100 };

		s = spec_of(&stack, PROTO_UDP, 190);
		frame_build(&frame, &s, &rng);
		check_trim(&s, 128, 0);
		check_trim(&s, 180, 0);
	}
}

/* A length of zero, as TSO and jumbograms use it, stays. */
static void test_zero_length_fields_stay(void **state)
{
	struct frame_spec s = plain(false, PROTO_UDP, 1000);
	u8 got[FRAME_MAX];

	(void)state;
	frame_build(&frame, &s, &rng);
	set16(frame.b + frame.l3 + 2, 0);
	set16(frame.b + frame.l4 + 4, 0);
	ipv4_fill_check(frame.b + frame.l3);
	core_trimmed(got, &s, 128);
	assert_int_equal(get16(got + frame.l3 + 2), 0);
	assert_int_equal(get16(got + frame.l4 + 4), 0);
	assert_true(ipv4_check_valid(got + frame.l3));
}

/* All values of the IPv4 checksum. 0xffff is equivalent to 0, although no host computes it. */
static void test_header_checksum_is_correct(void **state)
{
	struct frame_spec s = plain(false, PROTO_TCP, 1514);
	u8 *iph = frame.b + 14;
	u8 got[FRAME_MAX];
	u32 id, zeros = 0;

	(void)state;
	frame_build(&frame, &s, &rng);
	for (id = 0; id <= 0xffff; id++) {
		set16(iph + 4, id);
		ipv4_fill_check(iph);
		check_trim(&s, 128, 0);
		if (get16(iph + 10))
			continue;
		zeros++;
		set16(iph + 10, 0xffff);
		assert_true(ipv4_check_valid(iph));
		core_trimmed(got, &s, 128);
		assert_true(ipv4_check_valid(got + 14));
	}
	assert_true(zeros > 0);
}

/* A wrong header checksum stays wrong, by the same difference. */
static void test_wrong_header_checksum_stays_wrong(void **state)
{
	struct frame_spec s = plain(false, PROTO_UDP, 1514);
	u8 *iph = frame.b + 14;
	u8 got[FRAME_MAX];
	u32 check;

	(void)state;
	frame_build(&frame, &s, &rng);
	for (check = 0; check <= 0xffff; check++) {
		set16(iph + 10, check);
		core_trimmed(got, &s, 128);
		assert_int_equal(sum16(got + 14, 20, 0) % 0xffff,
				 sum16(iph, 20, 0) % 0xffff);
		assert_int_equal(ipv4_check_valid(got + 14), ipv4_check_valid(iph));
	}
}

static void check_dscp(const struct frame_spec *s, u8 dscp)
{
	struct ndpq_pkt pkt;
	u8 want[64];
	u8 *b;

	frame_build(&frame, s, &rng);
	memcpy(want, frame.b, frame.l4);
	expect_dscp(want + frame.l3, s->ipv6, dscp);
	b = exact_copy(frame.b, frame.l4);
	pkt = headers_of(s);
	ndpq_pkt_set_dscp(&pkt, b, dscp);
	assert_memory_equal(b, want, frame.l4);
	exact_free(b);
}

/* Only the six bits of the DSCP change. */
static void test_set_dscp_changes_six_bits(void **state)
{
	struct frame_spec s;
	u32 dscps, ecn;

	(void)state;
	for (dscps = 0; dscps < 64 * 64; dscps++) {
		for (ecn = 0; ecn < 8; ecn++) {
			s = plain(ecn / 4, PROTO_UDP, 100);
			s.dscp = (u8)(dscps / 64);
			s.ecn = ecn % 4;
			check_dscp(&s, dscps % 64);
		}
	}
}

/* A trimmed packet is classified as trimmed, and cannot be shortened again. */
static void test_trimmed_packet_is_not_cut_twice(void **state)
{
	struct frame_spec s;
	u8 got[FRAME_MAX];
	struct found f;
	u32 keep;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		s = spec_of(&stacks[i], PROTO_UDP, 2000);
		frame_build(&frame, &s, &rng);
		keep = expected_keep(128, 0, frame.len);
		core_trimmed(got, &s, keep);
		memcpy(frame.b, got, keep);
		f = classify_part(&by_port, keep, keep, 0);
		assert_true(f.decided);
		assert_int_equal(f.kind, NDPQ_KIND_TRIMMED);
		assert_int_equal(f.pkt.l4_off, frame.l4);
		assert_int_equal(ndpq_pkt_keep(&by_port, &f.pkt, keep), keep);
	}
}

/* A port with a smaller trim_size keeps the mark of a returned packet. */
static void test_trim_keeps_mark_of_returned(void **state)
{
	struct frame_spec s = spec_of(&stacks[0], PROTO_UDP, 256);
	u8 want[FRAME_MAX];
	struct ndpq_pkt pkt;

	(void)state;
	s.dscp = DSCP_RETURNED;
	frame_build(&frame, &s, &rng);
	pkt = headers_of(&s);
	expected_trimmed(want, &s, 128, DSCP_RETURNED);
	assert_int_equal(ndpq_pkt_trimmed(&by_port, &pkt, frame.b, 128), NDPQ_KIND_RETURNED);
	assert_memory_equal(frame.b, want, 128);
}

/*
 * The ports identify a returned packet, whatever its mark. So two ports with
 * crossed marks do not return it twice.
 */
static void test_source_port_identifies_returned(void **state)
{
	struct frame_spec s = spec_of(&stacks[0], PROTO_UDP, 1000);
	struct ndpq_match m = by_port;
	struct found f;
	struct ndpq_pkt pkt;

	(void)state;
	s.dscp = DSCP_TRIMMED;
	s.sport = PORT;
	s.dport = 40000;
	frame_build(&frame, &s, &rng);
	pkt = headers_of(&s);
	assert_int_equal(ndpq_pkt_trimmed(&m, &pkt, frame.b, 128), NDPQ_KIND_RETURNED);
	f = classify_part(&m, 128, 128, 0);
	assert_true(f.decided);
	assert_int_equal(f.kind, NDPQ_KIND_RETURNED);
	/* crossed marks */
	m.dscp_trimmed = DSCP_RETURNED;
	m.dscp_returned = DSCP_TRIMMED;
	f = classify_part(&m, 128, 128, 0);
	assert_int_equal(f.kind, NDPQ_KIND_RETURNED);
}

/* ------------------------------------------------ turn round */

/* The source must be unicast, and TTL or hop limit must last for one more hop. */
static void test_returnable_needs_unicast_and_ttl(void **state)
{
	struct frame_spec s;
	struct ndpq_pkt pkt;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		u8 *src, *ttl;

		if (stacks[i].l2 == L2_NONE)
			continue;
		s = spec_of(&stacks[i], PROTO_UDP, 128);
		frame_build(&frame, &s, &rng);
		pkt = headers_of(&s);
		assert_true(ndpq_pkt_returnable(&pkt, frame.b));
		src = frame.b + frame.l3 + (s.ipv6 ? 8 : 12);
		*src = s.ipv6 ? 0xff : 224;
		assert_false(ndpq_pkt_returnable(&pkt, frame.b));
		*src = s.ipv6 ? 0xfe : 223;
		assert_true(ndpq_pkt_returnable(&pkt, frame.b));
		ttl = frame.b + frame.l3 + (s.ipv6 ? 7 : 8);
		*ttl = 2;
		assert_true(ndpq_pkt_returnable(&pkt, frame.b));
		*ttl = 1;
		assert_false(ndpq_pkt_returnable(&pkt, frame.b));
		*ttl = 0;
		assert_false(ndpq_pkt_returnable(&pkt, frame.b));
		*ttl = 255;
		frame.b[6] |= 1;
		assert_false(ndpq_pkt_returnable(&pkt, frame.b));
	}
}

static void swap_fields(u8 *b, u32 at, u32 len)
{
	u8 tmp[16];

	memcpy(tmp, b + at, len);
	memcpy(b + at, b + at + len, len);
	memcpy(b + at + len, tmp, len);
}

static void expected_turned(u8 *b, const struct frame_spec *s, u8 dscp)
{
	u8 *iph = b + frame.l3;

	memcpy(b, frame.b, frame.len);
	swap_fields(b, 0, 6);
	swap_fields(iph, s->ipv6 ? 8 : 12, s->ipv6 ? 16 : 4);
	if (s->proto == PROTO_UDP || s->proto == PROTO_TCP)
		swap_fields(b, frame.l4, 2);
	iph[s->ipv6 ? 7 : 8]--;
	expect_dscp(iph, s->ipv6, dscp);
}

/* Turn the frame round. The core gets only the bytes that it may write. */
static void turn(const struct frame_spec *s, u8 dscp)
{
	struct ndpq_pkt pkt = headers_of(s);
	u8 *head = exact_copy(frame.b, frame.l4 + 8);

	ndpq_pkt_turn_round(&pkt, head, dscp);
	memcpy(frame.b, head, frame.l4 + 8);
	exact_free(head);
}

static void check_turn(const struct frame_spec *s)
{
	static u8 want[FRAME_MAX], original[FRAME_MAX];
	struct found f;

	frame_build(&frame, s, &rng);
	memcpy(original, frame.b, frame.len);
	expected_turned(want, s, DSCP_RETURNED);
	turn(s, DSCP_RETURNED);
	assert_memory_equal(frame.b, want, frame.len);
	if (!s->ipv6)
		assert_true(ipv4_check_valid(frame.b + frame.l3));
	if (s->proto == PROTO_UDP ||
	    (s->proto == PROTO_TCP && frame.len >= frame.l4 + 20))
		assert_int_equal(frame_l4_sum(&frame, s), 0xffff);

	f = classify_part(&match_all, frame.len, frame.len, 0);
	assert_true(f.decided);
	assert_int_equal(f.kind, s->len <= 128 || s->len <= frame.l4 + 8 ?
				 NDPQ_KIND_RETURNED : NDPQ_KIND_DATA);

	/* turned again: the original, two hops later */
	turn(s, s->dscp);
	original[frame.l3 + (s->ipv6 ? 7 : 8)] -= 2;
	if (!s->ipv6)
		ipv4_fill_check(original + frame.l3);
	assert_memory_equal(frame.b, original, frame.len);
}

/* Turning swaps source and destination. Turning twice restores all fields except TTL. */
static void test_turn_round_swaps_ends(void **state)
{
	static const u32 lens[] = { 60, 128, 129, 1514 };
	struct frame_spec s;
	size_t i, j, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		if (stacks[i].l2 == L2_NONE)
			continue;
		for (j = 0; j < ARRAY_SIZE(protos); j++) {
			for (k = 0; k < ARRAY_SIZE(lens); k++) {
				s = spec_of(&stacks[i], protos[j], lens[k]);
				s.dscp = DSCP_TRIMMED;
				check_turn(&s);
			}
		}
	}
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
		cmocka_unit_test(test_trimmed_bytes_of_all_stacks),
		cmocka_unit_test(test_trimmed_usual_frames),
		cmocka_unit_test(test_match_dscp_and_all_keep_checksum),
		cmocka_unit_test(test_small_length_fields_stay),
		cmocka_unit_test(test_zero_length_fields_stay),
		cmocka_unit_test(test_header_checksum_is_correct),
		cmocka_unit_test(test_wrong_header_checksum_stays_wrong),
		cmocka_unit_test(test_set_dscp_changes_six_bits),
		cmocka_unit_test(test_trimmed_packet_is_not_cut_twice),
		cmocka_unit_test(test_trim_keeps_mark_of_returned),
		cmocka_unit_test(test_source_port_identifies_returned),
		cmocka_unit_test(test_returnable_needs_unicast_and_ttl),
		cmocka_unit_test(test_turn_round_swaps_ends),
	};

	return cmocka_run_group_tests_name("ndp_trim", tests, setup_group, NULL);
}
