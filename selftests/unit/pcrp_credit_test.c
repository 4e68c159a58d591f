// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_receiver.c: credit of sources, by example: a place needs data, and sources
 * pay for places
 */
#include "pcrp_rx_steps.h"

/* A flow gets no place before its first data, however many REQUESTs it sends. */
static void test_no_place_before_data(void **state)
{
	u32 a, i;

	(void)state;
	rx_init(&t, C, 1);
	a = request(NONE, 5000, 0);
	for (i = 0; i < 9; i++) {
		request(a, 5000, 0);
		assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
	}
	data(a, 1);
	assert_only(PCRP_RX_GRANT, a, 2000);
}

/* REQUESTs do not keep a flow without data from expiring. */
static void test_no_life_before_data(void **state)
{
	u32 a, i;

	(void)state;
	rx_init(&t, C, 1);
	a = request(NONE, 5000, 0);
	for (i = 0; i < 9; i++) {
		t.now_ns += 10 * MS;
		request(a, 5000, 0);
		rx_expire(&t);
		assert_nothing();
	}
	t.now_ns += 10 * MS;
	rx_expire(&t);
	assert_only(PCRP_RX_EXPIRED, a, 0);
}

/* Neither PROBEs nor the lost data that they report keep a place from being revoked. */
static void test_unused_place(void **state)
{
	u32 a, b, i;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(10000);
	b = opened(20000);
	for (i = 0; i < 2; i++) {
		assert_int_equal(t.flows[a].state, PCRP_RX_TABLE);
		probe(a, 10000, 1000);		/* 10 ms later */
		assert_only(i ? PCRP_RX_GRANT : PCRP_RX_ANSWER, a, i ? 2000 : 1000);
		rx_expire(&t);
	}
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
	assert_int_equal(t.flows[b].state, PCRP_RX_TABLE);
}

/* A flow keeps its place if it delivers a unit each 20 ms, and loses it with less. */
static void test_trickle(void **state)
{
	s64 credit;
	u32 a, i;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(100000);
	credit = t.sources[0].credit;
	for (i = 0; i < 40; i++) {		/* 50 bytes a millisecond: enough */
		t.now_ns += MS;
		data(a, 50);
		rx_expire(&t);
		assert_int_equal(t.flows[a].state, PCRP_RX_TABLE);
	}
	for (i = 0; i < 20; i++) {
		t.now_ns += MS;
		data(a, 49);
		rx_expire(&t);
	}
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
	assert_int_equal(t.r.stats.revoked, 1);
	assert_true(t.sources[0].credit == credit - PCRP_WASTE_UNITS * (s64)C);
	data(a, 1);				/* takes the free place again */
	assert_int_equal(t.flows[a].state, PCRP_RX_TABLE);
}

/* Only received bytes count for a place, not sequence numbers that jump. */
static void test_jumps(void **state)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, 1 << 30, 0);
	u32 a, i;

	(void)state;
	rx_init(&t, C, 1);
	m.proto = IPPROTO_TCP;
	a = rx_request(&t, NONE, &m);
	rx_data(&t, a, 1, 0);
	assert_int_equal(t.flows[a].state, PCRP_RX_TABLE);
	for (i = 1; i <= 20; i++) {
		t.now_ns += MS;
		rx_data(&t, a, 1, i * 5 * C);
		rx_expire(&t);
	}
	assert_true(t.flows[a].high >= 100 * C);
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);
}

static void forget_credit(void)
{
	memset(t.sources, 0, sizeof(t.sources));
}

static u32 opened_by(u32 source, u64 size)
{
	t.source = source;
	return opened(size);
}

/* A source may have a place for each unit that it has delivered, and always one. */
static void test_places_of_source(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 8);
	forget_credit();
	a = opened(10000);
	b = opened(20000);
	c = opened(30000);
	assert_int_equal(t.r.granted, 1);
	data(a, 1999);
	data(b, 0);
	assert_int_equal(t.flows[b].state, PCRP_RX_IDLE);
	data(b, 1);		/* 2 units in total */
	assert_only(PCRP_RX_GRANT, b, 2000);
	data(c, 0);
	assert_int_equal(t.flows[c].state, PCRP_RX_IDLE);
	opened_by(1, 5000);	/* another source has its own */
	assert_int_equal(t.r.granted, 3);
}

/* In a full table, a flow of an untrusted source makes way for a trusted one's. */
static void test_makes_way(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 2);
	forget_credit();
	a = opened_by(0, 2000);
	b = opened_by(1, 3000);
	c = opened_by(2, 90000);
	data(c, 999);
	assert_nothing();
	data(c, 1);		/* its source is trusted now */
	assert_only(PCRP_RX_GRANT, c, 2000);
	assert_int_equal(t.flows[a].state, PCRP_RX_TABLE);
	assert_int_equal(t.flows[b].state, PCRP_RX_IDLE);
	assert_int_equal(t.r.stats.revoked, 1);
	data(b, 1);		/* but not vice versa */
	assert_nothing();
	assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
}

/* Flows of trusted sources take places first, however large they are. */
static void test_trusted_first(void **state)
{
	u32 a, b, c;

	(void)state;
	rx_init(&t, C, 1);
	a = opened(10000);
	t.sources[1].credit = 0;
	b = opened_by(1, 2000);
	c = opened_by(2, 90000);
	data(a, 10000);
	assert_only(PCRP_RX_FINISHED, a, 0);
	assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
	assert_int_equal(t.flows[c].state, PCRP_RX_TABLE);
	/* a flow whose source has lost its credit does not */
	a = opened_by(2, 80000);
	t.source = 0;
	t.sources[2].credit = 0;
	opened(1500);
	assert_int_equal(t.r.stats.revoked, 1);
	assert_int_equal(t.flows[c].state, PCRP_RX_IDLE);
	assert_int_equal(t.flows[a].state, PCRP_RX_IDLE);	/* passed over */
}

/* With evict, only a flow of a trusted source takes the place of a larger one. */
static void test_untrusted_evicts_none(void **state)
{
	u32 a, b;

	(void)state;
	rx_init(&t, C, 1);
	t.p.evict = true;
	a = opened(20000);
	t.sources[1].credit = 0;
	b = opened_by(1, 2000);
	data(a, 1000);		/* a has received all granted bytes, but keeps its place */
	assert_only(PCRP_RX_GRANT, a, 2000);
	assert_int_equal(t.flows[b].state, PCRP_RX_PENDING);
	data(b, 1000);		/* its source is trusted now */
	assert_nothing();
	data(a, 1000);
	assert_only(PCRP_RX_GRANT, b, 2000);
	assert_int_equal(t.flows[a].state, PCRP_RX_PENDING);
}

/* A PROBE of a trusted source replaces the first data of its flow. */
static void test_probe_without_data(void **state)
{
	u32 a;

	(void)state;
	rx_init(&t, C, 1);
	forget_credit();
	a = probe(NONE, 10000, 1000);
	assert_only(PCRP_RX_ANSWER, a, 1000);
	t.sources[0].credit = C;
	probe(a, 10000, 1000);
	assert_only(PCRP_RX_GRANT, a, 2000);
}

/* The number of flows of one source is limited. */
static void test_flows_of_source(void **state)
{
	u32 i;

	(void)state;
	rx_init(&t, C, 2);
	for (i = 0; i < RX_SOURCE_FLOWS; i++)
		assert_int_not_equal(request(NONE, 2000, 0), NONE);
	assert_int_equal(request(NONE, 2000, 0), NONE);
	assert_int_equal(t.r.stats.overflow, 1);
	t.source = 1;
	assert_int_not_equal(request(NONE, 2000, 0), NONE);
	t.source = 0;
	data(0, 2000);
	assert_int_not_equal(request(NONE, 2000, 0), NONE);
}

/* Count the chains that an honest flow gets in 100 ms, at most one a millisecond. */
static u32 chains_beside(u32 forgers, u32 data_bytes)
{
	u32 idx[RX_SOURCE_FLOWS], honest = NONE, chains = 0, ms, i;
	struct pcrp_msg m;

	rx_init(&t, C, 4);
	forget_credit();
	for (i = 0; i < forgers; i++)
		idx[i] = NONE;
	for (ms = 0; ms < 100; ms++, t.now_ns += MS) {
		for (i = 0; i < forgers; i++) {
			t.source = 1 + i % 3;
			m = msg_of(PCRP_PROBE, ms, C + 1, 0);
			idx[i] = rx_request(&t, idx[i], &m);
			if (data_bytes)
				data(idx[i], data_bytes);
		}
		if (honest == NONE) {
			t.source = 0;
			honest = request(NONE, 1 << 30, 0);
		}
		if (t.flows[honest].high < t.flows[honest].granted) {
			data(honest, C);
			chains++;
		}
		m = msg_of(PCRP_PROBE, 1, 1 << 30, t.flows[honest].high);
		rx_request(&t, honest, &m);
		rx_expire(&t);
	}
	return chains;
}

/* Forgers who fill the table with REQUESTs cost an honest flow at most 5 % of its chains. */
static void test_forgers(void **state)
{
	(void)state;
	assert_int_equal(chains_beside(0, 0), 100);
	assert_in_range(chains_beside(RX_SOURCE_FLOWS, 0), 95, 100);
	assert_in_range(chains_beside(RX_SOURCE_FLOWS, 1), 95, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_place_before_data),
		cmocka_unit_test(test_no_life_before_data),
		cmocka_unit_test(test_unused_place),
		cmocka_unit_test(test_trickle),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_places_of_source),
		cmocka_unit_test(test_makes_way),
		cmocka_unit_test(test_trusted_first),
		cmocka_unit_test(test_untrusted_evicts_none),
		cmocka_unit_test(test_probe_without_data),
		cmocka_unit_test(test_flows_of_source),
		cmocka_unit_test(test_forgers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
