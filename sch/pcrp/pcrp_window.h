/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The waiting window: received packets wait for more urgent ones; see pcrp_window.c
 */
#ifndef _PCRP_WINDOW_H
#define _PCRP_WINDOW_H

#include <linux/percpu.h>
#include <linux/pkt_sched_pcrp.h>
#include <linux/skbuff.h>
#include "pcrp_counters.h"
#include "pcrp_limits.h"
#include "pcrp_parse.h"

#define PCRP_DSCPS		64

struct pcrp_window_cpu;

/**
 * struct pcrp_window - window of a device
 * @cpus: windows of the CPUs
 * @process: called for each packet that leaves the window for the stack
 * @arg: its argument
 * @ns: longest wait; 0: packets do not wait
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

#endif /* _PCRP_WINDOW_H */
