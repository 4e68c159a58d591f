// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/batch.h: all segments of a batch but the last have one length, and it is never
 * more than a packet of IP may be
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/ndp/batch.h"
#include "rng.h"

#define FRAGS	17	/* MAX_SKB_FRAGS of most kernels */

static struct ndp_batch b;

/* Puts @len behind what is there, as long as that is taken. Return: was it? */
static bool add(u16 len, u32 most)
{
	if (!ndp_batch_takes(&b, len, FRAGS, most))
		return false;
	ndp_batch_add(&b, len);
	return true;
}

static void begin(u16 len)
{
	b = ndp_batch_begin(3, 0, len);
	assert_int_equal(b.bytes, NDP_HLEN_MAX + len);
	assert_int_equal(b.packets, 1);
	assert_int_equal(b.path, 3);
}

static void test_equal(void **state)
{
	u32 most;

	(void)state;
	for (most = 1; most <= NDP_BATCH_PACKETS; most++) {
		begin(900);
		while (add(900, most))
			;
		assert_int_equal(b.packets, most);
		assert_int_equal(b.bytes, most * (NDP_HLEN_MAX + 900));
	}
}

static void test_short_one_ends_it(void **state)
{
	(void)state;
	begin(1400);
	assert_false(add(1401, 8));
	assert_true(add(1400, 8));
	assert_true(add(1, 8));
	assert_false(add(1, 8));
	assert_false(add(1400, 8));
	assert_int_equal(b.packets, 3);
}

static void test_alone(void **state)
{
	(void)state;
	begin(0);
	assert_false(add(1, 64));
	assert_false(add(1400, 64));
}

static void test_frags(void **state)
{
	u32 frags;

	(void)state;
	begin(1400);
	for (frags = 0; frags < 2 * NDP_BATCH_FRAGS; frags++)
		assert_int_equal(ndp_batch_takes(&b, 1400, frags, 8), frags >= NDP_BATCH_FRAGS);
}

/* IPv6, UDP and all segments are no more than 64 KiB, and one more would be nearly that. */
static void test_bytes(void **state)
{
	u32 len;

	(void)state;
	for (len = 256; len <= 32768; len++) {
		begin((u16)len);
		while (add((u16)len, NDP_BATCH_PACKETS))
			;
		assert_in_range(b.bytes, 1, 65535 - 40 - 8);
		if (b.packets < NDP_BATCH_PACKETS)
			assert_in_range(b.bytes + NDP_HLEN_MAX + len, 65535 - 200, 65535 * 2);
	}
}

static void test_random(void **state)
{
	struct rng rng;
	u32 n;

	(void)state;
	rng_seed(&rng, 1);
	for (n = 0; n < 20000; n++) {
		u32 first = rng_in(&rng, 1, 20000), most = rng_in(&rng, 1, NDP_BATCH_PACKETS);
		u32 len = first, bytes = NDP_HLEN_MAX + first, packets = 1;
		bool ended = false;

		begin((u16)first);
		while (packets < 80) {
			len = rng_percent(&rng, 90) ? first : rng_in(&rng, 1, 20000);
			if (!add((u16)len, most))
				break;
			assert_false(ended);
			assert_true(len <= first);
			ended = len < first;
			bytes += NDP_HLEN_MAX + len;
			packets++;
		}
		assert_in_range(packets, 1, most);
		assert_int_equal(b.packets, packets);
		assert_int_equal(b.bytes, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_short_one_ends_it),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_frags),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
