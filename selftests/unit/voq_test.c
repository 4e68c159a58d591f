// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/voq: order of VOQs, credit, messages; voq_random_test.c has random schedules
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/voq/voq_core.h"
#include "../../sch/voq/voq_grant.h"

#define SLOTS		8
#define BUCKETS		4
#define CREDIT		8192U
#define LEN		1000U
#define RETRY		1000000ULL
#define LEAF		9

static struct voq_table t;
static struct voq_queue slots[SLOTS];
static u32 bucket[BUCKETS];
static struct voq_granter g;
static bool uses_credit;	/* sources use and report each credit at once */
static struct voq_source places[SLOTS];
static u32 place_bucket[BUCKETS];

static int setup(void **state)
{
	(void)state;
	t = (struct voq_table) {
		.params = {
			.credits = true, .quantum = 1500, .credit = CREDIT, .retry_ns = RETRY,
		},
		.generation = 0xfffe,
	};
	voq_init(&t, slots, bucket, BUCKETS, SLOTS);
	g = (struct voq_granter) {
		.params = {
			.rate_Bps = 1250000000, .credit = CREDIT, .window = 8 * CREDIT,
			.retry_ns = RETRY,
		},
	};
	voq_grant_init(&g, places, place_bucket, BUCKETS, SLOTS);
	uses_credit = false;
	return 0;
}

static struct voq_key key_of(u8 dst)
{
	struct voq_key key = { };

	key.leaf[15] = LEAF;
	key.dst[15] = dst;
	return key;
}

static u32 claim(u8 dst, bool gated)
{
	struct voq_key key = key_of(dst);
	u32 slot = voq_claim(&t, &key, dst, gated);

	if (slot != VOQ_NO_SLOT)
		assert_int_equal(voq_find(&t, &key, dst), slot);
	return slot;
}

static void queue(u32 slot, u32 packets, u64 now_ns)
{
	while (packets--)
		voq_queued(&t, slot, LEN, now_ns);
}

static bool answer(const struct voq_msg *request, u8 op, u64 granted, u8 from, u64 now_ns)
{
	struct voq_msg m = *request;
	u8 addr[VOQ_ADDR_LEN] = { [15] = from };

	m.op = op;
	m.granted = granted;
	return voq_answer(&t, addr, &m, now_ns);
}

/* Send until no VOQ may. Return: number of packets */
static u32 send_all(u64 now_ns)
{
	u32 slot, n = 0;

	for (slot = voq_pick(&t, now_ns); slot != VOQ_NO_SLOT; slot = voq_pick(&t, now_ns), n++)
		voq_sent(&t, slot, LEN, now_ns);
	return n;
}

static void test_drr_shares_by_bytes(void **state)
{
	u32 small = claim(1, false), large = claim(2, false), slot, i;
	u64 bytes[SLOTS] = { };

	(void)state;
	for (i = 0; i < 4000; i++)
		voq_queued(&t, small, 100, 1);
	for (i = 0; i < 300; i++)
		voq_queued(&t, large, 1500, 1);
	for (i = 0; i < 3000; i++) {
		slot = voq_pick(&t, 1);
		bytes[slot] += slot == small ? 100 : 1500;
		voq_sent(&t, slot, slot == small ? 100 : 1500, 1);
	}
	assert_in_range(bytes[small], bytes[large] - 3000, bytes[large] + 3000);
}

static void test_voq_sends_no_more_than_credit(void **state)
{
	u32 slot = claim(1, true);
	struct voq_msg m;

	(void)state;
	queue(slot, 20, 1);
	assert_int_equal(voq_pick(&t, 1), VOQ_NO_SLOT);
	assert_int_equal(voq_request_ns(&t), 0);
	assert_int_equal(voq_request(&t, 1, &m), slot);
	assert_int_equal(m.queued, 20 * LEN);
	assert_int_equal(m.granted, 0);
	assert_int_equal(voq_request(&t, 1, &m), VOQ_NO_SLOT);
	assert_true(answer(&m, VOQ_GRANT, CREDIT, LEAF, 2));
	assert_int_equal(send_all(2), 9);	/* 8192 bytes: the ninth packet begins below */
	assert_int_equal(t.hungry, 1);
	assert_int_equal(voq_request(&t, 3, &m), slot);
	assert_int_equal(m.sent, 9 * LEN);
}

static void test_requests_are_one_a_credit(void **state)
{
	u32 slot = claim(1, true), n = 0, i;
	struct voq_msg m;

	(void)state;
	for (i = 0; i < 1000; i++) {
		voq_queued(&t, slot, LEN, i);
		n += voq_request(&t, i, &m) == slot;
	}
	assert_in_range(n, 100, 1000 * LEN / CREDIT + 1);
}

static void test_lost_request_is_repeated(void **state)
{
	u32 slot = claim(1, true);
	struct voq_msg m;

	(void)state;
	queue(slot, 1, 10);
	assert_int_equal(voq_request(&t, 10, &m), slot);
	assert_false(m.retry);
	assert_int_equal(voq_request_ns(&t), 10 + RETRY);
	assert_int_equal(voq_request(&t, 9 + RETRY, &m), VOQ_NO_SLOT);
	assert_int_equal(voq_request(&t, 10 + RETRY, &m), slot);
	assert_true(m.retry);
	assert_int_equal(t.stats.retries, 1);
}

static void test_silent_peer_opens_in_time(void **state)
{
	u32 slot = claim(1, true), tries = 0;
	struct voq_msg m;
	u64 now;

	(void)state;
	queue(slot, 3, 0);
	for (now = 0; now <= VOQ_TRIES * RETRY; now += RETRY) {
		assert_int_equal(voq_pick(&t, now), VOQ_NO_SLOT);
		tries += voq_request(&t, now, &m) == slot;
		queue(slot, 1, now);	/* packets do not prolong it */
	}
	assert_int_equal(tries, VOQ_TRIES);
	assert_int_equal(t.stats.opened, 1);
	assert_int_equal(send_all(now), 3 + VOQ_TRIES + 1);
	/* it tries again, and goes on to send meanwhile */
	now += VOQ_REOPEN_NS;
	queue(slot, 1, now);
	assert_int_equal(voq_request(&t, now, &m), slot);
	assert_int_equal(m.granted, m.sent);
	assert_int_equal(send_all(now), 1);
	queue(slot, 1, now);
	assert_true(answer(&m, VOQ_GRANT, m.granted, LEAF, now));
	assert_int_equal(send_all(now), 0);
	assert_int_equal(t.hungry, 1);
	/* the packet that it sent meanwhile is no use of credit that nobody gave */
	assert_int_equal(voq_request(&t, now, &m), slot);
	assert_int_equal(m.granted, m.sent);
}

static void test_refusal_opens_at_once(void **state)
{
	u32 slot = claim(1, true);
	struct voq_msg m;

	(void)state;
	queue(slot, 3, 0);
	voq_request(&t, 0, &m);
	assert_true(answer(&m, VOQ_REFUSE, 0, LEAF, 1));
	assert_int_equal(send_all(1), 3);
	assert_int_equal(voq_request_ns(&t), U64_MAX);
}

static void test_answers_of_strangers_are_ignored(void **state)
{
	u32 slot = claim(1, true), open = claim(2, false);
	struct voq_msg m;

	(void)state;
	queue(slot, 3, 0);
	queue(open, 1, 0);
	voq_request(&t, 0, &m);
	assert_false(answer(&m, VOQ_GRANT, LEN, LEAF + 1, 1));
	assert_false(answer(&m, VOQ_GRANT, 3 * LEN + 1, LEAF, 1));
	m.cookie += 1 << VOQ_SLOT_BITS;
	assert_false(answer(&m, VOQ_GRANT, LEN, LEAF, 1));
	m.cookie = VOQ_SLOTS_MAX - 1;
	assert_false(answer(&m, VOQ_GRANT, LEN, LEAF, 1));
	m.cookie = t.slot[open].cookie;	/* sends no requests */
	assert_false(answer(&m, VOQ_GRANT, 0, LEAF, 1));
	assert_int_equal(t.stats.ignored, 5);
	assert_int_equal(send_all(1), 1);
}

static void test_old_grant_takes_no_credit_back(void **state)
{
	u32 slot = claim(1, true);
	struct voq_msg m;

	(void)state;
	queue(slot, 20, 0);
	voq_request(&t, 0, &m);
	assert_true(answer(&m, VOQ_GRANT, 10 * LEN, LEAF, 1));
	assert_true(answer(&m, VOQ_GRANT, 2 * LEN, LEAF, 1));
	assert_int_equal(send_all(1), 10);
}

static void test_idle_voq_makes_room(void **state)
{
	struct voq_key first = key_of(1);
	u32 i;

	(void)state;
	for (i = 1; i <= SLOTS; i++)
		claim(i, false);
	queue(voq_find(&t, &first, 1), 1, 0);
	assert_int_equal(claim(100, false), 1);	/* slot 0 has a packet */
	assert_int_not_equal(voq_find(&t, &first, 1), VOQ_NO_SLOT);
	for (i = 0; i < SLOTS; i++)
		if (!t.slot[i].packets)
			queue(i, 1, 0);
	assert_int_equal(claim(101, false), VOQ_NO_SLOT);
	assert_int_equal(t.count, SLOTS);
}

static void test_voq_rate_paces_each_voq(void **state)
{
	u32 slow = claim(1, false), slot, sent[SLOTS] = { };
	u64 now;

	(void)state;
	t.params.rate_Bps = 1000000;	/* a packet each ms */
	queue(slow, 1000, 0);
	queue(claim(2, false), 10, 0);
	for (now = 0; now < 100000000; now += 100000)
		while ((slot = voq_pick(&t, now)) != VOQ_NO_SLOT) {
			sent[slot]++;
			voq_sent(&t, slot, LEN, now);
		}
	assert_in_range(sent[slow], 99, 101);
	assert_int_equal(sent[1], 10);
	assert_in_range(voq_next_ns(&t), now - 1, now + 1000000);
	t.params.rate_Bps = 0;
	voq_update(&t, now);
	assert_int_equal(send_all(now), 1000 - sent[slow]);
}

/* ---- the egress port ---- */

static struct voq_source_key source_of(u32 cookie)
{
	struct voq_source_key key = { .id = 7, .cookie = cookie };

	key.addr[15] = 1;
	return key;
}

static bool request(u32 cookie, u64 queued, u64 granted, u64 sent, bool retry, u64 now_ns,
		    struct voq_msg *out)
{
	struct voq_source_key key = source_of(cookie);
	struct voq_msg m = {
		.op = VOQ_REQUEST, .id = 7, .cookie = cookie, .queued = queued,
		.granted = granted, .sent = sent, .retry = retry,
	};

	return voq_grant_request(&g, &key, cookie, &m, now_ns, out);
}

/* Give credit until @end. Return: bytes granted */
static u64 grant_until(u64 end, u64 backlog, u64 *by_cookie)
{
	u64 before = g.stats.granted_bytes, was = before;
	struct voq_source_key to;
	struct voq_msg m, answer;
	u64 now;

	for (now = voq_grant_ns(&g); now < end; now = voq_grant_ns(&g))
		while (voq_grant_next(&g, backlog, now, &to, &m)) {
			if (by_cookie)
				by_cookie[m.cookie] += g.stats.granted_bytes - was;
			was = g.stats.granted_bytes;
			if (uses_credit)
				request(m.cookie, m.queued, m.granted, m.granted, false, now,
					&answer);
		}
	return was - before;
}

static void test_grants_are_in_turn_and_at_the_rate(void **state)
{
	u64 to[3] = { }, sum;
	struct voq_msg m;

	(void)state;
	uses_credit = true;
	request(0, 1 << 20, 0, 0, false, 1, &m);
	request(1, 1 << 20, 0, 0, false, 1, &m);
	request(2, 10000, 0, 0, false, 1, &m);
	sum = grant_until(200000, 0, to);	/* 250 kB */
	assert_in_range(sum, 240000, 270000);
	assert_int_equal(to[2], 10000);
	assert_in_range(to[0], to[1] - CREDIT, to[1] + CREDIT);
}

static void test_window_bounds_unused_credit(void **state)
{
	struct voq_msg m;

	(void)state;
	g.params.window = 6 * CREDIT;
	request(0, 1 << 20, 0, 0, false, 1, &m);
	assert_int_equal(grant_until(RETRY, 0, NULL), 6 * CREDIT);
	assert_true(g.stats.window_full);
	request(0, 1 << 20, 6 * CREDIT, 3 * CREDIT, false, RETRY, &m);
	assert_int_equal(grant_until(2 * RETRY, 0, NULL), 3 * CREDIT);
}

static void test_stalled_source_blocks_no_other(void **state)
{
	u64 to[2] = { };
	struct voq_msg m;

	(void)state;
	request(0, 1 << 20, 0, 0, false, 1, &m);
	grant_until(RETRY, 0, NULL);
	request(1, 4 * CREDIT, 0, 0, false, RETRY, &m);
	assert_int_equal(grant_until(2 * RETRY, 0, to), 0);
	grant_until(3 * RETRY, 0, to);
	assert_int_equal(to[0], 0);
	assert_int_equal(to[1], 4 * CREDIT);
	assert_int_equal(g.stats.stalled, 1);
	/* it goes on as soon as it uses its credit */
	request(0, 1 << 20, 8 * CREDIT, 8 * CREDIT, false, 3 * RETRY, &m);
	grant_until(3 * RETRY + 10000, 0, to);
	assert_in_range(to[0], CREDIT, 4 * CREDIT);
}

static void test_backlog_withholds_grants_but_not_all(void **state)
{
	u64 sum;
	struct voq_msg m;

	(void)state;
	uses_credit = true;
	request(0, 1 << 30, 0, 0, false, 1, &m);
	sum = grant_until(RETRY, VOQ_BACKLOG_CREDITS * CREDIT, NULL);
	assert_in_range(sum, 1250000 / 10, 1250000 / 8);
}

static void test_request_is_good_for_eight_credits(void **state)
{
	struct voq_msg m;

	(void)state;
	g.params.window = 1 << 30;
	request(0, 1 << 30, 0, 0, false, 1, &m);
	assert_int_equal(grant_until(RETRY, 0, NULL), 8 * CREDIT);
	assert_int_equal(g.waiting, 0);
	assert_int_equal(g.unused, 8 * CREDIT);
	assert_true(request(0, 1 << 30, 8 * CREDIT, 0, true, RETRY, &m));
	assert_int_equal(grant_until(2 * RETRY, 0, NULL), 8 * CREDIT);
}

static void test_withheld_grants_have_a_bounded_rate(void **state)
{
	struct voq_msg m;
	struct voq_source_key to;
	u32 calls = 0;
	u64 now;

	(void)state;
	g.params.rate_Bps = 1ULL << 38;
	g.params.credit = 256;
	g.params.window = 512;
	g.params.retry_ns = NSEC_PER_SEC;	/* no stall meanwhile */
	request(0, 1 << 20, 0, 0, false, 1, &m);
	for (now = voq_grant_ns(&g); now < RETRY; now = voq_grant_ns(&g), calls++)
		voq_grant_next(&g, 0, now, &to, &m);
	assert_true(g.stats.window_full);
	assert_in_range(calls, 100, 1010);
}

static void test_retry_is_answered_with_the_total(void **state)
{
	struct voq_msg m;

	(void)state;
	assert_false(request(0, 100000, 0, 0, false, 1, &m));
	grant_until(100000, 0, NULL);
	assert_true(request(0, 100000, 0, 0, true, 100000, &m));
	assert_int_equal(m.op, VOQ_GRANT);
	assert_int_equal(m.granted, 8 * CREDIT);
}

static void test_lost_state_is_taken_from_the_request(void **state)
{
	struct voq_msg m;

	(void)state;
	assert_true(request(0, 1100000, 1000000, 999000, true, 1, &m));
	assert_int_equal(m.granted, 1000000);
	grant_until(RETRY, 0, NULL);
	assert_true(request(0, 1100000, 1000000, 999000, true, RETRY, &m));
	assert_in_range(m.granted, 1000000 + 7 * CREDIT, 1000000 + 8 * CREDIT);
}

static void test_dead_source_is_forgotten(void **state)
{
	struct voq_msg m;

	(void)state;
	g.params.window = CREDIT;	/* its demand stays */
	request(0, 1 << 20, 0, 0, false, 1, &m);
	request(1, 1 << 20, 0, 0, false, 1, &m);
	grant_until(RETRY, 0, NULL);
	request(1, 1 << 20, 0, 0, false, 4 * RETRY, &m);
	grant_until(6 * RETRY, 0, NULL);
	assert_true(g.stats.stalled + g.stats.forgotten >= 1);
	assert_in_range(g.count, 1, 2);
	grant_until(20 * RETRY, 0, NULL);
	assert_int_equal(g.waiting, 0);
	assert_int_equal(g.unused, 0);
}

static void test_full_table_keeps_sources_with_demand(void **state)
{
	struct voq_msg m;
	u32 i;

	(void)state;
	for (i = 0; i < SLOTS; i++)
		request(i, i ? 1 << 20 : 0, 0, 0, false, 1, &m);
	request(100, 1 << 20, 0, 0, false, 1, &m);	/* replaces 0, which is quiet */
	assert_int_equal(g.stats.no_place, 0);
	request(101, 1 << 20, 0, 0, false, 1, &m);
	assert_int_equal(g.stats.no_place, 1);
	assert_int_equal(g.waiting, SLOTS);
}

/* ---- messages ---- */

static void test_message_reads_back(void **state)
{
	struct voq_msg m = {
		.op = VOQ_GRANT, .retry = true, .id = 0x01020304, .cookie = 0xfffefdfc,
		.queued = 1ULL << 40, .granted = (1ULL << 40) - 1, .sent = 5, .dst = { 1, 2, 3 },
	}, n = { };
	u8 b[VOQ_MSG_LEN], again[VOQ_MSG_LEN];

	(void)state;
	voq_msg_write(b, &m);
	assert_true(voq_msg_read(&n, b, sizeof(b)));
	assert_int_equal(n.queued, m.queued);
	assert_int_equal(n.cookie, m.cookie);
	assert_true(n.retry);
	voq_msg_write(again, &n);
	assert_memory_equal(again, b, sizeof(b));
	assert_false(voq_msg_read(&n, b, sizeof(b) - 1));
	b[1] = VOQ_OPS;
	assert_false(voq_msg_read(&n, b, sizeof(b)));
	b[1] = 0;
	assert_false(voq_msg_read(&n, b, sizeof(b)));
}

static void test_message_that_lies_is_refused(void **state)
{
	struct voq_msg m = { .op = VOQ_REQUEST, .queued = 5, .granted = 6 }, n;
	u8 b[VOQ_MSG_LEN];

	(void)state;
	voq_msg_write(b, &m);
	assert_false(voq_msg_read(&n, b, sizeof(b)));
	m = (struct voq_msg) { .op = VOQ_REQUEST, .queued = 5, .sent = 6 };
	voq_msg_write(b, &m);
	assert_false(voq_msg_read(&n, b, sizeof(b)));
	/* use of credit that nobody gave, but for the last packet */
	m = (struct voq_msg) {
		.op = VOQ_REQUEST, .queued = 1 << 30, .granted = 7, .sent = 7 + VOQ_OVERDRAW_MAX,
	};
	voq_msg_write(b, &m);
	assert_true(voq_msg_read(&n, b, sizeof(b)));
	m.sent++;
	voq_msg_write(b, &m);
	assert_false(voq_msg_read(&n, b, sizeof(b)));
}

/* Messages that claim huge numbers do not make the sum of unused credit wrap. */
static void test_forged_numbers_do_not_wrap(void **state)
{
	struct voq_msg m;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		request(i, U64_MAX, U64_MAX - 5, 0, false, 1, &m);
	assert_true(g.unused >= 3 * (VOQ_DEMAND_MAX - CREDIT));
	assert_true(g.unused <= 3 * VOQ_DEMAND_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_drr_shares_by_bytes, setup),
		cmocka_unit_test_setup(test_voq_sends_no_more_than_credit, setup),
		cmocka_unit_test_setup(test_requests_are_one_a_credit, setup),
		cmocka_unit_test_setup(test_lost_request_is_repeated, setup),
		cmocka_unit_test_setup(test_silent_peer_opens_in_time, setup),
		cmocka_unit_test_setup(test_refusal_opens_at_once, setup),
		cmocka_unit_test_setup(test_answers_of_strangers_are_ignored, setup),
		cmocka_unit_test_setup(test_old_grant_takes_no_credit_back, setup),
		cmocka_unit_test_setup(test_idle_voq_makes_room, setup),
		cmocka_unit_test_setup(test_voq_rate_paces_each_voq, setup),
		cmocka_unit_test_setup(test_grants_are_in_turn_and_at_the_rate, setup),
		cmocka_unit_test_setup(test_window_bounds_unused_credit, setup),
		cmocka_unit_test_setup(test_stalled_source_blocks_no_other, setup),
		cmocka_unit_test_setup(test_backlog_withholds_grants_but_not_all, setup),
		cmocka_unit_test_setup(test_request_is_good_for_eight_credits, setup),
		cmocka_unit_test_setup(test_withheld_grants_have_a_bounded_rate, setup),
		cmocka_unit_test_setup(test_retry_is_answered_with_the_total, setup),
		cmocka_unit_test_setup(test_lost_state_is_taken_from_the_request, setup),
		cmocka_unit_test_setup(test_dead_source_is_forgotten, setup),
		cmocka_unit_test_setup(test_full_table_keeps_sources_with_demand, setup),
		cmocka_unit_test_setup(test_message_reads_back, setup),
		cmocka_unit_test_setup(test_message_that_lies_is_refused, setup),
		cmocka_unit_test_setup(test_forged_numbers_do_not_wrap, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
