// SPDX-License-Identifier: GPL-2.0-only
/* Functions for all tools that test NDP sockets */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "ndp_tool.h"

/* Type of the sockets that ndp_socket() opens: SOCK_RDM or SOCK_SEQPACKET */
int ndp_type = SOCK_RDM;

/* Open a socket in a network namespace; the process stays in its own. */
int ndp_socket(const char *ns, int family)
{
	int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;

	if (self < 0)
		err(2, "/proc/self/ns/net");
	enter_ns(ns);
	fd = socket(family, ndp_type | SOCK_CLOEXEC, IPPROTO_NDP);
	if (fd < 0)
		err(2, "socket");
	if (setns(self, CLONE_NEWNET))
		err(2, "setns");
	close(self);
	return fd;
}

/* Parse an address. IPv6 addresses may end with %DEVICE, a device of the process's namespace. */
void ndp_address(const char *text, uint16_t port, union ndp_address *a)
{
	char address[INET6_ADDRSTRLEN + 1], *device;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(port);
		return;
	}
	snprintf(address, sizeof(address), "%s", text);
	device = strchr(address, '%');
	if (device) {
		*device++ = '\0';
		a->v6.sin6_scope_id = if_nametoindex(device);
	}
	if (inet_pton(AF_INET6, address, &a->v6.sin6_addr) != 1)
		errx(2, "bad address %s", text);
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(port);
}

socklen_t ndp_address_len(const union ndp_address *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

uint16_t ndp_port(const union ndp_address *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

uint16_t ndp_own_port(int fd)
{
	union ndp_address a;
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.sa, &len))
		err(2, "getsockname");
	return ndp_port(&a);
}

void ndp_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		err(2, "setsockopt %d %d %d", level, name, value);
}

void ndp_info(int fd, struct ndp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (getsockopt(fd, SOL_NDP, NDP_INFO, info, &len))
		err(2, "NDP_INFO");
}

long long ndp_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* ---- content of messages: each word of 8 bytes is a function of a key and the word's offset */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* The key of message @n depends on the sender's port, so that other senders' data is detected. */
uint64_t ndp_key(uint64_t seed, uint16_t port, uint32_t n)
{
	return mix(mix(seed) + ((uint64_t)port << 32 | n)) << 1;
}

void ndp_fill(uint8_t *b, size_t len, uint64_t key, uint64_t offset)
{
	while (len) {
		uint64_t word = mix(key + offset / 8);
		size_t skip = offset % 8, n = 8 - skip < len ? 8 - skip : len;

		memcpy(b, (uint8_t *)&word + skip, n);
		b += n;
		len -= n;
		offset += n;
	}
}

/* Return: the number of correct bytes before the first wrong word; @len: all are correct */
size_t ndp_right(const uint8_t *b, size_t len, uint64_t key, uint64_t offset)
{
	size_t at = 0;

	while (at < len) {
		uint64_t word = mix(key + (offset + at) / 8);
		size_t skip = (offset + at) % 8, n = 8 - skip < len - at ? 8 - skip : len - at;

		if (memcmp(b + at, (uint8_t *)&word + skip, n))
			break;
		at += n;
	}
	return at;
}
