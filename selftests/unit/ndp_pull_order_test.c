// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/pull.h: the order of pulls
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ndp_pull_port.h"

static void test_fair(void **state)
{
	static const u32 who[] = { 0, 1, 2, 0, 1, 2, 1, 2, 2, NODES };

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 2);
	wish(1, 3);
	wish(2, 4);
	assert_pulls(who, 10);
}

/* A later flow has its turn in the present round, after the flows that wait. */
static void test_fair_later(void **state)
{
	static const u32 who[] = { 2, 0, 1, 2, 0 };

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 9);
	wish(1, 9);
	assert_int_equal(pull(), 0);
	wish(2, 9);
	/* and a flow with more demand keeps its turn */
	ask(0, 12);
	ask(1, 12);
	assert_int_equal(pull(), 1);
	assert_pulls(who, 5);
}

/* Packets of the first windows count: in the end all flows have the same. */
static void test_fair_unasked(void **state)
{
	static const u32 who[] = { 2, 2, 2, 1, 2, 1, 2, 1, 0, 2, NODES };

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	unasked(0, 5, false);
	unasked(1, 3, false);
	unasked(1, 3, true);
	unasked(0, 1, true);
	unasked(2, 6, true);
	assert_pulls(who, 11);
}

/* A packet that is pushed again does not count as a turn: it was not pulled. */
static void test_fair_pushed(void **state)
{
	static const u32 who[] = { 1, 1, 1, 0, 1, 0, 1, NODES };

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	unasked(0, 5, true);
	unasked(1, 5, true);
	for (u32 k = 0; k < 3; k++) {
		arrive(0, 0, 0, MTU, false);
		n[0].target--;
	}
	assert_pulls(who, 8);
	/* a pulled packet does not count again when it arrives */
	for (u32 k = 0; k < 5; k++)
		arrive(1, 0, 0, MTU, false);
	ask(0, 3);
	ask(1, 6);
	assert_int_equal(n[1].round, n[0].round);
	arrive(1, 0, 0, MTU, false);
	assert_int_equal(n[1].round, n[0].round + 1);
}

/* A flow that begins after other flows were served for long does not wait for its first window. */
static void test_fair_joins(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	ask(0, 100);
	for (k = 0; k < ROUNDS; k++)
		assert_int_equal(pull(), 0);
	unasked(1, 20, false);
	ask(1, 100);
	for (k = 0; k < 10; k++) {
		assert_int_equal(pull(), 1);
		assert_int_equal(pull(), 0);
	}
	/* the link was idle, and earlier turns do not count */
	ndp_pull_flush(&q, &n[0]);
	ndp_pull_flush(&q, &n[1]);
	now_ns = q.next_ns + 1;
	unasked(2, 2, false);
	ask(2, n[2].granted + 3);
	ask(0, n[0].granted + 5);
	ask(3, 5);
	assert_int_equal(pull(), 3);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 3);
	assert_int_equal(pull(), 2);
}

/* However much it sent unasked, it waits for fewer than ROUNDS rounds. */
static void test_fair_most(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	unasked(0, 1000, false);
	ask(0, 10);
	ask(1, 1000);
	for (k = 1; k < ROUNDS; k++)
		assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 0);
	/* a flow that has all is behind by its last turn at most */
	unasked(0, 1000, false);
	ndp_pull_flush(&q, &n[0]);
	ask(0, n[0].granted + 10);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 0);
}

static void test_fifo(void **state)
{
	static const u32 who[] = { 0, 0, 1, 1, 1, 2, NODES };

	(void)state;
	open_queue(NDP_PULL_FIFO, 0);
	wish(0, 2);
	wish(1, 3);
	wish(2, 1);
	assert_pulls(who, 7);
}

static void test_srpt(void **state)
{
	static const u32 who[] = { 2, 1, 1, 3, 3, 3, 0, 0 };

	(void)state;
	open_queue(NDP_PULL_SRPT, 0);
	wish(0, 4);
	wish(1, 2);
	wish(2, 1);
	wish(3, 3);
	assert_pulls(who, 8);
	/* the remaining bytes count, not the message; among equals, the first flow */
	wish(1, 4);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), NODES);
}

/* A flow with little demand now, but a long rest of its message, does not have the least. */
static void test_srpt_more(void **state)
{
	static const u32 who[] = { 2, 2, 1, 0, NODES };
	const struct ndp_hdr again = {
		.type = NDP_DATA, .flags = NDP_DATA_RTX, .payload_len = MTU, .data.msg_len = MTU,
	};

	(void)state;
	open_queue(NDP_PULL_SRPT, 0);
	arrive_of(0, 1, 0, MTU, false, NDP_MSG_MAX - MTU);
	arrive_of(1, 1, 0, MTU, false, 3 * MTU);
	arrive_of(2, 2, 0, MTU, false, MTU);
	/* a retransmission does not show the unsent rest */
	ndp_pull_arrived(&q, &n[0], &again, 0, false, now_ns);
	assert_pulls(who, 5);
}

/* In srpt, one turn in NDP_PULL_OLDEST is of the flow that has waited longest. */
static void test_srpt_oldest(void **state)
{
	u32 i, met[3] = { };

	(void)state;
	open_queue(NDP_PULL_SRPT, 0);
	wish(1, 300);
	wish(2, 400);
	wish(0, 200);
	for (i = 0; i < 3 * NDP_PULL_OLDEST; i++)
		met[pull()]++;
	assert_int_equal(met[0], 3 * (NDP_PULL_OLDEST - 1));
	assert_int_equal(met[1], 2);
	assert_int_equal(met[2], 1);
}

/* In srpt, flows whose packets find no room are pulled after those that hold it. */
static void test_srpt_full(void **state)
{
	static const u32 who[] = { 1, 1, 0, 2, NODES };

	(void)state;
	open_queue(NDP_PULL_SRPT, 0);
	n[0].full = true;
	wish(0, 1);
	n[2].full = true;
	wish(2, 1);
	wish(1, 2);
	assert_pulls(who, 5);
}

/* In srpt, an unverified flow is pulled once in order; then it waits for all verified flows. */
static void test_srpt_unverified(void **state)
{
	static const u32 who[] = { 0, 1, 1, 1, 1, 1, 0, NODES };

	(void)state;
	open_queue(NDP_PULL_SRPT, 0);
	n[0].unverified = true;
	arrive_of(0, 2, 0, MTU, false, 0);
	arrive_of(1, 5, 0, MTU, false, 0);
	assert_pulls(who, 8);
}

/* A flow that is served keeps its place, although it has no wish for a moment, if it goes on. */
static void test_fifo_goes_on(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FIFO, 0);
	arrive_of(0, 1, 0, MTU, false, 10 * MTU);
	arrive_of(1, 2, 0, MTU, false, 10 * MTU);
	wish(2, 1);
	assert_int_equal(pull(), 0);
	/* the second is served meanwhile, and the first comes back before it, as it was */
	assert_int_equal(pull(), 1);
	arrive_of(0, 2, 0, MTU, false, 9 * MTU);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 1);
	arrive_of(1, 3, 0, MTU, false, 9 * MTU);
	arrive_of(0, 3, 0, MTU, false, MTU);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 2);
	assert_int_equal(pull(), NODES);
	/* a flow that has sent all of its message begins again as the last one */
	arrive_of(0, 4, 0, MTU, false, 0);
	assert_int_equal(pull(), 0);
	wish(2, 2);
	arrive_of(0, 5, 0, MTU, false, MTU);
	assert_int_equal(pull(), 2);
	assert_int_equal(pull(), 0);
}

static void test_prios(void **state)
{
	static const enum ndp_pull_policy policies[] = {
		NDP_PULL_FAIR, NDP_PULL_FIFO, NDP_PULL_SRPT,
	};
	static const u32 who[] = { 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0, NODES };
	u32 i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		open_queue(policies[i], 0);
		for (k = 0; k < NDP_PRIOS; k++)
			arrive(k, 2, k, MTU, false);
		assert_pulls(who, 17);
		/* the priority of a flow that waits changes */
		arrive(0, 4, 3, MTU, false);
		arrive(1, 4, 4, MTU, false);
		arrive(0, 4, 5, MTU, false);
		assert_int_equal(pull(), 0);
		arrive(0, 4, 0, MTU, false);
		assert_int_equal(pull(), 1);
		assert_int_equal(pull(), 1);
		assert_int_equal(pull(), 0);
		assert_int_equal(pull(), NODES);
	}
}

/* With each policy, the first pull of an unverified flow has its priority; later ones have 0. */
static void test_unverified_prio(void **state)
{
	static const u32 who[] = { 0, 1, 1, 1 };
	u32 policy, i;

	(void)state;
	for (policy = NDP_PULL_FAIR; policy <= NDP_PULL_SRPT; policy++) {
		open_queue(policy, 0);
		n[0].unverified = true;
		arrive(1, 3, 1, MTU, false);
		arrive(2, 2, 0, MTU, false);
		arrive(0, 4, 3, MTU, false);
		for (i = 0; i < 4; i++)
			assert_int_equal(pull(), who[i]);
		/* a packet that arrives does not raise it again */
		arrive(0, 5, 3, MTU, false);
		arrive(1, 4, 1, MTU, false);
		assert_int_equal(n[0].prio, 0);
		assert_int_equal(pull(), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_fair_later),
		cmocka_unit_test(test_fair_unasked),
		cmocka_unit_test(test_fair_pushed),
		cmocka_unit_test(test_fair_joins),
		cmocka_unit_test(test_fair_most),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_srpt),
		cmocka_unit_test(test_srpt_more),
		cmocka_unit_test(test_srpt_oldest),
		cmocka_unit_test(test_srpt_full),
		cmocka_unit_test(test_srpt_unverified),
		cmocka_unit_test(test_fifo_goes_on),
		cmocka_unit_test(test_prios),
		cmocka_unit_test(test_unverified_prio),
	};

	return cmocka_run_group_tests_name("ndp_pull_order", tests, NULL, NULL);
}
