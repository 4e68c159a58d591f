/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of sch_voq. Programs read them; the fields do not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM voq

#if !defined(_CLOSNET_VOQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _CLOSNET_VOQ_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include "voq_wire.h"

TRACE_DEFINE_ENUM(VOQ_REQUEST);
TRACE_DEFINE_ENUM(VOQ_GRANT);
TRACE_DEFINE_ENUM(VOQ_REFUSE);

#define voq_show_op(op)						\
	__print_symbolic(op,					\
			 { VOQ_REQUEST, "request" },		\
			 { VOQ_GRANT, "grant" },		\
			 { VOQ_REFUSE, "refuse" })

DECLARE_EVENT_CLASS(voq_message,

	TP_PROTO(const struct in6_addr *peer, const struct voq_msg *m),

	TP_ARGS(peer, m),

	TP_STRUCT__entry(
		__array(__u8, peer, sizeof(struct in6_addr))
		__field(__u8, op)
		__field(__u8, retry)
		__field(__u32, id)
		__field(__u32, cookie)
		__field(__u64, queued)
		__field(__u64, granted)
		__field(__u64, sent)
	),

	TP_fast_assign(
		memcpy(__entry->peer, peer, sizeof(struct in6_addr));
		__entry->op = m->op;
		__entry->retry = m->retry;
		__entry->id = m->id;
		__entry->cookie = m->cookie;
		__entry->queued = m->queued;
		__entry->granted = m->granted;
		__entry->sent = m->sent;
	),

	TP_printk("peer=%pI6c op=%s retry=%u id=%u cookie=%u queued=%llu granted=%llu sent=%llu",
		  __entry->peer, voq_show_op(__entry->op), __entry->retry, __entry->id,
		  __entry->cookie, __entry->queued, __entry->granted, __entry->sent)
);

/* A message to peer is sent. */
DEFINE_EVENT(voq_message, voq_send,
	TP_PROTO(const struct in6_addr *peer, const struct voq_msg *m),
	TP_ARGS(peer, m)
);

/* An acceptable message from peer was received. */
DEFINE_EVENT(voq_message, voq_receive,
	TP_PROTO(const struct in6_addr *peer, const struct voq_msg *m),
	TP_ARGS(peer, m)
);

#endif /* _CLOSNET_VOQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE voq_trace
#include <trace/define_trace.h>
