/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of closfab. Their fields stay as they are: programs read them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM closfab

#if !defined(_CLOSNET_FAB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _CLOSNET_FAB_TRACE_H

#include <linux/tracepoint.h>
#include "fab.h"

DECLARE_EVENT_CLASS(fab_packet,

	TP_PROTO(const struct fab_dev *fab, const struct fab_header *h, u32 len, u32 held),

	TP_ARGS(fab, h, len, held),

	TP_STRUCT__entry(
		__field(__u32, ifindex)
		__field(__u32, cookie)
		__field(__u32, number)
		__field(__u32, len)
		__field(__u32, held)
		__field(__u16, path)
		__field(__u16, epoch)
		__field(__u8, op)
		__field(__u8, flags)
	),

	TP_fast_assign(
		__entry->ifindex = fab->dev->ifindex;
		__entry->cookie = h->cookie;
		__entry->number = h->seq;
		__entry->len = len;
		__entry->held = held;
		__entry->path = h->path;
		__entry->epoch = h->epoch;
		__entry->op = h->op;
		__entry->flags = h->flags;
	),

	TP_printk("ifindex=%u op=%u flags=%02x cookie=%08x number=%u epoch=%u path=%04x len=%u held=%u",
		  __entry->ifindex, __entry->op, __entry->flags, __entry->cookie, __entry->number,
		  __entry->epoch, __entry->path, __entry->len, __entry->held)
);

/* A packet is sent, data or control. number: sequence number, or ConWeave's tail_us; held: 0 */
DEFINE_EVENT(fab_packet, fab_send,
	TP_PROTO(const struct fab_dev *fab, const struct fab_header *h, u32 len, u32 held),
	TP_ARGS(fab, h, len, held));

/* Data or a control packet has arrived. held: bytes that the device holds before it */
DEFINE_EVENT(fab_packet, fab_receive,
	TP_PROTO(const struct fab_dev *fab, const struct fab_header *h, u32 len, u32 held),
	TP_ARGS(fab, h, len, held));

/* Packets have waited long enough. weave: a FIFO of ConWeave, otherwise for a missing number */
TRACE_EVENT(fab_wait_over,

	TP_PROTO(const struct fab_dev *fab, u32 bucket, bool weave, u32 next, u32 held,
		 u32 skew_ns),

	TP_ARGS(fab, bucket, weave, next, held, skew_ns),

	TP_STRUCT__entry(
		__field(__u32, ifindex)
		__field(__u32, bucket)
		__field(__u32, next)
		__field(__u32, held)
		__field(__u32, skew_ns)
		__field(__u8, weave)
	),

	TP_fast_assign(
		__entry->ifindex = fab->dev->ifindex;
		__entry->bucket = bucket;
		__entry->next = next;
		__entry->held = held;
		__entry->skew_ns = skew_ns;
		__entry->weave = weave;
	),

	TP_printk("ifindex=%u bucket=%u weave=%u next=%u held=%u skew_ns=%u",
		  __entry->ifindex, __entry->bucket, __entry->weave, __entry->next, __entry->held,
		  __entry->skew_ns)
);

#endif /* _CLOSNET_FAB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fab_trace
#include <trace/define_trace.h>
