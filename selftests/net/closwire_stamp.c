// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware timestamps and PTP clocks of closwire
 *
 * closwire_stamp udp -s NS/DEV -r NS/DEV -d ADDRESS [-c COUNT] [-l LENGTH] [-x]
 *	Turns timestamps on at both ports, sends COUNT datagrams from the first to ADDRESS at the
 *	second, and prints a line for each:
 *		INDEX TX_HARDWARE RX_HARDWARE TX_SOFTWARE RX_SOFTWARE
 *	in ns. Transmit timestamps come from the socket's error queue. Datagrams are sent one at
 *	a time, so that each finds the link idle; with -x, all at once.
 * closwire_stamp config NS/DEV TX_TYPE RX_FILTER
 *	Calls SIOCSHWTSTAMP with these numbers and prints the result of SIOCGHWTSTAMP.
 * closwire_stamp cross /dev/ptpN
 *	Compares the clock with CLOCK_REALTIME by each ioctl for this purpose; prints
 *		precise AHEAD REALTIME / extended BEFORE AFTER / simple BEFORE AFTER
 *	AHEAD: how far the clock is ahead of REALTIME; BEFORE, AFTER: how far it is ahead of the
 *	real time that was read before and after it. All in ns.
 * closwire_stamp hold /dev/ptpN COMMAND
 *	Keeps the clock open while COMMAND deletes the port. Afterwards each call on the clock
 *	must fail with ENODEV.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"

#define COUNT_MAX 4096
#define PORT 4711
#define PATIENCE_MS 10000

/* Timestamps in ns; 0: not received */
struct stamps {
	int64_t tx_hw, tx_sw, rx_hw, rx_sw;
};

static struct stamps stamps[COUNT_MAX];

static int64_t ns_of(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static int64_t ptp_ns(const struct ptp_clock_time *t)
{
	return (int64_t)t->sec * 1000000000 + t->nsec;
}

static void set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		err(2, "setsockopt %d %d", level, name);
}

/* ---- sockets */

/* Enter the namespace of @where, NS/DEV, store DEV in @dev, and open a datagram socket. */
static int socket_at(const char *where, int family, char dev[IFNAMSIZ])
{
	int fd;

	snprintf(dev, IFNAMSIZ, "%s", enter_ns_of(where));
	fd = socket(family, SOCK_DGRAM, 0);
	if (fd < 0)
		err(2, "socket");
	return fd;
}

static int config(int fd, const char *dev, unsigned long request,
		  struct hwtstamp_config *conf)
{
	struct ifreq ifr = { .ifr_data = (void *)conf };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	return ioctl(fd, request, &ifr);
}

static int stamping_socket(const char *where, int family, int flags)
{
	struct hwtstamp_config conf = { .tx_type = HWTSTAMP_TX_ON,
					.rx_filter = HWTSTAMP_FILTER_ALL };
	char dev[IFNAMSIZ];
	int fd = socket_at(where, family, dev);

	if (config(fd, dev, SIOCSHWTSTAMP, &conf))
		err(2, "SIOCSHWTSTAMP on %s", where);
	set_option(fd, SOL_SOCKET, SO_TIMESTAMPING,
		   flags | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RAW_HARDWARE);
	return fd;
}

static socklen_t parse_address(const char *text, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	in->sin_port = htons(PORT);
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		errx(2, "bad address %s", text);
	in6->sin6_family = AF_INET6;
	return sizeof(*in6);
}

/*
 * Receive one message with its timestamps. Messages of the error queue have the kernel's index,
 * data has the index that we sent.
 */
static bool receive(int fd, int flags)
{
	uint32_t data[16384], index = COUNT_MAX;
	union {
		struct cmsghdr align;
		char b[512];
	} control;
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct sock_extended_err see;
	struct timespec ts[3] = { 0 };
	struct cmsghdr *cm;

	if (recvmsg(fd, &msg, flags | MSG_DONTWAIT) < 0)
		return false;
	if (!flags)
		index = data[0];
	for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
		if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_TIMESTAMPING) {
			memcpy(ts, CMSG_DATA(cm), sizeof(ts));
		} else if (flags) {
			memcpy(&see, CMSG_DATA(cm), sizeof(see));
			if (see.ee_origin == SO_EE_ORIGIN_TIMESTAMPING)
				index = see.ee_data;
		}
	}
	if (index >= COUNT_MAX)
		errx(1, "message %u", index);
	if (flags && ts[2].tv_sec)
		stamps[index].tx_hw = ns_of(&ts[2]);
	else if (flags)
		stamps[index].tx_sw = ns_of(&ts[0]);
	else
		stamps[index].rx_hw = ns_of(&ts[2]);
	if (!flags)
		stamps[index].rx_sw = ns_of(&ts[0]);
	return true;
}

static bool complete(unsigned int i)
{
	return stamps[i].tx_hw && stamps[i].tx_sw && stamps[i].rx_hw && stamps[i].rx_sw;
}

/* Receive until datagrams @first to @last have all their timestamps. */
static void receive_all(int tx, int rx, unsigned int first, unsigned int last)
{
	struct pollfd pfd[] = { { tx, 0, 0 }, { rx, POLLIN, 0 } };
	unsigned int i;

	for (i = first; i <= last; i++) {
		while (!complete(i)) {
			if (poll(pfd, 2, PATIENCE_MS) <= 0)
				errx(1, "datagram %u: stamps tx %lld %lld rx %lld %lld", i,
				     (long long)stamps[i].tx_hw, (long long)stamps[i].tx_sw,
				     (long long)stamps[i].rx_hw, (long long)stamps[i].rx_sw);
			if (pfd[0].revents)
				receive(tx, MSG_ERRQUEUE);
			if (pfd[1].revents)
				receive(rx, 0);
		}
	}
}

/* Send datagrams until one has a receive timestamp, which a work item in the kernel enables. */
static void await_stamps(const char *from, int rx, const struct sockaddr_storage *ss,
			 socklen_t len)
{
	struct pollfd pfd = { rx, POLLIN, 0 };
	const uint32_t index = 0;
	char dev[IFNAMSIZ];
	int fd = socket_at(from, ss->ss_family, dev);

	if (connect(fd, (const struct sockaddr *)ss, len))
		err(2, "connect");
	while (!stamps[index].rx_sw) {
		if (send(fd, &index, sizeof(index), 0) < 0)
			err(1, "send");
		if (poll(&pfd, 1, PATIENCE_MS) <= 0)
			errx(1, "no datagram arrives");
		receive(rx, 0);
	}
	memset(&stamps[index], 0, sizeof(stamps[index]));
	close(fd);
}

static void udp(const char *from, const char *to, const char *address, uint32_t count,
		size_t length, bool at_once)
{
	static uint32_t data[16384];
	struct sockaddr_storage ss;
	socklen_t len = parse_address(address, &ss);
	int rx = stamping_socket(to, ss.ss_family,
				 SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RX_SOFTWARE);
	int tx = stamping_socket(from, ss.ss_family,
				 SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_SOFTWARE |
				 SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY |
				 SOF_TIMESTAMPING_OPT_TX_SWHW);
	uint32_t i;

	set_option(rx, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20);
	set_option(tx, SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20);
	set_option(tx, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20);
	if (bind(rx, (struct sockaddr *)&ss, len) || connect(tx, (struct sockaddr *)&ss, len))
		err(2, "%s", address);
	await_stamps(from, rx, &ss, len);
	for (i = 0; i < count; i++) {
		data[0] = i;
		if (send(tx, data, length, 0) < 0)
			err(1, "send");
		if (!at_once)
			receive_all(tx, rx, i, i);
	}
	receive_all(tx, rx, 0, count - 1);
	for (i = 0; i < count; i++)
		printf("%u %lld %lld %lld %lld\n", i, (long long)stamps[i].tx_hw,
		       (long long)stamps[i].rx_hw, (long long)stamps[i].tx_sw,
		       (long long)stamps[i].rx_sw);
}

static void show_config(const char *where, int tx_type, int rx_filter)
{
	struct hwtstamp_config conf = { .tx_type = tx_type, .rx_filter = rx_filter };
	char dev[IFNAMSIZ];
	int fd = socket_at(where, AF_INET, dev);

	if (config(fd, dev, SIOCSHWTSTAMP, &conf))
		err(1, "SIOCSHWTSTAMP");
	memset(&conf, 255, sizeof(conf));
	if (config(fd, dev, SIOCGHWTSTAMP, &conf))
		err(1, "SIOCGHWTSTAMP");
	printf("tx %d rx %d\n", conf.tx_type, conf.rx_filter);
}

/* ---- clocks */

static int open_clock(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0)
		err(2, "%s", path);
	return fd;
}

static void cross(const char *path)
{
	struct ptp_sys_offset_extended ext = { .n_samples = 3 };
	struct ptp_sys_offset_precise pre = { 0 };
	struct ptp_sys_offset simple = { .n_samples = 3 };
	int fd = open_clock(path);
	int64_t device;
	int i;

	if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &pre))
		err(1, "PTP_SYS_OFFSET_PRECISE");
	printf("precise %lld %lld\n",
	       (long long)(ptp_ns(&pre.device) - ptp_ns(&pre.sys_realtime)),
	       (long long)ptp_ns(&pre.sys_realtime));
	if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &ext))
		err(1, "PTP_SYS_OFFSET_EXTENDED");
	for (i = 0; i < 3; i++) {
		device = ptp_ns(&ext.ts[i][1]);
		printf("extended %lld %lld\n", (long long)(device - ptp_ns(&ext.ts[i][0])),
		       (long long)(device - ptp_ns(&ext.ts[i][2])));
	}
	if (ioctl(fd, PTP_SYS_OFFSET, &simple))
		err(1, "PTP_SYS_OFFSET");
	for (i = 0; i < 3; i++) {
		device = ptp_ns(&simple.ts[2 * i + 1]);
		printf("simple %lld %lld\n", (long long)(device - ptp_ns(&simple.ts[2 * i])),
		       (long long)(device - ptp_ns(&simple.ts[2 * i + 2])));
	}
}

static void must_be_gone(const char *what, int result)
{
	if (result >= 0 || errno != ENODEV)
		errx(1, "%s: result %d, error %d", what, result, result < 0 ? errno : 0);
}

static void hold(const char *path, const char *command)
{
	struct ptp_sys_offset_precise pre = { 0 };
	struct timex tx = { .modes = ADJ_FREQUENCY };
	struct ptp_clock_caps caps;
	struct timespec ts;
	int fd = open_clock(path);
	clockid_t clock = (clockid_t)(~(unsigned int)fd << 3 | 3);

	if (clock_gettime(clock, &ts) || ioctl(fd, PTP_CLOCK_GETCAPS, &caps))
		err(1, "%s", path);
	if (system(command))
		errx(2, "%s: failed", command);
	must_be_gone("PTP_CLOCK_GETCAPS", ioctl(fd, PTP_CLOCK_GETCAPS, &caps));
	must_be_gone("PTP_SYS_OFFSET_PRECISE", ioctl(fd, PTP_SYS_OFFSET_PRECISE, &pre));
	must_be_gone("clock_gettime", clock_gettime(clock, &ts));
	must_be_gone("clock_settime", clock_settime(clock, &ts));
	must_be_gone("clock_adjtime", clock_adjtime(clock, &tx));
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *from = "", *to = "", *address = "";
	unsigned long count = 1, length = 100;
	bool at_once = false;
	int opt;

	optind = 2;
	while ((opt = getopt(argc, argv, "s:r:d:c:l:x")) != -1) {
		if (opt == 's')
			from = optarg;
		else if (opt == 'r')
			to = optarg;
		else if (opt == 'd')
			address = optarg;
		else if (opt == 'c')
			count = strtoul(optarg, NULL, 0);
		else if (opt == 'l')
			length = strtoul(optarg, NULL, 0);
		else if (opt == 'x')
			at_once = true;
		else
			return 2;
	}
	if (!strcmp(what, "udp") && count && count <= COUNT_MAX && length >= 4 && length < 65000)
		udp(from, to, address, (uint32_t)count, length, at_once);
	else if (!strcmp(what, "config") && argc == optind + 3)
		show_config(argv[optind], atoi(argv[optind + 1]), atoi(argv[optind + 2]));
	else if (!strcmp(what, "cross") && argc == optind + 1)
		cross(argv[optind]);
	else if (!strcmp(what, "hold") && argc == optind + 2)
		hold(argv[optind], argv[optind + 1]);
	else
		errx(2, "usage: closwire_stamp udp|config|cross|hold ...");
	return 0;
}
