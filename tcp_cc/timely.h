/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TIMELY: interface of the algorithm in timely.c
 */
#ifndef _TIMELY_H
#define _TIMELY_H

#include <closnet/core.h>

/* Fraction bits of weights and factors, of 1/min_rtt, and of the smoothed difference */
#define TIMELY_SHIFT		20
#define TIMELY_INV_SHIFT	40
#define TIMELY_DIFF_SHIFT	8
#define TIMELY_ONE		(1U << TIMELY_SHIFT)

/* Longer RTTs are treated as this one. No datacenter has an RTT of a second. */
#define TIMELY_RTT_MAX_NS	(1U << 30)

/**
 * struct timely_params - parameters that do not depend on the line rate
 * @alpha: weight of a new RTT difference in the average, Q12.20, at most 1
 * @beta: multiplicative decrease between the thresholds, Q12.20, at most 1
 * @beta_high: multiplicative decrease above @t_high_ns, Q12.20, at most 1
 * @t_low_ns: T_low; below it the rate only rises
 * @t_high_ns: T_high; above it the rate only falls; at least @t_low_ns, at most 2^30
 * @min_rtt_ns: minRTT, unit of the gradient and time between two full steps; a
 *	constant, not measured (section 4.3); at least 1000
 * @hai_n: N, additive steps at once in hyperactive increase
 * @hai_threshold: consecutive bursts without a rise that start hyperactive increase
 * @patched: use the rule of CoNEXT 2016 between the thresholds
 * @inv_min_rtt: 1 / @min_rtt_ns, Q24.40; set by timely_params_finish()
 * @ref_ns: target RTT of mode patched; set by timely_params_finish()
 * @inv_ref: 1 / @ref_ns, Q24.40; set by timely_params_finish()
 */
struct timely_params {
	u32 alpha;
	u32 beta;
	u32 beta_high;
	u32 t_low_ns;
	u32 t_high_ns;
	u32 min_rtt_ns;
	u8 hai_n;
	u8 hai_threshold;
	bool patched;
	u32 inv_min_rtt;
	u32 ref_ns;
	u32 inv_ref;
};

/**
 * struct timely_limits - parameters that depend on the line rate
 * @delta_Bps: delta, the additive step, bytes per second, at most 2^36
 * @min_Bps: lowest rate, bytes per second, not 0
 * @max_Bps: highest rate, bytes per second, at most 2^38
 */
struct timely_limits {
	u64 delta_Bps;
	u64 min_Bps;
	u64 max_Bps;
};

/**
 * struct timely_path - inputs of the rule, see timely_rule()
 * @link_Bps: payload rate of the link, bytes per second, at most 2^38
 * @packet_ns: transmission time of a full packet on the link
 * @burst: packets in a burst
 * @least_ns: least RTT of the connection
 */
struct timely_path {
	u64 link_Bps;
	u32 packet_ns;
	u32 burst;
	u32 least_ns;
};

/**
 * struct timely_vars - state of a sender, initialised by timely_start()
 * @rate_Bps: rate, bytes per second
 * @updated_ns: time of the last sample
 * @diff: smoothed difference of consecutive RTTs, ns, Q56.8
 * @prev_rtt_ns: last RTT; 0: there is no RTT to compare the next one with
 * @hai_count: consecutive samples in which neither the RTT nor the gradient rose
 */
struct timely_vars {
	u64 rate_Bps;
	u64 updated_ns;
	s64 diff;
	u32 prev_rtt_ns;
	u8 hai_count;
};

/**
 * enum timely_cause - reason for the present rate
 * @TIMELY_START: first sample; there was no RTT to compare it with
 * @TIMELY_LOW: additive increase, RTT below T_low
 * @TIMELY_HIGH: decrease, RTT above T_high
 * @TIMELY_ADD: additive increase, RTT does not rise
 * @TIMELY_HAI: hyperactive increase
 * @TIMELY_MUL: decrease, RTT rises
 * @TIMELY_REF: mode patched, between T_low and T_high
 * @TIMELY_HOLD: increase suppressed, as the sender did not use its rate
 * @TIMELY_LONE: increase to one burst per RTT
 * @TIMELY_IDLE: rate of a new sender, after an idle period
 * @TIMELY_LOSS: decrease after a loss
 * @TIMELY_UNDO: the loss was spurious
 * @TIMELY_UP: mode swift: the delay is below its target
 * @TIMELY_DOWN: mode swift: decrease, delay above its target
 * @TIMELY_KEEP: mode swift: delay above its target, after a decrease within the RTT
 * @TIMELY_HOST: mode swift: decrease by the endpoint delay
 * @TIMELY_CAUSES: number of causes
 */
enum timely_cause {
	TIMELY_START,
	TIMELY_LOW,
	TIMELY_HIGH,
	TIMELY_ADD,
	TIMELY_HAI,
	TIMELY_MUL,
	TIMELY_REF,
	TIMELY_HOLD,
	TIMELY_LONE,
	TIMELY_IDLE,
	TIMELY_LOSS,
	TIMELY_UNDO,
	TIMELY_UP,
	TIMELY_DOWN,
	TIMELY_KEEP,
	TIMELY_HOST,
	TIMELY_CAUSES
};

void timely_params_finish(struct timely_params *p);
u32 timely_rule_burst(const struct timely_params *p, u64 rate_Bps, u32 mss);
void timely_rule(struct timely_params *p, struct timely_limits *l, const struct timely_path *path,
		 u64 rate_Bps);
s64 timely_gradient(const struct timely_vars *v, const struct timely_params *p);
void timely_start(struct timely_vars *v, const struct timely_limits *l);
enum timely_cause timely_update(struct timely_vars *v, const struct timely_params *p,
				const struct timely_limits *l, u32 rtt_ns, u64 now_ns, bool hold);
bool timely_lone(struct timely_vars *v, const struct timely_limits *l, u32 bytes, u32 rtt_ns);
void timely_cut(struct timely_vars *v, const struct timely_limits *l);
void timely_undo(struct timely_vars *v, const struct timely_limits *l);

#endif /* _TIMELY_H */
