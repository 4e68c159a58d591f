// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic generator: flows between network namespaces, and their completion times
 *
 * One process owns the sockets of all hosts, in virtual time and in real time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "records.h"

#define PATTERNS_MAX 256

static const char usage[] =
"Usage: traffic --hosts FILE [OPTION...] PATTERN KEY=VALUE... [-- PATTERN KEY=VALUE...]...\n"
"Run patterns of traffic between network namespaces, all at once. Needs root.\n"
"\n"
"  --hosts FILE    the hosts: lines \"host NAME NETNS ADDRESS LEAF POD\", \"mtu BYTES\" and\n"
"                  \"path same-leaf|same-pod|far RATE_BPS:DELAY_NS ...\"\n"
"  --seed N        seed of all random choices; default 1\n"
"  --origin NS     time 0 on CLOCK_MONOTONIC; default: when all sockets are ready\n"
"  --time D        no flow starts later, and endless flows end then;\n"
"                  default: until all flows have ended\n"
"  --drain D       how long other flows may continue after --time; default 1s\n"
"  --flows FILE    write a CSV line per flow\n"
"  --series FILE   write a CSV line per running flow, again and again\n"
"  --every D       interval of --series; default 1ms\n"
"  --progress      print \"progress NS OF_NS\" to stderr at each 1% of --time\n"
"  --json          print the summary as JSON\n"
"\n"
"Patterns:\n"
"  bulk            flows of a given size, or endless\n"
"  rpc             requests and responses on persistent connections; each is a flow\n"
"  incast          flows of all src to one host, round after round\n"
"  permutation     each host sends to one host and receives from one host\n"
"  poisson         random arrivals at a load, sizes from a distribution\n"
"  closed          a constant number of flows per host, sizes from a distribution\n"
"  blast           UDP datagrams without congestion control\n"
"\n"
"Sizes are 1500, 64k, 1.5M, 2G (powers of 1000) or Ki, Mi, Gi; times 10us, 1.5ms, 2s;\n"
"rates 2.5gbit. Hosts are names, ranges like h0-h7 and all, separated by commas.\n"
"A flow's time ends when the receiver has read its last byte. Its slowdown is that time\n"
"over the ideal time: store and forward on an idle path, without handshake.\n"
"Exit status: 0; 1 if a flow failed; 2 if the command line or the set-up is wrong.\n"
"\n"
"Keys, with the patterns that accept them (*: require them):\n";

struct options {
	const char *hosts;
	const char *flows;
	const char *series;
	int64_t every_ns;
	uint64_t origin_ns;
	bool progress;
	bool json;
};

struct run run = { .seed = 1, .drain_ns = NS_PER_S };

static struct options options = { .every_ns = 1000000 };
static struct pattern patterns[PATTERNS_MAX];
static unsigned int pattern_count;
static FILE *flows_out, *series_out;
static unsigned int percent;

/* ---- the command line */

static void help(void)
{
	fputs(usage, stdout);
	pattern_help();
	exit(0);
}

static bool keep(const char **text, const char *value)
{
	*text = value;
	return true;
}

static bool parse_option(const char *name, const char *value)
{
	if (!strcmp(name, "--hosts"))
		return keep(&options.hosts, value);
	if (!strcmp(name, "--flows"))
		return keep(&options.flows, value);
	if (!strcmp(name, "--series"))
		return keep(&options.series, value);
	if (!strcmp(name, "--seed"))
		return parse_number(value, 0, UINT64_MAX, &run.seed);
	if (!strcmp(name, "--origin"))
		return parse_number(value, 1, INT64_MAX, &options.origin_ns);
	if (!strcmp(name, "--time"))
		return parse_duration(value, &run.time_ns) && run.time_ns;
	if (!strcmp(name, "--drain"))
		return parse_duration(value, &run.drain_ns);
	if (!strcmp(name, "--every"))
		return parse_duration(value, &options.every_ns) && options.every_ns;
	die("unknown option \"%s\" (see --help)", name);
}

/* Return: index of the first word that is not an option */
static int parse_options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && !strncmp(argv[i], "--", 2) && argv[i][2]; i++) {
		if (!strcmp(argv[i], "--help"))
			help();
		else if (!strcmp(argv[i], "--progress"))
			options.progress = true;
		else if (!strcmp(argv[i], "--json"))
			options.json = true;
		else if (i + 1 == argc)
			die("option \"%s\" is unknown or lacks a value (see --help)", argv[i]);
		else if (!parse_option(argv[i], argv[i + 1]))
			die("bad value for %s: \"%s\"", argv[i], argv[i + 1]);
		else
			i++;
	}
	if (!options.hosts)
		die("missing option --hosts FILE (see --help)");
	return i;
}

static void read_hosts(void)
{
	FILE *in = fopen(options.hosts, "r");
	struct error e;

	if (!in)
		die("%s: %s", options.hosts, strerror(errno));
	if (!topology_read(in, options.hosts, &run.topology, &e))
		die("%s", e.text);
	fclose(in);
}

static void parse_patterns(int count, char **text)
{
	struct pattern *p;
	struct error e;
	int n;

	do {
		for (n = 0; n < count && strcmp(text[n], "--"); n++)
			;
		if (pattern_count == PATTERNS_MAX)
			die("more than %u patterns", PATTERNS_MAX);
		p = &patterns[pattern_count];
		p->index = pattern_count++;
		if (!pattern_parse(p, text, n, &e))
			die("%s", e.text);
		text += n + 1;
		count -= n + 1;
	} while (count >= 0);
}

static FILE *open_out(const char *path)
{
	FILE *out = path ? fopen(path, "w") : NULL;

	if (path && !out)
		die("%s: %s", path, strerror(errno));
	return out;
}

static void close_out(FILE *out, const char *path)
{
	if (out && (ferror(out) | fclose(out)))
		die("%s: write error", path);
}

/* ---- the run */

static void more_files(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct rlimit have;

	/* beyond the system's limit: as many as allowed */
	if (!setrlimit(RLIMIT_NOFILE, &limit) || getrlimit(RLIMIT_NOFILE, &have))
		return;
	have.rlim_cur = have.rlim_max;
	setrlimit(RLIMIT_NOFILE, &have);
}

static void catch_up(void)
{
	unsigned int i;

	for (i = 0; i < pattern_count; i++)
		pattern_catch_up(&patterns[i]);
}

static void take_series(void *unused)
{
	(void)unused;
	catch_up();
	records_series(series_out);
	loop_at(loop_now() + options.every_ns, take_series, NULL);
}

/* time_is_over() prints the line of 100%. */
static void show_progress(void *unused)
{
	(void)unused;
	fprintf(stderr, "progress %lld %lld\n", (long long)loop_now(), (long long)run.time_ns);
	if (++percent < 100)
		loop_at(run.time_ns / 100 * percent, show_progress, NULL);
}

static void drained(void *unused)
{
	(void)unused;
	loop_stop();
}

static void time_is_over(void *unused)
{
	(void)unused;
	run.over = true;
	if (options.progress)
		show_progress(NULL);
	catch_up();
	flows_stop();
	loop_at(run.time_ns + run.drain_ns, drained, NULL);
}

/* Make listeners, and connections that open before time 0. */
static void prepare(void)
{
	unsigned int i;

	more_files();
	loop_init();
	for (i = 0; i < pattern_count; i++)
		pattern_listen(&patterns[i]);
	for (i = 0; i < pattern_count; i++)
		patterns[i].kind->prepare(&patterns[i]);
	if (channels_opening)
		loop_run();
}

static void start(void)
{
	unsigned int i;

	if (!loop_start_clock((int64_t)options.origin_ns))
		die("--origin %llu has passed", (unsigned long long)options.origin_ns);
	if (series_out)
		loop_at(options.every_ns, take_series, NULL);
	if (run.time_ns)
		loop_at(run.time_ns, time_is_over, NULL);
	if (options.progress && run.time_ns)
		loop_at(0, show_progress, NULL);
	for (i = 0; i < pattern_count; i++)
		patterns[i].kind->start(&patterns[i]);
	if (flows_pending)
		loop_run();
}

int main(int argc, char **argv)
{
	int first = parse_options(argc, argv);

	read_hosts();
	parse_patterns(argc - first, argv + first);
	flows_out = open_out(options.flows);
	series_out = open_out(options.series);
	prepare();
	if (series_out)
		records_series_head(series_out);
	start();
	if (flows_out)
		records_flows(flows_out);
	close_out(flows_out, options.flows);
	close_out(series_out, options.series);
	return records_summary(patterns, pattern_count, options.json) ? 1 : 0;
}
