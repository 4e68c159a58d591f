/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's control packets as skbs: see pcrp_ctl.c
 */
#ifndef _PCRP_CTL_H
#define _PCRP_CTL_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <closnet/pkt_core.h>
#include "pcrp_parse.h"
#include "pcrp_wire.h"

/**
 * struct pcrp_path - headers of a control packet
 * @src: source address; an IPv4 address is mapped to IPv6
 * @dst: destination address
 * @vlan_proto: VLAN tag in the skb: protocol; 0: no tag
 * @vlan_tci: VLAN tag in the skb: VLAN id
 * @l2_len: length of @l2, bytes
 * @l2: Ethernet header, with the VLAN tags inside the packet
 */
struct pcrp_path {
	struct in6_addr src;
	struct in6_addr dst;
	__be16 vlan_proto;
	u16 vlan_tci;
	u8 l2_len;
	u8 l2[ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN];
};

bool pcrp_path_back(struct pcrp_path *path, const struct sk_buff *skb,
		    const struct pcrp_pkt *pkt);
struct sk_buff *pcrp_ctl_build(struct net_device *dev, const struct pcrp_path *path,
			       const struct pcrp_msg *msg, u8 dscp);
struct sk_buff *pcrp_ctl_beside(const struct sk_buff *data, const struct pcrp_pkt *pkt,
				const struct pcrp_msg *msg, u8 dscp);
bool pcrp_ctl_for_us(const struct sk_buff *skb, const struct pcrp_pkt *pkt);
u32 pcrp_ctl_count(const struct sk_buff *skb, const struct pcrp_pkt *pkt);
bool pcrp_ctl_read(const struct sk_buff *skb, const struct pcrp_pkt *pkt, u32 index,
		   struct pcrp_msg *msg);

#endif /* _PCRP_CTL_H */
