/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the ports of act_lb from the kernel
 */
#ifndef _CLOSNET_LB_NETLINK_H
#define _CLOSNET_LB_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/* Ports of a network namespace; act_lb has no more */
#define LB_PORTS_MAX	128

/**
 * struct lb_port - a port, and what all actions have sent by it
 * @ifindex: its device
 * @packets: packets
 * @bytes: bytes of these
 * @quality: 0, the worst, to 7; the lowest if actions grade differently
 * @utilization: in units of 1/UINT32_MAX
 * @drain_ns: time to drain of its queue
 * @rate_Bps: its rate in bytes per second
 */
struct lb_port {
	uint32_t ifindex;
	uint64_t packets;
	uint64_t bytes;
	uint32_t quality;
	uint32_t utilization;
	uint64_t drain_ns;
	uint64_t rate_Bps;
};

/**
 * struct lb_ports - ports of a network namespace
 * @actions: number of lb actions
 * @count: number of ports
 * @list: the ports, in the order of the first action
 */
struct lb_ports {
	size_t actions;
	size_t count;
	struct lb_port list[LB_PORTS_MAX];
};

/*
 * Read the ports of all lb actions. Return: 0 or a negative errno. Without the module, there are
 * no actions.
 */
int lb_read_ports(struct lb_ports *ports);

#endif /* _CLOSNET_LB_NETLINK_H */
