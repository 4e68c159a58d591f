// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/lib/dcqcn.c compared with a model with timers, event by event
 *
 * Rates and counts must be equal. alpha may differ by the rounding error that
 * dcqcn_alpha() documents; after the comparison, both cut with the core's alpha.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "dcqcn_common.h"
#include "dcqcn_model.h"

#define SEQUENCES	1000000
#define SEQUENCE_MAX	9

/* The core and the model with the same parameters */
struct both {
	struct dcqcn_params p;
	struct dcqcn_limits l;
	struct dcqcn_vars v;
	struct model m;
	u64 now_ns;
	double worst;
};

static void both_start(struct both *b, u64 now_ns)
{
	dcqcn_params_finish(&b->p);
	dcqcn_start(&b->v, &b->p, &b->l, now_ns);
	b->now_ns = now_ns;
	b->m = (struct model) {
		.K = b->p.alpha_ns,
		.T = max_t(u64, b->p.timer_ns, b->l.timer_ns),
		.B = b->p.byte_reset,
		.F = b->p.threshold,
		.g = ((u64)1 << 63) / b->p.g_inverse,
		.alpha_first = b->p.alpha_first,
		.by_rate = b->p.by_rate,
		.R_AI = b->l.ai_Bps,
		.R_HAI = b->l.hai_Bps,
		.min_rate = b->l.min_Bps,
		.max_rate = b->l.max_Bps,
	};
	model_start(&b->m, now_ns, (__uint128_t)b->p.start_alpha << MODEL_SHIFT);
}

static void fail_at(const struct both *b, const char *what)
{
	const struct dcqcn_params *p = &b->p;

	fail_msg("%s at %llu: R_C %llu, machine %llu; R_T %llu, machine %llu; TC %u %u BC %u %u; "
		 "alpha %.12f, machine %.12f; K %u T %u B %u F %u 1/g %u; "
		 "R_AI %llu R_HAI %llu from %llu to %llu",
		 what, (unsigned long long)b->now_ns, (unsigned long long)b->v.rate_Bps,
		 (unsigned long long)b->m.R_C, (unsigned long long)b->v.target_Bps,
		 (unsigned long long)b->m.R_T, b->v.timer_stage, b->m.TC, b->v.byte_stage, b->m.BC,
		 (double)dcqcn_alpha(&b->v, p, b->now_ns) / DCQCN_ONE,
		 (double)b->m.alpha / (double)MODEL_ONE, p->alpha_ns, p->timer_ns,
		 p->byte_reset, p->threshold, p->g_inverse, (unsigned long long)b->l.ai_Bps,
		 (unsigned long long)b->l.hai_Bps, (unsigned long long)b->l.min_Bps,
		 (unsigned long long)b->l.max_Bps);
}

/* 2^-62 / g */
static void compare_alpha(struct both *b, u64 core, __uint128_t machine)
{
	__uint128_t bound = (__uint128_t)b->p.g_inverse << 65;
	__uint128_t off = (__uint128_t)core << MODEL_SHIFT;

	off = off > machine ? off - machine : machine - off;
	if (off >= bound)
		fail_at(b, "alpha");
	if ((double)off / (double)bound > b->worst)
		b->worst = (double)off / (double)bound;
}

static void compare(struct both *b)
{
	if (b->v.rate_Bps != b->m.R_C || b->v.target_Bps != b->m.R_T)
		fail_at(b, "rates");
	if (b->v.timer_stage != b->m.TC || b->v.byte_stage != b->m.BC)
		fail_at(b, "counts");
	compare_alpha(b, dcqcn_alpha(&b->v, &b->p, b->now_ns), b->m.alpha);
}

static enum dcqcn_cause both_advance(struct both *b, u64 dt_ns, u64 bytes)
{
	static const enum dcqcn_cause causes[] = {
		[MODEL_NONE] = DCQCN_NONE,
		[MODEL_FAST] = DCQCN_FAST,
		[MODEL_ADDITIVE] = DCQCN_ADDITIVE,
		[MODEL_HYPER] = DCQCN_HYPER,
	};
	enum dcqcn_cause cause;

	b->now_ns += dt_ns;
	cause = dcqcn_advance(&b->v, &b->p, &b->l, b->now_ns, bytes);
	if (causes[model_run(&b->m, b->now_ns, bytes)] != cause)
		fail_at(b, "cause");
	compare(b);
	return cause;
}

/* The core has not looked at its timers since the last event. */
static bool both_cnp(struct both *b, u64 dt_ns, bool fresh)
{
	u64 least_ns = fresh ? b->p.monitor_ns / 2 : b->p.monitor_ns, alpha;
	bool counts;

	b->now_ns += dt_ns;
	model_run(&b->m, b->now_ns, 0);
	/* alpha depends on the present rate */
	if (b->p.by_rate)
		dcqcn_advance(&b->v, &b->p, &b->l, b->now_ns, 0);
	counts = !b->m.cnp_seen || b->now_ns - b->m.cnp >= least_ns;
	alpha = dcqcn_alpha(&b->v, &b->p, b->now_ns);
	compare_alpha(b, alpha, b->m.alpha);
	if (dcqcn_cnp(&b->v, &b->p, &b->l, b->now_ns, fresh) != counts)
		fail_at(b, "filter");
	if (!counts) {
		dcqcn_advance(&b->v, &b->p, &b->l, b->now_ns, 0);
	} else {
		if (b->m.alpha_first)
			alpha = b->v.alpha;
		compare_alpha(b, b->v.alpha, model_raised(&b->m));
		model_cnp(&b->m, b->now_ns, alpha);
	}
	compare(b);
	return counts;
}

static void both_loss(struct both *b, u64 dt_ns)
{
	b->now_ns += dt_ns;
	model_run(&b->m, b->now_ns, 0);
	dcqcn_cut(&b->v, &b->p, &b->l, b->now_ns);
	model_loss(&b->m, b->now_ns);
	compare(b);
}

static bool both_undo(struct both *b)
{
	bool undone = dcqcn_undo(&b->v);

	if (undone != model_undo(&b->m))
		fail_at(b, "undo");
	/* alpha depends on the present rate */
	model_run(&b->m, b->now_ns, 0);
	compare(b);
	return undone;
}

/* ------------------------------------------------ random */

/*
 * At once, within some periods, on a timer's very nanosecond or next to it; and
 * seldom hours, as the machine takes long for these.
 */
static u64 random_dt(struct rng *rng, const struct both *b)
{
	u64 K = b->p.alpha_ns, T = b->m.T, due;

	if (rng_u32(rng) % 65536 == 0)
		return rng_log(rng, 1, 100 * HOUR);
	switch (rng_in(rng, 0, 5)) {
	case 0:
		due = b->m.rate_timer + T * rng_in(rng, 0, 20) - b->now_ns;
		return due + rng_in(rng, 0, 2) - 1;
	case 1:
		if (!b->m.cnp_seen || b->m.by_rate)
			return K * rng_in(rng, 0, 20);
		due = b->m.alpha_timer + K * rng_in(rng, 0, 20) - b->now_ns;
		return due + rng_in(rng, 0, 2) - 1;
	case 2:
		return 0;
	case 3:
		return rng_log(rng, 1, rng_percent(rng, 3) ? 300 * T : 20 * T);
	default:
		return rng_log(rng, 1, 4 * T);
	}
}

static u64 random_bytes(struct rng *rng, const struct both *b)
{
	u64 B = b->p.byte_reset;

	switch (rng_in(rng, 0, 3)) {
	case 0:
		return 0;
	case 1:
		return b->m.bytes + B * rng_in(rng, 0, 10) + rng_in(rng, 0, 2) - 1;
	case 2:
		return rng_percent(rng, 2) ? rng_log(rng, 1, 1000 * B) : rng_log(rng, 1, 20 * B);
	default:
		return rng_log(rng, 1, B);
	}
}

static void random_event(struct rng *rng, struct both *b, unsigned long *causes)
{
	u32 kind = rng_in(rng, 0, 99);
	u64 dt_ns = random_dt(rng, b);

	if (kind < 60) {
		causes[both_advance(b, dt_ns, random_bytes(rng, b))]++;
	} else if (kind < 90) {
		causes[DCQCN_CNP] += both_cnp(b, dt_ns, rng_percent(rng, 50));
	} else if (kind < 95) {
		both_loss(b, dt_ns);
		causes[DCQCN_LOSS]++;
	} else {
		causes[DCQCN_UNDO] += both_undo(b);
	}
}

/*
 * Half with random parameters, a fifth of them with by_rate, and half with a profile.
 * Profile nic is rare: its K is a 300th of T, and the model takes each step.
 */
static void random_both(struct rng *rng, struct both *b)
{
	bool is_nic = rng_percent(rng, 5), is_tuned = rng_percent(rng, 40);

	random_limits(rng, &b->l);
	b->l.timer_ns = 0;
	if (rng_percent(rng, 50)) {
		random_params(rng, &b->p);
		b->p.by_rate = rng_percent(rng, 20);
	} else {
		b->p = is_nic ? nic : is_tuned ? tuned : paper;
		b->l.ai_Bps = b->l.max_Bps / (is_nic ? 8000 : 1000);
		b->l.hai_Bps = 10 * b->l.ai_Bps;
		b->l.min_Bps = b->l.ai_Bps;
	}
	if (rng_percent(rng, 20))
		b->l.timer_ns = rng_log(rng, 1, 10 * (u64)b->p.alpha_ns);
	b->p.alpha_first = rng_percent(rng, 50);
	both_start(b, rng_percent(rng, 50) ? 0 : rng_log(rng, 1, 1ULL << 62));
}

static void test_sequences(void **state)
{
	unsigned long causes[DCQCN_CAUSES] = { 0 };
	struct both b = { .worst = 0 };
	struct rng rng;
	u32 events;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < SEQUENCES; i++) {
		random_both(&rng, &b);
		for (events = rng_in(&rng, 1, SEQUENCE_MAX); events; events--)
			random_event(&rng, &b, causes);
	}
	printf("# alpha's worst rounding: %.2f of its bound\n", b.worst);
	for (i = DCQCN_NONE; i < DCQCN_CAUSES; i++) {
		if (i != DCQCN_START && causes[i] < SEQUENCES / 100)
			fail_msg("cause %d only %lu times", i, causes[i]);
	}
}

/* One flow for a million events, so that errors could add up; the same with by_rate */
static void test_long(void **state)
{
	unsigned long causes[DCQCN_CAUSES] = { 0 };
	struct both b = {
		.p = paper,
		.l = { 5000000, 5000000000, 5000000, 50000000, 0 },
	};
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 2);
	both_start(&b, SECOND);
	for (i = 0; i < 1000000; i++)
		random_event(&rng, &b, causes);
	b.p = tuned;
	both_start(&b, SECOND);
	for (i = 0; i < 1000000; i++)
		random_event(&rng, &b, causes);
	printf("# alpha's worst rounding: %.2f of its bound\n", b.worst);
}

/*
 * Hours without a look at the flow, with steps so small that all of the timer's 65
 * million events of the first do something. In the second, R_T gets to its limit.
 */
static void test_hours(void **state)
{
	struct both b = {
		.p = paper,
		.l = { 1, 125000000000, 1000, 5000, 0 },
	};
	int i;

	(void)state;
	both_start(&b, SECOND);
	for (i = 0; i < 10; i++)
		assert_true(both_cnp(&b, 50000, true));
	assert_int_equal(both_advance(&b, HOUR, 0), DCQCN_ADDITIVE);
	assert_in_range(b.v.target_Bps, b.l.max_Bps / 2, b.l.max_Bps - 1);
	assert_int_equal(both_advance(&b, 10, 60000000), DCQCN_HYPER);
	assert_int_equal(both_advance(&b, HOUR, 0), DCQCN_HYPER);
	assert_int_equal(b.v.rate_Bps, b.l.max_Bps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_hours),
	};

	return cmocka_run_group_tests_name("dcqcn_random", tests, NULL, NULL);
}
