// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a capture with each type of closfab packet. The headers are written by
 * net/closfab/fab_wire.c, so that tools/wireshark/closfab.lua is tested with packets as the module
 * sends them.
 *
 * Usage: fab_capture >FILE.pcap
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <closnet/pkt_core.h>

#include "../../net/closfab/fab_wire.h"

#define PORT		8474
#define ETH_IP		0x0800
#define ETH_IPV6	0x86dd

static u8 frame[300];
static u32 len, packets;

static u8 *put(u32 bytes)
{
	u8 *at = frame + len;

	len += bytes;
	assert(len <= sizeof(frame));
	memset(at, 0, bytes);
	return at;
}

static void put_ip(u8 protocol, u32 payload)
{
	static const u8 addresses[] = { 10, 9, 0, 1, 10, 9, 0, 2 };
	u8 *ip = put(20);

	ip[0] = 0x45;
	closnet_put16(ip + 2, 20 + payload);
	ip[8] = 64;
	ip[9] = protocol;
	memcpy(ip + 12, addresses, sizeof(addresses));
}

static void put_udp(u16 port, u32 payload)
{
	u8 *udp = put(8);

	closnet_put16(udp, 0xc123);
	closnet_put16(udp + 2, port);
	closnet_put16(udp + 4, 8 + payload);
}

/* The packet inside: UDP, or part of a packet */
static void put_inner(const struct fab_header *h)
{
	if (h->proto == ETH_IPV6) {
		u8 *ip = put(40);

		ip[0] = 0x60;
		ip[5] = 8;
		ip[6] = 17;
		ip[23] = 1;
		ip[39] = 2;
		put_udp(9, 0);
	} else if (h->op == FAB_CELL) {
		memset(put(16), 0xce, 16);
	} else if (h->proto) {
		put_ip(17, 8);
		put_udp(9, 0);
	}
}

static u32 inner_len(const struct fab_header *h)
{
	if (h->proto == ETH_IPV6)
		return 48;
	if (h->op == FAB_CELL)
		return 16;
	return h->proto ? 28 : 0;
}

static void write_frame(void)
{
	const u32 record[4] = { packets, 0, len, len };

	assert(fwrite(record, sizeof(record), 1, stdout) == 1);
	assert(fwrite(frame, len, 1, stdout) == 1);
	packets++;
}

/* @version: of the header; @cut: bytes that the UDP datagram lacks */
static void packet(const struct fab_header *h, u8 version, u32 cut)
{
	u32 mac = h->flags & FAB_F_KEYED ? FAB_MAC_LEN : 0;
	u32 payload = FAB_HLEN + mac + inner_len(h) - cut;
	u8 *header;

	len = 0;
	closnet_put16(put(14) + 12, ETH_IP);
	put_ip(17, 8 + payload);
	put_udp(PORT, payload);
	header = put(FAB_HLEN);
	fab_header_write(header, h);
	header[0] = version << 4 | h->op;
	if (mac)
		closnet_put(put(mac), mac, 0xfedcba9876543210);
	put_inner(h);
	len -= cut;
	write_frame();
}

int main(void)
{
	static const struct fab_header all[] = {
		{ FAB_DATA, 0, 0x0203, 0, ETH_IP, .cookie = 0xabcd0000 },
		{ FAB_ORDERED, 0, 0x0203, 0, ETH_IP, 0xabcd0005, 1000, .seq = 4000000001 },
		{ FAB_CELL, FAB_F_FIRST, 0x0103, 0, ETH_IP, 0xabcd0fff, 1001, .seq = 8 },
		{ FAB_CELL, FAB_F_LAST, 0x0103, 0, ETH_IP, 0xabcd0fff, 1002, .seq = 9 },
		{ FAB_CONWEAVE, FAB_F_RTT_REQUEST, 0x0400, 7, ETH_IPV6, 0xabcd0001, 1003, {} },
		{ FAB_CONWEAVE, FAB_F_TAIL, 0x0400, 7, ETH_IP, 0xabcd0001, 1004, .tail_us = 1004 },
		{ FAB_CONWEAVE, FAB_F_REROUTED, 0x0500, 7, ETH_IP, 0xabcd0001, 1005,
		  .tail_us = 1004 },
		{ FAB_REPLY, FAB_F_CE_ECHO | FAB_F_REFUSE, 0x0400, 7, 0, 0xabcd0001, 1003, {} },
		{ FAB_CLEAR, FAB_F_REFUSE, 0x0500, 7, 0, 0xabcd0001, 1004, {} },
		{ FAB_NOTIFY, 0, 0x0500, 7, 0, 0xabcd0001, 1005, {} },
		{ FAB_ORDERED, FAB_F_KEYED, 0x0203, 0, ETH_IP, 0xabcd0005, 1006, .seq = 1 },
	};
	/* microsecond timestamps, Ethernet */
	const u32 file[6] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1 };
	u32 i;

	assert(fwrite(file, sizeof(file), 1, stdout) == 1);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		packet(&all[i], FAB_VERSION, 0);
	packet(&all[0], FAB_VERSION + 1, 0);
	packet(&all[9], FAB_VERSION, 1);
	packet(&all[10], FAB_VERSION, 29);
	return 0;
}
