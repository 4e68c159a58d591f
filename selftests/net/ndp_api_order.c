// SPDX-License-Identifier: GPL-2.0-only
/* Checks of SOCK_SEQPACKET: aborted messages, for which later messages wait */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_api.h"

/* A port for each test: packets of closed sockets may still arrive */
enum { NO_ROOM = 1301, SILENT };

#define LONG_BYTES	2000000
#define SHORT_BYTES	1000
#define SHORT_MSGS	200
#define PATIENCE_MS	30000

static uint8_t buffer[LONG_BYTES];

/* Open a receiver with little memory. */
static int receiver(uint16_t port)
{
	int fd = api_receiver(port);

	ndp_option(fd, SOL_SOCKET, SO_RCVBUF, 20000);
	return fd;
}

/*
 * Read parts of messages of LONG_BYTES. Return: an error, or the length of another message; @one:
 * of the first message
 */
static ssize_t read_long(int fd, bool one)
{
	struct iovec iov = { buffer, sizeof(buffer) };
	struct ndp_part part;
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	ssize_t n;

	for (;;) {
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		struct cmsghdr *cm;

		if (!api_wait(fd, POLLIN, PATIENCE_MS)) {
			errno = EAGAIN;
			return -1;
		}
		n = recvmsg(fd, &msg, 0);
		cm = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
		if (!cm || cm->cmsg_type != NDP_CMSG_PART)
			return n;
		memcpy(&part, CMSG_DATA(cm), sizeof(part));
		if (part.msg_bytes != LONG_BYTES)
			return n;
		if (one && part.offset_bytes + (size_t)n == LONG_BYTES)
			return LONG_BYTES;
	}
}

static void check_short(int rx, const char *name)
{
	int i;

	for (i = 0; i < SHORT_MSGS && api_wait(rx, POLLIN, PATIENCE_MS); i++)
		if (read(rx, buffer, sizeof(buffer)) != SHORT_BYTES + i)
			break;
	check(i == SHORT_MSGS, name);
}

/*
 * SOCK_RDM sends a long message and short ones in turn. The receiver has memory for few short ones
 * that wait for the long one; it refuses the others until there is room.
 */
void test_no_room(void)
{
	int rx = receiver(NO_ROOM), type = ndp_type, tx, i;

	ndp_type = SOCK_RDM;
	tx = api_sender();
	ndp_type = type;
	check(api_send(tx, NO_ROOM, LONG_BYTES, 0) == LONG_BYTES,
	      "long message is sent from SOCK_RDM");
	for (i = 0; i < SHORT_MSGS; i++)
		if (api_send(tx, NO_ROOM, SHORT_BYTES + (size_t)i, 0) != SHORT_BYTES + i)
			break;
	check(i == SHORT_MSGS, "short messages are sent behind the long one");
	check(read_long(rx, true) == LONG_BYTES,
	      "long message arrives while short ones wait for room");
	check_short(rx, "short messages are delivered in order after the long one");
	check(api_sent(tx), "no message is in flight after the last one was read");
	close(rx);
	close(tx);
}

/* ---- the ERROR packet of an aborted message is lost */

static void run(const char *command, const char *ns)
{
	char line[256];

	snprintf(line, sizeof(line), command, ns);
	if (system(line))
		errx(2, "%s", line);
}

static void link_down_later(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid)
		return;
	usleep(100000);
	run("ip -n %s link set w1 down", ns_b);
	_exit(0);
}

static void link_up(void)
{
	wait(NULL);
	run("ip -n %s link set w1 up", ns_b);
	run("ip -n %s neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev w1", ns_b);
}

/*
 * The receiver does not read, so that sendmsg() waits while all packets that were sent are
 * delivered or refused. Then the link goes down, and sendmsg() is interrupted.
 */
void test_silent(void)
{
	struct itimerval timer = { .it_value = { 0, 400000 } };
	int rx = receiver(SILENT), tx = api_connected(SILENT);
	long long began;

	ndp_option(tx, SOL_SOCKET, SO_SNDBUF, 65536);
	link_down_later();
	setitimer(ITIMER_REAL, &timer, NULL);
	check(api_refused((int)send(tx, buffer, LONG_BYTES, 0), EINTR),
	      "signal interrupts sendmsg() with EINTR");
	link_up();
	check(send(tx, buffer, 1, 0) == 1, "next message is sent after an interrupted sendmsg()");
	began = ndp_now_us();
	check(api_refused((int)read_long(rx, false), ECONNRESET),
	      "reader of the interrupted message gets ECONNRESET");
	check(ndp_now_us() - began < 1000000,
	      "the next packet of the sender tells that the message was aborted");
	check(read(rx, buffer, sizeof(buffer)) == 1,
	      "next message is delivered after the aborted one");
	check(api_sent(tx), "no message is in flight after the aborted one");
	close(rx);
	close(tx);
}
