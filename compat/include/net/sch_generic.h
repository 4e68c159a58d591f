/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_SCH_GENERIC_H
#define _CLOSNET_COMPAT_NET_SCH_GENERIC_H

#include_next <net/sch_generic.h>

/* qdisc_drop_reason(): not in 6.1; 6.12 uses skb drop reasons, 7.x reasons of its own. */
#ifndef CLOSNET_HAVE_ENUM_QDISC_DROP_REASON
#define QDISC_DROP_OVERLIMIT	SKB_DROP_REASON_QDISC_DROP
#endif
#ifndef CLOSNET_HAVE_QDISC_DROP_REASON
#define qdisc_drop_reason(skb, sch, to_free, reason) \
	((void)(reason), qdisc_drop(skb, sch, to_free))
#endif

/* qdisc_qlen_inc() and qdisc_qlen_dec() are new in 7.x. */
#ifndef CLOSNET_HAVE_QDISC_QLEN_INC
static inline void qdisc_qlen_inc(struct Qdisc *sch)
{
	WRITE_ONCE(sch->q.qlen, sch->q.qlen + 1);
}

static inline void qdisc_qlen_dec(struct Qdisc *sch)
{
	WRITE_ONCE(sch->q.qlen, sch->q.qlen - 1);
}
#endif

/* Number of packets in an skb; 7.x stores it beside pkt_len. */
static inline void closnet_set_pkt_segs(struct sk_buff *skb, u16 segs)
{
#ifdef CLOSNET_HAVE_QDISC_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = segs;
#endif
}

#endif /* _CLOSNET_COMPAT_NET_SCH_GENERIC_H */
