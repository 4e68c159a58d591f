/* SPDX-License-Identifier: GPL-2.0-only */
/* <net/netdev_lock.h> is new in 6.15; before, its macros were in netdevice.h. */
#ifndef _CLOSNET_COMPAT_NET_NETDEV_LOCK_H
#define _CLOSNET_COMPAT_NET_NETDEV_LOCK_H

#ifdef CLOSNET_HAVE_NETDEV_LOCK_H
#include_next <net/netdev_lock.h>
#else
#include <linux/netdevice.h>

/* Devices had no lock of their own. */
static inline void netdev_lock_ops(struct net_device *dev)
{
}

static inline void netdev_unlock_ops(struct net_device *dev)
{
}
#endif

#endif /* _CLOSNET_COMPAT_NET_NETDEV_LOCK_H */
