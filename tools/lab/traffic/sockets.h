/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets and addresses of hosts
 */
#ifndef _TRAFFIC_SOCKETS_H
#define _TRAFFIC_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "topology.h"

/* Enter the host's network namespace, for sockets made later. */
void enter_host(const struct host *host);

/* setsockopt() of an int; an error ends the program. @name: the option, for the message */
void set_option(int fd, int level, int option, int value, const char *name);

/* bind() to the host's address; an error ends the program. @port: 0: connect() chooses it */
void bind_to(int fd, const struct host *host, uint16_t port);

/* Return: SO_ERROR as 0 or a negative errno; reading clears it */
int pending_error(int fd);

socklen_t address_length(const union address *a);

/* Return: the host's address with @port, which is in host byte order */
union address address_with_port(const struct host *host, uint16_t port);

/* Are the addresses equal, whatever their ports? */
bool address_same_host(const union address *a, const union address *b);

#endif /* _TRAFFIC_SOCKETS_H */
