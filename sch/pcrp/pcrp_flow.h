/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sender's flow table
 *
 * An entry is a slot of the sender (pcrp_sender.c) and the FIFO of its flow. Packets
 * without a flow (multicast, fragments, flows for which there is no entry) share the
 * last entry: it is scheduled like any flow and cannot starve.
 *
 * The table is under the root lock.
 */
#ifndef _PCRP_FLOW_H
#define _PCRP_FLOW_H

#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include "pcrp_key.h"
#include "pcrp_plain.h"
#include "pcrp_sender.h"
#include "pcrp_seq.h"

/**
 * struct pcrp_entry - an entry
 * @tx: slot of the sender
 * @key: key of the flow; zeroed: no flow
 * @ip_hlen: pcrp_plain_ip_hlen() of @key; 0: no flow
 * @node: in its hash bucket
 * @head: first packet
 * @tail: last packet
 * @retrans_tail: last retransmission; all of them precede new data. NULL: no retransmission
 * @seq: TCP: sequence numbers
 * @gate_until: jiffies until which @gate holds for flows that begin
 * @gate_changes: changes of peers when @gate was chosen; a later one ends its validity
 * @gate: enum pcrp_gate of the last flow that began
 * @src_hash: pcrp_addr_hash() of the source address
 * @dst_hash: pcrp_addr_hash() of the destination address
 */
struct pcrp_entry {
	struct pcrp_tx_flow tx;
	struct pcrp_key key;
	u8 ip_hlen;
	struct hlist_node node;
	struct sk_buff *head;
	struct sk_buff *tail;
	struct sk_buff *retrans_tail;
	struct pcrp_seq seq;
	unsigned long gate_until;
	u32 gate_changes;
	u8 gate;
	u32 src_hash;
	u32 dst_hash;
} ____cacheline_aligned;

/**
 * struct pcrp_flows - the table
 * @entries: @count entries, then the entry of packets without a flow
 * @buckets: hash buckets
 * @last: entry of the last packet, which the next packet often shares
 * @count: flows that have an entry of their own
 * @mask: number of buckets - 1
 * @seed: seed of the hash
 */
struct pcrp_flows {
	struct pcrp_entry *entries;
	struct hlist_head *buckets;
	struct pcrp_entry *last;
	u32 count;
	u32 mask;
	u64 seed;
};

int pcrp_flows_init(struct pcrp_flows *t, u32 count, u64 seed);
void pcrp_flows_free(struct pcrp_flows *t);
void pcrp_flows_clear(struct pcrp_flows *t);
struct pcrp_entry *pcrp_flows_find(struct pcrp_flows *t, const struct pcrp_key *key);
void pcrp_flows_assign(struct pcrp_flows *t, struct pcrp_entry *e, const struct pcrp_key *key);

/* The entry of packets without a flow */
static inline struct pcrp_entry *pcrp_flows_rest(const struct pcrp_flows *t)
{
	return &t->entries[t->count];
}

#endif /* _PCRP_FLOW_H */
