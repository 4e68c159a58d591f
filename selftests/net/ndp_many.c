// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to very many peers at once
 *
 * ndp_many [-d FIRST] [-n NS] [-r RCVBUF] [-t] PEERS COUNT BYTES SECONDS
 *
 * One socket sends COUNT messages of BYTES to each of PEERS addresses from FIRST on, default
 * 127.1.0.0. Another socket, in NS, receives them all; both sockets see each address as a host of
 * its own. No message is read before all are sent, or the sender has no room. RCVBUF:
 * SO_RCVBUFFORCE. Fails if a message is corrupted, duplicated, fails, or does not arrive within
 * SECONDS; with -t, messages may fail by timeout. Prints the number of flows with unacknowledged
 * messages, and the number of these messages, when all are sent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndp_tool.h"

#define PORT		9
#define SNDBUF		1073741824
#define BYTES_MAX	65536

struct head {
	uint32_t peer;
	uint32_t n;
};

static uint32_t peers, count, bytes;
static uint32_t first = 0x7f010000, sent, received, failed;
static bool may_fail;
static uint8_t *seen;

static int open_receiver(const char *ns)
{
	union ndp_address a;
	int fd = ndp_socket(ns, AF_INET);

	ndp_address("0.0.0.0", PORT, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind");
	return fd;
}

static void make(uint8_t *b, struct head head)
{
	memcpy(b, &head, sizeof(head));
	ndp_fill(b + sizeof(head), bytes - sizeof(head), ndp_key(1, (uint16_t)head.peer, head.n),
		 0);
}

/* Send the next message. Return: false if there is no room or no memory for it */
static bool send_one(int fd)
{
	struct head head = { sent % peers, sent / peers };
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(first + head.peer),
		.sin_port = htons(PORT),
	};
	uint8_t b[BYTES_MAX];

	make(b, head);
	if (sendto(fd, b, bytes, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) < 0) {
		if (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS)
			return false;
		err(1, "sendto");
	}
	sent++;
	return true;
}

static void receive_one(int fd)
{
	uint8_t b[BYTES_MAX], expected[BYTES_MAX];
	struct head head;
	ssize_t n = recv(fd, b, sizeof(b), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n != (ssize_t)bytes)
		err(1, "message of %zd bytes", n);
	memcpy(&head, b, sizeof(head));
	if (head.peer >= peers || head.n >= count || seen[head.n * peers + head.peer]++)
		errx(1, "message %u to %u was not sent, or was received before", head.n, head.peer);
	make(expected, head);
	if (memcmp(b, expected, bytes))
		errx(1, "message %u to %u is wrong", head.n, head.peer);
	received++;
}

/* Count failed messages. Only timeouts may fail; the error queue does not have all of them. */
static void take_failures(int tx)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct ndp_failed why;
	struct ndp_info info;
	struct msghdr msg;

	ndp_info(tx, &info);
	failed = (uint32_t)info.msgs_failed;
	if (failed && !may_fail)
		warnx("%u messages have failed", failed);
	for (;;) {
		msg = (struct msghdr) {
			.msg_control = &control, .msg_controllen = sizeof(control),
		};
		if (recvmsg(tx, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
		memcpy(&why, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(why));
		if (why.error != ETIMEDOUT || !may_fail)
			errx(1, "message %llu: %s", why.msg, strerror((int)why.error));
	}
	if (failed && !may_fail)
		exit(1);
}

/* Send and receive all messages. */
static void run(int tx, int rx, long long until)
{
	struct pollfd pfd = { rx, POLLIN, 0 };
	uint32_t total = peers * count;
	struct ndp_info info;

	while (sent < total && send_one(tx))
		;
	ndp_info(tx, &info);
	printf("%llu %llu\n", info.flows_sending, info.msgs_sending);
	while (received + failed < total) {
		if (ndp_now_us() > until)
			errx(1, "%u messages sent, but only %u received", sent, received);
		poll(&pfd, 1, sent < total ? 1 : 100);
		if (pfd.revents)
			receive_one(rx);
		else
			take_failures(tx);
		if (sent < total)
			send_one(tx);
	}
}

static void wait_for_end(int tx, long long until)
{
	struct ndp_info info;

	do {
		ndp_info(tx, &info);
		if (ndp_now_us() > until)
			errx(1, "%llu messages are not acknowledged", info.msgs_sending);
		usleep(1000);
	} while (info.msgs_sending);
	take_failures(tx);
}

int main(int argc, char **argv)
{
	int tx, rx, c, rcvbuf = 0;
	const char *ns = NULL;
	long long until;

	while ((c = getopt(argc, argv, "d:n:r:t")) != -1) {
		if (c == 'd')
			first = ntohl(inet_addr(optarg));
		else if (c == 'n')
			ns = optarg;
		else if (c == 'r')
			rcvbuf = atoi(optarg);
		else if (c == 't')
			may_fail = true;
		else
			return 2;
	}
	argv += optind;
	if (argc - optind != 4)
		errx(2, "usage: ndp_many [OPTION...] PEERS COUNT BYTES SECONDS");
	peers = (uint32_t)atoi(argv[0]);
	count = (uint32_t)atoi(argv[1]);
	bytes = (uint32_t)atoi(argv[2]);
	if (!peers || !count || bytes < sizeof(struct head) || bytes > BYTES_MAX)
		errx(2, "PEERS and COUNT must be positive, BYTES %zu to %d", sizeof(struct head),
		     BYTES_MAX);
	seen = calloc(peers, count);
	tx = ndp_socket(NULL, AF_INET);
	ndp_option(tx, SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF);
	rx = open_receiver(ns);
	if (rcvbuf)
		ndp_option(rx, SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf);
	until = ndp_now_us() + atoll(argv[3]) * 1000000;
	run(tx, rx, until);
	wait_for_end(tx, until);
	return 0;
}
