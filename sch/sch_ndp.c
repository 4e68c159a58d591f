// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_ndp: the NDP switch queue as a qdisc
 *
 * For the egress port of a Linux switch (router or bridge), or of a host. When
 * the short data queue is full, a packet loses its payload and not its life:
 * its header overtakes the data and tells the receiver at once what to ask for
 * again. NDP here is the transport of SIGCOMM 2017, not IPv6's Neighbour
 * Discovery.
 *
 *	enqueue(): classify by UDP port, DSCP or all (ndp_pkt_core.h). NDP's GSO
 *	  packets are segmented: a switch queues frames. Data goes to the data
 *	  queue; if that is full, a fair coin says which packet is trimmed, the
 *	  arrival or the queue's tail. Headers go to the header queue; if that
 *	  is full, a trimmed packet goes back to its sender, once. All else
 *	  goes to a FIFO of its own.
 *
 *	dequeue(): deficit round robin between NDP and the rest; 10 headers for
 *	  1 data packet while both wait; paced to `rate` on devices that do not
 *	  push back (veth).
 *
 * The decisions, their picture and the paper's sections are in ndp_queue.h,
 * what happens to a packet's bytes in ndp_pkt_core.h. This file is the rest:
 * skbs, accounting, netlink.
 *
 * Accounting. A parent adds one packet of the length that it saw to its own
 * qlen and backlog, if enqueue() returns success, whatever became of it here.
 * So ndp_enqueue() compares what changed in this qdisc with what the parents
 * will believe, and tells them the difference; no other place has to care.
 *
 * Returning to the sender. The header turns round at each layer and enters the
 * stack where the port receives (netif_rx), like a packet from the receiver:
 * routing or the bridge brings it home. The root lock is held, so there is no
 * transmitting from here.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik: "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, sections 3.1, 3.2.4, 4.
 * For mode cp: P. Cheng et al.: "Catch the whole lot in an action: rapid
 * precise packet loss notification in data centers", NSDI 2014.
 *
 * Differences from the paper: see ndp_queue.h, and:
 * - Lengths, header checksum and DSCP of a trimmed packet are made right, as
 *   today's trimming switches do; the paper's P4 switch set a fixed length.
 * - A return is marked by a DSCP of its own, since this qdisc trims any
 *   protocol and cannot count on a flag in NDP's header.
 * - A packet that a parent (tbf) has peeked at is out of the data queue, like
 *   the packet in service in a real port.
 */

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/stringify.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include <closnet/netlink.h>
#include "ndp_pkt_core.h"
#include "ndp_queue.h"

/**
 * struct ndp_config - all that netlink sets
 * @params: the queues
 * @match: the classifier
 * @rate_Bps: built-in shaper, bytes per second; 0: none
 * @overhead_bytes: what the shaper adds to each packet
 * @hlimit_set: hlimit was given; else it follows the data queue's memory
 * @other_limit_set: other_limit was given; else it follows the MTU
 */
struct ndp_config {
	struct ndp_params params;
	struct ndp_match match;
	u64 rate_Bps;
	u16 overhead_bytes;
	bool hlimit_set;
	bool other_limit_set;
};

/* Counters of struct tc_ndp_xstats that are not a queue's */
struct ndp_stats {
	u64 trimmed_arrival_packets;
	u64 trimmed_tail_packets;
	u64 trimmed_bytes;
	u64 returned_packets;
	u64 ecn_marked_packets;
	u64 dropped_data_packets;
	u64 dropped_header_packets;
	u64 dropped_returned_packets;
	u64 dropped_other_packets;
	u64 dropped_nomem_packets;
};

/* All under the root lock; the dump reads without it. */
struct ndp_sched_data {
	/* read for each packet */
	struct ndp_config cfg;
	struct psched_ratecfg rate;
	u32 l3_off;		/* where the L3 header is: 14, or 0 without L2 */

	/* written for each packet */
	struct ndp_vars vars;
	struct sk_buff_head queue[NDP_QUEUES];
	u64 time_next_ns;	/* with a rate: earliest next departure */
	u32 coins;		/* unused random bits, below a sentinel 1 */

	/* cold */
	struct ndp_stats stats;
	struct qdisc_watchdog watchdog;
};

/**
 * struct ndp_skb_cb - what classification found, for the time in the queue
 * @pkt: where the headers are; unset for NDP_KIND_OTHER
 * @kind: enum ndp_kind
 */
struct ndp_skb_cb {
	struct ndp_pkt pkt;
	u8 kind;
};

static struct ndp_skb_cb *ndp_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ndp_skb_cb));
	return (struct ndp_skb_cb *)qdisc_skb_cb(skb)->data;
}

#define ndp_count(counter) WRITE_ONCE(counter, (counter) + 1)

/* A fair coin: one random word serves 31 tosses. */
static bool ndp_toss(struct ndp_sched_data *q)
{
	bool coin;

	if (q->coins <= 1)
		q->coins = get_random_u32() | BIT(31);
	coin = q->coins & 1;
	q->coins >>= 1;
	return coin;
}

/* Bytes of the frame that are not in the skb's data */
static u32 ndp_tag_len(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
}

static bool ndp_classify_linear(const struct ndp_sched_data *q, struct sk_buff *skb)
{
	struct ndp_skb_cb *cb = ndp_skb_cb(skb);
	enum ndp_kind kind;

	if (!ndp_pkt_classify(&q->cfg.match, skb->data, skb_headlen(skb), q->l3_off,
			      ntohs(skb->protocol), skb->len, ndp_tag_len(skb),
			      &cb->pkt, &kind))
		return false;
	cb->kind = kind;
	return true;
}

/*
 * Headers that lie in fragments are pulled only if they decide; then as many
 * bytes as hold every usual stack of headers. What they cannot tell is not
 * NDP's.
 */
static void ndp_classify(const struct ndp_sched_data *q, struct sk_buff *skb)
{
	u32 pull = min_t(u32, skb->len, 128);

	if (likely(ndp_classify_linear(q, skb)))
		return;
	if (skb_headlen(skb) < pull && pskb_may_pull(skb, pull) &&
	    ndp_classify_linear(q, skb))
		return;
	ndp_skb_cb(skb)->kind = NDP_KIND_OTHER;
}

static void ndp_push(struct Qdisc *sch, struct sk_buff *skb)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_kind kind = ndp_skb_cb(skb)->kind;

	__skb_queue_tail(&q->queue[ndp_list_of(&q->cfg.params, kind)], skb);
	ndp_count_in(&q->vars, ndp_queue_of(kind), qdisc_pkt_len(skb));
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

/* The newest packet of a queue; neither sent nor, as yet, dropped */
static struct sk_buff *ndp_pop_tail(struct Qdisc *sch, enum ndp_queue_id list)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue_tail(&q->queue[list]);

	ndp_count_out(&q->vars, ndp_queue_of(ndp_skb_cb(skb)->kind), qdisc_pkt_len(skb));
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	return skb;
}

/* For want of room in its queue */
static int ndp_drop_full(struct Qdisc *sch, struct sk_buff *skb,
			 struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	switch (ndp_skb_cb(skb)->kind) {
	case NDP_KIND_DATA:
		ndp_count(q->stats.dropped_data_packets);
		break;
	case NDP_KIND_RETURNED:
		ndp_count(q->stats.dropped_returned_packets);
		break;
	case NDP_KIND_OTHER:
		ndp_count(q->stats.dropped_other_packets);
		break;
	default:
		ndp_count(q->stats.dropped_header_packets);
	}
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int ndp_drop_nomem(struct Qdisc *sch, struct sk_buff *skb,
			  struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	ndp_count(q->stats.dropped_nomem_packets);
	return qdisc_drop(skb, sch, to_free);
}

/*
 * Cuts a data packet, makes it a header, and counts it. It is no longer its
 * sender's: the socket gets its memory back, as it would from a real port. A
 * checksum that was left to the device covers the payload, and is computed
 * before that goes.
 *
 * Return: 0, or -ENOMEM: the packet can only be dropped.
 */
static int ndp_trim(struct ndp_sched_data *q, struct sk_buff *skb,
		    u64 *trimmed_packets)
{
	struct ndp_skb_cb *cb = ndp_skb_cb(skb);
	const struct ndp_match *match = &q->cfg.match;
	u32 keep = ndp_pkt_keep(match, &cb->pkt, skb->len, ndp_tag_len(skb));
	u32 cut = skb->len - keep;

	if (unlikely(!cut)) {	/* trim_size grew since, or there is no payload */
		cb->kind = NDP_KIND_CONTROL;
		return 0;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_csum_hwoffload_help(skb, 0))
		return -ENOMEM;
	skb_orphan(skb);
	if (skb_ensure_writable(skb, cb->pkt.l4_off + NDP_UDP_HLEN) ||
	    pskb_trim(skb, keep))
		return -ENOMEM;
	skb->ip_summed = CHECKSUM_NONE;
	cb->kind = ndp_pkt_trimmed(skb->data, &cb->pkt, keep, match);
	qdisc_skb_cb(skb)->pkt_len -= cut;
	ndp_count(*trimmed_packets);
	WRITE_ONCE(q->stats.trimmed_bytes, q->stats.trimmed_bytes + cut);
	return 0;
}

/* Back through the port's ingress. Return: NET_XMIT code; the skb is consumed. */
static int ndp_return_to_sender(struct Qdisc *sch, struct sk_buff *skb,
				struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct ndp_skb_cb *cb = ndp_skb_cb(skb);

	if (skb_ensure_writable(skb, cb->pkt.l4_off + NDP_UDP_HLEN))
		return ndp_drop_nomem(sch, skb, to_free);
	ndp_pkt_turn_round(skb->data, &cb->pkt, q->cfg.match.dscp_returned);
	skb_orphan(skb);
	skb_clear_hash(skb);
	skb_clear_tstamp(skb);
	skb_set_queue_mapping(skb, 0);
	skb->mark = 0;
	if (dev_forward_skb(qdisc_dev(sch), skb) != NET_RX_SUCCESS) {
		ndp_count(q->stats.dropped_header_packets);
		qdisc_qstats_drop(sch);
		return NET_XMIT_DROP;
	}
	ndp_count(q->stats.returned_packets);
	return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
}

static int ndp_enqueue_header(struct Qdisc *sch, struct sk_buff *skb,
			      struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_kind kind = ndp_skb_cb(skb)->kind;

	switch (ndp_header_verdict(&q->cfg.params, &q->vars, qdisc_pkt_len(skb), kind)) {
	case NDP_ACCEPT:
		ndp_push(sch, skb);
		return NET_XMIT_SUCCESS;
	case NDP_RETURN:
		if (q->l3_off && ndp_pkt_returnable(skb->data, &ndp_skb_cb(skb)->pkt))
			return ndp_return_to_sender(sch, skb, to_free);
		fallthrough;
	default:
		return ndp_drop_full(sch, skb, to_free);
	}
}

/* The tail becomes a header; the place is free whatever becomes of that. */
static void ndp_trim_tail(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *tail = ndp_pop_tail(sch, NDP_DATA);

	if (ndp_trim(q, tail, &q->stats.trimmed_tail_packets))
		ndp_drop_nomem(sch, tail, to_free);
	else
		ndp_enqueue_header(sch, tail, to_free);
}

static int ndp_enqueue_full(struct Qdisc *sch, struct sk_buff *skb,
			    struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *tail = skb_peek_tail(&q->queue[NDP_DATA]);

	switch (ndp_data_full(&q->cfg.params, &q->vars, qdisc_pkt_len(skb),
			      tail ? qdisc_pkt_len(tail) : 0, ndp_toss(q))) {
	case NDP_TRIM_TAIL:
		ndp_trim_tail(sch, to_free);
		ndp_push(sch, skb);
		return NET_XMIT_SUCCESS;
	case NDP_TRIM_ARRIVAL:
		if (ndp_trim(q, skb, &q->stats.trimmed_arrival_packets))
			return ndp_drop_nomem(sch, skb, to_free);
		return ndp_enqueue_header(sch, skb, to_free);
	default:
		return ndp_drop_full(sch, skb, to_free);
	}
}

static int ndp_enqueue_other(struct Qdisc *sch, struct sk_buff *skb,
			     struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	const struct ndp_params *p = &q->cfg.params;

	if (unlikely(!ndp_other_fits(p, &q->vars, qdisc_pkt_len(skb))))
		return ndp_drop_full(sch, skb, to_free);
	if (ndp_other_marks(p, &q->vars) && INET_ECN_set_ce(skb))
		ndp_count(q->stats.ecn_marked_packets);
	ndp_push(sch, skb);
	return NET_XMIT_SUCCESS;
}

/* A classified packet that is no GSO packet of NDP's */
static int ndp_enqueue_one(struct Qdisc *sch, struct sk_buff *skb,
			   struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	switch (ndp_skb_cb(skb)->kind) {
	case NDP_KIND_DATA:
		if (unlikely(!ndp_data_fits(&q->cfg.params, &q->vars, qdisc_pkt_len(skb))))
			return ndp_enqueue_full(sch, skb, to_free);
		ndp_push(sch, skb);
		return NET_XMIT_SUCCESS;
	case NDP_KIND_OTHER:
		return ndp_enqueue_other(sch, skb, to_free);
	default:
		return ndp_enqueue_header(sch, skb, to_free);
	}
}

/*
 * A switch queues frames, and only a frame can be trimmed. One segment that is
 * queued makes a success of all, as in sch_tbf; without any, one that went
 * home makes it no drop.
 */
static int ndp_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
			   struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *segs, *next;
	int best = NET_XMIT_DROP;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return ndp_drop_nomem(sch, skb, to_free);
	skb_list_walk_safe(segs, segs, next) {
		int ret;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = segs->len;
		ndp_classify(q, segs);
		ret = ndp_enqueue_one(sch, segs, to_free);
		if (ret == NET_XMIT_SUCCESS || best == NET_XMIT_DROP)
			best = ret;
	}
	consume_skb(skb);
	return best;
}

static int ndp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	u32 len = qdisc_pkt_len(skb);
	int ret;

	if (q->cfg.rate_Bps && !qlen)
		q->time_next_ns = max(q->time_next_ns, ktime_get_ns());

	ndp_classify(q, skb);
	if (skb_is_gso(skb) && ndp_skb_cb(skb)->kind != NDP_KIND_OTHER)
		ret = ndp_enqueue_gso(sch, skb, to_free);
	else
		ret = ndp_enqueue_one(sch, skb, to_free);

	/* what the parents will add by themselves */
	if (ret == NET_XMIT_SUCCESS) {
		qlen++;
		backlog += len;
	}
	if (qlen != sch->q.qlen || backlog != sch->qstats.backlog)
		qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
					  backlog - sch->qstats.backlog);
	return ret;
}

static struct sk_buff *ndp_dequeue(struct Qdisc *sch)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_queue_id list = ndp_pick(&q->cfg.params, &q->vars);
	struct sk_buff *skb;
	u32 len;

	if (list == NDP_QUEUES)
		return NULL;
	if (q->cfg.rate_Bps && ktime_get_ns() < q->time_next_ns) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, q->time_next_ns);
		return NULL;
	}
	skb = __skb_dequeue(&q->queue[list]);
	len = qdisc_pkt_len(skb);
	ndp_sent(&q->vars, ndp_queue_of(ndp_skb_cb(skb)->kind), len);
	if (q->cfg.rate_Bps)
		q->time_next_ns += psched_l2t_ns(&q->rate, len);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ndp_reset(struct Qdisc *sch)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	int i;

	qdisc_watchdog_cancel(&q->watchdog);
	for (i = 0; i < NDP_QUEUES; i++) {
		__skb_queue_purge(&q->queue[i]);
		WRITE_ONCE(q->vars.q[i].packets, 0);
		WRITE_ONCE(q->vars.q[i].bytes, 0);
	}
	q->vars.headers_run = 0;
	q->vars.other_ahead_bytes = 0;
	q->time_next_ns = 0;
}

/* The ranges: once for the policy, once for the message. */
#define NDP_LIMIT_MAX		65535
#define NDP_BYTES_MIN		64
#define NDP_BYTES_MAX		1073741824
#define NDP_RATIO_MAX		100000
#define NDP_TRIM_MAX		9216
#define NDP_DSCP_MAX		63
#define NDP_RATE_MIN		125
#define NDP_RATE_MAX		1099511627776
#define NDP_OVERHEAD_MAX	256

#define NDP_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

NDP_RANGE(ndp_limit_range, 1, NDP_LIMIT_MAX);
NDP_RANGE(ndp_bytes_range, NDP_BYTES_MIN, NDP_BYTES_MAX);
NDP_RANGE(ndp_opt_bytes_range, 0, NDP_BYTES_MAX);
NDP_RANGE(ndp_trim_range, NDP_BYTES_MIN, NDP_TRIM_MAX);
NDP_RANGE(ndp_ratio_range, 1, NDP_RATIO_MAX);
NDP_RANGE(ndp_rate_range, 0, NDP_RATE_MAX);

static const struct nla_policy ndp_policy[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_limit_range),
	[TCA_NDP_LIMIT_BYTES]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
	[TCA_NDP_HLIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_bytes_range),
	[TCA_NDP_RATIO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_ratio_range),
	[TCA_NDP_TRIM_SIZE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_trim_range),
	[TCA_NDP_MODE]		= NLA_POLICY_MAX(NLA_U8, TC_NDP_MODE_MAX),
	[TCA_NDP_MATCH]		= NLA_POLICY_MAX(NLA_U8, TC_NDP_MATCH_MAX),
	[TCA_NDP_DSCP_MASK]	= NLA_POLICY_MIN(NLA_U64, 1),
	[TCA_NDP_UDP_PORT]	= NLA_POLICY_MIN(NLA_U16, 1),
	[TCA_NDP_DSCP_TRIMMED]	= NLA_POLICY_MAX(NLA_U8, NDP_DSCP_MAX),
	[TCA_NDP_RTS]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_NDP_DSCP_RETURNED]	= NLA_POLICY_MAX(NLA_U8, NDP_DSCP_MAX),
	[TCA_NDP_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &ndp_rate_range),
	[TCA_NDP_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, NDP_OVERHEAD_MAX),
	[TCA_NDP_OTHER_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_bytes_range),
	[TCA_NDP_OTHER_ECN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
};

#define NDP_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define NDP_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)

static const char * const ndp_wanted[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= "limit" NDP_TO(1, NDP_LIMIT_MAX) " packets",
	[TCA_NDP_LIMIT_BYTES]	= "limit_bytes" NDP_0_OR(NDP_BYTES_MIN, NDP_BYTES_MAX),
	[TCA_NDP_HLIMIT]	= "hlimit" NDP_TO(NDP_BYTES_MIN, NDP_BYTES_MAX) " bytes",
	[TCA_NDP_RATIO]		= "ratio" NDP_TO(1, NDP_RATIO_MAX) " headers",
	[TCA_NDP_TRIM_SIZE]	= "trim_size" NDP_TO(NDP_BYTES_MIN, NDP_TRIM_MAX) " bytes",
	[TCA_NDP_MODE]		= "mode must be ndp, cp or droptail",
	[TCA_NDP_MATCH]		= "match must be udp_port, dscp or all",
	[TCA_NDP_DSCP_MASK]	= "match dscp must list at least one DSCP",
	[TCA_NDP_UDP_PORT]	= "match udp_port" NDP_TO(1, 65535),
	[TCA_NDP_DSCP_TRIMMED]	= "dscp_trimmed" NDP_TO(0, NDP_DSCP_MAX),
	[TCA_NDP_RTS]		= "rts" NDP_TO(0, 1),
	[TCA_NDP_DSCP_RETURNED]	= "dscp_returned" NDP_TO(0, NDP_DSCP_MAX),
	[TCA_NDP_RATE]		= "rate" NDP_0_OR(NDP_RATE_MIN, NDP_RATE_MAX) " bytes per second",
	[TCA_NDP_OVERHEAD]	= "overhead" NDP_TO(0, NDP_OVERHEAD_MAX) " bytes",
	[TCA_NDP_OTHER_LIMIT]	= "other_limit" NDP_TO(NDP_BYTES_MIN, NDP_BYTES_MAX) " bytes",
	[TCA_NDP_OTHER_ECN]	= "other_ecn" NDP_TO(0, NDP_BYTES_MAX) " bytes",
};

static void ndp_config_default(struct ndp_config *cfg)
{
	*cfg = (struct ndp_config) {
		.params = {
			.limit = 8,		/* section 3: 8 packets suffice */
			.ratio = 10,		/* section 3.1 */
			.mode = TC_NDP_MODE_NDP,
			.rts = true,		/* section 3.2.4 */
		},
		.match = {
			.trim_size = 128,	/* SAI's; holds IPv6, UDP, NDP */
			.mode = TC_NDP_MATCH_UDP_PORT, /* who knows NDP */
			.udp_port = NDP_UDP_PORT,
			.dscp_trimmed = 48,	/* SONiC's example: CS6 */
			.dscp_returned = 49,	/* next to it: same precedence */
		},
	};
}

/* The limits that were not given: section 3.1, equal memory for both queues */
static void ndp_config_derive(struct ndp_config *cfg, const struct net_device *dev)
{
	u64 frame = (u64)READ_ONCE(dev->mtu) + dev->hard_header_len;
	struct ndp_params *p = &cfg->params;

	if (!cfg->hlimit_set)
		p->hlimit = p->limit_bytes ?: clamp_t(u64, p->limit * frame,
						      NDP_BYTES_MIN, NDP_BYTES_MAX);
	if (!cfg->other_limit_set)	/* as many as pfifo holds */
		p->other_limit = clamp_t(u64, 1000 * frame,
					 NDP_BYTES_MIN, NDP_BYTES_MAX);
}

static void ndp_config_queues(struct ndp_params *p, struct ndp_config *cfg,
			      struct nlattr **tb)
{
	p->limit = nla_get_u32_default(tb[TCA_NDP_LIMIT], p->limit);
	p->limit_bytes = nla_get_u32_default(tb[TCA_NDP_LIMIT_BYTES], p->limit_bytes);
	p->hlimit = nla_get_u32_default(tb[TCA_NDP_HLIMIT], p->hlimit);
	cfg->hlimit_set |= !!tb[TCA_NDP_HLIMIT];
	p->ratio = nla_get_u32_default(tb[TCA_NDP_RATIO], p->ratio);
	p->mode = nla_get_u8_default(tb[TCA_NDP_MODE], p->mode);
	p->rts = nla_get_u8_default(tb[TCA_NDP_RTS], p->rts);
	p->other_limit = nla_get_u32_default(tb[TCA_NDP_OTHER_LIMIT], p->other_limit);
	cfg->other_limit_set |= !!tb[TCA_NDP_OTHER_LIMIT];
	p->other_ecn = nla_get_u32_default(tb[TCA_NDP_OTHER_ECN], p->other_ecn);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_NDP_RATE], cfg->rate_Bps);
	cfg->overhead_bytes = nla_get_u32_default(tb[TCA_NDP_OVERHEAD], cfg->overhead_bytes);
}

static void ndp_config_match(struct ndp_match *m, struct nlattr **tb)
{
	m->trim_size = nla_get_u32_default(tb[TCA_NDP_TRIM_SIZE], m->trim_size);
	m->mode = nla_get_u8_default(tb[TCA_NDP_MATCH], m->mode);
	m->dscp_mask = nla_get_u64_default(tb[TCA_NDP_DSCP_MASK], m->dscp_mask);
	m->udp_port = nla_get_u16_default(tb[TCA_NDP_UDP_PORT], m->udp_port);
	m->dscp_trimmed = nla_get_u8_default(tb[TCA_NDP_DSCP_TRIMMED], m->dscp_trimmed);
	m->dscp_returned = nla_get_u8_default(tb[TCA_NDP_DSCP_RETURNED], m->dscp_returned);
}

/* What the policy cannot say */
static int ndp_config_check(const struct ndp_config *cfg, struct nlattr **tb,
			    struct netlink_ext_ack *extack)
{
	const struct ndp_match *m = &cfg->match;
	u64 marks = BIT_ULL(m->dscp_trimmed) | BIT_ULL(m->dscp_returned);

	if (cfg->params.limit_bytes && cfg->params.limit_bytes < NDP_BYTES_MIN) {
		closnet_set_msg(extack, ndp_wanted[TCA_NDP_LIMIT_BYTES]);
		return -ERANGE;
	}
	if (cfg->rate_Bps && cfg->rate_Bps < NDP_RATE_MIN) {
		closnet_set_msg(extack, ndp_wanted[TCA_NDP_RATE]);
		return -ERANGE;
	}
	if (m->dscp_trimmed == m->dscp_returned) {
		NL_SET_ERR_MSG(extack, "dscp_trimmed and dscp_returned must differ");
		return -EINVAL;
	}
	if (tb[TCA_NDP_UDP_PORT] && m->mode != TC_NDP_MATCH_UDP_PORT) {
		NL_SET_ERR_MSG(extack, "a UDP port needs match udp_port");
		return -EINVAL;
	}
	if (m->mode != TC_NDP_MATCH_DSCP) {
		if (!tb[TCA_NDP_DSCP_MASK])
			return 0;
		NL_SET_ERR_MSG(extack, "a list of DSCPs needs match dscp");
		return -EINVAL;
	}
	if (!m->dscp_mask) {
		closnet_set_msg(extack, ndp_wanted[TCA_NDP_DSCP_MASK]);
		return -EINVAL;
	}
	if (m->dscp_mask & marks) {
		NL_SET_ERR_MSG(extack,
			       "match dscp must not list dscp_trimmed or dscp_returned");
		return -EINVAL;
	}
	return 0;
}

static int ndp_config_parse(struct ndp_config *cfg, struct nlattr *opt,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	int err;

	err = closnet_nla_parse_nested(tb, TCA_NDP_MAX, opt, ndp_policy, ndp_wanted,
				       extack);
	if (err)
		return err;
	ndp_config_queues(&cfg->params, cfg, tb);
	ndp_config_match(&cfg->match, tb);
	return ndp_config_check(cfg, tb, extack);
}

/* Between one FIFO (cp, droptail) and two queues (ndp), order kept */
static void ndp_requeue(struct ndp_sched_data *q)
{
	struct sk_buff_head all;
	struct sk_buff *skb;

	__skb_queue_head_init(&all);
	skb_queue_splice_tail_init(&q->queue[NDP_HEADER], &all);
	skb_queue_splice_tail_init(&q->queue[NDP_DATA], &all);
	while ((skb = __skb_dequeue(&all))) {
		enum ndp_queue_id list;

		list = ndp_list_of(&q->cfg.params, ndp_skb_cb(skb)->kind);
		__skb_queue_tail(&q->queue[list], skb);
	}
}

/* Does a list hold more than the configuration allows? */
static bool ndp_above_limit(const struct ndp_sched_data *q, enum ndp_queue_id list)
{
	const struct ndp_queue_vars *data = &q->vars.q[NDP_DATA];
	const struct ndp_queue_vars *header = &q->vars.q[NDP_HEADER];
	const struct ndp_params *p = &q->cfg.params;
	u32 packets = data->packets, bytes = data->bytes;

	if (list == NDP_OTHER)
		return q->vars.q[NDP_OTHER].bytes > p->other_limit;
	if (p->mode == TC_NDP_MODE_DROPTAIL) {
		packets += header->packets;
		bytes += header->bytes;
	} else if (list == NDP_HEADER || p->mode == TC_NDP_MODE_CP) {
		if (header->bytes > p->hlimit)
			return true;
	}
	return list == NDP_DATA &&
	       (packets > p->limit || (p->limit_bytes && bytes > p->limit_bytes));
}

/* Drops from the tails what the limits no longer allow. */
static void ndp_shrink(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	int list;

	for (list = 0; list < NDP_QUEUES; list++) {
		while (!skb_queue_empty(&q->queue[list]) && ndp_above_limit(q, list))
			ndp_drop_full(sch, ndp_pop_tail(sch, list), to_free);
	}
	qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
				  backlog - sch->qstats.backlog);
}

/* Under the root lock, or before anyone can see the qdisc */
static void ndp_apply(struct Qdisc *sch, const struct ndp_config *cfg)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct tc_ratespec spec = {
		.overhead = cfg->overhead_bytes,
		.linklayer = TC_LINKLAYER_ETHERNET,
	};
	bool requeue = q->cfg.params.mode != cfg->params.mode;

	q->cfg = *cfg;
	if (requeue)
		ndp_requeue(q);
	if (!cfg->rate_Bps)
		return;
	psched_ratecfg_precompute(&q->rate, &spec, cfg->rate_Bps);
	/* what was scheduled at the old rate may be far away */
	q->time_next_ns = ktime_get_ns();
}

static int ndp_change(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct ndp_config cfg = q->cfg;
	struct sk_buff *to_free = NULL;
	int err;

	err = ndp_config_parse(&cfg, opt, extack);
	if (err)
		return err;
	ndp_config_derive(&cfg, qdisc_dev(sch));

	sch_tree_lock(sch);
	ndp_apply(sch, &cfg);
	ndp_shrink(sch, &to_free);
	if (sch->q.qlen)	/* a watchdog may wait for the old rate */
		qdisc_watchdog_schedule_ns(&q->watchdog, ktime_get_ns());
	sch_tree_unlock(sch);
	kfree_skb_list(to_free);
	return 0;
}

static int ndp_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct ndp_config cfg;
	int i, err;

	/* first of all: destroy() follows an error */
	qdisc_watchdog_init(&q->watchdog, sch);
	for (i = 0; i < NDP_QUEUES; i++)
		__skb_queue_head_init(&q->queue[i]);
	if (qdisc_dev(sch)->type == ARPHRD_ETHER ||
	    qdisc_dev(sch)->type == ARPHRD_LOOPBACK)
		q->l3_off = ETH_HLEN;

	ndp_config_default(&cfg);
	if (opt) {
		err = ndp_config_parse(&cfg, opt, extack);
		if (err)
			return err;
	}
	ndp_config_derive(&cfg, qdisc_dev(sch));
	ndp_apply(sch, &cfg);
	return 0;
}

static void ndp_destroy(struct Qdisc *sch)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
}

static int ndp_dump_match(struct sk_buff *skb, const struct ndp_match *m)
{
	if (nla_put_u32(skb, TCA_NDP_TRIM_SIZE, m->trim_size) ||
	    nla_put_u8(skb, TCA_NDP_MATCH, m->mode) ||
	    nla_put_u8(skb, TCA_NDP_DSCP_TRIMMED, m->dscp_trimmed) ||
	    nla_put_u8(skb, TCA_NDP_DSCP_RETURNED, m->dscp_returned))
		return -EMSGSIZE;
	if (m->mode == TC_NDP_MATCH_UDP_PORT)
		return nla_put_u16(skb, TCA_NDP_UDP_PORT, m->udp_port);
	if (m->mode == TC_NDP_MATCH_DSCP)
		return nla_put_u64_64bit(skb, TCA_NDP_DSCP_MASK, m->dscp_mask,
					 TCA_NDP_PAD);
	return 0;
}

static int ndp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	const struct ndp_config *cfg = &q->cfg;
	const struct ndp_params *p = &cfg->params;
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, TCA_NDP_LIMIT, p->limit) ||
	    nla_put_u32(skb, TCA_NDP_LIMIT_BYTES, p->limit_bytes) ||
	    nla_put_u32(skb, TCA_NDP_HLIMIT, p->hlimit) ||
	    nla_put_u32(skb, TCA_NDP_RATIO, p->ratio) ||
	    nla_put_u8(skb, TCA_NDP_MODE, p->mode) ||
	    nla_put_u8(skb, TCA_NDP_RTS, p->rts) ||
	    nla_put_u64_64bit(skb, TCA_NDP_RATE, cfg->rate_Bps, TCA_NDP_PAD) ||
	    nla_put_u32(skb, TCA_NDP_OVERHEAD, cfg->overhead_bytes) ||
	    nla_put_u32(skb, TCA_NDP_OTHER_LIMIT, p->other_limit) ||
	    nla_put_u32(skb, TCA_NDP_OTHER_ECN, p->other_ecn) ||
	    ndp_dump_match(skb, &cfg->match)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static struct tc_ndp_queue_xstats ndp_queue_xstats(const struct ndp_queue_vars *v)
{
	return (struct tc_ndp_queue_xstats) {
		.qlen_packets	= READ_ONCE(v->packets),
		.backlog_bytes	= READ_ONCE(v->bytes),
		.peak_packets	= READ_ONCE(v->peak_packets),
		.peak_bytes	= READ_ONCE(v->peak_bytes),
		.sent_packets	= READ_ONCE(v->sent_packets),
		.sent_bytes	= READ_ONCE(v->sent_bytes),
	};
}

static int ndp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	const struct ndp_stats *s = &q->stats;
	struct tc_ndp_xstats st = {
		.data	= ndp_queue_xstats(&q->vars.q[NDP_DATA]),
		.header	= ndp_queue_xstats(&q->vars.q[NDP_HEADER]),
		.other	= ndp_queue_xstats(&q->vars.q[NDP_OTHER]),
		.trimmed_arrival_packets  = READ_ONCE(s->trimmed_arrival_packets),
		.trimmed_tail_packets	  = READ_ONCE(s->trimmed_tail_packets),
		.trimmed_bytes		  = READ_ONCE(s->trimmed_bytes),
		.returned_packets	  = READ_ONCE(s->returned_packets),
		.ecn_marked_packets	  = READ_ONCE(s->ecn_marked_packets),
		.dropped_data_packets	  = READ_ONCE(s->dropped_data_packets),
		.dropped_header_packets	  = READ_ONCE(s->dropped_header_packets),
		.dropped_returned_packets = READ_ONCE(s->dropped_returned_packets),
		.dropped_other_packets	  = READ_ONCE(s->dropped_other_packets),
		.dropped_nomem_packets	  = READ_ONCE(s->dropped_nomem_packets),
	};

	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops ndp_qdisc_ops __read_mostly = {
	.id		= "ndp",
	.priv_size	= sizeof(struct ndp_sched_data),
	.enqueue	= ndp_enqueue,
	.dequeue	= ndp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ndp_init,
	.reset		= ndp_reset,
	.destroy	= ndp_destroy,
	.change		= ndp_change,
	.dump		= ndp_dump,
	.dump_stats	= ndp_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("ndp");

static int __init ndp_module_init(void)
{
	return register_qdisc(&ndp_qdisc_ops);
}

static void __exit ndp_module_exit(void)
{
	unregister_qdisc(&ndp_qdisc_ops);
}

module_init(ndp_module_init);
module_exit(ndp_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("NDP switch queue: payload trimming, priority headers, return to sender");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
