/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: which packets leave the host as one
 *
 * Plain C, no kernel types, so that the unit test runs the very code that the module
 * runs.
 *
 * A batch is what lower layers see as one packet and the NIC, or the kernel before it, cuts
 * (UDP generic segmentation offload). All its packets have one UDP source port, so one path,
 * and so do they go one right behind the other:
 *
 *	| UDP | header | payload | header | payload | .. | header | rest |
 *	       <--  segment  -->  <--  segment  -->       <- the last -->
 *
 * All segments but the last have the same length; a shorter one ends the batch.
 */
#ifndef _NDP_BATCH_H
#define _NDP_BATCH_H

#include <closnet/core.h>
#include "ndp_wire.h"

#define NDP_BATCH_PACKETS	64	/* UDP_MAX_SEGMENTS of all kernels */
/* UDP, IP and Ethernet with two tags have less than 100, of the 64 KiB of a packet. */
#define NDP_BATCH_BYTES		(65535U - 100)
/* Fragments that a packet needs: its header, and two of payload, at the end of a chunk */
#define NDP_BATCH_FRAGS		3

/**
 * struct ndp_batch - packets that leave as one; or one, alone
 * @bytes: of all, with their headers
 * @payload: bytes of the first one's; 0: no other may go with it
 * @packets: how many there are
 * @path: that of all of them
 */
struct ndp_batch {
	u32 bytes;
	u16 payload;
	u8 packets;
	u8 path;
};

/**
 * ndp_batch_begin() - a packet, that others may go with
 * @path: its path
 * @len: its payload, bytes; 0: no other may
 *
 * Return: a batch of one packet.
 */
static inline struct ndp_batch ndp_batch_begin(u8 path, u16 len)
{
	return (struct ndp_batch) {
		.bytes = NDP_HLEN + len, .payload = len, .packets = 1, .path = path,
	};
}

/**
 * ndp_batch_takes() - may one more packet go with those that are there?
 * @b: these
 * @len: payload of the next one, bytes
 * @frags: fragments that the batch may still have
 * @most: packets of a batch, 1..NDP_BATCH_PACKETS
 *
 * Return: true if so.
 */
static inline bool ndp_batch_takes(const struct ndp_batch *b, u16 len, u32 frags, u32 most)
{
	return len <= b->payload && b->packets < most && frags >= NDP_BATCH_FRAGS &&
	       b->bytes + NDP_HLEN + len <= NDP_BATCH_BYTES;
}

/**
 * ndp_batch_add() - a packet goes with those that are there
 * @b: these
 * @len: its payload, bytes
 */
static inline void ndp_batch_add(struct ndp_batch *b, u16 len)
{
	b->bytes += NDP_HLEN + len;
	b->packets++;
	if (len < b->payload)
		b->payload = 0;
}

#endif /* _NDP_BATCH_H */
