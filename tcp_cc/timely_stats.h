/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of tcp_timely, a set for each network namespace:
 * /proc/net/closnet/timely, a line "NAME VALUE" each
 *
 * Part of tcp_timely.c.
 */
#ifndef _TIMELY_STATS_H
#define _TIMELY_STATS_H

#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "timely_config.h"

/**
 * enum timely_counter - what is counted
 * @TIMELY_N_SAMPLES: RTTs that went into the algorithm, by enum timely_source
 * @TIMELY_N_CAUSES: what was done to rates, by enum timely_cause
 * @TIMELY_N_SOURCE_CHANGES: the first RTT of another source
 * @TIMELY_N_PARTIAL: ACKs that ended no burst
 * @TIMELY_N_RETRANS: RTTs not taken: data had been sent twice, or SACKed
 * @TIMELY_N_RECOVERY: RTTs not taken: losses were being repaired
 * @TIMELY_N_DELAYED: RTTs not taken: the receiver had delayed its ACK
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

/**
 * struct timely_stats - of a namespace, on a CPU
 * @count: by enum timely_counter
 */
struct timely_stats {
	u64 count[TIMELY_COUNTERS];
};

/**
 * struct timely_net - of a namespace
 * @stats: its counters
 */
struct timely_net {
	struct timely_stats __percpu *stats;
};

static unsigned int timely_net_id __read_mostly;

static struct timely_stats __percpu *timely_stats_of(const struct sock *sk)
{
	struct timely_net *tn = net_generic(sock_net(sk), timely_net_id);

	return tn->stats;
}

static void timely_count(struct timely_stats __percpu *stats, unsigned int counter)
{
	this_cpu_inc(stats->count[counter]);
}

static int timely_stats_show(struct seq_file *seq, void *unused)
{
	struct timely_net *tn = net_generic(seq_file_single_net(seq), timely_net_id);
	unsigned int i;
	u64 sum;
	int cpu;

	BUILD_BUG_ON(ARRAY_SIZE(timely_counter_names) != TIMELY_COUNTERS);
	for (i = 0; i < TIMELY_COUNTERS; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(tn->stats, cpu)->count[i]);
		seq_printf(seq, "%s %llu\n", timely_counter_names[i], sum);
	}
	return 0;
}

static int __net_init timely_net_init(struct net *net)
{
	struct timely_net *tn = net_generic(net, timely_net_id);

	tn->stats = alloc_percpu(struct timely_stats);
	if (!tn->stats)
		return -ENOMEM;
	/* Module nicclock has made the directory. */
	if (!proc_create_net_single("closnet/timely", 0444, net->proc_net,
				    timely_stats_show, NULL)) {
		free_percpu(tn->stats);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit timely_net_exit(struct net *net)
{
	struct timely_net *tn = net_generic(net, timely_net_id);

	remove_proc_entry("closnet/timely", net->proc_net);
	free_percpu(tn->stats);
}

static struct pernet_operations timely_net_ops = {
	.init	= timely_net_init,
	.exit	= timely_net_exit,
	.id	= &timely_net_id,
	.size	= sizeof(struct timely_net),
};

#endif /* _TIMELY_STATS_H */
