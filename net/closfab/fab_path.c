// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths: the next hops of the route to a peer
 *
 * The underlay's routing table is the configuration. The next hops come from act_lb's code, as do
 * the samples of load and the choice. For each next hop, a route (dst) that leads to it is kept,
 * so that packets pass netfilter, IPsec and path MTU discovery as always:
 *
 *	IPv4	lookup with the next hop's device: two next hops by one device are one path
 *	IPv6	lookup with the multipath hash that selects the next hop
 *
 * All paths have the same source address, because the peer knows this host by it.
 * A change of the FIB makes these routes obsolete; the packet that notices builds them anew.
 */
#include <linux/random.h>
#include <linux/tc_act/tc_lb.h>
#include <net/closnet_fib6.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "../../sch/act_lb/lb_fib.h"
#include "fab.h"

/* ---- building ---- */

static void fab_paths_free(struct rcu_head *rcu)
{
	struct fab_paths *paths = container_of(rcu, struct fab_paths, rcu);
	u32 i;

	for (i = 0; i < paths->count; i++)
		dst_release(paths->path[i].dst);
	kfree(paths);
}

/**
 * fab_paths_put() - free paths that new packets cannot see, after a grace period
 * @paths: the paths, or NULL
 */
void fab_paths_put(struct fab_paths *paths)
{
	if (paths)
		call_rcu(&paths->rcu, fab_paths_free);
}

static bool fab_has_device(const struct fab_paths *paths, u32 ifindex)
{
	u32 i;

	for (i = 0; i < paths->count; i++)
		if (paths->path[i].ifindex == ifindex)
			return true;
	return false;
}

/* Add a path by @dst, whose reference is taken over. */
static void fab_add(struct fab_paths *paths, const struct fab_peer *peer, struct dst_entry *dst,
		    u32 weight, struct fab_path *path)
{
	struct lb_port *port = NULL;

	if (dst->dev != peer->fab->dev && !(dst->dev->flags & IFF_LOOPBACK))
		port = lb_port_get(peer->fab->ports, dst->dev);
	if (!port) {
		dst_release(dst);
		return;
	}
	path->dst = dst;
	path->ifindex = dst->dev->ifindex;
	path->slot = port->slot;
	path->weight = weight;
	paths->path[paths->count++] = *path;
}

/* ---- IPv4 ---- */

static struct flowi4 fab_flow4(const struct fab_paths *paths, const struct fab_peer *peer, u32 oif)
{
	const struct fab_dev *fab = peer->fab;
	struct flowi4 fl4 = {
		.flowi4_oif = oif, .flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = sock_net_uid(fab->net, NULL),
		.daddr = peer->addr.s6_addr32[3], .fl4_dport = htons(fab->options.port),
	};

	if (ipv6_addr_v4mapped(&fab->local))
		fl4.saddr = fab->local.s6_addr32[3];
	else if (paths->count)
		fl4.saddr = paths->path[0].saddr4;
	return fl4;
}

static void fab_add4(struct fab_paths *paths, const struct fab_peer *peer, u32 oif, u32 weight)
{
	struct flowi4 fl4 = fab_flow4(paths, peer, oif);
	struct fab_path path = { };
	struct rtable *rt;

	rt = ip_route_output_key(peer->fab->net, &fl4);
	if (IS_ERR(rt))
		return;
	path.saddr4 = fl4.saddr;
	fab_add(paths, peer, &rt->dst, weight, &path);
}

static void fab_build4(struct fab_paths *paths, const struct fab_peer *peer, struct lb_route *r)
{
	struct flowi4 fl4 = fab_flow4(paths, peer, peer->fab->link);
	u32 i;

	r->ipv6 = false;
	fl4.flowi4_iif = LOOPBACK_IFINDEX;
	if (fib_lookup(peer->fab->net, &fl4, &r->v4, 0) || r->v4.type != RTN_UNICAST ||
	    lb_fib4_hops(r) == TCA_LB_STATS_PASS_MEMBERS || r->count < 2) {
		fab_add4(paths, peer, peer->fab->link, 1);
		return;
	}
	for (i = 0; i < r->count; i++) {
		u32 ifindex = r->hops[i].nhc->nhc_dev->ifindex;

		if (!fab_has_device(paths, ifindex))
			fab_add4(paths, peer, ifindex, r->hops[i].weight);
	}
}

/* ---- IPv6 ---- */

static struct flowi6 fab_flow6(const struct fab_paths *paths, const struct fab_peer *peer)
{
	const struct fab_dev *fab = peer->fab;
	struct flowi6 fl6 = {
		.flowi6_oif = fab->link, .flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = sock_net_uid(fab->net, NULL),
		.daddr = peer->addr, .fl6_dport = htons(fab->options.port),
	};

	if (!ipv6_addr_any(&fab->local) && !ipv6_addr_v4mapped(&fab->local))
		fl6.saddr = fab->local;
	else if (paths->count)
		fl6.saddr = paths->path[0].saddr6;
	return fl6;
}

/* Add the path that @hash selects; 0: let the kernel select. */
static void fab_add6(struct fab_paths *paths, const struct fab_peer *peer, u32 hash, u32 weight)
{
	const struct sock *sk = rcu_dereference(peer->fab->sk6);
	struct flowi6 fl6 = fab_flow6(paths, peer);
	struct fab_path path = { };
	struct dst_entry *dst;

	if (!sk)
		return;
	fl6.mp_hash = hash;
	dst = closnet_ip6_dst_lookup_flow(peer->fab->net, sk, &fl6, NULL);
	if (IS_ERR(dst))
		return;
	if (fab_has_device(paths, dst->dev->ifindex)) {
		dst_release(dst);
		return;
	}
	path.saddr6 = fl6.saddr;
	path.cookie = rt6_get_cookie(dst_rt6_info(dst));
	fab_add(paths, peer, dst, weight, &path);
}

static u32 fab_weights(const struct lb_route *r)
{
	u32 sum = 0, i;

	for (i = 0; i < r->count; i++)
		sum += r->hops[i].weight;
	return sum;
}

static void fab_build6(struct fab_paths *paths, const struct fab_peer *peer, struct lb_route *r)
{
	struct flowi6 fl6 = fab_flow6(paths, peer);
	u32 i, sum, hash, part = 0;

	r->ipv6 = true;
	memset(&r->v6, 0, sizeof(r->v6));
	fl6.flowi6_iif = LOOPBACK_IFINDEX;
	if (closnet_fib6_lookup(peer->fab->net, fl6.flowi6_oif, &fl6, &r->v6, 0) ||
	    IS_ERR_OR_NULL(r->v6.f6i) || r->v6.fib6_flags & RTF_REJECT ||
	    lb_fib6_hops(r) == TCA_LB_STATS_PASS_MEMBERS || r->count < 2) {
		fab_add6(paths, peer, 0, 1);
		return;
	}
	sum = fab_weights(r);
	for (i = 0; i < r->count && sum; i++) {
		const struct lb_hop *hop = &r->hops[i];

		part += hop->weight;
		/* groups give next hop i the hashes up to its part of the weights, of 2^31 */
		hash = r->v6.f6i->nh ? div_u64((u64)part << 31, sum) - 1 :
				       atomic_read(&hop->nhc->nhc_upper_bound);
		fab_add6(paths, peer, hash, hop->weight);
	}
}

/* Build the paths of a peer. Return: NULL if no path or memory is found */
static struct fab_paths *fab_build(const struct fab_peer *peer)
{
	struct fab_paths *paths;
	struct lb_route *r;

	paths = fab_alloc(peer->fab, struct_size(paths, path, LB_MEMBERS_MAX));
	r = kzalloc(sizeof(*r), GFP_ATOMIC | __GFP_NOWARN);
	if (paths && r) {
		if (ipv6_addr_v4mapped(&peer->addr))
			fab_build4(paths, peer, r);
		else
			fab_build6(paths, peer, r);
	} else {
		kfree(paths);
		paths = NULL;
	}
	kfree(r);
	if (paths && !paths->count) {
		kfree(paths);
		paths = NULL;
	}
	return paths;
}

/* ---- use ---- */

static bool fab_paths_are_valid(const struct fab_paths *paths)
{
	u32 i;

	for (i = 0; i < paths->count; i++)
		if (!dst_check(paths->path[i].dst, paths->path[i].cookie))
			return false;
	return true;
}

/**
 * fab_paths_get() - get the paths to a peer
 * @peer: peer
 *
 * Packets to a peer without paths, which strangers may invent, search for them once in two jiffies.
 *
 * Context: RCU, BH off.
 *
 * Return: the paths, at least one; NULL without a route.
 */
const struct fab_paths *fab_paths_get(struct fab_peer *peer)
{
	struct fab_paths *old = rcu_dereference(peer->paths), *new;

	if (likely(old && fab_paths_are_valid(old)))
		return old;
	if (READ_ONCE(peer->unreachable) == (jiffies | 1))
		return NULL;
	new = fab_build(peer);
	WRITE_ONCE(peer->unreachable, new ? 0 : jiffies | 1);
	if (!new)
		return NULL;
	/* another CPU may have been faster: then these replace its paths */
	fab_paths_put(unrcu_pointer(xchg(&peer->paths, RCU_INITIALIZER(new))));
	return new;
}

/**
 * fab_path_is_up() - check whether packets can take a path now
 * @path: path
 *
 * Return: true if its device has carrier.
 */
bool fab_path_is_up(const struct fab_path *path)
{
	return netif_running(path->dst->dev) && netif_carrier_ok(path->dst->dev);
}

/**
 * fab_path_find() - find a path by its number
 * @paths: paths
 * @id: number, fab_path_id()
 *
 * Return: its index, or -1 if it is not a path that is up.
 */
int fab_path_find(const struct fab_paths *paths, u16 id)
{
	u32 i;

	for (i = 0; i < paths->count; i++)
		if (paths->path[i].slot == id >> 8)
			return fab_path_is_up(&paths->path[i]) ? i : -1;
	return -1;
}

static struct lb_load *fab_load(const struct fab_dev *fab, const struct fab_path *path, u64 now_ns)
{
	struct net_device *dev = path->dst->dev;
	struct lb_port *port = lb_port_get(fab->ports, dev);

	if (port && lb_load_is_due(&port->load, &fab->select.grading, now_ns))
		lb_port_sample(port, dev, &fab->select.grading, now_ns);
	return port ? &port->load : NULL;
}

/* Describe the paths, without their load. */
static void fab_describe(struct lb_group *g, const struct fab_paths *paths)
{
	u32 i;

	g->up = 0;
	g->even = true;
	for (i = 0; i < paths->count; i++) {
		g->members[i].weight = paths->path[i].weight;
		g->even &= paths->path[i].weight == paths->path[0].weight;
		if (fab_path_is_up(&paths->path[i]))
			g->up |= BIT_ULL(i);
	}
}

/* Grade the paths that are up, and add their loads. Return: false: no memory for a port */
static bool fab_grade(struct lb_group *g, const struct fab_dev *fab, const struct fab_paths *paths,
		      u64 now_ns)
{
	struct lb_load *load;
	u32 i;

	g->grades = (struct lb_grades){ };
	for (i = 0; i < paths->count; i++) {
		if (!(g->up & BIT_ULL(i)))
			continue;
		load = fab_load(fab, &paths->path[i], now_ns);
		if (!load)
			return false;
		g->members[i].load = load;
		lb_grade(&g->grades, BIT_ULL(i), load, &fab->select.grading, LB_BEST);
	}
	return true;
}

/* Draw paths for DRILL, and add their loads. Return: as fab_grade() */
static bool fab_sample(struct lb_group *g, struct fab_peer *peer, const struct fab_paths *paths,
		       u32 number, u64 now_ns)
{
	const struct fab_dev *fab = peer->fab;
	u32 i, m;

	lb_drill_sample(&fab->select, g, &peer->memory, number);
	for (i = 0; i < g->sampled.count; i++) {
		m = g->sampled.members[i];
		g->members[m].load = fab_load(fab, &paths->path[m], now_ns);
		g->members[m].remote = LB_BEST;
		if (!g->members[m].load)
			return false;
	}
	return true;
}

/* Describe the load of paths to a policy that reads it. Return: as fab_grade() */
static bool fab_set_loads(struct lb_group *g, struct fab_peer *peer, const struct fab_paths *paths,
			  enum lb_policy policy, u32 number, u64 now_ns)
{
	if (policy == LB_DRILL)
		return fab_sample(g, peer, paths, number, now_ns);
	return fab_grade(g, peer->fab, paths, now_ns);
}

/**
 * fab_path_draw() - draw paths at random, by weight
 * @fab: device
 * @paths: paths
 * @drawn: result: their indices
 * @count: number of draws; a path may be drawn twice
 *
 * Return: false if all are down.
 */
bool fab_path_draw(const struct fab_dev *fab, const struct fab_paths *paths, int *drawn, u32 count)
{
	struct lb_group g LB_UNINITIALIZED;
	u32 i;

	fab_describe(&g, paths);
	for (i = 0; i < count; i++)
		drawn[i] = lb_select(&fab->select, LB_RANDOM, &g, NULL, get_random_u32(),
				     LB_NO_MEMBER);
	return g.up;
}

/**
 * fab_path_select() - select a path for a packet
 * @peer: peer
 * @paths: its paths
 * @bytes: length of the packet on the path; policies that read the load count it until the next
 *	sample, as otherwise all packets of an interval would take the path that was best before
 * @now_ns: present time
 *
 * Return: its index, or -1 if all are down.
 */
int fab_path_select(struct fab_peer *peer, const struct fab_paths *paths, u32 bytes, u64 now_ns)
{
	struct fab_dev *fab = peer->fab;
	enum lb_policy policy = READ_ONCE(fab->select.policy);
	u32 number = lb_is_random(policy) ? get_random_u32() : 0;
	struct lb_group g LB_UNINITIALIZED;
	int i;

	fab_describe(&g, paths);
	/* without memory, paths are chosen at random */
	if (lb_reads_load(policy) && !fab_set_loads(&g, peer, paths, policy, number, now_ns))
		policy = LB_RANDOM;
	i = lb_select(&fab->select, policy, &g, &peer->memory, number, LB_NO_MEMBER);
	if (i >= 0 && lb_reads_load(policy))
		lb_load_charge(g.members[i].load, bytes);
	return i;
}
