// SPDX-License-Identifier: GPL-2.0-only
/* sch/act_lb: messages of global load balancing, and the store of remote qualities */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/act_lb/lb_remote.h"
#include "rng.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- messages ---- */

static void random_msg(struct lb_msg *m, struct rng *rng)
{
	u32 i, bits;

	memset(m, 0, sizeof(*m));
	m->ipv6 = rng_in(rng, 0, 1);
	m->prefix_len = rng_in(rng, 0, m->ipv6 ? 128 : 32);
	m->quality = rng_in(rng, 0, LB_BEST);
	m->stamp = (u64)rng_u32(rng) << 32 | rng_u32(rng);
	for (i = 0; i < m->prefix_len; i += 8) {
		bits = m->prefix_len - i < 8 ? m->prefix_len - i : 8;
		m->prefix[i / 8] = rng_u32(rng) & (0xff << (8 - bits));
	}
}

static void test_messages_are_read_as_written(void **state)
{
	struct lb_msg m, again;
	u8 buf[LB_MSG_LEN];
	struct rng rng;
	u32 i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 100000; i++) {
		random_msg(&m, &rng);
		lb_msg_write(buf, &m);
		memset(&again, 0, sizeof(again));
		assert_true(lb_msg_read(&again, buf, sizeof(buf)));
		assert_memory_equal(&m, &again, sizeof(m));
	}
}

static void test_message_has_the_documented_bytes(void **state)
{
	static const u8 expected[LB_MSG_LEN] = {
		1, 4, 24, 5, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 10, 0, 2,
	};
	struct lb_msg m = {
		.prefix_len = 24, .quality = 5, .stamp = 0x0102030405060708, .prefix = { 10, 0, 2 },
	};
	u8 buf[LB_MSG_LEN];

	(void)state;
	lb_msg_write(buf, &m);
	assert_memory_equal(buf, expected, sizeof(buf));
}

static void test_invalid_messages_are_refused(void **state)
{
	static const struct {
		u32 at;
		u8 value;
	} wrong[] = {
		{ 0, 0 }, { 0, 2 }, { 1, 0 }, { 1, 5 }, { 2, 33 }, { 2, 255 }, { 3, 8 }, { 14, 1 },
		{ 15, 1 }, { 27, 1 },
	};
	struct lb_msg m = { .prefix_len = 23, .quality = 5, .prefix = { 10, 0, 2 } };
	u8 buf[LB_MSG_LEN];
	u32 i;

	(void)state;
	lb_msg_write(buf, &m);
	assert_true(lb_msg_read(&m, buf, sizeof(buf)));
	for (i = 0; i < LB_MSG_LEN; i++)
		assert_false(lb_msg_read(&m, buf, i));
	for (i = 0; i < COUNT(wrong); i++) {
		m = (struct lb_msg) { .prefix_len = 23, .quality = 5, .prefix = { 10, 0, 2 } };
		lb_msg_write(buf, &m);
		buf[wrong[i].at] = wrong[i].value | (wrong[i].at == 14 ? 2 : 0);
		assert_false(lb_msg_read(&m, buf, sizeof(buf)));
	}
}

/* Accepted bytes are written back as the same bytes, so that each message has one form */
static void test_random_bytes_are_refused_or_read_exactly(void **state)
{
	u8 buf[LB_MSG_LEN], back[LB_MSG_LEN];
	u32 i, j, accepted = 0;
	struct lb_msg m;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < 1000000; i++) {
		for (j = 0; j < sizeof(buf); j++)
			buf[j] = rng_u32(&rng);
		buf[0] &= 1;
		buf[1] = rng_in(&rng, 3, 7);
		buf[3] &= 15;
		if (rng_in(&rng, 0, 1))
			memset(buf + 12 + rng_in(&rng, 0, 4), 0, 12);
		memset(buf + LB_MSG_AUTH, 0, 8);
		if (!lb_msg_read(&m, buf, sizeof(buf)))
			continue;
		accepted++;
		lb_msg_write(back, &m);
		assert_memory_equal(buf, back, sizeof(buf));
	}
	assert_true(accepted > 1000);
}

/* ---- store ---- */

#define PATHS	6

/* Random adverts of six paths in one bucket of four, beside a list of the last ones */
static void test_store_agrees_with_a_list(void **state)
{
	struct {
		u64 stamp;
		u64 received_ns;
		u8 quality;
	} list[PATHS] = { };
	struct lb_remote bucket[LB_REMOTE_WAYS] = { };
	u32 results[LB_RECEIVED_FULL + 1] = { }, i, path, forgotten = 0;
	u64 now = LB_AGE_NS * 2, stamp;
	enum lb_received got;
	struct rng rng;
	bool is_new;
	u8 quality;

	(void)state;
	rng_seed(&rng, 3);
	for (i = 0; i < 200000; i++) {
		now += rng_in(&rng, 1, LB_AGE_NS / 3);
		path = rng_in(&rng, 0, PATHS - 1);
		stamp = now - rng_in(&rng, 0, LB_AGE_NS);
		quality = rng_in(&rng, 0, LB_BEST);
		got = lb_remote_set(bucket, path + 1, stamp, quality, now);
		results[got]++;
		is_new = now - list[path].received_ns > LB_AGE_NS || stamp > list[path].stamp;
		if (got == LB_RECEIVED) {
			assert_true(is_new);
			list[path].stamp = stamp;
			list[path].received_ns = now;
			list[path].quality = quality;
		} else if (got == LB_RECEIVED_OLD) {
			assert_false(is_new);
		}
		for (path = 0; path < PATHS; path++) {
			quality = lb_remote_quality(bucket, path + 1, now);
			if (now - list[path].received_ns > LB_AGE_NS) {
				assert_int_equal(quality, LB_BEST);
				forgotten++;
			} else {
				assert_int_equal(quality, list[path].quality);
			}
		}
	}
	for (i = 0; i <= LB_RECEIVED_FULL; i++)
		assert_true(results[i] > 100);
	assert_true(forgotten > 1000);
}

static void test_unknown_path_has_the_best_quality(void **state)
{
	struct lb_remote bucket[LB_REMOTE_WAYS] = { };

	(void)state;
	assert_int_equal(lb_remote_quality(bucket, 7, LB_AGE_NS * 2), LB_BEST);
	assert_int_equal(lb_remote_set(bucket, 7, 1, 3, LB_AGE_NS * 2), LB_RECEIVED);
	assert_int_equal(lb_remote_quality(bucket, 7, LB_AGE_NS * 2), 3);
	assert_int_equal(lb_remote_quality(bucket, 9, LB_AGE_NS * 2), LB_BEST);
}

/* ---- telling ---- */

static void test_changes_are_told_at_once_and_others_repeated(void **state)
{
	const u64 start = 1000000000;
	struct lb_advert t = { };

	(void)state;
	assert_true(lb_advert_is_due(&t, 7, 16000, start));
	t = (struct lb_advert) {
		.sent_ns = start, .used_ns = start, .refresh_ns = LB_REFRESH_NS, .quality = 7,
	};
	assert_false(lb_advert_is_due(&t, 7, 16000, start + 16000));
	assert_false(lb_advert_is_due(&t, 6, 16000, start + 15999));
	assert_true(lb_advert_is_due(&t, 6, 16000, start + 16000));
	assert_false(lb_advert_is_due(&t, 7, 16000, start + LB_REFRESH_NS - 1));
	assert_true(lb_advert_is_due(&t, 7, 16000, start + LB_REFRESH_NS));
	assert_false(lb_advert_is_idle(&t, start + LB_AGE_NS));
	assert_true(lb_advert_is_idle(&t, start + LB_AGE_NS + 1));
	t.quality = 0;
	assert_false(lb_advert_is_idle(&t, start + LB_DOWN_NS));
	assert_true(lb_advert_is_idle(&t, start + LB_DOWN_NS + 1));
}

#define PREFIXES	3000
#define TICK_NS		10000

/* Count adverts of prefixes, in changing order, in some time. @quality: of a prefix in a tick */
static u32 adverts(struct lb_advert *t, struct lb_budget *b, u32 prefixes, u32 interval_ns,
		   u8 (*quality)(u32 prefix, u32 tick), u64 from, u64 time_ns)
{
	u32 sent = 0, tick, n, i;
	u64 now;
	u8 q;

	for (tick = 0; tick < time_ns / TICK_NS; tick++) {
		now = from + (u64)tick * TICK_NS;
		for (n = 0; n < prefixes; n++) {
			i = (n + 389 * tick) % prefixes;
			q = quality(i, tick);
			if (lb_advert_is_due(&t[i], q, interval_ns, now))
				sent += lb_advert_send(&t[i], b, q, now);
		}
	}
	return sent;
}

static u8 no_egress(u32 prefix, u32 tick)
{
	(void)prefix;
	(void)tick;
	return 0;
}

static u8 flapping(u32 prefix, u32 tick)
{
	return (prefix + tick) % 2 ? 0 : 7;
}

/* Half of the prefixes change all the time, but not to 0 */
static u8 half_change(u32 prefix, u32 tick)
{
	return prefix % 2 ? 5 : 1 + tick % 7;
}

static void test_unchanged_quality_is_repeated_more_and_more_seldom(void **state)
{
	struct lb_advert t = { };
	struct lb_budget b = { };

	(void)state;
	/* at 0, 1, 3, 7, 11, ... ms */
	assert_int_equal(adverts(&t, &b, 1, 16000, no_egress, LB_DOWN_NS, LB_DOWN_NS),
			 2 + LB_DOWN_NS / LB_REFRESH_MAX_NS);
	/* twice in the time after which the receiver forgets it */
	assert_true(2 * LB_REFRESH_MAX_NS < LB_AGE_NS);
	/* a change begins anew */
	assert_true(lb_advert_send(&t, &b, 3, 3 * LB_DOWN_NS));
	assert_true(lb_advert_is_due(&t, 3, 16000, 3 * LB_DOWN_NS + LB_REFRESH_NS));
}

static void test_flapping_prefix_sends_bounded_adverts(void **state)
{
	struct lb_advert t = { };
	struct lb_budget b = { };

	(void)state;
	assert_in_range(adverts(&t, &b, 1, 1000, flapping, LB_DOWN_NS, NSEC_PER_SEC),
			NSEC_PER_SEC / (2 * LB_CHANGE_NS), NSEC_PER_SEC / LB_CHANGE_NS + 1);
}

static void test_teller_sends_bounded_adverts(void **state)
{
	static struct lb_advert t[PREFIXES];
	const u64 time_ns = NSEC_PER_SEC / 10;
	struct lb_budget b = { };

	(void)state;
	memset(t, 0, sizeof(t));
	assert_in_range(adverts(t, &b, PREFIXES, 1000, flapping, LB_DOWN_NS, time_ns),
			time_ns / LB_TELL_NS, LB_TELL_BURST + time_ns / LB_TELL_NS + 1);
	memset(t, 0, sizeof(t));
	b.full_ns = 0;
	assert_in_range(adverts(t, &b, PREFIXES, 1000, no_egress, LB_DOWN_NS, time_ns),
			time_ns / LB_TELL_NS, LB_TELL_BURST + time_ns / LB_TELL_NS + 1);
}

/* All places of a teller are repeated in time, however often some of them change */
static void test_changes_leave_repetitions_their_part(void **state)
{
	static struct lb_advert t[LB_TELLER_PLACES];
	const u64 time_ns = NSEC_PER_SEC / 10;
	struct lb_budget b = { };
	u32 i;

	(void)state;
	adverts(t, &b, LB_TELLER_PLACES, 1000, half_change, LB_DOWN_NS, time_ns);
	for (i = 0; i < LB_TELLER_PLACES; i++)
		assert_true(LB_DOWN_NS + time_ns - t[i].sent_ns < LB_AGE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_are_read_as_written),
		cmocka_unit_test(test_message_has_the_documented_bytes),
		cmocka_unit_test(test_invalid_messages_are_refused),
		cmocka_unit_test(test_random_bytes_are_refused_or_read_exactly),
		cmocka_unit_test(test_store_agrees_with_a_list),
		cmocka_unit_test(test_unknown_path_has_the_best_quality),
		cmocka_unit_test(test_changes_are_told_at_once_and_others_repeated),
		cmocka_unit_test(test_unchanged_quality_is_repeated_more_and_more_seldom),
		cmocka_unit_test(test_flapping_prefix_sends_bounded_adverts),
		cmocka_unit_test(test_teller_sends_bounded_adverts),
		cmocka_unit_test(test_changes_leave_repetitions_their_part),
	};

	return cmocka_run_group_tests_name("lb_remote", tests, NULL, NULL);
}
