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
 */
struct lb_member {
	struct lb_load *load;
	u32 weight;
	u8 remote;
};

/**
 * struct lb_grades - the members of the best quality
 * @best: a bit for each of them
 * @quality: their quality
 * @drain_ns: their time to drain, if the quality is 0
 */
struct lb_grades {
	u64 best;
	u32 quality;
	u32 drain_ns;
};

/**
 * struct lb_sampled - the members that a choice of LB_DRILL compares
 * @members: the random ones, then the remembered ones; a member may be there twice
 * @count: number of them
 */
struct lb_sampled {
	u8 members[LB_CHOICES_MAX + LB_MEMORY_MAX];
	u32 count;
};

/**
 * struct lb_group - the next hops of a route
 * @up: a bit for each member that can be selected: the port has carrier
 * @grades: the best of them, for LB_QUALITY
 * @sampled: some of them, for LB_DRILL
 * @even: all members have the same weight
 * @members: the members; weights are set unless @even, the rest is set for those of @sampled, or
 *	by a caller that needs it
 */
struct lb_group {
	u64 up;
	struct lb_grades grades;
	struct lb_sampled sampled;
	bool even;
	struct lb_member members[LB_MEMBERS_MAX];
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
	      const struct lb_group *group, struct lb_memory *memory, u32 number, int present);
void lb_drill_sample(const struct lb_select_params *p, struct lb_group *group,
		     const struct lb_memory *memory, u32 random);

/**
 * lb_grade() - add a member that is up
 * @grades: grades of the members before
 * @bit: the member's bit
 * @load: load of its port
 * @g: how load becomes quality
 * @remote: advertised quality beyond the next hop; LB_BEST: unknown
 *
 * The quality of the path is the lower one of the port's and the remote one. The last band has no
 * end: if no member is better, those with the shortest time to drain are the best ones.
 */
static inline void lb_grade(struct lb_grades *grades, u64 bit, struct lb_load *load,
			    const struct lb_grading *g, u32 remote)
{
	u32 quality = min_t(u32, lb_load_quality(load, g), remote);
	u32 drain_ns = unlikely(!quality) ? lb_load_drain_ns(load, g) : 0;

	if (!grades->best || quality > grades->quality ||
	    (quality == grades->quality && drain_ns < grades->drain_ns))
		*grades = (struct lb_grades) {
			.best = bit, .quality = quality, .drain_ns = drain_ns,
		};
	else if (quality == grades->quality && drain_ns == grades->drain_ns)
		grades->best |= bit;
}

#endif /* _CLOSNET_LB_SELECT_H */
