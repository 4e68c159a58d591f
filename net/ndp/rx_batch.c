// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: batches that arrive as one
 *
 * A batch of the sender (batch.h) passes the loopback device, veth and bridges as one skb. The
 * packets of a NIC become one by GRO. UDP would segment it again, because encap_rcv() of a tunnel
 * must not see a batch that is no tunnel's. So a batch for this host is marked as one of a tunnel,
 * after routing: batches that are forwarded stay unchanged.
 *
 *	skb->data
 *	v
 *	+-----+--------+---------+--------+---------+--------+------+
 *	| UDP | header | payload | header | payload | header | rest |
 *	+-----+--------+---------+--------+---------+--------+------+
 *	       <--  gso_size  --> <--  gso_size  -->
 *
 * If receiver.c accepts a batch, its payload remains where it is: the first header is pulled, and
 * the later ones are cut off the fragments that begin with them, or are such a fragment. A batch
 * with a header in the middle of a fragment, from a TUN device for instance, is segmented.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "ndp.h"
#include "rx_batch.h"

#define NDP_UDP_HLEN	((u32)sizeof(struct udphdr))

/**
 * ndp_rx_batch_is() - check whether a UDP datagram is a batch
 * @skb: datagram
 * @off: bytes from skb->data to the UDP header
 *
 * Return: true if it has 2 to NDP_BATCH_PACKETS packets that may have a header.
 */
bool ndp_rx_batch_is(const struct sk_buff *skb, u32 off)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 len = skb->len - off - NDP_UDP_HLEN;

	return info->gso_type & SKB_GSO_UDP_L4 && !(info->gso_type & SKB_GSO_FRAGLIST) &&
	       skb->len > off + NDP_UDP_HLEN && info->gso_size >= NDP_NACK_HLEN &&
	       len > info->gso_size && len <= (u32)info->gso_size * NDP_BATCH_PACKETS;
}

/**
 * ndp_rx_batch_keep() - keep UDP from segmenting a batch for this host
 * @skb: datagram to this host
 * @off: bytes from skb->data to the UDP header
 */
void ndp_rx_batch_keep(struct sk_buff *skb, u32 off)
{
	struct udphdr buffer;
	const struct udphdr *uh;

	if (!ndp_rx_batch_is(skb, off))
		return;
	uh = skb_header_pointer(skb, (int)off, sizeof(buffer), &buffer);
	/* packet sockets may have clones, which share gso_type */
	if (uh && uh->dest == htons(NDP_UDP_PORT) && !skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
}

/* ---- headers between payload ---- */

/**
 * struct ndp_rx_strip - headers of a batch
 * @segment: bytes of each packet
 * @hlen: bytes of each header
 * @pos: bytes of the batch before the present piece of memory
 */
struct ndp_rx_strip {
	u32 segment;
	u32 hlen;
	u32 pos;
};

/* Bytes of a header at the beginning of a piece of memory */
static u32 ndp_rx_strip_cut(const struct ndp_rx_strip *s, u32 len)
{
	u32 at = s->pos % s->segment;

	return at < s->hlen ? min(s->hlen - at, len) : 0;
}

/* Does no further header begin in a piece of memory? */
static bool ndp_rx_strip_pass(struct ndp_rx_strip *s, u32 len)
{
	bool apart = s->pos % s->segment + len <= s->segment;

	s->pos += len;
	return apart;
}

static bool ndp_rx_strip_frags_pass(struct ndp_rx_strip *s, const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 i;

	for (i = 0; i < info->nr_frags; i++)
		if (!ndp_rx_strip_pass(s, skb_frag_size(&info->frags[i])))
			return false;
	return true;
}

/**
 * ndp_rx_batch_has_apart() - check whether the headers of a batch can be cut off
 * @skb: batch; skb->data is at UDP
 * @hlen: bytes of each header
 *
 * May copy the linear part.
 *
 * Return: false if the batch is to be segmented.
 */
bool ndp_rx_batch_has_apart(struct sk_buff *skb, u32 hlen)
{
	struct ndp_rx_strip s = { .segment = skb_shinfo(skb)->gso_size, .hlen = hlen };
	struct sk_buff *part;

	if (!pskb_may_pull(skb, NDP_UDP_HLEN + hlen))
		return false;
	/* clones share fragments */
	if (skb_cloned(skb) && (skb_has_frag_list(skb) || skb_unclone(skb, GFP_ATOMIC)))
		return false;
	if (!ndp_rx_strip_pass(&s, skb_headlen(skb) - NDP_UDP_HLEN) ||
	    !ndp_rx_strip_frags_pass(&s, skb))
		return false;
	skb_walk_frags(skb, part)
		if (skb_shared(part) || skb_cloned(part) || skb_has_frag_list(part) ||
		    !ndp_rx_strip_pass(&s, skb_headlen(part)) ||
		    !ndp_rx_strip_frags_pass(&s, part))
			return false;
	return true;
}

/* Cut headers off the fragments of a packet. Return: bytes that were cut off */
static u32 ndp_rx_strip_frags(struct ndp_rx_strip *s, struct sk_buff *skb)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	u32 i, cut, sum = 0;

	for (i = 0; i < info->nr_frags; i++) {
		cut = ndp_rx_strip_cut(s, skb_frag_size(&info->frags[i]));
		s->pos += skb_frag_size(&info->frags[i]);
		skb_frag_off_add(&info->frags[i], (int)cut);
		skb_frag_size_sub(&info->frags[i], (int)cut);
		sum += cut;
	}
	skb->len -= sum;
	skb->data_len -= sum;
	return sum;
}

/**
 * ndp_rx_batch_strip() - cut off the headers of a batch
 * @skb: batch; ndp_rx_batch_has_apart() holds. Result: only payload
 * @hlen: bytes of each header
 *
 * Its truesize stays the same: fragments without payload remain, with length 0.
 */
void ndp_rx_batch_strip(struct sk_buff *skb, u32 hlen)
{
	struct ndp_rx_strip s = { .segment = skb_shinfo(skb)->gso_size, .hlen = hlen };
	struct sk_buff *part;
	u32 cut, sum = 0;

	s.pos = skb_headlen(skb) - NDP_UDP_HLEN;
	__skb_pull(skb, NDP_UDP_HLEN + hlen);
	ndp_rx_strip_frags(&s, skb);
	skb_walk_frags(skb, part) {
		cut = ndp_rx_strip_cut(&s, skb_headlen(part));
		s.pos += skb_headlen(part);
		__skb_pull(part, cut);
		sum += cut + ndp_rx_strip_frags(&s, part);
	}
	skb->len -= sum;
	skb->data_len -= sum;
	skb_gso_reset(skb);
}
