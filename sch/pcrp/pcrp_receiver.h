/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's receiver: interface of pcrp_receiver.c, which describes the algorithm
 *
 * No locks. The caller serialises all calls for a receiver.
 */
#ifndef _PCRP_RECEIVER_H
#define _PCRP_RECEIVER_H

#include <closnet/core.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include "pcrp_wire.h"

/* A place that delivers less than a unit in this time is revoked. */
#define PCRP_PLACE_NS		20000000ULL
#define PCRP_UNIT_MAX		16384U	/* bytes; 6.6 Mbit/s in PCRP_PLACE_NS */
/* Units: largest credit and debt, which is PCRP_GRANTS_MAX places; price of an unused place */
#define PCRP_CREDIT_UNITS	64
#define PCRP_WASTE_UNITS	16

/* Silence after which a flow is forgotten. A waiting sender probes at least each 10 ms. */
#define PCRP_RX_KEEP_NS		100000000ULL
/*
 * Silence after which missing bytes count as lost. Bytes that were only delayed let the
 * sender transmit a chain too many; this bounds those, for each flow, to 0.2 % of a
 * 10 Gbit/s link.
 */
#define PCRP_RX_LOST_NS		10000000ULL

/**
 * struct pcrp_rx_params - parameters of a receiver
 * @chain_bytes: C; 1 or more
 * @grants: TBL, places in the table, 1..PCRP_GRANTS_MAX
 * @evict: a smaller flow takes the place of the largest one
 * @paper: the paper's rules: a priority rises at once, and without @evict, no flow waits
 *	for a place
 */
struct pcrp_rx_params {
	u32 chain_bytes;
	u32 grants;
	bool evict;
	bool paper;
};

/**
 * struct pcrp_source - a host that sends to us; zeroed at first
 * @credit: bytes that it has delivered, minus its debt
 * @places: its flows in the table
 * @flows: its flows that the receiver remembers
 */
struct pcrp_source {
	s64 credit;
	u32 places;
	u32 flows;
};

/**
 * enum pcrp_rx_state - state of a flow
 * @PCRP_RX_FREE: the slot has no flow
 * @PCRP_RX_IDLE: granted in full, or not entitled to a place
 * @PCRP_RX_PENDING: waits for a place
 * @PCRP_RX_TABLE: has a place in the table
 */
enum pcrp_rx_state {
	PCRP_RX_FREE,
	PCRP_RX_IDLE,
	PCRP_RX_PENDING,
	PCRP_RX_TABLE,
};

/**
 * enum pcrp_rx_action - what the caller does for a flow; a later value supersedes
 * @PCRP_RX_NOTHING: no action
 * @PCRP_RX_ANSWER: send a GRANT that repeats the flow's state
 * @PCRP_RX_GRANT: send a GRANT that activates a chain
 * @PCRP_RX_FINISHED: forget the flow: all of it was received
 * @PCRP_RX_EXPIRED: forget the flow: its sender fell silent
 */
enum pcrp_rx_action {
	PCRP_RX_NOTHING,
	PCRP_RX_ANSWER,
	PCRP_RX_GRANT,
	PCRP_RX_FINISHED,
	PCRP_RX_EXPIRED,
};

/**
 * struct pcrp_rx_flow - a flow that is being received; zeroed before pcrp_rx_add_slot()
 * @size: L, as far as it is known
 * @high: bytes received, up to the highest offset
 * @granted: bytes granted
 * @last_ns: time of the last data; before any data, of the first REQUEST; of a flow with
 *	@proven, of the last REQUEST or PROBE if that was later
 * @used_ns: when it got its place, or has delivered a unit since
 * @map_offset: offset whose TCP sequence number is known
 * @probe_offset: bytes sent, as the last PROBE reported
 * @probe_ns: when the first PROBE with that offset came
 * @cookie: as in struct pcrp_msg
 * @source: its source
 * @link: FREE: in the list of free slots; else in the list of flows by @last_ns
 * @action_link: in the list of flows with an @action
 * @node: PENDING: in the tree of pending flows
 * @key: PENDING: @size, plus PCRP_RX_UNTRUSTED if its source was not trusted
 * @step: length of the newest granted chain, bytes
 * @arrival: serial number of the flow, modulo 2^32
 * @map_seq: TCP sequence number of @map_offset
 * @slot: as in struct pcrp_msg
 * @flow_no: as in struct pcrp_msg
 * @chain_no: in the last REQUEST or PROBE
 * @chain_bytes: the sender's, as in struct pcrp_msg
 * @used_bytes: payload delivered since @used_ns, each packet counting a unit at most
 * @request_no: number of the unanswered REQUEST or PROBE; 0: none
 * @sport: as in struct pcrp_msg
 * @dport: as in struct pcrp_msg
 * @proto: as in struct pcrp_msg
 * @state: enum pcrp_rx_state
 * @action: enum pcrp_rx_action
 * @prio: priority of its last GRANT, P4..P7; before, of the chain that it sends, P0..P7
 * @probed: a PROBE came after the last packet
 * @missing: bytes below @high are known to be missing
 * @proven: its data came, or its trusted source sent a PROBE
 */
struct pcrp_rx_flow {
	u64 size;
	u64 high;
	u64 granted;
	u64 last_ns;
	u64 used_ns;
	u64 map_offset;
	u64 probe_offset;
	u64 probe_ns;
	u64 cookie;
	struct pcrp_source *source;
	struct list_head link;
	struct list_head action_link;
	struct rb_node node;
	u64 key;
	u32 step;
	u32 arrival;
	u32 map_seq;
	u32 slot;
	u32 flow_no;
	u32 chain_no;
	u32 chain_bytes;
	u32 used_bytes;
	u32 request_no;
	u16 sport;
	u16 dport;
	u8 proto;
	u8 state;
	u8 action;
	u8 prio;
	bool probed;
	bool missing;
	bool proven;
};

/**
 * struct pcrp_rx_stats - counters of a receiver, u64 only: pcrp_copy_counters(); read locklessly
 * @requests: REQUESTs received
 * @probes: PROBEs received
 * @overflow: REQUESTs and PROBEs of flows for which there was no slot
 * @expired: flows whose sender fell silent
 * @evicted: flows that lost their place to a smaller one
 * @revoked: flows that lost a place that they did not use or could not pay for
 * @finished: flows received completely
 * @grants: GRANTs that activate a chain
 * @answers: GRANTs that do not
 * @granted_peak: largest number of flows in the table
 */
struct pcrp_rx_stats {
	u64 requests;
	u64 probes;
	u64 overflow;
	u64 expired;
	u64 evicted;
	u64 revoked;
	u64 finished;
	u64 grants;
	u64 answers;
	u64 granted_peak;
};

/**
 * struct pcrp_receiver - all flows that are being received
 * @params: parameters
 * @flows_per_source: flows of one source that are remembered
 * @pending: flows that wait for a place: first those of trusted sources, each by size
 * @table: flows with a place, by size; the index of a flow is its rank
 * @granted: flows in @table; read locklessly
 * @used: flows; read locklessly
 * @arrivals: flows so far, modulo 2^32
 * @flows: flows in the order of last_ns
 * @free: free slots
 * @actions: flows with an action, in the order in which they got it
 * @stats: counters
 */
struct pcrp_receiver {
	const struct pcrp_rx_params *params;
	u32 flows_per_source;
	struct rb_root_cached pending;
	struct pcrp_rx_flow *table[PCRP_GRANTS_MAX];
	u32 granted;
	u32 used;
	u32 arrivals;
	struct list_head flows;
	struct list_head free;
	struct list_head actions;
	struct pcrp_rx_stats stats;
};

void pcrp_rx_init(struct pcrp_receiver *r, const struct pcrp_rx_params *params,
		  u32 flows_per_source);
void pcrp_rx_add_slot(struct pcrp_receiver *r, struct pcrp_rx_flow *f);
u32 pcrp_rx_rank(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f);
bool pcrp_rx_drained(const struct pcrp_rx_flow *f);
struct pcrp_rx_flow *pcrp_rx_request(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
				     struct pcrp_source *source, const struct pcrp_msg *m,
				     u64 now_ns);
void pcrp_rx_refuse(const struct pcrp_msg *m, struct pcrp_msg *answer);
void pcrp_rx_data(struct pcrp_receiver *r, struct pcrp_rx_flow *f, u32 bytes, u32 seq,
		  u64 now_ns);
u64 pcrp_rx_next_ns(const struct pcrp_receiver *r);
void pcrp_rx_expire(struct pcrp_receiver *r, u64 now_ns);
enum pcrp_rx_action pcrp_rx_next_action(struct pcrp_receiver *r, struct pcrp_rx_flow **flow);
void pcrp_rx_build_grant(struct pcrp_rx_flow *f, struct pcrp_msg *m);

#endif /* _PCRP_RECEIVER_H */
