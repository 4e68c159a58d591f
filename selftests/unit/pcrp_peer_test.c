// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_peer.h: who answers, who is asked again and when; the base round trip
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_peer.h"
#include "rng.h"

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL

/* ------------------------------------------------ peers */

/* Asks until the peer counts as silent; the time at which it does. */
static u64 ask_until_silent(struct pcrp_peer *peer, bool gated, u64 now, u64 interval)
{
	for (;; now += interval) {
		bool may = pcrp_peer_ask(peer, gated, now);

		if (peer->state == PCRP_PEER_SILENT) {
			assert_false(may);
			return now;
		}
	}
}

/* Zeros are a peer of which nothing is known, and which may be asked. */
static void test_unknown(void **state)
{
	struct pcrp_peer peer = {};

	(void)state;
	assert_int_equal(peer.state, PCRP_PEER_UNKNOWN);
	assert_true(pcrp_peer_ask(&peer, false, 0));
	assert_int_equal(peer.state, PCRP_PEER_UNKNOWN);
	pcrp_peer_answered(&peer);
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
}

/* Five, and for five milliseconds: neither is enough without the other. */
static void test_silent(void **state)
{
	struct pcrp_peer quick = {}, slow = {}, peer = {};
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_true(pcrp_peer_ask(&quick, true, SEC + i));
	assert_true(pcrp_peer_ask(&quick, true, SEC + 5 * MS - 1));
	assert_false(pcrp_peer_ask(&quick, true, SEC + 5 * MS));

	for (i = 0; i < 5; i++)
		assert_true(pcrp_peer_ask(&slow, true, SEC + i * 100 * MS));
	assert_false(pcrp_peer_ask(&slow, true, SEC + 500 * MS));

	/* the same whether it has answered before or not */
	pcrp_peer_answered(&peer);
	assert_true(ask_until_silent(&peer, true, SEC, MS) == SEC + 5 * MS);
}

/* Who does not wait asks five times, however many chains it sends; and then it may again. */
static void test_ungated_asks(void **state)
{
	struct pcrp_peer peer = {};
	u32 asked = 0;
	u64 now;

	(void)state;
	for (now = SEC; now < SEC + 5 * MS; now += 20 * US)
		asked += pcrp_peer_ask(&peer, false, now);
	assert_int_equal(asked, PCRP_SILENT_ASKED);
	assert_true(pcrp_peer_ask(&peer, true, now - 1));
	for (; now < SEC + 15 * MS; now += 20 * US)
		assert_false(pcrp_peer_ask(&peer, false, now));
	assert_int_equal(peer.state, PCRP_PEER_SILENT);
	assert_true(pcrp_peer_ask(&peer, false, now));

	/* it was silent already when nobody asked: the next flow may */
	peer = (struct pcrp_peer) {};
	for (asked = 0; asked < PCRP_SILENT_ASKED; asked++)
		assert_true(pcrp_peer_ask(&peer, false, SEC));
	assert_true(pcrp_peer_ask(&peer, false, SEC + 15 * MS));
	assert_int_equal(peer.state, PCRP_PEER_SILENT);
	assert_false(pcrp_peer_ask(&peer, false, SEC + 35 * MS - 1));
	assert_true(pcrp_peer_ask(&peer, false, SEC + 35 * MS));
}

/* Any answer, and the count starts anew. */
static void test_answers(void **state)
{
	struct pcrp_peer peer = {};
	u64 now = SEC;
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++, now += 2 * MS) {
		assert_true(pcrp_peer_ask(&peer, true, now));
		if (i % 5 == 4)
			pcrp_peer_answered(&peer);
	}
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
	now = ask_until_silent(&peer, true, now, MS);
	pcrp_peer_answered(&peer);
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
	assert_true(pcrp_peer_ask(&peer, true, now));
}

/* 10 ms, 20 ms .. 10 s; only beside a flow that does not wait. */
static void test_retries(void **state)
{
	struct pcrp_peer peer = {};
	u64 now = ask_until_silent(&peer, true, SEC, MS), wait = 10 * MS;
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++) {
		assert_false(pcrp_peer_ask(&peer, false, now + wait - 1));
		now += wait;
		assert_false(pcrp_peer_ask(&peer, true, now));
		assert_true(pcrp_peer_ask(&peer, false, now));
		assert_int_equal(peer.state, PCRP_PEER_SILENT);
		wait = 2 * wait < 10 * SEC ? 2 * wait : 10 * SEC;
	}
	assert_true(wait == 10 * SEC);

	/* when it has answered, and fallen silent again, the first wait is short again */
	pcrp_peer_answered(&peer);
	now = ask_until_silent(&peer, false, now, MS);
	assert_false(pcrp_peer_ask(&peer, false, now + 10 * MS - 1));
	assert_true(pcrp_peer_ask(&peer, false, now + 10 * MS));
}

/* ------------------------------------------------ the base round trip */

static void test_rtt_bounds(void **state)
{
	struct pcrp_rtt none = {}, short_one = {}, long_one = {};

	(void)state;
	assert_int_equal(pcrp_rtt_ns(&none, SEC), 20 * US);
	pcrp_rtt_sample(&short_one, 1, SEC);
	assert_int_equal(pcrp_rtt_ns(&short_one, SEC), 5 * US);
	pcrp_rtt_sample(&long_one, 1ULL << 40, SEC);
	assert_int_equal(pcrp_rtt_ns(&long_one, SEC), 1 * MS);
}

/* The least counts at once, and is forgotten after five to ten seconds. */
static void test_rtt_memory(void **state)
{
	struct pcrp_rtt r = {};
	u64 now = 100 * SEC;

	(void)state;
	pcrp_rtt_sample(&r, 50 * US, now);
	pcrp_rtt_sample(&r, 30 * US, now + 1);
	pcrp_rtt_sample(&r, 70 * US, now + 2);
	assert_int_equal(pcrp_rtt_ns(&r, now + 2), 30 * US);
	pcrp_rtt_sample(&r, 60 * US, now + 5 * SEC);
	assert_int_equal(pcrp_rtt_ns(&r, now + 10 * SEC - 1), 30 * US);
	assert_int_equal(pcrp_rtt_ns(&r, now + 10 * SEC), 60 * US);

	/* a sample that was taken a moment before ends nothing */
	pcrp_rtt_sample(&r, 65 * US, now + 10 * SEC - 1);
	assert_int_equal(pcrp_rtt_ns(&r, now + 10 * SEC), 60 * US);

	/* nothing is left after ten seconds */
	assert_int_equal(pcrp_rtt_ns(&r, now + 20 * SEC), 20 * US);
}

/* Against all samples there were, kept */
static void test_rtt_random(void **state)
{
	enum { SAMPLES = 20000 };
	static u64 at[SAMPLES], took[SAMPLES];
	struct pcrp_rtt r = {};
	struct rng rng;
	u64 now = SEC, five, ten;
	u32 i, j;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < SAMPLES; i++) {
		now += rng_log(&rng, US, 2 * SEC);
		at[i] = now;
		took[i] = rng_in(&rng, 5 * US, 1 * MS);
		pcrp_rtt_sample(&r, took[i], now);
		five = took[i];
		ten = took[i];
		for (j = i; j-- && now - at[j] <= 10 * SEC;) {
			ten = took[j] < ten ? took[j] : ten;
			if (now - at[j] < 5 * SEC)
				five = took[j] < five ? took[j] : five;
		}
		assert_in_range(pcrp_rtt_ns(&r, now), ten, five);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_ungated_asks),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_rtt_bounds),
		cmocka_unit_test(test_rtt_memory),
		cmocka_unit_test(test_rtt_random),
	};

	return cmocka_run_group_tests_name("pcrp_peer", tests, NULL, NULL);
}
