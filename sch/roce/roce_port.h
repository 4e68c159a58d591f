/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ingress half of sch_roce, of a device: see roce_port.c
 */
#ifndef _CLOSNET_ROCE_PORT_H
#define _CLOSNET_ROCE_PORT_H

#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/sch_generic.h>
#include <closnet/dcqcn.h>
#include <closnet/port.h>
#include "roce_flows.h"

/* CNPs that wait for dequeue(), at most */
#define ROCE_EVENTS		128
#define ROCE_SHARDS		32U

/**
 * struct roce_event - a CNP
 * @key: queue pair that it is about
 * @now_ns: time of arrival
 */
struct roce_event {
	struct roce_key key;
	u64 now_ns;
};

/**
 * struct roce_ring - CNPs for the queue pairs of a qdisc
 * @sch: the qdisc, which is scheduled when a CNP arrives
 * @number: number of the ring, from 1 on
 * @monitor_ns: rate_reduce_monitor_period of the qdisc
 * @lock: protects all below; softirqs off
 * @head: number of CNPs put in, modulo 2^32
 * @tail: number of CNPs taken out, modulo 2^32
 * @slots: those between
 */
struct roce_ring {
	struct Qdisc *sch;
	u32 number;
	u64 monitor_ns;
	spinlock_t lock;	/* protects all below */
	u32 head;
	u32 tail;
	struct roce_event slots[ROCE_EVENTS];
};

/**
 * struct roce_rx_params - parameters of the ingress half
 * @dcqcn: DCQCN's parameters; those of the NP count
 * @idle_ns: idle time after which a flow is forgotten
 * @np: answer marked data by CNPs
 * @dscp: DSCP of CNPs
 * @prio: priority of CNPs
 * @consume: drop CNPs after use
 * @clear: replace CE of data by ECT(0)
 */
struct roce_rx_params {
	struct dcqcn_params dcqcn;
	u64 idle_ns;
	bool np;
	u8 dscp;
	u8 prio;
	bool consume;
	bool clear;
};

/**
 * struct roce_port_stats - counters of a device; TCA_ROCE_STATS_* describes them
 * @flows: flows known
 * @cnp_ignored: CNPs that followed another one too soon
 * @cnp_unmatched: CNPs for no known queue pair
 * @cnp_malformed: CNPs with a wrong ICRC
 * @marked_packets: data packets received with CE
 * @cnp_sent: CNPs sent
 * @unpaired_packets: data packets with CE whose sender's queue pair is unknown
 * @nomem_packets: CNPs not sent, and packets not tracked, for lack of memory
 */
struct roce_port_stats {
	u64 flows;
	u64 cnp_ignored;
	u64 cnp_unmatched;
	u64 cnp_malformed;
	u64 marked_packets;
	u64 cnp_sent;
	u64 unpaired_packets;
	u64 nomem_packets;
};

/**
 * struct roce_shard - flows of some pairs of addresses
 * @lock: protects all below; softirqs off
 * @params: a copy for this shard
 * @stats: counters
 * @flows: flows
 */
struct roce_shard {
	spinlock_t lock;	/* protects all below */
	struct roce_rx_params params;
	struct roce_port_stats stats;
	struct roce_flows flows;
} ____cacheline_aligned_in_smp;

/**
 * struct roce_port - ingress half of a device
 * @base: the device and its qdiscs; under RTNL
 * @rings: their rings, by number
 * @hook: at the device's ingress
 * @sweep: forgets idle flows; armed while there are flows
 * @flows: number of flows
 * @seed: secret of the hashes
 * @memcg: memory cgroup of the process that created the port: flows are charged to it
 * @shard: flows
 */
struct roce_port {
	struct closnet_port base;
	struct xarray rings;
	struct nf_hook_ops hook;
	struct delayed_work sweep;
	atomic_t flows;
	u64 seed;
	struct mem_cgroup *memcg;
	struct roce_shard shard[ROCE_SHARDS];
};

struct roce_port *roce_port_create(struct net_device *dev, struct netlink_ext_ack *extack);
void roce_port_put(struct roce_port *port);
int roce_port_add_ring(struct roce_port *port, struct roce_ring *ring);
void roce_port_del_ring(struct roce_port *port, const struct roce_ring *ring);
void roce_port_set(struct roce_port *port, const struct roce_rx_params *params);
void roce_port_sent(struct roce_port *port, const struct roce_ring *ring,
		    const struct roce_pkt *pkt, u64 now_ns);
void roce_port_get_stats(const struct roce_port *port, struct roce_port_stats *to);
int roce_port_dump(struct roce_port *port, u32 *shard, u32 *index,
		   int (*put)(void *arg, const struct roce_flow *f), void *arg);
bool roce_ring_take(struct roce_ring *ring, struct roce_event *event);

/* Is there a CNP? To be called in dequeue(), as roce_ring_take() */
static inline bool roce_ring_has_events(const struct roce_ring *ring)
{
	return READ_ONCE(ring->head) != ring->tail;
}

#endif /* _CLOSNET_ROCE_PORT_H */
