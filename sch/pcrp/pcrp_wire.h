/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCRP's control packets: messages and their bytes. pcrp_wire.c describes the format.
 */
#ifndef _PCRP_WIRE_H
#define _PCRP_WIRE_H

#include <closnet/core.h>
#include <linux/pkt_sched_pcrp.h>
#include "pcrp_limits.h"

/*
 * A port for experiments (RFC 4727), and a system port: users without privileges cannot
 * send from it, on any host.
 */
#define PCRP_UDP_PORT	1021
#define PCRP_WIRE_LEN	64	/* bytes of UDP payload */
/* Largest size and offset: sums with a few chains stay far below 2^64. */
#define PCRP_BYTES_MAX	0x1000000000000000ULL	/* 2^60 */

/**
 * enum pcrp_type - types of control packets
 * @PCRP_REQUEST: the first packet of a chain follows
 * @PCRP_PROBE: a GRANT is overdue
 * @PCRP_GRANT: offset up to which the sender may send
 */
enum pcrp_type {
	PCRP_REQUEST = 1,
	PCRP_PROBE,
	PCRP_GRANT,
};

/**
 * struct pcrp_msg - content of a control packet
 * @type: enum pcrp_type
 * @prio: P0..P7 of the chain that begins or waits; GRANT: P4..P7 of the granted chain
 * @proto: IP protocol of the flow
 * @sport: source port of the flow, host byte order; 0 unless TCP or UDP
 * @dport: destination port of the flow
 * @slot: the sender's index of the flow
 * @flow_no: orders the flows of a 5-tuple, modulo 2^32
 * @cookie: the sender's proof that it issued @slot and @flow_no
 * @size: bytes of the flow known so far; 1 or more
 * @offset: bytes of the flow sent before, 0 to @size; GRANT: bytes granted, which may
 *	exceed @size
 * @chain_no: number of the chain that begins or waits, from 1; GRANT: as in the last
 *	REQUEST or PROBE
 * @first_bytes: length of the first chain, which needs no GRANT; 1 or more. GRANT: 0
 * @tcp_seq: TCP: sequence number of the byte at @offset; else, and GRANT: 0
 * @chain_bytes: length of the sender's other chains; 1 or more. GRANT: 0
 * @request_no: serial number of the flow's REQUESTs and PROBEs; not 0. GRANT: number of
 *	the answered one; 0: unsolicited
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
	u32 request_no;
};

void pcrp_msg_write(const struct pcrp_msg *m, u8 *b);
bool pcrp_msg_valid(const struct pcrp_msg *m);
bool pcrp_msg_read(const u8 *b, u32 len, struct pcrp_msg *m);

#endif /* _PCRP_WIRE_H */
