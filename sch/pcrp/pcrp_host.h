/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sch_pcrp remembers of addresses: the host's own, and peers
 */
#ifndef _PCRP_HOST_H
#define _PCRP_HOST_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include "pcrp_peer.h"

/* Lifetime of cached facts about an address: 10 ms, but at least a tick */
#define PCRP_HOST_JIFFIES	(HZ / 100 + 1)
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
 * struct pcrp_locals - the host's own addresses; zeroed at first
 * @addrs: results of lookups, by hash
 */
struct pcrp_locals {
	struct pcrp_local_addr addrs[PCRP_LOCAL_ADDRS];
};

/**
 * struct pcrp_peer_entry - a peer
 * @addr: its address; an IPv4 address is mapped to IPv6. Zeroed: no peer
 * @used: time of its last use, in uses of its set
 * @peer: its state
 */
struct pcrp_peer_entry {
	struct in6_addr addr;
	u64 used;
	struct pcrp_peer peer;
};

/**
 * struct pcrp_peer_set - peers whose hashes select the same set
 * @lock: protects the set; softirqs are off
 * @uses: uses of the set
 * @ways: the peers
 */
struct pcrp_peer_set {
	spinlock_t lock;	/* protects the set */
	u64 uses;
	struct pcrp_peer_entry ways[PCRP_PEER_WAYS];
};

/**
 * struct pcrp_peers - peers of a device
 * @changes: number of times that a peer began to answer, or became silent
 * @sets: sets, by hash of the address
 */
struct pcrp_peers {
	atomic_t changes;
	struct pcrp_peer_set sets[PCRP_PEER_SETS];
};

bool pcrp_addr_is_local(const struct net_device *dev, const struct in6_addr *addr);
bool pcrp_locals_have(struct pcrp_locals *l, const struct net_device *dev,
		      const struct in6_addr *addr, u32 hash);
void pcrp_peers_init(struct pcrp_peers *p);
bool pcrp_peers_answers(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash);
bool pcrp_peers_request(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash, bool gated,
			u64 now);
void pcrp_peers_answered(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash);
void pcrp_peers_count(const struct pcrp_peers *p, u32 count[PCRP_PEER_STATES]);

#endif /* _PCRP_HOST_H */
