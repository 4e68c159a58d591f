/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credit of an egress port; the interface of voq_grant.c
 */
#ifndef _CLOSNET_VOQ_GRANT_H
#define _CLOSNET_VOQ_GRANT_H

#include <linux/list.h>
#include <closnet/core.h>
#include "voq_wire.h"

#define VOQ_NO_SOURCE	0xffffffffU
/* Credits that wait in the port's queue when grants pause */
#define VOQ_BACKLOG_CREDITS	4U
/* Grants that are withheld in a row for the queue's sake, at most */
#define VOQ_HOLD_MAX	8U
/* Credits that one request is good for, forged or not */
#define VOQ_REQUEST_CREDITS	8U
/* Time until a grant that was withheld is tried again, at least: bounds the timer's rate */
#define VOQ_HOLD_NS	1000ULL
/* Time without use of its credit after which a source counts as stalled, in times of retry_ns */
#define VOQ_STALL_RETRIES	2U
/* Time without a request after which a waiting source is forgotten, in times of retry_ns */
#define VOQ_FORGET_RETRIES	4U
/* Sources that a grant finds stalled or gone, at most */
#define VOQ_AGE_MAX	8U
/* Largest demand of a source, bytes; more than any memory */
#define VOQ_DEMAND_MAX	0x1000000000ULL
/* Length of packets that is assumed for their overhead on the wire, bytes */
#define VOQ_PACKET	1500U

/**
 * struct voq_source_key - a VOQ at an ingress leaf
 * @addr: address of the leaf; IPv4 is mapped
 * @id: number of the qdisc
 * @cookie: the VOQ
 */
struct voq_source_key {
	u8 addr[VOQ_ADDR_LEN];
	u32 id;
	u32 cookie;
};

/**
 * enum voq_source_where - states of a source
 * @VOQ_SOURCE_FREE: the place is free
 * @VOQ_SOURCE_QUIET: no demand, stalled, or its last request is used up; the longest quiet one
 *	first
 * @VOQ_SOURCE_WAITING: has demand; gets credit in turn
 * @VOQ_SOURCE_LISTS: number of lists
 */
enum voq_source_where {
	VOQ_SOURCE_FREE,
	VOQ_SOURCE_QUIET,
	VOQ_SOURCE_WAITING,
	VOQ_SOURCE_LISTS,
};

/**
 * struct voq_source - a VOQ that has requested credit
 * @node: in a list of enum voq_source_where
 * @hold: in the list of sources with unused credit
 * @key: identity
 * @hash: hash of @key
 * @hash_next: next place of the bucket
 * @where: enum voq_source_where
 * @stalled: it does not use its credit
 * @unused: credit that counts as unused, bytes
 * @queued: bytes that it has had
 * @granted: bytes for which it has had credit
 * @asked: @granted at the time of the last request
 * @sent: bytes that it has sent
 * @seen_ns: time of the last request
 * @used_ns: time since which it has not used credit
 */
struct voq_source {
	struct list_head node;
	struct list_head hold;
	struct voq_source_key key;
	u32 hash;
	u32 hash_next;
	u8 where;
	bool stalled;
	u64 unused;
	u64 queued;
	u64 granted;
	u64 asked;
	u64 sent;
	u64 seen_ns;
	u64 used_ns;
};

/**
 * struct voq_grant_params - parameters
 * @rate_Bps: rate at which the port sends, at least 1
 * @overhead: bytes that count for each packet besides its own
 * @credit: size of a credit, bytes
 * @window: sum of the unused credit of the sources, bytes
 * @retry_ns: time after which sources repeat requests
 */
struct voq_grant_params {
	u64 rate_Bps;
	u32 overhead;
	u32 credit;
	u32 window;
	u64 retry_ns;
};

/* Counters; TCA_VOQ_STATS_* describes them. */
struct voq_grant_counters {
	u64 requests;
	u64 retries;
	u64 grants;
	u64 granted_bytes;
	u64 held;
	u64 window_full;
	u64 stalled;
	u64 forgotten;
	u64 no_place;
};

/**
 * struct voq_granter - the credit of a port
 * @params: parameters
 * @place: sources
 * @bucket: first place by hash
 * @mask: number of buckets less 1
 * @places: number of places
 * @count: sources
 * @waiting: sources with demand
 * @lists: lists of enum voq_source_where
 * @holders: sources with unused credit, longest without use first
 * @unused: credit that counts as unused, bytes
 * @next_ns: time of the next grant
 * @held: grants withheld in a row
 * @stats: counters
 */
struct voq_granter {
	struct voq_grant_params params;
	struct voq_source *place;
	u32 *bucket;
	u32 mask;
	u32 places;
	u32 count;
	u32 waiting;
	struct list_head lists[VOQ_SOURCE_LISTS];
	struct list_head holders;
	u64 unused;
	u64 next_ns;
	u32 held;
	struct voq_grant_counters stats;
};

void voq_grant_init(struct voq_granter *g, struct voq_source *place, u32 *bucket, u32 buckets,
		    u32 places);
bool voq_grant_request(struct voq_granter *g, const struct voq_source_key *key, u32 hash,
		       const struct voq_msg *m, u64 now_ns, struct voq_msg *answer);
bool voq_grant_next(struct voq_granter *g, u64 backlog, u64 now_ns, struct voq_source_key *to,
		    struct voq_msg *m);

/* Time of the next grant; U64_MAX: no source waits */
static inline u64 voq_grant_ns(const struct voq_granter *g)
{
	return g->waiting ? g->next_ns : U64_MAX;
}

#endif /* _CLOSNET_VOQ_GRANT_H */
