// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/nicq.h: the order of a host's flows at a link
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/nicq.h"
#include "../../net/ndp/pull.h"
#include "rng.h"

#define NODES	40U
#define RATE	1250000000ULL	/* 10 Gbit/s: 0.8 ns a byte */
#define START	1000000000ULL
#define PACKET	9000U		/* bytes: 7200 ns */
#define PACKET_NS	7200U

static struct ndp_nicq q;
static struct ndp_nicq_node n[NODES];
static u64 now_ns;

static void open_link(void)
{
	u32 i;

	now_ns = START;
	ndp_nicq_init(&q, now_ns);
	ndp_nicq_rate(&q, RATE);
	for (i = 0; i < NODES; i++) {
		n[i] = (struct ndp_nicq_node) {};
		INIT_LIST_HEAD(&n[i].age);
	}
}

static bool take(u32 i, u64 rest)
{
	return ndp_nicq_take(&q, &n[i], ndp_nicq_key(NDP_PULL_SRPT, 0, rest), PACKET, now_ns);
}

/* The timer expires when it is due. Return: the flow that it chooses */
static u32 wake(void)
{
	u64 due = ndp_nicq_next_ns(&q);
	struct ndp_nicq_node *chosen;

	assert_true(due != U64_MAX);
	if (due > now_ns) {
		now_ns = due - 1;
		assert_null(ndp_nicq_next(&q, now_ns));
		now_ns = due;
	}
	chosen = ndp_nicq_next(&q, now_ns);
	assert_non_null(chosen);
	assert_false(chosen->queued);
	return (u32)(chosen - n);
}

/* Packets are passed on until more than NDP_NICQ_NS of them wait at the NIC. */
static void test_due(void **state)
{
	u64 sent = 0;

	(void)state;
	open_link();
	assert_true(ndp_nicq_next_ns(&q) == U64_MAX);
	while (take(0, 1000000))
		sent++;
	assert_int_equal(sent, NDP_NICQ_NS / PACKET_NS + 1);
	/* times are rounded down */
	assert_in_range(ndp_nicq_next_ns(&q) + NDP_NICQ_NS, START + sent * PACKET_NS - 1,
			START + sent * PACKET_NS);
	assert_int_equal(wake(), 0);
	assert_true(take(0, 1000000));
	assert_false(take(0, 1000000));
}

/* A saturated link carries its rate exactly. An idle link saves up no permission. */
static void test_rate(void **state)
{
	u64 packets = 0;

	(void)state;
	open_link();
	now_ns += 12345678;
	while (packets < 100000) {
		while (take(0, 1))
			packets++;
		assert_int_equal(wake(), 0);
	}
	/* 2^-20 ns a byte */
	packets *= PACKET_NS;
	assert_in_range(q.idle_ns - START - 12345678, packets - packets / 500000, packets);
}

/* The flow with the least remaining bytes is first, even if it comes last. */
static void test_srpt(void **state)
{
	(void)state;
	open_link();
	while (take(0, 900000))
		;
	assert_false(take(1, 500000));
	assert_false(take(2, 700000));
	/* not yet due, so a short one waits as well */
	assert_false(take(3, 100));
	assert_int_equal(wake(), 3);
	assert_true(take(3, 100));
	ndp_nicq_leave(&q, &n[3]);
	assert_int_equal(wake(), 1);
	assert_true(take(1, 500000));
	/* its rest has grown: there is a message before it */
	assert_false(take(1, 800000));
	assert_int_equal(wake(), 2);
	assert_true(take(2, 700000));
	now_ns += PACKET_NS;
	/* due, but longer than the flows that wait */
	assert_false(take(4, 900001));
	assert_true(take(5, 100));
}

/* A flow that waits moves when its place changes. */
static void test_move(void **state)
{
	(void)state;
	open_link();
	while (take(0, 10))
		;
	assert_false(take(1, 30));
	assert_false(take(2, 20));
	assert_false(take(1, 15));
	assert_false(take(0, 40));
	assert_int_equal(wake(), 1);
	assert_true(take(1, 15));
	assert_int_equal(wake(), 2);
	assert_true(take(2, 20));
	assert_int_equal(wake(), 0);
}

/* Priority goes before length, and does not depend on the policy. */
static void test_prio(void **state)
{
	(void)state;
	assert_true(ndp_nicq_key(NDP_PULL_SRPT, 7, NDP_MSG_MAX) <
		    ndp_nicq_key(NDP_PULL_SRPT, 6, 1));
	assert_true(ndp_nicq_key(NDP_PULL_SRPT, 0, 5) > ndp_nicq_key(NDP_PULL_SRPT, 0, 4));
	assert_true(ndp_nicq_key(NDP_PULL_SRPT, 1, U64_MAX) <
		    ndp_nicq_key(NDP_PULL_SRPT, 0, 0));
	assert_int_equal(ndp_nicq_key(NDP_PULL_FAIR, 3, 5), ndp_nicq_key(NDP_PULL_FAIR, 3, 9));
	assert_true(ndp_nicq_key(NDP_PULL_FAIR, 4, 5) < ndp_nicq_key(NDP_PULL_FAIR, 3, 5));
}

/* Fair: flows send a packet each in turn. */
static void test_fair(void **state)
{
	const u64 key = ndp_nicq_key(NDP_PULL_FAIR, 0, 5);
	u32 i, chosen;

	(void)state;
	open_link();
	for (i = 0; i < 3; i++)
		while (ndp_nicq_take(&q, &n[i], key, PACKET, now_ns))
			;
	for (i = 0; i < 300; i++) {
		chosen = wake();
		assert_int_equal(chosen, i % 3);
		assert_true(ndp_nicq_take(&q, &n[chosen], key, PACKET, now_ns));
		assert_false(ndp_nicq_take(&q, &n[chosen], key, PACKET, now_ns));
	}
}

/* A long message has its share, however many short ones there are. */
static void test_oldest(void **state)
{
	u32 i, chosen, sent[3] = {};

	(void)state;
	open_link();
	while (take(0, 100))
		;
	assert_false(take(1, 1000000));
	assert_false(take(2, 2000000));
	for (i = 0; i < 1600; i++) {
		chosen = wake();
		sent[chosen]++;
		assert_true(take(chosen, chosen ? chosen * 1000000 : 100));
		assert_false(take(chosen, chosen ? chosen * 1000000 : 100));
	}
	assert_in_range(sent[1], 1600 / NDP_NICQ_OLDEST / 2 - 1, 1600 / NDP_NICQ_OLDEST / 2 + 1);
	assert_in_range(sent[2], 1600 / NDP_NICQ_OLDEST / 2 - 1, 1600 / NDP_NICQ_OLDEST / 2 + 1);
}

/* A flow of a high priority that always has a packet leaves a share to the other ones. */
static void test_oldest_prio(void **state)
{
	u32 sent[2] = {}, i, chosen;

	(void)state;
	open_link();
	while (ndp_nicq_take(&q, &n[0], ndp_nicq_key(NDP_PULL_FAIR, 7, 1), PACKET, now_ns))
		;
	assert_false(ndp_nicq_take(&q, &n[1], ndp_nicq_key(NDP_PULL_FAIR, 0, 1), PACKET, now_ns));
	for (i = 0; i < 10 * NDP_NICQ_OLDEST; i++) {
		u64 key;

		chosen = wake();
		sent[chosen]++;
		key = ndp_nicq_key(NDP_PULL_FAIR, chosen ? 0 : 7, 1);
		assert_true(ndp_nicq_take(&q, &n[chosen], key, PACKET, now_ns));
		assert_false(ndp_nicq_take(&q, &n[chosen], key, PACKET, now_ns));
	}
	assert_int_equal(sent[1], 10);
}

/* Packets that are sent without waiting delay waiting flows. */
static void test_charge(void **state)
{
	u64 due;

	(void)state;
	open_link();
	while (take(0, 100))
		;
	due = ndp_nicq_next_ns(&q);
	ndp_nicq_charge(&q, 1000);
	ndp_nicq_charge(&q, 250);
	assert_int_equal(ndp_nicq_next_ns(&q), due + 1000);
}

static void test_leave(void **state)
{
	(void)state;
	open_link();
	while (take(0, 100))
		;
	assert_false(take(1, 200));
	ndp_nicq_leave(&q, &n[0]);
	ndp_nicq_leave(&q, &n[0]);
	assert_true(list_is_singular(&q.ages));
	assert_int_equal(wake(), 1);
	/* its packet was given up: its turn is over as well */
	ndp_nicq_leave(&q, &n[1]);
	assert_false(n[1].turn);
	assert_true(ndp_nicq_next_ns(&q) == U64_MAX);
	assert_null(ndp_nicq_drain(&q));
	while (take(0, 100))
		;
	assert_false(take(1, 200));
	assert_ptr_equal(ndp_nicq_drain(&q), &n[0]);
	assert_ptr_equal(ndp_nicq_drain(&q), &n[1]);
	assert_null(ndp_nicq_drain(&q));
	assert_true(list_empty(&q.ages));
}

/* Whatever flows do, the least is chosen, and NDP_NICQ_NS and a packet are the most at the NIC. */
static void test_random(void **state)
{
	struct rng rng;
	u64 rest[NODES] = {}, least;
	u32 step, i, chosen, turns = 0;

	(void)state;
	open_link();
	rng_seed(&rng, 1);
	for (step = 0; step < 200000; step++) {
		i = rng_u32(&rng) % NODES;
		switch (rng_u32(&rng) % 4) {
		case 0:
			ndp_nicq_leave(&q, &n[i]);
			break;
		case 1:
			now_ns += rng_u32(&rng) % 20000;
			break;
		case 2:
			rest[i] = rng_u32(&rng) % 1000000;
			take(i, rest[i]);
			break;
		default:
			if (list_empty(&q.ages))
				break;
			for (least = U64_MAX, i = 0; i < NODES; i++)
				if (n[i].queued)
					least = min_t(u64, least, n[i].key & ((1ULL << 60) - 1));
			chosen = wake();
			if (q.packets % NDP_NICQ_OLDEST)
				assert_int_equal(rest[chosen], least);
			assert_true(take(chosen, rest[chosen]));
			turns++;
		}
		assert_true(q.idle_ns <= now_ns + NDP_NICQ_NS + PACKET_NS);
	}
	assert_true(turns > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_srpt),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_prio),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_oldest_prio),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
