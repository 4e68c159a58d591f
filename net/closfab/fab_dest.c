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
 *  - An epoch outside the window, FAB_EPOCHS before or after the present one, changes nothing:
 *    a stray or forged packet must not make all later ones look old. After FAB_STRAYS_MAX packets
 *    in a row outside the window, near each other, the window moves there, as in fab_order.c.
 *  - Packets that are delivered after packets sent later are counted. Epoch and path give the
 *    order in which packets were sent: an epoch's old path before its new one.
 */
#include "fab_dest.h"
#include "fab_order.h"

/* ---- order of delivery ---- */

/* Place of a packet in its flow; packets of one epoch and path share it, and stay in order. */
static u32 fab_place(u16 epoch, bool rerouted)
{
	return (u32)epoch << 16 | (u32)rerouted << 15;
}

/* Note that a packet is delivered. Return: true if it is late */
static bool fab_note(struct fab_dest *d, u16 epoch, bool rerouted)
{
	u32 place = fab_place(epoch, rerouted);

	if ((s32)(place - d->newest) < 0)
		return true;
	d->newest = place;
	return false;
}

/* ---- T_resume ---- */

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

/* ---- epochs ---- */

/* The packet begins an epoch: @todo has the remains of the last one. */
static void fab_begin_epoch(struct fab_dest *d, const struct fab_header *h, struct fab_todo *todo)
{
	if (d->held) {
		todo->flush_before = true;
		fab_note(d, d->epoch, true);
	}
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
	todo->late = fab_note(d, h->epoch, false);
	if (h->flags & FAB_F_TAIL) {
		if (d->held)
			fab_note(d, h->epoch, true);
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
	if (d->passed) {
		fab_note(d, d->epoch, true);
		return;
	}
	todo->hold = true;
	if (d->held)
		return;
	todo->start = true;
	d->held = true;
	d->held_ns = now_ns;
	fab_set_deadline(d, p, d->old_seen ? d->old_ns : now_ns);
}

/* Is the epoch near another one? */
static bool fab_is_near(u16 epoch, u16 other)
{
	s16 ahead = (s16)(epoch - other);

	return ahead <= FAB_EPOCHS && ahead >= -FAB_EPOCHS;
}

/* The epoch is outside the window. Return: true if it is time to move the window */
static bool fab_stray(struct fab_dest *d, u16 epoch)
{
	d->strays = d->strays && fab_is_near(epoch, d->stray) ? d->strays + 1 : 1;
	d->stray = epoch;
	return d->strays >= FAB_STRAYS_MAX;
}

/* Begin with the epoch of a packet. Nothing is known of the flow; all before it is old. */
static void fab_begin(struct fab_dest *d, const struct fab_header *h, struct fab_todo *todo)
{
	fab_begin_epoch(d, h, todo);
	d->known = true;
	d->newest = fab_place(h->epoch - FAB_EPOCHS, false);
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

	if (d->known && !fab_is_near(h->epoch, d->epoch)) {
		todo.restart = fab_stray(d, h->epoch);
		todo.stray = !todo.restart;
		if (todo.stray)
			return todo;
	}
	d->strays = 0;
	if (!d->known || todo.restart) {
		fab_begin(d, h, &todo);
	} else if ((s16)(h->epoch - d->epoch) < 0) {
		/* it passes: this leaf waits no longer for packets of its epoch */
		todo.late = fab_note(d, h->epoch, h->flags & FAB_F_REROUTED);
		return todo;
	} else if (h->epoch != d->epoch) {
		fab_begin_epoch(d, h, &todo);
	}
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
	fab_note(d, d->epoch, true);
	d->held = false;
	d->passed = true;
}
