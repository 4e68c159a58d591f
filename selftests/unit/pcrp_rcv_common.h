/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of sch/pcrp/pcrp_receiver.h share: a receiver that is checked after
 * each step, and remembers what it wanted done
 */
#ifndef _CLOSNET_UNIT_PCRP_RCV_COMMON_H
#define _CLOSNET_UNIT_PCRP_RCV_COMMON_H

#include "../../sch/pcrp/pcrp_receiver.h"

#define RCV_FLOWS	48
#define RCV_OUTS	(2 * RCV_FLOWS)
#define RCV_SOURCES	4
#define RCV_SOURCE_FLOWS	(RCV_FLOWS / 2)	/* that one of them may have */

/**
 * struct rcv_out - what the core wants done
 * @out: enum pcrp_rcv_out
 * @idx: for this flow
 * @msg: ANSWER, GRANT: what to send
 */
struct rcv_out {
	enum pcrp_rcv_out out;
	u32 idx;
	struct pcrp_msg msg;
};

/**
 * struct rcv - a receiver
 * @r: the core
 * @p: its parameters
 * @now_ns: the time
 * @source: of the flows that begin
 * @outs: what the last step wanted done
 * @out_count: how many
 * @ahead_max: longest step that may still be outstanding, bytes
 */
struct rcv {
	struct pcrp_receiver r;
	struct pcrp_rcv_params p;
	struct pcrp_rcv_flow flows[RCV_FLOWS];
	struct heap_node node[RCV_FLOWS];
	u32 place[RCV_FLOWS];
	struct pcrp_source sources[RCV_SOURCES];
	u64 now_ns;
	u32 source;
	struct rcv_out outs[RCV_OUTS];
	u32 out_count;
	u64 ahead_max;
};

/**
 * rcv_init() - an empty receiver at time 1 s, which trusts all sources
 * @t: receiver
 * @chain_bytes: C
 * @grants: TBL
 */
void rcv_init(struct rcv *t, u32 chain_bytes, u32 grants);

/* The core's calls, each with what it wants done in @t->outs, and a check */
u32 rcv_ask(struct rcv *t, u32 idx, const struct pcrp_msg *m);
void rcv_data(struct rcv *t, u32 idx, u32 bytes, u32 seq);
void rcv_expire(struct rcv *t);

/**
 * rcv_check() - aborts unless all that must hold does
 * @t: receiver
 *
 * Each flow is in one place, the places say the same of it, the table is in
 * order, a place has had data, sources are counted right, and no flow that it
 * grants is ahead by more than two chains.
 */
void rcv_check(const struct rcv *t);

#endif /* _CLOSNET_UNIT_PCRP_RCV_COMMON_H */
