// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference model of PCRP's sender: see pcrp_model.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pcrp_model.h"

#define NO_CLASS	UINT32_MAX

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

static bool unfinished(const struct model_flow *f)
{
	return f->state != PCRP_TX_UNUSED && f->state != PCRP_TX_IDLE && !f->retrans_only;
}

static u8 state_of(const struct model_flow *f)
{
	if (!f->q.count)
		return f->unsent ? PCRP_TX_DRY : PCRP_TX_IDLE;
	if (f->q.retrans || !waiting_bytes(f) || f->sent < f->granted)
		return PCRP_TX_READY;
	return PCRP_TX_WAITING;
}

/* 16 classes for each power of two, up to 2^40 */
static u32 model_class(u64 bytes)
{
	u32 class = 0;

	if (bytes >> 40)
		bytes = (1ULL << 40) - 1;
	for (; bytes >= 32; bytes >>= 1)
		class += 16;
	return class + bytes;
}

static void classify(struct model *m, struct model_flow *f)
{
	u32 class = NO_CLASS;

	if (f->state == PCRP_TX_READY && m->p->srpt)
		class = model_class(model_left(f));
	if (class != f->class)
		f->class_order = ++m->events;
	f->class = class;
}

static void enter(struct model *m, struct model_flow *f, u8 state)
{
	u32 i;

	if (f->state == PCRP_TX_READY)
		f->last = f->since;
	/* the only READY flow has waited for another one only from now on */
	if (state == PCRP_TX_READY && model_count(m, PCRP_TX_READY) == 1)
		for (i = 0; i < MODEL_SLOTS; i++)
			if (m->f[i].state == PCRP_TX_READY)
				m->f[i].since = m->now;
	f->state = state;
	f->since = m->now;
	f->order = ++m->events;
	if (state == PCRP_TX_IDLE) {
		f->request_due = false;
		f->begun = 0;
		f->unsent = 0;
	}
}

static void settle(struct model *m, struct model_flow *f)
{
	if (state_of(f) != f->state)
		enter(m, f, state_of(f));
	classify(m, f);
}

/* Update the state after a packet has left. A flow waits since its first packet came. */
static void settle_after_sent(struct model *m, struct model_flow *f)
{
	settle(m, f);
	if (f->state == PCRP_TX_WAITING)
		f->since = f->q.at_ns[f->q.first];
}

/* Once a chain has begun, the receiver must know of bytes beyond those it has granted. */
static void announce(struct model *m, struct model_flow *f)
{
	bool several_chains = f->size > m->p->first_bytes;

	if (f->gate != PCRP_GATE_GRANT)
		return;
	if (f->started && several_chains && !f->announced)
		f->request_due = true;
	else if (f->started && several_chains &&
		 f->size > f->granted && f->granted >= f->announced && f->size > f->announced)
		f->request_due = true;
}

static void update(struct model *m, struct model_flow *f, u32 unsent)
{
	f->unsent = f->retrans_only ? 0 : unsent;
	if (f->sent + model_left(f) > f->size) {
		f->size = f->sent + model_left(f);
		announce(m, f);
	}
}

void model_open(struct model *m, const struct pcrp_tx_params *p)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	m->p = p;
	m->credit = PCRP_PROBE_BURST * p->probe_gap_ns;
	for (i = 0; i < MODEL_SLOTS; i++) {
		m->f[i].order = ++m->events;
		m->f[i].class = NO_CLASS;
	}
}

void model_arrive(struct model *m, u32 slot, u32 bytes, u32 unsent, u8 gate)
{
	struct model_flow *f = &m->f[slot];

	if (!unfinished(f) && (bytes || !f->q.count))
		*f = (struct model_flow) {
			.state = f->state,
			.since = f->since,
			.gate = gate,
			.order = f->order,
			.class = f->class,
			.class_order = f->class_order,
			.q = f->q,
			.born = ++m->births,
			.granted = gate == PCRP_GATE_GRANT ? m->p->first_bytes : U64_MAX,
			.border = gate == PCRP_GATE_NONE ? U64_MAX : 0,
			.probe = m->p->probe_ns,
			.prio = f->q.count && gate == PCRP_GATE_GRANT ? f->prio :
				PCRP_PRIO_UNGATED,
		};
	fifo_put(&f->q, bytes, m->now);
	update(m, f, unsent);
	settle(m, f);
}

void model_retransmit(struct model *m, u32 slot, u32 unsent)
{
	struct model_flow *f = &m->f[slot];

	f->retrans_only = !unfinished(f);
	fifo_put_retrans(&f->q, m->now);
	update(m, f, unsent);
	settle(m, f);
}

/* The flow that entered its state, or was served in it, first */
static u32 oldest(const struct model *m, u8 state)
{
	u32 best = PORT_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].state == state &&
		    (best == PORT_NONE || m->f[i].order < m->f[best].order))
			best = i;
	return best;
}

static void abort_dry(struct model *m)
{
	u32 slot = oldest(m, PCRP_TX_DRY);

	if (slot != PORT_NONE && m->now - m->f[slot].since >= PCRP_DRY_NS)
		enter(m, &m->f[slot], PCRP_TX_IDLE);
}

u32 model_claim(struct model *m)
{
	u32 slot = oldest(m, PCRP_TX_UNUSED);

	if (slot != PORT_NONE)
		return slot;
	if (oldest(m, PCRP_TX_IDLE) == PORT_NONE)
		abort_dry(m);
	slot = oldest(m, PCRP_TX_IDLE);
	if (slot != PORT_NONE)
		m->f[slot].state = PCRP_TX_UNUSED;
	return slot;
}

void model_ungate(struct model *m, u32 slot)
{
	struct model_flow *f = &m->f[slot];

	f->gate = PCRP_GATE_DISCOVER;
	f->granted = U64_MAX;
	f->border = f->sent + m->p->chain_bytes;
	f->begun = 0;
	f->prio = PCRP_PRIO_UNGATED;
	f->request_due = false;
	settle(m, f);
}

enum pcrp_grant_result model_grant(struct model *m, u32 slot, s64 age, u64 granted, u8 prio)
{
	struct model_flow *f = &m->f[slot];
	u64 most, reach = 2ULL * m->p->chain_bytes;

	if (f->state == PCRP_TX_UNUSED || age < 0)
		return PCRP_GRANT_REFUSED;
	if (age > 0 || !unfinished(f) || f->gate == PCRP_GATE_NONE)
		return PCRP_GRANT_LATE;
	prio = prio < 4 ? 4 : prio > 7 ? 7 : prio;
	if (f->gate == PCRP_GATE_DISCOVER) {
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
	announce(m, f);
	settle(m, f);
	return PCRP_GRANT_NEW;
}

/* Time at which a flow sends a REQUEST, or stops waiting for a GRANT */
static u64 due_of(const struct model *m, u32 slot)
{
	const struct model_flow *f = &m->f[slot];

	if (f->request_due && f->q.count)
		return 0;
	return f->state == PCRP_TX_WAITING ? f->since + m->p->hold_ns : U64_MAX;
}

/* Time of a flow's next PROBE */
static u64 probe_of(const struct model *m, u32 slot)
{
	const struct model_flow *f = &m->f[slot];

	return f->state == PCRP_TX_WAITING ? f->last + f->probe : U64_MAX;
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
	return f->state == PCRP_TX_READY && f->sent >= f->border && waiting_bytes(f) &&
	       !f->q.retrans;
}

/* Time from which the token bucket allows a PROBE */
static u64 probes_from(const struct model *m)
{
	if (m->credit >= m->p->probe_gap_ns)
		return m->credit_at;
	return m->credit_at + m->p->probe_gap_ns - m->credit;
}

static struct step request(struct model *m, u32 slot, enum pcrp_tx_action action)
{
	struct model_flow *f = &m->f[slot];

	f->announced = f->size;
	f->request_due = false;
	f->last = m->now;
	if (begins(f))
		begin(m, f);
	if (action == PCRP_TX_PROBE)
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
	return request(m, slot, PCRP_TX_PROBE);
}

/* Does flow a come before flow b? The older one does if the keys are equal. */
static bool sooner(const struct model *m, u32 a, u64 a_key, u32 b, u64 b_key)
{
	if (b == PORT_NONE || a_key != b_key)
		return b == PORT_NONE || a_key < b_key;
	return m->f[a].born < m->f[b].born;
}

/* The flow whose time came first; @when: due_of() or probe_of() */
static u32 first_due(const struct model *m, u64 (*when)(const struct model *m, u32 slot))
{
	u32 best = PORT_NONE, i;
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
	u32 best = PORT_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].state == PCRP_TX_READY &&
		    (best == PORT_NONE || m->f[i].class < m->f[best].class ||
		     (m->f[i].class == m->f[best].class &&
		      m->f[i].class_order < m->f[best].class_order)))
			best = i;
	return best;
}

void model_params_changed(struct model *m)
{
	u64 last = 0, next;
	u32 i, slot;

	do {	/* in the order in which they were served */
		slot = PORT_NONE;
		next = U64_MAX;
		for (i = 0; i < MODEL_SLOTS; i++) {
			if (m->f[i].state != PCRP_TX_READY || m->f[i].order <= last ||
			    m->f[i].order >= next)
				continue;
			slot = i;
			next = m->f[i].order;
		}
		if (slot != PORT_NONE)
			classify(m, &m->f[slot]);
		last = next;
	} while (slot != PORT_NONE);
}

static u32 earliest(const struct model *m)
{
	u32 best = PORT_NONE, i;

	for (i = 0; i < MODEL_SLOTS; i++)
		if (m->f[i].begun && (best == PORT_NONE || m->f[i].begun < m->f[best].begun))
			best = i;
	return best;
}

static u32 choose(const struct model *m, u8 *rule)
{
	u32 eu = earliest(m), old = oldest(m, PCRP_TX_READY), small = shortest(m);

	*rule = PCRP_RULE_EU;
	if (m->p->eu && eu != PORT_NONE && m->f[eu].state == PCRP_TX_READY)
		return eu;
	*rule = PCRP_RULE_ORDER;
	if (!m->p->srpt || small == PORT_NONE || small == old)
		return old;
	if (m->f[small].class <= model_class(m->p->chain_bytes) ||
	    m->now - m->f[old].since <= m->p->mfwt_ns)
		return small;
	*rule = PCRP_RULE_MFWT;
	return old;
}

static struct step send(struct model *m, u32 slot, u8 rule, const u32 *unsent)
{
	struct model_flow *f = &m->f[slot];
	struct step step = { .action = PCRP_TX_DATA, .slot = slot, .rule = rule };

	step.retrans = f->q.retrans;
	step.bytes = f->q.bytes[f->q.first];
	if (f->sent >= f->border && step.bytes)
		begin(m, f);
	step.prio = f->prio;
	fifo_take(&f->q);
	f->sent += step.bytes;
	f->since = m->now;
	f->order = ++m->events;
	update(m, f, unsent[slot]);
	settle_after_sent(m, f);
	return step;
}

struct step model_step(struct model *m, const u32 *unsent)
{
	struct model_flow *f;
	u32 slot;
	u8 rule;

	abort_dry(m);
	slot = first_due(m, due_of);
	if (slot != PORT_NONE) {
		f = &m->f[slot];
		if (f->request_due)
			return request(m, slot, PCRP_TX_REQUEST);
		f->granted = f->sent + m->p->chain_bytes;
		f->next_prio = 7;
		f->overdue = true;
		f->probe = m->p->probe_ns;
		settle(m, f);
	}
	slot = first_due(m, probe_of);
	if (slot != PORT_NONE && probes_from(m) <= m->now)
		return probe(m, slot);
	slot = choose(m, &rule);
	if (slot == PORT_NONE)
		return (struct step) { .action = PCRP_TX_SLEEP };
	f = &m->f[slot];
	if (begins(f) && f->size > m->p->first_bytes &&
	    (f->gate == PCRP_GATE_DISCOVER || f->size > f->announced))
		return request(m, slot, PCRP_TX_REQUEST);
	return send(m, slot, rule, unsent);
}

u64 model_next(const struct model *m)
{
	u64 due = U64_MAX, next_probe = U64_MAX;
	u32 i;

	for (i = 0; i < MODEL_SLOTS; i++) {
		due = min_t(u64, due, due_of(m, i));
		next_probe = min_t(u64, next_probe, probe_of(m, i));
	}
	return min_t(u64, due, max_t(u64, next_probe, probes_from(m)));
}

u32 model_retrans_only(const struct model *m)
{
	u32 i, n = 0;

	for (i = 0; i < MODEL_SLOTS; i++)
		n += m->f[i].retrans_only && m->f[i].state > PCRP_TX_IDLE;
	return n;
}

u32 model_count(const struct model *m, u8 state)
{
	u32 i, n = 0;

	for (i = 0; i < MODEL_SLOTS; i++)
		n += m->f[i].state == state;
	return n;
}
