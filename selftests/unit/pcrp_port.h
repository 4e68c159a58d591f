/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port with sch/pcrp/pcrp_sender.h, for its tests: flows' FIFOs of packets, which are
 * only lengths, and a clock. To be included after cmocka.h.
 */
#ifndef _CLOSNET_UNIT_PCRP_PORT_H
#define _CLOSNET_UNIT_PCRP_PORT_H

#include <stdlib.h>
#include <string.h>

#include "../../sch/pcrp/pcrp_sender.h"

#define PORT_FIFO	64	/* most packets that wait of a flow */

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL

/* A packet, and a chain of ten */
#define PKT		1000
#define CHAIN		10000
#define RTT		(100 * US)

static const struct pcrp_params port_ordinary = {
	.chain_bytes = CHAIN,
	.first_bytes = CHAIN,
	.mfwt_ns = U64_MAX,
	.hold_ns = 100 * MS,
	.spec_bytes = { CHAIN / 4, CHAIN, 4 * CHAIN },
	.probe_ns = 2 * RTT,
	.probe_gap_ns = 12 * US,	/* at 10 Gbit/s */
	.eu = true,
	.srpt = true,
};

/**
 * struct port_fifo - packets of a flow
 * @bytes: what each adds
 * @at_ns: when it was queued
 * @first: where the first is
 * @count: how many there are
 * @again: of them, those that were sent before; the first
 */
struct port_fifo {
	u32 bytes[PORT_FIFO];
	u64 at_ns[PORT_FIFO];
	u32 first;
	u32 count;
	u32 again;
};

/* The n-th that waits */
static inline u32 fifo_at(const struct port_fifo *q, u32 n)
{
	return (q->first + n) % PORT_FIFO;
}

static inline void fifo_put(struct port_fifo *q, u32 bytes, u64 now)
{
	u32 i = fifo_at(q, q->count++);

	q->bytes[i] = bytes;
	q->at_ns[i] = now;
}

static inline void fifo_put_again(struct port_fifo *q, u64 now)
{
	u32 n;

	for (n = q->count++; n > q->again; n--) {
		q->bytes[fifo_at(q, n)] = q->bytes[fifo_at(q, n - 1)];
		q->at_ns[fifo_at(q, n)] = q->at_ns[fifo_at(q, n - 1)];
	}
	q->bytes[fifo_at(q, n)] = 0;
	q->at_ns[fifo_at(q, n)] = now;
	q->again++;
}

/* What the first adds, which goes */
static inline u32 fifo_take(struct port_fifo *q)
{
	u32 bytes = q->bytes[q->first];

	q->first = fifo_at(q, 1);
	q->count--;
	q->again -= !!q->again;
	return bytes;
}

/**
 * struct port - a port
 * @s: sender
 * @p: configuration
 * @now: the time, ns
 * @fifo: packets, by slot
 * @unsent: what the socket has, by slot
 */
struct port {
	struct pcrp_sender s;
	struct pcrp_params p;
	u64 now;
	struct port_fifo *fifo;
	u32 *unsent;
};

/**
 * struct step - what a port did
 * @action: enum pcrp_action
 * @slot: for which flow
 * @prio: of the packet
 * @bytes: of the packet
 * @rule: by which it was picked, enum pcrp_rule
 * @again: was it sent before?
 */
struct step {
	enum pcrp_action action;
	u32 slot;
	u8 prio;
	u32 bytes;
	u8 rule;
	bool again;
};

static inline void port_open(struct port *port, u32 slots, const struct pcrp_params *p)
{
	memset(port, 0, sizeof(*port));
	port->p = *p;
	port->now = 1000000000;
	port->fifo = calloc(slots, sizeof(*port->fifo));
	port->unsent = calloc(slots, sizeof(*port->unsent));
	pcrp_snd_init(&port->s, calloc(slots + PCRP_SND_LISTS, sizeof(struct pcrp_flow)),
		      calloc(PCRP_SND_HEAPS * slots, sizeof(struct heap_node)),
		      calloc(PCRP_SND_HEAPS * slots, sizeof(u32)), slots, UINT32_MAX - 2);
}

static inline void port_close(struct port *port)
{
	free(port->fifo);
	free(port->unsent);
	free(port->s.flow);
	free(port->s.shortest.node);
	free(port->s.shortest.place);
}

static inline struct pcrp_flow *port_flow(struct port *port, u32 slot)
{
	return &port->s.flow[slot];
}

static inline u32 port_count(const struct port *port, enum pcrp_flow_state state)
{
	return port->s.count[state];
}

/* Flows that wait for GRANTs, and have begun */
static inline u32 port_begun(const struct port *port)
{
	const struct pcrp_sender *s = &port->s;
	u32 n = 0, i = pcrp_list_first(s, PCRP_LINK_EU, PCRP_LIST_BEGUN);

	for (; i < s->slots; i = s->flow[i].link[PCRP_LINK_EU].next)
		n++;
	return n;
}

static inline void port_arrive(struct port *port, u32 slot, u32 bytes, u32 unsent, u8 gate)
{
	fifo_put(&port->fifo[slot], bytes, port->now);
	port->unsent[slot] = unsent;
	pcrp_snd_queued(&port->s, &port->p, slot, bytes, unsent, gate, port->now);
}

/* A packet comes that was sent before. */
static inline void port_again(struct port *port, u32 slot)
{
	fifo_put_again(&port->fifo[slot], port->now);
	pcrp_snd_again(&port->s, &port->p, slot, port->unsent[slot], port->now);
}

/* Picks, and does what was picked. */
static inline struct step port_step(struct port *port)
{
	struct step step = {};
	struct port_fifo *q;

	step.action = pcrp_snd_pick(&port->s, &port->p, port->now, &step.slot);
	switch (step.action) {
	case PCRP_ACTION_SLEEP:
		break;
	case PCRP_ACTION_DATA:
		q = &port->fifo[step.slot];
		step.rule = port->s.rule;
		step.again = q->again;
		step.bytes = fifo_take(q);
		step.prio = pcrp_snd_sent(&port->s, &port->p, step.slot, step.bytes,
					  port->unsent[step.slot], q->at_ns[q->first],
					  port->now);
		break;
	default:
		pcrp_snd_asked(&port->s, &port->p, step.slot, step.action, port->now);
		step.prio = port_flow(port, step.slot)->prio;
	}
	return step;
}

static inline enum pcrp_grant_verdict port_grant(struct port *port, u32 slot, u64 granted,
						 u8 prio)
{
	const struct pcrp_grant g = {
		.granted = granted,
		.slot = slot,
		.flow_no = port_flow(port, slot)->flow_no,
		.prio = prio,
	};
	u64 rtt_ns;

	return pcrp_snd_grant(&port->s, &port->p, &g, port->now, &rtt_ns);
}

/* A flow of so many packets, waiting for GRANTs or not */
static inline void queue(struct port *port, u32 slot, u32 packets, u8 gate)
{
	while (packets--)
		port_arrive(port, slot, PKT, 0, gate);
}

static inline void expect_ask(struct port *port, enum pcrp_action action, u32 slot)
{
	struct step step = port_step(port);

	assert_int_equal(step.action, action);
	assert_int_equal(step.slot, slot);
}

static inline void expect_data(struct port *port, u32 slot, u32 packets, u8 prio)
{
	struct step step;

	while (packets--) {
		step = port_step(port);
		assert_int_equal(step.action, PCRP_ACTION_DATA);
		assert_int_equal(step.slot, slot);
		assert_int_equal(step.prio, prio);
	}
}

static inline void expect_sleep(struct port *port)
{
	assert_int_equal(port_step(port).action, PCRP_ACTION_SLEEP);
}

#endif /* _CLOSNET_UNIT_PCRP_PORT_H */
