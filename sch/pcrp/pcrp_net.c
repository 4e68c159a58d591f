// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's side of PCRP's central statistics unit
 *
 * Each network namespace has a histogram of the sizes of finished flows. It may have three
 * size thresholds, which select P0 to P3 for first chains. Generic netlink reads the
 * histogram and sets the thresholds. The unit itself is a daemon, pcrpd.
 *
 *	qdiscs ---- finished flows ----> sizes[42] ---- GET ---> agent ---> quartiles
 *	qdiscs <------- changes -------- thresholds <-- SET ---- agent <------'
 *
 * One end counts a flow: the sender if the flow has at most one chain, since its receiver
 * does not know it, else the receiver.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 */

#include <linux/module.h>
#include <linux/stringify.h>
#include <net/genetlink.h>
#include <net/netns/generic.h>
#include <closnet/netlink.h>
#include "pcrp_net.h"

static unsigned int pcrp_net_id;

/* ---- for the qdiscs ---- */

/**
 * pcrp_net_of() - get the data of a namespace
 * @net: the namespace; it outlives the qdiscs of its devices
 *
 * Return: the data.
 */
struct pcrp_net *pcrp_net_of(const struct net *net)
{
	return net_generic(net, pcrp_net_id);
}

/**
 * pcrp_net_changed() - test whether thresholds were set or reset
 * @pn: data of the namespace
 * @seen: number of updates that the caller has seen, 0 at first; updated
 *
 * Return: true if so; then pcrp_net_thresholds() returns the new ones.
 */
bool pcrp_net_changed(const struct pcrp_net *pn, u32 *seen)
{
	u32 updates = smp_load_acquire(&pn->updates); /* pairs with pcrp_net_set() */

	if (likely(updates == *seen))
		return false;
	*seen = updates;
	return true;
}

/**
 * pcrp_net_thresholds() - read the thresholds
 * @pn: data of the namespace
 * @thresholds: result
 *
 * Return: false: no thresholds are set.
 */
bool pcrp_net_thresholds(struct pcrp_net *pn, u64 thresholds[PCRP_THRESHOLDS])
{
	unsigned int seq;
	bool set;

	do {
		seq = read_seqbegin(&pn->lock);
		set = pn->set;
		memcpy(thresholds, pn->thresholds, sizeof(pn->thresholds));
	} while (read_seqretry(&pn->lock, seq));
	return set;
}

/* ---- generic netlink ---- */

static struct genl_family pcrp_genl_family;

#define PCRP_THRESHOLD_MAX	1099511627776	/* bytes; plain digits, for error messages */

static const struct nla_policy pcrp_set_policy[PCRP_A_THRESHOLDS + 1] = {
	[PCRP_A_THRESHOLDS] = { .type = NLA_NESTED },
};

static const struct nla_policy pcrp_threshold_policy[PCRP_A_THRESHOLD_P2 + 1] = {
	[PCRP_A_THRESHOLD_P0 ... PCRP_A_THRESHOLD_P2] = { .type = NLA_U64 },
};

static void pcrp_net_sum(const struct pcrp_net *pn, struct pcrp_sizes *sum)
{
	const struct pcrp_sizes *sizes;
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		sizes = per_cpu_ptr(pn->sizes, cpu);
		for (i = 0; i < PCRP_SIZE_CLASSES; i++)
			sum->classes[i] += READ_ONCE(sizes->classes[i]);
		sum->bytes += READ_ONCE(sizes->bytes);
	}
}

static int pcrp_genl_put_size(struct sk_buff *msg, u32 class, u64 flows)
{
	struct nlattr *nest = nla_nest_start(msg, PCRP_A_SIZE);

	if (!nest || nla_put_u32(msg, PCRP_A_SIZE_CLASS, class) ||
	    nla_put_u64_64bit(msg, PCRP_A_SIZE_FLOWS, flows, PCRP_A_SIZE_PAD))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int pcrp_genl_put_thresholds(struct sk_buff *msg, const u64 *thresholds)
{
	struct nlattr *nest = nla_nest_start(msg, PCRP_A_THRESHOLDS);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < PCRP_THRESHOLDS; i++)
		if (nla_put_u64_64bit(msg, PCRP_A_THRESHOLD_P0 + i, thresholds[i],
				      PCRP_A_THRESHOLD_PAD))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int pcrp_genl_fill(struct sk_buff *msg, struct pcrp_net *pn)
{
	u64 thresholds[PCRP_THRESHOLDS];
	struct pcrp_sizes sum;
	u32 class;

	pcrp_net_sum(pn, &sum);
	for (class = 0; class < PCRP_SIZE_CLASSES; class++)
		if (sum.classes[class] && pcrp_genl_put_size(msg, class, sum.classes[class]))
			return -EMSGSIZE;
	if (nla_put_u64_64bit(msg, PCRP_A_BYTES, sum.bytes, PCRP_A_PAD) ||
	    nla_put_u32(msg, PCRP_A_UPDATES, READ_ONCE(pn->updates)))
		return -EMSGSIZE;
	if (!pcrp_net_thresholds(pn, thresholds))
		return 0;
	return pcrp_genl_put_thresholds(msg, thresholds);
}

static int pcrp_genl_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg;
	void *header;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &pcrp_genl_family, 0, PCRP_CMD_GET);
	if (!header || pcrp_genl_fill(msg, pcrp_net_of(genl_info_net(info)))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

/* Set the thresholds; NULL: reset them. */
static void pcrp_net_set(struct pcrp_net *pn, const u64 *thresholds)
{
	write_seqlock_bh(&pn->lock);
	pn->set = thresholds;
	if (thresholds)
		memcpy(pn->thresholds, thresholds, sizeof(pn->thresholds));
	smp_store_release(&pn->updates, pn->updates + 1); /* pairs with pcrp_net_changed() */
	write_sequnlock_bh(&pn->lock);
}

static int pcrp_genl_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[PCRP_A_THRESHOLDS];
	struct nlattr *tb[PCRP_A_THRESHOLD_P2 + 1];
	u64 thresholds[PCRP_THRESHOLDS];
	unsigned int i;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, PCRP_A_THRESHOLDS)) {
		NL_SET_ERR_MSG(info->extack, "thresholds are missing");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, PCRP_A_THRESHOLD_P2, attr, pcrp_threshold_policy,
			       info->extack);
	if (err)
		return err;
	for (i = 0; i < PCRP_THRESHOLDS; i++) {
		thresholds[i] = nla_get_u64_default(tb[PCRP_A_THRESHOLD_P0 + i], 0);
		if (!thresholds[i] || thresholds[i] > PCRP_THRESHOLD_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "thresholds must be 1 to "
					    __stringify(PCRP_THRESHOLD_MAX) " bytes");
			return -ERANGE;
		}
		if (i && thresholds[i] < thresholds[i - 1]) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "thresholds must ascend");
			return -EINVAL;
		}
	}
	pcrp_net_set(pcrp_net_of(genl_info_net(info)), thresholds);
	return 0;
}

static int pcrp_genl_reset(struct sk_buff *skb, struct genl_info *info)
{
	pcrp_net_set(pcrp_net_of(genl_info_net(info)), NULL);
	return 0;
}

static const struct genl_ops pcrp_genl_ops[] = {
	{
		.cmd	= PCRP_CMD_GET,
		.doit	= pcrp_genl_get,
	}, {
		.cmd	 = PCRP_CMD_SET,
		.flags	 = GENL_UNS_ADMIN_PERM,
		.doit	 = pcrp_genl_set,
		.policy	 = pcrp_set_policy,
		.maxattr = PCRP_A_THRESHOLDS,
	}, {
		.cmd	= PCRP_CMD_RESET,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= pcrp_genl_reset,
	},
};

static struct genl_family pcrp_genl_family __ro_after_init = {
	.name		= PCRP_GENL_NAME,
	.version	= PCRP_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.ops		= pcrp_genl_ops,
	.n_ops		= ARRAY_SIZE(pcrp_genl_ops),
};

/* ---- namespaces ---- */

static int __net_init pcrp_net_open(struct net *net)
{
	struct pcrp_net *pn = pcrp_net_of(net);

	seqlock_init(&pn->lock);
	pn->sizes = alloc_percpu(struct pcrp_sizes);
	return pn->sizes ? 0 : -ENOMEM;
}

static void __net_exit pcrp_net_close(struct net *net)
{
	free_percpu(pcrp_net_of(net)->sizes);
}

static struct pernet_operations pcrp_net_ops = {
	.init	= pcrp_net_open,
	.exit	= pcrp_net_close,
	.id	= &pcrp_net_id,
	.size	= sizeof(struct pcrp_net),
};

/**
 * pcrp_net_init() - register the namespaces' data and the generic netlink family
 *
 * Return: 0 or a negative error.
 */
int __init pcrp_net_init(void)
{
	int err = register_pernet_subsys(&pcrp_net_ops);

	if (err)
		return err;
	err = genl_register_family(&pcrp_genl_family);
	if (err)
		unregister_pernet_subsys(&pcrp_net_ops);
	return err;
}

/**
 * pcrp_net_exit() - undo pcrp_net_init(), when no qdisc is left
 */
void pcrp_net_exit(void)
{
	genl_unregister_family(&pcrp_genl_family);
	unregister_pernet_subsys(&pcrp_net_ops);
}
