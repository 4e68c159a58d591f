/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters of tcp_dcqcn
 *
 * Part of tcp_dcqcn.c. Their names are those that NICs give them. Most are 0 at
 * first, which stands for the value of the profile, or what follows from the
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

static const char * const dcqcn_profile_names[] = { "paper", "nic" };

static const struct dcqcn_profile dcqcn_profiles[] = {
	/*
	 * SIGCOMM 2015 and, for g, T, B and R_AI, what its authors simulated in
	 * CoNEXT 2016. Both had 40 Gbit/s.
	 */
	{
		.time_reset_us	= 55,
		.byte_reset	= 10000000,
		.threshold	= 5,
		.ai_share	= 1000,
		.g_inverse	= 256,
		.alpha_us	= 55,
		.cnp_us		= 50,
		.monitor_us	= 50,
	},
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
};

static const char * const dcqcn_orders[] = { "cut_first", "alpha_first" };

CLOSNET_KNOB(profile, "values of all that are 0: paper (SIGCOMM 2015) or nic (a vendor's)",
	     .value = 0, .max = ARRAY_SIZE(dcqcn_profiles) - 1, .words = dcqcn_profile_names);
CLOSNET_KNOB(rpg_time_reset, "T, time between two increases, us (0: paper 55, nic 300)",
	     .value = 0, .max = 1000000, .unit = " us");
CLOSNET_KNOB(rpg_byte_reset, "B, bytes between two increases (0: paper 10000000, nic 32767)",
	     .value = 0, .max = 1000000000, .unit = " bytes");
CLOSNET_KNOB(rpg_threshold, "F, increases in fast recovery (0: paper 5, nic 1)",
	     .value = 0, .max = DCQCN_STAGE_MAX - 1, .unit = " increases");
CLOSNET_KNOB(rpg_ai_rate, "R_AI, Mbit/s (0: of the line rate, paper a 1000th, nic an 8000th)",
	     .value = 0, .max = 1000000, .unit = " Mbit/s");
CLOSNET_KNOB(rpg_hai_rate, "R_HAI, Mbit/s (0: ten times R_AI)",
	     .value = 0, .max = 1000000, .unit = " Mbit/s");
CLOSNET_KNOB(rpg_min_rate, "least rate, Mbit/s (0: R_AI)",
	     .value = 0, .max = 1000000, .unit = " Mbit/s");
CLOSNET_KNOB(rpg_max_rate, "highest rate, Mbit/s (0: what the line carries)",
	     .value = 0, .max = 1000000, .unit = " Mbit/s");
CLOSNET_KNOB(dce_tcp_g, "1/g, weight of a CNP in alpha (0: paper 256, nic 205)",
	     .value = 0, .max = 65536);
CLOSNET_KNOB(dce_tcp_rtt, "K, time without CNP after which alpha decays, us (0: paper 55, nic 1)",
	     .value = 0, .max = 1000000, .unit = " us");
/* Section 5: so the first CNP halves the rate. */
CLOSNET_KNOB(initial_alpha_value, "alpha at first, up to 1 (1)",
	     .value = 1000, .max = 1000, .fraction = true);
CLOSNET_KNOB(np_min_time_between_cnps,
	     "receiver: N, least time between CNPs to a flow, us (0: paper 50, nic 4)",
	     .value = 0, .max = 1000000, .unit = " us");
CLOSNET_KNOB(rate_reduce_monitor_period,
	     "sender: least time between cuts if the receiver is no NP, us (0: paper 50, nic 4)",
	     .value = 0, .max = 1000000, .unit = " us");
CLOSNET_KNOB(order, "of a CNP: cut_first (the paper's text) or alpha_first (its authors' code)",
	     .value = 0, .max = ARRAY_SIZE(dcqcn_orders) - 1, .words = dcqcn_orders);
/*
 * NICs pace packets. A burst brings one CNP or two, however long it is: with
 * longer ones, the flows of an incast get CNPs too seldom.
 */
CLOSNET_KNOB(seg_kb, "most KB of a burst, but two packets at least (4)",
	     .value = 4, .min = 4, .max = 64, .unit = " KB");
/* A safety net: the paper's deepest queue without pause, 200 KB, takes its line 40 us. */
CLOSNET_KNOB(cap, "most KB outstanding (0: line rate * 1 ms)",
	     .value = 0, .max = 1048576, .unit = " KB");

static struct rate_config *rate_config_new(void)
{
	const struct dcqcn_profile *profile = &dcqcn_profiles[knob_profile.value];
	struct dcqcn_config *c = kzalloc(sizeof(*c), GFP_KERNEL);
	u32 cnp_us = knob_np_min_time_between_cnps.value ?: profile->cnp_us;
	u32 monitor_us = knob_rate_reduce_monitor_period.value ?: profile->monitor_us;

	BUILD_BUG_ON(offsetof(struct dcqcn_config, rate));
	BUILD_BUG_ON(ARRAY_SIZE(dcqcn_profiles) != ARRAY_SIZE(dcqcn_profile_names));
	if (!c)
		return ERR_PTR(-ENOMEM);
	rate_config_start(&c->rate);
	c->params = (struct dcqcn_params) {
		.timer_ns	= (knob_rpg_time_reset.value ?: profile->time_reset_us) *
				  NSEC_PER_USEC,
		.byte_reset	= knob_rpg_byte_reset.value ?: profile->byte_reset,
		.threshold	= knob_rpg_threshold.value ?: profile->threshold,
		.g_inverse	= knob_dce_tcp_g.value ?: profile->g_inverse,
		.alpha_ns	= (knob_dce_tcp_rtt.value ?: profile->alpha_us) * NSEC_PER_USEC,
		.initial_alpha	= knob_initial_alpha_value.value,
		.cnp_interval_ns = cnp_us * NSEC_PER_USEC,
		.monitor_ns	= monitor_us * NSEC_PER_USEC,
		.alpha_first	= knob_order.value,
	};
	dcqcn_params_finish(&c->params);
	c->ai_Mbps = knob_rpg_ai_rate.value;
	c->hai_Mbps = knob_rpg_hai_rate.value;
	c->min_Mbps = knob_rpg_min_rate.value;
	c->ai_share = profile->ai_share;
	c->rate.max_Mbps = knob_rpg_max_rate.value;
	c->rate.seg_bytes = knob_seg_kb.value * SZ_1K;
	c->rate.cap_bytes = knob_cap.value * SZ_1K;
	c->rate.cap_ns = NSEC_PER_MSEC;
	return &c->rate;
}

#endif /* _DCQCN_CONFIG_H */
