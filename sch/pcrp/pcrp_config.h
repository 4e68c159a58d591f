/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_pcrp: its options, thresholds and map of DSCPs
 */
#ifndef _CLOSNET_PCRP_CONFIG_H
#define _CLOSNET_PCRP_CONFIG_H

#include <linux/pkt_sched_pcrp.h>
#include "pcrp_limits.h"
#include "pcrp_options.h"

/**
 * struct pcrp_config - configuration of a qdisc
 * @options: options that are single values
 * @spec_bytes: flow sizes up to which a first chain has P0, P1 and P2; all 0 to use the network
 *	namespace's thresholds
 * @map: DSCP of P0 to P7, or PCRP_MAP_LEAVE
 */
struct pcrp_config {
	struct pcrp_options options;
	u64 spec_bytes[TC_PCRP_SPEC_PRIOS - 1];
	u8 map[TC_PCRP_PRIOS];
};

void pcrp_config_init(struct pcrp_config *cfg);
void pcrp_config_share(struct pcrp_config *to, const struct pcrp_config *from);
int pcrp_config_parse(struct pcrp_config *cfg, const struct nlattr *opt, bool fixed_flows,
		      struct netlink_ext_ack *extack);
int pcrp_config_dump(struct sk_buff *skb, const struct pcrp_config *cfg);
int pcrp_config_dump_spec(struct sk_buff *skb, int type, const u64 *bytes);

#endif /* _CLOSNET_PCRP_CONFIG_H */
