/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sysctls of tcp_dcqcn: net.ipv4.tcp_dcqcn.NAME, of each network namespace
 *
 * Part of tcp_dcqcn.c. Their names are those that NICs give them. Most are 0 at
 * first, which stands for the value of the profile, or for what follows from the
 * line rate.
 */
#ifndef _DCQCN_CONFIG_H
#define _DCQCN_CONFIG_H

#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include "dcqcn.h"
#include "rate_config.h"

/**
 * struct dcqcn_config - parameters that connections share
 * @rate: what all such have
 * @params: the algorithm's
 * @ai_Mbps: R_AI; 0: by line rate
 * @hai_Mbps: R_HAI; 0: ten times R_AI
 * @min_Mbps: least rate; 0: R_AI
 * @ai_share: R_AI is the line rate divided by this
 */
struct dcqcn_config {
	struct rate_config rate;
	struct dcqcn_params params;
	u32 ai_Mbps;
	u32 hai_Mbps;
	u32 min_Mbps;
	u32 ai_share;
};

/**
 * struct dcqcn_profile - values that belong together
 * @time_reset_us: T
 * @byte_reset: B
 * @threshold: F
 * @ai_share: R_AI is the line rate divided by this
 * @g_inverse: 1/g
 * @alpha_us: K
 * @cnp_us: N
 * @monitor_us: least time between two cuts
 */
struct dcqcn_profile {
	u32 time_reset_us;
	u32 byte_reset;
	u32 threshold;
	u32 ai_share;
	u32 g_inverse;
	u32 alpha_us;
	u32 cnp_us;
	u32 monitor_us;
};

static const char * const dcqcn_profile_names[] = { "paper", "nic", "tuned" };

/*
 * SIGCOMM 2015 and, for g, T, B and R_AI, what its authors simulated in CoNEXT
 * 2016. Both had 40 Gbit/s.
 */
#define DCQCN_PAPER { .time_reset_us = 55, .byte_reset = 10000000, .threshold = 5,	\
		      .ai_share = 1000, .g_inverse = 256, .alpha_us = 55, .cnp_us = 50,	\
		      .monitor_us = 50 }

static const struct dcqcn_profile dcqcn_profiles[] = {
	DCQCN_PAPER,
	/* The vendor's: RPG_*, DCE_TCP_* with a g of 5/1024, at 40 Gbit/s */
	{
		.time_reset_us	= 300,
		.byte_reset	= 32767,
		.threshold	= 1,
		.ai_share	= 8000,
		.g_inverse	= 205,
		.alpha_us	= 1,
		.cnp_us		= 4,
		.monitor_us	= 4,
	},
	/*
	 * The experiments have found nothing better for hosts: what has to be tuned
	 * is pmax of the switches, Documentation/experiments/dcqcn.rst.
	 */
	DCQCN_PAPER,
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
	DCQCN_O_LINE_RATE,
	DCQCN_OPTIONS
};

static const struct closnet_sysctl dcqcn_options[DCQCN_OPTIONS] = {
	[DCQCN_O_PROFILE] = { "profile", .value = 2, .max = ARRAY_SIZE(dcqcn_profiles) - 1,
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
	/* 0: what the line carries of payload */
	[DCQCN_O_MAX_RATE] = { "rpg_max_rate", .max = 1000000, .unit = " Mbit/s" },
	[DCQCN_O_G] = { "dce_tcp_g", .max = 65536 },
	[DCQCN_O_RTT] = { "dce_tcp_rtt", .max = 1000000, .unit = " us" },
	/* Section 5: so the first CNP halves the rate. */
	[DCQCN_O_INITIAL_ALPHA] = { "initial_alpha_value", .value = 1000, .max = 1000,
				    .fraction = true },
	[DCQCN_O_CNP_TIME] = { "np_min_time_between_cnps", .max = 1000000, .unit = " us" },
	[DCQCN_O_MONITOR] = { "rate_reduce_monitor_period", .max = 1000000, .unit = " us" },
	/* of a CNP: the paper's text, or its authors' code */
	[DCQCN_O_ORDER] = { "order", .max = ARRAY_SIZE(dcqcn_orders) - 1, .words = dcqcn_orders },
	/*
	 * NICs pace packets. A burst brings one CNP or two, however long it is: with
	 * longer ones, the flows of an incast get CNPs too seldom.
	 */
	[DCQCN_O_SEG_KB] = { "seg_kb", .value = 4, .min = 4, .max = 64, .unit = " KB" },
	/* A safety net: the paper's deepest queue without pause, 200 KB, takes its line 40 us. */
	[DCQCN_O_CAP] = { "cap", .max = 1048576, .unit = " KB" },
	[DCQCN_O_LINE_RATE] = RATE_OPTION_LINE_RATE,
};

static struct rate_config *rate_config_new(const u32 *values)
{
	const struct dcqcn_profile *profile = &dcqcn_profiles[values[DCQCN_O_PROFILE]];
	struct dcqcn_config *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	u32 cnp_us = values[DCQCN_O_CNP_TIME] ?: profile->cnp_us;
	u32 monitor_us = values[DCQCN_O_MONITOR] ?: profile->monitor_us;

	BUILD_BUG_ON(offsetof(struct dcqcn_config, rate));
	BUILD_BUG_ON(ARRAY_SIZE(dcqcn_profiles) != ARRAY_SIZE(dcqcn_profile_names));
	if (!c)
		return ERR_PTR(-ENOMEM);
	rate_config_start(&c->rate, values[DCQCN_O_LINE_RATE]);
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
	};
	dcqcn_params_finish(&c->params);
	c->ai_Mbps = values[DCQCN_O_AI_RATE];
	c->hai_Mbps = values[DCQCN_O_HAI_RATE];
	c->min_Mbps = values[DCQCN_O_MIN_RATE];
	c->ai_share = profile->ai_share;
	c->rate.max_Mbps = values[DCQCN_O_MAX_RATE];
	c->rate.seg_bytes = values[DCQCN_O_SEG_KB] * SZ_1K;
	c->rate.cap_bytes = values[DCQCN_O_CAP] * SZ_1K;
	c->rate.cap_ns = NSEC_PER_MSEC;
	return &c->rate;
}

#endif /* _DCQCN_CONFIG_H */
