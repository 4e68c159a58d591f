/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DCQCN: a sender's rate by congestion notifications (CNPs), in plain C
 *
 * A switch marks packets by the length of its queue. The receiver (NP,
 * notification point) answers marked packets of a flow with CNPs, one in N at
 * most. The sender (RP, reaction point) has a current rate R_C, a target rate
 * R_T and an estimate alpha of congestion:
 *
 *	at a CNP:	R_T = R_C,  R_C = R_C (1 - alpha / 2),
 *			alpha = (1 - g) alpha + g;  TC = BC = 0, timer, counter = 0
 *	K after it:	alpha = (1 - g) alpha, and so on after each K
 *	each T:		TC += 1 \  and then, of the two counts,
 *	each B bytes:	BC += 1 /
 *
 *	max(TC, BC) < F:	fast recovery
 *	min(TC, BC) > F:	hyper increase:	R_T += i R_HAI,  i = min(TC, BC) - F + 1
 *	else:			additive increase: R_T += R_AI
 *	in all three:		R_C = (R_T + R_C) / 2
 *
 *	          +------+ max = F +----------+ min > F +-------+
 *	  start ->| fast |-------->| additive |-------->| hyper |
 *	          +------+         +----------+         +-------+
 *	              ^                  | CNP              | CNP
 *	              +------------------+------------------+
 *
 *   Yibo Zhu, Haggai Eran, Daniel Firestone, Chuanxiong Guo, Marina
 *   Lipshteyn, Yehonatan Liron, Jitendra Padhye, Shachar Raindel, Mohamad
 *   Haj Yahia, Ming Zhang: "Congestion Control for Large-Scale RDMA
 *   Deployments", SIGCOMM 2015.
 *
 * There is no timer a flow. What the timers would have done is done when the
 * flow is looked at, with the same result, in a time that does not depend on
 * how long that was ago: dcqcn_events(), dcqcn_alpha().
 *
 * Differences from the paper:
 *  - It does not give hyper increase in equations. These are those of the code
 *    that its authors published, which comes from QCN (802.1Qau).
 *  - That code raises alpha before it cuts the rate, the text cuts first:
 *    alpha_first. It has other things that the text does not have, and neither
 *    has this: R_T / 8 in the first step if it is far above R_C, half of T and B
 *    in hyper increase, R_T that stays where it is at the second CNP in a row.
 *  - Before a flow's first CNP alpha stays what it is at first, as in that code
 *    and in NICs: so the first CNP halves the rate, if alpha starts with 1.
 *  - TC and BC do not count beyond 255. There, i R_HAI is the line rate if
 *    R_HAI is a 250th of it; by default, it is a hundredth.
 *  - R_C is rounded up to whole bytes per second, so that it reaches R_T.
 *  - NICs do otherwise: there alpha follows a bit "CNP seen" that a free timer
 *    reads, and the rate is not cut twice in rate_reduce_monitor_period. The
 *    latter is here, too, for receivers that are no NP: dcqcn_cnp().
 *  - A lost packet halves the rate (dcqcn_cut()). The paper's network loses none.
 *  - The end of an NP's N is only seen when a packet comes.
 */
#ifndef _DCQCN_H
#define _DCQCN_H

#include <closnet/core.h>

/* alpha and g are Q1.63 */
#define DCQCN_SHIFT		63
#define DCQCN_ONE		(1ULL << DCQCN_SHIFT)

/* Where the counts of events since the last CNP end */
#define DCQCN_STAGE_MAX		255U

/**
 * struct dcqcn_params - what stays the same for all rates of line
 * @alpha_ns: K, time without a CNP after which alpha decays; not 0
 * @timer_ns: T, time between two of the timer's events; not 0
 * @byte_reset: B, bytes between two of the counter's events; not 0
 * @threshold: F, events in fast recovery; below 255
 * @g_inverse: 1/g; not 0, 2^16 at most
 * @initial_alpha: alpha before the first CNP, thousandths
 * @cnp_interval_ns: N, least time between two CNPs to a flow
 * @monitor_ns: least time between two CNPs that count if the receiver is no NP
 * @alpha_first: a CNP raises alpha before it cuts the rate
 * @g: weight of a CNP in alpha, Q1.63
 * @start_alpha: @initial_alpha, Q1.63
 *
 * The last two follow from the others: dcqcn_params_finish().
 */
struct dcqcn_params {
	u32 alpha_ns;
	u32 timer_ns;
	u32 byte_reset;
	u32 threshold;
	u32 g_inverse;
	u32 initial_alpha;
	u32 cnp_interval_ns;
	u32 monitor_ns;
	bool alpha_first;
	u64 g;
	u64 start_alpha;
};

/**
 * struct dcqcn_limits - what depends on the line
 * @min_Bps: least rate, bytes per second, up to @max_Bps
 * @max_Bps: highest rate, bytes per second, up to 2^38
 * @ai_Bps: R_AI, step of additive increase, bytes per second, up to 2^38
 * @hai_Bps: R_HAI, step of hyper increase, bytes per second, up to 2^38
 */
struct dcqcn_limits {
	u64 min_Bps;
	u64 max_Bps;
	u64 ai_Bps;
	u64 hai_Bps;
};

/**
 * struct dcqcn_vars - a sender's state: dcqcn_start()
 * @rate_Bps: R_C, rate, bytes per second; at most @target_Bps
 * @target_Bps: R_T, where it goes to
 * @alpha: as the last CNP left it, Q1.63: dcqcn_alpha()
 * @cnp_ns: when that was
 * @timer_ns: when the timer had its last event, or was reset
 * @bytes: since the byte counter's last event
 * @timer_stage: TC, events of the timer since the last cut
 * @byte_stage: BC, events of the byte counter since the last cut
 * @cnp_seen: there was a CNP
 * @lost: the last cut was a loss's
 */
struct dcqcn_vars {
	u64 rate_Bps;
	u64 target_Bps;
	u64 alpha;
	u64 cnp_ns;
	u64 timer_ns;
	u32 bytes;
	u8 timer_stage;
	u8 byte_stage;
	u8 cnp_seen:1,
	   lost:1;
};

/**
 * struct dcqcn_np - a receiver's state; zeros at first
 * @cnp_ns: when the last CNP was sent; 0: never
 * @pending: a marked packet came after it
 */
struct dcqcn_np {
	u64 cnp_ns;
	bool pending;
};

/**
 * enum dcqcn_cause - what changed the rate
 * @DCQCN_NONE: nothing did
 * @DCQCN_START: a flow started
 * @DCQCN_FAST: fast recovery
 * @DCQCN_ADDITIVE: additive increase
 * @DCQCN_HYPER: hyper increase
 * @DCQCN_CNP: a CNP
 * @DCQCN_LOSS: a loss
 * @DCQCN_UNDO: that loss was none
 * @DCQCN_CAUSES: how many there are
 */
enum dcqcn_cause {
	DCQCN_NONE,
	DCQCN_START,
	DCQCN_FAST,
	DCQCN_ADDITIVE,
	DCQCN_HYPER,
	DCQCN_CNP,
	DCQCN_LOSS,
	DCQCN_UNDO,
	DCQCN_CAUSES
};

/**
 * dcqcn_params_finish() - derive the parameters that follow from others
 * @p: parameters
 */
static inline void dcqcn_params_finish(struct dcqcn_params *p)
{
	p->g = div_u64(DCQCN_ONE, p->g_inverse);
	/* 1000 thousandths in Q1.53 fit 64 bits, and are 1 exactly */
	p->start_alpha = div_u64((u64)p->initial_alpha << 53, 1000) << (DCQCN_SHIFT - 53);
}

/* x * y, all in Q1.63, up to 1 */
static inline u64 dcqcn_mul(u64 x, u64 y)
{
	return mul_u64_u64_shr(x, y, DCQCN_SHIFT);
}

/* ---- reaction point (RP): the sender */

static inline void dcqcn_reset(struct dcqcn_vars *v, u64 now_ns)
{
	v->timer_ns = now_ns;
	v->bytes = 0;
	v->timer_stage = 0;
	v->byte_stage = 0;
}

/**
 * dcqcn_start() - a flow starts, at line rate
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: the time, of any clock that does not go back
 */
static inline void dcqcn_start(struct dcqcn_vars *v, const struct dcqcn_params *p,
			       const struct dcqcn_limits *l, u64 now_ns)
{
	*v = (struct dcqcn_vars) {
		.rate_Bps = l->max_Bps,
		.target_Bps = l->max_Bps,
		.alpha = p->start_alpha,
	};
	dcqcn_reset(v, now_ns);
}

/**
 * dcqcn_alpha() - the estimate of congestion
 * @v: state
 * @p: parameters
 * @now_ns: the time
 *
 * What the last CNP left, times (1 - g)^n after n times K: at once by repeated
 * squaring, and always from there, so that it does not matter when and how often
 * it is asked for. It differs from n single steps by less than 2^-62 / g: what
 * 10 Tbit/s are cut by, by less than a byte per second.
 *
 * Return: alpha, Q1.63.
 */
static inline u64 dcqcn_alpha(const struct dcqcn_vars *v,
			      const struct dcqcn_params *p, u64 now_ns)
{
	u64 power = DCQCN_ONE - p->g, alpha = v->alpha, n;

	if (!v->cnp_seen || now_ns - v->cnp_ns < p->alpha_ns)
		return alpha;
	for (n = div_u64(now_ns - v->cnp_ns, p->alpha_ns); n && alpha; n >>= 1) {
		if (n & 1)
			alpha = dcqcn_mul(alpha, power);
		power = dcqcn_mul(power, power);
	}
	return alpha;
}

/* What an event does at these counts; @step_Bps: what it adds to R_T */
static inline enum dcqcn_cause dcqcn_stage(const struct dcqcn_params *p,
					   const struct dcqcn_limits *l,
					   u32 stage, u32 other, u64 *step_Bps)
{
	u32 least = min_t(u32, stage, other);

	if (max_t(u32, stage, other) < p->threshold) {
		*step_Bps = 0;
		return DCQCN_FAST;
	}
	if (least > p->threshold) {
		*step_Bps = (least - p->threshold + 1) * l->hai_Bps;
		return DCQCN_HYPER;
	}
	*step_Bps = l->ai_Bps;
	return DCQCN_ADDITIVE;
}

/*
 * How many events from now on, of those that add @step_Bps to R_T, do nothing
 * but add it to R_C, too. With r = R_T - R_C each event makes r = (r + step) / 2,
 * rounded down. From where that is r, both rates go up in parallel to the limit.
 */
static inline u64 dcqcn_parallel(const struct dcqcn_vars *v,
				 const struct dcqcn_limits *l, u64 step_Bps)
{
	u64 r = v->target_Bps - v->rate_Bps;

	if ((r + step_Bps) / 2 != r)
		return 0;
	return step_Bps ? div64_u64(l->max_Bps - v->target_Bps, step_Bps) : U64_MAX;
}

/*
 * @n events of the timer, or of the byte counter. @stage is its count, which
 * goes on; @other that of the other, which stays. One by one as long as they
 * differ; then the rest at once. They differ while the count decides what they
 * do, until it is F and @other; and then until R_T and R_C are parallel, and
 * once more when R_T is at its limit. Each time, r halves: so few are left.
 */
static inline enum dcqcn_cause dcqcn_events(struct dcqcn_vars *v,
					    const struct dcqcn_params *p,
					    const struct dcqcn_limits *l,
					    u64 n, u8 *stage, u8 other)
{
	enum dcqcn_cause cause;
	u64 step_Bps, parallel;

	do {
		*stage = min_t(u32, *stage + 1, DCQCN_STAGE_MAX);
		cause = dcqcn_stage(p, l, *stage, other, &step_Bps);
		step_Bps = min_t(u64, step_Bps, l->max_Bps - v->target_Bps);
		parallel = dcqcn_parallel(v, l, step_Bps);
		if (parallel && *stage >= max_t(u32, p->threshold, other)) {
			parallel = min_t(u64, parallel, n);
			v->target_Bps += parallel * step_Bps;
			v->rate_Bps += parallel * step_Bps;
			*stage = min_t(u64, *stage + parallel - 1, DCQCN_STAGE_MAX);
			n -= parallel;
		} else {
			v->target_Bps += step_Bps;
			v->rate_Bps = (v->target_Bps + v->rate_Bps + 1) / 2;
			n--;
		}
	} while (n);
	return cause;
}

/**
 * dcqcn_advance() - do what the timer and the byte counter have to
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: the time
 * @bytes: sent (or acknowledged) since the last call
 *
 * First all events of the timer, then those of the byte counter.
 *
 * Return: what the last of them did, DCQCN_NONE if there was none.
 */
static inline enum dcqcn_cause dcqcn_advance(struct dcqcn_vars *v,
					     const struct dcqcn_params *p,
					     const struct dcqcn_limits *l,
					     u64 now_ns, u64 bytes)
{
	enum dcqcn_cause cause = DCQCN_NONE;
	u64 n;

	/* the line may be another one by now */
	v->target_Bps = max_t(u64, min_t(u64, v->target_Bps, l->max_Bps), l->min_Bps);
	v->rate_Bps = max_t(u64, min_t(u64, v->rate_Bps, v->target_Bps), l->min_Bps);

	if (now_ns - v->timer_ns >= p->timer_ns) {
		n = div_u64(now_ns - v->timer_ns, p->timer_ns);
		v->timer_ns += n * p->timer_ns;
		cause = dcqcn_events(v, p, l, n, &v->timer_stage, v->byte_stage);
	}
	bytes += v->bytes;
	if (bytes >= p->byte_reset) {
		n = div_u64(bytes, p->byte_reset);
		bytes -= n * p->byte_reset;
		cause = dcqcn_events(v, p, l, n, &v->byte_stage, v->timer_stage);
	}
	v->bytes = bytes;
	return cause;
}

/**
 * dcqcn_cnp() - a CNP came
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: the time
 * @fresh: it is not the last one, said once more
 *
 * A receiver that is no NP says what it has to say for a round trip. So what
 * may be a repetition only counts if the last CNP that did is monitor_ns ago. Of
 * an NP none is a repetition; but they may come closer to each other than it
 * sends them, down to half of that.
 *
 * Return: whether it counts, and has cut the rate.
 */
static inline bool dcqcn_cnp(struct dcqcn_vars *v, const struct dcqcn_params *p,
			     const struct dcqcn_limits *l, u64 now_ns, bool fresh)
{
	u32 least_ns = fresh ? p->monitor_ns / 2 : p->monitor_ns;
	u64 alpha, raised;

	if (v->cnp_seen && now_ns - v->cnp_ns < least_ns)
		return false;
	dcqcn_advance(v, p, l, now_ns, 0);
	alpha = dcqcn_alpha(v, p, now_ns);
	raised = dcqcn_mul(alpha, DCQCN_ONE - p->g) + p->g;
	if (p->alpha_first)
		alpha = raised;

	v->target_Bps = v->rate_Bps;
	/* alpha / 2 is Q0.64 as alpha is Q1.63 */
	v->rate_Bps -= mul_u64_u64_shr(v->rate_Bps, alpha, DCQCN_SHIFT + 1);
	v->rate_Bps = max_t(u64, v->rate_Bps, l->min_Bps);
	v->alpha = raised;
	v->cnp_ns = now_ns;
	v->cnp_seen = true;
	v->lost = false;
	dcqcn_reset(v, now_ns);
	return true;
}

/**
 * dcqcn_cut() - a packet was lost
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: the time
 *
 * As a CNP with alpha = 1, which however says nothing about alpha. The caller
 * sees to it that this happens once a round trip.
 */
static inline void dcqcn_cut(struct dcqcn_vars *v, const struct dcqcn_params *p,
			     const struct dcqcn_limits *l, u64 now_ns)
{
	dcqcn_advance(v, p, l, now_ns, 0);
	v->target_Bps = v->rate_Bps;
	v->rate_Bps = max_t(u64, v->rate_Bps / 2, l->min_Bps);
	v->lost = true;
	dcqcn_reset(v, now_ns);
}

/**
 * dcqcn_undo() - take a dcqcn_cut() back: nothing was lost
 * @v: state
 *
 * If there was a CNP since, the rate stays what that made of it.
 *
 * Return: whether there was something to take back.
 */
static inline bool dcqcn_undo(struct dcqcn_vars *v)
{
	if (!v->lost)
		return false;
	v->rate_Bps = v->target_Bps;
	v->lost = false;
	return true;
}

/* ---- notification point (NP): the receiver */

/**
 * dcqcn_np_packet() - a packet came
 * @np: state
 * @p: parameters
 * @now_ns: the time
 * @ce: it is marked
 *
 * The first marked packet of a flow has a CNP at once. Then there is one in N
 * at most: for those that came marked in between, at its end.
 *
 * Return: send a CNP now.
 */
static inline bool dcqcn_np_packet(struct dcqcn_np *np, const struct dcqcn_params *p,
				   u64 now_ns, bool ce)
{
	np->pending |= ce;
	if (!np->pending || (np->cnp_ns && now_ns - np->cnp_ns < p->cnp_interval_ns))
		return false;
	np->pending = false;
	np->cnp_ns = now_ns;
	return true;
}

#endif /* _DCQCN_H */
