/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by the qdiscs of a device: see pcrp_port.c
 */
#ifndef _PCRP_PORT_H
#define _PCRP_PORT_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include "pcrp_host.h"
#include "pcrp_ingress.h"
#include "pcrp_peer.h"
#include "pcrp_sender.h"

/**
 * struct pcrp_port - state shared by the qdiscs of a device
 * @dev: the device
 * @node: in the hash table of ports; under RTNL
 * @qdiscs: the qdiscs; under RTNL
 * @newest: the qdisc that has set options of the others in init(), if since then none was added or
 *	changed; or NULL. If it has sent nothing, the kernel may have refused it: destroy() restores
 *	them. Under RTNL
 * @ingress: receiving half
 * @seed: secret seed of the hashes of addresses and flows
 * @peers: hosts that the qdiscs send to
 * @link: shared by the senders
 * @rtt_lock: protects @rtt; softirqs are off
 * @rtt: base round-trip time
 */
struct pcrp_port {
	struct net_device *dev;
	struct hlist_node node;
	struct list_head qdiscs;
	const struct pcrp_sched_data *newest;
	struct pcrp_ingress *ingress;
	u64 seed;
	struct pcrp_peers peers;
	struct pcrp_tx_link link ____cacheline_aligned_in_smp;	/* written for each flow */
	spinlock_t rtt_lock;	/* protects @rtt */
	struct pcrp_rtt rtt;
};

struct pcrp_port *pcrp_port_create(struct net_device *dev, struct netlink_ext_ack *extack);
struct pcrp_port *pcrp_port_next(const struct net_device *dev, struct pcrp_port *port);
void pcrp_port_put(struct pcrp_port *port);
u32 pcrp_port_rtt_ns(struct pcrp_port *port, u64 now);
u32 pcrp_port_rtt_sample(struct pcrp_port *port, u64 rtt_ns, u64 now);

#endif /* _PCRP_PORT_H */
