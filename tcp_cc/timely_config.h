/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters of tcp_timely
 *
 * Part of tcp_timely.c. A connection takes the parameters as they are when it
 * starts. So a write makes a new configuration, which all later connections
 * share, and the last connection that has the old one frees it. A write that
 * is out of range, or that would put t_low above t_high, changes nothing.
 */
#ifndef _TIMELY_CONFIG_H
#define _TIMELY_CONFIG_H

#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <closnet/nicclock.h>
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
 * @params: the algorithm's
 * @delta_Mbps: additive step; 0: by line rate
 * @min_Mbps: least rate; 0: the additive step
 * @max_Mbps: highest rate; 0: what the line carries of payload
 * @line: the line; of rate 0: the device's
 * @seg_bytes: most bytes of a burst
 * @cap_bytes: most bytes outstanding; 0: by line rate
 * @source: what RTTs are measured with
 * @owd: signal=owd
 * @prompt_ack: a burst's end is acknowledged at once
 * @users: connections, and one if it is the current one
 * @rcu: for freeing it
 */
struct timely_config {
	struct timely_params params;
	u32 delta_Mbps;
	u32 min_Mbps;
	u32 max_Mbps;
	struct nicclock_line line;
	u32 seg_bytes;
	u32 cap_bytes;
	enum timely_source source;
	bool owd;
	bool prompt_ack;
	refcount_t users;
	struct rcu_head rcu;
};

/**
 * struct timely_knob - a module parameter
 * @value: its value; a fraction's is in thousandths, a word's its number
 * @min: least value
 * @max: highest value
 * @unit: for messages
 * @fraction: it is written as 0.875
 * @words: it is one of these, @max + 1 of them
 */
struct timely_knob {
	u32 value;
	u32 min;
	u32 max;
	const char *unit;
	bool fraction;
	const char * const *words;
};

static const char * const timely_modes[] = { "classic", "patched" };
static const char * const timely_signals[] = { "rtt", "owd" };
/* in the order of enum timely_source, as far as they can be asked for */
static const char * const timely_sources[] = { "rtt", "sw", "hw", "auto" };

static const struct kernel_param_ops timely_knob_ops;

#define TIMELY_KNOB(_name, _desc, ...)						\
	static struct timely_knob timely_##_name = { __VA_ARGS__ };		\
	module_param_cb(_name, &timely_knob_ops, &timely_##_name, 0644);	\
	MODULE_PARM_DESC(_name, _desc)

/*
 * The SIGCOMM paper's value is not known to us; the authors' published code has
 * 0.02. With 0.05 an incast has half the queue and nearly the same throughput:
 * Documentation/experiments/timely.md. CoNEXT 2016 had 0.875, and mode patched
 * needs it: with a long memory its flows swing.
 */
TIMELY_KNOB(alpha, "weight of a new RTT difference, up to 1 (0: 0.05 in classic, 0.875 in patched)",
	    .value = 0, .min = 0, .max = 1000, .fraction = true);
/* 0.8: the authors' code; 0.008: CoNEXT 2016. Mode patched has 0.8 above t_high. */
TIMELY_KNOB(beta, "multiplicative decrease, up to 1 (0: 0.8 in classic, 0.008 in patched)",
	    .value = 0, .min = 0, .max = 1000, .fraction = true);
/* The authors' code: 10 Mbit/s for 10 Gbit/s */
TIMELY_KNOB(delta, "additive step, Mbit/s (0: a thousandth of the line rate)",
	    .value = 0, .min = 0, .max = 100000, .unit = " Mbit/s");
/* Section 4.4 has both thresholds. */
TIMELY_KNOB(t_low, "RTT below which the rate only grows, us (50)",
	    .value = 50, .min = 0, .max = 1000000, .unit = " us");
TIMELY_KNOB(t_high, "RTT above which the rate only falls, us (500)",
	    .value = 500, .min = 1, .max = 1000000, .unit = " us");
/* Section 5 */
TIMELY_KNOB(min_rtt, "unit of the gradient, us; not measured (20)",
	    .value = 20, .min = 1, .max = 1000000, .unit = " us");
/* Section 4.3: N = 5 after five */
TIMELY_KNOB(hai_n, "additive steps at once in hyperactive increase (5; 1: off)",
	    .value = 5, .min = 1, .max = 100, .unit = " steps");
TIMELY_KNOB(hai_threshold, "bursts in sequence without a rise of the RTT that start it (5)",
	    .value = 5, .min = 1, .max = 255, .unit = " bursts");
/* The paper's default; t_low has to grow with it (section 4.4). */
TIMELY_KNOB(seg_kb, "most KB of a burst, but two packets at least (16)",
	    .value = 16, .min = 4, .max = 64, .unit = " KB");
TIMELY_KNOB(min_rate, "least rate, Mbit/s (0: the additive step)",
	    .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");
TIMELY_KNOB(max_rate, "highest rate, Mbit/s (0: what the line carries)",
	    .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");
/* In t_high + min_rtt at line rate, all is acknowledged that may be late. */
TIMELY_KNOB(cap, "most KB outstanding (0: line rate * (t_high + min_rtt))",
	    .value = 0, .min = 0, .max = 1048576, .unit = " KB");
TIMELY_KNOB(line_rate, "line rate, Mbit/s (0: what the device says)",
	    .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s");
TIMELY_KNOB(mode, "classic (SIGCOMM 2015) or patched (CoNEXT 2016)",
	    .value = 0, .max = ARRAY_SIZE(timely_modes) - 1, .words = timely_modes);
TIMELY_KNOB(source, "what measures RTTs: hw (NIC), sw (driver), rtt (TCP), or auto (the best)",
	    .value = 3, .max = ARRAY_SIZE(timely_sources) - 1, .words = timely_sources);
TIMELY_KNOB(signal, "rtt, or owd: variation of the one-way delay (needs TCP timestamps in us)",
	    .value = 0, .max = ARRAY_SIZE(timely_signals) - 1, .words = timely_signals);
TIMELY_KNOB(prompt_ack, "receiver: acknowledge a burst's end at once (0)",
	    .value = 0, .max = 1);

/* The parameters are taken as of module_init(); before, nothing is allocated. */
static bool timely_config_ready;
static struct timely_config __rcu *timely_current;

/* @text in thousandths: digits, and up to three behind a point */
static int timely_fraction(const char *text, u32 *value)
{
	u32 whole = 0, part = 0, digits = 0;
	const char *s = text;

	while (isdigit(*s) && whole <= 1000)
		whole = whole * 10 + *s++ - '0';
	if (s == text)
		return -EINVAL;
	if (*s == '.') {
		for (s++; isdigit(*s) && digits < 3; digits++)
			part = part * 10 + *s++ - '0';
	}
	if (*s == '\n')
		s++;
	if (*s)
		return -EINVAL;
	for (; digits < 3; digits++)
		part *= 10;
	*value = whole * 1000 + part;
	return 0;
}

static int timely_knob_parse(const struct timely_knob *knob, const char *text, u32 *value)
{
	u32 i;

	if (knob->fraction)
		return timely_fraction(text, value);
	if (!knob->words)
		return kstrtouint(text, 10, value);
	for (i = 0; i <= knob->max; i++) {
		if (sysfs_streq(text, knob->words[i])) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Says what a parameter may be. */
static void timely_knob_complain(const char *name, const struct timely_knob *knob)
{
	char words[64];
	u32 i, len = 0;

	if (knob->fraction) {
		pr_err("%s must be %u.%03u to %u.%03u, with three decimals at most\n", name,
		       knob->min / 1000, knob->min % 1000, knob->max / 1000, knob->max % 1000);
	} else if (!knob->words) {
		pr_err("%s must be %u to %u%s\n", name, knob->min, knob->max, knob->unit ?: "");
	} else {
		for (i = 0; i <= knob->max; i++)
			len += scnprintf(words + len, sizeof(words) - len, "%s%s",
					 i ? " or " : "", knob->words[i]);
		pr_err("%s must be %s\n", name, words);
	}
}

/* Q12.20 */
static u32 timely_thousandths(u32 value)
{
	return div_u64((u64)value * TIMELY_ONE + 500, 1000);
}

/* The parameters as they are now; NULL without memory */
static struct timely_config *timely_config_new(void)
{
	struct timely_config *c = kzalloc(sizeof(*c), GFP_KERNEL);
	bool patched = timely_mode.value;

	if (!c)
		return NULL;
	refcount_set(&c->users, 1);
	c->params = (struct timely_params) {
		.alpha		= timely_thousandths(timely_alpha.value ?: patched ? 875 : 50),
		.beta		= timely_thousandths(timely_beta.value ?: patched ? 8 : 800),
		.beta_high	= timely_thousandths(patched ? 800 : timely_beta.value ?: 800),
		.t_low_ns	= timely_t_low.value * NSEC_PER_USEC,
		.t_high_ns	= timely_t_high.value * NSEC_PER_USEC,
		.min_rtt_ns	= timely_min_rtt.value * NSEC_PER_USEC,
		.hai_n		= timely_hai_n.value,
		.hai_threshold	= timely_hai_threshold.value,
		.patched	= patched,
	};
	timely_params_finish(&c->params);
	c->delta_Mbps = timely_delta.value;
	c->min_Mbps = timely_min_rate.value;
	c->max_Mbps = timely_max_rate.value;
	c->line.rate_Mbps = timely_line_rate.value;
	c->line.byte_time = nicclock_byte_time(timely_line_rate.value);
	c->seg_bytes = timely_seg_kb.value * SZ_1K;
	c->cap_bytes = timely_cap.value * SZ_1K;
	c->source = timely_source.value == ARRAY_SIZE(timely_sources) - 1 ?
		    TIMELY_AUTO : timely_source.value;
	c->owd = timely_signal.value;
	c->prompt_ack = timely_prompt_ack.value;
	return c;
}

static void timely_config_put(struct timely_config *c)
{
	if (c && refcount_dec_and_test(&c->users))
		kfree_rcu(c, rcu);
}

/* A reference to the current configuration, for a connection */
static struct timely_config *timely_config_get(void)
{
	struct timely_config *c;

	rcu_read_lock();
	do {
		c = rcu_dereference(timely_current);
	} while (!refcount_inc_not_zero(&c->users));
	rcu_read_unlock();
	return c;
}

/*
 * Makes the current configuration of the parameters; or, at the end, of
 * nothing. kernel_param_lock() is held.
 */
static int timely_config_renew(void)
{
	struct timely_config *c;

	if (timely_t_low.value > timely_t_high.value) {
		pr_err("t_low must be at most t_high: %u is above %u us\n",
		       timely_t_low.value, timely_t_high.value);
		return -EINVAL;
	}
	c = timely_config_new();
	if (!c)
		return -ENOMEM;
	timely_config_put(rcu_replace_pointer(timely_current, c, true));
	return 0;
}

static int timely_knob_set(const char *text, const struct kernel_param *kp)
{
	struct timely_knob *knob = kp->arg;
	u32 value, old = knob->value;
	int err;

	err = timely_knob_parse(knob, text, &value);
	if (!err && (value < knob->min || value > knob->max))
		err = -ERANGE;
	if (err) {
		timely_knob_complain(kp->name, knob);
		return err;
	}
	knob->value = value;
	if (!timely_config_ready)
		return 0;
	err = timely_config_renew();
	if (err)
		knob->value = old;
	return err;
}

static int timely_knob_get(char *buffer, const struct kernel_param *kp)
{
	const struct timely_knob *knob = kp->arg;

	if (knob->words)
		return sysfs_emit(buffer, "%s\n", knob->words[knob->value]);
	if (knob->fraction)
		return sysfs_emit(buffer, "%u.%03u\n", knob->value / 1000, knob->value % 1000);
	return sysfs_emit(buffer, "%u\n", knob->value);
}

static const struct kernel_param_ops timely_knob_ops = {
	.set = timely_knob_set,
	.get = timely_knob_get,
};

static int timely_config_init(void)
{
	int err;

	kernel_param_lock(THIS_MODULE);
	err = timely_config_renew();
	timely_config_ready = !err;
	kernel_param_unlock(THIS_MODULE);
	return err;
}

/* Nobody writes parameters any more. */
static void timely_config_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	timely_config_ready = false;
	timely_config_put(rcu_replace_pointer(timely_current, NULL, true));
	kernel_param_unlock(THIS_MODULE);
}

#endif /* _TIMELY_CONFIG_H */
