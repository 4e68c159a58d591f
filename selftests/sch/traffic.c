// SPDX-License-Identifier: GPL-2.0-only
/*
 * traffic: socket traffic for the tests
 *
 * traffic udp [-n NS] -d ADDRESS -p PORT [-c COUNT] [-l LENGTH] [-g SEGMENTS]
 *	[-b SNDBUF] [-i MICROSECONDS] [-t TOS] [-z] [-q] [-Z] [-w MILLISECONDS] [-R QPS]
 *	Sends COUNT datagrams of LENGTH bytes; 0: bursts until SIGTERM. Prints
 *	"sent N failed N".
 *	-i: with a COUNT of 0, send a datagram each so many microseconds, instead of bursts
 *	-g: send SEGMENTS datagrams per call by UDP GSO
 *	-z: no checksum (IPv4)
 *	-q: also print "outq N", the bytes charged to the socket for queued packets
 *	-Z: zero-copy; also print "completed N", the number of completed sends
 *	-R: each datagram begins with the BTH of an RDMA WRITE, to QPS queue pairs in turn
 *	-w: wait for returned datagrams and print "returned N tos N length N"
 * traffic tcp-send [-n NS] -d ADDRESS -p PORT -c BYTES [-f]
 *	Sends BYTES of a known sequence; -f: with sendfile(2).
 * traffic tcp-receive [-n NS] -p PORT [-6]
 *	Accepts one connection, checks each byte, and prints "received N".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define PATTERN_BYTES (1 << 20)
#define BURST 16
#define PAUSE_US 2000

struct options {
	const char *ns;
	const char *address;
	uint16_t port;
	unsigned long count;
	unsigned int length;
	unsigned int segments;
	unsigned int qps;
	int sndbuf;
	int tos;
	int wait_ms;
	unsigned int pause_us;
	bool no_check;
	bool outq;
	bool sendfile;
	bool zerocopy;
	bool v6;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		err(2, "setsockopt %d %d", level, name);
}

static socklen_t parse_address(const struct options *o, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, o->address, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(o->port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, o->address, &in6->sin6_addr) != 1)
		errx(2, "invalid address \"%s\"", o->address);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(o->port);
	return sizeof(*in6);
}

/* Write the stream's known sequence of bytes. */
static void fill_pattern(uint8_t *b)
{
	unsigned int i;

	for (i = 0; i < PATTERN_BYTES; i++)
		b[i] = (uint8_t)((i * 2654435761U) >> 23);
}

static uint8_t *pattern(void)
{
	static uint8_t b[PATTERN_BYTES];

	if (!b[1])
		fill_pattern(b);
	return b;
}

/* ---- UDP */

static int udp_socket(const struct options *o)
{
	struct sockaddr_storage ss;
	socklen_t len = parse_address(o, &ss);
	int fd = socket(ss.ss_family, SOCK_DGRAM, 0);

	if (fd < 0)
		err(2, "socket");
	if (o->sndbuf)
		set_option(fd, SOL_SOCKET, SO_SNDBUF, o->sndbuf);
	if (o->zerocopy)
		set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (o->no_check)
		set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1);
	if (ss.ss_family == AF_INET) {
		set_option(fd, IPPROTO_IP, IP_TOS, o->tos);
		set_option(fd, IPPROTO_IP, IP_RECVTOS, 1);
	} else {
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, o->tos);
	}
	if (o->segments > 1)
		set_option(fd, IPPROTO_UDP, UDP_SEGMENT, (int)o->length);
	if (connect(fd, (struct sockaddr *)&ss, len))
		err(2, "connect");
	return fd;
}

static void count_returned(int fd, int wait_ms)
{
	uint8_t b[2048], control[64];
	struct iovec iov = { b, sizeof(b) };
	unsigned int n = 0, tos = 0;
	ssize_t length = 0, received;
	struct pollfd pfd = { fd, POLLIN, 0 };

	while (poll(&pfd, 1, wait_ms) > 0) {
		struct msghdr msg = {
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct cmsghdr *cm;

		received = recvmsg(fd, &msg, 0);
		if (received < 0)
			continue;
		n++;
		length = received;
		cm = CMSG_FIRSTHDR(&msg);
		if (cm && cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_TOS)
			tos = *CMSG_DATA(cm);
		/* further datagrams follow at once or never */
		wait_ms = 300;
	}
	printf("returned %u tos %u length %zd\n", n, tos, length);
}

static void count_completed(int fd, unsigned long awaited)
{
	struct pollfd pfd = { fd, 0, 0 };
	unsigned long n = 0;

	while (n < awaited && poll(&pfd, 1, 2000) > 0) {
		struct sock_extended_err see;
		uint8_t control[256];
		struct msghdr msg = {
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct cmsghdr *cm;

		if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0)
			break;
		cm = CMSG_FIRSTHDR(&msg);
		if (!cm)
			break;
		memcpy(&see, CMSG_DATA(cm), sizeof(see));
		if (see.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
			n += see.ee_data - see.ee_info + 1;
	}
	printf("completed %lu\n", n);
}

/* Write RC WRITE ONLY with ascending PSNs at the beginning of each segment. */
static const uint8_t *roce_payload(const struct options *o, unsigned long sent,
				   unsigned int segments)
{
	static uint8_t b[65536];
	unsigned long psn = sent / o->qps;
	unsigned int i;

	for (i = 0; i < segments; i++) {
		uint8_t *bth = b + i * o->length;

		memset(bth, 0, 12);
		bth[0] = 0x0a;
		bth[7] = (uint8_t)(1 + sent % o->qps);
		bth[9] = (uint8_t)(psn >> 16);
		bth[10] = (uint8_t)(psn >> 8);
		bth[11] = (uint8_t)psn;
	}
	return b;
}

static int udp(const struct options *o)
{
	unsigned long sent = 0, failed = 0;
	unsigned int segments = o->segments ? o->segments : 1;
	int flags = MSG_DONTWAIT | (o->zerocopy ? MSG_ZEROCOPY : 0);
	int fd = udp_socket(o), outq;

	while (!stop && (!o->count || sent + failed < o->count)) {
		const uint8_t *payload = o->qps ? roce_payload(o, sent, segments) :
						  pattern() + sent % 256;
		ssize_t n = send(fd, payload, o->length * segments, flags);

		/* an ICMP error for an earlier datagram; this one was not sent */
		if (n < 0 && errno == ECONNREFUSED)
			continue;
		if (n < 0 && errno == EAGAIN)
			failed++;
		else if (n < 0 && errno != ENOBUFS)
			err(2, "send");
		else
			sent++;
		if (o->pause_us || (!o->count && !((sent + failed) % BURST)))
			usleep(o->pause_us ? o->pause_us : PAUSE_US);
	}
	if (o->zerocopy)
		count_completed(fd, sent);
	if (o->outq && !ioctl(fd, SIOCOUTQ, &outq))
		printf("outq %d\n", outq);
	printf("sent %lu failed %lu\n", sent * segments, failed);
	fflush(stdout);
	if (o->wait_ms)
		count_returned(fd, o->wait_ms);
	return 0;
}

/* ---- TCP */

static void send_file(int fd, unsigned long count)
{
	int mem = memfd_create("pattern", 0);
	unsigned long done = 0;
	off_t at;
	ssize_t n;

	if (mem < 0 || write(mem, pattern(), PATTERN_BYTES) != PATTERN_BYTES)
		err(2, "memfd");
	while (done < count) {
		unsigned long part = count - done;

		at = (off_t)(done % PATTERN_BYTES);
		if (part > PATTERN_BYTES - (unsigned long)at)
			part = PATTERN_BYTES - (unsigned long)at;
		n = sendfile(fd, mem, &at, part);
		if (n <= 0)
			err(2, "sendfile");
		done += (unsigned long)n;
	}
}

static void send_copy(int fd, unsigned long count)
{
	unsigned long done = 0;

	while (done < count) {
		unsigned long at = done % PATTERN_BYTES, part = count - done;
		ssize_t n;

		if (part > PATTERN_BYTES - at)
			part = PATTERN_BYTES - at;
		n = send(fd, pattern() + at, part, 0);
		if (n <= 0)
			err(2, "send");
		done += (unsigned long)n;
	}
}

static int tcp_send(const struct options *o)
{
	struct sockaddr_storage ss;
	socklen_t len = parse_address(o, &ss);
	int fd = socket(ss.ss_family, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&ss, len))
		err(2, "connect");
	if (o->sendfile)
		send_file(fd, o->count);
	else
		send_copy(fd, o->count);
	close(fd);
	return 0;
}

static int tcp_listen(const struct options *o)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(o->port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(o->port) };
	int fd = socket(o->v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		err(2, "socket");
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, o->v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in,
		 o->v6 ? sizeof(in6) : sizeof(in)) || listen(fd, 1))
		err(2, "listen on port %u", o->port);
	return fd;
}

static int tcp_receive(const struct options *o)
{
	static uint8_t b[65536];
	unsigned long done = 0;
	int fd = accept(tcp_listen(o), NULL, NULL);
	ssize_t n, i;

	if (fd < 0)
		err(2, "accept");
	while ((n = read(fd, b, sizeof(b))) > 0) {
		for (i = 0; i < n; i++)
			if (b[i] != pattern()[(done + (unsigned long)i) % PATTERN_BYTES])
				errx(1, "byte %lu is wrong", done + (unsigned long)i);
		done += (unsigned long)n;
	}
	if (n < 0)
		err(1, "read");
	printf("received %lu\n", done);
	return 0;
}

static void usage(void)
{
	errx(2, "usage: traffic udp|tcp-send|tcp-receive OPTION...");
}

static bool parse_flag(struct options *o, int opt)
{
	if (opt == 'z')
		o->no_check = true;
	else if (opt == 'Z')
		o->zerocopy = true;
	else if (opt == 'q')
		o->outq = true;
	else if (opt == 'f')
		o->sendfile = true;
	else if (opt == '6')
		o->v6 = true;
	else
		return false;
	return true;
}

static bool parse_option(struct options *o, int opt)
{
	int n = optarg ? atoi(optarg) : 0;

	if (opt == 'n')
		o->ns = optarg;
	else if (opt == 'd')
		o->address = optarg;
	else if (opt == 'p')
		o->port = (uint16_t)n;
	else if (opt == 'c')
		o->count = strtoul(optarg, NULL, 0);
	else if (opt == 'l')
		o->length = (unsigned int)n;
	else if (opt == 'g')
		o->segments = (unsigned int)n;
	else if (opt == 'b')
		o->sndbuf = n;
	else if (opt == 'i')
		o->pause_us = (unsigned int)n;
	else if (opt == 't')
		o->tos = n;
	else if (opt == 'R')
		o->qps = (unsigned int)n;
	else if (opt == 'w')
		o->wait_ms = n;
	else
		return parse_flag(o, opt);
	return true;
}

int main(int argc, char **argv)
{
	struct options o = { .length = 1000 };
	const char *what = argc > 1 ? argv[1] : "";
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "n:d:p:c:l:g:b:i:t:w:R:zZqf6")) != -1)
		if (!parse_option(&o, opt))
			usage();
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	enter_ns(o.ns);
	if (!strcmp(what, "tcp-receive"))
		return tcp_receive(&o);
	if (!o.address)
		usage();
	if (!strcmp(what, "udp"))
		return udp(&o);
	if (!strcmp(what, "tcp-send"))
		return tcp_send(&o);
	usage();
}
