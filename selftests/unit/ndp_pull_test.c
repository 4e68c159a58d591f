// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_pull.h: when flows are pulled, and how often; and all of it, beside a model
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

/* ---- what is wished */

static void test_target(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 3);
	/* an older packet says less */
	wish(0, 2);
	assert_int_equal(n[0].target, 3);
	arrive(0, 3, 0, MTU, true);
	assert_int_equal(n[0].target, 4);
	/* the sender has counted the NACK, too */
	wish(0, 4);
	assert_int_equal(n[0].target, 4);
	/* a header of 16 bytes says none, nor a priority */
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
	n[0].heard = 0xfffffff0;
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
	assert_int_equal(n[0].target, NDP_PULL_WISH_MAX);
	assert_true(q.stats.cut == 1);
	for (k = 0; k < 10; k++)
		arrive(0, 0x7fffffff, 0, MTU, true);
	assert_int_equal(ndp_pull_wanted(&n[0]), NDP_PULL_WISH_MAX);
	wish(0, 0x7fffffff);
	for (k = 0; k < 10; k++)
		assert_int_equal(pull(), 0);
	wish(0, 0x7fffffff);
	assert_int_equal(ndp_pull_wanted(&n[0]), NDP_PULL_WISH_MAX);
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
	/* who has all it wished has not fallen silent */
	ndp_pull_flush(&q, &n[0]);
	wish(1, n[1].granted + AHEAD);
	ndp_pull_flush(&q, &n[1]);
	wish(1, n[1].granted + AHEAD);
	for (k = 0; k < AHEAD; k++)
		assert_int_equal(pull(), 1);
	assert_int_equal(pull(), NODES);
	assert_true(q.stats.silent == 1);
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
	ndp_pull_hold(&q, &n[0], true, now_ns);
	wish(0, 12);
	assert_int_equal(pull(), NODES);
	assert_int_equal(ndp_pull_wanted(&n[0]), 12);
	ndp_pull_hold(&q, &n[0], false, now_ns);
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

/* Each flow's packets take their own time, on average; those of an unknown size a small MTU's. */
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
	assert_int_equal(pull(), 1);
	assert_in_range(q.next_ns - now_ns, 99, 100);
	assert_int_equal(pull(), 0);
	assert_in_range(q.next_ns - now_ns, 7272, 7273);
	/* smaller packets count little by little, larger ones, too */
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
	/* the end of a message: the next ones may be as long as those of others */
	ndp_pull_arrived(&q, &n[4], &end, 0, false, now_ns);
	assert_in_range(n[4].bytes, (MTU - MTU / 8) * 98 / 100, MTU + NDP_PULL_OVERHEAD - MTU / 8);
	/* of which long ones did not come for long */
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
	assert_in_range(q.next_ns - now_ns, 1242, 1243);
}

static void expect_time(u32 i, u32 payload)
{
	u64 ns = (u64)(payload + NDP_PULL_OVERHEAD) * 800 / 990;

	assert_int_equal(pull(), i);
	assert_in_range(q.next_ns - now_ns, ns, ns + 1);
}

/* What was NACKed takes the time that it takes, in this order; then what is new, the mean. */
static void test_nacked(void **state)
{
	u32 k, mean;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	for (k = 0; k < NDP_PULL_LENGTHS; k++)
		arrive(0, 0, 0, k % 2 ? 962 : MTU, true);
	mean = n[0].bytes - NDP_PULL_OVERHEAD;
	/* of those that are too many nothing is known */
	arrive(0, NDP_PULL_LENGTHS + 1, 0, mean, true);
	for (k = 0; k < NDP_PULL_LENGTHS; k++)
		expect_time(0, k % 2 ? 962 : MTU);
	expect_time(0, mean);
	expect_time(0, mean);
	assert_int_equal(pull(), NODES);
	/* who needs no more pulls, needs none for what was NACKed */
	arrive(0, 0, 0, mean, true);
	ndp_pull_flush(&q, &n[0]);
	wish(0, n[0].granted + 1);
	expect_time(0, n[0].bytes - NDP_PULL_OVERHEAD);
}

/* Pulled as a long packet, it comes as a short one: the next pull is due earlier. */
static void test_correct(void **state)
{
	const struct ndp_hdr spec = {
		.type = NDP_DATA, .flags = NDP_DATA_SPEC, .payload_len = 962,
		.data.msg_len = 962,
	};
	u64 next_ns;
	u32 k;

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	wish(0, 100);
	expect_time(0, MTU);
	next_ns = q.next_ns;
	/* what was not pulled changes nothing */
	ndp_pull_arrived(&q, &n[0], &spec, 0, false, now_ns);
	assert_true(q.next_ns == next_ns);
	n[0].bytes = MTU + NDP_PULL_OVERHEAD;
	arrive(0, 0, 0, 962, false);
	assert_in_range(next_ns - q.next_ns, (MTU - 962) * 800 / 990, (MTU - 962) * 800 / 990 + 1);
	/* nor does what comes twice */
	next_ns = q.next_ns;
	arrive(0, 0, 0, 962, false);
	assert_true(q.next_ns == next_ns);
	/* longer than it was thought to be */
	n[0].bytes = 962 + NDP_PULL_OVERHEAD;
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	arrive(0, 0, 0, MTU, false);
	assert_in_range(q.next_ns - next_ns, (MTU - 962) * 800 / 990, (MTU - 962) * 800 / 990 + 1);
	/* nor does it take the link if it was trimmed */
	arrive(0, n[0].granted + 1, 0, MTU, false);
	n[0].bytes = 962 + NDP_PULL_OVERHEAD;
	assert_int_equal(pull(), 0);
	next_ns = q.next_ns;
	arrive(0, 0, 0, MTU, true);
	assert_true(q.next_ns == next_ns);
	assert_int_equal(n[0].asked.count, 0);
	/* not before the beginning of time */
	ndp_pull_rate(&q, 1000);
	n[0].bytes = MTU + NDP_PULL_OVERHEAD;
	wish(0, n[0].granted + 1);
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
		arrive(0, n[0].granted + 2, 0, k % 2 ? 962 : MTU, false);
		assert_int_equal(pull(), 0);
	}
	assert_in_range(q.next_ns - next_ns, 1990ULL * 5042 * 800 / 990,
			2010ULL * 5042 * 800 / 990);
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

/* IPv6: what is missing, trimmed, and came is all 20 bytes longer. */
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
	u64 time = (1000 + NDP_PULL_OVERHEAD) * 1000000000ULL / (RATE * 99 / 100);

	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	arrive(0, 10, 0, 1000, false);
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_int_equal(n[0].granted, 1);
	/* a packet's time early, no more, and the next is none the earlier for it */
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_false(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_true(q.next_ns - now_ns <= 2 * time + 2 && q.next_ns - now_ns >= 2 * time);
	assert_false(ndp_pull_at_once(&q, &n[0], q.next_ns - time - 2));
	now_ns = q.next_ns - time + 2;
	assert_true(ndp_pull_at_once(&q, &n[0], now_ns));
	assert_true(q.stats.at_once == 3 && q.stats.pulls == 3);
}

/* Others wait, too: who is the next one is pulled, nobody else. */
static void test_at_once_in_turn(void **state)
{
	(void)state;
	open_queue(NDP_PULL_FAIR, 0);
	arrive(0, 10, 0, 1000, false);
	arrive(1, 10, 0, 1000, false);
	arrive(2, 10, 7, 1000, false);
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

/* ---- all of it, beside a list that is searched */

struct model_node {
	u32 target;
	u32 granted;
	u32 heard;
	u32 answered;
	u32 round;	/* turns that it had */
	u64 turn;	/* when it was put at the end of the list */
	u64 since;	/* when it was queued */
	u8 prio;
	bool held;
	bool queued;
};

static struct model_node m[NODES];
static u64 turns;
/* of each priority: the least turns of those that wait; and when the link began to be busy */
static u32 model_round[NDP_PRIOS], model_begin[NDP_PRIOS];

static void model_place(struct model_node *a)
{
	u32 least = model_round[a->prio];

	if (a->round < least || a->round >= least + NDP_PULL_ROUNDS)
		a->round = least;
	a->turn = turns++;
}

static void model_settle(u32 i)
{
	bool ready = m[i].target != m[i].granted && m[i].granted - m[i].heard < AHEAD &&
		     !m[i].held;

	if (ready && !m[i].queued) {
		model_place(&m[i]);
		m[i].since = m[i].turn;
	}
	m[i].queued = ready;
}

static void model_prio(u32 i, u8 prio)
{
	if (m[i].prio == prio)
		return;
	m[i].prio = prio;
	m[i].queued = false;
}

static void model_unasked(enum ndp_pull_policy policy, struct model_node *a)
{
	u32 least = model_round[a->prio], *begin = &model_begin[a->prio];

	if (policy != NDP_PULL_FAIR)
		return;
	if (!q.queued && q.next_ns < now_ns)
		*begin = least;
	if (a->round < *begin || a->round >= least + NDP_PULL_ROUNDS)
		a->round = *begin;
	if (a->round < least + NDP_PULL_ROUNDS - 1)
		a->round++;
	if (a->queued)
		model_place(a);
}

/* In units of 256 bytes */
static u64 model_bytes(const struct model_node *a)
{
	return (u64)(a->target - a->granted) * n[a - m].bytes / 256;
}

static bool model_before(enum ndp_pull_policy policy, const struct model_node *a,
			 const struct model_node *b)
{
	if (a->prio != b->prio)
		return a->prio > b->prio;
	if (policy == NDP_PULL_SRPT && model_bytes(a) != model_bytes(b))
		return model_bytes(a) < model_bytes(b);
	if (policy == NDP_PULL_FAIR && a->round != b->round)
		return a->round < b->round;
	if (policy == NDP_PULL_FAIR)
		return a->turn < b->turn;
	return a->since < b->since;
}

static u32 model_pull(enum ndp_pull_policy policy)
{
	u32 i, best = NODES;

	for (i = 0; i < NODES; i++)
		if (m[i].queued && (best == NODES || model_before(policy, &m[i], &m[best])))
			best = i;
	if (best == NODES)
		return best;
	m[best].granted++;
	if (policy == NDP_PULL_FAIR) {
		u32 *begin = &model_begin[m[best].prio];

		model_round[m[best].prio] = m[best].round++;
		*begin = max_t(s32, *begin, m[best].round - NDP_PULL_ROUNDS);
		model_place(&m[best]);
	}
	model_settle(best);
	return best;
}

static void random_arrival(struct rng *rng, enum ndp_pull_policy policy, u32 i, u8 prio)
{
	u32 target = m[i].granted + rng_log(rng, 1, 100) - 10;
	bool nacked = rng_percent(rng, 30), asked = m[i].answered != m[i].granted;

	if ((s32)(target - m[i].target) > 0)
		m[i].target = target;
	m[i].target += nacked;
	m[i].heard = m[i].granted;
	m[i].answered += asked;
	model_prio(i, prio);
	if (!asked && !nacked)
		model_unasked(policy, &m[i]);
	arrive(i, target, prio, rng_in(rng, 1, MTU), nacked);
}

static void random_step(struct rng *rng, enum ndp_pull_policy policy)
{
	u32 i = rng_in(rng, 0, NODES - 1), what = rng_in(rng, 0, 99);
	u8 prio = rng_percent(rng, 90) ? m[i].prio : rng_in(rng, 0, NDP_PRIOS - 1);

	if (what < 80) {
		random_arrival(rng, policy, i, prio);
	} else if (what < 90) {
		m[i].held = rng_percent(rng, 30);
		ndp_pull_hold(&q, &n[i], m[i].held, now_ns);
	} else {
		m[i].target = m[i].granted;
		m[i].answered = m[i].granted;
		ndp_pull_flush(&q, &n[i]);
		if (m[i].round > model_round[m[i].prio] &&
		    m[i].round < model_round[m[i].prio] + NDP_PULL_ROUNDS)
			m[i].round = model_round[m[i].prio] + 1;
	}
	model_settle(i);
}

static void test_random(void **state)
{
	u64 pulls, before, spent;
	struct rng rng;
	u32 round, k, i;

	(void)state;
	for (round = 0; round < 30; round++) {
		enum ndp_pull_policy policy = round % 3;

		rng_seed(&rng, round);
		open_queue(policy, 0);
		memset(m, 0, sizeof(m));
		memset(model_round, 0, sizeof(model_round));
		memset(model_begin, 0, sizeof(model_begin));
		for (k = 0, pulls = 0, spent = START; k < 5000; k++) {
			if (rng_percent(&rng, 50)) {
				random_step(&rng, policy);
				/* a shorter packet came than was pulled */
				spent = min_t(u64, spent, q.next_ns);
			} else {
				before = now_ns;
				i = pull();
				assert_int_equal(i, model_pull(policy));
				pulls += i != NODES;
				/* never two pulls closer than a packet's time */
				if (i != NODES)
					assert_true(now_ns >= spent);
				spent = q.next_ns;
				assert_true(now_ns >= before);
			}
			for (i = 0; i < NODES; i++) {
				assert_int_equal(n[i].granted, m[i].granted);
				assert_int_equal(n[i].target, m[i].target);
				assert_int_equal(n[i].queued, m[i].queued);
			}
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
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_nacked),
		cmocka_unit_test(test_correct),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_ip_more),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_at_once_in_turn),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("ndp_pull", tests, NULL, NULL);
}
