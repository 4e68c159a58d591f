// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_dcqcn: sysctls net.ipv4.tcp_dcqcn.NAME and counters in
 * /proc/net/closnet/dcqcn, of each network namespace
 *
 * The sysctls have the names of the same parameters in NICs. For most of them the
 * default 0 stands for the value of the profile or for one derived from the link
 * rate.
 */
#include <linux/err.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/net_namespace.h>
#include "dcqcn_tcp.h"

static const char * const dcqcn_profile_names[DCQCN_PROFILES] = {
	[DCQCN_PROFILE_PAPER] = "paper",
	[DCQCN_PROFILE_NIC] = "nic",
	[DCQCN_PROFILE_TUNED] = "tuned",
};

static const char * const dcqcn_orders[] = { "cut_first", "alpha_first" };

enum dcqcn_option {
	DCQCN_O_PROFILE,
	DCQCN_O_TIME_RESET,
	DCQCN_O_BYTE_RESET,
	DCQCN_O_THRESHOLD,
	DCQCN_O_AI_RATE,
	DCQCN_O_HAI_RATE,
	DCQCN_O_MIN_RATE,
	DCQCN_O_MAX_RATE,
	DCQCN_O_G,
	DCQCN_O_RTT,
	DCQCN_O_INITIAL_ALPHA,
	DCQCN_O_CNP_TIME,
	DCQCN_O_MONITOR,
	DCQCN_O_ORDER,
	DCQCN_O_SEG_KB,
	DCQCN_O_CAP,
	DCQCN_O_LINK_RATE,
	DCQCN_OPTIONS
};

#define DCQCN_SEG_KB_MAX	64

static const struct closnet_cc_option dcqcn_options[DCQCN_OPTIONS] = {
	[DCQCN_O_PROFILE] = { "profile", .value = DCQCN_PROFILE_PAPER, .max = DCQCN_PROFILES - 1,
			      .words = dcqcn_profile_names },
	[DCQCN_O_TIME_RESET] = { "rpg_time_reset", .max = 1000000, .unit = " us" },
	[DCQCN_O_BYTE_RESET] = { "rpg_byte_reset", .max = 1000000000, .unit = " bytes" },
	[DCQCN_O_THRESHOLD] = { "rpg_threshold", .max = DCQCN_STAGE_MAX - 1,
				.unit = " increases" },
	[DCQCN_O_AI_RATE] = { "rpg_ai_rate", .max = 1000000, .unit = " Mbit/s" },
	/* 0: ten times R_AI */
	[DCQCN_O_HAI_RATE] = { "rpg_hai_rate", .max = 1000000, .unit = " Mbit/s" },
	/* 0: R_AI */
	[DCQCN_O_MIN_RATE] = { "rpg_min_rate", .max = 1000000, .unit = " Mbit/s" },
	/* 0: payload rate of the link */
	[DCQCN_O_MAX_RATE] = { "rpg_max_rate", .max = 1000000, .unit = " Mbit/s" },
	[DCQCN_O_G] = { "dce_tcp_g", .max = 65536 },
	[DCQCN_O_RTT] = { "dce_tcp_rtt", .max = 1000000, .unit = " us" },
	/* section 5: with 1, the first CNP halves the rate */
	[DCQCN_O_INITIAL_ALPHA] = { "initial_alpha_value", .value = 1000, .max = 1000,
				    .fraction = true },
	[DCQCN_O_CNP_TIME] = { "np_min_time_between_cnps", .max = 1000000, .unit = " us" },
	[DCQCN_O_MONITOR] = { "rate_reduce_monitor_period", .max = 1000000, .unit = " us" },
	/* at a CNP: order of the paper's text, or of its authors' code */
	[DCQCN_O_ORDER] = { "order", .max = ARRAY_SIZE(dcqcn_orders) - 1, .words = dcqcn_orders },
	/*
	 * NICs pace packets. A burst causes one or two CNPs, whatever its length:
	 * with long bursts, the flows of an incast get too few CNPs. 0: two packets, or
	 * with a profile's burst_us up to the longest burst.
	 */
	[DCQCN_O_SEG_KB] = { "seg_kb", .max = DCQCN_SEG_KB_MAX, .unit = " KB" },
	/* 0: the profile's window_us. The paper's longest queue without pause takes 40 us. */
	[DCQCN_O_CAP] = { "cap", .max = 1048576, .unit = " KB" },
	[DCQCN_O_LINK_RATE] = CLOSNET_CC_OPTION_LINK_RATE,
};

static struct closnet_cc_config *dcqcn_new_config(const u32 *values)
{
	const struct dcqcn_profile *profile = &dcqcn_profiles[values[DCQCN_O_PROFILE]];
	struct dcqcn_config *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	u32 cnp_us = values[DCQCN_O_CNP_TIME] ?: profile->cnp_us;
	u32 monitor_us = values[DCQCN_O_MONITOR] ?: profile->monitor_us;

	BUILD_BUG_ON(offsetof(struct dcqcn_config, cc));
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->params = (struct dcqcn_params) {
		.timer_ns	= (values[DCQCN_O_TIME_RESET] ?: profile->time_reset_us) *
				  NSEC_PER_USEC,
		.byte_reset	= values[DCQCN_O_BYTE_RESET] ?: profile->byte_reset,
		.threshold	= values[DCQCN_O_THRESHOLD] ?: profile->threshold,
		.g_inverse	= values[DCQCN_O_G] ?: profile->g_inverse,
		.alpha_ns	= (values[DCQCN_O_RTT] ?: profile->alpha_us) * NSEC_PER_USEC,
		.initial_alpha	= values[DCQCN_O_INITIAL_ALPHA],
		.cnp_interval_ns = cnp_us * NSEC_PER_USEC,
		.monitor_ns	= monitor_us * NSEC_PER_USEC,
		.alpha_first	= values[DCQCN_O_ORDER],
		.by_rate	= profile->by_rate,
	};
	dcqcn_params_finish(&c->params);
	c->rates = (struct dcqcn_rates) {
		.ai_Bps		= values[DCQCN_O_AI_RATE] * CLOSNET_CC_MBPS,
		.hai_Bps	= values[DCQCN_O_HAI_RATE] * CLOSNET_CC_MBPS,
		.min_Bps	= values[DCQCN_O_MIN_RATE] * CLOSNET_CC_MBPS,
		.ai_share	= profile->ai_share,
	};
	c->cc.max_Mbps = values[DCQCN_O_MAX_RATE];
	c->burst_ns = profile->burst_us * NSEC_PER_USEC;
	c->cc.seg_bytes = (values[DCQCN_O_SEG_KB] ?: c->burst_ns ? DCQCN_SEG_KB_MAX : 0) * SZ_1K;
	c->cc.cap_bytes = values[DCQCN_O_CAP] * SZ_1K;
	c->cc.cap_ns = profile->window_us * NSEC_PER_USEC;
	return &c->cc;
}

/* net_generic() index of struct closnet_cc_net */
unsigned int dcqcn_net_id __read_mostly;

static const struct closnet_cc_kind dcqcn_kind = {
	.path		= "net/ipv4/tcp_dcqcn",
	.options	= dcqcn_options,
	.count		= DCQCN_OPTIONS,
	.link_rate	= DCQCN_O_LINK_RATE,
	.net_id		= &dcqcn_net_id,
	.new_config	= dcqcn_new_config,
};

/* ---- counters ---- */

static const char * const dcqcn_counter_names[] = {
	[DCQCN_N_CAUSE(DCQCN_START)]	= "connections",
	[DCQCN_N_CAUSE(DCQCN_FAST)]	= "fast_recovery",
	[DCQCN_N_CAUSE(DCQCN_ADDITIVE)]	= "additive_increase",
	[DCQCN_N_CAUSE(DCQCN_HYPER)]	= "hyper_increase",
	[DCQCN_N_CAUSE(DCQCN_CNP)]	= "cnp_handled",
	[DCQCN_N_CAUSE(DCQCN_LOSS)]	= "losses",
	[DCQCN_N_CAUSE(DCQCN_UNDO)]	= "losses_undone",
	[DCQCN_N_IGNORED]		= "cnp_ignored",
	[DCQCN_N_CE]			= "ce_packets",
	[DCQCN_N_CNP_SENT]		= "cnp_sent",
	[DCQCN_N_ACCECN]		= "accecn_connections",
	[DCQCN_N_ECN_MISSING]		= "ecn_missing",
};

static int dcqcn_stats_show(struct seq_file *seq, void *unused)
{
	const struct closnet_cc_net *cn = net_generic(seq_file_single_net(seq), dcqcn_net_id);

	BUILD_BUG_ON(ARRAY_SIZE(dcqcn_counter_names) != DCQCN_COUNTERS);
	closnet_counters_show(seq, &cn->counters, dcqcn_counter_names, DCQCN_COUNTERS);
	return 0;
}

static int __net_init dcqcn_net_init(struct net *net)
{
	struct closnet_cc_net *cn = net_generic(net, dcqcn_net_id);
	int err;

	err = closnet_counters_init(net, &cn->counters, DCQCN_COUNTERS, "closnet/dcqcn",
				    dcqcn_stats_show);
	if (err)
		return err;
	err = closnet_cc_net_init(net, &dcqcn_kind);
	if (err)
		closnet_counters_exit(net, &cn->counters, "closnet/dcqcn");
	return err;
}

static void __net_exit dcqcn_net_exit(struct net *net)
{
	struct closnet_cc_net *cn = net_generic(net, dcqcn_net_id);

	closnet_cc_net_exit(net, &dcqcn_kind);
	closnet_counters_exit(net, &cn->counters, "closnet/dcqcn");
}

static struct pernet_operations dcqcn_net_ops = {
	.init	= dcqcn_net_init,
	.exit	= dcqcn_net_exit,
	.id	= &dcqcn_net_id,
	.size	= sizeof(struct closnet_cc_net),
};

/**
 * dcqcn_net_register() - create sysctls and counters in all namespaces
 *
 * Return: 0 or a negative error.
 */
int __init dcqcn_net_register(void)
{
	return register_pernet_subsys(&dcqcn_net_ops);
}

/**
 * dcqcn_net_unregister() - remove sysctls and counters
 */
void dcqcn_net_unregister(void)
{
	unregister_pernet_subsys(&dcqcn_net_ops);
}
