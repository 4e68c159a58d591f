// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet lb: a live table of the ports that act_lb balances over
 *
 * Rates and shares are averages since the last table. Quality, utilization and time to drain
 * come from the kernel's latest sample.
 */
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "closnet.h"
#include "lb_netlink.h"

#define fail(status, ...) fail_as("lb", status, __VA_ARGS__)

/* Width of the bar of a port that has all packets */
#define BAR_MAX	24
#define QUALITY_BEST	7

/**
 * struct snapshot - ports at an instant
 * @ports: the ports
 * @at: monotonic time, s
 */
struct snapshot {
	struct lb_ports ports;
	double at;
};

/**
 * struct row - a port in a table
 * @port: its state
 * @dev: name of its device
 * @packets, @bits: sent per second by all actions
 * @share: share of the packets, 0 to 1
 */
struct row {
	const struct lb_port *port;
	char dev[IF_NAMESIZE];
	double packets, bits;
	double share;
};

/**
 * struct table - a table
 * @rows: a row for each port
 * @count: number of them
 */
struct table {
	struct row rows[LB_PORTS_MAX];
	size_t count;
};

/* ---- numbers ---- */

static const struct lb_port *find(const struct lb_ports *ports, uint32_t ifindex)
{
	const struct lb_port *p;

	for (p = ports->list; p < ports->list + ports->count; p++) {
		if (p->ifindex == ifindex)
			return p;
	}
	return NULL;
}

/* A counter of an action that was replaced falls. */
static double change(uint64_t old, uint64_t new)
{
	return new > old ? new - old : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strverscmp(x->dev, y->dev);
}

static void make_row(struct row *row, const struct snapshot *old, const struct snapshot *new,
		     const struct lb_port *port)
{
	static const struct lb_port none;
	const struct lb_port *before = find(&old->ports, port->ifindex) ?: &none;
	double seconds = new->at - old->at;

	row->port = port;
	if (!if_indextoname(port->ifindex, row->dev))
		snprintf(row->dev, sizeof(row->dev), "%" PRIu32, port->ifindex);
	row->packets = change(before->packets, port->packets) / seconds;
	row->bits = 8 * change(before->bytes, port->bytes) / seconds;
}

static void make_table(struct table *table, const struct snapshot *old, const struct snapshot *new)
{
	const struct lb_port *p;
	double packets = 0;
	size_t i;

	table->count = new->ports.count;
	for (i = 0; i < table->count; i++) {
		p = &new->ports.list[i];
		make_row(&table->rows[i], old, new, p);
		packets += table->rows[i].packets;
	}
	for (i = 0; i < table->count; i++)
		table->rows[i].share = packets ? table->rows[i].packets / packets : 0;
	qsort(table->rows, table->count, sizeof(*table->rows), by_name);
}

/* ---- text ---- */

/* Green for the best bands, yellow, and red for the worst; empty without colours */
static const char *color_of(uint32_t quality, bool colors)
{
	if (!colors)
		return "";
	return quality >= QUALITY_BEST - 1 ? "\033[32m" : quality > 2 ? "\033[33m" : "\033[31m";
}

static const char *time_text(uint64_t ns, char *text, size_t size)
{
	static const char * const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	unsigned int i;

	for (i = 0; value >= 999.5 && i + 1 < COUNT(units); i++)
		value /= 1000;
	snprintf(text, size, "%.*f%s", value >= 99.95 || !i ? 0 : value >= 9.995 ? 1 : 2, value,
		 units[i]);
	return text;
}

static void print_row(const struct row *row, bool colors)
{
	char packets[16], bits[16], drain[16], bar[BAR_MAX + 1];
	const struct lb_port *port = row->port;

	memset(bar, '#', BAR_MAX);
	bar[(int)(row->share * BAR_MAX + 0.5)] = '\0';
	printf("%-15s %7s %7s  %s%-*s%s %5.1f%% %7" PRIu32 " %5.1f%% %7s\n", row->dev,
	       scaled(row->packets, packets, sizeof(packets)),
	       scaled(row->bits, bits, sizeof(bits)),
	       color_of(port->quality, colors), BAR_MAX, bar, colors ? "\033[m" : "",
	       100 * row->share, port->quality, 100.0 * port->utilization / UINT32_MAX,
	       time_text(port->drain_ns, drain, sizeof(drain)));
}

static void print_text(const struct table *table, const struct lb_ports *ports)
{
	bool terminal = isatty(STDOUT_FILENO);
	size_t i;

	if (terminal)
		fputs("\033[H\033[2J", stdout);
	printf("%-15s %7s %7s  %-*s %6s %7s %6s %7s\n", "DEVICE", "PACK/S", "BIT/S",
	       BAR_MAX, "SHARE", "", "QUALITY", "UTIL", "DRAIN");
	for (i = 0; i < table->count; i++)
		print_row(&table->rows[i], terminal && !getenv("NO_COLOR"));
	if (!ports->actions)
		puts("no lb action in this network namespace");
	else if (!ports->count)
		puts("no lb action has sent a packet");
	fflush(stdout);
}

/* ---- JSON ---- */

static struct json_object *row_object(const struct row *row)
{
	const struct lb_port *port = row->port;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "dev", json_object_new_string(row->dev));
	json_object_object_add(o, "packets", json_object_new_uint64(port->packets));
	json_object_object_add(o, "bytes", json_object_new_uint64(port->bytes));
	json_object_object_add(o, "packets_per_second", json_object_new_double(row->packets));
	json_object_object_add(o, "bits_per_second", json_object_new_double(row->bits));
	json_object_object_add(o, "share", json_object_new_double(row->share));
	json_object_object_add(o, "quality", json_object_new_int(port->quality));
	json_object_object_add(o, "utilization",
			       json_object_new_double((double)port->utilization / UINT32_MAX));
	json_object_object_add(o, "drain_ns", json_object_new_uint64(port->drain_ns));
	json_object_object_add(o, "rate_Bps", json_object_new_uint64(port->rate_Bps));
	return o;
}

/* One line for each table, so that readers can separate them */
static void print_json(const struct table *table)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < table->count; i++)
		json_object_array_add(array, row_object(&table->rows[i]));
	puts(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN));
	json_object_put(array);
	fflush(stdout);
}

/* ---- command line ---- */

/**
 * struct request - the command line
 * @delay: time between two tables, s
 * @once: end after one table
 * @json: print JSON
 */
struct request {
	double delay;
	bool once;
	bool json;
};

static void help(FILE *to)
{
	fprintf(to,
		"Usage: closnet lb [-d SECONDS] [--once] [-j]\n"
		"Show the ports of all lb actions in this network namespace.\n"
		"  -d, --delay SECONDS  time between two tables, 0.1 to 3600; default: 1\n"
		"      --once           end after one table; default: go on until interrupted\n"
		"  -j, --json           print a line of JSON for each table\n");
}

static int take_snapshot(struct snapshot *s)
{
	int err = lb_read_ports(&s->ports);

	s->at = monotonic_seconds();
	return err ? fail(CANNOT, "cannot read the actions: %s", strerror(-err)) : DONE;
}

static int show_tables(const struct request *request)
{
	static struct snapshot snapshots[2];
	static struct table table;
	struct snapshot *old = &snapshots[0], *new = &snapshots[1], *other;
	int status = take_snapshot(old);

	while (!status) {
		usleep(request->delay * 1e6);
		status = take_snapshot(new);
		if (status)
			break;
		make_table(&table, old, new);
		if (request->json)
			print_json(&table);
		else
			print_text(&table, &new->ports);
		if (request->once)
			break;
		other = old;
		old = new;
		new = other;
	}
	return status;
}

int lb(int argc, char **argv)
{
	static const struct option options[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct request request = { .delay = 1 };
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "d:jh", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			request.delay = strtod(optarg, &end);
			if (*end || end == optarg ||
			    !(request.delay >= 0.1 && request.delay <= 3600))
				return fail(USAGE, "illegal value \"%s\" of -d", optarg);
			break;
		case 'o':
			request.once = true;
			break;
		case 'j':
			request.json = true;
			break;
		case 'h':
			help(stdout);
			return DONE;
		default:
			return USAGE;
		}
	}
	if (optind < argc)
		return fail(USAGE, "unknown argument \"%s\"", argv[optind]);
	return show_tables(&request);
}
