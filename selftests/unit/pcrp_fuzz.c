// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for PCRP's cores: any control packets, between any data
 *
 * An input is a number of records of RECORD bytes: what happens, a number, and a
 * datagram. What is a control packet is the same when written again, and goes to
 * the receiver's core, which is checked after each step (rcv_check()), or if it is a
 * GRANT to the sender's, which no GRANT may make send more than two chains.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "../../sch/pcrp/pcrp_sender.h"
#include "fuzz_main.h"
#include "pcrp_rcv_common.h"

#define TUPLES		(RCV_FLOWS + 16)	/* more than there is room for */
#define SLOTS		8
#define CHAIN		1000
#define RECORD		(4 + PCRP_WIRE_LEN)
#define RECORDS		60

/* What happens, modulo their number */
enum event {
	CONTROL,	/* the datagram comes; number: odd: it is shorter */
	GENUINE,	/* the same, but a GRANT is for a flow that is there */
	DATA,		/* number: bytes; datagram: sequence number */
	LATER,		/* number: how much, 10 us */
	QUEUE,		/* number: bytes */
	SEND,		/* what is due or ready */
	CHANGE,		/* number: places */
	EVENTS,
};

/* how often the target came by */
static unsigned long types[PCRP_GRANT + 1], outs[PCRP_RCV_EXPIRED + 1], refused;
static unsigned long verdicts[PCRP_GRANT_REFUSED + 1], sent;

static struct rcv t;
static u32 idx_of[TUPLES];
static struct pcrp_sender snd;
static struct pcrp_flow flow[SLOTS + PCRP_SND_LISTS];
static struct heap_node node[PCRP_SND_HEAPS * SLOTS];
static u32 place[PCRP_SND_HEAPS * SLOTS];
static u32 bytes_of[SLOTS];	/* each packet's, of a slot */

static const struct pcrp_params params = {
	.chain_bytes = CHAIN, .first_bytes = CHAIN, .mfwt_ns = 100000,
	.hold_ns = 1000000, .spec_bytes = { 1, 2, 3 }, .probe_ns = 50000,
	.eu = true, .srpt = true,
};

static void ended(void)
{
	u32 i, j;

	for (i = 0; i < t.out_count; i++) {
		outs[t.outs[i].out]++;
		if (t.outs[i].out <= PCRP_RCV_GRANT)
			continue;
		for (j = 0; idx_of[j] != t.outs[i].idx; j++)
			assert(j + 1 < TUPLES);
		idx_of[j] = PCRP_RCV_NONE;
	}
}

static void take_grant(const struct pcrp_msg *m, bool genuine)
{
	struct pcrp_grant g = {
		.granted = m->offset, .slot = m->slot, .flow_no = m->flow_no,
		.ask = m->ask, .prio = m->prio,
	};
	const struct pcrp_flow *f;
	u64 before = 0, rtt_ns;

	if (genuine) {
		g.slot %= SLOTS;
		g.flow_no = flow[g.slot].flow_no;
	}
	f = &flow[g.slot % SLOTS];
	before = f->granted;
	verdicts[pcrp_snd_grant(&snd, &params, &g, t.now_ns, &rtt_ns)]++;
	assert(f->granted == before || f->granted <= f->sent + 2 * CHAIN);
	assert(rtt_ns <= t.now_ns);
}

static void control(const u8 *b, u32 len, bool genuine)
{
	struct pcrp_msg m, answer;
	u8 *copy = malloc(len);
	struct pcrp_wire w;
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
	pcrp_msg_write(&m, &w);
	assert(!memcmp(&w, copy, sizeof(w)));
	free(copy);
	if (m.type == PCRP_GRANT) {
		take_grant(&m, genuine);
		return;
	}
	idx = &idx_of[m.sport % TUPLES];
	t.source = m.sport % RCV_SOURCES;
	*idx = rcv_ask(&t, *idx, &m);
	if (*idx == PCRP_RCV_NONE) {
		refused++;
		pcrp_rcv_refuse(&m, &answer);
		assert(pcrp_msg_valid(&answer));
	}
	ended();
}

static void came(const u8 *b, u32 number)
{
	u32 idx = idx_of[b[0] % TUPLES];

	if (idx == PCRP_RCV_NONE)
		return;
	rcv_data(&t, idx, number, (u32)closnet_get(b + 1, 4));
	ended();
}

static void queue(u32 slot, u32 number)
{
	if (pcrp_snd_starts(&snd, slot))
		bytes_of[slot] = number + 1;
	pcrp_snd_queued(&snd, &params, slot, bytes_of[slot], 0, PCRP_GATE_GRANT, t.now_ns);
}

static void send_next(void)
{
	enum pcrp_action action;
	u32 slot;

	action = pcrp_snd_pick(&snd, &params, t.now_ns, &slot);
	if (action == PCRP_ACTION_DATA)
		pcrp_snd_sent(&snd, &params, slot, bytes_of[slot], 0, t.now_ns, t.now_ns);
	else if (action != PCRP_ACTION_SLEEP)
		pcrp_snd_asked(&snd, &params, slot, action, t.now_ns);
	sent += action == PCRP_ACTION_DATA;
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
		return came(b, number);
	case LATER:
		t.now_ns += number * 10000ULL;
		rcv_expire(&t);
		return ended();
	case QUEUE:
		return queue(record[3] % SLOTS, number);
	case SEND:
		return send_next();
	default:
		t.p.grants = 1 + number % PCRP_GRANTS_MAX;
		t.p.evict = record[3] & 1;
		rcv_expire(&t);
		ended();
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 i;

	rcv_init(&t, CHAIN, 4);
	snd = (struct pcrp_sender) {};
	pcrp_snd_init(&snd, flow, node, place, SLOTS, 0);
	for (i = 0; i < TUPLES; i++)
		idx_of[i] = PCRP_RCV_NONE;
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		step(data);
	/* whatever it was, it ends */
	t.now_ns += PCRP_RCV_KEEP_NS;
	rcv_expire(&t);
	ended();
	assert(!t.r.used);
	return 0;
}

static struct rng rng;

static void make_msg(struct pcrp_wire *w)
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
		m.ask = rng_in(&rng, 1, 9);
		m.first_bytes = (u32)rng_log(&rng, 1, 2 * CHAIN);
		m.chain_bytes = (u32)rng_log(&rng, 1, 2 * CHAIN);
	}
	pcrp_msg_write(&m, w);
}

/* Messages as they could be, most of them; then some bytes differ. */
static size_t make_input(u8 *input)
{
	struct pcrp_wire w;
	u8 *record;
	u32 i, n;

	for (i = 0; i < RECORDS; i++) {
		record = input + i * RECORD;
		make_msg(&w);
		memcpy(record + 4, &w, sizeof(w));
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
	all &= fuzz_show("outs", outs + 1, PCRP_RCV_EXPIRED, 1000);
	all &= fuzz_show("verdicts", verdicts, PCRP_GRANT_REFUSED + 1, 1000);
	all &= fuzz_show("sent", &sent, 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 56, .rng = &rng, .inputs = 20000, .seeds = 50,
	.input_max = RECORDS * RECORD, .make = make_input, .reached = reached,
};
