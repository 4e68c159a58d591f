// SPDX-License-Identifier: GPL-2.0-only
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* setns() affects the calling thread and the sockets that it makes. */
void enter_host(const struct host *host)
{
	static const struct host *current;
	char path[sizeof(host->netns) + 16];
	int fd;

	if (host == current)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", host->netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("host %s: network namespace %s: %s", host->name, host->netns,
		    strerror(errno));
	close(fd);
	current = host;
}

void set_option(int fd, int level, int option, int value, const char *name)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("%s=%d: %s", name, value, strerror(errno));
}

socklen_t address_length(const union address *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

union address address_with_port(const struct host *host, uint16_t port)
{
	union address a = host->address;

	/* sin6_port has the same offset */
	a.in.sin_port = htons(port);
	return a;
}

void bind_to(int fd, const struct host *host, uint16_t port)
{
	union address a = address_with_port(host, port);

	/* connect() chooses the port, so that connections to different hosts may share it */
	if (!port)
		set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1,
			   "IP_BIND_ADDRESS_NO_PORT");
	if (bind(fd, &a.sa, address_length(&a)))
		die("host %s: bind, port=%u: %s", host->name, port, strerror(errno));
}

int pending_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return -error;
}

bool address_same_host(const union address *a, const union address *b)
{
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}
