/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcp_timely: interface between its files
 *
 *	timely.c	algorithm of modes classic and patched
 *	swift.c		algorithm of mode swift
 *	timely_main.c	congestion control: RTTs, rates, losses
 *	timely_probe.c	bursts and timestamps of ACKs
 *	timely_sysctl.c	parameters and counters of a network namespace
 */
#ifndef _TIMELY_TCP_H
#define _TIMELY_TCP_H

#include "closnet_cc.h"
#include "swift.h"
#include "timely.h"

/**
 * enum timely_source - clock that an RTT was measured with
 * @TIMELY_RTT: the stack's, when it processed the ACK
 * @TIMELY_SW: the stack's, when the driver delivered the ACK
 * @TIMELY_HW: the NIC's, when the ACK arrived
 * @TIMELY_OWD: the peer's, when it sent the ACK
 * @TIMELY_AUTO: value of option source only: the best one available
 */
enum timely_source {
	TIMELY_RTT,
	TIMELY_SW,
	TIMELY_HW,
	TIMELY_OWD,
	TIMELY_AUTO,
};

/**
 * struct timely_config - configuration of connections
 * @cc: common part
 * @params: parameters of modes classic and patched
 * @swift: parameters of mode swift
 * @delta_Mbps: additive step; 0: derived from the link rate
 * @min_Mbps: lowest rate; 0: the additive step
 * @target_ns: target delay of mode swift without hops; 0: derived from path and link
 * @ai: additive increase of mode swift, packets, Q16.16; 0: derived from path and link
 * @source: source of RTTs
 * @owd: remove the delay of the ACKs' path (signal=owd)
 * @prompt_ack: acknowledge the end of a burst at once
 * @use_swift: mode swift
 * @tuned: mode swift with profile tuned
 * @by_rule: mode classic with profile tuned and min_rtt: thresholds of 0 in @params, delta_Mbps
 *	of 0, and bursts follow timely_rule()
 */
struct timely_config {
	struct closnet_cc_config cc;
	struct timely_params params;
	struct swift_params swift;
	u32 delta_Mbps;
	u32 min_Mbps;
	u32 target_ns;
	u32 ai;
	enum timely_source source;
	bool owd;
	bool prompt_ack;
	bool use_swift;
	bool tuned;
	bool by_rule;
};

/**
 * enum timely_counter - counters in /proc/net/closnet/timely
 * @TIMELY_N_SAMPLES: RTTs used by the algorithm, by enum timely_source
 * @TIMELY_N_CAUSES: changes of rates, by enum timely_cause
 * @TIMELY_N_SOURCE_CHANGES: RTTs whose source differs from the previous RTT
 * @TIMELY_N_PARTIAL: ACKs that completed no burst
 * @TIMELY_N_RETRANS: RTTs not used, as data was retransmitted or SACKed
 * @TIMELY_N_RECOVERY: RTTs not used, as losses were being repaired
 * @TIMELY_N_DELAYED: RTTs not used, as the receiver may have delayed the ACK
 * @TIMELY_N_NEGATIVE: RTTs not used, as the serialisation time was longer
 * @TIMELY_N_CONNECTIONS: connections started
 * @TIMELY_COUNTERS: number of counters
 */
enum timely_counter {
	TIMELY_N_SAMPLES,
	TIMELY_N_CAUSES = TIMELY_N_SAMPLES + TIMELY_AUTO,
	TIMELY_N_SOURCE_CHANGES = TIMELY_N_CAUSES + TIMELY_CAUSES,
	TIMELY_N_PARTIAL,
	TIMELY_N_RETRANS,
	TIMELY_N_RECOVERY,
	TIMELY_N_DELAYED,
	TIMELY_N_NEGATIVE,
	TIMELY_N_CONNECTIONS,
	TIMELY_COUNTERS
};

/**
 * enum timely_probe_result - result of the tracepoint for an ACK
 * @TIMELY_NO_PROBE: the probe did not see the ACK, as the connection is not in state
 *	ESTABLISHED; one side may have closed it for its direction
 * @TIMELY_NO_BURST: the ACK completed no burst
 * @TIMELY_RESENT: acknowledged data was retransmitted, or was SACKed before
 * @TIMELY_BURST: the ACK completed a burst
 */
enum timely_probe_result {
	TIMELY_NO_PROBE,
	TIMELY_NO_BURST,
	TIMELY_RESENT,
	TIMELY_BURST,
};

/**
 * struct timely - state of a connection
 * @vars: state of modes classic and patched
 * @swift: state of mode swift; the rate has the same place
 * @config: configuration; NULL before timely_init()
 * @burst_ns: departure time of the last acknowledged burst
 * @stamp: NIC timestamp of its ACK; 0: unknown
 * @burst_seq: first sequence number of the burst
 * @iif: device that received its ACK
 * @sw_ns: time from @burst_ns until the driver delivered its ACK; 0: unknown
 * @inv_mss: 2^32 / MSS, rounded up
 * @reverse_us: minimum delay of the reverse path, by the peer's clock
 * @reverse_at: time when it was measured, jiffies
 * @cc: common state
 * @hops: switches on the path of the last probed ACK
 * @probe: enum timely_probe_result of the present ACK
 * @source: enum timely_source of the last used RTT
 * @no_hw: the NIC's clock was unknown when it was last needed
 * @sw_stamps: this connection has enabled software timestamps
 * @reverse_known: @reverse_us is valid
 * @use_swift: copy of the configuration's, for timely_get_info()
 */
struct timely {
	union {
		struct timely_vars vars;
		struct swift_vars swift;
	};
	struct timely_config *config;
	u64 burst_ns;
	u64 stamp;
	u32 burst_seq;
	int iif;
	u32 sw_ns;
	u32 inv_mss;
	u32 reverse_us;
	u32 reverse_at;
	struct closnet_cc cc;
	u8 hops;
	u8 probe:2,
	   source:2,
	   no_hw:1,
	   sw_stamps:1,
	   reverse_known:1,
	   use_swift:1;
};

extern unsigned int timely_net_id;
extern struct tcp_congestion_ops timely_ops;

static inline struct timely *timely_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

int timely_probe_register(void);
void timely_probe_unregister(void);

int timely_net_register(void);
void timely_net_unregister(void);

#endif /* _TIMELY_TCP_H */
