/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the qdiscs of a network namespace: sizes of finished flows, and thresholds;
 * see pcrp_net.c
 */
#ifndef _PCRP_NET_H
#define _PCRP_NET_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/pcrp.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <net/net_namespace.h>

/**
 * struct pcrp_sizes - histogram of a CPU
 * @classes: finished flows by size class
 * @bytes: their bytes
 */
struct pcrp_sizes {
	u64 classes[PCRP_SIZE_CLASSES];
	u64 bytes;
};

/**
 * struct pcrp_net - data of a network namespace
 * @sizes: histograms of the CPUs
 * @lock: serialises writers of the fields below
 * @updates: number of times that thresholds were set or reset
 * @set: @thresholds is valid
 * @thresholds: thresholds of P0, P1 and P2, bytes
 */
struct pcrp_net {
	struct pcrp_sizes __percpu *sizes;
	seqlock_t lock;		/* serialises writers of the fields below */
	u32 updates;
	bool set;
	u64 thresholds[PCRP_THRESHOLDS];
};

int pcrp_net_init(void);
void pcrp_net_exit(void);

struct pcrp_net *pcrp_net_of(const struct net *net);
bool pcrp_net_changed(const struct pcrp_net *pn, u32 *seen);
bool pcrp_net_thresholds(struct pcrp_net *pn, u64 thresholds[PCRP_THRESHOLDS]);

/**
 * pcrp_net_count() - count a finished flow
 * @pn: data of its namespace
 * @size: its bytes; a flow of 0 bytes does not count
 *
 * Softirqs are off. Inline, since flows of one packet are frequent.
 */
static inline void pcrp_net_count(struct pcrp_net *pn, u64 size)
{
	if (!size)
		return;
	this_cpu_inc(pn->sizes->classes[min_t(u32, fls64(size), PCRP_SIZE_CLASSES - 1)]);
	this_cpu_add(pn->sizes->bytes, size);
}

#endif /* _PCRP_NET_H */
