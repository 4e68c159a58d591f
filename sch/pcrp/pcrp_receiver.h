/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's receiver: which flows are granted, how far, with which priority
 *
 * Plain C without packets, for the module, the unit test and the fuzzer; time
 * is an argument. A flow of L bytes is cut into chains of C bytes. The first
 * needs no grant. A receiver grants at most TBL flows at a time, the smallest
 * first, and each of them a chain ahead, so that one that is alone never waits:
 *
 *	sender		|-- chain 1 --|-- chain 2 --|-- chain 3 --|
 *			  \        /      \       /
 *	receiver	   first byte	    first byte
 *			   of 1: grants 2   of 2: grants 3
 *
 * Here: size L, high (bytes are received up to there), granted (up to there the
 * sender may send), step (bytes of the newest granted chain). A packet is
 * processed:
 *
 *	high = max(high, its end)
 *	in the table, granted < size, high > granted - step:
 *		step = min(C, the sender's C);  granted = max(granted, high) + step
 *		GRANT(granted, P4 + min(rank, 3))
 *
 * rank: by size in the table, ties by arrival, from 0 on. Any packet of the
 * newest chain will do, so that reordering does no harm, and granted - high stays
 * below two chains.
 *
 * A chain of a higher priority would overtake in the network what is under way of
 * its flow, and TCP would take that for lost and send it again. So if rank would raise
 * a flow's priority, its GRANT is put off until all that was sent has come. What
 * that is, the sender's PROBE says; high >= granted is not enough, as a GSO packet may
 * end beyond what was granted.
 *
 *	REQUEST or PROBE                      a place is free and it is the
 *	of a new flow                         smallest, or (evict) it is smaller
 *	    |                                 than the largest in the table
 *	    v    data have come, and    +---------+ -----------> +-------+
 *	+------+ there is more to grant | pending |              | table |
 *	| idle | ---------------------> +---------+ <----------- +-------+
 *	+------+                         evicted: nothing granted is
 *	    |  ^                         outstanding        |  |
 *	    |  +--------------------------------------------+  |
 *	    |        revoked: the place was not used           |
 *	    +-----> ended <----------------+-------------------+
 *	       high = size: finished; silent for too long: expired
 *
 * A REQUEST is not believed: a flow may have a place only after its first data, or as
 * they may have come before the REQUEST, or the REQUEST was lost, after a PROBE of a
 * source that has credit. A source gets credit by the data that it delivers, and pays
 * for places with it, see pcrp_credit.h. A place
 * that delivers no unit in PCRP_PLACE_NS is revoked, and so is that of a source
 * without credit for which a flow of a source with credit waits. The flow is idle
 * then, and pending again with its next packet or PROBE.
 *
 * Offsets are the sender's. A TCP packet's is told by its sequence number, of
 * which a REQUEST says what belongs to its offset; of any other flow, bytes
 * are counted. Lost data is not waited for without end: what two PROBEs say
 * was sent, when nothing came in between for long, counts as received. PROBEs overtake
 * the data before them, which waits in the network as long as more urgent flows send:
 * to believe them soon would be to grant one chain after the other into a jam.
 *
 * After each call, and before whatever lock protects all this is released,
 * pcrp_rcv_collect() is to be called until it has no more: it says which GRANTs
 * are to be sent and which flows are over.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper:
 * - Chains are counted in bytes, and grants are cumulative: a lost one is made
 *   up for by the next, or by the answer to a PROBE.
 * - The last chain is granted whole: a stream that grows goes on without waiting.
 * - Flows of one chain are not heard of here: no REQUEST, no place in the table.
 * - Flows that found the table full are remembered, and the smallest of them
 *   takes the next place, whichever came first.
 * - A sender that falls silent loses its place, and a network loses packets.
 * - Senders are not believed: a place needs data, and a source its credit.
 * - A priority rises between chains that are not under way at the same time.
 * - Optionally (evict), a smaller flow takes the place of the largest.
 */
#ifndef _PCRP_RECEIVER_H
#define _PCRP_RECEIVER_H

#include <closnet/heap.h>
#include "pcrp_credit.h"
#include "pcrp_wire.h"

#define PCRP_RCV_NONE		HEAP_NONE
/* A sender that waits probes each 10 ms at least. */
#define PCRP_RCV_KEEP_NS	100000000ULL	/* silence after which we forget */
/* Pending flows whose key is found to be wrong, at most, each time a place is given */
#define PCRP_RCV_TRIES		64
/* Flows that one call forgets at most; it is to be called again, see pcrp_rcv_next_ns() */
#define PCRP_RCV_ENDS		64
/* Key of a pending flow: its size, behind all trusted sources' if its own is not */
#define PCRP_RCV_UNTRUSTED	0x4000000000000000ULL	/* 2^62 */
static_assert(PCRP_RCV_UNTRUSTED > PCRP_BYTES_MAX, "behind all sizes");
/*
 * After that, what does not come is lost. If it was not, but starved, this is what
 * bounds the chains too many: at 10 Gbit/s, to 0.2 % of the line for each flow.
 */
#define PCRP_RCV_LOST_NS	10000000ULL

/**
 * struct pcrp_rcv_params - what is set
 * @chain_bytes: C; 1 or more
 * @grants: TBL, 1..PCRP_GRANTS_MAX
 * @evict: a smaller flow takes the largest one's place
 */
struct pcrp_rcv_params {
	u32 chain_bytes;
	u32 grants;
	bool evict;
};

/**
 * enum pcrp_rcv_state - of a flow
 * @PCRP_RCV_FREE: no flow
 * @PCRP_RCV_IDLE: granted in full, and has no place in the table
 * @PCRP_RCV_PENDING: waits for a place
 * @PCRP_RCV_TABLE: in the table
 */
enum pcrp_rcv_state {
	PCRP_RCV_FREE,
	PCRP_RCV_IDLE,
	PCRP_RCV_PENDING,
	PCRP_RCV_TABLE,
};

/**
 * enum pcrp_rcv_out - what is to be done for a flow, the more important the later
 * @PCRP_RCV_NOTHING: nothing
 * @PCRP_RCV_ANSWER: send a GRANT that says how things are
 * @PCRP_RCV_GRANT: send a GRANT that activates a chain
 * @PCRP_RCV_FINISHED: forget it: it was received whole
 * @PCRP_RCV_EXPIRED: forget it: its sender fell silent
 */
enum pcrp_rcv_out {
	PCRP_RCV_NOTHING,
	PCRP_RCV_ANSWER,
	PCRP_RCV_GRANT,
	PCRP_RCV_FINISHED,
	PCRP_RCV_EXPIRED,
};

/**
 * struct pcrp_rcv_flow - a flow that is being received; zeros at first
 * @size: L, as far as it is known
 * @high: bytes received up to there
 * @granted: up to there it may be sent
 * @last_ns: when data of it came; before the first, its first REQUEST; after it, also
 *	when a REQUEST or PROBE came
 * @used_ns: when it got its place, or has last delivered a unit since
 * @used_bytes: payload that it has delivered since then; sequence numbers may lie
 * @next: in the list of all by @last_ns; of free ones
 * @prev: in the list of all by @last_ns
 * @due_next: in the list of those for which something is to be done
 * @step: bytes of the newest granted chain
 * @arrival: the how manieth flow it is, modulo 2^32
 * @map_offset: as REQUEST or PROBE said, or a packet since: the byte at this offset
 * @map_seq: ... has this TCP sequence number
 * @probe_offset: offset that the last PROBE said: so much was sent
 * @probe_ns: when the first one came that said so
 * @cookie: as in struct pcrp_msg
 * @slot: as in struct pcrp_msg
 * @flow_no: as in struct pcrp_msg
 * @chain_no: of the last REQUEST or PROBE
 * @chain_bytes: sender's, as in struct pcrp_msg
 * @source: index of its source
 * @ask: number of the REQUEST or PROBE that is not answered yet; 0: none
 * @sport: as in struct pcrp_msg
 * @dport: as in struct pcrp_msg
 * @proto: as in struct pcrp_msg
 * @state: enum pcrp_rcv_state
 * @due: enum pcrp_rcv_out
 * @prio: of its last grant, P4..P7; before, of the chain that it sends, P0..P7
 * @probed: a PROBE came after the last packet
 * @missing: what counts as received up to @high did not come, as far as is known
 * @proven: data of it have come, or its source is trusted and says so
 */
struct pcrp_rcv_flow {
	u64 size;
	u64 high;
	u64 granted;
	u64 last_ns;
	u64 used_ns;
	u32 next;
	u32 prev;
	u32 due_next;
	u32 step;
	u32 arrival;
	u32 map_seq;
	u64 map_offset;
	u64 probe_offset;
	u64 probe_ns;
	u64 cookie;
	u32 slot;
	u32 flow_no;
	u32 chain_no;
	u32 chain_bytes;
	u32 source;
	u32 used_bytes;
	u32 ask;
	u16 sport;
	u16 dport;
	u8 proto;
	u8 state;
	u8 due;
	u8 prio;
	bool probed;
	bool missing;
	bool proven;
};

/**
 * struct pcrp_rcv_stats - counters; read without a lock
 * @requests: REQUESTs that came
 * @probes: PROBEs that came
 * @overflow: of both, those of flows that could not be remembered
 * @expired: flows whose sender fell silent
 * @evicted: flows that lost their place to a smaller one
 * @revoked: flows that lost a place which they did not use, or could not pay for
 * @finished: flows received whole
 * @grants: GRANTs that activate a chain
 * @answers: GRANTs that do not
 * @granted_peak: most flows in the table
 */
struct pcrp_rcv_stats {
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
 * struct pcrp_receiver - all flows that are being received: pcrp_rcv_init()
 * @flows: by index
 * @sources: where they come from
 * @flows_max: of a source that are remembered
 * @pending: flows that wait for a place: those of trusted sources, by size, then the others
 * @table: those that have one, by size; a flow's rank is its place here
 * @granted: flows in @table
 * @used: flows that are remembered
 * @arrivals: flows that came, modulo 2^32
 * @oldest: of which nothing came for longest; then by @next
 * @newest: of which something came last
 * @free: first free index
 * @due_first: first flow for which something is to be done
 * @due_last: last one
 * @stats: counters
 */
struct pcrp_receiver {
	struct pcrp_rcv_flow *flows;
	struct pcrp_source *sources;
	u32 flows_max;
	struct heap pending;
	u32 table[PCRP_GRANTS_MAX];
	u32 granted;
	u32 used;
	u32 arrivals;
	u32 oldest;
	u32 newest;
	u32 free;
	u32 due_first;
	u32 due_last;
	struct pcrp_rcv_stats stats;
};

static inline void pcrp_rcv_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

/**
 * pcrp_rcv_init() - no flows
 * @r: receiver
 * @flows: room for flows
 * @node: as many, for the heap
 * @place: as many, for the heap
 * @count: how many; 1 or more
 * @sources: zeros
 * @flows_max: flows that one of those may have
 */
static inline void pcrp_rcv_init(struct pcrp_receiver *r, struct pcrp_rcv_flow *flows,
				 struct heap_node *node, u32 *place, u32 count,
				 struct pcrp_source *sources, u32 flows_max)
{
	u32 i;

	*r = (struct pcrp_receiver) {
		.flows = flows,
		.sources = sources,
		.flows_max = flows_max,
	};
	heap_init(&r->pending, node, place, count);
	r->oldest = PCRP_RCV_NONE;
	r->newest = PCRP_RCV_NONE;
	r->due_first = PCRP_RCV_NONE;
	r->due_last = PCRP_RCV_NONE;
	for (i = 0; i < count; i++)
		flows[i] = (struct pcrp_rcv_flow) { .next = i + 1 };
	flows[count - 1].next = PCRP_RCV_NONE;
}

/* ---- lists */

static inline void pcrp_rcv_link(struct pcrp_receiver *r, u32 idx)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];

	f->next = PCRP_RCV_NONE;
	f->prev = r->newest;
	if (r->newest == PCRP_RCV_NONE)
		r->oldest = idx;
	else
		r->flows[r->newest].next = idx;
	r->newest = idx;
}

static inline void pcrp_rcv_unlink(struct pcrp_receiver *r, u32 idx)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];

	if (f->prev == PCRP_RCV_NONE)
		r->oldest = f->next;
	else
		r->flows[f->prev].next = f->next;
	if (f->next == PCRP_RCV_NONE)
		r->newest = f->prev;
	else
		r->flows[f->next].prev = f->prev;
}

static inline void pcrp_rcv_heard(struct pcrp_receiver *r, u32 idx, u64 now_ns)
{
	r->flows[idx].last_ns = now_ns;
	if (r->newest == idx)
		return;
	pcrp_rcv_unlink(r, idx);
	pcrp_rcv_link(r, idx);
}

static inline void pcrp_rcv_due(struct pcrp_receiver *r, u32 idx, enum pcrp_rcv_out out)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];

	if (f->due == PCRP_RCV_NOTHING) {
		f->due_next = PCRP_RCV_NONE;
		if (r->due_first == PCRP_RCV_NONE)
			r->due_first = idx;
		else
			r->flows[r->due_last].due_next = idx;
		r->due_last = idx;
	}
	if (out > f->due)
		f->due = (u8)out;
}

/* ---- the table */

/* Where a flow stands in the table, or would: behind all that are not larger */
static inline u32 pcrp_rcv_rank(const struct pcrp_receiver *r, u32 idx)
{
	const struct pcrp_rcv_flow *f = &r->flows[idx], *g;
	u32 i;

	for (i = 0; i < r->granted && r->table[i] != idx; i++) {
		g = &r->flows[r->table[i]];
		if (g->size > f->size ||
		    (g->size == f->size && (s32)(g->arrival - f->arrival) > 0))
			break;
	}
	return i;
}

static inline struct pcrp_source *pcrp_rcv_source(const struct pcrp_receiver *r, u32 idx)
{
	return &r->sources[r->flows[idx].source];
}

static inline bool pcrp_rcv_trusted(const struct pcrp_receiver *r,
				    const struct pcrp_rcv_params *p, u32 idx)
{
	return pcrp_source_trusted(pcrp_rcv_source(r, idx), pcrp_unit(p->chain_bytes));
}

/* At most PCRP_GRANTS_MAX steps, as all loops over the table */
static inline void pcrp_rcv_put(struct pcrp_receiver *r, u32 idx)
{
	u32 rank = pcrp_rcv_rank(r, idx), i;

	for (i = r->granted; i > rank; i--)
		r->table[i] = r->table[i - 1];
	r->table[rank] = idx;
	WRITE_ONCE(r->granted, r->granted + 1);
	r->flows[idx].state = PCRP_RCV_TABLE;
	pcrp_rcv_source(r, idx)->places++;
}

/* A flow waits for a place, if it may have one and needs one. */
static inline void pcrp_rcv_wait(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				 u32 idx)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];
	u64 key = f->size;

	if (f->state == PCRP_RCV_TABLE || !f->proven || f->granted >= f->size)
		return;
	if (!pcrp_rcv_trusted(r, p, idx))
		key += PCRP_RCV_UNTRUSTED;
	heap_set(&r->pending, idx, key, f->arrival);
	f->state = PCRP_RCV_PENDING;
}

/* Takes a flow from where it stands. */
static inline void pcrp_rcv_leave(struct pcrp_receiver *r, u32 idx)
{
	u32 i = 0;

	heap_remove(&r->pending, idx);
	if (r->flows[idx].state == PCRP_RCV_TABLE) {
		while (r->table[i] != idx)
			i++;
		for (; i + 1 < r->granted; i++)
			r->table[i] = r->table[i + 1];
		WRITE_ONCE(r->granted, r->granted - 1);
		pcrp_rcv_source(r, idx)->places--;
	}
	r->flows[idx].state = PCRP_RCV_IDLE;
}

static inline void pcrp_rcv_revoke(struct pcrp_receiver *r, u32 idx)
{
	pcrp_rcv_leave(r, idx);
	pcrp_rcv_count(&r->stats.revoked);
}

static inline void pcrp_rcv_end(struct pcrp_receiver *r, u32 idx, enum pcrp_rcv_out out)
{
	pcrp_rcv_leave(r, idx);
	pcrp_rcv_unlink(r, idx);
	pcrp_rcv_due(r, idx, out);
	pcrp_rcv_count(out == PCRP_RCV_FINISHED ? &r->stats.finished : &r->stats.expired);
}

/* ---- grants */

/* Does the largest in the table stand in the way of a smaller flow? */
static inline bool pcrp_rcv_in_the_way(const struct pcrp_receiver *r,
				       const struct pcrp_rcv_params *p, u32 idx)
{
	return p->evict && r->table[r->granted - 1] == idx && r->granted >= p->grants &&
	       heap_first_key(&r->pending) < r->flows[idx].size;
}

/* Is nothing of it under way any more? Its sender waits, and what it sent has come. */
static inline bool pcrp_rcv_landed(const struct pcrp_rcv_flow *f)
{
	return !f->missing && f->probe_offset >= f->granted && f->high >= f->probe_offset;
}

/*
 * The priority of a flow's next chain. Return: false: it rises, but not yet. What is
 * missing may never come: then it does not rise.
 */
static inline bool pcrp_rcv_prio(const struct pcrp_receiver *r, u32 idx, u8 *prio)
{
	const struct pcrp_rcv_flow *f = &r->flows[idx];
	u32 rank = min_t(u32, pcrp_rcv_rank(r, idx), TC_PCRP_SPEC_PRIOS - 1);

	*prio = (u8)(TC_PCRP_SPEC_PRIOS + rank);
	if (*prio >= f->prio || pcrp_rcv_landed(f))
		return true;
	*prio = f->prio;
	return f->missing;
}

/* Grants a flow of the table its next chain, if it is time. */
static inline void pcrp_rcv_try(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				u32 idx)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];
	u8 prio;

	if (max_t(u64, f->granted, f->high) >= f->size || f->high + f->step <= f->granted)
		return;
	if (pcrp_rcv_in_the_way(r, p, idx) || !pcrp_rcv_prio(r, idx, &prio))
		return;
	f->prio = prio;
	f->step = min_t(u32, p->chain_bytes, f->chain_bytes);
	f->granted = max_t(u64, f->granted, f->high) + f->step;
	pcrp_rcv_due(r, idx, PCRP_RCV_GRANT);
}

/* The table is full: a source without credit makes way for one with credit. */
static inline bool pcrp_rcv_make_way(struct pcrp_receiver *r, const struct pcrp_rcv_params *p)
{
	u32 i;

	if (!pcrp_rcv_trusted(r, p, heap_first(&r->pending)))
		return false;
	for (i = r->granted; i--;) {
		if (!pcrp_rcv_trusted(r, p, r->table[i])) {
			pcrp_rcv_revoke(r, r->table[i]);
			return true;
		}
	}
	return false;
}

/* A place for one more? The largest gives way when nothing of it is outstanding. */
static inline bool pcrp_rcv_room(struct pcrp_receiver *r, const struct pcrp_rcv_params *p)
{
	u32 last;

	if (r->granted < p->grants || pcrp_rcv_make_way(r, p))
		return true;
	last = r->table[r->granted - 1];
	if (!pcrp_rcv_in_the_way(r, p, last) || r->flows[last].high < r->flows[last].granted ||
	    r->flows[last].granted >= r->flows[last].size)
		return false;
	pcrp_rcv_leave(r, last);
	pcrp_rcv_wait(r, p, last);
	pcrp_rcv_count(&r->stats.evicted);
	return true;
}

/* One that stood in the way may no longer do so. */
static inline void pcrp_rcv_try_all(struct pcrp_receiver *r, const struct pcrp_rcv_params *p)
{
	u32 i;

	for (i = 0; i < r->granted; i++)
		pcrp_rcv_try(r, p, r->table[i]);
}

/*
 * The flow that takes the next place. Keys may be from before its source gained or lost
 * credit: a flow that cannot pay is passed over, until its next packet or PROBE.
 */
static inline u32 pcrp_rcv_next(struct pcrp_receiver *r, const struct pcrp_rcv_params *p)
{
	u32 unit = pcrp_unit(p->chain_bytes), tries, idx;

	for (tries = 0; tries < PCRP_RCV_TRIES && r->pending.count; tries++) {
		idx = heap_first(&r->pending);
		if (!pcrp_source_may_have(pcrp_rcv_source(r, idx), unit))
			pcrp_rcv_leave(r, idx);
		else if (heap_first_key(&r->pending) < PCRP_RCV_UNTRUSTED &&
			 !pcrp_rcv_trusted(r, p, idx))
			pcrp_rcv_wait(r, p, idx);
		else
			return pcrp_rcv_room(r, p) ? idx : PCRP_RCV_NONE;
	}
	return PCRP_RCV_NONE;
}

/*
 * The smallest that wait take the places that are free. Each turn gives one: those that
 * are free, and those that are taken from another flow, PCRP_GRANTS_MAX at most of either.
 */
static inline void pcrp_rcv_fill(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				 u64 now_ns)
{
	u32 idx;

	while ((idx = pcrp_rcv_next(r, p)) != PCRP_RCV_NONE) {
		heap_remove(&r->pending, idx);
		r->flows[idx].used_ns = now_ns;
		r->flows[idx].used_bytes = 0;
		pcrp_rcv_put(r, idx);
		pcrp_rcv_try_all(r, p);	/* others' priorities may not have to rise now */
		if (r->granted > r->stats.granted_peak)
			WRITE_ONCE(r->stats.granted_peak, r->granted);
	}
	if (p->evict)
		pcrp_rcv_try_all(r, p);
}

/* ---- control packets */

/* A new flow, or the next one of the same 5-tuple */
static inline void pcrp_rcv_begin(struct pcrp_receiver *r, struct pcrp_rcv_flow *f,
				  const struct pcrp_msg *m)
{
	f->size = m->size;
	f->high = m->offset;
	f->used_bytes = 0;
	f->granted = max_t(u64, m->first_bytes, m->offset);
	f->step = m->first_bytes;
	f->arrival = r->arrivals++;
	f->map_offset = 0;
	f->cookie = m->cookie;
	f->slot = m->slot;
	f->flow_no = m->flow_no;
	f->sport = m->sport;
	f->dport = m->dport;
	f->proto = m->proto;
	f->prio = m->prio;
	f->probe_offset = 0;
	f->probed = false;
	f->missing = m->offset > 0;
	f->proven = false;
}

static inline u32 pcrp_rcv_new(struct pcrp_receiver *r, u32 source)
{
	u32 idx = r->free;

	if (idx == PCRP_RCV_NONE || r->sources[source].flows >= r->flows_max) {
		pcrp_rcv_count(&r->stats.overflow);
		return PCRP_RCV_NONE;
	}
	r->free = r->flows[idx].next;
	WRITE_ONCE(r->used, r->used + 1);
	r->sources[source].flows++;
	r->flows[idx].source = source;
	pcrp_rcv_link(r, idx);
	r->flows[idx].state = PCRP_RCV_IDLE;
	return idx;
}

/* What a REQUEST or PROBE of the flow says */
static inline void pcrp_rcv_told(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				 u32 idx, const struct pcrp_msg *m)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];
	u8 state = f->state;

	if (m->offset >= f->map_offset) {
		f->map_offset = m->offset;
		f->map_seq = m->tcp_seq;
	}
	f->chain_no = m->chain_no;
	f->chain_bytes = m->chain_bytes;
	f->ask = m->ask;
	if (m->size > f->size) {
		/* by size it may stand somewhere else */
		pcrp_rcv_leave(r, idx);
		f->size = m->size;
		if (state == PCRP_RCV_TABLE)
			pcrp_rcv_put(r, idx);
	}
	pcrp_rcv_wait(r, p, idx);
}

/* What a waiting sender has sent, and of which nothing comes for long, is lost. */
static inline void pcrp_rcv_probe(struct pcrp_rcv_flow *f, u64 offset, u64 now_ns)
{
	if (!f->probed || f->probe_offset != offset) {
		f->probed = true;
		f->probe_offset = offset;
		f->probe_ns = now_ns;
	} else if (now_ns - f->probe_ns >= PCRP_RCV_LOST_NS && offset > f->high) {
		f->high = offset;
		f->missing = true;
	}
}

/**
 * pcrp_rcv_request() - a REQUEST or PROBE came
 * @r: receiver
 * @p: parameters
 * @idx: the flow of its 5-tuple; PCRP_RCV_NONE: there is none
 * @source: index of its source
 * @m: what it says
 * @now_ns: the time
 *
 * One of a flow before the one that is known is passed over. Answered at once are
 * PROBEs, and a flow's first REQUEST; what follows from a later one is seen with
 * the next GRANT.
 *
 * Return: the flow; with @idx PCRP_RCV_NONE a new one, which the caller then
 * has to find by its 5-tuple. PCRP_RCV_NONE: there is no place for it, see
 * pcrp_rcv_refuse().
 */
static inline u32 pcrp_rcv_request(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				   u32 idx, u32 source, const struct pcrp_msg *m, u64 now_ns)
{
	bool probe = m->type == PCRP_PROBE, fresh = idx == PCRP_RCV_NONE, begins;
	struct pcrp_rcv_flow *f;

	pcrp_rcv_count(probe ? &r->stats.probes : &r->stats.requests);
	if (fresh)
		idx = pcrp_rcv_new(r, source);
	if (idx == PCRP_RCV_NONE)
		return idx;
	f = &r->flows[idx];
	if (!fresh && (s32)(m->flow_no - f->flow_no) < 0)
		return idx;
	begins = fresh || m->flow_no != f->flow_no;
	if (begins) {
		pcrp_rcv_leave(r, idx);
		pcrp_rcv_begin(r, f, m);
	}
	if (probe && pcrp_rcv_trusted(r, p, idx))
		f->proven = true;
	if (begins || f->proven)	/* else only data keep it alive */
		pcrp_rcv_heard(r, idx, now_ns);
	pcrp_rcv_told(r, p, idx, m);
	if (probe)
		pcrp_rcv_probe(f, m->offset, now_ns);
	if (probe || begins || m->chain_no == 1)
		pcrp_rcv_due(r, idx, PCRP_RCV_ANSWER);
	if (f->state == PCRP_RCV_TABLE)
		pcrp_rcv_try(r, p, idx);
	pcrp_rcv_fill(r, p, now_ns);
	if (f->due == PCRP_RCV_NOTHING)
		f->ask = 0;
	return idx;
}

/**
 * pcrp_rcv_refuse() - what to answer if there is no place for a flow
 * @m: the REQUEST or PROBE
 * @answer: result: a GRANT of all of it, as if we had no PCRP
 */
static inline void pcrp_rcv_refuse(const struct pcrp_msg *m, struct pcrp_msg *answer)
{
	*answer = *m;
	answer->type = PCRP_GRANT;
	answer->prio = TC_PCRP_PRIOS - 1;
	answer->offset = m->size;
	answer->first_bytes = 0;
	answer->tcp_seq = 0;
	answer->chain_bytes = 0;
}

/* ---- data */

/**
 * pcrp_rcv_data() - a packet of a flow is processed
 * @r: receiver
 * @p: parameters
 * @idx: the flow
 * @bytes: of payload
 * @seq: TCP: sequence number of the first of them
 * @now_ns: the time
 */
static inline void pcrp_rcv_data(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				 u32 idx, u32 bytes, u32 seq, u64 now_ns)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];
	u32 unit = pcrp_unit(p->chain_bytes);
	s64 end = (s64)f->high + bytes;

	if (f->proto == IPPROTO_TCP)
		end = (s64)f->map_offset + (s32)(seq + bytes - f->map_seq);
	f->probed = false;
	f->proven = true;
	pcrp_source_delivered(pcrp_rcv_source(r, idx), unit, bytes);
	pcrp_rcv_heard(r, idx, now_ns);
	if (end > (s64)f->high) {
		f->high = (u64)end;
		f->map_offset = f->high;
		f->map_seq = seq + bytes;
		f->missing = false;
	}
	f->used_bytes += min_t(u32, bytes, unit);
	if (f->used_bytes >= unit) {
		f->used_ns = now_ns;
		f->used_bytes = 0;
	}
	if (f->high >= f->size)
		pcrp_rcv_end(r, idx, PCRP_RCV_FINISHED);
	else if (f->state == PCRP_RCV_TABLE)
		pcrp_rcv_try(r, p, idx);
	else
		pcrp_rcv_wait(r, p, idx);
	pcrp_rcv_fill(r, p, now_ns);
}

/* ---- time */

/**
 * pcrp_rcv_next_ns() - when pcrp_rcv_expire() has something to do
 * @r: receiver
 *
 * Return: the time; U64_MAX: never.
 */
static inline u64 pcrp_rcv_next_ns(const struct pcrp_receiver *r)
{
	u64 next_ns = U64_MAX;
	u32 i;

	if (r->oldest != PCRP_RCV_NONE)
		next_ns = r->flows[r->oldest].last_ns + PCRP_RCV_KEEP_NS;
	for (i = 0; i < r->granted; i++)
		next_ns = min_t(u64, next_ns,
				r->flows[r->table[i]].used_ns + PCRP_PLACE_NS);
	return next_ns;
}

/**
 * pcrp_rcv_expire() - revoke places that are not used, end what has been silent for too long
 * @r: receiver
 * @p: parameters
 * @now_ns: the time
 *
 * To be called when the parameters have changed, too.
 */
static inline void pcrp_rcv_expire(struct pcrp_receiver *r, const struct pcrp_rcv_params *p,
				   u64 now_ns)
{
	u32 unit = pcrp_unit(p->chain_bytes), i;

	for (i = r->granted; i--;) {
		if (now_ns - r->flows[r->table[i]].used_ns < PCRP_PLACE_NS)
			continue;
		pcrp_source_wasted(pcrp_rcv_source(r, r->table[i]), unit);
		pcrp_rcv_revoke(r, r->table[i]);
	}
	for (i = 0; i < PCRP_RCV_ENDS && r->oldest != PCRP_RCV_NONE; i++) {
		if (now_ns - r->flows[r->oldest].last_ns < PCRP_RCV_KEEP_NS)
			break;
		pcrp_rcv_end(r, r->oldest, PCRP_RCV_EXPIRED);
	}
	pcrp_rcv_try_all(r, p);
	pcrp_rcv_fill(r, p, now_ns);
}

/* ---- what is to be done */

/**
 * pcrp_rcv_collect() - the next thing that is to be done
 * @r: receiver
 * @idx: result: for this flow
 *
 * After PCRP_RCV_FINISHED and PCRP_RCV_EXPIRED the index is free, and what it
 * holds is still that flow's until the next REQUEST or PROBE.
 *
 * Return: what; PCRP_RCV_NOTHING: nothing more.
 */
static inline enum pcrp_rcv_out pcrp_rcv_collect(struct pcrp_receiver *r, u32 *idx)
{
	struct pcrp_rcv_flow *f;
	enum pcrp_rcv_out out;

	*idx = r->due_first;
	if (*idx == PCRP_RCV_NONE)
		return PCRP_RCV_NOTHING;
	f = &r->flows[*idx];
	r->due_first = f->due_next;
	out = f->due;
	f->due = PCRP_RCV_NOTHING;
	if (out == PCRP_RCV_GRANT || out == PCRP_RCV_ANSWER) {
		pcrp_rcv_count(out == PCRP_RCV_GRANT ? &r->stats.grants : &r->stats.answers);
		return out;
	}
	pcrp_rcv_source(r, *idx)->flows--;
	f->state = PCRP_RCV_FREE;
	f->next = r->free;
	r->free = *idx;
	WRITE_ONCE(r->used, r->used - 1);
	return out;
}

/**
 * pcrp_rcv_grant() - the GRANT that a flow is to be sent, once
 * @r: receiver
 * @idx: the flow
 * @m: result
 */
static inline void pcrp_rcv_grant(struct pcrp_receiver *r, u32 idx, struct pcrp_msg *m)
{
	struct pcrp_rcv_flow *f = &r->flows[idx];

	*m = (struct pcrp_msg) {
		.type = PCRP_GRANT,
		.prio = f->prio < TC_PCRP_SPEC_PRIOS ? TC_PCRP_PRIOS - 1 : f->prio,
		.proto = f->proto,
		.sport = f->sport,
		.dport = f->dport,
		.slot = f->slot,
		.flow_no = f->flow_no,
		.cookie = f->cookie,
		.size = f->size,
		.offset = f->granted,
		.chain_no = f->chain_no,
		.ask = f->ask,
	};
	f->ask = 0;
}

#endif /* _PCRP_RECEIVER_H */
