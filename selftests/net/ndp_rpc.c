// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests and responses between two NDP sockets, with a check of each byte
 *
 * ndp_rpc CLIENT SERVER ADDRESS COUNT SIZE [WAIT [PAUSE]]
 *	A process in namespace CLIENT sends COUNT requests of SIZE bytes, one after the other, to
 *	a process in namespace SERVER, which has ADDRESS. That waits WAIT µs (default 0) and
 *	returns the request. The client pauses for PAUSE µs (default 0) after each response.
 *
 * Prints "rpc us=TIME rtt_ns=RTT rtx=PACKETS timeouts=PACKETS", the client's. Exit status 0: all
 * responses arrived, each with the bytes of its request.
 */
#define _GNU_SOURCE
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "ndp_tool.h"

#define PORT	9
#define BUFFER	(1 << 20)
#define SECONDS	60

static uint8_t buffer[BUFFER];
static size_t size;

static void server(int fd, useconds_t wait)
{
	union ndp_address from;
	socklen_t len;
	ssize_t n;

	for (;;) {
		len = sizeof(from);
		n = recvfrom(fd, buffer, sizeof(buffer), 0, &from.sa, &len);
		if (n < 0)
			err(1, "recv");
		if (wait)
			usleep(wait);
		if (sendto(fd, buffer, (size_t)n, 0, &from.sa, len) != n)
			err(1, "send");
	}
}

static void call(int fd, uint32_t n)
{
	uint64_t key = ndp_key(1, PORT, n);
	ssize_t got;

	ndp_fill(buffer, size, key, 0);
	if (send(fd, buffer, size, 0) != (ssize_t)size)
		err(1, "send");
	memset(buffer, 0, size);
	got = recv(fd, buffer, sizeof(buffer), 0);
	if (got < 0)
		err(1, "response %u", n);
	if ((size_t)got != size || ndp_right(buffer, size, key, 0) != size)
		errx(1, "response %u: wrong bytes", n);
}

static void client(int fd, const union ndp_address *to, uint32_t count, useconds_t pause_us)
{
	const struct timeval most = { .tv_sec = SECONDS };
	long long begin = ndp_now_us();
	struct ndp_info info;
	uint32_t n;

	if (connect(fd, &to->sa, ndp_address_len(to)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)))
		err(2, "socket");
	for (n = 0; n < count; n++) {
		call(fd, n);
		if (pause_us)
			usleep(pause_us);
	}
	ndp_info(fd, &info);
	printf("rpc us=%lld rtt_ns=%llu rtx=%llu timeouts=%llu\n", ndp_now_us() - begin,
	       (unsigned long long)info.rtt_ns, (unsigned long long)info.packets_rtx,
	       (unsigned long long)info.packets_rtx_timeout);
}

static useconds_t number(int argc, char *argv[], int i)
{
	return argc > i ? (useconds_t)atoi(argv[i]) : 0;
}

int main(int argc, char *argv[])
{
	union ndp_address a;
	pid_t child;
	int fd;

	if (argc < 6 || argc > 8)
		errx(2, "usage: ndp_rpc CLIENT SERVER ADDRESS COUNT SIZE [WAIT [PAUSE]]");
	size = strtoul(argv[5], NULL, 10);
	if (!size || size > BUFFER)
		errx(2, "SIZE is 1 to %d", BUFFER);
	ndp_address(argv[3], PORT, &a);
	fd = ndp_socket(argv[2], a.sa.sa_family);
	if (bind(fd, &a.sa, ndp_address_len(&a)))
		err(2, "bind");
	child = fork();
	if (child < 0)
		err(2, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1);
		server(fd, number(argc, argv, 6));
	}
	close(fd);
	client(ndp_socket(argv[1], a.sa.sa_family), &a, (uint32_t)atoi(argv[4]),
	       number(argc, argv, 7));
	return 0;
}
