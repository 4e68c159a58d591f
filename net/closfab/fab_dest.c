// SPDX-License-Identifier: GPL-2.0-only
/*
 * ConWeave at the destination leaf: which packets wait, and how long
 *
 *   Cha Hwan Song et al., SIGCOMM 2023 (fab_source.c), section 3.3 and appendix A.
 *
 * REROUTED packets that arrive before TAIL wait in a FIFO of the flow. They are in order, as they
 * have one path; so a FIFO needs no sequence numbers. TAIL releases it: TAIL first, then the
 * FIFO.
 *
 *	           REROUTED before TAIL                    TAIL, or T_resume
 *	[in order] --------------------> [held: FIFO] --------------------------> [passed]
 *	     |                             ^      | old packet: refine T_resume      ^
 *	     |                             +------+                                  |
 *	     +-----------------------------------------------------------------------+
 *	                                   TAIL before REROUTED
 *
 * In state "passed", packets of the epoch are delivered at once, and CLEAR was sent. A packet of
 * a newer epoch brings the flow back to "in order". T_resume estimates when TAIL must have
 * arrived: an old packet A came at t_A(rx), and TAIL was sent t_TAIL(tx) - t_A(tx) after it:
 *
 *	T_resume = t_A(rx) + t_TAIL(tx) - t_A(tx) + theta_resume_extra
 *
 * The two clocks are not compared with each other. Without an old packet, the first REROUTED one
 * counts, with theta_resume_default. Each further old packet gives a new estimate.
 *
 * Differences from the paper:
 *  - CLEAR is also sent after T_resume (as in the P4 artifact), so that the loss of TAIL does
 *    not end the monitoring of the flow.
 *  - If the source opens an epoch while packets wait, they are released first. The paper excludes
 *    the case, the ns-3 artifact warns. It happens when CLEAR or TAIL is lost, or the source
 *    restarts.
 *  - A FIFO is held for max_ns at most, whatever the peer's clocks show.
 */
#include "fab_dest.h"

/* TAIL was sent this long after the last old packet. 0 for clocks that lie */
static u64 fab_gap_ns(const struct fab_dest *d, const struct fab_dest_params *p)
{
	s32 gap_us = (s32)(d->tail_us - d->old_us);

	if (!d->old_seen)
		return p->default_ns;
	return gap_us > 0 ? (u64)gap_us * 1000 : 0;
}

/* T_resume for the old packet that arrived at @from_ns */
static void fab_set_deadline(struct fab_dest *d, const struct fab_dest_params *p, u64 from_ns)
{
	u64 deadline_ns = from_ns + fab_gap_ns(d, p) + p->extra_ns;

	d->deadline_ns = min_t(u64, deadline_ns, d->held_ns + p->max_ns);
}

/* The packet begins an epoch: @todo has the remains of the last one. */
static void fab_begin_epoch(struct fab_dest *d, const struct fab_header *h, struct fab_todo *todo)
{
	todo->flush_before = d->held;
	d->known = true;
	d->epoch = h->epoch;
	d->old_seen = false;
	d->passed = false;
	d->held = false;
}

static void fab_old_packet(struct fab_dest *d, const struct fab_dest_params *p,
			   const struct fab_header *h, u64 now_ns, struct fab_todo *todo)
{
	d->old_us = h->tx_us;
	d->old_ns = now_ns;
	d->old_seen = true;
	if (h->flags & FAB_F_TAIL) {
		todo->flush = d->held;
		todo->clear = true;
		d->held = false;
		d->passed = true;
	} else if (d->held) {
		fab_set_deadline(d, p, now_ns);
	}
}

static void fab_rerouted_packet(struct fab_dest *d, const struct fab_dest_params *p, u64 now_ns,
				struct fab_todo *todo)
{
	if (d->passed)
		return;
	todo->hold = true;
	if (d->held)
		return;
	todo->start = true;
	d->held = true;
	d->held_ns = now_ns;
	fab_set_deadline(d, p, d->old_seen ? d->old_ns : now_ns);
}

/**
 * fab_dest_receive() - receive a packet of a flow
 * @d: flow
 * @p: parameters
 * @h: its header, of kind FAB_CONWEAVE
 * @now_ns: present time
 *
 * If a packet waits afterwards, fab_dest_pass() is due at @d->deadline_ns.
 *
 * Return: what to do.
 */
struct fab_todo fab_dest_receive(struct fab_dest *d, const struct fab_dest_params *p,
				 const struct fab_header *h, u64 now_ns)
{
	struct fab_todo todo = { };

	/* of an older epoch: it has not been reordered */
	if (d->known && (s16)(h->epoch - d->epoch) < 0)
		return todo;
	if (!d->known || h->epoch != d->epoch)
		fab_begin_epoch(d, h, &todo);
	todo.reply = h->flags & FAB_F_RTT_REQUEST;
	if (h->flags & (FAB_F_TAIL | FAB_F_REROUTED))
		d->tail_us = h->tail_us;
	if (h->flags & FAB_F_REROUTED)
		fab_rerouted_packet(d, p, now_ns, &todo);
	else
		fab_old_packet(d, p, h, now_ns, &todo);
	return todo;
}

/**
 * fab_dest_pass() - wait no longer for TAIL
 * @d: flow
 *
 * T_resume has passed: the caller releases the FIFO and sends CLEAR. Or there is no FIFO: the
 * flow's packets are delivered out of order.
 */
void fab_dest_pass(struct fab_dest *d)
{
	d->held = false;
	d->passed = true;
}
