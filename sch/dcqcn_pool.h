/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared buffer of a switch, and PFC: what sch_dcqcn.c calls
 *
 * A pool is a switch's packet memory, known by a name in its network
 * namespace. Its ports are the devices that have a dcqcn qdisc with that name.
 * As an egress, a port asks for each packet if the pool takes it, and gives it
 * back when it leaves. As an ingress, it is charged for the packets that it
 * brought in, wherever they wait; if these are too many, a pause frame leaves
 * by it.
 *
 *	enqueue at port E, under E's root lock
 *	  dcqcn_pool_admit(E, skb): finds port I by skb->skb_iif,
 *	    charges (I, priority); XOFF may leave I
 *	dequeue, drop or reset at E, under E's root lock
 *	  dcqcn_pool_release(E): XON may leave I
 *
 * Locks: root lock of E, the pool's lock, closwire's TX lock of I, the RX lock
 * of I's peer.
 */
#ifndef _CLOSNET_DCQCN_POOL_H
#define _CLOSNET_DCQCN_POOL_H

#include <linux/bits.h>
#include <linux/types.h>
#include "dcqcn_pool_core.h"

struct dcqcn_port;
struct net_device;
struct netlink_ext_ack;
struct sk_buff;

/* Which members of struct dcqcn_pool_params were given: the attributes' bits */
#define DCQCN_POOL_GIVEN(attr)	BIT(TCA_DCQCN_POOL_##attr - TCA_DCQCN_POOL_BUFFER)

/**
 * struct dcqcn_charge - what a waiting packet is charged with
 * @ingress: the port of the pool by which it came in; NULL: none
 * @len: bytes
 * @prio: priority
 * @lossless: admitted as DCQCN_LOSSLESS
 * @charged: the pool counts it; not so without a pool
 *
 * Lies in the packet's control block. Made by dcqcn_pool_admit(), ended by
 * dcqcn_pool_release().
 */
struct dcqcn_charge {
	struct dcqcn_port *ingress;
	u32 len;
	u8 prio;
	bool lossless;
	bool charged;
};

/**
 * dcqcn_pool_admit() - ask the pool to take a packet, and charge it
 * @egress: the port where it is to wait
 * @skb: the packet; its skb_iif tells where it came in
 * @prio: its priority
 * @len: bytes that it counts for
 * @fits: if it is not protected: is it within the port's limit?
 * @charge: filled in, if it is admitted
 *
 * Under the root lock. May send XOFF.
 *
 * Return: what becomes of it.
 */
enum dcqcn_verdict dcqcn_pool_admit(struct dcqcn_port *egress,
				    const struct sk_buff *skb, u8 prio, u32 len,
				    bool fits, struct dcqcn_charge *charge);

/**
 * dcqcn_pool_release() - a packet leaves the queue, wherever it goes
 * @egress: the port that it was admitted for
 * @charge: as admitted; nothing happens if it is not charged, and afterwards
 *	it is not
 *
 * With softirqs off, as under the root lock. May send XON.
 */
void dcqcn_pool_release(struct dcqcn_port *egress, struct dcqcn_charge *charge);

/**
 * dcqcn_pool_join() - become a port of a pool, which is made if there is none
 * @dev: the device; the qdiscs of one device share a port
 * @name: of the pool
 * @params: values for the pool
 * @given: which of these to take, DCQCN_POOL_GIVEN() bits; the others stay
 * @extack: says what is wrong
 *
 * Under RTNL. On error nothing has changed.
 *
 * Return: the port, or ERR_PTR.
 */
struct dcqcn_port *dcqcn_pool_join(struct net_device *dev, const char *name,
				   const struct dcqcn_pool_params *params,
				   u32 given, struct netlink_ext_ack *extack);

/**
 * dcqcn_pool_leave() - be a port no more
 * @port: the port; all packets that wait at this egress have been released
 *
 * Under RTNL, not under the root lock. What was paused through the port is let
 * go on. Packets that came in by it may still wait at other ports.
 */
void dcqcn_pool_leave(struct dcqcn_port *port);

/**
 * dcqcn_pool_change() - change the port's pool
 * @port: the port
 * @params: values
 * @given: which of these to take
 * @extack: says what is wrong
 *
 * Under RTNL, not under the root lock. XOFF and XON are sent as the new values
 * demand.
 *
 * Return: 0; -EINVAL, and nothing has changed.
 */
int dcqcn_pool_change(struct dcqcn_port *port,
		      const struct dcqcn_pool_params *params, u32 given,
		      struct netlink_ext_ack *extack);

/**
 * dcqcn_pool_get() - what is set for the port's pool
 * @port: the port
 * @params: filled in
 *
 * Under RTNL.
 *
 * Return: the pool's name, valid until the port leaves.
 */
const char *dcqcn_pool_get(const struct dcqcn_port *port,
			   struct dcqcn_pool_params *params);

/**
 * dcqcn_pool_stats() - the pool's and the ingress port's numbers
 * @port: the port
 * @stats: its pool_* are filled in, and of each priority ingress_*,
 *	headroom_*, xoff_frames, xon_frames, dropped_headroom_packets
 */
void dcqcn_pool_stats(struct dcqcn_port *port, struct tc_dcqcn_xstats *stats);

/**
 * dcqcn_pool_init() - when the module is loaded
 *
 * Return: 0 or a negative error.
 */
int dcqcn_pool_init(void);

/**
 * dcqcn_pool_exit() - when it is unloaded, or its loading fails
 */
void dcqcn_pool_exit(void);

#endif /* _CLOSNET_DCQCN_POOL_H */
