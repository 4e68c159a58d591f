// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ideal.h"
#include "pattern.h"
#include "sockets.h"

#define SEND_MAX (4 << 20)
/* SO_RCVLOWAT of a long flow; less at first, while the window is small */
#define WAKE_BYTES (128 << 10)
#define WAKE_FIRST_BYTES (16 << 10)
#define FIRST_BYTES (1 << 20)
/* fits into one packet, so SO_RCVLOWAT saves no wakeup */
#define WAKE_LEAST_BYTES 1400
/* bytes that an endless flow always has to send */
#define ENDLESS UINT64_MAX

static void set_congestion_control(int fd, const char *cc)
{
	if (cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("cc=%s: %s", cc, strerror(errno));
}

static int tcp_socket(const struct pattern *p, const struct host *host)
{
	int fd = new_socket(p, host, SOCK_STREAM, 0);

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, (int)p->set.nodelay, "nodelay");
	set_congestion_control(fd, p->set.cc);
	return fd;
}

/*
 * Discard all data in the socket without copying, and read the end of the stream.
 * Return: 0, or a negative errno
 */
static int tcp_receive(struct endpoint *end, uint32_t events)
{
	ssize_t n;

	do {
		n = recv(end->fd, NULL, INT32_MAX, MSG_TRUNC | MSG_DONTWAIT);
		if (!n)
			return -ECONNRESET;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		channel_received(end->channel, end, (uint64_t)n);
	} while (events & EPOLLRDHUP && end->fd >= 0);
	return 0;
}

static uint64_t tcp_unread(const struct endpoint *end)
{
	int bytes = 0;

	return ioctl(end->fd, FIONREAD, &bytes) ? 0 : (uint64_t)bytes;
}

static void tcp_expect(struct endpoint *end, uint64_t bytes)
{
	uint64_t lowat = end->received < FIRST_BYTES ? WAKE_FIRST_BYTES : WAKE_BYTES;

	if (lowat > bytes)
		lowat = bytes;
	if (lowat == end->lowat || (lowat <= WAKE_LEAST_BYTES && end->lowat <= lowat))
		return;
	end->lowat = lowat;
	set_option(end->fd, SOL_SOCKET, SO_RCVLOWAT, (int)lowat, "SO_RCVLOWAT");
}

static int tcp_send(struct endpoint *end)
{
	static const char zeros[SEND_MAX];
	size_t part;
	ssize_t n;

	while (end->to_send) {
		part = end->to_send < SEND_MAX ? end->to_send : SEND_MAX;
		n = send(end->fd, zeros, part, MSG_NOSIGNAL | MSG_DONTWAIT);
		end->writable = n == (ssize_t)part;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (end->to_send != ENDLESS)
			end->to_send -= (uint64_t)n;
		if (!end->writable && end->to_send)
			return 0;
	}
	/* now, so that the last segment carries the FIN */
	if (end->channel->once)
		shutdown(end->fd, SHUT_WR);
	return 0;
}

static void accept_ready(struct watch *w, uint32_t events)
{
	struct listener *l = (struct listener *)w;
	union address from;
	socklen_t len = sizeof(from);
	struct channel *ch;
	int fd = accept4(l->fd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED)
		die("host %s: accept: %s", l->host->name, strerror(errno));
	if (fd < 0)
		return;
	ch = channel_find(l, &from);
	if (!ch || ch->ends[1].fd >= 0) {
		/* its flow has failed meanwhile, or it is not a connection of ours */
		close(fd);
		return;
	}
	ch->ends[1].fd = fd;
	channel_opened(ch);
	channel_expect(&ch->ends[1]);
	endpoint_watch(&ch->ends[1], EPOLLRDHUP);
}

static void tcp_listen(struct listener *l)
{
	l->fd = tcp_socket(l->pattern, l->host);
	set_option(l->fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	bind_to(l->fd, l->host, (uint16_t)l->pattern->set.port);
	/* the kernel limits it to net.core.somaxconn */
	if (listen(l->fd, 65535))
		die("host %s: listen: %s", l->host->name, strerror(errno));
	l->watch.ready = accept_ready;
	loop_watch(l->fd, EPOLLIN, &l->watch);
}

static int tcp_open(struct channel *ch)
{
	struct endpoint *end = &ch->ends[0];
	int error;

	end->fd = tcp_socket(ch->pattern, ch->src);
	bind_to(end->fd, ch->src, 0);
	error = connect_to(ch);
	if (!error)
		endpoint_watch(end, EPOLLRDHUP);
	return error;
}

static void tcp_sample(int fd, struct sample *s)
{
	struct tcp_info info = { };
	socklen_t len = sizeof(info);

	if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	s->acked_bytes = info.tcpi_bytes_acked;
	s->cwnd_packets = info.tcpi_snd_cwnd;
	s->srtt_us = info.tcpi_rtt;
	s->rttvar_us = info.tcpi_rttvar;
	s->min_rtt_us = info.tcpi_min_rtt;
	s->retrans_packets = info.tcpi_total_retrans;
	s->delivery_rate_bps = 8 * info.tcpi_delivery_rate;
	/* ~0: unlimited */
	if (info.tcpi_pacing_rate < UINT64_MAX / 8)
		s->pacing_rate_bps = 8 * info.tcpi_pacing_rate;
	s->ca_state = info.tcpi_ca_state;
}

const struct transport tcp_transport = {
	.name = "tcp",
	.headers = { HEADERS_IPV4, HEADERS_IPV6 },
	.listen = tcp_listen,
	.open = tcp_open,
	.send = tcp_send,
	.receive = tcp_receive,
	.expect = tcp_expect,
	.unread = tcp_unread,
	.sample = tcp_sample,
};
