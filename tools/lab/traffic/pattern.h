/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic patterns and their keys on the command line
 */
#ifndef _TRAFFIC_PATTERN_H
#define _TRAFFIC_PATTERN_H

#include "cdf.h"
#include "flow.h"
#include "rdma.h"
#include "rng.h"

/* Options of the whole run */
struct run {
	struct topology topology;
	uint64_t seed;
	int64_t time_ns;	/* 0: until all flows have ended */
	int64_t drain_ns;
	uint64_t message_max;	/* bytes, of all patterns with RDMA */
	bool over;		/* time_ns has passed */
};

extern struct run run;

/* Values of the keys, or their defaults */
struct settings {
	const char *name;
	const char *cc;
	const struct transport *transport;	/* NULL: default of the kind */
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
	uint64_t bands;
	uint64_t prio;
	uint64_t nodelay;
	uint64_t message;
	uint64_t ack_timeout;
	uint64_t window;
	uint64_t region;
	enum verb verb;
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
	struct listener *listeners;	/* by host of the topology; pattern NULL: unused */
	struct channel **channels;	/* per flow or sender; NULL: opened by the flow */
	uint32_t channel_count;
	struct pool *pool;		/* NULL: each flow opens its channel */
	struct flow **plan;		/* flows made before the start, in order */
	uint32_t plan_count;
	uint32_t round;
	uint32_t round_left;		/* flows of the round that have not ended */
};

/**
 * struct pattern_kind - a kind of pattern
 * @name: its word on the command line
 * @transport: default transport
 * @check: check combinations of keys, and complete defaults
 * @prepare: make flows, and open channels for connect=before
 * @start: schedule the flows
 * @ended: a flow has ended; its channel is free for another flow, or NULL. May
 *	be NULL
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
 * pattern_parse() - parse a pattern
 * @p: result
 * @words: "bulk", "src=h0", ...
 * @count: number of words
 * @e: message that names the wrong word, if false is returned
 */
bool pattern_parse(struct pattern *p, char **words, int count, struct error *e);

/* Print the table of keys, for --help. */
void pattern_help(void);

/* Make the listeners of the pattern's receivers. */
void pattern_listen(struct pattern *p);

/* Count data that has arrived and is not read. */
void pattern_catch_up(struct pattern *p);

/* Draw a permutation of 0 to @count - 1 without fixed points; @count is at least 2. */
void derangement(struct rng *rng, uint32_t *to, uint32_t count);

#endif /* _TRAFFIC_PATTERN_H */
