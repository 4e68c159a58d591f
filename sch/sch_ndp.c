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
 * Only segmenting and trimming make that wrong: ndp_enqueue_gso() and
 * ndp_enqueue_full() compare what changed in this qdisc with what the parents
 * will believe, and tell them the difference.
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

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <closnet/qdisc.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "ndp_config.h"
#include "ndp_pkt_core.h"
#include "ndp_queue.h"

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
	u32 l3_off;		/* where the L3 header is: 14, or 0 without L2 */
	bool returns;		/* a packet can come in where it went out */

	/* written for each packet */
	struct ndp_vars vars;
	struct sk_buff_head queue[NDP_QUEUES];
	u32 coins;		/* unused random bits, below a sentinel 1 */
	struct closnet_shaper shaper;

	/* written when a queue is full */
	struct ndp_stats stats;
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

/*
 * Headers that lie in fragments are pulled only if they decide; then as many
 * bytes as hold every usual stack of headers. What they cannot tell is not
 * NDP's.
 */
static enum ndp_kind ndp_classify(const struct ndp_sched_data *q, struct sk_buff *skb)
{
	struct ndp_skb_cb *cb = ndp_skb_cb(skb);
	enum ndp_kind kind;

	cb->kind = NDP_KIND_OTHER;
	if (unlikely(!q->l3_off && skb_network_offset(skb)))
		return NDP_KIND_OTHER;	/* an L2 header, or a tunnel's, that we do not know */
	while (!ndp_pkt_classify(&q->cfg.match, skb->data, skb_headlen(skb), q->l3_off,
				 ntohs(skb->protocol), skb->len, ndp_tag_len(skb),
				 &cb->pkt, &kind)) {
		u32 pull = min_t(u32, skb->len, 128);

		if (skb_headlen(skb) >= pull || !pskb_may_pull(skb, pull))
			return NDP_KIND_OTHER;
	}
	cb->kind = kind;
	return kind;
}

/* @kind: that in the skb; most callers know it, and the compiler with them */
static __always_inline void ndp_push(struct Qdisc *sch, struct sk_buff *skb,
				     enum ndp_kind kind)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	__skb_queue_tail(&q->queue[ndp_list_of(&q->cfg.params, kind)], skb);
	ndp_count_in(&q->vars, ndp_queue_of(kind), qdisc_pkt_len(skb));
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

/* Takes a packet out of its list; it is neither sent nor, as yet, dropped. */
static void ndp_unlink(struct Qdisc *sch, struct sk_buff *skb, enum ndp_queue_id list)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	__skb_unlink(skb, &q->queue[list]);
	ndp_count_out(&q->vars, ndp_queue_of(ndp_skb_cb(skb)->kind), qdisc_pkt_len(skb));
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
}

/* For want of room in its queue */
static int ndp_drop_full(struct Qdisc *sch, struct sk_buff *skb,
			 struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	switch (ndp_skb_cb(skb)->kind) {
	case NDP_KIND_DATA:
		closnet_add(&q->stats.dropped_data_packets, 1);
		break;
	case NDP_KIND_RETURNED:
		closnet_add(&q->stats.dropped_returned_packets, 1);
		break;
	case NDP_KIND_OTHER:
		closnet_add(&q->stats.dropped_other_packets, 1);
		break;
	default:
		closnet_add(&q->stats.dropped_header_packets, 1);
	}
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int ndp_drop_nomem(struct Qdisc *sch, struct sk_buff *skb,
			  struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	closnet_add(&q->stats.dropped_nomem_packets, 1);
	return qdisc_drop(skb, sch, to_free);
}

/*
 * Cuts a data packet, makes it a header, and counts it. It is no longer its
 * sender's: the socket gets its memory back, as it would from a real port. A
 * checksum that was left to the device covers the payload, and is computed
 * before that goes. What stays is copied out of pages that user space may
 * still write to.
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

	if (unlikely(!cut)) {	/* trim_size grew while it waited */
		cb->kind = NDP_KIND_CONTROL;
		return 0;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_csum_hwoffload_help(skb, 0))
		return -ENOMEM;
	/* before skb_orphan(), which may hand the pages back to user space */
	if (!pskb_may_pull(skb, keep))
		return -ENOMEM;
	skb_orphan(skb);	/* before pskb_trim(): it gives memory back only then */
	/* in this order: of a shared packet only what stays is copied */
	if (pskb_trim(skb, keep) || skb_ensure_writable(skb, keep))
		return -ENOMEM;
	if (!skb_is_nonlinear(skb) && !skb_cloned(skb))
		skb_zcopy_clear(skb, true);
	skb->ip_summed = CHECKSUM_NONE;
	cb->kind = ndp_pkt_trimmed(skb->data, &cb->pkt, keep, match);
	/* a size table (tc-stab) may have taken off more than was there */
	qdisc_skb_cb(skb)->pkt_len = max_t(int, qdisc_pkt_len(skb) - cut, 1);
	closnet_add(trimmed_packets, 1);
	closnet_add(&q->stats.trimmed_bytes, cut);
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
		closnet_add(&q->stats.dropped_header_packets, 1);
		qdisc_qstats_drop(sch);
		return NET_XMIT_DROP;
	}
	closnet_add(&q->stats.returned_packets, 1);
	return NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
}

static int ndp_enqueue_header(struct Qdisc *sch, struct sk_buff *skb,
			      struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_kind kind = ndp_skb_cb(skb)->kind;

	switch (ndp_header_verdict(&q->cfg.params, &q->vars, qdisc_pkt_len(skb), kind)) {
	case NDP_ACCEPT:
		ndp_push(sch, skb, kind);
		return NET_XMIT_SUCCESS;
	case NDP_RETURN:
		if (q->returns && ndp_pkt_returnable(skb->data, &ndp_skb_cb(skb)->pkt))
			return ndp_return_to_sender(sch, skb, to_free);
		fallthrough;
	default:
		return ndp_drop_full(sch, skb, to_free);
	}
}

/* The tail becomes a header; the place is free whatever becomes of that. */
static int ndp_trim_tail(struct Qdisc *sch, struct sk_buff *tail,
			 struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);

	ndp_unlink(sch, tail, NDP_DATA);
	if (ndp_trim(q, tail, &q->stats.trimmed_tail_packets))
		return ndp_drop_nomem(sch, tail, to_free);
	return ndp_enqueue_header(sch, tail, to_free);
}

static int ndp_trim_one(struct Qdisc *sch, struct sk_buff *skb,
			struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *tail = skb_peek_tail(&q->queue[NDP_DATA]);
	int ret;

	switch (ndp_data_full(&q->cfg.params, &q->vars, qdisc_pkt_len(skb),
			      tail ? qdisc_pkt_len(tail) : 0, ndp_toss(q))) {
	case NDP_TRIM_TAIL:
		ret = ndp_trim_tail(sch, tail, to_free);
		ndp_push(sch, skb, NDP_KIND_DATA);
		/* one came, one went home: to the parents, nothing was dropped */
		return ret & __NET_XMIT_STOLEN ? ret : NET_XMIT_SUCCESS;
	case NDP_TRIM_ARRIVAL:
		if (ndp_trim(q, skb, &q->stats.trimmed_arrival_packets))
			return ndp_drop_nomem(sch, skb, to_free);
		return ndp_enqueue_header(sch, skb, to_free);
	default:
		return ndp_drop_full(sch, skb, to_free);
	}
}

/* A data packet for which there is no room; the parents hear what that changed. */
static noinline int ndp_enqueue_full(struct Qdisc *sch, struct sk_buff *skb,
				     struct sk_buff **to_free)
{
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	u32 len = qdisc_pkt_len(skb);
	int ret = ndp_trim_one(sch, skb, to_free);

	if (ret == NET_XMIT_SUCCESS) {	/* what they will add by themselves */
		qlen++;
		backlog += len;
	}
	qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
				  backlog - sch->qstats.backlog);
	return ret;
}

static noinline void ndp_mark(struct ndp_sched_data *q, struct sk_buff *skb)
{
	if (INET_ECN_set_ce(skb))
		closnet_add(&q->stats.ecn_marked_packets, 1);
}

static int ndp_enqueue_other(struct Qdisc *sch, struct sk_buff *skb,
			     struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	const struct ndp_params *p = &q->cfg.params;

	if (unlikely(!ndp_other_fits(p, &q->vars, qdisc_pkt_len(skb))))
		return ndp_drop_full(sch, skb, to_free);
	if (ndp_other_marks(p, &q->vars))
		ndp_mark(q, skb);
	ndp_push(sch, skb, NDP_KIND_OTHER);
	return NET_XMIT_SUCCESS;
}

static int ndp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free);

/* Only a frame can be trimmed. */
static noinline int ndp_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				    struct sk_buff **to_free)
{
	int ret = closnet_enqueue_segs(skb, sch, to_free, ndp_enqueue);

	return ret < 0 ? ndp_drop_nomem(sch, skb, to_free) : ret;
}

static int ndp_enqueue(struct sk_buff *skb, struct Qdisc *sch,
		       struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_kind kind;

	closnet_shaper_wake(&q->shaper, sch->q.qlen);
	kind = ndp_classify(q, skb);
	if (kind == NDP_KIND_OTHER)
		return ndp_enqueue_other(sch, skb, to_free);
	if (skb_is_gso(skb))
		return ndp_enqueue_gso(sch, skb, to_free);
	if (kind != NDP_KIND_DATA)
		return ndp_enqueue_header(sch, skb, to_free);
	if (unlikely(!ndp_data_fits(&q->cfg.params, &q->vars, qdisc_pkt_len(skb))))
		return ndp_enqueue_full(sch, skb, to_free);
	ndp_push(sch, skb, NDP_KIND_DATA);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *ndp_dequeue(struct Qdisc *sch)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	enum ndp_queue_id list = ndp_pick(&q->cfg.params, &q->vars);
	struct sk_buff *skb;
	u32 len;

	if (list == NDP_QUEUES)
		return NULL;
	skb = __skb_peek(&q->queue[list]);
	len = qdisc_pkt_len(skb);
	if (closnet_shaper_on(&q->shaper) && !closnet_shaper_due(&q->shaper, sch, len))
		return NULL;
	__skb_unlink(skb, &q->queue[list]);
	ndp_sent(&q->vars, ndp_queue_of(ndp_skb_cb(skb)->kind), len);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ndp_reset(struct Qdisc *sch)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	int i;

	closnet_shaper_reset(&q->shaper);
	for (i = 0; i < NDP_QUEUES; i++) {
		__skb_queue_purge(&q->queue[i]);
		WRITE_ONCE(q->vars.q[i].packets, 0);
		WRITE_ONCE(q->vars.q[i].bytes, 0);
	}
	q->vars.headers_run = 0;
	q->vars.other_ahead_bytes = 0;
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

/* Is more in a queue than the configuration allows? */
static bool ndp_above_limit(const struct ndp_sched_data *q, enum ndp_queue_id id)
{
	const struct ndp_queue_vars *v = &q->vars.q[id];
	const struct ndp_params *p = &q->cfg.params;
	u32 packets = v->packets, bytes = v->bytes;

	if (id == NDP_OTHER)
		return bytes > p->other_limit;
	if (p->mode == TC_NDP_MODE_DROPTAIL) {
		v = &q->vars.q[id == NDP_DATA ? NDP_HEADER : NDP_DATA];
		packets += v->packets;
		bytes += v->bytes;
	} else if (id == NDP_HEADER) {
		return bytes > p->hlimit;
	}
	return packets > p->limit || (p->limit_bytes && bytes > p->limit_bytes);
}

/* Drops, newest first, what the limits no longer allow. */
static void ndp_shrink(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	struct sk_buff *skb, *prev;
	int list;

	for (list = 0; list < NDP_QUEUES; list++) {
		skb_queue_reverse_walk_safe(&q->queue[list], skb, prev) {
			if (!ndp_above_limit(q, ndp_queue_of(ndp_skb_cb(skb)->kind)))
				continue;
			ndp_unlink(sch, skb, list);
			ndp_drop_full(sch, skb, to_free);
		}
	}
	qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
				  backlog - sch->qstats.backlog);
}

/* Under the root lock, or before anyone can see the qdisc */
static void ndp_apply(struct Qdisc *sch, const struct ndp_config *cfg)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	bool requeue = q->cfg.params.mode != cfg->params.mode;

	q->cfg = *cfg;
	if (requeue)
		ndp_requeue(q);
	closnet_shaper_set(&q->shaper, cfg->rate_Bps, cfg->overhead_bytes);
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
	if (sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(sch);
	kfree_skb_list_reason(to_free, (enum skb_drop_reason)QDISC_DROP_OVERLIMIT);
	return 0;
}

static int ndp_init(struct Qdisc *sch, struct nlattr *opt,
		    struct netlink_ext_ack *extack)
{
	struct ndp_sched_data *q = qdisc_priv(sch);
	struct ndp_config cfg;
	int i, err;

	/* first of all: destroy() follows an error */
	closnet_shaper_init(&q->shaper, sch);
	for (i = 0; i < NDP_QUEUES; i++)
		__skb_queue_head_init(&q->queue[i]);
	q->returns = qdisc_dev(sch)->type == ARPHRD_ETHER;
	q->l3_off = closnet_l2_len(qdisc_dev(sch));

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

	closnet_shaper_reset(&q->shaper);
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
