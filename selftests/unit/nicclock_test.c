// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/nicclock/nicclock_core.c: a NIC's clock, learnt from received packets
 *
 * With the simulated clocks and hosts of nicclock_world.h, answers must be accurate,
 * and there must be no answer while the clock is unknown.
 */
#include "nicclock_world.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- accuracy ---- */

static const s64 offsets[] = {
	0, 1, -1, SECOND, -HOUR, 100 * HOUR, START, -START,
};

static const s64 skews[] = {
	0, 1, 1000, -20000, 50000, -100000, 200000, -200000,
};

/* Documented accuracy, after 200 ms with a noise of 10 us */
static void check_accuracy(u64 seed, s64 offset, s64 ppb, u32 rate,
			   enum noise noise)
{
	struct world *w = world_new(seed, rate, noise);

	w->nic_ns = w->now_ns + offset;
	w->ppb = ppb;
	run(w, 200 * MS);
	assert_int_equal(w->core.map.state, NICCLOCK_SYNCHRONISED);
	world_forget(w);
	run(w, 500 * MS);
	assert_true(p99(w) < US);
	assert_true(w->worst_ns < 2 * US);
	assert_true(percent_answered(w) >= 90);
	assert_int_equal(w->core.steps, 0);
	free(w);
}

static void test_accuracy(void **state)
{
	u32 i, j;

	(void)state;
	for (i = 0; i < COUNT(offsets); i++)
		for (j = 0; j < COUNT(skews); j++) {
			check_accuracy(i * 100 + j, offsets[i], skews[j], 5000,
				       EXPONENTIAL);
			check_accuracy(i * 100 + j, offsets[i], skews[j], 10000,
				       UNIFORM);
		}
}

static void test_accuracy_many(void **state)
{
	(void)state;
	check_accuracy(1, -HOUR, 200000, 100000, EXPONENTIAL);
	check_accuracy(2, START, -200000, 100000, UNIFORM);
}

/* With few packets, learning takes longer, and errors stay below the noise. */
static void test_accuracy_few(void **state)
{
	static const u32 rates[] = { 100, 300, 1000 };
	struct world *w;
	u32 i, seed;

	(void)state;
	for (i = 0; i < COUNT(rates); i++)
		for (seed = 0; seed < 10; seed++) {
			w = world_new(seed, rates[i], EXPONENTIAL);
			w->ppb = 200000 - 40000 * (s64)seed;
			run(w, 2 * SECOND);
			world_forget(w);
			run(w, 5 * SECOND);
			assert_true(p99(w) < 3 * US);
			assert_int_equal(w->wrong, 0);
			assert_true(percent_answered(w) >= 20);
			free(w);
		}
}

/* A constant latency is not observable: it is the error. */
static void test_constant_latency(void **state)
{
	struct world *w = world_new(3, 1000, NONE);

	(void)state;
	w->extra_ns = 50 * US;
	w->ppb = -77000;
	run(w, 300 * MS);
	world_forget(w);
	run(w, 300 * MS);
	assert_int_equal(percent_answered(w), 100);
	assert_in_range(w->worst_ns, 50 * US, 50 * US + 3);
	free(w);
}

static void test_no_noise(void **state)
{
	static const u32 rates[] = { 20, 1000, 20000 };
	struct world *w;
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(rates); i++) {
		w = world_new(i, rates[i], NONE);
		w->ppb = 200000;
		run(w, 3 * SECOND);
		assert_in_range(w->worst_ns, 0, 3);
		assert_int_equal(w->core.map.state, NICCLOCK_SYNCHRONISED);
		free(w);
	}
}

/* No answer before 16 packets; an answer to each packet after 200 ms */
static void test_learning(void **state)
{
	struct world *w;
	u64 seed;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		w = world_new(seed, 3000, EXPONENTIAL);
		assert_int_equal(w->core.map.state, NICCLOCK_NO_STAMPS);
		while (w->packets < NICCLOCK_ANCHOR_FIRST - 1)
			next_packet(w);
		assert_int_equal(w->answers, 0);
		assert_int_equal(w->core.map.state, NICCLOCK_LEARNING);
		next_packet(w);
		assert_int_equal(w->core.map.state, NICCLOCK_ANCHORED);
		run(w, 35 * MS);
		assert_int_equal(w->core.map.state, NICCLOCK_LEARNING);
		run(w, 160 * MS);
		assert_true(w->worst_ns < 10 * US);
		world_forget(w);
		run(w, 50 * MS);
		assert_int_equal(percent_answered(w), 100);
		free(w);
	}
}

/* ---- wrap of the clock ---- */

static void test_wrap(void **state)
{
	static const u64 ends[] = { 0, (u64)1 << 63, (u64)1 << 32 };
	struct world *w;
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(ends); i++) {
		w = world_new(i, 10000, EXPONENTIAL);
		w->ppb = 100000;
		w->nic_ns = ends[i] - 500 * MS;
		run(w, 200 * MS);
		world_forget(w);
		run(w, 600 * MS);
		assert_int_equal(percent_answered(w), 100);
		assert_true(p99(w) < US);
		assert_int_equal(w->core.steps, 0);
		free(w);
	}
}

/* ---- unusual latency ---- */

/* Answers pause during bursts of latency, and stay accurate. */
static void test_bursts(void **state)
{
	static const u32 burst_ms[] = { 1, 10, 30, 50 };
	struct world *w;
	u32 i, j;

	(void)state;
	for (i = 0; i < COUNT(burst_ms); i++) {
		w = world_known(i, 10000, EXPONENTIAL);
		for (j = 0; j < 10; j++) {
			w->extra_ns = 200 * US;
			run(w, burst_ms[i] * MS);
			w->extra_ns = 0;
			run(w, 100 * MS);
		}
		assert_true(p99(w) < US);
		assert_true(w->worst_ns < 2 * US);
		assert_int_equal(w->core.steps, 0);
		assert_true(w->answers > w->packets * 100 /
			    (100 + burst_ms[i]) * 9 / 10);
		free(w);
	}
}

/* A burst of latency during learning */
static void test_burst_learning(void **state)
{
	u32 at_ms, i = 0;

	(void)state;
	for (at_ms = 10; at_ms < 200; at_ms += 7) {
		struct world *w = world_new(i++, 10000, EXPONENTIAL);

		run(w, at_ms * MS);
		w->extra_ns = 200 * US;
		run(w, 30 * MS);
		w->extra_ns = 0;
		run(w, 200 * MS);
		assert_int_equal(w->wrong, 0);
		world_forget(w);
		run(w, 100 * MS);
		assert_true(percent_answered(w) >= 95);
		assert_true(p99(w) < US);
		free(w);
	}
}

/*
 * A lasting latency looks like a step back. When it ends, this is detected, and answers
 * are soon accurate again.
 */
static void test_latency_stays(void **state)
{
	struct world *w = world_known(1, 10000, EXPONENTIAL);

	(void)state;
	w->extra_ns = 200 * US;
	run(w, 70 * MS);
	assert_true(w->wrong == 0);
	run(w, 130 * MS);
	assert_int_equal(w->core.steps, 1);
	w->extra_ns = 0;
	world_forget(w);
	run(w, 5 * MS);
	assert_int_equal(w->answers, 0);
	run(w, 195 * MS);
	assert_int_equal(w->wrong, 0);
	world_forget(w);
	run(w, 200 * MS);
	assert_true(p99(w) < US);
	assert_int_equal(percent_answered(w), 100);
	free(w);
}

/* One of two queues is late: half of the timestamps are out of order. */
static void test_queues(void **state)
{
	struct world *w = world_known(4, 20000, EXPONENTIAL);
	u64 end_ns = w->now_ns + 500 * MS;

	(void)state;
	while (w->now_ns < end_ns) {
		w->extra_ns = rng_percent(&w->rng, 50) ? 400 * US : 0;
		next_packet(w);
	}
	assert_true(p99(w) < US);
	assert_int_equal(w->core.steps, 0);
	assert_true(percent_answered(w) >= 99);
	free(w);
}

/* Delayed interrupts: the packets of 1 ms are observed at once. */
static void test_batches(void **state)
{
	struct world *w = world_known(5, 20000, EXPONENTIAL);
	u32 i, batch;

	(void)state;
	for (batch = 0; batch < 500; batch++) {
		w->now_ns += MS;
		for (i = 0; i <= 20; i++)
			packet(w, w->now_ns - (20 - i) * 50 * US);
	}
	assert_true(p99(w) < US);
	assert_int_equal(w->core.steps, 0);
	assert_true(percent_answered(w) >= 80);
	free(w);
}

/* A lateness above 1 ms gets no answer, whether real or not. */
static void test_very_late(void **state)
{
	struct world *w = world_known(6, 10000, EXPONENTIAL);

	(void)state;
	assert_true(packet(w, w->now_ns - MS + 10 * US));
	assert_false(packet(w, w->now_ns - MS - 10 * US));
	assert_true(next_packet(w));
	free(w);
}

/* ---- steps ---- */

/*
 * A step, then 500 ms. There may be up to answers_max wrong answers, the last one after
 * last_ms.
 */
static void check_step(u64 seed, s64 ns, u32 answers_max, u32 last_ms)
{
	struct world *w = world_known(seed, 10000, EXPONENTIAL);
	u64 at_ns = w->now_ns;

	step(w, ns);
	run(w, 200 * MS);
	assert_true(w->wrong <= answers_max);
	assert_true(!w->wrong || w->wrong_at_ns - at_ns <= last_ms * MS);
	assert_int_equal(w->core.steps, 1);
	world_forget(w);
	run(w, 300 * MS);
	assert_true(p99(w) < US);
	assert_true(w->worst_ns < 2 * US);
	assert_int_equal(percent_answered(w), 100);
	assert_int_equal(w->core.steps, 1);
	free(w);
}

static void test_step_forward(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		check_step(seed, 20 * US, 6, 2);
		check_step(seed, 50 * US, 2, 1);
		check_step(seed, 100 * US, 0, 0);
		check_step(seed, 20 * MS, 0, 0);
		check_step(seed, SECOND, 0, 0);
		check_step(seed, 3 * HOUR, 0, 0);
		check_step(seed, INT64_MAX, 0, 0);
	}
}

static void test_step_back(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		check_step(seed, -10 * US, 250, 20);
		check_step(seed, -30 * US, 250, 20);
		check_step(seed, -100 * US, 50, 4);
		check_step(seed, -500 * US, 50, 4);
		check_step(seed, -1100 * US, 0, 0);
		check_step(seed, -20 * MS, 0, 0);
		check_step(seed, -SECOND, 0, 0);
		check_step(seed, -3 * HOUR, 0, 0);
	}
}

/* The line follows steps that are similar to noise. */
static void test_step_small(void **state)
{
	static const struct {
		s64 ns;
		s64 worst_ns;
		u32 wrong;
	} cases[] = {
		{ 500, US, 0 }, { -500, US, 0 },
		{ 2 * US, 3 * US, 0 }, { -2 * US, 3 * US, 0 },
		{ 10 * US, 11 * US, 20 },
	};
	struct world *w;
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		w = world_known(i, 10000, EXPONENTIAL);
		step(w, cases[i].ns);
		run(w, 200 * MS);
		assert_true(w->worst_ns <= cases[i].worst_ns);
		assert_true(w->wrong <= cases[i].wrong);
		world_forget(w);
		run(w, 200 * MS);
		assert_true(p99(w) < US);
		free(w);
	}
}

/* An early packet corrects the line at once, not at the end of the bucket. */
static void test_early(void **state)
{
	struct world *w;
	u64 seed;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		w = world_known(seed, 20000, EXPONENTIAL);
		step(w, 2500);
		run(w, 3 * MS);
		world_forget(w);
		run(w, 2 * MS);
		assert_true(w->worst_ns < 1500);
		free(w);
	}
}

/* A step during learning, at_ms after the start */
static void check_step_learning(u64 seed, s64 ns, u32 at_ms)
{
	struct world *w = world_new(seed, 10000, EXPONENTIAL);

	w->ppb = 200000;
	run(w, at_ms * MS);
	world_forget(w);
	step(w, ns);
	run(w, 250 * MS);
	/* at most as many as after a later step; an obvious step causes no wrong answer */
	assert_true(w->wrong <= 250);
	assert_true(llabs(ns) < MS || w->worst_ns < 10 * US);
	world_forget(w);
	run(w, 200 * MS);
	assert_int_equal(percent_answered(w), 100);
	assert_true(p99(w) < US);
	free(w);
}

static void test_step_learning(void **state)
{
	static const s64 steps[] = {
		20 * US, -20 * US, 50 * US, -50 * US, 5 * MS, 50 * MS, -50 * MS,
		HOUR, -HOUR,
	};
	u32 i, at_ms, seed = 0;

	(void)state;
	for (i = 0; i < COUNT(steps); i++)
		for (at_ms = 5; at_ms < 160; at_ms += 17)
			check_step_learning(seed++, steps[i], at_ms);
	for (at_ms = 20; at_ms < 80; at_ms++)
		check_step_learning(at_ms * 10 + 5, -5 * MS, at_ms);
}

/* A step back beyond the last point is not latency, even during learning. */
static void test_step_before_last(void **state)
{
	struct world *w = world_new(1, 10000, EXPONENTIAL);

	(void)state;
	run(w, 50 * MS);
	step(w, -50 * MS);
	run(w, 25 * MS);
	assert_int_equal(w->core.steps, 1);
	free(w);
}

/* ---- slewing, idle times ---- */

static void test_slew(void **state)
{
	static const struct {
		s64 ppb;
		s64 worst_ns;
		u32 percent;
	} cases[] = {
		{ 1000, 500, 100 }, { -1000, 500, 100 },
		{ 20000, 2 * US, 99 }, { -20000, 2 * US, 99 },
		{ 100000, 8 * US, 80 }, { -100000, 8 * US, 80 },
		{ 200000, 8 * US, 70 }, { -200000, 8 * US, 70 },
	};
	struct world *w;
	u32 i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		w = world_known(i, 10000, EXPONENTIAL);
		for (j = 1; j <= 10; j++) {
			slew(w, 50000 + (j & 1) * cases[i].ppb);
			run(w, 500 * MS);
		}
		assert_true(w->worst_ns < cases[i].worst_ns);
		assert_true(percent_answered(w) >= cases[i].percent);
		free(w);
	}
}

/* A servo changes the rate 16 times a second, by a few ppm. */
static void test_servo(void **state)
{
	struct world *w = world_known(1, 10000, EXPONENTIAL);
	u32 i;

	(void)state;
	for (i = 0; i < 80; i++) {
		slew(w, 50000 + rng_in(&w->rng, 0, 10000));
		run(w, 62 * MS);
	}
	assert_true(p99(w) < US);
	assert_int_equal(w->core.steps, 0);
	assert_int_equal(percent_answered(w), 100);
	free(w);
}

static void test_idle(void **state)
{
	static const u32 idle_ms[] = { 20, 100, 200, 300, 900, 1100, 10000 };
	struct world *w;
	u32 i, j;
	bool answer;

	(void)state;
	for (i = 0; i < COUNT(idle_ms); i++) {
		w = world_known(i, 10000, EXPONENTIAL);
		for (j = 0; j < 5; j++) {
			w->now_ns += idle_ms[i] * MS;
			answer = next_packet(w);
			if (idle_ms[i] < 100)
				assert_true(answer);
			if (idle_ms[i] > 250)
				assert_false(answer);
			run(w, 300 * MS);
		}
		assert_true(p99(w) < US);
		assert_true(w->worst_ns < (idle_ms[i] < 250 ? 2 : 20) * US);
		assert_true(percent_answered(w) >= 95);
		assert_int_equal(w->core.steps, 0);
		free(w);
	}
}

/* Changes by a servo during an idle period are not taken for a step. */
static void test_idle_slew(void **state)
{
	static const s64 ppbs[] = { 60000, 5000, -5000, -12000 };
	struct world *w;
	u32 i;

	(void)state;
	for (i = 0; i < COUNT(ppbs); i++) {
		w = world_known(i, 10000, EXPONENTIAL);
		slew(w, 50000 + ppbs[i]);
		w->now_ns += 240 * MS;
		run(w, 500 * MS);
		assert_int_equal(w->core.steps, 0);
		assert_true(w->wrong <= 20 && w->worst_ns < 20 * US);
		world_forget(w);
		run(w, 200 * MS);
		assert_true(p99(w) < US);
		free(w);
	}
}

/*
 * 20 bursts of ACKs 20 us apart, with a period of period_ns. The error is never larger
 * than that of the host's own timestamps.
 */
static struct world *bursts(u64 seed, u32 acks, u64 period_ns, s64 ppb)
{
	struct world *w = world_new(seed, 10000, EXPONENTIAL);
	u64 next_ns = w->now_ns;
	u32 i, j;

	w->ppb = ppb;
	for (i = 0; i < 20; i++) {
		for (j = 0; j < acks; j++) {
			w->now_ns += 20 * US;
			packet(w, w->now_ns - latency(w));
		}
		next_ns += period_ns;
		w->now_ns = max_t(u64, w->now_ns, next_ns);
	}
	return w;
}

static void test_bursts_apart(void **state)
{
	static const u32 period_ms[] = { 50, 100, 200, 260, 300, 500, 1000, 3000, 30000,
					 300000 };
	static const u32 acks[] = { 200, 400, 1000 };
	struct world *w;
	u32 i, j, seed;

	(void)state;
	for (i = 0; i < COUNT(period_ms); i++)
		for (j = 0; j < COUNT(acks); j++)
			for (seed = 0; seed < 10; seed++) {
				w = bursts(seed, acks[j], period_ms[i] * MS,
					   -100000 + 20000 * (s64)seed);
				assert_true(percent_answered(w) >= 95);
				assert_int_equal(w->core.steps, 0);
				assert_true(p99(w) < 4 * US);
				free(w);
			}
}

/* The skew is known after some bursts, and is kept for minutes without packets. */
static void test_idle_skew(void **state)
{
	struct world *w;
	s64 skew_ppb;
	u32 seed;

	(void)state;
	for (seed = 0; seed < 20; seed++) {
		w = bursts(seed, 200, SECOND, 100000);
		w->now_ns += 300 * SECOND;
		next_packet(w);
		assert_true(w->core.skew_known);
		skew_ppb = w->core.skew * SECOND >> NICCLOCK_SKEW_SHIFT;
		assert_in_range(skew_ppb + 100000 + 1000, 0, 2000);
		free(w);
	}
}

/* With rare packets, there are never answers. */
static void test_rare(void **state)
{
	struct world *w = world_new(1, 5, EXPONENTIAL);

	(void)state;
	run(w, 60 * SECOND);
	assert_int_equal(w->wrong, 0);
	free(w);
}

/* A step of any size during an idle period is detected. */
static void test_step_idle(void **state)
{
	static const u32 idle_ms[] = { 50, 240, 260, 1100 };
	static const s64 steps[] = { 100 * US, -2 * MS, 100 * MS, -HOUR };
	struct world *w;
	u32 i, j;

	(void)state;
	for (i = 0; i < COUNT(idle_ms); i++)
		for (j = 0; j < COUNT(steps); j++) {
			w = world_known(i, 10000, EXPONENTIAL);
			w->now_ns += idle_ms[i] * MS;
			step(w, steps[j]);
			run(w, 300 * MS);
			assert_int_equal(w->wrong, 0);
			world_forget(w);
			run(w, 100 * MS);
			assert_int_equal(percent_answered(w), 100);
			free(w);
		}
}

/* ---- bad timestamps ---- */

static u64 random_stamp(struct world *w)
{
	u64 high = rng_u32(&w->rng);

	return high << 32 | rng_u32(&w->rng);
}

/* Occasional random timestamps get no answer, and have no effect. */
static void test_bad_stamps(void **state)
{
	struct world *w = world_known(2, 10000, EXPONENTIAL);
	u64 rx_ns;
	u32 i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		if (!(i % 200))
			assert_false(look_up(w, random_stamp(w), &rx_ns));
		next_packet(w);
	}
	assert_true(p99(w) < US);
	assert_int_equal(w->core.steps, 0);
	assert_int_equal(percent_answered(w), 100);
	free(w);
}

/* If all timestamps are wrong, there are no answers. */
static void test_only_bad_stamps(void **state)
{
	struct world *w = world_new(3, 10000, NONE);
	u64 rx_ns, frozen = random_stamp(w);
	u32 i;

	(void)state;
	for (i = 0; i < 50000; i++) {
		w->now_ns += rng_in(&w->rng, 1, 200 * US);
		assert_false(look_up(w, random_stamp(w), &rx_ns));
	}
	for (i = 0; i < 50000; i++) {
		w->now_ns += rng_in(&w->rng, 1, 200 * US);
		assert_false(look_up(w, frozen, &rx_ns));
	}
	/* a clock in another unit: 1 % too fast, 8 ns for 1 ns */
	slew(w, SECOND / 100);
	run(w, SECOND);
	slew(w, 7 * SECOND);
	run(w, SECOND);
	assert_int_equal(w->answers, 0);
	free(w);
}

/* Two clocks behind one device, as in a bond, an hour apart */
static void test_two_clocks(void **state)
{
	struct world *w = world_new(4, 10000, EXPONENTIAL);
	u32 i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		step(w, i & 1 ? HOUR : -HOUR);
		next_packet(w);
	}
	assert_int_equal(w->answers, 0);
	free(w);
}

/* ---- cost, contention ---- */

/* Nearly all packets only read the map. */
static void test_few_changes(void **state)
{
	struct world *w = world_known(7, 100000, UNIFORM);

	(void)state;
	run(w, SECOND);
	assert_true(w->changes < w->packets / 20);
	free(w);
	w = world_known(8, 10000, UNIFORM);
	run(w, SECOND);
	assert_true(w->changes < w->packets * 3 / 10);
	free(w);
}

/* Observations lost to a contended lock do not reduce the accuracy. */
static void test_lost(void **state)
{
	struct world *w = world_new(8, 20000, EXPONENTIAL);

	(void)state;
	w->lost_percent = 70;
	run(w, 300 * MS);
	world_forget(w);
	run(w, 500 * MS);
	assert_true(p99(w) < US);
	assert_int_equal(percent_answered(w), 100);
	free(w);
}

/* ---- fit ---- */

/* Total distance of the points from a line; -1 if a point is below */
static double above_all(const struct nicclock_cloud *cloud, u32 a, u32 b)
{
	double slope = (double)(cloud->y[b] - cloud->y[a]) /
		       (double)(cloud->x[b] - cloud->x[a]);
	double sum = 0, above;
	u32 i;

	for (i = 0; i < cloud->count; i++) {
		above = (double)(cloud->y[i] - cloud->y[a]) -
			slope * (double)(cloud->x[i] - cloud->x[a]);
		if (above < -0.000001)
			return -1;
		sum += above;
	}
	return sum;
}

/* The edge is the closest line through two points with no point below it. */
static void test_line(void **state)
{
	struct nicclock_cloud cloud;
	u32 round, left, right, a, b;
	struct rng rng;
	double sum;

	(void)state;
	rng_seed(&rng, 1);
	for (round = 0; round < 20000; round++) {
		cloud.count = rng_in(&rng, 2, NICCLOCK_POINTS);
		for (a = 0; a < cloud.count; a++) {
			cloud.x[a] = rng_in(&rng, 1, 20 * MS);
			if (a)
				cloud.x[a] += cloud.x[a - 1];
			cloud.y[a] = rng_in(&rng, 0, round & 1 ? 20 : MS);
		}
		nicclock_edge(&cloud, &left, &right);
		assert_true(left < right && right < cloud.count);
		sum = above_all(&cloud, left, right);
		assert_true(sum > -0.001);
		for (a = 0; a < cloud.count; a++)
			for (b = a + 1; b < cloud.count; b++)
				assert_true(above_all(&cloud, a, b) == -1 ||
					    above_all(&cloud, a, b) >=
					    sum - 0.001);
	}
}

static void test_median(void **state)
{
	u32 odd[] = { 7, 1, 5 }, same[] = { 3, 3, 3, 3 }, one[] = { 9 };
	u32 many[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };

	(void)state;
	assert_int_equal(nicclock_median(odd, 3), 5);
	assert_int_equal(nicclock_median(same, 4), 3);
	assert_int_equal(nicclock_median(one, 1), 9);
	assert_int_equal(nicclock_median(many, 10), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accuracy),
		cmocka_unit_test(test_accuracy_many),
		cmocka_unit_test(test_accuracy_few),
		cmocka_unit_test(test_constant_latency),
		cmocka_unit_test(test_no_noise),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_burst_learning),
		cmocka_unit_test(test_latency_stays),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_very_late),
		cmocka_unit_test(test_step_forward),
		cmocka_unit_test(test_step_back),
		cmocka_unit_test(test_step_small),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_step_learning),
		cmocka_unit_test(test_step_before_last),
		cmocka_unit_test(test_slew),
		cmocka_unit_test(test_servo),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_idle_slew),
		cmocka_unit_test(test_bursts_apart),
		cmocka_unit_test(test_idle_skew),
		cmocka_unit_test(test_rare),
		cmocka_unit_test(test_step_idle),
		cmocka_unit_test(test_bad_stamps),
		cmocka_unit_test(test_only_bad_stamps),
		cmocka_unit_test(test_two_clocks),
		cmocka_unit_test(test_few_changes),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
