// SPDX-License-Identifier: GPL-2.0-only
/*
 * rpc: count the instructions of a request and its response
 *
 * rpc PROTOCOL SIZE WARM COUNT
 *	PROTOCOL: ndp, tcp or udp. A process in namespace a sends COUNT requests of SIZE bytes,
 *	one after the other, to a process in b, which answers each with as many bytes. All use
 *	one socket or connection, and WARM requests come before the measurement.
 *
 * Prints "instructions N rpcs N idle N". The instructions are all that the machine executed, both
 * programs and the kernel (machine.h).
 */
#include <err.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "../net/ndp_tool.h"
#include "machine.h"

#define PORT	5002
#define BUFFER	(1 << 20)

static const struct protocol {
	const char *name;
	int type;
	int protocol;
} protocols[] = {
	{ "ndp", SOCK_RDM, IPPROTO_NDP },
	{ "tcp", SOCK_STREAM, IPPROTO_TCP },
	{ "udp", SOCK_DGRAM, IPPROTO_UDP },
};

static const struct protocol *protocol;
static size_t size;
static char buffer[BUFFER];

static int new_socket(const char *ns)
{
	int fd;

	enter_ns(ns);
	fd = socket(AF_INET, protocol->type, protocol->protocol);
	if (fd < 0)
		err(2, "socket");
	if (protocol->type == SOCK_STREAM)
		ndp_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	return fd;
}

/* Receive SIZE bytes: a message, or as many calls as a stream needs. */
static void receive(int fd, union ndp_address *from)
{
	socklen_t len = sizeof(*from);
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = recvfrom(fd, buffer, sizeof(buffer), 0, &from->sa, &len);
		if (n <= 0)
			err(1, "recv");
		done += (size_t)n;
	}
}

static void server(int fd)
{
	bool stream = protocol->type == SOCK_STREAM;
	union ndp_address from;

	if (stream)
		fd = accept(fd, NULL, NULL);
	for (;;) {
		receive(fd, &from);
		if (sendto(fd, buffer, size, 0, stream ? NULL : &from.sa,
			   stream ? 0 : sizeof(from.v4)) != (ssize_t)size)
			err(1, "send");
	}
}

static int listener(void)
{
	union ndp_address a;
	int fd = new_socket("b");

	ndp_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	ndp_address("10.0.0.2", PORT, &a);
	if (bind(fd, &a.sa, sizeof(a.v4)))
		err(2, "bind");
	if (protocol->type == SOCK_STREAM && listen(fd, 1))
		err(2, "listen");
	return fd;
}

static void calls(int fd, int count)
{
	union ndp_address from;

	for (; count; count--) {
		if (send(fd, buffer, size, 0) != (ssize_t)size)
			err(1, "send");
		receive(fd, &from);
	}
}

static void client(int warm, int count)
{
	int fd = new_socket("a");
	union ndp_address a;
	struct span s;

	ndp_address("10.0.0.2", PORT, &a);
	if (connect(fd, &a.sa, sizeof(a.v4)))
		err(2, "connect");
	calls(fd, warm);
	span_begin(&s);
	calls(fd, count);
	span_end(&s);
	printf("instructions %llu rpcs %d idle %llu\n", s.instructions, count, s.idle);
}

int main(int argc, char *argv[])
{
	int fd, warm, count;
	pid_t child;
	size_t i;

	if (argc != 5)
		errx(2, "usage: rpc PROTOCOL SIZE WARM COUNT");
	for (i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (!strcmp(argv[1], protocols[i].name))
			protocol = &protocols[i];
	size = strtoul(argv[2], NULL, 10);
	warm = atoi(argv[3]);
	count = atoi(argv[4]);
	if (!protocol || !size || size > BUFFER || warm <= 0 || count <= 0)
		errx(2, "invalid argument");
	fd = listener();
	child = fork();
	if (child < 0)
		err(2, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		server(fd);
	}
	close(fd);
	client(warm, count);
	kill(child, SIGKILL);
	return 0;
}
