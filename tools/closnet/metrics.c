// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet metrics: print every module's counters as OpenMetrics text or JSON
 *
 * A counter is called closnet_MODULE_NAME_total, a gauge closnet_MODULE_NAME. The text is also
 * valid in Prometheus' own format, which node_exporter's textfile collector reads.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closnet.h"
#include "counters.h"

/* Ends of names of values that may fall; all other values are counters */
static const char * const gauges[] = {
	"qlen", "backlog", "qlen_packets", "backlog_bytes", "peak_packets", "peak_bytes", "ports",
	"pool_bytes", "xoff_bytes", "headroom_bytes", "ingress_bytes", "chain_bytes", "spec_bytes",
	"rtt_ns", "rate_Bps", "rate_Mbps", "flows_ready", "flows_waiting", "flows_idle", "rx_flows",
	"rx_granted", "rx_granted_peak", "peers", "peers_answering", "peers_silent", "fifo",
	"ifindex", "offset_ns", "skew_ppb", "prio", "port_quality", "port_drain_ns", "port_rate",
};

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), own = strlen(end);

	return len >= own && !strcmp(name + len - own, end) &&
	       (len == own || name[len - own - 1] == '_');
}

static bool is_gauge(const struct sample *s)
{
	size_t i;

	for (i = 0; i < COUNT(gauges); i++) {
		if (ends_with(s->name, gauges[i]))
			return true;
	}
	return false;
}

/* In OpenMetrics, all samples of a metric stand together. */
static int by_name(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = strcmp(x->module, y->module);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->labels, y->labels);
}

static void print_metric(const struct sample *s, bool first)
{
	const char *end = is_gauge(s) ? "" : "_total";

	if (first)
		printf("# TYPE closnet_%s_%s %s\n", s->module, s->name, *end ? "counter" : "gauge");
	printf("closnet_%s_%s%s", s->module, s->name, end);
	if (*s->labels)
		printf("{%s}", s->labels);
	printf(" %jd\n", s->value);
}

static void print_metrics(struct json_object *counters)
{
	struct samples all = flatten_counters(counters);
	const struct sample *s, *last = NULL;

	if (all.count)
		qsort(all.list, all.count, sizeof(*all.list), by_name);
	for (s = all.list; s < all.list + all.count; last = s++)
		print_metric(s, !last || strcmp(last->name, s->name) ||
			     strcmp(last->module, s->module));
	puts("# EOF");
	free_samples(&all);
}

static void help(FILE *to)
{
	fprintf(to,
		"Usage: closnet metrics [-j]\n"
		"Print the counters of all modules in this network namespace.\n"
		"  -j, --json   as JSON; default: OpenMetrics text\n");
}

int metrics(int argc, char **argv)
{
	struct json_object *counters;
	bool json = false;
	int status;

	if (read_options(argc, argv, help, &json, &status))
		return status;
	if (optind < argc)
		return fail_as("metrics", USAGE, "unknown argument \"%s\"", argv[optind]);
	counters = read_counters();
	if (json)
		puts(json_object_to_json_string_ext(counters, JSON_C_TO_STRING_PRETTY));
	else
		print_metrics(counters);
	json_object_put(counters);
	return DONE;
}
