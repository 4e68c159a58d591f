// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_dcqcn: DCQCN's congestion point as a qdisc
 *
 * For the egress port of a Linux switch (router or bridge). It marks packets
 * with the paper's probability on the queue as it is now, has a queue for each
 * of eight priorities, and shares a packet buffer with the switch's other ports,
 * which pauses who sends too much (PFC, dcqcn_pool.c).
 *
 *	enqueue(): GSO packets are segmented: a switch queues frames. DSCP, PCP
 *	  or skb->priority give the priority. A draw on the length of that
 *	  priority's queue says if the packet is marked; one that is not ECT is
 *	  let pass, or dropped. Then the pool takes it or does not; without a
 *	  pool, the limit decides.
 *
 *	dequeue(): the highest priority that has a packet, or deficit round
 *	  robin; paced to `rate` on devices that do not push back (veth).
 *
 * The decisions are in dcqcn_queue.h. This file is the rest: skbs, accounting,
 * netlink.
 *
 * Priorities and TX queues. On a device with eight TX queues or more, a
 * priority is sent through the TX queue of its number, and passed over while
 * that one is stopped: so a NIC that was told to pause a priority stops that
 * one alone, as in sch_multiq. When it goes on, it schedules the qdisc of its TX
 * queue, which is the root. Not so below mq, whose child has one TX queue only.
 * skb->priority is set for the NICs that choose by it.
 *
 * Stalls. A priority that has packets, but had no departure for `stall` with
 * its TX queue stopped, is stalled: who paused it does not let go, as in a PFC
 * storm or a deadlock. A timer looks for that, only while packets wait. It
 * counts it once, and drops, if asked to, what this priority holds and gets
 * until its TX queue is open.
 *
 * Accounting. A parent adds one packet of the length that it saw to its own
 * qlen and backlog, if enqueue() returns success. Only segmenting makes that
 * wrong, and dropping what waits; the parents are told.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, sections 3.1 and 4.
 *
 * Differences from the paper: see dcqcn_queue.h, dcqcn_pool_core.h, and:
 * - What the paper's switches have in their port, up to the frame being sent,
 *   is here in the NIC's ring, and counts for no threshold. BQL keeps that
 *   short.
 * - A packet that a parent (tbf) has peeked at is out of its queue, and of the
 *   pool, like the packet in service.
 * - Stalls are not in the paper; switches have such a watchdog today.
 */

#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <closnet/pfc.h>
#include <closnet/pkt_core.h>
#include <closnet/qdisc.h>
#include <closnet/skb_ip.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "dcqcn_config.h"
#include "dcqcn_pool.h"
#include "dcqcn_queue.h"

/* All under the root lock; the dump reads without it. */
struct dcqcn_sched_data {
	/* read for each packet */
	struct dcqcn_config cfg;
	struct dcqcn_port *port;	/* of the pool; NULL: there is none */
	u32 l2_len;
	bool whole_dev;			/* all of the device's TX queues are ours */
	bool watching;			/* the stall timer is armed */

	/* written for each packet */
	struct dcqcn_vars vars;
	struct qdisc_skb_head queue[TC_DCQCN_PRIOS];
	struct closnet_shaper shaper;

	u64 dropped_nomem_packets;
	struct hrtimer stall_timer;
	struct Qdisc *sch;
};

/**
 * struct dcqcn_skb_cb - for the time in the queue
 * @charge: what the pool counts, and the packet's priority
 */
struct dcqcn_skb_cb {
	struct dcqcn_charge charge;
};

static struct dcqcn_charge *dcqcn_charge(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct dcqcn_skb_cb));
	return &((struct dcqcn_skb_cb *)qdisc_skb_cb(skb)->data)->charge;
}

/* ---- headers ---- */

static u8 dcqcn_prio_by_pcp(const struct dcqcn_sched_data *q, const struct sk_buff *skb)
{
	u8 buffer[4];	/* Ethertype and tag */
	const u8 *tag;

	if (skb_vlan_tag_present(skb))
		return q->cfg.map[skb_vlan_tag_get_prio(skb)];
	if (!q->l2_len)
		return 0;
	tag = skb_header_pointer(skb, 2 * ETH_ALEN, sizeof(buffer), buffer);
	if (!tag || !closnet_is_vlan(closnet_get16(tag)))
		return 0;
	return q->cfg.map[tag[2] >> 5];
}

static u8 dcqcn_prio_of(const struct dcqcn_sched_data *q, const struct sk_buff *skb,
			const struct closnet_ip *ip)
{
	switch (q->cfg.trust) {
	case TC_DCQCN_TRUST_DSCP:
		return ip->hlen ? q->cfg.map[ip->dsfield >> 2] : 0;
	case TC_DCQCN_TRUST_PCP:
		return dcqcn_prio_by_pcp(q, skb);
	default:
		return skb->priority < TC_DCQCN_PRIOS ? skb->priority : 0;
	}
}

/**
 * enum dcqcn_ecn - what came of marking a packet
 * @DCQCN_ECN_SET: it is marked now
 * @DCQCN_ECN_WAS_SET: it was before
 * @DCQCN_ECN_NOT_ECT: it cannot be marked
 * @DCQCN_ECN_NOMEM: it could be, but for want of memory
 */
enum dcqcn_ecn {
	DCQCN_ECN_SET,
	DCQCN_ECN_WAS_SET,
	DCQCN_ECN_NOT_ECT,
	DCQCN_ECN_NOMEM,
};

/* What is shared with others, as a clone's header may be, is copied first. */
static enum dcqcn_ecn dcqcn_set_ce(struct sk_buff *skb, const struct closnet_ip *ip)
{
	if (!ip->hlen || INET_ECN_is_not_ect(ip->dsfield))
		return DCQCN_ECN_NOT_ECT;
	if (INET_ECN_is_ce(ip->dsfield))
		return DCQCN_ECN_WAS_SET;
	if (skb_ensure_writable(skb, ip->off + ip->hlen))
		return DCQCN_ECN_NOMEM;
	if (ip->hlen == CLOSNET_IPV4_HLEN)
		IP_ECN_set_ce((struct iphdr *)(skb->data + ip->off));
	else
		IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + ip->off));
	return DCQCN_ECN_SET;
}

/* ---- TX queues ---- */

static bool dcqcn_queue_a_prio(struct Qdisc *sch)
{
	const struct dcqcn_sched_data *q = qdisc_priv(sch);

	return q->whole_dev &&
	       READ_ONCE(qdisc_dev(sch)->real_num_tx_queues) >= TC_DCQCN_PRIOS;
}

/* Is the TX queue through which a priority leaves stopped? Of fewer than eight: the first */
static bool dcqcn_is_held(struct Qdisc *sch, u32 prio)
{
	if (!dcqcn_queue_a_prio(sch))
		return netif_xmit_frozen_or_stopped(sch->dev_queue);
	return netif_xmit_frozen_or_stopped(netdev_get_tx_queue(qdisc_dev(sch), prio));
}

/* The priorities that have a packet and may send it, a bit each */
static u32 dcqcn_may_send(struct Qdisc *sch)
{
	const struct dcqcn_sched_data *q = qdisc_priv(sch);
	unsigned long waiting = q->vars.waiting;
	u32 may = waiting, prio;

	if (!waiting || !dcqcn_queue_a_prio(sch))
		return may;
	for_each_set_bit(prio, &waiting, TC_DCQCN_PRIOS) {
		if (dcqcn_is_held(sch, prio))
			may &= ~BIT(prio);
	}
	return may;
}

/* ---- in and out ---- */

static void dcqcn_push(struct Qdisc *sch, struct sk_buff *skb, u32 prio)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);

	skb->priority = prio;
	if (dcqcn_queue_a_prio(sch))
		skb_set_queue_mapping(skb, prio);
	__qdisc_enqueue_tail(skb, &q->queue[prio]);
	dcqcn_count_in(&q->vars, prio, qdisc_pkt_len(skb), dcqcn_charge(skb)->lossless);
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

/* What a packet that is no longer in its queue counted for elsewhere */
static void dcqcn_uncount(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);

	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	if (q->port)
		dcqcn_pool_release(q->port, dcqcn_charge(skb));
}

/* Moves what a priority holds to a list. It is neither sent nor, as yet, dropped. */
static void dcqcn_take_all(struct Qdisc *sch, u32 prio, struct sk_buff **list)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(&q->queue[prio]))) {
		dcqcn_count_out(&q->vars, prio, qdisc_pkt_len(skb),
				dcqcn_charge(skb)->lossless);
		dcqcn_uncount(sch, skb);
		skb->next = *list;
		*list = skb;
	}
}

/* ---- stalls ---- */

static void dcqcn_watch(struct dcqcn_sched_data *q)
{
	u64 interval_ns = (u64)q->cfg.stall_us * NSEC_PER_USEC / DCQCN_STALL_CHECKS;

	q->watching = true;
	hrtimer_start(&q->stall_timer, ns_to_ktime(interval_ns), HRTIMER_MODE_REL_SOFT);
}

/* Drops what a stalled priority holds; the parents hear of it. */
static void dcqcn_drop_stalled(struct Qdisc *sch, u32 prio, struct sk_buff **to_free)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	u32 packets = q->vars.prio[prio].packets, bytes = q->vars.prio[prio].bytes;

	dcqcn_take_all(sch, prio, to_free);
	closnet_add(&q->vars.prio[prio].dropped_stalled_packets, packets);
	__qdisc_qstats_drop(sch, packets);
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

static enum hrtimer_restart dcqcn_stall_check(struct hrtimer *timer)
{
	struct dcqcn_sched_data *q = container_of(timer, struct dcqcn_sched_data,
						  stall_timer);
	struct Qdisc *sch = q->sch, *root;
	struct sk_buff *to_free = NULL;
	u32 prio;

	rcu_read_lock();
	root = qdisc_root_sleeping(sch);
	spin_lock(qdisc_lock(root));
	q->watching = false;
	for (prio = 0; q->cfg.stall_us && prio < TC_DCQCN_PRIOS; prio++) {
		if (dcqcn_check_stall(&q->vars, prio, dcqcn_is_held(sch, prio)) &&
		    q->cfg.stall_drop && q->vars.prio[prio].packets)
			dcqcn_drop_stalled(sch, prio, &to_free);
	}
	if (q->cfg.stall_us && sch->q.qlen)
		dcqcn_watch(q);
	spin_unlock(qdisc_lock(root));
	rcu_read_unlock();
	kfree_skb_list_reason(to_free, (enum skb_drop_reason)QDISC_DROP_OVERLIMIT);
	return HRTIMER_NORESTART;
}

/* ---- enqueue and dequeue ---- */

static int dcqcn_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free,
		      u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int dcqcn_drop_nomem(struct Qdisc *sch, struct sk_buff *skb,
			    struct sk_buff **to_free)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);

	closnet_add(&q->dropped_nomem_packets, 1);
	return qdisc_drop(skb, sch, to_free);
}

/* Is what comes for a stalled priority to be dropped? */
static bool dcqcn_refuses(struct Qdisc *sch, u32 prio)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);

	return q->cfg.stall_drop &&
	       dcqcn_check_stall(&q->vars, prio, dcqcn_is_held(sch, prio));
}

static enum dcqcn_verdict dcqcn_admit(struct Qdisc *sch, const struct sk_buff *skb,
				      u32 prio)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct dcqcn_charge *charge = dcqcn_charge(skb);
	u32 len = qdisc_pkt_len(skb);
	bool fits = dcqcn_fits(&q->cfg.params, &q->vars, len);

	if (q->port)
		return dcqcn_pool_admit(q->port, skb, prio, len, fits, charge);
	*charge = (struct dcqcn_charge) { .prio = prio };
	return fits ? DCQCN_LOSSY : DCQCN_NO_ROOM;
}

static int dcqcn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			 struct sk_buff **to_free);

static noinline int dcqcn_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				      struct sk_buff **to_free)
{
	int ret = closnet_enqueue_segs(skb, sch, to_free, dcqcn_enqueue);

	return ret < 0 ? dcqcn_drop_nomem(sch, skb, to_free) : ret;
}

static int dcqcn_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			 struct sk_buff **to_free)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	enum dcqcn_ecn ecn = DCQCN_ECN_WAS_SET;
	struct dcqcn_prio *queue;
	struct closnet_ip ip;
	u64 chance;
	u32 prio;

	if (skb_is_gso(skb))
		return dcqcn_enqueue_gso(sch, skb, to_free);
	closnet_shaper_wake(&q->shaper, sch->q.qlen);
	ip = closnet_skb_ip(skb, q->l2_len);
	prio = dcqcn_prio_of(q, skb, &ip);
	queue = &q->vars.prio[prio];
	if (unlikely(q->vars.stalled & BIT(prio)) && dcqcn_refuses(sch, prio))
		return dcqcn_drop(sch, skb, to_free, &queue->dropped_stalled_packets);

	chance = dcqcn_mark_chance(&q->cfg.params.marking[prio], queue->bytes);
	if (chance && dcqcn_marks(chance, get_random_u32())) {
		ecn = dcqcn_set_ce(skb, &ip);
		if (unlikely(ecn == DCQCN_ECN_NOMEM))
			return dcqcn_drop_nomem(sch, skb, to_free);
		if (ecn == DCQCN_ECN_NOT_ECT && q->cfg.nonect_drop)
			return dcqcn_drop(sch, skb, to_free, &queue->dropped_nonect_packets);
	}
	switch (dcqcn_admit(sch, skb, prio)) {
	case DCQCN_NO_ROOM:
		return dcqcn_drop(sch, skb, to_free, &queue->dropped_limit_packets);
	case DCQCN_NO_HEADROOM:	/* the pool has counted it, where it came in */
		return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
	default:
		break;
	}
	if (ecn == DCQCN_ECN_SET)
		closnet_add(&queue->marked_packets, 1);
	dcqcn_push(sch, skb, prio);
	if (unlikely(!q->watching) && q->cfg.stall_us)
		dcqcn_watch(q);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *dcqcn_dequeue(struct Qdisc *sch)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	u32 prio = dcqcn_pick(&q->cfg.params, &q->vars, dcqcn_may_send(sch));
	struct sk_buff *skb;
	u32 len;

	if (prio == TC_DCQCN_PRIOS)
		return NULL;
	len = qdisc_pkt_len(q->queue[prio].head);
	if (closnet_shaper_on(&q->shaper) && !closnet_shaper_due(&q->shaper, sch, len))
		return NULL;
	skb = __qdisc_dequeue_head(&q->queue[prio]);
	dcqcn_sent(&q->cfg.params, &q->vars, prio, len, dcqcn_charge(skb)->lossless);
	dcqcn_uncount(sch, skb);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void dcqcn_reset(struct Qdisc *sch)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct sk_buff *to_free = NULL;
	u32 prio;

	closnet_shaper_reset(&q->shaper);
	/* a qdisc that is destroyed is reset without its root lock */
	local_bh_disable();
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		dcqcn_take_all(sch, prio, &to_free);
		q->vars.prio[prio].credit = 0;
	}
	local_bh_enable();
	kfree_skb_list(to_free);
	q->vars.stalled = 0;
	q->vars.turn = 0;
}

/* ---- configuration ---- */

/*
 * Joins the pool that is asked for, or changes that of the port. RTNL is held,
 * the root lock is not.
 */
static int dcqcn_pool_apply(struct Qdisc *sch, struct dcqcn_port **port,
			    const struct dcqcn_pool_wish *wish,
			    struct netlink_ext_ack *extack)
{
	struct dcqcn_pool_params now;

	if (!*port) {
		if (!*wish->name && !wish->given)
			return 0;
		if (!*wish->name) {
			NL_SET_ERR_MSG(extack, "a buffer's values need the name of a pool");
			return -EINVAL;
		}
		*port = dcqcn_pool_join(qdisc_dev(sch), wish->name, &wish->params,
					wish->given, extack);
		return PTR_ERR_OR_ZERO(*port);
	}
	if (*wish->name && strcmp(wish->name, dcqcn_pool_get(*port, &now))) {
		NL_SET_ERR_MSG(extack, "a port stays in its pool until its qdisc is deleted");
		return -EINVAL;
	}
	return wish->given ?
	       dcqcn_pool_change(*port, &wish->params, wish->given, extack) : 0;
}

/* Under the root lock, or before anyone can see the qdisc */
static void dcqcn_apply(struct Qdisc *sch, const struct dcqcn_config *cfg,
			struct dcqcn_port *port)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	u32 prio;

	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		q->vars.prio[prio].credit = 0;
		if (!cfg->stall_us)
			q->vars.prio[prio].still_checks = 0;
	}
	if (!cfg->stall_us)	/* who does not look for stalls would not find their end */
		q->vars.stalled = 0;
	q->cfg = *cfg;
	q->port = port;
	closnet_shaper_set(&q->shaper, cfg->rate_Bps, cfg->overhead_bytes);
}

static int dcqcn_change(struct Qdisc *sch, struct nlattr *opt,
			struct netlink_ext_ack *extack)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct dcqcn_port *port = q->port;
	struct dcqcn_config cfg = q->cfg;
	struct dcqcn_pool_wish wish;
	int err;

	err = dcqcn_config_parse(&cfg, &wish, opt, extack);
	if (!err)
		err = dcqcn_pool_apply(sch, &port, &wish, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	dcqcn_apply(sch, &cfg, port);
	if (sch->q.qlen) {
		closnet_shaper_kick(&q->shaper);
		if (cfg.stall_us)
			dcqcn_watch(q);
	}
	sch_tree_unlock(sch);
	return 0;
}

static int dcqcn_init(struct Qdisc *sch, struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct dcqcn_pool_wish wish = {};
	struct dcqcn_port *port = NULL;
	struct dcqcn_config cfg;
	int err;

	/* first of all: destroy() follows an error */
	q->sch = sch;
	closnet_shaper_init(&q->shaper, sch);
	hrtimer_setup(&q->stall_timer, dcqcn_stall_check, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	q->l2_len = closnet_l2_len(qdisc_dev(sch));
	q->whole_dev = sch->parent == TC_H_ROOT ||
		       !(qdisc_root_sleeping(sch)->flags & TCQ_F_ONETXQUEUE);

	dcqcn_config_default(&cfg);
	err = opt ? dcqcn_config_parse(&cfg, &wish, opt, extack) :
		    dcqcn_config_finish(&cfg, extack);
	if (!err)
		err = dcqcn_pool_apply(sch, &port, &wish, extack);
	if (!err)
		dcqcn_apply(sch, &cfg, port);
	return err;
}

static void dcqcn_destroy(struct Qdisc *sch)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);

	closnet_shaper_reset(&q->shaper);
	hrtimer_cancel(&q->stall_timer);
	if (q->port)
		dcqcn_pool_leave(q->port);
}

static int dcqcn_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct dcqcn_pool_params pool;
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (dcqcn_config_dump(skb, &q->cfg) ||
	    (q->port && dcqcn_dump_pool(skb, dcqcn_pool_get(q->port, &pool), &pool))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static void dcqcn_prio_stats(const struct dcqcn_prio *v, struct tc_dcqcn_prio_xstats *to)
{
	to->qlen_packets = READ_ONCE(v->packets);
	to->backlog_bytes = READ_ONCE(v->bytes);
	to->peak_bytes = READ_ONCE(v->peak_bytes);
	to->sent_packets = READ_ONCE(v->sent_packets);
	to->sent_bytes = READ_ONCE(v->sent_bytes);
	to->marked_packets = READ_ONCE(v->marked_packets);
	to->dropped_limit_packets = READ_ONCE(v->dropped_limit_packets);
	to->dropped_nonect_packets = READ_ONCE(v->dropped_nonect_packets);
	to->dropped_stalled_packets = READ_ONCE(v->dropped_stalled_packets);
	to->stalls = READ_ONCE(v->stalls);
}

/* Only closwire tells how long it was paused, if it is there. */
static void dcqcn_paused_stats(struct net_device *dev, struct tc_dcqcn_xstats *to)
{
	int (*paused)(struct net_device *dev, u64 ns[PFC_PRIOS]);
	u64 ns[PFC_PRIOS];
	u32 prio;

	paused = symbol_get(closwire_pfc_paused_ns);
	if (!paused)
		return;
	if (!paused(dev, ns)) {
		for (prio = 0; prio < PFC_PRIOS; prio++)
			to->prio[prio].paused_ns = ns[prio];
	}
	symbol_put(closwire_pfc_paused_ns);
}

static int dcqcn_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct dcqcn_sched_data *q = qdisc_priv(sch);
	struct tc_dcqcn_xstats st = {
		.dropped_nomem_packets = READ_ONCE(q->dropped_nomem_packets),
	};
	u32 prio;

	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++)
		dcqcn_prio_stats(&q->vars.prio[prio], &st.prio[prio]);
	dcqcn_paused_stats(qdisc_dev(sch), &st);
	if (q->port)
		dcqcn_pool_stats(q->port, &st);
	return gnet_stats_copy_app(d, &st, sizeof(st));
}

static struct Qdisc_ops dcqcn_qdisc_ops __read_mostly = {
	.id		= "dcqcn",
	.priv_size	= sizeof(struct dcqcn_sched_data),
	.enqueue	= dcqcn_enqueue,
	.dequeue	= dcqcn_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= dcqcn_init,
	.reset		= dcqcn_reset,
	.destroy	= dcqcn_destroy,
	.change		= dcqcn_change,
	.dump		= dcqcn_dump,
	.dump_stats	= dcqcn_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("dcqcn");

static int __init dcqcn_module_init(void)
{
	int err = dcqcn_pool_init();

	if (err)
		return err;
	err = register_qdisc(&dcqcn_qdisc_ops);
	if (err)
		dcqcn_pool_exit();
	return err;
}

static void __exit dcqcn_module_exit(void)
{
	unregister_qdisc(&dcqcn_qdisc_ops);
	dcqcn_pool_exit();
}

module_init(dcqcn_module_init);
module_exit(dcqcn_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("DCQCN switch port: exact marking, priorities, PFC with a shared buffer");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
