// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: /proc/net/ndp/snmp: what a network namespace has counted
 *
 * Lines "NAME VALUE", which nstat(8) reads, too: PROC_NET_SCTP_SNMP=/proc/net/ndp/snmp
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "ndp.h"

#define NDP_STATS_DIR	"ndp"
#define NDP_STATS_FILE	"snmp"

static const char * const ndp_names[NDP_COUNTERS] = {
	[NDP_N_IN_PACKETS] = "InPackets",
	[NDP_N_IN_DATA] = "InData",
	[NDP_N_IN_TRIMMED] = "InTrimmed",
	[NDP_N_IN_CONTROL] = "InControl",
	[NDP_N_IN_PROBE] = "InProbe",
	[NDP_N_IN_COOKIE] = "InCookie",
	[NDP_N_IN_ERROR] = "InError",
	[NDP_N_IN_RETURNED] = "InReturned",
	[NDP_N_IN_RUNS] = "InRuns",
	[NDP_N_IN_REPAIRED] = "InRepaired",
	[NDP_N_IN_SHORT] = "InShort",
	[NDP_N_IN_VERSION] = "InVersion",
	[NDP_N_IN_HDR_CSUM] = "InHdrCsum",
	[NDP_N_IN_VALUE] = "InValue",
	[NDP_N_IN_UDP_CSUM] = "InUdpCsum",
	[NDP_N_IN_NO_SOCKET] = "InNoSocket",
	[NDP_N_IN_NO_FLOW] = "InNoFlow",
	[NDP_N_IN_NO_MEMORY] = "InNoMemory",
	[NDP_N_IN_FLOWS_MAX] = "InFlowsMax",
	[NDP_N_IN_FILTERED] = "InFiltered",
	[NDP_N_OUT_DATA] = "OutData",
	[NDP_N_OUT_RTX] = "OutRtx",
	[NDP_N_OUT_BATCHED] = "OutBatched",
	[NDP_N_OUT_BATCHES] = "OutBatches",
	[NDP_N_OUT_PROBE] = "OutProbe",
	[NDP_N_OUT_CONTROL] = "OutControl",
	[NDP_N_OUT_PULL] = "OutPull",
	[NDP_N_OUT_COOKIE] = "OutCookie",
	[NDP_N_OUT_ERROR] = "OutError",
	[NDP_N_OUT_NO_MEMORY] = "OutNoMemory",
	[NDP_N_OUT_NO_ROUTE] = "OutNoRoute",
	[NDP_N_OUT_FORGED] = "OutForged",
	[NDP_N_FAILED_UNTOLD] = "FailedUntold",
	[NDP_N_TX_FLOWS] = "TxFlows",
	[NDP_N_RX_FLOWS] = "RxFlows",
};

/* As struct ndp_snd_stats */
static const char * const ndp_snd_names[] = {
	"SndNewPackets", "SndNewBytes", "SndSpecPackets", "SndRtxPackets", "SndPushedPackets",
	"SndStalls", "SndProbes", "SndAckedPackets", "SndNackedPackets", "SndBouncedPackets",
	"SndTimeouts", "SndCookies", "SndPulls", "SndPullsUnused", "SndAnswersStale",
	"SndAnswersRefused", "SndPullsRefused", "SndMsgsDone", "SndMsgsFailed",
};

static const char * const ndp_rcv_names[NDP_RCV_VERDICTS] = {
	[NDP_RCV_PART] = "RcvPart",
	[NDP_RCV_WHOLE] = "RcvWhole",
	[NDP_RCV_AGAIN] = "RcvAgain",
	[NDP_RCV_TRIMMED] = "RcvTrimmed",
	[NDP_RCV_PROBED] = "RcvProbed",
	[NDP_RCV_NO_ROOM] = "RcvNoRoom",
	[NDP_RCV_FAR] = "RcvFar",
	[NDP_RCV_BAD_PORT] = "RcvBadPort",
	[NDP_RCV_BAD_ID] = "RcvBadId",
	[NDP_RCV_BAD_PART] = "RcvBadPart",
	[NDP_RCV_BAD_OVERLAP] = "RcvBadOverlap",
};

/* As struct ndp_pull_stats */
static const char * const ndp_pull_names[] = {
	"Pulls", "PullsAtOnce", "PullsFlushed", "PullsSilent", "PullsCut",
};

static_assert(sizeof(struct ndp_snd_stats) == ARRAY_SIZE(ndp_snd_names) * sizeof(u64));
static_assert(sizeof(struct ndp_pull_stats) == ARRAY_SIZE(ndp_pull_names) * sizeof(u64));

/* Both are structures of nothing but u64; @from changes meanwhile. */
static void ndp_stats_sum(void *sum, const void *from, size_t count)
{
	const u64 *in = from;
	u64 *out = sum;
	size_t i;

	for (i = 0; i < count; i++)
		out[i] += READ_ONCE(in[i]);
}

/**
 * ndp_stats_add() - add up what flows that send have counted
 * @sum: to this
 * @stats: that of a flow
 */
void ndp_stats_add(struct ndp_snd_stats *sum, const struct ndp_snd_stats *stats)
{
	ndp_stats_sum(sum, stats, ARRAY_SIZE(ndp_snd_names));
}

static void ndp_stats_snd(struct ndp_net *nn, struct ndp_snd_stats *sum)
{
	struct rhashtable_iter iter;
	struct ndp_tx *tx;

	spin_lock_bh(&nn->totals_lock);
	*sum = nn->snd_totals;
	spin_unlock_bh(&nn->totals_lock);
	rhashtable_walk_enter(&nn->tx, &iter);
	rhashtable_walk_start(&iter);
	while ((tx = rhashtable_walk_next(&iter))) {
		/* It is being resized, and the walk begins anew: better some are missing. */
		if (IS_ERR(tx))
			break;
		ndp_stats_add(sum, &tx->stats);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static void ndp_stats_rcv(struct ndp_net *nn, u64 *sum)
{
	struct ndp_sock *ns;
	int bucket;

	spin_lock_bh(&nn->ports_lock);
	hash_for_each(nn->ports, bucket, ns, port_node)
		ndp_stats_sum(sum, ns->rcv.verdicts, NDP_RCV_VERDICTS);
	spin_lock(&nn->totals_lock);
	ndp_stats_sum(sum, nn->rcv_totals, NDP_RCV_VERDICTS);
	spin_unlock(&nn->totals_lock);
	spin_unlock_bh(&nn->ports_lock);
}

static void ndp_stats_pull(struct ndp_net *nn, struct ndp_pull_stats *sum)
{
	struct ndp_host *host;
	int bucket;

	spin_lock_bh(&nn->totals_lock);
	*sum = nn->pull_totals;
	spin_unlock_bh(&nn->totals_lock);
	rcu_read_lock();
	hash_for_each_rcu(nn->hosts, bucket, host, node)
		ndp_stats_sum(sum, &host->q.stats, ARRAY_SIZE(ndp_pull_names));
	rcu_read_unlock();
}

static void ndp_stats_lines(struct seq_file *seq, const char * const *names, const void *values,
			    size_t count)
{
	const u64 *value = values;
	size_t i;

	for (i = 0; i < count; i++)
		seq_printf(seq, "%s %llu\n", names[i], value[i]);
}

static int ndp_stats_show(struct seq_file *seq, void *unused)
{
	struct ndp_net *nn = ndp_net(seq_file_single_net(seq));
	u64 rcv[NDP_RCV_VERDICTS] = {};
	struct ndp_pull_stats pull;
	struct ndp_snd_stats snd;

	closnet_counters_show(seq, &nn->counters, ndp_names, NDP_COUNTERS);
	ndp_stats_snd(nn, &snd);
	ndp_stats_lines(seq, ndp_snd_names, &snd, ARRAY_SIZE(ndp_snd_names));
	ndp_stats_rcv(nn, rcv);
	ndp_stats_lines(seq, ndp_rcv_names, rcv, NDP_RCV_VERDICTS);
	ndp_stats_pull(nn, &pull);
	ndp_stats_lines(seq, ndp_pull_names, &pull, ARRAY_SIZE(ndp_pull_names));
	return 0;
}

/**
 * ndp_stats_init() - make a namespace's counters, and their file
 * @nn: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int ndp_stats_init(struct ndp_net *nn)
{
	int err;

	spin_lock_init(&nn->totals_lock);
	if (!proc_net_mkdir(nn->net, NDP_STATS_DIR, nn->net->proc_net))
		return -ENOMEM;
	err = closnet_counters_init(nn->net, &nn->counters, NDP_COUNTERS,
				    NDP_STATS_DIR "/" NDP_STATS_FILE, ndp_stats_show);
	if (err)
		remove_proc_entry(NDP_STATS_DIR, nn->net->proc_net);
	return err;
}

/**
 * ndp_stats_exit() - take back ndp_stats_init()
 * @nn: namespace
 */
void ndp_stats_exit(struct ndp_net *nn)
{
	closnet_counters_exit(nn->net, &nn->counters, NDP_STATS_DIR "/" NDP_STATS_FILE);
	remove_proc_entry(NDP_STATS_DIR, nn->net->proc_net);
}
