/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts, their network namespaces, and the links between them
 *
 * closlab.topo writes the file of hosts. Words are separated by blanks, # starts
 * a comment:
 *
 *	host NAME NETNS ADDRESS LEAF POD
 *	path same-leaf|same-pod|far RATE_BPS:DELAY_NS ...
 *	mtu BYTES
 */
#ifndef _TRAFFIC_TOPOLOGY_H
#define _TRAFFIC_TOPOLOGY_H

#include <netinet/in.h>
#include <stdio.h>

#include "util.h"

#define PATH_LINKS_MAX 16

struct link {
	uint64_t rate_bps;
	int64_t delay_ns;
};

/* Links from host to host, in order */
struct path {
	unsigned int count;
	struct link links[PATH_LINKS_MAX];
};

enum distance { SAME_LEAF, SAME_POD, FAR, DISTANCES };

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct host {
	char name[32];
	char netns[64];
	union address address;
	unsigned int leaf;
	unsigned int pod;
};

struct topology {
	struct host *hosts;
	unsigned int count;
	struct path paths[DISTANCES];	/* no links: not in the file */
	unsigned int mtu;
};

/* Distinct hosts, in the order of the command line */
struct host_set {
	const struct host **hosts;
	unsigned int count;
};

/**
 * topology_read() - read the file of hosts
 * @in: the file
 * @name: name of the file, for messages
 * @topology: result
 * @e: message with file, line and word, if false is returned
 */
bool topology_read(FILE *in, const char *name, struct topology *topology, struct error *e);

void topology_free(struct topology *topology);

/* Return: the links from a to b, or NULL if the file does not list them */
const struct path *topology_path(const struct topology *topology, const struct host *a,
				 const struct host *b);

/**
 * host_set_parse() - parse a list of hosts
 * @topology: all hosts
 * @text: names, ranges like h0-h7, "all"; separated by commas
 * @set: result
 * @e: message that names the wrong word, if false is returned
 */
bool host_set_parse(const struct topology *topology, const char *text, struct host_set *set,
		    struct error *e);

/* Remove a host, if the set has it. Return: false if the set is empty then */
bool host_set_remove(struct host_set *set, const struct host *host);

#endif /* _TRAFFIC_TOPOLOGY_H */
