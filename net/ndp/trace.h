/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of the NDP transport. Programs read their fields, which must not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ndp

#if !defined(_NDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NDP_TRACE_H

#include <linux/tracepoint.h>
#include "ndp.h"

TRACE_DEFINE_ENUM(NDP_DATA);
TRACE_DEFINE_ENUM(NDP_CONTROL);
TRACE_DEFINE_ENUM(NDP_PROBE);
TRACE_DEFINE_ENUM(NDP_ERROR);
TRACE_DEFINE_ENUM(NDP_COOKIE);

#define ndp_show_type(type)				\
	__print_symbolic(type,				\
			 { NDP_DATA, "data" },		\
			 { NDP_CONTROL, "control" },	\
			 { NDP_PROBE, "probe" },	\
			 { NDP_ERROR, "error" },	\
			 { NDP_COOKIE, "cookie" })

/*
 * A header. here: bytes of payload that are present; base: base or ack_base; pull: pull_target or
 * pull; msg: msg_id; ds: DSCP and ECN bits of the packet; control: the packet in question's.
 * Fields that a type lacks are 0.
 */
DECLARE_EVENT_CLASS(ndp_packet,

	TP_PROTO(const struct ndp_addrs *addrs, const struct ndp_hdr *h, u8 dsfield),

	TP_ARGS(addrs, h, dsfield),

	TP_STRUCT__entry(
		__array(__u8, local, 16)
		__array(__u8, remote, 16)
		__field(__u8, type)
		__field(__u8, flags)
		__field(__u8, path)
		__field(__u8, try_no)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u16, len)
		__field(__u16, here)
		__field(__u32, flow)
		__field(__u32, seq)
		__field(__u32, base)
		__field(__u32, pull)
		__field(__u32, msg)
		__field(__u64, offset)
		__field(__u8, dsfield)
	),

	TP_fast_assign(
		bool up = h->type == NDP_DATA || h->type == NDP_PROBE;
		bool ctl = h->type == NDP_CONTROL;

		memcpy(__entry->local, &addrs->local, sizeof(addrs->local));
		memcpy(__entry->remote, &addrs->remote, sizeof(addrs->remote));
		__entry->type = h->type;
		__entry->flags = h->flags;
		__entry->path = h->path;
		__entry->try_no = h->try_no;
		__entry->sport = h->sport;
		__entry->dport = h->dport;
		__entry->len = h->payload_len;
		__entry->here = h->here;
		__entry->flow = h->flow_id;
		__entry->seq = h->seq;
		__entry->base = up ? h->data.base : ctl ? h->ctl.ack_base : 0;
		__entry->pull = up ? h->data.pull_target : ctl ? h->ctl.pull : 0;
		__entry->msg = up ? h->data.msg_id : h->type == NDP_ERROR ? h->err.msg_id : 0;
		__entry->offset = up ? h->data.offset : 0;
		__entry->dsfield = ctl ? h->ctl.dsfield : dsfield;
	),

	TP_printk("local=%pI6c remote=%pI6c sport=%u dport=%u type=%s flags=0x%x flow=0x%08x seq=%u path=%u try=%u len=%u here=%u base=%u pull=%u msg=%u offset=%llu ds=0x%02x",
		  __entry->local, __entry->remote, __entry->sport, __entry->dport,
		  ndp_show_type(__entry->type), __entry->flags, __entry->flow, __entry->seq,
		  __entry->path, __entry->try_no, __entry->len, __entry->here, __entry->base,
		  __entry->pull, __entry->msg, __entry->offset, __entry->dsfield)
);

/* A packet is passed to IP. */
DEFINE_EVENT(ndp_packet, ndp_sent,

	TP_PROTO(const struct ndp_addrs *addrs, const struct ndp_hdr *h, u8 dsfield),

	TP_ARGS(addrs, h, dsfield)
);

/* A valid packet arrived; a returned one has the ports with which it was sent. */
DEFINE_EVENT(ndp_packet, ndp_came,

	TP_PROTO(const struct ndp_addrs *addrs, const struct ndp_hdr *h, u8 dsfield),

	TP_ARGS(addrs, h, dsfield)
);

/* The pacer pulls a flow; granted and target: pulls and demand, cumulative. */
TRACE_EVENT(ndp_pull,

	TP_PROTO(const struct ndp_pacer *pacer, const struct ndp_rx *rx),

	TP_ARGS(pacer, rx),

	TP_STRUCT__entry(
		__array(__u8, remote, 16)
		__field(__u32, flow)
		__field(__u32, granted)
		__field(__u32, target)
		__field(__u32, queued)
		__field(int, ifindex)
	),

	TP_fast_assign(
		memcpy(__entry->remote, &rx->key.addrs.remote, sizeof(struct in6_addr));
		__entry->flow = rx->key.flow_id;
		__entry->granted = rx->f.pull.granted;
		__entry->target = rx->f.pull.target;
		__entry->queued = pacer->q.queued;
		__entry->ifindex = pacer->ifindex;
	),

	TP_printk("remote=%pI6c flow=0x%08x granted=%u target=%u queued=%u ifindex=%d",
		  __entry->remote, __entry->flow, __entry->granted, __entry->target,
		  __entry->queued, __entry->ifindex)
);

/* A packet timed out; rto: the next timeout */
TRACE_EVENT(ndp_timeout,

	TP_PROTO(const struct ndp_tx *tx, u8 path),

	TP_ARGS(tx, path),

	TP_STRUCT__entry(
		__array(__u8, remote, 16)
		__field(__u32, flow)
		__field(__u32, rto_ns)
		__field(__u8, path)
	),

	TP_fast_assign(
		memcpy(__entry->remote, &tx->to.addrs.remote, sizeof(struct in6_addr));
		__entry->flow = tx->flow_id;
		__entry->rto_ns = tx->f.rto_ns;
		__entry->path = path;
	),

	TP_printk("remote=%pI6c flow=0x%08x path=%u rto_ns=%u",
		  __entry->remote, __entry->flow, __entry->path, __entry->rto_ns)
);

/* A message was acknowledged or has failed; no: 0 if sendmsg() still copied it */
TRACE_EVENT(ndp_msg_ended,

	TP_PROTO(const struct ndp_tx *tx, const struct ndp_msg *m),

	TP_ARGS(tx, m),

	TP_STRUCT__entry(
		__array(__u8, remote, 16)
		__field(__u64, no)
		__field(__u64, len)
		__field(__u32, flow)
		__field(__u32, msg)
		__field(__u16, sport)
		__field(__u16, dport)
		__field(__u8, prio)
		__field(__u8, error)
	),

	TP_fast_assign(
		memcpy(__entry->remote, &tx->to.addrs.remote, sizeof(struct in6_addr));
		__entry->no = m->no;
		__entry->len = m->core.len;
		__entry->flow = tx->flow_id;
		__entry->msg = m->core.id;
		__entry->sport = tx->f.sport;
		__entry->dport = tx->f.dport;
		__entry->prio = m->core.prio;
		__entry->error = m->core.error;
	),

	TP_printk("remote=%pI6c sport=%u dport=%u flow=0x%08x msg=%u no=%llu len=%llu prio=%u error=%u",
		  __entry->remote, __entry->sport, __entry->dport, __entry->flow, __entry->msg,
		  __entry->no, __entry->len, __entry->prio, __entry->error)
);

#endif /* _NDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
