// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_ease.h: at which share of its line's rate a receiver pulls
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_pull.h"
#include "rng.h"

#define RATE	1250000000ULL	/* 10 Gbit/s */
#define MTU	8878U		/* with overhead, 9000 bytes */
#define GAP_NS	7273U		/* from one pull to the next */
#define START	1000000000ULL

static struct ndp_ease e;
static u64 now_ns;

static void begin(void)
{
	now_ns = START;
	ndp_ease_init(&e, now_ns);
}

/* An epoch of @ns; of its packets, @trimmed; the line is busy for @busy_ns. */
static u32 epoch(u32 trimmed, u64 ns, u64 busy_ns)
{
	u32 i;

	for (i = 0; i < NDP_EASE_EPOCH; i++) {
		now_ns += ns / NDP_EASE_EPOCH;
		ndp_ease_arrived(&e, true, i < trimmed, busy_ns / NDP_EASE_EPOCH, now_ns);
	}
	return e.share;
}

/* Half of what is pulled is trimmed, then all */
static void test_less(void **state)
{
	u32 i;

	(void)state;
	begin();
	assert_int_equal(e.share, 1024);
	assert_int_equal(epoch(8, 160000, 80000), 512 + 32);
	assert_int_equal(epoch(8, 160000, 80000), 272 + 32);
	/* not before an epoch is full */
	for (i = 0; i < NDP_EASE_EPOCH - 1; i++)
		ndp_ease_arrived(&e, true, true, 0, ++now_ns);
	assert_int_equal(e.share, 304);
	ndp_ease_arrived(&e, true, true, 0, ++now_ns);
	/* no less than half in an epoch */
	assert_int_equal(e.share, 152 + 32);
	for (i = 0; i < 20; i++)
		epoch(16, 160000, 0);
	assert_in_range(e.share, 2 * NDP_EASE_STEP, 2 * NDP_EASE_STEP + 1);
}

/* The line itself, or who was not asked */
static void test_not_less(void **state)
{
	u32 i;

	(void)state;
	begin();
	assert_int_equal(epoch(8, 160000, 120000), 1024);
	for (i = 0; i < 1000; i++)
		ndp_ease_arrived(&e, false, true, 0, now_ns += 10000);
	assert_int_equal(epoch(0, 160000, 0), 1024);
	/* a little less busy */
	assert_int_equal(epoch(8, 160000, 119984), 544);
	/* what came unasked is busy, too */
	begin();
	ndp_ease_arrived(&e, false, false, 16, now_ns);
	assert_int_equal(epoch(8, 160000, 119984), 1024);
}

static void test_more(void **state)
{
	u32 i, share;

	(void)state;
	begin();
	for (i = 0; i < 20; i++)
		share = epoch(16, 160000, 0);
	/* a few are trimmed, busy or not: it grows */
	for (i = 0; i < 20; i++) {
		share = min_t(u32, share + 32, NDP_EASE_ALL);
		assert_int_equal(epoch(3 + i % 2, 160000, i % 2 * 120000), share);
	}
	/* faster if nearly none is */
	assert_int_equal(epoch(2, 160000, 120000), share + share / 4 + 32);
	assert_int_equal(epoch(0, 160000, 0), NDP_EASE_ALL);
	/* one bad path of many is no short network */
	for (i = 0; i < 100; i++)
		assert_int_equal(epoch(4, 160000, 0), NDP_EASE_ALL);
	assert_int_equal(epoch(5, 160000, 0), 1024 - 320 + 32);
}

static void test_time(void **state)
{
	(void)state;
	begin();
	assert_true(ndp_ease_time(&e, 7200) == 7200);
	epoch(8, 160000, 0);
	assert_true(ndp_ease_time(&e, 7200) == 7200 * 1024 / 544);
	epoch(16, 160000, 0);
	assert_true(ndp_ease_time(&e, 7200) == 7200 * 1024 / 304);
}

/* ---- in the pull queue */

static void arrive(struct ndp_pull *q, struct ndp_pull_node *n, u8 flags, bool trimmed)
{
	const struct ndp_hdr h = {
		.type = NDP_DATA, .flags = flags, .payload_len = MTU, .here = trimmed ? 0 : MTU,
		.data = { .pull_target = n->granted + 100, .msg_len = 1000000 },
	};

	ndp_pull_arrived(q, n, &h, 0, trimmed, now_ns);
}

static void open_queue(struct ndp_pull *q)
{
	const struct ndp_pull_params p = { .rate_Bps = RATE, .late_ns = 50000, .ahead = 1000 };

	ndp_pull_init(q, &p, now_ns);
}

/* The next pull. Return: how long it took */
static u64 pull(struct ndp_pull *q)
{
	u64 from = now_ns;

	now_ns = max_t(u64, now_ns, ndp_pull_next_ns(q));
	assert_non_null(ndp_pull_next(q, now_ns));
	return now_ns - from;
}

static void test_queue(void **state)
{
	struct ndp_pull_node n = {};
	struct ndp_pull q;
	u32 i;

	(void)state;
	now_ns = START;
	open_queue(&q);
	/* unasked ones do not count */
	for (i = 0; i < 2 * NDP_EASE_EPOCH; i++)
		arrive(&q, &n, NDP_DATA_SPEC, true);
	pull(&q);
	assert_in_range(pull(&q), GAP_NS - 2, GAP_NS + 1);
	for (i = 0; i < NDP_EASE_EPOCH; i++) {
		pull(&q);
		arrive(&q, &n, 0, i % 2);
	}
	pull(&q);
	assert_in_range(pull(&q), GAP_NS * 32 / 17 - 3, GAP_NS * 32 / 17 + 2);
	/* when nobody was pulled for a while, it is forgotten; not sooner */
	ndp_pull_flush(&q, &n);
	now_ns = q.next_ns + NDP_EASE_IDLE_NS - 1;
	arrive(&q, &n, NDP_DATA_SPEC, false);
	assert_true(q.ease.share < NDP_EASE_ALL);
	ndp_pull_flush(&q, &n);
	now_ns = q.next_ns + NDP_EASE_IDLE_NS;
	arrive(&q, &n, NDP_DATA_SPEC, false);
	pull(&q);
	assert_in_range(pull(&q), GAP_NS - 2, GAP_NS + 1);
}

/* In an incast, nearly all that comes may be headers: the line is busy with them. */
static void test_headers(void **state)
{
	u64 header_ns = NDP_PULL_OVERHEAD * 1000000000ULL / RATE;
	struct ndp_pull_node n = {};
	struct ndp_pull q;
	u32 i;

	(void)state;
	now_ns = START;
	open_queue(&q);
	arrive(&q, &n, NDP_DATA_SPEC, true);
	for (i = 0; i < 2 * NDP_EASE_EPOCH; i++)
		pull(&q);
	ndp_ease_init(&q.ease, now_ns);
	for (i = 0; i < NDP_EASE_EPOCH; i++) {
		now_ns += header_ns;
		arrive(&q, &n, 0, true);
	}
	assert_int_equal(q.ease.share, NDP_EASE_ALL);
	/* but for a quarter of the time */
	for (i = 0; i < NDP_EASE_EPOCH; i++) {
		now_ns += 2 * header_ns;
		arrive(&q, &n, 0, true);
	}
	assert_int_equal(q.ease.share, NDP_EASE_ALL / 2 + NDP_EASE_STEP);
}

/* ---- a network that carries less than the receivers' lines */

#define HOSTS	8U
#define PORT	8U		/* packets that its queue has room for */

/*
 * HOSTS receivers share @lines of line rate, for @ns. A packet comes a while after it was asked
 * for. Results: what came whole, of each.
 */
static void share(u32 lines, u64 ns, u64 *whole, u64 *trimmed)
{
	static struct ndp_pull_node n[HOSTS];
	static struct ndp_pull q[HOSTS];
	u64 end = START + ns, free_ns = START, at, delay_ns[HOSTS];
	struct rng rng = { 1 };
	u32 i, next;

	memset(n, 0, sizeof(n));
	now_ns = START;
	for (i = 0; i < HOSTS; i++) {
		delay_ns[i] = 0;
		open_queue(&q[i]);
		arrive(&q[i], &n[i], NDP_DATA_SPEC, false);
	}
	for (;;) {
		for (i = 0, next = 0, at = U64_MAX; i < HOSTS; i++) {
			if (ndp_pull_next_ns(&q[i]) + delay_ns[i] < at) {
				at = ndp_pull_next_ns(&q[i]) + delay_ns[i];
				next = i;
			}
		}
		now_ns = max_t(u64, now_ns, at);
		delay_ns[next] = rng_in(&rng, 0, 20000);
		if (now_ns >= end)
			return;
		assert_non_null(ndp_pull_next(&q[next], now_ns));
		free_ns = max_t(u64, free_ns, now_ns);
		if (free_ns - now_ns > PORT * 7200 / lines) {
			arrive(&q[next], &n[next], 0, true);
			(*trimmed)++;
		} else {
			free_ns += 7200 / lines;
			arrive(&q[next], &n[next], 0, false);
			whole[next]++;
		}
	}
}

/* All get about the same, no more than 30 % are trimmed, and what the network carries is used. */
static void test_network(void **state)
{
	static const u32 lines[] = { 1, 2, 4 };
	u64 whole[HOSTS], trimmed, sum, least, most;
	u32 i, k;

	(void)state;
	for (k = 0; k < 3; k++) {
		memset(whole, 0, sizeof(whole));
		trimmed = 0;
		share(lines[k], 100000000ULL, whole, &trimmed);
		for (i = 0, sum = 0, least = U64_MAX, most = 0; i < HOSTS; i++) {
			sum += whole[i];
			least = min_t(u64, least, whole[i]);
			most = max_t(u64, most, whole[i]);
		}
		print_message("# %u of %u lines: %lu whole, %lu trimmed, each %lu to %lu\n",
			      lines[k], HOSTS, sum, trimmed, least, most);
		assert_true(sum * 100 >= 98 * 100000000ULL / 7200 * lines[k]);
		assert_true(trimmed * 100 <= 30 * (trimmed + sum));
		assert_true(least * 100 >= 50 * most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_less),
		cmocka_unit_test(test_not_less),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_network),
	};

	return cmocka_run_group_tests_name("ndp_ease", tests, NULL, NULL);
}
