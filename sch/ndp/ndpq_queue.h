/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues of an NDP switch port: admission, trimming, scheduling
 *
 * The interface of ndpq_queue.c, which explains the algorithm. The functions
 * that run for each packet are inline: as calls they cost 52 instructions, 23 %
 * of an enqueue and dequeue (selftests/bench/run qdiscs).
 */
#ifndef _CLOSNET_NDPQ_QUEUE_H
#define _CLOSNET_NDPQ_QUEUE_H

#include <closnet/core.h>
#include <linux/pkt_sched_ndp.h>

/* Maximum number of bands: the values of IP precedence */
#define NDPQ_BANDS	8

/**
 * enum ndpq_kind - how this port treats a packet
 * @NDPQ_KIND_OTHER: other traffic, not NDP
 * @NDPQ_KIND_DATA: NDP packet that trimming would shorten
 * @NDPQ_KIND_CONTROL: NDP packet that is too short to be trimmed
 * @NDPQ_KIND_TRIMMED: trimmed by this switch or another
 * @NDPQ_KIND_RETURNED: trimmed and on its way back to its sender
 * @NDPQ_KIND_UNKNOWN: more bytes of the packet are needed to classify it
 */
enum ndpq_kind {
	NDPQ_KIND_OTHER,
	NDPQ_KIND_DATA,
	NDPQ_KIND_CONTROL,
	NDPQ_KIND_TRIMMED,
	NDPQ_KIND_RETURNED,
	NDPQ_KIND_UNKNOWN,
};

/**
 * enum ndpq_queue_id - the port's queues
 * @NDPQ_DATA: data queue; the only FIFO in modes cp and droptail
 * @NDPQ_HEADER: header queue
 * @NDPQ_OTHER: queue of other traffic
 * @NDPQ_QUEUES: number of queues; as a result: no queue
 */
enum ndpq_queue_id {
	NDPQ_DATA,
	NDPQ_HEADER,
	NDPQ_OTHER,
	NDPQ_QUEUES,
};

/**
 * enum ndpq_verdict - how to handle a packet that does not fit
 * @NDPQ_DROP: drop it
 * @NDPQ_TRIM_ARRIVAL: trim it and enqueue the header
 * @NDPQ_TRIM_TAIL: trim the data queue's tail and give its place to the arrival
 * @NDPQ_RETURN: return it to its sender
 */
enum ndpq_verdict {
	NDPQ_DROP,
	NDPQ_TRIM_ARRIVAL,
	NDPQ_TRIM_TAIL,
	NDPQ_RETURN,
};

/**
 * struct ndpq_params - configuration; enum TCA_NDP_* has the ranges
 * @limit: data queue, packets; U32_MAX: unlimited
 * @limit_bytes: data queue, bytes; U32_MAX: unlimited
 * @hlimit: header queue, bytes
 * @ratio: headers per data packet while both wait
 * @other_limit: queue of other traffic, bytes
 * @other_ecn: queue of other traffic at which arrivals are marked, bytes; 0: never
 * @mode: enum tc_ndp_mode
 * @bands: priorities of the data queue, 1..NDPQ_BANDS; 1 unless @mode is TC_NDP_MODE_NDP
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
	u8 bands;
	bool rts;
};

/**
 * struct ndpq_queue_vars - occupancy and counters of a queue
 * @packets: packets in the queue
 * @bytes: bytes in the queue
 * @peak_packets: maximum of @packets
 * @peak_bytes: maximum of @bytes
 * @sent_packets: packets dequeued for transmission
 * @sent_bytes: bytes dequeued for transmission
 *
 * Written under the qdisc's lock. The dump of statistics reads without it.
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
 * @q: the queues, by enum ndpq_queue_id. In modes cp and droptail, data packets and headers
 *	share one FIFO and are counted here by their kind.
 * @headers_run: headers sent since the last data packet, while both waited
 * @other_ahead_bytes: bytes served of other traffic minus bytes served of NDP
 */
struct ndpq_vars {
	struct ndpq_queue_vars q[NDPQ_QUEUES];
	u32 headers_run;
	s32 other_ahead_bytes;
};

bool ndpq_fifo_fits(const struct ndpq_params *p, const struct ndpq_vars *v, u32 len);
enum ndpq_verdict ndpq_header_full(const struct ndpq_params *p, enum ndpq_kind kind);
void ndpq_charge(struct ndpq_vars *v, bool other, u32 len);

/* Select the queue that counts packets of a kind. */
static inline enum ndpq_queue_id ndpq_queue_of(enum ndpq_kind kind)
{
	if (kind == NDPQ_KIND_DATA)
		return NDPQ_DATA;
	return kind == NDPQ_KIND_OTHER ? NDPQ_OTHER : NDPQ_HEADER;
}

/* Select the list that holds the packets of a queue: @id, except in modes with one FIFO. */
static inline enum ndpq_queue_id ndpq_list_of(const struct ndpq_params *p,
					      enum ndpq_queue_id id)
{
	return id == NDPQ_HEADER && p->mode != TC_NDP_MODE_NDP ? NDPQ_DATA : id;
}

/**
 * ndpq_level() - select the priority of a data packet
 * @p: configuration
 * @dscp: its DSCP
 *
 * Return: 0..bands - 1; larger ones leave first.
 */
static inline u8 ndpq_level(const struct ndpq_params *p, u8 dscp)
{
	return min_t(u8, dscp >> 3, p->bands - 1);
}

static inline bool ndpq_bytes_fit(u32 limit_bytes, u32 bytes, u32 len)
{
	return (u64)bytes + len <= limit_bytes;
}

/* Does an arriving data packet of @len bytes fit in the data queue? */
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
 * ndpq_data_full() - decide about a data packet that does not fit
 * @p: configuration
 * @v: state
 * @len: length of the packet, bytes
 * @tail_len: length of the data queue's tail, bytes; 0 if the queue is empty
 * @above: level of the packet minus the tail's, which is the lowest in the queue
 * @coin: a fair coin (section 3.1: breaks up phase effects); for the same level
 *
 * Return: NDPQ_TRIM_ARRIVAL, NDPQ_TRIM_TAIL or NDPQ_DROP.
 */
static inline enum ndpq_verdict ndpq_data_full(const struct ndpq_params *p,
					       const struct ndpq_vars *v,
					       u32 len, u32 tail_len, int above,
					       bool coin)
{
	if (p->mode == TC_NDP_MODE_DROPTAIL)
		return NDPQ_DROP;
	if (p->mode == TC_NDP_MODE_CP || !tail_len || above < 0 || (!above && !coin))
		return NDPQ_TRIM_ARRIVAL;
	if (!ndpq_bytes_fit(p->limit_bytes, v->q[NDPQ_DATA].bytes - tail_len, len))
		return NDPQ_TRIM_ARRIVAL;
	return NDPQ_TRIM_TAIL;
}

/* Does an arriving header of @len bytes fit in the header queue? */
static inline bool ndpq_header_fits(const struct ndpq_params *p,
				    const struct ndpq_vars *v, u32 len)
{
	if (unlikely(p->mode == TC_NDP_MODE_DROPTAIL))
		return ndpq_fifo_fits(p, v, len);
	return ndpq_bytes_fit(p->hlimit, v->q[NDPQ_HEADER].bytes, len);
}

/* Does an arriving packet of other traffic, of @len bytes, fit in its queue? */
static inline bool ndpq_other_fits(const struct ndpq_params *p,
				   const struct ndpq_vars *v, u32 len)
{
	return ndpq_bytes_fit(p->other_limit, v->q[NDPQ_OTHER].bytes, len);
}

/* Is an arriving packet of other traffic to be marked CE? Call it before ndpq_count_in(). */
static inline bool ndpq_other_marks(const struct ndpq_params *p,
				    const struct ndpq_vars *v)
{
	return p->other_ecn && v->q[NDPQ_OTHER].bytes >= p->other_ecn;
}

/**
 * ndpq_pick() - select the queue to dequeue from
 * @p: configuration
 * @v: state
 *
 * Return: the queue, in modes cp and droptail never NDPQ_HEADER; NDPQ_QUEUES if
 * all queues are empty.
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

/* Count an enqueued packet of @len bytes. */
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

/* Count a packet of @len bytes that leaves its queue, sent or not. */
static inline void ndpq_count_out(struct ndpq_vars *v, enum ndpq_queue_id id, u32 len)
{
	struct ndpq_queue_vars *q = &v->q[id];

	WRITE_ONCE(q->packets, q->packets - 1);
	WRITE_ONCE(q->bytes, q->bytes - len);
}

/* A side that is served alone is charged only while the other side is in debt. */
static inline bool ndpq_is_charged(const struct ndpq_vars *v, bool other)
{
	if (other)
		return v->q[NDPQ_DATA].packets || v->q[NDPQ_HEADER].packets ||
		       v->other_ahead_bytes < 0;
	return v->q[NDPQ_OTHER].packets || v->other_ahead_bytes > 0;
}

/**
 * ndpq_sent() - count a packet that leaves its queue for transmission
 * @v: state
 * @id: the queue that counts the packet
 * @len: length of the packet, bytes
 *
 * Advances both schedulers. The round of headers and data packets advances only
 * while both wait.
 */
static inline void ndpq_sent(struct ndpq_vars *v, enum ndpq_queue_id id, u32 len)
{
	struct ndpq_queue_vars *q = &v->q[id];

	if (ndpq_is_charged(v, id == NDPQ_OTHER))
		ndpq_charge(v, id == NDPQ_OTHER, len);
	if (id == NDPQ_HEADER && v->q[NDPQ_DATA].packets)
		v->headers_run++;
	else if (id == NDPQ_DATA && v->q[NDPQ_HEADER].packets)
		v->headers_run = 0;
	ndpq_count_out(v, id, len);
	WRITE_ONCE(q->sent_packets, q->sent_packets + 1);
	WRITE_ONCE(q->sent_bytes, q->sent_bytes + len);
}

#endif /* _CLOSNET_NDPQ_QUEUE_H */
