/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: the pull queue of an interface
 *
 * Plain C, no kernel types; time is an argument. All flows that come in by one
 * interface share one queue, so that what they are asked for together is what the
 * link can take. Per flow there are three serial numbers of packets:
 *
 *	target		wished: what its sender said at most (pull_target), and one
 *			more for each of its packets that was NACKed here since
 *	granted		pulled: what CONTROL says as pull; never more than target
 *	heard		granted, as it was when a packet of the flow last came
 *
 *	             target > granted, granted - heard < ahead, not held
 *	+---------+ -----------------------------------------------------> +--------+
 *	|  idle   |                                                        | queued |
 *	+---------+ <----------------------------------------------------- +--------+
 *	                  granted = target; ahead reached; held; flushed
 *
 * Each pull asks for a packet of so many bytes, which takes the link
 *
 *	t = bytes / (share of ndp_ease.h * 99% of the link's rate)
 *
 * and the next pull is due t after this one was: next = max(next, now - late) + t.
 * A timer that is up to `late` behind is made up for. The answer to a packet whose flow
 * is the next one pulls it, if need be up to a t early: so most pulls need no CONTROL of
 * their own, and what is early is so once, as the next pull is due when it was.
 *
 * Which packet it will be is the sender's choice: mostly first those again that were
 * NACKed, in that order, and of these it is known how long they are; others are taken to
 * be as long as the flow's packets are on average. When a packet comes that was pulled,
 * the next pull is due by as much earlier, or later, as it is shorter, or longer.
 *
 * Higher priorities go first, strictly. Within a priority:
 *	fair	round robin, a pull each; a packet that came unasked was one, too
 *	strict	first come, first served, until it has all it wished
 *	srpt	the least that remains first: what the flow wishes, or, if that is more,
 *		what its newest packet said of its message that was not sent yet
 * So with fair, of flows that begin together, all have the same when the first has all: how
 * many packets of its first window a switch has let through does not matter. A flow
 * has had as many turns as it was pulled, and sent unasked, since the link began to be
 * busy; the least is next. One that comes later takes part from the present round on, and
 * no flow waits for as many as NDP_PULL_ROUNDS of them. The link has begun anew when
 * nobody was to be pulled for so long as a pull may be late.
 *
 *	turns had:   round    + 1      + 2     ...     + NDP_PULL_ROUNDS - 1
 *	          +--------+--------+--------+       +--------+
 *	          | A B C  |  D E   |        |       |   F    |
 *	          +--------+--------+--------+       +--------+
 *	            ^ next
 *
 * Fair and strict take O(1) a pull, srpt O(log flows). A sender wishes little at a time,
 * so that a flow that is served strictly may have no wish for a moment: if its message
 * goes on, it keeps its place.
 *
 * No locks here: the glue has one for the queue and the nodes in it.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, section 3.2.
 *
 * Differences from the paper:
 * - There the queue holds pulls, one for each packet that came. Here it holds
 *   flows, with what each wishes: it is bounded by their number, and lost packets
 *   take no wish with them.
 * - A flow of which nothing comes any more is not pulled without end (ahead).
 * - Packets are not all of one size: a pull takes as long as the packet that it asks for.
 * - With fair, what came unasked counts.
 * - Where the network carries less than the link, pulls are slower (ndp_ease.h).
 * - strict and srpt
 */
#ifndef _NDP_PULL_H
#define _NDP_PULL_H

#include <linux/string.h>
#include "ndp_ease.h"
#include "ndp_heap.h"

/* Below line rate by that much, so that pulled packets do not queue up (EQDS) */
#define NDP_PULL_PERCENT	99
/* A link's bytes to ns, as a fixed-point number */
#define NDP_PULL_SHIFT		20
/* Ethernet, IPv4, UDP and our header, frame check, preamble and gap; of IPv6, lengths have more */
#define NDP_PULL_OVERHEAD	(14U + 20 + 8 + NDP_HLEN + 4 + 20)
/* Nobody wishes more: serial numbers stay far from their half */
#define NDP_PULL_WISH_MAX	0x40000000U
/* The mean of a flow's packets moves by an eighth of the difference, each. */
#define NDP_PULL_BYTES_SHIFT	3
/* What remains of messages, in units of so many bytes: so it fits 32 bits (NDP_MSG_MAX) */
#define NDP_PULL_KEY_SHIFT	8
/* Lengths of packets of a flow that are kept; a power of two */
#define NDP_PULL_LENGTHS	16U
/* The longest packet is forgotten by that much with each that comes. */
#define NDP_PULL_LONGEST_SHIFT	8
/* Taken for a flow's packets until one was seen */
#define NDP_PULL_BYTES_UNKNOWN	1538U

/* Turns by which a flow may be ahead of others: about an initial window; a power of two */
#define NDP_PULL_ROUNDS		32U

/**
 * enum ndp_pull_policy - who is first within a priority
 * @NDP_PULL_FAIR: round robin
 * @NDP_PULL_STRICT: first come, first served, until it has all
 * @NDP_PULL_SRPT: of whom the least remains
 */
enum ndp_pull_policy {
	NDP_PULL_FAIR,
	NDP_PULL_STRICT,
	NDP_PULL_SRPT,
};

/**
 * struct ndp_pull_lengths - of packets, without NDP_PULL_OVERHEAD; first in first out
 * @len: a ring
 * @first: the oldest
 * @count: how many; of more than fit, nothing is known
 */
struct ndp_pull_lengths {
	u16 len[NDP_PULL_LENGTHS];
	u8 first;
	u8 count;
};

/**
 * struct ndp_pull_node - a flow, as the pull queue sees it; zeros at first
 * @next: in the ring of its priority; NULL: in none
 * @prev: the same
 * @target: packets wished since the flow began, modulo 2^32
 * @granted: packets pulled, modulo 2^32
 * @heard: @granted when something came last
 * @answered: of @granted, packets that have come
 * @more: bytes of the message of its newest packet that were not sent yet
 * @turn: strict: which flow it was to be queued
 * @round: fair: turns that it had, as struct ndp_pull_ring counts them
 * @id: srpt: its own, below the queue's capacity
 * @bytes: that a packet of it takes on the link, on average; 0: none was seen
 * @nacked: packets that were NACKed, and not pulled since
 * @asked: what pulls asked for, and has not come since
 * @prio: 0..7; 7 is served first
 * @queued: to be pulled
 * @keeps: its turn, although it is not queued now
 * @held: its receiver has no room
 */
struct ndp_pull_node {
	struct ndp_pull_node *next;
	struct ndp_pull_node *prev;
	u64 more;
	u32 target;
	u32 granted;
	u32 heard;
	u32 answered;
	u32 turn;
	u32 round;
	u32 id;
	u32 bytes;
	struct ndp_pull_lengths nacked;
	struct ndp_pull_lengths asked;
	u8 prio;
	bool queued;
	bool keeps;
	bool held;
};

/**
 * struct ndp_pull_params - what is set
 * @rate_Bps: the link's, bytes a second; 1000 or more
 * @late_ns: how late a pull may be, and the next be none the later
 * @ahead: pulls of a flow of which nothing came since; 1 or more
 * @policy: enum ndp_pull_policy
 */
struct ndp_pull_params {
	u64 rate_Bps;
	u32 late_ns;
	u32 ahead;
	u8 policy;
};

/**
 * struct ndp_pull_stats - counters; read without a lock
 * @pulls: packets pulled
 * @at_once: of these, in the answer to a packet
 * @flushed: packets wished, and not pulled because all had come
 * @silent: times that a flow was pulled no more because nothing came
 * @cut: wishes above NDP_PULL_WISH_MAX
 */
struct ndp_pull_stats {
	u64 pulls;
	u64 at_once;
	u64 flushed;
	u64 silent;
	u64 cut;
};

/**
 * struct ndp_pull_ring - flows of a priority that are to be pulled; fair and strict
 * @first: rings of flows; fair: by their turns modulo NDP_PULL_ROUNDS; strict: one ring
 * @some: in which of them there is any, a bit each
 * @round: turns that each had at least who waited, modulo 2^32
 * @since: rounds since the link began to be busy; NDP_PULL_ROUNDS - 1: or more
 */
struct ndp_pull_ring {
	struct ndp_pull_node *first[NDP_PULL_ROUNDS];
	u32 some;
	u32 round;
	u32 since;
};

/**
 * struct ndp_pull - a pull queue: ndp_pull_init()
 * @ease: at which share of the link's rate is pulled
 * @ring: flows by priority; fair and strict
 * @heap: flows; srpt
 * @by_id: srpt: flows
 * @next_ns: when the next pull is due
 * @frac: of a ns, below 2^NDP_PULL_SHIFT
 * @byte_time: ns a byte, times 2^NDP_PULL_SHIFT
 * @late_ns: as in struct ndp_pull_params
 * @ahead: as in struct ndp_pull_params
 * @queued: flows
 * @longest: bytes that the longest packet of all flows took on the link of late
 * @arrivals: flows that were queued, modulo 2^32
 * @policy: as in struct ndp_pull_params
 * @stats: counters
 */
struct ndp_pull {
	struct ndp_ease ease;
	struct ndp_pull_ring ring[NDP_PRIOS];
	struct ndp_heap heap;
	struct ndp_pull_node **by_id;
	u64 next_ns;
	u64 frac;
	u64 byte_time;
	u32 late_ns;
	u32 ahead;
	u32 queued;
	u32 longest;
	u32 arrivals;
	u8 policy;
	struct ndp_pull_stats stats;
};

static inline void ndp_pull_count(u64 *counter, u64 by)
{
	WRITE_ONCE(*counter, *counter + by);
}

/**
 * ndp_pull_rate() - the link's rate has changed
 * @q: pull queue
 * @rate_Bps: bytes a second; 1000 or more
 *
 * The only division; no packet does it.
 */
static inline void ndp_pull_rate(struct ndp_pull *q, u64 rate_Bps)
{
	q->byte_time = div64_u64((1000000000ULL * 100 / NDP_PULL_PERCENT) << NDP_PULL_SHIFT,
				 rate_Bps);
}

/**
 * ndp_pull_init() - an empty queue
 * @q: pull queue
 * @p: parameters
 * @now_ns: the time
 */
static inline void ndp_pull_init(struct ndp_pull *q, const struct ndp_pull_params *p,
				 u64 now_ns)
{
	memset(q, 0, sizeof(*q));
	q->next_ns = now_ns;
	q->late_ns = p->late_ns;
	q->ahead = p->ahead;
	q->policy = p->policy;
	ndp_pull_rate(q, p->rate_Bps);
	ndp_ease_init(&q->ease, now_ns);
}

/**
 * ndp_pull_init_srpt() - room for the flows of a queue whose policy is srpt
 * @q: pull queue, of ndp_pull_init()
 * @by_id: room for all flows
 * @node: as many, for the heap
 * @place: as many, for the heap
 * @count: how many; ids of nodes are below
 */
static inline void ndp_pull_init_srpt(struct ndp_pull *q, struct ndp_pull_node **by_id,
				      struct ndp_heap_node *node, u32 *place, u32 count)
{
	q->by_id = by_id;
	ndp_heap_init(&q->heap, node, place, count);
}

/* ---- the order */

/* Where a flow waits */
static inline u32 ndp_pull_slot(const struct ndp_pull *q, const struct ndp_pull_node *n)
{
	return q->policy == NDP_PULL_FAIR ? n->round % NDP_PULL_ROUNDS : 0;
}

/* Behind the one whose turn was before its own; of fair it is the last */
static inline void ndp_pull_ring_insert(struct ndp_pull_node **first, struct ndp_pull_node *n)
{
	struct ndp_pull_node *at = *first;

	if (!at) {
		n->next = n;
		n->prev = n;
		*first = n;
		return;
	}
	if (n->keeps) {
		do {
			if (ndp_before(n->turn, at->turn))
				break;
			at = at->next;
		} while (at != *first);
		if (at == *first && ndp_before(n->turn, at->turn))
			*first = n;
	}
	n->next = at;
	n->prev = at->prev;
	n->prev->next = n;
	n->next->prev = n;
}

static inline void ndp_pull_ring_add(struct ndp_pull *q, struct ndp_pull_node *n)
{
	struct ndp_pull_ring *r = &q->ring[n->prio];
	u32 slot;

	/* what it had before, or in another ring, does not count */
	if (n->round - r->round >= NDP_PULL_ROUNDS)
		n->round = r->round;
	slot = ndp_pull_slot(q, n);
	ndp_pull_ring_insert(&r->first[slot], n);
	r->some |= 1U << slot;
}

static inline void ndp_pull_ring_del(struct ndp_pull *q, struct ndp_pull_node *n)
{
	struct ndp_pull_ring *r = &q->ring[n->prio];
	u32 slot = ndp_pull_slot(q, n);

	if (n->next == n) {
		r->first[slot] = NULL;
		r->some &= ~(1U << slot);
	} else {
		n->prev->next = n->next;
		n->next->prev = n->prev;
		if (r->first[slot] == n)
			r->first[slot] = n->next;
	}
	n->next = NULL;
	n->prev = NULL;
}

/* There is one; strict has only the slot 0. */
static inline struct ndp_pull_node *ndp_pull_ring_first(const struct ndp_pull_ring *r)
{
	u32 slot = r->round % NDP_PULL_ROUNDS;

	if (!(r->some >> slot))
		slot = 0;
	return r->first[slot + __builtin_ctz(r->some >> slot)];
}

/* fair: it was pulled, and is behind all that have had as many turns now */
static inline void ndp_pull_ring_served(struct ndp_pull *q, struct ndp_pull_node *n)
{
	struct ndp_pull_ring *r = &q->ring[n->prio];

	ndp_pull_ring_del(q, n);
	r->since = min_t(u32, r->since + (n->round - r->round), NDP_PULL_ROUNDS - 1);
	r->round = n->round++;
	ndp_pull_ring_add(q, n);
}

/* Least key first: all of a higher priority before any of a lower one */
static inline u64 ndp_pull_key(const struct ndp_pull_node *n)
{
	u64 wished = (u64)(n->target - n->granted) * n->bytes;
	u64 units = max_t(u64, wished, n->more) >> NDP_PULL_KEY_SHIFT;

	return (u64)(NDP_PRIOS - 1 - n->prio) << 32 | min_t(u64, units, 0xffffffff);
}

static inline void ndp_pull_heap_set(struct ndp_pull *q, struct ndp_pull_node *n)
{
	u32 tie = ndp_heap_has(&q->heap, n->id) ? q->heap.node[q->heap.place[n->id]].tie :
					      q->arrivals++;

	q->by_id[n->id] = n;
	ndp_heap_set(&q->heap, n->id, ndp_pull_key(n), tie);
}

static inline struct ndp_pull_node *ndp_pull_first(const struct ndp_pull *q)
{
	u32 prio = NDP_PRIOS;

	if (!q->queued)
		return NULL;
	if (q->policy == NDP_PULL_SRPT)
		return q->by_id[ndp_heap_first(&q->heap)];
	while (!q->ring[--prio].some)
		;
	return ndp_pull_ring_first(&q->ring[prio]);
}

static inline void ndp_pull_link(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	/* what an idle link could have carried is gone */
	if (!q->queued && q->next_ns < now_ns) {
		if (now_ns - q->next_ns >= NDP_EASE_IDLE_NS)
			ndp_ease_init(&q->ease, now_ns);
		q->next_ns = now_ns;
	}
	q->queued++;
	n->queued = true;
	if (!n->keeps)
		n->turn = q->arrivals++;
	if (q->policy == NDP_PULL_SRPT)
		ndp_pull_heap_set(q, n);
	else
		ndp_pull_ring_add(q, n);
}

static inline void ndp_pull_unlink(struct ndp_pull *q, struct ndp_pull_node *n)
{
	q->queued--;
	n->queued = false;
	if (q->policy == NDP_PULL_SRPT)
		ndp_heap_remove(&q->heap, n->id);
	else
		ndp_pull_ring_del(q, n);
}

/**
 * ndp_pull_wanted() - packets that a flow wishes and has not been granted
 * @n: the flow
 *
 * Return: how many.
 */
static inline u32 ndp_pull_wanted(const struct ndp_pull_node *n)
{
	return n->target - n->granted;
}

static inline bool ndp_pull_ready(const struct ndp_pull *q, const struct ndp_pull_node *n)
{
	return n->target != n->granted && n->granted - n->heard < q->ahead && !n->held;
}

/* Where it belongs, now that something about it has changed */
static inline void ndp_pull_settle(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	bool ready = ndp_pull_ready(q, n);

	if (ready && !n->queued) {
		ndp_pull_link(q, n, now_ns);
		n->keeps = false;
	} else if (!ready && n->queued) {
		n->keeps = q->policy == NDP_PULL_STRICT && n->more;
		ndp_pull_unlink(q, n);
	} else if (ready && q->policy == NDP_PULL_SRPT) {
		ndp_pull_heap_set(q, n);
	}
}

/* ---- turns that flows had; fair */

static inline u32 ndp_pull_begin(struct ndp_pull *q, struct ndp_pull_ring *r, u64 now_ns)
{
	if (!q->queued && q->next_ns + q->late_ns < now_ns)
		r->since = 0;
	return r->round - r->since;
}

/* A packet came whole that was not pulled: so it has had its turn. */
static inline void ndp_pull_unasked(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	struct ndp_pull_ring *r = &q->ring[n->prio];
	u32 begin = ndp_pull_begin(q, r, now_ns), most = r->since + NDP_PULL_ROUNDS - 1;
	bool queued = n->queued;

	if (queued)
		ndp_pull_ring_del(q, n);
	if (n->round - begin > most)
		n->round = begin;
	if (n->round - begin < most)
		n->round++;
	if (queued)
		ndp_pull_ring_add(q, n);
}

/* It has all there is: what it had more than others is forgotten. */
static inline void ndp_pull_forget(struct ndp_pull *q, struct ndp_pull_node *n)
{
	u32 round = q->ring[n->prio].round;

	if (n->round - round < NDP_PULL_ROUNDS)
		n->round = round + (n->round != round);
}

/* ---- what a flow wishes */

static inline void ndp_pull_told(struct ndp_pull *q, struct ndp_pull_node *n, u32 target)
{
	if (!ndp_before(n->target, target))
		return;
	if (target - n->granted > NDP_PULL_WISH_MAX) {
		ndp_pull_count(&q->stats.cut, 1);
		target = n->granted + NDP_PULL_WISH_MAX;
	}
	n->target = target;
}

/* Out of its ring before it changes; ndp_pull_settle() puts it into the other one. */
static inline void ndp_pull_prio(struct ndp_pull *q, struct ndp_pull_node *n, u8 prio)
{
	if (n->prio == prio)
		return;
	if (n->queued)
		ndp_pull_unlink(q, n);
	n->keeps = false;
	n->prio = prio;
}

static inline void ndp_pull_lengths_add(struct ndp_pull_lengths *l, u32 len)
{
	if (l->count < NDP_PULL_LENGTHS)
		l->len[(l->first + l->count++) % NDP_PULL_LENGTHS] = (u16)len;
}

/* There is one. */
static inline u32 ndp_pull_lengths_take(struct ndp_pull_lengths *l)
{
	u32 len = l->len[l->first];

	l->first = (l->first + 1) % NDP_PULL_LENGTHS;
	l->count--;
	return len;
}

static inline bool ndp_pull_is_end(const struct ndp_hdr *h)
{
	return !h->is_short && h->data.offset &&
	       h->data.offset + h->payload_len == h->data.msg_len;
}

/*
 * A packet came: the mean. If it is the end of a message, which may be short, it starts from
 * the longest packet of all flows of late. Division rounds to it from both sides.
 */
static inline void ndp_pull_size(struct ndp_pull *q, struct ndp_pull_node *n,
				 const struct ndp_hdr *h, u32 len)
{
	u32 bytes = len + NDP_PULL_OVERHEAD;

	q->longest -= q->longest >> NDP_PULL_LONGEST_SHIFT;
	q->longest = max_t(u32, q->longest, bytes);
	if (!n->bytes)
		n->bytes = ndp_pull_is_end(h) ? q->longest : bytes;
	n->bytes += (u32)((s32)(bytes - n->bytes) / (1 << NDP_PULL_BYTES_SHIFT));
}

/* For how long so many bytes take the link */
static inline u64 ndp_pull_line_ns(const struct ndp_pull *q, u32 bytes)
{
	return q->byte_time * bytes >> NDP_PULL_SHIFT;
}

/*
 * A packet came that was pulled. It may not be the one that was meant, but the sum is right.
 * One that was trimmed has not taken the link for as long as it is.
 */
static inline void ndp_pull_correct(struct ndp_pull *q, struct ndp_pull_node *n, u32 len,
				    bool nacked)
{
	u32 asked;
	u64 time;

	if (!n->asked.count)
		return;
	asked = ndp_pull_lengths_take(&n->asked);
	if (nacked)
		return;
	time = ndp_ease_time(&q->ease, ndp_pull_line_ns(q, len > asked ? len - asked :
							   asked - len));
	if (len > asked)
		q->next_ns += time;
	else
		q->next_ns -= min_t(u64, q->next_ns, time);
}

/* Senders push some packets of which no pull can tell: returned ones, and after a timeout. */
static inline bool ndp_pull_was_asked(struct ndp_pull_node *n, const struct ndp_hdr *h)
{
	if (h->flags & NDP_DATA_SPEC || n->answered == n->granted)
		return false;
	n->answered++;
	return true;
}

/* How long its next packet is, as far as is known */
static inline u32 ndp_pull_expect(struct ndp_pull_node *n)
{
	if (n->nacked.count)
		return ndp_pull_lengths_take(&n->nacked);
	return (n->bytes ? n->bytes : NDP_PULL_BYTES_UNKNOWN) - NDP_PULL_OVERHEAD;
}

/**
 * ndp_pull_arrived() - a DATA or PROBE of the flow came
 * @q: pull queue
 * @n: the flow
 * @h: its header
 * @more: bytes that it takes on the link beyond payload and NDP_PULL_OVERHEAD
 * @nacked: it was NACKed
 * @now_ns: the time
 */
static inline void ndp_pull_arrived(struct ndp_pull *q, struct ndp_pull_node *n,
				    const struct ndp_hdr *h, u8 more, bool nacked, u64 now_ns)
{
	u32 len = h->payload_len + more;
	bool asked;

	n->heard = n->granted;
	if (!h->is_short) {
		if (h->type == NDP_DATA && !(h->flags & NDP_DATA_RTX))
			n->more = h->data.msg_len - h->data.offset - h->payload_len;
		ndp_pull_told(q, n, h->data.pull_target);
		ndp_pull_prio(q, n, h->data.prio);
	}
	if (h->payload_len) {
		ndp_pull_size(q, n, h, len);
		asked = ndp_pull_was_asked(n, h);
		ndp_ease_arrived(&q->ease, asked, nacked,
				 ndp_pull_line_ns(q, h->here + more + NDP_PULL_OVERHEAD),
				 now_ns);
		if (!(h->flags & NDP_DATA_SPEC))
			ndp_pull_correct(q, n, len, nacked);
		if (!asked && !nacked && q->policy == NDP_PULL_FAIR)
			ndp_pull_unasked(q, n, now_ns);
	}
	if (nacked && ndp_pull_wanted(n) < NDP_PULL_WISH_MAX) {
		n->target++;
		ndp_pull_lengths_add(&n->nacked, len);
	}
	ndp_pull_settle(q, n, now_ns);
}

/**
 * ndp_pull_hold() - a flow's receiver has no room, or has room again
 * @q: pull queue
 * @n: the flow
 * @held: no room
 * @now_ns: the time
 */
static inline void ndp_pull_hold(struct ndp_pull *q, struct ndp_pull_node *n, bool held,
				 u64 now_ns)
{
	n->held = held;
	ndp_pull_settle(q, n, now_ns);
}

/**
 * ndp_pull_flush() - a flow needs no more pulls, as it has all there is; or it ends
 * @q: pull queue
 * @n: the flow
 */
static inline void ndp_pull_flush(struct ndp_pull *q, struct ndp_pull_node *n)
{
	ndp_pull_count(&q->stats.flushed, ndp_pull_wanted(n));
	n->target = n->granted;
	n->answered = n->granted;
	n->nacked.count = 0;
	n->asked.count = 0;
	n->more = 0;
	n->keeps = false;
	if (n->queued)
		ndp_pull_unlink(q, n);
	ndp_pull_forget(q, n);
}

/* ---- pulls */

static inline void ndp_pull_spend(struct ndp_pull *q, u32 bytes, u64 now_ns)
{
	u64 time = q->byte_time * bytes + q->frac;

	if (q->next_ns + q->late_ns < now_ns)
		q->next_ns = now_ns - q->late_ns;
	q->next_ns += ndp_ease_time(&q->ease, time >> NDP_PULL_SHIFT);
	q->frac = time & ((1U << NDP_PULL_SHIFT) - 1);
}

static inline void ndp_pull_grant(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	u32 len = ndp_pull_expect(n);

	WRITE_ONCE(n->granted, n->granted + 1);
	ndp_pull_count(&q->stats.pulls, 1);
	ndp_pull_spend(q, len + NDP_PULL_OVERHEAD, now_ns);
	ndp_pull_lengths_add(&n->asked, len);
	if (q->policy == NDP_PULL_FAIR)
		ndp_pull_ring_served(q, n);
	if (n->granted - n->heard == q->ahead && n->target != n->granted)
		ndp_pull_count(&q->stats.silent, 1);
	ndp_pull_settle(q, n, now_ns);
}

/**
 * ndp_pull_next_ns() - when ndp_pull_next() has a flow
 * @q: pull queue
 *
 * Return: the time; U64_MAX: not before a flow is queued.
 */
static inline u64 ndp_pull_next_ns(const struct ndp_pull *q)
{
	return q->queued ? q->next_ns : U64_MAX;
}

/**
 * ndp_pull_next() - pull a packet, if it is time
 * @q: pull queue
 * @now_ns: the time
 *
 * Return: the flow whose @granted is one more, and which is to be told so by a
 * CONTROL; NULL: none, yet.
 */
static inline struct ndp_pull_node *ndp_pull_next(struct ndp_pull *q, u64 now_ns)
{
	struct ndp_pull_node *n;

	if (now_ns < q->next_ns)
		return NULL;
	n = ndp_pull_first(q);
	if (n)
		ndp_pull_grant(q, n, now_ns);
	return n;
}

/**
 * ndp_pull_at_once() - may the answer to a flow's packet pull the next one?
 * @q: pull queue
 * @n: the flow, after ndp_pull_arrived()
 * @now_ns: the time
 *
 * Only if the flow is the next one, no more than the time of a packet of it early.
 *
 * Return: true if so; then its @granted is one more.
 */
static inline bool ndp_pull_at_once(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns)
{
	u64 early = q->byte_time * n->bytes >> NDP_PULL_SHIFT;

	if (!n->queued || ndp_pull_first(q) != n || now_ns + early < q->next_ns)
		return false;
	ndp_pull_grant(q, n, now_ns);
	ndp_pull_count(&q->stats.at_once, 1);
	return true;
}

#endif /* _NDP_PULL_H */
