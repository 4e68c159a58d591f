/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TIMELY in double precision, from the papers' equations
 *
 * Written from Algorithm 1 and section 5 of the SIGCOMM 2015 paper, from the
 * code that its authors published for what these leave open (a decrease of half
 * at most), and from CoNEXT 2016 for mode patched. It shares no code with
 * tcp_cc/timely.c. Times are in ns, rates in bytes per second.
 */
#ifndef _CLOSNET_UNIT_TIMELY_MODEL_H
#define _CLOSNET_UNIT_TIMELY_MODEL_H

#include <stdbool.h>

/**
 * struct model - parameters and state
 * @alpha: weight of a new difference
 * @beta: multiplicative decrease between the thresholds
 * @beta_high: and above @t_high
 * @t_low: below, only up
 * @t_high: above, only down
 * @min_rtt: unit of the gradient and of the time between updates
 * @ref: mode patched: the RTT aimed at
 * @delta: additive step
 * @min_rate: least rate
 * @max_rate: highest rate
 * @hai_n: steps at once in hyperactive increase
 * @hai_threshold: completions in sequence without a rise that start it
 * @patched: mode patched
 * @rate: the rate
 * @diff: smoothed difference of RTTs
 * @prev_rtt: RTT before
 * @calm: completions in sequence for which neither RTT nor gradient rose
 */
struct model {
	double alpha, beta, beta_high;
	double t_low, t_high, min_rtt, ref;
	double delta, min_rate, max_rate;
	unsigned int hai_n, hai_threshold;
	bool patched;

	double rate, diff, prev_rtt;
	unsigned int calm;
};

/**
 * enum model_sign - is a number positive?
 * @MODEL_OWN: as the model finds
 * @MODEL_NO: no
 * @MODEL_YES: yes
 */
enum model_sign {
	MODEL_OWN,
	MODEL_NO,
	MODEL_YES,
};

/**
 * model_update() - one completed burst
 * @m: model
 * @rtt: its RTT
 * @dt: time since the burst before
 * @hold: no increase, as the application used less than 80% of the rate
 * @diff: whether the smoothed difference is positive
 * @gradient: whether the gradient is positive
 *
 * The latter two are the same in the papers, but not always if numbers are
 * rounded.
 */
void model_update(struct model *m, double rtt, double dt, bool hold,
		  enum model_sign diff, enum model_sign gradient);

#endif /* _CLOSNET_UNIT_TIMELY_MODEL_H */
