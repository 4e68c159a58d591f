// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: SOCK_SEQPACKET: messages of each sender in order
 *
 * Which message is next is decided by the core, ndp_rcv_turn.h. Here is what it is
 * about: a line of messages for each socket that sends to one of ours. Its flows follow
 * each other: a sender begins a new one only when all messages of the old one have ended, so
 * that what is missing of that one will not come. If both go on nevertheless (a socket was
 * closed, and another one got its port, while messages of the first are on their way),
 * messages of the old flow that are not whole yet wait for nobody any more, nor is anybody
 * kept waiting by them.
 *
 * A line outlives its flow while messages of it were not read. All of this is under the
 * socket's rcv_lock.
 *
 * Whole messages that wait count as if they were not whole: no reader makes room by
 * reading them. If because of that there is no room for anything, the message that
 * they wait for is given up: ndp_line_yield(). Senders that send their messages one after
 * the other, as SOCK_SEQPACKET does, never come to that.
 */

#include <linux/slab.h>
#include "ndp.h"

static const struct rhashtable_params ndp_line_params = {
	.head_offset = offsetof(struct ndp_line, node),
	.key_offset = offsetof(struct ndp_line, key),
	.key_len = sizeof_field(struct ndp_line, key),
	.automatic_shrinking = true,
};

static struct ndp_got *ndp_line_got(const struct ndp_turn *t)
{
	return container_of(t, struct ndp_got, turn);
}

/* Messages whose turn it is are given to readers. Return: is there something for them? */
static bool ndp_line_show(struct ndp_line *line)
{
	struct ndp_sock *ns = ndp_sk(line->key.sk);
	struct ndp_lane *lane = line->turns.lane;
	bool news = false;
	struct ndp_turn *t;

	for (; lane < line->turns.lane + NDP_PRIOS; lane++) {
		t = ndp_turn_show(lane);
		if (t)
			ndp_rcv_offer(&ns->rcv, ndp_line_got(t)->memory);
		else if (!lane->shown)
			t = lane->first;
		if (t)
			news |= ndp_got_queue(ns, ndp_line_got(t), false);
	}
	return news;
}

/* ---- lines ---- */

/**
 * ndp_line_alloc() - memory for a line, if the socket wants any
 * @sk: socket
 * @p: packet that opens a flow
 * @line: result: it, in no table; NULL: messages need no order
 *
 * Return: false: there is no memory.
 */
bool ndp_line_alloc(struct sock *sk, const struct ndp_packet *p, struct ndp_line **line)
{
	*line = NULL;
	if (!ndp_is_ordered(sk))
		return true;
	*line = kzalloc(sizeof(**line), GFP_ATOMIC | __GFP_NOWARN);
	if (!*line)
		return false;
	(*line)->key = (struct ndp_tx_to) { .sk = sk, .addrs = p->addrs, .port = p->h.sport };
	return true;
}

static void ndp_line_free(struct ndp_line *line)
{
	struct ndp_net *nn = ndp_net(sock_net(line->key.sk));

	rhashtable_remove_fast(&nn->lines, &line->node, ndp_line_params);
	list_del(&line->sock_node);
	kfree_rcu(line, rcu);
}

/**
 * ndp_line_put() - a flow or a message has left a line
 * @line: line, freed if it is not used
 */
void ndp_line_put(struct ndp_line *line)
{
	if (!line->rx && !line->turns.msgs)
		ndp_line_free(line);
}

/**
 * ndp_line_find() - the line of a flow, before that is in tables
 * @rx: flow; its @line is in no table
 *
 * It gets that of the flow before it, if there is one. Then ndp_line_join(), or
 * ndp_line_put().
 *
 * Return: 0 or a negative error.
 */
int ndp_line_find(struct ndp_rx *rx)
{
	struct ndp_net *nn = ndp_net(sock_net(rx->sk));
	struct ndp_line *line = rx->line, *old;

	old = rhashtable_lookup_get_insert_fast(&nn->lines, &line->node, ndp_line_params);
	if (IS_ERR(old))
		return PTR_ERR(old);
	if (old) {
		kfree(line);
		rx->line = old;
	} else {
		list_add_tail(&line->sock_node, &ndp_sk(rx->sk)->lines);
	}
	return 0;
}

/* A flow has no line any more: of its messages, those that are not whole need none. */
static void ndp_line_detach(struct ndp_line *line)
{
	struct ndp_rcv_flow *f = &line->rx->f;
	struct ndp_rcv_msg *m;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS; i++)
		for (m = f->bucket[i]; m; m = m->chain)
			ndp_turn_leave(&container_of(m, struct ndp_got, core)->turn);
	ndp_turns_close(&line->turns);
	line->rx->line = NULL;
	line->rx = NULL;
}

/**
 * ndp_line_join() - a flow begins
 * @rx: flow, after ndp_line_find()
 * @h: packet that opens it, after which ndp_line_run() is to be called
 */
void ndp_line_join(struct ndp_rx *rx, const struct ndp_hdr *h)
{
	struct ndp_line *line = rx->line;

	if (line->rx)
		ndp_line_detach(line);
	line->rx = rx;
	ndp_turns_open(&line->turns, h);
}

/**
 * ndp_line_leave() - a flow ends; all its messages that were not whole have failed
 * @rx: flow, with a line
 */
void ndp_line_leave(struct ndp_rx *rx)
{
	struct ndp_line *line = rx->line;

	ndp_line_detach(line);
	ndp_line_show(line);
	ndp_line_put(line);
}

/**
 * ndp_line_purge() - messages of a socket that has no flows any more are thrown away
 * @ns: socket, closed
 * @garbage: result: messages; those that are shown are the caller's already
 * @max: how many at most
 *
 * Return: false: there are no lines any more.
 */
bool ndp_line_purge(struct ndp_sock *ns, struct list_head *garbage, u32 max)
{
	struct ndp_line *line, *next;
	struct ndp_turn *t;
	u32 i;

	list_for_each_entry_safe(line, next, &ns->lines, sock_node) {
		for (i = 0; i < NDP_PRIOS; i++) {
			while ((t = line->turns.lane[i].first)) {
				if (!max--)
					return true;
				ndp_turn_leave(t);
				list_move_tail(&ndp_line_got(t)->node, garbage);
			}
		}
		ndp_line_free(line);
	}
	return false;
}

/* ---- messages ---- */

/* The message whose turn it is. Is it dead? A hole of it is before what is waited for. */
static bool ndp_line_is_dead(const struct ndp_rx *rx, const struct ndp_got *got)
{
	return ndp_before(got->turn.last, rx->f.got.base) && ndp_rcv_has_hole(&got->core);
}

/* A message of @rx that is not whole */
static void ndp_line_give_up(struct ndp_rx *rx, struct ndp_turn *t, u8 error,
			     struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);

	ndp_rx_fail(ns, ndp_rcv_abort(&ns->rcv, &rx->f, t->id), error, garbage);
}

/* Of the messages whose turn it is, give up those of which a packet will never come. */
static void ndp_line_bury(struct ndp_rx *rx, struct ndp_lane *lane, struct list_head *garbage)
{
	struct ndp_turn *t;

	while ((t = lane->first) && !t->whole && ndp_line_is_dead(rx, ndp_line_got(t)))
		ndp_line_give_up(rx, t, ECONNRESET, garbage);
}

/**
 * ndp_line_run() - something of a flow has come, or was given up
 * @rx: flow, with a line
 * @garbage: result: messages that will never be whole
 *
 * Return: is there something for readers?
 */
bool ndp_line_run(struct ndp_rx *rx, struct list_head *garbage)
{
	struct ndp_line *line = rx->line;
	u32 i;

	ndp_turns_settle(&line->turns, &rx->f);
	for (i = 0; i < NDP_PRIOS; i++)
		ndp_line_bury(rx, &line->turns.lane[i], garbage);
	return ndp_line_show(line);
}

/**
 * ndp_line_add() - a packet of a message was taken
 * @rx: flow, with a line
 * @got: the message; whole if its @rx is NULL
 * @h: packet
 *
 * ndp_line_run() is to be called after that.
 */
void ndp_line_add(struct ndp_rx *rx, struct ndp_got *got, const struct ndp_hdr *h)
{
	if (got->turn.turns)
		ndp_turn_came(&got->turn, h);
	else
		ndp_turns_begin(&rx->line->turns, &got->turn, h);
	got->turn.whole = !got->rx;
	if (got->turn.whole)
		ndp_rcv_retain(&ndp_sk(rx->sk)->rcv, got->memory);
}

/**
 * ndp_line_fail() - the rest of a message will not come, and its reader is to be told
 * @got: the message, that is being read, so that it is its turn
 */
void ndp_line_fail(struct ndp_got *got)
{
	if (!got->turn.turns)
		return;
	got->turn.whole = true;
	ndp_turn_show(ndp_turn_lane(&got->turn));
}

/**
 * ndp_line_done() - a message that was shown is over
 * @ns: socket
 * @got: the message
 */
void ndp_line_done(struct ndp_sock *ns, struct ndp_got *got)
{
	struct ndp_line *line;

	if (!got->turn.turns)
		return;
	line = container_of(got->turn.turns, struct ndp_line, turns);
	ndp_turn_leave(&got->turn);
	ndp_line_show(line);
	ndp_line_put(line);
}

/**
 * ndp_line_yield() - there is no room for the packet that a flow waits for
 * @rx: flow, with a line, of a socket of which nothing can be read; all that could be lent
 *	to it, it has
 * @garbage: result: messages that were given up
 *
 * If others wait for a message, it is given up.
 */
void ndp_line_yield(struct ndp_rx *rx, struct list_head *garbage)
{
	struct ndp_lane *lane = rx->line->turns.lane;
	struct ndp_turn *t;

	for (; lane < rx->line->turns.lane + NDP_PRIOS; lane++) {
		t = lane->first;
		if (t && !t->whole && t != lane->last)
			ndp_line_give_up(rx, t, ENOBUFS, garbage);
	}
	ndp_line_run(rx, garbage);
}

/**
 * ndp_line_age() - give up messages of which nothing comes, for which others wait
 * @rx: flow, with a line
 * @now: the time
 * @garbage: result: messages that were given up
 *
 * That their sender has given them up would be told only once, and that may be lost. There
 * is time while nothing can come for want of room.
 */
void ndp_line_age(struct ndp_rx *rx, u64 now, struct list_head *garbage)
{
	u64 time_wait_ns = ndp_sk(rx->sk)->rcv_params.time_wait_ns;
	struct ndp_lane *lane = rx->line->turns.lane;
	struct ndp_rcv_msg *m;
	struct ndp_turn *t;

	for (; lane < rx->line->turns.lane + NDP_PRIOS; lane++) {
		t = lane->first;
		if (!t || t->whole || t == lane->last)
			continue;
		m = &ndp_line_got(t)->core;
		if (!list_empty(&rx->held_node))
			m->last_ns = now;
		else if (now - m->last_ns >= time_wait_ns)
			ndp_line_give_up(rx, t, ETIMEDOUT, garbage);
	}
	ndp_line_run(rx, garbage);
}

/* ---- namespaces ---- */

/**
 * ndp_line_init() - for a new namespace
 * @nn: it
 *
 * Return: 0 or a negative error.
 */
int ndp_line_init(struct ndp_net *nn)
{
	return rhashtable_init(&nn->lines, &ndp_line_params);
}

/**
 * ndp_line_exit() - take back ndp_line_init(); no socket is left
 * @nn: namespace
 */
void ndp_line_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->lines.nelems));
	rhashtable_destroy(&nn->lines);
}
