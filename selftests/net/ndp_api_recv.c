// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP's sockets: what recvmsg() gives, and what poll() tells */
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

/* One a test: what a closed socket has sent may still come */
enum { PARTS = 1001, FLAGS, POLL, QUEUES };

/* What one recvmsg() gave */
struct got {
	ssize_t n;
	int flags;
	bool has_part;
	struct ndp_part part;
	union ndp_address from;
	uint8_t b[300000];
};

static struct got got;

static ssize_t get(int fd, size_t len, int flags)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	struct iovec iov = { got.b, len };
	struct msghdr msg = {
		.msg_name = &got.from, .msg_namelen = sizeof(got.from), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm;

	memset(&got, 0, sizeof(got));
	got.n = recvmsg(fd, &msg, flags);
	got.flags = msg.msg_flags;
	cm = got.n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	if (cm && cm->cmsg_level == SOL_NDP && cm->cmsg_type == NDP_CMSG_PART) {
		got.has_part = cm->cmsg_len == CMSG_LEN(sizeof(got.part));
		memcpy(&got.part, CMSG_DATA(cm), sizeof(got.part));
	}
	return got.n;
}

/* The part of message NO, whose length is LEN, from OFFSET on */
static bool is_part(uint64_t no, size_t len, uint64_t offset)
{
	return got.has_part && got.part.msg == no && got.part.msg_bytes == len &&
	       got.part.offset_bytes == offset &&
	       ndp_right(got.b, (size_t)got.n, len, offset) == (size_t)got.n;
}

static bool is_whole(size_t len)
{
	return got.n == (ssize_t)len && !got.has_part && got.flags & MSG_EOR &&
	       ndp_right(got.b, len, len, 0) == len;
}

static void take_parts(int rx)
{
	check(get(rx, 40000, 0) == 40000 && is_part(1, 100000, 0), "the first part");
	check(!(got.flags & MSG_EOR), "is not the last one");
	check(got.from.v4.sin_addr.s_addr == htonl(0x0a000001), "whom it is from");
	check(get(rx, 40000, 0) == 40000 && is_part(1, 100000, 40000), "the second part");
	check(get(rx, 40000, MSG_PEEK) == 20000 && is_part(1, 100000, 80000), "the third: a look");
	check(get(rx, 40000, 0) == 20000 && is_part(1, 100000, 80000), "the third part");
	check(got.flags & MSG_EOR, "is the last one");
}

/* A message that is read in parts is read to its end before another one. */
void test_parts(void)
{
	int rx = api_receiver(PARTS), tx = api_sender();
	char b[2];

	check(api_send(tx, PARTS, 100000, 0) == 100000 && api_sent(tx), "100000 bytes");
	check(api_send(tx, PARTS, 500, 0) == 500 && api_sent(tx), "500 bytes");
	take_parts(rx);
	check(get(rx, 40000, 0) == 500 && is_whole(500), "the next message");
	check(api_send(tx, PARTS, 2, 0) == 2, "2 bytes");
	check(get(rx, 1, 0) == 1 && is_part(3, 2, 0), "byte by byte: the first");
	check(get(rx, 1, 0) == 1 && is_part(3, 2, 1) && got.flags & MSG_EOR, "and the second");
	check(api_send(tx, PARTS, 1, 0) == 1 && get(rx, 1, 0) == 1 && is_whole(1), "a single byte");
	check(api_send(tx, PARTS, 300, 0) == 300 && recv(rx, got.b, 100, 0) == 100,
	      "a part without room for control data");
	check(recv(rx, b, 0, 0) == 0, "nothing asked for");
	check(get(rx, 400, 0) == 200 && is_part(5, 300, 100), "takes nothing");
	close(rx);
	close(tx);
}

static void check_peek(int rx, int tx)
{
	check(api_send(tx, FLAGS, 3000, 0) == 3000 && api_wait(rx, POLLIN, 5000), "3000 bytes");
	check(get(rx, 4000, MSG_PEEK) == 3000 && is_whole(3000), "MSG_PEEK: all of it");
	check(get(rx, 100, MSG_PEEK) == 100 && is_part(1, 3000, 0), "MSG_PEEK: a part");
	check(recv(rx, NULL, 0, MSG_PEEK | MSG_TRUNC) == 3000, "MSG_PEEK, MSG_TRUNC: its length");
	check(get(rx, 4000, 0) == 3000 && is_whole(3000), "it is still there");
	check(api_refused((int)get(rx, 100, MSG_DONTWAIT), EAGAIN), "and now it is not");
}

static void check_waits(int rx, int tx)
{
	struct timeval tv = { 0, 50000 };
	struct itimerval timer = { .it_value = { 0, 50000 } };
	long long began = ndp_now_us();

	check(api_refused((int)recv(rx, got.b, 100, MSG_DONTWAIT), EAGAIN), "MSG_DONTWAIT");
	check(!setsockopt(rx, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), "SO_RCVTIMEO");
	check(api_refused((int)recv(rx, got.b, 100, 0), EAGAIN), "ends the wait");
	check(ndp_now_us() - began >= 50000, "after 50 ms");
	tv.tv_usec = 0;
	setsockopt(rx, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setitimer(ITIMER_REAL, &timer, NULL);
	check(api_refused((int)recv(rx, got.b, 100, 0), EINTR), "a signal ends the wait");
	check(api_send(tx, FLAGS, 100000, 0) == 100000 && recv(rx, got.b, 60000, 0) == 60000 &&
	      recv(rx, got.b, 60000, MSG_WAITALL) == 40000, "MSG_WAITALL ends with the message");
}

void test_flags(void)
{
	int rx = api_receiver(FLAGS), tx = api_sender();

	check_peek(rx, tx);
	check_waits(rx, tx);
	check(api_refused((int)recv(rx, got.b, 100, MSG_OOB), EOPNOTSUPP), "receive MSG_OOB");
	check(api_refused((int)api_send(tx, FLAGS, 100, MSG_OOB), EOPNOTSUPP), "send MSG_OOB");
	check(api_send(tx, FLAGS, 100, MSG_NOSIGNAL | MSG_EOR) == 100 && get(rx, 100, 0) == 100,
	      "MSG_NOSIGNAL, MSG_EOR");
	check(api_refused((int)recv(rx, got.b, 100, MSG_ERRQUEUE), EAGAIN), "no error");
	close(rx);
	close(tx);
}

static void check_writable(int rx, int tx)
{
	int sent = 0, i;

	ndp_option(tx, SOL_SOCKET, SO_SNDBUF, 65536);
	ndp_option(rx, SOL_SOCKET, SO_RCVBUF, 65536);
	check(api_wait(tx, POLLOUT, 0), "POLLOUT: there is room");
	for (i = 0; i < 1000; i++) {
		if (api_send(tx, POLL, 10000, MSG_DONTWAIT) == 10000)
			sent++;
		else if (errno != EAGAIN || !api_wait(tx, POLLOUT, 500))
			break;
	}
	check(i < 1000 && errno == EAGAIN, "MSG_DONTWAIT: until there is none");
	check(!api_wait(tx, POLLOUT, 20), "no POLLOUT while the receiver does not read");
	for (i = 0; i < sent / 2 && get(rx, sizeof(got.b), 0) == 10000; i++)
		;
	check(api_wait(tx, POLLOUT, 10000), "POLLOUT again when it reads");
	for (; i < sent && get(rx, sizeof(got.b), 0) == 10000; i++)
		;
	check(i == sent, "all messages come");
	check(api_sent(tx), "and are acknowledged");
}

static void check_epoll(int rx, int tx)
{
	struct epoll_event want = { .events = EPOLLIN | EPOLLET }, e;
	int ep = epoll_create1(0);

	check(!epoll_ctl(ep, EPOLL_CTL_ADD, rx, &want), "epoll");
	check(!epoll_wait(ep, &e, 1, 0), "nothing to read");
	check(api_send(tx, POLL, 1000, 0) == 1000 && epoll_wait(ep, &e, 1, 5000) == 1, "EPOLLIN");
	check(!epoll_wait(ep, &e, 1, 0), "once, with EPOLLET");
	check(api_send(tx, POLL, 1000, 0) == 1000 && epoll_wait(ep, &e, 1, 5000) == 1,
	      "again for another message");
	check(get(rx, 1000, 0) == 1000 && get(rx, 1000, 0) == 1000, "both are there");
	close(ep);
}

static void check_shutdown(int rx, int tx)
{
	union ndp_address a;

	api_address(POLL, &a);
	check(api_refused(shutdown(api_sender(), SHUT_RD), ENOTCONN), "shutdown: not connected");
	check(!connect(tx, &a.sa, sizeof(a.v4)) && !shutdown(tx, SHUT_WR), "SHUT_WR");
	check(api_refused((int)send(tx, "x", 1, 0), EPIPE), "nothing is sent any more");
	check(!shutdown(tx, SHUT_RD) && recv(tx, got.b, 1, 0) == 0, "SHUT_RD: the end");
	check(api_wait(tx, POLLHUP | POLLRDHUP, 0), "POLLHUP");
	check(!api_wait(rx, POLLIN, 0), "the receiver sees nothing of it");
}

void test_poll(void)
{
	int rx = api_receiver(POLL), tx = api_sender();

	check(!api_wait(rx, POLLIN | POLLERR | POLLHUP, 0), "nothing to read yet");
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
	check(queue(rx, FIONREAD) == 0, "FIONREAD: nothing is there");
	check(api_send(tx, QUEUES, 3000, 0) == 3000 && api_sent(tx) &&
	      api_send(tx, QUEUES, 500, 0) == 500 && api_sent(tx), "two messages");
	check(queue(rx, FIONREAD) == 3000, "FIONREAD: bytes of the first");
	check(get(rx, 1000, 0) == 1000 && queue(rx, FIONREAD) == 2000, "less those that were read");
	check(get(rx, 2000, 0) == 2000 && queue(rx, FIONREAD) == 500, "then of the second");
	check(get(rx, 500, 0) == 500 && queue(rx, FIONREAD) == 0, "and nothing");
}

/* Of a message of which a part was read, and whose rest will not come, there is an error. */
static void check_inq_failed(int rx)
{
	const struct linger now = { 1, 0 };
	int tx = api_connected(QUEUES), i;
	const int len = 200000;
	char *b = calloc(1, len);

	ndp_option(rx, SOL_SOCKET, SO_RCVBUF, 10000);
	check(send(tx, b, len, 0) == len && api_wait(rx, POLLIN, 10000) && get(rx, 100, 0) == 100 &&
	      queue(rx, FIONREAD) == len - 100, "FIONREAD: of a message that is not whole");
	free(b);
	setsockopt(tx, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(tx);
	for (i = 0; i < 10000 && queue(rx, FIONREAD); i++)
		usleep(1000);
	check(queue(rx, FIONREAD) == 0 && api_wait(rx, POLLIN, 0), "0 when its sender gives it up");
	check(api_refused((int)get(rx, 100, 0), ECONNRESET), "which recv() tells");
}

static void check_outq(int fd)
{
	union ndp_address a;
	int bytes;

	ndp_address("10.0.0.9", QUEUES, &a);
	check(queue(fd, SIOCOUTQ) == 0, "SIOCOUTQ: nothing");
	ndp_option(fd, SOL_NDP, NDP_TIMEOUT, 100);
	check(sendto(fd, got.b, 5000, 0, &a.sa, sizeof(a.v4)) == 5000, "to a silent host");
	bytes = queue(fd, SIOCOUTQ);
	check(bytes >= 5000 && bytes < 20000, "SIOCOUTQ: memory of what is not acknowledged: %d",
	      bytes);
	check(api_fails_with(fd, ETIMEDOUT, 1, QUEUES) && queue(fd, SIOCOUTQ) == 0,
	      "nothing when it has failed");
}

void test_queues(void)
{
	int rx = api_receiver(QUEUES), tx = api_sender(), v6 = ndp_socket(ns_a, AF_INET6);

	check_inq(rx, tx);
	check(queue(tx, SIOCOUTQ) == 0, "SIOCOUTQ: all was acknowledged");
	check_inq_failed(rx);
	close(tx);
	tx = api_sender();
	check_outq(tx);
	check(queue(v6, FIONREAD) == 0 && queue(v6, SIOCOUTQ) == 0, "of IPv6, too");
	check(api_refused(ioctl(rx, FIONREAD, NULL), EFAULT), "no address");
	check(api_refused(queue(rx, SIOCATMARK), ENOTTY), "others are refused");
	check(api_refused(queue(v6, SIOCATMARK), ENOTTY), "of IPv6, too");
	close(rx);
	close(tx);
	close(v6);
}
