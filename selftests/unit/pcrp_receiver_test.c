// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_receiver.c: each rule, by example; conventions are in pcrp_rx_steps.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pcrp_rx_steps.h"

/* ---- how far: three and a half chains */

static void test_chains(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 3500, 0);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	data(a, 100);		/* the first packet of chain 1 grants chain 2 */
	assert_only(PCRP_RX_GRANT, a, 2000);
	data(a, 800);
	assert_nothing();
	request(a, 3500, 1000);
	assert_nothing();
	data(a, 100);		/* the last of chain 1 */
	assert_nothing();
	data(a, 1);		/* the first of chain 2 grants chain 3 */
	assert_only(PCRP_RX_GRANT, a, 3000);
	data(a, 999);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 4000);
	data(a, 1498);		/* 3499 */
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RX_FINISHED, a, 0);
	assert_int_equal(t.flows[a].size, 3500);
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.grants, 3);
	assert_int_equal(t.r.stats.answers, 1);
	assert_int_equal(t.r.stats.finished, 1);
}

/* REQUESTs grant no chain: they precede the data, so they would hide congestion. */
static void test_request_grants_nothing(void **state)
{
	u32 a, i;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	for (i = 1; i < 4; i++) {
		request(a, 10000, 1000 * i);
		assert_nothing();
	}
}

static u32 tcp_request(u32 idx, u64 size, u64 offset, u32 seq)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, size, offset);

	m.proto = IPPROTO_TCP;
	m.tcp_seq = seq;
	return rx_request(&t, idx, &m);
}

/* Offsets of TCP packets follow from sequence numbers, which wrap around. */
static void test_reordering(void **state)
{
	const u32 isn = 0xfffffe00;	/* wraps in the first chain */
	u32 a, i;

	(void)state;
	rx_init(&t, C, 8);
	a = tcp_request(NONE, 10000, 0, isn);
	/* the last packet of chain 1 comes first, and grants chain 2 */
	rx_data(&t, a, 100, isn + 900);
	assert_only(PCRP_RX_GRANT, a, 2000);
	for (i = 0; i < 9; i++) {
		rx_data(&t, a, 100, isn + 800 - 100 * i);
		assert_nothing();
	}
	/* chain 3 comes before chain 2 */
	rx_data(&t, a, 100, isn + 1000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	rx_data(&t, a, 100, isn + 2900);
	assert_only(PCRP_RX_GRANT, a, 4000);
	rx_data(&t, a, 100, isn + 1900);
	assert_nothing();
	/* a retransmission */
	rx_data(&t, a, 1000, isn);
	assert_nothing();
	/* a packet of the previous flow, and one with an arbitrary number */
	rx_data(&t, a, 1000, isn - 1000);
	rx_data(&t, a, 1000, isn + 2000 + 0x80000000);
	assert_nothing();
	assert_int_equal(t.flows[a].high, 3000);
}

/* A flow may have more than 4 GB: REQUESTs and packets map sequence numbers to offsets. */
static void test_long_tcp(void **state)
{
	const u64 size = 20ULL << 30;
	u64 offset, step = 1U << 30;
	u32 a, isn = 12345;

	(void)state;
	rx_init(&t, 1U << 30, 8);
	a = NONE;
	for (offset = 0; offset < size; offset += step) {
		struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, size, offset);

		m.proto = IPPROTO_TCP;
		m.tcp_seq = isn + (u32)offset;
		m.first_bytes = (u32)step;
		m.chain_bytes = (u32)step;
		a = rx_request(&t, a, &m);
		/* a late duplicate has no effect */
		m.offset = 0;
		m.tcp_seq = isn + 5;
		if (offset)
			rx_request(&t, a, &m);
		assert_int_equal(t.flows[a].high, offset);
		rx_data(&t, a, (u32)step, isn + (u32)offset);
	}
	assert_only(PCRP_RX_FINISHED, a, 0);
	/* packets alone suffice */
	a = tcp_request(NONE, size, 0, isn);
	for (offset = 0; offset < size; offset += step)
		rx_data(&t, a, (u32)step, isn + (u32)offset);
	assert_only(PCRP_RX_FINISHED, a, 0);
}

/* A lost GRANT is repeated for each PROBE. */
static void test_lost_grant(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1000);		/* GRANT 2000 is lost: the sender waits at 1000 */
	probe(a, 10000, 1000);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	assert_int_equal(t.actions[0].msg.request_no, requests);
	probe(a, 10000, 1000);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	/* the next GRANT also replaces it */
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 3000);
}

/* Two PROBEs without data for long in between mean that the data is lost. */
static void test_lost_data(void **state)
{
	struct pcrp_msg m;
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	probe(a, 10000, 1000);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	/* after a short time, the data may still come */
	m = msg_of(PCRP_PROBE, 1, 10000, 1000);
	t.now_ns += PCRP_RX_LOST_NS - 1;
	rx_request(&t, a, &m);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	t.now_ns++;
	rx_request(&t, a, &m);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.actions[0].msg.request_no, m.request_no);
	/* PROBEs with different offsets do not: the flow went on without a GRANT */
	probe(a, 10000, 2000);
	probe(a, 10000, 2500);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	probe(a, 10000, 2500);
	assert_only(PCRP_RX_GRANT, a, 3500);
	rx_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1000);
	/* data between two PROBEs means congestion, not loss */
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 3000);
	probe(a, 10000, 3000);
	data(a, 100);
	probe(a, 10000, 3000);
	assert_only(PCRP_RX_ANSWER, a, 3000);
	probe(a, 10000, 3000);
	assert_only(PCRP_RX_GRANT, a, 4000);
}

/* Lost data at a flow's end does not keep the flow from growing. */
static void test_lost_end(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 1500, 0);
	probe(a, 1500, 1500);
	probe(a, 1500, 1500);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	probe(a, 4000, 1500);
	assert_only(PCRP_RX_GRANT, a, 2500);
}

/* If the first REQUEST is lost, a PROBE replaces it. */
static void test_lost_request(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = probe(NONE, 10000, 1000);
	assert_only(PCRP_RX_GRANT, a, 2000);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 3000);
}

/* A duplicate REQUEST has no effect but an answer. */
static void test_doubled_request(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, 10000, 0);
	u32 a;

	(void)state;
	rx_init(&t, C, 1);
	a = rx_request(&t, NONE, &m);
	assert_int_equal(rx_request(&t, a, &m), a);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	data(a, 1);
	rx_request(&t, a, &m);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	assert_int_equal(t.r.used, 1);
}

/* A GSO packet may end beyond the granted offset, here by more than a chain. */
static void test_overshoot(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	a = request(NONE, 100000, 0);
	data(a, 2600);
	assert_only(PCRP_RX_GRANT, a, 3600);
	data(a, 2600);
	assert_only(PCRP_RX_GRANT, a, 6200);
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, a, 7200);
}

/* A granted chain is as long as the shorter of the sender's and the receiver's. */
static void test_chain_of_sender(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, 100000, 0);
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	m.first_bytes = 300;
	m.chain_bytes = 400;
	a = rx_request(&t, NONE, &m);
	assert_only(PCRP_RX_ANSWER, a, 300);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 700);
	m.chain_bytes = 5000;
	rx_request(&t, a, &m);
	data(a, 300);
	assert_only(PCRP_RX_GRANT, a, 1700);
}

/* The last chain is granted in full, so that a stream can grow. */
static void test_growing(void **state)
{
	u32 a, b;

	(void)state;
	rx_init(&t, C, 8);
	a = opened(1500);
	b = opened(1600);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.actions[0].msg.prio, 4);
	assert_int_equal(t.actions[0].msg.size, 1500);
	request(a, 10000, 1400);
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(t.actions[0].msg.prio, 5);	/* b is the smallest now */
	data(b, 1);
	assert_only(PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.actions[0].msg.prio, 4);
	/* a late REQUEST does not shrink it */
	request(a, 1500, 1000);
	assert_int_equal(t.flows[a].size, 10000);
}

/* ---- which flow, with which priority */

/* Ranks 0 to 4 have P4, P5, P6, P7, P7, in whatever order the flows came. */
static void test_ranks(void **state)
{
	static const u64 sizes[] = { 40000, 20000, 50000, 10000, 30000 };
	static const u8 prios[] = { 7, 5, 7, 4, 6 };
	u32 idx[5], i;

	(void)state;
	rx_init(&t, C, 8);
	for (i = 0; i < 5; i++)
		idx[i] = opened(sizes[i]);
	for (i = 0; i < 5; i++) {
		data(idx[i], 1);
		assert_only(PCRP_RX_GRANT, idx[i], 2000);
		assert_int_equal(t.actions[0].msg.prio, prios[i]);
	}
	/* the first flow finishes: ranks of the others fall by one */
	data(idx[3], 9999);
	assert_int_equal(t.actions[0].action, PCRP_RX_FINISHED);
	data(idx[1], 1999);
	probe(idx[1], 20000, 2000);
	assert_only(PCRP_RX_GRANT, idx[1], 3000);
	assert_int_equal(t.actions[0].msg.prio, 4);
	data(idx[2], 1000);
	assert_int_equal(t.actions[0].msg.prio, 7);
}

/* A flow has sent a chain with P5, and its rank now means P4. */
static u32 rising(void)
{
	u32 a, b;

	rx_init(&t, C, 8);
	b = opened(2000);
	a = opened(10000);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.actions[0].msg.prio, 5);
	data(b, 2000);
	data(a, 1000);		/* the first of chain 2 */
	assert_nothing();
	return a;
}

/* A GRANT with a higher priority waits until all earlier packets have arrived. */
static void test_rise(void **state)
{
	u32 a;

	(void)state;
	a = rising();
	data(a, 999);		/* 2000, but the last packet may end beyond */
	assert_nothing();
	probe(a, 10000, 2300);	/* it does */
	assert_only(PCRP_RX_ANSWER, a, 2000);
	data(a, 299);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 3300);
	assert_int_equal(t.actions[0].msg.prio, 4);
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, a, 4300);	/* the next chain does not wait */
	assert_int_equal(t.actions[0].msg.prio, 4);
	/* a PROBE that left before the last GRANT came does not count */
	a = rising();
	probe(a, 10000, 1000);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	data(a, 999);
	assert_nothing();
	probe(a, 10000, 2000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(t.actions[0].msg.prio, 4);
	/* a smaller flow comes, so the priority does not rise */
	a = rising();
	opened(3000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(t.actions[0].msg.prio, 5);
}

/* In the paper, a chain has the priority of the rank, although it may overtake the last one. */
static void test_rise_paper(void **state)
{
	u32 a, b;

	(void)state;
	rx_init(&t, C, 8);
	t.p.paper = true;
	b = opened(2000);
	a = opened(10000);
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.actions[0].msg.prio, 5);
	data(b, 2000);
	data(a, 1000);		/* the first of chain 2 */
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(t.actions[0].msg.prio, 4);
}

/* Bytes that seem lost may still come: the priority rises only after later data. */
static void test_rise_lost(void **state)
{
	u32 a;

	(void)state;
	a = rising();
	probe(a, 10000, 2000);
	assert_only(PCRP_RX_ANSWER, a, 2000);
	probe(a, 10000, 2000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(t.actions[0].msg.prio, 5);
	data(a, 1000);
	assert_nothing();
	probe(a, 10000, 3000);
	assert_only(PCRP_RX_GRANT, a, 4000);
	assert_int_equal(t.actions[0].msg.prio, 4);
}

/* Packets of a forgotten flow may still be in the network, with the PROBE's priority. */
static void test_rise_again(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_PROBE, 1, 10000, 3000);
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	m.prio = 7;
	a = rx_request(&t, NONE, &m);
	assert_only(PCRP_RX_GRANT, a, 4000);
	assert_int_equal(t.actions[0].msg.prio, 7);
	data(a, 1000);
	assert_nothing();
	m.offset = 4000;
	rx_request(&t, a, &m);
	assert_only(PCRP_RX_GRANT, a, 5000);
	assert_int_equal(t.actions[0].msg.prio, 4);
}

/* Flows of equal size rank by arrival, also when the count wraps around. */
static void test_ties(void **state)
{
	u32 idx[4], i;

	(void)state;
	rx_init(&t, C, 8);
	t.r.arrivals = 0xfffffffe;
	for (i = 0; i < 4; i++)
		idx[i] = opened(10000);
	for (i = 4; i--;) {
		data(idx[i], 1);
		assert_only(PCRP_RX_GRANT, idx[i], 2000);
		assert_int_equal(t.actions[0].msg.prio, 4 + i);
	}
}

/* While the table is full, flows wait; the smallest takes the next place. */
static void test_table_full(void **state)
{
	u32 a, b, c, d;

	(void)state;
	rx_init(&t, C, 2);
	a = opened(10000);
	b = opened(20000);
	c = opened(5000);
	d = opened(4000);
	data(c, 1000);
	assert_nothing();
	data(d, 1000);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.r.granted, 2);
	/* d came after c, but is smaller */
	data(a, 9999);
	assert_int_equal(t.action_count, 2);
	assert_action(0, PCRP_RX_FINISHED, a, 0);
	assert_action(1, PCRP_RX_GRANT, d, 2000);
	assert_int_equal(t.actions[1].msg.prio, 4);
	assert_int_equal(t.actions[1].msg.request_no, 0);
	data(b, 20000);
	assert_action(1, PCRP_RX_GRANT, c, 2000);
	assert_int_equal(t.actions[1].msg.prio, 5);
	assert_int_equal(t.r.stats.granted_peak, 2);
}

/* In the paper, the flow of the next packet or PROBE takes the next place. */
static void test_table_full_paper(void **state)
{
	u32 a, b, c, d;

	(void)state;
	rx_init(&t, C, 1);
	t.p.paper = true;
	a = opened(10000);
	b = opened(20000);
	c = opened(5000);
	d = opened(4000);
	data(a, 10000);
	assert_only(PCRP_RX_FINISHED, a, 0);
	assert_int_equal(t.r.granted, 0);
	data(b, 1);
	assert_only(PCRP_RX_GRANT, b, 2000);
	data(d, 1);
	assert_nothing();
	data(b, 19999);
	assert_only(PCRP_RX_FINISHED, b, 0);
	probe(c, 5000, 1000);	/* no byte of chain 1 has come */
	assert_only(PCRP_RX_ANSWER, c, 1000);
	data(c, 1000);
	assert_only(PCRP_RX_GRANT, c, 2000);
	assert_int_equal(t.flows[d].state, PCRP_RX_IDLE);
}

/* With the paper's rules and evict, flows wait, as evict is about them. */
static void test_evict_paper(void **state)
{
	u32 a, b;

	(void)state;
	rx_init(&t, C, 1);
	t.p.paper = true;
	t.p.evict = true;
	a = opened(10000);
	b = opened(5000);
	data(b, 1);
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.flows[a].state, PCRP_RX_PENDING);
}

/* A pending flow that grows may no longer be the smallest. */
static void test_pending_grows(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(2000);
	b = opened(5000);
	c = opened(6000);
	request(b, 7000, 500);
	data(a, 2000);
	assert_int_equal(t.flows[c].state, PCRP_RX_TABLE);
	assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
}

/* A flow of one chain needs no place until it grows. */
static void test_one_chain(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 1);
	a = request(NONE, 1000, 0);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	assert_int_equal(t.r.granted, 0);
	data(a, 1);
	assert_int_equal(t.r.granted, 0);
	request(a, 1001, 500);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.r.granted, 1);
}

/* With evict, the largest flow gives way when all granted bytes have arrived. */
static void test_evict(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 2);
	t.p.evict = true;
	a = opened(10000);
	b = opened(20000);
	data(b, 1);
	assert_only(PCRP_RX_GRANT, b, 2000);
	c = opened(15000);
	data(c, 1);
	assert_nothing();
	data(b, 1000);		/* no chain 3 for b while c waits */
	assert_nothing();
	data(a, 1);		/* a is not the largest */
	assert_only(PCRP_RX_GRANT, a, 2000);
	data(b, 998);
	assert_nothing();
	data(b, 1);		/* 2000: all granted bytes of b */
	assert_only(PCRP_RX_GRANT, c, 2000);
	assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
	assert_int_equal(t.r.stats.evicted, 1);
	/* b takes the next place */
	data(a, 9999);
	assert_action(0, PCRP_RX_FINISHED, a, 0);
	assert_action(1, PCRP_RX_GRANT, b, 3000);
	assert_int_equal(t.actions[1].msg.prio, 5);
}

/* The largest flow goes on when the smaller one has found another place. */
static void test_evict_not_needed(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 2);
	t.p.evict = true;
	a = opened(2000);
	b = opened(20000);
	c = opened(15000);
	data(b, 1);
	assert_nothing();
	data(a, 2000);		/* c takes a's place */
	assert_action(0, PCRP_RX_FINISHED, a, 0);
	assert_int_equal(t.flows[c].state, PCRP_RX_TABLE);
	assert_action(1, PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.r.stats.evicted, 0);
}

/* The largest flow goes on when evict is turned off. */
static void test_evict_off(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 1);
	t.p.evict = true;
	a = opened(20000);
	opened(15000);
	data(a, 1);
	assert_nothing();
	t.p.evict = false;
	rx_expire(&t);
	assert_only(PCRP_RX_GRANT, a, 2000);
}

/* A flow of equal size evicts no other; without evict, a smaller one neither. */
static void test_no_eviction(void **state)
{
	u32 a, b;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		rx_init(&t, C, 1);
		t.p.evict = i;
		a = opened(10000);
		b = opened(i ? 10000 : 5000);
		data(a, 1000);
		assert_only(PCRP_RX_GRANT, a, 2000);
		assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
	}
}

/* ---- expiry */

/* An unused place is revoked after 20 ms, a silent flow forgotten after 100 ms. */
static void test_expiry(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 1);
	assert_int_equal(pcrp_rx_next_ns(&t.r), U64_MAX);
	a = opened(10000);
	b = opened(20000);
	c = opened(30000);
	data(b, 1000);
	assert_int_equal(pcrp_rx_next_ns(&t.r), t.now_ns + 20 * MS);
	t.now_ns += 20 * MS - 1;
	rx_expire(&t);
	assert_nothing();
	t.now_ns += 1;
	rx_expire(&t);		/* b takes the place of a */
	assert_only(PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
	assert_int_equal(t.r.stats.revoked, 1);
	assert_int_equal(pcrp_rx_next_ns(&t.r), t.now_ns + 20 * MS);
	/* flows without a place are remembered longer */
	data(b, 19000);
	assert_only(PCRP_RX_FINISHED, b, 0);
	assert_int_equal(t.flows[c].state, PCRP_RX_TABLE);
	t.now_ns += 80 * MS - 1;
	rx_expire(&t);
	assert_nothing();
	t.now_ns++;
	rx_expire(&t);
	assert_int_equal(t.action_count, 2);
	assert_action(0, PCRP_RX_EXPIRED, a, 0);
	assert_action(1, PCRP_RX_EXPIRED, c, 0);
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.expired, 2);
}

/* A pending flow expires like any other. */
static void test_expiry_pending(void **state)
{
	u32 a, b, i;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(10000);
	b = opened(20000);
	for (i = 0; i < 99; i++) {
		t.now_ns += MS;
		data(a, 60);
		rx_expire(&t);
		assert_nothing();
		assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
	}
	t.now_ns += MS;
	data(a, 60);
	rx_expire(&t);
	assert_only(PCRP_RX_EXPIRED, b, 0);
	assert_int_equal(t.r.used, 1);
}

/* ---- limits and changes */

/* A flow without a slot is granted completely. */
static void test_overflow(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, 5000, 0), answer;
	u8 b[PCRP_WIRE_LEN];
	u32 i, a = NONE;

	(void)state;
	rx_init(&t, C, 2);
	for (i = 0; i < RX_FLOWS; i++) {
		t.source = i % 2;
		a = request(NONE, 1000 * i + 2000, 0);
	}
	assert_int_equal(rx_request(&t, NONE, &m), NONE);
	assert_nothing();
	assert_int_equal(t.r.stats.overflow, 1);
	pcrp_rx_refuse(&m, &answer);
	assert_int_equal(answer.offset, 5000);
	assert_int_equal(answer.request_no, m.request_no);
	assert_int_equal(answer.cookie, m.cookie);
	pcrp_msg_write(&answer, b);
	assert_true(pcrp_msg_read(b, sizeof(b), &answer));
	/* a known flow needs no other slot */
	assert_int_equal(request(a, 100000, 0), a);
	data(a, 100000);
	assert_only(PCRP_RX_FINISHED, a, 0);
	assert_int_equal(rx_request(&t, NONE, &m), a);
}

/* The next flow of a 5-tuple replaces the previous one. */
static void test_next_flow(void **state)
{
	struct pcrp_msg first = msg_of(PCRP_REQUEST, 0xffffffff, 10000, 0);
	struct pcrp_msg next = msg_of(PCRP_REQUEST, 0, 7000, 0);
	u32 a, b;

	(void)state;
	rx_init(&t, C, 1);
	a = rx_request(&t, NONE, &first);
	data(a, 5000);
	b = request(NONE, 8000, 0);
	data(b, 1);
	assert_nothing();
	next.slot = 78;
	rx_request(&t, a, &next);
	assert_int_equal(t.flows[a].size, 7000);
	assert_int_equal(t.flows[a].high, 0);
	assert_int_equal(t.actions[0].msg.slot, 78);
	/* there is no data of the next flow yet */
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
	assert_action(1, PCRP_RX_GRANT, b, 2000);
	/* a late REQUEST of the previous flow is ignored */
	rx_request(&t, a, &first);
	assert_nothing();
	assert_int_equal(t.flows[a].size, 7000);
}

/* A larger table admits more flows; a smaller one revokes no place. */
static void test_change(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(10000);
	b = opened(20000);
	c = opened(30000);
	data(b, 1);
	assert_nothing();
	t.p.grants = 3;
	rx_expire(&t);
	assert_only(PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.r.granted, 3);
	t.p.grants = 1;
	rx_expire(&t);
	assert_int_equal(t.r.granted, 3);
	opened(5000);
	data(c, 1);
	assert_only(PCRP_RX_GRANT, c, 2000);
	data(a, 10000);
	assert_only(PCRP_RX_FINISHED, a, 0);
	assert_int_equal(t.r.granted, 2);
}

/* A GRANT returns the flow's identity and the number of the REQUEST that it answers. */
static void test_grant_fields(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 9, 10000, 0), *grant = &t.actions[0].msg;
	u8 b[PCRP_WIRE_LEN];
	u32 a;

	(void)state;
	rx_init(&t, C, 8);
	m.chain_no = 3;
	a = rx_request(&t, NONE, &m);
	assert_int_equal(grant->type, PCRP_GRANT);
	assert_int_equal(grant->prio, 7);
	assert_int_equal(grant->proto, m.proto);
	assert_int_equal(grant->sport, m.sport);
	assert_int_equal(grant->dport, m.dport);
	assert_int_equal(grant->slot, m.slot);
	assert_int_equal(grant->flow_no, m.flow_no);
	assert_int_equal(grant->cookie, m.cookie);
	assert_int_equal(grant->size, m.size);
	assert_int_equal(grant->chain_no, 3);
	assert_int_equal(grant->request_no, m.request_no);
	pcrp_msg_write(grant, b);
	assert_true(pcrp_msg_read(b, sizeof(b), grant));
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(grant->request_no, 0);
	/* a GRANT for data does not answer an earlier REQUEST */
	m.request_no = 7;
	rx_request(&t, a, &m);
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, a, 3000);
	assert_int_equal(grant->request_no, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_request_grants_nothing),
		cmocka_unit_test(test_reordering),
		cmocka_unit_test(test_long_tcp),
		cmocka_unit_test(test_lost_grant),
		cmocka_unit_test(test_lost_data),
		cmocka_unit_test(test_lost_end),
		cmocka_unit_test(test_lost_request),
		cmocka_unit_test(test_doubled_request),
		cmocka_unit_test(test_overshoot),
		cmocka_unit_test(test_chain_of_sender),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_rise),
		cmocka_unit_test(test_rise_paper),
		cmocka_unit_test(test_rise_lost),
		cmocka_unit_test(test_rise_again),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_table_full_paper),
		cmocka_unit_test(test_pending_grows),
		cmocka_unit_test(test_one_chain),
		cmocka_unit_test(test_evict),
		cmocka_unit_test(test_evict_paper),
		cmocka_unit_test(test_evict_not_needed),
		cmocka_unit_test(test_evict_off),
		cmocka_unit_test(test_no_eviction),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_expiry_pending),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_next_flow),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_grant_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
