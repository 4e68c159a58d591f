// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: the error queue, to which IP and qdiscs add their own reports */
#define _GNU_SOURCE
#include <err.h>
#include <time.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <unistd.h>

#include "ndp_api.h"

#define PORT 1000
#define LEN 30000
#define TIMEOUT_MS 300
#define PATIENCE_US 10000000

/* Read an entry of the error queue. *@f: the failed message, or zeros. Return: recvmsg()'s value */
static ssize_t next_error(int fd, struct ndp_failed *f)
{
	union {
		struct cmsghdr align;
		char b[512];
	} control;
	struct msghdr mh = { .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *cm;
	ssize_t n;

	*f = (struct ndp_failed) { 0 };
	n = recvmsg(fd, &mh, MSG_ERRQUEUE | MSG_DONTWAIT);
	cm = n < 0 ? NULL : CMSG_FIRSTHDR(&mh);
	if (cm && cm->cmsg_level == SOL_NDP && cm->cmsg_type == NDP_CMSG_FAILED &&
	    cm->cmsg_len == CMSG_LEN(sizeof(*f)))
		memcpy(f, CMSG_DATA(cm), sizeof(*f));
	return n;
}

/* Return: true if the error queue's only entry is the failure of message 1 with @error */
static bool only_failure(int fd, int error)
{
	long long began = ndp_now_us();
	struct ndp_failed f;

	while (next_error(fd, &f) < 0) {
		if (errno != EAGAIN || ndp_now_us() - began > PATIENCE_US)
			return false;
		usleep(1000);
	}
	errno = (int)f.error;
	if ((int)f.error != error || f.msg != 1 || f.reserved)
		return false;
	return next_error(fd, &f) < 0 && errno == EAGAIN;
}

static int failing_to(const char *address)
{
	union ndp_address a;
	int fd = api_sender();

	ndp_option(fd, SOL_NDP, NDP_TIMEOUT, TIMEOUT_MS);
	ndp_address(address, PORT, &a);
	if (connect(fd, &a.sa, sizeof(a.v4)))
		err(2, "connect %s", address);
	return fd;
}

static bool send_message(int fd)
{
	static char b[LEN];

	return send(fd, b, sizeof(b), MSG_DONTWAIT) == sizeof(b);
}

/* The root qdisc of a is etf, which drops each packet and reports the drop. */
void test_errqueue_etf(void)
{
	const struct sock_txtime txtime = { CLOCK_TAI, SOF_TXTIME_REPORT_ERRORS };
	int fd = failing_to("10.0.0.2"), rx = api_receiver(PORT);

	if (setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))
		err(2, "SO_TXTIME");
	check(send_message(fd), "message with SO_TXTIME reports is sent");
	check(api_wait(fd, POLLERR, TIMEOUT_MS / 2), "sch_etf reports a dropped packet");
	check(only_failure(fd, ETIMEDOUT),
	      "error queue returns the failed message and no SO_TXTIME report");
	close(rx);
	close(fd);
}

/* b rejects packets to 10.8.0.1 by ICMP. */
void test_errqueue_icmp(void)
{
	int fd = failing_to("10.8.0.1");

	ndp_option(fd, IPPROTO_IP, IP_RECVERR, 1);
	check(send_message(fd), "message with IP_RECVERR is sent");
	check(only_failure(fd, EHOSTUNREACH),
	      "error queue returns the failed message and no ICMP error with IP_RECVERR");
	close(fd);
}

void test_errqueue_stamps(void)
{
	int fd = failing_to("10.0.0.9"), one = 1;
	static char b[LEN];

	ndp_option(fd, SOL_SOCKET, SO_TIMESTAMPING,
		   SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_SCHED |
		   SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE);
	check(send_message(fd), "message with SO_TIMESTAMPING is sent");
	check(only_failure(fd, ETIMEDOUT),
	      "error queue returns the failed message and no transmit timestamp");
	check(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)),
	      "SO_ZEROCOPY is refused");
	check(api_refused((int)send(fd, b, LEN, MSG_ZEROCOPY), EOPNOTSUPP),
	      "MSG_ZEROCOPY is refused with EOPNOTSUPP");
	close(fd);
}
