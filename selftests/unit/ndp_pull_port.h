/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pull queue of net/ndp/pull.h, flows, packets for it, and its pulls
 */
#ifndef _CLOSNET_UNIT_NDP_PULL_PORT_H
#define _CLOSNET_UNIT_NDP_PULL_PORT_H

#include "../../net/ndp/pull.h"

#define NODES	64
#define AHEAD	50
#define RATE	1250000000ULL	/* 10 Gbit/s */
#define START	1000000000ULL
#define MTU	8878U		/* with overhead, 9000 bytes */

#define ROUNDS		32U		/* turns that a flow may be ahead */
#define DEMAND_MAX	0x40000000U

static struct ndp_pull q;
static struct ndp_pull_node n[NODES];
static u64 now_ns;

static inline void open_queue(enum ndp_pull_policy policy, u32 late_ns)
{
	u32 i;

	now_ns = START;
	ndp_pull_init(&q, late_ns, now_ns);
	ndp_pull_rate(&q, RATE);
	ndp_pull_policy(&q, policy);
	for (i = 0; i < NODES; i++)
		n[i] = (struct ndp_pull_node) { .allowed = AHEAD };
}

/* @more bytes of the message are not sent yet. */
static inline void arrive_of(u32 i, u32 target, u8 prio, u32 payload, bool nacked, u64 more)
{
	const struct ndp_hdr h = {
		.type = NDP_DATA, .payload_len = payload, .here = nacked ? 0 : payload,
		.data = { .prio = prio, .pull_target = target, .msg_len = payload + more },
	};

	ndp_pull_arrived(&q, &n[i], &h, 0, nacked, now_ns);
}

static inline void arrive(u32 i, u32 target, u8 prio, u32 payload, bool nacked)
{
	arrive_of(i, target, prio, payload, nacked, 0);
}

static inline void wish(u32 i, u32 target)
{
	arrive(i, target, n[i].prio, MTU, false);
}

/* A PROBE: a wish alone, of a flow with long packets */
static inline void ask(u32 i, u32 target)
{
	n[i].bytes = n[i].bytes ?: MTU + NDP_PULL_OVERHEAD;
	arrive(i, target, n[i].prio, 0, false);
}

/* So many packets that nobody has asked for, whole or trimmed */
static inline void unasked(u32 i, u32 count, bool nacked)
{
	const struct ndp_hdr h = {
		.type = NDP_DATA, .flags = NDP_DATA_SPEC, .payload_len = MTU,
		.here = nacked ? 0 : MTU, .data = { .msg_len = MTU, .prio = n[i].prio },
	};

	while (count--)
		ndp_pull_arrived(&q, &n[i], &h, 0, nacked, now_ns);
}

/* For want of room, a flow is not pulled. */
static inline void hold(u32 i, bool held)
{
	ndp_pull_allow(&n[i], held ? 0 : AHEAD);
	ndp_pull_update(&q, &n[i], now_ns);
}

/* The next pull, whenever it is; NODES: none */
static inline u32 pull(void)
{
	struct ndp_pull_node *next;

	if (ndp_pull_next_ns(&q) == U64_MAX) {
		assert_null(ndp_pull_next(&q, U64_MAX / 2));
		return NODES;
	}
	if (now_ns < ndp_pull_next_ns(&q)) {
		now_ns = ndp_pull_next_ns(&q);
		assert_null(ndp_pull_next(&q, now_ns - 1));
	}
	next = ndp_pull_next(&q, now_ns);
	assert_non_null(next);
	return (u32)(next - n);
}

static inline void assert_pulls(const u32 *who, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		assert_int_equal(pull(), who[i]);
}

#endif /* _CLOSNET_UNIT_NDP_PULL_PORT_H */
