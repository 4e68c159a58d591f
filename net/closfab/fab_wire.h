/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The header of closfab's packets
 *
 * The interface of fab_wire.c, which has the format.
 */
#ifndef _CLOSNET_FAB_WIRE_H
#define _CLOSNET_FAB_WIRE_H

#include <closnet/core.h>

#define FAB_HLEN	20U
#define FAB_MAC_LEN	8U
#define FAB_VERSION	1U

/* Flow buckets of a sender: a cookie has 16 bits for the bucket */
#define FAB_BUCKETS_MAX	4096U

/**
 * enum fab_op - kind of a packet
 * @FAB_DATA: an IP packet, without order
 * @FAB_ORDERED: an IP packet with a sequence number
 * @FAB_CELL: part of an IP packet, with a sequence number
 * @FAB_CONWEAVE: an IP packet of a flow that ConWeave reroutes
 * @FAB_REPLY: RTT_REPLY: answers FAB_F_RTT_REQUEST
 * @FAB_CLEAR: CLEAR: the flow's packets of the old path have arrived
 * @FAB_NOTIFY: NOTIFY: a packet arrived by this path with congestion experienced
 * @FAB_OPS: number of kinds
 */
enum fab_op {
	FAB_DATA,
	FAB_ORDERED,
	FAB_CELL,
	FAB_CONWEAVE,
	FAB_REPLY,
	FAB_CLEAR,
	FAB_NOTIFY,
	FAB_OPS,
};

#define FAB_F_RTT_REQUEST	0x01	/* answer with RTT_REPLY */
#define FAB_F_TAIL		0x02	/* last packet by the old path */
#define FAB_F_REROUTED		0x04	/* by the new path, until CLEAR */
#define FAB_F_CE_ECHO		0x08	/* the request had congestion experienced: also a NOTIFY */
#define FAB_F_REFUSE		0x10	/* do not reroute for now: no FIFO is free */
#define FAB_F_FIRST		0x20	/* first cell of a packet */
#define FAB_F_LAST		0x40	/* last cell of a packet */
#define FAB_F_KEYED		0x80	/* a MAC follows the header */

/**
 * struct fab_header - header of a packet
 * @op: enum fab_op
 * @flags: FAB_F_*
 * @path: path that the packet takes; of NOTIFY and RTT_REPLY, the path that it reports on
 * @epoch: ConWeave's epoch; 0 of other kinds
 * @proto: EtherType of the IP packet; 0 of control packets
 * @cookie: flow bucket and instance, fab_cookie()
 * @tx_us: clock of the sender of data, µs modulo 2^32; replies echo it
 * @tail_us: ConWeave: @tx_us of TAIL, if there was one in this epoch
 * @seq: FAB_ORDERED, FAB_CELL: sequence number in the bucket; shares its place with @tail_us
 */
struct fab_header {
	u8 op;
	u8 flags;
	u16 path;
	u16 epoch;
	u16 proto;
	u32 cookie;
	u32 tx_us;
	union {
		u32 tail_us;
		u32 seq;
	};
};

u32 fab_header_read(struct fab_header *h, const u8 *b, u32 len);
void fab_header_write(u8 *b, const struct fab_header *h);

/* Is the packet one between two closfab devices, without an IP packet? */
static inline bool fab_op_is_control(u8 op)
{
	return op >= FAB_REPLY;
}

static inline u32 fab_cookie(u16 instance, u16 bucket)
{
	return (u32)instance << 16 | bucket;
}

static inline u16 fab_cookie_bucket(u32 cookie)
{
	return (u16)cookie;
}

static inline u16 fab_cookie_instance(u32 cookie)
{
	return (u16)(cookie >> 16);
}

#endif /* _CLOSNET_FAB_WIRE_H */
