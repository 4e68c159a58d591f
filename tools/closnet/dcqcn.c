// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet dcqcn: set up a switch port with eight priorities, by tc(8)
 *
 * Egress filters set a packet's priority by the class selector of its DSCP. Each
 * priority has its own dcqcn below mqprio, or below ets on a device with fewer than
 * eight TX queues.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "closnet.h"

#define PRIOS		8
#define POOL		"sw0"
#define NAME_MAX_LEN	15
/* Class selector bits of a DS field */
#define CLASS_MASK	0xe0
/* Preference of the filters for IPv4; those for IPv6 have PREF + 1 */
#define PREF		61

#define fail(status, ...) fail_as("dcqcn", status, __VA_ARGS__)

struct setup {
	const char *dev;
	const char *pool;
	bool queues;
	bool dry;
};

static void help(FILE *to)
{
	fprintf(to,
		"Usage: closnet dcqcn setup DEV [--pool NAME] [--dry-run]\n"
		"  --pool NAME       pool of the switch that DEV belongs to (" POOL ")\n"
		"  -n, --dry-run     print the tc(8) commands, do not run them\n");
}

/* Return: true if the text is safe as a word of tc and as a path component */
static bool is_word(const char *text)
{
	size_t len = strlen(text);

	return len && len <= NAME_MAX_LEN && text[0] != '-' && !strpbrk(text, " \t\n\"'\\/#");
}

/* Return: number of TX queues of a device, or -1 if it does not exist */
static int count_queues(const char *dev)
{
	char path[64];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s/queues", dev);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, "tx-", 3);
	closedir(dir);
	return n;
}

/* Write a filter per class selector and IP version. */
static void write_filters(FILE *to, const struct setup *s)
{
	static const char * const protocols[] = { "ip", "ipv6" };
	unsigned int i, prio;

	for (i = 0; i < COUNT(protocols); i++) {
		for (prio = 0; prio < PRIOS; prio++) {
			fprintf(to, "filter replace dev %s egress protocol %s pref %u handle %u ",
				s->dev, protocols[i], PREF + i, prio + 1);
			fprintf(to, "flower ip_tos 0x%02x/0x%02x action skbedit priority %u\n",
				prio << 5, CLASS_MASK, prio);
		}
	}
}

static void write_root(FILE *to, const struct setup *s)
{
	unsigned int prio;

	/* the root of an earlier setup cannot be changed, only replaced */
	fprintf(to, "qdisc replace dev %s root pfifo\n", s->dev);
	fprintf(to, "qdisc replace dev %s root handle 1: ", s->dev);
	if (!s->queues) {
		fprintf(to, "ets bands 8 strict 8 priomap 7 6 5 4 3 2 1 0 7 7 7 7 7 7 7 7\n");
		return;
	}
	fprintf(to, "mqprio num_tc 8 map 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 queues");
	for (prio = 0; prio < PRIOS; prio++)
		fprintf(to, " 1@%u", prio);
	fprintf(to, " hw 0\n");
}

/* mqprio: class N + 1 is TX queue N. ets: class 1 is the highest priority. */
static void write_leaves(FILE *to, const struct setup *s)
{
	unsigned int prio;

	for (prio = 0; prio < PRIOS; prio++)
		fprintf(to, "qdisc replace dev %s parent 1:%u handle 1%u: dcqcn prio %u pool %s\n",
			s->dev, s->queues ? prio + 1 : PRIOS - prio, prio, prio, s->pool);
}

static void write_commands(FILE *to, const struct setup *s)
{
	fprintf(to, "qdisc replace dev %s clsact\n", s->dev);
	write_filters(to, s);
	write_root(to, s);
	write_leaves(to, s);
}

static int run_commands(const struct setup *s)
{
	FILE *tc = popen("tc -batch -", "w");
	int status;

	if (!tc)
		return fail(CANNOT, "tc: %s", strerror(errno));
	write_commands(tc, s);
	status = pclose(tc);
	if (status)
		return fail(CANNOT, "tc failed; --dry-run prints its commands");
	return DONE;
}

static int setup(struct setup *s)
{
	int queues;

	if (!is_word(s->dev))
		return fail(USAGE, "invalid device name \"%s\"", s->dev);
	if (!is_word(s->pool))
		return fail(USAGE, "--pool must be a name of 1 to 15 characters, not \"%s\"",
			    s->pool);
	queues = count_queues(s->dev);
	if (queues < 0)
		return fail(CANNOT, "no such device: %s", s->dev);
	s->queues = queues >= PRIOS;
	if (!s->dry)
		return run_commands(s);
	write_commands(stdout, s);
	return DONE;
}

int dcqcn(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pool", required_argument, NULL, 'p' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct setup s = { .pool = POOL };
	int c;

	argv[0] = "closnet dcqcn";
	while ((c = getopt_long(argc, argv, "nh", options, NULL)) != -1) {
		if (c == 'h') {
			help(stdout);
			return DONE;
		}
		if (c == 'p')
			s.pool = optarg;
		else if (c == 'n')
			s.dry = true;
		else
			return fail(USAGE, "see --help");
	}
	if (argc - optind != 2 || strcmp(argv[optind], "setup"))
		return fail(USAGE, "usage: closnet dcqcn setup DEV");
	s.dev = argv[optind + 1];
	return setup(&s);
}
