// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: dumps of the rate limiters, and of the flows of the devices
 *
 * With the numbers of a queue pair, its packets can be forged. The dumps therefore
 * require CAP_NET_ADMIN in the network namespace. Root of a user namespace has it, so
 * they hold RTNL for one qdisc or one device at a time.
 */
#include <linux/roce.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "roce.h"

/* Slots that are looked at under the root lock at once */
#define ROCE_SLOTS_AT_ONCE	64U

static struct genl_family roce_genl_family;

/* An entry that is being put into a dump */
struct roce_nl_entry {
	struct sk_buff *msg;
	struct netlink_callback *cb;
	int ifindex;
	u32 handle;
};

#define ROCE_PUT(msg, name, val) nla_put_u64_64bit(msg, ROCE_A_##name, val, ROCE_A_PAD)

static void *roce_nl_begin(const struct roce_nl_entry *e, u8 cmd, const struct roce_key *key)
{
	void *header = genlmsg_put(e->msg, NETLINK_CB(e->cb->skb).portid, e->cb->nlh->nlmsg_seq,
				   &roce_genl_family, NLM_F_MULTI, cmd);

	if (!header)
		return NULL;
	if (nla_put_u32(e->msg, ROCE_A_IFINDEX, e->ifindex) ||
	    nla_put(e->msg, ROCE_A_SRC, sizeof(key->src), &key->src) ||
	    nla_put(e->msg, ROCE_A_DST, sizeof(key->dst), &key->dst) ||
	    nla_put_u32(e->msg, ROCE_A_QPN, key->qpn)) {
		genlmsg_cancel(e->msg, header);
		return NULL;
	}
	return header;
}

/* ---- rate limiters ---- */

static int roce_nl_put_qp(const struct roce_nl_entry *e, const struct roce_rp *rp,
			  const struct roce_qp *qp)
{
	void *header = roce_nl_begin(e, ROCE_CMD_QPS, &qp->key);
	u64 alpha = dcqcn_alpha(&qp->dcqcn, &rp->params, ktime_get_ns());

	if (!header)
		return -EMSGSIZE;
	if (nla_put_u32(e->msg, ROCE_A_HANDLE, e->handle) ||
	    ROCE_PUT(e->msg, RATE_BPS, qp->dcqcn.rate_Bps) ||
	    ROCE_PUT(e->msg, TARGET_BPS, qp->dcqcn.target_Bps) ||
	    nla_put_u32(e->msg, ROCE_A_ALPHA, mul_u64_u64_shr(alpha, 1000, DCQCN_SHIFT)) ||
	    nla_put_u32(e->msg, ROCE_A_TIMER_STAGE, qp->dcqcn.timer_stage) ||
	    nla_put_u32(e->msg, ROCE_A_BYTE_STAGE, qp->dcqcn.byte_stage) ||
	    ROCE_PUT(e->msg, QLEN_PACKETS, qp->packets) ||
	    ROCE_PUT(e->msg, BACKLOG_BYTES, qp->bytes) ||
	    ROCE_PUT(e->msg, SENT_PACKETS, qp->sent_packets) ||
	    ROCE_PUT(e->msg, SENT_BYTES, qp->sent_bytes) ||
	    ROCE_PUT(e->msg, DROPPED_PACKETS, qp->dropped_packets) ||
	    ROCE_PUT(e->msg, CNP_HANDLED, qp->cnps)) {
		genlmsg_cancel(e->msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(e->msg, header);
	return 0;
}

/* Dump the slots from *@slot on that are looked at under one lock. */
static int roce_nl_put_slots(const struct roce_nl_entry *e, struct roce_sched_data *q, u32 *slot)
{
	u32 end = min(*slot + ROCE_SLOTS_AT_ONCE, q->rp.slots);
	int err = 0;

	sch_tree_lock(q->user.sch);
	for (; *slot < end; (*slot)++) {
		if (q->rp.qp[*slot].used)
			err = roce_nl_put_qp(e, &q->rp, &q->rp.qp[*slot]);
		if (err)
			break;
	}
	sch_tree_unlock(q->user.sch);
	return err;
}

static struct roce_sched_data *roce_nl_qdisc(struct closnet_port *port, u32 n)
{
	struct roce_sched_data *q;

	list_for_each_entry(q, &port->qdiscs, user.node)
		if (!n--)
			return q;
	return NULL;
}

/* Continue the dump of a qdisc. Bounded by qps. Return: false: end it for now */
static bool roce_nl_dump_qdisc(struct sk_buff *msg, struct netlink_callback *cb)
{
	u32 bucket = cb->args[0], n = cb->args[1], index = cb->args[2], slot = cb->args[3];
	struct roce_nl_entry e = { .msg = msg, .cb = cb };
	struct roce_sched_data *q = NULL;
	struct closnet_port *port;
	int err = 0;

	rtnl_lock();
	port = closnet_port_at(sock_net(msg->sk), &bucket, &n);
	if (bucket != cb->args[0]) {
		index = 0;
		slot = 0;
	}
	if (port)
		q = roce_nl_qdisc(port, index);
	if (q) {
		e.ifindex = qdisc_dev(q->user.sch)->ifindex;
		e.handle = q->user.sch->handle;
		while (slot < q->rp.slots && !err)
			err = roce_nl_put_slots(&e, q, &slot);
	}
	rtnl_unlock();
	cb->args[0] = bucket;
	cb->args[1] = n + !q;
	cb->args[2] = q ? index + !err : 0;
	cb->args[3] = err ? slot : 0;
	return port && !err;
}

/* args: place of the device, number of its qdisc, and slot to continue with */
static int roce_nl_dump_qps(struct sk_buff *msg, struct netlink_callback *cb)
{
	while (roce_nl_dump_qdisc(msg, cb))
		cond_resched();
	return msg->len;
}

/* ---- flows ---- */

static int roce_nl_put_flow(void *arg, const struct roce_flow *f)
{
	const struct roce_nl_entry *e = arg;
	void *header = roce_nl_begin(e, ROCE_CMD_FLOWS, &f->key);

	if (!header)
		return -EMSGSIZE;
	if ((f->peer_qpn != ROCE_QPN_NONE &&
	     nla_put_u32(e->msg, ROCE_A_PEER_QPN, f->peer_qpn)) ||
	    ROCE_PUT(e->msg, MARKED_PACKETS, f->marked_packets) ||
	    ROCE_PUT(e->msg, CNP_SENT, f->cnps) ||
	    ROCE_PUT(e->msg, IDLE_NS, ktime_get_ns() - f->seen_ns)) {
		genlmsg_cancel(e->msg, header);
		return -EMSGSIZE;
	}
	genlmsg_end(e->msg, header);
	return 0;
}

/* Continue the dump of a device's flows. Return: false: end it for now */
static bool roce_nl_dump_port(struct sk_buff *msg, struct netlink_callback *cb)
{
	u32 bucket = cb->args[0], n = cb->args[1], shard = cb->args[2], index = cb->args[3];
	struct roce_nl_entry e = { .msg = msg, .cb = cb };
	struct closnet_port *port;
	int err = 0;

	rtnl_lock();
	port = closnet_port_at(sock_net(msg->sk), &bucket, &n);
	if (bucket != cb->args[0]) {
		shard = 0;
		index = 0;
	}
	if (port) {
		e.ifindex = port->dev->ifindex;
		err = roce_port_dump(container_of(port, struct roce_port, base), &shard, &index,
				     roce_nl_put_flow, &e);
	}
	rtnl_unlock();
	cb->args[0] = bucket;
	cb->args[1] = n + !err;
	cb->args[2] = err ? shard : 0;
	cb->args[3] = err ? index : 0;
	return port && !err;
}

/* args: place of the device, shard and flow to continue with */
static int roce_nl_dump_flows(struct sk_buff *msg, struct netlink_callback *cb)
{
	while (roce_nl_dump_port(msg, cb))
		cond_resched();
	return msg->len;
}

static const struct genl_ops roce_genl_ops[] = {
	{
		.cmd	= ROCE_CMD_QPS,
		.flags	= GENL_UNS_ADMIN_PERM,
		.dumpit	= roce_nl_dump_qps,
	}, {
		.cmd	= ROCE_CMD_FLOWS,
		.flags	= GENL_UNS_ADMIN_PERM,
		.dumpit	= roce_nl_dump_flows,
	},
};

static struct genl_family roce_genl_family __ro_after_init = {
	.name		= ROCE_GENL_NAME,
	.version	= ROCE_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.ops		= roce_genl_ops,
	.n_ops		= ARRAY_SIZE(roce_genl_ops),
};

/**
 * roce_nl_init() - register the generic netlink family
 *
 * Return: 0 or a negative error.
 */
int __init roce_nl_init(void)
{
	return genl_register_family(&roce_genl_family);
}

/**
 * roce_nl_exit() - unregister the generic netlink family; no qdisc is left
 */
void roce_nl_exit(void)
{
	genl_unregister_family(&roce_genl_family);
}
