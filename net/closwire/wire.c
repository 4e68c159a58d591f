// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: the path of a frame; its reception, start and stop of a port
 *
 *	xmit --> ring --> link --> cable --> receiver
 *	         |  BQL   |        delay     interrupt, NAPI, GRO
 *	         |        +- one frame at a time at `rate`; the memory returns to the
 *	         |           sender when the last bit has left
 *	         +- a TSO packet is split into frames
 *
 *	         tx.c              cable.c, ctrl.c   this file, batch.c
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/user_namespace.h>
#include "closwire.h"

/* ---- reception ---- */

/*
 * Remove everything that the sender's host attached to the packet. The sender may
 * share the data: a clone gets headers of its own, since the receiver writes to them.
 */
static bool closwire_scrub(struct sk_buff *skb)
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

/* Count and drop a frame. Return: 0 packets. */
static u32 closwire_reject(struct sk_buff *skb, u64 *counter)
{
	closwire_drop(skb, counter);
	return 0;
}

/* Pass a frame to the stack. Return: number of packets that it adds, 0 or 1. */
static u32 closwire_receive(struct closwire_port *port, struct sk_buff *skb, u64 now_ns)
{
	const struct closwire_cb cb = *closwire_cb(skb);
	struct closwire_stats *stats = &port->stats;
	struct net_device *dev = port->dev;
	gro_result_t result;

	if (unlikely(cb.held))
		closwire_unhold(rcu_dereference_bh(port->peer), &cb);
	if (unlikely(cb.lost))
		return closwire_reject(skb, &stats->rx_lost);
	/* Two VLAN tags are accepted, as by most NICs. */
	if (unlikely(cb.len > READ_ONCE(dev->mtu) + ETH_HLEN + 2 * VLAN_HLEN))
		return closwire_reject(skb, &stats->rx_dropped_length);
	if (unlikely(!closwire_scrub(skb)))
		return closwire_reject(skb, &stats->rx_dropped_nomem);

	if (READ_ONCE(port->ptp.config.rx_filter) == HWTSTAMP_FILTER_ALL) {
		skb_hwtstamps(skb)->hwtstamp = closwire_stamp(port, cb.sfd_ns);
		closwire_add(&stats->rx_hwtstamps, 1);
	}
	closwire_delay_arrive(port, skb, now_ns);
	closwire_add(&stats->rx_frames, 1);
	closwire_add(&stats->rx_bytes, cb.len);
	skb->protocol = eth_type_trans(skb, dev);
	result = napi_gro_receive(&port->napi, skb);
	return result != GRO_MERGED && result != GRO_MERGED_FREE;
}

/**
 * closwire_poll() - NAPI poll function
 * @napi: struct closwire_port.napi
 * @budget: maximum number of frames
 *
 * Return: number of received frames.
 */
int closwire_poll(struct napi_struct *napi, int budget)
{
	struct closwire_port *port = container_of(napi, struct closwire_port,
						  napi);
	bool batch = closwire_batch_used(&port->rx);
	struct sk_buff_head frames;
	struct sk_buff *skb;
	u32 packets = 0;
	u64 now_ns;
	int n;

	spin_lock(&port->tx.lock);
	now_ns = ktime_get_ns();
	closwire_tx_run(port, now_ns);
	spin_unlock(&port->tx.lock);

	__skb_queue_head_init(&frames);
	if (unlikely(batch))
		n = closwire_batch_done(&port->rx, now_ns, budget, &frames);
	else
		n = closwire_cable_arrived(port, now_ns, budget, &frames);
	while ((skb = __skb_dequeue(&frames)))
		packets += closwire_receive(port, skb, now_ns);
	if (unlikely(batch))
		closwire_batch_next(port, now_ns, packets);
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

	/* The timer also fires for MAC control frames, and for NAPI that waits for the CPU. */
	if (ktime_to_ns(hrtimer_get_expires(timer)) >= READ_ONCE(port->rx.due_ns) &&
	    closwire_batch_idle(&port->rx))
		closwire_add(&port->stats.rx_interrupts, 1);
	napi_schedule(&port->napi);
	return HRTIMER_NORESTART;
}

/* ---- start and stop ---- */

/**
 * closwire_wire_init() - initialise rings, cable and timers of a new port
 * @port: port, zeroed, its device not registered
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
	__skb_queue_head_init(&rx->ring);
	__skb_queue_head_init(&rx->batch);
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
 * closwire_wire_start() - let a port transmit and receive
 * @port: port
 *
 * Context: RTNL held.
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

/* Drop and count a list of frames charged to @sender. */
static void closwire_purge(struct closwire_port *port,
			   struct closwire_port *sender,
			   struct sk_buff_head *frames, u64 *counter)
{
	struct sk_buff *skb;
	u64 dropped = 0;

	/* bounded by the contents of the rings or the cable */
	while ((skb = __skb_dequeue(frames))) {
		closwire_unhold(sender, closwire_cb(skb));
		kfree_skb(skb);
		dropped++;
		cond_resched();
	}
	/* closwire_xmit() counts drops of a port that is down in parallel. */
	spin_lock_bh(&port->tx.lock);
	closwire_add(counter, dropped);
	spin_unlock_bh(&port->tx.lock);
}

/**
 * closwire_wire_stop() - stop a port, and drop its waiting and incoming frames
 * @port: port; no timer is armed afterwards
 *
 * Context: RTNL held.
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

	/* The frame on the link is dropped like the waiting ones. */
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
	closwire_purge(port, peer, &port->rx.batch,
		       &port->stats.rx_dropped_down);
	closwire_purge(port, peer, &port->rx.ring,
		       &port->stats.rx_dropped_down);
	closwire_purge(port, peer, &port->rx.flight,
		       &port->stats.rx_dropped_down);
	tx->cpu.free_ns = 0;
	port->rx.cpu.free_ns = 0;
}
