// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CONTROL for many packets: which ones share it (net/ndp/ndp_rcv.h), and what their sender
 * learns of the paths that they took (net/ndp/ndp_snd.h)
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../net/ndp/ndp_rcv_share.h"
#include "ndp_rcv_port.h"
#include "ndp_snd_say.h"

#define LEN	(200 * SEG)	/* of the message whose parts come */
#define DS	8		/* dsfield */

static struct ndp_hdr answer;

/* ---- receiver ---- */

/* Packet @n, a part of the message, or trimmed. Return: is there an answer now? */
static bool reply(u32 n, u8 flags, bool whole, bool pulled, u8 dsfield)
{
	struct ndp_hdr h = data_of(n, 0, n * SEG, LEN);
	enum ndp_rcv_verdict v;

	h.flags |= flags;
	h.path = (u8)n;
	h.here = whole ? SEG : 0;
	v = take(&h);
	memset(&answer, 0, sizeof(answer));
	return ndp_rcv_reply(&r, &f, &h, v, pulled, dsfield, &answer);
}

static bool came(u32 n)
{
	return reply(n, 0, true, false, DS);
}

static void expect_answer(u32 n, u8 flags, u8 dsfield)
{
	assert_int_equal(answer.type, NDP_CONTROL);
	assert_int_equal(answer.seq, SEQ + n);
	assert_int_equal(answer.path, n);
	assert_int_equal(answer.try_no, 2);
	assert_int_equal(answer.flags, flags);
	assert_int_equal(answer.ctl.dsfield, dsfield);
	assert_int_equal(answer.sport, 9);
	assert_int_equal(answer.dport, 7);
}

/* All that came before has its answer: it names packet @n. */
static void expect_settled(u32 n, u8 flags, u8 dsfield)
{
	memset(&answer, 0, sizeof(answer));
	assert_true(ndp_rcv_settle(&r, &f, &answer));
	expect_answer(n, flags, dsfield);
	assert_false(ndp_rcv_settle(&r, &f, &answer));
}

static void test_share(void **state)
{
	(void)state;
	assert_false(came(0));
	assert_false(came(1));
	assert_false(reply(5, 0, true, true, DS));
	assert_false(reply(3, 0, false, false, DS));
	assert_false(came(7));
	expect_settled(7, NDP_CTL_ACK | NDP_CTL_PULL, DS);
	assert_int_equal(answer.ctl.ack_base, SEQ + 2);
	assert_true(answer.ctl.sack == 0x28 && answer.ctl.nack == 2);
	assert_int_equal(answer.ctl.trimmed, 1);
	/* the next one knows nothing of that pull */
	assert_false(came(2));
	expect_settled(2, NDP_CTL_ACK, DS);
}

static void test_share_nack(void **state)
{
	(void)state;
	assert_false(came(0));
	assert_false(reply(2, 0, false, false, DS));
	expect_settled(2, NDP_CTL_NACK, DS);
	assert_int_equal(answer.ctl.ack_base, SEQ + 1);
}

static void test_share_max(void **state)
{
	u32 n;

	(void)state;
	assert_false(reply(0, 0, true, true, DS));
	for (n = 1; n < NDP_RCV_SHARE_MAX - 1; n++)
		assert_false(came(n));
	assert_true(came(n));
	expect_answer(n, NDP_CTL_ACK | NDP_CTL_PULL, DS);
	assert_false(ndp_rcv_settle(&r, &f, &answer));
	assert_false(came(n + 1));
}

/* Others than the packet that the answer names are known by the maps only. */
static void test_beyond_maps(void **state)
{
	(void)state;
	assert_false(came(63));
	assert_true(came(64));
	expect_answer(64, NDP_CTL_ACK, DS);
	assert_false(ndp_rcv_settle(&r, &f, &answer));
	assert_false(came(0));
	assert_false(reply(60, 0, false, false, DS));
	assert_false(came(64 - 2));
	assert_true(reply(65, 0, false, false, DS));
	expect_answer(65, NDP_CTL_NACK, DS);
}

/* What is said of one packet only is said at once, and of those before, too. */
static void test_at_once(void **state)
{
	struct ndp_hdr probe = { .type = NDP_PROBE, .seq = SEQ - 1, .sport = 7, .dport = 9,
				 .flow_id = 5, .data = { .base = SEQ } };

	(void)state;
	assert_false(came(0));
	assert_true(reply(1, NDP_DATA_RTX, true, false, DS));
	expect_answer(1, NDP_CTL_ACK, DS);
	assert_int_equal(answer.ctl.ack_base, SEQ + 2);
	assert_false(reply(3, 0, true, true, DS));
	assert_true(came(1));
	expect_answer(1, NDP_CTL_ACK | NDP_CTL_PULL, DS);
	assert_true(answer.ctl.sack == 2);
	assert_false(ndp_rcv_settle(&r, &f, &answer));
	assert_true(reply(4, NDP_DATA_RTX, false, false, DS));
	assert_false(came(5));
	assert_int_equal(take(&probe), NDP_RCV_PROBED);
	assert_true(ndp_rcv_reply(&r, &f, &probe, NDP_RCV_PROBED, false, DS, &answer));
	assert_int_equal(answer.flags, NDP_CTL_PROBED);
	assert_false(came(6));
	assert_true(ndp_rcv_reply(&r, &f, &probe, NDP_RCV_NO_ROOM, false, DS, &answer));
	assert_int_equal(answer.ctl.window, 0);
	assert_false(ndp_rcv_settle(&r, &f, &answer));
}

/* Nobody waits if there is nothing more to come. */
static void test_last_at_once(void **state)
{
	(void)state;
	assert_false(reply(1, NDP_DATA_LAST, true, false, DS));
	assert_true(came(0));
	expect_answer(0, NDP_CTL_ACK, DS);
	assert_int_equal(answer.ctl.ack_base, SEQ + 2);
}

/* What an answer says of IP's header, it says of all its packets. */
static void test_dsfield(void **state)
{
	(void)state;
	assert_false(came(0));
	assert_false(came(1));
	assert_true(reply(2, 0, true, true, DS + 1));
	expect_answer(1, NDP_CTL_ACK, DS);
	assert_int_equal(answer.flow_id, 5);
	expect_settled(2, NDP_CTL_ACK | NDP_CTL_PULL, DS + 1);
}

/* ---- sender ---- */

#define PATHS	32U

static struct ndp_path path[PATHS];
static struct ndp_paths paths;
static struct port port;
static struct ndp_snd_msg m;

/* @packets of a message are sent, each by the path of its number */
static void send_window(u32 packets)
{
	static u8 order[PATHS];
	struct ndp_hdr h;
	u32 i;

	ndp_paths_init(&paths, path, order, PATHS);
	start(&port);
	give(&port, &m, packets);
	for (i = 0; i < packets && i < WINDOW; i++)
		assert_int_equal(port_send(&port, (u8)i, &h), NDP_SND_NEW);
}

/* A CONTROL that names packet @nr, by path @nr; sack and nack are those of the flow's begin. */
static enum ndp_snd_verdict say(u8 flags, u32 nr, u8 try_no, u64 sack, u64 nack)
{
	struct ndp_hdr h = port_answer(&port, flags, PORT_SEQ + nr, try_no);
	struct ndp_snd_call c = port_call(&port);

	h.path = (u8)nr;
	h.ctl.sack = sack;
	h.ctl.nack = nack;
	c.paths = &paths;
	return ndp_snd_control(&c, &port.f, &h);
}

static void expect_judged(u32 from, u32 to, enum ndp_outcome outcome, u32 packets)
{
	u32 i;

	for (i = from; i <= to; i++)
		assert_int_equal(path[i].packets[outcome], packets);
}

/* By ack_base, by sack, and by name; each once, whatever is said later */
static void test_judge_acks(void **state)
{
	(void)state;
	send_window(9);
	port.ack_base += 3;
	assert_int_equal(say(NDP_CTL_ACK, 5, 0, 6, 0), NDP_SND_NEWS);
	expect_judged(0, 2, NDP_OUTCOME_ACK, 1);
	expect_judged(3, 3, NDP_OUTCOME_ACK, 0);
	expect_judged(4, 5, NDP_OUTCOME_ACK, 1);
	expect_judged(6, 8, NDP_OUTCOME_ACK, 0);
	assert_int_equal(port.f.answers_count, 5);
	/* one that was overtaken */
	port.ack_base--;
	assert_int_equal(say(NDP_CTL_ACK, 1, 0, 0, 0), NDP_SND_STALE);
	expect_judged(0, 2, NDP_OUTCOME_ACK, 1);
	port.ack_base += 7;
	say(NDP_CTL_ACK, 8, 0, 0, 0);
	expect_judged(0, 8, NDP_OUTCOME_ACK, 1);
	expect_done(&port, &m, 0);
	port_close(&port);
}

static void test_judge_nacks(void **state)
{
	(void)state;
	send_window(9);
	port.trimmed = 3;
	assert_int_equal(say(NDP_CTL_NACK, 4, 0, 0, 0x15), NDP_SND_NEWS);
	assert_int_equal(port.f.board.lost.count, 3);
	expect_judged(0, 0, NDP_OUTCOME_NACK, 1);
	expect_judged(1, 1, NDP_OUTCOME_NACK, 0);
	expect_judged(2, 2, NDP_OUTCOME_NACK, 1);
	expect_judged(4, 4, NDP_OUTCOME_NACK, 1);
	/* again, and by name */
	say(NDP_CTL_NACK, 2, 0, 0, 0x15);
	say(NDP_CTL_ACK, 1, 0, 2, 0x15);
	expect_judged(2, 2, NDP_OUTCOME_NACK, 1);
	expect_judged(1, 1, NDP_OUTCOME_ACK, 1);
	port_close(&port);
}

/* Two packets time out; the first is sent again, by path 20. */
static void send_again(void)
{
	struct ndp_hdr h;
	u8 lost;

	send_window(2);
	port.now += MS;
	assert_int_equal(port_expire(&port, &lost), 2);
	assert_int_equal(port_send(&port, 20, &h), NDP_SND_RTX);
}

/* Which transmission came is not known, unless the CONTROL names it. */
static void test_sent_again(void **state)
{
	(void)state;
	send_again();
	assert_true(port.f.untold);
	port.ack_base += 1;
	assert_int_equal(say(NDP_CTL_PULL, 30, 0, 0, 0), NDP_SND_NEWS);
	assert_int_equal(path[0].packets[NDP_OUTCOME_ACK], 0);
	assert_int_equal(path[20].packets[NDP_OUTCOME_ACK], 0);
	assert_int_equal(port.f.answers_count, 0);
	assert_true(port.f.untold);
	/* of the other one, the first was late, and the only one */
	port.ack_base += 1;
	assert_int_equal(say(NDP_CTL_PULL, 30, 0, 0, 0), NDP_SND_NEWS);
	assert_int_equal(path[1].packets[NDP_OUTCOME_ACK], 1);
	port_close(&port);
}

/* An answer to what was sent again tells of its path; an old one, that its path is not dead. */
static void test_named_again(void **state)
{
	(void)state;
	send_again();
	ndp_path_outcome(&paths, 0, NDP_OUTCOME_LOST, port.now);
	port.ack_base++;
	say(NDP_CTL_ACK, 0, 1, 0, 0);
	assert_int_equal(path[0].packets[NDP_OUTCOME_ACK], 1);
	assert_false(port.f.untold);
	ndp_path_outcome(&paths, 0, NDP_OUTCOME_LOST, port.now);
	say(NDP_CTL_ACK, 0, 0, 0, 0);
	assert_int_equal(path[0].packets[NDP_OUTCOME_ACK], 2);
	assert_false(ndp_path_avoided(&paths, 0));
	say(NDP_CTL_ACK, 0, 0, 0, 0);
	assert_int_equal(path[0].packets[NDP_OUTCOME_ACK], 2);
	port_close(&port);
}

static struct ndp_snd_pkt *pkt_of(u32 nr)
{
	return ndp_board_find(&port.f.board, PORT_SEQ + nr);
}

/* What waits at the NIC is as if it were sent now; but what told is told from what did not. */
static void test_postponed(void **state)
{
	struct ndp_hdr h;
	u32 nr;

	(void)state;
	send_window(4);
	port.now += US;
	give(&port, &m, 20);
	for (nr = 4; nr < WINDOW; nr++)
		assert_int_equal(port_send(&port, (u8)nr, &h), NDP_SND_NEW);
	assert_true(port.f.untold && port.f.told_ns == port.now);
	port.now += US;
	for (nr = WINDOW; nr-- > 2;)
		ndp_snd_postpone(&port.f, pkt_of(nr), port.now);
	assert_true(ndp_snd_due_ns(&port.f, &port.p) < port.now + MS - 1);
	assert_true(pkt_of(2)->sent_ns + 1 == port.now && pkt_of(4)->sent_ns == port.now);
	/* twice changes nothing */
	port.now += US;
	for (nr = WINDOW; nr-- > 2;)
		ndp_snd_postpone(&port.f, pkt_of(nr), port.now);
	say(NDP_CTL_ACK, 3, 0, 0, 0);
	say(NDP_CTL_ACK, 0, 0, 0, 0);
	assert_true(port.f.untold);
	say(NDP_CTL_ACK, 4, 0, 0, 0);
	assert_false(port.f.untold);
	port_close(&port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_share, setup, teardown),
		cmocka_unit_test_setup_teardown(test_share_nack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_share_max, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beyond_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dsfield, setup, teardown),
		cmocka_unit_test(test_judge_acks),
		cmocka_unit_test(test_judge_nacks),
		cmocka_unit_test(test_sent_again),
		cmocka_unit_test(test_named_again),
		cmocka_unit_test(test_postponed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
