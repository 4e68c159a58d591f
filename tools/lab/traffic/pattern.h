/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Patterns of traffic, and their words on the command line
 */
#ifndef _TRAFFIC_PATTERN_H
#define _TRAFFIC_PATTERN_H

#include "cdf.h"
#include "flow.h"
#include "rng.h"

/* Of the whole run */
struct run {
	struct topology topology;
	uint64_t seed;
	int64_t time_ns;	/* 0: until all flows have ended */
	int64_t drain_ns;
	bool over;		/* time is */
};

extern struct run run;

/* What the words key=value said, or their defaults */
struct settings {
	const char *name;
	const char *cc;
	const struct transport *transport;	/* NULL: the kind's */
	struct host_set src;
	struct host_set dst;
	struct cdf cdf;
	uint64_t flows;
	uint64_t bytes;
	uint64_t request;
	uint64_t response;
	uint64_t count;
	uint64_t concurrency;
	uint64_t rounds;
	uint64_t size;
	uint64_t rate_bps;
	uint64_t sndbuf;
	uint64_t port;
	uint64_t tos;
	uint64_t prio;
	uint64_t nodelay;
	double load;
	int64_t start_ns;
	int64_t stagger_ns;
	int64_t jitter_ns;
	bool connect_before;
};

struct pattern {
	unsigned int index;
	const struct pattern_kind *kind;
	const struct transport *transport;
	struct settings set;
	struct rng rng;
	struct listener *listeners;	/* one for each host of the topology; pattern NULL: none */
	struct channel **channels;	/* those opened before the start, one a flow or sender */
	uint32_t channel_count;
	struct flow **plan;		/* flows whose order is known, in that order */
	uint32_t plan_count;
	uint32_t round;
	uint32_t round_left;		/* flows of the round that have not ended */
};

/**
 * struct pattern_kind - a kind of pattern
 * @name: as on the command line
 * @transport: whose sockets it uses, unless told otherwise
 * @check: what single words cannot tell. Return: false, with the reason
 * @prepare: make flows, and the channels that are opened before the start
 * @start: give the flows their instants
 * @ended: a flow has, and its channel is free for others, or NULL; may be NULL
 */
struct pattern_kind {
	const char *name;
	const struct transport *transport;
	bool (*check)(struct pattern *p, struct error *e);
	void (*prepare)(struct pattern *p);
	void (*start)(struct pattern *p);
	void (*ended)(struct pattern *p, struct flow *flow, struct channel *channel);
};

extern const struct pattern_kind *const pattern_kinds[];

/**
 * pattern_parse() - a pattern from its words
 * @p: filled
 * @words: "bulk", "src=h0", ...
 * @count: of the words
 * @e: says which word was wrong where false is returned
 */
bool pattern_parse(struct pattern *p, char **words, int count, struct error *e);

/* The table of the words, for --help */
void pattern_help(void);

/* Makes the sockets that others connect to. */
void pattern_listen(struct pattern *p);

/* What has arrived by now is counted. */
void pattern_catch_up(struct pattern *p);

/* Each host sends to exactly one other: a permutation of the numbers below
 * @count without one that stays in its place; @count is at least 2
 */
void derangement(struct rng *rng, uint32_t *to, uint32_t count);

#endif /* _TRAFFIC_PATTERN_H */
