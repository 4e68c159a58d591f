/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: order of a host's flows at a link
 *
 * Plain C; time is an argument. Packets that wait in a qdisc or NIC leave in its order. So flows
 * wait here instead, and a packet is passed to the NIC when at most NDP_NICQ_NS of packets are
 * before it:
 *
 *	idle_ns		when the NIC will have sent all that it was given, at line rate
 *	due		idle_ns - now <= NDP_NICQ_NS
 *
 *	                        due, and first in order
 *	flow with a packet ---------------------------------> NIC; idle_ns += bytes / rate
 *	                |  else            ^
 *	                v                  | timer: the first one, when it is due
 *	             +-------+             |
 *	             | waits | ------------+
 *	             +-------+
 *
 * The order is that of pulls, with priority 7 first. Within a priority:
 *
 *	fair, fifo	one packet each in turn
 *	srpt		least remaining bytes first
 *
 * Each NDP_NICQ_OLDEST-th packet that has waited is of the flow that has waited longest since its
 * last one, whatever its priority: priorities are the programs' choice, and may not starve other
 * users' flows.
 *
 * Only DATA waits. CONTROL is charged: its bytes make later DATA wait.
 *
 * Reference: J. Ousterhout, "A Linux Kernel Implementation of the Homa Transport Protocol", USENIX
 * ATC 2021, section 3 (pacer).
 *
 * Differences from the reference: short messages wait like long ones.
 */
#ifndef _NDP_NICQ_H
#define _NDP_NICQ_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include "wire.h"

/* Packets at the NIC when one more is passed to it: they bridge the timer's delay. */
#define NDP_NICQ_NS		10000U
/* Packets that have waited, of which one is of the flow that has waited longest */
#define NDP_NICQ_OLDEST		16U

/**
 * struct ndp_nicq_node - a flow; zeros at first, and @age a list of its own
 * @rb: in the order
 * @age: in the order of time
 * @key: order; less is first
 * @tie: order among equal keys
 * @queued: it waits
 * @turn: the timer has chosen it: its next packet goes first
 */
struct ndp_nicq_node {
	struct rb_node rb;
	struct list_head age;
	u64 key;
	u64 tie;
	bool queued;
	bool turn;
};

/**
 * struct ndp_nicq - the flows that wait for a link: ndp_nicq_init()
 * @flows: sorted by key, the next flow first
 * @ages: sorted by time of waiting, longest first
 * @idle_ns: when the NIC will be idle
 * @frac: fraction of a ns, times 2^20
 * @byte_time: ns per byte, times 2^20
 * @arrivals: flows that began to wait
 * @packets: packets that were chosen by the timer
 */
struct ndp_nicq {
	struct rb_root_cached flows;
	struct list_head ages;
	u64 idle_ns;
	u64 frac;
	u64 byte_time;
	u64 arrivals;
	u32 packets;
};

void ndp_nicq_init(struct ndp_nicq *q, u64 now_ns);
void ndp_nicq_rate(struct ndp_nicq *q, u64 rate_Bps);
u64 ndp_nicq_key(u8 policy, u8 prio, u64 rest);
void ndp_nicq_charge(struct ndp_nicq *q, u32 bytes);
bool ndp_nicq_take(struct ndp_nicq *q, struct ndp_nicq_node *n, u64 key, u32 bytes, u64 now_ns);
void ndp_nicq_leave(struct ndp_nicq *q, struct ndp_nicq_node *n);
u64 ndp_nicq_next_ns(const struct ndp_nicq *q);
struct ndp_nicq_node *ndp_nicq_next(struct ndp_nicq *q, u64 now_ns);
struct ndp_nicq_node *ndp_nicq_drain(struct ndp_nicq *q);

#endif /* _NDP_NICQ_H */
