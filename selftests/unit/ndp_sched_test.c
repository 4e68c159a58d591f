// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/ndp/ndpq_queue.c, departures: coin, ratio of headers to data, fair share
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_model.h"
#include "ndp_port.h"
#include "rng.h"

/* ------------------------------------------------ coin and ratio */

/* A fair coin trims arrivals and tails equally often, within five sigmas. */
static void test_fair_coin_trims_half_of_each(void **state)
{
	const u32 n = 100000, five_sigmas = 791;
	struct port_conf conf = port_paper;
	u32 heads = 0, i;
	struct ndp_port port;
	struct rng rng;
	struct pkt p;
	bool coin;

	(void)state;
	conf.headers_per_data = 2 * n;
	port_setup(&port, &conf);
	rng_seed(&rng, 3);
	port_backlog(&port, SORT_FULL, JUMBO_FRAME, 8);
	for (i = 0; i < n; i++) {
		coin = rng_percent(&rng, 50);
		heads += coin;
		port_arrive(&port, new_pkt(SORT_FULL, JUMBO_FRAME), coin);
		port_depart(&port, &p);
		assert_int_equal(p.sort, SORT_CUT);
	}
	assert_int_equal(port.t.cut_tails, heads);
	assert_int_equal(port.t.cut_arrivals, n - heads);
	assert_in_range(heads, n / 2 - five_sigmas, n / 2 + five_sigmas);
	port_purge(&port);
}

/* While both queues wait, @ratio headers precede each data packet. */
static void exact_ratio(u32 ratio, u32 rounds)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	u32 i, j;
	struct pkt p;

	conf.headers_per_data = ratio;
	port_setup(&port, &conf);
	port_backlog(&port, SORT_FULL, JUMBO_FRAME, 8);
	port_backlog(&port, SORT_SHORT, 64, 2);
	for (i = 0; i < rounds; i++) {
		for (j = 0; j < ratio; j++) {
			assert_true(port_depart(&port, &p));
			assert_int_equal(p.sort, SORT_SHORT);
			port_backlog(&port, SORT_SHORT, 64, 1);
		}
		assert_true(port_depart(&port, &p));
		assert_int_equal(p.sort, SORT_FULL);
		port_backlog(&port, SORT_FULL, JUMBO_FRAME, 1);
	}
	port_purge(&port);
}

static void test_ratio_is_exact(void **state)
{
	(void)state;
	exact_ratio(10, 1000);
	exact_ratio(1, 1000);
	exact_ratio(2, 1000);
	exact_ratio(100000, 2);
}

static void expect_order(struct ndp_port *port, const char *order)
{
	struct pkt p;

	for (; *order; order++) {
		assert_true(port_depart(port, &p));
		assert_int_equal(p.sort, *order == 'h' ? SORT_SHORT : SORT_FULL);
	}
}

/* While only one queue waits, the round neither restarts nor advances. */
static void test_round_rests_while_one_queue_waits(void **state)
{
	struct ndp_port port;

	(void)state;
	port_setup(&port, &port_paper);
	port_backlog(&port, SORT_FULL, JUMBO_FRAME, 8);
	port_backlog(&port, SORT_SHORT, 64, 7);
	expect_order(&port, "hhhhhhhdd");
	port_backlog(&port, SORT_SHORT, 64, 20);
	expect_order(&port, "hhhdhhhhhhhhhhdhhhhhhhddd");
	assert_int_equal(port.v.q[NDPQ_DATA].packets, 1);
	expect_order(&port, "d");
	/* seven headers of the round were sent; headers alone do not advance it */
	port_backlog(&port, SORT_SHORT, 64, 30);
	expect_order(&port, "hhhhhhhhhhhh");
	port_backlog(&port, SORT_FULL, JUMBO_FRAME, 8);
	expect_order(&port, "hhhdhhhhhhhhhhdhhhhhdddddd");
	port_purge(&port);
}

/* In the modes with one FIFO, packets depart in the order of arrival. */
static void one_fifo(enum port_mode mode)
{
	struct port_conf conf = port_paper;
	struct ndp_port port;
	struct rng rng;
	enum pkt_sort sort;
	u32 i, last = 0;
	struct pkt p;

	rng_seed(&rng, mode);
	conf.mode = mode;
	conf.headers_per_data = 1;
	port_setup(&port, &conf);
	for (i = 0; i < 5000; i++) {
		if (rng_percent(&rng, 60)) {
			sort = rng_percent(&rng, 50) ? SORT_FULL : SORT_SHORT;
			port_put(&port, sort, rng_in(&rng, 64, 9000));
			continue;
		}
		if (!port_depart(&port, &p))
			continue;
		assert_true(p.id > last);
		last = p.id;
	}
	assert_int_equal(port.t.cut_tails, 0);
	port_purge(&port);
}

static void test_one_fifo_keeps_order(void **state)
{
	(void)state;
	one_fifo(PORT_CP);
	one_fifo(PORT_DROPTAIL);
}

/* ------------------------------------------------ fair share */

/* Ranges of the packet lengths of both sides */
struct share {
	u32 ndp_from;
	u32 ndp_to;
	u32 foreign_from;
	u32 foreign_to;
};

static s64 distance(s64 a, s64 b)
{
	return a > b ? a - b : b - a;
}

/* Both sides always wait: neither is ever ahead by more than the longest packet. */
static void fair_share(const struct share *s)
{
	u32 longest = s->ndp_to > s->foreign_to ? s->ndp_to : s->foreign_to;
	s64 ndp = 0, foreign = 0;
	struct ndp_port port;
	struct rng rng;
	struct pkt p;
	int i;

	rng_seed(&rng, 4);
	port_setup(&port, &port_paper);
	for (i = 0; i < 4; i++) {
		port_put(&port, SORT_FULL, rng_in(&rng, s->ndp_from, s->ndp_to));
		port_put(&port, SORT_FOREIGN, rng_in(&rng, s->foreign_from, s->foreign_to));
	}
	for (i = 0; i < 100000; i++) {
		assert_true(port_depart(&port, &p));
		if (p.sort == SORT_FOREIGN) {
			foreign += p.len;
			port_put(&port, SORT_FOREIGN,
				 rng_in(&rng, s->foreign_from, s->foreign_to));
		} else {
			ndp += p.len;
			port_put(&port, SORT_FULL, rng_in(&rng, s->ndp_from, s->ndp_to));
		}
		assert_in_range(distance(ndp, foreign), 0, longest);
	}
	assert_true(ndp > 0 && foreign > 0);
	port_purge(&port);
}

static void test_shares_are_fair_within_a_packet(void **state)
{
	static const struct share shares[] = {
		{ MTU_FRAME, MTU_FRAME, MTU_FRAME, MTU_FRAME },
		{ JUMBO_FRAME, JUMBO_FRAME, 60, 60 },
		{ 129, 129, JUMBO_FRAME, JUMBO_FRAME },
		{ 129, JUMBO_FRAME, 60, JUMBO_FRAME },
		{ 129, 129, GSO_FRAME, GSO_FRAME },
		{ JUMBO_FRAME, JUMBO_FRAME, 60, GSO_FRAME },
		{ 1500, 1514, 65000, GSO_FRAME },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		fair_share(&shares[i]);
}

/* Headers count for NDP's share, like data. */
static void test_headers_count_for_the_share(void **state)
{
	s64 ndp = 0, foreign = 0;
	struct ndp_port port;
	struct pkt p;
	int i;

	(void)state;
	port_setup(&port, &port_paper);
	port_backlog(&port, SORT_FULL, JUMBO_FRAME, 4);
	port_backlog(&port, SORT_CUT, 128, 4);
	port_backlog(&port, SORT_FOREIGN, MTU_FRAME, 4);
	for (i = 0; i < 50000; i++) {
		assert_true(port_depart(&port, &p));
		*(p.sort == SORT_FOREIGN ? &foreign : &ndp) += p.len;
		port_backlog(&port, p.sort, p.len, 1);
		assert_in_range(distance(ndp, foreign), 0, JUMBO_FRAME);
	}
	port_purge(&port);
}

/* Count the bytes of a sort that leave before the first packet of the other side. */
static u32 head_start(struct ndp_port *port, enum pkt_sort sort)
{
	u32 bytes = 0;
	struct pkt p;

	while (port_depart(port, &p) && p.sort == sort)
		bytes += p.len;
	return bytes;
}

/* One side sends a megabyte alone. This gives the other side no credit. */
static void test_idle_side_gets_no_credit(void **state)
{
	struct ndp_port port;
	struct pkt p;
	int i;

	(void)state;
	port_setup(&port, &port_paper);
	for (i = 0; i < 1000; i++) {
		port_backlog(&port, SORT_FULL, 1000, 1);
		assert_true(port_depart(&port, &p));
	}
	port_backlog(&port, SORT_FULL, 1000, 8);
	port_backlog(&port, SORT_FOREIGN, 1000, 8);
	assert_in_range(head_start(&port, SORT_FOREIGN), 0, 1000);
	port_purge(&port);

	port_setup(&port, &port_paper);
	for (i = 0; i < 1000; i++) {
		port_backlog(&port, SORT_FOREIGN, 1000, 1);
		assert_true(port_depart(&port, &p));
	}
	port_backlog(&port, SORT_FULL, 1000, 8);
	port_backlog(&port, SORT_FOREIGN, 1000, 8);
	assert_in_range(head_start(&port, SORT_FULL), 0, 1000);
	port_purge(&port);
}

/*
 * A GSO packet puts foreign traffic 65000 bytes ahead. NDP gets exactly these
 * bytes, even if foreign traffic pauses for a while.
 */
static void test_debt_is_paid_exactly(void **state)
{
	struct ndp_port port;
	struct pkt p;
	int i;

	(void)state;
	port_setup(&port, &port_paper);
	port_backlog(&port, SORT_FULL, 1000, 1);
	port_backlog(&port, SORT_FOREIGN, 65000, 1);
	expect_order(&port, "d");
	assert_int_equal(port.v.other_ahead_bytes, -1000);
	port_backlog(&port, SORT_FULL, 1000, 1);
	assert_true(port_depart(&port, &p));
	assert_int_equal(p.sort, SORT_FOREIGN);
	assert_int_equal(port.v.other_ahead_bytes, 64000);

	/* the 24 packets that NDP sends alone reduce the debt */
	for (i = 0; i < 24; i++) {
		expect_order(&port, "d");
		port_backlog(&port, SORT_FULL, 1000, 1);
	}
	assert_int_equal(port.v.other_ahead_bytes, 40000);
	port_backlog(&port, SORT_FOREIGN, 65000, 1);
	for (i = 0; i < 40; i++) {
		expect_order(&port, "d");
		port_backlog(&port, SORT_FULL, 1000, 1);
	}
	assert_int_equal(port.v.other_ahead_bytes, 0);
	expect_order(&port, "d");
	port_backlog(&port, SORT_FULL, 1000, 1);
	assert_true(port_depart(&port, &p));
	assert_int_equal(p.sort, SORT_FOREIGN);

	/* NDP sends alone for longer than the debt: no credit builds up */
	for (i = 0; i < 100; i++) {
		expect_order(&port, "d");
		port_backlog(&port, SORT_FULL, 1000, 1);
	}
	assert_int_equal(port.v.other_ahead_bytes, 0);
	port_purge(&port);
}

/* The debt of a side remains while that side is served alone. */
static void test_debt_outlasts_service_alone(void **state)
{
	struct ndp_port port;
	struct pkt p;
	int i;

	(void)state;
	port_setup(&port, &port_paper);
	port.v.other_ahead_bytes = 5000;
	for (i = 0; i < 10; i++) {
		port_backlog(&port, SORT_FOREIGN, 60000, 1);
		assert_true(port_depart(&port, &p));
	}
	assert_int_equal(port.v.other_ahead_bytes, 5000);

	port.v.other_ahead_bytes = -5000;
	for (i = 0; i < 10; i++) {
		port_backlog(&port, SORT_SHORT, 64, 1);
		assert_true(port_depart(&port, &p));
	}
	assert_int_equal(port.v.other_ahead_bytes, -5000);
	port_backlog(&port, SORT_FOREIGN, 3000, 1);
	assert_true(port_depart(&port, &p));
	assert_int_equal(port.v.other_ahead_bytes, -2000);
	port_backlog(&port, SORT_FOREIGN, 3000, 1);
	assert_true(port_depart(&port, &p));
	assert_int_equal(port.v.other_ahead_bytes, 0);
	port_purge(&port);
}

/*
 * One side has one long packet at a time, with a pause after each. The other
 * side always waits. The first side must not get more than half.
 */
static void pulsing(enum pkt_sort pulse, u32 pulse_len,
		    enum pkt_sort steady, u32 steady_len)
{
	u64 pulse_bytes = 0, steady_bytes = 0;
	int i, absent = 0, showing = 0;
	struct ndp_port port;
	struct pkt p;

	port_setup(&port, &port_paper);
	port_backlog(&port, steady, steady_len, 4);
	for (i = 0; i < 20000; i++) {
		if (!showing && absent++ == 2) {
			port_backlog(&port, pulse, pulse_len, 1);
			showing = 1;
			absent = 0;
		}
		assert_true(port_depart(&port, &p));
		if (p.sort == pulse) {
			pulse_bytes += p.len;
			showing = 0;
		} else {
			steady_bytes += p.len;
			port_backlog(&port, steady, steady_len, 1);
		}
		assert_true(pulse_bytes <= steady_bytes + pulse_len);
	}
	port_purge(&port);
}

static void test_pulses_gain_no_share(void **state)
{
	(void)state;
	pulsing(SORT_FOREIGN, GSO_FRAME, SORT_FULL, 1514);
	pulsing(SORT_FOREIGN, JUMBO_FRAME, SORT_SHORT, 64);
	pulsing(SORT_FULL, JUMBO_FRAME, SORT_FOREIGN, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fair_coin_trims_half_of_each),
		cmocka_unit_test(test_ratio_is_exact),
		cmocka_unit_test(test_round_rests_while_one_queue_waits),
		cmocka_unit_test(test_one_fifo_keeps_order),
		cmocka_unit_test(test_shares_are_fair_within_a_packet),
		cmocka_unit_test(test_headers_count_for_the_share),
		cmocka_unit_test(test_idle_side_gets_no_credit),
		cmocka_unit_test(test_debt_is_paid_exactly),
		cmocka_unit_test(test_debt_outlasts_service_alone),
		cmocka_unit_test(test_pulses_gain_no_share),
	};

	return cmocka_run_group_tests_name("ndp_sched", tests, NULL, NULL);
}
