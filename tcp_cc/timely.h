/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TIMELY: a sender's rate from the gradient of its RTT, in plain C
 *
 * A NIC's clock makes RTTs good to microseconds, and in a datacenter an RTT
 * minus what is constant is a queue's length. TIMELY steers by the RTT's
 * slope, so that it reacts while a queue builds up, and not when it is full.
 * With each completed burst, whose RTT is rtt:
 *
 *	diff     = (1 - alpha) diff + alpha (rtt - rtt of the last burst)
 *	gradient = diff / min_rtt
 *
 *	rtt < t_low:	rate += delta
 *	rtt > t_high:	rate *= 1 - beta (1 - t_high / rtt)
 *	gradient <= 0:	rate += N delta
 *	gradient > 0:	rate *= 1 - beta gradient
 *
 *	   rate |  low    |      between        |  high
 *	        |  +delta |  gradient decides   |  down to t_high
 *	        +---------+---------------------+-----------> rtt
 *	                t_low                 t_high
 *
 * N is 1, or hai_n from the hai_threshold-th burst in sequence on that did not
 * see the RTT rise (hyperactive increase). That is mode "classic", Algorithm 1 of
 *
 *   Radhika Mittal, Vinh The Lam, Nandita Dukkipati, Emily Blem, Hassan
 *   Wassel, Monia Ghobadi, Amin Vahdat, Yaogong Wang, David Wetherall, David
 *   Zats: "TIMELY: RTT-based Congestion Control for the Datacenter",
 *   SIGCOMM 2015.
 *
 * It has no single fixed point: flows may keep any shares. Mode "patched" has
 * one. Between t_low and t_high it does, with a weight w that rises from 0 at
 * a gradient of -1/4 to 1 at 1/4,
 *
 *	rate = rate (1 - beta w (rtt - ref) / ref) + delta (1 - w),  ref = t_low
 *
 *   Yibo Zhu, Monia Ghobadi, Vishal Misra, Jitendra Padhye: "ECN or Delay:
 *   Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
 *
 * Differences from the papers:
 *  - As in the code that the first paper's authors published, additive steps
 *    and the decrease above t_high are scaled by the time since the last burst,
 *    over min_rtt, if that is below 1: section 5 has the rule for bursts below
 *    64 KB, their code applies it always. In mode patched both terms are.
 *  - Also from there: one burst never takes more than half of the rate.
 *  - The paper counts bursts with a negative gradient for N, that code those with
 *    a falling RTT. Here neither the gradient nor the RTT may rise: the first
 *    alone goes on for long with a small alpha while the RTT already rises, and
 *    when bandwidth is free, the RTT does not fall: it is low and stays so.
 *  - The beta of mode patched, 0.008, is not used above t_high: 40 flows that
 *    begin at line rate would have a queue of 20 ms for a second.
 *  - Mode patched with a t_low below min_rtt aims at min_rtt, and an RTT below
 *    that does not raise the rate but for the additive term.
 *  - A lost packet halves the rate, once a round trip (timely_cut()). The
 *    paper's network loses none.
 *  - If everything that the application has written is acknowledged and the
 *    path was empty, the rate is raised to one burst per RTT (timely_lone()).
 *    Additive steps would end there, too (section 5), after many RPCs, each
 *    of which waits for the pacer.
 *  - A rate is forgotten after an idle retransmission time-out, as TCP's
 *    window is: timely_start().
 */
#ifndef _TIMELY_H
#define _TIMELY_H

#include <closnet/core.h>

/* Fraction bits of: weights and factors, 1/min_rtt, the smoothed difference */
#define TIMELY_SHIFT		20
#define TIMELY_INV_SHIFT	40
#define TIMELY_DIFF_SHIFT	8
#define TIMELY_ONE		(1U << TIMELY_SHIFT)

/* RTTs above are cut to that: a second is no datacenter's */
#define TIMELY_RTT_MAX_NS	(1U << 30)

/**
 * struct timely_params - what stays the same for all rates of line
 * @alpha: weight of a new difference of RTTs, Q12.20, up to 1
 * @beta: multiplicative decrease between the thresholds, Q12.20, up to 1
 * @beta_high: and above @t_high_ns
 * @t_low_ns: below, the rate only grows
 * @t_high_ns: above, it only falls; at least @t_low_ns, 2^30 at most
 * @min_rtt_ns: unit of the gradient, and time between two full steps; a
 *	constant, not measured (section 4.3); 1000 ns at least
 * @hai_n: additive steps at once in hyperactive increase
 * @hai_threshold: bursts in sequence without a rise that start it
 * @patched: CoNEXT 2016's rule between @t_low_ns and @t_high_ns
 * @inv_min_rtt: 1 / @min_rtt_ns, Q24.40
 * @ref_ns: RTT that mode patched aims at
 * @inv_ref: 1 / @ref_ns, Q24.40
 *
 * The last three follow from the others: timely_params_finish().
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
 * struct timely_limits - what depends on the line
 * @delta_Bps: additive step, bytes per second, up to 2^36
 * @min_Bps: least rate, bytes per second, not 0
 * @max_Bps: highest rate, bytes per second, up to 2^38
 */
struct timely_limits {
	u64 delta_Bps;
	u64 min_Bps;
	u64 max_Bps;
};

/**
 * struct timely_vars - a sender's state: timely_start()
 * @rate_Bps: rate, bytes per second
 * @updated_ns: when the last sample came
 * @diff: smoothed difference of two RTTs in sequence, ns, Q56.8
 * @prev_rtt_ns: last RTT; 0: there was none, or it is not comparable
 * @hai_count: samples in sequence for which neither RTT nor gradient rose
 */
struct timely_vars {
	u64 rate_Bps;
	u64 updated_ns;
	s64 diff;
	u32 prev_rtt_ns;
	u8 hai_count;
};

/**
 * enum timely_cause - what a sample did to the rate
 * @TIMELY_START: nothing: there was no RTT to compare it with
 * @TIMELY_LOW: additive increase, as the RTT is below t_low
 * @TIMELY_HIGH: decrease, as the RTT is above t_high
 * @TIMELY_ADD: additive increase, as the RTT does not rise
 * @TIMELY_HAI: hyperactive increase
 * @TIMELY_MUL: decrease, as the RTT rises
 * @TIMELY_REF: mode patched, between t_low and t_high
 * @TIMELY_HOLD: an increase, but its sender did not use the rate it had
 * @TIMELY_LONE: increase to one burst per RTT
 * @TIMELY_IDLE: the rate of a new sender, after an idle period
 * @TIMELY_LOSS: decrease because of a loss
 * @TIMELY_UNDO: that loss was none
 * @TIMELY_CAUSES: how many there are
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
	TIMELY_CAUSES
};

/* 1 / ns, Q24.40; ns >= 1000 fits 32 bits */
static inline u32 timely_inverse(u32 ns)
{
	return div_u64((u64)1 << TIMELY_INV_SHIFT, ns);
}

/**
 * timely_params_finish() - derive the parameters that follow from others
 * @p: parameters
 *
 * Mode patched aims at t_low, as public code does, or at min_rtt if that is
 * more: with no t_low at all there would be nothing to aim at.
 */
static inline void timely_params_finish(struct timely_params *p)
{
	p->inv_min_rtt = timely_inverse(p->min_rtt_ns);
	p->ref_ns = max_t(u32, p->t_low_ns, p->min_rtt_ns);
	p->inv_ref = timely_inverse(p->ref_ns);
}

/**
 * timely_gradient() - the smoothed slope of the RTT
 * @v: state
 * @p: parameters
 *
 * Return: gradient, Q12.20, within -2^31..2^31: what is beyond is as good
 * as infinite.
 */
static inline s64 timely_gradient(const struct timely_vars *v,
				  const struct timely_params *p)
{
	u64 size = v->diff < 0 ? -v->diff : v->diff;

	size = min_t(u64, mul_u64_u64_shr(size, p->inv_min_rtt, TIMELY_DIFF_SHIFT +
					  TIMELY_INV_SHIFT - TIMELY_SHIFT), 1U << 31);
	return v->diff < 0 ? -(s64)size : (s64)size;
}

/* x * y, one of them in Q.20; their product is below 2^64 */
static inline u64 timely_mul(u64 x, u64 y)
{
	return (x * y) >> TIMELY_SHIFT;
}

/* @rate_Bps less its share @factor, but never less than half of it */
static inline u64 timely_less(u64 rate_Bps, u64 factor)
{
	if (factor >= TIMELY_ONE / 2)
		return rate_Bps / 2;
	return rate_Bps - timely_mul(rate_Bps, factor);
}

/* Share of a full step that a sample is worth, Q12.20: section 5 */
static inline u32 timely_step_share(const struct timely_params *p, u64 dt_ns)
{
	if (dt_ns >= p->min_rtt_ns)
		return TIMELY_ONE;
	return (dt_ns * p->inv_min_rtt) >> (TIMELY_INV_SHIFT - TIMELY_SHIFT);
}

/* CoNEXT 2016's weight w: 0 at a gradient of -1/4 and below, 1 from 1/4 on */
static inline u32 timely_weight(s64 gradient)
{
	if (gradient <= -(s64)(TIMELY_ONE / 4))
		return 0;
	if (gradient >= TIMELY_ONE / 4)
		return TIMELY_ONE;
	return 2 * gradient + TIMELY_ONE / 2;
}

static inline u64 timely_patched_rate(const struct timely_vars *v,
				      const struct timely_params *p,
				      const struct timely_limits *l,
				      u32 rtt_ns, u32 share)
{
	u32 w = timely_weight(timely_gradient(v, p));
	u64 over = rtt_ns > p->ref_ns ? rtt_ns - p->ref_ns : 0;
	u64 err = (over * p->inv_ref) >> (TIMELY_INV_SHIFT - TIMELY_SHIFT);
	u64 less = timely_mul(timely_mul(timely_mul(err, w), p->beta), share);

	return timely_less(v->rate_Bps, less) +
	       timely_mul(timely_mul(l->delta_Bps, TIMELY_ONE - w), share);
}

/* The rate that Algorithm 1 asks for, before its limits, and why */
static inline u64 timely_wanted_rate(const struct timely_vars *v,
				     const struct timely_params *p,
				     const struct timely_limits *l,
				     u32 rtt_ns, u32 share, enum timely_cause *cause)
{
	s64 gradient;
	u32 n = 1;

	if (rtt_ns < p->t_low_ns) {
		*cause = TIMELY_LOW;
		return v->rate_Bps + timely_mul(l->delta_Bps, share);
	}
	if (rtt_ns > p->t_high_ns) {
		u64 over = div_u64((u64)(rtt_ns - p->t_high_ns) << TIMELY_SHIFT, rtt_ns);

		*cause = TIMELY_HIGH;
		return timely_less(v->rate_Bps, timely_mul(timely_mul(over, p->beta_high), share));
	}
	if (p->patched) {
		*cause = TIMELY_REF;
		return timely_patched_rate(v, p, l, rtt_ns, share);
	}
	gradient = timely_gradient(v, p);
	if (gradient > 0) {
		*cause = TIMELY_MUL;
		return timely_less(v->rate_Bps, timely_mul(gradient, p->beta));
	}
	*cause = TIMELY_ADD;
	if (p->hai_n > 1 && v->hai_count >= p->hai_threshold) {
		*cause = TIMELY_HAI;
		n = p->hai_n;
	}
	return v->rate_Bps + n * timely_mul(l->delta_Bps, share);
}

static inline u64 timely_clamp(u64 rate_Bps, const struct timely_limits *l)
{
	return max_t(u64, min_t(u64, rate_Bps, l->max_Bps), l->min_Bps);
}

/**
 * timely_start() - state of a new sender, or of one that has been idle
 * @v: state
 * @l: limits
 */
static inline void timely_start(struct timely_vars *v, const struct timely_limits *l)
{
	*v = (struct timely_vars) { .rate_Bps = l->max_Bps };
}

/**
 * timely_restart() - begin a gradient with an RTT that cannot be compared
 * @v: state
 * @rtt_ns: the RTT
 * @now_ns: the time
 *
 * For the first sample, and for the first of another source of RTTs. The
 * smoothed difference stays.
 */
static inline void timely_restart(struct timely_vars *v, u32 rtt_ns, u64 now_ns)
{
	v->prev_rtt_ns = rtt_ns;
	v->updated_ns = now_ns;
	v->hai_count = 0;
}

/**
 * timely_update() - a burst has been acknowledged: Algorithm 1
 * @v: state
 * @p: parameters
 * @l: limits
 * @rtt_ns: its RTT without the time that its bytes took on the line; not 0
 * @now_ns: the time, of any clock that does not go back
 * @hold: the sender used less than 80% of its rate: no increase (section 5)
 *
 * Return: what was done to the rate, and why.
 */
static inline enum timely_cause timely_update(struct timely_vars *v,
					      const struct timely_params *p,
					      const struct timely_limits *l,
					      u32 rtt_ns, u64 now_ns, bool hold)
{
	enum timely_cause cause;
	s64 new_diff;
	u64 wanted;
	u32 share;

	rtt_ns = min_t(u32, rtt_ns, TIMELY_RTT_MAX_NS);
	if (!v->prev_rtt_ns) {
		timely_restart(v, rtt_ns, now_ns);
		return TIMELY_START;
	}
	new_diff = (s64)rtt_ns - v->prev_rtt_ns;
	v->prev_rtt_ns = rtt_ns;
	v->diff += ((s64)p->alpha * (new_diff * (1 << TIMELY_DIFF_SHIFT) - v->diff)) >>
		   TIMELY_SHIFT;
	v->hai_count = new_diff > 0 || v->diff > 0 ? 0 : min_t(u32, v->hai_count + 1, 255);
	share = timely_step_share(p, now_ns - v->updated_ns);
	v->updated_ns = now_ns;

	wanted = timely_wanted_rate(v, p, l, rtt_ns, share, &cause);
	if (hold && wanted > v->rate_Bps) {
		wanted = v->rate_Bps;
		cause = TIMELY_HOLD;
	}
	v->rate_Bps = timely_clamp(wanted, l);
	return cause;
}

/**
 * timely_lone() - a sender with at most one burst to send found the path empty
 * @v: state
 * @l: limits
 * @bytes: of the burst, or of a full packet if that is more
 * @rtt_ns: its RTT, with the time that it took on the line; not 0
 *
 * The rate becomes at least one burst per RTT, of which the sender uses 80%:
 * what section 5 lets additive steps lead to. Then the pacer delays no burst
 * that is sent when the one before is acknowledged.
 *
 * Return: whether the rate was raised.
 */
static inline bool timely_lone(struct timely_vars *v, const struct timely_limits *l,
			       u32 bytes, u32 rtt_ns)
{
	u64 rate_Bps = timely_clamp(div_u64((u64)bytes * (NSEC_PER_SEC / 4 * 5), rtt_ns), l);

	if (rate_Bps <= v->rate_Bps)
		return false;
	v->rate_Bps = rate_Bps;
	return true;
}

/**
 * timely_cut() - a packet was lost
 * @v: state
 * @l: limits
 *
 * The caller sees to it that this happens once a round trip.
 */
static inline void timely_cut(struct timely_vars *v, const struct timely_limits *l)
{
	v->rate_Bps = timely_clamp(v->rate_Bps / 2, l);
}

/**
 * timely_undo() - take a timely_cut() back: nothing was lost
 * @v: state
 * @l: limits
 *
 * If the least rate was what limited the cut, that is more than it took.
 */
static inline void timely_undo(struct timely_vars *v, const struct timely_limits *l)
{
	v->rate_Bps = timely_clamp(v->rate_Bps * 2, l);
}

#endif /* _TIMELY_H */
