// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: order of a host's flows at a link; described in nicq.h
 */
#include "nicq.h"
#include "pull.h"

/* fixed point of times */
#define NDP_NICQ_SHIFT		20
/* place of the priority in a key */
#define NDP_NICQ_PRIO_SHIFT	60

/**
 * ndp_nicq_init() - initialize an empty queue
 * @q: queue
 * @now_ns: time
 *
 * ndp_nicq_rate() has to follow.
 */
void ndp_nicq_init(struct ndp_nicq *q, u64 now_ns)
{
	*q = (struct ndp_nicq) { .flows = RB_ROOT_CACHED, .idle_ns = now_ns };
	INIT_LIST_HEAD(&q->ages);
}

/**
 * ndp_nicq_rate() - set the line rate
 * @q: queue
 * @rate_Bps: bytes per second; 1000 or more
 */
void ndp_nicq_rate(struct ndp_nicq *q, u64 rate_Bps)
{
	q->byte_time = div64_u64(1000000000ULL << NDP_NICQ_SHIFT, rate_Bps);
}

/**
 * ndp_nicq_key() - get a flow's place in the order
 * @policy: enum ndp_pull_policy
 * @prio: priority of its next packet's message, 0..7
 * @rest: bytes of the message from this packet on
 *
 * Return: key; less is first.
 */
u64 ndp_nicq_key(u8 policy, u8 prio, u64 rest)
{
	u64 most = (1ULL << NDP_NICQ_PRIO_SHIFT) - 1;
	u64 key = (u64)(NDP_PRIOS - 1 - prio) << NDP_NICQ_PRIO_SHIFT;

	return policy == NDP_PULL_SRPT ? key | min_t(u64, rest, most) : key;
}

/**
 * ndp_nicq_charge() - a packet is passed to the NIC without waiting
 * @q: queue
 * @bytes: its bytes on the link
 */
void ndp_nicq_charge(struct ndp_nicq *q, u32 bytes)
{
	u64 time = q->byte_time * bytes + q->frac;

	q->idle_ns += time >> NDP_NICQ_SHIFT;
	q->frac = time & ((1U << NDP_NICQ_SHIFT) - 1);
}

static struct ndp_nicq_node *ndp_nicq_of(const struct rb_node *rb)
{
	return rb_entry(rb, struct ndp_nicq_node, rb);
}

static struct ndp_nicq_node *ndp_nicq_first(const struct ndp_nicq *q)
{
	const struct rb_node *rb = rb_first_cached(&q->flows);

	return rb ? ndp_nicq_of(rb) : NULL;
}

static bool ndp_nicq_goes_first(struct rb_node *rb, const struct rb_node *than)
{
	const struct ndp_nicq_node *a = ndp_nicq_of(rb), *b = ndp_nicq_of(than);

	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void ndp_nicq_enqueue(struct ndp_nicq *q, struct ndp_nicq_node *n, u64 key)
{
	n->key = key;
	n->tie = q->arrivals++;
	n->queued = true;
	list_add_tail(&n->age, &q->ages);
	rb_add_cached(&n->rb, &q->flows, ndp_nicq_goes_first);
}

static void ndp_nicq_dequeue(struct ndp_nicq *q, struct ndp_nicq_node *n)
{
	rb_erase_cached(&n->rb, &q->flows);
	list_del_init(&n->age);
	n->queued = false;
}

static bool ndp_nicq_is_due(const struct ndp_nicq *q, u64 now_ns)
{
	return q->idle_ns <= now_ns + NDP_NICQ_NS;
}

/* May a flow send its next packet now? */
static bool ndp_nicq_may(const struct ndp_nicq *q, const struct ndp_nicq_node *n, u64 key,
			 u64 now_ns)
{
	const struct ndp_nicq_node *first = ndp_nicq_first(q);

	return ndp_nicq_is_due(q, now_ns) && (n->turn || !first || first == n || key < first->key);
}

/**
 * ndp_nicq_take() - pass a flow's next packet to the NIC, or let the flow wait
 * @q: queue
 * @n: flow
 * @key: its present place in the order
 * @bytes: the packet's, on the link
 * @now_ns: time
 *
 * Return: true if the packet is sent now; false: the flow waits.
 */
bool ndp_nicq_take(struct ndp_nicq *q, struct ndp_nicq_node *n, u64 key, u32 bytes, u64 now_ns)
{
	/* what an idle link could have carried is lost */
	q->idle_ns = max_t(u64, q->idle_ns, now_ns);
	if (ndp_nicq_may(q, n, key, now_ns)) {
		if (n->queued)
			ndp_nicq_dequeue(q, n);
		n->turn = false;
		ndp_nicq_charge(q, bytes);
		return true;
	}
	if (!n->queued) {
		ndp_nicq_enqueue(q, n, key);
	} else if (n->key != key) {
		rb_erase_cached(&n->rb, &q->flows);
		n->key = key;
		rb_add_cached(&n->rb, &q->flows, ndp_nicq_goes_first);
	}
	return false;
}

/**
 * ndp_nicq_leave() - take out a flow without packets
 * @q: queue
 * @n: flow
 */
void ndp_nicq_leave(struct ndp_nicq *q, struct ndp_nicq_node *n)
{
	if (n->queued)
		ndp_nicq_dequeue(q, n);
	n->turn = false;
}

/**
 * ndp_nicq_next_ns() - get the time at which a flow may send
 * @q: queue
 *
 * Return: time; U64_MAX: no flow waits.
 */
u64 ndp_nicq_next_ns(const struct ndp_nicq *q)
{
	if (list_empty(&q->ages))
		return U64_MAX;
	return q->idle_ns - min_t(u64, q->idle_ns, NDP_NICQ_NS);
}

/**
 * ndp_nicq_next() - choose the flow that sends next
 * @q: queue
 * @now_ns: time
 *
 * Return: flow, which waits no longer; ndp_nicq_take() has to follow. NULL: all have to wait.
 */
struct ndp_nicq_node *ndp_nicq_next(struct ndp_nicq *q, u64 now_ns)
{
	struct ndp_nicq_node *n = ndp_nicq_first(q);

	if (!n || !ndp_nicq_is_due(q, now_ns))
		return NULL;
	/* so that neither long messages nor those of a low priority starve */
	if (++q->packets % NDP_NICQ_OLDEST == 0)
		n = list_first_entry(&q->ages, struct ndp_nicq_node, age);
	ndp_nicq_dequeue(q, n);
	n->turn = true;
	return n;
}

/**
 * ndp_nicq_drain() - take out a flow of a link that is gone
 * @q: queue
 *
 * Return: flow; NULL: the queue is empty.
 */
struct ndp_nicq_node *ndp_nicq_drain(struct ndp_nicq *q)
{
	struct ndp_nicq_node *n = ndp_nicq_first(q);

	if (n)
		ndp_nicq_leave(q, n);
	return n;
}
