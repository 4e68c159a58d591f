// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.c: random sequences of events have the same effects as in the model,
 * no flow starves, and none waits longer than hold. With 10,000 flows, SRPT still picks one
 * of the shortest.
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
	u64 steps[PCRP_TX_DATA + 1];
	u64 results[PCRP_GRANT_REFUSED + 1];
	u64 prios[8];
	u64 ungated;
	u64 retrans;
	u64 retrans_only;
	u64 rules[PCRP_RULE_ORDER + 1];
};

static struct pcrp_tx_params random_params(struct rng *rng)
{
	struct pcrp_tx_params p = {
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

/* Both agree on a flow. */
static void check_flow(struct world *w, u32 slot)
{
	const struct pcrp_tx_flow *f = &w->port.flow[slot];
	const struct model_flow *e = &w->m.f[slot];

	assert_int_equal(f->state, e->state);
	if (f->state == PCRP_TX_UNUSED || f->state == PCRP_TX_IDLE)
		return;
	assert_int_equal(f->gate, e->gate);
	assert_int_equal(f->retrans_only, e->retrans_only);
	assert_int_equal(f->retrans, e->q.retrans);
	assert_true(f->sent == e->sent);
	assert_true(f->granted == e->granted);
	assert_true(f->size == e->size);
	assert_true(f->announced == e->announced);
	assert_int_equal(f->begun, !!e->begun);
	assert_true(pcrp_tx_remaining(f) == model_left(e));
}

static void check_all(struct world *w)
{
	u32 i, begun = 0;

	for (i = 0; i < MODEL_SLOTS; i++) {
		check_flow(w, i);
		begun += !!w->m.f[i].begun;
	}
	assert_true(pcrp_tx_next_ns(&w->port.s) == model_next(&w->m));
	assert_int_equal(port_begun(&w->port), begun);
	for (i = 0; i < PCRP_TX_STATES; i++)
		assert_int_equal(port_count(&w->port, i), model_count(&w->m, i));
	assert_int_equal(w->port.s.stats.flows_started - w->port.s.stats.flows_finished,
			 MODEL_SLOTS - model_count(&w->m, PCRP_TX_IDLE) -
			 model_count(&w->m, PCRP_TX_UNUSED) - model_retrans_only(&w->m));
}

/* No flow that must be promoted waits behind one that it may pass. */
static void check_starvation(const struct world *w, const struct pcrp_tx_flow *f,
			     const struct step *step)
{
	const struct pcrp_tx_params *p = &w->port.p;
	u32 i;

	if (!p->srpt || step->rule == PCRP_RULE_EU ||
	    pcrp_tx_class(pcrp_tx_remaining(&f[step->slot])) <= pcrp_tx_class(p->chain_bytes))
		return;
	for (i = 0; i < MODEL_SLOTS; i++)
		if (f[i].state == PCRP_TX_READY && w->port.now - f[i].since_ns > p->mfwt_ns)
			assert_true(f[step->slot].since_ns <= f[i].since_ns);
}

/* Both do the same step. */
static struct step step(struct world *w)
{
	struct pcrp_tx_flow before[MODEL_SLOTS];
	struct step a, b;

	memcpy(before, w->port.flow, sizeof(before));
	a = port_step(&w->port);
	b = model_step(&w->m, w->port.unsent);
	assert_int_equal(a.action, b.action);
	w->steps[a.action]++;
	if (a.action == PCRP_TX_SLEEP)
		return a;
	assert_int_equal(a.slot, b.slot);
	assert_int_equal(a.prio, b.prio);
	assert_int_equal(a.bytes, b.bytes);
	check_flow(w, a.slot);
	if (a.action != PCRP_TX_DATA)
		return a;
	assert_int_equal(a.rule, b.rule);
	assert_int_equal(a.retrans, b.retrans);
	w->retrans += a.retrans;
	check_starvation(w, before, &a);
	w->rules[a.rule]++;
	if (a.prio == PCRP_PRIO_UNGATED)
		w->ungated++;
	else
		w->prios[a.prio]++;
	/* a packet beyond the granted offset leaves only when hold is over */
	if (a.bytes && before[a.slot].sent >= before[a.slot].granted)
		assert_true(w->port.now - before[a.slot].since_ns >= w->port.p.hold_ns);
	return a;
}

/* When the first packet with new bytes was queued */
static u64 data_since(const struct port_fifo *q)
{
	u32 n = 0;

	while (!q->bytes[fifo_at(q, n)])
		n++;
	return q->at_ns[fifo_at(q, n)];
}

/* Do all actions that are due, then send some packets. */
static void run(struct world *w, u32 packets)
{
	u32 i;

	while (pcrp_tx_next_ns(&w->port.s) <= w->port.now)
		step(w);
	/* no packet has waited for a GRANT longer than hold */
	for (i = 0; i < MODEL_SLOTS; i++)
		if (w->port.flow[i].state == PCRP_TX_WAITING)
			assert_true(w->port.now - data_since(&w->port.fifo[i]) <
				    w->port.p.hold_ns);
	while (packets && step(w).action != PCRP_TX_SLEEP)
		packets--;
}

static void arrive(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1), bytes, unsent;
	u8 gate = rng_percent(&w->rng, 80) ? PCRP_GATE_GRANT : rng_in(&w->rng, 0, 1);

	if (pcrp_tx_finished(&w->port.flow[slot]) && rng_percent(&w->rng, 50)) {
		slot = port_claim(&w->port);
		assert_int_equal(slot, model_claim(&w->m));
	}
	if (slot == PORT_NONE || w->port.fifo[slot].count == PORT_FIFO)
		return;
	bytes = rng_percent(&w->rng, 10) ? 0 : rng_log(&w->rng, 1, 65536);
	unsent = rng_percent(&w->rng, 50) ? 0 : rng_log(&w->rng, 1, 1000000);
	port_arrive(&w->port, slot, bytes, unsent, gate);
	model_arrive(&w->m, slot, bytes, unsent, gate);
	check_flow(w, slot);
}

/* A retransmission, of an unfinished or a finished flow */
static void retransmit(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);

	if (w->m.f[slot].state == PCRP_TX_UNUSED || w->port.fifo[slot].count == PORT_FIFO)
		return;
	w->retrans_only += pcrp_tx_finished(&w->port.flow[slot]);
	port_retransmit(&w->port, slot);
	model_retransmit(&w->m, slot, w->port.unsent[slot]);
	check_flow(w, slot);
	assert_int_equal(w->port.flow[slot].state, PCRP_TX_READY);
}

/* A GRANT: legal, late, duplicate or forged */
static void grant(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);
	s32 age = rng_percent(&w->rng, 90) ? 0 : (s32)rng_in(&w->rng, 0, 4) - 2;
	struct pcrp_tx_flow *f = &w->port.flow[slot];
	u64 before = f->granted, sent = f->sent, granted;
	enum pcrp_grant_result result;
	struct pcrp_grant g;
	bool gated = f->gate == PCRP_GATE_GRANT;
	u64 rtt_ns;

	granted = rng_percent(&w->rng, 10) ? U64_MAX >> rng_in(&w->rng, 0, 63) :
		  sent + rng_in(&w->rng, 0, 2 * w->port.p.chain_bytes);
	g = (struct pcrp_grant) {
		.granted = granted, .flow_no = f->flow_no - age,
		.prio = rng_in(&w->rng, 0, 10),
	};
	result = pcrp_tx_grant(&w->port.s, f, &g, w->port.now, &rtt_ns);
	assert_int_equal(result, model_grant(&w->m, slot, age, granted, g.prio));
	assert_int_equal(rtt_ns, 0);
	w->results[result]++;
	if (result != PCRP_GRANT_NEW && gated)
		assert_true(f->granted == before);
	if (result == PCRP_GRANT_NEW && gated)
		assert_in_range(f->granted, before + 1,
				sent + 2 * (u64)max_t(u32, w->port.p.chain_bytes,
						      w->port.p.first_bytes));
	check_flow(w, slot);
}

static void ungate(struct world *w)
{
	u32 slot = rng_in(&w->rng, 0, MODEL_SLOTS - 1);

	if (pcrp_tx_finished(&w->port.flow[slot]))
		return;
	pcrp_tx_ungate(&w->port.s, &w->port.flow[slot], w->port.now);
	model_ungate(&w->m, slot);
	check_flow(w, slot);
}

static void toggle_srpt(struct world *w)
{
	w->port.p.srpt = !w->port.p.srpt;
	pcrp_tx_params_changed(&w->port.s);
	model_params_changed(&w->m);
}

/* Let time pass, but not beyond the next action. */
static void pass(struct world *w)
{
	u64 next = pcrp_tx_next_ns(&w->port.s), to;

	to = w->port.now + rng_log(&w->rng, 1, rng_percent(&w->rng, 2) ? 2 * SEC : 5 * MS);
	w->port.now = next < w->port.now ? w->port.now : next < to ? next : to;
	w->m.now = w->port.now;
}

static void check_stats(struct world *w)
{
	const struct pcrp_tx_stats *s = &w->port.s.stats;
	u32 i;

	assert_true(s->requests_sent == w->steps[PCRP_TX_REQUEST]);
	assert_true(s->probes_sent == w->steps[PCRP_TX_PROBE]);
	assert_true(s->eu_packets == w->rules[PCRP_RULE_EU]);
	assert_true(s->promotions == w->rules[PCRP_RULE_MFWT]);
	assert_true(s->grants_received == w->results[PCRP_GRANT_NEW]);
	assert_true(s->grants_idle == w->results[PCRP_GRANT_IDLE]);
	assert_true(s->grants_late == w->results[PCRP_GRANT_LATE]);
	assert_true(s->grants_refused == w->results[PCRP_GRANT_REFUSED]);
	assert_true(s->ungated_packets == w->ungated);
	assert_true(s->chains_speculative == w->m.firsts);
	assert_true(s->chains_granted == w->m.granted);
	assert_true(s->chains_overdue == w->m.overdue);
	for (i = 0; i < 8; i++)
		assert_true(s->prio_packets[i] == w->prios[i]);
}

static void one_round(struct world *w, u32 seed)
{
	struct pcrp_tx_params p;
	u32 i, what;

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	p = random_params(&w->rng);
	port_open(&w->port, MODEL_SLOTS, &p);
	model_open(&w->m, &w->port.p);
	w->m.now = w->port.now;
	for (i = 0; i < EVENTS; i++) {
		w->port.timed = rng_percent(&w->rng, 20);
		what = rng_in(&w->rng, 0, 99);
		if (what < 40)
			arrive(w);
		else if (what < 45)
			retransmit(w);
		else if (what < 65)
			grant(w);
		else if (what < 66)
			ungate(w);
		else if (what < 67)
			toggle_srpt(w);
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
	u64 steps[PCRP_TX_DATA + 1] = {}, results[PCRP_GRANT_REFUSED + 1] = {};
	u64 prios[8] = {}, rules[PCRP_RULE_ORDER + 1] = {}, ungated = 0, overdue = 0;
	u64 retrans = 0, retrans_only = 0;
	static struct world w;
	u32 round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		one_round(&w, round);
		for (i = 0; i <= PCRP_TX_DATA; i++)
			steps[i] += w.steps[i];
		for (i = 0; i <= PCRP_GRANT_REFUSED; i++)
			results[i] += w.results[i];
		for (i = 0; i <= PCRP_RULE_ORDER; i++)
			rules[i] += w.rules[i];
		for (i = 0; i < 8; i++)
			prios[i] += w.prios[i];
		ungated += w.ungated;
		retrans += w.retrans;
		retrans_only += w.retrans_only;
		overdue += w.port.s.stats.chains_overdue;
	}
	/* all of it has happened often */
	for (i = 0; i <= PCRP_TX_DATA; i++)
		assert_true(steps[i] > 1000);
	for (i = 0; i <= PCRP_GRANT_REFUSED; i++)
		assert_true(results[i] > 1000);
	for (i = 0; i <= PCRP_RULE_ORDER; i++)
		assert_true(rules[i] > 1000);
	for (i = 0; i < 8; i++)
		assert_true(prios[i] > 1000);
	assert_true(ungated > 1000);
	assert_true(retrans > 1000);
	assert_true(retrans_only > 1000);
	assert_true(overdue > 100);
}

/* ------------------------------------------------ many flows */

#define MANY	10000

/* The fewest remaining bytes of a READY flow: searched for among all flows */
static u64 shortest(const struct port *port)
{
	u64 least = U64_MAX;
	u32 i;

	for (i = 0; i < MANY; i++)
		if (port->flow[i].state == PCRP_TX_READY)
			least = min_t(u64, least, pcrp_tx_remaining(&port->flow[i]));
	return least;
}

/*
 * SRPT picks one of 10,000 ready flows, 1/16 longer than the shortest at most; then all of them
 * wait, probe and hold.
 */
static void test_many_flows(void **state)
{
	struct pcrp_tx_params p = port_default;
	u32 i, n, served = 0, requests = 0, data = 0;
	static u64 before[MANY];
	u64 least;
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
	for (i = 0; i < 600; i++) {
		port_arrive(&port, rng_in(&rng, 0, MANY - 1), PKT, rng_log(&rng, 1, 1 << 30),
			    PCRP_GATE_GRANT);
		least = shortest(&port);
		for (n = 0; n < MANY; n++)
			before[n] = pcrp_tx_remaining(&port.flow[n]);
		step = port_step(&port);
		if (step.action != PCRP_TX_DATA)
			continue;
		assert_true(before[step.slot] * 16 < least * 17);
		served++;
	}
	assert_true(served > 200);
	while (port_count(&port, PCRP_TX_READY))
		port_step(&port);
	assert_int_equal(port_count(&port, PCRP_TX_WAITING), MANY);
	port.now += p.probe_ns;
	for (i = 0; i < 600; i++) {
		if (i == 300) {
			port.now += p.hold_ns;
			port.p.probe_gap_ns = port_default.probe_gap_ns;
		}
		step = port_step(&port);
		requests += step.action != PCRP_TX_DATA && i < 300;
		data += step.action == PCRP_TX_DATA;
		port_grant(&port, rng_in(&rng, 0, MANY - 1), 2 * CHAIN, 4);
	}
	assert_int_equal(requests, 300);
	assert_true(data > 100);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many_flows),
	};

	return cmocka_run_group_tests_name("pcrp_random", tests, NULL, NULL);
}
