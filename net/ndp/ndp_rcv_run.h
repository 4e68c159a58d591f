/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: packets that come as one
 *
 * Plain C, no kernel types. Lower layers put packets together, or never cut what the sender
 * had put together (ndp_batch.h). If these are a run, they cost hardly more than one:
 *
 *	seq	s		s + 1		s + 2	   ..	s + n - 1
 *	part	| offset	| + seg		| + 2 seg  ..	| the last; may be the tail
 *
 * All are whole, of one message, sent by one path for the first time, and say the same of
 * their flow, but for what they wish to be pulled. None came before, and there is room for all
 * of them. Then what becomes of the flow is the same as if each had come by itself, but
 * that there is one answer. What is not that simple comes by itself.
 */
#ifndef _NDP_RCV_RUN_H
#define _NDP_RCV_RUN_H

#include "ndp_rcv.h"

/**
 * struct ndp_run - packets that come as one
 * @first: header of the first
 * @last: header of the last
 * @count: how many there are
 */
struct ndp_run {
	struct ndp_hdr first;
	struct ndp_hdr last;
	u32 count;
};

/**
 * ndp_run_bytes() - payload of all packets
 * @run: these
 *
 * Return: bytes.
 */
static inline u32 ndp_run_bytes(const struct ndp_run *run)
{
	return (run->count - 1) * run->first.payload_len + run->last.payload_len;
}

/**
 * ndp_run_begin() - a packet that others may follow
 * @run: result
 * @h: header of the packet
 *
 * Return: false if none may.
 */
static inline bool ndp_run_begin(struct ndp_run *run, const struct ndp_hdr *h)
{
	*run = (struct ndp_run) { .first = *h, .last = *h, .count = 1 };
	return h->type == NDP_DATA && !h->is_short && !ndp_is_trimmed(h) &&
	       !(h->flags & NDP_DATA_RTX);
}

/**
 * ndp_run_add() - a packet that came behind those that are there
 * @run: these
 * @h: its header
 *
 * Return: false if it is not the next one of the run.
 */
static inline bool ndp_run_add(struct ndp_run *run, const struct ndp_hdr *h)
{
	const struct ndp_hdr *first = &run->first, *last = &run->last;

	if (h->type != NDP_DATA || h->is_short || ndp_is_trimmed(h) ||
	    last->flags & NDP_DATA_LAST ||
	    (h->flags & ~NDP_DATA_LAST) != first->flags || h->path != first->path ||
	    h->try_no != first->try_no || h->flow_id != first->flow_id ||
	    h->sport != first->sport || h->dport != first->dport || h->seq != last->seq + 1)
		return false;
	if (h->data.prio != first->data.prio || h->data.msg_id != first->data.msg_id ||
	    h->data.msg_len != first->data.msg_len || h->data.base != first->data.base ||
	    h->data.offset != last->data.offset + first->payload_len)
		return false;
	if (h->payload_len != first->payload_len &&
	    (h->payload_len > first->payload_len || !ndp_rcv_is_tail(h)))
		return false;
	run->last = *h;
	run->count++;
	return true;
}

/* Is none of @count numbers from @n on marked? */
static inline bool ndp_bits_none(const u64 *bits, u32 n, u32 count)
{
	for (; count > 64; count -= 64, n += 64)
		if (ndp_bits_map(bits, n))
			return false;
	return !count || !(ndp_bits_map(bits, n) << (64 - count));
}

/* 64 at most */
static inline void ndp_bits_set_many(u64 *bits, u32 n, u32 count)
{
	u32 step;

	for (; count; count -= step, n += step) {
		step = min_t(u32, count, 64 - n % 64);
		bits[ndp_window_word(n)] |= (~0ULL >> (64 - step)) << (n % 64);
	}
}

/* @count numbers from @n on: are they in the window, and none of them has come? */
static inline bool ndp_window_lacks(const struct ndp_window *w, u32 n, u32 count)
{
	return !ndp_before(n, w->base) && ndp_window_fits(w, n + count - 1) &&
	       ndp_bits_none(w->bits, n, count);
}

static inline void ndp_window_add_many(struct ndp_window *w, u32 n, u32 count)
{
	ndp_bits_set_many(w->bits, n, count);
	ndp_window_slide(w);
}

/*
 * Do all packets of a run fit into a message, and none is there yet? Then *@cut is how it is
 * cut, and *@index the first one's place.
 */
static inline bool ndp_run_fits(const struct ndp_rcv_msg *m, const struct ndp_run *run,
				struct ndp_rcv_cut *cut, u32 *index)
{
	const struct ndp_hdr *h = &run->first;
	u32 fulls = run->count;

	if (h->data.msg_len != m->len)
		return false;
	*cut = m->cut;
	if (!cut->seg && !ndp_rcv_learn(cut, h))
		return false;
	if (m->has_tail && m->tail_offset != (u64)cut->fulls * cut->seg)
		return false;
	*index = ndp_rcv_index(cut, h->data.offset);
	if (h->payload_len != cut->seg || (u64)*index * cut->seg != h->data.offset)
		return false;
	if (ndp_rcv_is_tail(&run->last)) {
		if (m->has_tail || run->last.data.offset != (u64)cut->fulls * cut->seg)
			return false;
		fulls--;
	}
	return ndp_window_lacks(&m->got, *index, fulls);
}

static inline void ndp_run_join(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				struct ndp_rcv_msg *m, const struct ndp_run *run,
				u32 index, u32 memory)
{
	u32 fulls = run->count;

	m->memory += memory;
	r->partial += memory;
	m->missing -= ndp_run_bytes(run);
	f->missing -= ndp_run_bytes(run);
	if (ndp_rcv_is_tail(&run->last)) {
		m->has_tail = true;
		m->tail_offset = run->last.data.offset;
		fulls--;
	}
	ndp_window_add_many(&m->got, index, fulls);
}

/* Of the flow: all of the run came. */
static inline void ndp_run_seen(struct ndp_rcv_flow *f, const struct ndp_run *run)
{
	const struct ndp_hdr *h = &run->first;

	ndp_rcv_begin(f, h->data.msg_id);
	ndp_bits_clear_many(f->nack, h->seq, run->count);
	ndp_window_add_many(&f->got, h->seq, run->count);
	ndp_rcv_seen(f, &run->last);
}

/**
 * ndp_rcv_run() - a run of a flow came
 * @r: socket
 * @f: the flow
 * @run: 2..64 packets
 * @memory: bytes that all of it takes if it is kept
 * @now_ns: the time
 * @msg: in: zeros, memory for a message, or NULL: there is none. Result: the message that the
 *	run is a part of; with NDP_RCV_WHOLE it is the caller's
 *
 * If @msg is what it was, then the memory was used.
 *
 * Return: NDP_RCV_PART, NDP_RCV_WHOLE: what its last packet was, the others were parts; else
 * its packets have to go to ndp_rcv_packet(), one after another.
 */
static inline enum ndp_rcv_verdict ndp_rcv_run(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					       const struct ndp_run *run, u32 memory,
					       u64 now_ns, struct ndp_rcv_msg **msg)
{
	const struct ndp_hdr *h = &run->first;
	struct ndp_rcv_msg *m = ndp_rcv_find(f, h->data.msg_id), *fresh = m ? NULL : *msg;
	enum ndp_rcv_verdict v = NDP_RCV_PART;
	struct ndp_rcv_cut cut;
	u32 index;

	if (h->sport != f->sport || h->dport != f->dport)
		return NDP_RCV_VERDICTS;
	ndp_rcv_give_up(f, h->data.base, now_ns);
	if (!ndp_window_lacks(&f->got, h->seq, run->count))
		return NDP_RCV_VERDICTS;
	if (fresh) {
		if (ndp_rcv_has_begun(f, h->data.msg_id))
			return NDP_RCV_VERDICTS;
		*fresh = (struct ndp_rcv_msg) { .id = h->data.msg_id, .len = h->data.msg_len };
		m = fresh;
	}
	if (!m || !ndp_run_fits(m, run, &cut, &index) ||
	    !ndp_rcv_room(r, f, h, memory, fresh ? 1 : 0, now_ns))
		return NDP_RCV_VERDICTS;
	if (fresh)
		ndp_rcv_link(r, f, m);
	m->cut = cut;
	m->last_ns = now_ns;
	f->last_ns = now_ns;
	ndp_run_join(r, f, m, run, index, memory);
	ndp_run_seen(f, run);
	if (ndp_rcv_is_whole(m)) {
		r->unread += m->memory;
		ndp_rcv_unlink(r, f, m);
		if (r->first == f)
			r->first = NULL;
		v = NDP_RCV_WHOLE;
	}
	WRITE_ONCE(r->verdicts[NDP_RCV_PART], r->verdicts[NDP_RCV_PART] + run->count - 1);
	WRITE_ONCE(r->verdicts[v], r->verdicts[v] + 1);
	*msg = m;
	return v;
}

#endif /* _NDP_RCV_RUN_H */
