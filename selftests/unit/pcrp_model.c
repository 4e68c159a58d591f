// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pcrp_model.h"

static u64 waiting_bytes(const struct model_flow *f)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < f->q.count; i++)
		sum += f->q.bytes[(f->q.first + i) % PORT_FIFO];
	return sum;
}

u64 model_left(const struct model_flow *f)
{
	return waiting_bytes(f) + f->unsent;
}

static bool lives(const struct model_flow *f)
{
	return f->state != PCRP_FLOW_UNUSED && f->state != PCRP_FLOW_IDLE && !f->echo;
}

static u8 state_of(const struct model_flow *f)
{
	if (!f->q.count)
		return f->unsent ? PCRP_FLOW_DRY : PCRP_FLOW_IDLE;
	if (f->q.again || !waiting_bytes(f) || f->sent < f->granted)
		return PCRP_FLOW_READY;
	return PCRP_FLOW_WAITING;
}

static void enter(struct model *m, struct model_flow *f, u8 state)
{
	if (f->state == PCRP_FLOW_READY)
		f->last = f->since;
	f->state = state;
	f->since = m->now;
	f->order = ++m->events;
	if (state == PCRP_FLOW_IDLE) {
		f->ask = false;
		f->begun = 0;
		f->unsent = 0;
	}
}

static void look(struct model *m, struct model_flow *f)
{
	if (state_of(f) != f->state)
		enter(m, f, state_of(f));
}

/* A packet has left; if the flow waits now, then since its first one came. */
static void look_behind(struct model *m, struct model_flow *f)
{
	look(m, f);
	if (f->state == PCRP_FLOW_WAITING)
		f->since = f->q.at_ns[f->q.first];
}

/* The receiver has to know of more than it has granted, once a chain has begun. */
static void look_at_size(struct model *m, struct model_flow *f)
{
	bool long_one = f->size > m->p->first_bytes;

	if (f->gate != PCRP_GATE_GRANT)
		return;
	if (f->started && long_one && !f->told)
		f->ask = true;
	else if (f->started && long_one &&
		 f->size > f->granted && f->granted >= f->told && f->size > f->told)
		f->ask = true;
}

static void has(struct model *m, struct model_flow *f, u32 unsent)
{
	f->unsent = f->echo ? 0 : unsent;
	if (f->sent + model_left(f) > f->size) {
		f->size = f->sent + model_left(f);
		look_at_size(m, f);
	}
}

void model_open(struct model *m, const struct pcrp_params *p)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	m->p = p;
	m->credit = PCRP_PROBE_BURST * p->probe_gap_ns;
	for (i = 0; i < MODEL_SLOTS; i++)
		m->f[i].order = ++m->events;
}

void model_arrive(struct model *m, u32 slot, u32 bytes, u32 unsent, u8 gate)
{
	struct model_flow *f = &m->f[slot];

	if (!lives(f) && (bytes || !f->q.count))
		*f = (struct model_flow) {
			.state = f->state,
			.since = f->since,
			.gate = gate,
			.order = f->order,
			.q = f->q,
			.born = ++m->births,
			.granted = gate == PCRP_GATE_GRANT ? m->p->first_bytes : U64_MAX,
			.border = gate == PCRP_GATE_NONE ? U64_MAX : 0,
			.probe = m->p->probe_ns,
			.prio = f->q.count && gate == PCRP_GATE_GRANT ? f->prio :
				PCRP_PRIO_UNGATED,
		};
	fifo_put(&f->q, bytes, m->now);
	has(m, f, unsent);
	look(m, f);
}

void model_again(struct model *m, u32 slot, u32 unsent)
{
	struct model_flow *f = &m->f[slot];

	f->echo = !lives(f);
	fifo_put_again(&f->q, m->now);
	has(m, f, unsent);
	look(m, f);
}

/* The one of a state that got there, or was served, before all others */
static u32 oldest(const struct model *m, u8 state)
{
	u32 best = PCRP_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].state == state &&
		    (best == PCRP_NONE || m->f[i].order < m->f[best].order))
			best = i;
	return best;
}

static void give_up_dry(struct model *m)
{
	u32 slot = oldest(m, PCRP_FLOW_DRY);

	if (slot != PCRP_NONE && m->now - m->f[slot].since >= PCRP_DRY_NS)
		enter(m, &m->f[slot], PCRP_FLOW_IDLE);
}

u32 model_claim(struct model *m)
{
	u32 slot = oldest(m, PCRP_FLOW_UNUSED);

	if (slot != PCRP_NONE)
		return slot;
	if (oldest(m, PCRP_FLOW_IDLE) == PCRP_NONE)
		give_up_dry(m);
	slot = oldest(m, PCRP_FLOW_IDLE);
	if (slot != PCRP_NONE)
		m->f[slot].state = PCRP_FLOW_UNUSED;
	return slot;
}

void model_ungate(struct model *m, u32 slot)
{
	struct model_flow *f = &m->f[slot];

	f->gate = PCRP_GATE_ASK;
	f->granted = U64_MAX;
	f->border = f->sent + m->p->chain_bytes;
	f->begun = 0;
	f->prio = PCRP_PRIO_UNGATED;
	f->ask = false;
	look(m, f);
}

enum pcrp_grant_verdict model_grant(struct model *m, u32 slot, s64 age, u64 granted,
				    u8 prio)
{
	struct model_flow *f = &m->f[slot];
	u64 most, reach = 2ULL * m->p->chain_bytes;

	if (f->state == PCRP_FLOW_UNUSED || age < 0)
		return PCRP_GRANT_REFUSED;
	if (age > 0 || !lives(f) || f->gate == PCRP_GATE_NONE)
		return PCRP_GRANT_LATE;
	prio = prio < 4 ? 4 : prio > 7 ? 7 : prio;
	if (f->gate == PCRP_GATE_ASK) {
		f->gate = PCRP_GATE_GRANT;
		f->granted = f->sent + m->p->chain_bytes;
		f->border = f->granted;
		f->prio = prio;
		f->begun = ++m->begins;
	}
	if (m->p->first_bytes > m->p->chain_bytes)
		reach = 2ULL * m->p->first_bytes;
	most = granted < f->sent + reach ? granted : f->sent + reach;
	if (most <= f->granted)
		return PCRP_GRANT_IDLE;
	f->granted = most;
	f->next_prio = prio;
	f->overdue = false;
	f->probe = m->p->probe_ns;
	look_at_size(m, f);
	look(m, f);
	return PCRP_GRANT_NEWS;
}

/* When is a flow to ask, or to go on without a GRANT? */
static u64 due_of(const struct model *m, u32 slot)
{
	const struct model_flow *f = &m->f[slot];

	if (f->ask && f->q.count)
		return 0;
	return f->state == PCRP_FLOW_WAITING ? f->since + m->p->hold_ns : U64_MAX;
}

/* When would it like to send a PROBE? */
static u64 probe_of(const struct model *m, u32 slot)
{
	const struct model_flow *f = &m->f[slot];

	return f->state == PCRP_FLOW_WAITING ? f->last + f->probe : U64_MAX;
}

/* A chain begins. */
static void begin(struct model *m, struct model_flow *f)
{
	static const u8 prios[] = { 0, 1, 2, 3 };
	u32 i = 0;

	f->started = true;
	f->border = f->gate == PCRP_GATE_GRANT ? f->granted : f->sent + m->p->chain_bytes;
	if (f->gate != PCRP_GATE_GRANT)
		return;
	if (f->begun) {
		f->prio = f->next_prio;
		m->overdue += f->overdue;
		m->granted += !f->overdue;
		f->overdue = false;
		return;
	}
	m->firsts++;
	f->begun = ++m->begins;
	while (i < 3 && f->size > m->p->spec_bytes[i])
		i++;
	f->prio = prios[i];
}

static bool begins(const struct model_flow *f)
{
	return f->state == PCRP_FLOW_READY && f->sent >= f->border && waiting_bytes(f) &&
	       !f->q.again;
}

/* From when on are there PROBEs in the bucket? */
static u64 probes_from(const struct model *m)
{
	if (m->credit >= m->p->probe_gap_ns)
		return m->credit_at;
	return m->credit_at + m->p->probe_gap_ns - m->credit;
}

static struct step ask(struct model *m, u32 slot, enum pcrp_action action)
{
	struct model_flow *f = &m->f[slot];

	f->told = f->size;
	f->ask = false;
	f->last = m->now;
	if (begins(f))
		begin(m, f);
	if (action == PCRP_ACTION_PROBE)
		f->probe = 2 * f->probe < 10 * MS ? 2 * f->probe : 10 * MS;
	return (struct step) { .action = action, .slot = slot, .prio = f->prio };
}

static struct step probe(struct model *m, u32 slot)
{
	u64 most = PCRP_PROBE_BURST * m->p->probe_gap_ns;

	m->credit += m->now - m->credit_at;
	if (m->credit > most)
		m->credit = most;
	m->credit -= m->p->probe_gap_ns;
	m->credit_at = m->now;
	return ask(m, slot, PCRP_ACTION_PROBE);
}

/* By what a flow's slot is to be compared: less is sooner */
static bool sooner(const struct model *m, u32 a, u64 a_key, u32 b, u64 b_key)
{
	if (b == PCRP_NONE || a_key != b_key)
		return b == PCRP_NONE || a_key < b_key;
	return m->f[a].born < m->f[b].born;
}

/* Whose time came first, by one of the two above */
static u32 first_due(const struct model *m, u64 (*when)(const struct model *m, u32 slot))
{
	u32 best = PCRP_NONE, i;
	u64 due, least = 0;

	for (i = 0; i < MODEL_SLOTS; i++) {
		due = when(m, i);
		if (due > m->now || !sooner(m, i, due, best, least))
			continue;
		best = i;
		least = due;
	}
	return best;
}

static u32 shortest(const struct model *m)
{
	u32 best = PCRP_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].state == PCRP_FLOW_READY &&
		    sooner(m, i, model_left(&m->f[i]), best,
			   best == PCRP_NONE ? 0 : model_left(&m->f[best])))
			best = i;
	return best;
}

static u32 earliest(const struct model *m)
{
	u32 best = PCRP_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].begun && (best == PCRP_NONE || m->f[i].begun < m->f[best].begun))
			best = i;
	return best;
}

static u32 choose(const struct model *m, u8 *rule)
{
	u32 eu = earliest(m), old = oldest(m, PCRP_FLOW_READY), small = shortest(m);

	*rule = PCRP_RULE_EU;
	if (m->p->eu && eu != PCRP_NONE && m->f[eu].state == PCRP_FLOW_READY)
		return eu;
	*rule = PCRP_RULE_ORDER;
	if (!m->p->srpt || small == PCRP_NONE || small == old)
		return old;
	if (model_left(&m->f[small]) <= m->p->chain_bytes ||
	    m->now - m->f[old].since <= m->p->mfwt_ns)
		return small;
	*rule = PCRP_RULE_MFWT;
	return old;
}

static struct step send(struct model *m, u32 slot, u8 rule, const u32 *unsent)
{
	struct model_flow *f = &m->f[slot];
	struct step step = { .action = PCRP_ACTION_DATA, .slot = slot, .rule = rule };

	step.again = f->q.again;
	step.bytes = f->q.bytes[f->q.first];
	if (f->sent >= f->border && step.bytes)
		begin(m, f);
	step.prio = f->prio;
	fifo_take(&f->q);
	f->sent += step.bytes;
	f->since = m->now;
	f->order = ++m->events;
	has(m, f, unsent[slot]);
	look_behind(m, f);
	return step;
}

struct step model_step(struct model *m, const u32 *unsent)
{
	struct model_flow *f;
	u32 slot;
	u8 rule;

	give_up_dry(m);
	slot = first_due(m, due_of);
	if (slot != PCRP_NONE) {
		f = &m->f[slot];
		if (f->ask)
			return ask(m, slot, PCRP_ACTION_REQUEST);
		f->granted = f->sent + m->p->chain_bytes;
		f->next_prio = 7;
		f->overdue = true;
		f->probe = m->p->probe_ns;
		look(m, f);
	}
	slot = first_due(m, probe_of);
	if (slot != PCRP_NONE && probes_from(m) <= m->now)
		return probe(m, slot);
	slot = choose(m, &rule);
	if (slot == PCRP_NONE)
		return (struct step) { .action = PCRP_ACTION_SLEEP };
	f = &m->f[slot];
	if (begins(f) && f->size > m->p->first_bytes &&
	    (f->gate == PCRP_GATE_ASK || f->size > f->told))
		return ask(m, slot, PCRP_ACTION_REQUEST);
	return send(m, slot, rule, unsent);
}

u64 model_next(const struct model *m)
{
	u64 due = U64_MAX, ask = U64_MAX;
	u32 i;

	for (i = 0; i < MODEL_SLOTS; i++) {
		due = min_t(u64, due, due_of(m, i));
		ask = min_t(u64, ask, probe_of(m, i));
	}
	return min_t(u64, due, max_t(u64, ask, probes_from(m)));
}

u32 model_echoes(const struct model *m)
{
	u32 i, n = 0;

	for (i = 0; i < MODEL_SLOTS; i++)
		n += m->f[i].echo && m->f[i].state > PCRP_FLOW_IDLE;
	return n;
}

u32 model_count(const struct model *m, u8 state)
{
	u32 i, n = 0;

	for (i = 0; i < MODEL_SLOTS; i++)
		n += m->f[i].state == state;
	return n;
}
