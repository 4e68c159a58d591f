// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/pull.h: when flows are pulled, and how often; and all of it, beside a model
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ndp_pull_port.h"
#include "rng.h"

/* ---- demand */

static void test_target(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 3);
	/* an older packet has less demand */
	wish(0, 2);
	assert_int_equal(n[0].target, 3);
	arrive(0, 3, 0, MTU, true);
	assert_int_equal(n[0].target, 4);
	/* the sender has counted the NACK as well */
	wish(0, 4);
	assert_int_equal(n[0].target, 4);
	/* a header of 16 bytes has no demand and no priority */
	arrive(0, 0, 3, MTU, false);
	ndp_pull_arrived(&q, &n[0], &(struct ndp_hdr) { .is_short = true, .payload_len = 10 },
			 0, true, now_ns);
	assert_int_equal(n[0].target, 5);
	assert_int_equal(n[0].prio, 3);
}

/* All numbers wrap around. */
static void test_wrap(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	n[0].target = 0xfffffff0;
	n[0].granted = 0xfffffff0;
	n[0].seen = 0xfffffff0;
	wish(0, 0x10);
	for (k = 0; k < 0x20; k++)
		assert_int_equal(pull(), 0);
	assert_int_equal(n[0].granted, 0x10);
	assert_int_equal(pull(), NODES);
}

/* The boldest wish */
static void test_cut(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 0x80000001);
	assert_int_equal(n[0].target, 0);
	wish(0, 0x7fffffff);
	assert_int_equal(n[0].target, DEMAND_MAX);
	assert_true(q.stats.cut == 1);
	for (k = 0; k < 10; k++)
		arrive(0, 0x7fffffff, 0, MTU, true);
	assert_int_equal(ndp_pull_wanted(&n[0]), DEMAND_MAX);
	wish(0, 0x7fffffff);
	for (k = 0; k < 10; k++)
		assert_int_equal(pull(), 0);
	wish(0, 0x7fffffff);
	assert_int_equal(ndp_pull_wanted(&n[0]), DEMAND_MAX);
}

/* A sender that is no longer there */
static void test_ahead(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 1000);
	wish(1, 1000);
	for (k = 0; k < AHEAD; k++) {
		assert_int_equal(pull(), 0);
		assert_int_equal(pull(), 1);
		wish(1, 1000);
	}
	assert_true(q.stats.silent == 1);
	for (k = 0; k < 10; k++) {
		assert_int_equal(pull(), 1);
		wish(1, 1000);
	}
	/* whatever comes of it starts it again */
	wish(0, 0);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 1);
	/* a flow whose demand is met is not silent */
	ndp_pull_flush(&q, &n[0]);
	wish(1, n[1].granted + AHEAD);
	ndp_pull_flush(&q, &n[1]);
	wish(1, n[1].granted + AHEAD);
	for (k = 0; k < AHEAD; k++)
		assert_int_equal(pull(), 1);
	assert_int_equal(pull(), NODES);
	assert_true(q.stats.silent == 1);
}

static void expect_time(u32 i, u32 payload)
{
	u64 ns = (u64)(payload + NDP_PULL_OVERHEAD) * 800 / 990;

	assert_int_equal(pull(), i);
	assert_in_range(q.next_ns - now_ns, ns, ns + 1);
}

/* Arrivals do not renew the limit of an unverified flow, but each whole packet adds to it. */
static void test_unverified(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	n[0].unverified = true;
	ndp_pull_allow(&n[0], 8);
	for (k = 0; k < 100; k++) {
		arrive(0, 1000, 7, MTU, true);
		if (k < 8)
			assert_int_equal(pull(), 0);
		else
			assert_int_equal(pull(), NODES);
	}
	assert_int_equal(n[0].prio, 0);
	assert_int_equal(n[0].granted, 8);
	/* pulled packets that it claims to be trimmed do not slow down other flows */
	assert_int_equal(q.share.arrived, 0);
	ndp_pull_whole(&n[0]);
	ndp_pull_whole(&n[0]);
	arrive(0, 1000, 7, MTU, false);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), NODES);
	/* a flow that is held is not pulled, whatever arrived */
	for (k = 0; k < 10; k++)
		ndp_pull_whole(&n[0]);
	ndp_pull_allow(&n[0], 0);
	arrive(0, 1000, 7, MTU, false);
	assert_int_equal(pull(), NODES);
	/* verified */
	ndp_pull_allow(&n[0], AHEAD);
	n[0].unverified = false;
	arrive(0, 1000, 7, MTU, false);
	assert_int_equal(n[0].prio, 7);
	for (k = 0; k < AHEAD; k++)
		assert_int_equal(pull(), 0);
	assert_int_equal(pull(), NODES);
}

/* A trimmed packet claims at most the MTU; a whole one has its length. */
static void test_mtu(void **state)
{
	struct ndp_hdr h = {
		.type = NDP_DATA, .flags = NDP_DATA_SPEC, .payload_len = NDP_PAYLOAD_MAX,
		.data.msg_len = NDP_PAYLOAD_MAX,
	};

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	ndp_pull_mtu(&q, 1500);
	ndp_pull_arrived(&q, &n[0], &h, 20, true, now_ns);
	assert_int_equal(n[0].bytes, 1538);
	assert_int_equal(q.longest, 1538);
	expect_time(0, 1416);
	h.payload_len = 2000;
	h.here = 2000;
	ndp_pull_arrived(&q, &n[1], &h, 20, false, now_ns);
	assert_int_equal(n[1].bytes, 2020 + NDP_PULL_OVERHEAD);
	/* an MTU below any packet's */
	ndp_pull_mtu(&q, 68);
	h.here = 0;
	ndp_pull_arrived(&q, &n[2], &h, 0, true, now_ns);
	assert_int_equal(n[2].bytes, 1 + NDP_PULL_OVERHEAD);
}

static void test_flush(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 10);
	wish(1, 10);
	assert_int_equal(pull(), 0);
	ndp_pull_flush(&q, &n[0]);
	ndp_pull_flush(&q, &n[2]);
	assert_true(q.stats.flushed == 9);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 1);
	/* it may wish again, from there */
	wish(0, n[0].granted + 1);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 0);
	assert_int_equal(pull(), 1);
	assert_int_equal(n[0].granted, 2);
}

static void test_hold(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 10);
	hold(0, true);
	wish(0, 12);
	assert_int_equal(pull(), NODES);
	assert_int_equal(ndp_pull_wanted(&n[0]), 12);
	hold(0, false);
	assert_int_equal(pull(), 0);
}

/* ---- pacing */

/* 9000 bytes at 99% of 10 Gbit/s: 7272.7.. ns; no drift over a million pulls */
static void test_pace(void **state)
{
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	for (k = 0; k < 1000000; k++) {
		wish(k % 2, n[k % 2].granted + 2);
		pull();
		assert_in_range(q.next_ns - now_ns, 7272, 7273);
	}
	assert_in_range(q.next_ns - START, 7272727200 - 10000, 7272727300 + 10000);
}

/* Packets of each flow take their own mean time; with an unknown size, a small MTU's. */
static void test_sizes(void **state)
{
	const struct ndp_hdr end = {
		.type = NDP_DATA, .payload_len = 1,
		.data = { .offset = 2 * MTU, .msg_len = 2 * MTU + 1 },
	};
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	arrive(1, 1000, 0, 1, false);
	arrive(0, 1000, 0, MTU, false);
	/* as many short ones as one answer covers */
	assert_int_equal(pull(), 1);
	assert_in_range(q.next_ns - now_ns, 16 * 99, 16 * 100);
	assert_int_equal(n[1].granted, 16);
	assert_int_equal(pull(), 0);
	assert_in_range(q.next_ns - now_ns, 7272, 7273);
	/* smaller packets count little by little, and so do larger ones */
	arrive(0, 0, 0, MTU - 800, false);
	assert_int_equal(n[0].bytes, MTU - 100 + NDP_PULL_OVERHEAD);
	for (k = 0; k < 200; k++)
		arrive(0, 0, 0, MTU - 800, false);
	assert_in_range(n[0].bytes, MTU - 800 + NDP_PULL_OVERHEAD,
			MTU - 800 + NDP_PULL_OVERHEAD + 7);
	for (k = 0; k < 200; k++)
		arrive(0, 0, 0, MTU, false);
	assert_in_range(n[0].bytes, MTU + NDP_PULL_OVERHEAD - 7, MTU + NDP_PULL_OVERHEAD);
	/* a flow begins with a short packet: a message of its own */
	arrive(3, 0, 0, 1, false);
	assert_int_equal(n[3].bytes, 1 + NDP_PULL_OVERHEAD);
	/* the end of a message: the next ones may be as long as packets of other flows */
	ndp_pull_arrived(&q, &n[4], &end, 0, false, now_ns);
	assert_in_range(n[4].bytes, (MTU - MTU / 8) * 98 / 100, MTU + NDP_PULL_OVERHEAD - MTU / 8);
	/* no long packet has arrived for long */
	for (k = 0; k < 2000; k++)
		arrive(3, 0, 0, 1, false);
	ndp_pull_arrived(&q, &n[5], &end, 0, false, now_ns);
	assert_in_range(n[5].bytes, 1 + NDP_PULL_OVERHEAD, 500);
	/* PROBEs only */
	ndp_pull_flush(&q, &n[0]);
	ndp_pull_flush(&q, &n[1]);
	now_ns = q.next_ns;
	arrive(2, 5, 0, 0, false);
	assert_int_equal(pull(), 2);
	assert_in_range(q.next_ns - now_ns, 4 * 1242, 4 * 1243);
}

/* NACKed packets take their own times, in this order; then new ones take the mean. */
static void test_nacked(void **state)
{
	u32 k, mean;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	for (k = 0; k < NDP_PULL_LENGTHS; k++)
		arrive(0, 0, 0, k % 2 ? 7000 : MTU, true);
	mean = n[0].bytes - NDP_PULL_OVERHEAD;
	/* lengths beyond the array are unknown */
	arrive(0, NDP_PULL_LENGTHS + 1, 0, mean, true);
	for (k = 0; k < NDP_PULL_LENGTHS; k++)
		expect_time(0, k % 2 ? 7000 : MTU);
	expect_time(0, mean);
	expect_time(0, mean);
	assert_int_equal(pull(), NODES);
	/* a flow that needs no more pulls needs no pulls for NACKed packets either */
	arrive(0, 0, 0, mean, true);
	ndp_pull_flush(&q, &n[0]);
	wish(0, n[0].granted + 1);
	expect_time(0, n[0].bytes - NDP_PULL_OVERHEAD);
}

/* Pulled as a long packet, it comes as a short one: the next pull is due earlier. */
static void test_correct(void **state)
{
	const struct ndp_hdr spec = {
		.type = NDP_DATA, .flags = NDP_DATA_SPEC, .payload_len = 7000,
		.data.msg_len = 7000,
	};
	const u64 less = (MTU - 7000) * 800 / 990;
	u64 next_ns;
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 100);
	expect_time(0, MTU);
	next_ns = q.next_ns;
	/* a packet that was not pulled changes no time */
	ndp_pull_arrived(&q, &n[0], &spec, 0, false, now_ns);
	assert_true(q.next_ns == next_ns);
	n[0].bytes = MTU + NDP_PULL_OVERHEAD;
	arrive(0, 0, 0, 7000, false);
	assert_in_range(next_ns - q.next_ns, less, less + 1);
	/* longer than it was thought to be */
	n[0].bytes = 7000 + NDP_PULL_OVERHEAD;
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	arrive(0, 0, 0, MTU, false);
	assert_in_range(q.next_ns - next_ns, less, less + 1);
	/* nor does it take the link if it was trimmed */
	ask(0, n[0].granted + 1);
	n[0].bytes = 7000 + NDP_PULL_OVERHEAD;
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	arrive(0, 0, 0, MTU, true);
	assert_true(q.next_ns == next_ns);
	assert_int_equal(n[0].due.count, 0);
	/* not before the beginning of time */
	ndp_pull_rate(&q, 1000);
	n[0].bytes = MTU + NDP_PULL_OVERHEAD;
	ask(0, n[0].granted + 1);
	assert_int_equal(pull(), 0);
	assert_true(q.next_ns < 9000ULL * 1010101 + 2 * START);
	q.next_ns = START;
	arrive(0, 0, 0, 1, false);
	assert_true(q.next_ns == 0);
	ndp_pull_rate(&q, RATE);
	q.next_ns = now_ns;
	/* long and short in turns: as long as they are */
	wish(0, n[0].granted + 1);
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	for (k = 0; k < 2000; k++) {
		arrive(0, n[0].granted + 2, 0, k % 2 ? 7000 : MTU, false);
		assert_int_equal(pull(), 0);
	}
	assert_in_range(q.next_ns - next_ns, 1990ULL * 8061 * 800 / 990,
			2010ULL * 8061 * 800 / 990);
}

/*
 * Once pulled packets arrive, a whole packet that was not pulled delays the next pull. One that it
 * displaced gives the time back.
 */
static void test_unpulled(void **state)
{
	const u64 time = (u64)(MTU + NDP_PULL_OVERHEAD) * 800 / 990;
	const u64 header = (u64)NDP_PULL_OVERHEAD * 800 / 990;
	const struct ndp_hdr claim = {
		.type = NDP_DATA, .payload_len = MTU, .data.msg_len = MTU,
	};
	u64 next_ns;
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 1000);
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	unasked(1, 5, false);
	assert_true(q.next_ns == next_ns);
	arrive(0, 0, 0, MTU, false);
	unasked(1, 1, true);
	assert_true(q.next_ns == next_ns);
	unasked(1, 1, false);
	/* a duplicate */
	arrive(0, 0, 0, MTU, false);
	assert_in_range(q.next_ns - next_ns, 2 * time, 2 * time + 2);
	/* a trimmed duplicate that claims to be long took the link for its header only */
	next_ns = q.next_ns;
	ndp_pull_arrived(&q, &n[0], &claim, 0, false, now_ns);
	assert_in_range(q.next_ns - next_ns, header, header + 1);
	/* while the network carries less, the link is not full */
	q.share.share--;
	next_ns = q.next_ns;
	unasked(1, 1, false);
	assert_true(q.next_ns == next_ns);
	q.share.share++;
	for (k = 0; k < 4; k++)
		pull();
	next_ns = q.next_ns;
	for (k = 0; k < 4; k++)
		arrive(0, 0, 0, MTU, true);
	assert_in_range(next_ns - q.next_ns, 3 * time, 3 * time + 3);
}

/* A packet gives no more time back than its pull took, however long it claims to be. */
static void test_unpulled_claim(void **state)
{
	const u64 time = (u64)(100 + NDP_PULL_OVERHEAD) * 800 / 990;
	u64 next_ns;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 1000);
	assert_int_equal(pull(), 0);
	arrive(0, 0, 0, MTU, false);
	n[0].bytes = 100 + NDP_PULL_OVERHEAD;
	assert_int_equal(pull(), 0);
	unasked(1, 1, false);
	assert_int_equal(q.displaced, 1);
	next_ns = q.next_ns;
	arrive(0, 0, 0, MTU, true);
	assert_int_equal(q.displaced, 0);
	assert_in_range(next_ns - q.next_ns, time, time + 1);
}

/* A flood of them does not stop pulls, nor do many trimmed packets speed them up afterwards. */
static void test_unpulled_most(void **state)
{
	const u64 time = (u64)(MTU + NDP_PULL_OVERHEAD) * 800 / 990;
	u64 next_ns;
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	n[0].allowed = 1000;
	wish(0, 1000);
	assert_int_equal(pull(), 0);
	arrive(0, 0, 0, MTU, false);
	for (k = 0; k < 3; k++) {
		next_ns = q.next_ns;
		unasked(1, 1000, false);
		assert_in_range(q.next_ns - next_ns, 64 * time, 64 * time + 64);
		assert_int_equal(pull(), 0);
		arrive(0, 0, 0, MTU, false);
	}
	for (k = 0; k < 40; k++) {
		pull();
		pull();
	}
	next_ns = q.next_ns;
	for (k = 0; k < 80; k++)
		arrive(0, 0, 0, MTU, true);
	assert_in_range(next_ns - q.next_ns, 64 * time, 64 * time + 64);
	/* after an idle time, the rule begins again */
	pull();
	arrive(0, 0, 0, MTU, false);
	unasked(1, 5, false);
	ndp_pull_flush(&q, &n[0]);
	now_ns = q.next_ns + 1000 * time;
	wish(0, n[0].granted + 1000);
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	unasked(1, 5, false);
	assert_true(q.next_ns == next_ns);
	arrive(0, 0, 0, MTU, true);
	assert_true(q.next_ns == next_ns);
}

/* A timer that is late is made up for, up to late_ns; an idle link is not. */
static void test_late(void **state)
{
	u64 due;
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 50000);
	wish(0, 1000);
	pull();
	due = q.next_ns;
	now_ns = due + 40000;
	/* by then five more are due, and the first of them was */
	for (k = 0; k < 6; k++)
		assert_non_null(ndp_pull_next(&q, now_ns));
	assert_null(ndp_pull_next(&q, now_ns));
	assert_in_range(q.next_ns, due + 43635, due + 43637);
	/* much later: 50 us count */
	wish(0, 1000);
	now_ns += 10000000;
	for (k = 0; k < 7; k++)
		assert_non_null(ndp_pull_next(&q, now_ns));
	assert_null(ndp_pull_next(&q, now_ns));
	ndp_pull_flush(&q, &n[0]);
	now_ns += 10000000;
	wish(0, n[0].granted + 10);
	assert_non_null(ndp_pull_next(&q, now_ns));
	assert_null(ndp_pull_next(&q, now_ns));
}

static void test_rate(void **state)
{
	static const u64 rates[] = { 1000, 125000, 12500000, 12500000000ULL, 100000000000ULL };
	double ns;
	u64 time;
	u32 i, k;

	(void)state;
	for (i = 0; i < 5; i++) {
		open_queue(NDP_PULL_FAIR, 0);
		ndp_pull_rate(&q, rates[i]);
		for (k = 0; k < 1000; k++) {
			arrive(0, n[0].granted + 2, 0, NDP_PAYLOAD_MAX, false);
			pull();
		}
		time = q.next_ns - START;
		ns = 1000.0 * (NDP_PAYLOAD_MAX + NDP_PULL_OVERHEAD) * 1e9 / 0.99 / rates[i];
		assert_true(time >= ns * 0.9999 - 1 && time <= ns * 1.0001 + 1);
	}
}

/* IPv6: missing, trimmed and whole packets are 20 bytes longer. */
static void test_ip_more(void **state)
{
	const struct ndp_hdr h = {
		.type = NDP_DATA, .payload_len = MTU - 20,
		.data = { .pull_target = 1000, .msg_len = MTU },
	};

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	ndp_pull_arrived(&q, &n[0], &h, 20, false, now_ns);
	assert_int_equal(pull(), 0);
	assert_in_range(q.next_ns - now_ns, 7272, 7273);
	now_ns = q.next_ns;
	ndp_pull_arrived(&q, &n[0], &h, 20, false, now_ns);
	assert_int_equal(q.next_ns, now_ns);
	assert_int_equal(pull(), 0);
	ndp_pull_arrived(&q, &n[0], &h, 20, true, now_ns);
	assert_int_equal(pull(), 0);
	assert_in_range(q.next_ns - now_ns, 7272, 7273);
}

static void test_at_once(void **state)
{
	u64 time = (MTU + NDP_PULL_OVERHEAD) * 1000000000ULL / (RATE * 99 / 100);

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	arrive(0, 10, 0, MTU, false);
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_int_equal(n[0].granted, 1);
	/* early by a packet's time at most, and the next one is not earlier because of it */
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_true(q.next_ns - now_ns <= 2 * time + 2 && q.next_ns - now_ns >= 2 * time);
	assert_false(ndp_pull_at_once(&q, &n[0], q.next_ns - time - 2));
	now_ns = q.next_ns - time + 2;
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_true(q.stats.at_once == 3 && q.stats.pulls == 3);
}

/* Several flows wait: only the next one is pulled. */
static void test_at_once_in_turn(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	arrive(0, 10, 0, MTU, false);
	arrive(1, 10, 0, MTU, false);
	arrive(2, 10, 7, MTU, false);
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_false(ndp_pull_at_once(&q, &n[1], now_ns));
	assert_true(ndp_pull_at_once(&q, &n[2], now_ns));
	ndp_pull_flush(&q, &n[2]);
	now_ns = q.next_ns;
	assert_false(ndp_pull_at_once(&q, &n[1], now_ns));
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	now_ns = q.next_ns;
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_int_equal(pull(), 1);
	now_ns = q.next_ns;
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_true(q.stats.at_once == 3 && q.stats.pulls == 4);
}

/* ---- whatever comes */

/* No flow gets more than its demand, nor more than its limit without an arrival. */
static void expect_sound(void)
{
	u32 i, queued = 0;

	for (i = 0; i < NODES; i++) {
		s32 ahead = (s32)(n[i].granted - n[i].seen);
		bool ready = ndp_pull_wanted(&n[i]) && n[i].allowed && ahead < (s32)n[i].allowed;

		assert_in_range(ndp_pull_wanted(&n[i]), 0, DEMAND_MAX);
		assert_true(ahead <= AHEAD);
		assert_true(ahead >= 0 || n[i].unverified);
		assert_int_equal(n[i].queued, ready);
		queued += ready;
	}
	assert_int_equal(q.queued, queued);
}

static void random_step(struct rng *rng)
{
	u32 i = rng_in(rng, 0, NODES - 1), what = rng_in(rng, 0, 99);

	if (what < 5 && !n[i].granted) {
		n[i].unverified = true;
	} else if (what < 15) {
		ndp_pull_whole(&n[i]);
		ndp_pull_update(&q, &n[i], now_ns);
	} else if (what < 80) {
		n[i].unverified &= what != 15;
		arrive(i, n[i].granted + rng_log(rng, 1, 100) - 10, rng_in(rng, 0, NDP_PRIOS - 1),
		       rng_in(rng, 1, MTU), rng_percent(rng, 30));
	} else if (what < 90) {
		hold(i, rng_percent(rng, 30));
	} else {
		ndp_pull_flush(&q, &n[i]);
	}
}

static void test_random(void **state)
{
	u32 round, k, i, before[NODES];
	u64 pulls, spent;
	struct rng rng;

	(void)state;
	for (round = 0; round < 30; round++) {
		rng_seed(&rng, round);
		open_queue(round % 3, 0);
		for (k = 0, pulls = 0, spent = START; k < 5000; k++) {
			for (i = 0; i < NODES; i++)
				before[i] = n[i].granted;
			if (rng_percent(&rng, 50)) {
				random_step(&rng);
				/* a packet came that is shorter than was expected */
				spent = min_t(u64, spent, q.next_ns);
			} else {
				i = pull();
				if (i != NODES) {
					assert_in_range(n[i].granted - before[i], 1, 16);
					assert_true(now_ns >= spent);
					pulls += n[i].granted - before[i];
				}
				spent = q.next_ns;
			}
			expect_sound();
		}
		assert_true(q.stats.pulls == pulls);
		assert_true(pulls > 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_unverified),
		cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_nacked),
		cmocka_unit_test(test_correct),
		cmocka_unit_test(test_unpulled),
		cmocka_unit_test(test_unpulled_claim),
		cmocka_unit_test(test_unpulled_most),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_ip_more),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_at_once_in_turn),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("ndp_pull", tests, NULL, NULL);
}
