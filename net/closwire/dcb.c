// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: priority flow control by dcb(8)
 *
 * Sets the priorities that obey pause frames, by default all eight, and shows the
 * numbers of pause frames sent and received for each. Kernel modules and packet
 * sockets may send pause frames for any priority.
 */
#include <net/dcbnl.h>
#include "closwire.h"

static int closwire_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct closwire_port *port = netdev_priv(dev);
	const struct closwire_stats *stats = &port->stats;
	u32 prio;

	pfc->pfc_cap = CLOSWIRE_PRIOS;
	pfc->pfc_en = READ_ONCE(port->tx.pfc);
	for (prio = 0; prio < CLOSWIRE_PRIOS; prio++) {
		pfc->requests[prio] = READ_ONCE(stats->tx_prio_pause[prio]);
		pfc->indications[prio] = READ_ONCE(stats->rx_prio_pause[prio]);
	}
	return 0;
}

static int closwire_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	/* There is no MACsec to bypass, and no buffer whose size depends on a delay. */
	if (pfc->mbc || pfc->delay)
		return -EOPNOTSUPP;
	closwire_set_pfc(netdev_priv(dev), pfc->pfc_en);
	return 0;
}

static u8 closwire_getdcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static const struct dcbnl_rtnl_ops closwire_dcbnl_ops = {
	.ieee_getpfc	= closwire_getpfc,
	.ieee_setpfc	= closwire_setpfc,
	.getdcbx	= closwire_getdcbx,
};

/**
 * closwire_dcb_setup() - set the DCB operations of a new port
 * @dev: device of the port
 */
void closwire_dcb_setup(struct net_device *dev)
{
	dev->dcbnl_ops = &closwire_dcbnl_ops;
}
