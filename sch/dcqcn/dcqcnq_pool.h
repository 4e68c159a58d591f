/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared buffer of a switch, and PFC: the interface of dcqcnq_pool.c
 */
#ifndef _CLOSNET_DCQCNQ_POOL_H
#define _CLOSNET_DCQCNQ_POOL_H

#include <linux/bits.h>
#include <linux/types.h>
#include "dcqcnq_mmu.h"

struct dcqcnq_pg;
struct dcqcnq_port;
struct Qdisc;
struct net_device;
struct netlink_ext_ack;
struct sk_buff;

/* Longest name of a pool, bytes without the NUL */
#define DCQCNQ_POOL_NAME_MAX	15

/**
 * struct dcqcnq_charge - charge for a waiting packet, in its control block
 * @from: port of the pool and priority by which it came in, or NULL
 * @prio: priority
 * @lossless: admitted as DCQCNQ_LOSSLESS
 * @charged: the pool counts the packet, see dcqcnq_pool_release(); false without a
 *	pool
 */
struct dcqcnq_charge {
	struct dcqcnq_pg *from;
	u8 prio;
	bool lossless;
	bool charged;
};

/**
 * struct dcqcnq_pool_stats - statistics of a pool
 * @ports: number of ports
 * @bytes: bytes waiting at all ports
 * @peak_bytes: maximum of @bytes
 * @xoff_bytes: current t_PFC
 * @headroom_bytes: headroom of the port for a lossless priority
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
 * @ingress: copy of its state
 * @xoff_frames: pause frames sent that pause it
 * @xon_frames: pause frames sent that resume it
 */
struct dcqcnq_prio_stats {
	struct dcqcnq_ingress ingress;
	u64 xoff_frames;
	u64 xon_frames;
};

enum dcqcnq_verdict dcqcnq_pool_admit(struct dcqcnq_port *egress,
				      const struct sk_buff *skb, u32 len, bool fits,
				      struct dcqcnq_charge *charge);
void dcqcnq_pool_release(struct dcqcnq_port *egress, u32 len,
			 const struct dcqcnq_charge *charge);
struct dcqcnq_port *dcqcnq_pool_join(const struct Qdisc *sch, const char *name,
				     const struct dcqcnq_pool_options *options,
				     struct netlink_ext_ack *extack);
void dcqcnq_pool_leave(struct dcqcnq_port *port, const struct Qdisc *sch);
int dcqcnq_pool_change(struct dcqcnq_port *port, const struct dcqcnq_pool_options *options,
		       struct netlink_ext_ack *extack);
const char *dcqcnq_pool_get(const struct dcqcnq_port *port,
			    struct dcqcnq_pool_options *options);
void dcqcnq_pool_lookup(const struct net_device *dev, const char *name,
			struct dcqcnq_pool_options *options);
void dcqcnq_pool_get_stats(const struct dcqcnq_port *port,
			   struct dcqcnq_pool_stats *stats);
void dcqcnq_pool_get_prio_stats(struct dcqcnq_port *port, u32 prio,
				struct dcqcnq_prio_stats *stats);
int dcqcnq_pool_init(void);
void dcqcnq_pool_exit(void);

#endif /* _CLOSNET_DCQCNQ_POOL_H */
