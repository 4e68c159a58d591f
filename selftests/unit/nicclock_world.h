/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host and its NIC, for tests of net/nicclock/nicclock_core.c
 *
 * Packets arrive at random times. A clock with offset, drift, steps and slewing gives
 * them a timestamp, and they are observed after a random latency. True time is known,
 * and so is the error of each answer. The least latency is 0, as it is not observable.
 */
#ifndef _CLOSNET_UNIT_NICCLOCK_WORLD_H
#define _CLOSNET_UNIT_NICCLOCK_WORLD_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../net/nicclock/nicclock_fit.h"
#include "rng.h"

#define US		1000LL
#define MS		1000000LL
#define SECOND		1000000000LL
#define HOUR		(3600 * SECOND)
/* 2026 */
#define START		(1780000000 * SECOND)

/* Number of errors kept for the 99th percentile */
#define ERRORS_MAX	200000

enum noise { NONE, EXPONENTIAL, UNIFORM };

/* Packets are observed in the order of now_ns, not of timestamps, as with queues. */
struct world {
	struct nicclock_core core;
	struct rng rng;
	u64 now_ns;
	/* the clock showed nic_ns at set_ns, and runs at 1 + ppb / 10^9 */
	u64 set_ns;
	u64 nic_ns;
	s64 ppb;
	/* packets per second, and their latency */
	u32 rate;
	enum noise noise;
	u32 mean_ns;
	u32 extra_ns;
	/* percentage of packets that find the lock taken */
	u32 lost_percent;
	/* statistics since world_forget() */
	u32 packets;
	u32 answers;
	u32 changes;
	u32 wrong;
	u64 wrong_at_ns;
	s64 worst_ns;
	u32 errors[ERRORS_MAX];
};

/* Error from which on an answer is wrong */
#define WRONG_NS	(5 * US)

static inline double draw(struct rng *rng)
{
	return (rng_u32(rng) + 0.5) / 4294967296.0;
}

static inline u64 latency(struct world *w)
{
	switch (w->noise) {
	case EXPONENTIAL:
		return -log(draw(&w->rng)) * w->mean_ns + w->extra_ns;
	case UNIFORM:
		return draw(&w->rng) * 2 * w->mean_ns + w->extra_ns;
	default:
		return w->extra_ns;
	}
}

static inline u64 nic_time(const struct world *w, u64 ns)
{
	s64 since = ns - w->set_ns;

	return w->nic_ns + since + (s64)((__int128_t)since * w->ppb / SECOND);
}

static inline void slew(struct world *w, s64 ppb)
{
	w->nic_ns = nic_time(w, w->now_ns);
	w->set_ns = w->now_ns;
	w->ppb = ppb;
}

static inline void step(struct world *w, s64 ns)
{
	w->nic_ns += ns;
}

static inline void world_forget(struct world *w)
{
	w->packets = 0;
	w->answers = 0;
	w->changes = 0;
	w->wrong = 0;
	w->wrong_at_ns = 0;
	w->worst_ns = 0;
}

static inline struct world *world_new(u64 seed, u32 rate, enum noise noise)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	rng_seed(&w->rng, seed);
	w->now_ns = 7 * SECOND;
	w->set_ns = w->now_ns;
	w->nic_ns = START;
	w->rate = rate;
	w->noise = noise;
	w->mean_ns = 10 * US;
	return w;
}

/* Convert a timestamp like nicclock_rx_time(); returns whether there is an answer. */
static inline bool look_up(struct world *w, u64 stamp, u64 *rx_ns)
{
	struct nicclock_map map = w->core.map;
	s64 late_ns = nicclock_map_late(&map, w->now_ns, stamp);

	if (nicclock_core_wants(&w->core, &map, w->now_ns, late_ns) &&
	    !rng_percent(&w->rng, w->lost_percent)) {
		nicclock_core_observe(&w->core, w->now_ns, stamp);
		w->changes++;
		map = w->core.map;
		late_ns = nicclock_map_late(&map, w->now_ns, stamp);
	}
	if (!nicclock_map_answers(&map, w->now_ns, late_ns))
		return false;
	*rx_ns = w->now_ns - max_t(s64, late_ns, 0);
	return true;
}

/* Observe a packet that arrived at came_ns. */
static inline bool packet(struct world *w, u64 came_ns)
{
	s64 error;
	u64 rx_ns;

	w->packets++;
	if (!look_up(w, nic_time(w, came_ns), &rx_ns))
		return false;
	assert_true((s64)(w->now_ns - rx_ns) >= 0);
	error = llabs((s64)(rx_ns - came_ns));
	w->worst_ns = max_t(s64, w->worst_ns, error);
	if (w->answers < ERRORS_MAX)
		w->errors[w->answers] = min_t(s64, error, UINT32_MAX);
	w->answers++;
	if (error > WRONG_NS) {
		w->wrong++;
		w->wrong_at_ns = w->now_ns;
	}
	return true;
}

static inline bool next_packet(struct world *w)
{
	w->now_ns += 1 + (u64)(-log(draw(&w->rng)) * SECOND / w->rate);
	return packet(w, w->now_ns - latency(w));
}

static inline void run(struct world *w, u64 ns)
{
	u64 end_ns = w->now_ns + ns;

	while (w->now_ns < end_ns)
		next_packet(w);
}

/* A world with a synchronised map */
static inline struct world *world_known(u64 seed, u32 rate, enum noise noise)
{
	struct world *w = world_new(seed, rate, noise);

	w->ppb = 50000;
	run(w, 500 * MS);
	assert_int_equal(w->core.map.state, NICCLOCK_SYNCHRONISED);
	world_forget(w);
	return w;
}

static inline int compare(const void *a, const void *b)
{
	u32 left = *(const u32 *)a, right = *(const u32 *)b;

	return (left > right) - (left < right);
}

static inline u32 p99(struct world *w)
{
	u32 count = min_t(u32, w->answers, ERRORS_MAX);

	assert_true(count >= 100);
	qsort(w->errors, count, sizeof(w->errors[0]), compare);
	return w->errors[count - 1 - count / 100];
}

static inline u32 percent_answered(const struct world *w)
{
	return (u64)w->answers * 100 / w->packets;
}

#endif /* _CLOSNET_UNIT_NICCLOCK_WORLD_H */
