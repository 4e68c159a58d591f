// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP transport: each flow is a message, and so is its response
 *
 * Like a server, a host receives from all peers on one socket. Messages are read
 * when they are complete, so its receive buffer holds all concurrent messages.
 * With region=, packets are placed in memory of the program as they arrive.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ndp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pattern.h"
#include "send_thread.h"
#include "sockets.h"

#define RCVBUF (256 << 20)
/* Longer messages may find no memory, or exceed the default SO_SNDBUF: threads send them. */
#define LONG_MESSAGE (128 << 10)
#define READ_MAX (4 << 20)
/* an endless flow: bytes of a message, and bytes sent ahead of the received ones */
#define ENDLESS_MESSAGE 1000000
#define ENDLESS_AHEAD (2 * ENDLESS_MESSAGE)

static void set_u64(int fd, int option, uint64_t value, const char *name)
{
	if (setsockopt(fd, SOL_NDP, option, &value, sizeof(value)))
		die("%s=%" PRIu64 ": %s", name, value, strerror(errno));
}

/* Blocking, for threads; other calls have MSG_DONTWAIT. */
static int ndp_socket(const struct pattern *p, const struct host *host, uint16_t port)
{
	int fd = new_socket(p, host, SOCK_RDM, IPPROTO_NDP);

	if (fcntl(fd, F_SETFL, 0))
		die("host %s: F_SETFL: %s", host->name, strerror(errno));
	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF, "SO_RCVBUFFORCE");
	bind_to(fd, host, port);
	return fd;
}

/* ---- receiver */

static int ndp_send(struct endpoint *end);

/* Account received bytes; an endless flow may then send its next message. */
static void received(struct channel *ch, uint64_t bytes)
{
	struct endpoint *sender = &ch->ends[0];
	int error;

	channel_received(ch, &ch->ends[1], bytes);
	if (!ch->flow || !sender->writable || !sender->to_send)
		return;
	error = ndp_send(sender);
	if (error)
		channel_failed(ch, error);
}

/* Free a message's space in the region. Return: its bytes; -ENOBUFS: it was not placed there */
static ssize_t free_placed(int fd, struct msghdr *in)
{
	const struct cmsghdr *cm = CMSG_FIRSTHDR(in);
	struct ndp_placed placed;

	for (; cm; cm = CMSG_NXTHDR(in, (struct cmsghdr *)cm)) {
		if (cm->cmsg_level != SOL_NDP || cm->cmsg_type != NDP_CMSG_PLACED)
			continue;
		memcpy(&placed, CMSG_DATA(cm), sizeof(placed));
		set_u64(fd, NDP_REGION_FREE, placed.offset_bytes, "NDP_REGION_FREE");
		return (ssize_t)placed.msg_bytes;
	}
	return -ENOBUFS;
}

/* Read a message, or the next part of it. Return: bytes, or a negative errno */
static ssize_t receive(int fd, struct msghdr *in, bool from_region)
{
	static char buffer[READ_MAX];
	struct iovec iov = { buffer, sizeof(buffer) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ndp_placed))];
	} control;
	ssize_t n;

	in->msg_iov = &iov;
	in->msg_iovlen = 1;
	in->msg_control = &control;
	in->msg_controllen = from_region ? sizeof(control) : 0;
	n = recvmsg(fd, in, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	return from_region ? free_placed(fd, in) : n;
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct listener *l = (struct listener *)w;
	union address from;
	struct msghdr in = { .msg_name = &from, .msg_namelen = sizeof(from) };
	ssize_t n = receive(l->fd, &in, l->pattern->set.region);
	struct channel *ch;

	(void)events;
	/* -ECONNRESET: a sender has aborted a message, and its flow has failed there */
	if (n < 0 && n != -EAGAIN && n != -ECONNRESET && n != -ENOBUFS)
		die("host %s: recvmsg: %s", l->host->name, strerror((int)-n));
	/* NULL if the flow has failed meanwhile */
	ch = n > 0 || n == -ENOBUFS ? channel_find(l, &from) : NULL;
	if (ch && n > 0)
		received(ch, (uint64_t)n);
	else if (ch)
		channel_failed(ch, (int)n);
}

/* Read the response at the socket that sent the request. Return: 0, or a negative errno */
static int receive_response(struct endpoint *end, uint32_t events)
{
	struct msghdr in;
	ssize_t n;

	(void)events;
	do {
		in = (struct msghdr){ };
		n = receive(end->fd, &in, false);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		channel_received(end->channel, end, (uint64_t)n);
	} while (!(in.msg_flags & MSG_EOR) && end->fd >= 0);
	return 0;
}

/* ---- sender */

static void long_message_sent(void *arg, int error)
{
	struct endpoint *end = arg;

	end->private = NULL;
	if (!error)
		error = ndp_send(end);
	if (error)
		channel_failed(end->channel, error);
}

/* Return: bytes of the next message; 0: none is due */
static uint64_t next_message(const struct endpoint *end)
{
	const struct flow *f = end->channel->flow;

	if (end != &end->channel->ends[0] || !f || f->bytes)
		return end->to_send;
	return UINT64_MAX - end->to_send < f->received + ENDLESS_AHEAD ? ENDLESS_MESSAGE : 0;
}

/* A socket sends its messages one after the other, long ones by a thread. */
static int ndp_send(struct endpoint *end)
{
	uint64_t bytes;
	int error;

	while (!end->private && (bytes = next_message(end))) {
		if (bytes > LONG_MESSAGE && !end->channel->pattern->set.sndbuf) {
			end->private = send_thread_start(end->fd, bytes, long_message_sent, end);
		} else {
			error = send_zeros(end->fd, bytes, MSG_DONTWAIT);
			end->writable = error != -EAGAIN;
			if (error)
				return end->writable ? error : 0;
		}
		end->to_send -= bytes;
	}
	return 0;
}

/* ---- both */

static void ndp_listen(struct listener *l)
{
	l->fd = ndp_socket(l->pattern, l->host, (uint16_t)l->pattern->set.port);
	if (l->pattern->set.region)
		set_u64(l->fd, NDP_REGION, l->pattern->set.region, "NDP_REGION");
	l->watch.ready = listener_ready;
	loop_watch(l->fd, EPOLLIN, &l->watch);
}

/* Open the receiver's socket for responses. Return: 0, or a negative errno */
static int open_responses(struct channel *ch)
{
	struct endpoint *end = &ch->ends[1];
	union address to = ch->src->address;

	enter_host(ch->dst);
	end->fd = ndp_socket(ch->pattern, ch->dst, 0);
	/* sin6_port has the same offset */
	to.in.sin_port = ch->port;
	if (connect(end->fd, &to.sa, address_length(&to)))
		return -errno;
	end->writable = true;
	endpoint_watch(end, 0);
	return 0;
}

static int ndp_open(struct channel *ch)
{
	struct endpoint *end = &ch->ends[0];
	int error;

	end->fd = ndp_socket(ch->pattern, ch->src, 0);
	error = connect_to(ch);
	if (!error && ch->pattern->set.response)
		error = open_responses(ch);
	if (error)
		return error;
	end->writable = true;
	endpoint_watch(end, 0);
	channel_opened(ch);
	return 0;
}

static void ndp_close(struct endpoint *end)
{
	if (end->private)
		send_thread_cancel(end->private);
	end->private = NULL;
	if (end->fd >= 0)
		close(end->fd);
}

static void ndp_sample(int fd, struct sample *s)
{
	struct ndp_info info = { };
	socklen_t len = sizeof(info);
	uint64_t packets;

	if (fd < 0 || getsockopt(fd, SOL_NDP, NDP_INFO, &info, &len))
		return;
	packets = info.packets_sent - info.packets_rtx;
	/* NDP counts packets, nearly all of the same length */
	if (packets)
		s->acked_bytes = (uint64_t)((__uint128_t)info.bytes_sent * info.acks_received /
					    packets);
	s->srtt_us = info.rtt_ns / 1000;
	s->min_rtt_us = info.rtt_min_ns / 1000;
	s->retrans_packets = info.packets_rtx;
}

const struct transport ndp_transport = {
	.name = "ndp",
	/* IP, UDP, NDP */
	.headers = { 20 + 8 + 56, 40 + 8 + 56 },
	.listen = ndp_listen,
	.open = ndp_open,
	.send = ndp_send,
	.receive = receive_response,
	.close = ndp_close,
	.sample = ndp_sample,
};
