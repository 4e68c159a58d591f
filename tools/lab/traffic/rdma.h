/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_RDMA_H
#define _TRAFFIC_RDMA_H

/* packets; of gbn and sr */
#define NIC_WINDOW_MAX 4096
#define ROCE_PORT 4791

/* Operation that carries a message */
enum verb {
	VERB_IMM,	/* WRITE with immediate data */
	VERB_SEND,
	VERB_WRITE,	/* WRITE; only the sender learns that it is complete */
	VERB_NCCL,	/* WRITE, then a WRITE of 0 bytes with immediate data */
	VERB_WRITE_ONLY,	/* WRITEs of a packet each, the last one with immediate data */
};

#define MESSAGE_MAX (1U << 30)

#endif /* _TRAFFIC_RDMA_H */
