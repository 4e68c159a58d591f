/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sch_pcrp qdisc: see pcrp_main.c
 */
#ifndef _PCRP_H
#define _PCRP_H

#include <linux/list.h>
#include <linux/pkt_sched_pcrp.h>
#include <closnet/qdisc.h>
#include "pcrp_config.h"
#include "pcrp_flow.h"
#include "pcrp_host.h"
#include "pcrp_ingress.h"
#include "pcrp_net.h"
#include "pcrp_port.h"
#include "pcrp_sender.h"

/* Under the root lock; the dump reads locklessly. */
struct pcrp_sched_data {
	/* read for each packet */
	struct pcrp_config cfg;
	struct pcrp_tx_params params;	/* from @cfg and the link: pcrp_refresh() */
	struct pcrp_flows flows;
	struct pcrp_port *port;		/* shared with the other qdiscs of the device */
	u32 l2_len;
	unsigned long refresh_at;	/* jiffies of the next pcrp_refresh() */

	/* written for each packet */
	struct pcrp_sender tx;
	struct qdisc_skb_head top;	/* ACKs and control packets, sent first */
	struct closnet_shaper shaper;	/* its watchdog also wakes the sender */
	bool slept;			/* dequeue() found no packet that may be sent */

	/* written for each flow, or less often */
	struct pcrp_locals locals;
	struct pcrp_net *pn;
	u32 updates_seen;		/* of the namespace's thresholds */
	u32 rtt_ns;			/* base round-trip time in use, the port's */
	u64 link_Bps;			/* link rate of the device; 0: unknown */
	u64 rate_Bps;			/* rate in use: the shaper's or the link's */

	u64 top_packets;
	u64 flows_overflow;
	u64 dropped_limit_packets;
	u64 dropped_top_packets;
	u64 dropped_nomem_packets;
	u64 dropped_forged_packets;

	struct closnet_port_user user;
	struct pcrp_config before;	/* @cfg of the others before init(), if there were any */
	struct pcrp_inbox inbox;	/* GRANTs for dequeue() */
};

/* pcrp_params.c */
void pcrp_refresh(struct pcrp_sched_data *q, u64 now);

/* pcrp_queue.c */
int pcrp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *pcrp_dequeue(struct Qdisc *sch);

/* pcrp_stats.c */
int pcrp_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _PCRP_H */
