/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of a flow bucket, put back in order
 *
 * The interface of fab_order.c, which explains the algorithm.
 */
#ifndef _CLOSNET_FAB_ORDER_H
#define _CLOSNET_FAB_ORDER_H

#include <closnet/core.h>
#include <linux/list.h>
#include <linux/rbtree.h>

/* Sequence numbers that are remembered, half of them before the next one, half from it on */
#define FAB_WINDOW	8192U
#define FAB_AHEAD	(FAB_WINDOW / 2)
/* Packets that wait, at most: with more, the first hole is given up */
#define FAB_HELD_MAX	(FAB_AHEAD / 2)
/* Packets in a row outside the window, near each other, after which the window moves there */
#define FAB_STRAYS_MAX	16U

/**
 * struct fab_skew - skew between the paths of a peer, shared by its buckets
 * @ns: estimate: how late a packet is compared with later ones that took other paths
 * @next_ns: largest sample of this period
 * @since_us: beginning of the period, µs modulo 2^32
 * @samples: number of samples before the first estimate
 */
struct fab_skew {
	u32 ns;
	u32 next_ns;
	u32 since_us;
	u32 samples;
};

/**
 * struct fab_wait - bounds of the wait for a missing packet
 * @min_ns: lower bound
 * @max_ns: upper bound, 1 to 4 * 10^9
 */
struct fab_wait {
	u32 min_ns;
	u32 max_ns;
};

/**
 * struct fab_held - a packet that waits for earlier ones
 * @node: in fab_order's tree, by sequence number
 * @arrival: in fab_order's list, by time
 * @seq: its sequence number
 * @since_us: time of arrival in µs, modulo 2^32
 */
struct fab_held {
	struct rb_node node;
	struct list_head arrival;
	u32 seq;
	u32 since_us;
};

/**
 * struct fab_order - order of a bucket
 * @tree: packets that wait, by sequence number
 * @arrivals: the same packets, the oldest first
 * @next: sequence number of the next packet in order
 * @stray: last sequence number outside the window
 * @strays: such packets in a row
 * @skipped_us: when the last hole that was given up had been noticed, µs modulo 2^32
 * @skipped: a hole was given up
 * @count: number of packets that wait; at most FAB_HELD_MAX
 * @seen: bit for each sequence number of the window: the packet was received
 */
struct fab_order {
	struct rb_root tree;
	struct list_head arrivals;
	u32 next;
	u32 stray;
	u32 strays;
	u32 skipped_us;
	bool skipped;
	u32 count;
	u64 seen[FAB_WINDOW / 64];
};

/**
 * enum fab_verdict - what to do with a packet
 * @FAB_PASS: deliver, it is the next one; then fab_order_pop() may give more
 * @FAB_HOLD: it waits
 * @FAB_LATE: deliver out of order: its turn was given up
 * @FAB_UNHELD: deliver out of order: the caller has no room for it
 * @FAB_STRAY: deliver out of order: its number is outside the window
 * @FAB_DUPLICATE: drop: it was received before
 * @FAB_RESTART: the peer numbers anew: pop all packets by fab_order_flush(), call
 *	fab_order_init() with this packet's number, and receive it again
 */
enum fab_verdict {
	FAB_PASS,
	FAB_HOLD,
	FAB_LATE,
	FAB_UNHELD,
	FAB_STRAY,
	FAB_DUPLICATE,
	FAB_RESTART,
};

void fab_order_init(struct fab_order *o, u32 next);
enum fab_verdict fab_order_receive(struct fab_order *o, struct fab_held *held, u32 seq,
				   struct fab_skew *skew, u64 now_ns);
struct fab_held *fab_order_pop(struct fab_order *o);
struct fab_held *fab_order_flush(struct fab_order *o);
u64 fab_order_wait_ns(const struct fab_order *o, const struct fab_skew *skew,
		      const struct fab_wait *w, u64 now_ns);
bool fab_order_skip(struct fab_order *o, struct fab_skew *skew, u64 now_ns);
u32 fab_skew_wait_ns(const struct fab_skew *skew, const struct fab_wait *w);

#endif /* _CLOSNET_FAB_ORDER_H */
