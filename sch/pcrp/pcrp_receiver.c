// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's receiver: which flows get a GRANT, how far and with which priority
 *
 * Plain C without packets, for the module, the unit tests and a fuzzer. A flow of L bytes
 * is cut into chains of C bytes. The first chain needs no GRANT. The receiver grants at
 * most TBL flows at a time, the smallest ones, and each of them a chain ahead, so that a
 * flow without competition never waits:
 *
 *	sender		|-- chain 1 --|-- chain 2 --|-- chain 3 --|
 *			  \        /      \       /
 *	receiver	   first byte	    first byte
 *			   of 1: grants 2   of 2: grants 3
 *
 * For each packet of a flow, with step the length of the newest granted chain:
 *
 *	high = max(high, end of the packet)
 *	if in the table, granted < size and high > granted - step:
 *		step = min(C, the sender's C)
 *		granted = max(granted, high) + step
 *		GRANT(granted, P4 + min(rank, 3))
 *
 * The rank is the flow's index in the table: by size, equal sizes by arrival. Any packet
 * of the newest chain triggers the GRANT, so reordering does no harm, and granted - high
 * stays below two chains.
 *
 *	REQUEST or PROBE                      a place is free and it is the
 *	of a new flow                         smallest, or (evict) it is smaller
 *	    |                                 than the largest in the table
 *	    v    data came, and      +---------+ -----------> +-------+
 *	+------+ size > granted      | pending |              | table |
 *	| idle | ------------------> +---------+ <----------- +-------+
 *	+------+                         evicted: the granted bytes
 *	    |  ^                         have arrived        |  |
 *	    |  +---------------------------------------------+  |
 *	    |        revoked: the place was not used            |
 *	    +-----> ended <----------------+--------------------+
 *	       high = size: finished; silent for PCRP_RX_KEEP_NS: expired
 *
 * Offsets are the sender's: a TCP packet's follows from its sequence number, as REQUESTs
 * carry that of their offset; for other protocols, payload bytes are counted.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper:
 * - Chains are counted in bytes, and GRANTs are cumulative: the next GRANT, or the answer
 *   to a PROBE, replaces a lost one. The last chain is granted in full, so that a growing
 *   stream does not stop.
 * - Flows of one chain send no REQUEST and have no place in the table. Flows that found
 *   the table full are remembered, and the smallest takes the next place. With paper, the
 *   flow of the next packet or PROBE takes it.
 * - REQUESTs are not trusted: a flow may have a place only after its first data, and its
 *   source pays for the place with a credit of delivered bytes.
 * - Senders may fall silent, and networks lose packets.
 * - Without paper, a priority rises only when no earlier packet can be overtaken, see
 *   pcrp_rx_next_prio().
 * - Optionally (evict), a smaller flow takes the place of the largest.
 */

#include <closnet/core.h>
#include <linux/in.h>
#include "pcrp_receiver.h"

/* Pending flows whose key is found outdated, at most, when a place is given */
#define PCRP_RX_TRIES		64
/* Flows that pcrp_rx_expire() ends in one call, at most */
#define PCRP_RX_ENDS		64
/* Added to the key of a pending flow whose source is not trusted: behind all trusted ones */
#define PCRP_RX_UNTRUSTED	0x4000000000000000ULL	/* 2^62 */
static_assert(PCRP_RX_UNTRUSTED > PCRP_BYTES_MAX, "larger than all sizes");

static void pcrp_rx_count(u64 *counter)
{
	WRITE_ONCE(*counter, *counter + 1);
}

/* ---- containers ---- */

/**
 * pcrp_rx_init() - set up a receiver without slots
 * @r: receiver
 * @params: parameters; after a change, call pcrp_rx_expire()
 * @flows_per_source: flows that a source may have
 *
 * After each later call, and before the lock is released, the caller must call
 * pcrp_rx_next_action() until it returns PCRP_RX_NOTHING.
 */
void pcrp_rx_init(struct pcrp_receiver *r, const struct pcrp_rx_params *params,
		  u32 flows_per_source)
{
	*r = (struct pcrp_receiver) {
		.params = params,
		.flows_per_source = flows_per_source,
		.pending = RB_ROOT_CACHED,
	};
	INIT_LIST_HEAD(&r->flows);
	INIT_LIST_HEAD(&r->free);
	INIT_LIST_HEAD(&r->actions);
}

/**
 * pcrp_rx_add_slot() - add a slot for a flow
 * @r: receiver
 * @f: the slot
 */
void pcrp_rx_add_slot(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	*f = (struct pcrp_rx_flow) {};
	list_add_tail(&f->link, &r->free);
}

static void pcrp_rx_heard(struct pcrp_receiver *r, struct pcrp_rx_flow *f, u64 now_ns)
{
	f->last_ns = now_ns;
	if (!list_is_last(&f->link, &r->flows))	/* as pcrp_tx_move() */
		list_bulk_move_tail(&r->flows, &f->link, &f->link);
}

static void pcrp_rx_schedule(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
			     enum pcrp_rx_action action)
{
	if (f->action == PCRP_RX_NOTHING)
		list_add_tail(&f->action_link, &r->actions);
	if (action > f->action)
		f->action = (u8)action;
}

/* By key; equal keys by arrival, in serial number arithmetic */
static bool pcrp_rx_less(struct rb_node *a, const struct rb_node *b)
{
	const struct pcrp_rx_flow *f = rb_entry(a, struct pcrp_rx_flow, node);
	const struct pcrp_rx_flow *g = rb_entry(b, struct pcrp_rx_flow, node);

	return f->key < g->key || (f->key == g->key && (s32)(f->arrival - g->arrival) < 0);
}

static struct pcrp_rx_flow *pcrp_rx_first_pending(const struct pcrp_receiver *r)
{
	struct rb_node *node = rb_first_cached(&r->pending);

	return node ? rb_entry(node, struct pcrp_rx_flow, node) : NULL;
}

/*
 * ---- credit of a source ----
 *
 * A REQUEST is cheap, and so is the first byte of a flow. If either were enough for a
 * place in the table, a host that sends little else could hold all places. So a source
 * pays with data:
 *
 *	data of a flow that it has announced	credit += bytes, at most 64 units
 *	a place that it does not use		credit -= 16 units, at least -64 units
 *
 *	places <= credit / unit, but always one
 *
 * A flow may have a place only after its first data. If that came before the REQUEST, or
 * the REQUEST was lost, a PROBE of a trusted source suffices. A place must deliver a unit
 * in PCRP_PLACE_NS, or it is revoked; the flow may have another one with its next packet
 * or PROBE.
 *
 * A source with at least a unit of credit is trusted. A flow of an untrusted source gives
 * its place to a pending flow of a trusted one. As the first chain of a flow needs no
 * GRANT, an honest source is trusted before its second chain. To block n places for
 * PCRP_PLACE_NS, a forger must deliver 17 n units, which is 278 KB for each place.
 */

/* Bytes that a place must deliver in PCRP_PLACE_NS */
static u32 pcrp_rx_unit(const struct pcrp_receiver *r)
{
	return min_t(u32, r->params->chain_bytes, PCRP_UNIT_MAX);
}

static void pcrp_rx_earn(struct pcrp_source *s, u32 unit, u32 bytes)
{
	s->credit = min_t(s64, s->credit + bytes, PCRP_CREDIT_UNITS * (s64)unit);
}

static void pcrp_rx_charge(struct pcrp_source *s, u32 unit)
{
	s->credit = max_t(s64, s->credit - PCRP_WASTE_UNITS * (s64)unit,
			  -PCRP_CREDIT_UNITS * (s64)unit);
}

static bool pcrp_rx_trusted(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f)
{
	return f->source->credit >= pcrp_rx_unit(r);
}

/* May the flow's source have another place? */
static bool pcrp_rx_can_pay(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f)
{
	const struct pcrp_source *s = f->source;

	return !s->places || s->credit >= (s->places + 1) * (s64)pcrp_rx_unit(r);
}

/* ---- the table ---- */

/**
 * pcrp_rx_rank() - find a flow's index in the table
 * @r: receiver
 * @f: the flow
 *
 * Return: its index, or the one that it would get: behind all that are not larger.
 */
u32 pcrp_rx_rank(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f)
{
	const struct pcrp_rx_flow *g;
	u32 i;

	for (i = 0; i < r->granted && r->table[i] != f; i++) {
		g = r->table[i];
		if (g->size > f->size ||
		    (g->size == f->size && (s32)(g->arrival - f->arrival) > 0))
			break;
	}
	return i;
}

/* Give a flow a place. PCRP_GRANTS_MAX steps at most, as all loops over the table. */
static void pcrp_rx_place(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	u32 rank = pcrp_rx_rank(r, f), i;

	for (i = r->granted; i > rank; i--)
		r->table[i] = r->table[i - 1];
	r->table[rank] = f;
	WRITE_ONCE(r->granted, r->granted + 1);
	f->state = PCRP_RX_TABLE;
	f->source->places++;
}

/* Make a flow pending, if it may have a place and needs one. */
static void pcrp_rx_wait(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	u64 key = f->size;

	if (f->state == PCRP_RX_TABLE || !f->proven || f->granted >= f->size)
		return;
	if (!pcrp_rx_trusted(r, f))
		key += PCRP_RX_UNTRUSTED;
	if (f->state == PCRP_RX_PENDING) {
		if (key == f->key)
			return;
		rb_erase_cached(&f->node, &r->pending);
	}
	f->key = key;
	rb_add_cached(&f->node, &r->pending, pcrp_rx_less);
	f->state = PCRP_RX_PENDING;
}

static void pcrp_rx_unplace(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	u32 i = 0;

	while (r->table[i] != f)
		i++;
	for (; i + 1 < r->granted; i++)
		r->table[i] = r->table[i + 1];
	WRITE_ONCE(r->granted, r->granted - 1);
	f->source->places--;
}

/* Make a flow idle. */
static void pcrp_rx_leave(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	if (f->state == PCRP_RX_PENDING)
		rb_erase_cached(&f->node, &r->pending);
	else if (f->state == PCRP_RX_TABLE)
		pcrp_rx_unplace(r, f);
	f->state = PCRP_RX_IDLE;
}

static void pcrp_rx_revoke(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	pcrp_rx_leave(r, f);
	pcrp_rx_count(&r->stats.revoked);
}

static void pcrp_rx_end(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
			enum pcrp_rx_action action)
{
	pcrp_rx_leave(r, f);
	list_del(&f->link);
	pcrp_rx_schedule(r, f, action);
	pcrp_rx_count(action == PCRP_RX_FINISHED ? &r->stats.finished : &r->stats.expired);
}

/* ---- grants ---- */

/* Must the largest flow of the table make way for a smaller one? */
static bool pcrp_rx_in_the_way(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f)
{
	const struct pcrp_rx_flow *first = pcrp_rx_first_pending(r);

	return r->params->evict && r->table[r->granted - 1] == f &&
	       r->granted >= r->params->grants && first && first->key < f->size;
}

/**
 * pcrp_rx_drained() - test whether all packets of a flow have left the network
 * @f: the flow
 *
 * Return: true if so: its sender waits, and every byte that it sent has arrived.
 */
bool pcrp_rx_drained(const struct pcrp_rx_flow *f)
{
	return !f->missing && f->probe_offset >= f->granted && f->high >= f->probe_offset;
}

/*
 * Choose the priority of a flow's next chain. A chain of a higher priority would overtake
 * the flow's earlier packets in the network, and TCP would take them for lost. So the
 * priority may rise only when every byte sent has arrived. A PROBE reports how many were
 * sent; high >= granted does not suffice, as a GSO packet may end beyond the granted offset.
 * In the paper, each chain has the priority of its flow's rank.
 *
 * Return: false: the priority rises, so the GRANT must wait. If bytes are missing, which
 * may be lost or may come late, the priority stays as it is.
 */
static bool pcrp_rx_next_prio(const struct pcrp_receiver *r, const struct pcrp_rx_flow *f,
			      u8 *prio)
{
	u32 rank = min_t(u32, pcrp_rx_rank(r, f), TC_PCRP_SPEC_PRIOS - 1);

	*prio = (u8)(TC_PCRP_SPEC_PRIOS + rank);
	if (*prio >= f->prio || r->params->paper || pcrp_rx_drained(f))
		return true;
	*prio = f->prio;
	return f->missing;
}

/* Grant a flow of the table its next chain, if it is time. */
static void pcrp_rx_try(struct pcrp_receiver *r, struct pcrp_rx_flow *f)
{
	u8 prio;

	if (max_t(u64, f->granted, f->high) >= f->size || f->high + f->step <= f->granted)
		return;
	if (pcrp_rx_in_the_way(r, f) || !pcrp_rx_next_prio(r, f, &prio))
		return;
	f->prio = prio;
	f->step = min_t(u32, r->params->chain_bytes, f->chain_bytes);
	f->granted = max_t(u64, f->granted, f->high) + f->step;
	pcrp_rx_schedule(r, f, PCRP_RX_GRANT);
}

/* Revoke the place of an untrusted source for the pending flow of a trusted one. */
static bool pcrp_rx_make_way(struct pcrp_receiver *r)
{
	u32 i;

	if (!pcrp_rx_trusted(r, pcrp_rx_first_pending(r)))
		return false;
	for (i = r->granted; i--;) {
		if (!pcrp_rx_trusted(r, r->table[i])) {
			pcrp_rx_revoke(r, r->table[i]);
			return true;
		}
	}
	return false;
}

/* Find a place for the first pending flow. Evict the largest once its grants are used. */
static bool pcrp_rx_make_room(struct pcrp_receiver *r)
{
	struct pcrp_rx_flow *last;

	if (r->granted < r->params->grants || pcrp_rx_make_way(r))
		return true;
	last = r->table[r->granted - 1];
	if (!pcrp_rx_in_the_way(r, last) || last->high < last->granted ||
	    last->granted >= last->size)
		return false;
	pcrp_rx_leave(r, last);
	pcrp_rx_wait(r, last);
	pcrp_rx_count(&r->stats.evicted);
	return true;
}

static void pcrp_rx_try_all(struct pcrp_receiver *r)
{
	u32 i;

	for (i = 0; i < r->granted; i++)
		pcrp_rx_try(r, r->table[i]);
}

/*
 * Choose the flow that takes the next place. Since its key was computed, its source may
 * have gained or lost credit. A flow that cannot pay is idle until its next packet or
 * PROBE.
 */
static struct pcrp_rx_flow *pcrp_rx_next_pending(struct pcrp_receiver *r)
{
	struct pcrp_rx_flow *f;
	u32 tries;

	for (tries = 0; tries < PCRP_RX_TRIES; tries++) {
		f = pcrp_rx_first_pending(r);
		if (!f)
			break;
		if (!pcrp_rx_can_pay(r, f))
			pcrp_rx_leave(r, f);
		else if (f->key < PCRP_RX_UNTRUSTED && !pcrp_rx_trusted(r, f))
			pcrp_rx_wait(r, f);
		else
			return pcrp_rx_make_room(r) ? f : NULL;
	}
	return NULL;
}

/*
 * Give places to the smallest pending flows. Each turn gives one, which was free or was
 * taken from another flow: at most PCRP_GRANTS_MAX of either.
 */
static void pcrp_rx_fill(struct pcrp_receiver *r, u64 now_ns)
{
	struct pcrp_rx_flow *f;

	while ((f = pcrp_rx_next_pending(r))) {
		pcrp_rx_leave(r, f);
		f->used_ns = now_ns;
		f->used_bytes = 0;
		pcrp_rx_place(r, f);
		pcrp_rx_try_all(r);	/* other ranks have changed */
		if (r->granted > r->stats.granted_peak)
			WRITE_ONCE(r->stats.granted_peak, r->granted);
	}
	if (r->params->evict)	/* the largest flow may not be in the way any longer */
		pcrp_rx_try_all(r);
}

/* Give places after a packet of a flow. In the paper, a flow that gets none does not wait. */
static void pcrp_rx_settle(struct pcrp_receiver *r, struct pcrp_rx_flow *f, u64 now_ns)
{
	pcrp_rx_fill(r, now_ns);
	if (r->params->paper && !r->params->evict && f->state == PCRP_RX_PENDING)
		pcrp_rx_leave(r, f);
}

/* ---- control packets ---- */

/* Start a flow, or the next one of the same 5-tuple. */
static void pcrp_rx_begin(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
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

static struct pcrp_rx_flow *pcrp_rx_new(struct pcrp_receiver *r, struct pcrp_source *source)
{
	struct pcrp_rx_flow *f;

	f = list_first_entry_or_null(&r->free, struct pcrp_rx_flow, link);
	if (!f || source->flows >= r->flows_per_source) {
		pcrp_rx_count(&r->stats.overflow);
		return NULL;
	}
	WRITE_ONCE(r->used, r->used + 1);
	source->flows++;
	f->source = source;
	list_move_tail(&f->link, &r->flows);
	f->state = PCRP_RX_IDLE;
	return f;
}

/* Take over the values of a REQUEST or PROBE. */
static void pcrp_rx_take_request(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
				 const struct pcrp_msg *m)
{
	u8 state = f->state;

	if (m->offset >= f->map_offset) {
		f->map_offset = m->offset;
		f->map_seq = m->tcp_seq;
	}
	f->chain_no = m->chain_no;
	f->chain_bytes = m->chain_bytes;
	f->request_no = m->request_no;
	if (m->size > f->size) {
		/* another size may mean another rank */
		pcrp_rx_leave(r, f);
		f->size = m->size;
		if (state == PCRP_RX_TABLE)
			pcrp_rx_place(r, f);
	}
	pcrp_rx_wait(r, f);
}

/*
 * Lost data must not block a flow. If two PROBEs report the same offset, and no data came
 * for PCRP_RX_LOST_NS in between, that offset counts as received. The time is needed, as
 * PROBEs overtake data that waits while more urgent flows send: to trust a PROBE at once
 * would be to grant chain after chain into congestion.
 */
static void pcrp_rx_take_probe(struct pcrp_rx_flow *f, u64 offset, u64 now_ns)
{
	if (!f->probed || f->probe_offset != offset) {
		f->probed = true;
		f->probe_offset = offset;
		f->probe_ns = now_ns;
	} else if (now_ns - f->probe_ns >= PCRP_RX_LOST_NS && offset > f->high) {
		f->high = offset;
		f->missing = true;
	}
}

/**
 * pcrp_rx_request() - process a REQUEST or PROBE
 * @r: receiver
 * @f: flow of its 5-tuple; NULL: unknown
 * @source: its source
 * @m: the message
 * @now_ns: the time
 *
 * A message of an earlier flow of the 5-tuple is ignored. PROBEs and a flow's first
 * REQUEST are answered at once; a later REQUEST takes effect with the next GRANT.
 *
 * Return: the flow. If @f is NULL, it is a new one, which the caller has to find by its
 * 5-tuple from now on; NULL: there is no slot for it, see pcrp_rx_refuse().
 */
struct pcrp_rx_flow *pcrp_rx_request(struct pcrp_receiver *r, struct pcrp_rx_flow *f,
				     struct pcrp_source *source, const struct pcrp_msg *m,
				     u64 now_ns)
{
	bool probe = m->type == PCRP_PROBE, fresh = !f, begins;

	pcrp_rx_count(probe ? &r->stats.probes : &r->stats.requests);
	if (fresh)
		f = pcrp_rx_new(r, source);
	if (!f)
		return NULL;
	if (!fresh && (s32)(m->flow_no - f->flow_no) < 0)
		return f;
	begins = fresh || m->flow_no != f->flow_no;
	if (begins) {
		pcrp_rx_leave(r, f);
		pcrp_rx_begin(r, f, m);
	}
	if (probe && pcrp_rx_trusted(r, f))
		f->proven = true;
	if (begins || f->proven)	/* before its first data, nothing else keeps it alive */
		pcrp_rx_heard(r, f, now_ns);
	pcrp_rx_take_request(r, f, m);
	if (probe)
		pcrp_rx_take_probe(f, m->offset, now_ns);
	if (probe || begins || m->chain_no == 1)
		pcrp_rx_schedule(r, f, PCRP_RX_ANSWER);
	if (f->state == PCRP_RX_TABLE)
		pcrp_rx_try(r, f);
	pcrp_rx_settle(r, f, now_ns);
	if (f->action == PCRP_RX_NOTHING)
		f->request_no = 0;
	return f;
}

/**
 * pcrp_rx_refuse() - build the answer to a flow for which there is no slot
 * @m: the REQUEST or PROBE
 * @answer: result: a GRANT of the whole flow, so that it is sent as without PCRP
 */
void pcrp_rx_refuse(const struct pcrp_msg *m, struct pcrp_msg *answer)
{
	*answer = *m;
	answer->type = PCRP_GRANT;
	answer->prio = TC_PCRP_PRIOS - 1;
	answer->offset = m->size;
	answer->first_bytes = 0;
	answer->tcp_seq = 0;
	answer->chain_bytes = 0;
}

/* ---- data ---- */

/* Advance high to the end of a packet. */
static void pcrp_rx_advance(struct pcrp_rx_flow *f, u32 bytes, u32 seq)
{
	s64 end = (s64)f->high + bytes;

	if (f->proto == IPPROTO_TCP)
		end = (s64)f->map_offset + (s32)(seq + bytes - f->map_seq);
	if (end <= (s64)f->high)
		return;
	f->high = (u64)end;
	f->map_offset = f->high;
	f->map_seq = seq + bytes;
	f->missing = false;
}

/**
 * pcrp_rx_data() - process a data packet
 * @r: receiver
 * @f: its flow
 * @bytes: payload
 * @seq: TCP: sequence number of its first byte
 * @now_ns: the time
 */
void pcrp_rx_data(struct pcrp_receiver *r, struct pcrp_rx_flow *f, u32 bytes, u32 seq,
		  u64 now_ns)
{
	u32 unit = pcrp_rx_unit(r);

	f->probed = false;
	f->proven = true;
	pcrp_rx_earn(f->source, unit, bytes);
	pcrp_rx_heard(r, f, now_ns);
	pcrp_rx_advance(f, bytes, seq);
	f->used_bytes += min_t(u32, bytes, unit);
	if (f->used_bytes >= unit) {
		f->used_ns = now_ns;
		f->used_bytes = 0;
	}
	if (f->high >= f->size)
		pcrp_rx_end(r, f, PCRP_RX_FINISHED);
	else if (f->state == PCRP_RX_TABLE)
		pcrp_rx_try(r, f);
	else
		pcrp_rx_wait(r, f);
	pcrp_rx_settle(r, f, now_ns);
}

/* ---- time ---- */

/**
 * pcrp_rx_next_ns() - when pcrp_rx_expire() must be called
 * @r: receiver
 *
 * Return: the time; U64_MAX: never.
 */
u64 pcrp_rx_next_ns(const struct pcrp_receiver *r)
{
	u64 next_ns = U64_MAX;
	u32 i;

	if (!list_empty(&r->flows))
		next_ns = list_first_entry(&r->flows, struct pcrp_rx_flow, link)->last_ns +
			  PCRP_RX_KEEP_NS;
	for (i = 0; i < r->granted; i++)
		next_ns = min_t(u64, next_ns, r->table[i]->used_ns + PCRP_PLACE_NS);
	return next_ns;
}

/**
 * pcrp_rx_expire() - revoke unused places and end silent flows
 * @r: receiver
 * @now_ns: the time
 *
 * Call it at pcrp_rx_next_ns(), and after the parameters have changed.
 */
void pcrp_rx_expire(struct pcrp_receiver *r, u64 now_ns)
{
	struct pcrp_rx_flow *f;
	u32 i;

	for (i = r->granted; i--;) {
		f = r->table[i];
		if (now_ns - f->used_ns < PCRP_PLACE_NS)
			continue;
		pcrp_rx_charge(f->source, pcrp_rx_unit(r));
		pcrp_rx_revoke(r, f);
	}
	for (i = 0; i < PCRP_RX_ENDS && !list_empty(&r->flows); i++) {
		f = list_first_entry(&r->flows, struct pcrp_rx_flow, link);
		if (now_ns - f->last_ns < PCRP_RX_KEEP_NS)
			break;
		pcrp_rx_end(r, f, PCRP_RX_EXPIRED);
	}
	pcrp_rx_try_all(r);
	pcrp_rx_fill(r, now_ns);
}

/* ---- actions ---- */

/**
 * pcrp_rx_next_action() - get the next action
 * @r: receiver
 * @flow: result: its flow
 *
 * With PCRP_RX_FINISHED and PCRP_RX_EXPIRED the slot becomes free. Its values stay
 * valid until the next pcrp_rx_request().
 *
 * Return: the action; PCRP_RX_NOTHING: there are no more.
 */
enum pcrp_rx_action pcrp_rx_next_action(struct pcrp_receiver *r, struct pcrp_rx_flow **flow)
{
	struct pcrp_rx_flow *f;
	enum pcrp_rx_action action;

	f = list_first_entry_or_null(&r->actions, struct pcrp_rx_flow, action_link);
	*flow = f;
	if (!f)
		return PCRP_RX_NOTHING;
	list_del(&f->action_link);
	action = f->action;
	f->action = PCRP_RX_NOTHING;
	if (action == PCRP_RX_GRANT || action == PCRP_RX_ANSWER) {
		pcrp_rx_count(action == PCRP_RX_GRANT ? &r->stats.grants : &r->stats.answers);
		return action;
	}
	f->source->flows--;
	f->state = PCRP_RX_FREE;
	list_add(&f->link, &r->free);
	WRITE_ONCE(r->used, r->used - 1);
	return action;
}

/**
 * pcrp_rx_build_grant() - build the GRANT of PCRP_RX_GRANT or PCRP_RX_ANSWER
 * @f: the flow
 * @m: result
 */
void pcrp_rx_build_grant(struct pcrp_rx_flow *f, struct pcrp_msg *m)
{
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
		.request_no = f->request_no,
	};
	f->request_no = 0;
}
