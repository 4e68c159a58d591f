/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol of agents and aggregator: one message per UDP datagram
 *
 * Numbers are big-endian. Header of each message:
 *
 *	 0	u8	version, 1
 *	 1	u8	type: 1 REPORT, 2 ANSWER
 *	 2	u16	flags: 1: the ANSWER has thresholds
 *	 4	u32	REPORT: interval of reports in ms, 50 to 3600000; ANSWER: 0
 *	 8	u64	agent: random number, new at each start of the agent; not 0
 *	16	u64	nonce that the aggregator assigned to the agent; 0: not assigned
 *	24	u64	REPORT: number, ascending from 1; ANSWER: number of the REPORT
 *
 * REPORT, 400 bytes, from an agent:
 *
 *	32	u64[42]	flows that ended since the module was loaded, by size class
 *
 * ANSWER, 96 bytes, from the aggregator:
 *
 *	32	u64[3]	thresholds, strictly ascending, 1 to 2^40; 0: no thresholds
 *	56	u64	number of flows that the thresholds are derived from
 *
 * Both end with 32 bytes: HMAC-SHA256 of the preceding bytes.
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
 * struct message - a message in host byte order
 * @type: enum message_type
 * @agent: see above
 * @nonce: see above
 * @number: see above
 * @period_ms: REPORT: interval of reports
 * @sizes: REPORT: flows by size class
 * @known: ANSWER: it has thresholds
 * @thresholds: ANSWER: see above
 * @flows: ANSWER: see above
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
 * enum verdict - result of checking a datagram
 * @GENUINE: valid
 * @MALFORMED: wrong length, type, flags or values
 * @VERSION: unknown version
 * @FORGED: the HMAC does not match this key
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
 * message_write() - write a datagram
 * @m: message
 * @key: key of the HMAC; unchanged after the call
 * @to: result, MESSAGE_MAX bytes
 *
 * Return: length of the datagram
 */
size_t message_write(const struct message *m, struct key *key, uint8_t *to);

/**
 * message_read() - check and parse a datagram
 * @from: datagram
 * @length: length of @from
 * @type: expected type
 * @key: key of the HMAC; unchanged after the call
 * @m: result, if GENUINE
 *
 * Return: enum verdict
 */
enum verdict message_read(const uint8_t *from, size_t length, enum message_type type,
			  struct key *key, struct message *m);

#endif /* _PCRPD_MESSAGE_H */
