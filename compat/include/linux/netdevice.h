/* SPDX-License-Identifier: GPL-2.0-only */
/* alloc_netdev_dummy(), for devices with NAPIs only, is new in 6.10; lltx in 6.12. */
#ifndef _CLOSNET_COMPAT_LINUX_NETDEVICE_H
#define _CLOSNET_COMPAT_LINUX_NETDEVICE_H

#include_next <linux/netdevice.h>

#ifdef CLOSNET_HAVE_ALLOC_NETDEV_DUMMY
static inline void closnet_free_netdev_dummy(struct net_device *dev)
{
	free_netdev(dev);
}
#else
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *dev = kvzalloc(sizeof(*dev) + sizeof_priv, GFP_KERNEL);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

static inline void closnet_free_netdev_dummy(struct net_device *dev)
{
	kvfree(dev);
}
#endif

/* Transmit without a lock of the device */
static inline void closnet_set_lltx(struct net_device *dev)
{
#ifdef CLOSNET_HAVE_LLTX
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

#endif
