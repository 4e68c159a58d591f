// SPDX-License-Identifier: GPL-2.0-only
/*
 * incast: hosts in network namespaces send windows of packets to one receiver
 *
 * Usage: incast EVENTS.csv RATE ROUNDS WINDOW RECEIVER ADDRESS SENDER...
 *	RECEIVER and SENDER are names of network namespaces (ip netns), ADDRESS
 *	is the receiver's, RATE that of a sender's link in bit/s.
 *
 * In each round the receiver asks all senders at once for WINDOW packets of a
 * full Ethernet frame each. Two threads: one is the receiver, one is all the
 * senders; each of these sends one packet a turn, and a turn takes as long as a
 * link of RATE needs for it.
 *
 * A trimmed packet is shorter than its header says. The receiver then knows
 * what is missing and asks for it again: for at most two packets when a payload
 * arrives, and never with more than ASKED_MAX asked for and not yet seen. That
 * follows the pace of the congested port, as NDP's paced PULLs do. A packet
 * that nobody trims and that does not arrive is not asked for: nothing tells
 * the receiver. A round ends when all payloads are there, or after QUIET_MS
 * without any packet. A header that comes back to its sender (return to
 * sender) makes that pause for PAUSE_MS and then send the packet again.
 *
 * The senders leave out the UDP checksum (SO_NO_CHECK): a trimmed packet still
 * has that of the whole one, and Linux would drop it before the socket. An NDP
 * transport takes trimmed packets from the stack earlier.
 *
 * Each line of EVENTS.csv is one event of one packet. `sent` is stamped before
 * the system call, `payload` and `header` by the kernel where they enter the
 * receiver's stack, `returned` when the sender has read it; all by the same
 * clock, from the moment when the round's first question left the receiver.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "linux/pkt_sched_ndp.h"

#define FRAME_BYTES	9014	/* as in the paper: jumbo frames */
#define PAYLOAD_BYTES	(FRAME_BYTES - 14 - 20 - 8)	/* Ethernet, IPv4, UDP */
#define SENDERS_MAX	64
#define WINDOW_MAX	1024
#define ASKED_MAX	8	/* packets; the port's data queue holds as many */
#define HELLO_MS	5000
#define QUIET_MS	100
#define PAUSE_MS	6	/* a full header queue is sent in that time, at 100 Mbit/s */

enum type { HELLO, ASK, DATA, END };

/* First bytes of each datagram; one machine, so no byte order */
struct message {
	uint16_t type;
	uint16_t sender;
	uint16_t round;
	uint16_t first;		/* of DATA: its number */
	uint16_t count;		/* of ASK */
	uint16_t attempt;	/* of DATA: 0 for the first */
};

struct datagram {
	struct message msg;
	uint8_t payload[PAYLOAD_BYTES - sizeof(struct message)];
};

struct event {
	const char *what;
	struct message msg;
	int64_t time_ns;
};

/* Each thread writes its own. */
struct log {
	struct event *events;
	size_t count;
	size_t room;
};

struct sender {
	const char *netns;
	int fd;
	uint16_t round;
	uint16_t attempts[WINDOW_MAX];	/* of the round: next attempt's number */
	uint16_t queue[2 * WINDOW_MAX];	/* ring: numbers to send */
	unsigned int head, tail;
	int64_t pause_ns;		/* pauses until then */
};

struct receiver {
	int fd;
	struct sockaddr_in address[SENDERS_MAX];
	uint16_t round;
	unsigned int missing;		/* payloads of this round */
	unsigned int asked;		/* again, and not yet seen */
	bool have[SENDERS_MAX][WINDOW_MAX];
	struct message known[SENDERS_MAX * WINDOW_MAX];	/* ring: headers to ask for */
	unsigned int head, tail;
};

static struct sender senders[SENDERS_MAX];
static struct receiver receiver;
static unsigned int sender_count, window, rounds;
static int64_t turn_ns;
static struct log sender_log, receiver_log;

static void die(const char *format, ...)
{
	va_list args;

	fputs("incast: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ns_of(&t);
}

static void log_event(struct log *log, const char *what, const struct message *msg,
		      int64_t time_ns)
{
	if (log->count == log->room) {
		log->room = log->room ? 2 * log->room : 4096;
		log->events = realloc(log->events, log->room * sizeof(*log->events));
		if (!log->events)
			die("out of memory");
	}
	log->events[log->count++] = (struct event){ what, *msg, time_ns };
}

/* The calling thread moves to the namespace, and its new sockets are there. */
static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("network namespace %s: %s", netns, strerror(errno));
	close(fd);
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

static void set_option(int fd, int option, int value, const char *name)
{
	if (setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)))
		die("%s: %s", name, strerror(errno));
}

/* ---- senders ---- */

static void sender_open(struct sender *s, const char *netns, const struct sockaddr_in *to)
{
	s->netns = netns;
	enter(netns);
	s->fd = udp_socket();
	set_option(s->fd, SO_NO_CHECK, 1, "SO_NO_CHECK");
	if (connect(s->fd, (const struct sockaddr *)to, sizeof(*to)))
		die("%s: connect: %s", netns, strerror(errno));
}

static void sender_hello(struct sender *s)
{
	struct message hello = { .type = HELLO, .sender = s - senders };

	if (send(s->fd, &hello, sizeof(hello), 0) < 0)
		die("%s: send: %s", s->netns, strerror(errno));
}

static void sender_put(struct sender *s, uint16_t number)
{
	unsigned int room = sizeof(s->queue) / sizeof(s->queue[0]);

	if (s->tail - s->head == room)
		die("%s: more than %u packets to send", s->netns, room);
	s->queue[s->tail++ % room] = number;
}

static void sender_turn(struct sender *s)
{
	unsigned int room = sizeof(s->queue) / sizeof(s->queue[0]);
	struct datagram d = { .msg = {
		.type = DATA, .sender = s - senders, .round = s->round,
	} };
	uint16_t number;

	if (s->head == s->tail || now_ns() < s->pause_ns)
		return;
	number = s->queue[s->head++ % room];
	d.msg.first = number;
	d.msg.attempt = s->attempts[number]++;
	log_event(&sender_log, "sent", &d.msg, now_ns());
	if (send(s->fd, &d, sizeof(d), 0) < 0)
		die("%s: send: %s", s->netns, strerror(errno));
}

/* Return: false when the receiver has ended all rounds */
static bool sender_read(struct sender *s)
{
	struct message msg;
	unsigned int i;

	if (recv(s->fd, &msg, sizeof(msg), 0) < (ssize_t)sizeof(msg))
		die("%s: recv: %s", s->netns, strerror(errno));
	switch (msg.type) {
	case ASK:
		if (msg.round != s->round)
			memset(s->attempts, 0, sizeof(s->attempts));
		s->round = msg.round;
		for (i = 0; i < msg.count; i++)
			sender_put(s, msg.first + i);
		return true;
	case DATA:	/* our own, returned */
		log_event(&sender_log, "returned", &msg, now_ns());
		s->pause_ns = now_ns() + PAUSE_MS * 1000000;
		if (msg.round == s->round)
			sender_put(s, msg.first);
		return true;
	default:
		return false;
	}
}

static bool senders_have_packets(void)
{
	unsigned int i;

	for (i = 0; i < sender_count; i++)
		if (senders[i].head != senders[i].tail)
			return true;
	return false;
}

/*
 * Reads until the next turn; without anything to send that is when a question
 * has come. Return: false when the receiver has ended all rounds
 */
static bool senders_read(struct pollfd *fds, int64_t turn)
{
	struct timespec wait = { };
	unsigned int i;
	int64_t left;
	bool busy;

	do {
		left = turn - now_ns();
		wait.tv_nsec = left > 0 ? left : 0;
		busy = senders_have_packets();
		if (ppoll(fds, sender_count, busy ? &wait : NULL, NULL) < 0)
			die("ppoll: %s", strerror(errno));
		for (i = 0; i < sender_count; i++)
			if (fds[i].revents && !sender_read(&senders[i]))
				return false;
	} while (!senders_have_packets() || now_ns() < turn);
	return true;
}

static void *senders_run(void *unused)
{
	struct pollfd fds[SENDERS_MAX];
	int64_t turn = now_ns();
	unsigned int i;

	for (i = 0; i < sender_count; i++) {
		fds[i] = (struct pollfd){ .fd = senders[i].fd, .events = POLLIN };
		sender_hello(&senders[i]);
	}
	while (senders_read(fds, turn)) {
		turn = turn + turn_ns > now_ns() ? turn + turn_ns : now_ns() + turn_ns;
		for (i = 0; i < sender_count; i++)
			sender_turn(&senders[i]);
	}
	return unused;
}

/* ---- receiver ---- */

static void receiver_open(const char *netns, const struct sockaddr_in *at)
{
	enter(netns);
	receiver.fd = udp_socket();
	set_option(receiver.fd, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
	set_option(receiver.fd, SO_RCVBUFFORCE, 16 << 20, "SO_RCVBUFFORCE");
	if (bind(receiver.fd, (const struct sockaddr *)at, sizeof(*at)))
		die("%s: bind: %s", netns, strerror(errno));
}

static void receiver_send(const struct message *msg)
{
	const struct sockaddr_in *to = &receiver.address[msg->sender];

	if (sendto(receiver.fd, msg, sizeof(*msg), 0, (const struct sockaddr *)to,
		   sizeof(*to)) < 0)
		die("receiver: sendto: %s", strerror(errno));
}

static void receiver_ask_again(void)
{
	unsigned int room = sizeof(receiver.known) / sizeof(receiver.known[0]);
	int i;

	for (i = 0; i < 2; i++) {
		if (receiver.head == receiver.tail || receiver.asked == ASKED_MAX)
			return;
		receiver_send(&receiver.known[receiver.head++ % room]);
		receiver.asked++;
	}
}

static void receiver_header(const struct message *data)
{
	unsigned int room = sizeof(receiver.known) / sizeof(receiver.known[0]);

	receiver.known[receiver.tail++ % room] = (struct message){
		.type = ASK, .sender = data->sender, .round = data->round,
		.first = data->first, .count = 1,
	};
}

static void receiver_data(const struct message *data, bool whole, int64_t time_ns)
{
	bool *have = &receiver.have[data->sender][data->first];

	log_event(&receiver_log, whole ? "payload" : "header", data, time_ns);
	if (data->round != receiver.round || *have)
		return;
	if (data->attempt && receiver.asked)
		receiver.asked--;
	if (!whole) {
		receiver_header(data);
		return;
	}
	*have = true;
	receiver.missing--;
	receiver_ask_again();
}

/* Return: bytes of the datagram; it is cut to a message. */
static ssize_t receiver_read(struct message *msg, struct sockaddr_in *from, int64_t *time_ns)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr hdr = {
		.msg_name = from, .msg_namelen = sizeof(*from),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct timespec stamp;
	struct cmsghdr *c;
	ssize_t len = recvmsg(receiver.fd, &hdr, MSG_TRUNC);

	if (len < (ssize_t)sizeof(*msg))
		die("receiver: recvmsg: %s", len < 0 ? strerror(errno) : "too short");
	c = CMSG_FIRSTHDR(&hdr);
	if (!c || c->cmsg_type != SCM_TIMESTAMPNS)
		die("receiver: a packet without a time stamp");
	memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
	*time_ns = ns_of(&stamp);
	return len;
}

/* Return: whether there is something to read within the time */
static bool receiver_wait(int ms)
{
	struct pollfd fd = { .fd = receiver.fd, .events = POLLIN };
	int n = poll(&fd, 1, ms);

	if (n < 0)
		die("poll: %s", strerror(errno));
	return n > 0;
}

static void receiver_meet_senders(void)
{
	struct sockaddr_in from;
	unsigned int met = 0, i;
	struct message msg;
	int64_t time_ns;

	while (met < sender_count && receiver_wait(HELLO_MS)) {
		receiver_read(&msg, &from, &time_ns);
		if (msg.type == HELLO && !receiver.address[msg.sender].sin_port) {
			receiver.address[msg.sender] = from;
			met++;
		}
	}
	for (i = 0; i < sender_count; i++)
		if (!receiver.address[i].sin_port)
			die("no packet from %s within %d ms", senders[i].netns, HELLO_MS);
}

static void receiver_round(uint16_t round)
{
	struct message msg = { .type = ASK, .round = round, .count = window };
	struct sockaddr_in from;
	int64_t time_ns;
	ssize_t len;

	memset(receiver.have, 0, sizeof(receiver.have));
	receiver.round = round;
	receiver.missing = sender_count * window;
	receiver.asked = 0;
	receiver.head = 0;
	receiver.tail = 0;
	log_event(&receiver_log, "start", &msg, now_ns());
	for (msg.sender = 0; msg.sender < sender_count; msg.sender++)
		receiver_send(&msg);
	while (receiver.missing && receiver_wait(QUIET_MS)) {
		len = receiver_read(&msg, &from, &time_ns);
		if (msg.type == DATA && msg.sender < sender_count && msg.first < window)
			receiver_data(&msg, len == PAYLOAD_BYTES, time_ns);
	}
}

/* ---- both ---- */

static void write_log(FILE *out, const struct log *log, const int64_t *start_ns)
{
	const struct event *e;
	size_t i;

	for (i = 0; i < log->count; i++) {
		e = &log->events[i];
		if (strcmp(e->what, "start"))
			fprintf(out, "%s,%u,%u,%u,%u,%.3f\n", e->what, e->msg.round,
				e->msg.sender + 1, e->msg.first, e->msg.attempt,
				(e->time_ns - start_ns[e->msg.round]) / 1e3);
	}
}

static void write_events(const char *path)
{
	int64_t *start_ns = calloc(rounds + 1, sizeof(*start_ns));
	FILE *out = fopen(path, "w");
	const struct event *e;
	size_t i;

	if (!out || !start_ns)
		die("%s: %s", path, strerror(errno));
	for (i = 0; i < receiver_log.count; i++) {
		e = &receiver_log.events[i];
		if (!strcmp(e->what, "start"))
			start_ns[e->msg.round] = e->time_ns;
	}
	fputs("event,round,sender,packet,attempt,time_us\n", out);
	write_log(out, &sender_log, start_ns);
	write_log(out, &receiver_log, start_ns);
	if (fclose(out))
		die("%s: %s", path, strerror(errno));
	free(start_ns);
}

static unsigned int number(const char *name, const char *text, unsigned int min,
			   unsigned int max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || n < min || n > max)
		die("%s must be %u to %u, not %s", name, min, max, text);
	return n;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(NDP_UDP_PORT) };
	struct message end = { .type = END };
	pthread_t thread;
	unsigned int i;

	if (argc < 8 || argc > 7 + SENDERS_MAX)
		die("usage: incast EVENTS.csv RATE ROUNDS WINDOW RECEIVER ADDRESS SENDER...");
	/* a turn is less than a second: its nanoseconds fit a timespec */
	turn_ns = FRAME_BYTES * 8 * 1000000000LL / number("RATE", argv[2], 100000, UINT_MAX);
	rounds = number("ROUNDS", argv[3], 1, UINT16_MAX);
	window = number("WINDOW", argv[4], 1, WINDOW_MAX);
	if (inet_pton(AF_INET, argv[6], &address.sin_addr) != 1)
		die("not an IPv4 address: %s", argv[6]);
	sender_count = argc - 7;
	receiver_open(argv[5], &address);
	for (i = 0; i < sender_count; i++)
		sender_open(&senders[i], argv[7 + i], &address);

	errno = pthread_create(&thread, NULL, senders_run, NULL);
	if (errno)
		die("pthread_create: %s", strerror(errno));
	receiver_meet_senders();
	for (i = 1; i <= rounds; i++)
		receiver_round(i);
	receiver_send(&end);
	pthread_join(thread, NULL);
	write_events(argv[1]);
	return 0;
}
