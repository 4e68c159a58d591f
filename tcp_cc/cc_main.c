// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet_cc: common part of closnet's congestion controls for TCP
 *
 * This file has the module, the directory /proc/net/closnet, and the registration
 * of probes at tracepoint tcp_probe.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <net/net_namespace.h>
#include "closnet_cc.h"

/* ---- tracepoint ---- */

static void closnet_cc_match_tracepoint(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "tcp_probe"))
		*(struct tracepoint **)found = tp;
}

/* The kernel does not export the tracepoint, but lists it. */
static struct tracepoint *closnet_cc_tracepoint(void)
{
	struct tracepoint *tp = NULL;

	for_each_kernel_tracepoint(closnet_cc_match_tracepoint, &tp);
	return tp;
}

/**
 * closnet_cc_probe_register() - call a probe at tracepoint tcp_probe
 * @probe: function accepted by check_trace_callback_type_tcp_probe()
 *
 * The probe is called for each packet to an established connection of any congestion
 * control, before the stack processes the packet, with the socket locked. No other
 * hook has both the socket and the packet.
 *
 * Return: 0 or a negative error.
 */
int closnet_cc_probe_register(void *probe)
{
	struct tracepoint *tp = closnet_cc_tracepoint();

	if (!tp) {
		pr_err("this kernel has no tracepoint tcp_probe\n");
		return -ENOENT;
	}
	return tracepoint_probe_register(tp, probe, NULL);
}
EXPORT_SYMBOL_GPL(closnet_cc_probe_register);

/**
 * closnet_cc_probe_unregister() - remove a registered probe and wait for its end
 * @probe: the probe
 */
void closnet_cc_probe_unregister(void *probe)
{
	tracepoint_probe_unregister(closnet_cc_tracepoint(), probe, NULL);
	tracepoint_synchronize_unregister();
}
EXPORT_SYMBOL_GPL(closnet_cc_probe_unregister);

/* ---- module ---- */

static int __net_init closnet_cc_proc_init(struct net *net)
{
	if (IS_ENABLED(CONFIG_PROC_FS) && !proc_net_mkdir(net, "closnet", net->proc_net))
		return -ENOMEM;
	return 0;
}

static void __net_exit closnet_cc_proc_exit(struct net *net)
{
	remove_proc_subtree("closnet", net->proc_net);
}

static struct pernet_operations closnet_cc_proc_ops = {
	.init = closnet_cc_proc_init,
	.exit = closnet_cc_proc_exit,
};

static int __init closnet_cc_module_init(void)
{
	int err;

	err = register_pernet_subsys(&closnet_cc_proc_ops);
	if (err)
		return err;
	err = closnet_cc_links_register();
	if (err)
		unregister_pernet_subsys(&closnet_cc_proc_ops);
	return err;
}

static void __exit closnet_cc_module_exit(void)
{
	closnet_cc_links_unregister();
	unregister_pernet_subsys(&closnet_cc_proc_ops);
}

module_init(closnet_cc_module_init);
module_exit(closnet_cc_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Common part of closnet's congestion controls: pacing, sysctls, link rates");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
