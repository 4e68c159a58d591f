// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: the devices of next hops, and their load
 *
 * All actions of a namespace share the load of a port, since they share its queue. A port is
 * created by the first packet that may take it, or by an action that sets its rate, and goes with
 * its device. So configuration names no ports: the routing table does.
 *
 * Sources of a sample (lb_load.c has the model):
 *
 *	backlog		bytes in the qdisc of each TX queue, of a root qdisc once, and bytes in
 *			the driver's ring (BQL)
 *	bytes sent	the qdiscs' counters; for devices without queues, or with too many for one
 *			sample below mq, the bytes given to them
 *	rate		set by an action, or the link speed, or LB_DEFAULT_MBPS
 *
 * Work. A sample ends when it has read LB_READS_MAX counters. The last queue may exceed this, if
 * each CPU counts in its qdisc: then the next sample is that much later.
 *
 * A rate that an action sets ends with the device, as do its addresses and routes: another device
 * of the same name or index may have another rate.
 *
 * Lifetime. Readers are in RCU read sections. lb_port_device_gone() takes the port out of the
 * table. No packet creates it again: a device that goes or changes its namespace is closed first,
 * a closed device gets no port, and the kernel waits for a grace period between the two.
 */
#include <linux/rtnetlink.h>
#include <closnet/link_rate.h>
#include <closnet/netlink.h>
#include <net/netdev_lock.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include "lb_port.h"

/* ---- rate ---- */

/**
 * lb_port_rate_Bps() - get the rate that counts
 * @port: the port
 *
 * Return: bytes per second.
 */
u64 lb_port_rate_Bps(const struct lb_port *port)
{
	u64 rate_Bps = READ_ONCE(port->rate_Bps);

	if (rate_Bps)
		return rate_Bps;
	return (u64)(READ_ONCE(port->link_Mbps) ?: LB_DEFAULT_MBPS) * (1000000 / BITS_PER_BYTE);
}

static void lb_port_update_rate(struct lb_port *port)
{
	lb_load_set_rate(&port->load, lb_port_rate_Bps(port));
}

/* RTNL is held, and the device's own lock if it has one */
static void lb_port_read_link(struct lb_ports *ports, struct lb_port *port, struct net_device *dev)
{
	u32 link_Mbps = closnet_link_Mbps(dev);

	mutex_lock(&ports->rate_mutex);
	WRITE_ONCE(port->link_Mbps, link_Mbps);
	lb_port_update_rate(port);
	mutex_unlock(&ports->rate_mutex);
}

/* Get the rates of ports that packets created; at most LB_PORTS_MAX */
static void lb_ports_read_links(struct work_struct *work)
{
	struct lb_ports *ports = container_of(work, struct lb_ports, new_port);
	struct net_device *dev;
	struct lb_port *port;
	unsigned long index;

	rtnl_lock();
	xa_for_each(&ports->by_ifindex, index, port) {
		dev = __dev_get_by_index(ports->net, port->ifindex);
		if (dev && !port->link_Mbps) {
			netdev_lock_ops(dev);
			lb_port_read_link(ports, port, dev);
			netdev_unlock_ops(dev);
		}
	}
	rtnl_unlock();
}

/**
 * lb_port_device_changed() - read the rate of a device again
 * @ports: ports of its namespace
 * @dev: the device
 *
 * Context: a netdevice notification.
 */
void lb_port_device_changed(struct lb_ports *ports, struct net_device *dev)
{
	struct lb_port *port = xa_load(&ports->by_ifindex, dev->ifindex);

	if (port)
		lb_port_read_link(ports, port, dev);
}

/**
 * lb_port_hold() - find or create the port of a device, and take a reference
 * @ports: ports of the namespace
 * @ifindex: the device
 * @extack: error report
 *
 * Return: the port, for lb_port_put(), or an error pointer.
 */
struct lb_port *lb_port_hold(struct lb_ports *ports, u32 ifindex, struct netlink_ext_ack *extack)
{
	struct lb_port *port = NULL;
	struct net_device *dev;

	rcu_read_lock_bh();
	dev = dev_get_by_index_rcu(ports->net, ifindex);
	if (dev)
		port = lb_port_get(ports, dev);
	if (port && !refcount_inc_not_zero(&port->refs))
		port = NULL;
	rcu_read_unlock_bh();
	if (!dev)
		NL_SET_ERR_MSG(extack, "rate names a device that does not exist");
	else if (!port)
		NL_SET_ERR_MSG(extack, "rate needs a device that is up");
	return port ?: ERR_PTR(dev ? -ENETDOWN : -ENODEV);
}

static void lb_rates_drop(const struct lb_rate *rates, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!--rates[i].port->rate_users)
			WRITE_ONCE(rates[i].port->rate_Bps, 0);
	}
}

/* Return: the number of rates that could be added before one that another action contradicts */
static u32 lb_rates_add(const struct lb_rate *rates, u32 count)
{
	struct lb_port *port;
	u32 i;

	for (i = 0; i < count; i++) {
		port = rates[i].port;
		if (port->rate_users && port->rate_Bps != rates[i].rate_Bps)
			break;
		port->rate_users++;
		WRITE_ONCE(port->rate_Bps, rates[i].rate_Bps);
	}
	return i;
}

static void lb_rates_update(const struct lb_rate *rates, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		lb_port_update_rate(rates[i].port);
}

/**
 * lb_port_change_rates() - replace the rates that an action sets
 * @ports: ports of the namespace
 * @old: rates that it has set
 * @old_count: number of them
 * @new: rates to set
 * @new_count: number of them
 * @extack: error report
 *
 * Context: process; may sleep.
 *
 * Return: 0, or -EBUSY if another action has set a different rate of a device: then no rate
 * changes.
 */
int lb_port_change_rates(struct lb_ports *ports, const struct lb_rate *old, u32 old_count,
			 const struct lb_rate *new, u32 new_count, struct netlink_ext_ack *extack)
{
	u32 added;

	mutex_lock(&ports->rate_mutex);
	lb_rates_drop(old, old_count);
	added = lb_rates_add(new, new_count);
	if (added < new_count) {
		lb_rates_drop(new, added);
		lb_rates_add(old, old_count);
	}
	lb_rates_update(old, old_count);
	lb_rates_update(new, new_count);
	mutex_unlock(&ports->rate_mutex);
	if (added == new_count)
		return 0;
	NL_SET_ERR_MSG(extack, "another rate of the device is set already");
	return -EBUSY;
}

/* ---- table ---- */

/**
 * lb_ports_init() - begin without ports
 * @ports: ports
 * @net: their namespace
 */
void lb_ports_init(struct lb_ports *ports, struct net *net)
{
	xa_init_flags(&ports->by_ifindex, XA_FLAGS_LOCK_BH);
	mutex_init(&ports->rate_mutex);
	INIT_WORK(&ports->new_port, lb_ports_read_links);
	ports->net = net;
}

/**
 * lb_port_put() - drop a reference
 * @port: the port
 */
void lb_port_put(struct lb_port *port)
{
	if (refcount_dec_and_test(&port->refs))
		kfree_rcu(port, rcu);
}

/**
 * lb_ports_exit() - free all ports
 * @ports: ports of a namespace that ends, without packets and actions
 */
void lb_ports_exit(struct lb_ports *ports)
{
	struct lb_port *port;
	unsigned long index;

	cancel_work_sync(&ports->new_port);
	xa_for_each(&ports->by_ifindex, index, port)
		lb_port_put(port);
	xa_destroy(&ports->by_ifindex);
}

/* Put a new port into the table. Return: 0, or an error if it does not belong there */
static int lb_port_insert(struct lb_ports *ports, struct lb_port *port, struct net_device *dev,
			  gfp_t gfp)
{
	u32 slot;
	int err;

	/* the order matters: see "Lifetime" */
	if (!netif_running(dev) || dev->reg_state != NETREG_REGISTERED)
		return -ENETDOWN;
	slot = find_first_zero_bit(ports->slots, LB_PORTS_MAX);
	if (slot == LB_PORTS_MAX)
		return -ENOSPC;
	port->slot = slot;
	err = __xa_insert(&ports->by_ifindex, dev->ifindex, port, gfp);
	if (err)
		return err;
	__set_bit(slot, ports->slots);
	rcu_assign_pointer(ports->recent[(u32)dev->ifindex % LB_PORTS_MAX], port);
	return 0;
}

/**
 * lb_port_create() - create the port of a device
 * @ports: ports of its namespace
 * @dev: the device
 * @gfp: how to allocate
 *
 * Context: RCU, BH off.
 *
 * Return: the port, which another CPU may have created just now, or NULL, see lb_port_get().
 */
struct lb_port *lb_port_create(struct lb_ports *ports, struct net_device *dev, gfp_t gfp)
{
	struct lb_port *port = kzalloc(sizeof(*port), gfp | __GFP_NOWARN);
	int err;

	if (!port)
		return NULL;
	lb_load_init(&port->load);
	spin_lock_init(&port->lock);
	refcount_set(&port->refs, 1);
	port->ifindex = dev->ifindex;
	lb_port_update_rate(port);

	xa_lock_bh(&ports->by_ifindex);
	err = lb_port_insert(ports, port, dev, gfp);
	xa_unlock_bh(&ports->by_ifindex);
	if (err) {
		kfree(port);
		return err == -EBUSY ? xa_load(&ports->by_ifindex, dev->ifindex) : NULL;
	}
	schedule_work(&ports->new_port);
	return port;
}

/**
 * lb_port_device_gone() - forget a device
 * @ports: ports of its namespace
 * @dev: the device, closed
 *
 * Context: RTNL.
 */
void lb_port_device_gone(struct lb_ports *ports, struct net_device *dev)
{
	struct lb_port __rcu **recent = &ports->recent[(u32)dev->ifindex % LB_PORTS_MAX];
	struct lb_port *port;

	xa_lock_bh(&ports->by_ifindex);
	port = __xa_erase(&ports->by_ifindex, dev->ifindex);
	if (port) {
		__clear_bit(port->slot, ports->slots);
		if (rcu_access_pointer(*recent) == port)
			RCU_INIT_POINTER(*recent, NULL);
	}
	xa_unlock_bh(&ports->by_ifindex);
	if (port) {
		WRITE_ONCE(port->gone, true);
		lb_port_put(port);
	}
}

/* ---- samples ---- */

/* Bytes in the driver's ring, as BQL counts them */
static u32 lb_ring_bytes(const struct netdev_queue *txq)
{
#ifdef CONFIG_BQL
	return READ_ONCE(txq->dql.num_queued) - READ_ONCE(txq->dql.num_completed);
#else
	return 0;
#endif
}

static u64 lb_sent_bytes(const struct gnet_stats_basic_sync *b)
{
	unsigned int start;
	u64 bytes;

	/* the kernel's seqcount: 32-bit CPUs read both halves of one value */
	do {
		start = u64_stats_fetch_begin(&b->syncp);
		bytes = u64_stats_read(&b->bytes);
	} while (u64_stats_fetch_retry(&b->syncp, start));
	return bytes;
}

/* Add up the counters of a qdisc. Return: number of them */
static u32 lb_add_qdisc(const struct Qdisc *q, u64 *sent_bytes, u32 *backlog_bytes)
{
	int cpu;

	if (!qdisc_is_percpu_stats(q)) {
		*sent_bytes += lb_sent_bytes(&q->bstats);
		*backlog_bytes += READ_ONCE(q->qstats.backlog);
		return 1;
	}
	for_each_possible_cpu(cpu) {
		*sent_bytes += lb_sent_bytes(per_cpu_ptr(q->cpu_bstats, cpu));
		*backlog_bytes += READ_ONCE(per_cpu_ptr(q->cpu_qstats, cpu)->backlog);
	}
	return nr_cpu_ids;
}

/* Sum of a part of a device's queues */
struct lb_queues {
	u64 sent_bytes;
	u32 queued_bytes;
	u32 ring_bytes;
	u32 queues;
	u32 reads;
};

/* Add up at most @count queues from @first on. Return: false if the device has no queues */
static bool lb_add_queues(struct lb_queues *sum, struct net_device *dev, u32 first, u32 count,
			  u32 total)
{
	const struct Qdisc *q, *last = NULL;
	const struct netdev_queue *txq;
	u32 i;

	for (i = 0; i < count && sum->reads < LB_READS_MAX; i++) {
		txq = netdev_get_tx_queue(dev, (first + i) % total);
		q = rcu_dereference_bh(txq->qdisc);
		if (!q->enqueue)
			return false;
		/* below mq, each TX queue has a qdisc; otherwise all have the root */
		if (q != last)
			sum->reads += lb_add_qdisc(q, &sum->sent_bytes, &sum->queued_bytes);
		last = q;
		sum->ring_bytes += lb_ring_bytes(txq);
		sum->reads++;
	}
	sum->queues = i;
	return true;
}

/* Do all TX queues have the root qdisc? Below mq, each has its own. */
static bool lb_shares_qdisc(struct net_device *dev)
{
	return rcu_access_pointer(netdev_get_tx_queue(dev, 0)->qdisc) ==
	       rcu_access_pointer(netdev_get_tx_queue(dev, 1)->qdisc);
}

/* Read the only queue of a device. Return: false if it is none */
static bool lb_read_queue(struct lb_port *port, const struct netdev_queue *txq, u64 *sent_bytes,
			  u32 *backlog_bytes)
{
	const struct Qdisc *q = rcu_dereference_bh(txq->qdisc);
	u32 reads;

	if (!q->enqueue)
		return false;
	reads = 1 + lb_add_qdisc(q, sent_bytes, backlog_bytes);
	WRITE_ONCE(port->load.intervals, DIV_ROUND_UP(reads, LB_READS_MAX));
	*backlog_bytes += lb_ring_bytes(txq);
	return true;
}

/*
 * Read the queues of a device, at most LB_QUEUES_MAX, and fewer if they have many counters. If the
 * device has more, each sample reads the next part, and the backlog is estimated from it.
 * Return: true if @sent_bytes is complete
 */
static bool lb_read_queues(struct lb_port *port, struct net_device *dev, u64 *sent_bytes,
			   u32 *backlog_bytes)
{
	u32 total = READ_ONCE(dev->real_num_tx_queues), count = min_t(u32, total, LB_QUEUES_MAX);
	struct lb_queues sum = { };
	bool shared;

	if (total == 1)
		return lb_read_queue(port, netdev_get_tx_queue(dev, 0), sent_bytes,
				     backlog_bytes);
	shared = lb_shares_qdisc(dev);
	if (!lb_add_queues(&sum, dev, port->next_queue, count, total))
		return false;
	count = sum.queues;
	WRITE_ONCE(port->load.intervals, DIV_ROUND_UP(sum.reads, LB_READS_MAX));
	if (count < total) {
		port->next_queue = (port->next_queue + count) % total;
		sum.ring_bytes = (u64)sum.ring_bytes * total / count;
		if (!shared)
			sum.queued_bytes = (u64)sum.queued_bytes * total / count;
	}
	*sent_bytes = sum.sent_bytes;
	*backlog_bytes = sum.queued_bytes + sum.ring_bytes;
	return count == total || shared;
}

/**
 * lb_port_sample() - take a sample of a port's load, unless another CPU does
 * @port: the port
 * @dev: its device
 * @g: grading
 * @now_ns: present time
 *
 * Context: RCU, BH off.
 */
void lb_port_sample(struct lb_port *port, struct net_device *dev, const struct lb_grading *g,
		    u64 now_ns)
{
	u64 sent_bytes = 0;
	u32 backlog_bytes = 0;

	if (!spin_trylock(&port->lock))
		return;
	port->given_bytes += READ_ONCE(port->load.charged_bytes);
	if (!lb_read_queues(port, dev, &sent_bytes, &backlog_bytes))
		sent_bytes = port->given_bytes;
	lb_load_sample(&port->load, g, now_ns, sent_bytes, backlog_bytes);
	spin_unlock(&port->lock);
}
