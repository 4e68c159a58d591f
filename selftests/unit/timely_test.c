// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_cc/timely.c: cases computed by hand, invariants, extreme parameters
 *
 * timely_random_test.c compares it with the equations of the papers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <math.h>
#include <stdint.h>
#include <cmocka.h>

#include "timely_common.h"

#define RANDOM_SAMPLES	1000000

/* The paper's parameters on a line of 10 Gbit/s */
static const struct timely_params paper = {
	.alpha = 917504,	/* 0.875 */
	.beta = 838861,		/* 0.8 */
	.beta_high = 838861,
	.t_low_ns = 50000,
	.t_high_ns = 500000,
	.min_rtt_ns = 20000,
	.hai_n = 5,
	.hai_threshold = 5,
};

static const struct timely_limits line = {
	.delta_Bps = 1250000,
	.min_Bps = 1250000,
	.max_Bps = 1250000000,
};

#define HALF_LINE	625000000
#define FULL_STEP	20000

/* A sender after its first sample */
struct run {
	struct timely_params p;
	struct timely_limits l;
	struct timely_vars v;
	u64 now_ns;
};

static struct run run_from(const struct timely_params *p, u64 rate_Bps, u32 rtt_ns)
{
	struct run r = { .p = *p, .l = line, .v.rate_Bps = rate_Bps, .now_ns = SECOND };

	timely_params_finish(&r.p);
	assert_int_equal(timely_update(&r.v, &r.p, &r.l, rtt_ns, r.now_ns, false), TIMELY_START);
	assert_int_equal(r.v.rate_Bps, rate_Bps);
	return r;
}

static enum timely_cause sample(struct run *r, u32 rtt_ns, u64 dt_ns, bool hold)
{
	r->now_ns += dt_ns;
	return timely_update(&r->v, &r->p, &r->l, rtt_ns, r->now_ns, hold);
}

/* Check cause and rate of a sample, up to the rounding of Q12.20. */
static void expect(struct run *r, u32 rtt_ns, u64 dt_ns, enum timely_cause cause, u64 rate_Bps)
{
	u64 off = 1 + (rate_Bps >> 18);

	assert_int_equal(sample(r, rtt_ns, dt_ns, false), cause);
	assert_in_range(r->v.rate_Bps, rate_Bps - off, rate_Bps + off);
}

/* ---- computed by hand ---- */

static void test_low(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 30000);

	(void)state;
	expect(&r, 30000, FULL_STEP, TIMELY_LOW, 626250000);
	/* the gradient does not matter: 0.875 * 19.999 us / 20 us */
	expect(&r, 49999, FULL_STEP, TIMELY_LOW, 627500000);
	/* nor does hyperactive increase */
	expect(&r, 1, FULL_STEP, TIMELY_LOW, 628750000);
	/* sooner than minRTT: a smaller step in proportion */
	expect(&r, 30000, FULL_STEP / 2, TIMELY_LOW, 629375000);
	expect(&r, 30000, FULL_STEP / 20, TIMELY_LOW, 629437500);
	expect(&r, 30000, 0, TIMELY_LOW, 629437500);
	/* later than minRTT: no larger step */
	expect(&r, 30000, HOUR, TIMELY_LOW, 630687500);
}

/* rate *= 1 - beta (1 - t_high / rtt), with the latest RTT only */
static void test_high(void **state)
{
	static const struct {
		u32 rtt_ns;
		u64 dt_ns;
		u64 rate_Bps;
	} cases[] = {
		{ 500001, FULL_STEP, 624999000 },
		{ 625000, FULL_STEP, 525000000 },
		{ 800000, FULL_STEP, 437500000 },
		{ 800000, FULL_STEP / 2, 531250000 },
		{ 800000, HOUR, 437500000 },
		{ 800000, 0, 625000000 },
		{ 1000000, FULL_STEP, 375000000 },
		/* 1 - 0.8 * 0.625 is one half, the maximum decrease */
		{ 1333333, FULL_STEP, 312500000 },
		{ 10000000, FULL_STEP, 312500000 },
		{ UINT32_MAX, FULL_STEP, 312500000 },
		/* RTTs are clamped to 2^30 ns */
		{ UINT32_MAX, FULL_STEP / 4, 500058208 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct run r = run_from(&paper, HALF_LINE, 2000000);

		expect(&r, cases[i].rtt_ns, cases[i].dt_ns, TIMELY_HIGH, cases[i].rate_Bps);
	}
}

/* Between the thresholds: alpha, beta, minRTT. Time does not scale a decrease. */
static void test_gradient(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 100000);

	(void)state;
	/* no gradient */
	expect(&r, 100000, FULL_STEP, TIMELY_ADD, 626250000);
	/* 0.875 * 5 us = 4.375 us; / 20 us * 0.8 = 0.175 */
	expect(&r, 105000, FULL_STEP, TIMELY_MUL, 516656250);
	/* 0.125 * 4.375 us + 0.875 * 1 us = 1.421875 us; 0.056875 */
	expect(&r, 106000, 0, TIMELY_MUL, 487271426);
	/* 0.125 * 1.421875 us - 0.875 * 1 us < 0 */
	expect(&r, 105000, FULL_STEP / 2, TIMELY_ADD, 487896426);
	/* RTT rises by 0.05 us, but 0.125 * -0.697 us + 0.875 * 0.05 us < 0 */
	expect(&r, 105050, FULL_STEP, TIMELY_ADD, 489146426);
	/* 0.8 * 0.875 * 14.4 us / 20 us is more than half */
	expect(&r, 119450, FULL_STEP, TIMELY_MUL, 244573213);
	expect(&r, 400000, 0, TIMELY_MUL, 122286607);
}

/* alpha = 1: only the last difference counts */
static void test_alpha_one(void **state)
{
	struct timely_params p = paper;
	struct run r;

	(void)state;
	p.alpha = TIMELY_ONE;
	r = run_from(&p, HALF_LINE, 100000);
	expect(&r, 110000, 0, TIMELY_MUL, 375000000);
	expect(&r, 110000, 0, TIMELY_ADD, 375000000);
	expect(&r, 110001, 0, TIMELY_MUL, 374985000);
	expect(&r, 110000, FULL_STEP, TIMELY_ADD, 376235000);
}

/* A constant RTT counts for hyperactive increase, a rising one ends it. */
static void test_hai(void **state)
{
	struct timely_params p = paper;
	u64 rate_Bps = HALF_LINE;
	struct run r;
	int i;

	(void)state;
	p.alpha = TIMELY_ONE;
	r = run_from(&p, HALF_LINE, 400000);
	for (i = 1; i <= 4; i++)
		expect(&r, 400000 - i / 2, FULL_STEP, TIMELY_ADD, rate_Bps += 1250000);
	expect(&r, 399998, FULL_STEP, TIMELY_HAI, rate_Bps += 6250000);
	expect(&r, 399998, FULL_STEP / 2, TIMELY_HAI, rate_Bps += 3125000);
	expect(&r, 399997, 0, TIMELY_HAI, rate_Bps);
	expect(&r, 400997, FULL_STEP, TIMELY_MUL, rate_Bps = rate_Bps * 24 / 25);
	for (i = 1; i <= 4; i++)
		expect(&r, 400997, FULL_STEP, TIMELY_ADD, rate_Bps += 1250000);
	expect(&r, 400997, FULL_STEP, TIMELY_HAI, rate_Bps += 6250000);
}

/* Neither the RTT nor the smoothed gradient may rise. */
static void test_hai_smoothed(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 400000);
	int i;

	(void)state;
	for (i = 1; i <= 5; i++)
		sample(&r, 400000 - 1000 * i, FULL_STEP, false);
	assert_int_equal(sample(&r, 394000, FULL_STEP, false), TIMELY_HAI);
	/* 0.125 * -1 us + 0.875 * 0.1 us < 0: no decrease, but the RTT rises */
	assert_int_equal(sample(&r, 394100, FULL_STEP, false), TIMELY_ADD);
	for (i = 1; i <= 4; i++)
		assert_int_equal(sample(&r, 394100 - i, FULL_STEP, false), TIMELY_ADD);
	assert_int_equal(sample(&r, 394000, FULL_STEP, false), TIMELY_HAI);
	assert_int_equal(sample(&r, 395000, FULL_STEP, false), TIMELY_MUL);
	/* 0.125 * 0.87 us - 0.875 * 0.001 us > 0: the gradient still rises */
	assert_int_equal(sample(&r, 394999, FULL_STEP, false), TIMELY_MUL);
	for (i = 1; i <= 4; i++)
		assert_int_equal(sample(&r, 394000 - i, FULL_STEP, false), TIMELY_ADD);
	assert_int_equal(sample(&r, 393990, FULL_STEP, false), TIMELY_HAI);
}

/* Samples outside of T_low..T_high count as well. */
static void test_hai_outside(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 900000);
	int i;

	(void)state;
	for (i = 1; i <= 5; i++)
		assert_int_equal(sample(&r, 900000 - i, FULL_STEP, false), TIMELY_HIGH);
	assert_int_equal(sample(&r, 400000, FULL_STEP, false), TIMELY_HAI);
	for (i = 0; i < 10; i++)
		assert_int_equal(sample(&r, 40000 - i, FULL_STEP, false), TIMELY_LOW);
	assert_int_equal(sample(&r, 50001, FULL_STEP, false), TIMELY_MUL);
}

/* The count of calm samples does not wrap, and reaches 255. */
static void test_hai_long(void **state)
{
	struct timely_params p = paper;
	struct run r;
	int i;

	(void)state;
	p.hai_threshold = 255;
	r = run_from(&p, 1250000, 400000);
	for (i = 1; i < 255; i++)
		assert_int_equal(sample(&r, 400000 - i, FULL_STEP, false), TIMELY_ADD);
	for (; i < 2000; i++)
		assert_int_equal(sample(&r, 400000 - i, FULL_STEP, false), TIMELY_HAI);
	p = paper;
	p.hai_n = 1;
	r = run_from(&p, 1250000, 400000);
	for (i = 1; i < 100; i++)
		assert_int_equal(sample(&r, 400000 - i, FULL_STEP, false), TIMELY_ADD);
	assert_int_equal(r.v.rate_Bps, 100 * 1250000);
}

/* Number of samples from half of the line rate to line rate, after @before held ones */
static int completions(u8 hai_n, int before)
{
	struct timely_params p = paper;
	struct run r;
	int n, i;

	p.hai_n = hai_n;
	r = run_from(&p, HALF_LINE, 60000);
	for (i = 0; i < before; i++)
		sample(&r, 60000, FULL_STEP, true);
	assert_int_equal(r.v.rate_Bps, HALF_LINE);
	for (n = 0; r.v.rate_Bps < line.max_Bps; n++)
		sample(&r, 60000, FULL_STEP, false);
	return n;
}

/* 5 Gbit/s take 500 steps of 10 Mbit/s, or 100 steps with N = 5. */
static void test_recovery(void **state)
{
	(void)state;
	assert_int_equal(completions(5, 4), 100);
	assert_int_equal(completions(5, 0), 4 + 100);
	assert_int_equal(completions(1, 0), 500);
}

/* The rate of a sender that does not use it may fall, but does not rise. */
static void test_hold(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 30000);
	int i;

	(void)state;
	assert_int_equal(sample(&r, 30000, FULL_STEP, true), TIMELY_HOLD);
	/* no time has passed: there is no increase to suppress */
	assert_int_equal(sample(&r, 30000, 0, true), TIMELY_LOW);
	r = run_from(&paper, HALF_LINE, 400000);
	for (i = 1; i <= 7; i++)
		assert_int_equal(sample(&r, 400000 - i * 1000, FULL_STEP, true), TIMELY_HOLD);
	assert_int_equal(r.v.rate_Bps, HALF_LINE);
	/* suppressed increases count for hyperactive increase */
	assert_int_equal(sample(&r, 390000, FULL_STEP, false), TIMELY_HAI);
	r.v.rate_Bps = HALF_LINE;
	assert_int_equal(sample(&r, 400000, FULL_STEP, true), TIMELY_MUL);
	assert_true(r.v.rate_Bps < HALF_LINE);
	r.v.rate_Bps = HALF_LINE;
	assert_int_equal(sample(&r, 1000000, FULL_STEP, true), TIMELY_HIGH);
	assert_in_range(r.v.rate_Bps, 374990000, 375010000);
}

/* After a change of the source of RTTs, a new gradient starts. */
static void test_restart(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 400000);
	s64 diff;
	int i;

	(void)state;
	for (i = 1; i <= 4; i++)
		sample(&r, 400000 - 16 * i, 0, false);
	diff = r.v.diff;
	assert_true(diff < 0);
	r.now_ns += SECOND;
	r.v.prev_rtt_ns = 0;
	assert_int_equal(sample(&r, 300000, 0, false), TIMELY_START);
	assert_int_equal(r.v.rate_Bps, HALF_LINE);
	assert_int_equal(r.v.diff, diff);
	/* without the restart: the fifth calm sample, after 1 s, 100 us lower */
	assert_int_equal(sample(&r, 299999, 0, false), TIMELY_ADD);
	assert_int_equal(r.v.rate_Bps, HALF_LINE);
	assert_in_range(-r.v.diff, 256 * 0.875, 256 * (0.875 + 16 * 0.125) + 2);
}

/* T_low = T_high: the queue length is controlled (section 4.4). */
static void test_one_target(void **state)
{
	struct timely_params p = paper;
	struct run r;

	(void)state;
	p.t_low_ns = 100000;
	p.t_high_ns = 100000;
	r = run_from(&p, HALF_LINE, 99999);
	expect(&r, 99999, FULL_STEP, TIMELY_LOW, 626250000);
	expect(&r, 125000, FULL_STEP, TIMELY_HIGH, 526050000);
	expect(&r, 100001, FULL_STEP, TIMELY_HIGH, 526045800);
	expect(&r, 100000, FULL_STEP, TIMELY_ADD, 527295800);
}

/* T_low = 0, for pacing of single packets: only the gradient counts. */
static void test_no_t_low(void **state)
{
	struct timely_params p = paper;
	struct run r;

	(void)state;
	p.t_low_ns = 0;
	r = run_from(&p, HALF_LINE, 10000);
	expect(&r, 10000, FULL_STEP, TIMELY_ADD, 626250000);
	expect(&r, 15000, FULL_STEP, TIMELY_MUL, 516656250);
	expect(&r, 1, FULL_STEP, TIMELY_ADD, 517906250);
	/* the target of mode patched is minRTT */
	p.patched = true;
	p.alpha = TIMELY_ONE;
	r = run_from(&p, HALF_LINE, 10000);
	assert_int_equal(r.p.ref_ns, 20000);
	expect(&r, 10000, FULL_STEP, TIMELY_REF, 625625000);
	/* twice the target, slope 1/2: the full beta */
	expect(&r, 40000, FULL_STEP, TIMELY_REF, 312812500);
}

/* rate (1 - beta w err) + delta (1 - w) */
static void test_patched(void **state)
{
	struct timely_params p = paper;
	struct run r;

	(void)state;
	p.patched = true;
	p.alpha = TIMELY_ONE;
	p.beta = 8389;		/* 0.008 */
	r = run_from(&p, HALF_LINE, 100000);
	assert_int_equal(r.p.ref_ns, 50000);
	/* flat: w = 1/2; twice t_low: err = 1 */
	expect(&r, 100000, FULL_STEP, TIMELY_REF, 623125000);
	expect(&r, 100000, FULL_STEP / 2, TIMELY_REF, 622191250);
	expect(&r, 100000, 0, TIMELY_REF, 622191250);
	/* slope 1/4: w = 1 */
	expect(&r, 105000, FULL_STEP, TIMELY_REF, 616715967);
	expect(&r, 115000, FULL_STEP, TIMELY_REF, 610302121);
	/* slope -1/4: w = 0; no hyperactive increase in this mode */
	expect(&r, 110000, FULL_STEP, TIMELY_REF, 611552121);
	expect(&r, 100000, FULL_STEP, TIMELY_REF, 612802121);
	/* slope 1/8: w = 3/4, err = 1.05 */
	expect(&r, 102500, FULL_STEP, TIMELY_REF, 609253968);
	/* at the target: no decrease */
	r = run_from(&p, HALF_LINE, 50000);
	expect(&r, 50000, FULL_STEP, TIMELY_REF, 625625000);
	/* outside: Algorithm 1, with beta_high above T_high */
	expect(&r, 49999, FULL_STEP, TIMELY_LOW, 626875000);
	expect(&r, 1000000, FULL_STEP, TIMELY_HIGH, 376125000);
	/* at most half, plus the increase */
	p.beta = TIMELY_ONE;
	r = run_from(&p, HALF_LINE, 400000);
	expect(&r, 450000, FULL_STEP, TIMELY_REF, 312500000);
	expect(&r, 450000, FULL_STEP, TIMELY_REF, 156875000);
}

static void test_limits(void **state)
{
	struct run r = run_from(&paper, 1249000000, 30000);

	(void)state;
	expect(&r, 30000, FULL_STEP, TIMELY_LOW, 1250000000);
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
	expect(&r, 30000, FULL_STEP, TIMELY_LOW, 1250000000);
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
	r = run_from(&paper, 1300000, 30000);
	sample(&r, 1000000, FULL_STEP, false);
	assert_int_equal(r.v.rate_Bps, line.min_Bps);
	timely_cut(&r.v, &r.l);
	assert_int_equal(r.v.rate_Bps, line.min_Bps);
	/* a slower link takes effect with the next sample */
	r = run_from(&paper, 2000000000, 100000);
	sample(&r, 100000, FULL_STEP, true);
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
}

static void test_loss(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 30000);

	(void)state;
	timely_cut(&r.v, &r.l);
	assert_int_equal(r.v.rate_Bps, 312500000);
	timely_undo(&r.v, &r.l);
	assert_int_equal(r.v.rate_Bps, HALF_LINE);
	timely_undo(&r.v, &r.l);
	timely_undo(&r.v, &r.l);
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
}

/* A burst per RTT is 80 % of the rate. */
static void test_lone(void **state)
{
	struct run r = run_from(&paper, line.min_Bps, 30000);

	(void)state;
	/* 1250 bytes in 20 us are 62.5 MB/s */
	assert_true(timely_lone(&r.v, &r.l, 1250, 20000));
	assert_int_equal(r.v.rate_Bps, 78125000);
	assert_false(timely_lone(&r.v, &r.l, 1250, 20000));
	/* the rate is never lowered */
	assert_false(timely_lone(&r.v, &r.l, 1, 20000));
	assert_false(timely_lone(&r.v, &r.l, 1250, TIMELY_RTT_MAX_NS));
	assert_int_equal(r.v.rate_Bps, 78125000);
	/* the limits apply */
	assert_true(timely_lone(&r.v, &r.l, 65536, 1));
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
	assert_false(timely_lone(&r.v, &r.l, UINT32_MAX, 1));
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
}

static void test_start(void **state)
{
	struct run r = run_from(&paper, HALF_LINE, 30000);

	(void)state;
	sample(&r, 400000, FULL_STEP, false);
	timely_start(&r.v, &r.l);
	assert_int_equal(r.v.rate_Bps, line.max_Bps);
	assert_int_equal(r.v.diff, 0);
	/* there is no previous RTT to compare with */
	assert_int_equal(sample(&r, 300000, FULL_STEP, false), TIMELY_START);
}

/* ---- invariants ---- */

/* The smoothed difference is at most the largest difference. */
static void assert_sane(const struct timely_vars *v, const struct timely_params *p)
{
	s64 most = (s64)TIMELY_RTT_MAX_NS << TIMELY_DIFF_SHIFT;

	assert_in_range(v->diff + most, 0, 2 * most);
	assert_in_range(timely_gradient(v, p) + (1LL << 31), 0, 1LL << 32);
}

static void check_always(struct run *r, u32 rtt_ns, u64 dt_ns, bool hold)
{
	u64 before = r->v.rate_Bps, low = before / 2, high;
	enum timely_cause cause = sample(r, rtt_ns, dt_ns, hold);
	u64 steps = cause == TIMELY_HAI ? r->p.hai_n : 1;

	assert_sane(&r->v, &r->p);
	assert_in_range(r->v.rate_Bps, r->l.min_Bps, r->l.max_Bps);
	assert_true(r->v.rate_Bps >= low);
	high = before + (hold ? 0 : steps * r->l.delta_Bps);
	assert_true(r->v.rate_Bps <= high);
	/* direction of each cause */
	if (cause == TIMELY_HIGH || cause == TIMELY_MUL || cause == TIMELY_HOLD)
		assert_true(r->v.rate_Bps <= before);
	if (cause == TIMELY_LOW || cause == TIMELY_ADD || cause == TIMELY_HAI)
		assert_true(r->v.rate_Bps >= before);
	if (cause == TIMELY_LOW)
		assert_true(rtt_ns < r->p.t_low_ns);
	if (cause == TIMELY_HIGH)
		assert_true(rtt_ns > r->p.t_high_ns);
	assert_int_equal(r->v.prev_rtt_ns, min_t(u32, rtt_ns, TIMELY_RTT_MAX_NS));
}

/* Full ranges of the parameters, and arbitrary samples */
static void test_always(void **state)
{
	struct rng rng;
	struct run r;
	u32 rtt_ns;
	u64 dt_ns;
	int i;

	(void)state;
	rng_seed(&rng, 4);
	for (i = 0; i < RANDOM_SAMPLES; i++) {
		if (i % 500 == 0) {
			random_params(&rng, &r.p, &r.l);
			r.v = (struct timely_vars){ .rate_Bps = r.l.max_Bps };
			r.now_ns = 0;
			timely_update(&r.v, &r.p, &r.l, random_rtt(&rng, &r.p, 0), 0, false);
		}
		rtt_ns = random_rtt(&rng, &r.p, r.v.prev_rtt_ns);
		dt_ns = random_dt(&rng, &r.p);
		check_always(&r, rtt_ns, dt_ns, rng_percent(&rng, 10));
	}
}

/* Samples at the ends of all ranges, under UBSan */
static void check_corner(const struct timely_params *p, const struct timely_limits *l)
{
	static const u64 dts[] = { 0, 1, 999, 1000, SECOND, HOUR, 1000 * HOUR };
	static const u32 rtts[] = { 1, 1000, SECOND, 1U << 30, (1U << 30) + 1, UINT32_MAX, 1 };
	struct run r = { .p = *p, .l = *l, .v.rate_Bps = l->max_Bps };
	size_t i, j;

	timely_params_finish(&r.p);
	timely_update(&r.v, &r.p, &r.l, 1, 0, false);
	for (i = 0; i < COUNT(dts); i++) {
		for (j = 0; j < COUNT(rtts); j++) {
			check_always(&r, rtts[j], dts[i], false);
			timely_undo(&r.v, &r.l);
			check_always(&r, rtts[j], dts[i], false);
			timely_cut(&r.v, &r.l);
		}
	}
}

static void test_corners(void **state)
{
	static const u32 weights[] = { 1, TIMELY_ONE / 1000, TIMELY_ONE };
	static const u32 times[] = { 0, 1000, 500000, 1U << 30 };
	static const struct timely_limits limits[] = {
		{ 1, 1, 1 },
		{ 1, 1, 1ULL << 37 },
		{ 1ULL << 36, 1, 1ULL << 37 },
		{ 1ULL << 36, 1ULL << 37, 1ULL << 37 },
		{ 100000000, 100000000, 100000000000 },
	};
	unsigned int i, combinations = 3 * 3 * 4 * 4 * 3 * 2 * 5;

	(void)state;
	for (i = 0; i < combinations; i++) {
		struct timely_params p = { .hai_threshold = 1, .hai_n = 255 };
		unsigned int n = i;

		p.alpha = weights[n % 3];
		n /= 3;
		p.beta = weights[n % 3];
		p.beta_high = weights[(n + 1) % 3];
		n /= 3;
		p.t_low_ns = times[n % 4];
		n /= 4;
		p.t_high_ns = max_t(u32, times[n % 4], p.t_low_ns);
		n /= 4;
		p.min_rtt_ns = times[1 + n % 3];
		n /= 3;
		p.patched = n % 2;
		check_corner(&p, &limits[n / 2]);
	}
}

/* ---- the rule of profile tuned ---- */

/* 10 Gbit/s: payload rate, packet of 1538 bytes on the link; thresholds and delta are to be set */
#define PAYLOAD		1177000000ULL
static const struct timely_params unset = { .min_rtt_ns = 20000 };
static const struct timely_path packets = { .link_Bps = PAYLOAD, .packet_ns = 1230, .burst = 2,
					    .least_ns = 18000 };

/* Thresholds and step of a sender with a share of the link, by the equations of timely_rule() */
static void expect_rule(const struct timely_path *path, double share)
{
	struct timely_limits l = { .delta_Bps = 0 };
	struct timely_params p = unset;
	double room, base, delta, rate = PAYLOAD * share;

	timely_rule(&p, &l, path, rate);
	room = (2 + path->burst * sqrt(1 / share)) * path->packet_ns;
	base = path->least_ns > p.min_rtt_ns ? path->least_ns : p.min_rtt_ns;
	delta = sqrt(rate * PAYLOAD) / 500;
	/* the root has eight fraction bits; room is rounded to packets */
	assert_in_range(p.t_low_ns, 20000 + room - path->packet_ns - room / 100, 20000 + room + 1);
	assert_in_range(p.t_high_ns, base + 3 * (room - path->packet_ns) - room / 30,
			base + 3 * room + 1);
	assert_in_range(l.delta_Bps, delta * 0.99 - 1, delta + 1);
}

static void test_rule(void **state)
{
	static const double shares[] = { 1, 0.5, 0.125, 1 / 60., 1 / 250., 0.000001 };
	static const u32 bursts[] = { 2, 6, 44 };
	static const u32 least[] = { 1, 20000, 21000, 500000 };
	struct timely_path path;
	size_t i, j, k;

	(void)state;
	for (i = 0; i < COUNT(shares); i++)
		for (j = 0; j < COUNT(bursts); j++)
			for (k = 0; k < COUNT(least); k++) {
				path = (struct timely_path){ PAYLOAD, 1230, bursts[j], least[k] };
				expect_rule(&path, shares[i]);
			}
}

/* Values that are set remain. */
static void test_rule_overridden(void **state)
{
	struct timely_limits l = { .delta_Bps = 77 };
	struct timely_params p = { .min_rtt_ns = 20000, .t_low_ns = 50000, .t_high_ns = 500000 };

	(void)state;
	timely_rule(&p, &l, &packets, PAYLOAD / 4);
	assert_int_equal(p.t_low_ns, 50000);
	assert_int_equal(p.t_high_ns, 500000);
	assert_int_equal(l.delta_Bps, 77);
	/* T_low by the rule is not above a T_high that is set: Algorithm 1 needs that order */
	p = unset;
	p.t_high_ns = 21000;
	timely_rule(&p, &l, &packets, PAYLOAD / 4);
	assert_int_equal(p.t_low_ns, 21000);
	assert_int_equal(p.t_high_ns, 21000);
}

/* No input gives thresholds beyond the longest RTT. */
static void test_rule_extreme(void **state)
{
	static const struct timely_path long_path = { 1ULL << 38, UINT32_MAX, UINT32_MAX,
						      TIMELY_RTT_MAX_NS };
	struct timely_limits l = { .delta_Bps = 0 };
	struct timely_params p = { .min_rtt_ns = 1000000000 };

	(void)state;
	timely_rule(&p, &l, &long_path, 1);
	assert_true(p.t_low_ns <= p.t_high_ns);
	assert_int_equal(p.t_high_ns, TIMELY_RTT_MAX_NS);
	/* sqrt(2^38) / 500 */
	assert_int_equal(l.delta_Bps, 1048);
}

/* What the rate sends in minRTT / 16, an even number of packets, two at least */
static void test_rule_burst(void **state)
{
	static const struct {
		u64 rate_Bps;
		u32 min_rtt_ns;
		u32 mss;
		u32 burst;
	} cases[] = {
		{ 1, 20000, 1448, 2 },
		{ 1177000000, 20000, 1448, 2 },
		{ 11770000000, 20000, 1448, 10 },
		{ 5885000000, 20000, 1448, 4 },
		{ 11770000000, 200000, 1448, 100 },
		{ 11770000000, 20000, 8948, 2 },
		{ 1ULL << 38, 1000000000, 1, UINT32_MAX & ~1U },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct timely_params p = { .min_rtt_ns = cases[i].min_rtt_ns };

		assert_int_equal(timely_rule_burst(&p, cases[i].rate_Bps, cases[i].mss),
				 cases[i].burst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_low),
		cmocka_unit_test(test_high),
		cmocka_unit_test(test_gradient),
		cmocka_unit_test(test_alpha_one),
		cmocka_unit_test(test_hai),
		cmocka_unit_test(test_hai_smoothed),
		cmocka_unit_test(test_hai_outside),
		cmocka_unit_test(test_hai_long),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_one_target),
		cmocka_unit_test(test_no_t_low),
		cmocka_unit_test(test_patched),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_lone),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_rule_overridden),
		cmocka_unit_test(test_rule_extreme),
		cmocka_unit_test(test_rule_burst),
		cmocka_unit_test(test_always),
		cmocka_unit_test(test_corners),
	};

	return cmocka_run_group_tests_name("timely", tests, NULL, NULL);
}
