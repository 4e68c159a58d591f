// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choice of a member
 *
 *   hash	by the flow's hash: ECMP (RFC 2992, hash-threshold)
 *   random	at random: packet spraying
 *   rr		in turn: packet spraying
 *   quality	at random among the members of the best quality: Broadcom's DLB, SAI's
 *		PER_PACKET_QUALITY and FLOWLET_QUALITY, NVIDIA's adaptive routing. A flow whose
 *		present member is among the best stays. If all have quality 0, the one with the
 *		shortest time to drain.
 *   drill	the shortest of d random queues and of the m shortest of the last choice:
 *
 *   Soudeh Ghorbani, Zibin Yang, P. Brighten Godfrey, Yashar Ganjali, Amin Firoozshahian:
 *   "DRILL: Micro Load Balancing for Low-latency Data Center Networks", SIGCOMM 2017.
 *
 * Each policy honours weights: a member is met with a probability, or in a share of the turns,
 * that is its weight over the sum of the weights of the candidates. A member that is
 * down is never chosen; the other members share its part.
 *
 * With global load balancing, the quality of a member is the minimum of the port's quality and
 * of the remote one, as CONGA takes the maximum of the congestion along a path.
 *
 * Against herding, that is all choices of an interval going to the port that was best in the
 * last sample: the choice among equals is random, bands are wide, and chosen packets are
 * charged (lb_load.h).
 *
 * Differences from the papers:
 *  - DRILL compares queues in packets or bytes; here they are compared by time to drain, so that
 *    ports of different rates may be in a group, and the remote quality breaks ties first.
 *  - In the worst quality, ASICs choose at random. Queues of slow ports, and of TCP without ECN,
 *    are mostly longer than the last band's 64 widths, 128 us by default.
 *  - DRILL decomposes an asymmetric fabric into symmetric components. Weights, which routing
 *    daemons derive from the topology, take that place.
 */
#include "lb_select.h"

/* Sum of the weights of the members in the set; @set has a bit for each member */
static u32 lb_weight_of(const struct lb_group *g, u64 set)
{
	u32 sum = 0;

	if (g->even)
		return hweight64(set);
	for (; set; set &= set - 1)
		sum += g->members[__ffs64(set)].weight;
	return sum;
}

/* The member of the set after @place others */
static int lb_nth(u64 set, u32 place)
{
	/* the first ones */
	if (!(set & (set + 1)))
		return place;
	while (place--)
		set &= set - 1;
	return __ffs64(set);
}

/* The member of the set at a place between 0 and the sum of the weights, which is not in it */
static int lb_at(const struct lb_group *g, u64 set, u32 place)
{
	u32 i;

	if (g->even)
		return lb_nth(set, place);
	for (; set; set &= set - 1) {
		i = __ffs64(set);
		if (place < g->members[i].weight)
			return i;
		place -= g->members[i].weight;
	}
	return LB_NO_MEMBER;
}

/* A member of the set; @number is uniform in 0 to 2^32 - 1 */
static int lb_scaled(const struct lb_group *g, u64 set, u32 number)
{
	return lb_at(g, set, (u64)number * lb_weight_of(g, set) >> 32);
}

static int lb_in_turn(const struct lb_group *g, u64 set, struct lb_memory *memory)
{
	u32 turn = READ_ONCE(memory->turn);

	/* CPUs that race here take the same turn once */
	WRITE_ONCE(memory->turn, turn + 1);
	return lb_at(g, set, turn % lb_weight_of(g, set));
}

/* Is the path through @a better than that through @b? */
static bool lb_is_shorter(const struct lb_grading *g, const struct lb_member *a,
			  const struct lb_member *b)
{
	if (a->remote != b->remote)
		return a->remote > b->remote;
	return lb_load_drain_ns(a->load, g) < lb_load_drain_ns(b->load, g);
}

/* The next of a sequence of numbers that begins with a random one (a linear congruential step) */
static u32 lb_next(u32 number)
{
	return number * 1664525U + 1013904223U;
}

/* The members with the shortest queues of a choice, the shortest first */
struct lb_shortest {
	u8 best[LB_MEMORY_MAX];
	u32 known;
	u32 room;
};

static void lb_remember(struct lb_shortest *s, const struct lb_grading *g,
			const struct lb_member *members, u32 i)
{
	u32 at;

	for (at = 0; at < s->known; at++)
		if (s->best[at] == i)
			return;
	for (; at && lb_is_shorter(g, &members[i], &members[s->best[at - 1]]); at--)
		if (at < s->room)
			s->best[at] = s->best[at - 1];
	if (at < s->room)
		s->best[at] = i;
	if (s->known < s->room)
		s->known++;
}

/**
 * lb_drill_sample() - draw the members that a choice of LB_DRILL compares
 * @p: parameters
 * @group: the group; its @sampled is set
 * @memory: memory of the group
 * @random: 32 random bits
 *
 * The caller sets load and remote quality of these members for lb_select().
 */
void lb_drill_sample(const struct lb_select_params *p, struct lb_group *group,
		     const struct lb_memory *memory, u32 random)
{
	struct lb_sampled *s = &group->sampled;
	u32 i, old;

	s->count = 0;
	if (unlikely(!group->up))
		return;
	for (i = 0; i < p->choices; i++, random = lb_next(random))
		s->members[s->count++] = lb_scaled(group, group->up, random);
	for (i = 0; i < p->memory; i++) {
		old = READ_ONCE(memory->best[i]);
		/* the group may have had other members then */
		if (old < LB_MEMBERS_MAX && group->up >> old & 1)
			s->members[s->count++] = old;
	}
}

/* The shortest of the sampled members; the first one of equals, since those are random */
static u32 lb_shortest_of(const struct lb_group *g, const struct lb_grading *grading)
{
	u32 best = g->sampled.members[0], i, m, drain_ns;
	u32 best_ns = lb_load_drain_ns(g->members[best].load, grading);

	for (i = 1; i < g->sampled.count; i++) {
		m = g->sampled.members[i];
		if (m == best || g->members[m].remote < g->members[best].remote)
			continue;
		drain_ns = lb_load_drain_ns(g->members[m].load, grading);
		if (drain_ns >= best_ns && g->members[m].remote == g->members[best].remote)
			continue;
		best = m;
		best_ns = drain_ns;
	}
	return best;
}

static int lb_drill(const struct lb_select_params *p, const struct lb_group *g,
		    struct lb_memory *memory)
{
	struct lb_shortest s = { .room = p->memory };
	u32 i;

	if (p->memory <= 1) {
		i = lb_shortest_of(g, &p->grading);
		if (p->memory)
			WRITE_ONCE(memory->best[0], i);
		return i;
	}
	for (i = 0; i < g->sampled.count; i++)
		lb_remember(&s, &p->grading, g->members, g->sampled.members[i]);
	for (i = 0; i < p->memory; i++)
		WRITE_ONCE(memory->best[i], s.best[i < s.known ? i : 0]);
	return s.best[0];
}

/**
 * lb_select() - select a member
 * @p: parameters
 * @policy: the policy, p->policy or LB_HASH
 * @group: members of the group
 * @memory: memory of the group, or of this CPU in it
 * @number: 32 bits: the keyed hash of the flow with LB_HASH; random ones, drawn for this choice,
 *	if lb_is_random(). LB_DRILL has used them in lb_drill_sample()
 * @present: member that the flow has used, or LB_NO_MEMBER
 *
 * At most two loops over the members, and LB_CHOICES_MAX + 1 with LB_DRILL.
 *
 * Return: index of the member, or LB_NO_MEMBER if all are down.
 */
int lb_select(const struct lb_select_params *p, enum lb_policy policy,
	      const struct lb_group *group, struct lb_memory *memory, u32 number, int present)
{
	u64 set = group->up;

	if (unlikely(!set))
		return LB_NO_MEMBER;
	switch (policy) {
	case LB_HASH:
	case LB_RANDOM:
		return lb_scaled(group, set, number);
	case LB_RR:
		return lb_in_turn(group, set, memory);
	case LB_QUALITY:
		set = group->grades.best;
		if (present >= 0 && set >> present & 1)
			return present;
		return lb_scaled(group, set, number);
	case LB_DRILL:
		return lb_drill(p, group, memory);
	}
	return LB_NO_MEMBER;
}
