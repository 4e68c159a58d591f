// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/dcqcn/dcqcnq_buffers.c: the paper's numbers and properties of the thresholds
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../sch/dcqcn/dcqcnq_buffers.h"
#include "rng.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GBPS	125000000ULL

/* The paper's switch: Trident II, 32 ports of 40 Gbit/s, 12 MB, 8 priorities */
#define PORTS	32
#define PRIOS	8
#define BETA	8
#define SHARED	(12000000 - PRIOS * PORTS * 22400ULL)

static void test_numbers_of_the_paper(void **state)
{
	(void)state;
	/* 24.47 KB */
	assert_int_equal(dcqcnq_pfc_static(SHARED, PORTS, PRIOS), 24475);
	/* less than a packet, so of no use */
	assert_int_equal(dcqcnq_ecn_static(SHARED, PORTS, PRIOS), 764);
	/* 21.75 KB */
	assert_int_equal(dcqcnq_ecn_dynamic(SHARED, PORTS, BETA, PRIOS), 21755);
	/* in an empty switch a port gets all of the shared buffer, in a full one 0 bytes */
	assert_int_equal(dcqcnq_pfc_dynamic(SHARED, BETA, PRIOS), SHARED);
	assert_int_equal(dcqcnq_pfc_dynamic(0, BETA, PRIOS), 0);
}

static void test_flight_bytes(void **state)
{
	static const struct {
		u64 rate_Bps;
		u32 cable_ns;
		u32 mtu;
		u64 flight;
	} cases[] = {
		/* 2 * 7500 for the cable, 7552 for the response, 2 frames of 1542, 84 */
		{ 40 * GBPS, 1500, 1500, 25720 },
		{ 40 * GBPS, 1500, 9000, 40720 },
		{ 40 * GBPS, 0, 1500, 10720 },
		{ 40 * GBPS + 1, 0, 1500, 28384 },
		{ 10 * GBPS, 1500, 1500, 10758 },
		{ 10 * GBPS + 1, 0, 1500, 8288 },
		{ 25 * GBPS, 0, 1500, 8288 },
		{ 25 * GBPS + 1, 0, 1500, 10720 },
		{ 100 * GBPS, 1500, 1500, 65884 },
		{ 100 * GBPS + 1, 0, 1500, 61088 },
		{ GBPS, 1500, 1500, 7382 },
		/* extremes: no overflow */
		{ 1, 0, 0, 4008 },
		{ 1ULL << 38, UINT32_MAX, UINT32_MAX, 2369773233562 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(dcqcnq_flight_bytes(cases[i].rate_Bps, cases[i].cable_ns,
						     cases[i].mtu), cases[i].flight);
}

/* A random switch; the shared buffer may be empty */
struct buffers {
	u64 shared;
	u32 ports;
	u32 prios;
	u32 beta;
};

static struct buffers random_buffers(struct rng *rng)
{
	struct buffers b;

	b.ports = rng_in(rng, 1, rng_percent(rng, 50) ? 64 : 1 << 16);
	b.prios = rng_in(rng, 1, 8);
	b.beta = rng_in(rng, 1, rng_percent(rng, 50) ? 16 : 1 << 16);
	b.shared = (u64)rng_in(rng, 0, 1U << 31) << rng_in(rng, 0, 16);
	return b;
}

/*
 * Does a port pause its peer with @waiting bytes in each queue, if all bytes of a
 * priority came in by that port?
 */
static bool paused(const struct buffers *b, u64 waiting, bool dynamic)
{
	u64 used = waiting * b->ports * b->prios;
	u64 t_pfc = dcqcnq_pfc_static(b->shared, b->ports, b->prios);

	if (dynamic)
		t_pfc = dcqcnq_pfc_dynamic(used < b->shared ? b->shared - used : 0,
					   b->beta, b->prios);
	return waiting * b->ports > t_pfc;
}

/* In the worst case, ECN precedes PFC with a t_ECN below the bound, and not above. */
static void check_bound(const struct buffers *b, u64 bound, bool dynamic)
{
	assert_false(paused(b, bound, dynamic));
	assert_true(paused(b, bound + 1, dynamic));
}

static void test_ecn_precedes_pfc_below_bound(void **state)
{
	struct buffers b;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 1000000; i++) {
		b = random_buffers(&rng);
		check_bound(&b, dcqcnq_ecn_static(b.shared, b.ports, b.prios), false);
		check_bound(&b, dcqcnq_ecn_dynamic(b.shared, b.ports, b.beta, b.prios), true);
	}
}

/* With static thresholds, all ports together fill the shared buffer and no more. */
static void test_static_thresholds_fill_buffer(void **state)
{
	struct buffers b;
	struct rng rng;
	u64 all;
	int i;

	(void)state;
	rng_seed(&rng, 2);
	for (i = 0; i < 1000000; i++) {
		b = random_buffers(&rng);
		all = (u64)b.ports * b.prios;
		assert_in_range(b.shared - dcqcnq_pfc_static(b.shared, b.ports, b.prios) * all,
				0, all - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_the_paper),
		cmocka_unit_test(test_flight_bytes),
		cmocka_unit_test(test_ecn_precedes_pfc_below_bound),
		cmocka_unit_test(test_static_thresholds_fill_buffer),
	};

	return cmocka_run_group_tests_name("dcqcn_buffers", tests, NULL, NULL);
}
