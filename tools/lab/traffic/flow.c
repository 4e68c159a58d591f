// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows and channels, in one file: a flow opens and closes its channel, and what
 * happens on a channel ends its flow.
 */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pattern.h"
#include "sockets.h"

#define TABLE_SIZE 4096

/* key "bands": bytes of the shortest flows, and how many times as many each further level has */
#define BAND_FIRST_BYTES 8192
#define BAND_STEP 4
#define IP_PRECEDENCE_SHIFT 5

struct flow **flows;
uint32_t flow_count;
uint32_t flows_pending;
uint32_t channels_opening;

/* Set of start times: open addressing, 0 is free */
static struct {
	int64_t *slots;
	size_t room;
	size_t count;
} starts;

/* Open channels, hashed by the port of ends[0] */
static struct channel *table[TABLE_SIZE];

/* ---- flows */

struct flow *flow_new(struct pattern *p, const struct host *src, const struct host *dst,
		      uint64_t bytes)
{
	struct flow *f = zalloc(1, sizeof(*f));

	flows = grow(flows, flow_count, sizeof(*flows));
	f->id = flow_count;
	f->pattern = p;
	f->src = src;
	f->dst = dst;
	f->bytes = bytes;
	flows[flow_count++] = f;
	return f;
}

static int64_t *start_slot(int64_t ns)
{
	size_t i = (uint64_t)ns * 0x9e3779b97f4a7c15ULL % starts.room;

	while (starts.slots[i] && starts.slots[i] != ns)
		i = (i + 1) % starts.room;
	return &starts.slots[i];
}

static void more_starts(void)
{
	int64_t *old = starts.slots;
	size_t room = starts.room, i;

	starts.room = 2 * room + 1021;
	starts.slots = zalloc(starts.room, sizeof(*starts.slots));
	for (i = 0; i < room; i++)
		if (old[i])
			*start_slot(old[i]) = old[i];
	free(old);
}

void flow_start_at(struct flow *f, int64_t ns, void (*start)(void *flow))
{
	if (2 * starts.count >= starts.room)
		more_starts();
	for (ns = ns < 1 ? 1 : ns; *start_slot(ns); ns++)
		;
	*start_slot(ns) = ns;
	starts.count++;
	flows_pending++;
	f->start_ns = ns;
	loop_at(ns, start, f);
}

static uint64_t retrans_of(const struct flow *f)
{
	struct sample s = { };

	f->pattern->transport->sample(f->channel->ends[0].fd, &s);
	return s.retrans_packets;
}

static void pending_less(void)
{
	if (!--flows_pending)
		loop_stop();
}

/* Set the TOS or traffic class of a host's socket; TCP controls the ECN bits. */
static void set_tos(int fd, const struct host *host, unsigned int tos)
{
	if (host->address.sa.sa_family == AF_INET)
		set_option(fd, IPPROTO_IP, IP_TOS, (int)tos, "tos");
	else
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)tos, "tos");
}

/* Give a flow's packets the IP precedence of its length: that of a message with net.ndp.bands. */
static void set_band(const struct flow *f)
{
	unsigned int level = (unsigned int)f->pattern->set.bands - 1;
	uint64_t most = BAND_FIRST_BYTES;

	for (; level && (!f->bytes || f->bytes > most); level--)
		most *= BAND_STEP;
	set_tos(f->channel->ends[0].fd, f->src, level << IP_PRECEDENCE_SHIFT);
}

void flow_start(struct flow *f, struct channel *ch)
{
	if (run.over) {
		pending_less();
		return;
	}
	f->state = FLOW_RUNNING;
	f->start_ns = loop_now();
	if (!ch) {
		ch = channel_new(f->pattern, f->src, f->dst);
		ch->once = true;
	}
	f->channel = ch;
	ch->flow = f;
	f->connected = !ch->opened;
	if (f->connected)
		channel_open(ch);
	else
		f->retrans_packets = retrans_of(f);
	/* unless opening the channel failed */
	if (!f->channel)
		return;
	if (f->pattern->set.bands)
		set_band(f);
	channel_expect(&ch->ends[1]);
	channel_expect(&ch->ends[0]);
	channel_send(&ch->ends[0], f->bytes ? f->bytes : UINT64_MAX);
}

uint64_t flow_received(const struct flow *f)
{
	const struct transport *transport = f->pattern->transport;
	uint64_t unread = 0;

	if (f->channel && f->channel->ends[1].fd >= 0 && transport->unread)
		unread = transport->unread(&f->channel->ends[1]);
	return f->received + unread;
}

void flow_end(struct flow *f, enum flow_state state, int error)
{
	struct channel *ch = f->channel;

	f->end_ns = loop_now();
	f->received = flow_received(f);
	f->state = state;
	f->error = error;
	f->retrans_packets = retrans_of(f) - f->retrans_packets;
	f->channel = NULL;
	ch->flow = NULL;
	if (ch->once || state != FLOW_DONE) {
		channel_close(ch);
		ch = NULL;
	}
	if (f->pattern->kind->ended)
		f->pattern->kind->ended(f->pattern, f, ch);
	pending_less();
}

void flows_stop(void)
{
	uint32_t i;

	for (i = 0; i < flow_count; i++)
		if (flows[i]->state == FLOW_RUNNING && !flows[i]->bytes)
			flow_end(flows[i], FLOW_STOPPED, 0);
}

/* ---- channels */

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
		    ch->dst == l->host && address_same_host(&ch->src->address, from))
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

static void close_end(struct endpoint *end)
{
	const struct transport *transport = end->channel->pattern->transport;

	end->watch.ready = NULL;
	if (transport->close)
		transport->close(end);
	else if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
}

void channel_close(struct channel *ch)
{
	if (ch->remove)
		ch->remove(ch);
	else if (!ch->once)
		forget(ch);
	table_remove(ch);
	if (!ch->opened)
		channels_opening--;
	close_end(&ch->ends[0]);
	close_end(&ch->ends[1]);
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

/* ---- for transports */

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
	if (s->tos)
		set_tos(fd, host, (unsigned int)s->tos);
	/* handshakes and ACKs do not wait behind data */
	if (s->bands)
		set_tos(fd, host, ((unsigned int)s->bands - 1) << IP_PRECEDENCE_SHIFT);
	return fd;
}

int connect_to(struct channel *ch)
{
	union address a = address_with_port(ch->dst, (uint16_t)ch->pattern->set.port);
	socklen_t len = sizeof(a);

	if (connect(ch->ends[0].fd, &a.sa, address_length(&a)) && errno != EINPROGRESS)
		return -errno;
	if (getsockname(ch->ends[0].fd, &a.sa, &len))
		return -errno;
	ch->port = a.in.sin_port;
	return 0;
}
