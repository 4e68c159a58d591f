/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Line rate of a device
 */
#ifndef _CLOSNET_LINK_RATE_H
#define _CLOSNET_LINK_RATE_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

/**
 * closnet_link_Mbps() - get the line rate of a device
 * @dev: the device. A device that is down may sleep: get its rate when it is up.
 *
 * Context: RTNL held, and the device's own lock if it has one. This holds in the
 * notifications REGISTER, UP and CHANGE, and when a qdisc is configured.
 *
 * Return: Mbit/s; 0: unknown.
 */
static inline u32 closnet_link_Mbps(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (netif_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return settings.base.speed;
}

#endif /* _CLOSNET_LINK_RATE_H */
