/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: a part of a message that arrived, in one skb
 *
 *	single packet	| payload |
 *	batch		| payload | header | payload | header | rest |
 *			 <segment> < hlen >
 */
#ifndef _NDP_RX_PART_H
#define _NDP_RX_PART_H

#include <linux/skbuff.h>

struct ndp_rx_msg;
struct ndp_sock;

/**
 * struct ndp_part_cb - skb->cb of a kept packet or batch
 * @offset: its payload's offset in the message
 * @memory: its memory, bytes
 * @len: payload, bytes
 * @segment: payload of each packet of a batch, but the last one's may be shorter
 * @hlen: bytes of the header between the payload of two packets; 0: a single packet
 */
struct ndp_part_cb {
	u64 offset;
	u32 memory;
	u32 len;
	u16 segment;
	u16 hlen;
};

static inline struct ndp_part_cb *ndp_part_cb(const struct sk_buff *skb)
{
	return (struct ndp_part_cb *)skb->cb;
}

/**
 * ndp_part_piece() - find payload of a kept packet or batch
 * @part: part
 * @at: offset in the part's payload
 * @len: bytes; result: those that no header divides
 *
 * Return: offset in the skb.
 */
static inline u32 ndp_part_piece(const struct ndp_part_cb *part, u32 at, u32 *len)
{
	if (!part->hlen)
		return at;
	*len = min_t(u32, *len, part->segment - at % part->segment);
	return at + at / part->segment * part->hlen;
}

/* rx_msg.c */
void ndp_rx_msg_add(struct ndp_rx_msg *rm, struct sk_buff *skb, struct ndp_part_cb part);

/* region.c */
void ndp_region_copy(struct ndp_sock *ns, const struct ndp_rx_msg *rm, const struct sk_buff *skb,
		     const struct ndp_part_cb *part);

#endif /* _NDP_RX_PART_H */
