// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/pcrpd/histogram.c: quartiles, against sorted sizes and published
 * distributions; the window of periods
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pcrpd/histogram.h"
#include "traffic/cdf.h"
#include "traffic/rng.h"

#define CDF_DIR "../../tools/lab/cdf/"
#define RUNS	3000
#define FLOWS	1000

typedef uint64_t histogram[PCRP_SIZE_CLASSES];

/* The kernel's class of a size: class I begins at 2^(I-1). */
static int class_of(uint64_t size)
{
	int class = 0;

	while (class < PCRP_SIZE_CLASSES - 1 && size >> class)
		class++;
	return class;
}

static void expect(const uint64_t *sizes, uint64_t t0, uint64_t t1, uint64_t t2)
{
	uint64_t t[PCRP_THRESHOLDS];

	thresholds_of(sizes, t);
	assert_int_equal(t[0], t0);
	assert_int_equal(t[1], t1);
	assert_int_equal(t[2], t2);
}

static void expect_one_level(const uint64_t *sizes)
{
	expect(sizes, 1, PCRP_THRESHOLD_MAX - 1, PCRP_THRESHOLD_MAX);
}

/* ---- quartiles */

static void test_quartiles(void **state)
{
	histogram sizes = { [8] = 25, [11] = 25, [15] = 25, [21] = 25 };

	(void)state;
	/* the last flow of each class but the last: 128..255, 1024..2047, 16384..32767 */
	expect(sizes, 128 + 128 * 24 / 25, 1024 + 1024 * 24 / 25, 16384 + 16384 * 24 / 25);
	/* the first flow of a class has its smallest size */
	sizes[8]--;
	sizes[9] = 1;
	expect(sizes, 256, 1024 + 1024 * 24 / 25, 16384 + 16384 * 24 / 25);
}

static void test_few(void **state)
{
	histogram sizes = { [8] = 16, [11] = 16, [15] = 16, [21] = 15 };

	(void)state;
	assert_int_equal(thresholds_of(sizes, (uint64_t[PCRP_THRESHOLDS]) {}), SAMPLES_MIN - 1);
	expect_one_level(sizes);
	sizes[21]++;
	expect(sizes, 128 + 128 * 15 / 16, 1024 + 1024 * 15 / 16, 16384 + 16384 * 15 / 16);
	memset(sizes, 0, sizeof(sizes));
	expect_one_level(sizes);
}

static void test_one_value(void **state)
{
	histogram sizes = { [11] = 1000 };

	(void)state;
	expect(sizes, 1023, 2047, 2048);
	/* a class that contains flows 250 and 750 of 1000 contains all quartiles */
	sizes[11] = 501;
	sizes[5] = 249;
	sizes[20] = 250;
	expect(sizes, 1023, 2047, 2048);
	sizes[5]++;
	sizes[11]--;
	expect(sizes, 16 + 16 * 249 / 250, 1024 + 1024 * 249 / 500, 1024 + 1024 * 499 / 500);
	/* at both ends */
	memset(sizes, 0, sizeof(sizes));
	sizes[0] = 100;
	expect(sizes, 1, 2, 3);
	sizes[0] = 0;
	sizes[1] = 100;
	expect(sizes, 1, 2, 3);
	sizes[1] = 0;
	sizes[41] = 100;
	expect(sizes, PCRP_THRESHOLD_MAX - 2, PCRP_THRESHOLD_MAX - 1, PCRP_THRESHOLD_MAX);
}

static void test_extremes(void **state)
{
	histogram sizes = { [0] = 500, [1] = 260, [2] = 240 };
	int i;

	(void)state;
	/* sizes 0, 0, 1: still ascending */
	expect(sizes, 1, 2, 3);
	memset(sizes, 0, sizeof(sizes));
	sizes[30] = 300;
	sizes[41] = 700;
	/* the last class starts at the largest threshold */
	expect(sizes, (1 << 29) + (1ULL << 29) * 249 / 300, PCRP_THRESHOLD_MAX - 1,
	       PCRP_THRESHOLD_MAX);
	/* the maximum of a window */
	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		sizes[i] = COUNT_MAX * PERIODS_MAX;
	expect(sizes, (3 << 8) - 1, (1 << 20) - 1, (3ULL << 29) - 1);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Random sizes over several classes */
static void random_flows(struct rng *rng, uint64_t *flows, unsigned int n, uint64_t *sizes)
{
	unsigned int i, least = rng_below(rng, 40), most = 1 + least + rng_below(rng, 41 - least);

	for (i = 0; i < n; i++) {
		unsigned int bits = least + rng_below(rng, most - least);

		flows[i] = (1ULL << bits) + rng_below(rng, 1ULL << bits);
		sizes[class_of(flows[i])]++;
	}
	qsort(flows, n, sizeof(*flows), by_size);
}

/* A threshold is in the class of the flow at its rank. */
static void check_random(struct rng *rng)
{
	unsigned int i, n = SAMPLES_MIN + rng_below(rng, FLOWS - SAMPLES_MIN + 1);
	uint64_t flows[FLOWS], t[PCRP_THRESHOLDS];
	int classes[PCRP_THRESHOLDS];
	histogram sizes = {};

	random_flows(rng, flows, n, sizes);
	assert_int_equal(thresholds_of(sizes, t), n);
	for (i = 0; i < PCRP_THRESHOLDS; i++)
		classes[i] = class_of(flows[(n * (i + 1) + 3) / 4 - 1]);
	assert_true(t[0] >= 1 && t[0] < t[1] && t[1] < t[2] && t[2] <= PCRP_THRESHOLD_MAX);
	if (classes[0] == classes[2]) {
		assert_true(class_of(t[0]) < classes[0] || t[0] == 1 ||
			    classes[0] == PCRP_SIZE_CLASSES - 1);
		assert_true(class_of(t[2]) > classes[0] || t[2] == PCRP_THRESHOLD_MAX);
		return;
	}
	/* except in narrow classes, which lack distinct sizes, and at the limit */
	for (i = 0; i < PCRP_THRESHOLDS; i++) {
		if (classes[i] > 3 && classes[i] < PCRP_SIZE_CLASSES - 1)
			assert_int_equal(class_of(t[i]), classes[i]);
	}
}

static void test_random(void **state)
{
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 6, 0);
	for (i = 0; i < RUNS; i++)
		check_random(&rng);
}

/*
 * The thresholds divide published distributions into quarters, with an error of at
 * most 10 % of the flows because of the classes' width. (Half of homa-w3's flows have
 * at most three bytes, where a class covers one or two sizes.)
 */
static void check_published(const char *name)
{
	uint64_t size, t[PCRP_THRESHOLDS];
	unsigned int i, at_most[PCRP_THRESHOLDS] = {};
	histogram sizes = {};
	struct error why;
	struct cdf cdf;
	char path[64];
	FILE *in;
	int k;

	snprintf(path, sizeof(path), CDF_DIR "%s.cdf", name);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_true(cdf_read(in, name, &cdf, &why));
	fclose(in);
	for (i = 0; i < FLOWS; i++)
		sizes[class_of(cdf_quantile(&cdf, (i + 0.5) / FLOWS))]++;
	thresholds_of(sizes, t);
	for (i = 0; i < FLOWS; i++) {
		size = cdf_quantile(&cdf, (i + 0.5) / FLOWS);
		for (k = 0; k < PCRP_THRESHOLDS; k++)
			at_most[k] += size <= t[k];
	}
	cdf_free(&cdf);
	print_message("# %-16s %ju %ju %ju bytes: %u %u %u of %u flows\n", name, (uintmax_t)t[0],
		      (uintmax_t)t[1], (uintmax_t)t[2], at_most[0], at_most[1], at_most[2], FLOWS);
	for (k = 0; k < PCRP_THRESHOLDS; k++)
		assert_in_range(at_most[k], FLOWS * (k + 1) / 4 - 100, FLOWS * (k + 1) / 4 + 100);
}

static void test_published(void **state)
{
	(void)state;
	check_published("websearch");
	check_published("hadoop");
	check_published("alistorage2019");
	check_published("homa-w1");
	check_published("homa-w2");
	check_published("homa-w4");
	check_published("homa-w5");
}

/* ---- the window */

static void test_window(void **state)
{
	histogram small = { [8] = 25, [9] = 25, [10] = 50 }, large = { [20] = 50, [21] = 50 };
	histogram twice_large = { [20] = 100, [21] = 100 };
	uint64_t t[PCRP_THRESHOLDS], flows, model[PCRP_THRESHOLDS];
	struct window w;

	(void)state;
	assert_true(window_init(&w, 3));
	assert_false(window_thresholds(&w, t, &flows));
	window_add(&w, small);
	assert_true(window_thresholds(&w, t, &flows));
	assert_int_equal(flows, 100);
	thresholds_of(small, model);
	assert_memory_equal(t, model, sizeof(t));
	window_turn(&w, 1);
	window_add(&w, large);
	window_turn(&w, 1);
	window_add(&w, large);
	window_thresholds(&w, t, &flows);
	assert_int_equal(flows, 300);
	/* the first period leaves the window */
	window_turn(&w, 1);
	window_thresholds(&w, t, &flows);
	assert_int_equal(flows, 200);
	thresholds_of(twice_large, model);
	assert_memory_equal(t, model, sizeof(t));
	window_free(&w);
}

/* With few flows there are no thresholds until a window has passed. */
static void test_window_start(void **state)
{
	histogram few = { [8] = SAMPLES_MIN - 1 };
	uint64_t t[PCRP_THRESHOLDS], flows;
	struct window w;

	(void)state;
	assert_true(window_init(&w, 3));
	window_turn(&w, 2);
	window_add(&w, few);
	assert_false(window_thresholds(&w, t, &flows));
	window_turn(&w, 1);
	assert_true(window_thresholds(&w, t, &flows));
	assert_int_equal(flows, SAMPLES_MIN - 1);
	assert_int_equal(t[0], 1);
	/* after a suspend: the maximum */
	window_turn(&w, UINT64_MAX);
	assert_true(window_thresholds(&w, t, &flows));
	assert_int_equal(flows, 0);
	window_free(&w);
}

/* Excessive counts do not overflow the sums. */
static void test_window_bound(void **state)
{
	uint64_t t[PCRP_THRESHOLDS], flows;
	histogram huge, none = {};
	struct window w;
	int i;

	(void)state;
	memset(huge, 0xff, sizeof(huge));
	assert_true(window_init(&w, PERIODS_MAX));
	for (i = 0; i < PERIODS_MAX; i++) {
		window_turn(&w, 1);
		window_add(&w, huge);
		window_add(&w, huge);
	}
	assert_true(window_thresholds(&w, t, &flows));
	assert_int_equal(flows, COUNT_MAX * PERIODS_MAX * PCRP_SIZE_CLASSES);
	assert_int_equal(t[1], (1 << 20) - 1);
	window_turn(&w, PERIODS_MAX);
	assert_memory_equal(w.sum, none, sizeof(none));
	window_free(&w);
}

/* The sum always equals the sum of the last periods. */
static void test_window_random(void **state)
{
	histogram history[200] = {}, sum;
	struct window w;
	struct rng rng;
	int i, k, class;

	(void)state;
	rng_seed(&rng, 7, 0);
	assert_true(window_init(&w, 30));
	for (i = 0; i < 200; i++) {
		for (k = rng_below(&rng, 4); k; k--) {
			histogram sizes = {};

			class = rng_below(&rng, PCRP_SIZE_CLASSES);
			sizes[class] = rng_below(&rng, 1000);
			history[i][class] += sizes[class];
			window_add(&w, sizes);
		}
		memset(sum, 0, sizeof(sum));
		for (k = i < 30 ? 0 : i - 29; k <= i; k++) {
			for (class = 0; class < PCRP_SIZE_CLASSES; class++)
				sum[class] += history[k][class];
		}
		assert_memory_equal(w.sum, sum, sizeof(sum));
		window_turn(&w, 1);
	}
	window_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quartiles),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_window_start),
		cmocka_unit_test(test_window_bound),
		cmocka_unit_test(test_window_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
