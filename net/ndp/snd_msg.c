// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: messages of a flow: their order, their packets and their end
 *
 * The states are described in snd.h. A message may be longer than the sender's memory: it becomes
 * ready bit by bit, and bytes before @done may be freed. A flow has a scoreboard only while
 * it is busy.
 */
#include <linux/errno.h>
#include "snd.h"

/* messages in progress that are examined, the oldest ones */
#define NDP_SND_SCAN_MAX	64

/**
 * ndp_snd_stats_add() - add counters
 * @sum: result
 * @stats: counters, which change meanwhile
 */
void ndp_snd_stats_add(struct ndp_snd_stats *sum, const struct ndp_snd_stats *stats)
{
	const u64 *in = (const u64 *)stats;
	u64 *out = (u64 *)sum;
	u32 i;

	for (i = 0; i < sizeof(*sum) / sizeof(*out); i++)
		out[i] += READ_ONCE(in[i]);
}

/* ---- order of messages ---- */

static struct ndp_snd_msg *ndp_snd_of(const struct rb_node *rb)
{
	return rb_entry(rb, struct ndp_snd_msg, rb);
}

static struct ndp_snd_msg *ndp_snd_of_fresh(const struct rb_node *rb)
{
	return rb_entry(rb, struct ndp_snd_msg, fresh);
}

/* Does a message begin before another one? In order, priorities have no effect. */
static bool ndp_snd_begins_first(const struct ndp_snd_flow *f, const struct ndp_snd_msg *a,
				 const struct ndp_snd_msg *b)
{
	if (!f->in_order && a->prio != b->prio)
		return a->prio > b->prio;
	return ndp_before(a->arrival, b->arrival);
}

static bool ndp_snd_goes_first(const struct ndp_snd_flow *f, const struct ndp_snd_msg *a,
			       const struct ndp_snd_msg *b)
{
	if (a->prio == b->prio && a->key != b->key)
		return a->key < b->key;
	return ndp_snd_begins_first(f, a, b);
}

static void ndp_snd_insert_fresh(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	struct rb_node **at = &f->fresh.rb_root.rb_node, *parent = NULL;
	bool first = true;

	while (*at) {
		parent = *at;
		if (ndp_snd_begins_first(f, m, ndp_snd_of_fresh(parent))) {
			at = &parent->rb_left;
		} else {
			at = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(&m->fresh, parent, at);
	rb_insert_color_cached(&m->fresh, &f->fresh, first);
}

static void ndp_snd_insert(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	struct rb_node **at = &f->order.rb_root.rb_node, *parent = NULL;
	bool first = true;

	while (*at) {
		parent = *at;
		if (ndp_snd_goes_first(f, m, ndp_snd_of(parent))) {
			at = &parent->rb_left;
		} else {
			at = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(&m->rb, parent, at);
	rb_insert_color_cached(&m->rb, &f->order, first);
	if (list_empty(&m->begun))
		ndp_snd_insert_fresh(f, m);
}

static void ndp_snd_remove(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	rb_erase_cached(&m->rb, &f->order);
	if (list_empty(&m->begun))
		rb_erase_cached(&m->fresh, &f->fresh);
}

/* Is all of a message's next packet present? */
static bool ndp_snd_has_packet(const struct ndp_snd_msg *m)
{
	return m->sent < m->len &&
	       m->ready - m->sent >= min_t(u64, m->payload, m->len - m->sent);
}

/*
 * The message of the next packet, maybe one that has not begun. NULL: no message has a packet.
 * Messages of a priority begin in the order of submission: so a receiver can deliver them in order.
 */
static struct ndp_snd_msg *ndp_snd_head(const struct ndp_snd_flow *f)
{
	const struct rb_node *rb = rb_first_cached(&f->order);
	struct ndp_snd_msg *m;

	/* one packet tests whether a message that was refused is accepted now */
	if (rb && ndp_snd_of(rb) == f->retried && f->retried->pending)
		rb = f->in_order ? NULL : rb_next(rb);
	if (!rb)
		return NULL;
	m = ndp_snd_of(rb);
	if (list_empty(&m->begun))
		return ndp_snd_of_fresh(rb_first_cached(&f->fresh));
	return m;
}

/*
 * May one more message begin? Its id must be less than 1024 after the id of any message that
 * the receiver may not know.
 */
static bool ndp_snd_may_begin(const struct ndp_snd_flow *f)
{
	const struct ndp_snd_msg *m;
	u32 count = 0;

	list_for_each_entry(m, &f->begun, begun) {
		if (f->msg_next - m->id < NDP_SND_MSGS_MAX)
			return true;
		if (!m->acked || f->in_order || ++count == NDP_SND_SCAN_MAX)
			return false;
	}
	return true;
}

/* The oldest message in progress with a packet to send, or NULL. @unsent: and none in the ring */
static struct ndp_snd_msg *ndp_snd_oldest(const struct ndp_snd_flow *f, bool unsent)
{
	struct ndp_snd_msg *m;
	u32 count = 0;

	list_for_each_entry(m, &f->begun, begun) {
		if (ndp_snd_has_packet(m) && !m->is_refused &&
		    !(m->pending && (unsent || m == f->retried)))
			return m;
		if (++count == NDP_SND_SCAN_MAX)
			break;
	}
	return NULL;
}

/**
 * ndp_snd_unsent() - get the oldest message in progress whose first missing packet is a new one
 * @f: flow
 *
 * Return: the message, or NULL.
 */
struct ndp_snd_msg *ndp_snd_unsent(const struct ndp_snd_flow *f)
{
	return ndp_snd_oldest(f, true);
}

/**
 * ndp_snd_first_lost() - get the lost packet that is the first missing one of its message
 * @f: flow
 *
 * Return: its slot; of several, that of the one that was sent longest ago; NDP_RING_NONE: none.
 */
u32 ndp_snd_first_lost(const struct ndp_snd_flow *f)
{
	const struct ndp_snd_pkt *pkt = f->sb.pkt;
	const struct ndp_snd_msg *m;
	u32 slot = NDP_RING_NONE, count = 0;

	list_for_each_entry(m, &f->begun, begun) {
		if (m->oldest != NDP_RING_NONE && pkt[m->oldest].state == NDP_PKT_LOST &&
		    (slot == NDP_RING_NONE || pkt[m->oldest].sent_ns < pkt[slot].sent_ns))
			slot = m->oldest;
		if (++count == NDP_SND_SCAN_MAX)
			break;
	}
	return slot;
}

/**
 * ndp_snd_first() - get the message of the next new packet
 * @f: flow
 *
 * If it is the turn of a message that may not begin, the oldest message in progress is first. It
 * may have been refused, and its turn to begin again would be later. After FULL, the oldest one
 * without a packet in the ring is first.
 *
 * Return: the message; NULL: no message has a packet that may be sent.
 */
struct ndp_snd_msg *ndp_snd_first(const struct ndp_snd_flow *f)
{
	struct ndp_snd_msg *m = f->full ? ndp_snd_unsent(f) : NULL;

	if (m)
		return m;
	m = ndp_snd_head(f);
	if (!m || !list_empty(&m->begun) || ndp_snd_may_begin(f))
		return m;
	return ndp_snd_oldest(f, false);
}

/* Packets that the ready bytes make which were not sent yet */
static u64 ndp_snd_packets(const struct ndp_snd_msg *m)
{
	u64 bytes = m->ready - m->sent;

	if (m->ready == m->len)
		bytes += m->payload - 1;
	return div_u64(bytes, m->payload);
}

/* ---- packets ---- */

/**
 * ndp_snd_cut_len() - get the payload of a message's next packet
 * @m: message
 *
 * Return: bytes.
 */
u16 ndp_snd_cut_len(const struct ndp_snd_msg *m)
{
	return (u16)min_t(u64, m->payload, m->len - m->sent);
}

static void ndp_snd_begin(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	m->id = f->msg_next++;
	rb_erase_cached(&m->fresh, &f->fresh);
	list_add_tail(&m->begun, &f->begun);
	f->msgs_begun++;
}

static void ndp_snd_forget(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (list_empty(&m->begun))
		return;
	list_del_init(&m->begun);
	f->msgs_begun--;
}

/**
 * ndp_snd_cut() - cut the next packet off a message
 * @f: flow with room in its ring
 * @m: its first message
 *
 * Return: the packet, in flight.
 */
struct ndp_snd_pkt *ndp_snd_cut(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	struct ndp_snd_pkt *pkt = ndp_sb_add(&f->sb);
	u16 slot = (u16)(pkt - f->sb.pkt);

	pkt->msg = m;
	pkt->offset = m->sent;
	pkt->len = ndp_snd_cut_len(m);
	if (list_empty(&m->begun))
		ndp_snd_begin(f, m);
	if (m->oldest == NDP_RING_NONE)
		m->oldest = slot;
	else
		f->sb.pkt[m->newest].sibling = slot;
	m->newest = slot;
	m->sent += pkt->len;
	m->pending++;
	f->new_packets--;
	f->sent_bytes += pkt->len;
	if (!ndp_snd_has_packet(m)) {
		ndp_snd_remove(f, m);
		if (m->sent < m->len)
			list_add_tail(&m->node, &f->dry);
	}
	return pkt;
}

/* ---- the end of messages ---- */

static void ndp_snd_tell(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (list_empty(&m->news))
		list_add_tail(&m->news, &f->news);
}

/* A message that began again was accepted, or has ended. */
static void ndp_snd_retried(struct ndp_snd_flow *f, const struct ndp_snd_msg *m)
{
	if (f->retried == m)
		f->retried = NULL;
}

static void ndp_snd_end(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			struct ndp_snd_msg *m, u8 error)
{
	m->ended = true;
	m->error = error;
	ndp_snd_retried(f, m);
	ndp_snd_forget(f, m);
	ndp_snd_tell(f, m);
	ndp_snd_count(error ? &c->stats->msgs_failed : &c->stats->msgs_done, 1);
}

/**
 * ndp_snd_reap() - take a message with news
 * @f: flow
 *
 * Return: a message that has @ended or whose @done has grown, or NULL.
 */
struct ndp_snd_msg *ndp_snd_reap(struct ndp_snd_flow *f)
{
	struct ndp_snd_msg *m = list_first_entry_or_null(&f->news, struct ndp_snd_msg, news);

	if (m)
		list_del_init(&m->news);
	return m;
}

/**
 * ndp_snd_progress() - reset the timeout's backoff
 * @c: call
 * @f: flow
 */
void ndp_snd_progress(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	f->rto_ns = c->p->rto_ns;
	f->quiet_ns = c->now;
	f->probed = false;
}

/**
 * ndp_snd_settle() - drop claims that ended with a change
 * @c: call
 * @f: flow
 *
 * An idle flow expects no pulls. Neither does a flow whose packets up to a LAST are acknowledged:
 * the receiver has discarded its demand. Later data is pushed, as in the paper.
 */
void ndp_snd_settle(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	if (!f->sb.lost.count)
		f->push = false;
	if (!ndp_sb_is_empty(&f->sb))
		return;
	if (f->said_last)
		f->announced = f->pull;
	f->said_last = false;
	if (f->new_packets)
		return;
	ndp_snd_count(&c->stats->pulls_unused, f->credit);
	f->credit = 0;
	f->spec = 0;
	f->announced = f->pull;
	f->overdue = false;
	if (!ndp_snd_is_idle(f))
		return;
	f->probe = false;
	f->known = false;
}

static void ndp_snd_move_done(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	const struct ndp_snd_pkt *pkt = f->sb.pkt;

	while (m->oldest != NDP_RING_NONE && pkt[m->oldest].state == NDP_PKT_DONE)
		m->oldest = pkt[m->oldest].sibling;
	m->done = m->oldest == NDP_RING_NONE ? m->sent : pkt[m->oldest].offset;
	ndp_snd_tell(f, m);
}

/**
 * ndp_snd_pkt_done() - a packet was acknowledged
 * @c: call
 * @f: flow; ndp_sb_advance() has to follow
 * @pkt: the packet
 */
void ndp_snd_pkt_done(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
		      struct ndp_snd_pkt *pkt)
{
	struct ndp_snd_msg *m = pkt->msg;

	if (pkt->state == NDP_PKT_LOST)
		ndp_snd_slow(f, pkt);
	ndp_sb_done(&f->sb, pkt);
	ndp_snd_count(&c->stats->acked_packets, 1);
	m->acked++;
	ndp_snd_retried(f, m);
	if (pkt == &f->sb.pkt[m->oldest])
		ndp_snd_move_done(f, m);
	if (!--m->pending && m->sent == m->len)
		ndp_snd_end(c, f, m, 0);
}

/* Give up all packets of a message, or each packet if @which is NULL. O(ring) */
static void ndp_snd_give_up(struct ndp_snd_flow *f, const struct ndp_snd_msg *which)
{
	struct ndp_scoreboard *sb = &f->sb;
	struct ndp_snd_pkt *pkt;
	u32 seq;

	for (seq = sb->base; seq != sb->next; seq++) {
		pkt = ndp_sb_find(sb, seq);
		if (!pkt || (which && pkt->msg != which))
			continue;
		pkt->msg->pending--;
		ndp_sb_done(sb, pkt);
	}
	ndp_sb_advance(sb);
}

/* Take a message out of the lists of messages with unsent bytes. */
static void ndp_snd_unqueue(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (m->is_refused) {
		list_del(&m->node);
		m->is_refused = false;
	} else if (ndp_snd_has_packet(m)) {
		f->new_packets -= ndp_snd_packets(m);
		ndp_snd_remove(f, m);
	} else if (m->sent < m->len) {
		list_del(&m->node);
	}
}

/**
 * ndp_snd_cancel() - give up a message
 * @c: call
 * @f: flow
 * @m: its message, which has not ended; it ends
 * @error: its error
 *
 * O(ring).
 *
 * Return: true if the receiver may know the message: NDP_CODE_ABORT is to be sent.
 */
bool ndp_snd_cancel(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m,
		    u8 error)
{
	bool known = !list_empty(&m->begun);

	ndp_snd_unqueue(f, m);
	if (m->pending)
		ndp_snd_give_up(f, m);
	ndp_snd_end(c, f, m, error);
	ndp_snd_progress(c, f);
	ndp_snd_settle(c, f);
	return known;
}

/**
 * ndp_snd_fail() - fail a flow and all its messages
 * @c: call
 * @f: flow
 * @error: reason
 *
 * Messages without an acknowledged packet may be submitted to another flow.
 */
void ndp_snd_fail(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u8 error)
{
	struct ndp_snd_msg *m;

	f->error = error;
	if (f->sb.pkt)
		ndp_snd_give_up(f, NULL);
	while ((m = list_first_entry_or_null(&f->dry, struct ndp_snd_msg, node)) ||
	       (m = list_first_entry_or_null(&f->refused, struct ndp_snd_msg, node)) ||
	       (m = ndp_snd_head(f))) {
		ndp_snd_unqueue(f, m);
		ndp_snd_end(c, f, m, error);
	}
	while ((m = list_first_entry_or_null(&f->begun, struct ndp_snd_msg, begun)))
		ndp_snd_end(c, f, m, error);
	ndp_snd_settle(c, f);
}

/* ---- flows ---- */

/**
 * ndp_snd_init() - initialize a flow without messages
 * @f: flow
 * @p: configuration
 * @in_order: messages are sent one by one, in the order of submission
 * @flow_id: random name that the receiver does not know
 * @seq: random serial number of the first packet
 */
void ndp_snd_init(struct ndp_snd_flow *f, const struct ndp_snd_params *p,
		  bool in_order, u32 flow_id, u32 seq)
{
	*f = (struct ndp_snd_flow) {
		.flow_id = flow_id, .window = NDP_RING_MAX, .rto_ns = p->rto_ns,
		.in_order = in_order, .order = RB_ROOT_CACHED, .fresh = RB_ROOT_CACHED,
	};
	INIT_LIST_HEAD(&f->dry);
	INIT_LIST_HEAD(&f->refused);
	INIT_LIST_HEAD(&f->news);
	INIT_LIST_HEAD(&f->begun);
	ndp_sb_init(&f->sb, seq);
}

/**
 * ndp_snd_is_old() - may the receiver have forgotten a flow?
 * @c: call
 * @f: flow
 *
 * Return: true if ndp_snd_renew() is required before ndp_snd_submit().
 */
bool ndp_snd_is_old(const struct ndp_snd_call *c, const struct ndp_snd_flow *f)
{
	return ndp_snd_is_idle(f) && c->now - f->quiet_ns >= c->p->renew_ns;
}

/**
 * ndp_snd_renew() - continue an idle flow under a new name
 * @f: flow
 * @flow_id: new name
 */
void ndp_snd_renew(struct ndp_snd_flow *f, u32 flow_id)
{
	f->window = NDP_RING_MAX;
	f->full_ns = 0;
	f->flow_id = flow_id;
	f->pull = 0;
	f->announced = 0;
	f->trimmed = 0;
	f->token = 0;
}

/* Queue the packets of a message. */
static void ndp_snd_queue(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	f->new_packets += ndp_snd_packets(m);
	ndp_snd_insert(f, m);
}

/* Queue a message that has become longer, or is new. */
static void ndp_snd_queue_more(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			       struct ndp_snd_msg *m)
{
	if (!ndp_snd_has_packet(m)) {
		list_add_tail(&m->node, &f->dry);
		return;
	}
	if (!ndp_snd_is_busy(f)) {
		f->unanswered = false;
		f->stalls = 0;
		ndp_snd_progress(c, f);
	}
	ndp_snd_queue(f, m);
}

static void ndp_snd_reset_msg(struct ndp_snd_msg *m)
{
	m->sent = 0;
	m->done = 0;
	m->pending = 0;
	m->acked = 0;
	m->oldest = NDP_RING_NONE;
	m->is_refused = false;
}

/**
 * ndp_snd_submit() - send a message
 * @c: call
 * @f: flow with a ring
 * @m: message; @len, @ready, @payload and @prio are set
 *
 * ndp_snd_pick() may have an action then.
 *
 * Return: false if the flow has failed or the message is invalid.
 */
bool ndp_snd_submit(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (f->error || !m->len || m->len > NDP_MSG_MAX || m->ready > m->len ||
	    m->prio >= NDP_PRIOS || m->payload < NDP_SND_PAYLOAD_MIN ||
	    m->payload > NDP_PAYLOAD_MAX)
		return false;
	ndp_snd_reset_msg(m);
	m->error = 0;
	m->ended = false;
	INIT_LIST_HEAD(&m->news);
	INIT_LIST_HEAD(&m->begun);
	m->arrival = f->arrivals++;
	m->key = f->in_order ? 0 : f->sent_bytes + m->len;
	ndp_snd_queue_more(c, f, m);
	return true;
}

/**
 * ndp_snd_more() - more of a message is ready
 * @c: call
 * @f: flow with a ring
 * @m: its message
 * @ready: bytes, not less than before
 *
 * Return: false if the message has ended or is shorter.
 */
bool ndp_snd_more(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m,
		  u64 ready)
{
	if (m->ended || ready < m->ready || ready > m->len)
		return false;
	if (m->is_refused || m->ready == m->len) {
		m->ready = ready;
	} else if (ndp_snd_has_packet(m)) {
		f->new_packets -= ndp_snd_packets(m);
		m->ready = ready;
		f->new_packets += ndp_snd_packets(m);
	} else {
		list_del(&m->node);
		m->ready = ready;
		ndp_snd_queue_more(c, f, m);
	}
	return true;
}

/* ---- messages without room at the receiver ---- */

/* The list is in the order of submission; most messages go to its end. */
static void ndp_snd_add_refused(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	struct ndp_snd_msg *before;

	list_for_each_entry_reverse(before, &f->refused, node)
		if (ndp_before(before->arrival, m->arrival))
			break;
	list_add(&m->node, &before->node);
}

/* The first refused message; after a PROBE another one each time. NULL: do not retry now */
static struct ndp_snd_msg *ndp_snd_pick_refused(struct ndp_snd_flow *f, bool probed)
{
	struct ndp_snd_msg *first, *m, *picked;

	first = list_first_entry_or_null(&f->refused, struct ndp_snd_msg, node);
	if (!first || (f->retried && ndp_before(f->retried->arrival, first->arrival)))
		return NULL;
	picked = first;
	if (!probed)
		return picked;
	list_for_each_entry_reverse(m, &f->refused, node)
		if (ndp_before(f->probed_arrival, m->arrival))
			picked = m;
	f->probed_arrival = picked->arrival;
	return picked;
}

/**
 * ndp_snd_refuse() - the receiver has no room for a message
 * @c: call
 * @f: flow
 * @m: message without an acknowledged packet
 *
 * Its packets are given up. It begins again with ndp_snd_retry(), under the same id: so the order
 * of messages is kept, and the receiver recognizes late packets as duplicates.
 */
void ndp_snd_refuse(const struct ndp_snd_call *c, struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	ndp_snd_unqueue(f, m);
	ndp_snd_give_up(f, m);
	ndp_snd_retried(f, m);
	ndp_snd_reset_msg(m);
	m->is_refused = true;
	ndp_snd_add_refused(f, m);
	ndp_snd_count(&c->stats->refused_msgs, 1);
}

/**
 * ndp_snd_rewind() - the receiver has no room for a packet of a message
 * @f: flow
 * @m: message
 *
 * If the ring is full and another message in progress needs a new packet, @m's packets are given
 * up. They are sent again as new ones. O(ring)
 */
void ndp_snd_rewind(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (ndp_sb_room(&f->sb) || !ndp_snd_unsent(f))
		return;
	ndp_snd_unqueue(f, m);
	ndp_snd_give_up(f, m);
	m->sent = m->done;
	m->oldest = NDP_RING_NONE;
	ndp_snd_queue(f, m);
}

/**
 * ndp_snd_retry() - the receiver has room for a refused message
 * @c: call
 * @f: flow
 * @probed: perhaps: the receiver has answered a PROBE
 *
 * The first one begins again with one packet, and the next one when that is accepted. After a
 * PROBE, it may be another one: an ERROR and the acknowledgment of a later packet, with which the
 * receiver accepted the message, may have overtaken each other.
 */
void ndp_snd_retry(const struct ndp_snd_call *c, struct ndp_snd_flow *f, bool probed)
{
	struct ndp_snd_msg *m = ndp_snd_pick_refused(f, probed);

	if (!m)
		return;
	list_del(&m->node);
	m->is_refused = false;
	f->retried = m;
	/* a try is no progress: backoff continues until the message is accepted */
	ndp_snd_queue(f, m);
	if (!probed)
		ndp_snd_progress(c, f);
}
