/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reference model of PCRP's sender
 *
 * Written from the specification's prose, for the random test of sch/pcrp/pcrp_sender.c.
 * It has no containers and no counters of flows: it searches all flows for each decision.
 */
#ifndef _CLOSNET_UNIT_PCRP_MODEL_H
#define _CLOSNET_UNIT_PCRP_MODEL_H

#include "pcrp_port.h"

#define MODEL_SLOTS	24

/**
 * struct model_flow - a flow
 * @state: enum pcrp_tx_state
 * @gate: enum pcrp_gate
 * @since: when it entered its state, or was served in it; waiting: when its first packet
 *	was queued
 * @order: serial number of that event
 * @class: READY: class of its remaining bytes by model_class(), with SRPT; else NO_CLASS
 * @class_order: serial number of the event that put it there
 * @born: serial number of the flow
 * @begun: serial number of its first chain; 0: not begun, or ungated
 * @q: queued packets
 * @unsent: bytes in the socket
 * @sent: bytes sent
 * @granted: offset at which it waits
 * @border: offset at which the next chain begins
 * @size: bytes known
 * @announced: size in the last REQUEST or PROBE; 0: none was sent
 * @started: a chain has begun
 * @request_due: a REQUEST is due
 * @overdue: the next chain is sent without a GRANT
 * @retrans_only: it has finished and only retransmissions are queued
 * @last: when a packet or a control packet left
 * @probe: wait before the next PROBE
 * @prio: priority of the chain
 * @next_prio: priority of the next chain
 */
struct model_flow {
	u8 state;
	u8 gate;
	u64 since;
	u64 order;
	u32 class;
	u64 class_order;
	u64 born;
	u64 begun;
	struct port_fifo q;
	u32 unsent;
	u64 sent;
	u64 granted;
	u64 border;
	u64 size;
	u64 announced;
	bool started;
	bool request_due;
	bool overdue;
	bool retrans_only;
	u64 last;
	u32 probe;
	u8 prio;
	u8 next_prio;
};

/**
 * struct model - all flows
 * @f: flows by slot
 * @p: parameters
 * @now: the time, ns
 * @events: events so far
 * @births: flows so far
 * @begins: flows that have begun so far
 * @firsts: first chains
 * @granted: granted chains
 * @overdue: chains sent without a GRANT
 * @credit: token bucket for PCRP_PROBE_BURST PROBEs, ns
 * @credit_at: when @credit was updated
 */
struct model {
	struct model_flow f[MODEL_SLOTS];
	const struct pcrp_tx_params *p;
	u64 now;
	u64 events;
	u64 births;
	u64 begins;
	u64 firsts;
	u64 granted;
	u64 overdue;
	u64 credit;
	u64 credit_at;
};

void model_open(struct model *m, const struct pcrp_tx_params *p);
void model_arrive(struct model *m, u32 slot, u32 bytes, u32 unsent, u8 gate);
void model_retransmit(struct model *m, u32 slot, u32 unsent);
u32 model_claim(struct model *m);
void model_ungate(struct model *m, u32 slot);
enum pcrp_grant_result model_grant(struct model *m, u32 slot, s64 age, u64 granted, u8 prio);

/**
 * model_step() - do the next step
 * @m: model
 * @unsent: bytes in the sockets by slot
 *
 * Return: the step.
 */
struct step model_step(struct model *m, const u32 *unsent);

/* SRPT was switched on or off. */
void model_params_changed(struct model *m);

/* Number of flows in a state */
u32 model_count(const struct model *m, u8 state);

/* Time of the next action; U64_MAX: never */
u64 model_next(const struct model *m);

/* Number of flows with retransmissions only */
u32 model_retrans_only(const struct model *m);

/* Remaining bytes of a flow */
u64 model_left(const struct model_flow *f);

#endif /* _CLOSNET_UNIT_PCRP_MODEL_H */
