// SPDX-License-Identifier: GPL-2.0-only
/*
 * The aggregator: sums the agents' counters and answers reports with thresholds
 */
#include <err.h>
#include <inttypes.h>
#include <netinet/in.h>

#include "agents.h"
#include "histogram.h"
#include "pcrpd.h"

struct aggregator {
	struct service service;
	const struct config *config;
	struct key *key;
	struct agents agents;
	struct window window;
	uint64_t period;
	uint64_t counted;
	uint64_t greeted;
	uint64_t no_room;
	struct refused refused;
};

static void write_status(const struct aggregator *g)
{
	struct json_object *o = json_object_new_object();
	uint64_t thresholds[PCRP_THRESHOLDS], flows;
	bool known = window_thresholds(&g->window, thresholds, &flows);

	status_text(o, "role", "aggregator");
	status_number(o, "agents", g->agents.count);
	status_number(o, "flows", flows);
	status_thresholds(o, known ? thresholds : NULL);
	status_number(o, "reports", g->counted);
	status_number(o, "greeted", g->greeted);
	status_number(o, "no_room", g->no_room);
	status_refused(o, &g->refused);
	status_write(g->config->status, o);
}

static void tick(struct service *service, uint64_t periods)
{
	struct aggregator *g = (struct aggregator *)service;

	g->period += periods;
	window_turn(&g->window, periods);
	agents_expire(&g->agents, g->period);
	write_status(g);
}

static void answer(struct aggregator *g, const struct message *report, uint64_t nonce,
		   const struct sockaddr_storage *to, socklen_t to_length)
{
	struct message m = {
		.type = MESSAGE_ANSWER,
		.agent = report->agent,
		.nonce = nonce,
		.number = report->number,
	};
	uint8_t datagram[MESSAGE_MAX];
	size_t length;

	m.known = window_thresholds(&g->window, m.thresholds, &m.flows);
	length = message_write(&m, g->key, datagram);
	/* ignore errors: they equal a loss of the answer in the network */
	sendto(g->service.socket, datagram, length, 0, (const struct sockaddr *)to, to_length);
}

static void take(struct service *service, const uint8_t *datagram, size_t length,
		 const struct sockaddr_storage *from, socklen_t from_length)
{
	struct aggregator *g = (struct aggregator *)service;
	uint64_t flows[PCRP_SIZE_CLASSES], nonce;
	struct message m;

	if (!genuine(&g->refused, message_read(datagram, length, MESSAGE_REPORT, g->key, &m), from,
		     from_length))
		return;
	switch (agents_report(&g->agents, &m, g->period, random_number(), &nonce, flows)) {
	case COUNTED:
		g->counted++;
		window_add(&g->window, flows);
		break;
	case GREETED:
		g->greeted++;
		break;
	case REPLAYED:
		log_rarely(++g->refused.replayed, from, from_length, "a replayed report");
		return;
	case NO_ROOM:
		log_rarely(++g->no_room, from, from_length, "too many agents");
		return;
	}
	answer(g, &m, nonce, from, from_length);
}

/* Listen on "::" for IPv6 and IPv4, independent of net.ipv6.bindv6only. */
static int listen_at(const struct config *c)
{
	int fd = socket(c->socket_address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int off = 0;

	if (fd < 0 ||
	    (c->socket_address.ss_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) ||
	    bind(fd, (const struct sockaddr *)&c->socket_address, c->socket_length))
		err(1, "cannot listen on \"%s\", port %" PRId64, c->address, c->port);
	return fd;
}

void aggregator_run(const struct config *config, struct key *key)
{
	struct aggregator g = {
		.service = { .period_ms = config->period_ms, .tick = tick, .take = take },
		.config = config,
		.key = key,
	};

	if (!window_init(&g.window, config->periods) ||
	    !agents_init(&g.agents, config->agents, config->period_ms))
		err(1, "agents");
	g.service.socket = listen_at(config);
	serve(&g.service, config->period_ms);
	window_free(&g.window);
	agents_free(&g.agents);
}
