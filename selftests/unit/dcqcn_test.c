// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/lib/dcqcn.c: cases computed by hand, bound of the work, receiver
 *
 * dcqcn_random_test.c compares it with a model with timers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <closnet/core.h>

/*
 * Number of operations that each iteration of the core's loops contains. To count
 * them, this test compiles the core itself, with macros of its own.
 */
static unsigned long work;

static u64 counted_least(u64 x, u64 y)
{
	work++;
	return x < y ? x : y;
}

#undef min_t
#define min_t(type, x, y) ((type)counted_least(x, y))
#define mul_u64_u64_shr(x, y, shift) (work++, mul_u64_u64_shr(x, y, shift))

#include "../../net/lib/dcqcn.c"
#include "dcqcn_common.h"

#define RANDOM_RUNS	1000000

/* The paper's link, 40 Gbit/s, and its R_AI, 40 Mbit/s */
static const struct dcqcn_limits line = {
	.min_Bps = 5000000,
	.max_Bps = 5000000000,
	.ai_Bps = 5000000,
	.hai_Bps = 50000000,
};

struct run {
	struct dcqcn_params p;
	struct dcqcn_limits l;
	struct dcqcn_vars v;
	u64 now_ns;
};

static struct run run_start(const struct dcqcn_params *p)
{
	struct run r = { .p = *p, .l = line, .now_ns = SECOND };

	dcqcn_params_finish(&r.p);
	dcqcn_start(&r.v, &r.p, &r.l, r.now_ns);
	return r;
}

static enum dcqcn_cause advance(struct run *r, u64 dt_ns, u64 bytes)
{
	r->now_ns += dt_ns;
	return dcqcn_advance(&r->v, &r->p, &r->l, r->now_ns, bytes);
}

static bool cnp(struct run *r, u64 dt_ns, bool fresh)
{
	r->now_ns += dt_ns;
	return dcqcn_cnp(&r->v, &r->p, &r->l, r->now_ns, fresh);
}

static u64 alpha(const struct run *r)
{
	return dcqcn_alpha(&r->v, &r->p, r->now_ns);
}

static void expect_rates(const struct run *r, u64 rate_Bps, u64 target_Bps)
{
	assert_int_equal(r->v.rate_Bps, rate_Bps);
	assert_int_equal(r->v.target_Bps, target_Bps);
}

/* Check cause and rates of an event. */
static void expect(struct run *r, u64 dt_ns, u64 bytes, enum dcqcn_cause cause,
		   u64 rate_Bps, u64 target_Bps)
{
	assert_int_equal(advance(r, dt_ns, bytes), cause);
	expect_rates(r, rate_Bps, target_Bps);
}

/* A flow after four CNPs, far below the line rate */
static struct run run_slow(const struct dcqcn_params *p)
{
	struct run r = run_start(p);
	int i;

	for (i = 0; i < 4; i++)
		assert_true(cnp(&r, p->monitor_ns, true));
	return r;
}

#define T	55000
#define B	10000000

/* ---- computed by hand ---- */

static void test_start(void **state)
{
	struct run r = run_start(&paper);

	(void)state;
	expect_rates(&r, 5000000000, 5000000000);
	assert_true(alpha(&r) == DCQCN_ONE);
	/* the rate is at its limit, and alpha is constant until the first CNP */
	expect(&r, HOUR, 100000000, DCQCN_HYPER, 5000000000, 5000000000);
	assert_true(alpha(&r) == DCQCN_ONE);
	assert_true(cnp(&r, 0, false));
	expect_rates(&r, 2500000000, 5000000000);
}

/* rate *= 1 - alpha / 2, for each initial alpha */
static void test_first_cnp(void **state)
{
	static const struct {
		u32 initial_alpha;
		bool alpha_first;
		u64 rate_Bps;
		double alpha;
	} cases[] = {
		{ 1000, false, 2500000000, 1 },
		{ 1000, true, 2500000000, 1 },
		{ 500, false, 3750000000, 0.5 * 255 / 256 + 1.0 / 256 },
		{ 500, true, 3745117188, 0.5 * 255 / 256 + 1.0 / 256 },
		/* 0.001 is rounded down */
		{ 1, false, 4997500001, 0.001 * 255 / 256 + 1.0 / 256 },
		{ 0, false, 5000000000, 1.0 / 256 },
		{ 0, true, 4990234375, 1.0 / 256 },
	};
	struct dcqcn_params p = paper;
	struct run r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		p.initial_alpha = cases[i].initial_alpha;
		p.alpha_first = cases[i].alpha_first;
		r = run_start(&p);
		assert_true(cnp(&r, 0, true));
		expect_rates(&r, cases[i].rate_Bps, 5000000000);
		assert_float_equal(alpha(&r) / (double)DCQCN_ONE, cases[i].alpha, 0.000000001);
	}
}

/* R_T is the rate before the last CNP, not before the first. */
static void test_cnps(void **state)
{
	struct run r = run_start(&paper);

	(void)state;
	cnp(&r, 0, true);
	cnp(&r, 50000, true);
	expect_rates(&r, 1250000000, 2500000000);
	/* alpha decays by 1/256 in K, and the rate is halfway back */
	cnp(&r, 55000, true);
	expect_rates(&r, 1875000000 - 933837890, 1875000000);
	/* lowest rate */
	while (r.v.rate_Bps > r.l.min_Bps)
		cnp(&r, 50000, true);
	cnp(&r, 50000, true);
	expect_rates(&r, 5000000, 5000000);
}

/* With g = 1/256, alpha halves in 177 K. Only whole K since the last CNP count. */
static void test_alpha(void **state)
{
	struct run r = run_start(&paper);
	u64 half = DCQCN_ONE / 2, before;

	(void)state;
	cnp(&r, 0, true);
	r.now_ns += 177 * 55000;
	assert_in_range(alpha(&r), half, half + half / 256);
	r.now_ns += 55000 - 1;
	assert_in_range(alpha(&r), half, half + half / 256);
	r.now_ns += 1;
	assert_in_range(alpha(&r), half - half / 256, half);

	cnp(&r, 0, true);
	before = alpha(&r);
	r.now_ns += 55000 - 1;
	assert_true(alpha(&r) == before);
	r.now_ns += 1;
	assert_true(alpha(&r) == before - before / 256 - 1);
	/* a loss does not change alpha */
	dcqcn_cut(&r.v, &r.p, &r.l, r.now_ns);
	assert_true(alpha(&r) == before - before / 256 - 1);
	r.now_ns += 55000;
	assert_true(alpha(&r) < before - before / 256 - 1);
	/* alpha decays to 0 */
	r.now_ns += HOUR;
	assert_true(alpha(&r) == 0);
}

/* Five steps reduce R_T - R_C to 1/32; the fifth adds R_AI. */
static void test_recovery(void **state)
{
	struct run r = run_slow(&paper);

	(void)state;
	expect_rates(&r, 312500000, 625000000);
	expect(&r, T - 1, B - 1, DCQCN_NONE, 312500000, 625000000);
	expect(&r, 1, 0, DCQCN_FAST, 468750000, 625000000);
	expect(&r, T, 0, DCQCN_FAST, 546875000, 625000000);
	expect(&r, T, 0, DCQCN_FAST, 585937500, 625000000);
	expect(&r, T, 0, DCQCN_FAST, 605468750, 625000000);
	expect(&r, T, 0, DCQCN_ADDITIVE, 617734375, 630000000);
	assert_int_equal(r.v.target_Bps - r.v.rate_Bps, 312500000 / 32 + 5000000 / 2);

	/* all at once, rounded up */
	r = run_slow(&paper);
	expect(&r, 5 * T, 0, DCQCN_ADDITIVE, 617734375, 630000000);
	expect(&r, T, 0, DCQCN_ADDITIVE, 626367188, 635000000);

	/* at line rate, the fifth adds no R_AI */
	r = run_start(&paper);
	cnp(&r, 0, true);
	advance(&r, 5 * T, 0);
	expect_rates(&r, 5000000000ULL - 2500000000ULL / 32, 5000000000);
}

/* Either count at F ends fast recovery; both above F start hyper increase. */
static void test_stages(void **state)
{
	struct run r = run_slow(&paper);

	(void)state;
	/* if both are due, the timer is first */
	expect(&r, T, B, DCQCN_FAST, 546875000, 625000000);
	expect(&r, 0, 3 * B, DCQCN_FAST, 615234375, 625000000);
	assert_int_equal(r.v.timer_stage, 1);
	assert_int_equal(r.v.byte_stage, 4);
	/* BC = 5, TC = 1 */
	expect(&r, 0, B, DCQCN_ADDITIVE, 622617188, 630000000);
	/* BC = 6, TC = 5: not above F */
	advance(&r, 4 * T, B);
	assert_int_equal(r.v.byte_stage, 6);
	assert_int_equal(advance(&r, 0, 0), DCQCN_NONE);
	assert_int_equal(r.v.target_Bps, 655000000);
	/* TC = 6: i = 2 */
	assert_int_equal(advance(&r, T, 0), DCQCN_HYPER);
	assert_int_equal(r.v.target_Bps, 755000000);
	/* TC = 7: the smaller count determines i */
	assert_int_equal(advance(&r, T, 0), DCQCN_HYPER);
	assert_int_equal(r.v.target_Bps, 855000000);
	/* BC = 7: i = 3 */
	assert_int_equal(advance(&r, 0, B), DCQCN_HYPER);
	assert_int_equal(r.v.target_Bps, 1005000000);

	/* F = 1: no fast recovery; the second pair of events is hyper increase */
	r = run_slow(&nic);
	assert_int_equal(advance(&r, 300000, 0), DCQCN_ADDITIVE);
	assert_int_equal(advance(&r, 0, 32767), DCQCN_ADDITIVE);
	assert_int_equal(advance(&r, 0, 32767), DCQCN_ADDITIVE);
	assert_int_equal(advance(&r, 300000, 0), DCQCN_HYPER);
}

/* Rates reach the limit, remain there, and follow a change of the limit. */
static void test_limit(void **state)
{
	struct run r = run_slow(&paper);

	(void)state;
	/* R_C rises 5 MB/s below R_T until R_T is at the limit */
	expect(&r, 5 * T + 100 * (u64)T, 0, DCQCN_ADDITIVE, 1125000000, 1130000000);
	expect(&r, 700 * (u64)T, 0, DCQCN_ADDITIVE, 4625000000, 4630000000);
	expect(&r, 74 * (u64)T, 0, DCQCN_ADDITIVE, 4995000000, 5000000000);
	expect(&r, T, 0, DCQCN_ADDITIVE, 4997500000, 5000000000);
	expect(&r, 1000 * (u64)T, 0, DCQCN_ADDITIVE, 5000000000, 5000000000);
	expect(&r, 100 * 365 * 24 * HOUR, UINT32_MAX, DCQCN_HYPER, 5000000000, 5000000000);
	assert_int_equal(r.v.timer_stage, DCQCN_STAGE_MAX);

	/* a slower link, a faster link */
	r.l.max_Bps = 1000000000;
	expect(&r, 0, 0, DCQCN_NONE, 1000000000, 1000000000);
	r.l.max_Bps = 2000000000;
	expect(&r, 0, 0, DCQCN_NONE, 1000000000, 1000000000);
	assert_int_equal(advance(&r, T, 0), DCQCN_HYPER);
	assert_int_equal(r.v.target_Bps, 2000000000);
	r.l.min_Bps = 2000000000;
	expect(&r, 0, 0, DCQCN_NONE, 2000000000, 2000000000);
}

/* A CNP resets the timer, the byte counter and both counts. */
static void test_reset(void **state)
{
	struct run r = run_slow(&paper);

	(void)state;
	advance(&r, 7 * T + T - 1, 7 * B + B - 1);
	assert_int_equal(r.v.timer_stage, 7);
	assert_int_equal(r.v.byte_stage, 7);
	assert_true(cnp(&r, 0, true));
	assert_int_equal(r.v.timer_stage, 0);
	assert_int_equal(r.v.byte_stage, 0);
	assert_int_equal(advance(&r, T - 1, B - 1), DCQCN_NONE);
	assert_int_equal(advance(&r, 1, 0), DCQCN_FAST);
	assert_int_equal(advance(&r, 0, 1), DCQCN_FAST);
}

/* A possible repetition is effective after monitor_ns, a fresh CNP after half of it. */
static void test_filter(void **state)
{
	struct run r = run_start(&paper);
	struct dcqcn_vars before;

	(void)state;
	assert_true(cnp(&r, 0, false));
	before = r.v;
	assert_false(cnp(&r, 0, false));
	assert_false(cnp(&r, 0, true));
	assert_false(cnp(&r, 24999, true));
	assert_false(cnp(&r, 25000, false));
	assert_memory_equal(&r.v, &before, sizeof(before));
	assert_true(cnp(&r, 1, false));
	assert_true(cnp(&r, 25000, true));
	assert_false(cnp(&r, 49999, false));
	assert_true(cnp(&r, 1, false));
}

static void test_loss(void **state)
{
	struct run r = run_start(&paper);

	(void)state;
	assert_false(dcqcn_undo(&r.v));
	advance(&r, 20 * T - 1, 20 * B - 1);
	dcqcn_cut(&r.v, &r.p, &r.l, r.now_ns);
	expect_rates(&r, 2500000000, 5000000000);
	assert_true(alpha(&r) == DCQCN_ONE);
	/* recovery as from a CNP, with both counts at 0 */
	expect(&r, T - 1, B - 1, DCQCN_NONE, 2500000000, 5000000000);
	expect(&r, 1, 0, DCQCN_FAST, 3750000000, 5000000000);
	assert_true(dcqcn_undo(&r.v));
	expect_rates(&r, 5000000000, 5000000000);
	assert_false(dcqcn_undo(&r.v));

	/* a later CNP is not reverted */
	dcqcn_cut(&r.v, &r.p, &r.l, r.now_ns);
	assert_true(cnp(&r, 0, false));
	expect_rates(&r, 1250000000, 2500000000);
	assert_false(dcqcn_undo(&r.v));
	expect_rates(&r, 1250000000, 2500000000);

	/* lowest rate */
	while (r.v.rate_Bps > r.l.min_Bps)
		dcqcn_cut(&r.v, &r.p, &r.l, r.now_ns);
	expect_rates(&r, 5000000, 9765625);
}

/* T is that of the limits if it is longer. */
static void test_timer_limit(void **state)
{
	struct run r = run_slow(&paper);
	u64 rate_Bps;

	(void)state;
	r.l.timer_ns = 2 * T;
	assert_int_equal(advance(&r, 2 * T - 1, 0), DCQCN_NONE);
	assert_int_equal(advance(&r, 1, 0), DCQCN_FAST);
	/* the limit may change between two events */
	r.l.timer_ns = T + 1;
	assert_int_equal(advance(&r, T, 0), DCQCN_NONE);
	r.l.timer_ns = 1;
	assert_int_equal(advance(&r, 0, 0), DCQCN_FAST);
	assert_int_equal(r.v.timer_stage, 2);
	/* a rate that is cut once in F T does not increase */
	rate_Bps = r.v.rate_Bps;
	r.l.timer_ns = 20 * T;
	assert_true(cnp(&r, 0, true));
	assert_true(cnp(&r, 5 * 20 * T - 1, true));
	assert_true(r.v.target_Bps < rate_Bps);
}

/* ---- by_rate ---- */

/* The step of R_T is R_C / 128 + 1, and R_AI if that is less. */
static void test_step_by_rate(void **state)
{
	struct run r = run_start(&tuned);
	u64 rate_Bps, target_Bps;
	int i;

	(void)state;
	r.l.ai_Bps = 500000;
	for (i = 0; i < 8; i++)
		assert_true(cnp(&r, tuned.cnp_interval_ns, true));
	for (i = 1; i < 5; i++)
		assert_int_equal(advance(&r, tuned.timer_ns, 0), DCQCN_FAST);
	while (r.v.rate_Bps < 128 * 500000) {
		rate_Bps = r.v.rate_Bps;
		target_Bps = r.v.target_Bps;
		assert_int_equal(advance(&r, tuned.timer_ns, 0), DCQCN_ADDITIVE);
		assert_int_equal(r.v.target_Bps, target_Bps + rate_Bps / 128 + 1);
	}
	target_Bps = r.v.target_Bps;
	assert_int_equal(advance(&r, tuned.timer_ns, 0), DCQCN_ADDITIVE);
	assert_int_equal(r.v.target_Bps, target_Bps + 500000);
	/* an event at a time, and all events at once */
	r = run_start(&tuned);
	for (i = 0; i < 8; i++)
		assert_true(cnp(&r, tuned.cnp_interval_ns, true));
	for (i = 0; i < 1000; i++)
		advance(&r, tuned.timer_ns, 0);
	rate_Bps = r.v.rate_Bps;
	target_Bps = r.v.target_Bps;
	r = run_start(&tuned);
	for (i = 0; i < 8; i++)
		assert_true(cnp(&r, tuned.cnp_interval_ns, true));
	advance(&r, 1000 * tuned.timer_ns, 0);
	expect_rates(&r, rate_Bps, target_Bps);
}

/* At 10 MB/s, a packet of 1500 bytes takes 150 us: K is as long. */
static void test_alpha_by_rate(void **state)
{
	struct run r = run_start(&tuned);

	(void)state;
	r.l.max_Bps = 10000000;
	assert_int_equal(advance(&r, 1, 0), DCQCN_NONE);
	r.l.min_Bps = 10000000;
	assert_true(cnp(&r, 0, true));
	expect_rates(&r, 10000000, 10000000);
	r.now_ns += 149999;
	assert_true(alpha(&r) == DCQCN_ONE);
	r.now_ns += 1;
	assert_true(alpha(&r) == DCQCN_ONE - DCQCN_ONE / 128);
	/* the same time at 100 MB/s has 10 K of 15 us */
	r.v.rate_Bps = 100000000;
	assert_float_equal(alpha(&r) / (double)DCQCN_ONE, 0.924565, 0.00001);
	r.p.by_rate = false;
	r.v.rate_Bps = 10000000;
	assert_float_equal(alpha(&r) / (double)DCQCN_ONE, 0.924565, 0.00001);
}

/* The parameters of the tests are those of the profiles. */
static void test_profiles(void **state)
{
	static const struct dcqcn_params *const params[] = {
		[DCQCN_PROFILE_PAPER] = &paper,
		[DCQCN_PROFILE_NIC] = &nic,
		[DCQCN_PROFILE_TUNED] = &tuned,
	};
	const struct dcqcn_profile *f;
	int i;

	(void)state;
	for (i = 0; i < DCQCN_PROFILES; i++) {
		f = &dcqcn_profiles[i];
		assert_int_equal(f->time_reset_us * 1000, params[i]->timer_ns);
		assert_int_equal(f->byte_reset, params[i]->byte_reset);
		assert_int_equal(f->threshold, params[i]->threshold);
		assert_int_equal(f->g_inverse, params[i]->g_inverse);
		assert_int_equal(f->alpha_us * 1000, params[i]->alpha_ns);
		assert_int_equal(f->cnp_us * 1000, params[i]->cnp_interval_ns);
		assert_int_equal(f->monitor_us * 1000, params[i]->monitor_ns);
		assert_int_equal(f->by_rate, params[i]->by_rate);
		assert_int_equal(f->burst_us, i == DCQCN_PROFILE_TUNED ? 4 : 0);
		assert_int_equal(f->window_us, i == DCQCN_PROFILE_TUNED ? 100 : 1000);
	}
}

/* ---- work ---- */

/*
 * Upper bound of the work of a call, for all parameters and idle times: timer and byte
 * counter count to 255, the difference of the rates halves 39 times, twice, with three
 * counted operations each; and the exponent of alpha has 64 bits.
 */
#define MOST_WORK	(2 * 3 * (255 + 2 * 39 + 2) + 2 * 64)

/*
 * With by_rate also 3500 events in which a rate grows from 1 to 2^37 bytes per second by
 * at most 1/128, and less while R_C follows R_T. A profile's rate grows a hundredfold.
 */
#define MOST_WORK_BY_RATE	(MOST_WORK + 3 * 4000)

static void test_work(void **state)
{
	unsigned long most[2] = { 0 };
	struct rng rng;
	struct run r;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < RANDOM_RUNS; i++) {
		if (i % 10 == 0) {
			r = run_start(&paper);
			random_params(&rng, &r.p);
			r.p.by_rate = rng_percent(&rng, 30);
			random_limits(&rng, &r.l);
			/* tiny steps need the most work */
			if (rng_percent(&rng, 50))
				r.l.ai_Bps = rng_in(&rng, 0, 2);
			if (rng_percent(&rng, 50))
				r.l.hai_Bps = rng_in(&rng, 0, 2);
			dcqcn_params_finish(&r.p);
			dcqcn_start(&r.v, &r.p, &r.l, r.now_ns);
		}
		work = 0;
		if (rng_percent(&rng, 50))
			advance(&r, rng_log(&rng, 1, 1ULL << 60), rng_log(&rng, 1, 1ULL << 60));
		else
			cnp(&r, rng_log(&rng, 1, 1ULL << 60), true);
		if (work > most[r.p.by_rate])
			most[r.p.by_rate] = work;
		assert_in_range(work, 0, r.p.by_rate ? MOST_WORK_BY_RATE : MOST_WORK);
		assert_in_range(r.v.rate_Bps, r.l.min_Bps, r.v.target_Bps);
		assert_in_range(r.v.target_Bps, r.v.rate_Bps, r.l.max_Bps);
	}
	printf("# maximum work: %lu of %d, with by_rate %lu of %d\n", most[0], MOST_WORK, most[1],
	       MOST_WORK_BY_RATE);
}

/* ---- receiver ---- */

static void test_np(void **state)
{
	struct dcqcn_np np = { 0 };

	(void)state;
	assert_false(dcqcn_np_packet(&np, &paper, 1000, false));
	/* first CNP: at once */
	assert_true(dcqcn_np_packet(&np, &paper, 1001, true));
	assert_false(dcqcn_np_packet(&np, &paper, 1001, true));
	assert_false(dcqcn_np_packet(&np, &paper, 30000, false));
	/* at the end of N, for the packets within N */
	assert_false(dcqcn_np_packet(&np, &paper, 51000, false));
	assert_true(dcqcn_np_packet(&np, &paper, 51001, false));
	/* no marked packets within N */
	assert_false(dcqcn_np_packet(&np, &paper, 101001, false));
	assert_true(dcqcn_np_packet(&np, &paper, 101002, true));
	/* after N without marked packets: at once */
	assert_true(dcqcn_np_packet(&np, &paper, HOUR, true));
	/* at the end of N, but not before the next packet */
	assert_false(dcqcn_np_packet(&np, &paper, HOUR + 1, true));
	assert_true(dcqcn_np_packet(&np, &paper, 2 * HOUR, false));
	assert_false(dcqcn_np_packet(&np, &paper, 3 * HOUR, false));
}

/*
 * A packet causes a CNP if and only if a marked packet, itself included, has arrived
 * since the last CNP, and that was at least N ago.
 */
static void test_np_random(void **state)
{
	u64 now_ns = SECOND, sent_ns = 0, cnps = 0;
	struct dcqcn_np np = { 0 };
	bool ce, marked = false;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < RANDOM_RUNS; i++) {
		now_ns += rng_log(&rng, 1, 200000) - 1;
		ce = rng_percent(&rng, 20);
		marked |= ce;
		if (dcqcn_np_packet(&np, &paper, now_ns, ce)) {
			assert_true(marked);
			assert_true(!sent_ns || now_ns - sent_ns >= 50000);
			sent_ns = now_ns;
			marked = false;
			cnps++;
		} else {
			assert_true(!marked || (sent_ns && now_ns - sent_ns < 50000));
		}
	}
	assert_in_range(cnps, RANDOM_RUNS / 20, RANDOM_RUNS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_first_cnp),
		cmocka_unit_test(test_cnps),
		cmocka_unit_test(test_alpha),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_timer_limit),
		cmocka_unit_test(test_step_by_rate),
		cmocka_unit_test(test_alpha_by_rate),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_np),
		cmocka_unit_test(test_np_random),
	};

	return cmocka_run_group_tests_name("dcqcn", tests, NULL, NULL);
}
