// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCQCN's congestion point: marking, the limit, and stalled queues
 *
 * The decisions of sch_dcqcn, without packets: plain C, compiled into the module
 * and into its unit test. The caller passes lengths and random bits.
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
 * Stalls. A queue is held by a pause or by a stopped TX queue. A held queue
 * without a departure for `stall` is stalled:
 *
 *	moves --- held and no departure for `stall` ---> stalled
 *	moves <-- a departure, or no longer held ------- stalled
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, section 3.1 (CP algorithm).
 *
 * Differences from the paper: the detection of stalls.
 */
#include "dcqcnq_queue.h"

/**
 * dcqcnq_marking_finish() - compute the slope from the thresholds
 * @m: marking line, with kmin, kmax (not below kmin) and pmax
 */
void dcqcnq_marking_finish(struct dcqcnq_marking *m)
{
	/* pmax/(2^32 - 1) in units of 2^-32, rounded to nearest */
	u64 at_kmax = (u64)m->pmax + (m->pmax >> 31);

	m->slope = 0;
	if (m->kmax > m->kmin)
		m->slope = div_u64(at_kmax << DCQCNQ_SLOPE_SHIFT, m->kmax - m->kmin);
}

/**
 * dcqcnq_check_stall() - check whether the queue has stalled
 * @v: state
 * @held: the queue may not send
 *
 * To be called DCQCNQ_STALL_CHECKS times in the time after which a queue counts
 * as stalled. A stall is found after that time, and at most one check later. A
 * stalled queue whose packets were dropped remains stalled until it may send.
 *
 * Return: true if this check found a new stall.
 */
bool dcqcnq_check_stall(struct dcqcnq_vars *v, bool held)
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
