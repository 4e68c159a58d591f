/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port of a pool, and the pause frames that it sends
 *
 * Shared by dcqcnq_pool.c, which owns the ports, and dcqcnq_pfc.c, which sends
 * their pause frames.
 */
#ifndef _CLOSNET_DCQCNQ_PORT_H
#define _CLOSNET_DCQCNQ_PORT_H

#include <linux/cache.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <closnet/pfc.h>
#include "dcqcnq_mmu.h"

struct dcqcnq_pool;
struct net_device;

/**
 * struct dcqcnq_pg - a priority group: a port and a priority, as an ingress
 * @lock: protects @ingress; softirqs off
 * @ingress: packets charged to the group
 * @port: the port
 * @prio: the priority
 * @xoff_frames: pause frames sent that pause the priority; written by the tasklet
 * @xon_frames: pause frames sent that resume it; written by the tasklet
 */
struct dcqcnq_pg {
	spinlock_t lock;	/* protects @ingress */
	struct dcqcnq_ingress ingress;
	struct dcqcnq_port *port;
	u32 prio;
	u64 xoff_frames;
	u64 xon_frames;
} ____cacheline_aligned_in_smp;

/**
 * struct dcqcnq_port - a device in a pool
 * @pool: the pool
 * @mmu: the pool's buffer
 * @ifindex: index of the device
 * @dev: the device; valid until the port has left
 * @hash: in struct dcqcnq_pool.by_ifindex
 * @pg: priority groups
 * @paused: priorities that are to be paused, a bit each
 * @unsent: priorities whose last decision has not been sent, a bit each
 * @gone: the port leaves, and its timer is not armed again
 * @tasklet: sends a pause frame
 * @timer: schedules @tasklet; armed only by @tasklet
 * @retry_ns: delay of @tasklet if the NIC does not take a frame, ns
 * @closwire_xmit: sends the frames of a closwire port; NULL: another device
 * @closwire_peer_Mbps: gets the rate of a closwire port's peer
 * @rate_Mbps: line rate, Mbit/s; written under RTNL
 * @node: in struct dcqcnq_pool.ports or .departed; under RTNL
 * @users: qdiscs of the device that share the port; under RTNL
 * @grace: RCU state when the port left; afterwards no packet finds it
 * @rcu: frees the port
 */
struct dcqcnq_port {
	struct dcqcnq_pool *pool;
	struct dcqcnq_mmu *mmu;
	int ifindex;
	struct net_device *dev;
	struct hlist_node hash;
	struct dcqcnq_pg pg[DCQCNQ_PRIOS];

	unsigned long paused;
	unsigned long unsent;
	bool gone;
	struct tasklet_struct tasklet;
	struct hrtimer timer;
	u64 retry_ns;
	int (*closwire_xmit)(struct net_device *dev, u8 enable, const u16 quanta[DCQCNQ_PRIOS]);
	u32 (*closwire_peer_Mbps)(struct net_device *dev);
	u32 rate_Mbps;

	struct list_head node;
	u32 users;
	unsigned long grace;
	struct rcu_head rcu;
};

static_assert(DCQCNQ_PRIOS == CLOSNET_PFC_PRIOS);

void dcqcnq_pfc_init(struct dcqcnq_port *port);
void dcqcnq_pfc_stop(struct dcqcnq_port *port);
void dcqcnq_pfc_send(struct dcqcnq_port *port);
void dcqcnq_pfc_update(struct dcqcnq_pg *pg);
void dcqcnq_pfc_review(struct dcqcnq_pg *pg);

#endif /* _CLOSNET_DCQCNQ_PORT_H */
