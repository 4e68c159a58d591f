// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_voq: virtual output queues with credit from the egress port
 *
 *	ingress leaf                                                egress leaf
 *	+---- voq credit, fab0 ----+                          +---- voq grant, host1 ----+
 *	| VOQ leaf 2, host 1 -+    |   ------- data ------->  |                          |
 *	| VOQ leaf 2, host 2 -+ DRR| -->  fabric              |  FIFO ------------------> | host 1
 *	| VOQ leaf 3, host 1 -+    |   ------ request ----->  |  sources -> credit       |
 *	|                          |   <------ grant -------  |                          |
 *	+--------------------------+                          +--------------------------+
 *
 * A switch with virtual output queues holds packets at the ingress until the egress port can send
 * them. Here the ingress leaf's VOQs (voq_core.c) send as much as the egress port (voq_grant.c) has
 * granted; voq_net.c has the messages. Without credit, the VOQs share the device by deficit round
 * robin, each at voq_rate at most.
 *
 * The VOQ of a packet belongs to its destination address and the leaf that its tunnel route
 * names. Packets that find all VOQs in use wait in a FIFO, and until it is empty no VOQ is created,
 * so that no packet overtakes another one of its destination.
 *
 * Locks. FIFOs are under the root lock. The VOQs' state is also changed by messages; end->lock,
 * inside the root lock, guards it.
 *
 * Accounting. If enqueue() returns success, a parent adds one packet. With credit, GSO packets are
 * segmented, since a VOQ exceeds its credit by up to one packet; closnet_enqueue_segs() corrects
 * the parents.
 *
 * Differences from switches. Packets are not cut into cells. Each address has a VOQ: several
 * addresses behind one port have several, whose credit is the port's.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pkt_sched_voq.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/dst_metadata.h>
#include <net/gen_stats.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <closnet/link_rate.h>
#include <closnet/netlink.h>
#include <closnet/qdisc.h>
#include "voq.h"
#include "voq_options.h"

/* Assumed line rate of a device whose rate is unknown, bytes per second */
#define VOQ_LINE_UNKNOWN	1250000000ULL

/* A FIFO, linked by skb->next */
struct voq_fifo {
	struct sk_buff *head;
	struct sk_buff *tail;
};

/* Counters of a qdisc; TCA_VOQ_STATS_* describes them. Written under the root lock. */
struct voq_stats {
	u64 overflow_packets;
	u64 dropped_limit_packets;
	u64 dropped_voq_packets;
	u64 dropped_gso_packets;
};

/* All under the root lock; statistics are read without it. */
struct voq_sched_data {
	struct voq_options options;
	struct voq_end *end;
	siphash_key_t hash_key;
	struct voq_fifo *fifo;		/* by slot of end->table */
	struct qdisc_skb_head other;	/* with grant: all packets; else those without a VOQ */
	bool other_last;		/* the last packet was one of @other */
	struct closnet_shaper shaper;	/* its watchdog serves voq_rate as well */
	struct voq_stats stats;
};

/* ---- the VOQ of a packet ---- */

static void voq_set_leaf(struct voq_key *key, struct sk_buff *skb)
{
	const struct ip_tunnel_info *info = skb_tunnel_info(skb);
	struct in6_addr addr;

	if (!info || !(info->mode & IP_TUNNEL_INFO_TX))
		return;
	if (ip_tunnel_info_af(info) == AF_INET6)
		addr = info->key.u.ipv6.dst;
	else
		ipv6_addr_set_v4mapped(info->key.u.ipv4.dst, &addr);
	memcpy(key->leaf, &addr, sizeof(key->leaf));
}

static void voq_set_dst(struct voq_key *key, const struct sk_buff *skb)
{
	u32 off = skb_network_offset(skb);
	struct in6_addr addr = { };
	struct ipv6hdr *ip6, ip6_copy;
	struct iphdr *ip, ip_copy;

	if (skb->protocol == htons(ETH_P_IP)) {
		ip = skb_header_pointer(skb, off, sizeof(ip_copy), &ip_copy);
		if (ip)
			ipv6_addr_set_v4mapped(ip->daddr, &addr);
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		ip6 = skb_header_pointer(skb, off, sizeof(ip6_copy), &ip6_copy);
		if (ip6)
			addr = ip6->daddr;
	}
	memcpy(key->dst, &addr, sizeof(key->dst));
}

static bool voq_is_set(const u8 *addr)
{
	return memchr_inv(addr, 0, VOQ_ADDR_LEN);
}

/*
 * Get the slot of a packet, under the end's lock. While packets wait in the other queue, no VOQ is
 * created.
 */
static u32 voq_slot(struct voq_sched_data *q, struct sk_buff *skb)
{
	struct voq_table *t = &q->end->table;
	struct voq_key key = { };
	u32 hash, slot;

	voq_set_leaf(&key, skb);
	voq_set_dst(&key, skb);
	hash = siphash(&key, sizeof(key), &q->hash_key);
	slot = voq_find(t, &key, hash);
	if (likely(slot != VOQ_NO_SLOT) || q->other.head)
		return slot;
	return voq_claim(t, &key, hash,
			 t->params.credits && voq_is_set(key.leaf) && voq_is_set(key.dst));
}

/* ---- enqueue ---- */

static int voq_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free, u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

static int voq_added(struct Qdisc *sch, const struct sk_buff *skb)
{
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

static void voq_fifo_push(struct voq_fifo *fifo, struct sk_buff *skb)
{
	skb->next = NULL;
	if (fifo->head)
		fifo->tail->next = skb;
	else
		fifo->head = skb;
	fifo->tail = skb;
}

static struct sk_buff *voq_fifo_pop(struct voq_fifo *fifo)
{
	struct sk_buff *skb = fifo->head;

	fifo->head = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

/* Note the packet in its VOQ. Return: slot, VOQ_NO_SLOT; @full: the VOQ is full */
static u32 voq_note(struct voq_sched_data *q, struct sk_buff *skb, bool *full)
{
	struct voq_end *end = q->end;
	u32 slot;

	spin_lock(&end->lock);
	slot = voq_slot(q, skb);
	*full = slot != VOQ_NO_SLOT && end->table.slot[slot].packets >= q->options.voq_limit;
	if (likely(slot != VOQ_NO_SLOT && !*full)) {
		voq_queued(&end->table, slot, qdisc_pkt_len(skb), ktime_get_ns());
		voq_end_arm(end);
	}
	spin_unlock(&end->lock);
	return slot;
}

static int voq_enqueue_other(struct Qdisc *sch, struct sk_buff *skb)
{
	struct voq_sched_data *q = qdisc_priv(sch);

	__qdisc_enqueue_tail(skb, &q->other);
	return voq_added(sch, skb);
}

static int voq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);

/* A GSO packet would exceed the VOQ's credit. */
static noinline int voq_enqueue_gso(struct Qdisc *sch, struct sk_buff *skb,
				    struct sk_buff **to_free)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	int ret = closnet_enqueue_segs(skb, sch, to_free, voq_enqueue);

	if (ret < 0)
		return voq_drop(sch, skb, to_free, &q->stats.dropped_gso_packets);
	return ret;
}

static int voq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	bool full;
	u32 slot;

	if (unlikely(sch->q.qlen >= q->options.limit))
		return voq_drop(sch, skb, to_free, &q->stats.dropped_limit_packets);
	closnet_shaper_wake(&q->shaper, sch->q.qlen);
	if (q->options.grant)
		return voq_enqueue_other(sch, skb);
	if (unlikely(q->options.credit && skb_is_gso(skb)))
		return voq_enqueue_gso(sch, skb, to_free);
	slot = voq_note(q, skb, &full);
	if (unlikely(full))
		return voq_drop(sch, skb, to_free, &q->stats.dropped_voq_packets);
	if (unlikely(slot == VOQ_NO_SLOT)) {
		closnet_add(&q->stats.overflow_packets, 1);
		return voq_enqueue_other(sch, skb);
	}
	voq_fifo_push(&q->fifo[slot], skb);
	return voq_added(sch, skb);
}

/* ---- dequeue ---- */

/* Take a packet of the VOQs. Return: NULL if no VOQ may send; then the watchdog may be armed */
static struct sk_buff *voq_take(struct Qdisc *sch, u64 now_ns)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct voq_end *end = q->end;
	struct sk_buff *skb = NULL;
	u64 next_ns;
	u32 slot;

	spin_lock(&end->lock);
	slot = voq_pick(&end->table, now_ns);
	if (slot != VOQ_NO_SLOT) {
		skb = voq_fifo_pop(&q->fifo[slot]);
		voq_sent(&end->table, slot, qdisc_pkt_len(skb), now_ns);
		voq_end_arm(end);
	}
	next_ns = voq_next_ns(&end->table);
	spin_unlock(&end->lock);
	if (!skb && next_ns != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->shaper.watchdog, next_ns);
	return skb;
}

/* VOQs and the other queue take turns. */
static struct sk_buff *voq_next(struct Qdisc *sch, u64 now_ns)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = NULL;

	if (q->options.grant)
		return __qdisc_dequeue_head(&q->other);
	if (!q->other.head || q->other_last)
		skb = voq_take(sch, now_ns);
	q->other_last = !skb;
	return skb ?: __qdisc_dequeue_head(&q->other) ?: voq_take(sch, now_ns);
}

static struct sk_buff *voq_dequeue(struct Qdisc *sch)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now_ns;

	if (!sch->q.qlen)
		return NULL;
	now_ns = ktime_get_ns();
	if (closnet_shaper_holds(&q->shaper, sch, now_ns))
		return NULL;
	skb = voq_next(sch, now_ns);
	if (!skb) {
		qdisc_qstats_overlimit(sch);
		return NULL;
	}
	if (closnet_shaper_on(&q->shaper))
		closnet_shaper_charge(&q->shaper, qdisc_pkt_len(skb), now_ns);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void voq_reset_qdisc(struct Qdisc *sch)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	u32 i;

	closnet_shaper_reset(&q->shaper);
	__qdisc_reset_queue(&q->other);
	if (!q->fifo)	/* grant, or init() has failed */
		return;
	for (i = 0; i < q->options.queues; i++) {
		rtnl_kfree_skbs(q->fifo[i].head, q->fifo[i].tail);
		q->fifo[i] = (struct voq_fifo) {};
	}
	spin_lock_bh(&q->end->lock);
	voq_reset(&q->end->table);
	spin_unlock_bh(&q->end->lock);
}

/* ---- configuration ---- */

static u64 voq_line_Bps(const struct voq_options *o, struct net_device *dev)
{
	return o->rate_Bps ?: closnet_link_Mbps(dev) * 125000ULL ?: VOQ_LINE_UNKNOWN;
}

static u32 voq_window(const struct voq_options *o, u64 rate_Bps)
{
	u64 window = div_u64(rate_Bps, USEC_PER_SEC) * o->rtt_us;

	return clamp_t(u64, window, 2 * o->credit_size, S32_MAX);
}

/*
 * Called under the root lock, or before the qdisc is in use. @line_Bps: of voq_line_Bps(), whose
 * driver may sleep
 */
static void voq_apply(struct Qdisc *sch, const struct voq_options *o, u64 line_Bps)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	u64 retry_ns = o->retry_us * (u64)NSEC_PER_USEC;
	struct voq_end *end = q->end;

	q->options = *o;
	closnet_shaper_set(&q->shaper, o->rate_Bps, o->overhead);
	spin_lock_bh(&end->lock);
	end->table.params = (struct voq_params) {
		.credits = o->credit, .quantum = o->quantum, .credit = o->credit_size,
		.retry_ns = retry_ns, .rate_Bps = o->voq_rate_Bps, .overhead = o->overhead,
	};
	end->granter.params = (struct voq_grant_params) {
		.rate_Bps = line_Bps, .overhead = o->overhead, .credit = o->credit_size,
		.window = voq_window(o, line_Bps), .retry_ns = retry_ns,
	};
	if (end->table.slot)
		voq_update(&end->table, ktime_get_ns());
	spin_unlock_bh(&end->lock);
}

static int voq_refuse_change(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "credit, grant, queues, port and key are fixed when the qdisc is created");
	return -EINVAL;
}

static int voq_check_fixed(const struct voq_options *old, const struct voq_options *new,
			   struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (old->credit != new->credit)
		return voq_refuse_change(tb[TCA_VOQ_CREDIT], extack);
	if (old->grant != new->grant)
		return voq_refuse_change(tb[TCA_VOQ_GRANT], extack);
	if (old->queues != new->queues)
		return voq_refuse_change(tb[TCA_VOQ_QUEUES], extack);
	if (old->port != new->port)
		return voq_refuse_change(tb[TCA_VOQ_PORT], extack);
	return tb[TCA_VOQ_KEY] ? voq_refuse_change(tb[TCA_VOQ_KEY], extack) : 0;
}

static int voq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct voq_options options = q->options;
	struct nlattr *tb[TCA_VOQ_MAX + 1];
	u64 line_Bps;
	int err;

	err = voq_options_parse(&options, tb, opt, extack);
	if (!err)
		err = voq_check_fixed(&q->options, &options, tb, extack);
	if (err)
		return err;
	line_Bps = voq_line_Bps(&options, qdisc_dev(sch));
	sch_tree_lock(sch);
	voq_apply(sch, &options, line_Bps);
	if (sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(sch);
	return 0;
}

static int voq_init_table(struct voq_sched_data *q, u32 slots)
{
	u32 buckets = roundup_pow_of_two(slots), *bucket;
	struct voq_queue *queue;

	queue = kvcalloc(slots, sizeof(*queue), GFP_KERNEL_ACCOUNT);
	bucket = kvcalloc(buckets, sizeof(*bucket), GFP_KERNEL_ACCOUNT);
	q->fifo = kvcalloc(slots, sizeof(*q->fifo), GFP_KERNEL_ACCOUNT);
	if (!queue || !bucket || !q->fifo) {
		kvfree(queue);
		kvfree(bucket);
		kvfree(q->fifo);
		q->fifo = NULL;
		return -ENOMEM;
	}
	q->end->table.generation = get_random_u16();
	voq_init(&q->end->table, queue, bucket, buckets, slots);
	return 0;
}

static int voq_init_granter(struct voq_end *end, u32 places)
{
	u32 buckets = roundup_pow_of_two(places), *bucket;
	struct voq_source *place;

	place = kvcalloc(places, sizeof(*place), GFP_KERNEL_ACCOUNT);
	bucket = kvcalloc(buckets, sizeof(*bucket), GFP_KERNEL_ACCOUNT);
	if (!place || !bucket) {
		kvfree(place);
		kvfree(bucket);
		return -ENOMEM;
	}
	voq_grant_init(&end->granter, place, bucket, buckets, places);
	return 0;
}

static int voq_parse_new(struct voq_options *o, struct nlattr **tb, const struct nlattr *opt,
			 struct netlink_ext_ack *extack)
{
	int err;

	voq_options_init(o);
	if (!opt)
		return 0;
	err = voq_options_parse(o, tb, opt, extack);
	if (err)
		return err;
	if (o->credit && o->grant) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_VOQ_GRANT], "credit excludes grant");
		return -EINVAL;
	}
	if (tb[TCA_VOQ_KEY] && !o->credit && !o->grant) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_VOQ_KEY], "key needs credit or grant");
		return -EINVAL;
	}
	return 0;
}

static int voq_init_end(struct Qdisc *sch, const struct voq_options *o)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct voq_end *end = kzalloc(sizeof(*end), GFP_KERNEL_ACCOUNT);

	if (!end)
		return -ENOMEM;
	q->end = end;
	voq_end_init(end);
	end->sch = sch;
	end->ifindex = qdisc_dev(sch)->ifindex;
	end->grant = o->grant;
	return o->grant ? voq_init_granter(end, o->queues) : voq_init_table(q, o->queues);
}

static int voq_init_qdisc(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct nlattr *tb[TCA_VOQ_MAX + 1] = { };
	struct voq_options options;
	int err;

	/* before any error, which destroy() follows */
	closnet_shaper_init(&q->shaper, sch);
	get_random_bytes(&q->hash_key, sizeof(q->hash_key));
	err = voq_parse_new(&options, tb, opt, extack);
	if (!err)
		err = voq_init_end(sch, &options);
	if (err)
		return err;
	voq_apply(sch, &options, voq_line_Bps(&options, qdisc_dev(sch)));
	if (!options.credit && !options.grant)
		return 0;
	return voq_net_join(voq_net_of(dev_net(qdisc_dev(sch))), q->end, options.port,
			    tb[TCA_VOQ_KEY] ? nla_data(tb[TCA_VOQ_KEY]) : NULL, extack);
}

static void voq_destroy(struct Qdisc *sch)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct voq_end *end = q->end;

	closnet_shaper_reset(&q->shaper);
	kvfree(q->fifo);
	if (!end)
		return;
	spin_lock_bh(&end->lock);
	end->dead = true;
	spin_unlock_bh(&end->lock);
	hrtimer_cancel(&end->timer);
	if (end->vn)
		voq_net_leave(end->vn, end);
	kvfree(end->table.slot);
	kvfree(end->table.bucket);
	kvfree(end->granter.place);
	kvfree(end->granter.bucket);
	kfree_rcu(end, rcu);
}

/* Set the line rate of a port anew: it may have changed. */
static void voq_update_rate(struct voq_end *end, struct net_device *dev)
{
	struct voq_sched_data *q = qdisc_priv(end->sch);
	struct voq_options options = q->options;
	u64 line_Bps = voq_line_Bps(&options, dev);

	sch_tree_lock(end->sch);
	voq_apply(end->sch, &options, line_Bps);
	sch_tree_unlock(end->sch);
}

static int voq_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct voq_net *vn = voq_net_of(dev_net(dev));
	struct voq_end *end;

	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	mutex_lock(&vn->mutex);
	for (end = xa_load(&vn->ports, dev->ifindex); end; end = end->older)
		voq_update_rate(end, dev);
	mutex_unlock(&vn->mutex);
	return NOTIFY_DONE;
}

static struct notifier_block voq_netdev_notifier = {
	.notifier_call = voq_netdev_event,
};

/* ---- dumps ---- */

/* The options change only under RTNL, which is held here. */
static int voq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (voq_options_dump(skb, &q->options)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

#define VOQ_PUT_STAT(skb, name, val) \
	nla_put_u64_64bit(skb, TCA_VOQ_STATS_##name, val, TCA_VOQ_STATS_PAD)

/* Count VOQs that send without credit for a time. Bounded by queues */
static u64 voq_count_open(const struct voq_table *t)
{
	const struct voq_queue *q;
	u64 count = 0;

	for (q = t->slot; q < t->slot + t->slots; q++)
		count += READ_ONCE(q->used) && READ_ONCE(q->open) &&
			 READ_ONCE(q->open_ns) != U64_MAX;
	return count;
}

/* Context: the end's lock is held. */
static int voq_dump_table(struct sk_buff *skb, const struct voq_table *t)
{
	const struct voq_counters *s = &t->stats;

	if (VOQ_PUT_STAT(skb, QUEUES, t->count) ||
	    VOQ_PUT_STAT(skb, WAITING, t->hungry) ||
	    VOQ_PUT_STAT(skb, OPEN, t->params.credits ? voq_count_open(t) : 0) ||
	    VOQ_PUT_STAT(skb, UNUSED_BYTES, 0) ||
	    VOQ_PUT_STAT(skb, REQUESTS, s->requests) ||
	    VOQ_PUT_STAT(skb, RETRIES, s->retries) ||
	    VOQ_PUT_STAT(skb, GRANTS, s->grants) ||
	    VOQ_PUT_STAT(skb, GRANTED_BYTES, s->granted_bytes) ||
	    VOQ_PUT_STAT(skb, REFUSED, s->refused) ||
	    VOQ_PUT_STAT(skb, IGNORED, s->ignored) ||
	    VOQ_PUT_STAT(skb, OPENED, s->opened) ||
	    VOQ_PUT_STAT(skb, HELD, 0) ||
	    VOQ_PUT_STAT(skb, WINDOW_FULL, 0) ||
	    VOQ_PUT_STAT(skb, STALLED, 0) ||
	    VOQ_PUT_STAT(skb, FORGOTTEN, 0))
		return -EMSGSIZE;
	return 0;
}

/* Context: the end's lock is held. */
static int voq_dump_granter(struct sk_buff *skb, const struct voq_granter *g)
{
	const struct voq_grant_counters *s = &g->stats;

	if (VOQ_PUT_STAT(skb, QUEUES, g->count) ||
	    VOQ_PUT_STAT(skb, WAITING, g->waiting) ||
	    VOQ_PUT_STAT(skb, OPEN, 0) ||
	    VOQ_PUT_STAT(skb, UNUSED_BYTES, g->unused) ||
	    VOQ_PUT_STAT(skb, REQUESTS, s->requests) ||
	    VOQ_PUT_STAT(skb, RETRIES, s->retries) ||
	    VOQ_PUT_STAT(skb, GRANTS, s->grants) ||
	    VOQ_PUT_STAT(skb, GRANTED_BYTES, s->granted_bytes) ||
	    VOQ_PUT_STAT(skb, REFUSED, s->no_place) ||
	    VOQ_PUT_STAT(skb, IGNORED, 0) ||
	    VOQ_PUT_STAT(skb, OPENED, 0) ||
	    VOQ_PUT_STAT(skb, HELD, s->held) ||
	    VOQ_PUT_STAT(skb, WINDOW_FULL, s->window_full) ||
	    VOQ_PUT_STAT(skb, STALLED, s->stalled) ||
	    VOQ_PUT_STAT(skb, FORGOTTEN, s->forgotten))
		return -EMSGSIZE;
	return 0;
}

static int voq_dump_rest(struct sk_buff *skb, const struct voq_sched_data *q)
{
	const struct voq_net *vn = q->end->vn;
	const struct voq_stats *s = &q->stats;

	if (VOQ_PUT_STAT(skb, OVERFLOW_PACKETS, READ_ONCE(s->overflow_packets)) ||
	    VOQ_PUT_STAT(skb, DROPPED_LIMIT_PACKETS, READ_ONCE(s->dropped_limit_packets)) ||
	    VOQ_PUT_STAT(skb, DROPPED_VOQ_PACKETS, READ_ONCE(s->dropped_voq_packets)) ||
	    VOQ_PUT_STAT(skb, DROPPED_GSO_PACKETS, READ_ONCE(s->dropped_gso_packets)) ||
	    VOQ_PUT_STAT(skb, NOMEM_MESSAGES, READ_ONCE(q->end->nomem)) ||
	    VOQ_PUT_STAT(skb, RX_MALFORMED, vn ? atomic64_read(&vn->malformed) : 0) ||
	    VOQ_PUT_STAT(skb, RX_PORT, vn ? atomic64_read(&vn->wrong_port) : 0) ||
	    VOQ_PUT_STAT(skb, RX_NOT_AUTHENTIC, vn ? atomic64_read(&vn->not_authentic) : 0))
		return -EMSGSIZE;
	return 0;
}

static int voq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct voq_sched_data *q = qdisc_priv(sch);
	struct voq_end *end = q->end;
	struct nlattr *nest;
	int err;

	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);	/* as other qdiscs do */
	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&end->lock);
	err = end->grant ? voq_dump_granter(d->skb, &end->granter) :
			   voq_dump_table(d->skb, &end->table);
	spin_unlock_bh(&end->lock);
	if (err || voq_dump_rest(d->skb, q)) {
		nla_nest_cancel(d->skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

static struct Qdisc_ops voq_qdisc_ops __read_mostly = {
	.id		= "voq",
	.priv_size	= sizeof(struct voq_sched_data),
	.enqueue	= voq_enqueue,
	.dequeue	= voq_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= voq_init_qdisc,
	.reset		= voq_reset_qdisc,
	.destroy	= voq_destroy,
	.change		= voq_change,
	.dump		= voq_dump,
	.dump_stats	= voq_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("voq");

static int __init voq_module_init(void)
{
	int err;

	err = voq_net_register();
	if (err)
		return err;
	err = register_netdevice_notifier(&voq_netdev_notifier);
	if (err)
		goto no_notifier;
	err = register_qdisc(&voq_qdisc_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	unregister_netdevice_notifier(&voq_netdev_notifier);
no_notifier:
	voq_net_unregister();
	return err;
}

static void __exit voq_module_exit(void)
{
	unregister_qdisc(&voq_qdisc_ops);
	unregister_netdevice_notifier(&voq_netdev_notifier);
	voq_net_unregister();
}

module_init(voq_module_init);
module_exit(voq_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Virtual output queues with credit from the egress port");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
