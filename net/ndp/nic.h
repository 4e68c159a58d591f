/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: order of a host's flows at a link
 *
 * The interface of nic.c, which explains the queue.
 */
#ifndef _NDP_NIC_H
#define _NDP_NIC_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include "nicq.h"

#define NDP_MBPS_TO_BPS		125000ULL
/* rate of devices without one */
#define NDP_NIC_MBPS		10000U

struct ndp_net;
struct ndp_snd_next;
struct ndp_tx;

/**
 * struct ndp_nic - a link, and sending flows that wait for it
 * @nn: namespace of the lowest device, whose sysctls count; valid unless @dead
 * @link_Mbps: rate of the link; 0: unknown
 * @timer: soft
 * @go: lets a flow send
 * @control_bytes: bytes of CONTROL packets that are not charged yet
 * @lock: protects the members below, and starting @timer
 * @q: core
 * @rate_Mbps: rate of @q
 * @armed_ns: expiry of @timer; U64_MAX: it does not run
 * @dead: the device is gone: no flow waits
 */
struct ndp_nic {
	const struct ndp_net *nn;
	u32 link_Mbps;
	struct hrtimer timer;
	void (*go)(struct ndp_tx *tx);
	atomic_t control_bytes;
	spinlock_t lock;		/* the members below */
	struct ndp_nicq q;
	u32 rate_Mbps;
	u64 armed_ns;
	bool dead;
};

void ndp_nic_init(struct ndp_nic *nic, const struct ndp_net *nn, void (*go)(struct ndp_tx *tx));
bool ndp_nic_take(struct ndp_tx *tx, const struct ndp_snd_next *next, bool joins, u64 now);
void ndp_nic_leave(struct ndp_tx *tx);
u32 ndp_nic_Mbps(const struct ndp_nic *nic);
u32 ndp_nic_of_Mbps(struct ndp_net *nn, int ifindex);
void ndp_nic_control(struct ndp_net *nn, int ifindex, u32 bytes);
void ndp_nic_stop(struct ndp_nic *nic);

#endif /* _NDP_NIC_H */
