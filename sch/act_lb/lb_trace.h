/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of act_lb. Their fields stay as they are: programs read them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM act_lb

#if !defined(_CLOSNET_LB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _CLOSNET_LB_TRACE_H

#include <linux/tracepoint.h>
#include <net/act_api.h>
#include <net/ip_fib.h>
#include "lb_port.h"

/*
 * A packet is sent. gateway: its last 32 bits; hash: 0 if not needed; quality and drain_ns: state
 * of the port before the packet, 255 and 0 if they were not read for it
 */
TRACE_EVENT(lb_send,

	TP_PROTO(const struct tc_action *action, const struct fib_nh_common *nhc,
		 struct lb_port *port, const struct lb_grading *grading, u32 len, u64 hash),

	TP_ARGS(action, nhc, port, grading, len, hash),

	TP_STRUCT__entry(
		__field(__u32, index)
		__field(__u32, ifindex)
		__field(__u32, gateway)
		__field(__u32, len)
		__field(__u32, drain_ns)
		__field(__u8, quality)
		__field(__u64, hash)
	),

	TP_fast_assign(
		__entry->index = action->tcfa_index;
		__entry->ifindex = nhc->nhc_dev->ifindex;
		__entry->gateway = nhc->nhc_gw_family == AF_INET6 ?
			ntohl(nhc->nhc_gw.ipv6.s6_addr32[3]) : ntohl(nhc->nhc_gw.ipv4);
		__entry->len = len;
		__entry->drain_ns = port ? lb_load_drain_ns(&port->load, grading) : 0;
		__entry->quality = port ? lb_load_quality(&port->load, grading) : 255;
		__entry->hash = hash;
	),

	TP_printk("index=%u ifindex=%u gateway=%08x len=%u quality=%u drain_ns=%u hash=%016llx",
		  __entry->index, __entry->ifindex, __entry->gateway, __entry->len,
		  __entry->quality, __entry->drain_ns, __entry->hash)
);

TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_HOOK);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_PROTOCOL);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_ADDRESS);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_HEADER);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_TTL);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_FORWARDING);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_POLICY);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_ROUTE);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_SINGLE);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_MEMBERS);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_SOURCE);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_TUNNEL);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_REDIRECT);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_MTU);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_NEIGHBOUR);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_DOWN);
TRACE_DEFINE_ENUM(TCA_LB_STATS_PASS_PORTS);

#define lb_show_reason(reason)					\
	__print_symbolic(reason,				\
			 { TCA_LB_STATS_PASS_HOOK, "hook" },	\
			 { TCA_LB_STATS_PASS_PROTOCOL, "protocol" },\
			 { TCA_LB_STATS_PASS_ADDRESS, "address" },\
			 { TCA_LB_STATS_PASS_HEADER, "header" },\
			 { TCA_LB_STATS_PASS_TTL, "ttl" },	\
			 { TCA_LB_STATS_PASS_FORWARDING, "forwarding" },\
			 { TCA_LB_STATS_PASS_POLICY, "policy" },\
			 { TCA_LB_STATS_PASS_ROUTE, "route" },	\
			 { TCA_LB_STATS_PASS_SINGLE, "single" },\
			 { TCA_LB_STATS_PASS_MEMBERS, "members" },\
			 { TCA_LB_STATS_PASS_SOURCE, "source" },\
			 { TCA_LB_STATS_PASS_TUNNEL, "tunnel" },\
			 { TCA_LB_STATS_PASS_REDIRECT, "redirect" },\
			 { TCA_LB_STATS_PASS_MTU, "mtu" },	\
			 { TCA_LB_STATS_PASS_NEIGHBOUR, "neighbour" },\
			 { TCA_LB_STATS_PASS_DOWN, "down" },	\
			 { TCA_LB_STATS_PASS_PORTS, "ports" })

/* A packet is left to the stack. reason: an attribute of TCA_LB_STATS_PASS */
TRACE_EVENT(lb_pass,

	TP_PROTO(const struct tc_action *action, const struct sk_buff *skb, u32 reason),

	TP_ARGS(action, skb, reason),

	TP_STRUCT__entry(
		__field(__u32, index)
		__field(__u32, ifindex)
		__field(__u32, len)
		__field(__u32, reason)
	),

	TP_fast_assign(
		__entry->index = action->tcfa_index;
		__entry->ifindex = skb->dev->ifindex;
		__entry->len = skb->len;
		__entry->reason = reason;
	),

	TP_printk("index=%u ifindex=%u len=%u reason=%s",
		  __entry->index, __entry->ifindex, __entry->len,
		  lb_show_reason(__entry->reason))
);

#endif /* _CLOSNET_LB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lb_trace
#include <trace/define_trace.h>
