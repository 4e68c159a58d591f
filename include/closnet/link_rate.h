/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rate of a device's line
 */
#ifndef _CLOSNET_LINK_RATE_H
#define _CLOSNET_LINK_RATE_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

/**
 * closnet_link_Mbps() - ask a device for the rate of its line
 * @dev: the device; one that is down may sleep and is to be asked when it gets up
 *
 * RTNL is held, and the device's own lock if it has one for that: so it is in
 * the notifications REGISTER, UP and CHANGE, and when a qdisc is set.
 *
 * Return: Mbit/s; 0: it does not know.
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
