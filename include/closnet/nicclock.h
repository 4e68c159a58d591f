/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What congestion controls ask about a NIC: its clock, and its line's rate
 *
 * Module nicclock keeps a struct nicclock for each network device of each
 * namespace, from its registration on. NICs that stamp the packets they
 * receive have a clock of their own; nicclock learns how it relates to
 * CLOCK_MONOTONIC from the packets that its users show it and, while it has
 * users, from others that the device receives.
 */
#ifndef _CLOSNET_NICCLOCK_H
#define _CLOSNET_NICCLOCK_H

#include <linux/math64.h>
#include <linux/skbuff.h>
#include <linux/types.h>

/* Fraction bits of a byte's time on the line, and that time at 1 Mbit/s */
#define NICCLOCK_BYTE_SHIFT	24
#define NICCLOCK_BYTE_TIME_MBPS	((u64)8000 << NICCLOCK_BYTE_SHIFT)

struct net;

/**
 * struct nicclock_line - a NIC's line
 * @rate_Mbps: its rate, as ethtool shows it; 0 if the device does not know
 * @byte_time: how long a byte takes, ns, Q40.24; or 0. At 1 Mbit/s, 2^26 bytes
 *	times that fit into 64 bits.
 *
 * Updated when the link's state changes: read it with READ_ONCE().
 */
struct nicclock_line {
	u32 rate_Mbps;
	u64 byte_time;
};

/**
 * nicclock_byte_time() - how long a byte takes
 * @rate_Mbps: rate of the line, or 0
 *
 * Return: as in struct nicclock_line.
 */
static inline u64 nicclock_byte_time(u32 rate_Mbps)
{
	return rate_Mbps ? div_u64(NICCLOCK_BYTE_TIME_MBPS, rate_Mbps) : 0;
}

/**
 * struct nicclock - a NIC
 * @line: its line
 */
struct nicclock {
	struct nicclock_line line;
};

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
 * nicclock_stamp() - what a NIC's clock showed when it received a packet
 * @skb: the packet
 *
 * The drivers of some NICs (igc, tsnep) leave a pointer into the receive buffer
 * in place of the stamp (SKBTX_HW_TSTAMP_NETDEV). The socket's backlog copies it
 * from packet to packet, and frees the buffer. So it is never followed.
 *
 * Return: ns, as a 64-bit number that may wrap; 0 without hardware stamp.
 */
static inline u64 nicclock_stamp(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (unlikely(shinfo->tx_flags & SKBTX_HW_TSTAMP_NETDEV))
		return 0;
	return shinfo->hwtstamps.hwtstamp;
}

/**
 * nicclock_rx_time() - when a packet reached its NIC
 * @nc: of the device that received it (skb->skb_iif)
 * @stamp: nicclock_stamp() of it, not 0
 * @now_ns: CLOCK_MONOTONIC now
 *
 * The clock is also learnt from that.
 *
 * Context: any but hard interrupt; RCU read lock held.
 *
 * Return: CLOCK_MONOTONIC when the NIC stamped it, ns; -EAGAIN while the NIC's
 * clock is not known well enough to say.
 */
s64 nicclock_rx_time(struct nicclock *nc, u64 stamp, u64 now_ns);

#endif /* _CLOSNET_NICCLOCK_H */
