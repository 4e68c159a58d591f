// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packet sockets in other network namespaces, see packet.h
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "netns.h"
#include "packet.h"

int packet_socket(const char *where, int protocol)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons((uint16_t)protocol),
	};
	int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;
	const char *dev;

	if (self < 0)
		err(2, "/proc/self/ns/net");
	dev = enter_ns_of(where);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	sll.sll_ifindex = (int)if_nametoindex(dev);
	if (fd < 0 || !sll.sll_ifindex || bind(fd, (struct sockaddr *)&sll, sizeof(sll)))
		err(2, "packet socket on %s", where);
	if (setns(self, CLONE_NEWNET))
		err(2, "setns");
	close(self);
	return fd;
}

void packet_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		err(2, "setsockopt %d %d", level, name);
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

unsigned int packet_wait(int fd, int ms, unsigned int until, bool (*take)(void))
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	long long end = now_ms() + ms, left;
	unsigned int count = 0;

	while (count < until && (left = end - now_ms()) >= 0) {
		if (poll(&pfd, 1, (int)left) < 0)
			err(2, "poll");
		if (pfd.revents)
			count += take();
		else if (!left)
			break;
	}
	return count;
}
