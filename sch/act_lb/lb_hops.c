// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes: their next hops
 *
 * A group of next hops is one of:
 *
 *	IPv4	nexthop object that is a group; `ip route add ... nexthop ... nexthop ...`
 *	IPv6	nexthop object that is a group; routes to the same prefix with the same metric
 *
 * All functions are called in an RCU read section with BH off, and their results end with it.
 */
#include <linux/tc_act/tc_lb.h>
#include <net/nexthop.h>
#include "lb_fib.h"

/* Set next hop @i. Return: 0 if it has the weight of the first one */
static u32 lb_set_hop(struct lb_route *r, u32 i, const struct fib_nh_common *nhc, u32 weight)
{
	r->hops[i] = (struct lb_hop) { .nhc = nhc, .weight = weight };
	return weight ^ r->hops[0].weight;
}

/* Add the next hops of a nexthop object; at most LB_MEMBERS_MAX. */
static int lb_add_nexthop(struct lb_route *r, const struct nexthop *nh)
{
	const struct nh_group *group;
	u32 i, uneven = 0;

	if (!nh->is_group) {
		lb_set_hop(r, 0, &rcu_dereference(nh->nh_info)->fib_nhc, 1);
		r->count = 1;
		return TCA_LB_STATS_PASS_SINGLE;
	}
	group = rcu_dereference(nh->nh_grp);
	if (group->num_nh > LB_MEMBERS_MAX)
		return TCA_LB_STATS_PASS_MEMBERS;
	for (i = 0; i < group->num_nh; i++) {
		const struct nh_grp_entry *entry = &group->nh_entries[i];

		uneven |= lb_set_hop(r, i, &rcu_dereference(entry->nh->nh_info)->fib_nhc,
				     entry->weight);
	}
	r->count = group->num_nh;
	r->even = !uneven;
	return r->count > 1 ? 0 : TCA_LB_STATS_PASS_SINGLE;
}

/**
 * lb_fib4_hops() - list the next hops of an IPv4 route
 * @r: the route, with the result of the lookup in @r->v4
 *
 * Return: 0, or the reason why it is no group, an attribute of TCA_LB_STATS_PASS. With
 * TCA_LB_STATS_PASS_SINGLE, the route has its one next hop.
 */
int lb_fib4_hops(struct lb_route *r)
{
	const struct fib_info *fi = r->v4.fi;
	u32 i, uneven = 0;

	r->id = fi;
	if (fi->nh)
		return lb_add_nexthop(r, fi->nh);
	if (fi->fib_nhs > LB_MEMBERS_MAX)
		return TCA_LB_STATS_PASS_MEMBERS;
	for (i = 0; i < fi->fib_nhs; i++)
		uneven |= lb_set_hop(r, i, &fi->fib_nh[i].nh_common, fi->fib_nh[i].fib_nh_weight);
	r->count = fi->fib_nhs;
	r->even = !uneven;
	return r->count > 1 ? 0 : TCA_LB_STATS_PASS_SINGLE;
}

/* Add the routes that share prefix and metric; at most LB_MEMBERS_MAX. */
static int lb_fib6_siblings(struct lb_route *r, struct fib6_info *first)
{
	const struct fib6_info *f6i;
	u32 i = 1, uneven = 0;

	lb_set_hop(r, 0, &first->fib6_nh->nh_common, first->fib6_nh->fib_nh_weight);
	/* the list is a ring without head: a route that leaves it may never end the loop */
	list_for_each_entry_rcu(f6i, &first->fib6_siblings, fib6_siblings) {
		if (i == LB_MEMBERS_MAX)
			return TCA_LB_STATS_PASS_MEMBERS;
		uneven |= lb_set_hop(r, i++, &f6i->fib6_nh->nh_common,
				     f6i->fib6_nh->fib_nh_weight);
	}
	r->count = i;
	r->even = !uneven;
	return r->count > 1 ? 0 : TCA_LB_STATS_PASS_SINGLE;
}

/**
 * lb_fib6_hops() - list the next hops of an IPv6 route
 * @r: the route, with the result of the lookup in @r->v6
 *
 * Return: as lb_fib4_hops().
 */
int lb_fib6_hops(struct lb_route *r)
{
	r->id = rcu_access_pointer(r->v6.f6i->fib6_node);
	if (r->v6.f6i->nh)
		return lb_add_nexthop(r, r->v6.f6i->nh);
	return lb_fib6_siblings(r, r->v6.f6i);
}
