// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCRP receiver for its tests
 */
#include <assert.h>
#include <stddef.h>

#include "pcrp_rx_common.h"

void rx_init(struct rx *t, u32 chain_bytes, u32 grants)
{
	u32 i;

	*t = (struct rx) { .now_ns = 1000000000 };
	t->p.chain_bytes = chain_bytes;
	t->p.grants = grants;
	pcrp_rx_init(&t->r, &t->p, RX_SOURCE_FLOWS);
	for (i = 0; i < RX_FLOWS; i++)
		pcrp_rx_add_slot(&t->r, &t->flows[i]);
	for (i = 0; i < RX_SOURCES; i++)
		t->sources[i].credit = PCRP_CREDIT_UNITS *
				       (s64)min_t(u32, chain_bytes, PCRP_UNIT_MAX);
}

static u32 count_pending(const struct rx *t)
{
	const struct rb_node *node;
	const struct pcrp_rx_flow *f;
	u32 n = 0;

	for (node = rb_first(&t->r.pending.rb_root); node; node = rb_next(node)) {
		f = rb_entry(node, struct pcrp_rx_flow, node);
		assert(f->state == PCRP_RX_PENDING);
		assert(f->proven && f->granted < f->size);
		n++;
	}
	return n;
}

static void check_table(const struct rx *t)
{
	const struct pcrp_rx_flow *f, *g = NULL;
	u32 i;

	assert(t->r.granted <= PCRP_GRANTS_MAX);
	assert(t->r.stats.granted_peak >= t->r.granted);
	for (i = 0; i < t->r.granted; i++) {
		f = t->r.table[i];
		assert(f->state == PCRP_RX_TABLE && f->proven);
		assert(pcrp_rx_rank(&t->r, f) == i);
		assert(!g || g->size < f->size ||
		       (g->size == f->size && (s32)(f->arrival - g->arrival) > 0));
		/* the newest chain triggers a grant at once, unless the priority is to rise */
		assert(t->p.evict || f->granted >= f->size || f->high >= f->size ||
		       f->high + f->step <= f->granted ||
		       (!t->p.paper && TC_PCRP_SPEC_PRIOS + i < f->prio &&
			!pcrp_rx_drained(f)));
		g = f;
	}
	/* no flow is pending while a place is free */
	assert(!rb_first_cached(&t->r.pending) || t->r.granted >= t->p.grants);
}

static void check_sources(const struct rx *t)
{
	struct pcrp_source counted[RX_SOURCES] = {};
	s64 most = PCRP_CREDIT_UNITS * (s64)PCRP_UNIT_MAX;
	u32 i, source;

	for (i = 0; i < RX_FLOWS; i++) {
		if (t->flows[i].state == PCRP_RX_FREE)
			continue;
		source = (u32)(t->flows[i].source - t->sources);
		counted[source].flows++;
		counted[source].places += t->flows[i].state == PCRP_RX_TABLE;
	}
	for (i = 0; i < RX_SOURCES; i++) {
		assert(t->sources[i].flows == counted[i].flows);
		assert(t->sources[i].flows <= RX_SOURCE_FLOWS);
		assert(t->sources[i].places == counted[i].places);
		assert(t->sources[i].credit <= most && t->sources[i].credit >= -most);
	}
}

static u32 check_flows(const struct rx *t)
{
	const struct pcrp_rx_flow *f;
	u64 last_ns = 0;
	u32 n = 0;

	list_for_each_entry(f, &t->r.flows, link) {
		assert(f->state != PCRP_RX_FREE);
		assert(last_ns <= f->last_ns);
		last_ns = f->last_ns;
		assert(++n <= RX_FLOWS);
	}
	return n;
}

static u32 check_free(const struct rx *t)
{
	const struct pcrp_rx_flow *f;
	u32 n = 0;

	list_for_each_entry(f, &t->r.free, link) {
		assert(f->state == PCRP_RX_FREE);
		assert(++n <= RX_FLOWS);
	}
	return n;
}

void rx_check(const struct rx *t)
{
	u32 states[PCRP_RX_TABLE + 1] = {}, idx;
	const struct pcrp_rx_flow *f;

	for (idx = 0; idx < RX_FLOWS; idx++) {
		f = &t->flows[idx];
		states[f->state]++;
		assert(!f->action);
		if (f->state != PCRP_RX_FREE)
			assert(f->granted <= f->high || f->granted - f->high <= 2 * t->ahead_max);
	}
	assert(states[PCRP_RX_TABLE] == t->r.granted);
	assert(states[PCRP_RX_PENDING] == count_pending(t));
	assert(states[PCRP_RX_FREE] == check_free(t));
	assert(t->r.used == RX_FLOWS - states[PCRP_RX_FREE]);
	assert(check_flows(t) == t->r.used);
	check_table(t);
	check_sources(t);
}

static void record_actions(struct rx *t)
{
	struct pcrp_rx_flow *f;
	struct rx_action *a;

	t->action_count = 0;
	for (;;) {
		assert(t->action_count < RX_ACTIONS);
		a = &t->actions[t->action_count];
		a->action = pcrp_rx_next_action(&t->r, &f);
		if (a->action == PCRP_RX_NOTHING)
			break;
		a->idx = (u32)(f - t->flows);
		if (a->action <= PCRP_RX_GRANT)
			pcrp_rx_build_grant(f, &a->msg);
		t->action_count++;
	}
	rx_check(t);
}

u32 rx_request(struct rx *t, u32 idx, const struct pcrp_msg *m)
{
	struct pcrp_rx_flow *f = idx == RX_NONE ? NULL : &t->flows[idx];

	t->ahead_max = max_t(u64, t->ahead_max, max_t(u32, m->first_bytes, m->chain_bytes));
	f = pcrp_rx_request(&t->r, f, &t->sources[t->source], m, t->now_ns);
	record_actions(t);
	return f ? (u32)(f - t->flows) : RX_NONE;
}

void rx_data(struct rx *t, u32 idx, u32 bytes, u32 seq)
{
	pcrp_rx_data(&t->r, &t->flows[idx], bytes, seq, t->now_ns);
	record_actions(t);
}

void rx_expire(struct rx *t)
{
	pcrp_rx_expire(&t->r, t->now_ns);
	record_actions(t);
}
