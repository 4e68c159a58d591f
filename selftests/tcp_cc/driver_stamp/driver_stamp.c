// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver_stamp: make a device timestamp packets as the drivers igc and tsnep do
 *
 * Instead of a timestamp, a packet carries a pointer into its receive buffer,
 * which only the driver can read. Here the buffer has already been freed, as for
 * ACKs that were merged in the socket's backlog. The parameter "reads" counts
 * reads; with KASAN, the first one ends the test.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device, in the network namespace of the loading process");

static int reads;
module_param(reads, int, 0444);
MODULE_PARM_DESC(reads, "number of times that a timestamp was read");

static struct net_device *device;
static const struct net_device_ops *old_ops;
static struct net_device_ops new_ops;
static struct nf_hook_ops hook;
static void *buffer;

static ktime_t driver_stamp_get(struct net_device *from, const struct skb_shared_hwtstamps *stamps,
				bool cycles)
{
	reads++;
	return READ_ONCE(*(u64 *)stamps->netdev_data);
}

static unsigned int driver_stamp_receive(void *priv, struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	skb_shinfo(skb)->tx_flags |= SKBTX_HW_TSTAMP_NETDEV;
	skb_hwtstamps(skb)->netdev_data = buffer;
	return NF_ACCEPT;
}

static int __init driver_stamp_init(void)
{
	int err;

	buffer = kmalloc(64, GFP_KERNEL);
	kfree(buffer);
	device = dev_get_by_name(current->nsproxy->net_ns, dev);
	if (!device)
		return -ENODEV;
	hook = (struct nf_hook_ops) {
		.hook = driver_stamp_receive,
		.dev = device,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
	};
	rtnl_lock();
	old_ops = device->netdev_ops;
	new_ops = *old_ops;
	new_ops.ndo_get_tstamp = driver_stamp_get;
	device->netdev_ops = &new_ops;
	err = nf_register_net_hook(dev_net(device), &hook);
	if (err)
		device->netdev_ops = old_ops;
	rtnl_unlock();
	if (err)
		dev_put(device);
	return err;
}
module_init(driver_stamp_init);

static void __exit driver_stamp_exit(void)
{
	nf_unregister_net_hook(dev_net(device), &hook);
	rtnl_lock();
	device->netdev_ops = old_ops;
	rtnl_unlock();
	synchronize_net();
	dev_put(device);
}
module_exit(driver_stamp_exit);

MODULE_DESCRIPTION("Timestamps in a driver's own format, to test tcp_timely");
MODULE_LICENSE("GPL");
