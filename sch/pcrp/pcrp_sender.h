/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP, sender: which flow sends the next packet, and which has to wait
 *
 * The decisions of sch_pcrp's sending half without its packets: plain C, no kernel
 * types, so that the unit test runs the very code that the module runs.
 *
 * A flow of L bytes is cut into chains of C bytes, what the line carries in one
 * round trip. Its first chain is speculative: it may be sent at once, and asks for
 * more. Each later one is inactive until a GRANT of the receiver makes it active.
 * As GRANTs are cumulative, one number tells all of that:
 *
 *	0         sent                granted               size
 *	+----------+---------------------+--------------------+
 *	| gone     | active: may be sent | inactive           |
 *	+----------+---------------------+--------------------+
 *
 *	          a packet comes
 *	+------+ ----------------> +-------+  sent up to granted   +---------+
 *	| idle |                   | ready | --------------------> | waiting |
 *	+------+ <---------------- +-------+ <-------------------- +---------+
 *	    ^     nothing remains   |     ^   GRANT, or hold over
 *	    |                       v     | a packet comes
 *	    |  aborted             +-------+
 *	    +--------------------- |  dry  | the socket has bytes, but none are queued
 *	                           +-------+
 *
 * For each packet one of the ready flows is picked, by these rules in turn:
 *
 *	EU	the earliest unfinished flow, the first of those that have begun
 *	SRPT	the flow of which the least remains, if that is at most a chain
 *	MFWT	the flow that was not served for the longest time, if that is too long
 *	SRPT	the flow of which the least remains; of equal ones, the older
 *
 * A flow of more than one chain sends a REQUEST beside its first packet, and beside
 * a later chain's if it has become longer than it has said. One that waits longer
 * than it should sends it again, as a PROBE. PROBEs of all flows together are bounded,
 * so that thousands that wait do not fill the line.
 *
 * A flow whose first packet was queued the time `hold` ago sends a chain without a
 * GRANT. As the next one's first packet counts then, no packet waits for longer.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper:
 * - Chains are counted in bytes, as is all else. A packet whose first byte may be
 *   sent is sent whole.
 * - A promoted flow passes flows that have more than a chain left, no others.
 * - What remains of a flow, and so its size, is what is known of it: bytes queued
 *   here and in the socket. The size may grow while it is sent.
 * - To hosts that do not know PCRP flows are sent without waiting (ungated). They
 *   are never the EU flow: without GRANTs nothing would ever hold it back. With each
 *   chain they would ask; whether they may is for pcrp_peer.h to say.
 * - Networks lose packets: PROBE, hold, and packets that are sent again.
 */
#ifndef _CLOSNET_PCRP_SENDER_H
#define _CLOSNET_PCRP_SENDER_H

#include <closnet/core.h>
#include "pcrp_snd_flow.h"

/* Chains by which GRANTs, whatever they say, are ahead of what was sent */
#define PCRP_CHAINS_AHEAD	2

/* Heaps that have room for all flows */
#define PCRP_SND_HEAPS		3

/* Bounds of a chain whose length follows from rate and round trip */
#define PCRP_CHAIN_AUTO_PACKETS	2
#define PCRP_CHAIN_AUTO_MAX	(4U << 20)
/* A ready flow waits as long as so many chains take, if nothing is set. */
#define PCRP_MFWT_CHAINS	8

/* PROBEs: so many in a row, and of the line's bytes one in so many; one's bytes */
#define PCRP_PROBE_BURST	8
#define PCRP_PROBE_SHARE	100
#define PCRP_PROBE_BYTES	150

/**
 * enum pcrp_action - what the sender is to do
 * @PCRP_ACTION_SLEEP: nothing, until pcrp_snd_next_ns() or a packet or GRANT comes
 * @PCRP_ACTION_REQUEST: send a flow's REQUEST
 * @PCRP_ACTION_PROBE: send a flow's PROBE
 * @PCRP_ACTION_DATA: send a flow's next packet
 */
enum pcrp_action {
	PCRP_ACTION_SLEEP,
	PCRP_ACTION_REQUEST,
	PCRP_ACTION_PROBE,
	PCRP_ACTION_DATA,
};

/**
 * enum pcrp_grant_verdict - what a GRANT did
 * @PCRP_GRANT_NEWS: it activated a chain
 * @PCRP_GRANT_IDLE: it said nothing new
 * @PCRP_GRANT_LATE: its flow has finished, or goes on without
 * @PCRP_GRANT_REFUSED: there is no such flow
 */
enum pcrp_grant_verdict {
	PCRP_GRANT_NEWS,
	PCRP_GRANT_IDLE,
	PCRP_GRANT_LATE,
	PCRP_GRANT_REFUSED,
};

/**
 * struct pcrp_grant - what a GRANT says
 * @granted: offset up to which packets may be sent
 * @slot: of the flow
 * @flow_no: of the flow
 * @ask: the REQUEST or PROBE that it answers; 0: none
 * @prio: of what it activates, P4..P7
 */
struct pcrp_grant {
	u64 granted;
	u32 slot;
	u32 flow_no;
	u32 ask;
	u8 prio;
};

/* ---- what follows from the line ---- */

/**
 * pcrp_chain_auto() - a chain, if nothing is set
 * @rate_Bps: of the line, up to 2^40
 * @rtt_ns: base round-trip time, up to a millisecond
 * @packet: bytes of the largest packet
 *
 * Return: bytes.
 */
static inline u32 pcrp_chain_auto(u64 rate_Bps, u32 rtt_ns, u32 packet)
{
	u64 bytes = div_u64(rate_Bps * rtt_ns, 1000000000);

	bytes = min_t(u64, bytes, PCRP_CHAIN_AUTO_MAX);
	return max_t(u64, bytes, PCRP_CHAIN_AUTO_PACKETS * (u64)packet);
}

/**
 * pcrp_mfwt_auto() - when a ready flow is promoted, if nothing is set
 * @rate_Bps: of the line; not 0
 * @chain_bytes: a chain
 *
 * Return: ns.
 */
static inline u64 pcrp_mfwt_auto(u64 rate_Bps, u32 chain_bytes)
{
	return div64_u64(PCRP_MFWT_CHAINS * 1000000000ULL * chain_bytes, rate_Bps);
}

/**
 * pcrp_probe_ns() - after which a GRANT that stays away is asked for
 * @rtt_ns: base round-trip time, up to a millisecond
 * @rate_Bps: of the line; not 0
 * @chain_bytes: a chain
 *
 * Two round trips; before, what has left the queue has to leave the host.
 *
 * Return: ns.
 */
static inline u32 pcrp_probe_ns(u32 rtt_ns, u64 rate_Bps, u32 chain_bytes)
{
	u64 chain_ns = div64_u64(1000000000ULL * chain_bytes, rate_Bps);

	return min_t(u64, max_t(u64, 2 * rtt_ns + chain_ns, PCRP_PROBE_MIN_NS),
		     PCRP_PROBE_MAX_NS);
}

/**
 * pcrp_probe_gap_ns() - from PROBE to PROBE of all flows, on average, at least
 * @rate_Bps: of the line; not 0
 *
 * Return: ns.
 */
static inline u64 pcrp_probe_gap_ns(u64 rate_Bps)
{
	return div64_u64(1000000000ULL * PCRP_PROBE_BYTES * PCRP_PROBE_SHARE, rate_Bps);
}

/* ---- what the qdisc calls ---- */

/**
 * pcrp_snd_reset() - forget all flows; those that come have higher numbers
 * @s: sender
 */
static inline void pcrp_snd_reset(struct pcrp_sender *s)
{
	u32 i;

	for (i = 0; i < PCRP_FLOW_STATES; i++) {
		pcrp_list_init(s, PCRP_LINK_STATE, i);
		s->count[i] = 0;
	}
	pcrp_list_init(s, PCRP_LINK_EU, PCRP_LIST_BEGUN);
	s->count[PCRP_FLOW_UNUSED] = s->slots;
	heap_init(&s->shortest, s->shortest.node, s->shortest.place, s->slots);
	heap_init(&s->due, s->due.node, s->due.place, s->slots);
	heap_init(&s->probe, s->probe.node, s->probe.place, s->slots);
	for (i = 0; i < s->slots; i++) {
		s->flow[i] = (struct pcrp_flow) {};
		pcrp_list_add(s, PCRP_LINK_STATE, PCRP_FLOW_IDLE, i);
	}
}

/**
 * pcrp_snd_init() - a sender without flows
 * @s: sender; zeros
 * @flow: room for @slots flows and PCRP_SND_LISTS more
 * @node: room for PCRP_SND_HEAPS times as many
 * @place: the same
 * @slots: most flows at a time
 * @flow_no: a random number; so flows are not taken for those of a sender before
 */
static inline void pcrp_snd_init(struct pcrp_sender *s, struct pcrp_flow *flow,
				 struct heap_node *node, u32 *place, u32 slots,
				 u32 flow_no)
{
	s->flow = flow;
	s->slots = slots;
	s->flow_no = flow_no;
	s->shortest.node = node;
	s->shortest.place = place;
	s->due.node = node + slots;
	s->due.place = place + slots;
	s->probe.node = node + 2 * slots;
	s->probe.place = place + 2 * slots;
	pcrp_snd_reset(s);
}

/**
 * pcrp_snd_claim() - a slot for a flow that has none
 * @s: sender
 * @p: configuration
 * @now: the time, ns
 *
 * That of the flow that has been idle for the longest time, which is forgotten.
 * A packet has to be queued with it then, before anything else happens.
 *
 * Return: the slot; PCRP_NONE: all flows are unfinished.
 */
static inline u32 pcrp_snd_claim(struct pcrp_sender *s, const struct pcrp_params *p,
				 u64 now)
{
	u32 slot;

	if (!s->count[PCRP_FLOW_IDLE] && !s->count[PCRP_FLOW_UNUSED])
		pcrp_abort_dry(s, p, now);
	slot = pcrp_list_first(s, PCRP_LINK_STATE, PCRP_FLOW_IDLE);
	if (slot == PCRP_NONE)
		return slot;
	pcrp_count_flows(s, s->flow[slot].state, -1);
	pcrp_count_flows(s, PCRP_FLOW_UNUSED, 1);
	s->flow[slot].state = PCRP_FLOW_UNUSED;
	return slot;
}

/**
 * pcrp_snd_pass() - put off claiming a slot: all other idle ones come first
 * @s: sender
 * @slot: of a flow that is idle, or of none
 */
static inline void pcrp_snd_pass(struct pcrp_sender *s, u32 slot)
{
	pcrp_list_move(s, PCRP_LINK_STATE, PCRP_FLOW_IDLE, slot);
}

/**
 * pcrp_snd_starts() - does the next packet start a flow?
 * @s: sender
 * @slot: of the flow
 *
 * Return: true if so.
 */
static inline bool pcrp_snd_starts(const struct pcrp_sender *s, u32 slot)
{
	return pcrp_finished(&s->flow[slot]);
}

/**
 * pcrp_snd_queued() - a packet is queued, behind all others of its flow
 * @s: sender
 * @p: configuration
 * @slot: of its flow
 * @bytes: its payload
 * @unsent: bytes that its socket has beyond that; 0: it has none
 * @gate: if it starts a flow: enum pcrp_gate
 * @now: the time, ns
 */
static inline void pcrp_snd_queued(struct pcrp_sender *s, const struct pcrp_params *p,
				   u32 slot, u32 bytes, u32 unsent, u8 gate, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (unlikely(pcrp_finished(f)) && (bytes || !f->packets))
		pcrp_start(s, p, slot, gate);
	f->packets++;
	f->queued += bytes;
	pcrp_update(s, p, slot, unsent, now, now);
}

/**
 * pcrp_snd_again() - a packet is queued that was sent before
 * @s: sender
 * @p: configuration
 * @slot: of its flow, which may have finished
 * @unsent: as above
 * @now: the time, ns
 *
 * It goes before those that were not, behind those that were.
 */
static inline void pcrp_snd_again(struct pcrp_sender *s, const struct pcrp_params *p,
				  u32 slot, u32 unsent, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (pcrp_finished(f))
		f->echo = true;
	f->packets++;
	f->again++;
	pcrp_update(s, p, slot, unsent, now, now);
}

/* The rules; the slot, PCRP_NONE: no flow is ready */
static inline u32 pcrp_choose(struct pcrp_sender *s, const struct pcrp_params *p, u64 now)
{
	u32 first;

	if (p->eu) {
		first = pcrp_list_first(s, PCRP_LINK_EU, PCRP_LIST_BEGUN);
		s->rule = PCRP_RULE_EU;
		if (first != PCRP_NONE && s->flow[first].state == PCRP_FLOW_READY)
			return first;
	}
	s->rule = PCRP_RULE_ORDER;
	if (p->srpt && heap_first_key(&s->shortest) <= p->chain_bytes)
		return heap_first(&s->shortest);
	first = pcrp_list_first(s, PCRP_LINK_STATE, PCRP_FLOW_READY);	/* the oldest */
	if (!p->srpt || first == heap_first(&s->shortest))
		return first;
	if (now - s->flow[first].since_ns <= p->mfwt_ns)
		return heap_first(&s->shortest);
	s->rule = PCRP_RULE_MFWT;
	return first;
}

/* A chain begins with its first packet, of which the receiver is to know. */
static inline bool pcrp_asks_first(const struct pcrp_flow *f, const struct pcrp_params *p)
{
	return unlikely(pcrp_begins(f)) &&
	       f->size > p->first_bytes &&
	       (f->gate == PCRP_GATE_ASK || f->size > f->announced);
}

/* Is there a time to be looked at? */
static inline bool pcrp_snd_watches(const struct pcrp_sender *s)
{
	return s->due.count | s->probe.count | s->count[PCRP_FLOW_DRY];
}

/* An action, and the flow that it is about */
struct pcrp_pick {
	enum pcrp_action action;
	u32 slot;
};

/* What a time has come for; PCRP_ACTION_SLEEP: nothing that is to be sent before a packet */
static noinline struct pcrp_pick pcrp_pick_due(struct pcrp_sender *s,
					       const struct pcrp_params *p, u64 now)
{
	u32 slot;

	pcrp_abort_dry(s, p, now);
	if (heap_first_key(&s->due) <= now) {
		slot = heap_first(&s->due);
		if (s->flow[slot].ask)
			return (struct pcrp_pick) { PCRP_ACTION_REQUEST, slot };
		pcrp_go_on(s, p, slot, now);
	}
	if (heap_first_key(&s->probe) <= now && s->probe_from_ns <= now)
		return (struct pcrp_pick) { PCRP_ACTION_PROBE, heap_first(&s->probe) };
	return (struct pcrp_pick) { PCRP_ACTION_SLEEP, PCRP_NONE };
}

/**
 * pcrp_snd_pick() - what is to be done next
 * @s: sender
 * @p: configuration
 * @now: the time, ns
 * @slot: the flow that it is about, unless it is PCRP_ACTION_SLEEP
 *
 * pcrp_snd_asked(), pcrp_snd_ungate() or pcrp_snd_sent() tells that it was done. Until
 * then it remains to be. The flow has a packet queued, whatever it is.
 *
 * Return: what it is.
 */
static inline enum pcrp_action pcrp_snd_pick(struct pcrp_sender *s,
					     const struct pcrp_params *p, u64 now,
					     u32 *slot)
{
	struct pcrp_pick due;

	if (unlikely(pcrp_snd_watches(s))) {
		due = pcrp_pick_due(s, p, now);
		*slot = due.slot;
		if (due.action != PCRP_ACTION_SLEEP)
			return due.action;
	}
	*slot = pcrp_choose(s, p, now);
	if (*slot == PCRP_NONE)
		return PCRP_ACTION_SLEEP;
	if (pcrp_asks_first(&s->flow[*slot], p))
		return PCRP_ACTION_REQUEST;
	return PCRP_ACTION_DATA;
}

/* A PROBE leaves. So many in a row are let pass as if they came late. */
static inline void pcrp_probed(struct pcrp_sender *s, const struct pcrp_params *p, u64 now)
{
	u64 burst_ns = (PCRP_PROBE_BURST - 1) * p->probe_gap_ns;

	if (s->probe_from_ns + burst_ns < now)
		s->probe_from_ns = now - burst_ns;
	s->probe_from_ns += p->probe_gap_ns;
	pcrp_count(&s->stats.probes_sent);
}

/**
 * pcrp_snd_asked() - a REQUEST or PROBE is sent
 * @s: sender
 * @p: configuration
 * @slot: of the flow
 * @action: which
 * @now: the time, ns
 *
 * To be called before it is built, from what the flow is then: @announced is the
 * size, @sent the offset, @prio, @chain_no and @ask_no as they are.
 */
static inline void pcrp_snd_asked(struct pcrp_sender *s, const struct pcrp_params *p,
				  u32 slot, enum pcrp_action action, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];

	f->ask = false;
	f->ask_no++;
	f->asked_ns = now;
	f->last_ns = now;
	f->announced = f->size;
	if (f->state == PCRP_FLOW_READY && pcrp_begins(f))
		pcrp_begin_chain(s, p, slot);
	if (action == PCRP_ACTION_PROBE) {
		f->probe_ns = min_t(u32, 2 * f->probe_ns, PCRP_PROBE_MAX_NS);
		pcrp_probed(s, p, now);
	} else {
		pcrp_count(&s->stats.requests_sent);
	}
	pcrp_arm(s, p, slot);
}

/**
 * pcrp_snd_sent() - a flow's next packet leaves
 * @s: sender
 * @p: configuration
 * @slot: of the flow; the one that was picked
 * @bytes: its payload
 * @unsent: bytes that its socket has beyond what is queued here
 * @head_ns: when the packet was queued that is the flow's first then, if there is one
 * @now: the time, ns
 *
 * If nothing remains, the flow ends: pcrp_flow_ended().
 *
 * Return: its priority; PCRP_PRIO_UNGATED: to be left as it is.
 */
static inline u8 pcrp_snd_sent(struct pcrp_sender *s, const struct pcrp_params *p,
			       u32 slot, u32 bytes, u32 unsent, u64 head_ns,
			       u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];
	u8 prio;

	if (unlikely(f->sent >= f->chain_end) && bytes)
		pcrp_begin_chain(s, p, slot);
	prio = f->prio;
	if (prio == PCRP_PRIO_UNGATED)
		pcrp_count(&s->stats.ungated_packets);
	else
		pcrp_count(&s->stats.prio_packets[prio]);
	if (s->rule != PCRP_RULE_ORDER)
		pcrp_count(s->rule == PCRP_RULE_EU ? &s->stats.eu_packets : &s->stats.promotions);

	f->packets--;
	if (unlikely(f->again))
		f->again--;
	f->queued -= bytes;
	f->sent += bytes;
	f->since_ns = now;
	if (f->packets && f->link[PCRP_LINK_STATE].next != pcrp_list(s, PCRP_FLOW_READY))
		pcrp_list_move(s, PCRP_LINK_STATE, PCRP_FLOW_READY, slot);
	pcrp_update(s, p, slot, unsent, head_ns, now);
	return prio;
}

/**
 * pcrp_flow_ended() - has the flow of a packet that was sent ended with it?
 * @f: the flow
 *
 * Then @size is what it had; unless @heard, only the sender knows of it.
 *
 * Return: true if so.
 */
static inline bool pcrp_flow_ended(const struct pcrp_flow *f)
{
	return f->state == PCRP_FLOW_IDLE && !f->echo;
}

/**
 * pcrp_snd_ungate() - a flow waits for GRANTs no longer: its peer is silent
 * @s: sender
 * @p: configuration
 * @slot: of the flow
 * @now: the time, ns
 *
 * Should one come nevertheless, it does again. With its next chain it would ask.
 */
static inline void pcrp_snd_ungate(struct pcrp_sender *s, const struct pcrp_params *p,
				   u32 slot, u64 now)
{
	struct pcrp_flow *f = &s->flow[slot];

	if (f->gate == PCRP_GATE_GRANT)
		pcrp_count(&s->stats.flows_ungated);
	pcrp_leave_begun(s, slot);
	f->gate = PCRP_GATE_ASK;
	f->granted = U64_MAX;
	f->chain_end = f->sent + p->chain_bytes;
	f->prio = PCRP_PRIO_UNGATED;
	f->ask = false;
	pcrp_arm(s, p, slot);
	pcrp_settle(s, p, slot, now, now);
}

/*
 * The peer of a flow that did not wait answers: from now on it does. As a round trip
 * passes before it can be granted anything, the chain that it is in is granted.
 */
static inline void pcrp_gate(struct pcrp_sender *s, const struct pcrp_params *p, u32 slot,
			     u8 prio)
{
	struct pcrp_flow *f = &s->flow[slot];

	f->gate = PCRP_GATE_GRANT;
	f->granted = f->sent + p->chain_bytes;
	f->chain_end = f->granted;
	f->prio = prio;
	f->begun = true;
	pcrp_list_add(s, PCRP_LINK_EU, PCRP_LIST_BEGUN, slot);
}

static inline enum pcrp_grant_verdict pcrp_grant_refuse(struct pcrp_sender *s, bool late)
{
	if (late)
		pcrp_count(&s->stats.grants_late);
	else
		pcrp_count(&s->stats.grants_refused);
	return late ? PCRP_GRANT_LATE : PCRP_GRANT_REFUSED;
}

/**
 * pcrp_snd_grant() - a GRANT came; that it is no forgery was checked as far as can be
 * @s: sender
 * @p: configuration
 * @g: what it says
 * @now: the time, ns
 * @rtt_ns: time from the REQUEST or PROBE that it answers; 0: not known
 *
 * Whatever it says, no more than PCRP_CHAINS_AHEAD chains become active by it.
 *
 * Return: what it did.
 */
static inline enum pcrp_grant_verdict pcrp_snd_grant(struct pcrp_sender *s,
						     const struct pcrp_params *p,
						     const struct pcrp_grant *g,
						     u64 now, u64 *rtt_ns)
{
	struct pcrp_flow *f;
	u64 ahead, granted;
	u8 prio;

	*rtt_ns = 0;
	if (g->slot >= s->slots || s->flow[g->slot].state == PCRP_FLOW_UNUSED)
		return pcrp_grant_refuse(s, false);
	f = &s->flow[g->slot];
	if (f->flow_no != g->flow_no)
		return pcrp_grant_refuse(s, (s32)(f->flow_no - g->flow_no) > 0);
	f->heard = true;
	if (g->ask && g->ask == f->ask_no && f->asked_ns) {
		*rtt_ns = now - f->asked_ns;
		f->asked_ns = 0;
	}
	if (pcrp_finished(f) || f->gate == PCRP_GATE_NONE)
		return pcrp_grant_refuse(s, true);
	prio = max_t(u8, min_t(u8, g->prio, PCRP_PRIO_LAST), TC_PCRP_SPEC_PRIOS);
	if (f->gate == PCRP_GATE_ASK)
		pcrp_gate(s, p, g->slot, prio);

	ahead = PCRP_CHAINS_AHEAD * (u64)max_t(u32, p->chain_bytes, p->first_bytes);
	granted = min_t(u64, g->granted, f->sent + ahead);
	if (granted <= f->granted) {
		pcrp_count(&s->stats.grants_idle);
		return PCRP_GRANT_IDLE;
	}
	f->granted = granted;
	f->next_prio = prio;
	f->overdue = false;
	f->probe_ns = p->probe_ns;
	pcrp_count(&s->stats.grants_received);
	pcrp_check_size(s, p, g->slot);
	pcrp_arm(s, p, g->slot);
	pcrp_settle(s, p, g->slot, now, now);
	return PCRP_GRANT_NEWS;
}

/**
 * pcrp_snd_next_ns() - until when the sender may sleep
 * @s: sender
 *
 * Return: time, ns; U64_MAX: for ever; 0: not at all.
 */
static inline u64 pcrp_snd_next_ns(const struct pcrp_sender *s)
{
	return min_t(u64, heap_first_key(&s->due),
		     max_t(u64, heap_first_key(&s->probe), s->probe_from_ns));
}

#endif /* _CLOSNET_PCRP_SENDER_H */
