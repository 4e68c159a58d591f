/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reference model of PCRP's sender
 *
 * Written from the specification's prose, for the random test of
 * sch/pcrp/pcrp_sender.h. It keeps no list, heap or count: whatever it has to know it
 * finds by looking at all flows.
 */
#ifndef _CLOSNET_UNIT_PCRP_MODEL_H
#define _CLOSNET_UNIT_PCRP_MODEL_H

#include "pcrp_port.h"

#define MODEL_SLOTS	24

/**
 * struct model_flow - a flow
 * @state: enum pcrp_flow_state
 * @gate: enum pcrp_gate
 * @since: when it got into its state, or was served in it; waiting: when its first
 *	packet came
 * @order: the same, as the how manieth event that was
 * @born: the how manieth flow it is
 * @begun: the how manieth to begin, of those that wait for GRANTs; 0: none of them
 * @q: packets that wait
 * @unsent: bytes in the socket
 * @sent: bytes
 * @granted: offset from which on it waits
 * @border: offset from which on another chain begins
 * @size: bytes known of
 * @told: size that the receiver was told; 0: nothing
 * @started: a chain has begun
 * @ask: it is to be told now
 * @overdue: what it may send next nobody has granted
 * @echo: it has ended; what waits was sent before
 * @last: when a packet or a control packet left
 * @probe: how long the next PROBE waits
 * @prio: of the chain
 * @next_prio: of the next one
 */
struct model_flow {
	u8 state;
	u8 gate;
	u64 since;
	u64 order;
	u64 born;
	u64 begun;
	struct port_fifo q;
	u32 unsent;
	u64 sent;
	u64 granted;
	u64 border;
	u64 size;
	u64 told;
	bool started;
	bool ask;
	bool overdue;
	bool echo;
	u64 last;
	u32 probe;
	u8 prio;
	u8 next_prio;
};

/**
 * struct model - all flows
 * @f: by slot
 * @p: configuration
 * @now: the time, ns
 * @events: so far
 * @births: flows so far
 * @begins: flows that have begun so far
 * @firsts: first chains
 * @granted: chains that were granted
 * @overdue: chains that were not
 * @credit: a bucket of PCRP_PROBE_BURST PROBEs' time, which fills as time passes, ns
 * @credit_at: when it was that
 */
struct model {
	struct model_flow f[MODEL_SLOTS];
	const struct pcrp_params *p;
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

void model_open(struct model *m, const struct pcrp_params *p);
void model_arrive(struct model *m, u32 slot, u32 bytes, u32 unsent, u8 gate);
void model_again(struct model *m, u32 slot, u32 unsent);
u32 model_claim(struct model *m);
void model_ungate(struct model *m, u32 slot);
enum pcrp_grant_verdict model_grant(struct model *m, u32 slot, s64 age, u64 granted,
				    u8 prio);

/**
 * model_step() - what is next
 * @m: model
 * @unsent: what the sockets have, by slot
 */
struct step model_step(struct model *m, const u32 *unsent);

/* How many flows are in a state */
u32 model_count(const struct model *m, u8 state);

/* When something is to be done about any flow; U64_MAX: never */
u64 model_next(const struct model *m);

/* How many flows are echoes */
u32 model_echoes(const struct model *m);

/* What remains of a flow */
u64 model_left(const struct model_flow *f);

#endif /* _CLOSNET_UNIT_PCRP_MODEL_H */
