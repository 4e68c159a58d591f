// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_flow: a scripted TCP connection for the tests of congestion control
 *
 * tcp_flow -s NS -r NS -d ADDRESS [-p PORT] [-t SECONDS] STEP...
 *	A client in the first namespace connects to a server in the second. The
 *	client sends, and the server receives and checks each byte; "swap" reverses
 *	the roles. The steps run in order:
 *	  cc=NAME	congestion control of the sender; before "connect", of the
 *			client
 *	  listener-cc=NAME	congestion control of the listening socket, before
 *			"connect"
 *	  max-rate=BPS	SO_MAX_PACING_RATE of the sender, bytes per second
 *	  mss=BYTES	TCP_MAXSEG of the client, before "connect"
 *	  rcvbuf=BYTES	SO_RCVBUF of the server, before "connect"
 *	  unprivileged	continue as user nobody
 *	  connect	connect and accept
 *	  swap		exchange sender and receiver
 *	  send=BYTES	send, and receive all of it
 *	  rpc=COUNT	COUNT times: send 1000 bytes and receive a reply of 1000
 *			bytes; print the time of each in µs, as a line "rpc US"
 *	  think=US	service time before each reply from now on
 *	  put=BYTES	send without receiving
 *	  until=PATH	send and receive until the file exists
 *	  fill		send as much as the socket accepts, without receiving
 *	  receive	receive all data sent so far
 *	  run=COMMAND	run a shell command, which must succeed
 *	  is=NAME	fail unless the sender has this congestion control
 *	  repair	set and clear TCP_REPAIR at the sender
 *	  watch		until the end, another process reads the sender's TCP_CC_INFO
 *	  disconnect	connect(AF_UNSPEC) at the client, close() at the server. The
 *			next "connect" uses the client's socket again
 *	  close		close the sender's socket, even if it has data to send
 *	  eof		receive until the end of the stream
 *	It fails after SECONDS (100). Exit status: 0; 1: a step failed; 2: usage or
 *	set-up error.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"

/* Period of the data; a prime, so that no packet size divides it */
#define PERIOD 65521
#define CHUNK 262144
#define NOBODY 65534
#define RPC_BYTES 1000
/* Interval at which "until" checks for its file */
#define LOOK_MS 5

/* The data, long enough that a chunk can begin at any byte of a period */
static uint8_t pattern[PERIOD + CHUNK];

struct flow {
	struct sockaddr_storage address;
	socklen_t address_len;
	const char *step;
	int listener, client, server;
	int tx, rx;
	uint64_t sent, received;
	unsigned int think_us;
};

static void make_pattern(void)
{
	uint32_t i, x = 1;

	for (i = 0; i < PERIOD; i++) {
		x = x * 1664525 + 1013904223;
		pattern[i] = x >> 24;
	}
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PERIOD];
}

static void set_option(const struct flow *f, int fd, int level, int name, const void *value,
		       socklen_t len)
{
	if (setsockopt(fd, level, name, value, len))
		err(1, "%s", f->step);
}

static void set_int(const struct flow *f, int fd, int level, int name, int value)
{
	set_option(f, fd, level, name, &value, sizeof(value));
}

static int socket_in(const char *ns, int family)
{
	int fd;

	enter_ns(ns);
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(2, "socket");
	return fd;
}

static void parse_address(struct flow *f, const char *text, const char *port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&f->address;
	struct sockaddr_in *in = (struct sockaddr_in *)&f->address;

	in->sin_port = htons(strtoul(port, NULL, 0));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		f->address_len = sizeof(*in);
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		f->address_len = sizeof(*in6);
	} else {
		errx(2, "invalid address \"%s\"", text);
	}
}

/* ---- bytes */

/* Send up to @most bytes. Return: whether the socket accepted any */
static bool push(struct flow *f, uint64_t most)
{
	size_t len = most < CHUNK ? most : CHUNK;
	ssize_t n;

	n = send(f->tx, pattern + f->sent % PERIOD, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		err(1, "%s: send after %llu bytes", f->step, (unsigned long long)f->sent);
	if (n > 0)
		f->sent += n;
	return n > 0;
}

/* Receive and check. Return: number of bytes, 0: end of the stream, -1: none yet */
static ssize_t pull(struct flow *f)
{
	static uint8_t buffer[CHUNK];
	ssize_t n;

	n = recv(f->rx, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN)
		err(1, "%s: receive after %llu bytes", f->step, (unsigned long long)f->received);
	if (n > 0) {
		if (memcmp(buffer, pattern + f->received % PERIOD, n))
			errx(1, "%s: wrong data after %llu bytes", f->step,
			     (unsigned long long)f->received);
		f->received += n;
	}
	return n;
}

static void await(const struct flow *f, bool send, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = f->rx, .events = POLLIN },
		{ .fd = send ? f->tx : -1, .events = POLLOUT },
	};

	if (poll(fds, 2, timeout_ms) < 0)
		err(1, "poll");
}

/* Send up to the @end-th byte without receiving. The socket must accept all of it. */
static void put(struct flow *f, uint64_t end)
{
	while (f->sent < end)
		if (!push(f, end - f->sent))
			errx(1, "%s: the socket is full", f->step);
}

/* Send and receive up to the @end-th byte. */
static void transfer(struct flow *f, uint64_t end)
{
	while (f->received < end) {
		bool more = f->sent < end;

		if (more)
			push(f, end - f->sent);
		if (!pull(f))
			errx(1, "%s: end of stream after %llu bytes", f->step,
			     (unsigned long long)f->received);
		if (f->received < end)
			await(f, more, -1);
	}
}

static void transfer_back(const struct flow *f, size_t bytes)
{
	uint8_t buffer[RPC_BYTES];

	if (send(f->rx, pattern, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		err(1, "%s: sending the reply", f->step);
	if (recv(f->tx, buffer, bytes, MSG_WAITALL) != (ssize_t)bytes)
		err(1, "%s: receiving the reply", f->step);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void rpcs(struct flow *f, unsigned long count)
{
	set_int(f, f->tx, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(f, f->rx, IPPROTO_TCP, TCP_NODELAY, 1);
	while (count--) {
		double began_us = now_us();

		transfer(f, f->sent + RPC_BYTES);
		usleep(f->think_us);
		transfer_back(f, RPC_BYTES);
		printf("rpc %.3f\n", now_us() - began_us);
	}
	fflush(stdout);
}

static void until(struct flow *f, const char *path)
{
	while (access(path, F_OK)) {
		push(f, CHUNK);
		if (!pull(f))
			errx(1, "%s: end of stream", f->step);
		await(f, true, LOOK_MS);
	}
	transfer(f, f->sent);
}

static void receive_to_end(struct flow *f)
{
	ssize_t n;

	while ((n = pull(f)))
		if (n < 0)
			await(f, false, -1);
	if (f->received != f->sent)
		errx(1, "eof: received %llu of %llu bytes", (unsigned long long)f->received,
		     (unsigned long long)f->sent);
}

/* ---- the connection */

static void open_connection(struct flow *f)
{
	if (connect(f->client, (struct sockaddr *)&f->address, f->address_len))
		err(1, "connect");
	f->server = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	if (f->server < 0)
		err(1, "accept");
	f->tx = f->client;
	f->rx = f->server;
	f->sent = 0;
	f->received = 0;
}

static void close_connection(struct flow *f)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (connect(f->client, &none, sizeof(none)))
		err(1, "disconnect");
	close(f->server);
	f->server = -1;
}

static void set_cc(const struct flow *f, int fd, const char *name)
{
	set_option(f, fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name));
}

static void check_cc(const struct flow *f, const char *name)
{
	socklen_t len = 16;
	char is[17] = "";

	if (getsockopt(f->tx, IPPROTO_TCP, TCP_CONGESTION, is, &len))
		err(1, "%s", f->step);
	if (strcmp(is, name))
		errx(1, "%s: congestion control is %s", f->step, is);
}

static void swap(struct flow *f)
{
	int tx = f->tx;

	f->tx = f->rx;
	f->rx = tx;
	f->sent = 0;
	f->received = 0;
}

static void repair(const struct flow *f)
{
	set_int(f, f->tx, IPPROTO_TCP, TCP_REPAIR, 1);
	set_int(f, f->tx, IPPROTO_TCP, TCP_REPAIR, 0);
}

static void watch(const struct flow *f)
{
	pid_t parent = getpid(), child = fork();
	char info[64];
	socklen_t len;

	if (child < 0)
		err(2, "fork");
	while (!child && getppid() == parent) {
		len = sizeof(info);
		if (getsockopt(f->tx, IPPROTO_TCP, TCP_CC_INFO, info, &len))
			err(1, "%s", f->step);
	}
	if (!child)
		exit(0);
}

static void run(const char *command)
{
	if (system(command))
		errx(1, "run=%s: failed", command);
}

/* ---- steps */

static void do_word(struct flow *f, const char *word)
{
	if (!strcmp(word, "unprivileged")) {
		if (setresuid(NOBODY, NOBODY, NOBODY))
			err(1, "setresuid");
	} else if (!strcmp(word, "connect")) {
		open_connection(f);
	} else if (!strcmp(word, "swap")) {
		swap(f);
	} else if (!strcmp(word, "fill")) {
		while (push(f, CHUNK))
			;
	} else if (!strcmp(word, "receive")) {
		transfer(f, f->sent);
	} else if (!strcmp(word, "repair")) {
		repair(f);
	} else if (!strcmp(word, "watch")) {
		watch(f);
	} else if (!strcmp(word, "disconnect")) {
		close_connection(f);
	} else if (!strcmp(word, "close")) {
		close(f->tx);
	} else if (!strcmp(word, "eof")) {
		receive_to_end(f);
	} else {
		errx(2, "unknown step \"%s\"", word);
	}
}

static void do_step(struct flow *f)
{
	const char *value = strchr(f->step, '=');
	size_t len = value ? (size_t)(value - f->step) : 0;
	char word[32];

	if (!value) {
		do_word(f, f->step);
		return;
	}
	value++;
	snprintf(word, sizeof(word), "%.*s", (int)len, f->step);
	if (!strcmp(word, "cc"))
		set_cc(f, f->tx, value);
	else if (!strcmp(word, "listener-cc"))
		set_cc(f, f->listener, value);
	else if (!strcmp(word, "max-rate"))
		set_int(f, f->tx, SOL_SOCKET, SO_MAX_PACING_RATE, atoi(value));
	else if (!strcmp(word, "mss"))
		set_int(f, f->client, IPPROTO_TCP, TCP_MAXSEG, atoi(value));
	else if (!strcmp(word, "rcvbuf"))
		set_int(f, f->listener, SOL_SOCKET, SO_RCVBUF, atoi(value));
	else if (!strcmp(word, "send"))
		transfer(f, f->sent + strtoull(value, NULL, 0));
	else if (!strcmp(word, "rpc"))
		rpcs(f, strtoul(value, NULL, 0));
	else if (!strcmp(word, "think"))
		f->think_us = strtoul(value, NULL, 0);
	else if (!strcmp(word, "put"))
		put(f, f->sent + strtoull(value, NULL, 0));
	else if (!strcmp(word, "until"))
		until(f, value);
	else if (!strcmp(word, "run"))
		run(value);
	else if (!strcmp(word, "is"))
		check_cc(f, value);
	else
		errx(2, "unknown step \"%s\"", f->step);
}

/* Listen on the IPv6 wildcard address, which also accepts IPv4. */
static void listen_at(struct flow *f, uint16_t port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = port,
		.sin6_addr = IN6ADDR_ANY_INIT,
	};

	set_int(f, f->listener, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(f->listener, (struct sockaddr *)&any, sizeof(any)) || listen(f->listener, 1))
		err(2, "listen");
}

int main(int argc, char **argv)
{
	const char *sender = NULL, *receiver = NULL, *address = NULL, *port = "5001";
	struct flow f = { .step = "start" };
	unsigned int seconds = 100;
	int opt;

	while ((opt = getopt(argc, argv, "s:r:d:p:t:")) != -1) {
		if (opt == 's')
			sender = optarg;
		else if (opt == 'r')
			receiver = optarg;
		else if (opt == 'd')
			address = optarg;
		else if (opt == 'p')
			port = optarg;
		else if (opt == 't')
			seconds = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (!sender || !receiver || !address)
		errx(2, "-s, -r and -d are required");
	alarm(seconds);
	make_pattern();
	parse_address(&f, address, port);
	f.listener = socket_in(receiver, AF_INET6);
	listen_at(&f, htons(strtoul(port, NULL, 0)));
	f.client = socket_in(sender, f.address.ss_family);
	f.tx = f.client;
	for (; optind < argc; optind++) {
		f.step = argv[optind];
		do_step(&f);
	}
	return 0;
}
