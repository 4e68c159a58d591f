/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts that sch_pcrp sends to, by address
 *
 * A cache of fixed size, of sets of a few: a host takes the place of the one in its
 * set that was asked for longest ago. A host that was forgotten is unknown: what
 * goes to it is sent ungated until it answers again. So who asks is to ask anew
 * each time, which is when a flow begins, a control packet is sent or a GRANT comes,
 * not for each packet.
 *
 * All of it is under the root lock; the dump reads without.
 */
#ifndef _CLOSNET_PCRP_PEERS_H
#define _CLOSNET_PCRP_PEERS_H

#include <net/ipv6.h>
#include "pcrp_flow.h"
#include "pcrp_peer.h"

#define PCRP_PEER_SETS		256
#define PCRP_PEER_WAYS		4

/**
 * struct pcrp_host - a host
 * @addr: its address; an IPv4 address mapped. All 0: there is none
 * @used: when it was asked for, in calls of pcrp_peers_get()
 * @peer: what is known of it
 */
struct pcrp_host {
	struct in6_addr addr;
	u64 used;
	struct pcrp_peer peer;
};

/**
 * struct pcrp_peers - all hosts
 * @hosts: the sets
 * @calls: of pcrp_peers_get()
 */
struct pcrp_peers {
	struct pcrp_host hosts[PCRP_PEER_SETS][PCRP_PEER_WAYS];
	u64 calls;
};

/**
 * pcrp_peers_get() - what is known of a host
 * @p: all hosts
 * @addr: address of the one
 * @hash: its pcrp_addr_hash()
 *
 * Return: that, until the next call; of a host that was not known, nothing.
 */
static inline struct pcrp_peer *pcrp_peers_get(struct pcrp_peers *p,
					       const struct in6_addr *addr, u32 hash)
{
	u32 set = hash % PCRP_PEER_SETS;
	struct pcrp_host *host = p->hosts[set], *oldest = host;

	for (; host < p->hosts[set] + PCRP_PEER_WAYS; host++) {
		if (ipv6_addr_equal(&host->addr, addr)) {
			host->used = ++p->calls;
			return &host->peer;
		}
		if (host->used < oldest->used)
			oldest = host;
	}
	*oldest = (struct pcrp_host) { .addr = *addr, .used = ++p->calls };
	return &oldest->peer;
}

/**
 * pcrp_peers_count() - count hosts by what is known of them
 * @p: all hosts
 * @count: result, by enum pcrp_peer_state
 */
static inline void pcrp_peers_count(const struct pcrp_peers *p, u32 count[PCRP_PEER_STATES])
{
	const struct pcrp_host *host = p->hosts[0];
	u32 i;

	memset(count, 0, PCRP_PEER_STATES * sizeof(*count));
	for (i = 0; i < PCRP_PEER_SETS * PCRP_PEER_WAYS; i++) {
		u8 state = READ_ONCE(host[i].peer.state);

		if (READ_ONCE(host[i].used) && state < PCRP_PEER_STATES)
			count[state]++;
	}
}

#endif /* _CLOSNET_PCRP_PEERS_H */
