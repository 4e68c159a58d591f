/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration file and key of pcrpd
 */
#ifndef _PCRPD_CONFIG_H
#define _PCRPD_CONFIG_H

#include <stdint.h>
#include <sys/socket.h>

#include "message.h"

/* Bits, because a setting can apply to both roles */
enum role {
	AGENT = 1,
	AGGREGATOR = 2,
};

/**
 * struct config - settings
 * @address: agent: address of the aggregator; aggregator: address to listen on
 * @port: UDP port
 * @period_ms: agent: interval of reports; aggregator: length of a histogram's period
 * @periods: aggregator: number of periods that the thresholds are derived from
 * @agents: aggregator: maximum number of agents
 * @status: path of the status file, or NULL
 * @socket_address: @address and @port
 * @socket_length: length of @socket_address
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
 * Both functions print an error and end the program with status 2 if the file is
 * invalid.
 */
void config_read(struct config *c, const char *path, enum role role);

/* The file has 64 hexadecimal digits; only its owner may have access. */
void key_read(struct key *key, const char *path);

#endif /* _PCRPD_CONFIG_H */
