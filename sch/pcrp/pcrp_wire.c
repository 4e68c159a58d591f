// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's control packets: messages and their bytes
 *
 * Plain C on a buffer, for the module, the unit tests and a fuzzer. A control packet is
 * a UDP datagram with port 1021 at both ends. Its payload is these 64 bytes, numbers in
 * network byte order:
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
 *	| request_no                                                    | 56
 *	+---------------------------------------------------------------+
 *	| reserved (0)                                                  | 60
 *	+---------------------------------------------------------------+
 *
 *	sender                                           receiver
 *	  |-- REQUEST, then a chain's first packet --------->|
 *	  |<---------------- GRANT: may send up to offset ---|
 *	  |   ... waits, and no GRANT comes ...              |
 *	  |-- PROBE: like a REQUEST, but no packet follows ->|
 *	  |<---------------------------------------- GRANT --|
 *
 * GRANTs are cumulative, and the values in later REQUESTs only grow, so loss,
 * duplication and delay do no harm. A REQUEST or PROBE has the IP addresses of its flow.
 * A GRANT has them swapped, and returns proto, ports, slot, flow_no and cookie.
 *
 * pcrp_msg_read() accepts exactly the valid messages of this version. The reserved
 * bytes must be 0: a later version that uses them has its own number.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: there, the packets of a flow's first chain are the
 * request and carry the flow's size. Here, packets are unmodified TCP and UDP, so the
 * REQUEST is a packet of its own.
 */

#include <closnet/core.h>
#include <closnet/pkt_core.h>
#include <linux/in.h>
#include "pcrp_wire.h"

#define PCRP_VERSION	1

/* Bytes only: it may lie at any address. */
struct pcrp_wire {
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
	u8 request_no[4];
	u8 reserved[4];
};

static_assert(sizeof(struct pcrp_wire) == PCRP_WIRE_LEN, "no padding");

/**
 * pcrp_msg_write() - convert a message to bytes
 * @m: message
 * @b: result: PCRP_WIRE_LEN bytes
 */
void pcrp_msg_write(const struct pcrp_msg *m, u8 *b)
{
	struct pcrp_wire *w = (struct pcrp_wire *)b;

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
	closnet_put(w->request_no, sizeof(w->request_no), m->request_no);
	closnet_put(w->reserved, sizeof(w->reserved), 0);
}

static bool pcrp_chain_valid(u32 bytes)
{
	return bytes && bytes <= PCRP_CHAIN_MAX;
}

/**
 * pcrp_msg_valid() - test whether all values of a message are in their ranges
 * @m: message, of a valid type
 *
 * Return: true if so.
 */
bool pcrp_msg_valid(const struct pcrp_msg *m)
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
	return m->offset <= m->size && m->chain_no && m->request_no &&
	       pcrp_chain_valid(m->first_bytes) && pcrp_chain_valid(m->chain_bytes);
}

/**
 * pcrp_msg_read() - convert bytes to a message
 * @b: payload of a datagram
 * @len: its length, bytes
 * @m: result
 *
 * Return: true if that is a valid message of this version; else @m is undefined.
 */
bool pcrp_msg_read(const u8 *b, u32 len, struct pcrp_msg *m)
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
	m->request_no = (u32)closnet_get(w->request_no, sizeof(w->request_no));
	return pcrp_msg_valid(m);
}
