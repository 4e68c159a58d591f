// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP's sockets: messages from, and to, many pieces of memory, and very long ones */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_api.h"

#define PORT 1100
#define PIECES 1024	/* UIO_MAXIOV */
#define HUGE_PIECE ((1U << 20) + 5)	/* nothing that the kernel cuts memory in */
#define HUGE_BYTES ((size_t)PIECES * HUGE_PIECE)

/* PIECES of memory, one behind the other, of FIRST bytes, and each STEP more, modulo MOST */
static size_t cut(uint8_t *b, struct iovec *iov, size_t first, size_t step, size_t most)
{
	size_t bytes = 0, len = first, i;

	for (i = 0; i < PIECES; i++) {
		iov[i] = (struct iovec) { b + bytes, len };
		bytes += len;
		len = (len + step) % most;
	}
	return bytes;
}

static void check_scatter(int rx, int tx, size_t step)
{
	static struct iovec from[PIECES], to[PIECES];
	static uint8_t in[PIECES * 400], out[PIECES * 400];
	size_t bytes = cut(out, from, 0, step, 307);

	cut(in, to, 399, step + 4, 399);
	memset(in, 0, sizeof(in));
	ndp_fill(out, bytes, step, 0);
	check(writev(tx, from, PIECES) == (ssize_t)bytes, "%zu bytes of 1024 pieces", bytes);
	check(readv(rx, to, PIECES) == (ssize_t)bytes && !memcmp(in, out, bytes),
	      "into others, step %zu", step);
	check(writev(tx, from, PIECES) == (ssize_t)bytes && read(rx, in, bytes / 2) ==
	      (ssize_t)bytes / 2 && readv(rx, to, PIECES) == (ssize_t)(bytes - bytes / 2) &&
	      !memcmp(in, out + bytes / 2, bytes - bytes / 2), "the rest of it");
}

void test_scatter(void)
{
	int rx = api_receiver(PORT), tx = api_connected(PORT);
	struct iovec none[2] = { { NULL, 0 }, { NULL, 0 } };
	/* writev() would not ask the socket */
	struct msghdr empty = { .msg_iov = none, .msg_iovlen = 2 };
	struct iovec bad[2] = { { "abcd", 4 }, { NULL, 4 } };
	char b[8];

	check_scatter(rx, tx, 1);
	check_scatter(rx, tx, 100);
	check_scatter(rx, tx, 306);
	check(api_refused((int)sendmsg(tx, &empty, 0), EINVAL), "pieces without bytes");
	check(api_refused((int)writev(tx, bad, 2), EFAULT), "a piece that is not there");
	check(write(tx, "abc", 3) == 3 && readv(rx, bad + 1, 1) < 0 && errno == EFAULT,
	      "nor to receive to");
	check(read(rx, b, 8) == 3 && !memcmp(b, "abc", 3), "the message is there still");
	close(tx);
	close(rx);
}

/* ---- more than 1 GiB, of one piece of memory again and again; both are in b */

static void send_huge(uint8_t *b, const union ndp_address *a)
{
	int fd = ndp_socket(ns_b, AF_INET), i;
	static struct iovec iov[PIECES];
	struct msghdr msg = {
		.msg_name = (void *)a, .msg_namelen = sizeof(a->v4), .msg_iov = iov,
		.msg_iovlen = PIECES,
	};
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid) {
		close(fd);
		return;
	}
	for (i = 0; i < PIECES; i++)
		iov[i] = (struct iovec) { b, HUGE_PIECE };
	_exit(sendmsg(fd, &msg, 0) != (ssize_t)HUGE_BYTES || !api_sent(fd));
}

/* Return: bytes that came until the message was over, or one of them was wrong */
static size_t receive_huge(int fd, const uint8_t *b, struct msghdr *msg)
{
	const struct iovec *iov = msg->msg_iov;
	size_t got = 0;
	ssize_t n;

	do {
		n = recvmsg(fd, msg, 0);
		if (n < 0 || memcmp(iov->iov_base, b + got % HUGE_PIECE, (size_t)n))
			break;
		got += (size_t)n;
	} while (!(msg->msg_flags & MSG_EOR));
	return got;
}

void test_huge(void)
{
	uint8_t *b = malloc(2 * HUGE_PIECE), *in = malloc(HUGE_PIECE);
	struct iovec iov = { in, HUGE_PIECE };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd = ndp_socket(ns_b, AF_INET), status;
	union ndp_address a;
	size_t got;

	ndp_address("127.0.0.1", PORT, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind");
	ndp_fill(b, HUGE_PIECE, 1, 0);
	memcpy(b + HUGE_PIECE, b, HUGE_PIECE);
	send_huge(b, &a);
	got = receive_huge(fd, b, &msg);
	check(got == HUGE_BYTES && msg.msg_flags & MSG_EOR, "%zu bytes of %zu come", got,
	      HUGE_BYTES);
	check(wait(&status) > 0 && !status, "and are acknowledged");
	close(fd);
	free(b);
	free(in);
}
