// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/lab/traffic: numbers, random numbers, hosts, distributions, ideal times
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "traffic/cdf.h"
#include "traffic/ideal.h"
#include "traffic/rng.h"
#include "traffic/stats.h"
#include "traffic/topology.h"
#include "traffic/util.h"

#define CDF_DIR "../../tools/lab/cdf/"

static struct error why;

static FILE *file_of(const char *text)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");

	assert_non_null(f);
	return f;
}

/* ---- numbers with units */

static void expect_bytes(const char *text, uint64_t want)
{
	uint64_t got;

	assert_true(parse_bytes(text, &got));
	assert_int_equal(got, want);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {
		"", "k", "-1", "+1", " 1", "1 k", "1kk", "0x10", "1e3", "inf", "nan", "1..2",
		"10000000000G", "1K",
	};
	uint64_t u;
	int64_t ns;
	double d;
	size_t i;

	(void)state;
	expect_bytes("0", 0);
	expect_bytes("1500", 1500);
	expect_bytes("64k", 64000);
	expect_bytes("64Ki", 65536);
	expect_bytes("1.5M", 1500000);
	expect_bytes("2Gi", 1ULL << 31);
	for (i = 0; i < ARRAY_COUNT(bad); i++)
		assert_false(parse_bytes(bad[i], &u));
	assert_true(parse_duration("1.5ms", &ns));
	assert_int_equal(ns, 1500000);
	assert_true(parse_duration("0", &ns));
	assert_false(parse_duration("5", &ns));
	assert_false(parse_duration("5m", &ns));
	assert_true(parse_rate("2.5gbit", &u));
	assert_int_equal(u, 2500000000);
	assert_false(parse_rate("5", &u));
	assert_true(parse_number("0x28", 0, 255, &u));
	assert_int_equal(u, 40);
	assert_false(parse_number("256", 0, 255, &u));
	assert_false(parse_number("-1", 0, UINT64_MAX, &u));
	assert_false(parse_number("99999999999999999999", 0, UINT64_MAX, &u));
	assert_true(parse_fraction("0.6", &d));
	assert_false(parse_fraction("60%", &d));
}

/* ---- randomness */

/* xoshiro256**, from the authors' description: state 1, 2, 3, 4 */
static void test_rng_reference(void **state)
{
	static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240ULL };
	struct rng rng = { { 1, 2, 3, 4 } };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_COUNT(want); i++)
		assert_int_equal(rng_u64(&rng), want[i]);
}

/* close to the C library's, and the same bits on every processor */
static void test_rng_log(void **state)
{
	double x, error;
	struct rng rng;
	int i;

	(void)state;
	assert_true(rng_log(1) == 0);
	assert_true(rng_log(2) == 0.6931471805599453);
	assert_true(rng_log(0.1) == -2.3025850929940455);
	assert_true(rng_log(ldexp(1, -53)) == -36.7368005696771);
	rng_seed(&rng, 1, 0);
	for (i = 0; i < 100000; i++) {
		x = 1 - rng_unit(&rng);
		error = fabs(rng_log(x) - log(x));
		assert_true(error <= 0.000000000000001 * fabs(log(x)));
	}
}

static void test_rng_streams(void **state)
{
	struct rng a, b;
	int i, same = 0;

	(void)state;
	rng_seed(&a, 7, 3);
	rng_seed(&b, 7, 3);
	for (i = 0; i < 1000; i++)
		assert_int_equal(rng_u64(&a), rng_u64(&b));
	rng_seed(&b, 7, 4);
	for (i = 0; i < 1000; i++)
		same += rng_u64(&a) == rng_u64(&b);
	rng_seed(&a, 8, 4);
	for (i = 0; i < 1000; i++)
		same += rng_u64(&a) == rng_u64(&b);
	assert_int_equal(same, 0);
}

static void test_rng_ranges(void **state)
{
	unsigned int counts[7] = { };
	double sum = 0, u;
	struct rng rng;
	int i;

	(void)state;
	rng_seed(&rng, 1, 0);
	for (i = 0; i < 70000; i++)
		counts[rng_below(&rng, 7)]++;
	for (i = 0; i < 7; i++)
		assert_in_range(counts[i], 9600, 10400);
	for (i = 0; i < 100000; i++) {
		u = rng_unit(&rng);
		assert_true(u >= 0 && u < 1);
		sum += rng_exponential(&rng, 5);
	}
	assert_true(fabs(sum / 100000 - 5) < 0.1);
}

/* ---- statistics */

static void test_stats(void **state)
{
	double values[] = { 5, 1, 4, 2, 3 }, hundred[100], one = 7;
	const double equal[] = { 3, 3, 3, 3 }, single[] = { 0, 9, 0, 0 }, none[] = { 0, 0 };
	struct summary s = summarize(values, 5);
	int i;

	(void)state;
	assert_true(s.mean == 3 && s.p50 == 3 && s.p99 == 5 && s.max == 5);
	for (i = 0; i < 100; i++)
		hundred[i] = 100 - i;
	s = summarize(hundred, 100);
	assert_true(s.mean == 50.5 && s.p50 == 50 && s.p99 == 99 && s.max == 100);
	assert_true(percentile(hundred, 100, 99.5) == 100);
	assert_true(percentile(hundred, 100, 0.1) == 1);
	s = summarize(&one, 1);
	assert_true(s.mean == 7 && s.p50 == 7 && s.p99 == 7 && s.max == 7);
	assert_true(jain(equal, 4) == 1 && jain(single, 4) == 0.25 && jain(none, 2) == 1);
}

/* ---- ideal completion times */

static void test_ideal_by_hand(void **state)
{
	const struct path one = { 1, { { 10000000000ULL, 5000 } } };
	const struct path two = { 2, { { 10000000000ULL, 1000 }, { 1000000000ULL, 2000 } } };

	(void)state;
	assert_int_equal(wire_bytes(1500), 1526);
	assert_int_equal(wire_bytes(40), 72);
	/* a full frame takes 1220.8 ns of 10 Gbit/s, with the gap 1230.4 */
	assert_int_equal(ideal_fct_ns(&one, 1500, HEADERS_IPV4, 1448), 6221);
	assert_int_equal(ideal_fct_ns(&one, 1500, HEADERS_IPV4, 2 * 1448), 7451);
	assert_int_equal(ideal_fct_ns(&one, 1500, HEADERS_IPV4, 1000 * 1448),
			 5000 + 999 * 12304 / 10 + 1221);
	/* a byte: 53 + 14 bytes exceed Ethernet's minimum */
	assert_int_equal(ideal_fct_ns(&one, 1500, HEADERS_IPV4, 1), 5000 + 63);
	/* the slower link is busy from the first to the last frame */
	assert_int_equal(ideal_fct_ns(&two, 1500, HEADERS_IPV4, 10 * 1448),
			 1221 + 1000 + 9 * 12304 + 12208 + 2000);
	assert_int_equal(ideal_fct_ns(&one, 1500, HEADERS_IPV6, 1428), 6221);
}

/* Reference: simulate each frame on each link, in ps */
static int64_t simulated_ns(const struct path *path, unsigned int mtu, unsigned int headers,
			    uint64_t bytes)
{
	uint64_t free_at[PATH_LINKS_MAX] = { }, at = 0, n, frame;
	const uint64_t ps = 8 * 1000000000000ULL;
	unsigned int i;

	for (; bytes; bytes -= n) {
		n = bytes < mtu - headers ? bytes : mtu - headers;
		for (at = 0, i = 0; i < path->count; i++) {
			at = at > free_at[i] ? at : free_at[i];
			frame = wire_bytes((unsigned int)n + headers);
			free_at[i] = at + (frame + 12) * ps / path->links[i].rate_bps;
			at += frame * ps / path->links[i].rate_bps;
			at += (uint64_t)path->links[i].delay_ns * 1000;
		}
	}
	return (int64_t)((at + 500) / 1000);
}

static void test_ideal_simulated(void **state)
{
	static const uint64_t rates[] = { 1000000000, 10000000000, 25000000000, 100000000000 };
	struct path path;
	struct rng rng;
	unsigned int i, j, mtu;
	uint64_t bytes;

	(void)state;
	rng_seed(&rng, 3, 0);
	for (i = 0; i < 2000; i++) {
		path.count = 1 + (unsigned int)rng_below(&rng, 6);
		for (j = 0; j < path.count; j++) {
			path.links[j].rate_bps = rates[rng_below(&rng, 4)];
			path.links[j].delay_ns = (int64_t)rng_below(&rng, 20000);
		}
		mtu = rng_below(&rng, 2) ? 1500 : 9000;
		bytes = 1 + rng_below(&rng, i % 3 ? 30000 : 1000000);
		assert_int_equal(ideal_fct_ns(&path, mtu, HEADERS_IPV4, bytes),
				 simulated_ns(&path, mtu, HEADERS_IPV4, bytes));
	}
}

/* ---- hosts */

static const char some_hosts[] =
	"# a comment\n"
	"host h0 n0 10.0.0.1 0 0\n"
	"host h1 n1 10.0.0.2 0 0  # and one here\n"
	"\n"
	"host h2\tn2 10.0.0.3 1 0\n"
	"host h10 n10 10.0.0.4 2 1\n"
	"host a-b nx 10.0.0.5 2 1\n"
	"path same-leaf 10000000000:1000 10000000000:1000\n"
	"path far 10000000000:1000 40000000000:500 40000000000:500 10000000000:1000\n"
	"mtu 9000\n";

static struct topology some_topology(void)
{
	struct topology t;
	FILE *in = file_of(some_hosts);

	assert_true(topology_read(in, "hosts", &t, &why));
	fclose(in);
	return t;
}

static void test_topology(void **state)
{
	struct topology t = some_topology();

	(void)state;
	assert_int_equal(t.count, 5);
	assert_int_equal(t.mtu, 9000);
	assert_string_equal(t.hosts[2].netns, "n2");
	assert_int_equal(t.hosts[3].address.in.sin_addr.s_addr, htonl(0x0a000004));
	assert_ptr_equal(topology_path(&t, &t.hosts[0], &t.hosts[1]), &t.paths[SAME_LEAF]);
	assert_ptr_equal(topology_path(&t, &t.hosts[0], &t.hosts[3]), &t.paths[FAR]);
	assert_null(topology_path(&t, &t.hosts[0], &t.hosts[2]));
	assert_int_equal(t.paths[FAR].count, 4);
	assert_int_equal(t.paths[FAR].links[1].rate_bps, 40000000000);
	assert_int_equal(t.paths[FAR].links[1].delay_ns, 500);
	topology_free(&t);
}

static void refuse_topology(const char *text, const char *message)
{
	struct topology t;
	FILE *in = file_of(text);

	assert_false(topology_read(in, "F", &t, &why));
	assert_string_equal(why.text, message);
	fclose(in);
}

static void test_bad_topology(void **state)
{
#define TWO "host a n 10.0.0.1 0 0\nhost b n 10.0.0.2 0 0\n"
	(void)state;
	refuse_topology("host a n 10.0.0.1 0 0\n", "F: fewer than two hosts");
	refuse_topology("host a n 10.0.0.1 0\n",
			"F:1: not \"host NAME NETNS ADDRESS LEAF POD\"");
	refuse_topology(TWO "host a n 10.0.0.3 0 0\n", "F:3: duplicate host a");
	refuse_topology("host all n 10.0.0.3 0 0\n", "F:1: duplicate host all");
	refuse_topology("\nhost a n 10.0.0 0 0\n", "F:2: bad address: 10.0.0");
	refuse_topology("host a n 10.0.0.1 x 0\n", "F:1: bad leaf or pod: x 0");
	refuse_topology("host a,b n 10.0.0.1 0 0\n", "F:1: bad name: a,b or n");
	refuse_topology("switch s\n", "F:1: not host, path or mtu: switch");
	refuse_topology(TWO "path near 1:1\n",
			"F:3: not \"path same-leaf|same-pod|far RATE_BPS:DELAY_NS ...\"");
	refuse_topology(TWO "path far 1:1 2\n", "F:3: not RATE_BPS:DELAY_NS: 2");
	refuse_topology(TWO "path far 0:1\n", "F:3: not RATE_BPS:DELAY_NS: 0:1");
	refuse_topology(TWO "path far 1:1\npath far 1:1\n", "F:4: duplicate path");
	refuse_topology(TWO "mtu 100\n", "F:3: not \"mtu BYTES\", 256 to 65535");
}

static void expect_set(const struct topology *t, const char *text, const char *names)
{
	struct host_set set;
	char got[256] = "";
	unsigned int i;

	assert_true(host_set_parse(t, text, &set, &why));
	for (i = 0; i < set.count; i++)
		strcat(strcat(got, i ? " " : ""), set.hosts[i]->name);
	assert_string_equal(got, names);
	free(set.hosts);
}

static void refuse_set(const struct topology *t, const char *text, const char *message)
{
	struct host_set set;

	assert_false(host_set_parse(t, text, &set, &why));
	assert_string_equal(why.text, message);
}

static void test_host_sets(void **state)
{
	struct topology t = some_topology();
	struct host_set set;

	(void)state;
	expect_set(&t, "h2", "h2");
	expect_set(&t, "h10,h0-h2", "h10 h0 h1 h2");
	expect_set(&t, "a-b,h1-h1", "a-b h1");
	expect_set(&t, "all", "h0 h1 h2 h10 a-b");
	refuse_set(&t, "", "no hosts");
	refuse_set(&t, "h3", "unknown host \"h3\"");
	refuse_set(&t, "h0-h3", "unknown host \"h3\" in the range h0-h3");
	refuse_set(&t, "h0,h1,h0", "duplicate host h0");
	refuse_set(&t, "all,h0", "duplicate host h0");
	refuse_set(&t, "h2-h0", "not a range of hosts: h2-h0");
	refuse_set(&t, "h0-a", "not a range of hosts: h0-a");
	assert_true(host_set_parse(&t, "h0,h1", &set, &why));
	assert_true(host_set_remove(&set, &t.hosts[0]));
	assert_int_equal(set.count, 1);
	assert_false(host_set_remove(&set, &t.hosts[1]));
	free(set.hosts);
	topology_free(&t);
}

/* ---- distributions of sizes */

static struct cdf cdf_of(const char *text)
{
	struct cdf cdf;
	FILE *in = file_of(text);

	assert_true(cdf_read(in, "F", &cdf, &why));
	fclose(in);
	return cdf;
}

static void test_cdf(void **state)
{
	struct cdf cdf = cdf_of("# sizes\n100 0.5\n\n200 0.5\n300 1 # last\n");

	(void)state;
	/* half of the flows have 100 bytes, half between 200 and 300 */
	assert_int_equal(cdf_quantile(&cdf, 0), 100);
	assert_int_equal(cdf_quantile(&cdf, 0.3), 100);
	assert_int_equal(cdf_quantile(&cdf, 0.5), 100);
	assert_int_equal(cdf_quantile(&cdf, 0.75), 250);
	assert_int_equal(cdf_quantile(&cdf, 1), 300);
	assert_true(fabs(cdf_mean(&cdf) - (0.5 * 100 + 0.5 * 250)) < 0.000001);
	cdf_free(&cdf);
	cdf = cdf_of("0 0\n1000 1");
	assert_int_equal(cdf_quantile(&cdf, 0), 1);
	assert_int_equal(cdf_quantile(&cdf, 0.25), 250);
	cdf_free(&cdf);
}

static void refuse_cdf(const char *text, const char *message)
{
	struct cdf cdf;
	FILE *in = file_of(text);

	assert_false(cdf_read(in, "F", &cdf, &why));
	assert_string_equal(why.text, message);
	fclose(in);
}

static void test_bad_cdf(void **state)
{
	(void)state;
	refuse_cdf("#\n", "F:1: the last probability is not 1");
	refuse_cdf("1 0\n2 0.9\n", "F:2: the last probability is not 1");
	refuse_cdf("1 0\n\n2\n", "F:3: not \"BYTES PROBABILITY\"");
	refuse_cdf("1 0\n2 1 3\n", "F:2: not \"BYTES PROBABILITY\"");
	refuse_cdf("1 0\n2x 1\n", "F:2: not \"BYTES PROBABILITY\"");
	refuse_cdf("1 0\n-2 1\n", "F:2: not \"BYTES PROBABILITY\"");
	refuse_cdf("1 0\n2 nan\n", "F:2: not \"BYTES PROBABILITY\"");
	refuse_cdf("1 0\n2 100\n", "F:2: probability above 1");
	refuse_cdf("1 0.5\n2 0.4\n", "F:2: not ascending");
	refuse_cdf("5 0.5\n4 1\n", "F:2: not ascending");
	refuse_cdf("1 0.5\n1 0.5\n2 1\n", "F:2: the same point again");
	refuse_cdf("0 1\n", "F:1: no size above 0");
}

/* The mean is the integral of the quantiles. */
static void check_file(const char *name)
{
	double sum = 0, sizes[2] = { 0, 0 };
	const int n = 2000000;
	struct cdf cdf;
	FILE *in;
	int i;

	in = fopen(name, "r");
	assert_non_null(in);
	assert_true(cdf_read(in, name, &cdf, &why));
	fclose(in);
	for (i = 0; i < n; i++) {
		sizes[1] = (double)cdf_quantile(&cdf, (i + 0.5) / n);
		assert_true(sizes[1] >= sizes[0]);
		sizes[0] = sizes[1];
		sum += sizes[1];
	}
	/* sizes are whole bytes, at least 1: a large error if most are below 10 */
	assert_true(fabs(sum / n / cdf_mean(&cdf) - 1) < 0.002);
	cdf_free(&cdf);
}

static void test_cdf_files(void **state)
{
	static const char *const names[] = {
		"websearch", "hadoop", "alistorage2019", "homa-w1", "homa-w2", "homa-w3",
		"homa-w4", "homa-w5",
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_COUNT(names); i++) {
		snprintf(path, sizeof(path), CDF_DIR "%s.cdf", names[i]);
		check_file(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_rng_reference),
		cmocka_unit_test(test_rng_log),
		cmocka_unit_test(test_rng_streams),
		cmocka_unit_test(test_rng_ranges),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_ideal_by_hand),
		cmocka_unit_test(test_ideal_simulated),
		cmocka_unit_test(test_topology),
		cmocka_unit_test(test_bad_topology),
		cmocka_unit_test(test_host_sets),
		cmocka_unit_test(test_cdf),
		cmocka_unit_test(test_bad_cdf),
		cmocka_unit_test(test_cdf_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
