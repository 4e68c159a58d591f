// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared buffer of a switch: pools, their ports, and thresholds
 *
 * A pool is a switch's packet memory, known by a name in its network namespace.
 * Its ports are the devices that have a dcqcn qdisc with that name. An egress
 * port gets room for each packet from the pool, and gives it back when the packet
 * leaves. An ingress port is charged for the packets that came in by it, wherever
 * they wait. If these are too many, it sends a pause frame.
 *
 *	enqueue at port E, under E's root lock
 *	  dcqcnq_pool_admit(E, skb): finds port I by skb->skb_iif, charges
 *	    (I, priority)
 *	dequeue, drop or reset at E, under E's root lock
 *	  dcqcnq_pool_release(E)
 *	softirq, under no lock
 *	  a pause frame leaves by I, with the latest decisions
 *
 * dcqcnq_mmu.c decides which packets are admitted and which ports are paused,
 * and dcqcnq_pfc.c sends pause frames. This file finds the port by which a packet
 * came in, and follows devices that come, change and go.
 *
 * Locks. A (port, priority) has a lock of its own, taken inside the root lock of E
 * for each packet that came in by it. Frames are sent under neither. Ports share
 * only an atomic counter (dcqcnq_mmu.c). Pools, their options and their lists of
 * ports are under RTNL. Packets find a port by RCU.
 *
 * A port that has left is kept until no packet that came in by it waits.
 */
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>
#include <closnet/link_rate.h>
#include <closnet/qdisc.h>
#include "dcqcnq_buffers.h"
#include "dcqcnq_pool.h"
#include "dcqcnq_port.h"

/* Assumed for a line of unknown rate */
#define DCQCNQ_RATE_MBPS	10000

#define DCQCNQ_HASH_BITS	6

/**
 * struct dcqcnq_pool - a switch
 * @mmu: the buffer; without a lock
 * @by_ifindex: ports; RCU
 * @node: in struct dcqcnq_net.pools; this and all below under RTNL
 * @name: name of the pool
 * @options: options
 * @newest: the qdisc that has joined last, if the options have not been changed since; or NULL
 * @before: options before it joined
 * @ports: ports
 * @count: number of ports
 * @departed: ports that have left while packets that came in by them waited
 */
struct dcqcnq_pool {
	struct dcqcnq_mmu mmu ____cacheline_aligned_in_smp;
	DECLARE_HASHTABLE(by_ifindex, DCQCNQ_HASH_BITS) ____cacheline_aligned_in_smp;

	struct list_head node;
	char name[DCQCNQ_POOL_NAME_MAX + 1];
	struct dcqcnq_pool_options options;
	const struct Qdisc *newest;
	struct dcqcnq_pool_options before;
	struct list_head ports;
	u32 count;
	struct list_head departed;
};

/* The pools of a network namespace; under RTNL */
struct dcqcnq_net {
	struct list_head pools;
};

static unsigned int dcqcnq_net_id;

/* ---- packets ---- */

/* Bounded by the ports of the pool. */
static struct dcqcnq_port *dcqcnq_find_ifindex(struct dcqcnq_pool *pool, int ifindex)
{
	struct dcqcnq_port *port;

	hash_for_each_possible_rcu(pool->by_ifindex, port, hash, ifindex)
		if (port->ifindex == ifindex)
			return port;
	return NULL;
}

/* Find the port below a VLAN device. */
static noinline struct dcqcnq_port *dcqcnq_find_vlan(struct dcqcnq_pool *pool,
						     const struct sk_buff *skb)
{
	struct net_device *dev = dev_get_by_index_rcu(dev_net(skb->dev), skb->skb_iif);

	if (!dev || !is_vlan_dev(dev))
		return NULL;
	dev = vlan_dev_real_dev(dev);
	/* in another namespace, its index may be that of a port here */
	return net_eq(dev_net(dev), dev_net(skb->dev)) ?
	       dcqcnq_find_ifindex(pool, dev->ifindex) : NULL;
}

/* Find the port by which a packet came in. Softirqs are off, so this is an RCU reader. */
static struct dcqcnq_port *dcqcnq_find_ingress(struct dcqcnq_pool *pool,
					       const struct sk_buff *skb)
{
	struct dcqcnq_port *port;

	if (!skb->skb_iif)
		return NULL;
	port = dcqcnq_find_ifindex(pool, skb->skb_iif);
	return likely(port) ? port : dcqcnq_find_vlan(pool, skb);
}

/**
 * dcqcnq_pool_admit() - admit a packet to the pool, and charge its ingress
 * @egress: the port where the packet is to wait
 * @skb: the packet; its skb_iif is the device by which it came in
 * @len: length to account, bytes
 * @fits: the packet is within the queue's limit, which applies if PFC does not
 *	protect it
 * @charge: charge, with @prio set; completed
 *
 * Context: Softirqs off, as under the root lock.
 *
 * Return: enum dcqcnq_verdict.
 */
enum dcqcnq_verdict dcqcnq_pool_admit(struct dcqcnq_port *egress,
				      const struct sk_buff *skb, u32 len, bool fits,
				      struct dcqcnq_charge *charge)
{
	struct dcqcnq_pool *pool = egress->pool;
	enum dcqcnq_verdict verdict;
	struct dcqcnq_port *port;
	struct dcqcnq_pg *pg;
	bool paused;

	rcu_read_lock();
	port = dcqcnq_find_ingress(pool, skb);
	pg = port ? &port->pg[charge->prio] : NULL;
	if (pg) {
		spin_lock(&pg->lock);
		paused = pg->ingress.paused;
		verdict = dcqcnq_mmu_admit(&pool->mmu, &pg->ingress, len, fits);
		if (unlikely(pg->ingress.paused != paused))
			dcqcnq_pfc_update(pg);
		spin_unlock(&pg->lock);
	} else {
		verdict = dcqcnq_mmu_admit_other(&pool->mmu, len, fits);
	}
	rcu_read_unlock();
	charge->from = pg;
	charge->lossless = verdict == DCQCNQ_LOSSLESS;
	charge->charged = verdict == DCQCNQ_LOSSLESS || verdict == DCQCNQ_LOSSY;
	return verdict;
}

/**
 * dcqcnq_pool_release() - release a packet that is dequeued or dropped
 * @egress: the port that it was admitted for
 * @len: as when it was admitted
 * @charge: its charge, with @charged set
 *
 * Context: Softirqs off, as under the root lock.
 */
void dcqcnq_pool_release(struct dcqcnq_port *egress, u32 len,
			 const struct dcqcnq_charge *charge)
{
	struct dcqcnq_mmu *mmu = &egress->pool->mmu;
	struct dcqcnq_pg *pg = charge->from;
	bool paused;

	if (!pg)
		return dcqcnq_mmu_release_other(mmu, len);
	spin_lock(&pg->lock);
	paused = pg->ingress.paused;
	dcqcnq_mmu_release(mmu, &pg->ingress, len);
	if (unlikely(pg->ingress.paused != paused))
		dcqcnq_pfc_update(pg);
	spin_unlock(&pg->lock);
}

/* ---- thresholds, under RTNL ---- */

static u32 dcqcnq_headroom(const struct dcqcnq_pool_options *o, const struct dcqcnq_port *port)
{
	u64 bytes = o->headroom;

	if (!bytes)
		bytes = dcqcnq_flight_bytes(port->rate_Mbps * 125000ULL, o->cable_ns,
					    READ_ONCE(port->dev->mtu));
	return min_t(u64, bytes, S32_MAX);
}

/* Add up the ports' headrooms for one priority. */
static u64 dcqcnq_headroom_sum(const struct dcqcnq_pool *pool,
			       const struct dcqcnq_pool_options *o)
{
	struct dcqcnq_port *port;
	u64 sum = 0;

	list_for_each_entry(port, &pool->ports, node)
		sum += dcqcnq_headroom(o, port);
	return sum;
}

static int dcqcnq_options_check(const struct dcqcnq_pool_options *o, u64 headroom_sum,
				struct netlink_ext_ack *extack)
{
	if (o->xoff_mode == TC_DCQCN_XOFF_STATIC && !o->xoff) {
		NL_SET_ERR_MSG(extack, "xoff_mode static needs xoff");
		return -EINVAL;
	}
	if (!dcqcnq_mmu_fits(o, headroom_sum)) {
		NL_SET_ERR_MSG(extack, "buffer must be more than the headroom of all ports");
		return -EINVAL;
	}
	return 0;
}

/* Set the limits of a port's groups from the pool's settings and the port's line. */
static void dcqcnq_set_port(struct dcqcnq_port *port, bool member)
{
	const struct dcqcnq_pool_options *o = &port->pool->options;
	u32 headroom = member ? dcqcnq_headroom(o, port) : 0;
	u32 prio;

	local_bh_disable();
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		spin_lock(&pg->lock);
		pg->ingress.headroom = headroom;
		pg->ingress.xon_gap = 2 * READ_ONCE(port->dev->mtu);
		pg->ingress.lossless = member && o->pfc & BIT(prio);
		spin_unlock(&pg->lock);
		dcqcnq_pfc_review(pg);
	}
	local_bh_enable();
}

/* Recompute the limits after a setting, a port or a line has changed. */
static void dcqcnq_update(struct dcqcnq_pool *pool)
{
	struct dcqcnq_port *port;

	dcqcnq_mmu_set(&pool->mmu, &pool->options, pool->count,
		       dcqcnq_headroom_sum(pool, &pool->options));
	list_for_each_entry(port, &pool->ports, node)
		dcqcnq_set_port(port, true);
}

/**
 * dcqcnq_pool_change() - change the options of the port's pool
 * @port: the port
 * @options: new options
 * @extack: error report
 *
 * Sends XOFF and XON as the new values require.
 *
 * Context: RTNL held, root lock not held.
 *
 * Return: 0; or -EINVAL, and the pool is unchanged.
 */
int dcqcnq_pool_change(struct dcqcnq_port *port, const struct dcqcnq_pool_options *options,
		       struct netlink_ext_ack *extack)
{
	struct dcqcnq_pool *pool = port->pool;
	int err;

	ASSERT_RTNL();
	err = dcqcnq_options_check(options, dcqcnq_headroom_sum(pool, options), extack);
	if (err)
		return err;
	pool->options = *options;
	pool->newest = NULL;
	dcqcnq_update(pool);
	return 0;
}

/* ---- pools and ports, under RTNL ---- */

static struct dcqcnq_pool *dcqcnq_find_pool(const struct dcqcnq_net *dn, const char *name)
{
	struct dcqcnq_pool *pool;

	list_for_each_entry(pool, &dn->pools, node)
		if (!strcmp(pool->name, name))
			return pool;
	return NULL;
}

static struct dcqcnq_port *dcqcnq_find_port(const struct dcqcnq_pool *pool,
					    const struct net_device *dev)
{
	struct dcqcnq_port *port;

	list_for_each_entry(port, &pool->ports, node)
		if (port->dev == dev)
			return port;
	return NULL;
}

static struct dcqcnq_pool *dcqcnq_new_pool(struct dcqcnq_net *dn, const char *name)
{
	struct dcqcnq_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	strscpy(pool->name, name, sizeof(pool->name));
	INIT_LIST_HEAD(&pool->ports);
	INIT_LIST_HEAD(&pool->departed);
	dcqcnq_pool_options_init(&pool->options);
	list_add_tail(&pool->node, &dn->pools);
	return pool;
}

/* Have all packets that came in by the port left the pool? */
static bool dcqcnq_is_idle(struct dcqcnq_port *port)
{
	bool idle = true;
	u32 prio;

	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		spin_lock_bh(&pg->lock);
		idle &= !pg->ingress.shared_bytes && !pg->ingress.headroom_bytes;
		spin_unlock_bh(&pg->lock);
	}
	return idle;
}

/* Free departed ports that are idle, or @all of them if no packet waits in the pool. */
static void dcqcnq_free_departed(struct dcqcnq_pool *pool, bool all)
{
	struct dcqcnq_port *port, *next;

	list_for_each_entry_safe(port, next, &pool->departed, node) {
		if (!all && !(poll_state_synchronize_rcu(port->grace) && dcqcnq_is_idle(port)))
			continue;
		list_del(&port->node);
		kfree_rcu(port, rcu);
	}
}

static void dcqcnq_free_pool(struct dcqcnq_pool *pool)
{
	WARN_ON_ONCE(dcqcnq_mmu_bytes(&pool->mmu));
	dcqcnq_free_departed(pool, true);
	list_del(&pool->node);
	kfree(pool);
}

static void dcqcnq_update_rate(struct dcqcnq_port *port)
{
	u32 mbps = 0;

	if (netif_running(port->dev) && netif_device_present(port->dev))
		mbps = closnet_link_Mbps(port->dev);
	WRITE_ONCE(port->rate_Mbps, mbps ?: DCQCNQ_RATE_MBPS);
}

static bool dcqcnq_is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

static struct dcqcnq_port *dcqcnq_new_port(struct dcqcnq_pool *pool, struct net_device *dev)
{
	struct dcqcnq_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	u32 prio;

	if (!port)
		return NULL;
	port->pool = pool;
	port->mmu = &pool->mmu;
	port->dev = dev;
	port->ifindex = dev->ifindex;
	port->users = 1;
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		spin_lock_init(&port->pg[prio].lock);
		port->pg[prio].port = port;
		port->pg[prio].prio = prio;
	}
	dcqcnq_update_rate(port);
	dcqcnq_pfc_init(port);
	return port;
}

/* Add a port to a pool, which may be new. */
static struct dcqcnq_port *dcqcnq_join_as_new(struct dcqcnq_pool *pool, struct net_device *dev,
					      const struct dcqcnq_pool_options *options,
					      struct netlink_ext_ack *extack)
{
	struct dcqcnq_port *port;
	u64 headroom_sum;
	int err;

	port = dcqcnq_new_port(pool, dev);
	if (!port)
		return ERR_PTR(-ENOMEM);
	headroom_sum = dcqcnq_headroom_sum(pool, options) + dcqcnq_headroom(options, port);
	err = dcqcnq_options_check(options, headroom_sum, extack);
	if (err) {
		kfree(port);
		return ERR_PTR(err);
	}
	pool->options = *options;
	pool->count++;
	list_add_tail(&port->node, &pool->ports);
	dcqcnq_update(pool);
	hash_add_rcu(pool->by_ifindex, &port->hash, port->ifindex);
	return port;
}

/*
 * A pause frame holds the peer at the other end of a cable. So a port must be a
 * device with queues of its own, and not a VLAN, bridge, bond, macvlan, tunnel
 * or lo. veth is a cable without queues, and dummy serves for tests.
 */
static int dcqcnq_check_dev(const struct net_device *dev, struct netlink_ext_ack *extack)
{
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "pool needs an Ethernet device");
		return -EOPNOTSUPP;
	}
	if (dev->priv_flags & IFF_NO_QUEUE && !dcqcnq_is_kind(dev, "veth") &&
	    !dcqcnq_is_kind(dev, "dummy")) {
		NL_SET_ERR_MSG(extack, "pool needs a device with queues: use the lower device");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Share the port of the device, or add one. */
static struct dcqcnq_port *dcqcnq_join(struct dcqcnq_pool *pool, struct net_device *dev,
				       const struct dcqcnq_pool_options *options,
				       struct netlink_ext_ack *extack)
{
	struct dcqcnq_port *port = dcqcnq_find_port(pool, dev);
	int err;

	if (!port) {
		dcqcnq_free_departed(pool, false);
		return dcqcnq_join_as_new(pool, dev, options, extack);
	}
	err = dcqcnq_pool_change(port, options, extack);
	if (err)
		return ERR_PTR(err);
	port->users++;
	return port;
}

/**
 * dcqcnq_pool_join() - make the device of a qdisc a port of a pool, which may be new
 * @sch: the qdisc; those of a device share one port
 * @name: name of the pool
 * @options: new options of the pool
 * @extack: error report
 *
 * Context: RTNL held.
 *
 * Return: the port; or ERR_PTR, and the pool is unchanged.
 */
struct dcqcnq_port *dcqcnq_pool_join(const struct Qdisc *sch, const char *name,
				     const struct dcqcnq_pool_options *options,
				     struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct dcqcnq_net *dn = net_generic(dev_net(dev), dcqcnq_net_id);
	struct dcqcnq_pool_options before;
	struct dcqcnq_port *port;
	struct dcqcnq_pool *pool;
	int err;

	ASSERT_RTNL();
	err = dcqcnq_check_dev(dev, extack);
	if (err)
		return ERR_PTR(err);
	pool = dcqcnq_find_pool(dn, name) ?: dcqcnq_new_pool(dn, name);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	before = pool->options;
	port = dcqcnq_join(pool, dev, options, extack);
	if (!IS_ERR(port)) {
		pool->newest = sch;
		pool->before = before;
	} else if (list_empty(&pool->ports)) {
		dcqcnq_free_pool(pool);
	}
	return port;
}

/**
 * dcqcnq_pool_leave() - remove a qdisc, and with its last qdisc the port
 * @port: the port
 * @sch: the qdisc; all its packets have been released
 *
 * Restores the options if the kernel may have refused the qdisc. Sends XON to a peer that the port
 * has paused. Packets that came in by the port may still wait at other ports.
 *
 * Context: RTNL held, root lock not held.
 */
void dcqcnq_pool_leave(struct dcqcnq_port *port, const struct Qdisc *sch)
{
	struct dcqcnq_pool *pool = port->pool;

	ASSERT_RTNL();
	if (pool->newest == sch) {
		pool->newest = NULL;
		if (!closnet_has_sent(sch))
			pool->options = pool->before;
	}
	if (--port->users) {
		dcqcnq_update(pool);
		return;
	}
	hash_del_rcu(&port->hash);
	port->grace = get_state_synchronize_rcu();
	list_move(&port->node, &pool->departed);
	pool->count--;
	dcqcnq_set_port(port, false);
	dcqcnq_update(pool);
	dcqcnq_pfc_stop(port);
	if (list_empty(&pool->ports))
		dcqcnq_free_pool(pool);
	else
		dcqcnq_free_departed(pool, false);
}

/**
 * dcqcnq_pool_get() - get the options of the port's pool
 * @port: the port
 * @options: result
 *
 * Context: RTNL held.
 *
 * Return: name of the pool, valid until the port leaves.
 */
const char *dcqcnq_pool_get(const struct dcqcnq_port *port,
			    struct dcqcnq_pool_options *options)
{
	*options = port->pool->options;
	return port->pool->name;
}

/**
 * dcqcnq_pool_lookup() - get the options of a pool
 * @dev: a device of its network namespace
 * @name: name of the pool
 * @options: result; the defaults if there is no such pool
 *
 * Context: RTNL held.
 */
void dcqcnq_pool_lookup(const struct net_device *dev, const char *name,
			struct dcqcnq_pool_options *options)
{
	const struct dcqcnq_net *dn = net_generic(dev_net(dev), dcqcnq_net_id);
	const struct dcqcnq_pool *pool = dcqcnq_find_pool(dn, name);

	ASSERT_RTNL();
	if (pool)
		*options = pool->options;
	else
		dcqcnq_pool_options_init(options);
}

/**
 * dcqcnq_pool_get_stats() - get the statistics of the port's pool
 * @port: the port
 * @stats: result
 */
void dcqcnq_pool_get_stats(const struct dcqcnq_port *port, struct dcqcnq_pool_stats *stats)
{
	const struct dcqcnq_pool *pool = port->pool;

	*stats = (struct dcqcnq_pool_stats) {
		.ports = READ_ONCE(pool->count),
		.bytes = dcqcnq_mmu_bytes(&pool->mmu),
		.peak_bytes = READ_ONCE(pool->mmu.peak_bytes),
		.xoff_bytes = dcqcnq_mmu_xoff(&pool->mmu),
		.headroom_bytes = READ_ONCE(port->pg[0].ingress.headroom),
	};
}

/**
 * dcqcnq_pool_get_prio_stats() - get the statistics of the port as an ingress
 * @port: the port
 * @prio: the priority
 * @stats: result
 */
void dcqcnq_pool_get_prio_stats(struct dcqcnq_port *port, u32 prio,
				struct dcqcnq_prio_stats *stats)
{
	struct dcqcnq_pg *pg = &port->pg[prio];

	spin_lock_bh(&pg->lock);
	stats->ingress = pg->ingress;
	spin_unlock_bh(&pg->lock);
	stats->xoff_frames = READ_ONCE(pg->xoff_frames);
	stats->xon_frames = READ_ONCE(pg->xon_frames);
}

/* ---- devices ---- */

/* Also send the decisions that could not be sent while the link was down. */
static void dcqcnq_line_changed(struct dcqcnq_port *port, bool rate)
{
	if (rate)
		dcqcnq_update_rate(port);
	dcqcnq_update(port->pool);
	dcqcnq_pfc_send(port);
}

/* Ask for the rate only on UP and CHANGE, which hold the device's own lock, if any. */
static int dcqcnq_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct dcqcnq_net *dn = net_generic(dev_net(dev), dcqcnq_net_id);
	struct dcqcnq_pool *pool;
	struct dcqcnq_port *port;

	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	list_for_each_entry(pool, &dn->pools, node) {
		port = dcqcnq_find_port(pool, dev);
		if (port)
			dcqcnq_line_changed(port, event != NETDEV_CHANGEMTU);
	}
	return NOTIFY_DONE;
}

static struct notifier_block dcqcnq_notifier = {
	.notifier_call = dcqcnq_netdev_event,
};

static int __net_init dcqcnq_net_init(struct net *net)
{
	struct dcqcnq_net *dn = net_generic(net, dcqcnq_net_id);

	INIT_LIST_HEAD(&dn->pools);
	return 0;
}

/* The devices of the namespace are gone, and with them their qdiscs. */
static void __net_exit dcqcnq_net_exit(struct net *net)
{
	struct dcqcnq_net *dn = net_generic(net, dcqcnq_net_id);

	WARN_ON_ONCE(!list_empty(&dn->pools));
}

static struct pernet_operations dcqcnq_net_ops = {
	.init = dcqcnq_net_init,
	.exit = dcqcnq_net_exit,
	.id = &dcqcnq_net_id,
	.size = sizeof(struct dcqcnq_net),
};

/**
 * dcqcnq_pool_init() - register for namespaces and devices
 *
 * Return: 0 or a negative error.
 */
int __init dcqcnq_pool_init(void)
{
	int err;

	err = register_pernet_subsys(&dcqcnq_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&dcqcnq_notifier);
	if (err)
		unregister_pernet_subsys(&dcqcnq_net_ops);
	return err;
}

/**
 * dcqcnq_pool_exit() - undo dcqcnq_pool_init()
 */
void dcqcnq_pool_exit(void)
{
	unregister_netdevice_notifier(&dcqcnq_notifier);
	unregister_pernet_subsys(&dcqcnq_net_ops);
}
