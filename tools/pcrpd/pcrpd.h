/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by both roles of pcrpd: event loop, refused datagrams, status file
 */
#ifndef _PCRPD_H
#define _PCRPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <json-c/json.h>

#include "config.h"
#include "message.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/**
 * struct service - event loop of a role, embedded in the role's data
 * @socket: UDP, nonblocking
 * @period_ms: interval of ticks
 * @tick: called with the number of periods that have ended, more than 1 if late
 * @take: called for each datagram
 */
struct service {
	int socket;
	int64_t period_ms;
	void (*tick)(struct service *service, uint64_t periods);
	void (*take)(struct service *service, const uint8_t *datagram, size_t length,
		     const struct sockaddr_storage *from, socklen_t from_length);
};

/**
 * serve() - run until SIGTERM or SIGINT
 * @service: the role's callbacks
 * @first_ms: time to the first tick
 */
void serve(struct service *service, int64_t first_ms);

/* Return: random number from the kernel, not 0 */
uint64_t random_number(void);

/**
 * struct refused - counters of refused datagrams
 * @by_verdict: MALFORMED, VERSION, FORGED
 * @replayed: genuine, but not new
 */
struct refused {
	uint64_t by_verdict[FORGED + 1];
	uint64_t replayed;
};

/**
 * log_rarely() - log a frequent event, at counts that are powers of two
 * @count: number of such events, this one included
 * @from: sender of the datagram
 * @length: length of @from
 * @what: description of the datagram
 */
void log_rarely(uint64_t count, const struct sockaddr_storage *from, socklen_t length,
		const char *what);

/**
 * genuine() - count and log a datagram that is not genuine
 * @refused: counters
 * @verdict: result of message_read()
 * @from: sender of the datagram
 * @length: length of @from
 *
 * Return: true if GENUINE
 */
bool genuine(struct refused *refused, enum verdict verdict, const struct sockaddr_storage *from,
	     socklen_t length);

/* Add members to the status object. */
void status_number(struct json_object *object, const char *name, uint64_t number);
void status_text(struct json_object *object, const char *name, const char *text);
void status_refused(struct json_object *object, const struct refused *refused);
/* @thresholds: NULL if not known */
void status_thresholds(struct json_object *object, const uint64_t *thresholds);

/**
 * status_write() - replace the status file atomically
 * @path: path of the file; NULL: do not write
 * @object: content; freed by this function
 */
void status_write(const char *path, struct json_object *object);

/* Run a role until SIGTERM or SIGINT. */
void agent_run(const struct config *config, struct key *key);
void aggregator_run(const struct config *config, struct key *key);

#endif /* _PCRPD_H */
