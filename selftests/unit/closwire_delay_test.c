// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/closwire/closwire_delay.c: the buckets of delays, against their definition
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/closwire/closwire_delay.h"

/* Smallest delay of a bucket, as readers of the dump compute it */
static u64 from_ns(u32 bucket)
{
	u32 octave = bucket / 16 ? bucket / 16 - 1 : 0;

	return (u64)(bucket - octave * 16) << octave;
}

static void test_small_delays_have_a_bucket_each(void **state)
{
	u64 ns;

	(void)state;
	for (ns = 0; ns < 32; ns++)
		assert_int_equal(closwire_delay_bucket(ns), ns);
	assert_int_equal(closwire_delay_bucket(33), 32);
	assert_int_equal(closwire_delay_bucket(34), 33);
}

static void test_buckets_are_contiguous(void **state)
{
	u32 bucket;

	(void)state;
	for (bucket = 1; bucket < CLOSWIRE_DELAY_BUCKETS; bucket++) {
		assert_int_equal(closwire_delay_bucket(from_ns(bucket)), bucket);
		assert_int_equal(closwire_delay_bucket(from_ns(bucket) - 1), bucket - 1);
	}
	assert_int_equal(closwire_delay_bucket(U64_MAX), CLOSWIRE_DELAY_BUCKETS - 1);
}

static void test_a_bucket_is_a_sixteenth_wide(void **state)
{
	u32 bucket;

	(void)state;
	for (bucket = 16; bucket + 1 < CLOSWIRE_DELAY_BUCKETS; bucket++)
		assert_true(from_ns(bucket + 1) - from_ns(bucket) <= from_ns(bucket) / 16);
}

static void test_delays_are_counted_with_their_extremes(void **state)
{
	static struct closwire_delays d;
	u64 frames = 0;
	u32 i;

	(void)state;
	closwire_delay_init(&d);
	assert_true(d.min_ns == U64_MAX && !d.max_ns);
	closwire_delay_add(&d, 5000);
	assert_true(d.min_ns == 5000 && d.max_ns == 5000);
	closwire_delay_add(&d, 7000);
	closwire_delay_add(&d, 6000);
	assert_true(d.min_ns == 5000 && d.max_ns == 7000);
	assert_int_equal(d.frames[closwire_delay_bucket(6000)], 1);
	closwire_delay_add(&d, 0);
	closwire_delay_add(&d, U64_MAX);
	assert_true(!d.min_ns && d.max_ns == U64_MAX);
	for (i = 0; i < CLOSWIRE_DELAY_BUCKETS; i++)
		frames += d.frames[i];
	assert_int_equal(frames, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_delays_have_a_bucket_each),
		cmocka_unit_test(test_buckets_are_contiguous),
		cmocka_unit_test(test_a_bucket_is_a_sixteenth_wide),
		cmocka_unit_test(test_delays_are_counted_with_their_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
