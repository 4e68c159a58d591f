// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers for the qdiscs of a switch port: segmenting, and a shaper
 */
#include <linux/skbuff.h>
#include <net/gso.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <closnet/qdisc.h>

/* Lateness of a timer that costs no rate */
#define CLOSNET_LATE_NS		NSEC_PER_MSEC

/**
 * closnet_enqueue_segs() - enqueue a GSO packet as frames
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: as for enqueue()
 * @enqueue: the qdisc's enqueue()
 *
 * A switch queues frames. As in sch_tbf, one frame that is enqueued makes the
 * result a success. Otherwise, one that was stolen makes the result no drop. The
 * parents count one packet, so their counts are corrected by the difference.
 *
 * Return: NET_XMIT code; or a negative error, and the caller keeps @skb:
 * -ENOMEM, or another error if the packet cannot be segmented.
 */
int closnet_enqueue_segs(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free,
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
	if (packets)	/* the parents will add one packet, of length len */
		qdisc_tree_reduce_backlog(sch, 1 - packets, len - bytes);
	return best;
}

/**
 * closnet_is_users() - test whether a packet comes from a socket that any user may have
 * @skb: the packet, in enqueue()
 *
 * With a control packet, a user could harm the flows of others at the destination. Sockets of the
 * kernel count: RxRPC sends a user's bytes by one, and SCTP in UDP is a user's own socket, of
 * another type. Raw and packet sockets need a privilege, and a tap's is that of a virtual machine.
 *
 * Return: true if so.
 */
bool closnet_is_users(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	return sk && sk_fullsock(sk) && sk->sk_type != SOCK_RAW &&
	       (sk->sk_family == AF_INET || sk->sk_family == AF_INET6);
}

/**
 * closnet_shaper_init() - initialise a shaper without a rate
 * @s: the shaper, zeroed
 * @sch: its qdisc
 */
void closnet_shaper_init(struct closnet_shaper *s, struct Qdisc *sch)
{
	qdisc_watchdog_init(&s->watchdog, sch);
}

/**
 * closnet_shaper_set() - set the rate, under the root lock
 * @s: the shaper
 * @rate_Bps: bytes per second; 0: unlimited
 * @overhead_bytes: added to each packet's length
 *
 * If packets wait, call closnet_shaper_kick() afterwards.
 */
void closnet_shaper_set(struct closnet_shaper *s, u64 rate_Bps, u16 overhead_bytes)
{
	struct tc_ratespec spec = {
		.overhead = overhead_bytes,
		.linklayer = TC_LINKLAYER_ETHERNET,
	};
	bool new_rate = s->rate.rate_bytes_ps != rate_Bps;

	psched_ratecfg_precompute(&s->rate, &spec, rate_Bps);
	if (new_rate)	/* the next departure at the old rate may be far away */
		s->next_ns = ktime_get_ns();
}

/**
 * closnet_shaper_wait() - schedule the qdisc for the next departure
 * @s: the shaper
 * @sch: its qdisc
 */
void closnet_shaper_wait(struct closnet_shaper *s, struct Qdisc *sch)
{
	qdisc_qstats_overlimit(sch);
	qdisc_watchdog_schedule_ns(&s->watchdog, s->next_ns);
}

/**
 * closnet_shaper_charge() - account for a departure
 * @s: the shaper, with a rate
 * @len: length of the packet, bytes
 * @now: current time, ns
 */
void closnet_shaper_charge(struct closnet_shaper *s, u32 len, u64 now)
{
	/* make up for a late timer, but not for a device that stood still */
	s->next_ns = max(s->next_ns + CLOSNET_LATE_NS, now) - CLOSNET_LATE_NS +
		     psched_l2t_ns(&s->rate, len);
}

/**
 * closnet_shaper_due() - check whether a packet may leave now, and charge it
 * @s: the shaper, with a rate
 * @sch: its qdisc
 * @len: length of the packet, bytes
 *
 * Return: true if the packet may leave; otherwise the watchdog is armed.
 */
bool closnet_shaper_due(struct closnet_shaper *s, struct Qdisc *sch, u32 len)
{
	u64 now = ktime_get_ns();

	if (closnet_shaper_holds(s, sch, now))
		return false;
	closnet_shaper_charge(s, len, now);
	return true;
}

/**
 * closnet_shaper_kick() - schedule the qdisc now
 * @s: the shaper, whose watchdog may wait for a time at an old rate
 */
void closnet_shaper_kick(struct closnet_shaper *s)
{
	qdisc_watchdog_schedule_ns(&s->watchdog, ktime_get_ns());
}

/**
 * closnet_shaper_reset() - forget the next departure
 * @s: the shaper
 */
void closnet_shaper_reset(struct closnet_shaper *s)
{
	qdisc_watchdog_cancel(&s->watchdog);
	s->next_ns = 0;
}
