// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: pairs of addresses, with their routes and paths
 *
 * A peer is there as long as somebody counts it. The last ndp_peer_put() takes it out of
 * the table; until it has done so, others find a peer without references, and take it
 * out themselves. So nobody ever waits for one who may have been interrupted.
 */

#include <linux/random.h>
#include <linux/slab.h>
#include "ndp.h"

static const struct rhashtable_params ndp_peer_params = {
	.head_offset = offsetof(struct ndp_peer, node),
	.key_offset = offsetof(struct ndp_peer, addrs),
	.key_len = sizeof(struct ndp_addrs),
	.automatic_shrinking = true,
};

static_assert(sizeof(struct ndp_addrs) == 2 * sizeof(struct in6_addr) + sizeof(int),
	      "a key, without holes");

static void ndp_peer_free(struct ndp_peer *peer)
{
	dst_cache_destroy(&peer->dst);
	kfree(peer->paths.order);
	kfree(peer->paths.path);
	kfree(peer);
}

static void ndp_peer_free_rcu(struct rcu_head *rcu)
{
	ndp_peer_free(container_of(rcu, struct ndp_peer, rcu));
}

/* One that is not yet in the table; the caller counts it. */
static struct ndp_peer *ndp_peer_new(struct ndp_net *nn, const struct ndp_addrs *addrs)
{
	u32 count = (u32)READ_ONCE(nn->conf.paths);
	struct ndp_peer *peer;
	struct ndp_path *path;
	u8 *order;

	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	path = kmalloc_array(count, sizeof(*path), GFP_ATOMIC | __GFP_NOWARN);
	order = kmalloc(count, GFP_ATOMIC | __GFP_NOWARN);
	if (!path || !order) {
		kfree(order);
		kfree(path);
		kfree(peer);
		return NULL;
	}
	/*
	 * Without it each packet looks for its route. Of some hundred peers in a row the per-CPU
	 * allocator refuses the rest, as it fills itself up again only in process context.
	 */
	dst_cache_init(&peer->dst, GFP_ATOMIC | __GFP_NOWARN);
	peer->addrs = *addrs;
	peer->nn = nn;
	refcount_set(&peer->refs, 1);
	peer->port_base = get_random_u16();
	spin_lock_init(&peer->lock);
	ndp_paths_init(&peer->paths, path, order, count);
	return peer;
}

/* The peer in the table, @peer itself if there is none yet. Counted; NULL: no memory */
static struct ndp_peer *ndp_peer_insert(struct ndp_net *nn, struct ndp_peer *peer)
{
	struct ndp_peer *old;

	for (;;) {
		old = rhashtable_lookup_get_insert_fast(&nn->peers, &peer->node,
							ndp_peer_params);
		if (!old)
			return peer;
		if (IS_ERR(old))
			return NULL;
		if (refcount_inc_not_zero(&old->refs))
			return old;
		rhashtable_remove_fast(&nn->peers, &old->node, ndp_peer_params);
	}
}

/**
 * ndp_peer_find() - the peer that there is
 * @nn: namespace
 * @addrs: from where to where
 *
 * Under RCU.
 *
 * Return: it, not counted: it may have been put; NULL: none.
 */
struct ndp_peer *ndp_peer_find(struct ndp_net *nn, const struct ndp_addrs *addrs)
{
	return rhashtable_lookup(&nn->peers, addrs, ndp_peer_params);
}

/**
 * ndp_peer_get() - find a peer, or make it
 * @nn: namespace
 * @addrs: from where to where; @addrs->ifindex is 0 unless @addrs->remote is link-local
 *
 * Any context.
 *
 * Return: the peer, counted; NULL: there is no memory for it.
 */
struct ndp_peer *ndp_peer_get(struct ndp_net *nn, const struct ndp_addrs *addrs)
{
	struct ndp_peer *peer, *made;

	rcu_read_lock();
	peer = ndp_peer_find(nn, addrs);
	if (peer && refcount_inc_not_zero(&peer->refs))
		goto out;
	made = ndp_peer_new(nn, addrs);
	peer = made ? ndp_peer_insert(nn, made) : NULL;
	if (made && peer != made)
		ndp_peer_free(made);
out:
	rcu_read_unlock();
	return peer;
}

/**
 * ndp_peer_memory() - what a peer takes; each of its flows is charged for it
 * @peer: it
 *
 * Return: bytes.
 */
u32 ndp_peer_memory(const struct ndp_peer *peer)
{
	return (u32)(sizeof(*peer) + peer->paths.count * (sizeof(*peer->paths.path) + 1));
}

/**
 * ndp_peer_put() - a peer is needed no longer
 * @peer: it
 *
 * Any context.
 */
void ndp_peer_put(struct ndp_peer *peer)
{
	if (!refcount_dec_and_test(&peer->refs))
		return;
	/* -ENOENT: ndp_peer_insert() has done it */
	rhashtable_remove_fast(&peer->nn->peers, &peer->node, ndp_peer_params);
	call_rcu(&peer->rcu, ndp_peer_free_rcu);
}

/**
 * ndp_peers_init() - for a new namespace
 * @nn: it
 *
 * Return: 0 or a negative error.
 */
int ndp_peers_init(struct ndp_net *nn)
{
	return rhashtable_init(&nn->peers, &ndp_peer_params);
}

/**
 * ndp_peers_exit() - take back ndp_peers_init(); nobody counts a peer any more
 * @nn: namespace
 */
void ndp_peers_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->peers.nelems));
	rhashtable_destroy(&nn->peers);
}
