// SPDX-License-Identifier: GPL-2.0-only
/* Checks of NDP sockets: addresses, options, arguments, and messages that fail */
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

/* Return: a socket of b that is bound, or -1 */
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

static bool in_use(int family, const char *address, uint16_t port)
{
	return api_refused(bound(family, address, port), EADDRINUSE);
}

static void check_conflicts(void)
{
	int one = bound(AF_INET, "10.0.0.2", PORT), two;

	check(one >= 0, "IPv4 address is bound");
	check(in_use(AF_INET, "10.0.0.2", PORT), "bound IPv4 address cannot be bound twice");
	check(in_use(AF_INET, "0.0.0.0", PORT),
	      "0.0.0.0 cannot be bound beside a bound address");
	check(in_use(AF_INET6, "::", PORT), ":: cannot be bound beside a bound IPv4 address");
	check(in_use(AF_INET6, "::ffff:10.0.0.2", PORT),
	      "mapped form of a bound IPv4 address cannot be bound");
	two = bound(AF_INET, "127.0.0.1", PORT);
	check(two >= 0, "another IPv4 address is bound to the same port");
	close(two);
	two = bound(AF_INET6, "::1", PORT);
	check(two >= 0, "IPv6 address is bound to the same port");
	close(two);
	close(one);
	one = bound(AF_INET6, "::", PORT);
	check(one >= 0, ":: is bound after the IPv4 address was closed");
	check(in_use(AF_INET, "10.0.0.2", PORT), "IPv4 address cannot be bound beside ::");
	close(one);
}

static void check_v6only(void)
{
	int one = ndp_socket(ns_b, AF_INET6), two;
	union ndp_address a;

	ndp_option(one, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	ndp_address("::", PORT, &a);
	check(!bind(one, &a.sa, sizeof(a.v6)), ":: is bound with IPV6_V6ONLY");
	two = bound(AF_INET, "0.0.0.0", PORT);
	check(two >= 0, "0.0.0.0 is bound beside :: with IPV6_V6ONLY");
	close(one);
	close(two);
}

static void check_ephemeral(void)
{
	int one = bound(AF_INET, "10.0.0.2", 0), two = bound(AF_INET, "10.0.0.2", 0);

	check(one >= 0 && two >= 0 && ndp_own_port(one) >= 1024 && ndp_own_port(two) >= 1024 &&
	      ndp_own_port(one) != ndp_own_port(two),
	      "bind() to port 0 assigns different free ports");
	check(api_refused(bind(one, NULL, 0), EFAULT) || errno == EINVAL,
	      "bind() without an address fails with EFAULT or EINVAL");
	close(one);
	close(two);
	check(api_refused(bound(AF_INET, "10.0.0.77", PORT), EADDRNOTAVAIL),
	      "bind() to another host's address fails with EADDRNOTAVAIL");
	one = api_sender();
	check(api_send(one, PORT + 5, 1, 0) == 1 && ndp_own_port(one),
	      "sendto() binds an unbound socket");
	close(one);
}

static void check_connect(void)
{
	int rx = api_receiver(PORT), tx = api_connected(PORT);
	union ndp_address a = { .sa.sa_family = AF_UNSPEC };
	struct iovec iov[] = { { "ab", 2 }, { "cd", 2 } };
	socklen_t len = sizeof(a);
	char b[8];

	check(write(tx, "abcd", 4) == 4 && read(rx, b, 8) == 4,
	      "connected socket sends a message by write()");
	check(writev(tx, iov, 2) == 4 && read(rx, b, 8) == 4 && !memcmp(b, "abcd", 4),
	      "connected socket sends a message by writev()");
	check(!connect(tx, &a.sa, sizeof(a.sa)), "connect() with AF_UNSPEC disconnects");
	check(api_refused((int)write(tx, "abcd", 4), EDESTADDRREQ),
	      "write() after a disconnect fails with EDESTADDRREQ");
	check(api_refused(getpeername(tx, &a.sa, &len), ENOTCONN),
	      "getpeername() after a disconnect fails with ENOTCONN");
	check(api_send(tx, PORT, 3, 0) == 3 && read(rx, b, 8) == 3,
	      "sendto() sends a message after a disconnect");
	api_address(PORT, &a);
	check(!connect(tx, &a.sa, sizeof(a.v4)) && !getpeername(tx, &a.sa, &len) &&
	      ndp_port(&a) == PORT, "connect() connects again after a disconnect");
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

	check(lo >= 0 && w1 >= 0,
	      "sockets of two devices are bound to one port by SO_BINDTODEVICE");
	check(in_use(AF_INET, "0.0.0.0", PORT),
	      "port of a device's socket cannot be bound for all devices");
	check(api_send(tx, PORT, 3, 0) == 3 && api_sent(tx) && recv(w1, b, 8, MSG_DONTWAIT) == 3,
	      "message is delivered to the socket of its device");
	close(w1);
	check(api_send(tx, PORT, 3, 0) == 3 && api_fails_with(tx, ECONNREFUSED, 2, PORT),
	      "message is not delivered to the socket of another device");
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

static bool option_is(int fd, int name, uint32_t expected)
{
	uint32_t value = 0;
	socklen_t len = sizeof(value);

	return !getsockopt(fd, SOL_NDP, name, &value, &len) && len == 4 && value == expected;
}

static bool set(int fd, int name, uint32_t value)
{
	return !setsockopt(fd, SOL_NDP, name, &value, sizeof(value));
}

static void check_range(int fd, int name, const char *text, uint32_t max)
{
	check(set(fd, name, 1) && option_is(fd, name, 1), "%s is set to 1", text);
	check(set(fd, name, max) && option_is(fd, name, max), "%s is set to %u", text, max);
	check(!set(fd, name, max + 1) && (errno == EINVAL || errno == ERANGE),
	      "%s cannot be set to %u", text, max + 1);
	check(!set(fd, name, UINT32_MAX), "%s cannot be set to 2^32 - 1", text);
	check(option_is(fd, name, max), "%s keeps its value after refused ones", text);
	check(set(fd, name, 0), "%s is set to 0, the default", text);
	check(setsockopt(fd, SOL_NDP, name, &max, 3) && errno == EINVAL,
	      "%s with a length of 3 fails with EINVAL", text);
	check(setsockopt(fd, SOL_NDP, name, NULL, 4) && errno == EFAULT,
	      "%s without an address fails with EFAULT", text);
}

static void check_info(int fd)
{
	uint8_t info[sizeof(struct ndp_info) + 64];
	socklen_t len = sizeof(info);

	check(!getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && len == sizeof(struct ndp_info),
	      "NDP_INFO returns its length");
	memset(info, 0xaa, sizeof(info));
	len = 8;
	check(!getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && len == 8 && info[8] == 0xaa,
	      "NDP_INFO writes no more than the buffer's length");
	check(!set(fd, NDP_INFO, 0) && errno == ENOPROTOOPT,
	      "setsockopt() of NDP_INFO fails with ENOPROTOOPT");
	len = (socklen_t)-1;
	check(getsockopt(fd, SOL_NDP, NDP_INFO, info, &len) && errno == EINVAL,
	      "NDP_INFO with a negative length fails with EINVAL");
	len = sizeof(info);
	check(getsockopt(fd, SOL_NDP, NDP_INFO, NULL, &len) && errno == EFAULT,
	      "NDP_INFO without an address fails with EFAULT");
	check(!set(fd, 99, 0) && errno == ENOPROTOOPT,
	      "setsockopt() of an unknown option fails with ENOPROTOOPT");
	check(getsockopt(fd, SOL_NDP, 99, info, &len) && errno == ENOPROTOOPT,
	      "getsockopt() of an unknown option fails with ENOPROTOOPT");
}

void test_options(void)
{
	int fd = api_sender(), value = 0;
	socklen_t len = sizeof(value);

	check_range(fd, NDP_INITIAL_WINDOW, "NDP_INITIAL_WINDOW", NDP_WINDOW_MAX);
	check_range(fd, NDP_TIMEOUT, "NDP_TIMEOUT", NDP_TIMEOUT_MAX);
	check_info(fd);
	ndp_option(fd, IPPROTO_IP, IP_TTL, 5);
	check(!getsockopt(fd, IPPROTO_IP, IP_TTL, &value, &len) && value == 5,
	      "IP_TTL is set and read");
	check(!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &len) && value == IPPROTO_NDP,
	      "SO_PROTOCOL returns IPPROTO_NDP");
	check(!getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len) && value == ndp_type,
	      "SO_TYPE returns the socket's type");
	check(api_refused(listen(fd, 1), EOPNOTSUPP), "listen() fails with EOPNOTSUPP");
	check(api_refused(accept(fd, NULL, NULL), EOPNOTSUPP), "accept() fails with EOPNOTSUPP");
	close(fd);
	check(api_refused(socket(AF_INET, SOCK_DGRAM, IPPROTO_NDP), EPROTONOSUPPORT) ||
	      errno == EINVAL, "socket() of SOCK_DGRAM with IPPROTO_NDP fails");
	check(api_refused(socket(AF_INET, SOCK_RDM, IPPROTO_UDP), EPROTONOSUPPORT) ||
	      errno == ESOCKTNOSUPPORT, "socket() of SOCK_RDM with IPPROTO_UDP fails");
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

	check(api_refused((int)send(fd, "x", 1, 0), EDESTADDRREQ),
	      "send() without a destination fails with EDESTADDRREQ");
	check(api_refused(send_to(fd, "10.0.0.2", 0, 0), EINVAL),
	      "sendto() to port 0 fails with EINVAL");
	check(api_refused(send_to(fd, "10.0.0.2", PORT, 4), EINVAL),
	      "sendto() with a short address fails with EINVAL");
	check(api_refused(send_to(fd, "::1", PORT, 0), EAFNOSUPPORT),
	      "sendto() from an IPv4 socket to IPv6 fails with EAFNOSUPPORT");
	check(send_to(fd, "224.0.0.1", PORT, 0) < 0, "sendto() to an IPv4 group fails");
	check(send_to(fd, "255.255.255.255", PORT, 0) < 0, "sendto() to 255.255.255.255 fails");
	check(send_to(fd, "10.0.0.255", PORT, 0) < 0,
	      "sendto() to a subnet's broadcast address fails");
	check(send_to(v6, "ff02::1", PORT, 0) < 0, "sendto() to an IPv6 group fails");
	check(send_to(v6, "fe80::1", PORT, 0) < 0,
	      "sendto() to a link-local address without a link fails");
	check(api_refused(send_to(fd, "192.0.2.1", PORT, 0), ENETUNREACH),
	      "sendto() without an IPv4 route fails with ENETUNREACH");
	check(api_refused(send_to(v6, "2001:db8:9::1", PORT, 0), ENETUNREACH),
	      "sendto() without an IPv6 route fails with ENETUNREACH");
	close(v6);
	v6 = ndp_socket(ns_a, AF_INET6);
	ndp_option(v6, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	check(send_to(v6, "::ffff:10.0.0.2", PORT, 0) < 0,
	      "sendto() to a mapped address fails with IPV6_V6ONLY");
	check(api_refused((int)api_send(fd, PORT, 0, 0), EINVAL),
	      "sendto() of 0 bytes fails with EINVAL");
	api_address(PORT, &a);
	check(api_refused((int)sendto(fd, NULL, 100, 0, &a.sa, sizeof(a.v4)), EFAULT),
	      "sendto() from a bad address fails with EFAULT");
	ndp_option(fd, SOL_SOCKET, SO_SNDBUF, 20000);
	check(api_refused((int)api_send(fd, PORT, 1000000, MSG_DONTWAIT), EMSGSIZE),
	      "MSG_DONTWAIT of more than SO_SNDBUF fails with EMSGSIZE");
	close(fd);
	close(v6);
}

/* ---- failures */

static void check_no_port(void)
{
	int fd = api_connected(PORT + 1);

	check(send(fd, "x", 1, 0) == 1, "message to a closed port is sent");
	check(api_fails_with(fd, ECONNREFUSED, 1, PORT + 1),
	      "error queue reports message 1 to a closed port with ECONNREFUSED");
	check(api_refused((int)send(fd, "x", 1, 0), ECONNREFUSED),
	      "next send() of a connected socket fails with ECONNREFUSED");
	check(send(fd, "x", 1, 0) == 1, "second send() after ECONNREFUSED succeeds");
	check(api_fails_with(fd, ECONNREFUSED, 2, PORT + 1) || errno == ECONNREFUSED,
	      "second message to a closed port fails with ECONNREFUSED");
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
	check(sendto(fd, "x", 1, 0, &a.sa, sizeof(a.v4)) == 1, "message to a silent host is sent");
	check(api_send(fd, PORT, 2, 0) == 2 && read(rx, b, 8) == 2,
	      "message to another host arrives meanwhile");
	check(api_fails_with(fd, ETIMEDOUT, 1, PORT),
	      "error queue reports message 1 to a silent host with ETIMEDOUT");
	check(ndp_now_us() - began >= 100000, "message does not fail before NDP_TIMEOUT");
	check(api_send(fd, PORT, 3, 0) == 3 && read(rx, b, 8) == 3,
	      "sendto() of an unconnected socket does not return an earlier message's error");
	check(api_sent(fd), "no message is in flight after the failure");
	close(fd);
	close(rx);
}

/* Sockets are closed and replaced at the same port: undelivered messages are retransmitted. */
static void check_reborn(void)
{
	int rx = api_receiver(PORT), tx = api_sender(), i;
	char b[8];

	for (i = 0; i < 3; i++) {
		check(api_send(tx, PORT, 5, 0) == 5 && read(rx, b, 8) == 5 && api_sent(tx),
		      "receiver %d of a port gets its message", i);
		close(rx);
		rx = api_receiver(PORT);
	}
	check(!api_wait(rx, POLLIN, 20), "new receiver gets no old message");
	close(rx);
	check(api_send(tx, PORT, 5, 0) == 5 && api_fails_with(tx, ECONNREFUSED, 4, PORT),
	      "message fails with ECONNREFUSED after the last receiver was closed");
	close(tx);
}

/* A flow without messages is freed after some seconds; the socket's next message has another. */
static void check_aged(void)
{
	int rx = api_receiver(PORT), tx = api_connected(PORT);
	struct ndp_info info = { .peers = 1 };
	char b[8];

	check(send(tx, "hello", 5, 0) == 5 && read(rx, b, 8) == 5 && api_sent(tx),
	      "message of a new socket arrives");
	for (; info.peers; usleep(100000))
		ndp_info(tx, &info);
	check(send(tx, "again", 5, 0) == 5 && read(rx, b, 8) == 5 && api_sent(tx),
	      "message of a socket whose flow was freed arrives");
	close(tx);
	close(rx);
}

void test_failures(void)
{
	check_no_port();
	check_silent();
	check_reborn();
	check_aged();
}

/* ---- order of messages in a sending socket */

/* Fork a process that sends by the same socket. */
static void send_beside(int fd, char *b, size_t len)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (!pid)
		_exit(send(fd, b, len, 0) != (ssize_t)len);
}

/* Send from SOCK_SEQPACKET to SOCK_RDM, so that the receiver does not reorder the messages. */
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
	check(read(rx, b, TURN_BYTES) == TURN_BYTES,
	      "long message is sent before a later short one");
	check(read(rx, b, TURN_BYTES) == 1, "short message is sent after the long one");
	for (i = 0; i < 2; i++)
		check(wait(&status) > 0 && !status,
		      "process %d sends its message without an error", i);
	free(b);
	close(fd);
	close(rx);
}

/* poll() reports POLLOUT only if no earlier message of the socket is still being sent. */
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
	/* the message waits for room, because the host does not acknowledge it */
	while (api_wait(fd, POLLOUT, 0))
		usleep(1000);
	/* more room, but too little for the whole message */
	ndp_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, 200000);
	check(api_wait(fd, POLLOUT, 0), "poll() reports POLLOUT when SO_SNDBUF grows");
	check(api_refused((int)send(fd, b, 1, MSG_DONTWAIT), EAGAIN),
	      "send() fails with EAGAIN while an earlier message is being sent");
	check(!api_wait(fd, POLLOUT, 0),
	      "poll() reports no POLLOUT while an earlier message is being sent");
	check(api_wait(fd, POLLOUT, 10 * MSG_TIMEOUT_MS),
	      "poll() reports POLLOUT after the earlier message");
	ndp_info(fd, &info);
	check(!info.msgs_sending,
	      "poll() does not report POLLOUT before the earlier message has ended");
	check(send(fd, b, 1, MSG_DONTWAIT) == 1, "send() succeeds after the earlier message");
	check(wait(&status) > 0 && status, "earlier message to the silent host has failed");
	free(b);
	close(fd);
}
