/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's control packets as skbs
 *
 * What they say is in pcrp_wire.h. Here is what is around that: Ethernet header
 * and VLAN tag, IP and UDP, checksums. A REQUEST or PROBE has the headers of a
 * data packet of its flow, so it takes the same way. A GRANT has those of the
 * REQUEST or PROBE that came last, with its ends swapped: so no route and no
 * neighbour has to be looked up, and it leaves by the device that the flow comes
 * in by.
 */
#ifndef _CLOSNET_PCRP_CTL_H
#define _CLOSNET_PCRP_CTL_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <closnet/pkt_core.h>
#include "pcrp_flow.h"
#include "pcrp_wire.h"

/**
 * struct pcrp_path - the headers around a control packet
 * @src: its source address; an IPv4 address as one of IPv6, mapped
 * @dst: its destination address
 * @vlan_proto: of the tag beside the packet; 0: there is none
 * @vlan_tci: of that tag
 * @l2_len: bytes of @l2
 * @l2: Ethernet header, with the tags that are inside the packet
 */
struct pcrp_path {
	struct in6_addr src;
	struct in6_addr dst;
	__be16 vlan_proto;
	u16 vlan_tci;
	u8 l2_len;
	u8 l2[ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN];
};

bool pcrp_path_ahead(struct pcrp_path *path, const struct sk_buff *skb,
		     const struct pcrp_pkt *pkt);
bool pcrp_path_back(struct pcrp_path *path, const struct sk_buff *skb,
		    const struct pcrp_pkt *pkt);

struct sk_buff *pcrp_ctl_build(struct net_device *dev, const struct pcrp_path *path,
			       const struct pcrp_msg *msg, u8 dscp);
struct sk_buff *pcrp_ctl_beside(const struct sk_buff *data, const struct pcrp_pkt *pkt,
				const struct pcrp_msg *msg, u8 dscp);

bool pcrp_addr_is_local(const struct net_device *dev, const struct in6_addr *addr);
bool pcrp_ctl_for_us(const struct sk_buff *skb, const struct pcrp_pkt *pkt);
u32 pcrp_ctl_count(const struct sk_buff *skb, const struct pcrp_pkt *pkt);
bool pcrp_ctl_read(const struct sk_buff *skb, const struct pcrp_pkt *pkt, u32 index,
		   struct pcrp_msg *msg);

#endif /* _CLOSNET_PCRP_CTL_H */
