// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends one pause frame by a closwire port when it is loaded, as a module that has no dependency
 * on closwire does. Loading it returns the error of closwire_pfc_xmit().
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <closnet/pfc.h>

static char *dev = "";
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "port, in the network namespace of the loading process");

static int prio;
module_param(prio, int, 0444);
MODULE_PARM_DESC(prio, "priority");

static ushort quanta;
module_param(quanta, ushort, 0444);
MODULE_PARM_DESC(quanta, "duration in units of 512 bit times");

static uint peer_Mbps;
module_param(peer_Mbps, uint, 0444);
MODULE_PARM_DESC(peer_Mbps, "output: rate at which the peer counts pauses");

static int __init pfc_sender_init(void)
{
	typeof(closwire_pfc_peer_Mbps) *rate = symbol_get(closwire_pfc_peer_Mbps);
	typeof(closwire_pfc_xmit) *xmit = symbol_get(closwire_pfc_xmit);
	u16 all[CLOSNET_PFC_PRIOS] = {};
	struct net_device *port;
	int err = -ENODEV;

	if (!xmit || !rate)
		return -ENOENT;
	port = dev_get_by_name(current->nsproxy->net_ns, dev);
	if (port) {
		all[prio & (CLOSNET_PFC_PRIOS - 1)] = quanta;
		err = xmit(port, BIT(prio), all);
		peer_Mbps = rate(port);
		dev_put(port);
	}
	symbol_put(closwire_pfc_peer_Mbps);
	symbol_put(closwire_pfc_xmit);
	return err;
}
module_init(pfc_sender_init);

static void __exit pfc_sender_exit(void)
{
}
module_exit(pfc_sender_exit);

MODULE_DESCRIPTION("Sends a pause frame, to test closwire");
MODULE_LICENSE("GPL");
