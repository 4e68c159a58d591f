// SPDX-License-Identifier: GPL-2.0-only
/*
 * State shared by the qdiscs of a device
 *
 * Below mq, each TX queue has a qdisc with its own lock, flows and order. Received packets
 * belong to no TX queue, and a peer knows the host and not its queues. So the qdiscs of a
 * device are one receiver, and share what they learn of their peers:
 *
 *	qdisc of TX queue 1: flows, sender, GRANTs --+      +-- ingress: hook, receiver, window
 *	qdisc of TX queue 2: flows, sender, GRANTs --+ port +-- peers: do they answer?
 *	...                                          |      +-- base round-trip time
 *	qdisc of TX queue n: flows, sender, GRANTs --+      +-- link: flow numbers, PROBE budget
 *
 * No lock of the port is taken for each packet that is sent: a set of peers is locked for
 * control packets and when a flow begins, but for a 5-tuple only every 10 ms or when a peer has
 * changed; the round-trip time for answers and every 10 ms.
 * These locks nest inside the root lock of any qdisc.
 */

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "pcrp_port.h"

/**
 * pcrp_port_create() - create the port of a device, without a qdisc, in init()
 * @dev: the device
 * @extack: error report
 *
 * When a qdisc replaces another one that has a port of its own, both exist for a moment.
 * The newer one gets the control packets then.
 *
 * Return: the port, whose receiving half needs pcrp_ingress_set(); or a negative error.
 */
struct pcrp_port *pcrp_port_create(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct pcrp_port *port = kvzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	struct pcrp_ingress *in;

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->seed = get_random_u64();
	pcrp_peers_init(&port->peers);
	atomic64_set(&port->link.flow_no, get_random_u32());
	spin_lock_init(&port->rtt_lock);
	in = pcrp_ingress_create(dev, extack);
	if (IS_ERR(in)) {
		kvfree(port);
		return ERR_CAST(in);
	}
	port->ingress = in;
	closnet_port_add(&port->base, dev);
	return port;
}

/**
 * pcrp_port_put() - undo pcrp_port_create() if the port has no qdisc
 * @port: the port
 */
void pcrp_port_put(struct pcrp_port *port)
{
	if (!closnet_port_del(&port->base))
		return;
	pcrp_ingress_destroy(port->ingress);
	kvfree(port);
}

/**
 * pcrp_port_rtt_ns() - get the base round-trip time
 * @port: the port
 * @now: the time, ns
 *
 * Return: as pcrp_rtt_ns().
 */
u32 pcrp_port_rtt_ns(struct pcrp_port *port, u64 now)
{
	u32 ns;

	spin_lock_bh(&port->rtt_lock);
	ns = pcrp_rtt_ns(&port->rtt, now);
	spin_unlock_bh(&port->rtt_lock);
	return ns;
}

/**
 * pcrp_port_rtt_sample() - add a sample of the round-trip time
 * @port: the port
 * @rtt_ns: the sample; not 0
 * @now: the time, ns
 *
 * Return: as pcrp_rtt_ns().
 */
u32 pcrp_port_rtt_sample(struct pcrp_port *port, u64 rtt_ns, u64 now)
{
	u32 ns;

	spin_lock_bh(&port->rtt_lock);
	pcrp_rtt_sample(&port->rtt, rtt_ns, now);
	ns = pcrp_rtt_ns(&port->rtt, now);
	spin_unlock_bh(&port->rtt_lock);
	return ns;
}
