/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sysctls of tcp_timely: net.ipv4.tcp_timely.NAME, of each network namespace
 *
 * Part of tcp_timely.c. A write that would put t_low above t_high changes
 * nothing.
 */
#ifndef _TIMELY_CONFIG_H
#define _TIMELY_CONFIG_H

#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include "rate_config.h"
#include "timely.h"

/**
 * enum timely_source - what an RTT was measured with
 * @TIMELY_RTT: the stack's clock, when it saw the ACK
 * @TIMELY_SW: the stack's clock, when the driver handed the ACK over
 * @TIMELY_HW: the NIC's clock, when the ACK came in
 * @TIMELY_OWD: the peer's clock, when it sent the ACK
 * @TIMELY_AUTO: parameter source only: the best that there is
 */
enum timely_source {
	TIMELY_RTT,
	TIMELY_SW,
	TIMELY_HW,
	TIMELY_OWD,
	TIMELY_AUTO,
};

/**
 * struct timely_config - parameters that connections share
 * @rate: what all such have
 * @params: the algorithm's
 * @delta_Mbps: additive step; 0: by line rate
 * @min_Mbps: least rate; 0: the additive step
 * @source: what RTTs are measured with
 * @owd: signal=owd
 * @prompt_ack: a burst's end is acknowledged at once
 */
struct timely_config {
	struct rate_config rate;
	struct timely_params params;
	u32 delta_Mbps;
	u32 min_Mbps;
	enum timely_source source;
	bool owd;
	bool prompt_ack;
};

/**
 * struct timely_profile - values that belong together
 * @patched: mode
 * @alpha: of mode classic, thousandths
 * @beta: of mode patched, thousandths
 */
struct timely_profile {
	bool patched;
	u32 alpha;
	u32 beta;
};

static const char * const timely_profile_names[] = { "paper", "tuned" };

static const struct timely_profile timely_profiles[] = {
	/*
	 * SIGCOMM 2015, with the alpha of its authors' published code, as the
	 * paper's is not known to us; for mode patched CoNEXT 2016.
	 */
	{ .patched = false, .alpha = 20, .beta = 8 },
	/*
	 * What Documentation/experiments/timely-incast.rst found best for an incast of 40
	 * flows: in mode classic, half the queue of alpha 0.02; in mode patched, 99%
	 * of the line with half the queue of its own beta. Classic, since patched
	 * aims at t_low: a path whose empty RTT is longer gets a fraction of its
	 * line, 13% at 136 us and t_low 50 us (make bench).
	 */
	{ .patched = false, .alpha = 50, .beta = 50 },
};

/* CoNEXT 2016's alpha; mode patched needs it: with a long memory its flows swing. */
#define TIMELY_PATCHED_ALPHA	875
/* The authors' code; in mode patched above t_high, too */
#define TIMELY_CLASSIC_BETA	800

static const char * const timely_modes[] = { "profile", "classic", "patched" };
static const char * const timely_signals[] = { "rtt", "owd" };
/* in the order of enum timely_source, as far as they can be asked for */
static const char * const timely_sources[] = { "rtt", "sw", "hw", "auto" };

enum timely_option {
	TIMELY_O_PROFILE,
	TIMELY_O_MODE,
	TIMELY_O_ALPHA,
	TIMELY_O_BETA,
	TIMELY_O_DELTA,
	TIMELY_O_T_LOW,
	TIMELY_O_T_HIGH,
	TIMELY_O_MIN_RTT,
	TIMELY_O_HAI_N,
	TIMELY_O_HAI_THRESHOLD,
	TIMELY_O_SEG_KB,
	TIMELY_O_MIN_RATE,
	TIMELY_O_MAX_RATE,
	TIMELY_O_LINE_RATE,
	TIMELY_O_CAP,
	TIMELY_O_SOURCE,
	TIMELY_O_SIGNAL,
	TIMELY_O_PROMPT_ACK,
	TIMELY_OPTIONS
};

static const struct closnet_sysctl timely_options[TIMELY_OPTIONS] = {
	[TIMELY_O_PROFILE] = { "profile", .value = 1, .max = ARRAY_SIZE(timely_profiles) - 1,
			       .words = timely_profile_names },
	[TIMELY_O_MODE] = { "mode", .max = ARRAY_SIZE(timely_modes) - 1, .words = timely_modes },
	/* 0: by profile and mode */
	[TIMELY_O_ALPHA] = { "alpha", .max = 1000, .fraction = true },
	[TIMELY_O_BETA] = { "beta", .max = 1000, .fraction = true },
	/* The authors' code: 10 Mbit/s for 10 Gbit/s. 0: a thousandth of the line rate */
	[TIMELY_O_DELTA] = { "delta", .max = 100000, .unit = " Mbit/s" },
	/* Section 4.4 has both thresholds. */
	[TIMELY_O_T_LOW] = { "t_low", .value = 50, .max = 1000000, .unit = " us" },
	[TIMELY_O_T_HIGH] = { "t_high", .value = 500, .min = 1, .max = 1000000, .unit = " us" },
	/* Section 5 */
	[TIMELY_O_MIN_RTT] = { "min_rtt", .value = 20, .min = 1, .max = 1000000, .unit = " us" },
	/* Section 4.3: N = 5 after five */
	[TIMELY_O_HAI_N] = { "hai_n", .value = 5, .min = 1, .max = 100, .unit = " steps" },
	[TIMELY_O_HAI_THRESHOLD] = { "hai_threshold", .value = 5, .min = 1, .max = 255,
				     .unit = " bursts" },
	/* The paper's default; t_low has to grow with it (section 4.4). */
	[TIMELY_O_SEG_KB] = { "seg_kb", .value = 16, .min = 4, .max = 64, .unit = " KB" },
	/* 0: the additive step */
	[TIMELY_O_MIN_RATE] = { "min_rate", .max = 1000000, .unit = " Mbit/s" },
	/* 0: what the line carries of payload */
	[TIMELY_O_MAX_RATE] = { "max_rate", .max = 1000000, .unit = " Mbit/s" },
	[TIMELY_O_LINE_RATE] = RATE_OPTION_LINE_RATE,
	/* 0: in t_high + min_rtt at line rate, all is acknowledged that may be late. */
	[TIMELY_O_CAP] = { "cap", .max = 1048576, .unit = " KB" },
	[TIMELY_O_SOURCE] = { "source", .value = 3, .max = ARRAY_SIZE(timely_sources) - 1,
			      .words = timely_sources },
	[TIMELY_O_SIGNAL] = { "signal", .max = ARRAY_SIZE(timely_signals) - 1,
			      .words = timely_signals },
	[TIMELY_O_PROMPT_ACK] = { "prompt_ack", .max = 1 },
};

/* Q12.20 */
static u32 timely_thousandths(u32 value)
{
	return div_u64((u64)value * TIMELY_ONE + 500, 1000);
}

static struct timely_params timely_params_of(const u32 *values)
{
	const struct timely_profile *profile = &timely_profiles[values[TIMELY_O_PROFILE]];
	bool patched = values[TIMELY_O_MODE] ? values[TIMELY_O_MODE] == 2 : profile->patched;
	u32 alpha = patched ? TIMELY_PATCHED_ALPHA : profile->alpha;
	u32 beta = patched ? profile->beta : TIMELY_CLASSIC_BETA;
	struct timely_params p = {
		.alpha		= timely_thousandths(values[TIMELY_O_ALPHA] ?: alpha),
		.beta		= timely_thousandths(values[TIMELY_O_BETA] ?: beta),
		.beta_high	= timely_thousandths(TIMELY_CLASSIC_BETA),
		.t_low_ns	= values[TIMELY_O_T_LOW] * NSEC_PER_USEC,
		.t_high_ns	= values[TIMELY_O_T_HIGH] * NSEC_PER_USEC,
		.min_rtt_ns	= values[TIMELY_O_MIN_RTT] * NSEC_PER_USEC,
		.hai_n		= values[TIMELY_O_HAI_N],
		.hai_threshold	= values[TIMELY_O_HAI_THRESHOLD],
		.patched	= patched,
	};

	if (!patched)
		p.beta_high = p.beta;
	timely_params_finish(&p);
	return p;
}

static struct rate_config *rate_config_new(const u32 *values)
{
	struct timely_config *c;

	BUILD_BUG_ON(offsetof(struct timely_config, rate));
	BUILD_BUG_ON(ARRAY_SIZE(timely_profiles) != ARRAY_SIZE(timely_profile_names));
	if (values[TIMELY_O_T_LOW] > values[TIMELY_O_T_HIGH]) {
		if (capable(CAP_NET_ADMIN))
			pr_err("t_low must be at most t_high: %u is above %u us\n",
			       values[TIMELY_O_T_LOW], values[TIMELY_O_T_HIGH]);
		return ERR_PTR(-EINVAL);
	}
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	rate_config_start(&c->rate, values[TIMELY_O_LINE_RATE]);
	c->params = timely_params_of(values);
	c->delta_Mbps = values[TIMELY_O_DELTA];
	c->min_Mbps = values[TIMELY_O_MIN_RATE];
	c->rate.max_Mbps = values[TIMELY_O_MAX_RATE];
	c->rate.seg_bytes = values[TIMELY_O_SEG_KB] * SZ_1K;
	c->rate.cap_bytes = values[TIMELY_O_CAP] * SZ_1K;
	c->rate.cap_ns = c->params.t_high_ns + c->params.min_rtt_ns;
	c->source = values[TIMELY_O_SOURCE] == ARRAY_SIZE(timely_sources) - 1 ?
		    TIMELY_AUTO : values[TIMELY_O_SOURCE];
	c->owd = values[TIMELY_O_SIGNAL];
	c->prompt_ack = values[TIMELY_O_PROMPT_ACK];
	return &c->rate;
}

#endif /* _TIMELY_CONFIG_H */
