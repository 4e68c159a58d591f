// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes: the next hops of a packet
 *
 * The routing table is the configuration. A packet is looked up as the kernel's input routing does,
 * with policy rules, VRF and marks. lb_hops.c says which routes are groups of next hops.
 *
 * Weights come from the routes. A resilient group is used like any group: act_lb has its own table
 * of flows. All packets that need more than forwarding by one of several next hops are left to the
 * stack. These functions return the reason, an attribute of TCA_LB_STATS_PASS.
 *
 * The stack also drops packets with wrong source addresses (ip_route_input_slow(),
 * ip6_forward()). lb_source4_is_valid() makes the same decisions, with rp_filter as well.
 *
 * All functions are called in an RCU read section with BH off, and their results end with it.
 */
#include <linux/hash.h>
#include <linux/inetdevice.h>
#include <linux/tc_act/tc_lb.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/closnet_fib6.h>
#include <net/dst_metadata.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include "lb_fib.h"

/* Key of the tunnel that a packet came from, which policy rules can match */
static __be64 lb_tunnel_id(const struct sk_buff *skb)
{
	const struct ip_tunnel_info *info = skb_tunnel_info(skb);

	return info && !(info->mode & IP_TUNNEL_INFO_TX) ? info->key.tun_id : 0;
}

/* ---- IPv4 ---- */

/* Look up the source address as a destination. */
static bool lb_source4_has_route(struct net *net, const struct sk_buff *skb,
				 const struct flowi4 *forward, struct net_device *in,
				 struct in_device *in_dev)
{
	struct flowi4 fl4 = *forward;
	struct fib_result res;

	fl4.flowi4_iif = LOOPBACK_IFINDEX;
	fl4.flowi4_l3mdev = l3mdev_master_ifindex_rcu(in);
	fl4.daddr = forward->saddr;
	fl4.saddr = forward->daddr;
	fl4.flowi4_mark = IN_DEV_SRC_VMARK(in_dev) ? skb->mark : 0;
	swap(fl4.fl4_sport, fl4.fl4_dport);

	if (fib_lookup(net, &fl4, &res, 0))
		return !IN_DEV_RPFILTER(in_dev);
	if (res.type != RTN_UNICAST)
		return false;
	/* 1, strict: the route must lead back */
	return IN_DEV_RPFILTER(in_dev) != 1 || fib_info_nh_uses_dev(res.fi, in);
}

/* Look up the address among those of this host, unless this CPU has done so lately. */
static bool lb_source4_is_foreign(struct net *net, __be32 saddr, struct lb_source *sources)
{
	struct lb_source *s = &sources[hash_32((__force u32)saddr, ilog2(LB_SOURCES))];
	int genid = rt_genid_ipv4(net);

	if (s->saddr == saddr && s->genid == genid)
		return true;
	if (__ip_dev_find(net, saddr, false))
		return false;
	*s = (struct lb_source) { .saddr = saddr, .genid = genid };
	return true;
}

static bool lb_source4_is_valid(struct net *net, const struct sk_buff *skb,
				const struct flowi4 *fl4, struct net_device *in,
				struct in_device *in_dev, struct lb_source *sources)
{
	if (ipv4_is_multicast(fl4->saddr) || ipv4_is_lbcast(fl4->saddr) ||
	    ipv4_is_zeronet(fl4->saddr) || ipv4_is_loopback(fl4->saddr))
		return false;
	if (IN_DEV_RPFILTER(in_dev) || net->ipv4.fib_has_custom_local_routes ||
	    fib4_has_custom_rules(net))
		return lb_source4_has_route(net, skb, fl4, in, in_dev);
	return lb_source4_is_foreign(net, fl4->saddr, sources);
}

/**
 * lb_fib4_lookup() - look up the next hops of an IPv4 packet
 * @r: the route
 * @net: the namespace
 * @skb: the packet, with a valid header
 * @sources: LB_SOURCES valid source addresses, of this CPU and namespace
 *
 * Return: 0, or the reason to leave it to the stack. With TCA_LB_STATS_PASS_SINGLE, the route has
 * its one next hop.
 */
int lb_fib4_lookup(struct lb_route *r, struct net *net, struct sk_buff *skb,
		   struct lb_source *sources)
{
	struct net_device *in = l3mdev_master_dev_rcu(skb->dev) ?: skb->dev;
	const struct iphdr *iph = ip_hdr(skb);
	struct flowi4 fl4 = {
		.flowi4_iif = in->ifindex, .flowi4_mark = skb->mark,
		.flowi4_scope = RT_SCOPE_UNIVERSE, .daddr = iph->daddr, .saddr = iph->saddr,
	};
	struct in_device *in_dev = __in_dev_get_rcu(in);
	struct flow_keys keys LB_UNINITIALIZED;	/* for rules only */
	int reason;

	if (fib4_has_custom_rules(net))
		fl4.flowi4_uid = sock_net_uid(net, NULL);
	fl4.flowi4_tun_key.tun_id = lb_tunnel_id(skb);
	if (!in_dev || !IN_DEV_FORWARD(in_dev))
		return TCA_LB_STATS_PASS_FORWARDING;
	if (READ_ONCE(net->ipv4.sysctl_ip_fwd_use_pmtu))
		return TCA_LB_STATS_PASS_MTU;
	if (ipv4_is_multicast(iph->daddr) || ipv4_is_lbcast(iph->daddr) ||
	    ipv4_is_zeronet(iph->daddr) || ipv4_is_loopback(iph->daddr))
		return TCA_LB_STATS_PASS_ADDRESS;
	closnet_flowi4_set_tos(&fl4, iph->tos);
	fib4_rules_early_flow_dissect(net, skb, &fl4, &keys);

	r->ipv6 = false;
	if (fib_lookup(net, &fl4, &r->v4, 0) || r->v4.type != RTN_UNICAST)
		return TCA_LB_STATS_PASS_ROUTE;
	reason = lb_fib4_hops(r);
	if (reason)
		return reason;
	if (!lb_source4_is_valid(net, skb, &fl4, in, in_dev, sources))
		return TCA_LB_STATS_PASS_SOURCE;
	return 0;
}

/* ---- IPv6 ---- */

static bool lb_address6_is_forwarded(const struct in6_addr *addr)
{
	int type = ipv6_addr_type(addr);

	return type != IPV6_ADDR_ANY &&
	       !(type & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LOOPBACK | IPV6_ADDR_LINKLOCAL));
}

/**
 * lb_fib6_lookup() - look up the next hops of an IPv6 packet
 * @r: the route
 * @net: the namespace
 * @skb: the packet, with a valid header
 *
 * Return: as lb_fib4_lookup().
 */
int lb_fib6_lookup(struct lb_route *r, struct net *net, struct sk_buff *skb)
{
	struct net_device *in = l3mdev_master_dev_rcu(skb->dev) ?: skb->dev;
	const struct ipv6hdr *hdr = ipv6_hdr(skb);
	struct inet6_dev *idev = __in6_dev_get(skb->dev);
	struct flowi6 fl6 = {
		.flowi6_iif = in->ifindex, .flowi6_mark = skb->mark, .daddr = hdr->daddr,
		.saddr = hdr->saddr, .flowlabel = ip6_flowinfo(hdr), .flowi6_proto = hdr->nexthdr,
	};
	struct flow_keys keys LB_UNINITIALIZED;	/* for rules only */

	fl6.flowi6_tun_key.tun_id = lb_tunnel_id(skb);
	if (!idev || READ_ONCE(idev->cnf.disable_ipv6) || !READ_ONCE(idev->cnf.forwarding) ||
	    !READ_ONCE(net->ipv6.devconf_all->forwarding) ||
	    READ_ONCE(net->ipv6.devconf_all->proxy_ndp))
		return TCA_LB_STATS_PASS_FORWARDING;
	if (!lb_address6_is_forwarded(&hdr->daddr) || !lb_address6_is_forwarded(&hdr->saddr))
		return TCA_LB_STATS_PASS_ADDRESS;
	fib6_rules_early_flow_dissect(net, skb, &fl6, &keys);

	r->ipv6 = true;
	memset(&r->v6, 0, sizeof(r->v6));
	if (closnet_fib6_lookup(net, in->ifindex, &fl6, &r->v6, RT6_LOOKUP_F_HAS_SADDR) ||
	    IS_ERR_OR_NULL(r->v6.f6i) || r->v6.f6i == net->ipv6.fib6_null_entry ||
	    r->v6.fib6_type != RTN_UNICAST || r->v6.fib6_flags & RTF_REJECT)
		return TCA_LB_STATS_PASS_ROUTE;
	return lb_fib6_hops(r);
}

/* ---- the next hop of a packet ---- */

/*
 * MTU of a next hop, as ip_dst_mtu_maybe_forward() and ip6_dst_mtu_maybe_forward() have it: no
 * path MTU that this host has learned
 */
static u32 lb_mtu(const struct lb_route *r, const struct fib_nh_common *nhc)
{
	const struct inet6_dev *idev;

	if (!r->ipv6)
		return r->v4.fi->fib_mtu ?: READ_ONCE(nhc->nhc_dev->mtu);
	idev = __in6_dev_get(nhc->nhc_dev);
	return r->v6.f6i->fib6_pmtu ?: idev ? READ_ONCE(idev->cnf.mtu6) : IPV6_MIN_MTU;
}

static bool lb_fits(const struct lb_route *r, const struct fib_nh_common *nhc,
		    const struct sk_buff *skb)
{
	u32 mtu = lb_mtu(r, nhc);

	return skb->len <= mtu || (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu));
}

/* Find the neighbour. One that is not resolved is, for later packets. Return: NULL if it is not */
static struct neighbour *lb_neighbour(struct neigh_table *tbl, const void *addr,
				      struct net_device *dev)
{
	struct neighbour *n = tbl == &arp_tbl ?
		__ipv4_neigh_lookup_noref(dev, *(const u32 *)addr) :
		___neigh_lookup_noref(tbl, neigh_key_eq128, ndisc_hashfn, addr, dev);

	if (unlikely(!n))
		n = __neigh_create(tbl, addr, dev, false);
	if (IS_ERR(n))
		return NULL;
	if (likely(READ_ONCE(n->nud_state) & NUD_VALID))
		return n;
	neigh_event_send(n, NULL);
	return NULL;
}

static struct neighbour *lb_hop_neighbour(const struct lb_route *r, const struct fib_nh_common *nhc,
					  const struct sk_buff *skb)
{
	if (nhc->nhc_gw_family == AF_INET)
		return lb_neighbour(&arp_tbl, &nhc->nhc_gw.ipv4, nhc->nhc_dev);
	if (nhc->nhc_gw_family == AF_INET6)
		return lb_neighbour(closnet_nd_tbl(), &nhc->nhc_gw.ipv6, nhc->nhc_dev);
	if (r->ipv6)
		return lb_neighbour(closnet_nd_tbl(), &ipv6_hdr(skb)->daddr, nhc->nhc_dev);
	return lb_neighbour(&arp_tbl, &ip_hdr(skb)->daddr, nhc->nhc_dev);
}

/**
 * lb_fib_next() - check that a packet may go by a next hop
 * @next: where the packet goes
 * @r: its route
 * @hop: the next hop
 * @skb: the packet
 *
 * Return: 0, or the reason against it.
 */
int lb_fib_next(struct lb_next *next, const struct lb_route *r, u32 hop, const struct sk_buff *skb)
{
	const struct fib_nh_common *nhc = r->hops[hop].nhc;

	if (nhc->nhc_lwtstate)
		return TCA_LB_STATS_PASS_TUNNEL;
	if (nhc->nhc_dev == skb->dev)
		return TCA_LB_STATS_PASS_REDIRECT;
	if (!lb_fits(r, nhc, skb))
		return TCA_LB_STATS_PASS_MTU;
	next->hop = hop;
	next->dev = nhc->nhc_dev;
	next->neigh = lb_hop_neighbour(r, nhc, skb);
	return next->neigh ? 0 : TCA_LB_STATS_PASS_NEIGHBOUR;
}
