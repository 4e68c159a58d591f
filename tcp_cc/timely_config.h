/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters of tcp_timely
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

static const char * const timely_modes[] = { "classic", "patched" };
static const char * const timely_signals[] = { "rtt", "owd" };
/* in the order of enum timely_source, as far as they can be asked for */
static const char * const timely_sources[] = { "rtt", "sw", "hw", "auto" };

/*
 * The SIGCOMM paper's value is not known to us; the authors' published code has
 * 0.02. With 0.05 an incast has half the queue and nearly the same throughput:
 * Documentation/experiments/timely.md. CoNEXT 2016 had 0.875, and mode patched
 * needs it: with a long memory its flows swing.
 */
CLOSNET_KNOB(alpha, "weight of a new RTT difference, up to 1 (0: classic 0.05, patched 0.875)",
	     .value = 0, .min = 0, .max = 1000, .fraction = true);
/* 0.8: the authors' code; 0.008: CoNEXT 2016. Mode patched has 0.8 above t_high. */
CLOSNET_KNOB(beta, "multiplicative decrease, up to 1 (0: classic 0.8, patched 0.008)",
	     .value = 0, .min = 0, .max = 1000, .fraction = true);
/* The authors' code: 10 Mbit/s for 10 Gbit/s */
CLOSNET_KNOB(delta, "additive step, Mbit/s (0: a thousandth of the line rate)",
	     .value = 0, .min = 0, .max = 100000, .unit = " Mbit/s");
/* Section 4.4 has both thresholds. */
CLOSNET_KNOB(t_low, "RTT below which the rate only grows, us (50)",
	     .value = 50, .min = 0, .max = 1000000, .unit = " us");
CLOSNET_KNOB(t_high, "RTT above which the rate only falls, us (500)",
	     .value = 500, .min = 1, .max = 1000000, .unit = " us");
/* Section 5 */
CLOSNET_KNOB(min_rtt, "unit of the gradient, us; not measured (20)",
	     .value = 20, .min = 1, .max = 1000000, .unit = " us");
/* Section 4.3: N = 5 after five */
CLOSNET_KNOB(hai_n, "additive steps at once in hyperactive increase (5; 1: off)",
	     .value = 5, .min = 1, .max = 100, .unit = " steps");
CLOSNET_KNOB(hai_threshold, "bursts in sequence without a rise of the RTT that start it (5)",
	     .value = 5, .min = 1, .max = 255, .unit = " bursts");
/* The paper's default; t_low has to grow with it (section 4.4). */
CLOSNET_KNOB(seg_kb, "most KB of a burst, but two packets at least (16)",
	     .value = 16, .min = 4, .max = 64, .unit = " KB");
CLOSNET_KNOB(min_rate, "least rate, Mbit/s (0: the additive step)",
	     .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");
CLOSNET_KNOB(max_rate, "highest rate, Mbit/s (0: what the line carries)",
	     .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");
/* In t_high + min_rtt at line rate, all is acknowledged that may be late. */
CLOSNET_KNOB(cap, "most KB outstanding (0: line rate * (t_high + min_rtt))",
	     .value = 0, .min = 0, .max = 1048576, .unit = " KB");
CLOSNET_KNOB(mode, "classic (SIGCOMM 2015) or patched (CoNEXT 2016)",
	     .value = 0, .max = ARRAY_SIZE(timely_modes) - 1, .words = timely_modes);
CLOSNET_KNOB(source, "what measures RTTs: hw (NIC), sw (driver), rtt (TCP), or auto (the best)",
	     .value = 3, .max = ARRAY_SIZE(timely_sources) - 1, .words = timely_sources);
CLOSNET_KNOB(signal, "rtt, or owd: variation of the one-way delay (needs TCP timestamps in us)",
	     .value = 0, .max = ARRAY_SIZE(timely_signals) - 1, .words = timely_signals);
CLOSNET_KNOB(prompt_ack, "receiver: acknowledge a burst's end at once (0)",
	     .value = 0, .max = 1);

/* Q12.20 */
static u32 timely_thousandths(u32 value)
{
	return div_u64((u64)value * TIMELY_ONE + 500, 1000);
}

static struct rate_config *rate_config_new(void)
{
	bool patched = knob_mode.value;
	struct timely_config *c;

	BUILD_BUG_ON(offsetof(struct timely_config, rate));
	if (knob_t_low.value > knob_t_high.value) {
		pr_err("t_low must be at most t_high: %u is above %u us\n",
		       knob_t_low.value, knob_t_high.value);
		return ERR_PTR(-EINVAL);
	}
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	rate_config_start(&c->rate);
	c->params = (struct timely_params) {
		.alpha		= timely_thousandths(knob_alpha.value ?: patched ? 875 : 50),
		.beta		= timely_thousandths(knob_beta.value ?: patched ? 8 : 800),
		.beta_high	= timely_thousandths(patched ? 800 : knob_beta.value ?: 800),
		.t_low_ns	= knob_t_low.value * NSEC_PER_USEC,
		.t_high_ns	= knob_t_high.value * NSEC_PER_USEC,
		.min_rtt_ns	= knob_min_rtt.value * NSEC_PER_USEC,
		.hai_n		= knob_hai_n.value,
		.hai_threshold	= knob_hai_threshold.value,
		.patched	= patched,
	};
	timely_params_finish(&c->params);
	c->delta_Mbps = knob_delta.value;
	c->min_Mbps = knob_min_rate.value;
	c->rate.max_Mbps = knob_max_rate.value;
	c->rate.seg_bytes = knob_seg_kb.value * SZ_1K;
	c->rate.cap_bytes = knob_cap.value * SZ_1K;
	c->rate.cap_ns = c->params.t_high_ns + c->params.min_rtt_ns;
	c->source = knob_source.value == ARRAY_SIZE(timely_sources) - 1 ?
		    TIMELY_AUTO : knob_source.value;
	c->owd = knob_signal.value;
	c->prompt_ack = knob_prompt_ack.value;
	return &c->rate;
}

#endif /* _TIMELY_CONFIG_H */
