/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: pulls that follow what gets through
 *
 * Plain C, no kernel types; time is an argument. Pulls are paced at the rate of the
 * receiver's own line. If the network before it carries less, most of what is pulled is
 * trimmed, pulled again, and trimmed again, and the senders' lines are full of what will be
 * trimmed. So an interface pulls at a share of its line's rate, which is set anew after each
 * epoch, of 16 packets that were pulled:
 *
 *	share = share * (whole / 16) + 1/32	more than a quarter was trimmed, and the line
 *						was idle for a quarter of the epoch; but
 *						no less than half
 *	share = share * 5/4    + 1/32		no more than an eighth was trimmed
 *	share = share          + 1/32		else
 *
 * at most 1. Where the network is short, it settles where about a quarter of what is pulled
 * is trimmed, and all that share a link get about the same. As long as no more than that
 * is trimmed, nothing is slowed down: a bad path among good ones is for senders to leave, and
 * a burst passes. If the line was busy it is the line itself that trims, as in an
 * incast, because of packets that were not pulled; these do not go on.
 *
 * This is not in the paper, whose receivers always pull at the rate of their line.
 */
#ifndef _NDP_EASE_H
#define _NDP_EASE_H

#include "ndp_wire.h"

/* Packets of an epoch */
#define NDP_EASE_EPOCH		16U
/* All of the line's rate; and by how much the share grows, twice which it is at least */
#define NDP_EASE_ALL		1024U
#define NDP_EASE_STEP		(NDP_EASE_ALL / 32)
/* A share's inverse, as a fixed-point number */
#define NDP_EASE_SHIFT		16
/* So long nobody was pulled, and what was known is forgotten. */
#define NDP_EASE_IDLE_NS	1000000ULL

/**
 * struct ndp_ease - an interface: ndp_ease_init()
 * @since_ns: when the epoch began
 * @busy_ns: for how long what came in it has taken the line, headers too
 * @came: pulled packets that came in it
 * @trimmed: of these, trimmed
 * @share: of the line's rate, 2 * NDP_EASE_STEP..NDP_EASE_ALL
 * @stretch: of the time from one pull to the next, times 2^NDP_EASE_SHIFT
 */
struct ndp_ease {
	u64 since_ns;
	u64 busy_ns;
	u32 came;
	u32 trimmed;
	u32 share;
	u32 stretch;
};

static inline void ndp_ease_epoch(struct ndp_ease *e, u64 now_ns)
{
	e->since_ns = now_ns;
	e->busy_ns = 0;
	e->came = 0;
	e->trimmed = 0;
	e->stretch = (NDP_EASE_ALL << NDP_EASE_SHIFT) / e->share;
}

/**
 * ndp_ease_init() - pull at the line's rate
 * @e: interface
 * @now_ns: the time
 */
static inline void ndp_ease_init(struct ndp_ease *e, u64 now_ns)
{
	e->share = NDP_EASE_ALL;
	ndp_ease_epoch(e, now_ns);
}

/* If the network before the line, not the line, is what trims: no more than comes whole */
static inline void ndp_ease_judge(struct ndp_ease *e, u64 now_ns)
{
	u64 time = now_ns - e->since_ns;
	u32 share = e->share;

	if (e->busy_ns < time - time / 4 && e->trimmed > e->came / 4)
		share -= min_t(u32, share * e->trimmed / e->came, share / 2);
	if (e->trimmed <= e->came / 8)
		share += share / 4;
	e->share = min_t(u32, share + NDP_EASE_STEP, NDP_EASE_ALL);
	ndp_ease_epoch(e, now_ns);
}

/**
 * ndp_ease_arrived() - a packet came
 * @e: interface
 * @pulled: it was pulled
 * @trimmed: it came trimmed
 * @line_ns: for how long it has taken the line; in an incast, headers take half of it
 * @now_ns: the time
 */
static inline void ndp_ease_arrived(struct ndp_ease *e, bool pulled, bool trimmed, u64 line_ns,
				    u64 now_ns)
{
	e->busy_ns += line_ns;
	if (!pulled)
		return;
	e->came++;
	e->trimmed += trimmed;
	if (e->came == NDP_EASE_EPOCH)
		ndp_ease_judge(e, now_ns);
}

/**
 * ndp_ease_time() - from one pull to the next
 * @e: interface
 * @line_ns: for how long the packet takes the line; below 2^40
 *
 * Return: the time, ns.
 */
static inline u64 ndp_ease_time(const struct ndp_ease *e, u64 line_ns)
{
	return line_ns * e->stretch >> NDP_EASE_SHIFT;
}

#endif /* _NDP_EASE_H */
