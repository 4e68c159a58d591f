// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.h: whatever comes, it does what the model does, and what was
 * promised holds; and it does so in few steps, with 10,000 flows
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pcrp_model.h"
#include "rng.h"

#define ROUNDS		60
#define EVENTS		4000

struct world {
	struct port port;
	struct model m;
	struct rng rng;
	u64 steps[PCRP_ACTION_DATA + 1];
	u64 verdicts[PCRP_GRANT_REFUSED + 1];
	u64 prios[8];
	u64 ungated;
	u64 again;
	u64 echoes;
	u64 rules[PCRP_RULE_ORDER + 1];
};

static struct pcrp_params random_params(struct rng *rng)
{
	struct pcrp_params p = {
		.chain_bytes = rng_log(rng, 256, 100000),
		.hold_ns = rng_log(rng, MS, 100 * MS),
		.probe_ns = rng_log(rng, PCRP_PROBE_MIN_NS, PCRP_PROBE_MAX_NS),
		.probe_gap_ns = rng_log(rng, US, 10 * MS),
	};

	p.first_bytes = rng_percent(rng, 60) ? p.chain_bytes : rng_log(rng, 256, 100000);
	p.mfwt_ns = rng_percent(rng, 20) ? U64_MAX : rng_log(rng, US, 10 * MS);
	p.spec_bytes[0] = rng_log(rng, 1, 100000);
	p.spec_bytes[1] = p.spec_bytes[0] + rng_log(rng, 1, 100000);
	p.spec_bytes[2] = p.spec_bytes[1] + rng_log(rng, 1, 1000000);
	p.eu = rng_percent(rng, 50);
	p.srpt = rng_percent(rng, 80);
	return p;
}

/* A flow is the same to both. */
static void check_flow(struct world *w, u32 slot)
{
	const struct pcrp_flow *f = port_flow(&w->port, slot);
	const struct model_flow *e = &w->m.f[slot];

	assert_int_equal(f->state, e->state);
	if (f->state == PCRP_FLOW_UNUSED || f->state == PCRP_FLOW_IDLE)
		return;
	assert_int_equal(f->gate, e->gate);
	assert_int_equal(f->echo, e->echo);
	assert_int_equal(f->again, e->q.again);
	assert_true(f->sent == e->sent);
	assert_true(f->granted == e->granted);
	assert_true(f->size == e->size);
	assert_true(f->announced == e->told);
	assert_int_equal(f->begun, !!e->begun);
	assert_true(pcrp_remaining(f) == model_left(e));
}

static void check_all(struct world *w)
{
	u32 i, begun = 0;

	for (i = 0; i < MODEL_SLOTS; i++) {
		check_flow(w, i);
		begun += !!w->m.f[i].begun;
	}
	assert_true(pcrp_snd_next_ns(&w->port.s) == model_next(&w->m));
	assert_int_equal(port_begun(&w->port), begun);
	for (i = 0; i < PCRP_FLOW_STATES; i++)
		assert_int_equal(port_count(&w->port, i), model_count(&w->m, i));
	assert_int_equal(w->port.s.stats.flows_started - w->port.s.stats.flows_finished,
			 MODEL_SLOTS - model_count(&w->m, PCRP_FLOW_IDLE) -
			 model_count(&w->m, PCRP_FLOW_UNUSED) - model_echoes(&w->m));
}

/* Of all that was ready, has anyone waited too long who is not served by right? */
static void check_starvation(const struct world *w, const struct pcrp_flow *f,
			     const struct step *step)
{
	const struct pcrp_params *p = &w->port.p;
	u32 i;

	if (!p->srpt || step->rule == PCRP_RULE_EU ||
	    pcrp_remaining(&f[step->slot]) <= p->chain_bytes)
		return;
	for (i = 0; i < MODEL_SLOTS; i++)
		if (f[i].state == PCRP_FLOW_READY && w->port.now - f[i].since_ns > p->mfwt_ns)
			assert_true(f[step->slot].since_ns <= f[i].since_ns);
}

/* Both do a step, the same. */
static struct step step(struct world *w)
{
	struct pcrp_flow before[MODEL_SLOTS];
	struct step a, b;

	memcpy(before, w->port.s.flow, sizeof(before));
	a = port_step(&w->port);
	b = model_step(&w->m, w->port.unsent);
	assert_int_equal(a.action, b.action);
	w->steps[a.action]++;
	if (a.action == PCRP_ACTION_SLEEP)
		return a;
	assert_int_equal(a.slot, b.slot);
	assert_int_equal(a.prio, b.prio);
	assert_int_equal(a.bytes, b.bytes);
	check_flow(w, a.slot);
	if (a.action != PCRP_ACTION_DATA)
		return a;
	assert_int_equal(a.rule, b.rule);
	assert_int_equal(a.again, b.again);
	w->again += a.again;
	check_starvation(w, before, &a);
	w->rules[a.rule]++;
	if (a.prio == PCRP_PRIO_UNGATED)
		w->ungated++;
	else
		w->prios[a.prio]++;
	/* not a packet that begins beyond what is granted, but when hold is over */
	if (a.bytes && before[a.slot].sent >= before[a.slot].granted)
		assert_true(w->port.now - before[a.slot].since_ns >= w->port.p.hold_ns);
	return a;
}

/* When the first packet that adds something was queued */
static u64 data_since(const struct port_fifo *q)
{
	u32 n = 0;

	while (!q->bytes[fifo_at(q, n)])
		n++;
	return q->at_ns[fifo_at(q, n)];
}

/* What is due is done, then the line takes some packets. */
static void run(struct world *w, u32 packets)
{
	u32 i;

	while (pcrp_snd_next_ns(&w->port.s) <= w->port.now)
		step(w);
	/* no packet has waited for longer than hold, if not for the line */
	for (i = 0; i < MODEL_SLOTS; i++)
		if (w->port.s.flow[i].state == PCRP_FLOW_WAITING)
			assert_true(w->port.now - data_since(&w->port.fifo[i]) <
				    w->port.p.hold_ns);
	while (packets && step(w).action != PCRP_ACTION_SLEEP)
		packets--;
}

static void arrive(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1), bytes, unsent;
	u8 gate = rng_percent(&w->rng, 80) ? PCRP_GATE_GRANT : rng_in(&w->rng, 0, 1);

	if (pcrp_snd_starts(&w->port.s, slot) && rng_percent(&w->rng, 50)) {
		slot = pcrp_snd_claim(&w->port.s, &w->port.p, w->port.now);
		assert_int_equal(slot, model_claim(&w->m));
	}
	if (w->port.fifo[slot].count == PORT_FIFO)
		return;
	bytes = rng_percent(&w->rng, 10) ? 0 : rng_log(&w->rng, 1, 65536);
	unsent = rng_percent(&w->rng, 50) ? 0 : rng_log(&w->rng, 1, 1000000);
	port_arrive(&w->port, slot, bytes, unsent, gate);
	model_arrive(&w->m, slot, bytes, unsent, gate);
	check_flow(w, slot);
}

/* What was sent before is sent again, be its flow over or not. */
static void again(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);

	if (w->m.f[slot].state == PCRP_FLOW_UNUSED || w->port.fifo[slot].count == PORT_FIFO)
		return;
	w->echoes += pcrp_snd_starts(&w->port.s, slot);
	port_again(&w->port, slot);
	model_again(&w->m, slot, w->port.unsent[slot]);
	check_flow(w, slot);
	assert_int_equal(port_flow(&w->port, slot)->state, PCRP_FLOW_READY);
}

/* Legal ones, old ones, doubled ones, forged ones */
static void grant(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);
	s32 age = rng_percent(&w->rng, 90) ? 0 : (s32)rng_in(&w->rng, 0, 4) - 2;
	const struct pcrp_flow *f = port_flow(&w->port, slot);
	u64 before = f->granted, sent = f->sent, granted;
	enum pcrp_grant_verdict verdict;
	struct pcrp_grant g;
	bool gated = f->gate == PCRP_GATE_GRANT;
	u64 rtt_ns;

	granted = rng_percent(&w->rng, 10) ? U64_MAX >> rng_in(&w->rng, 0, 63) :
		  sent + rng_in(&w->rng, 0, 2 * w->port.p.chain_bytes);
	g = (struct pcrp_grant) {
		.granted = granted, .slot = slot, .flow_no = f->flow_no - age,
		.prio = rng_in(&w->rng, 0, 10),
	};
	verdict = pcrp_snd_grant(&w->port.s, &w->port.p, &g, w->port.now, &rtt_ns);
	assert_int_equal(verdict, model_grant(&w->m, slot, age, granted, g.prio));
	assert_int_equal(rtt_ns, 0);
	w->verdicts[verdict]++;
	if (verdict != PCRP_GRANT_NEWS && gated)
		assert_true(f->granted == before);
	if (verdict == PCRP_GRANT_NEWS && gated)
		assert_in_range(f->granted, before + 1,
				sent + 2 * (u64)max_t(u32, w->port.p.chain_bytes,
						      w->port.p.first_bytes));
	check_flow(w, slot);
}

static void ungate(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);

	if (pcrp_snd_starts(&w->port.s, slot))
		return;
	pcrp_snd_ungate(&w->port.s, &w->port.p, slot, w->port.now);
	model_ungate(&w->m, slot);
	check_flow(w, slot);
}

/* Time passes, but not beyond what is due. */
static void pass(struct world *w)
{
	u64 next = pcrp_snd_next_ns(&w->port.s), to;

	to = w->port.now + rng_log(&w->rng, 1, rng_percent(&w->rng, 2) ? 2 * SEC : 5 * MS);
	w->port.now = next < w->port.now ? w->port.now : next < to ? next : to;
	w->m.now = w->port.now;
}

static void check_stats(struct world *w)
{
	const struct pcrp_snd_stats *s = &w->port.s.stats;
	u32 i;

	assert_true(s->requests_sent == w->steps[PCRP_ACTION_REQUEST]);
	assert_true(s->probes_sent == w->steps[PCRP_ACTION_PROBE]);
	assert_true(s->eu_packets == w->rules[PCRP_RULE_EU]);
	assert_true(s->promotions == w->rules[PCRP_RULE_MFWT]);
	assert_true(s->grants_received == w->verdicts[PCRP_GRANT_NEWS]);
	assert_true(s->grants_idle == w->verdicts[PCRP_GRANT_IDLE]);
	assert_true(s->grants_late == w->verdicts[PCRP_GRANT_LATE]);
	assert_true(s->grants_refused == w->verdicts[PCRP_GRANT_REFUSED]);
	assert_true(s->ungated_packets == w->ungated);
	assert_true(s->chains_speculative == w->m.firsts);
	assert_true(s->chains_granted == w->m.granted);
	assert_true(s->chains_overdue == w->m.overdue);
	for (i = 0; i < 8; i++)
		assert_true(s->prio_packets[i] == w->prios[i]);
}

static void one_round(struct world *w, u32 seed)
{
	struct pcrp_params p;
	u32 i, what;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	p = random_params(&w->rng);
	port_open(&w->port, MODEL_SLOTS, &p);
	model_open(&w->m, &w->port.p);
	w->m.now = w->port.now;
	for (i = 0; i < EVENTS; i++) {
		what = rng_in(&w->rng, 0, 99);
		if (what < 40)
			arrive(w);
		else if (what < 45)
			again(w);
		else if (what < 65)
			grant(w);
		else if (what < 66)
			ungate(w);
		else if (what < 75)
			pass(w);
		run(w, what < 75 ? 0 : rng_in(&w->rng, 1, 4));
		check_all(w);
	}
	check_stats(w);
	port_close(&w->port);
}

static void test_random(void **state)
{
	u64 steps[PCRP_ACTION_DATA + 1] = {}, verdicts[PCRP_GRANT_REFUSED + 1] = {};
	u64 prios[8] = {}, rules[PCRP_RULE_ORDER + 1] = {}, ungated = 0, overdue = 0;
	u64 sent_again = 0, echoes = 0;
	static struct world w;
	u32 round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		one_round(&w, round);
		for (i = 0; i <= PCRP_ACTION_DATA; i++)
			steps[i] += w.steps[i];
		for (i = 0; i <= PCRP_GRANT_REFUSED; i++)
			verdicts[i] += w.verdicts[i];
		for (i = 0; i <= PCRP_RULE_ORDER; i++)
			rules[i] += w.rules[i];
		for (i = 0; i < 8; i++)
			prios[i] += w.prios[i];
		ungated += w.ungated;
		sent_again += w.again;
		echoes += w.echoes;
		overdue += w.port.s.stats.chains_overdue;
	}
	/* has all of it happened, and often? */
	for (i = 0; i <= PCRP_ACTION_DATA; i++)
		assert_true(steps[i] > 1000);
	for (i = 0; i <= PCRP_GRANT_REFUSED; i++)
		assert_true(verdicts[i] > 1000);
	for (i = 0; i <= PCRP_RULE_ORDER; i++)
		assert_true(rules[i] > 1000);
	for (i = 0; i < 8; i++)
		assert_true(prios[i] > 1000);
	assert_true(ungated > 1000);
	assert_true(sent_again > 1000);
	assert_true(echoes > 1000);
	assert_true(overdue > 100);
}

/* ------------------------------------------------ steps */

#define MANY	10000
/* floor(log2(MANY)) + 1: nodes of the longest path */
#define PATH	14

/* How many of the heaps' nodes are not what they were */
static u32 moved(const struct port *port, struct heap_node *before)
{
	const struct heap_node *node = port->s.shortest.node;
	u32 i, n = 0;

	for (i = 0; i < PCRP_SND_HEAPS * MANY; i++)
		n += node[i].key != before[i].key || node[i].id != before[i].id;
	memcpy(before, node, PCRP_SND_HEAPS * MANY * sizeof(*node));
	return n;
}

/*
 * 10,000 flows are ready, and then all of them wait at once: what a packet, a GRANT,
 * a PROBE or the end of hold moves is six paths of the heaps at most.
 */
static void test_many_flows(void **state)
{
	struct heap_node *before = calloc(PCRP_SND_HEAPS * MANY, sizeof(*before));
	struct pcrp_params p = port_ordinary;
	u32 i, slot, asked = 0, data = 0;
	struct port port;
	struct step step;
	struct rng rng;

	(void)state;
	p.eu = false;
	p.probe_gap_ns = 0;
	rng_seed(&rng, 7);
	port_open(&port, MANY, &p);
	for (i = 0; i < MANY; i++) {
		port_arrive(&port, i, CHAIN, rng_log(&rng, 1, 1 << 30), PCRP_GATE_GRANT);
		port_arrive(&port, i, PKT, port.unsent[i], PCRP_GATE_GRANT);
	}
	moved(&port, before);
	for (i = 0; i < 600; i++) {
		slot = rng_in(&rng, 0, MANY - 1);
		port_arrive(&port, slot, PKT, rng_log(&rng, 1, 1 << 30), PCRP_GATE_GRANT);
		assert_in_range(moved(&port, before), 0, 2 * PATH);
		port_step(&port);
		assert_in_range(moved(&port, before), 0, 4 * PATH);
	}
	while (port_count(&port, PCRP_FLOW_READY))
		port_step(&port);
	assert_int_equal(port_count(&port, PCRP_FLOW_WAITING), MANY);
	port.now += p.probe_ns;
	moved(&port, before);
	for (i = 0; i < 600; i++) {
		if (i == 300) {
			port.now += p.hold_ns;
			port.p.probe_gap_ns = port_ordinary.probe_gap_ns;
		}
		step = port_step(&port);
		asked += step.action != PCRP_ACTION_DATA && i < 300;
		data += step.action == PCRP_ACTION_DATA;
		assert_in_range(moved(&port, before), 0, 6 * PATH);
		port_grant(&port, rng_in(&rng, 0, MANY - 1), 2 * CHAIN, 4);
		assert_in_range(moved(&port, before), 0, 6 * PATH);
	}
	assert_int_equal(asked, 300);
	assert_true(data > 100);
	port_close(&port);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many_flows),
	};

	return cmocka_run_group_tests_name("pcrp_random", tests, NULL, NULL);
}
