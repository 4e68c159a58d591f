// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: the way of a frame
 *
 *	xmit --> ring --> line --> cable --> receiver
 *	         |  BQL   |        delay     interrupt, NAPI, GRO
 *	         |        +- one frame at a time, at `rate`; when its last bit
 *	         |           has left, its sender gets its memory back
 *	         +- a TSO packet lies there as its frames
 *
 * The ring is the hardware's: when it is full, the queue is stopped, and what
 * comes then waits in the qdisc. Mostly BQL stops the queue earlier.
 *
 * The line takes MAC control frames first, then one frame of each ring in
 * turn, but none of a ring whose first frame has a paused priority
 * (wire_core.h). The timer fires at the moment when a frame's last bit has
 * left, if somebody waits for that: the next frame, or the owner of this one.
 * A timer that comes late, as in a busy guest, changes nothing in the times of
 * the frames: they are computed, and one call makes up for all that should
 * have happened.
 *
 * The cable is a FIFO of frames with their times of arrival. The receiver's
 * interrupt comes when the first one is there, or `rx-usecs` later, and takes
 * all that have arrived. MAC control frames have a FIFO of their own, since the
 * NIC obeys them without its host, at once.
 *
 * Nothing is armed while nothing moves.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <linux/user_namespace.h>
#include <net/gso.h>
#include <net/tcp.h>
#include <closnet/pfc.h>
#include "closwire.h"

/* MAC control opcode of a pause for all priorities (802.3x) */
#define CLOSWIRE_PAUSE_OPCODE	0x0001

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

/* ---- memory ---- */

/*
 * A NIC gives a frame's memory back to its sender when the frame has left. On
 * the cable it is therefore charged to nobody, nor is a forwarded frame in a
 * ring. The host's root may have as much of both as it asks for. The ports of
 * user namespaces have CLOSWIRE_HELD_MAX each, and CLOSWIRE_HELD_ALL_MAX together;
 * when that is used up, CLOSWIRE_HELD_MIN each, so that one user cannot stall the
 * ports of another.
 */
static atomic_long_t closwire_held_all;

static bool closwire_full(const struct closwire_tx *tx)
{
	int held;

	if (likely(!tx->limited))
		return false;
	held = atomic_read(&tx->held);
	return held >= CLOSWIRE_HELD_MAX ||
	       (held >= CLOSWIRE_HELD_MIN &&
		atomic_long_read(&closwire_held_all) >= CLOSWIRE_HELD_ALL_MAX);
}

/* Charge the port for a frame that has no owner, if it is not yet. */
static void closwire_hold(struct closwire_tx *tx, struct sk_buff *skb)
{
	struct closwire_cb *cb = closwire_cb(skb);

	if (likely(!tx->limited) || cb->held)
		return;
	cb->held = skb->truesize;
	atomic_add(cb->held, &tx->held);
	atomic_long_add(cb->held, &closwire_held_all);
}

/* Give that back. The sending port is NULL if it is about to go. */
static void closwire_unhold(struct closwire_port *sender,
			    const struct closwire_cb *cb)
{
	if (sender)
		atomic_sub(cb->held, &sender->tx.held);
	atomic_long_sub(cb->held, &closwire_held_all);
}

/* ---- the receiver ---- */

/* Sets the timer for what comes next. Under the rx lock. */
static void closwire_arm_rx(struct closwire_rx *rx)
{
	struct sk_buff *ctrl = skb_peek(&rx->ctrl);
	u64 t_ns = U64_MAX;

	if (!skb_queue_empty(&rx->flight))
		t_ns = rx->due_ns;
	if (unlikely(ctrl))
		t_ns = min(t_ns, closwire_cb(ctrl)->arrival_ns);
	if (t_ns != U64_MAX)
		hrtimer_start(&rx->timer, ns_to_ktime(t_ns), HRTIMER_MODE_ABS);
}

/* When the interrupt for this frame comes */
static u64 closwire_due_ns(const struct closwire_rx *rx, struct sk_buff *skb)
{
	return closwire_cb(skb)->arrival_ns + (u64)rx->usecs * NSEC_PER_USEC;
}

/* Puts the frame on the cable to this port; false: the port is down. */
static bool closwire_fly(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_cb *cb = closwire_cb(skb);
	struct closwire_rx *rx = &port->rx;
	struct sk_buff_head *frames;
	struct sk_buff *before;

	spin_lock(&rx->lock);
	if (unlikely(!rx->up)) {
		spin_unlock(&rx->lock);
		return false;
	}
	/* a lost one is not obeyed: it is only counted, as data is */
	frames = cb->txq == CLOSWIRE_CTRL && !cb->lost ? &rx->ctrl : &rx->flight;
	before = skb_peek_tail(frames);
	/* a cable that got shorter does not let frames overtake */
	if (before)
		cb->arrival_ns = max(cb->arrival_ns,
				     closwire_cb(before)->arrival_ns);
	else if (frames == &rx->flight)
		WRITE_ONCE(rx->due_ns, closwire_due_ns(rx, skb));
	__skb_queue_tail(frames, skb);
	if (!before)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
	return true;
}

/* Moves what has arrived, max at most; returns how many. */
static int closwire_land(struct sk_buff_head *from, struct sk_buff_head *to,
			 u64 now_ns, int max)
{
	struct sk_buff *skb;
	int n;

	for (n = 0; n < max; n++) {
		skb = skb_peek(from);
		if (!skb || closwire_cb(skb)->arrival_ns > now_ns)
			break;
		__skb_unlink(skb, from);
		__skb_queue_tail(to, skb);
	}
	return n;
}

/*
 * The first MAC control frame, if it has arrived. It stays the first one until
 * closwire_take_ctrl(): both are called under this port's TX lock.
 */
static struct sk_buff *closwire_arrived_ctrl(struct closwire_rx *rx, u64 now_ns)
{
	struct sk_buff *skb;

	if (likely(skb_queue_empty_lockless(&rx->ctrl)))
		return NULL;
	spin_lock(&rx->lock);
	skb = skb_peek(&rx->ctrl);
	if (skb && closwire_cb(skb)->arrival_ns > now_ns)
		skb = NULL;
	spin_unlock(&rx->lock);
	return skb;
}

/*
 * Takes that frame off the cable and arms the timer for the next one, unless
 * data has arrived, for which NAPI is due.
 */
static void closwire_take_ctrl(struct closwire_rx *rx, struct sk_buff *skb,
			       u64 now_ns)
{
	spin_lock(&rx->lock);
	__skb_unlink(skb, &rx->ctrl);
	if (skb_queue_empty(&rx->flight) || rx->due_ns > now_ns)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
}

/* Takes what is there once the interrupt has come, up to budget frames. */
static int closwire_arrived(struct closwire_port *port, u64 now_ns, int budget,
			    struct sk_buff_head *frames)
{
	struct closwire_rx *rx = &port->rx;
	struct sk_buff *skb;
	bool arm;
	int n = 0;

	spin_lock(&rx->lock);
	arm = !skb_queue_empty(&rx->ctrl);
	if (rx->due_ns <= now_ns) {
		n = closwire_land(&rx->flight, frames, now_ns, budget);
		skb = skb_peek(&rx->flight);
		if (skb && n < budget) {
			WRITE_ONCE(rx->due_ns, closwire_due_ns(rx, skb));
			arm = true;
		}
	}
	if (arm)
		closwire_arm_rx(rx);
	spin_unlock(&rx->lock);
	return n;
}

/*
 * What a NIC's memory would not know of the sender. The data may be shared
 * with it: a clone gets headers of its own, since the receiver writes there.
 */
static bool closwire_cut_loose(struct sk_buff *skb)
{
	if (skb_unclone(skb, GFP_ATOMIC) ||
	    skb_orphan_frags_rx(skb, GFP_ATOMIC))
		return false;
	skb_scrub_packet(skb, true);
	skb->priority = 0;
	skb_set_queue_mapping(skb, 0);
	skb_clear_hash(skb);
	skb_reset_redirect(skb);
	skb_shinfo(skb)->tx_flags = 0;
	skb_shinfo(skb)->tskey = 0;
	memset(skb_hwtstamps(skb), 0, sizeof(*skb_hwtstamps(skb)));
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	return true;
}

/* Ask the qdiscs again: some may hold a priority until its pause would have ended. */
void closwire_schedule_qdiscs(struct net_device *dev)
{
	u32 i;

	for (i = 0; i < dev->real_num_tx_queues; i++)
		netif_schedule_queue(netdev_get_tx_queue(dev, i));
}

static void closwire_receive_pfc(struct closwire_port *port,
				 const struct closnet_pfc_frame *pfc, u64 arrival_ns)
{
	struct closwire_line *line = &port->tx.line;
	u16 enable = ntohs(pfc->enable);
	u64 until_ns;
	bool sooner = false;
	u32 prio;

	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		if (!(enable & BIT(prio)))
			continue;
		closwire_add(&port->stats.rx_prio_pause[prio], 1);
		if (!(port->tx.pfc & BIT(prio)))
			continue;
		until_ns = closwire_paused_until_ns(line, prio);
		closwire_line_pause(line, arrival_ns, prio, ntohs(pfc->quanta[prio]));
		sooner |= closwire_paused_until_ns(line, prio) < until_ns;
	}
	if (sooner)
		closwire_schedule_qdiscs(port->dev);
}

/* Of a MAC control frame; 0, which is no opcode, if it is too short for one */
static u16 closwire_opcode(const struct sk_buff *skb)
{
	const __be16 *opcode;
	__be16 buffer;

	opcode = skb_header_pointer(skb, offsetof(struct closnet_pfc_frame, opcode),
				    sizeof(buffer), &buffer);
	return opcode ? ntohs(*opcode) : 0;
}

/* The pause frame that it is, in one piece; NULL: another MAC control frame */
static const struct closnet_pfc_frame *closwire_pfc(const struct sk_buff *skb,
						    struct closnet_pfc_frame *buffer)
{
	if (closwire_opcode(skb) != CLOSNET_PFC_OPCODE)
		return NULL;
	return skb_header_pointer(skb, 0, sizeof(*buffer), buffer);
}

/* A MAC control frame is for the NIC alone: it ends here. Under the tx lock. */
static void closwire_receive_ctrl(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_stats *stats = &port->stats;
	const struct closnet_pfc_frame *pfc;
	struct closnet_pfc_frame buffer;

	if (closwire_cb(skb)->held)
		closwire_unhold(rcu_dereference_bh(port->peer), closwire_cb(skb));
	closwire_add(&stats->rx_ctrl, 1);
	pfc = closwire_pfc(skb, &buffer);
	if (pfc) {
		closwire_receive_pfc(port, pfc, closwire_cb(skb)->arrival_ns);
	} else {
		closwire_add(&stats->rx_ctrl_unknown, 1);
		closwire_add(&stats->rx_pause,
			     closwire_opcode(skb) == CLOSWIRE_PAUSE_OPCODE);
	}
	consume_skb(skb);
}

static void closwire_drop(struct sk_buff *skb, u64 *counter)
{
	closwire_add(counter, 1);
	kfree_skb(skb);
}

static void closwire_receive(struct closwire_port *port, struct sk_buff *skb)
{
	const struct closwire_cb cb = *closwire_cb(skb);
	struct closwire_stats *stats = &port->stats;
	struct net_device *dev = port->dev;

	if (unlikely(cb.held))
		closwire_unhold(rcu_dereference_bh(port->peer), &cb);
	if (unlikely(cb.lost))
		return closwire_drop(skb, &stats->rx_lost);
	/* two VLAN tags pass, as on most NICs */
	if (unlikely(cb.len > READ_ONCE(dev->mtu) + ETH_HLEN + 2 * VLAN_HLEN))
		return closwire_drop(skb, &stats->rx_dropped_length);
	if (unlikely(!closwire_cut_loose(skb)))
		return closwire_drop(skb, &stats->rx_dropped_nomem);

	if (READ_ONCE(port->ptp.config.rx_filter) == HWTSTAMP_FILTER_ALL) {
		skb_hwtstamps(skb)->hwtstamp = closwire_stamp(port, cb.sfd_ns);
		closwire_add(&stats->rx_hwtstamps, 1);
	}
	closwire_add(&stats->rx_frames, 1);
	closwire_add(&stats->rx_bytes, cb.len);
	skb->protocol = eth_type_trans(skb, dev);
	napi_gro_receive(&port->napi, skb);
}

/* ---- the line ---- */

/* Gives the memory back, and the ring's place with a packet's last frame. */
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

/* Hands the frame to the cable: its times are known. */
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
	if (unlikely(!peer || !closwire_fly(peer, skb))) {
		closwire_unhold(port, cb);
		closwire_drop(skb, &port->stats.tx_dropped_carrier);
	}
}

/* Takes the frame that the line sends next, if one may go. */
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
		if (!closwire_line_paused(&tx->line, now_ns,
					  closwire_cb(skb)->prio)) {
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
 * Does somebody wait for the frame's departure? The owner of its memory, or of
 * its time stamp. What a switch forwards has none, and that of a pure ACK does
 * not count on it: an event less.
 */
static bool closwire_awaited(struct sk_buff *skb)
{
	return (skb->sk && !skb_is_tcp_pure_ack(skb)) ||
	       closwire_cb(skb)->stamp;
}

/* Puts the frame on the line at t_ns, or as soon as the gap allows. */
static void closwire_start(struct closwire_port *port, struct sk_buff *skb,
			   u64 t_ns)
{
	struct closwire_tx *tx = &port->tx;
	struct closwire_cb *cb = closwire_cb(skb);

	tx->paused = false;
	cb->sfd_ns = closwire_line_send(&tx->line, t_ns, cb->len);
	if (closwire_awaited(skb))
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
 * Send the frames that are due up to now_ns. Each round puts a frame on the line
 * or moves from_ns to the end of a pause that was still on, of which there are
 * eight at most; budget bounds the rounds.
 *
 * Return: the rest of the budget; 0 if frames may still be due.
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
		if (!tx->paused)
			closwire_add(&port->stats.tx_paused, 1);
		tx->paused = true;
		/* later than t_ns: some priority is paused then */
		t_ns = closwire_pause_end(&tx->line, t_ns);
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

/* What comes at t_ns may start then, if the line is idle. */
static void closwire_tx_idle(struct closwire_tx *tx, u64 t_ns)
{
	if (tx->line.end_ns <= t_ns)
		tx->from_ns = max(tx->from_ns, t_ns);
}

/*
 * Send the frames and obey the pauses that are due up to now_ns, in order: a
 * pause holds the frames that start after it came, however late it is noticed.
 * A port that is more than CLOSWIRE_TX_BUDGET behind leaves the rest to NAPI.
 * Under the tx lock.
 */
void closwire_tx_run(struct closwire_port *port, u64 now_ns)
{
	int budget = CLOSWIRE_TX_BUDGET;
	struct sk_buff *skb;
	u64 t_ns;

	while (budget && (skb = closwire_arrived_ctrl(&port->rx, now_ns))) {
		t_ns = closwire_cb(skb)->arrival_ns;
		budget = closwire_tx_send(port, t_ns, budget);
		if (!budget)
			break;
		closwire_tx_idle(&port->tx, t_ns);
		closwire_take_ctrl(&port->rx, skb, now_ns);
		closwire_receive_ctrl(port, skb);
		budget--;
	}
	if (unlikely(!closwire_tx_send(port, now_ns, budget)))
		napi_schedule(&port->napi);
}

/*
 * Do what is due, before frames are posted at now_ns. If it is too much for one
 * go, the line stands still until now_ns: it does not send a frame before it was
 * posted.
 */
void closwire_tx_catch_up(struct closwire_port *port, u64 now_ns)
{
	closwire_tx_run(port, now_ns);
	closwire_tx_idle(&port->tx, now_ns);
}

/* ---- the ring ---- */

static void closwire_post(struct closwire_tx *tx, struct sk_buff *skb, u32 txq,
			  u8 prio, bool last)
{
	struct closwire_cb *cb = closwire_cb(skb);

	cb->len = closwire_frame_len(skb);
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

/* Posts the frames of one packet, a list, to a ring that has a place. */
static void closwire_post_packet(struct closwire_port *port,
				 struct sk_buff *frames, u32 queue)
{
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, queue);
	bool stamping = READ_ONCE(port->ptp.config.tx_type) == HWTSTAMP_TX_ON;
	u8 prio = closwire_frame_prio(frames);
	struct closwire_tx *tx = &port->tx;
	struct sk_buff *skb, *next;
	u32 bytes = 0;

	skb_list_walk_safe(frames, skb, next) {
		skb_mark_not_on_list(skb);
		closwire_post(tx, skb, queue, prio, !next);
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

static void closwire_count_ctrl(struct closwire_stats *stats,
				const struct sk_buff *skb)
{
	const struct closnet_pfc_frame *pfc;
	struct closnet_pfc_frame buffer;
	u32 prio;

	closwire_add(&stats->tx_ctrl, 1);
	closwire_add(&stats->tx_pause,
		     closwire_opcode(skb) == CLOSWIRE_PAUSE_OPCODE);
	pfc = closwire_pfc(skb, &buffer);
	if (!pfc)
		return;
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++)
		closwire_add(&stats->tx_prio_pause[prio],
			     !!(ntohs(pfc->enable) & BIT(prio)));
}

/* Posts a MAC control frame, or frees it. Under the tx lock. */
int closwire_post_ctrl(struct closwire_port *port, struct sk_buff *skb)
{
	struct closwire_tx *tx = &port->tx;

	if (skb_queue_len(&tx->ctrl) >= CLOSWIRE_CTRL_MAX) {
		closwire_drop(skb, &port->stats.tx_dropped_ctrl);
		return -ENOBUFS;
	}
	closwire_count_ctrl(&port->stats, skb);
	closwire_post(tx, skb, CLOSWIRE_CTRL, 0, true);
	return 0;
}

/* The frames of a packet, as a list; NULL: it is gone. */
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
 * closwire_xmit() - struct net_device_ops.ndo_start_xmit
 * @skb: the packet
 * @dev: the port
 *
 * Return: NETDEV_TX_OK: the queue is stopped in time.
 */
netdev_tx_t closwire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct closwire_port *port = netdev_priv(dev);
	u32 queue = skb_get_queue_mapping(skb);
	struct closwire_tx *tx = &port->tx;
	u64 now_ns;

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
	/* not before the lock: time must not go back under it */
	now_ns = ktime_get_ns();
	closwire_tx_catch_up(port, now_ns);
	if (unlikely(closwire_is_ctrl(skb)))
		closwire_post_ctrl(port, skb);
	else
		closwire_post_packet(port, skb, queue);
	closwire_tx_run(port, now_ns);
	spin_unlock(&tx->lock);
	return NETDEV_TX_OK;

drop:
	spin_unlock(&tx->lock);
	kfree_skb_list(skb);
	return NETDEV_TX_OK;
}

/* ---- the device ---- */

/**
 * closwire_poll() - the port's NAPI
 * @napi: struct closwire_port.napi
 * @budget: most frames to receive
 *
 * Return: how many were received.
 */
int closwire_poll(struct napi_struct *napi, int budget)
{
	struct closwire_port *port = container_of(napi, struct closwire_port,
						  napi);
	struct sk_buff_head frames;
	struct sk_buff *skb;
	u64 now_ns;
	int n;

	spin_lock(&port->tx.lock);
	now_ns = ktime_get_ns();
	closwire_tx_run(port, now_ns);
	spin_unlock(&port->tx.lock);

	__skb_queue_head_init(&frames);
	n = closwire_arrived(port, now_ns, budget, &frames);
	while ((skb = __skb_dequeue(&frames)))
		closwire_receive(port, skb);
	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

static enum hrtimer_restart closwire_tx_interrupt(struct hrtimer *timer)
{
	napi_schedule(&container_of(timer, struct closwire_port,
				    tx.timer)->napi);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart closwire_rx_interrupt(struct hrtimer *timer)
{
	struct closwire_port *port = container_of(timer, struct closwire_port,
						  rx.timer);

	/* else it is for a MAC control frame */
	if (ktime_to_ns(hrtimer_get_expires(timer)) >=
	    READ_ONCE(port->rx.due_ns))
		closwire_add(&port->stats.rx_interrupts, 1);
	napi_schedule(&port->napi);
	return HRTIMER_NORESTART;
}

/**
 * closwire_wire_init() - make rings and cable of a new port
 * @port: the port, zeroed, its device not registered
 */
void closwire_wire_init(struct closwire_port *port)
{
	struct closwire_tx *tx = &port->tx;
	struct closwire_rx *rx = &port->rx;
	u32 i;

	spin_lock_init(&tx->lock);
	__skb_queue_head_init(&tx->ctrl);
	for (i = 0; i < CLOSWIRE_TX_QUEUES_MAX; i++)
		__skb_queue_head_init(&tx->ring[i]);
	hrtimer_setup(&tx->timer, closwire_tx_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
	spin_lock_init(&rx->lock);
	__skb_queue_head_init(&rx->ctrl);
	__skb_queue_head_init(&rx->flight);
	hrtimer_setup(&rx->timer, closwire_rx_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
}

static void closwire_set_up(struct closwire_port *port, bool up)
{
	spin_lock_bh(&port->tx.lock);
	port->tx.up = up;
	spin_unlock_bh(&port->tx.lock);
	spin_lock_bh(&port->rx.lock);
	port->rx.up = up;
	spin_unlock_bh(&port->rx.lock);
}

/**
 * closwire_wire_start() - let frames pass; under RTNL
 * @port: the port
 */
void closwire_wire_start(struct closwire_port *port)
{
	port->tx.limited = dev_net(port->dev)->user_ns != &init_user_ns;
	napi_enable(&port->napi);
	closwire_set_up(port, true);
}

static void closwire_stop_pauses(struct closwire_port *port)
{
	u32 prio;

	spin_lock_bh(&port->tx.lock);
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++)
		closwire_pause_stop(&port->tx.line, ktime_get_ns(), prio);
	spin_unlock_bh(&port->tx.lock);
}

/* Drop and count the frames of a list; sender: whose memory they are. */
static void closwire_purge(struct closwire_port *port,
			   struct closwire_port *sender,
			   struct sk_buff_head *frames, u64 *counter)
{
	struct sk_buff *skb;
	u64 dropped = 0;

	/* as many as the rings or the cable held */
	while ((skb = __skb_dequeue(frames))) {
		closwire_unhold(sender, closwire_cb(skb));
		kfree_skb(skb);
		dropped++;
		cond_resched();
	}
	/* closwire_xmit() counts drops of a port that is down, too */
	spin_lock_bh(&port->tx.lock);
	closwire_add(counter, dropped);
	spin_unlock_bh(&port->tx.lock);
}

/**
 * closwire_wire_stop() - drop what waits to leave and what is coming; RTNL
 * @port: the port; nothing is left armed
 */
void closwire_wire_stop(struct closwire_port *port)
{
	struct closwire_port *peer = rtnl_dereference(port->peer);
	struct closwire_tx *tx = &port->tx;
	u32 i;

	closwire_set_up(port, false);
	napi_disable(&port->napi);
	hrtimer_cancel(&tx->timer);
	hrtimer_cancel(&port->rx.timer);

	/* what the line was sending is dropped as what waits */
	if (tx->frame)
		__skb_queue_head(&tx->ctrl, tx->frame);
	tx->frame = NULL;
	closwire_purge(port, port, &tx->ctrl, &port->stats.tx_dropped_carrier);
	for (i = 0; i < CLOSWIRE_TX_QUEUES_MAX; i++) {
		closwire_purge(port, port, &tx->ring[i],
			       &port->stats.tx_dropped_carrier);
		tx->posted[i] = 0;
	}
	for (i = 0; i < port->dev->num_tx_queues; i++)
		netdev_tx_reset_queue(netdev_get_tx_queue(port->dev, i));
	tx->waiting = 0;
	tx->paused = false;
	tx->due_ns = 0;
	closwire_stop_pauses(port);
	closwire_purge(port, peer, &port->rx.ctrl,
		       &port->stats.rx_dropped_down);
	closwire_purge(port, peer, &port->rx.flight,
		       &port->stats.rx_dropped_down);
}
