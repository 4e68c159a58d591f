// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/dcqcn_queue.h: the marking line, the schedulers, stalls
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/dcqcn_queue.h"
#include "rng.h"

#define PRIOS		TC_DCQCN_PRIOS
#define GSO_FRAME	65536
/* Of 40 levels one may be as far off as one of 40000 is. */
#define TOO_FAR		(1. / 40000)

/* ------------------------------------------------ marking */

static struct dcqcn_marking line(u32 kmin, u32 kmax, u32 pmax)
{
	struct dcqcn_marking m = { .kmin = kmin, .kmax = kmax, .pmax = pmax };

	dcqcn_marking_finish(&m);
	return m;
}

/* The paper's probability, by its formula */
static long double exact(const struct dcqcn_marking *m, u32 bytes)
{
	if (bytes <= m->kmin)
		return 0;
	if (bytes > m->kmax)
		return 1;
	return (long double)m->pmax / UINT32_MAX *
	       (bytes - m->kmin) / (m->kmax - m->kmin);
}

/* P(X <= k) of a binomial distribution, summed up exactly */
static double binomial_cdf(u32 n, double p, u32 k)
{
	double sum = 0;
	u32 i;

	for (i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.) - lgamma(i + 1.) - lgamma(n - i + 1.) +
			   i * log(p) + (n - i) * log1p(-p));
	return sum;
}

/* Two-sided: how likely is a count that is as far off? */
static double binomial_test(u32 n, double p, u32 k)
{
	double low = binomial_cdf(n, p, k);
	double high = k ? 1 - binomial_cdf(n, p, k - 1) : 1;

	return fmin(1, 2 * fmin(low, high));
}

/* 20 levels, most of them between Kmin and Kmax: drawn as often as the formula says? */
static void check_frequency(u32 seed, u32 kmin, u32 kmax, u32 pmax)
{
	const struct dcqcn_marking m = line(kmin, kmax, pmax);
	const u32 draws = 200000, levels = 20;
	struct rng rng;
	u32 level, i;

	rng_seed(&rng, seed);
	for (level = 1; level <= levels; level++) {
		u32 bytes = kmin + (u64)(kmax - kmin) * level * 10 / (levels * 9);
		double p = exact(&m, bytes);
		u32 marked = 0;

		for (i = 0; i < draws; i++)
			marked += dcqcn_marks(dcqcn_mark_chance(&m, bytes), rng_u32(&rng));
		if (p == 1) {
			assert_int_equal(marked, draws);
			continue;
		}
		assert_true(binomial_test(draws, p, marked) > TOO_FAR);
		/* would it tell a line that is wrong by a fifth? */
		if (p * draws > 1000)
			assert_true(binomial_test(draws, p * .8, marked) < TOO_FAR);
	}
}

static void test_frequency(void **state)
{
	(void)state;
	check_frequency(1, 5000, 200000, UINT32_MAX / 100);
	check_frequency(2, 40000, 1000000, UINT32_MAX / 4);
}

/* Of any size: as many bits as not */
static u32 any_number(struct rng *rng, u32 bits)
{
	u32 number = rng_u32(rng);

	return number >> rng_in(rng, 32 - bits, 31);
}

/* The chance is the formula's, for all numbers, within what the header says. */
static void test_exact(void **state)
{
	struct rng rng;
	u32 i;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < 1000000; i++) {
		u32 kmin = any_number(&rng, 30);
		u32 span = any_number(&rng, 30);
		u32 pmax = any_number(&rng, 32);
		struct dcqcn_marking m;
		double off;
		u32 bytes;

		if (kmin > TC_DCQCN_SIZE_MAX - span)
			span = TC_DCQCN_SIZE_MAX - kmin;
		m = line(kmin, kmin + span, rng_percent(&rng, 10) ? UINT32_MAX : pmax);
		bytes = kmin + (rng_percent(&rng, 10) ? span : rng_in(&rng, 0, span));
		off = dcqcn_mark_chance(&m, bytes) - exact(&m, bytes) * 0x1p32L;
		assert_true(off > -2 && off < .6);
	}
}

static void test_edges(void **state)
{
	static const u32 kmins[] = { 0, 1, 5000, TC_DCQCN_SIZE_MAX - 1 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(kmins) / sizeof(*kmins); i++) {
		struct dcqcn_marking m = line(kmins[i], kmins[i] + 1, UINT32_MAX);

		assert_int_equal(dcqcn_mark_chance(&m, 0), 0);
		assert_int_equal(dcqcn_mark_chance(&m, m.kmin), 0);
		assert_int_equal(dcqcn_mark_chance(&m, m.kmax), DCQCN_CERTAIN);
		assert_int_equal(dcqcn_mark_chance(&m, m.kmax + 1), DCQCN_CERTAIN);
		assert_int_equal(dcqcn_mark_chance(&m, UINT32_MAX), DCQCN_CERTAIN);
		m = line(kmins[i], kmins[i] + 1, 0);
		assert_int_equal(dcqcn_mark_chance(&m, m.kmax), 0);
		assert_int_equal(dcqcn_mark_chance(&m, m.kmax + 1), DCQCN_CERTAIN);
	}
	assert_true(dcqcn_marks(DCQCN_CERTAIN, UINT32_MAX));
	assert_false(dcqcn_marks(0, 0));
	assert_true(dcqcn_marks(1, 0));
	assert_false(dcqcn_marks(1, 1));
}

/* DCTCP's marking: Kmin = Kmax */
static void test_step(void **state)
{
	static const u32 ks[] = { 0, 1, 40000, TC_DCQCN_SIZE_MAX };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(ks) / sizeof(*ks); i++) {
		struct dcqcn_marking m = line(ks[i], ks[i], UINT32_MAX / 100);

		assert_int_equal(dcqcn_mark_chance(&m, 0), 0);
		assert_int_equal(dcqcn_mark_chance(&m, ks[i]), 0);
		assert_int_equal(dcqcn_mark_chance(&m, ks[i] + 1), DCQCN_CERTAIN);
	}
}

/* ------------------------------------------------ schedulers */

static struct dcqcn_params random_params(struct rng *rng, u8 sched)
{
	struct dcqcn_params p = { .sched = sched, .limit = rng_in(rng, 64, 1000000) };
	u32 i;

	for (i = 0; i < PRIOS; i++)
		p.quantum[i] = rng_in(rng, 64, rng_percent(rng, 50) ? 3000 : 100000);
	return p;
}

/* Each always has a packet: rounds are whole, and nobody is a round ahead of another. */
static void test_drr_shares(void **state)
{
	u32 round, i, sent;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4);
	for (round = 0; round < 100; round++) {
		struct dcqcn_params p = random_params(&rng, TC_DCQCN_SCHED_DRR);
		struct dcqcn_vars v = {};
		s64 low = INT64_MAX, high = 0;

		for (i = 0; i < PRIOS; i++)
			dcqcn_count_in(&v, i, 1, false);
		for (sent = 0; sent < 20000; sent++) {
			u32 prio = dcqcn_pick(&p, &v, v.waiting);
			u32 len = rng_in(&rng, 60, rng_percent(&rng, 90) ? 1514 : GSO_FRAME);

			assert_int_equal(dcqcn_pick(&p, &v, v.waiting), prio);
			dcqcn_count_in(&v, prio, len, false);
			dcqcn_sent(&p, &v, prio, len, false);
		}
		for (i = 0; i < PRIOS; i++) {
			s64 given = (s64)v.prio[i].sent_bytes + v.prio[i].credit;

			assert_int_equal(given % p.quantum[i], 0);
			given /= p.quantum[i];
			low = min_t(s64, low, given);
			high = max_t(s64, high, given);
			assert_in_range(v.prio[i].credit + GSO_FRAME, 0,
					GSO_FRAME + p.quantum[i]);
		}
		assert_true(low > 20 && high - low <= 1);
	}
}

static void test_strict(void **state)
{
	struct dcqcn_params p = { .sched = TC_DCQCN_SCHED_STRICT };
	struct dcqcn_vars v = {};
	u32 may;
	int top;

	(void)state;
	assert_int_equal(dcqcn_pick(&p, &v, 0), PRIOS);
	for (may = 1; may < 1U << PRIOS; may++) {
		for (top = PRIOS - 1; !(may >> top & 1);)
			top--;
		assert_int_equal(dcqcn_pick(&p, &v, may), top);
	}
}

/*
 * The model: queues as arrays, everything counted anew from them, and deficit
 * round robin by arithmetic: how often must each be passed until it may send?
 */
#define MODEL_MAX	64

struct model {
	struct {
		u32 len;
		bool lossless;
	} q[PRIOS][MODEL_MAX];
	u32 n[PRIOS];
	u64 peak[PRIOS], packets[PRIOS], bytes[PRIOS];
	s64 credit[PRIOS];
	u32 turn;
};

static u64 model_bytes(const struct model *m, u32 prio)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < m->n[prio]; i++)
		sum += m->q[prio][i].len;
	return sum;
}

static u64 model_lossy(const struct model *m)
{
	u64 sum = 0;
	u32 prio, i;

	for (prio = 0; prio < PRIOS; prio++) {
		for (i = 0; i < m->n[prio]; i++)
			sum += m->q[prio][i].lossless ? 0 : m->q[prio][i].len;
	}
	return sum;
}

/* Passes until the priority may send: each gives it its quantum. */
static u64 model_passes(const struct model *m, const struct dcqcn_params *p, u32 prio)
{
	return m->credit[prio] > 0 ? 0 : -m->credit[prio] / p->quantum[prio] + 1;
}

static u32 model_drr(struct model *m, const struct dcqcn_params *p, u32 may)
{
	u32 best = PRIOS, i, prio;
	u64 rounds = UINT64_MAX;
	bool before = true;

	for (i = 0; i < PRIOS; i++) {
		prio = (m->turn + i) % PRIOS;
		if (may >> prio & 1 && model_passes(m, p, prio) < rounds) {
			best = prio;
			rounds = model_passes(m, p, prio);
		}
	}
	for (i = 0; i < PRIOS; i++) {
		prio = (m->turn + i) % PRIOS;
		before &= prio != best;
		if (may >> prio & 1)
			m->credit[prio] += (s64)(rounds + before) * p->quantum[prio];
	}
	m->turn = best;
	return best;
}

static u32 model_pick(struct model *m, const struct dcqcn_params *p, u32 may)
{
	u32 prio;

	if (!may)
		return PRIOS;
	if (p->sched == TC_DCQCN_SCHED_DRR)
		return model_drr(m, p, may);
	for (prio = PRIOS; prio-- > 0;) {
		if (may >> prio & 1)
			break;
	}
	return prio;
}

/* The packet at the head is gone: sent, or dropped. */
static void model_out(struct model *m, const struct dcqcn_params *p, u32 prio, bool sent)
{
	u32 len = m->q[prio][0].len;

	if (sent) {
		m->packets[prio]++;
		m->bytes[prio] += len;
		if (p->sched == TC_DCQCN_SCHED_DRR)
			m->credit[prio] -= len;
	}
	m->n[prio]--;
	memmove(&m->q[prio][0], &m->q[prio][1], m->n[prio] * sizeof(m->q[prio][0]));
	if (!m->n[prio] && m->credit[prio] > 0)
		m->credit[prio] = 0;
}

static void same(const struct dcqcn_vars *v, const struct model *m)
{
	u32 prio;

	for (prio = 0; prio < PRIOS; prio++) {
		assert_int_equal(v->prio[prio].packets, m->n[prio]);
		assert_int_equal(v->prio[prio].bytes, model_bytes(m, prio));
		assert_int_equal(v->prio[prio].peak_bytes, m->peak[prio]);
		assert_int_equal(v->prio[prio].sent_packets, m->packets[prio]);
		assert_int_equal(v->prio[prio].sent_bytes, m->bytes[prio]);
		assert_int_equal(v->prio[prio].credit, m->credit[prio]);
		assert_int_equal(v->waiting >> prio & 1, !!m->n[prio]);
	}
	assert_int_equal(v->lossy_bytes, model_lossy(m));
}

static void both_arrive(struct rng *rng, const struct dcqcn_params *p, struct dcqcn_vars *v,
			struct model *m)
{
	u32 prio = rng_in(rng, 0, PRIOS - 1);
	u32 len = rng_in(rng, 60, rng_percent(rng, 90) ? 1514 : GSO_FRAME);
	bool lossless = rng_percent(rng, 30);
	bool fits = model_lossy(m) + len <= p->limit;

	assert_int_equal(dcqcn_fits(p, v, len), fits);
	if ((!lossless && !fits) || m->n[prio] == MODEL_MAX)
		return;
	m->q[prio][m->n[prio]].len = len;
	m->q[prio][m->n[prio]++].lossless = lossless;
	m->peak[prio] = max_t(u64, m->peak[prio], model_bytes(m, prio));
	dcqcn_count_in(v, prio, len, lossless);
}

static void both_depart(struct rng *rng, const struct dcqcn_params *p, struct dcqcn_vars *v,
			struct model *m)
{
	u32 may = v->waiting & (rng_percent(rng, 50) ? 0xff : rng_u32(rng));
	bool sent = rng_percent(rng, 95);
	u32 prio;

	prio = dcqcn_pick(p, v, may);
	assert_int_equal(model_pick(m, p, may), prio);
	if (prio == PRIOS)
		return;
	if (sent)
		dcqcn_sent(p, v, prio, m->q[prio][0].len, m->q[prio][0].lossless);
	else
		dcqcn_count_out(v, prio, m->q[prio][0].len, m->q[prio][0].lossless);
	model_out(m, p, prio, sent);
}

static void test_model(void **state)
{
	static struct model m;
	u32 round, i, load;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (round = 0; round < 400; round++) {
		struct dcqcn_params p = random_params(&rng, round % 2);
		struct dcqcn_vars v = {};

		memset(&m, 0, sizeof(m));
		load = rng_in(&rng, 30, 70);
		for (i = 0; i < 2000; i++) {
			if (rng_in(&rng, 0, 399) == 0)	/* changed while packets wait */
				p = random_params(&rng, p.sched);
			if (rng_percent(&rng, load))
				both_arrive(&rng, &p, &v, &m);
			else
				both_depart(&rng, &p, &v, &m);
			same(&v, &m);
		}
	}
}

/* ------------------------------------------------ stalls */

#define STALL	1000
#define CHECK	(STALL / DCQCN_STALL_CHECKS)

/* A priority that is held stalls when it has waited for STALL, and at most a check later. */
static void test_stall_time(void **state)
{
	u32 at, from;

	(void)state;
	for (from = 0; from < 2; from++) {	/* since an arrival; since a departure */
		for (at = 1; at < 3 * CHECK; at++) {
			struct dcqcn_params p = {};
			struct dcqcn_vars v = {};
			u32 t = 0, found = 0;

			if (from)
				dcqcn_count_in(&v, 3, 100, false);
			for (; !found; t++) {
				if (t == at) {
					dcqcn_count_in(&v, 3, 100, false);
					if (from)
						dcqcn_sent(&p, &v, 3, 100, false);
				}
				if (t % CHECK == 0 && dcqcn_check_stall(&v, 3, true))
					found = t;
				assert_true(t < at + STALL + CHECK);
			}
			assert_in_range(found - at, STALL, STALL + CHECK);
			assert_int_equal(v.prio[3].stalls, 1);
			assert_int_equal(v.stalled, 1U << 3);
		}
	}
}

/* Makes priority 3 stall, if it can. */
static bool stalls(struct dcqcn_vars *v, bool held)
{
	bool stalled = false;
	u32 i;

	for (i = 0; i < 3 * DCQCN_STALL_CHECKS; i++)
		stalled = dcqcn_check_stall(v, 3, held);
	return stalled;
}

static void test_stall_ends(void **state)
{
	struct dcqcn_params p = {};
	struct dcqcn_vars v = {};

	(void)state;
	assert_false(stalls(&v, true));		/* nothing waits */
	dcqcn_count_in(&v, 3, 100, false);
	dcqcn_count_in(&v, 3, 100, false);
	assert_false(stalls(&v, false));	/* nothing holds it */
	assert_true(stalls(&v, true));
	assert_int_equal(v.prio[3].stalls, 1);
	dcqcn_sent(&p, &v, 3, 100, false);	/* it moves */
	assert_false(dcqcn_check_stall(&v, 3, true));
	assert_int_equal(v.stalled, 0);
	assert_true(stalls(&v, true));
	assert_int_equal(v.prio[3].stalls, 2);
	dcqcn_count_out(&v, 3, 100, false);	/* what it held was dropped */
	assert_true(dcqcn_check_stall(&v, 3, true));
	assert_false(dcqcn_check_stall(&v, 3, false));
	assert_int_equal(v.stalled, 0);
	assert_int_equal(v.prio[3].stalls, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequency),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_drr_shares),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_stall_time),
		cmocka_unit_test(test_stall_ends),
	};

	return cmocka_run_group_tests_name("dcqcn_queue", tests, NULL, NULL);
}
