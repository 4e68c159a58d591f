// SPDX-License-Identifier: GPL-2.0-only
#include "pool.h"

#include "pattern.h"

struct pool {
	uint32_t hosts;
	uint32_t count;		/* channels, idle and busy */
	struct channel *idle[];	/* by source and destination; used last is first */
};

struct pool *pool_new(uint32_t hosts)
{
	struct pool *pool = zalloc(1, sizeof(*pool) + sizeof(pool->idle[0]) * hosts * hosts);

	pool->hosts = hosts;
	return pool;
}

static struct channel **idle_of(struct pool *pool, const struct host *src,
				const struct host *dst)
{
	const struct host *first = run.topology.hosts;

	return &pool->idle[(size_t)(src - first) * pool->hosts + (size_t)(dst - first)];
}

/* Remove a channel, idle or busy. */
static void pool_remove(struct channel *ch)
{
	struct channel **slot = idle_of(ch->pattern->pool, ch->src, ch->dst);

	while (*slot && *slot != ch)
		slot = &(*slot)->next_idle;
	if (*slot)
		*slot = ch->next_idle;
	ch->pattern->pool->count--;
}

static struct channel *new_channel(struct pattern *p, const struct host *src,
				   const struct host *dst)
{
	struct channel *ch = channel_new(p, src, dst);

	ch->remove = pool_remove;
	p->pool->count++;
	return ch;
}

void pool_open(struct pattern *p, const struct host *src, const struct host *dst)
{
	struct channel *ch = new_channel(p, src, dst);

	pool_give(ch);
	channel_open(ch);
}

struct channel *pool_take(struct pattern *p, const struct host *src, const struct host *dst)
{
	struct channel **idle = idle_of(p->pool, src, dst), *ch = *idle;

	if (!ch)
		return p->pool->count < POOL_MAX ? new_channel(p, src, dst) : NULL;
	*idle = ch->next_idle;
	ch->next_idle = NULL;
	return ch;
}

void pool_give(struct channel *ch)
{
	struct channel **idle = idle_of(ch->pattern->pool, ch->src, ch->dst);

	ch->next_idle = *idle;
	*idle = ch;
}
