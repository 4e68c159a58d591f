/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the qdiscs of a network namespace: sizes of finished flows, and thresholds;
 * see pcrp_net.c
 */
#ifndef _PCRP_NET_H
#define _PCRP_NET_H

#include <linux/pcrp.h>
#include <net/net_namespace.h>

struct pcrp_net;

int pcrp_net_init(void);
void pcrp_net_exit(void);

struct pcrp_net *pcrp_net_of(const struct net *net);
void pcrp_net_count(struct pcrp_net *pn, u64 size);
bool pcrp_net_changed(const struct pcrp_net *pn, u32 *seen);
bool pcrp_net_thresholds(struct pcrp_net *pn, u64 thresholds[PCRP_THRESHOLDS]);

#endif /* _PCRP_NET_H */
