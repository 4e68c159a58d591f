// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: counters, sysctls and generic netlink of a network namespace
 *
 * /proc/net/ndp/snmp has lines "NAME VALUE", which nstat(8) can read:
 * PROC_NET_SCTP_SNMP=/proc/net/ndp/snmp. Generic netlink dumps sockets, peers and flows, in several
 * messages. Between two messages no lock is held: a walk of a rhashtable finds its place again, and
 * the walk of the ports counts its place.
 */
#include <linux/ndp_nl.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <net/genetlink.h>
#include "ndp.h"

#define NDP_STATS_DIR	"ndp"
#define NDP_STATS_FILE	"snmp"

/* ---- counters ---- */

static const char * const ndp_names[NDP_COUNTERS] = {
	[NDP_N_IN_PACKETS] = "InPackets",
	[NDP_N_IN_DATA] = "InData",
	[NDP_N_IN_TRIMMED] = "InTrimmed",
	[NDP_N_IN_BATCHED] = "InBatched",
	[NDP_N_IN_BATCHES] = "InBatches",
	[NDP_N_IN_DATA_ACK] = "InDataAck",
	[NDP_N_IN_CONTROL] = "InControl",
	[NDP_N_IN_PROBE] = "InProbe",
	[NDP_N_IN_COOKIE] = "InCookie",
	[NDP_N_IN_ERROR] = "InError",
	[NDP_N_IN_RETURNED] = "InReturned",
	[NDP_N_IN_REPAIRED] = "InRepaired",
	[NDP_N_IN_SHORT] = "InShort",
	[NDP_N_IN_VERSION] = "InVersion",
	[NDP_N_IN_HDR_CSUM] = "InHdrCsum",
	[NDP_N_IN_VALUE] = "InValue",
	[NDP_N_IN_UDP_CSUM] = "InUdpCsum",
	[NDP_N_IN_BAD_SOURCE] = "InBadSource",
	[NDP_N_IN_BAD_TAG] = "InBadTag",
	[NDP_N_IN_NO_SOCKET] = "InNoSocket",
	[NDP_N_IN_NO_FLOW] = "InNoFlow",
	[NDP_N_IN_NO_MEMORY] = "InNoMemory",
	[NDP_N_IN_FLOWS_MAX] = "InFlowsMax",
	[NDP_N_IN_FILTERED] = "InFiltered",
	[NDP_N_RX_EVICTED] = "RxEvicted",
	[NDP_N_RX_LAPSED] = "RxLapsed",
	[NDP_N_OUT_DATA] = "OutData",
	[NDP_N_OUT_RTX] = "OutRtx",
	[NDP_N_OUT_DATA_ACK] = "OutDataAck",
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

/* as struct ndp_snd_stats */
static const char * const ndp_snd_names[] = {
	"SndNewPackets", "SndNewBytes", "SndSpecPackets", "SndRtxPackets", "SndPushedPackets",
	"SndStalls", "SndProbes", "SndAckedPackets", "SndNackedPackets", "SndFullPackets",
	"SndReturnedPackets", "SndOvertakenPackets", "SndTimeouts", "SndCookies",
	"SndRefusedMsgs", "SndPulls", "SndPullsUnused", "SndAnswersStale",
	"SndAnswersRefused", "SndPullsRefused", "SndMsgsDone", "SndMsgsFailed",
};

static const char * const ndp_rcv_names[NDP_RCV_VERDICTS] = {
	[NDP_RCV_PART] = "RcvPart",
	[NDP_RCV_WHOLE] = "RcvWhole",
	[NDP_RCV_DUPLICATE] = "RcvDuplicate",
	[NDP_RCV_TRIMMED] = "RcvTrimmed",
	[NDP_RCV_PROBED] = "RcvProbed",
	[NDP_RCV_FULL] = "RcvFull",
	[NDP_RCV_REFUSED] = "RcvRefused",
	[NDP_RCV_GONE] = "RcvGone",
	[NDP_RCV_OUT_OF_WINDOW] = "RcvOutOfWindow",
	[NDP_RCV_BAD_PORT] = "RcvBadPort",
	[NDP_RCV_BAD_ID] = "RcvBadId",
	[NDP_RCV_BAD_PART] = "RcvBadPart",
};

/* as struct ndp_pull_stats */
static const char * const ndp_pull_names[] = {
	"Pulls", "PullsAtOnce", "PullsFlushed", "PullsSilent", "PullsCut",
};

static_assert(sizeof(struct ndp_snd_stats) == ARRAY_SIZE(ndp_snd_names) * sizeof(u64));
static_assert(sizeof(struct ndp_pull_stats) == ARRAY_SIZE(ndp_pull_names) * sizeof(u64));

/* Add @count u64 of @from, which change meanwhile, to @sum. */
static void ndp_stats_sum(void *sum, const void *from, size_t count)
{
	const u64 *in = from;
	u64 *out = sum;
	size_t i;

	for (i = 0; i < count; i++)
		out[i] += READ_ONCE(in[i]);
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
		/* the table is resized and the walk begins anew: rather miss some */
		if (IS_ERR(tx))
			break;
		ndp_snd_stats_add(sum, &tx->stats);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static void ndp_stats_rcv(struct ndp_net *nn, u64 *sum)
{
	struct ndp_sock *ns;
	int bucket;

	spin_lock_bh(&nn->totals_lock);
	ndp_stats_sum(sum, nn->rcv_totals, NDP_RCV_VERDICTS);
	spin_unlock_bh(&nn->totals_lock);
	/* programs may open many sockets: rather miss one that is closed meanwhile than lock all */
	rcu_read_lock();
	hash_for_each_rcu(nn->ports, bucket, ns, port_node)
		ndp_stats_sum(sum, ns->rcv.verdicts, NDP_RCV_VERDICTS);
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
	ndp_devs_stats(nn, &pull);
	ndp_stats_lines(seq, ndp_pull_names, &pull, ARRAY_SIZE(ndp_pull_names));
	return 0;
}

/**
 * ndp_stats_init() - create the counters of a namespace and their file
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

/* ---- sysctls ---- */

static const struct ndp_conf ndp_conf_defaults = {
	.paths = 64,
	.rto_us = 1000,
	.timeout_ms = NDP_TIMEOUT_MAX,
	.pull_policy = NDP_PULL_SRPT,
	.flows_max = 16384,
	.gso_packets = 1,
	.bands = NDP_BANDS_MAX,
};

/**
 * struct ndp_sysctl - a sysctl
 * @name: name
 * @offset: its value's offset in struct ndp_conf
 * @min: least value
 * @max: greatest value
 * @bounded: in namespaces of users, @max is the value of the initial namespace
 */
struct ndp_sysctl {
	const char *name;
	size_t offset;
	int min;
	int max;
	bool bounded;
};

#define NDP_SYSCTL(field, from, to)					\
	{								\
		.name = #field, .offset = offsetof(struct ndp_conf, field), \
		.min = (from), .max = (to),				\
	}

/* for values that determine memory of the kernel */
#define NDP_SYSCTL_BOUNDED(field, from, to)				\
	{								\
		.name = #field, .offset = offsetof(struct ndp_conf, field), \
		.min = (from), .max = (to), .bounded = true,		\
	}

/* not const, because tables of older kernels point to it */
static struct ndp_sysctl ndp_sysctls[] = {
	NDP_SYSCTL(initial_window, 0, NDP_WINDOW_MAX),
	NDP_SYSCTL_BOUNDED(paths, 1, NDP_PATHS_MAX),
	NDP_SYSCTL(rto_us, 100, 1000000),
	NDP_SYSCTL(timeout_ms, NDP_TIMEOUT_MIN, NDP_TIMEOUT_MAX),
	NDP_SYSCTL(pull_policy, NDP_PULL_FAIR, NDP_PULL_SRPT),
	NDP_SYSCTL(line_rate_Mbps, 0, 1000000),
	NDP_SYSCTL_BOUNDED(flows_max, 1, 1000000),
	NDP_SYSCTL(gso_packets, 1, NDP_BATCH_PACKETS),
	NDP_SYSCTL(bands, 1, NDP_BANDS_MAX),
};

static int *ndp_sysctl_value(struct ndp_net *nn, const struct ndp_sysctl *s)
{
	return (int *)((char *)&nn->conf + s->offset);
}

/* Get the greatest value, and limit the present one. */
static int *ndp_sysctl_max(struct ndp_net *nn, struct ndp_sysctl *s)
{
	int *value = ndp_sysctl_value(nn, s), *max;

	if (!s->bounded || nn->net->user_ns == &init_user_ns)
		return &s->max;
	max = ndp_sysctl_value(ndp_net(&init_net), s);
	*value = min(*value, READ_ONCE(*max));
	return max;
}

/**
 * ndp_sysctl_init() - create the sysctls of a namespace, with defaults
 * @nn: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int ndp_sysctl_init(struct ndp_net *nn)
{
	struct ctl_table *table;
	size_t i;

	nn->conf = ndp_conf_defaults;
	table = kcalloc(ARRAY_SIZE(ndp_sysctls) + 2, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(ndp_sysctls); i++) {
		table[i].procname = ndp_sysctls[i].name;
		table[i].data = ndp_sysctl_value(nn, &ndp_sysctls[i]);
		table[i].maxlen = sizeof(int);
		table[i].mode = 0644;
		table[i].proc_handler = proc_dointvec_minmax;
		table[i].extra1 = &ndp_sysctls[i].min;
		table[i].extra2 = ndp_sysctl_max(nn, &ndp_sysctls[i]);
	}
	table[i].procname = "key";
	table[i].data = nn;
	table[i].mode = 0600;
	table[i].proc_handler = ndp_auth_sysctl;
	nn->sysctl = register_net_sysctl_sz(nn->net, "net/ndp", table, i + 1);
	if (!nn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * ndp_sysctl_exit() - take back ndp_sysctl_init()
 * @nn: namespace
 */
void ndp_sysctl_exit(struct ndp_net *nn)
{
	const struct ctl_table *table = nn->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(nn->sysctl);
	kfree(table);
}

/* ---- generic netlink ---- */

/* bytes for a peer with all its paths, each a nest of a u32 per outcome */
#define NDP_NL_ROOM	16384U

static_assert(NDP_PATHS_MAX * (NLA_HDRLEN + NDP_OUTCOMES * (NLA_HDRLEN + 4)) <= NDP_NL_ROOM - 512);
static_assert((int)NDP_OUTCOME_ACK + 1 == NDP_NL_PATH_ACKED &&
	      (int)NDP_OUTCOME_LOST + 1 == NDP_NL_PATH_LOST, "by outcome");
static_assert((NDP_NL_INFO_MAX - NDP_NL_INFO_PAD) * sizeof(u64) == sizeof(struct ndp_info),
	      "all numbers");

static struct genl_family ndp_nl_family;

/**
 * struct ndp_nl_number - a number
 * @attr: enum ndp_nl_attr
 * @value: value
 */
struct ndp_nl_number {
	int attr;
	u64 value;
};

static int ndp_nl_numbers(struct sk_buff *msg, const struct ndp_nl_number *n, size_t count)
{
	int err = 0;

	for (; count && !err; count--, n++)
		err = nla_put_u64_64bit(msg, n->attr, n->value, NDP_NL_A_PAD);
	return err;
}

static int ndp_nl_addrs(struct sk_buff *msg, const struct ndp_addrs *a)
{
	int err = nla_put_in6_addr(msg, NDP_NL_A_LOCAL, &a->local);

	if (!err)
		err = nla_put_in6_addr(msg, NDP_NL_A_REMOTE, &a->remote);
	if (!err && a->ifindex)
		err = nla_put_u32(msg, NDP_NL_A_IFINDEX, (u32)a->ifindex);
	return err;
}

/* @admin: the reader may know flow_id, with which it could forge packets */
static int ndp_nl_flow(struct sk_buff *msg, const struct ndp_addrs *a, u32 flow_id, bool admin,
		       u16 local, u16 remote)
{
	int err = ndp_nl_addrs(msg, a);

	if (!err && admin)
		err = nla_put_u32(msg, NDP_NL_A_FLOW_ID, flow_id);
	if (!err)
		err = nla_put_u32(msg, NDP_NL_A_LOCAL_PORT, local);
	if (!err)
		err = nla_put_u32(msg, NDP_NL_A_REMOTE_PORT, remote);
	return err;
}

/* Each function returns 0, -EMSGSIZE, or -ENOENT if the object has ended. */

static int ndp_nl_put_path(struct sk_buff *msg, const struct ndp_path *path)
{
	struct nlattr *nest = nla_nest_start(msg, NDP_NL_A_PATH);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < NDP_OUTCOMES; i++)
		if (nla_put_u32(msg, NDP_NL_PATH_ACKED + i, path->packets[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int ndp_nl_put_paths(struct sk_buff *msg, const struct ndp_paths *paths)
{
	const struct ndp_nl_number numbers[] = {
		{ NDP_NL_A_PATHS, paths->count },
		{ NDP_NL_A_AVOIDED, paths->count - paths->live },
	};
	int err = ndp_nl_numbers(msg, numbers, ARRAY_SIZE(numbers));
	u32 i;

	for (i = 0; i < paths->count && !err; i++)
		err = ndp_nl_put_path(msg, &paths->path[i]);
	return err;
}

static int ndp_nl_peer(struct sk_buff *msg, void *obj, bool admin)
{
	struct ndp_peer *peer = obj;
	int err = ndp_nl_addrs(msg, &peer->key.addrs);

	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	err = ndp_nl_put_paths(msg, &peer->paths);
	spin_unlock_bh(&peer->lock);
	return err;
}

static int ndp_nl_put_sending(struct sk_buff *msg, const struct ndp_tx *tx, bool admin)
{
	const struct ndp_snd_stats *s = &tx->stats;
	const struct ndp_snd_flow *f = &tx->f;
	const struct ndp_nl_number numbers[] = {
		{ NDP_NL_A_MSGS, f->msgs_begun },
		{ NDP_NL_A_UNSENT, f->new_packets },
		{ NDP_NL_A_FLIGHT, f->sb.flight.count },
		{ NDP_NL_A_LOST, f->sb.lost.count },
		{ NDP_NL_A_CREDIT, f->credit },
		{ NDP_NL_A_EXPECTED, ndp_snd_expected(f) },
		{ NDP_NL_A_WINDOW, f->window },
		{ NDP_NL_A_RTO_NS, f->rto_ns },
		{ NDP_NL_A_RTT_NS, tx->rtt_ns },
		{ NDP_NL_A_RTT_MIN_NS, READ_ONCE(tx->peer->rtt_min_ns) },
		{ NDP_NL_A_PACKETS, s->new_packets },
		{ NDP_NL_A_RTX, s->rtx_packets },
		{ NDP_NL_A_TIMEOUTS, s->timeouts },
		{ NDP_NL_A_TRIMMED, s->nacked_packets },
		{ NDP_NL_A_RETURNED, s->returned_packets },
	};
	int err = ndp_nl_flow(msg, &tx->to.addrs, f->flow_id, admin, f->sport, f->dport);

	return err ?: ndp_nl_numbers(msg, numbers, ARRAY_SIZE(numbers));
}

static int ndp_nl_sending(struct sk_buff *msg, void *obj, bool admin)
{
	struct ndp_tx *tx = obj;
	int err;

	spin_lock_bh(&tx->lock);
	err = tx->dead ? -ENOENT : ndp_nl_put_sending(msg, tx, admin);
	spin_unlock_bh(&tx->lock);
	return err;
}

static int ndp_nl_put_receiving(struct sk_buff *msg, const struct ndp_rx *rx, bool admin)
{
	const struct ndp_rcv_flow *f = &rx->f;
	const struct ndp_nl_number numbers[] = {
		{ NDP_NL_A_MSGS, f->msgs },
		{ NDP_NL_A_TRIMMED, f->trimmed },
		{ NDP_NL_A_WISHED, ndp_pull_wanted(&f->pull) },
		{ NDP_NL_A_HELD, !f->pull.allowed || f->need },
		{ NDP_NL_A_DEVICE, (u32)rx->ifindex },
		{ NDP_NL_A_IDLE_NS, ktime_get_ns() - f->last_ns },
		{ NDP_NL_A_WAITING, ndp_is_ordered(rx->sk) ? f->msgs : 0 },
	};
	int err = ndp_nl_flow(msg, &rx->key.addrs, rx->key.flow_id, admin, f->dport, f->sport);

	return err ?: ndp_nl_numbers(msg, numbers, ARRAY_SIZE(numbers));
}

static int ndp_nl_receiving(struct sk_buff *msg, void *obj, bool admin)
{
	struct ndp_rx *rx = obj;
	struct ndp_sock *ns = ndp_sk(rx->sk);
	int err = -ENOENT;

	spin_lock_bh(&ns->rx_lock);
	if (!rx->dead) {
		spin_lock(&rx->pacer->lock);
		err = ndp_nl_put_receiving(msg, rx, admin);
		spin_unlock(&rx->pacer->lock);
	}
	spin_unlock_bh(&ns->rx_lock);
	return err;
}

static int ndp_nl_remote(struct sk_buff *msg, const struct sock *sk)
{
	struct in6_addr remote = sk->sk_v6_daddr;
	int err;

	if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
		return 0;
	if (sk->sk_family == AF_INET)
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, &remote);
	err = nla_put_in6_addr(msg, NDP_NL_A_REMOTE, &remote);
	return err ?: nla_put_u32(msg, NDP_NL_A_REMOTE_PORT, ntohs(inet_sk(sk)->inet_dport));
}

/* struct ndp_info has only u64, in the order of enum ndp_nl_info. */
static int ndp_nl_info(struct sk_buff *msg, struct sock *sk)
{
	struct nlattr *nest = nla_nest_start(msg, NDP_NL_A_INFO);
	union {
		struct ndp_info info;
		u64 values[NDP_NL_INFO_MAX - NDP_NL_INFO_PAD];
	} u = {};
	size_t i;

	if (!nest)
		return -EMSGSIZE;
	ndp_tx_info(sk, &u.info);
	ndp_rx_info(sk, &u.info);
	for (i = 0; i < ARRAY_SIZE(u.values); i++)
		if (nla_put_u64_64bit(msg, NDP_NL_INFO_PAD + 1 + (int)i, u.values[i],
				      NDP_NL_INFO_PAD))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int ndp_nl_socket(struct sk_buff *msg, void *obj, bool admin)
{
	struct sock *sk = obj;
	const struct ndp_nl_number numbers[] = {
		{ NDP_NL_A_INODE, sock_i_ino(sk) },
		{ NDP_NL_A_ORDERED, ndp_is_ordered(sk) },
	};
	int dev = READ_ONCE(sk->sk_bound_dev_if), err;
	struct in6_addr local = ndp_bound(sk);

	err = nla_put_in6_addr(msg, NDP_NL_A_LOCAL, &local) ?:
	      nla_put_u32(msg, NDP_NL_A_LOCAL_PORT, inet_sk(sk)->inet_num) ?:
	      ndp_nl_remote(msg, sk) ?: ndp_nl_numbers(msg, numbers, ARRAY_SIZE(numbers));
	if (!err && dev)
		err = nla_put_u32(msg, NDP_NL_A_IFINDEX, (u32)dev);
	return err ?: ndp_nl_info(msg, sk);
}

/* ---- dumps ---- */

/* Return: false if there is no room: the object is to be put into the next message */
static bool ndp_nl_put(struct sk_buff *msg, struct netlink_callback *cb,
		       int (*put)(struct sk_buff *msg, void *obj, bool admin), void *obj)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *header;
	int err;

	header = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			     &ndp_nl_family, NLM_F_MULTI, request->cmd);
	if (!header)
		return false;
	err = put(msg, obj, netlink_net_capable(cb->skb, CAP_NET_ADMIN));
	if (!err)
		genlmsg_end(msg, header);
	else
		genlmsg_cancel(msg, header);
	return err != -EMSGSIZE;
}

static int ndp_nl_dump_sockets(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct ndp_net *nn = ndp_net(sock_net(cb->skb->sk));
	long *bucket = &cb->args[0], *done = &cb->args[1];
	struct ndp_sock *ns;
	long i;

	rcu_read_lock();
	for (; *bucket < (long)HASH_SIZE(nn->ports); ++*bucket, *done = 0) {
		i = 0;
		hlist_for_each_entry_rcu(ns, &nn->ports[*bucket], port_node) {
			if (i++ < *done)
				continue;
			if (!ndp_nl_put(msg, cb, ndp_nl_socket, &ns->inet.sk))
				goto out;
			++*done;
		}
	}
out:
	rcu_read_unlock();
	return (int)msg->len;
}

/**
 * struct ndp_nl_table - objects that a command dumps
 * @offset: a rhashtable's offset in struct ndp_net
 * @put: puts one of its objects into a message
 */
struct ndp_nl_table {
	size_t offset;
	int (*put)(struct sk_buff *msg, void *obj, bool admin);
};

static const struct ndp_nl_table ndp_nl_tables[] = {
	[NDP_NL_CMD_PEERS] = { offsetof(struct ndp_net, peers), ndp_nl_peer },
	[NDP_NL_CMD_SENDING] = { offsetof(struct ndp_net, tx), ndp_nl_sending },
	[NDP_NL_CMD_RECEIVING] = { offsetof(struct ndp_net, rx), ndp_nl_receiving },
};

static const struct ndp_nl_table *ndp_nl_table(const struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);

	return &ndp_nl_tables[request->cmd];
}

static int ndp_nl_start(struct netlink_callback *cb)
{
	struct ndp_net *nn = ndp_net(sock_net(cb->skb->sk));
	struct rhashtable_iter *iter = kmalloc(sizeof(*iter), GFP_KERNEL);

	if (!iter)
		return -ENOMEM;
	rhashtable_walk_enter((void *)nn + ndp_nl_table(cb)->offset, iter);
	cb->args[0] = (long)iter;
	cb->min_dump_alloc = NDP_NL_ROOM;
	return 0;
}

static int ndp_nl_done(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];

	rhashtable_walk_exit(iter);
	kfree(iter);
	return 0;
}

static int ndp_nl_dump(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];
	const struct ndp_nl_table *table = ndp_nl_table(cb);
	long *over = &cb->args[1];
	void *obj;

	if (*over)
		return 0;
	rhashtable_walk_start(iter);
	/* the object for which there was no room */
	obj = rhashtable_walk_peek(iter);
	/* an error: the table was resized and the walk begins anew */
	while (obj && (IS_ERR(obj) || ndp_nl_put(msg, cb, table->put, obj)))
		obj = rhashtable_walk_next(iter);
	rhashtable_walk_stop(iter);
	*over = !obj;
	return (int)msg->len;
}

static const struct genl_ops ndp_nl_ops[] = {
	{
		.cmd	= NDP_NL_CMD_SOCKETS,
		.dumpit	= ndp_nl_dump_sockets,
	}, {
		.cmd	= NDP_NL_CMD_PEERS,
		.start	= ndp_nl_start,
		.dumpit	= ndp_nl_dump,
		.done	= ndp_nl_done,
	}, {
		.cmd	= NDP_NL_CMD_SENDING,
		.start	= ndp_nl_start,
		.dumpit	= ndp_nl_dump,
		.done	= ndp_nl_done,
	}, {
		.cmd	= NDP_NL_CMD_RECEIVING,
		.start	= ndp_nl_start,
		.dumpit	= ndp_nl_dump,
		.done	= ndp_nl_done,
	},
};

static struct genl_family ndp_nl_family __ro_after_init = {
	.name		= NDP_GENL_NAME,
	.version	= NDP_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.ops		= ndp_nl_ops,
	.n_ops		= ARRAY_SIZE(ndp_nl_ops),
};

/**
 * ndp_nl_init() - register the generic netlink family
 *
 * Return: 0 or a negative error.
 */
int __init ndp_nl_init(void)
{
	return genl_register_family(&ndp_nl_family);
}

/**
 * ndp_nl_exit() - unregister the generic netlink family
 */
void ndp_nl_exit(void)
{
	genl_unregister_family(&ndp_nl_family);
}
