// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swift: a sender's window from its delay and a target
 *
 * TIMELY's authors replaced the gradient of the RTT by its difference from a target
 * delay. Each completed burst gives a sample of the delay:
 *
 *	delay < target:	cwnd += ai acked / cwnd,  if cwnd >= 1
 *			cwnd += ai acked,         if cwnd < 1
 *	otherwise, at most once per RTT:
 *			cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
 *
 * The target grows with the path, by its number of hops, and with the number of flows
 * that share a link. A sender does not know that number, but its window falls with it:
 *
 *	target = base + hops hop + clamp(alpha / sqrt(cwnd) - alpha / sqrt(fs_max), 0, fs_range)
 *	alpha  = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max))
 *
 *	    target |
 *	  + fs_range|--.
 *	            |   `.
 *	            |      `-._
 *	    base    |          ``---.._____________
 *	            +---+-----------------+-------> cwnd
 *	              0.1               100
 *
 * Two windows follow this rule: fcwnd by the delay in the fabric, and ecwnd by the
 * average delay in the endpoints. The smaller one applies. A window below one packet
 * is a pace: one packet in RTT / cwnd.
 *
 *	loss:		cwnd *= 1 - max_mdf, at most once per RTT
 *	timeout:	the same; the fifth in a row and later ones: cwnd = min_cwnd
 *
 *   Gautam Kumar, Nandita Dukkipati, Keon Jang, Hassan M. G. Wassel, Xian Wu, Behnam
 *   Montazeri, Yaogong Wang, Kevin Springborn, Christopher Alfeld, Michael Ryan, David
 *   Wetherall, Amin Vahdat: "Swift: Delay is Simple and Effective for Congestion
 *   Control in the Datacenter", SIGCOMM 2020.
 *
 * The paper's text was not at hand. The equations follow its Algorithm 1 and its model
 * in htsim (sim/swift.cpp), whose authors mark constants as guesses.
 *
 * Differences from the paper:
 *  - The endpoint delay lacks the receiver's part, which the paper's ACKs carry. It is
 *    in the fabric delay. Without hardware timestamps, the sender's part is unknown.
 *  - ecwnd has a constant target; the paper scales it with the window.
 *  - A window that is twice the other one does not rise: nothing tests such a size.
 *  - A decrease may be steeper if the delay is over four times the target. A small beta keeps
 *    the link busy, but flows that start together need longer to drain their queue.
 *  - Hyper increase, which the caller may disable: n times hyper_ns after the last
 *    decrease, the step is n ai. A small ai keeps the queue of many flows short, and
 *    a flow still finds free bandwidth in milliseconds.
 *  - The sender paces at all windows, and starts with the largest window.
 */
#include "swift.h"

/* Weight of a new endpoint delay in its average, 1/8 */
#define SWIFT_HOST_SHIFT	3

/* sqrt(cwnd), Q16.16 */
static u32 swift_sqrt(u32 cwnd)
{
	return int_sqrt64((u64)cwnd << SWIFT_CWND_SHIFT);
}

/* ns / sqrt(cwnd) */
static u64 swift_over_sqrt(u32 ns, u32 cwnd)
{
	return div_u64((u64)ns << SWIFT_CWND_SHIFT, swift_sqrt(cwnd));
}

/**
 * swift_params_finish() - compute the derived parameters
 * @p: parameters, all but the last set
 *
 * With fs_min 0.1 and fs_max 100, alpha is fs_range / 3.06.
 */
void swift_params_finish(struct swift_params *p)
{
	u32 unit = 1 << 16;
	u32 span = swift_over_sqrt(unit, SWIFT_FS_MIN) - swift_over_sqrt(unit, SWIFT_FS_MAX);

	p->fs_alpha_ns = mul_u64_u32_div(p->fs_range_ns, unit, span);
}

/**
 * swift_target() - target of the fabric delay
 * @p: parameters
 * @l: limits
 * @cwnd: window, packets, Q16.16, not 0
 * @hops: switches on the path
 *
 * Return: target, ns.
 */
u32 swift_target(const struct swift_params *p, const struct swift_limits *l, u32 cwnd, u8 hops)
{
	u32 target_ns = l->base_ns + hops * p->hop_ns;
	u64 more;

	if (cwnd >= SWIFT_FS_MAX || !p->fs_range_ns)
		return target_ns;
	more = swift_over_sqrt(p->fs_alpha_ns, cwnd) -
	       swift_over_sqrt(p->fs_alpha_ns, SWIFT_FS_MAX);
	return target_ns + min_t(u64, more, p->fs_range_ns);
}

static u32 swift_clamp(u64 cwnd, const struct swift_limits *l)
{
	return max_t(u64, min_t(u64, cwnd, l->max_cwnd), SWIFT_CWND_MIN);
}

/**
 * swift_start() - initialise the state of a new sender, or of one that was idle
 * @v: state
 * @l: limits
 */
void swift_start(struct swift_vars *v, const struct swift_limits *l)
{
	*v = (struct swift_vars) {
		.rate_Bps = v->rate_Bps,
		.fabric_cwnd = l->max_cwnd,
		.host_cwnd = l->max_cwnd,
	};
}

/* ai, or a multiple of it in hyper increase, @calm_ns after the last decrease */
static u32 swift_ai(const struct swift_limits *l, u32 calm_ns)
{
	if (!l->hyper_ns || calm_ns < l->hyper_ns)
		return l->ai;
	return l->ai * min_t(u32, calm_ns / l->hyper_ns, SWIFT_HYPER_MAX);
}

/* Additive increase: ai packets in an RTT */
static u64 swift_add(u32 cwnd, u32 ai, u32 acked)
{
	u64 step = (u64)ai * acked;

	return cwnd + (cwnd >= SWIFT_CWND_ONE ? div_u64(step, cwnd) : step >> SWIFT_CWND_SHIFT);
}

/* Multiplicative decrease: the share of the delay that exceeds the target, at most max_mdf */
static u32 swift_decrease(const struct swift_params *p, u32 cwnd, u32 delay_ns, u32 target_ns)
{
	u64 over = div_u64((u64)(delay_ns - target_ns) << SWIFT_SHIFT, delay_ns);
	u32 beta = delay_ns / SWIFT_HIGH > target_ns ? p->beta_high : p->beta;
	u32 factor = min_t(u64, (over * beta) >> SWIFT_SHIFT, p->max_mdf);

	return cwnd - (((u64)cwnd * factor) >> SWIFT_SHIFT);
}

/**
 * struct swift_window - a window and its input
 * @delay_ns: delay, not 0 if it exceeds the target
 * @target_ns: target
 * @other: the other window, Q16.16
 * @cwnd: window, Q16.16
 * @cut_ns: time of its last decrease, modulo 2^32
 */
struct swift_window {
	u32 delay_ns;
	u32 target_ns;
	u32 other;
	u32 *cwnd;
	u32 *cut_ns;
};

static enum swift_result swift_step(const struct swift_params *p, const struct swift_limits *l,
				    const struct swift_sample *s, u32 now_ns,
				    const struct swift_window *w)
{
	if (w->delay_ns < w->target_ns) {
		u32 ai = swift_ai(l, now_ns - *w->cut_ns);

		if (!s->hold && *w->cwnd / 2 < w->other)
			*w->cwnd = swift_clamp(swift_add(*w->cwnd, ai, s->acked), l);
		return SWIFT_UP;
	}
	if (now_ns - *w->cut_ns < s->rtt_ns)
		return SWIFT_KEEP;
	*w->cwnd = swift_clamp(swift_decrease(p, *w->cwnd, w->delay_ns, w->target_ns), l);
	*w->cut_ns = now_ns;
	return SWIFT_DOWN;
}

/* The average starts with the first delay. */
static void swift_average(struct swift_vars *v, s64 host_ns)
{
	host_ns = min_t(s64, host_ns, SWIFT_DELAY_MAX_NS);
	if (v->host_ns)
		host_ns = v->host_ns + (host_ns - (s64)v->host_ns) / (1 << SWIFT_HOST_SHIFT);
	v->host_ns = max_t(s64, host_ns, 1);
}

/**
 * swift_update() - process the delays of a completed burst: Algorithm 1
 * @v: state
 * @p: parameters
 * @l: limits
 * @s: delays
 * @now_ns: present time, of any monotonic clock
 *
 * Return: what happened to the windows.
 */
enum swift_result swift_update(struct swift_vars *v, const struct swift_params *p,
			       const struct swift_limits *l, const struct swift_sample *s,
			       u64 now_ns)
{
	struct swift_window fabric = {
		.delay_ns = min_t(u32, s->fabric_ns, SWIFT_DELAY_MAX_NS),
		.target_ns = swift_target(p, l, swift_cwnd(v), s->hops),
		.other = v->host_cwnd,
		.cwnd = &v->fabric_cwnd,
		.cut_ns = &v->fabric_cut_ns,
	};
	struct swift_window host = {
		.target_ns = p->host_target_ns,
		.cwnd = &v->host_cwnd,
		.cut_ns = &v->host_cut_ns,
	};
	enum swift_result result;

	v->fabric_ns = fabric.delay_ns;
	result = swift_step(p, l, s, now_ns, &fabric);
	if (s->host_ns < 0)
		return result;
	swift_average(v, s->host_ns);
	host.delay_ns = v->host_ns;
	host.other = v->fabric_cwnd;
	if (swift_step(p, l, s, now_ns, &host) == SWIFT_DOWN && result != SWIFT_DOWN)
		result = SWIFT_HOST;
	return result;
}

/**
 * swift_cwnd() - window of the sender
 * @v: state
 *
 * Return: the smaller window, packets, Q16.16.
 */
u32 swift_cwnd(const struct swift_vars *v)
{
	return min_t(u32, v->fabric_cwnd, v->host_cwnd);
}

/**
 * swift_rate() - pacing rate of the window
 * @v: state
 * @mss: payload of a packet, bytes
 * @rtt_ns: RTT
 *
 * Return: cwnd / RTT, bytes per second.
 */
u64 swift_rate(const struct swift_vars *v, u32 mss, u32 rtt_ns)
{
	/* 8 fraction bits: the product below is less than 2^64 */
	u64 bytes = ((u64)swift_cwnd(v) * mss) >> (SWIFT_CWND_SHIFT - 8);

	rtt_ns = max_t(u32, min_t(u32, rtt_ns, SWIFT_DELAY_MAX_NS), SWIFT_RTT_MIN_NS);
	return mul_u64_u32_div(bytes, NSEC_PER_SEC, rtt_ns) >> 8;
}

/**
 * swift_raise() - raise the windows of a sender with a single burst on an empty path
 * @v: state
 * @l: limits
 * @cwnd: smallest window from now on, packets, Q16.16
 *
 * Return: true if the window has risen.
 */
bool swift_raise(struct swift_vars *v, const struct swift_limits *l, u32 cwnd)
{
	cwnd = min_t(u32, cwnd, l->max_cwnd);
	if (cwnd <= swift_cwnd(v))
		return false;
	v->fabric_cwnd = max_t(u32, v->fabric_cwnd, cwnd);
	v->host_cwnd = max_t(u32, v->host_cwnd, cwnd);
	return true;
}

/**
 * swift_cut() - reduce the window after a loss
 * @v: state
 * @p: parameters
 *
 * The caller ensures that this happens at most once per round trip.
 */
void swift_cut(struct swift_vars *v, const struct swift_params *p)
{
	u32 cwnd = v->fabric_cwnd;

	cwnd -= ((u64)cwnd * p->max_mdf) >> SWIFT_SHIFT;
	v->fabric_cwnd = max_t(u32, cwnd, SWIFT_CWND_MIN);
}

/**
 * swift_undo() - revert swift_cut() after a spurious loss
 * @v: state
 * @p: parameters
 * @l: limits
 */
void swift_undo(struct swift_vars *v, const struct swift_params *p, const struct swift_limits *l)
{
	v->fabric_cwnd = swift_clamp(div_u64((u64)v->fabric_cwnd << SWIFT_SHIFT,
					     SWIFT_ONE - p->max_mdf), l);
}

/**
 * swift_timeout() - reduce the window at a retransmission timeout after the first one
 * @v: state
 * @p: parameters
 * @timeouts: timeouts in a row, including this one
 */
void swift_timeout(struct swift_vars *v, const struct swift_params *p, unsigned int timeouts)
{
	if (timeouts >= SWIFT_RETX_RESET)
		v->fabric_cwnd = SWIFT_CWND_MIN;
	else
		swift_cut(v, p);
}
