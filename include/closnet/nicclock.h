/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What congestion controls ask about a NIC: its clock, and its line's rate
 *
 * Module nicclock keeps a struct nicclock for each network device of each
 * namespace, from its registration on. NICs that stamp the packets they
 * receive have a clock of their own; nicclock learns how it relates to
 * CLOCK_MONOTONIC from the packets that its users show it.
 */
#ifndef _CLOSNET_NICCLOCK_H
#define _CLOSNET_NICCLOCK_H

#include <linux/types.h>

/* Fraction bits of a byte's time on the line */
#define NICCLOCK_BYTE_SHIFT	24

struct net;
struct nicclock;
struct sk_buff;

/**
 * nicclock_byte_time() - how long a byte takes
 * @rate_Mbps: rate of the line; not 0
 *
 * Return: ns, Q40.24. At 1 Mbit/s, 2^26 bytes times that fit into 64 bits.
 */
static inline u64 nicclock_byte_time(u32 rate_Mbps)
{
	return ((u64)8000 << NICCLOCK_BYTE_SHIFT) / rate_Mbps;
}

/**
 * nicclock_find() - the NIC of a device
 * @net: namespace
 * @ifindex: of the device, in @net
 *
 * Context: RCU read lock held, as long as the result is used.
 *
 * Return: the NIC, or NULL if there is no such device.
 */
struct nicclock *nicclock_find(struct net *net, int ifindex);

/**
 * nicclock_rx_time() - when a packet reached its NIC
 * @nc: of the device that received it (skb->skb_iif)
 * @skb: the packet
 * @now_ns: CLOCK_MONOTONIC now
 * @rx_ns: the result: CLOCK_MONOTONIC when the NIC stamped @skb
 *
 * The clock is also learnt from that. Stamps that are a pointer to the
 * driver's own format (SKBTX_HW_TSTAMP_NETDEV) are read by the driver.
 *
 * Context: any but hard interrupt; RCU read lock held.
 *
 * Return: 0; -ENODATA if @skb has no hardware stamp; -EAGAIN while the NIC's
 * clock is not known well enough to say.
 */
int nicclock_rx_time(struct nicclock *nc, const struct sk_buff *skb,
		     u64 now_ns, u64 *rx_ns);

/**
 * nicclock_rate_Mbps() - rate of the line
 * @nc: the NIC
 *
 * As ethtool shows it; updated when the link's state changes.
 *
 * Return: Mbit/s, or 0 if the device does not know.
 */
u32 nicclock_rate_Mbps(const struct nicclock *nc);

/**
 * nicclock_rate_byte_time() - nicclock_byte_time() of the line's rate
 * @nc: the NIC
 *
 * Return: ns, Q40.24, or 0 if the rate is not known.
 */
u64 nicclock_rate_byte_time(const struct nicclock *nc);

#endif /* _CLOSNET_NICCLOCK_H */
