/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts, where their sockets are made, and the links between them
 *
 * The topology helpers of the lab write the file; words are separated by
 * blanks, # starts a comment:
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

/* The links from host to host, in order */
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
	struct path paths[DISTANCES];	/* without links where the file has no line */
	unsigned int mtu;
};

/* Hosts without repetition, in the order in which they were named */
struct host_set {
	const struct host **hosts;
	unsigned int count;
};

/**
 * topology_read() - read the file of hosts
 * @in: the file
 * @name: of the file, for messages
 * @topology: filled
 * @e: says file, line and word where false is returned
 */
bool topology_read(FILE *in, const char *name, struct topology *topology, struct error *e);

void topology_free(struct topology *topology);

/* Return: the links from a to b, or NULL where the file does not tell them */
const struct path *topology_path(const struct topology *topology, const struct host *a,
				 const struct host *b);

/**
 * host_set_parse() - the hosts of a list
 * @topology: all hosts
 * @text: names, ranges like h0-h7, "all"; separated by commas
 * @set: filled
 * @e: says which word was wrong where false is returned
 */
bool host_set_parse(const struct topology *topology, const char *text, struct host_set *set,
		    struct error *e);

/* Return: the set is left without that host; false if nothing is left */
bool host_set_remove(struct host_set *set, const struct host *host);

#endif /* _TRAFFIC_TOPOLOGY_H */
