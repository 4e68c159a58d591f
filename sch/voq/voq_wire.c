// SPDX-License-Identifier: GPL-2.0-only
/*
 * Credit messages
 *
 *	 0       1       2       3
 *	+-------+-------+-------+-------+
 *	|version|  op   | flags |   0   |
 *	|              id               |
 *	|            cookie             |
 *	|               0               |
 *	|            queued             |
 *	|                               |
 *	|            granted            |
 *	|                               |
 *	|             sent              |
 *	|                               |
 *	|    dst, 16 bytes              |
 *	|    MAC, 8 bytes, 0 without key|
 *	+-------+-------+-------+-------+
 *
 * Bytes are in network order. All messages have one length. To a forged source address, a port
 * sends one answer, and grants for the window and a packet at most.
 */
#include <closnet/pkt_core.h>
#include "voq_wire.h"

#define VOQ_F_RETRY	0x01U

/**
 * voq_msg_write() - write a message
 * @b: VOQ_MSG_LEN bytes; the MAC becomes 0
 * @m: the message
 */
void voq_msg_write(u8 *b, const struct voq_msg *m)
{
	u32 i;

	b[0] = VOQ_VERSION;
	b[1] = m->op;
	b[2] = m->retry ? VOQ_F_RETRY : 0;
	b[3] = 0;
	closnet_put32(b + 4, m->id);
	closnet_put32(b + 8, m->cookie);
	closnet_put32(b + 12, 0);
	closnet_put(b + 16, 8, m->queued);
	closnet_put(b + 24, 8, m->granted);
	closnet_put(b + 32, 8, m->sent);
	for (i = 0; i < VOQ_ADDR_LEN; i++)
		b[40 + i] = m->dst[i];
	closnet_put(b + VOQ_MSG_MAC, 8, 0);
}

/**
 * voq_msg_read() - read a message
 * @m: result
 * @b: the message
 * @len: its length in bytes
 *
 * Return: false if it makes no sense: then @m is undefined.
 */
bool voq_msg_read(struct voq_msg *m, const u8 *b, u32 len)
{
	u32 i;

	if (len != VOQ_MSG_LEN || b[0] != VOQ_VERSION || !b[1] || b[1] >= VOQ_OPS)
		return false;
	m->op = b[1];
	m->retry = b[2] & VOQ_F_RETRY;
	m->id = closnet_get32(b + 4);
	m->cookie = closnet_get32(b + 8);
	m->queued = closnet_get(b + 16, 8);
	m->granted = closnet_get(b + 24, 8);
	m->sent = closnet_get(b + 32, 8);
	for (i = 0; i < VOQ_ADDR_LEN; i++)
		m->dst[i] = b[40 + i];
	if (m->sent > m->granted && m->sent - m->granted > VOQ_OVERDRAW_MAX)
		return false;
	return m->sent <= m->queued && m->granted <= m->queued;
}
