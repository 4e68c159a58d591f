// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_timely: sysctls net.ipv4.tcp_timely.NAME and counters in
 * /proc/net/closnet/timely, of each network namespace
 *
 * A write that would raise t_low above t_high has no effect.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/err.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/net_namespace.h>
#include "timely_tcp.h"

/**
 * struct timely_profile - values that belong together
 * @patched: mode patched instead of classic
 * @alpha: alpha of mode classic, thousandths
 * @beta: beta of mode patched, thousandths
 * @swift_beta: beta of mode swift, thousandths
 * @swift_ai: additive increase of mode swift, thousandths; 0: derived from the link
 * @fs_range_us: fs_range of mode swift
 */
struct timely_profile {
	bool patched;
	u32 alpha;
	u32 beta;
	u32 swift_beta;
	u32 swift_ai;
	u32 fs_range_us;
};

static const char * const timely_profile_names[] = { "paper", "tuned" };
#define TIMELY_PROFILE_TUNED	1

static const struct timely_profile timely_profiles[] = {
	/*
	 * SIGCOMM 2015, with the alpha of the authors' published code, since the
	 * paper gives no value; mode patched with the beta of CoNEXT 2016; mode swift
	 * with the constants of htsim's model, where fs_range is five times the target.
	 */
	{ .patched = false, .alpha = 20, .beta = 8,
	  .swift_beta = 800, .swift_ai = 1000, .fs_range_us = 100 },
	/*
	 * The best values for an incast of 40 flows, see
	 * Documentation/experiments/timely-incast.rst. In mode classic they halve the
	 * queue of alpha 0.02. In mode patched they use 99 % of the link with half the
	 * queue of its own beta. The mode is classic, since patched aims at t_low: a
	 * path with a longer empty RTT gets a fraction of its link, 13 % at 136 us and
	 * t_low 50 us. In mode swift, many flows share a link without oscillation.
	 */
	{ .patched = false, .alpha = 50, .beta = 50, .swift_beta = 50, .fs_range_us = 10 },
};

/* alpha of CoNEXT 2016. With a longer memory, the flows of mode patched oscillate. */
#define TIMELY_PATCHED_ALPHA	875
/* beta of the authors' code; also above t_high in mode patched */
#define TIMELY_CLASSIC_BETA	800

/* Defaults of t_low, t_high (section 4.4) and min_rtt (section 5), us */
#define TIMELY_T_LOW		50
#define TIMELY_T_HIGH		500
#define TIMELY_MIN_RTT		20

/*
 * alpha and beta of mode classic by the rule, timely_rule(). Bursts are short and RTTs
 * frequent, so that the gradient needs less smoothing: with an alpha of 0.05 it remains
 * positive for some 20 RTTs after the queue has begun to fall. beta above T_high is
 * TIMELY_CLASSIC_BETA.
 */
#define TIMELY_RULE_ALPHA	700
#define TIMELY_RULE_BETA	400

static const char * const timely_modes[] = { "profile", "classic", "patched", "swift" };
static const char * const timely_signals[] = { "rtt", "owd" };
#define TIMELY_MODE_PATCHED	2
#define TIMELY_MODE_SWIFT	3
/* in the order of enum timely_source, without TIMELY_OWD */
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
	TIMELY_O_TARGET,
	TIMELY_O_HOP,
	TIMELY_O_FS_RANGE,
	TIMELY_O_AI,
	TIMELY_O_MAX_MDF,
	TIMELY_O_HOST_TARGET,
	TIMELY_O_SEG_KB,
	TIMELY_O_MIN_RATE,
	TIMELY_O_MAX_RATE,
	TIMELY_O_LINK_RATE,
	TIMELY_O_CAP,
	TIMELY_O_SOURCE,
	TIMELY_O_SIGNAL,
	TIMELY_O_PROMPT_ACK,
	TIMELY_OPTIONS
};

static const struct closnet_cc_option timely_options[TIMELY_OPTIONS] = {
	[TIMELY_O_PROFILE] = { "profile", .value = 1, .max = ARRAY_SIZE(timely_profiles) - 1,
			       .words = timely_profile_names },
	[TIMELY_O_MODE] = { "mode", .max = ARRAY_SIZE(timely_modes) - 1, .words = timely_modes },
	/* 0: according to profile and mode */
	[TIMELY_O_ALPHA] = { "alpha", .max = 1000, .fraction = true },
	[TIMELY_O_BETA] = { "beta", .max = 1000, .fraction = true },
	/* 0: a thousandth of the link rate; the authors' code has 10 Mbit/s for 10 Gbit/s */
	[TIMELY_O_DELTA] = { "delta", .max = 100000, .unit = " Mbit/s" },
	/* 0: by the rule, or TIMELY_T_LOW and TIMELY_T_HIGH */
	[TIMELY_O_T_LOW] = { "t_low", .max = 1000000, .unit = " us" },
	[TIMELY_O_T_HIGH] = { "t_high", .max = 1000000, .unit = " us" },
	/* 0: TIMELY_MIN_RTT, and no rule, which would collapse on a longer path */
	[TIMELY_O_MIN_RTT] = { "min_rtt", .max = 1000000, .unit = " us" },
	/* section 4.3: N = 5 after five bursts */
	[TIMELY_O_HAI_N] = { "hai_n", .value = 5, .min = 1, .max = 100, .unit = " steps" },
	[TIMELY_O_HAI_THRESHOLD] = { "hai_threshold", .value = 5, .min = 1, .max = 255,
				     .unit = " bursts" },
	/* mode swift; 0: minRTT and a packet, or half a burst of seg_kb */
	[TIMELY_O_TARGET] = { "target", .max = 1000000, .unit = " us" },
	/* 0: the path does not matter, apart from the RTT in the default of target */
	[TIMELY_O_HOP] = { "hop", .max = 4000, .unit = " us" },
	/* 0, also of ai: according to the profile */
	[TIMELY_O_FS_RANGE] = { "fs_range", .max = 1000000, .unit = " us" },
	[TIMELY_O_AI] = { "ai", .max = 100000, .fraction = true },
	/* htsim's model of the paper */
	[TIMELY_O_MAX_MDF] = { "max_mdf", .value = 500, .min = 1, .max = 999, .fraction = true },
	[TIMELY_O_HOST_TARGET] = { "host_target", .value = 100, .min = 1, .max = 1000000,
				   .unit = " us" },
	/* the paper's default; t_low must grow with it (section 4.4) */
	[TIMELY_O_SEG_KB] = { "seg_kb", .value = 16, .min = 4, .max = 64, .unit = " KB" },
	/* 0: the additive step */
	[TIMELY_O_MIN_RATE] = { "min_rate", .max = 1000000, .unit = " Mbit/s" },
	/* 0: payload rate of the link */
	[TIMELY_O_MAX_RATE] = { "max_rate", .max = 1000000, .unit = " Mbit/s" },
	[TIMELY_O_LINK_RATE] = CLOSNET_CC_OPTION_LINK_RATE,
	/* 0: t_high + min_rtt at link rate, in which even late ACKs arrive */
	[TIMELY_O_CAP] = { "cap", .max = 1048576, .unit = " KB" },
	[TIMELY_O_SOURCE] = { "source", .value = 3, .max = ARRAY_SIZE(timely_sources) - 1,
			      .words = timely_sources },
	[TIMELY_O_SIGNAL] = { "signal", .max = ARRAY_SIZE(timely_signals) - 1,
			      .words = timely_signals },
	[TIMELY_O_PROMPT_ACK] = { "prompt_ack", .max = 1 },
};

/* Convert thousandths to Q12.20. */
static u32 timely_thousandths(u32 value)
{
	return div_u64((u64)value * TIMELY_ONE + 500, 1000);
}

static bool timely_is_patched(const u32 *values)
{
	u32 mode = values[TIMELY_O_MODE];

	return mode ? mode == TIMELY_MODE_PATCHED :
		      timely_profiles[values[TIMELY_O_PROFILE]].patched;
}

/* Does mode classic follow timely_rule()? */
static bool timely_by_rule(const u32 *values)
{
	return values[TIMELY_O_PROFILE] == TIMELY_PROFILE_TUNED && values[TIMELY_O_MIN_RTT] &&
	       values[TIMELY_O_MODE] != TIMELY_MODE_SWIFT && !timely_is_patched(values);
}

/* Replace defaults of T_low and T_high by their values; those by the rule remain 0. */
static void timely_set_thresholds(struct timely_params *p, const u32 *values)
{
	bool by_rule = timely_by_rule(values);
	u32 t_low = values[TIMELY_O_T_LOW];
	u32 t_high = values[TIMELY_O_T_HIGH];

	/* A T_low that is set would often exceed a T_high by the rule. */
	if (!t_high && (!by_rule || t_low))
		t_high = TIMELY_T_HIGH;
	if (!t_low && !by_rule)
		t_low = TIMELY_T_LOW;
	p->t_low_ns = t_low * NSEC_PER_USEC;
	p->t_high_ns = t_high * NSEC_PER_USEC;
}

static struct timely_params timely_params_of(const u32 *values)
{
	const struct timely_profile *profile = &timely_profiles[values[TIMELY_O_PROFILE]];
	bool patched = timely_is_patched(values), by_rule = timely_by_rule(values);
	u32 alpha = patched ? TIMELY_PATCHED_ALPHA : by_rule ? TIMELY_RULE_ALPHA : profile->alpha;
	u32 beta = patched ? profile->beta : by_rule ? TIMELY_RULE_BETA : TIMELY_CLASSIC_BETA;
	struct timely_params p = {
		.alpha		= timely_thousandths(values[TIMELY_O_ALPHA] ?: alpha),
		.beta		= timely_thousandths(values[TIMELY_O_BETA] ?: beta),
		.beta_high	= timely_thousandths(TIMELY_CLASSIC_BETA),
		.min_rtt_ns	= (values[TIMELY_O_MIN_RTT] ?: TIMELY_MIN_RTT) * NSEC_PER_USEC,
		.hai_n		= values[TIMELY_O_HAI_N],
		.hai_threshold	= values[TIMELY_O_HAI_THRESHOLD],
		.patched	= patched,
	};

	if (!patched && (!by_rule || values[TIMELY_O_BETA]))
		p.beta_high = p.beta;
	timely_set_thresholds(&p, values);
	timely_params_finish(&p);
	return p;
}

static struct swift_params timely_swift_params(const u32 *values)
{
	const struct timely_profile *profile = &timely_profiles[values[TIMELY_O_PROFILE]];
	u32 fs_range_us = values[TIMELY_O_FS_RANGE] ?: profile->fs_range_us;
	struct swift_params p = {
		.beta		= timely_thousandths(values[TIMELY_O_BETA] ?: profile->swift_beta),
		.beta_high	= timely_thousandths(values[TIMELY_O_BETA] ?: TIMELY_CLASSIC_BETA),
		.max_mdf	= timely_thousandths(values[TIMELY_O_MAX_MDF]),
		.hop_ns		= values[TIMELY_O_HOP] * NSEC_PER_USEC,
		.fs_range_ns	= fs_range_us * NSEC_PER_USEC,
		.host_target_ns	= values[TIMELY_O_HOST_TARGET] * NSEC_PER_USEC,
	};

	BUILD_BUG_ON(TIMELY_SHIFT != SWIFT_SHIFT);
	swift_params_finish(&p);
	return p;
}

static struct closnet_cc_config *timely_new_config(const u32 *values)
{
	struct timely_params params;
	struct timely_config *c;

	BUILD_BUG_ON(offsetof(struct timely_config, cc));
	BUILD_BUG_ON(ARRAY_SIZE(timely_profiles) != ARRAY_SIZE(timely_profile_names));
	params = timely_params_of(values);
	if (params.t_high_ns && params.t_low_ns > params.t_high_ns) {
		if (capable(CAP_NET_ADMIN))
			pr_err("t_low must be at most t_high: %ld is above %ld us\n",
			       params.t_low_ns / NSEC_PER_USEC, params.t_high_ns / NSEC_PER_USEC);
		return ERR_PTR(-EINVAL);
	}
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->params = params;
	c->swift = timely_swift_params(values);
	c->use_swift = values[TIMELY_O_MODE] == TIMELY_MODE_SWIFT;
	c->tuned = values[TIMELY_O_PROFILE] == TIMELY_PROFILE_TUNED;
	c->target_ns = values[TIMELY_O_TARGET] * NSEC_PER_USEC;
	c->ai = timely_thousandths(values[TIMELY_O_AI] ?:
				   timely_profiles[values[TIMELY_O_PROFILE]].swift_ai) >>
		(TIMELY_SHIFT - SWIFT_CWND_SHIFT);
	c->delta_Mbps = values[TIMELY_O_DELTA];
	c->min_Mbps = values[TIMELY_O_MIN_RATE];
	c->cc.max_Mbps = values[TIMELY_O_MAX_RATE];
	c->cc.seg_bytes = values[TIMELY_O_SEG_KB] * SZ_1K;
	c->cc.cap_bytes = values[TIMELY_O_CAP] * SZ_1K;
	c->by_rule = timely_by_rule(values);
	c->cc.cap_ns = (params.t_high_ns ?: TIMELY_T_HIGH * NSEC_PER_USEC) + params.min_rtt_ns;
	c->source = values[TIMELY_O_SOURCE] == ARRAY_SIZE(timely_sources) - 1 ?
		    TIMELY_AUTO : values[TIMELY_O_SOURCE];
	c->owd = values[TIMELY_O_SIGNAL];
	c->prompt_ack = values[TIMELY_O_PROMPT_ACK];
	return &c->cc;
}

/* net_generic() index of struct closnet_cc_net */
unsigned int timely_net_id __read_mostly;

static const struct closnet_cc_kind timely_kind = {
	.path		= "net/ipv4/tcp_timely",
	.options	= timely_options,
	.count		= TIMELY_OPTIONS,
	.link_rate	= TIMELY_O_LINK_RATE,
	.net_id		= &timely_net_id,
	.new_config	= timely_new_config,
};

/* ---- counters ---- */

static const char * const timely_counter_names[] = {
	[TIMELY_N_SAMPLES + TIMELY_HW]	= "samples_hw",
	[TIMELY_N_SAMPLES + TIMELY_SW]	= "samples_sw",
	[TIMELY_N_SAMPLES + TIMELY_RTT]	= "samples_rtt",
	[TIMELY_N_SAMPLES + TIMELY_OWD]	= "samples_owd",
	[TIMELY_N_CAUSES + TIMELY_START] = "rate_start",
	[TIMELY_N_CAUSES + TIMELY_LOW]	= "rate_low",
	[TIMELY_N_CAUSES + TIMELY_HIGH]	= "rate_high",
	[TIMELY_N_CAUSES + TIMELY_ADD]	= "rate_add",
	[TIMELY_N_CAUSES + TIMELY_HAI]	= "rate_hai",
	[TIMELY_N_CAUSES + TIMELY_MUL]	= "rate_mul",
	[TIMELY_N_CAUSES + TIMELY_REF]	= "rate_ref",
	[TIMELY_N_CAUSES + TIMELY_HOLD]	= "app_limited",
	[TIMELY_N_CAUSES + TIMELY_LONE]	= "rate_lone",
	[TIMELY_N_CAUSES + TIMELY_IDLE]	= "idle_restarts",
	[TIMELY_N_CAUSES + TIMELY_LOSS]	= "losses",
	[TIMELY_N_CAUSES + TIMELY_UNDO]	= "losses_undone",
	[TIMELY_N_CAUSES + TIMELY_UP]	= "swift_up",
	[TIMELY_N_CAUSES + TIMELY_DOWN]	= "swift_down",
	[TIMELY_N_CAUSES + TIMELY_KEEP]	= "swift_keep",
	[TIMELY_N_CAUSES + TIMELY_HOST]	= "swift_host",
	[TIMELY_N_SOURCE_CHANGES]	= "source_changes",
	[TIMELY_N_PARTIAL]		= "acks_partial",
	[TIMELY_N_RETRANS]		= "skipped_retrans",
	[TIMELY_N_RECOVERY]		= "skipped_recovery",
	[TIMELY_N_DELAYED]		= "skipped_delayed",
	[TIMELY_N_NEGATIVE]		= "skipped_negative",
	[TIMELY_N_CONNECTIONS]		= "connections",
};

static int timely_stats_show(struct seq_file *seq, void *unused)
{
	const struct closnet_cc_net *cn = net_generic(seq_file_single_net(seq), timely_net_id);

	BUILD_BUG_ON(ARRAY_SIZE(timely_counter_names) != TIMELY_COUNTERS);
	closnet_counters_show(seq, &cn->counters, timely_counter_names, TIMELY_COUNTERS);
	return 0;
}

static int __net_init timely_net_init(struct net *net)
{
	struct closnet_cc_net *cn = net_generic(net, timely_net_id);
	int err;

	err = closnet_counters_init(net, &cn->counters, TIMELY_COUNTERS, "closnet/timely",
				    timely_stats_show);
	if (err)
		return err;
	err = closnet_cc_net_init(net, &timely_kind);
	if (err)
		closnet_counters_exit(net, &cn->counters, "closnet/timely");
	return err;
}

static void __net_exit timely_net_exit(struct net *net)
{
	struct closnet_cc_net *cn = net_generic(net, timely_net_id);

	closnet_cc_net_exit(net, &timely_kind);
	closnet_counters_exit(net, &cn->counters, "closnet/timely");
}

static struct pernet_operations timely_net_ops = {
	.init	= timely_net_init,
	.exit	= timely_net_exit,
	.id	= &timely_net_id,
	.size	= sizeof(struct closnet_cc_net),
};

/**
 * timely_net_register() - create sysctls and counters in all namespaces
 *
 * Return: 0 or a negative error.
 */
int __init timely_net_register(void)
{
	return register_pernet_subsys(&timely_net_ops);
}

/**
 * timely_net_unregister() - remove sysctls and counters
 */
void timely_net_unregister(void)
{
	unregister_pernet_subsys(&timely_net_ops);
}
