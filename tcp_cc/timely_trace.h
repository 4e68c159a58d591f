/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of tcp_timely. Programs read them; the fields do not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timely

#if !defined(_TIMELY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TIMELY_TRACE_H

#include <linux/tracepoint.h>
#include "cc_trace.h"
#include "timely_tcp.h"

TRACE_DEFINE_ENUM(TIMELY_RTT);
TRACE_DEFINE_ENUM(TIMELY_SW);
TRACE_DEFINE_ENUM(TIMELY_HW);
TRACE_DEFINE_ENUM(TIMELY_OWD);
TRACE_DEFINE_ENUM(TIMELY_START);
TRACE_DEFINE_ENUM(TIMELY_LOW);
TRACE_DEFINE_ENUM(TIMELY_HIGH);
TRACE_DEFINE_ENUM(TIMELY_ADD);
TRACE_DEFINE_ENUM(TIMELY_HAI);
TRACE_DEFINE_ENUM(TIMELY_MUL);
TRACE_DEFINE_ENUM(TIMELY_REF);
TRACE_DEFINE_ENUM(TIMELY_HOLD);
TRACE_DEFINE_ENUM(TIMELY_LONE);
TRACE_DEFINE_ENUM(TIMELY_IDLE);
TRACE_DEFINE_ENUM(TIMELY_LOSS);
TRACE_DEFINE_ENUM(TIMELY_UNDO);
TRACE_DEFINE_ENUM(TIMELY_UP);
TRACE_DEFINE_ENUM(TIMELY_DOWN);
TRACE_DEFINE_ENUM(TIMELY_KEEP);
TRACE_DEFINE_ENUM(TIMELY_HOST);

#define timely_show_source(source)		\
	__print_symbolic(source,		\
			 { TIMELY_RTT, "rtt" },	\
			 { TIMELY_SW, "sw" },	\
			 { TIMELY_HW, "hw" },	\
			 { TIMELY_OWD, "owd" })

#define timely_show_cause(cause)			\
	__print_symbolic(cause,				\
			 { TIMELY_START, "start" },	\
			 { TIMELY_LOW, "low" },		\
			 { TIMELY_HIGH, "high" },	\
			 { TIMELY_ADD, "add" },		\
			 { TIMELY_HAI, "hai" },		\
			 { TIMELY_MUL, "mul" },		\
			 { TIMELY_REF, "ref" },		\
			 { TIMELY_HOLD, "hold" },	\
			 { TIMELY_LONE, "lone" },	\
			 { TIMELY_IDLE, "idle" },	\
			 { TIMELY_LOSS, "loss" },	\
			 { TIMELY_UNDO, "undo" })

#define timely_show_window(cause)			\
	__print_symbolic(cause,				\
			 { TIMELY_HOLD, "hold" },	\
			 { TIMELY_LONE, "lone" },	\
			 { TIMELY_IDLE, "idle" },	\
			 { TIMELY_LOSS, "loss" },	\
			 { TIMELY_UNDO, "undo" },	\
			 { TIMELY_UP, "up" },		\
			 { TIMELY_DOWN, "down" },	\
			 { TIMELY_KEEP, "keep" },	\
			 { TIMELY_HOST, "host" })

/* RTT sample. Except for source owd, the ACK arrived at send_ns + wire_ns + rtt_ns. */
TRACE_EVENT(timely_sample,

	TP_PROTO(const struct sock *sk, u8 source, u32 rtt_ns, u64 send_ns,
		 u32 wire_ns, u32 bytes),

	TP_ARGS(sk, source, rtt_ns, send_ns, wire_ns, bytes),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u8, source)
		__field(__u32, rtt_ns)
		__field(__u32, wire_ns)
		__field(__u32, bytes)
		__field(__u64, send_ns)
	),

	TP_fast_assign(
		CLOSNET_CC_STORE_ADDRS(sk);
		__entry->source = source;
		__entry->rtt_ns = rtt_ns;
		__entry->wire_ns = wire_ns;
		__entry->bytes = bytes;
		__entry->send_ns = send_ns;
	),

	TP_printk("src=%pISpc dst=%pISpc source=%s rtt_ns=%u send_ns=%llu wire_ns=%u bytes=%u",
		  __entry->saddr, __entry->daddr, timely_show_source(__entry->source),
		  __entry->rtt_ns, __entry->send_ns, __entry->wire_ns, __entry->bytes)
);

/* Rate after a sample or another event; gradient is in thousandths. */
TRACE_EVENT(timely_rate,

	TP_PROTO(const struct sock *sk, const struct timely_vars *v,
		 const struct timely_params *p, u8 cause),

	TP_ARGS(sk, v, p, cause),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u8, cause)
		__field(__u32, rtt_ns)
		__field(__s64, diff_ns)
		__field(__s64, gradient)
		__field(__u64, rate_Bps)
	),

	TP_fast_assign(
		CLOSNET_CC_STORE_ADDRS(sk);
		__entry->cause = cause;
		__entry->rtt_ns = v->prev_rtt_ns;
		__entry->diff_ns = v->diff >> TIMELY_DIFF_SHIFT;
		__entry->gradient = (timely_gradient(v, p) * 1000) >> TIMELY_SHIFT;
		__entry->rate_Bps = v->rate_Bps;
	),

	TP_printk("src=%pISpc dst=%pISpc rtt_ns=%u diff_ns=%lld gradient=%lld rate_Bps=%llu cause=%s",
		  __entry->saddr, __entry->daddr, __entry->rtt_ns, __entry->diff_ns,
		  __entry->gradient, __entry->rate_Bps, timely_show_cause(__entry->cause))
);

/* Windows of mode swift after a sample or another event; windows are in thousandths. */
TRACE_EVENT(timely_swift,

	TP_PROTO(const struct sock *sk, const struct swift_vars *v, u8 cause),

	TP_ARGS(sk, v, cause),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u8, cause)
		__field(__u32, fabric_ns)
		__field(__u32, host_ns)
		__field(__u32, fabric_cwnd)
		__field(__u32, host_cwnd)
		__field(__u64, rate_Bps)
	),

	TP_fast_assign(
		CLOSNET_CC_STORE_ADDRS(sk);
		__entry->cause = cause;
		__entry->fabric_ns = v->fabric_ns;
		__entry->host_ns = v->host_ns;
		__entry->fabric_cwnd = ((u64)v->fabric_cwnd * 1000) >> SWIFT_CWND_SHIFT;
		__entry->host_cwnd = ((u64)v->host_cwnd * 1000) >> SWIFT_CWND_SHIFT;
		__entry->rate_Bps = v->rate_Bps;
	),

	TP_printk("src=%pISpc dst=%pISpc fabric_ns=%u host_ns=%u fabric_cwnd=%u host_cwnd=%u rate_Bps=%llu cause=%s",
		  __entry->saddr, __entry->daddr, __entry->fabric_ns, __entry->host_ns,
		  __entry->fabric_cwnd, __entry->host_cwnd, __entry->rate_Bps,
		  timely_show_window(__entry->cause))
);

#endif /* _TIMELY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE timely_trace
#include <trace/define_trace.h>
