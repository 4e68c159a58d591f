// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of sch_roce
 */
#include <net/gen_stats.h>
#include <net/pkt_sched.h>
#include "roce.h"

#define ROCE_PUT_QUEUE(skb, name, val)						\
	nla_put_u64_64bit(skb, TCA_ROCE_STATS_QUEUE_##name, READ_ONCE(val),	\
			  TCA_ROCE_STATS_QUEUE_PAD)

static int roce_dump_queue(struct sk_buff *skb, int attr, const struct roce_queue *queue)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    ROCE_PUT_QUEUE(skb, QLEN_PACKETS, queue->packets) ||
	    ROCE_PUT_QUEUE(skb, BACKLOG_BYTES, queue->bytes) ||
	    ROCE_PUT_QUEUE(skb, SENT_PACKETS, queue->sent_packets) ||
	    ROCE_PUT_QUEUE(skb, SENT_BYTES, queue->sent_bytes))
		return -EMSGSIZE;	/* the caller cancels the outer nest */
	nla_nest_end(skb, nest);
	return 0;
}

#define ROCE_PUT_STAT(skb, name, val)					\
	nla_put_u64_64bit(skb, TCA_ROCE_STATS_##name, val, TCA_ROCE_STATS_PAD)

static int roce_dump_port(struct sk_buff *skb, const struct roce_sched_data *q)
{
	const struct roce_stats *s = &q->stats;
	struct roce_port_stats p;

	roce_port_get_stats(q->port, &p);
	if (ROCE_PUT_STAT(skb, FLOWS, p.flows) ||
	    ROCE_PUT_STAT(skb, RP_CNP_IGNORED, p.cnp_ignored + READ_ONCE(s->rp_cnp_ignored)) ||
	    ROCE_PUT_STAT(skb, RP_CNP_UNMATCHED, p.cnp_unmatched) ||
	    ROCE_PUT_STAT(skb, RP_CNP_MALFORMED, p.cnp_malformed) ||
	    ROCE_PUT_STAT(skb, NP_ECN_MARKED_ROCE_PACKETS, p.marked_packets) ||
	    ROCE_PUT_STAT(skb, NP_CNP_SENT, p.cnp_sent) ||
	    ROCE_PUT_STAT(skb, NP_UNPAIRED_PACKETS, p.unpaired_packets) ||
	    ROCE_PUT_STAT(skb, NOMEM_PACKETS, p.nomem_packets + READ_ONCE(s->nomem_packets)))
		return -EMSGSIZE;
	return 0;
}

/* Count queue pairs below the line rate, without the root lock. Bounded by qps. */
static u64 roce_count_limited(const struct roce_sched_data *q)
{
	const struct roce_qp *qp;
	u64 count = 0;

	for (qp = q->rp.qp; qp < q->rp.qp + q->rp.slots; qp++)
		count += READ_ONCE(qp->used) &&
			 READ_ONCE(qp->dcqcn.rate_Bps) < q->rp.limits.max_Bps;
	return count;
}

static int roce_dump_qdisc(struct sk_buff *skb, const struct roce_sched_data *q)
{
	const struct roce_stats *s = &q->stats;

	if (ROCE_PUT_STAT(skb, QPS, READ_ONCE(q->rp.count)) ||
	    ROCE_PUT_STAT(skb, QPS_LIMITED, roce_count_limited(q)) ||
	    ROCE_PUT_STAT(skb, ECT_SET_PACKETS, READ_ONCE(s->ect_set_packets)) ||
	    ROCE_PUT_STAT(skb, OVERFLOW_PACKETS, READ_ONCE(s->overflow_packets)) ||
	    ROCE_PUT_STAT(skb, RP_CNP_HANDLED, READ_ONCE(s->rp_cnp_handled)) ||
	    ROCE_PUT_STAT(skb, DROPPED_LIMIT_PACKETS, READ_ONCE(s->dropped_limit_packets)) ||
	    ROCE_PUT_STAT(skb, DROPPED_QP_PACKETS, READ_ONCE(s->dropped_qp_packets)) ||
	    ROCE_PUT_STAT(skb, DROPPED_OTHER_PACKETS, READ_ONCE(s->dropped_other_packets)) ||
	    ROCE_PUT_STAT(skb, DROPPED_GSO_PACKETS, READ_ONCE(s->dropped_gso_packets)) ||
	    ROCE_PUT_STAT(skb, DROPPED_CNP_PACKETS, READ_ONCE(s->dropped_cnp_packets)))
		return -EMSGSIZE;
	return 0;
}

/**
 * roce_dump_stats() - put the statistics into a message
 * @sch: the qdisc
 * @d: message
 *
 * Return: 0 or -EMSGSIZE.
 */
int roce_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);	/* as other qdiscs do */
	if (!nest)
		return -EMSGSIZE;
	if (roce_dump_queue(d->skb, TCA_ROCE_STATS_ROCE, &q->queue[ROCE_QUEUE_QP]) ||
	    roce_dump_queue(d->skb, TCA_ROCE_STATS_CNP, &q->queue[ROCE_QUEUE_CNP]) ||
	    roce_dump_queue(d->skb, TCA_ROCE_STATS_OTHER, &q->queue[ROCE_QUEUE_OTHER]) ||
	    roce_dump_qdisc(d->skb, q) || roce_dump_port(d->skb, q)) {
		nla_nest_cancel(d->skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}
