// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between NDP sockets, each byte of which is checked
 *
 * ndp_msg COMMAND... [-- COMMAND...]...
 *
 * Runs the COMMANDs at the same time, each in a process. They start when all have opened their
 * sockets. Prints a line "COMMAND NAME=VALUE..." for each. The exit status is the first COMMAND's
 * that failed. A COMMAND is one of
 *
 * receive [-n NS] [-i DEVICE] [-a ADDRESS] -p PORT -l SIZES [-s SENDERS] [-c COUNT]
 *	[-b BYTES] [-r RCVBUF] [-m REGION] [-w MS] [-q MS] [-t SECONDS] [-4] [-v] [-f] [-O] [-g]
 *	Receives COUNT messages from each of SENDERS sockets; the n-th message has the n-th of
 *	SIZES. Fails if a byte is wrong, a message is duplicated, or SECONDS (default 60) have
 *	passed. Ends when all messages have arrived, and the senders of this ndp_msg know it.
 *	-i: SO_BINDTODEVICE; -b: buffer of recvmsg(), default 1m; -r: SO_RCVBUFFORCE;
 *	-m: NDP_REGION of REGION bytes; placed messages are checked twice;
 *	-w: sleep before each recvmsg(); -q: continue for MS to
 *	detect further messages; -4: use an AF_INET socket, default: AF_INET6 that accepts IPv4;
 *	-v: print a line for each sender with the time of its last message; -f: receive and count
 *	any messages; -O: use SOCK_SEQPACKET; fail if a message arrives after a later one of its
 *	sender; -g: messages may be missing, except each sender's last
 * send [-n NS] [-i DEVICE] [-a ADDRESS] [-P PORT] -d ADDRESS[,ADDRESS] -p PORT -l SIZES
 *	[-S SOCKETS] [-c COUNT] [-k SNDBUF] [-w WINDOW] [-T MS] [-o PRIORITY] [-t SECONDS]
 *	[-z SECONDS] [-A MS] [-C] [-D] [-6] [-e] [-x] [-O]
 *	Each of SOCKETS sends COUNT messages to each ADDRESS and waits until all are acknowledged
 *	or have failed. Fails if a message has failed.
 *	-i: SO_BINDTODEVICE; -a, -P: bind(); -k: SO_SNDBUFFORCE; -w: NDP_INITIAL_WINDOW;
 *	-T: NDP_TIMEOUT; -o: SO_PRIORITY; -z: SO_LINGER; -C: connect();
 *	-D: MSG_DONTWAIT and poll(); -6: use an AF_INET6 socket and mapped IPv4
 *	addresses; -e: messages may fail; -x: close without waiting;
 *	-A: SO_SNDTIMEO, after which sendmsg() aborts a message; -O: use SOCK_SEQPACKET
 * run SHELL-COMMAND
 *
 * SIZES: SIZE[,SIZE]..., with suffix k or m, used in turn. A message begins with its number n, or
 * as much of it as fits; the other bytes are a function of the sender's port, n, and the offset.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndp_tool.h"

#define COMMANDS_MAX 64
#define SIZES_MAX 64
#define SOCKETS_MAX 4096
#define ERRNO_MAX 256
#define OUTPUT_MAX 16384
#define PARTIALS_MAX 64
#define SENDERS_US 5000
/* Placed messages that are not released yet */
#define PLACED_MAX 3U
#define NUMBER_BYTES 4U

struct options {
	const char *ns;
	const char *device;
	const char *address;
	const char *to;
	int port;
	int own_port;
	size_t sizes[SIZES_MAX];
	unsigned int n_sizes;
	int sockets;	/* or senders */
	int count;
	size_t buffer;
	int rcvbuf;
	int region;
	int sndbuf;
	int window;	/* receive: ms before each recvmsg() */
	int timeout_ms;
	int priority;
	int quiet_ms;
	int linger;
	int seconds;
	bool connect;
	bool dontwait;
	bool v4;
	bool v6;
	bool failures;
	bool leave;
	bool verbose;
	bool anything;
	bool ordered;
	bool gaps;
	int give_up_ms;
};

/* A sender in the receiver's view */
struct sender {
	union ndp_address a;
	uint8_t *received;	/* by message number */
	unsigned int count;
	uint32_t next;		/* number after the highest received */
	long long last_us;
};

/* A partly read message; unused if it has no sender */
struct partial {
	struct ndp_part part;
	struct sender *from;
	uint32_t n;
	uint64_t next;
};

/* A message in the region */
struct placed {
	struct partial p;
	uint64_t offset;
};

static char *output;	/* shared: output of this command */
static int *senders_left;	/* shared: number of send commands that have not ended */

static void print(const char *format, ...)
{
	size_t len = strlen(output);
	va_list args;

	va_start(args, format);
	vsnprintf(output + len, OUTPUT_MAX - len, format, args);
	va_end(args);
}

static size_t size_of(const struct options *o, uint32_t n)
{
	return o->sizes[n % o->n_sizes];
}

static size_t largest(const struct options *o)
{
	size_t max = 0;
	unsigned int i;

	for (i = 0; i < o->n_sizes; i++)
		if (o->sizes[i] > max)
			max = o->sizes[i];
	return max;
}

/* ---- receiving */

static struct receiver {
	struct sender senders[SOCKETS_MAX];
	int n_senders;
	struct partial partials[PARTIALS_MAX];
	uint8_t *buffer, *region;
	struct placed placed[PLACED_MAX];
	unsigned long long msgs, bytes, parts, n_placed, lasts, overtaken;
	long long began_us, last_us;
} rx;

static struct sender *find_sender(const struct options *o, const union ndp_address *a)
{
	int i;

	for (i = 0; i < rx.n_senders; i++)
		if (!memcmp(&rx.senders[i].a, a, sizeof(*a)))
			return &rx.senders[i];
	if (rx.n_senders == o->sockets)
		errx(1, "more senders than %d", o->sockets);
	rx.senders[rx.n_senders].a = *a;
	rx.senders[rx.n_senders].received = calloc((size_t)o->count, 1);
	return &rx.senders[rx.n_senders++];
}

/* Identify a message that was not received before by its length and the part of its number. */
static uint32_t which(const struct options *o, const struct sender *s, const uint8_t *b,
		      size_t here, uint64_t len)
{
	size_t known = len < NUMBER_BYTES ? len : NUMBER_BYTES;
	uint32_t n;

	if (here < known)
		errx(1, "part of %zu bytes is too short for the message number", here);
	for (n = 0; n < (uint32_t)o->count; n++)
		if (size_of(o, n) == len && !memcmp(&n, b, known) && !s->received[n])
			return n;
	memcpy(&n, b, known);
	errx(1, "message of %llu bytes, number %u, was not sent or was received before",
	     (unsigned long long)len, n);
}

static void verify(const struct partial *p, const uint8_t *b, size_t len)
{
	uint64_t key = ndp_key(1, ndp_port(&p->from->a), p->n), offset = p->next;
	size_t right;

	if (!offset) {
		offset = len < NUMBER_BYTES ? len : NUMBER_BYTES;
		b += offset;
		len -= offset;
	}
	right = ndp_right(b, len, key, offset);
	if (right < len)
		errx(1, "message %u of port %u is wrong from byte %llu on", p->n,
		     ndp_port(&p->from->a), (unsigned long long)(offset + right));
}

static bool get_control(struct msghdr *msg, int type, void *to, size_t size)
{
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm)) {
		if (cm->cmsg_level == SOL_NDP && cm->cmsg_type == type) {
			memcpy(to, CMSG_DATA(cm), size);
			return true;
		}
	}
	return false;
}

/* Find the message of a part; if there is none, begin one. */
static struct partial *find_partial(const struct options *o, const union ndp_address *from,
				    const struct ndp_part *part, size_t len)
{
	struct partial *p = NULL;
	int i;

	for (i = 0; i < PARTIALS_MAX; i++) {
		if (rx.partials[i].from && rx.partials[i].part.msg == part->msg)
			return &rx.partials[i];
		if (!rx.partials[i].from)
			p = &rx.partials[i];
	}
	if (!p)
		errx(1, "more than %d partly read messages", PARTIALS_MAX);
	p->from = find_sender(o, from);
	p->n = which(o, p->from, rx.buffer, len, part->msg_bytes);
	p->next = 0;
	p->part = *part;
	return p;
}

static void take_whole(const struct options *o, struct partial *p)
{
	if (p->n < p->from->next)
		rx.overtaken++;
	else
		p->from->next = p->n + 1;
	if (o->ordered && rx.overtaken)
		errx(1, "message %u of port %u arrives after a later one", p->n,
		     ndp_port(&p->from->a));
	rx.lasts += p->n + 1 == (uint32_t)o->count;
	p->from->received[p->n] = 1;
	p->from->count++;
	p->from->last_us = ndp_now_us() - rx.began_us;
	rx.last_us = p->from->last_us;
	rx.msgs++;
	p->from = NULL;
}

/* Process @len received bytes: a part of a message, or all of it. */
static void take_part(const struct options *o, const union ndp_address *from, struct msghdr *msg,
		      size_t len)
{
	struct ndp_part part = { .msg_bytes = len };
	bool is_part = get_control(msg, NDP_CMSG_PART, &part, sizeof(part));
	bool is_whole = len == part.msg_bytes, is_last;
	struct partial *p = find_partial(o, from, &part, len);

	if (part.msg_bytes != p->part.msg_bytes || part.offset_bytes != p->next ||
	    is_part == is_whole)
		errx(1, "part does not follow the previous one of its message");
	verify(p, rx.buffer, len);
	p->next += len;
	rx.parts++;
	rx.bytes += len;
	is_last = p->next == part.msg_bytes;
	if (is_last != !!(msg->msg_flags & MSG_EOR))
		errx(1, "MSG_EOR is %s at %llu of %llu", is_last ? "not set" : "set",
		     (unsigned long long)p->next, (unsigned long long)part.msg_bytes);
	if (is_last)
		take_whole(o, p);
}

/* Check a placed message. It is checked again and released after PLACED_MAX more messages. */
static void take_placed(const struct options *o, int fd, const union ndp_address *from,
			const struct ndp_placed *at)
{
	struct placed *old = &rx.placed[rx.n_placed++ % PLACED_MAX];
	const uint8_t *b = rx.region + old->offset;

	if (old->p.from) {
		verify(&old->p, b, old->p.part.msg_bytes);
		if (setsockopt(fd, SOL_NDP, NDP_REGION_FREE, &old->offset, sizeof(old->offset)))
			err(1, "NDP_REGION_FREE");
	}
	old->offset = at->offset_bytes;
	b = rx.region + old->offset;
	old->p = (struct partial) {
		.part = { .msg_bytes = at->msg_bytes }, .from = find_sender(o, from),
	};
	old->p.n = which(o, old->p.from, b, at->msg_bytes, at->msg_bytes);
	verify(&old->p, b, at->msg_bytes);
	rx.bytes += at->msg_bytes;
	take_whole(o, &(struct partial) { .from = old->p.from, .n = old->p.n });
}

static bool take(const struct options *o, int fd)
{
	struct ndp_placed placed;
	union ndp_address from;
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	size_t first = o->buffer / 3;
	struct iovec iov[] = { { rx.buffer, first }, { rx.buffer + first, o->buffer - first } };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = iov, .msg_iovlen = 2,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n;

	memset(&from, 0, sizeof(from));
	n = recvmsg(fd, &msg, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n == 0 && get_control(&msg, NDP_CMSG_PLACED, &placed, sizeof(placed))) {
		take_placed(o, fd, &from, &placed);
		return true;
	}
	if (n <= 0 && !o->anything)
		err(1, "recvmsg: %zd", n);
	if (o->anything)
		rx.msgs += n > 0;
	else
		take_part(o, &from, &msg, (size_t)n);
	return true;
}

static bool senders_go_on(void)
{
	return __atomic_load_n(senders_left, __ATOMIC_RELAXED) > 0;
}

static int receive_all(const struct options *o, int fd)
{
	unsigned long long all = (unsigned long long)o->sockets * (unsigned long long)o->count;
	long long last = rx.began_us + o->seconds * 1000000LL, end = last, left;
	struct pollfd pfd = { fd, POLLIN, 0 };
	bool quiet = false;

	for (;;) {
		if ((rx.msgs >= all || (o->gaps && rx.lasts >= (unsigned int)o->sockets)) &&
		    !quiet) {
			quiet = true;
			end = ndp_now_us() + o->quiet_ms * 1000LL;
		}
		/* the senders may not know yet that all messages have arrived */
		if (quiet && end < last && ndp_now_us() >= end && senders_go_on())
			end = ndp_now_us() + SENDERS_US;
		left = end - ndp_now_us();
		if (left <= 0)
			return o->gaps ? rx.lasts != (unsigned int)o->sockets : rx.msgs != all;
		if (poll(&pfd, 1, (int)(left / 1000) + 1) < 0)
			err(1, "poll");
		if (!pfd.revents)
			continue;
		if (o->window)
			usleep((useconds_t)o->window * 1000);
		take(o, fd);
	}
}

static void bind_to_device(int fd, const char *device)
{
	if (device &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)))
		err(2, "SO_BINDTODEVICE %s", device);
}

static int open_receiver(const struct options *o)
{
	union ndp_address a;
	int fd;

	ndp_address(o->address ? o->address : o->v4 ? "0.0.0.0" : "::", (uint16_t)o->port, &a);
	fd = ndp_socket(o->ns, a.sa.sa_family);
	bind_to_device(fd, o->device);
	if (o->rcvbuf)
		ndp_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, o->rcvbuf);
	if (bind(fd, &a.sa, ndp_address_len(&a)))
		err(2, "bind");
	rx.buffer = malloc(o->buffer);
	if (o->region) {
		if (setsockopt(fd, SOL_NDP, NDP_REGION, &(uint64_t) { (uint64_t)o->region }, 8))
			err(2, "NDP_REGION");
		rx.region = mmap(NULL, (size_t)o->region, PROT_READ, MAP_SHARED, fd, 0);
		if (rx.region == MAP_FAILED)
			err(2, "mmap");
	}
	return fd;
}

static int receive(const struct options *o, int fd)
{
	char address[INET6_ADDRSTRLEN];
	int status, i;

	rx.began_us = ndp_now_us();
	status = receive_all(o, fd);
	print("receive msgs=%llu bytes=%llu parts=%llu placed=%llu overtaken=%llu us=%lld\n",
	      rx.msgs, rx.bytes, rx.parts, rx.n_placed, rx.overtaken, rx.last_us);
	for (i = 0; o->verbose && i < rx.n_senders; i++) {
		const struct sender *s = &rx.senders[i];
		const void *at = s->a.sa.sa_family == AF_INET ? (const void *)&s->a.v4.sin_addr :
								&s->a.v6.sin6_addr;

		print("from %s port=%u msgs=%u us=%lld\n",
		      inet_ntop(s->a.sa.sa_family, at, address, sizeof(address)),
		      ndp_port(&s->a), s->count, s->last_us);
	}
	return status;
}

/* ---- sending */

static struct {
	union ndp_address to[64];
	unsigned int n_to;
	int fds[SOCKETS_MAX];
	uint8_t *buffer;
	unsigned int failed;
	unsigned int errors[ERRNO_MAX];
} tx;

static void parse_destinations(const struct options *o)
{
	char text[1024], mapped[64], *word, *save;

	snprintf(text, sizeof(text), "%s", o->to);
	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		snprintf(mapped, sizeof(mapped), "%s%s",
			 o->v6 && !strchr(word, ':') ? "::ffff:" : "", word);
		ndp_address(mapped, (uint16_t)o->port, &tx.to[tx.n_to++]);
	}
}

static int open_sender(const struct options *o)
{
	struct timeval give_up = { o->give_up_ms / 1000, o->give_up_ms % 1000 * 1000 };
	struct linger linger = { 1, o->linger };
	const union ndp_address *to = &tx.to[0];
	union ndp_address a;
	bool v6 = to->sa.sa_family == AF_INET6;
	int fd = ndp_socket(o->ns, to->sa.sa_family);

	ndp_address(o->address ? o->address : v6 ? "::" : "0.0.0.0", (uint16_t)o->own_port,
		    &a);
	bind_to_device(fd, o->device);
	if (o->sndbuf)
		ndp_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, o->sndbuf);
	if (o->window)
		ndp_option(fd, SOL_NDP, NDP_INITIAL_WINDOW, o->window);
	if (o->timeout_ms)
		ndp_option(fd, SOL_NDP, NDP_TIMEOUT, o->timeout_ms);
	if (o->priority)
		ndp_option(fd, SOL_SOCKET, SO_PRIORITY, o->priority);
	if (o->linger >= 0 && setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		err(2, "SO_LINGER");
	if (o->give_up_ms &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &give_up, sizeof(give_up)))
		err(2, "SO_SNDTIMEO");
	if (bind(fd, &a.sa, ndp_address_len(&a)))
		err(2, "bind");
	if (o->connect && connect(fd, &to->sa, ndp_address_len(to)))
		err(2, "connect");
	return fd;
}

static void make_message(const struct options *o, int fd, uint32_t n)
{
	size_t size = size_of(o, n);

	ndp_fill(tx.buffer, size, ndp_key(1, ndp_own_port(fd), n), 0);
	memcpy(tx.buffer, &n, size < NUMBER_BYTES ? size : NUMBER_BYTES);
}

/* Read the error of an earlier message. Return: false if there is none */
static bool take_error(const struct options *o, int fd)
{
	union {
		struct cmsghdr align;
		char b[256];
	} control;
	union ndp_address from;
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct ndp_failed failed;
	struct cmsghdr *cm;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return false;
	cm = CMSG_FIRSTHDR(&msg);
	if (!cm || cm->cmsg_level != SOL_NDP || cm->cmsg_type != NDP_CMSG_FAILED)
		errx(1, "entry of the error queue without NDP_CMSG_FAILED");
	memcpy(&failed, CMSG_DATA(cm), sizeof(failed));
	if (failed.error >= ERRNO_MAX || failed.reserved || ndp_port(&from) != o->port)
		errx(1, "error queue reports error %u for port %u", failed.error, ndp_port(&from));
	tx.failed++;
	tx.errors[failed.error]++;
	return true;
}

/* Return: true to retry sendmsg(), which also returns errors of earlier messages */
static bool goes_on(const struct options *o, int fd)
{
	struct pollfd pfd = { fd, POLLOUT, 0 };

	if (errno == EAGAIN && o->dontwait) {
		if (poll(&pfd, 1, -1) < 0)
			err(1, "poll");
		return true;
	}
	return o->failures && take_error(o, fd);
}

static void send_one(const struct options *o, int fd, const union ndp_address *to, uint32_t n)
{
	size_t size = size_of(o, n), first = size / 4;
	struct iovec iov[] = { { tx.buffer, first }, { tx.buffer + first, size - first } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	int error = 0;
	ssize_t sent;

	if (!o->connect) {
		msg.msg_name = (void *)to;
		msg.msg_namelen = ndp_address_len(to);
	}
	make_message(o, fd, n);
	do {
		sent = sendmsg(fd, &msg, o->dontwait ? MSG_DONTWAIT : 0);
		error = errno;
	} while (sent < 0 && goes_on(o, fd));
	if (sent < 0 && (o->failures || (error == EAGAIN && o->give_up_ms)))
		tx.errors[error < ERRNO_MAX ? error : 0]++;
	else if (sent != (ssize_t)size)
		err(1, "sendmsg of %zu bytes: %zd", size, sent);
}

static bool sending(const struct options *o)
{
	struct ndp_info info;
	int i;

	for (i = 0; i < o->sockets; i++) {
		ndp_info(tx.fds[i], &info);
		if (info.msgs_sending)
			return true;
	}
	return false;
}

static int report(const struct options *o, long long us)
{
	struct ndp_info sum = { 0 }, info;
	int i;

	for (i = 0; i < o->sockets; i++) {
		ndp_info(tx.fds[i], &info);
		sum.msgs_sent += info.msgs_sent;
		sum.msgs_failed += info.msgs_failed;
		sum.packets_sent += info.packets_sent;
		sum.packets_unasked += info.packets_unasked;
		sum.packets_rtx += info.packets_rtx;
		sum.packets_rtx_timeout += info.packets_rtx_timeout;
		sum.nacks_received += info.nacks_received;
		sum.returned_received += info.returned_received;
		while (take_error(o, tx.fds[i]))
			;
	}
	print("send msgs=%llu failed=%llu packets=%llu unasked=%llu", sum.msgs_sent,
	      sum.msgs_failed, sum.packets_sent, sum.packets_unasked);
	print(" rtx=%llu timeouts=%llu nacks=%llu returned=%llu us=%lld", sum.packets_rtx,
	      sum.packets_rtx_timeout, sum.nacks_received, sum.returned_received, us);
	for (i = 0; i < ERRNO_MAX; i++)
		if (tx.errors[i])
			print(" %s=%u", strerrorname_np(i), tx.errors[i]);
	print("\n");
	return sum.msgs_failed && !o->failures && !o->give_up_ms;
}

static int send_all(const struct options *o)
{
	long long began = ndp_now_us(), end = began + o->seconds * 1000000LL;
	unsigned int to;
	uint32_t n;
	int i;

	for (n = 0; n < (uint32_t)o->count; n++)
		for (to = 0; to < tx.n_to; to++)
			for (i = 0; i < o->sockets; i++)
				send_one(o, tx.fds[i], &tx.to[to], n);
	if (o->leave) {
		for (i = 0; i < o->sockets; i++)
			close(tx.fds[i]);
		print("send us=%lld\n", ndp_now_us() - began);
		return 0;
	}
	while (sending(o)) {
		if (ndp_now_us() > end) {
			print("late ");
			report(o, ndp_now_us() - began);
			return 1;
		}
		/* frequent checks at first, for an exact time */
		usleep(ndp_now_us() - began < 20000 ? 200 : 5000);
	}
	return report(o, ndp_now_us() - began);
}

static void sender_ended(void)
{
	__atomic_sub_fetch(senders_left, 1, __ATOMIC_RELAXED);
}

/* ---- commands */

static void parse_sizes(char *text, struct options *o)
{
	char *word, *save, *end;

	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		size_t size = strtoull(word, &end, 10);

		o->sizes[o->n_sizes++] = size << (*end == 'k' ? 10 : *end == 'm' ? 20 : 0);
	}
}

#define TEXT(c, name) { c, offsetof(struct options, name), 0 }
#define NUMBER(c, name) { c, offsetof(struct options, name), sizeof(int) }
#define FLAG(c, name) { c, offsetof(struct options, name), sizeof(bool) }

static const struct {
	char c;
	size_t at;
	size_t len;	/* 0: TEXT */
} letters[] = {
	TEXT('n', ns), TEXT('i', device), TEXT('a', address), TEXT('d', to),
	NUMBER('p', port), NUMBER('P', own_port), NUMBER('s', sockets), NUMBER('S', sockets),
	NUMBER('c', count), NUMBER('r', rcvbuf), NUMBER('m', region),
	NUMBER('k', sndbuf), NUMBER('w', window),
	NUMBER('q', quiet_ms), NUMBER('T', timeout_ms), NUMBER('o', priority),
	NUMBER('t', seconds), NUMBER('z', linger),
	FLAG('C', connect), FLAG('D', dontwait), FLAG('4', v4), FLAG('6', v6), FLAG('e', failures),
	FLAG('x', leave), FLAG('v', verbose), FLAG('f', anything), FLAG('O', ordered),
	FLAG('g', gaps), NUMBER('A', give_up_ms),
};

static void parse_option(struct options *o, int c, char *value)
{
	unsigned int i, n = o->n_sizes;

	if (c == 'l')
		parse_sizes(value, o);
	if (c == 'b') {
		parse_sizes(value, o);
		o->buffer = o->sizes[n];
		o->n_sizes = n;
	}
	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		char *at = (char *)o + letters[i].at;

		if (letters[i].c != c)
			continue;
		if (letters[i].len == sizeof(int))
			*(int *)at = atoi(value);
		else if (letters[i].len)
			*(bool *)at = true;
		else
			*(const char **)at = value;
	}
}

static void parse(int argc, char *argv[], struct options *o)
{
	static const char all[] = "n:i:a:d:p:P:l:s:S:c:b:r:m:k:w:q:T:o:t:z:A:CD46exvfOg";
	int c;

	*o = (struct options) { .sockets = 1, .count = 1, .buffer = 1 << 20, .linger = -1,
				.seconds = 60 };
	optind = 1;
	while ((c = getopt(argc, argv, all)) != -1) {
		if (c == '?')
			exit(2);
		parse_option(o, c, optarg);
	}
	if (o->ordered)
		ndp_type = SOCK_SEQPACKET;
	if (!o->port || !o->n_sizes || o->sockets > SOCKETS_MAX || o->n_sizes >= SIZES_MAX)
		errx(2, "%s: -p and -l are required", argv[0]);
}

/* Run one command in a process: report that it is ready, and start when all are. */
static int command(int argc, char *argv[], int ready, int go)
{
	struct options o;
	int fd = -1, i;
	char c = 0;

	if (!strcmp(argv[0], "receive")) {
		parse(argc, argv, &o);
		fd = open_receiver(&o);
	} else if (!strcmp(argv[0], "send")) {
		atexit(sender_ended);
		parse(argc, argv, &o);
		parse_destinations(&o);
		tx.buffer = malloc(largest(&o));
		for (i = 0; i < o.sockets; i++)
			tx.fds[i] = open_sender(&o);
	} else if (strcmp(argv[0], "run") || argc != 2) {
		errx(2, "unknown command \"%s\"", argv[0]);
	}
	if (write(ready, &c, 1) != 1 || read(go, &c, 1))
		err(2, "pipe");
	if (!strcmp(argv[0], "run"))
		return !!system(argv[1]);
	return fd < 0 ? send_all(&o) : receive(&o, fd);
}

int main(int argc, char *argv[])
{
	int ready[2], go[2], status = 0, n = 0, end, begin, i, wait;
	pid_t pids[COMMANDS_MAX];
	char *outputs, c;

	outputs = mmap(NULL, (COMMANDS_MAX + 1) * OUTPUT_MAX, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	senders_left = (int *)(void *)(outputs + COMMANDS_MAX * OUTPUT_MAX);
	if (outputs == MAP_FAILED || pipe(ready) || pipe(go) || argc < 2)
		errx(2, "usage: ndp_msg COMMAND... [-- COMMAND...]...");
	for (begin = 1; begin < argc && n < COMMANDS_MAX; begin = end + 1, n++) {
		for (end = begin; end < argc && strcmp(argv[end], "--"); end++)
			;
		argv[end] = NULL;
		output = outputs + (size_t)n * OUTPUT_MAX;
		*senders_left += !strcmp(argv[begin], "send");
		pids[n] = fork();
		if (!pids[n]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(go[1]);
			close(ready[0]);
			exit(command(end - begin, argv + begin, ready[1], go[0]));
		}
	}
	close(ready[1]);
	for (i = 0; i < n && read(ready[0], &c, 1) == 1; i++)
		;
	close(go[1]);
	for (i = 0; i < n; i++) {
		waitpid(pids[i], &wait, 0);
		fputs(outputs + (size_t)i * OUTPUT_MAX, stdout);
		if (!status && wait)
			status = WIFEXITED(wait) ? WEXITSTATUS(wait) : 1;
	}
	return status;
}
