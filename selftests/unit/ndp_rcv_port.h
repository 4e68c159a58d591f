/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow of net/ndp/ndp_rcv.h, and packets for it
 *
 * Parts of messages have 1000 bytes, packets cost the memory of their payload, and
 * the flow's numbers wrap around soon after it begins.
 */
#ifndef _CLOSNET_UNIT_NDP_RCV_PORT_H
#define _CLOSNET_UNIT_NDP_RCV_PORT_H

#include <stdlib.h>
#include <string.h>

#include "../../net/ndp/ndp_rcv.h"
#include "rng.h"

#define SEG	1000U
#define W	NDP_RCV_WINDOW
#define SEQ	0xfffffffcU	/* the first packet */
#define ID	0xfffffffeU	/* the first message */
#define SEC	1000000000ULL

static struct ndp_rcv_params p;
static struct ndp_rcv r;
static struct ndp_rcv_flow f;
static struct ndp_rcv_msg *msg;	/* of the last packet */
static u64 now_ns;

static inline struct ndp_hdr data_of(u32 n, u32 id, u64 offset, u64 len)
{
	u64 left = len - offset;

	return (struct ndp_hdr) {
		.type = NDP_DATA, .flags = NDP_DATA_SYN, .seq = SEQ + n, .sport = 7, .dport = 9,
		.flow_id = 5, .path = 3, .try_no = 2,
		.payload_len = left < SEG ? left : SEG, .here = left < SEG ? left : SEG,
		.data = { .msg_id = ID + id, .base = SEQ, .offset = offset, .msg_len = len },
	};
}

static inline int setup(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 1);

	(void)state;
	p = (struct ndp_rcv_params) {
		.memory_max = 10000000, .time_wait_ns = 10 * SEC, .msgs_max = 2000,
		.flows_max = 100, .peer_flows_max = 10, .cookie_flows = 50, .window = 30,
	};
	r = (struct ndp_rcv) { .p = &p };
	now_ns = SEC;
	ndp_rcv_open(&f, &h, 0x12345678, now_ns);
	return 0;
}

static inline int teardown(void **state)
{
	struct ndp_rcv_msg *m;

	(void)state;
	while ((m = ndp_rcv_pop(&r, &f, U64_MAX)))
		free(m);
	assert_int_equal(f.msgs, 0);
	assert_int_equal(r.msgs, 0);
	assert_true(!r.partial);
	ndp_rcv_close(&r, &f);
	assert_null(r.first);
	assert_true(!f.missing && !r.reserved);
	return 0;
}

/* Each packet is given memory of its own, so that ASan sees what is kept for too long. */
static inline enum ndp_rcv_verdict take(const struct ndp_hdr *h)
{
	struct ndp_rcv_msg *spare = malloc(sizeof(*spare));
	u64 before = 0, after = 0;
	enum ndp_rcv_verdict v;
	u32 i;

	memset(spare, 0xa5, sizeof(*spare));
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		before += r.verdicts[i];
	msg = spare;
	v = ndp_rcv_packet(&r, &f, h, h->here, now_ns, &msg);
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		after += r.verdicts[i];
	assert_true(after == before + 1);
	if (msg != spare || v != NDP_RCV_PART)
		free(spare);
	if (v == NDP_RCV_WHOLE && msg) {
		assert_null(ndp_rcv_find(&f, h->data.msg_id));
		free(msg);
	}
	return v;
}

static inline enum ndp_rcv_verdict part(u32 n, u32 id, u64 offset, u64 len)
{
	struct ndp_hdr h = data_of(n, id, offset, len);

	return take(&h);
}

static inline enum ndp_rcv_verdict trimmed(u32 n, u32 id, u64 offset, u64 len, u16 here)
{
	struct ndp_hdr h = data_of(n, id, offset, len);

	h.here = here;
	return take(&h);
}

static inline struct ndp_ctl control(void)
{
	struct ndp_hdr h = {};

	ndp_rcv_control(&r, &f, &h);
	return h.ctl;
}

#endif /* _CLOSNET_UNIT_NDP_RCV_PORT_H */
