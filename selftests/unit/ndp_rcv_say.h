/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A receiving flow of net/ndp/rcv.h, and functions by which packets arrive. Include cmocka.h
 * before.
 */
#ifndef _CLOSNET_UNIT_NDP_RCV_SAY_H
#define _CLOSNET_UNIT_NDP_RCV_SAY_H

#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/rcv.h"

#define SEQ	0xfffffff0U	/* wraps soon */
#define SEG	1000U
#define TOKEN	77U
#define MEMORY	1500U		/* of a packet */
#define LIMIT	160000U

static struct ndp_rcv rcv;
static struct ndp_rcv_flow flow;
static u64 total;	/* memory that is charged */
static bool scarce;	/* no memory, but for packets that others wait for */
static bool empty;	/* no memory */

static inline u32 add_memory(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share)
{
	(void)r;
	(void)least;
	if (empty || (scarce && share != NDP_RMEM_MUST))
		return 0;
	total += most;
	return most;
}

static inline void take_memory(struct ndp_rmem *r, u32 bytes)
{
	(void)r;
	assert_true(bytes <= total);
	total -= bytes;
}

/* DATA number @nr of the flow: the part at @offset of a message of @len bytes */
static inline struct ndp_hdr data(u32 nr, u32 msg, u64 offset, u64 len)
{
	return (struct ndp_hdr) {
		.type = NDP_DATA, .flags = NDP_DATA_SYN, .seq = SEQ + nr, .sport = 1, .dport = 2,
		.payload_len = (u16)min_t(u64, SEG, len - offset),
		.here = (u16)min_t(u64, SEG, len - offset),
		.data = {
			.msg_id = msg, .base = SEQ, .offset = offset, .msg_len = len,
			.token = TOKEN,
		},
	};
}

static inline void begin(u64 limit, bool in_order)
{
	struct ndp_hdr h = data(0, 0, 0, SEG);

	total = 0;
	scarce = false;
	empty = false;
	rcv = (struct ndp_rcv) {
		.mem = { .charge = add_memory, .uncharge = take_memory }, .msgs_max = 100,
		.overhead = 500, .window = 30, .in_order = in_order,
	};
	ndp_rmem_set_limit(&rcv.mem, limit, MEMORY);
	ndp_rcv_open(&flow, &h, 12345, 0);
	flow.token = TOKEN;
}

/* A packet or a batch was processed. Whole messages are freed unless they are in order. */
static inline enum ndp_rcv_verdict arrived(enum ndp_rcv_verdict v, struct ndp_rcv_msg *fresh,
					   struct ndp_rcv_msg *m)
{
	if (m != fresh)
		free(fresh);
	if (v == NDP_RCV_WHOLE && !rcv.in_order) {
		ndp_rmem_end(&rcv.mem, &m->claim);
		free(m);
	}
	return v;
}

/* A packet arrives. */
static inline enum ndp_rcv_verdict arrive(const struct ndp_hdr *h)
{
	struct ndp_rcv_msg *fresh = calloc(1, sizeof(*fresh)), *m = fresh;
	struct ndp_rcv_pkt p = { .h = h, .memory = ndp_is_trimmed(h) ? 0 : MEMORY };
	enum ndp_rcv_verdict v = ndp_rcv_packet(&rcv, &flow, &p, &m);

	return arrived(v, fresh, m);
}

static inline void end(void)
{
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_take_any(&rcv, &flow))) {
		ndp_rmem_end(&rcv.mem, &m->claim);
		free(m);
	}
	ndp_rcv_close(&rcv, &flow);
	assert_int_equal(total, 0);
	assert_int_equal(rcv.msgs, 0);
}

static inline void expect(u32 nr, u32 msg, u64 offset, u64 len, enum ndp_rcv_verdict v)
{
	struct ndp_hdr h = data(nr, msg, offset, len);

	assert_int_equal(arrive(&h), v);
}

/* A batch of @count packets arrives, the first one @offset bytes into a message of @len bytes. */
static inline enum ndp_rcv_verdict arrive_batch(u32 nr, u32 msg, u64 offset, u64 len, u32 count)
{
	struct ndp_rcv_msg *fresh = calloc(1, sizeof(*fresh)), *m = fresh;
	struct ndp_hdr h = data(nr, msg, offset, len);
	struct ndp_hdr last = data(nr + count - 1, msg, offset + (count - 1) * SEG, len);
	struct ndp_rcv_pkt p = { .h = &h, .last = &last, .memory = count * MEMORY, .now_ns = 7 };
	enum ndp_rcv_verdict v = ndp_rcv_batch(&rcv, &flow, &p, &m);

	return arrived(v, fresh, m);
}

#endif /* _CLOSNET_UNIT_NDP_RCV_SAY_H */
