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
 * readers skip the later ones (struct ndp_part_cb). So it does not matter how a batch is divided
 * into fragments.
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
