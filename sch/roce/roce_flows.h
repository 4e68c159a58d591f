/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directions of queue pairs seen at a device; the interface of roce_flows.c
 */
#ifndef _CLOSNET_ROCE_FLOWS_H
#define _CLOSNET_ROCE_FLOWS_H

#include <closnet/dcqcn.h>
#include "roce_pkt.h"

#define ROCE_FLOW_BUCKETS	256U
/* Flows that are compared to find the oldest of them */
#define ROCE_EVICT_TRIES	16
/* Lists of flows by their pair of addresses */
#define ROCE_PAIR_BITS		6
/* Minimum time between two searches through such a list */
#define ROCE_SEARCH_NS		(50 * 1000ULL)

/**
 * struct roce_flow - one direction of a queue pair
 * @next: next flow of the bucket
 * @pair_next: next flow of the list of its pair of addresses
 * @pair_at: pointer to this flow in that list
 * @key: identity
 * @peer_qpn: queue pair of the sender; ROCE_QPN_NONE: unknown
 * @psn_low: latest PSN that was acknowledged, or the first one seen
 * @psn_high: latest PSN of a request
 * @sport: UDP source port of the last packet
 * @has_psn: there were requests
 * @connected: there were requests or responses, which datagrams do not have
 * @datagrams: a datagram named the sender's queue pair
 * @seen_ns: time of the last packet
 * @np: state of the NP
 * @cnp_ns: time of the last CNP to the sender that was handed on; 0: none
 * @marked_packets: data packets with CE
 * @cnps: CNPs sent for them
 * @owner: the caller's; 0 at first
 */
struct roce_flow {
	struct roce_flow *next;
	struct roce_flow *pair_next;
	struct roce_flow **pair_at;
	struct roce_key key;
	u32 peer_qpn;
	u32 psn_low;
	u32 psn_high;
	u16 sport;
	bool has_psn;
	bool connected;
	bool datagrams;
	u64 seen_ns;
	struct dcqcn_np np;
	u64 cnp_ns;
	u64 marked_packets;
	u64 cnps;
	u32 owner;
};

/**
 * struct roce_pairs - flows of some pairs of addresses, in both directions
 * @first: the first one
 * @search_ns: time of the last search through them
 */
struct roce_pairs {
	struct roce_flow *first;
	u64 search_ns;
};

/**
 * struct roce_flows - all flows of a set of address pairs, initially all zero but @seed
 * @seed: secret of the hash
 * @count: number of flows
 * @hand: bucket at which the next eviction begins
 * @bucket: flows by hash
 * @pairs: flows by hash of the pair of addresses
 */
struct roce_flows {
	u64 seed;
	u32 count;
	u32 hand;
	struct roce_flow *bucket[ROCE_FLOW_BUCKETS];
	struct roce_pairs pairs[1 << ROCE_PAIR_BITS];
};

struct roce_flow *roce_flows_find(const struct roce_flows *t, const struct roce_key *key);
void roce_flows_add(struct roce_flows *t, struct roce_flow *f, const struct roce_key *key);
struct roce_flow *roce_flows_evict(struct roce_flows *t);
struct roce_flow *roce_flows_expire(struct roce_flows *t, u64 before_ns);
void roce_flows_learn(struct roce_flows *t, struct roce_flow *f, const struct roce_pkt *pkt,
		      u64 now_ns);
struct roce_flow *roce_flows_notified(struct roce_flows *t, const struct roce_key *cnp,
				      u64 now_ns);

#endif /* _CLOSNET_ROCE_FLOWS_H */
