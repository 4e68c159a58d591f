/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agents that an aggregator knows: whose reports count, and by how much
 *
 *	          report with another number of an agent
 *	        +----------------------------------------+
 *	        v                                        |
 *	  +-----------+  report with the nonce   +---------------+
 *	  |  GREETED  |------------------------->|    COUNTED    |--+ higher number:
 *	  +-----------+  of the answer: where    +---------------+  | what came since
 *	      ^          counting starts           |        ^-------+
 *	      | first report: gets a random nonce  |
 *	      +------------- unknown <-------------+ silent for long
 *
 * A report with another nonce than the agent was given is answered with the
 * right one, and does not count. So what was recorded before can be replayed as
 * often as one likes: what was sent to an aggregator that has been restarted
 * since, or by an agent that has been forgotten, has the wrong nonce, and the
 * rest does not have a higher number. No clock needs to be right for that.
 */
#ifndef _PCRPD_AGENTS_H
#define _PCRPD_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

#include "message.h"

#define AGENTS_MAX	16384

/* Periods, the longer of both sides', without a report after which an agent is forgotten */
#define SILENT_PERIODS	10

/**
 * struct known_agent - an agent in the table
 * @id: 0: no agent
 * @nonce: its reports have to have; not 0
 * @number: of the last report that counted, 0: only greeted yet
 * @heard: period of its last report
 * @every: periods from a report to the next, 1 at least
 * @next: the next one of its chain, an index + 1
 * @sizes: of the last report that counted
 */
struct known_agent {
	uint64_t id;
	uint64_t nonce;
	uint64_t number;
	uint64_t heard;
	uint32_t every;
	uint32_t next;
	uint64_t sizes[PCRP_SIZE_CLASSES];
};

/**
 * struct agents - all of them
 * @max: room in the table
 * @period_ms: length of a period
 * @count: of agents
 * @free: first free entry, an index + 1; they are a chain
 * @chains: first entry by the last bits of the id, an index + 1
 * @mask: these bits
 * @table: the entries
 */
struct agents {
	unsigned int max;
	uint32_t period_ms;
	unsigned int count;
	uint32_t free;
	uint32_t *chains;
	uint32_t mask;
	struct known_agent *table;
};

/**
 * enum report - what a report is
 * @COUNTED: the newest of an agent
 * @GREETED: has no nonce, or not this agent's
 * @REPLAYED: not newer than what was counted
 * @NO_ROOM: of one agent too many
 */
enum report {
	COUNTED,
	GREETED,
	REPLAYED,
	NO_ROOM,
};

/**
 * agents_init() - start with none
 * @a: table
 * @max: number of agents, 1 to AGENTS_MAX
 * @period_ms: length of a period, not 0
 *
 * Return: false if there is no memory
 */
bool agents_init(struct agents *a, unsigned int max, uint32_t period_ms);

void agents_free(struct agents *a);

/**
 * agents_report() - judge a report
 * @a: table
 * @m: the report, which is genuine
 * @period: now
 * @random: not 0 and never the same: its nonce, should it need one
 * @nonce: to be in the answer, where there is to be one: if it is COUNTED or GREETED
 * @flows: that ended since this agent's report before, by class; 0 if not COUNTED
 *
 * Return: what it is
 */
enum report agents_report(struct agents *a, const struct message *m, uint64_t period,
			  uint64_t random, uint64_t *nonce,
			  uint64_t flows[PCRP_SIZE_CLASSES]);

/* Forgets those who were silent for SILENT_PERIODS. */
void agents_expire(struct agents *a, uint64_t period);

#endif /* _PCRPD_AGENTS_H */
