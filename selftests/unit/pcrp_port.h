/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port with sch/pcrp_sender.h, for its tests: flows' FIFOs of packets, which are
 * only lengths, and a clock. To be included after cmocka.h.
 */
#ifndef _CLOSNET_UNIT_PCRP_PORT_H
#define _CLOSNET_UNIT_PCRP_PORT_H

#include <stdlib.h>
#include <string.h>

#include "../../sch/pcrp_sender.h"

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
	.eu = true,
	.srpt = true,
};

struct port_fifo {
	u32 bytes[PORT_FIFO];
	u32 first;
	u32 count;
};

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
 */
struct step {
	enum pcrp_action action;
	u32 slot;
	u8 prio;
	u32 bytes;
	u8 rule;
};

static inline void port_open(struct port *port, u32 slots, const struct pcrp_params *p)
{
	memset(port, 0, sizeof(*port));
	port->p = *p;
	port->now = 1000000000;
	port->fifo = calloc(slots, sizeof(*port->fifo));
	port->unsent = calloc(slots, sizeof(*port->unsent));
	pcrp_snd_init(&port->s, calloc(slots, sizeof(struct pcrp_flow)),
		      calloc(2 * slots, sizeof(struct heap_node)),
		      calloc(2 * slots, sizeof(u32)), slots, UINT32_MAX - 2);
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
	return port->s.list[state].count;
}

static inline void port_arrive(struct port *port, u32 slot, u32 bytes, u32 unsent, u8 gate)
{
	struct port_fifo *q = &port->fifo[slot];

	q->bytes[(q->first + q->count++) % PORT_FIFO] = bytes;
	port->unsent[slot] = unsent;
	pcrp_snd_queued(&port->s, &port->p, slot, bytes, unsent, gate, port->now);
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
		step.bytes = q->bytes[q->first];
		step.rule = port->s.rule;
		q->first = (q->first + 1) % PORT_FIFO;
		q->count--;
		step.prio = pcrp_snd_sent(&port->s, &port->p, step.slot, step.bytes,
					  port->unsent[step.slot], port->now);
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
