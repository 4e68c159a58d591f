// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/wire.h: places of numbers, trimmed packets, invalid headers
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/ndp/wire.h"
#include "rng.h"

#define ROUNDS	100000

static const struct ndp_hdr data = {
	.type = NDP_DATA, .flags = NDP_DATA_SYN | NDP_DATA_LAST | NDP_DATA_SPEC,
	.path = 0x12, .try_no = 0x34, .payload_len = 0x0506, .flow_id = 0x0708090a,
	.seq = 0x0b0c0d0f, .sport = 0x1314, .dport = 0x1516,
	.data = {
		.prio = 7, .msg_id = 0x191a1b1c, .base = 0x0b0c0d0e,
		.pull_target = 0x21222324, .offset = 0x000000252627,
		.msg_len = 0x00ab2c2d2e2f, .msg_base = 0x191a1b0c,
		.token = 0x34353637,
	},
};

/* The first packet of a message, which carries an ACK */
static const struct ndp_hdr carrier = {
	.type = NDP_DATA, .flags = NDP_DATA_SYN | NDP_DATA_LAST | NDP_DATA_ACK,
	.path = 0x12, .payload_len = 0x0506, .flow_id = 0x0708090a, .seq = 0x0b0c0d0f,
	.sport = 0x1314, .dport = 0x1516,
	.data = {
		.prio = 7, .ack_delay = 0x17, .msg_id = 0x191a1b1c, .base = 0x0b0c0d0e,
		.pull_target = 0x21222324, .ack_flow_id = 0x25262728, .ack_seq = 0x292a2b2c,
		.msg_len = 0xfd2e2f30, .msg_base = 0x191a1b0c, .token = 0x34353637,
	},
};

static const struct ndp_hdr ctl = {
	.type = NDP_CONTROL, .flags = NDP_CTL_NACK | NDP_CTL_PULL,
	.path = 0x12, .try_no = 0x34, .flow_id = 0x0708090a, .seq = 0x0b0c0d0f,
	.sport = 0x1314, .dport = 0x1516,
	.ctl = {
		.dsfield = 0xc1, .ack_base = 0x191a1b1c, .pull = 0x1d1e1f20,
		.sack = 0x2122232425262728, .nack = 0x4040404040404040,
		.trimmed = 0x3132, .window = 0x3334, .token = 0x35363738,
	},
};

static const struct ndp_hdr probe = {
	.type = NDP_PROBE, .path = 1, .flow_id = 2, .seq = 0xffffffff, .sport = 3, .dport = 4,
	.data = { .prio = 5, .base = 0, .pull_target = 6 },
};

static const struct ndp_hdr error = {
	.type = NDP_ERROR, .flow_id = 2, .seq = 7, .sport = 3, .dport = 4,
	.err = { .code = NDP_CODE_GONE, .msg_id = 0x08090a0b },
};

static const struct ndp_hdr cookie = {
	.type = NDP_COOKIE, .flow_id = 2, .seq = 7, .sport = 3, .dport = 4,
	.token = 0x05060708,
};

static const struct ndp_hdr bare = {
	.type = NDP_CONTROL, .flags = NDP_CTL_NACK | NDP_CTL_BARE, .path = 9, .try_no = 1,
	.flow_id = 2, .seq = 7,
};

enum { DATA, CARRIER, CONTROL, PROBE, ERROR, COOKIE, BARE, ALL };

static const struct ndp_hdr *const all[ALL] = {
	&data, &carrier, &ctl, &probe, &error, &cookie, &bare,
};

/* The same in bytes; another program computed the checksums. */
static const u8 bytes[ALL][NDP_HLEN] = {
	[DATA] = {
		0x21, 0x0d, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0f, 0x12, 0x34, 0x9f, 0x8b,
		0x20, 0x59, 0x13, 0x14, 0x15, 0x16, 0x07, 0x00,
		0x19, 0x1a, 0x1b, 0x1c, 0x0b, 0x0c, 0x0d, 0x0e,
		0x21, 0x22, 0x23, 0x24, 0x00, 0x00, 0x00, 0x25,
		0x26, 0x27, 0x00, 0xab, 0x2c, 0x2d, 0x2e, 0x2f,
		0x19, 0x1a, 0x1b, 0x0c, 0x34, 0x35, 0x36, 0x37,
	},
	[CARRIER] = {
		0x21, 0x15, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0f, 0x12, 0x00, 0x9f, 0xb7,
		0xd4, 0x91, 0x13, 0x14, 0x15, 0x16, 0x07, 0x17,
		0x19, 0x1a, 0x1b, 0x1c, 0x0b, 0x0c, 0x0d, 0x0e,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x29, 0x2a, 0x2b, 0x2c, 0xfd, 0x2e, 0x2f, 0x30,
		0x19, 0x1a, 0x1b, 0x0c, 0x34, 0x35, 0x36, 0x37,
	},
	[CONTROL] = {
		0x22, 0x06, 0x00, 0x00, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0f, 0x12, 0x34, 0xa3, 0x98,
		0x43, 0xf6, 0x13, 0x14, 0x15, 0x16, 0xc1, 0x00,
		0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	},
	[PROBE] = {
		0x23, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0xdb, 0xfd,
		0xfa, 0xf2, 0x00, 0x03, 0x00, 0x04, 0x05, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	},
	[ERROR] = {
		0x24, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0xdb, 0xf6,
		0xea, 0xe4, 0x00, 0x03, 0x00, 0x04, 0x03, 0x00,
		0x08, 0x09, 0x0a, 0x0b, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	},
	[COOKIE] = {
		0x25, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0xda, 0xf6,
		0xf3, 0xea, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x05, 0x06, 0x07, 0x08,
	},
	[BARE] = {
		0x22, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x07, 0x09, 0x01, 0xd4, 0xe3,
		0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	},
};

/* Reads from memory that ends where the bytes end. */
static enum ndp_read read_exact(const void *b, u32 len, struct ndp_hdr *h)
{
	u8 *copy = malloc(len + 1);
	enum ndp_read got;

	assert_non_null(copy);
	memcpy(copy + 1, b, len);
	got = ndp_hdr_read(copy + 1, len, h);
	free(copy);
	return got;
}

/* Writes a header, and reads it with so many bytes of payload behind it. */
static enum ndp_read written(const struct ndp_hdr *h, u32 payload, struct ndp_hdr *got)
{
	static u8 b[NDP_HLEN + 0x10000];

	memset(b, 0xff, NDP_HLEN);
	ndp_hdr_write(h, b);
	return read_exact(b, NDP_HLEN + payload, got);
}

static void assert_same(const struct ndp_hdr *a, const struct ndp_hdr *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->path, b->path);
	assert_int_equal(a->try_no, b->try_no);
	assert_int_equal(a->payload_len, b->payload_len);
	assert_int_equal(a->flow_id, b->flow_id);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->sport, b->sport);
	assert_int_equal(a->dport, b->dport);
}

static void assert_same_data(const struct ndp_data *a, const struct ndp_data *b)
{
	assert_int_equal(a->prio, b->prio);
	assert_int_equal(a->msg_id, b->msg_id);
	assert_int_equal(a->base, b->base);
	assert_int_equal(a->pull_target, b->pull_target);
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->msg_len, b->msg_len);
	assert_int_equal(a->msg_base, b->msg_base);
	assert_int_equal(a->token, b->token);
	assert_int_equal(a->ack_delay, b->ack_delay);
	assert_int_equal(a->ack_flow_id, b->ack_flow_id);
	assert_int_equal(a->ack_seq, b->ack_seq);
}

static void assert_same_ctl(const struct ndp_ctl *a, const struct ndp_ctl *b)
{
	assert_int_equal(a->dsfield, b->dsfield);
	assert_int_equal(a->ack_base, b->ack_base);
	assert_int_equal(a->pull, b->pull);
	assert_int_equal(a->sack, b->sack);
	assert_int_equal(a->nack, b->nack);
	assert_int_equal(a->trimmed, b->trimmed);
	assert_int_equal(a->window, b->window);
	assert_int_equal(a->token, b->token);
}

static void test_layout(void **state)
{
	u8 w[NDP_HLEN];
	struct ndp_hdr h;
	u32 i;

	(void)state;
	for (i = 0; i < ALL; i++) {
		memset(w, 0xff, sizeof(w));
		ndp_hdr_write(all[i], w);
		assert_memory_equal(w, bytes[i], NDP_HLEN);
		assert_int_equal(read_exact(bytes[i], NDP_HLEN, &h), NDP_READ_OK);
		assert_same(&h, all[i]);
		if (h.type == NDP_DATA || h.type == NDP_PROBE)
			assert_same_data(&h.data, &all[i]->data);
		if (h.type == NDP_CONTROL)
			assert_same_ctl(&h.ctl, &all[i]->ctl);
	}
	assert_int_equal(read_exact(bytes[ERROR], NDP_HLEN, &h), NDP_READ_OK);
	assert_int_equal(h.err.code, error.err.code);
	assert_int_equal(h.err.msg_id, error.err.msg_id);
	assert_int_equal(read_exact(bytes[COOKIE], NDP_HLEN, &h), NDP_READ_OK);
	assert_int_equal(h.token, cookie.token);
}

/* However much a switch leaves of a packet */
static void test_trimmed(void **state)
{
	static u8 b[NDP_HLEN + 0x0506 + 1];
	struct ndp_hdr h;
	u32 len;

	(void)state;
	memcpy(b, bytes[DATA], NDP_HLEN);
	for (len = 0; len <= sizeof(b); len++) {
		enum ndp_read got = read_exact(b, len, &h);

		if (len < NDP_NACK_HLEN) {
			assert_int_equal(got, NDP_READ_SHORT);
			continue;
		}
		if (len > NDP_HLEN + data.payload_len) {
			assert_int_equal(got, NDP_READ_VALUE);
			continue;
		}
		assert_int_equal(got, NDP_READ_OK);
		assert_int_equal(h.seq, data.seq);
		assert_int_equal(h.flow_id, data.flow_id);
		assert_int_equal(h.is_short, len < NDP_HLEN);
		assert_int_equal(h.here, len < NDP_HLEN ? 0 : len - NDP_HLEN);
		assert_int_equal(ndp_is_trimmed(&h), len < NDP_HLEN + data.payload_len);
		assert_int_equal(ndp_hdr_is_cut(b, len), ndp_is_trimmed(&h));
		assert_int_equal(h.dport, len < NDP_HLEN ? 0 : data.dport);
	}
}

/* A carrier loses its ACK with its header, and only then. */
static void test_trimmed_carrier(void **state)
{
	static u8 b[NDP_HLEN + 0x0506];
	struct ndp_hdr h;
	u32 len;

	(void)state;
	memcpy(b, bytes[CARRIER], NDP_HLEN);
	for (len = NDP_NACK_HLEN; len <= sizeof(b); len++) {
		assert_int_equal(read_exact(b, len, &h), NDP_READ_OK);
		assert_int_equal(ndp_carries_ack(&h), len >= NDP_HLEN);
		assert_int_equal(h.data.ack_seq, len < NDP_HLEN ? 0 : carrier.data.ack_seq);
		assert_int_equal(h.data.offset, 0);
	}
	assert_int_equal(read_exact(bytes[DATA], NDP_HLEN, &h), NDP_READ_OK);
	assert_false(ndp_carries_ack(&h));
}

/* A tag is no payload, and a packet without all of it is short. */
static void test_keyed(void **state)
{
	static u8 b[NDP_HLEN_MAX + 0x0506 + 1];
	struct ndp_hdr h;
	u32 len;

	(void)state;
	memcpy(b, bytes[DATA], NDP_HLEN);
	ndp_hdr_set_keyed(b);
	for (len = NDP_NACK_HLEN; len <= NDP_HLEN_MAX + data.payload_len; len++) {
		assert_int_equal(read_exact(b, len, &h), NDP_READ_OK);
		assert_true(h.keyed);
		assert_int_equal(ndp_hdr_len(&h), NDP_HLEN_MAX);
		assert_int_equal(h.is_short, len < NDP_HLEN_MAX);
		assert_int_equal(h.here, len < NDP_HLEN_MAX ? 0 : len - NDP_HLEN_MAX);
		assert_int_equal(ndp_hdr_is_cut(b, len), ndp_is_trimmed(&h));
	}
	assert_int_equal(read_exact(b, len, &h), NDP_READ_VALUE);
	memcpy(b, bytes[CONTROL], NDP_HLEN);
	ndp_hdr_set_keyed(b);
	assert_int_equal(read_exact(b, NDP_HLEN, &h), NDP_READ_SHORT);
	assert_int_equal(read_exact(b, NDP_HLEN_MAX, &h), NDP_READ_OK);
}

/* Packets other than DATA are whole, and no longer. */
static void test_length(void **state)
{
	u8 b[NDP_HLEN + 1] = {};
	struct ndp_hdr h;
	u32 i, len;

	(void)state;
	for (i = CONTROL; i < ALL; i++) {
		memcpy(b, bytes[i], NDP_HLEN);
		for (len = 0; len < NDP_HLEN; len++)
			assert_int_equal(read_exact(b, len, &h), NDP_READ_SHORT);
		assert_int_equal(read_exact(b, NDP_HLEN, &h), NDP_READ_OK);
		assert_false(ndp_is_trimmed(&h));
		assert_false(ndp_hdr_is_cut(b, NDP_HLEN));
		assert_int_equal(read_exact(b, NDP_HLEN + 1, &h), NDP_READ_VALUE);
	}
}

/* No bit of a header can flip unnoticed, be the packet trimmed or not. */
static void test_bit_flips(void **state)
{
	u8 b[NDP_HLEN];
	struct ndp_hdr h;
	u32 i, bit;

	(void)state;
	for (i = 0; i < ALL; i++) {
		for (bit = 0; bit < 8 * NDP_HLEN; bit++) {
			memcpy(b, bytes[i], NDP_HLEN);
			b[bit / 8] ^= (u8)(1U << bit % 8);
			assert_int_equal(read_exact(b, NDP_HLEN, &h), bit < 8 && bit > 4 ?
					 NDP_READ_VERSION : NDP_READ_CHECKSUM);
			if (bit < 8 * NDP_NACK_HLEN)
				assert_int_not_equal(read_exact(b, NDP_NACK_HLEN, &h),
						     NDP_READ_OK);
		}
	}
}

/* One value of a valid header is another one: is it still valid? */
#define WITH(base, field, val) ({			\
	struct ndp_hdr changed = base, got;		\
							\
	changed.field = val;				\
	written(&changed, 0, &got) == NDP_READ_OK;	\
})

static void test_data_first(void **state)
{
	struct ndp_hdr h = data, got;

	(void)state;
	assert_false(WITH(data, type, 0));
	assert_false(WITH(data, type, 6));
	assert_true(WITH(data, flags, 0));
	assert_true(WITH(data, flags, NDP_DATA_SYN | NDP_DATA_RTX));
	assert_false(WITH(data, flags, NDP_DATA_SPEC | NDP_DATA_RTX));
	assert_false(WITH(data, flags, 0x20));
	assert_false(WITH(data, payload_len, 0));
	assert_true(WITH(data, payload_len, NDP_PAYLOAD_MAX));
	assert_false(WITH(data, payload_len, NDP_PAYLOAD_MAX + 1));
	/* the largest there can be */
	h.payload_len = NDP_PAYLOAD_MAX;
	assert_int_equal(written(&h, NDP_PAYLOAD_MAX, &got), NDP_READ_OK);
	assert_false(ndp_is_trimmed(&got));
}

static void test_data_rest(void **state)
{
	(void)state;
	assert_false(WITH(data, sport, 0));
	assert_false(WITH(data, dport, 0));
	assert_true(WITH(data, data.prio, 0));
	assert_false(WITH(data, data.prio, 8));
	assert_true(WITH(data, data.base, data.seq));
	assert_false(WITH(data, data.base, data.seq + 1));
	assert_true(WITH(data, data.base, data.seq - 0x7fffffff));
	assert_false(WITH(data, data.base, data.seq + 0x7fffffff));
	assert_true(WITH(data, data.msg_len, NDP_MSG_MAX));
	assert_false(WITH(data, data.msg_len, NDP_MSG_MAX + 1));
	assert_true(WITH(data, data.offset, data.data.msg_len - data.payload_len));
	assert_false(WITH(data, data.offset, data.data.msg_len - data.payload_len + 1));
	assert_false(WITH(data, data.offset, 0xffffffffffffULL));
	assert_true(WITH(data, data.token, 0));
	assert_true(WITH(data, data.msg_base, data.data.msg_id));
	assert_false(WITH(data, data.msg_base, data.data.msg_id + 1));
}

static void test_carrier_values(void **state)
{
	(void)state;
	assert_true(WITH(carrier, flags, NDP_DATA_ACK | NDP_DATA_SPEC));
	assert_false(WITH(carrier, flags, NDP_DATA_ACK | NDP_DATA_RTX));
	assert_true(WITH(carrier, data.ack_delay, NDP_ACK_DELAY_MAX));
	assert_true(WITH(carrier, data.ack_delay, 0));
	assert_true(WITH(carrier, data.ack_flow_id, 0));
	assert_true(WITH(carrier, data.ack_seq, 0));
	assert_true(WITH(carrier, data.msg_len, 0xffffffff));
	assert_true(WITH(carrier, data.msg_len, carrier.payload_len));
	assert_false(WITH(carrier, data.msg_len, carrier.payload_len - 1));
	assert_false(WITH(carrier, data.prio, 8));
	assert_false(WITH(carrier, data.base, carrier.seq + 1));
}

static void test_probe_values(void **state)
{
	(void)state;
	assert_false(WITH(probe, flags, NDP_DATA_SYN));
	assert_false(WITH(probe, flags, NDP_DATA_ACK));
	assert_false(WITH(probe, payload_len, 1));
	assert_false(WITH(probe, seq, 0));
	assert_false(WITH(probe, data.base, 1));
	assert_false(WITH(probe, data.msg_id, 1));
	assert_false(WITH(probe, data.offset, 1));
	assert_false(WITH(probe, data.msg_len, 1));
	assert_true(WITH(probe, data.token, 1));
	assert_true(WITH(probe, data.msg_base, 1));
	assert_false(WITH(probe, data.prio, 8));
	assert_true(WITH(probe, data.pull_target, 0));
}

static void test_ctl_values(void **state)
{
	struct ndp_hdr pull = {
		.type = NDP_CONTROL, .flags = NDP_CTL_PULL, .sport = 1, .dport = 2,
		.ctl.token = 1,
	};

	(void)state;
	assert_true(WITH(ctl, flags, NDP_CTL_ACK));
	assert_true(WITH(ctl, flags, NDP_CTL_PROBED | NDP_CTL_PULL));
	assert_false(WITH(ctl, flags, NDP_CTL_ACK | NDP_CTL_NACK));
	assert_false(WITH(ctl, flags, NDP_CTL_ACK | NDP_CTL_PROBED));
	assert_false(WITH(ctl, flags, NDP_CTL_NACK | NDP_CTL_PROBED));
	assert_false(WITH(ctl, flags, NDP_CTL_ACK | NDP_CTL_FULL));
	assert_true(WITH(ctl, flags, NDP_CTL_FULL | NDP_CTL_PING | NDP_CTL_ROOM));
	assert_false(WITH(ctl, ctl.token, 0));
	assert_false(WITH(ctl, payload_len, 1));
	assert_false(WITH(ctl, sport, 0));
	assert_false(WITH(ctl, dport, 0));
	assert_false(WITH(ctl, ctl.sack, 1));
	assert_false(WITH(ctl, ctl.nack, ctl.ctl.nack | ctl.ctl.sack));
	assert_true(WITH(ctl, ctl.nack, ctl.ctl.nack | 1));
	/* about no packet */
	assert_true(WITH(pull, flags, 0));
	assert_true(WITH(pull, ctl.window, 1));
	assert_false(WITH(pull, seq, 1));
	assert_false(WITH(pull, path, 1));
	assert_false(WITH(pull, try_no, 1));
	assert_false(WITH(pull, ctl.dsfield, 1));
}

static void test_bare_values(void **state)
{
	(void)state;
	assert_false(WITH(bare, flags, NDP_CTL_BARE));
	assert_false(WITH(bare, flags, NDP_CTL_BARE | NDP_CTL_ACK));
	assert_false(WITH(bare, flags, NDP_CTL_BARE | NDP_CTL_NACK | NDP_CTL_PULL));
	assert_false(WITH(bare, sport, 1));
	assert_false(WITH(bare, dport, 1));
	assert_true(WITH(bare, ctl.dsfield, 1));
	assert_false(WITH(bare, ctl.ack_base, 1));
	assert_false(WITH(bare, ctl.pull, 1));
	assert_false(WITH(bare, ctl.sack, 2));
	assert_false(WITH(bare, ctl.nack, 2));
	assert_false(WITH(bare, ctl.trimmed, 1));
	assert_false(WITH(bare, ctl.window, 1));
	assert_false(WITH(bare, ctl.token, 1));
}

static void test_other_values(void **state)
{
	(void)state;
	assert_false(WITH(error, err.code, 0));
	assert_true(WITH(error, err.code, NDP_CODE_ABORT));
	assert_false(WITH(error, err.code, NDP_CODE_NO_PORT));
	assert_true(WITH(error, err.code, NDP_CODE_REFUSED));
	assert_false(WITH(error, err.code, 6));
	assert_true(WITH(error, err.msg_id, 0));
	assert_false(WITH(error, flags, 1));
	assert_false(WITH(error, payload_len, 1));
	assert_false(WITH(error, dport, 0));
	assert_false(WITH(cookie, token, 0));
	assert_false(WITH(cookie, flags, 1));
	assert_false(WITH(cookie, payload_len, 1));
}

/* Another version is not looked into. */
static void test_version(void **state)
{
	u8 b[NDP_HLEN];
	struct ndp_hdr h;
	u32 i;

	(void)state;
	memcpy(b, bytes[DATA], NDP_HLEN);
	for (i = 0; i < 16; i++) {
		b[0] = (u8)(i << 4 | NDP_DATA);
		assert_int_equal(read_exact(b, NDP_HLEN, &h) == NDP_READ_VERSION,
				 i != NDP_VERSION && i != NDP_VERSION_KEYED);
	}
}

/* Internet checksum of bytes from..to - 1, stored at @at */
static void put_sum(u8 *b, u32 at, u32 from, u32 to)
{
	u32 sum = 0;

	for (; from < to; from += 2)
		sum += (u32)b[from] << 8 | b[from + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	b[at] = (u8)(~sum >> 8);
	b[at + 1] = (u8)~sum;
}

static void put_sums(u8 *b)
{
	put_sum(b, 14, 0, 14);
	put_sum(b, 16, 18, NDP_HLEN);
}

/* Is a header refused if this byte of it is 1? */
static void assert_reserved(u32 which, u32 off)
{
	u8 b[NDP_HLEN];
	struct ndp_hdr h;

	memcpy(b, bytes[which], NDP_HLEN);
	assert_int_equal(b[off], 0);
	b[off] = 1;
	put_sums(b);
	assert_int_equal(read_exact(b, NDP_HLEN, &h), NDP_READ_VALUE);
}

static void test_reserved(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ALL; i++)
		if (i != CARRIER)
			assert_reserved(i, 23);
	for (i = 28; i < NDP_HLEN; i++)
		assert_reserved(ERROR, i);
	assert_reserved(COOKIE, 22);
	for (i = 24; i < 52; i++)
		assert_reserved(COOKIE, i);
}

/* A header that is read and written again has the same bytes: no byte is ignored. */
static void test_any_bytes(void **state)
{
	u8 b[NDP_HLEN_MAX] = {}, again[NDP_HLEN];
	struct ndp_hdr h;
	u32 i, n, good = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 72);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(b, bytes[rng_in(&rng, 0, ALL - 1)], NDP_HLEN);
		for (n = rng_in(&rng, 0, 2); n; n--)
			b[rng_in(&rng, 0, NDP_HLEN - 1)] ^= (u8)(1U << rng_in(&rng, 0, 7));
		put_sums(b);
		n = b[0] >> 4 == NDP_VERSION_KEYED ? NDP_HLEN_MAX : NDP_HLEN;
		if (read_exact(b, n, &h) != NDP_READ_OK)
			continue;
		good++;
		ndp_hdr_write(&h, again);
		if (h.keyed)
			ndp_hdr_set_keyed(again);
		assert_memory_equal(again, b, NDP_HLEN);
	}
	assert_in_range(good, ROUNDS / 10, ROUNDS * 9 / 10);
}

static void test_answer(void **state)
{
	struct ndp_hdr h, got;

	(void)state;
	ndp_answer(&data, NDP_COOKIE, &h);
	h.token = 1;
	assert_int_equal(written(&h, 0, &got), NDP_READ_OK);
	assert_int_equal(got.flow_id, data.flow_id);
	assert_int_equal(got.seq, data.seq);
	assert_int_equal(got.path, data.path);
	assert_int_equal(got.try_no, data.try_no);
	assert_int_equal(got.sport, data.dport);
	assert_int_equal(got.dport, data.sport);
	/* the answer of a receiver without state to a packet with 16 bytes left */
	assert_int_equal(read_exact(bytes[DATA], NDP_NACK_HLEN, &got), NDP_READ_OK);
	ndp_answer(&got, NDP_CONTROL, &h);
	h.flags = NDP_CTL_NACK | NDP_CTL_BARE;
	assert_int_equal(written(&h, 0, &got), NDP_READ_OK);
	assert_int_equal(got.seq, data.seq);
}

/* ---- batches */

/* Header @i of a batch of three packets: a message of 2500 bytes */
static struct ndp_hdr nth(u32 i)
{
	struct ndp_hdr h = data;

	h.flags = NDP_DATA_SYN | NDP_DATA_SPEC | (i == 2 ? NDP_DATA_LAST : 0);
	h.try_no = 0;
	h.seq += i;
	h.payload_len = i == 2 ? 500 : 1000;
	h.here = h.payload_len;
	h.data.offset = 1000 * i;
	h.data.msg_len = 2500;
	h.data.pull_target += i;
	return h;
}

static void test_join(void **state)
{
	struct ndp_hdr first = nth(0), second = nth(1), last = nth(2), h;

	(void)state;
	assert_true(ndp_hdr_join(&first, &second));
	assert_true(ndp_hdr_join(&second, &last));
	assert_false(ndp_hdr_join(&first, &last));
	assert_false(ndp_hdr_join(&second, &first));
	/* flags that are not about the batch */
	first.flags |= NDP_DATA_ACK;
	first.data.ack_flow_id = 1;
	first.data.ack_seq = 2;
	assert_true(ndp_hdr_join(&first, &second));
	second.flags |= NDP_DATA_ACK;
	assert_false(ndp_hdr_join(&first, &second));
	/* the header of a packet follows from those of the first and the last one */
	h = ndp_hdr_nth(&first, &last, 0);
	assert_memory_equal(&h, &first, sizeof(h));
	h = ndp_hdr_nth(&first, &last, 2);
	assert_memory_equal(&h, &last, sizeof(h));
	h = ndp_hdr_nth(&first, &last, 1);
	second = nth(1);
	second.data.pull_target = first.data.pull_target;
	second.data.ack_flow_id = 1;
	second.data.ack_seq = 2;
	assert_memory_equal(&h, &second, sizeof(h));
}

/* Check that packets do not join if a field of the first or of the second one has another value. */
#define assert_apart(field, value) do {					\
	struct ndp_hdr two[2];						\
	u32 i;								\
									\
	for (i = 0; i < 2; i++) {					\
		two[0] = nth(0);					\
		two[1] = nth(1);					\
		two[i].field = (value);					\
		assert_false(ndp_hdr_join(&two[0], &two[1]));		\
	}								\
} while (0)

static void test_join_not(void **state)
{
	struct ndp_hdr a, b;

	(void)state;
	assert_apart(type, NDP_PROBE);
	assert_apart(flags, NDP_DATA_SYN);
	assert_apart(flags, NDP_DATA_SPEC);
	assert_apart(flags, NDP_DATA_SYN | NDP_DATA_RTX);
	assert_apart(path, 1);
	assert_apart(try_no, 1);
	assert_apart(payload_len, 999);
	assert_apart(payload_len, 1001);
	assert_apart(flow_id, 1);
	assert_apart(seq, 1);
	assert_apart(sport, 1);
	assert_apart(dport, 1);
	assert_apart(here, 999);
	assert_apart(is_short, true);
	assert_apart(keyed, true);
	assert_apart(data.prio, 1);
	assert_apart(data.msg_id, 1);
	assert_apart(data.base, 1);
	assert_apart(data.msg_base, 1);
	assert_apart(data.token, 1);
	assert_apart(data.offset, 500);
	assert_apart(data.msg_len, 2501);
	/* the sender has no data after the first one */
	a = nth(0);
	b = nth(1);
	a.flags |= NDP_DATA_LAST;
	assert_false(ndp_hdr_join(&a, &b));
	/* the demand falls */
	a = nth(0);
	a.data.pull_target = b.data.pull_target + 1;
	assert_false(ndp_hdr_join(&a, &b));
	/* both retransmitted */
	a = nth(0);
	a.flags |= NDP_DATA_RTX;
	b.flags |= NDP_DATA_RTX;
	assert_false(ndp_hdr_join(&a, &b));
	/* a longer tail, and a shorter packet that is no tail */
	a = nth(1);
	b = nth(2);
	a.payload_len = 400;
	a.here = 400;
	a.data.msg_len = 1900;
	b.data.offset = 1400;
	b.data.msg_len = 1900;
	assert_false(ndp_hdr_join(&a, &b));
	a = nth(1);
	b = nth(2);
	a.data.msg_len = 9000;
	b.data.msg_len = 9000;
	assert_false(ndp_hdr_join(&a, &b));
}

/* Read the header at @b behind the one at @a. Return: ndp_hdr_read_next()'s result */
static bool next_after(const u8 *a, u32 a_len, const u8 *b, u32 len)
{
	struct ndp_hdr before, slow, fast;
	bool quick;

	assert_int_equal(ndp_hdr_read(a, a_len, &before), NDP_READ_OK);
	fast = before;
	quick = ndp_hdr_read_next(a, b, len, &fast);
	if (!quick) {
		assert_memory_equal(&fast, &before, sizeof(fast));
		return false;
	}
	assert_int_equal(ndp_hdr_read(b, len, &slow), NDP_READ_OK);
	assert_true(ndp_hdr_join(&before, &slow));
	assert_memory_equal(&fast, &slow, sizeof(fast));
	return true;
}

static bool next(const u8 *a, const u8 *b, u32 len)
{
	return next_after(a, NDP_HLEN + 1000, b, len);
}

static void test_read_next(void **state)
{
	struct ndp_hdr h[3] = { nth(0), nth(1), nth(2) };
	u8 b[3][NDP_HLEN_MAX], wrong[NDP_HLEN];
	struct rng rng;
	u32 i, n;

	(void)state;
	for (i = 0; i < 3; i++)
		ndp_hdr_write(&h[i], b[i]);
	assert_true(next(b[0], b[1], NDP_HLEN + 1000));
	/* trimmed, padded, the same once more, one that is left out, and the tail */
	assert_false(next(b[0], b[1], NDP_HLEN + 999));
	assert_false(next(b[0], b[1], NDP_HLEN + 1001));
	assert_false(next(b[0], b[0], NDP_HLEN + 1000));
	assert_false(next(b[1], b[2], NDP_HLEN + 500));
	assert_false(next_after(b[0], NDP_HLEN + 999, b[1], NDP_HLEN + 1000));
	/* a header with other values is accepted only if ndp_hdr_join() accepts it */
	rng_seed(&rng, 73);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(wrong, b[1], NDP_HLEN);
		for (n = rng_in(&rng, 1, 2); n; n--)
			wrong[rng_in(&rng, 0, NDP_HLEN - 1)] ^= (u8)(1U << rng_in(&rng, 0, 7));
		if (i % 2)
			put_sums(wrong);
		next(b[0], wrong, NDP_HLEN + 1000);
		n = rng_in(&rng, 0, NDP_HLEN - 1);
		memcpy(wrong, b[1], NDP_HLEN);
		wrong[n] ^= 1;
		assert_false(next(b[0], wrong, NDP_HLEN + 1000));
	}
	/* behind the end of the message; a base that would be after the packet, modulo 2^32 */
	for (i = 0; i < 2; i++) {
		h[i].data.msg_len = h[1].data.offset + 999;
		ndp_hdr_write(&h[i], b[i]);
	}
	assert_false(next(b[0], b[1], NDP_HLEN + 1000));
	for (i = 0; i < 2; i++) {
		h[i] = nth(i);
		h[i].data.base = nth(0).seq - INT32_MAX;
		ndp_hdr_write(&h[i], b[i]);
	}
	assert_false(next(b[0], b[1], NDP_HLEN + 1000));
	for (i = 0; i < 2; i++)
		h[i] = nth(i);
	/* flags that the first packet of a batch may have, and a retransmission */
	h[0].flags |= NDP_DATA_ACK;
	ndp_hdr_write(&h[0], b[0]);
	assert_false(next(b[0], b[1], NDP_HLEN + 1000));
	h[0].flags = NDP_DATA_RTX;
	h[1].flags = NDP_DATA_RTX;
	ndp_hdr_write(&h[0], b[0]);
	ndp_hdr_write(&h[1], b[1]);
	assert_false(next(b[0], b[1], NDP_HLEN + 1000));
	/* repeated, and with a tag, which is checked elsewhere */
	for (i = 0; i < 2; i++) {
		h[i] = nth(i);
		h[i].flags = 0;
		h[i].try_no = 1;
		ndp_hdr_write(&h[i], b[i]);
	}
	assert_false(next(b[0], b[1], NDP_HLEN + 1000));
	for (i = 0; i < 2; i++) {
		h[i].try_no = 0;
		ndp_hdr_write(&h[i], b[i]);
		ndp_hdr_set_keyed(b[i]);
	}
	assert_false(next_after(b[0], NDP_HLEN_MAX + 1000, b[1], NDP_HLEN + 1000));
}

static void test_serial(void **state)
{
	(void)state;
	assert_true(ndp_before(1, 2));
	assert_false(ndp_before(2, 2));
	assert_false(ndp_before(3, 2));
	assert_true(ndp_before(0xffffffff, 0));
	assert_false(ndp_before(0, 0xffffffff));
	assert_true(ndp_before(5, 5U + 0x7fffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_trimmed),
		cmocka_unit_test(test_trimmed_carrier),
		cmocka_unit_test(test_keyed),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_data_first),
		cmocka_unit_test(test_data_rest),
		cmocka_unit_test(test_carrier_values),
		cmocka_unit_test(test_probe_values),
		cmocka_unit_test(test_ctl_values),
		cmocka_unit_test(test_bare_values),
		cmocka_unit_test(test_other_values),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_not),
		cmocka_unit_test(test_read_next),
		cmocka_unit_test(test_serial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
