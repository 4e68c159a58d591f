// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_receiver.h: each rule, by example
 *
 * Chains have 1000 bytes, and flows are UDP's, where nothing else is said: a
 * packet's offset is then the bytes that came before it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pcrp_rcv_say.h"

/* ---- how far: three chains and a half */

static void test_chains(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 3500, 0);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	data(a, 100);		/* the first packet of chain 1 grants chain 2 */
	assert_only(PCRP_RCV_GRANT, a, 2000);
	data(a, 800);
	assert_nothing();
	request(a, 3500, 1000);
	assert_nothing();
	data(a, 100);		/* the last of chain 1 */
	assert_nothing();
	data(a, 1);		/* the first of chain 2 grants chain 3 */
	assert_only(PCRP_RCV_GRANT, a, 3000);
	data(a, 999);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 4000);
	data(a, 1498);		/* 3499 */
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RCV_FINISHED, a, 0);
	assert_int_equal(t.flows[a].size, 3500);
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.grants, 3);
	assert_int_equal(t.r.stats.answers, 1);
	assert_int_equal(t.r.stats.finished, 1);
}

/* A REQUEST comes before the data, and grants nothing: else no jam would be seen. */
static void test_request_grants_nothing(void **state)
{
	u32 a, i;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	for (i = 1; i < 4; i++) {
		request(a, 10000, 1000 * i);
		assert_nothing();
	}
}

/* TCP: packet at offset, by sequence number; sequence numbers wrap around */
static u32 tcp_request(u32 idx, u64 size, u64 offset, u32 seq)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, size, offset);

	m.proto = IPPROTO_TCP;
	m.tcp_seq = seq;
	return rcv_ask(&t, idx, &m);
}

static void test_reordering(void **state)
{
	const u32 isn = 0xfffffe00;	/* wraps in the first chain */
	u32 a, i;

	(void)state;
	rcv_init(&t, C, 8);
	a = tcp_request(NONE, 10000, 0, isn);
	/* the last packet of chain 1 comes first, and will do */
	rcv_data(&t, a, 100, isn + 900);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	for (i = 0; i < 9; i++) {
		rcv_data(&t, a, 100, isn + 800 - 100 * i);
		assert_nothing();
	}
	/* chain 3 before chain 2; as of none of them anything was received before */
	rcv_data(&t, a, 100, isn + 1000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	rcv_data(&t, a, 100, isn + 2900);
	assert_only(PCRP_RCV_GRANT, a, 4000);
	rcv_data(&t, a, 100, isn + 1900);
	assert_nothing();
	/* sent once more */
	rcv_data(&t, a, 1000, isn);
	assert_nothing();
	/* of the flow before, or of nobody */
	rcv_data(&t, a, 1000, isn - 1000);
	rcv_data(&t, a, 1000, isn + 2000 + 0x80000000);
	assert_nothing();
	assert_int_equal(t.flows[a].high, 3000);
}

/* More than 4 GB: each REQUEST says anew which byte a sequence number is. */
static void test_long_tcp(void **state)
{
	const u64 size = 20ULL << 30;
	u64 offset, step = 1U << 30;
	u32 a, isn = 12345;

	(void)state;
	rcv_init(&t, 1U << 30, 8);
	a = NONE;
	for (offset = 0; offset < size; offset += step) {
		struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, size, offset);

		m.proto = IPPROTO_TCP;
		m.tcp_seq = isn + (u32)offset;
		m.first_bytes = (u32)step;
		m.chain_bytes = (u32)step;
		a = rcv_ask(&t, a, &m);
		/* an older one that was late says nothing new */
		m.offset = 0;
		m.tcp_seq = isn + 5;
		if (offset)
			rcv_ask(&t, a, &m);
		assert_int_equal(t.flows[a].high, offset);
		rcv_data(&t, a, (u32)step, isn + (u32)offset);
	}
	assert_only(PCRP_RCV_FINISHED, a, 0);
	/* and so do packets, if no REQUEST has to say more */
	a = tcp_request(NONE, size, 0, isn);
	for (offset = 0; offset < size; offset += step)
		rcv_data(&t, a, (u32)step, isn + (u32)offset);
	assert_only(PCRP_RCV_FINISHED, a, 0);
}

/* A lost GRANT is said again when asked for, once more or twice. */
static void test_lost_grant(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1000);		/* GRANT 2000 is lost: the sender waits at 1000 */
	probe(a, 10000, 1000);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	assert_int_equal(t.outs[0].msg.ask, asked);
	probe(a, 10000, 1000);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	/* or made up for by the next */
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 3000);
}

/* All data of a chain is lost: two PROBEs, and nothing in between for long */
static void test_lost_data(void **state)
{
	struct pcrp_msg m;
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	probe(a, 10000, 1000);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	/* the next PROBE comes soon: it may still come */
	m = ask_of(PCRP_PROBE, 1, 10000, 1000);
	t.now_ns += PCRP_RCV_LOST_NS - 1;
	rcv_ask(&t, a, &m);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	t.now_ns++;
	rcv_ask(&t, a, &m);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(t.outs[0].msg.ask, m.ask);
	/* they are not the same: in between it went on, without a GRANT */
	probe(a, 10000, 2000);
	probe(a, 10000, 2500);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	probe(a, 10000, 2500);
	assert_only(PCRP_RCV_GRANT, a, 3500);
	rcv_init(&t, C, 8);
	a = request(NONE, 10000, 0);
	data(a, 1000);
	/* some of it comes between two PROBEs: it is a jam */
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	probe(a, 10000, 3000);
	data(a, 100);
	probe(a, 10000, 3000);
	assert_only(PCRP_RCV_ANSWER, a, 3000);
	probe(a, 10000, 3000);
	assert_only(PCRP_RCV_GRANT, a, 4000);
}

/* What two PROBEs say may be the flow's end; it can grow all the same. */
static void test_lost_end(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 1500, 0);
	probe(a, 1500, 1500);
	probe(a, 1500, 1500);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	probe(a, 4000, 1500);
	assert_only(PCRP_RCV_GRANT, a, 2500);
}

/* The first REQUEST is lost: a PROBE makes the flow known. */
static void test_lost_request(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = probe(NONE, 10000, 1000);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 3000);
}

/* The same REQUEST twice is one. */
static void test_doubled_request(void **state)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, 10000, 0);
	u32 a;

	(void)state;
	rcv_init(&t, C, 1);
	a = rcv_ask(&t, NONE, &m);
	assert_int_equal(rcv_ask(&t, a, &m), a);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	data(a, 1);
	rcv_ask(&t, a, &m);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	assert_int_equal(t.r.used, 1);
}

/* A GSO packet goes on beyond what was granted, here by more than a chain. */
static void test_overshoot(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	a = request(NONE, 100000, 0);
	data(a, 2600);
	assert_only(PCRP_RCV_GRANT, a, 3600);
	data(a, 2600);
	assert_only(PCRP_RCV_GRANT, a, 6200);
	data(a, 1000);
	assert_only(PCRP_RCV_GRANT, a, 7200);
}

/* Neither a sender nor a receiver has to take more than its chain at a time. */
static void test_chain_of_sender(void **state)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, 100000, 0);
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	m.first_bytes = 300;
	m.chain_bytes = 400;
	a = rcv_ask(&t, NONE, &m);
	assert_only(PCRP_RCV_ANSWER, a, 300);
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 700);
	m.chain_bytes = 5000;
	rcv_ask(&t, a, &m);
	data(a, 300);
	assert_only(PCRP_RCV_GRANT, a, 1700);
}

/* A stream grows: what is granted to its end is granted a whole chain. */
static void test_growing(void **state)
{
	u32 a, b;

	(void)state;
	rcv_init(&t, C, 8);
	a = opened(1500);
	b = opened(1600);
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(t.outs[0].msg.prio, 4);
	assert_int_equal(t.outs[0].msg.size, 1500);
	request(a, 10000, 1400);
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	assert_int_equal(t.outs[0].msg.prio, 5);	/* b is smaller now */
	data(b, 1);
	assert_only(PCRP_RCV_GRANT, b, 2000);
	assert_int_equal(t.outs[0].msg.prio, 4);
	/* it does not shrink again, by a REQUEST that was late */
	request(a, 1500, 1000);
	assert_int_equal(t.flows[a].size, 10000);
}

/* ---- who, and with which priority */

/* First to fifth: P4, P5, P6, P7, P7, in whatever order they came */
static void test_ranks(void **state)
{
	static const u64 sizes[] = { 40000, 20000, 50000, 10000, 30000 };
	static const u8 prios[] = { 7, 5, 7, 4, 6 };
	u32 idx[5], i;

	(void)state;
	rcv_init(&t, C, 8);
	for (i = 0; i < 5; i++)
		idx[i] = opened(sizes[i]);
	for (i = 0; i < 5; i++) {
		data(idx[i], 1);
		assert_only(PCRP_RCV_GRANT, idx[i], 2000);
		assert_int_equal(t.outs[0].msg.prio, prios[i]);
	}
	/* the first is received whole: the others move up, where that changes anything */
	data(idx[3], 9999);
	assert_int_equal(t.outs[0].out, PCRP_RCV_FINISHED);
	data(idx[1], 1999);
	probe(idx[1], 20000, 2000);
	assert_only(PCRP_RCV_GRANT, idx[1], 3000);
	assert_int_equal(t.outs[0].msg.prio, 4);
	data(idx[2], 1000);
	assert_int_equal(t.outs[0].msg.prio, 7);
}

/* What is P4 would overtake what was sent with P5: the GRANT waits until that has come. */
static u32 rising(void)
{
	u32 a, b;

	rcv_init(&t, C, 8);
	b = opened(2000);
	a = opened(10000);
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(t.outs[0].msg.prio, 5);
	data(b, 2000);
	data(a, 1000);		/* the first of chain 2 */
	assert_nothing();
	return a;
}

static void test_rise(void **state)
{
	u32 a;

	(void)state;
	a = rising();
	data(a, 999);		/* 2000, but the last packet may end beyond that */
	assert_nothing();
	probe(a, 10000, 2300);	/* it does */
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	data(a, 299);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 3300);
	assert_int_equal(t.outs[0].msg.prio, 4);
	data(a, 1000);
	assert_only(PCRP_RCV_GRANT, a, 4300);	/* now it goes on without waiting */
	assert_int_equal(t.outs[0].msg.prio, 4);
	/* a PROBE that left before the last GRANT came does not say what was sent since */
	a = rising();
	probe(a, 10000, 1000);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	data(a, 999);
	assert_nothing();
	probe(a, 10000, 2000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	assert_int_equal(t.outs[0].msg.prio, 4);
	/* a smaller one comes: there is nothing to wait for */
	a = rising();
	opened(3000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	assert_int_equal(t.outs[0].msg.prio, 5);
}

/* What was believed to be lost may come after all: the priority stays until something has. */
static void test_rise_lost(void **state)
{
	u32 a;

	(void)state;
	a = rising();
	probe(a, 10000, 2000);
	assert_only(PCRP_RCV_ANSWER, a, 2000);
	probe(a, 10000, 2000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	assert_int_equal(t.outs[0].msg.prio, 5);
	data(a, 1000);
	assert_nothing();
	probe(a, 10000, 3000);
	assert_only(PCRP_RCV_GRANT, a, 4000);
	assert_int_equal(t.outs[0].msg.prio, 4);
}

/* One that was forgotten comes again: what it sent with P7 may still be under way. */
static void test_rise_again(void **state)
{
	struct pcrp_msg m = ask_of(PCRP_PROBE, 1, 10000, 3000);
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	m.prio = 7;
	a = rcv_ask(&t, NONE, &m);
	assert_only(PCRP_RCV_GRANT, a, 4000);
	assert_int_equal(t.outs[0].msg.prio, 7);
	data(a, 1000);
	assert_nothing();
	m.offset = 4000;
	rcv_ask(&t, a, &m);
	assert_only(PCRP_RCV_GRANT, a, 5000);
	assert_int_equal(t.outs[0].msg.prio, 4);
}

/* Of equal size: who came first, and by no other order */
static void test_ties(void **state)
{
	u32 idx[4], i;

	(void)state;
	rcv_init(&t, C, 8);
	t.r.arrivals = 0xfffffffe;
	for (i = 0; i < 4; i++)
		idx[i] = opened(10000);
	for (i = 4; i--;) {
		data(idx[i], 1);
		assert_only(PCRP_RCV_GRANT, idx[i], 2000);
		assert_int_equal(t.outs[0].msg.prio, 4 + i);
	}
}

/* The table is full: no grant until a place is free, then the smallest takes it. */
static void test_table_full(void **state)
{
	u32 a, b, c, d;

	(void)state;
	rcv_init(&t, C, 2);
	a = opened(10000);
	b = opened(20000);
	c = opened(5000);
	d = opened(4000);
	data(c, 1000);
	assert_nothing();
	data(d, 1000);
	assert_nothing();
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(t.r.granted, 2);
	/* d is smaller than c, which came first */
	data(a, 9999);
	assert_int_equal(t.out_count, 2);
	assert_out(0, PCRP_RCV_FINISHED, a, 0);
	assert_out(1, PCRP_RCV_GRANT, d, 2000);
	assert_int_equal(t.outs[1].msg.prio, 4);
	assert_int_equal(t.outs[1].msg.ask, 0);
	data(b, 20000);
	assert_out(1, PCRP_RCV_GRANT, c, 2000);
	assert_int_equal(t.outs[1].msg.prio, 5);
	assert_int_equal(t.r.stats.granted_peak, 2);
}

/* One that waits has grown: it is no longer the smallest. */
static void test_pending_grows(void **state)
{
	u32 a, b, c;

	(void)state;
	rcv_init(&t, C, 1);
	a = opened(2000);
	b = opened(5000);
	c = opened(6000);
	request(b, 7000, 500);
	data(a, 2000);
	assert_int_equal(t.flows[c].state, PCRP_RCV_TABLE);
	assert_int_equal(t.flows[b].state, PCRP_RCV_PENDING);
}

/* A flow of one chain never touches the table, until it is more than that. */
static void test_one_chain(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 1);
	a = request(NONE, 1000, 0);
	assert_only(PCRP_RCV_ANSWER, a, 1000);
	assert_int_equal(t.r.granted, 0);
	data(a, 1);
	assert_int_equal(t.r.granted, 0);
	request(a, 1001, 500);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(t.r.granted, 1);
}

/* The largest in the table gives way, when nothing that it was granted is outstanding. */
static void test_evict(void **state)
{
	u32 a, b, c;

	(void)state;
	rcv_init(&t, C, 2);
	t.p.evict = true;
	a = opened(10000);
	b = opened(20000);
	data(b, 1);
	assert_only(PCRP_RCV_GRANT, b, 2000);
	c = opened(15000);
	data(c, 1);
	assert_nothing();
	data(b, 1000);		/* no chain 3 for b, while c waits */
	assert_nothing();
	data(a, 1);		/* a is not in the way */
	assert_only(PCRP_RCV_GRANT, a, 2000);
	data(b, 998);
	assert_nothing();
	data(b, 1);		/* 2000: all that b was granted has come */
	assert_only(PCRP_RCV_GRANT, c, 2000);
	assert_int_equal(t.flows[b].state, PCRP_RCV_PENDING);
	assert_int_equal(t.r.stats.evicted, 1);
	/* b takes the next place */
	data(a, 9999);
	assert_out(0, PCRP_RCV_FINISHED, a, 0);
	assert_out(1, PCRP_RCV_GRANT, b, 3000);
	assert_int_equal(t.outs[1].msg.prio, 5);
}

/* The flow for which the largest was held up has gone: it goes on. */
static void test_evict_not_needed(void **state)
{
	u32 a, b, c;

	(void)state;
	rcv_init(&t, C, 2);
	t.p.evict = true;
	a = opened(2000);
	b = opened(20000);
	c = opened(15000);
	data(b, 1);
	assert_nothing();
	data(a, 2000);		/* c takes a's place */
	assert_out(0, PCRP_RCV_FINISHED, a, 0);
	assert_int_equal(t.flows[c].state, PCRP_RCV_TABLE);
	assert_out(1, PCRP_RCV_GRANT, b, 2000);
	assert_int_equal(t.r.stats.evicted, 0);
}

/* The option is switched off meanwhile. */
static void test_evict_off(void **state)
{
	u32 a;

	(void)state;
	rcv_init(&t, C, 1);
	t.p.evict = true;
	a = opened(20000);
	opened(15000);
	data(a, 1);
	assert_nothing();
	t.p.evict = false;
	rcv_expire(&t);
	assert_only(PCRP_RCV_GRANT, a, 2000);
}

/* Not for one of equal size, nor without the option */
static void test_no_eviction(void **state)
{
	u32 a, b;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		rcv_init(&t, C, 1);
		t.p.evict = i;
		a = opened(10000);
		b = opened(i ? 10000 : 5000);
		data(a, 1000);
		assert_only(PCRP_RCV_GRANT, a, 2000);
		assert_int_equal(t.flows[b].state, PCRP_RCV_PENDING);
	}
}

/* ---- life */

static void test_expiry(void **state)
{
	u32 a, b, c;

	(void)state;
	rcv_init(&t, C, 1);
	assert_int_equal(pcrp_rcv_next_ns(&t.r), U64_MAX);
	a = opened(10000);
	b = opened(20000);
	c = opened(30000);
	data(b, 1000);
	assert_int_equal(pcrp_rcv_next_ns(&t.r), t.now_ns + 20 * MS);
	t.now_ns += 20 * MS - 1;
	rcv_expire(&t);
	assert_nothing();
	t.now_ns += 1;
	rcv_expire(&t);		/* a loses its place, b takes it */
	assert_only(PCRP_RCV_GRANT, b, 2000);
	assert_int_equal(t.flows[a].state, PCRP_RCV_IDLE);
	assert_int_equal(t.r.stats.revoked, 1);
	assert_int_equal(pcrp_rcv_next_ns(&t.r), t.now_ns + 20 * MS);
	/* those that wait are remembered for longer; but not for ever */
	data(b, 19000);
	assert_only(PCRP_RCV_FINISHED, b, 0);
	assert_int_equal(t.flows[c].state, PCRP_RCV_TABLE);
	t.now_ns += 80 * MS - 1;
	rcv_expire(&t);
	assert_nothing();
	t.now_ns++;
	rcv_expire(&t);
	assert_int_equal(t.out_count, 2);
	assert_out(0, PCRP_RCV_EXPIRED, a, 0);
	assert_out(1, PCRP_RCV_EXPIRED, c, 0);
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.expired, 2);
}

static void test_expiry_pending(void **state)
{
	u32 a, b, i;

	(void)state;
	rcv_init(&t, C, 1);
	a = opened(10000);
	b = opened(20000);
	for (i = 0; i < 99; i++) {
		t.now_ns += MS;
		data(a, 60);
		rcv_expire(&t);
		assert_nothing();
		assert_int_equal(t.flows[b].state, PCRP_RCV_PENDING);
	}
	t.now_ns += MS;
	data(a, 60);
	rcv_expire(&t);
	assert_only(PCRP_RCV_EXPIRED, b, 0);
	assert_int_equal(t.r.used, 1);
}

/* ---- more than there is room for */

/* No place at all: go on, as if we were not here */
static void test_overflow(void **state)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, 5000, 0), answer;
	struct pcrp_wire w;
	u32 i, a = NONE;

	(void)state;
	rcv_init(&t, C, 2);
	for (i = 0; i < RCV_FLOWS; i++) {
		t.source = i % 2;
		a = request(NONE, 1000 * i + 2000, 0);
	}
	assert_int_equal(rcv_ask(&t, NONE, &m), NONE);
	assert_nothing();
	assert_int_equal(t.r.stats.overflow, 1);
	pcrp_rcv_refuse(&m, &answer);
	assert_int_equal(answer.offset, 5000);
	assert_int_equal(answer.ask, m.ask);
	assert_int_equal(answer.cookie, m.cookie);
	pcrp_msg_write(&answer, &w);
	assert_true(pcrp_msg_read((const u8 *)&w, sizeof(w), &answer));
	/* one that is known is no new one */
	assert_int_equal(request(a, 100000, 0), a);
	data(a, 100000);
	assert_only(PCRP_RCV_FINISHED, a, 0);
	assert_int_equal(rcv_ask(&t, NONE, &m), a);
}

/* The next flow of the same 5-tuple takes the place of the one before. */
static void test_next_flow(void **state)
{
	struct pcrp_msg first = ask_of(PCRP_REQUEST, 0xffffffff, 10000, 0);
	struct pcrp_msg next = ask_of(PCRP_REQUEST, 0, 7000, 0);
	u32 a, b;

	(void)state;
	rcv_init(&t, C, 1);
	a = rcv_ask(&t, NONE, &first);
	data(a, 5000);
	b = request(NONE, 8000, 0);
	data(b, 1);
	assert_nothing();
	next.slot = 78;
	rcv_ask(&t, a, &next);
	assert_int_equal(t.flows[a].size, 7000);
	assert_int_equal(t.flows[a].high, 0);
	assert_int_equal(t.outs[0].msg.slot, 78);
	/* of the next flow no data have come */
	assert_int_equal(t.flows[a].state, PCRP_RCV_IDLE);
	assert_out(1, PCRP_RCV_GRANT, b, 2000);
	/* one of the flow before was late: passed over */
	rcv_ask(&t, a, &first);
	assert_nothing();
	assert_int_equal(t.flows[a].size, 7000);
}

/* The table has become larger, or smaller: nobody loses a place by that. */
static void test_change(void **state)
{
	u32 a, b, c;

	(void)state;
	rcv_init(&t, C, 1);
	a = opened(10000);
	b = opened(20000);
	c = opened(30000);
	data(b, 1);
	assert_nothing();
	t.p.grants = 3;
	rcv_expire(&t);
	assert_only(PCRP_RCV_GRANT, b, 2000);
	assert_int_equal(t.r.granted, 3);
	t.p.grants = 1;
	rcv_expire(&t);
	assert_int_equal(t.r.granted, 3);
	opened(5000);
	data(c, 1);
	assert_only(PCRP_RCV_GRANT, c, 2000);
	data(a, 10000);
	assert_only(PCRP_RCV_FINISHED, a, 0);
	assert_int_equal(t.r.granted, 2);
}

/* Who a GRANT is for, and what it answers */
static void test_grant_says(void **state)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 9, 10000, 0), *got = &t.outs[0].msg;
	struct pcrp_wire w;
	u32 a;

	(void)state;
	rcv_init(&t, C, 8);
	m.chain_no = 3;
	a = rcv_ask(&t, NONE, &m);
	assert_int_equal(got->type, PCRP_GRANT);
	assert_int_equal(got->prio, 7);
	assert_int_equal(got->proto, m.proto);
	assert_int_equal(got->sport, m.sport);
	assert_int_equal(got->dport, m.dport);
	assert_int_equal(got->slot, m.slot);
	assert_int_equal(got->flow_no, m.flow_no);
	assert_int_equal(got->cookie, m.cookie);
	assert_int_equal(got->size, m.size);
	assert_int_equal(got->chain_no, 3);
	assert_int_equal(got->ask, m.ask);
	pcrp_msg_write(got, &w);
	assert_true(pcrp_msg_read((const u8 *)&w, sizeof(w), got));
	data(a, 1);
	assert_only(PCRP_RCV_GRANT, a, 2000);
	assert_int_equal(got->ask, 0);
	/* nor does one answer a REQUEST that came before its reason */
	m.ask = 7;
	rcv_ask(&t, a, &m);
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RCV_GRANT, a, 3000);
	assert_int_equal(got->ask, 0);
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
		cmocka_unit_test(test_rise_lost),
		cmocka_unit_test(test_rise_again),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_pending_grows),
		cmocka_unit_test(test_one_chain),
		cmocka_unit_test(test_evict),
		cmocka_unit_test(test_evict_not_needed),
		cmocka_unit_test(test_evict_off),
		cmocka_unit_test(test_no_eviction),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_expiry_pending),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_next_flow),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_grant_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
