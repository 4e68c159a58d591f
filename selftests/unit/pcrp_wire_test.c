// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_wire.c: layout of control packets, and validity of messages
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/in.h>

#include "../../sch/pcrp/pcrp_wire.h"
#include "rng.h"

#define ROUNDS	100000

static const struct pcrp_msg request = {
	.type = PCRP_REQUEST,
	.prio = 5,
	.proto = IPPROTO_TCP,
	.sport = 0x0102,
	.dport = 0x0304,
	.slot = 0x05060708,
	.flow_no = 0x090a0b0c,
	.cookie = 0x0d0e0f1011121314,
	.size = 0x0015161718191a1b,
	.offset = 0x00141c1d1e1f2021,
	.chain_no = 0x22232425,
	.first_bytes = 0x26272829,
	.tcp_seq = 0x2a2b2c2d,
	.chain_bytes = 0x2e2f3031,
	.request_no = 0x32333435,
};

static const u8 request_bytes[PCRP_WIRE_LEN] = {
	1, 1, 5, 6, 0x01, 0x02, 0x03, 0x04,
	0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
	0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14,
	0x00, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b,
	0x00, 0x14, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21,
	0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,
	0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31,
	0x32, 0x33, 0x34, 0x35, 0, 0, 0, 0,
};

/* Read from memory that ends with the packet, so that ASan finds reads beyond it. */
static bool read_exact(const u8 *b, u32 len, struct pcrp_msg *m)
{
	u8 *copy = malloc(len + 1);
	bool ok;

	assert_non_null(copy);
	memcpy(copy + 1, b, len);
	ok = pcrp_msg_read(copy + 1, len, m);
	free(copy);
	return ok;
}

static void assert_same(const struct pcrp_msg *a, const struct pcrp_msg *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->prio, b->prio);
	assert_int_equal(a->proto, b->proto);
	assert_int_equal(a->sport, b->sport);
	assert_int_equal(a->dport, b->dport);
	assert_int_equal(a->slot, b->slot);
	assert_int_equal(a->flow_no, b->flow_no);
	assert_int_equal(a->cookie, b->cookie);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->chain_no, b->chain_no);
	assert_int_equal(a->first_bytes, b->first_bytes);
	assert_int_equal(a->tcp_seq, b->tcp_seq);
	assert_int_equal(a->chain_bytes, b->chain_bytes);
	assert_int_equal(a->request_no, b->request_no);
}

/* Each field has its place. */
static void test_layout(void **state)
{
	u8 b[PCRP_WIRE_LEN];
	struct pcrp_msg m;

	(void)state;
	memset(b, 0xff, sizeof(b));
	pcrp_msg_write(&request, b);
	assert_memory_equal(b, request_bytes, PCRP_WIRE_LEN);
	assert_true(read_exact(request_bytes, PCRP_WIRE_LEN, &m));
	assert_same(&m, &request);
}

/* A packet of another length is not read. */
static void test_length(void **state)
{
	u8 b[2 * PCRP_WIRE_LEN] = {};
	struct pcrp_msg m;
	u32 len;

	(void)state;
	memcpy(b, request_bytes, PCRP_WIRE_LEN);
	for (len = 0; len <= sizeof(b); len++)
		assert_int_equal(read_exact(b, len, &m), len == PCRP_WIRE_LEN);
}

static bool valid(const struct pcrp_msg *m)
{
	u8 b[PCRP_WIRE_LEN];
	struct pcrp_msg result;

	pcrp_msg_write(m, b);
	return read_exact(b, sizeof(b), &result);
}

/* Is a message valid with one field changed? */
#define WITH(base, field, val) ({			\
	struct pcrp_msg changed = base;			\
							\
	changed.field = val;				\
	valid(&changed);				\
})

/* Each field of a REQUEST is checked against its range. */
static void test_request_values(void **state)
{
	struct pcrp_msg udp = request;

	(void)state;
	udp.proto = IPPROTO_UDP;
	udp.tcp_seq = 0;
	assert_true(valid(&udp));
	assert_false(WITH(udp, tcp_seq, 1));
	assert_false(WITH(udp, proto, 0));
	assert_false(WITH(udp, proto, IPPROTO_SCTP));
	assert_false(WITH(request, type, 0));
	assert_true(WITH(request, type, PCRP_PROBE));
	assert_false(WITH(request, type, 4));
	assert_true(WITH(request, prio, 7));
	assert_false(WITH(request, prio, 8));
	assert_true(WITH(request, size, PCRP_BYTES_MAX));
	assert_false(WITH(request, size, PCRP_BYTES_MAX + 1));
	assert_true(WITH(request, size, request.offset));
	assert_false(WITH(request, size, request.offset - 1));
	assert_true(WITH(request, offset, 0));
	assert_false(WITH(request, chain_no, 0));
	assert_false(WITH(request, request_no, 0));
	assert_false(WITH(request, first_bytes, 0));
	assert_true(WITH(request, first_bytes, PCRP_CHAIN_MAX));
	assert_false(WITH(request, first_bytes, PCRP_CHAIN_MAX + 1));
	assert_false(WITH(request, chain_bytes, 0));
	assert_true(WITH(request, chain_bytes, PCRP_CHAIN_MAX));
	assert_false(WITH(request, chain_bytes, PCRP_CHAIN_MAX + 1));
}

/* Flows of other protocols have no ports. */
static void test_no_ports(void **state)
{
	struct pcrp_msg m = request;

	(void)state;
	m.proto = IPPROTO_SCTP;
	m.tcp_seq = 0;
	m.sport = 0;
	m.dport = 0;
	assert_true(valid(&m));
	assert_false(WITH(m, sport, 1));
	assert_false(WITH(m, dport, 1));
}

/* Each field of a GRANT is checked against its range. */
static void test_grant_values(void **state)
{
	const struct pcrp_msg grant = {
		.type = PCRP_GRANT, .prio = 4, .proto = IPPROTO_UDP, .size = 100,
	};

	(void)state;
	assert_true(valid(&grant));
	assert_false(WITH(grant, prio, 3));
	assert_true(WITH(grant, prio, 7));
	assert_false(WITH(grant, prio, 8));
	assert_false(WITH(grant, size, 0));
	/* the last chain is granted in full */
	assert_true(WITH(grant, offset, 101));
	assert_true(WITH(grant, offset, PCRP_BYTES_MAX));
	assert_false(WITH(grant, offset, PCRP_BYTES_MAX + 1));
	assert_false(WITH(grant, first_bytes, 1));
	assert_false(WITH(grant, chain_bytes, 1));
	assert_false(WITH(grant, tcp_seq, 1));
	assert_true(WITH(grant, request_no, 1));
}

/* Other versions are not read, nor are packets with reserved bytes set. */
static void test_version_and_reserved(void **state)
{
	u8 b[PCRP_WIRE_LEN];
	struct pcrp_msg m;
	u32 i;

	(void)state;
	memcpy(b, request_bytes, sizeof(b));
	for (i = 0; i < 256; i++) {
		b[0] = (u8)i;
		assert_int_equal(read_exact(b, sizeof(b), &m), i == 1);
	}
	b[0] = 1;
	for (i = 60; i < PCRP_WIRE_LEN; i++) {
		b[i] = 1;
		assert_false(read_exact(b, sizeof(b), &m));
		b[i] = 0;
	}
}

/* A packet that is read and written again has the same bytes. */
static void test_any_bytes(void **state)
{
	u8 b[PCRP_WIRE_LEN], written[PCRP_WIRE_LEN];
	struct pcrp_msg m;
	struct rng rng;
	u32 i, n, good = 0;

	(void)state;
	rng_seed(&rng, 64);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(b, request_bytes, sizeof(b));
		for (n = rng_in(&rng, 0, 4); n; n--)
			b[rng_in(&rng, 0, sizeof(b) - 1)] ^= (u8)(1U << rng_in(&rng, 0, 7));
		if (!read_exact(b, sizeof(b), &m))
			continue;
		good++;
		pcrp_msg_write(&m, written);
		assert_memory_equal(written, b, sizeof(b));
	}
	assert_in_range(good, ROUNDS / 10, ROUNDS * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_request_values),
		cmocka_unit_test(test_no_ports),
		cmocka_unit_test(test_grant_values),
		cmocka_unit_test(test_version_and_reserved),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
