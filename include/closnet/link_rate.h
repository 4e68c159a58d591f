/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Line rate of a device
 */
#ifndef _CLOSNET_LINK_RATE_H
#define _CLOSNET_LINK_RATE_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>

/* Above this, rates of links are taken for this: the algorithms compute with 38 bits of bytes/s. */
#define CLOSNET_LINK_MBPS_MAX	2000000U

/**
 * closnet_link_Mbps() - get the line rate of a device
 * @dev: the device. A device that is down may sleep: get its rate when it is up.
 *
 * Context: RTNL held, and the device's own lock if it has one. This holds in the
 * notifications REGISTER, UP and CHANGE, and when a qdisc is configured.
 *
 * The owner of a tap sets the rate that it reports, which may be any number.
 *
 * Return: Mbit/s, up to CLOSNET_LINK_MBPS_MAX; 0: unknown.
 */
static inline u32 closnet_link_Mbps(struct net_device *dev)
{
	struct ethtool_link_ksettings settings;

	if (netif_get_link_ksettings(dev, &settings) ||
	    settings.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return min(settings.base.speed, CLOSNET_LINK_MBPS_MAX);
}

#endif /* _CLOSNET_LINK_RATE_H */
