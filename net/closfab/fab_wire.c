// SPDX-License-Identifier: GPL-2.0-only
/*
 * The header of closfab's packets
 *
 *	 0                   1                   2                   3
 *	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *	+-------+-------+---------------+-------------------------------+
 *	| ver 1 |  op   |     flags     |            path               |
 *	+-------+-------+---------------+-------------------------------+
 *	|            epoch              |      EtherType of the packet  |
 *	+-------------------------------+-------------------------------+
 *	|          instance             |            bucket             |
 *	+-------------------------------+-------------------------------+
 *	|              clock of the sender of data, µs                  |
 *	+---------------------------------------------------------------+
 *	|      clock at TAIL, µs (ConWeave) | sequence number (else)    |
 *	+---------------------------------------------------------------+
 *	|             MAC, 8 bytes, if flag KEYED is set                |
 *	|                                                               |
 *	+---------------------------------------------------------------+
 *
 * UDP is below it. The UDP source port is the entropy of the path, so that unmodified spines
 * spread paths by their own hash. Numbers are in network byte order.
 *
 * Differences from the paper (ConWeave, SIGCOMM 2023, Figure 10): its header is in reserved bits
 * of RoCE's BTH, so that only RoCE can be balanced. With 32-bit clocks and 16-bit epochs, they do
 * not wrap within the life of a packet (the paper's footnote 6).
 */
#include <linux/if_ether.h>
#include <closnet/pkt_core.h>
#include "fab_wire.h"

/* Flags that each kind may have */
static const u8 fab_flags[FAB_OPS] = {
	[FAB_DATA]	= FAB_F_KEYED,
	[FAB_ORDERED]	= FAB_F_KEYED,
	[FAB_CELL]	= FAB_F_KEYED | FAB_F_FIRST | FAB_F_LAST,
	[FAB_CONWEAVE]	= FAB_F_KEYED | FAB_F_RTT_REQUEST | FAB_F_TAIL | FAB_F_REROUTED,
	[FAB_REPLY]	= FAB_F_KEYED | FAB_F_CE_ECHO | FAB_F_REFUSE,
	[FAB_CLEAR]	= FAB_F_KEYED | FAB_F_REFUSE,
	[FAB_NOTIFY]	= FAB_F_KEYED,
};

/* Can a packet have these flags? It opens an epoch, ends a path, or follows TAIL. */
static bool fab_flags_are_valid(u8 op, u8 flags)
{
	u8 marks = flags & (FAB_F_RTT_REQUEST | FAB_F_TAIL | FAB_F_REROUTED);

	return !(flags & ~fab_flags[op]) && !(marks & (marks - 1));
}

/* Data have an IP packet, control packets end with the header. */
static bool fab_rest_is_valid(const struct fab_header *h, u32 rest)
{
	if (fab_op_is_control(h->op))
		return !rest && !h->proto;
	return rest && (h->proto == ETH_P_IP || h->proto == ETH_P_IPV6);
}

/**
 * fab_header_read() - read and check the header of a packet
 * @h: result
 * @b: the packet, behind UDP's header; min(@len, FAB_HLEN) bytes can be read
 * @len: length of the packet
 *
 * The MAC is not checked.
 *
 * Return: length of the header with the MAC, or 0 if it is not valid.
 */
u32 fab_header_read(struct fab_header *h, const u8 *b, u32 len)
{
	u32 hlen = FAB_HLEN;

	if (len < FAB_HLEN || b[0] >> 4 != FAB_VERSION || (b[0] & 0xf) >= FAB_OPS)
		return 0;
	h->op = b[0] & 0xf;
	h->flags = b[1];
	h->path = closnet_get16(b + 2);
	h->epoch = closnet_get16(b + 4);
	h->proto = closnet_get16(b + 6);
	h->cookie = closnet_get32(b + 8);
	h->tx_us = closnet_get32(b + 12);
	h->tail_us = closnet_get32(b + 16);

	if (h->flags & FAB_F_KEYED)
		hlen += FAB_MAC_LEN;
	if (len < hlen || !fab_flags_are_valid(h->op, h->flags) ||
	    !fab_rest_is_valid(h, len - hlen) || fab_cookie_bucket(h->cookie) >= FAB_BUCKETS_MAX)
		return 0;
	return hlen;
}

/**
 * fab_header_write() - write the header of a packet
 * @b: place for FAB_HLEN bytes
 * @h: the header
 */
void fab_header_write(u8 *b, const struct fab_header *h)
{
	b[0] = FAB_VERSION << 4 | h->op;
	b[1] = h->flags;
	closnet_put16(b + 2, h->path);
	closnet_put16(b + 4, h->epoch);
	closnet_put16(b + 6, h->proto);
	closnet_put32(b + 8, h->cookie);
	closnet_put32(b + 12, h->tx_us);
	closnet_put32(b + 16, h->tail_us);
}
