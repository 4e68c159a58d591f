// SPDX-License-Identifier: GPL-2.0-only
/* net/closfab: ConWeave's source and destination, by the paper's figures and in random schedules */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "../../net/closfab/fab_dest.h"
#include "../../net/closfab/fab_source.h"
#include "rng.h"

#define US	1000ULL
#define MS	1000000ULL

/* ---- source ---- */

static const struct fab_source_params sp = {
	.reply_ns = 4 * US, .busy_ns = 16 * US, .inactive_ns = 300 * US,
};

#define RTT	((u32)(8 * US))

static struct fab_source src;

static int setup(void **state)
{
	(void)state;
	memset(&src, 0, sizeof(src));
	return 0;
}

/* Send a packet; @good: the path that sampling finds. Return: its flags */
static struct fab_header send(u64 now_ns, int good)
{
	struct fab_header h = { .op = FAB_CONWEAVE };

	enum fab_step step = fab_source_begin(&src, &sp, true, RTT, now_ns);

	fab_source_finish(&src, step, good, 9, now_ns, &h);
	return h;
}

static void check_sent(u64 now_us, int good, u8 flags, u16 path, u16 epoch)
{
	struct fab_header h = send(now_us * US, good);

	assert_int_equal(h.flags, flags);
	assert_int_equal(h.path, path);
	assert_int_equal(h.epoch, epoch);
	assert_int_equal(h.tx_us, now_us);
}

static void test_good_path_is_kept(void **state)
{
	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	check_sent(5, 4, 0, 3, 1);
	assert_true(fab_source_reply(&src, 1, 9 * US));
	assert_false(fab_source_reply(&src, 1, 9 * US));
	check_sent(10, 4, FAB_F_RTT_REQUEST, 3, 2);
	assert_false(fab_source_reply(&src, 1, 11 * US));
	check_sent(15, 4, 0, 3, 2);
}

static void test_flow_is_rerouted_if_the_reply_is_late(void **state)
{
	struct fab_header h;

	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	check_sent(13, 4, 0, 3, 1);			/* at the cutoff */
	assert_false(fab_source_reply(&src, 1, 14 * US));
	check_sent(14, 4, FAB_F_TAIL, 3, 1);
	h = send(20 * US, 5);
	assert_int_equal(h.flags, FAB_F_REROUTED);
	assert_int_equal(h.path, 4);
	assert_int_equal(h.tail_us, 14);
	assert_false(fab_source_reply(&src, 1, 20 * US));
	assert_false(fab_source_clear(&src, 0));
	assert_true(fab_source_clear(&src, 1));
	assert_false(fab_source_clear(&src, 1));
	check_sent(30, 5, FAB_F_RTT_REQUEST, 4, 2);
	assert_int_equal(src.tail_us, 0);
}

static void test_without_good_path_monitoring_goes_on(void **state)
{
	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	check_sent(14, FAB_NO_PATH, FAB_F_TAIL, 3, 1);
	check_sent(15, FAB_NO_PATH, FAB_F_REROUTED, 3, 1);
	assert_true(fab_source_clear(&src, 1));
	check_sent(16, FAB_NO_PATH, FAB_F_RTT_REQUEST, 3, 2);
}

static void test_idle_flow_takes_any_path(void **state)
{
	(void)state;
	check_sent(1, FAB_NO_PATH, FAB_F_RTT_REQUEST, 9, 1);
	check_sent(14, 4, FAB_F_TAIL, 9, 1);
	check_sent(314, 5, FAB_F_REROUTED, 4, 1);	/* not idle long enough */
	check_sent(615, 6, FAB_F_RTT_REQUEST, 6, 2);
}

static void test_lost_clear_does_not_stop_monitoring(void **state)
{
	u32 us;

	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	check_sent(14, 4, FAB_F_TAIL, 3, 1);
	for (us = 15; us <= 314; us++)
		check_sent(us, 5, FAB_F_REROUTED, 4, 1);
	check_sent(315, 5, FAB_F_RTT_REQUEST, 4, 2);
}

static void test_flow_leaves_a_path_that_is_gone(void **state)
{
	struct fab_header h = { };

	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	assert_int_equal(fab_source_begin(&src, &sp, false, RTT, 2 * US), FAB_FRESH);
	fab_source_finish(&src, FAB_FRESH, 5, 9, 2 * US, &h);
	assert_int_equal(h.path, 5);
	assert_int_equal(h.epoch, 2);
}

static void test_before_the_first_reply_the_cutoff_is_long(void **state)
{
	(void)state;
	assert_int_equal(fab_source_begin(&src, &sp, true, 0, US), FAB_FRESH);
	assert_int_equal(src.deadline_ns, US + sp.inactive_ns);
}

static void test_late_reply_is_a_sample_of_rtt(void **state)
{
	(void)state;
	check_sent(1, 3, FAB_F_RTT_REQUEST, 3, 1);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1, 9 * US), 8 * US);
	check_sent(14, 4, FAB_F_TAIL, 3, 1);
	assert_false(fab_source_reply(&src, 1, 20 * US));
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1, 20 * US), 19 * US);
	assert_true(fab_source_clear(&src, 1));
	check_sent(21, 5, FAB_F_RTT_REQUEST, 4, 2);
	/* of the last epoch */
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1, 41 * US), 40 * US);
	assert_int_equal(fab_source_rtt_ns(&src, 2, 21, 41 * US), 20 * US);
	assert_int_equal(fab_source_rtt_ns(&src, 2, 21, 21 * US), 1);
	assert_true(fab_source_reply(&src, 2, 22 * US));
	check_sent(30, 5, FAB_F_RTT_REQUEST, 4, 3);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1, 41 * US), 0);
}

static void test_echo_that_lies_is_no_sample_of_rtt(void **state)
{
	(void)state;
	check_sent(1000, 3, FAB_F_RTT_REQUEST, 3, 1);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1005, 1008 * US), 0);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 900, 1008 * US), 0);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 2000, 1008 * US), 0);
	assert_int_equal(fab_source_rtt_ns(&src, 2, 1000, 1008 * US), 0);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1000, 1001000 * US), 1000 * MS);
	assert_int_equal(fab_source_rtt_ns(&src, 1, 1000, 1001001 * US), 0);
}

static void test_base_rtt_is_the_minimum_of_two_periods(void **state)
{
	struct fab_rtt r = { };
	u64 now_ns = 100 * FAB_RTT_PERIOD_NS;

	(void)state;
	fab_rtt_add(&r, 9000, now_ns);
	assert_int_equal(r.ns, 9000);
	fab_rtt_add(&r, 8000, now_ns + MS);
	fab_rtt_add(&r, 10000, now_ns + 2 * MS);
	assert_int_equal(r.ns, 8000);
	/* the path is longer: the old minimum counts for one more period */
	fab_rtt_add(&r, 60000, now_ns + FAB_RTT_PERIOD_NS);
	/* from a CPU that read the clock before */
	fab_rtt_add(&r, 50000, now_ns + FAB_RTT_PERIOD_NS - US);
	assert_int_equal(r.ns, 8000);
	fab_rtt_add(&r, 55000, now_ns + 2 * FAB_RTT_PERIOD_NS);
	assert_int_equal(r.ns, 50000);
	fab_rtt_add(&r, 55000, now_ns + 3 * FAB_RTT_PERIOD_NS);
	assert_int_equal(r.ns, 55000);
	fab_rtt_add(&r, 7000, now_ns + 3 * FAB_RTT_PERIOD_NS);
	assert_int_equal(r.ns, 7000);
}

static void test_notified_path_is_busy_for_a_while(void **state)
{
	struct fab_busy busy = { };
	u64 now = 1000 * MS;

	(void)state;
	assert_false(fab_busy_test(&busy, 5, now));
	fab_busy_set(&busy, 5, &sp, now);
	assert_true(fab_busy_test(&busy, 5, now + 15 * US));
	assert_false(fab_busy_test(&busy, 6, now));
	assert_false(fab_busy_test(&busy, 5, now + 18 * US));
}

/* ---- destination ---- */

static const struct fab_dest_params dp = {
	.extra_ns = 16 * US, .default_ns = 200 * US, .max_ns = 1000 * US,
};

static struct fab_dest dst;

static int setup_dest(void **state)
{
	(void)state;
	memset(&dst, 0, sizeof(dst));
	return 0;
}

/* Receive a packet that was sent at @tx_us, by a clock that is 1 s ahead */
static struct fab_todo arrive(u64 rx_us, u32 tx_us, u16 epoch, u8 flags, u32 tail_us)
{
	struct fab_header h = {
		.op = FAB_CONWEAVE, .flags = flags, .epoch = epoch,
		.tx_us = tx_us + 1000000, .tail_us = tail_us ? tail_us + 1000000 : 0,
	};

	return fab_dest_receive(&dst, &dp, &h, rx_us * US);
}

static void check_todo(struct fab_todo t, const char *want)
{
	char got[16] = "", *c = got;

	if (t.restart)
		*c++ = 'R';
	if (t.flush_before)
		*c++ = 'b';
	if (t.start)
		*c++ = 's';
	if (t.hold)
		*c++ = 'h';
	if (t.stray)
		*c++ = 'S';
	if (t.late)
		*c++ = 'l';
	if (t.flush)
		*c++ = 'f';
	if (t.reply)
		*c++ = 'r';
	if (t.clear)
		*c++ = 'c';
	assert_string_equal(got, want);
}

static void test_request_is_answered(void **state)
{
	(void)state;
	check_todo(arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0), "r");
	check_todo(arrive(11, 2, 1, 0, 0), "");
	check_todo(arrive(12, 3, 2, FAB_F_RTT_REQUEST, 0), "r");
	check_todo(arrive(13, 2, 1, FAB_F_RTT_REQUEST, 0), "l");
}

static void test_tail_before_rerouted_needs_no_fifo(void **state)
{
	(void)state;
	check_todo(arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0), "r");
	check_todo(arrive(30, 14, 1, FAB_F_TAIL, 14), "c");
	check_todo(arrive(31, 15, 1, FAB_F_REROUTED, 14), "");
}

static void test_rerouted_packets_wait_for_tail(void **state)
{
	(void)state;
	check_todo(arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0), "r");
	check_todo(arrive(22, 15, 1, FAB_F_REROUTED, 14), "sh");
	check_todo(arrive(23, 16, 1, FAB_F_REROUTED, 14), "h");
	check_todo(arrive(24, 5, 1, 0, 0), "");
	check_todo(arrive(30, 14, 1, FAB_F_TAIL, 14), "fc");
	check_todo(arrive(31, 17, 1, FAB_F_REROUTED, 14), "");
	assert_false(dst.held);
}

static void test_resume_time_follows_old_packets(void **state)
{
	(void)state;
	/* appendix A: old packet A arrives at 10, TAIL was sent 13 µs after it */
	arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0);
	arrive(22, 15, 1, FAB_F_REROUTED, 14);
	assert_int_equal(dst.deadline_ns, (10 + 13 + 16) * US);
	/* old packet B arrives at 24, TAIL was sent 9 µs after it */
	arrive(24, 5, 1, 0, 0);
	assert_int_equal(dst.deadline_ns, (24 + 9 + 16) * US);
}

static void test_without_old_packet_the_default_counts(void **state)
{
	(void)state;
	check_todo(arrive(22, 15, 1, FAB_F_REROUTED, 14), "sh");
	assert_int_equal(dst.deadline_ns, (22 + 200 + 16) * US);
	check_todo(arrive(24, 1, 1, FAB_F_RTT_REQUEST, 0), "r");
	assert_int_equal(dst.deadline_ns, (24 + 13 + 16) * US);
}

static void test_timer_ends_the_wait(void **state)
{
	(void)state;
	arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0);
	arrive(22, 15, 1, FAB_F_REROUTED, 14);
	fab_dest_pass(&dst);
	check_todo(arrive(50, 16, 1, FAB_F_REROUTED, 14), "");
	check_todo(arrive(51, 5, 1, 0, 0), "l");
	check_todo(arrive(52, 14, 1, FAB_F_TAIL, 14), "lc");
	check_todo(arrive(53, 17, 1, FAB_F_REROUTED, 14), "");
}

static void test_without_fifo_old_packets_are_late(void **state)
{
	(void)state;
	arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0);
	check_todo(arrive(22, 15, 1, FAB_F_REROUTED, 14), "sh");
	fab_dest_pass(&dst);
	check_todo(arrive(24, 5, 1, 0, 0), "l");
	check_todo(arrive(25, 16, 1, FAB_F_REROUTED, 14), "");
	check_todo(arrive(30, 14, 1, FAB_F_TAIL, 14), "lc");
}

static void test_packets_of_older_epochs_are_late_behind_newer_ones(void **state)
{
	(void)state;
	check_todo(arrive(22, 15, 7, FAB_F_REROUTED, 14), "sh");
	/* all of epoch 7 waits */
	check_todo(arrive(23, 5, 6, FAB_F_REROUTED, 4), "");
	check_todo(arrive(24, 3, 6, 0, 0), "l");
	check_todo(arrive(25, 14, 7, FAB_F_TAIL, 14), "fc");
	check_todo(arrive(26, 6, 6, FAB_F_REROUTED, 4), "l");
	check_todo(arrive(27, 16, 7, FAB_F_REROUTED, 14), "");
}

static void test_packets_of_a_released_epoch_are_late(void **state)
{
	(void)state;
	check_todo(arrive(22, 15, 1, FAB_F_REROUTED, 14), "sh");
	check_todo(arrive(30, 40, 2, FAB_F_REROUTED, 35), "bsh");
	check_todo(arrive(31, 14, 1, FAB_F_TAIL, 14), "l");
	check_todo(arrive(32, 16, 1, FAB_F_REROUTED, 14), "");
}

static void test_stray_epoch_changes_nothing(void **state)
{
	struct fab_dest before;
	u32 i;

	(void)state;
	arrive(10, 1, 1000, FAB_F_RTT_REQUEST, 0);
	check_todo(arrive(22, 15, 1000, FAB_F_REROUTED, 14), "sh");
	before = dst;
	for (i = 0; i < 100; i++) {
		/* far from each other */
		check_todo(arrive(23, 16, 2000 + i * 200, FAB_F_RTT_REQUEST, 0), "S");
		check_todo(arrive(23, 16, 1000 + 65, FAB_F_REROUTED, 14), "S");
		check_todo(arrive(23, 16, 1000 - 65, FAB_F_TAIL, 14), "S");
	}
	check_todo(arrive(24, 17, 1000, FAB_F_REROUTED, 14), "h");
	assert_memory_equal(&dst, &before, offsetof(struct fab_dest, strays));
	assert_int_equal(dst.epoch, 1000);
	check_todo(arrive(30, 14, 1000, FAB_F_TAIL, 14), "fc");
	check_todo(arrive(31, 40, 1000 + 64, FAB_F_RTT_REQUEST, 0), "r");
	check_todo(arrive(32, 18, 1000, FAB_F_REROUTED, 14), "l");
}

static void test_window_follows_16_strays_in_a_row(void **state)
{
	u32 i;

	(void)state;
	arrive(10, 1, 1000, FAB_F_RTT_REQUEST, 0);
	check_todo(arrive(22, 15, 1000, FAB_F_REROUTED, 14), "sh");
	for (i = 0; i < 15; i++)
		check_todo(arrive(23, 16, 40000 + i, 0, 0), "S");
	check_todo(arrive(24, 17, 1000, FAB_F_REROUTED, 14), "h");
	for (i = 0; i < 15; i++)
		check_todo(arrive(25, 16, 40000 + i, 0, 0), "S");
	check_todo(arrive(26, 30, 40015, FAB_F_RTT_REQUEST, 0), "Rbr");
	check_todo(arrive(27, 31, 40015, FAB_F_REROUTED, 14), "sh");
	/* and back: the sender was here all the time */
	for (i = 0; i < 15; i++)
		check_todo(arrive(28, 16, 1000, FAB_F_REROUTED, 14), "S");
	check_todo(arrive(29, 16, 1000, FAB_F_TAIL, 14), "Rbc");
	check_todo(arrive(30, 17, 1000, FAB_F_REROUTED, 14), "");
}

static void test_newer_epoch_releases_the_fifo(void **state)
{
	(void)state;
	arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0);
	arrive(22, 15, 1, FAB_F_REROUTED, 14);
	check_todo(arrive(30, 20, 2, FAB_F_RTT_REQUEST, 0), "br");
	check_todo(arrive(31, 14, 1, FAB_F_TAIL, 14), "l");
	check_todo(arrive(32, 22, 2, FAB_F_REROUTED, 21), "sh");
}

static void test_clocks_that_lie_do_not_hold_for_long(void **state)
{
	(void)state;
	arrive(10, 1, 1, FAB_F_RTT_REQUEST, 0);
	arrive(22, 15, 1, FAB_F_REROUTED, 2000000000);
	assert_int_equal(dst.deadline_ns, 22 * US + dp.max_ns);
	arrive(900, 3000000000, 1, 0, 0);
	assert_true(dst.deadline_ns <= 22 * US + dp.max_ns);
}

/* ---- both, in random schedules ---- */

#define PATHS		4
#define QUEUE		4096
#define SENT		1500

struct packet {
	struct fab_header h;
	u64 arrives_ns;
	u32 seq;
};

/* A path, or the way back: packets stay in order */
struct way {
	struct packet q[QUEUE];
	u32 head, tail;
	u64 last_ns;
};

static struct world {
	struct rng rng;
	struct way data[PATHS], back;
	struct fab_source_params sp;
	struct fab_dest_params dp;
	struct fab_busy busy;
	struct packet fifo[QUEUE];
	u32 fifo_count;
	u64 fifo_since_ns, now_ns, opened_ns;
	u32 loss_percent, slow_us, fifo_percent, clears_percent;
	u32 sent, delivered, lost, next_seq, rtt_ns;
	/* counters */
	u32 out_of_order, late, strays, timers, unheld, fresh, overdue, notices, three_paths;
	u32 tails, held;
} w;

static u32 paths_in_flight(void)
{
	u32 i, count = 0;

	for (i = 0; i < PATHS; i++)
		count += w.data[i].head != w.data[i].tail;
	return count;
}

/* Put a packet on its way, unless it is lost */
static void enqueue(struct way *way, const struct packet *p, u32 slow_us)
{
	struct packet *to = &way->q[way->tail % QUEUE];

	if (rng_percent(&w.rng, w.loss_percent)) {
		w.lost += way != &w.back;
		return;
	}
	assert_true(way->tail - way->head < QUEUE);
	*to = *p;
	to->arrives_ns = w.now_ns + rng_in(&w.rng, 2, slow_us) * US;
	to->arrives_ns = max_t(u64, to->arrives_ns, way->last_ns);
	way->last_ns = to->arrives_ns;
	way->tail++;
}

static void answer(u8 op, const struct fab_header *h)
{
	struct packet p = { .h = *h };

	p.h.op = op;
	enqueue(&w.back, &p, 4);
}

static int sample_path(void)
{
	u32 i, path;

	for (i = 0; i < 2; i++) {
		path = rng_u32(&w.rng) % PATHS;
		if (!fab_busy_test(&w.busy, path, w.now_ns))
			return path;
	}
	return FAB_NO_PATH;
}

static void send_packet(void)
{
	struct packet p = { .h.op = FAB_CONWEAVE, .seq = w.sent++ };
	u16 epoch = src.epoch;
	bool waits = src.rerouted && !src.stable;
	enum fab_step step;
	u64 epoch_ns;

	step = fab_source_begin(&src, &w.sp, true, w.rtt_ns, w.now_ns);
	w.fresh += step == FAB_FRESH && p.seq;
	w.overdue += step == FAB_EPOCH && waits;
	w.tails += step == FAB_TAIL;
	fab_source_finish(&src, step, sample_path(), 0, w.now_ns, &p.h);
	if (src.epoch != epoch)
		w.opened_ns = w.now_ns;
	/* an epoch ends by reply or cutoff, then TAIL and CLEAR, or theta_inactive */
	epoch_ns = w.rtt_ns + w.sp.reply_ns + 2ULL * w.sp.inactive_ns + 100 * US;
	assert_true(w.now_ns - w.opened_ns <= epoch_ns);
	enqueue(&w.data[p.h.path], &p, w.slow_us);
	w.three_paths += paths_in_flight() > 2;
}

static void deliver(const struct packet *p)
{
	w.delivered++;
	w.out_of_order += p->seq < w.next_seq;
	w.next_seq = max_t(u32, w.next_seq, p->seq + 1);
}

static void flush(void)
{
	u32 i;

	for (i = 0; i < w.fifo_count; i++)
		deliver(&w.fifo[i]);
	w.fifo_count = 0;
}

static void receive(const struct packet *p)
{
	struct fab_todo t = fab_dest_receive(&dst, &w.dp, &p->h, w.now_ns);

	if (t.flush_before)
		flush();
	if (t.start)
		w.fifo_since_ns = w.now_ns;
	w.held += t.start;
	w.late += t.late;
	w.strays += t.stray + t.restart;
	if (t.start && !rng_percent(&w.rng, w.fifo_percent)) {
		fab_dest_pass(&dst);
		w.unheld++;
		t.hold = false;
	}
	assert_int_equal(dst.held, t.hold || (dst.held && w.fifo_count));
	if (t.hold)
		w.fifo[w.fifo_count++] = *p;
	else
		deliver(p);
	if (t.flush)
		flush();
	if (t.reply)
		answer(FAB_REPLY, &p->h);
	if (t.clear)
		answer(FAB_CLEAR, &p->h);
	if (rng_percent(&w.rng, w.clears_percent))
		answer(FAB_NOTIFY, &p->h);
}

static void expire(void)
{
	struct packet p = { .h.epoch = dst.epoch };

	assert_in_range(w.now_ns - w.fifo_since_ns, 0, w.dp.max_ns);
	w.timers++;
	fab_dest_pass(&dst);
	flush();
	answer(FAB_CLEAR, &p.h);
}

static void take_answer(const struct packet *p)
{
	if (p->h.op == FAB_REPLY)
		fab_source_reply(&src, p->h.epoch, w.now_ns);
	else if (p->h.op == FAB_CLEAR)
		fab_source_clear(&src, p->h.epoch);
	else
		fab_busy_set(&w.busy, p->h.path, &w.sp, w.now_ns);
}

/* Time of the next packet of a way */
static u64 next_of(const struct way *way)
{
	return way->head == way->tail ? U64_MAX : way->q[way->head % QUEUE].arrives_ns;
}

/* Handle the next event. Return: false after the last one */
static bool step(u64 *send_ns)
{
	u64 first = min_t(u64, *send_ns, next_of(&w.back));
	u32 i, from = PATHS;

	if (dst.held)
		first = min_t(u64, first, dst.deadline_ns);
	for (i = 0; i < PATHS; i++)
		if (next_of(&w.data[i]) < first) {
			first = next_of(&w.data[i]);
			from = i;
		}
	if (first == U64_MAX)
		return false;
	w.now_ns = max_t(u64, w.now_ns, first);
	if (from < PATHS) {
		receive(&w.data[from].q[w.data[from].head++ % QUEUE]);
	} else if (first == next_of(&w.back)) {
		take_answer(&w.back.q[w.back.head++ % QUEUE]);
	} else if (first == *send_ns) {
		send_packet();
		*send_ns = w.now_ns + rng_in(&w.rng, 0, 3) * US + rng_u32(&w.rng) % US;
		if (w.sent < SENT && rng_percent(&w.rng, 1) && w.loss_percent)
			*send_ns += rng_in(&w.rng, 1, 99) * US;
		if (w.sent == SENT)
			*send_ns = U64_MAX;
	} else {
		expire();
	}
	return true;
}

static void run(u64 seed, u32 loss_percent, u32 fifo_percent, u32 extra_us)
{
	u64 send_ns = 1000 * MS;

	memset(&w, 0, sizeof(w));
	memset(&src, 0, sizeof(src));
	memset(&dst, 0, sizeof(dst));
	rng_seed(&w.rng, seed);
	w.now_ns = send_ns;
	w.opened_ns = send_ns;
	w.sp = sp;
	w.sp.inactive_ns = loss_percent ? 300 * US : 1000000000;
	w.dp = dp;
	w.dp.extra_ns = extra_us * US;
	w.dp.max_ns = loss_percent ? 250 * US : 1000000000;
	w.rtt_ns = 8 * US;
	w.loss_percent = loss_percent;
	w.fifo_percent = fifo_percent;
	w.slow_us = rng_in(&w.rng, 4, 60);
	w.clears_percent = rng_in(&w.rng, 0, 10);
	while (step(&send_ns))
		;
	assert_int_equal(w.fifo_count, 0);
	assert_int_equal(w.delivered + w.lost, SENT);
	/* each packet that is out of order is counted */
	assert_int_equal(w.late, w.out_of_order);
	assert_int_equal(w.strays, 0);
}

static void test_flows_stay_on_two_paths_and_in_order(void **state)
{
	u32 i, tails = 0, held = 0;

	(void)state;
	for (i = 0; i < 300; i++) {
		run(i, 0, 100, 100000);
		assert_int_equal(w.timers + w.unheld + w.fresh + w.overdue, 0);
		assert_int_equal(w.three_paths, 0);
		assert_int_equal(w.out_of_order, 0);
		tails += w.tails;
		held += w.held;
	}
	/* the schedules do reroute and reorder */
	assert_true(tails > 300 && held > 300);
}

static void test_order_is_lost_only_by_counted_events(void **state)
{
	u32 i, clean = 0, disturbed = 0;

	(void)state;
	for (i = 0; i < 1000; i++) {
		run(i, i % 4, i % 2 ? 100 : 90, i % 3 ? 1000 : 16);
		if (!(w.timers + w.unheld + w.fresh + w.overdue)) {
			assert_int_equal(w.out_of_order, 0);
			assert_int_equal(w.three_paths, 0);
			clean++;
		} else {
			disturbed += w.out_of_order > 0;
		}
	}
	assert_true(clean > 50 && disturbed > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_good_path_is_kept, setup),
		cmocka_unit_test_setup(test_flow_is_rerouted_if_the_reply_is_late, setup),
		cmocka_unit_test_setup(test_without_good_path_monitoring_goes_on, setup),
		cmocka_unit_test_setup(test_idle_flow_takes_any_path, setup),
		cmocka_unit_test_setup(test_lost_clear_does_not_stop_monitoring, setup),
		cmocka_unit_test_setup(test_flow_leaves_a_path_that_is_gone, setup),
		cmocka_unit_test_setup(test_before_the_first_reply_the_cutoff_is_long, setup),
		cmocka_unit_test_setup(test_late_reply_is_a_sample_of_rtt, setup),
		cmocka_unit_test_setup(test_echo_that_lies_is_no_sample_of_rtt, setup),
		cmocka_unit_test(test_base_rtt_is_the_minimum_of_two_periods),
		cmocka_unit_test(test_notified_path_is_busy_for_a_while),
		cmocka_unit_test_setup(test_request_is_answered, setup_dest),
		cmocka_unit_test_setup(test_tail_before_rerouted_needs_no_fifo, setup_dest),
		cmocka_unit_test_setup(test_rerouted_packets_wait_for_tail, setup_dest),
		cmocka_unit_test_setup(test_resume_time_follows_old_packets, setup_dest),
		cmocka_unit_test_setup(test_without_old_packet_the_default_counts, setup_dest),
		cmocka_unit_test_setup(test_timer_ends_the_wait, setup_dest),
		cmocka_unit_test_setup(test_without_fifo_old_packets_are_late, setup_dest),
		cmocka_unit_test_setup(test_packets_of_older_epochs_are_late_behind_newer_ones,
				       setup_dest),
		cmocka_unit_test_setup(test_packets_of_a_released_epoch_are_late, setup_dest),
		cmocka_unit_test_setup(test_stray_epoch_changes_nothing, setup_dest),
		cmocka_unit_test_setup(test_window_follows_16_strays_in_a_row, setup_dest),
		cmocka_unit_test_setup(test_newer_epoch_releases_the_fifo, setup_dest),
		cmocka_unit_test_setup(test_clocks_that_lie_do_not_hold_for_long, setup_dest),
		cmocka_unit_test(test_flows_stay_on_two_paths_and_in_order),
		cmocka_unit_test(test_order_is_lost_only_by_counted_events),
	};

	return cmocka_run_group_tests_name("fab_conweave", tests, NULL, NULL);
}
