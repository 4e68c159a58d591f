/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which packets are this host's own
 *
 * GRANTs come to the source of what asks for them. So a flow can wait for them only if
 * this device is where they end: its source is an address of the namespace, and the
 * frame has the device's own Ethernet address. What a router forwards, or a bridge or
 * macvlan passes on for a VM or a container, is somebody else's.
 *
 * Sockets do not tell that: forwarded packets have none, what a VM sends has its tap's,
 * and a transparent proxy's may have any address. So the address is looked up. As a
 * host has few of them, answers are remembered for a short time.
 *
 * All of it is under the root lock.
 */
#ifndef _CLOSNET_PCRP_OWN_H
#define _CLOSNET_PCRP_OWN_H

#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include "pcrp_ctl.h"
#include "pcrp_flow.h"

#define PCRP_OWN_ADDRS		64
/* An answer is remembered for 10 ms, at least a tick. */
#define PCRP_OWN_JIFFIES	(HZ / 100 + 1)

/**
 * struct pcrp_own_addr - an address, and what the routing table says of it
 * @addr: the address; an IPv4 address mapped
 * @until: jiffies up to which that holds
 * @own: it is one of the namespace's
 */
struct pcrp_own_addr {
	struct in6_addr addr;
	unsigned long until;
	bool own;
};

/**
 * struct pcrp_own - what is remembered; zeros at first
 * @addrs: by hash
 */
struct pcrp_own {
	struct pcrp_own_addr addrs[PCRP_OWN_ADDRS];
};

static noinline bool pcrp_own_ask(struct pcrp_own_addr *a, const struct net_device *dev,
				  const struct in6_addr *addr)
{
	*a = (struct pcrp_own_addr) {
		.addr = *addr,
		.until = jiffies + PCRP_OWN_JIFFIES,
		.own = pcrp_addr_is_local(dev, addr),
	};
	return a->own;
}

/**
 * pcrp_own_has() - is that an address of this host?
 * @o: what is remembered
 * @dev: the qdisc's device
 * @addr: the address
 * @hash: its pcrp_addr_hash()
 *
 * Return: true if so.
 */
static inline bool pcrp_own_has(struct pcrp_own *o, const struct net_device *dev,
				const struct in6_addr *addr, u32 hash)
{
	struct pcrp_own_addr *a = &o->addrs[hash % PCRP_OWN_ADDRS];

	if (likely(ipv6_addr_equal(&a->addr, addr) && time_before(jiffies, a->until)))
		return a->own;
	return pcrp_own_ask(a, dev, addr);
}

/**
 * pcrp_own_l2() - does a frame have the device's Ethernet address for a source?
 * @skb: the packet, skb->data at its L2 header
 * @dev: the qdisc's device
 *
 * Return: true if so.
 */
static inline bool pcrp_own_l2(const struct sk_buff *skb, const struct net_device *dev)
{
	const struct ethhdr *eth;
	struct ethhdr buffer __uninitialized;

	eth = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	return eth && ether_addr_equal(eth->h_source, dev->dev_addr);
}

#endif /* _CLOSNET_PCRP_OWN_H */
