// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/roce/roce_rp.c: slots, pacing, fairness
 *
 * dcqcn_test.c and dcqcn_random_test.c test the rates. Here a queue pair that got CNPs
 * keeps its rate for long, since T and B are large.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/roce/roce_rp.h"
#include "rng.h"

#define SLOTS		64
#define BUCKETS		16
#define LINE		1250000000ULL	/* bytes per second */
#define LEN		4096U
#define SECOND		1000000000ULL

static struct roce_rp rp;
static struct roce_qp qps[SLOTS + ROCE_LISTS];
static u32 bucket[BUCKETS];
static struct rng rng;

static int setup(void **state)
{
	struct dcqcn_limits limits = {
		.min_Bps = LINE / 1000, .max_Bps = LINE, .ai_Bps = LINE / 1000,
		.hai_Bps = LINE / 100,
	};

	(void)state;
	rp = (struct roce_rp) {
		.params = {
			.alpha_ns = 55000, .timer_ns = 1000000000, .byte_reset = 1000000000,
			.threshold = 5, .g_inverse = 256, .initial_alpha = 1000,
			.cnp_interval_ns = 50000, .monitor_ns = 50000,
		},
		.idle_ns = SECOND,
	};
	dcqcn_params_finish(&rp.params);
	roce_rp_init(&rp, qps, bucket, BUCKETS, SLOTS);
	roce_rp_set_limits(&rp, &limits, 1);
	rng_seed(&rng, 5);
	return 0;
}

static struct roce_key key_of(u32 qpn)
{
	struct roce_key key = { .qpn = qpn };

	key.src.b[15] = 1;
	key.dst.b[15] = 2;
	return key;
}

static u32 find(u32 qpn)
{
	struct roce_key key = key_of(qpn);

	return roce_rp_find(&rp, &key, qpn);
}

static u32 claim(u32 qpn, u64 now_ns)
{
	struct roce_key key = key_of(qpn);

	return roce_rp_claim(&rp, &key, qpn, now_ns);
}

static u32 slot_of(u32 qpn, u64 now_ns)
{
	u32 slot = find(qpn);

	return slot == ROCE_NO_SLOT ? claim(qpn, now_ns) : slot;
}

static void queue(u32 qpn, u32 packets, u64 now_ns)
{
	u32 slot = slot_of(qpn, now_ns);

	assert_int_not_equal(slot, ROCE_NO_SLOT);
	while (packets--)
		roce_rp_queued(&rp, slot, LEN, now_ns);
}

/* Send all that may leave until @end_ns over a line; count packets by queue pair. */
static u64 run(u64 now_ns, u64 end_ns, u32 *sent)
{
	u32 slot;

	while (now_ns < end_ns) {
		slot = roce_rp_pick(&rp, now_ns);
		if (slot == ROCE_NO_SLOT) {
			if (roce_rp_next_ns(&rp) >= end_ns)
				return end_ns;
			now_ns = roce_rp_next_ns(&rp);
			continue;
		}
		sent[qps[slot].key.qpn]++;
		roce_rp_sent(&rp, slot, LEN, now_ns);
		now_ns += LEN * SECOND / LINE;
	}
	return now_ns;
}

static void test_slots_are_found_and_reused(void **state)
{
	u32 qpn;

	(void)state;
	for (qpn = 1; qpn <= SLOTS; qpn++)
		queue(qpn, 1, qpn);
	assert_int_equal(rp.count, SLOTS);
	for (qpn = 1; qpn <= SLOTS; qpn++)
		assert_int_equal(qps[find(qpn)].key.qpn, qpn);
	/* all have packets */
	assert_int_equal(claim(1000, 100), ROCE_NO_SLOT);
	/* the second is idle for longer than the first */
	roce_rp_pick(&rp, 100);
	roce_rp_sent(&rp, find(1), LEN, 300);
	roce_rp_sent(&rp, find(2), LEN, 200);
	queue(1, 1, 400);
	roce_rp_sent(&rp, find(1), LEN, 400);
	assert_int_not_equal(claim(1000, 500), ROCE_NO_SLOT);
	assert_int_equal(find(2), ROCE_NO_SLOT);
	assert_int_not_equal(find(1), ROCE_NO_SLOT);
	assert_int_equal(rp.count, SLOTS);
}

static void test_idle_queue_pairs_are_forgotten(void **state)
{
	u32 qpn;

	(void)state;
	for (qpn = 1; qpn <= 20; qpn++)
		claim(qpn, 1);
	claim(21, SECOND);
	assert_int_equal(rp.count, 21);
	claim(22, SECOND + 1);
	assert_int_equal(rp.count, 22 - ROCE_EXPIRE_MAX);
	for (qpn = 23; qpn < 30; qpn++)
		claim(qpn, SECOND + 1);
	assert_int_equal(find(1), ROCE_NO_SLOT);
	assert_int_equal(find(20), ROCE_NO_SLOT);
	assert_int_not_equal(find(21), ROCE_NO_SLOT);
	assert_int_equal(rp.count, 9);
}

static void test_line_rate_is_not_paced(void **state)
{
	u32 n;

	(void)state;
	queue(1, 10, 5);
	for (n = 0; n < 10; n++) {
		assert_int_equal(roce_rp_pick(&rp, 5), find(1));
		roce_rp_sent(&rp, find(1), LEN, 5);
	}
	assert_int_equal(roce_rp_pick(&rp, 5), ROCE_NO_SLOT);
	assert_true(roce_rp_next_ns(&rp) == U64_MAX);
}

/* The first CNP halves the rate; then packets leave at it, however late the timer is. */
static void test_pacing(void **state)
{
	u64 cost_ns = (LEN + 24) * SECOND / (LINE / 2), now_ns = 1000, next_ns;
	u32 n;

	(void)state;
	rp.overhead = 24;
	queue(1, 1000, now_ns);
	assert_true(roce_rp_notify(&rp, find(1), now_ns));
	assert_false(roce_rp_notify(&rp, find(1), now_ns + 1));
	assert_int_equal(qps[find(1)].cnps, 1);
	for (n = 1; n < 1000; n++) {
		assert_int_equal(roce_rp_pick(&rp, now_ns), find(1));
		roce_rp_sent(&rp, find(1), LEN, now_ns);
		assert_int_equal(roce_rp_pick(&rp, now_ns), ROCE_NO_SLOT);
		next_ns = roce_rp_next_ns(&rp);
		assert_int_equal(next_ns, 1000 + n * cost_ns);
		now_ns = next_ns + rng_in(&rng, 0, cost_ns - 1);
	}
}

/* A longer pause is not made up for, neither with packets nor without. */
static void test_no_burst_after_a_pause(void **state)
{
	u64 cost_ns = LEN * SECOND / (LINE / 2), now_ns = SECOND;
	u32 sent[8] = { 0 };

	(void)state;
	queue(1, 1000, 1);
	roce_rp_notify(&rp, find(1), 1);
	roce_rp_pick(&rp, 1);
	roce_rp_sent(&rp, find(1), LEN, 1);
	now_ns /= 2;
	run(now_ns, now_ns + 10 * cost_ns, sent);
	assert_in_range(sent[1], 10, 11 + ROCE_LATE_NS / cost_ns);
	while (qps[find(1)].packets) {
		now_ns += cost_ns;
		if (roce_rp_pick(&rp, now_ns) != ROCE_NO_SLOT)
			roce_rp_sent(&rp, find(1), LEN, now_ns);
	}
	now_ns += 1000000;
	queue(1, 2, now_ns);
	assert_int_equal(roce_rp_pick(&rp, now_ns), find(1));
	roce_rp_sent(&rp, find(1), LEN, now_ns);
	assert_int_equal(roce_rp_pick(&rp, now_ns), ROCE_NO_SLOT);
}

/* At equal rates above their share, queue pairs get equal shares; a slow one its rate. */
static void test_shares(void **state)
{
	u32 sent[8] = { 0 }, qpn, cnps;
	u64 end_ns = SECOND / 100;

	(void)state;
	for (qpn = 1; qpn <= 4; qpn++)
		queue(qpn, 10000, 1);
	for (cnps = 0; cnps < 4; cnps++)
		assert_true(roce_rp_notify(&rp, find(4), 1 + cnps * 50000));
	assert_true(qps[find(4)].dcqcn.rate_Bps * 15 < LINE);
	run(200000, end_ns, sent);
	for (qpn = 1; qpn <= 3; qpn++)
		assert_in_range(sent[qpn], sent[1] - 1, sent[1] + 1);
	assert_in_range(sent[4], LINE / 17 / 100 / LEN * 95 / 100, LINE / 15 / 100 / LEN + 20);
}

static void test_highest_rate_below_the_line_is_paced(void **state)
{
	struct dcqcn_limits limits = rp.limits;
	u64 cost_ns = LEN * SECOND / (LINE / 4);

	(void)state;
	limits.max_Bps = LINE / 4;
	rp.paced_at_max = true;
	claim(7, 1);
	roce_rp_set_limits(&rp, &limits, 1);
	queue(7, 2, 1);
	roce_rp_pick(&rp, 1);
	roce_rp_sent(&rp, find(7), LEN, 1);
	assert_int_equal(roce_rp_next_ns(&rp), 1 + cost_ns);
	/* a change of the limits releases the waiting packet */
	roce_rp_set_limits(&rp, &limits, 2);
	assert_int_equal(roce_rp_next_ns(&rp), 2);
	assert_int_equal(roce_rp_pick(&rp, 2), find(7));
}

/* Other traffic gets half of the bytes while both sides could send, and no more later. */
static void test_other_traffic_gets_half(void **state)
{
	u64 bytes[2] = { 0 };
	u32 n, len;
	bool other;

	(void)state;
	queue(1, 20000, 1);
	for (n = 0; n < 20000; n++) {
		other = roce_rp_prefers_other(&rp, roce_rp_pick(&rp, 1));
		len = other ? 64 + n % 1400 : LEN;
		if (!other)
			roce_rp_sent(&rp, find(1), LEN, 1);
		roce_rp_charge(&rp, other, true, len);
		bytes[other] += len;
	}
	assert_in_range(bytes[1], bytes[0] - LEN, bytes[0] + LEN);
	/* alone, other traffic builds up no debt */
	for (n = 0; n < 1000; n++)
		roce_rp_charge(&rp, true, false, 9000);
	assert_in_range(rp.other_ahead_bytes + LEN, 0, LEN);
	assert_true(roce_rp_prefers_other(&rp, ROCE_NO_SLOT));
}

static u32 count_waiting(void)
{
	struct rb_node *node;
	u32 count = 0;

	for (node = rb_first_cached(&rp.waiting); node; node = rb_next(node))
		count++;
	return count;
}

/* Random operations: counts, lists and the tree stay consistent. */
static void test_random_operations(void **state)
{
	u32 n, slot, queued = 0, held, waiting;
	u64 now_ns = 1;

	(void)state;
	for (n = 0; n < 300000; n++) {
		now_ns += rng_in(&rng, 0, 3000);
		slot = slot_of(rng_in(&rng, 1, 100), now_ns);
		if (slot != ROCE_NO_SLOT && rng_percent(&rng, 45)) {
			roce_rp_queued(&rp, slot, LEN, now_ns);
			queued++;
		} else if (slot != ROCE_NO_SLOT && rng_percent(&rng, 5)) {
			roce_rp_notify(&rp, slot, now_ns);
		} else {
			slot = roce_rp_pick(&rp, now_ns);
			if (slot == ROCE_NO_SLOT)
				continue;
			assert_true(qps[slot].next_ns <= now_ns);
			assert_true(qps[slot].packets);
			roce_rp_sent(&rp, slot, LEN, now_ns);
			queued--;
		}
		if (n % 1000)
			continue;
		for (slot = held = waiting = 0; slot < SLOTS; slot++) {
			held += qps[slot].packets;
			waiting += qps[slot].where == ROCE_WAITING;
			assert_int_equal(qps[slot].bytes, qps[slot].packets * LEN);
			assert_int_equal(qps[slot].where <= ROCE_IDLE, !qps[slot].packets);
			assert_int_equal(qps[slot].where == ROCE_FREE, !qps[slot].used);
		}
		assert_int_equal(held, queued);
		assert_int_equal(waiting, count_waiting());
	}
	roce_rp_reset(&rp);
	assert_int_equal(rp.count, 0);
	assert_int_equal(roce_rp_pick(&rp, now_ns), ROCE_NO_SLOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_slots_are_found_and_reused, setup),
		cmocka_unit_test_setup(test_idle_queue_pairs_are_forgotten, setup),
		cmocka_unit_test_setup(test_line_rate_is_not_paced, setup),
		cmocka_unit_test_setup(test_pacing, setup),
		cmocka_unit_test_setup(test_no_burst_after_a_pause, setup),
		cmocka_unit_test_setup(test_shares, setup),
		cmocka_unit_test_setup(test_highest_rate_below_the_line_is_paced, setup),
		cmocka_unit_test_setup(test_other_traffic_gets_half, setup),
		cmocka_unit_test_setup(test_random_operations, setup),
	};

	return cmocka_run_group_tests_name("roce_rp", tests, NULL, NULL);
}
