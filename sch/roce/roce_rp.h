/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rate limiters of queue pairs, and their scheduler; the interface of roce_rp.c
 */
#ifndef _CLOSNET_ROCE_RP_H
#define _CLOSNET_ROCE_RP_H

#include <closnet/core.h>
#include <linux/rbtree.h>
#include <closnet/dcqcn.h>
#include "roce_pkt.h"

#define ROCE_NO_SLOT		0xffffffffU
/* Lateness of a departure that costs no rate */
#define ROCE_LATE_NS		(50 * 1000ULL)
/* Idle queue pairs that a new one removes, at most */
#define ROCE_EXPIRE_MAX		8

/**
 * enum roce_list - lists of queue pairs
 * @ROCE_FREE: slots without a queue pair
 * @ROCE_IDLE: no packets; the longest idle one first
 * @ROCE_READY: the first packet may leave
 * @ROCE_LISTS: number of lists
 * @ROCE_WAITING: no list: the first packet waits for its time, in the tree
 */
enum roce_list {
	ROCE_FREE,
	ROCE_IDLE,
	ROCE_READY,
	ROCE_LISTS,
	ROCE_WAITING = ROCE_LISTS,
};

/**
 * struct roce_qp - rate limiter of a queue pair
 * @node: in struct roce_rp.waiting
 * @key: identity; undefined if not @used
 * @dcqcn: DCQCN's state
 * @next_ns: earliest departure of the next packet
 * @idle_ns: time of the last departure
 * @packets: packets queued
 * @bytes: their bytes
 * @sent_packets: packets sent
 * @sent_bytes: their bytes
 * @dropped_packets: packets dropped at the limit of the queue pair
 * @cnps: CNPs that changed the rate
 * @hash: hash of @key
 * @hash_next: next slot of the bucket
 * @prev: previous slot of the list
 * @next: next slot of the list
 * @where: enum roce_list
 * @used: the slot has a queue pair
 */
struct roce_qp {
	struct rb_node node;
	struct roce_key key;
	struct dcqcn_vars dcqcn;
	u64 next_ns;
	u64 idle_ns;
	u32 packets;
	u32 bytes;
	u64 sent_packets;
	u64 sent_bytes;
	u64 dropped_packets;
	u64 cnps;
	u32 hash;
	u32 hash_next;
	u32 prev;
	u32 next;
	u8 where;
	bool used;
};

/**
 * struct roce_rp - all rate limiters of a qdisc
 * @params: DCQCN's parameters
 * @limits: DCQCN's limits
 * @overhead: bytes that count for each packet besides its own
 * @paced_at_max: pace at the highest rate as well: it is below the line rate
 * @idle_ns: idle time after which a queue pair is forgotten
 * @qp: slots; after these, a head for each list
 * @bucket: first slot by hash
 * @mask: number of buckets less 1
 * @slots: number of slots
 * @count: slots in use
 * @waiting: queue pairs in state ROCE_WAITING, by @next_ns
 * @other_ahead_bytes: bytes sent of other traffic less bytes sent of queue pairs, while
 *	both could send
 */
struct roce_rp {
	struct dcqcn_params params;
	struct dcqcn_limits limits;
	u32 overhead;
	bool paced_at_max;
	u64 idle_ns;
	struct roce_qp *qp;
	u32 *bucket;
	u32 mask;
	u32 slots;
	u32 count;
	struct rb_root_cached waiting;
	s64 other_ahead_bytes;
};

void roce_rp_init(struct roce_rp *rp, struct roce_qp *qp, u32 *bucket, u32 buckets, u32 slots);
void roce_rp_reset(struct roce_rp *rp);
void roce_rp_set_limits(struct roce_rp *rp, const struct dcqcn_limits *limits, u64 now_ns);
u32 roce_rp_find(const struct roce_rp *rp, const struct roce_key *key, u32 hash);
u32 roce_rp_claim(struct roce_rp *rp, const struct roce_key *key, u32 hash, u64 now_ns);
void roce_rp_queued(struct roce_rp *rp, u32 slot, u32 len, u64 now_ns);
u32 roce_rp_pick(struct roce_rp *rp, u64 now_ns);
enum dcqcn_cause roce_rp_sent(struct roce_rp *rp, u32 slot, u32 len, u64 now_ns);
bool roce_rp_notify(struct roce_rp *rp, u32 slot, u64 now_ns);
bool roce_rp_prefers_other(const struct roce_rp *rp, u32 slot);
void roce_rp_charge(struct roce_rp *rp, bool other, bool contended, u32 len);

/* Time at which a waiting queue pair may send; U64_MAX if no queue pair waits */
static inline u64 roce_rp_next_ns(const struct roce_rp *rp)
{
	struct rb_node *first = rb_first_cached(&rp->waiting);

	return first ? rb_entry(first, struct roce_qp, node)->next_ns : U64_MAX;
}

/* Is the queue pair slower than the line? */
static inline bool roce_qp_limited(const struct roce_rp *rp, const struct roce_qp *qp)
{
	return rp->paced_at_max || qp->dcqcn.rate_Bps < rp->limits.max_Bps;
}

#endif /* _CLOSNET_ROCE_RP_H */
