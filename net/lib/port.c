// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of ports of a module, and the link rate of their devices
 */
#include <linux/hashtable.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <closnet/link_rate.h>
#include <closnet/port.h>

/* By device, under RTNL. A port has at least 100 KB of memory, which bounds their number. */
static DEFINE_HASHTABLE(closnet_ports, 10);
static void (*closnet_set_link)(struct Qdisc *sch, u64 link_Bps);

/**
 * closnet_port_add() - add a port without qdiscs to the table
 * @port: the port
 * @dev: its device
 */
void closnet_port_add(struct closnet_port *port, struct net_device *dev)
{
	port->dev = dev;
	INIT_LIST_HEAD(&port->qdiscs);
	hash_add(closnet_ports, &port->node, (unsigned long)dev);
}

/**
 * closnet_port_del() - remove a port from the table if it has no qdisc
 * @port: the port
 *
 * Return: true if it is removed.
 */
bool closnet_port_del(struct closnet_port *port)
{
	if (!list_empty(&port->qdiscs))
		return false;
	hash_del(&port->node);
	return true;
}

/**
 * closnet_port_sibling() - find another qdisc of the device to share its port, in init()
 * @sch: the qdisc
 *
 * A root qdisc does not share, because it replaces every qdisc of the device. Nor is a qdisc shared
 * that this one replaces: it leaves with its counters. These are all that the loop passes over:
 * there is one root at a time, and one qdisc of a parent.
 *
 * Return: the other qdisc, or NULL.
 */
struct Qdisc *closnet_port_sibling(const struct Qdisc *sch)
{
	const struct net_device *dev = qdisc_dev(sch);
	const struct closnet_port_user *user;
	const struct closnet_port *port;

	if (sch->parent == TC_H_ROOT)
		return NULL;
	hash_for_each_possible(closnet_ports, port, node, (unsigned long)dev) {
		if (port->dev != dev)
			continue;
		list_for_each_entry(user, &port->qdiscs, node)
			if (user->sch->parent != sch->parent && user->sch->parent != TC_H_ROOT)
				return user->sch;
	}
	return NULL;
}

/**
 * closnet_port_at() - get a port of a network namespace by its place
 * @net: namespace
 * @bucket: bucket of the table, from 0 on
 * @n: number of the namespace's port in this bucket, from 0 on
 *
 * If there is none, @bucket and @n become the place of the next one. Context: RTNL held.
 *
 * Return: the port, or NULL.
 */
struct closnet_port *closnet_port_at(const struct net *net, u32 *bucket, u32 *n)
{
	struct closnet_port *port;
	u32 i;

	for (; *bucket < HASH_SIZE(closnet_ports); (*bucket)++, *n = 0) {
		i = 0;
		hlist_for_each_entry(port, &closnet_ports[*bucket], node)
			if (net_eq(dev_net(port->dev), net) && i++ == *n)
				return port;
	}
	return NULL;
}

static void closnet_port_set_link(const struct closnet_port *port)
{
	u64 link_Bps = closnet_link_Mbps(port->dev) * 125000ULL;	/* the driver may sleep */
	const struct closnet_port_user *user;

	list_for_each_entry(user, &port->qdiscs, node) {
		sch_tree_lock(user->sch);
		closnet_set_link(user->sch, link_Bps);
		sch_tree_unlock(user->sch);
	}
}

/* The link rate may have changed. */
static int closnet_port_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	const struct closnet_port *port;

	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	hash_for_each_possible(closnet_ports, port, node, (unsigned long)dev)
		if (port->dev == dev)
			closnet_port_set_link(port);
	return NOTIFY_DONE;
}

static struct notifier_block closnet_port_notifier = {
	.notifier_call = closnet_port_event,
};

/**
 * closnet_ports_init() - follow the link rates of the devices, in the module's init
 * @set_link: sets the link rate of a qdisc, under the root lock; 0: unknown
 *
 * Return: 0 or a negative error.
 */
int closnet_ports_init(void (*set_link)(struct Qdisc *sch, u64 link_Bps))
{
	closnet_set_link = set_link;
	return register_netdevice_notifier(&closnet_port_notifier);
}

/**
 * closnet_ports_exit() - undo closnet_ports_init()
 */
void closnet_ports_exit(void)
{
	unregister_netdevice_notifier(&closnet_port_notifier);
}
