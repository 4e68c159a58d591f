/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link rates of network devices, kept by module closnet_cc
 *
 * A qdisc that needs a device's rate once uses <closnet/link_rate.h> instead.
 */
#ifndef _CLOSNET_CC_LINK_H
#define _CLOSNET_CC_LINK_H

#include <linux/math64.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct net;
struct net_device;

/* Fraction bits of the serialisation time of a byte */
#define CLOSNET_CC_BYTE_SHIFT	24

/**
 * struct closnet_cc_rate - rate of a link
 * @Mbps: rate, as ethtool shows it; 0: unknown
 * @byte_time: serialisation time of a byte, ns, Q40.24; 0: unknown. At 1 Mbit/s,
 *	the product with 2^26 bytes fits 64 bits.
 */
struct closnet_cc_rate {
	u32 Mbps;
	u64 byte_time;
};

static inline u64 closnet_cc_byte_time(u32 Mbps)
{
	return Mbps ? div_u64((u64)8000 << CLOSNET_CC_BYTE_SHIFT, Mbps) : 0;
}

/**
 * struct closnet_cc_link - link of a network device
 * @rate: rate; updated when the state of the link changes, read with READ_ONCE()
 * @ifindex: index of the device; 0: the device is unregistered
 * @dev: device, for comparison only
 * @users: references
 * @rcu: frees the link
 */
struct closnet_cc_link {
	struct closnet_cc_rate rate;
	int ifindex;
	const struct net_device *dev;
	refcount_t users;
	struct rcu_head rcu;
};

struct closnet_cc_link *closnet_cc_link_replace(struct closnet_cc_link *old, const struct net *net,
						int ifindex);
void closnet_cc_link_put(struct closnet_cc_link *link);
u32 closnet_cc_link_Mbps(const struct net *net, int ifindex);

/* for the module itself */
int closnet_cc_links_register(void);
void closnet_cc_links_unregister(void);

#endif /* _CLOSNET_CC_LINK_H */
