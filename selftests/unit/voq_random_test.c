// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/voq: random schedules of ingress leaves and an egress port
 *
 * Several ingress leaves have VOQs for one port. Packets and messages take random times, messages
 * are lost, and now and then a leaf or the port forgets everything. At each step:
 *
 *  - the port has granted at most the window beyond its known use, apart from a quarter of a
 *    credit per source, as long as no source is stalled;
 *  - without faults, the port's queue stays below VOQ_BACKLOG_CREDITS + 2 credits, whatever the
 *    number of sources, and the port is busy;
 *  - a VOQ with packets has sent one within the stated time;
 *
 * and in the end all packets have left.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/voq/voq_core.h"
#include "../../sch/voq/voq_grant.h"
#include "rng.h"

#define LEAVES		8
#define SLOTS		4		/* of a leaf */
#define PLACES		64
#define LEN		1500U
#define CREDIT		8192U
#define RATE		1250000000ULL	/* bytes per second */
#define STEP_NS		300ULL
#define RETRY_NS	200000ULL
#define FLIGHTS		8192U
#define STEPS		60000U
/* A source waits for its turn behind all sources, as well as for silent peers. */
#define STATED_NS	(3 * VOQ_TRIES * RETRY_NS)

struct flight {
	u64 at_ns;
	u32 leaf;
	bool data;
	bool up;	/* a request */
	struct voq_msg m;
};

static struct world {
	struct rng rng;
	u64 now_ns;
	u32 loss;		/* of messages, percent */
	bool reboots;
	struct voq_table leaf[LEAVES];
	struct voq_queue slots[LEAVES][SLOTS];
	u32 buckets[LEAVES][SLOTS];
	u32 id[LEAVES];
	u64 progress_ns[LEAVES][SLOTS];
	u64 waiting;		/* packets at the leaves */
	struct voq_granter port;
	struct voq_source places[PLACES];
	u32 bucket[PLACES];
	u64 queue_bytes;
	u64 queue_max;
	u64 busy_ns;
	struct flight flight[FLIGHTS];
	u32 flights;
	u64 arrived;
	u64 arrived_ns;
} w;

static u32 below(u32 n)
{
	return (u64)rng_u32(&w.rng) * n >> 32;
}

static void boot_leaf(u32 i)
{
	w.leaf[i] = (struct voq_table) {
		.params = {
			.credits = true, .quantum = 3000, .credit = CREDIT, .retry_ns = RETRY_NS,
		},
		.generation = rng_u32(&w.rng),
	};
	voq_init(&w.leaf[i], w.slots[i], w.buckets[i], SLOTS, SLOTS);
	w.id[i] = rng_u32(&w.rng);
}

static void boot_port(void)
{
	w.port = (struct voq_granter) {
		.params = {
			.rate_Bps = RATE, .credit = CREDIT, .window = 64000, .retry_ns = RETRY_NS,
		},
		.next_ns = w.now_ns,
	};
	voq_grant_init(&w.port, w.places, w.bucket, PLACES, PLACES);
}

static void begin(u64 seed, u32 loss, bool reboots)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	rng_seed(&w.rng, seed);
	w.now_ns = 1;
	w.loss = loss;
	w.reboots = reboots;
	boot_port();
	for (i = 0; i < LEAVES; i++)
		boot_leaf(i);
}

static void fly(const struct flight *f)
{
	assert_true(w.flights < FLIGHTS);
	w.flight[w.flights] = *f;
	w.flight[w.flights++].at_ns = w.now_ns + 5000 + below(f->data ? 3000 : 1000);
}

static void send_message(u32 leaf, bool up, const struct voq_msg *m)
{
	struct flight f = { .leaf = leaf, .up = up, .m = *m };

	if (below(100) >= w.loss)
		fly(&f);
}

static void leaf_sends(u32 i)
{
	struct flight data = { .leaf = i, .data = true };
	struct voq_table *t = &w.leaf[i];
	struct voq_msg m;
	u32 slot;

	slot = voq_pick(t, w.now_ns);
	if (slot != VOQ_NO_SLOT) {
		voq_sent(t, slot, LEN, w.now_ns);
		w.progress_ns[i][slot] = w.now_ns;
		w.waiting--;
		fly(&data);
	}
	while (voq_request(t, w.now_ns, &m) != VOQ_NO_SLOT) {
		m.id = w.id[i];
		send_message(i, true, &m);
	}
}

static void leaf_queues(u32 i, u32 packets)
{
	struct voq_key key = { .leaf = { 1 }, .dst = { (u8)below(SLOTS) } };
	struct voq_table *t = &w.leaf[i];
	u32 slot = voq_find(t, &key, key.dst[0]);

	if (slot == VOQ_NO_SLOT)
		slot = voq_claim(t, &key, key.dst[0], true);
	if (!t->slot[slot].packets)
		w.progress_ns[i][slot] = w.now_ns;
	w.waiting += packets;
	while (packets--)
		voq_queued(t, slot, LEN, w.now_ns);
}

static void port_receives(const struct flight *f)
{
	struct voq_source_key key = { .addr = { (u8)f->leaf }, .id = f->m.id,
				      .cookie = f->m.cookie };
	struct voq_msg answer;

	if (voq_grant_request(&w.port, &key, f->m.cookie ^ f->m.id, &f->m, w.now_ns, &answer))
		send_message(f->leaf, false, &answer);
}

static void land(const struct flight *f)
{
	const u8 from[VOQ_ADDR_LEN] = { 1 };

	if (f->data) {
		w.queue_bytes += LEN;
		w.arrived++;
		w.arrived_ns = w.now_ns;
	} else if (f->up) {
		port_receives(f);
	} else if (f->m.id == w.id[f->leaf]) {
		voq_answer(&w.leaf[f->leaf], from, &f->m, w.now_ns);
	}
}

static void land_all(void)
{
	struct flight f;
	u32 i;

	for (i = 0; i < w.flights;) {
		if (w.flight[i].at_ns > w.now_ns) {
			i++;
			continue;
		}
		f = w.flight[i];
		w.flight[i] = w.flight[--w.flights];
		land(&f);
	}
}

static void port_sends(void)
{
	struct voq_source_key to;
	struct voq_msg m;

	if (w.queue_bytes && w.busy_ns <= w.now_ns) {
		w.queue_bytes -= LEN;
		w.busy_ns = w.now_ns + LEN * 1000000000ULL / RATE;
	}
	if (w.queue_bytes > w.queue_max)
		w.queue_max = w.queue_bytes;
	while (voq_grant_next(&w.port, w.queue_bytes, w.now_ns, &to, &m))
		send_message(to.addr[0], false, &m);
}

static void check_step(void)
{
	u64 unused = 0;
	u32 i, slot;

	for (i = 0; i < PLACES; i++) {
		struct voq_source *s = &w.places[i];

		if (s->where == VOQ_SOURCE_FREE || s->stalled)
			continue;
		if (s->granted > s->sent && s->granted - s->sent > CREDIT / 4)
			unused += s->granted - s->sent;
		assert_true(s->granted <= s->queued || s->queued <= s->sent);
	}
	assert_int_equal(w.port.unused, unused);
	if (!w.reboots && !w.loss)
		assert_true(unused <= w.port.params.window);
	for (i = 0; i < LEAVES; i++)
		for (slot = 0; slot < SLOTS; slot++)
			assert_true(!w.slots[i][slot].packets ||
				    w.now_ns - w.progress_ns[i][slot] < STATED_NS);
}

static void reboot_one(void)
{
	u32 i = below(LEAVES), slot;

	if (below(2)) {
		boot_port();
		return;
	}
	for (slot = 0; slot < SLOTS; slot++)
		w.waiting -= w.slots[i][slot].packets;
	boot_leaf(i);
}

static void step(u32 load)
{
	u32 i;

	w.now_ns += STEP_NS;
	land_all();
	port_sends();
	for (i = 0; i < LEAVES; i++)
		leaf_sends(i);
	if (below(1000) < load)
		leaf_queues(below(LEAVES), 1 + below(60));
	if (w.reboots && !below(5000))
		reboot_one();
	check_step();
}

/* Overload the port for a while, then let it drain. */
static void run(u64 seed, u32 loss, bool reboots)
{
	u32 i;

	begin(seed, loss, reboots);
	for (i = 0; i < STEPS; i++)
		step(i < STEPS / 4 ? 20 : 0);
	w.loss = 0;
	w.reboots = false;
	for (i = 0; i < 4 * STEPS && (w.waiting || w.flights || w.queue_bytes); i++)
		step(0);
	assert_int_equal(w.waiting, 0);
	assert_int_equal(w.queue_bytes, 0);
	assert_true(w.arrived > 1000);
}

static void test_without_faults_the_queue_is_short_and_the_port_busy(void **state)
{
	u64 seed, opened, ends;
	u32 i;

	(void)state;
	for (seed = 0; seed < 10; seed++) {
		run(seed, 0, false);
		for (i = 0, opened = 0; i < LEAVES; i++)
			opened += w.leaf[i].stats.opened;
		assert_int_equal(opened, 0);
		assert_true(w.queue_max < (VOQ_BACKLOG_CREDITS + 2) * CREDIT);
		ends = w.arrived * LEN * 1000000000ULL / RATE;
		assert_true(w.arrived_ns < ends + ends / 20);
	}
}

static void test_lost_messages_are_made_up_for(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 0; seed < 10; seed++)
		run(100 + seed, 1 + seed * 3, false);
}

static void test_reboots_are_survived(void **state)
{
	u64 seed;

	(void)state;
	for (seed = 0; seed < 10; seed++)
		run(200 + seed, seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_faults_the_queue_is_short_and_the_port_busy),
		cmocka_unit_test(test_lost_messages_are_made_up_for),
		cmocka_unit_test(test_reboots_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
