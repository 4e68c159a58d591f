// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rate limiters of queue pairs, and their scheduler
 *
 * The reaction point (RP) of sch_roce, without packets: plain C, compiled into the
 * module and into its unit test. The caller holds the packets of each slot in a FIFO,
 * so a queue pair is never reordered.
 *
 *	             first packet              next_ns > now
 *	  IDLE ------------------> READY ------------------> WAITING
 *	   ^                        | ^                         |
 *	   +---- last packet sent --+ +------ next_ns <= now ---+
 *
 * READY queue pairs send in turn, a packet each. After a packet of L bytes, the next
 * one may leave at
 *
 *	next_ns = max(next_ns, now - ROCE_LATE_NS) + L / R_C
 *
 * as in sch_fq, so a late timer costs no rate. A queue pair at the line rate is not
 * paced: like a NIC, it gets a rate limiter with its first CNP. net/lib/dcqcn.c has
 * R_C, the current rate.
 *
 * Queue pairs and other traffic share the line by deficit round robin, as in sch_ndp:
 * while both could send, each gets half of the bytes.
 *
 * Slots. A queue pair without packets keeps its slot and its rate for idle_ns, at
 * least until others need the slot: then the longest idle one goes. It begins anew at
 * the line rate.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion Control for Large-Scale
 * RDMA Deployments", SIGCOMM 2015, section 3.
 *
 * Differences from the paper: a new rate applies from the next packet on, not to the
 * one that already waits for its time.
 */
#include "roce_rp.h"

/* ---- lists ---- */

static void roce_list_del(struct roce_rp *rp, u32 slot)
{
	struct roce_qp *qp = &rp->qp[slot];

	rp->qp[qp->prev].next = qp->next;
	rp->qp[qp->next].prev = qp->prev;
}

static void roce_list_add_tail(struct roce_rp *rp, u32 slot, enum roce_list list)
{
	struct roce_qp *qp = &rp->qp[slot];
	u32 head = rp->slots + list;

	qp->where = list;
	qp->next = head;
	qp->prev = rp->qp[head].prev;
	rp->qp[qp->prev].next = slot;
	rp->qp[head].prev = slot;
}

/* Return: the first slot of a list, or ROCE_NO_SLOT */
static u32 roce_list_first(const struct roce_rp *rp, enum roce_list list)
{
	u32 head = rp->slots + list, first = rp->qp[head].next;

	return first == head ? ROCE_NO_SLOT : first;
}

/* ---- slots ---- */

/**
 * roce_rp_init() - initialise without queue pairs
 * @rp: limiters, with parameters
 * @qp: @slots + ROCE_LISTS entries
 * @bucket: @buckets entries
 * @buckets: a power of two
 * @slots: number of queue pairs, at least 1
 */
void roce_rp_init(struct roce_rp *rp, struct roce_qp *qp, u32 *bucket, u32 buckets, u32 slots)
{
	rp->qp = qp;
	rp->bucket = bucket;
	rp->mask = buckets - 1;
	rp->slots = slots;
	roce_rp_reset(rp);
}

/**
 * roce_rp_reset() - forget all queue pairs and their packets
 * @rp: limiters
 */
void roce_rp_reset(struct roce_rp *rp)
{
	u32 i;

	for (i = 0; i <= rp->mask; i++)
		rp->bucket[i] = ROCE_NO_SLOT;
	rp->waiting = RB_ROOT_CACHED;
	for (i = rp->slots; i < rp->slots + ROCE_LISTS; i++)
		rp->qp[i] = (struct roce_qp) { .prev = i, .next = i };
	for (i = 0; i < rp->slots; i++) {
		rp->qp[i] = (struct roce_qp) {};
		roce_list_add_tail(rp, i, ROCE_FREE);
	}
	rp->count = 0;
	rp->other_ahead_bytes = 0;
}

/* Order of the waiting queue pairs; equal times in the order of their insertion */
static bool roce_qp_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct roce_qp, node)->next_ns <
	       rb_entry(b, struct roce_qp, node)->next_ns;
}

/**
 * roce_rp_set_limits() - change the limits of the rates
 * @rp: limiters
 * @limits: limits
 * @now_ns: present time
 *
 * Queue pairs without a CNP stay at the highest rate. Waiting ones may send a packet at
 * once: its time may be far away at the old rate.
 */
void roce_rp_set_limits(struct roce_rp *rp, const struct dcqcn_limits *limits, u64 now_ns)
{
	struct roce_qp *qp;

	rp->limits = *limits;
	for (qp = rp->qp; qp < rp->qp + rp->slots; qp++) {
		if (!qp->used)
			continue;
		if (!qp->dcqcn.cnp_seen) {
			qp->dcqcn.rate_Bps = limits->max_Bps;
			qp->dcqcn.target_Bps = limits->max_Bps;
		}
		if (qp->where == ROCE_WAITING)
			rb_erase_cached(&qp->node, &rp->waiting);
		qp->next_ns = min_t(u64, qp->next_ns, now_ns);
		if (qp->where == ROCE_WAITING)
			rb_add_cached(&qp->node, &rp->waiting, roce_qp_less);
	}
}

static bool roce_key_is(const struct roce_key *a, const struct roce_key *b)
{
	u32 differ = a->qpn ^ b->qpn, i;

	for (i = 0; i < sizeof(a->src.b); i += 4)
		differ |= (closnet_get32(a->src.b + i) ^ closnet_get32(b->src.b + i)) |
			  (closnet_get32(a->dst.b + i) ^ closnet_get32(b->dst.b + i));
	return !differ;
}

/**
 * roce_rp_find() - find the slot of a queue pair
 * @rp: limiters
 * @key: identity
 * @hash: keyed hash of @key
 *
 * Return: the slot, or ROCE_NO_SLOT.
 */
u32 roce_rp_find(const struct roce_rp *rp, const struct roce_key *key, u32 hash)
{
	u32 slot = rp->bucket[hash & rp->mask];

	while (slot != ROCE_NO_SLOT && !roce_key_is(&rp->qp[slot].key, key))
		slot = rp->qp[slot].hash_next;
	return slot;
}

/* Take a queue pair without packets out of its slot. */
static void roce_rp_forget(struct roce_rp *rp, u32 slot)
{
	struct roce_qp *qp = &rp->qp[slot];
	u32 *at = &rp->bucket[qp->hash & rp->mask];

	while (*at != slot)
		at = &rp->qp[*at].hash_next;
	*at = qp->hash_next;
	qp->used = false;
	rp->count--;
	roce_list_del(rp, slot);
	roce_list_add_tail(rp, slot, ROCE_FREE);
}

/* Forget queue pairs that were idle for too long. */
static void roce_rp_expire(struct roce_rp *rp, u64 now_ns)
{
	u32 slot, n;

	for (n = 0; n < ROCE_EXPIRE_MAX; n++) {
		slot = roce_list_first(rp, ROCE_IDLE);
		if (slot == ROCE_NO_SLOT || now_ns - rp->qp[slot].idle_ns < rp->idle_ns)
			break;
		roce_rp_forget(rp, slot);
	}
}

/* Return: a slot without a queue pair, or ROCE_NO_SLOT if all have packets */
static u32 roce_rp_free_slot(struct roce_rp *rp)
{
	u32 idle;

	if (roce_list_first(rp, ROCE_FREE) == ROCE_NO_SLOT) {
		idle = roce_list_first(rp, ROCE_IDLE);
		if (idle != ROCE_NO_SLOT)
			roce_rp_forget(rp, idle);
	}
	return roce_list_first(rp, ROCE_FREE);
}

/**
 * roce_rp_claim() - give a slot to a queue pair
 * @rp: limiters
 * @key: identity, without a slot
 * @hash: keyed hash of @key
 * @now_ns: present time
 *
 * Return: the slot, whose queue pair is at the line rate; ROCE_NO_SLOT if all have
 * packets.
 */
u32 roce_rp_claim(struct roce_rp *rp, const struct roce_key *key, u32 hash, u64 now_ns)
{
	struct roce_qp *qp;
	u32 slot;

	roce_rp_expire(rp, now_ns);
	slot = roce_rp_free_slot(rp);
	if (slot == ROCE_NO_SLOT)
		return slot;
	qp = &rp->qp[slot];
	roce_list_del(rp, slot);
	*qp = (struct roce_qp) {
		.key = *key,
		.idle_ns = now_ns,
		.hash = hash,
		.hash_next = rp->bucket[hash & rp->mask],
		.used = true,
	};
	rp->bucket[hash & rp->mask] = slot;
	rp->count++;
	dcqcn_start(&qp->dcqcn, &rp->params, &rp->limits, now_ns);
	roce_list_add_tail(rp, slot, ROCE_IDLE);
	return slot;
}

/* ---- packets ---- */

/* The queue pair has packets, and is in no list. */
static void roce_rp_schedule(struct roce_rp *rp, u32 slot, u64 now_ns)
{
	struct roce_qp *qp = &rp->qp[slot];

	if (qp->next_ns <= now_ns) {
		roce_list_add_tail(rp, slot, ROCE_READY);
		return;
	}
	qp->where = ROCE_WAITING;
	rb_add_cached(&qp->node, &rp->waiting, roce_qp_less);
}

/**
 * roce_rp_queued() - count a packet that was appended to a slot's FIFO
 * @rp: limiters
 * @slot: the slot
 * @len: length of the packet, bytes
 * @now_ns: present time
 */
void roce_rp_queued(struct roce_rp *rp, u32 slot, u32 len, u64 now_ns)
{
	struct roce_qp *qp = &rp->qp[slot];

	qp->bytes += len;
	if (qp->packets++)
		return;
	/* The time without packets is not made up for. */
	qp->next_ns = max_t(u64, qp->next_ns, now_ns);
	roce_list_del(rp, slot);
	roce_rp_schedule(rp, slot, now_ns);
}

/**
 * roce_rp_pick() - choose the queue pair that sends next
 * @rp: limiters
 * @now_ns: present time
 *
 * Bounded by the number of slots: each waiting queue pair becomes ready once.
 *
 * Return: its slot; ROCE_NO_SLOT if none may send before roce_rp_next_ns().
 */
u32 roce_rp_pick(struct roce_rp *rp, u64 now_ns)
{
	struct roce_qp *qp;

	while (roce_rp_next_ns(rp) <= now_ns) {
		qp = rb_entry(rb_first_cached(&rp->waiting), struct roce_qp, node);
		rb_erase_cached(&qp->node, &rp->waiting);
		roce_list_add_tail(rp, qp - rp->qp, ROCE_READY);
	}
	return roce_list_first(rp, ROCE_READY);
}

/* Set the departure of the next packet after one of @len bytes. Return: change of the rate */
static enum dcqcn_cause roce_rp_pace(struct roce_rp *rp, struct roce_qp *qp, u32 len, u64 now_ns)
{
	enum dcqcn_cause cause;

	if (!roce_qp_limited(rp, qp))
		return DCQCN_NONE;
	cause = dcqcn_advance(&qp->dcqcn, &rp->params, &rp->limits, now_ns, len);
	qp->next_ns = max_t(u64, qp->next_ns + ROCE_LATE_NS, now_ns) - ROCE_LATE_NS +
		      div64_u64((u64)(len + rp->overhead) * NSEC_PER_SEC, qp->dcqcn.rate_Bps);
	return cause;
}

/**
 * roce_rp_sent() - account for the departure of a slot's first packet
 * @rp: limiters
 * @slot: the slot, from roce_rp_pick()
 * @len: length of the packet, bytes
 * @now_ns: present time
 *
 * Return: kind of the last increase of the rate, DCQCN_NONE if there was none.
 */
enum dcqcn_cause roce_rp_sent(struct roce_rp *rp, u32 slot, u32 len, u64 now_ns)
{
	struct roce_qp *qp = &rp->qp[slot];
	enum dcqcn_cause cause = roce_rp_pace(rp, qp, len, now_ns);

	qp->sent_packets++;
	qp->sent_bytes += len;
	qp->bytes -= len;
	qp->idle_ns = now_ns;
	roce_list_del(rp, slot);
	if (--qp->packets)
		roce_rp_schedule(rp, slot, now_ns);
	else
		roce_list_add_tail(rp, slot, ROCE_IDLE);
	return cause;
}

/**
 * roce_rp_notify() - process a CNP
 * @rp: limiters
 * @slot: slot of the queue pair that it is about
 * @now_ns: time of its arrival
 *
 * Return: true if it has cut the rate; false if it follows another one too soon.
 */
bool roce_rp_notify(struct roce_rp *rp, u32 slot, u64 now_ns)
{
	struct roce_qp *qp = &rp->qp[slot];

	if (!dcqcn_cnp(&qp->dcqcn, &rp->params, &rp->limits, now_ns, true))
		return false;
	qp->cnps++;
	return true;
}

/* ---- other traffic ---- */

/**
 * roce_rp_prefers_other() - choose between a queue pair and other traffic, which waits
 * @rp: limiters
 * @slot: from roce_rp_pick()
 *
 * Return: true if other traffic is to be sent.
 */
bool roce_rp_prefers_other(const struct roce_rp *rp, u32 slot)
{
	return slot == ROCE_NO_SLOT || rp->other_ahead_bytes < 0;
}

/**
 * roce_rp_charge() - charge a packet to its side of the deficit round robin
 * @rp: limiters
 * @other: the packet is other traffic
 * @contended: the other side could have sent as well
 * @len: length of the packet, bytes
 *
 * As ndpq_charge(): a side that sends alone builds up no debt, but works off the debt
 * of the side that does not send.
 */
void roce_rp_charge(struct roce_rp *rp, bool other, bool contended, u32 len)
{
	s64 ahead = other ? rp->other_ahead_bytes : -rp->other_ahead_bytes;

	ahead += len;
	if (!contended)
		ahead = min_t(s64, ahead, 0);
	rp->other_ahead_bytes = other ? ahead : -ahead;
}
