// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/closwire/closwire_line.c: times of frames, pauses, round robin
 *
 * The times are compared with the formula in 128-bit integers. The unit of time is
 * 1/rate ns: the time of a byte is a whole number, without rounding.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/closwire/closwire_line.h"
#include "rng.h"

#define FRAMES		1000000
#define ROUNDS		2000
#define ROUND_EVENTS	1000

#define GIGABIT		125000000ULL

/* Bytes per second: rates of real NICs, the limits, and primes */
static const u64 rates[] = {
	CLOSWIRE_RATE_MIN, 127, 999983, 1250000, 12500000, GIGABIT,
	1234567891, 10 * GIGABIT, 25 * GIGABIT, 40 * GIGABIT, 50 * GIGABIT,
	100 * GIGABIT, 12345678917, 200 * GIGABIT, 400 * GIGABIT,
	800 * GIGABIT, CLOSWIRE_RATE_MAX - 1, CLOSWIRE_RATE_MAX,
};

#define RATES (sizeof(rates) / sizeof(rates[0]))

static struct closwire_line line_at(u64 rate_Bps)
{
	struct closwire_line line = { 0 };

	closwire_line_set_rate(&line, rate_Bps);
	return line;
}

/* Bytes of a frame and its gap on the link */
static u32 line_bytes(u32 len)
{
	return (len < 60 ? 60 : len) + 4 + 8 + 12;
}

/*
 * Check that @got is exact / rate in whole ns. The time of a byte has an error in its
 * 46th bit, which accumulates while the link is busy.
 */
static void assert_ns(u64 got, __int128_t exact, u64 rate_Bps, u64 busy_ns)
{
	__int128_t allowed = 1 + (busy_ns >> 45);
	__int128_t want = exact / rate_Bps;

	if ((__int128_t)got < want || (__int128_t)got > want + allowed)
		fail_msg("%llu B/s: %llu ns, exact: %llu ns",
			 (unsigned long long)rate_Bps, (unsigned long long)got,
			 (unsigned long long)want);
}

/* ---- back to back ---- */

/* A million frames at once: each leaves after the bytes before it. */
static void back_to_back(u64 rate_Bps, u32 len)
{
	struct closwire_line line = line_at(rate_Bps);
	const u64 now_ns = 1000000000000ULL;
	__int128_t exact = (__int128_t)now_ns * rate_Bps;
	u64 sfd_ns;
	int i;

	for (i = 0; i < FRAMES; i++) {
		sfd_ns = closwire_line_send(&line, now_ns, len);
		assert_ns(sfd_ns - closwire_line_ns(&line, 8), exact, rate_Bps,
			  sfd_ns - now_ns);
		exact += (__int128_t)line_bytes(len) * 1000000000;
		assert_ns(line.end_ns, exact - (__int128_t)12 * 1000000000, rate_Bps,
			  line.end_ns - now_ns);
	}
}

static void test_back_to_back(void **state)
{
	static const u32 lens[] = { 1514, 60, 9014 };
	size_t r, l;

	(void)state;
	for (r = 0; r < RATES; r++) {
		for (l = 0; l < 3; l++)
			back_to_back(rates[r], lens[l]);
	}
}

/* Cases computed by hand */
static void test_known(void **state)
{
	static const struct {
		u64 rate_Bps;
		u32 len;
		u64 thousand_ns; /* from the 1st frame to the 1001st */
	} known[] = {
		{ GIGABIT, 1514, 12304000 },
		{ 10 * GIGABIT, 1514, 1230400 },
		{ 25 * GIGABIT, 1514, 492160 },
		{ 40 * GIGABIT, 1514, 307600 },
		{ 100 * GIGABIT, 1514, 123040 },
		{ 10 * GIGABIT, 60, 67200 },
		{ 10 * GIGABIT, 1, 67200 },
		{ 10 * GIGABIT, 1518, 1233600 },
		{ CLOSWIRE_RATE_MIN, 60, 672000000000ULL },
		{ CLOSWIRE_RATE_MAX, 60, 672 },
	};
	struct closwire_line line;
	u64 first, last;
	size_t k;
	int i;

	(void)state;
	for (k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		line = line_at(known[k].rate_Bps);
		first = closwire_line_send(&line, 1000000000, known[k].len);
		last = first;
		for (i = 0; i < 1000; i++)
			last = closwire_line_send(&line, 1000000000, known[k].len);
		assert_in_range(last - first, known[k].thousand_ns - 1,
				known[k].thousand_ns);
	}
}

/* The longest frame and the longest time of a byte do not overflow. */
static void test_longest(void **state)
{
	const u32 len = (1 << 17) - 1 - 24;
	struct closwire_line line;
	size_t r;

	(void)state;
	for (r = 0; r < RATES; r++) {
		line = line_at(rates[r]);
		closwire_line_send(&line, 5000000000000ULL, len);
		assert_ns(line.end_ns - 5000000000000ULL,
			  (__int128_t)(len + 12) * 1000000000, rates[r], line.end_ns);
		closwire_line_send(&line, 0, len);
		assert_ns(line.end_ns - 5000000000000ULL,
			  (__int128_t)(2 * len + 36) * 1000000000, rates[r],
			  line.end_ns);
	}
}

/* At any rate, the time of a byte has 46 bits and is rounded up. */
static void test_any_rate(void **state)
{
	struct closwire_line line;
	struct rng rng;
	u64 rate_Bps;
	__int128_t exact;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 100000; i++) {
		rate_Bps = (u64)rng_u32(&rng) << 32;
		rate_Bps |= rng_u32(&rng);
		rate_Bps >>= rng_in(&rng, 27, 56);
		rate_Bps = CLOSWIRE_RATE_MIN +
			   rate_Bps % (CLOSWIRE_RATE_MAX - CLOSWIRE_RATE_MIN + 1);
		line = line_at(rate_Bps);
		assert_true(line.mult >> 45 == 1);
		exact = (__int128_t)1000000000 << line.shift;
		assert_true(exact <= (__int128_t)line.mult * rate_Bps);
		assert_true(exact > ((__int128_t)line.mult - 1) * rate_Bps);
	}
}

/* ---- busy and idle ---- */

/* At 1 Gbit/s, a byte takes 8 ns: the gap of 12 bytes takes 96 ns. */
static void test_gap(void **state)
{
	static const struct {
		u64 after_ns;	/* arrival of the next frame, after the end of the last */
		u64 start_ns;	/* its start, after the end of the last */
	} known[] = {
		{ 0, 96 }, { 1, 96 }, { 95, 96 }, { 96, 96 }, { 97, 97 },
		{ 1000000, 1000000 },
	};
	struct closwire_line line;
	u64 end_ns, sfd_ns;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		line = line_at(GIGABIT);
		sfd_ns = closwire_line_send(&line, 1000, 1514);
		assert_int_equal(sfd_ns, 1000 + 8 * 8);
		end_ns = line.end_ns;
		assert_int_equal(end_ns, 1000 + (8 + 1514 + 4) * 8);
		sfd_ns = closwire_line_send(&line, end_ns + known[k].after_ns, 1);
		assert_int_equal(sfd_ns, end_ns + known[k].start_ns + 64);
		assert_int_equal(line.end_ns, sfd_ns + 64 * 8);
	}
}

/* A slow guest that transmits late does not delay the frame. */
static void test_late(void **state)
{
	struct closwire_line line = line_at(10 * GIGABIT), late = line;
	int i;

	(void)state;
	closwire_line_send(&line, 1000000, 1514);
	closwire_line_send(&late, 1000000, 1514);
	for (i = 0; i < 1000; i++) {
		closwire_line_send(&line, line.end_ns, 1514);
		closwire_line_send(&late, 1000000, 1514);
	}
	assert_int_equal(line.end_ns, late.end_ns);
	assert_int_equal(line.end_frac, late.end_frac);
}

/* A new rate applies to the next frame; the last one keeps its end. */
static void test_rate_change(void **state)
{
	struct closwire_line line = line_at(GIGABIT);
	u64 end_ns, sfd_ns;

	(void)state;
	closwire_line_send(&line, 1000, 1514);
	end_ns = line.end_ns;
	closwire_line_set_rate(&line, 10 * GIGABIT);
	assert_int_equal(line.end_ns, end_ns);
	sfd_ns = closwire_line_send(&line, 1000, 1514);
	/* 9.6 ns of gap, 6.4 ns of preamble */
	assert_in_range(sfd_ns, end_ns + 15, end_ns + 16);
	assert_in_range(line.end_ns, end_ns + 1229, end_ns + 1230);
}

/* ---- model ---- */

/* State of the formula, in units of 1/rate ns */
struct model {
	u64 rate_Bps;
	__int128_t end;
};

static __int128_t model_send(struct model *m, u64 now_ns, u32 len)
{
	__int128_t start = m->end + (__int128_t)12 * 1000000000;

	if (now_ns > start / m->rate_Bps)
		start = (__int128_t)now_ns * m->rate_Bps;
	m->end = start + (__int128_t)(line_bytes(len) - 12) * 1000000000;
	return start;
}

/* Arrival of the next frame, mostly while the link is busy */
static u64 random_now(struct rng *rng, u64 now_ns, u64 end_ns, u64 frame_ns)
{
	switch (rng_in(rng, 0, 9)) {
	case 0: /* idle for up to ten frames */
		return max_t(u64, now_ns, end_ns) +
		       (frame_ns + 1) * rng_in(rng, 1, 1000) / 100;
	case 1: /* around the end of the gap */
		return max_t(u64, now_ns, end_ns + rng_in(rng, 0, 20));
	case 2:
		return max_t(u64, now_ns, end_ns);
	default:
		return now_ns;
	}
}

static void random_round(struct rng *rng)
{
	struct model m = { .rate_Bps = rates[rng_in(rng, 0, RATES - 1)] };
	u64 now_ns = rng_u32(rng), began_ns = now_ns, sfd_ns, frame_ns;
	struct closwire_line line = line_at(m.rate_Bps);
	__int128_t start;
	u32 len;
	int i;

	now_ns += 1000000000;
	for (i = 0; i < ROUND_EVENTS; i++) {
		len = rng_percent(rng, 50) ? 1514 : rng_in(rng, 1, 9018);
		frame_ns = closwire_line_ns(&line, line_bytes(len));
		now_ns = random_now(rng, now_ns, line.end_ns, frame_ns);
		sfd_ns = closwire_line_send(&line, now_ns, len);
		start = model_send(&m, now_ns, len);
		assert_true(sfd_ns >= now_ns);
		assert_ns(sfd_ns - closwire_line_ns(&line, 8), start,
			  m.rate_Bps, sfd_ns - began_ns);
		assert_ns(line.end_ns, m.end, m.rate_Bps,
			  line.end_ns - began_ns);
	}
}

static void test_model(void **state)
{
	struct rng rng;
	int i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		rng_seed(&rng, i);
		random_round(&rng);
	}
}

/* ---- pause ---- */

/* A quantum is 512 bit times. */
static void test_quanta(void **state)
{
	static const u16 quanta[] = { 1, 2, 100, 1023, 1024, 1025, 32768, 65535 };
	struct closwire_line line;
	__int128_t exact;
	size_t r, q;
	u64 ns;

	(void)state;
	for (r = 0; r < RATES; r++) {
		for (q = 0; q < sizeof(quanta) / sizeof(quanta[0]); q++) {
			line = line_at(rates[r]);
			closwire_line_pause(&line, 7000, 3, quanta[q]);
			ns = line.pause_end_ns[3] - 7000;
			exact = (__int128_t)quanta[q] * 64 * 1000000000 / rates[r];
			assert_true(ns <= exact);
			assert_true(ns + 1 + quanta[q] / 1024 + (exact >> 45) >= exact);
			assert_true(closwire_line_paused(&line, 7000 + ns - 1, 3));
			assert_false(closwire_line_paused(&line, 7000 + ns, 3));
		}
	}
}

static void test_pause(void **state)
{
	struct closwire_line line = line_at(GIGABIT);	/* a quantum: 512 ns */
	u32 prio;

	(void)state;
	assert_true(closwire_pause_end(&line, 1000) == UINT64_MAX);
	closwire_line_pause(&line, 1000, 2, 10);
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++)
		assert_int_equal(closwire_line_paused(&line, 1000, prio), prio == 2);
	assert_int_equal(closwire_pause_end(&line, 1000), 1000 + 5120);

	/* a later pause frame sets a new end, later or earlier */
	closwire_line_pause(&line, 3000, 2, 100);
	assert_int_equal(closwire_pause_end(&line, 3000), 3000 + 51200);
	closwire_line_pause(&line, 4000, 2, 1);
	assert_int_equal(closwire_pause_end(&line, 4000), 4000 + 512);

	/* the end of the first of two pauses, then of the second, noticed or not */
	closwire_line_pause(&line, 4000, 7, 2);
	assert_int_equal(closwire_pause_end(&line, 4511), 4000 + 512);
	assert_int_equal(closwire_pause_end(&line, 4512), 4000 + 1024);
	assert_false(closwire_line_paused(&line, 4512, 2));
	assert_true(closwire_line_paused(&line, 4512, 7));
	assert_int_equal(closwire_pause_end(&line, 4512), 4000 + 1024);
	assert_true(closwire_pause_end(&line, 5024) == UINT64_MAX);

	/* ended, and ended without a pause */
	closwire_line_pause(&line, 4600, 7, 0);
	closwire_line_pause(&line, 4600, 0, 0);
	assert_false(closwire_line_paused(&line, 4600, 7));
	assert_true(closwire_pause_end(&line, 4600) == UINT64_MAX);
	assert_int_equal(line.paused, 0);
}

/* No pause ends before the returned end. */
static void test_pause_model(void **state)
{
	struct closwire_line line = line_at(10 * GIGABIT);
	u64 end[CLOSWIRE_PRIOS] = { 0 }, now_ns = 1000, first;
	struct rng rng;
	u32 prio, quanta;
	int i;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < ROUND_EVENTS * 100; i++) {
		now_ns += rng_in(&rng, 0, 3000);
		prio = rng_in(&rng, 0, CLOSWIRE_PRIOS - 1);
		quanta = rng_percent(&rng, 20) ? 0 : rng_in(&rng, 1, 300);
		closwire_line_pause(&line, now_ns, prio, quanta);
		end[prio] = now_ns + quanta * 512 / 10;
		first = UINT64_MAX;
		for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
			/* 0.8 ns in 1024 quanta are rounded away */
			if (now_ns + 1 < end[prio])
				assert_true(closwire_line_paused(&line, now_ns, prio));
			if (now_ns >= end[prio])
				assert_false(closwire_line_paused(&line, now_ns, prio));
			else
				first = min_t(u64, first, end[prio]);
		}
		if (first - now_ns > 1 && first != UINT64_MAX)
			assert_in_range(closwire_pause_end(&line, now_ns), first - 1, first);
	}
}

/*
 * With arbitrary pauses, some of them over but unnoticed, the next end is later than
 * the present, so that waiting for it makes progress. One wait per priority is enough.
 */
static void test_pause_end_later(void **state)
{
	struct closwire_line line = line_at(10 * GIGABIT);
	u64 now_ns = 1000, t_ns, end_ns;
	u32 prio, waits, n;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 4);
	for (i = 0; i < ROUND_EVENTS * 10; i++) {
		for (n = rng_in(&rng, 0, CLOSWIRE_PRIOS); n; n--)
			closwire_line_pause(&line, now_ns, rng_in(&rng, 0, CLOSWIRE_PRIOS - 1),
					    rng_percent(&rng, 20) ? 0 : rng_in(&rng, 1, 300));
		now_ns += rng_in(&rng, 0, 30000);
		t_ns = now_ns;
		prio = rng_in(&rng, 0, CLOSWIRE_PRIOS - 1);
		for (waits = 0; closwire_line_paused(&line, t_ns, prio); waits++) {
			end_ns = closwire_pause_end(&line, t_ns);
			assert_true(end_ns > t_ns && end_ns <= line.pause_end_ns[prio]);
			assert_in_range(waits, 0, CLOSWIRE_PRIOS - 1);
			t_ns = end_ns;
		}
		assert_true(closwire_pause_end(&line, t_ns) > t_ns);
	}
}

/* Total time of the pauses for each way to end a pause, at 512 ns per quantum */
static void test_paused(void **state)
{
	struct closwire_line line = line_at(GIGABIT);
	u32 prio;

	(void)state;
	assert_int_equal(closwire_paused_ns(&line, 1000, 2), 0);

	/* in progress; then over, noticed or not */
	closwire_line_pause(&line, 1000, 2, 10);
	assert_int_equal(closwire_paused_ns(&line, 1000, 2), 0);
	assert_int_equal(closwire_paused_ns(&line, 1700, 2), 700);
	assert_int_equal(closwire_paused_ns(&line, 9000, 2), 5120);
	assert_false(closwire_line_paused(&line, 9000, 2));
	assert_int_equal(closwire_paused_ns(&line, 9000, 2), 5120);

	/* renewed in time; then over, unnoticed, before the next pause */
	closwire_line_pause(&line, 10000, 2, 1);
	closwire_line_pause(&line, 10300, 2, 1);
	assert_int_equal(closwire_paused_ns(&line, 10300, 2), 5120 + 300);
	closwire_line_pause(&line, 20000, 2, 100);
	assert_int_equal(closwire_paused_ns(&line, 20000, 2), 5120 + 300 + 512);

	/* shortened, ended, ended again */
	closwire_line_pause(&line, 20400, 2, 1);
	closwire_line_pause(&line, 20500, 2, 0);
	closwire_line_pause(&line, 20600, 2, 0);
	assert_int_equal(closwire_paused_ns(&line, 30000, 2), 5932 + 500);

	/* its end was noticed before an earlier frame was processed */
	closwire_line_pause(&line, 40000, 2, 2);
	assert_false(closwire_line_paused(&line, 41100, 2));
	closwire_line_pause(&line, 41000, 2, 1);
	assert_int_equal(closwire_paused_ns(&line, 41010, 2), 6432 + 1024);
	assert_int_equal(closwire_paused_ns(&line, 50000, 2), 6432 + 1512);

	/* the port goes down */
	closwire_line_pause(&line, 60000, 2, 65535);
	closwire_pause_stop(&line, 60100, 2);
	assert_false(closwire_line_paused(&line, 60200, 2));
	assert_int_equal(closwire_paused_ns(&line, 70000, 2), 7944 + 100);

	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		if (prio != 2)
			assert_int_equal(closwire_paused_ns(&line, 70000, prio), 0);
	}
}

/* Total time of the pauses, compared with a count of single ns */
static void test_paused_model(void **state)
{
	struct closwire_line line = line_at(GIGABIT);
	u64 now_ns = 0, end_ns, paused_ns = 0, next_ns;
	struct rng rng;
	bool paused;
	int i;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < ROUND_EVENTS * 10; i++) {
		u32 quanta = rng_percent(&rng, 30) ? 0 : rng_in(&rng, 1, 5);

		closwire_line_pause(&line, now_ns, 6, quanta);
		end_ns = now_ns + quanta * 512;
		for (next_ns = now_ns + rng_in(&rng, 0, 3000); now_ns < next_ns; now_ns++) {
			paused = now_ns < end_ns;
			paused_ns += paused;
			if (rng_percent(&rng, 1))
				assert_int_equal(closwire_line_paused(&line, now_ns, 6), paused);
		}
		assert_int_equal(closwire_paused_ns(&line, now_ns, 6), paused_ns);
	}
}

/* ---- round robin ---- */

/* For each set of queues: the next waiting one, cyclically */
static void test_next_queue(void **state)
{
	u32 waiting, last, next;

	(void)state;
	for (waiting = 1; waiting < 1 << CLOSWIRE_TX_QUEUES_MAX; waiting++) {
		for (last = 0; last < CLOSWIRE_TX_QUEUES_MAX; last++) {
			next = last;
			do
				next = (next + 1) % CLOSWIRE_TX_QUEUES_MAX;
			while (!(waiting & 1U << next));
			assert_int_equal(closwire_next_queue(waiting, last), next);
		}
	}
	assert_int_equal(closwire_next_queue(1U << 31, 31), 31);
	assert_int_equal(closwire_next_queue(1, 31), 0);
}

/* Queues that always have frames get equal shares. */
static void test_fair(void **state)
{
	u32 served[CLOSWIRE_TX_QUEUES_MAX], waiting, q, last = 0;
	struct rng rng;
	int i, round;

	(void)state;
	rng_seed(&rng, 3);
	for (round = 0; round < 100; round++) {
		memset(served, 0, sizeof(served));
		waiting = rng_in(&rng, 1, (1 << CLOSWIRE_TX_QUEUES_MAX) - 1);
		for (i = 0; i < 100 * __builtin_popcount(waiting); i++) {
			last = closwire_next_queue(waiting, last);
			served[last]++;
		}
		for (q = 0; q < CLOSWIRE_TX_QUEUES_MAX; q++)
			assert_int_equal(served[q], waiting & 1U << q ? 100 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_back_to_back),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_any_rate),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_rate_change),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_quanta),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_pause_model),
		cmocka_unit_test(test_pause_end_later),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_paused_model),
		cmocka_unit_test(test_next_queue),
		cmocka_unit_test(test_fair),
	};

	return cmocka_run_group_tests_name("closwire_wire", tests, NULL, NULL);
}
