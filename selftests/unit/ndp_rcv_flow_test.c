// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv.h: memory, flows, and the pull queue, each rule by example
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_port.h"

/* ---- memory */

static void test_room(void **state)
{
	(void)state;
	p.memory_max = 3 * SEG;
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(1, 1, 0, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(control().window, 30);
	assert_int_equal(part(2, 1, SEG, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(control().window, 0);
	/* full, and what is whole has not been read */
	assert_int_equal(part(3, 1, 2 * SEG, 3 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(4, 2, 0, 1), NDP_RCV_NO_ROOM);
	assert_int_equal(control().ack_base, SEQ + 3);
	assert_true(!control().sack);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(3, 1, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, 3 * SEG);
	assert_true(!r.unread && !r.partial);
	assert_int_equal(part(4, 2, 0, 1), NDP_RCV_WHOLE);
}

/* The last eighth is for what all others wait for, also when nothing has been read. */
static void test_next(void **state)
{
	u32 k;

	(void)state;
	p.memory_max = 8 * SEG;
	for (k = 1; k < 8; k++)
		assert_int_equal(part(k, k, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(control().ack_base, SEQ + 8);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_NO_ROOM);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(8, 8, 0, SEG), NDP_RCV_WHOLE);
}

/*
 * Messages that are not whole use up all memory. Of one flow, the packet that all
 * others wait for is taken; not so of another one, until the first has a message.
 */
static void test_first(void **state)
{
	struct ndp_rcv_flow other;
	struct ndp_hdr h = data_of(0, 0, 0, 2 * SEG);
	u32 k;

	(void)state;
	p.memory_max = 46 * SEG / 10;
	ndp_rcv_open(&other, &h, 1, now_ns);
	for (k = 1; k <= 6; k++) {
		assert_int_equal(part(k, k, 0, 2 * SEG), NDP_RCV_PART);
		assert_ptr_equal(r.first, k < 5 ? NULL : &f);
	}
	assert_int_equal(part(7, 1, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(0, 0, 0, 2 * SEG), NDP_RCV_PART);
	msg = NULL;
	h.payload_len = SEG;
	h.data.msg_len = SEG;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	assert_int_equal(part(8, 2, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(part(7, 1, SEG, 2 * SEG), NDP_RCV_WHOLE);
	assert_null(r.first);
	/* now there is something to read */
	assert_int_equal(part(8, 2, SEG, 2 * SEG), NDP_RCV_NO_ROOM);
	for (k = 2; k <= 6; k++) {
		ndp_rcv_release(&r, r.unread);
		assert_int_equal(part(6 + k, k, SEG, 2 * SEG), NDP_RCV_WHOLE);
	}
	assert_true(r.partial == SEG);
}

/* The flow that may go on does not: another one may. It never gets more than twice max. */
static void test_first_silent(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 9 * SEG);
	struct ndp_rcv_flow other;
	u32 k;

	(void)state;
	p.memory_max = 3 * SEG;
	ndp_rcv_open(&other, &h, 1, now_ns);
	for (k = 0; k < 6; k++)
		assert_int_equal(part(k, 0, k * SEG, 9 * SEG), NDP_RCV_PART);
	assert_int_equal(part(6, 0, 6 * SEG, 9 * SEG), NDP_RCV_NO_ROOM);
	msg = ndp_rcv_find(&f, ID);
	ndp_rcv_read(&r, msg, 3 * SEG, 3 * SEG);
	now_ns += NDP_RCV_FIRST_NS - 1;
	h = data_of(0, 0, 0, SEG);
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	now_ns++;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, SEG);
	assert_int_equal(part(6, 0, 6 * SEG, 9 * SEG), NDP_RCV_PART);
	assert_ptr_equal(r.first, &f);
	/* it does go on */
	now_ns += NDP_RCV_FIRST_NS - 1;
	assert_int_equal(part(7, 0, 7 * SEG, 9 * SEG), NDP_RCV_PART);
	now_ns++;
	h.seq++;
	h.data.msg_id++;
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	/* its time begins anew with a packet that is not taken */
	now_ns += NDP_RCV_FIRST_NS;
	assert_int_equal(part(9, 1, 0, 2 * SEG), NDP_RCV_NO_ROOM);
	assert_int_equal(ndp_rcv_packet(&r, &other, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	ndp_rcv_close(&r, &other);
	assert_ptr_equal(r.first, &f);
}

/* ---- who may go on, as others need the room */

static struct ndp_rcv_flow crowd[3];

static void open_crowd(void)
{
	struct ndp_hdr h = data_of(0, 0, 0, 1);
	u32 i;

	for (i = 0; i < 3; i++)
		ndp_rcv_open(&crowd[i], &h, 1, now_ns);
}

static void close_crowd(void)
{
	struct ndp_rcv_msg *m;
	u32 i;

	for (i = 0; i < 3; i++) {
		while ((m = ndp_rcv_pop(&r, &crowd[i], U64_MAX)))
			free(m);
		ndp_rcv_close(&r, &crowd[i]);
	}
	assert_true(!r.reserved);
}

/* Packet @n of flow @i, whole or trimmed, of a message of @segs packets: is the flow to wait? */
static bool yields(u32 i, u32 n, u64 segs, bool whole)
{
	struct ndp_hdr h = data_of(n, 0, n * SEG, segs * SEG);
	struct ndp_rcv_msg *m = calloc(1, sizeof(*m)), *spare = m;
	enum ndp_rcv_verdict v;

	h.here = whole ? SEG : 0;
	v = ndp_rcv_packet(&r, &crowd[i], &h, h.here, now_ns, &m);
	if (v != NDP_RCV_PART || m != spare)
		free(spare);
	if (v == NDP_RCV_WHOLE && m != spare)
		free(m);
	return ndp_rcv_yields(&r, &crowd[i], &h, v, now_ns);
}

static void test_reserve(void **state)
{
	(void)state;
	p.memory_max = 40 * SEG;
	open_crowd();
	/* 10 and 8 of 20 packets are missing, of which twice as many fit; not so 2 of 10 */
	assert_false(yields(0, 0, 11, true));
	assert_int_equal(r.reserved, 20 * SEG);
	assert_false(yields(1, 0, 9, false));
	assert_int_equal(r.reserved, 38 * SEG);
	assert_true(yields(2, 0, 10, false));
	assert_true(yields(2, 1, 10, true));
	assert_int_equal(r.reserved, 38 * SEG);
	/* what comes needs no room any more */
	assert_false(yields(0, 1, 11, true));
	assert_int_equal(r.reserved, 36 * SEG);
	/* a message that is whole has nothing missing, but is not read yet */
	for (u32 n = 2; n < 11; n++)
		assert_false(yields(0, n, 11, true));
	assert_int_equal(r.reserved, 18 * SEG);
	assert_true(yields(2, 2, 10, false));
	ndp_rcv_release(&r, 11 * SEG);
	assert_true(ndp_rcv_may_go_on(&r, &crowd[2], now_ns));
	assert_int_equal(r.reserved, 36 * SEG);
	/* it has gone: what it has reserved is free */
	close_crowd();
}

/* One message for which there is never enough room: alone, and it leaves half to short ones */
static void test_reserve_long(void **state)
{
	(void)state;
	p.memory_max = 40 * SEG;
	open_crowd();
	assert_false(yields(0, 0, 1000, true));
	assert_int_equal(r.reserved, 20 * SEG);
	assert_true(yields(1, 0, 1000, true));
	assert_false(yields(2, 0, 5, true));
	/* its sender is gone, and nothing came of the other one for long */
	now_ns += NDP_RCV_FIRST_NS;
	assert_false(yields(1, 1, 1000, false));
	close_crowd();
}

/*
 * A flow of which nothing finds room, be it that headers come, loses its
 * reservation, and others are told.
 */
static void test_reserve_lapse(void **state)
{
	(void)state;
	p.memory_max = 40 * SEG;
	open_crowd();
	assert_false(yields(0, 0, 1000, false));
	assert_true(yields(1, 0, 1000, true));
	now_ns += NDP_RCV_RESERVE_NS - 1;
	assert_false(yields(0, 1, 1000, false));
	ndp_rcv_lapse(&r, &crowd[0], now_ns);
	assert_int_equal(r.reserved, 20 * SEG);
	assert_false(r.freed);
	now_ns++;
	ndp_rcv_lapse(&r, &crowd[0], now_ns);
	assert_true(!r.reserved);
	assert_true(r.freed);
	/* not if something of it is kept */
	assert_false(yields(1, 1, 1000, true));
	now_ns += NDP_RCV_RESERVE_NS - 1;
	assert_false(yields(1, 2, 1000, true));
	now_ns++;
	ndp_rcv_lapse(&r, &crowd[1], now_ns);
	assert_int_equal(r.reserved, 20 * SEG);
	/* nor is anybody told of a flow that goes and had none */
	r.freed = false;
	ndp_rcv_close(&r, &crowd[2]);
	assert_false(r.freed);
	close_crowd();
	assert_true(r.freed);
}

/* Memory is used up: who may go on though it is, does; who was refused waits. */
static void test_reserve_short(void **state)
{
	(void)state;
	p.memory_max = 10 * SEG;
	open_crowd();
	r.unread = 5 * SEG;
	assert_false(yields(0, 0, 100, true));
	for (u32 n = 1; n < 5; n++)
		yields(0, n, 100, true);
	assert_true(yields(0, 5, 100, true));
	assert_true(!r.reserved);
	crowd[0].pull.held = true;
	assert_true(yields(0, 6, 100, false));
	r.unread = 0;
	assert_false(yields(0, 7, 100, false));
	/* it has the others' room, too */
	r.first = &crowd[1];
	r.first_ns = now_ns;
	assert_false(yields(1, 0, 100, false));
	assert_true(yields(2, 0, 100, false));
	r.first = NULL;
	close_crowd();
}

/* One message longer than all memory, read as it comes */
static void test_stream(void **state)
{
	u64 len = 20 * SEG;
	u32 k;

	(void)state;
	p.memory_max = 4 * SEG;
	for (k = 0; k < 8; k++)
		assert_int_equal(part(k, 0, k * SEG, len), NDP_RCV_PART);
	for (; k < 20; k++) {
		assert_int_equal(part(k, 0, k * SEG, len), NDP_RCV_NO_ROOM);
		assert_true(ndp_rcv_prefix(ndp_rcv_find(&f, ID)) == k * SEG);
		ndp_rcv_read(&r, ndp_rcv_find(&f, ID), SEG, SEG);
		assert_int_equal(part(k, 0, k * SEG, len),
				 k == 19 ? NDP_RCV_WHOLE : NDP_RCV_PART);
	}
	assert_true(r.unread == 8 * SEG && !r.partial);
}

static void test_no_memory(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 3 * SEG);

	(void)state;
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &f, &h, SEG, now_ns, &msg), NDP_RCV_NO_ROOM);
	assert_null(msg);
	p.msgs_max = 1;
	assert_int_equal(part(1, 1, 0, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(part(2, 2, 0, 3 * SEG), NDP_RCV_NO_ROOM);
	/* what all others wait for */
	assert_int_equal(take(&h), NDP_RCV_PART);
	assert_int_equal(part(2, 2, 0, 3 * SEG), NDP_RCV_NO_ROOM);
	/* one that is whole at once needs none */
	h = data_of(2, 2, 0, SEG);
	msg = NULL;
	assert_int_equal(ndp_rcv_packet(&r, &f, &h, SEG, now_ns, &msg), NDP_RCV_WHOLE);
	assert_int_equal(part(3, 0, SEG, 3 * SEG), NDP_RCV_PART);
	assert_int_equal(part(4, 0, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
	ndp_rcv_release(&r, r.unread);
	assert_int_equal(part(5, 3, 0, 3 * SEG), NDP_RCV_PART);
}

/* ---- flows */

static void test_admit(void **state)
{
	static const u64 cookies[2] = { 111, 222 };
	struct ndp_hdr h = data_of(0, 0, 0, SEG);

	(void)state;
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 49, 9, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 49, 10, cookies), NDP_ADMIT_DROP);
	assert_int_equal(ndp_rcv_admit(&p, &h, 50, 0, cookies), NDP_ADMIT_COOKIE);
	h.data.cookie = 110;
	assert_int_equal(ndp_rcv_admit(&p, &h, 50, 0, cookies), NDP_ADMIT_COOKIE);
	h.data.cookie = 111;
	assert_int_equal(ndp_rcv_admit(&p, &h, 99, 0, cookies), NDP_ADMIT_OPEN);
	h.data.cookie = 222;
	assert_int_equal(ndp_rcv_admit(&p, &h, 99, 0, cookies), NDP_ADMIT_OPEN);
	assert_int_equal(ndp_rcv_admit(&p, &h, 100, 0, cookies), NDP_ADMIT_DROP);
	h.flags = NDP_DATA_RTX;
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_NO_FLOW);
	h = (struct ndp_hdr) { .type = NDP_PROBE };
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_NO_FLOW);
	h = (struct ndp_hdr) { .type = NDP_DATA, .flags = NDP_DATA_SYN, .is_short = true };
	assert_int_equal(ndp_rcv_admit(&p, &h, 0, 0, cookies), NDP_ADMIT_BARE);
}

/* Any packet of the first window may open the flow: it begins at base. */
static void test_open(void **state)
{
	struct ndp_hdr h = data_of(5, 2, SEG, 2 * SEG);

	(void)state;
	ndp_rcv_open(&f, &h, 0, now_ns);
	assert_true(f.secret);
	assert_int_equal(take(&h), NDP_RCV_PART);
	assert_int_equal(control().ack_base, SEQ);
	assert_true(control().sack == 1U << 5);
	assert_int_equal(part(0, 0, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(1, 1, 0, SEG), NDP_RCV_WHOLE);
	assert_int_equal(part(2, 2, 0, 2 * SEG), NDP_RCV_WHOLE);
}

static void test_silent(void **state)
{
	u64 dead_ns;

	(void)state;
	part(0, 0, 0, 3 * SEG);
	now_ns += 5 * SEC;
	/* what is not answered keeps nothing alive */
	part(W + 1, 0, 0, 3 * SEG);
	part(1, 0, 0, 3 * SEG);
	assert_false(ndp_rcv_is_silent(&p, &f, now_ns + 5 * SEC - 1));
	assert_true(ndp_rcv_dead_ns(&p, &f, now_ns + 5 * SEC - 1) == 0);
	assert_true(ndp_rcv_is_silent(&p, &f, now_ns + 5 * SEC));
	dead_ns = ndp_rcv_dead_ns(&p, &f, now_ns + 5 * SEC);
	msg = ndp_rcv_pop(&r, &f, dead_ns);
	assert_non_null(msg);
	free(msg);
	assert_null(ndp_rcv_pop(&r, &f, dead_ns));
	/* what came again does */
	part(0, 0, 0, 3 * SEG);
	assert_false(ndp_rcv_is_silent(&p, &f, now_ns + 10 * SEC - 1));
}

/* ABORT was lost: the message that will not be whole goes, others do not. */
static void test_dead(void **state)
{
	struct ndp_hdr h;

	(void)state;
	part(0, 0, 0, 3 * SEG);
	part(2, 1, 0, 3 * SEG);
	now_ns += SEC;
	h = data_of(3, 1, SEG, 3 * SEG);
	h.data.base = SEQ + 2;
	assert_int_equal(take(&h), NDP_RCV_PART);
	now_ns += 9 * SEC;
	h = data_of(4, 2, 0, SEG);
	take(&h);
	assert_null(ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns)));
	now_ns += SEC;
	msg = ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns));
	assert_non_null(msg);
	assert_int_equal(msg->id, ID);
	free(msg);
	assert_null(ndp_rcv_pop(&r, &f, ndp_rcv_dead_ns(&p, &f, now_ns)));
	assert_int_equal(part(5, 1, 2 * SEG, 3 * SEG), NDP_RCV_WHOLE);
}

/* 10,000 peers, 100,000 messages in flight */
static void test_size(void **state)
{
	(void)state;
	assert_in_range(10000 * sizeof(struct ndp_rcv_flow), 1, 9 << 20);
	assert_in_range(100000 * sizeof(struct ndp_rcv_msg), 1, 24 << 20);
}

/* ---- with the pull queue */

static bool wish(struct ndp_pull *q, const struct ndp_hdr *h)
{
	enum ndp_rcv_verdict v = take(h);

	return ndp_rcv_wish(q, &f, h, v, ndp_rcv_yields(&r, &f, h, v, now_ns), now_ns);
}

static void test_wish(void **state)
{
	const struct ndp_pull_params pp = { .rate_Bps = 1000000000, .ahead = 100 };
	struct ndp_hdr h = data_of(0, 0, 0, 9 * SEG);
	struct ndp_pull q;

	(void)state;
	ndp_pull_init(&q, &pp, now_ns);
	/* the sender wishes 4, and the first is pulled at once */
	h.data.pull_target = 4;
	assert_true(wish(&q, &h));
	assert_int_equal(f.pull.granted, 1);
	assert_int_equal(f.pull.target, 4);
	/* a NACK is one more; the next pull may be a packet's time early */
	h = data_of(1, 0, SEG, 9 * SEG);
	h.data.pull_target = 4;
	h.here = 0;
	assert_true(wish(&q, &h));
	assert_int_equal(f.pull.target, 5);
	/* it is not taken for lack of room: it is not asked for any more */
	p.memory_max = 3 * SEG;
	h = data_of(1, 0, SEG, 9 * SEG);
	r.unread = 2 * SEG;
	assert_false(wish(&q, &h));
	assert_true(ndp_pull_next_ns(&q) == U64_MAX);
	r.unread = 0;
	assert_false(wish(&q, &h));
	assert_true(ndp_pull_next_ns(&q) != U64_MAX);
	/* all that there is has come: no more pulls */
	h = data_of(2, 0, 2 * SEG, 9 * SEG);
	h.data.pull_target = 9;
	h.flags |= NDP_DATA_LAST;
	assert_false(wish(&q, &h));
	assert_int_equal(f.pull.target, 2);
	assert_true(ndp_pull_next_ns(&q) == U64_MAX);
	assert_true(q.stats.flushed == 7);
	/* there is more to send, which the sender may not do unasked */
	h = (struct ndp_hdr) { .type = NDP_PROBE, .seq = SEQ + 2, .sport = 7, .dport = 9,
			       .data = { .base = SEQ + 3, .pull_target = 1 } };
	assert_false(wish(&q, &h));
	assert_true(ndp_rcv_has_all(&f));
	h.data.pull_target = 3;
	assert_false(wish(&q, &h));
	assert_int_equal(f.pull.target, 3);
	assert_true(ndp_pull_next_ns(&q) != U64_MAX);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_room),
		TEST(test_next),
		TEST(test_first),
		TEST(test_first_silent),
		TEST(test_reserve),
		TEST(test_reserve_long),
		TEST(test_reserve_lapse),
		TEST(test_reserve_short),
		TEST(test_stream),
		TEST(test_no_memory),
		TEST(test_admit),
		TEST(test_open),
		TEST(test_silent),
		TEST(test_dead),
		TEST(test_size),
		TEST(test_wish),
	};

	return cmocka_run_group_tests_name("ndp_rcv_flow", tests, NULL, NULL);
}
