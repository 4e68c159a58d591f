/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of tcp_dcqcn. Programs read them; the fields do not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dcqcn

#if !defined(_DCQCN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DCQCN_TRACE_H

#include <linux/tracepoint.h>
#include <net/tcp.h>
#include <closnet/dcqcn.h>
#include "cc_trace.h"

TRACE_DEFINE_ENUM(DCQCN_START);
TRACE_DEFINE_ENUM(DCQCN_FAST);
TRACE_DEFINE_ENUM(DCQCN_ADDITIVE);
TRACE_DEFINE_ENUM(DCQCN_HYPER);
TRACE_DEFINE_ENUM(DCQCN_CNP);
TRACE_DEFINE_ENUM(DCQCN_LOSS);
TRACE_DEFINE_ENUM(DCQCN_UNDO);

#define dcqcn_show_cause(cause)					\
	__print_symbolic(cause,					\
			 { DCQCN_START, "start" },		\
			 { DCQCN_FAST, "fast" },		\
			 { DCQCN_ADDITIVE, "additive" },	\
			 { DCQCN_HYPER, "hyper" },		\
			 { DCQCN_CNP, "cnp" },			\
			 { DCQCN_LOSS, "loss" },		\
			 { DCQCN_UNDO, "undo" })

/* New rate of a sender; alpha is in thousandths. */
TRACE_EVENT(dcqcn_rate,

	TP_PROTO(const struct sock *sk, const struct dcqcn_vars *v,
		 const struct dcqcn_params *p, u8 cause),

	TP_ARGS(sk, v, p, cause),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u64, rate_Bps)
		__field(__u64, target_Bps)
		__field(__u32, alpha)
		__field(__u8, timer_stage)
		__field(__u8, byte_stage)
		__field(__u8, cause)
	),

	TP_fast_assign(
		CLOSNET_CC_STORE_ADDRS(sk);
		__entry->rate_Bps = v->rate_Bps;
		__entry->target_Bps = v->target_Bps;
		__entry->alpha = mul_u64_u64_shr(dcqcn_alpha(v, p, tcp_sk(sk)->tcp_clock_cache),
						 1000, DCQCN_SHIFT);
		__entry->timer_stage = v->timer_stage;
		__entry->byte_stage = v->byte_stage;
		__entry->cause = cause;
	),

	TP_printk("src=%pISpc dst=%pISpc rate_Bps=%llu target_Bps=%llu alpha=%u timer_stage=%u byte_stage=%u cause=%s",
		  __entry->saddr, __entry->daddr, __entry->rate_Bps, __entry->target_Bps,
		  __entry->alpha, __entry->timer_stage, __entry->byte_stage,
		  dcqcn_show_cause(__entry->cause))
);

/* A receiver sends a CNP, wait_ns after its previous one; 0: the first one */
TRACE_EVENT(dcqcn_cnp,

	TP_PROTO(const struct sock *sk, u64 wait_ns),

	TP_ARGS(sk, wait_ns),

	TP_STRUCT__entry(
		__array(__u8, saddr, sizeof(struct sockaddr_in6))
		__array(__u8, daddr, sizeof(struct sockaddr_in6))
		__field(__u64, wait_ns)
	),

	TP_fast_assign(
		CLOSNET_CC_STORE_ADDRS(sk);
		__entry->wait_ns = wait_ns;
	),

	TP_printk("src=%pISpc dst=%pISpc wait_ns=%llu",
		  __entry->saddr, __entry->daddr, __entry->wait_ns)
);

#endif /* _DCQCN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE dcqcn_trace
#include <trace/define_trace.h>
