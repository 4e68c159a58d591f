/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP, sender: what a flow is, and what it may do next
 *
 * The part of sch/pcrp/pcrp_sender.h, see there, that is about a single flow: its chains,
 * its state, and when something is due. All that follows from what has come, was sent
 * and was granted: pcrp_settle() works the state out anew after each change, so that
 * no sequence of events needs a rule of its own.
 *
 * Where flows of a state are kept:
 *
 *	READY	heap by what remains (SRPT), and list by when last served (MFWT)
 *	WAITING	heap by when the time `hold` is over, and heap by when a PROBE is due
 *	DRY	list by when that began: the first may have been aborted
 *	IDLE	list by when that began: the first is forgotten for a new flow
 *
 * and those that wait for GRANTs, from their first packet to their end, in the order
 * in which they began: the first is the EU flow. So nothing takes longer than
 * O(log n), and only heaps do.
 *
 * A flow's packets leave in the order in which they came, but for those that were
 * sent before: they stand first, among them in order, and wait for no GRANT. One that
 * comes when its flow has ended makes it no flow again, only an echo, which has
 * nothing to announce, to wait for or to be counted.
 */
#ifndef _CLOSNET_PCRP_SND_FLOW_H
#define _CLOSNET_PCRP_SND_FLOW_H

#include <closnet/core.h>
#include <closnet/heap.h>
#include <linux/pkt_sched_pcrp.h>
#include "pcrp_limits.h"

#define PCRP_NONE		0xffffffffU

/* The priority of what is not ours to mark */
#define PCRP_PRIO_UNGATED	PCRP_MAP_LEAVE
#define PCRP_PRIO_LAST		(TC_PCRP_PRIOS - 1)

/* PROBEs: least and greatest wait for a GRANT */
#define PCRP_PROBE_MIN_NS	50000
#define PCRP_PROBE_MAX_NS	10000000

/* A flow that its socket feeds no more has been aborted. */
#define PCRP_DRY_NS		1000000000ULL

/**
 * struct pcrp_params - configuration
 * @chain_bytes: C, of a chain
 * @first_bytes: of a flow's first chain
 * @mfwt_ns: MFWT, after which a ready flow is promoted; U64_MAX: never
 * @hold_ns: after which a waiting flow goes on without a GRANT
 * @spec_bytes: sizes up to which a first chain has P0, P1, P2
 * @probe_ns: after which a GRANT that stays away is asked for: pcrp_probe_ns()
 * @probe_gap_ns: from PROBE to PROBE, of whichever flow: pcrp_probe_gap_ns()
 * @eu: the earliest unfinished flow goes first
 * @srpt: the flow of which the least remains goes first; else who waited longest
 */
struct pcrp_params {
	u32 chain_bytes;
	u32 first_bytes;
	u64 mfwt_ns;
	u64 hold_ns;
	u64 spec_bytes[TC_PCRP_SPEC_PRIOS - 1];
	u32 probe_ns;
	u64 probe_gap_ns;
	bool eu;
	bool srpt;
};

/**
 * enum pcrp_flow_state - what a flow is about
 * @PCRP_FLOW_UNUSED: there is none
 * @PCRP_FLOW_IDLE: it has finished; the next byte starts another one
 * @PCRP_FLOW_DRY: unfinished, but nothing is queued
 * @PCRP_FLOW_READY: its next packet may be sent
 * @PCRP_FLOW_WAITING: its next packet may not be sent
 * @PCRP_FLOW_STATES: how many there are
 */
enum pcrp_flow_state {
	PCRP_FLOW_UNUSED,
	PCRP_FLOW_IDLE,
	PCRP_FLOW_DRY,
	PCRP_FLOW_READY,
	PCRP_FLOW_WAITING,
	PCRP_FLOW_STATES,
};

/**
 * enum pcrp_gate - does a flow wait for GRANTs?
 * @PCRP_GATE_NONE: no: it has no peer that could answer
 * @PCRP_GATE_ASK: no, but it would send a REQUEST beside each chain, if it is one that
 *	has them, to find out whether its peer answers. If so, it does from then on
 * @PCRP_GATE_GRANT: yes
 */
enum pcrp_gate {
	PCRP_GATE_NONE,
	PCRP_GATE_ASK,
	PCRP_GATE_GRANT,
};

/**
 * struct pcrp_link - where a flow stands in a list, by slots
 * @next: behind it
 * @prev: before it
 *
 * A list is a ring. It begins and ends with an entry that is no flow; those of all
 * lists stand behind the flows: pcrp_list().
 */
struct pcrp_link {
	u32 next;
	u32 prev;
};

enum pcrp_link_id {
	PCRP_LINK_STATE,	/* the list of all in its state */
	PCRP_LINK_EU,		/* the list of those begun and unfinished */
	PCRP_LINKS,
};

/* Lists: by enum pcrp_flow_state; and that of PCRP_LINK_EU, of which there is one */
#define PCRP_SND_LISTS		PCRP_FLOW_STATES
#define PCRP_LIST_BEGUN		0

/**
 * struct pcrp_flow - a flow; zeros at first
 * @sent: bytes; so, offset of the next one
 * @granted: offset from which on packets wait
 * @chain_end: offset at which another chain begins; U64_MAX: none ever
 * @size: L, bytes, as far as known; never less than before
 * @queued: bytes here
 * @since_ns: READY: when last served, or when it became so; WAITING: when its first
 *	packet was queued; else: when it became so
 * @packets: queued here
 * @unsent: bytes that wait in its socket
 * @state: enum pcrp_flow_state
 * @gate: enum pcrp_gate
 * @prio: of the present chain
 * @next_prio: of the next one
 * @ask: a REQUEST is due as soon as a packet is there that it can go beside
 * @begun: it is in the EU list
 * @echo: it has ended; what is queued adds nothing
 * @overdue: the next chain is sent without a GRANT
 * @again: packets queued here that were sent before; they are the first
 * @flow_no: the flow's number; later ones have higher ones, in serial arithmetic
 * @link: by enum pcrp_link_id
 * @announced: size in the last REQUEST or PROBE; 0: there was none
 * @last_ns: when its last packet, REQUEST or PROBE left
 * @asked_ns: when its last REQUEST or PROBE left; 0: it was answered
 * @chain_no: chains begun
 * @ask_no: REQUESTs and PROBEs sent
 * @probe_ns: how long the next PROBE waits, or longer
 * @heard: its receiver knows of it: a GRANT came
 *
 * What each packet touches stands first.
 */
struct pcrp_flow {
	u64 sent;
	u64 granted;
	u64 chain_end;
	u64 size;
	u64 queued;
	u64 since_ns;
	u32 packets;
	u32 unsent;
	u8 state;
	u8 gate;
	u8 prio;
	u8 next_prio;
	bool ask;
	bool begun;
	bool echo;
	bool overdue;
	u32 again;
	u32 flow_no;
	struct pcrp_link link[PCRP_LINKS];
	u64 announced;
	u64 last_ns;
	u64 asked_ns;
	u32 chain_no;
	u32 ask_no;
	u32 probe_ns;
	bool heard;
};

/**
 * struct pcrp_snd_stats - what the sender counts; as in struct pcrp_stats
 * @flows_started: see there
 * @flows_finished: see there
 * @flows_ungated: see there
 * @chains_speculative: see there
 * @chains_granted: see there
 * @chains_overdue: see there
 * @promotions: see there
 * @eu_packets: see there
 * @requests_sent: see there
 * @probes_sent: see there
 * @grants_received: see there
 * @grants_late: see there
 * @grants_idle: see there
 * @grants_refused: see there
 * @prio_packets: see there
 * @ungated_packets: see there
 */
struct pcrp_snd_stats {
	u64 flows_started;
	u64 flows_finished;
	u64 flows_ungated;
	u64 chains_speculative;
	u64 chains_granted;
	u64 chains_overdue;
	u64 promotions;
	u64 eu_packets;
	u64 requests_sent;
	u64 probes_sent;
	u64 grants_received;
	u64 grants_late;
	u64 grants_idle;
	u64 grants_refused;
	u64 prio_packets[TC_PCRP_PRIOS];
	u64 ungated_packets;
};

/* By which rule a flow was picked */
enum pcrp_rule {
	PCRP_RULE_EU,
	PCRP_RULE_MFWT,
	PCRP_RULE_ORDER,
};

/**
 * struct pcrp_sender - a port's flows
 * @flow: by slot; then the ends of lists. UNUSED and IDLE share one; READY: in the order
 *	in which they were served last; others: in that in which they became so; begun:
 *	gated flows that have begun and have not finished, in the order in which they began
 * @count: flows, by enum pcrp_flow_state
 * @slots: how many there are
 * @flow_no: of the last flow that started
 * @rule: by which the next packet's flow was picked; enum pcrp_rule
 * @probe_from_ns: before that, no PROBE
 * @shortest: READY flows by what remains of them
 * @due: flows by the time at which they ask, or have waited for too long, ns
 * @probe: WAITING flows by the time at which a PROBE is due, ns
 * @stats: what is counted
 */
struct pcrp_sender {
	struct pcrp_flow *flow;
	u32 count[PCRP_FLOW_STATES];
	u32 slots;
	u32 flow_no;
	u8 rule;
	u64 probe_from_ns;
	struct heap shortest;
	struct heap due;
	struct heap probe;
	struct pcrp_snd_stats stats;
};

/* Statistics are read without the lock. */
static inline void pcrp_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

/**
 * pcrp_spec_prio() - priority of the first chain
 * @p: configuration
 * @size: of the flow, bytes
 *
 * Return: 0..3.
 */
static inline u8 pcrp_spec_prio(const struct pcrp_params *p, u64 size)
{
	u8 prio = 0;

	while (prio < TC_PCRP_SPEC_PRIOS - 1 && size > p->spec_bytes[prio])
		prio++;
	return prio;
}

/* ---- lists ---- */

/* Which entry is a list's beginning and end */
static inline u32 pcrp_list(const struct pcrp_sender *s, u32 list)
{
	return s->slots + list;
}

/* The first flow; PCRP_NONE: there is none */
static inline u32 pcrp_list_first(const struct pcrp_sender *s, enum pcrp_link_id id, u32 list)
{
	u32 slot = s->flow[pcrp_list(s, list)].link[id].next;

	return slot < s->slots ? slot : PCRP_NONE;
}

static inline void pcrp_list_init(struct pcrp_sender *s, enum pcrp_link_id id, u32 list)
{
	u32 end = pcrp_list(s, list);

	s->flow[end].link[id] = (struct pcrp_link) { .next = end, .prev = end };
}

static inline void pcrp_list_add(struct pcrp_sender *s, enum pcrp_link_id id, u32 list, u32 slot)
{
	struct pcrp_flow *flow = s->flow;
	struct pcrp_link *end = &flow[pcrp_list(s, list)].link[id];
	u32 last = end->prev;

	flow[slot].link[id].next = pcrp_list(s, list);
	flow[slot].link[id].prev = last;
	end->prev = slot;
	flow[last].link[id].next = slot;
}

static inline void pcrp_list_del(struct pcrp_sender *s, enum pcrp_link_id id, u32 slot)
{
	struct pcrp_flow *flow = s->flow;
	struct pcrp_link link = flow[slot].link[id];

	flow[link.prev].link[id].next = link.next;
	flow[link.next].link[id].prev = link.prev;
}

static inline void pcrp_list_move(struct pcrp_sender *s, enum pcrp_link_id id, u32 list, u32 slot)
{
	pcrp_list_del(s, id, slot);
	pcrp_list_add(s, id, list, slot);
}

static inline void pcrp_count_flows(struct pcrp_sender *s, u8 state, u32 more)
{
	WRITE_ONCE(s->count[state], s->count[state] + more);
}

/* ---- states ---- */

/**
 * pcrp_remaining() - what a flow has not sent yet
 * @f: the flow
 *
 * Return: bytes.
 */
static inline u64 pcrp_remaining(const struct pcrp_flow *f)
{
	return f->queued + f->unsent;
}

/**
 * pcrp_finished() - has a flow ended, or is there none?
 * @f: the flow
 *
 * Return: true if so.
 */
static inline bool pcrp_finished(const struct pcrp_flow *f)
{
	return f->state <= PCRP_FLOW_IDLE || f->echo;
}

/* Neither what was sent before needs a GRANT, nor what is without payload, if that is all. */
static inline bool pcrp_may_send(const struct pcrp_flow *f)
{
	return f->again || f->sent < f->granted || !f->queued;
}

/* When is something to be done about it? What asks goes beside a packet. */
static noinline void pcrp_set_alarms(struct pcrp_sender *s, const struct pcrp_params *p, u32 slot)
{
	const struct pcrp_flow *f = &s->flow[slot];
	bool waits = f->state == PCRP_FLOW_WAITING;

	if (f->ask && f->packets)
		heap_set(&s->due, slot, 0, f->flow_no);
	else if (waits)
		heap_set(&s->due, slot, f->since_ns + p->hold_ns, f->flow_no);
	else
		heap_remove(&s->due, slot);
	if (waits)
		heap_set(&s->probe, slot, f->last_ns + f->probe_ns, f->flow_no);
	else
		heap_remove(&s->probe, slot);
}

/* Most flows neither ask nor wait, nor have they. */
static inline void pcrp_arm(struct pcrp_sender *s, const struct pcrp_params *p, u32 slot)
{
	const struct pcrp_flow *f = &s->flow[slot];

	if (f->ask || f->state == PCRP_FLOW_WAITING || heap_has(&s->due, slot) ||
	    heap_has(&s->probe, slot))
		pcrp_set_alarms(s, p, slot);
}

static inline void pcrp_leave_begun(struct pcrp_sender *s, u32 slot)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (!f->begun)
		return;
	pcrp_list_del(s, PCRP_LINK_EU, slot);
	f->begun = false;
}

static inline void pcrp_end(struct pcrp_sender *s, u32 slot)
{
	struct pcrp_flow *f = &s->flow[slot];

	pcrp_leave_begun(s, slot);
	f->ask = false;
	if (!f->echo)
		pcrp_count(&s->stats.flows_finished);
}

/* Another state. @since_ns: see struct pcrp_flow */
static noinline void pcrp_enter(struct pcrp_sender *s, const struct pcrp_params *p,
				u32 slot, u8 state, u64 since_ns)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (f->state == PCRP_FLOW_READY) {
		heap_remove(&s->shortest, slot);
		f->last_ns = f->since_ns;
	}
	if (state == PCRP_FLOW_IDLE)
		pcrp_end(s, slot);
	pcrp_count_flows(s, f->state, -1);
	pcrp_count_flows(s, state, 1);
	pcrp_list_move(s, PCRP_LINK_STATE, state, slot);
	f->state = state;
	f->since_ns = since_ns;
	if (state == PCRP_FLOW_READY)
		heap_set(&s->shortest, slot, pcrp_remaining(f), f->flow_no);
	pcrp_arm(s, p, slot);
}

/*
 * A flow's state follows from what it has and what it may. @head_ns: when its first
 * packet was queued, should it begin to wait now
 */
static inline void pcrp_settle(struct pcrp_sender *s, const struct pcrp_params *p,
			       u32 slot, u64 head_ns, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];
	u8 state;

	if (f->packets)
		state = likely(pcrp_may_send(f)) ? PCRP_FLOW_READY : PCRP_FLOW_WAITING;
	else
		state = f->unsent ? PCRP_FLOW_DRY : PCRP_FLOW_IDLE;
	if (state != f->state)
		pcrp_enter(s, p, slot, state, state == PCRP_FLOW_WAITING ? head_ns : now);
	else if (state == PCRP_FLOW_READY)
		heap_set(&s->shortest, slot, pcrp_remaining(f), f->flow_no);
}

/*
 * The receiver does not know of the flow, or not that it is longer than all that it
 * has granted. Before the first chain it need not know: pcrp_snd_pick().
 */
static inline void pcrp_check_size(struct pcrp_sender *s, const struct pcrp_params *p,
				   u32 slot)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (f->gate != PCRP_GATE_GRANT || !f->chain_no || f->size <= p->first_bytes ||
	    f->size <= f->announced)
		return;
	if (f->announced && (f->size <= f->granted || f->granted < f->announced))
		return;
	f->ask = true;
	pcrp_arm(s, p, slot);
}

/* What a flow has is another amount now. */
static inline void pcrp_update(struct pcrp_sender *s, const struct pcrp_params *p,
			       u32 slot, u32 unsent, u64 head_ns, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];
	u64 size;

	f->unsent = f->echo ? 0 : unsent;
	size = f->sent + pcrp_remaining(f);
	if (size > f->size) {
		f->size = size;
		pcrp_check_size(s, p, slot);
	}
	pcrp_settle(s, p, slot, head_ns, now);
}

/* What an echo has queued leaves before, with the priority that it had. */
static inline void pcrp_start(struct pcrp_sender *s, const struct pcrp_params *p,
			      u32 slot, u8 gate)
{
	struct pcrp_flow *f = &s->flow[slot];
	bool gated = gate == PCRP_GATE_GRANT;

	f->sent = 0;
	f->granted = gated ? p->first_bytes : U64_MAX;
	f->chain_end = gate == PCRP_GATE_NONE ? U64_MAX : 0;
	f->size = 0;
	f->queued = 0;
	f->gate = gate;
	if (!gated || !f->packets)
		f->prio = PCRP_PRIO_UNGATED;
	f->next_prio = 0;
	f->ask = false;
	f->begun = false;
	f->echo = false;
	f->overdue = false;
	f->flow_no = ++s->flow_no;
	f->announced = 0;
	f->last_ns = 0;
	f->asked_ns = 0;
	f->chain_no = 0;
	f->ask_no = 0;
	f->probe_ns = p->probe_ns;
	f->heard = false;
	pcrp_count(&s->stats.flows_started);
	if (!gated)
		pcrp_count(&s->stats.flows_ungated);
}

/* Is a flow's next packet the first of a chain? As far as is known, with empty ones. */
static inline bool pcrp_begins(const struct pcrp_flow *f)
{
	return f->sent >= f->chain_end && f->queued && !f->again;
}

/* The flow's next packet is the first of a chain. */
static inline void pcrp_begin_chain(struct pcrp_sender *s, const struct pcrp_params *p,
				    u32 slot)
{
	struct pcrp_flow *f = &s->flow[slot];

	f->chain_no++;
	if (f->gate != PCRP_GATE_GRANT) {
		f->chain_end = f->sent + p->chain_bytes;
		return;
	}
	f->chain_end = f->granted;
	if (!f->begun) {
		f->begun = true;
		pcrp_list_add(s, PCRP_LINK_EU, PCRP_LIST_BEGUN, slot);
		f->prio = pcrp_spec_prio(p, f->size);
		pcrp_count(&s->stats.chains_speculative);
		return;
	}
	f->prio = f->next_prio;
	if (f->overdue)
		pcrp_count(&s->stats.chains_overdue);
	else
		pcrp_count(&s->stats.chains_granted);
	f->overdue = false;
}

/* A flow has waited for too long: it goes on with a chain that nobody granted. */
static inline void pcrp_go_on(struct pcrp_sender *s, const struct pcrp_params *p,
			      u32 slot, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];

	f->granted = f->sent + p->chain_bytes;
	f->next_prio = PCRP_PRIO_LAST;
	f->overdue = true;
	f->probe_ns = p->probe_ns;
	pcrp_settle(s, p, slot, now, now);
}

/* Ends a flow that has been without packets for too long, if there is one. */
static inline void pcrp_abort_dry(struct pcrp_sender *s, const struct pcrp_params *p,
				  u64 now)
{
	u32 slot;

	if (!s->count[PCRP_FLOW_DRY])
		return;
	slot = pcrp_list_first(s, PCRP_LINK_STATE, PCRP_FLOW_DRY);
	if (now - s->flow[slot].since_ns >= PCRP_DRY_NS)
		pcrp_enter(s, p, slot, PCRP_FLOW_IDLE, now);
}

#endif /* _CLOSNET_PCRP_SND_FLOW_H */
