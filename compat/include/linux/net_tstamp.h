/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of a NIC's timestamps. Since 6.6, the core passes the request in a
 * kernel structure. The macros below do the same for older kernels, in which the
 * driver handles the ioctl.
 *
 *	CLOSNET_HWTSTAMP(name)		before the struct net_device_ops
 *	CLOSNET_HWTSTAMP_OPS(name),	as a member of it
 *
 * name_get() and name_set() have the signatures of the newer kernels.
 */
#ifndef _CLOSNET_COMPAT_LINUX_NET_TSTAMP_H
#define _CLOSNET_COMPAT_LINUX_NET_TSTAMP_H

#ifdef CLOSNET_HAVE_KERNEL_HWTSTAMP_CONFIG

#include_next <linux/net_tstamp.h>

#define CLOSNET_HWTSTAMP(name)
#define CLOSNET_HWTSTAMP_OPS(name) \
	.ndo_hwtstamp_get = name##_get, \
	.ndo_hwtstamp_set = name##_set

#else

#include <linux/errno.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <uapi/linux/net_tstamp.h>

struct net_device;
struct netlink_ext_ack;

struct kernel_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
};

typedef int (*closnet_hwtstamp_get_t)(struct net_device *dev,
				      struct kernel_hwtstamp_config *config);
typedef int (*closnet_hwtstamp_set_t)(struct net_device *dev,
				      struct kernel_hwtstamp_config *config,
				      struct netlink_ext_ack *extack);

static inline int closnet_hwtstamp_ioctl(struct net_device *dev,
					 struct ifreq *ifr, int cmd,
					 closnet_hwtstamp_get_t get,
					 closnet_hwtstamp_set_t set)
{
	struct kernel_hwtstamp_config kernel = {};
	struct hwtstamp_config user;
	int err;

	if (cmd == SIOCGHWTSTAMP) {
		err = get(dev, &kernel);
	} else if (cmd == SIOCSHWTSTAMP) {
		/* the core has looked at it, but does not pass it on */
		if (copy_from_user(&user, ifr->ifr_data, sizeof(user)))
			return -EFAULT;
		kernel.flags = user.flags;
		kernel.tx_type = user.tx_type;
		kernel.rx_filter = user.rx_filter;
		err = set(dev, &kernel, NULL);
	} else {
		err = -EOPNOTSUPP;
	}
	if (err)
		return err;
	user.flags = kernel.flags;
	user.tx_type = kernel.tx_type;
	user.rx_filter = kernel.rx_filter;
	return copy_to_user(ifr->ifr_data, &user, sizeof(user)) ? -EFAULT : 0;
}

#define CLOSNET_HWTSTAMP(name)						\
static int name##_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd) \
{									\
	return closnet_hwtstamp_ioctl(dev, ifr, cmd, name##_get, name##_set); \
}

#define CLOSNET_HWTSTAMP_OPS(name) \
	.ndo_eth_ioctl = name##_ioctl

#endif /* CLOSNET_HAVE_KERNEL_HWTSTAMP_CONFIG */

#endif /* _CLOSNET_COMPAT_LINUX_NET_TSTAMP_H */
