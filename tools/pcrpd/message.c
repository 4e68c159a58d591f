// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"
#include "message.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include <nettle/memops.h>

#define HAS_THRESHOLDS	1

/* Offsets in the header */
enum head {
	AT_AGENT = 8,
	AT_NONCE = 16,
	AT_NUMBER = 24,
};

static_assert(MESSAGE_REPORT_BYTES == 400 && MESSAGE_ANSWER_BYTES == 96, "format");

static void put(uint8_t *to, uint64_t number)
{
	number = htobe64(number);
	memcpy(to, &number, sizeof(number));
}

static uint64_t get(const uint8_t *from)
{
	uint64_t number;

	memcpy(&number, from, sizeof(number));
	return be64toh(number);
}

static void put_all(uint8_t *to, const uint64_t *numbers, int count)
{
	int i;

	for (i = 0; i < count; i++)
		put(to + 8 * i, numbers[i]);
}

static void get_all(const uint8_t *from, uint64_t *numbers, int count)
{
	int i;

	for (i = 0; i < count; i++)
		numbers[i] = get(from + 8 * i);
}

static size_t length_of(enum message_type type)
{
	return type == MESSAGE_REPORT ? MESSAGE_REPORT_BYTES : MESSAGE_ANSWER_BYTES;
}

void key_set(struct key *key, const uint8_t bytes[KEY_BYTES])
{
	hmac_sha256_set_key(&key->hmac, KEY_BYTES, bytes);
}

static void sign(struct key *key, const uint8_t *data, size_t length, uint8_t *digest)
{
	hmac_sha256_update(&key->hmac, length, data);
	hmac_sha256_digest(&key->hmac, SHA256_DIGEST_SIZE, digest);
}

size_t message_write(const struct message *m, struct key *key, uint8_t *to)
{
	size_t signed_bytes = length_of(m->type) - SHA256_DIGEST_SIZE;

	memset(to, 0, signed_bytes);
	/* the upper bytes stay 0 for version, type and flags */
	put(to, m->type == MESSAGE_REPORT ? m->period_ms : 0);
	to[0] = MESSAGE_VERSION;
	to[1] = m->type;
	put(to + AT_AGENT, m->agent);
	put(to + AT_NONCE, m->nonce);
	put(to + AT_NUMBER, m->number);
	if (m->type == MESSAGE_REPORT) {
		put_all(to + MESSAGE_HEAD, m->sizes, PCRP_SIZE_CLASSES);
	} else {
		if (m->known) {
			to[3] = HAS_THRESHOLDS;
			put_all(to + MESSAGE_HEAD, m->thresholds, PCRP_THRESHOLDS);
		}
		put(to + MESSAGE_HEAD + 8 * PCRP_THRESHOLDS, m->flows);
	}
	sign(key, to, signed_bytes, to + signed_bytes);
	return length_of(m->type);
}

static bool genuine(const uint8_t *from, size_t length, struct key *key)
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	length -= sizeof(digest);
	sign(key, from, length, digest);
	/* constant time */
	return memeql_sec(digest, from + length, sizeof(digest));
}

static bool fine_thresholds(const struct message *m)
{
	const uint64_t *t = m->thresholds;

	if (!m->known)
		return !t[0] && !t[1] && !t[2];
	return t[0] >= 1 && t[0] < t[1] && t[1] < t[2] && t[2] <= PCRP_THRESHOLD_MAX;
}

/* Check the flags and the period, which is 0 in an ANSWER. */
static bool fine_flags(const uint8_t *from, struct message *m)
{
	uint64_t first = get(from);
	uint16_t flags = first >> 32;

	m->period_ms = first;
	m->known = flags == HAS_THRESHOLDS;
	if (m->type == MESSAGE_REPORT)
		return !flags && m->period_ms >= PERIOD_MIN_MS && m->period_ms <= PERIOD_MAX_MS;
	return (!flags || m->known) && !m->period_ms;
}

static bool take_apart(const uint8_t *from, struct message *m)
{
	if (!fine_flags(from, m))
		return false;
	m->agent = get(from + AT_AGENT);
	m->nonce = get(from + AT_NONCE);
	m->number = get(from + AT_NUMBER);
	if (!m->agent || !m->number)
		return false;
	if (m->type == MESSAGE_REPORT) {
		get_all(from + MESSAGE_HEAD, m->sizes, PCRP_SIZE_CLASSES);
		return true;
	}
	get_all(from + MESSAGE_HEAD, m->thresholds, PCRP_THRESHOLDS);
	m->flows = get(from + MESSAGE_HEAD + 8 * PCRP_THRESHOLDS);
	return m->nonce && fine_thresholds(m);
}

enum verdict message_read(const uint8_t *from, size_t length, enum message_type type,
			  struct key *key, struct message *m)
{
	struct message read = { .type = type };

	if (!length)
		return MALFORMED;
	if (from[0] != MESSAGE_VERSION)
		return VERSION;
	if (length != length_of(type) || from[1] != type)
		return MALFORMED;
	if (!genuine(from, length, key))
		return FORGED;
	if (!take_apart(from, &read))
		return MALFORMED;
	*m = read;
	return GENUINE;
}
