// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of net/ndp/rcv.c and rcv_msg.c: windows, parts of messages, room, order, answers
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_say.h"
#include "rng.h"

/* Parts arrive in any order; seq and place show duplicates. */
static void test_parts(void **state)
{
	(void)state;
	begin(LIMIT, false);
	expect(2, 0, 2000, 2500, NDP_RCV_PART);
	expect(0, 0, 0, 2500, NDP_RCV_PART);
	expect(0, 0, 0, 2500, NDP_RCV_DUPLICATE);
	expect(3, 0, 0, 2500, NDP_RCV_DUPLICATE);
	expect(1, 0, 1000, 2500, NDP_RCV_WHOLE);
	assert_int_equal(flow.arrived.base, SEQ + 4);
	/* a message is delivered once */
	expect(5, 0, 1000, 2500, NDP_RCV_DUPLICATE);
	expect(4, 1, 0, 10, NDP_RCV_WHOLE);
	end();
}

static void test_contradictions(void **state)
{
	struct ndp_hdr h;

	(void)state;
	begin(LIMIT, false);
	expect(0, 0, 0, 5000, NDP_RCV_PART);
	expect(1, 0, 1000, 6000, NDP_RCV_BAD_PART);
	expect(1, 0, 1500, 5000, NDP_RCV_BAD_PART);
	h = data(1, 0, 4500, 5000);
	assert_int_equal(arrive(&h), NDP_RCV_BAD_PART);
	h = data(1, 0, 1000, 5000);
	h.dport = 3;
	assert_int_equal(arrive(&h), NDP_RCV_BAD_PORT);
	expect(NDP_RCV_WINDOW + 1, 0, 1000, 5000, NDP_RCV_OUT_OF_WINDOW);
	assert_int_equal(flow.arrived.base, SEQ + 1);
	end();
}

/* A packet moves neither base nor ids far: neither a PROBE nor DATA of a stranger ends messages. */
static void test_far(void **state)
{
	const u32 most = 2 * NDP_RCV_WINDOW;
	struct ndp_hdr h;

	(void)state;
	begin(LIMIT, false);
	expect(0, 0, 0, 2500, NDP_RCV_PART);
	h = (struct ndp_hdr) {
		.type = NDP_PROBE, .seq = SEQ + 1 + most, .sport = 1, .dport = 2,
		.data = { .base = SEQ + 2 + most },
	};
	assert_int_equal(arrive(&h), NDP_RCV_OUT_OF_WINDOW);
	h.data.base = SEQ;
	h.data.msg_base = most + 1;
	assert_int_equal(arrive(&h), NDP_RCV_OUT_OF_WINDOW);
	expect(1, most + 1, 0, SEG, NDP_RCV_OUT_OF_WINDOW);
	assert_int_equal(flow.arrived.base, SEQ + 1);
	assert_int_equal(flow.msg_base, 0);
	assert_int_equal(flow.newest_id, 0);
	assert_null(ndp_rcv_take_over(&rcv, &flow));
	expect(1, 0, 1000, 2500, NDP_RCV_PART);
	expect(2, 0, 2000, 2500, NDP_RCV_WHOLE);
	/* a window that was given up */
	h.data.msg_base = 0;
	h.data.base = SEQ + 3 + most;
	assert_int_equal(arrive(&h), NDP_RCV_PROBED);
	assert_int_equal(flow.arrived.base, SEQ + 3 + most);
	expect(3 + most, most, 0, SEG, NDP_RCV_WHOLE);
	end();
}

/* A trimmed first packet reserves all of the message; a single trimmed packet does not. */
static void test_trimmed(void **state)
{
	struct ndp_hdr h = data(0, 0, 0, 4000);

	(void)state;
	begin(LIMIT, false);
	h.here = 0;
	assert_int_equal(arrive(&h), NDP_RCV_TRIMMED);
	assert_int_equal(rcv.mem.used, 4 * 2 * (SEG + 500));
	assert_int_equal(total, MEMORY);
	assert_int_equal(flow.trimmed, 1);
	h = data(1, 1, 0, 100);
	h.here = 0;
	assert_int_equal(arrive(&h), NDP_RCV_TRIMMED);
	assert_int_equal(rcv.mem.used, 4 * 2 * (SEG + 500));
	expect(0, 0, 0, 4000, NDP_RCV_PART);
	end();
}

/* The descriptor of a message is reserved once, not for each packet. */
static void test_descriptor(void **state)
{
	struct ndp_rcv_msg *fresh = calloc(1, sizeof(*fresh)), *m = fresh;
	struct ndp_hdr first = data(0, 0, 0, 3000);
	struct ndp_rcv_pkt p = { .h = &first, .memory = MEMORY, .descriptor = 300 };

	(void)state;
	begin(LIMIT, false);
	assert_int_equal(ndp_rcv_packet(&rcv, &flow, &p, &m), NDP_RCV_PART);
	assert_int_equal(rcv.mem.used, 300 + 3 * MEMORY);
	assert_int_equal(total, 300 + MEMORY);
	assert_int_equal(m->kept, 300 + MEMORY);
	assert_int_equal(rcv.usual_extra, MEMORY - SEG);
	expect(1, 0, 1000, 3000, NDP_RCV_PART);
	ndp_rcv_lapse(&rcv, &flow);
	assert_int_equal(total, 300 + 2 * MEMORY);
	expect(2, 0, 2000, 3000, NDP_RCV_WHOLE);
	end();
}

/* A message without room is refused, and begins when there is room, under the same id. */
static void test_refused(void **state)
{
	struct ndp_hdr answer, h = data(60, 2, 0, 40000);

	(void)state;
	begin(LIMIT, false);
	expect(0, 0, 0, 40000, NDP_RCV_PART);
	expect(1, 1, 0, 40000, NDP_RCV_PART);
	assert_int_equal(arrive(&h), NDP_RCV_REFUSED);
	assert_true(flow.need);
	ndp_rcv_answer(&rcv, &flow, &h, NDP_RCV_REFUSED, false, 0, &answer);
	assert_int_equal(answer.type, NDP_ERROR);
	assert_int_equal(answer.err.code, NDP_CODE_REFUSED);
	assert_int_equal(answer.err.msg_id, 2);
	/* a short message has room all the same */
	expect(2, 3, 0, 10, NDP_RCV_WHOLE);
	free(ndp_rcv_abort(&rcv, &flow, 1));
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_int_equal(flow.need, 0);
	expect(3, 1, 1000, 40000, NDP_RCV_GONE);
	end();
}

/* While flows wait, no memory is reserved for unsent packets of an unverified sender. */
static void test_refused_unverified(void **state)
{
	struct ndp_hdr h = data(0, 0, 0, 2000), single = data(1, 1, 0, 100);

	(void)state;
	begin(LIMIT, false);
	h.data.token = 0;
	single.data.token = 0;
	rcv.mem.waiting = true;
	assert_int_equal(arrive(&h), NDP_RCV_REFUSED);
	h.here = 0;
	assert_int_equal(arrive(&h), NDP_RCV_REFUSED);
	assert_int_equal(total, 0);
	assert_int_equal(arrive(&single), NDP_RCV_WHOLE);
	h.here = h.payload_len;
	h.data.token = TOKEN;
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_int_equal(rcv.mem.used, 2 * MEMORY);
	end();
}

/* A long message gets a window: the next packet in order has the last place in it. */
static void test_window(void **state)
{
	struct ndp_rcv_msg *m;
	u32 i;

	(void)state;
	begin(LIMIT, false);
	expect(0, 0, 0, 200000, NDP_RCV_PART);
	m = ndp_rcv_find(&flow, 0);
	assert_true(m->claim.is_window);
	assert_int_equal(m->claim.bytes, LIMIT / 4);
	/* 26 packets fit; all but one of them after a hole */
	for (i = 2; i < 26; i++)
		expect(i, 0, i * SEG, 200000, NDP_RCV_PART);
	expect(i, 0, i * SEG, 200000, NDP_RCV_FULL);
	assert_false(ndp_rcv_is_narrow(&rcv, m) && ndp_rcv_prefix(m) == m->read);
	expect(1, 0, SEG, 200000, NDP_RCV_PART);
	assert_int_equal(ndp_rcv_prefix(m), 26 * SEG);
	assert_true(ndp_rcv_is_narrow(&rcv, m));
	expect(i, 0, i * SEG, 200000, NDP_RCV_FULL);
	ndp_rcv_read(&rcv, m, 10 * SEG, 10 * MEMORY);
	assert_int_equal(m->claim.bytes, LIMIT / 4);
	expect(i, 0, i * SEG, 200000, NDP_RCV_PART);
	/* of a sender, one message at a time is read in parts */
	expect(50, 1, 0, 200000, NDP_RCV_REFUSED);
	end();
}

/*
 * Without total memory, a message is read as it arrives. The next packet has room when all before
 * it was read.
 */
static void test_scarce(void **state)
{
	struct ndp_rcv_msg *m;

	(void)state;
	begin(LIMIT, false);
	scarce = true;
	expect(0, 0, 0, 10000, NDP_RCV_PART);
	m = ndp_rcv_find(&flow, 0);
	assert_false(m->claim.is_window);
	expect(1, 0, 1000, 10000, NDP_RCV_FULL);
	assert_true(m->claim.is_window && flow.windows == 1 && !flow.need);
	assert_true(ndp_rcv_is_narrow(&rcv, m));
	ndp_rcv_read(&rcv, m, 1000, MEMORY);
	assert_false(ndp_rcv_is_narrow(&rcv, m));
	/* its charge serves the next packet, but no other one */
	expect(2, 0, 2000, 10000, NDP_RCV_FULL);
	expect(1, 0, 1000, 10000, NDP_RCV_PART);
	assert_int_equal(total, MEMORY);
	expect(2, 0, 2000, 10000, NDP_RCV_FULL);
	assert_true(ndp_rcv_is_narrow(&rcv, m));
	/* another message of the flow is not read in parts */
	expect(20, 1, 0, 2000, NDP_RCV_REFUSED);
	scarce = false;
	expect(20, 1, 0, 2000, NDP_RCV_PART);
	scarce = true;
	expect(21, 1, 1000, 2000, NDP_RCV_WHOLE);
	scarce = false;
	expect(3, 0, 3000, 10000, NDP_RCV_PART);
	assert_false(ndp_rcv_is_narrow(&rcv, m));
	end();
}

/* No memory is left, as in a cgroup: packets behind a hole do not keep the next one out. */
static void test_empty(void **state)
{
	struct ndp_rcv_msg *m;

	(void)state;
	begin(LIMIT, false);
	expect(1, 0, 1000, 10000, NDP_RCV_PART);
	m = ndp_rcv_find(&flow, 0);
	assert_int_equal(total, 2 * MEMORY);
	empty = true;
	expect(2, 0, 2000, 10000, NDP_RCV_FULL);
	expect(0, 0, 0, 10000, NDP_RCV_PART);
	expect(2, 0, 2000, 10000, NDP_RCV_FULL);
	ndp_rcv_read(&rcv, m, 2000, 2 * MEMORY);
	expect(3, 0, 3000, 10000, NDP_RCV_PART);
	expect(4, 0, 4000, 10000, NDP_RCV_FULL);
	expect(2, 0, 2000, 10000, NDP_RCV_PART);
	end();
}

/* In order, only the next message is read in parts. */
static void test_scarce_in_order(void **state)
{
	(void)state;
	begin(LIMIT, true);
	expect(0, 0, 0, 3000, NDP_RCV_PART);
	expect(3, 1, 0, 3000, NDP_RCV_PART);
	scarce = true;
	expect(4, 1, 1000, 3000, NDP_RCV_PART);
	assert_int_equal(flow.windows, 0);
	expect(1, 0, 1000, 3000, NDP_RCV_FULL);
	assert_int_equal(flow.windows, 1);
	end();
}

/* In order, messages that wait for an earlier one leave the last memory to that one. */
static void test_scarce_early(void **state)
{
	(void)state;
	begin(LIMIT, true);
	expect(3, 1, 0, 3000, NDP_RCV_PART);
	scarce = true;
	expect(4, 1, 1000, 3000, NDP_RCV_FULL);
	expect(0, 0, 0, 3000, NDP_RCV_PART);
	expect(4, 1, 1000, 3000, NDP_RCV_PART);
	assert_int_equal(flow.windows, 0);
	end();
}

/* A window that was as large as two short tails has room for the next packet in order. */
static void test_window_grows(void **state)
{
	struct ndp_rcv_msg *fresh = calloc(1, sizeof(*fresh)), *m = fresh;
	struct ndp_hdr tail = data(15, 0, 15000, 15500), first = data(0, 0, 0, 15500);
	struct ndp_rcv_pkt p = { .h = &tail, .memory = MEMORY };

	(void)state;
	begin(4 * MEMORY, false);
	assert_int_equal(ndp_rcv_packet(&rcv, &flow, &p, &m), NDP_RCV_PART);
	assert_true(m->claim.is_window);
	p.h = &first;
	p.memory = 2 * MEMORY;
	ndp_rmem_set_limit(&rcv.mem, 4 * MEMORY, p.memory);
	m = NULL;
	assert_int_equal(ndp_rcv_packet(&rcv, &flow, &p, &m), NDP_RCV_PART);
	/* other messages wait until it is read */
	first = data(2, 0, 2000, 15500);
	m = NULL;
	assert_int_equal(ndp_rcv_packet(&rcv, &flow, &p, &m), NDP_RCV_FULL);
	end();
}

/*
 * A silent sender's reservation lapses, and grows again when the sender continues: beyond the
 * limit, unless another message exceeds that.
 */
static void test_lapse(void **state)
{
	static const struct ndp_claim other;
	struct ndp_rcv_msg *m;

	(void)state;
	begin(LIMIT, false);
	expect(0, 0, 0, 10000, NDP_RCV_PART);
	assert_int_equal(rcv.mem.used, 10 * MEMORY);
	ndp_rcv_lapse(&rcv, &flow);
	assert_int_equal(rcv.mem.aside, MEMORY);
	expect(1, 0, 1000, 10000, NDP_RCV_PART);
	assert_int_equal(rcv.mem.used, 10 * MEMORY);
	ndp_rcv_lapse(&rcv, &flow);
	rcv.mem.limit = MEMORY;
	rcv.mem.exceeds = &other;
	expect(2, 0, 2000, 10000, NDP_RCV_FULL);
	assert_true(flow.need);
	m = ndp_rcv_find(&flow, 0);
	assert_int_equal(m->kept, 2 * MEMORY);
	rcv.mem.exceeds = NULL;
	expect(2, 0, 2000, 10000, NDP_RCV_PART);
	assert_int_equal(rcv.mem.used, 10 * MEMORY);
	assert_false(flow.need);
	end();
}

/* If a sender dies late in its message, the kept packets do not count while flows wait. */
static void test_lapse_late(void **state)
{
	u32 i;

	(void)state;
	begin(LIMIT, false);
	for (i = 0; i < 52; i++)
		expect(i, 0, i * SEG, 53000, NDP_RCV_PART);
	expect(60, 1, 0, 53000, NDP_RCV_REFUSED);
	ndp_rcv_lapse(&rcv, &flow);
	expect(60, 1, 0, 53000, NDP_RCV_PART);
	assert_int_equal(rcv.mem.aside, 52 * MEMORY);
	assert_int_equal(rcv.mem.used, 53 * MEMORY);
	/* the sender returns */
	expect(52, 0, 52 * SEG, 53000, NDP_RCV_WHOLE);
	assert_int_equal(rcv.mem.used, 53 * MEMORY);
	assert_int_equal(rcv.mem.aside, 0);
	end();
}

static u32 next_id(void)
{
	struct ndp_rcv_msg *m = ndp_rcv_take_next(&rcv, &flow);
	u32 id;

	if (!m)
		return UINT32_MAX;
	id = m->id;
	ndp_rmem_end(&rcv.mem, &m->claim);
	free(m);
	return id;
}

/* In order: messages wait for earlier ones, even if no packet of them arrived. */
static void test_order(void **state)
{
	struct ndp_hdr h;

	(void)state;
	begin(LIMIT, true);
	expect(5, 3, 0, 10, NDP_RCV_WHOLE);
	assert_int_equal(next_id(), UINT32_MAX);
	expect(0, 0, 0, 10, NDP_RCV_WHOLE);
	assert_int_equal(next_id(), 0);
	expect(3, 2, 0, 2000, NDP_RCV_PART);
	assert_int_equal(next_id(), UINT32_MAX);
	expect(1, 1, 0, 10, NDP_RCV_WHOLE);
	assert_int_equal(next_id(), 1);
	assert_int_equal(next_id(), UINT32_MAX);
	/* message 2 is over at the sender, which gave it up */
	h = data(6, 4, 0, 10);
	h.data.msg_base = 3;
	assert_int_equal(arrive(&h), NDP_RCV_WHOLE);
	free(ndp_rcv_take_over(&rcv, &flow));
	assert_null(ndp_rcv_take_over(&rcv, &flow));
	assert_int_equal(next_id(), 3);
	assert_int_equal(next_id(), 4);
	end();
}

/* In order: messages that wait leave room for the next message in order. */
static void test_order_has_room(void **state)
{
	u32 i;

	(void)state;
	begin(LIMIT, true);
	for (i = 1; i < 200; i++) {
		struct ndp_hdr h = data(i, i, 0, 10);
		enum ndp_rcv_verdict v = arrive(&h);

		assert_int_equal(v, i <= LIMIT / 2 / MEMORY ? NDP_RCV_WHOLE : NDP_RCV_REFUSED);
	}
	expect(0, 0, 0, 40000, NDP_RCV_PART);
	end();
}

/* In order, only the next message is read in parts, since the reader would not read a later one. */
static void test_order_in_parts(void **state)
{
	struct ndp_hdr h = data(3, 1, 0, 200000);
	struct ndp_hdr answer = {};

	(void)state;
	begin(LIMIT, true);
	assert_int_equal(arrive(&h), NDP_RCV_REFUSED);
	/* message 0 has to be tried first */
	ndp_rcv_control(&rcv, &flow, &answer);
	assert_true(answer.flags & NDP_CTL_ROOM);
	expect(0, 0, 0, 2000, NDP_RCV_PART);
	assert_int_equal(arrive(&h), NDP_RCV_REFUSED);
	answer.flags = 0;
	ndp_rcv_control(&rcv, &flow, &answer);
	assert_false(answer.flags & NDP_CTL_ROOM);
	expect(1, 0, 1000, 2000, NDP_RCV_WHOLE);
	assert_int_equal(next_id(), 0);
	answer.flags = 0;
	ndp_rcv_control(&rcv, &flow, &answer);
	assert_true(answer.flags & NDP_CTL_ROOM);
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_true(ndp_rcv_find(&flow, 1)->claim.is_window);
	end();
}

/* Answers cover several packets, but not for long, and only packets in their maps. */
static void test_answers(void **state)
{
	struct ndp_hdr answer = {}, h;
	u32 i;

	(void)state;
	begin(LIMIT, false);
	for (i = 0; i < 5; i++) {
		h = data(i, 0, i * SEG, 20000);
		assert_int_equal(arrive(&h), NDP_RCV_PART);
		assert_false(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_PART, false, 0, &answer));
	}
	h = data(i, 0, i * SEG, 20000);
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_true(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_PART, false, 0, &answer));
	assert_int_equal(answer.ctl.ack_base, SEQ + 6);
	assert_int_equal(answer.ctl.token, TOKEN);
	assert_false(ndp_rcv_settle(&rcv, &flow, &answer));

	h = data(7, 0, 7 * SEG, 20000);
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_false(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_PART, false, 0, &answer));
	assert_true(ndp_rcv_settle(&rcv, &flow, &answer));
	assert_int_equal(answer.seq, SEQ + 7);
	assert_int_equal(answer.ctl.sack, 2);
	/* a pull, a retransmission and a full window are answered at once */
	h = data(8, 0, 8 * SEG, 20000);
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_true(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_PART, true, 0, &answer));
	assert_int_equal(answer.flags, NDP_CTL_ACK | NDP_CTL_PULL | NDP_CTL_ROOM);
	h.flags |= NDP_DATA_RTX;
	assert_true(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_TRIMMED, false, 0, &answer));
	assert_true(ndp_rcv_reply(&rcv, &flow, &h, NDP_RCV_FULL, false, 0, &answer));
	assert_int_equal(answer.ctl.window, 0);
	end();
}

/* DATA number @nr, the last one now, is a message; may its ACK ride? */
static bool may_ride(u32 nr, u32 msg, u8 flags, u8 dsfield)
{
	struct ndp_hdr h = data(nr, msg, 0, SEG);

	h.flags = NDP_DATA_LAST | flags;
	assert_int_equal(arrive(&h), NDP_RCV_WHOLE);
	return ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, dsfield);
}

/* An ACK rides if it says all that the sender has to learn. */
static void test_may_ride(void **state)
{
	struct ndp_hdr h;

	(void)state;
	begin(LIMIT, false);
	assert_true(may_ride(0, 0, 0, 0));
	/* it tells nothing about retransmissions, and not that more is to come */
	assert_false(may_ride(1, 1, NDP_DATA_RTX, 0));
	h = data(2, 2, 0, SEG);
	assert_int_equal(arrive(&h), NDP_RCV_WHOLE);
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, 0));
	/* a part, a duplicate, a trimmed packet */
	h = data(3, 3, 0, 2 * SEG);
	h.flags = NDP_DATA_LAST;
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_PART, 0));
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_DUPLICATE, 0));
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_TRIMMED, 0));
	h = data(4, 3, SEG, 2 * SEG);
	h.flags = NDP_DATA_LAST;
	assert_int_equal(arrive(&h), NDP_RCV_WHOLE);
	assert_true(ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, 0));
	/* packet 5 is missing, then it is late */
	assert_false(may_ride(6, 5, 0, 0));
	assert_false(may_ride(5, 4, 0, 0));
	/* a sender that waits for room needs a CONTROL, and so does one without the token */
	assert_true(may_ride(7, 6, 0, 0));
	h = data(7, 6, 0, SEG);
	flow.need = 1;
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, 0));
	flow.need = 0;
	flow.is_blocked = true;
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, 0));
	flow.is_blocked = false;
	flow.is_verified = false;
	assert_false(ndp_rcv_may_ride(&flow, &h, NDP_RCV_WHOLE, 0));
	end();
}

/* ACKs that no DATA has carried are one CONTROL, and not many wait for it. */
static void test_ride(void **state)
{
	struct ndp_hdr answer = {}, h = data(0, 0, 0, SEG);
	u32 i = 0;

	(void)state;
	begin(LIMIT, false);
	assert_true(may_ride(i, i, 0, 8));
	ndp_rcv_ride(&flow, &h, 8);
	assert_false(may_ride(i + 1, i + 1, 0, 4));
	assert_true(ndp_rcv_settle(&rcv, &flow, &answer));
	assert_int_equal(answer.flags, NDP_CTL_ACK | NDP_CTL_ROOM);
	assert_int_equal(answer.seq, SEQ);
	assert_int_equal(answer.ctl.ack_base, SEQ + 2);
	assert_int_equal(answer.ctl.dsfield, 8);
	assert_false(ndp_rcv_settle(&rcv, &flow, &answer));
	for (i = 2; may_ride(i, i, 0, 0); i++) {
		h = data(i, i, 0, SEG);
		ndp_rcv_ride(&flow, &h, 0);
		assert_true(i < 50);
	}
	assert_true(i > 2);
	ndp_rcv_rode(&flow);
	assert_false(ndp_rcv_settle(&rcv, &flow, &answer));
	assert_true(may_ride(i + 1, i + 1, 0, 0));
	end();
}

/* All pulls that are due in a second */
static void pull(struct ndp_pull *q, u64 *now_ns)
{
	u32 i;

	for (i = 0; i < 100; i++)
		ndp_pull_next(q, *now_ns += 10000000);
}

static void demand(struct ndp_pull *q, const struct ndp_hdr *h, enum ndp_rcv_verdict v, u64 *now_ns)
{
	assert_int_equal(arrive(h), v);
	ndp_rcv_demand(q, &flow, h, v, false, *now_ns);
	pull(q, now_ns);
}

/*
 * Without the token, 8 packets are pulled beyond the arrived ones: not more for trimmed packets,
 * duplicates or PROBEs, nor after the flow was held.
 */
static void test_token_once(void **state)
{
	struct ndp_hdr h, probe = {
		.type = NDP_PROBE, .seq = SEQ - 1, .sport = 1, .dport = 2,
		.data = { .base = SEQ, .pull_target = 1000, .prio = 7 },
	};
	struct ndp_pull q;
	u64 now_ns = 0;
	u32 i;

	(void)state;
	begin(LIMIT, false);
	ndp_pull_init(&q, 0, 0);
	ndp_pull_rate(&q, 1000000000);
	h = data(0, 0, 0, 100000);
	h.data.token = 0;
	h.data.pull_target = 1000;
	h.data.prio = 7;
	for (i = 0; i < 20; i++) {
		h.here = 0;
		demand(&q, &h, NDP_RCV_TRIMMED, &now_ns);
	}
	assert_int_equal(flow.pull.granted, 8);
	assert_int_equal(flow.pull.prio, 0);
	h.here = SEG;
	demand(&q, &h, NDP_RCV_PART, &now_ns);
	assert_int_equal(flow.pull.granted, 9);
	for (i = 0; i < 20; i++) {
		demand(&q, &h, NDP_RCV_DUPLICATE, &now_ns);
		demand(&q, &probe, NDP_RCV_PROBED, &now_ns);
	}
	ndp_rcv_allow(&flow, true);
	ndp_rcv_allow(&flow, false);
	ndp_pull_update(&q, &flow.pull, now_ns);
	pull(&q, &now_ns);
	assert_int_equal(flow.pull.granted, 9);
	probe.data.token = TOKEN;
	demand(&q, &probe, NDP_RCV_PROBED, &now_ns);
	assert_in_range(flow.pull.granted, 109, 1000);
	assert_int_equal(flow.pull.prio, 7);
	ndp_pull_flush(&q, &flow.pull);
	end();
}

/* Without the token, few packets are pulled ahead. */
static void test_token(void **state)
{
	struct ndp_hdr h = data(0, 0, 0, 100000);
	struct ndp_pull q;
	u32 i;

	(void)state;
	begin(LIMIT, false);
	ndp_pull_init(&q, 0, 0);
	ndp_pull_rate(&q, 1000000000);
	h.data.token = TOKEN + 1;
	h.data.pull_target = 1000;
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	ndp_rcv_demand(&q, &flow, &h, NDP_RCV_PART, false, 0);
	for (i = 0; i < 100; i++)
		ndp_pull_next(&q, 1000000000ULL * i);
	assert_int_equal(flow.pull.granted, 8 + 1);
	h.data.token = TOKEN;
	h.seq++;
	h.data.offset = SEG;
	assert_int_equal(arrive(&h), NDP_RCV_PART);
	ndp_rcv_demand(&q, &flow, &h, NDP_RCV_PART, false, 0);
	for (; i < 2000; i++)
		ndp_pull_next(&q, 1000000000ULL * i);
	assert_int_equal(flow.pull.granted, 1000);
	ndp_pull_flush(&q, &flow.pull);
	end();
}

/* A packet without room puts its flow behind other ones, until a packet finds room. */
static void test_full(void **state)
{
	static const struct {
		enum ndp_rcv_verdict v;
		bool full;
	} steps[] = {
		{ NDP_RCV_PART, false }, { NDP_RCV_FULL, true }, { NDP_RCV_PROBED, true },
		{ NDP_RCV_TRIMMED, true }, { NDP_RCV_PART, false },
	};
	struct ndp_hdr h = data(0, 0, 0, 200000);
	struct ndp_pull q;
	u32 i;

	(void)state;
	begin(LIMIT, false);
	ndp_pull_init(&q, 0, 0);
	ndp_pull_rate(&q, 1250000000);
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		ndp_rcv_demand(&q, &flow, &h, steps[i].v, false, i);
		assert_int_equal(flow.pull.full, steps[i].full);
	}
	ndp_pull_flush(&q, &flow.pull);
	end();
}

/* Random packets of many messages, some of them false: sums remain right. */
static void test_random(void **state)
{
	struct ndp_hdr h;
	struct rng rng;
	u32 step, msg;

	(void)state;
	rng_seed(&rng, 9);
	for (step = 0; step < 200; step++) {
		u32 i;

		begin(rng_log(&rng, 2000, 1000000), rng_in(&rng, 0, 1));
		for (i = 0; i < 500; i++) {
			u64 len = rng_log(&rng, 1, 300000);

			msg = (u32)rng_in(&rng, 0, 20);
			h = data((u32)rng_in(&rng, 0, 600), msg, 0, len);
			if (rng_in(&rng, 0, 9))
				h.data.msg_len = 1000 * (msg + 1);
			h.data.offset = rng_in(&rng, 0, 20) * SEG;
			if (h.data.offset >= h.data.msg_len)
				continue;
			h.payload_len = (u16)min_t(u64, SEG, h.data.msg_len - h.data.offset);
			h.here = rng_in(&rng, 0, 3) ? h.payload_len : 0;
			h.data.msg_base = (u32)rng_in(&rng, 0, 20) ? 0 : msg;
			if (rng_in(&rng, 0, 2))
				arrive(&h);
			else if (h.data.offset + 4 * SEG <= h.data.msg_len)
				arrive_batch(h.seq - SEQ, msg, h.data.offset, h.data.msg_len,
					     (u32)rng_in(&rng, 2, 4));
			free(ndp_rcv_take_over(&rcv, &flow));
			if (rcv.in_order)
				next_id();
		}
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_trimmed),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_unverified),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_scarce),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_scarce_in_order),
		cmocka_unit_test(test_scarce_early),
		cmocka_unit_test(test_window_grows),
		cmocka_unit_test(test_lapse),
		cmocka_unit_test(test_lapse_late),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_has_room),
		cmocka_unit_test(test_order_in_parts),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_may_ride),
		cmocka_unit_test(test_ride),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_token_once),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
