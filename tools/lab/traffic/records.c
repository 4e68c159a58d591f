// SPDX-License-Identifier: GPL-2.0-only
#include "records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ideal.h"
#include "stats.h"

static const char *const state_names[] = {
	[FLOW_WAITING] = "waiting",
	[FLOW_RUNNING] = "unfinished",
	[FLOW_DONE] = "done",
	[FLOW_STOPPED] = "stopped",
	[FLOW_FAILED] = "failed",
};

static int64_t one_way_ns(const struct flow *f, const struct host *from, const struct host *to,
			  uint64_t bytes)
{
	const struct path *path = topology_path(&run.topology, from, to);
	const struct transport *transport = f->pattern->transport;
	bool ipv6 = from->address.sa.sa_family == AF_INET6;
	unsigned int mtu = run.topology.mtu, headers = transport->headers[ipv6];

	if (!path || !bytes)
		return 0;
	if (transport->payload)
		mtu = transport->payload(mtu) + headers;
	return ideal_fct_ns(path, mtu, headers, bytes);
}

int64_t flow_ideal_ns(const struct flow *f)
{
	return one_way_ns(f, f->src, f->dst, f->bytes) +
	       one_way_ns(f, f->dst, f->src, f->response);
}

static int64_t fct_ns(const struct flow *f)
{
	return f->end_ns - f->start_ns;
}

static double slowdown(const struct flow *f)
{
	return (double)fct_ns(f) / (double)flow_ideal_ns(f);
}

/* ---- CSV */

static void head(FILE *out, const char *const *columns, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		fprintf(out, "%s%c", columns[i], i + 1 < count ? ',' : '\n');
}

static void put(FILE *out, uint64_t value)
{
	fprintf(out, ",%" PRIu64, value);
}

static void put_if(FILE *out, bool known, int64_t value)
{
	if (known)
		put(out, (uint64_t)value);
	else
		fputc(',', out);
}

static void flow_line(FILE *out, const struct flow *f)
{
	int64_t ideal = flow_ideal_ns(f);
	bool done = f->state == FLOW_DONE;

	fprintf(out, "%" PRIu32 ",%u,%s,%" PRIu32 ",%s,%s", f->id, f->pattern->index,
		f->pattern->set.name, f->round, f->src->name, f->dst->name);
	put(out, f->bytes + f->response);
	put(out, flow_received(f) + f->answered);
	put_if(out, f->state != FLOW_WAITING, f->start_ns);
	put_if(out, done, fct_ns(f));
	put_if(out, ideal, ideal);
	if (done && ideal)
		fprintf(out, ",%.4f", slowdown(f));
	else
		fputc(',', out);
	fprintf(out, ",%s,%s", state_names[f->state], f->error ? strerrorname_np(-f->error) : "");
	put(out, f->retrans_packets);
	put(out, f->sent_packets);
	put(out, f->whole_packets);
	put(out, f->short_packets);
	put(out, f->connected);
	fputc('\n', out);
}

void records_flows(FILE *out)
{
	static const char *const columns[] = {
		"flow", "pattern", "name", "round", "src", "dst", "bytes", "received_bytes",
		"start_ns", "fct_ns", "ideal_ns", "slowdown", "state", "error",
		"retrans_packets", "sent_packets", "whole_packets", "short_packets", "connected",
	};
	uint32_t i;

	head(out, columns, ARRAY_COUNT(columns));
	for (i = 0; i < flow_count; i++)
		flow_line(out, flows[i]);
}

void records_series_head(FILE *out)
{
	static const char *const columns[] = {
		"time_ns", "flow", "received_bytes", "acked_bytes", "cwnd_packets", "srtt_us",
		"rttvar_us", "min_rtt_us", "retrans_packets", "delivery_rate_bps",
		"pacing_rate_bps", "ca_state", "sent_packets", "whole_packets", "short_packets",
	};

	head(out, columns, ARRAY_COUNT(columns));
}

static void series_line(FILE *out, int64_t now, const struct flow *f)
{
	struct sample s = { };

	f->pattern->transport->sample(f->channel->ends[0].fd, &s);
	fprintf(out, "%" PRId64 ",%" PRIu32, now, f->id);
	put(out, flow_received(f));
	put(out, s.acked_bytes);
	put(out, s.cwnd_packets);
	put(out, s.srtt_us);
	put(out, s.rttvar_us);
	put(out, s.min_rtt_us);
	put(out, s.retrans_packets);
	put(out, s.delivery_rate_bps);
	put(out, s.pacing_rate_bps);
	put(out, s.ca_state);
	put(out, f->sent_packets);
	put(out, f->whole_packets);
	put(out, f->short_packets);
	fputc('\n', out);
}

void records_series(FILE *out)
{
	int64_t now = loop_now();
	uint32_t i;

	for (i = 0; i < flow_count; i++)
		if (flows[i]->state == FLOW_RUNNING)
			series_line(out, now, flows[i]);
}

/* ---- summary */

struct totals {
	unsigned int flows;
	unsigned int states[FLOW_FAILED + 1];
	uint64_t bytes;		/* received bytes */
	int64_t first_ns;
	int64_t last_ns;
	uint64_t sent, whole, cut;
	double *fct;		/* µs, of flows that are done */
	double *slowdown;
	unsigned int slowdowns;
	double *goodput;	/* bit/s, of flows that started */
	unsigned int goodputs;
};

static int64_t end_of(const struct flow *f)
{
	return f->state == FLOW_RUNNING ? loop_now() : f->end_ns;
}

static void add_flow(struct totals *t, const struct flow *f)
{
	uint64_t bytes = flow_received(f) + f->answered;

	t->flows++;
	t->states[f->state]++;
	if (f->state == FLOW_WAITING)
		return;
	t->bytes += bytes;
	t->sent += f->sent_packets;
	t->whole += f->whole_packets;
	t->cut += f->short_packets;
	if (t->goodputs == 0 || f->start_ns < t->first_ns)
		t->first_ns = f->start_ns;
	if (end_of(f) > t->last_ns)
		t->last_ns = end_of(f);
	t->goodput[t->goodputs++] = end_of(f) > f->start_ns ?
		(double)bytes * 8e9 / (double)(end_of(f) - f->start_ns) : 0;
	if (f->state != FLOW_DONE)
		return;
	t->fct[t->states[FLOW_DONE] - 1] = (double)fct_ns(f) / 1e3;
	if (flow_ideal_ns(f))
		t->slowdown[t->slowdowns++] = slowdown(f);
}

static struct totals total(const struct pattern *p)
{
	struct totals t = {
		.fct = zalloc(flow_count, sizeof(*t.fct)),
		.slowdown = zalloc(flow_count, sizeof(*t.slowdown)),
		.goodput = zalloc(flow_count, sizeof(*t.goodput)),
	};
	uint32_t i;

	for (i = 0; i < flow_count; i++)
		if (flows[i]->pattern == p)
			add_flow(&t, flows[i]);
	return t;
}

static double goodput_bps(const struct totals *t)
{
	return t->last_ns > t->first_ns ?
		(double)t->bytes * 8e9 / (double)(t->last_ns - t->first_ns) : 0;
}

static void print_summary(const char *what, double *values, unsigned int count, bool json)
{
	struct summary s;

	if (!count)
		return;
	s = summarize(values, count);
	printf(json ? ",\"%s\":{\"mean\":%.4f,\"p50\":%.4f,\"p99\":%.4f,\"max\":%.4f}" :
	       "  %-10s mean %.3f  p50 %.3f  p99 %.3f  max %.3f\n", what, s.mean, s.p50, s.p99,
	       s.max);
}

static void print_json(const struct pattern *p, const struct totals *t)
{
	unsigned int state;

	printf("{\"pattern\":%u,\"kind\":\"%s\",\"name\":\"%s\"", p->index, p->kind->name,
	       p->set.name);
	printf(",\"flows\":%u", t->flows);
	for (state = 0; state <= FLOW_FAILED; state++)
		printf(",\"%s\":%u", state_names[state], t->states[state]);
	printf(",\"received_bytes\":%" PRIu64, t->bytes);
	printf(",\"goodput_bps\":%.0f", goodput_bps(t));
	if (t->sent) {
		printf(",\"sent_packets\":%" PRIu64, t->sent);
		printf(",\"whole_packets\":%" PRIu64, t->whole);
		printf(",\"short_packets\":%" PRIu64, t->cut);
	}
	if (t->goodputs)
		printf(",\"jain\":%.6f", jain(t->goodput, t->goodputs));
	print_summary("fct_us", t->fct, t->states[FLOW_DONE], true);
	print_summary("slowdown", t->slowdown, t->slowdowns, true);
	putchar('}');
}

static void print_text(const struct pattern *p, const struct totals *t)
{
	unsigned int state;

	printf("%s (%s): %u flows", p->set.name, p->kind->name, t->flows);
	for (state = 0; state <= FLOW_FAILED; state++)
		if (t->states[state])
			printf(", %u %s", t->states[state], state_names[state]);
	printf("; goodput %.3f Mbit/s", goodput_bps(t) / 1e6);
	if (t->goodputs > 1)
		printf(", Jain %.4f", jain(t->goodput, t->goodputs));
	putchar('\n');
	if (t->sent)
		printf("  datagrams  sent %" PRIu64 "  whole %" PRIu64 "  short %" PRIu64 "\n",
		       t->sent, t->whole, t->cut);
	print_summary("FCT us", t->fct, t->states[FLOW_DONE], false);
	print_summary("slowdown", t->slowdown, t->slowdowns, false);
}

unsigned int records_summary(const struct pattern *patterns, unsigned int count, bool json)
{
	unsigned int i, failed = 0;
	struct totals t;

	for (i = 0; i < count; i++) {
		t = total(&patterns[i]);
		if (json)
			putchar(i ? ',' : '[');
		if (json)
			print_json(&patterns[i], &t);
		else
			print_text(&patterns[i], &t);
		failed += t.states[FLOW_FAILED];
		free(t.fct);
		free(t.slowdown);
		free(t.goodput);
	}
	if (json)
		puts("]");
	return failed;
}
