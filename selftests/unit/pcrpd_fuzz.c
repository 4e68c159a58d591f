// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target for tools/pcrpd: datagrams to an aggregator or an agent
 *
 * An input is a list of datagrams, each preceded by two bytes: FUZZ_* and the
 * length in units of 4 bytes. Invariant: writing a parsed message gives the same
 * datagram.
 */
#include <assert.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"
#include "pcrpd/agents.h"
#include "pcrpd/histogram.h"
#include "pcrpd/message.h"

#define FUZZ_SIGN	0x01	/* insert a valid HMAC, to get beyond its check */
#define FUZZ_AGENT	0x02	/* for an agent */
#define FUZZ_ODD	0x0c	/* bytes to add to the length */
#define FUZZ_NONCE	0x10	/* insert the nonce that was assigned last */
#define FUZZ_TURN	0x20	/* end a period first */

#define DIGEST	SHA256_DIGEST_SIZE

static struct key key;
/* coverage counters */
static unsigned long verdicts[FORGED + 1], reports[NO_ROOM + 1], answers;

struct aggregator {
	struct agents agents;
	struct window window;
	uint64_t period;
	uint64_t nonce;
};

static void sign(uint8_t *datagram, size_t length)
{
	hmac_sha256_update(&key.hmac, length - DIGEST, datagram);
	hmac_sha256_digest(&key.hmac, DIGEST, datagram + length - DIGEST);
}

static void count(struct aggregator *g, const struct message *m)
{
	uint64_t flows[PCRP_SIZE_CLASSES], t[PCRP_THRESHOLDS], total;
	enum report is;

	is = agents_report(&g->agents, m, g->period, 1000 + g->period, &g->nonce, flows);
	reports[is]++;
	if (is == COUNTED)
		window_add(&g->window, flows);
	window_thresholds(&g->window, t, &total);
	assert(t[0] >= 1 && t[0] < t[1] && t[1] < t[2] && t[2] <= PCRP_THRESHOLD_MAX);
	assert(g->agents.count <= g->agents.max);
}

static void take(struct aggregator *g, const uint8_t *datagram, size_t length, int how)
{
	enum message_type type = how & FUZZ_AGENT ? MESSAGE_ANSWER : MESSAGE_REPORT;
	uint8_t again[MESSAGE_MAX];
	struct message m;
	enum verdict verdict = message_read(datagram, length, type, &key, &m);

	verdicts[verdict]++;
	if (verdict != GENUINE)
		return;
	assert(message_write(&m, &key, again) == length);
	assert(!memcmp(again, datagram, length));
	if (type == MESSAGE_REPORT)
		count(g, &m);
	else
		answers++;
}

/* A copy in its own allocation, so that ASan detects reads beyond the end */
static void deliver(struct aggregator *g, const uint8_t *bytes, size_t length, int how)
{
	uint8_t *datagram = malloc(length + 1);
	int i;

	if (!datagram)
		err(2, "malloc");
	memcpy(datagram + 1, bytes, length);
	for (i = 0; i < 8 && (how & FUZZ_NONCE) && length >= MESSAGE_HEAD; i++)
		datagram[1 + 16 + i] = (uint8_t)(g->nonce >> (56 - 8 * i));
	if ((how & FUZZ_SIGN) && length >= DIGEST)
		sign(datagram + 1, length);
	if (how & FUZZ_TURN) {
		window_turn(&g->window, 1);
		agents_expire(&g->agents, ++g->period);
	}
	take(g, datagram + 1, length, how);
	free(datagram);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[KEY_BYTES] = "a key";
	struct aggregator g = {};
	size_t length;

	key_set(&key, bytes);
	if (!agents_init(&g.agents, 3, 1000) || !window_init(&g.window, 3))
		err(2, "malloc");
	while (size > 2) {
		length = 4 * (size_t)data[1] + (data[0] & FUZZ_ODD) / 4;
		if (length > size - 2)
			length = size - 2;
		deliver(&g, data + 2, length, data[0]);
		data += 2 + length;
		size -= 2 + length;
	}
	agents_free(&g.agents);
	window_free(&g.window);
	return 0;
}

#define DATAGRAMS_MAX	20
#define INPUT_MAX	(DATAGRAMS_MAX * (2 + MESSAGE_MAX))

static struct rng rng;

static uint64_t some_number(void)
{
	return rng_percent(&rng, 90) ? rng_in(&rng, 1, 6) : rng_log(&rng, 1, 1ULL << 62);
}

/* A valid message with some bytes changed or cut off */
static size_t make_datagram(uint8_t *to)
{
	struct message m = { .known = rng_percent(&rng, 50), .thresholds = { 10, 20, 30 } };
	uint32_t i, changes = rng_percent(&rng, 60) ? 0 : rng_in(&rng, 1, 3);
	size_t length;

	m.type = rng_percent(&rng, 70) ? MESSAGE_REPORT : MESSAGE_ANSWER;
	m.agent = some_number();
	m.nonce = some_number();
	m.number = some_number();
	m.period_ms = rng_in(&rng, PERIOD_MIN_MS, 5000);
	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		m.sizes[i] = some_number();
	length = message_write(&m, &key, to + 2);
	to[0] = m.type == MESSAGE_ANSWER ? FUZZ_AGENT : 0;
	if (rng_percent(&rng, 90))
		to[0] |= FUZZ_SIGN;
	if (rng_percent(&rng, 60))
		to[0] |= FUZZ_NONCE;
	if (rng_percent(&rng, 30))
		to[0] |= FUZZ_TURN;
	while (changes--)
		to[2 + rng_in(&rng, 0, MESSAGE_HEAD + 31)] ^= (uint8_t)(1U << rng_in(&rng, 0, 7));
	if (rng_percent(&rng, 5))
		length = 4 * rng_in(&rng, 0, (uint32_t)length / 4);
	to[1] = (uint8_t)(length / 4);
	return 2 + length;
}

static size_t make_input(uint8_t *input)
{
	uint32_t n = rng_in(&rng, 1, DATAGRAMS_MAX);
	size_t size = 0;

	while (n--)
		size += make_datagram(input + size);
	return size;
}

static bool reached(void)
{
	bool all = true;

	all &= fuzz_show("answers", &answers, 1, 1000);
	all &= fuzz_show("verdicts", verdicts, FORGED + 1, 1000);
	all &= fuzz_show("reports", reports, NO_ROOM + 1, 1000);
	return all;
}

const struct fuzz_target fuzz_target = {
	.seed = 61, .rng = &rng, .inputs = 20000, .seeds = 50,
	.input_max = INPUT_MAX, .make = make_input, .reached = reached,
};
