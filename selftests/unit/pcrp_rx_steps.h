/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of a PCRP receiver and expectations, for its tests, in one line each
 *
 * Unless a test states otherwise, chains have 1000 bytes and flows are UDP's, so that a
 * packet's offset is the number of bytes that came before it.
 */
#ifndef _CLOSNET_UNIT_PCRP_RX_STEPS_H
#define _CLOSNET_UNIT_PCRP_RX_STEPS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pcrp_rx_common.h"

#define C	1000U
#define NONE	RX_NONE
#define MS	1000000ULL

static struct rx t;
static u32 requests;	/* REQUESTs and PROBEs so far */

static inline struct pcrp_msg msg_of(enum pcrp_type type, u32 flow_no, u64 size, u64 offset)
{
	return (struct pcrp_msg) {
		.type = type, .proto = IPPROTO_UDP, .sport = 1, .dport = 2,
		.slot = 77, .flow_no = flow_no, .cookie = 0x123456789abcdef0,
		.size = size, .offset = offset, .chain_no = (u32)(offset / C) + 1,
		.first_bytes = C, .chain_bytes = C, .request_no = ++requests,
	};
}

static inline u32 request(u32 idx, u64 size, u64 offset)
{
	struct pcrp_msg m = msg_of(PCRP_REQUEST, 1, size, offset);

	return rx_request(&t, idx, &m);
}

/* A PROBE after enough time to show that missing data is lost */
static inline u32 probe(u32 idx, u64 size, u64 offset)
{
	struct pcrp_msg m = msg_of(PCRP_PROBE, 1, size, offset);

	t.now_ns += PCRP_RX_LOST_NS;
	return rx_request(&t, idx, &m);
}

static inline void data(u32 idx, u32 bytes)
{
	rx_data(&t, idx, bytes, 0);
}

/* A REQUEST and a packet without payload, so that the flow may have a place */
static inline u32 opened(u64 size)
{
	u32 idx = request(NONE, size, 0);

	data(idx, 0);
	return idx;
}

static inline void assert_nothing(void)
{
	assert_int_equal(t.action_count, 0);
}

/* Assert the n-th action of the last step; @granted is the offset of a GRANT */
static inline void assert_action(u32 n, enum pcrp_rx_action action, u32 idx, u64 granted)
{
	assert_true(n < t.action_count);
	assert_int_equal(t.actions[n].action, action);
	assert_int_equal(t.actions[n].idx, idx);
	if (action <= PCRP_RX_GRANT)
		assert_int_equal(t.actions[n].msg.offset, granted);
}

static inline void assert_only(enum pcrp_rx_action action, u32 idx, u64 granted)
{
	assert_int_equal(t.action_count, 1);
	assert_action(0, action, idx, granted);
}

#endif /* _CLOSNET_UNIT_PCRP_RX_STEPS_H */
