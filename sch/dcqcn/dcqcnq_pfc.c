// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pause frames (PFC, IEEE 802.1Qbb) of a pool's ports
 *
 * dcqcnq_mmu.c decides which (port, priority) is paused. This file sends the
 * decisions to the peers, and repeats them while a pause lasts.
 *
 * A decision sets or clears a bit in the port's @paused, then sets one in
 * @unsent, and schedules the port's tasklet. The tasklet clears @unsent, then
 * reads @paused, and sends one frame with the state of all priorities that are
 * unsent or paused. So each frame carries the latest decisions, and a later
 * decision sends a later frame. The tasklet runs without locks, and not on two
 * CPUs at a time.
 *
 *	decision --> tasklet --> frame --> refresh timer, while paused
 *	                 ^         |
 *	                 +---------+ NIC busy: retry timer, doubled each time
 *
 * A pause expires after 65535 quanta of 512 bit times of the peer's line. While
 * a priority is paused, the port's timer repeats the frame after half of that
 * time. It first reviews whether the pause is still needed, since a dynamic
 * threshold may have risen. If a NIC does not take a frame, the tasklet retries
 * until the pauses that the frame should end have expired. While the link is
 * down, it does not try.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <linux/skbuff.h>
#include <net/rtnetlink.h>
#include "dcqcnq_buffers.h"
#include "dcqcnq_port.h"

/* The longest pause, in quanta and in bytes of the line */
#define DCQCNQ_QUANTA		65535
#define DCQCNQ_QUANTA_BYTES	((u64)DCQCNQ_QUANTA * DCQCNQ_QUANTUM_BYTES)
/* Delay of the first retry if a NIC does not take a frame */
#define DCQCNQ_RETRY_NS		(10 * NSEC_PER_USEC)

/**
 * dcqcnq_pfc_update() - send a group's decision to the peer
 * @pg: the group, locked
 */
void dcqcnq_pfc_update(struct dcqcnq_pg *pg)
{
	struct dcqcnq_port *port = pg->port;

	if (pg->ingress.paused)
		set_bit(pg->prio, &port->paused);
	else
		clear_bit(pg->prio, &port->paused);
	smp_mb__after_atomic();	/* before @unsent; see dcqcnq_pfc_tasklet() */
	set_bit(pg->prio, &port->unsent);
	tasklet_schedule(&port->tasklet);
}

/**
 * dcqcnq_pfc_send() - send a frame if a decision is unsent or a priority is paused
 * @port: the port, for example after its link came up
 */
void dcqcnq_pfc_send(struct dcqcnq_port *port)
{
	tasklet_schedule(&port->tasklet);
}

/* Compute half of the longest pause, as the peer counts it. */
static u64 dcqcnq_refresh_ns(const struct dcqcnq_port *port)
{
	u32 mbps = 0;

	if (port->closwire_peer_Mbps)
		mbps = port->closwire_peer_Mbps(port->dev);
	if (!mbps)
		mbps = READ_ONCE(port->rate_Mbps);
	return div_u64(DCQCNQ_QUANTA_BYTES / 2 * 8000, mbps);
}

/* Select the highest TX queue that takes a frame. High priorities use the last queues. */
static u16 dcqcnq_pause_queue(const struct net_device *dev)
{
	u32 queue = dev->real_num_tx_queues - 1;

	while (queue && netif_xmit_stopped(netdev_get_tx_queue(dev, queue)))
		queue--;
	return queue;
}

/* Send a pause frame through a driver. */
static int dcqcnq_xmit(struct net_device *dev, u8 enable, const u16 quanta[DCQCNQ_PRIOS])
{
	struct sk_buff *skb;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	closnet_pfc_fill(skb_put_zero(skb, ETH_ZLEN), dev->dev_addr, enable, quanta);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(CLOSNET_PFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	if (dev_direct_xmit(skb, dcqcnq_pause_queue(dev)) == NETDEV_TX_OK)
		return 0;
	return netif_running(dev) && netif_carrier_ok(dev) ? -EBUSY : -ENETDOWN;
}

static void dcqcnq_count_frame(struct dcqcnq_port *port, u8 enable,
			       const u16 quanta[DCQCNQ_PRIOS])
{
	u32 prio;

	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		if (!(enable & BIT(prio)))
			continue;
		if (quanta[prio])
			WRITE_ONCE(pg->xoff_frames, pg->xoff_frames + 1);
		else
			WRITE_ONCE(pg->xon_frames, pg->xon_frames + 1);
	}
}

/*
 * Compute when the tasklet runs again after a frame: ns; 0: not. An unsent frame
 * is given up when the pauses that it should end have expired. Pauses that it
 * should set are sent with the next refresh.
 */
static u64 dcqcnq_frame_done(struct dcqcnq_port *port, u8 enable, int err)
{
	u64 refresh_ns = dcqcnq_refresh_ns(port), ns = port->retry_ns;
	u32 prio;

	if (err == -ENETDOWN)	/* dcqcnq_pfc_send() follows when the link is up */
		return 0;
	if (!err || ns > 2 * refresh_ns) {
		port->retry_ns = err ? ns : DCQCNQ_RETRY_NS;
		return READ_ONCE(port->paused) ? refresh_ns : 0;
	}
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		if (enable & BIT(prio))
			set_bit(prio, &port->unsent);
	}
	port->retry_ns = 2 * ns;
	return ns;
}

static void dcqcnq_pfc_tasklet(struct tasklet_struct *tasklet)
{
	struct dcqcnq_port *port = from_tasklet(port, tasklet, tasklet);
	/* full barrier: @paused is read after @unsent was cleared */
	u8 unsent = xchg(&port->unsent, 0), paused = READ_ONCE(port->paused);
	u8 enable = unsent | paused;
	u16 quanta[DCQCNQ_PRIOS];
	u32 prio;
	u64 ns;
	int err;

	if (!enable)
		return;
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++)
		quanta[prio] = paused & BIT(prio) ? DCQCNQ_QUANTA : 0;
	if (port->closwire_xmit)
		err = port->closwire_xmit(port->dev, enable, quanta);
	else
		err = dcqcnq_xmit(port->dev, enable, quanta);
	if (!err)
		dcqcnq_count_frame(port, enable, quanta);
	ns = dcqcnq_frame_done(port, enable, err);
	if (ns && !READ_ONCE(port->gone))
		hrtimer_start(&port->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/**
 * dcqcnq_pfc_review() - decide again whether a group is paused, and send a change
 * @pg: the group
 *
 * Context: Softirqs off.
 */
void dcqcnq_pfc_review(struct dcqcnq_pg *pg)
{
	bool paused;

	spin_lock(&pg->lock);
	paused = pg->ingress.paused;
	dcqcnq_mmu_review(pg->port->mmu, &pg->ingress);
	if (pg->ingress.paused != paused)
		dcqcnq_pfc_update(pg);
	spin_unlock(&pg->lock);
}

static enum hrtimer_restart dcqcnq_pfc_timer(struct hrtimer *timer)
{
	struct dcqcnq_port *port = container_of(timer, struct dcqcnq_port, timer);
	u32 prio;

	for (prio = 0; prio < DCQCNQ_PRIOS; prio++)
		dcqcnq_pfc_review(&port->pg[prio]);
	if (!READ_ONCE(port->gone))
		tasklet_schedule(&port->tasklet);
	return HRTIMER_NORESTART;
}

/* Module closwire stays as long as its device, so its code needs no reference. */
static void dcqcnq_pfc_find_closwire(struct dcqcnq_port *port)
{
	const struct rtnl_link_ops *ops = port->dev->rtnl_link_ops;

	if (!ops || strcmp(ops->kind, "closwire"))
		return;
	port->closwire_xmit = symbol_get(closwire_pfc_xmit);
	if (port->closwire_xmit)
		symbol_put(closwire_pfc_xmit);
	port->closwire_peer_Mbps = symbol_get(closwire_pfc_peer_Mbps);
	if (port->closwire_peer_Mbps)
		symbol_put(closwire_pfc_peer_Mbps);
}

/**
 * dcqcnq_pfc_init() - prepare a port for sending pause frames
 * @port: the port, with its device, priority groups and line rate
 */
void dcqcnq_pfc_init(struct dcqcnq_port *port)
{
	port->retry_ns = DCQCNQ_RETRY_NS;
	tasklet_setup(&port->tasklet, dcqcnq_pfc_tasklet);
	hrtimer_setup(&port->timer, dcqcnq_pfc_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	dcqcnq_pfc_find_closwire(port);
}

/**
 * dcqcnq_pfc_stop() - stop sending, after the decisions that are unsent
 * @port: the port
 *
 * After the first kill, no run of the tasklet arms the timer. After the second,
 * no run is left.
 */
void dcqcnq_pfc_stop(struct dcqcnq_port *port)
{
	WRITE_ONCE(port->gone, true);
	tasklet_kill(&port->tasklet);
	hrtimer_cancel(&port->timer);
	tasklet_kill(&port->tasklet);
}
