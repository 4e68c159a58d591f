/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ports: the devices of next hops, and their load
 *
 * The interface of lb_port.c, which explains sharing and lifetime.
 */
#ifndef _CLOSNET_LB_PORT_H
#define _CLOSNET_LB_PORT_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "lb_load.h"

struct netlink_ext_ack;

/* Ports of a namespace: an action counts packets in an array of this size */
#define LB_PORTS_MAX	128
/* TX queues that a sample reads */
#define LB_QUEUES_MAX	64
/* Counters that samples read in an interval: those of LB_QUEUES_MAX rings and qdiscs */
#define LB_READS_MAX	(2 * LB_QUEUES_MAX)
/* Rate of a device that does not report its rate */
#define LB_DEFAULT_MBPS	10000

/**
 * struct lb_port - a device that is or was the next hop of a balanced packet
 * @load: its load
 * @lock: held by the CPU that takes a sample
 * @given_bytes: bytes given to the device; for devices without queue. Under @lock
 * @next_queue: first TX queue of the next sample, of a device with too many for one. Under @lock
 * @ifindex: index of the device
 * @slot: number below LB_PORTS_MAX, unique in the namespace
 * @link_Mbps: rate that the device reports, or 0. Under rate_mutex
 * @rate_Bps: rate that actions set, or 0. Under rate_mutex
 * @rate_users: number of actions that set it. Under rate_mutex
 * @gone: the device is gone, and the rates that actions set end
 * @heard: adverts of its neighbour are accepted; see lb_glb.c
 * @refs: the namespace's table, and actions that set the rate
 * @rcu: for freeing
 */
struct lb_port {
	struct lb_load load;
	spinlock_t lock;	/* held by the CPU that takes a sample */
	u64 given_bytes;
	u32 next_queue;
	u32 ifindex;
	u32 slot;
	u32 link_Mbps;
	u64 rate_Bps;
	u32 rate_users;
	bool gone;
	bool heard;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct lb_ports - ports of a namespace
 * @by_ifindex: the ports; its lock guards changes, BH are off
 * @recent: the ports again, by the lowest bits of the index, so that most look-ups need no tree;
 *	under the lock of @by_ifindex
 * @slots: those in use; under the lock of @by_ifindex
 * @rate_mutex: guards the rates of the ports; taken inside RTNL
 * @new_port: gets the rates of new ports, which packets created
 * @net: the namespace
 */
struct lb_ports {
	struct xarray by_ifindex;
	struct lb_port __rcu *recent[LB_PORTS_MAX];
	DECLARE_BITMAP(slots, LB_PORTS_MAX);
	struct mutex rate_mutex;	/* guards the rates of the ports */
	struct work_struct new_port;
	struct net *net;
};

/**
 * struct lb_rate - the rate of a device that an action sets
 * @port: its port, with a reference
 * @rate_Bps: bytes per second, above 0
 */
struct lb_rate {
	struct lb_port *port;
	u64 rate_Bps;
};

void lb_ports_init(struct lb_ports *ports, struct net *net);
void lb_ports_exit(struct lb_ports *ports);
struct lb_port *lb_port_create(struct lb_ports *ports, struct net_device *dev, gfp_t gfp);
void lb_port_put(struct lb_port *port);
void lb_port_device_changed(struct lb_ports *ports, struct net_device *dev);
void lb_port_device_gone(struct lb_ports *ports, struct net_device *dev);
struct lb_port *lb_port_hold(struct lb_ports *ports, u32 ifindex, struct netlink_ext_ack *extack);
int lb_port_change_rates(struct lb_ports *ports, const struct lb_rate *old, u32 old_count,
			 const struct lb_rate *new, u32 new_count, struct netlink_ext_ack *extack);
u64 lb_port_rate_Bps(const struct lb_port *port);
void lb_port_sample(struct lb_port *port, struct net_device *dev, const struct lb_grading *g,
		    u64 now_ns);

/**
 * lb_port_get() - find the port of a device
 * @ports: ports of its namespace
 * @dev: the device
 *
 * Context: RCU, BH off.
 *
 * Return: the port, created if need be; NULL if there are too many, there is no memory, or the
 * device is about to go.
 */
static inline struct lb_port *lb_port_get(struct lb_ports *ports, struct net_device *dev)
{
	struct lb_port *port = rcu_dereference_bh(ports->recent[(u32)dev->ifindex % LB_PORTS_MAX]);

	if (likely(port && port->ifindex == dev->ifindex))
		return port;
	port = xa_load(&ports->by_ifindex, dev->ifindex);
	return likely(port) ? port : lb_port_create(ports, dev, GFP_ATOMIC);
}

#endif /* _CLOSNET_LB_PORT_H */
