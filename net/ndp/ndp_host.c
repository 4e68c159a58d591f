// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: devices, and what is pulled through them
 *
 * Each device by which packets may come has a pull queue (ndp_pull.h) and a timer that
 * says when the next pull is due. A flow is in the queue of the device by which its
 * packets come:
 *
 *	packet ---> ndp_host_wish() ---> queue ---> timer ---> ndp_rx_pull()
 *	                 |                                         ^
 *	                 +---- queue empty, link idle: at once ----+ (in the answer)
 *
 * The device and each of its flows keep struct ndp_host. One of a device that is gone
 * pulls nothing any more: its flows are there until packets come by another device.
 *
 * The policy may change when no flow waits. For srpt, flows have ids, and the heap has
 * places for as many; when few are left, work makes more, and if none is left, new flows
 * are not taken meanwhile.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, section 3.2.
 */

#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <closnet/link_rate.h>
#include "ndp.h"
#include "ndp_trace.h"

/* What softirqs may be late by: seven jumbo frames at 10 Gbit/s, which a switch has room for */
#define NDP_HOST_LATE_NS	50000
/* Of links whose rate nobody tells */
#define NDP_HOST_MBPS		10000U
#define NDP_HOST_MBPS_TO_BPS	125000ULL
/* Pulls until the lock is dropped to tell of them */
#define NDP_HOST_BATCH		64
/* Flows for which srpt has room at first, a power of two */
#define NDP_HOST_PLACES		4096U

/* ---- to find them ---- */

static struct ndp_host *ndp_host_find(struct ndp_net *nn, int ifindex)
{
	struct ndp_host *host;

	hash_for_each_possible_rcu(nn->hosts, host, node, ifindex, lockdep_rtnl_is_held())
		if (host->ifindex == ifindex)
			return host;
	return NULL;
}

/**
 * ndp_host_get() - find a device
 * @nn: namespace
 * @ifindex: its number
 *
 * Under RCU.
 *
 * Return: the device, counted; NULL: there is none.
 */
struct ndp_host *ndp_host_get(struct ndp_net *nn, int ifindex)
{
	struct ndp_host *host = ndp_host_find(nn, ifindex);

	return host && refcount_inc_not_zero(&host->refs) ? host : NULL;
}

/* What srpt has for each flow */
struct ndp_host_places {
	struct ndp_pull_node **by_id;
	struct ndp_heap_node *node;
	u32 *place;
};

static void ndp_host_free_places(const struct ndp_host_places *p)
{
	kvfree(p->by_id);
	kvfree(p->node);
	kvfree(p->place);
}

static struct ndp_host_places ndp_host_places(const struct ndp_pull *q)
{
	return (struct ndp_host_places) { q->by_id, q->heap.node, q->heap.place };
}

static void ndp_host_free(struct rcu_head *rcu)
{
	struct ndp_host *host = container_of(rcu, struct ndp_host, rcu);
	struct ndp_host_places p = ndp_host_places(&host->q);

	ida_destroy(&host->ids);
	ndp_host_free_places(&p);
	kfree(host);
}

/**
 * ndp_host_put() - a device is needed no longer
 * @host: it
 *
 * In any context.
 */
void ndp_host_put(struct ndp_host *host)
{
	if (refcount_dec_and_test(&host->refs))
		call_rcu(&host->rcu, ndp_host_free);
}

/* ---- the pacer ---- */

/*
 * Under the lock. The timer is not later than the next pull, but by what a packet was shorter
 * than it was thought to be: that is made up for.
 */
static void ndp_host_kick(struct ndp_host *host)
{
	u64 next_ns = ndp_pull_next_ns(&host->q);

	if (host->armed || host->dead || next_ns == U64_MAX)
		return;
	host->armed = true;
	hrtimer_start(&host->timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

/* Under the lock. What is due now, a flow once if it is pulled in a row. Return: how many */
static u32 ndp_host_due(struct ndp_host *host, struct ndp_rx **due)
{
	u64 now = ktime_get_ns();
	struct ndp_pull_node *n;
	struct ndp_rx *rx;
	u32 i, count = 0;

	for (i = 0; i < NDP_HOST_BATCH; i++) {
		n = ndp_pull_next(&host->q, now);
		if (!n)
			break;
		rx = container_of(n, struct ndp_rx, f.pull);
		trace_ndp_pull(host, rx);
		if (!count || due[count - 1] != rx)
			due[count++] = rx;
	}
	return count;
}

static enum hrtimer_restart ndp_host_timer(struct hrtimer *timer)
{
	struct ndp_host *host = container_of(timer, struct ndp_host, timer);
	struct ndp_rx *due[NDP_HOST_BATCH];
	u64 next_ns = U64_MAX;
	u32 i, count = 0;
	bool armed;

	/* the flows, when the lock is dropped */
	rcu_read_lock();
	spin_lock(&host->lock);
	if (!host->dead) {
		count = ndp_host_due(host, due);
		next_ns = ndp_pull_next_ns(&host->q);
	}
	armed = next_ns != U64_MAX;
	host->armed = armed;
	/* as long as it is armed, nobody else starts it */
	if (armed)
		hrtimer_set_expires(timer, ns_to_ktime(next_ns));
	spin_unlock(&host->lock);
	for (i = 0; i < count; i++)
		ndp_rx_pull(due[i]);
	rcu_read_unlock();
	return armed ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ---- what is set ---- */

/* Under the lock */
static void ndp_host_rate(struct ndp_host *host)
{
	u32 Mbps = host->link_Mbps;

	if (!Mbps)
		Mbps = (u32)READ_ONCE(host->nn->conf.line_rate_Mbps);
	if (!Mbps)
		Mbps = NDP_HOST_MBPS;
	if (Mbps == host->rate_Mbps)
		return;
	host->rate_Mbps = Mbps;
	ndp_pull_rate(&host->q, Mbps * NDP_HOST_MBPS_TO_BPS);
}

/* Under the lock */
static void ndp_host_policy(struct ndp_host *host)
{
	int policy = READ_ONCE(host->nn->conf.pull_policy);

	if (policy == host->q.policy || host->q.queued || host->dead)
		return;
	if (policy != NDP_PULL_SRPT || host->ids_end <= host->places)
		host->q.policy = (u8)policy;
	else
		schedule_work(&host->grow);
}

/* Under the lock. The heap moves to larger places; what was is then in @p. */
static void ndp_host_swap(struct ndp_host *host, struct ndp_host_places *p, u32 places)
{
	struct ndp_host_places old = ndp_host_places(&host->q);
	u32 i, count = host->q.heap.count;

	ndp_pull_init_srpt(&host->q, p->by_id, p->node, p->place, places);
	for (i = 0; i < count; i++) {
		const struct ndp_heap_node *n = &old.node[i];

		host->q.by_id[n->id] = old.by_id[n->id];
		ndp_heap_set(&host->q.heap, n->id, n->key, n->tie);
	}
	host->places = places;
	*p = old;
}

static void ndp_host_grow(struct work_struct *work)
{
	struct ndp_host *host = container_of(work, struct ndp_host, grow);
	u32 places = max(NDP_HOST_PLACES, roundup_pow_of_two(2 * READ_ONCE(host->ids_end)));
	struct ndp_host_places p = {
		.by_id = kvmalloc_array(places, sizeof(*p.by_id), GFP_KERNEL),
		.node = kvmalloc_array(places, sizeof(*p.node), GFP_KERNEL),
		.place = kvmalloc_array(places, sizeof(*p.place), GFP_KERNEL),
	};

	spin_lock_bh(&host->lock);
	if (p.by_id && p.node && p.place && places > host->places)
		ndp_host_swap(host, &p, places);
	spin_unlock_bh(&host->lock);
	ndp_host_free_places(&p);
}

/* ---- flows ---- */

/**
 * ndp_host_reserve() - is there a place for one more flow?
 * @host: device
 *
 * Return: an id, for ndp_host_join(); negative: no.
 */
int ndp_host_reserve(struct ndp_host *host)
{
	int id = ida_alloc(&host->ids, GFP_ATOMIC | __GFP_NOWARN);
	bool room = true;

	if (id < 0)
		return id;
	spin_lock_bh(&host->lock);
	if ((u32)id >= host->ids_end)
		WRITE_ONCE(host->ids_end, (u32)id + 1);
	/* before it is needed: what is not taken meanwhile would have to time out */
	if (host->q.policy == NDP_PULL_SRPT && (u32)id >= host->places - host->places / 4) {
		room = (u32)id < host->places;
		if (!host->dead)
			schedule_work(&host->grow);
	}
	spin_unlock_bh(&host->lock);
	if (room)
		return id;
	ida_free(&host->ids, id);
	return -ENOSPC;
}

/**
 * ndp_host_join() - a flow's packets come by this device from now on
 * @host: device, counted for the flow
 * @n: the flow, in no queue; what it wished elsewhere, it does here
 * @id: of ndp_host_reserve()
 */
void ndp_host_join(struct ndp_host *host, struct ndp_pull_node *n, int id)
{
	spin_lock_bh(&host->lock);
	n->id = (u32)id;
	ndp_pull_hold(&host->q, n, n->held, ktime_get_ns());
	ndp_host_kick(host);
	spin_unlock_bh(&host->lock);
}

/**
 * ndp_host_leave() - they do no longer
 * @host: device; the caller puts it
 * @n: the flow; then in no queue
 * @ends: the flow does, too, and what it wishes is void
 */
void ndp_host_leave(struct ndp_host *host, struct ndp_pull_node *n, bool ends)
{
	bool held;

	spin_lock_bh(&host->lock);
	held = n->held;
	if (ends)
		ndp_pull_flush(&host->q, n);
	ndp_pull_hold(&host->q, n, true, ktime_get_ns());
	n->held = held;
	spin_unlock_bh(&host->lock);
	ida_free(&host->ids, n->id);
}

/**
 * ndp_host_wish() - ndp_rcv_wish(): what came of a flow
 * @host: device by which it came
 * @f: the flow
 * @h: the packet, to be answered
 * @v: what it was
 * @yields: ndp_rcv_yields()
 * @now: the time
 *
 * Return: true if the answer is to say PULL.
 */
bool ndp_host_wish(struct ndp_host *host, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		   enum ndp_rcv_verdict v, bool yields, u64 now)
{
	bool pull;

	spin_lock_bh(&host->lock);
	ndp_host_rate(host);
	ndp_host_policy(host);
	pull = ndp_rcv_wish(&host->q, f, h, v, yields, now);
	ndp_host_kick(host);
	spin_unlock_bh(&host->lock);
	return pull;
}

/**
 * ndp_host_resume() - a flow's receiver has room again
 * @host: device
 * @n: the flow
 */
void ndp_host_resume(struct ndp_host *host, struct ndp_pull_node *n)
{
	spin_lock_bh(&host->lock);
	ndp_pull_hold(&host->q, n, false, ktime_get_ns());
	ndp_host_kick(host);
	spin_unlock_bh(&host->lock);
}

/* ---- devices ---- */

static int ndp_host_add(struct ndp_net *nn, struct net_device *dev)
{
	static const struct ndp_pull_params params = {
		.rate_Bps = NDP_HOST_MBPS * NDP_HOST_MBPS_TO_BPS, .late_ns = NDP_HOST_LATE_NS,
		/* as many as there may be on the way */
		.ahead = NDP_WINDOW_MAX, .policy = NDP_PULL_FAIR,
	};
	struct ndp_host *host = kzalloc(sizeof(*host), GFP_KERNEL);
	int err;

	if (!host)
		return -ENOMEM;
	err = ndp_in_dev_init(dev, &host->hook);
	if (err) {
		kfree(host);
		return err;
	}
	host->nn = nn;
	host->ifindex = dev->ifindex;
	refcount_set(&host->refs, 1);
	hrtimer_setup(&host->timer, ndp_host_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	ida_init(&host->ids);
	INIT_WORK(&host->grow, ndp_host_grow);
	spin_lock_init(&host->lock);
	ndp_pull_init(&host->q, &params, ktime_get_ns());
	host->rate_Mbps = NDP_HOST_MBPS;
	host->link_Mbps = closnet_link_Mbps(dev);
	hash_add_rcu(nn->hosts, &host->node, host->ifindex);
	return 0;
}

static void ndp_host_changed(struct ndp_net *nn, struct net_device *dev)
{
	struct ndp_host *host = ndp_host_find(nn, dev->ifindex);
	u32 Mbps = closnet_link_Mbps(dev);

	if (!host)
		return;
	spin_lock_bh(&host->lock);
	host->link_Mbps = Mbps;
	ndp_host_rate(host);
	spin_unlock_bh(&host->lock);
}

/* What a device that goes has counted; flows that are still there count on, for nobody. */
static void ndp_host_total(struct ndp_net *nn, const struct ndp_pull_stats *stats)
{
	struct ndp_pull_stats *sum = &nn->pull_totals;

	spin_lock_bh(&nn->totals_lock);
	sum->pulls += stats->pulls;
	sum->at_once += stats->at_once;
	sum->flushed += stats->flushed;
	sum->silent += stats->silent;
	sum->cut += stats->cut;
	spin_unlock_bh(&nn->totals_lock);
}

static void ndp_host_del(struct ndp_net *nn, struct net_device *dev)
{
	struct ndp_host *host = ndp_host_find(nn, dev->ifindex);

	if (!host)
		return;
	nf_unregister_net_hook(nn->net, &host->hook);
	hash_del_rcu(&host->node);
	spin_lock_bh(&host->lock);
	host->dead = true;
	spin_unlock_bh(&host->lock);
	hrtimer_cancel(&host->timer);
	cancel_work_sync(&host->grow);
	ndp_host_total(nn, &host->q.stats);
	ndp_host_put(host);
}

/* RTNL is held. A device that changes its namespace is unregistered there, and registered here. */
static int ndp_host_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct ndp_net *nn = ndp_net(dev_net(dev));

	switch (event) {
	case NETDEV_REGISTER:
		return notifier_from_errno(ndp_host_add(nn, dev));
	case NETDEV_UP:
	case NETDEV_CHANGE:
		ndp_host_changed(nn, dev);
		break;
	case NETDEV_UNREGISTER:
		ndp_host_del(nn, dev);
		break;
	}
	return NOTIFY_DONE;
}

struct notifier_block ndp_host_notifier = {
	.notifier_call = ndp_host_event,
};

/**
 * ndp_host_exit() - a namespace ends; its devices have gone already
 * @nn: namespace
 */
void ndp_host_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(!hash_empty(nn->hosts));
}
