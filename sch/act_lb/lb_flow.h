/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows and the members that they use
 *
 * The interface of lb_flow.c, which explains the table.
 */
#ifndef _CLOSNET_LB_FLOW_H
#define _CLOSNET_LB_FLOW_H

#include <closnet/core.h>

/* Flows of a bucket: a bucket with its lock is one cache line. */
#define LB_WAYS		4

/**
 * struct lb_flow - a flow
 * @tag: upper half of its hash; 0: the place is free
 * @seen: time of its last packet, LB_TICK_NS each, modulo 2^32
 * @member: member that it uses, an id of the caller
 */
struct lb_flow {
	u32 tag;
	u32 seen;
	u32 member;
};

/* Unit of lb_flow's time: 2^32 of them are 18 minutes */
#define LB_TICK_SHIFT	8
#define LB_TICK_NS	(1U << LB_TICK_SHIFT)

/**
 * enum lb_flow_state - state of a packet's flow in the table
 * @LB_FLOW_ACTIVE: its last packet is younger than the gap: it keeps its member
 * @LB_FLOW_GAP: a new flowlet begins: it may move
 * @LB_FLOW_NEW: it was not in the table, and has a place now
 * @LB_FLOW_FULL: it was not in the table, and all places are taken by active flows
 */
enum lb_flow_state {
	LB_FLOW_ACTIVE,
	LB_FLOW_GAP,
	LB_FLOW_NEW,
	LB_FLOW_FULL,
};

enum lb_flow_state lb_flow_find(struct lb_flow *bucket, u64 hash, u64 now_ns, u64 gap_ns,
				struct lb_flow **flow);

/**
 * lb_flow_bucket() - find the bucket of a hash
 * @hash: hash of the flow
 * @buckets: number of buckets, a power of two up to 2^32
 *
 * Return: its index.
 */
static inline u32 lb_flow_bucket(u64 hash, u32 buckets)
{
	return (u32)hash & (buckets - 1);
}

#endif /* _CLOSNET_LB_FLOW_H */
