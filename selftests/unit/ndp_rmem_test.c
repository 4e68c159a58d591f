// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of net/ndp/rmem.c: shares of the limit, windows, messages that wait, charges
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../net/ndp/rmem.h"
#include "rng.h"

#define LIMIT	16000U
#define UNIT	100U

static u64 charged, charge_max;
static enum ndp_rmem_share last_share;

static u32 charge(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share)
{
	u32 bytes = charged + most <= charge_max ? most : least;

	(void)r;
	if (charged + bytes > charge_max && share != NDP_RMEM_MUST)
		return 0;
	last_share = share;
	charged += bytes;
	return bytes;
}

static void uncharge(struct ndp_rmem *r, u32 bytes)
{
	(void)r;
	assert_true(bytes <= charged);
	charged -= bytes;
}

static struct ndp_rmem begin(void)
{
	struct ndp_rmem r = { .charge = charge, .uncharge = uncharge };

	charged = 0;
	charge_max = UINT64_MAX / 2;
	ndp_rmem_set_limit(&r, LIMIT, UNIT);
	return r;
}

static void test_limit(void **state)
{
	struct ndp_rmem r = begin();

	(void)state;
	assert_int_equal(r.limit, LIMIT);
	ndp_rmem_set_limit(&r, 1, 0);
	assert_int_equal(r.limit, 4 * UNIT);
	ndp_rmem_set_limit(&r, 1, 2 * UNIT);
	assert_int_equal(r.limit, 8 * UNIT);
	ndp_rmem_set_limit(&r, LIMIT, UNIT);
	assert_int_equal(r.unit, 2 * UNIT);
}

static void test_whole_and_window(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c;

	(void)state;
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 2, 0, 0));
	assert_int_equal(c.bytes, LIMIT / 2);
	assert_false(c.is_window);
	ndp_rmem_end(&r, &c);
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 2 + 1, 0, 0));
	assert_int_equal(c.bytes, LIMIT / 4);
	assert_true(c.is_window);
	ndp_rmem_end(&r, &c);
	assert_int_equal(charged, 0);
	assert_int_equal(r.used, 0);
	assert_int_equal(r.big, 0);
}

/* Long messages leave a quarter to short ones. */
static void test_short_ones_have_room(void **state)
{
	struct ndp_claim c[4], small;
	struct ndp_rmem r = begin();
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_true(ndp_rmem_reserve(&r, &c[i], LIMIT / 4, 0, 0));
	assert_false(ndp_rmem_reserve(&r, &c[3], LIMIT / 4, 0, 0));
	for (i = 0; i < 4; i++)
		assert_true(ndp_rmem_reserve(&r, &small, LIMIT / 16, 0, 0));
	assert_false(ndp_rmem_reserve(&r, &small, 1, 0, 0));
	assert_int_equal(r.used, LIMIT);
}

/* While flows wait, only the first of them and short messages find room. */
static void test_waiting(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c;

	(void)state;
	assert_true(ndp_rmem_reserve(&r, &c, 1, 0, 0));
	r.waiting = true;
	assert_false(ndp_rmem_reserve(&r, &c, LIMIT / 4, 0, 0));
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 16, 0, 0));
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 4, 0, NDP_RESERVE_FIRST));
}

/* Messages that wait for an earlier one leave half of the limit to it. */
static void test_early(void **state)
{
	struct ndp_claim a, b, c;
	struct ndp_rmem r = begin();

	(void)state;
	assert_true(ndp_rmem_reserve(&r, &a, LIMIT / 4, 0, NDP_RESERVE_EARLY));
	assert_true(ndp_rmem_reserve(&r, &b, LIMIT / 4, 0, NDP_RESERVE_EARLY));
	assert_false(ndp_rmem_reserve(&r, &c, 1, 0, NDP_RESERVE_EARLY));
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 4, 0, 0));
	ndp_rmem_in_turn(&r, &a);
	assert_int_equal(r.early, LIMIT / 4);
	ndp_rmem_end(&r, &b);
	assert_int_equal(r.early, 0);
	ndp_rmem_end(&r, &a);
	ndp_rmem_end(&r, &c);
	assert_int_equal(charged, 0);
}

/* Packets are charged as they arrive, some in advance. */
static void test_charge(void **state)
{
	struct ndp_rmem r = begin();
	const u32 half = 50000000, ahead = 65536;
	struct ndp_claim c, d;

	(void)state;
	ndp_rmem_set_limit(&r, 2 * half, 0);
	assert_true(ndp_rmem_reserve(&r, &c, half, 0, 0));
	assert_int_equal(charged, UNIT);
	assert_true(ndp_rmem_reserve(&r, &d, 5 * UNIT, 3 * UNIT, 0));
	assert_int_equal(d.charged, 3 * UNIT);
	assert_int_equal(last_share, NDP_RMEM_SHORT);
	assert_true(ndp_rmem_hold(&r, &d, 4 * UNIT, false));
	assert_int_equal(d.charged, 5 * UNIT);
	assert_int_equal(last_share, NDP_RMEM_MORE);
	assert_true(ndp_rmem_hold(&r, &c, 2 * UNIT, false));
	assert_int_equal(c.charged, 2 * UNIT + ahead);
	assert_true(ndp_rmem_hold(&r, &c, 10 * ahead, true));
	assert_int_equal(c.charged, 10 * ahead);
	assert_int_equal(last_share, NDP_RMEM_MUST);
	ndp_rmem_release(&r, &c, 8 * ahead);
	assert_int_equal(c.charged, 10 * ahead);
	ndp_rmem_release(&r, &c, 7 * ahead);
	assert_int_equal(c.charged, 8 * ahead);
	ndp_rmem_shrink(&r, &c, half - ahead);
	assert_int_equal(charged, ahead + d.charged);
	ndp_rmem_end(&r, &c);
	assert_true(ndp_rmem_reserve(&r, &c, half, 0, 0));
	assert_int_equal(last_share, NDP_RMEM_LONG);
	ndp_rmem_end(&r, &c);
	ndp_rmem_end(&r, &d);
	assert_int_equal(charged, 0);
}

/* Total memory is used up: only a socket without another message gets some. */
static void test_no_memory(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c, d;

	(void)state;
	charge_max = 0;
	assert_true(ndp_rmem_reserve(&r, &c, LIMIT / 4, 0, 0));
	assert_int_equal(charged, UNIT);
	assert_false(ndp_rmem_reserve(&r, &d, UNIT, 0, 0));
	assert_int_equal(r.used, LIMIT / 4);
	assert_false(ndp_rmem_hold(&r, &c, 2 * UNIT, false));
	assert_true(ndp_rmem_hold(&r, &c, 2 * UNIT, true));
	/* not in advance */
	charge_max = 3 * UNIT;
	assert_true(ndp_rmem_hold(&r, &c, 3 * UNIT, false));
	assert_int_equal(charged, 3 * UNIT);
	ndp_rmem_end(&r, &c);
	assert_int_equal(charged, 0);
}

/* Total memory is used up: messages that wait for an earlier one do not keep that one out. */
static void test_no_memory_in_order(void **state)
{
	struct ndp_claim early, next, other;
	struct ndp_rmem r = begin();

	(void)state;
	charge_max = 0;
	assert_true(ndp_rmem_reserve(&r, &early, LIMIT / 4, 0, NDP_RESERVE_EARLY));
	assert_false(ndp_rmem_reserve(&r, &other, UNIT, 0, NDP_RESERVE_EARLY));
	assert_true(ndp_rmem_reserve(&r, &next, UNIT, 0, 0));
	assert_false(ndp_rmem_reserve(&r, &other, UNIT, 0, 0));
	ndp_rmem_end(&r, &early);
	ndp_rmem_end(&r, &next);
	assert_int_equal(charged, 0);
}

/* A reservation that has lapsed exceeds the limit when its sender returns, one at a time. */
static void test_return(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c[4];
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(ndp_rmem_reserve(&r, &c[i], LIMIT / 2 - LIMIT / 8, 0, 0));
		ndp_rmem_shrink(&r, &c[i], c[i].bytes - UNIT);
	}
	assert_true(ndp_rmem_reserve(&r, &c[2], LIMIT / 2, 0, 0));
	assert_true(ndp_rmem_reserve(&r, &c[3], LIMIT / 4 - 2 * UNIT, 0, 0));
	assert_false(ndp_rmem_grow(&r, &c[0], c[0].size - c[0].bytes, false));
	assert_true(ndp_rmem_grow(&r, &c[0], c[0].size - c[0].bytes, true));
	assert_true(r.used > LIMIT);
	assert_false(ndp_rmem_grow(&r, &c[1], c[1].size - c[1].bytes, true));
	/* it lapses again when more has arrived, and returns again */
	ndp_rmem_shrink(&r, &c[0], UNIT);
	assert_true(r.used > LIMIT);
	assert_false(ndp_rmem_grow(&r, &c[1], c[1].size - c[1].bytes, true));
	assert_true(ndp_rmem_grow(&r, &c[0], UNIT, true));
	/* its packets take more memory than expected */
	assert_true(ndp_rmem_grow(&r, &c[0], UNIT, true));
	ndp_rmem_end(&r, &c[0]);
	assert_true(ndp_rmem_grow(&r, &c[1], c[1].size - c[1].bytes, true));
	ndp_rmem_end(&r, &c[1]);
	ndp_rmem_end(&r, &c[2]);
	/* below the limit, it is another one's turn */
	assert_true(ndp_rmem_grow(&r, &c[3], UNIT, true));
	assert_null(r.exceeds);
}

/* Messages that wait for an earlier one do not count in the share of long messages. */
static void test_early_are_not_big(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c[3];

	(void)state;
	assert_true(ndp_rmem_reserve(&r, &c[0], LIMIT / 2, 0, NDP_RESERVE_EARLY));
	assert_true(ndp_rmem_reserve(&r, &c[1], LIMIT / 2, 0, 0));
	ndp_rmem_end(&r, &c[1]);
	ndp_rmem_in_turn(&r, &c[0]);
	assert_int_equal(r.early, 0);
	assert_true(ndp_rmem_reserve(&r, &c[2], LIMIT / 2, 0, NDP_RESERVE_EARLY));
}

/* The packets of silent senders leave room for other messages, up to another limit. */
static void test_aside(void **state)
{
	struct ndp_rmem r = begin();
	struct ndp_claim c[4];
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_true(ndp_rmem_reserve(&r, &c[i], LIMIT / 2, 0, NDP_RESERVE_FIRST));
		ndp_rmem_set_aside(&r, &c[i], true);
		ndp_rmem_set_aside(&r, &c[i], true);
		assert_int_equal(c[i].is_aside, i < 2);
		if (i == 2)
			ndp_rmem_shrink(&r, &c[i], LIMIT / 4);
	}
	assert_int_equal(r.aside, LIMIT);
	assert_int_equal(r.used, LIMIT / 4 + LIMIT / 2);
	assert_int_equal(charged, 4 * UNIT);
	/* one that returns counts, whether there is room or not */
	ndp_rmem_set_aside(&r, &c[0], false);
	assert_int_equal(r.used, LIMIT + LIMIT / 4);
	assert_int_equal(r.big, r.used);
	assert_false(ndp_rmem_grow(&r, &c[2], 1, false));
	for (i = 0; i < 4; i++)
		ndp_rmem_end(&r, &c[i]);
	assert_true(!r.used && !r.aside && !r.big && !charged);
}

/* Random reservations: sums are right, and limits hold. */
static void test_random(void **state)
{
	static struct ndp_claim claim[64];
	struct ndp_rmem r = begin();
	u64 used, aside, big, early, sum;
	struct rng rng;
	u32 step, i;

	(void)state;
	rng_seed(&rng, 5);
	for (step = 0; step < 100000; step++) {
		struct ndp_claim *c = &claim[rng_in(&rng, 0, 63)];

		charge_max = rng_in(&rng, 0, 3) ? 2 * LIMIT : LIMIT / 2;
		if (!c->bytes)
			ndp_rmem_reserve(&r, c, rng_log(&rng, 1, 2 * LIMIT), rng_in(&rng, 0, UNIT),
					 (u32)rng_in(&rng, 0, 3));
		else if (rng_in(&rng, 0, 1))
			ndp_rmem_hold(&r, c, (u32)rng_in(&rng, 1, c->bytes), rng_in(&rng, 0, 1));
		else if (rng_in(&rng, 0, 1))
			ndp_rmem_shrink(&r, c, (u32)rng_in(&rng, 1, c->bytes));
		else if (rng_in(&rng, 0, 1))
			ndp_rmem_in_turn(&r, c);
		else if (rng_in(&rng, 0, 1) && !c->is_early)
			/* one returns only if that keeps the limits */
			ndp_rmem_set_aside(&r, c, max_t(u64, r.used, r.big + LIMIT / 2) +
						  c->bytes > LIMIT);
		else
			ndp_rmem_end(&r, c);
		r.waiting = rng_in(&rng, 0, 1);
		for (used = 0, aside = 0, big = 0, early = 0, sum = 0, i = 0; i < 64; i++) {
			assert_true(claim[i].charged <= claim[i].bytes);
			sum += claim[i].charged;
			if (claim[i].is_aside) {
				aside += claim[i].bytes;
				continue;
			}
			used += claim[i].bytes;
			big += claim[i].is_big ? claim[i].bytes : 0;
			early += claim[i].is_early ? claim[i].bytes : 0;
		}
		assert_int_equal(r.used, used);
		assert_int_equal(r.big, big);
		assert_int_equal(r.early, early);
		assert_int_equal(r.aside, aside);
		assert_int_equal(charged, sum);
		assert_true(aside <= LIMIT);
		assert_true(used <= LIMIT && big <= LIMIT - LIMIT / 4 && early <= LIMIT / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_whole_and_window),
		cmocka_unit_test(test_short_ones_have_room),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_no_memory_in_order),
		cmocka_unit_test(test_return),
		cmocka_unit_test(test_early_are_not_big),
		cmocka_unit_test(test_aside),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
