// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP's sockets: addresses, options, arguments, and messages that fail */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_api.h"

#define PORT 1000
#define TURN_BYTES 8000000
#define MSG_TIMEOUT_MS 1000

/* bind() in b; returns the socket, or -1 */
static int bound(int family, const char *address, uint16_t port)
{
	int fd = ndp_socket(ns_b, family);
	union ndp_address a;

	ndp_address(address, port, &a);
	if (!bind(fd, &a.sa, ndp_address_len(&a)))
		return fd;
	close(fd);
	return -1;
}

static bool taken(int family, const char *address, uint16_t port)
{
	return api_refused(bound(family, address, port), EADDRINUSE);
}

static void check_conflicts(void)
{
	int one = bound(AF_INET, "10.0.0.2", PORT), two;

	check(one >= 0, "bind to an address");
	check(taken(AF_INET, "10.0.0.2", PORT), "not twice");
	check(taken(AF_INET, "0.0.0.0", PORT), "nor to any address");
	check(taken(AF_INET6, "::", PORT), "nor to any of IPv6, with those of IPv4");
	check(taken(AF_INET6, "::ffff:10.0.0.2", PORT), "nor to the mapped address");
	two = bound(AF_INET, "127.0.0.1", PORT);
	check(two >= 0, "another address is free");
	close(two);
	two = bound(AF_INET6, "::1", PORT);
	check(two >= 0, "and one of IPv6");
	close(two);
	close(one);
	one = bound(AF_INET6, "::", PORT);
	check(one >= 0, "free after close(): any address of IPv6");
	check(taken(AF_INET, "10.0.0.2", PORT), "which takes those of IPv4");
	close(one);
}

static void check_v6only(void)
{
	int one = ndp_socket(ns_b, AF_INET6), two;
	union ndp_address a;

	ndp_option(one, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	ndp_address("::", PORT, &a);
	check(!bind(one, &a.sa, sizeof(a.v6)), "IPV6_V6ONLY");
	two = bound(AF_INET, "0.0.0.0", PORT);
	check(two >= 0, "leaves IPv4 to others");
	close(one);
	close(two);
}

static void check_ephemeral(void)
{
	int one = bound(AF_INET, "10.0.0.2", 0), two = bound(AF_INET, "10.0.0.2", 0);

	check(one >= 0 && two >= 0 && ndp_own_port(one) >= 1024 && ndp_own_port(two) >= 1024 &&
	      ndp_own_port(one) != ndp_own_port(two), "port 0: any that is free");
	check(api_refused(bind(one, NULL, 0), EFAULT) || errno == EINVAL, "bind to nothing");
	close(one);
	close(two);
	check(api_refused(bound(AF_INET, "10.0.0.77", PORT), EADDRNOTAVAIL),
	      "an address of others");
	one = api_sender();
	check(api_send(one, PORT + 5, 1, 0) == 1 && ndp_own_port(one), "sendto() binds");
	close(one);
}

static void check_connect(void)
{
	int rx = api_receiver(PORT), tx = api_connected(PORT);
	union ndp_address a = { .sa.sa_family = AF_UNSPEC };
	struct iovec iov[] = { { "ab", 2 }, { "cd", 2 } };
	socklen_t len = sizeof(a);
	char b[8];

	check(write(tx, "abcd", 4) == 4 && read(rx, b, 8) == 4, "connected: write() and read()");
	check(writev(tx, iov, 2) == 4 && read(rx, b, 8) == 4 && !memcmp(b, "abcd", 4), "writev()");
	check(!connect(tx, &a.sa, sizeof(a.sa)), "disconnect");
	check(api_refused((int)write(tx, "abcd", 4), EDESTADDRREQ), "disconnected");
	check(api_refused(getpeername(tx, &a.sa, &len), ENOTCONN), "no peer");
	check(api_send(tx, PORT, 3, 0) == 3 && read(rx, b, 8) == 3, "sendto() works as before");
	api_address(PORT, &a);
	check(!connect(tx, &a.sa, sizeof(a.v4)) && !getpeername(tx, &a.sa, &len) &&
	      ndp_port(&a) == PORT, "connected again");
	close(tx);
	close(rx);
}

static int on_device(const char *device)
{
	int fd = ndp_socket(ns_b, AF_INET);
	union ndp_address a;

	ndp_address("0.0.0.0", PORT, &a);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)))
		err(2, "SO_BINDTODEVICE %s", device);
	if (!bind(fd, &a.sa, sizeof(a.v4)))
		return fd;
	close(fd);
	return -1;
}

static void check_device(void)
{
	int lo = on_device("lo"), w1 = on_device("w1"), tx = api_sender();
	char b[8];

	check(lo >= 0 && w1 >= 0, "SO_BINDTODEVICE: two devices, one port");
	check(taken(AF_INET, "0.0.0.0", PORT), "which is not free for all");
	check(api_send(tx, PORT, 3, 0) == 3 && api_sent(tx) && recv(w1, b, 8, MSG_DONTWAIT) == 3,
	      "a message comes to the socket of its device");
	close(w1);
	check(api_send(tx, PORT, 3, 0) == 3 && api_fails_with(tx, ECONNREFUSED, 2, PORT),
	      "and not to another one");
	close(lo);
	close(tx);
}

void test_bind(void)
{
	check_conflicts();
	check_device();
	check_v6only();
	check_ephemeral();
	check_connect();
}

/* ---- options */

static bool option_is(int fd, int name, uint32_t want)
{
	uint32_t value = 0;
	socklen_t len = sizeof(value);

	return !getsockopt(fd, SOL_NDP, name, &value, &len) && len == 4 && value == want;
}

static bool set(int fd, int name, uint32_t value)
{
	return !setsockopt(fd, SOL_NDP, name, &value, sizeof(value));
}

static void check_range(int fd, int name, const char *what, uint32_t max)
{
	check(set(fd, name, 1) && option_is(fd, name, 1), "%s: 1", what);
	check(set(fd, name, max) && option_is(fd, name, max), "%s: %u", what, max);
	check(!set(fd, name, max + 1) && (errno == EINVAL || errno == ERANGE), "%s: not %u", what,
	      max + 1);
	check(!set(fd, name, UINT32_MAX), "%s: not 2^32 - 1", what);
	check(option_is(fd, name, max), "%s: what is refused changes nothing", what);
	check(set(fd, name, 0), "%s: 0, the default", what);
	check(setsockopt(fd, SOL_NDP, name, &max, 3) && errno == EINVAL, "%s: too short", what);
	check(setsockopt(fd, SOL_NDP, name, NULL, 4) && errno == EFAULT, "%s: no address", what);
}

static void check_info(int fd)
{
	uint8_t info[sizeof(struct ndp_info) + 64];
	socklen_t len = sizeof(info);

	check(!getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && len == sizeof(struct ndp_info),
	      "NDP_INFO says how long it is");
	memset(info, 0xaa, sizeof(info));
	len = 8;
	check(!getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && len == 8 && info[8] == 0xaa,
	      "and gives no more than there is room for");
	check(!set(fd, NDP_INFO, 0) && errno == ENOPROTOOPT, "NDP_INFO is not to be set");
	len = (socklen_t)-1;
	check(getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && errno == EINVAL, "a length below 0");
	len = sizeof(info);
	check(getsockopt(fd, SOL_NDP, NDP_INFO, NULL, &len) && errno == EFAULT, "no address");
	check(!set(fd, 99, 0) && errno == ENOPROTOOPT, "no such option");
	check(getsockopt(fd, SOL_NDP, 99, info, &len) && errno == ENOPROTOOPT, "nor to get");
}

void test_options(void)
{
	int fd = api_sender(), value = 0;
	socklen_t len = sizeof(value);

	check_range(fd, NDP_INITIAL_WINDOW, "NDP_INITIAL_WINDOW", NDP_WINDOW_MAX);
	check_range(fd, NDP_TIMEOUT, "NDP_TIMEOUT", NDP_TIMEOUT_MAX);
	check_info(fd);
	ndp_option(fd, IPPROTO_IP, IP_TTL, 5);
	check(!getsockopt(fd, IPPROTO_IP, IP_TTL, &value, &len) && value == 5, "IP's own options");
	check(!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &len) && value == IPPROTO_NDP,
	      "SO_PROTOCOL");
	check(!getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len) && value == ndp_type, "SO_TYPE");
	check(api_refused(listen(fd, 1), EOPNOTSUPP), "no listen()");
	check(api_refused(accept(fd, NULL, NULL), EOPNOTSUPP), "no accept()");
	close(fd);
	check(api_refused(socket(AF_INET, SOCK_DGRAM, IPPROTO_NDP), EPROTONOSUPPORT) ||
	      errno == EINVAL, "not of SOCK_DGRAM");
	check(api_refused(socket(AF_INET, SOCK_RDM, IPPROTO_UDP), EPROTONOSUPPORT) ||
	      errno == ESOCKTNOSUPPORT, "SOCK_RDM has no UDP");
}

/* ---- arguments */

static int send_to(int fd, const char *address, uint16_t port, socklen_t len)
{
	union ndp_address a;

	ndp_address(address, port, &a);
	return (int)sendto(fd, "x", 1, 0, &a.sa, len ? len : ndp_address_len(&a));
}

void test_arguments(void)
{
	int fd = api_sender(), v6 = ndp_socket(ns_a, AF_INET6);
	union ndp_address a;

	check(api_refused((int)send(fd, "x", 1, 0), EDESTADDRREQ), "no destination");
	check(api_refused(send_to(fd, "10.0.0.2", 0, 0), EINVAL), "port 0");
	check(api_refused(send_to(fd, "10.0.0.2", PORT, 4), EINVAL), "half an address");
	check(api_refused(send_to(fd, "::1", PORT, 0), EAFNOSUPPORT), "IPv6 of a socket of IPv4");
	check(send_to(fd, "224.0.0.1", PORT, 0) < 0, "not to a group");
	check(send_to(fd, "255.255.255.255", PORT, 0) < 0, "not to all");
	check(send_to(fd, "10.0.0.255", PORT, 0) < 0, "not to all of a network");
	check(send_to(v6, "ff02::1", PORT, 0) < 0, "not to a group of IPv6");
	check(send_to(v6, "fe80::1", PORT, 0) < 0, "link-local, but no link");
	check(api_refused(send_to(fd, "192.0.2.1", PORT, 0), ENETUNREACH), "no route");
	check(api_refused(send_to(v6, "2001:db8:9::1", PORT, 0), ENETUNREACH), "no route of IPv6");
	close(v6);
	v6 = ndp_socket(ns_a, AF_INET6);
	ndp_option(v6, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	check(send_to(v6, "::ffff:10.0.0.2", PORT, 0) < 0, "IPV6_V6ONLY: not to IPv4");
	check(api_refused((int)api_send(fd, PORT, 0, 0), EINVAL), "0 bytes");
	api_address(PORT, &a);
	check(api_refused((int)sendto(fd, NULL, 100, 0, &a.sa, sizeof(a.v4)), EFAULT), "no memory");
	ndp_option(fd, SOL_SOCKET, SO_SNDBUF, 20000);
	check(api_refused((int)api_send(fd, PORT, 1000000, MSG_DONTWAIT), EMSGSIZE),
	      "MSG_DONTWAIT: longer than SO_SNDBUF");
	close(fd);
	close(v6);
}

/* ---- failures */

static void check_no_port(void)
{
	int fd = api_connected(PORT + 1);

	check(send(fd, "x", 1, 0) == 1, "no such port: sent");
	check(api_fails_with(fd, ECONNREFUSED, 1, PORT + 1), "ECONNREFUSED, of message 1");
	check(api_refused((int)send(fd, "x", 1, 0), ECONNREFUSED), "the next call says it");
	check(send(fd, "x", 1, 0) == 1, "and the one after that does not");
	check(api_fails_with(fd, ECONNREFUSED, 2, PORT + 1) || errno == ECONNREFUSED,
	      "ECONNREFUSED again");
	close(fd);
}

static void check_silent(void)
{
	int fd = api_sender(), rx = api_receiver(PORT);
	long long began = ndp_now_us();
	union ndp_address a;
	char b[8];

	ndp_option(fd, SOL_NDP, NDP_TIMEOUT, 100);
	ndp_address("10.0.0.9", PORT, &a);
	check(sendto(fd, "x", 1, 0, &a.sa, sizeof(a.v4)) == 1, "a silent host: sent");
	check(api_send(fd, PORT, 2, 0) == 2 && read(rx, b, 8) == 2, "others get theirs meanwhile");
	check(api_fails_with(fd, ETIMEDOUT, 1, PORT), "ETIMEDOUT, of message 1");
	check(ndp_now_us() - began >= 100000, "not before NDP_TIMEOUT");
	check(api_send(fd, PORT, 3, 0) == 3 && read(rx, b, 8) == 3,
	      "of a socket that is not connected, no other call says it");
	check(api_sent(fd), "nothing is under way any more");
	close(fd);
	close(rx);
}

/* The socket goes, and another one has its port: what was not delivered is sent again. */
static void check_reborn(void)
{
	int rx = api_receiver(PORT), tx = api_sender(), i;
	char b[8];

	for (i = 0; i < 3; i++) {
		check(api_send(tx, PORT, 5, 0) == 5 && read(rx, b, 8) == 5 && api_sent(tx),
		      "receiver %d gets its message", i);
		close(rx);
		rx = api_receiver(PORT);
	}
	check(!api_wait(rx, POLLIN, 20), "and no other one");
	close(rx);
	check(api_send(tx, PORT, 5, 0) == 5 && api_fails_with(tx, ECONNREFUSED, 4, PORT),
	      "without a receiver: ECONNREFUSED");
	close(tx);
}

void test_failures(void)
{
	check_no_port();
	check_silent();
	check_reborn();
}

/* ---- messages that are sent one after the other */

/* Another process sends by the same socket. */
static void send_beside(int fd, char *b, size_t len)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (!pid)
		_exit(send(fd, b, len, 0) != (ssize_t)len);
}

/* From SOCK_SEQPACKET: to SOCK_RDM, so that the receiver does not put them in order */
void test_turns(void)
{
	int type = ndp_type, rx, fd, i, status;
	struct ndp_info info = { 0 };
	char *b = calloc(1, TURN_BYTES);

	ndp_type = SOCK_RDM;
	rx = api_receiver(PORT);
	ndp_option(rx, SOL_SOCKET, SO_RCVBUFFORCE, 8 * TURN_BYTES);
	ndp_type = type;
	fd = api_connected(PORT);
	send_beside(fd, b, TURN_BYTES);
	for (; !info.msgs_sending; usleep(1000))
		ndp_info(fd, &info);
	send_beside(fd, b, 1);
	check(read(rx, b, TURN_BYTES) == TURN_BYTES, "a message waits until a long one is sent");
	check(read(rx, b, TURN_BYTES) == 1, "then it is sent");
	for (i = 0; i < 2; i++)
		check(wait(&status) > 0 && !status, "sent without an error");
	free(b);
	close(fd);
	close(rx);
}

/* While it is not a message's turn, poll() does not say that it can be sent; then it does. */
void test_turns_poll(void)
{
	int fd = api_sender(), status;
	struct ndp_info info = { 0 };
	char *b = calloc(1, TURN_BYTES);
	union ndp_address a;

	ndp_address("10.0.0.9", PORT, &a);
	if (connect(fd, &a.sa, sizeof(a.v4)))
		err(2, "connect");
	ndp_option(fd, SOL_NDP, NDP_TIMEOUT, MSG_TIMEOUT_MS);
	ndp_option(fd, SOL_SOCKET, SO_SNDBUF, 65536);
	send_beside(fd, b, TURN_BYTES);
	/* it waits for room, as nothing is acknowledged */
	while (api_wait(fd, POLLOUT, 0))
		usleep(1000);
	/* not for all of it */
	ndp_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, 200000);
	check(api_wait(fd, POLLOUT, 0), "there is room");
	check(api_refused((int)send(fd, b, 1, MSG_DONTWAIT), EAGAIN), "but it is not its turn");
	check(!api_wait(fd, POLLOUT, 0), "no POLLOUT until it is");
	check(api_wait(fd, POLLOUT, 10 * MSG_TIMEOUT_MS), "then POLLOUT");
	ndp_info(fd, &info);
	check(!info.msgs_sending, "not before the other message has ended");
	check(send(fd, b, 1, MSG_DONTWAIT) == 1, "and it is sent");
	check(wait(&status) > 0 && status, "the other one has failed");
	free(b);
	close(fd);
}
