// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: dumps of the peers, and of the flow buckets from them
 *
 * With addresses and numbers of a bucket, packets can be forged. The dumps therefore require
 * CAP_NET_ADMIN in the network namespace of the device, and in that of the tunnel's packets.
 */
#include <linux/closfab.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "fab.h"

static struct genl_family fab_genl_family;

/**
 * struct fab_dump - a dump that goes on where the last message ended
 * @msg: message
 * @cb: netlink's state
 * @cmd: command
 * @skip: entries that earlier messages have
 * @seen: entries passed in this message
 */
struct fab_dump {
	struct sk_buff *msg;
	struct netlink_callback *cb;
	u8 cmd;
	unsigned long skip;
	unsigned long seen;
};

static void *fab_nl_begin(const struct fab_dump *d, const struct fab_peer *peer)
{
	void *header = genlmsg_put(d->msg, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
				   &fab_genl_family, NLM_F_MULTI, d->cmd);

	if (!header)
		return NULL;
	if (nla_put_u32(d->msg, CLOSFAB_A_IFINDEX, peer->fab->dev->ifindex) ||
	    nla_put_in6_addr(d->msg, CLOSFAB_A_PEER, &peer->addr)) {
		genlmsg_cancel(d->msg, header);
		return NULL;
	}
	return header;
}

static int fab_nl_end(const struct fab_dump *d, void *header, int err)
{
	if (err)
		genlmsg_cancel(d->msg, header);
	else
		genlmsg_end(d->msg, header);
	return err;
}

static int fab_nl_put_peer(const struct fab_dump *d, const struct fab_peer *peer)
{
	const struct closfab_options *o = &peer->fab->options;
	const struct fab_wait wait = { .min_ns = o->wait_min_ns, .max_ns = o->wait_max_ns };
	const struct fab_paths *paths = rcu_dereference(peer->paths);
	u32 idle_ms = jiffies_to_msecs(jiffies - READ_ONCE(peer->used));
	void *header = fab_nl_begin(d, peer);
	int err;

	if (!header)
		return -EMSGSIZE;
	err = nla_put_u32(d->msg, CLOSFAB_A_PATHS, paths ? paths->count : 0) ||
	      nla_put_u32(d->msg, CLOSFAB_A_RTT_NS, READ_ONCE(peer->rtt.ns)) ||
	      nla_put_u32(d->msg, CLOSFAB_A_SKEW_NS, READ_ONCE(peer->skew.ns)) ||
	      nla_put_u32(d->msg, CLOSFAB_A_WAIT_NS, fab_skew_wait_ns(&peer->skew, &wait)) ||
	      nla_put_u32(d->msg, CLOSFAB_A_IDLE_MS, idle_ms);
	return fab_nl_end(d, header, err ? -EMSGSIZE : 0);
}

static int fab_nl_put_flow(const struct fab_dump *d, struct fab_stream *s)
{
	void *header = fab_nl_begin(d, s->peer);
	int err;

	if (!header)
		return -EMSGSIZE;
	spin_lock_bh(&s->lock);
	err = nla_put_u32(d->msg, CLOSFAB_A_BUCKET, s->bucket) ||
	      nla_put_u32(d->msg, CLOSFAB_A_INSTANCE, s->instance) ||
	      nla_put_u32(d->msg, CLOSFAB_A_NEXT, s->order.next) ||
	      nla_put_u32(d->msg, CLOSFAB_A_EPOCH, s->dest.epoch) ||
	      nla_put_u32(d->msg, CLOSFAB_A_HELD_PACKETS,
			  s->order.count + skb_queue_len(&s->fifo)) ||
	      nla_put_u32(d->msg, CLOSFAB_A_HELD_BYTES, s->held_bytes);
	spin_unlock_bh(&s->lock);
	return fab_nl_end(d, header, err ? -EMSGSIZE : 0);
}

static int fab_nl_put_flows(struct fab_dump *d, struct fab_peer *peer)
{
	struct fab_stream *s;
	unsigned long index;
	int err;

	xa_for_each(&peer->streams, index, s) {
		if (d->seen++ < d->skip)
			continue;
		err = fab_nl_put_flow(d, s);
		if (err) {
			d->seen--;
			return err;
		}
	}
	return 0;
}

/* Put the peers of a device, or the flows of each. */
static int fab_nl_put_device(struct fab_dump *d, struct fab_dev *fab)
{
	struct fab_peer *peer;
	int err = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fab->peers); i++)
		hlist_for_each_entry_rcu(peer, &fab->peers[i], node) {
			if (d->cmd == CLOSFAB_CMD_FLOWS)
				err = fab_nl_put_flows(d, peer);
			else if (d->seen++ >= d->skip)
				err = fab_nl_put_peer(d, peer);
			if (err) {
				d->seen -= d->cmd == CLOSFAB_CMD_PEERS;
				return err;
			}
		}
	return 0;
}

/*
 * May the caller see the peers? The device may have been moved into the namespace of a user without
 * power over the underlay.
 */
static bool fab_nl_may_see(const struct netlink_callback *cb, const struct fab_dev *fab)
{
	return netlink_ns_capable(cb->skb, fab->net->user_ns, CAP_NET_ADMIN);
}

/* args: number of entries that earlier messages have */
static int fab_nl_dump(struct sk_buff *msg, struct netlink_callback *cb)
{
	struct fab_dump d = {
		.msg = msg, .cb = cb, .skip = cb->args[0],
		.cmd = ((const struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd,
	};
	struct net_device *dev;

	rcu_read_lock();
	for_each_netdev_rcu(sock_net(msg->sk), dev)
		if (fab_is_device(dev) && fab_nl_may_see(cb, netdev_priv(dev)) &&
		    fab_nl_put_device(&d, netdev_priv(dev)))
			break;
	rcu_read_unlock();
	cb->args[0] = d.seen;
	return msg->len;
}

static const struct genl_ops fab_genl_ops[] = {
	{
		.cmd	= CLOSFAB_CMD_PEERS,
		.flags	= GENL_UNS_ADMIN_PERM,
		.dumpit	= fab_nl_dump,
	}, {
		.cmd	= CLOSFAB_CMD_FLOWS,
		.flags	= GENL_UNS_ADMIN_PERM,
		.dumpit	= fab_nl_dump,
	},
};

static struct genl_family fab_genl_family __ro_after_init = {
	.name		= CLOSFAB_GENL_NAME,
	.version	= CLOSFAB_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.ops		= fab_genl_ops,
	.n_ops		= ARRAY_SIZE(fab_genl_ops),
};

/**
 * fab_nl_init() - register the generic netlink family
 *
 * Return: 0 or a negative error.
 */
int __init fab_nl_init(void)
{
	return genl_register_family(&fab_genl_family);
}

/**
 * fab_nl_exit() - unregister the generic netlink family
 */
void fab_nl_exit(void)
{
	genl_unregister_family(&fab_genl_family);
}
