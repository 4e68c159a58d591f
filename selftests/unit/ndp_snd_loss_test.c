// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/snd.h: packets that are bounced, and packets and answers that are lost;
 * one rule a test
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_snd_say.h"

static struct ndp_snd_call call;

/* ------------------------------------------------ bounces */

/* To the front; and not pushed while answers or pulls are to come. */
static void test_bounce_waits(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	nack(&port, 0, 0);
	assert_int_equal(bounce(&port, 7, 0), NDP_SND_NEWS);
	assert_int_equal(bounce(&port, 3, 0), NDP_SND_NEWS);
	assert_int_equal(bounce(&port, 3, 0), NDP_SND_STALE);
	expect_wait(&port);
	pull(&port, 3);
	expect_rtx(&port, 3, 0);
	expect_rtx(&port, 7, 0);
	expect_rtx(&port, 0, 0);
	/* two new ones, a NACK, two bounces */
	assert_int_equal(port.f.announced, 5);
	expect_wait(&port);
	port_close(&port);
}

/* No packet in flight, no pull expected: at once, with the demand of the remaining packets. */
static void test_bounce_stalled(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 5);
	push_window(&port, 5);
	for (i = 0; i < 4; i++) {
		bounce(&port, i, 0);
		expect_wait(&port);
	}
	ack(&port, 4);
	h = expect_rtx(&port, 3, 0);
	assert_int_equal(h.data.pull_target, 3);
	expect_wait(&port);
	assert_int_equal(port.stats.stalls, 1);
	pull(&port, 3);
	expect_rtx(&port, 2, 0);
	expect_rtx(&port, 1, 0);
	expect_rtx(&port, 0, 0);
	port_close(&port);
}

/*
 * The packet that announced the demand was returned: no pull will come, and the next packet goes at
 * once. Only a receiver that has seen it owes pulls.
 */
static void test_bounce_untold(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u8 try_no;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	ack(&port, 0);
	bounce(&port, 1, 0);
	expect_wait(&port);
	bounce(&port, 2, 0);
	port.now += 10 * US;
	for (try_no = 1; try_no < 5; try_no++) {
		h = expect_rtx(&port, 2, NDP_DATA_LAST);
		assert_int_equal(h.data.pull_target, 1);
		expect_wait(&port);
		port.now += 10 * US;
		bounce(&port, 2, try_no);
	}
	expect_rtx(&port, 2, NDP_DATA_LAST);
	nack(&port, 2, 5);
	expect_wait(&port);
	pull(&port, 2);
	expect_rtx(&port, 1, 0);
	expect_rtx(&port, 2, NDP_DATA_LAST);
	port_close(&port);
}

/* An answer to an earlier packet does not show that the receiver knows. */
static void test_bounce_older_answer(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 4);
	push_window(&port, 4);
	ack(&port, 0);
	nack(&port, 1, 0);
	bounce(&port, 2, 0);
	port.now += 10 * US;
	pull(&port, 1);
	h = expect_rtx(&port, 2, 0);
	assert_int_equal(h.data.pull_target, 2);
	ack(&port, 3);
	expect_wait(&port);
	bounce(&port, 2, 1);
	expect_rtx(&port, 2, 0);
	port_close(&port);
}

/* More than a quarter of the last 12 answers are ACKs: the path is bad, at once. */
static void test_bounce_bad_path(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u32 acks, i;

	(void)state;
	for (acks = 0; acks <= 11; acks++) {
		port_open(&port, PORT_RING, 20, false);
		give(&port, &m, 20);
		for (i = 0; i < 20; i++)
			expect_new(&port, i, NDP_DATA_SYN | NDP_DATA_SPEC |
				   (i == 19 ? NDP_DATA_LAST : 0));
		/* so that the 12 are what counts */
		for (i = 0; i < 3; i++)
			ack(&port, i);
		for (i = 3; i < 3 + 11 - acks; i++)
			nack(&port, i, 0);
		for (; i < 3 + 11; i++)
			ack(&port, i);
		bounce(&port, 15, 0);
		if (4 * acks > 12)
			expect_rtx(&port, 15, 0);
		expect_wait(&port);
		port_close(&port);
	}
}

/* A few answers are no history. */
static void test_bounce_few_answers(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 10);
	push_window(&port, 10);
	for (i = 0; i < 8; i++)
		ack(&port, i);
	bounce(&port, 9, 0);
	expect_wait(&port);
	port_close(&port);
}

/* Bounced for ever: some are pushed at once, then at the timer's pace, then it fails. */
static void test_bounce_for_ever(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u64 due, start_ns, pushed = 0;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	start_ns = port.now;
	port_send(&port, 1, &h);
	for (;;) {
		bounce(&port, 0, h.try_no);
		if (port_send(&port, 1, &h) == NDP_SND_RTX) {
			pushed++;
			continue;
		}
		due = ndp_snd_due_ns(&port.f, &port.p);
		assert_true(due > port.now && due < U64_MAX);
		port.now = due;
		if (port_expire(&port, &path) < 0)
			break;
		assert_int_equal(port_send(&port, 1, &h), NDP_SND_RTX);
	}
	assert_int_equal(pushed, NDP_SND_STALLS_MAX);
	/* 1 + 2 + ... + 256 ms, then half a second each */
	assert_true(port.now - start_ns == 511 * MS + 9 * 500 * MS);
	assert_int_equal(port.stats.returned_packets, 1 + NDP_SND_STALLS_MAX + 9 + 8);
	expect_done(&port, &m, ETIMEDOUT);
	expect_idle(&port);
	port_close(&port);
}

/* ------------------------------------------------ the timer */

/* Each band above a packet's doubles its timeout. */
static void test_timeout_of_band(void **state)
{
	static const struct { u64 len; u32 bands; u64 timeout_ms; } cases[] = {
		{ NDP_SND_TOP_BYTES, 8, 1 }, { NDP_SND_TOP_BYTES + 1, 1, 1 },
		{ NDP_SND_TOP_BYTES + 1, 2, 2 }, { NDP_SND_TOP_BYTES + 1, 8, 2 },
		{ 16 * NDP_SND_TOP_BYTES + 1, 8, 8 },
		{ NDP_MSG_MAX, 2, 2 }, { NDP_MSG_MAX, 8, 128 },
	};
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(&port);
		port.bands = cases[i].bands;
		assert_true(port_submit(&port, &m, cases[i].len, 0));
		port_send(&port, 1, &h);
		assert_true(ndp_snd_due_ns(&port.f, &port.p) ==
			    port.now + cases[i].timeout_ms * MS);
		port_close(&port);
	}
}

/* No answer: one packet goes, by another path, and announces the demand of all. */
static void test_timeout(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u64 sent;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == U64_MAX);
	give(&port, &m, 20);
	push_window(&port, 20);
	sent = port.now;
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == sent + MS);
	port.now += MS - 1;
	assert_int_equal(port_expire(&port, &path), 0);
	expect_wait(&port);
	port.now++;
	path = 0;
	assert_int_equal(port_expire(&port, &path), 10);
	assert_int_equal(path, 1);
	h = expect_rtx(&port, 0, NDP_DATA_SYN);
	/* a demand of ten, and two more; these are for the lost ones first */
	assert_int_equal(h.data.pull_target, 12);
	expect_wait(&port);
	/* twice as long now, but not after an answer */
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + 2 * MS);
	ack(&port, 0);
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + MS);
	pull(&port, 9);
	for (i = 1; i < 10; i++)
		expect_rtx(&port, i, 0);
	expect_wait(&port);
	assert_int_equal(port.stats.timeouts, 10);
	assert_int_equal(port.stats.pushed_packets, 1);
	port_close(&port);
}

/* It times out, but before it is sent again it is acknowledged: no packet is pushed instead. */
static void test_timeout_in_vain(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 20);
	push_window(&port, 20);
	port.now += MS;
	assert_int_equal(port_expire(&port, &path), 10);
	port.ack_base = PORT_SEQ + 10;
	ack(&port, 9);
	expect_wait(&port);
	port_close(&port);
}

/* No packet is pulled, and pushed ones are lost: still, all of them have their turn. */
static void test_timeouts_take_turns(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 5);
	push_window(&port, 5);
	for (i = 0; i < 12; i++) {
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), i ? 1 : 5);
		expect_rtx(&port, i % 5, NDP_DATA_SYN | (i % 5 == 4 ? NDP_DATA_LAST : 0));
		expect_wait(&port);
	}
	port_close(&port);
}

/* Only packets that are as old; an answer about one does not affect the rest of them. */
static void test_timeout_of_oldest(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 6);
	for (i = 0; i < 6; i++) {
		port_send(&port, (u8)i, &h);
		port.now += 100 * US;
	}
	ack(&port, 0);
	port.now += 600 * US;
	assert_int_equal(port_expire(&port, &path), 2);
	assert_int_equal(path, 2);
	expect_rtx(&port, 1, 0);
	expect_wait(&port);
	port_close(&port);
}

/* No answer at all: each time twice as long, up to a limit, and then it fails. */
static void test_back_off_and_fail(void **state)
{
	u64 wait, last = 0, total = 0;
	struct ndp_snd_msg m, n;
	struct port port;
	struct ndp_hdr h;
	int lost;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	for (;;) {
		wait = ndp_snd_due_ns(&port.f, &port.p) - port.now;
		assert_true(wait == (last ? min_t(u64, 2 * last, port.p.rto_max_ns) : MS));
		last = wait;
		total += wait;
		port.now += wait;
		lost = port_expire(&port, &path);
		if (lost < 0)
			break;
		assert_int_equal(lost, 1);
		expect_rtx(&port, 0, NDP_DATA_SYN | NDP_DATA_LAST);
		expect_wait(&port);
	}
	/* 1 + 2 + ... + 256 ms, then half a second each, until it is 5 s */
	assert_true(total == 511 * MS + 9 * 500 * MS);
	assert_int_equal(port.stats.timeouts, 9 + 8);
	expect_done(&port, &m, ETIMEDOUT);
	expect_idle(&port);
	assert_false(port_submit(&port, &n, 1, 0));
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ, 0);
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	port_close(&port);
}

/* The jitter is up to a quarter, and by the random number. */
static void test_jitter(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	port.now += MS;
	call = port_call(&port);
	assert_int_equal(ndp_snd_expire(&call, &port.f, UINT32_MAX, &path), NDP_SND_LOST);
	assert_int_equal(ndp_snd_expire(&call, &port.f, UINT32_MAX, &path), NDP_SND_QUIET);
	port_send(&port, 1, &h);
	assert_in_range(ndp_snd_due_ns(&port.f, &port.p) - port.now, 2500 * US - 2, 2500 * US);
	port_close(&port);
}

/* A packet that is overtaken each time: it has a backoff of its own. */
static void test_one_packet_starves(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u64 wait;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 2);
	push_window(&port, 2);
	for (i = 0; i < port.p.max_tries; i++) {
		/* progress, as the receiver sees it */
		ack(&port, 1);
		port.pull++;
		ack(&port, 1);
		port.f.credit = 0;
		wait = ndp_snd_due_ns(&port.f, &port.p) - port.now;
		assert_true(wait == min_t(u64, MS << i, port.p.rto_max_ns));
		port.now += wait;
		assert_int_equal(port_expire(&port, &path), 1);
		expect_rtx(&port, 0, 0);
	}
	port.now += 500 * MS;
	assert_int_equal(port_expire(&port, &path), -1);
	expect_done(&port, &m, ETIMEDOUT);
	port_close(&port);
}

/* The receiver reports its window, and names no packet. */
static void say_window(struct port *port, u32 window)
{
	struct ndp_hdr h = port_answer(port, 0, 0, 0);

	h.ctl.window = window;
	port_control(port, &h);
}

/* Packet @nr has found no room. */
static void say_full(struct port *port, u32 nr, u8 try_no)
{
	struct ndp_hdr h = port_answer(port, NDP_CTL_FULL, PORT_SEQ + nr, try_no);

	h.ctl.window = 0;
	assert_int_equal(port_control(port, &h), NDP_SND_NEWS);
}

/* A receiver without room drops packets, and reports it: that is no failure. */
static void test_receiver_is_full(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u64 silent_ns;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	for (i = 0; i < 100; i++) {
		say_window(&port, 0);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), 1);
		expect_rtx(&port, 0, NDP_DATA_LAST);
		expect_wait(&port);
	}
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + port.p.rto_max_ns);
	/* it has room again: soon */
	h = port_answer(&port, NDP_CTL_PULL, 0, 0);
	port_control(&port, &h);
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + MS);
	/* it has not, and then it is silent */
	h.ctl.window = 0;
	port_control(&port, &h);
	silent_ns = port.now;
	while (port_expire(&port, &path) >= 0) {
		port_send(&port, 1, &h);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
	}
	assert_in_range(port.now - silent_ns, port.p.timeout_ns,
			port.p.timeout_ns + 2 * port.p.rto_max_ns);
	expect_done(&port, &m, ETIMEDOUT);
	port_close(&port);
}

/*
 * A receiver has no room for very long. Then it reports room, but other senders are faster: that is
 * no failure either, until its last report of no room is old.
 */
static void test_receiver_was_full(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u64 full_ns;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	for (i = 0; i < 100; i++) {
		if (i)
			expect_rtx(&port, 0, NDP_DATA_LAST);
		say_window(&port, 0);
		full_ns = port.now;
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), 1);
	}
	/* before the packet is sent again */
	say_window(&port, WINDOW);
	do {
		expect_rtx(&port, 0, NDP_DATA_LAST);
		say_window(&port, WINDOW);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
	} while (port_expire(&port, &path) >= 0);
	assert_in_range(port.now - full_ns, port.p.timeout_ns,
			port.p.timeout_ns + 2 * port.p.rto_max_ns);
	expect_done(&port, &m, ETIMEDOUT);
	port_close(&port);
}

/* A receiver without room is offered only the packet that it may take. */
static void test_oldest_for_full_receiver(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 5);
	push_window(&port, 5);
	say_full(&port, 0, 0);
	for (i = 0; i < 4; i++) {
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), i ? 1 : 4);
		expect_rtx(&port, 0, 0);
		expect_wait(&port);
	}
	/* pulls wait for the answer to this one */
	pull(&port, 2);
	expect_wait(&port);
	port.now += MS << 4;
	assert_int_equal(port_expire(&port, &path), 1);
	expect_rtx(&port, 0, 0);
	/* it takes it */
	port.ack_base++;
	ack(&port, 0);
	expect_rtx(&port, 1, 0);
	expect_rtx(&port, 2, 0);
	/* it has no room again */
	say_full(&port, 1, 1);
	say_full(&port, 2, 1);
	expect_wait(&port);
	port.now = ndp_snd_due_ns(&port.f, &port.p);
	assert_int_equal(port_expire(&port, &path), 0);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
	port.now = ndp_snd_due_ns(&port.f, &port.p);
	assert_int_equal(port_expire(&port, &path), 0);
	expect_rtx(&port, 1, 0);
	port_close(&port);
}

/* A receiver without room is offered the first missing packet of each message in turn. */
static void test_turns_for_full_receiver(void **state)
{
	struct ndp_snd_msg m[2];
	struct port port;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m[0], 3);
	give(&port, &m[1], 3);
	push_window(&port, 6);
	for (i = 0; i < 6; i++)
		say_full(&port, i, 0);
	for (i = 0; i < 3; i++) {
		pull(&port, 1);
		port.now += US;
		expect_rtx(&port, 0, 0);
		say_full(&port, 0, (u8)(i + 1));
		pull(&port, 1);
		port.now += US;
		expect_rtx(&port, 3, 0);
		say_full(&port, 3, (u8)(i + 1));
	}
	/* one at a time */
	pull(&port, 3);
	expect_rtx(&port, 0, 0);
	expect_wait(&port);
	/* until one finds room: later packets are next */
	port.ack_base++;
	ack(&port, 0);
	expect_rtx(&port, 1, 0);
	expect_rtx(&port, 3, 0);
	port_close(&port);
}

/*
 * A message whose only packet in the ring was acknowledged, and a shorter message with as
 * many packets in flight as there is permission for
 */
static void begin_two(struct port *port, struct ndp_snd_msg *m, u32 packets)
{
	start(port);
	give(port, &m[0], packets + 1);
	expect_new(port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	give(port, &m[1], packets - 1);
	while (ndp_snd_pick(&port->f, &port->p) == NDP_SND_NEW)
		expect_new(port, port->f.sb.next - PORT_SEQ, NDP_DATA_SYN | NDP_DATA_SPEC);
	port->ack_base++;
	ack(port, 0);
}

/* A receiver without room is offered a new packet if another message has no packet to repeat. */
static void test_new_for_full_receiver(void **state)
{
	struct ndp_snd_msg m[2];
	struct port port;
	struct ndp_hdr h;

	(void)state;
	begin_two(&port, m, 20);
	say_full(&port, 1, 0);
	pull(&port, 2);
	h = expect_new(&port, WINDOW, 0);
	assert_int_equal(h.data.msg_id, m[0].id);
	assert_int_equal(h.data.offset, PORT_PAYLOAD);
	/* only one, though it finds room */
	ack(&port, WINDOW);
	expect_rtx(&port, 1, 0);
	expect_wait(&port);
	port_close(&port);
}

/* Send new packets from @next on until the ring is full. Return: the next one */
static u32 fill_ring(struct port *port, u32 next)
{
	while (ndp_sb_room(&port->f.sb)) {
		pull(port, 1);
		expect_new(port, next++, 0);
	}
	return next;
}

/* If the ring is full, the message without room makes place for that new packet. */
static void test_full_ring_for_full_receiver(void **state)
{
	struct ndp_snd_msg m[2];
	struct port port;
	struct ndp_hdr h;
	u32 next;

	(void)state;
	begin_two(&port, m, 2 * PORT_RING);
	port.ack_base++;
	ack(&port, 1);
	next = fill_ring(&port, WINDOW);
	pull(&port, 2);
	expect_wait(&port);
	say_full(&port, 2, 0);
	h = expect_new(&port, next, 0);
	assert_int_equal(h.data.msg_id, m[0].id);
	assert_int_equal(h.data.offset, PORT_PAYLOAD);
	assert_int_equal(h.data.base, PORT_SEQ + next);
	expect_wait(&port);
	say_full(&port, next, 0);
	h = expect_new(&port, next + 1, 0);
	assert_int_equal(h.data.msg_id, m[1].id);
	assert_int_equal(h.data.offset, PORT_PAYLOAD);
	assert_int_equal(m[1].pending, 1);
	/* now no message needs a new packet */
	ack(&port, next + 1);
	pull(&port, 1);
	expect_rtx(&port, next, 0);
	next = fill_ring(&port, next + 2);
	say_full(&port, next - 1, 0);
	ack(&port, next - 2);
	pull(&port, 1);
	expect_rtx(&port, next - 1, 0);
	port_close(&port);
}

/* All sent packets are acknowledged, further ones need pulls, and the last PULL was lost. */
static void test_probe(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u64 wait = MS;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	port.ack_base = PORT_SEQ + WINDOW;
	ack(&port, 9);
	for (i = 0; i < 3; i++) {
		assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + wait);
		port.now += wait;
		assert_int_equal(port_expire(&port, &path), 0);
		assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		assert_int_equal(h.type, NDP_PROBE);
		assert_int_equal(h.flags, 0);
		assert_int_equal(h.payload_len, 0);
		assert_int_equal(h.seq, PORT_SEQ + 9);
		assert_int_equal(h.data.base, PORT_SEQ + 10);
		assert_int_equal(h.data.pull_target, 2);
		assert_int_equal(h.try_no, i);
		expect_wait(&port);
		/* it is alive, but busy */
		h = port_answer(&port, NDP_CTL_PROBED, h.seq, h.try_no);
		assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
		wait *= 2;
	}
	pull(&port, 2);
	expect_new(&port, 10, 0);
	expect_new(&port, 11, NDP_DATA_LAST);
	assert_true(ndp_snd_due_ns(&port.f, &port.p) == port.now + MS);
	assert_int_equal(port.stats.probes, 3);
	port_close(&port);
}

/*
 * The receiver has forgotten the demand, as it had all up to LAST: a lost packet
 * that waits for a pull does not wait for ever.
 */
static void test_probe_in_vain(void **state)
{
	struct ndp_snd_msg m, n;
	struct port port;
	struct ndp_hdr h;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	give(&port, &n, 1);
	expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	port.now += MS;
	assert_int_equal(port_expire(&port, &path), 2);
	h = expect_rtx(&port, 0, NDP_DATA_SYN);
	assert_int_equal(h.data.pull_target, 1);
	port.ack_base++;
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ, 1);
	port_control(&port, &h);
	expect_wait(&port);
	port.now += MS;
	assert_int_equal(port_expire(&port, &path), 0);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
	h = port_answer(&port, NDP_CTL_PROBED, h.seq, h.try_no);
	port_control(&port, &h);
	expect_wait(&port);
	port.now += 2 * MS;
	assert_int_equal(port_expire(&port, &path), 0);
	expect_rtx(&port, 1, NDP_DATA_LAST);
	expect_wait(&port);
	port_close(&port);
}

/* The receiver has no room, and does not pull: now and then a packet tries. */
static void test_try_for_room(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	port.ack_base = PORT_SEQ + WINDOW;
	for (i = 0; i < 4; i++) {
		h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ, 0);
		h.ctl.window = 0;
		port_control(&port, &h);
		expect_wait(&port);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), 0);
		if (i % 2 == 0)
			assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		else
			expect_new(&port, 10 + i / 2,
				   NDP_DATA_SPEC | (i == 3 ? NDP_DATA_LAST : 0));
		expect_wait(&port);
		port.ack_base = port.f.sb.next;
	}
	port_close(&port);
}

/* PROBEs without any answer: it fails; with answers, never. */
static void test_probes_fail(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u64 silent_ns;
	u8 path;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	port.ack_base = PORT_SEQ + WINDOW;
	ack(&port, 9);
	for (i = 0; i < 100; i++) {
		port.now = ndp_snd_due_ns(&port.f, &port.p);
		assert_int_equal(port_expire(&port, &path), 0);
		assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		h = port_answer(&port, NDP_CTL_PROBED, h.seq, h.try_no);
		port_control(&port, &h);
	}
	port.now = ndp_snd_due_ns(&port.f, &port.p);
	silent_ns = port.now;
	while (port_expire(&port, &path) >= 0) {
		assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
		port.now = ndp_snd_due_ns(&port.f, &port.p);
	}
	assert_true(port.now - silent_ns == port.p.timeout_ns);
	expect_done(&port, &m, ETIMEDOUT);
	assert_true(m.acked == WINDOW);
	port_close(&port);
}

/* The timer expires while the packet that was pulled has not left yet. */
static void test_expires_with_credit(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u8 path;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	port.ack_base = PORT_SEQ + WINDOW;
	ack(&port, 9);
	pull(&port, 1);
	port.now += 5 * MS;
	assert_int_equal(port_expire(&port, &path), 0);
	assert_int_equal(port.stats.probes, 0);
	expect_new(&port, 10, 0);
	expect_wait(&port);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounce_waits),
		cmocka_unit_test(test_bounce_stalled),
		cmocka_unit_test(test_bounce_untold),
		cmocka_unit_test(test_bounce_older_answer),
		cmocka_unit_test(test_timeout_in_vain),
		cmocka_unit_test(test_bounce_bad_path),
		cmocka_unit_test(test_bounce_few_answers),
		cmocka_unit_test(test_bounce_for_ever),
		cmocka_unit_test(test_timeout_of_band),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_timeouts_take_turns),
		cmocka_unit_test(test_timeout_of_oldest),
		cmocka_unit_test(test_back_off_and_fail),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_one_packet_starves),
		cmocka_unit_test(test_receiver_is_full),
		cmocka_unit_test(test_receiver_was_full),
		cmocka_unit_test(test_oldest_for_full_receiver),
		cmocka_unit_test(test_turns_for_full_receiver),
		cmocka_unit_test(test_new_for_full_receiver),
		cmocka_unit_test(test_full_ring_for_full_receiver),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_in_vain),
		cmocka_unit_test(test_try_for_room),
		cmocka_unit_test(test_probes_fail),
		cmocka_unit_test(test_expires_with_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
