// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/lab/traffic: keys of the patterns, planned flows, CSV files
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "traffic/pool.h"
#include "traffic/records.h"

#define WORDS_MAX 12

/* of main.c, which is not linked */
struct run run;

static struct error why;

static int setup(void **state)
{
	static const char hosts[] =
		"host h0 n0 10.0.0.1 0 0\nhost h1 n1 10.0.0.2 0 0\nhost h2 n2 10.0.0.3 1 0\n"
		"host h3 n3 10.0.0.4 1 0\nhost h6 n6 fd00::6 1 0\n"
		"path same-leaf 10000000000:1000 10000000000:1000\n"
		"path same-pod 10000000000:1000 10000000000:0 10000000000:1000\n";
	FILE *in = fmemopen((char *)hosts, sizeof(hosts) - 1, "r");
	bool good = in && topology_read(in, "hosts", &run.topology, &why);

	(void)state;
	run.seed = 1;
	run.time_ns = 100000000;
	if (in)
		fclose(in);
	return good ? 0 : -1;
}

static void forget_flows(void)
{
	while (flow_count)
		free(flows[--flow_count]);
	free(flows);
	flows = NULL;
}

static int teardown(void **state)
{
	(void)state;
	forget_flows();
	topology_free(&run.topology);
	return 0;
}

static void free_pattern(struct pattern *p)
{
	forget_flows();
	free(p->plan);
	free(p->channels);
	free(p->set.src.hosts);
	free(p->set.dst.hosts);
	cdf_free(&p->set.cdf);
}

static bool parse(struct pattern *p, const char *line)
{
	char *copy = strdup(line), *text[WORDS_MAX], *word, *state;
	int count = 0;
	bool good;

	memset(p, 0, sizeof(*p));
	for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state))
		text[count++] = word;
	good = pattern_parse(p, text, count, &why);
	/* these point into the copy */
	p->set.name = "copied";
	p->set.cc = NULL;
	free(copy);
	return good;
}

static void expect_refused(const char *line, const char *message)
{
	struct pattern p;

	assert_false(parse(&p, line));
	assert_string_equal(why.text, message);
	free_pattern(&p);
}

static void test_bad_keys(void **state)
{
	(void)state;
	expect_refused("", "missing pattern");
	expect_refused("bluk src=h0", "unknown pattern \"bluk\"");
	expect_refused("bulk src=h0", "bulk: missing key \"dst\"");
	expect_refused("bulk src=h0 dst=h1 load=1", "bulk: unknown key \"load=1\"");
	expect_refused("bulk src=h0 dst=h1 flows", "bulk: unknown key \"flows\"");
	expect_refused("bulk src=h0 dst=h1 src=h2", "bulk: duplicate key \"src\"");
	expect_refused("bulk src=h9 dst=h1", "src=h9: unknown host \"h9\"");
	expect_refused("bulk src=h0 dst=h1 flows=0", "bad value for key \"flows\": \"0\"");
	expect_refused("bulk src=h0 dst=h1 bytes=0", "bad value for key \"bytes\": \"0\"");
	expect_refused("bulk src=h0 dst=h1 bytes=9999999999G",
		       "bad value for key \"bytes\": \"9999999999G\"");
	expect_refused("bulk src=h0 dst=h1 connect=never",
		       "bad value for key \"connect\": \"never\"");
	expect_refused("bulk src=h0 dst=h1 stagger=5", "bad value for key \"stagger\": \"5\"");
	expect_refused("bulk src=h0 dst=h1 tos=256", "bad value for key \"tos\": \"256\"");
	expect_refused("bulk src=h0 dst=h1 port=0", "bad value for key \"port\": \"0\"");
	expect_refused("bulk src=h0 dst=h1 name=a,b", "bad value for key \"name\": \"a,b\"");
	expect_refused("bulk src=h0 dst=h1 cc=", "bad value for key \"cc\": \"\"");
	expect_refused("bulk src=h0 dst=h1 transport=udp",
		       "bad value for key \"transport\": \"udp\"");
	expect_refused("bulk src=h0 dst=h1 cc=dctcp transport=ndp",
		       "key \"cc\" conflicts with transport=ndp");
	expect_refused("rpc src=h0 dst=h1 request=1 response=1 transport=ndp nodelay=0",
		       "key \"nodelay\" conflicts with transport=ndp");
	expect_refused("bulk src=h0 dst=h1 cc=dctcp transport=gbn",
		       "key \"cc\" conflicts with transport=gbn");
	expect_refused("bulk src=h0 dst=h1 sndbuf=1M transport=gbn",
		       "key \"sndbuf\" conflicts with transport=gbn");
	expect_refused("rpc src=h0 dst=h1 request=1 response=1 transport=gbn",
		       "rpc conflicts with transport=gbn");
	expect_refused("rpc src=h0 dst=h1 request=1 response=1 transport=sr",
		       "rpc conflicts with transport=sr");
	expect_refused("bulk src=h0 dst=h1 transport=sr window=4097",
		       "bad value for key \"window\": \"4097\"");
	expect_refused("bulk src=h0 dst=h1 transport=roce window=64",
		       "key \"window\" conflicts with transport=roce");
	expect_refused("bulk src=h0 dst=h1 transport=ndp region=2G",
		       "bad value for key \"region\": \"2G\"");
	expect_refused("bulk src=h0 dst=h1 transport=roce region=1M",
		       "key \"region\" conflicts with transport=roce");
	expect_refused("bulk src=h0 dst=h1 transport=ndp verb=send",
		       "key \"verb\" conflicts with transport=ndp");
	expect_refused("bulk src=h0 dst=h1 ack_timeout=8",
		       "key \"ack_timeout\" conflicts with transport=tcp");
	expect_refused("bulk src=h0 dst=h1 transport=roce prio=3",
		       "key \"prio\" conflicts with transport=roce");
	expect_refused("bulk src=h0 dst=h1 transport=iwarp sndbuf=1M",
		       "key \"sndbuf\" conflicts with transport=iwarp");
	expect_refused("bulk src=h0 dst=h1 transport=iwarp verb=write",
		       "key \"verb\" conflicts with transport=iwarp");
	expect_refused("bulk src=h0 dst=h1 transport=roce verb=read",
		       "bad value for key \"verb\": \"read\"");
	expect_refused("bulk src=h0 dst=h1 transport=roce message=2G",
		       "bad value for key \"message\": \"2G\"");
	expect_refused("blast src=h0 dst=h1 transport=ndp",
		       "blast: unknown key \"transport=ndp\"");
	expect_refused("bulk src=h0,h1 dst=h1", "bulk: flow 1 would go from h1 to itself");
	expect_refused("bulk src=h0 dst=h6", "hosts h0 and h6 mix IPv4 and IPv6");
	expect_refused("rpc src=h0 dst=h1 request=1", "rpc: missing key \"response\"");
	expect_refused("incast src=h0-h2 dst=h0,h1 bytes=1", "incast: dst= must be one host");
	expect_refused("incast src=h0 dst=h0 bytes=1", "incast: src= has no host other than dst=");
	expect_refused("permutation src=h0", "permutation: fewer than two hosts");
	expect_refused("poisson src=h0-h3 dst=h0-h3 load=0 cdf=/dev/null",
		       "/dev/null:0: the last probability is not 1");
	expect_refused("poisson src=h0-h3 dst=h0-h3 cdf=../../tools/lab/cdf/websearch.cdf load=0",
		       "bad value for key \"load\": \"0\"");
	expect_refused("poisson cdf=none load=0.5", "cdf=none: No such file or directory");
	expect_refused("closed src=h0 dst=h0 cdf=../../tools/lab/cdf/hadoop.cdf",
		       "closed: src and dst are the same host");
	expect_refused("closed load=0.5 cdf=none", "closed: unknown key \"load=0.5\"");
	expect_refused("blast src=h0 dst=h1 size=15", "bad value for key \"size\": \"15\"");
	expect_refused("blast src=h0 dst=h1 cc=dctcp", "blast: unknown key \"cc=dctcp\"");
	run.time_ns = 0;
	expect_refused("bulk src=h0 dst=h1", "bulk: endless flows need --time");
	expect_refused("blast src=h0 dst=h1", "blast: endless flows need --time");
	run.time_ns = 100000000;
}

static void expect_flow(const struct pattern *p, uint32_t i, const char *src, const char *dst,
			uint64_t bytes)
{
	assert_string_equal(p->plan[i]->src->name, src);
	assert_string_equal(p->plan[i]->dst->name, dst);
	assert_int_equal(p->plan[i]->bytes, bytes);
}

static void test_plan(void **state)
{
	struct pattern p;

	(void)state;
	assert_true(parse(&p, "bulk src=h0-h2 dst=h3 bytes=1M"));
	p.kind->prepare(&p);
	assert_int_equal(p.plan_count, 3);
	expect_flow(&p, 2, "h2", "h3", 1000000);
	free_pattern(&p);

	assert_true(parse(&p, "bulk src=h0,h1 dst=h2,h3 flows=4"));
	p.kind->prepare(&p);
	assert_int_equal(p.plan_count, 4);
	expect_flow(&p, 3, "h1", "h3", 0);
	free_pattern(&p);

	assert_true(parse(&p, "incast src=h0-h3 dst=h1 bytes=20k rounds=2"));
	p.kind->prepare(&p);
	assert_int_equal(p.plan_count, 6);
	expect_flow(&p, 4, "h2", "h1", 20000);
	assert_int_equal(p.plan[4]->round, 1);
	free_pattern(&p);
}

static void test_transport(void **state)
{
	struct pattern p;

	(void)state;
	assert_true(parse(&p, "bulk src=h0 dst=h1 cc=dctcp transport=tcp"));
	assert_ptr_equal(p.transport, &tcp_transport);
	free_pattern(&p);
	assert_true(parse(&p, "rpc src=h0 dst=h1 request=1 response=1 transport=ndp"));
	assert_ptr_equal(p.transport, &ndp_transport);
	free_pattern(&p);
	assert_true(parse(&p, "bulk src=h0 dst=h1 transport=gbn"));
	assert_ptr_equal(p.transport, &gbn_transport);
	assert_int_equal(p.set.port, ROCE_PORT);
	assert_int_equal(p.set.window, 64);
	free_pattern(&p);
	assert_true(parse(&p, "bulk src=h0 dst=h1 transport=sr window=4096 port=7 ack_timeout=9"));
	assert_ptr_equal(p.transport, &sr_transport);
	assert_int_equal(p.set.window, 4096);
	assert_int_equal(p.set.port, 7);
	assert_int_equal(p.set.ack_timeout, 9);
	free_pattern(&p);
	assert_true(parse(&p, "blast src=h0 dst=h1"));
	assert_ptr_equal(p.transport, &udp_transport);
	free_pattern(&p);
	assert_true(parse(&p, "bulk src=h0 dst=h1 transport=iwarp message=1M"));
	assert_ptr_equal(p.transport, &iwarp_transport);
	free_pattern(&p);
	run.message_max = 0;
	assert_true(parse(&p, "bulk src=h0 dst=h1 transport=roce message=4k verb=nccl"));
	assert_ptr_equal(p.transport, &roce_transport);
	assert_int_equal(p.set.verb, VERB_NCCL);
	assert_int_equal(run.message_max, 4000);
	free_pattern(&p);
}

/* The path MTU is the largest of InfiniBand that leaves room for all headers. */
static void test_roce_payload(void **state)
{
	(void)state;
	assert_int_equal(roce_transport.payload(256), 256);
	assert_int_equal(roce_transport.payload(1119), 512);
	assert_int_equal(roce_transport.payload(1120), 1024);
	assert_int_equal(roce_transport.payload(1500), 1024);
	assert_int_equal(roce_transport.payload(4191), 2048);
	assert_int_equal(roce_transport.payload(9000), 4096);
}

static void test_derangement(void **state)
{
	unsigned int seen[4][4] = { }, n, i, round;
	uint32_t to[64];
	uint64_t all;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1, 0);
	for (n = 2; n <= 64; n++) {
		for (round = 0; round < 50; round++) {
			derangement(&rng, to, n);
			for (all = 0, i = 0; i < n; i++) {
				assert_true(to[i] < n && to[i] != i);
				all |= 1ULL << to[i];
			}
			assert_true(all == (n == 64 ? UINT64_MAX : (1ULL << n) - 1));
		}
	}
	/* uniform: each of 4 hosts sends to each other host equally often */
	for (round = 0; round < 9000; round++) {
		derangement(&rng, to, 4);
		for (i = 0; i < 4; i++)
			seen[i][to[i]]++;
	}
	for (i = 0; i < 16; i++)
		if (i / 4 != i % 4)
			assert_in_range(seen[i / 4][i % 4], 2800, 3200);
}

#define POISSON "poisson src=h0-h3 dst=h0-h3 load=0.5 cdf=../../tools/lab/cdf/hadoop.cdf"

/* A seed determines the flows, and their load is load=. */
static void test_poisson(void **state)
{
	struct pattern a, b;
	double bytes = 0;
	uint32_t i, n, same = 0;

	(void)state;
	assert_true(parse(&a, POISSON));
	assert_true(parse(&b, POISSON));
	a.kind->prepare(&a);
	b.kind->prepare(&b);
	n = a.plan_count;
	assert_int_equal(n, b.plan_count);
	for (i = 0; i < n; i++) {
		expect_flow(&b, i, a.plan[i]->src->name, a.plan[i]->dst->name, a.plan[i]->bytes);
		assert_int_equal(a.plan[i]->start_ns, b.plan[i]->start_ns);
		assert_true(a.plan[i]->src != a.plan[i]->dst);
		assert_true(a.plan[i]->start_ns < run.time_ns);
		assert_true(!i || a.plan[i]->start_ns >= a.plan[i - 1]->start_ns);
		bytes += (double)a.plan[i]->bytes;
	}
	/* four hosts at half of 10 Gbit/s for 0.1 s; sizes vary a lot */
	assert_true(fabs(bytes * 8 / 2e9 - 1) < 0.15);
	assert_true(fabs(n * cdf_mean(&a.set.cdf) * 8 / 2e9 - 1) < 0.1);
	free(b.plan);
	b.plan = NULL;
	b.plan_count = 0;
	b.index = 1;
	rng_seed(&b.rng, run.seed, b.index);
	b.kind->prepare(&b);
	for (i = 0; i < n && i < b.plan_count; i++)
		same += a.plan[i]->start_ns == b.plan[i]->start_ns;
	assert_true(same < 3);
	free_pattern(&a);
	free_pattern(&b);
}

static void test_bad_pools(void **state)
{
	(void)state;
	expect_refused(POISSON " concurrency=2",
		       "poisson: concurrency=2 needs connect=before");
	expect_refused(POISSON " concurrency=8334 connect=before",
		       "poisson: concurrency=8334 for 12 pairs exceeds 100000 connections");
	expect_refused(POISSON " concurrency=0 connect=before",
		       "bad value for key \"concurrency\": \"0\"");
	expect_refused(POISSON " connect=warm",
		       "bad value for key \"connect\": \"warm\"");
}

/* A flow gets the idle channel that was used last, or a new one, up to POOL_MAX. */
static void test_pool(void **state)
{
	const struct host *h0, *h1;
	struct channel *a, *b, *c;
	struct pattern p;
	uint32_t i;

	(void)state;
	assert_true(parse(&p, POISSON " connect=before concurrency=8333"));
	h0 = p.set.src.hosts[0];
	h1 = p.set.src.hosts[1];
	p.pool = pool_new(run.topology.count);
	a = pool_take(&p, h0, h1);
	b = pool_take(&p, h0, h1);
	assert_true(a && b && a != b && a->remove && !a->opened && !a->once);
	assert_ptr_equal(a->src, h0);
	assert_ptr_equal(a->dst, h1);
	pool_give(b);
	pool_give(a);
	c = pool_take(&p, h1, h0);
	assert_true(c && c != a && c != b);
	assert_ptr_equal(pool_take(&p, h0, h1), a);
	pool_give(a);
	/* an idle channel that is closed is not used again */
	a->remove(a);
	assert_ptr_equal(pool_take(&p, h0, h1), b);
	b->remove(b);
	c->remove(c);
	free(b);
	free(c);
	for (i = 0; i < POOL_MAX; i++) {
		b = pool_take(&p, h0, h1);
		assert_non_null(b);
		free(b);
	}
	assert_null(pool_take(&p, h0, h1));
	/* a closed channel makes room for another one */
	a->remove(a);
	free(a);
	a = pool_take(&p, h0, h1);
	assert_non_null(a);
	free(a);
	free(p.pool);
	free_pattern(&p);
}

#define CLOSED "closed src=h0-h2 dst=h0-h3 concurrency=2 cdf=../../tools/lab/cdf/hadoop.cdf"

static void expect_same(const struct flow *a, const struct flow *b)
{
	assert_ptr_equal(a->src, b->src);
	assert_ptr_equal(a->dst, b->dst);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->round, b->round);
}

/* Each host has `concurrency` flows; the next flows do not depend on the order of ends. */
static void test_closed(void **state)
{
	uint32_t i, n = 6, first;
	struct pattern a, b;

	(void)state;
	assert_true(parse(&a, CLOSED));
	assert_true(parse(&b, CLOSED));
	a.kind->prepare(&a);
	b.kind->prepare(&b);
	assert_int_equal(a.plan_count, n);
	for (i = 0; i < n; i++) {
		expect_same(a.plan[i], b.plan[i]);
		assert_ptr_equal(a.plan[i]->src, a.set.src.hosts[i % 3]);
		assert_ptr_not_equal(a.plan[i]->src, a.plan[i]->dst);
		a.plan[i]->state = FLOW_DONE;
		b.plan[i]->state = FLOW_DONE;
	}
	first = flow_count;
	for (i = 0; i < n; i++)
		a.kind->ended(&a, a.plan[i], NULL);
	for (i = n; i-- > 0;)
		b.kind->ended(&b, b.plan[i], NULL);
	assert_int_equal(flow_count, first + 2 * n);
	for (i = 0; i < n; i++) {
		expect_same(flows[first + i], flows[first + 2 * n - 1 - i]);
		assert_ptr_equal(flows[first + i]->src, a.plan[i]->src);
		assert_int_equal(flows[first + i]->round, n + i);
	}
	/* a failed flow has no successor, and after --time no flow has one */
	a.plan[0]->state = FLOW_FAILED;
	a.kind->ended(&a, a.plan[0], NULL);
	run.over = true;
	a.kind->ended(&a, a.plan[1], NULL);
	run.over = false;
	assert_int_equal(flow_count, first + 2 * n);
	free_pattern(&a);
	free_pattern(&b);
}

/* Flows scheduled for the same ns start at different ns. */
static void test_distinct_starts(void **state)
{
	static uint8_t taken[5000];
	struct pattern p;
	struct flow *f;
	int i;

	(void)state;
	assert_true(parse(&p, "bulk src=h0 dst=h1"));
	for (i = 0; i < 4000; i++) {
		f = flow_new(&p, p.set.src.hosts[0], p.set.dst.hosts[0], 1);
		flow_start_at(f, i % 2 ? 500 : i % 100, NULL);
		assert_in_range(f->start_ns, 1, 4999);
		assert_false(taken[f->start_ns]);
		taken[f->start_ns] = 1;
	}
	free_pattern(&p);
}

static void test_csv(void **state)
{
	/* ideal time: a full frame on three links, 3 * 1220.8 + 2000 ns */
	static const char expected[] =
		"0,0,copied,0,h0,h2,1448,1448,5,11324,5662,2.0000,done,,0,0,0,0,1\n"
		"1,0,copied,0,h1,h3,1448,0,6,,5662,,failed,ECONNREFUSED,0,0,0,0,0\n"
		"2,0,copied,0,h0,h2,1448,0,,,5662,,waiting,,0,0,0,0,0\n";
	struct pattern p;
	struct flow *f;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_true(parse(&p, "bulk src=h0,h1 dst=h2,h3 flows=3 bytes=1448"));
	p.kind->prepare(&p);
	f = p.plan[0];
	f->state = FLOW_DONE;
	f->start_ns = 5;
	f->end_ns = 5 + 2 * 5662;
	f->received = 1448;
	f->connected = true;
	f = p.plan[1];
	f->state = FLOW_FAILED;
	f->error = -ECONNREFUSED;
	f->start_ns = 6;
	records_flows(out);
	fclose(out);
	assert_string_equal(strchr(text, '\n') + 1, expected);
	free(text);
	free_pattern(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_transport),
		cmocka_unit_test(test_roce_payload),
		cmocka_unit_test(test_derangement),
		cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_bad_pools),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_distinct_starts),
		cmocka_unit_test(test_csv),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
