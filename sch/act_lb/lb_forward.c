// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of a packet: choose a next hop, and send
 *
 *	lb_check_packet()  lb_fib*_lookup()
 *	       |                  |
 *	checks, then the route's next hops ---> members (up, weight, load)
 *	                                           |
 *	           granularity packet: each packet | flow, flowlet: a new one, or behind a gap
 *	           GSO packets are segmented       | (lb_flow.c), else the member of the flow
 *	                                           v
 *	                                       lb_select() ---> lb_fib_next() ---> neigh_output()
 *
 * Until lb_fib_next() has accepted the next hop, the packet is unchanged, so that it can go to the
 * stack for any reason. If the neighbour of the chosen next hop is not resolved, another one is
 * chosen, and the neighbour is resolved for later packets.
 *
 * Members that have no carrier are left at once, before the routing daemon knows. A flow whose
 * member is down or gone from the route moves once.
 *
 * A packet that is sent has the TTL reduced, as by ip_forward(), and keeps all else: mark, DSCP
 * and ECN. It does not pass netfilter's hooks; so lb_check_packet() leaves packets to the stack
 * while there are any.
 */
#include <linux/hash.h>
#include <net/gso.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/neighbour.h>
#include "lb_action.h"
#include "lb_fib.h"
#include "lb_trace.h"

/**
 * struct lb_packet - a packet on its way
 * @lb: the action
 * @p: its parameters
 * @ports: ports of the namespace
 * @route: route of the packet
 * @tried: a bit for each of its next hops that this packet could not take
 * @loaded: the loads of the ports are fresh, and one was chosen by them
 * @group: a member for each of its next hops, if one is chosen
 * @no_member: reason if there is no member, an attribute of TCA_LB_STATS_PASS; 0: all are down
 * @hash: hash of the flow, if it is needed
 * @counted: its choice is counted
 * @now_ns: present time, if it is needed
 */
struct lb_packet {
	struct tcf_lb *lb;
	const struct lb_params *p;
	struct lb_ports *ports;
	struct lb_route route;
	u64 tried;
	bool loaded;
	struct lb_group group;
	int no_member;
	u64 hash;
	bool counted;
	u64 now_ns;
};

/* ---- members ---- */

/* The port of a next hop, with a load that is fresh enough, or NULL */
static __always_inline struct lb_port *lb_fresh_port(const struct lb_packet *b,
						     const struct lb_hop *hop,
						     const struct lb_grading *g)
{
	struct net_device *dev = hop->nhc->nhc_dev;
	struct lb_port *port = lb_port_get(b->ports, dev);

	if (port && unlikely(lb_load_is_due(&port->load, g, b->now_ns)))
		lb_port_sample(port, dev, g, b->now_ns);
	return port;
}

/* Is the next hop alive, and netif_running() and netif_carrier_ok() of its device? */
static bool lb_is_up(const struct fib_nh_common *nhc)
{
	unsigned long state = READ_ONCE(nhc->nhc_dev->state);

	return !(READ_ONCE(nhc->nhc_flags) & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) &&
	       (state & (BIT(__LINK_STATE_START) | BIT(__LINK_STATE_NOCARRIER))) ==
	       BIT(__LINK_STATE_START);
}

/* A next hop that packets can take, unless this one has tried it in vain */
static bool lb_is_usable(const struct lb_packet *b, u32 hop)
{
	return !(b->tried >> hop & 1) && lb_is_up(b->route.hops[hop].nhc);
}

static void lb_set_weights(struct lb_packet *b)
{
	u32 i;

	b->group.even = b->route.even;
	for (i = 0; i < b->route.count && !b->route.even; i++)
		b->group.members[i].weight = b->route.hops[i].weight;
}

/* Describe the next hops to a policy that reads no load. */
static void lb_describe(struct lb_packet *b)
{
	u64 up = 0;
	u32 i;

	for (i = 0; i < b->route.count; i++)
		up |= (u64)lb_is_usable(b, i) << i;
	b->group.up = up;
	lb_set_weights(b);
}

/*
 * Grade the next hops. This loop is most of the cost of a choice by quality, so it is compiled with
 * and without remote qualities. Return: 0, or the reason to pass the packet
 */
static __always_inline int lb_grade_hops(struct lb_packet *b, const struct lb_remote *store)
{
	const struct lb_grading *g = &b->p->select.grading;
	u64 prefix = store ? lb_glb_prefix_hash(b->p->glb, &b->route) : 0, bit = 1;
	const struct lb_hop *hop, *end = b->route.hops + b->route.count;
	struct lb_grades grades = { };
	u32 remote = LB_BEST;
	struct lb_port *port;

	for (hop = b->route.hops; hop < end; hop++, bit <<= 1) {
		if (b->tried & bit || !lb_is_up(hop->nhc))
			continue;
		port = lb_fresh_port(b, hop, g);
		if (unlikely(!port))
			return TCA_LB_STATS_PASS_PORTS;
		if (store)
			remote = lb_glb_quality(store, prefix, port, b->now_ns);
		lb_grade(&grades, bit, &port->load, g, remote);
	}
	/* any member that is up has a grade; the choice needs the best ones only */
	b->group.up = grades.best;
	b->group.grades = grades;
	lb_set_weights(b);
	return 0;
}

static bool lb_sampled_are_usable(const struct lb_packet *b)
{
	const struct lb_sampled *s = &b->group.sampled;
	u32 i;

	for (i = 0; i < s->count; i++)
		if (!lb_is_usable(b, s->members[i]))
			return false;
	return true;
}

/* Draw next hops for DRILL, and add their loads. Return: 0, or the reason to pass the packet */
static int lb_sample_hops(struct lb_packet *b, const struct lb_memory *memory, u32 random)
{
	const struct lb_select_params *select = &b->p->select;
	const struct lb_remote *store = b->p->store;
	u64 prefix = store ? lb_glb_prefix_hash(b->p->glb, &b->route) : 0;
	struct lb_group *g = &b->group;
	struct lb_port *port;
	u32 i, hop;

	/* most often all are up: then only those drawn are looked at */
	g->up = GENMASK_ULL(b->route.count - 1, 0);
	lb_set_weights(b);
	lb_drill_sample(select, g, memory, random);
	if (unlikely(!lb_sampled_are_usable(b))) {
		lb_describe(b);
		lb_drill_sample(select, g, memory, random);
	}
	for (i = 0; i < g->sampled.count; i++) {
		hop = g->sampled.members[i];
		port = lb_fresh_port(b, &b->route.hops[hop], &select->grading);
		if (unlikely(!port))
			return TCA_LB_STATS_PASS_PORTS;
		g->members[hop].load = &port->load;
		g->members[hop].remote = !store ? LB_BEST :
			lb_glb_quality(store, prefix, port, b->now_ns);
	}
	return 0;
}

/* Describe the next hops to a policy that reads loads. Return: as lb_grade_hops() */
static int lb_read_loads(struct lb_packet *b, enum lb_policy policy,
			 const struct lb_memory *memory, u32 number)
{
	const struct lb_remote *store = b->p->store;

	b->loaded = true;
	if (policy == LB_DRILL)
		return lb_sample_hops(b, memory, number);
	return store ? lb_grade_hops(b, store) : lb_grade_hops(b, NULL);
}

/* What the table of flows stores: which next hop, and its number in the route, a hint */
static u32 lb_member_id(const struct lb_packet *b, u32 i)
{
	return (lb_hop_id(&b->route.hops[i]) & ~(LB_MEMBERS_MAX - 1)) | i;
}

static int lb_find_member(const struct lb_packet *b, u32 id)
{
	u32 i = id % LB_MEMBERS_MAX;

	if (i < b->route.count && lb_member_id(b, i) == id)
		return i;
	/* the route has changed */
	for (i = 0; i < b->route.count; i++)
		if ((lb_member_id(b, i) ^ id) < LB_MEMBERS_MAX)
			return i;
	return LB_NO_MEMBER;
}

/* ---- choice ---- */

/*
 * Choose by a number alone, which needs one next hop's state and not that of all. If that one is
 * down, its flows are left for lb_select(), and those of other members stay.
 */
static int lb_choose_blindly(const struct lb_packet *b, u32 number)
{
	u32 hop = (u64)number * b->route.count >> 32;

	return b->route.even && lb_is_usable(b, hop) ? hop : LB_NO_MEMBER;
}

static int lb_choose_any(struct lb_packet *b, enum lb_policy policy, int present)
{
	struct lb_memory *memory = &b->lb->memory[hash_ptr(b->route.id, LB_MEMORY_BITS)];
	u32 number = b->hash;
	int hop;

	if (lb_is_random(policy))
		number = lb_draw(this_cpu_ptr(&b->lb->stats->random));
	if (policy == LB_HASH || policy == LB_RANDOM) {
		hop = lb_choose_blindly(b, number);
		if (likely(hop >= 0))
			return hop;
		/* all numbers so far meet the member that is down */
		number *= GOLDEN_RATIO_32;
	}
	if (lb_reads_load(policy)) {
		b->no_member = lb_read_loads(b, policy, memory, number);
		if (unlikely(b->no_member))
			return LB_NO_MEMBER;
	} else {
		lb_describe(b);
	}
	return lb_select(&b->p->select, policy, &b->group, memory, number, present);
}

/* Count the first choice of a packet: a new flow whose neighbour is not resolved is no failover. */
static void lb_count_choice(struct lb_packet *b, enum lb_flow_state state, bool moved)
{
	if (b->counted)
		return;
	b->counted = true;
	switch (state) {
	case LB_FLOW_NEW:
		lb_count(b->lb, TCA_LB_STATS_NEW_FLOWS);
		break;
	case LB_FLOW_GAP:
		lb_count(b->lb, TCA_LB_STATS_GAPS);
		if (moved)
			lb_count(b->lb, TCA_LB_STATS_MOVES);
		break;
	case LB_FLOW_ACTIVE:
		lb_count(b->lb, TCA_LB_STATS_FAILOVERS);
		break;
	case LB_FLOW_FULL:
		lb_count(b->lb, TCA_LB_STATS_OVERFLOWS);
		break;
	}
}

/* Choose for a packet whose bucket is locked */
static int lb_choose_locked(struct lb_packet *b, struct lb_bucket *bucket)
{
	enum lb_policy policy = b->p->select.policy;
	int present = LB_NO_MEMBER, chosen;
	enum lb_flow_state state;
	struct lb_flow *flow;

	state = lb_flow_find(bucket->flows, b->hash, b->now_ns, b->p->gap_ns, &flow);
	if (state == LB_FLOW_ACTIVE || state == LB_FLOW_GAP)
		present = lb_find_member(b, flow->member);
	if (present >= 0 && !lb_is_usable(b, present))
		present = LB_NO_MEMBER;
	if (state == LB_FLOW_ACTIVE && present >= 0)
		return present;

	chosen = lb_choose_any(b, state == LB_FLOW_FULL ? LB_HASH : policy, present);
	if (chosen < 0)
		return chosen;
	if (flow)
		flow->member = lb_member_id(b, chosen);
	lb_count_choice(b, state, chosen != present);
	return chosen;
}

static int lb_choose(struct lb_packet *b)
{
	struct lb_table *table = b->p->table;
	struct lb_bucket *bucket;
	int chosen;

	if (!table)
		return lb_choose_any(b, b->p->select.policy, LB_NO_MEMBER);
	bucket = &table->buckets[lb_flow_bucket(b->hash, table->count)];
	spin_lock(&bucket->lock);
	chosen = lb_choose_locked(b, bucket);
	spin_unlock(&bucket->lock);
	return chosen;
}

/* Check that a packet may go by a next hop. Return: 0, or the reason against it */
static int lb_try(const struct lb_packet *b, u32 hop, const struct sk_buff *skb,
		  struct lb_next *next)
{
	int reason = lb_fib_next(next, &b->route, hop, skb);

	if (reason)
		return reason;
	next->port = lb_port_get(b->ports, next->dev);
	return next->port ? 0 : TCA_LB_STATS_PASS_PORTS;
}

/* Choose a next hop that the packet can take. Return: 0, or the reason of a failure */
static int lb_choose_next(struct lb_packet *b, const struct sk_buff *skb, struct lb_next *next)
{
	int reason = TCA_LB_STATS_PASS_DOWN, hop;

	/* each round takes a member out: at most LB_MEMBERS_MAX */
	while ((hop = lb_choose(b)) >= 0) {
		reason = lb_try(b, hop, skb, next);
		if (reason != TCA_LB_STATS_PASS_NEIGHBOUR)
			return reason;
		b->tried |= 1ULL << hop;
	}
	return b->no_member ?: reason;
}

/* ---- sending ---- */

static void lb_count_packet(const struct lb_packet *b, struct lb_port *port, u32 packets, u32 bytes)
{
	struct lb_port_stats *s = this_cpu_ptr(&b->lb->stats->ports[port->slot]);

	if (unlikely(s->ifindex != port->ifindex))
		*s = (struct lb_port_stats) { .ifindex = port->ifindex };
	WRITE_ONCE(s->packets, s->packets + packets);
	WRITE_ONCE(s->bytes, s->bytes + bytes);
	this_cpu_add(b->lb->stats->counters[TCA_LB_STATS_SENT_PACKETS], packets);
	lb_load_charge(&port->load, bytes);
}

static void lb_drop(const struct lb_packet *b, struct sk_buff *skb)
{
	lb_count(b->lb, TCA_LB_STATS_DROPPED_PACKETS);
	tcf_action_inc_drop_qstats(&b->lb->common);
	kfree_skb(skb);
}

/* Send a packet, or a GSO packet, whose TTL is reduced and whose data begins with the IP header. */
static void lb_transmit(const struct lb_packet *b, struct sk_buff *skb, const struct lb_next *next)
{
	/* a GSO packet of a tap or packet socket may not tell its segments */
	u32 packets = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	if (unlikely(skb_cow_head(skb, LL_RESERVED_SPACE(next->dev)))) {
		lb_drop(b, skb);
		return;
	}
	trace_lb_send(&b->lb->common, b->route.hops[next->hop].nhc,
		      b->loaded ? next->port : NULL,
		      &b->p->select.grading, skb->len, b->hash);
	lb_count_packet(b, next->port, packets, skb->len + packets * next->dev->hard_header_len);
	skb->dev = next->dev;
	/* the cached header of an IPv6 gateway is not for an IPv4 packet */
	neigh_output(next->neigh, skb, next->neigh->tbl->protocol != skb->protocol);
}

/* Count as ip_rcv(), ip_forward(), ipv6_rcv() and ip6_forward() do. */
static void lb_count_forwarded(const struct lb_packet *b, const struct sk_buff *skb,
			       const struct net_device *dev)
{
	struct net *net = b->ports->net;

	if (b->route.ipv6) {
		__IP6_UPD_PO_STATS(net, __in6_dev_get(skb->dev), IPSTATS_MIB_IN, skb->len);
		__IP6_INC_STATS(net, __in6_dev_get(dev), IPSTATS_MIB_OUTFORWDATAGRAMS);
	} else {
		__IP_UPD_PO_STATS(net, IPSTATS_MIB_IN, skb->len);
		__IP_INC_STATS(net, IPSTATS_MIB_OUTFORWDATAGRAMS);
	}
}

/*
 * Make a packet ready as ip_forward() and ip6_forward() do. Return: the packet, which may be a
 * copy, or NULL if there is no memory: then it is freed
 */
static struct sk_buff *lb_prepare(const struct lb_packet *b, struct sk_buff *skb,
				  const struct net_device *dev)
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		lb_count(b->lb, TCA_LB_STATS_DROPPED_PACKETS);
		return NULL;
	}
	if (skb_cow(skb, LL_RESERVED_SPACE(dev))) {
		lb_drop(b, skb);
		return NULL;
	}
	lb_count_forwarded(b, skb, dev);
	skb_orphan(skb);
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	skb_dst_drop(skb);
	if (b->route.ipv6) {
		ipv6_hdr(skb)->hop_limit--;
	} else {
		ip_decrease_ttl(ip_hdr(skb));
		if (READ_ONCE(b->ports->net->ipv4.sysctl_ip_fwd_update_priority))
			skb->priority = rt_tos2priority(ip_hdr(skb)->tos);
	}
	return skb;
}

/*
 * Choose for each segment of a GSO packet. The first one takes @first, as does each one whose own
 * choice fails.
 */
static void lb_transmit_segments(struct lb_packet *b, struct sk_buff *skb,
				 const struct lb_next *first)
{
	struct sk_buff *segs, *rest;
	struct lb_next next = *first;
	int hop;

	skb->dev = first->dev;
	skb_push(skb, skb->mac_len);
	segs = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		lb_drop(b, skb);
		return;
	}
	lb_count(b->lb, TCA_LB_STATS_SEGMENTED_PACKETS);
	consume_skb(skb);
	/* as many as the GSO packet has segments */
	skb_list_walk_safe(segs, skb, rest) {
		skb_mark_not_on_list(skb);
		__skb_pull(skb, skb_network_offset(skb));
		if (skb != segs) {
			hop = lb_choose(b);
			if (hop < 0 || lb_try(b, hop, skb, &next))
				next = *first;
		}
		lb_transmit(b, skb, &next);
	}
}

static int lb_look_up(struct lb_packet *b, struct net *net, struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return lb_fib4_lookup(&b->route, net, skb, this_cpu_ptr(b->lb->stats->sources));
	return lb_fib6_lookup(&b->route, net, skb);
}

/**
 * lb_forward() - forward a packet by one of several next hops
 * @lb: the action
 * @p: its parameters
 * @ports: ports of the namespace
 * @skb: the packet, at the ingress of a device
 *
 * Context: RCU, BH off.
 *
 * Return: 0: the packet is sent or dropped; otherwise the reason to leave it to the stack, an
 * attribute of TCA_LB_STATS_PASS.
 */
int lb_forward(struct tcf_lb *lb, const struct lb_params *p, struct lb_ports *ports,
	       struct sk_buff *skb)
{
	struct net *net = ports->net;
	struct lb_packet b LB_UNINITIALIZED;
	struct lb_next next LB_UNINITIALIZED;
	int reason;

	b.lb = lb;
	b.p = p;
	b.ports = ports;
	b.tried = 0;
	b.loaded = false;
	b.no_member = 0;
	b.hash = 0;
	b.counted = false;
	b.now_ns = 0;
	reason = lb_check_packet(skb, net);
	if (reason)
		return reason;
	reason = lb_look_up(&b, net, skb);
	if (p->table || p->teller || lb_reads_load(p->select.policy))
		b.now_ns = ktime_get_ns();
	if (p->teller && (!reason || reason == TCA_LB_STATS_PASS_SINGLE))
		lb_tell(p->teller, &b.route, skb, b.now_ns);
	if (reason)
		return reason;
	if (p->table || p->select.policy == LB_HASH)
		b.hash = b.route.ipv6 ? lb_hash6(&lb->key, skb) : lb_hash4(&lb->key, skb);
	reason = lb_choose_next(&b, skb, &next);
	if (reason)
		return reason;

	skb = lb_prepare(&b, skb, next.dev);
	if (!skb)
		return 0;
	if (skb_is_gso(skb) && p->options.granularity == TC_LB_GRANULARITY_PACKET)
		lb_transmit_segments(&b, skb, &next);
	else
		lb_transmit(&b, skb, &next);
	return 0;
}
