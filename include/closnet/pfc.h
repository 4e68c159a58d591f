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
 * @quanta: for each of these how long, in 512 bit times; 0: go on
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
 * @quanta: for each of these how long, in 512 bit times; 0: go on
 *
 * The frame goes ahead of all that waits in the rings, as soon as the frame
 * on the line has left; no pause holds it. Exported by module closwire: who
 * must do without it takes it by symbol_get(). Any context but hard interrupt.
 *
 * Return: 0; -EOPNOTSUPP if @dev is no closwire port, -ENETDOWN without
 * carrier, -ENOBUFS when too many control frames wait, -ENOMEM.
 */
int closwire_pfc_xmit(struct net_device *dev, u8 enable,
		      const u16 quanta[PFC_PRIOS]);

/**
 * closwire_pfc_paused_ns() - how long a port has been held by pause frames
 * @dev: a closwire port; the caller holds a reference or RCU
 * @ns: filled in: of each priority the time in all pauses, the one that is on
 *	included
 *
 * Exported as closwire_pfc_xmit() is. Any context but hard interrupt.
 *
 * Return: 0; -EOPNOTSUPP if @dev is no closwire port.
 */
int closwire_pfc_paused_ns(struct net_device *dev, u64 ns[PFC_PRIOS]);

#endif /* _CLOSNET_PFC_H */
