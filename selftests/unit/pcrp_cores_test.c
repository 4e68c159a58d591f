// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.h and sch/pcrp/pcrp_receiver.h: some hosts send to one, over a network
 * that delays, reorders, doubles and loses what it carries
 *
 * A slot of a host is a 5-tuple. A TCP packet that is lost comes later: its socket
 * sends it again. One of UDP does not. The receiver is checked after each event
 * (rcv_check()). Unless packets are lost, no sender ever goes on without a GRANT:
 * `hold` is far away, so a flow that both cores forget would be seen. With losses a
 * source may run out of credit, and then only `hold` helps a flow whose first data are lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_sender.h"
#include "pcrp_rcv_common.h"
#include "rng.h"

#define HOSTS		3
#define SLOTS		(RCV_FLOWS / HOSTS)
#define PACKETS		16	/* that wait in a slot's queue, at most */
#define FLYING		20000
#define US		1000ULL
#define NS_PER_100B	80	/* 10 Gbit/s */
#define HOLD_NS		(100000 * US)
#define FLOWS		400	/* of a run */
#define EVENTS_MIN	100000	/* of all runs */

/**
 * struct setup - of a run
 * @chain_bytes: C
 * @first_bytes: of the first chain
 * @grants: TBL
 * @evict: option
 * @loss: of a hundred packets, so many are lost
 * @twice: ... are doubled
 * @late: ... take ten times as long
 * @packet_max: longest packet, bytes
 */
struct setup {
	u32 chain_bytes;
	u32 first_bytes;
	u32 grants;
	bool evict;
	u32 loss;
	u32 twice;
	u32 late;
	u32 packet_max;
};

/* What is on its way; type 0: data */
struct flying {
	u64 at_ns;
	u32 host;
	u32 slot;
	u32 bytes;
	u32 seq;
	struct pcrp_msg msg;
};

struct slot {
	bool tcp;
	u32 isn;
	u32 packet[PACKETS];
	u32 packets;
	u32 unsent;	/* in the socket */
	u32 idx;	/* at the receiver */
	u32 flow_no;	/* the last one that the receiver's truth is about */
	u64 got;	/* bytes that truly came, or the end of them */
};

struct host {
	struct pcrp_sender s;
	struct pcrp_flow flow[SLOTS + PCRP_SND_LISTS];
	struct heap_node node[PCRP_SND_HEAPS * SLOTS];
	u32 place[PCRP_SND_HEAPS * SLOTS];
	struct slot slot[SLOTS];
	u64 free_ns;	/* when its line is free */
};

static struct host hosts[HOSTS];
static struct rcv t;
static struct flying flying[FLYING];
static u32 flying_first, flying_end, to_start;
static u64 events, known;
static const struct setup *setup;
static struct pcrp_params params;
static struct rng rng;

/* In the order of time; most are the last */
static void launch(const struct flying *f)
{
	u32 i;

	if (flying_end == FLYING) {
		flying_end -= flying_first;
		memmove(flying, flying + flying_first, flying_end * sizeof(*f));
		flying_first = 0;
	}
	assert_true(flying_end < FLYING);
	for (i = flying_end++; i > flying_first && flying[i - 1].at_ns > f->at_ns; i--)
		flying[i] = flying[i - 1];
	flying[i] = *f;
}

static void fly(struct flying f)
{
	u64 delay_ns = 5 * US;

	if (rng_percent(&rng, setup->late))
		delay_ns *= rng_in(&rng, 1, 10);
	if (rng_percent(&rng, setup->loss)) {
		if (f.msg.type || !hosts[f.host].slot[f.slot].tcp)
			return;
		delay_ns = 1000 * US;
	}
	f.at_ns = t.now_ns + delay_ns;
	launch(&f);
	if (rng_percent(&rng, setup->twice))
		launch(&f);
}

/* ---- hosts */

/* The socket fills the queue. */
static void feed(struct host *h, u32 slot)
{
	struct slot *sl = &h->slot[slot];
	u32 bytes;

	while (sl->unsent && sl->packets < PACKETS) {
		bytes = rng_in(&rng, 1, setup->packet_max);
		bytes = min_t(u32, bytes, sl->unsent);
		sl->unsent -= bytes;
		sl->packet[sl->packets++] = bytes;
		pcrp_snd_queued(&h->s, &params, slot, bytes, sl->unsent, PCRP_GATE_GRANT,
				t.now_ns);
	}
}

static void start_flow(void)
{
	struct host *h = &hosts[rng_in(&rng, 0, HOSTS - 1)];
	u32 slot = rng_in(&rng, 0, SLOTS - 1);
	struct slot *sl = &h->slot[slot];
	bool starts = pcrp_snd_starts(&h->s, slot);

	/* one that is there may grow */
	if (!starts && rng_percent(&rng, 70))
		return;
	if (starts) {
		sl->tcp = rng_percent(&rng, 50);
		sl->isn = rng_u32(&rng);
	}
	sl->unsent += (u32)rng_log(&rng, 100, 20 * params.chain_bytes);
	feed(h, slot);
	to_start--;
}

static void send_ask(struct host *h, u32 slot, enum pcrp_action action)
{
	const struct pcrp_flow *f = &h->flow[slot];
	struct slot *sl = &h->slot[slot];

	pcrp_snd_asked(&h->s, &params, slot, action, t.now_ns);
	fly((struct flying) {
		.host = (u32)(h - hosts), .slot = slot,
		.msg = {
			.type = action == PCRP_ACTION_PROBE ? PCRP_PROBE : PCRP_REQUEST,
			.prio = f->prio, .proto = sl->tcp ? IPPROTO_TCP : IPPROTO_UDP,
			.slot = slot, .flow_no = f->flow_no, .size = f->size,
			.offset = f->sent, .chain_no = max_t(u32, f->chain_no, 1),
			.first_bytes = params.first_bytes, .ask = f->ask_no,
			.tcp_seq = sl->tcp ? sl->isn + (u32)f->sent : 0,
			.chain_bytes = params.chain_bytes,
		},
	});
	h->free_ns = t.now_ns + NS_PER_100B;
}

static void send_data(struct host *h, u32 slot)
{
	struct slot *sl = &h->slot[slot];
	u32 bytes = sl->packet[0], seq = sl->isn + (u32)h->flow[slot].sent;
	struct flying f = { .host = (u32)(h - hosts), .slot = slot };

	f.bytes = bytes;
	f.seq = seq;
	f.msg.flow_no = h->flow[slot].flow_no;
	memmove(sl->packet, sl->packet + 1, --sl->packets * sizeof(sl->packet[0]));
	pcrp_snd_sent(&h->s, &params, slot, bytes, sl->unsent, t.now_ns, t.now_ns);
	h->free_ns = t.now_ns + (bytes + 100) * NS_PER_100B / 100;
	feed(h, slot);
	fly(f);
}

/* Return: when it will have something to do; U64_MAX: when something comes */
static u64 run_host(struct host *h)
{
	enum pcrp_action action;
	u32 slot;

	if (t.now_ns < h->free_ns)
		return h->free_ns;
	action = pcrp_snd_pick(&h->s, &params, t.now_ns, &slot);
	if (action == PCRP_ACTION_SLEEP)
		return pcrp_snd_next_ns(&h->s);
	events++;
	if (action == PCRP_ACTION_DATA)
		send_data(h, slot);
	else
		send_ask(h, slot, action);
	return h->free_ns;
}

/* ---- receiver */

/* GRANTs fly back; a receiver with places for all forgets what has ended. */
static void answer(void)
{
	struct slot *sl;
	u32 i, idx, j;

	for (i = 0; i < t.out_count; i++) {
		idx = t.outs[i].idx;
		for (j = 0; hosts[j / SLOTS].slot[j % SLOTS].idx != idx; j++)
			assert_true(j + 1 < RCV_FLOWS);
		sl = &hosts[j / SLOTS].slot[j % SLOTS];
		if (t.outs[i].out > PCRP_RCV_GRANT) {
			sl->idx = PCRP_RCV_NONE;
			continue;
		}
		fly((struct flying) {
			.host = j / SLOTS, .slot = j % SLOTS, .msg = t.outs[i].msg,
		});
	}
}

/* Against what truly came, if that is in order and once */
static void check_ahead(const struct slot *sl)
{
	const struct pcrp_rcv_flow *f;

	if (setup->loss || setup->twice || setup->late || sl->idx == PCRP_RCV_NONE)
		return;
	f = &t.flows[sl->idx];
	if (f->flow_no == sl->flow_no && f->granted > sl->got)
		assert_in_range(f->granted - sl->got, 0, 2 * t.ahead_max);
}

static void arrive_data(const struct flying *f)
{
	struct slot *sl = &hosts[f->host].slot[f->slot];
	u64 end;

	if (sl->flow_no != f->msg.flow_no) {
		sl->flow_no = f->msg.flow_no;
		sl->got = 0;
	}
	end = sl->tcp ? (u64)(f->seq + f->bytes - sl->isn) : sl->got + f->bytes;
	sl->got = max_t(u64, sl->got, end);
	if (sl->idx == PCRP_RCV_NONE)
		return;
	rcv_data(&t, sl->idx, f->bytes, f->seq);
	answer();
	check_ahead(sl);
}

static void arrive(const struct flying *f)
{
	struct host *h = &hosts[f->host];
	struct slot *sl = &h->slot[f->slot];
	struct pcrp_grant g;
	u64 rtt_ns;

	events++;
	if (f->msg.type == PCRP_GRANT) {
		g = (struct pcrp_grant) {
			.granted = f->msg.offset, .slot = f->msg.slot,
			.flow_no = f->msg.flow_no, .ask = f->msg.ask, .prio = f->msg.prio,
		};
		pcrp_snd_grant(&h->s, &params, &g, t.now_ns, &rtt_ns);
		assert_true(!rtt_ns || rtt_ns >= 10 * US);
	} else if (f->msg.type) {
		known += sl->idx == PCRP_RCV_NONE;
		t.source = f->host;
		sl->idx = rcv_ask(&t, sl->idx, &f->msg);
		assert_true(sl->idx != PCRP_RCV_NONE);
		answer();
	} else {
		arrive_data(f);
	}
}

/* What is to arrive by now does, in the order of time; when the next one does */
static u64 run_network(void)
{
	struct flying f;

	while (flying_first < flying_end && flying[flying_first].at_ns <= t.now_ns) {
		f = flying[flying_first++];
		arrive(&f);
	}
	return flying_first < flying_end ? flying[flying_first].at_ns : U64_MAX;
}

/* ---- runs */

static void start(const struct setup *how)
{
	u32 i, j;

	setup = how;
	rcv_init(&t, how->chain_bytes, how->grants);
	t.p.evict = how->evict;
	params = (struct pcrp_params) {
		.chain_bytes = how->chain_bytes, .first_bytes = how->first_bytes,
		.mfwt_ns = 100 * US, .hold_ns = how->loss ? HOLD_NS : 1ULL << 60,
		.spec_bytes = { how->chain_bytes / 4, how->chain_bytes, 4 * how->chain_bytes },
		.probe_ns = 50 * US, .probe_gap_ns = 12 * US,
		.eu = rng_percent(&rng, 50), .srpt = rng_percent(&rng, 80),
	};
	flying_first = 0;
	flying_end = 0;
	known = 0;
	to_start = FLOWS;
	for (i = 0; i < HOSTS; i++) {
		memset(&hosts[i], 0, sizeof(hosts[i]));
		pcrp_snd_init(&hosts[i].s, hosts[i].flow, hosts[i].node, hosts[i].place, SLOTS,
			      0xfffffff0);
		for (j = 0; j < SLOTS; j++)
			hosts[i].slot[j].idx = PCRP_RCV_NONE;
	}
}

/* Return: false: nothing will ever happen any more */
static bool run_step(void)
{
	u64 next_ns = run_network();
	u32 i;

	if (to_start && rng_percent(&rng, 20))
		start_flow();
	for (i = 0; i < HOSTS; i++)
		next_ns = min_t(u64, next_ns, run_host(&hosts[i]));
	if (pcrp_rcv_next_ns(&t.r) <= t.now_ns) {
		rcv_expire(&t);
		answer();
	}
	next_ns = min_t(u64, next_ns, pcrp_rcv_next_ns(&t.r));
	if (to_start)
		next_ns = min_t(u64, next_ns, t.now_ns + US);
	if (next_ns == U64_MAX)
		return false;
	t.now_ns = max_t(u64, next_ns, t.now_ns);
	return true;
}

static void run(const struct setup *how)
{
	u64 start_ns;
	u32 i;

	start(how);
	start_ns = t.now_ns;
	while (run_step())
		assert_true(t.now_ns - start_ns < 20000000 * US);
	/* all was sent, and nothing is left */
	for (i = 0; i < HOSTS; i++) {
		assert_int_equal(hosts[i].s.stats.flows_started,
				 hosts[i].s.stats.flows_finished);
		assert_in_range(hosts[i].s.stats.chains_overdue, 0, how->loss ? FLOWS : 0);
		assert_int_equal(hosts[i].s.stats.grants_refused, 0);
	}
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.finished + t.r.stats.expired, known);
	assert_in_range(t.r.stats.granted_peak, 1, how->grants);
	if (!how->loss && !how->twice && !how->late)
		assert_int_equal(t.r.stats.expired, 0);
}

static const struct setup setups[] = {
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 1, .packet_max = 1448 },
	{ .chain_bytes = 25000, .first_bytes = 10000, .grants = 2, .packet_max = 65000 },
	{ .chain_bytes = 3000, .first_bytes = 9000, .grants = 4, .packet_max = 9000,
	  .evict = true },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448,
	  .late = 20 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 9000,
	  .late = 5, .twice = 5 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448,
	  .loss = 2 },
	{ .chain_bytes = 10000, .first_bytes = 10000, .grants = 2, .packet_max = 1448,
	  .loss = 10, .twice = 10, .late = 20, .evict = true },
	{ .chain_bytes = 4000, .first_bytes = 2000, .grants = 64, .packet_max = 3000,
	  .loss = 30, .twice = 5, .late = 50 },
};

static void test_all(void **state)
{
	u32 i, round;

	(void)state;
	rng_seed(&rng, 6);
	for (round = 0; round < 4; round++)
		for (i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
			run(&setups[i]);
	print_message("# %lu events\n", (unsigned long)events);
	assert_true(events >= EVENTS_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
