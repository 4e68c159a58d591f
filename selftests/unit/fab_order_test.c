// SPDX-License-Identifier: GPL-2.0-only
/* net/closfab: the header, packets put back in order, cells */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/closfab/fab_cell.h"
#include "../../net/closfab/fab_order.h"
#include "../../net/closfab/fab_wire.h"
#include "rng.h"

#define US	1000ULL
#define MS	1000000ULL

static const struct fab_wait wait = { .min_ns = 10 * US, .max_ns = 20 * MS };

/* ---- header ---- */

static void test_header_is_read_as_it_was_written(void **state)
{
	struct fab_header h = {
		.op = FAB_CONWEAVE, .flags = FAB_F_TAIL, .path = 0x1234, .epoch = 0x5678,
		.proto = 0x86dd, .cookie = fab_cookie(0xabcd, 0x0123), .tx_us = 0xdeadbeef,
		.tail_us = 0xcafe0001,
	}, got;
	u8 b[FAB_HLEN], again[FAB_HLEN];

	(void)state;
	fab_header_write(b, &h);
	assert_int_equal(b[0], 0x13);
	assert_int_equal(fab_header_read(&got, b, FAB_HLEN + 1), FAB_HLEN);
	fab_header_write(again, &got);
	assert_memory_equal(b, again, FAB_HLEN);
	assert_int_equal(got.tail_us, 0xcafe0001);
	assert_int_equal(fab_cookie_bucket(got.cookie), 0x0123);
	assert_int_equal(fab_cookie_instance(got.cookie), 0xabcd);
}

/* A valid header of ConWeave, with byte @at changed to @val */
static u32 read_changed(u32 at, u8 val, u32 len)
{
	struct fab_header h = { .op = FAB_CONWEAVE, .proto = 0x0800 };
	u8 b[FAB_HLEN];

	fab_header_write(b, &h);
	b[at] = val;
	return fab_header_read(&h, b, len);
}

static void test_invalid_headers_are_refused(void **state)
{
	(void)state;
	assert_int_equal(read_changed(1, 0, 21), FAB_HLEN);
	assert_int_equal(read_changed(1, 0, FAB_HLEN), 0);		/* no IP packet */
	assert_int_equal(read_changed(1, 0, FAB_HLEN - 1), 0);
	assert_int_equal(read_changed(1, 0, 0), 0);
	assert_int_equal(read_changed(0, 0x23, 21), 0);			/* version */
	assert_int_equal(read_changed(0, 0x10 | FAB_OPS, 21), 0);
	assert_int_equal(read_changed(0, 0x1f, 21), 0);
	assert_int_equal(read_changed(1, FAB_F_TAIL | FAB_F_REROUTED, 21), 0);
	assert_int_equal(read_changed(1, FAB_F_TAIL | FAB_F_RTT_REQUEST, 21), 0);
	assert_int_equal(read_changed(1, FAB_F_FIRST, 21), 0);		/* of cells */
	assert_int_equal(read_changed(0, 0x10 | FAB_CLEAR, 21), 0);	/* a packet after CLEAR */
	assert_int_equal(read_changed(7, 1, 21), 0);			/* EtherType 0x0801 */
	assert_int_equal(read_changed(10, FAB_BUCKETS_MAX >> 8, 21), 0);
	assert_int_equal(read_changed(1, FAB_F_KEYED, FAB_HLEN + FAB_MAC_LEN), 0);
	assert_int_equal(read_changed(1, FAB_F_KEYED, FAB_HLEN + FAB_MAC_LEN + 1),
			 FAB_HLEN + FAB_MAC_LEN);
}

/* ---- order ---- */

static struct fab_order o;
static struct fab_skew skew;
static struct fab_held held[8];

static int setup(void **state)
{
	(void)state;
	skew = (struct fab_skew){ };
	fab_order_init(&o, 0);
	return 0;
}

static enum fab_verdict receive(u32 i, u32 seq, u64 now_ns)
{
	return fab_order_receive(&o, &held[i], seq, &skew, now_ns);
}

static void test_packets_in_order_pass(void **state)
{
	u32 seq;

	(void)state;
	fab_order_init(&o, 0xfffffff0);		/* numbers wrap */
	for (seq = 0xfffffff0; seq != 0x1000; seq++) {
		assert_int_equal(receive(0, seq, 0), FAB_PASS);
		assert_null(fab_order_pop(&o));
	}
}

static void test_packets_behind_a_hole_wait_for_it(void **state)
{
	(void)state;
	assert_int_equal(receive(0, 0, 0), FAB_PASS);
	assert_int_equal(receive(3, 3, 100 * US), FAB_HOLD);
	assert_int_equal(receive(2, 2, 110 * US), FAB_HOLD);
	assert_null(fab_order_pop(&o));
	assert_int_equal(receive(1, 1, 150 * US), FAB_PASS);
	assert_ptr_equal(fab_order_pop(&o), &held[2]);
	assert_ptr_equal(fab_order_pop(&o), &held[3]);
	assert_null(fab_order_pop(&o));
	assert_int_equal(skew.next_ns, 50 * US);
}

static void test_first_estimate_needs_samples_and_time(void **state)
{
	const u32 gaps[] = { 10, 400 };	/* µs between samples */
	const u32 needed[] = { 2000, 64 };
	u32 i, n;
	u64 t;

	for (n = 0; n < 2; n++) {
		setup(state);
		t = 5000 * MS;
		for (i = 0; i < needed[n]; i++) {
			assert_int_equal(fab_skew_wait_ns(&skew, &wait), wait.max_ns);
			t += gaps[n] * US;
			assert_int_equal(receive(0, 2 * i + 1, t), FAB_HOLD);
			assert_int_equal(receive(1, 2 * i, t + 30 * US), FAB_PASS);
			assert_ptr_equal(fab_order_pop(&o), &held[0]);
		}
		t += gaps[n] * US;
		assert_int_equal(receive(0, 2 * i + 1, t), FAB_HOLD);
		assert_int_equal(receive(1, 2 * i, t + 30 * US), FAB_PASS);
		assert_ptr_equal(fab_order_pop(&o), &held[0]);
		assert_int_equal(fab_skew_wait_ns(&skew, &wait), 60 * US);
	}
}

static void test_wait_follows_the_skew(void **state)
{
	const u64 t = 2000 * MS;
	u32 i;

	(void)state;
	assert_int_equal(fab_skew_wait_ns(&skew, &wait), wait.max_ns);
	test_packets_behind_a_hole_wait_for_it(state);
	assert_int_equal(fab_skew_wait_ns(&skew, &wait), wait.max_ns);
	/* from the next second on, with the largest sample of this one */
	assert_int_equal(receive(0, 5, t), FAB_HOLD);
	assert_int_equal(receive(1, 4, t + 30 * US), FAB_PASS);
	assert_ptr_equal(fab_order_pop(&o), &held[0]);
	assert_int_equal(fab_skew_wait_ns(&skew, &wait), 100 * US);
	assert_int_equal(receive(0, 7, t), FAB_HOLD);
	assert_int_equal(fab_order_wait_ns(&o, &skew, &wait, t + 40 * US), 60 * US);
	assert_int_equal(fab_order_wait_ns(&o, &skew, &wait, t + 100 * US), 0);
	assert_true(fab_order_skip(&o, &skew, 0));
	assert_ptr_equal(fab_order_pop(&o), &held[0]);
	assert_int_equal(fab_order_wait_ns(&o, &skew, &wait, MS), U64_MAX);
	assert_false(fab_order_skip(&o, &skew, 0));
	/* the packet was late, not lost: the wait was too short */
	assert_int_equal(receive(1, 6, t + 400 * US), FAB_LATE);
	assert_int_equal(fab_skew_wait_ns(&skew, &wait), 800 * US);
	/* losses make it shorter, down to the bound */
	for (i = 0; i < 2000; i++) {
		assert_int_equal(receive(0, o.next + 1, 2 * t + i * MS), FAB_HOLD);
		assert_true(fab_order_skip(&o, &skew, 2 * t + i * MS));
		assert_non_null(fab_order_pop(&o));
	}
	assert_int_equal(fab_skew_wait_ns(&skew, &wait), wait.min_ns);
}

static void test_second_hole_does_not_wait_anew(void **state)
{
	(void)state;
	assert_int_equal(receive(4, 4, 10 * US), FAB_HOLD);
	assert_int_equal(receive(1, 1, 900 * US), FAB_HOLD);
	assert_int_equal(receive(0, 0, 950 * US), FAB_PASS);
	assert_ptr_equal(fab_order_pop(&o), &held[1]);
	assert_null(fab_order_pop(&o));
	skew.ns = 500 * US;
	assert_int_equal(fab_order_wait_ns(&o, &skew, &wait, MS), 10 * US);
}

static void test_duplicates_are_dropped(void **state)
{
	(void)state;
	assert_int_equal(receive(0, 0, 0), FAB_PASS);
	assert_int_equal(receive(1, 0, 0), FAB_DUPLICATE);
	assert_int_equal(receive(2, 2, 0), FAB_HOLD);
	assert_int_equal(receive(3, 2, 0), FAB_DUPLICATE);
	assert_true(fab_order_skip(&o, &skew, 0));
	assert_ptr_equal(fab_order_pop(&o), &held[2]);
	assert_int_equal(receive(1, 1, 0), FAB_LATE);
	assert_int_equal(receive(1, 1, 0), FAB_DUPLICATE);
	assert_int_equal(receive(1, 2, 0), FAB_DUPLICATE);
}

static void test_packets_without_room_do_not_stop_others(void **state)
{
	(void)state;
	assert_int_equal(fab_order_receive(&o, NULL, 1, &skew, 0), FAB_UNHELD);
	assert_int_equal(receive(2, 2, 0), FAB_HOLD);
	assert_int_equal(fab_order_receive(&o, NULL, 3, &skew, 0), FAB_UNHELD);
	assert_int_equal(receive(0, 0, 0), FAB_PASS);
	assert_ptr_equal(fab_order_pop(&o), &held[2]);
	assert_null(fab_order_pop(&o));
	assert_int_equal(o.next, 4);
}

static void test_forged_numbers_change_nothing(void **state)
{
	struct rng rng;
	u32 i, seq;

	(void)state;
	rng_seed(&rng, 1);
	for (i = 0; i < 1000; i++) {
		seq = rng_u32(&rng) | 0x40000000;
		assert_int_equal(receive(0, seq, 0), FAB_STRAY);
		assert_int_equal(receive(0, i, 0), FAB_PASS);
		assert_null(fab_order_pop(&o));
	}
}

static void test_window_moves_after_a_long_loss(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(receive(1, 1, 0), FAB_HOLD);
	for (i = 1; i < FAB_STRAYS_MAX; i++)
		assert_int_equal(receive(0, 100000 + (i ^ 1), 0), FAB_STRAY);
	assert_int_equal(receive(0, 100020, 0), FAB_RESTART);
	assert_ptr_equal(fab_order_flush(&o), &held[1]);
	assert_null(fab_order_flush(&o));
	fab_order_init(&o, 100020);
	assert_int_equal(receive(0, 100020, 0), FAB_PASS);
}

/* ---- order: random schedules ---- */

#define PACKETS		4000
#define PLACES		(2 * PACKETS)

struct packet {
	struct fab_held held;	/* must be the first member */
	u64 arrives_ns;
	u32 seq;
};

static struct packet packets[PLACES];
static struct {
	u32 count;
	u32 delivered[PACKETS];
	u32 last;		/* 1 + number of the last packet that was in order */
	u64 now_ns;
	u64 longest_ns;		/* wait of a packet */
} run;

static int by_arrival(const void *a, const void *b)
{
	const struct packet *p = a, *q = b;

	return (p->arrives_ns > q->arrives_ns) - (p->arrives_ns < q->arrives_ns);
}

/* Packets of 1 to 4 paths with different delays, some lost and some doubled */
static void make_schedule(struct rng *rng)
{
	u32 paths = rng_in(rng, 1, 4), loss = rng_in(rng, 0, 3), seq;
	u64 delay_us[4], sends_us = 0;

	memset(&run, 0, sizeof(run));
	for (seq = 0; seq < 4; seq++)
		delay_us[seq] = rng_in(rng, 1, 400);
	for (seq = 0; seq < PACKETS; seq++) {
		sends_us += rng_in(rng, 0, 3);
		if (rng_percent(rng, loss))
			continue;
		do {
			packets[run.count++] = (struct packet){
				.seq = seq,
				.arrives_ns = (sends_us + delay_us[rng_u32(rng) % paths] +
					       rng_in(rng, 0, 20)) * US + rng_u32(rng) % US,
			};
		} while (run.count < PLACES - PACKETS + seq && rng_percent(rng, 2));
	}
	qsort(packets, run.count, sizeof(packets[0]), by_arrival);
}

static void deliver(const struct packet *p, bool in_order)
{
	assert_int_equal(run.delivered[p->seq], 0);
	run.delivered[p->seq] = 1;
	run.longest_ns = max_t(u64, run.longest_ns, run.now_ns - p->arrives_ns);
	if (!in_order)
		return;
	assert_true(p->seq >= run.last);
	run.last = p->seq + 1;
}

static void deliver_rest(void)
{
	struct fab_held *h;

	while ((h = fab_order_pop(&o)))
		deliver((struct packet *)h, true);
}

/* Let the timer fire until @until_ns */
static void expire_until(u64 until_ns)
{
	u64 wait_ns;

	for (;;) {
		wait_ns = fab_order_wait_ns(&o, &skew, &wait, run.now_ns);
		if (wait_ns > until_ns - run.now_ns)
			break;
		run.now_ns += wait_ns;
		if (wait_ns)
			continue;
		fab_order_skip(&o, &skew, run.now_ns);
		deliver_rest();
	}
	run.now_ns = until_ns;
}

static u32 run_schedule(struct rng *rng, bool room)
{
	u32 i, out_of_order = 0;
	enum fab_verdict v;

	fab_order_init(&o, 0);
	skew = (struct fab_skew){ .ns = 100 * US };
	make_schedule(rng);
	for (i = 0; i < run.count; i++) {
		expire_until(packets[i].arrives_ns);
		v = fab_order_receive(&o, room || rng_percent(rng, 90) ? &packets[i].held : NULL,
				      packets[i].seq, &skew, run.now_ns);
		assert_int_not_equal(v, FAB_RESTART);
		if (v == FAB_DUPLICATE)
			assert_true(run.delivered[packets[i].seq] || o.count);
		if (v == FAB_PASS || v == FAB_LATE || v == FAB_UNHELD || v == FAB_STRAY)
			deliver(&packets[i], v == FAB_PASS);
		expire_until(run.now_ns);
		out_of_order += v == FAB_LATE || v == FAB_UNHELD || v == FAB_STRAY;
		deliver_rest();
	}
	expire_until(run.now_ns + wait.max_ns);
	assert_int_equal(o.count, 0);
	for (i = 0; i < run.count; i++)
		assert_int_equal(run.delivered[packets[i].seq], 1);
	/* µs are the unit of arrivals */
	assert_in_range(run.longest_ns, 0, wait.max_ns + US);
	return out_of_order;
}

static void test_random_schedules_are_put_in_order(void **state)
{
	u32 i, out_of_order = 0;
	struct rng rng;

	(void)state;
	for (i = 0; i < 60; i++) {
		rng_seed(&rng, i);
		out_of_order += run_schedule(&rng, true);
	}
	/* packets that come after the end of a wait */
	assert_in_range(out_of_order, 1, 60 * PACKETS / 300);
	for (i = 0; i < 30; i++) {
		rng_seed(&rng, i);
		assert_true(run_schedule(&rng, false) > 0 || run.last == PACKETS);
	}
}

/* ---- cells ---- */

static void test_packets_are_cut_and_put_together(void **state)
{
	struct fab_cells c = { };
	u32 len, size, at, bytes, seq = 7;
	enum fab_cell result;
	u8 flags = 0;

	(void)state;
	for (len = 1; len < 2000; len += 13) {
		for (size = 1; size < 1500; size += 101) {
			for (at = 0, result = FAB_CELL_DROP; at < len; at += bytes) {
				bytes = fab_cell_cut(len, at, size, &flags);
				assert_in_range(bytes, 1, size);
				assert_int_equal(!!(flags & FAB_F_FIRST), !at);
				assert_false(fab_cells_breaks(&c, seq, flags));
				result = fab_cells_receive(&c, seq++, flags, bytes, 2000);
				assert_int_equal(result, at + bytes == len ? FAB_CELL_DONE :
									     FAB_CELL_APPEND);
			}
			assert_int_equal(c.bytes, len);
		}
	}
}

static void test_packets_with_missing_cells_are_dropped(void **state)
{
	struct fab_cells c = { };

	(void)state;
	/* no first cell */
	assert_false(fab_cells_breaks(&c, 5, 0));
	assert_int_equal(fab_cells_receive(&c, 5, 0, 10, 100), FAB_CELL_DROP);
	/* one is missing in the middle */
	assert_int_equal(fab_cells_receive(&c, 6, FAB_F_FIRST, 10, 100), FAB_CELL_APPEND);
	assert_true(fab_cells_breaks(&c, 8, FAB_F_LAST));
	assert_int_equal(fab_cells_receive(&c, 8, FAB_F_LAST, 10, 100), FAB_CELL_DROP);
	/* the last one is missing */
	assert_int_equal(fab_cells_receive(&c, 9, FAB_F_FIRST, 10, 100), FAB_CELL_APPEND);
	assert_true(fab_cells_breaks(&c, 10, FAB_F_FIRST | FAB_F_LAST));
	assert_int_equal(fab_cells_receive(&c, 10, FAB_F_FIRST | FAB_F_LAST, 10, 100),
			 FAB_CELL_DONE);
	/* too long */
	assert_int_equal(fab_cells_receive(&c, 11, FAB_F_FIRST, 60, 100), FAB_CELL_APPEND);
	assert_int_equal(fab_cells_receive(&c, 12, FAB_F_LAST, 41, 100), FAB_CELL_DROP);
	assert_false(c.open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_read_as_it_was_written),
		cmocka_unit_test(test_invalid_headers_are_refused),
		cmocka_unit_test_setup(test_packets_in_order_pass, setup),
		cmocka_unit_test_setup(test_packets_behind_a_hole_wait_for_it, setup),
		cmocka_unit_test_setup(test_first_estimate_needs_samples_and_time, setup),
		cmocka_unit_test_setup(test_wait_follows_the_skew, setup),
		cmocka_unit_test_setup(test_second_hole_does_not_wait_anew, setup),
		cmocka_unit_test_setup(test_duplicates_are_dropped, setup),
		cmocka_unit_test_setup(test_packets_without_room_do_not_stop_others, setup),
		cmocka_unit_test_setup(test_forged_numbers_change_nothing, setup),
		cmocka_unit_test_setup(test_window_moves_after_a_long_loss, setup),
		cmocka_unit_test_setup(test_random_schedules_are_put_in_order, setup),
		cmocka_unit_test(test_packets_are_cut_and_put_together),
		cmocka_unit_test(test_packets_with_missing_cells_are_dropped),
	};

	return cmocka_run_group_tests_name("fab_order", tests, NULL, NULL);
}
