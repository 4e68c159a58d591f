// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/snd.h: packets and their permissions, effects of ACKs and NACKs, false answers;
 * one rule a test
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_snd_say.h"

/* ------------------------------------------------ the initial window */

/* What an idle flow costs, and a packet in flight */
static void test_layout(void **state)
{
	(void)state;
	assert_true(sizeof(struct ndp_snd_flow) <= 256);
	assert_true(sizeof(struct ndp_snd_msg) <= 152);
	assert_true(sizeof(struct ndp_snd_pkt) <= 40);
}

/* A message within the window: only it and its ACKs, without demand. */
static void test_short_message(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	assert_true(port_submit(&port, &m, 2 * PORT_PAYLOAD + 1, 5));
	h = expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	assert_int_equal(h.payload_len, PORT_PAYLOAD);
	assert_int_equal(h.data.offset, 0);
	assert_int_equal(h.data.msg_len, 2 * PORT_PAYLOAD + 1);
	assert_int_equal(h.data.prio, 5);
	assert_int_equal(h.data.base, PORT_SEQ);
	assert_int_equal(h.data.pull_target, 0);
	assert_int_equal(h.flow_id, PORT_FLOW_ID);
	assert_int_equal(h.sport, 1);
	assert_int_equal(h.dport, 2);
	expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
	h = expect_new(&port, 2, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	assert_int_equal(h.payload_len, 1);
	assert_int_equal(h.data.offset, 2 * PORT_PAYLOAD);
	assert_int_equal(h.data.pull_target, 0);
	expect_wait(&port);
	for (i = 0; i < 3; i++) {
		assert_int_equal(ack(&port, i), NDP_SND_NEWS);
		assert_true(i == 2 || !m.ended);
	}
	expect_done(&port, &m, 0);
	assert_null(ndp_snd_reap(&port.f));
	expect_idle(&port);
	assert_int_equal(port.stats.acked_packets, 3);
	assert_int_equal(port.stats.spec_packets, 3);
	assert_int_equal(port.stats.msgs_done, 1);
	port_close(&port);
}

/* The demand is half a window at once, and two more with each further packet, up to the need. */
static void test_window_then_pulls(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 25);
	for (i = 0; i < WINDOW; i++) {
		h = expect_new(&port, i, NDP_DATA_SYN | NDP_DATA_SPEC);
		assert_int_equal(h.data.pull_target, min_t(u32, WINDOW / 2 + 2 * i, 15));
	}
	expect_wait(&port);
	for (i = 0; i < WINDOW; i++)
		ack(&port, i);
	/* ACKs open no window: the demand will be pulled */
	expect_wait(&port);
	pull(&port, 1);
	h = expect_new(&port, 10, 0);
	assert_int_equal(h.data.pull_target, 15);
	expect_wait(&port);
	/* two PULLs are lost, the third has their sum; the second comes late */
	pull(&port, 3);
	for (i = 11; i < 14; i++)
		expect_new(&port, i, 0);
	expect_wait(&port);
	h = port_answer(&port, NDP_CTL_PULL, 0, 0);
	h.ctl.pull = 3;
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	expect_wait(&port);
	pull(&port, 10);
	for (i = 14; i < 24; i++)
		expect_new(&port, i, 0);
	pull(&port, 1);
	expect_new(&port, 24, NDP_DATA_LAST);
	expect_wait(&port);
	port.ack_base = PORT_SEQ + 25;
	ack(&port, 24);
	expect_done(&port, &m, 0);
	expect_idle(&port);
	assert_int_equal(port.stats.pulls, 15);
	assert_int_equal(port.stats.pulls_unused, 0);
	port_close(&port);
}

/* A flow that has been idle pushes again, as the first time. */
static void test_pushes_after_idle(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	port.ack_base = PORT_SEQ + 3;
	ack(&port, 2);
	expect_done(&port, &m, 0);
	give(&port, &m, 12);
	for (i = 0; i < WINDOW; i++) {
		h = expect_new(&port, 3 + i, NDP_DATA_SYN | NDP_DATA_SPEC);
		assert_int_equal(h.data.pull_target, 2);
	}
	expect_wait(&port);
	port_close(&port);
}

/* While pulls are expected, a new message is pulled and has no window. */
static void test_no_push_when_pulled(void **state)
{
	struct ndp_snd_msg m, n;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	port.ack_base = PORT_SEQ + WINDOW;
	ack(&port, 9);
	give(&port, &n, 4);
	expect_wait(&port);
	pull(&port, 1);
	h = expect_new(&port, 10, 0);
	/* two of the first, four of the second */
	assert_int_equal(h.data.pull_target, 6);
	expect_wait(&port);
	port_close(&port);
}

/* When all came up to LAST, the receiver forgets the demand: new packets are pushed. */
static void test_after_last(void **state)
{
	struct ndp_snd_msg m, n;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 10);
	push_window(&port, 10);
	nack(&port, 0, 0);
	give(&port, &n, 20);
	expect_wait(&port);
	pull(&port, 1);
	h = expect_rtx(&port, 0, 0);
	assert_int_equal(h.data.pull_target, 1 + WINDOW / 2);
	expect_wait(&port);
	port.ack_base = PORT_SEQ + 10;
	ack(&port, 0);
	h = expect_new(&port, 10, NDP_DATA_SPEC);
	assert_int_equal(h.data.pull_target, 1 + WINDOW / 2);
	port_close(&port);
}

/*
 * The same, if the last packet had LAST when it was sent first, and not again: the receiver may
 * have seen either.
 */
static void test_after_last_again(void **state)
{
	struct ndp_snd_msg m, n;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 10);
	push_window(&port, 10);
	nack(&port, 9, 0);
	give(&port, &n, 20);
	pull(&port, 1);
	expect_rtx(&port, 9, 0);
	assert_int_equal(ndp_snd_expected(&port.f), WINDOW / 2);
	expect_wait(&port);
	port.ack_base = PORT_SEQ + 10;
	ack(&port, 9);
	expect_new(&port, 10, NDP_DATA_SPEC);
	port_close(&port);
}

/*
 * A sender that cannot use its pulls, as its link is busy, has less demand: one for each packet
 * that it sends, and zero as long as more than half a window is left.
 */
static void test_appetite(void **state)
{
	static const u32 asks[] = { 0, 0, 1, 1, 1, 1, 1, 2 };
	u32 i, told = WINDOW / 2 + 2 * (WINDOW - 1);
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 60);
	h = push_window(&port, 60);
	assert_int_equal(h.data.pull_target, told);
	port.ack_base = PORT_SEQ + WINDOW;
	ack(&port, 9);
	pull(&port, 8);
	for (i = 0; i < 8; i++) {
		h = expect_new(&port, WINDOW + i, 0);
		told += asks[i];
		assert_int_equal(h.data.pull_target, told);
	}
	expect_wait(&port);
	port_close(&port);
}

/* Messages one by one, more than the window: each ACK makes room for one. */
static void test_ack_clock(void **state)
{
	struct ndp_snd_msg m, n;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, WINDOW);
	push_window(&port, WINDOW);
	give(&port, &n, 3);
	expect_wait(&port);
	ack(&port, 0);
	h = expect_new(&port, 10, NDP_DATA_SPEC);
	/* and announces the other two, which are pulled */
	assert_int_equal(h.data.pull_target, 2);
	ack(&port, 1);
	expect_wait(&port);
	pull(&port, 2);
	expect_new(&port, 11, 0);
	expect_new(&port, 12, NDP_DATA_LAST);
	port_close(&port);
}

/* The receiver's window is less; and 0: a PROBE goes at once, and no packet is pushed. */
static void test_receivers_window(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 1);
	push_window(&port, 1);
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ, 0);
	h.ctl.window = 2;
	port_control(&port, &h);
	expect_done(&port, &m, 0);
	give(&port, &m, 3);
	h = expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
	assert_int_equal(h.data.pull_target, 1);
	expect_new(&port, 2, NDP_DATA_SYN | NDP_DATA_SPEC);
	expect_wait(&port);
	port.pull = 1;
	port.ack_base = PORT_SEQ + 3;
	h = port_answer(&port, NDP_CTL_ACK | NDP_CTL_PULL, PORT_SEQ + 2, 0);
	h.ctl.window = 0;
	port_control(&port, &h);
	expect_new(&port, 3, NDP_DATA_LAST);
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ + 3, 0);
	h.ctl.window = 0;
	port_control(&port, &h);
	expect_done(&port, &m, 0);
	expect_idle(&port);

	give(&port, &m, 2);
	assert_int_equal(port_send(&port, 1, &h), NDP_SND_PROBE);
	assert_int_equal(h.type, NDP_PROBE);
	assert_int_equal(h.seq, PORT_SEQ + 3);
	assert_int_equal(h.data.base, PORT_SEQ + 4);
	assert_int_equal(h.data.pull_target, 3);
	expect_wait(&port);
	pull(&port, 2);
	expect_new(&port, 4, 0);
	expect_new(&port, 5, NDP_DATA_LAST);
	port_close(&port);
}

/* No more packets than the ring has slots, whatever is pulled */
static void test_ring_is_full(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	port_open(&port, 64, WINDOW, false);
	give(&port, &m, 200);
	push_window(&port, 200);
	for (i = WINDOW; i < 64; i++) {
		pull(&port, 1);
		h = expect_new(&port, i, 0);
		/* the demand has room */
		assert_true(h.data.pull_target - port.pull <= 64);
		ack(&port, i);
	}
	pull(&port, 5);
	expect_wait(&port);
	assert_int_equal(port.f.credit, 5);
	/* packet 0 was all that was in the way */
	for (i = 1; i < WINDOW; i++)
		ack(&port, i);
	expect_wait(&port);
	ack(&port, 0);
	for (i = 64; i < 69; i++)
		expect_new(&port, i, 0);
	expect_wait(&port);
	port_close(&port);
}

/* ------------------------------------------------ NACKs */

/* A NACK is no licence: the packet waits for a pull, and goes before new ones. */
static void test_nack_waits_for_pull(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 12);
	push_window(&port, 12);
	assert_int_equal(nack(&port, 4, 0), NDP_SND_NEWS);
	assert_int_equal(nack(&port, 2, 0), NDP_SND_NEWS);
	expect_wait(&port);
	pull(&port, 3);
	h = expect_rtx(&port, 4, 0);
	assert_int_equal(h.try_no, 1);
	assert_int_equal(h.data.offset, 4 * PORT_PAYLOAD);
	assert_int_equal(h.payload_len, PORT_PAYLOAD);
	/* two new ones and two NACKs, that the receiver counts by itself */
	assert_int_equal(h.data.pull_target, 4);
	expect_rtx(&port, 2, 0);
	expect_new(&port, 10, 0);
	expect_wait(&port);
	port_close(&port);
}

/* The PULL that a NACK caused overtakes it, or the NACK is lost: the pull is kept. */
static void test_pull_before_nack(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	port.trimmed = 1;
	pull(&port, 1);
	expect_wait(&port);
	port.trimmed = 0;
	nack(&port, 1, 0);
	expect_rtx(&port, 1, 0);
	expect_wait(&port);
	port_close(&port);
}

/* A lost NACK: any later CONTROL's map has it, and its counter the pull. */
static void test_nack_map(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 10);
	push_window(&port, 10);
	port.trimmed = 2;
	port.ack_base = PORT_SEQ + 2;
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ + 5, 0);
	h.ctl.nack = 1 << 1 | 1 << 6;
	h.ctl.sack = 1 << 3;
	assert_int_equal(port_control(&port, &h), NDP_SND_NEWS);
	assert_int_equal(port.stats.nacked_packets, 2);
	assert_int_equal(port.stats.acked_packets, 3);
	assert_int_equal(ndp_snd_expected(&port.f), 2);
	/* the same, and an older one: no news */
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	h.ctl.ack_base--;
	h.ctl.nack <<= 1;
	h.ctl.sack <<= 1;
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	pull(&port, 2);
	expect_rtx(&port, 3, 0);
	expect_rtx(&port, 8, 0);
	/* the map still has them, but does not show whether the second transmission came */
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ + 5, 0);
	h.ctl.nack = 1 << 1 | 1 << 6;
	assert_int_equal(port_control(&port, &h), NDP_SND_STALE);
	expect_wait(&port);
	port_close(&port);
}

/* A doubled NACK, or a late one, is not about the transmission that is in flight. */
static void test_stale_nack(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	nack(&port, 1, 0);
	nack(&port, 1, 0);
	pull(&port, 1);
	expect_rtx(&port, 1, 0);
	assert_int_equal(port.stats.nacked_packets, 1);
	nack(&port, 1, 0);
	assert_int_equal(port.stats.answers_stale, 2);
	pull(&port, 2);
	expect_wait(&port);
	/* this one is */
	nack(&port, 1, 1);
	expect_rtx(&port, 1, 0);
	port_close(&port);
}

/* The second transmission is on its way when the first is acknowledged. */
static void test_ack_of_lost(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 3);
	push_window(&port, 3);
	nack(&port, 0, 0);
	nack(&port, 1, 0);
	pull(&port, 1);
	expect_rtx(&port, 0, 0);
	ack(&port, 0);
	ack(&port, 1);
	pull(&port, 1);
	expect_wait(&port);
	ack(&port, 2);
	expect_done(&port, &m, 0);
	/* the pull that was not used */
	assert_int_equal(port.stats.pulls_unused, 1);
	expect_idle(&port);
	port_close(&port);
}

/* All of the first window was trimmed: all comes again, pull by pull. */
static void test_all_trimmed(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 10);
	push_window(&port, 10);
	for (i = 0; i < 10; i++)
		nack(&port, 9 - i, 0);
	expect_wait(&port);
	for (i = 0; i < 10; i++) {
		pull(&port, 1);
		expect_rtx(&port, 9 - i, i ? 0 : NDP_DATA_LAST);
		expect_wait(&port);
	}
	for (i = 0; i < 10; i++)
		ack(&port, i);
	expect_done(&port, &m, 0);
	expect_idle(&port);
	assert_int_equal(port.stats.timeouts, 0);
	port_close(&port);
}

/* A receiver without state answers to 16 bytes; no other field of it has an effect. */
static void test_bare_nack(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 2);
	push_window(&port, 2);
	h = (struct ndp_hdr) { .type = NDP_CONTROL, .seq = PORT_SEQ,
			       .flags = NDP_CTL_BARE | NDP_CTL_NACK };
	assert_int_equal(port_control(&port, &h), NDP_SND_NEWS);
	expect_wait(&port);
	h.seq++;
	assert_int_equal(port_control(&port, &h), NDP_SND_NEWS);
	/* no pull will come: one is pushed, and announces the other */
	h = expect_rtx(&port, 0, NDP_DATA_SYN);
	assert_int_equal(h.data.pull_target, 1);
	expect_wait(&port);
	port_close(&port);
}

/* ------------------------------------------------ lies */

static void test_lies(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i;

	(void)state;
	start(&port);
	give(&port, &m, 500);
	push_window(&port, 500);
	/* ACK and NACK of packets that were never sent: one by one, cumulative, in the maps */
	assert_int_equal(ack(&port, 10), NDP_SND_REFUSED);
	h = port_answer(&port, NDP_CTL_NACK, PORT_SEQ + 10, 0);
	assert_int_equal(port_control(&port, &h), NDP_SND_REFUSED);
	port.ack_base = PORT_SEQ + 11;
	assert_int_equal(ack(&port, 9), NDP_SND_REFUSED);
	port.ack_base = PORT_SEQ;
	h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ, 0);
	h.ctl.sack = 1 << 10;
	assert_int_equal(port_control(&port, &h), NDP_SND_REFUSED);
	h.ctl.sack = 0;
	h.ctl.nack = 1ULL << 63;
	assert_int_equal(port_control(&port, &h), NDP_SND_REFUSED);
	assert_int_equal(port.stats.answers_refused, 5);
	assert_int_equal(port.stats.acked_packets + port.stats.nacked_packets, 0);
	assert_false(port.f.known);
	expect_wait(&port);

	/* all the pulls in the world: an initial window */
	pull(&port, 1000000);
	for (i = 0; i < WINDOW; i++)
		expect_new(&port, 10 + i, 0);
	expect_wait(&port);
	assert_true(port.stats.pulls_refused > 900000);
	/* again and again: never more than the ring */
	for (i = 0; i < 1000; i++) {
		h = port_answer(&port, NDP_CTL_PULL, 0, 0);
		h.ctl.trimmed = i << 20;
		port_control(&port, &h);
		while (port_send(&port, 1, &h) != NDP_SND_WAIT)
			;
	}
	assert_int_equal(port.f.sb.next - port.f.sb.base, PORT_RING);
	assert_true(ndp_snd_expected(&port.f) <= 3 * PORT_RING);
	port_close(&port);
}

/* After a pull count that was wrong, the right one counts again in the end. */
static void test_wrong_pull_heals(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 60);
	push_window(&port, 60);
	h = port_answer(&port, NDP_CTL_PULL, 0, 0);
	h.ctl.pull = 0x40000000;
	port_control(&port, &h);
	while (port_send(&port, 1, &h) == NDP_SND_NEW)
		;
	assert_true(port.f.pull < 1000);
	port.pull = port.f.pull;
	pull(&port, 2);
	expect_new(&port, 20, 0);
	expect_new(&port, 21, 0);
	expect_wait(&port);
	port_close(&port);
}

/* DATA of the receiver has carried an ACK of packet @nr: was it processed? */
static bool carried(struct port *port, u32 nr)
{
	struct ndp_snd_call c = port_call(port);
	struct ndp_hdr h;

	if (!ndp_snd_carried(&c, &port->f, PORT_SEQ + nr, &h))
		return false;
	assert_int_equal(port_control(port, &h), NDP_SND_NEWS);
	return true;
}

/* A carried ACK counts as the CONTROL that would have been sent: all up to it arrived. */
static void test_carried(void **state)
{
	struct ndp_snd_call c;
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 4);
	push_window(&port, 4);
	ack(&port, 0);
	c = port_call(&port);
	assert_true(ndp_snd_carried(&c, &port.f, PORT_SEQ + 2, &h));
	assert_int_equal(h.flags, NDP_CTL_ACK);
	assert_int_equal(h.seq, PORT_SEQ + 2);
	assert_int_equal(h.path, 1);
	assert_true(carried(&port, 2));
	assert_int_equal(port.f.sb.base, PORT_SEQ + 3);
	assert_int_equal(port.f.pull, 0);
	/* once more, and late */
	assert_false(carried(&port, 2));
	assert_false(carried(&port, 1));
	assert_int_equal(port.stats.answers_stale, 2);
	assert_int_equal(port.stats.answers_refused, 0);
	assert_true(carried(&port, 3));
	expect_done(&port, &m, 0);
	expect_idle(&port);
	assert_int_equal(port.stats.acked_packets, 4);
	port_close(&port);
}

/* It is refused if the flow never had a CONTROL, or the packet was not sent. */
static void test_carried_lies(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	start(&port);
	give(&port, &m, 4);
	push_window(&port, 4);
	assert_false(carried(&port, 0));
	assert_int_equal(port.stats.answers_refused, 1);
	ack(&port, 0);
	assert_false(carried(&port, 4));
	assert_false(carried(&port, 0x80000000));
	assert_false(carried(&port, 3 - 2 * NDP_RING_MAX));
	assert_int_equal(port.stats.answers_refused, 4);
	assert_int_equal(port.stats.acked_packets, 1);
	assert_true(carried(&port, 3));
	port_close(&port);
}

/* The path of a packet that was sent again is unknown; a carried ACK shows that there is room. */
static void test_carried_again(void **state)
{
	struct ndp_snd_call c;
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;

	(void)state;
	start(&port);
	give(&port, &m, 2);
	push_window(&port, 2);
	ack(&port, 0);
	nack(&port, 1, 0);
	pull(&port, 1);
	expect_rtx(&port, 1, NDP_DATA_LAST);
	port.f.window = 0;
	c = port_call(&port);
	assert_true(ndp_snd_carried(&c, &port.f, PORT_SEQ + 1, &h));
	assert_int_equal(h.flags, 0);
	assert_int_equal(h.seq, 0);
	assert_int_equal(h.path, 0);
	assert_true(carried(&port, 1));
	assert_true(port.f.window > 0);
	expect_done(&port, &m, 0);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_short_message),
		cmocka_unit_test(test_window_then_pulls),
		cmocka_unit_test(test_pushes_after_idle),
		cmocka_unit_test(test_no_push_when_pulled),
		cmocka_unit_test(test_after_last),
		cmocka_unit_test(test_after_last_again),
		cmocka_unit_test(test_appetite),
		cmocka_unit_test(test_ack_clock),
		cmocka_unit_test(test_receivers_window),
		cmocka_unit_test(test_ring_is_full),
		cmocka_unit_test(test_nack_waits_for_pull),
		cmocka_unit_test(test_pull_before_nack),
		cmocka_unit_test(test_nack_map),
		cmocka_unit_test(test_stale_nack),
		cmocka_unit_test(test_ack_of_lost),
		cmocka_unit_test(test_all_trimmed),
		cmocka_unit_test(test_bare_nack),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_wrong_pull_heals),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_carried_lies),
		cmocka_unit_test(test_carried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
