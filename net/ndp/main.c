// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: the module and its network namespaces
 *
 * NDP is a transport of messages for datacenters. A sender pushes its first window at line rate;
 * from then on the receiver pulls each packet. Documentation/concepts/ndp_protocol.rst specifies
 * the protocol.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 * "Re-architecting datacenter networks and stacks for low latency and high performance",
 * SIGCOMM 2017.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include "ndp.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

unsigned int ndp_net_id;

static void ndp_gc(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work), struct ndp_net, gc);
	bool tx = ndp_tx_gc(nn), rx = ndp_rx_gc(nn);

	if (tx || rx)
		ndp_gc_start(nn);
}

static const struct {
	int (*init)(struct ndp_net *nn);
	void (*exit)(struct ndp_net *nn);
} ndp_steps[] = {
	{ ndp_sysctl_init, ndp_sysctl_exit },
	{ ndp_stats_init, ndp_stats_exit },
	{ ndp_peers_init, ndp_peers_exit },
	{ ndp_tx_init, ndp_tx_exit },
	{ ndp_rx_init, ndp_rx_exit },
};

static void ndp_net_undo(struct ndp_net *nn, int steps)
{
	while (steps--)
		ndp_steps[steps].exit(nn);
}

static int __net_init ndp_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_net(net);
	int i, err = 0;

	nn->net = net;
	spin_lock_init(&nn->totals_lock);
	spin_lock_init(&nn->ports_lock);
	hash_init(nn->ports);
	ndp_devs_init(nn);
	get_random_bytes(&nn->token_key, sizeof(nn->token_key));
	INIT_DELAYED_WORK(&nn->gc, ndp_gc);
	mutex_init(&nn->udp_lock);
	for (i = 0; i < (int)ARRAY_SIZE(ndp_steps) && !err; i++)
		err = ndp_steps[i].init(nn);
	if (err)
		i--;
	else
		err = ndp_input_init(nn);
	if (err)
		ndp_net_undo(nn, i);
	return err;
}

/* The kernel waits for an RCU grace period afterwards: then no packet is being processed. */
static void __net_exit ndp_net_pre_exit(struct net *net)
{
	ndp_input_exit(ndp_net(net));
}

/* Sockets, and so flows, keep their namespace: all have ended, and the devices are gone. */
static void __net_exit ndp_net_exit(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		ndp_devs_exit(ndp_net(net));
		cancel_delayed_work_sync(&ndp_net(net)->gc);
	}
	/* flows put their peers by call_rcu() */
	rcu_barrier();
	list_for_each_entry(net, nets, exit_list) {
		ndp_auth_exit(ndp_net(net));
		ndp_net_undo(ndp_net(net), ARRAY_SIZE(ndp_steps));
	}
}

static struct pernet_operations ndp_net_ops = {
	.init = ndp_net_init,
	.pre_exit = ndp_net_pre_exit,
	.exit_batch = ndp_net_exit,
	.id = &ndp_net_id,
	.size = sizeof(struct ndp_net),
};

static int __init ndp_init(void)
{
	int err;

	err = register_pernet_subsys(&ndp_net_ops);
	if (err)
		return err;
	err = ndp_dev_notify();
	if (err)
		goto pernet;
	err = ndp_nl_init();
	if (err)
		goto notifier;
	err = ndp_socks_init();
	if (err)
		goto nl;
	return 0;
nl:
	ndp_nl_exit();
notifier:
	ndp_dev_unnotify();
pernet:
	unregister_pernet_subsys(&ndp_net_ops);
	rcu_barrier();
	return err;
}

static void __exit ndp_exit(void)
{
	ndp_socks_exit();
	ndp_nl_exit();
	ndp_dev_unnotify();
	unregister_pernet_subsys(&ndp_net_ops);
	/* callbacks of call_rcu() */
	rcu_barrier();
}

module_init(ndp_init);
module_exit(ndp_exit);

MODULE_DESCRIPTION("NDP, a receiver-driven transport of messages for datacenters");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 259, 4);	/* IPPROTO_NDP, SOCK_RDM */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 259, 4);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 259, 5);	/* SOCK_SEQPACKET */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 259, 5);
