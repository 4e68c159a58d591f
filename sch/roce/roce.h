/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a sch_roce qdisc: see roce_main.c
 */
#ifndef _CLOSNET_ROCE_H
#define _CLOSNET_ROCE_H

#include <linux/pkt_sched_roce.h>
#include <closnet/qdisc.h>
#include "roce_config.h"
#include "roce_port.h"
#include "roce_rp.h"

/**
 * struct roce_queue - counters of a queue; written under the root lock, read without it
 * @packets: packets queued
 * @bytes: their bytes
 * @sent_packets: packets sent
 * @sent_bytes: their bytes
 */
struct roce_queue {
	u64 packets;
	u64 bytes;
	u64 sent_packets;
	u64 sent_bytes;
};

/**
 * enum roce_queue_id - the queues
 * @ROCE_QUEUE_QP: packets of queue pairs
 * @ROCE_QUEUE_CNP: CNPs made here
 * @ROCE_QUEUE_OTHER: other traffic
 * @ROCE_QUEUES: number of queues
 */
enum roce_queue_id {
	ROCE_QUEUE_QP,
	ROCE_QUEUE_CNP,
	ROCE_QUEUE_OTHER,
	ROCE_QUEUES,
};

/* Counters of a qdisc, as struct roce_queue. TCA_ROCE_STATS_* describes them. */
struct roce_stats {
	u64 ect_set_packets;
	u64 overflow_packets;
	u64 rp_cnp_handled;
	u64 rp_cnp_ignored;
	u64 nomem_packets;
	u64 dropped_limit_packets;
	u64 dropped_qp_packets;
	u64 dropped_other_packets;
	u64 dropped_gso_packets;
	u64 dropped_cnp_packets;
};

/* A FIFO of a queue pair's packets, linked by skb->next */
struct roce_fifo {
	struct sk_buff *head;
	struct sk_buff *tail;
};

/* All under the root lock; statistics are read without it. */
struct roce_sched_data {
	/* read for each packet */
	struct roce_options options;
	struct roce_port *port;
	u32 l2_len;
	u64 seed;			/* secret of the hash */

	/* written for each packet */
	struct roce_rp rp;
	struct roce_fifo *fifo;		/* by slot of @rp */
	struct qdisc_skb_head cnp;
	struct qdisc_skb_head other;
	u32 overflow;			/* packets of queue pairs in @other */
	struct closnet_shaper shaper;	/* its watchdog serves the queue pairs as well */
	bool slept;			/* no packet could be sent */
	struct roce_queue queue[ROCE_QUEUES];
	struct roce_stats stats;

	/* written for a CNP, or less often */
	struct roce_ring ring;
	u64 line_Bps;			/* of the device; 0: unknown */
	struct closnet_port_user user;
	struct roce_options before;	/* options of the others before init(), if there were any */
};

int roce_dump_stats(struct Qdisc *sch, struct gnet_dump *d);
int roce_nl_init(void);
void roce_nl_exit(void);

#endif /* _CLOSNET_ROCE_H */
