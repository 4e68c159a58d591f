// SPDX-License-Identifier: GPL-2.0-only
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

struct flow **flows;
uint32_t flow_count;
uint32_t flows_pending;

/* Set of start times: open addressing, 0 is free */
static struct {
	int64_t *slots;
	size_t room;
	size_t count;
} starts;

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
	if (ch->once)
		channel_open(ch);
	else
		f->retrans_packets = retrans_of(f);
	/* unless opening the channel failed */
	if (!f->channel)
		return;
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
