/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_ndp: its options, and the parameters of the cores that follow from them
 */
#ifndef _CLOSNET_NDPQ_CONFIG_H
#define _CLOSNET_NDPQ_CONFIG_H

#include "ndpq_options.h"
#include "ndpq_pkt.h"
#include "ndpq_queue.h"

struct net_device;

/**
 * struct ndpq_config - configuration of a qdisc
 * @options: as given by netlink
 * @params: parameters of the queues
 * @match: parameters of the classifier
 */
struct ndpq_config {
	struct ndpq_options options;
	struct ndpq_params params;
	struct ndpq_match match;
};

int ndpq_config_parse(struct ndpq_config *cfg, const struct nlattr *opt,
		      struct netlink_ext_ack *extack);
void ndpq_config_derive(struct ndpq_config *cfg, const struct net_device *dev);

#endif /* _CLOSNET_NDPQ_CONFIG_H */
