// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/snd.h: messages, their order, and how they and flows end; one rule a test
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_snd_say.h"
#include "rng.h"

static struct ndp_snd_call call;

/* ------------------------------------------------ messages */

static void submit(struct port *port, struct ndp_snd_msg *m, u32 packets, u8 prio)
{
	assert_true(port_submit(port, m, (u64)packets * PORT_PAYLOAD, prio));
}

/* A pull each; whose packets go */
static void expect_order(struct port *port, struct ndp_snd_msg *const *order, u32 count)
{
	struct ndp_hdr h;
	u32 i;

	for (i = 0; i < count; i++) {
		pull(port, 1);
		assert_int_equal(port_send(port, 1, &h), NDP_SND_NEW);
		assert_int_equal(h.data.msg_id, order[i]->id);
	}
}

/* The initial window is used up by a message of its own. */
static void open_pulled(struct port *port, struct ndp_snd_msg *first, bool in_order)
{
	port_open(port, PORT_RING, WINDOW, in_order);
	submit(port, first, 11, 7);
	push_window(port, 11);
	expect_order(port, (struct ndp_snd_msg *[]) { first }, 1);
}

static void test_policies(void **state)
{
	struct ndp_snd_msg x, a, b, c, d;
	struct port port;

	(void)state;
	open_pulled(&port, &x, false);
	submit(&port, &a, 3, 0);
	submit(&port, &b, 1, 0);
	submit(&port, &c, 2, 0);
	submit(&port, &d, 2, 1);
	/* b is the shortest, but a was submitted before */
	expect_order(&port, (struct ndp_snd_msg *[]) { &d, &d, &a, &b, &c, &c, &a, &a }, 8);
	port_close(&port);

	open_pulled(&port, &x, true);
	submit(&port, &a, 3, 0);
	submit(&port, &b, 1, 0);
	submit(&port, &c, 2, 0);
	submit(&port, &d, 2, 1);
	expect_order(&port, (struct ndp_snd_msg *[]) { &a, &a, &a, &b, &c, &c, &d, &d }, 8);
	port_close(&port);
}

/* The first packets of one priority go in the order of submission, whenever they become ready. */
static void test_begin_in_order(void **state)
{
	struct ndp_snd_msg x, a = { .len = 900, .payload = PORT_PAYLOAD }, b, c;
	struct port port;

	(void)state;
	open_pulled(&port, &x, false);
	call = port_call(&port);
	assert_true(ndp_snd_submit(&call, &port.f, &a));
	submit(&port, &b, 3, 0);
	submit(&port, &c, 1, 0);
	assert_true(ndp_snd_more(&call, &port.f, &a, 900));
	expect_order(&port, (struct ndp_snd_msg *[]) { &a, &b, &c, &b, &b }, 5);
	port_close(&port);
}

/* A message is overtaken by shorter ones only until the flow has sent as many bytes as it has. */
static void test_aging(void **state)
{
	struct ndp_snd_msg x, a, b, c, d;
	struct port port;

	(void)state;
	open_pulled(&port, &x, false);
	submit(&port, &a, 4, 0);
	expect_order(&port, (struct ndp_snd_msg *[]) { &a }, 1);
	submit(&port, &b, 2, 0);
	expect_order(&port, (struct ndp_snd_msg *[]) { &b, &b }, 2);
	/* a: 4 packets at 0 sent; c: 2 at 3 sent */
	submit(&port, &c, 2, 0);
	expect_order(&port, (struct ndp_snd_msg *[]) { &a, &a, &a, &c }, 4);
	/* equal keys: the earlier one */
	submit(&port, &d, 1, 0);
	expect_order(&port, (struct ndp_snd_msg *[]) { &c, &d }, 2);
	port_close(&port);
}

/* A message that is cancelled before it begins leaves no trace in the order. */
static void test_cancel_fresh(void **state)
{
	struct ndp_snd_msg x, a, b;
	struct port port;

	(void)state;
	open_pulled(&port, &x, false);
	submit(&port, &a, 3, 0);
	submit(&port, &b, 3, 0);
	call = port_call(&port);
	assert_false(ndp_snd_cancel(&call, &port.f, &a, ECANCELED));
	expect_order(&port, (struct ndp_snd_msg *[]) { &b, &b, &b }, 3);
	port_close(&port);
}

#define MANY 100000

/*
 * Many messages begin by priority and then in the order of submission, though every second one
 * is cancelled. If each preferred one passed those of lower priority one by one, this would take
 * half a minute.
 */
static void test_many_fresh(void **state)
{
	struct ndp_snd_msg *m = calloc(MANY, sizeof(*m)), x, *last = NULL;
	struct port port;
	u32 i, count;

	(void)state;
	open_pulled(&port, &x, false);
	for (i = 0; i < MANY; i++)
		submit(&port, &m[i], 1, i / (MANY / NDP_PRIOS));
	call = port_call(&port);
	for (i = 0; i < MANY; i += 2)
		assert_false(ndp_snd_cancel(&call, &port.f, &m[i], ECANCELED));
	for (count = 0; !RB_EMPTY_ROOT(&port.f.fresh.rb_root); count++) {
		struct ndp_snd_msg *first = ndp_snd_first(&port.f);

		assert_true(!last || last->prio > first->prio ||
			    (last->prio == first->prio && last < first));
		last = first;
		ndp_snd_cancel(&call, &port.f, first, ECANCELED);
	}
	assert_int_equal(count, MANY / 2);
	port_close(&port);
	free(m);
}

static void test_refused_messages(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	call = port_call(&port);
	assert_false(port_submit(&port, &m, 0, 0));
	assert_false(port_submit(&port, &m, NDP_MSG_MAX + 1, 0));
	assert_false(port_submit(&port, &m, 1, NDP_PRIOS));
	m = (struct ndp_snd_msg) { .len = 1, .ready = 2, .payload = NDP_SND_PAYLOAD_MIN };
	assert_false(ndp_snd_submit(&call, &port.f, &m));
	m = (struct ndp_snd_msg) { .len = 1, .payload = NDP_SND_PAYLOAD_MIN - 1 };
	assert_false(ndp_snd_submit(&call, &port.f, &m));
	m.payload = NDP_PAYLOAD_MAX + 1;
	assert_false(ndp_snd_submit(&call, &port.f, &m));
	expect_idle(&port);
	/* the longest there is, in the smallest packets */
	m = (struct ndp_snd_msg) {
		.len = NDP_MSG_MAX, .ready = NDP_MSG_MAX, .payload = NDP_SND_PAYLOAD_MIN,
	};
	assert_true(ndp_snd_submit(&call, &port.f, &m));
	assert_true(port.f.new_packets == 1ULL << 32);
	assert_int_equal(expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC).data.pull_target,
			 WINDOW / 2);
	port_close(&port);
}

/* A message that becomes ready bit by bit: whole packets go, and at the end the remaining bytes. */
static void test_more(void **state)
{
	struct ndp_snd_msg m = { .len = 4500, .ready = 999, .payload = PORT_PAYLOAD };
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	call = port_call(&port);
	assert_true(ndp_snd_submit(&call, &port.f, &m));
	expect_idle(&port);
	assert_true(ndp_snd_more(&call, &port.f, &m, 2500));
	expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	/* no further packet to send now: no demand */
	h = expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	assert_int_equal(h.data.msg_len, 4500);
	expect_wait(&port);
	assert_true(ndp_snd_more(&call, &port.f, &m, 2999));
	expect_wait(&port);
	assert_true(ndp_snd_more(&call, &port.f, &m, 3000));
	expect_new(&port, 2, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	assert_false(ndp_snd_more(&call, &port.f, &m, 2999));
	assert_false(ndp_snd_more(&call, &port.f, &m, 4501));
	assert_true(ndp_snd_more(&call, &port.f, &m, 4400));
	expect_new(&port, 3, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	expect_wait(&port);
	assert_true(ndp_snd_more(&call, &port.f, &m, 4500));
	assert_true(ndp_snd_more(&call, &port.f, &m, 4500));
	h = expect_new(&port, 4, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	assert_int_equal(h.payload_len, 500);
	port.ack_base = PORT_SEQ + 5;
	ack(&port, 4);
	expect_done(&port, &m, 0);
	assert_false(ndp_snd_more(&call, &port.f, &m, 4500));
	expect_idle(&port);
	port_close(&port);
}

/* Which bytes are done, of two messages */
static void test_done_bytes(void **state)
{
	struct ndp_snd_msg a, b;
	struct port port;

	(void)state;
	start(&port);
	submit(&port, &a, 4, 0);
	submit(&port, &b, 4, 0);
	push_window(&port, 8);
	ack(&port, 2);
	assert_null(ndp_snd_reap(&port.f));
	ack(&port, 5);
	ack(&port, 4);
	/* b: its first two, though a packet of a before them is missing */
	assert_ptr_equal(ndp_snd_reap(&port.f), &b);
	assert_int_equal(b.done, 2 * PORT_PAYLOAD);
	assert_false(b.ended);
	assert_int_equal(a.done, 0);
	assert_null(ndp_snd_reap(&port.f));
	nack(&port, 0, 0);
	pull(&port, 1);
	expect_rtx(&port, 0, 0);
	ack(&port, 0);
	assert_ptr_equal(ndp_snd_reap(&port.f), &a);
	assert_int_equal(a.done, PORT_PAYLOAD);
	ack(&port, 1);
	assert_ptr_equal(ndp_snd_reap(&port.f), &a);
	assert_int_equal(a.done, 3 * PORT_PAYLOAD);
	ack(&port, 3);
	assert_ptr_equal(ndp_snd_reap(&port.f), &a);
	assert_int_equal(a.done, 4 * PORT_PAYLOAD);
	assert_true(a.ended);
	port.ack_base = PORT_SEQ + 8;
	ack(&port, 7);
	expect_done(&port, &b, 0);
	assert_int_equal(b.done, 4 * PORT_PAYLOAD);
	assert_null(ndp_snd_reap(&port.f));
	expect_idle(&port);
	port_close(&port);
}

/* In the middle of a message, the flow sends PROBEs, so that the receiver keeps it. */
static void test_keep_alive(void **state)
{
	struct ndp_snd_msg m = { .len = 4500, .ready = 1000, .payload = PORT_PAYLOAD };
	struct port port;
	struct ndp_hdr h;
	u64 silent_ns;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	call = port_call(&port);
	assert_true(ndp_snd_submit(&call, &port.f, &m));
	push_window(&port, 1);
	port.ack_base = PORT_SEQ + 1;
	ack(&port, 0);
	assert_false(ndp_snd_is_busy(&port.f));
	for (i = 0; i < 5; i++) {
		assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + port.p.renew_ns);
		port.now += port.p.renew_ns;
		call = port_call(&port);
		assert_false(ndp_snd_is_old(&call, &port.f));
		assert_int_equal(port_expire(&port, &path), 0);
		assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		expect_wait(&port);
		/* the first time it is lost */
		if (!i) {
			port.now = ndp_snd_due_ns(&port.f, &port.p);
			assert_int_equal(port_expire(&port, &path), 0);
			assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		}
		h = port_answer(&port, NDP_CTL_PROBED, h.seq, h.try_no);
		port_control(&port, &h);
	}
	/* the flow goes on: no SYN */
	call = port_call(&port);
	assert_true(ndp_snd_more(&call, &port.f, &m, 2000));
	expect_new(&port, 1, NDP_DATA_SPEC | NDP_DATA_LAST);
	port.ack_base++;
	ack(&port, 1);
	/* and is silent from now on */
	silent_ns = port.now + port.p.renew_ns;
	while (port_expire(&port, &path) >= 0) {
		port_send(&port, 1, &h);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
	}
	assert_in_range(port.now - silent_ns, port.p.timeout_ns,
			port.p.timeout_ns + port.p.rto_max_ns);
	expect_done(&port, &m, ETIMEDOUT);
	assert_false(ndp_snd_more(&call, &port.f, &m, 3000));
	expect_idle(&port);
	port_close(&port);
}

/* A receiver that was restarted refuses that PROBE: the flow fails at once. */
static void test_keep_alive_refused(void **state)
{
	struct ndp_snd_msg m = { .len = 4500, .ready = 1000, .payload = PORT_PAYLOAD };
	struct port port;
	struct ndp_hdr h;
	u8 path;

	(void)state;
	start(&port);
	call = port_call(&port);
	assert_true(ndp_snd_submit(&call, &port.f, &m));
	push_window(&port, 1);
	port.ack_base = PORT_SEQ + 1;
	ack(&port, 0);
	port.now += port.p.renew_ns;
	assert_int_equal(port_expire(&port, &path), 0);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
	assert_int_equal(h.seq, PORT_SEQ);
	h = (struct ndp_hdr) {
		.type = NDP_ERROR, .seq = h.seq, .err.code = NDP_CODE_NO_FLOW,
	};
	call = port_call(&port);
	assert_int_equal(ndp_snd_error(&call, &port.f, &h), NDP_SND_NEWS);
	expect_done(&port, &m, ECONNRESET);
	expect_idle(&port);
	port_close(&port);
}

/* A cancelled message sends no further packet, its packets are given up; other messages go on. */
static void test_cancel(void **state)
{
	struct ndp_snd_msg a, b, c;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	submit(&port, &a, 5, 0);
	submit(&port, &b, 8, 0);
	push_window(&port, 13);
	submit(&port, &c, 1, 0);
	/* a: 0 to 4; b: 5 to 9 */
	nack(&port, 0, 0);
	nack(&port, 5, 0);
	call = port_call(&port);
	assert_true(ndp_snd_cancel(&call, &port.f, &a, ECANCELED));
	expect_done(&port, &a, ECANCELED);
	assert_false(ndp_snd_cancel(&call, &port.f, &c, ECANCELED));
	expect_done(&port, &c, ECANCELED);
	assert_int_equal(port.f.sb.base, PORT_SEQ + 5);
	pull(&port, 4);
	h = expect_rtx(&port, 5, 0);
	assert_int_equal(h.data.base, PORT_SEQ + 5);
	expect_new(&port, 10, 0);
	expect_new(&port, 11, 0);
	expect_new(&port, 12, NDP_DATA_LAST);
	expect_wait(&port);
	/* ACKs of packets that were given up have no effect */
	assert_int_equal(ack(&port, 2), NDP_SND_STALE);
	port.ack_base = PORT_SEQ + 13;
	ack(&port, 12);
	expect_done(&port, &b, 0);
	expect_idle(&port);
	port_close(&port);
}

/* ------------------------------------------------ COOKIE, ERROR, a new name */

static void test_cookie(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	for (i = 0; i < 3; i++) {
		call = port_call(&port);
		h = (struct ndp_hdr) { .type = NDP_COOKIE, .seq = PORT_SEQ + i, .token = 99 };
		assert_int_equal(ndp_snd_cookie(&call, &port.f, &h), NDP_SND_NEWS);
		assert_int_equal(ndp_snd_cookie(&call, &port.f, &h), NDP_SND_STALE);
		if (i)
			continue;
		/* a reason to send again at once, with the cookie */
		h = expect_rtx(&port, 0, NDP_DATA_SYN);
		assert_int_equal(h.data.token, 99);
	}
	expect_wait(&port);
	ack(&port, 0);
	h = expect_rtx(&port, 1, 0);
	/* CONTROL has a newer one */
	assert_int_equal(h.data.token, 1);
	assert_int_equal(h.data.pull_target, 1);
	pull(&port, 1);
	expect_rtx(&port, 2, NDP_DATA_LAST);
	port_close(&port);
}

static enum ndp_snd_verdict error(struct port *port, u32 nr, u8 code, u32 msg_id)
{
	struct ndp_hdr h = { .type = NDP_ERROR, .seq = PORT_SEQ + nr,
			     .err = { .code = code, .msg_id = msg_id } };

	call = port_call(port);
	return ndp_snd_error(&call, &port->f, &h);
}

/* So many messages fail, in any order. */
static void expect_all_failed(struct port *port, u32 count, u8 error)
{
	const struct ndp_snd_msg *m;

	while (count) {
		m = ndp_snd_reap(&port->f);
		assert_non_null(m);
		if (!m->ended)
			continue;
		assert_int_equal(m->error, error);
		count--;
	}
}

static void test_errors(void **state)
{
	static const struct { u8 code, error; } codes[] = {
		{ NDP_CODE_NO_PORT, ECONNREFUSED }, { NDP_CODE_NO_FLOW, ECONNRESET },
	};
	struct ndp_snd_msg a, b, c, d = { .len = 9, .payload = PORT_PAYLOAD };
	struct port port;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		start(&port);
		assert_int_equal(error(&port, 0, codes[i].code, 0), NDP_SND_STALE);
		submit(&port, &a, 2, 0);
		submit(&port, &b, 20, 0);
		push_window(&port, 22);
		submit(&port, &c, 1, 0);
		call = port_call(&port);
		assert_true(ndp_snd_submit(&call, &port.f, &d));
		/* about packets that were not sent, or ended long ago */
		assert_int_equal(error(&port, 10, codes[i].code, 0), NDP_SND_REFUSED);
		assert_int_equal(error(&port, -2, codes[i].code, 0), NDP_SND_REFUSED);
		assert_int_equal(error(&port, i ? 3 : -1, codes[i].code, 0), NDP_SND_NEWS);
		expect_all_failed(&port, 4, codes[i].error);
		expect_idle(&port);
		assert_int_equal(port.stats.msgs_failed, 4);
		port_close(&port);
	}

	start(&port);
	submit(&port, &a, 2, 0);
	submit(&port, &b, 20, 0);
	push_window(&port, 22);
	assert_int_equal(error(&port, 2, NDP_CODE_GONE, a.id), NDP_SND_REFUSED);
	assert_int_equal(error(&port, 2, NDP_CODE_ABORT, b.id), NDP_SND_REFUSED);
	assert_int_equal(error(&port, 2, NDP_CODE_GONE, b.id), NDP_SND_NEWS);
	expect_done(&port, &b, EMSGSIZE);
	port.ack_base = PORT_SEQ + 3;
	ack(&port, 2);
	expect_done(&port, &a, 0);
	expect_idle(&port);
	port_close(&port);
}

/* Messages without room begin again one at a time, with one packet, under the same id. */
static void test_no_room(void **state)
{
	struct ndp_snd_msg m[3];
	struct port port;
	struct ndp_hdr h;
	u32 i, id;

	(void)state;
	start(&port);
	for (i = 0; i < 3; i++)
		submit(&port, &m[i], 3, 0);
	push_window(&port, 9);
	for (i = 0; i < 3; i++)
		assert_int_equal(error(&port, 3 * i, NDP_CODE_REFUSED, i), NDP_SND_NEWS);
	assert_int_equal(error(&port, 0, NDP_CODE_REFUSED, 0), NDP_SND_REFUSED);
	expect_wait(&port);
	h = port_answer(&port, NDP_CTL_ROOM, 0, 0);
	port.ack_base = PORT_SEQ + 9;
	port_control(&port, &h);
	id = m[0].id;
	h = expect_new(&port, 9, NDP_DATA_SPEC);
	assert_int_equal(h.data.msg_id, id);
	assert_int_equal(h.data.offset, 0);
	expect_wait(&port);
	assert_int_equal(error(&port, 9, NDP_CODE_REFUSED, id), NDP_SND_NEWS);
	/* a PROBE permits a try of each */
	for (i = 0; i < 4; i++) {
		h = port_answer(&port, NDP_CTL_PROBED | NDP_CTL_ROOM, PORT_SEQ - 1, 0);
		port_control(&port, &h);
		h = expect_new(&port, 10 + i, NDP_DATA_SPEC);
		assert_int_equal(h.data.msg_id, m[(i + 1) % 3].id);
		expect_wait(&port);
		assert_int_equal(error(&port, 10 + i, NDP_CODE_REFUSED, h.data.msg_id),
				 NDP_SND_NEWS);
	}
	/* an accepted message goes on, and the next one begins */
	h = port_answer(&port, NDP_CTL_ROOM, 0, 0);
	port_control(&port, &h);
	expect_new(&port, 14, NDP_DATA_SPEC);
	port.ack_base = PORT_SEQ + 15;
	h = port_answer(&port, NDP_CTL_ACK | NDP_CTL_ROOM, PORT_SEQ + 14, 0);
	port_control(&port, &h);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_NEW);
	assert_int_equal(h.data.msg_id, m[0].id);
	assert_ptr_not_equal(port.f.retried, &m[0]);
	port_close(&port);
}

/*
 * A message that begins again is 1024 ids old, and it is the turn of one that may not begin before
 * the old one has arrived.
 */
static void test_no_room_old(void **state)
{
	struct ndp_snd_msg old, next;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	submit(&port, &old, 2, 0);
	push_window(&port, 2);
	assert_int_equal(error(&port, 0, NDP_CODE_REFUSED, old.id), NDP_SND_NEWS);
	port.f.msg_next += NDP_SND_MSGS_MAX - 1;
	submit(&port, &next, 1, 1);
	expect_wait(&port);
	h = port_answer(&port, NDP_CTL_ROOM, 0, 0);
	port.ack_base = PORT_SEQ + 2;
	port_control(&port, &h);
	h = expect_new(&port, 2, NDP_DATA_SPEC);
	assert_int_equal(h.data.msg_id, old.id);
	/* one packet tests whether there is room now */
	expect_wait(&port);
	port.ack_base = PORT_SEQ + 3;
	h = port_answer(&port, NDP_CTL_ACK | NDP_CTL_ROOM, PORT_SEQ + 2, 0);
	port_control(&port, &h);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_NEW);
	assert_int_equal(h.data.msg_id, next.id);
	assert_int_equal(next.id, old.id + NDP_SND_MSGS_MAX);
	port_close(&port);
}

/* Under a new name all counters begin anew, and packet numbers go on. */
static void test_renew(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	nack(&port, 0, 0);
	pull(&port, 3);
	while (port_send(&port, 1, &h) != NDP_SND_WAIT)
		;
	port.ack_base = PORT_SEQ + 12;
	ack(&port, 11);
	expect_done(&port, &m, 0);
	call = port_call(&port);
	assert_false(ndp_snd_is_old(&call, &port.f));
	call.now += port.p.renew_ns;
	assert_true(ndp_snd_is_old(&call, &port.f));
	ndp_snd_renew(&port.f, 78);
	port.pull = 0;
	port.trimmed = 0;
	give(&port, &m, 12);
	assert_false(ndp_snd_is_old(&call, &port.f));
	h = expect_new(&port, 12, NDP_DATA_SYN | NDP_DATA_SPEC);
	assert_int_equal(h.flow_id, 78);
	assert_int_equal(h.data.base, PORT_SEQ + 12);
	assert_int_equal(h.data.pull_target, 2);
	while (port_send(&port, 1, &h) != NDP_SND_WAIT)
		;
	pull(&port, 1);
	expect_new(&port, 22, 0);
	port_close(&port);
}

/* What cannot be about a packet of it is no danger to a flow without a ring. */
static void test_no_ring(void **state)
{
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	port.f.sb.pkt = NULL;
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ - 1, 0);
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	assert_int_equal(bounce(&port, 0, 0), NDP_SND_STALE);
	assert_int_equal(error(&port, -1, NDP_CODE_NO_PORT, 0), NDP_SND_STALE);
	h = (struct ndp_hdr) { .type = NDP_COOKIE, .seq = PORT_SEQ, .token = 9 };
	assert_int_equal(ndp_snd_cookie(&call, &port.f, &h), NDP_SND_STALE);
	expect_idle(&port);
	port_close(&port);
}

/* The less of a message is missing, the higher its level. */
static void test_level(void **state)
{
	struct ndp_snd_msg m = { .len = 1 };

	(void)state;
	assert_int_equal(ndp_snd_level(&m, 1), 0);
	assert_int_equal(ndp_snd_level(&m, 4), 3);
	m.len = NDP_SND_TOP_BYTES;
	assert_int_equal(ndp_snd_level(&m, 4), 3);
	m.len++;
	assert_int_equal(ndp_snd_level(&m, 4), 2);
	m.len = 16 * NDP_SND_TOP_BYTES;
	assert_int_equal(ndp_snd_level(&m, 4), 1);
	m.len++;
	assert_int_equal(ndp_snd_level(&m, 4), 0);
	assert_int_equal(ndp_snd_level(&m, 6), 2);
	m.len = UINT64_MAX;
	assert_int_equal(ndp_snd_level(&m, 6), 0);
	m.done = m.len - 1;
	assert_int_equal(ndp_snd_level(&m, 6), 5);
}

/* The packet that a flow would send next: its message's bytes from it on are the flow's order */
static void test_next(void **state)
{
	struct ndp_snd_msg m = {};
	struct ndp_snd_next next;
	struct port port;

	(void)state;
	start(&port);
	assert_true(port_submit(&port, &m, 2 * PORT_PAYLOAD + 5, 3));
	next = ndp_snd_next(&port.f, NDP_SND_NEW, 1);
	assert_int_equal(next.rest, 2 * PORT_PAYLOAD + 5);
	assert_int_equal(next.len, PORT_PAYLOAD);
	assert_int_equal(next.prio, 3);
	expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
	next = ndp_snd_next(&port.f, NDP_SND_NEW, 1);
	assert_int_equal(next.rest, 5);
	assert_int_equal(next.len, 5);
	/* a lost packet comes before new ones */
	nack(&port, 1, 0);
	pull(&port, 1);
	assert_int_equal(ndp_snd_pick(&port.f, &port.p), NDP_SND_RTX);
	next = ndp_snd_next(&port.f, NDP_SND_RTX, 1);
	assert_int_equal(next.rest, PORT_PAYLOAD + 5);
	assert_int_equal(next.len, PORT_PAYLOAD);
	assert_int_equal(next.prio, 3);
	port_close(&port);
}

/* The initial window is the link's rate times 40 µs or a long path's round trip, in packets. */
static void test_window(void **state)
{
	(void)state;
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, 1), 6);
	assert_int_equal(ndp_snd_auto_window(10000, 1416, 0, 1), 36);
	assert_int_equal(ndp_snd_auto_window(100000, 8916, 0, 1), 57);
	assert_int_equal(ndp_snd_auto_window(1, 1416, 0, 1), NDP_SND_WINDOW_MIN);
	assert_int_equal(ndp_snd_auto_window(1000000, NDP_SND_PAYLOAD_MIN, 0, 1), NDP_RING_MAX);
	/* a short round trip, or one with a queue, has no effect */
	assert_int_equal(ndp_snd_auto_window(10000, 1416, 10000, 1), 36);
	assert_int_equal(ndp_snd_auto_window(10000, 1416, 100000, 1), 36);
	assert_int_equal(ndp_snd_auto_window(10000, 1416, 100001, 1), 89);
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 500000, 1), 71);
	assert_int_equal(ndp_snd_auto_window(1, 1416, 1000000, 1), NDP_SND_WINDOW_MIN);
	/* a message of at most two windows is sent at once */
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, 6), 6);
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, 7), 7);
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, 12), 12);
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, 13), 6);
	assert_int_equal(ndp_snd_auto_window(10000, 8916, 0, UINT64_MAX), 6);
	assert_int_equal(ndp_snd_auto_window(1, 1416, 0, 12), 12);
	assert_int_equal(ndp_snd_auto_window(1000000, NDP_SND_PAYLOAD_MIN, 0, 2000), NDP_RING_MAX);
	/* the largest rate and the longest round trip do not overflow */
	assert_int_equal(ndp_snd_auto_window(2000000, 256, UINT32_MAX, 1), NDP_RING_MAX);
	assert_int_equal(ndp_snd_auto_window(2000000, 65535, UINT32_MAX, 1), NDP_RING_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_begin_in_order),
		cmocka_unit_test(test_aging),
		cmocka_unit_test(test_cancel_fresh),
		cmocka_unit_test(test_many_fresh),
		cmocka_unit_test(test_refused_messages),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_done_bytes),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_keep_alive_refused),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cookie),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_no_room_old),
		cmocka_unit_test(test_renew),
		cmocka_unit_test(test_no_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
