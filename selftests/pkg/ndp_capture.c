// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a capture with each type of NDP packet, as sent and as changed by switches. The headers
 * are written by net/ndp/wire.c, so that tools/wireshark/ndp.lua is tested with packets as the
 * module sends them.
 *
 * Usage: ndp_capture >FILE.pcap
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <closnet/pkt_core.h>

#include "../../net/ndp/path.h"
#include "../../net/ndp/wire.h"

#define FRAME_MAX	300
#define PATH_BASE	0x34
#define DSCP_TRIMMED	48
#define DSCP_RETURNED	49

/**
 * struct spec - form of a packet on the wire
 * @ipv6: IPv6, else IPv4
 * @back: sent from the receiver to the sender
 * @returned: returned by a switch, which swaps addresses and ports
 * @payload: bytes after the header, before trimming
 * @keep: frame length after trimming; 0: not trimmed
 * @stale_udp: the switch does not update the UDP length
 * @stale_ip: the switch does not update the IP length
 * @snap: bytes of the frame in the capture; 0: whole frame
 * @dscp: DSCP
 * @keyed: a tag follows the header
 * @flip: bit of the NDP header to invert, counted from 1; 0: no bit
 */
struct spec {
	bool ipv6;
	bool back;
	bool returned;
	u32 payload;
	u32 keep;
	bool stale_udp;
	bool stale_ip;
	u32 snap;
	u8 dscp;
	bool keyed;
	u32 flip;
};

static u8 frame[FRAME_MAX];
static u32 packets;

static void put(const void *b, size_t len)
{
	assert(fwrite(b, 1, len, stdout) == len);
}

static u32 sum16(const u8 *b, u32 len, u32 sum)
{
	u32 i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? b[i] : (u32)b[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The sender is 192.0.2.1 or 2001:db8::1, the receiver .2 or ::2 (RFC 5737, RFC 3849). */
static void put_address(u8 *b, bool ipv6, u8 host)
{
	static const u8 net4[] = { 192, 0, 2 }, net6[] = { 0x20, 0x01, 0x0d, 0xb8 };

	memset(b, 0, ipv6 ? 16 : 4);
	memcpy(b, ipv6 ? net6 : net4, ipv6 ? sizeof(net6) : sizeof(net4));
	b[ipv6 ? 15 : 3] = host;
}

static u32 put_ip(u8 *ip, const struct spec *s, u32 l4_len, u8 from, u8 to)
{
	if (s->ipv6) {
		closnet_put16(ip, (u16)(0x6000 | s->dscp << 6));
		closnet_put16(ip + 4, (u16)l4_len);
		ip[6] = 17;
		ip[7] = 64;
		put_address(ip + 8, true, from);
		put_address(ip + 24, true, to);
		return 40;
	}
	ip[0] = 0x45;
	ip[1] = (u8)(s->dscp << 2);
	closnet_put16(ip + 2, (u16)(20 + l4_len));
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 17;
	put_address(ip + 12, false, from);
	put_address(ip + 16, false, to);
	closnet_put16(ip + 10, (u16)~sum16(ip, 20, 0));
	return 20;
}

/* The checksum covers the packet as sent; trimming does not change it. */
static void put_udp_checksum(const u8 *ip, bool ipv6, u8 *udp, u32 len)
{
	u32 sum = sum16(ipv6 ? ip + 8 : ip + 12, ipv6 ? 32 : 8, 17 + len);

	closnet_put16(udp + 6, (u16)~sum16(udp, len, sum));
}

static void put_record(const struct spec *s, u32 len)
{
	u32 record[4] = { 1, packets * 10, s->snap ? s->snap : len, len };

	packets++;
	put(record, sizeof(record));
	put(frame, record[2]);
}

/* Write a packet: header @h, a payload in which each byte is its offset, changed as in @s. */
static void packet(const struct ndp_hdr *h, const struct spec *s)
{
	u32 hlen = s->keyed ? NDP_HLEN_MAX : NDP_HLEN, l4_len = 8 + hlen + s->payload, l4, len, i;
	u8 from = s->back != s->returned ? 2 : 1, to = 3 - from;
	u8 *ip = frame + 14, *udp;
	u16 entropy = ndp_path_port(PATH_BASE, h->path);

	memset(frame, 0, sizeof(frame));
	closnet_put(frame, 6, 0x020000000000 + to);
	closnet_put(frame + 6, 6, 0x020000000000 + from);
	closnet_put16(frame + 12, s->ipv6 ? 0x86dd : 0x0800);
	l4 = 14 + put_ip(ip, s, l4_len, from, to);
	udp = frame + l4;
	closnet_put16(udp, s->returned ? NDP_UDP_PORT : entropy);
	closnet_put16(udp + 2, s->returned ? entropy : NDP_UDP_PORT);
	closnet_put16(udp + 4, (u16)l4_len);
	ndp_hdr_write(h, udp + 8);
	if (s->keyed) {
		ndp_hdr_set_keyed(udp + 8);
		closnet_put(udp + 8 + NDP_HLEN, NDP_TAG_LEN, 0xa0a1a2a3a4a5a6a7);
	}
	for (i = 0; i < s->payload; i++)
		udp[8 + hlen + i] = (u8)i;
	put_udp_checksum(ip, s->ipv6, udp, l4_len);
	if (s->flip)
		udp[8 + (s->flip - 1) / 8] ^= (u8)(0x80 >> (s->flip - 1) % 8);
	len = s->keep ? s->keep : l4 + l4_len;
	assert(len <= FRAME_MAX);
	if (s->keep && !s->stale_udp)
		closnet_put16(udp + 4, (u16)(len - l4));
	if (s->keep && !s->stale_ip)
		put_ip(memset(ip, 0, l4 - 14), s, len - l4, from, to);
	put_record(s, len);
}

static const struct ndp_hdr data = {
	.type = NDP_DATA, .flags = NDP_DATA_SYN | NDP_DATA_SPEC, .path = 5,
	.payload_len = 150, .flow_id = 0xc0ffee01, .seq = 100, .sport = 4000, .dport = 80,
	.data = { .prio = 3, .msg_id = 7, .base = 98, .pull_target = 12, .offset = 300,
		  .msg_len = 1099511627775, .msg_base = 6 },
};

static const struct ndp_hdr ctl = {
	.type = NDP_CONTROL, .flags = NDP_CTL_ACK | NDP_CTL_ROOM, .path = 5, .flow_id = 0xc0ffee01,
	.seq = 100, .sport = 80, .dport = 4000,
	.ctl = { .ack_base = 98, .sack = 4, .nack = 1, .pull = 40, .trimmed = 3, .window = 23,
		 .token = 0x01234567 },
};

/* Usual packets of a flow */
static void whole(void)
{
	const struct spec there = { .payload = 150 }, back = { .back = true };
	struct ndp_hdr h = data;

	packet(&data, &there);
	h.flags = NDP_DATA_RTX | NDP_DATA_LAST;
	h.try_no = 1;
	h.path = 63;
	h.data.token = 0x01234567;
	packet(&h, &(struct spec) { .payload = 150, .ipv6 = true, .dscp = 10 });
	packet(&ctl, &back);
	h = ctl;
	h.flags = NDP_CTL_NACK | NDP_CTL_PULL;
	h.ctl.dsfield = DSCP_TRIMMED << 2 | 1;
	h.ctl.sack = 2;
	h.ctl.nack = 5;
	packet(&h, &(struct spec) { .back = true, .ipv6 = true });
	h = ctl;
	h.flags = NDP_CTL_PULL;
	h.seq = 0;
	h.path = 0;
	packet(&h, &back);
}

static void rare(void)
{
	const struct spec back = { .back = true };
	struct ndp_hdr h = {
		.type = NDP_PROBE, .path = 6, .flow_id = 0xc0ffee01, .seq = 0xffffffff,
		.sport = 4000, .dport = 80, .data = { .pull_target = 12 },
	};

	packet(&h, &(struct spec) {});
	h = ctl;
	h.flags = NDP_CTL_PROBED | NDP_CTL_PING;
	packet(&h, &back);
	ndp_answer(&data, NDP_ERROR, &h);
	h.err = (struct ndp_error) { .code = NDP_CODE_GONE, .msg_id = 7 };
	packet(&h, &back);
	ndp_answer(&data, NDP_COOKIE, &h);
	h.token = 0xfedcba98;
	packet(&h, &back);
	ndp_answer(&data, NDP_CONTROL, &h);
	h.flags = NDP_CTL_NACK | NDP_CTL_BARE;
	h.sport = 0;
	h.dport = 0;
	packet(&h, &back);
}

/* Trimming with all lengths updated, all but UDP's, no lengths; to 64 bytes; with a return */
static void trimmed(void)
{
	struct spec s = { .payload = 150, .keep = 128, .dscp = DSCP_TRIMMED };

	packet(&data, &s);
	s.stale_udp = true;
	s.ipv6 = true;
	packet(&data, &s);
	s.stale_ip = true;
	s.ipv6 = false;
	s.dscp = 0;
	packet(&data, &s);
	packet(&data, &(struct spec) { .payload = 150, .keep = 60, .dscp = DSCP_TRIMMED });
	s = (struct spec) { .payload = 150, .keep = 128, .returned = true };
	s.dscp = DSCP_RETURNED;
	packet(&data, &s);
}

/* Not changed by a switch: short capture, wrong bits, other version, reserved bit, truncated */
static void wrong(void)
{
	struct ndp_hdr h = data;

	packet(&data, &(struct spec) { .payload = 150, .snap = 128 });
	packet(&data, &(struct spec) { .payload = 150, .flip = 8 * 8 + 1 });
	packet(&data, &(struct spec) { .payload = 150, .flip = 8 * 24 + 1 });
	packet(&data, &(struct spec) { .payload = 150, .flip = 3 });
	h.flags |= 0x80;
	packet(&h, &(struct spec) { .payload = 150 });
	packet(&data, &(struct spec) { .payload = 150, .keep = 14 + 20 + 8 + 15 });
	packet(&ctl, &(struct spec) { .back = true, .keep = 14 + 20 + 8 + 55 });
}

/* No room for a packet, nor for a message */
static void refused(void)
{
	const struct spec back = { .back = true };
	struct ndp_hdr h = ctl;

	h.flags = NDP_CTL_FULL;
	h.ctl.window = 0;
	packet(&h, &back);
	ndp_answer(&data, NDP_ERROR, &h);
	h.err = (struct ndp_error) { .code = NDP_CODE_REFUSED, .msg_id = 7 };
	packet(&h, &back);
}

/* With a tag, whole and trimmed */
static void keyed(void)
{
	packet(&data, &(struct spec) { .payload = 150, .keyed = true });
	packet(&data, &(struct spec) { .payload = 150, .keyed = true, .keep = 128 });
}

/* The first packet of a message, which carries an ACK */
static void carrier(void)
{
	struct ndp_hdr h = data;

	h.flags = NDP_DATA_SYN | NDP_DATA_ACK;
	h.data.offset = 0;
	h.data.msg_len = 0xfedcba98;
	h.data.ack_delay = 23;
	h.data.ack_flow_id = 0xbeef0001;
	h.data.ack_seq = 41;
	packet(&h, &(struct spec) { .payload = 150 });
	packet(&h, &(struct spec) { .payload = 150, .ipv6 = true, .keep = 128 });
}

int main(void)
{
	/* magic number, version 2.4, UTC, snapshot length, Ethernet; host byte order */
	const u32 header[6] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, FRAME_MAX, 1 };

	put(header, sizeof(header));
	whole();
	rare();
	trimmed();
	wrong();
	refused();
	keyed();
	carrier();
	assert(!fflush(stdout));
	return 0;
}
