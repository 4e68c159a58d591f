/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared buffer of a switch, and PFC: the interface for dcqcnq_main.c
 *
 * A pool is a switch's packet memory, known by a name in its network
 * namespace. Its ports are the devices that have a dcqcn qdisc with that name.
 * An egress port gets room for each packet from the pool, and gives it back
 * when the packet leaves. An ingress port is charged for the packets that
 * came in by it, wherever they wait; if these are too many, it sends a pause
 * frame.
 *
 *	enqueue at port E, under E's root lock
 *	  dcqcnq_pool_admit(E, skb): finds port I by skb->skb_iif, charges
 *	    (I, priority)
 *	dequeue, drop or reset at E, under E's root lock
 *	  dcqcnq_pool_release(E)
 *	softirq, under no lock
 *	  a pause frame leaves by I, with the latest decisions
 *
 * Locks: root lock of E, then the lock of one (port, priority). Frames are sent
 * under neither.
 */
#ifndef _CLOSNET_DCQCNQ_POOL_H
#define _CLOSNET_DCQCNQ_POOL_H

#include <linux/bits.h>
#include <linux/types.h>
#include "dcqcnq_mmu.h"

struct dcqcnq_pg;
struct dcqcnq_port;
struct net_device;
struct netlink_ext_ack;
struct sk_buff;

/* Longest name of a pool, bytes without the NUL */
#define DCQCNQ_POOL_NAME_MAX	15

/**
 * struct dcqcnq_charge - the charge for a waiting packet
 * @from: port of the pool and priority by which it came in, or NULL
 * @prio: priority
 * @lossless: admitted as DCQCNQ_LOSSLESS
 * @charged: the pool counts it; not so without a pool
 *
 * Lies in the packet's control block. Made by dcqcnq_pool_admit(), ended by
 * dcqcnq_pool_release().
 */
struct dcqcnq_charge {
	struct dcqcnq_pg *from;
	u8 prio;
	bool lossless;
	bool charged;
};

/**
 * struct dcqcnq_pool_stats - statistics of a pool
 * @ports: members
 * @bytes: waiting at all of them
 * @peak_bytes: most of them seen
 * @xoff_bytes: t_PFC, as it is now
 * @headroom_bytes: headroom of the port in question, for a lossless priority
 */
struct dcqcnq_pool_stats {
	u64 ports;
	u64 bytes;
	u64 peak_bytes;
	u64 xoff_bytes;
	u64 headroom_bytes;
};

/**
 * struct dcqcnq_prio_stats - statistics of a port and priority as an ingress
 * @ingress: a copy of its state
 * @xoff_frames: pause frames sent that pause it
 * @xon_frames: pause frames sent that resume it
 */
struct dcqcnq_prio_stats {
	struct dcqcnq_ingress ingress;
	u64 xoff_frames;
	u64 xon_frames;
};

/**
 * dcqcnq_pool_admit() - admit a packet to the pool, and charge its ingress
 * @egress: the port where it is to wait
 * @skb: the packet; its skb_iif is the device by which it came in
 * @len: bytes that it counts for
 * @fits: if it is not protected: it is within the queue's limit
 * @charge: its prio is set; filled in, if the packet is admitted
 *
 * With softirqs off, as under the root lock.
 *
 * Return: what becomes of it.
 */
enum dcqcnq_verdict dcqcnq_pool_admit(struct dcqcnq_port *egress,
				      const struct sk_buff *skb, u32 len, bool fits,
				      struct dcqcnq_charge *charge);

/**
 * dcqcnq_pool_release() - a packet leaves the queue, to the wire or dropped
 * @egress: the port that it was admitted for
 * @len: as when it was admitted
 * @charge: as admitted, and charged
 *
 * With softirqs off, as under the root lock.
 */
void dcqcnq_pool_release(struct dcqcnq_port *egress, u32 len,
			 const struct dcqcnq_charge *charge);

/**
 * dcqcnq_pool_join() - become a port of a pool, and make the pool if necessary
 * @dev: the device; the qdiscs of one device share a port
 * @name: name of the pool
 * @options: options of the pool from now on
 * @extack: error report
 *
 * Under RTNL. An error leaves the pool as it was.
 *
 * Return: the port, or ERR_PTR.
 */
struct dcqcnq_port *dcqcnq_pool_join(struct net_device *dev, const char *name,
				     const struct dcqcnq_pool_options *options,
				     struct netlink_ext_ack *extack);

/**
 * dcqcnq_pool_leave() - stop being a port, if this was the device's last qdisc
 * @port: the port; all packets that wait at this qdisc have been released
 *
 * Under RTNL, not under the root lock. Peers that are paused through the port
 * get an XON. Packets that came in by it may still wait at other ports.
 */
void dcqcnq_pool_leave(struct dcqcnq_port *port);

/**
 * dcqcnq_pool_change() - change the port's pool
 * @port: the port
 * @options: options of the pool from now on
 * @extack: error report
 *
 * Under RTNL, not under the root lock. XOFF and XON are sent as the new values
 * demand.
 *
 * Return: 0; or -EINVAL, and the pool is as it was.
 */
int dcqcnq_pool_change(struct dcqcnq_port *port, const struct dcqcnq_pool_options *options,
		       struct netlink_ext_ack *extack);

/**
 * dcqcnq_pool_get() - get the options of the port's pool
 * @port: the port
 * @options: filled in
 *
 * Under RTNL.
 *
 * Return: the pool's name, valid until the port leaves.
 */
const char *dcqcnq_pool_get(const struct dcqcnq_port *port,
			    struct dcqcnq_pool_options *options);

/**
 * dcqcnq_pool_lookup() - get the options of a pool
 * @dev: a device of its network namespace
 * @name: name of the pool
 * @options: filled in, with the defaults if there is no such pool
 *
 * Under RTNL.
 */
void dcqcnq_pool_lookup(const struct net_device *dev, const char *name,
			struct dcqcnq_pool_options *options);

/**
 * dcqcnq_pool_get_stats() - get the pool's statistics
 * @port: the port
 * @stats: filled in
 */
void dcqcnq_pool_get_stats(const struct dcqcnq_port *port,
			   struct dcqcnq_pool_stats *stats);

/**
 * dcqcnq_pool_get_prio_stats() - get statistics of the port as an ingress
 * @port: the port
 * @prio: the priority
 * @stats: filled in
 */
void dcqcnq_pool_get_prio_stats(struct dcqcnq_port *port, u32 prio,
				struct dcqcnq_prio_stats *stats);

/**
 * dcqcnq_pool_init() - register for namespaces and devices
 *
 * Return: 0 or a negative error.
 */
int dcqcnq_pool_init(void);

/**
 * dcqcnq_pool_exit() - undo dcqcnq_pool_init()
 */
void dcqcnq_pool_exit(void);

#endif /* _CLOSNET_DCQCNQ_POOL_H */
