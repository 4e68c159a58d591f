// SPDX-License-Identifier: GPL-2.0-only
/*
 * Go-back-N transport: how the RDMA of many NICs behaves in a fabric
 *
 * Packets of a flow leave at the interval that they take on the first link, at most WINDOW of them
 * unacknowledged. The receiver drops packets that are not in order. It answers the first packet of
 * a gap with a NACK, as RoCEv2 does, and the sender goes back to the missing packet. There is no
 * other reaction to congestion than the window.
 *
 * Data goes in UDP datagrams as long as the MTU allows, each with a header.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "pattern.h"
#include "sockets.h"

#define WINDOW 64
#define ACK_EVERY 4
/* without an answer for so long, the sender goes back */
#define TIMEOUT_NS 500000
#define BUFFER (64 << 20)
#define PACKET_MAX 65535
/* bytes of a packet on the wire besides the IP packet: header, FCS, preamble, gap */
#define ON_WIRE (14 + 24)

enum { DATA, ACK, NACK };

struct header {
	uint32_t kind;
	uint32_t flow;
	uint64_t packet;	/* this packet's number; ACK, NACK: the expected packet's */
};

/* State of a flow, of both its sides */
struct gbn {
	uint64_t packets;	/* total; UINT64_MAX: endless */
	uint64_t next;		/* to send */
	uint64_t acked;		/* all below are acknowledged */
	int64_t paced_ns;	/* time of the next packet */
	int64_t heard_ns;	/* time of the last progress */
	bool waiting;		/* send_due() is scheduled */
	uint64_t expected;	/* by the receiver */
	bool nacked;		/* the receiver has sent a NACK for it */
};

static char payload[PACKET_MAX];

static uint64_t data_bytes(const struct flow *f)
{
	return run.topology.mtu - f->pattern->transport->headers[f->src->address.sa.sa_family ==
								 AF_INET6];
}

/* Return: bytes of data of a packet of the flow */
static uint64_t bytes_of(const struct flow *f, uint64_t packet)
{
	const struct gbn *g = f->state_of_transport;

	return packet + 1 < g->packets ? data_bytes(f) : f->bytes - packet * data_bytes(f);
}

/* ---- sender */

static void send_due(void *flow);

/* Return: rate of the hosts' links in bit/s; 0: the file of hosts has no path */
static uint64_t link_rate_bps(void)
{
	const struct path *path;

	for (path = run.topology.paths; path < run.topology.paths + DISTANCES; path++)
		if (path->count)
			return path->links[0].rate_bps;
	return 0;
}

static int64_t interval_ns(void)
{
	return (int64_t)((uint64_t)(run.topology.mtu + ON_WIRE) * 8 * NS_PER_S / link_rate_bps());
}

static void send_later(struct flow *f)
{
	struct gbn *g = f->state_of_transport;
	int64_t now = loop_now();

	if (g->waiting || g->next >= g->packets || g->next >= g->acked + WINDOW)
		return;
	g->waiting = true;
	loop_at(g->paced_ns > now ? g->paced_ns : now, send_due, f);
}

static void send_due(void *flow)
{
	struct flow *f = flow;
	struct gbn *g = f->state_of_transport;
	struct header header = { DATA, f->id, g->next };
	struct iovec iov[] = { { &header, sizeof(header) }, { payload, 0 } };
	struct msghdr out = { .msg_iov = iov, .msg_iovlen = 2 };

	g->waiting = false;
	if (f->state != FLOW_RUNNING || g->next >= g->packets)
		return;
	iov[1].iov_len = bytes_of(f, g->next);
	if (sendmsg(f->channel->ends[0].fd, &out, MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN)
			channel_failed(f->channel, -errno);
	} else {
		g->next++;
		f->sent_packets++;
	}
	if (f->state != FLOW_RUNNING)
		return;
	g->paced_ns = loop_now() + interval_ns();
	send_later(f);
}

static void check_progress(void *flow)
{
	struct flow *f = flow;
	struct gbn *g = f->state_of_transport;

	if (f->state != FLOW_RUNNING)
		return;
	if (loop_now() - g->heard_ns >= TIMEOUT_NS) {
		g->next = g->acked;
		g->heard_ns = loop_now();
		send_later(f);
	}
	loop_at(g->heard_ns + TIMEOUT_NS, check_progress, f);
}

static int gbn_send(struct endpoint *end)
{
	struct flow *f = end->channel->flow;
	struct gbn *g = f->state_of_transport;

	if (g)
		return 0;
	g = zalloc(1, sizeof(*g));
	f->state_of_transport = g;
	g->packets = f->bytes ? (f->bytes + data_bytes(f) - 1) / data_bytes(f) : UINT64_MAX;
	g->heard_ns = loop_now();
	send_later(f);
	loop_at(g->heard_ns + TIMEOUT_NS, check_progress, f);
	return 0;
}

static bool is_running(const struct header *h)
{
	return h->flow < flow_count && flows[h->flow]->state == FLOW_RUNNING &&
	       flows[h->flow]->state_of_transport;
}

static bool has_datagrams(int fd)
{
	int bytes = 0;

	return !ioctl(fd, FIONREAD, &bytes) && bytes;
}

static void answered(struct flow *f, const struct header *h)
{
	struct gbn *g = f->state_of_transport;

	if (h->packet > g->acked) {
		g->acked = h->packet;
		g->heard_ns = loop_now();
	}
	if (h->kind == NACK || g->next < g->acked)
		g->next = g->acked;
	send_later(f);
}

/* Read ACKs and NACKs. Return: 0, or a negative errno */
static int receive_answer(struct endpoint *end, uint32_t events)
{
	struct header h;
	ssize_t n;

	(void)events;
	do {
		n = recv(end->fd, &h, sizeof(h), MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == sizeof(h) && is_running(&h))
			answered(flows[h.flow], &h);
	} while (has_datagrams(end->fd));
	return 0;
}

/* ---- receiver */

static void answer(const struct listener *l, const union address *to, const struct flow *f,
		   uint32_t kind)
{
	const struct gbn *g = f->state_of_transport;
	struct header header = { kind, f->id, g->expected };

	/* a lost answer is like one that the network drops */
	(void)!sendto(l->fd, &header, sizeof(header), MSG_DONTWAIT, &to->sa, address_length(to));
}

static void packet_arrived(const struct listener *l, const union address *from, struct flow *f,
			   uint64_t packet)
{
	struct gbn *g = f->state_of_transport;

	if (packet > g->expected) {
		if (!g->nacked)
			answer(l, from, f, NACK);
		g->nacked = true;
		return;
	}
	if (packet == g->expected) {
		g->expected++;
		g->nacked = false;
		f->whole_packets++;
	}
	if (packet < g->expected - 1 || g->expected % ACK_EVERY == 0 || g->expected == g->packets)
		answer(l, from, f, ACK);
	if (packet == g->expected - 1)
		channel_received(f->channel, &f->channel->ends[1], bytes_of(f, packet));
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct listener *l = (struct listener *)w;
	union address from;
	socklen_t len = sizeof(from);
	struct header h;
	ssize_t n;

	(void)events;
	n = recvfrom(l->fd, &h, sizeof(h), MSG_DONTWAIT | MSG_TRUNC, &from.sa, &len);
	if (n < 0 && errno != EAGAIN)
		die("host %s: recvfrom: %s", l->host->name, strerror(errno));
	if (n > (ssize_t)sizeof(h) && h.kind == DATA && is_running(&h))
		packet_arrived(l, &from, flows[h.flow], h.packet);
}

/* ---- both */

static int gbn_socket(const struct pattern *p, const struct host *host, uint16_t port)
{
	int fd = new_socket(p, host, SOCK_DGRAM, 0);

	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER, "SO_RCVBUFFORCE");
	set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER, "SO_SNDBUFFORCE");
	bind_to(fd, host, port);
	return fd;
}

static void gbn_listen(struct listener *l)
{
	if (!link_rate_bps())
		die("transport=gbn needs a path in the file of hosts");
	l->fd = gbn_socket(l->pattern, l->host, (uint16_t)l->pattern->set.port);
	l->watch.ready = listener_ready;
	loop_watch(l->fd, EPOLLIN, &l->watch);
}

static int gbn_open(struct channel *ch)
{
	struct endpoint *end = &ch->ends[0];
	int error;

	end->fd = gbn_socket(ch->pattern, ch->src, 0);
	error = connect_to(ch);
	if (error)
		return error;
	end->writable = true;
	endpoint_watch(end, 0);
	channel_opened(ch);
	return 0;
}

static void gbn_sample(int fd, struct sample *s)
{
	(void)fd;
	(void)s;
}

const struct transport gbn_transport = {
	.name = "gbn",
	/* IP, UDP, header */
	.headers = { 20 + 8 + sizeof(struct header), 40 + 8 + sizeof(struct header) },
	.listen = gbn_listen,
	.open = gbn_open,
	.send = gbn_send,
	.receive = receive_answer,
	.sample = gbn_sample,
};
