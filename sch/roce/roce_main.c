// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_roce: DCQCN's reaction point and notification point for RoCEv2
 *
 * For the egress of a host, or of a hypervisor whose virtual machines use RDMA: what
 * NICs do in firmware, for any RoCEv2 traffic that passes, of rdma_rxe or of a NIC's
 * virtual functions behind the port. The peer may be a NIC: CNPs are the standard's.
 *
 *	            +------------------------ sch_roce -----------------------+
 *	 stack ---> | QP 1 -> limiter -+                                      |
 *	            | QP 2 -> limiter -+-> in turn -+                         |
 *	            | ...    limiter  -+            +-> half each -> rate --> | device
 *	            | other traffic ----------------+           ^             |
 *	            | CNPs made here ---------------------------+ (first)     |
 *	 stack <--- | CNPs consumed: RP;  data with CE: NP, makes CNPs        | <-- device
 *	            +---------------------------------------------------------+
 *
 *	enqueue(): the packets of a queue pair go to its FIFO, and become ECN-capable.
 *	  Each packet is learned from: which two directions are one queue pair
 *	  (roce_flows.c). Other traffic has a FIFO of its own, which is not paced.
 *
 *	dequeue(): CNPs that have arrived cut rates. Then CNPs made here are sent first;
 *	  queue pairs and other traffic share the line (roce_rp.c).
 *
 *	ingress: roce_port.c.
 *
 * Backpressure. Packets keep their sockets while they wait, so that rdma_rxe counts
 * them as in flight, and its queue pairs stop at 64 packets.
 *
 * Accounting. If enqueue() returns success, a parent adds one packet. Segmenting makes
 * that wrong; closnet_enqueue_segs() corrects the parents.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion Control for Large-Scale
 * RDMA Deployments", SIGCOMM 2015, section 3.
 *
 * Differences from the paper: see net/lib/dcqcn.c, roce_rp.c, roce_flows.c, and:
 * - ACKs stay in the FIFO of their queue pair, so that it is never reordered.
 * - The rates count the bytes of frames and their overhead on the wire.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <closnet/link_rate.h>
#include <closnet/qdisc.h>
#include <net/pkt_sched.h>
#include "roce.h"
#include "roce_cnp.h"

#define CREATE_TRACE_POINTS
#include "roce_trace.h"

/* Assumed line rate of a device whose rate is unknown, bytes per second */
#define ROCE_LINE_UNKNOWN	1250000000ULL

/**
 * struct roce_skb_cb - for the time in the queue of other traffic
 * @overflow: a packet of a queue pair without a limiter
 */
struct roce_skb_cb {
	bool overflow;
};

static struct roce_skb_cb *roce_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct roce_skb_cb));
	return (struct roce_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* ---- enqueue ---- */

static int roce_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free,
		     u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int roce_queued(struct Qdisc *sch, const struct sk_buff *skb, enum roce_queue_id id)
{
	struct roce_sched_data *q = qdisc_priv(sch);

	closnet_add(&q->queue[id].packets, 1);
	closnet_add(&q->queue[id].bytes, qdisc_pkt_len(skb));
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

static int roce_enqueue_other(struct Qdisc *sch, struct sk_buff *skb, bool overflow,
			      struct sk_buff **to_free)
{
	struct roce_sched_data *q = qdisc_priv(sch);

	if (unlikely(q->other.qlen >= q->options.other_limit))
		return roce_drop(sch, skb, to_free, &q->stats.dropped_other_packets);
	roce_skb_cb(skb)->overflow = overflow;
	q->overflow += overflow;
	if (overflow)
		closnet_add(&q->stats.overflow_packets, 1);
	__qdisc_enqueue_tail(skb, &q->other);
	return roce_queued(sch, skb, ROCE_QUEUE_OTHER);
}

static int roce_enqueue_cnp(struct Qdisc *sch, struct sk_buff *skb)
{
	struct roce_sched_data *q = qdisc_priv(sch);

	__qdisc_enqueue_tail(skb, &q->cnp);
	return roce_queued(sch, skb, ROCE_QUEUE_CNP);
}

/*
 * Get the slot of a queue pair. While packets of queue pairs wait in the other queue, no
 * queue pair gets a slot, so that it cannot overtake its own packets there.
 */
static u32 roce_slot(struct roce_sched_data *q, const struct roce_key *key, u64 now_ns)
{
	u32 hash = roce_key_hash(key, q->seed);
	u32 slot = roce_rp_find(&q->rp, key, hash);

	if (likely(slot != ROCE_NO_SLOT) || q->overflow)
		return slot;
	return roce_rp_claim(&q->rp, key, hash, now_ns);
}

/* Make data ECN-capable. Without memory, it stays as it is. */
static void roce_set_ect(struct roce_sched_data *q, struct sk_buff *skb,
			 const struct roce_pkt *pkt)
{
	if (!q->options.ect || !pkt->data || roce_pkt_ecn(pkt))
		return;
	closnet_add(roce_skb_set_ecn(skb, pkt, ROCE_ECT_0) ? &q->stats.nomem_packets :
							     &q->stats.ect_set_packets, 1);
}

static void roce_fifo_push(struct roce_fifo *fifo, struct sk_buff *skb)
{
	skb->next = NULL;
	if (fifo->head)
		fifo->tail->next = skb;
	else
		fifo->head = skb;
	fifo->tail = skb;
}

static struct sk_buff *roce_fifo_pop(struct roce_fifo *fifo)
{
	struct sk_buff *skb = fifo->head;

	fifo->head = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

static int roce_enqueue_qp(struct Qdisc *sch, struct sk_buff *skb, const struct roce_pkt *pkt,
			   struct sk_buff **to_free)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	u64 now_ns = ktime_get_ns();
	u32 slot;

	roce_port_sent(q->port, &q->ring, pkt, now_ns);
	roce_set_ect(q, skb, pkt);
	slot = roce_slot(q, &pkt->key, now_ns);
	if (unlikely(slot == ROCE_NO_SLOT))
		return roce_enqueue_other(sch, skb, true, to_free);
	if (unlikely(q->rp.qp[slot].packets >= q->options.qp_limit)) {
		q->rp.qp[slot].dropped_packets++;
		return roce_drop(sch, skb, to_free, &q->stats.dropped_qp_packets);
	}
	roce_fifo_push(&q->fifo[slot], skb);
	roce_rp_queued(&q->rp, slot, qdisc_pkt_len(skb), now_ns);
	return roce_queued(sch, skb, ROCE_QUEUE_QP);
}

static int roce_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);

/* A GSO packet of RoCEv2 consists of several packets of a queue pair. */
static noinline int roce_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				     struct sk_buff **to_free)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	int ret = closnet_enqueue_segs(skb, sch, to_free, roce_enqueue);

	if (ret < 0)
		return roce_drop(sch, skb, to_free, &q->stats.dropped_gso_packets);
	return ret;
}

/* CNPs of the ingress half have no socket and were not received. */
static bool roce_is_own(const struct sk_buff *skb)
{
	return !skb->sk && !skb->skb_iif;
}

/* The segments of a user's GSO packet may be CNPs, whatever it begins with. */
static bool roce_may_have_cnps(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 && closnet_is_users(skb) &&
	       udp_hdr(skb)->dest == htons(ROCE_UDP_PORT);
}

static int roce_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct roce_pkt pkt;
	enum roce_kind kind = roce_skb_parse(skb, q->l2_len, &pkt);

	if (!q->l2_len && skb_network_offset(skb))
		kind = ROCE_KIND_OTHER;	/* an unknown L2 header, or a tunnel's */
	if (unlikely(skb_is_gso(skb)) && (kind == ROCE_KIND_QP || roce_may_have_cnps(skb)))
		return roce_enqueue_gso(sch, skb, to_free);
	if (unlikely(sch->q.qlen >= q->options.limit))
		return roce_drop(sch, skb, to_free, &q->stats.dropped_limit_packets);
	if (kind == ROCE_KIND_QP)
		return roce_enqueue_qp(sch, skb, &pkt, to_free);
	if (kind == ROCE_KIND_CNP && roce_is_own(skb))
		return roce_enqueue_cnp(sch, skb);
	if (kind == ROCE_KIND_CNP && closnet_is_users(skb))	/* rdma_rxe's sockets send none */
		return roce_drop(sch, skb, to_free, &q->stats.dropped_cnp_packets);
	return roce_enqueue_other(sch, skb, false, to_free);
}

/* ---- dequeue ---- */

static void roce_take_event(struct roce_sched_data *q, const struct roce_event *event)
{
	u32 slot = roce_rp_find(&q->rp, &event->key, roce_key_hash(&event->key, q->seed));
	struct roce_qp *qp;

	if (slot == ROCE_NO_SLOT || !roce_rp_notify(&q->rp, slot, event->now_ns)) {
		closnet_add(&q->stats.rp_cnp_ignored, 1);
		return;
	}
	qp = &q->rp.qp[slot];
	closnet_add(&q->stats.rp_cnp_handled, 1);
	trace_roce_rate(qp, &q->rp.params, event->now_ns, DCQCN_CNP);
}

/* CNPs may arrive meanwhile: the root lock is held, so the number is bounded. */
static noinline void roce_take_events(struct roce_sched_data *q)
{
	struct roce_event event;
	u32 n;

	for (n = 0; n < ROCE_EVENTS && roce_ring_take(&q->ring, &event); n++)
		roce_take_event(q, &event);
}

static struct sk_buff *roce_send(struct Qdisc *sch, struct sk_buff *skb, enum roce_queue_id id,
				 u64 now_ns)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct roce_queue *queue = &q->queue[id];
	u32 len = qdisc_pkt_len(skb);

	WRITE_ONCE(queue->packets, queue->packets - 1);
	WRITE_ONCE(queue->bytes, queue->bytes - len);
	closnet_add(&queue->sent_packets, skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1);
	closnet_add(&queue->sent_bytes, len);
	if (closnet_shaper_on(&q->shaper)) {
		if (q->slept)	/* time in which no packet could be sent is not made up for */
			q->shaper.next_ns = max(q->shaper.next_ns, now_ns);
		closnet_shaper_charge(&q->shaper, len, now_ns);
	}
	q->slept = false;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static struct sk_buff *roce_send_other(struct Qdisc *sch, bool contended, u64 now_ns)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&q->other);

	q->overflow -= roce_skb_cb(skb)->overflow;
	roce_rp_charge(&q->rp, true, contended, qdisc_pkt_len(skb));
	return roce_send(sch, skb, ROCE_QUEUE_OTHER, now_ns);
}

static struct sk_buff *roce_send_qp(struct Qdisc *sch, u32 slot, u64 now_ns)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = roce_fifo_pop(&q->fifo[slot]);
	u32 len = qdisc_pkt_len(skb);
	enum dcqcn_cause cause;

	cause = roce_rp_sent(&q->rp, slot, len, now_ns);
	if (cause != DCQCN_NONE)
		trace_roce_rate(&q->rp.qp[slot], &q->rp.params, now_ns, cause);
	roce_rp_charge(&q->rp, false, q->other.head, len);
	return roce_send(sch, skb, ROCE_QUEUE_QP, now_ns);
}

/* No packet may be sent now. The tree is empty if a parent has peeked at the last packet. */
static struct sk_buff *roce_sleep(struct Qdisc *sch)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	u64 next_ns = roce_rp_next_ns(&q->rp);

	q->slept = true;
	if (next_ns == U64_MAX)
		return NULL;
	qdisc_qstats_overlimit(sch);
	qdisc_watchdog_schedule_ns(&q->shaper.watchdog, next_ns);
	return NULL;
}

static struct sk_buff *roce_dequeue(struct Qdisc *sch)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now_ns;
	u32 slot;

	if (unlikely(roce_ring_has_events(&q->ring)))
		roce_take_events(q);
	if (!sch->q.qlen) {
		q->slept = true;
		return NULL;
	}
	now_ns = ktime_get_ns();
	if (closnet_shaper_holds(&q->shaper, sch, now_ns))
		return NULL;
	skb = __qdisc_dequeue_head(&q->cnp);
	if (skb)
		return roce_send(sch, skb, ROCE_QUEUE_CNP, now_ns);
	slot = roce_rp_pick(&q->rp, now_ns);
	if (q->other.head && roce_rp_prefers_other(&q->rp, slot))
		return roce_send_other(sch, slot != ROCE_NO_SLOT, now_ns);
	return slot == ROCE_NO_SLOT ? roce_sleep(sch) : roce_send_qp(sch, slot, now_ns);
}

static void roce_reset(struct Qdisc *sch)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	u32 i;

	closnet_shaper_reset(&q->shaper);
	__qdisc_reset_queue(&q->cnp);
	__qdisc_reset_queue(&q->other);
	q->overflow = 0;
	for (i = 0; i < ROCE_QUEUES; i++) {
		WRITE_ONCE(q->queue[i].packets, 0);
		WRITE_ONCE(q->queue[i].bytes, 0);
	}
	if (!q->fifo)	/* init() has failed */
		return;
	for (i = 0; i < q->rp.slots; i++) {
		rtnl_kfree_skbs(q->fifo[i].head, q->fifo[i].tail);
		q->fifo[i] = (struct roce_fifo) {};
	}
	roce_rp_reset(&q->rp);
}

/* ---- configuration ---- */

static u64 roce_line_Bps(const struct roce_sched_data *q)
{
	return q->options.rate_Bps ?: q->line_Bps ?: ROCE_LINE_UNKNOWN;
}

/* Called under the root lock, or before the qdisc is in use. */
static void roce_apply(struct roce_sched_data *q, const struct roce_options *o)
{
	struct dcqcn_limits limits;

	q->options = *o;
	closnet_shaper_set(&q->shaper, o->rate_Bps, o->overhead);
	roce_config_params(o, &q->rp.params);
	WRITE_ONCE(q->ring.monitor_ns, q->rp.params.monitor_ns);
	roce_config_limits(o, roce_line_Bps(q), &limits);
	roce_rp_set_limits(&q->rp, &limits, ktime_get_ns());
	q->rp.paced_at_max = limits.max_Bps < roce_line_Bps(q);
	q->rp.overhead = o->overhead;
	q->rp.idle_ns = o->idle_us * (u64)NSEC_PER_USEC;
}

/* Apply the options of the ingress half to another qdisc of the device. */
static void roce_take_over(struct roce_sched_data *q, const struct roce_options *shared)
{
	sch_tree_lock(q->user.sch);
	roce_config_share(&q->options, shared);
	q->rp.idle_ns = shared->idle_us * (u64)NSEC_PER_USEC;
	sch_tree_unlock(q->user.sch);
}

/* Apply options to the device of a qdisc: the ingress half and the other qdiscs. RTNL is held. */
static void roce_share(struct roce_sched_data *q, const struct roce_options *shared)
{
	struct roce_sched_data *other;
	struct roce_rx_params params;

	list_for_each_entry(other, &q->port->base.qdiscs, user.node)
		if (other != q)
			roce_take_over(other, shared);
	roce_config_rx(shared, &params);
	roce_port_set(q->port, &params);
	q->port->base.newest = NULL;
}

static int roce_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct roce_options options = q->options;
	int err;

	err = roce_config_parse(&options, opt, true, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	roce_apply(q, &options);
	if (sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(sch);
	roce_share(q, &options);
	return 0;
}

static int roce_init_tables(struct roce_sched_data *q, u32 slots)
{
	u32 buckets = roundup_pow_of_two(slots), *bucket;
	struct roce_qp *qp;

	qp = kvcalloc(slots + ROCE_LISTS, sizeof(*qp), GFP_KERNEL_ACCOUNT);
	bucket = kvcalloc(buckets, sizeof(*bucket), GFP_KERNEL_ACCOUNT);
	q->fifo = kvcalloc(slots, sizeof(*q->fifo), GFP_KERNEL_ACCOUNT);
	if (!qp || !bucket || !q->fifo) {
		kvfree(qp);
		kvfree(bucket);
		kvfree(q->fifo);
		q->fifo = NULL;
		return -ENOMEM;
	}
	roce_rp_init(&q->rp, qp, bucket, buckets, slots);
	return 0;
}

/* Share the ingress half of a sibling, or create one. */
static int roce_join(struct roce_sched_data *q, const struct roce_sched_data *sibling,
		     struct netlink_ext_ack *extack)
{
	struct roce_port *port;
	int err;

	port = sibling ? sibling->port : roce_port_create(qdisc_dev(q->user.sch), extack);
	if (IS_ERR(port))
		return PTR_ERR(port);
	err = roce_port_add_ring(port, &q->ring);
	if (err) {
		roce_port_put(port);
		return err;
	}
	q->port = port;
	list_add(&q->user.node, &port->base.qdiscs);
	return 0;
}

static int roce_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct Qdisc *other = closnet_port_sibling(sch);
	struct roce_sched_data *q = qdisc_priv(sch), *sibling = other ? qdisc_priv(other) : NULL;
	struct net_device *dev = qdisc_dev(sch);
	struct roce_options options;
	int err;

	/* before any error, which destroy() follows */
	q->user.sch = sch;
	closnet_shaper_init(&q->shaper, sch);
	spin_lock_init(&q->ring.lock);
	q->ring.sch = sch;
	q->l2_len = closnet_l2_len(dev);
	q->seed = get_random_u64();
	q->line_Bps = closnet_link_Mbps(dev) * 125000ULL;

	roce_options_init(&options);
	if (sibling)
		roce_config_share(&options, &sibling->options);
	if (opt) {
		err = roce_config_parse(&options, opt, false, extack);
		if (err)
			return err;
	}
	err = roce_init_tables(q, options.qps);
	if (err)
		return err;
	err = roce_join(q, sibling, extack);
	if (err)
		return err;
	roce_apply(q, &options);
	if (sibling)
		q->before = sibling->options;
	if (opt || !sibling)
		roce_share(q, &options);
	q->port->base.newest = sibling && opt ? sch : NULL;
	return 0;
}

static void roce_destroy(struct Qdisc *sch)
{
	struct roce_sched_data *q = qdisc_priv(sch);

	if (q->port) {
		if (q->port->base.newest == sch)
			roce_share(q, closnet_has_sent(sch) ? &q->options : &q->before);
		roce_port_del_ring(q->port, &q->ring);
		list_del(&q->user.node);
		roce_port_put(q->port);
	}
	closnet_shaper_reset(&q->shaper);
	kvfree(q->fifo);
	kvfree(q->rp.qp);
	kvfree(q->rp.bucket);
}

static void roce_set_line(struct Qdisc *sch, u64 line_Bps)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct roce_options options = q->options;

	q->line_Bps = line_Bps;
	roce_apply(q, &options);
}

/* The options change only under RTNL, which is held here. */
static int roce_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct roce_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (roce_options_dump(skb, &q->options)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static struct Qdisc_ops roce_qdisc_ops __read_mostly = {
	.id		= "roce",
	.priv_size	= sizeof(struct roce_sched_data),
	.enqueue	= roce_enqueue,
	.dequeue	= roce_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= roce_init,
	.reset		= roce_reset,
	.destroy	= roce_destroy,
	.change		= roce_change,
	.dump		= roce_dump,
	.dump_stats	= roce_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("roce");

static int __init roce_module_init(void)
{
	int err;

	err = roce_nl_init();
	if (err)
		return err;
	err = closnet_ports_init(roce_set_line);
	if (err)
		goto no_ports;
	err = register_qdisc(&roce_qdisc_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	closnet_ports_exit();
no_ports:
	roce_nl_exit();
	return err;
}

static void __exit roce_module_exit(void)
{
	unregister_qdisc(&roce_qdisc_ops);
	closnet_ports_exit();
	roce_nl_exit();
}

module_init(roce_module_init);
module_exit(roce_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("DCQCN for RoCEv2: rate limiters of queue pairs, and CNPs");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
