/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Routes: the next hops of a packet
 *
 * The interface of lb_fib.c, which explains the lookup, and of lb_hops.c.
 */
#ifndef _CLOSNET_LB_FIB_H
#define _CLOSNET_LB_FIB_H

#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include "lb_select.h"

/* Kernels that clear variables on the stack would clear LB_MEMBERS_MAX members per packet. */
#if __has_attribute(__uninitialized__)
#define LB_UNINITIALIZED	__attribute__((__uninitialized__))
#else
#define LB_UNINITIALIZED
#endif

/**
 * struct lb_hop - a next hop of a route
 * @nhc: the next hop
 * @weight: its weight
 */
struct lb_hop {
	const struct fib_nh_common *nhc;
	u32 weight;
};

/**
 * struct lb_route - the route of a packet
 * @hops: its next hops
 * @count: number of them
 * @even: all have the same weight
 * @id: identifies the route as long as it exists
 * @ipv6: use @v6 and not @v4
 * @v4: result of the lookup
 * @v6: result of the lookup
 */
struct lb_route {
	struct lb_hop hops[LB_MEMBERS_MAX];
	u32 count;
	bool even;
	const void *id;
	bool ipv6;
	union {
		struct fib_result v4;
		struct fib6_result v6;
	};
};

#define LB_SOURCES	64

/**
 * struct lb_source - a source address that was found to be valid
 * @saddr: the address, or 0
 * @genid: generation of the namespace's routes then; adding an address begins another one
 */
struct lb_source {
	__be32 saddr;
	int genid;
};

/**
 * struct lb_next - where a packet goes
 * @hop: number of the next hop in its route
 * @dev: the device
 * @neigh: the neighbour
 * @port: the device's port, which the caller of lb_fib_next() sets
 */
struct lb_next {
	u32 hop;
	struct net_device *dev;
	struct neighbour *neigh;
	struct lb_port *port;
};

int lb_fib4_hops(struct lb_route *r);
int lb_fib6_hops(struct lb_route *r);
int lb_fib4_lookup(struct lb_route *r, struct net *net, struct sk_buff *skb,
		   struct lb_source *sources);
int lb_fib6_lookup(struct lb_route *r, struct net *net, struct sk_buff *skb);
int lb_fib_next(struct lb_next *next, const struct lb_route *r, u32 hop,
		const struct sk_buff *skb);

/**
 * lb_hop_id() - compute a number that identifies a next hop
 * @hop: the next hop
 *
 * Return: the same number for the same device and gateway.
 */
static inline u32 lb_hop_id(const struct lb_hop *hop)
{
	const struct fib_nh_common *nhc = hop->nhc;
	u32 id = nhc->nhc_dev->ifindex * GOLDEN_RATIO_32;

	if (nhc->nhc_gw_family == AF_INET)
		id ^= (__force u32)nhc->nhc_gw.ipv4;
	else if (nhc->nhc_gw_family == AF_INET6)
		id ^= (__force u32)(nhc->nhc_gw.ipv6.s6_addr32[0] ^ nhc->nhc_gw.ipv6.s6_addr32[1] ^
				    nhc->nhc_gw.ipv6.s6_addr32[2] ^ nhc->nhc_gw.ipv6.s6_addr32[3]);
	return id;
}

#endif /* _CLOSNET_LB_FIB_H */
