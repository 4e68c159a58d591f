// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: devices of a namespace: their pull queues, and the repair of trimmed packets
 *
 * A VLAN, MACVLAN, IPVLAN or VXLAN device shares the pull queue of the device below it (pacer.c).
 * RTNL is held.
 *
 * The repair (input.c) is registered only on devices by which NDP sockets receive:
 *
 *	a socket is bound to			devices with the repair
 *	a device				this one
 *	an address of a device			this one
 *	a VRF, a loopback address, nothing	all with an address
 *	anything				each by which a flow has arrived
 *
 * A link-local IPv6 address counts only if a socket is bound to it. A device loses the repair
 * NDP_DEV_IDLE after its last socket was closed.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <closnet/link_rate.h>
#include "ndp.h"

static void ndp_dev_drop_pacer(struct ndp_dev *nd)
{
	struct ndp_pacer *pacer = rtnl_dereference(nd->pacer);

	if (!nd->shares) {
		ndp_pacer_stop(pacer);
		ndp_pull_stats_add(&nd->nn->pull_totals, &pacer->q.stats);
	}
	ndp_pacer_put(pacer);
}

static void ndp_dev_hook(struct ndp_dev *nd, struct net_device *dev)
{
	ndp_input_hook(&nd->hook, dev);
	if (!nf_register_net_hook(nd->nn->net, &nd->hook))
		WRITE_ONCE(nd->hooked, true);
	else if (net_ratelimit())
		netdev_warn(dev, "ndp: no ingress hook: trimmed packets are lost\n");
}

static void ndp_dev_unhook(struct ndp_dev *nd)
{
	if (nd->hooked)
		nf_unregister_net_hook(nd->nn->net, &nd->hook);
	WRITE_ONCE(nd->hooked, false);
}

/* Has a device an address, other than a link-local one? */
static bool ndp_dev_has_addr(const struct net_device *dev)
{
	const struct in_device *in4 = __in_dev_get_rtnl(dev);
	struct inet6_dev *in6 = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;
	bool has = in4 && rtnl_dereference(in4->ifa_list);

	if (!in6)
		return has;
	read_lock_bh(&in6->lock);
	list_for_each_entry(ifa, &in6->addr_list, if_list)
		has |= !(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL);
	read_unlock_bh(&in6->lock);
	return has;
}

/* Choose the devices that need the repair. Return: are these all with an address as well? */
static bool ndp_devs_choose(struct ndp_net *nn)
{
	struct ndp_sock *ns;
	struct ndp_dev *nd;
	bool all = false, used = false;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(nn->devs, bucket, nd, node)
		nd->wanted = false;
	hash_for_each_rcu(nn->ports, bucket, ns, port_node) {
		used = true;
		nd = ndp_sock_dev(&ns->inet.sk);
		if (nd)
			nd->wanted = true;
		else
			all = true;
	}
	hash_for_each_rcu(nn->devs, bucket, nd, node) {
		WRITE_ONCE(nd->arrives, nd->arrives && used);
		nd->wanted |= nd->arrives;
	}
	rcu_read_unlock();
	return all;
}

/* Register the repair where it is needed; @idle: and only there. */
static void ndp_devs_update(struct ndp_net *nn, bool idle)
{
	struct net_device *dev;
	struct ndp_dev *nd;
	bool all, wanted;

	rtnl_lock();
	all = ndp_devs_choose(nn);
	for_each_netdev(nn->net, dev) {
		nd = ndp_dev_find(nn, dev->ifindex);
		if (!nd)
			continue;
		wanted = nd->wanted || (all && ndp_dev_has_addr(dev));
		if (wanted && !nd->hooked)
			ndp_dev_hook(nd, dev);
		else if (!wanted && idle)
			ndp_dev_unhook(nd);
	}
	if (all || idle)
		WRITE_ONCE(nn->hooked_all, all);
	rtnl_unlock();
}

static void ndp_devs_hook(struct work_struct *work)
{
	ndp_devs_update(container_of(work, struct ndp_net, hook), false);
}

static void ndp_devs_idle(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work), struct ndp_net, idle);

	ndp_devs_update(nn, true);
	/* a socket that was bound meanwhile may have found hooks that are gone now */
	ndp_devs_changed(nn);
}

static void ndp_dev_link(struct ndp_net *nn, struct net_device *dev)
{
	struct ndp_dev *nd = ndp_dev_find(nn, dev->ifindex);

	if (nd && !nd->shares)
		ndp_pacer_link(rtnl_dereference(nd->pacer), closnet_link_Mbps(dev), dev->mtu);
}

static int ndp_dev_add(struct ndp_net *nn, struct net_device *dev)
{
	struct ndp_dev *nd = kzalloc(sizeof(*nd), GFP_KERNEL);
	struct ndp_pacer *pacer = ndp_pacer_new(nn, dev->ifindex, ndp_rx_say, ndp_tx_go);

	if (!nd || !pacer) {
		kfree(nd);
		kfree(pacer);
		return -ENOMEM;
	}
	nd->nn = nn;
	nd->ifindex = dev->ifindex;
	RCU_INIT_POINTER(nd->pacer, pacer);
	hash_add_rcu(nn->devs, &nd->node, nd->ifindex);
	ndp_dev_link(nn, dev);
	ndp_devs_changed(nn);
	return 0;
}

static void ndp_dev_del(struct ndp_net *nn, struct net_device *dev)
{
	struct ndp_dev *nd = ndp_dev_find(nn, dev->ifindex);

	if (!nd)
		return;
	ndp_dev_unhook(nd);
	hash_del_rcu(&nd->node);
	ndp_dev_drop_pacer(nd);
	kfree_rcu(nd, rcu);
}

/*
 * @upper is on top of @dev and no master of it: they share the link. @left: queue of a device that
 * was below, or NULL. Return: that is news
 */
static bool ndp_dev_share(const struct net_device *dev, const struct net_device *upper,
			  const struct ndp_pacer *left)
{
	struct ndp_dev *lower = ndp_dev_find(ndp_net(dev_net(dev)), dev->ifindex);
	struct ndp_dev *nd = ndp_dev_find(ndp_net(dev_net(upper)), upper->ifindex);
	struct ndp_pacer *pacer, *old;

	if (!nd || !lower)
		return false;
	pacer = rtnl_dereference(lower->pacer);
	old = rtnl_dereference(nd->pacer);
	/* one that shares the queue of a device that has changed its namespace needs the new one */
	if (pacer->dead || (nd->shares && !old->dead && old != left))
		return false;
	refcount_inc(&pacer->refs);
	ndp_dev_drop_pacer(nd);
	rcu_assign_pointer(nd->pacer, pacer);
	nd->shares = true;
	return true;
}

/* The devices above @dev share its link, at most MAX_NEST_DEV levels. @left: see ndp_dev_share() */
static void ndp_dev_share_up(struct net_device *dev, const struct ndp_pacer *left)
{
	const struct net_device *master = netdev_master_upper_dev_get(dev);
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		if (upper != master && ndp_dev_share(dev, upper, left))
			ndp_dev_share_up(upper, left);
}

/*
 * @dev may have devices below and above already: when the module is loaded, or if it comes from
 * another namespace; or a device that was below has left: @left.
 */
static void ndp_dev_join(struct net_device *dev, const struct ndp_pacer *left)
{
	struct net_device *lower;
	struct list_head *iter;

	netdev_for_each_lower_dev(dev, lower, iter)
		if (netdev_master_upper_dev_get(lower) != dev)
			ndp_dev_share(lower, dev, left);
	ndp_dev_share_up(dev, left);
}

/*
 * @upper is linked to @dev, or was. A device that changes its lower device, like a VXLAN device, is
 * linked to the new one first. Flows that have begun keep their queue.
 */
static void ndp_dev_relink(const struct net_device *dev, struct net_device *upper, bool linking)
{
	const struct ndp_dev *nd = ndp_dev_find(ndp_net(dev_net(dev)), dev->ifindex);

	if (nd)
		ndp_dev_join(upper, linking ? NULL : rtnl_dereference(nd->pacer));
}

/* A device that changes its namespace is unregistered and registered again. */
static int ndp_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	const struct netdev_notifier_changeupper_info *info = ptr;
	struct ndp_net *nn = ndp_net(dev_net(dev));
	int err;

	switch (event) {
	case NETDEV_REGISTER:
		err = ndp_dev_add(nn, dev);
		if (!err)
			ndp_dev_join(dev, NULL);
		return notifier_from_errno(err);
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		ndp_dev_link(nn, dev);
		break;
	case NETDEV_CHANGEUPPER:
		if (!info->master)
			ndp_dev_relink(dev, info->upper_dev, info->linking);
		break;
	case NETDEV_UNREGISTER:
		ndp_dev_del(nn, dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ndp_dev_notifier = {
	.notifier_call = ndp_dev_event,
};

static int ndp_addr4_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	if (event == NETDEV_UP)
		ndp_devs_changed(ndp_net(dev_net(ifa->ifa_dev->dev)));
	return NOTIFY_DONE;
}

/* may be in atomic context */
static int ndp_addr6_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	if (event == NETDEV_UP)
		ndp_devs_changed(ndp_net(dev_net(ifa->idev->dev)));
	return NOTIFY_DONE;
}

static struct notifier_block ndp_addr4_notifier = {
	.notifier_call = ndp_addr4_event,
};

static struct notifier_block ndp_addr6_notifier = {
	.notifier_call = ndp_addr6_event,
};

/**
 * ndp_devs_stats() - sum up the counters of the pull queues
 * @nn: namespace
 * @sum: result
 */
void ndp_devs_stats(struct ndp_net *nn, struct ndp_pull_stats *sum)
{
	struct ndp_dev *nd;
	int bucket;

	*sum = nn->pull_totals;
	rcu_read_lock();
	hash_for_each_rcu(nn->devs, bucket, nd, node)
		if (!nd->shares)
			ndp_pull_stats_add(sum, &rcu_dereference(nd->pacer)->q.stats);
	rcu_read_unlock();
}

/**
 * ndp_devs_init() - initialize the devices of a namespace
 * @nn: namespace
 */
void ndp_devs_init(struct ndp_net *nn)
{
	hash_init(nn->devs);
	INIT_WORK(&nn->hook, ndp_devs_hook);
	INIT_DELAYED_WORK(&nn->idle, ndp_devs_idle);
}

/**
 * ndp_devs_exit() - end of a namespace, whose devices and sockets are gone
 * @nn: namespace
 */
void ndp_devs_exit(struct ndp_net *nn)
{
	cancel_delayed_work_sync(&nn->idle);
	cancel_work_sync(&nn->hook);
	WARN_ON_ONCE(!hash_empty(nn->devs));
}

/**
 * ndp_dev_notify() - begin to follow devices and addresses
 *
 * Return: 0 or a negative error.
 */
int ndp_dev_notify(void)
{
	int err = register_netdevice_notifier(&ndp_dev_notifier);

	if (err)
		return err;
	err = register_inetaddr_notifier(&ndp_addr4_notifier);
	if (!err)
		err = register_inet6addr_notifier(&ndp_addr6_notifier);
	if (err)
		ndp_dev_unnotify();
	return err;
}

/**
 * ndp_dev_unnotify() - take back ndp_dev_notify(), also after a part of it
 */
void ndp_dev_unnotify(void)
{
	unregister_inet6addr_notifier(&ndp_addr6_notifier);
	unregister_inetaddr_notifier(&ndp_addr4_notifier);
	unregister_netdevice_notifier(&ndp_dev_notifier);
}
