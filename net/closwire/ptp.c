// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: PTP clock and hardware timestamps
 *
 * Each port has its own clock (closwire_clock.c). It starts at the host's real time,
 * with the options clock_offset and clock_drift. PTP software steps and steers it like
 * the clock of a NIC: settime, adjtime, adjfine. Since all times in closwire are
 * computed, a timestamp is the exact time at which the start frame delimiter passed,
 * whenever the code runs, and a cross timestamp has no error.
 *
 * The clock does not belong to a network namespace: /dev/ptpN remains when its port
 * moves, and lives as long as the port. A port created in a user namespace has no
 * /dev/ptpN. Timestamps need neither /dev/ptpN nor the PTP core.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include "closwire.h"

static struct closwire_port *closwire_of_info(struct ptp_clock_info *info)
{
	return container_of(info, struct closwire_port, ptp.info);
}

/* Read the clock at a time of CLOCK_MONOTONIC_RAW. */
static s64 closwire_ptp_at(struct closwire_ptp *ptp, ktime_t raw)
{
	unsigned int seq;
	s64 ns;

	do {
		seq = read_seqbegin(&ptp->lock);
		ns = closwire_clock_at(&ptp->clock, raw);
	} while (read_seqretry(&ptp->lock, seq));
	return ns;
}

/**
 * closwire_stamp() - read the port's clock at a given time
 * @port: port
 * @mono_ns: time, CLOCK_MONOTONIC, close to the present
 *
 * Context: any.
 *
 * Return: time of the port's clock.
 */
ktime_t closwire_stamp(struct closwire_port *port, u64 mono_ns)
{
	ktime_t raw, mono = closnet_snapshot(CLOCK_MONOTONIC, &raw);

	/* Close to the present, both clocks have the same rate. */
	return closwire_ptp_at(&port->ptp, raw - (mono - mono_ns));
}

/* ---- changes: with interrupts disabled, as timestamps are taken in any context ---- */

/**
 * closwire_ptp_set_offset() - set the clock to real time plus an offset
 * @port: port
 * @offset_ns: offset
 */
void closwire_ptp_set_offset(struct closwire_port *port, s64 offset_ns)
{
	struct closwire_ptp *ptp = &port->ptp;
	unsigned long flags;
	ktime_t raw, real;

	write_seqlock_irqsave(&ptp->lock, flags);
	real = closnet_snapshot(CLOCK_REALTIME, &raw);
	ptp->offset_ns = offset_ns;
	closwire_clock_set(&ptp->clock, raw, real + offset_ns);
	write_sequnlock_irqrestore(&ptp->lock, flags);
}

/**
 * closwire_ptp_set_drift() - set the drift of the oscillator from now on
 * @port: port
 * @drift_ppb: CLOSWIRE_CLOCK_DRIFT_MIN to CLOSWIRE_CLOCK_DRIFT_MAX; positive: too fast
 */
void closwire_ptp_set_drift(struct closwire_port *port, s32 drift_ppb)
{
	struct closwire_ptp *ptp = &port->ptp;
	unsigned long flags;

	write_seqlock_irqsave(&ptp->lock, flags);
	closwire_clock_set_rate(&ptp->clock, ktime_get_raw_ns(), drift_ppb,
				ptp->clock.scaled_ppm);
	write_sequnlock_irqrestore(&ptp->lock, flags);
}

static int closwire_ptp_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct closwire_ptp *ptp = &closwire_of_info(info)->ptp;
	unsigned long flags;

	write_seqlock_irqsave(&ptp->lock, flags);
	closwire_clock_set_rate(&ptp->clock, ktime_get_raw_ns(),
				ptp->clock.drift_ppb, scaled_ppm);
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int closwire_ptp_adjtime(struct ptp_clock_info *info, s64 delta_ns)
{
	struct closwire_ptp *ptp = &closwire_of_info(info)->ptp;
	unsigned long flags;

	write_seqlock_irqsave(&ptp->lock, flags);
	closwire_clock_step(&ptp->clock, delta_ns);
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int closwire_ptp_settime(struct ptp_clock_info *info,
				const struct timespec64 *ts)
{
	struct closwire_ptp *ptp = &closwire_of_info(info)->ptp;
	unsigned long flags;

	write_seqlock_irqsave(&ptp->lock, flags);
	closwire_clock_set(&ptp->clock, ktime_get_raw_ns(),
			   timespec64_to_ns(ts));
	write_sequnlock_irqrestore(&ptp->lock, flags);
	return 0;
}

/* ---- reading ---- */

static int closwire_ptp_gettimex(struct ptp_clock_info *info,
				 struct timespec64 *ts,
				 struct ptp_system_timestamp *sts)
{
	struct closwire_ptp *ptp = &closwire_of_info(info)->ptp;
	ktime_t raw;

	ptp_read_system_prets(sts);
	raw = ktime_get_raw();
	ptp_read_system_postts(sts);
	*ts = ns_to_timespec64(closwire_ptp_at(ptp, raw));
	return 0;
}

static int closwire_ptp_getcrosststamp(struct ptp_clock_info *info,
				       struct system_device_crosststamp *cts)
{
	struct closwire_ptp *ptp = &closwire_of_info(info)->ptp;
	int err = closnet_crosststamp(cts);

	if (!err)
		cts->device = closwire_ptp_at(ptp, cts->sys_monoraw);
	return err;
}

/* ---- registration ---- */

static const struct ptp_clock_info closwire_ptp_info = {
	.owner		= THIS_MODULE,
	.max_adj	= CLOSWIRE_ADJ_MAX_PPB,
	.adjfine	= closwire_ptp_adjfine,
	.adjtime	= closwire_ptp_adjtime,
	.settime64	= closwire_ptp_settime,
	.gettimex64	= closwire_ptp_gettimex,
	.getcrosststamp	= closwire_ptp_getcrosststamp,
};

/**
 * closwire_ptp_init() - start the clock at real time, without drift
 * @port: port
 */
void closwire_ptp_init(struct closwire_port *port)
{
	struct closwire_ptp *ptp = &port->ptp;
	ktime_t raw, real = closnet_snapshot(CLOCK_REALTIME, &raw);

	seqlock_init(&ptp->lock);
	closwire_clock_init(&ptp->clock, raw, real);
	ptp->info = closwire_ptp_info;
}

/**
 * closwire_ptp_register() - register the clock with the PTP core
 * @port: port, its device registered
 *
 * A port created in a user namespace registers no clock: PTP clocks belong to the host,
 * and any user could exhaust their numbers.
 *
 * Context: RTNL held.
 *
 * Return: 0 or a negative error.
 */
int closwire_ptp_register(struct closwire_port *port)
{
	struct closwire_ptp *ptp = &port->ptp;
	struct ptp_clock *clock;

	if (dev_net(port->dev)->user_ns != &init_user_ns)
		return 0;
	snprintf(ptp->info.name, sizeof(ptp->info.name), CLOSWIRE_NAME " %s",
		 port->dev->name);
	/* no parent: sysfs would hide the clock from other namespaces */
	clock = ptp_clock_register(&ptp->info, NULL);
	if (IS_ERR(clock))
		return PTR_ERR(clock);
	ptp->ptp = clock;
	return 0;
}

/**
 * closwire_ptp_unregister() - unregister the clock, if it is registered
 * @port: port
 *
 * Context: RTNL held.
 */
void closwire_ptp_unregister(struct closwire_port *port)
{
	if (port->ptp.ptp)
		ptp_clock_unregister(port->ptp.ptp);
	port->ptp.ptp = NULL;
}

/* ---- timestamping ---- */

int closwire_get_ts_info(struct net_device *dev,
			 struct kernel_ethtool_ts_info *info)
{
	struct closwire_port *port = netdev_priv(dev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = port->ptp.ptp ? ptp_clock_index(port->ptp.ptp) : -1;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

int closwire_hwtstamp_get(struct net_device *dev,
			  struct kernel_hwtstamp_config *config)
{
	struct closwire_port *port = netdev_priv(dev);

	config->tx_type = port->ptp.config.tx_type;
	config->rx_filter = port->ptp.config.rx_filter;
	return 0;
}

int closwire_hwtstamp_set(struct net_device *dev,
			  struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack)
{
	struct closwire_port *port = netdev_priv(dev);

	if (config->tx_type != HWTSTAMP_TX_OFF &&
	    config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "tx_type must be off or on");
		return -ERANGE;
	}
	/* A filter for some frames enables timestamps of all frames. */
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	WRITE_ONCE(port->ptp.config.tx_type, config->tx_type);
	WRITE_ONCE(port->ptp.config.rx_filter, config->rx_filter);
	return 0;
}
