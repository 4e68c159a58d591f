/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The IP header of a packet in a qdisc: below VLAN tags, in fragments
 */
#ifndef _CLOSNET_SKB_IP_H
#define _CLOSNET_SKB_IP_H

#include <linux/skbuff.h>
#include <closnet/pkt_core.h>

/**
 * enum closnet_ce - result of marking a packet
 * @CLOSNET_CE_SET: marked now
 * @CLOSNET_CE_WAS_SET: marked before
 * @CLOSNET_CE_NOT_ECT: not ECN-capable
 * @CLOSNET_CE_NOMEM: no memory to unshare the header
 */
enum closnet_ce {
	CLOSNET_CE_SET,
	CLOSNET_CE_WAS_SET,
	CLOSNET_CE_NOT_ECT,
	CLOSNET_CE_NOMEM,
};

u16 closnet_skb_l3(const struct sk_buff *skb, u32 l2_len, u32 *off);
enum closnet_ce closnet_set_ce(struct sk_buff *skb, u32 l2_len);

#endif /* _CLOSNET_SKB_IP_H */
