/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NDP transport: pull queues of devices
 *
 * The interface of pacer.c, which explains the queues.
 */
#ifndef _NDP_PACER_H
#define _NDP_PACER_H

#include <linux/refcount.h>
#include "nic.h"
#include "pull.h"
#include "rcv.h"

struct ndp_rx;

/**
 * enum ndp_defer - reasons for which an answer is deferred
 * @NDP_DEFER_MORE: further packets arrive; for NDP_DEFER_NS
 * @NDP_DEFER_RIDE: DATA may carry it; for NDP_RIDE_NS
 * @NDP_DEFERS: number of reasons
 */
enum ndp_defer {
	NDP_DEFER_MORE,
	NDP_DEFER_RIDE,
	NDP_DEFERS,
};

/**
 * struct ndp_pacer - pull queue of a device, and of the VLAN, MACVLAN, ... devices above it
 * @refs: devices and flows
 * @timer: soft
 * @say: sends a CONTROL to the sender of a flow
 * @ifindex: index of the lowest device, for people
 * @lock: protects the members below, and starting @timer
 * @q: core
 * @deferred: flows with deferred answers, struct ndp_rx's @deferred_node, by time, each delay
 *	in a list of its own
 * @rate_Mbps: rate of pulls
 * @armed_ns: expiry of @timer; U64_MAX: it does not run
 * @dead: the device is gone
 * @nic: the link, and sending flows that wait for it
 * @rcu: frees it
 */
struct ndp_pacer {
	refcount_t refs;
	struct hrtimer timer;
	void (*say)(struct ndp_rx *rx, u8 flags);
	int ifindex;
	spinlock_t lock;		/* the members below */
	struct ndp_pull q;
	struct list_head deferred[NDP_DEFERS];
	u32 rate_Mbps;
	u64 armed_ns;
	bool dead;
	struct ndp_nic nic;
	struct rcu_head rcu;
};

struct ndp_pacer *ndp_pacer_new(const struct ndp_net *nn, int ifindex,
				void (*say)(struct ndp_rx *rx, u8 flags),
				void (*go)(struct ndp_tx *tx));
struct ndp_pacer *ndp_pacer_find(struct ndp_net *nn, int ifindex);
struct ndp_pacer *ndp_pacer_get(struct ndp_net *nn, int ifindex);
void ndp_pacer_put(struct ndp_pacer *pacer);
void ndp_pacer_stop(struct ndp_pacer *pacer);
void ndp_pacer_link(struct ndp_pacer *pacer, u32 Mbps, u32 mtu);
void ndp_pull_stats_add(struct ndp_pull_stats *sum, const struct ndp_pull_stats *stats);
void ndp_pacer_leave(struct ndp_pacer *pacer, struct ndp_rx *rx, bool ends);
void ndp_pacer_join(struct ndp_pacer *pacer, struct ndp_rx *rx);
bool ndp_pacer_demand(struct ndp_rx *rx, const struct ndp_hdr *h, enum ndp_rcv_verdict v,
		      bool held, u64 now);
bool ndp_pacer_demand_batch(struct ndp_rx *rx, const struct ndp_rcv_pkt *p, bool held);
void ndp_pacer_resume(struct ndp_rx *rx);
void ndp_pacer_defer(struct ndp_rx *rx, enum ndp_defer why, bool again, u64 now);

#endif /* _NDP_PACER_H */
