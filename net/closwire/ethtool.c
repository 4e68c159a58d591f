// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: ethtool
 *
 * ip link sets the properties of the link, such as its rate. As in other NICs, ethtool
 * sets the TX rings, the delay of interrupts (rx-usecs), and the number of TX queues.
 */
#include <linux/ethtool.h>
#include <linux/math64.h>
#include <closnet/netlink.h>
#include <closnet/pfc.h>
#include "closwire.h"

/* ---- the link ---- */

static void closwire_get_drvinfo(struct net_device *dev,
				 struct ethtool_drvinfo *info)
{
	strscpy(info->driver, CLOSWIRE_NAME, sizeof(info->driver));
	strscpy(info->version, CLOSNET_VERSION, sizeof(info->version));
}

static int closwire_get_link_ksettings(struct net_device *dev,
				       struct ethtool_link_ksettings *cmd)
{
	struct closwire_port *port = netdev_priv(dev);
	u64 rate_bps = READ_ONCE(port->tx.rate_Bps) * BITS_PER_BYTE;
	u32 mbps = div_u64(rate_bps + 500000, 1000000);

	ethtool_link_ksettings_zero_link_mode(cmd, supported);
	cmd->base.speed = mbps ? : SPEED_UNKNOWN;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.autoneg = AUTONEG_DISABLE;
	cmd->base.port = PORT_DA;
	return 0;
}

/* ---- rings, interrupt, queues ---- */

static void closwire_get_ringparam(struct net_device *dev,
				   struct ethtool_ringparam *ring,
				   struct kernel_ethtool_ringparam *kernel_ring,
				   struct netlink_ext_ack *extack)
{
	struct closwire_port *port = netdev_priv(dev);

	ring->tx_max_pending = CLOSWIRE_RING_MAX;
	ring->tx_pending = READ_ONCE(port->tx.ring_max);
}

/* The core has checked the maximum, and rejects a size of the RX ring. */
static int closwire_set_ringparam(struct net_device *dev,
				  struct ethtool_ringparam *ring,
				  struct kernel_ethtool_ringparam *kernel_ring,
				  struct netlink_ext_ack *extack)
{
	if (ring->tx_pending < CLOSWIRE_RING_MIN) {
		closnet_set_msg(extack, "tx must be "
				__stringify(CLOSWIRE_RING_MIN) " to "
				__stringify(CLOSWIRE_RING_MAX) " packets");
		return -ERANGE;
	}
	closwire_set_ring(netdev_priv(dev), ring->tx_pending);
	return 0;
}

static int closwire_get_coalesce(struct net_device *dev,
				 struct ethtool_coalesce *coalesce,
				 struct kernel_ethtool_coalesce *kernel_coalesce,
				 struct netlink_ext_ack *extack)
{
	struct closwire_port *port = netdev_priv(dev);

	coalesce->rx_coalesce_usecs = READ_ONCE(port->rx.usecs);
	return 0;
}

static int closwire_set_coalesce(struct net_device *dev,
				 struct ethtool_coalesce *coalesce,
				 struct kernel_ethtool_coalesce *kernel_coalesce,
				 struct netlink_ext_ack *extack)
{
	struct closwire_port *port = netdev_priv(dev);

	if (coalesce->rx_coalesce_usecs > CLOSWIRE_RX_USECS_MAX) {
		closnet_set_msg(extack, "rx-usecs must be 0 to "
				__stringify(CLOSWIRE_RX_USECS_MAX));
		return -ERANGE;
	}
	spin_lock_bh(&port->rx.lock);
	WRITE_ONCE(port->rx.usecs, coalesce->rx_coalesce_usecs);
	spin_unlock_bh(&port->rx.lock);
	return 0;
}

static void closwire_get_channels(struct net_device *dev,
				  struct ethtool_channels *channels)
{
	channels->max_tx = dev->num_tx_queues;
	channels->tx_count = dev->real_num_tx_queues;
	channels->max_rx = 1;
	channels->rx_count = 1;
}

/* Rings that are no longer in use drain: the transmitter still serves them. */
static int closwire_set_channels(struct net_device *dev,
				 struct ethtool_channels *channels)
{
	return netif_set_real_num_tx_queues(dev, channels->tx_count);
}

/* ---- statistics ---- */

/* Each counter is a u64; its name has the same index in the table. */
#define CLOSWIRE_STATS (sizeof(struct closwire_own_stats) / sizeof(u64))
#define CLOSWIRE_STAT(counter) \
	[offsetof(struct closwire_own_stats, counter) / sizeof(u64)] = #counter
#define CLOSWIRE_PRIO_STAT(way, prio) \
	[offsetof(struct closwire_own_stats, way##_prio_pause[prio]) / \
	 sizeof(u64)] = #way "_prio" #prio "_pause"

static const char closwire_stat_names[CLOSWIRE_STATS][ETH_GSTRING_LEN] = {
	CLOSWIRE_PRIO_STAT(tx, 0),
	CLOSWIRE_PRIO_STAT(tx, 1),
	CLOSWIRE_PRIO_STAT(tx, 2),
	CLOSWIRE_PRIO_STAT(tx, 3),
	CLOSWIRE_PRIO_STAT(tx, 4),
	CLOSWIRE_PRIO_STAT(tx, 5),
	CLOSWIRE_PRIO_STAT(tx, 6),
	CLOSWIRE_PRIO_STAT(tx, 7),
	CLOSWIRE_STAT(tx_ring_full),
	CLOSWIRE_STAT(tx_paused),
	CLOSWIRE_STAT(tx_dropped_ctrl),
	CLOSWIRE_STAT(tx_dropped_limit),
	CLOSWIRE_STAT(tx_dropped_nomem),
	CLOSWIRE_STAT(tx_hwtstamps),
	CLOSWIRE_PRIO_STAT(rx, 0),
	CLOSWIRE_PRIO_STAT(rx, 1),
	CLOSWIRE_PRIO_STAT(rx, 2),
	CLOSWIRE_PRIO_STAT(rx, 3),
	CLOSWIRE_PRIO_STAT(rx, 4),
	CLOSWIRE_PRIO_STAT(rx, 5),
	CLOSWIRE_PRIO_STAT(rx, 6),
	CLOSWIRE_PRIO_STAT(rx, 7),
	CLOSWIRE_STAT(rx_dropped_down),
	CLOSWIRE_STAT(rx_dropped_nomem),
	CLOSWIRE_STAT(rx_interrupts),
	CLOSWIRE_STAT(rx_hwtstamps),
};

/* After these: total time of the pauses of each priority */
static const char closwire_paused_names[CLOSNET_PFC_PRIOS][ETH_GSTRING_LEN] = {
	"rx_prio0_paused_ns", "rx_prio1_paused_ns", "rx_prio2_paused_ns",
	"rx_prio3_paused_ns", "rx_prio4_paused_ns", "rx_prio5_paused_ns",
	"rx_prio6_paused_ns", "rx_prio7_paused_ns",
};

static int closwire_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? CLOSWIRE_STATS + CLOSNET_PFC_PRIOS : -EOPNOTSUPP;
}

static void closwire_get_strings(struct net_device *dev, u32 set, u8 *to)
{
	memcpy(to, closwire_stat_names, sizeof(closwire_stat_names));
	memcpy(to + sizeof(closwire_stat_names), closwire_paused_names,
	       sizeof(closwire_paused_names));
}

static void closwire_get_ethtool_stats(struct net_device *dev,
				       struct ethtool_stats *stats, u64 *to)
{
	struct closwire_port *port = netdev_priv(dev);
	const u64 *from = (const u64 *)&port->stats.own;
	size_t i;

	for (i = 0; i < CLOSWIRE_STATS; i++)
		to[i] = READ_ONCE(from[i]);
	closwire_pfc_paused_ns(dev, to + CLOSWIRE_STATS);
}

static void closwire_get_eth_mac_stats(struct net_device *dev,
				       struct ethtool_eth_mac_stats *to)
{
	struct closwire_port *port = netdev_priv(dev);
	const struct closwire_stats *stats = &port->stats;

	to->FramesTransmittedOK = READ_ONCE(stats->tx_frames);
	to->FramesReceivedOK = READ_ONCE(stats->rx_frames);
	to->FrameCheckSequenceErrors = READ_ONCE(stats->rx_lost);
	to->FrameTooLongErrors = READ_ONCE(stats->rx_dropped_length);
}

static void closwire_get_eth_ctrl_stats(struct net_device *dev,
					struct ethtool_eth_ctrl_stats *to)
{
	struct closwire_port *port = netdev_priv(dev);
	const struct closwire_stats *stats = &port->stats;

	to->MACControlFramesTransmitted = READ_ONCE(stats->tx_ctrl);
	to->MACControlFramesReceived = READ_ONCE(stats->rx_ctrl);
	to->UnsupportedOpcodesReceived = READ_ONCE(stats->rx_ctrl_unknown);
}

/* Pause frames for all priorities at once (802.3x) are counted but not obeyed. */
static void closwire_get_pause_stats(struct net_device *dev,
				     struct ethtool_pause_stats *to)
{
	struct closwire_port *port = netdev_priv(dev);

	to->tx_pause_frames = READ_ONCE(port->stats.tx_pause);
	to->rx_pause_frames = READ_ONCE(port->stats.rx_pause);
}

static void closwire_get_pauseparam(struct net_device *dev,
				    struct ethtool_pauseparam *pause)
{
	pause->autoneg = AUTONEG_DISABLE;
	pause->rx_pause = 0;
	pause->tx_pause = 0;
}

const struct ethtool_ops closwire_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_drvinfo		= closwire_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= closwire_get_link_ksettings,
	.get_ringparam		= closwire_get_ringparam,
	.set_ringparam		= closwire_set_ringparam,
	.get_coalesce		= closwire_get_coalesce,
	.set_coalesce		= closwire_set_coalesce,
	.get_channels		= closwire_get_channels,
	.set_channels		= closwire_set_channels,
	.get_sset_count		= closwire_get_sset_count,
	.get_strings		= closwire_get_strings,
	.get_ethtool_stats	= closwire_get_ethtool_stats,
	.get_eth_mac_stats	= closwire_get_eth_mac_stats,
	.get_eth_ctrl_stats	= closwire_get_eth_ctrl_stats,
	.get_pause_stats	= closwire_get_pause_stats,
	.get_pauseparam		= closwire_get_pauseparam,
	.get_ts_info		= closwire_get_ts_info,
	.set_dump		= closwire_set_dump,
	.get_dump_flag		= closwire_get_dump_flag,
	.get_dump_data		= closwire_get_dump_data,
};
