// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: messages from and to many buffers, and very long messages */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_api.h"

#define PORT 1100
#define BUFFERS 1024	/* UIO_MAXIOV */
#define HUGE_BUFFER ((1U << 20) + 5)	/* no multiple of a page or of a packet's payload */
#define HUGE_BYTES ((size_t)BUFFERS * HUGE_BUFFER)

/* Divide @b into BUFFERS pieces: the first of @first bytes, each next @step more, modulo @most */
static size_t cut(uint8_t *b, struct iovec *iov, size_t first, size_t step, size_t most)
{
	size_t bytes = 0, len = first, i;

	for (i = 0; i < BUFFERS; i++) {
		iov[i] = (struct iovec) { b + bytes, len };
		bytes += len;
		len = (len + step) % most;
	}
	return bytes;
}

static void check_scatter(int rx, int tx, size_t step)
{
	static struct iovec from[BUFFERS], to[BUFFERS];
	static uint8_t in[BUFFERS * 400], out[BUFFERS * 400];
	size_t bytes = cut(out, from, 0, step, 307);

	cut(in, to, 399, step + 4, 399);
	memset(in, 0, sizeof(in));
	ndp_fill(out, bytes, step, 0);
	check(writev(tx, from, BUFFERS) == (ssize_t)bytes,
	      "message of %zu bytes from 1024 buffers is sent",
	      bytes);
	check(readv(rx, to, BUFFERS) == (ssize_t)bytes && !memcmp(in, out, bytes),
	      "message is received intact into 1024 other buffers, step %zu", step);
	check(writev(tx, from, BUFFERS) == (ssize_t)bytes && read(rx, in, bytes / 2) ==
	      (ssize_t)bytes / 2 && readv(rx, to, BUFFERS) == (ssize_t)(bytes - bytes / 2) &&
	      !memcmp(in, out + bytes / 2, bytes - bytes / 2),
	      "second half of the message is received intact into 1024 buffers");
}

void test_scatter(void)
{
	int rx = api_receiver(PORT), tx = api_connected(PORT);
	struct iovec none[2] = { { NULL, 0 }, { NULL, 0 } };
	/* writev() would return 0 without calling the socket */
	struct msghdr empty = { .msg_iov = none, .msg_iovlen = 2 };
	struct iovec bad[2] = { { "abcd", 4 }, { NULL, 4 } };
	char b[8];

	check_scatter(rx, tx, 1);
	check_scatter(rx, tx, 100);
	check_scatter(rx, tx, 306);
	check(api_refused((int)sendmsg(tx, &empty, 0), EINVAL),
	      "sendmsg() of empty buffers fails with EINVAL");
	check(api_refused((int)writev(tx, bad, 2), EFAULT),
	      "writev() from a bad address fails with EFAULT");
	check(write(tx, "abc", 3) == 3 && readv(rx, bad + 1, 1) < 0 && errno == EFAULT,
	      "readv() to a bad address fails with EFAULT");
	check(read(rx, b, 8) == 3 && !memcmp(b, "abc", 3), "message remains after EFAULT");
	close(tx);
	close(rx);
}

/* ---- more than 1 GiB from one buffer that is used repeatedly; both sockets are in b */

static void send_huge(uint8_t *b, const union ndp_address *a)
{
	int fd = ndp_socket(ns_b, AF_INET), i;
	static struct iovec iov[BUFFERS];
	struct msghdr msg = {
		.msg_name = (void *)a, .msg_namelen = sizeof(a->v4), .msg_iov = iov,
		.msg_iovlen = BUFFERS,
	};
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid) {
		close(fd);
		return;
	}
	for (i = 0; i < BUFFERS; i++)
		iov[i] = (struct iovec) { b, HUGE_BUFFER };
	_exit(sendmsg(fd, &msg, 0) != (ssize_t)HUGE_BYTES || !api_sent(fd));
}

/* Return: bytes received until the end of the message or the first wrong byte */
static size_t receive_huge(int fd, const uint8_t *b, struct msghdr *msg)
{
	const struct iovec *iov = msg->msg_iov;
	size_t received = 0;
	ssize_t n;

	do {
		n = recvmsg(fd, msg, 0);
		if (n < 0 || memcmp(iov->iov_base, b + received % HUGE_BUFFER, (size_t)n))
			break;
		received += (size_t)n;
	} while (!(msg->msg_flags & MSG_EOR));
	return received;
}

void test_huge(void)
{
	uint8_t *b = malloc(2 * HUGE_BUFFER), *in = malloc(HUGE_BUFFER);
	struct iovec iov = { in, HUGE_BUFFER };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd = ndp_socket(ns_b, AF_INET), status;
	union ndp_address a;
	size_t received;

	ndp_address("127.0.0.1", PORT, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind");
	ndp_fill(b, HUGE_BUFFER, 1, 0);
	memcpy(b + HUGE_BUFFER, b, HUGE_BUFFER);
	send_huge(b, &a);
	received = receive_huge(fd, b, &msg);
	check(received == HUGE_BYTES && msg.msg_flags & MSG_EOR,
	      "message of more than 1 GiB arrives: %zu of %zu bytes", received, HUGE_BYTES);
	check(wait(&status) > 0 && !status, "message of more than 1 GiB is acknowledged");
	close(fd);
	free(b);
	free(in);
}
