/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choice of a member
 *
 * The interface of lb_select.c, which explains the policies.
 */
#ifndef _CLOSNET_LB_SELECT_H
#define _CLOSNET_LB_SELECT_H

#include "lb_load.h"

/* Members of a group: SAI's ARS groups have 16 primary and 16 alternate ones. */
#define LB_MEMBERS_MAX		32
/* DRILL: random samples, and members remembered */
#define LB_CHOICES_MAX		8
#define LB_MEMORY_MAX		4

/**
 * enum lb_policy - how a member is selected
 * @LB_HASH: hash of the flow, as ECMP
 * @LB_RANDOM: at random
 * @LB_RR: in turn
 * @LB_QUALITY: at random among the members of the best quality (adaptive routing)
 * @LB_DRILL: shortest of some random queues and some remembered ones
 */
enum lb_policy {
	LB_HASH,
	LB_RANDOM,
	LB_RR,
	LB_QUALITY,
	LB_DRILL,
};

/* Does the policy need random bits? */
static inline bool lb_is_random(enum lb_policy policy)
{
	return policy != LB_HASH && policy != LB_RR;
}

/* Does the policy read the load of ports? */
static inline bool lb_reads_load(enum lb_policy policy)
{
	return policy >= LB_QUALITY;
}

/**
 * struct lb_member - a next hop of a group
 * @load: load of its port
 * @weight: weight of the next hop, 1 to 65536
 * @remote: advertised quality beyond the next hop; LB_BEST: unknown
 * @up: the member can be selected: the port has carrier
 */
struct lb_member {
	struct lb_load *load;
	u32 weight;
	u8 remote;
	bool up;
};

/**
 * struct lb_memory - memory of a group
 * @turn: packets sent in turn
 * @best: members with the shortest queues of the last choice
 */
struct lb_memory {
	u32 turn;
	u8 best[LB_MEMORY_MAX];
};

/**
 * struct lb_select_params - how to select
 * @policy: the policy for flows, flowlets and packets that are remembered or need no memory
 * @choices: DRILL's d, 1 to LB_CHOICES_MAX
 * @memory: DRILL's m, 0 to LB_MEMORY_MAX
 * @grading: how load becomes quality
 */
struct lb_select_params {
	enum lb_policy policy;
	u32 choices;
	u32 memory;
	struct lb_grading grading;
};

/* No member: all are down */
#define LB_NO_MEMBER	(-1)

int lb_select(const struct lb_select_params *p, enum lb_policy policy,
	      const struct lb_member *members, u32 count, struct lb_memory *memory, u32 hash,
	      u32 random, int present);
u32 lb_member_quality(const struct lb_member *m, const struct lb_grading *g);

#endif /* _CLOSNET_LB_SELECT_H */
