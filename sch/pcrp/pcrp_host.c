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
 * answers again. Callers look a peer up for each control packet, and when a flow begins
 * unless they remember the result for its 5-tuple: for 10 ms, and until any peer changes.
 *
 * The addresses are a qdisc's, under its root lock. The peers are those of all qdiscs of a
 * device, so that one REQUEST discovers a peer for all TX queues. Each set has a lock, which
 * may nest inside the root lock. pcrp_peers_count() reads peers locklessly.
 */

#include <linux/jiffies.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "pcrp_host.h"

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

static noinline bool pcrp_locals_query(struct pcrp_local_addr *a, const struct net_device *dev,
				       const struct in6_addr *addr)
{
	*a = (struct pcrp_local_addr) {
		.addr = *addr,
		.until = jiffies + PCRP_HOST_JIFFIES,
		.local = pcrp_addr_is_local(dev, addr),
	};
	return a->local;
}

/**
 * pcrp_locals_have() - test whether an address is the host's own
 * @l: the cache
 * @dev: the qdisc's device
 * @addr: the address
 * @hash: its pcrp_addr_hash()
 *
 * Return: true if so.
 */
bool pcrp_locals_have(struct pcrp_locals *l, const struct net_device *dev,
		      const struct in6_addr *addr, u32 hash)
{
	struct pcrp_local_addr *a = &l->addrs[hash % PCRP_LOCAL_ADDRS];

	if (likely(ipv6_addr_equal(&a->addr, addr) && time_before(jiffies, a->until)))
		return a->local;
	return pcrp_locals_query(a, dev, addr);
}

/* ---- peers ---- */

/**
 * pcrp_peers_init() - set up a cache without peers
 * @p: the cache, zeroed
 */
void pcrp_peers_init(struct pcrp_peers *p)
{
	u32 i;

	for (i = 0; i < PCRP_PEER_SETS; i++)
		spin_lock_init(&p->sets[i].lock);
}

/* Look a peer up, or add it, and lock its set. */
static struct pcrp_peer *pcrp_peers_lock(struct pcrp_peer_set *set, const struct in6_addr *addr)
	__acquires(&set->lock)
{
	struct pcrp_peer_entry *e, *oldest = set->ways;

	spin_lock(&set->lock);
	set->uses++;
	for (e = set->ways; e < set->ways + PCRP_PEER_WAYS; e++) {
		if (ipv6_addr_equal(&e->addr, addr)) {
			e->used = set->uses;
			return &e->peer;
		}
		if (e->used < oldest->used)
			oldest = e;
	}
	*oldest = (struct pcrp_peer_entry) { .addr = *addr, .used = set->uses };
	return &oldest->peer;
}

static struct pcrp_peer_set *pcrp_peers_set(struct pcrp_peers *p, u32 hash)
{
	return &p->sets[hash % PCRP_PEER_SETS];
}

/**
 * pcrp_peers_answers() - test whether a peer answers
 * @p: the cache
 * @addr: address of the peer
 * @hash: its pcrp_addr_hash(), with the seed of the device
 *
 * Return: true if it is known to answer.
 */
bool pcrp_peers_answers(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash)
{
	struct pcrp_peer_set *set = pcrp_peers_set(p, hash);
	bool answers = pcrp_peers_lock(set, addr)->state == PCRP_PEER_ANSWERING;

	spin_unlock(&set->lock);
	return answers;
}

/**
 * pcrp_peers_request() - pcrp_peer_request() for the peer with an address
 * @p: the cache
 * @addr: address of the peer
 * @hash: as for pcrp_peers_answers()
 * @gated: the flow waits for GRANTs
 * @now: the time, ns
 *
 * Return: true: send the request; false: ungate the flow.
 */
bool pcrp_peers_request(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash, bool gated,
			u64 now)
{
	struct pcrp_peer_set *set = pcrp_peers_set(p, hash);
	struct pcrp_peer *peer = pcrp_peers_lock(set, addr);
	u8 before = peer->state;
	bool may = pcrp_peer_request(peer, gated, now);

	if (peer->state != before)
		atomic_inc(&p->changes);
	spin_unlock(&set->lock);
	return may;
}

/**
 * pcrp_peers_answered() - pcrp_peer_answered() for the peer with an address
 * @p: the cache
 * @addr: address of the peer
 * @hash: as for pcrp_peers_answers()
 */
void pcrp_peers_answered(struct pcrp_peers *p, const struct in6_addr *addr, u32 hash)
{
	struct pcrp_peer_set *set = pcrp_peers_set(p, hash);
	struct pcrp_peer *peer = pcrp_peers_lock(set, addr);

	if (peer->state != PCRP_PEER_ANSWERING)
		atomic_inc(&p->changes);
	pcrp_peer_answered(peer);
	spin_unlock(&set->lock);
}

static void pcrp_peers_count_set(const struct pcrp_peer_set *set, u32 count[PCRP_PEER_STATES])
{
	const struct pcrp_peer_entry *e;

	for (e = set->ways; e < set->ways + PCRP_PEER_WAYS; e++) {
		u8 state = READ_ONCE(e->peer.state);

		if (READ_ONCE(e->used) && state < PCRP_PEER_STATES)
			count[state]++;
	}
}

/**
 * pcrp_peers_count() - count peers by state
 * @p: the cache
 * @count: result, by enum pcrp_peer_state
 */
void pcrp_peers_count(const struct pcrp_peers *p, u32 count[PCRP_PEER_STATES])
{
	u32 i;

	memset(count, 0, PCRP_PEER_STATES * sizeof(*count));
	for (i = 0; i < PCRP_PEER_SETS; i++)
		pcrp_peers_count_set(&p->sets[i], count);
}
