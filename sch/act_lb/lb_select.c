// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choice of a member
 *
 *   hash	by the flow's hash: ECMP (RFC 2992, hash-threshold)
 *   random	at random: packet spraying
 *   rr		in turn: packet spraying
 *   quality	at random among the members of the best quality: Broadcom's DLB, SAI's
 *		PER_PACKET_QUALITY and FLOWLET_QUALITY, NVIDIA's adaptive routing. A flow whose
 *		present member is among the best stays.
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
 *  - DRILL decomposes an asymmetric fabric into symmetric components. Weights, which routing
 *    daemons derive from the topology, take that place.
 */
#include "lb_select.h"

/**
 * lb_member_quality() - grade the path through a member
 * @m: member
 * @g: how load becomes quality
 *
 * Return: the lower of the local and the remote quality, 0 to LB_BEST.
 */
u32 lb_member_quality(const struct lb_member *m, const struct lb_grading *g)
{
	return min_t(u32, lb_load_quality(m->load, g), m->remote);
}

/* Sum of the weights of the members in the set; @set has a bit for each member */
static u32 lb_weight_of(const struct lb_member *members, u64 set)
{
	u32 sum = 0;

	for (; set; set &= set - 1)
		sum += members[__ffs64(set)].weight;
	return sum;
}

/* The member of the set at a place between 0 and the sum of the weights, which is not in it */
static int lb_at(const struct lb_member *members, u64 set, u32 place)
{
	u32 i;

	for (; set; set &= set - 1) {
		i = __ffs64(set);
		if (place < members[i].weight)
			return i;
		place -= members[i].weight;
	}
	return LB_NO_MEMBER;
}

/* A member of the set; @number is uniform in 0 to 2^32 - 1 */
static int lb_scaled(const struct lb_member *members, u64 set, u32 number)
{
	return lb_at(members, set, (u64)number * lb_weight_of(members, set) >> 32);
}

static int lb_in_turn(const struct lb_member *members, u64 set, struct lb_memory *memory)
{
	u32 sum = lb_weight_of(members, set), turn = READ_ONCE(memory->turn);

	if (!sum)
		return LB_NO_MEMBER;
	/* CPUs that race here take the same turn once */
	WRITE_ONCE(memory->turn, turn + 1);
	return lb_at(members, set, turn % sum);
}

/* The members of the best quality */
static u64 lb_best_of(const struct lb_select_params *p, const struct lb_member *members, u64 set)
{
	u32 quality, best = 0;
	u64 among = 0;
	int i;

	for (; set; set &= set - 1) {
		i = __ffs64(set);
		quality = lb_member_quality(&members[i], &p->grading);
		if (quality > best) {
			best = quality;
			among = 0;
		}
		if (quality == best)
			among |= 1ULL << i;
	}
	return among;
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

static int lb_drill(const struct lb_select_params *p, const struct lb_member *members, u64 set,
		    struct lb_memory *memory, u32 random)
{
	struct lb_shortest s = { .room = max_t(u32, p->memory, 1) };
	u32 i, old;

	if (!set)
		return LB_NO_MEMBER;
	for (i = 0; i < p->choices; i++, random = lb_next(random))
		lb_remember(&s, &p->grading, members, lb_scaled(members, set, random));
	for (i = 0; i < p->memory; i++) {
		old = READ_ONCE(memory->best[i]);
		/* the group may have had other members then */
		if (old < LB_MEMBERS_MAX && set >> old & 1)
			lb_remember(&s, &p->grading, members, old);
	}
	for (i = 0; i < p->memory; i++)
		WRITE_ONCE(memory->best[i], s.best[i < s.known ? i : 0]);
	return s.best[0];
}

/**
 * lb_select() - select a member
 * @p: parameters
 * @policy: the policy, p->policy or LB_HASH
 * @members: members of the group
 * @count: number of members, up to LB_MEMBERS_MAX
 * @memory: memory of the group, or of this CPU in it
 * @hash: keyed hash of the flow
 * @random: 32 random bits, drawn for this choice, if lb_is_random()
 * @present: member that the flow has used, or LB_NO_MEMBER
 *
 * Two loops over the members with LB_QUALITY and the policies without load, at most
 * LB_CHOICES_MAX + 1 with LB_DRILL.
 *
 * Return: index of the member, or LB_NO_MEMBER if all are down.
 */
int lb_select(const struct lb_select_params *p, enum lb_policy policy,
	      const struct lb_member *members, u32 count, struct lb_memory *memory, u32 hash,
	      u32 random, int present)
{
	u64 set = 0;
	u32 i;

	for (i = 0; i < count; i++)
		set |= (u64)members[i].up << i;
	switch (policy) {
	case LB_HASH:
		return lb_scaled(members, set, hash);
	case LB_RANDOM:
		return lb_scaled(members, set, random);
	case LB_RR:
		return lb_in_turn(members, set, memory);
	case LB_QUALITY:
		set = lb_best_of(p, members, set);
		if (present >= 0 && set >> present & 1)
			return present;
		return lb_scaled(members, set, random);
	case LB_DRILL:
		return lb_drill(p, members, set, memory, random);
	}
	return LB_NO_MEMBER;
}
