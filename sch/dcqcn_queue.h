/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN's congestion point: what is marked, and who is next
 *
 * The decisions of sch_dcqcn without its packets: plain C, no kernel types, so
 * that the unit test runs the very code that the module runs. Randomness is an
 * argument.
 *
 * Marking. Each arrival is marked by a draw of its own, with a probability
 * that depends on nothing but q, the bytes that wait in its priority's queue
 * at that moment:
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
 * That is RED without its average, and without its count of packets since the
 * last mark (sch_red has both). DCTCP's step is Kmin = Kmax.
 *
 * Scheduling. Eight priorities, strictly the highest first, or by deficit round
 * robin. Those that a pause holds are passed over.
 *
 *	turn: prio p waits and may send?
 *	  no             -> p + 1
 *	  credit(p) > 0  -> p sends, credit(p) -= length
 *	  else           -> credit(p) += quantum(p), p + 1
 *
 * Reference: Y. Zhu et al., "Congestion control for large-scale RDMA
 * deployments", SIGCOMM 2015, section 3.1 (CP algorithm).
 *
 * Differences from the paper:
 * - The paper marks by one queue's thresholds; here each priority has its own.
 * - Deficit round robin overdraws by at most a packet and pays that back, as
 *   sch_fq_codel does. So it need not know how long the next packet is.
 */
#ifndef _CLOSNET_DCQCN_QUEUE_H
#define _CLOSNET_DCQCN_QUEUE_H

#include <closnet/core.h>
#include <linux/pkt_sched_dcqcn.h>

/* Fraction bits of the marking line's slope, and what stands for certainty */
#define DCQCN_SLOPE_SHIFT	31
#define DCQCN_CERTAIN		0x100000000ULL
/* In so many intervals a stall is looked for. */
#define DCQCN_STALL_CHECKS	4

/**
 * struct dcqcn_marking - the marking line of a priority
 * @kmin: up to so many bytes nothing is marked
 * @kmax: above so many everything is; not below @kmin
 * @pmax: probability at @kmax, of 2^32 - 1
 * @slope: what a byte above @kmin adds to the probability, of 2^32, Q33.31
 */
struct dcqcn_marking {
	u32 kmin;
	u32 kmax;
	u32 pmax;
	u64 slope;
};

/**
 * struct dcqcn_params - configuration
 * @marking: of each priority
 * @quantum: bytes that a priority is given a round
 * @limit: most bytes waiting that PFC does not protect
 * @sched: enum tc_dcqcn_sched
 */
struct dcqcn_params {
	struct dcqcn_marking marking[TC_DCQCN_PRIOS];
	u32 quantum[TC_DCQCN_PRIOS];
	u32 limit;
	u8 sched;
};

/**
 * struct dcqcn_prio - a priority's queue
 * @packets: in it now
 * @bytes: in it now
 * @peak_bytes: most bytes seen
 * @credit: bytes that it may send in this turn; below 0: that it overdrew
 * @sent_packets: left towards the wire
 * @sent_bytes: left towards the wire
 * @marked_packets: marked CE here
 * @dropped_limit_packets: for want of room
 * @dropped_nonect_packets: instead of a mark
 * @dropped_stalled_packets: while stalled
 * @stalls: times that it was found stalled
 * @checked_packets: @sent_packets when last looked at
 * @still_checks: so many checks ago, at least, was the last departure
 *
 * Written under the root lock, read without it by the dump.
 */
struct dcqcn_prio {
	u32 packets;
	u32 bytes;
	u32 peak_bytes;
	s32 credit;
	u64 sent_packets;
	u64 sent_bytes;
	u64 marked_packets;
	u64 dropped_limit_packets;
	u64 dropped_nonect_packets;
	u64 dropped_stalled_packets;
	u64 stalls;
	u64 checked_packets;
	u32 still_checks;
};

/**
 * struct dcqcn_vars - state of the port
 * @prio: the queues
 * @lossy_bytes: waiting, not protected by PFC
 * @waiting: priorities that have a packet, a bit each
 * @stalled: priorities that are stalled, a bit each
 * @turn: whose turn it is in deficit round robin
 */
struct dcqcn_vars {
	struct dcqcn_prio prio[TC_DCQCN_PRIOS];
	u32 lossy_bytes;
	u8 waiting;
	u8 stalled;
	u8 turn;
};

/**
 * dcqcn_marking_finish() - compute what follows from the thresholds
 * @m: thresholds are set, and in order
 */
static inline void dcqcn_marking_finish(struct dcqcn_marking *m)
{
	/* nearest to pmax/(2^32 - 1), of 2^32 */
	u64 at_kmax = (u64)m->pmax + (m->pmax >> 31);

	m->slope = 0;
	if (m->kmax > m->kmin)
		m->slope = div_u64(at_kmax << DCQCN_SLOPE_SHIFT, m->kmax - m->kmin);
}

/**
 * dcqcn_mark_chance() - probability with which an arrival is marked
 * @m: the line of its priority
 * @bytes: what waits there, without it
 *
 * Less than 2^-31 below the line, and not above it by more than 2^-33: half a
 * unit of 2^-32 in pmax, less than half in the slope, less than one here.
 *
 * Return: of DCQCN_CERTAIN: it is to be marked if 32 random bits are less.
 */
static inline u64 dcqcn_mark_chance(const struct dcqcn_marking *m, u32 bytes)
{
	if (likely(bytes <= m->kmin))
		return 0;
	if (bytes > m->kmax)
		return DCQCN_CERTAIN;
	return ((bytes - m->kmin) * m->slope) >> DCQCN_SLOPE_SHIFT;
}

/**
 * dcqcn_marks() - is an arrival to be marked?
 * @chance: dcqcn_mark_chance()
 * @random: 32 random bits, drawn for it alone
 *
 * Return: true if so.
 */
static inline bool dcqcn_marks(u64 chance, u32 random)
{
	return random < chance;
}

/**
 * dcqcn_fits() - is an arrival that PFC does not protect within the limit?
 * @p: configuration
 * @v: state
 * @len: its length, bytes
 *
 * Return: true if so.
 */
static inline bool dcqcn_fits(const struct dcqcn_params *p,
			      const struct dcqcn_vars *v, u32 len)
{
	return v->lossy_bytes <= p->limit && len <= p->limit - v->lossy_bytes;
}

/**
 * dcqcn_count_in() - a packet enters a queue
 * @v: state
 * @prio: its priority
 * @len: its length, bytes
 * @lossless: does PFC protect it?
 */
static inline void dcqcn_count_in(struct dcqcn_vars *v, u32 prio, u32 len,
				  bool lossless)
{
	struct dcqcn_prio *q = &v->prio[prio];

	WRITE_ONCE(q->packets, q->packets + 1);
	WRITE_ONCE(q->bytes, q->bytes + len);
	if (q->bytes > q->peak_bytes)
		WRITE_ONCE(q->peak_bytes, q->bytes);
	if (!lossless)
		v->lossy_bytes += len;
	v->waiting |= 1U << prio;
}

/**
 * dcqcn_count_out() - a packet leaves its queue, wherever it goes
 * @v: state
 * @prio: its priority
 * @len: its length, bytes
 * @lossless: as it came in
 */
static inline void dcqcn_count_out(struct dcqcn_vars *v, u32 prio, u32 len,
				   bool lossless)
{
	struct dcqcn_prio *q = &v->prio[prio];

	WRITE_ONCE(q->packets, q->packets - 1);
	WRITE_ONCE(q->bytes, q->bytes - len);
	if (!lossless)
		v->lossy_bytes -= len;
	if (q->packets)
		return;
	v->waiting &= ~(1U << prio);
	q->credit = min_t(s32, q->credit, 0);	/* what is not used is lost */
}

/**
 * dcqcn_pick() - which priority sends next
 * @p: configuration
 * @v: state
 * @may: of those that have a packet, those that may send, a bit each
 *
 * Asked again without a packet sent, it says the same.
 *
 * Return: the priority; TC_DCQCN_PRIOS if @may is 0.
 */
static inline u32 dcqcn_pick(const struct dcqcn_params *p, struct dcqcn_vars *v,
			     u32 may)
{
	u32 prio;

	if (!may)
		return TC_DCQCN_PRIOS;
	if (p->sched == TC_DCQCN_SCHED_STRICT)
		return 31 - __builtin_clz(may);
	for (prio = v->turn;; prio = (prio + 1) % TC_DCQCN_PRIOS) {
		if (!(may >> prio & 1))
			continue;
		if (v->prio[prio].credit > 0)
			break;
		v->prio[prio].credit += (s32)p->quantum[prio];
	}
	v->turn = prio;
	return prio;
}

/**
 * dcqcn_sent() - a packet leaves its queue towards the wire
 * @p: configuration
 * @v: state
 * @prio: its priority
 * @len: its length, bytes
 * @lossless: as it came in
 */
static inline void dcqcn_sent(const struct dcqcn_params *p, struct dcqcn_vars *v,
			      u32 prio, u32 len, bool lossless)
{
	struct dcqcn_prio *q = &v->prio[prio];

	if (p->sched == TC_DCQCN_SCHED_DRR)
		q->credit -= (s32)len;
	dcqcn_count_out(v, prio, len, lossless);
	WRITE_ONCE(q->sent_packets, q->sent_packets + 1);
	WRITE_ONCE(q->sent_bytes, q->sent_bytes + len);
}

/**
 * dcqcn_check_stall() - does a priority move?
 * @v: state
 * @prio: the priority
 * @held: its TX queue is stopped
 *
 * To be asked DCQCN_STALL_CHECKS times in the time after which a priority
 * counts as stalled: after that time, and at most one check later, it is.
 * A stalled one whose packets were dropped remains so until the TX queue is
 * open.
 *
 * Return: whether it is stalled.
 */
static inline bool dcqcn_check_stall(struct dcqcn_vars *v, u32 prio, bool held)
{
	struct dcqcn_prio *q = &v->prio[prio];
	u32 bit = 1U << prio;

	if (!held || q->sent_packets != q->checked_packets ||
	    (!q->packets && !(v->stalled & bit))) {
		q->checked_packets = q->sent_packets;
		/* 0: what comes now has not waited for an interval by the next check */
		q->still_checks = held && q->packets;
		v->stalled &= ~bit;
		return false;
	}
	if (v->stalled & bit)
		return true;
	if (q->still_checks++ < DCQCN_STALL_CHECKS)
		return false;
	v->stalled |= bit;
	WRITE_ONCE(q->stalls, q->stalls + 1);
	return true;
}

#endif /* _CLOSNET_DCQCN_QUEUE_H */
