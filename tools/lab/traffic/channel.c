// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pattern.h"

#define TABLE_SIZE 4096

uint32_t channels_opening;

/* Open channels, hashed by the port of ends[0] */
static struct channel *table[TABLE_SIZE];

/* setns() affects the calling thread and the sockets that it makes. */
void enter_host(const struct host *host)
{
	static const struct host *current;
	char path[sizeof(host->netns) + 16];
	int fd;

	if (host == current)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", host->netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("host %s: network namespace %s: %s", host->name, host->netns,
		    strerror(errno));
	close(fd);
	current = host;
}

void set_option(int fd, int level, int option, int value, const char *name)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("%s=%d: %s", name, value, strerror(errno));
}

int new_socket(const struct pattern *p, const struct host *host, int type, int protocol)
{
	const struct settings *s = &p->set;
	int fd = socket(host->address.sa.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		die("host %s: socket: %s", host->name, strerror(errno));
	if (s->sndbuf)
		set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, (int)s->sndbuf, "sndbuf");
	if (s->prio)
		set_option(fd, SOL_SOCKET, SO_PRIORITY, (int)s->prio, "prio");
	if (s->tos && host->address.sa.sa_family == AF_INET)
		set_option(fd, IPPROTO_IP, IP_TOS, (int)s->tos, "tos");
	else if (s->tos)
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)s->tos, "tos");
	return fd;
}

socklen_t address_length(const union address *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

static union address with_port(const struct host *host, uint16_t port)
{
	union address a = host->address;

	/* sin6_port has the same offset */
	a.in.sin_port = htons(port);
	return a;
}

void bind_to(int fd, const struct host *host, uint16_t port)
{
	union address a = with_port(host, port);

	/* connect() chooses the port, so that connections to different hosts may share it */
	if (!port)
		set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1,
			   "IP_BIND_ADDRESS_NO_PORT");
	if (bind(fd, &a.sa, address_length(&a)))
		die("host %s: bind, port=%u: %s", host->name, port, strerror(errno));
}

int pending_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return -error;
}

int connect_to(struct channel *ch)
{
	union address a = with_port(ch->dst, (uint16_t)ch->pattern->set.port);
	socklen_t len = sizeof(a);

	if (connect(ch->ends[0].fd, &a.sa, address_length(&a)) && errno != EINPROGRESS)
		return -errno;
	if (getsockname(ch->ends[0].fd, &a.sa, &len))
		return -errno;
	ch->port = a.in.sin_port;
	return 0;
}

static bool same_address(const union address *a, const union address *b)
{
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

static void table_add(struct channel *ch)
{
	struct channel **slot = &table[ch->port % TABLE_SIZE];

	ch->next = *slot;
	*slot = ch;
}

static void table_remove(struct channel *ch)
{
	struct channel **slot = &table[ch->port % TABLE_SIZE];

	while (*slot && *slot != ch)
		slot = &(*slot)->next;
	if (*slot)
		*slot = ch->next;
}

struct channel *channel_find(const struct listener *l, const union address *from)
{
	struct channel *ch;

	for (ch = table[from->in.sin_port % TABLE_SIZE]; ch; ch = ch->next)
		if (ch->port == from->in.sin_port && ch->pattern == l->pattern &&
		    ch->dst == l->host && same_address(&ch->src->address, from))
			return ch;
	return NULL;
}

struct channel *channel_new(struct pattern *p, const struct host *src, const struct host *dst)
{
	struct channel *ch = zalloc(1, sizeof(*ch));
	int i;

	ch->pattern = p;
	ch->src = src;
	ch->dst = dst;
	for (i = 0; i < 2; i++) {
		ch->ends[i].channel = ch;
		ch->ends[i].fd = -1;
	}
	return ch;
}

void channel_open(struct channel *ch)
{
	int error;

	channels_opening++;
	enter_host(ch->src);
	error = ch->pattern->transport->open(ch);
	if (error)
		channel_failed(ch, error);
	else
		table_add(ch);
}

void channel_opened(struct channel *ch)
{
	if (ch->opened)
		return;
	ch->opened = true;
	if (!--channels_opening && !flows_pending)
		loop_stop();
}

static void flush_end(struct endpoint *end)
{
	int error = 0;

	if (end->fd >= 0 && end->writable)
		error = end->channel->pattern->transport->send(end);
	if (error)
		channel_failed(end->channel, error);
}

static int endpoint_events(struct endpoint *end, uint32_t events)
{
	const struct transport *transport = end->channel->pattern->transport;
	int error = events & EPOLLERR ? pending_error(end->fd) : 0;

	if (!error && events & EPOLLIN)
		error = transport->receive(end, events);
	/* receive() may have closed the channel */
	if (error || !(events & EPOLLOUT) || end->fd < 0)
		return error;
	end->writable = true;
	return end->to_send ? transport->send(end) : 0;
}

static void endpoint_ready(struct watch *w, uint32_t events)
{
	struct endpoint *end = (struct endpoint *)w;
	int error = endpoint_events(end, events);

	if (error && end->fd >= 0)
		channel_failed(end->channel, error);
}

void endpoint_watch(struct endpoint *end, uint32_t more)
{
	end->watch.ready = endpoint_ready;
	loop_watch(end->fd, EPOLLIN | EPOLLOUT | EPOLLET | more, &end->watch);
}

void channel_send(struct endpoint *end, uint64_t bytes)
{
	end->to_send = bytes;
	flush_end(end);
}

/* Later flows of the channel open their own. */
static void forget(struct channel *ch)
{
	struct pattern *p = ch->pattern;
	uint32_t i;

	for (i = 0; i < p->channel_count; i++)
		if (p->channels[i] == ch)
			p->channels[i] = NULL;
}

void channel_close(struct channel *ch)
{
	int i;

	if (!ch->once)
		forget(ch);
	table_remove(ch);
	if (!ch->opened)
		channels_opening--;
	for (i = 0; i < 2; i++) {
		ch->ends[i].watch.ready = NULL;
		if (ch->ends[i].fd >= 0)
			close(ch->ends[i].fd);
		ch->ends[i].fd = -1;
	}
	loop_free(ch);
}

void channel_expect(struct endpoint *end)
{
	const struct transport *transport = end->channel->pattern->transport;
	const struct flow *f = end->channel->flow;
	uint64_t left;

	if (!transport->expect || !f || end->fd < 0)
		return;
	if (end == &end->channel->ends[0])
		left = f->response - f->answered;
	else
		left = f->bytes ? f->bytes - f->received : UINT64_MAX;
	if (left)
		transport->expect(end, left);
}

void channel_received(struct channel *ch, struct endpoint *end, uint64_t bytes)
{
	struct flow *f = ch->flow;

	if (!f)
		return;
	end->received += bytes;
	if (end == &ch->ends[0])
		f->answered += bytes;
	else
		f->received += bytes;
	if (f->bytes && f->received >= f->bytes && f->answered >= f->response)
		flow_end(f, FLOW_DONE, 0);
	else if (end == &ch->ends[1] && f->received == f->bytes)
		channel_send(end, f->response);
	else
		channel_expect(end);
}

void channel_failed(struct channel *ch, int error)
{
	struct flow *f = ch->flow;

	if (f)
		flow_end(f, FLOW_FAILED, error);
	else if (run.over)
		channel_close(ch);
	else
		die("connection from %s to %s: %s", ch->src->name, ch->dst->name,
		    strerror(-error));
}
