// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_ndp: the NDP switch queue as a qdisc
 *
 * For the egress port of a Linux switch (router or bridge), or of a host. If the
 * short data queue is full, the qdisc trims a packet to its header instead of
 * dropping it. The header overtakes the data, so that the receiver can request
 * a retransmission at once. NDP here is the transport of SIGCOMM 2017, not
 * IPv6's Neighbour Discovery.
 *
 *	enqueue(): classify by UDP port, DSCP or all (ndpq_pkt.c). Segment NDP's
 *	  GSO packets, since a switch queues frames. Data goes to the data queue.
 *	  If that is full, a fair coin selects the packet to trim: the arrival or
 *	  the queue's tail. Headers go to the header queue. If that is full, a
 *	  header is dropped, or with rts returned to its sender. Other traffic
 *	  goes to a FIFO of its own.
 *
 *	dequeue(): deficit round robin between NDP and other traffic; 10 headers
 *	  per data packet while both wait; paced to `rate` on devices without
 *	  backpressure (veth).
 *
 * ndpq_queue.c decides and has the paper's sections, ndpq_pkt.c rewrites
 * headers. This file has skbs, accounting and netlink.
 *
 * Accounting. If enqueue() returns success, a parent adds one packet, of the
 * length that it saw, to its own qlen and backlog. Segmenting and trimming make
 * that wrong. So ndpq_enqueue_gso() and ndpq_enqueue_full() compare the change
 * of this qdisc's counts with the change that the parents assume, and report the
 * difference.
 *
 * Return to sender. The header's source and destination are swapped at each
 * layer, and it enters the stack at the ingress of this port (netif_rx), like a
 * packet from the receiver. Routing or the bridge forwards it to the sender. It
 * cannot be transmitted from here, because the root lock is held.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik: "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, sections 3.1, 3.2.4, 4.
 * For mode cp: P. Cheng et al.: "Catch the whole lot in an action: rapid
 * precise packet loss notification in data centers", NSDI 2014.
 *
 * Differences from the paper: see ndpq_queue.c and ndpq_pkt.c, and:
 * - A packet that a parent (tbf) has peeked at is no longer in the data queue,
 *   like the packet in service in a real port.
 */

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <closnet/qdisc.h>
#include <closnet/skb_ip.h>
#include <net/pkt_sched.h>
#include "ndpq_config.h"
#include "ndpq_pkt.h"
#include "ndpq_queue.h"

/* Counters of the port. struct ndpq_queue_vars has those of a queue. */
struct ndpq_stats {
	u64 trimmed_arrival_packets;
	u64 trimmed_tail_packets;
	u64 trimmed_bytes;
	u64 returned_packets;
	u64 ecn_marked_packets;
	u64 dropped_data_packets;
	u64 dropped_header_packets;
	u64 dropped_returned_packets;
	u64 dropped_other_packets;
	u64 dropped_gso_packets;
	u64 dropped_nomem_packets;
};

static struct Qdisc_ops ndpq_qdisc_ops;

/* Under the root lock. The dump of statistics reads without it. */
struct ndpq_sched_data {
	/* read for each packet */
	struct ndpq_config cfg;
	u16 l3_off;		/* length of the Ethernet header, or 0 without L2 */
	bool returns;		/* the device can receive a returned packet */

	/* written for each packet */
	struct ndpq_vars vars;
	struct sk_buff_head queue[NDPQ_QUEUES];
	struct sk_buff *last[NDPQ_BANDS];	/* newest data packet of a level; NULL: none */
	u32 coins;		/* unused random bits, below a sentinel 1 */
	struct closnet_shaper shaper;

	/* written when a queue is full */
	struct ndpq_stats stats;
};

/**
 * struct ndpq_skb_cb - result of classification, kept while the packet waits
 * @pkt: headers; undefined for NDPQ_KIND_OTHER
 * @kind: enum ndpq_kind
 * @level: ndpq_level(), of data in the data queue
 */
struct ndpq_skb_cb {
	struct ndpq_pkt pkt;
	u8 kind;
	u8 level;
};

static struct ndpq_skb_cb *ndpq_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ndpq_skb_cb));
	return (struct ndpq_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Toss a fair coin. One random word serves 31 tosses. */
static bool ndpq_toss(struct ndpq_sched_data *q)
{
	bool coin;

	if (q->coins <= 1)
		q->coins = get_random_u32() | BIT(31);
	coin = q->coins & 1;
	q->coins >>= 1;
	return coin;
}

static enum ndpq_kind ndpq_classify(const struct ndpq_sched_data *q,
				    const struct sk_buff *skb)
{
	struct ndpq_pkt *pkt = &ndpq_skb_cb(skb)->pkt;

	if (unlikely(!q->l3_off && skb_network_offset(skb)))
		return NDPQ_KIND_OTHER;	/* an unknown L2 header, or a tunnel's */
	pkt->l3_off = q->l3_off;
	pkt->tag_len = skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
	return ndpq_pkt_classify(&q->cfg.match, pkt, skb->data, skb_headlen(skb), skb->len,
				 ntohs(skb->protocol));
}

/* Is the data queue sorted by level? Then @last is valid. */
static bool ndpq_is_sorted(const struct ndpq_sched_data *q)
{
	return q->cfg.params.bands > 1;
}

/* Insert a packet into the data queue behind those of its level and of higher ones. */
static void ndpq_insert(struct ndpq_sched_data *q, struct sk_buff *skb)
{
	struct sk_buff_head *queue = &q->queue[NDPQ_DATA];
	u8 level = ndpq_skb_cb(skb)->level, i;
	struct sk_buff *after = (struct sk_buff *)queue;

	for (i = level; i < NDPQ_BANDS; i++) {
		if (q->last[i]) {
			after = q->last[i];
			break;
		}
	}
	__skb_queue_after(queue, after, skb);
	q->last[level] = skb;
}

/* A packet leaves the sorted data queue. */
static void ndpq_forget(struct ndpq_sched_data *q, const struct sk_buff *skb)
{
	u8 level = ndpq_skb_cb(skb)->level;
	struct sk_buff *prev = skb->prev;

	if (q->last[level] != skb)
		return;
	if (prev == (struct sk_buff *)&q->queue[NDPQ_DATA] || ndpq_skb_cb(prev)->level != level)
		prev = NULL;
	q->last[level] = prev;
}

static __always_inline void ndpq_take(struct ndpq_sched_data *q, struct sk_buff *skb,
				      enum ndpq_queue_id list)
{
	if (list == NDPQ_DATA && unlikely(ndpq_is_sorted(q)))
		ndpq_forget(q, skb);
	__skb_unlink(skb, &q->queue[list]);
}

static __always_inline void ndpq_push(struct Qdisc *sch, struct sk_buff *skb,
				      enum ndpq_queue_id id)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);

	if (id == NDPQ_DATA && unlikely(ndpq_is_sorted(q)))
		ndpq_insert(q, skb);
	else
		__skb_queue_tail(&q->queue[ndpq_list_of(&q->cfg.params, id)], skb);
	ndpq_count_in(&q->vars, id, len);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

/* Remove a packet from its queue, to trim or drop it. */
static void ndpq_unlink(struct Qdisc *sch, struct sk_buff *skb, enum ndpq_queue_id list)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	ndpq_take(q, skb, list);
	ndpq_count_out(&q->vars, ndpq_queue_of(ndpq_skb_cb(skb)->kind), qdisc_pkt_len(skb));
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
}

/* Drop a packet because its queue is full. */
static int ndpq_drop_full(struct Qdisc *sch, struct sk_buff *skb,
			  struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	switch (ndpq_skb_cb(skb)->kind) {
	case NDPQ_KIND_DATA:
		closnet_add(&q->stats.dropped_data_packets, 1);
		break;
	case NDPQ_KIND_RETURNED:
		closnet_add(&q->stats.dropped_returned_packets, 1);
		break;
	case NDPQ_KIND_OTHER:
		closnet_add(&q->stats.dropped_other_packets, 1);
		break;
	default:
		closnet_add(&q->stats.dropped_header_packets, 1);
	}
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int ndpq_drop_nomem(struct Qdisc *sch, struct sk_buff *skb,
			   struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	closnet_add(&q->stats.dropped_nomem_packets, 1);
	return qdisc_drop(skb, sch, to_free);
}

/*
 * Complete a checksum that was left to the device, over the remaining bytes.
 *
 * The pseudo header still has the full length, so the checksum does not match
 * the cut packet. This is intended: a socket must not accept it as complete.
 * A UDP checksum of 0 stays (see ndpq_pkt_trimmed()).
 */
static void ndpq_complete_csum(struct sk_buff *skb)
{
	u32 start = skb_checksum_start_offset(skb), off = start + skb->csum_offset;
	__sum16 *check = (__sum16 *)(skb->data + off);

	if (skb_csum_is_sctp(skb) || off + sizeof(*check) > skb->len || !*check)
		return;
	*check = csum_fold(csum_partial(skb->data + start, skb->len - start, 0));
	if (!*check)
		*check = CSUM_MANGLED_0;
}

/*
 * Cut a packet to @keep bytes, which become writable and leave any page that
 * user space can still write to.
 *
 * Return: 0 or -ENOMEM.
 */
static int ndpq_cut(struct sk_buff *skb, u32 keep)
{
	/* before skb_orphan(), which may return the pages to user space */
	if (!pskb_may_pull(skb, keep))
		return -ENOMEM;
	skb_orphan(skb);	/* before pskb_trim(), which then releases memory */
	if (pskb_trim(skb, keep))
		return -ENOMEM;
	/* as netlink_trim(): do not copy the tailroom of a shared header */
	if (skb_cloned(skb) && !skb_clone_writable(skb, keep) &&
	    pskb_expand_head(skb, 0, -skb_tailroom(skb), GFP_ATOMIC))
		return -ENOMEM;
	if (!skb_is_nonlinear(skb) && !skb_cloned(skb))
		skb_zcopy_clear(skb, true);
	return 0;
}

/*
 * Trim a data packet to a header, and count it.
 *
 * The packet is orphaned: its socket gets the memory back, as it does when a
 * real port has sent a packet. The payload is not read, so the cost of a trim
 * does not depend on the packet's length.
 *
 * Return: 0, or -ENOMEM if the packet must be dropped.
 */
static int ndpq_trim(struct ndpq_sched_data *q, struct sk_buff *skb,
		     u64 *trimmed_packets)
{
	struct ndpq_skb_cb *cb = ndpq_skb_cb(skb);
	const struct ndpq_match *match = &q->cfg.match;
	u32 keep = ndpq_pkt_keep(match, &cb->pkt, skb->len);
	u32 cut = skb->len - keep;

	if (unlikely(!cut)) {	/* trim_size grew while the packet waited */
		cb->kind = NDPQ_KIND_CONTROL;
		return 0;
	}
	if (ndpq_cut(skb, keep))
		return -ENOMEM;
	cb->kind = ndpq_pkt_trimmed(match, &cb->pkt, skb->data, keep);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		ndpq_complete_csum(skb);
	skb->ip_summed = CHECKSUM_NONE;
	/* a size table (tc-stab) may have set a length below @cut */
	qdisc_skb_cb(skb)->pkt_len = max_t(int, qdisc_pkt_len(skb) - cut, 1);
	closnet_add(trimmed_packets, 1);
	closnet_add(&q->stats.trimmed_bytes, cut);
	return 0;
}

/* Return: NET_XMIT code; the skb is consumed. */
static int ndpq_return_to_sender(struct Qdisc *sch, struct sk_buff *skb,
				 struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct ndpq_skb_cb *cb = ndpq_skb_cb(skb);

	if (skb_ensure_writable(skb, cb->pkt.l4_off + NDPQ_UDP_HLEN))
		return ndpq_drop_nomem(sch, skb, to_free);
	ndpq_pkt_turn_round(&cb->pkt, skb->data, q->cfg.match.dscp_returned);
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

static int ndpq_enqueue_header(struct Qdisc *sch, struct sk_buff *skb,
			       struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct ndpq_skb_cb *cb = ndpq_skb_cb(skb);

	if (likely(ndpq_header_fits(&q->cfg.params, &q->vars, qdisc_pkt_len(skb)))) {
		ndpq_push(sch, skb, NDPQ_HEADER);
		return NET_XMIT_SUCCESS;
	}
	if (ndpq_header_full(&q->cfg.params, cb->kind) == NDPQ_RETURN && q->returns &&
	    ndpq_pkt_returnable(&cb->pkt, skb->data))
		return ndpq_return_to_sender(sch, skb, to_free);
	return ndpq_drop_full(sch, skb, to_free);
}

/* Trim the tail of the data queue. Its place is free even if that fails. */
static int ndpq_trim_tail(struct Qdisc *sch, struct sk_buff *tail,
			  struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	ndpq_unlink(sch, tail, NDPQ_DATA);
	if (ndpq_trim(q, tail, &q->stats.trimmed_tail_packets))
		return ndpq_drop_nomem(sch, tail, to_free);
	return ndpq_enqueue_header(sch, tail, to_free);
}

static int ndpq_trim_one(struct Qdisc *sch, struct sk_buff *skb,
			 struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *tail = skb_peek_tail(&q->queue[NDPQ_DATA]);
	int ret, above = tail ? ndpq_skb_cb(skb)->level - ndpq_skb_cb(tail)->level : 0;

	switch (ndpq_data_full(&q->cfg.params, &q->vars, qdisc_pkt_len(skb),
			       tail ? qdisc_pkt_len(tail) : 0, above, ndpq_toss(q))) {
	case NDPQ_TRIM_TAIL:
		ret = ndpq_trim_tail(sch, tail, to_free);
		ndpq_push(sch, skb, NDPQ_DATA);
		/* one packet came, another was returned: the parents see no drop */
		return ret & __NET_XMIT_STOLEN ? ret : NET_XMIT_SUCCESS;
	case NDPQ_TRIM_ARRIVAL:
		if (ndpq_trim(q, skb, &q->stats.trimmed_arrival_packets))
			return ndpq_drop_nomem(sch, skb, to_free);
		return ndpq_enqueue_header(sch, skb, to_free);
	default:
		return ndpq_drop_full(sch, skb, to_free);
	}
}

/* Enqueue a data packet that does not fit, and correct the parents' counts. */
static noinline int ndpq_enqueue_full(struct Qdisc *sch, struct sk_buff *skb,
				      struct sk_buff **to_free)
{
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	u32 len = qdisc_pkt_len(skb);
	int ret = ndpq_trim_one(sch, skb, to_free);

	if (ret == NET_XMIT_SUCCESS) {	/* the parents add this themselves */
		qlen++;
		backlog += len;
	}
	qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
				  backlog - sch->qstats.backlog);
	return ret;
}

static noinline void ndpq_mark(struct ndpq_sched_data *q, struct sk_buff *skb)
{
	if (closnet_set_ce(skb, q->l3_off) == CLOSNET_CE_SET)
		closnet_add(&q->stats.ecn_marked_packets, 1);
}

static int ndpq_enqueue_other(struct Qdisc *sch, struct sk_buff *skb,
			      struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	const struct ndpq_params *p = &q->cfg.params;

	if (unlikely(!ndpq_other_fits(p, &q->vars, qdisc_pkt_len(skb))))
		return ndpq_drop_full(sch, skb, to_free);
	if (ndpq_other_marks(p, &q->vars))
		ndpq_mark(q, skb);
	ndpq_push(sch, skb, NDPQ_OTHER);
	return NET_XMIT_SUCCESS;
}

static int ndpq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free);

/* Enqueue the segments of a GSO packet: only a frame can be trimmed. */
static noinline int ndpq_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				     struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	int ret = closnet_enqueue_segs(skb, sch, to_free, ndpq_enqueue);

	if (ret >= 0)
		return ret;
	if (ret == -ENOMEM)
		return ndpq_drop_nomem(sch, skb, to_free);
	closnet_add(&q->stats.dropped_gso_packets, 1);
	return qdisc_drop(skb, sch, to_free);
}

/* Pull headers out of fragments. Any usual stack of headers has up to 128 bytes. */
static noinline bool ndpq_pull(struct sk_buff *skb)
{
	u32 len = min_t(u32, skb->len, 128);

	return skb_headlen(skb) < len && pskb_may_pull(skb, len);
}

static u8 ndpq_skb_level(const struct ndpq_sched_data *q, const struct sk_buff *skb)
{
	return ndpq_level(&q->cfg.params, ndpq_pkt_dscp(&ndpq_skb_cb(skb)->pkt, skb->data));
}

static int ndpq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	enum ndpq_kind kind;

	closnet_shaper_wake(&q->shaper, sch->q.qlen);
	kind = ndpq_classify(q, skb);
	if (unlikely(kind == NDPQ_KIND_UNKNOWN)) {
		if (ndpq_pull(skb))
			return ndpq_enqueue(skb, sch, to_free);
		kind = NDPQ_KIND_OTHER;
	}
	ndpq_skb_cb(skb)->kind = kind;
	if (kind == NDPQ_KIND_OTHER)
		return ndpq_enqueue_other(sch, skb, to_free);
	if (skb_is_gso(skb))
		return ndpq_enqueue_gso(sch, skb, to_free);
	if (kind != NDPQ_KIND_DATA)
		return ndpq_enqueue_header(sch, skb, to_free);
	ndpq_skb_cb(skb)->level = ndpq_is_sorted(q) ? ndpq_skb_level(q, skb) : 0;
	if (unlikely(!ndpq_data_fits(&q->cfg.params, &q->vars, qdisc_pkt_len(skb))))
		return ndpq_enqueue_full(sch, skb, to_free);
	ndpq_push(sch, skb, NDPQ_DATA);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *ndpq_dequeue(struct Qdisc *sch)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	enum ndpq_queue_id list = ndpq_pick(&q->cfg.params, &q->vars);
	struct sk_buff *skb;
	u32 len;

	if (list == NDPQ_QUEUES)
		return NULL;
	skb = __skb_peek(&q->queue[list]);
	len = qdisc_pkt_len(skb);
	if (closnet_shaper_on(&q->shaper) && !closnet_shaper_due(&q->shaper, sch, len))
		return NULL;
	ndpq_take(q, skb, list);
	ndpq_sent(&q->vars, ndpq_queue_of(ndpq_skb_cb(skb)->kind), len);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ndpq_reset(struct Qdisc *sch)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	int i;

	closnet_shaper_reset(&q->shaper);
	for (i = 0; i < NDPQ_QUEUES; i++) {
		if (!skb_queue_empty(&q->queue[i]))	/* freed when the RTNL is released */
			rtnl_kfree_skbs(q->queue[i].next, q->queue[i].prev);
		__skb_queue_head_init(&q->queue[i]);
		WRITE_ONCE(q->vars.q[i].packets, 0);
		WRITE_ONCE(q->vars.q[i].bytes, 0);
	}
	memset(q->last, 0, sizeof(q->last));
	q->vars.headers_run = 0;
	q->vars.other_ahead_bytes = 0;
}

/* Distribute the packets anew after a change of mode or bands. */
static void ndpq_requeue(struct ndpq_sched_data *q)
{
	struct sk_buff_head all;
	struct sk_buff *skb;

	__skb_queue_head_init(&all);
	skb_queue_splice_tail_init(&q->queue[NDPQ_HEADER], &all);
	skb_queue_splice_tail_init(&q->queue[NDPQ_DATA], &all);
	memset(q->last, 0, sizeof(q->last));
	while ((skb = __skb_dequeue(&all))) {
		struct ndpq_skb_cb *cb = ndpq_skb_cb(skb);
		enum ndpq_queue_id id = ndpq_queue_of(cb->kind);

		cb->level = min_t(u8, cb->level, q->cfg.params.bands - 1);
		if (id == NDPQ_DATA && ndpq_is_sorted(q))
			ndpq_insert(q, skb);
		else
			__skb_queue_tail(&q->queue[ndpq_list_of(&q->cfg.params, id)], skb);
	}
}

/* Does a queue exceed its limit? */
static bool ndpq_above_limit(const struct ndpq_sched_data *q, enum ndpq_queue_id id)
{
	const struct ndpq_queue_vars *v = &q->vars.q[id];
	const struct ndpq_params *p = &q->cfg.params;
	u32 packets = v->packets, bytes = v->bytes;

	if (id == NDPQ_OTHER)
		return bytes > p->other_limit;
	if (p->mode == TC_NDP_MODE_DROPTAIL) {
		v = &q->vars.q[id == NDPQ_DATA ? NDPQ_HEADER : NDPQ_DATA];
		packets += v->packets;
		bytes += v->bytes;
	} else if (id == NDPQ_HEADER) {
		return bytes > p->hlimit;
	}
	return packets > p->limit || bytes > p->limit_bytes;
}

/* Drop packets, newest first, until each queue is within its limit. */
static void ndpq_shrink(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	u32 qlen = sch->q.qlen, backlog = sch->qstats.backlog;
	struct sk_buff *skb, *prev;
	int list;

	for (list = 0; list < NDPQ_QUEUES; list++) {
		skb_queue_reverse_walk_safe(&q->queue[list], skb, prev) {
			if (!ndpq_above_limit(q, ndpq_queue_of(ndpq_skb_cb(skb)->kind)))
				continue;
			ndpq_unlink(sch, skb, list);
			ndpq_drop_full(sch, skb, to_free);
		}
	}
	qdisc_tree_reduce_backlog(sch, qlen - sch->q.qlen,
				  backlog - sch->qstats.backlog);
}

/* Called under the root lock, or before the qdisc is in use. */
static void ndpq_apply(struct Qdisc *sch, const struct ndpq_config *cfg)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	bool requeue = q->cfg.params.mode != cfg->params.mode ||
		       q->cfg.params.bands != cfg->params.bands;

	q->cfg = *cfg;
	if (requeue)
		ndpq_requeue(q);
	closnet_shaper_set(&q->shaper, cfg->options.rate_Bps, cfg->options.overhead);
}

/* Is one DSCP of a configuration the other DSCP of a qdisc? */
static bool ndpq_crosses(struct Qdisc *sch, const struct ndpq_match *m)
{
	const struct ndpq_sched_data *q = qdisc_priv(sch);

	return sch->ops == &ndpq_qdisc_ops &&
	       (q->cfg.match.dscp_trimmed == m->dscp_returned ||
		q->cfg.match.dscp_returned == m->dscp_trimmed);
}

/*
 * Warn if another port of the namespace takes returned packets of this port for
 * trimmed ones, or the reverse. The two ports could return packets to each other
 * until TTL ends it. Called under RTNL, which protects the DSCPs.
 */
static void ndpq_warn_crossed(const struct Qdisc *sch, const struct ndpq_match *m,
			      struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	struct Qdisc *other;
	int bucket;

	for_each_netdev(dev_net(qdisc_dev(sch)), dev) {
		if (dev == qdisc_dev(sch))
			continue;
		other = rtnl_dereference(dev->qdisc);
		if (ndpq_crosses(other, m))
			goto warn;
		hash_for_each(dev->qdisc_hash, bucket, other, hash)
			if (ndpq_crosses(other, m))
				goto warn;
	}
	return;
warn:
	NL_SET_ERR_MSG(extack,
		       "dscp_trimmed and dscp_returned are crossed with those of another port");
}

static int ndpq_change(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct ndpq_config cfg = q->cfg;
	struct sk_buff *to_free = NULL;
	int err;

	err = ndpq_config_parse(&cfg, opt, extack);
	if (err)
		return err;
	ndpq_config_derive(&cfg, qdisc_dev(sch));
	ndpq_warn_crossed(sch, &cfg.match, extack);

	sch_tree_lock(sch);
	ndpq_apply(sch, &cfg);
	ndpq_shrink(sch, &to_free);
	if (sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(sch);
	kfree_skb_list_reason(to_free, (enum skb_drop_reason)QDISC_DROP_OVERLIMIT);
	return 0;
}

static int ndpq_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct ndpq_config cfg;
	int i, err;

	/* before any error, which destroy() follows */
	closnet_shaper_init(&q->shaper, sch);
	for (i = 0; i < NDPQ_QUEUES; i++)
		__skb_queue_head_init(&q->queue[i]);
	q->returns = qdisc_dev(sch)->type == ARPHRD_ETHER;
	q->l3_off = closnet_l2_len(qdisc_dev(sch));

	ndpq_options_init(&cfg.options);
	if (opt) {
		err = ndpq_config_parse(&cfg, opt, extack);
		if (err)
			return err;
	}
	ndpq_config_derive(&cfg, qdisc_dev(sch));
	if (opt)
		ndpq_warn_crossed(sch, &cfg.match, extack);
	ndpq_apply(sch, &cfg);
	return 0;
}

static void ndpq_destroy(struct Qdisc *sch)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	closnet_shaper_reset(&q->shaper);
}

/* The configuration changes only under RTNL, which is held here. */
static int ndpq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (ndpq_options_dump(skb, &q->cfg.options)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

#define NDPQ_PUT_QUEUE(skb, name, val)						\
	nla_put_u64_64bit(skb, TCA_NDP_STATS_QUEUE_##name, READ_ONCE(val),	\
			  TCA_NDP_STATS_QUEUE_PAD)

static int ndpq_dump_queue(struct sk_buff *skb, int attr, const struct ndpq_queue_vars *v)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    NDPQ_PUT_QUEUE(skb, QLEN_PACKETS, v->packets) ||
	    NDPQ_PUT_QUEUE(skb, BACKLOG_BYTES, v->bytes) ||
	    NDPQ_PUT_QUEUE(skb, PEAK_PACKETS, v->peak_packets) ||
	    NDPQ_PUT_QUEUE(skb, PEAK_BYTES, v->peak_bytes) ||
	    NDPQ_PUT_QUEUE(skb, SENT_PACKETS, v->sent_packets) ||
	    NDPQ_PUT_QUEUE(skb, SENT_BYTES, v->sent_bytes))
		return -EMSGSIZE;	/* the caller cancels the outer nest */
	nla_nest_end(skb, nest);
	return 0;
}

#define NDPQ_PUT_STAT(skb, name, val)					\
	nla_put_u64_64bit(skb, TCA_NDP_STATS_##name, READ_ONCE(val),	\
			  TCA_NDP_STATS_PAD)

static int ndpq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);
	const struct ndpq_stats *s = &q->stats;
	struct sk_buff *skb = d->skb;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_STATS_APP);	/* as other qdiscs do */
	if (!nest)
		return -EMSGSIZE;
	if (ndpq_dump_queue(skb, TCA_NDP_STATS_DATA, &q->vars.q[NDPQ_DATA]) ||
	    ndpq_dump_queue(skb, TCA_NDP_STATS_HEADER, &q->vars.q[NDPQ_HEADER]) ||
	    ndpq_dump_queue(skb, TCA_NDP_STATS_OTHER, &q->vars.q[NDPQ_OTHER]) ||
	    NDPQ_PUT_STAT(skb, TRIMMED_ARRIVAL_PACKETS, s->trimmed_arrival_packets) ||
	    NDPQ_PUT_STAT(skb, TRIMMED_TAIL_PACKETS, s->trimmed_tail_packets) ||
	    NDPQ_PUT_STAT(skb, TRIMMED_BYTES, s->trimmed_bytes) ||
	    NDPQ_PUT_STAT(skb, RETURNED_PACKETS, s->returned_packets) ||
	    NDPQ_PUT_STAT(skb, ECN_MARKED_PACKETS, s->ecn_marked_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_DATA_PACKETS, s->dropped_data_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_HEADER_PACKETS, s->dropped_header_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_RETURNED_PACKETS, s->dropped_returned_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_OTHER_PACKETS, s->dropped_other_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_GSO_PACKETS, s->dropped_gso_packets) ||
	    NDPQ_PUT_STAT(skb, DROPPED_NOMEM_PACKETS, s->dropped_nomem_packets)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static struct Qdisc_ops ndpq_qdisc_ops __read_mostly = {
	.id		= "ndp",
	.priv_size	= sizeof(struct ndpq_sched_data),
	.enqueue	= ndpq_enqueue,
	.dequeue	= ndpq_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ndpq_init,
	.reset		= ndpq_reset,
	.destroy	= ndpq_destroy,
	.change		= ndpq_change,
	.dump		= ndpq_dump,
	.dump_stats	= ndpq_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("ndp");

static void ndpq_follow_mtu(struct Qdisc *sch)
{
	struct ndpq_sched_data *q = qdisc_priv(sch);

	if (sch->ops != &ndpq_qdisc_ops)
		return;
	sch_tree_lock(sch);
	ndpq_config_derive(&q->cfg, qdisc_dev(sch));
	sch_tree_unlock(sch);
}

/* Recompute the limits that follow the device's MTU. */
static int ndpq_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct Qdisc *sch;
	int bucket;

	if (event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	ndpq_follow_mtu(rtnl_dereference(dev->qdisc));
	hash_for_each(dev->qdisc_hash, bucket, sch, hash)
		ndpq_follow_mtu(sch);
	return NOTIFY_DONE;
}

static struct notifier_block ndpq_netdev_notifier = {
	.notifier_call = ndpq_netdev_event,
};

static int __init ndpq_module_init(void)
{
	int err = register_netdevice_notifier(&ndpq_netdev_notifier);

	if (err)
		return err;
	err = register_qdisc(&ndpq_qdisc_ops);
	if (err)
		unregister_netdevice_notifier(&ndpq_netdev_notifier);
	return err;
}

static void __exit ndpq_module_exit(void)
{
	unregister_qdisc(&ndpq_qdisc_ops);
	unregister_netdevice_notifier(&ndpq_netdev_notifier);
}

module_init(ndpq_module_init);
module_exit(ndpq_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("NDP switch queue: payload trimming, priority headers, return to sender");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
