// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sch_pcrp remembers of addresses: the host's own, and peers
 *
 * Local addresses. A flow can wait for GRANTs only if they come back to this device. So
 * its source must be an address of the network namespace. Sockets do not show that:
 * forwarded packets have none, a VM's packets have the socket of its tap, and a
 * transparent proxy's socket may have any source. So the routing table is queried, and
 * the result is cached for 10 ms.
 *
 * Peers. A set-associative cache of fixed size: a new peer replaces the least recently
 * used one of its set. A forgotten peer is unknown, so flows to it are ungated until it
 * answers again. Callers look a peer up when a flow begins and for each control packet,
 * but not for each packet.
 *
 * Both caches are under the root lock. pcrp_hosts_count() reads peers locklessly.
 */

#include <linux/jiffies.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "pcrp_host.h"

/* 10 ms, but at least a tick */
#define PCRP_LOCAL_JIFFIES	(HZ / 100 + 1)

/**
 * pcrp_addr_is_local() - query the routing table for an address
 * @dev: a device of the namespace; selects the table of its VRF
 * @addr: the address; an IPv4 address is mapped to IPv6
 *
 * Return: true if the namespace has the address.
 */
bool pcrp_addr_is_local(const struct net_device *dev, const struct in6_addr *addr)
{
	struct net *net = dev_net(dev);

	if (ipv6_addr_v4mapped(addr))
		return inet_addr_type_dev_table(net, dev, addr->s6_addr32[3]) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(net, addr, NULL, 0);
}

static noinline bool pcrp_hosts_query(struct pcrp_local_addr *a, const struct net_device *dev,
				      const struct in6_addr *addr)
{
	*a = (struct pcrp_local_addr) {
		.addr = *addr,
		.until = jiffies + PCRP_LOCAL_JIFFIES,
		.local = pcrp_addr_is_local(dev, addr),
	};
	return a->local;
}

/**
 * pcrp_hosts_is_local() - test whether an address is the host's own
 * @h: the caches
 * @dev: the qdisc's device
 * @addr: the address
 * @hash: its pcrp_addr_hash()
 *
 * Return: true if so.
 */
bool pcrp_hosts_is_local(struct pcrp_hosts *h, const struct net_device *dev,
			 const struct in6_addr *addr, u32 hash)
{
	struct pcrp_local_addr *a = &h->local[hash % PCRP_LOCAL_ADDRS];

	if (likely(ipv6_addr_equal(&a->addr, addr) && time_before(jiffies, a->until)))
		return a->local;
	return pcrp_hosts_query(a, dev, addr);
}

/**
 * pcrp_hosts_peer() - look a peer up, or add it
 * @h: the caches
 * @addr: its address
 * @hash: its pcrp_addr_hash()
 *
 * Return: the peer, valid until the next call.
 */
struct pcrp_peer *pcrp_hosts_peer(struct pcrp_hosts *h, const struct in6_addr *addr, u32 hash)
{
	struct pcrp_peer_entry *set = h->peers[hash % PCRP_PEER_SETS], *e, *oldest = set;

	for (e = set; e < set + PCRP_PEER_WAYS; e++) {
		if (ipv6_addr_equal(&e->addr, addr)) {
			e->used = ++h->calls;
			return &e->peer;
		}
		if (e->used < oldest->used)
			oldest = e;
	}
	*oldest = (struct pcrp_peer_entry) { .addr = *addr, .used = ++h->calls };
	return &oldest->peer;
}

/**
 * pcrp_hosts_count() - count peers by state
 * @h: the caches
 * @count: result, by enum pcrp_peer_state
 */
void pcrp_hosts_count(const struct pcrp_hosts *h, u32 count[PCRP_PEER_STATES])
{
	const struct pcrp_peer_entry *e = h->peers[0];
	u32 i;

	memset(count, 0, PCRP_PEER_STATES * sizeof(*count));
	for (i = 0; i < PCRP_PEER_SETS * PCRP_PEER_WAYS; i++) {
		u8 state = READ_ONCE(e[i].peer.state);

		if (READ_ONCE(e[i].used) && state < PCRP_PEER_STATES)
			count[state]++;
	}
}
