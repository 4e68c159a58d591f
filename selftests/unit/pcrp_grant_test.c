// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.h: waiting for GRANTs, flows that do not, and slots
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pcrp_port.h"

/* ------------------------------------------------ PROBE, hold */

/* A flow of many chains has sent its first, and waits. */
static void wait_for_grant(struct port *port, u32 slot)
{
	queue(port, slot, 50, PCRP_GATE_GRANT);
	expect_ask(port, PCRP_ACTION_REQUEST, slot);
	expect_data(port, slot, 10, 3);
	assert_int_equal(port_flow(port, slot)->state, PCRP_FLOW_WAITING);
}

/* Nothing is done before @ns from now on, and a PROBE then. */
static void expect_probe_in(struct port *port, u32 slot, u64 ns)
{
	assert_true(pcrp_snd_next_ns(&port->s) == port->now + ns);
	port->now += ns - 1;
	expect_sleep(port);
	port->now++;
	expect_ask(port, PCRP_ACTION_PROBE, slot);
	expect_sleep(port);
}

static void test_probe(void **state)
{
	struct port port;
	u64 ns;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	wait_for_grant(&port, 0);
	for (ns = 2 * RTT; ns < 10 * MS; ns *= 2) {
		expect_probe_in(&port, 0, ns);
		/* one that says nothing new changes nothing */
		assert_int_equal(port_grant(&port, 0, CHAIN, 4), PCRP_GRANT_IDLE);
	}
	expect_probe_in(&port, 0, 10 * MS);
	expect_probe_in(&port, 0, 10 * MS);

	/* after a chain was granted they begin anew, from the last packet on */
	port_grant(&port, 0, 2 * CHAIN, 4);
	port.now += MS;
	expect_data(&port, 0, 10, 4);
	expect_probe_in(&port, 0, 2 * RTT);
	assert_int_equal(port_flow(&port, 0)->ask_no, port.s.stats.probes_sent + 1);
	port_close(&port);
}

/* A packet comes when the GRANT has been missing for a long time already. */
static void test_probe_late(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	port_arrive(&port, 0, CHAIN, 5 * PKT, PCRP_GATE_GRANT);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 1, 2);
	port.now += MS;
	expect_sleep(&port);
	port_arrive(&port, 0, PKT, 4 * PKT, PCRP_GATE_GRANT);
	expect_ask(&port, PCRP_ACTION_PROBE, 0);
	port_close(&port);
}

/* Time passes, with PROBEs, until a packet leaves: then, and without a GRANT. */
static void expect_overdue_at(struct port *port, u32 slot, u64 at_ns)
{
	struct step step;

	do {
		port->now = max_t(u64, port->now, pcrp_snd_next_ns(&port->s));
		step = port_step(port);
	} while (step.action == PCRP_ACTION_PROBE);
	assert_true(port->now == at_ns);
	assert_int_equal(step.action, PCRP_ACTION_DATA);
	assert_int_equal(step.slot, slot);
	assert_int_equal(step.prio, 7);
}

/* 100 ms after its first packet was queued a chain goes without a GRANT, no sooner. */
static void test_hold(void **state)
{
	struct port port;
	u64 begin;
	u32 round;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	begin = port.now;
	for (round = 0; round < 4; round++, port.now += 30 * MS)
		queue(&port, 0, 10, PCRP_GATE_GRANT);
	port.now = begin;
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	for (round = 1; round <= 3; round++) {
		expect_overdue_at(&port, 0, begin + round * 30 * MS + 100 * MS);
		expect_data(&port, 0, 9, 7);
		assert_int_equal(port.s.stats.chains_overdue, round);
	}
	assert_true(pcrp_flow_ended(port_flow(&port, 0)));
	port_close(&port);
}

/* Many chains that came at once leave at once: the last has not waited for longer. */
static void test_hold_chains(void **state)
{
	struct port port;
	u64 begin;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	begin = port.now;
	wait_for_grant(&port, 0);
	expect_overdue_at(&port, 0, begin + 100 * MS);
	expect_data(&port, 0, 29, 7);
	assert_int_equal(port.s.stats.chains_overdue, 3);
	/* what then comes of the receiver for what is gone already is nothing new */
	assert_int_equal(port_grant(&port, 0, 4 * CHAIN, 4), PCRP_GRANT_IDLE);
	port_grant(&port, 0, 5 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	assert_int_equal(port.s.stats.chains_granted, 1);
	port_close(&port);
}

/* What a packet has waited for the line counts, too. */
static void test_hold_line(void **state)
{
	struct port port;
	u64 begin;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	begin = port.now;
	queue(&port, 0, 30, PCRP_GATE_GRANT);
	port.now += 60 * MS;
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	expect_overdue_at(&port, 0, begin + 100 * MS);
	port_close(&port);
}

/* ------------------------------------------------ PROBEs of many flows */

/* However many wait, the line's share bounds their PROBEs, and each has its turn. */
static void test_probes_bounded(void **state)
{
	u32 probes = 0, flows = 1000, i, probed[1000] = {};
	struct pcrp_params p = port_ordinary;
	struct step step;
	struct port port;
	u64 begin, end;

	(void)state;
	p.hold_ns = SEC;
	port_open(&port, flows, &p);
	for (i = 0; i < flows; i++)
		port_arrive(&port, i, CHAIN, 2 * CHAIN, PCRP_GATE_GRANT);
	for (i = 0; i < flows; i++)
		port_arrive(&port, i, PKT, CHAIN, PCRP_GATE_GRANT);
	while (port_step(&port).action != PCRP_ACTION_SLEEP)
		;
	assert_int_equal(port_count(&port, PCRP_FLOW_WAITING), flows);
	begin = port.now;
	end = begin + 50 * MS;
	for (; port.now < end; port.now += US) {
		step = port_step(&port);
		for (; step.action == PCRP_ACTION_PROBE; step = port_step(&port)) {
			probed[step.slot]++;
			probes++;
		}
		assert_int_equal(step.action, PCRP_ACTION_SLEEP);
		assert_true(pcrp_snd_next_ns(&port.s) > port.now);
		assert_in_range(probes, 0, PCRP_PROBE_BURST +
				(port.now - begin) / p.probe_gap_ns);
	}
	/* 1 % of the line's bytes, and all of that is used */
	assert_in_range(probes, (end - begin) / p.probe_gap_ns - 20,
			(end - begin) / p.probe_gap_ns + PCRP_PROBE_BURST);
	for (i = 0; i < flows; i++)
		assert_in_range(probed[i], 3, 6);
	port_close(&port);
}

/* ------------------------------------------------ packets that are sent again */

static void expect_again(struct port *port, u32 slot, u8 prio)
{
	struct step step = port_step(port);

	assert_int_equal(step.action, PCRP_ACTION_DATA);
	assert_int_equal(step.slot, slot);
	assert_true(step.again);
	assert_int_equal(step.prio, prio);
}

/* They wait for no GRANT, go before new data, and leave its wait as it was. */
static void test_again(void **state)
{
	struct port port;
	u64 begin, sent;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	begin = port.now;
	wait_for_grant(&port, 0);
	sent = port_flow(&port, 0)->sent;
	expect_sleep(&port);
	port.now += 20 * MS;
	port_again(&port, 0);
	port_again(&port, 0);
	assert_int_equal(port_flow(&port, 0)->state, PCRP_FLOW_READY);
	expect_again(&port, 0, 3);
	expect_again(&port, 0, 3);
	assert_int_equal(port_flow(&port, 0)->state, PCRP_FLOW_WAITING);
	assert_true(port_flow(&port, 0)->sent == sent);
	assert_int_equal(port_flow(&port, 0)->size, 50 * PKT);
	expect_overdue_at(&port, 0, begin + 100 * MS);

	/* in front of a granted chain; its REQUEST waits for that chain's own packet */
	expect_data(&port, 0, 9, 7);
	port_grant(&port, 0, 4 * CHAIN, 4);
	expect_data(&port, 0, 20, 4);
	queue(&port, 0, 1, PCRP_GATE_GRANT);
	port_again(&port, 0);
	port_grant(&port, 0, 51 * PKT, 5);
	expect_again(&port, 0, 4);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 11, 5);
	port_close(&port);
}

/* Of a flow that has ended: sent with its priority, and that is all. */
static void test_again_ended(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	port_grant(&port, 0, 20 * PKT, 5);
	expect_data(&port, 0, 10, 5);
	assert_true(pcrp_flow_ended(port_flow(&port, 0)));
	no = port_flow(&port, 0)->flow_no;

	/* its socket has data again, which has not come yet */
	port.unsent[0] = 100 * PKT;
	port_again(&port, 0);
	port_again(&port, 0);
	assert_int_equal(port_flow(&port, 0)->flow_no, no);
	assert_true(pcrp_snd_starts(&port.s, 0));
	assert_int_equal(port_grant(&port, 0, 30 * PKT, 4), PCRP_GRANT_LATE);
	expect_again(&port, 0, 5);
	assert_false(pcrp_flow_ended(port_flow(&port, 0)));
	expect_again(&port, 0, 5);
	assert_false(pcrp_flow_ended(port_flow(&port, 0)));
	assert_int_equal(port_flow(&port, 0)->state, PCRP_FLOW_IDLE);
	assert_int_equal(port_flow(&port, 0)->size, 20 * PKT);
	assert_int_equal(port.s.stats.flows_started, 1);
	assert_int_equal(port.s.stats.flows_finished, 1);
	assert_int_equal(port.s.stats.requests_sent, 1);
	expect_sleep(&port);
	port_close(&port);
}

/* New data behind what is sent again of a flow that has ended is the next flow's. */
static void test_again_then_new(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	queue(&port, 0, 5, PCRP_GATE_GRANT);
	expect_data(&port, 0, 5, 1);
	no = port_flow(&port, 0)->flow_no;
	port_again(&port, 0);
	/* an end adds nothing: it starts no flow */
	port_arrive(&port, 0, 0, 0, PCRP_GATE_GRANT);
	assert_int_equal(port_flow(&port, 0)->flow_no, no);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	assert_int_equal(port_flow(&port, 0)->flow_no, no + 1);
	assert_int_equal(port_flow(&port, 0)->size, 20 * PKT);
	expect_again(&port, 0, 1);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 1, 2);
	expect_data(&port, 0, 10, 2);
	expect_sleep(&port);
	assert_int_equal(port_flow(&port, 0)->sent, 10 * PKT);
	assert_int_equal(port.s.stats.flows_started, 2);
	assert_int_equal(port.s.stats.flows_finished, 1);
	port_close(&port);
}

/* ------------------------------------------------ GRANTs */

static enum pcrp_grant_verdict grant_no(struct port *port, u32 slot, u32 flow_no)
{
	const struct pcrp_grant g = {
		.granted = 2 * CHAIN, .slot = slot, .flow_no = flow_no, .prio = 4,
	};
	u64 rtt_ns;

	return pcrp_snd_grant(&port->s, &port->p, &g, port->now, &rtt_ns);
}

static void test_grant_verdicts(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 4, &port_ordinary);
	assert_int_equal(grant_no(&port, 0, 0), PCRP_GRANT_REFUSED);
	assert_int_equal(grant_no(&port, 4, 0), PCRP_GRANT_REFUSED);
	assert_int_equal(grant_no(&port, UINT32_MAX, 0), PCRP_GRANT_REFUSED);
	wait_for_grant(&port, 0);
	no = port_flow(&port, 0)->flow_no;
	assert_int_equal(grant_no(&port, 0, no - 1), PCRP_GRANT_LATE);
	assert_int_equal(grant_no(&port, 0, no + 1), PCRP_GRANT_REFUSED);
	assert_int_equal(port_flow(&port, 0)->granted, CHAIN);
	assert_false(port_flow(&port, 0)->heard);
	assert_int_equal(grant_no(&port, 0, no), PCRP_GRANT_NEWS);
	assert_true(port_flow(&port, 0)->heard);
	assert_int_equal(grant_no(&port, 0, no), PCRP_GRANT_IDLE);

	/* of a flow that goes on without, and of one that has ended */
	queue(&port, 1, 1, PCRP_GATE_NONE);
	assert_int_equal(grant_no(&port, 1, no + 1), PCRP_GRANT_LATE);
	pcrp_snd_ungate(&port.s, &port.p, 0, port.now);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	assert_int_equal(grant_no(&port, 1, no + 1), PCRP_GRANT_LATE);
	assert_int_equal(port.s.stats.grants_received, 1);
	assert_int_equal(port.s.stats.grants_idle, 1);
	assert_int_equal(port.s.stats.grants_late, 3);
	assert_int_equal(port.s.stats.grants_refused, 4);
	port_close(&port);
}

/* Whatever a GRANT says, and how often, two chains are all that it lets out. */
static void test_grant_bounds(void **state)
{
	static const struct { u8 says, is; } prios[] = {
		{ 0, 4 }, { 3, 4 }, { 4, 4 }, { 7, 7 }, { 8, 7 }, { 255, 7 },
	};
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	wait_for_grant(&port, 0);
	for (i = 0; i < 3; i++)
		port_grant(&port, 0, U64_MAX, 4);
	assert_int_equal(port_flow(&port, 0)->granted, 3 * CHAIN);
	expect_data(&port, 0, 20, 4);
	expect_sleep(&port);
	for (i = 0; i < sizeof(prios) / sizeof(*prios); i++) {
		port_grant(&port, 0, 3 * CHAIN + (i + 1) * PKT, prios[i].says);
		expect_data(&port, 0, 1, prios[i].is);
	}
	port_close(&port);
}

static u64 answer(struct port *port, u32 ask)
{
	const struct pcrp_grant g = {
		.granted = CHAIN, .flow_no = port_flow(port, 0)->flow_no, .ask = ask,
		.prio = 4,
	};
	u64 rtt_ns;

	pcrp_snd_grant(&port->s, &port->p, &g, port->now, &rtt_ns);
	return rtt_ns;
}

/* A time is taken from the newest REQUEST or PROBE to the first answer to it. */
static void test_round_trip(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	wait_for_grant(&port, 0);
	port.now += 2 * RTT;
	expect_ask(&port, PCRP_ACTION_PROBE, 0);
	port.now += 30 * US;
	assert_int_equal(answer(&port, 0), 0);
	assert_int_equal(answer(&port, 1), 0);
	assert_int_equal(answer(&port, 3), 0);
	assert_int_equal(answer(&port, 2), 30 * US);
	port.now += US;
	assert_int_equal(answer(&port, 2), 0);
	port_close(&port);
}

/* ------------------------------------------------ flows that do not wait */

static void test_ungate(void **state)
{
	struct port port;
	u32 i, slot;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	wait_for_grant(&port, 0);
	wait_for_grant(&port, 1);
	pcrp_snd_ungate(&port.s, &port.p, 0, port.now);
	assert_int_equal(port_begun(&port), 1);
	assert_int_equal(port.s.stats.flows_ungated, 1);
	expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	for (i = 0; i < 3; i++) {
		/* with each chain it would ask; should it not, it goes on */
		assert_int_equal(pcrp_snd_pick(&port.s, &port.p, port.now, &slot),
				 PCRP_ACTION_REQUEST);
		assert_int_equal(slot, 0);
		pcrp_snd_ungate(&port.s, &port.p, 0, port.now);
		expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	}
	assert_int_equal(port.s.stats.flows_ungated, 1);
	assert_true(pcrp_flow_ended(port_flow(&port, 0)));
	assert_int_equal(port_flow(&port, 1)->state, PCRP_FLOW_WAITING);
	port_close(&port);
}

/* To find out whether the peer answers: a REQUEST with each chain, but a single first one */
static void test_ask_only(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	queue(&port, 0, 30, PCRP_GATE_ASK);
	for (i = 0; i < 3; i++) {
		expect_ask(&port, PCRP_ACTION_REQUEST, 0);
		expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	}
	expect_sleep(&port);

	queue(&port, 1, 10, PCRP_GATE_ASK);
	expect_data(&port, 1, 9, PCRP_PRIO_UNGATED);
	queue(&port, 1, 5, PCRP_GATE_ASK);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	expect_ask(&port, PCRP_ACTION_REQUEST, 1);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	expect_sleep(&port);
	assert_int_equal(port.s.stats.requests_sent, 4);
	assert_int_equal(port.s.stats.flows_ungated, 2);

	/* what has no peer never asks */
	queue(&port, 0, 30, PCRP_GATE_NONE);
	expect_data(&port, 0, 30, PCRP_PRIO_UNGATED);
	port_close(&port);
}

/* A flow that did not wait, and its peer answers: a chain still goes, then it waits. */
static void test_answer_gates(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 3, &port_ordinary);
	queue(&port, 0, 50, PCRP_GATE_ASK);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 5, PCRP_PRIO_UNGATED);
	assert_int_equal(port_grant(&port, 0, CHAIN, 6), PCRP_GRANT_IDLE);
	assert_int_equal(pcrp_list_first(&port.s, PCRP_LINK_EU, PCRP_LIST_BEGUN), 0);
	expect_data(&port, 0, 10, 6);
	expect_sleep(&port);
	port_grant(&port, 0, 35 * PKT, 5);
	expect_data(&port, 0, 10, 5);
	expect_sleep(&port);

	/* the answer grants something: the chain that goes and that one, in one */
	queue(&port, 1, 50, PCRP_GATE_ASK);
	expect_ask(&port, PCRP_ACTION_REQUEST, 1);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	assert_int_equal(port_grant(&port, 1, 20 * PKT, 4), PCRP_GRANT_NEWS);
	expect_data(&port, 1, 15, 4);
	expect_sleep(&port);

	/* a peer that was taken for silent is not */
	pcrp_snd_ungate(&port.s, &port.p, 1, port.now);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	port_grant(&port, 1, 20 * PKT, 4);
	expect_data(&port, 1, 10, 4);
	expect_sleep(&port);
	assert_int_equal(port.s.stats.flows_ungated, 3);
	port_close(&port);
}

/* A packet without payload stays behind those that it follows, and needs no GRANT. */
static void test_empty_packets(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	port_arrive(&port, 0, 0, 0, PCRP_GATE_GRANT);
	expect_ask(&port, PCRP_ACTION_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	expect_sleep(&port);
	port_grant(&port, 0, 2 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	assert_int_equal(port_flow(&port, 0)->state, PCRP_FLOW_READY);
	expect_data(&port, 0, 1, 4);
	assert_true(pcrp_flow_ended(port_flow(&port, 0)));
	assert_int_equal(port.s.stats.chains_granted, 1);
	port_close(&port);
}

/* ------------------------------------------------ slots */

/* New data after the end is a new flow, with a number of its own. */
static void test_next_flow(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	queue(&port, 0, 2, PCRP_GATE_GRANT);
	expect_data(&port, 0, 2, 0);
	no = port_flow(&port, 0)->flow_no;
	assert_true(pcrp_snd_starts(&port.s, 0));
	assert_int_equal(port_count(&port, PCRP_FLOW_IDLE), 1);
	queue(&port, 0, 2, PCRP_GATE_NONE);
	assert_int_equal(port_flow(&port, 0)->flow_no, no + 1);
	assert_int_equal(port_flow(&port, 0)->sent, 0);
	assert_int_equal(port_flow(&port, 0)->size, 2 * PKT);
	expect_data(&port, 0, 2, PCRP_PRIO_UNGATED);
	assert_int_equal(port_count(&port, PCRP_FLOW_IDLE), 1);

	pcrp_snd_reset(&port.s);
	assert_int_equal(port_count(&port, PCRP_FLOW_IDLE), 0);
	queue(&port, 1, 1, PCRP_GATE_GRANT);
	assert_int_equal(port_flow(&port, 1)->flow_no, no + 2);
	port_close(&port);
}

/* First slots that were never used, then those idle for the longest time; no others */
static void test_claim(void **state)
{
	static const u32 order[] = { 1, 0, 2 };
	struct port port;
	u32 i, slot;

	(void)state;
	port_open(&port, 3, &port_ordinary);
	for (i = 0; i < 3; i++) {
		slot = pcrp_snd_claim(&port.s, &port.p, port.now);
		assert_int_equal(slot, i);
		queue(&port, slot, 3 - i, PCRP_GATE_NONE);
	}
	assert_int_equal(pcrp_snd_claim(&port.s, &port.p, port.now), PCRP_NONE);
	while (port_step(&port).action == PCRP_ACTION_DATA)
		;
	assert_int_equal(port_count(&port, PCRP_FLOW_IDLE), 3);
	pcrp_snd_pass(&port.s, 2);
	for (i = 0; i < 3; i++) {
		slot = pcrp_snd_claim(&port.s, &port.p, port.now);
		assert_int_equal(slot, order[i]);
		assert_int_equal(port_count(&port, PCRP_FLOW_IDLE), 2 - i);
		queue(&port, slot, 1, PCRP_GATE_NONE);
	}
	port_close(&port);
}

/* A flow whose socket says that there is more, and then nothing comes */
static void test_dry(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_ordinary);
	port_arrive(&port, 0, PKT, 30 * PKT, PCRP_GATE_GRANT);
	port_arrive(&port, 1, PKT, 30 * PKT, PCRP_GATE_GRANT);
	while (port_step(&port).action != PCRP_ACTION_SLEEP)
		;
	assert_int_equal(port_count(&port, PCRP_FLOW_DRY), 2);
	port.now += SEC / 2;
	port_arrive(&port, 0, PKT, 29 * PKT, PCRP_GATE_GRANT);
	expect_data(&port, 0, 1, 2);
	port.now += SEC / 2 - 1;
	expect_sleep(&port);
	assert_int_equal(pcrp_snd_claim(&port.s, &port.p, port.now), PCRP_NONE);
	port.now++;
	assert_int_equal(pcrp_snd_claim(&port.s, &port.p, port.now), 1);
	queue(&port, 1, 1, PCRP_GATE_GRANT);
	assert_int_equal(port_begun(&port), 1);
	port.now += SEC / 2;
	expect_data(&port, 1, 1, 0);
	assert_true(pcrp_flow_ended(port_flow(&port, 0)));
	assert_int_equal(port_begun(&port), 0);
	assert_int_equal(port.s.stats.flows_finished, 3);
	port_close(&port);
}

/* ------------------------------------------------ what follows from the line */

static void test_line(void **state)
{
	(void)state;
	/* 10 Gbit/s, 20 us; 100 Gbit/s; bounds */
	assert_int_equal(pcrp_chain_auto(1250000000, 20000, 1500), 25000);
	assert_int_equal(pcrp_chain_auto(12500000000, 20000, 1500), 250000);
	assert_int_equal(pcrp_chain_auto(125000000, 20000, 1500), 3000);
	assert_int_equal(pcrp_chain_auto(1ULL << 40, 1000000, 1500), 4 << 20);
	assert_int_equal(pcrp_chain_auto(PCRP_RATE_MIN, 5000, 9000), 18000);
	/* eight chains of 25,000 bytes at 10 Gbit/s */
	assert_int_equal(pcrp_mfwt_auto(1250000000, 25000), 160000);
	assert_true(pcrp_mfwt_auto(PCRP_RATE_MIN, PCRP_CHAIN_MAX / 1024) > 60 * SEC);
	/* 1 % of the line */
	assert_int_equal(pcrp_probe_gap_ns(1250000000), 12000);
	assert_int_equal(pcrp_probe_gap_ns(PCRP_RATE_MIN) / SEC, 15000 / PCRP_RATE_MIN);
	/* two round trips and a chain's time; bounds */
	assert_int_equal(pcrp_probe_ns(20000, 1250000000, 25000), 60000);
	assert_int_equal(pcrp_probe_ns(100000, 12500000000, 125000), 210000);
	assert_int_equal(pcrp_probe_ns(5000, 12500000000, 3000), 50000);
	assert_int_equal(pcrp_probe_ns(1000000, PCRP_RATE_MIN, PCRP_CHAIN_MAX), 10 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_late),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_hold_chains),
		cmocka_unit_test(test_hold_line),
		cmocka_unit_test(test_probes_bounded),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_again_ended),
		cmocka_unit_test(test_again_then_new),
		cmocka_unit_test(test_grant_verdicts),
		cmocka_unit_test(test_grant_bounds),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_ungate),
		cmocka_unit_test(test_ask_only),
		cmocka_unit_test(test_answer_gates),
		cmocka_unit_test(test_empty_packets),
		cmocka_unit_test(test_next_flow),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests_name("pcrp_grant", tests, NULL, NULL);
}
