/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sch_pcrp remembers of addresses: the host's own, and peers
 */
#ifndef _PCRP_HOST_H
#define _PCRP_HOST_H

#include <linux/in6.h>
#include <linux/netdevice.h>
#include "pcrp_peer.h"

#define PCRP_LOCAL_ADDRS	64
#define PCRP_PEER_SETS		256
#define PCRP_PEER_WAYS		4

/**
 * struct pcrp_local_addr - result of a routing table lookup
 * @addr: the address; an IPv4 address is mapped to IPv6
 * @until: jiffies at which the result expires
 * @local: the namespace has the address
 */
struct pcrp_local_addr {
	struct in6_addr addr;
	unsigned long until;
	bool local;
};

/**
 * struct pcrp_peer_entry - a peer
 * @addr: its address; an IPv4 address is mapped to IPv6. Zeroed: no peer
 * @used: time of its last use, in calls of pcrp_hosts_peer()
 * @peer: its state
 */
struct pcrp_peer_entry {
	struct in6_addr addr;
	u64 used;
	struct pcrp_peer peer;
};

/**
 * struct pcrp_hosts - both caches; zeroed at first
 * @local: results of lookups, by hash
 * @peers: sets of peers, by hash
 * @calls: calls of pcrp_hosts_peer()
 */
struct pcrp_hosts {
	struct pcrp_local_addr local[PCRP_LOCAL_ADDRS];
	struct pcrp_peer_entry peers[PCRP_PEER_SETS][PCRP_PEER_WAYS];
	u64 calls;
};

bool pcrp_addr_is_local(const struct net_device *dev, const struct in6_addr *addr);
bool pcrp_hosts_is_local(struct pcrp_hosts *h, const struct net_device *dev,
			 const struct in6_addr *addr, u32 hash);
struct pcrp_peer *pcrp_hosts_peer(struct pcrp_hosts *h, const struct in6_addr *addr, u32 hash);
void pcrp_hosts_count(const struct pcrp_hosts *h, u32 count[PCRP_PEER_STATES]);

#endif /* _PCRP_HOST_H */
