/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's sender: interface of pcrp_sender.c, which describes the algorithm
 *
 * No locks. The caller serialises all calls for a sender. Senders of one link may run
 * on several CPUs at a time.
 */
#ifndef _PCRP_SENDER_H
#define _PCRP_SENDER_H

#include <closnet/core.h>
#include <linux/list.h>
#include <linux/pkt_sched_pcrp.h>
#include <linux/rbtree.h>
#include "pcrp_limits.h"

/* Priority of packets whose DSCP stays as it is */
#define PCRP_PRIO_UNGATED	PCRP_MAP_LEAVE
#define PCRP_PRIO_LAST		(TC_PCRP_PRIOS - 1)

/* Wait before a PROBE: minimum and maximum */
#define PCRP_PROBE_MIN_NS	50000
#define PCRP_PROBE_MAX_NS	10000000
/* PROBEs that the senders of a link may send back to back before probe_gap_ns applies */
#define PCRP_PROBE_BURST	8

/* A flow that stays DRY for this long was aborted by its socket. */
#define PCRP_DRY_NS		1000000000ULL

/* Classes of remaining bytes: 16 for each power of two, up to 2^40: pcrp_tx_class() */
#define PCRP_CLASS_BITS		4
#define PCRP_CLASS_STEPS	16
#define PCRP_CLASS_BYTES	0x10000000000ULL
#define PCRP_CLASS_NONE		592
#define PCRP_CLASS_ROWS		(PCRP_CLASS_NONE / PCRP_CLASS_STEPS)

/**
 * struct pcrp_tx_params - parameters of a sender
 * @chain_bytes: C, length of a chain
 * @first_bytes: length of a flow's first chain
 * @mfwt_ns: MFWT, wait after which a ready flow is promoted; U64_MAX: never
 * @hold_ns: longest wait for a GRANT
 * @spec_bytes: largest flow sizes of P0, P1 and P2 for a first chain
 * @probe_ns: wait for a GRANT before the first PROBE, see pcrp_auto_probe_ns()
 * @probe_gap_ns: mean time between PROBEs of a link, see pcrp_auto_probe_gap_ns()
 * @eu: serve the earliest unfinished flow first
 * @srpt: serve a flow of the lowest class first; else the least recently served
 */
struct pcrp_tx_params {
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
 * enum pcrp_tx_state - state of a slot's flow
 * @PCRP_TX_UNUSED: the slot has no flow
 * @PCRP_TX_IDLE: the flow has finished; the next byte starts another flow
 * @PCRP_TX_DRY: unfinished, but no packet is queued
 * @PCRP_TX_READY: the next packet may be sent
 * @PCRP_TX_WAITING: the next packet needs a GRANT
 * @PCRP_TX_STATES: number of states
 */
enum pcrp_tx_state {
	PCRP_TX_UNUSED,
	PCRP_TX_IDLE,
	PCRP_TX_DRY,
	PCRP_TX_READY,
	PCRP_TX_WAITING,
	PCRP_TX_STATES,
};

/**
 * enum pcrp_gate - relation of a flow to GRANTs
 * @PCRP_GATE_NONE: ungated, and its peer cannot answer
 * @PCRP_GATE_DISCOVER: ungated; each chain of a flow of several chains sends a REQUEST, to
 *	discover whether the peer answers. An answer changes the flow to PCRP_GATE_GRANT
 * @PCRP_GATE_GRANT: gated: every chain but the first needs a GRANT
 */
enum pcrp_gate {
	PCRP_GATE_NONE,
	PCRP_GATE_DISCOVER,
	PCRP_GATE_GRANT,
};

/**
 * struct pcrp_tx_flow - a slot and its flow; zeroed before pcrp_tx_add_slot()
 * @sent: bytes sent, which is the offset of the next byte
 * @granted: offset at which packets start to wait
 * @chain_end: offset at which the next chain begins; U64_MAX: never
 * @size: L, bytes known so far; never decreases
 * @queued: payload bytes in the qdisc
 * @since_ns: READY: when last served, when it became ready, or when another flow became
 *	ready beside it, the only one; WAITING: when its first packet was queued, if known;
 *	else when it entered the state
 * @packets: packets in the qdisc
 * @unsent: bytes in the socket that have not reached the qdisc
 * @state: enum pcrp_tx_state
 * @gate: enum pcrp_gate
 * @prio: priority of the current chain
 * @next_prio: priority of the next chain
 * @request_due: a REQUEST is to be sent beside the next packet
 * @begun: in the list of begun flows
 * @retrans_only: the flow has finished and only retransmissions are queued
 * @overdue: the next chain is sent without a GRANT
 * @retrans: retransmissions in the qdisc; they precede all new data
 * @flow_no: serial number of the flow
 * @state_link: in the sender's list of @state
 * @chain_no: chains begun
 * @request_no: REQUESTs and PROBEs sent, which is the number of the last one
 * @probe_ns: wait before the next PROBE
 * @class: class of the remaining bytes if several flows are READY, with params->srpt; if it
 *	is the only READY flow, an old class or PCRP_CLASS_NONE; else PCRP_CLASS_NONE
 * @known: a GRANT came, so the receiver knows the flow
 * @class_link: in the sender's list of @class
 * @probe: WAITING: in the sender's tree @probes
 * @probe_at_ns: WAITING: time of the next PROBE
 * @alarm: in the sender's tree @alarms, or RB_EMPTY_NODE()
 * @alarm_ns: time at which the flow sends its REQUEST or stops waiting
 * @begun_link: in the sender's list of begun flows, if @begun
 * @announced: size in the last REQUEST or PROBE; 0: none was sent
 * @last_ns: when the last packet, REQUEST or PROBE left
 * @request_ns: when the last REQUEST or PROBE left; 0: it was answered
 *
 * The fields that every packet uses come first.
 */
struct pcrp_tx_flow {
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
	bool request_due;
	bool begun;
	bool retrans_only;
	bool overdue;
	u32 retrans;
	u32 flow_no;
	struct list_head state_link;
	u32 chain_no;
	u32 request_no;
	u32 probe_ns;
	u16 class;
	bool known;
	struct list_head class_link;
	struct rb_node probe;
	u64 probe_at_ns;
	struct rb_node alarm;
	u64 alarm_ns;
	struct list_head begun_link;
	u64 announced;
	u64 last_ns;
	u64 request_ns;
};

/**
 * struct pcrp_tx_stats - counters of a sender, u64 only: pcrp_copy_counters()
 * @flows_started: flows started
 * @flows_finished: flows finished
 * @flows_ungated: flows started ungated, or ungated later
 * @chains_speculative: first chains
 * @chains_granted: chains sent by a GRANT
 * @chains_overdue: chains sent without a GRANT
 * @promotions: packets sent by the MFWT rule
 * @eu_packets: packets sent by the EU rule
 * @requests_sent: REQUESTs
 * @probes_sent: PROBEs
 * @grants_received: PCRP_GRANT_NEW
 * @grants_late: PCRP_GRANT_LATE
 * @grants_idle: PCRP_GRANT_IDLE
 * @grants_refused: PCRP_GRANT_REFUSED
 * @prio_packets: packets of gated flows by priority
 * @ungated_packets: packets of ungated flows
 */
struct pcrp_tx_stats {
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

/* Rule that picked a flow */
enum pcrp_tx_rule {
	PCRP_RULE_EU,
	PCRP_RULE_MFWT,
	PCRP_RULE_ORDER,
};

/**
 * struct pcrp_tx_link - what the senders of a link share; zeroed at first
 * @probe_ns: latest time that a sender has reserved for a PROBE
 * @flow_no: number of the last flow that started, modulo 2^32; at first a random number, so
 *	that a GRANT for a flow of an earlier sender does not match. A receiver orders the
 *	flows of a 5-tuple by their numbers, whichever sender they have.
 */
struct pcrp_tx_link {
	atomic64_t probe_ns;
	atomic64_t flow_no;
};

/**
 * struct pcrp_sender - flows of a qdisc; read locklessly: @count and @stats
 * @params: parameters
 * @link: state that it shares with other senders
 * @alarms: flows by time of their alarm, ns
 * @probes: WAITING flows by time of their next PROBE, ns
 * @lists: slots by enum pcrp_tx_state, each in the order in which they entered the state;
 *	READY flows in the order in which they were last served. UNUSED and IDLE slots
 *	share the list of PCRP_TX_IDLE
 * @begun: gated flows that have begun and not finished, in the order in which they began
 * @count: flows by enum pcrp_tx_state
 * @rule: rule that picked the next packet's flow, enum pcrp_tx_rule
 * @probe_from_ns: no PROBE before that time
 * @stats: counters
 * @rows: bit n: @row_classes[n] is not zero
 * @row_classes: bit n of row m: the list of class m * PCRP_CLASS_STEPS + n is not empty; not
 *	kept for PCRP_CLASS_NONE
 * @classes: slots by class, each in the order in which they entered the class
 */
struct pcrp_sender {
	const struct pcrp_tx_params *params;
	struct pcrp_tx_link *link;
	struct rb_root_cached alarms;
	struct rb_root_cached probes;
	struct list_head lists[PCRP_TX_STATES];
	struct list_head begun;
	u32 count[PCRP_TX_STATES];
	u8 rule;
	u64 probe_from_ns;
	struct pcrp_tx_stats stats;
	u64 rows;
	u16 row_classes[PCRP_CLASS_ROWS];
	struct list_head classes[PCRP_CLASS_NONE + 1];
};

/**
 * enum pcrp_tx_action - what the caller does next
 * @PCRP_TX_SLEEP: wait until pcrp_tx_next_ns(), a packet or a GRANT
 * @PCRP_TX_REQUEST: send the flow's REQUEST
 * @PCRP_TX_PROBE: send the flow's PROBE
 * @PCRP_TX_DATA: send the flow's next packet
 */
enum pcrp_tx_action {
	PCRP_TX_SLEEP,
	PCRP_TX_REQUEST,
	PCRP_TX_PROBE,
	PCRP_TX_DATA,
};

/**
 * struct pcrp_tx_pick - decision of a sender
 * @flow: flow that sends; NULL with PCRP_TX_SLEEP
 * @action: the action
 */
struct pcrp_tx_pick {
	struct pcrp_tx_flow *flow;
	enum pcrp_tx_action action;
};

/**
 * enum pcrp_grant_result - effect of a GRANT
 * @PCRP_GRANT_NEW: activated a chain
 * @PCRP_GRANT_IDLE: no effect: the flow was granted as much before
 * @PCRP_GRANT_LATE: its flow has finished or is ungated
 * @PCRP_GRANT_REFUSED: there is no such flow
 */
enum pcrp_grant_result {
	PCRP_GRANT_NEW,
	PCRP_GRANT_IDLE,
	PCRP_GRANT_LATE,
	PCRP_GRANT_REFUSED,
};

/**
 * struct pcrp_grant - content of a GRANT
 * @granted: offset up to which packets may be sent
 * @flow_no: of the flow
 * @request_no: number of the REQUEST or PROBE that it answers; 0: unsolicited
 * @prio: priority of the chain that it activates, P4..P7
 */
struct pcrp_grant {
	u64 granted;
	u32 flow_no;
	u32 request_no;
	u8 prio;
};

void pcrp_tx_init(struct pcrp_sender *s, const struct pcrp_tx_params *params,
		  struct pcrp_tx_link *link);
void pcrp_tx_params_changed(struct pcrp_sender *s);
void pcrp_tx_reset(struct pcrp_sender *s);
void pcrp_tx_add_slot(struct pcrp_sender *s, struct pcrp_tx_flow *f);
struct pcrp_tx_flow *pcrp_tx_claim(struct pcrp_sender *s, u64 now);
void pcrp_tx_defer_claim(struct pcrp_sender *s, struct pcrp_tx_flow *f);
void pcrp_tx_queue_slow(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes, u32 unsent,
			enum pcrp_gate gate, u64 now);
void pcrp_tx_join(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now);
void pcrp_tx_leave_class(struct pcrp_sender *s, struct pcrp_tx_flow *f);
void pcrp_tx_queue_retrans(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 unsent, u64 now);
struct pcrp_tx_pick pcrp_tx_pick_slow(struct pcrp_sender *s, u64 now);
void pcrp_tx_sent_slow(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes, u32 unsent,
		       u64 head_ns, u64 now);
void pcrp_tx_request_sent(struct pcrp_sender *s, struct pcrp_tx_flow *f,
			  enum pcrp_tx_action action, u64 now);
void pcrp_tx_ungate(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now);
enum pcrp_grant_result pcrp_tx_grant(struct pcrp_sender *s, struct pcrp_tx_flow *f,
				     const struct pcrp_grant *g, u64 now, u64 *rtt_ns);
u64 pcrp_tx_next_ns(const struct pcrp_sender *s);

/* Counters are read locklessly. */
static inline void pcrp_tx_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

static inline void pcrp_tx_count_flows(struct pcrp_sender *s, u8 state, u32 n)
{
	WRITE_ONCE(s->count[state], s->count[state] + n);
}

/**
 * pcrp_tx_remaining() - count the bytes of a flow that have not been sent
 * @f: the flow
 *
 * Return: bytes in the qdisc and in the socket.
 */
static inline u64 pcrp_tx_remaining(const struct pcrp_tx_flow *f)
{
	return f->queued + f->unsent;
}

/**
 * pcrp_tx_finished() - test whether the next new byte starts a flow
 * @f: the slot
 *
 * Return: true if the slot's flow has finished, or the slot has none.
 */
static inline bool pcrp_tx_finished(const struct pcrp_tx_flow *f)
{
	return f->state <= PCRP_TX_IDLE || f->retrans_only;
}

/**
 * pcrp_tx_ended() - test whether the last packet sent finished its flow
 * @f: the flow
 *
 * Return: true if so; @f->size is the flow's final size then.
 */
static inline bool pcrp_tx_ended(const struct pcrp_tx_flow *f)
{
	return f->state == PCRP_TX_IDLE && !f->retrans_only;
}

/*
 * The next functions are called for each packet. Inline, they do what most packets need.
 * Their slow versions do the same for all packets.
 */

/*
 * Does a flow stay READY, with no other effect than on its own bytes, if it has sent @sent
 * bytes and has @remaining? A flow that waits for GRANTs must not outgrow its size, as
 * that may have to be announced.
 */
static inline bool pcrp_tx_stays_ready(const struct pcrp_tx_flow *f, u64 sent, u64 remaining)
{
	return f->state == PCRP_TX_READY && !f->retrans && !f->retrans_only && sent < f->granted &&
	       (f->gate != PCRP_GATE_GRANT || sent + remaining <= f->size);
}

/**
 * pcrp_tx_class() - get the class of a flow
 * @bytes: its remaining bytes
 *
 * Return: the class. Its smallest flow has at least 16/17 of the bytes of its largest one.
 */
static inline u32 pcrp_tx_class(u64 bytes)
{
	u64 n = min_t(u64, bytes, PCRP_CLASS_BYTES - 1);
	u32 shift = fls64(n | PCRP_CLASS_STEPS) - (PCRP_CLASS_BITS + 1);

	return (shift << PCRP_CLASS_BITS) + (u32)(n >> shift);
}

/* Will a READY flow with @remaining bytes keep its class? A flow alone needs none. */
static inline bool pcrp_tx_keeps_class(const struct pcrp_sender *s, const struct pcrp_tx_flow *f,
				       u64 remaining)
{
	return s->count[PCRP_TX_READY] == 1 || !s->params->srpt ||
	       f->class == pcrp_tx_class(remaining);
}

/*
 * Move a slot to the end of another list, or of the same. list_move_tail() would do, but
 * costs 50 instructions more in kernels with CONFIG_DEBUG_LIST, like Debian's.
 */
static inline void pcrp_tx_move(struct list_head *link, struct list_head *list)
{
	struct list_head *prev = link->prev, *next = link->next;

	prev->next = next;
	next->prev = prev;
	prev = list->prev;
	prev->next = link;
	link->prev = prev;
	link->next = list;
	list->prev = link;
}

/**
 * pcrp_tx_queue() - account for a packet queued behind all others of its flow
 * @s: sender
 * @f: flow of the packet
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond the packet; 0 if it has no socket
 * @gate: gate of the flow that the packet starts, if pcrp_tx_finished()
 * @now: the time, ns
 */
static inline void pcrp_tx_queue(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
				 u32 unsent, enum pcrp_gate gate, u64 now)
{
	u64 queued = f->queued + bytes, remaining = queued + unsent;

	if (unlikely(!pcrp_tx_stays_ready(f, f->sent, remaining) ||
		     !pcrp_tx_keeps_class(s, f, remaining))) {
		pcrp_tx_queue_slow(s, f, bytes, unsent, gate, now);
		return;
	}
	f->packets++;
	f->queued = queued;
	f->unsent = unsent;
	if (f->sent + remaining > f->size)
		f->size = f->sent + remaining;
}

/**
 * pcrp_tx_pick() - decide what to send next
 * @s: sender
 * @now: the time, ns
 *
 * The decision stands until pcrp_tx_sent(), pcrp_tx_request_sent() or pcrp_tx_ungate().
 *
 * Return: the action, and the flow that sends, which has a packet queued.
 */
static inline struct pcrp_tx_pick pcrp_tx_pick(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f;

	/* a flow alone is the next one by all rules, unless an earlier one waits */
	if (likely(s->count[PCRP_TX_READY] == 1 && !rb_first_cached(&s->alarms) &&
		   !s->count[PCRP_TX_DRY] && !s->params->eu)) {
		f = list_first_entry(&s->lists[PCRP_TX_READY], struct pcrp_tx_flow, state_link);
		if (likely(f->sent < f->chain_end)) {
			s->rule = PCRP_RULE_ORDER;
			return (struct pcrp_tx_pick) { f, PCRP_TX_DATA };
		}
	}
	return pcrp_tx_pick_slow(s, now);
}

/**
 * pcrp_tx_sent() - account for a flow's first packet, which leaves
 * @s: sender
 * @f: flow that pcrp_tx_pick() returned with PCRP_TX_DATA
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond those queued here
 * @head_ns: when the flow's next packet was queued, if it has one; 0: unknown
 * @now: the time, ns
 *
 * Then @f->prio is the priority of the packet; PCRP_PRIO_UNGATED: its DSCP stays as it
 * is. If no bytes remain, the flow ends: pcrp_tx_ended().
 */
static inline void pcrp_tx_sent(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
				u32 unsent, u64 head_ns, u64 now)
{
	u64 sent = f->sent + bytes, queued = f->queued - bytes, remaining = queued + unsent;
	u64 *packets = f->prio == PCRP_PRIO_UNGATED ? &s->stats.ungated_packets :
						      &s->stats.prio_packets[f->prio];

	if (unlikely(f->packets < 2 || f->sent >= f->chain_end || s->rule != PCRP_RULE_ORDER ||
		     sent + remaining > f->size || !pcrp_tx_stays_ready(f, sent, remaining) ||
		     !list_is_last(&f->state_link, &s->lists[PCRP_TX_READY]) ||
		     !pcrp_tx_keeps_class(s, f, remaining))) {
		pcrp_tx_sent_slow(s, f, bytes, unsent, head_ns, now);
		return;
	}
	pcrp_tx_count(packets);
	f->packets--;
	f->sent = sent;
	f->queued = queued;
	f->unsent = unsent;
	f->since_ns = now;
}

/*
 * Ungated flows begin and end with few changes. If one is alone, i.e. no other flow is READY, it
 * is served next by all rules, and none of them depends on the time. So the functions for a flow
 * alone need neither the time nor a class.
 */

/**
 * pcrp_tx_may_continue_alone() - test whether pcrp_tx_continue_alone() may queue a packet
 * @s: sender
 * @f: flow of the packet
 *
 * Return: true if so.
 */
static inline bool pcrp_tx_may_continue_alone(const struct pcrp_sender *s,
					      const struct pcrp_tx_flow *f)
{
	return f->state == PCRP_TX_READY && f->gate != PCRP_GATE_GRANT && !f->retrans_only &&
	       !f->retrans && s->count[PCRP_TX_READY] == 1;
}

/**
 * pcrp_tx_continue_alone() - pcrp_tx_queue() for another packet of a flow alone
 * @f: the flow
 * @bytes: payload of the packet
 * @unsent: as for pcrp_tx_queue()
 */
static inline void pcrp_tx_continue_alone(struct pcrp_tx_flow *f, u32 bytes, u32 unsent)
{
	u64 size;

	f->packets++;
	f->queued += bytes;
	f->unsent = unsent;
	size = f->sent + f->queued + unsent;
	if (size > f->size)
		f->size = size;
}

/**
 * pcrp_tx_may_start() - test whether pcrp_tx_start_ungated() may start a flow
 * @f: slot of the flow
 *
 * Return: true if so.
 */
static inline bool pcrp_tx_may_start(const struct pcrp_tx_flow *f)
{
	/* the slot's last flow sent no REQUEST and got no GRANT, so it left nothing to clear */
	return f->state == PCRP_TX_IDLE && !f->request_no && !f->known;
}

/**
 * pcrp_tx_start_ungated() - pcrp_tx_queue() for a packet that starts an ungated flow
 * @s: sender
 * @f: slot of the flow
 * @bytes: payload of the packet
 * @unsent: as for pcrp_tx_queue()
 * @gate: PCRP_GATE_NONE or PCRP_GATE_DISCOVER
 * @ready: number of flows that are READY already
 * @now: the time, ns; 0 may be given if @ready is 0
 */
static __always_inline void pcrp_tx_start_ungated(struct pcrp_sender *s, struct pcrp_tx_flow *f,
						  u32 bytes, u32 unsent, enum pcrp_gate gate,
						  u32 ready, u64 now)
{
	f->sent = 0;
	f->granted = U64_MAX;
	f->chain_end = gate == PCRP_GATE_NONE ? U64_MAX : 0;
	f->size = (u64)bytes + unsent;
	f->queued = bytes;
	f->packets = 1;
	f->unsent = unsent;
	f->state = PCRP_TX_READY;
	f->gate = gate;
	f->prio = PCRP_PRIO_UNGATED;
	f->retrans_only = false;
	f->flow_no = (u32)atomic64_inc_return(&s->link->flow_no);
	f->chain_no = 0;
	f->probe_ns = s->params->probe_ns;
	pcrp_tx_count(&s->stats.flows_started);
	pcrp_tx_count(&s->stats.flows_ungated);
	if (ready)
		pcrp_tx_join(s, f, now);
	pcrp_tx_move(&f->state_link, &s->lists[PCRP_TX_READY]);
	pcrp_tx_count_flows(s, PCRP_TX_IDLE, -1);
	WRITE_ONCE(s->count[PCRP_TX_READY], ready + 1);
}

/* End an ungated flow, which has no class and no packet but the one that leaves. */
static inline void pcrp_tx_end(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes)
{
	f->packets = 0;
	f->sent += bytes;
	f->queued = 0;
	f->unsent = 0;
	f->state = PCRP_TX_IDLE;
	pcrp_tx_move(&f->state_link, &s->lists[PCRP_TX_IDLE]);
	pcrp_tx_count_flows(s, PCRP_TX_READY, -1);
	pcrp_tx_count_flows(s, PCRP_TX_IDLE, 1);
	pcrp_tx_count(&s->stats.flows_finished);
	pcrp_tx_count(&s->stats.ungated_packets);
}

/**
 * pcrp_tx_end_ungated() - pcrp_tx_sent() for the last packet of an ungated flow
 * @s: sender
 * @f: the flow, which is READY
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond those queued here
 *
 * Return: false: nothing was done: it is not the last packet, or the flow needs pcrp_tx_sent()
 * for another reason.
 */
static inline bool pcrp_tx_end_ungated(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
				       u32 unsent)
{
	if (f->packets != 1 || unsent || f->gate == PCRP_GATE_GRANT || f->retrans_only ||
	    f->retrans || s->rule != PCRP_RULE_ORDER)
		return false;
	if (f->class != PCRP_CLASS_NONE)
		pcrp_tx_leave_class(s, f);
	pcrp_tx_end(s, f, bytes);
	return true;
}

/**
 * pcrp_tx_alone() - pcrp_tx_pick() if a flow alone sends data next
 * @s: sender
 *
 * Return: the flow; NULL: pcrp_tx_pick() decides.
 */
static inline struct pcrp_tx_flow *pcrp_tx_alone(const struct pcrp_sender *s)
{
	struct pcrp_tx_flow *f;

	if (s->count[PCRP_TX_READY] != 1 || s->count[PCRP_TX_DRY] || rb_first_cached(&s->alarms))
		return NULL;
	f = list_first_entry(&s->lists[PCRP_TX_READY], struct pcrp_tx_flow, state_link);
	if (f->gate == PCRP_GATE_GRANT || f->retrans_only || f->retrans ||
	    (f->sent >= f->chain_end && f->size > s->params->first_bytes))
		return NULL;
	return f;
}

/**
 * pcrp_tx_sent_alone() - pcrp_tx_sent() for a flow alone, if it stays READY or ends
 * @s: sender
 * @f: the flow, from pcrp_tx_alone()
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond those queued here
 *
 * Return: false: nothing was done, since the packet begins a chain of a longer flow, the flow
 * becomes DRY, or it has a class to leave; pcrp_tx_pick() and pcrp_tx_sent() do it.
 */
static inline bool pcrp_tx_sent_alone(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
				      u32 unsent)
{
	u64 size = f->sent + f->queued + unsent;

	if (f->packets == 1) {
		if (unsent || f->class != PCRP_CLASS_NONE)
			return false;
		pcrp_tx_end(s, f, bytes);
		return true;
	}
	if (f->sent >= f->chain_end)
		return false;
	f->packets--;
	f->sent += bytes;
	f->queued -= bytes;
	f->unsent = unsent;
	if (size > f->size)
		f->size = size;
	pcrp_tx_count(&s->stats.ungated_packets);
	return true;
}

#endif /* _PCRP_SENDER_H */
