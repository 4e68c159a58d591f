// SPDX-License-Identifier: GPL-2.0-only
/*
 * net/ndp/ndp_rcv_turn.h: messages in order, by example, and with a sender and a network
 * that loses, doubles and reorders packets
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ndp_rcv_port.h"
#include "../../net/ndp/ndp_rcv_turn.h"

#define MSGS	300U
#define PACKETS	6U
#define ACTIVE	5U
#define POOL	4096U
#define READ_MAX	2000U

/* A message at the receiver */
struct got {
	struct ndp_rcv_msg core;	/* first */
	struct ndp_turn turn;
	struct got *next;
};

static struct ndp_turns turns;
static u32 read_ids[READ_MAX];
static u8 read_prios[READ_MAX];
static u32 n_read;

static struct got *got_of(struct ndp_turn *t)
{
	return (struct got *)((char *)t - offsetof(struct got, turn));
}

static bool is_dead(struct ndp_turn *t)
{
	return ndp_before(t->last, f.got.base) && ndp_rcv_has_hole(&got_of(t)->core);
}

static void forget(struct ndp_turn *t)
{
	struct got *got = got_of(t);

	if (!t->whole)
		assert_ptr_equal(ndp_rcv_abort(&r, &f, t->id), &got->core);
	ndp_turn_leave(t);
	free(got);
}

/* Reads all that may be read. */
static void read_all(void)
{
	struct ndp_turn *t;
	u32 i;

	ndp_turns_settle(&turns, &f);
	for (i = 0; i < NDP_PRIOS; i++) {
		while ((t = turns.lane[i].first)) {
			assert_true(ndp_turn_has(t));
			assert_true(!t->next || !ndp_turn_has(t->next));
			if (!t->whole && !is_dead(t))
				break;
			if (t->whole) {
				assert_ptr_equal(ndp_turn_show(&turns.lane[i]), t);
				assert_null(ndp_turn_show(&turns.lane[i]));
				assert_true(ndp_turn_has(t));
				assert_false(ndp_turns_have_none(&turns, (u8)i));
				read_prios[n_read] = t->prio;
				read_ids[n_read++] = t->id;
			}
			forget(t);
		}
	}
}

/* A packet for the receiver */
static enum ndp_rcv_verdict give(const struct ndp_hdr *h)
{
	struct got *spare = calloc(1, sizeof(*spare)), *got;
	struct ndp_rcv_msg *m = &spare->core;
	enum ndp_rcv_verdict v = ndp_rcv_packet(&r, &f, h, 0, now_ns, &m);

	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE) {
		got = m ? (struct got *)m : spare;
		if (got->turn.turns)
			ndp_turn_came(&got->turn, h);
		else
			ndp_turns_begin(&turns, &got->turn, h);
		got->turn.whole = v == NDP_RCV_WHOLE;
		spare = got == spare ? NULL : spare;
	}
	free(spare);
	return v;
}

static int turn_setup(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 1);

	setup(state);
	memset(&turns, 0, sizeof(turns));
	ndp_turns_open(&turns, &h);
	n_read = 0;
	return 0;
}

static int turn_teardown(void **state)
{
	u32 i;

	(void)state;
	ndp_turns_close(&turns);
	for (i = 0; i < NDP_PRIOS; i++)
		while (turns.lane[i].first)
			forget(turns.lane[i].first);
	assert_int_equal(turns.msgs, 0);
	assert_int_equal(f.msgs, 0);
	ndp_rcv_close(&r, &f);
	return 0;
}

/* Packet @n is all of message @id */
static void single(u32 n, u32 id, u8 prio, u32 base)
{
	struct ndp_hdr h = data_of(n, id, 0, 5);

	h.data.prio = prio;
	h.data.base = SEQ + base;
	assert_int_equal(give(&h), NDP_RCV_WHOLE);
	read_all();
}

/* One more was read, and it is @id */
static void assert_read(u32 count, u32 id)
{
	assert_int_equal(n_read, count);
	assert_int_equal(read_ids[n_read - 1], ID + id);
}

/* ---- examples */

static void test_order(void **state)
{
	(void)state;
	single(1, 1, 0, 0);
	single(3, 3, 0, 0);
	single(2, 2, 0, 0);
	assert_int_equal(n_read, 0);
	single(0, 0, 0, 0);
	assert_read(4, 3);
	single(4, 4, 0, 0);
	assert_read(5, 4);
}

/* The first id is not the first one that came, nor the least that it may be. */
static void test_first(void **state)
{
	struct ndp_hdr h = data_of(5, 3, 0, 5);

	(void)state;
	/* packets 0..4 are of messages 1 and 2: for all that is known, -2..2 */
	memset(&turns, 0, sizeof(turns));
	ndp_rcv_open(&f, &h, 1, now_ns);
	ndp_turns_open(&turns, &h);
	assert_int_equal(turns.next, (u32)(ID - 2));
	assert_int_equal(give(&h), NDP_RCV_WHOLE);
	h = data_of(4, 2, 0, 5);
	assert_int_equal(give(&h), NDP_RCV_WHOLE);
	read_all();
	assert_int_equal(n_read, 0);
	h = data_of(0, 1, 0, 4 * SEG);
	assert_int_equal(give(&h), NDP_RCV_PART);
	/* that is the flow's first packet: there is no message before 1 */
	read_all();
	assert_int_equal(turns.next, (u32)(ID + 4));
	assert_int_equal(n_read, 0);
	for (h.seq++; h.seq != SEQ + 4; h.seq++) {
		h.data.offset += SEG;
		give(&h);
	}
	read_all();
	assert_read(3, 3);
	assert_int_equal(read_ids[0], (u32)(ID + 1));
}

/* All before a message's first packet was given up: no ABORT is needed. */
static void test_base(void **state)
{
	(void)state;
	single(0, 0, 0, 0);
	single(3, 2, 0, 0);
	assert_read(1, 0);
	single(5, 3, 0, 1);
	assert_read(1, 0);
	single(6, 5, 0, 3);
	assert_read(3, 3);
	single(7, 3 - 100, 0, 3);	/* of a sender that lies: no harm */
	assert_read(4, 3 - 100);
	single(8, 6, 0, 6);
	assert_read(6, 6);
}

static void test_skip(void **state)
{
	(void)state;
	single(1, 1, 0, 0);
	single(3, 3, 0, 0);
	ndp_turns_skip(&turns, &f, ID + 0);
	read_all();
	assert_read(1, 1);
	ndp_turns_skip(&turns, &f, ID + 2);
	read_all();
	assert_read(2, 3);
	ndp_turns_skip(&turns, &f, ID + 2);
	ndp_turns_skip(&turns, &f, ID + 4 + W);	/* too far to be true */
	single(4, 4, 0, 0);
	assert_read(3, 4);
}

/* A priority waits only for itself, and for messages of which it is not known. */
static void test_priorities(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 2 * SEG);

	(void)state;
	single(2, 1, 7, 0);
	assert_int_equal(n_read, 0);
	assert_int_equal(give(&h), NDP_RCV_PART);
	read_all();
	assert_read(1, 1);
	single(3, 2, 7, 0);
	assert_true(ndp_turns_have_none(&turns, 7));
	assert_false(ndp_turns_have_none(&turns, 0));
	single(4, 3, 0, 0);
	assert_read(2, 2);
	h = data_of(1, 0, SEG, 2 * SEG);
	assert_int_equal(give(&h), NDP_RCV_WHOLE);
	read_all();
	assert_true(ndp_turns_have_none(&turns, 0));
	assert_read(4, 3);
	assert_int_equal(read_ids[2], ID);
}

/* A hole that is given up is not waited for; a message without one may go on. */
static void test_hole(void **state)
{
	struct ndp_hdr h = data_of(0, 0, 0, 4 * SEG);

	(void)state;
	assert_int_equal(give(&h), NDP_RCV_PART);
	h = data_of(2, 0, 2 * SEG, 4 * SEG);
	assert_int_equal(give(&h), NDP_RCV_PART);
	single(3, 1, 0, 0);
	assert_int_equal(n_read, 0);
	single(4, 2, 0, 3);
	assert_read(2, 2);
	h = data_of(5, 3, 0, 4 * SEG);
	assert_int_equal(give(&h), NDP_RCV_PART);
	single(7, 4, 0, 7);
	assert_int_equal(n_read, 2);
}

/* Ids that no honest sender has */
static void test_far(void **state)
{
	u32 i;

	(void)state;
	for (i = 1; i < 1000; i++)
		single(i, i * 100000, 0, 0);
	assert_true(n_read > 900);
	single(1000, 999 * 100000 - W + 1, 0, 0);
}

/* ---- random */

struct packet {
	u32 msg;
	u32 index;
	bool done;
};

struct msg {
	u32 id;
	u32 packets;
	u32 sent;
	u8 prio;
	bool begun;
	bool aborted;
};

static struct {
	struct rng rng;
	struct msg msg[MSGS];
	struct packet packet[MSGS * PACKETS];
	u32 first_id;
	u32 begun;		/* messages that have an id */
	u32 submitted;
	u32 base;
	u32 next;
	struct ndp_hdr pool[POOL];
	u32 pooled;
	bool open;		/* the receiver knows the flow */
} s;

static bool chance(u32 percent)
{
	return rng_percent(&s.rng, percent);
}

static void sender_begins(u32 seed)
{
	u32 i;

	memset(&s, 0, sizeof(s));
	rng_seed(&s.rng, seed);
	s.first_id = rng_in(&s.rng, 0, 20);
	for (i = 0; i < MSGS; i++) {
		s.msg[i].packets = chance(50) ? 1 : rng_in(&s.rng, 1, PACKETS);
		s.msg[i].prio = chance(80) ? 0 : rng_in(&s.rng, 0, 7);
	}
}

static void send_packet(u32 n)
{
	const struct packet *k = &s.packet[n];
	const struct msg *m = &s.msg[k->msg];
	struct ndp_hdr h = data_of(n, m->id, k->index * SEG, m->packets * SEG);

	h.data.base = SEQ + s.base;
	h.data.prio = m->prio;
	if (s.pooled < POOL)
		s.pool[s.pooled++] = h;
}

static void move_base(void)
{
	while (s.base < s.next && s.packet[s.base].done)
		s.base++;
}

static void send_new(void)
{
	u32 i, at = rng_in(&s.rng, 0, ACTIVE - 1);
	struct msg *m = NULL;

	for (i = 0; i < MSGS && !m; i++)
		if (s.msg[i].sent < s.msg[i].packets && !s.msg[i].aborted && !at--)
			m = &s.msg[i];
	if (!m || s.next - s.base >= W)
		return;
	/* messages begin in the order in which they were submitted */
	if (!m->begun)
		m = &s.msg[s.submitted];
	if (!m->begun) {
		m->begun = true;
		s.submitted++;
		m->id = s.first_id + s.begun++;
	}
	s.packet[s.next] = (struct packet) { .msg = m - s.msg, .index = m->sent++ };
	send_packet(s.next++);
}

static void abort_one(void)
{
	u32 i = rng_in(&s.rng, 0, MSGS - 1), n;
	struct msg *m = &s.msg[i];
	struct ndp_rcv_msg *known;

	if (!m->begun || m->aborted || !s.open)
		return;
	for (n = s.base; n < s.next; n++)
		if (s.packet[n].msg == i && !s.packet[n].done)
			break;
	if (n == s.next && m->sent == m->packets)
		return;
	m->aborted = true;
	for (n = s.base; n < s.next; n++)
		if (s.packet[n].msg == i)
			s.packet[n].done = true;
	move_base();
	if (chance(40))
		return;
	known = ndp_rcv_find(&f, ID + m->id);
	if (known)
		forget(&((struct got *)known)->turn);
	else
		ndp_turns_skip(&turns, &f, ID + m->id);
}

/* A packet of the pool arrives, or is lost; and so is what is answered. */
static void arrive(void)
{
	u32 i = rng_in(&s.rng, 0, s.pooled - 1), n;
	struct ndp_hdr h = s.pool[i];
	enum ndp_rcv_verdict v;

	if (!chance(10))
		s.pool[i] = s.pool[--s.pooled];
	if (chance(10))
		return;
	if (!s.open) {
		ndp_rcv_open(&f, &h, 1, now_ns);
		ndp_turns_open(&turns, &h);
		s.open = true;
	}
	v = give(&h);
	n = h.seq - SEQ;
	if (v <= NDP_RCV_AGAIN && !chance(10))
		s.packet[n].done = true;
	move_base();
	read_all();
}

static void check_read(void)
{
	u32 i, k, count = 0;

	for (k = 0; k < NDP_PRIOS; k++) {
		u32 last = ID + s.first_id - 1;

		for (i = 0; i < n_read; i++) {
			if (read_prios[i] != k)
				continue;
			assert_true(ndp_before(last, read_ids[i]));
			last = read_ids[i];
		}
	}
	for (i = 0; i < MSGS; i++)
		count += !s.msg[i].aborted;
	assert_true(n_read >= count);
}

/* Messages that the sender has given up without a hole: their time is over. */
static void age(void)
{
	struct ndp_turn *t;
	u32 i;

	for (i = 0; i < NDP_PRIOS; i++) {
		while ((t = turns.lane[i].first)) {
			assert_false(t->whole);
			assert_true(s.msg[t->id - ID - s.first_id].aborted);
			forget(t);
			read_all();
		}
	}
}

static bool all_sent(void)
{
	u32 i;

	for (i = 0; i < MSGS; i++)
		if (s.msg[i].sent < s.msg[i].packets && !s.msg[i].aborted)
			return false;
	return s.base == s.next;
}

static void run(u32 seed, u32 aborts)
{
	struct ndp_hdr probe = { .type = NDP_PROBE, .sport = 7, .dport = 9 };
	u32 n;

	sender_begins(seed);
	while (!all_sent()) {
		send_new();
		if (chance(aborts))
			abort_one();
		for (n = s.base; n < s.next && n < s.base + 4; n++)
			if (!s.packet[n].done && chance(10))
				send_packet(n);
		while (s.pooled && chance(s.pooled > 30 ? 90 : 40))
			arrive();
	}
	probe.data.base = SEQ + s.next;
	probe.seq = SEQ + s.next - 1;
	give(&probe);
	read_all();
	if (aborts)
		age();
	check_read();
	assert_int_equal(turns.msgs, 0);
}

static void test_random(void **state)
{
	u32 seed;

	for (seed = 1; seed <= 100; seed++) {
		turn_setup(state);
		run(seed, seed % 2 ? 0 : 2);
		turn_teardown(state);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order), TEST(first), TEST(base), TEST(skip), TEST(priorities), TEST(hole),
		TEST(far), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("ndp_turn", tests, NULL, NULL);
}
