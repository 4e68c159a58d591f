// SPDX-License-Identifier: GPL-2.0-only
/*
 * A receiver that is checked after each step
 */
#include <assert.h>
#include <stddef.h>

#include "pcrp_rcv_common.h"

void rcv_init(struct rcv *t, u32 chain_bytes, u32 grants)
{
	u32 i;

	*t = (struct rcv) { .now_ns = 1000000000 };
	t->p.chain_bytes = chain_bytes;
	t->p.grants = grants;
	pcrp_rcv_init(&t->r, t->flows, t->node, t->place, RCV_FLOWS, t->sources,
		      RCV_SOURCE_FLOWS);
	for (i = 0; i < RCV_SOURCES; i++)
		pcrp_source_delivered(&t->sources[i], pcrp_unit(chain_bytes), UINT32_MAX);
}

static void check_table(const struct rcv *t)
{
	const struct pcrp_rcv_flow *f, *g = NULL;
	u32 i;

	assert(t->r.granted <= PCRP_GRANTS_MAX);
	assert(t->r.stats.granted_peak >= t->r.granted);
	for (i = 0; i < t->r.granted; i++) {
		f = &t->flows[t->r.table[i]];
		assert(f->state == PCRP_RCV_TABLE && f->proven);
		assert(pcrp_rcv_rank(&t->r, t->r.table[i]) == i);
		assert(!g || g->size < f->size ||
		       (g->size == f->size && (s32)(f->arrival - g->arrival) > 0));
		/* a grant is due as soon as the newest chain is reached, unless prio is to rise */
		assert(t->p.evict || f->granted >= f->size || f->high >= f->size ||
		       f->high + f->step <= f->granted ||
		       (TC_PCRP_SPEC_PRIOS + i < f->prio && !pcrp_rcv_landed(f)));
		g = f;
	}
	/* nobody waits for a place that is free */
	assert(!t->r.pending.count || t->r.granted >= t->p.grants);
}

static void check_sources(const struct rcv *t)
{
	struct pcrp_source counted[RCV_SOURCES] = {};
	s64 most = PCRP_CREDIT_UNITS * (s64)PCRP_UNIT_MAX;
	u32 i;

	for (i = 0; i < RCV_FLOWS; i++) {
		if (t->flows[i].state == PCRP_RCV_FREE)
			continue;
		counted[t->flows[i].source].flows++;
		counted[t->flows[i].source].places += t->flows[i].state == PCRP_RCV_TABLE;
	}
	for (i = 0; i < RCV_SOURCES; i++) {
		assert(t->sources[i].flows == counted[i].flows);
		assert(t->sources[i].flows <= RCV_SOURCE_FLOWS);
		assert(t->sources[i].places == counted[i].places);
		assert(t->sources[i].credit <= most && t->sources[i].credit >= -most);
	}
}

static u32 check_oldest(const struct rcv *t)
{
	u32 idx, prev = PCRP_RCV_NONE, n = 0;

	for (idx = t->r.oldest; idx != PCRP_RCV_NONE; idx = t->flows[idx].next) {
		assert(t->flows[idx].state != PCRP_RCV_FREE);
		assert(t->flows[idx].prev == prev);
		assert(prev == PCRP_RCV_NONE ||
		       t->flows[prev].last_ns <= t->flows[idx].last_ns);
		prev = idx;
		assert(++n <= RCV_FLOWS);
	}
	assert(t->r.newest == prev);
	return n;
}

void rcv_check(const struct rcv *t)
{
	u32 states[PCRP_RCV_TABLE + 1] = {}, idx, n = 0;
	const struct pcrp_rcv_flow *f;

	for (idx = 0; idx < RCV_FLOWS; idx++) {
		f = &t->flows[idx];
		states[f->state]++;
		assert(!f->due);
		assert(heap_has(&t->r.pending, idx) == (f->state == PCRP_RCV_PENDING));
		if (f->state == PCRP_RCV_FREE)
			continue;
		if (f->state == PCRP_RCV_PENDING)
			assert(f->proven && f->granted < f->size);
		assert(f->granted <= f->high || f->granted - f->high <= 2 * t->ahead_max);
	}
	assert(states[PCRP_RCV_TABLE] == t->r.granted);
	assert(states[PCRP_RCV_PENDING] == t->r.pending.count);
	for (idx = t->r.free; idx != PCRP_RCV_NONE; idx = t->flows[idx].next) {
		assert(t->flows[idx].state == PCRP_RCV_FREE);
		assert(++n <= RCV_FLOWS);
	}
	assert(n == states[PCRP_RCV_FREE]);
	assert(t->r.used == RCV_FLOWS - n);
	assert(check_oldest(t) == t->r.used);
	check_table(t);
	check_sources(t);
}

static void collect(struct rcv *t)
{
	struct rcv_out *o;

	t->out_count = 0;
	for (;;) {
		assert(t->out_count < RCV_OUTS);
		o = &t->outs[t->out_count];
		o->out = pcrp_rcv_collect(&t->r, &o->idx);
		if (o->out == PCRP_RCV_NOTHING)
			break;
		if (o->out <= PCRP_RCV_GRANT)
			pcrp_rcv_grant(&t->r, o->idx, &o->msg);
		t->out_count++;
	}
	rcv_check(t);
}

u32 rcv_ask(struct rcv *t, u32 idx, const struct pcrp_msg *m)
{
	t->ahead_max = max_t(u64, t->ahead_max, max_t(u32, m->first_bytes, m->chain_bytes));
	idx = pcrp_rcv_request(&t->r, &t->p, idx, t->source, m, t->now_ns);
	collect(t);
	return idx;
}

void rcv_data(struct rcv *t, u32 idx, u32 bytes, u32 seq)
{
	pcrp_rcv_data(&t->r, &t->p, idx, bytes, seq, t->now_ns);
	collect(t);
}

void rcv_expire(struct rcv *t)
{
	pcrp_rcv_expire(&t->r, &t->p, t->now_ns);
	collect(t);
}
