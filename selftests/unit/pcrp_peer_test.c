// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_peer.c: state of a peer, retries, and base round-trip time
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

/* Send requests until the peer is silent. Return: the time */
static u64 request_until_silent(struct pcrp_peer *peer, bool gated, u64 now, u64 interval)
{
	for (;; now += interval) {
		bool may = pcrp_peer_request(peer, gated, now);

		if (peer->state == PCRP_PEER_SILENT) {
			assert_false(may);
			return now;
		}
	}
}

/* A zeroed peer is unknown and may get requests. */
static void test_unknown(void **state)
{
	struct pcrp_peer peer = {};

	(void)state;
	assert_int_equal(peer.state, PCRP_PEER_UNKNOWN);
	assert_true(pcrp_peer_request(&peer, false, 0));
	assert_int_equal(peer.state, PCRP_PEER_UNKNOWN);
	pcrp_peer_answered(&peer);
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
}

/* A peer is silent after 5 unanswered requests and 5 ms, but not after one of these. */
static void test_silent(void **state)
{
	struct pcrp_peer quick = {}, slow = {}, peer = {};
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_true(pcrp_peer_request(&quick, true, SEC + i));
	assert_true(pcrp_peer_request(&quick, true, SEC + 5 * MS - 1));
	assert_false(pcrp_peer_request(&quick, true, SEC + 5 * MS));

	for (i = 0; i < 5; i++)
		assert_true(pcrp_peer_request(&slow, true, SEC + i * 100 * MS));
	assert_false(pcrp_peer_request(&slow, true, SEC + 500 * MS));

	/* earlier answers make no difference */
	pcrp_peer_answered(&peer);
	assert_true(request_until_silent(&peer, true, SEC, MS) == SEC + 5 * MS);
}

/* Ungated flows send 5 requests to an unknown peer, and retry when it is silent. */
static void test_ungated_requests(void **state)
{
	struct pcrp_peer peer = {};
	u32 sent = 0;
	u64 now;

	(void)state;
	for (now = SEC; now < SEC + 5 * MS; now += 20 * US)
		sent += pcrp_peer_request(&peer, false, now);
	assert_int_equal(sent, PCRP_SILENT_REQUESTS);
	assert_true(pcrp_peer_request(&peer, true, now - 1));
	for (; now < SEC + 15 * MS; now += 20 * US)
		assert_false(pcrp_peer_request(&peer, false, now));
	assert_int_equal(peer.state, PCRP_PEER_SILENT);
	assert_true(pcrp_peer_request(&peer, false, now));

	/* the peer became silent long ago: the next flow may send a request */
	peer = (struct pcrp_peer) {};
	for (sent = 0; sent < PCRP_SILENT_REQUESTS; sent++)
		assert_true(pcrp_peer_request(&peer, false, SEC));
	assert_true(pcrp_peer_request(&peer, false, SEC + 15 * MS));
	assert_int_equal(peer.state, PCRP_PEER_SILENT);
	assert_false(pcrp_peer_request(&peer, false, SEC + 35 * MS - 1));
	assert_true(pcrp_peer_request(&peer, false, SEC + 35 * MS));
}

/* Any answer resets the number of unanswered requests. */
static void test_answers(void **state)
{
	struct pcrp_peer peer = {};
	u64 now = SEC;
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++, now += 2 * MS) {
		assert_true(pcrp_peer_request(&peer, true, now));
		if (i % 5 == 4)
			pcrp_peer_answered(&peer);
	}
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
	now = request_until_silent(&peer, true, now, MS);
	pcrp_peer_answered(&peer);
	assert_int_equal(peer.state, PCRP_PEER_ANSWERING);
	assert_true(pcrp_peer_request(&peer, true, now));
}

/* A silent peer gets requests after 10 ms, 20 ms .. 10 s, for ungated flows only. */
static void test_retries(void **state)
{
	struct pcrp_peer peer = {};
	u64 now = request_until_silent(&peer, true, SEC, MS), wait = 10 * MS;
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++) {
		assert_false(pcrp_peer_request(&peer, false, now + wait - 1));
		now += wait;
		assert_false(pcrp_peer_request(&peer, true, now));
		assert_true(pcrp_peer_request(&peer, false, now));
		assert_int_equal(peer.state, PCRP_PEER_SILENT);
		wait = 2 * wait < 10 * SEC ? 2 * wait : 10 * SEC;
	}
	assert_true(wait == 10 * SEC);

	/* after an answer, the first wait is short again */
	pcrp_peer_answered(&peer);
	now = request_until_silent(&peer, false, now, MS);
	assert_false(pcrp_peer_request(&peer, false, now + 10 * MS - 1));
	assert_true(pcrp_peer_request(&peer, false, now + 10 * MS));
}

/* ------------------------------------------------ the base round trip */

/* The base round-trip time is within its bounds, and 20 µs without samples. */
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

/* A new minimum counts at once, and is forgotten after 5 to 10 s. */
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

	/* a sample with an earlier time does no harm */
	pcrp_rtt_sample(&r, 65 * US, now + 10 * SEC - 1);
	assert_int_equal(pcrp_rtt_ns(&r, now + 10 * SEC), 60 * US);

	/* all samples are forgotten after 10 s */
	assert_int_equal(pcrp_rtt_ns(&r, now + 20 * SEC), 20 * US);
}

/* The minimum agrees with one computed from all samples. */
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
		cmocka_unit_test(test_ungated_requests),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_rtt_bounds),
		cmocka_unit_test(test_rtt_memory),
		cmocka_unit_test(test_rtt_random),
	};

	return cmocka_run_group_tests_name("pcrp_peer", tests, NULL, NULL);
}
