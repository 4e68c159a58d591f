/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: in which order messages are delivered, if a socket wants that
 *
 * Plain C, no kernel types. Ids of messages count up in the order of their first packets.
 * So a message of a flow waits until all with a smaller id are over: delivered, or known
 * never to be whole. Only those of its own priority: a sender lets messages of a higher one
 * overtake, so that in order to have the last packets of a long message of priority 0, a
 * receiver would need memory for all messages of priority 7 that come meanwhile.
 *
 *	                settled              lane of its priority       shown
 *	 first packet                      +---+---+---+---+---+
 *	--> early, by id ----------------> | w | p | w |   | w | -----------> reader
 *	                                   +---+---+---+---+---+  whole
 *	            aborted, timed out: gone from everywhere
 *
 * Of an id of which no packet has come, nobody knows the priority: what comes behind it is
 * early. It is settled when there is no such id before it any more. That is known in three
 * ways:
 *
 *	- all ids from the last settled one on have begun, or were aborted;
 *	- all packets before its first one have come, or were given up (ack_base): if there
 *	  was a message before it, then also its first packet, and it had begun;
 *	- it is W = 1024 ids behind: of an honest sender, which has no two packets W apart
 *	  under way, that is not so.
 *
 * The first of the flow's ids is not known if its packets are out of order. But each
 * message has a packet: it is at most as many ids before the one that came first as that
 * packet is behind the flow's base. All that may be missing from there on is treated as
 * above.
 *
 * Each message is moved at most twice, at O(1); where an early one belongs is looked for
 * from the newest one back, W steps at most, as no message begins that is W ids behind
 * another one. A lane shows one message at a time; the next one is shown when that was
 * read. So what an event does is bounded, however many messages wait.
 */
#ifndef _NDP_RCV_TURN_H
#define _NDP_RCV_TURN_H

#include "ndp_rcv.h"

/* The lane of those that are early */
#define NDP_TURN_EARLY	NDP_PRIOS

struct ndp_turns;

/**
 * struct ndp_turn - a message that is to be delivered in order; zeros: it is not
 * @turns: of whom; NULL: it does not wait for others
 * @prev: before it in its lane
 * @next: behind it
 * @id: msg_id
 * @first: the smallest seq of its packets that came
 * @last: the greatest
 * @prio: its priority
 * @lane: that it is in, or in which it is shown
 * @whole: all of it has come, or nothing more of it will
 */
struct ndp_turn {
	struct ndp_turns *turns;
	struct ndp_turn *prev;
	struct ndp_turn *next;
	u32 id;
	u32 first;
	u32 last;
	u8 prio;
	u8 lane;
	bool whole;
};

/**
 * struct ndp_lane - messages of one priority, by id
 * @first: the one that is next; NULL: none waits
 * @last: the one that came last
 * @shown: the one that is being read, in no list; NULL: none
 */
struct ndp_lane {
	struct ndp_turn *first;
	struct ndp_turn *last;
	struct ndp_turn *shown;
};

/**
 * struct ndp_turns - messages of one sender, whose flows follow each other; zeros at first
 * @lane: by priority, and NDP_TURN_EARLY
 * @next: of the flow that is open: each message with a smaller id has begun, or never will
 * @msgs: messages in all lanes, and shown ones
 */
struct ndp_turns {
	struct ndp_lane lane[NDP_PRIOS + 1];
	u32 next;
	u32 msgs;
};

/**
 * ndp_rcv_has_hole() - has more of a message come than what it begins with?
 * @m: the message, not whole
 *
 * Return: true if so: what is missing is before the last packet that came.
 */
static inline bool ndp_rcv_has_hole(const struct ndp_rcv_msg *m)
{
	u64 bits = m->has_tail;
	u32 i;

	for (i = 0; i < NDP_RCV_WORDS; i++)
		bits |= m->got.bits[i];
	return bits;
}

/* ---- lists */

/* @at: behind which; NULL: first */
static inline void ndp_lane_insert(struct ndp_lane *l, struct ndp_turn *at, struct ndp_turn *t)
{
	t->prev = at;
	t->next = at ? at->next : l->first;
	if (t->next)
		t->next->prev = t;
	else
		l->last = t;
	if (at)
		at->next = t;
	else
		l->first = t;
}

static inline void ndp_lane_remove(struct ndp_lane *l, struct ndp_turn *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		l->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else
		l->last = t->prev;
}

static inline struct ndp_lane *ndp_turn_lane(const struct ndp_turn *t)
{
	return &t->turns->lane[t->lane];
}

/* ---- a message */

/**
 * ndp_turn_has() - may a message be read, or the part of it that is there?
 * @t: its place
 *
 * Return: true if no other one is before it.
 */
static inline bool ndp_turn_has(const struct ndp_turn *t)
{
	const struct ndp_lane *l;

	if (!t->turns)
		return true;
	l = ndp_turn_lane(t);
	return t->lane != NDP_TURN_EARLY && (l->shown ? l->shown == t : l->first == t);
}

/**
 * ndp_turn_came() - one more packet of a message came
 * @t: its place
 * @h: packet
 */
static inline void ndp_turn_came(struct ndp_turn *t, const struct ndp_hdr *h)
{
	if (ndp_before(h->seq, t->first))
		t->first = h->seq;
	if (ndp_before(t->last, h->seq))
		t->last = h->seq;
}

/**
 * ndp_turn_leave() - a message waits no longer: it was read, or will never be
 * @t: its place; zeros after that
 */
static inline void ndp_turn_leave(struct ndp_turn *t)
{
	struct ndp_lane *l = ndp_turn_lane(t);

	if (l->shown == t)
		l->shown = NULL;
	else
		ndp_lane_remove(l, t);
	t->turns->msgs--;
	*t = (struct ndp_turn) { .turns = NULL };
}

/**
 * ndp_turn_show() - the message whose turn it is, if that is whole, is for readers now
 * @l: lane
 *
 * Return: the message, until ndp_turn_leave(); NULL: none, or the lane shows one.
 */
static inline struct ndp_turn *ndp_turn_show(struct ndp_lane *l)
{
	struct ndp_turn *t = l->first;

	if (l->shown || !t || !t->whole)
		return NULL;
	ndp_lane_remove(l, t);
	l->shown = t;
	return t;
}

/* ---- memory */

/**
 * ndp_rcv_retain() - a message is whole, but waits for others
 * @r: socket
 * @memory: that it takes
 *
 * It counts as if it were not whole: a reader cannot make room by reading it.
 */
static inline void ndp_rcv_retain(struct ndp_rcv *r, u64 memory)
{
	r->unread -= memory;
	r->partial += memory;
}

/**
 * ndp_rcv_offer() - a message that has waited for others may be read
 * @r: socket
 * @memory: that it takes
 */
static inline void ndp_rcv_offer(struct ndp_rcv *r, u64 memory)
{
	r->partial -= memory;
	r->unread += memory;
}

/* ---- a flow */

/**
 * ndp_turns_open() - a flow begins
 * @turns: messages of its sender, of which none is early
 * @h: the packet that opens it, which has then to go to ndp_turns_begin()
 */
static inline void ndp_turns_open(struct ndp_turns *turns, const struct ndp_hdr *h)
{
	turns->next = h->data.msg_id - min_t(u32, h->seq - h->data.base, NDP_RCV_WINDOW - 1);
}

/**
 * ndp_turns_begin() - the first packet of a message came
 * @turns: messages of its sender
 * @t: its place
 * @h: packet
 */
static inline void ndp_turns_begin(struct ndp_turns *turns, struct ndp_turn *t,
				   const struct ndp_hdr *h)
{
	struct ndp_lane *early = &turns->lane[NDP_TURN_EARLY];
	struct ndp_turn *at = early->last;

	*t = (struct ndp_turn) {
		.turns = turns, .id = h->data.msg_id, .first = h->seq, .last = h->seq,
		.prio = h->data.prio, .lane = NDP_TURN_EARLY,
	};
	if ((s32)(t->id - turns->next) >= (s32)NDP_RCV_WINDOW)
		turns->next = t->id - (NDP_RCV_WINDOW - 1);
	while (at && ndp_before(t->id, at->id))
		at = at->prev;
	ndp_lane_insert(early, at, t);
	turns->msgs++;
}

/* The first of the early ones is early no longer. */
static inline void ndp_turns_move(struct ndp_turns *turns)
{
	struct ndp_lane *early = &turns->lane[NDP_TURN_EARLY];
	struct ndp_turn *t = early->first;

	ndp_lane_remove(early, t);
	t->lane = t->prio;
	ndp_lane_insert(&turns->lane[t->lane], turns->lane[t->lane].last, t);
}

/**
 * ndp_turns_have_none() - is it the turn of a message that begins with the packet at ack_base?
 * @turns: messages of its sender
 * @prio: its priority
 *
 * Return: true if no other one is before it.
 */
static inline bool ndp_turns_have_none(const struct ndp_turns *turns, u8 prio)
{
	return !turns->lane[prio].first && !turns->lane[prio].shown;
}

/**
 * ndp_turns_settle() - packets have come, or were given up
 * @turns: messages
 * @f: the flow
 */
static inline void ndp_turns_settle(struct ndp_turns *turns, const struct ndp_rcv_flow *f)
{
	const struct ndp_turn *t;

	for (;;) {
		t = turns->lane[NDP_TURN_EARLY].first;
		if (t && (!ndp_before(turns->next, t->id) ||
			  !ndp_before(f->got.base, t->first))) {
			if (!ndp_before(t->id, turns->next))
				turns->next = t->id + 1;
			ndp_turns_move(turns);
		} else if (ndp_rcv_has_begun(f, turns->next)) {
			turns->next++;
		} else {
			break;
		}
	}
}

/**
 * ndp_turns_close() - a flow is over: no id of it is waited for any more
 * @turns: messages
 */
static inline void ndp_turns_close(struct ndp_turns *turns)
{
	while (turns->lane[NDP_TURN_EARLY].first)
		ndp_turns_move(turns);
}

/**
 * ndp_turns_skip() - the sender gives up a message of which nothing has come
 * @turns: messages
 * @f: the flow
 * @id: of the message
 *
 * It will not begin.
 */
static inline void ndp_turns_skip(const struct ndp_turns *turns, struct ndp_rcv_flow *f, u32 id)
{
	if (id - turns->next < NDP_RCV_WINDOW && !ndp_rcv_has_begun(f, id))
		ndp_rcv_begin(f, id);
}

#endif /* _NDP_RCV_TURN_H */
