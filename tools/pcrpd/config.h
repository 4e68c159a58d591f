/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pcrpd is told: its configuration and its key
 */
#ifndef _PCRPD_CONFIG_H
#define _PCRPD_CONFIG_H

#include <stdint.h>
#include <sys/socket.h>

#include "message.h"

/* A bit each: a setting can be for both. */
enum role {
	AGENT = 1,
	AGGREGATOR = 2,
};

/**
 * struct config - settings
 * @address: the aggregator's, or where it listens
 * @port: of UDP
 * @period_ms: from a report to the next; of the aggregator's histograms
 * @periods: whose flows make the thresholds (aggregator)
 * @agents: most of them (aggregator)
 * @status: file that tells how things are, or NULL
 * @socket_address: @address and @port
 * @socket_length: of @socket_address
 */
struct config {
	const char *address;
	int64_t port;
	int64_t period_ms;
	int64_t periods;
	int64_t agents;
	const char *status;
	struct sockaddr_storage socket_address;
	socklen_t socket_length;
};

/*
 * Both say what is wrong and end the program with status 2 if anything is.
 */
void config_read(struct config *c, const char *path, enum role role);

/* 64 hexadecimal digits, in a file that others cannot read or change */
void key_read(struct key *key, const char *path);

#endif /* _PCRPD_CONFIG_H */
