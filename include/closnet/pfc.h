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

/* Exported by closwire, described in net/closwire/pfc.c */
int closwire_pfc_xmit(struct net_device *dev, u8 enable,
		      const u16 quanta[CLOSNET_PFC_PRIOS]);
int closwire_pfc_paused_ns(struct net_device *dev, u64 ns[CLOSNET_PFC_PRIOS]);
u64 closwire_pfc_paused_until_ns(struct net_device *dev, u32 prio);
u32 closwire_pfc_peer_Mbps(struct net_device *dev);

#endif /* _CLOSNET_PFC_H */
