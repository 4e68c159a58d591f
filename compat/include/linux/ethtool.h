/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_LINUX_ETHTOOL_H
#define _CLOSNET_COMPAT_LINUX_ETHTOOL_H

#include_next <linux/ethtool.h>

/* Before 6.11, get_ts_info() had the structure of the uAPI, with the same members. */
#ifndef CLOSNET_HAVE_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info ethtool_ts_info
#endif

/* New in 7.x, where __ethtool_get_link_ksettings() takes the device's own lock */
#ifndef CLOSNET_HAVE_NETIF_GET_LINK_KSETTINGS
#define netif_get_link_ksettings __ethtool_get_link_ksettings
#endif

#endif /* _CLOSNET_COMPAT_LINUX_ETHTOOL_H */
