/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: which message of a flow the next new packet is a part of
 *
 * Plain C, no kernel types. A PULL says how many packets a flow may send, not of which
 * message: that is the sender's choice. A message of a higher priority goes first,
 * always. Among those of one priority it depends on the policy:
 *
 *	FAIR	round robin, a packet each
 *	FIFO	the message that had a packet to send first
 *	SRPT	the message of which the least remains; of equal ones, the older
 *
 * FAIR and FIFO keep a priority's messages in a ring of links: O(1). SRPT keeps them
 * in a pairing heap: a message comes in O(1), and goes in O(log n), amortized. A
 * packet takes O(1) there, too: of the message that is first, even less remains
 * then, so that it stays the first.
 *
 * The links are in the messages: an empty order is as small as its roots, and a
 * flow can have any number of messages.
 *
 * Reference: M. L. Fredman, R. Sedgewick, D. D. Sleator, R. E. Tarjan, "The Pairing
 * Heap: A New Form of Self-Adjusting Heap", Algorithmica 1, 1986.
 */
#ifndef _NDP_SND_ORDER_H
#define _NDP_SND_ORDER_H

#include "ndp_wire.h"

/**
 * enum ndp_policy - who is first among messages of one priority
 * @NDP_POLICY_FAIR: each in turn
 * @NDP_POLICY_FIFO: who had a packet to send first
 * @NDP_POLICY_SRPT: who has the least left
 */
enum ndp_policy {
	NDP_POLICY_FAIR,
	NDP_POLICY_FIFO,
	NDP_POLICY_SRPT,
};

/**
 * struct ndp_snd_msg - a message
 * @len: bytes; 1..NDP_MSG_MAX
 * @ready: of them, those that are there; packets are made of these only
 * @sent: bytes that were sent once; so, offset of the next packet
 * @done: all bytes before this one were acknowledged
 * @arrival: serial number, in the order of submission
 * @id: serial number, in the order of first packets; so the receiver knows which have
 *	begun
 * @pending: packets that were sent and are not done
 * @acked: packets that were acknowledged
 * @payload: bytes of each packet but the last
 * @oldest: slot of its first packet that is not done
 * @newest: slot of its last packet
 * @prio: 0..7; 7 is first
 * @error: when it has ended: 0: all of it was acknowledged; or ETIMEDOUT, ...
 * @ended: the flow knows it no longer
 * @listed: there is news for ndp_snd_reap()
 * @news: behind it in the list of those with news
 * @next: behind it
 * @prev: before it; SRPT: of a first child, its parent
 * @child: SRPT: first of those that come after it
 *
 * @len, @ready, @payload and @prio are for who submits it to set.
 */
struct ndp_snd_msg {
	u64 len;
	u64 ready;
	u64 sent;
	u64 done;
	u32 arrival;
	u32 id;
	u32 pending;
	u32 acked;
	u16 payload;
	u16 oldest;
	u16 newest;
	u8 prio;
	u8 error;
	bool ended;
	bool listed;
	struct ndp_snd_msg *news;
	struct ndp_snd_msg *next;
	struct ndp_snd_msg *prev;
	struct ndp_snd_msg *child;
};

/**
 * struct ndp_order - messages of a flow that have a packet to send
 * @first: by priority: who is first; NULL: no message has it
 * @busy: bit i: priority i has messages
 * @policy: enum ndp_policy
 */
struct ndp_order {
	struct ndp_snd_msg *first[NDP_PRIOS];
	u8 busy;
	u8 policy;
};

/**
 * ndp_msg_has_packet() - has a message a packet to send?
 * @m: the message
 *
 * Return: true if its next packet is all there.
 */
static inline bool ndp_msg_has_packet(const struct ndp_snd_msg *m)
{
	return m->sent < m->len &&
	       m->ready - m->sent >= min_t(u64, m->payload, m->len - m->sent);
}

/* ---- ring: FAIR, FIFO ---- */

/* The last one, which is before the first */
static inline void ndp_ring_add(struct ndp_snd_msg **first, struct ndp_snd_msg *m)
{
	struct ndp_snd_msg *head = *first;

	if (!head) {
		m->next = m;
		m->prev = m;
		*first = m;
		return;
	}
	m->next = head;
	m->prev = head->prev;
	head->prev->next = m;
	head->prev = m;
}

static inline void ndp_ring_del(struct ndp_snd_msg **first, struct ndp_snd_msg *m)
{
	m->prev->next = m->next;
	m->next->prev = m->prev;
	if (*first == m)
		*first = m->next == m ? NULL : m->next;
}

/* ---- pairing heap: SRPT ---- */

static inline bool ndp_srpt_before(const struct ndp_snd_msg *a, const struct ndp_snd_msg *b)
{
	u64 left_a = a->len - a->sent, left_b = b->len - b->sent;

	return left_a != left_b ? left_a < left_b : ndp_before(a->arrival, b->arrival);
}

/* Of two heaps, one: the root that comes later is the other's first child. */
static inline struct ndp_snd_msg *ndp_heap_meld(struct ndp_snd_msg *a, struct ndp_snd_msg *b)
{
	struct ndp_snd_msg *root = a, *sub = b;

	if (!a || !b)
		return a ? a : b;
	if (ndp_srpt_before(b, a)) {
		root = b;
		sub = a;
	}
	sub->prev = root;
	sub->next = root->child;
	if (sub->next)
		sub->next->prev = sub;
	root->child = sub;
	return root;
}

/* Of heaps one behind the other, one: in pairs from the first on, then from the last */
static inline struct ndp_snd_msg *ndp_heap_join(struct ndp_snd_msg *list)
{
	struct ndp_snd_msg *pairs = NULL, *root = NULL, *a, *b;

	while (list) {
		a = list;
		b = a->next;
		list = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		a = ndp_heap_meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		a = pairs;
		pairs = a->next;
		a->next = NULL;
		root = ndp_heap_meld(root, a);
	}
	return root;
}

static inline void ndp_heap_del(struct ndp_snd_msg **first, struct ndp_snd_msg *m)
{
	struct ndp_snd_msg *rest = ndp_heap_join(m->child);

	if (*first == m) {
		*first = rest;
		return;
	}
	if (m->prev->child == m)
		m->prev->child = m->next;
	else
		m->prev->next = m->next;
	if (m->next)
		m->next->prev = m->prev;
	*first = ndp_heap_meld(*first, rest);
}

/* ---- both ---- */

/**
 * ndp_order_first() - whose packet is next
 * @o: order
 *
 * Return: the message; NULL: none has anything to send.
 */
static inline struct ndp_snd_msg *ndp_order_first(const struct ndp_order *o)
{
	return o->busy ? o->first[31 - __builtin_clz(o->busy)] : NULL;
}

/**
 * ndp_order_add() - a message has something to send
 * @o: order
 * @m: the message; not in it
 */
static inline void ndp_order_add(struct ndp_order *o, struct ndp_snd_msg *m)
{
	struct ndp_snd_msg **first = &o->first[m->prio];

	m->next = NULL;
	m->prev = NULL;
	m->child = NULL;
	if (o->policy == NDP_POLICY_SRPT)
		*first = ndp_heap_meld(*first, m);
	else
		ndp_ring_add(first, m);
	o->busy |= (u8)(1U << m->prio);
}

/**
 * ndp_order_del() - a message has nothing to send any longer
 * @o: order
 * @m: the message; in it
 */
static inline void ndp_order_del(struct ndp_order *o, struct ndp_snd_msg *m)
{
	struct ndp_snd_msg **first = &o->first[m->prio];

	if (o->policy == NDP_POLICY_SRPT)
		ndp_heap_del(first, m);
	else
		ndp_ring_del(first, m);
	if (!*first)
		o->busy &= (u8)~(1U << m->prio);
}

/**
 * ndp_order_served() - the first message has sent a packet
 * @o: order
 * @m: the message that was first; @sent has grown
 */
static inline void ndp_order_served(struct ndp_order *o, struct ndp_snd_msg *m)
{
	if (!ndp_msg_has_packet(m))
		ndp_order_del(o, m);
	else if (o->policy == NDP_POLICY_FAIR)
		o->first[m->prio] = m->next;
}

#endif /* _NDP_SND_ORDER_H */
