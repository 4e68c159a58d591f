// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw frames for the tests of closwire
 *
 * closwire_raw pause -s NS/DEV [-c COUNT] [-t] PRIO=QUANTA...
 *	Sends COUNT pause frames (802.1Qbb) for these priorities. -t: first prints the real time
 *	in ns, and sleeps 100 µs afterwards.
 * closwire_raw storm -s NS/DEV [-c COUNT] [-S SEED]
 *	Sends COUNT pause frames for random priorities. Half of the pauses are short, the other
 *	half have typical and extreme lengths. Every tenth frame resumes all priorities.
 * closwire_raw hex -s NS/DEV [-c COUNT] BYTES...
 *	Sends each frame, given in hexadecimal, COUNT times.
 * closwire_raw random -s NS/DEV [-c COUNT] [-S SEED]
 *	Sends COUNT frames of random length and content: shortest and longest frames, half
 *	headers, VLAN tags, MAC control frames, and wrong segmentation and checksum requests.
 *	Prints the number of frames that the kernel accepted.
 * closwire_raw segments -s NS/DEV [-c COUNT]
 *	Sends COUNT TSO packets of 8 segments whose Ethernet header has the type of MAC control
 *	frames.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <netinet/in.h>

#include "../lib/packet.h"

#define FRAME_MAX 70000

static void send_times(int fd, const uint8_t *b, size_t len, unsigned int count)
{
	while (count--)
		if (send(fd, b, len, 0) < 0 && errno != ENOBUFS)
			err(1, "send %zu bytes", len);
}

/* ---- pause frames */

static void pause_frames(int fd, unsigned int count, bool print_time, char **words)
{
	/* destination, source, type, opcode, enabled priorities, quanta */
	uint8_t b[60] = { 0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 0x0b, 0x88, 0x08, 1, 1 };
	unsigned int prio, quanta;
	struct timespec ts;

	for (; *words; words++) {
		if (sscanf(*words, "%u=%u", &prio, &quanta) != 2 || prio > 7 || quanta > 65535)
			errx(2, "%s: PRIO=QUANTA expected", *words);
		b[17] |= (uint8_t)(1 << prio);
		b[18 + 2 * prio] = (uint8_t)(quanta >> 8);
		b[19 + 2 * prio] = (uint8_t)quanta;
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	send_times(fd, b, sizeof(b), count);
	if (print_time) {
		printf("%lld\n", (long long)ts.tv_sec * 1000000000 + ts.tv_nsec);
		usleep(100);
	}
}

static void hex_frames(int fd, unsigned int count, char **words)
{
	static uint8_t b[FRAME_MAX];
	unsigned int byte;
	size_t len;

	for (; *words; words++) {
		for (len = 0; sscanf(*words + 2 * len, "%2x", &byte) == 1; len++)
			b[len] = (uint8_t)byte;
		send_times(fd, b, len, count);
	}
}

/* ---- random frames */

static uint64_t state = 88172645463325252ULL;

static uint32_t random32(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state * 2685821657736338717ULL) >> 32);
}

static unsigned int below(unsigned int n)
{
	return random32() % n;
}

static void storm(int fd, unsigned int count)
{
	static const uint16_t quanta[] = { 0, 1, 2, 3, 10, 100, 1000, 65535 };
	uint8_t b[60] = { 0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 0x0b, 0x88, 0x08, 1, 1 };
	unsigned int i, prio, pause;

	for (i = 0; i < count; i++) {
		b[17] = i % 10 ? (uint8_t)random32() : 0xff;
		for (prio = 0; prio < 8; prio++) {
			pause = below(2) ? quanta[below(8)] : below(64);
			if (i % 10 == 0)
				pause = 0;
			b[18 + 2 * prio] = (uint8_t)(pause >> 8);
			b[19 + 2 * prio] = (uint8_t)pause;
		}
		send_times(fd, b, sizeof(b), 1);
		if (below(4) == 0)
			usleep(below(200));
	}
}

static size_t random_len(void)
{
	static const unsigned int lens[] = {
		14, 15, 16, 17, 18, 20, 33, 34, 59, 60, 61, 1514, 1518, 1519,
	};

	switch (below(4)) {
	case 0: return lens[below(sizeof(lens) / sizeof(lens[0]))];
	case 1: return 14 + below(50);
	case 2: return 14 + below(1500);
	default: return 14 + below(9000);
	}
}

static void random_type(uint8_t *b)
{
	static const uint16_t types[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD,
					  ETH_P_PAUSE, ETH_P_ARP, ETH_P_MPLS_UC, 46, 0 };
	uint16_t type = types[below(sizeof(types) / sizeof(types[0]))];

	b[12] = (uint8_t)(type >> 8);
	b[13] = (uint8_t)type;
	if (type == ETH_P_PAUSE) {
		b[14] = 1;
		b[15] = (uint8_t)below(2);
		/* pauses shorter than 64 quanta, so that the test ends */
		for (b += 18, type = 0; type < 8; type++, b += 2) {
			b[0] = 0;
			b[1] &= 0x3f;
		}
	} else if (type == ETH_P_IP || type == ETH_P_IPV6) {
		b[14] = type == ETH_P_IP ? 0x45 : 0x60;
		b[23] = below(2) ? IPPROTO_TCP : IPPROTO_UDP;
		b[20] = b[23];
	}
}

static struct virtio_net_hdr random_request(size_t len)
{
	struct virtio_net_hdr vh = { .flags = 0 };

	if (below(2)) {
		vh.hdr_len = (uint16_t)below((unsigned int)len + 1);
		return vh;
	}
	vh.flags = below(2) ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0;
	vh.gso_type = (uint8_t)below(below(2) ? 6 : 256);
	vh.gso_size = (uint16_t)below(below(2) ? 1500 : 65536);
	vh.hdr_len = (uint16_t)below(200);
	vh.csum_start = (uint16_t)below(100);
	vh.csum_offset = (uint16_t)below(below(2) ? 20 : 65536);
	return vh;
}

static void random_frames(int fd, unsigned int count)
{
	static uint8_t b[FRAME_MAX];
	unsigned int accepted = 0, i;
	struct virtio_net_hdr vh;
	size_t len, at;

	packet_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	for (i = 0; i < count; i++) {
		struct iovec iov[] = { { &vh, sizeof(vh) }, { b, 0 } };

		len = random_len();
		for (at = 0; at < 64; at++)
			b[at] = (uint8_t)random32();
		b[0] &= 0xfe;
		if (below(4))
			random_type(b);
		vh = random_request(len);
		iov[1].iov_len = len;
		/* ENOBUFS: accepted by the kernel, but dropped by the qdisc */
		accepted += writev(fd, iov, 2) > 0 || errno == ENOBUFS;
	}
	printf("sent %u of %u\n", accepted, count);
	if (accepted < count / 10)
		errx(1, "kernel accepted too few frames");
}

/* ---- segments */

static void segments(int fd, unsigned int count)
{
	static uint8_t b[14 + 20 + 20 + 8 * 100] = {
		2, 0, 0, 0, 0, 0x0a, 2, 0, 0, 0, 0, 0x0b, ETH_P_PAUSE >> 8, ETH_P_PAUSE & 0xff,
		/* IPv4 of 840 bytes, TCP without options */
		0x45, 0, 3, 72, [22] = 64, IPPROTO_TCP, [46] = 0x50,
	};
	struct virtio_net_hdr vh = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .gso_size = 100, .hdr_len = 54,
	};
	struct iovec iov[] = { { &vh, sizeof(vh) }, { b, sizeof(b) } };
	struct sockaddr_ll ll;
	socklen_t len = sizeof(ll);
	struct msghdr msg = {
		.msg_name = &ll, .msg_namelen = sizeof(ll), .msg_iov = iov, .msg_iovlen = 2,
	};

	packet_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
	if (getsockname(fd, (struct sockaddr *)&ll, &len))
		err(1, "getsockname");
	/* the kernel segments by this protocol, not by the header */
	ll.sll_protocol = htons(ETH_P_IP);
	while (count--)
		if (sendmsg(fd, &msg, 0) < 0)
			err(1, "sendmsg");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *where = "";
	const int sndbuf = 64 << 20;
	unsigned int count = 1;
	bool print_time = false;
	int opt, fd;

	optind = 2;
	while ((opt = getopt(argc, argv, "s:c:S:t")) != -1) {
		if (opt == 's')
			where = optarg;
		else if (opt == 'c')
			count = (unsigned int)atoi(optarg);
		else if (opt == 't')
			print_time = true;
		else if (opt == 'S')
			state ^= strtoull(optarg, NULL, 0) << 20;
		else
			return 2;
	}
	fd = packet_socket(where, 0);
	/* fails for root of a user namespace, whose sends then block more often */
	(void)!setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf));
	if (!strcmp(what, "pause"))
		pause_frames(fd, count, print_time, argv + optind);
	else if (!strcmp(what, "hex"))
		hex_frames(fd, count, argv + optind);
	else if (!strcmp(what, "random"))
		random_frames(fd, count);
	else if (!strcmp(what, "storm"))
		storm(fd, count);
	else if (!strcmp(what, "segments"))
		segments(fd, count);
	else
		errx(2,
		     "usage: closwire_raw pause|hex|random|storm|segments -s NS/DEV [-c COUNT] [WORD...]");
	return 0;
}
