/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a switch port's qdiscs share: frames instead of GSO packets, and a pace
 */
#ifndef _CLOSNET_QDISC_H
#define _CLOSNET_QDISC_H

#include <linux/if_arp.h>
#include <linux/skbuff.h>
#include <net/gso.h>
#include <net/pkt_sched.h>

/* How late a timer may be without loss of rate */
#define CLOSNET_LATE_NS		NSEC_PER_MSEC

/* Counts under the root lock what is read without it. */
static inline void closnet_add(u64 *counter, u32 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/**
 * closnet_l2_len() - length of the L2 header that packets for a device have
 * @dev: the device
 *
 * Return: that of an Ethernet header, or 0: packets begin with the L3 header,
 * or behind one that is not known here.
 */
static inline u32 closnet_l2_len(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER || dev->type == ARPHRD_LOOPBACK ?
	       ETH_HLEN : 0;
}

/**
 * closnet_enqueue_segs() - enqueue a GSO packet as the frames that it stands for
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: as for enqueue()
 * @enqueue: the qdisc's enqueue()
 *
 * A switch queues frames. One that is queued makes a success of all, as in
 * sch_tbf; without any, one that was stolen makes it no drop. The parents hear
 * by how much that differs from the one packet that they will count.
 *
 * Return: NET_XMIT code; or a negative error, and @skb is still the caller's:
 * -ENOMEM, or another one if the packet cannot be segmented.
 */
static __always_inline int
closnet_enqueue_segs(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free,
		     int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch,
				    struct sk_buff **to_free))
{
	netdev_features_t features = netif_skb_features(skb);
	u32 packets = 0, bytes = 0, len = qdisc_pkt_len(skb);
	struct sk_buff *segs, *next;
	int best = NET_XMIT_DROP;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return segs ? PTR_ERR(segs) : -EINVAL;
	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len = segs->len;
		int ret;

		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		closnet_set_pkt_segs(segs, 1);
		ret = enqueue(segs, sch, to_free);
		if (ret == NET_XMIT_SUCCESS) {
			packets++;
			bytes += seg_len;
		}
		if (ret == NET_XMIT_SUCCESS || best == NET_XMIT_DROP)
			best = ret;
	}
	if (best == NET_XMIT_DROP)
		kfree_skb(skb);
	else
		consume_skb(skb);
	if (packets)	/* the parents will add one, of length len */
		qdisc_tree_reduce_backlog(sch, 1 - packets, len - bytes);
	return best;
}

/**
 * struct closnet_shaper - a pace for devices that do not push back
 * @rate: of departures; rate_bytes_ps 0: there is no pace
 * @next_ns: earliest next departure
 * @watchdog: asks again then
 */
struct closnet_shaper {
	struct psched_ratecfg rate;
	u64 next_ns;
	struct qdisc_watchdog watchdog;
};

/* Is there a pace? */
static inline bool closnet_shaper_on(const struct closnet_shaper *s)
{
	return s->rate.rate_bytes_ps;
}

/**
 * closnet_shaper_init() - no pace
 * @s: the shaper, zeroed
 * @sch: its qdisc
 */
static inline void closnet_shaper_init(struct closnet_shaper *s, struct Qdisc *sch)
{
	qdisc_watchdog_init(&s->watchdog, sch);
}

/**
 * closnet_shaper_set() - set the pace, under the root lock
 * @s: the shaper
 * @rate_Bps: bytes per second; 0: none
 * @overhead_bytes: what is added to each packet's length
 *
 * Who waits for a packet is to be woken, by closnet_shaper_kick().
 */
static inline void closnet_shaper_set(struct closnet_shaper *s, u64 rate_Bps,
				      u16 overhead_bytes)
{
	struct tc_ratespec spec = {
		.overhead = overhead_bytes,
		.linklayer = TC_LINKLAYER_ETHERNET,
	};
	bool new_rate = s->rate.rate_bytes_ps != rate_Bps;

	psched_ratecfg_precompute(&s->rate, &spec, rate_Bps);
	if (new_rate)	/* what was scheduled at the old one may be far away */
		s->next_ns = ktime_get_ns();
}

/**
 * closnet_shaper_kick() - have the qdisc asked for a packet now
 * @s: the shaper: its watchdog may wait for an old rate
 */
static inline void closnet_shaper_kick(struct closnet_shaper *s)
{
	qdisc_watchdog_schedule_ns(&s->watchdog, ktime_get_ns());
}

/**
 * closnet_shaper_wake() - a packet comes
 * @s: the shaper
 * @qlen: packets that waited before
 *
 * Time during which none waited is not made up for.
 */
static inline void closnet_shaper_wake(struct closnet_shaper *s, u32 qlen)
{
	if (closnet_shaper_on(s) && !qlen)
		s->next_ns = max(s->next_ns, ktime_get_ns());
}

/**
 * closnet_shaper_holds() - is it too early for a packet?
 * @s: the shaper
 * @sch: its qdisc
 * @now: the time, ns
 *
 * If so, the watchdog will ask again.
 *
 * Return: true if so.
 */
static inline bool closnet_shaper_holds(struct closnet_shaper *s, struct Qdisc *sch,
					u64 now)
{
	if (!closnet_shaper_on(s) || now >= s->next_ns)
		return false;
	qdisc_qstats_overlimit(sch);
	qdisc_watchdog_schedule_ns(&s->watchdog, s->next_ns);
	return true;
}

/**
 * closnet_shaper_charge() - a packet leaves; the next one may when it is out
 * @s: the shaper, with a pace
 * @len: the packet's length, bytes
 * @now: the time, ns
 */
static inline void closnet_shaper_charge(struct closnet_shaper *s, u32 len, u64 now)
{
	/* a late timer is made up for, a device that stood still is not */
	s->next_ns = max(s->next_ns + CLOSNET_LATE_NS, now) - CLOSNET_LATE_NS +
		     psched_l2t_ns(&s->rate, len);
}

/**
 * closnet_shaper_due() - may a packet leave now? Then it is charged.
 * @s: the shaper, with a pace
 * @sch: its qdisc
 * @len: the packet's length, bytes
 *
 * Return: true if so; else the watchdog will ask again.
 */
static inline bool closnet_shaper_due(struct closnet_shaper *s, struct Qdisc *sch,
				      u32 len)
{
	u64 now = ktime_get_ns();

	if (closnet_shaper_holds(s, sch, now))
		return false;
	closnet_shaper_charge(s, len, now);
	return true;
}

/**
 * closnet_shaper_reset() - forget what was scheduled
 * @s: the shaper
 */
static inline void closnet_shaper_reset(struct closnet_shaper *s)
{
	qdisc_watchdog_cancel(&s->watchdog);
	s->next_ns = 0;
}

#endif /* _CLOSNET_QDISC_H */
