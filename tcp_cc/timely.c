// SPDX-License-Identifier: GPL-2.0-only
/*
 * TIMELY: a sender's rate from the gradient of its RTT
 *
 * Hardware timestamps make RTTs accurate to microseconds. In a datacenter, an RTT
 * without its constant part is the length of a queue. TIMELY reacts to the slope
 * of the RTT, that is, while a queue builds up and not when it is full. Each
 * completed burst gives a sample rtt:
 *
 *	diff     = (1 - alpha) diff + alpha (rtt - previous rtt)
 *	gradient = diff / minRTT
 *
 *	rtt < T_low:	rate += delta
 *	rtt > T_high:	rate *= 1 - beta (1 - T_high / rtt)
 *	gradient <= 0:	rate += N delta
 *	gradient > 0:	rate *= 1 - beta gradient
 *
 *	   rate |  low    |      between        |  high
 *	        |  +delta |  gradient decides   |  down to T_high
 *	        +---------+---------------------+-----------> rtt
 *	                T_low                 T_high
 *
 * N is 1. After hai_threshold consecutive bursts without a rise of the RTT it is
 * hai_n (hyperactive increase). This is mode "classic", Algorithm 1 of
 *
 *   Radhika Mittal, Vinh The Lam, Nandita Dukkipati, Emily Blem, Hassan
 *   Wassel, Monia Ghobadi, Amin Vahdat, Yaogong Wang, David Wetherall, David
 *   Zats: "TIMELY: RTT-based Congestion Control for the Datacenter",
 *   SIGCOMM 2015.
 *
 * Algorithm 1 has no unique fixed point: any division of the link is stable. Mode
 * "patched" has one. Between T_low and T_high it uses a weight w, which rises
 * linearly from 0 at a gradient of -1/4 to 1 at a gradient of 1/4:
 *
 *	rate = rate (1 - beta w (rtt - ref) / ref) + delta (1 - w),  ref = T_low
 *
 *   Yibo Zhu, Monia Ghobadi, Vishal Misra, Jitendra Padhye: "ECN or Delay:
 *   Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
 *
 * Differences from the papers:
 *  - Additive steps and the decrease above T_high are multiplied by the time since
 *    the last burst over minRTT, if that is below 1. The code published by the
 *    authors of the first paper always does so; section 5 restricts it to bursts
 *    below 64 KB. In mode patched, both terms are scaled.
 *  - A single burst never lowers the rate by more than half, as in that code.
 *  - For N, the paper counts bursts with a negative gradient, and that code bursts
 *    with a falling RTT. Here neither the gradient nor the RTT may rise. With a
 *    small alpha the gradient stays negative long after the RTT has begun to rise.
 *    And when bandwidth becomes free, the RTT is low and constant; it does not fall.
 *  - Mode patched does not use its beta of 0.008 above T_high: 40 flows that start
 *    at line rate would keep a queue of 20 ms for a second.
 *  - Mode patched with T_low below minRTT aims at minRTT. An RTT below the target
 *    raises the rate by the additive term only.
 *  - A loss halves the rate, once per round trip (timely_cut()). The paper's network
 *    is lossless.
 *  - If all data that the application has written is acknowledged and the path was
 *    empty, the rate rises to one burst per RTT (timely_lone()). Additive steps reach
 *    the same rate (section 5), but after many RPCs, each delayed by the pacer.
 *  - The rate is reset after an idle retransmission timeout, as TCP's window is.
 */
#include "timely.h"

/* 1 / ns, Q24.40; fits 32 bits for ns >= 1000 */
static u32 timely_inverse(u32 ns)
{
	return div_u64((u64)1 << TIMELY_INV_SHIFT, ns);
}

/**
 * timely_params_finish() - compute the derived parameters
 * @p: parameters, the first nine set
 *
 * The target of mode patched is T_low, as in published code, or minRTT if that is
 * larger: T_low may be 0.
 */
void timely_params_finish(struct timely_params *p)
{
	p->inv_min_rtt = timely_inverse(p->min_rtt_ns);
	p->ref_ns = max_t(u32, p->t_low_ns, p->min_rtt_ns);
	p->inv_ref = timely_inverse(p->ref_ns);
}

/* ---- profile tuned with a configured minRTT ---- */

/* A burst is what the sender sends in minRTT / 16. */
#define TIMELY_RULE_BURSTS	16
/* delta is sqrt(rate C) / 500. */
#define TIMELY_RULE_STEPS	500
/* Fraction bits of sqrt(C / rate) */
#define TIMELY_ROOT_SHIFT	8
/* T_high is three times as far above the empty path's RTT as T_low. */
#define TIMELY_RULE_HIGH	3

/**
 * timely_rule_burst() - packets in a burst by the rule
 * @p: parameters
 * @rate_Bps: rate of the sender, at most 2^38
 * @mss: payload of a packet, not 0
 *
 * burst = rate minRTT / 16, an even number, as receivers acknowledge every second
 * packet, and two at least. A burst is the unit of noise in the RTTs of other senders
 * and the interval between RTTs of its own.
 *
 * Return: packets; the caller limits them.
 */
u32 timely_rule_burst(const struct timely_params *p, u64 rate_Bps, u32 mss)
{
	u64 bytes = mul_u64_u32_div(rate_Bps, p->min_rtt_ns, NSEC_PER_SEC);

	bytes = min_t(u64, bytes / TIMELY_RULE_BURSTS, ~0U);
	return max_t(u32, (u32)bytes / mss & ~1U, 2);
}

/**
 * timely_rule() - thresholds and additive step from link, minRTT and rate
 * @p: parameters; T_low and T_high are set where they are 0, but not above @p's T_high
 * @l: limits; delta is set if it is 0
 * @path: link, packets and RTT of the connection
 * @rate_Bps: rate of the sender, not 0
 *
 * With C the payload rate of the link, N = C / rate, and t the time of a packet on the link,
 *
 *	room   = (2 + burst sqrt(N)) t
 *	T_low  = minRTT + room
 *	T_high = max(minRTT, least RTT) + 3 room
 *	delta  = sqrt(rate C) / 500
 *
 * N equal senders that pace at the rate of the link keep a queue of about sqrt(N)
 * bursts, as their bursts meet at random. A lower threshold mistakes it for congestion;
 * a higher one adds delay. The flow that has less than its share also has the longer
 * room, and increases for longer. All N senders together add N delta in each minRTT:
 * with a constant delta that is N / 1000 of the link, too much for the RTTs of many
 * senders, which are bursts apart; and a sender of half the link needs 50 minRTTs to
 * regain a cut of a tenth. With the root it is sqrt(N) / 500 of the link. An increase that
 * grows less than the rate still makes rates equal.
 */
void timely_rule(struct timely_params *p, struct timely_limits *l, const struct timely_path *path,
		 u64 rate_Bps)
{
	u32 root = int_sqrt64(div64_u64(path->link_Bps << 2 * TIMELY_ROOT_SHIFT, rate_Bps));
	u64 room_ns = ((((u64)path->burst * root) >> TIMELY_ROOT_SHIFT) + 2) * path->packet_ns;

	room_ns = min_t(u64, room_ns, TIMELY_RTT_MAX_NS / 8);
	if (!p->t_high_ns)
		p->t_high_ns = min_t(u64, (u64)max_t(u32, p->min_rtt_ns, path->least_ns) +
				     TIMELY_RULE_HIGH * room_ns, TIMELY_RTT_MAX_NS);
	if (!p->t_low_ns)
		p->t_low_ns = min_t(u64, p->min_rtt_ns + room_ns, p->t_high_ns);
	if (!l->delta_Bps)
		l->delta_Bps = div_u64(rate_Bps * root, TIMELY_RULE_STEPS << TIMELY_ROOT_SHIFT);
}

/**
 * timely_gradient() - smoothed slope of the RTT
 * @v: state
 * @p: parameters
 *
 * Return: gradient, Q12.20, clamped to -2^31..2^31.
 */
s64 timely_gradient(const struct timely_vars *v, const struct timely_params *p)
{
	u64 size = v->diff < 0 ? -v->diff : v->diff;

	size = min_t(u64, mul_u64_u64_shr(size, p->inv_min_rtt, TIMELY_DIFF_SHIFT +
					  TIMELY_INV_SHIFT - TIMELY_SHIFT), 1U << 31);
	return v->diff < 0 ? -(s64)size : (s64)size;
}

/* x * y, one factor in Q.20, for products below 2^64 */
static u64 timely_mul(u64 x, u64 y)
{
	return (x * y) >> TIMELY_SHIFT;
}

/* Reduce @rate_Bps by its share @factor (Q12.20), but to no less than half. */
static u64 timely_decrease(u64 rate_Bps, u64 factor)
{
	if (factor >= TIMELY_ONE / 2)
		return rate_Bps / 2;
	return rate_Bps - timely_mul(rate_Bps, factor);
}

/* Share of a full step for a sample @dt_ns after the last one, Q12.20 (section 5) */
static u32 timely_step_share(const struct timely_params *p, u64 dt_ns)
{
	if (dt_ns >= p->min_rtt_ns)
		return TIMELY_ONE;
	return (dt_ns * p->inv_min_rtt) >> (TIMELY_INV_SHIFT - TIMELY_SHIFT);
}

/* Weight w of CoNEXT 2016: 0 up to a gradient of -1/4, 1 from 1/4 on */
static u32 timely_weight(s64 gradient)
{
	if (gradient <= -(s64)(TIMELY_ONE / 4))
		return 0;
	if (gradient >= TIMELY_ONE / 4)
		return TIMELY_ONE;
	return 2 * gradient + TIMELY_ONE / 2;
}

static u64 timely_patched_rate(const struct timely_vars *v, const struct timely_params *p,
			       const struct timely_limits *l, u32 rtt_ns, u32 share)
{
	u32 w = timely_weight(timely_gradient(v, p));
	u64 over = rtt_ns > p->ref_ns ? rtt_ns - p->ref_ns : 0;
	u64 err = (over * p->inv_ref) >> (TIMELY_INV_SHIFT - TIMELY_SHIFT);
	u64 factor = timely_mul(timely_mul(timely_mul(err, w), p->beta), share);

	return timely_decrease(v->rate_Bps, factor) +
	       timely_mul(timely_mul(l->delta_Bps, TIMELY_ONE - w), share);
}

/* Algorithm 1: the new rate before it is clamped, and its cause */
static u64 timely_next_rate(const struct timely_vars *v, const struct timely_params *p,
			    const struct timely_limits *l, u32 rtt_ns, u32 share,
			    enum timely_cause *cause)
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
		return timely_decrease(v->rate_Bps,
				       timely_mul(timely_mul(over, p->beta_high), share));
	}
	if (p->patched) {
		*cause = TIMELY_REF;
		return timely_patched_rate(v, p, l, rtt_ns, share);
	}
	gradient = timely_gradient(v, p);
	if (gradient > 0) {
		*cause = TIMELY_MUL;
		return timely_decrease(v->rate_Bps, timely_mul(gradient, p->beta));
	}
	*cause = TIMELY_ADD;
	if (p->hai_n > 1 && v->hai_count >= p->hai_threshold) {
		*cause = TIMELY_HAI;
		n = p->hai_n;
	}
	return v->rate_Bps + n * timely_mul(l->delta_Bps, share);
}

static u64 timely_clamp(u64 rate_Bps, const struct timely_limits *l)
{
	return max_t(u64, min_t(u64, rate_Bps, l->max_Bps), l->min_Bps);
}

/**
 * timely_start() - initialise the state of a new sender, or of one that was idle
 * @v: state
 * @l: limits
 */
void timely_start(struct timely_vars *v, const struct timely_limits *l)
{
	*v = (struct timely_vars) { .rate_Bps = l->max_Bps };
}

/**
 * timely_update() - process the RTT of a completed burst: Algorithm 1
 * @v: state; with @prev_rtt_ns 0, the sample only starts a new gradient, as for the
 *	first RTT and for an RTT of another source
 * @p: parameters
 * @l: limits
 * @rtt_ns: RTT without the serialisation time of the burst; not 0
 * @now_ns: present time, of any monotonic clock
 * @hold: the sender used less than 80 % of its rate, which must not rise (section 5)
 *
 * Return: the rule that determined the rate.
 */
enum timely_cause timely_update(struct timely_vars *v, const struct timely_params *p,
				const struct timely_limits *l, u32 rtt_ns, u64 now_ns, bool hold)
{
	u32 prev_rtt_ns = v->prev_rtt_ns;
	enum timely_cause cause;
	s64 new_diff;
	u64 rate_Bps;
	u32 share;

	rtt_ns = min_t(u32, rtt_ns, TIMELY_RTT_MAX_NS);
	v->prev_rtt_ns = rtt_ns;
	share = timely_step_share(p, now_ns - v->updated_ns);
	v->updated_ns = now_ns;
	if (!prev_rtt_ns) {
		v->hai_count = 0;
		return TIMELY_START;
	}
	new_diff = (s64)rtt_ns - prev_rtt_ns;
	v->diff += ((s64)p->alpha * (new_diff * (1 << TIMELY_DIFF_SHIFT) - v->diff)) >>
		   TIMELY_SHIFT;
	v->hai_count = new_diff > 0 || v->diff > 0 ? 0 : min_t(u32, v->hai_count + 1, 255);

	rate_Bps = timely_next_rate(v, p, l, rtt_ns, share, &cause);
	if (hold && rate_Bps > v->rate_Bps) {
		rate_Bps = v->rate_Bps;
		cause = TIMELY_HOLD;
	}
	v->rate_Bps = timely_clamp(rate_Bps, l);
	return cause;
}

/**
 * timely_lone() - raise the rate of a sender with a single burst on an empty path
 * @v: state
 * @l: limits
 * @bytes: length of the burst, at least a full packet
 * @rtt_ns: RTT with the serialisation time of the burst; not 0
 *
 * The rate becomes at least one burst per RTT, of which the sender uses 80 %. This
 * is where the additive steps of section 5 end. The pacer then does not delay a
 * burst that is sent when the previous one is acknowledged.
 *
 * Return: true if the rate has risen.
 */
bool timely_lone(struct timely_vars *v, const struct timely_limits *l, u32 bytes, u32 rtt_ns)
{
	u64 rate_Bps;

	if (v->rate_Bps >= l->max_Bps)
		return false;
	rate_Bps = timely_clamp(div_u64((u64)bytes * (NSEC_PER_SEC / 4 * 5), rtt_ns), l);
	if (rate_Bps <= v->rate_Bps)
		return false;
	v->rate_Bps = rate_Bps;
	return true;
}

/**
 * timely_cut() - halve the rate after a loss
 * @v: state
 * @l: limits
 *
 * The caller ensures that this happens at most once per round trip.
 */
void timely_cut(struct timely_vars *v, const struct timely_limits *l)
{
	v->rate_Bps = timely_clamp(v->rate_Bps / 2, l);
}

/**
 * timely_undo() - revert timely_cut() after a spurious loss
 * @v: state
 * @l: limits
 *
 * If the lowest rate limited the cut, the rate becomes higher than before it.
 */
void timely_undo(struct timely_vars *v, const struct timely_limits *l)
{
	v->rate_Bps = timely_clamp(v->rate_Bps * 2, l);
}
