// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcrpd(8): PCRP's central statistics unit
 *
 * The kernel counts ended flows by size. An agent on each host reports the
 * counters to one aggregator, which answers with the quartiles of the
 * network's flows. The agent installs them as thresholds: they determine the priority of a
 * flow's first chain in sch_pcrp.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "pcrpd.h"

#define ETC "/etc/closnet/"

static const struct role_name {
	const char *name;
	enum role role;
	void (*run)(const struct config *config, struct key *key);
	const char *config;
	const char *what;
} roles[] = {
	{ "agent", AGENT, agent_run, ETC "pcrpd-agent.json", "on each host" },
	{ "aggregator", AGGREGATOR, aggregator_run, ETC "pcrpd-aggregator.json",
	  "once in the network" },
};

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "key", required_argument, NULL, 'k' },
	{ "test", no_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static int usage(FILE *to)
{
	size_t i;

	fprintf(to, "Usage: pcrpd agent|aggregator [OPTION]...\n");
	for (i = 0; i < COUNT(roles); i++)
		fprintf(to, "  %-17s %s\n", roles[i].name, roles[i].what);
	fprintf(to, "  %-17s %s\n", "-c, --config FILE",
		"settings; default " ETC "pcrpd-ROLE.json");
	fprintf(to, "  %-17s %s\n", "-k, --key FILE", "shared key; default " ETC "pcrpd.key");
	fprintf(to, "  %-17s %s\n", "-t, --test", "check both files and exit");
	return to == stdout ? 0 : 2;
}

static const struct role_name *find_role(const char *name)
{
	size_t i;

	for (i = 0; name && i < COUNT(roles); i++) {
		if (!strcmp(roles[i].name, name))
			return &roles[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct role_name *role;
	const char *config_path = NULL, *key_path = ETC "pcrpd.key";
	bool test = false;
	static struct config config;
	static struct key key;
	int option;

	while ((option = getopt_long(argc, argv, "c:k:th", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			config_path = optarg;
			break;
		case 'k':
			key_path = optarg;
			break;
		case 't':
			test = true;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	role = find_role(argv[optind]);
	if (!role || optind + 1 < argc)
		return usage(stderr);
	config_read(&config, config_path ? config_path : role->config, role->role);
	key_read(&key, key_path);
	if (!test)
		role->run(&config, &key);
	return 0;
}
