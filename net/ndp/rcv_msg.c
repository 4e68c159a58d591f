// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP receiver: messages of a flow; described in rcv_msg.h
 */
#include "rcv_msg.h"

/* the number of parts fits 31 bits */
#define NDP_RCV_PARTS_MAX	0x80000000U
/* A packet may take up to so many times the memory of its payload; otherwise it is copied. */
#define NDP_RCV_WASTE		2ULL

/* ---- parts of a message ---- */

static u32 ndp_rcv_index(const struct ndp_rcv_cut *cut, u64 offset)
{
	return (u32)div_u64(offset, cut->seg);
}

/* Learn how a message is cut, from a packet that is not its tail. */
static bool ndp_rcv_learn(struct ndp_rcv_cut *cut, const struct ndp_hdr *h)
{
	u64 fulls = div_u64(h->data.msg_len - 1, h->payload_len);

	cut->seg = h->payload_len;
	cut->fulls = (u32)fulls;
	return fulls < NDP_RCV_PARTS_MAX;
}

static enum ndp_rcv_verdict ndp_rcv_fits_tail(const struct ndp_rcv_msg *m, const struct ndp_hdr *h)
{
	if (m->has_tail)
		return m->tail_offset == h->data.offset ? NDP_RCV_DUPLICATE : NDP_RCV_BAD_PART;
	if (m->cut.seg && h->data.offset != (u64)m->cut.fulls * m->cut.seg)
		return NDP_RCV_BAD_PART;
	return NDP_RCV_PART;
}

static enum ndp_rcv_verdict ndp_rcv_fits_full(const struct ndp_rcv_msg *m,
					      const struct ndp_rcv_cut *cut,
					      const struct ndp_hdr *h)
{
	u32 index;

	if (h->payload_len != cut->seg)
		return NDP_RCV_BAD_PART;
	index = ndp_rcv_index(cut, h->data.offset);
	if ((u64)index * cut->seg != h->data.offset || !ndp_window_fits(&m->arrived, index))
		return NDP_RCV_BAD_PART;
	return ndp_window_has(&m->arrived, index) ? NDP_RCV_DUPLICATE : NDP_RCV_PART;
}

/* Is a packet a missing part of a message? Then @m's cut is known, unless it is the tail. */
static enum ndp_rcv_verdict ndp_rcv_fits(struct ndp_rcv_msg *m, const struct ndp_hdr *h)
{
	struct ndp_rcv_cut cut = m->cut;
	enum ndp_rcv_verdict v;

	if (h->data.msg_len != m->len)
		return NDP_RCV_BAD_PART;
	if (ndp_is_tail(h))
		return ndp_rcv_fits_tail(m, h);
	if (!cut.seg && !ndp_rcv_learn(&cut, h))
		return NDP_RCV_BAD_PART;
	if (m->has_tail && m->tail_offset != (u64)cut.fulls * cut.seg)
		return NDP_RCV_BAD_PART;
	v = ndp_rcv_fits_full(m, &cut, h);
	if (v == NDP_RCV_PART)
		m->cut = cut;
	return v;
}

/*
 * Are the packets of a batch missing parts of a message? @m: the message; NULL: it has not begun;
 * @cut: result: how it is cut
 */
static bool ndp_rcv_fits_batch(const struct ndp_rcv_msg *m, const struct ndp_rcv_pkt *p,
			       struct ndp_rcv_cut *cut)
{
	const struct ndp_rcv_msg none = { .len = p->h->data.msg_len };
	u32 fulls = ndp_rcv_packets(p) - ndp_is_tail(p->last), index;

	m = m ?: &none;
	*cut = m->cut;
	if (p->h->data.msg_len != m->len || (!cut->seg && !ndp_rcv_learn(cut, p->h)))
		return false;
	if (m->has_tail &&
	    (ndp_is_tail(p->last) || m->tail_offset != (u64)cut->fulls * cut->seg))
		return false;
	index = ndp_rcv_index(cut, p->h->data.offset);
	if (p->h->payload_len != cut->seg || (u64)index * cut->seg != p->h->data.offset ||
	    !ndp_window_fits(&m->arrived, index + fulls - 1))
		return false;
	while (fulls--)
		if (ndp_window_has(&m->arrived, index++))
			return false;
	return true;
}

static bool ndp_rcv_is_whole(const struct ndp_rcv_msg *m)
{
	return m->has_tail && (m->cut.seg ? m->arrived.base == m->cut.fulls : !m->tail_offset);
}

/**
 * ndp_rcv_prefix() - get the bytes from a message's beginning that arrived without a hole
 * @m: message
 *
 * Return: bytes; without the tail, unless the message is whole.
 */
u64 ndp_rcv_prefix(const struct ndp_rcv_msg *m)
{
	return m->is_whole ? m->len : (u64)m->arrived.base * m->cut.seg;
}

/* Memory of a message's packets without its descriptor; @p is the first packet that arrived */
static u64 ndp_rcv_need(const struct ndp_rcv *r, const struct ndp_rcv_pkt *p)
{
	const struct ndp_hdr *h = p->h;
	u32 len = h->payload_len, each = ndp_rcv_memory(p);

	if (len == h->data.msg_len)
		return each;
	/* other packets are longer than a tail, and a trimmed packet has no memory */
	if (ndp_is_tail(h))
		len = max_t(u32, len, r->usual_len);
	if (ndp_is_tail(h) || ndp_is_trimmed(h))
		each = r->usual_len ? len + r->usual_extra :
				      (u32)NDP_RCV_WASTE * (len + r->overhead);
	return div_u64(h->data.msg_len + len - 1, len) * each;
}

/* ---- messages of a flow ---- */

static struct hlist_head *ndp_rcv_bucket(struct ndp_rcv_flow *f, u32 id)
{
	return &f->bucket[id * f->secret >> (32 - NDP_RCV_BUCKET_BITS)];
}

/**
 * ndp_rcv_find() - find a message in progress
 * @f: flow
 * @id: msg_id
 *
 * Return: the message, or NULL.
 */
struct ndp_rcv_msg *ndp_rcv_find(struct ndp_rcv_flow *f, u32 id)
{
	struct ndp_rcv_msg *m;

	hlist_for_each_entry(m, ndp_rcv_bucket(f, id), chain)
		if (m->id == id)
			return m;
	return NULL;
}

/* Is an id known: has its message begun, or was it given up? Ids that are too old are known. */
static bool ndp_rcv_is_known(const struct ndp_rcv_flow *f, u32 id)
{
	if (ndp_before(f->newest_id, id))
		return false;
	return f->newest_id - id >= NDP_RCV_WINDOW || ndp_bits_has(f->begun, id) ||
	       ndp_bits_has(f->gone, id);
}

static void ndp_rcv_advance_ids(struct ndp_rcv_flow *f, u32 id)
{
	if (!ndp_before(f->newest_id, id))
		return;
	ndp_bits_clear_many(f->begun, f->newest_id + 1, id - f->newest_id);
	ndp_bits_clear_many(f->gone, f->newest_id + 1, id - f->newest_id);
	f->newest_id = id;
}

/* Messages from turn_id on that are known wait for no earlier one. Bound: NDP_RCV_WINDOW ids */
static void ndp_rcv_move_turn(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m;

	if (ndp_before(f->turn_id, f->newest_id - NDP_RCV_WINDOW))
		f->turn_id = f->newest_id - NDP_RCV_WINDOW;
	while (!ndp_before(f->newest_id, f->turn_id) &&
	       (ndp_before(f->turn_id, f->msg_base) || ndp_rcv_is_known(f, f->turn_id))) {
		m = ndp_rcv_find(f, f->turn_id++);
		if (m)
			ndp_rmem_in_turn(&r->mem, &m->claim);
	}
}

static void ndp_rcv_link(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m)
{
	hlist_add_head(&m->chain, ndp_rcv_bucket(f, m->id));
	f->msgs++;
	f->windows += m->claim.is_window;
	r->msgs++;
	ndp_rcv_advance_ids(f, m->id);
	ndp_bits_set(f->begun, m->id);
}

static void ndp_rcv_unlink(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m)
{
	hlist_del_init(&m->chain);
	f->msgs--;
	f->windows -= m->claim.is_window;
	if (!f->windows)
		f->is_blocked = false;
	r->msgs--;
}

/* Must a message wait for an earlier one that has not begun? */
static bool ndp_rcv_is_early(const struct ndp_rcv *r, const struct ndp_rcv_flow *f, u32 id)
{
	return r->in_order && ndp_before(f->turn_id, id);
}

/*
 * Must a message that is read in parts wait for the end of an earlier one? Each flow may have one
 * such message: packets of a second one could block the first. In order, it is the next message,
 * because the reader would not read a later one.
 */
static bool ndp_rcv_is_blocked(const struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 id)
{
	bool late = r->in_order && id != f->next_id;

	f->is_blocked = f->windows || (late && ndp_rcv_is_known(f, f->next_id));
	return late || f->windows;
}

/* A packet that is not the next one, at @next, leaves memory to that one. Return: bytes */
static u32 ndp_rcv_spare(const struct ndp_rcv *r, const struct ndp_rcv_pkt *p, u64 next)
{
	return p->h->data.offset == next ? 0 : r->mem.unit;
}

/*
 * Reserve memory for a message that begins with @p. While other flows wait, nothing is reserved for
 * packets that an unverified sender has not sent.
 */
static bool ndp_rcv_reserve(struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_rcv_pkt *p,
			    struct ndp_claim *claim)
{
	u64 need = p->descriptor + (p->placed ? p->memory : ndp_rcv_need(r, p));
	u32 flags = p->first || f->promise.bytes ? NDP_RESERVE_FIRST : 0;
	u32 now = p->descriptor + p->memory + ndp_rcv_spare(r, p, 0);

	if (ndp_rcv_is_early(r, f, p->h->data.msg_id))
		flags |= NDP_RESERVE_EARLY;
	ndp_rmem_end(&r->mem, &f->promise);
	if ((f->is_verified || !r->mem.waiting || need <= p->descriptor + p->memory) &&
	    ndp_rmem_reserve(&r->mem, claim, need, now, flags)) {
		f->need = 0;
		/* a window is for single packets; a batch may not fit */
		if (!claim->is_window ||
		    (!p->last && !ndp_rcv_is_blocked(r, f, p->h->data.msg_id)))
			return true;
		ndp_rmem_end(&r->mem, claim);
		return false;
	}
	f->need = f->need ?: (u32)min_t(u64, need, 0x7fffffff);
	return false;
}

/* A packet of a message that is not in progress */
static enum ndp_rcv_verdict ndp_rcv_unknown(struct ndp_rcv_flow *f, u32 id)
{
	if (f->newest_id - id >= NDP_RCV_WINDOW)
		return NDP_RCV_BAD_ID;
	return ndp_bits_has(f->gone, id) ? NDP_RCV_GONE : NDP_RCV_DUPLICATE;
}

/* The first packet of a message. For a single trimmed packet, no memory is reserved. */
static enum ndp_rcv_verdict ndp_rcv_fresh(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					  const struct ndp_rcv_pkt *p, struct ndp_rcv_msg *m)
{
	const struct ndp_hdr *h = p->h;
	struct ndp_claim claim = {};

	if (ndp_is_trimmed(h) && h->payload_len == h->data.msg_len)
		return NDP_RCV_TRIMMED;
	ndp_rcv_move_turn(r, f);
	if (!m || r->msgs >= r->msgs_max || !ndp_rcv_reserve(r, f, p, &claim))
		return NDP_RCV_REFUSED;
	*m = (struct ndp_rcv_msg) {
		.id = h->data.msg_id, .len = h->data.msg_len, .last_ns = p->now_ns,
		.kept = p->descriptor, .claim = claim,
	};
	ndp_rcv_link(r, f, m);
	ndp_rcv_move_turn(r, f);
	return NDP_RCV_PART;
}

/* May a message in progress be read in parts? */
static bool ndp_rcv_may_part(const struct ndp_rcv *r, const struct ndp_rcv_flow *f,
			     const struct ndp_rcv_msg *m)
{
	return m->claim.is_window || (!f->windows && (!r->in_order || m->id == f->next_id));
}

/*
 * Charge a packet of a message in progress, or a batch. If that fails, the message is read in parts
 * from now on. Others may wait for the packet if the message cannot be read in parts, or if all
 * before the packet was read; but not if an earlier message has to begin first.
 */
static bool ndp_rcv_hold(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m,
			 const struct ndp_rcv_pkt *p)
{
	bool may_part = ndp_rcv_may_part(r, f, m), must = !may_part && !m->claim.is_early;
	u64 kept = m->kept + p->memory + ndp_rcv_spare(r, p, ndp_rcv_prefix(m));
	struct ndp_claim *c = &m->claim;

	kept = min_t(u64, kept, c->bytes);
	c->is_scarce = !ndp_rmem_hold(&r->mem, c, (u32)kept, false);
	if (!c->is_scarce || p->last)
		return !c->is_scarce;
	if (may_part) {
		f->windows += !c->is_window;
		c->is_window = true;
		must = p->h->data.offset == m->read && ndp_rcv_prefix(m) == m->read;
	}
	return must && ndp_rmem_hold(&r->mem, c, (u32)kept, true);
}

/*
 * Is there room for a packet of a message in progress? In a window, the next packet in order has
 * the last place; if it is larger than earlier packets and all before it was read, the window
 * grows. A reservation grows if it has lapsed, or if packets take more than was expected.
 */
static bool ndp_rcv_has_room(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m,
			     const struct ndp_rcv_pkt *p)
{
	bool is_next = p->h->data.offset == ndp_rcv_prefix(m);
	bool exceed = !r->in_order || m->id == f->next_id;
	struct ndp_claim *c = &m->claim;
	u64 need = m->kept + p->memory;

	ndp_rmem_set_aside(&r->mem, c, false);
	if (c->is_window && !is_next)
		need += r->mem.unit;
	if (need <= c->bytes)
		return ndp_rcv_hold(r, f, m, p);
	if (c->is_window && need > c->size) {
		if (!is_next || ndp_rcv_prefix(m) != m->read)
			return false;
		c->size = (u32)need;
	}
	ndp_rmem_end(&r->mem, &f->promise);
	if (ndp_rmem_grow(&r->mem, c, (u32)(max_t(u64, need, c->size) - c->bytes), exceed) ||
	    ndp_rmem_grow(&r->mem, c, (u32)(need - c->bytes), exceed)) {
		f->need = 0;
		return ndp_rcv_hold(r, f, m, p);
	}
	f->need = f->need ?: (u32)(need - c->bytes);
	return false;
}

/* Mark the parts that a packet or a batch carries. */
static void ndp_rcv_add(struct ndp_rcv *r, struct ndp_rcv_msg *m, const struct ndp_rcv_pkt *p)
{
	const struct ndp_hdr *last = p->last ?: p->h;
	u32 fulls = ndp_rcv_packets(p) - ndp_is_tail(last), memory = ndp_rcv_memory(p), index;

	m->kept += p->memory;
	m->last_ns = p->now_ns;
	if (ndp_is_tail(last)) {
		m->has_tail = true;
		m->tail_offset = last->data.offset;
	}
	if (!fulls)
		return;
	index = ndp_rcv_index(&m->cut, p->h->data.offset);
	ndp_window_add_many(&m->arrived, index, fulls);
	if (memory >= p->h->payload_len) {
		r->usual_len = p->h->payload_len;
		r->usual_extra = memory - p->h->payload_len;
	}
}

/* Parts of a message were added. Return: NDP_RCV_PART or NDP_RCV_WHOLE */
static enum ndp_rcv_verdict ndp_rcv_added(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					  struct ndp_rcv_msg *m)
{
	if (!ndp_rcv_is_whole(m))
		return NDP_RCV_PART;
	m->is_whole = true;
	ndp_rmem_shrink(&r->mem, &m->claim, m->claim.bytes - (u32)m->kept);
	if (!r->in_order)
		ndp_rcv_unlink(r, f, m);
	return NDP_RCV_WHOLE;
}

static enum ndp_rcv_verdict ndp_rcv_part(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					 const struct ndp_rcv_pkt *p, struct ndp_rcv_msg *m)
{
	enum ndp_rcv_verdict v;

	if (m->is_whole)
		return NDP_RCV_DUPLICATE;
	if (ndp_is_trimmed(p->h))
		return NDP_RCV_TRIMMED;
	v = ndp_rcv_fits(m, p->h);
	if (v != NDP_RCV_PART)
		return v;
	if (!ndp_rcv_has_room(r, f, m, p))
		return NDP_RCV_FULL;
	ndp_rcv_add(r, m, p);
	return ndp_rcv_added(r, f, m);
}

/**
 * ndp_rcv_msg_packet() - process the part of a message that a packet carries
 * @r: socket
 * @f: flow
 * @p: DATA with all of its header, in the window, not received before
 * @msg: in: memory for a message, or NULL. Result: the message of the packet, or NULL. With
 *	NDP_RCV_WHOLE it is the caller's, unless messages are delivered in order
 *
 * Return: verdict.
 */
enum ndp_rcv_verdict ndp_rcv_msg_packet(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(f, p->h->data.msg_id), *fresh = *msg;
	enum ndp_rcv_verdict v;

	*msg = m;
	if (m)
		return ndp_rcv_part(r, f, p, m);
	if (ndp_rcv_is_known(f, p->h->data.msg_id))
		return ndp_rcv_unknown(f, p->h->data.msg_id);
	v = ndp_rcv_fresh(r, f, p, fresh);
	if (v != NDP_RCV_PART)
		return v;
	*msg = fresh;
	v = ndp_rcv_part(r, f, p, fresh);
	if (v != NDP_RCV_PART && v != NDP_RCV_WHOLE && v != NDP_RCV_TRIMMED) {
		ndp_rcv_drop(r, f, fresh);
		*msg = NULL;
	}
	return v;
}

/* Make room for a batch of a message, which begins if it is @fresh. */
static bool ndp_rcv_admit_batch(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				const struct ndp_rcv_pkt *p, struct ndp_rcv_msg *m, bool fresh)
{
	u32 need = f->need;
	bool admitted;

	/* only single packets use a promise, or wait for room */
	if (f->promise.bytes)
		return false;
	admitted = fresh ? ndp_rcv_fresh(r, f, p, m) == NDP_RCV_PART :
			   ndp_rcv_has_room(r, f, m, p);
	if (!admitted)
		f->need = need;
	return admitted;
}

/**
 * ndp_rcv_msg_batch() - process the parts of a message that a batch carries
 * @r: socket
 * @f: flow
 * @p: batch, in the window, none of it received before
 * @msg: as for ndp_rcv_msg_packet()
 *
 * Return: NDP_RCV_PART or NDP_RCV_WHOLE; NDP_RCV_VERDICTS: the packets are to be processed one by
 * one.
 */
enum ndp_rcv_verdict ndp_rcv_msg_batch(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				       const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg)
{
	u32 id = p->h->data.msg_id;
	struct ndp_rcv_msg *m = ndp_rcv_find(f, id);
	struct ndp_rcv_cut cut;
	bool fresh = !m;

	if (fresh ? ndp_rcv_is_known(f, id) || !*msg : m->is_whole)
		return NDP_RCV_VERDICTS;
	if (!ndp_rcv_fits_batch(m, p, &cut))
		return NDP_RCV_VERDICTS;
	m = m ?: *msg;
	if (!ndp_rcv_admit_batch(r, f, p, m, fresh))
		return NDP_RCV_VERDICTS;
	*msg = m;
	m->cut = cut;
	ndp_rcv_add(r, m, p);
	return ndp_rcv_added(r, f, m);
}

/**
 * ndp_rcv_read() - bytes of a message were read
 * @r: socket
 * @m: message
 * @bytes: payload, at most the unread bytes of ndp_rcv_prefix()
 * @memory: memory of the packets that were freed
 *
 * A window remains as large as it was, but is not charged as a whole.
 */
void ndp_rcv_read(struct ndp_rcv *r, struct ndp_rcv_msg *m, u64 bytes, u32 memory)
{
	m->read += bytes;
	m->kept -= memory;
	if (m->is_whole)
		ndp_rmem_shrink(&r->mem, &m->claim, memory);
	else
		ndp_rmem_release(&r->mem, &m->claim, (u32)m->kept);
}

/**
 * ndp_rcv_is_narrow() - is a message's window, or the total memory, nearly used up?
 * @r: socket
 * @m: message
 *
 * Return: true if its flow should not be pulled until more of it was read.
 */
bool ndp_rcv_is_narrow(const struct ndp_rcv *r, const struct ndp_rcv_msg *m)
{
	u32 left = m->claim.bytes - (u32)min_t(u64, m->kept, m->claim.bytes);

	/* if the prefix was read, the missing packet must be pulled */
	return m->claim.is_window && !m->is_whole && ndp_rcv_prefix(m) > m->read &&
	       (m->claim.is_scarce || left < max_t(u32, m->claim.bytes / 4, r->mem.unit + 1));
}

/**
 * ndp_rcv_lapse() - the sender of a flow is silent: the unused parts of its reservations end, and
 *	the remaining parts are set aside
 * @r: socket
 * @f: flow
 *
 * The next packet of a message that is read in parts always has room. Messages that wait for an
 * earlier one keep their reservations, since they could not grow again without harm to it. So do
 * whole messages.
 */
void ndp_rcv_lapse(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m;
	u64 kept;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS && f->msgs; i++)
		hlist_for_each_entry(m, &f->bucket[i], chain) {
			kept = m->kept + (m->claim.is_window ? r->mem.unit : 0);
			if (m->is_whole || m->claim.is_early)
				continue;
			if (kept < m->claim.bytes)
				ndp_rmem_shrink(&r->mem, &m->claim, m->claim.bytes - (u32)kept);
			ndp_rmem_set_aside(&r->mem, &m->claim, true);
		}
}

/* ---- the end of messages ---- */

/**
 * ndp_rcv_drop() - forget a message; it will not be delivered
 * @r: socket
 * @f: flow
 * @m: its message, for the caller to free; its reservation ends
 */
void ndp_rcv_drop(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m)
{
	ndp_rcv_unlink(r, f, m);
	ndp_rmem_end(&r->mem, &m->claim);
	if (f->newest_id - m->id < NDP_RCV_WINDOW)
		ndp_bits_set(f->gone, m->id);
}

/**
 * ndp_rcv_abort() - the sender gives up a message
 * @r: socket
 * @f: flow
 * @id: msg_id
 *
 * Return: the message, dropped, for the caller to free; NULL: it was not in progress.
 */
struct ndp_rcv_msg *ndp_rcv_abort(struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 id)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(f, id);

	if (m && !m->is_whole) {
		ndp_rcv_drop(r, f, m);
		return m;
	}
	if (!m && !ndp_rcv_is_known(f, id) && id - f->newest_id < NDP_RCV_WINDOW) {
		ndp_rcv_advance_ids(f, id);
		ndp_bits_set(f->gone, id);
		ndp_rcv_move_turn(r, f);
	}
	return NULL;
}

/**
 * ndp_rcv_told_base() - process the oldest message of the sender
 * @r: socket
 * @f: flow
 * @msg_base: the message
 *
 * ndp_rcv_take_over() has to follow.
 */
void ndp_rcv_told_base(struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 msg_base)
{
	if (!ndp_before(f->msg_base, msg_base))
		return;
	f->msg_base = msg_base;
	if (f->msg_base - f->scan_id > NDP_RCV_WINDOW)
		f->scan_id = f->msg_base - NDP_RCV_WINDOW;
	ndp_rcv_move_turn(r, f);
}

/**
 * ndp_rcv_take_over() - take a message that the sender has given up
 * @r: socket
 * @f: flow
 *
 * Return: a message, dropped, for the caller to free, or NULL.
 */
struct ndp_rcv_msg *ndp_rcv_take_over(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m;

	while (ndp_before(f->scan_id, f->msg_base)) {
		m = ndp_rcv_find(f, f->scan_id++);
		if (m && !m->is_whole) {
			ndp_rcv_drop(r, f, m);
			return m;
		}
	}
	return NULL;
}

/**
 * ndp_rcv_take() - take a message that was read in parts to its end
 * @r: socket
 * @f: flow
 * @m: its message, for the caller to free
 */
void ndp_rcv_take(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m)
{
	ndp_rcv_unlink(r, f, m);
}

/**
 * ndp_rcv_take_any() - take a message of a flow that ends, whole messages first, in order
 * @r: socket
 * @f: flow
 *
 * Return: a message for the caller; if it is not whole, it is dropped. NULL: none.
 */
struct ndp_rcv_msg *ndp_rcv_take_any(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m, *best = NULL;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS && f->msgs; i++)
		hlist_for_each_entry(m, &f->bucket[i], chain)
			if (!best || m->is_whole > best->is_whole ||
			    (m->is_whole == best->is_whole && ndp_before(m->id, best->id)))
				best = m;
	if (!best)
		return NULL;
	if (best->is_whole)
		ndp_rcv_unlink(r, f, best);
	else
		ndp_rcv_drop(r, f, best);
	return best;
}

/**
 * ndp_rcv_take_next() - take the next message to be delivered in order
 * @r: socket
 * @f: flow
 *
 * Bound: NDP_RCV_WINDOW ids.
 *
 * Return: a whole message, for the caller, or NULL.
 */
struct ndp_rcv_msg *ndp_rcv_take_next(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	struct ndp_rcv_msg *m;

	if (ndp_before(f->next_id, f->newest_id - NDP_RCV_WINDOW))
		f->next_id = f->newest_id - NDP_RCV_WINDOW;
	while (!ndp_before(f->newest_id, f->next_id)) {
		m = ndp_rcv_find(f, f->next_id);
		if (m && !m->is_whole)
			return NULL;
		if (!m && !ndp_rcv_is_known(f, f->next_id) && !ndp_before(f->next_id, f->msg_base))
			return NULL;
		f->next_id++;
		f->is_blocked &= f->windows > 0;
		if (m) {
			ndp_rcv_unlink(r, f, m);
			return m;
		}
	}
	return NULL;
}
