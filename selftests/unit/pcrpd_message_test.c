// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/pcrpd: message format, table of agents
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pcrpd/agents.h"
#include "pcrpd/histogram.h"
#include "pcrpd/message.h"
#include "rng.h"

#define DIGEST		SHA256_DIGEST_SIZE
#define PERIOD_MS	10000

static struct key key, other_key;
static uint8_t datagram[MESSAGE_MAX];
static struct message got;

static int set_keys(void **state)
{
	uint8_t bytes[KEY_BYTES] = { 1, 2, 3 };

	(void)state;
	key_set(&key, bytes);
	bytes[KEY_BYTES - 1] = 1;
	key_set(&other_key, bytes);
	return 0;
}

static struct message a_report(void)
{
	struct message m = { .type = MESSAGE_REPORT, .agent = 0x1122334455667788,
			     .nonce = 0x99aabbccddeeff00, .number = 7,
			     .period_ms = PERIOD_MS };
	int i;

	for (i = 0; i < PCRP_SIZE_CLASSES; i++)
		m.sizes[i] = 1000 + i;
	return m;
}

static struct message an_answer(void)
{
	return (struct message) { .type = MESSAGE_ANSWER, .agent = 5, .nonce = 6, .number = 7,
				  .known = true, .thresholds = { 1, 2, PCRP_THRESHOLD_MAX },
				  .flows = 64 };
}

static enum verdict reread(const struct message *m)
{
	return message_read(datagram, message_write(m, &key, datagram), m->type, &key, &got);
}

/* Replace the HMAC by a valid one. */
static void resign(size_t length)
{
	hmac_sha256_update(&key.hmac, length - DIGEST, datagram);
	hmac_sha256_digest(&key.hmac, DIGEST, datagram + length - DIGEST);
}

/* ---- format */

static void test_format(void **state)
{
	static const uint8_t head[MESSAGE_HEAD + 8] = {
		1, 1, 0, 0, 0, 0, 0x27, 0x10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 7,
		0, 0, 0, 0, 0, 0, 0x03, 0xe8,
	};
	/* the digest below was computed by Python's hmac and hashlib */
	static const uint8_t body[] = {
		1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5,
		0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7,
		0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
		0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64,
	};
	static const uint8_t digest[DIGEST] = {
		0x34, 0x60, 0xac, 0x11, 0x87, 0x41, 0xbe, 0x4f, 0x66, 0x52, 0x55, 0x3d,
		0xc5, 0xce, 0xc3, 0x57, 0xff, 0x55, 0x7d, 0x6e, 0x6f, 0xc6, 0x27, 0x53,
		0x7d, 0xff, 0x38, 0x52, 0xb8, 0x32, 0xef, 0xc5,
	};
	struct message m = a_report();

	(void)state;
	assert_int_equal(message_write(&m, &key, datagram), 400);
	assert_memory_equal(datagram, head, sizeof(head));
	m = an_answer();
	assert_int_equal(message_write(&m, &key, datagram), 96);
	assert_memory_equal(datagram, body, sizeof(body));
	assert_memory_equal(datagram + sizeof(body), digest, DIGEST);
}

static void test_round_trip(void **state)
{
	struct message m = a_report();

	(void)state;
	assert_int_equal(reread(&m), GENUINE);
	assert_memory_equal(&got, &m, sizeof(m));
	m = an_answer();
	assert_int_equal(reread(&m), GENUINE);
	assert_memory_equal(&got, &m, sizeof(m));
	m.known = false;
	memset(m.thresholds, 0, sizeof(m.thresholds));
	assert_int_equal(reread(&m), GENUINE);
	assert_memory_equal(&got, &m, sizeof(m));
}

static void test_lengths(void **state)
{
	struct message m = a_report();
	uint8_t *exact;
	size_t length;

	(void)state;
	message_write(&m, &key, datagram);
	for (length = 0; length < MESSAGE_REPORT_BYTES; length++) {
		exact = malloc(length + 1);
		memcpy(exact, datagram, length);
		assert_int_equal(message_read(exact, length, MESSAGE_REPORT, &key, &got),
				 MALFORMED);
		free(exact);
	}
	exact = calloc(1, MESSAGE_MAX + 1);
	memcpy(exact, datagram, MESSAGE_REPORT_BYTES);
	assert_int_equal(message_read(exact, MESSAGE_MAX + 1, MESSAGE_REPORT, &key, &got),
			 MALFORMED);
	free(exact);
}

static void test_every_bit(void **state)
{
	struct message m = a_report();
	size_t length, i;

	(void)state;
	length = message_write(&m, &key, datagram);
	for (i = 0; i < 8 * length; i++) {
		datagram[i / 8] ^= 1 << i % 8;
		assert_int_equal(message_read(datagram, length, MESSAGE_REPORT, &key, &got),
				 i < 8 ? VERSION : i < 16 ? MALFORMED : FORGED);
		datagram[i / 8] ^= 1 << i % 8;
	}
	assert_int_equal(message_read(datagram, length, MESSAGE_REPORT, &key, &got), GENUINE);
	assert_int_equal(message_read(datagram, length, MESSAGE_REPORT, &other_key, &got), FORGED);
}

/* Invalid values and unknown versions are refused even with a valid HMAC. */
static void test_bad_values(void **state)
{
	static const uint64_t wrong[][PCRP_THRESHOLDS] = {
		{ 0, 1, 2 }, { 1, 1, 2 }, { 1, 2, 2 }, { 3, 2, 4 }, { 1, 3, 2 }, {},
		{ 1, 2, PCRP_THRESHOLD_MAX + 1 }, { UINT64_MAX, UINT64_MAX, UINT64_MAX },
	};
	static const uint32_t periods[] = {
		0, PERIOD_MIN_MS - 1, PERIOD_MIN_MS, PERIOD_MAX_MS, PERIOD_MAX_MS + 1, UINT32_MAX,
	};
	struct message m = an_answer();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(m.thresholds, wrong[i], sizeof(wrong[i]));
		assert_int_equal(reread(&m), MALFORMED);
	}
	m = an_answer();
	m.nonce = 0;
	assert_int_equal(reread(&m), MALFORMED);
	m = a_report();
	m.agent = 0;
	assert_int_equal(reread(&m), MALFORMED);
	m = a_report();
	m.number = 0;
	assert_int_equal(reread(&m), MALFORMED);
	/* the nonce of a first report */
	m = a_report();
	m.nonce = 0;
	assert_int_equal(reread(&m), GENUINE);
	/* flags */
	for (i = 2; i < 4; i++) {
		message_write(&m, &key, datagram);
		datagram[i] = 1;
		resign(MESSAGE_REPORT_BYTES);
		assert_int_equal(message_read(datagram, MESSAGE_REPORT_BYTES, MESSAGE_REPORT, &key,
					      &got), MALFORMED);
	}
	/* periods */
	for (i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		m.period_ms = periods[i];
		assert_int_equal(reread(&m), periods[i] == PERIOD_MIN_MS ||
				 periods[i] == PERIOD_MAX_MS ? GENUINE : MALFORMED);
	}
	/* an answer's flags and reserved bytes */
	m = an_answer();
	for (i = 2; i < 8; i++) {
		message_write(&m, &key, datagram);
		datagram[i] ^= 2;
		resign(MESSAGE_ANSWER_BYTES);
		assert_int_equal(message_read(datagram, MESSAGE_ANSWER_BYTES, MESSAGE_ANSWER, &key,
					      &got), MALFORMED);
	}
	/* thresholds without their flag */
	m = an_answer();
	message_write(&m, &key, datagram);
	datagram[3] = 0;
	resign(MESSAGE_ANSWER_BYTES);
	assert_int_equal(message_read(datagram, MESSAGE_ANSWER_BYTES, MESSAGE_ANSWER, &key, &got),
			 MALFORMED);
}

static void test_reflected(void **state)
{
	struct message m = an_answer();
	size_t length = message_write(&m, &key, datagram);

	(void)state;
	assert_int_equal(message_read(datagram, length, MESSAGE_REPORT, &key, &got), MALFORMED);
	m = a_report();
	length = message_write(&m, &key, datagram);
	assert_int_equal(message_read(datagram, length, MESSAGE_ANSWER, &key, &got), MALFORMED);
}

/* ---- table of agents */

static struct agents agents;
static uint64_t nonce, flows[PCRP_SIZE_CLASSES], last_random;
static uint32_t its_period_ms = PERIOD_MS;

/* A report of @total flows, all in class 10 */
static enum report report(uint64_t id, uint64_t its_nonce, uint64_t number, uint64_t total,
			  uint64_t period)
{
	struct message m = { .type = MESSAGE_REPORT, .agent = id, .nonce = its_nonce,
			     .number = number, .period_ms = its_period_ms,
			     .sizes = { [10] = total } };

	return agents_report(&agents, &m, period, ++last_random, &nonce, flows);
}

/* Bring agent @id into state COUNTED. Return: its nonce */
static uint64_t join(uint64_t id, uint64_t total, uint64_t period)
{
	assert_int_equal(report(id, 0, 1, total, period), GREETED);
	assert_int_equal(flows[10], 0);
	assert_int_equal(report(id, nonce, 2, total, period), COUNTED);
	assert_int_equal(flows[10], 0);
	return nonce;
}

static void test_counting(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(agents_init(&agents, 4, PERIOD_MS));
	n = join(77, 1000, 0);
	assert_int_equal(report(77, n, 3, 1005, 1), COUNTED);
	assert_int_equal(flows[10], 5);
	/* the next report includes the flows of lost reports */
	assert_int_equal(report(77, n, 9, 1025, 2), COUNTED);
	assert_int_equal(flows[10], 20);
	/* duplicate and reordered reports */
	assert_int_equal(report(77, n, 9, 1025, 2), REPLAYED);
	assert_int_equal(report(77, n, 8, 1020, 2), REPLAYED);
	assert_int_equal(flows[10], 0);
	/* the module was reloaded: counting restarts */
	assert_int_equal(report(77, n, 10, 3, 3), COUNTED);
	assert_int_equal(flows[10], 0);
	assert_int_equal(report(77, n, 11, 4, 3), COUNTED);
	assert_int_equal(flows[10], 1);
	assert_int_equal(agents.count, 1);
	agents_free(&agents);
}

static void test_restarts(void **state)
{
	uint64_t old;

	(void)state;
	assert_true(agents_init(&agents, 4, PERIOD_MS));
	old = join(77, 1000, 0);
	agents_free(&agents);
	/* after a restart of the aggregator: old reports do not count */
	assert_true(agents_init(&agents, 4, PERIOD_MS));
	assert_int_equal(report(77, old, 3, 1005, 0), GREETED);
	assert_int_equal(report(77, old, 4, 1010, 0), GREETED);
	/* new reports of the agent count */
	assert_int_equal(report(77, nonce, 9, 2000, 0), COUNTED);
	assert_int_equal(flows[10], 0);
	assert_int_equal(report(77, nonce, 10, 2001, 0), COUNTED);
	assert_int_equal(flows[10], 1);
	/* after a restart of the agent: it has a new id; the old one expires */
	join(78, 2001, 1);
	agents_expire(&agents, SILENT_PERIODS);
	assert_int_equal(agents.count, 2);
	agents_expire(&agents, SILENT_PERIODS + 1);
	assert_int_equal(agents.count, 1);
	agents_free(&agents);
}

/* An agent with long periods expires after ten of its own periods. */
static void test_seldom(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(agents_init(&agents, 4, PERIOD_MS));
	its_period_ms = 60 * PERIOD_MS + 1;
	n = join(77, 1000, 0);
	its_period_ms = PERIOD_MIN_MS;
	join(78, 0, 0);
	its_period_ms = PERIOD_MS;
	agents_expire(&agents, SILENT_PERIODS);
	assert_int_equal(agents.count, 2);
	agents_expire(&agents, 61 * SILENT_PERIODS);
	assert_int_equal(agents.count, 1);
	assert_int_equal(report(77, n, 3, 1005, 61), COUNTED);
	assert_int_equal(flows[10], 5);
	agents_expire(&agents, 61 + 61 * SILENT_PERIODS);
	assert_int_equal(agents.count, 1);
	agents_expire(&agents, 62 + 61 * SILENT_PERIODS);
	assert_int_equal(agents.count, 0);
	agents_free(&agents);
}

/* Replay all reports of an agent, before and after it expires. */
static void test_replay(void **state)
{
	uint64_t n, number;

	(void)state;
	assert_true(agents_init(&agents, 4, PERIOD_MS));
	n = join(77, 1000, 0);
	for (number = 3; number < 100; number++)
		assert_int_equal(report(77, n, number, 1000 + number, 1), COUNTED);
	assert_int_equal(report(77, 0, 1, 1000, 1), GREETED);
	for (number = 2; number < 100; number++)
		assert_int_equal(report(77, n, number, 1000 + number, 5), REPLAYED);
	/* replays do not keep it in the table */
	agents_expire(&agents, SILENT_PERIODS + 2);
	assert_int_equal(agents.count, 0);
	for (number = 2; number < 100; number++)
		assert_int_equal(report(77, n, number, 1000 + number, 20), GREETED);
	agents_free(&agents);
}

static void test_room(void **state)
{
	uint64_t id, n;

	(void)state;
	assert_true(agents_init(&agents, 3, PERIOD_MS));
	n = join(8, 0, 0);
	join(16, 0, 0);
	/* an agent that was only greeted is replaced */
	for (id = 100; id < 1000; id++)
		assert_int_equal(report(id, 0, 1, 0, id), GREETED);
	join(24, 0, 1000);
	assert_int_equal(agents.count, 3);
	/* a counted agent is not */
	for (id = 100; id < 1000; id++)
		assert_int_equal(report(id, 0, 1, 0, 1000), NO_ROOM);
	assert_int_equal(report(8, n, 3, 1, 1000), COUNTED);
	assert_int_equal(flows[10], 1);
	agents_expire(&agents, 1001);
	assert_int_equal(agents.count, 2);
	join(100, 0, 1001);
	agents_free(&agents);
}

/* Random operations against a reference array. */
#define IDS	64
#define ROOM	32

static void test_random(void **state)
{
	struct { uint64_t nonce, number, total, heard; } model[IDS + 1] = {};
	unsigned int i, count, counted = 0;
	uint64_t period = 0, more;
	struct rng rng;

	(void)state;
	assert_true(agents_init(&agents, ROOM, PERIOD_MS));
	rng_seed(&rng, 8);
	for (i = 0; i < 200000; i++) {
		u32 id = rng_in(&rng, 1, rng_percent(&rng, 90) ? 20 : IDS);

		if (rng_percent(&rng, 2)) {
			agents_expire(&agents, ++period);
			for (id = 1, count = 0; id <= IDS; id++) {
				if (period - model[id].heard > SILENT_PERIODS)
					model[id].nonce = 0;
				count += model[id].nonce && model[id].number;
			}
			assert_in_range(agents.count, count, ROOM);
			continue;
		}
		more = rng_in(&rng, 0, 100);
		switch (report(id, model[id].nonce, model[id].number + 1, model[id].total + more,
			       period)) {
		case GREETED:
			/* new, or replaced before it was counted */
			assert_true(!model[id].nonce || !model[id].number);
			model[id].number = 0;
			break;
		case COUNTED:
			assert_int_equal(flows[10], model[id].number ? more : 0);
			model[id].number++;
			model[id].total += more;
			counted++;
			break;
		default:
			assert_true(agents.count == ROOM);
			assert_true(!model[id].nonce || !model[id].number);
			continue;
		}
		model[id].nonce = nonce;
		model[id].heard = period;
	}
	assert_true(counted > 50000);
	agents_free(&agents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_reflected),
		cmocka_unit_test(test_counting),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, set_keys, NULL);
}
