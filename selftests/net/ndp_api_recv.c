// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: recvmsg(), poll(), shutdown() and ioctl() */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "ndp_api.h"

/* A port for each test: packets of closed sockets may still arrive */
enum { PARTS = 1001, FLAGS, POLL, QUEUES };

/* Result of one recvmsg() */
struct result {
	ssize_t n;
	int flags;
	bool has_part;
	struct ndp_part part;
	union ndp_address from;
	uint8_t b[300000];
};

static struct result result;

static ssize_t get(int fd, size_t len, int flags)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct iovec iov = { result.b, len };
	struct msghdr msg = {
		.msg_name = &result.from, .msg_namelen = sizeof(result.from), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm;

	memset(&result, 0, sizeof(result));
	result.n = recvmsg(fd, &msg, flags);
	result.flags = msg.msg_flags;
	cm = result.n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (cm && cm->cmsg_level == SOL_NDP && cm->cmsg_type == NDP_CMSG_PART) {
		result.has_part = cm->cmsg_len == CMSG_LEN(sizeof(result.part));
		memcpy(&result.part, CMSG_DATA(cm), sizeof(result.part));
	}
	return result.n;
}

/* Return: true if the result is a part of message @no of @len bytes, from @offset on */
static bool is_part(uint64_t no, size_t len, uint64_t offset)
{
	return result.has_part && result.part.msg == no && result.part.msg_bytes == len &&
	       result.part.offset_bytes == offset &&
	       ndp_right(result.b, (size_t)result.n, len, offset) == (size_t)result.n;
}

static bool is_whole(size_t len)
{
	return result.n == (ssize_t)len && !result.has_part && result.flags & MSG_EOR &&
	       ndp_right(result.b, len, len, 0) == len;
}

static void take_parts(int rx)
{
	check(get(rx, 40000, 0) == 40000 && is_part(1, 100000, 0),
	      "first recvmsg() returns the first part of a message");
	check(!(result.flags & MSG_EOR), "first part of a message has no MSG_EOR");
	check(result.from.v4.sin_addr.s_addr == htonl(0x0a000001),
	      "part of a message has the sender's address");
	check(get(rx, 40000, 0) == 40000 && is_part(1, 100000, 40000),
	      "second recvmsg() returns the second part");
	check(get(rx, 40000, MSG_PEEK) == 20000 && is_part(1, 100000, 80000),
	      "MSG_PEEK returns the third part");
	check(get(rx, 40000, 0) == 20000 && is_part(1, 100000, 80000),
	      "third part remains after MSG_PEEK");
	check(result.flags & MSG_EOR, "last part of a message has MSG_EOR");
}

/* A message that is read in parts is read to its end before the next one. */
void test_parts(void)
{
	int rx = api_receiver(PARTS), tx = api_sender();
	char b[2];

	check(api_send(tx, PARTS, 100000, 0) == 100000 && api_sent(tx),
	      "message of 100000 bytes is acknowledged");
	check(api_send(tx, PARTS, 500, 0) == 500 && api_sent(tx),
	      "message of 500 bytes is acknowledged");
	take_parts(rx);
	check(get(rx, 40000, 0) == 500 && is_whole(500),
	      "recvmsg() returns the next message after the last part");
	check(api_send(tx, PARTS, 2, 0) == 2, "message of 2 bytes is sent");
	check(get(rx, 1, 0) == 1 && is_part(3, 2, 0),
	      "recvmsg() of 1 byte returns the first of 2 bytes");
	check(get(rx, 1, 0) == 1 && is_part(3, 2, 1) && result.flags & MSG_EOR,
	      "recvmsg() of 1 byte returns the second of 2 bytes");
	check(api_send(tx, PARTS, 1, 0) == 1 && get(rx, 1, 0) == 1 && is_whole(1),
	      "recvmsg() returns a message of 1 byte");
	check(api_send(tx, PARTS, 300, 0) == 300 && recv(rx, result.b, 100, 0) == 100,
	      "recv() without room for control data returns a part");
	check(recv(rx, b, 0, 0) == 0, "recv() of 0 bytes returns 0");
	check(get(rx, 400, 0) == 200 && is_part(5, 300, 100), "recv() of 0 bytes consumes no data");
	close(rx);
	close(tx);
}

static void check_peek(int rx, int tx)
{
	check(api_send(tx, FLAGS, 3000, 0) == 3000 && api_wait(rx, POLLIN, 5000),
	      "message of 3000 bytes arrives");
	check(get(rx, 4000, MSG_PEEK) == 3000 && is_whole(3000),
	      "MSG_PEEK returns a whole message");
	check(get(rx, 100, MSG_PEEK) == 100 && is_part(1, 3000, 0),
	      "MSG_PEEK returns a part of a message");
	check(recv(rx, NULL, 0, MSG_PEEK | MSG_TRUNC) == 3000,
	      "MSG_PEEK with MSG_TRUNC returns the length");
	check(get(rx, 4000, 0) == 3000 && is_whole(3000), "message remains after MSG_PEEK");
	check(api_refused((int)get(rx, 100, MSG_DONTWAIT), EAGAIN),
	      "message is consumed by recvmsg() without MSG_PEEK");
}

static void check_waits(int rx, int tx)
{
	struct timeval tv = { 0, 50000 };
	struct itimerval timer = { .it_value = { 0, 50000 } };
	long long began = ndp_now_us();

	check(api_refused((int)recv(rx, result.b, 100, MSG_DONTWAIT), EAGAIN),
	      "recv() with MSG_DONTWAIT fails with EAGAIN");
	check(!setsockopt(rx, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), "SO_RCVTIMEO is accepted");
	check(api_refused((int)recv(rx, result.b, 100, 0), EAGAIN),
	      "SO_RCVTIMEO ends recv() with EAGAIN");
	check(ndp_now_us() - began >= 50000, "SO_RCVTIMEO ends recv() after its time");
	tv.tv_usec = 0;
	setsockopt(rx, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setitimer(ITIMER_REAL, &timer, NULL);
	check(api_refused((int)recv(rx, result.b, 100, 0), EINTR), "signal ends recv() with EINTR");
	check(api_send(tx, FLAGS, 100000, 0) == 100000 && recv(rx, result.b, 60000, 0) == 60000 &&
	      recv(rx, result.b, 60000, MSG_WAITALL) == 40000,
	      "recv() with MSG_WAITALL ends with the message");
}

void test_flags(void)
{
	int rx = api_receiver(FLAGS), tx = api_sender();

	check_peek(rx, tx);
	check_waits(rx, tx);
	check(api_refused((int)recv(rx, result.b, 100, MSG_OOB), EOPNOTSUPP),
	      "recv() refuses MSG_OOB");
	check(api_refused((int)api_send(tx, FLAGS, 100, MSG_OOB), EOPNOTSUPP),
	      "sendto() refuses MSG_OOB");
	check(api_send(tx, FLAGS, 100, MSG_NOSIGNAL | MSG_EOR) == 100 && get(rx, 100, 0) == 100,
	      "sendto() accepts MSG_NOSIGNAL and MSG_EOR");
	check(api_refused((int)recv(rx, result.b, 100, MSG_ERRQUEUE), EAGAIN),
	      "recv() of an empty error queue fails with EAGAIN");
	close(rx);
	close(tx);
}

static void check_writable(int rx, int tx)
{
	int sent = 0, i;

	ndp_option(tx, SOL_SOCKET, SO_SNDBUF, 65536);
	ndp_option(rx, SOL_SOCKET, SO_RCVBUF, 65536);
	check(api_wait(tx, POLLOUT, 0), "poll() reports POLLOUT on a new socket");
	for (i = 0; i < 1000; i++) {
		if (api_send(tx, POLL, 10000, MSG_DONTWAIT) == 10000)
			sent++;
		else if (errno != EAGAIN || !api_wait(tx, POLLOUT, 500))
			break;
	}
	check(i < 1000 && errno == EAGAIN,
	      "sendto() with MSG_DONTWAIT fails with EAGAIN when buffers are full");
	check(!api_wait(tx, POLLOUT, 20),
	      "poll() reports no POLLOUT while the receiver does not read");
	for (i = 0; i < sent / 2 && get(rx, sizeof(result.b), 0) == 10000; i++)
		;
	check(api_wait(tx, POLLOUT, 10000), "poll() reports POLLOUT when the receiver reads");
	for (; i < sent && get(rx, sizeof(result.b), 0) == 10000; i++)
		;
	check(i == sent, "all messages sent with MSG_DONTWAIT arrive");
	check(api_sent(tx), "all messages sent with MSG_DONTWAIT are acknowledged");
}

static void check_epoll(int rx, int tx)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, e;
	int ep = epoll_create1(0);

	check(!epoll_ctl(ep, EPOLL_CTL_ADD, rx, &event), "epoll accepts an NDP socket");
	check(!epoll_wait(ep, &e, 1, 0), "epoll reports no event without a message");
	check(api_send(tx, POLL, 1000, 0) == 1000 && epoll_wait(ep, &e, 1, 5000) == 1,
	      "epoll reports EPOLLIN for a message");
	check(!epoll_wait(ep, &e, 1, 0), "epoll reports a message once with EPOLLET");
	check(api_send(tx, POLL, 1000, 0) == 1000 && epoll_wait(ep, &e, 1, 5000) == 1,
	      "epoll reports a second message with EPOLLET");
	check(get(rx, 1000, 0) == 1000 && get(rx, 1000, 0) == 1000,
	      "both messages reported by epoll are read");
	close(ep);
}

static void check_shutdown(int rx, int tx)
{
	union ndp_address a;

	api_address(POLL, &a);
	check(api_refused(shutdown(api_sender(), SHUT_RD), ENOTCONN),
	      "shutdown() of an unconnected socket fails with ENOTCONN");
	check(!connect(tx, &a.sa, sizeof(a.v4)) && !shutdown(tx, SHUT_WR),
	      "shutdown() accepts SHUT_WR");
	check(api_refused((int)send(tx, "x", 1, 0), EPIPE),
	      "send() after SHUT_WR fails with EPIPE");
	check(!shutdown(tx, SHUT_RD) && recv(tx, result.b, 1, 0) == 0,
	      "recv() after SHUT_RD returns 0");
	check(api_wait(tx, POLLHUP | POLLRDHUP, 0), "poll() reports POLLHUP after shutdown()");
	check(!api_wait(rx, POLLIN, 0), "receiver gets no event from the sender's shutdown()");
}

void test_poll(void)
{
	int rx = api_receiver(POLL), tx = api_sender();

	check(!api_wait(rx, POLLIN | POLLERR | POLLHUP, 0),
	      "poll() reports no event on a new socket");
	check_epoll(rx, tx);
	check_writable(rx, tx);
	check_shutdown(rx, tx);
	close(rx);
	close(tx);
}

/* ---- ioctl() */

static int queue(int fd, unsigned long which)
{
	int bytes = -1;

	return ioctl(fd, which, &bytes) ? -1 : bytes;
}

static void check_inq(int rx, int tx)
{
	check(queue(rx, FIONREAD) == 0, "FIONREAD returns 0 without a message");
	check(api_send(tx, QUEUES, 3000, 0) == 3000 && api_sent(tx) &&
	      api_send(tx, QUEUES, 500, 0) == 500 && api_sent(tx), "two messages are acknowledged");
	check(queue(rx, FIONREAD) == 3000, "FIONREAD returns the length of the first message");
	check(get(rx, 1000, 0) == 1000 && queue(rx, FIONREAD) == 2000,
	      "FIONREAD returns the unread bytes of a message");
	check(get(rx, 2000, 0) == 2000 && queue(rx, FIONREAD) == 500,
	      "FIONREAD returns the length of the second message");
	check(get(rx, 500, 0) == 500 && queue(rx, FIONREAD) == 0,
	      "FIONREAD returns 0 after the last message");
}

/* A message that fails after a part of it was read causes an error. */
static void check_inq_failed(int rx)
{
	const struct linger now = { 1, 0 };
	int tx = api_connected(QUEUES), i;
	const int len = 200000;
	char *b = calloc(1, len);

	ndp_option(rx, SOL_SOCKET, SO_RCVBUF, 10000);
	check(send(tx, b, len, 0) == len && api_wait(rx, POLLIN, 10000) && get(rx, 100, 0) == 100 &&
	      queue(rx, FIONREAD) == len - 100,
	      "FIONREAD counts a partly received message in full");
	free(b);
	setsockopt(tx, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(tx);
	for (i = 0; i < 10000 && queue(rx, FIONREAD); i++)
		usleep(1000);
	check(queue(rx, FIONREAD) == 0 && api_wait(rx, POLLIN, 0),
	      "FIONREAD returns 0 after the sender has aborted the message");
	check(api_refused((int)get(rx, 100, 0), ECONNRESET),
	      "recv() of the aborted message fails with ECONNRESET");
}

static void check_outq(int fd)
{
	union ndp_address a;
	int bytes;

	ndp_address("10.0.0.9", QUEUES, &a);
	check(queue(fd, SIOCOUTQ) == 0, "SIOCOUTQ returns 0 without a message");
	ndp_option(fd, SOL_NDP, NDP_TIMEOUT, 100);
	check(sendto(fd, result.b, 5000, 0, &a.sa, sizeof(a.v4)) == 5000,
	      "message to a silent host is sent");
	bytes = queue(fd, SIOCOUTQ);
	check(bytes >= 5000 && bytes < 20000,
	      "SIOCOUTQ returns the memory of unacknowledged data: %d", bytes);
	check(api_fails_with(fd, ETIMEDOUT, 1, QUEUES) && queue(fd, SIOCOUTQ) == 0,
	      "SIOCOUTQ returns 0 after the message has failed");
}

void test_queues(void)
{
	int rx = api_receiver(QUEUES), tx = api_sender(), v6 = ndp_socket(ns_a, AF_INET6);

	check_inq(rx, tx);
	check(queue(tx, SIOCOUTQ) == 0, "SIOCOUTQ returns 0 after all data is acknowledged");
	check_inq_failed(rx);
	close(tx);
	tx = api_sender();
	check_outq(tx);
	check(queue(v6, FIONREAD) == 0 && queue(v6, SIOCOUTQ) == 0,
	      "IPv6 socket has FIONREAD and SIOCOUTQ");
	check(api_refused(ioctl(rx, FIONREAD, NULL), EFAULT),
	      "FIONREAD without an address fails with EFAULT");
	check(api_refused(queue(rx, SIOCATMARK), ENOTTY), "IPv4 socket refuses other ioctls");
	check(api_refused(queue(v6, SIOCATMARK), ENOTTY), "IPv6 socket refuses other ioctls");
	close(rx);
	close(tx);
	close(v6);
}
