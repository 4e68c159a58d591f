/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Priority-based flow control (IEEE 802.1Qbb): the pause frame, and the
 * functions that module closwire exports to send and observe pauses
 *
 * A module that must load without closwire gets its functions by symbol_get().
 */
#ifndef _CLOSNET_PFC_H
#define _CLOSNET_PFC_H

#include <linux/etherdevice.h>
#include <linux/types.h>

#define CLOSNET_PFC_PRIOS	8
#define CLOSNET_PFC_ETHERTYPE	ETH_P_PAUSE	/* MAC control, 0x8808 */
#define CLOSNET_PFC_OPCODE	0x0101

/**
 * struct closnet_pfc_frame - a pause frame, without padding and FCS
 * @eth: to 01:80:c2:00:00:01, which no bridge forwards
 * @opcode: CLOSNET_PFC_OPCODE
 * @enable: priorities that the frame applies to, bit 0 is priority 0
 * @quanta: duration by priority, in 512 bit times; 0: resume
 */
struct closnet_pfc_frame {
	struct ethhdr eth;
	__be16 opcode;
	__be16 enable;
	__be16 quanta[CLOSNET_PFC_PRIOS];
} __packed;

/**
 * closnet_pfc_fill() - make a pause frame
 * @pfc: the frame
 * @source: address of the port that sends it
 * @enable: priorities that the frame applies to
 * @quanta: duration by priority, in 512 bit times; 0: resume
 */
static inline void closnet_pfc_fill(struct closnet_pfc_frame *pfc, const u8 *source,
				    u8 enable, const u16 quanta[CLOSNET_PFC_PRIOS])
{
	static const u8 to[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };
	u32 prio;

	ether_addr_copy(pfc->eth.h_dest, to);
	ether_addr_copy(pfc->eth.h_source, source);
	pfc->eth.h_proto = htons(CLOSNET_PFC_ETHERTYPE);
	pfc->opcode = htons(CLOSNET_PFC_OPCODE);
	pfc->enable = htons(enable);
	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++)
		pfc->quanta[prio] = htons(quanta[prio]);
}

struct net_device;

/**
 * closwire_pfc_xmit() - send a pause frame to the peer of a closwire port
 * @dev: a closwire port; the caller holds a reference or RCU
 * @enable: priorities that the frame applies to
 * @quanta: duration by priority, in 512 bit times; 0: resume
 *
 * The port sends the frame ahead of the frames in its rings, once the frame on
 * the line has left. No pause holds it.
 *
 * Context: Softirq or process, softirqs on or off, hard interrupts on. Takes
 * the port's own TX lock and, inside it, the peer's RX lock, so two CPUs may
 * call it for any two ports, also for both ends of a cable. The caller must
 * hold no lock that an skb destructor or a socket's write_space() takes.
 *
 * Return: 0; -EOPNOTSUPP if @dev is not a closwire port, -ENETDOWN without
 * carrier, -ENOBUFS if too many control frames wait, -ENOMEM.
 */
int closwire_pfc_xmit(struct net_device *dev, u8 enable,
		      const u16 quanta[CLOSNET_PFC_PRIOS]);

/**
 * closwire_pfc_paused_ns() - get the time for which pause frames have held a port
 * @dev: a closwire port; the caller holds a reference or RCU
 * @ns: filled in: by priority, the time in all pauses, the current one included
 *
 * Context: Any but hard interrupt.
 *
 * Return: 0; -EOPNOTSUPP if @dev is not a closwire port.
 */
int closwire_pfc_paused_ns(struct net_device *dev, u64 ns[CLOSNET_PFC_PRIOS]);

/**
 * closwire_pfc_paused_until_ns() - get the end of a priority's pause
 * @dev: a closwire port; the caller holds a reference or RCU
 * @prio: priority, below CLOSNET_PFC_PRIOS
 *
 * For a qdisc that keeps packets of a paused priority: it arms a timer for the
 * end of the pause. If a pause ends sooner, the port schedules the qdiscs of
 * all its TX queues, as a driver does that wakes them. Takes no lock.
 *
 * Context: Any.
 *
 * Return: CLOCK_MONOTONIC in ns, which may have passed; 0: @prio is not paused.
 */
u64 closwire_pfc_paused_until_ns(struct net_device *dev, u32 prio);

/**
 * closwire_pfc_peer_Mbps() - get the rate at which the peer counts pause quanta
 * @dev: a closwire port; the caller holds a reference or RCU
 *
 * A pause of N quanta holds the peer for N * 512 bit times of the peer's own
 * line rate, which may differ from this port's and may change at any time.
 *
 * Context: Any.
 *
 * Return: Mbit/s, rounded up; 0 if @dev is not a closwire port or has no peer.
 */
u32 closwire_pfc_peer_Mbps(struct net_device *dev);

#endif /* _CLOSNET_PFC_H */
