// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: measurement of one-way delays
 *
 * A delay is the time from the departure of a packet to the arrival of its frame at a
 * measuring port's host, interrupt moderation included. The packet carries its departure
 * (skb->tstamp, CLOCK_MONOTONIC) through switches, since the stack keeps delivery times
 * of forwarded packets:
 *
 *	TCP, SO_TXTIME	delivery time: TCP sends, or its pacing wants to; then qdisc and
 *			ring are part of the delay, as of TCP's RTT
 *	other packets	the first port takes the packet from its qdisc
 *
 * ethtool's dump is the interface: --set-dump DEV 1 starts a measurement from zero,
 * --get-dump reads the histogram, --set-dump DEV 0 ends the measurement.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "closwire.h"

/**
 * struct closwire_measurement - measurement of a port
 * @rcu: for its release
 * @delays: histogram
 */
struct closwire_measurement {
	struct rcu_head rcu;
	struct closwire_delays delays;
};

/* Number of measuring ports. Without any, no packet is stamped. */
static atomic_t closwire_measuring;

/**
 * closwire_delay_depart() - stamp a packet without departure time, if any port measures
 * @skb: packet that a port takes from its qdisc
 */
void closwire_delay_depart(struct sk_buff *skb)
{
	ktime_t now;

	if (likely(!atomic_read(&closwire_measuring)))
		return;
	now = ktime_get();
	/* Without fq, a packet may leave before its delivery time. */
	if (!closnet_skb_has_mono(skb) || skb->tstamp > now)
		skb_set_delivery_time(skb, now, SKB_CLOCK_MONOTONIC);
}

/**
 * closwire_delay_arrive() - add the delay of a received frame, if the port measures
 * @port: receiving port
 * @skb: frame; not counted if it left before any port measured
 * @now_ns: present time
 *
 * Context: NAPI.
 */
void closwire_delay_arrive(struct closwire_port *port, const struct sk_buff *skb, u64 now_ns)
{
	struct closwire_measurement *m = rcu_dereference_bh(port->measurement);

	if (unlikely(m) && closnet_skb_has_mono(skb))
		closwire_delay_add(&m->delays, now_ns - ktime_to_ns(skb->tstamp));
}

/* Replace the measurement, and with it the counts. NULL: stop. */
static void closwire_delay_set(struct closwire_port *port, struct closwire_measurement *m)
{
	struct closwire_measurement *old = rtnl_dereference(port->measurement);

	atomic_add(!!m - !!old, &closwire_measuring);
	rcu_assign_pointer(port->measurement, m);
	if (old)
		kfree_rcu(old, rcu);
}

/**
 * closwire_delay_stop() - end the measurement of a port, if there is one
 * @port: port
 *
 * Context: RTNL held.
 */
void closwire_delay_stop(struct closwire_port *port)
{
	closwire_delay_set(port, NULL);
}

/**
 * closwire_set_dump() - implement ethtool --set-dump
 * @dev: device of the port
 * @dump: flag 1: start a measurement, or restart it from zero; 0: stop
 *
 * Return: 0 or a negative errno.
 */
int closwire_set_dump(struct net_device *dev, struct ethtool_dump *dump)
{
	struct closwire_measurement *m = NULL;

	if (dump->flag > 1)
		return -EINVAL;
	if (dump->flag) {
		m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
		if (!m)
			return -ENOMEM;
		closwire_delay_init(&m->delays);
	}
	closwire_delay_set(netdev_priv(dev), m);
	return 0;
}

/**
 * closwire_get_dump_flag() - implement ethtool --get-dump without data
 * @dev: device of the port
 * @dump: result; without a measurement, the length is 0
 *
 * Return: 0.
 */
int closwire_get_dump_flag(struct net_device *dev, struct ethtool_dump *dump)
{
	struct closwire_port *port = netdev_priv(dev);

	dump->version = CLOSWIRE_DELAY_VERSION;
	dump->flag = !!rtnl_dereference(port->measurement);
	dump->len = dump->flag ? sizeof(struct closwire_delays) : 0;
	return 0;
}

/**
 * closwire_get_dump_data() - implement ethtool --get-dump with data
 * @dev: device of the port
 * @dump: length of the data
 * @data: result, a struct closwire_delays
 *
 * Return: 0, or -ENODATA without a measurement.
 */
int closwire_get_dump_data(struct net_device *dev, struct ethtool_dump *dump, void *data)
{
	struct closwire_port *port = netdev_priv(dev);
	struct closwire_measurement *m = rtnl_dereference(port->measurement);
	const u64 *from;
	u64 *to = data;
	size_t i;

	if (!m)
		return -ENODATA;
	from = (const u64 *)&m->delays;
	for (i = 0; i < dump->len / sizeof(*to); i++)
		to[i] = READ_ONCE(from[i]);
	return 0;
}
