/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of sch_pcrp, as pcrp_stats.c dumps them
 */
#ifndef _PCRP_COUNTERS_H
#define _PCRP_COUNTERS_H

#include <linux/pkt_sched_pcrp.h>
#include <linux/types.h>
#include "pcrp_receiver.h"
#include "pcrp_sender.h"

/* As in enum TCA_PCRP_STATS_*; those of the cores are copied by pcrp_copy_counters() */
struct pcrp_stats {
	struct pcrp_tx_stats tx;
	struct pcrp_rx_stats rx;
	u64 chain_bytes;
	u64 base_rtt_ns;
	u64 rate_Bps;
	u64 spec_bytes[TC_PCRP_SPEC_PRIOS - 1];
	u64 flows_ready;
	u64 flows_waiting;
	u64 flows_idle;
	u64 flows_overflow;
	u64 peers;
	u64 peers_answering;
	u64 peers_silent;
	u64 top_packets;
	u64 dropped_limit_packets;
	u64 dropped_top_packets;
	u64 dropped_nomem_packets;
	u64 dropped_forged_packets;
	u64 rx_malformed;
	u64 rx_flows;
	u64 rx_granted;
	u64 window_packets;
	u64 window_early;
};

/* Copy a structure of u64 counters that other CPUs write; @size is in bytes. */
static inline void pcrp_copy_counters(void *to, const void *from, size_t size)
{
	const u64 *src = from;
	u64 *dst = to;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		dst[i] = READ_ONCE(src[i]);
}

#endif /* _PCRP_COUNTERS_H */
