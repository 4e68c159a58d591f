// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration of sch_roce: the parameters that follow from its options
 *
 * A change is made to a copy of the options, checked as a whole, and then applied under the root
 * lock, so that a wrong option leaves them unchanged.
 */
#include <linux/pkt_sched_roce.h>
#include <linux/time64.h>
#include <closnet/netlink.h>
#include "roce_config.h"

/**
 * roce_config_parse() - take over the options of a message
 * @o: options; undefined after an error
 * @opt: TCA_OPTIONS
 * @fixed_qps: the number of queue pairs cannot change
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
int roce_config_parse(struct roce_options *o, const struct nlattr *opt, bool fixed_qps,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ROCE_MAX + 1];
	u32 qps = o->qps;
	int err;

	err = roce_options_parse(o, tb, opt, extack);
	if (err)
		return err;
	if (fixed_qps && o->qps != qps) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ROCE_QPS],
				    "qps is fixed when the qdisc is created");
		return -EINVAL;
	}
	return 0;
}

/* The values of profile tuned have been measured with TCP only: RDMA gets the paper's. */
static const struct dcqcn_profile *roce_config_profile(const struct roce_options *o)
{
	if (o->profile == TC_ROCE_PROFILE_TUNED)
		return &dcqcn_profiles[DCQCN_PROFILE_PAPER];
	return &dcqcn_profiles[o->profile];
}

/**
 * roce_config_params() - compute DCQCN's parameters
 * @o: options
 * @p: result
 */
void roce_config_params(const struct roce_options *o, struct dcqcn_params *p)
{
	const struct dcqcn_profile *profile = roce_config_profile(o);
	u32 cnp_us = o->cnp_interval_us ?: profile->cnp_us;
	u32 monitor_us = o->monitor_us ?: profile->monitor_us;

	BUILD_BUG_ON((int)TC_ROCE_PROFILE_MAX + 1 != DCQCN_PROFILES);
	BUILD_BUG_ON((int)TC_ROCE_PROFILE_NIC != DCQCN_PROFILE_NIC);
	*p = (struct dcqcn_params) {
		.timer_ns	= (o->rpg_time_reset_us ?: profile->time_reset_us) * NSEC_PER_USEC,
		.byte_reset	= o->rpg_byte_reset ?: profile->byte_reset,
		.threshold	= o->rpg_threshold ?: profile->threshold,
		.g_inverse	= o->dce_tcp_g ?: profile->g_inverse,
		.alpha_ns	= (o->dce_tcp_rtt_us ?: profile->alpha_us) * NSEC_PER_USEC,
		.initial_alpha	= DIV_ROUND_CLOSEST_ULL(o->initial_alpha_value * 1000ULL, U32_MAX),
		.cnp_interval_ns = cnp_us * NSEC_PER_USEC,
		.monitor_ns	= monitor_us * NSEC_PER_USEC,
		.alpha_first	= o->order == TC_ROCE_ORDER_ALPHA_FIRST,
	};
	dcqcn_params_finish(p);
}

/**
 * roce_config_limits() - compute the limits of the rates
 * @o: options
 * @line_Bps: line rate, bytes per second
 * @l: result
 */
void roce_config_limits(const struct roce_options *o, u64 line_Bps, struct dcqcn_limits *l)
{
	const struct dcqcn_rates rates = {
		.ai_Bps = o->rpg_ai_rate_Bps,
		.hai_Bps = o->rpg_hai_rate_Bps,
		.min_Bps = o->rpg_min_rate_Bps,
		.ai_share = roce_config_profile(o)->ai_share,
	};

	line_Bps = min_t(u64, line_Bps, ROCE_RATE_MAX);
	dcqcn_limits_set(l, &rates, line_Bps, o->rpg_max_rate_Bps ?: line_Bps);
	l->hai_Bps = min_t(u64, l->hai_Bps, ROCE_RATE_MAX);
}

/**
 * roce_config_rx() - compute the parameters of the ingress half
 * @o: options
 * @rx: result
 */
void roce_config_rx(const struct roce_options *o, struct roce_rx_params *rx)
{
	*rx = (struct roce_rx_params) {
		.idle_ns = o->idle_us * (u64)NSEC_PER_USEC,
		.np = o->np,
		.dscp = o->np_cnp_dscp,
		.prio = o->np_cnp_prio,
		.consume = o->cnp == TC_ROCE_CNP_CONSUME,
		.clear = o->ce == TC_ROCE_CE_CLEAR,
	};
	roce_config_params(o, &rx->dcqcn);
}

/**
 * roce_config_share() - copy the options that the qdiscs of a device share
 * @to: options of another qdisc
 * @from: options
 */
void roce_config_share(struct roce_options *to, const struct roce_options *from)
{
	to->np = from->np;
	to->cnp_interval_us = from->cnp_interval_us;
	to->np_cnp_dscp = from->np_cnp_dscp;
	to->np_cnp_prio = from->np_cnp_prio;
	to->cnp = from->cnp;
	to->ce = from->ce;
	to->idle_us = from->idle_us;
}
