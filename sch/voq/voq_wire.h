/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credit messages; the interface of voq_wire.c
 */
#ifndef _CLOSNET_VOQ_WIRE_H
#define _CLOSNET_VOQ_WIRE_H

#include <closnet/core.h>

#define VOQ_VERSION	1
/* Length of a message, with the MAC */
#define VOQ_MSG_LEN	64U
/* Offset of the MAC */
#define VOQ_MSG_MAC	56U
#define VOQ_ADDR_LEN	16U
/* A VOQ exceeds its credit by less than a packet, here one of 64 KiB with link headers */
#define VOQ_OVERDRAW_MAX	0x11000U

/**
 * enum voq_op - kinds of messages
 * @VOQ_REQUEST: from the ingress leaf: the state of a VOQ
 * @VOQ_GRANT: from the egress leaf: credit
 * @VOQ_REFUSE: from the egress leaf: the port grants no credit, send without
 * @VOQ_OPS: number of kinds
 */
enum voq_op {
	VOQ_REQUEST = 1,
	VOQ_GRANT,
	VOQ_REFUSE,
	VOQ_OPS,
};

/**
 * struct voq_msg - a message
 * @op: enum voq_op
 * @retry: a request that is to be answered at once
 * @id: number of the qdisc of the VOQ, random
 * @cookie: the VOQ
 * @queued: bytes of packets that the VOQ has had; in answers, that of the request
 * @granted: bytes for which it has had credit
 * @sent: bytes that it has sent
 * @dst: address behind the egress port; IPv4 is mapped
 *
 * Numbers of bytes are totals since the VOQ exists, so that each message replaces all earlier
 * ones.
 */
struct voq_msg {
	u8 op;
	bool retry;
	u32 id;
	u32 cookie;
	u64 queued;
	u64 granted;
	u64 sent;
	u8 dst[VOQ_ADDR_LEN];
};

void voq_msg_write(u8 *b, const struct voq_msg *m);
bool voq_msg_read(struct voq_msg *m, const u8 *b, u32 len);

#endif /* _CLOSNET_VOQ_WIRE_H */
