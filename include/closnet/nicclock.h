/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NIC timestamps in the host's time, by module nicclock
 *
 * nicclock has a struct nicclock for each registered network device. It learns how
 * the clock of the NIC relates to CLOCK_MONOTONIC from the packets that its users
 * pass to it and, while a device has users, from a sample of all received packets.
 */
#ifndef _CLOSNET_NICCLOCK_H
#define _CLOSNET_NICCLOCK_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct net;
struct nicclock;

/**
 * nicclock_find() - find the clock of a device
 * @net: network namespace
 * @ifindex: index of the device in @net
 *
 * Context: RCU read lock held, as long as the result is used.
 *
 * Return: clock, NULL if there is no such device.
 */
struct nicclock *nicclock_find(struct net *net, int ifindex);

/**
 * nicclock_stamp() - get the hardware timestamp of a received packet
 * @skb: packet
 *
 * The drivers of some NICs (igc, tsnep) store a pointer into the receive buffer
 * instead of the timestamp (SKBTX_HW_TSTAMP_NETDEV). The socket's backlog copies the
 * pointer between packets, and frees the buffer. It is therefore never dereferenced.
 *
 * Return: time by the NIC's clock, ns, may wrap; 0: no hardware timestamp.
 */
static inline u64 nicclock_stamp(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (unlikely(shinfo->tx_flags & SKBTX_HW_TSTAMP_NETDEV))
		return 0;
	return shinfo->hwtstamps.hwtstamp;
}

/**
 * nicclock_rx_time() - convert the hardware timestamp of a received packet
 * @nc: clock of the device that received the packet (skb->skb_iif)
 * @stamp: nicclock_stamp() of the packet, not 0
 * @now_ns: present CLOCK_MONOTONIC
 *
 * The clock is also learnt from these arguments.
 *
 * Context: any but hard interrupt; RCU read lock held.
 *
 * Return: CLOCK_MONOTONIC when the NIC received the packet, ns; -EAGAIN while the
 * map of the clock is not trusted.
 */
s64 nicclock_rx_time(struct nicclock *nc, u64 stamp, u64 now_ns);

#endif /* _CLOSNET_NICCLOCK_H */
