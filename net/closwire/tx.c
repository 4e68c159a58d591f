// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: transmission, from the ring over the link to the cable
 *
 * The ring is that of the hardware. When it is full, the queue is stopped, and later
 * packets wait in the qdisc. BQL usually stops the queue earlier. A TSO packet is in
 * the ring as its frames.
 *
 * The link takes MAC control frames first, then one frame of each ring in turn,
 * except for rings whose first frame has a paused priority (closwire_line.c), or is not
 * ready because the host's CPU is still busy with it (closwire_cpu.c). The
 * timer fires when the last bit of a frame has left, provided that another frame or
 * the owner of this one is waiting for that. A late timer, as in a busy guest, does
 * not change the times of frames: they are computed, and a single call performs all
 * transmissions that are due.
 *
 * No timer is armed on an idle port.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <net/gso.h>
#include <net/tcp.h>
#include "closwire.h"

static u32 closwire_frame_len(const struct sk_buff *skb)
{
	return skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
}

static u8 closwire_frame_prio(const struct sk_buff *skb)
{
	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	return skb->priority < CLOSWIRE_PRIOS ? skb->priority : 0;
}

/* ---- link ---- */

/* Return the memory of a sent frame, and with the last frame of a packet its ring slot. */
static void closwire_complete(struct closwire_port *port, struct sk_buff *skb)
{
	const struct closwire_cb *cb = closwire_cb(skb);
	struct netdev_queue *txq;

	if (cb->txq == CLOSWIRE_CTRL)
		return;
	closwire_add(&port->stats.tx_frames, 1);
	closwire_add(&port->stats.tx_bytes, cb->len);
	if (unlikely(cb->stamp)) {
		struct skb_shared_hwtstamps stamp = {
			.hwtstamp = closwire_stamp(port, cb->sfd_ns),
		};

		skb_tstamp_tx(skb, &stamp);
		closwire_add(&port->stats.tx_hwtstamps, 1);
	}
	txq = netdev_get_tx_queue(port->dev, cb->txq);
	netdev_tx_completed_queue(txq, cb->last, cb->len);
	if (cb->last && port->tx.posted[cb->txq]-- == port->tx.ring_max)
		netif_tx_wake_queue(txq);
	skb_orphan(skb);
}

/* Put a sent frame on the cable; the end of its transmission is known. */
static void closwire_depart(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_tx *tx = &port->tx;
	struct closwire_cb *cb = closwire_cb(skb);
	u64 delay_ns = READ_ONCE(tx->delay_ns);
	u32 loss = READ_ONCE(tx->loss);
	struct closwire_port *peer;

	closwire_complete(port, skb);
	if (unlikely(!cb->held && closwire_full(tx)))
		return closwire_drop(skb, &port->stats.tx_dropped_limit);
	closwire_hold(tx, skb);
	cb->sfd_ns += delay_ns;
	cb->arrival_ns = tx->line.end_ns + delay_ns;
	cb->lost = loss && get_random_u32() <= loss;
	peer = rcu_dereference_bh(port->peer);
	if (unlikely(!peer || !closwire_cable_enqueue(peer, skb))) {
		closwire_unhold(port, cb);
		closwire_drop(skb, &port->stats.tx_dropped_carrier);
	}
}

/* Dequeue the next frame to transmit; NULL: all waiting frames are paused or not ready. */
static struct sk_buff *closwire_next(struct closwire_tx *tx, u64 now_ns)
{
	struct sk_buff *skb = __skb_dequeue(&tx->ctrl);
	u32 waiting = tx->waiting;
	u32 txq;

	if (unlikely(skb))
		return skb;
	while (waiting) {
		txq = closwire_next_queue(waiting, tx->last_txq);
		skb = skb_peek(&tx->ring[txq]);
		if (closwire_cb(skb)->ready_ns <= now_ns &&
		    !closwire_line_paused(&tx->line, now_ns, closwire_cb(skb)->prio)) {
			__skb_unlink(skb, &tx->ring[txq]);
			if (skb_queue_empty(&tx->ring[txq]))
				tx->waiting &= ~BIT(txq);
			tx->last_txq = txq;
			return skb;
		}
		waiting &= ~BIT(txq);
	}
	return NULL;
}

/*
 * Must the end of transmission be signalled? The owner of the memory or of a timestamp
 * waits for it. Forwarded frames have no owner, and TCP does not wait for pure ACKs:
 * they need no event.
 */
static bool closwire_needs_completion(struct sk_buff *skb)
{
	return (skb->sk && !skb_is_tcp_pure_ack(skb)) ||
	       closwire_cb(skb)->stamp;
}

/* Start transmission at @t_ns, or at the end of the interframe gap. */
static void closwire_start(struct closwire_port *port, struct sk_buff *skb,
			   u64 t_ns)
{
	struct closwire_tx *tx = &port->tx;
	struct closwire_cb *cb = closwire_cb(skb);

	tx->paused = false;
	cb->sfd_ns = closwire_line_send(&tx->line, t_ns, cb->len);
	if (closwire_needs_completion(skb))
		tx->frame = skb;
	else
		closwire_depart(port, skb);
}

static void closwire_arm_tx(struct closwire_tx *tx, u64 t_ns)
{
	if (tx->due_ns == t_ns)
		return;
	tx->due_ns = t_ns;
	hrtimer_start(&tx->timer, ns_to_ktime(t_ns), HRTIMER_MODE_ABS);
}

/*
 * Time after @t_ns when a waiting frame may start, if none may at @t_ns: the CPU has
 * finished the first frame of a ring, or a pause ends. Counts the stops by pauses.
 */
static u64 closwire_wait_ns(struct closwire_port *port, u64 t_ns)
{
	struct closwire_tx *tx = &port->tx;
	unsigned long waiting = tx->waiting;
	u64 next_ns = U64_MAX;
	bool paused = false;
	u64 ready_ns;
	u32 txq;

	for_each_set_bit(txq, &waiting, CLOSWIRE_TX_QUEUES_MAX) {
		ready_ns = closwire_cb(skb_peek(&tx->ring[txq]))->ready_ns;
		if (ready_ns > t_ns)
			next_ns = min(next_ns, ready_ns);
		else
			paused = true;
	}
	if (paused) {
		next_ns = min(next_ns, closwire_pause_end(&tx->line, t_ns));
		if (!tx->paused)
			closwire_add(&port->stats.tx_paused, 1);
	}
	tx->paused = paused;
	return next_ns;
}

/*
 * Transmit the frames that are due up to @now_ns. Each iteration starts a frame or
 * advances from_ns to the end of a pause or to the time when a frame is ready; there are
 * at most eight pauses, and 16 rings. @budget bounds the iterations.
 *
 * Return: remaining budget; 0 if frames may still be due.
 */
static int closwire_tx_send(struct closwire_port *port, u64 now_ns, int budget)
{
	struct closwire_tx *tx = &port->tx;
	struct sk_buff *skb;
	u64 t_ns;

	for (; tx->line.end_ns <= now_ns; budget--) {
		if (unlikely(!budget))
			return 0;
		skb = tx->frame;
		tx->frame = NULL;
		if (skb)
			closwire_depart(port, skb);
		t_ns = max(tx->from_ns, tx->line.end_ns);
		skb = closwire_next(tx, t_ns);
		if (skb) {
			closwire_start(port, skb, t_ns);
			continue;
		}
		if (!tx->waiting)
			return budget;
		t_ns = closwire_wait_ns(port, t_ns);
		if (t_ns > now_ns) {
			closwire_arm_tx(tx, t_ns);
			return budget;
		}
		tx->from_ns = t_ns;
	}
	if (tx->frame || tx->waiting || !skb_queue_empty(&tx->ctrl))
		closwire_arm_tx(tx, tx->line.end_ns);
	return budget;
}

/* If the link is idle, frames posted at @t_ns may start then. */
static void closwire_tx_idle(struct closwire_tx *tx, u64 t_ns)
{
	if (tx->line.end_ns <= t_ns)
		tx->from_ns = max(tx->from_ns, t_ns);
}

/**
 * closwire_tx_run() - transmit frames and obey pauses up to the present, in order
 * @port: port
 * @now_ns: present time
 *
 * A pause delays frames that start after its arrival, even if it is processed late. A
 * port that is more than CLOSWIRE_TX_BUDGET events late continues in NAPI.
 *
 * Context: tx lock held.
 */
void closwire_tx_run(struct closwire_port *port, u64 now_ns)
{
	int budget = CLOSWIRE_TX_BUDGET;
	struct sk_buff *skb;
	u64 t_ns;

	while (budget && (skb = closwire_cable_ctrl(&port->rx, now_ns))) {
		t_ns = closwire_cb(skb)->arrival_ns;
		budget = closwire_tx_send(port, t_ns, budget);
		if (!budget)
			break;
		closwire_tx_idle(&port->tx, t_ns);
		closwire_cable_take_ctrl(&port->rx, skb, now_ns);
		closwire_receive_ctrl(port, skb);
		budget--;
	}
	if (unlikely(!closwire_tx_send(port, now_ns, budget)))
		napi_schedule(&port->napi);
}

/**
 * closwire_tx_catch_up() - perform all due events before frames are posted
 * @port: port
 * @now_ns: present time
 *
 * If too many events are due, the link stays idle until @now_ns: no frame may start
 * before it is posted.
 *
 * Context: tx lock held.
 */
void closwire_tx_catch_up(struct closwire_port *port, u64 now_ns)
{
	closwire_tx_run(port, now_ns);
	closwire_tx_idle(&port->tx, now_ns);
}

/**
 * closwire_set_pfc() - set the priorities that obey pause frames
 * @port: port
 * @enable: priorities, one bit each; the pauses of the remaining priorities end at once
 */
void closwire_set_pfc(struct closwire_port *port, u8 enable)
{
	struct closwire_tx *tx = &port->tx;
	u64 now_ns;
	u32 prio;

	spin_lock_bh(&tx->lock);
	now_ns = ktime_get_ns();
	if (tx->up)
		closwire_tx_catch_up(port, now_ns);
	WRITE_ONCE(tx->pfc, enable);
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		if (!(enable & BIT(prio)))
			closwire_pause_stop(&tx->line, now_ns, prio);
	}
	if (tx->up) {
		closwire_tx_run(port, now_ns);
		closwire_schedule_qdiscs(port->dev);
	}
	spin_unlock_bh(&tx->lock);
}

/* ---- ring ---- */

static void closwire_post(struct closwire_tx *tx, struct sk_buff *skb, u32 txq,
			  u8 prio, u64 ready_ns, bool last)
{
	struct closwire_cb *cb = closwire_cb(skb);

	cb->len = closwire_frame_len(skb);
	cb->ready_ns = ready_ns;
	cb->held = 0;
	cb->txq = txq;
	cb->prio = prio;
	cb->last = last;
	cb->stamp = false;
	if (!skb->sk)
		closwire_hold(tx, skb);
	if (txq == CLOSWIRE_CTRL) {
		__skb_queue_tail(&tx->ctrl, skb);
	} else {
		__skb_queue_tail(&tx->ring[txq], skb);
		tx->waiting |= BIT(txq);
	}
}

/* Post the frames of a packet, a list, to a ring that is not full. */
static void closwire_post_packet(struct closwire_port *port, struct sk_buff *frames,
				 u32 queue, u64 ready_ns)
{
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, queue);
	bool stamping = READ_ONCE(port->ptp.config.tx_type) == HWTSTAMP_TX_ON;
	u8 prio = closwire_frame_prio(frames);
	struct closwire_tx *tx = &port->tx;
	struct sk_buff *skb, *next;
	u32 bytes = 0;

	skb_list_walk_safe(frames, skb, next) {
		skb_mark_not_on_list(skb);
		closwire_post(tx, skb, queue, prio, ready_ns, !next);
		if (stamping && skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) {
			skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
			closwire_cb(skb)->stamp = true;
		}
		skb_tx_timestamp(skb);
		bytes += closwire_cb(skb)->len;
	}
	netdev_tx_sent_queue(txq, bytes);
	if (++tx->posted[queue] >= tx->ring_max) {
		netif_tx_stop_queue(txq);
		closwire_add(&port->stats.tx_ring_full, 1);
	}
}

static bool closwire_is_ctrl(const struct sk_buff *skb)
{
	return ((const struct ethhdr *)skb->data)->h_proto ==
	       htons(ETH_P_PAUSE);
}

/**
 * closwire_post_ctrl() - post a MAC control frame, to be transmitted next
 * @port: port
 * @skb: frame; consumed
 *
 * Context: tx lock held, after closwire_tx_catch_up().
 *
 * Return: 0, or -ENOBUFS if too many control frames are waiting.
 */
int closwire_post_ctrl(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_tx *tx = &port->tx;

	if (skb_queue_len(&tx->ctrl) >= CLOSWIRE_CTRL_MAX) {
		closwire_drop(skb, &port->stats.tx_dropped_ctrl);
		return -ENOBUFS;
	}
	closwire_count_ctrl(&port->stats, skb);
	closwire_post(tx, skb, CLOSWIRE_CTRL, 0, 0, true);
	return 0;
}

/* Post the segments of a packet, a list. Their headers show that they are MAC control frames. */
static void closwire_post_ctrls(struct closwire_port *port, struct sk_buff *frames)
{
	struct sk_buff *skb, *next;

	skb_list_walk_safe(frames, skb, next) {
		skb_mark_not_on_list(skb);
		closwire_post_ctrl(port, skb);
	}
}

/* Split a packet into its frames, a list; NULL: the packet was dropped. */
static struct sk_buff *closwire_frames(struct closwire_port *port,
				       struct sk_buff *skb)
{
	netdev_features_t features = port->dev->features & ~NETIF_F_GSO_MASK;
	struct sk_buff *frames = skb;

	if (unlikely(!pskb_may_pull(skb, ETH_HLEN)))
		frames = NULL;
	else if (skb_is_gso(skb))
		frames = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(frames)) {
		spin_lock(&port->tx.lock);
		closwire_drop(skb, &port->stats.tx_dropped_nomem);
		spin_unlock(&port->tx.lock);
		return NULL;
	}
	if (frames != skb)
		consume_skb(skb);
	return frames;
}

/**
 * closwire_xmit() - implement ndo_start_xmit
 * @skb: packet
 * @dev: device of the port
 *
 * Return: NETDEV_TX_OK; the queue is stopped before the ring overflows.
 */
netdev_tx_t closwire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	u32 queue = skb_get_queue_mapping(skb);
	struct closwire_tx *tx = &port->tx;
	u32 bytes = skb->len;
	u64 now_ns;

	closwire_delay_depart(skb);
	skb = closwire_frames(port, skb);
	if (!skb)
		return NETDEV_TX_OK;

	spin_lock(&tx->lock);
	if (unlikely(!tx->up)) {
		closwire_add(&port->stats.tx_dropped_carrier, 1);
		goto drop;
	}
	if (unlikely(!skb->sk && closwire_full(tx))) {
		closwire_add(&port->stats.tx_dropped_limit, 1);
		goto drop;
	}
	/* Read under the lock, where time must not go back. */
	now_ns = ktime_get_ns();
	closwire_tx_catch_up(port, now_ns);
	if (unlikely(closwire_is_ctrl(skb)))
		closwire_post_ctrls(port, skb);
	else
		closwire_post_packet(port, skb, queue,
				     closwire_cpu_send(&tx->cpu, now_ns, bytes));
	closwire_tx_run(port, now_ns);
	spin_unlock(&tx->lock);
	return NETDEV_TX_OK;

drop:
	spin_unlock(&tx->lock);
	kfree_skb_list(skb);
	return NETDEV_TX_OK;
}
