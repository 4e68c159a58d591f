// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: the flow buckets that come from a peer
 *
 * A packet is held as it came, with all headers, and loses them when it is delivered. fab_order.c
 * and fab_dest.c decide; this file keeps packets, memory and the timer. All packets of a stream
 * go to one lane, under the stream's lock, so that no two can change places. Control packets are
 * sent without the lock, since sending takes the locks of qdiscs, below which packets may be
 * received.
 *
 * A peer that restarts has another instance: packets that are held are delivered, and the stream
 * begins anew. Packets of the last instance, which may still be in the fabric, are delivered out
 * of order for a second. If FAB_STRAYS_MAX of them come in a row, the other instance was forged,
 * and the stream returns to the last one.
 */
#include <linux/sched/mm.h>
#include <net/inet_ecn.h>
#include <net/ip_tunnels.h>
#include <net/udp.h>
#include "fab.h"
#include "fab_trace.h"

/* How long packets of the last instance may come */
#define FAB_OLD_INSTANCE	HZ

/* fab_held is in the control block of the packet. */
static struct fab_held *fab_held_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct fab_held) > sizeof(skb->cb));
	return (struct fab_held *)skb->cb;
}

static struct sk_buff *fab_skb_of(struct fab_held *held)
{
	return container_of((char (*)[48])held, struct sk_buff, cb);
}

static u32 fab_lane_of(const struct fab_stream *s)
{
	return s->bucket + (u32)(uintptr_t)s->peer / L1_CACHE_BYTES;
}

/* ---- memory of held packets ---- */

/* Bytes held by the devices of all user namespaces: creating more devices gains nothing */
static atomic_t fab_users_held = ATOMIC_INIT(0);

static bool fab_may_hold(const struct fab_dev *fab, u32 bytes)
{
	if (fab->of_user && atomic_read(&fab_users_held) + bytes > FAB_USERS_HELD_MAX)
		return false;
	return atomic_read(&fab->held_bytes) + bytes <= READ_ONCE(fab->options.limit);
}

/* Ends when no other CPU raises the maximum at the same time. */
static void fab_raise(atomic_t *max, int value)
{
	int old = atomic_read(max);

	while (value > old && !atomic_try_cmpxchg(max, &old, value))
		;
}

static void fab_add_held(struct fab_dev *fab, int bytes)
{
	fab_raise(&fab->held_bytes_max, atomic_add_return(bytes, &fab->held_bytes));
	if (fab->of_user)
		atomic_add(bytes, &fab_users_held);
}

/* ---- delivery ---- */

/* Header of a packet; it was checked. */
static void fab_header_of(const struct sk_buff *skb, struct fab_header *h)
{
	const u32 udp = sizeof(struct udphdr);

	fab_header_read(h, skb->data + udp, skb->len - udp);
}

static u8 fab_tos_of(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 4 ? ip_hdr(skb)->tos : ipv6_get_dsfield(ipv6_hdr(skb));
}

/* Remove all headers up to the IP packet or cell. Return: false if the packet was dropped */
static bool fab_pull(struct fab_dev *fab, struct sk_buff *skb, const struct fab_header *h)
{
	u32 len = sizeof(struct udphdr) + FAB_HLEN + (h->flags & FAB_F_KEYED ? FAB_MAC_LEN : 0);

	if (likely(pskb_may_pull(skb, len))) {
		skb_pull_rcsum(skb, len);
		skb->protocol = htons(h->proto);
		skb_clear_hash(skb);
		__vlan_hwaccel_clear_tag(skb);
		return true;
	}
	fab_count(fab, FAB_CNT_rx_malformed);
	kfree_skb(skb);
	return false;
}

static bool fab_inner_is_valid(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->version == 4 :
						  ipv6_hdr(skb)->version == 6;
}

/* Give an IP packet to the stack. @tos: traffic class in the outer header */
static void fab_give(struct fab_dev *fab, struct sk_buff *skb, u8 tos, u32 lane)
{
	const struct iphdr outer = { .tos = tos };

	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_mac_len(skb);
	skb->encapsulation = 0;
	if (unlikely(!pskb_inet_may_pull(skb) || !fab_inner_is_valid(skb))) {
		fab_count(fab, FAB_CNT_rx_malformed);
		DEV_STATS_INC(fab->dev, rx_errors);
		kfree_skb(skb);
		return;
	}
	if (unlikely(IP_ECN_decapsulate(&outer, skb) > 1)) {
		fab_count(fab, FAB_CNT_rx_ecn_error);
		DEV_STATS_INC(fab->dev, rx_errors);
		kfree_skb(skb);
		return;
	}
	memset(skb->cb, 0, sizeof(skb->cb));
	fab_lane_add(fab, lane, skb);
}

/**
 * fab_deliver() - deliver a packet, whatever its order
 * @fab: device
 * @skb: the packet, with all headers
 * @h: its header
 * @lane: packets with the same number stay in order
 *
 * Cells are dropped: alone they are of no use.
 */
void fab_deliver(struct fab_dev *fab, struct sk_buff *skb, const struct fab_header *h, u32 lane)
{
	u8 tos = fab_tos_of(skb);

	if (h->op == FAB_CELL) {
		fab_count(fab, FAB_CNT_rx_broken_cells);
		kfree_skb(skb);
		return;
	}
	if (fab_pull(fab, skb, h))
		fab_give(fab, skb, tos, lane);
}

/* ---- cells ---- */

static void fab_drop_partial(struct fab_stream *s)
{
	if (!s->partial)
		return;
	fab_count(s->peer->fab, FAB_CNT_rx_broken_cells);
	fab_add_held(s->peer->fab, -(int)s->partial->truesize);
	kfree_skb(s->partial);
	s->partial = NULL;
	s->cells.open = false;
}

/* Drop a packet whose next cell did not come in time. */
static void fab_expire_partial(struct fab_stream *s, u64 now_ns)
{
	if (s->partial && now_ns >= s->partial_until_ns)
		fab_drop_partial(s);
}

/* Append a cell to the packet that is put together. Return: false if there is no memory */
static bool fab_append(struct fab_stream *s, struct sk_buff *cell)
{
	struct fab_dev *fab = s->peer->fab;
	u32 truesize, more;

	if (!fab_may_hold(fab, cell->truesize))
		return false;
	if (!s->partial) {
		/* for the whole packet: cells that come slowly must not hold memory for ever */
		s->partial_until_ns = ktime_get_ns() + READ_ONCE(fab->options.wait_max_ns);
		s->partial = cell;
		fab_add_held(fab, cell->truesize);
		return true;
	}
	truesize = s->partial->truesize;
	/* room for a packet of the usual size, or twice as long, so that most cells only copy */
	more = max3(READ_ONCE(fab->dev->mtu), s->partial->len, cell->len);
	if (skb_tailroom(s->partial) < cell->len &&
	    pskb_expand_head(s->partial, 0, more, GFP_ATOMIC))
		return false;
	if (skb_copy_bits(cell, 0, skb_put(s->partial, cell->len), cell->len))
		return false;
	fab_add_held(fab, s->partial->truesize - truesize);
	consume_skb(cell);
	return true;
}

/* Deliver a cell in order. */
static void fab_cell_receive(struct fab_stream *s, struct sk_buff *skb, const struct fab_header *h)
{
	struct fab_dev *fab = s->peer->fab;
	u8 tos = fab_tos_of(skb);
	enum fab_cell what;

	if (!fab_pull(fab, skb, h))
		return;
	if (fab_cells_breaks(&s->cells, h->seq, h->flags))
		fab_drop_partial(s);
	what = fab_cells_receive(&s->cells, h->seq, h->flags, skb->len, IP_MAX_MTU);
	/* a cell of a clone, or one in fragments, cannot grow */
	skb->ip_summed = CHECKSUM_NONE;
	if (what == FAB_CELL_DROP || skb_linearize_cow(skb) || !fab_append(s, skb)) {
		fab_count(fab, FAB_CNT_rx_broken_cells);
		fab_drop_partial(s);
		s->cells.open = false;
		kfree_skb(skb);
		return;
	}
	s->partial_tos = h->flags & FAB_F_FIRST || INET_ECN_is_ce(tos) ? tos : s->partial_tos;
	if (what != FAB_CELL_DONE)
		return;
	skb = s->partial;
	s->partial = NULL;
	fab_add_held(fab, -(int)skb->truesize);
	fab_give(fab, skb, s->partial_tos, fab_lane_of(s));
}

/* Deliver a packet of the stream in order. */
static void fab_pass(struct fab_stream *s, struct sk_buff *skb, const struct fab_header *h)
{
	if (h->op == FAB_CELL)
		fab_cell_receive(s, skb, h);
	else
		fab_deliver(s->peer->fab, skb, h, fab_lane_of(s));
}

/* ---- packets that wait ---- */

static bool fab_has_room(const struct fab_stream *s, u32 bytes)
{
	const struct fab_dev *fab = s->peer->fab;

	return s->held_bytes + bytes <= READ_ONCE(fab->options.flow_limit) &&
	       fab_may_hold(fab, bytes);
}

static void fab_charge(struct fab_stream *s, const struct sk_buff *skb)
{
	s->held_bytes += skb->truesize;
	fab_add_held(s->peer->fab, skb->truesize);
}

static void fab_release(struct fab_stream *s, struct sk_buff *skb)
{
	struct fab_header h;

	s->held_bytes -= skb->truesize;
	fab_add_held(s->peer->fab, -(int)skb->truesize);
	fab_count(s->peer->fab, FAB_CNT_rx_released);
	fab_header_of(skb, &h);
	fab_pass(s, skb, &h);
}

/* ---- sequence numbers ---- */

static struct fab_wait fab_wait_of(const struct fab_dev *fab)
{
	u32 max_ns = READ_ONCE(fab->options.wait_max_ns);

	return (struct fab_wait){
		.min_ns = min_t(u32, READ_ONCE(fab->options.wait_min_ns), max_ns), .max_ns = max_ns,
	};
}

/* Deliver the held packets whose turn it is. */
static void fab_release_ordered(struct fab_stream *s)
{
	struct fab_held *held;

	while ((held = fab_order_pop(&s->order)))
		fab_release(s, fab_skb_of(held));
}

/* Give up holes whose wait is over: at most one a packet that waits. */
static void fab_expire_ordered(struct fab_stream *s, u64 now_ns)
{
	struct fab_wait wait;

	if (likely(!s->order.count))
		return;
	wait = fab_wait_of(s->peer->fab);
	while (!fab_order_wait_ns(&s->order, &s->peer->skew, &wait, now_ns)) {
		trace_fab_wait_over(s->peer->fab, s->bucket, false, s->order.next, s->held_bytes,
				    READ_ONCE(s->peer->skew.ns));
		fab_order_skip(&s->order, &s->peer->skew, now_ns);
		fab_count(s->peer->fab, FAB_CNT_rx_skipped);
		fab_release_ordered(s);
	}
}

static void fab_flush_ordered(struct fab_stream *s, u32 next)
{
	struct fab_held *held;

	while ((held = fab_order_flush(&s->order)))
		fab_release(s, fab_skb_of(held));
	fab_order_init(&s->order, next);
}

static void fab_receive_ordered(struct fab_stream *s, struct sk_buff *skb,
				const struct fab_header *h, u64 now_ns)
{
	static const enum fab_counter counters[] = {
		[FAB_PASS] = FAB_CNT_rx_passed, [FAB_LATE] = FAB_CNT_rx_late,
		[FAB_UNHELD] = FAB_CNT_rx_unheld, [FAB_STRAY] = FAB_CNT_rx_stray,
		[FAB_DUPLICATE] = FAB_CNT_rx_duplicate, [FAB_RESTART] = FAB_CNT_rx_restarts,
	};
	struct fab_held *place = fab_has_room(s, skb->truesize) ? fab_held_of(skb) : NULL;
	struct fab_dev *fab = s->peer->fab;
	enum fab_verdict v;

	v = fab_order_receive(&s->order, place, h->seq, &s->peer->skew, now_ns);
	if (v == FAB_RESTART) {
		fab_count(fab, FAB_CNT_rx_restarts);
		fab_flush_ordered(s, h->seq);
		v = fab_order_receive(&s->order, place, h->seq, &s->peer->skew, now_ns);
	}
	if (v == FAB_HOLD) {
		fab_charge(s, skb);
	} else {
		fab_count(fab, counters[v]);
		if (v == FAB_DUPLICATE)
			kfree_skb(skb);
		else if (v == FAB_PASS)
			fab_pass(s, skb, h);
		else
			fab_deliver(fab, skb, h, fab_lane_of(s));
		fab_release_ordered(s);
	}
	fab_expire_ordered(s, now_ns);
}

/* ---- ConWeave ---- */

/**
 * struct fab_answers - control packets that are sent after the stream is unlocked
 * @count: number of them
 * @h: headers: RTT_REPLY or NOTIFY, and CLEAR
 */
struct fab_answers {
	u32 count;
	struct fab_header h[2];
};

static void fab_add_answer(struct fab_answers *a, u8 op, u8 flags, const struct fab_header *h)
{
	a->h[a->count++] = (struct fab_header){
		.op = op, .flags = flags, .path = h->path, .epoch = h->epoch, .cookie = h->cookie,
		.tx_us = h->tx_us,
	};
}

static void fab_send_answers(struct fab_peer *peer, const struct fab_answers *a)
{
	u32 i;

	for (i = 0; i < a->count; i++)
		fab_control(peer, &a->h[i]);
}

/* Admission control: are so many FIFOs in use that peers should not reroute? */
static u8 fab_refusal(const struct fab_dev *fab)
{
	u32 max = READ_ONCE(fab->options.fifos);

	return atomic_read(&fab->fifos) >= max - max / 4 ? FAB_F_REFUSE : 0;
}

static void fab_clear(struct fab_stream *s, const struct fab_header *h, struct fab_answers *a)
{
	fab_count(s->peer->fab, FAB_CNT_tx_clears);
	fab_add_answer(a, FAB_CLEAR, fab_refusal(s->peer->fab), h);
}

/*
 * Tell the source that a path is congested, once in half of the time for which it avoids the
 * path.
 */
static void fab_notify(struct fab_stream *s, const struct fab_header *h, u64 now_ns,
		       struct fab_answers *a)
{
	struct fab_source_params p = {
		.busy_ns = READ_ONCE(s->peer->fab->options.theta_path_busy_ns) / 2,
	};

	if (fab_busy_test(&s->peer->notified, h->path, now_ns))
		return;
	fab_busy_set(&s->peer->notified, h->path, &p, now_ns);
	fab_count(s->peer->fab, FAB_CNT_tx_notifies);
	fab_add_answer(a, FAB_NOTIFY, 0, h);
}

/* Release the FIFO of the stream. */
static void fab_flush_fifo(struct fab_stream *s)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&s->fifo)))
		fab_release(s, skb);
	atomic_dec(&s->peer->fab->fifos);
}

/* Take a FIFO. Return: false if all are in use */
static bool fab_take_fifo(struct fab_dev *fab)
{
	u32 fifos = atomic_inc_return(&fab->fifos);

	if (fifos <= READ_ONCE(fab->options.fifos)) {
		fab_count(fab, FAB_CNT_rx_fifos);
		fab_raise(&fab->fifos_max, fifos);
		return true;
	}
	atomic_dec(&fab->fifos);
	return false;
}

/*
 * Append a packet to the FIFO. Return: false if there is no room: it is released, and the packet
 * is out of order
 */
static bool fab_hold(struct fab_stream *s, struct sk_buff *skb, bool start)
{
	bool room = fab_has_room(s, skb->truesize);

	if (start && (!room || !fab_take_fifo(s->peer->fab))) {
		fab_dest_pass(&s->dest);
		return false;
	}
	if (!room) {
		fab_dest_pass(&s->dest);
		fab_flush_fifo(s);
		return false;
	}
	fab_charge(s, skb);
	__skb_queue_tail(&s->fifo, skb);
	return true;
}

static void fab_answer(struct fab_stream *s, const struct fab_header *h,
		       const struct fab_todo *todo, bool ce, u64 now_ns,
		       struct fab_answers *a)
{
	struct fab_dev *fab = s->peer->fab;

	if (todo->reply) {
		fab_count(fab, FAB_CNT_tx_replies);
		fab_add_answer(a, FAB_REPLY, fab_refusal(fab) | (ce ? FAB_F_CE_ECHO : 0), h);
	} else if (ce) {
		fab_notify(s, h, now_ns, a);
	}
	if (todo->clear)
		fab_clear(s, h, a);
}

static enum fab_counter fab_weave_counter(const struct fab_todo *todo)
{
	if (todo->hold)
		return FAB_CNT_rx_unheld;
	if (todo->stray)
		return FAB_CNT_rx_stray;
	return todo->late ? FAB_CNT_rx_late : FAB_CNT_rx_passed;
}

static void fab_receive_weave(struct fab_stream *s, struct sk_buff *skb,
			      const struct fab_header *h, bool ce, u64 now_ns,
			      struct fab_answers *a)
{
	const struct closfab_options *o = &s->peer->fab->options;
	struct fab_dest_params p = {
		.extra_ns = READ_ONCE(o->theta_resume_extra_ns),
		.default_ns = READ_ONCE(o->theta_resume_default_ns),
		.max_ns = READ_ONCE(o->wait_max_ns),
	};
	struct fab_todo todo = fab_dest_receive(&s->dest, &p, h, now_ns);

	if (todo.restart)
		fab_count(s->peer->fab, FAB_CNT_rx_restarts);
	if (todo.flush_before) {
		fab_count(s->peer->fab, FAB_CNT_rx_epoch_flushes);
		fab_flush_fifo(s);
	}
	if (!todo.hold || !fab_hold(s, skb, todo.start)) {
		fab_count(s->peer->fab, fab_weave_counter(&todo));
		fab_pass(s, skb, h);
	}
	if (todo.flush)
		fab_flush_fifo(s);
	fab_answer(s, h, &todo, ce, now_ns, a);
}

/* Has T_resume passed? */
static void fab_expire_weave(struct fab_stream *s, u64 now_ns, struct fab_answers *a)
{
	struct fab_header h = {
		.epoch = s->dest.epoch, .cookie = fab_cookie(s->instance, s->bucket),
	};

	if (!s->dest.held || now_ns < s->dest.deadline_ns)
		return;
	trace_fab_wait_over(s->peer->fab, s->bucket, true, s->dest.epoch, s->held_bytes, 0);
	fab_count(s->peer->fab, FAB_CNT_rx_timers);
	fab_dest_pass(&s->dest);
	fab_flush_fifo(s);
	fab_clear(s, &h, a);
}

/* ---- timer ---- */

/* When the timer is needed next, or U64_MAX */
static u64 fab_deadline(const struct fab_stream *s, u64 now_ns)
{
	struct fab_wait wait;
	u64 at_ns = U64_MAX;

	if (s->order.count) {
		wait = fab_wait_of(s->peer->fab);
		at_ns = now_ns + fab_order_wait_ns(&s->order, &s->peer->skew, &wait, now_ns);
	}
	if (s->dest.held)
		at_ns = min(at_ns, s->dest.deadline_ns);
	if (s->partial)
		at_ns = min(at_ns, s->partial_until_ns);
	return at_ns;
}

/*
 * Let the timer expire in time. One that expires earlier is left alone: to start it anew for each
 * packet would cost more.
 */
static void fab_set_timer(struct fab_stream *s, u64 now_ns)
{
	u64 at_ns = fab_deadline(s, now_ns);

	if (at_ns >= s->timer_ns)
		return;
	s->timer_ns = at_ns;
	hrtimer_start(&s->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart fab_timer(struct hrtimer *timer)
{
	struct fab_stream *s = container_of(timer, struct fab_stream, timer);
	struct fab_answers answers = { };
	u64 now_ns;

	rcu_read_lock();
	spin_lock(&s->lock);
	/* not earlier: a packet that has just been held would come from the future */
	now_ns = ktime_get_ns();
	s->timer_ns = U64_MAX;
	fab_expire_ordered(s, now_ns);
	fab_expire_weave(s, now_ns, &answers);
	fab_expire_partial(s, now_ns);
	fab_set_timer(s, now_ns);
	spin_unlock(&s->lock);
	fab_send_answers(s->peer, &answers);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* ---- streams ---- */

static struct fab_stream *fab_stream_alloc(struct fab_peer *peer, u16 bucket)
{
	struct fab_stream *s = fab_alloc(peer->fab, sizeof(*s));

	if (!s)
		return NULL;
	spin_lock_init(&s->lock);
	hrtimer_setup(&s->timer, fab_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	__skb_queue_head_init(&s->fifo);
	fab_order_init(&s->order, 0);
	s->timer_ns = U64_MAX;
	s->peer = peer;
	s->bucket = bucket;
	return s;
}

/* Create a stream. Return: it, or one that another CPU has created; NULL: too many, or no memory */
static struct fab_stream *fab_stream_create(struct fab_peer *peer, u16 bucket)
{
	struct fab_dev *fab = peer->fab;
	struct mem_cgroup *before;
	struct fab_stream *s;
	int err;

	if (atomic_inc_return(&fab->streams) > FAB_STREAMS_MAX)
		goto err_count;
	s = fab_stream_alloc(peer, bucket);
	if (!s)
		goto err_count;
	before = set_active_memcg(fab->memcg);
	err = xa_insert_bh(&peer->streams, bucket, s, GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(before);
	if (!err)
		return s;
	kfree(s);
	atomic_dec(&fab->streams);
	return err == -EBUSY ? xa_load(&peer->streams, bucket) : NULL;

err_count:
	atomic_dec(&fab->streams);
	return NULL;
}

/**
 * fab_stream_free() - free a stream
 * @s: stream that no packet can find
 *
 * Context: process; may sleep.
 */
void fab_stream_free(struct fab_stream *s)
{
	struct fab_dev *fab = s->peer->fab;
	struct fab_held *held;

	hrtimer_cancel(&s->timer);
	while ((held = fab_order_flush(&s->order)))
		kfree_skb(fab_skb_of(held));
	if (s->dest.held)
		atomic_dec(&fab->fifos);
	__skb_queue_purge(&s->fifo);
	fab_add_held(fab, -(int)s->held_bytes);
	fab_drop_partial(s);
	atomic_dec(&fab->streams);
	kfree(s);
}

/* The sender numbers anew. */
static void fab_restart(struct fab_stream *s, const struct fab_header *h)
{
	/* the first packet may be late, but the number of a stream begins at 0 */
	u32 next = h->op != FAB_CONWEAVE && h->seq >= FAB_AHEAD ? h->seq : 0;

	if (s->started) {
		fab_count(s->peer->fab, FAB_CNT_rx_restarts);
		s->last_instance = s->instance;
		s->restarted = jiffies;
	}
	fab_flush_ordered(s, next);
	if (s->dest.held)
		fab_flush_fifo(s);
	fab_drop_partial(s);
	s->dest = (struct fab_dest){ };
	s->instance = fab_cookie_instance(h->cookie);
	s->old_packets = 0;
	s->started = true;
}

/* Does the packet come from before the sender's restart? */
static bool fab_is_old(const struct fab_stream *s, u16 instance)
{
	return s->restarted && instance == s->last_instance &&
	       time_before(jiffies, s->restarted + FAB_OLD_INSTANCE);
}

static void fab_receive_locked(struct fab_stream *s, struct sk_buff *skb,
			       const struct fab_header *h, bool ce, struct fab_answers *a)
{
	u16 instance = fab_cookie_instance(h->cookie);
	u64 now_ns = ktime_get_ns();

	if (unlikely(!s->started || instance != s->instance)) {
		if (fab_is_old(s, instance) && ++s->old_packets < FAB_STRAYS_MAX) {
			fab_count(s->peer->fab, FAB_CNT_rx_late);
			fab_deliver(s->peer->fab, skb, h, fab_lane_of(s));
			return;
		}
		fab_restart(s, h);
	} else if (unlikely(s->old_packets)) {
		s->old_packets = 0;
	}
	if (h->op == FAB_CONWEAVE)
		fab_receive_weave(s, skb, h, ce, now_ns, a);
	else
		fab_receive_ordered(s, skb, h, now_ns);
	fab_set_timer(s, now_ns);
}

/**
 * fab_stream_receive() - receive a packet of a bucket
 * @peer: its sender
 * @skb: the packet, with all headers, without references to its device and route
 * @h: its header, of kind FAB_ORDERED, FAB_CELL or FAB_CONWEAVE
 * @ce: the outer header has congestion experienced
 *
 * Context: RCU, BH off.
 */
void fab_stream_receive(struct fab_peer *peer, struct sk_buff *skb, const struct fab_header *h,
			bool ce)
{
	u16 bucket = fab_cookie_bucket(h->cookie);
	struct fab_stream *s = xa_load(&peer->streams, bucket);
	struct fab_answers answers;

	if (unlikely(!s))
		s = fab_stream_create(peer, bucket);
	if (unlikely(!s)) {
		fab_count(peer->fab, FAB_CNT_rx_unordered);
		fab_deliver(peer->fab, skb, h, h->cookie);
		return;
	}
	answers.count = 0;
	spin_lock(&s->lock);
	fab_receive_locked(s, skb, h, ce, &answers);
	spin_unlock(&s->lock);
	fab_send_answers(peer, &answers);
}
