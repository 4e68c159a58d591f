/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_ETHTOOL_H
#define _CLOSNET_COMPAT_LINUX_ETHTOOL_H

#include_next <linux/ethtool.h>

/* 6.11; before, get_ts_info got the structure of the uAPI, with these names */
#ifndef CLOSNET_HAVE_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info ethtool_ts_info
#endif

/* 7.x; there the other one takes the device's own lock */
#ifndef CLOSNET_HAVE_NETIF_GET_LINK_KSETTINGS
#define netif_get_link_ksettings __ethtool_get_link_ksettings
#endif

#endif /* _CLOSNET_COMPAT_LINUX_ETHTOOL_H */
