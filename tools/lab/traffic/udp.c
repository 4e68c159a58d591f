// SPDX-License-Identifier: GPL-2.0-only
/*
 * UDP transport: datagrams without congestion control, and without checksum,
 * which would be wrong after trimming
 */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "ideal.h"
#include "sockets.h"
#include "udp.h"

#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#define UDP_NO_CHECK6_RX 102
#endif

#define BATCH 64
/* a device that takes that many datagrams in no virtual time has no backpressure */
#define UNPUSHED_MAX 1024
#define RCVBUF (64 << 20)
/* ns for which datagrams gather before they are read */
#define GATHER_NS 100000
#define MAGIC 0x74726166666963ULL

/* Header of a datagram */
struct header {
	uint64_t magic;
	uint64_t flow;
};

static char payload[UDP_SIZE_MAX];
static struct iovec payload_iov = { .iov_base = payload };
static struct mmsghdr batch[BATCH];

static void prepare_batch(const struct flow *f)
{
	struct header header = { MAGIC, f->id };
	int i;

	memcpy(payload, &header, sizeof(header));
	payload_iov.iov_len = f->pattern->set.size;
	for (i = 0; i < BATCH; i++)
		batch[i].msg_hdr = (struct msghdr){ .msg_iov = &payload_iov, .msg_iovlen = 1 };
}

/* Return: number of datagrams that the socket took, at least 1, or a negative errno */
static int send_batch(struct flow *f, uint64_t count)
{
	int n;

	prepare_batch(f);
	n = sendmmsg(f->channel->ends[0].fd, batch, count < BATCH ? (unsigned int)count : BATCH,
		     MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	f->sent_packets += (uint64_t)n;
	return n;
}

/* ---- at a rate */

static int64_t due_ns(const struct flow *f)
{
	return f->start_ns + (int64_t)((__uint128_t)f->due_packets * f->pattern->set.size *
				       8 * NS_PER_S / f->pattern->set.rate_bps);
}

/* A datagram that the socket refuses when it is due is not sent. */
static void send_due(void *flow)
{
	struct flow *f = flow;
	uint64_t before = f->due_packets;
	int64_t now = loop_now();
	int n;

	if (f->state != FLOW_RUNNING)
		return;
	while (due_ns(f) <= now && f->due_packets - before < BATCH)
		f->due_packets++;
	n = send_batch(f, f->due_packets - before);
	if (n < 0 && n != -EAGAIN)
		channel_failed(f->channel, n);
	else
		loop_at(due_ns(f), send_due, f);
}

/* ---- without a rate: as the NIC takes them */

static void resume(void *flow)
{
	struct flow *f = flow;

	if (f->state == FLOW_RUNNING)
		channel_send(&f->channel->ends[0], UINT64_MAX);
}

/* Without backpressure, send at the first link's rate: otherwise time would stand still. */
static void pause_flow(struct flow *f)
{
	const struct link *link = topology_path(&run.topology, f->src, f->dst)->links;

	loop_at(loop_now() + (int64_t)(UNPUSHED_MAX * f->pattern->set.size * 8 * NS_PER_S /
				       link->rate_bps), resume, f);
	f->channel->ends[0].to_send = 0;
}

static int udp_send(struct endpoint *end)
{
	struct flow *f = end->channel->flow;
	int sent = 0, n;

	if (f->pattern->set.rate_bps) {
		end->to_send = 0;
		send_due(f);
		return 0;
	}
	do {
		n = send_batch(f, BATCH);
		if (n < 0)
			return n == -EAGAIN ? 0 : n;
		sent += n;
	} while (n == BATCH && sent < UNPUSHED_MAX);
	if (sent >= UNPUSHED_MAX)
		pause_flow(f);
	return 0;
}

static void sender_ready(struct watch *w, uint32_t events)
{
	struct endpoint *end = (struct endpoint *)w;
	int error = 0;

	if (events & EPOLLERR)
		error = pending_error(end->fd);
	else if (end->to_send)
		error = udp_send(end);
	if (error)
		channel_failed(end->channel, error);
}

/* ---- receiver */

static void count_datagram(const struct header *h, unsigned int len)
{
	struct flow *f;

	if (len < sizeof(*h) || h->magic != MAGIC || h->flow >= flow_count)
		return;
	f = flows[h->flow];
	if (f->state != FLOW_RUNNING)
		return;
	if (len < f->pattern->set.size) {
		f->short_packets++;
		return;
	}
	f->whole_packets++;
	channel_received(f->channel, &f->channel->ends[1], len);
}

static bool has_datagrams(int fd)
{
	int bytes = 0;

	return !ioctl(fd, FIONREAD, &bytes) && bytes;
}

/* Return: number of datagrams, or -1 with errno */
static int receive_batch(int fd)
{
	struct header headers[BATCH];
	struct iovec iov[BATCH];
	struct mmsghdr in[BATCH];
	int n, i;

	for (i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ &headers[i], sizeof(headers[i]) };
		in[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	n = recvmmsg(fd, in, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
	for (i = 0; i < n; i++)
		count_datagram(&headers[i], in[i].msg_len);
	return n;
}

static void udp_catch_up(struct listener *l)
{
	int n = 0;

	while (has_datagrams(l->fd)) {
		n = receive_batch(l->fd);
		if (n < BATCH)
			break;
	}
	if (n < 0 && errno != EAGAIN)
		die("host %s: recvmmsg: %s", l->host->name, strerror(errno));
}

static void gathered(void *listener)
{
	struct listener *l = listener;

	udp_catch_up(l);
	loop_rewatch(l->fd, EPOLLIN | EPOLLONESHOT, &l->watch);
}

static void receiver_ready(struct watch *w, uint32_t events)
{
	(void)events;
	loop_at(loop_now() + GATHER_NS, gathered, w);
}

/* ---- both */

static int udp_socket(const struct pattern *p, const struct host *host)
{
	int fd = new_socket(p, host, SOCK_DGRAM, 0);

	if (host->address.sa.sa_family == AF_INET) {
		set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1, "SO_NO_CHECK");
	} else {
		set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, 1, "UDP_NO_CHECK6_TX");
		set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
	}
	return fd;
}

static void udp_listen(struct listener *l)
{
	l->fd = udp_socket(l->pattern, l->host);
	set_option(l->fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF, "SO_RCVBUFFORCE");
	bind_to(l->fd, l->host, (uint16_t)l->pattern->set.port);
	l->watch.ready = receiver_ready;
	loop_watch(l->fd, EPOLLIN | EPOLLONESHOT, &l->watch);
}

static int udp_open(struct channel *ch)
{
	struct endpoint *end = &ch->ends[0];
	int error;

	end->fd = udp_socket(ch->pattern, ch->src);
	bind_to(end->fd, ch->src, 0);
	error = connect_to(ch);
	if (error)
		return error;
	end->watch.ready = sender_ready;
	end->writable = true;
	loop_watch(end->fd, EPOLLOUT | EPOLLET, &end->watch);
	channel_opened(ch);
	return 0;
}

static void udp_sample(int fd, struct sample *s)
{
	(void)fd;
	(void)s;
}

const struct transport udp_transport = {
	.name = "udp",
	.headers = { 20 + 8, 40 + 8 },
	.listen = udp_listen,
	.open = udp_open,
	.send = udp_send,
	.catch_up = udp_catch_up,
	.sample = udp_sample,
};
