// SPDX-License-Identifier: GPL-2.0-only
/*
 * ndp_api NS-A NS-B TEST...: check NDP sockets, one call at a time
 *
 * Prints "ok NAME" or "not ok NAME" for each check. Exit status: 0 all passed, 1 one failed.
 * NS-A has address 10.0.0.1, NS-B 10.0.0.2. NS-A has a neighbour entry for 10.0.0.9, a host that
 * does not answer.
 */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ndp_api.h"

#define PATIENCE_MS 10000

const char *ns_a, *ns_b;
static bool failed;

/* Later tests use SOCK_SEQPACKET. */
static void use_seqpacket(void)
{
	ndp_type = SOCK_SEQPACKET;
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "parts", test_parts }, { "flags", test_flags }, { "poll", test_poll },
	{ "queues", test_queues }, { "filter", test_filter }, { "cgroup", test_cgroup },
	{ "bind", test_bind }, { "options", test_options }, { "arguments", test_arguments },
	{ "failures", test_failures }, { "region", test_region },
	{ "region_placed", test_region_placed }, { "region_full", test_region_full },
	{ "region_killed", test_region_killed }, { "region_memory", test_region_memory },
	{ "region_closed", test_region_closed },
	{ "errqueue_etf", test_errqueue_etf }, { "errqueue_icmp", test_errqueue_icmp },
	{ "errqueue_stamps", test_errqueue_stamps },
	{ "scatter", test_scatter }, { "huge", test_huge },
	{ "seqpacket", use_seqpacket },
	{ "turns", test_turns }, { "turns_poll", test_turns_poll },
	{ "no_room", test_no_room }, { "silent", test_silent },
};

void check(bool good, const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("%s ", good ? "ok" : "not ok");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (!good)
		printf(" (errno: %s)", strerror(error));
	printf("\n");
	failed |= !good;
	errno = 0;
}

void api_address(uint16_t port, union ndp_address *a)
{
	ndp_address("10.0.0.2", port, a);
}

int api_sender(void)
{
	return ndp_socket(ns_a, AF_INET);
}

int api_receiver(uint16_t port)
{
	int fd = ndp_socket(ns_b, AF_INET);
	union ndp_address a;

	api_address(port, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind %u", port);
	return fd;
}

int api_connected(uint16_t port)
{
	int fd = api_sender();
	union ndp_address a;

	api_address(port, &a);
	if (connect(fd, &a.sa, sizeof(a.v4)))
		err(2, "connect %u", port);
	return fd;
}

/* Send a message whose bytes are determined by its length. */
ssize_t api_send(int fd, uint16_t port, size_t len, int flags)
{
	uint8_t *b = malloc(len);
	union ndp_address a;
	ssize_t n;

	ndp_fill(b, len, len, 0);
	api_address(port, &a);
	n = sendto(fd, b, len, flags, &a.sa, sizeof(a.v4));
	free(b);
	return n;
}

bool api_wait(int fd, short events, int ms)
{
	struct pollfd pfd = { fd, events, 0 };

	if (poll(&pfd, 1, ms) < 0)
		err(2, "poll");
	return pfd.revents & events;
}

/* Wait until all messages are acknowledged. Return: false after PATIENCE_MS */
bool api_sent(int fd)
{
	struct ndp_info info;
	int i;

	for (i = 0; i < PATIENCE_MS; i++) {
		ndp_info(fd, &info);
		if (!info.msgs_sending)
			return true;
		usleep(1000);
	}
	return false;
}

/* Return: true if the error queue reports that message @msg to @port failed with @error */
bool api_fails_with(int fd, int error, uint64_t msg, uint16_t port)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	union ndp_address from;
	struct msghdr mh = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct ndp_failed f = { 0 };
	struct cmsghdr *cm;

	memset(&from, 0, sizeof(from));
	if (!api_wait(fd, POLLERR, PATIENCE_MS) || recvmsg(fd, &mh, MSG_ERRQUEUE) < 0)
		return false;
	cm = CMSG_FIRSTHDR(&mh);
	if (!cm || cm->cmsg_level != SOL_NDP || cm->cmsg_type != NDP_CMSG_FAILED ||
	    cm->cmsg_len != CMSG_LEN(sizeof(f)))
		return false;
	memcpy(&f, CMSG_DATA(cm), sizeof(f));
	errno = (int)f.error;
	return (int)f.error == error && f.msg == msg && !f.reserved && ndp_port(&from) == port &&
	       mh.msg_flags & MSG_ERRQUEUE;
}

bool api_refused(int result, int error)
{
	return result < 0 && errno == error;
}

static void on_signal(int sig)
{
	(void)sig;
}

int main(int argc, char *argv[])
{
	struct sigaction interrupt = { .sa_handler = on_signal };
	size_t t;
	int i;

	if (argc < 4)
		errx(2, "usage: ndp_api NS-A NS-B TEST...");
	ns_a = argv[1];
	ns_b = argv[2];
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGALRM, &interrupt, NULL);
	for (i = 3; i < argc; i++)
		for (t = 0; t < sizeof(tests) / sizeof(tests[0]); t++)
			if (!strcmp(argv[i], tests[t].name))
				tests[t].run();
	return failed;
}
