// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers: the other devices of the fabric
 *
 * A peer is created by the first packet to it, or from it, and forgotten after FAB_PEER_IDLE. A
 * host can forge addresses, so packets from the network create at most as many as option "peers";
 * packets of further peers are delivered without order. Routes and filters of this host name the
 * peers of packets that are sent; twice as many are allowed for them. Memory is charged to the
 * creator of the device, who may be root of a user namespace.
 *
 * Lifetime: a peer is found under RCU. It is freed with its streams after a grace period in which
 * it cannot be found, and after the streams' timers have ended.
 */
#include <linux/random.h>
#include <linux/rculist.h>
#include "fab.h"

static struct hlist_head *fab_peer_head(struct fab_dev *fab, const struct in6_addr *addr)
{
	u64 hash = siphash(addr, sizeof(*addr), &fab->hash_key);

	return &fab->peers[hash >> (64 - FAB_PEER_BITS)];
}

/**
 * fab_peer_find() - find a peer
 * @fab: device
 * @addr: its address; IPv4 is mapped
 *
 * Context: RCU.
 *
 * Return: the peer, or NULL.
 */
struct fab_peer *fab_peer_find(struct fab_dev *fab, const struct in6_addr *addr)
{
	struct fab_peer *peer;

	hlist_for_each_entry_rcu(peer, fab_peer_head(fab, addr), node)
		if (ipv6_addr_equal(&peer->addr, addr))
			return peer;
	return NULL;
}

static struct fab_peer *fab_peer_alloc(struct fab_dev *fab, const struct in6_addr *addr)
{
	struct fab_peer *peer = fab_alloc(fab, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->fab = fab;
	peer->addr = *addr;
	peer->instance = get_random_u16();
	spin_lock_init(&peer->rtt_lock);
	xa_init_flags(&peer->streams, XA_FLAGS_LOCK_BH);
	return peer;
}

/*
 * Add a peer to the table. Return: the peer of that address, which another CPU may have added, or
 * NULL
 */
static struct fab_peer *fab_peer_insert(struct fab_dev *fab, struct fab_peer *peer, bool sends)
{
	u32 max = READ_ONCE(fab->options.peers) << sends;
	struct fab_peer *other = fab_peer_find(fab, &peer->addr);

	if (other)
		return other;
	if (!fab->up || fab->peer_count >= max)
		return NULL;
	hlist_add_head_rcu(&peer->node, fab_peer_head(fab, &peer->addr));
	fab->peer_count++;
	return peer;
}

/**
 * fab_peer_get() - find or create a peer
 * @fab: device
 * @addr: its address; IPv4 is mapped
 * @sends: a packet is sent to it, by a route of this host
 *
 * Context: RCU, BH off.
 *
 * Return: the peer; NULL if there are too many or there is no memory.
 */
struct fab_peer *fab_peer_get(struct fab_dev *fab, const struct in6_addr *addr, bool sends)
{
	struct fab_peer *peer = fab_peer_find(fab, addr), *own;

	if (likely(peer)) {
		if (time_after(jiffies, READ_ONCE(peer->used)))
			WRITE_ONCE(peer->used, jiffies);
		return peer;
	}
	own = fab_peer_alloc(fab, addr);
	if (!own)
		return NULL;
	own->used = jiffies;
	spin_lock(&fab->lock);
	peer = fab_peer_insert(fab, own, sends);
	spin_unlock(&fab->lock);
	if (peer != own)
		kfree(own);
	return peer;
}

/* ---- flow buckets ---- */

/**
 * fab_bucket_find() - find a flow bucket
 * @peer: peer
 * @bucket: its number, below FAB_BUCKETS_MAX
 *
 * Return: the bucket, or NULL if it was not used yet.
 */
struct fab_bucket *fab_bucket_find(const struct fab_peer *peer, u32 bucket)
{
	struct fab_bucket *chunk = READ_ONCE(peer->chunks[bucket / FAB_CHUNK]);

	return chunk ? &chunk[bucket % FAB_CHUNK] : NULL;
}

/**
 * fab_bucket_get() - find or create a flow bucket
 * @peer: peer
 * @bucket: its number, below FAB_BUCKETS_MAX
 *
 * Return: the bucket, or NULL if there is no memory.
 */
struct fab_bucket *fab_bucket_get(struct fab_peer *peer, u32 bucket)
{
	struct fab_bucket *found = fab_bucket_find(peer, bucket), *chunk;
	u32 i;

	if (likely(found))
		return found;
	chunk = fab_alloc(peer->fab, FAB_CHUNK * sizeof(*chunk));
	if (!chunk)
		return NULL;
	for (i = 0; i < FAB_CHUNK; i++)
		spin_lock_init(&chunk[i].lock);
	if (cmpxchg(&peer->chunks[bucket / FAB_CHUNK], NULL, chunk))
		kfree(chunk);
	return fab_bucket_find(peer, bucket);
}

/* ---- end ---- */

/* Free a peer that cannot be found, after a grace period. Streams: at most FAB_BUCKETS_MAX */
static void fab_peer_free(struct fab_peer *peer)
{
	struct fab_paths *paths = rcu_dereference_protected(peer->paths, 1);
	struct fab_stream *s;
	unsigned long index;
	u32 i;

	xa_for_each(&peer->streams, index, s)
		fab_stream_free(s);
	xa_destroy(&peer->streams);
	for (i = 0; i < FAB_CHUNKS; i++)
		kfree(peer->chunks[i]);
	fab_paths_put(paths);
	kfree(peer);
}

/* Take peers out of the table: all, or the idle ones. */
static void fab_peers_take(struct fab_dev *fab, bool all, struct list_head *gone)
{
	struct hlist_node *next;
	struct fab_peer *peer;
	u32 i;

	spin_lock_bh(&fab->lock);
	fab->up = fab->up && !all;
	for (i = 0; i < ARRAY_SIZE(fab->peers); i++)
		hlist_for_each_entry_safe(peer, next, &fab->peers[i], node) {
			if (!all && !time_after(jiffies, READ_ONCE(peer->used) + FAB_PEER_IDLE))
				continue;
			hlist_del_rcu(&peer->node);
			list_add(&peer->gone, gone);
			fab->peer_count--;
		}
	spin_unlock_bh(&fab->lock);
}

static void fab_peers_end(struct fab_dev *fab, bool all)
{
	struct fab_peer *peer, *next;
	LIST_HEAD(gone);

	fab_peers_take(fab, all, &gone);
	if (list_empty(&gone))
		return;
	synchronize_net();
	list_for_each_entry_safe(peer, next, &gone, gone)
		fab_peer_free(peer);
}

/**
 * fab_peers_remove() - forget all peers, and create no more
 * @fab: device
 *
 * Context: process; may sleep.
 */
void fab_peers_remove(struct fab_dev *fab)
{
	fab_peers_end(fab, true);
}

/**
 * fab_peers_gc() - forget idle peers
 * @work: fab_dev's @gc
 */
void fab_peers_gc(struct work_struct *work)
{
	struct fab_dev *fab = container_of(to_delayed_work(work), struct fab_dev, gc);

	fab_peers_end(fab, false);
	schedule_delayed_work(&fab->gc, FAB_PEER_PERIOD);
}
