/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The qdiscs of a device (below mq, one for each TX queue) share a port
 *
 * A device has two ports while a qdisc replaces another one and does not share its port.
 */
#ifndef _CLOSNET_PORT_H
#define _CLOSNET_PORT_H

#include <linux/list.h>
#include <linux/types.h>

struct Qdisc;
struct net;
struct net_device;

/**
 * struct closnet_port - shared by the qdiscs of a device; under RTNL
 * @dev: the device
 * @node: in the table of ports
 * @qdiscs: the qdiscs
 * @newest: the qdisc that has set options of @qdiscs in init(), until another qdisc is added or any
 *	is changed; or NULL. If it has sent no packet, the kernel may have refused it: destroy()
 *	restores the options
 */
struct closnet_port {
	struct net_device *dev;
	struct hlist_node node;
	struct list_head qdiscs;
	const struct Qdisc *newest;
};

/**
 * struct closnet_port_user - a qdisc of a port
 * @sch: the qdisc
 * @node: in struct closnet_port.qdiscs
 */
struct closnet_port_user {
	struct Qdisc *sch;
	struct list_head node;
};

void closnet_port_add(struct closnet_port *port, struct net_device *dev);
bool closnet_port_del(struct closnet_port *port);
struct Qdisc *closnet_port_sibling(const struct Qdisc *sch);
struct closnet_port *closnet_port_at(const struct net *net, u32 *bucket, u32 *n);
int closnet_ports_init(void (*set_link)(struct Qdisc *sch, u64 link_Bps));
void closnet_ports_exit(void);

#endif /* _CLOSNET_PORT_H */
