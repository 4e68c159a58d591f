// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual output queues and their credit at the ingress leaf
 *
 * Plain C without packets, compiled into the module and into its unit test. The caller keeps the
 * packets of each slot in a FIFO, so that a VOQ is never reordered.
 *
 *	            packet               credit and time
 *	  IDLE ---------------> HUNGRY ------------------> READY
 *	   ^                      ^  \                      |  ^
 *	   |                      |   +--> PACED -----------+--+
 *	   |                      +------ sent = granted ---+
 *	   +------------------------ last packet sent ------+
 *
 * READY VOQs send in turn, by deficit round robin: a VOQ whose deficit is positive sends, and the
 * packet's length is subtracted. At 0 and below, it goes to the end of the list and gets a
 * quantum. As in sch_fq, the length of the next packet need not be known.
 *
 * Credit. All numbers are totals since the VOQ exists: bytes queued (Q), granted (G) and sent (S).
 * A VOQ may send while S < G, so it exceeds its credit by less than a packet. A request reports Q,
 * G and S to the egress leaf; a grant reports G. The totals make each message independent: a lost
 * request or grant is made up for by the next one. A VOQ sends a request
 *
 *  - if it has bytes that no request reported, and these are a credit, or G covers all reported
 *    ones;
 *  - if S has grown by a credit since the last request, or by a quarter when the VOQ is empty or
 *    has used its credit, so that the egress leaf can bound the unused credit.
 *
 * Loss. A VOQ that misses credit repeats its request after retry_ns and requires an answer. After
 * VOQ_TRIES requests without an answer the egress leaf has no sch_voq, or is gone: the VOQ opens,
 * that is, sends without credit, and tries again each VOQ_REOPEN_NS. So it waits at most
 * VOQ_TRIES * retry_ns for a peer that does not answer. An egress leaf that has forgotten the VOQ
 * takes G from the request.
 */
#include "voq_core.h"

/* ---- states ---- */

static bool voq_paced_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct voq_queue, paced)->next_ns <
	       rb_entry(b, struct voq_queue, paced)->next_ns;
}

static enum voq_where voq_state(const struct voq_table *t, const struct voq_queue *q, u64 now_ns)
{
	if (!q->packets)
		return VOQ_IDLE;
	if (!q->open && q->sent >= q->granted)
		return VOQ_HUNGRY;
	return t->params.rate_Bps && q->next_ns > now_ns ? VOQ_PACED : VOQ_READY;
}

static void voq_leave(struct voq_table *t, struct voq_queue *q)
{
	if (q->where == VOQ_PACED)
		rb_erase_cached(&q->paced, &t->paced);
	else
		list_del(&q->node);
	t->hungry -= q->where == VOQ_HUNGRY;
}

static void voq_enter(struct voq_table *t, struct voq_queue *q, enum voq_where where)
{
	q->where = where;
	if (where == VOQ_PACED)
		rb_add_cached(&q->paced, &t->paced, voq_paced_less);
	else
		list_add_tail(&q->node, &t->lists[where]);
	t->hungry += where == VOQ_HUNGRY;
}

/* Bring the state of a VOQ up to date. One that stays ready keeps its turn. */
static void voq_place(struct voq_table *t, struct voq_queue *q, u64 now_ns)
{
	enum voq_where where = voq_state(t, q, now_ns);

	if (where == q->where)
		return;
	voq_leave(t, q);
	voq_enter(t, q, where);
}

/* ---- slots ---- */

/**
 * voq_init() - initialise without VOQs
 * @t: table, with parameters and generation
 * @slot: @slots entries
 * @bucket: @buckets entries
 * @buckets: a power of two
 * @slots: number of slots, 1 to VOQ_SLOTS_MAX
 */
void voq_init(struct voq_table *t, struct voq_queue *slot, u32 *bucket, u32 buckets, u32 slots)
{
	t->slot = slot;
	t->bucket = bucket;
	t->mask = buckets - 1;
	t->slots = slots;
	voq_reset(t);
}

/**
 * voq_reset() - forget all VOQs and their packets
 * @t: table
 *
 * The generation stays, so that answers to older VOQs are ignored.
 */
void voq_reset(struct voq_table *t)
{
	u32 i;

	for (i = 0; i <= t->mask; i++)
		t->bucket[i] = VOQ_NO_SLOT;
	for (i = 0; i < VOQ_LISTS; i++)
		INIT_LIST_HEAD(&t->lists[i]);
	INIT_LIST_HEAD(&t->due);
	INIT_LIST_HEAD(&t->waits);
	t->paced = RB_ROOT_CACHED;
	for (i = 0; i < t->slots; i++) {
		t->slot[i] = (struct voq_queue) { .where = VOQ_FREE };
		list_add_tail(&t->slot[i].node, &t->lists[VOQ_FREE]);
	}
	t->count = 0;
	t->hungry = 0;
}

static bool voq_key_is(const struct voq_key *a, const struct voq_key *b)
{
	u32 differ = 0, i;

	for (i = 0; i < VOQ_ADDR_LEN; i++)
		differ |= (u32)(a->dst[i] ^ b->dst[i]) | (u32)(a->leaf[i] ^ b->leaf[i]);
	return !differ;
}

/**
 * voq_find() - find a VOQ
 * @t: table
 * @key: identity
 * @hash: keyed hash of @key
 *
 * Return: the slot, or VOQ_NO_SLOT.
 */
u32 voq_find(const struct voq_table *t, const struct voq_key *key, u32 hash)
{
	u32 slot = t->bucket[hash & t->mask];

	while (slot != VOQ_NO_SLOT && !voq_key_is(&t->slot[slot].key, key))
		slot = t->slot[slot].hash_next;
	return slot;
}

static void voq_drop_request(struct voq_queue *q)
{
	if (q->due)
		list_del(&q->due_node);
	q->due = false;
}

static void voq_stop_waiting(struct voq_queue *q)
{
	if (q->waits)
		list_del(&q->wait);
	q->waits = false;
}

/* Wait for an answer, from now on. */
static void voq_wait(struct voq_table *t, struct voq_queue *q, u64 now_ns)
{
	voq_stop_waiting(q);
	q->waits = true;
	q->wait_ns = now_ns;
	list_add_tail(&q->wait, &t->waits);
}

/* Take a VOQ without packets out of its slot. */
static void voq_forget(struct voq_table *t, u32 slot)
{
	struct voq_queue *q = &t->slot[slot];
	u32 *at = &t->bucket[q->hash & t->mask];

	while (*at != slot)
		at = &t->slot[*at].hash_next;
	*at = q->hash_next;
	voq_drop_request(q);
	voq_stop_waiting(q);
	q->used = false;
	t->count--;
	voq_leave(t, q);
	voq_enter(t, q, VOQ_FREE);
}

/* Return: a slot without a VOQ, or NULL if all have packets */
static struct voq_queue *voq_free_slot(struct voq_table *t)
{
	if (list_empty(&t->lists[VOQ_FREE]) && !list_empty(&t->lists[VOQ_IDLE]))
		voq_forget(t, list_first_entry(&t->lists[VOQ_IDLE], struct voq_queue, node) -
			      t->slot);
	return list_first_entry_or_null(&t->lists[VOQ_FREE], struct voq_queue, node);
}

/**
 * voq_claim() - create a VOQ
 * @t: table, which does not have it
 * @key: identity
 * @hash: keyed hash of @key
 * @gated: it needs credit; false: it sends without, forever
 *
 * Return: the slot, or VOQ_NO_SLOT if all slots have packets.
 */
u32 voq_claim(struct voq_table *t, const struct voq_key *key, u32 hash, bool gated)
{
	struct voq_queue *q = voq_free_slot(t);
	u32 slot;

	if (!q)
		return VOQ_NO_SLOT;
	slot = q - t->slot;
	voq_leave(t, q);
	*q = (struct voq_queue) {
		.key = *key, .hash = hash, .hash_next = t->bucket[hash & t->mask],
		.cookie = (u32)t->generation++ << VOQ_SLOT_BITS | slot,
		.used = true, .open = !gated, .open_ns = U64_MAX,
	};
	t->bucket[hash & t->mask] = slot;
	t->count++;
	voq_enter(t, q, VOQ_IDLE);
	return slot;
}

/* ---- requests ---- */

/* Are there changes that the egress leaf has to know? */
static bool voq_has_news(const struct voq_table *t, const struct voq_queue *q)
{
	u64 queued = q->queued - q->told_queued, sent = q->sent - q->told_sent;

	if (queued && (queued >= t->params.credit || q->told_queued <= q->granted))
		return true;
	return sent >= t->params.credit ||
	       ((!q->packets || q->sent >= q->granted) && sent >= t->params.credit / 4);
}

static void voq_mark_due(struct voq_table *t, struct voq_queue *q)
{
	if (q->due)
		return;
	q->due = true;
	list_add_tail(&q->due_node, &t->due);
}

/* Is a request due: with news, or open for long enough? */
static void voq_consider(struct voq_table *t, struct voq_queue *q, u64 now_ns)
{
	if (q->open) {
		if (now_ns >= q->open_ns && !q->waits)
			voq_mark_due(t, q);
	} else if (voq_has_news(t, q)) {
		voq_mark_due(t, q);
	}
}

static void voq_open(struct voq_table *t, struct voq_queue *q, u64 now_ns)
{
	t->stats.opened += !q->open;
	q->open = true;
	q->open_ns = now_ns + VOQ_REOPEN_NS;
	q->tries = 0;
	voq_drop_request(q);
	voq_stop_waiting(q);
	voq_place(t, q, now_ns);
}

static void voq_tell(struct voq_table *t, struct voq_queue *q, u64 now_ns, struct voq_msg *m)
{
	if (q->open)
		q->granted = q->sent;
	*m = (struct voq_msg) {
		.op = VOQ_REQUEST, .retry = q->tries > 0, .cookie = q->cookie,
		.queued = q->queued, .granted = q->granted < q->queued ? q->granted : q->queued,
		.sent = q->sent,
	};
	q->told_queued = q->queued;
	q->told_sent = q->sent;
	voq_drop_request(q);
	t->stats.requests++;
	if (!q->waits && (q->open || q->queued > q->granted))
		voq_wait(t, q, now_ns);
}

/* Repeat requests that got no answer. Bounded by the number of slots. */
static void voq_repeat(struct voq_table *t, u64 now_ns)
{
	struct voq_queue *q;

	while (!list_empty(&t->waits)) {
		q = list_first_entry(&t->waits, struct voq_queue, wait);
		if (now_ns < q->wait_ns + t->params.retry_ns)
			break;
		if (++q->tries == VOQ_TRIES) {
			voq_open(t, q, now_ns);
			continue;
		}
		t->stats.retries++;
		voq_wait(t, q, now_ns);
		voq_mark_due(t, q);
	}
}

/**
 * voq_request() - get the next request that is due
 * @t: table
 * @now_ns: present time
 * @m: result, without @id and @dst
 *
 * VOQs may open: the caller has to look for one that may send.
 *
 * Return: the slot, or VOQ_NO_SLOT if no request is due.
 */
u32 voq_request(struct voq_table *t, u64 now_ns, struct voq_msg *m)
{
	struct voq_queue *q;

	voq_repeat(t, now_ns);
	q = list_first_entry_or_null(&t->due, struct voq_queue, due_node);
	if (!q)
		return VOQ_NO_SLOT;
	voq_tell(t, q, now_ns, m);
	return q - t->slot;
}

/**
 * voq_request_ns() - get the time at which the next request is due
 * @t: table
 *
 * Return: the time, 0 for now, U64_MAX for never.
 */
u64 voq_request_ns(const struct voq_table *t)
{
	if (!list_empty(&t->due))
		return 0;
	if (list_empty(&t->waits))
		return U64_MAX;
	return list_first_entry(&t->waits, struct voq_queue, wait)->wait_ns + t->params.retry_ns;
}

/* ---- answers ---- */

/* Return: the VOQ of an answer that its egress leaf sent, or NULL */
static struct voq_queue *voq_of_answer(struct voq_table *t, const u8 *from,
				       const struct voq_msg *m)
{
	u32 slot = m->cookie & (VOQ_SLOTS_MAX - 1), differ = 0, i;
	struct voq_queue *q;

	if (slot >= t->slots)
		return NULL;
	q = &t->slot[slot];
	if (!q->used || q->cookie != m->cookie)
		return NULL;
	for (i = 0; i < VOQ_ADDR_LEN; i++)
		differ |= (u32)(q->key.leaf[i] ^ from[i]);
	return differ || (q->open && q->open_ns == U64_MAX) ? NULL : q;
}

/* Take credit. No honest grant exceeds the demand of the last request. */
static bool voq_take_grant(struct voq_table *t, struct voq_queue *q, u64 granted)
{
	if (granted > q->told_queued)
		return false;
	if (granted > q->granted) {
		t->stats.granted_bytes += granted - q->granted;
		q->granted = granted;
	}
	/* what it has sent since the request took no credit, and must not exceed it */
	if (q->open)
		q->granted = max_t(u64, q->granted, q->sent);
	q->open = false;
	q->open_ns = U64_MAX;
	t->stats.grants++;
	return true;
}

/**
 * voq_answer() - take a grant or refusal
 * @t: table
 * @from: address of its sender
 * @m: the message, of this qdisc
 * @now_ns: present time
 *
 * Return: false if it is ignored: the VOQ is gone, the sender is not its egress leaf, or no
 * request covers so much.
 */
bool voq_answer(struct voq_table *t, const u8 *from, const struct voq_msg *m, u64 now_ns)
{
	struct voq_queue *q = voq_of_answer(t, from, m);

	if (!q || (m->op == VOQ_GRANT && !voq_take_grant(t, q, m->granted))) {
		t->stats.ignored++;
		return false;
	}
	q->tries = 0;
	if (m->op == VOQ_REFUSE) {
		t->stats.refused++;
		voq_open(t, q, now_ns);
		return true;
	}
	if (q->waits && q->granted < q->told_queued)
		voq_wait(t, q, now_ns);
	else
		voq_stop_waiting(q);
	voq_place(t, q, now_ns);
	voq_consider(t, q, now_ns);
	return true;
}

/* ---- packets ---- */

/**
 * voq_queued() - note that a packet was put into a VOQ
 * @t: table
 * @slot: the VOQ
 * @len: bytes of the packet
 * @now_ns: present time
 */
void voq_queued(struct voq_table *t, u32 slot, u32 len, u64 now_ns)
{
	struct voq_queue *q = &t->slot[slot];

	q->packets++;
	q->queued += len;
	voq_place(t, q, now_ns);
	voq_consider(t, q, now_ns);
}

/* The time has come for some. Bounded by the number of slots. */
static void voq_release(struct voq_table *t, u64 now_ns)
{
	struct voq_queue *q;
	struct rb_node *first;

	for (first = rb_first_cached(&t->paced); first; first = rb_first_cached(&t->paced)) {
		q = rb_entry(first, struct voq_queue, paced);
		if (q->next_ns > now_ns)
			break;
		voq_place(t, q, now_ns);
	}
}

/**
 * voq_pick() - choose the VOQ that sends next
 * @t: table
 * @now_ns: present time
 *
 * Passes over each ready VOQ at most once for each quantum of its longest packet.
 *
 * Return: the slot, or VOQ_NO_SLOT if no VOQ may send.
 */
u32 voq_pick(struct voq_table *t, u64 now_ns)
{
	struct list_head *ready = &t->lists[VOQ_READY];
	struct voq_queue *q;

	voq_release(t, now_ns);
	while (!list_empty(ready)) {
		q = list_first_entry(ready, struct voq_queue, node);
		if (q->deficit > 0)
			return q - t->slot;
		q->deficit += t->params.quantum;
		list_move_tail(&q->node, ready);
	}
	return VOQ_NO_SLOT;
}

/**
 * voq_sent() - note that a VOQ has sent its first packet
 * @t: table
 * @slot: the VOQ
 * @len: bytes of the packet
 * @now_ns: present time
 */
void voq_sent(struct voq_table *t, u32 slot, u32 len, u64 now_ns)
{
	struct voq_queue *q = &t->slot[slot];
	u64 late_ns = now_ns > VOQ_LATE_NS ? now_ns - VOQ_LATE_NS : 0;

	q->packets--;
	q->sent += len;
	q->deficit -= len;
	if (t->params.rate_Bps)
		q->next_ns = max_t(u64, q->next_ns, late_ns) +
			     div64_u64((u64)(len + t->params.overhead) * NSEC_PER_SEC,
				       t->params.rate_Bps);
	voq_place(t, q, now_ns);
	voq_consider(t, q, now_ns);
}

/**
 * voq_update() - apply changed parameters to all VOQs
 * @t: table, with its new parameters
 * @now_ns: present time
 *
 * VOQs that wait for their time may send a packet at once: their times are of the old rate.
 */
void voq_update(struct voq_table *t, u64 now_ns)
{
	struct voq_queue *q;

	for (q = t->slot; q < t->slot + t->slots; q++) {
		if (!q->used)
			continue;
		voq_leave(t, q);
		q->next_ns = min_t(u64, q->next_ns, now_ns);
		voq_enter(t, q, voq_state(t, q, now_ns));
	}
}
