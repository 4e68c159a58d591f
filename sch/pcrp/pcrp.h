/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a sch_pcrp qdisc: see pcrp_main.c
 */
#ifndef _CLOSNET_PCRP_H
#define _CLOSNET_PCRP_H

#include <linux/list.h>
#include <linux/pkt_sched_pcrp.h>
#include <closnet/qdisc.h>
#include "pcrp_config.h"
#include "pcrp_flow.h"
#include "pcrp_net.h"
#include "pcrp_own.h"
#include "pcrp_peers.h"
#include "pcrp_rx.h"
#include "pcrp_sender.h"

/* All under the root lock; the dump reads without it. */
struct pcrp_sched_data {
	/* read for each packet */
	struct pcrp_config cfg;
	struct pcrp_params params;	/* what follows from that, and from the line */
	struct pcrp_flows flows;
	struct pcrp_rx *rx;		/* NULL: a FIFO, see pcrp_is_queue() */
	const struct pcrp_ring *grants;	/* @rx's */
	u32 l2_len;

	/* written for each packet */
	struct pcrp_sender snd;
	struct qdisc_skb_head top;	/* ACKs and control packets, first of all */
	struct closnet_shaper shaper;	/* its watchdog is the sender's, too */
	bool slept;			/* nothing could be sent */

	/* written for a flow, or less often */
	struct pcrp_peers *peers;
	struct pcrp_own *own;
	struct pcrp_rtt rtt;
	struct pcrp_net *pn;
	u32 seen;			/* of the namespace's thresholds */
	u32 rtt_ns;			/* base round-trip time, as it counts now */
	u64 line_Bps;			/* of the device's line; 0: not known */
	u64 rate_Bps;			/* of the line or the shaper, as it counts now */
	u64 refresh_ns;			/* when to look again at what params follow from */

	u64 top_packets;
	u64 flows_overflow;
	u64 dropped_limit_packets;
	u64 dropped_top_packets;
	u64 dropped_nomem_packets;
	u64 dropped_forged_packets;

	struct Qdisc *sch;
	struct list_head node;		/* among all of the module's; under RTNL */
};

#endif /* _CLOSNET_PCRP_H */
