// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of net/ndp/rcv.c and rcv_msg.c: batches
 */
#include <stddef.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_say.h"

/* A batch is accepted only if each of its packets would be. */
static void expect_batch(u32 nr, u32 msg, u64 offset, u64 len, u32 count, enum ndp_rcv_verdict v)
{
	u64 before[NDP_RCV_VERDICTS], sum = 0;
	u32 i, used = (u32)rcv.mem.used, need = flow.need;

	memcpy(before, rcv.verdicts, sizeof(before));
	assert_int_equal(arrive_batch(nr, msg, offset, len, count), v);
	for (i = 0; i < NDP_RCV_VERDICTS; i++)
		sum += rcv.verdicts[i] - before[i];
	assert_int_equal(sum, v == NDP_RCV_VERDICTS ? 0 : count);
	if (v == NDP_RCV_VERDICTS) {
		assert_int_equal(rcv.mem.used, used);
		assert_int_equal(flow.need, need);
	}
}

static void test_batch(void **state)
{
	struct ndp_rcv_msg *m;

	(void)state;
	begin(LIMIT, false);
	expect_batch(0, 0, 0, 9500, 4, NDP_RCV_PART);
	assert_int_equal(flow.arrived.base, SEQ + 4);
	m = ndp_rcv_find(&flow, 0);
	assert_int_equal(ndp_rcv_prefix(m), 4000);
	assert_int_equal(m->kept, 4 * MEMORY);
	assert_int_equal(m->claim.bytes, 10 * MEMORY);
	assert_int_equal(flow.last_ns, 7);
	/* after a hole, with the tail */
	expect_batch(6, 0, 6000, 9500, 4, NDP_RCV_PART);
	assert_int_equal(flow.arrived.base, SEQ + 4);
	assert_int_equal(flow.end, SEQ + 10);
	expect_batch(4, 0, 4000, 9500, 2, NDP_RCV_WHOLE);
	assert_int_equal(flow.arrived.base, SEQ + 10);
	/* a whole message */
	expect_batch(10, 1, 0, 2500, 3, NDP_RCV_WHOLE);
	assert_int_equal(rcv.verdicts[NDP_RCV_PART], 11);
	assert_int_equal(rcv.verdicts[NDP_RCV_WHOLE], 2);
	/* the same again, under other numbers */
	expect_batch(13, 1, 0, 2500, 3, NDP_RCV_VERDICTS);
	end();
}

static void test_batch_not(void **state)
{
	struct ndp_hdr h, last;

	(void)state;
	begin(LIMIT, false);
	expect(1, 0, 1000, 9500, NDP_RCV_PART);
	/* a packet of it arrived; a part of it arrived under another number */
	expect_batch(0, 0, 0, 9500, 3, NDP_RCV_VERDICTS);
	expect_batch(2, 0, 0, 9500, 3, NDP_RCV_VERDICTS);
	/* it contradicts the message: its length, its parts, the place of the tail */
	expect_batch(2, 0, 2000, 9600, 3, NDP_RCV_VERDICTS);
	expect_batch(2, 0, 2500, 9500, 3, NDP_RCV_VERDICTS);
	expect_batch(2, 0, 7500, 9500, 2, NDP_RCV_VERDICTS);
	/* the window; more packets than an answer describes */
	expect_batch(NDP_RCV_WINDOW - 1, 0, 2000, 9500, 2, NDP_RCV_VERDICTS);
	expect_batch(NDP_MAP_BITS - 1, 0, 2000, 9500, 2, NDP_RCV_VERDICTS);
	/* @last is one of another flow's sockets; its base is far */
	h = data(2, 0, 2000, 9500);
	h.sport = 5;
	assert_int_equal(ndp_rcv_batch(&rcv, &flow, &(struct ndp_rcv_pkt){
		.h = &h, .last = &h, .memory = MEMORY }, &(struct ndp_rcv_msg *){ NULL }),
			 NDP_RCV_VERDICTS);
	h = data(2, 0, 2000, 9500);
	h.data.base = SEQ + 3 * NDP_RCV_WINDOW;
	assert_int_equal(ndp_rcv_batch(&rcv, &flow, &(struct ndp_rcv_pkt){
		.h = &h, .last = &h, .memory = MEMORY }, &(struct ndp_rcv_msg *){ NULL }),
			 NDP_RCV_VERDICTS);
	assert_int_equal(flow.arrived.base, SEQ);
	/* other packets under the number of one that arrived */
	expect_batch(0, 0, 4000, 9500, 3, NDP_RCV_VERDICTS);
	/* the message is cut otherwise */
	h = data(2, 0, 2000, 9500);
	h.payload_len = 500;
	last = data(3, 0, 2500, 9500);
	last.payload_len = 500;
	assert_int_equal(ndp_rcv_batch(&rcv, &flow, &(struct ndp_rcv_pkt){
		.h = &h, .last = &last, .memory = MEMORY }, &(struct ndp_rcv_msg *){ NULL }),
			 NDP_RCV_VERDICTS);
	/* the tail arrived */
	expect(9, 0, 9000, 9500, NDP_RCV_PART);
	expect_batch(7, 0, 8000, 9500, 2, NDP_RCV_VERDICTS);
	expect_batch(2, 0, 2000, 9500, 6, NDP_RCV_PART);
	expect_batch(NDP_MAP_BITS - 2, 0, 8000, 9500, 1, NDP_RCV_PART);
	/* the tail arrived first, at a place where no part of this length ends */
	expect(19, 1, 8900, 9500, NDP_RCV_PART);
	expect_batch(10, 1, 0, 9500, 3, NDP_RCV_VERDICTS);
	end();
	/* parts beyond the window */
	begin(100 * LIMIT, false);
	expect(0, 0, 0, 2000000, NDP_RCV_PART);
	expect_batch(1, 0, NDP_RCV_WINDOW * SEG, 2000000, 2, NDP_RCV_VERDICTS);
	expect_batch(1, 0, (NDP_RCV_WINDOW - 1) * SEG, 2000000, 2, NDP_RCV_PART);
	end();
}

/* Statements of a batch about its flow */
static void test_batch_learn(void **state)
{
	struct ndp_hdr h;

	(void)state;
	begin(LIMIT, false);
	h = data(4, 1, 4000, 9500);
	h.here = 0;
	assert_int_equal(arrive(&h), NDP_RCV_TRIMMED);
	flow.is_verified = false;
	expect_batch(3, 1, 3000, 9500, 3, NDP_RCV_PART);
	assert_true(flow.is_verified);
	assert_int_equal(ndp_bits_map(flow.nack, SEQ), 0);
	/* the sender gives up all packets before it */
	h = data(6, 1, 6000, 9500);
	h.data.base = SEQ + 6;
	h.data.msg_base = 1;
	assert_int_equal(ndp_rcv_batch(&rcv, &flow, &(struct ndp_rcv_pkt){
		.h = &h, .last = &h, .memory = MEMORY }, &(struct ndp_rcv_msg *){ NULL }),
			 NDP_RCV_PART);
	assert_int_equal(flow.arrived.base, SEQ + 7);
	assert_int_equal(flow.msg_base, 1);
	end();
}

/* A batch for which there is no room does not wait, and uses no promise. */
static void test_batch_room(void **state)
{
	(void)state;
	begin(20 * MEMORY, false);
	/* a message that is read in parts begins with a single packet */
	expect_batch(0, 0, 0, 30000, 4, NDP_RCV_VERDICTS);
	expect(0, 0, 0, 30000, NDP_RCV_PART);
	/* its window has four more places, one of them for the next packet */
	expect_batch(1, 0, 1000, 30000, 5, NDP_RCV_VERDICTS);
	expect_batch(2, 0, 2000, 30000, 4, NDP_RCV_VERDICTS);
	expect_batch(1, 0, 1000, 30000, 4, NDP_RCV_PART);
	expect_batch(5, 0, 5000, 30000, 2, NDP_RCV_VERDICTS);
	/* no room for another message */
	expect(5, 1, 0, 9000, NDP_RCV_PART);
	expect_batch(6, 2, 0, 9000, 3, NDP_RCV_VERDICTS);
	assert_int_equal(flow.need, 0);
	end();
	begin(LIMIT, false);
	assert_true(ndp_rmem_reserve(&rcv.mem, &flow.promise, 5000, 0, NDP_RESERVE_FIRST));
	expect_batch(0, 0, 0, 3000, 3, NDP_RCV_VERDICTS);
	assert_int_equal(flow.promise.bytes, 5000);
	end();
}

/* A batch moves the pull queue as its packets do. */
static void test_batch_demand(void **state)
{
	struct ndp_hdr first = data(0, 0, 0, 9500), last = data(3, 0, 3000, 9500);
	const struct ndp_rcv_pkt p = { .h = &first, .last = &last, .now_ns = 1000000 };
	struct ndp_pull_node single;
	struct ndp_pull q;
	u32 i;

	(void)state;
	last.data.pull_target = 20;
	for (i = 0; i < 4; i++) {
		struct ndp_hdr h = ndp_hdr_nth(&first, &last, i);

		if (!i) {
			begin(LIMIT, false);
			flow.is_verified = true;
			ndp_pull_init(&q, 0, 0);
			ndp_pull_rate(&q, 1250000000);
		}
		flow.end = SEQ + 10;
		ndp_rcv_allow(&flow, false);
		ndp_pull_whole(&flow.pull);
		ndp_pull_arrived(&q, &flow.pull, &h, flow.ip_more, false, p.now_ns);
	}
	single = flow.pull;
	assert_int_equal(single.target, 20);
	ndp_pull_flush(&q, &flow.pull);
	end();
	begin(LIMIT, false);
	flow.is_verified = true;
	flow.end = SEQ + 10;
	ndp_pull_init(&q, 0, 0);
	ndp_pull_rate(&q, 1250000000);
	flow.pull.full = true;
	assert_true(ndp_rcv_demand_batch(&q, &flow, &p, false));
	assert_false(flow.pull.full);
	assert_int_equal(flow.pull.target, single.target);
	assert_int_equal(flow.pull.bytes, single.bytes);
	assert_int_equal(flow.pull.more, single.more);
	/* four packets of 1000 bytes are a pull; the next one is not due */
	assert_in_range(flow.pull.granted, 4, 6);
	/* a flow that is held is not pulled, nor one without demand */
	assert_false(ndp_rcv_demand_batch(&q, &flow, &p, true));
	flow.last = true;
	flow.end = flow.arrived.base;
	assert_false(ndp_rcv_demand_batch(&q, &flow, &p, false));
	assert_int_equal(flow.pull.target, flow.pull.granted);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_batch_not),
		cmocka_unit_test(test_batch_learn),
		cmocka_unit_test(test_batch_room),
		cmocka_unit_test(test_batch_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
