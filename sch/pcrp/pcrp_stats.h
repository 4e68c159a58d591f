/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of sch_pcrp, as pcrp_stats.c dumps them
 */
#ifndef _PCRP_STATS_H
#define _PCRP_STATS_H

#include <linux/pkt_sched_pcrp.h>
#include <linux/types.h>

/* As in enum TCA_PCRP_STATS_* */
struct pcrp_stats {
	u64 chain_bytes;
	u64 base_rtt_ns;
	u64 rate_Bps;
	u64 spec_bytes[TC_PCRP_SPEC_PRIOS - 1];
	u64 flows_ready;
	u64 flows_waiting;
	u64 flows_idle;
	u64 flows_started;
	u64 flows_finished;
	u64 flows_ungated;
	u64 flows_overflow;
	u64 chains_speculative;
	u64 chains_granted;
	u64 chains_overdue;
	u64 promotions;
	u64 eu_packets;
	u64 requests_sent;
	u64 probes_sent;
	u64 grants_received;
	u64 grants_late;
	u64 grants_idle;
	u64 grants_refused;
	u64 peers;
	u64 peers_answering;
	u64 peers_silent;
	u64 prio_packets[TC_PCRP_PRIOS];
	u64 top_packets;
	u64 ungated_packets;
	u64 dropped_limit_packets;
	u64 dropped_top_packets;
	u64 dropped_nomem_packets;
	u64 dropped_forged_packets;
	u64 rx_requests;
	u64 rx_probes;
	u64 rx_malformed;
	u64 rx_overflow;
	u64 rx_expired;
	u64 rx_flows;
	u64 rx_granted;
	u64 rx_granted_peak;
	u64 rx_evicted;
	u64 rx_revoked;
	u64 rx_finished;
	u64 grants_sent;
	u64 answers_sent;
	u64 window_packets;
	u64 window_early;
};

#endif /* _PCRP_STATS_H */
