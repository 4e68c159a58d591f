/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_roce: the parameters that follow from its options
 */
#ifndef _CLOSNET_ROCE_CONFIG_H
#define _CLOSNET_ROCE_CONFIG_H

#include <closnet/dcqcn.h>
#include "roce_options.h"
#include "roce_port.h"

int roce_config_parse(struct roce_options *o, const struct nlattr *opt, bool fixed_qps,
		      struct netlink_ext_ack *extack);
void roce_config_params(const struct roce_options *o, struct dcqcn_params *p);
void roce_config_limits(const struct roce_options *o, u64 line_Bps, struct dcqcn_limits *l);
void roce_config_rx(const struct roce_options *o, struct roce_rx_params *rx);
void roce_config_share(struct roce_options *to, const struct roce_options *from);

#endif /* _CLOSNET_ROCE_CONFIG_H */
