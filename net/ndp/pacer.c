// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: devices, their pull queues, and deferred answers
 *
 * Each device by which packets may arrive has a pull queue (pull.h) and a timer for the next pull.
 * A VLAN, MACVLAN, IPVLAN or VXLAN device shares the queue of the device below it, in whatever
 * namespace that is, because they share the link. The namespace of the lowest device sets rate and
 * policy:
 *
 *	packet ---> ndp_pacer_demand() ---> queue ---> timer ---> @say()
 *	                 |                               |
 *	                 +- first of the queue: at once -+---> in the answer
 *
 * Answers that cover several packets are deferred for at most NDP_DEFER_NS (rcv.h), and ACKs that
 * DATA may carry for at most NDP_RIDE_NS (rx_ride.c). Their flows are in lists by time, for which
 * the same timer runs.
 *
 * Devices and flows count a queue. A queue whose device is gone does not pull: its flows remain
 * until packets arrive by another device.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 * "Re-architecting datacenter networks and stacks for low latency and high performance",
 * SIGCOMM 2017, section 3.2.
 */
#include <linux/slab.h>
#include "ndp.h"
#include "trace.h"

/* delay of softirqs that is made up for: seven jumbo frames at 10 Gbit/s, which switches queue */
#define NDP_PACER_LATE_NS	50000
/* pulls and deferred answers until the lock is dropped */
#define NDP_PACER_BATCH		64
/* longest delay of an answer that waits for further packets */
#define NDP_DEFER_NS		20000
/*
 * Longest delay of an ACK that waits for DATA to carry it, and share of the timeout that it may
 * take: senders must not time out meanwhile. If requests follow each other, the timer runs once in
 * this time, however many flows there are.
 */
#define NDP_RIDE_NS		250000U
#define NDP_RIDE_RTO_SHARE	4

/* ---- timer ---- */

/* The flow of a list whose deferred answer is due first; or NULL */
static struct ndp_rx *ndp_pacer_first(struct ndp_pacer *pacer, enum ndp_defer why)
{
	return list_first_entry_or_null(&pacer->deferred[why], struct ndp_rx, deferred_node);
}

static u64 ndp_pacer_due(struct ndp_pacer *pacer)
{
	u64 due = ndp_pull_next_ns(&pacer->q);
	const struct ndp_rx *rx;
	u32 why;

	for (why = 0; why < NDP_DEFERS; why++) {
		rx = ndp_pacer_first(pacer, why);
		if (rx)
			due = min(due, rx->deferred_ns);
	}
	return due;
}

/* Start the timer, unless it expires in time. Under the lock */
static void ndp_pacer_kick(struct ndp_pacer *pacer)
{
	u64 due = ndp_pacer_due(pacer);

	if (pacer->dead || due >= pacer->armed_ns)
		return;
	pacer->armed_ns = due;
	hrtimer_start(&pacer->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/* Collect flows to pull, once each if in a row. Under the lock. Return: their number */
static u32 ndp_pacer_pulls(struct ndp_pacer *pacer, struct ndp_rx **due, u64 now)
{
	struct ndp_pull_node *n;
	struct ndp_rx *rx;
	u32 i, count = 0;

	for (i = 0; i < NDP_PACER_BATCH; i++) {
		n = ndp_pull_next(&pacer->q, now);
		if (!n)
			break;
		rx = container_of(n, struct ndp_rx, f.pull);
		trace_ndp_pull(pacer, rx);
		if (!count || due[count - 1] != rx)
			due[count++] = rx;
	}
	return count;
}

/* Collect flows with deferred answers that are due. Under the lock. Return: their number */
static u32 ndp_pacer_answers(struct ndp_pacer *pacer, struct ndp_rx **due, u64 now)
{
	u32 why = 0, count = 0;
	struct ndp_rx *rx;

	while (why < NDP_DEFERS && count < NDP_PACER_BATCH) {
		rx = ndp_pacer_first(pacer, why);
		if (!rx || rx->deferred_ns > now) {
			why++;
			continue;
		}
		list_del_init(&rx->deferred_node);
		due[count++] = rx;
	}
	return count;
}

static enum hrtimer_restart ndp_pacer_timer(struct hrtimer *timer)
{
	struct ndp_pacer *pacer = container_of(timer, struct ndp_pacer, timer);
	struct ndp_rx *pulls[NDP_PACER_BATCH], *answers[NDP_PACER_BATCH];
	u32 i, n_pulls = 0, n_answers = 0;
	u64 now = ktime_get_ns();

	/* for the flows, after the lock is dropped */
	rcu_read_lock();
	spin_lock(&pacer->lock);
	pacer->armed_ns = U64_MAX;
	if (!pacer->dead) {
		n_pulls = ndp_pacer_pulls(pacer, pulls, now);
		n_answers = ndp_pacer_answers(pacer, answers, now);
		ndp_pacer_kick(pacer);
	}
	spin_unlock(&pacer->lock);
	for (i = 0; i < n_pulls; i++)
		pacer->say(pulls[i], NDP_CTL_PULL);
	for (i = 0; i < n_answers; i++)
		pacer->say(answers[i], 0);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* ---- flows ---- */

/* Set the rate of pulls and their order. Under the lock */
static void ndp_pacer_conf(struct ndp_pacer *pacer)
{
	const struct ndp_conf *conf;
	u32 Mbps;

	/* its namespace may be gone, too */
	if (pacer->dead)
		return;
	conf = &pacer->nic.nn->conf;
	if (unlikely(pacer->q.policy != READ_ONCE(conf->pull_policy)))
		ndp_pull_policy(&pacer->q, READ_ONCE(conf->pull_policy));
	Mbps = ndp_nic_Mbps(&pacer->nic);
	if (Mbps == pacer->rate_Mbps)
		return;
	pacer->rate_Mbps = Mbps;
	ndp_pull_rate(&pacer->q, Mbps * NDP_MBPS_TO_BPS);
}

/**
 * ndp_pacer_demand() - pass a packet to the pull queue
 * @rx: flow; under rx_lock
 * @h: packet that is to be answered
 * @v: verdict
 * @held: the flow is not pulled, because there is no room
 * @now: time
 *
 * Return: true if the answer pulls.
 */
bool ndp_pacer_demand(struct ndp_rx *rx, const struct ndp_hdr *h, enum ndp_rcv_verdict v,
		      bool held, u64 now)
{
	struct ndp_pacer *pacer = rx->pacer;
	bool pull;

	spin_lock(&pacer->lock);
	ndp_pacer_conf(pacer);
	pull = ndp_rcv_demand(&pacer->q, &rx->f, h, v, held, now);
	ndp_pacer_kick(pacer);
	spin_unlock(&pacer->lock);
	return pull;
}

/**
 * ndp_pacer_demand_batch() - pass a batch to the pull queue
 * @rx: flow; under rx_lock
 * @p: batch, which was accepted
 * @held: the flow is not pulled, because there is no room
 *
 * Return: true if the answer pulls.
 */
bool ndp_pacer_demand_batch(struct ndp_rx *rx, const struct ndp_rcv_pkt *p, bool held)
{
	struct ndp_pacer *pacer = rx->pacer;
	bool pull;

	spin_lock(&pacer->lock);
	ndp_pacer_conf(pacer);
	pull = ndp_rcv_demand_batch(&pacer->q, &rx->f, p, held);
	ndp_pacer_kick(pacer);
	spin_unlock(&pacer->lock);
	return pull;
}

/**
 * ndp_pacer_resume() - a flow that was held has room
 * @rx: flow; under rx_lock
 */
void ndp_pacer_resume(struct ndp_rx *rx)
{
	struct ndp_pacer *pacer = rx->pacer;

	spin_lock(&pacer->lock);
	ndp_rcv_allow(&rx->f, false);
	ndp_pull_update(&pacer->q, &rx->f.pull, ktime_get_ns());
	ndp_pacer_kick(pacer);
	spin_unlock(&pacer->lock);
}

/* Delay of a deferred answer. Under the lock */
static u64 ndp_pacer_delay(const struct ndp_pacer *pacer, enum ndp_defer why)
{
	u32 rto_ns;

	/* without a device, the namespace may be gone */
	if (why == NDP_DEFER_MORE || pacer->dead)
		return NDP_DEFER_NS;
	rto_ns = (u32)READ_ONCE(pacer->nic.nn->conf.rto_us) * NSEC_PER_USEC;
	return min(NDP_RIDE_NS, rto_ns / NDP_RIDE_RTO_SHARE);
}

/**
 * ndp_pacer_defer() - send a deferred answer in time
 * @rx: flow; under rx_lock
 * @why: reason, which determines the delay
 * @again: the delay begins anew; otherwise an earlier end of a delay remains
 * @now: time
 */
void ndp_pacer_defer(struct ndp_rx *rx, enum ndp_defer why, bool again, u64 now)
{
	struct ndp_pacer *pacer = rx->pacer;
	u64 due;

	spin_lock(&pacer->lock);
	due = now + ndp_pacer_delay(pacer, why);
	if (again || list_empty(&rx->deferred_node) || due < rx->deferred_ns) {
		rx->deferred_ns = due;
		list_move_tail(&rx->deferred_node, &pacer->deferred[why]);
		ndp_pacer_kick(pacer);
	}
	spin_unlock(&pacer->lock);
}

/**
 * ndp_pacer_join() - pull a flow by a device
 * @pacer: device, counted for the flow
 * @rx: flow in no queue; its demand is kept
 */
void ndp_pacer_join(struct ndp_pacer *pacer, struct ndp_rx *rx)
{
	/* ndp_ride_repeat() reads it without a lock */
	WRITE_ONCE(rx->pacer, pacer);
	spin_lock_bh(&pacer->lock);
	ndp_pull_update(&pacer->q, &rx->f.pull, ktime_get_ns());
	ndp_pacer_kick(pacer);
	spin_unlock_bh(&pacer->lock);
}

/**
 * ndp_pacer_leave() - stop pulling a flow by a device
 * @pacer: device; the caller puts it
 * @rx: flow
 * @ends: the flow ends: its demand is dropped
 */
void ndp_pacer_leave(struct ndp_pacer *pacer, struct ndp_rx *rx, bool ends)
{
	spin_lock_bh(&pacer->lock);
	if (ends)
		ndp_pull_flush(&pacer->q, &rx->f.pull);
	ndp_pull_leave(&pacer->q, &rx->f.pull);
	list_del_init(&rx->deferred_node);
	spin_unlock_bh(&pacer->lock);
}

/* ---- pull queues ---- */

/**
 * ndp_pacer_new() - create a pull queue
 * @nn: namespace of the device
 * @ifindex: device
 * @say: ndp_rx_say()
 * @go: ndp_tx_go()
 *
 * Return: pull queue, counted; NULL: no memory.
 */
struct ndp_pacer *ndp_pacer_new(const struct ndp_net *nn, int ifindex,
				void (*say)(struct ndp_rx *rx, u8 flags),
				void (*go)(struct ndp_tx *tx))
{
	struct ndp_pacer *pacer = kzalloc(sizeof(*pacer), GFP_KERNEL);
	u32 why;

	if (!pacer)
		return NULL;
	refcount_set(&pacer->refs, 1);
	hrtimer_setup(&pacer->timer, ndp_pacer_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	pacer->ifindex = ifindex;
	pacer->say = say;
	spin_lock_init(&pacer->lock);
	for (why = 0; why < NDP_DEFERS; why++)
		INIT_LIST_HEAD(&pacer->deferred[why]);
	ndp_pull_init(&pacer->q, NDP_PACER_LATE_NS, ktime_get_ns());
	pacer->rate_Mbps = NDP_NIC_MBPS;
	ndp_pull_rate(&pacer->q, NDP_NIC_MBPS * NDP_MBPS_TO_BPS);
	pacer->armed_ns = U64_MAX;
	ndp_nic_init(&pacer->nic, nn, go);
	return pacer;
}

/**
 * ndp_pacer_put() - drop a reference
 * @pacer: pull queue
 *
 * Any context.
 */
void ndp_pacer_put(struct ndp_pacer *pacer)
{
	if (refcount_dec_and_test(&pacer->refs))
		kfree_rcu(pacer, rcu);
}

/**
 * ndp_pacer_find() - find the pull queue of a device
 * @nn: namespace
 * @ifindex: device
 *
 * Under RCU.
 *
 * Return: pull queue, counted, or NULL.
 */
struct ndp_pacer *ndp_pacer_find(struct ndp_net *nn, int ifindex)
{
	struct ndp_dev *nd = ndp_dev_find(nn, ifindex);
	struct ndp_pacer *pacer = nd ? rcu_dereference(nd->pacer) : NULL;

	return pacer && refcount_inc_not_zero(&pacer->refs) ? pacer : NULL;
}

/**
 * ndp_pacer_get() - find the pull queue of a device by which a flow arrives
 * @nn: namespace
 * @ifindex: device
 *
 * Under RCU.
 *
 * Return: pull queue, counted, or NULL.
 */
struct ndp_pacer *ndp_pacer_get(struct ndp_net *nn, int ifindex)
{
	struct ndp_dev *nd = ndp_dev_find(nn, ifindex);

	if (nd && !READ_ONCE(nd->arrives)) {
		WRITE_ONCE(nd->arrives, true);
		if (!READ_ONCE(nd->hooked))
			ndp_devs_changed(nn);
	}
	return ndp_pacer_find(nn, ifindex);
}

/**
 * ndp_pacer_stop() - stop a queue whose device is gone
 * @pacer: pull queue; flows may have it still
 *
 * Process context.
 */
void ndp_pacer_stop(struct ndp_pacer *pacer)
{
	spin_lock_bh(&pacer->lock);
	pacer->dead = true;
	spin_unlock_bh(&pacer->lock);
	hrtimer_cancel(&pacer->timer);
	ndp_nic_stop(&pacer->nic);
}

/**
 * ndp_pacer_link() - set the rate and the MTU of the link
 * @pacer: pull queue
 * @Mbps: rate; 0: unknown
 * @mtu: bytes of IP
 */
void ndp_pacer_link(struct ndp_pacer *pacer, u32 Mbps, u32 mtu)
{
	spin_lock_bh(&pacer->lock);
	WRITE_ONCE(pacer->nic.link_Mbps, Mbps);
	ndp_pull_mtu(&pacer->q, mtu);
	ndp_pacer_conf(pacer);
	spin_unlock_bh(&pacer->lock);
}

/**
 * ndp_pull_stats_add() - add counters
 * @sum: result
 * @stats: counters, which change meanwhile
 */
void ndp_pull_stats_add(struct ndp_pull_stats *sum, const struct ndp_pull_stats *stats)
{
	sum->pulls += READ_ONCE(stats->pulls);
	sum->at_once += READ_ONCE(stats->at_once);
	sum->flushed += READ_ONCE(stats->flushed);
	sum->silent += READ_ONCE(stats->silent);
	sum->cut += READ_ONCE(stats->cut);
}
