// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: generic netlink: a namespace's sockets, peers and flows, to be
 * looked at
 *
 * Dumps go in pieces. Between two of them nothing is held: a walk through a rhashtable
 * finds its place again, and one through the ports has counted where it was.
 */

#include <linux/ndp_nl.h>
#include <net/genetlink.h>
#include "ndp.h"

/* Room for a peer with all its paths, each a nest of one u32 for each outcome */
#define NDP_NL_ROOM	16384U

static_assert(NDP_PATHS_MAX * (NLA_HDRLEN + NDP_OUTCOMES * (NLA_HDRLEN + 4)) <= NDP_NL_ROOM - 512);
static_assert((int)NDP_OUTCOME_ACK + 1 == NDP_NL_PATH_ACKED &&
	      (int)NDP_OUTCOME_LOST + 1 == NDP_NL_PATH_LOST, "by outcome");
static_assert((NDP_NL_INFO_MAX - NDP_NL_INFO_PAD) * sizeof(u64) == sizeof(struct ndp_info),
	      "all numbers");

static struct genl_family ndp_nl_family;

/**
 * struct ndp_nl_number - a number and what it is
 * @attr: enum ndp_nl_attr
 * @value: it
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

/* @admin: may the reader know flow_id? That lets forge packets of the flow. */
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

/* ---- what there is; each returns 0, -EMSGSIZE, or -ENOENT: it has ended meanwhile ---- */

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
	int err = ndp_nl_addrs(msg, &peer->addrs);

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
		{ NDP_NL_A_MSGS, f->begun },
		{ NDP_NL_A_UNSENT, f->new_packets },
		{ NDP_NL_A_FLIGHT, f->board.flight.count },
		{ NDP_NL_A_LOST, f->board.lost.count },
		{ NDP_NL_A_CREDIT, f->credit },
		{ NDP_NL_A_EXPECTED, ndp_snd_expected(f) },
		{ NDP_NL_A_WINDOW, f->window },
		{ NDP_NL_A_RTO_NS, f->rto_ns },
		{ NDP_NL_A_RTT_NS, tx->rtt_ns },
		{ NDP_NL_A_RTT_MIN_NS, tx->rtt_min_ns },
		{ NDP_NL_A_PACKETS, s->new_packets },
		{ NDP_NL_A_RTX, s->rtx_packets },
		{ NDP_NL_A_TIMEOUTS, s->timeouts },
		{ NDP_NL_A_TRIMMED, s->nacked_packets },
		{ NDP_NL_A_RETURNED, s->bounced_packets },
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
		{ NDP_NL_A_HELD, f->pull.held },
		{ NDP_NL_A_DEVICE, (u32)rx->host->ifindex },
		{ NDP_NL_A_IDLE_NS, ktime_get_ns() - f->last_ns },
		{ NDP_NL_A_WAITING, rx->line ? rx->line->turns.msgs : 0 },
	};
	int err = ndp_nl_flow(msg, &rx->key.addrs, rx->key.flow_id, admin, f->dport, f->sport);

	return err ?: ndp_nl_numbers(msg, numbers, ARRAY_SIZE(numbers));
}

static int ndp_nl_receiving(struct sk_buff *msg, void *obj, bool admin)
{
	struct ndp_rx *rx = obj;
	struct ndp_sock *ns = ndp_sk(rx->sk);
	int err = -ENOENT;

	spin_lock_bh(&ns->rcv_lock);
	if (!rx->dead) {
		spin_lock(&rx->host->lock);
		err = ndp_nl_put_receiving(msg, rx, admin);
		spin_unlock(&rx->host->lock);
	}
	spin_unlock_bh(&ns->rcv_lock);
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

/* struct ndp_info has nothing but u64, in the order of enum ndp_nl_info. */
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

/* Return: false if there is no more room: it is to be put into the next message */
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
 * struct ndp_nl_table - what a command dumps
 * @offset: of a rhashtable in struct ndp_net
 * @put: one of its objects into a message
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
	/* the one for which there was no room */
	obj = rhashtable_walk_peek(iter);
	/* an error: the table was resized, and the walk begins anew */
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
 * ndp_nl_init() - from now on one may look
 *
 * Return: 0 or a negative error.
 */
int __init ndp_nl_init(void)
{
	return genl_register_family(&ndp_nl_family);
}

/**
 * ndp_nl_exit() - nobody looks any more
 */
void ndp_nl_exit(void)
{
	genl_unregister_family(&ndp_nl_family);
}
