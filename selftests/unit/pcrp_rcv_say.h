/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A receiver, and what tests of sch/pcrp/pcrp_receiver.h tell it and expect of it in one line
 *
 * Chains have 1000 bytes, and flows are UDP's, where nothing else is said: a
 * packet's offset is then the bytes that came before it.
 */
#ifndef _CLOSNET_UNIT_PCRP_RCV_SAY_H
#define _CLOSNET_UNIT_PCRP_RCV_SAY_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pcrp_rcv_common.h"

#define C	1000U
#define NONE	PCRP_RCV_NONE
#define MS	1000000ULL

static struct rcv t;
static u32 asked;

static inline struct pcrp_msg ask_of(enum pcrp_type type, u32 flow_no, u64 size, u64 offset)
{
	return (struct pcrp_msg) {
		.type = type, .proto = IPPROTO_UDP, .sport = 1, .dport = 2,
		.slot = 77, .flow_no = flow_no, .cookie = 0x123456789abcdef0,
		.size = size, .offset = offset, .chain_no = (u32)(offset / C) + 1,
		.first_bytes = C, .chain_bytes = C, .ask = ++asked,
	};
}

static inline u32 request(u32 idx, u64 size, u64 offset)
{
	struct pcrp_msg m = ask_of(PCRP_REQUEST, 1, size, offset);

	return rcv_ask(&t, idx, &m);
}

static inline u32 probe(u32 idx, u64 size, u64 offset)
{
	struct pcrp_msg m = ask_of(PCRP_PROBE, 1, size, offset);

	t.now_ns += PCRP_RCV_LOST_NS;
	return rcv_ask(&t, idx, &m);
}

static inline void data(u32 idx, u32 bytes)
{
	rcv_data(&t, idx, bytes, 0);
}

/* A flow of which a packet without payload has come: it may have a place. */
static inline u32 opened(u64 size)
{
	u32 idx = request(NONE, size, 0);

	data(idx, 0);
	return idx;
}

static inline void assert_nothing(void)
{
	assert_int_equal(t.out_count, 0);
}

/* What the last step wanted done, as its n-th: a GRANT or ANSWER */
static inline void assert_out(u32 n, enum pcrp_rcv_out out, u32 idx, u64 granted)
{
	assert_true(n < t.out_count);
	assert_int_equal(t.outs[n].out, out);
	assert_int_equal(t.outs[n].idx, idx);
	if (out <= PCRP_RCV_GRANT)
		assert_int_equal(t.outs[n].msg.offset, granted);
}

static inline void assert_only(enum pcrp_rcv_out out, u32 idx, u64 granted)
{
	assert_int_equal(t.out_count, 1);
	assert_out(0, out, idx, granted);
}

#endif /* _CLOSNET_UNIT_PCRP_RCV_SAY_H */
