// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/closwire/closwire_clock.c: a clock with offset, drift and a servo
 *
 * The clock is compared with its definition in 128-bit integers. The unit of time is
 * ns / UNIT: each rate is a whole number of units per ns, without rounding.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../net/closwire/closwire_clock.h"
#include "rng.h"

#define UNIT		((__int128_t)CLOSWIRE_PPB * CLOSWIRE_SCALED_PPM)

#define SECOND		1000000000LL
#define HOUR		(3600 * SECOND)
#define DAY		(24 * HOUR)
/* 2026 */
#define START		(1780000000 * SECOND)

/* Maximum argument of struct ptp_clock_info.adjfine */
#define ADJ_MAX		(CLOSWIRE_ADJ_MAX_PPB / 1000 * 65536LL)

#define CHANGES		1000000

static const s32 drifts[] = {
	0, 1, -1, 7, 999, -12345, 50000, -100000, CLOSWIRE_CLOCK_DRIFT_MAX,
	-CLOSWIRE_CLOCK_DRIFT_MAX,
};

/* 2^-16 ppm */
static const s64 adjs[] = {
	0, 1, -1, 65536, -65537, 6553600, -33554432, ADJ_MAX, -ADJ_MAX,
};

static const u64 spans[] = {
	0, 1, 2, 999, 1000, 1000000, SECOND, SECOND + 1, 17 * SECOND, HOUR,
	HOUR + 1, DAY, 30 * DAY,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * A clock and its exact time, ns + units / UNIT. It has run since start_ns, at changing
 * rates.
 */
struct pair {
	struct closwire_clock clock;
	__int128_t units_per_ns;
	__int128_t units;
	s64 ns;
	u64 raw_ns;
	u64 start_ns;
};

static struct pair pair_started(u64 raw_ns, s64 ns)
{
	struct pair p = {
		.units_per_ns = UNIT,
		.ns = ns,
		.raw_ns = raw_ns,
		.start_ns = raw_ns,
	};

	closwire_clock_init(&p.clock, raw_ns, ns);
	return p;
}

static void pair_wait(struct pair *p, u64 ns)
{
	p->units += p->units_per_ns * ns;
	p->raw_ns += ns;
}

static void pair_set_rate(struct pair *p, s32 drift_ppb, s64 scaled_ppm)
{
	closwire_clock_set_rate(&p->clock, p->raw_ns, drift_ppb, scaled_ppm);
	p->units_per_ns = (__int128_t)(CLOSWIRE_PPB + drift_ppb) *
			  (CLOSWIRE_SCALED_PPM + scaled_ppm);
}

static void pair_step(struct pair *p, s64 ns)
{
	closwire_clock_step(&p->clock, ns);
	p->ns += ns;
}

static void pair_set(struct pair *p, s64 ns)
{
	closwire_clock_set(&p->clock, p->raw_ns, ns);
	p->ns = ns;
	p->units = 0;
}

/* Round down, even below 0. */
static __int128_t whole_ns(__int128_t units)
{
	return units / UNIT - (units % UNIT < 0);
}

/*
 * Check that the clock shows the exact time in whole ns. Both factors of the rate and
 * their product are rounded in the 63rd bit; the errors accumulate.
 */
static void assert_shows(const struct pair *p, s64 from_now_ns)
{
	u64 run_ns = p->raw_ns - p->start_ns + llabs(from_now_ns);
	__int128_t error = ((__int128_t)run_ns >> 28) * (UNIT >> 33) + (UNIT >> 33);
	__int128_t exact = p->units + p->units_per_ns * from_now_ns;
	__int128_t got = closwire_clock_at(&p->clock, p->raw_ns + from_now_ns);

	if (got < p->ns + whole_ns(exact - error) ||
	    got > p->ns + whole_ns(exact + error))
		fail_msg("%lld ns from now: %lld, exact: %lld",
			 (long long)from_now_ns, (long long)got,
			 (long long)(p->ns + whole_ns(exact)));
}

/* ---- constant rate ---- */

static void test_true(void **state)
{
	struct pair p = pair_started(123456789, START);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(spans); i++) {
		assert_int_equal(closwire_clock_at(&p.clock,
						   123456789 + spans[i]),
				 START + spans[i]);
		assert_int_equal(closwire_clock_at(&p.clock,
						   123456789 - spans[i]),
				 START - spans[i]);
	}
}

/* Computed by hand: 500 ppm are 1.8 s in an hour. */
static void test_by_hand(void **state)
{
	struct pair p = pair_started(0, 0);

	(void)state;
	pair_set_rate(&p, 500000, 0);
	assert_int_equal(closwire_clock_at(&p.clock, HOUR), 3601800000000);
	pair_set_rate(&p, -500000, 0);
	assert_int_equal(closwire_clock_at(&p.clock, HOUR), 3598200000000);
	/* 100 ppm by a servo, in its unit */
	pair_set_rate(&p, 0, 100 << 16);
	assert_int_equal(closwire_clock_at(&p.clock, SECOND), 1000100000);
	/* the maximum */
	pair_set_rate(&p, 0, ADJ_MAX);
	assert_int_equal(closwire_clock_at(&p.clock, SECOND), 1100000000);
}

static void check_rate(s32 drift_ppb, s64 scaled_ppm)
{
	struct pair p = pair_started(DAY, START);
	size_t i;

	pair_set_rate(&p, drift_ppb, scaled_ppm);
	for (i = 0; i < COUNT(spans); i++) {
		assert_shows(&p, spans[i]);
		/* timestamps of the past use the base as well */
		if (spans[i] <= DAY)
			assert_shows(&p, -(s64)spans[i]);
	}
}

static void test_rates(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(drifts); i++) {
		for (j = 0; j < COUNT(adjs); j++)
			check_rate(drifts[i], adjs[j]);
	}
}

/* ---- changes ---- */

static void pair_set_any_rate(struct pair *p, struct rng *rng)
{
	s32 drift_ppb = drifts[rng_in(rng, 0, COUNT(drifts) - 1)];

	pair_set_rate(p, drift_ppb, adjs[rng_in(rng, 0, COUNT(adjs) - 1)]);
}

/* Frequent changes of the rate lose no time by rounding. */
static void test_many_rates(void **state)
{
	struct pair p = pair_started(0, START);
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < CHANGES; i++) {
		pair_set_any_rate(&p, &rng);
		assert_shows(&p, 0);
		pair_wait(&p, rng_in(&rng, 0, 2000));
		assert_shows(&p, 0);
		assert_shows(&p, -(s64)rng_in(&rng, 0, 2000));
	}
}

/* Steps and settings are exact. */
static void test_steps(void **state)
{
	struct pair p = pair_started(0, START);
	s64 before, step;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < CHANGES; i++) {
		pair_wait(&p, rng_u32(&rng));
		before = closwire_clock_at(&p.clock, p.raw_ns);
		step = (s64)rng_u32(&rng) - UINT32_MAX / 2;
		pair_step(&p, step);
		assert_int_equal(closwire_clock_at(&p.clock, p.raw_ns),
				 before + step);
		assert_shows(&p, 0);
		if (i % 100)
			continue;
		pair_set_any_rate(&p, &rng);
		pair_set(&p, step * 1000);
		assert_int_equal(closwire_clock_at(&p.clock, p.raw_ns),
				 step * 1000);
	}
}

/* Time does not go back when the servo changes the rate. */
static void test_monotonic(void **state)
{
	struct pair p = pair_started(0, -SECOND);
	s64 last = -SECOND, now;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < CHANGES; i++) {
		if (rng_percent(&rng, 10))
			pair_set_any_rate(&p, &rng);
		now = closwire_clock_at(&p.clock, p.raw_ns);
		assert_true(now >= last);
		last = now;
		pair_wait(&p, rng_in(&rng, 0, 3));
	}
}

/* After 30 years without a change, no product overflows. */
static void test_long(void **state)
{
	struct pair p = pair_started(0, 0);

	(void)state;
	pair_set_rate(&p, CLOSWIRE_CLOCK_DRIFT_MAX, ADJ_MAX);
	assert_shows(&p, 30 * 365 * DAY);
	pair_set_rate(&p, -CLOSWIRE_CLOCK_DRIFT_MAX, -ADJ_MAX);
	assert_shows(&p, 30 * 365 * DAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_many_rates),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("closwire_clock", tests, NULL, NULL);
}
