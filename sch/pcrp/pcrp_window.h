/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The waiting window: packets wait a little in front of the stack, so that the
 * more urgent ones are processed first; see pcrp_window.c
 */
#ifndef _CLOSNET_PCRP_WINDOW_H
#define _CLOSNET_PCRP_WINDOW_H

#include <linux/percpu.h>
#include <linux/pkt_sched_pcrp.h>
#include <linux/skbuff.h>
#include "pcrp_flow.h"
#include "pcrp_limits.h"
#include "pcrp_stats.h"

#define PCRP_DSCPS		64

struct pcrp_window_cpu;

/**
 * struct pcrp_window - a device's
 * @cpus: queues and timer of each CPU
 * @process: to be called for each packet before the stack gets it
 * @arg: its argument
 * @ns: how long the first packet waits at most; 0: no packet waits
 * @prio: P0..P7 of each DSCP
 */
struct pcrp_window {
	struct pcrp_window_cpu __percpu *cpus;
	void (*process)(void *arg, struct sk_buff *skb);
	void *arg;
	u64 ns;
	u8 prio[PCRP_DSCPS];
};

int pcrp_window_init(struct pcrp_window *w, void (*process)(void *arg, struct sk_buff *skb),
		     void *arg);
void pcrp_window_free(struct pcrp_window *w);
void pcrp_window_set(struct pcrp_window *w, u32 us, const u8 map[TC_PCRP_PRIOS]);
bool pcrp_window_take(struct pcrp_window *w, struct sk_buff *skb, const struct pcrp_pkt *pkt);
void pcrp_window_stats(const struct pcrp_window *w, struct pcrp_stats *to);

#endif /* _CLOSNET_PCRP_WINDOW_H */
