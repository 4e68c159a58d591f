// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waiting window: received packets wait for more urgent ones
 *
 * The paper's receiver has eight input queues and serves the highest that has a packet.
 * Packets wait for a while, so that there is a choice. Here, the first packet opens the
 * window. It closes after W µs, or as soon as it is full. Then the stack gets all of its
 * packets, by priority, and in their order within a priority.
 *
 *	hook --> P0 | P1 | ... | P7 --- W µs later, or full ---> process, stack
 *
 * Each CPU has its own window. A flow's packets arrive on one CPU and leave the window on
 * the same CPU, so they stay in order. A chain of a higher priority can overtake, as in a
 * switch with strict priorities.
 *
 * Packets that leave the window skip packet sockets and tc ingress, which saw them before
 * (skb->tc_skip_classify, as in ifb). They cannot skip a generic XDP program, which would
 * see them twice. So while a device has one, its packets do not wait.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: a host's stack takes packets in batches anyway, so the
 * window is off by default.
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/sock.h>
#include <closnet/qdisc.h>
#include "pcrp_window.h"

/* Packets in a full window: a NAPI budget */
#define PCRP_WINDOW_PACKETS	64
/* Priority of a DSCP outside the map: the highest one of granted chains */
#define PCRP_WINDOW_PRIO	TC_PCRP_SPEC_PRIOS

/**
 * struct pcrp_window_cpu - window of a CPU
 * @lock: protects the structure; softirqs are off. Other CPUs take it only when this
 *	one goes offline
 * @packets: packets that wait
 * @queue: the packets by priority
 * @timer: closes the window
 * @w: the device's window
 * @waited_packets: packets that have waited
 * @early: times that the window closed because it was full
 */
struct pcrp_window_cpu {
	spinlock_t lock;	/* protects the structure */
	u32 packets;
	struct sk_buff_head queue[TC_PCRP_PRIOS];
	struct hrtimer timer;
	struct pcrp_window *w;
	u64 waited_packets;
	u64 early;
};

/* Close the window: give its packets, PCRP_WINDOW_PACKETS at most, to the stack. */
static void pcrp_window_drain(struct pcrp_window_cpu *c)
{
	struct sk_buff_head list;
	struct sk_buff *skb;
	u32 prio;

	__skb_queue_head_init(&list);
	spin_lock(&c->lock);
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
		skb_queue_splice_tail_init(&c->queue[prio], &list);
	WRITE_ONCE(c->packets, 0);
	spin_unlock(&c->lock);
	while ((skb = __skb_dequeue(&list))) {
		c->w->process(c->w->arg, skb);
		skb_reset_redirect(skb);
		skb->tc_skip_classify = 1;
		netif_receive_skb_core(skb);
	}
}

static enum hrtimer_restart pcrp_window_close(struct hrtimer *timer)
{
	pcrp_window_drain(container_of(timer, struct pcrp_window_cpu, timer));
	return HRTIMER_NORESTART;
}

/* Return: true if the window is full now */
static bool pcrp_window_push(struct pcrp_window_cpu *c, struct sk_buff *skb, u32 prio, u64 ns)
{
	bool full;

	spin_lock(&c->lock);
	__skb_queue_tail(&c->queue[prio], skb);
	WRITE_ONCE(c->packets, c->packets + 1);
	closnet_add(&c->waited_packets, 1);
	if (c->packets == 1)
		hrtimer_start(&c->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_SOFT);
	full = c->packets >= PCRP_WINDOW_PACKETS;
	if (full)
		closnet_add(&c->early, 1);
	spin_unlock(&c->lock);
	return full;
}

/**
 * pcrp_window_take() - put a received packet into the window
 * @w: the window
 * @skb: the packet; softirqs are off
 * @pkt: result of pcrp_parse()
 *
 * A packet with a prefetched socket does not wait, as the window holds no reference to
 * it. Nor does a packet from memory reserves, or of a device with a generic XDP program.
 *
 * Return: false: the packet does not wait, and is still the caller's.
 */
bool pcrp_window_take(struct pcrp_window *w, struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	struct pcrp_window_cpu *c = this_cpu_ptr(w->cpus);
	u64 ns = READ_ONCE(w->ns);

	if (likely(!ns)) {
		if (unlikely(READ_ONCE(c->packets)))	/* the window was just turned off */
			pcrp_window_drain(c);
		return false;
	}
	if (!pkt->ip_hlen || skb_sk_is_prefetched(skb) || skb_pfmemalloc(skb) ||
	    rcu_access_pointer(skb->dev->xdp_prog))
		return false;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb))
		return true;
	skb_dst_force(skb);
	if (pcrp_window_push(c, skb, READ_ONCE(w->prio[pkt->dsfield >> 2]), ns))
		pcrp_window_drain(c);
	return true;
}

/**
 * pcrp_window_set() - set how long packets wait
 * @w: the window
 * @us: time, µs; 0: packets do not wait
 * @map: DSCP of P0..P7, or PCRP_MAP_LEAVE
 */
void pcrp_window_set(struct pcrp_window *w, u32 us, const u8 map[TC_PCRP_PRIOS])
{
	u8 table[PCRP_DSCPS];
	u32 i;

	memset(table, PCRP_WINDOW_PRIO, sizeof(table));
	for (i = TC_PCRP_PRIOS; i-- > 0;)	/* the highest with that DSCP */
		if (map[i] < PCRP_DSCPS)
			table[map[i]] = i;
	for (i = 0; i < PCRP_DSCPS; i++)
		WRITE_ONCE(w->prio[i], table[i]);
	WRITE_ONCE(w->ns, (u64)us * NSEC_PER_USEC);
}

/**
 * pcrp_window_init() - create a window that is turned off
 * @w: the window, zeroed
 * @process: called for each packet that leaves the window for the stack
 * @arg: its argument
 *
 * Return: 0 or -ENOMEM.
 */
int pcrp_window_init(struct pcrp_window *w, void (*process)(void *arg, struct sk_buff *skb),
		     void *arg)
{
	struct pcrp_window_cpu *c;
	u32 prio;
	int cpu;

	w->process = process;
	w->arg = arg;
	w->cpus = alloc_percpu(struct pcrp_window_cpu);
	if (!w->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(w->cpus, cpu);
		c->w = w;
		spin_lock_init(&c->lock);
		hrtimer_setup(&c->timer, pcrp_window_close, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
		for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
			__skb_queue_head_init(&c->queue[prio]);
	}
	return 0;
}

/**
 * pcrp_window_free() - drop all packets and free a window
 * @w: the window, in use by its timers only; NULL @cpus: it was not created
 */
void pcrp_window_free(struct pcrp_window *w)
{
	struct pcrp_window_cpu *c;
	u32 prio;
	int cpu;

	if (!w->cpus)
		return;
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(w->cpus, cpu);
		hrtimer_cancel(&c->timer);
		for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
			__skb_queue_purge(&c->queue[prio]);
	}
	free_percpu(w->cpus);
}

/**
 * pcrp_window_stats() - sum up the counters of all CPUs
 * @w: the window
 * @to: result
 */
void pcrp_window_stats(const struct pcrp_window *w, struct pcrp_stats *to)
{
	const struct pcrp_window_cpu *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(w->cpus, cpu);
		to->window_packets += READ_ONCE(c->waited_packets);
		to->window_early += READ_ONCE(c->early);
	}
}
