// SPDX-License-Identifier: GPL-2.0-only
#include "agents.h"

#include <stdlib.h>
#include <string.h>

bool agents_init(struct agents *a, unsigned int max, uint32_t period_ms)
{
	uint32_t i, chains = 1;

	while (chains < max)
		chains *= 2;
	*a = (struct agents) { .max = max, .period_ms = period_ms, .mask = chains - 1, .free = 1 };
	a->chains = calloc(chains, sizeof(*a->chains));
	a->table = calloc(max, sizeof(*a->table));
	if (!a->chains || !a->table) {
		agents_free(a);
		return false;
	}
	for (i = 0; i + 1 < max; i++)
		a->table[i].next = i + 2;
	return true;
}

void agents_free(struct agents *a)
{
	free(a->chains);
	free(a->table);
}

static uint32_t *chain_of(struct agents *a, uint64_t id)
{
	return &a->chains[id & a->mask];
}

static struct known_agent *find(struct agents *a, uint64_t id)
{
	uint32_t i = *chain_of(a, id);

	while (i && a->table[i - 1].id != id)
		i = a->table[i - 1].next;
	return i ? &a->table[i - 1] : NULL;
}

static void forget(struct agents *a, struct known_agent *agent)
{
	uint32_t index = agent - a->table + 1, *link = chain_of(a, agent->id);

	while (*link != index)
		link = &a->table[*link - 1].next;
	*link = agent->next;
	agent->id = 0;
	agent->next = a->free;
	a->free = index;
	a->count--;
}

/* Remove the oldest agent that was only greeted: its reports may be replays. */
static void make_room(struct agents *a)
{
	struct known_agent *oldest = NULL, *agent;

	for (agent = a->table; agent < a->table + a->max; agent++) {
		if (!agent->number && (!oldest || agent->heard < oldest->heard))
			oldest = agent;
	}
	if (oldest)
		forget(a, oldest);
}

static struct known_agent *add(struct agents *a, const struct message *m, uint64_t nonce)
{
	struct known_agent *agent;
	uint32_t index, *chain = chain_of(a, m->agent);

	if (!a->free)
		make_room(a);
	index = a->free;
	if (!index)
		return NULL;
	agent = &a->table[index - 1];
	a->free = agent->next;
	*agent = (struct known_agent) {
		.id = m->agent,
		.nonce = nonce,
		.every = (m->period_ms + a->period_ms - 1) / a->period_ms,
		.next = *chain,
	};
	*chain = index;
	a->count++;
	return agent;
}

/* Counting starts at the first report, and anew when the kernel's counters decrease. */
static void count(struct known_agent *agent, const struct message *m, uint64_t *flows)
{
	bool anew = !agent->number;
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		anew = anew || m->sizes[i] < agent->sizes[i];
	for (i = 0; i < PCRP_SIZE_CLASSES && !anew; i++)
		flows[i] = m->sizes[i] - agent->sizes[i];
	memcpy(agent->sizes, m->sizes, sizeof(agent->sizes));
	agent->number = m->number;
}

enum report agents_report(struct agents *a, const struct message *m, uint64_t period,
			  uint64_t random, uint64_t *nonce,
			  uint64_t flows[PCRP_SIZE_CLASSES])
{
	struct known_agent *agent = find(a, m->agent);

	memset(flows, 0, sizeof(*flows) * PCRP_SIZE_CLASSES);
	if (!agent)
		agent = add(a, m, random);
	if (!agent)
		return NO_ROOM;
	*nonce = agent->nonce;
	if (m->nonce != agent->nonce) {
		/* replays must not keep a dead agent in the table */
		if (!agent->number)
			agent->heard = period;
		return GREETED;
	}
	if (m->number <= agent->number)
		return REPLAYED;
	count(agent, m, flows);
	agent->heard = period;
	return COUNTED;
}

void agents_expire(struct agents *a, uint64_t period)
{
	struct known_agent *agent;

	for (agent = a->table; agent < a->table + a->max; agent++) {
		if (agent->id && period - agent->heard > SILENT_PERIODS * (uint64_t)agent->every)
			forget(a, agent);
	}
}
