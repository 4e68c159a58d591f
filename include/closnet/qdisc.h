/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the qdiscs of a switch port: segmenting, and a shaper
 */
#ifndef _CLOSNET_QDISC_H
#define _CLOSNET_QDISC_H

#include <linux/if_arp.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>

/**
 * struct closnet_shaper - paces packets on devices without backpressure
 * @rate: rate; rate_bytes_ps 0: unlimited
 * @next_ns: earliest next departure, CLOCK_MONOTONIC in ns
 * @watchdog: schedules the qdisc at that time
 */
struct closnet_shaper {
	struct psched_ratecfg rate;
	u64 next_ns;
	struct qdisc_watchdog watchdog;
};

int closnet_enqueue_segs(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free,
			 int (*enqueue)(struct sk_buff *skb, struct Qdisc *sch,
					struct sk_buff **to_free));
bool closnet_is_users(const struct sk_buff *skb);
void closnet_shaper_init(struct closnet_shaper *s, struct Qdisc *sch);
void closnet_shaper_set(struct closnet_shaper *s, u64 rate_Bps, u16 overhead_bytes);
void closnet_shaper_wait(struct closnet_shaper *s, struct Qdisc *sch);
void closnet_shaper_charge(struct closnet_shaper *s, u32 len, u64 now);
bool closnet_shaper_due(struct closnet_shaper *s, struct Qdisc *sch, u32 len);
void closnet_shaper_kick(struct closnet_shaper *s);
void closnet_shaper_reset(struct closnet_shaper *s);

/* Add to a counter that is written under the root lock and read without it. */
static inline void closnet_add(u64 *counter, u32 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/**
 * closnet_l2_len() - get the length of the L2 header of packets for a device
 * @dev: the device
 *
 * Return: length of an Ethernet header, or 0 if packets begin with the L3 header
 * or with an unknown one.
 */
static inline u32 closnet_l2_len(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER || dev->type == ARPHRD_LOOPBACK ?
	       ETH_HLEN : 0;
}

/* Has the qdisc sent a packet? One that the kernel refuses after its init() has not. */
static inline bool closnet_has_sent(const struct Qdisc *sch)
{
	return u64_stats_read(&sch->bstats.packets);
}

/* Is a rate set? */
static inline bool closnet_shaper_on(const struct closnet_shaper *s)
{
	return s->rate.rate_bytes_ps;
}

/**
 * closnet_shaper_wake() - note the arrival of a packet
 * @s: the shaper
 * @qlen: packets that waited before
 *
 * The time during which no packet waited is not made up for.
 */
static inline void closnet_shaper_wake(struct closnet_shaper *s, u32 qlen)
{
	if (closnet_shaper_on(s) && !qlen)
		s->next_ns = max(s->next_ns, ktime_get_ns());
}

/**
 * closnet_shaper_holds() - check whether it is too early for a packet
 * @s: the shaper
 * @sch: its qdisc
 * @now: current time, ns
 *
 * Return: true if it is too early; then the watchdog is armed.
 */
static inline bool closnet_shaper_holds(struct closnet_shaper *s, struct Qdisc *sch,
					u64 now)
{
	if (!closnet_shaper_on(s) || now >= s->next_ns)
		return false;
	closnet_shaper_wait(s, sch);
	return true;
}

#endif /* _CLOSNET_QDISC_H */
