// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/snd.h: packets that others overtake: lost, or only slow; one rule a test
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_snd_say.h"

/* A flow sends two packets of three. */
static void two_of_three(struct port *port, struct ndp_snd_msg *m)
{
	start(port);
	port->p.reorder_ns = 100 * US;
	give(port, m, 3);
	expect_new(port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	expect_new(port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
}

/* A packet is lost if one sent more than reorder_ns later is answered; it waits for a pull. */
static void test_overtaken(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		start(&port);
		port.p.reorder_ns = i ? 0 : 100 * US;
		give(&port, &m, 20);
		expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
		port.now += 100 * US;
		expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
		port.now++;
		expect_new(&port, 2, NDP_DATA_SYN | NDP_DATA_SPEC);
		ack(&port, 1);
		assert_int_equal(port.stats.overtaken_packets, 0);
		if (i)
			ack(&port, 2);
		else
			nack(&port, 2, 0);
		assert_int_equal(port.stats.overtaken_packets, !i);
		assert_int_equal(port.stats.timeouts, 0);
		assert_false(port.f.push);
		pull(&port, 1);
		if (i)
			expect_new(&port, 3, 0);
		else
			expect_rtx(&port, 2, 0);
		port_close(&port);
	}
}

/* A packet that has left the host at an unknown time overtakes no other. */
static void test_postponed(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	two_of_three(&port, &m);
	ndp_snd_postpone(&port.f, &port.f.sb.pkt[(PORT_SEQ + 1) & port.f.sb.mask],
			 port.now + MS);
	ack(&port, 1);
	assert_int_equal(port.stats.overtaken_packets, 0);
	/* but it is overtaken, and its retransmission leaves at a known time */
	port.now += 2 * MS;
	expect_new(&port, 2, NDP_DATA_SPEC | NDP_DATA_LAST);
	ack(&port, 2);
	assert_int_equal(port.stats.overtaken_packets, 1);
	port_close(&port);
}

/* A packet overtakes packets of its band and of higher bands. */
static void test_overtaken_bands(void **state)
{
	struct ndp_snd_msg a, b, c;
	struct port port;

	(void)state;
	start(&port);
	port.p.reorder_ns = 100 * US;
	port.bands = 2;
	give(&port, &a, 20);
	expect_new(&port, 0, NDP_DATA_SYN | NDP_DATA_SPEC);
	port.now += 500 * US;
	assert_true(port_submit(&port, &b, 1, 1));
	expect_new(&port, 1, NDP_DATA_SYN | NDP_DATA_SPEC);
	ack(&port, 1);
	assert_int_equal(port.stats.overtaken_packets, 0);
	assert_true(port_submit(&port, &c, 1, 1));
	expect_new(&port, 2, NDP_DATA_SPEC);
	port.now += 500 * US;
	expect_new(&port, 3, NDP_DATA_SPEC);
	ack(&port, 3);
	assert_int_equal(port.stats.overtaken_packets, 2);
	port_close(&port);
}

static void say_ack_of(struct port *port, u32 nr, u8 try_no)
{
	struct ndp_hdr h = port_answer(port, NDP_CTL_ACK, PORT_SEQ + nr, try_no);

	port_control(port, &h);
}

/* Send three packets, @gap after the first, and acknowledge the last. Return: the first's number */
static u32 overtake(struct port *port, u64 gap)
{
	u32 first = port->f.sb.next - PORT_SEQ, i;

	pull(port, 3);
	for (i = 0; i < 3; i++) {
		expect_new(port, first + i, 0);
		port->now += i ? 0 : gap;
	}
	ack(port, first + 2);
	return first;
}

/* A packet is acknowledged after it counted as lost: the reordering time doubles, up to a limit. */
static void test_slow(void **state)
{
	static const u64 window[] = { 100, 200, 400, 750, 750, 750 };
	struct ndp_snd_msg m;
	struct port port;
	u32 i, first;

	(void)state;
	start(&port);
	port.p.reorder_ns = 100 * US;
	give(&port, &m, 100);
	push_window(&port, 100);
	for (i = 0; i < WINDOW; i++)
		ack(&port, i);
	for (i = 0; i < 6; i++) {
		first = overtake(&port, window[i] * US);
		assert_int_equal(port.stats.overtaken_packets, i);
		ack(&port, first);
		ack(&port, first + 1);
		first = overtake(&port, window[i] * US + 1);
		assert_int_equal(port.stats.overtaken_packets, i + 1);
		/* one that was not lost, and one that was */
		ack(&port, first + 1);
		ack(&port, first);
	}
	port_close(&port);
}

/* An ACK names the first transmission of a retransmitted packet, before the other one or after. */
static void test_vain(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	struct ndp_hdr h;
	u32 i, first;

	(void)state;
	for (i = 0; i < 2; i++) {
		start(&port);
		port.p.reorder_ns = 100 * US;
		give(&port, &m, 50);
		push_window(&port, 50);
		for (first = 0; first < WINDOW; first++)
			ack(&port, first);
		first = overtake(&port, 101 * US);
		ack(&port, first + 1);
		pull(&port, 1);
		expect_rtx(&port, first, 0);
		h = port_answer(&port, NDP_CTL_ACK, PORT_SEQ + first, 1);
		if (i)
			port_control(&port, &h);
		assert_int_equal(port.f.reorder, 0);
		ack(&port, first);
		assert_int_equal(port.f.reorder, 1);
		port_control(&port, &h);
		/* the second transmission arrives as well: that is no news */
		assert_int_equal(port.f.reorder, 1);
		first = overtake(&port, 200 * US);
		assert_int_equal(port.stats.overtaken_packets, 1);
		ack(&port, first);
		ack(&port, first + 1);
		first = overtake(&port, 201 * US);
		assert_int_equal(port.stats.overtaken_packets, 2);
		port_close(&port);
	}
}

/* Packets that were in flight together double the reordering time once. */
static void test_slow_once(void **state)
{
	struct ndp_snd_msg m;
	struct port port;

	(void)state;
	two_of_three(&port, &m);
	port.now += 101 * US;
	expect_new(&port, 2, NDP_DATA_SYN | NDP_DATA_SPEC | NDP_DATA_LAST);
	ack(&port, 2);
	assert_int_equal(port.stats.overtaken_packets, 2);
	ack(&port, 0);
	ack(&port, 1);
	assert_int_equal(port.f.reorder, 1);
	port_close(&port);
}

/* The reordering time becomes shorter after so many losses. */
static void test_slow_ends(void **state)
{
	struct ndp_snd_msg m;
	struct port port;
	u32 i, first;

	(void)state;
	start(&port);
	port.p.reorder_ns = 100 * US;
	give(&port, &m, 100);
	push_window(&port, 100);
	for (i = 0; i < WINDOW; i++)
		ack(&port, i);
	first = overtake(&port, 101 * US);
	ack(&port, first + 1);
	ack(&port, first);
	for (i = 0; i < 15; i++) {
		assert_int_equal(port.f.reorder, 1);
		first = overtake(&port, 201 * US);
		ack(&port, first + 1);
		pull(&port, 1);
		expect_rtx(&port, first, 0);
		say_ack_of(&port, first, 1);
	}
	assert_int_equal(port.f.reorder, 0);
	overtake(&port, 101 * US);
	assert_int_equal(port.stats.overtaken_packets, 17);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_postponed),
		cmocka_unit_test(test_overtaken_bands),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_vain),
		cmocka_unit_test(test_slow_once),
		cmocka_unit_test(test_slow_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
