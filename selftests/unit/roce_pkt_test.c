// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/roce/roce_pkt.c: classification, ICRC, CNPs, source ports
 *
 * A CNP that a ConnectX-4 Lx sent, and a packet in the tests of Scapy, have known ICRCs.
 * selftests/sch/roce_icrc.py has a second implementation of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/roce/roce_pkt.h"
#include "frame.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static struct rng rng;
static struct frame frame;

/* CNP captured on a ConnectX-4 Lx; from scapy, test/contrib/roce.uts */
static const u8 nic_cnp[] = {
	0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00,
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x82, 0xfd, 0x00, 0x2a,
};

/* UC SEND ONLY from the same tests, from its IP header on */
static const u8 uc_packet[] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe,
	0x88, 0x5e, 0x50, 0x00, 0x00,
	0x78, 0xf3, 0x53, 0xf3,
};

/* Classify with a buffer that ends where the core has to stop. */
static enum roce_kind parse_bytes(struct roce_pkt *pkt, const u8 *b, u32 avail, u32 len,
				  u32 l3_off, u16 ethertype)
{
	u8 *copy = exact_copy(b, avail);
	enum roce_kind kind;

	memset(pkt, 0, sizeof(*pkt));
	pkt->l3_off = (u16)l3_off;
	kind = roce_pkt_parse(pkt, copy, avail, len, ethertype);
	exact_free(copy);
	return kind;
}

static enum roce_kind parse_frame(struct roce_pkt *pkt)
{
	return parse_bytes(pkt, frame.b, frame.len, frame.len, frame.l3 ? ETH_HLEN : 0,
			   frame.ethertype);
}

/* Build a RoCEv2 frame of @payload bytes from the BTH on. */
static void build(enum frame_l2 l2, bool ipv6, u8 opcode, u32 payload)
{
	struct frame_spec spec = {
		.l2 = l2, .ipv6 = ipv6, .proto = PROTO_UDP, .ecn = 2, .sport = 0xc123,
		.dport = ROCE_UDP_PORT,
	};
	u8 *bth;

	spec.len = frame_min_len(&spec) + payload;
	frame_build(&frame, &spec, &rng);
	bth = frame.b + frame.l4 + ROCE_UDP_HLEN;
	memset(bth, 0, payload);
	bth[0] = opcode;
	if (payload < ROCE_BTH_LEN)
		return;
	closnet_put32(bth + 4, 0xff123456);
	closnet_put32(bth + 8, 0x80abcdef);
	if (payload >= ROCE_BTH_LEN + ROCE_DETH_LEN)
		closnet_put32(bth + 16, 0x00654321);
}

static const enum frame_l2 l2s[] = { L2_NONE, L2_ETHER, L2_VLAN, L2_QINQ };

static void test_headers_below_tags_and_in_both_versions_of_ip(void **state)
{
	struct roce_pkt pkt;
	size_t i;
	int ipv6;

	(void)state;
	for (i = 0; i < COUNT(l2s); i++) {
		for (ipv6 = 0; ipv6 < 2; ipv6++) {
			build(l2s[i], ipv6, 0x0a, 100);
			assert_int_equal(parse_frame(&pkt), ROCE_KIND_QP);
			assert_int_equal(pkt.l3_off, frame.l3);
			assert_int_equal(pkt.ipv6, ipv6);
			assert_int_equal(pkt.key.qpn, 0x123456);
			assert_int_equal(pkt.psn, 0xabcdef);
			assert_int_equal(pkt.sport, 0xc123);
			assert_int_equal(roce_pkt_ecn(&pkt), ROCE_ECT_0);
			assert_int_equal(pkt.sqpn, ROCE_QPN_NONE);
			if (ipv6) {
				assert_memory_equal(pkt.key.src.b, frame.b + frame.l3 + 8, 16);
				assert_memory_equal(pkt.key.dst.b, frame.b + frame.l3 + 24, 16);
				continue;
			}
			assert_memory_equal(pkt.key.src.b + 12, frame.b + frame.l3 + 12, 4);
			assert_memory_equal(pkt.key.dst.b + 12, frame.b + frame.l3 + 16, 4);
			assert_memory_equal(pkt.key.src.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		}
	}
}

static void test_opcodes(void **state)
{
	static const struct {
		u8 opcode;
		bool data, request, response;
	} cases[] = {
		{ 0x00, true, true, false },	/* RC SEND FIRST */
		{ 0x0a, true, true, false },	/* RC WRITE ONLY */
		{ 0x0c, true, true, false },	/* RC READ request */
		{ 0x0d, true, false, true },	/* RC READ response FIRST */
		{ 0x0e, true, false, false },	/* RC READ response MIDDLE */
		{ 0x0f, true, false, false },	/* RC READ response LAST */
		{ 0x10, true, false, true },	/* RC READ response ONLY */
		{ 0x11, false, false, true },	/* RC ACK */
		{ 0x12, false, false, true },	/* RC atomic ACK */
		{ 0x13, true, true, false },	/* RC compare and swap */
		{ 0x2a, true, false, false },	/* UC WRITE ONLY */
		{ 0x64, true, false, false },	/* UD SEND ONLY */
		{ 0xaa, true, true, false },	/* XRC WRITE ONLY */
		{ 0xb1, false, false, true },	/* XRC ACK */
		{ 0xc0, true, false, false },	/* manufacturer's */
	};
	struct roce_pkt pkt;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		build(L2_ETHER, i % 2, cases[i].opcode, 40);
		assert_int_equal(parse_frame(&pkt), ROCE_KIND_QP);
		assert_int_equal(pkt.data, cases[i].data);
		assert_int_equal(pkt.request, cases[i].request);
		assert_int_equal(pkt.response, cases[i].response);
		assert_int_equal(pkt.sqpn == 0x654321, cases[i].opcode == 0x64);
	}
}

/* Connection managers use queue pair 1: no ECT, and no CNPs that would slow them down. */
static void test_management_datagrams_are_no_data(void **state)
{
	struct roce_pkt pkt;
	u32 qpn;

	(void)state;
	for (qpn = 0; qpn < 4; qpn++) {
		build(L2_ETHER, false, 0x64, 60);
		closnet_put32(frame.b + frame.l4 + ROCE_UDP_HLEN + 4, qpn);
		assert_int_equal(parse_frame(&pkt), ROCE_KIND_QP);
		assert_int_equal(pkt.data, qpn > 1);
	}
}

static void test_other_traffic(void **state)
{
	struct roce_pkt pkt;
	u8 *iph, *udph;
	int what;

	(void)state;
	for (what = 0; what < 10; what++) {
		build(L2_ETHER, false, 0x0a, 40);
		iph = frame.b + frame.l3;
		udph = frame.b + frame.l4;
		if (what == 0)
			set16(udph + 2, ROCE_UDP_PORT + 1);
		else if (what == 1)
			iph[9] = PROTO_TCP;
		else if (what == 2)
			iph[6] |= 0x20;	/* more fragments */
		else if (what == 3)
			iph[7] = 1;	/* a later fragment */
		else if (what == 4)
			iph[16] = 224;	/* multicast */
		else if (what == 5)
			set16(udph + 4, 8 + 40 + 1);	/* longer than the frame */
		else if (what == 6)
			set16(udph + 4, 8 + 15);	/* no room for BTH and ICRC */
		else if (what == 7)
			udph[8 + 1] |= 1;	/* transport version */
		else if (what == 8)
			iph[0] = 0x46;	/* options */
		else
			set16(frame.b + 12, 0x0806);
		assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
	}
	build(L2_ETHER, true, 0x0a, 40);
	frame.b[frame.l3 + 24] = 0xff;
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
	build(L2_THREE_TAGS, false, 0x0a, 40);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
	/* a datagram without room for its header */
	build(L2_ETHER, false, 0x64, 20);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
	build(L2_ETHER, false, 0x64, 24);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_QP);
}

/* A CNP has its own length only: other packets are not consumed. */
static void test_cnp_has_one_length(void **state)
{
	struct roce_pkt pkt;

	(void)state;
	build(L2_ETHER, false, 0x81, ROCE_CNP_LEN);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_CNP);
	build(L2_ETHER, false, 0x81, ROCE_CNP_LEN - 4);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
	build(L2_ETHER, true, 0x81, ROCE_CNP_LEN + 4);
	assert_int_equal(parse_frame(&pkt), ROCE_KIND_OTHER);
}

/* With fewer bytes the answer is SHORT, or the same as with the whole packet. */
static void test_fewer_bytes_never_change_the_answer(void **state)
{
	struct roce_pkt all, part;
	enum roce_kind kind;
	u32 avail;
	size_t i;
	int ipv6;

	(void)state;
	for (i = 0; i < COUNT(l2s); i++) {
		for (ipv6 = 0; ipv6 < 2; ipv6++) {
			build(l2s[i], ipv6, 0x64, 60);
			assert_int_equal(parse_frame(&all), ROCE_KIND_QP);
			for (avail = 0; avail < frame.len; avail++) {
				kind = parse_bytes(&part, frame.b, avail, frame.len,
						   frame.l3 ? ETH_HLEN : 0, frame.ethertype);
				if (avail < frame.l4 + 8 + 20) {
					assert_int_equal(kind, ROCE_KIND_SHORT);
					continue;
				}
				assert_int_equal(kind, ROCE_KIND_QP);
				assert_memory_equal(&part, &all, sizeof(all));
			}
		}
	}
	assert_in_range(frame.l4 + 8 + 20, 0, ROCE_HEADERS_MAX);
}

static void test_icrc_of_known_packets(void **state)
{
	struct roce_pkt pkt;

	(void)state;
	assert_int_equal(parse_bytes(&pkt, nic_cnp, sizeof(nic_cnp), sizeof(nic_cnp), ETH_HLEN, 0),
			 ROCE_KIND_CNP);
	assert_int_equal(pkt.key.qpn, 0x118);
	assert_true(roce_cnp_valid(nic_cnp + ETH_HLEN, sizeof(nic_cnp) - ETH_HLEN));
	assert_int_equal(roce_icrc(uc_packet, sizeof(uc_packet) - 4), 0xf353f378);
}

/* Fields that routers change are not covered; each other bit is. */
static void test_icrc_covers_the_other_fields(void **state)
{
	static const u8 free_ipv4[] = { 1, 8, 10, 11, 26, 27, 32 };
	u8 b[sizeof(nic_cnp) - ETH_HLEN];
	u32 at, i;
	bool is_free;

	(void)state;
	for (at = 0; at < sizeof(b); at++) {
		memcpy(b, nic_cnp + ETH_HLEN, sizeof(b));
		if (!at)	/* the version */
			continue;
		b[at] ^= 1 << at % 8;
		for (i = 0, is_free = false; i < COUNT(free_ipv4); i++)
			is_free |= at == free_ipv4[i];
		assert_int_equal(roce_cnp_valid(b, sizeof(b)), is_free);
	}
	assert_false(roce_cnp_valid(nic_cnp + ETH_HLEN, sizeof(b) - 1));
}

static struct roce_cnp random_cnp(bool ipv6)
{
	struct roce_cnp cnp = {
		.key.qpn = rng_u32(&rng) & ROCE_24_BITS, .dscp = rng_u32(&rng) & 63,
		.sport = (u16)rng_u32(&rng), .ipv6 = ipv6,
	};
	size_t i;

	for (i = 0; i < 16; i++) {
		cnp.key.src.b[i] = (u8)(ipv6 || i >= 12 ? rng_u32(&rng) % 200 : i >= 10 ? 255 : 0);
		cnp.key.dst.b[i] = (u8)(ipv6 || i >= 12 ? rng_u32(&rng) % 200 : i >= 10 ? 255 : 0);
	}
	return cnp;
}

/* A built CNP has the fields given, a correct header checksum and a correct ICRC. */
static void test_built_cnps_are_valid(void **state)
{
	struct roce_cnp cnp;
	u8 b[ROCE_CNP_MAX];
	struct roce_pkt pkt;
	u32 len;
	int n;

	(void)state;
	for (n = 0; n < 10000; n++) {
		cnp = random_cnp(n % 2);
		memset(b, 0xa5, sizeof(b));
		len = roce_cnp_build(b, &cnp);
		assert_int_equal(len, n % 2 ? 80 : 60);
		assert_int_equal(parse_bytes(&pkt, b, len, len, 0, n % 2 ? ETH_P_IPV6 : ETH_P_IP),
				 ROCE_KIND_CNP);
		assert_memory_equal(&pkt.key, &cnp.key, sizeof(cnp.key));
		assert_int_equal(pkt.dsfield, cnp.dscp << 2);
		assert_int_equal(pkt.sport, cnp.sport);
		assert_true(roce_cnp_valid(b, len));
		if (!cnp.ipv6)
			assert_true(ipv4_check_valid(b));
	}
}

/* The CNP of the NIC, except IP's id and ECN bits, which the NIC sets */
static void test_built_cnp_equals_that_of_a_nic(void **state)
{
	struct roce_cnp cnp = { .dscp = 48, .key.qpn = 0x118 };
	u8 b[ROCE_CNP_MAX], nic[sizeof(nic_cnp) - ETH_HLEN];
	u32 len;

	(void)state;
	memcpy(nic, nic_cnp + ETH_HLEN, sizeof(nic));
	cnp.key.src.b[10] = 0xff;
	cnp.key.src.b[11] = 0xff;
	cnp.key.dst = cnp.key.src;
	memcpy(cnp.key.src.b + 12, nic + 12, 4);
	memcpy(cnp.key.dst.b + 12, nic + 16, 4);
	len = roce_cnp_build(b, &cnp);
	assert_int_equal(len, sizeof(nic));
	nic[1] &= (u8)~3;
	set16(nic + 4, 0);
	memcpy(nic + 10, b + 10, 2);
	/* the ICRC covers the id */
	assert_memory_equal(b, nic, len - 4);
}

/* Both directions have the same pair hash, and keys that differ have different hashes. */
static void test_hashes(void **state)
{
	struct roce_key key = random_cnp(true).key, back = { .src = key.dst, .dst = key.src };
	u32 seen[256] = { 0 }, most = 0, n;
	u64 seed = 0x123456789abcdef1;

	(void)state;
	assert_int_equal(roce_pair_hash(&key, seed), roce_pair_hash(&back, seed));
	assert_int_not_equal(roce_pair_hash(&key, seed), roce_pair_hash(&key, seed + 1));
	back.qpn = key.qpn;
	assert_int_not_equal(roce_key_hash(&key, seed), roce_key_hash(&back, seed));
	for (n = 0; n < 256 * 64; n++) {
		key.qpn = n;
		seen[roce_key_hash(&key, seed) % 256]++;
	}
	for (n = 0; n < 256; n++)
		most = max_t(u32, most, seen[n]);
	/* mean 64; the deviation of a uniform hash is 8 */
	assert_in_range(most, 64, 64 + 8 * 8);
}

/* Number of values below @range that hashes of 4 * @range addresses of one network have */
static u32 values_of_series(u64 seed, u32 range, bool pair)
{
	struct roce_key key = random_cnp(false).key;
	bool seen[256] = { false };
	u32 n, value, count = 0;

	key.qpn = 17;
	for (n = 0; n < 4 * range; n++) {
		key.dst.b[14] = (u8)(n / 250);
		key.dst.b[15] = (u8)(n % 250 + 1);
		value = (pair ? roce_pair_hash(&key, seed) : roce_key_hash(&key, seed)) % range;
		count += !seen[value];
		seen[value] = true;
	}
	return count;
}

/* With any seed, consecutive addresses spread: of 256 values, random hashes leave 1.8 % out. */
static void test_series_of_addresses_spread(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 500; i++) {
		u64 seed = (u64)rng_u32(&rng) << 32 | rng_u32(&rng);

		assert_in_range(values_of_series(seed, 256, false), 236, 256);
		assert_in_range(values_of_series(seed, 256, true), 236, 256);
	}
}

/* Ports that Linux computes: rdma_get_udp_sport(0, 0x11, 0x12), hash_32(0x11, 14) */
static void test_source_ports(void **state)
{
	(void)state;
	assert_true(roce_sport_fits(0xc132, 0x11, 0x12));
	assert_true(roce_sport_fits(0xc132, 0x12, 0x11));
	assert_true(roce_sport_fits(0xc000 + (0x11U * 0x61C88647U >> 18), 0x11, 0x999));
	assert_false(roce_sport_fits(0xc133, 0x11, 0x12));
	assert_false(roce_sport_fits(0x1000, 0x11, 0x12));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_below_tags_and_in_both_versions_of_ip),
		cmocka_unit_test(test_opcodes),
		cmocka_unit_test(test_management_datagrams_are_no_data),
		cmocka_unit_test(test_other_traffic),
		cmocka_unit_test(test_cnp_has_one_length),
		cmocka_unit_test(test_fewer_bytes_never_change_the_answer),
		cmocka_unit_test(test_icrc_of_known_packets),
		cmocka_unit_test(test_icrc_covers_the_other_fields),
		cmocka_unit_test(test_built_cnps_are_valid),
		cmocka_unit_test(test_built_cnp_equals_that_of_a_nic),
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_series_of_addresses_spread),
		cmocka_unit_test(test_source_ports),
	};

	rng_seed(&rng, 1);
	return cmocka_run_group_tests_name("roce_pkt", tests, NULL, NULL);
}
