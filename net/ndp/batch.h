/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: packets that leave the host as one
 *
 * Plain C. Lower layers see a batch as one packet; the NIC, or the kernel before it, segments it
 * (UDP GSO). All its packets take one path, one right behind the other:
 *
 *	| UDP | header | payload | header | payload | .. | header | rest |
 *	       <--  segment  -->  <--  segment  -->       <- the last -->
 *
 * All segments but the last have the same length; a shorter one ends the batch.
 */
#ifndef _NDP_BATCH_H
#define _NDP_BATCH_H

#include "wire.h"

#define NDP_BATCH_PACKETS	64	/* UDP_MAX_SEGMENTS, in each kernel */
/* 64 KiB without UDP, IP and Ethernet with two tags */
#define NDP_BATCH_BYTES		(65535U - 100)
/* fragments of a packet: its header, and two of payload at the end of a chunk */
#define NDP_BATCH_FRAGS		3
/* packets that find place in the fragments of a batch if their headers have memory of their own */
#define NDP_BATCH_APART		8

/**
 * struct ndp_batch - packets that leave as one; or a single packet
 * @bytes: sum of the packets with headers and tags
 * @payload: the first packet's, bytes; 0: the batch is closed
 * @packets: their number
 * @path: common path
 * @level: common level, see ndp_snd_level()
 */
struct ndp_batch {
	u32 bytes;
	u16 payload;
	u8 packets;
	u8 path;
	u8 level;
};

/**
 * ndp_batch_begin() - begin a batch
 * @path: path
 * @level: level
 * @len: payload of the first packet, bytes; 0: a batch of one packet
 *
 * Return: a batch of one packet.
 */
static inline struct ndp_batch ndp_batch_begin(u8 path, u8 level, u16 len)
{
	return (struct ndp_batch) {
		.bytes = NDP_HLEN_MAX + len, .payload = len, .packets = 1, .path = path,
		.level = level,
	};
}

/**
 * ndp_batch_takes() - check whether a packet may be added
 * @b: batch
 * @len: payload of the packet, bytes
 * @frags: fragments that the batch may still have
 * @most: packets of a batch, 1..NDP_BATCH_PACKETS
 *
 * Return: true if so.
 */
static inline bool ndp_batch_takes(const struct ndp_batch *b, u16 len, u32 frags, u32 most)
{
	return len <= b->payload && b->packets < most && frags >= NDP_BATCH_FRAGS &&
	       b->bytes + NDP_HLEN_MAX + len <= NDP_BATCH_BYTES;
}

/**
 * ndp_batch_add() - add a packet
 * @b: batch
 * @len: its payload, bytes
 */
static inline void ndp_batch_add(struct ndp_batch *b, u16 len)
{
	b->bytes += NDP_HLEN_MAX + len;
	b->packets++;
	if (len < b->payload)
		b->payload = 0;
}

#endif /* _NDP_BATCH_H */
