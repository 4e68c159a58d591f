// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch/pcrp/pcrp_sender.c and sch/pcrp/pcrp_receiver.c: several hosts send to one, over a
 * network that delays, reorders, duplicates and loses packets
 *
 * A slot of a host is a 5-tuple. A lost TCP packet arrives later, as its socket transmits
 * it again; a lost UDP packet does not. The receiver is checked after each event
 * (rx_check()). Without losses, `hold` is too long to take effect, so the test would not
 * end if both ends forgot a flow. With losses, a source may run out of credit, and a flow
 * whose first data is lost needs `hold`.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../sch/pcrp/pcrp_sender.h"
#include "pcrp_rx_common.h"
#include "rng.h"

#define HOSTS		3
#define SLOTS		(RX_FLOWS / HOSTS)
#define PACKETS		16	/* in a slot's queue, at most */
#define IN_FLIGHT	20000
#define US		1000ULL
#define NS_PER_100B	80	/* 10 Gbit/s */
#define HOLD_NS		(100000 * US)
#define FLOWS		400	/* in a run */
#define EVENTS_MIN	100000	/* in all runs */

/**
 * struct setup - parameters of a run
 * @chain_bytes: C
 * @first_bytes: length of the first chain
 * @grants: TBL
 * @evict: option
 * @paper: profile paper
 * @loss: percentage of packets that are lost
 * @duplicate: percentage of packets that are duplicated
 * @late: percentage of packets that are delayed up to tenfold
 * @packet_max: longest packet, bytes
 */
struct setup {
	u32 chain_bytes;
	u32 first_bytes;
	u32 grants;
	bool evict;
	bool paper;
	u32 loss;
	u32 duplicate;
	u32 late;
	u32 packet_max;
};

/* A packet in the network; msg.type 0: data */
struct packet {
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
	u32 flow_no;	/* flow of @received */
	u64 received;	/* bytes that have arrived, or the end of them */
};

struct host {
	struct pcrp_sender s;
	struct pcrp_tx_link link;
	struct pcrp_tx_flow flow[SLOTS];
	struct slot slot[SLOTS];
	u64 free_ns;	/* when its link is free */
};

static struct host hosts[HOSTS];
static struct rx t;
static struct packet network[IN_FLIGHT];
static u32 network_first, network_end, to_start;
static u64 events, known;
static const struct setup *setup;
static struct pcrp_tx_params params;
static struct rng rng;

/* Insert a packet in the order of arrival; most of them are the last. */
static void deliver_later(const struct packet *f)
{
	u32 i;

	if (network_end == IN_FLIGHT) {
		network_end -= network_first;
		memmove(network, network + network_first, network_end * sizeof(*f));
		network_first = 0;
	}
	assert_true(network_end < IN_FLIGHT);
	for (i = network_end++; i > network_first && network[i - 1].at_ns > f->at_ns; i--)
		network[i] = network[i - 1];
	network[i] = *f;
}

static void transmit(struct packet f)
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
	deliver_later(&f);
	if (rng_percent(&rng, setup->duplicate))
		deliver_later(&f);
}

/* ---- hosts */

/* Move bytes from the socket to the queue. */
static void fill_queue(struct host *h, u32 slot)
{
	struct slot *sl = &h->slot[slot];
	u32 bytes;

	while (sl->unsent && sl->packets < PACKETS) {
		bytes = rng_in(&rng, 1, setup->packet_max);
		bytes = min_t(u32, bytes, sl->unsent);
		sl->unsent -= bytes;
		sl->packet[sl->packets++] = bytes;
		pcrp_tx_queue(&h->s, &h->flow[slot], bytes, sl->unsent, PCRP_GATE_GRANT,
			      t.now_ns);
	}
}

static void start_flow(void)
{
	struct host *h = &hosts[rng_in(&rng, 0, HOSTS - 1)];
	u32 slot = rng_in(&rng, 0, SLOTS - 1);
	struct slot *sl = &h->slot[slot];
	bool starts = pcrp_tx_finished(&h->flow[slot]);

	/* an unfinished flow may grow */
	if (!starts && rng_percent(&rng, 70))
		return;
	if (starts) {
		sl->tcp = rng_percent(&rng, 50);
		sl->isn = rng_u32(&rng);
	}
	sl->unsent += (u32)rng_log(&rng, 100, 20 * params.chain_bytes);
	fill_queue(h, slot);
	to_start--;
}

static void send_request(struct host *h, u32 slot, enum pcrp_tx_action action)
{
	struct pcrp_tx_flow *f = &h->flow[slot];
	struct slot *sl = &h->slot[slot];

	pcrp_tx_request_sent(&h->s, f, action, t.now_ns);
	transmit((struct packet) {
		.host = (u32)(h - hosts), .slot = slot,
		.msg = {
			.type = action == PCRP_TX_PROBE ? PCRP_PROBE : PCRP_REQUEST,
			.prio = f->prio, .proto = sl->tcp ? IPPROTO_TCP : IPPROTO_UDP,
			.slot = slot, .flow_no = f->flow_no, .size = f->size,
			.offset = f->sent, .chain_no = max_t(u32, f->chain_no, 1),
			.first_bytes = params.first_bytes, .request_no = f->request_no,
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
	struct packet f = { .host = (u32)(h - hosts), .slot = slot };

	f.bytes = bytes;
	f.seq = seq;
	f.msg.flow_no = h->flow[slot].flow_no;
	memmove(sl->packet, sl->packet + 1, --sl->packets * sizeof(sl->packet[0]));
	pcrp_tx_sent(&h->s, &h->flow[slot], bytes, sl->unsent, t.now_ns, t.now_ns);
	h->free_ns = t.now_ns + (bytes + 100) * NS_PER_100B / 100;
	fill_queue(h, slot);
	transmit(f);
}

/* Return: time of its next action; U64_MAX: when a packet comes */
static u64 run_host(struct host *h)
{
	struct pcrp_tx_pick pick;
	u32 slot;

	if (t.now_ns < h->free_ns)
		return h->free_ns;
	pick = pcrp_tx_pick(&h->s, t.now_ns);
	if (pick.action == PCRP_TX_SLEEP)
		return pcrp_tx_next_ns(&h->s);
	events++;
	slot = (u32)(pick.flow - h->flow);
	if (pick.action == PCRP_TX_DATA)
		send_data(h, slot);
	else
		send_request(h, slot, pick.action);
	return h->free_ns;
}

/* ---- receiver */

/* Send GRANTs, and forget flows that have ended. */
static void act(void)
{
	struct slot *sl;
	u32 i, idx, j;

	for (i = 0; i < t.action_count; i++) {
		idx = t.actions[i].idx;
		for (j = 0; hosts[j / SLOTS].slot[j % SLOTS].idx != idx; j++)
			assert_true(j + 1 < RX_FLOWS);
		sl = &hosts[j / SLOTS].slot[j % SLOTS];
		if (t.actions[i].action > PCRP_RX_GRANT) {
			sl->idx = RX_NONE;
			continue;
		}
		transmit((struct packet) {
			.host = j / SLOTS, .slot = j % SLOTS, .msg = t.actions[i].msg,
		});
	}
}

/* Check the granted offset against the bytes received, if they come once and in order. */
static void check_ahead(const struct slot *sl)
{
	const struct pcrp_rx_flow *f;

	if (setup->loss || setup->duplicate || setup->late || sl->idx == RX_NONE)
		return;
	f = &t.flows[sl->idx];
	if (f->flow_no == sl->flow_no && f->granted > sl->received)
		assert_in_range(f->granted - sl->received, 0, 2 * t.ahead_max);
}

static void arrive_data(const struct packet *f)
{
	struct slot *sl = &hosts[f->host].slot[f->slot];
	u64 end;

	if (sl->flow_no != f->msg.flow_no) {
		sl->flow_no = f->msg.flow_no;
		sl->received = 0;
	}
	end = sl->tcp ? (u64)(f->seq + f->bytes - sl->isn) : sl->received + f->bytes;
	sl->received = max_t(u64, sl->received, end);
	if (sl->idx == RX_NONE)
		return;
	rx_data(&t, sl->idx, f->bytes, f->seq);
	act();
	check_ahead(sl);
}

static void arrive(const struct packet *f)
{
	struct host *h = &hosts[f->host];
	struct slot *sl = &h->slot[f->slot];
	struct pcrp_grant g;
	u64 rtt_ns;

	events++;
	if (f->msg.type == PCRP_GRANT) {
		g = (struct pcrp_grant) {
			.granted = f->msg.offset, .flow_no = f->msg.flow_no,
			.request_no = f->msg.request_no, .prio = f->msg.prio,
		};
		pcrp_tx_grant(&h->s, &h->flow[f->msg.slot], &g, t.now_ns, &rtt_ns);
		assert_true(!rtt_ns || rtt_ns >= 10 * US);
	} else if (f->msg.type) {
		known += sl->idx == RX_NONE;
		t.source = f->host;
		sl->idx = rx_request(&t, sl->idx, &f->msg);
		assert_true(sl->idx != RX_NONE);
		act();
	} else {
		arrive_data(f);
	}
}

/* Deliver packets that arrive by now. Return: time of the next arrival */
static u64 run_network(void)
{
	struct packet f;

	while (network_first < network_end && network[network_first].at_ns <= t.now_ns) {
		f = network[network_first++];
		arrive(&f);
	}
	return network_first < network_end ? network[network_first].at_ns : U64_MAX;
}

/* ---- runs */

static void start(const struct setup *how)
{
	u32 i, j;

	setup = how;
	rx_init(&t, how->chain_bytes, how->grants);
	t.p.evict = how->evict;
	t.p.paper = how->paper;
	params = (struct pcrp_tx_params) {
		.chain_bytes = how->chain_bytes, .first_bytes = how->first_bytes,
		.mfwt_ns = 100 * US, .hold_ns = how->loss ? HOLD_NS : 1ULL << 60,
		.spec_bytes = { how->chain_bytes / 4, how->chain_bytes, 4 * how->chain_bytes },
		.probe_ns = 50 * US, .probe_gap_ns = 12 * US,
		.eu = rng_percent(&rng, 50), .srpt = rng_percent(&rng, 80),
	};
	network_first = 0;
	network_end = 0;
	known = 0;
	to_start = FLOWS;
	for (i = 0; i < HOSTS; i++) {
		memset(&hosts[i], 0, sizeof(hosts[i]));
		hosts[i].link.flow_no.counter = 0xfffffff0;
		pcrp_tx_init(&hosts[i].s, &params, &hosts[i].link);
		for (j = 0; j < SLOTS; j++) {
			pcrp_tx_add_slot(&hosts[i].s, &hosts[i].flow[j]);
			hosts[i].slot[j].idx = RX_NONE;
		}
	}
}

/* Return: false: there are no more events */
static bool run_step(void)
{
	u64 next_ns = run_network();
	u32 i;

	if (to_start && rng_percent(&rng, 20))
		start_flow();
	for (i = 0; i < HOSTS; i++)
		next_ns = min_t(u64, next_ns, run_host(&hosts[i]));
	if (pcrp_rx_next_ns(&t.r) <= t.now_ns) {
		rx_expire(&t);
		act();
	}
	next_ns = min_t(u64, next_ns, pcrp_rx_next_ns(&t.r));
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
	/* all bytes were sent, and all flows are forgotten */
	for (i = 0; i < HOSTS; i++) {
		assert_int_equal(hosts[i].s.stats.flows_started,
				 hosts[i].s.stats.flows_finished);
		assert_in_range(hosts[i].s.stats.chains_overdue, 0, how->loss ? FLOWS : 0);
		assert_int_equal(hosts[i].s.stats.grants_refused, 0);
	}
	assert_int_equal(t.r.used, 0);
	assert_int_equal(t.r.stats.finished + t.r.stats.expired, known);
	assert_in_range(t.r.stats.granted_peak, 1, how->grants);
	if (!how->loss && !how->duplicate && !how->late)
		assert_int_equal(t.r.stats.expired, 0);
}

static const struct setup setups[] = {
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 1, .packet_max = 1448 },
	{ .chain_bytes = 25000, .first_bytes = 10000, .grants = 2, .packet_max = 65000 },
	{ .chain_bytes = 3000, .first_bytes = 9000, .grants = 4, .packet_max = 9000,
	  .evict = true },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 2, .packet_max = 1448,
	  .paper = true },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448,
	  .late = 20 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 9000,
	  .late = 5, .duplicate = 5 },
	{ .chain_bytes = 25000, .first_bytes = 25000, .grants = 8, .packet_max = 1448,
	  .loss = 2 },
	{ .chain_bytes = 10000, .first_bytes = 10000, .grants = 2, .packet_max = 1448,
	  .loss = 10, .duplicate = 10, .late = 20, .evict = true },
	{ .chain_bytes = 4000, .first_bytes = 2000, .grants = 64, .packet_max = 3000,
	  .loss = 30, .duplicate = 5, .late = 50 },
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
