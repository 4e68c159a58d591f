/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What agents and aggregator say to each other: UDP, one datagram a message
 *
 * Numbers are big-endian. Any message:
 *
 *	 0	u8	version, 1
 *	 1	u8	type: 1 REPORT, 2 ANSWER
 *	 2	u16	flags: 1 (ANSWER) has thresholds
 *	 4	u32	REPORT: ms from one to the next, 50 to 3600000; ANSWER: 0
 *	 8	u64	agent: a random number, new with each start of it; not 0
 *	16	u64	nonce: what the aggregator gave that agent, 0 before
 *	24	u64	number of the report, ascending from 1; an ANSWER has that of
 *			the report that it answers
 *
 * REPORT, 400 bytes, from an agent:
 *
 *	32	u64[42]	flows that ended since the module was loaded, by class of size
 *
 * ANSWER, 96 bytes, from the aggregator:
 *
 *	32	u64[3]	thresholds, strictly ascending, 1 to 2^40; else 0
 *	56	u64	flows that they were made of
 *
 * At the end of both: 32 bytes, HMAC-SHA256 of all that is before.
 */
#ifndef _PCRPD_MESSAGE_H
#define _PCRPD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pcrp.h>
#include <nettle/hmac.h>

#define PCRPD_PORT		61201
#define PERIOD_MIN_MS		50
#define PERIOD_MAX_MS		3600000

#define MESSAGE_VERSION		1
#define KEY_BYTES		32
#define MESSAGE_HEAD		32
#define MESSAGE_REPORT_BYTES	(MESSAGE_HEAD + 8 * PCRP_SIZE_CLASSES + SHA256_DIGEST_SIZE)
#define MESSAGE_ANSWER_BYTES	(MESSAGE_HEAD + 8 * (PCRP_THRESHOLDS + 1) + SHA256_DIGEST_SIZE)
#define MESSAGE_MAX		MESSAGE_REPORT_BYTES

enum message_type {
	MESSAGE_REPORT = 1,
	MESSAGE_ANSWER = 2,
};

/**
 * struct message - one of them, in the host's numbers
 * @type: enum message_type
 * @agent: see above
 * @nonce: see above
 * @number: see above
 * @period_ms: of a REPORT
 * @sizes: of a REPORT
 * @known: of an ANSWER: are there thresholds?
 * @thresholds: of an ANSWER
 * @flows: of an ANSWER
 */
struct message {
	enum message_type type;
	uint64_t agent;
	uint64_t nonce;
	uint64_t number;
	uint32_t period_ms;
	uint64_t sizes[PCRP_SIZE_CLASSES];
	bool known;
	uint64_t thresholds[PCRP_THRESHOLDS];
	uint64_t flows;
};

/**
 * enum verdict - about a datagram
 * @GENUINE: all is right
 * @MALFORMED: wrong length, type, flags or values
 * @VERSION: of another version
 * @FORGED: not made with this key, or changed on the way
 */
enum verdict {
	GENUINE,
	MALFORMED,
	VERSION,
	FORGED,
};

struct key {
	struct hmac_sha256_ctx hmac;
};

void key_set(struct key *key, const uint8_t bytes[KEY_BYTES]);

/**
 * message_write() - make a datagram
 * @m: message
 * @key: for its authentication; unchanged after the call
 * @to: datagram, room for MESSAGE_MAX bytes
 *
 * Return: its length
 */
size_t message_write(const struct message *m, struct key *key, uint8_t *to);

/**
 * message_read() - check a datagram, and take it apart
 * @from: datagram
 * @length: of it
 * @type: that is expected
 * @key: for its authentication; unchanged after the call
 * @m: filled if it is GENUINE
 *
 * Return: what it is
 */
enum verdict message_read(const uint8_t *from, size_t length, enum message_type type,
			  struct key *key, struct message *m);

#endif /* _PCRPD_MESSAGE_H */
