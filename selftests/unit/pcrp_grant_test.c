// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.c: GRANTs, ungated flows and slots; and sch/pcrp/pcrp_auto.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_auto.h"
#include "pcrp_port.h"

/* ------------------------------------------------ PROBE, hold */

/* Send the first of many chains, so that the flow waits. */
static void wait_for_grant(struct port *port, u32 slot)
{
	queue(port, slot, 50, PCRP_GATE_GRANT);
	expect_request(port, PCRP_TX_REQUEST, slot);
	expect_data(port, slot, 10, 3);
	assert_int_equal(port->flow[slot].state, PCRP_TX_WAITING);
}

/* Expect a PROBE after @ns, and no action before. */
static void expect_probe_in(struct port *port, u32 slot, u64 ns)
{
	assert_true(pcrp_tx_next_ns(&port->s) == port->now + ns);
	port->now += ns - 1;
	expect_sleep(port);
	port->now++;
	expect_request(port, PCRP_TX_PROBE, slot);
	expect_sleep(port);
}

static void test_probe(void **state)
{
	struct port port;
	u64 ns;

	(void)state;
	port_open(&port, 2, &port_default);
	wait_for_grant(&port, 0);
	for (ns = 2 * RTT; ns < 10 * MS; ns *= 2) {
		expect_probe_in(&port, 0, ns);
		/* a GRANT without effect does not reset the interval */
		assert_int_equal(port_grant(&port, 0, CHAIN, 4), PCRP_GRANT_IDLE);
	}
	expect_probe_in(&port, 0, 10 * MS);
	expect_probe_in(&port, 0, 10 * MS);

	/* a granted chain does; the interval begins with the last packet */
	port_grant(&port, 0, 2 * CHAIN, 4);
	port.now += MS;
	expect_data(&port, 0, 10, 4);
	expect_probe_in(&port, 0, 2 * RTT);
	assert_int_equal(port.flow[0].request_no, port.s.stats.probes_sent + 1);
	port_close(&port);
}

/* A packet that arrives when a GRANT is long overdue triggers a PROBE at once. */
static void test_probe_late(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_default);
	port_arrive(&port, 0, CHAIN, 5 * PKT, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 1, 2);
	port.now += MS;
	expect_sleep(&port);
	port_arrive(&port, 0, PKT, 4 * PKT, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_PROBE, 0);
	port_close(&port);
}

/* Let time pass until a packet leaves without a GRANT, which must be at @at_ns. */
static void expect_overdue_at(struct port *port, u32 slot, u64 at_ns)
{
	struct step step;

	do {
		port->now = max_t(u64, port->now, pcrp_tx_next_ns(&port->s));
		step = port_step(port);
	} while (step.action == PCRP_TX_PROBE);
	assert_true(port->now == at_ns);
	assert_int_equal(step.action, PCRP_TX_DATA);
	assert_int_equal(step.slot, slot);
	assert_int_equal(step.prio, 7);
}

/* A chain leaves without a GRANT 100 ms after its first packet was queued, no sooner. */
static void test_hold(void **state)
{
	struct port port;
	u64 begin;
	u32 round;

	(void)state;
	port_open(&port, 2, &port_default);
	begin = port.now;
	for (round = 0; round < 4; round++, port.now += 30 * MS)
		queue(&port, 0, 10, PCRP_GATE_GRANT);
	port.now = begin;
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	for (round = 1; round <= 3; round++) {
		expect_overdue_at(&port, 0, begin + round * 30 * MS + 100 * MS);
		expect_data(&port, 0, 9, 7);
		assert_int_equal(port.s.stats.chains_overdue, round);
	}
	assert_true(pcrp_tx_ended(&port.flow[0]));
	port_close(&port);
}

/* Chains that were queued together leave together: no packet waits longer than hold. */
static void test_hold_chains(void **state)
{
	struct port port;
	u64 begin;

	(void)state;
	port_open(&port, 2, &port_default);
	begin = port.now;
	wait_for_grant(&port, 0);
	expect_overdue_at(&port, 0, begin + 100 * MS);
	expect_data(&port, 0, 29, 7);
	assert_int_equal(port.s.stats.chains_overdue, 3);
	/* a GRANT for bytes that have left has no effect */
	assert_int_equal(port_grant(&port, 0, 4 * CHAIN, 4), PCRP_GRANT_IDLE);
	port_grant(&port, 0, 5 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	assert_int_equal(port.s.stats.chains_granted, 1);
	port_close(&port);
}

/* Time that a packet has waited for the link counts towards hold. */
static void test_hold_line(void **state)
{
	struct port port;
	u64 begin;

	(void)state;
	port_open(&port, 2, &port_default);
	begin = port.now;
	queue(&port, 0, 30, PCRP_GATE_GRANT);
	port.now += 60 * MS;
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	expect_overdue_at(&port, 0, begin + 100 * MS);
	port_close(&port);
}

/* A packet that was queued before its flow had to wait is held from when the flow waits. */
static void test_hold_unknown(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 30, PCRP_GATE_GRANT);
	for (i = 0; i < 30; i++)
		port.fifo[0].at_ns[i] = 0;	/* as pcrp_enqueue() without the clock */
	port.now += 60 * MS;
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	expect_overdue_at(&port, 0, port.now + 100 * MS);
	port_close(&port);
}

/* ------------------------------------------------ PROBEs of many flows */

/* Make each flow of a port wait for a GRANT. */
static void wait_all(struct port *port, u32 flows)
{
	u32 i;

	for (i = 0; i < flows; i++)
		port_arrive(port, i, CHAIN, 2 * CHAIN, PCRP_GATE_GRANT);
	for (i = 0; i < flows; i++)
		port_arrive(port, i, PKT, CHAIN, PCRP_GATE_GRANT);
	while (port_step(port).action != PCRP_TX_SLEEP)
		;
	assert_int_equal(port_count(port, PCRP_TX_WAITING), flows);
}

/* All PROBEs together use 1 % of the link, and flows take turns. */
static void test_probes_bounded(void **state)
{
	u32 probes = 0, flows = 1000, i, probed[1000] = {};
	struct pcrp_tx_params p = port_default;
	struct step step;
	struct port port;
	u64 begin, end;

	(void)state;
	p.hold_ns = SEC;
	port_open(&port, flows, &p);
	wait_all(&port, flows);
	begin = port.now;
	end = begin + 50 * MS;
	for (; port.now < end; port.now += US) {
		step = port_step(&port);
		for (; step.action == PCRP_TX_PROBE; step = port_step(&port)) {
			probed[step.slot]++;
			probes++;
		}
		assert_int_equal(step.action, PCRP_TX_SLEEP);
		assert_true(pcrp_tx_next_ns(&port.s) > port.now);
		assert_in_range(probes, 0, PCRP_PROBE_BURST +
				(port.now - begin) / p.probe_gap_ns);
	}
	/* the whole budget is used */
	assert_in_range(probes, (end - begin) / p.probe_gap_ns - 20,
			(end - begin) / p.probe_gap_ns + PCRP_PROBE_BURST);
	for (i = 0; i < flows; i++)
		assert_in_range(probed[i], 3, 6);
	port_close(&port);
}

/* All PROBEs of two senders of a link together use 1 % of it, half of them each. */
static void test_probes_shared(void **state)
{
	u32 flows = 500, i, probes[2] = {}, most = 0;
	struct pcrp_tx_params p = port_default;
	struct port port[2];
	u64 begin;

	(void)state;
	p.hold_ns = SEC;
	for (i = 0; i < 2; i++) {
		port_open(&port[i], flows, &p);
		port[i].s.link = &port[0].link;
		wait_all(&port[i], flows);
	}
	begin = port[0].now;
	for (; port[0].now < begin + 50 * MS; port[0].now += US) {
		port[1].now = port[0].now;
		for (i = 0; i < 2; i++)
			while (port_step(&port[i]).action == PCRP_TX_PROBE)
				probes[i]++;
		most = PCRP_PROBE_BURST + 2 + (port[0].now - begin) / p.probe_gap_ns;
		assert_in_range(probes[0] + probes[1], 0, most);
	}
	for (i = 0; i < 2; i++) {
		assert_in_range(probes[i], most / 2 - 20, most / 2 + 20);
		port_close(&port[i]);
	}
}

/* A flow has a higher number than all earlier ones of the link, whichever sender they have. */
static void test_flow_numbers(void **state)
{
	struct port port[2];
	u32 i, no;

	(void)state;
	for (i = 0; i < 2; i++) {
		port_open(&port[i], 3, &port_default);
		port[i].s.link = &port[0].link;
	}
	no = (u32)atomic64_read(&port[0].link.flow_no);
	for (i = 0; i < 6; i++) {
		port_arrive(&port[i % 2], i / 2, PKT, 0, PCRP_GATE_GRANT);
		assert_int_equal(port[i % 2].flow[i / 2].flow_no, ++no);
	}
	for (i = 0; i < 2; i++)
		port_close(&port[i]);
}

/* ------------------------------------------------ retransmissions */

static void expect_retrans(struct port *port, u32 slot, u8 prio)
{
	struct step step = port_step(port);

	assert_int_equal(step.action, PCRP_TX_DATA);
	assert_int_equal(step.slot, slot);
	assert_true(step.retrans);
	assert_int_equal(step.prio, prio);
}

/* Retransmissions need no GRANT, precede new data, and do not prolong its wait. */
static void test_retrans(void **state)
{
	struct port port;
	u64 begin, sent;

	(void)state;
	port_open(&port, 2, &port_default);
	begin = port.now;
	wait_for_grant(&port, 0);
	sent = port.flow[0].sent;
	expect_sleep(&port);
	port.now += 20 * MS;
	port_retransmit(&port, 0);
	port_retransmit(&port, 0);
	assert_int_equal(port.flow[0].state, PCRP_TX_READY);
	expect_retrans(&port, 0, 3);
	expect_retrans(&port, 0, 3);
	assert_int_equal(port.flow[0].state, PCRP_TX_WAITING);
	assert_true(port.flow[0].sent == sent);
	assert_int_equal(port.flow[0].size, 50 * PKT);
	expect_overdue_at(&port, 0, begin + 100 * MS);

	/* before a granted chain: its REQUEST waits for the chain's own first packet */
	expect_data(&port, 0, 9, 7);
	port_grant(&port, 0, 4 * CHAIN, 4);
	expect_data(&port, 0, 20, 4);
	queue(&port, 0, 1, PCRP_GATE_GRANT);
	port_retransmit(&port, 0);
	port_grant(&port, 0, 51 * PKT, 5);
	expect_retrans(&port, 0, 4);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 11, 5);
	port_close(&port);
}

/* Retransmissions of a finished flow have its priority and restart nothing. */
static void test_retrans_ended(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	port_grant(&port, 0, 20 * PKT, 5);
	expect_data(&port, 0, 10, 5);
	assert_true(pcrp_tx_ended(&port.flow[0]));
	no = port.flow[0].flow_no;

	/* its socket has new data that is not queued yet */
	port.unsent[0] = 100 * PKT;
	port_retransmit(&port, 0);
	port_retransmit(&port, 0);
	assert_int_equal(port.flow[0].flow_no, no);
	assert_true(pcrp_tx_finished(&port.flow[0]));
	assert_int_equal(port_grant(&port, 0, 30 * PKT, 4), PCRP_GRANT_LATE);
	expect_retrans(&port, 0, 5);
	assert_false(pcrp_tx_ended(&port.flow[0]));
	expect_retrans(&port, 0, 5);
	assert_false(pcrp_tx_ended(&port.flow[0]));
	assert_int_equal(port.flow[0].state, PCRP_TX_IDLE);
	assert_int_equal(port.flow[0].size, 20 * PKT);
	assert_int_equal(port.s.stats.flows_started, 1);
	assert_int_equal(port.s.stats.flows_finished, 1);
	assert_int_equal(port.s.stats.requests_sent, 1);
	expect_sleep(&port);
	port_close(&port);
}

/* New data behind retransmissions of a finished flow starts the next flow. */
static void test_retrans_then_new(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 5, PCRP_GATE_GRANT);
	expect_data(&port, 0, 5, 1);
	no = port.flow[0].flow_no;
	port_retransmit(&port, 0);
	/* a FIN without data starts no flow */
	port_arrive(&port, 0, 0, 0, PCRP_GATE_GRANT);
	assert_int_equal(port.flow[0].flow_no, no);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	assert_int_equal(port.flow[0].flow_no, no + 1);
	assert_int_equal(port.flow[0].size, 20 * PKT);
	expect_retrans(&port, 0, 1);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 1, 2);
	expect_data(&port, 0, 10, 2);
	expect_sleep(&port);
	assert_int_equal(port.flow[0].sent, 10 * PKT);
	assert_int_equal(port.s.stats.flows_started, 2);
	assert_int_equal(port.s.stats.flows_finished, 1);
	port_close(&port);
}

/* ------------------------------------------------ GRANTs */

/* @slot: PORT_NONE: a slot that does not exist */
static enum pcrp_grant_result grant_no(struct port *port, u32 slot, u32 flow_no)
{
	struct pcrp_tx_flow *f = slot == PORT_NONE ? NULL : &port->flow[slot];
	const struct pcrp_grant g = { .granted = 2 * CHAIN, .flow_no = flow_no, .prio = 4 };
	u64 rtt_ns;

	return pcrp_tx_grant(&port->s, f, &g, port->now, &rtt_ns);
}

static void test_grant_results(void **state)
{
	struct port port;
	u32 no;

	(void)state;
	port_open(&port, 4, &port_default);
	assert_int_equal(grant_no(&port, 0, 0), PCRP_GRANT_REFUSED);
	assert_int_equal(grant_no(&port, 1, 0), PCRP_GRANT_REFUSED);
	assert_int_equal(grant_no(&port, PORT_NONE, 0), PCRP_GRANT_REFUSED);
	wait_for_grant(&port, 0);
	no = port.flow[0].flow_no;
	assert_int_equal(grant_no(&port, 0, no - 1), PCRP_GRANT_LATE);
	assert_int_equal(grant_no(&port, 0, no + 1), PCRP_GRANT_REFUSED);
	assert_int_equal(port.flow[0].granted, CHAIN);
	assert_false(port.flow[0].known);
	assert_int_equal(grant_no(&port, 0, no), PCRP_GRANT_NEW);
	assert_true(port.flow[0].known);
	assert_int_equal(grant_no(&port, 0, no), PCRP_GRANT_IDLE);

	/* a GRANT for an ungated flow, and for a finished one */
	queue(&port, 1, 1, PCRP_GATE_NONE);
	assert_int_equal(grant_no(&port, 1, no + 1), PCRP_GRANT_LATE);
	pcrp_tx_ungate(&port.s, &port.flow[0], port.now);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	assert_int_equal(grant_no(&port, 1, no + 1), PCRP_GRANT_LATE);
	assert_int_equal(port.s.stats.grants_received, 1);
	assert_int_equal(port.s.stats.grants_idle, 1);
	assert_int_equal(port.s.stats.grants_late, 3);
	assert_int_equal(port.s.stats.grants_refused, 4);
	port_close(&port);
}

/* GRANTs activate at most two chains, and priorities P4..P7. */
static void test_grant_bounds(void **state)
{
	static const struct { u8 in_grant, in_use; } prios[] = {
		{ 0, 4 }, { 3, 4 }, { 4, 4 }, { 7, 7 }, { 8, 7 }, { 255, 7 },
	};
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_default);
	wait_for_grant(&port, 0);
	for (i = 0; i < 3; i++)
		port_grant(&port, 0, U64_MAX, 4);
	assert_int_equal(port.flow[0].granted, 3 * CHAIN);
	expect_data(&port, 0, 20, 4);
	expect_sleep(&port);
	for (i = 0; i < sizeof(prios) / sizeof(*prios); i++) {
		port_grant(&port, 0, 3 * CHAIN + (i + 1) * PKT, prios[i].in_grant);
		expect_data(&port, 0, 1, prios[i].in_use);
	}
	port_close(&port);
}

static u64 answer(struct port *port, u32 request_no)
{
	const struct pcrp_grant g = {
		.granted = CHAIN, .flow_no = port->flow[0].flow_no,
		.request_no = request_no, .prio = 4,
	};
	u64 rtt_ns;

	pcrp_tx_grant(&port->s, &port->flow[0], &g, port->now, &rtt_ns);
	return rtt_ns;
}

/* The round trip is the time from the newest REQUEST or PROBE to its first answer. */
static void test_round_trip(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_default);
	wait_for_grant(&port, 0);
	port.now += 2 * RTT;
	expect_request(&port, PCRP_TX_PROBE, 0);
	port.now += 30 * US;
	assert_int_equal(answer(&port, 0), 0);
	assert_int_equal(answer(&port, 1), 0);
	assert_int_equal(answer(&port, 3), 0);
	assert_int_equal(answer(&port, 2), 30 * US);
	port.now += US;
	assert_int_equal(answer(&port, 2), 0);
	port_close(&port);
}

/* ------------------------------------------------ ungated flows */

static void test_ungate(void **state)
{
	struct port port;
	struct pcrp_tx_pick pick;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_default);
	wait_for_grant(&port, 0);
	wait_for_grant(&port, 1);
	pcrp_tx_ungate(&port.s, &port.flow[0], port.now);
	assert_int_equal(port_begun(&port), 1);
	assert_int_equal(port.s.stats.flows_ungated, 1);
	expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	for (i = 0; i < 3; i++) {
		/* each chain has a REQUEST, unless the flow is ungated again */
		pick = pcrp_tx_pick(&port.s, port.now);
		assert_int_equal(pick.action, PCRP_TX_REQUEST);
		assert_ptr_equal(pick.flow, &port.flow[0]);
		pcrp_tx_ungate(&port.s, &port.flow[0], port.now);
		expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	}
	assert_int_equal(port.s.stats.flows_ungated, 1);
	assert_true(pcrp_tx_ended(&port.flow[0]));
	assert_int_equal(port.flow[1].state, PCRP_TX_WAITING);
	port_close(&port);
}

/* An ungated flow sends a REQUEST with each chain, if it has more than one. */
static void test_discover(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 30, PCRP_GATE_DISCOVER);
	for (i = 0; i < 3; i++) {
		expect_request(&port, PCRP_TX_REQUEST, 0);
		expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	}
	expect_sleep(&port);

	queue(&port, 1, 10, PCRP_GATE_DISCOVER);
	expect_data(&port, 1, 9, PCRP_PRIO_UNGATED);
	queue(&port, 1, 5, PCRP_GATE_DISCOVER);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	expect_request(&port, PCRP_TX_REQUEST, 1);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	expect_sleep(&port);
	assert_int_equal(port.s.stats.requests_sent, 4);
	assert_int_equal(port.s.stats.flows_ungated, 2);

	/* a flow without a peer sends no REQUESTs */
	queue(&port, 0, 30, PCRP_GATE_NONE);
	expect_data(&port, 0, 30, PCRP_PRIO_UNGATED);
	port_close(&port);
}

/* An answer gates an ungated flow: it sends one more chain, and then waits. */
static void test_answer_gates(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 3, &port_default);
	queue(&port, 0, 50, PCRP_GATE_DISCOVER);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, PCRP_PRIO_UNGATED);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 5, PCRP_PRIO_UNGATED);
	assert_int_equal(port_grant(&port, 0, CHAIN, 6), PCRP_GRANT_IDLE);
	assert_int_equal(port_begun(&port), 1);
	expect_data(&port, 0, 10, 6);
	expect_sleep(&port);
	port_grant(&port, 0, 35 * PKT, 5);
	expect_data(&port, 0, 10, 5);
	expect_sleep(&port);

	/* an answer that activates bytes extends the chain that is being sent */
	queue(&port, 1, 50, PCRP_GATE_DISCOVER);
	expect_request(&port, PCRP_TX_REQUEST, 1);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	assert_int_equal(port_grant(&port, 1, 20 * PKT, 4), PCRP_GRANT_NEW);
	expect_data(&port, 1, 15, 4);
	expect_sleep(&port);

	/* an answer gates a flow that was ungated because its peer seemed silent */
	pcrp_tx_ungate(&port.s, &port.flow[1], port.now);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	port_grant(&port, 1, 20 * PKT, 4);
	expect_data(&port, 1, 10, 4);
	expect_sleep(&port);
	assert_int_equal(port.s.stats.flows_ungated, 3);
	port_close(&port);
}

/* A packet without payload keeps its place and needs no GRANT. */
static void test_empty_packets(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	port_arrive(&port, 0, 0, 0, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	expect_sleep(&port);
	port_grant(&port, 0, 2 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	assert_int_equal(port.flow[0].state, PCRP_TX_READY);
	expect_data(&port, 0, 1, 4);
	assert_true(pcrp_tx_ended(&port.flow[0]));
	assert_int_equal(port.s.stats.chains_granted, 1);
	port_close(&port);
}

/* ------------------------------------------------ slots */

/* New data after a flow's end starts a flow with its own number. */
static void test_next_flow(void **state)
{
	struct port port;
	u32 no, i;

	(void)state;
	port_open(&port, 2, &port_default);
	queue(&port, 0, 2, PCRP_GATE_GRANT);
	expect_data(&port, 0, 2, 0);
	no = port.flow[0].flow_no;
	assert_true(pcrp_tx_finished(&port.flow[0]));
	assert_int_equal(port_count(&port, PCRP_TX_IDLE), 1);
	queue(&port, 0, 2, PCRP_GATE_NONE);
	assert_int_equal(port.flow[0].flow_no, no + 1);
	assert_int_equal(port.flow[0].sent, 0);
	assert_int_equal(port.flow[0].size, 2 * PKT);
	expect_data(&port, 0, 2, PCRP_PRIO_UNGATED);
	assert_int_equal(port_count(&port, PCRP_TX_IDLE), 1);

	pcrp_tx_reset(&port.s);
	for (i = 0; i < 2; i++)
		pcrp_tx_add_slot(&port.s, &port.flow[i]);
	assert_int_equal(port_count(&port, PCRP_TX_IDLE), 0);
	queue(&port, 1, 1, PCRP_GATE_GRANT);
	assert_int_equal(port.flow[1].flow_no, no + 2);
	port_close(&port);
}

/* Unused slots are claimed first, then the slot that has been idle for longest. */
static void test_claim(void **state)
{
	static const u32 order[] = { 1, 0, 2 };
	struct port port;
	u32 i, slot;

	(void)state;
	port_open(&port, 3, &port_default);
	for (i = 0; i < 3; i++) {
		slot = port_claim(&port);
		assert_int_equal(slot, i);
		queue(&port, slot, 3 - i, PCRP_GATE_NONE);
	}
	assert_int_equal(port_claim(&port), PORT_NONE);
	while (port_step(&port).action == PCRP_TX_DATA)
		;
	assert_int_equal(port_count(&port, PCRP_TX_IDLE), 3);
	pcrp_tx_defer_claim(&port.s, &port.flow[2]);
	for (i = 0; i < 3; i++) {
		slot = port_claim(&port);
		assert_int_equal(slot, order[i]);
		assert_int_equal(port_count(&port, PCRP_TX_IDLE), 2 - i);
		queue(&port, slot, 1, PCRP_GATE_NONE);
	}
	port_close(&port);
}

/* A flow whose socket promises data is finished if none comes for a second. */
static void test_dry(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 2, &port_default);
	port_arrive(&port, 0, PKT, 30 * PKT, PCRP_GATE_GRANT);
	port_arrive(&port, 1, PKT, 30 * PKT, PCRP_GATE_GRANT);
	while (port_step(&port).action != PCRP_TX_SLEEP)
		;
	assert_int_equal(port_count(&port, PCRP_TX_DRY), 2);
	port.now += SEC / 2;
	port_arrive(&port, 0, PKT, 29 * PKT, PCRP_GATE_GRANT);
	expect_data(&port, 0, 1, 2);
	port.now += SEC / 2 - 1;
	expect_sleep(&port);
	assert_int_equal(port_claim(&port), PORT_NONE);
	port.now++;
	assert_int_equal(port_claim(&port), 1);
	queue(&port, 1, 1, PCRP_GATE_GRANT);
	assert_int_equal(port_begun(&port), 1);
	port.now += SEC / 2;
	expect_data(&port, 1, 1, 0);
	assert_true(pcrp_tx_ended(&port.flow[0]));
	assert_int_equal(port_begun(&port), 0);
	assert_int_equal(port.s.stats.flows_finished, 3);
	port_close(&port);
}

/* ------------------------------------------------ pcrp_auto.c */

static void test_auto(void **state)
{
	(void)state;
	/* 10 Gbit/s and 20 µs; 100 Gbit/s; bounds */
	assert_int_equal(pcrp_auto_chain(1250000000, 20000, 1500), 25000);
	assert_int_equal(pcrp_auto_chain(12500000000, 20000, 1500), 250000);
	assert_int_equal(pcrp_auto_chain(125000000, 20000, 1500), 3000);
	assert_int_equal(pcrp_auto_chain(1ULL << 40, 1000000, 1500), 4 << 20);
	assert_int_equal(pcrp_auto_chain(PCRP_RATE_MIN, 5000, 9000), 18000);
	/* eight chains of 25,000 bytes at 10 Gbit/s */
	assert_int_equal(pcrp_auto_mfwt(1250000000, 25000), 160000);
	assert_true(pcrp_auto_mfwt(PCRP_RATE_MIN, PCRP_CHAIN_MAX / 1024) > 60 * SEC);
	/* 1 % of the link */
	assert_int_equal(pcrp_auto_probe_gap_ns(1250000000), 12000);
	assert_int_equal(pcrp_auto_probe_gap_ns(PCRP_RATE_MIN) / SEC, 15000 / PCRP_RATE_MIN);
	/* two round trips and the time of a chain; bounds */
	assert_int_equal(pcrp_auto_probe_ns(20000, 1250000000, 25000), 60000);
	assert_int_equal(pcrp_auto_probe_ns(100000, 12500000000, 125000), 210000);
	assert_int_equal(pcrp_auto_probe_ns(5000, 12500000000, 3000), 50000);
	assert_int_equal(pcrp_auto_probe_ns(1000000, PCRP_RATE_MIN, PCRP_CHAIN_MAX), 10 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_late),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_hold_chains),
		cmocka_unit_test(test_hold_line),
		cmocka_unit_test(test_hold_unknown),
		cmocka_unit_test(test_probes_bounded),
		cmocka_unit_test(test_probes_shared),
		cmocka_unit_test(test_flow_numbers),
		cmocka_unit_test(test_retrans),
		cmocka_unit_test(test_retrans_ended),
		cmocka_unit_test(test_retrans_then_new),
		cmocka_unit_test(test_grant_results),
		cmocka_unit_test(test_grant_bounds),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_ungate),
		cmocka_unit_test(test_discover),
		cmocka_unit_test(test_answer_gates),
		cmocka_unit_test(test_empty_packets),
		cmocka_unit_test(test_next_flow),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_auto),
	};

	return cmocka_run_group_tests_name("pcrp_grant", tests, NULL, NULL);
}
