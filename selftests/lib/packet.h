/* SPDX-License-Identifier: GPL-2.0-only */
/* Packet sockets in other network namespaces, for the tools of the kselftests */
#ifndef _SELFTESTS_PACKET_H
#define _SELFTESTS_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A socket of AF_PACKET, SOCK_RAW; exit status 2 if it cannot be had. @where: NS/DEV, of a
 * namespace of ip-netns; @protocol: that it receives, host byte order; 0: none. The process
 * stays in its namespace.
 */
int packet_socket(const char *where, int protocol);

/* What has just been done failed: exit status 2 */
void packet_option(int fd, int level, int name, int value);

/*
 * Calls @take, which takes a frame and returns true if that is one to count, for @ms, or
 * until so many of them have come. Returns how many have.
 */
unsigned int packet_wait(int fd, int ms, unsigned int until, bool (*take)(void));

#endif
