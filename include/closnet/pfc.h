/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Priority flow control (IEEE 802.1Qbb): the pause frame, and how to have one
 * sent by a closwire port
 */
#ifndef _CLOSNET_PFC_H
#define _CLOSNET_PFC_H

#include <linux/etherdevice.h>
#include <linux/types.h>

#define PFC_PRIOS		8
#define PFC_ETHERTYPE		ETH_P_PAUSE	/* MAC control, 0x8808 */
#define PFC_OPCODE		0x0101

/**
 * struct pfc_frame - a pause frame, without padding and FCS
 * @eth: to 01:80:c2:00:00:01, which no bridge forwards
 * @opcode: PFC_OPCODE
 * @enable: priorities that the frame speaks of, bit 0 is priority 0
 * @quanta: for each priority how long it shall pause, in 512 bit times;
 *	0: go on
 */
struct pfc_frame {
	struct ethhdr eth;
	__be16 opcode;
	__be16 enable;
	__be16 quanta[PFC_PRIOS];
} __packed;

/**
 * pfc_frame_fill() - make a pause frame
 * @pfc: the frame
 * @source: address of the port that sends it
 * @enable: priorities that the frame speaks of
 * @quanta: duration by priority, in 512 bit times; 0: resume
 */
static inline void pfc_frame_fill(struct pfc_frame *pfc, const u8 *source, u8 enable,
				  const u16 quanta[PFC_PRIOS])
{
	static const u8 to[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };
	u32 prio;

	ether_addr_copy(pfc->eth.h_dest, to);
	ether_addr_copy(pfc->eth.h_source, source);
	pfc->eth.h_proto = htons(PFC_ETHERTYPE);
	pfc->opcode = htons(PFC_OPCODE);
	pfc->enable = htons(enable);
	for (prio = 0; prio < PFC_PRIOS; prio++)
		pfc->quanta[prio] = htons(quanta[prio]);
}

struct net_device;

/**
 * closwire_pfc_xmit() - send a pause frame to the port at the cable's other end
 * @dev: a closwire port; the caller holds a reference or RCU
 * @enable: priorities that the frame speaks of
 * @quanta: duration by priority, in 512 bit times; 0: resume
 *
 * The frame is sent ahead of the frames in the rings, once the frame on the
 * line has left; no pause holds it. Exported by module closwire; a module that
 * must load without closwire gets it by symbol_get().
 *
 * Softirq or process context, softirqs on or off, hard interrupts on. It takes
 * the port's own TX lock and, inside, the peer's RX lock. So two CPUs may call
 * it for any two ports, also for both ends of a cable. The caller must hold
 * no lock that an skb destructor or a socket's write_space() takes.
 *
 * Return: 0; -EOPNOTSUPP if @dev is no closwire port, -ENETDOWN without
 * carrier, -ENOBUFS when too many control frames wait, -ENOMEM.
 */
int closwire_pfc_xmit(struct net_device *dev, u8 enable,
		      const u16 quanta[PFC_PRIOS]);

/**
 * closwire_pfc_paused_ns() - how long a port has been held by pause frames
 * @dev: a closwire port; the caller holds a reference or RCU
 * @ns: filled in: by priority, the time in all pauses, the current one included
 *
 * Exported as closwire_pfc_xmit() is. Any context but hard interrupt.
 *
 * Return: 0; -EOPNOTSUPP if @dev is no closwire port.
 */
int closwire_pfc_paused_ns(struct net_device *dev, u64 ns[PFC_PRIOS]);

/**
 * closwire_pfc_paused_until_ns() - get the end of a priority's pause
 * @dev: a closwire port; the caller holds a reference or RCU
 * @prio: priority, below PFC_PRIOS
 *
 * For a qdisc that keeps packets of a paused priority: it is to arm a timer for
 * the end of the pause. If a pause ends sooner, the port schedules the qdiscs of
 * all its TX queues, as a driver does that wakes them. Takes no lock. Exported
 * as closwire_pfc_xmit() is. Any context.
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
 * Exported as closwire_pfc_xmit() is. Any context.
 *
 * Return: Mbit/s, rounded up; 0 if @dev is no closwire port or has no peer.
 */
u32 closwire_pfc_peer_Mbps(struct net_device *dev);

#endif /* _CLOSNET_PFC_H */
