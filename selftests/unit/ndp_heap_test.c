// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_heap.h: the first entry is right after any sequence of changes
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_heap.h"
#include "rng.h"

#define IDS	10000
/* floor(log2(IDS)): the longest path has so many steps */
#define DEPTH	13

/* A heap, and beside it what is in it, by id */
struct world {
	struct ndp_heap h;
	struct ndp_heap_node node[IDS];
	u32 place[IDS];
	struct ndp_heap_node before[IDS];
	bool in[IDS];
	u64 key[IDS];
	u32 tie[IDS];
	u32 count;
};

static struct world *world_new(u32 ids)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	ndp_heap_init(&w->h, w->node, w->place, ids);
	return w;
}

static void set(struct world *w, u32 id, u64 key, u32 tie)
{
	ndp_heap_set(&w->h, id, key, tie);
	w->count += !w->in[id];
	w->in[id] = true;
	w->key[id] = key;
	w->tie[id] = tie;
}

static void drop(struct world *w, u32 id)
{
	ndp_heap_remove(&w->h, id);
	w->count -= w->in[id];
	w->in[id] = false;
}

/* By looking at all of them */
static u32 least(const struct world *w, u32 ids)
{
	u32 best = NDP_HEAP_NONE, id;

	for (id = 0; id < ids; id++) {
		if (!w->in[id])
			continue;
		if (best == NDP_HEAP_NONE || w->key[id] < w->key[best] ||
		    (w->key[id] == w->key[best] && (s32)(w->tie[id] - w->tie[best]) < 0))
			best = id;
	}
	return best;
}

/* Each node is where it is said to be, and not before its parent. */
static void check(const struct world *w, u32 ids)
{
	u32 id, place;

	assert_int_equal(w->h.count, w->count);
	for (id = 0; id < ids; id++) {
		assert_int_equal(ndp_heap_has(&w->h, id), w->in[id]);
		if (!w->in[id])
			continue;
		place = w->place[id];
		assert_true(place < w->count);
		assert_int_equal(w->node[place].id, id);
		assert_true(w->node[place].key == w->key[id]);
		assert_false(ndp_heap_before(&w->node[place], &w->node[(place - !!place) / 2]));
	}
}

static void test_empty(void **state)
{
	struct world *w = world_new(1);

	(void)state;
	assert_int_equal(ndp_heap_first(&w->h), NDP_HEAP_NONE);
	assert_true(ndp_heap_first_key(&w->h) == U64_MAX);
	ndp_heap_remove(&w->h, 0);
	set(w, 0, 5, 0);
	assert_int_equal(ndp_heap_first(&w->h), 0);
	assert_true(ndp_heap_first_key(&w->h) == 5);
	drop(w, 0);
	assert_int_equal(ndp_heap_first(&w->h), NDP_HEAP_NONE);
	free(w);
}

/* Few ids and keys: all shapes of a small heap, and many equal keys */
static void test_random(void **state)
{
	struct world *w;
	struct rng rng;
	u32 round, i, id, ids, keys, tie;

	(void)state;
	rng_seed(&rng, 1);
	for (round = 0; round < 100; round++) {
		ids = rng_in(&rng, 1, 40);
		keys = rng_in(&rng, 1, 50);
		tie = rng_u32(&rng);
		w = world_new(ids);
		for (i = 0; i < 2000; i++) {
			id = rng_in(&rng, 0, ids - 1);
			if (rng_percent(&rng, 60))
				set(w, id, rng_in(&rng, 0, keys), tie++);
			else
				drop(w, rng_percent(&rng, 50) ? id : least(w, ids) % ids);
			check(w, ids);
			assert_int_equal(ndp_heap_first(&w->h), least(w, ids));
		}
		free(w);
	}
}

/* Of equal keys the earlier number comes first, also where the numbers wrap around. */
static void test_ties(void **state)
{
	struct world *w = world_new(8);
	u32 i, tie = UINT32_MAX - 3;

	(void)state;
	for (i = 0; i < 8; i++)
		set(w, i * 5 % 8, 7, tie + i);
	for (i = 0; i < 8; i++) {
		assert_int_equal(ndp_heap_first(&w->h), i * 5 % 8);
		drop(w, i * 5 % 8);
	}
	free(w);
}

static u32 moved(const struct world *w)
{
	u32 i, n = 0;

	for (i = 0; i < IDS; i++)
		n += memcmp(&w->node[i], &w->before[i], sizeof(*w->node)) != 0;
	return n;
}

/* 10,000 entries: no change touches more than a path, and one that changes nothing none. */
static void test_steps(void **state)
{
	struct world *w = world_new(IDS);
	struct rng rng;
	u32 i, id, most = 0;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < IDS; i++)
		set(w, i, rng_u32(&rng), i);
	check(w, IDS);
	for (i = 0; i < 5000; i++) {
		memcpy(w->before, w->node, sizeof(w->node));
		id = rng_percent(&rng, 50) ? ndp_heap_first(&w->h) : rng_in(&rng, 0, IDS - 1);
		if (rng_percent(&rng, 20)) {
			drop(w, id);
			assert_in_range(moved(w), 0, DEPTH + 1);
			set(w, id, rng_u32(&rng), i);
			continue;
		}
		set(w, id, rng_u32(&rng), i);
		assert_in_range(moved(w), 0, DEPTH + 1);
		most = moved(w) > most ? moved(w) : most;
	}
	/* it is a path that is counted, not nothing */
	assert_in_range(most, DEPTH, DEPTH + 1);
	check(w, IDS);
	assert_int_equal(ndp_heap_first(&w->h), least(w, IDS));
	memcpy(w->before, w->node, sizeof(w->node));
	set(w, 3, w->key[3], w->tie[3]);
	assert_int_equal(moved(w), 0);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
