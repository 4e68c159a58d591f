// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: PTP clock and hardware time stamps
 *
 * Each port has a clock of its own (clock_core.h). It starts at the host's
 * real time, with an oscillator as far off as the user says (clock_offset,
 * clock_drift), and PTP software steps and steers it as any NIC's: settime,
 * adjtime, adjfine. As all time in closwire is computed, a stamp says to the
 * nanosecond when the start frame delimiter passed, whenever the code ran;
 * and a cross time stamp has no error at all.
 *
 * The clock does not belong to a network namespace: /dev/ptpN stays where it
 * is when its port moves. It lives as long as the port. A port that is made in a
 * user namespace has no /dev/ptpN. Stamps do not need it, nor the PTP core.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include "closwire.h"

static struct closwire_port *closwire_of_info(struct ptp_clock_info *info)
{
	return container_of(info, struct closwire_port, ptp.info);
}

/* What the clock shows at a moment of CLOCK_MONOTONIC_RAW. */
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

ktime_t closwire_stamp(struct closwire_port *port, u64 mono_ns)
{
	ktime_t raw, mono = closnet_snapshot(CLOCK_MONOTONIC, &raw);

	/* in the near past the two run at the same rate */
	return closwire_ptp_at(&port->ptp, raw - (mono - mono_ns));
}

/* ---- changes: with interrupts off, since stamps are taken in any context ---- */

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

/* ---- coming and going ---- */

static const struct ptp_clock_info closwire_ptp_info = {
	.owner		= THIS_MODULE,
	.max_adj	= CLOSWIRE_ADJ_MAX_PPB,
	.adjfine	= closwire_ptp_adjfine,
	.adjtime	= closwire_ptp_adjtime,
	.settime64	= closwire_ptp_settime,
	.gettimex64	= closwire_ptp_gettimex,
	.getcrosststamp	= closwire_ptp_getcrosststamp,
};

void closwire_ptp_init(struct closwire_port *port)
{
	struct closwire_ptp *ptp = &port->ptp;
	ktime_t raw, real = closnet_snapshot(CLOCK_REALTIME, &raw);

	seqlock_init(&ptp->lock);
	closwire_clock_init(&ptp->clock, raw, real);
	ptp->info = closwire_ptp_info;
}

int closwire_ptp_register(struct closwire_port *port)
{
	struct closwire_ptp *ptp = &port->ptp;
	struct ptp_clock *clock;

	if (dev_net(port->dev)->user_ns != &init_user_ns)
		return 0;
	snprintf(ptp->info.name, sizeof(ptp->info.name), CLOSWIRE_NAME " %s",
		 port->dev->name);
	/* no parent: sysfs hides a port's children from other namespaces */
	clock = ptp_clock_register(&ptp->info, NULL);
	if (IS_ERR(clock))
		return PTR_ERR(clock);
	ptp->ptp = clock;
	return 0;
}

void closwire_ptp_unregister(struct closwire_port *port)
{
	if (port->ptp.ptp)
		ptp_clock_unregister(port->ptp.ptp);
	port->ptp.ptp = NULL;
}

/* ---- time stamping ---- */

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
	/* whoever wants some frames stamped gets all */
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	WRITE_ONCE(port->ptp.config.tx_type, config->tx_type);
	WRITE_ONCE(port->ptp.config.rx_filter, config->rx_filter);
	return 0;
}
