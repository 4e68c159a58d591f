/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_RDMA_H
#define _TRAFFIC_RDMA_H

/* Operation that carries a message */
enum verb {
	VERB_IMM,	/* WRITE with immediate data */
	VERB_SEND,
	VERB_WRITE,	/* WRITE; only the sender learns that it is complete */
	VERB_NCCL,	/* WRITE, then a WRITE of 0 bytes with immediate data */
};

#define MESSAGE_MAX (1U << 30)

#endif /* _TRAFFIC_RDMA_H */
