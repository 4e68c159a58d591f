/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual output queues and their credit at the ingress leaf; the interface of voq_core.c
 */
#ifndef _CLOSNET_VOQ_CORE_H
#define _CLOSNET_VOQ_CORE_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <closnet/core.h>
#include "voq_wire.h"

#define VOQ_NO_SLOT	0xffffffffU
/* Bits of a cookie that are the slot; the upper bits number the VOQs of a slot */
#define VOQ_SLOT_BITS	16
#define VOQ_SLOTS_MAX	65536U
/* Times that an answer is missing after which a VOQ sends without credit */
#define VOQ_TRIES	8U
/* Time until a VOQ without credit tries again */
#define VOQ_REOPEN_NS	1000000000ULL
/* Lateness of a departure that costs no rate, for option voq_rate */
#define VOQ_LATE_NS	50000ULL

/**
 * struct voq_key - destination port
 * @leaf: address of the egress leaf; all zero: unknown. IPv4 is mapped
 * @dst: address behind it
 */
struct voq_key {
	u8 leaf[VOQ_ADDR_LEN];
	u8 dst[VOQ_ADDR_LEN];
};

/**
 * enum voq_where - states of a slot
 * @VOQ_FREE: no VOQ
 * @VOQ_IDLE: no packets; the longest idle one first
 * @VOQ_READY: may send
 * @VOQ_HUNGRY: waits for credit
 * @VOQ_LISTS: number of lists
 * @VOQ_PACED: waits for its time, in a tree
 */
enum voq_where {
	VOQ_FREE,
	VOQ_IDLE,
	VOQ_READY,
	VOQ_HUNGRY,
	VOQ_LISTS,
	VOQ_PACED = VOQ_LISTS,
};

/**
 * struct voq_queue - a VOQ
 * @node: in a list of enum voq_where
 * @paced: in the tree
 * @due_node: in the list of VOQs that have to send a request
 * @wait: in the list of VOQs that wait for an answer
 * @key: identity
 * @hash: hash of @key
 * @hash_next: next slot of the bucket
 * @cookie: number in messages
 * @where: enum voq_where
 * @used: the slot has a VOQ
 * @open: it sends without credit
 * @due: it has to send a request
 * @waits: it waits for an answer
 * @tries: times that an answer was missing since the last one
 * @deficit: bytes that it may send in this round
 * @packets: packets that wait
 * @queued: bytes that it has had
 * @granted: bytes for which it has had credit
 * @sent: bytes that it has sent
 * @told_queued: @queued in the last request
 * @told_sent: @sent in the last request
 * @wait_ns: time since which it waits for an answer
 * @open_ns: open: time of the next request; U64_MAX: never
 * @next_ns: earliest time of the next packet, for option voq_rate
 */
struct voq_queue {
	struct list_head node;
	struct rb_node paced;
	struct list_head due_node;
	struct list_head wait;
	struct voq_key key;
	u32 hash;
	u32 hash_next;
	u32 cookie;
	u8 where;
	bool used;
	bool open;
	bool due;
	bool waits;
	u32 tries;
	s32 deficit;
	u32 packets;
	u64 queued;
	u64 granted;
	u64 sent;
	u64 told_queued;
	u64 told_sent;
	u64 wait_ns;
	u64 open_ns;
	u64 next_ns;
};

/**
 * struct voq_params - parameters
 * @credits: VOQs need credit
 * @quantum: bytes of a VOQ in a round, at least 1
 * @credit: size of a credit, bytes
 * @retry_ns: time after which a request is repeated
 * @rate_Bps: rate of each VOQ; 0: no limit
 * @overhead: bytes that count for each packet besides its own, for @rate_Bps
 */
struct voq_params {
	bool credits;
	u32 quantum;
	u32 credit;
	u64 retry_ns;
	u64 rate_Bps;
	u32 overhead;
};

/* Counters; TCA_VOQ_STATS_* describes them. */
struct voq_counters {
	u64 requests;
	u64 retries;
	u64 grants;
	u64 granted_bytes;
	u64 refused;
	u64 ignored;
	u64 opened;
};

/**
 * struct voq_table - the VOQs of a qdisc
 * @params: parameters
 * @slot: the slots
 * @bucket: first slot by hash
 * @mask: number of buckets less 1
 * @slots: number of slots
 * @count: VOQs
 * @hungry: VOQs that wait for credit
 * @generation: number of VOQs so far, from a random number on
 * @lists: lists of enum voq_where
 * @paced: VOQs that wait for their time
 * @due: VOQs that have to send a request
 * @waits: VOQs that wait for an answer, the longest waiting one first
 * @stats: counters
 */
struct voq_table {
	struct voq_params params;
	struct voq_queue *slot;
	u32 *bucket;
	u32 mask;
	u32 slots;
	u32 count;
	u32 hungry;
	u16 generation;
	struct list_head lists[VOQ_LISTS];
	struct rb_root_cached paced;
	struct list_head due;
	struct list_head waits;
	struct voq_counters stats;
};

void voq_init(struct voq_table *t, struct voq_queue *slot, u32 *bucket, u32 buckets, u32 slots);
void voq_reset(struct voq_table *t);
u32 voq_find(const struct voq_table *t, const struct voq_key *key, u32 hash);
u32 voq_claim(struct voq_table *t, const struct voq_key *key, u32 hash, bool gated);
void voq_queued(struct voq_table *t, u32 slot, u32 len, u64 now_ns);
u32 voq_pick(struct voq_table *t, u64 now_ns);
void voq_sent(struct voq_table *t, u32 slot, u32 len, u64 now_ns);
void voq_update(struct voq_table *t, u64 now_ns);
u32 voq_request(struct voq_table *t, u64 now_ns, struct voq_msg *m);
u64 voq_request_ns(const struct voq_table *t);
bool voq_answer(struct voq_table *t, const u8 *from, const struct voq_msg *m, u64 now_ns);

/* Time at which a VOQ may send that waits for its time; U64_MAX: no VOQ waits */
static inline u64 voq_next_ns(const struct voq_table *t)
{
	struct rb_node *first = rb_first_cached(&t->paced);

	return first ? rb_entry(first, struct voq_queue, paced)->next_ns : U64_MAX;
}

#endif /* _CLOSNET_VOQ_CORE_H */
