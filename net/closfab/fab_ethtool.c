// SPDX-License-Identifier: GPL-2.0-only
/*
 * closfab: ethtool -S
 */
#include <linux/ethtool.h>
#include "fab.h"

#define FAB_STAT(counter) \
	[FAB_CNT_##counter] = #counter

static const char fab_names[FAB_CNT_COUNT][ETH_GSTRING_LEN] = {
	FAB_STAT(tx_ordered),
	FAB_STAT(tx_cells),
	FAB_STAT(tx_conweave),
	FAB_STAT(tx_unordered),
	FAB_STAT(tx_no_peer),
	FAB_STAT(tx_no_path),
	FAB_STAT(tx_too_big),
	FAB_STAT(tx_nomem),
	FAB_STAT(tx_epochs),
	FAB_STAT(tx_tails),
	FAB_STAT(tx_moves),
	FAB_STAT(tx_refused),
	FAB_STAT(tx_replies),
	FAB_STAT(tx_clears),
	FAB_STAT(tx_notifies),
	FAB_STAT(rx_passed),
	FAB_STAT(rx_released),
	FAB_STAT(rx_late),
	FAB_STAT(rx_unheld),
	FAB_STAT(rx_stray),
	FAB_STAT(rx_unordered),
	FAB_STAT(rx_duplicate),
	FAB_STAT(rx_skipped),
	FAB_STAT(rx_restarts),
	FAB_STAT(rx_fifos),
	FAB_STAT(rx_timers),
	FAB_STAT(rx_epoch_flushes),
	FAB_STAT(rx_broken_cells),
	FAB_STAT(rx_replies),
	FAB_STAT(rx_clears),
	FAB_STAT(rx_notifies),
	FAB_STAT(rx_ignored),
	FAB_STAT(rx_malformed),
	FAB_STAT(rx_not_authentic),
	FAB_STAT(rx_ecn_error),
	FAB_STAT(rx_backlog),
};

/* After the counters */
static const char fab_maxima_names[][ETH_GSTRING_LEN] = {
	"rx_fifos_max",
	"rx_held_bytes_max",
};

static void fab_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, FAB_NAME, sizeof(info->driver));
	strscpy(info->version, CLOSNET_VERSION, sizeof(info->version));
}

static int fab_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? FAB_CNT_COUNT + ARRAY_SIZE(fab_maxima_names) : -EOPNOTSUPP;
}

static void fab_get_strings(struct net_device *dev, u32 set, u8 *to)
{
	memcpy(to, fab_names, sizeof(fab_names));
	memcpy(to + sizeof(fab_names), fab_maxima_names, sizeof(fab_maxima_names));
}

static void fab_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *to)
{
	const struct fab_dev *fab = netdev_priv(dev);
	int cpu, i;

	memset(to, 0, FAB_CNT_COUNT * sizeof(*to));
	for_each_possible_cpu(cpu)
		for (i = 0; i < FAB_CNT_COUNT; i++)
			to[i] += READ_ONCE(per_cpu_ptr(fab->stats, cpu)->n[i]);
	to[FAB_CNT_COUNT] = atomic_read(&fab->fifos_max);
	to[FAB_CNT_COUNT + 1] = atomic_read(&fab->held_bytes_max);
}

const struct ethtool_ops fab_ethtool_ops = {
	.get_drvinfo		= fab_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_sset_count		= fab_get_sset_count,
	.get_strings		= fab_get_strings,
	.get_ethtool_stats	= fab_get_ethtool_stats,
};
