// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_plain.h: a packet belongs to a flow only if all bytes that the full parser reads
 * agree, and then its key equals the flow's
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_plain.h"

#define PAYLOAD		100
#define SEQ		0x12345678

/**
 * struct packet - a packet and the key of its flow
 * @key: key
 * @b: bytes, on the heap, where ASan finds reads behind the linear ones
 * @linear: bytes in @b
 * @len: length of the packet
 * @l4: offset of the L4 header
 */
struct packet {
	struct pcrp_key key;
	u8 *b;
	u32 linear;
	u32 len;
	u32 l4;
};

static void put_ipv4(struct packet *p, u8 proto)
{
	u8 *ip = p->b + ETH_HLEN;

	closnet_put16(p->b + 12, ETH_P_IP);
	ip[0] = 0x45;
	ip[1] = 0xb9;
	closnet_put16(ip + 2, p->len - ETH_HLEN);
	closnet_put16(ip + 6, 0x4000);	/* DF */
	ip[9] = proto;
	memcpy(ip + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
	memset(&p->key.src.s6_addr[10], 0xff, 2);
	memset(&p->key.dst.s6_addr[10], 0xff, 2);
	memcpy(&p->key.src.s6_addr[12], ip + 12, 4);
	memcpy(&p->key.dst.s6_addr[12], ip + 16, 4);
}

static void put_ipv6(struct packet *p, u8 proto)
{
	u8 *ip = p->b + ETH_HLEN;

	closnet_put16(p->b + 12, ETH_P_IPV6);
	ip[0] = 0x6b;
	ip[1] = 0x90;
	closnet_put16(ip + 4, p->len - ETH_HLEN - 40);
	ip[6] = proto;
	memset(ip + 8, 0xfd, 32);
	ip[23] = 1;
	ip[39] = 2;
	memcpy(&p->key.src, ip + 8, 16);
	memcpy(&p->key.dst, ip + 24, 16);
}

/* Build a packet whose linear part ends with the L4 header. */
static struct packet build(bool ipv6, u8 proto)
{
	u32 l4_hlen = proto == IPPROTO_TCP ? 20 : 8;
	struct packet p = { .l4 = ETH_HLEN + (ipv6 ? 40 : 20) };
	u8 *l4;

	p.linear = p.l4 + l4_hlen;
	p.len = p.linear + PAYLOAD;
	p.b = calloc(1, p.linear);
	if (ipv6)
		put_ipv6(&p, proto);
	else
		put_ipv4(&p, proto);
	l4 = p.b + p.l4;
	closnet_put16(l4, 1024);
	closnet_put16(l4 + 2, 5001);
	if (proto == IPPROTO_TCP) {
		closnet_put32(l4 + 4, SEQ);
		l4[12] = 5 << 4;
		l4[13] = 0x18;	/* ACK, PSH */
	}
	p.key.sport = htons(1024);
	p.key.dport = htons(5001);
	p.key.proto = proto;
	return p;
}

/* Parse a packet. Return: true if it is a plain one of the flow */
static bool parse(const struct packet *p, struct pcrp_plain *pkt)
{
	struct pcrp_key key;
	bool same;

	if (!pcrp_plain_parse(p->b, p->linear, p->len, pkt))
		return false;
	same = pcrp_plain_has_key(p->b, pkt, &p->key, pcrp_plain_ip_hlen(&p->key));
	assert_true(same == (pcrp_plain_key(p->b, pkt->ip_hlen, &key) &&
			     pcrp_key_equal(&key, &p->key)));
	return same;
}

static const struct {
	bool ipv6;
	u8 proto;
} kinds[] = {
	{ false, IPPROTO_TCP },
	{ false, IPPROTO_UDP },
	{ true, IPPROTO_TCP },
	{ true, IPPROTO_UDP },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static void test_plain(void **state)
{
	struct pcrp_plain pkt;
	struct packet p;
	u32 i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		assert_true(parse(&p, &pkt));
		assert_int_equal(pkt.bytes, PAYLOAD);
		assert_int_equal(pkt.dsfield, 0xb9);
		assert_int_equal(pkt.seq, p.key.proto == IPPROTO_TCP ? SEQ : 0);
		free(p.b);
	}
}

/* Bytes without effect: MAC addresses, TTL, checksums */
static bool may_change(const struct packet *p, u32 i)
{
	u32 ip = i - ETH_HLEN, l4 = i - p->l4;

	if (i < 12)
		return i;	/* the multicast bit is in byte 0 */
	if (i < ETH_HLEN)
		return false;
	if (i >= p->l4)	/* the ports, and flags; with options, a TCP header is longer */
		return l4 >= 4 && (p->key.proto == IPPROTO_UDP || l4 != 13);
	if (p->l4 == ETH_HLEN + 20)
		return ip == 1 || ip == 4 || ip == 5 || ip == 8 || ip == 10 || ip == 11;
	return ip < 4 || ip == 7;
}

static void test_each_byte(void **state)
{
	struct pcrp_plain pkt;
	struct packet p;
	u32 i, at;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		for (at = 0; at < p.linear; at++) {
			p.b[at] ^= 0x25;	/* also a multicast bit, SYN, FIN, RST */
			if (parse(&p, &pkt) != may_change(&p, at))
				fail_msg("kind %u, byte %u", i, at);
			p.b[at] ^= 0x25;
		}
		free(p.b);
	}
}

static void test_fragment(void **state)
{
	struct packet p = build(false, IPPROTO_UDP);
	struct pcrp_plain pkt;

	(void)state;
	closnet_put16(p.b + ETH_HLEN + 6, 0x2000);	/* MF */
	assert_false(parse(&p, &pkt));
	closnet_put16(p.b + ETH_HLEN + 6, 0x0001);
	assert_false(parse(&p, &pkt));
	free(p.b);
}

/* ASan reports a read of headers that are not there. */
static void test_short(void **state)
{
	struct pcrp_plain pkt;
	struct packet p;
	u8 *all;
	u32 i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		all = p.b;
		while (p.linear--) {
			p.b = malloc(p.linear + !p.linear);
			memcpy(p.b, all, p.linear);
			assert_false(parse(&p, &pkt));
			free(p.b);
		}
		p.b = all;
		free(p.b);
	}
}

static void test_length(void **state)
{
	struct pcrp_plain pkt;
	struct packet p;
	u32 i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		p.len += 1;	/* padding */
		assert_false(parse(&p, &pkt));
		free(p.b);
	}
}

static void test_tcp_options(void **state)
{
	struct packet p = build(false, IPPROTO_TCP);
	struct pcrp_plain pkt;

	(void)state;
	p.b[p.l4 + 12] = 8 << 4;
	assert_true(parse(&p, &pkt));
	assert_int_equal(pkt.bytes, PAYLOAD - 12);
	p.b[p.l4 + 12] = 4 << 4;
	assert_false(parse(&p, &pkt));
	p.b[p.l4 + 12] = 8 << 4;
	p.len = p.linear + 12;	/* an ACK */
	closnet_put16(p.b + ETH_HLEN + 2, p.len - ETH_HLEN);
	assert_false(parse(&p, &pkt));
	free(p.b);
}

/* The entry was zeroed, or has another flow. */
static void test_forgotten(void **state)
{
	struct pcrp_plain pkt;
	struct packet p;
	u32 i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		memset(&p.key, 0, sizeof(p.key));
		assert_true(pcrp_plain_parse(p.b, p.linear, p.len, &pkt));
		assert_false(pcrp_plain_has_key(p.b, &pkt, &p.key, 0));
		free(p.b);
	}
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		p.key.proto = IPPROTO_ICMP;
		p.b[ETH_HLEN + (kinds[i].ipv6 ? 6 : 9)] = IPPROTO_ICMP;
		assert_false(parse(&p, &pkt));
		free(p.b);
	}
}

/* Mapped IPv4 addresses in an IPv6 header: the full parser finds the same flow. */
static void test_mapped(void **state)
{
	struct packet p = build(true, IPPROTO_UDP);
	struct packet v4 = build(false, IPPROTO_UDP);
	struct pcrp_plain pkt;
	struct pcrp_key key;

	(void)state;
	memcpy(p.b + ETH_HLEN + 8, &v4.key.src, 32);
	assert_true(pcrp_plain_parse(p.b, p.linear, p.len, &pkt));
	assert_false(pcrp_plain_has_key(p.b, &pkt, &v4.key, pcrp_plain_ip_hlen(&v4.key)));
	assert_true(pcrp_plain_key(p.b, pkt.ip_hlen, &key));
	assert_true(pcrp_key_equal(&key, &v4.key));
	assert_int_equal(pkt.ip_hlen, CLOSNET_IPV6_HLEN);
	free(p.b);
	free(v4.b);
}

/* Does a packet get a key? */
static bool has_key(const struct packet *p)
{
	struct pcrp_plain pkt;
	struct pcrp_key key;

	assert_true(pcrp_plain_parse(p->b, p->linear, p->len, &pkt));
	return pcrp_plain_key(p->b, pkt.ip_hlen, &key);
}

static void test_no_key(void **state)
{
	struct packet p;
	u32 i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		p = build(kinds[i].ipv6, kinds[i].proto);
		closnet_put16(p.b + p.l4, PCRP_UDP_PORT);
		assert_true(has_key(&p));
		closnet_put16(p.b + p.l4 + 2, PCRP_UDP_PORT);	/* a control packet */
		assert_false(has_key(&p));
		closnet_put16(p.b + p.l4, 1024);
		assert_true(has_key(&p));
		/* multicast, then the highest unicast address */
		p.b[ETH_HLEN + (kinds[i].ipv6 ? 24 : 16)] = kinds[i].ipv6 ? 0xff : 224;
		assert_false(has_key(&p));
		p.b[ETH_HLEN + (kinds[i].ipv6 ? 24 : 16)]--;
		assert_true(has_key(&p));
		if (!kinds[i].ipv6) {
			memset(p.b + ETH_HLEN + 16, 0xff, 4);
			assert_false(has_key(&p));
		}
		free(p.b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_each_byte),
		cmocka_unit_test(test_fragment),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_tcp_options),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_no_key),
	};

	return cmocka_run_group_tests_name("pcrp: plain packets", tests, NULL, NULL);
}
