/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: one answer to many packets
 *
 * Plain C, no kernel types. A part of net/ndp/ndp_rcv.h, see there. Packets of a flow that are
 * there at the same time share an answer:
 *
 *	ndp_rcv_reply()  ---> answer: this packet, and those that were owed one
 *	      |
 *	      v
 *	    owed         ---> ndp_rcv_settle(): answer
 *
 * Difference from the paper: there each packet has an ACK or NACK.
 */
#ifndef _NDP_RCV_SHARE_H
#define _NDP_RCV_SHARE_H

#include "ndp_rcv.h"

/*
 * Packets that one answer may be for. What it pulls comes in a row: with the default it is half
 * of what a flow begins with.
 */
#define NDP_RCV_SHARE_MAX	16U

/*
 * Can the answer to a packet wait for others? Its sender must learn from the maps what became
 * of it: so it is among their packets, and was not sent before. Nobody waits if there is nothing
 * more to come.
 */
static inline bool ndp_rcv_waits(const struct ndp_rcv_flow *f, const struct ndp_hdr *h,
				 enum ndp_rcv_verdict v)
{
	return (v <= NDP_RCV_WHOLE || v == NDP_RCV_TRIMMED) && !(h->flags & NDP_DATA_RTX) &&
	       ndp_before(h->seq, f->got.base + NDP_MAP_BITS) && !ndp_rcv_has_all(f);
}

/* The answer names the last one; what came before says which path is good by the maps. */
static inline void ndp_rcv_owe(struct ndp_rcv_flow *f, const struct ndp_hdr *h,
			       enum ndp_rcv_verdict v, bool pull, u8 dsfield)
{
	f->owed = (struct ndp_rcv_owed) {
		.seq = h->seq, .path = h->path, .try_no = h->try_no,
		.about = ndp_rcv_about(v), .dsfield = dsfield,
		.count = (u8)(f->owed.count + 1),
		.pull = pull || (f->owed.count && f->owed.pull),
	};
}

/**
 * ndp_rcv_settle() - the answer to all packets of a flow that have not been answered yet
 * @r: socket
 * @f: the flow
 * @answer: result: CONTROL, but for flow_id
 *
 * Return: false if there are none.
 */
static inline bool ndp_rcv_settle(const struct ndp_rcv *r, struct ndp_rcv_flow *f,
				  struct ndp_hdr *answer)
{
	const struct ndp_rcv_owed *o = &f->owed;

	if (!o->count)
		return false;
	*answer = (struct ndp_hdr) {
		.type = NDP_CONTROL, .flags = o->about | (o->pull ? NDP_CTL_PULL : 0),
		.path = o->path, .try_no = o->try_no, .seq = o->seq,
	};
	ndp_rcv_control(r, f, answer);
	answer->ctl.dsfield = o->dsfield;
	f->owed.count = 0;
	return true;
}

/**
 * ndp_rcv_reply() - answer a packet, or owe the answer
 * @r: socket
 * @f: its flow
 * @h: the packet
 * @v: what it was, below NDP_RCV_FAR
 * @pull: a pull goes with it
 * @dsfield: the packet's DSCP and ECN bits
 * @answer: result: CONTROL
 *
 * As long as f->owed.count is not 0, ndp_rcv_settle() has to follow soon: when no more packets
 * are there to be looked at.
 *
 * Return: true if @answer is to be sent.
 */
static inline bool ndp_rcv_reply(const struct ndp_rcv *r, struct ndp_rcv_flow *f,
				 const struct ndp_hdr *h, enum ndp_rcv_verdict v, bool pull,
				 u8 dsfield, struct ndp_hdr *answer)
{
	bool waits = ndp_rcv_waits(f, h, v);

	if (waits && f->owed.count && f->owed.dsfield != dsfield) {
		ndp_rcv_settle(r, f, answer);
		answer->flow_id = h->flow_id;
		ndp_rcv_owe(f, h, v, pull, dsfield);
		return true;
	}
	if (waits && f->owed.count + 1U < NDP_RCV_SHARE_MAX) {
		ndp_rcv_owe(f, h, v, pull, dsfield);
		return false;
	}
	ndp_rcv_answer(r, f, h, v, pull, dsfield, answer);
	return true;
}

#endif /* _NDP_RCV_SHARE_H */
