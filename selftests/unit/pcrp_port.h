/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port with a PCRP sender, for its tests: FIFOs of packets, which are only lengths, and
 * a clock. To be included after cmocka.h.
 */
#ifndef _CLOSNET_UNIT_PCRP_PORT_H
#define _CLOSNET_UNIT_PCRP_PORT_H

#include <stdlib.h>
#include <string.h>

#include "../../sch/pcrp/pcrp_sender.h"

#define PORT_FIFO	64	/* packets of a flow, at most */
#define PORT_NONE	UINT32_MAX	/* no slot */

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL

/* A packet, and a chain of ten packets */
#define PKT		1000
#define CHAIN		10000
#define RTT		(100 * US)

static const struct pcrp_tx_params port_default = {
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
 * @bytes: new bytes in each packet
 * @at_ns: when it was queued
 * @first: index of the first packet
 * @count: number of packets
 * @retrans: retransmissions among them; they come first
 */
struct port_fifo {
	u32 bytes[PORT_FIFO];
	u64 at_ns[PORT_FIFO];
	u32 first;
	u32 count;
	u32 retrans;
};

/* Index of the n-th packet */
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

static inline void fifo_put_retrans(struct port_fifo *q, u64 now)
{
	u32 n;

	for (n = q->count++; n > q->retrans; n--) {
		q->bytes[fifo_at(q, n)] = q->bytes[fifo_at(q, n - 1)];
		q->at_ns[fifo_at(q, n)] = q->at_ns[fifo_at(q, n - 1)];
	}
	q->bytes[fifo_at(q, n)] = 0;
	q->at_ns[fifo_at(q, n)] = now;
	q->retrans++;
}

/* Remove the first packet. Return: its new bytes */
static inline u32 fifo_take(struct port_fifo *q)
{
	u32 bytes = q->bytes[q->first];

	q->first = fifo_at(q, 1);
	q->count--;
	q->retrans -= !!q->retrans;
	return bytes;
}

/**
 * struct port - a port
 * @s: sender
 * @link: shared by senders; here its own
 * @p: its parameters
 * @flow: its slots
 * @now: the time, ns
 * @fifo: packets by slot
 * @unsent: bytes in the socket by slot
 * @timed: do without the functions for ungated flows, as if each packet needed the time
 */
struct port {
	struct pcrp_sender s;
	struct pcrp_tx_link link;
	struct pcrp_tx_params p;
	struct pcrp_tx_flow *flow;
	u64 now;
	struct port_fifo *fifo;
	u32 *unsent;
	bool timed;
};

/**
 * struct step - a step of a port
 * @action: enum pcrp_tx_action
 * @slot: slot of the flow
 * @prio: priority of the packet
 * @bytes: new bytes in the packet
 * @rule: rule that picked it, enum pcrp_tx_rule
 * @retrans: the packet is a retransmission
 */
struct step {
	enum pcrp_tx_action action;
	u32 slot;
	u8 prio;
	u32 bytes;
	u8 rule;
	bool retrans;
};

static inline void port_open(struct port *port, u32 slots, const struct pcrp_tx_params *p)
{
	u32 i;

	memset(port, 0, sizeof(*port));
	port->p = *p;
	port->now = 1000000000;
	port->flow = calloc(slots, sizeof(*port->flow));
	port->fifo = calloc(slots, sizeof(*port->fifo));
	port->unsent = calloc(slots, sizeof(*port->unsent));
	port->link.flow_no.counter = UINT32_MAX - 2;
	pcrp_tx_init(&port->s, &port->p, &port->link);
	for (i = 0; i < slots; i++)
		pcrp_tx_add_slot(&port->s, &port->flow[i]);
}

static inline void port_close(struct port *port)
{
	free(port->fifo);
	free(port->unsent);
	free(port->flow);
}

static inline u32 port_count(const struct port *port, enum pcrp_tx_state state)
{
	return port->s.count[state];
}

static inline u32 port_slot(const struct port *port, const struct pcrp_tx_flow *f)
{
	return f ? (u32)(f - port->flow) : PORT_NONE;
}

static inline u32 port_claim(struct port *port)
{
	return port_slot(port, pcrp_tx_claim(&port->s, port->now));
}

/* Gated flows that have begun and not finished */
static inline u32 port_begun(const struct port *port)
{
	const struct pcrp_tx_flow *f;
	u32 n = 0;

	list_for_each_entry(f, &port->s.begun, begun_link)
		n++;
	return n;
}

static inline void port_arrive(struct port *port, u32 slot, u32 bytes, u32 unsent, u8 gate)
{
	struct pcrp_tx_flow *f = &port->flow[slot];

	fifo_put(&port->fifo[slot], bytes, port->now);
	port->unsent[slot] = unsent;
	if (!port->timed && pcrp_tx_may_continue_alone(&port->s, f))
		pcrp_tx_continue_alone(f, bytes, unsent);
	else if (!port->timed && gate != PCRP_GATE_GRANT && pcrp_tx_may_start(f))
		pcrp_tx_start_ungated(&port->s, f, bytes, unsent, gate,
				      port_count(port, PCRP_TX_READY),
				      port_count(port, PCRP_TX_READY) ? port->now : 0);
	else
		pcrp_tx_queue(&port->s, f, bytes, unsent, gate, port->now);
}

static inline void port_retransmit(struct port *port, u32 slot)
{
	fifo_put_retrans(&port->fifo[slot], port->now);
	pcrp_tx_queue_retrans(&port->s, &port->flow[slot], port->unsent[slot], port->now);
}

/* Send a packet of a flow alone. Return: false: no flow is alone, or the packet needs the time */
static inline bool port_send_alone(struct port *port, const struct pcrp_tx_flow *alone)
{
	u32 slot = port_slot(port, alone);
	struct port_fifo *q;

	if (port->timed || slot == PORT_NONE)
		return false;
	q = &port->fifo[slot];
	return pcrp_tx_sent_alone(&port->s, &port->flow[slot], q->bytes[q->first],
				  port->unsent[slot]);
}

/* Act on the sender's decision. */
static inline struct step port_step(struct port *port)
{
	struct pcrp_tx_flow *alone = pcrp_tx_alone(&port->s);
	struct pcrp_tx_pick pick = pcrp_tx_pick(&port->s, port->now);
	struct step step = { .action = pick.action, .slot = port_slot(port, pick.flow) };
	struct port_fifo *q;

	assert_true(!alone || (pick.flow == alone && pick.action == PCRP_TX_DATA));
	switch (step.action) {
	case PCRP_TX_SLEEP:
		break;
	case PCRP_TX_DATA:
		q = &port->fifo[step.slot];
		step.rule = port->s.rule;
		step.retrans = q->retrans;
		if (port_send_alone(port, alone)) {
			step.bytes = fifo_take(q);
		} else {
			step.bytes = fifo_take(q);
			if (port->timed ||
			    !pcrp_tx_end_ungated(&port->s, pick.flow, step.bytes,
						 port->unsent[step.slot]))
				pcrp_tx_sent(&port->s, pick.flow, step.bytes,
					     port->unsent[step.slot], q->at_ns[q->first],
					     port->now);
		}
		step.prio = pick.flow->prio;
		break;
	default:
		pcrp_tx_request_sent(&port->s, pick.flow, step.action, port->now);
		step.prio = pick.flow->prio;
	}
	return step;
}

static inline enum pcrp_grant_result port_grant(struct port *port, u32 slot, u64 granted,
						u8 prio)
{
	struct pcrp_tx_flow *f = &port->flow[slot];
	const struct pcrp_grant g = {
		.granted = granted,
		.flow_no = f->flow_no,
		.prio = prio,
	};
	u64 rtt_ns;

	return pcrp_tx_grant(&port->s, f, &g, port->now, &rtt_ns);
}

/* Queue packets of a flow. */
static inline void queue(struct port *port, u32 slot, u32 packets, u8 gate)
{
	while (packets--)
		port_arrive(port, slot, PKT, 0, gate);
}

static inline void expect_request(struct port *port, enum pcrp_tx_action action, u32 slot)
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
		assert_int_equal(step.action, PCRP_TX_DATA);
		assert_int_equal(step.slot, slot);
		assert_int_equal(step.prio, prio);
	}
}

static inline void expect_sleep(struct port *port)
{
	assert_int_equal(port_step(port).action, PCRP_TX_SLEEP);
}

#endif /* _CLOSNET_UNIT_PCRP_PORT_H */
