/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcp_dcqcn: interface between its files
 *
 *	net/lib/dcqcn.c	algorithm
 *	dcqcn_main.c	congestion control: CNPs, rates, losses
 *	dcqcn_sysctl.c	parameters and counters of a network namespace
 */
#ifndef _DCQCN_TCP_H
#define _DCQCN_TCP_H

#include <closnet/dcqcn.h>
#include "closnet_cc.h"

/**
 * struct dcqcn_config - configuration of connections
 * @cc: common part
 * @params: parameters of the algorithm
 * @rates: configured rates
 * @burst_ns: a burst is what the connection sends in this time; 0: it has @cc.seg_bytes
 */
struct dcqcn_config {
	struct closnet_cc_config cc;
	struct dcqcn_params params;
	struct dcqcn_rates rates;
	u32 burst_ns;
};

/**
 * enum dcqcn_counter - counters in /proc/net/closnet/dcqcn
 * @DCQCN_N_CAUSES: rate changes, by enum dcqcn_cause; a change may comprise several
 *	due timer events
 * @DCQCN_N_IGNORED: CNPs ignored, as they followed another one too soon
 * @DCQCN_N_CE: marked data packets received
 * @DCQCN_N_CNP_SENT: CNPs sent for marked packets
 * @DCQCN_N_ACCECN: connections with AccECN
 * @DCQCN_N_ECN_MISSING: connections without ECN, which use Reno
 * @DCQCN_COUNTERS: number of counters
 */
enum dcqcn_counter {
	DCQCN_N_CAUSES,
	DCQCN_N_IGNORED = DCQCN_N_CAUSES + DCQCN_CAUSES - 1,
	DCQCN_N_CE,
	DCQCN_N_CNP_SENT,
	DCQCN_N_ACCECN,
	DCQCN_N_ECN_MISSING,
	DCQCN_COUNTERS
};

/* Counter of a cause other than DCQCN_NONE */
#define DCQCN_N_CAUSE(cause)	(DCQCN_N_CAUSES + (cause) - 1)

extern unsigned int dcqcn_net_id;

int dcqcn_net_register(void);
void dcqcn_net_unregister(void);

#endif /* _DCQCN_TCP_H */
