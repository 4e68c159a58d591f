// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet buffers: thresholds of PFC and ECN for the ports of a switch
 *
 * The formulas are sch_dcqcn's, in sch/dcqcn/dcqcnq_buffers.c.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../sch/dcqcn/dcqcnq_buffers.h"
#include "closnet.h"

static const struct unit count_units[] = { { "", 1 }, { NULL } };

static const struct unit rate_units[] = {
	{ "m", 1e6 }, { "g", 1e9 }, { "t", 1e12 },
	{ "mbit", 1e6 }, { "gbit", 1e9 }, { "tbit", 1e12 }, { NULL }
};

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { NULL }
};

enum setting {
	PORTS, RATE, BUFFER, PRIORITIES, MTU, CABLE, HEADROOM, BETA, KMIN, KMAX, SETTINGS
};

/* @min and @max are the qdisc's range, if it has the option; @unset is the default, or REQUIRED */
#define REQUIRED	UINT64_MAX

static const struct {
	const char *name;
	const char *argument;
	const struct unit *units;
	u64 min;
	u64 max;
	u64 unset;
	const char *range;
	const char *what;
} settings[SETTINGS] = {
	[PORTS] = { "ports", "N", count_units, 1, 65535, REQUIRED,
		    "1 to 65535", "ports of the switch" },
	[RATE] = { "rate", "RATE", rate_units, 1000000, 1600000000000, REQUIRED,
		   "1m to 1.6t, as in 40g", "of a port, in bits per second" },
	[BUFFER] = { "buffer", "SIZE", size_units, 64, 1 << 30, REQUIRED,
		     "64 bytes to 1gib, as in 12mb", "buffer that the ports share" },
	[PRIORITIES] = { "priorities", "N", count_units, 1, 8, 8,
			 "1 to 8", "priorities with PFC (8)" },
	[MTU] = { "mtu", "SIZE", size_units, 68, 65535, 1500,
		  "68 to 65535 bytes", "MTU of a port (1500)" },
	[CABLE] = { "cable", "TIME", time_units, 0, 10000000, 1500,
		    "0ns to 10ms, as in 1.5us", "delay in one direction (1.5us)" },
	[HEADROOM] = { "headroom", "SIZE", size_units, 64, 1 << 30, 0,
		       "64 bytes to 1gib, as in 22.4kb",
		       "per port and priority (from rate, cable, MTU)" },
	[BETA] = { "beta", "N", count_units, 1, 128, 8,
		   "1 to 128", "beta of the dynamic threshold (8)" },
	[KMIN] = { "kmin", "SIZE", size_units, 0, 1 << 30, 5000,
		   "0 to 1gib, as in 5kb", "queue at which ECN marking starts (5kb)" },
	[KMAX] = { "kmax", "SIZE", size_units, 0, 1 << 30, 200000,
		   "0 to 1gib, as in 200kb", "queue at which all packets are marked (200kb)" },
};

/* Results, in bytes */
struct thresholds {
	u64 flight;
	u64 headrooms;
	u64 shared;
	u64 pfc_static;
	u64 pfc_empty;
	u64 ecn_static;
	u64 ecn_dynamic;
	/* worst case: kmin bytes in each queue, of each priority all from one port */
	u64 one_port;
	u64 used;
	u64 pfc_used;
};

static void help(FILE *to)
{
	char option[32];
	int i;

	fprintf(to, "Usage: closnet buffers --ports N --rate RATE --buffer SIZE [OPTION]...\n");
	for (i = 0; i < SETTINGS; i++) {
		snprintf(option, sizeof(option), "--%s %s", settings[i].name,
			 settings[i].argument);
		fprintf(to, "  %-17s %s\n", option, settings[i].what);
	}
	fprintf(to, "  %-17s %s\n", "-j, --json", "print JSON");
	fprintf(to, "kb, mb and gb are powers of ten; kib, mib and gib are powers of two.\n");
}

#define fail(status, ...) fail_as("buffers", status, __VA_ARGS__)

static int read_setting(u64 *values, enum setting i, const char *text)
{
	u64 value;

	if (parse_number(text, settings[i].units, &value) ||
	    value < settings[i].min || value > settings[i].max)
		return fail(USAGE, "--%s must be %s, not \"%s\"",
			    settings[i].name, settings[i].range, text);
	values[i] = value;
	return 0;
}

static u64 flight(const u64 *values)
{
	return dcqcnq_flight_bytes(values[RATE] / 8, values[CABLE], values[MTU]);
}

/* Check the values and derive the headroom. Return: 0, or the exit status after an error */
static int complete(u64 *values)
{
	int i;

	for (i = 0; i < SETTINGS; i++) {
		if (values[i] == REQUIRED)
			return fail(USAGE, "missing option --%s, %s", settings[i].name,
				    settings[i].range);
	}
	if (values[KMIN] > values[KMAX])
		return fail(USAGE, "--kmin, %" PRIu64 " bytes, is above --kmax, %" PRIu64 " bytes",
			    values[KMIN], values[KMAX]);
	if (!values[HEADROOM])
		values[HEADROOM] = flight(values);
	if (values[HEADROOM] * values[PORTS] * values[PRIORITIES] >= values[BUFFER])
		return fail(CANNOT,
			    "the headrooms of %" PRIu64 " ports and %" PRIu64
			    " priorities, %" PRIu64 " bytes each, exceed the buffer",
			    values[PORTS], values[PRIORITIES], values[HEADROOM]);
	return 0;
}

static void calculate(const u64 *values, struct thresholds *t)
{
	u32 ports = values[PORTS], prios = values[PRIORITIES], beta = values[BETA];

	t->flight = flight(values);
	t->headrooms = values[HEADROOM] * ports * prios;
	t->shared = values[BUFFER] - t->headrooms;
	t->pfc_static = dcqcnq_pfc_static(t->shared, ports, prios);
	t->pfc_empty = dcqcnq_pfc_dynamic(t->shared, beta, prios);
	t->ecn_static = dcqcnq_ecn_static(t->shared, ports, prios);
	t->ecn_dynamic = dcqcnq_ecn_dynamic(t->shared, ports, beta, prios);

	t->one_port = values[KMIN] * ports;
	t->used = min_t(u64, t->one_port * prios, t->shared);
	t->pfc_used = dcqcnq_pfc_dynamic(t->shared - t->used, beta, prios);
}

/* Return: kmin for the commands, lowered if PFC would pause before ECN marks */
static u64 good_kmin(const u64 *values, const struct thresholds *t)
{
	return min_t(u64, values[KMIN], t->ecn_dynamic);
}

static void print_line(const char *what, u64 bytes, const char *why)
{
	printf("%-15s %10" PRIu64 "  %s\n", what, bytes, why);
}

/* Return: true if a queue reaches kmin before its ingress port reaches the PFC threshold */
static bool ecn_first(u64 one_port, u64 t_pfc)
{
	return one_port <= t_pfc;
}

static const char *verdict(u64 one_port, u64 t_pfc)
{
	return ecn_first(one_port, t_pfc) ? "ECN marks before PFC pauses" :
					    "PFC pauses before ECN marks";
}

static void print_command(const u64 *values, const struct thresholds *t)
{
	printf("tc qdisc add dev PORT root dcqcn kmin %" PRIu64 " kmax %" PRIu64 " pmax 20%%",
	       good_kmin(values, t), values[KMAX]);
	printf(" pool sw0 buffer %" PRIu64 " headroom %" PRIu64 " xoff dynamic beta %" PRIu64,
	       values[BUFFER], values[HEADROOM], values[BETA]);
	if (values[PRIORITIES] == 8)
		printf(" pfc all");
	else
		printf(" pfc 0-%" PRIu64, values[PRIORITIES] - 1);
}

static void print_worst_case(const u64 *values, const struct thresholds *t)
{
	printf("\nWorst case: %" PRIu64 " unmarked bytes (kmin) in each of %" PRIu64
	       " * %" PRIu64 " queues. The\n%" PRIu64
	       " bytes of a priority arrived at one port.\n",
	       values[KMIN], values[PORTS], values[PRIORITIES], t->one_port);
	printf("  static:  t_PFC is %" PRIu64 ": %s\n", t->pfc_static,
	       verdict(t->one_port, t->pfc_static));
	printf("  dynamic: %" PRIu64 " of %" PRIu64 " shared bytes in use, t_PFC is %" PRIu64
	       ": %s\n", t->used, t->shared, t->pfc_used, verdict(t->one_port, t->pfc_used));
}

static void print_text(const u64 *values, const struct thresholds *t)
{
	bool lowered = good_kmin(values, t) < values[KMIN];

	printf("bytes\n");
	print_line("t_flight", t->flight, "from rate, cable and MTU");
	print_line("headroom", values[HEADROOM], "per port and priority");
	print_line("headrooms", t->headrooms, "of all ports and priorities");
	print_line("shared", t->shared, "buffer without headrooms");
	print_line("t_PFC, static", t->pfc_static, "maximum");
	print_line("t_PFC, dynamic", t->pfc_empty, "while the buffer is empty");
	print_line("t_ECN, static", t->ecn_static, t->ecn_static < values[MTU] ?
		   "maximum: below a packet, so not usable" : "maximum");
	print_line("t_ECN, dynamic", t->ecn_dynamic, t->ecn_dynamic < values[MTU] ?
		   "maximum: below a packet, so not usable" : "maximum");
	print_worst_case(values, t);
	printf("\nFor each port%s:\n",
	       lowered ? ", with kmin lowered so that ECN marks before PFC pauses" : "");
	print_command(values, t);
	printf("\n");
}

static void print_json(const u64 *values, const struct thresholds *t)
{
	const struct {
		const char *name;
		u64 value;
	} numbers[] = {
		{ "ports", values[PORTS] },
		{ "rate_bps", values[RATE] },
		{ "buffer_bytes", values[BUFFER] },
		{ "priorities", values[PRIORITIES] },
		{ "mtu_bytes", values[MTU] },
		{ "cable_ns", values[CABLE] },
		{ "beta", values[BETA] },
		{ "kmin_bytes", values[KMIN] },
		{ "kmax_bytes", values[KMAX] },
		{ "flight_bytes", t->flight },
		{ "headroom_bytes", values[HEADROOM] },
		{ "headrooms_bytes", t->headrooms },
		{ "shared_bytes", t->shared },
		{ "pfc_static_bytes", t->pfc_static },
		{ "pfc_dynamic_empty_bytes", t->pfc_empty },
		{ "ecn_static_bytes", t->ecn_static },
		{ "ecn_dynamic_bytes", t->ecn_dynamic },
		{ "worst_one_port_bytes", t->one_port },
		{ "worst_used_bytes", t->used },
		{ "worst_pfc_dynamic_bytes", t->pfc_used },
	};
	size_t i;

	printf("{\n");
	for (i = 0; i < COUNT(numbers); i++)
		printf("  \"%s\": %" PRIu64 ",\n", numbers[i].name, numbers[i].value);
	printf("  \"ecn_first_static\": %s,\n",
	       ecn_first(t->one_port, t->pfc_static) ? "true" : "false");
	printf("  \"ecn_first_dynamic\": %s,\n",
	       ecn_first(t->one_port, t->pfc_used) ? "true" : "false");
	printf("  \"tc\": \"");
	print_command(values, t);
	printf("\"\n}\n");
}

int buffers(int argc, char **argv)
{
	struct option options[SETTINGS + 3] = {
		[SETTINGS] = { "json", no_argument, NULL, 'j' },
		[SETTINGS + 1] = { "help", no_argument, NULL, 'h' },
	};
	struct thresholds t;
	u64 values[SETTINGS];
	bool json = false;
	int i, status;

	for (i = 0; i < SETTINGS; i++) {
		options[i] = (struct option) { settings[i].name, required_argument, NULL, 256 + i };
		values[i] = settings[i].unset;
	}
	argv[0] = "closnet buffers";
	while ((i = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		if (i == 'h') {
			help(stdout);
			return DONE;
		}
		if (i == '?')
			return fail(USAGE, "see --help");
		if (i == 'j')
			json = true;
		else if (read_setting(values, i - 256, optarg))
			return USAGE;
	}
	if (optind < argc)
		return fail(USAGE, "unexpected argument \"%s\"", argv[optind]);
	status = complete(values);
	if (status)
		return status;
	calculate(values, &t);
	if (json)
		print_json(values, &t);
	else
		print_text(values, &t);
	return DONE;
}
