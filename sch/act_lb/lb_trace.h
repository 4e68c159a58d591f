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
 * of the port before the packet, 255 and 0 if the policy does not read them
 */
TRACE_EVENT(lb_send,

	TP_PROTO(const struct tc_action *action, const struct fib_nh_common *nhc,
		 const struct lb_port *port, const struct lb_grading *grading, u32 len, u64 hash),

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

	TP_printk("index=%u ifindex=%u len=%u reason=%u",
		  __entry->index, __entry->ifindex, __entry->len, __entry->reason)
);

#endif /* _CLOSNET_LB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lb_trace
#include <trace/define_trace.h>
