// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes: queues of packets to the stack
 *
 * A stream's packets arrive on any CPU, by any underlay device. gro_cells, which other tunnels
 * use, have a queue for each CPU, so that packets put in order here would overtake each other
 * there. All packets of a stream take the same lane, and a lane's NAPI runs on one CPU at a time:
 * order is kept, and GRO sees consecutive packets.
 */
#include "fab.h"

static int fab_lane_poll(struct napi_struct *napi, int budget)
{
	struct fab_lane *lane = container_of(napi, struct fab_lane, napi);
	struct sk_buff *skb;
	int done = 0;

	while (done < budget && (skb = skb_dequeue(&lane->queue))) {
		napi_gro_receive(napi, skb);
		done++;
	}
	/* a packet that comes between the two schedules the NAPI again */
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

/**
 * fab_lane_add() - give a packet to the stack
 * @fab: device, which counts it
 * @lane: any number; packets with the same one stay in order
 * @skb: IP packet, with headers and device set
 */
void fab_lane_add(struct fab_dev *fab, u32 lane, struct sk_buff *skb)
{
	struct fab_lane *l = &fab->lanes[lane % fab->lane_count];
	u32 len = skb->len;

	if (unlikely(skb_queue_len_lockless(&l->queue) > FAB_LANE_PACKETS)) {
		fab_count(fab, FAB_CNT_rx_backlog);
		DEV_STATS_INC(fab->dev, rx_dropped);
		kfree_skb(skb);
		return;
	}
	dev_sw_netstats_rx_add(fab->dev, len);
	skb_queue_tail(&l->queue, skb);
	napi_schedule(&l->napi);
}

/**
 * fab_lanes_create() - create the lanes
 * @fab: device
 *
 * Return: 0 or -ENOMEM.
 */
int fab_lanes_create(struct fab_dev *fab)
{
	u32 i;

	fab->lane_count = min(num_possible_cpus(), FAB_LANES_MAX);
	fab->lanes = kcalloc(fab->lane_count, sizeof(*fab->lanes), GFP_KERNEL_ACCOUNT);
	if (!fab->lanes)
		return -ENOMEM;
	for (i = 0; i < fab->lane_count; i++) {
		skb_queue_head_init(&fab->lanes[i].queue);
		fab->lanes[i].fab = fab;
		netif_napi_add(fab->dev, &fab->lanes[i].napi, fab_lane_poll);
	}
	return 0;
}

/**
 * fab_lanes_destroy() - free the lanes
 * @fab: device, stopped
 */
void fab_lanes_destroy(struct fab_dev *fab)
{
	u32 i;

	for (i = 0; i < fab->lane_count; i++)
		netif_napi_del(&fab->lanes[i].napi);
	kfree(fab->lanes);
}

/**
 * fab_lanes_start() - serve the lanes
 * @fab: device
 */
void fab_lanes_start(struct fab_dev *fab)
{
	u32 i;

	for (i = 0; i < fab->lane_count; i++)
		napi_enable(&fab->lanes[i].napi);
}

/**
 * fab_lanes_stop() - serve the lanes no longer, and drop their packets
 * @fab: device, to which no packets come any more
 */
void fab_lanes_stop(struct fab_dev *fab)
{
	u32 i;

	for (i = 0; i < fab->lane_count; i++) {
		napi_disable(&fab->lanes[i].napi);
		skb_queue_purge(&fab->lanes[i].queue);
	}
}
