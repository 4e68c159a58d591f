/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A PCRP receiver for its tests: it is checked after each step and records its actions
 *
 * Tests know its flows by index.
 */
#ifndef _CLOSNET_UNIT_PCRP_RX_COMMON_H
#define _CLOSNET_UNIT_PCRP_RX_COMMON_H

#include <linux/in.h>

#include "../../sch/pcrp/pcrp_receiver.h"

#define RX_FLOWS	48
#define RX_ACTIONS	(2 * RX_FLOWS)
#define RX_SOURCES	4
#define RX_SOURCE_FLOWS	(RX_FLOWS / 2)	/* of one source, at most */
#define RX_NONE		UINT32_MAX	/* no flow */

/**
 * struct rx_action - an action of the receiver
 * @action: enum pcrp_rx_action
 * @idx: its flow
 * @msg: PCRP_RX_ANSWER, PCRP_RX_GRANT: the GRANT
 */
struct rx_action {
	enum pcrp_rx_action action;
	u32 idx;
	struct pcrp_msg msg;
};

/**
 * struct rx - a receiver
 * @r: the receiver
 * @p: its parameters
 * @flows: its slots
 * @sources: sources
 * @now_ns: the time
 * @source: index of the source of new flows
 * @actions: actions after the last step
 * @action_count: number of actions
 * @ahead_max: longest chain of a sender, bytes
 */
struct rx {
	struct pcrp_receiver r;
	struct pcrp_rx_params p;
	struct pcrp_rx_flow flows[RX_FLOWS];
	struct pcrp_source sources[RX_SOURCES];
	u64 now_ns;
	u32 source;
	struct rx_action actions[RX_ACTIONS];
	u32 action_count;
	u64 ahead_max;
};

/**
 * rx_init() - set up a receiver without flows at time 1 s, which trusts all sources
 * @t: receiver
 * @chain_bytes: C
 * @grants: TBL
 */
void rx_init(struct rx *t, u32 chain_bytes, u32 grants);

/* Calls of the receiver; each records the actions in @t->actions and checks the state. */
u32 rx_request(struct rx *t, u32 idx, const struct pcrp_msg *m);
void rx_data(struct rx *t, u32 idx, u32 bytes, u32 seq);
void rx_expire(struct rx *t);

/**
 * rx_check() - abort unless all invariants hold
 * @t: receiver
 *
 * Each flow is in one container, containers agree with states, the table is in order, a
 * flow with a place has had data, sources are counted right, and no flow is granted more
 * than two chains ahead.
 */
void rx_check(const struct rx *t);

#endif /* _CLOSNET_UNIT_PCRP_RX_COMMON_H */
