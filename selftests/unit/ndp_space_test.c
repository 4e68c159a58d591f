// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_space.h against an array of slots: the first that fit, none twice, and all
 * one when they have come back
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_space.h"
#include "rng.h"

#define SLOTS_MAX	300
#define STEPS		4000

static struct ndp_space space;
static bool taken[SLOTS_MAX];
static u32 slots, held;
static struct { u32 start, count; } block[SLOTS_MAX];
static u32 blocks;

static void open_space(u32 n)
{
	struct ndp_space_node *node = malloc(ndp_space_nodes(n) * sizeof(*node));

	free(space.node);
	memset(node, 0xa5, ndp_space_nodes(n) * sizeof(*node));
	slots = n;
	held = 0;
	blocks = 0;
	memset(taken, 0, sizeof(taken));
	ndp_space_init(&space, node, n);
}

/* The first that fit, found by looking at each */
static u32 first_fit(u32 count)
{
	u32 i, row = 0;

	for (i = 0; i < slots; i++) {
		row = taken[i] ? 0 : row + 1;
		if (row == count)
			return i + 1 - count;
	}
	return NDP_SPACE_NONE;
}

static u32 longest(void)
{
	u32 i, row = 0, best = 0;

	for (i = 0; i < slots; i++) {
		row = taken[i] ? 0 : row + 1;
		best = max_t(u32, best, row);
	}
	return best;
}

static void take(u32 count)
{
	u32 want = first_fit(count), start = ndp_space_take(&space, count);

	assert_int_equal(start, want);
	if (start == NDP_SPACE_NONE)
		return;
	memset(taken + start, true, count);
	block[blocks].start = start;
	block[blocks++].count = count;
	held += count;
}

static void give(u32 which)
{
	ndp_space_give(&space, block[which].start, block[which].count);
	memset(taken + block[which].start, false, block[which].count);
	held -= block[which].count;
	block[which] = block[--blocks];
}

static void assert_right(void)
{
	assert_int_equal(space.free, slots - held);
	assert_int_equal(space.node[1].best, longest());
}

static void test_brief(void **state)
{
	(void)state;
	open_space(5);
	assert_int_equal(ndp_space_nodes(5), 16);
	assert_int_equal(ndp_space_take(&space, 6), NDP_SPACE_NONE);
	assert_int_equal(ndp_space_take(&space, 2), 0);
	assert_int_equal(ndp_space_take(&space, 2), 2);
	assert_int_equal(ndp_space_take(&space, 2), NDP_SPACE_NONE);
	assert_int_equal(ndp_space_take(&space, 1), 4);
	assert_int_equal(space.free, 0);
	assert_int_equal(ndp_space_take(&space, 1), NDP_SPACE_NONE);
	ndp_space_give(&space, 2, 2);
	ndp_space_give(&space, 4, 1);
	assert_int_equal(ndp_space_take(&space, 3), 2);
}

/* Every size; what is not a power of 2 ends within the tree */
static void test_sizes(void **state)
{
	u32 n, i;

	(void)state;
	for (n = 1; n <= SLOTS_MAX; n++) {
		open_space(n);
		assert_right();
		take(n + 1);
		take(n);
		take(1);
		assert_right();
		give(0);
		for (i = 0; i < n; i++)
			take(1);
		assert_right();
		while (blocks)
			give(blocks / 2);
		assert_right();
		assert_int_equal(longest(), n);
	}
}

static void run(struct rng *rng, u32 most, u32 percent)
{
	u32 step;

	for (step = 0; step < STEPS; step++) {
		if (blocks && !rng_percent(rng, percent))
			give(rng_u32(rng) % blocks);
		else if (blocks < SLOTS_MAX)
			take(rng_in(rng, 1, most));
		assert_right();
	}
	while (blocks)
		give(rng_u32(rng) % blocks);
	assert_right();
}

static void test_random(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 17, 64, 100, 257, SLOTS_MAX };
	struct rng rng;
	u32 i, n;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		n = sizes[i];
		rng_seed(&rng, n);
		open_space(n);
		run(&rng, 1, 55);
		run(&rng, max_t(u32, n / 8, 1), 60);
		run(&rng, n + 1, 70);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_random),
	};
	int status = cmocka_run_group_tests(tests, NULL, NULL);

	free(space.node);
	return status;
}
