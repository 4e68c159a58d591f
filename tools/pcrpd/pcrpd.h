/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What both roles of pcrpd share: sockets, waiting, what was refused, the status file
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
 * struct service - a role at work; its own data is around it
 * @socket: UDP, nonblocking
 * @period_ms: time between ticks
 * @tick: called when periods are over, and how many; one is the rule
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
 * serve() - work until SIGTERM or SIGINT
 * @service: what there is to do
 * @first_ms: time to the first tick
 */
void serve(struct service *service, int64_t first_ms);

/* From the kernel; not 0 */
uint64_t random_number(void);

/**
 * struct refused - datagrams that were none of ours
 * @by_verdict: MALFORMED, VERSION, FORGED
 * @replayed: genuine, but not new
 */
struct refused {
	uint64_t by_verdict[FORGED + 1];
	uint64_t replayed;
};

/**
 * say_seldom() - tell the log about what may happen often
 * @count: of its kind, this one included; said if it is a power of two
 * @from: whose datagram it was
 * @length: of @from
 * @what: that it is
 */
void say_seldom(uint64_t count, const struct sockaddr_storage *from, socklen_t length,
		const char *what);

/**
 * genuine() - count and tell what is not genuine
 * @refused: counters
 * @verdict: about a datagram
 * @from: whose it is
 * @length: of @from
 *
 * Return: is it?
 */
bool genuine(struct refused *refused, enum verdict verdict, const struct sockaddr_storage *from,
	     socklen_t length);

/* For the status file */
void status_number(struct json_object *object, const char *name, uint64_t number);
void status_text(struct json_object *object, const char *name, const char *text);
void status_refused(struct json_object *object, const struct refused *refused);
/* @thresholds: NULL if there are none */
void status_thresholds(struct json_object *object, const uint64_t *thresholds);

/**
 * status_write() - replace the file at once, so that who reads it finds a whole one
 * @path: of the file, or NULL: nothing is done
 * @object: its content; freed
 */
void status_write(const char *path, struct json_object *object);

/* The roles, until they are told to end */
void agent_run(const struct config *config, struct key *key);
void aggregator_run(const struct config *config, struct key *key);

#endif /* _PCRPD_H */
