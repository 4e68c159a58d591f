/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN's congestion point: marking, the limit, and stalled queues
 *
 * The interface of dcqcnq_queue.c, which explains the algorithm. The functions
 * that run for each packet are inline: as calls they cost 25 instructions,
 * 15 % of an enqueue and dequeue (selftests/bench/run qdiscs).
 */
#ifndef _CLOSNET_DCQCNQ_QUEUE_H
#define _CLOSNET_DCQCNQ_QUEUE_H

#include <closnet/core.h>

/* Fraction bits of the marking line's slope, and a probability of 1 */
#define DCQCNQ_SLOPE_SHIFT	31
#define DCQCNQ_CERTAIN		0x100000000ULL
/* Checks in the time after which a queue is stalled */
#define DCQCNQ_STALL_CHECKS	4

/**
 * struct dcqcnq_marking - the marking line
 * @kmin: queue up to which no packet is marked, bytes
 * @kmax: queue above which every packet is marked, bytes; not below @kmin
 * @pmax: probability at @kmax, in units of 1/(2^32 - 1)
 * @slope: probability per byte above @kmin, in units of 2^-32, Q33.31
 */
struct dcqcnq_marking {
	u32 kmin;
	u32 kmax;
	u32 pmax;
	u64 slope;
};

/**
 * struct dcqcnq_vars - state of the queue
 * @bytes: bytes waiting
 * @lossy_bytes: bytes waiting that PFC does not protect
 * @departures: packets dequeued for transmission
 * @checked_departures: @departures at the last check for a stall
 * @still_checks: number of checks since the last departure, at least
 * @stalled: the queue is stalled
 */
struct dcqcnq_vars {
	u32 bytes;
	u32 lossy_bytes;
	u32 departures;
	u32 checked_departures;
	u32 still_checks;
	bool stalled;
};

void dcqcnq_marking_finish(struct dcqcnq_marking *m);
bool dcqcnq_check_stall(struct dcqcnq_vars *v, bool held);

/**
 * dcqcnq_mark_chance() - compute the probability of marking an arrival
 * @m: marking line
 * @bytes: bytes waiting, without the arrival
 *
 * The result is less than 2^-31 below the line and at most 2^-33 above it: pmax
 * is off by up to half a unit of 2^-32, the slope by less than half a unit, and
 * the result is rounded down.
 *
 * Return: the probability, in units of 1/DCQCNQ_CERTAIN.
 */
static inline u64 dcqcnq_mark_chance(const struct dcqcnq_marking *m, u32 bytes)
{
	if (likely(bytes <= m->kmin))
		return 0;
	if (bytes > m->kmax)
		return DCQCNQ_CERTAIN;
	return ((bytes - m->kmin) * m->slope) >> DCQCNQ_SLOPE_SHIFT;
}

/* Is an arrival to be marked? @random: 32 random bits, drawn for this arrival */
static inline bool dcqcnq_marks(u64 chance, u32 random)
{
	return random < chance;
}

/* Is an arrival of @len bytes that PFC does not protect within the limit? */
static inline bool dcqcnq_fits(u32 limit, const struct dcqcnq_vars *v, u32 len)
{
	return v->lossy_bytes <= limit && len <= limit - v->lossy_bytes;
}

/* Count an enqueued packet of @len bytes. @lossless: PFC protects it */
static inline void dcqcnq_count_in(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->bytes += len;
	if (!lossless)
		v->lossy_bytes += len;
}

/* Count a packet that leaves the queue unsent, with @lossless as in dcqcnq_count_in(). */
static inline void dcqcnq_count_out(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->bytes -= len;
	if (!lossless)
		v->lossy_bytes -= len;
}

/* Count a packet that leaves the queue for transmission. */
static inline void dcqcnq_sent(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->departures++;
	dcqcnq_count_out(v, len, lossless);
}

#endif /* _CLOSNET_DCQCNQ_QUEUE_H */
