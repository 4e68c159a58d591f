// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_cc/swift.c: cases computed by hand, and a comparison with the paper's equations
 * in double precision, step by step on random delays
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "../../tcp_cc/swift.h"
#include "rng.h"

#define SAMPLES		1000000
#define SECOND		1000000000ULL
#define ONE		SWIFT_CWND_ONE

/* beta 0.8 at all delays, max_mdf 0.5, targets 30 us and 100 us, no flow scaling */
static const struct swift_params plain = {
	.beta = 838861,
	.beta_high = 838861,
	.max_mdf = SWIFT_ONE / 2,
	.host_target_ns = 100000,
};

static const struct swift_limits line = {
	.base_ns = 30000,
	.ai = ONE,
	.max_cwnd = 100 * ONE,
};

/* ---- the model ---- */

/**
 * struct model - parameters, and state of a window
 * @ai: additive increase
 * @beta: multiplicative decrease
 * @beta_high: the same above four times the target
 * @max_mdf: largest decrease
 * @max: largest window
 * @hyper: time without a decrease after which the increase grows, ns; 0: never
 * @cwnd: window, packets
 * @cut: time of the last decrease, ns
 */
struct model {
	double ai, beta, beta_high, max_mdf, max, hyper;
	double cwnd, cut;
};

static double model_clamp(const struct model *m, double cwnd)
{
	return fmax(fmin(cwnd, m->max), SWIFT_CWND_MIN / (double)ONE);
}

static double model_target(double base, double hop, int hops, double range, double cwnd)
{
	double alpha = range / (1 / sqrt(0.1) - 1 / sqrt(100));
	double more = alpha / sqrt(cwnd) - alpha / sqrt(100);

	return base + hops * hop + fmin(fmax(more, 0), range);
}

static void model_update(struct model *m, double delay, double target, double rtt, double acked,
			 double now, bool may_rise)
{
	double n = 1;

	if (m->hyper)
		n = fmax(fmin(floor((now - m->cut) / m->hyper), SWIFT_HYPER_MAX), 1);
	if (delay < target) {
		if (may_rise)
			m->cwnd = model_clamp(m, m->cwnd + n * m->ai * acked / fmax(m->cwnd, 1));
	} else if (now - m->cut >= rtt) {
		double beta = floor(delay / 4) > target ? m->beta_high : m->beta;

		m->cwnd *= fmax(1 - beta * (delay - target) / delay, 1 - m->max_mdf);
		m->cwnd = model_clamp(m, m->cwnd);
		m->cut = now;
	}
}

/* ---- computed by hand ---- */

static enum swift_result sample(struct swift_vars *v, u32 fabric_ns, u64 now_ns)
{
	struct swift_sample s = {
		.fabric_ns = fabric_ns, .host_ns = -1, .rtt_ns = 20000, .acked = 2 * ONE,
	};

	return swift_update(v, &plain, &line, &s, now_ns);
}

static void test_increase(void **state)
{
	struct swift_vars v = { .fabric_cwnd = 4 * ONE, .host_cwnd = 100 * ONE };

	(void)state;
	assert_int_equal(sample(&v, 29999, SECOND), SWIFT_UP);
	assert_int_equal(v.fabric_cwnd, 4.5 * ONE);
	v.fabric_cwnd = ONE / 4;
	assert_int_equal(sample(&v, 29999, SECOND), SWIFT_UP);
	assert_int_equal(v.fabric_cwnd, 2.25 * ONE);
	v.fabric_cwnd = 100 * ONE;
	sample(&v, 1, SECOND);
	assert_int_equal(v.fabric_cwnd, line.max_cwnd);
}

static void test_hyper(void **state)
{
	struct swift_limits l = {
		.base_ns = 30000, .ai = ONE, .max_cwnd = 1000 * ONE, .hyper_ns = 1000,
	};
	struct swift_sample s = { .fabric_ns = 1, .host_ns = -1, .rtt_ns = 20000, .acked = ONE };
	struct swift_vars v = { .host_cwnd = 1000 * ONE, .fabric_cut_ns = (u32)SECOND };
	static const u64 calm_ns[] = { 0, 1999, 2000, 3000, 64000, 65000 };
	static const u32 steps[] = { 1, 1, 2, 3, 64, 64 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		v.fabric_cwnd = ONE;
		swift_update(&v, &plain, &l, &s, SECOND + calm_ns[i]);
		assert_int_equal(v.fabric_cwnd, ONE + steps[i] * ONE);
	}
}

static void test_decrease(void **state)
{
	struct swift_vars v = { .fabric_cwnd = 8 * ONE, .host_cwnd = 100 * ONE };

	(void)state;
	/* 1 - 0.8 * 10 / 40 = 0.8 */
	assert_int_equal(sample(&v, 40000, SECOND), SWIFT_DOWN);
	assert_in_range(v.fabric_cwnd, 6.399 * ONE, 6.401 * ONE);
	assert_int_equal(sample(&v, 40000, SECOND + 19999), SWIFT_KEEP);
	assert_in_range(v.fabric_cwnd, 6.399 * ONE, 6.401 * ONE);
	/* 1 - 0.8 * 970 / 1000 is below 1 - max_mdf */
	assert_int_equal(sample(&v, 1000000, SECOND + 20000), SWIFT_DOWN);
	assert_in_range(v.fabric_cwnd, 3.199 * ONE, 3.201 * ONE);
	v.fabric_cwnd = SWIFT_CWND_MIN + 1;
	assert_int_equal(sample(&v, UINT32_MAX, 2 * SECOND), SWIFT_DOWN);
	assert_int_equal(v.fabric_cwnd, SWIFT_CWND_MIN);
	assert_int_equal(v.fabric_ns, SWIFT_DELAY_MAX_NS);
	/* at the target, the factor is 1, but the RTT starts anew */
	v.fabric_cwnd = ONE;
	assert_int_equal(sample(&v, 30000, 3 * SECOND), SWIFT_DOWN);
	assert_int_equal(v.fabric_cwnd, ONE);
}

static void test_target(void **state)
{
	struct swift_params p = plain;

	(void)state;
	swift_params_finish(&p);
	assert_int_equal(swift_target(&p, &line, 1, 0), 30000);
	p.hop_ns = 1000;
	p.fs_range_ns = 50000;
	swift_params_finish(&p);
	assert_int_equal(swift_target(&p, &line, SWIFT_FS_MAX, 3), 33000);
	assert_int_equal(swift_target(&p, &line, SWIFT_CWND_MAX, 3), 33000);
	assert_int_equal(swift_target(&p, &line, SWIFT_CWND_MIN, 3), 83000);
	assert_in_range(swift_target(&p, &line, ONE / 10, 3), 82970, 83000);
	/* 50 (1 - 0.1) / (3.1623 - 0.1) = 14.695 us */
	assert_in_range(swift_target(&p, &line, ONE, 3), 47685, 47705);
}

static void test_host(void **state)
{
	struct swift_vars v = { .fabric_cwnd = 8 * ONE, .host_cwnd = 8 * ONE };
	struct swift_sample s = {
		.fabric_ns = 20000, .host_ns = 200000, .rtt_ns = 20000, .acked = ONE,
	};

	(void)state;
	/* the average starts with the first delay: 1 - 0.8 * 100 / 200 = 0.6 */
	assert_int_equal(swift_update(&v, &plain, &line, &s, SECOND), SWIFT_HOST);
	assert_int_equal(v.host_ns, 200000);
	assert_in_range(v.host_cwnd, 4.799 * ONE, 4.801 * ONE);
	assert_in_range(v.fabric_cwnd, 8.12 * ONE, 8.13 * ONE);
	assert_int_equal(swift_cwnd(&v), v.host_cwnd);
	s.host_ns = 0;
	swift_update(&v, &plain, &line, &s, SECOND + 10000);
	assert_int_equal(v.host_ns, 175000);
	/* a window twice the other does not rise */
	v.fabric_cwnd = 2 * v.host_cwnd + 2;
	swift_update(&v, &plain, &line, &s, SECOND + 11000);
	assert_int_equal(v.fabric_cwnd, 2 * v.host_cwnd + 2);
	/* an unknown endpoint delay changes nothing */
	s.host_ns = -1;
	v.host_cwnd = ONE;
	swift_update(&v, &plain, &line, &s, 2 * SECOND);
	assert_int_equal(v.host_cwnd, ONE);
	assert_in_range(v.host_ns, 100000, 175000);
}

static void test_hold(void **state)
{
	struct swift_vars v = { .fabric_cwnd = 8 * ONE, .host_cwnd = 8 * ONE };
	struct swift_sample s = {
		.fabric_ns = 20000, .host_ns = 10, .rtt_ns = 20000, .acked = ONE, .hold = true,
	};

	(void)state;
	swift_update(&v, &plain, &line, &s, SECOND);
	assert_int_equal(v.fabric_cwnd, 8 * ONE);
	assert_int_equal(v.host_cwnd, 8 * ONE);
	s.fabric_ns = 40000;
	assert_int_equal(swift_update(&v, &plain, &line, &s, 2 * SECOND), SWIFT_DOWN);
}

static void test_losses(void **state)
{
	struct swift_vars v = { .rate_Bps = 1 };

	(void)state;
	swift_start(&v, &line);
	assert_int_equal(swift_cwnd(&v), line.max_cwnd);
	assert_int_equal(v.rate_Bps, 1);
	swift_cut(&v, &plain);
	assert_int_equal(swift_cwnd(&v), line.max_cwnd / 2);
	swift_undo(&v, &plain, &line);
	assert_int_equal(swift_cwnd(&v), line.max_cwnd);
	swift_undo(&v, &plain, &line);
	assert_int_equal(swift_cwnd(&v), line.max_cwnd);
	swift_timeout(&v, &plain, SWIFT_RETX_RESET - 1);
	assert_int_equal(swift_cwnd(&v), line.max_cwnd / 2);
	swift_timeout(&v, &plain, SWIFT_RETX_RESET);
	assert_int_equal(swift_cwnd(&v), SWIFT_CWND_MIN);
	swift_cut(&v, &plain);
	assert_int_equal(swift_cwnd(&v), SWIFT_CWND_MIN);
	assert_true(swift_raise(&v, &line, 3 * ONE));
	assert_int_equal(swift_cwnd(&v), 3 * ONE);
	assert_false(swift_raise(&v, &line, 3 * ONE));
	assert_true(swift_raise(&v, &line, UINT32_MAX));
	assert_int_equal(swift_cwnd(&v), line.max_cwnd);
}

static void test_rate(void **state)
{
	struct swift_vars v = { .fabric_cwnd = 10 * ONE, .host_cwnd = 20 * ONE };

	(void)state;
	/* 10 * 1448 bytes in 20 us */
	assert_int_equal(swift_rate(&v, 1448, 20000), 724000000);
	v.fabric_cwnd = ONE / 2;
	assert_int_equal(swift_rate(&v, 1448, 20000), 36200000);
	/* the extremes do not overflow */
	v.fabric_cwnd = SWIFT_CWND_MAX;
	v.host_cwnd = SWIFT_CWND_MAX;
	assert_int_equal(swift_rate(&v, 65535, 0), 16384ULL * 65535 * 1000000);
	v.fabric_cwnd = SWIFT_CWND_MIN;
	assert_in_range(swift_rate(&v, 1448, UINT32_MAX), 1, 2);
}

/* ---- the model ---- */

static struct swift_params random_params(struct rng *rng)
{
	struct swift_params p = {
		.beta = rng_log(rng, SWIFT_ONE / 100, SWIFT_ONE),
		.beta_high = rng_log(rng, SWIFT_ONE / 100, SWIFT_ONE),
		.max_mdf = rng_log(rng, SWIFT_ONE / 100, SWIFT_ONE - 1),
		.hop_ns = rng_log(rng, 1, 1U << 22),
		.fs_range_ns = rng_percent(rng, 20) ? 0 : rng_log(rng, 1000, 1U << 24),
		.host_target_ns = rng_log(rng, 1000, 1U << 29),
	};

	swift_params_finish(&p);
	return p;
}

static u32 near(struct rng *rng, u32 ns)
{
	if (rng_percent(rng, 10))
		return rng_log(rng, ns, min_t(u64, 16ULL * ns, SWIFT_DELAY_MAX_NS));
	return rng_percent(rng, 50) ? ns + rng_log(rng, 1, ns) - 1 : ns - rng_log(rng, 1, ns) + 1;
}

static void close_to(double value, double expected, double off, const char *what, int i)
{
	if (fabs(value - expected) > off)
		fail_msg("sample %d: %s is %g, not %g", i, what, value, expected);
}

struct both {
	struct swift_params p;
	struct swift_limits l;
	struct swift_vars v;
	u64 now_ns;
};

static void both_random(struct rng *rng, struct both *b)
{
	b->p = random_params(rng);
	b->l.base_ns = rng_log(rng, 1000, 1U << 28);
	b->l.ai = rng_log(rng, 1, 1U << 20);
	b->l.max_cwnd = rng_log(rng, ONE, SWIFT_CWND_MAX);
	b->l.hyper_ns = rng_percent(rng, 50) ? 0 : rng_log(rng, 1000, 1U << 24);
	b->v.fabric_cwnd = rng_log(rng, SWIFT_CWND_MIN, b->l.max_cwnd);
	b->v.host_cwnd = rng_log(rng, SWIFT_CWND_MIN, b->l.max_cwnd);
}

static struct model model_of(const struct both *b, u32 cwnd, u32 cut_ns)
{
	return (struct model) {
		.ai = b->l.ai / (double)ONE, .beta = b->p.beta / (double)SWIFT_ONE,
		.beta_high = b->p.beta_high / (double)SWIFT_ONE,
		.max_mdf = b->p.max_mdf / (double)SWIFT_ONE, .max = b->l.max_cwnd / (double)ONE,
		.hyper = b->l.hyper_ns,
		.cwnd = cwnd / (double)ONE,
		/* times are modulo 2^32 */
		.cut = b->now_ns - (double)(u32)((u32)b->now_ns - cut_ns),
	};
}

/* One step of the core and of the model of both windows */
static enum swift_result both_step(struct rng *rng, struct both *b, int i)
{
	double cwnd = swift_cwnd(&b->v) / (double)ONE, host_ns = b->v.host_ns;
	double before = fmax(b->v.fabric_cwnd, b->v.host_cwnd) / (double)ONE;
	u32 target_ns = swift_target(&b->p, &b->l, swift_cwnd(&b->v), 3);
	bool fabric_may = b->v.fabric_cwnd / 2 < b->v.host_cwnd, host_may;
	struct model fabric, host;
	enum swift_result result;
	struct swift_sample s = {
		.fabric_ns = rng_percent(rng, 10) ? target_ns : near(rng, target_ns),
		.host_ns = rng_percent(rng, 10) ? -1 : (s64)near(rng, b->p.host_target_ns),
		.rtt_ns = rng_log(rng, 1000, 1U << 20), .acked = rng_in(rng, 1, 100) * ONE,
		.hops = 3, .hold = rng_percent(rng, 10),
	};

	b->now_ns += rng_log(rng, 1, 1U << 21);
	close_to(target_ns, model_target(b->l.base_ns, b->p.hop_ns, 3, b->p.fs_range_ns, cwnd),
		 2 + b->p.fs_range_ns / 500.0, "target", i);
	fabric = model_of(b, b->v.fabric_cwnd, b->v.fabric_cut_ns);
	host = model_of(b, b->v.host_cwnd, b->v.host_cut_ns);
	result = swift_update(&b->v, &b->p, &b->l, &s, b->now_ns);

	model_update(&fabric, s.fabric_ns, target_ns, s.rtt_ns, s.acked / (double)ONE, b->now_ns,
		     fabric_may && !s.hold);
	close_to(b->v.fabric_cwnd / (double)ONE, fabric.cwnd, before / 300000 + 3.0 / ONE,
		 "fcwnd", i);
	if (s.host_ns < 0) {
		assert_int_equal(b->v.host_ns, host_ns);
		return result;
	}
	host_ns = host_ns ? host_ns + (s.host_ns - host_ns) / 8 : s.host_ns;
	close_to(b->v.host_ns, fmax(host_ns, 1), 1, "endpoint delay", i);
	host_may = host.cwnd < 2 * fabric.cwnd;
	/* within a bit of twice the other window, either is right */
	if (fabs(host.cwnd - 2 * fabric.cwnd) < fabric.cwnd / 100000 + 6.0 / ONE)
		host_may = b->v.host_cwnd > host.cwnd * ONE + 0.5;
	model_update(&host, b->v.host_ns, b->p.host_target_ns, s.rtt_ns, s.acked / (double)ONE,
		     b->now_ns, host_may && !s.hold);
	close_to(b->v.host_cwnd / (double)ONE, host.cwnd, before / 300000 + 3.0 / ONE, "ecwnd", i);
	return result;
}

static void test_model(void **state)
{
	unsigned long results[SWIFT_HOST + 1] = { 0 };
	struct both b = { .now_ns = SECOND };
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < SAMPLES; i++) {
		if (i % 50 == 0)
			both_random(&rng, &b);
		results[both_step(&rng, &b, i)]++;
	}
	for (i = 0; i <= SWIFT_HOST; i++)
		assert_true(results[i] > SAMPLES / 100);
}

/* ---- a link ---- */

/*
 * N senders share a link of 16 packets per RTT, and their queue adds to the delay: a
 * fluid model, but delays have a random part of up to 2 us. The link is busy, the queue
 * is bounded, and the windows are nearly equal.
 */
static void fluid(int n, u32 fs_range_ns, double *busy, double *ratio, double *longest)
{
	struct swift_limits l = { .base_ns = 30000, .ai = ONE / 10, .max_cwnd = 24 * ONE };
	struct swift_params p = plain;
	struct swift_vars v[64] = { 0 };
	double least = 1e9, most = 0, queue = 0;
	struct rng rng;
	int round, i;

	rng_seed(&rng, 1);
	p.fs_range_ns = fs_range_ns;
	swift_params_finish(&p);
	*busy = *longest = 0;
	for (i = 0; i < n; i++)
		v[i] = (struct swift_vars) {
			.fabric_cwnd = (i % 7 + 1) * 3 * ONE, .host_cwnd = l.max_cwnd,
		};
	for (round = 0; round < 20000; round++) {
		double sum = 0, delay = 20000 * (1 + queue / 16);
		struct swift_sample s = { .host_ns = -1, .rtt_ns = delay };

		for (i = 0; i < n; i++) {
			s.acked = v[i].fabric_cwnd;
			s.fabric_ns = delay + rng_in(&rng, 0, 2000);
			swift_update(&v[i], &p, &l, &s, SECOND + round * 80000ULL + i * 600);
			sum += v[i].fabric_cwnd / (double)ONE;
		}
		queue = fmax(sum - 16, 0);
		if (round >= 10000) {
			*busy += fmin(sum / 16, 1) / 10000;
			*longest = fmax(*longest, queue);
		}
	}
	for (i = 0; i < n; i++) {
		least = fmin(least, v[i].fabric_cwnd);
		most = fmax(most, v[i].fabric_cwnd);
	}
	*ratio = most / least;
}

static void test_fluid(void **state)
{
	static const int flows[] = { 1, 2, 8, 60 };
	double busy, ratio, longest;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		fluid(flows[i], 20000, &busy, &ratio, &longest);
		printf("# %d flows: %.4f busy, queue up to %.1f packets, ratio %.3f\n", flows[i],
		       busy, longest, ratio);
		assert_true(busy > 0.99);
		assert_true(longest < 24);
		assert_true(ratio < 1.4);
	}
	/* Below one packet, increase and decrease are proportional: shares stay unequal. */
	fluid(60, 0, &busy, &ratio, &longest);
	printf("# 60 flows without flow scaling: ratio %.3f\n", ratio);
	assert_true(ratio > 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_increase),
		cmocka_unit_test(test_hyper),
		cmocka_unit_test(test_decrease),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_fluid),
	};

	return cmocka_run_group_tests_name("swift", tests, NULL, NULL);
}
