// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for PCRP's cores: arbitrary control packets between arbitrary data
 *
 * An input is a sequence of records of RECORD bytes: event, number and datagram. A
 * datagram that is a valid control packet must be the same when it is written again. A
 * REQUEST or PROBE goes to the receiver, which is checked after each step (rx_check()).
 * A GRANT goes to the sender, and may activate two chains at most.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <closnet/pkt_core.h>
#include "../../sch/pcrp/pcrp_sender.h"
#include "fuzz_main.h"
#include "pcrp_rx_common.h"

#define TUPLES		(RX_FLOWS + 16)	/* more than the receiver has slots */
#define SLOTS		8
#define CHAIN		1000
#define RECORD		(4 + PCRP_WIRE_LEN)
#define RECORDS		60

/* Events, modulo their number */
enum event {
	CONTROL,	/* receive the datagram; an odd number makes it shorter */
	GENUINE,	/* the same, but a GRANT names an existing flow */
	DATA,		/* receive data; number: bytes; datagram: sequence number */
	LATER,		/* let time pass; number: in 10 µs */
	QUEUE,		/* queue a packet; number: bytes */
	SEND,		/* do what the sender decides */
	CHANGE,		/* change parameters; number: places */
	EVENTS,
};

/* coverage */
static unsigned long types[PCRP_GRANT + 1], actions[PCRP_RX_EXPIRED + 1], refused;
static unsigned long results[PCRP_GRANT_REFUSED + 1], sent;

static struct rx t;
static u32 idx_of[TUPLES];
static struct pcrp_sender sender;
static struct pcrp_tx_link link_state;
static struct pcrp_tx_flow flow[SLOTS];
static u32 bytes_of[SLOTS];	/* length of a slot's packets */

static const struct pcrp_tx_params params = {
	.chain_bytes = CHAIN, .first_bytes = CHAIN, .mfwt_ns = 100000,
	.hold_ns = 1000000, .spec_bytes = { 1, 2, 3 }, .probe_ns = 50000,
	.eu = true, .srpt = true,
};

static void forget_ended(void)
{
	u32 i, j;

	for (i = 0; i < t.action_count; i++) {
		actions[t.actions[i].action]++;
		if (t.actions[i].action <= PCRP_RX_GRANT)
			continue;
		for (j = 0; idx_of[j] != t.actions[i].idx; j++)
			assert(j + 1 < TUPLES);
		idx_of[j] = RX_NONE;
	}
}

static void take_grant(const struct pcrp_msg *m, bool genuine)
{
	struct pcrp_grant g = {
		.granted = m->offset, .flow_no = m->flow_no,
		.request_no = m->request_no, .prio = m->prio,
	};
	struct pcrp_tx_flow *f = &flow[m->slot % SLOTS];
	u64 before = f->granted, rtt_ns;

	if (genuine)
		g.flow_no = f->flow_no;
	else if (m->slot >= SLOTS)
		f = NULL;
	results[pcrp_tx_grant(&sender, f, &g, t.now_ns, &rtt_ns)]++;
	assert(!f || f->granted == before || f->granted <= f->sent + 2 * CHAIN);
	assert(rtt_ns <= t.now_ns);
}

static void control(const u8 *b, u32 len, bool genuine)
{
	u8 *copy = malloc(len), written[PCRP_WIRE_LEN];
	struct pcrp_msg m, answer;
	u32 *idx;

	if (!copy)
		err(2, "malloc");
	memcpy(copy, b, len);
	if (!pcrp_msg_read(copy, len, &m)) {
		free(copy);
		types[0]++;
		return;
	}
	types[m.type]++;
	pcrp_msg_write(&m, written);
	assert(!memcmp(written, copy, sizeof(written)));
	free(copy);
	if (m.type == PCRP_GRANT) {
		take_grant(&m, genuine);
		return;
	}
	idx = &idx_of[m.sport % TUPLES];
	t.source = m.sport % RX_SOURCES;
	*idx = rx_request(&t, *idx, &m);
	if (*idx == RX_NONE) {
		refused++;
		pcrp_rx_refuse(&m, &answer);
		assert(pcrp_msg_valid(&answer));
	}
	forget_ended();
}

static void receive_data(const u8 *b, u32 number)
{
	u32 idx = idx_of[b[0] % TUPLES];

	if (idx == RX_NONE)
		return;
	rx_data(&t, idx, number, (u32)closnet_get(b + 1, 4));
	forget_ended();
}

static void queue(u32 slot, u32 number)
{
	if (pcrp_tx_finished(&flow[slot]))
		bytes_of[slot] = number + 1;
	pcrp_tx_queue(&sender, &flow[slot], bytes_of[slot], 0, PCRP_GATE_GRANT, t.now_ns);
}

static void send_next(void)
{
	struct pcrp_tx_pick pick = pcrp_tx_pick(&sender, t.now_ns);

	if (pick.action == PCRP_TX_DATA)
		pcrp_tx_sent(&sender, pick.flow, bytes_of[pick.flow - flow], 0, t.now_ns, t.now_ns);
	else if (pick.action != PCRP_TX_SLEEP)
		pcrp_tx_request_sent(&sender, pick.flow, pick.action, t.now_ns);
	sent += pick.action == PCRP_TX_DATA;
}

static void step(const u8 *record)
{
	u32 number = (u32)closnet_get(record + 1, 2);
	const u8 *b = record + 4;

	switch (record[0] % EVENTS) {
	case CONTROL:
		return control(b, PCRP_WIRE_LEN - (number & 1), false);
	case GENUINE:
		return control(b, PCRP_WIRE_LEN, true);
	case DATA:
		return receive_data(b, number);
	case LATER:
		t.now_ns += number * 10000ULL;
		rx_expire(&t);
		return forget_ended();
	case QUEUE:
		return queue(record[3] % SLOTS, number);
	case SEND:
		return send_next();
	default:
		t.p.grants = 1 + number % PCRP_GRANTS_MAX;
		t.p.evict = record[3] & 1;
		t.p.paper = record[3] & 2;
		rx_expire(&t);
		forget_ended();
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 i;

	rx_init(&t, CHAIN, 4);
	sender = (struct pcrp_sender) {};
	link_state = (struct pcrp_tx_link) {};
	pcrp_tx_init(&sender, &params, &link_state);
	for (i = 0; i < SLOTS; i++)
		pcrp_tx_add_slot(&sender, &flow[i]);
	for (i = 0; i < TUPLES; i++)
		idx_of[i] = RX_NONE;
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	/* every flow expires */
	t.now_ns += PCRP_RX_KEEP_NS;
	rx_expire(&t);
	forget_ended();
	assert(!t.r.used);
	return 0;
}

static struct rng rng;

static void make_msg(u8 *b)
{
	struct pcrp_msg m = {
		.type = (u8)rng_in(&rng, PCRP_REQUEST, PCRP_GRANT),
		.prio = (u8)rng_in(&rng, 4, 7),
		.proto = rng_percent(&rng, 50) ? IPPROTO_TCP : IPPROTO_UDP,
	};

	m.sport = (u16)rng_in(&rng, 0, rng_percent(&rng, 50) ? 5 : TUPLES);
	m.slot = rng_in(&rng, 0, SLOTS);
	m.flow_no = rng_in(&rng, 0, 3);
	m.size = rng_log(&rng, 1, 20 * CHAIN);
	m.offset = m.size - rng_log(&rng, 1, m.size);
	if (m.type != PCRP_GRANT) {
		m.chain_no = rng_in(&rng, 1, 3);
		m.request_no = rng_in(&rng, 1, 9);
		m.first_bytes = (u32)rng_log(&rng, 1, 2 * CHAIN);
		m.chain_bytes = (u32)rng_log(&rng, 1, 2 * CHAIN);
	}
	pcrp_msg_write(&m, b);
}

/* Plausible messages, some of them with a few bits flipped */
static size_t make_input(u8 *input)
{
	u8 *record;
	u32 i, n;

	for (i = 0; i < RECORDS; i++) {
		record = input + i * RECORD;
		make_msg(record + 4);
		record[0] = rng_percent(&rng, 40) ? GENUINE : (u8)rng_u32(&rng);
		closnet_put(record + 1, 2, rng_log(&rng, 1, 3000));
		record[3] = (u8)rng_u32(&rng);
		if (record[0] % EVENTS == DATA)
			record[4] = (u8)rng_in(&rng, 0, 5);
		for (n = rng_percent(&rng, 20) ? 3 : 0; n; n--)
			record[rng_in(&rng, 0, RECORD - 1)] ^= (u8)(1U << rng_in(&rng, 0, 7));
	}
	return RECORDS * RECORD - (rng_percent(&rng, 10) ? rng_in(&rng, 0, RECORD) : 0);
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("types", types, PCRP_GRANT + 1, 1000);
	all &= fuzz_show("actions", actions + 1, PCRP_RX_EXPIRED, 1000);
	all &= fuzz_show("results", results, PCRP_GRANT_REFUSED + 1, 1000);
	all &= fuzz_show("sent", &sent, 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 56, .rng = &rng, .inputs = 20000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
