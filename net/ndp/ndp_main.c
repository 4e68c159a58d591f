// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: a module, and its network namespaces
 *
 * NDP is a transport of messages for datacenters: a sender pushes its first window at
 * line rate, and from then on the receiver asks for each packet. The protocol, with
 * what it owes to whom, is in Documentation/concepts/ndp_protocol.rst.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include "ndp.h"
#define CREATE_TRACE_POINTS
#include "ndp_trace.h"

/* How often flows are looked after that nothing else wakes */
#define NDP_GC_INTERVAL	HZ

unsigned int ndp_net_id;

static void ndp_gc(struct work_struct *work)
{
	struct ndp_net *nn = container_of(to_delayed_work(work), struct ndp_net, gc);
	bool tx = ndp_tx_gc(nn), rx = ndp_rx_gc(nn);

	if (tx || rx)
		ndp_gc_start(nn);
}

/**
 * ndp_gc_start() - there are flows
 * @nn: namespace
 *
 * ndp_tx_gc() and ndp_rx_gc() are called soon, and from then on as long as one of them says
 * that there is more to do. In any context.
 */
void ndp_gc_start(struct ndp_net *nn)
{
	schedule_delayed_work(&nn->gc, NDP_GC_INTERVAL);
}

struct ndp_step {
	int (*init)(struct ndp_net *nn);
	void (*exit)(struct ndp_net *nn);
};

static const struct ndp_step ndp_steps[] = {
	{ ndp_sysctl_init, ndp_sysctl_exit },
	{ ndp_stats_init, ndp_stats_exit },
	{ ndp_peers_init, ndp_peers_exit },
	{ ndp_tx_init, ndp_tx_exit },
	{ ndp_line_init, ndp_line_exit },
	{ ndp_rx_init, ndp_rx_exit },
};

static void ndp_net_undo(struct ndp_net *nn, int steps)
{
	while (steps--)
		ndp_steps[steps].exit(nn);
}

static int __net_init ndp_net_hook(struct ndp_net *nn)
{
	int err = ndp_guard_init(nn);

	if (err)
		return err;
	err = ndp_in_init(nn);
	if (err)
		ndp_guard_exit(nn);
	return err;
}

static int __net_init ndp_net_init(struct net *net)
{
	struct ndp_net *nn = ndp_net(net);
	int i, err = 0;

	nn->net = net;
	spin_lock_init(&nn->ports_lock);
	hash_init(nn->ports);
	hash_init(nn->hosts);
	get_random_bytes(&nn->cookie_key, sizeof(nn->cookie_key));
	INIT_DELAYED_WORK(&nn->gc, ndp_gc);
	mutex_init(&nn->udp_lock);
	for (i = 0; i < (int)ARRAY_SIZE(ndp_steps) && !err; i++)
		err = ndp_steps[i].init(nn);
	if (err)
		i--;
	else
		err = ndp_net_hook(nn);
	if (err)
		ndp_net_undo(nn, i);
	return err;
}

/* The kernel waits for RCU after that: then no packet is under way. */
static void __net_exit ndp_net_pre_exit(struct net *net)
{
	ndp_in_exit(ndp_net(net));
	ndp_guard_exit(ndp_net(net));
	ndp_udp_exit(ndp_net(net));
}

/* Sockets, and so flows, keep their namespace: there are none any more, nor devices. */
static void __net_exit ndp_net_exit(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		ndp_host_exit(ndp_net(net));
		cancel_delayed_work_sync(&ndp_net(net)->gc);
	}
	/* Flows that went put their peer by call_rcu(). */
	rcu_barrier();
	list_for_each_entry(net, nets, exit_list)
		ndp_net_undo(ndp_net(net), ARRAY_SIZE(ndp_steps));
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

	err = ndp_owed_init();
	if (err)
		return err;
	err = register_pernet_subsys(&ndp_net_ops);
	if (err)
		goto owed;
	err = register_netdevice_notifier(&ndp_host_notifier);
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
	unregister_netdevice_notifier(&ndp_host_notifier);
pernet:
	unregister_pernet_subsys(&ndp_net_ops);
	rcu_barrier();
owed:
	ndp_owed_exit();
	return err;
}

static void __exit ndp_exit(void)
{
	ndp_socks_exit();
	ndp_nl_exit();
	unregister_netdevice_notifier(&ndp_host_notifier);
	unregister_pernet_subsys(&ndp_net_ops);
	/* what they have given to call_rcu() */
	rcu_barrier();
	ndp_owed_exit();
}

module_init(ndp_init);
module_exit(ndp_exit);

MODULE_DESCRIPTION("NDP, a receiver-driven transport of messages for datacenters");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 261, 4);	/* IPPROTO_NDP, SOCK_RDM */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 261, 4);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 261, 5);	/* SOCK_SEQPACKET */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 261, 5);
