/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A network for NDP's cores: it delays, reorders, trims, loses, doubles and bounces
 */
#ifndef _CLOSNET_UNIT_NDP_NET_H
#define _CLOSNET_UNIT_NDP_NET_H

#include <assert.h>

#include "../../net/ndp/wire.h"
#include "rng.h"

#define NET_ROOM	8192U

/**
 * struct net_params - what it does; percentages
 * @lose: packets to the receiver that vanish
 * @trim: that lose their payload
 * @shorten: of these, that lose most of the header, too
 * @bounce: that come back as a header
 * @twice: that come twice
 * @lose_answer: packets to the sender that vanish
 * @delay_ns: least time on the way
 * @jitter_ns: most time beyond that
 */
struct net_params {
	u32 lose;
	u32 trim;
	u32 shorten;
	u32 bounce;
	u32 twice;
	u32 lose_answer;
	u32 delay_ns;
	u32 jitter_ns;
};

/**
 * enum net_kind - networks
 * @NET_CLEAN: they delay and reorder
 * @NET_TRIMS: and trim
 * @NET_BOUNCES: and bounce
 * @NET_LOSSES: they lose packets of both directions, and trim some
 * @NET_ALL: they do all that can be done
 * @NET_KINDS: how many there are
 */
enum net_kind {
	NET_CLEAN,
	NET_TRIMS,
	NET_BOUNCES,
	NET_LOSSES,
	NET_ALL,
	NET_KINDS,
};

/**
 * net_random() - a network of a kind
 * @rng: random numbers
 * @kind: which
 */
static inline struct net_params net_random(struct rng *rng, enum net_kind kind)
{
	struct net_params p = { .delay_ns = rng_in(rng, 1000, 20000) };

	p.jitter_ns = rng_in(rng, 1, 50000);
	if (kind >= NET_TRIMS)
		p.trim = rng_in(rng, 5, kind == NET_LOSSES ? 10 : 70);
	if (kind == NET_BOUNCES || kind == NET_ALL)
		p.bounce = rng_in(rng, 1, 50);
	if (kind >= NET_LOSSES) {
		p.lose = rng_in(rng, 1, 40);
		p.lose_answer = rng_in(rng, 1, 40);
	}
	if (kind == NET_ALL) {
		p.shorten = rng_in(rng, 0, 30);
		p.twice = rng_in(rng, 0, 20);
	}
	return p;
}

enum net_where { NET_TO_RECEIVER, NET_TO_SENDER, NET_RETURNED };

struct net_packet {
	u64 at_ns;
	u64 nr;
	enum net_where where;
	struct ndp_hdr h;
};

/**
 * struct net - packets that are on their way
 * @p: what happens to them
 * @rng: by chance
 * @sent: how many came in
 * @count: how many there are
 * @packet: in no order
 */
struct net {
	struct net_params p;
	struct rng *rng;
	u64 sent;
	u32 count;
	struct net_packet packet[NET_ROOM];
};

static inline void net_add(struct net *net, u64 now, enum net_where where,
			   const struct ndp_hdr *h)
{
	u64 jitter_ns = net->p.jitter_ns ? rng_in(net->rng, 0, net->p.jitter_ns) : 0;

	assert(net->count < NET_ROOM);
	net->packet[net->count++] = (struct net_packet) {
		.at_ns = now + net->p.delay_ns + jitter_ns, .nr = net->sent++,
		.where = where, .h = *h,
	};
}

/* A packet as it leaves the sender; a header that is read has bytes that are there. */
static inline void net_forward(struct net *net, u64 now, struct ndp_hdr h)
{
	const struct net_params *p = &net->p;
	u32 copies = rng_percent(net->rng, p->twice) ? 2 : 1;

	h.here = h.payload_len;
	while (copies--) {
		struct ndp_hdr copy = h;

		if (rng_percent(net->rng, p->lose))
			continue;
		if (h.type == NDP_DATA && rng_percent(net->rng, p->trim)) {
			copy.here = 0;
			if (rng_percent(net->rng, p->bounce)) {
				net_add(net, now, NET_RETURNED, &copy);
				continue;
			}
			if (rng_percent(net->rng, p->shorten)) {
				copy.is_short = true;
				copy.sport = 0;
				copy.dport = 0;
				copy.data = (struct ndp_data) {};
			}
		}
		net_add(net, now, NET_TO_RECEIVER, &copy);
	}
}

static inline void net_answer(struct net *net, u64 now, const struct ndp_hdr *h)
{
	if (!rng_percent(net->rng, net->p.lose_answer))
		net_add(net, now, NET_TO_SENDER, h);
}

/* Which comes next; NULL: none */
static inline const struct net_packet *net_next(const struct net *net)
{
	const struct net_packet *next = NULL, *p;

	for (p = net->packet; p < net->packet + net->count; p++)
		if (!next || p->at_ns < next->at_ns ||
		    (p->at_ns == next->at_ns && p->nr < next->nr))
			next = p;
	return next;
}

static inline struct net_packet net_take(struct net *net)
{
	struct net_packet *next = (struct net_packet *)net_next(net), taken = *next;

	*next = net->packet[--net->count];
	return taken;
}

#endif /* _CLOSNET_UNIT_NDP_NET_H */
