/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of IPv6. While it could be a module (before 7.x), others called them by ipv6_stub. */
#ifndef _CLOSNET_COMPAT_NET_CLOSNET_FIB6_H
#define _CLOSNET_COMPAT_NET_CLOSNET_FIB6_H

#include <net/ip6_fib.h>
#include <net/ndisc.h>

#ifdef CLOSNET_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>

#define closnet_fib6_lookup(...)	(ipv6_stub->fib6_lookup(__VA_ARGS__))
#define closnet_ip6_dst_lookup_flow(...)	(ipv6_stub->ipv6_dst_lookup_flow(__VA_ARGS__))
#define closnet_nd_tbl()		(ipv6_stub->nd_tbl)
#else
#include <net/ipv6.h>

#define closnet_fib6_lookup(...)	fib6_lookup(__VA_ARGS__)
#define closnet_ip6_dst_lookup_flow(...)	ip6_dst_lookup_flow(__VA_ARGS__)
#define closnet_nd_tbl()		(&nd_tbl)
#endif

#endif /* _CLOSNET_COMPAT_NET_CLOSNET_FIB6_H */
