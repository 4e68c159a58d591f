// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch of two ports that trims NDP packets in all ways in which switches do
 *
 * ndp_relay -a NS/DEV -b NS/DEV [-t PERCENT] [-k BYTES] [-l all|ip|none] [-d DSCP] [-r PERCENT]
 *	[-n COUNT] [-s SEED]
 *
 * Forwards frames between the two devices until SIGTERM. Trims -t PERCENT of the DATA packets to
 * the first -k BYTES, default 56, after the UDP header; 64 keep the tag of a packet with a key.
 * -l: update all lengths, only IP's, or no length; -d: DSCP of trimmed packets; -r: PERCENT of
 * trimmed packets that are returned to the sender; -n: trim only the first COUNT packets. Prints
 * "relay frames=COUNT trimmed=COUNT returned=COUNT".
 *
 * Written from the protocol's description, independently of net/ndp/wire.c.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/packet.h"

#define PORT 61199
#define HEADER 56U
#define KEYED_HEADER 64U
#define UDP 8U
#define FRAME 16384
#define BUFFER_BYTES (16 << 20)

static const char *where[2], *lens = "all";
static unsigned int trim_percent, keep = HEADER, return_percent, most = UINT32_MAX;
static int dscp = -1;
static uint64_t seed = 1;
static unsigned int frames, trimmed, returned;
static volatile sig_atomic_t over;

static void on_signal(int sig)
{
	(void)sig;
	over = true;
}

static bool by_chance(unsigned int percent)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % 100 < percent;
}

static unsigned int get16(const uint8_t *b)
{
	return (unsigned int)(b[0] << 8 | b[1]);
}

static void put16(uint8_t *b, unsigned int v)
{
	b[0] = (uint8_t)(v >> 8);
	b[1] = (uint8_t)v;
}

/* Return: the offset of the UDP header in a frame with an untrimmed DATA packet, else 0 */
static unsigned int find_data(const uint8_t *b, unsigned int len)
{
	unsigned int l4 = 0;

	if (len >= 14 + 20 && get16(b + 12) == ETH_P_IP && b[23] == 17)
		l4 = 14 + (b[14] & 15) * 4U;
	else if (len >= 14 + 40 && get16(b + 12) == ETH_P_IPV6 && b[20] == 17)
		l4 = 14 + 40;
	if (!l4 || len <= l4 + UDP + HEADER || get16(b + l4 + 2) != PORT ||
	    (b[l4 + UDP] != 0x21 && b[l4 + UDP] != 0x31))
		return 0;
	return l4;
}

static void swap(uint8_t *x, uint8_t *y, unsigned int len)
{
	uint8_t tmp[16];

	memcpy(tmp, x, len);
	memcpy(x, y, len);
	memcpy(y, tmp, len);
}

static void turn_back(uint8_t *b, unsigned int l4, bool v6)
{
	swap(b, b + 6, 6);
	if (v6)
		swap(b + 14 + 8, b + 14 + 24, 16);
	else
		swap(b + 14 + 12, b + 14 + 16, 4);
	swap(b + l4, b + l4 + 2, 2);
}

static void put_dscp(uint8_t *ip, bool v6)
{
	unsigned int tos = (unsigned int)dscp << 2;

	if (dscp < 0)
		return;
	if (v6)
		put16(ip, (get16(ip) & 0xf03f) | tos << 4);
	else
		ip[1] = (uint8_t)(tos | (ip[1] & 3));
}

/* Set the lengths of IP and UDP as option -l requires, and the IPv4 checksum. */
static void put_lengths(uint8_t *b, unsigned int l4, unsigned int len, bool v6)
{
	uint32_t sum = 0;
	unsigned int i;

	if (strcmp(lens, "none"))
		put16(b + 14 + (v6 ? 4 : 2), len - 14 - (v6 ? 40 : 0));
	if (!strcmp(lens, "all"))
		put16(b + l4 + 4, len - l4);
	if (v6)
		return;
	put16(b + 24, 0);
	for (i = 14; i < l4; i += 2)
		sum += get16(b + i);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(b + 24, ~((sum & 0xffff) + (sum >> 16)) & 0xffff);
}

/* Trim a frame by chance. *@back: return it to the sender. Return: the frame's new length */
static unsigned int pass(uint8_t *b, unsigned int len, bool *back)
{
	unsigned int l4 = find_data(b, len);
	bool v6 = get16(b + 12) == ETH_P_IPV6;

	*back = false;
	frames++;
	if (!l4 || trimmed == most || !by_chance(trim_percent))
		return len;
	trimmed++;
	len = l4 + UDP + keep;
	put_dscp(b + 14, v6);
	put_lengths(b, l4, len, v6);
	*back = by_chance(return_percent);
	if (*back) {
		returned++;
		turn_back(b, l4, v6);
	}
	return len;
}

static void forward(int from, int to)
{
	static uint8_t b[FRAME];
	ssize_t len = recv(from, b, sizeof(b), MSG_DONTWAIT);
	bool back;

	if (len < ETH_HLEN)
		return;
	len = pass(b, (unsigned int)len, &back);
	/* a device that is full or down drops the frame */
	if (write(back ? from : to, b, (size_t)len) < 0 && errno != ENOBUFS && errno != ENETDOWN)
		err(2, "send");
}

static void options(int argc, char *argv[])
{
	int c;

	while ((c = getopt(argc, argv, "a:b:t:k:l:d:r:n:s:")) != -1) {
		switch (c) {
		case 'a':
			where[0] = optarg;
			break;
		case 'b':
			where[1] = optarg;
			break;
		case 't':
			trim_percent = (unsigned int)atoi(optarg);
			break;
		case 'k':
			keep = (unsigned int)atoi(optarg);
			break;
		case 'l':
			lens = optarg;
			break;
		case 'd':
			dscp = atoi(optarg);
			break;
		case 'r':
			return_percent = (unsigned int)atoi(optarg);
			break;
		case 'n':
			most = (unsigned int)atoi(optarg);
			break;
		case 's':
			seed = (uint64_t)atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (!where[0] || !where[1] || keep > KEYED_HEADER)
		errx(2, "usage: ndp_relay -a NS/DEV -b NS/DEV [OPTION...]");
}

int main(int argc, char *argv[])
{
	struct sigaction end = { .sa_handler = on_signal };
	struct pollfd port[2];
	int i;

	options(argc, argv);
	sigaction(SIGTERM, &end, NULL);
	for (i = 0; i < 2; i++) {
		port[i] = (struct pollfd) { packet_socket(where[i], ETH_P_ALL), POLLIN, 0 };
		packet_option(port[i].fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
		packet_option(port[i].fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES);
	}
	while (!over) {
		if (poll(port, 2, -1) < 0 && errno != EINTR)
			err(2, "poll");
		for (i = 0; i < 2; i++)
			if (port[i].revents & POLLIN)
				forward(port[i].fd, port[!i].fd);
	}
	printf("relay frames=%u trimmed=%u returned=%u\n", frames, trimmed, returned);
	return 0;
}
