// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_seq.c: new bytes, retransmissions and offsets, anywhere in the sequence
 * number space
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_seq.h"
#include "rng.h"

#define PKT	1000

/* Begin a flow of @bytes at @first. */
static struct pcrp_seq flow(u32 first, u32 bytes)
{
	struct pcrp_seq s = {};

	assert_int_equal(pcrp_seq_add(&s, first, bytes, false, true), bytes);
	assert_int_equal(s.first, first);
	return s;
}

/* Numbers at which flows begin: some wrap around */
static const u32 firsts[] = {
	0, 1, UINT32_MAX, UINT32_MAX - PKT, UINT32_MAX - PKT + 1, UINT32_MAX - PKT + 2,
	UINT32_MAX - PKT / 2, 1U << 31, (1U << 31) - PKT, (1U << 30) + 5,
};

#define FIRSTS	(sizeof(firsts) / sizeof(firsts[0]))

/* New bytes count, with lost ones before them, and overlapping ones do not. */
static void test_new(void **state)
{
	struct pcrp_seq s;
	u32 i, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		s = flow(firsts[i], PKT);
		next = firsts[i] + PKT;
		assert_false(pcrp_seq_is_retrans(&s, next, 1, false));
		assert_int_equal(pcrp_seq_add(&s, next, 500, false, false), 500);
		assert_int_equal(pcrp_seq_add(&s, next + 400, 200, false, false), 100);
		assert_int_equal(pcrp_seq_add(&s, next + 700, 50, false, false), 150);
		assert_int_equal(s.next, next + 750);
		assert_int_equal(pcrp_seq_at(&s, PKT + 750), s.next);
	}
}

/* A packet within the last window that was queued before is a retransmission. */
static void test_retrans(void **state)
{
	struct pcrp_seq s, before;
	u32 i, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		s = flow(firsts[i], 2 * PKT);
		before = s;
		next = s.next;
		assert_true(pcrp_seq_is_retrans(&s, next - PKT, PKT, false));
		assert_true(pcrp_seq_is_retrans(&s, firsts[i], 1, false));
		assert_true(pcrp_seq_is_retrans(&s, next - PCRP_SEQ_WINDOW - 1, 1, false));
		assert_false(pcrp_seq_is_retrans(&s, next - PCRP_SEQ_WINDOW - 2, 1, false));
		assert_false(pcrp_seq_is_retrans(&s, next - PKT, PKT + 1, false));
		assert_int_equal(pcrp_seq_add(&s, next - PKT, PKT, false, false), 0);
		/* it starts no flow either */
		assert_int_equal(pcrp_seq_add(&s, next - PKT, PKT, false, true), 0);
		assert_memory_equal(&s, &before, sizeof(s));
	}
}

/* The first packet of a connection is no retransmission. */
static void test_unknown(void **state)
{
	struct pcrp_seq s = {};
	u32 i;

	(void)state;
	for (i = 0; i < FIRSTS; i++)
		assert_false(pcrp_seq_is_retrans(&s, firsts[i], PKT, true));
}

/* A FIN takes a sequence number, but adds no byte, and may be retransmitted. */
static void test_fin(void **state)
{
	struct pcrp_seq s;
	u32 i, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		/* alone, and behind data */
		s = flow(firsts[i], PKT);
		next = s.next;
		assert_false(pcrp_seq_is_retrans(&s, next, 0, true));
		assert_int_equal(pcrp_seq_add(&s, next, 0, true, false), 0);
		assert_int_equal(s.next, next + 1);
		assert_true(pcrp_seq_is_retrans(&s, next, 0, true));
		assert_true(pcrp_seq_is_retrans(&s, next - PKT, PKT, true));

		s = flow(firsts[i], PKT);
		assert_int_equal(pcrp_seq_add(&s, next, 7, true, false), 7);
		assert_int_equal(s.next, next + 8);
		assert_true(pcrp_seq_is_retrans(&s, next, 7, true));

		/* with retransmitted data, only the FIN is new */
		s = flow(firsts[i], PKT);
		assert_false(pcrp_seq_is_retrans(&s, firsts[i], PKT, true));
		assert_int_equal(pcrp_seq_add(&s, firsts[i], PKT, true, false), 0);
		assert_int_equal(s.next, next + 1);
	}
}

/* A keep-alive probe with a byte is a retransmission; one without is an ACK. */
static void test_keepalive(void **state)
{
	struct pcrp_seq s, before;
	u32 i;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		s = flow(firsts[i], PKT);
		before = s;
		assert_true(pcrp_seq_is_retrans(&s, s.next - 1, 1, false));
		assert_int_equal(pcrp_seq_add(&s, s.next - 1, 1, false, true), 0);
		assert_false(pcrp_seq_is_retrans(&s, s.next - 1, 0, false));
		assert_int_equal(pcrp_seq_add(&s, s.next - 1, 0, false, true), 0);
		assert_memory_equal(&s, &before, sizeof(s));
	}
}

/* A RST with any sequence number keeps its place and the flow's state. */
static void test_rst(void **state)
{
	struct pcrp_seq s, before;
	struct rng rng;
	u32 i, seq;

	(void)state;
	rng_seed(&rng, 3);
	s = flow(UINT32_MAX - 5, PKT);
	before = s;
	for (i = 0; i < 10000; i++) {
		seq = rng_u32(&rng);
		assert_false(pcrp_seq_is_retrans(&s, seq, 0, false));
		assert_int_equal(pcrp_seq_add(&s, seq, 0, false, i & 1), 0);
	}
	assert_memory_equal(&s, &before, sizeof(s));
}

/* The next flow of a connection begins with its first new byte. */
static void test_next_flow(void **state)
{
	struct pcrp_seq s;
	u32 i, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		s = flow(firsts[i], PKT);
		next = s.next;
		assert_int_equal(pcrp_seq_add(&s, next, PKT, false, true), PKT);
		assert_int_equal(s.first, next);

		next = s.next;
		assert_int_equal(pcrp_seq_add(&s, next - 400, PKT, false, true), PKT - 400);
		assert_int_equal(s.first, next);
		assert_int_equal(pcrp_seq_at(&s, PKT - 400), s.next);

		/* bytes lost before it are not part of it */
		next = s.next;
		assert_int_equal(pcrp_seq_add(&s, next + 300, PKT, false, true), PKT);
		assert_int_equal(s.first, next + 300);
	}
}

/* Another connection with the same ports is recognised, with and without its SYN. */
static void test_other_connection(void **state)
{
	static const s32 isn[] = { -1, -100000, 100000, INT32_MIN, INT32_MAX };
	struct pcrp_seq s, t;
	u32 i, j, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		for (j = 0; j < sizeof(isn) / sizeof(isn[0]); j++) {
			s = flow(firsts[i], PKT);
			next = s.next + (u32)isn[j];
			pcrp_seq_forget(&s);
			t = s;
			assert_false(pcrp_seq_is_retrans(&s, next, PKT, false));
			assert_int_equal(pcrp_seq_add(&s, next, PKT, false, true), PKT);
			assert_int_equal(s.first, next);
			/* offsets of an unfinished flow go on */
			assert_int_equal(pcrp_seq_add(&t, next, PKT, false, false), PKT);
			assert_int_equal(pcrp_seq_at(&t, PKT), next);
			assert_int_equal(pcrp_seq_at(&t, 2 * PKT), t.next);
		}
		s = flow(firsts[i], PKT);
		next = s.next + PCRP_SEQ_WINDOW + 1;
		assert_int_equal(pcrp_seq_add(&s, next, PKT, false, false), PKT);
		assert_int_equal(pcrp_seq_at(&s, PKT), next);
		next = s.next - PCRP_SEQ_WINDOW - 2;
		assert_int_equal(pcrp_seq_add(&s, next, 1, false, false), 1);
		assert_int_equal(pcrp_seq_at(&s, 2 * PKT + 1), s.next);
	}
}

/* Offsets are right in a flow of 20 GB, with losses and retransmissions. */
static void test_wrap(void **state)
{
	u64 offset = 0, retrans = 0, isn = UINT32_MAX - 12345;
	struct pcrp_seq s = {};
	struct rng rng;
	u32 bytes, lost;

	(void)state;
	rng_seed(&rng, 1);
	while (offset < 20000000000ULL) {
		bytes = rng_in(&rng, 1, 65000);
		lost = rng_percent(&rng, 99) || !offset ? 0 : rng_in(&rng, 1, 1 << 20);
		assert_int_equal(pcrp_seq_add(&s, (u32)(isn + offset + lost), bytes, false,
					      !offset), bytes + lost);
		offset += bytes + lost;
		assert_int_equal(pcrp_seq_at(&s, offset), s.next);
		assert_int_equal(s.next, (u32)(isn + offset));
		bytes = min_t(u64, offset, bytes);
		lost = rng_in(&rng, 0, min_t(u64, offset - bytes, 1 << 28));
		assert_true(pcrp_seq_is_retrans(&s, s.next - bytes - lost, bytes, false));
		retrans++;
	}
	assert_true(retrans > 100000);
}

/* Unsent bytes are those beyond the packets queued here and beyond those ever sent. */
static void test_unsent(void **state)
{
	struct pcrp_seq s;
	u32 i, next;

	(void)state;
	for (i = 0; i < FIRSTS; i++) {
		s = flow(firsts[i], PKT);
		next = s.next;
		/* TCP counts a packet as sent when it has been queued */
		assert_int_equal(pcrp_seq_unsent(&s, next + 5, next - PKT, false), 5);
		assert_int_equal(pcrp_seq_unsent(&s, next, next, false), 0);
		/* a FIN in the socket, and one that was sent */
		assert_int_equal(pcrp_seq_unsent(&s, next + 6, next, true), 5);
		assert_int_equal(pcrp_seq_unsent(&s, next, next, true), 0);
		/* if the first packet here is a retransmission, most bytes are in flight */
		assert_int_equal(pcrp_seq_unsent(&s, next + 50 * PKT, next + 40 * PKT, false),
				 10 * PKT);
		/* another connection begins */
		pcrp_seq_forget(&s);
		assert_int_equal(pcrp_seq_unsent(&s, next - PKT / 2, next - PKT, false),
				 PKT / 2);
	}
}

/* A packet at the next new byte has the same effect by both functions. */
static void test_continue(void **state)
{
	struct pcrp_seq a = {}, b = {};

	(void)state;
	assert_false(pcrp_seq_continue(&a, 0, 100, false));	/* no number is known */
	assert_int_equal(pcrp_seq_add(&a, 0xfffffff0, 100, false, true), 100);
	b = a;
	assert_true(pcrp_seq_continue(&a, 84, 100, false));
	assert_int_equal(pcrp_seq_add(&b, 84, 100, false, false), 100);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_false(pcrp_seq_continue(&a, 84, 100, false));	/* a retransmission */
	assert_false(pcrp_seq_continue(&a, 185, 100, false));	/* behind a loss */
	assert_memory_equal(&a, &b, sizeof(a));
	pcrp_seq_forget(&a);
	assert_false(pcrp_seq_continue(&a, 184, 100, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_retrans),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_fin),
		cmocka_unit_test(test_keepalive),
		cmocka_unit_test(test_rst),
		cmocka_unit_test(test_next_flow),
		cmocka_unit_test(test_other_connection),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_unsent),
		cmocka_unit_test(test_continue),
	};

	return cmocka_run_group_tests_name("pcrp_seq", tests, NULL, NULL);
}
