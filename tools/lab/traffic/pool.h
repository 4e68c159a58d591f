/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pools of persistent channels, one per ordered pair of hosts
 *
 * A flow takes the idle channel of its pair that was used last, or a new one if all are
 * busy. The channel returns to the pool with the receiver's last byte, and stays open. A
 * pattern has at most POOL_MAX such channels; further ones end with their flows.
 */
#ifndef _TRAFFIC_POOL_H
#define _TRAFFIC_POOL_H

#include "flow.h"

#define POOL_MAX 100000U

struct pool;

/* Make a pool without channels, for the hosts of the topology, @hosts in number. */
struct pool *pool_new(uint32_t hosts);

/* Open a channel and add it to the pattern's pool, idle. */
void pool_open(struct pattern *pattern, const struct host *src, const struct host *dst);

/* Return: an idle channel or a new one, which flow_start() opens; NULL: the pool is full */
struct channel *pool_take(struct pattern *pattern, const struct host *src,
			  const struct host *dst);

/* Return a channel whose flow has ended. */
void pool_give(struct channel *channel);

#endif /* _TRAFFIC_POOL_H */
