/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's control packets: bytes to message, message to bytes
 *
 * Plain C on a buffer, no kernel types, for the module, the unit test and the
 * fuzzer. A control packet is a UDP datagram, port 1021 both ways, whose
 * payload is these 64 bytes, numbers in network byte order:
 *
 *	 0               1               2               3
 *	+---------------+---------------+---------------+---------------+
 *	| version (1)   | type          | prio          | proto         |  0
 *	+---------------+---------------+---------------+---------------+
 *	| sport                         | dport                         |  4
 *	+-------------------------------+-------------------------------+
 *	| slot                                                          |  8
 *	+---------------------------------------------------------------+
 *	| flow_no                                                       | 12
 *	+---------------------------------------------------------------+
 *	| cookie                                                        | 16
 *	|                                                               |
 *	+---------------------------------------------------------------+
 *	| size                                                          | 24
 *	|                                                               |
 *	+---------------------------------------------------------------+
 *	| offset                                                        | 32
 *	|                                                               |
 *	+---------------------------------------------------------------+
 *	| chain_no                                                      | 40
 *	+---------------------------------------------------------------+
 *	| first_bytes                                                   | 44
 *	+---------------------------------------------------------------+
 *	| tcp_seq                                                       | 48
 *	+---------------------------------------------------------------+
 *	| chain_bytes                                                   | 52
 *	+---------------------------------------------------------------+
 *	| ask                                                           | 56
 *	+---------------------------------------------------------------+
 *	| reserved (0)                                                  | 60
 *	+---------------------------------------------------------------+
 *
 *	sender                                           receiver
 *	  |-- REQUEST, then a chain's first packet --------->|
 *	  |<---------- GRANT: what is granted, up to offset -|
 *	  |   ... waits, and no GRANT comes ...              |
 *	  |-- PROBE: the same as a REQUEST, no packet ------>|
 *	  |<---------------------------------------- GRANT --|
 *
 * All that a GRANT says is cumulative, and all that a REQUEST says is only ever
 * more: lost, doubled and late ones do no harm. Source and destination of the
 * flow are those of the packet of a REQUEST or PROBE, and the other way round
 * of a GRANT's, which says proto, ports, slot, flow_no and cookie back.
 *
 * What must hold for a datagram to be a control packet is in pcrp_msg_read().
 * The reserved bytes are 0, or it is none: what a later version has to say in
 * them, it will say with its own number.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: there, the packets of a flow's first chain are
 * its request, and carry the flow's size. Here, packets are those of TCP and
 * UDP and stay as they are, so that a REQUEST goes beside them.
 */
#ifndef _PCRP_WIRE_H
#define _PCRP_WIRE_H

#include <linux/in.h>
#include <linux/pkt_sched_pcrp.h>
#include <closnet/pkt_core.h>
#include "pcrp_limits.h"

/*
 * For experiments (RFC 4727), and a system port: a local user without privileges cannot
 * send from it, on whichever host.
 */
#define PCRP_UDP_PORT	1021
#define PCRP_VERSION	1
/* Sums of a few such numbers and chains stay far below 2^64. */
#define PCRP_BYTES_MAX	0x1000000000000000ULL	/* 2^60 */

/**
 * enum pcrp_type - types of control packets
 * @PCRP_REQUEST: a chain's first packet follows
 * @PCRP_PROBE: a GRANT is missed
 * @PCRP_GRANT: what may be sent
 */
enum pcrp_type {
	PCRP_REQUEST = 1,
	PCRP_PROBE,
	PCRP_GRANT,
};

/**
 * struct pcrp_wire - a control packet's UDP payload
 *
 * Bytes only, so that it may lie anywhere; see struct pcrp_msg.
 */
struct pcrp_wire {
	/* private: */
	u8 version;
	u8 type;
	u8 prio;
	u8 proto;
	u8 sport[2];
	u8 dport[2];
	u8 slot[4];
	u8 flow_no[4];
	u8 cookie[8];
	u8 size[8];
	u8 offset[8];
	u8 chain_no[4];
	u8 first_bytes[4];
	u8 tcp_seq[4];
	u8 chain_bytes[4];
	u8 ask[4];
	u8 reserved[4];
};

#define PCRP_WIRE_LEN	64
static_assert(sizeof(struct pcrp_wire) == PCRP_WIRE_LEN, "bytes only, no holes");

/**
 * struct pcrp_msg - what a control packet says
 * @type: enum pcrp_type
 * @prio: P0..P7 of the chain that begins or waits; GRANT: P4..P7 of what it
 *	grants
 * @proto: of the flow: IP protocol
 * @sport: of the flow: source port, host byte order; 0 unless TCP or UDP
 * @dport: of the flow: destination port
 * @slot: sender's own number of the flow
 * @flow_no: orders the flows of a 5-tuple, modulo 2^32
 * @cookie: sender's own proof that slot and flow_no are from it
 * @size: bytes of the flow as far as they are known; 1 or more
 * @offset: bytes of the flow that were sent before this, none or more of
 *	@size; GRANT: up to where it is granted, also beyond @size
 * @chain_no: of the chain that begins or waits, from 1 on; GRANT: of the last
 *	REQUEST or PROBE that came
 * @first_bytes: bytes of the first chain, that needs no grant; 1 or more. GRANT: 0
 * @tcp_seq: TCP: sequence number of the byte at @offset; else, and GRANT: 0
 * @chain_bytes: bytes of the sender's other chains; 1 or more. GRANT: 0
 * @ask: which of the flow's REQUESTs and PROBEs it is; not 0. GRANT: which one it
 *	answers, 0: none
 */
struct pcrp_msg {
	u8 type;
	u8 prio;
	u8 proto;
	u16 sport;
	u16 dport;
	u32 slot;
	u32 flow_no;
	u64 cookie;
	u64 size;
	u64 offset;
	u32 chain_no;
	u32 first_bytes;
	u32 tcp_seq;
	u32 chain_bytes;
	u32 ask;
};

/**
 * pcrp_msg_write() - message to bytes
 * @m: message
 * @w: result
 */
static inline void pcrp_msg_write(const struct pcrp_msg *m, struct pcrp_wire *w)
{
	w->version = PCRP_VERSION;
	w->type = m->type;
	w->prio = m->prio;
	w->proto = m->proto;
	closnet_put(w->sport, sizeof(w->sport), m->sport);
	closnet_put(w->dport, sizeof(w->dport), m->dport);
	closnet_put(w->slot, sizeof(w->slot), m->slot);
	closnet_put(w->flow_no, sizeof(w->flow_no), m->flow_no);
	closnet_put(w->cookie, sizeof(w->cookie), m->cookie);
	closnet_put(w->size, sizeof(w->size), m->size);
	closnet_put(w->offset, sizeof(w->offset), m->offset);
	closnet_put(w->chain_no, sizeof(w->chain_no), m->chain_no);
	closnet_put(w->first_bytes, sizeof(w->first_bytes), m->first_bytes);
	closnet_put(w->tcp_seq, sizeof(w->tcp_seq), m->tcp_seq);
	closnet_put(w->chain_bytes, sizeof(w->chain_bytes), m->chain_bytes);
	closnet_put(w->ask, sizeof(w->ask), m->ask);
	closnet_put(w->reserved, sizeof(w->reserved), 0);
}

static inline bool pcrp_chain_valid(u32 bytes)
{
	return bytes && bytes <= PCRP_CHAIN_MAX;
}

static inline bool pcrp_msg_valid(const struct pcrp_msg *m)
{
	if (m->prio >= TC_PCRP_PRIOS || !m->proto)
		return false;
	if (m->proto != IPPROTO_TCP && m->proto != IPPROTO_UDP && (m->sport || m->dport))
		return false;
	if (!m->size || m->size > PCRP_BYTES_MAX || m->offset > PCRP_BYTES_MAX)
		return false;
	if (m->type == PCRP_GRANT)
		return m->prio >= TC_PCRP_SPEC_PRIOS && !m->first_bytes &&
		       !m->chain_bytes && !m->tcp_seq;
	if (m->proto != IPPROTO_TCP && m->tcp_seq)
		return false;
	return m->offset <= m->size && m->chain_no && m->ask &&
	       pcrp_chain_valid(m->first_bytes) && pcrp_chain_valid(m->chain_bytes);
}

/**
 * pcrp_msg_read() - bytes to message
 * @b: a datagram's payload
 * @len: its length, bytes
 * @m: result
 *
 * Return: false if that is no control packet of this version, or one that says
 * what none may say; @m is not to be used then.
 */
static inline bool pcrp_msg_read(const u8 *b, u32 len, struct pcrp_msg *m)
{
	const struct pcrp_wire *w = (const struct pcrp_wire *)b;

	if (len != PCRP_WIRE_LEN || w->version != PCRP_VERSION)
		return false;
	if (w->type < PCRP_REQUEST || w->type > PCRP_GRANT)
		return false;
	if (closnet_get(w->reserved, sizeof(w->reserved)))
		return false;
	m->type = w->type;
	m->prio = w->prio;
	m->proto = w->proto;
	m->sport = (u16)closnet_get(w->sport, sizeof(w->sport));
	m->dport = (u16)closnet_get(w->dport, sizeof(w->dport));
	m->slot = (u32)closnet_get(w->slot, sizeof(w->slot));
	m->flow_no = (u32)closnet_get(w->flow_no, sizeof(w->flow_no));
	m->cookie = closnet_get(w->cookie, sizeof(w->cookie));
	m->size = closnet_get(w->size, sizeof(w->size));
	m->offset = closnet_get(w->offset, sizeof(w->offset));
	m->chain_no = (u32)closnet_get(w->chain_no, sizeof(w->chain_no));
	m->first_bytes = (u32)closnet_get(w->first_bytes, sizeof(w->first_bytes));
	m->tcp_seq = (u32)closnet_get(w->tcp_seq, sizeof(w->tcp_seq));
	m->chain_bytes = (u32)closnet_get(w->chain_bytes, sizeof(w->chain_bytes));
	m->ask = (u32)closnet_get(w->ask, sizeof(w->ask));
	return pcrp_msg_valid(m);
}

#endif /* _PCRP_WIRE_H */
