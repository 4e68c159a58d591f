// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: order of a host's flows at a link
 *
 * Each lowest device has a queue of sending flows (nicq.h), next to its pull queue, which admits
 * each packet. While a flow waits, its packets do not exist yet. So the qdisc and the NIC have at
 * most some 10 µs of packets, and their order does not matter:
 *
 *	ndp_tx_collect() --> ndp_nic_take() --> now: sent
 *	       ^                  |
 *	       |                  v wait
 *	       +--- @go() --- queue, timer
 *
 * CONTROL packets are counted when they are sent, and charged with the next DATA.
 */
#include "ndp.h"

/* flows until the lock is dropped */
#define NDP_NIC_BATCH		64
/* bytes of CONTROL that are charged with a packet */
#define NDP_NIC_CONTROL_MAX	65536U
/* bytes of a packet on the link, besides NDP's header: Ethernet, IPv4, UDP, FCS, preamble, gap */
#define NDP_NIC_AROUND		(NDP_PULL_OVERHEAD - NDP_HLEN)

/* Start the timer, unless it expires in time. Under the lock */
static void ndp_nic_kick(struct ndp_nic *nic)
{
	u64 due = ndp_nicq_next_ns(&nic->q);

	if (nic->dead || due >= nic->armed_ns)
		return;
	nic->armed_ns = due;
	hrtimer_start(&nic->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

static struct ndp_tx *ndp_nic_tx(struct ndp_nicq_node *n)
{
	return n ? container_of(n, struct ndp_tx, nicq) : NULL;
}

/* Choose a flow that may send now, or start the timer. Under RCU. Return: flow or NULL */
static struct ndp_tx *ndp_nic_next(struct ndp_nic *nic)
{
	struct ndp_nicq_node *n;

	spin_lock(&nic->lock);
	n = ndp_nicq_next(&nic->q, ktime_get_ns());
	if (!n) {
		nic->armed_ns = U64_MAX;
		ndp_nic_kick(nic);
	}
	spin_unlock(&nic->lock);
	return ndp_nic_tx(n);
}

static enum hrtimer_restart ndp_nic_timer(struct hrtimer *timer)
{
	struct ndp_nic *nic = container_of(timer, struct ndp_nic, timer);
	struct ndp_tx *tx;
	u32 count;

	/* a flow in the queue is alive, and freed after RCU's grace period */
	rcu_read_lock();
	for (count = 0; count < NDP_NIC_BATCH; count++) {
		tx = ndp_nic_next(nic);
		if (!tx)
			break;
		nic->go(tx);
	}
	if (count == NDP_NIC_BATCH) {
		spin_lock(&nic->lock);
		nic->armed_ns = U64_MAX;
		ndp_nic_kick(nic);
		spin_unlock(&nic->lock);
	}
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * ndp_nic_init() - initialize the queue of a link
 * @nic: queue
 * @nn: namespace of the lowest device
 * @go: lets a flow send: ndp_tx_go()
 */
void ndp_nic_init(struct ndp_nic *nic, const struct ndp_net *nn, void (*go)(struct ndp_tx *tx))
{
	nic->nn = nn;
	hrtimer_setup(&nic->timer, ndp_nic_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	spin_lock_init(&nic->lock);
	ndp_nicq_init(&nic->q, ktime_get_ns());
	nic->armed_ns = U64_MAX;
	nic->go = go;
}

/**
 * ndp_nic_Mbps() - get the rate of a link
 * @nic: queue of a link that is not gone
 *
 * Return: Mbit/s.
 */
u32 ndp_nic_Mbps(const struct ndp_nic *nic)
{
	u32 Mbps = READ_ONCE(nic->link_Mbps);

	return Mbps ?: (u32)READ_ONCE(nic->nn->conf.line_rate_Mbps) ?: NDP_NIC_MBPS;
}

/* Set the rate. Under the lock */
static void ndp_nic_rate(struct ndp_nic *nic, u32 Mbps)
{
	if (likely(nic->rate_Mbps == Mbps))
		return;
	nic->rate_Mbps = Mbps;
	ndp_nicq_rate(&nic->q, Mbps * NDP_MBPS_TO_BPS);
}

/**
 * ndp_nic_take() - pass the next packet of a flow to its NIC, or let the flow wait
 * @tx: flow; locked
 * @next: packet
 * @joins: it joins a batch that was passed to the NIC
 * @now: time
 *
 * Return: true if the packet is sent now; false: @go() will be called.
 */
bool ndp_nic_take(struct ndp_tx *tx, const struct ndp_snd_next *next, bool joins, u64 now)
{
	const u32 bytes = next->len + NDP_PULL_OVERHEAD;
	struct ndp_nic *nic;
	bool may = true;
	u64 key;

	if (!tx->link)
		return true;
	nic = &tx->link->nic;
	spin_lock(&nic->lock);
	if (joins) {
		ndp_nicq_charge(&nic->q, bytes);
	} else if (!nic->dead) {
		/* the namespace of the device exists */
		ndp_nic_rate(nic, ndp_nic_Mbps(nic));
		key = ndp_nicq_key((u8)READ_ONCE(nic->nn->conf.pull_policy), next->prio,
				   next->rest);
		ndp_nicq_charge(&nic->q, min_t(u32, (u32)atomic_xchg(&nic->control_bytes, 0),
					       NDP_NIC_CONTROL_MAX));
		may = ndp_nicq_take(&nic->q, &tx->nicq, key, bytes, now);
		ndp_nic_kick(nic);
	}
	spin_unlock(&nic->lock);
	return may;
}

/**
 * ndp_nic_leave() - take a flow without packets out of the queue
 * @tx: flow; locked
 */
void ndp_nic_leave(struct ndp_tx *tx)
{
	struct ndp_nic *nic;

	/* only ndp_nic_take() queues it, under the flow's lock */
	if (!tx->link || !(READ_ONCE(tx->nicq.queued) || READ_ONCE(tx->nicq.turn)))
		return;
	nic = &tx->link->nic;
	spin_lock(&nic->lock);
	ndp_nicq_leave(&nic->q, &tx->nicq);
	spin_unlock(&nic->lock);
}

/**
 * ndp_nic_of_Mbps() - get the rate of a device's link
 * @nn: namespace
 * @ifindex: device
 *
 * Return: Mbit/s; without a device the default.
 */
u32 ndp_nic_of_Mbps(struct ndp_net *nn, int ifindex)
{
	u32 Mbps = NDP_NIC_MBPS;
	struct ndp_nic *nic;
	struct ndp_dev *nd;

	rcu_read_lock();
	nd = ndp_dev_find(nn, ifindex);
	if (nd) {
		nic = &rcu_dereference(nd->pacer)->nic;
		spin_lock_bh(&nic->lock);
		/* the namespace of the device exists */
		if (!nic->dead)
			Mbps = ndp_nic_Mbps(nic);
		spin_unlock_bh(&nic->lock);
	}
	rcu_read_unlock();
	return Mbps;
}

/**
 * ndp_nic_control() - a packet without payload is sent
 * @nn: namespace
 * @ifindex: device
 * @bytes: length, without headers of the link
 *
 * Under RCU.
 */
void ndp_nic_control(struct ndp_net *nn, int ifindex, u32 bytes)
{
	struct ndp_dev *nd = ndp_dev_find(nn, ifindex);

	if (nd)
		atomic_add((int)(bytes + NDP_NIC_AROUND),
			   &rcu_dereference(nd->pacer)->nic.control_bytes);
}

/**
 * ndp_nic_stop() - let all flows of a link that is gone continue without it
 * @nic: queue
 *
 * Process context.
 */
void ndp_nic_stop(struct ndp_nic *nic)
{
	struct ndp_tx *tx;

	spin_lock_bh(&nic->lock);
	nic->dead = true;
	spin_unlock_bh(&nic->lock);
	hrtimer_cancel(&nic->timer);
	do {
		rcu_read_lock();
		spin_lock_bh(&nic->lock);
		tx = ndp_nic_tx(ndp_nicq_drain(&nic->q));
		spin_unlock_bh(&nic->lock);
		if (tx)
			nic->go(tx);
		rcu_read_unlock();
	} while (tx);
}
