// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet_cc: link rates
 *
 * The rate of a device is read when the device is registered, goes up, or changes
 * its carrier, and found by ifindex. A connection holds a reference to the link of
 * its route, and looks it up again when the route changes to another device.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <closnet/cc_link.h>
#include <closnet/link_rate.h>

/**
 * struct closnet_cc_links - links of a network namespace
 * @by_ifindex: struct closnet_cc_link of each device, by its index; RTNL protects
 *	changes
 */
struct closnet_cc_links {
	struct xarray by_ifindex;
};

static unsigned int closnet_cc_links_id __read_mostly;

static struct xarray *closnet_cc_links(const struct net *net)
{
	struct closnet_cc_links *links = net_generic(net, closnet_cc_links_id);

	return &links->by_ifindex;
}

/**
 * closnet_cc_link_put() - release a reference
 * @link: link, or NULL
 */
void closnet_cc_link_put(struct closnet_cc_link *link)
{
	if (link && refcount_dec_and_test(&link->users))
		kfree_rcu(link, rcu);
}

/**
 * closnet_cc_link_replace() - find the link of a device, and release another link
 * @old: link to release, or NULL
 * @net: network namespace
 * @ifindex: index of the device
 *
 * Context: RCU read lock held.
 *
 * Return: link with a reference, NULL if there is no such device or no memory was left
 * for it.
 */
struct closnet_cc_link *closnet_cc_link_replace(struct closnet_cc_link *old, const struct net *net,
						int ifindex)
{
	struct closnet_cc_link *link = xa_load(closnet_cc_links(net), ifindex);

	closnet_cc_link_put(old);
	return link && refcount_inc_not_zero(&link->users) ? link : NULL;
}
EXPORT_SYMBOL_GPL(closnet_cc_link_replace);

/**
 * closnet_cc_link_Mbps() - get the link rate of a device
 * @net: network namespace
 * @ifindex: index of the device
 *
 * Context: RCU read lock held.
 *
 * Return: rate in Mbit/s; 0: unknown.
 */
u32 closnet_cc_link_Mbps(const struct net *net, int ifindex)
{
	const struct closnet_cc_link *link = xa_load(closnet_cc_links(net), ifindex);

	return link ? READ_ONCE(link->rate.Mbps) : 0;
}
EXPORT_SYMBOL_GPL(closnet_cc_link_Mbps);

/*
 * Read the rate of a device. RTNL is held, and the device's own lock if it uses one.
 * A device that is down may sleep; it is read when it goes up.
 */
static void closnet_cc_link_update(struct closnet_cc_link *link, struct net_device *dev)
{
	u32 Mbps;

	if (!netif_running(dev) || !netif_device_present(dev))
		return;
	Mbps = closnet_link_Mbps(dev);
	WRITE_ONCE(link->rate.Mbps, Mbps);
	WRITE_ONCE(link->rate.byte_time, closnet_cc_byte_time(Mbps));
}

/* Without memory, connections over the device assume the default rate. */
static void closnet_cc_link_add(struct net_device *dev)
{
	struct closnet_cc_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return;
	link->ifindex = dev->ifindex;
	link->dev = dev;
	refcount_set(&link->users, 1);
	closnet_cc_link_update(link, dev);
	if (xa_err(xa_store(closnet_cc_links(dev_net(dev)), dev->ifindex, link, GFP_KERNEL)))
		kfree(link);
}

static void closnet_cc_link_remove(struct net_device *dev, struct closnet_cc_link *link)
{
	xa_erase(closnet_cc_links(dev_net(dev)), dev->ifindex);
	WRITE_ONCE(link->ifindex, 0);
	closnet_cc_link_put(link);
}

/*
 * REGISTER, UP and CHANGE arrive with the device's own lock held, if it has one. A
 * device that moves to another namespace unregisters there and registers here. An
 * unregistered device is notified again while it waits for references, when its
 * ifindex may already belong to another device.
 */
static int closnet_cc_link_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct closnet_cc_link *link;

	if (event == NETDEV_REGISTER) {
		closnet_cc_link_add(dev);
		return NOTIFY_DONE;
	}
	link = xa_load(closnet_cc_links(dev_net(dev)), dev->ifindex);
	if (!link || link->dev != dev)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		closnet_cc_link_remove(dev, link);
	else if (event == NETDEV_UP || event == NETDEV_CHANGE)
		closnet_cc_link_update(link, dev);
	return NOTIFY_DONE;
}

static struct notifier_block closnet_cc_link_notifier = {
	.notifier_call = closnet_cc_link_event,
};

static int __net_init closnet_cc_links_init(struct net *net)
{
	xa_init(closnet_cc_links(net));
	return 0;
}

/* The namespace's devices are gone, and so are their links. */
static void __net_exit closnet_cc_links_exit(struct net *net)
{
	xa_destroy(closnet_cc_links(net));
}

static struct pernet_operations closnet_cc_links_ops = {
	.init = closnet_cc_links_init,
	.exit = closnet_cc_links_exit,
	.id = &closnet_cc_links_id,
	.size = sizeof(struct closnet_cc_links),
};

/**
 * closnet_cc_links_register() - track the links of all devices, present and future
 *
 * Return: 0 or a negative error.
 */
int __init closnet_cc_links_register(void)
{
	int err;

	err = register_pernet_subsys(&closnet_cc_links_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&closnet_cc_link_notifier);
	if (err)
		unregister_pernet_subsys(&closnet_cc_links_ops);
	return err;
}

/**
 * closnet_cc_links_unregister() - remove all links
 */
void closnet_cc_links_unregister(void)
{
	unregister_netdevice_notifier(&closnet_cc_link_notifier);
	unregister_pernet_subsys(&closnet_cc_links_ops);
}
