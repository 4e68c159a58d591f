// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet(8): calculations and settings for closnet's modules
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "closnet.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "buffers", buffers, "thresholds of PFC and ECN for the ports of a switch" },
	{ "check-nic", check_nic, "check a NIC's hardware timestamps for tcp_timely" },
	{ "dcqcn", dcqcn, "set up a switch port with eight priorities" },
	{ "fab", fab, "peers and flows of closfab's tunnels" },
	{ "lb", lb, "live table of the ports that act_lb balances over" },
	{ "metrics", metrics, "every module's counters, for node_exporter or as JSON" },
	{ "ndp", ndp, "sockets, peers and flows of the NDP transport" },
	{ "pcrp", pcrp, "flow sizes, and the thresholds of their first chains" },
	{ "roce", roce, "rate limiters and flows of RoCEv2 queue pairs" },
	{ "top", top, "live table of the queues and of counters that change" },
};

static void usage(FILE *to)
{
	size_t i;

	fprintf(to, "Usage: closnet COMMAND [OPTION]...\n");
	for (i = 0; i < COUNT(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
	fprintf(to, "\"closnet COMMAND --help\" lists its options; closnet(8) explains them.\n");
}

int read_options(int argc, char **argv, void (*help)(FILE *to), bool *json, int *status)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		if (c == 'j') {
			*json = true;
			continue;
		}
		*status = c == 'h' ? DONE : USAGE;
		if (c == 'h')
			help(stdout);
		else
			fprintf(stderr, "%s: see --help\n", argv[0]);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return DONE;
	}
	for (i = 0; argc > 1 && i < COUNT(commands); i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (argc > 1)
		fprintf(stderr, "closnet: unknown command \"%s\"\n", argv[1]);
	usage(stderr);
	return USAGE;
}
