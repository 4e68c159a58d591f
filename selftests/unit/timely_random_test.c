// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_cc/timely.c compared with the equations of the papers in double precision
 *
 * Two tests: step by step, where the model gets the core's state before each sample,
 * and free, where each keeps its own state for a million samples.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "timely_common.h"
#include "timely_model.h"

#define SAMPLES		1000000
#define ONE_STEP	0.001

/* Last bit of the smoothed difference */
#define DIFF_BIT	(1.0 / (1 << TIMELY_DIFF_SHIFT))

/* The core and the model with the same parameters */
struct both {
	struct timely_params p;
	struct timely_limits l;
	struct timely_vars v;
	struct model m;
	u64 now_ns;
};

static void model_resync(struct both *b)
{
	b->m.rate = b->v.rate_Bps;
	b->m.diff = b->v.diff * DIFF_BIT;
	b->m.prev_rtt = b->v.prev_rtt_ns;
	b->m.calm = b->v.hai_count;
}

static void both_start(struct both *b, u64 rate_Bps, u32 rtt_ns)
{
	timely_params_finish(&b->p);
	b->m = (struct model) {
		.alpha = (double)b->p.alpha / TIMELY_ONE,
		.beta = (double)b->p.beta / TIMELY_ONE,
		.beta_high = (double)b->p.beta_high / TIMELY_ONE,
		.t_low = b->p.t_low_ns,
		.t_high = b->p.t_high_ns,
		.min_rtt = b->p.min_rtt_ns,
		.ref = fmax(b->p.t_low_ns, b->p.min_rtt_ns),
		.delta = b->l.delta_Bps,
		.min_rate = b->l.min_Bps,
		.max_rate = b->l.max_Bps,
		.hai_n = b->p.hai_n,
		.hai_threshold = b->p.hai_threshold,
		.patched = b->p.patched,
	};
	b->v = (struct timely_vars){ .rate_Bps = rate_Bps };
	b->now_ns = 0;
	timely_update(&b->v, &b->p, &b->l, rtt_ns, 0, false);
	model_resync(b);
}

static double rate_error(const struct both *b)
{
	return fabs(b->v.rate_Bps - b->m.rate) / b->m.rate;
}

/*
 * Give a sample to both. Close to 0, the last bits of the core's difference and
 * gradient determine the sign: the model then uses the core's sign.
 */
static enum timely_cause both_update(struct both *b, u32 rtt_ns, u64 dt_ns, bool hold,
				     double diff_error)
{
	double diff = (1 - b->m.alpha) * b->m.diff + b->m.alpha * (rtt_ns - b->m.prev_rtt);
	enum model_sign diff_sign = MODEL_OWN, gradient_sign = MODEL_OWN;
	enum timely_cause cause;

	b->now_ns += dt_ns;
	cause = timely_update(&b->v, &b->p, &b->l, rtt_ns, b->now_ns, hold);
	if (fabs(diff) <= diff_error + b->m.min_rtt / TIMELY_ONE)
		gradient_sign = cause == TIMELY_MUL ? MODEL_YES : MODEL_NO;
	if (fabs(diff) <= diff_error)
		diff_sign = b->v.diff > 0 ? MODEL_YES : MODEL_NO;
	model_update(&b->m, rtt_ns, dt_ns, hold, diff_sign, gradient_sign);
	return cause;
}

static void fail_at(const struct both *b, int i, u32 rtt_ns, u64 dt_ns, enum timely_cause cause)
{
	fail_msg("sample %d: rtt %u dt %llu cause %d: rate %llu, model %.1f; "
		 "diff %.3f, model %.3f; alpha %u beta %u t_low %u t_high %u min_rtt %u delta %llu patched %d",
		 i, rtt_ns, (unsigned long long)dt_ns, cause, (unsigned long long)b->v.rate_Bps,
		 b->m.rate, b->v.diff * DIFF_BIT, b->m.diff, b->p.alpha, b->p.beta,
		 b->p.t_low_ns, b->p.t_high_ns, b->p.min_rtt_ns,
		 (unsigned long long)b->l.delta_Bps, b->p.patched);
}

/* ------------------------------------------------ step by step */

/*
 * Any parameters. In mode patched, RTTs are at most 250 times the target: beyond, the
 * rounding of factors to Q12.20 would show.
 */
static void random_both(struct rng *rng, struct both *b)
{
	u64 rate_Bps;

	random_params(rng, &b->p, &b->l);
	if (b->p.patched)
		b->p.t_high_ns = min_t(u64, b->p.t_high_ns, 250ULL * b->p.ref_ns);
	rate_Bps = rng_log(rng, b->l.min_Bps, b->l.max_Bps);
	both_start(b, rate_Bps, random_rtt(rng, &b->p, 0));
}

static void test_steps(void **state)
{
	unsigned long causes[TIMELY_CAUSES] = { 0 };
	enum timely_cause cause;
	double worst = 0;
	struct rng rng;
	struct both b;
	u32 rtt_ns;
	u64 dt_ns;
	bool hold;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < SAMPLES; i++) {
		if (i % 100 == 0)
			random_both(&rng, &b);
		model_resync(&b);
		rtt_ns = random_rtt(&rng, &b.p, b.v.prev_rtt_ns);
		dt_ns = random_dt(&rng, &b.p);
		hold = rng_percent(&rng, 10);
		cause = both_update(&b, rtt_ns, dt_ns, hold, DIFF_BIT);
		causes[cause]++;
		if (rate_error(&b) > ONE_STEP || fabs(b.v.diff * DIFF_BIT - b.m.diff) > DIFF_BIT)
			fail_at(&b, i, rtt_ns, dt_ns, cause);
		worst = fmax(worst, rate_error(&b));
	}
	printf("# the worst step: %.1e\n", worst);
	for (i = TIMELY_LOW; i <= TIMELY_HOLD; i++)
		assert_true(causes[i] > SAMPLES / 1000);
}

/* ------------------------------------------------ free */

/*
 * RTT of the next burst of 64 KB. Other flows share the queue: its length is a random
 * walk with a drift that grows with the rate.
 */
static u32 queue_rtt(struct rng *rng, const struct both *b, double *queue_ns)
{
	double noise = (rng_u32(rng) / 4294967296.0 - 0.5) * b->p.min_rtt_ns;
	double share = (double)b->v.rate_Bps / b->l.max_Bps;

	*queue_ns += noise + (share - 0.4) * b->p.min_rtt_ns / 2;
	*queue_ns = fmin(fmax(*queue_ns, 0), 1.2 * b->p.t_high_ns);
	return b->p.min_rtt_ns + (u32)*queue_ns;
}

/* Maximum error of the rate in a million samples, in a closed loop */
static double run_free(struct both *b, u64 seed)
{
	/* one bit per step, which decays in later steps */
	double diff_error = 1.01 * DIFF_BIT * TIMELY_ONE / b->p.alpha;
	double queue_ns = 0, worst = 0;
	enum timely_cause cause;
	struct rng rng;
	u32 rtt_ns;
	u64 dt_ns;
	int i;

	rng_seed(&rng, seed);
	both_start(b, b->l.max_Bps, b->p.min_rtt_ns);
	for (i = 0; i < SAMPLES; i++) {
		rtt_ns = queue_rtt(&rng, b, &queue_ns);
		dt_ns = 65536 * SECOND / b->v.rate_Bps;
		cause = both_update(b, rtt_ns, dt_ns, rng_percent(&rng, 5), diff_error);
		if (fabs(b->v.diff * DIFF_BIT - b->m.diff) > diff_error)
			fail_at(b, i, rtt_ns, dt_ns, cause);
		worst = fmax(worst, rate_error(b));
	}
	return worst;
}

/*
 * The core rounds factors to 2^-20, the model does not. The smaller beta, the larger
 * the resulting difference of the rates.
 */
static const struct {
	struct timely_params p;
	double most_apart;
} published[] = {
	/* the default here */
	{ { .alpha = 52429, .beta = 838861, .t_low_ns = 50000, .t_high_ns = 500000,
	    .min_rtt_ns = 20000 }, 0.001 },
	/* CoNEXT 2016 for classic */
	{ { .alpha = 917504, .beta = 838861, .t_low_ns = 50000, .t_high_ns = 500000,
	    .min_rtt_ns = 20000 }, 0.001 },
	/* the published code of the authors of SIGCOMM 2015 */
	{ { .alpha = 20972, .beta = 838861, .t_low_ns = 50000, .t_high_ns = 1000000,
	    .min_rtt_ns = 20000 }, 0.001 },
	/* TAS */
	{ { .alpha = 20972, .beta = 838861, .t_low_ns = 30000, .t_high_ns = 150000,
	    .min_rtt_ns = 11000 }, 0.002 },
	/* eRPC */
	{ { .alpha = 482345, .beta = 272630, .t_low_ns = 50000, .t_high_ns = 1000000,
	    .min_rtt_ns = 2000 }, 0.001 },
	/* CoNEXT 2016 for patched */
	{ { .alpha = 917504, .beta = 8389, .t_low_ns = 50000, .t_high_ns = 500000,
	    .min_rtt_ns = 20000 }, 0.005 },
	/* the lowest values */
	{ { .alpha = 1049, .beta = 1049, .t_low_ns = 0, .t_high_ns = 500000,
	    .min_rtt_ns = 1000 }, 0.05 },
};

static const u64 lines[] = { 125000000, 1250000000, 12500000000, 50000000000 };

static void check_free(bool patched)
{
	size_t i, j;

	for (i = 0; i < COUNT(published); i++) {
		double worst = 0;

		for (j = 0; j < COUNT(lines); j++) {
			struct both b = { .p = published[i].p };

			b.p.patched = patched;
			b.p.beta_high = 838861;
			b.p.hai_n = 5;
			b.p.hai_threshold = 5;
			b.l.max_Bps = lines[j];
			b.l.delta_Bps = lines[j] / 1000;
			b.l.min_Bps = b.l.delta_Bps;
			worst = fmax(worst, run_free(&b, i));
		}
		printf("# parameters %zu: %.1e apart at most\n", i, worst);
		assert_true(worst <= published[i].most_apart);
	}
}

static void test_free_classic(void **state)
{
	(void)state;
	check_free(false);
}

static void test_free_patched(void **state)
{
	(void)state;
	check_free(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_free_classic),
		cmocka_unit_test(test_free_patched),
	};

	return cmocka_run_group_tests_name("timely_random", tests, NULL, NULL);
}
