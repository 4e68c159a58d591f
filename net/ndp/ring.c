// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: memory of scoreboards
 */
#include <linux/slab.h>
#include "ndp.h"

/**
 * ndp_tx_alloc_ring() - allocate the memory of a scoreboard
 * @sk: socket to which it is charged
 * @packets: its size, a power of 2
 *
 * Process context.
 *
 * Return: ring; without memory if no memory is left.
 */
struct ndp_tx_ring ndp_tx_alloc_ring(struct sock *sk, u32 packets)
{
	struct ndp_tx_ring ring = { .packets = packets };
	u32 bytes = ndp_sb_bytes(packets);

	if (!ndp_mem_charge_flow(sk, bytes))
		return ring;
	ring.mem = kvzalloc(bytes, GFP_KERNEL);
	if (!ring.mem)
		ndp_mem_uncharge_flow(sk, bytes);
	return ring;
}

/**
 * ndp_tx_free_ring() - free the memory of a scoreboard
 * @sk: socket to which it is charged
 * @ring: ring, which may have no memory
 */
void ndp_tx_free_ring(struct sock *sk, struct ndp_tx_ring ring)
{
	if (!ring.mem)
		return;
	kvfree(ring.mem);
	ndp_mem_uncharge_flow(sk, ndp_sb_bytes(ring.packets));
}

/**
 * ndp_tx_take_ring() - take the ring of an idle or freed flow
 * @tx: flow
 *
 * Return: its ring.
 */
struct ndp_tx_ring ndp_tx_take_ring(struct ndp_tx *tx)
{
	struct ndp_scoreboard *sb = &tx->f.sb;
	struct ndp_tx_ring ring = { .mem = sb->pkt, .packets = sb->mask + 1 };

	sb->pkt = NULL;
	return ring;
}
