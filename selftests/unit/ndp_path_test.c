// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/path.h: each path once a round, and what ACKs, NACKs and losses change
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/pkt_sched_ndp.h>
#include "../../net/ndp/path.h"
#include "rng.h"

#define MS	1000000ULL
#define PATHS	64

static struct ndp_path path[NDP_PATHS_MAX];
static u8 order[NDP_PATHS_MAX];
static struct ndp_paths p;
static struct rng rng;
static u64 now;

static void start(u32 count)
{
	ndp_paths_init(&p, path, order, count);
	rng_seed(&rng, count);
	now = 0;
}

static u32 pick_unlike(u32 unlike)
{
	u32 rnd = rng_u32(&rng), got = ndp_path_pick(&p, unlike, now, rnd);

	assert_in_range(got, 0, p.count - 1);
	return got;
}

static u32 pick(void)
{
	return pick_unlike(NDP_PATH_NONE);
}

/* The order is a permutation, the clean ones are paths. */
static void check(void)
{
	u32 i;

	for (i = 0; i < p.count; i++)
		assert_int_equal(p.order[p.path[i].place], i);
	for (i = 0; i < p.cleans; i++)
		assert_in_range(p.clean[(p.first + i) % NDP_PATH_CLEAN], 0, p.count - 1);
	assert_in_range(p.cleans, 0, NDP_PATH_CLEAN);
	assert_in_range(p.live, 0, p.count);
	assert_in_range(p.next, 0, p.live);
}

static void test_each_once(void **state)
{
	static const u32 counts[] = { 1, 2, 3, PATHS, NDP_PATHS_MAX };
	u32 i, n, round;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		start(counts[i]);
		for (round = 0; round < 20; round++) {
			bool used[NDP_PATHS_MAX] = {};

			for (n = 0; n < p.count; n++) {
				u32 got = pick();

				assert_false(used[got]);
				used[got] = true;
			}
			check();
		}
	}
}

/* Each path is as often at each place of a round. */
static void test_uniform(void **state)
{
	static u32 at[8][8];
	u32 round, place, i;

	(void)state;
	start(8);
	memset(at, 0, sizeof(at));
	for (round = 0; round < 80000; round++)
		for (place = 0; place < 8; place++)
			at[place][pick()]++;
	/* 10000 expected, standard deviation 94 */
	for (place = 0; place < 8; place++)
		for (i = 0; i < 8; i++)
			assert_in_range(at[place][i], 9500, 10500);
}

static void test_unlike(void **state)
{
	static const u32 counts[] = { 2, 3, PATHS };
	u32 i, n, last;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		start(counts[i]);
		last = pick();
		for (n = 0; n < 5000; n++) {
			u32 got = pick_unlike(last);

			if (got == last)
				assert_true(p.live == 1 && !ndp_path_avoided(&p, last));
			if (rng_percent(&rng, 30))
				ndp_path_outcome(&p, got, rng_in(&rng, 0, 3), now);
			last = got;
			now += MS / 10;
		}
	}
	start(1);
	assert_int_equal(pick_unlike(0), 0);
	ndp_path_outcome(&p, 0, NDP_OUTCOME_LOST, now);
	assert_int_equal(pick_unlike(0), 0);
}

/* How often a path is used in so many rounds */
static u32 uses_of(u32 which, u32 rounds)
{
	u32 n = rounds * p.count, uses = 0;

	while (n--)
		uses += pick() == which;
	return uses;
}

/* A path that has carried a packet whole is next, once for each packet. */
static void test_recycled(void **state)
{
	u32 n, got;

	(void)state;
	start(PATHS);
	got = pick();
	ndp_path_outcome(&p, got, NDP_OUTCOME_ACK, now);
	ndp_path_outcome(&p, 9, NDP_OUTCOME_ACK, now);
	ndp_path_outcome(&p, 9, NDP_OUTCOME_ACK, now);
	assert_int_equal(pick(), got);
	assert_int_equal(pick(), 9);
	/* not the path of the last transmission, which is no longer clean then */
	n = pick_unlike(9);
	assert_int_not_equal(n, 9);
	assert_int_equal(p.cleans, 0);
	assert_int_equal(path[9].packets[NDP_OUTCOME_ACK], 2);
	check();
}

/* The oldest ones stay if there are too many. */
static void test_most_clean(void **state)
{
	u32 n;

	(void)state;
	start(NDP_PATHS_MAX);
	for (n = 0; n < NDP_PATH_CLEAN + 10; n++)
		ndp_path_outcome(&p, n, NDP_OUTCOME_ACK, now);
	for (n = 0; n < NDP_PATH_CLEAN; n++)
		assert_int_equal(pick(), n);
	assert_int_equal(p.cleans, 0);
	check();
}

/* Trimmed, returned and lost packets do not make a path clean; a lost one ends it. */
static void test_not_clean(void **state)
{
	u32 n;

	(void)state;
	start(PATHS);
	ndp_path_outcome(&p, 7, NDP_OUTCOME_NACK, now);
	ndp_path_outcome(&p, 7, NDP_OUTCOME_RETURNED, now);
	assert_int_equal(p.cleans, 0);
	assert_int_equal(path[7].packets[NDP_OUTCOME_NACK], 1);
	assert_int_equal(path[7].packets[NDP_OUTCOME_RETURNED], 1);
	ndp_path_outcome(&p, 7, NDP_OUTCOME_ACK, now);
	ndp_path_outcome(&p, 7, NDP_OUTCOME_LOST, now);
	for (n = 0; n < 2 * PATHS; n++)
		assert_int_not_equal(pick(), 7);
	check();
}

/* Incast: if all paths trim alike, all are used alike. */
static void test_nacks_alike(void **state)
{
	u32 uses[PATHS] = {}, n, got;

	(void)state;
	start(PATHS);
	for (n = 0; n < PATHS * 1000; n++) {
		got = pick();
		uses[got]++;
		ndp_path_outcome(&p, got, rng_percent(&rng, 80) ? NDP_OUTCOME_NACK :
							NDP_OUTCOME_ACK, now);
	}
	for (n = 0; n < PATHS; n++)
		assert_in_range(uses[n], 900, 1100);
	check();
}

/* Uplinks that trim what finds more than eight packets waiting; answers come WAY packets later. */
#define WAY	16

struct uplink {
	double rate;	/* packets in the time of one of the sender's */
	double queue;
	u32 uses;
	u32 nacks;
};

/* Send @packets; path n is on uplink of(n). */
static void send_by(struct uplink *up, u32 count, u32 (*of)(u32), u32 packets)
{
	struct { u32 path; bool nack; } way[WAY] = {};
	struct uplink *u;
	u32 n, i;

	for (n = 0; n < packets; n++) {
		if (n >= WAY)
			ndp_path_outcome(&p, way[n % WAY].path, way[n % WAY].nack ?
					 NDP_OUTCOME_NACK : NDP_OUTCOME_ACK, now);
		for (i = 0; i < count; i++)
			up[i].queue = up[i].queue > up[i].rate ? up[i].queue - up[i].rate : 0;
		way[n % WAY].path = pick();
		u = &up[of(way[n % WAY].path)];
		u->uses++;
		way[n % WAY].nack = u->queue > 8;
		if (way[n % WAY].nack)
			u->nacks++;
		else
			u->queue++;
	}
	check();
}

static u32 of_four(u32 n)
{
	return n % 4;
}

/* Four uplinks. One is a tenth as fast: it can take 3.4 % of the packets. */
static void test_slow_link(void **state)
{
	struct uplink up[4] = {
		{ .rate = 0.034 }, { .rate = 0.34 }, { .rate = 0.34 }, { .rate = 0.34 },
	};
	u32 n, nacks = 0;

	(void)state;
	start(PATHS);
	send_by(up, 4, of_four, 100000);
	for (n = 0; n < 4; n++)
		nacks += up[n].nacks;
	/* all paths alike: 25000 packets by the slow one, which trims 22000 of them */
	assert_in_range(up[0].uses, 2000, 6000);
	assert_in_range(nacks, 0, 2000);
}

static u32 of_uneven(u32 n)
{
	return n >= 36;
}

/* A hash has put 36 of 64 ports on one of two uplinks, which can take 2 % more than is sent. */
static void test_uneven_hash(void **state)
{
	struct uplink up[2] = { { .rate = 0.51 }, { .rate = 0.51 } };

	(void)state;
	start(PATHS);
	send_by(up, 2, of_uneven, 100000);
	/* all ports alike: 5250 more than the uplink takes */
	assert_in_range(up[0].nacks + up[1].nacks, 0, 200);
}

static void test_lost(void **state)
{
	u64 wait = 4 * MS, since;
	u32 i;

	(void)state;
	start(PATHS);
	for (i = 0; i < 12; i++) {
		ndp_path_outcome(&p, 9, NDP_OUTCOME_LOST, now);
		since = now;
		now = since + wait - 1;
		assert_int_equal(uses_of(9, 10), 0);
		now = since + wait;
		/* one packet may try */
		assert_int_equal(uses_of(9, 10), 1);
		check();
		if (i < 8)
			wait *= 2;
	}
	/* and if that one gets no answer, another one, later */
	now += 1024 * MS;
	assert_int_equal(uses_of(9, 10), 1);
	ndp_path_outcome(&p, 9, NDP_OUTCOME_ACK, now);
	check();
	/* it joined within a round */
	assert_in_range(uses_of(9, 10), 9, 13);
	ndp_path_outcome(&p, 9, NDP_OUTCOME_LOST, now);
	now += 4 * MS;
	assert_int_equal(uses_of(9, 10), 1);
	assert_int_equal(path[9].packets[NDP_OUTCOME_LOST], 13);
}

/* A header that came is no proof of a good path, but of one that is not dead. */
static void test_nack_of_avoided(void **state)
{
	(void)state;
	start(4);
	ndp_path_outcome(&p, 1, NDP_OUTCOME_LOST, now);
	assert_true(ndp_path_avoided(&p, 1));
	ndp_path_outcome(&p, 1, NDP_OUTCOME_NACK, now);
	assert_false(ndp_path_avoided(&p, 1));
	assert_int_equal(p.cleans, 0);
	check();
}

/* If all paths are avoided, they are used in turn. */
static void test_all_lost(void **state)
{
	u32 i, uses[PATHS] = {};

	(void)state;
	start(PATHS);
	for (i = 0; i < PATHS; i++)
		ndp_path_outcome(&p, i, NDP_OUTCOME_LOST, now);
	assert_int_equal(p.live, 0);
	for (i = 0; i < 10 * PATHS; i++)
		uses[pick()]++;
	for (i = 0; i < PATHS; i++)
		assert_int_equal(uses[i], 10);
	ndp_path_outcome(&p, 5, NDP_OUTCOME_ACK, now);
	assert_int_equal(uses_of(5, 1), PATHS);
	check();
}

/* A quarter of the paths is dead: at 1 packet each 10 us, 1 ms until it is noticed. */
static void test_dead_link(void **state)
{
	static struct {
		u64 due;
		u32 path;
	} waiting[200];
	u32 n, got, head = 0, tail = 0, at_once = 0, later = 0;

	(void)state;
	start(PATHS);
	for (n = 0; n < 1000000; n++, now += MS / 100) {
		for (; head != tail && waiting[head % 200].due <= now; head++)
			ndp_path_outcome(&p, waiting[head % 200].path, NDP_OUTCOME_LOST, now);
		got = pick();
		if (got % 4) {
			ndp_path_outcome(&p, got, NDP_OUTCOME_ACK, now);
			continue;
		}
		waiting[tail % 200].due = now + MS;
		waiting[tail++ % 200].path = got;
		assert_in_range(tail - head, 0, 200);
		if (n < 200)
			at_once++;
		else
			later++;
	}
	/* 100 packets leave before the first loss is noticed */
	assert_in_range(at_once, 0, 40);
	/* most dead paths are not even tried; each of 16 is after 4 ms .. 1024 ms, in 10 s */
	assert_in_range(later, 8, 16 * 20);
	check();
}

/*
 * Half of the paths is dead, and a packet is sent only now and then, as after timeouts: there is
 * always a path to be tried, but most packets come.
 */
static void test_few_packets(void **state)
{
	u32 n, got, lost = 0;

	(void)state;
	start(PATHS);
	for (n = 0; n < PATHS; n += 2)
		ndp_path_outcome(&p, n, NDP_OUTCOME_LOST, now);
	for (n = 0; n < 800; n++, now += 600 * MS) {
		got = pick();
		lost += got % 2 == 0;
		ndp_path_outcome(&p, got, got % 2 ? NDP_OUTCOME_ACK : NDP_OUTCOME_LOST, now);
	}
	/* each eighth */
	assert_in_range(lost, 99, 101);
	check();
}

static void test_anything(void **state)
{
	u32 i, n, outcome, which;

	(void)state;
	for (i = 1; i <= 200; i++) {
		start(i % 17 + (i % 5 ? 0 : 200) + 1);
		for (n = 0; n < 2000; n++) {
			outcome = rng_in(&rng, 0, 10);
			which = rng_in(&rng, 0, p.count + 3);
			if (outcome < NDP_OUTCOMES)
				ndp_path_outcome(&p, which, outcome, now);
			else
				pick_unlike(which);
			check();
			now += rng_log(&rng, 1, 100 * MS);
		}
	}
}

static void test_ports(void **state)
{
	u32 base, i;

	(void)state;
	for (base = 0; base < 0x10000; base++) {
		u16 first = ndp_path_port((u16)base, 0);

		assert_in_range(first, 512, 1023);
		assert_true(ndp_path_is_port(first));
		assert_int_equal(ndp_path_port((u16)(base + 1), 0),
				 ndp_path_port((u16)base, 1));
		if (base % 509)
			continue;
		for (i = 1; i < NDP_PATHS_MAX; i++)
			assert_int_not_equal(ndp_path_port((u16)base, i), first);
	}
	assert_false(ndp_path_is_port(511));
	assert_false(ndp_path_is_port(1024));
	assert_false(ndp_path_is_port(NDP_UDP_PORT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_unlike),
		cmocka_unit_test(test_recycled),
		cmocka_unit_test(test_most_clean),
		cmocka_unit_test(test_not_clean),
		cmocka_unit_test(test_nacks_alike),
		cmocka_unit_test(test_slow_link),
		cmocka_unit_test(test_uneven_hash),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_nack_of_avoided),
		cmocka_unit_test(test_few_packets),
		cmocka_unit_test(test_all_lost),
		cmocka_unit_test(test_dead_link),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
