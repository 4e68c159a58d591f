// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams: count the instructions that move bytes between sockets of two network namespaces
 *
 * streams PROTOCOL FLOWS SIZE WARM COUNT
 *	PROTOCOL: ndp, tcp, udp, or udp-gso. FLOWS processes in namespace a send to one
 *	process in b. Each sender makes WARM calls of SIZE bytes and waits until the receiver
 *	has read the bytes of all senders. The measurement covers COUNT more calls per sender.
 *	udp-gso: SIZE is the size of a datagram; a call has as many as fit in 64 KiB.
 *
 * Prints "instructions N bytes N idle N". The instructions are all that the machine executed
 * until the receiver had read the last byte (machine.h).
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "../net/ndp_tool.h"
#include "machine.h"

#define PORT		5001
#define BUFFER		(1 << 20)
#define RCVBUF		(64 << 20)	/* room for a whole measurement */
#define GSO_BYTES	65000
#define EVENTS		64

static const struct protocol {
	const char *name;
	int type;
	int protocol;
} protocols[] = {
	{ "ndp", SOCK_RDM, IPPROTO_NDP },
	{ "tcp", SOCK_STREAM, IPPROTO_TCP },
	{ "udp", SOCK_DGRAM, IPPROTO_UDP },
	{ "udp-gso", SOCK_DGRAM, IPPROTO_UDP },
};

static struct options {
	const struct protocol *p;
	int flows;
	size_t size;	/* bytes of a call */
	int segment;	/* udp-gso: bytes of a datagram */
	int warm;
	int count;
} o;

static uint8_t buffer[BUFFER];
static int ready[2], go[2];

static bool is_gso(void)
{
	return !strcmp(o.p->name, "udp-gso");
}

static int new_socket(const char *ns)
{
	int fd;

	enter_ns(ns);
	fd = socket(AF_INET, o.p->type, o.p->protocol);
	if (fd < 0)
		err(2, "socket");
	return fd;
}

/* ---- receiver */

static int listener(void)
{
	union ndp_address a;
	int fd = new_socket("b");

	ndp_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	ndp_address("10.0.0.2", PORT, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind");
	if (o.p->type == SOCK_STREAM && listen(fd, o.flows))
		err(2, "listen");
	if (o.p->type != SOCK_STREAM)
		ndp_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF);
	if (is_gso())
		ndp_option(fd, SOL_UDP, UDP_GRO, 1);
	return fd;
}

static void watch(int epoll, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		err(2, "epoll_ctl");
}

/* Read until the socket is empty. Return: bytes read */
static uint64_t drain(int fd)
{
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
		bytes += (uint64_t)n;
	if (n < 0 && errno != EAGAIN)
		err(1, "recv");
	return bytes;
}

static void receive(int epoll, uint64_t bytes)
{
	struct epoll_event events[EVENTS];
	uint64_t received = 0;
	int i, n;

	while (received < bytes) {
		n = epoll_wait(epoll, events, EVENTS, -1);
		for (i = 0; i < n; i++)
			received += drain(events[i].data.fd);
	}
	if (received > bytes || write(ready[1], "", 1) != 1)
		errx(1, "received %llu bytes, not %llu", (unsigned long long)received,
		     (unsigned long long)bytes);
}

static void receiver(int fd)
{
	uint64_t call = (uint64_t)o.flows * o.size;
	int epoll = epoll_create1(0), i;

	if (o.p->type != SOCK_STREAM)
		watch(epoll, fd);
	for (i = 0; o.p->type == SOCK_STREAM && i < o.flows; i++)
		watch(epoll, accept(fd, NULL, NULL));
	receive(epoll, call * (uint64_t)o.warm);
	receive(epoll, call * (uint64_t)o.count);
	pause();
}

/* ---- senders */

static void send_calls(int fd, int count)
{
	for (; count; count--)
		if (send(fd, buffer, o.size, 0) != (ssize_t)o.size)
			err(1, "send");
}

static void sender(int fd)
{
	union ndp_address a;
	char c;

	close(fd);
	fd = new_socket("a");
	ndp_address("10.0.0.2", PORT, &a);
	if (connect(fd, &a.sa, sizeof(a.v4)))
		err(2, "connect");
	if (is_gso())
		ndp_option(fd, SOL_UDP, UDP_SEGMENT, o.segment);
	send_calls(fd, o.warm);
	if (read(go[0], &c, 1))
		err(2, "pipe");
	send_calls(fd, o.count);
	pause();
}

/* ---- both */

static void wait_until_received(void)
{
	char c;

	if (read(ready[0], &c, 1) != 1)
		errx(1, "the receiver failed");
}

static void measure(void)
{
	struct span s;

	wait_until_received();
	span_begin(&s);
	close(go[1]);
	wait_until_received();
	span_end(&s);
	printf("instructions %llu bytes %llu idle %llu\n", s.instructions,
	       (unsigned long long)o.flows * o.size * (unsigned int)o.count, s.idle);
}

static void parse(char *argv[])
{
	size_t i;

	for (i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (!strcmp(argv[1], protocols[i].name))
			o.p = &protocols[i];
	o.flows = atoi(argv[2]);
	o.size = strtoul(argv[3], NULL, 10);
	o.warm = atoi(argv[4]);
	o.count = atoi(argv[5]);
	if (!o.p || o.flows <= 0 || !o.size || o.size > BUFFER || o.warm <= 0 || o.count <= 0)
		errx(2, "invalid argument");
	o.segment = (int)o.size;
	if (is_gso())
		o.size *= GSO_BYTES / o.size;
}

/* A child exits only if it failed. All other processes then end as well. */
static void child_ended(int signal_number)
{
	(void)signal_number;
	_exit(1);
}

static void start(void (*run)(int), int fd)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(go[1]);
	run(fd);
}

/* End all children, and thereby close their sockets. */
static void end_children(void)
{
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char *argv[])
{
	int fd, i;

	if (argc != 6)
		errx(2, "usage: streams PROTOCOL FLOWS SIZE WARM COUNT");
	parse(argv);
	if (pipe(ready) || pipe(go))
		err(2, "pipe");
	setpgid(0, 0);
	signal(SIGCHLD, child_ended);
	fd = listener();
	start(receiver, fd);
	for (i = 0; i < o.flows; i++)
		start(sender, fd);
	measure();
	end_children();
	return 0;
}
