/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP switch service model: which queue, which trim, which turn
 *
 * The decisions of sch_ndp without its packets: plain C, no kernel types, so
 * that the unit test runs the very code that the module runs. Randomness is
 * an argument.
 *
 * An egress port has two queues for NDP, and here a third for the rest:
 *
 *	data	limit packets (and limit_bytes, when set), low priority
 *	header	hlimit bytes, high priority: trimmed packets and control
 *	other	other_limit bytes: what is not NDP's
 *
 *	arrival of a data packet
 *	  |
 *	  +- fits ------------------------------------> data queue
 *	  +- full, coin says arrival: trim it --------> header queue
 *	  +- full, coin says tail: trim the newest in
 *	     the data queue, the arrival takes its place
 *	                                  trimmed tail> header queue
 *	header queue full: with rts, a trimmed packet returns to its sender
 *
 *	departure: between NDP and other by deficit round robin; within NDP,
 *	while both queues wait, ratio headers, then one data packet
 *
 * Reference: M. Handley et al., "Re-architecting datacenter networks and
 * stacks for low latency and high performance", SIGCOMM 2017: section 3.1
 * (switch service model), 3.2.4 (return to sender), 4 (packets without data
 * use the header queue); "3 Limitations" leaves sharing with TCP open.
 *
 * Differences from the paper:
 * - The data queue can be bounded in bytes too. If the arrival would not fit
 *   into the tail's place either, it is the arrival that is trimmed.
 * - Return to sender is off by default, since it reflects packets to whatever
 *   source address they claim. Only a trimmed packet is returned. A control
 *   packet that finds the header queue full is dropped: its sender could do
 *   nothing with it.
 * - Two ports cannot send a packet back and forth without end, even if
 *   dscp_trimmed of one is dscp_returned of the other. With match udp_port, a
 *   packet from NDP's port was returned already, and is dropped. In all modes a
 *   return takes one from TTL or hop limit.
 * - The third queue. Two queues need no quantum: deficit round robin with the
 *   packet at hand as quantum leaves one number, by how many bytes other
 *   traffic is ahead, and O(1) work for packets of any length.
 */
#ifndef _CLOSNET_NDP_QUEUE_H
#define _CLOSNET_NDP_QUEUE_H

#include <closnet/core.h>
#include <linux/pkt_sched_ndp.h>

/**
 * enum ndpq_kind - what a packet is to this port
 * @NDPQ_KIND_OTHER: not NDP's
 * @NDPQ_KIND_DATA: longer than what trimming leaves of it
 * @NDPQ_KIND_CONTROL: no longer than that, and never trimmed
 * @NDPQ_KIND_TRIMMED: trimmed, here or by another switch
 * @NDPQ_KIND_RETURNED: trimmed and on its way back to its sender
 */
enum ndpq_kind {
	NDPQ_KIND_OTHER,
	NDPQ_KIND_DATA,
	NDPQ_KIND_CONTROL,
	NDPQ_KIND_TRIMMED,
	NDPQ_KIND_RETURNED,
};

/**
 * enum ndpq_queue_id - the port's queues
 * @NDPQ_DATA: data queue; the one FIFO of modes cp and droptail
 * @NDPQ_HEADER: header queue
 * @NDPQ_OTHER: queue of what is not NDP's
 * @NDPQ_QUEUES: how many there are; as a queue: none
 */
enum ndpq_queue_id {
	NDPQ_DATA,
	NDPQ_HEADER,
	NDPQ_OTHER,
	NDPQ_QUEUES,
};

/**
 * enum ndpq_verdict - what becomes of an arriving packet
 * @NDPQ_ACCEPT: it is queued
 * @NDPQ_TRIM_ARRIVAL: it is trimmed, then it is a header that arrives
 * @NDPQ_TRIM_TAIL: the data queue's tail is trimmed, it takes the tail's place
 * @NDPQ_RETURN: it is returned to its sender
 * @NDPQ_DROP: it is dropped
 */
enum ndpq_verdict {
	NDPQ_ACCEPT,
	NDPQ_TRIM_ARRIVAL,
	NDPQ_TRIM_TAIL,
	NDPQ_RETURN,
	NDPQ_DROP,
};

/**
 * struct ndpq_params - configuration; see enum TCA_NDP_* for the ranges
 * @limit: data queue, packets
 * @limit_bytes: data queue, bytes; 0: not bounded in bytes
 * @hlimit: header queue, bytes
 * @ratio: headers for each data packet while both wait
 * @other_limit: queue of other traffic, bytes
 * @other_ecn: bytes in it from which on packets are marked; 0: never
 * @mode: enum tc_ndp_mode
 * @rts: return to sender
 */
struct ndpq_params {
	u32 limit;
	u32 limit_bytes;
	u32 hlimit;
	u32 ratio;
	u32 other_limit;
	u32 other_ecn;
	u8 mode;
	bool rts;
};

/**
 * struct ndpq_queue_vars - one queue's occupancy and history
 * @packets: in it now
 * @bytes: in it now
 * @peak_packets: most packets seen
 * @peak_bytes: most bytes seen
 * @sent_packets: left towards the wire
 * @sent_bytes: left towards the wire
 *
 * Written under the qdisc's lock, read without it by the dump.
 */
struct ndpq_queue_vars {
	u32 packets;
	u32 bytes;
	u32 peak_packets;
	u32 peak_bytes;
	u64 sent_packets;
	u64 sent_bytes;
};

/**
 * struct ndpq_vars - state of the port
 * @q: by enum ndpq_queue_id. In modes cp and droptail the packets of NDPQ_DATA
 *	and NDPQ_HEADER stand in one FIFO, and are counted here by their kind.
 * @headers_run: headers sent since the last data packet, while both waited
 * @other_ahead_bytes: bytes by which other traffic was served more than NDP
 */
struct ndpq_vars {
	struct ndpq_queue_vars q[NDPQ_QUEUES];
	u32 headers_run;
	s32 other_ahead_bytes;
};

/**
 * ndpq_queue_of() - queue in which packets of a kind are counted
 * @kind: the packet's kind
 *
 * Return: the queue.
 */
static inline enum ndpq_queue_id ndpq_queue_of(enum ndpq_kind kind)
{
	if (kind == NDPQ_KIND_DATA)
		return NDPQ_DATA;
	return kind == NDPQ_KIND_OTHER ? NDPQ_OTHER : NDPQ_HEADER;
}

/**
 * ndpq_list_of() - queue in which packets of a kind stand
 * @p: configuration
 * @kind: the packet's kind
 *
 * Return: the queue; not that of ndpq_queue_of() where a mode has one FIFO.
 */
static inline enum ndpq_queue_id ndpq_list_of(const struct ndpq_params *p,
					      enum ndpq_kind kind)
{
	enum ndpq_queue_id id = ndpq_queue_of(kind);

	if (id == NDPQ_HEADER && p->mode != TC_NDP_MODE_NDP)
		return NDPQ_DATA;
	return id;
}

static inline bool ndpq_bytes_fit(u32 limit_bytes, u32 bytes, u32 len)
{
	return !limit_bytes || (bytes <= limit_bytes && len <= limit_bytes - bytes);
}

/* Room in the FIFO of mode droptail, where headers count like data. */
static inline bool ndpq_fifo_fits(const struct ndpq_params *p,
				  const struct ndpq_vars *v, u32 len)
{
	const struct ndpq_queue_vars *d = &v->q[NDPQ_DATA], *h = &v->q[NDPQ_HEADER];

	return d->packets + h->packets < p->limit &&
	       ndpq_bytes_fit(p->limit_bytes, d->bytes + h->bytes, len);
}

/**
 * ndpq_data_fits() - is there room for a data packet?
 * @p: configuration
 * @v: state
 * @len: the packet's length, bytes
 *
 * Return: true if so.
 */
static inline bool ndpq_data_fits(const struct ndpq_params *p,
				  const struct ndpq_vars *v, u32 len)
{
	const struct ndpq_queue_vars *d = &v->q[NDPQ_DATA];

	if (unlikely(p->mode == TC_NDP_MODE_DROPTAIL))
		return ndpq_fifo_fits(p, v, len);
	return d->packets < p->limit &&
	       ndpq_bytes_fit(p->limit_bytes, d->bytes, len);
}

/**
 * ndpq_data_full() - what to do with a data packet that does not fit
 * @p: configuration
 * @v: state
 * @len: its length, bytes
 * @tail_len: length of the data queue's tail, bytes; 0 if the queue is empty
 * @coin: a fair coin (section 3.1: breaks up phase effects)
 *
 * Return: NDPQ_TRIM_ARRIVAL, NDPQ_TRIM_TAIL or NDPQ_DROP.
 */
static inline enum ndpq_verdict ndpq_data_full(const struct ndpq_params *p,
					       const struct ndpq_vars *v,
					       u32 len, u32 tail_len, bool coin)
{
	if (p->mode == TC_NDP_MODE_DROPTAIL)
		return NDPQ_DROP;
	if (p->mode == TC_NDP_MODE_CP || !coin || !tail_len)
		return NDPQ_TRIM_ARRIVAL;
	if (!ndpq_bytes_fit(p->limit_bytes, v->q[NDPQ_DATA].bytes - tail_len, len))
		return NDPQ_TRIM_ARRIVAL;
	return NDPQ_TRIM_TAIL;
}

/**
 * ndpq_header_verdict() - what to do with a packet for the header queue
 * @p: configuration
 * @v: state
 * @len: its length, bytes
 * @kind: CONTROL, TRIMMED or RETURNED
 *
 * Return: NDPQ_ACCEPT, NDPQ_RETURN or NDPQ_DROP.
 */
static inline enum ndpq_verdict ndpq_header_verdict(const struct ndpq_params *p,
						    const struct ndpq_vars *v,
						    u32 len, enum ndpq_kind kind)
{
	bool fits;

	if (unlikely(p->mode == TC_NDP_MODE_DROPTAIL))
		fits = ndpq_fifo_fits(p, v, len);
	else
		fits = ndpq_bytes_fit(p->hlimit, v->q[NDPQ_HEADER].bytes, len);
	if (likely(fits))
		return NDPQ_ACCEPT;
	if (p->rts && p->mode == TC_NDP_MODE_NDP && kind == NDPQ_KIND_TRIMMED)
		return NDPQ_RETURN;
	return NDPQ_DROP;
}

/**
 * ndpq_other_fits() - is there room for a packet of other traffic?
 * @p: configuration
 * @v: state
 * @len: its length, bytes
 *
 * Return: true if so.
 */
static inline bool ndpq_other_fits(const struct ndpq_params *p,
				   const struct ndpq_vars *v, u32 len)
{
	return ndpq_bytes_fit(p->other_limit, v->q[NDPQ_OTHER].bytes, len);
}

/**
 * ndpq_other_marks() - is an arriving packet of other traffic to be marked CE?
 * @p: configuration
 * @v: state, before the packet is queued
 *
 * Return: true if so.
 */
static inline bool ndpq_other_marks(const struct ndpq_params *p,
				    const struct ndpq_vars *v)
{
	return p->other_ecn && v->q[NDPQ_OTHER].bytes >= p->other_ecn;
}

/**
 * ndpq_pick() - from which queue the next packet leaves
 * @p: configuration
 * @v: state
 *
 * Return: the queue; NDPQ_QUEUES if all are empty. In modes cp and droptail
 * never NDPQ_HEADER.
 */
static inline enum ndpq_queue_id ndpq_pick(const struct ndpq_params *p,
					   const struct ndpq_vars *v)
{
	bool data = v->q[NDPQ_DATA].packets, header = v->q[NDPQ_HEADER].packets;

	if (v->q[NDPQ_OTHER].packets &&
	    (v->other_ahead_bytes < 0 || !(data || header)))
		return NDPQ_OTHER;
	if (!header)
		return data ? NDPQ_DATA : NDPQ_QUEUES;
	if (p->mode != TC_NDP_MODE_NDP || (data && v->headers_run >= p->ratio))
		return NDPQ_DATA;
	return NDPQ_HEADER;
}

/**
 * ndpq_count_in() - a packet enters a queue
 * @v: state
 * @id: the queue
 * @len: the packet's length, bytes
 */
static inline void ndpq_count_in(struct ndpq_vars *v, enum ndpq_queue_id id, u32 len)
{
	struct ndpq_queue_vars *q = &v->q[id];

	WRITE_ONCE(q->packets, q->packets + 1);
	WRITE_ONCE(q->bytes, q->bytes + len);
	if (q->packets > q->peak_packets)
		WRITE_ONCE(q->peak_packets, q->packets);
	if (q->bytes > q->peak_bytes)
		WRITE_ONCE(q->peak_bytes, q->bytes);
}

/**
 * ndpq_count_out() - a packet leaves a queue, wherever it goes
 * @v: state
 * @id: the queue
 * @len: the packet's length, bytes
 */
static inline void ndpq_count_out(struct ndpq_vars *v, enum ndpq_queue_id id, u32 len)
{
	struct ndpq_queue_vars *q = &v->q[id];

	WRITE_ONCE(q->packets, q->packets - 1);
	WRITE_ONCE(q->bytes, q->bytes - len);
}

/*
 * Moves the deficits' difference. Whoever is served alone owes nothing for
 * it, but works off what the idle side owes: else traffic that shows one
 * large packet at a time, with a short pause behind each, would take more
 * than its share.
 */
static inline void ndpq_charge(struct ndpq_vars *v, bool other, u32 len)
{
	bool contended = other ? v->q[NDPQ_DATA].packets || v->q[NDPQ_HEADER].packets :
				 v->q[NDPQ_OTHER].packets;
	s32 ahead = other ? v->other_ahead_bytes : -v->other_ahead_bytes;

	if (!contended && ahead >= 0)
		return;
	ahead += (s32)len;
	if (!contended)
		ahead = min_t(s32, ahead, 0);
	v->other_ahead_bytes = other ? ahead : -ahead;
}

/**
 * ndpq_sent() - a packet leaves its queue towards the wire
 * @v: state
 * @id: the queue in which it was counted
 * @len: its length, bytes
 *
 * Takes the turns of both schedulers; the counter of the 10:1 round advances
 * only while both of NDP's queues wait.
 */
static inline void ndpq_sent(struct ndpq_vars *v, enum ndpq_queue_id id, u32 len)
{
	struct ndpq_queue_vars *q = &v->q[id];

	ndpq_charge(v, id == NDPQ_OTHER, len);
	if (id == NDPQ_HEADER && v->q[NDPQ_DATA].packets)
		v->headers_run++;
	else if (id == NDPQ_DATA && v->q[NDPQ_HEADER].packets)
		v->headers_run = 0;
	ndpq_count_out(v, id, len);
	WRITE_ONCE(q->sent_packets, q->sent_packets + 1);
	WRITE_ONCE(q->sent_bytes, q->sent_bytes + len);
}

#endif /* _CLOSNET_NDP_QUEUE_H */
