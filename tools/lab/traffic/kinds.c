// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of patterns: which flows they make, and when
 */
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "pool.h"

/* ---- shared by several kinds */

static void plan_flow(struct pattern *p, const struct host *src, const struct host *dst,
		      uint64_t bytes)
{
	p->plan = grow(p->plan, p->plan_count, sizeof(*p->plan));
	p->plan[p->plan_count++] = flow_new(p, src, dst, bytes);
}

static void open_channel(struct pattern *p, const struct host *src, const struct host *dst)
{
	struct channel *ch = NULL;

	if (p->set.connect_before) {
		ch = channel_new(p, src, dst);
		channel_open(ch);
	}
	p->channels = grow(p->channels, p->channel_count, sizeof(*p->channels));
	p->channels[p->channel_count++] = ch;
}

/* Return: start of flow @i of a group that starts at @ns */
static int64_t instant(struct pattern *p, int64_t ns, uint32_t i)
{
	int64_t jitter = 0;

	if (p->set.jitter_ns)
		jitter = (int64_t)rng_below(&p->rng, (uint64_t)p->set.jitter_ns + 1);
	return ns + i * p->set.stagger_ns + jitter;
}

static void start_alone(void *flow)
{
	flow_start(flow, NULL);
}

/* Flow I of the plan uses channel I, modulo the number of channels. */
static void start_on_channel(void *flow)
{
	struct flow *f = flow;
	struct pattern *p = f->pattern;

	flow_start(f, p->channels[(f->id - p->plan[0]->id) % p->channel_count]);
}

static void start_plan(struct pattern *p)
{
	uint32_t i;

	for (i = 0; i < p->plan_count; i++)
		flow_start_at(p->plan[i], instant(p, p->set.start_ns, i), start_on_channel);
}

static bool check_time(const struct pattern *p, struct error *e)
{
	return run.time_ns || refuse(e, "%s: endless flows need --time", p->kind->name);
}

static uint32_t pair_count(const struct settings *s)
{
	return s->src.count > s->dst.count ? s->src.count : s->dst.count;
}

static const struct host *cyclic(const struct host_set *set, uint32_t i)
{
	return set->hosts[i % set->count];
}

static bool check_pairs(const struct pattern *p, uint64_t count, struct error *e)
{
	const struct host *src;
	uint32_t i;

	for (i = 0; i < count; i++) {
		src = cyclic(&p->set.src, i);
		if (src == cyclic(&p->set.dst, i))
			return refuse(e, "%s: flow %u would go from %s to itself", p->kind->name, i,
				    src->name);
	}
	return true;
}

/* ---- bulk, blast: flows between given pairs */

static bool check_bulk(struct pattern *p, struct error *e)
{
	if (!p->set.flows)
		p->set.flows = pair_count(&p->set);
	return (p->set.bytes || check_time(p, e)) && check_pairs(p, p->set.flows, e);
}

static void prepare_bulk(struct pattern *p)
{
	const struct host *src, *dst;
	uint32_t i;

	for (i = 0; i < p->set.flows; i++) {
		src = cyclic(&p->set.src, i);
		dst = cyclic(&p->set.dst, i);
		plan_flow(p, src, dst, p->set.bytes);
		open_channel(p, src, dst);
	}
}

static bool check_blast(struct pattern *p, struct error *e)
{
	uint32_t i;

	if (!check_bulk(p, e))
		return false;
	for (i = 0; i < p->set.flows && !p->set.rate_bps; i++)
		if (!topology_path(&run.topology, cyclic(&p->set.src, i),
				   cyclic(&p->set.dst, i)))
			return refuse(e, "blast needs rate=, or a path in the file of hosts");
	return true;
}

/* ---- rpc: requests and responses on persistent connections */

static bool check_rpc(struct pattern *p, struct error *e)
{
	return (p->set.count || check_time(p, e)) && check_pairs(p, pair_count(&p->set), e);
}

static void prepare_rpc(struct pattern *p)
{
	uint32_t pairs = pair_count(&p->set), i;
	const struct host *src, *dst;

	for (i = 0; i < pairs * p->set.concurrency; i++) {
		src = cyclic(&p->set.src, i % pairs);
		dst = cyclic(&p->set.dst, i % pairs);
		plan_flow(p, src, dst, p->set.request);
		p->plan[i]->response = p->set.response;
		open_channel(p, src, dst);
	}
}

static void start_next(void *flow)
{
	struct flow *f = flow;

	flow_start(f, f->channel);
}

static void ended_rpc(struct pattern *p, struct flow *f, struct channel *ch)
{
	struct flow *next;

	if (!ch || run.over || f->round + 1 == p->set.count)
		return;
	next = flow_new(p, f->src, f->dst, f->bytes);
	next->response = f->response;
	next->round = f->round + 1;
	next->channel = ch;
	flow_start_at(next, f->end_ns, start_next);
}

/* ---- incast: all senders to one host, round after round */

static bool check_incast(struct pattern *p, struct error *e)
{
	if (p->set.dst.count != 1)
		return refuse(e, "incast: dst= must be one host");
	if (!host_set_remove(&p->set.src, p->set.dst.hosts[0]))
		return refuse(e, "incast: src= has no host other than dst=");
	if (p->set.src.count * p->set.rounds > 100000000)
		return refuse(e, "incast: more than 10^8 flows");
	return true;
}

static void prepare_incast(struct pattern *p)
{
	uint32_t round, i;

	for (i = 0; i < p->set.src.count; i++)
		open_channel(p, p->set.src.hosts[i], p->set.dst.hosts[0]);
	for (round = 0; round < p->set.rounds; round++) {
		for (i = 0; i < p->set.src.count; i++) {
			plan_flow(p, p->set.src.hosts[i], p->set.dst.hosts[0], p->set.bytes);
			p->plan[p->plan_count - 1]->round = round;
		}
	}
}

static void start_round(struct pattern *p, int64_t ns)
{
	uint32_t n = p->set.src.count, i;

	p->round_left = n;
	for (i = 0; i < n; i++)
		flow_start_at(p->plan[p->round * n + i], instant(p, ns, i), start_on_channel);
}

static void start_incast(struct pattern *p)
{
	start_round(p, p->set.start_ns);
}

static void ended_incast(struct pattern *p, struct flow *f, struct channel *ch)
{
	(void)ch;
	if (--p->round_left || ++p->round == p->set.rounds || run.over)
		return;
	start_round(p, f->end_ns);
}

/* ---- permutation */

void derangement(struct rng *rng, uint32_t *to, uint32_t count)
{
	uint32_t i, j, t;
	bool fixed;

	do {
		fixed = false;
		for (i = 0; i < count; i++)
			to[i] = i;
		for (i = count; i-- > 1;) {
			j = (uint32_t)rng_below(rng, i + 1);
			t = to[i];
			to[i] = to[j];
			to[j] = t;
		}
		for (i = 0; i < count; i++)
			fixed |= to[i] == i;
	} while (fixed);
}

static bool check_permutation(struct pattern *p, struct error *e)
{
	if (p->set.src.count < 2)
		return refuse(e, "permutation: fewer than two hosts");
	return p->set.bytes || check_time(p, e);
}

static void prepare_permutation(struct pattern *p)
{
	uint32_t n = p->set.src.count, *to = zalloc(n, sizeof(*to)), i;

	derangement(&p->rng, to, n);
	for (i = 0; i < n; i++) {
		plan_flow(p, p->set.src.hosts[i], p->set.src.hosts[to[i]], p->set.bytes);
		open_channel(p, p->set.src.hosts[i], p->set.src.hosts[to[i]]);
	}
	free(to);
}

/* ---- poisson: open loop, flows arrive independently of earlier ones */

/* Ensure that each host of src has a different host in dst. */
static bool check_ends(struct pattern *p, struct error *e)
{
	if ((p->set.dst.count == 1 && !host_set_remove(&p->set.src, p->set.dst.hosts[0])) ||
	    (p->set.src.count == 1 && !host_set_remove(&p->set.dst, p->set.src.hosts[0])))
		return refuse(e, "%s: src and dst are the same host", p->kind->name);
	return check_time(p, e);
}

/* Return: number of ordered pairs of different hosts */
static uint64_t all_pairs(const struct settings *s)
{
	uint64_t pairs = (uint64_t)s->src.count * s->dst.count;
	uint32_t i, j;

	for (i = 0; i < s->src.count; i++)
		for (j = 0; j < s->dst.count; j++)
			pairs -= s->src.hosts[i] == s->dst.hosts[j];
	return pairs;
}

static bool check_pool(const struct pattern *p, struct error *e)
{
	uint64_t pairs = all_pairs(&p->set);

	if (!p->set.connect_before && p->set.concurrency > 1)
		return refuse(e, "poisson: concurrency=%llu needs connect=before",
			    (unsigned long long)p->set.concurrency);
	if (p->set.connect_before && pairs * p->set.concurrency > POOL_MAX)
		return refuse(e, "poisson: concurrency=%llu for %llu pairs exceeds %u connections",
			    (unsigned long long)p->set.concurrency, (unsigned long long)pairs,
			    POOL_MAX);
	return true;
}

static bool check_poisson(struct pattern *p, struct error *e)
{
	if (!(p->set.load > 0 && p->set.load <= 10))
		return refuse(e, "bad value for key \"load\": \"%g\"", p->set.load);
	if (!check_ends(p, e) || !check_pool(p, e))
		return false;
	if (!topology_path(&run.topology, p->set.src.hosts[0],
			   p->set.dst.hosts[p->set.dst.hosts[0] == p->set.src.hosts[0]]))
		return refuse(e, "poisson: the file of hosts lacks the path");
	return true;
}

/* Draw a pair of different hosts, uniformly. */
static void draw_pair(struct pattern *p, const struct host **src, const struct host **dst)
{
	do {
		*src = p->set.src.hosts[rng_below(&p->rng, p->set.src.count)];
		*dst = p->set.dst.hosts[rng_below(&p->rng, p->set.dst.count)];
	} while (*src == *dst);
}

/* Return: mean time between the starts of two flows */
static double mean_gap_ns(const struct pattern *p)
{
	const struct host *src = p->set.src.hosts[0];
	const struct host *dst = p->set.dst.hosts[p->set.dst.hosts[0] == src];
	const struct path *path = topology_path(&run.topology, src, dst);

	return cdf_mean(&p->set.cdf) * 8 * 1e9 /
	       (p->set.load * (double)path->links[0].rate_bps * p->set.src.count);
}

/* Open connections for all pairs that draw_pair() can draw. */
static void open_pool(struct pattern *p)
{
	uint32_t i, j, k;

	p->pool = pool_new(run.topology.count);
	for (i = 0; i < p->set.src.count; i++)
		for (j = 0; j < p->set.dst.count; j++)
			for (k = 0; k < p->set.concurrency; k++)
				if (p->set.src.hosts[i] != p->set.dst.hosts[j])
					pool_open(p, p->set.src.hosts[i], p->set.dst.hosts[j]);
}

static void prepare_poisson(struct pattern *p)
{
	double mean = mean_gap_ns(p), ns = (double)p->set.start_ns;
	const struct host *src, *dst;
	uint64_t bytes;

	while ((ns += rng_exponential(&p->rng, mean)) < (double)run.time_ns) {
		draw_pair(p, &src, &dst);
		bytes = cdf_quantile(&p->set.cdf, rng_unit(&p->rng));
		plan_flow(p, src, dst, bytes);
		p->plan[p->plan_count - 1]->start_ns = (int64_t)ns;
	}
	if (p->set.connect_before)
		open_pool(p);
}

static void start_from_pool(void *flow)
{
	struct flow *f = flow;

	/* after --time, flows do not start, so they take no connection */
	flow_start(f, f->pattern->pool && !run.over ?
		   pool_take(f->pattern, f->src, f->dst) : NULL);
}

static void ended_poisson(struct pattern *p, struct flow *f, struct channel *ch)
{
	(void)p;
	(void)f;
	if (ch)
		pool_give(ch);
}

static void start_poisson(struct pattern *p)
{
	uint32_t i;

	for (i = 0; i < p->plan_count; i++)
		flow_start_at(p->plan[i], p->plan[i]->start_ns, start_from_pool);
}

/* ---- closed: a constant number of flows per host; a new one starts when one ends */

static uint32_t closed_count(const struct pattern *p)
{
	return p->set.src.count * (uint32_t)p->set.concurrency;
}

/* Make flow @number. It depends only on the number, so all transports get the same flows. */
static struct flow *closed_flow(struct pattern *p, uint32_t number)
{
	const struct host *src = cyclic(&p->set.src, number % closed_count(p));
	const struct host *dst;
	struct flow *f;

	rng_seed(&p->rng, run.seed, (p->index + 1ULL) << 32 | number);
	do {
		dst = p->set.dst.hosts[rng_below(&p->rng, p->set.dst.count)];
	} while (dst == src);
	f = flow_new(p, src, dst, cdf_quantile(&p->set.cdf, rng_unit(&p->rng)));
	f->round = number;
	return f;
}

static void prepare_closed(struct pattern *p)
{
	uint32_t i;

	for (i = 0; i < closed_count(p); i++) {
		p->plan = grow(p->plan, p->plan_count, sizeof(*p->plan));
		p->plan[p->plan_count++] = closed_flow(p, i);
	}
}

static void start_closed(struct pattern *p)
{
	uint32_t i;

	for (i = 0; i < p->plan_count; i++)
		flow_start_at(p->plan[i], instant(p, p->set.start_ns, i), start_alone);
}

static void ended_closed(struct pattern *p, struct flow *f, struct channel *ch)
{
	(void)ch;
	if (run.over || f->state != FLOW_DONE)
		return;
	flow_start_at(closed_flow(p, f->round + closed_count(p)), f->end_ns, start_alone);
}

static const struct pattern_kind bulk = {
	.name = "bulk",
	.transport = &tcp_transport,
	.check = check_bulk,
	.prepare = prepare_bulk,
	.start = start_plan,
};

static const struct pattern_kind rpc = {
	.name = "rpc",
	.transport = &tcp_transport,
	.check = check_rpc,
	.prepare = prepare_rpc,
	.start = start_plan,
	.ended = ended_rpc,
};

static const struct pattern_kind incast = {
	.name = "incast",
	.transport = &tcp_transport,
	.check = check_incast,
	.prepare = prepare_incast,
	.start = start_incast,
	.ended = ended_incast,
};

static const struct pattern_kind permutation = {
	.name = "permutation",
	.transport = &tcp_transport,
	.check = check_permutation,
	.prepare = prepare_permutation,
	.start = start_plan,
};

static const struct pattern_kind poisson = {
	.name = "poisson",
	.transport = &tcp_transport,
	.check = check_poisson,
	.prepare = prepare_poisson,
	.start = start_poisson,
	.ended = ended_poisson,
};

static const struct pattern_kind blast = {
	.name = "blast",
	.transport = &udp_transport,
	.check = check_blast,
	.prepare = prepare_bulk,
	.start = start_plan,
};

static const struct pattern_kind closed = {
	.name = "closed",
	.transport = &tcp_transport,
	.check = check_ends,
	.prepare = prepare_closed,
	.start = start_closed,
	.ended = ended_closed,
};

/* Order of the bits in pattern.c */
const struct pattern_kind *const pattern_kinds[] = {
	&bulk, &rpc, &incast, &permutation, &poisson, &blast, &closed, NULL
};
