// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet top: a live table: each qdisc and action of closnet with its rate and queue, and
 * the counters that change
 *
 * Each qdisc, action, port and congestion control has a line. It shows the counters from
 * read_counters() that changed since the last table, sorted by rate, so that a new
 * counter needs no change here.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "closnet.h"
#include "counters.h"

#define LINE_MAX_LEN	512

/**
 * struct snapshot - counters at an instant
 * @all: the counters
 * @at: monotonic time, s
 */
struct snapshot {
	struct samples all;
	double at;
};

/**
 * struct rate - change of a counter
 * @name: the counter
 * @per_second: its change
 */
struct rate {
	const char *name;
	double per_second;
};

static struct snapshot take_snapshot(void)
{
	struct json_object *counters = read_counters();
	struct snapshot s = { flatten_counters(counters), monotonic_seconds() };

	json_object_put(counters);
	return s;
}

static const struct sample *find(const struct snapshot *in, const struct sample *like)
{
	const struct sample *s;

	for (s = in->all.list; s < in->all.list + in->all.count; s++) {
		if (!strcmp(s->name, like->name) && !strcmp(s->labels, like->labels) &&
		    !strcmp(s->module, like->module))
			return s;
	}
	return NULL;
}

/* Does the sample belong to the line of @of? Nested objects have the labels of their line first. */
static bool is_of(const struct sample *s, const struct sample *of)
{
	return !strcmp(s->module, of->module) &&
	       !strncmp(s->labels, of->labels, strlen(of->labels));
}

static int by_rate(const void *a, const void *b)
{
	const struct rate *x = a, *y = b;

	return (x->per_second < y->per_second) - (x->per_second > y->per_second);
}

/**
 * struct line - contents of a line
 * @bits, @packets, @drops: per second
 * @backlog: bytes in the queue
 * @rates, @count: other counters that changed
 */
struct line {
	double bits, packets, drops;
	int64_t backlog;
	struct rate rates[64];
	size_t count;
};

static void add_to_line(struct line *line, const struct sample *s, double rate)
{
	if (!strcmp(s->name, "bytes"))
		line->bits = 8 * rate;
	else if (!strcmp(s->name, "packets"))
		line->packets = rate;
	else if (!strcmp(s->name, "drops"))
		line->drops = rate;
	else if (!strcmp(s->name, "backlog"))
		line->backlog = s->value;
	else if (rate > 0 && line->count < COUNT(line->rates))
		line->rates[line->count++] = (struct rate) { s->name, rate };
}

/* Value of a label, for a column */
static void label(const char *labels, const char *name, char *to, size_t size)
{
	const char *at = strstr(labels, name);

	snprintf(to, size, "-");
	if (at && sscanf(at + strlen(name), "=\"%15[^\"]", to) != 1)
		snprintf(to, size, "-");
}

static void print_line(const struct sample *of, const struct line *line, unsigned int columns)
{
	char text[LINE_MAX_LEN], dev[16], bits[16], packets[16], drops[16], backlog[16], rate[16];
	size_t len, i;

	label(of->labels, "dev", dev, sizeof(dev));
	len = snprintf(text, sizeof(text), "%-15s %-10s %7s %7s %7s %7s ", dev, of->module,
		       scaled(line->bits, bits, sizeof(bits)),
		       scaled(line->packets, packets, sizeof(packets)),
		       scaled(line->backlog, backlog, sizeof(backlog)),
		       scaled(line->drops, drops, sizeof(drops)));
	for (i = 0; i < line->count && len + 64 < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, " %s %s", line->rates[i].name,
				scaled(line->rates[i].per_second, rate, sizeof(rate)));
	printf("%.*s\n", (int)columns, text);
}

/* The line that begins with the sample @of */
static void show_line(const struct snapshot *old, const struct snapshot *new,
		      const struct sample *of, unsigned int columns)
{
	double seconds = new->at - old->at;
	const struct sample *s, *before;
	struct line line = { };

	for (s = of; s < new->all.list + new->all.count && is_of(s, of); s++) {
		before = find(old, s);
		add_to_line(&line, s, before ? (s->value - before->value) / seconds : 0);
	}
	qsort(line.rates, line.count, sizeof(*line.rates), by_rate);
	print_line(of, &line, columns);
}

static void show(const struct snapshot *old, const struct snapshot *new, bool clear)
{
	struct winsize size = { .ws_col = 0 };
	const struct sample *s, *first = NULL;
	unsigned int columns;

	columns = LINE_MAX_LEN;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	if (clear)
		fputs("\033[H\033[2J", stdout);
	printf("%.*s\n", (int)columns,
	       "DEVICE          MODULE       BIT/S   PACK/S QUEUE/B  DROP/S  CHANGES PER SECOND");
	for (s = new->all.list; s < new->all.list + new->all.count; s++) {
		if (first && is_of(s, first))
			continue;
		first = s;
		show_line(old, new, first, columns);
	}
	if (!new->all.count)
		puts("no module of closnet counts in this network namespace");
	fflush(stdout);
}

static void help(FILE *to)
{
	fprintf(to,
		"Usage: closnet top [-d SECONDS] [-n COUNT]\n"
		"Show each qdisc of closnet with its rate and queue, and the counters that change.\n"
		"  -d, --delay SECONDS  time between two tables, 0.1 to 3600; default: 2\n"
		"  -n, --count COUNT    end after COUNT tables; default: go on until interrupted\n");
}

int top(int argc, char **argv)
{
	static const struct option options[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct snapshot old, new;
	double delay = 2;
	long count = -1;
	char *end = "";
	int c;

	while ((c = getopt_long(argc, argv, "d:n:h", options, NULL)) != -1) {
		if (c == 'h') {
			help(stdout);
			return DONE;
		}
		if (c == 'd')
			delay = strtod(optarg, &end);
		else if (c == 'n')
			count = strtol(optarg, &end, 10);
		else
			return USAGE;
		if (*end || end == optarg || !(delay >= 0.1 && delay <= 3600) || !count)
			return fail_as("top", USAGE, "illegal value \"%s\" of -%c", optarg, c);
	}
	if (optind < argc)
		return fail_as("top", USAGE, "unknown argument \"%s\"", argv[optind]);
	for (old = take_snapshot(); count; count -= count > 0) {
		usleep(delay * 1e6);
		new = take_snapshot();
		show(&old, &new, isatty(STDOUT_FILENO));
		free_samples(&old.all);
		old = new;
	}
	free_samples(&old.all);
	return DONE;
}
