/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a network namespace has of tcp_dcqcn: sysctls, and counters in
 * /proc/net/closnet/dcqcn, a line "NAME VALUE" each
 *
 * Part of tcp_dcqcn.c.
 */
#ifndef _DCQCN_STATS_H
#define _DCQCN_STATS_H

#include "dcqcn_config.h"

/**
 * enum dcqcn_counter - what is counted
 * @DCQCN_N_CAUSES: changes of rates, by enum dcqcn_cause; a change may be that
 *	of several events of the timer that were due
 * @DCQCN_N_IGNORED: CNPs too soon after another to count
 * @DCQCN_N_CE: data packets that came marked
 * @DCQCN_N_CNP_SENT: CNPs sent for them
 * @DCQCN_N_ACCECN: connections with AccECN
 * @DCQCN_N_ECN_MISSING: connections without ECN, which have Reno instead
 * @DCQCN_COUNTERS: how many there are
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

/* The counter of a cause, which is not DCQCN_NONE */
#define DCQCN_N_CAUSE(cause)	(DCQCN_N_CAUSES + (cause) - 1)

static const char * const dcqcn_counter_names[] = {
	[DCQCN_N_CAUSE(DCQCN_START)]	= "connections",
	[DCQCN_N_CAUSE(DCQCN_FAST)]	= "fast_recovery",
	[DCQCN_N_CAUSE(DCQCN_ADDITIVE)]	= "additive_increase",
	[DCQCN_N_CAUSE(DCQCN_HYPER)]	= "hyper_increase",
	[DCQCN_N_CAUSE(DCQCN_CNP)]	= "cnp_handled",
	[DCQCN_N_CAUSE(DCQCN_LOSS)]	= "losses",
	[DCQCN_N_CAUSE(DCQCN_UNDO)]	= "losses_undone",
	[DCQCN_N_IGNORED]		= "cnp_ignored",
	[DCQCN_N_CE]			= "ce_packets",
	[DCQCN_N_CNP_SENT]		= "cnp_sent",
	[DCQCN_N_ACCECN]		= "accecn_connections",
	[DCQCN_N_ECN_MISSING]		= "ecn_missing",
};

static unsigned int dcqcn_net_id __read_mostly;

static int dcqcn_stats_show(struct seq_file *seq, void *unused)
{
	const struct rate_net *rn = net_generic(seq_file_single_net(seq), dcqcn_net_id);

	BUILD_BUG_ON(ARRAY_SIZE(dcqcn_counter_names) != DCQCN_COUNTERS);
	closnet_counters_show(seq, &rn->counters, dcqcn_counter_names, DCQCN_COUNTERS);
	return 0;
}

static int __net_init dcqcn_net_init(struct net *net)
{
	struct rate_net *rn = net_generic(net, dcqcn_net_id);
	int err;

	err = closnet_counters_init(net, &rn->counters, DCQCN_COUNTERS, "closnet/dcqcn",
				    dcqcn_stats_show);
	if (err)
		return err;
	err = rate_net_init(rn, net, dcqcn_net_id, dcqcn_options, DCQCN_OPTIONS,
			    "net/ipv4/tcp_dcqcn");
	if (err)
		closnet_counters_exit(net, &rn->counters, "closnet/dcqcn");
	return err;
}

static void __net_exit dcqcn_net_exit(struct net *net)
{
	struct rate_net *rn = net_generic(net, dcqcn_net_id);

	rate_net_exit(rn);
	closnet_counters_exit(net, &rn->counters, "closnet/dcqcn");
}

static struct pernet_operations dcqcn_net_ops = {
	.init	= dcqcn_net_init,
	.exit	= dcqcn_net_exit,
	.id	= &dcqcn_net_id,
	.size	= sizeof(struct rate_net),
};

#endif /* _DCQCN_STATS_H */
