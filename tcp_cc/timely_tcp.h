/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcp_timely: interface between its files
 *
 *	timely.c	algorithm
 *	timely_main.c	congestion control: RTTs, rates, losses
 *	timely_sysctl.c	parameters and counters of a network namespace
 */
#ifndef _TIMELY_TCP_H
#define _TIMELY_TCP_H

#include "closnet_cc.h"
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
 * @params: parameters of the algorithm
 * @delta_Mbps: additive step; 0: derived from the link rate
 * @min_Mbps: lowest rate; 0: the additive step
 * @source: source of RTTs
 * @owd: remove the delay of the ACKs' path (signal=owd)
 * @prompt_ack: acknowledge the end of a burst at once
 */
struct timely_config {
	struct closnet_cc_config cc;
	struct timely_params params;
	u32 delta_Mbps;
	u32 min_Mbps;
	enum timely_source source;
	bool owd;
	bool prompt_ack;
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

extern unsigned int timely_net_id;

int timely_net_register(void);
void timely_net_unregister(void);

#endif /* _TIMELY_TCP_H */
