// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_dcqcn: DCQCN's congestion point as a qdisc
 *
 * A queue for an egress port of a Linux switch (router or bridge). It marks
 * packets with the paper's probability, computed from the instantaneous queue.
 * With a pool, it shares a packet buffer with the switch's other ports, which
 * send pause frames (PFC) to upstream ports that exceed their share
 * (dcqcnq_pool.c).
 *
 *	enqueue(): Segment GSO packets, since a switch queues frames. A random
 *	  draw decides whether to mark the packet. A packet to be marked that is
 *	  not ECT is passed or dropped. Then the pool, or without a pool the
 *	  limit, decides whether to admit the packet.
 *
 *	dequeue(): first in, first out; paced to `rate` on devices without
 *	  backpressure (veth). No packet while the peer has paused its priority.
 *
 * dcqcnq_queue.c decides. This file has skbs, accounting and netlink.
 *
 * Priorities. The qdisc is a leaf: one queue, of one priority. Several priorities
 * are several of them below ets, prio, mqprio or mq, which choose and schedule.
 * With `prio N`, packets get skb->priority N, so that the NIC also sends them in
 * this priority. Without it, each packet counts for its own skb->priority, or for
 * 0 if that is above 7.
 *
 * Pauses. A NIC stops the TX queue of a paused priority, or keeps the packets in
 * its ring. closwire keeps them, and gives the qdisc the end of each pause. While
 * the priority of its head is paused, the qdisc sends no packet, so that other
 * leaves of the same TX queue may send. If the pause ends early, closwire
 * schedules the qdisc.
 *
 * Stalls. A queue that is held, by a pause or by a stopped TX queue, and has had
 * no departure for `stall`, is stalled, as in a PFC storm or a deadlock. A timer
 * checks for that while packets wait. It counts the stall once. With stall_drop,
 * it drops the queue's packets until the queue may send. Only a qdisc with a TX
 * queue of its own checks whether that is stopped.
 *
 * Accounting. If enqueue() returns success, a parent adds one packet, of the
 * length that it saw, to its own qlen and backlog. Segmenting, and dropping
 * waiting packets, make that wrong. Then the parents' counts are corrected.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, sections 3.1 and 4.
 *
 * Differences from the paper: see dcqcnq_queue.c, dcqcnq_mmu.c, and:
 * - The paper's switches count frames until they are sent. Here, frames in the
 *   NIC's ring count for no threshold. BQL keeps the ring short.
 * - A packet that a parent (tbf) has peeked at has left its queue and the pool,
 *   like the packet in service.
 */

#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <closnet/pfc.h>
#include <closnet/qdisc.h>
#include <closnet/skb_ip.h>
#include <net/pkt_sched.h>
#include "dcqcnq_options.h"
#include "dcqcnq_pool.h"
#include "dcqcnq_queue.h"

/* Counters: TCA_DCQCN_STATS_*. Written under the root lock, read without it. */
struct dcqcnq_stats {
	u64 peak_bytes;
	u64 marked_packets;
	u64 dropped_limit_packets;
	u64 dropped_nonect_packets;
	u64 dropped_headroom_packets;
	u64 dropped_stalled_packets;
	u64 dropped_nomem_packets;
	u64 dropped_gso_packets;
	u64 stalls;
};

/* Under the root lock, except for reading statistics */
struct dcqcnq_sched_data {
	/* read for each packet */
	struct dcqcnq_options options;
	struct dcqcnq_marking marking;	/* from options */
	struct dcqcnq_port *port;	/* NULL: not in a pool */
	u64 (*paused_until_ns)(struct net_device *dev, u32 prio);	/* NULL: not closwire */
	u32 l2_len;
	bool watching;			/* the stall timer is armed */

	/* written for each packet */
	struct dcqcnq_vars vars;
	struct qdisc_skb_head queue;
	struct closnet_shaper shaper;
	struct dcqcnq_stats stats;

	struct hrtimer stall_timer;
	struct Qdisc *sch;
};

/* The charge is kept while the packet waits. */
static struct dcqcnq_charge *dcqcnq_charge(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct dcqcnq_charge));
	return (struct dcqcnq_charge *)qdisc_skb_cb(skb)->data;
}

static u8 dcqcnq_prio(const struct dcqcnq_sched_data *q, const struct sk_buff *skb)
{
	if (q->options.prio != TC_DCQCN_PRIO_PACKET)
		return q->options.prio;
	return skb->priority < DCQCNQ_PRIOS ? skb->priority : 0;
}

/* ---- pauses ---- */

/* Get the end of a priority's pause, CLOCK_MONOTONIC in ns; 0: not paused. */
static u64 dcqcnq_paused_until(struct Qdisc *sch, u32 prio)
{
	const struct dcqcnq_sched_data *q = qdisc_priv(sch);
	u64 until_ns;

	if (!q->paused_until_ns)
		return 0;
	until_ns = q->paused_until_ns(qdisc_dev(sch), prio);
	return until_ns && until_ns > ktime_get_ns() ? until_ns : 0;
}

/* Is the queue held, by a pause or a stopped TX queue? */
static bool dcqcnq_is_held(struct Qdisc *sch)
{
	const struct dcqcnq_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *skb = q->queue.head;
	u32 prio = skb ? dcqcnq_charge(skb)->prio : q->options.prio;
	bool own_queue;

	if (prio < DCQCNQ_PRIOS && dcqcnq_paused_until(sch, prio))
		return true;
	/* only a TX queue's own qdisc: another leaf may keep a shared one busy */
	rcu_read_lock();
	own_queue = sch->flags & TCQ_F_ONETXQUEUE && qdisc_root_sleeping(sch) == sch;
	rcu_read_unlock();
	return own_queue && netif_xmit_frozen_or_stopped(sch->dev_queue);
}

/* ---- in and out ---- */

/* Remove a packet that has left the queue from all counts. */
static void dcqcnq_uncount(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct dcqcnq_charge *charge = dcqcnq_charge(skb);

	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	if (charge->charged)
		dcqcnq_pool_release(q->port, qdisc_pkt_len(skb), charge);
}

/*
 * Move all packets to a list, newest first. Bounded by the limit and the pool's
 * buffer.
 */
static struct sk_buff *dcqcnq_take_all(struct Qdisc *sch, struct sk_buff **oldest)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb, *list = NULL;

	*oldest = q->queue.head;
	while ((skb = __qdisc_dequeue_head(&q->queue))) {
		dcqcnq_count_out(&q->vars, qdisc_pkt_len(skb), dcqcnq_charge(skb)->lossless);
		dcqcnq_uncount(sch, skb);
		skb->next = list;
		list = skb;
	}
	return list;
}

/* ---- stalls ---- */

static void dcqcnq_watch(struct dcqcnq_sched_data *q)
{
	u64 interval_ns = (u64)q->options.stall_us * NSEC_PER_USEC / DCQCNQ_STALL_CHECKS;

	q->watching = true;
	hrtimer_start(&q->stall_timer, ns_to_ktime(interval_ns), HRTIMER_MODE_REL_SOFT);
}

/* Take all packets of a stalled queue to drop, and correct the parents' counts. */
static struct sk_buff *dcqcnq_drop_stalled(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	u32 packets = sch->q.qlen, bytes = q->vars.bytes;
	struct sk_buff *list, *oldest;

	list = dcqcnq_take_all(sch, &oldest);
	packets -= sch->q.qlen;	/* a packet that was peeked at remains */
	closnet_add(&q->stats.dropped_stalled_packets, packets);
	__qdisc_qstats_drop(sch, packets);
	qdisc_tree_reduce_backlog(sch, packets, bytes);
	return list;
}

static void dcqcnq_look_for_stall(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	if (dcqcnq_check_stall(&q->vars, dcqcnq_is_held(sch)))
		closnet_add(&q->stats.stalls, 1);
}

static enum hrtimer_restart dcqcnq_stall_timer(struct hrtimer *timer)
{
	struct dcqcnq_sched_data *q = container_of(timer, struct dcqcnq_sched_data,
						   stall_timer);
	struct Qdisc *sch = q->sch, *root;
	struct sk_buff *to_free = NULL;

	rcu_read_lock();
	root = qdisc_root_sleeping(sch);
	spin_lock(qdisc_lock(root));
	q->watching = false;
	if (q->options.stall_us) {
		dcqcnq_look_for_stall(sch);
		if (q->vars.stalled && q->options.stall_drop)
			to_free = dcqcnq_drop_stalled(sch);
		if (q->vars.bytes)
			dcqcnq_watch(q);
	}
	spin_unlock(qdisc_lock(root));
	rcu_read_unlock();
	kfree_skb_list_reason(to_free, (enum skb_drop_reason)QDISC_DROP_OVERLIMIT);
	return HRTIMER_NORESTART;
}

/* ---- enqueue and dequeue ---- */

static int dcqcnq_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free,
		       u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int dcqcnq_drop_nomem(struct Qdisc *sch, struct sk_buff *skb,
			     struct sk_buff **to_free, u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop(skb, sch, to_free);
}

/* Is an arrival to be dropped because the queue is stalled? First check whether it moves. */
static bool dcqcnq_refuses(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	if (!q->options.stall_drop)
		return false;
	dcqcnq_look_for_stall(sch);
	return q->vars.stalled;
}

static enum dcqcnq_verdict dcqcnq_admit(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct dcqcnq_charge *charge = dcqcnq_charge(skb);
	u32 len = qdisc_pkt_len(skb);
	bool fits = dcqcnq_fits(q->options.limit, &q->vars, len);

	*charge = (struct dcqcnq_charge) { .prio = dcqcnq_prio(q, skb) };
	if (q->port)
		return dcqcnq_pool_admit(q->port, skb, len, fits, charge);
	return fits ? DCQCNQ_LOSSY : DCQCNQ_NO_ROOM;
}

static int dcqcnq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free);

static noinline int dcqcnq_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				       struct sk_buff **to_free)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	int ret = closnet_enqueue_segs(skb, sch, to_free, dcqcnq_enqueue);

	if (ret < 0)
		return dcqcnq_drop_nomem(sch, skb, to_free, &q->stats.dropped_gso_packets);
	return ret;
}

static void dcqcnq_push(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	if (q->options.prio != TC_DCQCN_PRIO_PACKET)
		skb->priority = q->options.prio;
	__qdisc_enqueue_tail(skb, &q->queue);
	dcqcnq_count_in(&q->vars, qdisc_pkt_len(skb), dcqcnq_charge(skb)->lossless);
	if (q->vars.bytes > q->stats.peak_bytes)
		WRITE_ONCE(q->stats.peak_bytes, q->vars.bytes);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

static int dcqcnq_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			  struct sk_buff **to_free)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	enum closnet_ce ce = CLOSNET_CE_WAS_SET;
	u64 chance;

	if (skb_is_gso(skb))
		return dcqcnq_enqueue_gso(sch, skb, to_free);
	closnet_shaper_wake(&q->shaper, sch->q.qlen);
	if (unlikely(q->vars.stalled) && dcqcnq_refuses(sch))
		return dcqcnq_drop(sch, skb, to_free, &q->stats.dropped_stalled_packets);

	chance = dcqcnq_mark_chance(&q->marking, q->vars.bytes);
	if (chance && dcqcnq_marks(chance, get_random_u32())) {
		ce = closnet_set_ce(skb, q->l2_len);
		if (unlikely(ce == CLOSNET_CE_NOMEM))
			return dcqcnq_drop_nomem(sch, skb, to_free,
						 &q->stats.dropped_nomem_packets);
		if (ce == CLOSNET_CE_NOT_ECT && q->options.nonect == TC_DCQCN_NONECT_DROP)
			return dcqcnq_drop(sch, skb, to_free, &q->stats.dropped_nonect_packets);
	}
	switch (dcqcnq_admit(sch, skb)) {
	case DCQCNQ_NO_ROOM:
		return dcqcnq_drop(sch, skb, to_free, &q->stats.dropped_limit_packets);
	case DCQCNQ_NO_HEADROOM:
		return dcqcnq_drop(sch, skb, to_free, &q->stats.dropped_headroom_packets);
	default:
		break;
	}
	if (ce == CLOSNET_CE_SET)
		closnet_add(&q->stats.marked_packets, 1);
	dcqcnq_push(sch, skb);
	if (unlikely(!q->watching) && q->options.stall_us)
		dcqcnq_watch(q);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *dcqcnq_dequeue(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = q->queue.head;
	u64 until_ns;
	u32 len;

	if (!skb)
		return NULL;
	until_ns = dcqcnq_paused_until(sch, dcqcnq_charge(skb)->prio);
	if (unlikely(until_ns)) {
		qdisc_watchdog_schedule_ns(&q->shaper.watchdog, until_ns);
		return NULL;
	}
	len = qdisc_pkt_len(skb);
	if (closnet_shaper_on(&q->shaper) && !closnet_shaper_due(&q->shaper, sch, len))
		return NULL;
	__qdisc_dequeue_head(&q->queue);
	dcqcnq_sent(&q->vars, len, dcqcnq_charge(skb)->lossless);
	dcqcnq_uncount(sch, skb);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void dcqcnq_reset(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *newest, *oldest;

	closnet_shaper_reset(&q->shaper);
	/* a qdisc that is destroyed is reset without its root lock */
	local_bh_disable();
	newest = dcqcnq_take_all(sch, &oldest);
	local_bh_enable();
	rtnl_kfree_skbs(newest, oldest);
	q->vars.stalled = false;
}

/* ---- configuration ---- */

/* Parse changes of a pool's options. Return: 0 or a negative error. */
static int dcqcnq_pool_parse(struct Qdisc *sch, const struct dcqcnq_port *port,
			     const struct nlattr *nest, char *name,
			     struct dcqcnq_pool_options *options, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_POOL_MAX + 1];
	const struct nlattr *attr;

	attr = nla_find_nested(nest, TCA_DCQCN_POOL_NAME);
	if (attr && nla_strscpy(name, attr, DCQCNQ_POOL_NAME_MAX + 1) <= 0) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "pool must have a name of 1 to "
				    __stringify(DCQCNQ_POOL_NAME_MAX) " characters");
		return -ERANGE;
	}
	if (port)
		dcqcnq_pool_get(port, options);
	else
		dcqcnq_pool_lookup(qdisc_dev(sch), name, options);
	return dcqcnq_pool_options_parse(options, tb, nest, extack);
}

/*
 * Join a pool or change the port's pool, as TCA_DCQCN_POOL requests. RTNL is held, the root lock is
 * not.
 */
static int dcqcnq_pool_apply(struct Qdisc *sch, struct dcqcnq_port **port,
			     const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct dcqcnq_pool_options options, present;
	char name[DCQCNQ_POOL_NAME_MAX + 1] = "";
	int err;

	if (!nest)
		return 0;
	err = dcqcnq_pool_parse(sch, *port, nest, name, &options, extack);
	if (err)
		return err;
	if (*port) {
		if (*name && strcmp(name, dcqcnq_pool_get(*port, &present))) {
			NL_SET_ERR_MSG(extack,
				       "pool cannot change: delete the qdisc first");
			return -EINVAL;
		}
		return dcqcnq_pool_change(*port, &options, extack);
	}
	if (!*name) {
		NL_SET_ERR_MSG(extack, "options of a buffer need the name of a pool");
		return -EINVAL;
	}
	*port = dcqcnq_pool_join(sch, name, &options, extack);
	return PTR_ERR_OR_ZERO(*port);
}

/*
 * Parse options, then join or change a pool. @options are complete, and undefined after an error.
 * Return: 0 or a negative error
 */
static int dcqcnq_parse(struct Qdisc *sch, struct nlattr *opt, struct dcqcnq_options *options,
			struct dcqcnq_port **port, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_MAX + 1];
	int err;

	err = dcqcnq_options_parse(options, tb, opt, extack);
	if (err)
		return err;
	if (options->kmin > options->kmax) {
		NL_SET_ERR_MSG(extack, "kmin must not be above kmax");
		return -EINVAL;
	}
	return dcqcnq_pool_apply(sch, port, tb[TCA_DCQCN_POOL], extack);
}

static void dcqcnq_apply(struct Qdisc *sch, const struct dcqcnq_options *options,
			 struct dcqcnq_port *port)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	if (!options->stall_us) {	/* without checks, a stall would not end */
		q->vars.still_checks = 0;
		q->vars.stalled = false;
	}
	q->options = *options;
	q->marking = (struct dcqcnq_marking) {
		.kmin = options->kmin, .kmax = options->kmax, .pmax = options->pmax,
	};
	dcqcnq_marking_finish(&q->marking);
	q->port = port;
	closnet_shaper_set(&q->shaper, options->rate_Bps, options->overhead);
}

static int dcqcnq_change(struct Qdisc *sch, struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct dcqcnq_options options = q->options;
	struct dcqcnq_port *port = q->port;
	int err;

	err = dcqcnq_parse(sch, opt, &options, &port, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	dcqcnq_apply(sch, &options, port);
	if (q->vars.bytes) {
		closnet_shaper_kick(&q->shaper);
		if (options.stall_us)
			dcqcnq_watch(q);
	}
	sch_tree_unlock(sch);
	return 0;
}

/* Module closwire stays as long as its device, so its code needs no reference. */
static void dcqcnq_find_closwire(struct Qdisc *sch)
{
	const struct rtnl_link_ops *ops = qdisc_dev(sch)->rtnl_link_ops;
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	if (!ops || strcmp(ops->kind, "closwire"))
		return;
	q->paused_until_ns = symbol_get(closwire_pfc_paused_until_ns);
	if (q->paused_until_ns)
		symbol_put(closwire_pfc_paused_until_ns);
}

static int dcqcnq_init(struct Qdisc *sch, struct nlattr *opt,
		       struct netlink_ext_ack *extack)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct dcqcnq_port *port = NULL;
	struct dcqcnq_options options;
	int err = 0;

	/* before any error: destroy() follows it */
	q->sch = sch;
	closnet_shaper_init(&q->shaper, sch);
	hrtimer_setup(&q->stall_timer, dcqcnq_stall_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	q->l2_len = closnet_l2_len(qdisc_dev(sch));
	dcqcnq_find_closwire(sch);

	dcqcnq_options_init(&options);
	if (opt)
		err = dcqcnq_parse(sch, opt, &options, &port, extack);
	if (!err)
		dcqcnq_apply(sch, &options, port);
	return err;
}

static void dcqcnq_destroy(struct Qdisc *sch)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);

	closnet_shaper_reset(&q->shaper);
	hrtimer_cancel(&q->stall_timer);
	if (q->port)
		dcqcnq_pool_leave(q->port, sch);
}

/* ---- dumps ---- */

static int dcqcnq_dump_pool(struct sk_buff *skb, const struct dcqcnq_port *port)
{
	struct dcqcnq_pool_options options;
	struct nlattr *nest;

	if (!port)
		return 0;
	nest = nla_nest_start(skb, TCA_DCQCN_POOL);
	if (!nest ||
	    nla_put_string(skb, TCA_DCQCN_POOL_NAME, dcqcnq_pool_get(port, &options)) ||
	    dcqcnq_pool_options_dump(skb, &options))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dcqcnq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (dcqcnq_options_dump(skb, &q->options) || dcqcnq_dump_pool(skb, q->port)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

#define dcqcnq_put(skb, attr, value) \
	nla_put_u64_64bit(skb, TCA_DCQCN_STATS_##attr, value, TCA_DCQCN_STATS_PAD)
#define dcqcnq_put_pool(skb, attr, value) \
	nla_put_u64_64bit(skb, TCA_DCQCN_STATS_POOL_##attr, value, TCA_DCQCN_STATS_POOL_PAD)
#define dcqcnq_put_prio(skb, attr, value) \
	nla_put_u64_64bit(skb, TCA_DCQCN_STATS_PRIO_##attr, value, TCA_DCQCN_STATS_PRIO_PAD)

static int dcqcnq_dump_queue(struct sk_buff *skb, const struct dcqcnq_stats *s)
{
	if (dcqcnq_put(skb, PEAK_BYTES, READ_ONCE(s->peak_bytes)) ||
	    dcqcnq_put(skb, MARKED_PACKETS, READ_ONCE(s->marked_packets)) ||
	    dcqcnq_put(skb, DROPPED_LIMIT_PACKETS, READ_ONCE(s->dropped_limit_packets)) ||
	    dcqcnq_put(skb, DROPPED_NONECT_PACKETS, READ_ONCE(s->dropped_nonect_packets)) ||
	    dcqcnq_put(skb, DROPPED_HEADROOM_PACKETS,
		       READ_ONCE(s->dropped_headroom_packets)) ||
	    dcqcnq_put(skb, DROPPED_STALLED_PACKETS,
		       READ_ONCE(s->dropped_stalled_packets)) ||
	    dcqcnq_put(skb, DROPPED_NOMEM_PACKETS, READ_ONCE(s->dropped_nomem_packets)) ||
	    dcqcnq_put(skb, DROPPED_GSO_PACKETS, READ_ONCE(s->dropped_gso_packets)) ||
	    dcqcnq_put(skb, STALLS, READ_ONCE(s->stalls)))
		return -EMSGSIZE;
	return 0;
}

static int dcqcnq_dump_pool_stats(struct sk_buff *skb, const struct dcqcnq_port *port)
{
	struct dcqcnq_pool_stats st;
	struct nlattr *nest;

	dcqcnq_pool_get_stats(port, &st);
	nest = nla_nest_start(skb, TCA_DCQCN_STATS_POOL);
	if (!nest ||
	    dcqcnq_put_pool(skb, PORTS, st.ports) ||
	    dcqcnq_put_pool(skb, BYTES, st.bytes) ||
	    dcqcnq_put_pool(skb, PEAK_BYTES, st.peak_bytes) ||
	    dcqcnq_put_pool(skb, XOFF_BYTES, st.xoff_bytes) ||
	    dcqcnq_put_pool(skb, HEADROOM_BYTES, st.headroom_bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dcqcnq_dump_ingress(struct sk_buff *skb, struct dcqcnq_port *port, u32 prio)
{
	struct dcqcnq_prio_stats st;
	const struct dcqcnq_ingress *in = &st.ingress;

	dcqcnq_pool_get_prio_stats(port, prio, &st);
	if (dcqcnq_put_prio(skb, INGRESS_BYTES, in->shared_bytes + in->headroom_bytes) ||
	    dcqcnq_put_prio(skb, INGRESS_PEAK_BYTES, in->peak_bytes) ||
	    dcqcnq_put_prio(skb, HEADROOM_BYTES, in->headroom_bytes) ||
	    dcqcnq_put_prio(skb, HEADROOM_PEAK_BYTES, in->headroom_peak_bytes) ||
	    dcqcnq_put_prio(skb, XOFF_FRAMES, st.xoff_frames) ||
	    dcqcnq_put_prio(skb, XON_FRAMES, st.xon_frames) ||
	    dcqcnq_put_prio(skb, DROPPED_PACKETS, in->dropped_packets))
		return -EMSGSIZE;
	return 0;
}

/* Dump a priority of the port. @paused_ns is NULL on other devices than closwire. */
static int dcqcnq_dump_prio(struct sk_buff *skb, struct dcqcnq_port *port,
			    const u64 *paused_ns, u32 prio)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_DCQCN_STATS_PRIO);

	if (!nest || nla_put_u32(skb, TCA_DCQCN_STATS_PRIO_INDEX, prio) ||
	    (paused_ns && dcqcnq_put_prio(skb, PAUSED_NS, paused_ns[prio])) ||
	    (port && dcqcnq_dump_ingress(skb, port, prio)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Get the time for which the peer has paused each priority; false: not a closwire port. */
static bool dcqcnq_paused_ns(struct Qdisc *sch, u64 ns[DCQCNQ_PRIOS])
{
	const struct dcqcnq_sched_data *q = qdisc_priv(sch);
	int (*paused)(struct net_device *dev, u64 ns[DCQCNQ_PRIOS]);
	bool told;

	if (!q->paused_until_ns)
		return false;
	paused = symbol_get(closwire_pfc_paused_ns);
	if (!paused)
		return false;
	told = !paused(qdisc_dev(sch), ns);
	symbol_put(closwire_pfc_paused_ns);
	return told;
}

static int dcqcnq_dump_prios(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct dcqcnq_sched_data *q = qdisc_priv(sch);
	u32 own = READ_ONCE(q->options.prio), prio;
	u64 paused_ns[DCQCNQ_PRIOS];
	bool closwire = dcqcnq_paused_ns(sch, paused_ns);
	int err = 0;

	if (!q->port && !closwire)
		return 0;
	for (prio = 0; prio < DCQCNQ_PRIOS && !err; prio++) {
		if (own == TC_DCQCN_PRIO_PACKET || own == prio)
			err = dcqcnq_dump_prio(skb, q->port, closwire ? paused_ns : NULL, prio);
	}
	return err;
}

static int dcqcnq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct dcqcnq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(d->skb, TCA_STATS_APP);

	if (!nest)
		return -1;
	if (dcqcnq_dump_queue(d->skb, &q->stats) ||
	    (q->port && dcqcnq_dump_pool_stats(d->skb, q->port)) ||
	    dcqcnq_dump_prios(sch, d->skb)) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

static struct Qdisc_ops dcqcnq_qdisc_ops __read_mostly = {
	.id		= "dcqcn",
	.priv_size	= sizeof(struct dcqcnq_sched_data),
	.enqueue	= dcqcnq_enqueue,
	.dequeue	= dcqcnq_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= dcqcnq_init,
	.reset		= dcqcnq_reset,
	.destroy	= dcqcnq_destroy,
	.change		= dcqcnq_change,
	.dump		= dcqcnq_dump,
	.dump_stats	= dcqcnq_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("dcqcn");

static int __init dcqcnq_module_init(void)
{
	int err = dcqcnq_pool_init();

	if (err)
		return err;
	err = register_qdisc(&dcqcnq_qdisc_ops);
	if (err)
		dcqcnq_pool_exit();
	return err;
}

static void __exit dcqcnq_module_exit(void)
{
	unregister_qdisc(&dcqcnq_qdisc_ops);
	dcqcnq_pool_exit();
}

module_init(dcqcnq_module_init);
module_exit(dcqcnq_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("DCQCN switch queue: exact marking, PFC with a shared buffer");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
