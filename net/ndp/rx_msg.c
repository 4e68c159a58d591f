// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: received messages of a socket; their states are described in recvmsg.c
 */
#include <linux/slab.h>
#include "ndp.h"

/**
 * ndp_rx_msg_alloc() - allocate a message
 * @p: its first packet
 *
 * Return: message, or NULL.
 */
struct ndp_rx_msg *ndp_rx_msg_alloc(const struct ndp_packet *p)
{
	struct ndp_rx_msg *rm = kzalloc(sizeof(*rm), GFP_ATOMIC | __GFP_NOWARN);

	if (!rm)
		return NULL;
	INIT_LIST_HEAD(&rm->node);
	rm->addrs = p->addrs;
	rm->port = p->h.sport;
	__skb_queue_head_init(&rm->skbs);
	rm->ahead = RB_ROOT;
	return rm;
}

static void ndp_rx_msg_append(struct ndp_rx_msg *rm, struct sk_buff *skb)
{
	__skb_queue_tail(&rm->skbs, skb);
	rm->next += ndp_part_cb(skb)->len;
}

/**
 * ndp_rx_is_silent() - did the sender of a flow not answer a PING?
 * @rx: flow
 *
 * Under rx_lock.
 *
 * Return: true if so.
 */
bool ndp_rx_is_silent(const struct ndp_rx *rx)
{
	return rx->asked_ns && ktime_get_ns() - rx->asked_ns >=
			       NDP_RX_SILENT_RTOS * ndp_rx_rto(ndp_sk(rx->sk));
}

/**
 * ndp_rx_watch() - start the timer of a socket while flows wait
 * @ns: socket
 *
 * Under rx_lock.
 */
void ndp_rx_watch(struct ndp_sock *ns)
{
	if (ns->tick_ns || ns->closed)
		return;
	ns->tick_ns = ndp_rx_rto(ns);
	hrtimer_start(&ns->tick, ns_to_ktime(ns->tick_ns), HRTIMER_MODE_REL_SOFT);
}

static void ndp_rx_msg_insert(struct ndp_rx_msg *rm, struct sk_buff *skb)
{
	struct rb_node **at = &rm->ahead.rb_node, *parent = NULL;
	u64 offset = ndp_part_cb(skb)->offset;

	while (*at) {
		parent = *at;
		at = offset < ndp_part_cb(rb_to_skb(parent))->offset ? &parent->rb_left :
								       &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, at);
	rb_insert_color(&skb->rbnode, &rm->ahead);
}

/* Take a packet out of @ahead; skb->rbnode shares memory with list pointers and the device. */
static void ndp_rx_msg_remove(struct ndp_rx_msg *rm, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &rm->ahead);
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
}

/**
 * ndp_rx_msg_add() - add a missing part to a message
 * @rm: message
 * @skb: payload, which becomes the message's
 * @part: its place
 *
 * Under rx_lock.
 */
void ndp_rx_msg_add(struct ndp_rx_msg *rm, struct sk_buff *skb, struct ndp_part_cb part)
{
	*ndp_part_cb(skb) = part;
	if (part.offset != rm->next)
		return ndp_rx_msg_insert(rm, skb);
	ndp_rx_msg_append(rm, skb);
	while ((skb = skb_rb_first(&rm->ahead)) && ndp_part_cb(skb)->offset == rm->next) {
		ndp_rx_msg_remove(rm, skb);
		ndp_rx_msg_append(rm, skb);
	}
}

/**
 * ndp_rx_msg_free() - free a message
 * @sk: its socket
 * @rm: message, in no list, and unknown to the core
 *
 * Without locks.
 */
void ndp_rx_msg_free(struct sock *sk, struct ndp_rx_msg *rm)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct sk_buff *skb;

	spin_lock_bh(&ns->rx_lock);
	ndp_rmem_end(&ns->rcv.mem, &rm->core.claim);
	if (rm->slots)
		ndp_region_return(ns, rm);
	spin_unlock_bh(&ns->rx_lock);
	while ((skb = skb_rb_first(&rm->ahead))) {
		ndp_rx_msg_remove(rm, skb);
		__skb_queue_tail(&rm->skbs, skb);
	}
	__skb_queue_purge(&rm->skbs);
	kfree(rm);
}

/* Is there something to read of a message? Under rx_lock */
static bool ndp_rx_msg_has_news(const struct ndp_rx_msg *rm)
{
	return !rm->rx || !skb_queue_empty(&rm->skbs);
}

/**
 * ndp_rx_msg_queue() - queue a message for readers, if it has news
 * @ns: socket
 * @rm: message; whole, failed or next to be read of its flow
 *
 * Under rx_lock.
 *
 * Return: true if there is news.
 */
bool ndp_rx_msg_queue(struct ndp_sock *ns, struct ndp_rx_msg *rm)
{
	if (rm == ns->reading)
		return ndp_rx_msg_has_news(rm);
	if (!rm->rx)
		list_move_tail(&rm->node, &ns->ready);
	else if (list_empty(&rm->node) && rm->core.claim.is_window && ndp_rx_msg_has_news(rm))
		list_add_tail(&rm->node, &ns->partial);
	else
		return false;
	if (!rm->no)
		rm->no = ++ns->rx_no;
	return true;
}

/**
 * ndp_rx_reader_waits() - does a reader wait for a message though it could read other messages?
 * @ns: socket
 *
 * Under rx_lock.
 *
 * Return: true if so.
 */
bool ndp_rx_reader_waits(const struct ndp_sock *ns)
{
	return ns->reading && !ndp_rx_msg_has_news(ns->reading) &&
	       !(list_empty(&ns->ready) && list_empty(&ns->partial));
}

/**
 * ndp_rx_msg_next() - get the message that recvmsg() would read
 * @ns: socket
 *
 * If a reader waits, a timer is started that ends the wait if the sender is silent. Under rx_lock.
 *
 * Return: message, or NULL.
 */
struct ndp_rx_msg *ndp_rx_msg_next(struct ndp_sock *ns)
{
	struct list_head *list = list_empty(&ns->ready) ? &ns->partial : &ns->ready;

	if (ns->reading && ndp_rx_msg_has_news(ns->reading))
		return ns->reading;
	if (ndp_rx_reader_waits(ns) && !ndp_rx_is_silent(ns->reading->rx)) {
		ndp_rx_watch(ns);
		return NULL;
	}
	return list_first_entry_or_null(list, struct ndp_rx_msg, node);
}

/**
 * ndp_rx_msg_readable() - check whether there is something to read
 * @ns: socket
 *
 * Return: true if so.
 */
bool ndp_rx_msg_readable(struct ndp_sock *ns)
{
	bool readable;

	spin_lock_bh(&ns->rx_lock);
	readable = ndp_rx_msg_next(ns);
	spin_unlock_bh(&ns->rx_lock);
	return readable;
}
