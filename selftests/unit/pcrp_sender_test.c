// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.c: chains, growing sizes and the choice of the next flow: each
 * rule of the specification, and its examples
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pcrp_port.h"

/* Send up to the next data packet. Return: its slot */
static u32 next_data(struct port *port)
{
	struct step step;

	do {
		step = port_step(port);
		assert_int_not_equal(step.action, PCRP_TX_SLEEP);
	} while (step.action != PCRP_TX_DATA);
	return step.slot;
}

/* ------------------------------------------------ chains */

/* The fields that every packet uses fit into two cache lines. */
static void test_layout(void **state)
{
	(void)state;
	assert_true(offsetof(struct pcrp_tx_flow, probe) <= 128);
	assert_true(offsetof(struct pcrp_tx_flow, overdue) < 64);
}

/* The first of three chains is sent at once, the next two by GRANTs, with their priorities. */
static void test_three_chains(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 4, &port_default);
	queue(&port, 0, 30, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	assert_int_equal(port.flow[0].announced, 3 * CHAIN);
	assert_int_equal(port.flow[0].chain_no, 1);
	assert_int_equal(port.flow[0].request_no, 1);
	expect_data(&port, 0, 10, 2);
	expect_sleep(&port);
	assert_int_equal(port_count(&port, PCRP_TX_WAITING), 1);

	assert_int_equal(port_grant(&port, 0, 2 * CHAIN, 4), PCRP_GRANT_NEW);
	assert_int_equal(port_count(&port, PCRP_TX_READY), 1);
	expect_data(&port, 0, 5, 4);
	assert_int_equal(port.flow[0].chain_no, 2);

	/* after an early GRANT the flow does not stop; the priority changes between chains */
	assert_int_equal(port_grant(&port, 0, 3 * CHAIN, 5), PCRP_GRANT_NEW);
	expect_data(&port, 0, 5, 4);
	expect_data(&port, 0, 10, 5);
	expect_sleep(&port);

	assert_true(pcrp_tx_ended(&port.flow[0]));
	assert_int_equal(port.flow[0].size, 3 * CHAIN);
	assert_int_equal(port.s.stats.chains_speculative, 1);
	assert_int_equal(port.s.stats.chains_granted, 2);
	assert_int_equal(port.s.stats.requests_sent, 1);
	assert_int_equal(port.s.stats.grants_received, 2);
	assert_int_equal(port.s.stats.flows_finished, 1);
	assert_int_equal(port.s.stats.prio_packets[2], 10);
	assert_int_equal(port.s.stats.prio_packets[4], 10);
	assert_int_equal(port.s.stats.prio_packets[5], 10);
	assert_int_equal(port.s.stats.eu_packets, 30);
	port_close(&port);
}

/* A flow of one chain sends no REQUEST, a flow of a byte more does. */
static void test_one_chain(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 4, &port_default);
	queue(&port, 0, 10, PCRP_GATE_GRANT);
	expect_data(&port, 0, 10, 1);
	expect_sleep(&port);
	assert_int_equal(port.s.stats.requests_sent, 0);
	assert_true(pcrp_tx_next_ns(&port.s) == U64_MAX);

	port_arrive(&port, 1, CHAIN + 1, 0, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 1);
	expect_data(&port, 1, 1, 2);
	expect_sleep(&port);
	port_close(&port);
}

/* A packet whose first byte may be sent is sent whole. */
static void test_overshoot(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 4, &port_default);
	for (i = 0; i < 6; i++)
		port_arrive(&port, 0, 9999, 0, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 2, 3);
	expect_sleep(&port);
	port_grant(&port, 0, 2 * CHAIN, 4);
	expect_data(&port, 0, 1, 4);
	expect_sleep(&port);
	assert_int_equal(port.flow[0].sent, 3 * 9999);
	port_close(&port);
}

/* The first chain has P0..P3 by the flow's size: bytes in the qdisc and in the socket. */
static void test_first_priority(void **state)
{
	static const struct { u32 unsent; u8 prio; } sizes[] = {
		{ 0, 0 }, { CHAIN / 4 - PKT, 0 }, { CHAIN / 4 - PKT + 1, 1 },
		{ CHAIN - PKT, 1 }, { CHAIN - PKT + 1, 2 }, { 4 * CHAIN - PKT, 2 },
		{ 4 * CHAIN - PKT + 1, 3 }, { UINT32_MAX, 3 },
	};
	struct step step;
	struct port port;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		port_open(&port, 1, &port_default);
		port_arrive(&port, 0, PKT, sizes[i].unsent, PCRP_GATE_GRANT);
		step = port_step(&port);
		if (step.action == PCRP_TX_REQUEST) {
			assert_int_equal(step.prio, sizes[i].prio);
			step = port_step(&port);
		}
		assert_int_equal(step.prio, sizes[i].prio);
		port_close(&port);
	}
}

/* The first chain may be shorter or longer than later ones. */
static void test_first_length(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;

	(void)state;
	p.first_bytes = 3 * PKT;
	port_open(&port, 2, &p);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 3, 2);
	expect_sleep(&port);
	port_close(&port);

	p.first_bytes = 2 * CHAIN;
	port_open(&port, 2, &p);
	queue(&port, 0, 20, PCRP_GATE_GRANT);
	expect_data(&port, 0, 20, 2);
	port_close(&port);
}

/* ------------------------------------------------ sizes that grow */

/* A flow that outgrows its first chain sends one REQUEST. */
static void test_outgrows(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 4, &port_default);
	queue(&port, 0, 10, PCRP_GATE_GRANT);
	expect_data(&port, 0, 3, 1);
	queue(&port, 0, 1, PCRP_GATE_GRANT);
	assert_true(pcrp_tx_next_ns(&port.s) == 0);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	assert_int_equal(port.flow[0].announced, 11 * PKT);
	queue(&port, 0, 1, PCRP_GATE_GRANT);
	expect_data(&port, 0, 7, 1);
	expect_sleep(&port);

	/* the flow is longer than the size that the receiver knows and has granted */
	port_grant(&port, 0, 11 * PKT, 4);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	assert_int_equal(port.flow[0].announced, 12 * PKT);
	expect_data(&port, 0, 1, 4);
	expect_sleep(&port);
	port_close(&port);
}

/* A later chain has a REQUEST if the flow is longer than it has announced. */
static void test_later_request(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 4, &port_default);
	queue(&port, 0, 40, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 10, 2);
	port_grant(&port, 0, 2 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	queue(&port, 0, 1, PCRP_GATE_GRANT);
	port_grant(&port, 0, 3 * CHAIN, 4);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	assert_int_equal(port.flow[0].announced, 41 * PKT);
	expect_data(&port, 0, 10, 4);
	port_grant(&port, 0, 4 * CHAIN, 4);
	expect_data(&port, 0, 10, 4);
	expect_sleep(&port);
	port_close(&port);
}

/* A flow that grows with each packet sends one REQUEST per chain. */
static void test_grows_within_chain(void **state)
{
	struct port port;
	u32 i;

	(void)state;
	port_open(&port, 4, &port_default);
	port_arrive(&port, 0, CHAIN, 1, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 1, 2);
	port_grant(&port, 0, 2 * CHAIN, 4);
	port_arrive(&port, 0, PKT, 1, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 1, 4);
	for (i = 2; i < 10; i++) {
		port_arrive(&port, 0, PKT, 1, PCRP_GATE_GRANT);
		expect_data(&port, 0, 1, 4);
	}
	port_arrive(&port, 0, PKT, 1, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	expect_data(&port, 0, 1, 4);
	expect_sleep(&port);
	port_close(&port);
}

/* A REQUEST waits for a packet that it can go beside. */
static void test_request_beside_packet(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 4, &port_default);
	port_arrive(&port, 0, CHAIN, 1, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	port.unsent[0] = CHAIN;
	expect_data(&port, 0, 1, 2);
	assert_int_equal(port_count(&port, PCRP_TX_DRY), 1);
	port_grant(&port, 0, CHAIN + 1, 4);
	assert_true(pcrp_tx_next_ns(&port.s) == U64_MAX);
	expect_sleep(&port);
	port_arrive(&port, 0, PKT, CHAIN - PKT, PCRP_GATE_GRANT);
	expect_request(&port, PCRP_TX_REQUEST, 0);
	assert_int_equal(port.flow[0].announced, 2 * CHAIN);
	port_close(&port);
}

/* ------------------------------------------------ the next flow */

/* Begin a flow: queue its packets and send the first. */
static void begin(struct port *port, u32 slot, u32 packets)
{
	queue(port, slot, packets, PCRP_GATE_GRANT);
	assert_int_equal(next_data(port), slot);
}

/*
 * The specification's example. Flow 4 began first. Flow 2 has fewer bytes left and is
 * ready, but flow 4 precedes it. Flow 3 has still fewer, and waits for a GRANT.
 */
static void test_eu_example(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;
	u32 i;

	(void)state;
	p.eu = false;
	port_open(&port, 5, &p);
	begin(&port, 4, 40);
	queue(&port, 3, 15, PCRP_GATE_GRANT);
	for (i = 0; i < 10; i++)
		assert_int_equal(next_data(&port), 3);
	queue(&port, 2, 20, PCRP_GATE_GRANT);
	assert_int_equal(next_data(&port), 2);
	assert_int_equal(port.flow[3].state, PCRP_TX_WAITING);

	port.p.eu = true;
	for (i = 0; i < 9; i++)
		assert_int_equal(next_data(&port), 4);
	assert_int_equal(port.flow[4].state, PCRP_TX_WAITING);
	assert_int_equal(next_data(&port), 2);
	port_grant(&port, 3, 15 * PKT, 4);
	assert_int_equal(next_data(&port), 3);
	port_grant(&port, 4, 2 * CHAIN, 5);
	assert_int_equal(next_data(&port), 4);
	assert_int_equal(port.s.stats.eu_packets, 10);
	port_close(&port);
}

/* When the EU flow finishes, the unfinished flow that began next succeeds it. */
static void test_eu_succession(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;

	(void)state;
	p.eu = false;
	port_open(&port, 5, &p);
	begin(&port, 0, 10);
	begin(&port, 1, 8);
	begin(&port, 2, 6);
	begin(&port, 3, 2);
	expect_data(&port, 3, 1, 0);
	port.p.eu = true;
	queue(&port, 4, 1, PCRP_GATE_GRANT);
	expect_data(&port, 0, 9, 1);
	expect_data(&port, 1, 7, 1);
	expect_data(&port, 2, 5, 1);
	expect_data(&port, 4, 1, 0);
	expect_sleep(&port);
	assert_int_equal(port_begun(&port), 0);
	port_close(&port);
}

/* An ungated flow is never the EU flow, as it would never stop for a GRANT. */
static void test_eu_not_ungated(void **state)
{
	struct port port;

	(void)state;
	port_open(&port, 3, &port_default);
	queue(&port, 0, 40, PCRP_GATE_NONE);
	expect_data(&port, 0, 2, PCRP_PRIO_UNGATED);
	queue(&port, 1, 5, PCRP_GATE_GRANT);
	expect_data(&port, 1, 5, 1);
	expect_data(&port, 0, 38, PCRP_PRIO_UNGATED);
	assert_int_equal(port.s.stats.ungated_packets, 40);
	assert_int_equal(port.s.stats.eu_packets, 4);
	port_close(&port);
}

/* Classes are narrow, ascend with the bytes, and end below PCRP_CLASS_NONE. */
static void test_class(void **state)
{
	u64 bytes, first = 0;
	u32 class, last = 0;

	(void)state;
	assert_int_equal(pcrp_tx_class(0), 0);
	for (bytes = 1; bytes < 1000000; bytes++) {
		class = pcrp_tx_class(bytes);
		assert_in_range(class, last, last + 1);
		if (class != last)
			first = bytes;
		assert_true(bytes * 16 < first * 17);
		last = class;
	}
	for (; bytes < 1ULL << 39; bytes += bytes / 100) {
		assert_true(pcrp_tx_class(bytes) >= last);
		assert_true(pcrp_tx_class(bytes) < pcrp_tx_class(bytes + bytes / 16 + 1));
		last = pcrp_tx_class(bytes);
	}
	assert_int_equal(pcrp_tx_class((1ULL << 40) - 1), PCRP_CLASS_NONE - 1);
	assert_int_equal(pcrp_tx_class(U64_MAX), PCRP_CLASS_NONE - 1);
}

/*
 * SRPT counts the bytes in qdisc and socket. Of two flows of a class, the first to enter it goes
 * first.
 */
static void test_srpt(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;

	(void)state;
	p.eu = false;
	port_open(&port, 5, &p);
	port_arrive(&port, 0, PKT, 3 * PKT, PCRP_GATE_NONE);
	queue(&port, 2, 3, PCRP_GATE_NONE);
	queue(&port, 1, 3, PCRP_GATE_NONE);
	queue(&port, 3, 5, PCRP_GATE_NONE);
	expect_data(&port, 2, 3, PCRP_PRIO_UNGATED);
	queue(&port, 4, 1, PCRP_GATE_NONE);
	expect_data(&port, 4, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 1, 2, PCRP_PRIO_UNGATED);
	queue(&port, 1, 4, PCRP_GATE_NONE);
	port.unsent[0] = 3 * PKT;
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 3, 5, PCRP_PRIO_UNGATED);
	expect_data(&port, 1, 5, PCRP_PRIO_UNGATED);
	expect_sleep(&port);
	port_close(&port);
}

/* Without SRPT, flows take turns of a packet each. */
static void test_nosrpt(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;
	u32 i;

	(void)state;
	p.srpt = false;
	p.mfwt_ns = 1;
	port_open(&port, 3, &p);
	for (i = 0; i < 3; i++)
		queue(&port, i, 20 - 5 * i, PCRP_GATE_NONE);
	for (i = 0; i < 30; i++, port.now += US)
		assert_int_equal(next_data(&port), i % 3);
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	assert_int_equal(port.s.stats.promotions, 0);
	port_close(&port);
}

/* ------------------------------------------------ MFWT */

/* A long flow is promoted after MFWT, and no earlier, for one packet. */
static void test_mfwt(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;

	(void)state;
	p.mfwt_ns = 10 * US;
	port_open(&port, 3, &p);
	queue(&port, 0, 60, PCRP_GATE_NONE);
	queue(&port, 1, 50, PCRP_GATE_NONE);
	port.now += 10 * US;
	expect_data(&port, 1, 3, PCRP_PRIO_UNGATED);
	port.now += 1;
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 1, 3, PCRP_PRIO_UNGATED);
	assert_int_equal(port.s.stats.promotions, 1);
	port.now += 11 * US;
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	assert_int_equal(port.s.stats.promotions, 2);
	/* the shortest flow needs no promotion, however long it has waited */
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	assert_int_equal(port.s.stats.promotions, 2);

	port.p.mfwt_ns = U64_MAX;
	port.now += SEC;
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	port_close(&port);
}

/* A promoted flow passes a flow only if that has more left than the class of a chain. */
static void test_mfwt_short(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;

	(void)state;
	p.mfwt_ns = 10 * US;
	port_open(&port, 3, &p);
	queue(&port, 0, 60, PCRP_GATE_NONE);
	port_arrive(&port, 1, CHAIN + CHAIN / 16, 0, PCRP_GATE_NONE);
	port.now += 11 * US;
	expect_data(&port, 0, 1, PCRP_PRIO_UNGATED);
	queue(&port, 2, 10, PCRP_GATE_NONE);
	port.now += 11 * US;
	expect_data(&port, 2, 10, PCRP_PRIO_UNGATED);
	expect_data(&port, 1, 1, PCRP_PRIO_UNGATED);
	port_close(&port);
}

/* The flow that has waited longest is promoted first. */
static void test_mfwt_oldest(void **state)
{
	struct pcrp_tx_params p = port_default;
	struct port port;
	u32 i;

	(void)state;
	p.mfwt_ns = 10 * US;
	port_open(&port, 4, &p);
	queue(&port, 3, 20, PCRP_GATE_NONE);
	for (i = 0; i < 3; i++, port.now += US)
		queue(&port, i, 40 - i, PCRP_GATE_NONE);
	port.now += 20 * US;
	expect_data(&port, 3, 1, PCRP_PRIO_UNGATED);
	for (i = 0; i < 3; i++)
		expect_data(&port, i, 1, PCRP_PRIO_UNGATED);
	expect_data(&port, 3, 1, PCRP_PRIO_UNGATED);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_three_chains),
		cmocka_unit_test(test_one_chain),
		cmocka_unit_test(test_overshoot),
		cmocka_unit_test(test_first_priority),
		cmocka_unit_test(test_first_length),
		cmocka_unit_test(test_outgrows),
		cmocka_unit_test(test_later_request),
		cmocka_unit_test(test_grows_within_chain),
		cmocka_unit_test(test_request_beside_packet),
		cmocka_unit_test(test_eu_example),
		cmocka_unit_test(test_eu_succession),
		cmocka_unit_test(test_eu_not_ungated),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_srpt),
		cmocka_unit_test(test_nosrpt),
		cmocka_unit_test(test_mfwt),
		cmocka_unit_test(test_mfwt_short),
		cmocka_unit_test(test_mfwt_oldest),
	};

	return cmocka_run_group_tests_name("pcrp_sender", tests, NULL, NULL);
}
