/* SPDX-License-Identifier: GPL-2.0-only */
/* Packet sockets in other network namespaces, for the C tools of the kselftests */
#ifndef _SELFTESTS_PACKET_H
#define _SELFTESTS_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/**
 * packet_socket() - open an AF_PACKET SOCK_RAW socket in another network namespace
 * @where: NS/DEV; NS is a namespace of ip-netns(8)
 * @protocol: EtherType to receive, in host byte order; 0: receive no frames
 *
 * The process stays in its namespace. On failure it exits with status 2.
 */
int packet_socket(const char *where, int protocol);

/* Set an integer socket option; on failure, exit with status 2 */
void packet_option(int fd, int level, int name, int value);

/**
 * packet_wait() - receive frames until enough of them match or the time is over
 * @fd: packet socket
 * @ms: time limit in milliseconds
 * @until: number of matching frames to wait for
 * @take: reads one frame from the socket; returns true if the frame matches
 *
 * Return: the number of matching frames.
 */
unsigned int packet_wait(int fd, int ms, unsigned int until, bool (*take)(void));

#endif
