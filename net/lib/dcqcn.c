// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCQCN: a sender's rate from congestion notification packets (CNPs)
 *
 * A switch marks packets according to the length of its queue. The receiver (NP,
 * notification point) answers the marked packets of a flow with CNPs, at most one
 * in time N. The sender (RP, reaction point) has a current rate R_C, a target rate
 * R_T and an estimate alpha of congestion:
 *
 *	at a CNP:	R_T = R_C,  R_C = R_C (1 - alpha / 2),
 *			alpha = (1 - g) alpha + g;  TC = BC = 0, timer, counter = 0
 *	K after it:	alpha = (1 - g) alpha, and again after each K
 *	each T:		TC += 1 \  each followed by one of the
 *	each B bytes:	BC += 1 /  increases below
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
 * A flow has no timers of its own. dcqcn_events() and dcqcn_alpha() apply all
 * events that have become due when the flow is next examined. The result is that of
 * real timers, and the work does not depend on the time that has passed.
 *
 * Differences from the paper:
 *  - The paper has no equations for hyper increase. These are from the code that its
 *    authors published, which follows QCN (802.1Qau).
 *  - That code raises alpha before it cuts the rate; the text cuts first. Parameter
 *    alpha_first selects the order. Three more details of that code, which the text
 *    lacks, are absent here as well: R_T / 8 in the first step if R_T is far above
 *    R_C, half of T and B in hyper increase, and an unchanged R_T at the second of
 *    two consecutive CNPs.
 *  - Until its first CNP, alpha of a flow keeps the initial value, as in that code
 *    and in NICs. With an initial value of 1, the first CNP halves the rate.
 *  - TC and BC saturate at 255. At that point i R_HAI equals the line rate if R_HAI
 *    is 1/250 of the line rate; the default is 1/100.
 *  - R_C is rounded up to whole bytes per second, so that it reaches R_T.
 *  - In NICs, alpha follows a flag "CNP seen", which a free-running timer samples,
 *    and the rate is cut at most once per rate_reduce_monitor_period. Here that
 *    period serves receivers that are not NPs: dcqcn_cnp().
 *  - A loss halves the rate (dcqcn_cut()). The paper's network is lossless.
 *  - The NP notices the end of N only when a packet arrives.
 *
 * Parameter by_rate is not in the paper. A flow at a low rate has few packets in T, and
 * no packet in some K. It cannot receive as many CNPs as its increases would need:
 *  - R_AI is at most 1/128 of R_C. The number of CNPs per second that keeps a rate
 *    constant then depends little on the rate.
 *  - K is at least the time of a packet at R_C, since a K without a packet does not show
 *    that the path is free.
 *
 * Neither is timer_ns of struct dcqcn_limits, for senders that know the RTT: T of RTT / F
 * makes fast recovery last a round trip. While a long queue or PFC delays packets, they
 * arrive in clusters, and a flow gets one CNP per round trip. If fast recovery is shorter,
 * R_C is back at R_T and increases before each CNP. The rates then grow far above the line
 * rate, and the queue remains.
 */
#include <closnet/dcqcn.h>

/*
 * SIGCOMM 2015; g, T, B and R_AI from the simulations of the same authors in CoNEXT
 * 2016. Both used 40 Gbit/s.
 */
const struct dcqcn_profile dcqcn_profiles[DCQCN_PROFILES] = {
	[DCQCN_PROFILE_PAPER] = {
		.time_reset_us	= 55,
		.byte_reset	= 10000000,
		.threshold	= 5,
		.ai_share	= 1000,
		.g_inverse	= 256,
		.alpha_us	= 55,
		.cnp_us		= 50,
		.monitor_us	= 50,
		.window_us	= 1000,
	},
	/* The vendor's RPG_* and DCE_TCP_*, with g = 5/1024, at 40 Gbit/s */
	[DCQCN_PROFILE_NIC] = {
		.time_reset_us	= 300,
		.byte_reset	= 32767,
		.threshold	= 1,
		.ai_share	= 8000,
		.g_inverse	= 205,
		.alpha_us	= 1,
		.cnp_us		= 4,
		.monitor_us	= 4,
		.window_us	= 1000,
	},
	/*
	 * Shorter times give more CNPs, and a quarter of K makes each cut smaller: rates
	 * vary less. Documentation/experiments/dcqcn-join.rst.
	 */
	[DCQCN_PROFILE_TUNED] = {
		.time_reset_us	= 40,
		.byte_reset	= 10000000,
		.threshold	= 5,
		.ai_share	= 1000,
		.g_inverse	= 128,
		.alpha_us	= 15,
		.cnp_us		= 25,
		.monitor_us	= 25,
		.by_rate	= true,
		.burst_us	= 4,
		.window_us	= 100,
	},
};

/**
 * dcqcn_params_finish() - compute the derived parameters
 * @p: parameters, all but the last two set
 */
void dcqcn_params_finish(struct dcqcn_params *p)
{
	p->g = div_u64(DCQCN_ONE, p->g_inverse);
	/* In Q1.53, 1000 thousandths fit 64 bits and give exactly 1. */
	p->start_alpha = div_u64((u64)p->initial_alpha << 53, 1000) << (DCQCN_SHIFT - 53);
}

/**
 * dcqcn_limits_set() - compute the limits of the rate
 * @l: result
 * @r: configured rates
 * @line_Bps: line rate, of which R_AI is a share
 * @max_Bps: highest rate, at most 2^38
 */
void dcqcn_limits_set(struct dcqcn_limits *l, const struct dcqcn_rates *r, u64 line_Bps,
		      u64 max_Bps)
{
	l->max_Bps = max_Bps;
	l->ai_Bps = r->ai_Bps ? r->ai_Bps : div_u64(line_Bps, r->ai_share);
	l->hai_Bps = r->hai_Bps ? r->hai_Bps : 10 * l->ai_Bps;
	l->min_Bps = min_t(u64, r->min_Bps ? r->min_Bps : l->ai_Bps, max_Bps);
	l->timer_ns = 0;
}

/* x * y in Q1.63, for products of at most 1 */
static u64 dcqcn_mul(u64 x, u64 y)
{
	return mul_u64_u64_shr(x, y, DCQCN_SHIFT);
}

/* ---- reaction point (RP) ---- */

static void dcqcn_reset(struct dcqcn_vars *v, u64 now_ns)
{
	v->timer_ns = now_ns;
	v->bytes = 0;
	v->timer_stage = 0;
	v->byte_stage = 0;
}

/**
 * dcqcn_start() - initialise the state of a new flow, which starts at line rate
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: present time, of any monotonic clock
 */
void dcqcn_start(struct dcqcn_vars *v, const struct dcqcn_params *p,
		 const struct dcqcn_limits *l, u64 now_ns)
{
	*v = (struct dcqcn_vars) {
		.rate_Bps = l->max_Bps,
		.target_Bps = l->max_Bps,
		.alpha = p->start_alpha,
	};
	dcqcn_reset(v, now_ns);
}

/* Time of a packet at a rate */
static u64 dcqcn_packet_ns(u64 rate_Bps)
{
	return div64_u64((u64)DCQCN_PACKET_BYTES * NSEC_PER_SEC, max_t(u64, rate_Bps, 1));
}

/**
 * dcqcn_alpha() - present estimate of congestion
 * @v: state
 * @p: parameters
 * @now_ns: present time
 *
 * Multiplies alpha of the last CNP by (1 - g)^n after n times K, by repeated
 * squaring. The result is always computed from the last CNP, so it does not depend
 * on the number of calls. With by_rate, K follows the present rate. The result
 * differs from n single steps by less than 2^-62 / g,
 * which changes a cut at 10 Tbit/s by less than a byte per second.
 *
 * Return: alpha, Q1.63.
 */
u64 dcqcn_alpha(const struct dcqcn_vars *v, const struct dcqcn_params *p, u64 now_ns)
{
	u64 power = DCQCN_ONE - p->g, alpha = v->alpha, period_ns = p->alpha_ns, n;

	if (!v->cnp_seen || now_ns - v->cnp_ns < period_ns)
		return alpha;
	if (p->by_rate)
		period_ns = max_t(u64, period_ns, dcqcn_packet_ns(v->rate_Bps));
	for (n = div64_u64(now_ns - v->cnp_ns, period_ns); n && alpha; n >>= 1) {
		if (n & 1)
			alpha = dcqcn_mul(alpha, power);
		power = dcqcn_mul(power, power);
	}
	return alpha;
}

/* Kind of increase at these counts; @step_Bps: its addend to R_T */
static enum dcqcn_cause dcqcn_stage(const struct dcqcn_params *p, const struct dcqcn_limits *l,
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
 * Number of the next events, each adding @step_Bps to R_T, that add the same to
 * R_C. With r = R_T - R_C, an event makes r = (r + step) / 2, rounded down. Once
 * that leaves r unchanged, both rates rise in parallel up to the limit.
 */
static u64 dcqcn_parallel(const struct dcqcn_vars *v, const struct dcqcn_limits *l, u64 step_Bps)
{
	u64 r = v->target_Bps - v->rate_Bps;

	if ((r + step_Bps) / 2 != r)
		return 0;
	return step_Bps ? div64_u64(l->max_Bps - v->target_Bps, step_Bps) : U64_MAX;
}

/* Is the step of additive increase limited by R_C, so that each event changes it? */
static bool dcqcn_step_by_rate(const struct dcqcn_vars *v, const struct dcqcn_params *p,
			       u64 *step_Bps)
{
	u64 most_Bps = (v->rate_Bps >> DCQCN_AI_SHIFT) + 1;

	if (!p->by_rate || *step_Bps <= most_Bps)
		return false;
	*step_Bps = most_Bps;
	return true;
}

/*
 * Apply @n events of the timer or of the byte counter. @stage is the count of that
 * one, which advances; @other is the constant count of the second one.
 *
 * Events are applied singly while they differ, and the remaining ones at once. They
 * differ until @stage reaches F and @other, then until R_T and R_C are parallel,
 * and again when R_T has reached its limit. As r halves each time, the number of
 * single events is small. With by_rate, events are also single while the step grows:
 * some hundred of them let R_C grow a hundredfold.
 */
static enum dcqcn_cause dcqcn_events(struct dcqcn_vars *v, const struct dcqcn_params *p,
				     const struct dcqcn_limits *l, u64 n, u8 *stage, u8 other)
{
	enum dcqcn_cause cause;
	u64 step_Bps, parallel;
	bool growing;

	do {
		*stage = min_t(u32, *stage + 1, DCQCN_STAGE_MAX);
		cause = dcqcn_stage(p, l, *stage, other, &step_Bps);
		growing = cause == DCQCN_ADDITIVE && dcqcn_step_by_rate(v, p, &step_Bps);
		step_Bps = min_t(u64, step_Bps, l->max_Bps - v->target_Bps);
		parallel = growing && step_Bps ? 0 : dcqcn_parallel(v, l, step_Bps);
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
 * dcqcn_advance() - apply the timer and byte counter events that are due
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: present time
 * @bytes: bytes sent since the last call
 *
 * All timer events precede those of the byte counter.
 *
 * Return: kind of the last increase; DCQCN_NONE if no event was due.
 */
enum dcqcn_cause dcqcn_advance(struct dcqcn_vars *v, const struct dcqcn_params *p,
			       const struct dcqcn_limits *l, u64 now_ns, u64 bytes)
{
	u64 timer_ns = max_t(u64, p->timer_ns, l->timer_ns), n;
	enum dcqcn_cause cause = DCQCN_NONE;

	/* The limits may have changed with the line rate. */
	v->target_Bps = max_t(u64, min_t(u64, v->target_Bps, l->max_Bps), l->min_Bps);
	v->rate_Bps = max_t(u64, min_t(u64, v->rate_Bps, v->target_Bps), l->min_Bps);

	if (now_ns - v->timer_ns >= timer_ns) {
		n = div64_u64(now_ns - v->timer_ns, timer_ns);
		v->timer_ns += n * timer_ns;
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
 * dcqcn_cnp() - process a CNP
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: present time
 * @fresh: the CNP is not a repetition of the last one
 *
 * A receiver that is not an NP repeats its notification for a round trip. A possible
 * repetition is therefore ignored within monitor_ns of the last effective CNP. An NP
 * repeats no CNP, but the network may reduce the distance of two CNPs; up to half
 * of monitor_ns is accepted.
 *
 * Return: true if the CNP was effective and has cut the rate.
 */
bool dcqcn_cnp(struct dcqcn_vars *v, const struct dcqcn_params *p, const struct dcqcn_limits *l,
	       u64 now_ns, bool fresh)
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
	/* alpha / 2 is Q0.64 as alpha is Q1.63. */
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
 * dcqcn_cut() - halve the rate after a loss
 * @v: state
 * @p: parameters
 * @l: limits
 * @now_ns: present time
 *
 * Acts as a CNP with alpha = 1 that leaves alpha unchanged. The caller ensures that
 * this happens at most once per round trip.
 */
void dcqcn_cut(struct dcqcn_vars *v, const struct dcqcn_params *p, const struct dcqcn_limits *l,
	       u64 now_ns)
{
	dcqcn_advance(v, p, l, now_ns, 0);
	v->target_Bps = v->rate_Bps;
	v->rate_Bps = max_t(u64, v->rate_Bps / 2, l->min_Bps);
	v->lost = true;
	dcqcn_reset(v, now_ns);
}

/**
 * dcqcn_undo() - revert dcqcn_cut() after a spurious loss
 * @v: state
 *
 * Has no effect if a CNP has cut the rate since.
 *
 * Return: true if the rate was restored.
 */
bool dcqcn_undo(struct dcqcn_vars *v)
{
	if (!v->lost)
		return false;
	v->rate_Bps = v->target_Bps;
	v->lost = false;
	return true;
}

/* ---- notification point (NP) ---- */

/**
 * dcqcn_np_packet() - process a received packet
 * @np: state
 * @p: parameters
 * @now_ns: present time
 * @ce: the packet is marked
 *
 * The first marked packet of a flow causes a CNP at once. Marked packets less than N
 * after a CNP together cause one CNP at the end of N.
 *
 * Return: true if a CNP is to be sent now.
 */
bool dcqcn_np_packet(struct dcqcn_np *np, const struct dcqcn_params *p, u64 now_ns, bool ce)
{
	np->pending |= ce;
	if (!np->pending || (np->cnp_ns && now_ns - np->cnp_ns < p->cnp_interval_ns))
		return false;
	np->pending = false;
	np->cnp_ns = now_ns;
	return true;
}
