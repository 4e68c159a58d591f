/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by the qdiscs of a device: see pcrp_port.c
 */
#ifndef _PCRP_PORT_H
#define _PCRP_PORT_H

#include <linux/cache.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include <closnet/port.h>
#include "pcrp_host.h"
#include "pcrp_ingress.h"
#include "pcrp_peer.h"
#include "pcrp_sender.h"

/**
 * struct pcrp_port - state shared by the qdiscs of a device
 * @base: the device and its qdiscs; under RTNL
 * @ingress: receiving half
 * @seed: secret seed of the hashes of addresses and flows
 * @peers: hosts that the qdiscs send to
 * @link: shared by the senders
 * @rtt_lock: protects @rtt; softirqs are off
 * @rtt: base round-trip time
 */
struct pcrp_port {
	struct closnet_port base;
	struct pcrp_ingress *ingress;
	u64 seed;
	struct pcrp_peers peers;
	struct pcrp_tx_link link ____cacheline_aligned_in_smp;	/* written for each flow */
	spinlock_t rtt_lock;	/* protects @rtt */
	struct pcrp_rtt rtt;
};

struct pcrp_port *pcrp_port_create(struct net_device *dev, struct netlink_ext_ack *extack);
void pcrp_port_put(struct pcrp_port *port);
u32 pcrp_port_rtt_ns(struct pcrp_port *port, u64 now);
u32 pcrp_port_rtt_sample(struct pcrp_port *port, u64 rtt_ns, u64 now);

#endif /* _PCRP_PORT_H */
