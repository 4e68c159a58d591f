/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a network namespace has of tcp_timely: sysctls, and counters in
 * /proc/net/closnet/timely, a line "NAME VALUE" each
 *
 * Part of tcp_timely.c.
 */
#ifndef _TIMELY_STATS_H
#define _TIMELY_STATS_H

#include "timely_config.h"

/**
 * enum timely_counter - what is counted
 * @TIMELY_N_SAMPLES: RTTs that went into the algorithm, by enum timely_source
 * @TIMELY_N_CAUSES: what was done to rates, by enum timely_cause
 * @TIMELY_N_SOURCE_CHANGES: the first RTT of another source
 * @TIMELY_N_PARTIAL: ACKs that ended no burst
 * @TIMELY_N_RETRANS: RTTs not taken: data had been sent twice, or SACKed
 * @TIMELY_N_RECOVERY: RTTs not taken: losses were being repaired
 * @TIMELY_N_DELAYED: RTTs not taken: the receiver may have delayed its ACK
 * @TIMELY_N_NEGATIVE: RTTs not taken: less than the time on the line
 * @TIMELY_N_CONNECTIONS: connections begun
 * @TIMELY_COUNTERS: how many there are
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

static const char * const timely_counter_names[] = {
	[TIMELY_N_SAMPLES + TIMELY_HW]	= "samples_hw",
	[TIMELY_N_SAMPLES + TIMELY_SW]	= "samples_sw",
	[TIMELY_N_SAMPLES + TIMELY_RTT]	= "samples_rtt",
	[TIMELY_N_SAMPLES + TIMELY_OWD]	= "samples_owd",
	[TIMELY_N_CAUSES + TIMELY_START] = "rate_start",
	[TIMELY_N_CAUSES + TIMELY_LOW]	= "rate_low",
	[TIMELY_N_CAUSES + TIMELY_HIGH]	= "rate_high",
	[TIMELY_N_CAUSES + TIMELY_ADD]	= "rate_add",
	[TIMELY_N_CAUSES + TIMELY_HAI]	= "rate_hai",
	[TIMELY_N_CAUSES + TIMELY_MUL]	= "rate_mul",
	[TIMELY_N_CAUSES + TIMELY_REF]	= "rate_ref",
	[TIMELY_N_CAUSES + TIMELY_HOLD]	= "app_limited",
	[TIMELY_N_CAUSES + TIMELY_LONE]	= "rate_lone",
	[TIMELY_N_CAUSES + TIMELY_IDLE]	= "idle_restarts",
	[TIMELY_N_CAUSES + TIMELY_LOSS]	= "losses",
	[TIMELY_N_CAUSES + TIMELY_UNDO]	= "losses_undone",
	[TIMELY_N_SOURCE_CHANGES]	= "source_changes",
	[TIMELY_N_PARTIAL]		= "acks_partial",
	[TIMELY_N_RETRANS]		= "skipped_retrans",
	[TIMELY_N_RECOVERY]		= "skipped_recovery",
	[TIMELY_N_DELAYED]		= "skipped_delayed",
	[TIMELY_N_NEGATIVE]		= "skipped_negative",
	[TIMELY_N_CONNECTIONS]		= "connections",
};

static unsigned int timely_net_id __read_mostly;

static int timely_stats_show(struct seq_file *seq, void *unused)
{
	const struct rate_net *rn = net_generic(seq_file_single_net(seq), timely_net_id);

	BUILD_BUG_ON(ARRAY_SIZE(timely_counter_names) != TIMELY_COUNTERS);
	closnet_counters_show(seq, &rn->counters, timely_counter_names, TIMELY_COUNTERS);
	return 0;
}

static int __net_init timely_net_init(struct net *net)
{
	struct rate_net *rn = net_generic(net, timely_net_id);
	int err;

	err = closnet_counters_init(net, &rn->counters, TIMELY_COUNTERS, "closnet/timely",
				    timely_stats_show);
	if (err)
		return err;
	err = rate_net_init(rn, net, timely_net_id, timely_options, TIMELY_OPTIONS,
			    "net/ipv4/tcp_timely");
	if (err)
		closnet_counters_exit(net, &rn->counters, "closnet/timely");
	return err;
}

static void __net_exit timely_net_exit(struct net *net)
{
	struct rate_net *rn = net_generic(net, timely_net_id);

	rate_net_exit(rn);
	closnet_counters_exit(net, &rn->counters, "closnet/timely");
}

static struct pernet_operations timely_net_ops = {
	.init	= timely_net_init,
	.exit	= timely_net_exit,
	.id	= &timely_net_id,
	.size	= sizeof(struct rate_net),
};

#endif /* _TIMELY_STATS_H */
