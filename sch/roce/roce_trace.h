/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of sch_roce. Programs read them; the fields do not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM roce

#if !defined(_CLOSNET_ROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _CLOSNET_ROCE_TRACE_H

#include <linux/tracepoint.h>
#include <closnet/dcqcn.h>
#include "roce_pkt.h"
#include "roce_rp.h"

TRACE_DEFINE_ENUM(DCQCN_FAST);
TRACE_DEFINE_ENUM(DCQCN_ADDITIVE);
TRACE_DEFINE_ENUM(DCQCN_HYPER);
TRACE_DEFINE_ENUM(DCQCN_CNP);

#define roce_show_cause(cause)					\
	__print_symbolic(cause,					\
			 { DCQCN_FAST, "fast" },		\
			 { DCQCN_ADDITIVE, "additive" },	\
			 { DCQCN_HYPER, "hyper" },		\
			 { DCQCN_CNP, "cnp" })

/* New rate of a queue pair; alpha is in thousandths. */
TRACE_EVENT(roce_rate,

	TP_PROTO(const struct roce_qp *qp, const struct dcqcn_params *p, u64 now_ns, u8 cause),

	TP_ARGS(qp, p, now_ns, cause),

	TP_STRUCT__entry(
		__array(__u8, src, sizeof(struct roce_addr))
		__array(__u8, dst, sizeof(struct roce_addr))
		__field(__u32, qpn)
		__field(__u64, rate_Bps)
		__field(__u64, target_Bps)
		__field(__u32, alpha)
		__field(__u8, timer_stage)
		__field(__u8, byte_stage)
		__field(__u8, cause)
	),

	TP_fast_assign(
		memcpy(__entry->src, qp->key.src.b, sizeof(struct roce_addr));
		memcpy(__entry->dst, qp->key.dst.b, sizeof(struct roce_addr));
		__entry->qpn = qp->key.qpn;
		__entry->rate_Bps = qp->dcqcn.rate_Bps;
		__entry->target_Bps = qp->dcqcn.target_Bps;
		__entry->alpha = mul_u64_u64_shr(dcqcn_alpha(&qp->dcqcn, p, now_ns), 1000,
						 DCQCN_SHIFT);
		__entry->timer_stage = qp->dcqcn.timer_stage;
		__entry->byte_stage = qp->dcqcn.byte_stage;
		__entry->cause = cause;
	),

	TP_printk("src=%pI6c dst=%pI6c qpn=%u rate_Bps=%llu target_Bps=%llu alpha=%u timer_stage=%u byte_stage=%u cause=%s",
		  __entry->src, __entry->dst, __entry->qpn, __entry->rate_Bps,
		  __entry->target_Bps, __entry->alpha, __entry->timer_stage,
		  __entry->byte_stage, roce_show_cause(__entry->cause))
);

/* A CNP to queue pair qpn at dst is sent. */
TRACE_EVENT(roce_cnp_sent,

	TP_PROTO(const struct roce_key *cnp),

	TP_ARGS(cnp),

	TP_STRUCT__entry(
		__array(__u8, src, sizeof(struct roce_addr))
		__array(__u8, dst, sizeof(struct roce_addr))
		__field(__u32, qpn)
	),

	TP_fast_assign(
		memcpy(__entry->src, cnp->src.b, sizeof(struct roce_addr));
		memcpy(__entry->dst, cnp->dst.b, sizeof(struct roce_addr));
		__entry->qpn = cnp->qpn;
	),

	TP_printk("src=%pI6c dst=%pI6c qpn=%u", __entry->src, __entry->dst, __entry->qpn)
);

/* A CNP to queue pair qpn at dst was received; it is about data to queue pair data_qpn at src. */
TRACE_EVENT(roce_cnp_received,

	TP_PROTO(const struct roce_key *cnp, u32 data_qpn),

	TP_ARGS(cnp, data_qpn),

	TP_STRUCT__entry(
		__array(__u8, src, sizeof(struct roce_addr))
		__array(__u8, dst, sizeof(struct roce_addr))
		__field(__u32, qpn)
		__field(__u32, data_qpn)
	),

	TP_fast_assign(
		memcpy(__entry->src, cnp->src.b, sizeof(struct roce_addr));
		memcpy(__entry->dst, cnp->dst.b, sizeof(struct roce_addr));
		__entry->qpn = cnp->qpn;
		__entry->data_qpn = data_qpn;
	),

	TP_printk("src=%pI6c dst=%pI6c qpn=%u data_qpn=%u",
		  __entry->src, __entry->dst, __entry->qpn, __entry->data_qpn)
);

#endif /* _CLOSNET_ROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE roce_trace
#include <trace/define_trace.h>
