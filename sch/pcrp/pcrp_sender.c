// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's sender: picks the flow that sends next, and holds flows until a GRANT comes
 *
 * Plain C without packets, for the module, the unit tests and a fuzzer. A flow of L bytes
 * is cut into chains of C bytes, which is what the link carries in one round trip. The
 * first chain is speculative: it is sent at once. Each later chain is inactive until the
 * receiver's GRANT activates it. GRANTs are cumulative, so one offset describes all chains:
 *
 *	0         sent                granted               size
 *	+----------+---------------------+--------------------+
 *	|   gone   | active: may be sent | inactive           |
 *	+----------+---------------------+--------------------+
 *
 *	          packet queued
 *	+------+ ----------------> +-------+  sent >= granted      +---------+
 *	| idle |                   | ready | --------------------> | waiting |
 *	+------+ <---------------- +-------+ <-------------------- +---------+
 *	    ^     queue and socket  |     ^   GRANT, or hold over
 *	    |     are empty         v     | packet queued
 *	    |  aborted             +-------+
 *	    +--------------------- |  dry  | bytes in the socket, no packet queued
 *	                           +-------+
 *
 * For each packet, the first of these rules that applies picks a ready flow:
 *
 *	EU	the earliest unfinished flow, if it is ready (optional)
 *	SRPT	the flow with the fewest remaining bytes, if it has at most a chain left
 *	MFWT	the least recently served flow, if it was served more than MFWT ago
 *	SRPT	the flow with the fewest remaining bytes
 *
 * SRPT compares classes of remaining bytes, 16 for each power of two, so that the time to
 * enter, leave or find one is constant (an ordered tree of 1000 flows took half of the cost
 * of a packet):
 *
 *	class	0 .. 31		32 .. 47	48 .. 63	64 .. 79	...
 *	bytes	0 .. 31		32 .. 63	64 .. 127	128 .. 255	...
 *	width	1		2		4		8
 *
 * So the flow picked has less than 17/16 of the shortest one's bytes. Within a class, the
 * flow that entered it first goes first. The class of a chain's bytes counts as a chain.
 *
 * While only one flow is ready, it is the next one by all rules. It then needs no class, and
 * if it is ungated, no time: queue and sender do not read the clock. MFWT counts from the
 * moment at which another flow becomes ready beside it.
 *
 * A flow of several chains sends its size in a REQUEST beside the first packet, and again
 * when it outgrows that size and its GRANTs. If a GRANT is late, it repeats the REQUEST as
 * a PROBE, after probe_ns, then twice that, and so on. PROBEs of all flows share a budget,
 * so that thousands of waiting flows cannot fill the link. When the first packet of a
 * waiting flow has been queued for hold_ns, the flow sends a chain without a GRANT.
 *
 * Retransmissions precede the new data of their flow and need no GRANT. They do not
 * restart a finished flow.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper:
 * - Chains are counted in bytes. A packet whose first byte is active is sent whole.
 * - SRPT compares classes of bytes, see above.
 * - A promoted flow passes only flows that have more than a chain left.
 * - Sizes are those known so far: bytes in the qdisc and the socket. They may grow.
 * - Flows to hosts without PCRP are ungated. They are never the EU flow, as no GRANT
 *   would ever stop them. pcrp_peer.c limits the REQUESTs that they send.
 * - The network may lose packets: hence PROBE, hold, and the rule for retransmissions.
 */

#include <closnet/core.h>
#include <linux/string.h>
#include "pcrp_tx.h"

/*
 * Containers. The state of a flow follows from the bytes that are queued, sent and granted:
 * pcrp_tx_settle() derives it after each change, and pcrp_tx_enter() moves the flow.
 *
 *	READY	list of its class (SRPT), list by time of last service (MFWT)
 *	WAITING	tree by end of hold, tree by time of the next PROBE
 *	DRY	list by time of entry: the first may have been aborted
 *	IDLE	list by time of entry: the first slot is reused for a new flow
 *	begun	list of gated unfinished flows by start: the first is the EU flow
 */

/* Order by key; equal keys by age of the flow, in serial number arithmetic */
static bool pcrp_tx_less(u64 a, u32 a_flow_no, u64 b, u32 b_flow_no)
{
	return a < b || (a == b && (s32)(a_flow_no - b_flow_no) < 0);
}

static bool pcrp_tx_probe_less(struct rb_node *a, const struct rb_node *b)
{
	const struct pcrp_tx_flow *f = rb_entry(a, struct pcrp_tx_flow, probe);
	const struct pcrp_tx_flow *g = rb_entry(b, struct pcrp_tx_flow, probe);

	return pcrp_tx_less(f->probe_at_ns, f->flow_no, g->probe_at_ns, g->flow_no);
}

static bool pcrp_tx_alarm_less(struct rb_node *a, const struct rb_node *b)
{
	const struct pcrp_tx_flow *f = rb_entry(a, struct pcrp_tx_flow, alarm);
	const struct pcrp_tx_flow *g = rb_entry(b, struct pcrp_tx_flow, alarm);

	return pcrp_tx_less(f->alarm_ns, f->flow_no, g->alarm_ns, g->flow_no);
}

static struct pcrp_tx_flow *pcrp_tx_first_probe(const struct pcrp_sender *s)
{
	struct rb_node *node = rb_first_cached(&s->probes);

	return node ? rb_entry(node, struct pcrp_tx_flow, probe) : NULL;
}

static struct pcrp_tx_flow *pcrp_tx_first_alarm(const struct pcrp_sender *s)
{
	struct rb_node *node = rb_first_cached(&s->alarms);

	return node ? rb_entry(node, struct pcrp_tx_flow, alarm) : NULL;
}

/**
 * pcrp_tx_leave_class() - move a slot to those without a class
 * @s: sender
 * @f: the slot
 */
void pcrp_tx_leave_class(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	u32 class = f->class, row = class / PCRP_CLASS_STEPS;

	pcrp_tx_move(&f->class_link, &s->classes[PCRP_CLASS_NONE]);
	f->class = PCRP_CLASS_NONE;
	if (!list_empty(&s->classes[class]))
		return;
	s->row_classes[row] &= ~(1U << class % PCRP_CLASS_STEPS);
	if (!s->row_classes[row])
		s->rows &= ~(1ULL << row);
}

/* Put a slot without a class into one, behind the others. */
static void pcrp_tx_enter_class(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 class)
{
	u32 row = class / PCRP_CLASS_STEPS;

	pcrp_tx_move(&f->class_link, &s->classes[class]);
	f->class = class;
	s->row_classes[row] |= 1U << class % PCRP_CLASS_STEPS;
	s->rows |= 1ULL << row;
}

/* Put a READY flow into the class of its remaining bytes. Only SRPT needs classes. */
static void pcrp_tx_classify(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	u32 class = s->params->srpt ? pcrp_tx_class(pcrp_tx_remaining(f)) : PCRP_CLASS_NONE;

	if (class == f->class)
		return;
	if (f->class != PCRP_CLASS_NONE)
		pcrp_tx_leave_class(s, f);
	if (class != PCRP_CLASS_NONE)
		pcrp_tx_enter_class(s, f, class);
}

/* Another flow becomes READY beside the only one: their order matters from now on. */
static void pcrp_tx_order_first(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f = list_first_entry(&s->lists[PCRP_TX_READY],
						  struct pcrp_tx_flow, state_link);

	f->since_ns = now;
	pcrp_tx_classify(s, f);
}

/**
 * pcrp_tx_join() - put a flow that becomes READY into order with other READY flows
 * @s: sender, which has READY flows
 * @f: the flow, which is not counted yet
 * @now: the time, ns
 */
void pcrp_tx_join(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now)
{
	if (s->count[PCRP_TX_READY] == 1)
		pcrp_tx_order_first(s, now);
	f->since_ns = now;
	pcrp_tx_classify(s, f);
}

static void pcrp_tx_add_alarm(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 ns)
{
	f->alarm_ns = ns;
	rb_add_cached(&f->alarm, &s->alarms, pcrp_tx_alarm_less);
}

static void pcrp_tx_add_probe(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 ns)
{
	f->probe_at_ns = ns;
	rb_add_cached(&f->probe, &s->probes, pcrp_tx_probe_less);
}

/* ---- states ---- */

/**
 * pcrp_tx_rearm() - set a flow's alarm and the time of its next PROBE
 * @s: sender
 * @f: the flow
 *
 * A REQUEST needs a packet to go beside.
 */
void pcrp_tx_rearm(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	bool waits = f->state == PCRP_TX_WAITING;
	u64 probe_ns = f->last_ns + f->probe_ns;

	if (!RB_EMPTY_NODE(&f->alarm)) {
		rb_erase_cached(&f->alarm, &s->alarms);
		RB_CLEAR_NODE(&f->alarm);
	}
	if (f->request_due && f->packets)
		pcrp_tx_add_alarm(s, f, 0);
	else if (waits)
		pcrp_tx_add_alarm(s, f, f->since_ns + s->params->hold_ns);
	if (waits && f->probe_at_ns != probe_ns) {
		rb_erase_cached(&f->probe, &s->probes);
		pcrp_tx_add_probe(s, f, probe_ns);
	}
}

/* Most flows neither wait nor owe a REQUEST. */
static void pcrp_tx_arm(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	if (f->request_due || f->state == PCRP_TX_WAITING || !RB_EMPTY_NODE(&f->alarm))
		pcrp_tx_rearm(s, f);
}

/**
 * pcrp_tx_set_begun() - note that a gated flow has begun, or has been gated
 * @s: sender
 * @f: the flow
 */
void pcrp_tx_set_begun(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	f->begun = true;
	list_add_tail(&f->begun_link, &s->begun);
}

/**
 * pcrp_tx_clear_begun() - note that a flow has finished or has been ungated
 * @f: the flow
 */
void pcrp_tx_clear_begun(struct pcrp_tx_flow *f)
{
	if (!f->begun)
		return;
	f->begun = false;
	list_del(&f->begun_link);
}

static void pcrp_tx_finish(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	pcrp_tx_clear_begun(f);
	f->request_due = false;
	if (!f->retrans_only)
		pcrp_tx_count(&s->stats.flows_finished);
}

static void pcrp_tx_leave(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	if (f->state == PCRP_TX_READY) {
		if (f->class != PCRP_CLASS_NONE)
			pcrp_tx_leave_class(s, f);
		f->last_ns = f->since_ns;
	} else if (f->state == PCRP_TX_WAITING) {
		rb_erase_cached(&f->probe, &s->probes);
	}
	pcrp_tx_count_flows(s, f->state, -1);
}

/* Change the state. @since_ns: see struct pcrp_tx_flow */
static noinline void pcrp_tx_enter(struct pcrp_sender *s, struct pcrp_tx_flow *f, u8 state,
				   u64 since_ns)
{
	pcrp_tx_leave(s, f);
	if (state == PCRP_TX_IDLE)
		pcrp_tx_finish(s, f);
	else if (state == PCRP_TX_READY && s->count[PCRP_TX_READY] == 1)
		pcrp_tx_order_first(s, since_ns);
	pcrp_tx_count_flows(s, state, 1);
	pcrp_tx_move(&f->state_link, &s->lists[state]);
	f->state = state;
	f->since_ns = since_ns;
	if (state == PCRP_TX_WAITING)
		pcrp_tx_add_probe(s, f, f->last_ns + f->probe_ns);
	pcrp_tx_arm(s, f);
	if (state == PCRP_TX_READY && s->count[PCRP_TX_READY] != 1)
		pcrp_tx_classify(s, f);
}

/* Retransmissions need no GRANT, nor do packets without payload if no others are queued. */
static bool pcrp_tx_may_send(const struct pcrp_tx_flow *f)
{
	return f->retrans || f->sent < f->granted || !f->queued;
}

/*
 * Derive the state from the bytes that are queued, sent and granted. @head_ns: when the
 * flow's first packet was queued, in case it begins to wait; 0: unknown, so it counts as
 * queued now
 */
static inline void pcrp_tx_settle(struct pcrp_sender *s, struct pcrp_tx_flow *f,
				  u64 head_ns, u64 now)
{
	u8 state;

	if (f->packets)
		state = likely(pcrp_tx_may_send(f)) ? PCRP_TX_READY : PCRP_TX_WAITING;
	else
		state = f->unsent ? PCRP_TX_DRY : PCRP_TX_IDLE;
	if (state != f->state)
		pcrp_tx_enter(s, f, state, state == PCRP_TX_WAITING && head_ns ? head_ns : now);
	else if (state == PCRP_TX_READY && s->count[PCRP_TX_READY] != 1)
		pcrp_tx_classify(s, f);
}

/**
 * pcrp_tx_resettle() - derive the state of a flow whose gate or GRANTs have changed
 * @s: sender
 * @f: the flow
 * @now: the time, ns
 */
void pcrp_tx_resettle(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now)
{
	pcrp_tx_settle(s, f, now, now);
}

static noinline void pcrp_tx_announce(struct pcrp_sender *s, struct pcrp_tx_flow *f,
				      u64 head_ns, u64 now)
{
	f->request_due = true;
	pcrp_tx_arm(s, f);
	pcrp_tx_settle(s, f, head_ns, now);
}

/*
 * Account for a change of the bytes queued or unsent. All calls from here on are tail
 * calls, so that a packet which changes no state needs no stack frame.
 */
static inline void pcrp_tx_update(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 unsent,
				  u64 head_ns, u64 now)
{
	u64 size;

	f->unsent = f->retrans_only ? 0 : unsent;
	size = f->sent + pcrp_tx_remaining(f);
	if (size > f->size) {
		f->size = size;
		if (unlikely(pcrp_tx_must_announce(s, f))) {
			pcrp_tx_announce(s, f, head_ns, now);
			return;
		}
	}
	pcrp_tx_settle(s, f, head_ns, now);
}

static inline void pcrp_tx_clear(struct pcrp_tx_flow *f)
{
	f->sent = 0;
	f->size = 0;
	f->queued = 0;
	f->next_prio = 0;
	f->request_due = false;
	f->begun = false;
	f->retrans_only = false;
	f->overdue = false;
	f->announced = 0;
	f->last_ns = 0;
	f->request_ns = 0;
	f->chain_no = 0;
	f->request_no = 0;
	f->known = false;
}

/* Start a flow. Retransmissions of the finished one leave first, with its priority. */
static inline void pcrp_tx_start(struct pcrp_sender *s, struct pcrp_tx_flow *f, enum pcrp_gate gate)
{
	bool gated = gate == PCRP_GATE_GRANT;

	pcrp_tx_clear(f);
	f->granted = gated ? s->params->first_bytes : U64_MAX;
	f->chain_end = gate == PCRP_GATE_NONE ? U64_MAX : 0;
	f->gate = gate;
	if (!gated || !f->packets)
		f->prio = PCRP_PRIO_UNGATED;
	f->flow_no = (u32)atomic64_inc_return(&s->link->flow_no);
	f->probe_ns = s->params->probe_ns;
	pcrp_tx_count(&s->stats.flows_started);
	if (!gated)
		pcrp_tx_count(&s->stats.flows_ungated);
}

/* Priority of a first chain: P0..P3 by the flow's size */
static u8 pcrp_tx_first_prio(const struct pcrp_tx_params *p, u64 size)
{
	u8 prio = 0;

	while (prio < TC_PCRP_SPEC_PRIOS - 1 && size > p->spec_bytes[prio])
		prio++;
	return prio;
}

static void pcrp_tx_begin_gated(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	f->chain_end = f->granted;
	if (!f->begun) {
		pcrp_tx_set_begun(s, f);
		f->prio = pcrp_tx_first_prio(s->params, f->size);
		pcrp_tx_count(&s->stats.chains_speculative);
		return;
	}
	f->prio = f->next_prio;
	if (f->overdue)
		pcrp_tx_count(&s->stats.chains_overdue);
	else
		pcrp_tx_count(&s->stats.chains_granted);
	f->overdue = false;
}

static inline void pcrp_tx_next_chain(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	f->chain_no++;
	if (f->gate == PCRP_GATE_GRANT)
		pcrp_tx_begin_gated(s, f);
	else
		f->chain_end = f->sent + s->params->chain_bytes;
}

/**
 * pcrp_tx_begin_chain() - begin a chain with a flow's next packet
 * @s: sender
 * @f: the flow
 */
void pcrp_tx_begin_chain(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	pcrp_tx_next_chain(s, f);
}

/* Hold is over: activate a chain without a GRANT. */
static void pcrp_tx_end_hold(struct pcrp_sender *s, struct pcrp_tx_flow *f, u64 now)
{
	f->granted = f->sent + s->params->chain_bytes;
	f->next_prio = PCRP_PRIO_LAST;
	f->overdue = true;
	f->probe_ns = s->params->probe_ns;
	pcrp_tx_resettle(s, f, now);
}

/* Finish the flow that has been DRY for longest, if that is too long. */
static void pcrp_tx_abort_dry(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f;

	if (!s->count[PCRP_TX_DRY])
		return;
	f = list_first_entry(&s->lists[PCRP_TX_DRY], struct pcrp_tx_flow, state_link);
	if (now - f->since_ns >= PCRP_DRY_NS)
		pcrp_tx_enter(s, f, PCRP_TX_IDLE, now);
}

/* ---- slots ---- */

/**
 * pcrp_tx_reset() - forget all slots and flows; later flows have higher numbers
 * @s: sender
 *
 * Every slot needs pcrp_tx_add_slot() again.
 */
void pcrp_tx_reset(struct pcrp_sender *s)
{
	u32 i;

	s->alarms = RB_ROOT_CACHED;
	s->probes = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&s->begun);
	for (i = 0; i < PCRP_TX_STATES; i++) {
		INIT_LIST_HEAD(&s->lists[i]);
		WRITE_ONCE(s->count[i], 0);
	}
	for (i = 0; i <= PCRP_CLASS_NONE; i++)
		INIT_LIST_HEAD(&s->classes[i]);
	memset(s->row_classes, 0, sizeof(s->row_classes));
	s->rows = 0;
}

/**
 * pcrp_tx_init() - set up a sender without slots
 * @s: sender; zeroed
 * @params: parameters; after a change, call pcrp_tx_params_changed()
 * @link: state that the senders of a link share
 */
void pcrp_tx_init(struct pcrp_sender *s, const struct pcrp_tx_params *params,
		  struct pcrp_tx_link *link)
{
	s->params = params;
	s->link = link;
	pcrp_tx_reset(s);
}

/**
 * pcrp_tx_params_changed() - take over changed parameters
 * @s: sender
 */
void pcrp_tx_params_changed(struct pcrp_sender *s)
{
	struct pcrp_tx_flow *f;

	list_for_each_entry(f, &s->lists[PCRP_TX_READY], state_link)
		pcrp_tx_classify(s, f);
}

/**
 * pcrp_tx_add_slot() - add a slot for a flow
 * @s: sender
 * @f: the slot
 */
void pcrp_tx_add_slot(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	*f = (struct pcrp_tx_flow) {};
	RB_CLEAR_NODE(&f->alarm);
	f->class = PCRP_CLASS_NONE;
	list_add_tail(&f->class_link, &s->classes[PCRP_CLASS_NONE]);
	list_add_tail(&f->state_link, &s->lists[PCRP_TX_IDLE]);
	pcrp_tx_count_flows(s, PCRP_TX_UNUSED, 1);
}

/**
 * pcrp_tx_claim() - get a slot for a new flow
 * @s: sender
 * @now: the time, ns
 *
 * The slot's old flow is forgotten; it is the one that has been idle for longest.
 * The next call for the sender must be pcrp_tx_queue() for that slot.
 *
 * Return: the slot; NULL: all flows are unfinished.
 */
struct pcrp_tx_flow *pcrp_tx_claim(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f;

	if (!s->count[PCRP_TX_IDLE] && !s->count[PCRP_TX_UNUSED])
		pcrp_tx_abort_dry(s, now);
	f = list_first_entry_or_null(&s->lists[PCRP_TX_IDLE], struct pcrp_tx_flow, state_link);
	if (!f)
		return NULL;
	pcrp_tx_count_flows(s, f->state, -1);
	pcrp_tx_count_flows(s, PCRP_TX_UNUSED, 1);
	f->state = PCRP_TX_UNUSED;
	return f;
}

/**
 * pcrp_tx_defer_claim() - have pcrp_tx_claim() take all other idle slots first
 * @s: sender
 * @f: a slot whose state is UNUSED or IDLE
 */
void pcrp_tx_defer_claim(struct pcrp_sender *s, struct pcrp_tx_flow *f)
{
	pcrp_tx_move(&f->state_link, &s->lists[PCRP_TX_IDLE]);
}

/* ---- packets ---- */

static inline void pcrp_tx_add(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
			       u32 unsent, u64 now)
{
	f->packets++;
	f->queued += bytes;
	pcrp_tx_update(s, f, unsent, now, now);
}

/**
 * pcrp_tx_queue_slow() - pcrp_tx_queue() for any packet
 * @s: sender
 * @f: flow of the packet
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond the packet; 0 if it has no socket
 * @gate: gate of the flow that the packet starts, if pcrp_tx_finished()
 * @now: the time, ns
 */
void pcrp_tx_queue_slow(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes, u32 unsent,
			enum pcrp_gate gate, u64 now)
{
	if (unlikely(pcrp_tx_finished(f) && (bytes || !f->packets)))
		pcrp_tx_start(s, f, gate);
	pcrp_tx_add(s, f, bytes, unsent, now);
}

/**
 * pcrp_tx_queue_retrans() - account for a retransmission
 * @s: sender
 * @f: flow of the packet, which may have finished
 * @unsent: as for pcrp_tx_queue()
 * @now: the time, ns
 *
 * The caller queues it behind earlier retransmissions and before new data.
 */
void pcrp_tx_queue_retrans(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 unsent, u64 now)
{
	if (pcrp_tx_finished(f))
		f->retrans_only = true;
	f->packets++;
	f->retrans++;
	pcrp_tx_update(s, f, unsent, now, now);
}

/* Find a flow of the lowest class if several are READY. */
static struct pcrp_tx_flow *pcrp_tx_shortest(const struct pcrp_sender *s)
{
	u32 row = __ffs64(s->rows);
	u32 class = row * PCRP_CLASS_STEPS + __ffs64(s->row_classes[row]);

	return list_first_entry(&s->classes[class], struct pcrp_tx_flow, class_link);
}

/* Apply the rules. Return: the flow; NULL: no flow is ready */
static struct pcrp_tx_flow *pcrp_tx_choose(struct pcrp_sender *s, u64 now)
{
	const struct pcrp_tx_params *p = s->params;
	struct pcrp_tx_flow *f, *shortest;

	if (p->eu && !list_empty(&s->begun)) {
		f = list_first_entry(&s->begun, struct pcrp_tx_flow, begun_link);
		s->rule = PCRP_RULE_EU;
		if (f->state == PCRP_TX_READY)
			return f;
	}
	s->rule = PCRP_RULE_ORDER;
	if (list_empty(&s->lists[PCRP_TX_READY]))
		return NULL;
	f = list_first_entry(&s->lists[PCRP_TX_READY], struct pcrp_tx_flow, state_link);
	if (!p->srpt || s->count[PCRP_TX_READY] == 1)
		return f;
	shortest = pcrp_tx_shortest(s);
	if (f == shortest || now - f->since_ns <= p->mfwt_ns ||
	    shortest->class <= pcrp_tx_class(p->chain_bytes))
		return shortest;
	s->rule = PCRP_RULE_MFWT;
	return f;
}

/* Must a REQUEST precede the next packet, since that begins a chain? */
static inline bool pcrp_tx_requests_first(const struct pcrp_sender *s,
					  const struct pcrp_tx_flow *f)
{
	return f->size > s->params->first_bytes && unlikely(pcrp_tx_begins_chain(f)) &&
	       (f->gate == PCRP_GATE_DISCOVER || f->size > f->announced);
}

static inline struct pcrp_tx_pick pcrp_tx_pick_data(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f = pcrp_tx_choose(s, now);

	if (!f)
		return (struct pcrp_tx_pick) { NULL, PCRP_TX_SLEEP };
	return (struct pcrp_tx_pick) {
		f, pcrp_tx_requests_first(s, f) ? PCRP_TX_REQUEST : PCRP_TX_DATA
	};
}

/* Alarms and PROBEs precede data. */
static noinline struct pcrp_tx_pick pcrp_tx_pick_due(struct pcrp_sender *s, u64 now)
{
	struct pcrp_tx_flow *f;

	pcrp_tx_abort_dry(s, now);
	f = pcrp_tx_first_alarm(s);
	if (f && f->alarm_ns <= now) {
		if (f->request_due)
			return (struct pcrp_tx_pick) { f, PCRP_TX_REQUEST };
		pcrp_tx_end_hold(s, f, now);
	}
	f = pcrp_tx_first_probe(s);
	if (f && f->probe_at_ns <= now && s->probe_from_ns <= now)
		return (struct pcrp_tx_pick) { f, PCRP_TX_PROBE };
	return pcrp_tx_pick_data(s, now);
}

/**
 * pcrp_tx_pick_slow() - pcrp_tx_pick() for any flows
 * @s: sender
 * @now: the time, ns
 *
 * Return: the decision.
 */
struct pcrp_tx_pick pcrp_tx_pick_slow(struct pcrp_sender *s, u64 now)
{
	/* a WAITING flow has an alarm */
	if (unlikely(rb_first_cached(&s->alarms) || s->count[PCRP_TX_DRY]))
		return pcrp_tx_pick_due(s, now);
	return pcrp_tx_pick_data(s, now);
}

static void pcrp_tx_count_packet(struct pcrp_sender *s, u8 prio)
{
	if (prio == PCRP_PRIO_UNGATED)
		pcrp_tx_count(&s->stats.ungated_packets);
	else
		pcrp_tx_count(&s->stats.prio_packets[prio]);
	if (unlikely(s->rule != PCRP_RULE_ORDER))
		pcrp_tx_count(s->rule == PCRP_RULE_EU ? &s->stats.eu_packets :
							&s->stats.promotions);
}

static inline void pcrp_tx_remove(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes,
				  u32 unsent, u64 head_ns, u64 now)
{
	pcrp_tx_count_packet(s, f->prio);
	f->packets--;
	if (unlikely(f->retrans))
		f->retrans--;
	f->queued -= bytes;
	f->sent += bytes;
	f->since_ns = now;
	if (f->packets && !list_is_last(&f->state_link, &s->lists[PCRP_TX_READY]))
		pcrp_tx_move(&f->state_link, &s->lists[PCRP_TX_READY]);
	pcrp_tx_update(s, f, unsent, head_ns, now);
}

static noinline void pcrp_tx_remove_gated(struct pcrp_sender *s, struct pcrp_tx_flow *f,
					  u32 bytes, u32 unsent, u64 head_ns, u64 now)
{
	pcrp_tx_next_chain(s, f);
	pcrp_tx_remove(s, f, bytes, unsent, head_ns, now);
}

/**
 * pcrp_tx_sent_slow() - pcrp_tx_sent() for any packet
 * @s: sender
 * @f: flow that pcrp_tx_pick() returned with PCRP_TX_DATA
 * @bytes: new payload in the packet
 * @unsent: bytes that the socket holds beyond those queued here
 * @head_ns: when the flow's next packet was queued, if it has one; 0: unknown
 * @now: the time, ns
 */
void pcrp_tx_sent_slow(struct pcrp_sender *s, struct pcrp_tx_flow *f, u32 bytes, u32 unsent,
		       u64 head_ns, u64 now)
{
	if (unlikely(f->sent >= f->chain_end && bytes)) {
		if (f->gate == PCRP_GATE_GRANT) {
			pcrp_tx_remove_gated(s, f, bytes, unsent, head_ns, now);
			return;
		}
		pcrp_tx_next_chain(s, f);
	}
	pcrp_tx_remove(s, f, bytes, unsent, head_ns, now);
}

/**
 * pcrp_tx_next_ns() - time until which the sender may sleep
 * @s: sender
 *
 * Return: time, ns; U64_MAX: no limit; 0: it must not sleep.
 */
u64 pcrp_tx_next_ns(const struct pcrp_sender *s)
{
	const struct pcrp_tx_flow *alarm = pcrp_tx_first_alarm(s);
	const struct pcrp_tx_flow *probe = pcrp_tx_first_probe(s);
	u64 probe_ns = probe ? max_t(u64, probe->probe_at_ns, s->probe_from_ns) : U64_MAX;

	return min_t(u64, alarm ? alarm->alarm_ns : U64_MAX, probe_ns);
}
