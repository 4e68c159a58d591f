/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN's congestion point: which packets are marked, and when a queue is stalled
 *
 * The decisions of sch_dcqcn without its packets: plain C, no kernel types, so
 * that the unit test runs the very code of the module. Randomness is an
 * argument.
 *
 * Marking. Each arrival is marked by a draw of its own, with a probability
 * that depends only on q, the bytes waiting in the queue at that moment:
 *
 *	p(q)
 *	  1 -|                          +---------
 *	     |                          |
 *	Pmax-|                       _-~|
 *	     |                   _-~
 *	  0 -+--------------+-~---------+----------> q
 *	                  Kmin         Kmax
 *
 *	p = 0				 q <= Kmin
 *	p = Pmax (q - Kmin)/(Kmax - Kmin)	 Kmin < q <= Kmax
 *	p = 1				 Kmax < q
 *
 * This is RED without its average, and without its count of packets since the
 * last mark (sch_red has both). DCTCP's step is Kmin = Kmax.
 *
 * Stalls. A queue that is held and has not sent for a time is stalled:
 *
 *	moves --- held and no departure for `stall` ---> stalled
 *	moves <-- a departure, or held no more --------- stalled
 *
 * Reference: Y. Zhu et al., "Congestion control for large-scale RDMA
 * deployments", SIGCOMM 2015, section 3.1 (CP algorithm).
 *
 * Differences from the paper: stalls, which the paper does not have.
 */
#ifndef _CLOSNET_DCQCN_QUEUE_H
#define _CLOSNET_DCQCN_QUEUE_H

#include <closnet/core.h>

/* Fraction bits of the marking line's slope, and the probability of certainty */
#define DCQCNQ_SLOPE_SHIFT	31
#define DCQCNQ_CERTAIN		0x100000000ULL
/* Checks for a stall in the time after which a queue is stalled */
#define DCQCNQ_STALL_CHECKS	4

/**
 * struct dcqcnq_marking - the marking line
 * @kmin: up to so many bytes no packet is marked
 * @kmax: above so many every packet is; not below @kmin
 * @pmax: probability at @kmax, of 2^32 - 1
 * @slope: increase of the probability with each byte above @kmin, 2^-32 in Q33.31
 */
struct dcqcnq_marking {
	u32 kmin;
	u32 kmax;
	u32 pmax;
	u64 slope;
};

/**
 * struct dcqcnq_vars - state of the queue
 * @bytes: waiting now
 * @lossy_bytes: waiting now, not protected by PFC
 * @departures: packets that left towards the wire
 * @checked_departures: @departures at the last check for a stall
 * @still_checks: so many checks ago, at least, was the last departure
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

/**
 * dcqcnq_marking_finish() - compute the slope from the thresholds
 * @m: thresholds are set, and in order
 */
static inline void dcqcnq_marking_finish(struct dcqcnq_marking *m)
{
	/* nearest to pmax/(2^32 - 1), of 2^32 */
	u64 at_kmax = (u64)m->pmax + (m->pmax >> 31);

	m->slope = 0;
	if (m->kmax > m->kmin)
		m->slope = div_u64(at_kmax << DCQCNQ_SLOPE_SHIFT, m->kmax - m->kmin);
}

/**
 * dcqcnq_mark_chance() - compute the probability with which an arrival is marked
 * @m: the marking line
 * @bytes: bytes waiting, without the arrival
 *
 * Less than 2^-31 below the line, and not above it by more than 2^-33: half a
 * unit of 2^-32 in pmax, less than half in the slope, less than one here.
 *
 * Return: in units of 1 / DCQCNQ_CERTAIN: mark the packet if 32 random bits are less.
 */
static inline u64 dcqcnq_mark_chance(const struct dcqcnq_marking *m, u32 bytes)
{
	if (likely(bytes <= m->kmin))
		return 0;
	if (bytes > m->kmax)
		return DCQCNQ_CERTAIN;
	return ((bytes - m->kmin) * m->slope) >> DCQCNQ_SLOPE_SHIFT;
}

/**
 * dcqcnq_marks() - decide whether an arrival is marked
 * @chance: dcqcnq_mark_chance()
 * @random: 32 random bits, drawn for it alone
 *
 * Return: true if so.
 */
static inline bool dcqcnq_marks(u64 chance, u32 random)
{
	return random < chance;
}

/**
 * dcqcnq_fits() - decide whether the limit lets an unprotected arrival in
 * @limit: most bytes waiting that PFC does not protect
 * @v: state
 * @len: its length in bytes
 *
 * Return: true if so.
 */
static inline bool dcqcnq_fits(u32 limit, const struct dcqcnq_vars *v, u32 len)
{
	return v->lossy_bytes <= limit && len <= limit - v->lossy_bytes;
}

/**
 * dcqcnq_count_in() - count a packet that enters the queue
 * @v: state
 * @len: its length in bytes
 * @lossless: PFC protects it
 */
static inline void dcqcnq_count_in(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->bytes += len;
	if (!lossless)
		v->lossy_bytes += len;
}

/**
 * dcqcnq_count_out() - count a packet that leaves the queue without being sent
 * @v: state
 * @len: its length in bytes
 * @lossless: as it came in
 */
static inline void dcqcnq_count_out(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->bytes -= len;
	if (!lossless)
		v->lossy_bytes -= len;
}

/**
 * dcqcnq_sent() - count a packet that leaves the queue towards the wire
 * @v: state
 * @len: its length in bytes
 * @lossless: as it came in
 */
static inline void dcqcnq_sent(struct dcqcnq_vars *v, u32 len, bool lossless)
{
	v->departures++;
	dcqcnq_count_out(v, len, lossless);
}

/**
 * dcqcnq_check_stall() - look whether the queue moves
 * @v: state
 * @held: the queue may not send, by a pause or a stopped TX queue
 *
 * To be called DCQCNQ_STALL_CHECKS times in the time after which a queue counts
 * as stalled: it is found stalled after that time, and at most one check later.
 * A stalled queue whose packets were dropped remains stalled until it may send.
 *
 * Return: true if this check found that it has stalled.
 */
static inline bool dcqcnq_check_stall(struct dcqcnq_vars *v, bool held)
{
	if (!held || v->departures != v->checked_departures ||
	    (!v->bytes && !v->stalled)) {
		v->checked_departures = v->departures;
		/* 0: a packet that comes now waits less than an interval for the next check */
		v->still_checks = held && v->bytes;
		v->stalled = false;
		return false;
	}
	if (v->stalled || v->still_checks++ < DCQCNQ_STALL_CHECKS)
		return false;
	v->stalled = true;
	return true;
}

#endif /* _CLOSNET_DCQCN_QUEUE_H */
