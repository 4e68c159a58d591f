// SPDX-License-Identifier: GPL-2.0-only
/* sch/act_lb: load and quality of a port, the table of flows, the choice of a member */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/act_lb/lb_flow.h"
#include "../../sch/act_lb/lb_load.h"
#include "../../sch/act_lb/lb_select.h"
#include "rng.h"

#define GBIT		(1000000000ULL / 8)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct lb_weights weights = {
	.interval_ns = 16000, .band_ns = 2000, .queue_weight = 100, .charge = true,
	.util_low = LB_UTIL_ONE / 5, .util_high = LB_UTIL_ONE * 4 / 5,
};

static struct lb_grading queue_only;

/* A port of @gbit with @backlog bytes, sampled */
static struct lb_load port(u32 gbit, u32 backlog)
{
	struct lb_load l;

	lb_load_init(&l);
	lb_load_set_rate(&l, gbit * GBIT);
	lb_load_sample(&l, &queue_only, 1, 0, backlog);
	return l;
}

/* ---- load ---- */

static void test_drain_time_follows_backlog_and_rate(void **state)
{
	struct lb_load slow = port(10, 12500), fast = port(100, 12500);
	struct lb_grading g = queue_only;

	(void)state;
	assert_in_range(lb_load_drain_ns(&slow, &queue_only), 9999, 10000);
	assert_in_range(lb_load_drain_ns(&fast, &queue_only), 999, 1000);
	lb_load_charge(&slow, 12500);
	assert_in_range(lb_load_drain_ns(&slow, &queue_only), 19999, 20000);
	g.w.charge = false;
	assert_in_range(lb_load_drain_ns(&slow, &g), 9999, 10000);
	lb_load_sample(&slow, &queue_only, 2, 0, 0);
	assert_int_equal(lb_load_drain_ns(&slow, &queue_only), 0);
}

static void test_all_rates_have_a_drain_time(void **state)
{
	struct lb_load l = port(10, 1000);
	u64 rate_Bps, drain_ns;

	(void)state;
	for (rate_Bps = 300; rate_Bps < 1ULL << 40; rate_Bps *= 3) {
		lb_load_set_rate(&l, rate_Bps);
		drain_ns = 1000ULL * NSEC_PER_SEC / rate_Bps;
		assert_in_range(lb_load_drain_ns(&l, &queue_only) + 1,
				drain_ns - drain_ns / 100, drain_ns + 1);
	}
}

static void test_costly_samples_are_due_later(void **state)
{
	struct lb_load l = port(10, 0);
	u32 interval_ns = queue_only.w.interval_ns;

	(void)state;
	assert_false(lb_load_is_due(&l, &queue_only, interval_ns));
	assert_true(lb_load_is_due(&l, &queue_only, 1 + interval_ns));
	l.intervals = 3;
	assert_false(lb_load_is_due(&l, &queue_only, 3 * interval_ns));
	assert_true(lb_load_is_due(&l, &queue_only, 1 + 3 * interval_ns));
}

/* Bands of the queue by the table of lb_load.c, with loops instead of logarithms */
static u32 model_queue_band(u64 drain_ns, u64 first_ns)
{
	u32 band = LB_BEST;

	for (; band && drain_ns >= first_ns; first_ns *= 2)
		band--;
	return band;
}

static void test_queue_bands_double(void **state)
{
	u32 backlog;

	(void)state;
	for (backlog = 0; backlog < 400000; backlog += 100) {
		struct lb_load l = port(10, backlog);

		u64 drain_ns = lb_load_drain_ns(&l, &queue_only);

		assert_int_equal(lb_load_queue_band(&l, &queue_only),
				 model_queue_band(drain_ns, weights.band_ns));
	}
}

static void test_utilization_is_an_exponential_mean(void **state)
{
	struct lb_load l = port(10, 0);
	double mean = 0;
	u64 sent = 0;
	u32 i;

	(void)state;
	for (i = 1; i <= 50; i++) {
		/* half the bytes of an interval at 10 Gbit/s */
		sent += weights.interval_ns * 10 / 8 / 2;
		lb_load_sample(&l, &queue_only, 1 + (u64)i * weights.interval_ns, sent, 0);
		mean += (0.5 - mean) / 4;
		assert_in_range(l.util, mean * LB_UTIL_ONE - 16, mean * LB_UTIL_ONE + 16);
	}
}

/* Wait twice @intervals, then sample a packet that fills @intervals at 10 Gbit/s. */
static void check_half_busy(u32 intervals)
{
	struct lb_load l = port(10, 0);
	u64 sent = 0, sum = 0;
	u32 i;

	for (i = 1; i <= 200 * intervals; i++) {
		if (i % (2 * intervals) == 0)
			sent += (u64)intervals * weights.interval_ns * 10 / 8;
		lb_load_sample(&l, &queue_only, 1 + (u64)i * weights.interval_ns, sent, 0);
		if (i > 100 * intervals)
			sum += l.util;
	}
	assert_in_range(sum / (100 * intervals), LB_UTIL_ONE * 0.49, LB_UTIL_ONE * 0.51);
}

static void test_packets_longer_than_an_interval_count_in_full(void **state)
{
	u32 intervals;

	(void)state;
	for (intervals = 1; intervals <= 64; intervals *= 2)
		check_half_busy(intervals);
}

/* A device gets another qdisc, whose counter begins at 0 */
static void test_kept_quality_is_that_of_the_load_and_the_grading(void **state)
{
	struct lb_weights w = queue_only.w;
	struct lb_grading other;
	struct lb_load l = port(10, 0);
	struct rng rng;
	u32 i;

	(void)state;
	w.band_ns *= 3;
	lb_grading_init(&other, &w);
	rng_seed(&rng, 1);
	for (i = 1; i < 10000; i++) {
		const struct lb_grading *g = rng_u32(&rng) % 2 ? &other : &queue_only;

		if (rng_u32(&rng) % 2)
			lb_load_charge(&l, rng_u32(&rng) % 3000);
		if (rng_u32(&rng) % 8 == 0)
			lb_load_sample(&l, g, i, 0, rng_u32(&rng) % 100000);
		if (rng_u32(&rng) % 8 == 0)
			lb_load_set_rate(&l, (1 + rng_u32(&rng) % 9) * GBIT);
		assert_int_equal(lb_load_quality(&l, g),
				 g->quality[lb_load_queue_band(&l, g)][lb_load_util_band(&l, g)]);
	}
}

static void test_new_counter_keeps_the_utilization(void **state)
{
	struct lb_load l = port(10, 0);
	u32 util;

	(void)state;
	lb_load_sample(&l, &queue_only, 1 + weights.interval_ns, 10000, 0);
	util = l.util;
	lb_load_sample(&l, &queue_only, 1 + 2 * weights.interval_ns, 500, 0);
	assert_int_equal(l.util, util);
	/* a second sample at the same time */
	lb_load_sample(&l, &queue_only, 1 + 2 * weights.interval_ns, 500, 0);
	assert_int_equal(l.util, util);
	lb_load_sample(&l, &queue_only, 1 + 3 * weights.interval_ns, 500, 0);
	assert_in_range(l.util, util * 3 / 4 - 1, util * 3 / 4 + 1);
}

/* A CPU that has read the clock before another CPU's sample leaves that sample as it is. */
static void test_older_sample_is_ignored(void **state)
{
	u64 now = 1 + 1000ULL * weights.interval_ns;
	struct lb_load l, before;

	(void)state;
	lb_load_init(&l);
	lb_load_set_rate(&l, 1250000000);
	lb_load_sample(&l, &queue_only, now - weights.interval_ns, 0, 0);
	lb_load_sample(&l, &queue_only, now, 20000, 5000);
	assert_int_not_equal(l.util, 0);
	assert_false(lb_load_is_due(&l, &queue_only, now - 100));
	before = l;
	lb_load_sample(&l, &queue_only, now - 100, 20100, 0);
	assert_memory_equal(&l, &before, sizeof(l));
}

static void test_long_idle_time_clears_the_utilization(void **state)
{
	struct lb_load l = port(10, 0);

	(void)state;
	lb_load_sample(&l, &queue_only, 1 + weights.interval_ns, 20000, 0);
	assert_in_range(l.util, LB_UTIL_ONE / 4 - 16, LB_UTIL_ONE / 4);
	lb_load_sample(&l, &queue_only, NSEC_PER_SEC, 20000, 0);
	assert_int_equal(l.util, 0);
}

/* Samples at a constant utilization until the mean has it */
static u32 util_band_at(struct lb_load *l, const struct lb_grading *g, u32 util)
{
	u64 now = 1, sent = 0, bytes = 10 * GBIT / 1000 * util / LB_UTIL_ONE;
	u32 i;

	*l = port(10, 0);
	for (i = 0; i < 3; i++) {
		now += 1000000;		/* many intervals: the mean equals the last value */
		sent += bytes;
		lb_load_sample(l, g, now, sent, 0);
	}
	return lb_load_util_band(l, g);
}

static void test_utilization_band_falls_linearly(void **state)
{
	u32 util, band, last = LB_BEST;
	struct lb_load l;
	double share;

	(void)state;
	for (util = 0; util <= LB_UTIL_ONE; util += 16) {
		band = util_band_at(&l, &queue_only, util);
		assert_true(band <= last && last - band <= 1);
		share = (double)weights.util_high - l.util;
		share /= weights.util_high - weights.util_low;
		share = share < 0 ? 0 : share > 1 ? 1 : share;
		assert_int_equal(band, (u32)(LB_BEST * share));
		last = band;
	}
	assert_int_equal(last, 0);
}

static void test_equal_marks_of_utilization_make_a_step(void **state)
{
	struct lb_weights w = weights;
	struct lb_grading g;
	struct lb_load l;

	(void)state;
	w.util_low = LB_UTIL_ONE / 2;
	w.util_high = w.util_low;
	lb_grading_init(&g, &w);
	assert_int_equal(util_band_at(&l, &g, LB_UTIL_ONE / 2 - 16), LB_BEST);
	assert_int_equal(util_band_at(&l, &g, LB_UTIL_ONE / 2 + 16), 0);
}

/* Two actions share a port. Each grades by its own marks, whichever takes the samples. */
static void test_utilization_is_graded_by_own_marks(void **state)
{
	struct lb_weights w = weights;
	struct lb_grading early, late;
	struct lb_load l;

	(void)state;
	w.queue_weight = 0;
	w.util_weight = 100;
	w.util_low = 0;
	w.util_high = LB_UTIL_ONE / 4;
	lb_grading_init(&early, &w);
	w.util_low = LB_UTIL_ONE * 3 / 4;
	w.util_high = LB_UTIL_ONE;
	lb_grading_init(&late, &w);
	assert_int_equal(util_band_at(&l, &early, LB_UTIL_ONE / 2), 0);
	assert_int_equal(lb_load_quality(&l, &early), 0);
	assert_int_equal(lb_load_quality(&l, &late), LB_BEST);
	assert_int_equal(util_band_at(&l, &late, LB_UTIL_ONE / 2), LB_BEST);
	assert_int_equal(lb_load_quality(&l, &late), LB_BEST);
	assert_int_equal(lb_load_quality(&l, &early), 0);
}

static void test_quality_is_the_weighted_mean_of_the_bands(void **state)
{
	struct lb_weights w = weights;
	struct lb_grading g;
	u32 queue, util, i;
	double mean;

	(void)state;
	for (w.queue_weight = 0; w.queue_weight <= 100; w.queue_weight += 10) {
		w.util_weight = 100 - w.queue_weight;
		for (; w.util_weight <= 100; w.util_weight += 7) {
			lb_grading_init(&g, &w);
			for (i = 0; i < LB_BANDS * LB_BANDS; i++) {
				queue = i / LB_BANDS;
				util = i % LB_BANDS;
				mean = (double)w.queue_weight * queue;
				mean += (double)w.util_weight * util;
				mean /= w.queue_weight + w.util_weight;
				assert_true(g.quality[queue][util] - mean <= 0.5);
				assert_true(mean - g.quality[queue][util] <= 0.5);
			}
		}
	}
}

/* ---- flows ---- */

static void test_flowlet_ends_after_the_gap(void **state)
{
	struct lb_flow bucket[LB_WAYS] = { }, *f, *again;
	const u64 hash = 5ULL << 32, gap = 256 * LB_TICK_NS;
	u64 now = 1000000;

	(void)state;
	assert_int_equal(lb_flow_find(bucket, hash, now, gap, &f), LB_FLOW_NEW);
	f->member = 3;
	now += gap;
	assert_int_equal(lb_flow_find(bucket, hash, now, gap, &again), LB_FLOW_ACTIVE);
	assert_ptr_equal(again, f);
	assert_int_equal(again->member, 3);
	now += gap + LB_TICK_NS;
	assert_int_equal(lb_flow_find(bucket, hash, now, gap, &again), LB_FLOW_GAP);
	assert_int_equal(again->member, 3);
}

/* Another CPU has seen the flow after this one has read the clock: it is not old. */
static void test_flow_of_the_future_is_active(void **state)
{
	struct lb_flow bucket[LB_WAYS] = {}, *f;
	u64 now = 1ULL << 40, gap = 256000, tick = 1ULL << LB_TICK_SHIFT;

	(void)state;
	assert_int_equal(lb_flow_find(bucket, 5ULL << 32, now, gap, &f), LB_FLOW_NEW);
	assert_int_equal(lb_flow_find(bucket, 5ULL << 32, now - tick, gap, &f), LB_FLOW_ACTIVE);
	/* and the clock of the flow does not go back */
	assert_int_equal(lb_flow_find(bucket, 5ULL << 32, now + gap, gap, &f), LB_FLOW_ACTIVE);
	assert_int_equal(lb_flow_find(bucket, 5ULL << 32, now + 2 * gap + tick, gap, &f),
			 LB_FLOW_GAP);
}

static void test_active_flows_are_not_replaced(void **state)
{
	struct lb_flow bucket[LB_WAYS] = { }, *f;
	const u64 gap = 100 * LB_TICK_NS;
	u32 i;

	(void)state;
	for (i = 1; i <= LB_WAYS; i++)
		assert_int_equal(lb_flow_find(bucket, (u64)(2 * i) << 32, i * LB_TICK_NS, gap, &f),
				 LB_FLOW_NEW);
	assert_int_equal(lb_flow_find(bucket, 99ULL << 32, 50 * LB_TICK_NS, gap, &f), LB_FLOW_FULL);
	assert_null(f);
	/* the flow that was seen first leaves first */
	assert_int_equal(lb_flow_find(bucket, 99ULL << 32, 103 * LB_TICK_NS, gap, &f), LB_FLOW_NEW);
	assert_ptr_equal(f, &bucket[0]);
}

#define MODEL_FLOWS	12

/* Random packets of 12 flows in one bucket, beside a list of the flows' last packets */
static void test_random_packets_agree_with_a_list(void **state)
{
	struct lb_flow bucket[LB_WAYS] = { }, *f;
	u64 seen[MODEL_FLOWS] = { }, now = 1 << 20, age, gap = 64 * LB_TICK_NS;
	u32 states[LB_FLOW_FULL + 1] = { };
	struct rng rng;
	enum lb_flow_state got;
	u32 i, flow;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 200000; i++) {
		now += rng_in(&rng, 1, 24) * LB_TICK_NS;
		flow = rng_in(&rng, 0, MODEL_FLOWS - 1);
		got = lb_flow_find(bucket, (u64)(flow + 1) << 33, now, gap, &f);
		age = now - seen[flow];
		states[got]++;
		if (got == LB_FLOW_ACTIVE)
			assert_true(seen[flow] && age <= gap);
		if (got == LB_FLOW_GAP)
			assert_true(seen[flow] && age > gap);
		if (got == LB_FLOW_FULL)
			assert_null(f);
		else
			seen[flow] = now;
		if (got == LB_FLOW_FULL)
			seen[flow] = 0;
	}
	for (i = 0; i <= LB_FLOW_FULL; i++)
		assert_true(states[i] > 1000);
}

/* ---- choice ---- */

struct group {
	struct lb_load loads[8];
	struct lb_group all;
	struct lb_memory memory;
	struct lb_select_params p;
};

/* Eight ports of 10 Gbit/s with weights 1, 2, 3, ... */
static void make_group(struct group *g, enum lb_policy policy)
{
	u32 i;

	memset(g, 0, sizeof(*g));
	g->p = (struct lb_select_params) {
		.policy = policy, .choices = 2, .memory = 1, .grading = queue_only,
	};
	g->all.up = 0xff;
	for (i = 0; i < COUNT(g->loads); i++) {
		g->loads[i] = port(10, 0);
		g->all.members[i] = (struct lb_member) {
			.load = &g->loads[i], .weight = i + 1, .remote = LB_BEST,
		};
	}
}

static void set_backlog(struct group *g, u32 i, u32 bytes)
{
	g->loads[i] = port(10, bytes);
}

static int choose(struct group *g, struct rng *rng, int present)
{
	const struct lb_member *m = g->all.members;
	u32 number = rng_u32(rng), i;
	u64 set;

	g->all.grades = (struct lb_grades) { };
	for (set = g->all.up; set; set &= set - 1) {
		i = __ffs64(set);
		lb_grade(&g->all.grades, 1ULL << i, m[i].load, &g->p.grading, m[i].remote);
	}
	lb_drill_sample(&g->p, &g->all, &g->memory, number);
	return lb_select(&g->p, g->p.policy, &g->all, &g->memory, number, present);
}

static void test_all_policies_honour_weights_and_links(void **state)
{
	static const enum lb_policy policies[] = { LB_HASH, LB_RANDOM, LB_RR, LB_QUALITY };
	u32 met[8], i, p;
	struct group g;
	struct rng rng;
	double share;

	(void)state;
	for (p = 0; p < COUNT(policies); p++) {
		make_group(&g, policies[p]);
		g.all.up &= ~(1U << 3);
		rng_seed(&rng, p);
		memset(met, 0, sizeof(met));
		for (i = 0; i < 100000; i++)
			met[choose(&g, &rng, LB_NO_MEMBER)]++;
		assert_int_equal(met[3], 0);
		for (i = 0; i < 8; i++) {
			share = i == 3 ? 0 : (i + 1) / 32.0;
			assert_in_range(met[i], 100000 * share * 0.95, 100000 * share * 1.05);
		}
	}
}

static void test_no_member_is_chosen_if_all_are_down(void **state)
{
	enum lb_policy policy;
	struct group g;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (policy = LB_HASH; policy <= LB_DRILL; policy++) {
		make_group(&g, policy);
		g.all.up = 0;
		assert_int_equal(choose(&g, &rng, 0), LB_NO_MEMBER);
	}
}

static void test_quality_chooses_among_the_best(void **state)
{
	struct group g;
	struct rng rng;
	u32 i;

	(void)state;
	make_group(&g, LB_QUALITY);
	rng_seed(&rng, 1);
	for (i = 0; i < 8; i++)
		set_backlog(&g, i, i % 2 ? 100000 : 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(choose(&g, &rng, LB_NO_MEMBER) % 2, 0);
	/* a flow stays on a member of the best band, and leaves other members */
	assert_int_equal(choose(&g, &rng, 4), 4);
	assert_int_equal(choose(&g, &rng, 5) % 2, 0);
	/* the remote quality limits that of the path */
	for (i = 0; i < 8; i += 2)
		g.all.members[i].remote = i == 6 ? LB_BEST : 0;
	for (i = 0; i < 100; i++)
		assert_int_equal(choose(&g, &rng, LB_NO_MEMBER), 6);
}

static void test_worst_quality_chooses_the_shortest(void **state)
{
	struct group g;
	struct rng rng;
	u32 i;

	(void)state;
	make_group(&g, LB_QUALITY);
	rng_seed(&rng, 1);
	/* all in the last band: above 160 kB at 10 Gbit/s */
	for (i = 0; i < 8; i++)
		set_backlog(&g, i, 400000 + 1500 * ((i + 3) % 8));
	for (i = 0; i < 100; i++)
		assert_int_equal(choose(&g, &rng, LB_NO_MEMBER), 5);
	assert_int_equal(choose(&g, &rng, 4), 5);
	lb_load_charge(&g.loads[5], 2000);
	assert_int_equal(choose(&g, &rng, LB_NO_MEMBER), 6);
	/* equal ones are met at random; a port of half the rate takes twice the time */
	set_backlog(&g, 1, 300000);
	set_backlog(&g, 2, 300000);
	g.loads[3] = port(5, 200000);
	for (i = 0; i < 100; i++)
		assert_in_range(choose(&g, &rng, LB_NO_MEMBER), 1, 2);
	/* a better band is better, whatever the last one has */
	set_backlog(&g, 7, 150000);
	for (i = 0; i < 100; i++)
		assert_int_equal(choose(&g, &rng, LB_NO_MEMBER), 7);
}

static void test_equal_weights_need_no_sums(void **state)
{
	static const enum lb_policy policies[] = { LB_HASH, LB_RANDOM, LB_RR, LB_QUALITY };
	struct group even, weighted;
	u32 i, m, p;
	struct rng rng, same;

	(void)state;
	for (p = 0; p < COUNT(policies); p++) {
		make_group(&even, policies[p]);
		rng_seed(&rng, p);
		for (i = 0; i < 10000; i++) {
			for (m = 0; m < 8; m++)
				even.all.members[m].weight = 7;
			even.all.up = rng_u32(&rng) & 0xff;
			set_backlog(&even, i % 8, rng_u32(&rng) % 10000);
			weighted = even;
			even.all.even = true;
			/* in turn, a weight of 7 means 7 turns each */
			weighted.all.members[0].weight = policies[p] == LB_RR ? 1 : 7;
			for (m = 1; m < 8; m++)
				weighted.all.members[m].weight = weighted.all.members[0].weight;
			same = rng;
			assert_int_equal(choose(&even, &rng, LB_NO_MEMBER),
					 choose(&weighted, &same, LB_NO_MEMBER));
			even.all.even = false;
		}
	}
}

static void test_charged_packets_spread_over_equal_ports(void **state)
{
	u32 met[8] = { }, i;
	struct group g;
	struct rng rng;
	int m;

	(void)state;
	make_group(&g, LB_QUALITY);
	rng_seed(&rng, 1);
	g.all.even = true;
	for (i = 0; i < 800; i++) {
		m = choose(&g, &rng, LB_NO_MEMBER);
		lb_load_charge(&g.loads[m], 1500);
		met[m]++;
	}
	for (i = 0; i < 8; i++)
		assert_in_range(met[i], 70, 130);
}

static void test_drill_remembers_the_shortest_queue(void **state)
{
	u32 i, best = 0;
	struct group g;
	struct rng rng;

	(void)state;
	make_group(&g, LB_DRILL);
	rng_seed(&rng, 1);
	for (i = 0; i < 8; i++)
		set_backlog(&g, i, i == 2 ? 0 : 10000 + 100 * i);
	/* once met, the shortest queue is remembered, and chosen each time */
	for (i = 0; i < 100; i++)
		best += choose(&g, &rng, LB_NO_MEMBER) == 2;
	assert_true(best > 80);
	assert_int_equal(g.memory.best[0], 2);
	g.all.up &= ~(1U << 2);
	for (i = 0; i < 100; i++)
		assert_int_not_equal(choose(&g, &rng, LB_NO_MEMBER), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain_time_follows_backlog_and_rate),
		cmocka_unit_test(test_all_rates_have_a_drain_time),
		cmocka_unit_test(test_costly_samples_are_due_later),
		cmocka_unit_test(test_queue_bands_double),
		cmocka_unit_test(test_utilization_is_an_exponential_mean),
		cmocka_unit_test(test_packets_longer_than_an_interval_count_in_full),
		cmocka_unit_test(test_kept_quality_is_that_of_the_load_and_the_grading),
		cmocka_unit_test(test_new_counter_keeps_the_utilization),
		cmocka_unit_test(test_older_sample_is_ignored),
		cmocka_unit_test(test_long_idle_time_clears_the_utilization),
		cmocka_unit_test(test_utilization_band_falls_linearly),
		cmocka_unit_test(test_equal_marks_of_utilization_make_a_step),
		cmocka_unit_test(test_utilization_is_graded_by_own_marks),
		cmocka_unit_test(test_quality_is_the_weighted_mean_of_the_bands),
		cmocka_unit_test(test_flowlet_ends_after_the_gap),
		cmocka_unit_test(test_flow_of_the_future_is_active),
		cmocka_unit_test(test_active_flows_are_not_replaced),
		cmocka_unit_test(test_random_packets_agree_with_a_list),
		cmocka_unit_test(test_all_policies_honour_weights_and_links),
		cmocka_unit_test(test_no_member_is_chosen_if_all_are_down),
		cmocka_unit_test(test_quality_chooses_among_the_best),
		cmocka_unit_test(test_worst_quality_chooses_the_shortest),
		cmocka_unit_test(test_equal_weights_need_no_sums),
		cmocka_unit_test(test_charged_packets_spread_over_equal_ports),
		cmocka_unit_test(test_drill_remembers_the_shortest_queue),
	};

	lb_grading_init(&queue_only, &weights);
	return cmocka_run_group_tests_name("lb", tests, NULL, NULL);
}
