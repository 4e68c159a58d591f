// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP receiver: pull queue of a device; described in pull.h
 */
#include "pull.h"

/* below line rate, so that pulled packets do not queue up (EQDS) */
#define NDP_PULL_PERCENT	99
/* fixed point of times */
#define NDP_PULL_SHIFT		20
/* limit of a demand, so that serial numbers stay far from half of their range */
#define NDP_PULL_DEMAND_MAX	0x40000000U
/* weight of a packet in the mean length: 1/8 */
#define NDP_PULL_MEAN_SHIFT	3
/* the longest packet is forgotten by 1/256 with each packet */
#define NDP_PULL_LONGEST_SHIFT	8
/* length of the first packet of a flow */
#define NDP_PULL_BYTES_UNKNOWN	1538U
/* short packets in one pull */
#define NDP_PULL_PACKETS_MAX	16U
/* fair: turns by which a flow may be ahead: about an initial window */
#define NDP_PULL_AHEAD		32U
/* IPv4, UDP and NDP headers */
#define NDP_PULL_HEADERS	(20U + 8 + NDP_HLEN)

/* Rate backoff */
#define NDP_SHARE_EPOCH		16U	/* packets */
#define NDP_SHARE_ALL		1024U	/* the line rate */
#define NDP_SHARE_STEP		(NDP_SHARE_ALL / 32)
#define NDP_SHARE_SHIFT		16
#define NDP_SHARE_IDLE_NS	1000000ULL	/* idle time after which the share is reset */

static void ndp_pull_count(u64 *counter, u64 by)
{
	WRITE_ONCE(*counter, *counter + by);
}

/* ---- rate backoff ---- */

static void ndp_share_epoch(struct ndp_pull_share *s, u64 now_ns)
{
	s->since_ns = now_ns;
	s->busy_ns = 0;
	s->arrived = 0;
	s->trimmed = 0;
	s->stretch = (NDP_SHARE_ALL << NDP_SHARE_SHIFT) / s->share;
}

static void ndp_share_reset(struct ndp_pull_share *s, u64 now_ns)
{
	s->share = NDP_SHARE_ALL;
	ndp_share_epoch(s, now_ns);
}

static void ndp_share_adapt(struct ndp_pull_share *s, u64 now_ns)
{
	u64 time = now_ns - s->since_ns;
	u32 share = s->share;

	if (s->busy_ns < time - time / 4 && s->trimmed > s->arrived / 4)
		share -= min_t(u32, share * s->trimmed / s->arrived, share / 2);
	if (s->trimmed <= s->arrived / 8)
		share += share / 4;
	s->share = min_t(u32, share + NDP_SHARE_STEP, NDP_SHARE_ALL);
	ndp_share_epoch(s, now_ns);
}

static void ndp_share_arrived(struct ndp_pull_share *s, bool pulled, bool trimmed, u64 line_ns,
			      u64 now_ns)
{
	s->busy_ns += line_ns;
	if (!pulled)
		return;
	s->arrived++;
	s->trimmed += trimmed;
	if (s->arrived == NDP_SHARE_EPOCH)
		ndp_share_adapt(s, now_ns);
}

static u64 ndp_share_time(const struct ndp_pull_share *s, u64 line_ns)
{
	return line_ns * s->stretch >> NDP_SHARE_SHIFT;
}

/* ---- configuration ---- */

/**
 * ndp_pull_rate() - set the line rate
 * @q: pull queue
 * @rate_Bps: bytes per second; 1000 or more
 */
void ndp_pull_rate(struct ndp_pull *q, u64 rate_Bps)
{
	q->byte_time = div64_u64((1000000000ULL * 100 / NDP_PULL_PERCENT) << NDP_PULL_SHIFT,
				 rate_Bps);
}

/**
 * ndp_pull_init() - initialize an empty queue
 * @q: pull queue
 * @late_ns: delay of a pull that is made up for
 * @now_ns: time
 *
 * ndp_pull_rate() has to follow. The policy is NDP_PULL_FAIR; lengths are not limited by an MTU.
 */
void ndp_pull_init(struct ndp_pull *q, u64 late_ns, u64 now_ns)
{
	u32 prio;

	*q = (struct ndp_pull) {
		.flows = RB_ROOT_CACHED, .next_ns = now_ns, .late_ns = late_ns,
		.len_max = NDP_PAYLOAD_MAX,
	};
	for (prio = 0; prio < NDP_PRIOS; prio++)
		INIT_LIST_HEAD(&q->ages[prio]);
	ndp_share_reset(&q->share, now_ns);
}

/**
 * ndp_pull_mtu() - limit the length that a trimmed packet may claim
 * @q: pull queue
 * @mtu: of the link, bytes of IP
 */
void ndp_pull_mtu(struct ndp_pull *q, u32 mtu)
{
	q->len_max = mtu > NDP_PULL_HEADERS ? min_t(u32, mtu - NDP_PULL_HEADERS, NDP_PAYLOAD_MAX) :
					      1;
}

/* ---- order ---- */

static struct ndp_pull_node *ndp_pull_of(const struct rb_node *rb)
{
	return rb_entry(rb, struct ndp_pull_node, rb);
}

static struct ndp_pull_node *ndp_pull_first(const struct ndp_pull *q)
{
	const struct rb_node *rb = rb_first_cached(&q->flows);

	return rb ? ndp_pull_of(rb) : NULL;
}

/* Is the next turn that of the flow that has waited longest? */
static bool ndp_pull_is_oldest(const struct ndp_pull *q)
{
	return q->policy == NDP_PULL_SRPT && q->turns % NDP_PULL_OLDEST == NDP_PULL_OLDEST - 1;
}

/* The flow that is pulled next */
static struct ndp_pull_node *ndp_pull_turn(struct ndp_pull *q)
{
	struct ndp_pull_node *n = ndp_pull_first(q);

	if (!n || !ndp_pull_is_oldest(q))
		return n;
	return list_first_entry_or_null(&q->ages[n->prio], struct ndp_pull_node, age) ?: n;
}

static bool ndp_pull_goes_first(struct rb_node *rb, const struct rb_node *than)
{
	const struct ndp_pull_node *a = ndp_pull_of(rb), *b = ndp_pull_of(than);

	if (a->prio != b->prio)
		return a->prio > b->prio;
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* Packets that a flow received before, or by another device, do not count. */
static void ndp_pull_clamp(const struct ndp_pull *q, struct ndp_pull_node *n)
{
	u64 round = q->round[n->prio];

	if (n->round < round || n->round - round >= NDP_PULL_AHEAD)
		n->round = round;
}

/* An unverified flow has one pull in order, with which its sender learns the token. */
static bool ndp_pull_is_last(const struct ndp_pull_node *n)
{
	return n->unverified && n->granted;
}

static u64 ndp_pull_key(const struct ndp_pull *q, struct ndp_pull_node *n)
{
	u64 demand = (u64)ndp_pull_wanted(n) * n->bytes;

	switch (q->policy) {
	case NDP_PULL_FAIR:
		ndp_pull_clamp(q, n);
		return n->round;
	case NDP_PULL_SRPT:
		if (n->full || ndp_pull_is_last(n))
			return U64_MAX;
		return max_t(u64, demand, n->more);
	default:
		return 0;
	}
}

static void ndp_pull_insert(struct ndp_pull *q, struct ndp_pull_node *n)
{
	n->key = ndp_pull_key(q, n);
	rb_add_cached(&n->rb, &q->flows, ndp_pull_goes_first);
}

static void ndp_pull_erase(struct ndp_pull *q, struct ndp_pull_node *n)
{
	rb_erase_cached(&n->rb, &q->flows);
}

static void ndp_pull_move(struct ndp_pull *q, struct ndp_pull_node *n)
{
	ndp_pull_erase(q, n);
	ndp_pull_insert(q, n);
}

/* The link was idle: the next pull is due at @next_ns. */
static void ndp_pull_idle(struct ndp_pull *q, u64 next_ns)
{
	q->next_ns = next_ns;
	q->flowing = false;
	q->displaced = 0;
}

static void ndp_pull_enqueue(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	/* what an idle link could have carried is lost */
	if (!q->queued && q->next_ns < now_ns) {
		if (now_ns - q->next_ns >= NDP_SHARE_IDLE_NS)
			ndp_share_reset(&q->share, now_ns);
		ndp_pull_idle(q, now_ns);
	}
	q->queued++;
	n->queued = true;
	if (!n->keeps)
		n->tie = q->arrivals++;
	n->keeps = false;
	if (n->unverified)
		INIT_LIST_HEAD(&n->age);
	else
		list_add_tail(&n->age, &q->ages[n->prio]);
	ndp_pull_insert(q, n);
}

static void ndp_pull_dequeue(struct ndp_pull *q, struct ndp_pull_node *n)
{
	q->queued--;
	n->queued = false;
	list_del(&n->age);
	ndp_pull_erase(q, n);
}

/**
 * ndp_pull_policy() - change the order
 * @q: pull queue
 * @policy: order; if flows are queued, it changes later
 */
void ndp_pull_policy(struct ndp_pull *q, enum ndp_pull_policy policy)
{
	if (!q->queued)
		q->policy = (u8)policy;
}

static bool ndp_pull_is_ready(const struct ndp_pull_node *n)
{
	return n->allowed && n->target != n->granted &&
	       (s32)(n->granted - n->seen) < (s32)n->allowed;
}

/**
 * ndp_pull_update() - put a flow where it belongs after a change
 * @q: pull queue
 * @n: flow
 * @now_ns: time
 */
void ndp_pull_update(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	bool ready = ndp_pull_is_ready(n);

	if (ready && !n->queued) {
		ndp_pull_enqueue(q, n, now_ns);
	} else if (!ready && n->queued) {
		/* a sender may have no demand for a moment though its message continues */
		n->keeps = q->policy == NDP_PULL_FIFO && n->more;
		ndp_pull_dequeue(q, n);
	} else if (ready && q->policy == NDP_PULL_SRPT) {
		ndp_pull_move(q, n);
	}
}

/**
 * ndp_pull_allow() - limit the pulls of a flow that is silent or unverified
 * @n: flow; ndp_pull_update() has to follow
 * @pulls: packets; 0: the flow is not pulled
 */
void ndp_pull_allow(struct ndp_pull_node *n, u32 pulls)
{
	n->allowed = pulls;
}

/**
 * ndp_pull_whole() - a packet with new data arrived whole: an unverified flow may get another pull
 * @n: flow; ndp_pull_arrived() has to follow
 */
void ndp_pull_whole(struct ndp_pull_node *n)
{
	if (n->unverified)
		n->seen++;
}

/* ---- arrivals ---- */

/* Fair: a packet that was not pulled arrived whole. It was a turn. */
static void ndp_pull_unasked(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	u64 *round = &q->round[n->prio], *begin = &q->begin[n->prio], most;

	if (!q->queued && q->next_ns + q->late_ns < now_ns)
		*begin = *round;
	most = *round - *begin + NDP_PULL_AHEAD - 1;
	if (n->round < *begin || n->round - *begin > most)
		n->round = *begin;
	if (n->round - *begin < most)
		n->round++;
	if (n->queued)
		ndp_pull_move(q, n);
}

static void ndp_pull_demand(struct ndp_pull *q, struct ndp_pull_node *n, u32 target)
{
	if (!ndp_before(n->target, target))
		return;
	if (target - n->granted > NDP_PULL_DEMAND_MAX) {
		ndp_pull_count(&q->stats.cut, 1);
		target = n->granted + NDP_PULL_DEMAND_MAX;
	}
	n->target = target;
}

static void ndp_pull_prio(struct ndp_pull *q, struct ndp_pull_node *n, u8 prio)
{
	if (n->prio == prio)
		return;
	if (n->queued)
		ndp_pull_dequeue(q, n);
	n->keeps = false;
	n->prio = prio;
}

static void ndp_pull_lengths_add(struct ndp_pull_lengths *l, u32 len)
{
	if (l->count < NDP_PULL_LENGTHS)
		l->len[(l->first + l->count++) % NDP_PULL_LENGTHS] = (u16)len;
}

/* There is one. */
static u32 ndp_pull_lengths_take(struct ndp_pull_lengths *l)
{
	u32 len = l->len[l->first];

	l->first = (l->first + 1) % NDP_PULL_LENGTHS;
	l->count--;
	return len;
}

static bool ndp_pull_is_end(const struct ndp_hdr *h)
{
	return !h->is_short && h->data.offset && ndp_is_tail(h);
}

/*
 * Update the mean length. If the first packet is the end of a message, which may be short, it
 * starts from the longest packet of late.
 */
static void ndp_pull_size(struct ndp_pull *q, struct ndp_pull_node *n, const struct ndp_hdr *h,
			  u32 len)
{
	u32 bytes = len + NDP_PULL_OVERHEAD;

	q->longest -= q->longest >> NDP_PULL_LONGEST_SHIFT;
	q->longest = max_t(u32, q->longest, bytes);
	if (!n->bytes)
		n->bytes = ndp_pull_is_end(h) ? q->longest : bytes;
	/* division rounds towards the mean from both sides */
	n->bytes += (u32)((s32)(bytes - n->bytes) / (1 << NDP_PULL_MEAN_SHIFT));
}

static u64 ndp_pull_line_ns(const struct ndp_pull *q, u32 bytes)
{
	return q->byte_time * bytes >> NDP_PULL_SHIFT;
}

/*
 * A pulled packet arrived. The sender may have sent another packet, but the sum is right. A trimmed
 * one did not take the link for its length. Return: length for which the packet was pulled
 */
static u32 ndp_pull_correct(struct ndp_pull *q, struct ndp_pull_node *n, u32 len, bool nacked)
{
	u32 asked;
	u64 time;

	if (!n->due.count)
		return n->bytes - NDP_PULL_OVERHEAD;
	asked = ndp_pull_lengths_take(&n->due);
	if (nacked)
		return asked;
	time = ndp_share_time(&q->share,
			      ndp_pull_line_ns(q, len > asked ? len - asked : asked - len));
	if (len > asked)
		q->next_ns += time;
	else
		q->next_ns -= min_t(u64, q->next_ns, time);
	return asked;
}

/*
 * Senders also push packets: returned ones, and after a timeout. A pulled packet has the token, so
 * without it, a packet is pushed or forged.
 */
static bool ndp_pull_was_asked(struct ndp_pull_node *n, const struct ndp_hdr *h)
{
	if (h->flags & NDP_DATA_SPEC || n->unverified || n->answered == n->granted)
		return false;
	n->answered++;
	return true;
}

/* Is the link full of packets that were pulled, so that others displace them? */
static bool ndp_pull_is_full(const struct ndp_pull *q)
{
	return q->queued && q->flowing && q->share.share == NDP_SHARE_ALL;
}

/*
 * Let an unpulled packet delay the next pull, or a pulled one that was displaced give time back.
 * A sender may claim any length of a trimmed packet, so @line_ns is of the bytes that arrived, and
 * @len is at most what was pulled.
 */
static void ndp_pull_displace(struct ndp_pull *q, u64 line_ns, u32 len, bool asked, bool nacked)
{
	q->flowing |= asked;
	if (!asked && !nacked && q->delays && ndp_pull_is_full(q)) {
		q->next_ns += line_ns;
		q->delays--;
		q->displaced = (u8)min_t(u32, q->displaced + 1U, NDP_PULL_DELAYS);
	} else if (asked && nacked && q->displaced) {
		q->next_ns -= min_t(u64, q->next_ns,
				    ndp_pull_line_ns(q, len + NDP_PULL_OVERHEAD));
		q->displaced--;
	}
}

static void ndp_pull_data(struct ndp_pull *q, struct ndp_pull_node *n, const struct ndp_hdr *h,
			  u8 more, bool nacked, u64 now_ns)
{
	u32 len = max_t(u32, min_t(u32, h->payload_len + more, q->len_max), h->here + more);
	u64 line_ns = ndp_pull_line_ns(q, h->here + more + NDP_PULL_OVERHEAD);
	u32 pulled = 0;
	bool asked;

	ndp_pull_size(q, n, h, len);
	asked = ndp_pull_was_asked(n, h);
	ndp_share_arrived(&q->share, asked, nacked, line_ns, now_ns);
	if (!(h->flags & NDP_DATA_SPEC))
		pulled = ndp_pull_correct(q, n, len, nacked);
	ndp_pull_displace(q, line_ns, min_t(u32, len, pulled), asked, nacked);
	if (!asked && !nacked && q->policy == NDP_PULL_FAIR)
		ndp_pull_unasked(q, n, now_ns);
	if (nacked && ndp_pull_wanted(n) < NDP_PULL_DEMAND_MAX) {
		n->target++;
		ndp_pull_lengths_add(&n->nacked, len);
	}
}

/**
 * ndp_pull_arrived() - DATA or PROBE of a flow arrived
 * @q: pull queue
 * @n: flow
 * @h: header
 * @more: bytes on the link beyond payload and NDP_PULL_OVERHEAD
 * @nacked: it is NACKed
 * @now_ns: time
 */
void ndp_pull_arrived(struct ndp_pull *q, struct ndp_pull_node *n, const struct ndp_hdr *h,
		      u8 more, bool nacked, u64 now_ns)
{
	if (!n->unverified)
		n->seen = n->granted;
	if (!h->is_short) {
		if (h->type == NDP_DATA && !(h->flags & NDP_DATA_RTX))
			n->more = h->data.msg_len - h->data.offset - h->payload_len;
		ndp_pull_demand(q, n, h->data.pull_target);
		ndp_pull_prio(q, n, ndp_pull_is_last(n) ? 0 : h->data.prio);
	}
	if (h->payload_len)
		ndp_pull_data(q, n, h, more, nacked, now_ns);
	ndp_pull_update(q, n, now_ns);
}

/**
 * ndp_pull_flush() - drop the demand of a flow: everything has arrived, or the flow ends
 * @q: pull queue
 * @n: flow
 */
void ndp_pull_flush(struct ndp_pull *q, struct ndp_pull_node *n)
{
	u64 round = q->round[n->prio];

	ndp_pull_count(&q->stats.flushed, ndp_pull_wanted(n));
	n->target = n->granted;
	n->answered = n->granted;
	n->nacked.count = 0;
	n->due.count = 0;
	n->more = 0;
	n->keeps = false;
	if (n->queued)
		ndp_pull_dequeue(q, n);
	/* its lead over other flows ends */
	if (n->round > round && n->round - round < NDP_PULL_AHEAD)
		n->round = round + 1;
}

/**
 * ndp_pull_leave() - take a flow out of the queue; its demand remains
 * @q: pull queue
 * @n: flow
 */
void ndp_pull_leave(struct ndp_pull *q, struct ndp_pull_node *n)
{
	if (n->queued)
		ndp_pull_dequeue(q, n);
	n->keeps = false;
	n->round = 0;
}

/* ---- pulls ---- */

static void ndp_pull_spend(struct ndp_pull *q, u32 bytes, u64 now_ns)
{
	u64 time = q->byte_time * bytes + q->frac;

	if (q->next_ns + q->late_ns < now_ns)
		ndp_pull_idle(q, now_ns - q->late_ns);
	q->delays = NDP_PULL_DELAYS;
	q->next_ns += ndp_share_time(&q->share, time >> NDP_PULL_SHIFT);
	q->frac = time & ((1U << NDP_PULL_SHIFT) - 1);
}

/* Expected length of a flow's next packet */
static u32 ndp_pull_expect(struct ndp_pull_node *n)
{
	if (n->nacked.count)
		return ndp_pull_lengths_take(&n->nacked);
	return (n->bytes ? n->bytes : NDP_PULL_BYTES_UNKNOWN) - NDP_PULL_OVERHEAD;
}

/* Pull one quantum of a flow, whose turn it is. */
static void ndp_pull_grant(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	u32 packets = 0, bytes = 0, len;

	do {
		len = ndp_pull_expect(n);
		ndp_pull_lengths_add(&n->due, len);
		bytes += len + NDP_PULL_OVERHEAD;
		WRITE_ONCE(n->granted, n->granted + 1);
	} while (++packets < NDP_PULL_PACKETS_MAX && ndp_pull_is_ready(n) &&
		 bytes + len + NDP_PULL_OVERHEAD <= NDP_PULL_QUANTUM);
	q->turns++;
	if (!list_empty(&n->age))
		list_move_tail(&n->age, &q->ages[n->prio]);
	ndp_pull_count(&q->stats.pulls, packets);
	ndp_pull_spend(q, bytes, now_ns);
	if (q->policy == NDP_PULL_FAIR) {
		q->round[n->prio] = max_t(u64, q->round[n->prio], n->round);
		n->round += packets;
		ndp_pull_move(q, n);
	}
	if (!ndp_pull_is_ready(n) && n->target != n->granted)
		ndp_pull_count(&q->stats.silent, 1);
	if (n->unverified)
		ndp_pull_prio(q, n, 0);
	ndp_pull_update(q, n, now_ns);
}

/**
 * ndp_pull_next_ns() - get the time of the next pull
 * @q: pull queue
 *
 * Return: time, ns; U64_MAX: no flow is queued.
 */
u64 ndp_pull_next_ns(const struct ndp_pull *q)
{
	return q->queued ? q->next_ns : U64_MAX;
}

/**
 * ndp_pull_next() - pull, if it is time
 * @q: pull queue
 * @now_ns: time
 *
 * Return: the flow whose @granted has grown, for a CONTROL to its sender, or NULL.
 */
struct ndp_pull_node *ndp_pull_next(struct ndp_pull *q, u64 now_ns)
{
	struct ndp_pull_node *n;

	if (now_ns < q->next_ns)
		return NULL;
	n = ndp_pull_turn(q);
	if (n)
		ndp_pull_grant(q, n, now_ns);
	return n;
}

/**
 * ndp_pull_at_once() - pull by the answer to a packet
 * @q: pull queue
 * @n: flow, after ndp_pull_arrived()
 * @now_ns: time
 *
 * Only the flow whose turn it is, at most the time of one of its packets early.
 *
 * Return: true if its @granted has grown.
 */
bool ndp_pull_at_once(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	u64 early = q->byte_time * n->bytes >> NDP_PULL_SHIFT;

	if (!n->queued || ndp_pull_turn(q) != n || now_ns + early < q->next_ns)
		return false;
	ndp_pull_count(&q->stats.at_once, 1);
	ndp_pull_grant(q, n, now_ns);
	return true;
}
