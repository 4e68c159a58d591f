// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/dcqcn/dcqcnq_queue.c: the marking line, counts, stalls
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/dcqcn/dcqcnq_queue.h"
#include "rng.h"

#define SIZE_MAX_BYTES	(1U << 30)
#define GSO_FRAME	65536
/* Significance for 40 levels: one test in 1000 may fail by chance */
#define TOO_FAR		(1. / 40000)

/* ------------------------------------------------ marking */

static struct dcqcnq_marking line(u32 kmin, u32 kmax, u32 pmax)
{
	struct dcqcnq_marking m = { .kmin = kmin, .kmax = kmax, .pmax = pmax };

	dcqcnq_marking_finish(&m);
	return m;
}

/* Compute the paper's probability by its formula. */
static long double exact(const struct dcqcnq_marking *m, u32 bytes)
{
	if (bytes <= m->kmin)
		return 0;
	if (bytes > m->kmax)
		return 1;
	return (long double)m->pmax / UINT32_MAX *
	       (bytes - m->kmin) / (m->kmax - m->kmin);
}

/* Compute P(X <= k) of a binomial distribution. */
static double binomial_cdf(u32 n, double p, u32 k)
{
	double sum = 0;
	u32 i;

	for (i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.) - lgamma(i + 1.) - lgamma(n - i + 1.) +
			   i * log(p) + (n - i) * log1p(-p));
	return sum;
}

/* Compute the two-sided p-value of a count. */
static double binomial_test(u32 n, double p, u32 k)
{
	double low = binomial_cdf(n, p, k);
	double high = k ? 1 - binomial_cdf(n, p, k - 1) : 1;

	return fmin(1, 2 * fmin(low, high));
}

/* At 20 levels, most between Kmin and Kmax, compare the marks with the formula. */
static void check_frequency(u32 seed, u32 kmin, u32 kmax, u32 pmax)
{
	const struct dcqcnq_marking m = line(kmin, kmax, pmax);
	const u32 draws = 200000, levels = 20;
	struct rng rng;
	u32 level, i;

	rng_seed(&rng, seed);
	for (level = 1; level <= levels; level++) {
		u32 bytes = kmin + (u64)(kmax - kmin) * level * 10 / (levels * 9);
		double p = exact(&m, bytes);
		u32 marked = 0;

		for (i = 0; i < draws; i++)
			marked += dcqcnq_marks(dcqcnq_mark_chance(&m, bytes), rng_u32(&rng));
		if (p == 1) {
			assert_int_equal(marked, draws);
			continue;
		}
		assert_true(binomial_test(draws, p, marked) > TOO_FAR);
		/* the test would detect a line that is off by a fifth */
		if (p * draws > 1000)
			assert_true(binomial_test(draws, p * .8, marked) < TOO_FAR);
	}
}

static void test_marking_frequency_follows_line(void **state)
{
	(void)state;
	check_frequency(1, 5000, 200000, UINT32_MAX / 100);
	check_frequency(2, 40000, 1000000, UINT32_MAX / 4);
}

/* Draw a number with a random length in bits. */
static u32 any_number(struct rng *rng, u32 bits)
{
	u32 number = rng_u32(rng);

	return number >> rng_in(rng, 32 - bits, 31);
}

/* The chance matches the formula within the documented error, for all parameters. */
static void test_chance_matches_formula(void **state)
{
	struct rng rng;
	u32 i;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < 1000000; i++) {
		u32 kmin = any_number(&rng, 30);
		u32 span = any_number(&rng, 30);
		u32 pmax = any_number(&rng, 32);
		struct dcqcnq_marking m;
		double off;
		u32 bytes;

		if (kmin > SIZE_MAX_BYTES - span)
			span = SIZE_MAX_BYTES - kmin;
		m = line(kmin, kmin + span, rng_percent(&rng, 10) ? UINT32_MAX : pmax);
		bytes = kmin + (rng_percent(&rng, 10) ? span : rng_in(&rng, 0, span));
		off = dcqcnq_mark_chance(&m, bytes) - exact(&m, bytes) * 0x1p32L;
		assert_true(off > -2 && off < .6);
	}
}

static void test_chance_at_kmin_and_kmax(void **state)
{
	static const u32 kmins[] = { 0, 1, 5000, SIZE_MAX_BYTES - 1 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(kmins) / sizeof(*kmins); i++) {
		struct dcqcnq_marking m = line(kmins[i], kmins[i] + 1, UINT32_MAX);

		assert_int_equal(dcqcnq_mark_chance(&m, 0), 0);
		assert_int_equal(dcqcnq_mark_chance(&m, m.kmin), 0);
		assert_int_equal(dcqcnq_mark_chance(&m, m.kmax), DCQCNQ_CERTAIN);
		assert_int_equal(dcqcnq_mark_chance(&m, m.kmax + 1), DCQCNQ_CERTAIN);
		assert_int_equal(dcqcnq_mark_chance(&m, UINT32_MAX), DCQCNQ_CERTAIN);
		m = line(kmins[i], kmins[i] + 1, 0);
		assert_int_equal(dcqcnq_mark_chance(&m, m.kmax), 0);
		assert_int_equal(dcqcnq_mark_chance(&m, m.kmax + 1), DCQCNQ_CERTAIN);
	}
	assert_true(dcqcnq_marks(DCQCNQ_CERTAIN, UINT32_MAX));
	assert_false(dcqcnq_marks(0, 0));
	assert_true(dcqcnq_marks(1, 0));
	assert_false(dcqcnq_marks(1, 1));
}

/* DCTCP's marking: Kmin = Kmax */
static void test_equal_thresholds_give_a_step(void **state)
{
	static const u32 ks[] = { 0, 1, 40000, SIZE_MAX_BYTES };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(ks) / sizeof(*ks); i++) {
		struct dcqcnq_marking m = line(ks[i], ks[i], UINT32_MAX / 100);

		assert_int_equal(dcqcnq_mark_chance(&m, 0), 0);
		assert_int_equal(dcqcnq_mark_chance(&m, ks[i]), 0);
		assert_int_equal(dcqcnq_mark_chance(&m, ks[i] + 1), DCQCNQ_CERTAIN);
	}
}

/* ------------------------------------------------ counts */

#define MODEL_MAX	64

/* The model: an array of packets, from which all counts are computed */
struct model {
	struct {
		u32 len;
		bool lossless;
	} q[MODEL_MAX];
	u32 n;
	u32 sent;
};

static u64 model_bytes(const struct model *m, bool lossy)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < m->n; i++)
		sum += lossy && m->q[i].lossless ? 0 : m->q[i].len;
	return sum;
}

static void both_arrive(struct rng *rng, u32 limit, struct dcqcnq_vars *v, struct model *m)
{
	u32 len = rng_in(rng, 60, rng_percent(rng, 90) ? 1514 : GSO_FRAME);
	bool lossless = rng_percent(rng, 30);
	bool fits = model_bytes(m, true) + len <= limit;

	assert_int_equal(dcqcnq_fits(limit, v, len), fits);
	if ((!lossless && !fits) || m->n == MODEL_MAX)
		return;
	m->q[m->n].len = len;
	m->q[m->n++].lossless = lossless;
	dcqcnq_count_in(v, len, lossless);
}

static void both_depart(struct rng *rng, struct dcqcnq_vars *v, struct model *m)
{
	bool sent = rng_percent(rng, 95);

	if (!m->n)
		return;
	if (sent)
		dcqcnq_sent(v, m->q[0].len, m->q[0].lossless);
	else
		dcqcnq_count_out(v, m->q[0].len, m->q[0].lossless);
	m->sent += sent;
	m->n--;
	memmove(&m->q[0], &m->q[1], m->n * sizeof(m->q[0]));
}

static void test_counts_match_model(void **state)
{
	u32 round, i, load, limit;
	static struct model m;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (round = 0; round < 400; round++) {
		struct dcqcnq_vars v = {};

		memset(&m, 0, sizeof(m));
		load = rng_in(&rng, 30, 70);
		limit = rng_in(&rng, 64, 1000000);
		for (i = 0; i < 2000; i++) {
			if (rng_in(&rng, 0, 399) == 0)	/* changed while packets wait */
				limit = rng_in(&rng, 64, 1000000);
			if (rng_percent(&rng, load))
				both_arrive(&rng, limit, &v, &m);
			else
				both_depart(&rng, &v, &m);
			assert_int_equal(v.bytes, model_bytes(&m, false));
			assert_int_equal(v.lossy_bytes, model_bytes(&m, true));
			assert_int_equal(v.departures, m.sent);
		}
	}
}

/* ------------------------------------------------ stalls */

#define STALL	1000
#define CHECK	(STALL / DCQCNQ_STALL_CHECKS)

/* A held queue stalls after STALL, and at most one check later. */
static void test_stall_is_found_in_time(void **state)
{
	u32 at, from;

	(void)state;
	for (from = 0; from < 2; from++) {	/* since an arrival; since a departure */
		for (at = 1; at < 3 * CHECK; at++) {
			struct dcqcnq_vars v = {};
			u32 t = 0, found = 0;

			if (from)
				dcqcnq_count_in(&v, 100, false);
			for (; !found; t++) {
				if (t == at) {
					dcqcnq_count_in(&v, 100, false);
					if (from)
						dcqcnq_sent(&v, 100, false);
				}
				if (t % CHECK == 0 && dcqcnq_check_stall(&v, true))
					found = t;
				assert_true(t < at + STALL + CHECK);
			}
			assert_in_range(found - at, STALL, STALL + CHECK);
			assert_true(v.stalled);
		}
	}
}

/* Count the stalls found in three times STALL. */
static u32 stalls(struct dcqcnq_vars *v, bool held)
{
	u32 i, n = 0;

	for (i = 0; i < 3 * DCQCNQ_STALL_CHECKS; i++)
		n += dcqcnq_check_stall(v, held);
	return n;
}

static void test_stall_ends_when_queue_moves(void **state)
{
	struct dcqcnq_vars v = {};

	(void)state;
	assert_int_equal(stalls(&v, true), 0);		/* empty queue */
	dcqcnq_count_in(&v, 100, false);
	dcqcnq_count_in(&v, 100, false);
	assert_int_equal(stalls(&v, false), 0);		/* it is not held */
	assert_int_equal(stalls(&v, true), 1);		/* found once */
	dcqcnq_sent(&v, 100, false);			/* it moves */
	assert_false(dcqcnq_check_stall(&v, true));
	assert_false(v.stalled);
	assert_int_equal(stalls(&v, true), 1);
	dcqcnq_count_out(&v, 100, false);		/* its packets were dropped */
	assert_false(dcqcnq_check_stall(&v, true));
	assert_true(v.stalled);
	assert_false(dcqcnq_check_stall(&v, false));	/* it may send */
	assert_false(v.stalled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marking_frequency_follows_line),
		cmocka_unit_test(test_chance_matches_formula),
		cmocka_unit_test(test_chance_at_kmin_and_kmax),
		cmocka_unit_test(test_equal_thresholds_give_a_step),
		cmocka_unit_test(test_counts_match_model),
		cmocka_unit_test(test_stall_is_found_in_time),
		cmocka_unit_test(test_stall_ends_when_queue_moves),
	};

	return cmocka_run_group_tests_name("dcqcn_queue", tests, NULL, NULL);
}
