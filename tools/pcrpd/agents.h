/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The aggregator's table of agents: replay protection of reports
 *
 *	  unknown --- first report: the answer assigns a random nonce ---+
 *	     ^                                                           v
 *	     | silent for SILENT_PERIODS                           +-----------+
 *	     +-----------------------------------------------------|  GREETED  |
 *	     |                                                     +-----------+
 *	     |               report with the nonce: counting starts      |
 *	     |                                                           v
 *	     |                                                     +-----------+
 *	     +-----------------------------------------------------|  COUNTED  |--+
 *	                                                           +-----------+  |
 *	                       report with a higher number: add the     ^         |
 *	                       difference since the last report         +---------+
 *
 * A report with a wrong nonce does not count; its answer has the right nonce. So
 * recorded reports cannot be replayed. Reports to an earlier run of the
 * aggregator, or of an agent that was removed since, have a wrong nonce. Other
 * recorded reports have a number that is not higher. No clock is needed.
 */
#ifndef _PCRPD_AGENTS_H
#define _PCRPD_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

#include "message.h"

#define AGENTS_MAX	16384

/* An agent is removed after so many periods without a report, of the longer period of both sides */
#define SILENT_PERIODS	10

/**
 * struct known_agent - an agent in the table
 * @id: the agent's number; 0: free entry
 * @nonce: nonce of its reports; not 0
 * @number: number of the last counted report; 0: only greeted
 * @heard: the aggregator's period in which its last report arrived
 * @every: the aggregator's periods from one report to the next, at least 1
 * @next: next entry of the hash chain, as index + 1
 * @sizes: counters of the last counted report
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
 * struct agents - table of agents
 * @max: number of entries
 * @period_ms: length of a period
 * @count: number of agents
 * @free: first free entry, as index + 1; free entries are chained
 * @chains: hash chains by the low bits of the id: first entry, as index + 1
 * @mask: mask of these bits
 * @table: entries
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
 * enum report - result of a report
 * @COUNTED: new report of a known agent
 * @GREETED: no nonce, or a wrong one
 * @REPLAYED: not newer than the last counted report
 * @NO_ROOM: the table is full
 */
enum report {
	COUNTED,
	GREETED,
	REPLAYED,
	NO_ROOM,
};

/**
 * agents_init() - make an empty table
 * @a: table
 * @max: number of agents, 1 to AGENTS_MAX
 * @period_ms: length of a period, not 0
 *
 * Return: false if out of memory
 */
bool agents_init(struct agents *a, unsigned int max, uint32_t period_ms);

void agents_free(struct agents *a);

/**
 * agents_report() - process a report
 * @a: table
 * @m: the report, verified as GENUINE
 * @period: the aggregator's current period
 * @random: fresh random number, not 0, the nonce of a new agent
 * @nonce: result: nonce of the answer, if COUNTED or GREETED; otherwise no answer is sent
 * @flows: result: flows that ended since the agent's previous report, by class; 0 if not
 *	COUNTED
 *
 * Return: enum report
 */
enum report agents_report(struct agents *a, const struct message *m, uint64_t period,
			  uint64_t random, uint64_t *nonce,
			  uint64_t flows[PCRP_SIZE_CLASSES]);

/* Remove agents that were silent for SILENT_PERIODS. */
void agents_expire(struct agents *a, uint64_t period);

#endif /* _PCRPD_AGENTS_H */
