// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_timely: TIMELY for TCP
 *
 * The algorithm and its papers are in timely.c. This file measures the RTTs that it
 * needs, and makes the stack send at its rate. For a burst, that is, the packets
 * that TCP hands to the NIC at once (up to seg_kb),
 *
 *	rtt = t(ACK at the NIC) - t(burst handed to the NIC) - bytes / link rate
 *
 *	                 t_send                                  t_ack
 *	sender's NIC  ----+=== bytes ===+--------------------------+------>
 *	                   \             \                        /
 *	receiver      ------\-------------+======= burst ========+ ------->
 *	                     |<- on the link ->|<----- rtt ----->|
 *
 * t_send is TCP's departure time of the burst (skb_mstamp_ns). Waiting in the host's
 * own NIC is therefore part of the signal, as section 3 demands. t_ack is the
 * hardware timestamp of the ACK, converted to CLOCK_MONOTONIC by module nicclock.
 * Without it, t_ack is the time when the driver delivered the ACK, or else when TCP
 * processed it. A gradient compares two RTTs of the same source only.
 *
 *	tcp_probe tracepoint	the only hook with the socket and the ACK's skb:
 *				finds the burst, keeps the timestamps of the ACK
 *				(timely_probe.c)
 *	cong_control()		decides whether the RTT is valid, sets the rate
 *
 * A burst is identified by its departure time, which TCP gives to all its packets,
 * even if it splits them later. An ACK that ends inside a burst completes no burst
 * and gives no RTT, unless it also completes the previous burst. That RTT is then
 * measured with the acknowledged bytes of the later burst.
 *
 * The rate is TCP's pacing rate, enforced by fq or by TCP itself. The window only
 * caps outstanding data, as in section 4.1.
 *
 * Mode swift replaces the algorithm by that of swift.c and uses the same RTTs, checks
 * and pacing. The fabric delay is the RTT of the burst, the endpoint delay the time from
 * the ACK's hardware timestamp until TCP processes it. The rate is the window per RTT,
 * or per target with profile tuned.
 *
 * Differences from the paper:
 *  - TCP has no completion by the receiver's NIC. The RTT includes the time until
 *    the receiver's stack answers; prompt_ack keeps it short.
 *  - The serialisation time is that of whole frames: headers, preamble, gap.
 *  - A connection starts with TCP's initial window, which grows by the acknowledged
 *    packets up to the cap, and paces at line rate from the start.
 *  - The paper does not let a rate grow of which less than 80 % were used. This
 *    applies when TCP knows that the application, the receive window or the send
 *    buffer limited the flow, and not the network.
 *  - signal=owd, future work in section 7: see timely_owd().
 *  - A burst has two packets at least, also in mode swift with a window below one
 *    packet: receivers delay the ACK of a single packet.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <closnet/nicclock.h>
#include "timely_tcp.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/*
 * A longer RTT of a single packet is due to a delayed ACK: TCP delays ACKs by at
 * least 40 ms, and a timer may be a tick early.
 */
#define TIMELY_DELAYED_NS	(30 * NSEC_PER_MSEC)

/* minRTTs without a decrease after which the increase of mode swift grows */
#define TIMELY_HYPER_RTTS	64

/*
 * With the rule, the lowest rate is the link's over this number. Flows that start
 * together reach it, and regain their shares by steps of a burst each. It divides
 * CLOSNET_CC_MBPS.
 */
#define TIMELY_RULE_RATES	250

/* Maximum drift between two hosts, 100 ppm: 1 us in this many ms */
#define TIMELY_DRIFT_MS		10

static __always_inline void timely_count(const struct timely *ca, unsigned int counter)
{
	closnet_count(ca->config->cc.counters, counter);
}

/* ---- link ---- */

/* inline, as each RTT needs it */
static __always_inline struct timely_limits timely_limits(const struct timely *ca)
{
	const struct timely_config *c = ca->config;
	struct timely_limits l;

	l.max_Bps = closnet_cc_max_Bps(&ca->cc, &c->cc);
	/* 1000 bits are 125 bytes */
	l.delta_Bps = c->delta_Mbps ? c->delta_Mbps * CLOSNET_CC_MBPS :
				      ca->cc.link_Mbps * (CLOSNET_CC_MBPS / 1000);
	l.min_Bps = c->min_Mbps ? c->min_Mbps * CLOSNET_CC_MBPS : l.delta_Bps;
	if (c->by_rule && !c->min_Mbps)
		l.min_Bps = ca->cc.link_Mbps * (CLOSNET_CC_MBPS / TIMELY_RULE_RATES);
	l.min_Bps = min(l.min_Bps, l.max_Bps);
	return l;
}

static void timely_set_inv_mss(struct timely *ca)
{
	ca->inv_mss = U32_MAX / ca->cc.mss + 1;
}

/* Serialisation time of a burst's frames */
static u32 timely_wire_ns(const struct sock *sk, const struct timely *ca, u64 byte_time, u32 bytes)
{
	u32 packets = ((u64)(bytes + ca->cc.mss - 1) * ca->inv_mss) >> 32;
	u64 on_link = bytes + packets * closnet_cc_overhead(sk);

	return min_t(u64, (on_link * byte_time) >> CLOSNET_CC_BYTE_SHIFT, U32_MAX);
}

/* ---- decision ---- */

/**
 * struct timely_rtt - RTT of a burst
 * @raw_ns: RTT, serialisation time included
 * @host_ns: time from the arrival of the ACK until now; negative: unknown
 * @wire_ns: serialisation time of the burst
 * @room_ns: delay of the target above the empty path's, in mode swift; with the rule,
 *	the serialisation time of a packet
 * @bytes: acknowledged bytes of the burst
 * @source: clock that it was measured with
 */
struct timely_rtt {
	s64 raw_ns;
	s64 host_ns;
	u32 wire_ns;
	u32 room_ns;
	u32 bytes;
	enum timely_source source;
};

/*
 * signal=owd: replace the RTT by one whose ACK found an empty path. The peer's TCP
 * timestamp is the time when it sent the ACK, by its own clock:
 *
 *	forward = t(peer's timestamp) - t_send = one-way delay + offset
 *	reverse = t_ack - t(peer's timestamp)  = one-way delay - offset
 *
 * The offset is unknown but the same in both. forward + min(reverse) is therefore an
 * RTT with the minimum delay of the reverse path. Clocks drift: the minimum grows
 * with time until a smaller delay is measured.
 */
static void timely_owd(const struct sock *sk, struct timely *ca, struct timely_rtt *rtt)
{
	u32 raw_us = div_u64(rtt->raw_ns, NSEC_PER_USEC);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 forward, reverse, least;

	if (!closnet_tcp_usec_ts(tp) || !tp->rx_opt.saw_tstamp)
		return;
	forward = tp->rx_opt.rcv_tsval - (u32)div_u64(ca->burst_ns, NSEC_PER_USEC);
	reverse = raw_us - forward;
	least = ca->reverse_us +
		jiffies_to_msecs(tcp_jiffies32 - ca->reverse_at) / TIMELY_DRIFT_MS;
	if (!ca->reverse_known || !after(reverse, least)) {
		ca->reverse_us = reverse;
		ca->reverse_at = tcp_jiffies32;
		ca->reverse_known = 1;
		least = reverse;
	}
	rtt->raw_ns = (u64)(forward + least) * NSEC_PER_USEC;
	rtt->source = TIMELY_OWD;
}

/*
 * Measure the RTT with the best source that is allowed and available. @hw_ns: time
 * when the ACK reached the NIC, or negative
 */
static void timely_measure(const struct sock *sk, struct timely *ca, const struct rate_sample *rs,
			   s64 hw_ns, struct timely_rtt *rtt)
{
	rtt->host_ns = -ENODATA;
	if (hw_ns >= 0) {
		rtt->source = TIMELY_HW;
		rtt->raw_ns = hw_ns - ca->burst_ns;
		rtt->host_ns = max_t(s64, tcp_sk(sk)->tcp_clock_cache - hw_ns, 0);
	} else if (ca->sw_ns) {
		rtt->source = TIMELY_SW;
		rtt->raw_ns = ca->sw_ns;
	} else {
		rtt->source = TIMELY_RTT;
		rtt->raw_ns = (s64)rs->rtt_us * NSEC_PER_USEC;
	}
	if (ca->config->owd && rtt->raw_ns > 0)
		timely_owd(sk, ca, rtt);
}

/*
 * Handle an ACK that the probe has not seen, as one side has closed the connection
 * for its direction: treat the acknowledged bytes as a burst.
 */
static void timely_unprobed(const struct sock *sk, struct timely *ca, const struct rate_sample *rs)
{
	u32 segs = clamp_t(s32, rs->acked_sacked, 1, ca->cc.seg_segs);

	ca->sw_ns = 0;
	ca->burst_ns = (tcp_sk(sk)->tcp_mstamp - rs->rtt_us) * NSEC_PER_USEC;
	ca->burst_seq = tcp_sk(sk)->snd_una - segs * ca->cc.mss;
}

/* Time when the ACK reached its NIC, or a negative error */
static s64 timely_hw_time(struct sock *sk, struct timely *ca)
{
	struct nicclock *nc;
	s64 hw_ns = -ENODATA;

	nc = nicclock_find(sock_net(sk), ca->iif);
	if (nc)
		hw_ns = nicclock_rx_time(nc, ca->stamp, tcp_sk(sk)->tcp_clock_cache);
	ca->no_hw = hw_ns < 0;
	/* Use the timestamp once: the probe does not see all ACKs. */
	ca->stamp = 0;
	return hw_ns;
}

/*
 * Delay that the default target adds to the RTT of an empty path: half of the longest
 * burst, or with profile tuned a packet. A burst of a busy link's flow is a few packets.
 */
static u32 timely_room_ns(const struct sock *sk, const struct timely *ca, u64 byte_time)
{
	if (ca->config->tuned)
		return timely_wire_ns(sk, ca, byte_time, ca->cc.mss);
	return timely_wire_ns(sk, ca, byte_time, ca->config->cc.seg_bytes) / 2;
}

/* Length and serialisation time of the burst */
static void timely_measure_burst(struct sock *sk, struct timely *ca, struct timely_rtt *rtt)
{
	const struct closnet_cc_config *c = &ca->config->cc;
	const struct closnet_cc_rate *rate = closnet_cc_link_rate(sk, &ca->cc, c);
	u32 link_Mbps = READ_ONCE(rate->Mbps);

	if (closnet_cc_resized(sk, &ca->cc, link_Mbps)) {
		closnet_cc_set_sizes(sk, &ca->cc, c, link_Mbps);
		timely_set_inv_mss(ca);
	}
	rtt->bytes = tcp_sk(sk)->snd_una - ca->burst_seq;
	rtt->wire_ns = timely_wire_ns(sk, ca, READ_ONCE(rate->byte_time), rtt->bytes);
	if (ca->config->use_swift || ca->config->by_rule)
		rtt->room_ns = timely_room_ns(sk, ca, READ_ONCE(rate->byte_time));
}

/* Does the receiver's timer for delayed ACKs show in the RTT? */
static bool timely_delayed(const struct rate_sample *rs, s64 raw_ns)
{
	return rs->acked_sacked <= 1 && raw_ns >= TIMELY_DELAYED_NS;
}

/*
 * Is the RTT only an upper bound of the path's? A receiver acknowledges a single
 * packet shorter than an MSS with its answer, so that the RTT may include the time of
 * its application. Such an RTT must not lower the rate. Below @low_ns it is usable,
 * as the RTT of the path is then below @low_ns as well.
 */
static bool timely_is_bound(const struct rate_sample *rs, u32 rtt_ns, u32 low_ns)
{
	return rs->is_ack_delayed && rtt_ns >= low_ns;
}

/* Counter of the reason why an ACK gives no RTT, or 0 */
static enum timely_counter timely_useless(const struct sock *sk, enum timely_probe_result probe,
					  const struct rate_sample *rs)
{
	if (probe == TIMELY_NO_BURST || (probe == TIMELY_NO_PROBE && rs->rtt_us < 0))
		return TIMELY_N_PARTIAL;
	if (probe == TIMELY_RESENT || rs->rtt_us < 0)
		return TIMELY_N_RETRANS;
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return TIMELY_N_RECOVERY;
	return 0;
}

/* Measure the RTT. Returns false, and counts the reason, if it is not usable. */
static bool timely_get_rtt(struct sock *sk, struct timely *ca, const struct rate_sample *rs,
			   struct timely_rtt *rtt)
{
	enum timely_counter useless = timely_useless(sk, ca->probe, rs);
	s64 hw_ns = -ENODATA;

	if (ca->probe == TIMELY_NO_PROBE && !useless)
		timely_unprobed(sk, ca, rs);
	rcu_read_lock();
	if (ca->stamp)
		hw_ns = timely_hw_time(sk, ca);
	if (ca->probe != TIMELY_NO_BURST)
		timely_measure_burst(sk, ca, rtt);
	rcu_read_unlock();
	ca->probe = TIMELY_NO_PROBE;
	if (!useless) {
		timely_measure(sk, ca, rs, hw_ns, rtt);
		if (rtt->raw_ns <= rtt->wire_ns)
			useless = TIMELY_N_NEGATIVE;
		else if (timely_delayed(rs, rtt->raw_ns))
			useless = TIMELY_N_DELAYED;
	}
	if (useless)
		timely_count(ca, useless);
	return !useless;
}

/*
 * Section 5: a rate of which less than 80 % were used must not grow. Only periods
 * count in which the network did not limit the flow.
 */
static bool timely_hold(const struct sock *sk, const struct timely *ca,
			const struct rate_sample *rs)
{
	u64 used;

	if (!rs->is_app_limited && tcp_sk(sk)->chrono_type <= TCP_CHRONO_BUSY)
		return false;
	if (rs->delivered <= 0 || rs->interval_us <= 0)
		return false;
	/* delivered bytes / interval < 4/5 rate */
	used = (u64)rs->delivered * ca->cc.mss * (USEC_PER_SEC / 4 * 5);
	return used < ca->vars.rate_Bps * rs->interval_us;
}

/*
 * Was the path empty? Its RTT is then below @low_ns, or at most minRTT above the lowest
 * RTT of this connection: the RTT of an empty path may exceed @low_ns.
 */
static bool timely_path_empty(const struct sock *sk, const struct timely *ca,
			      const struct rate_sample *rs, u32 rtt_ns, u32 low_ns)
{
	s64 above_us = rs->rtt_us - (s64)tcp_min_rtt(tcp_sk(sk));

	return rtt_ns < low_ns || above_us * NSEC_PER_USEC <= ca->config->params.min_rtt_ns;
}

/*
 * Has the application written no more than the burst that is now acknowledged, and was
 * the path empty? Then the pacer must not delay the next burst. The first two tests
 * fail for bulk transfers and at line rate, that is, mostly.
 */
static __always_inline bool timely_is_lone(const struct sock *sk, const struct timely *ca,
					   u64 max_Bps, const struct rate_sample *rs, u32 rtt_ns,
					   u32 low_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq == tp->snd_una && ca->vars.rate_Bps < max_Bps &&
	       timely_path_empty(sk, ca, rs, rtt_ns, low_ns);
}

static void timely_changed(struct sock *sk, struct timely *ca, enum timely_cause cause)
{
	timely_count(ca, TIMELY_N_CAUSES + cause);
	if (ca->config->use_swift)
		trace_timely_swift(sk, &ca->swift, cause);
	else
		trace_timely_rate(sk, &ca->vars, &ca->config->params, cause);
}

static void timely_count_sample(const struct sock *sk, struct timely *ca,
				const struct timely_rtt *rtt, u32 rtt_ns)
{
	timely_count(ca, TIMELY_N_SAMPLES + rtt->source);
	trace_timely_sample(sk, rtt->source, rtt_ns, ca->burst_ns, rtt->wire_ns, rtt->bytes);
}

/*
 * Modes classic and patched. Inline, so that connections without the rule have no call
 * more.
 */
static __always_inline void timely_sample_by(struct sock *sk, struct timely *ca,
					     const struct rate_sample *rs,
					     const struct timely_rtt *rtt, u32 rtt_ns,
					     const struct timely_params *p, struct timely_limits l)
{
	enum timely_cause cause = TIMELY_CAUSES;

	if (timely_is_bound(rs, rtt_ns, p->t_low_ns)) {
		timely_count(ca, TIMELY_N_DELAYED);
	} else {
		timely_count_sample(sk, ca, rtt, rtt_ns);
		if (rtt->source != ca->source && ca->vars.prev_rtt_ns) {
			timely_count(ca, TIMELY_N_SOURCE_CHANGES);
			ca->vars.prev_rtt_ns = 0;
		}
		ca->source = rtt->source;
		cause = timely_update(&ca->vars, p, &l, rtt_ns, tcp_sk(sk)->tcp_clock_cache,
				      timely_hold(sk, ca, rs));
	}
	if (timely_is_lone(sk, ca, l.max_Bps, rs, rtt_ns, p->t_low_ns) &&
	    timely_lone(&ca->vars, &l, max_t(u32, rtt->bytes, ca->cc.mss),
			min_t(s64, rtt->raw_ns, TIMELY_RTT_MAX_NS)))
		cause = TIMELY_LONE;
	if (cause != TIMELY_CAUSES)
		timely_changed(sk, ca, cause);
}

/* Mode classic by the rule: see timely_rule() */
static noinline void timely_sample_by_rule(struct sock *sk, struct timely *ca,
					   const struct rate_sample *rs,
					   const struct timely_rtt *rtt, u32 rtt_ns)
{
	const struct timely_config *c = ca->config;
	struct timely_limits l = timely_limits(ca);
	struct timely_params p = c->params;
	struct timely_path path = {
		.link_Bps = closnet_cc_link_Bps(&ca->cc),
		.packet_ns = rtt->room_ns,
		.burst = sk->sk_gso_max_segs,
		.least_ns = min_t(u64, (u64)tcp_min_rtt(tcp_sk(sk)) * NSEC_PER_USEC,
				  TIMELY_RTT_MAX_NS),
	};

	if (!c->delta_Mbps)
		l.delta_Bps = 0;
	timely_rule(&p, &l, &path, ca->vars.rate_Bps);
	timely_sample_by(sk, ca, rs, rtt, rtt_ns, &p, l);
}

static void timely_sample(struct sock *sk, struct timely *ca, const struct rate_sample *rs,
			  const struct timely_rtt *rtt, u32 rtt_ns)
{
	if (ca->config->by_rule)
		timely_sample_by_rule(sk, ca, rs, rtt, rtt_ns);
	else
		timely_sample_by(sk, ca, rs, rtt, rtt_ns, &ca->config->params, timely_limits(ca));
}

/* Bursts of mode classic: seg_kb, with the rule at most */
static void timely_limit_burst(struct sock *sk, const struct timely *ca)
{
	u32 burst;

	if (!ca->config->by_rule) {
		closnet_cc_limit_burst(sk, &ca->cc);
		return;
	}
	burst = timely_rule_burst(&ca->config->params, ca->vars.rate_Bps, ca->cc.mss);
	burst = min_t(u32, burst, ca->cc.seg_segs);
	if (sk->sk_gso_max_segs != burst)
		closnet_cc_set_burst(sk, burst);
}

/* ---- mode swift ---- */

/*
 * Target, additive increase and largest window. @room_ns: see timely_room_ns(). A window
 * that exceeds the target at line rate by more than a packet would not raise the rate.
 *
 * The RTT of the empty path is minRTT and not the least RTT of the connection: a
 * connection that starts while there is a queue would take it for a part of the path,
 * keep it, and starve the others.
 *
 * With profile tuned, the additive increase is 1/4096 of what the link sends in minRTT,
 * since all flows add it at once, and those with a small window see its effect many
 * RTTs later.
 */
static struct swift_limits timely_swift_limits(const struct timely *ca, u32 room_ns)
{
	const struct timely_config *c = ca->config;
	u32 min_rtt_ns = c->params.min_rtt_ns;
	struct swift_limits l;
	u64 bytes;

	l.ai = c->ai;
	l.hyper_ns = 0;
	if (c->tuned) {
		l.hyper_ns = min_t(u64, (u64)min_rtt_ns * TIMELY_HYPER_RTTS, U32_MAX / 2);
		/* Mbit/s * ns / 8000 is bytes; Q16.16 of a 4096th are 16 */
		bytes = div_u64((u64)ca->cc.link_Mbps * min_rtt_ns, 8000 / 16);
		if (!l.ai)
			l.ai = clamp_t(u64, (bytes * ca->inv_mss) >> 32, 1, SWIFT_CWND_ONE);
	}
	l.base_ns = min_t(u64, c->target_ns ?: (u64)min_rtt_ns + room_ns, SWIFT_DELAY_MAX_NS);
	bytes = mul_u64_u32_div(closnet_cc_max_Bps(&ca->cc, &c->cc),
				l.base_ns + ca->hops * c->swift.hop_ns, NSEC_PER_SEC);
	l.max_cwnd = clamp_t(u64, (bytes * ca->inv_mss) >> (32 - SWIFT_CWND_SHIFT),
			     SWIFT_CWND_ONE, SWIFT_CWND_MAX - SWIFT_CWND_ONE) + SWIFT_CWND_ONE;
	return l;
}

/*
 * Time in which the sender sends its window: the RTT as in the paper, or with profile
 * tuned the target. A rate that follows the RTT falls with the queue, but with windows
 * below one packet only some RTTs later, when the queue is gone.
 */
static u32 timely_window_ns(const struct timely *ca, const struct swift_limits *l, s64 raw_ns)
{
	if (ca->config->tuned)
		return l->base_ns + ca->hops * ca->config->swift.hop_ns;
	return min_t(s64, raw_ns, SWIFT_DELAY_MAX_NS);
}

/* Window of a lone burst: it leaves 20 % of the rate unused, as timely_lone() does. */
static u32 timely_lone_cwnd(const struct timely *ca, const struct timely_rtt *rtt, u32 window_ns)
{
	u32 raw_ns = clamp_t(s64, rtt->raw_ns, SWIFT_RTT_MIN_NS, SWIFT_DELAY_MAX_NS);
	u64 bytes = mul_u64_u32_div(max_t(u32, rtt->bytes, ca->cc.mss), window_ns, raw_ns);

	bytes = min_t(u64, bytes, U32_MAX);
	return min_t(u64, (bytes * ca->inv_mss / 4 * 5) >> (32 - SWIFT_CWND_SHIFT), SWIFT_CWND_MAX);
}

static enum timely_cause timely_swift_update(struct sock *sk, struct timely *ca,
					     const struct rate_sample *rs,
					     const struct swift_limits *l,
					     const struct timely_rtt *rtt, u32 rtt_ns)
{
	u32 most = SWIFT_CWND_MAX >> SWIFT_CWND_SHIFT;
	struct swift_sample s = {
		.fabric_ns = rtt_ns,
		.host_ns = rtt->host_ns,
		.rtt_ns = min_t(s64, rtt->raw_ns, SWIFT_DELAY_MAX_NS),
		.acked = clamp_t(s32, rs->acked_sacked, 0, most) << SWIFT_CWND_SHIFT,
		.hops = ca->hops,
		.hold = timely_hold(sk, ca, rs),
	};
	enum swift_result result;

	BUILD_BUG_ON(TIMELY_UP + SWIFT_HOST != TIMELY_HOST);
	result = swift_update(&ca->swift, &ca->config->swift, l, &s, tcp_sk(sk)->tcp_clock_cache);
	return result == SWIFT_UP && s.hold ? TIMELY_HOLD : TIMELY_UP + result;
}

static void timely_swift_sample(struct sock *sk, struct timely *ca, const struct rate_sample *rs,
				const struct timely_rtt *rtt, u32 rtt_ns)
{
	struct swift_limits l = timely_swift_limits(ca, rtt->room_ns);
	u64 max_Bps = closnet_cc_max_Bps(&ca->cc, &ca->config->cc);
	u32 window_ns = timely_window_ns(ca, &l, rtt->raw_ns);
	enum timely_cause cause = TIMELY_CAUSES;
	struct timely_limits rates;

	if (timely_is_bound(rs, rtt_ns, l.base_ns)) {
		timely_count(ca, TIMELY_N_DELAYED);
	} else {
		timely_count_sample(sk, ca, rtt, rtt_ns);
		/* The first sample: the hops are known now. */
		if (!ca->swift.fabric_ns)
			swift_start(&ca->swift, &l);
		cause = timely_swift_update(sk, ca, rs, &l, rtt, rtt_ns);
	}
	if (timely_is_lone(sk, ca, max_Bps, rs, rtt_ns, l.base_ns) &&
	    swift_raise(&ca->swift, &l, timely_lone_cwnd(ca, rtt, window_ns)))
		cause = TIMELY_LONE;
	if (cause == TIMELY_CAUSES)
		return;
	rates = timely_limits(ca);
	ca->swift.rate_Bps = clamp_t(u64, swift_rate(&ca->swift, ca->cc.mss, window_ns),
				     rates.min_Bps, rates.max_Bps);
	timely_changed(sk, ca, cause);
}

/*
 * TCP's window: the pacer decides, so there is room for one burst more. A burst is an
 * eighth of the window, but has an even number of packets, and two at least.
 */
static void timely_swift_window(struct sock *sk, const struct timely *ca, s32 acked)
{
	u32 cwnd = swift_cwnd(&ca->swift) >> SWIFT_CWND_SHIFT;
	u32 burst = clamp_t(u32, cwnd / 8 & ~1U, 2, ca->cc.seg_segs);

	if (sk->sk_gso_max_segs != burst)
		closnet_cc_set_burst(sk, burst);
	closnet_cc_grow_window(sk, min_t(u32, cwnd + 1 + burst, ca->cc.cap_segs), acked);
}

/* Start anew: the largest window, at line rate */
static void timely_restart(struct timely *ca)
{
	struct timely_limits l = timely_limits(ca);
	struct swift_limits sl;

	timely_start(&ca->vars, &l);
	if (!ca->config->use_swift)
		return;
	sl = timely_swift_limits(ca, 0);
	swift_start(&ca->swift, &sl);
	ca->swift.rate_Bps = l.max_Bps;
}

/* ---- events ---- */

static void timely_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct timely *ca = timely_ca(sk);
	struct timely_rtt rtt;
	u32 rtt_ns;
	bool valid;

	/* The ACK of a SYN precedes timely_init(). */
	if (!ca->config)
		return;
	valid = timely_get_rtt(sk, ca, rs, &rtt);
	rtt_ns = valid ? min_t(s64, rtt.raw_ns - rtt.wire_ns, TIMELY_RTT_MAX_NS) : 0;
	if (ca->config->use_swift) {
		if (valid)
			timely_swift_sample(sk, ca, rs, &rtt, rtt_ns);
		timely_swift_window(sk, ca, rs->acked_sacked);
	} else {
		timely_limit_burst(sk, ca);
		closnet_cc_grow_window(sk, ca->cc.cap_segs, rs->acked_sacked);
		if (valid)
			timely_sample(sk, ca, rs, &rtt, rtt_ns);
	}
	closnet_cc_pace(sk, ca->vars.rate_Bps);
}

CLOSNET_CONG_CONTROL(timely_cong_control)

/*
 * A window that was not used for a retransmission timeout does not describe the path
 * any longer (RFC 5681, section 4.1). Called when transmission restarts, also by a
 * timeout: data is then outstanding, although none is in flight.
 */
static bool timely_idle(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return !tp->packets_out && tp->app_limited &&
	       tcp_jiffies32 - tp->lsndtime > inet_csk(sk)->icsk_rto;
}

/* Restart window of RFC 5681: at most the initial window */
static void timely_restart_window(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 initial = dst ? dst_metric(dst, RTAX_INITCWND) : 0;
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), initial ?: TCP_INIT_CWND));
}

/* Transmission starts with no data in flight. After an idle period, start anew. */
static void timely_tx_start(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);

	if (!ca->config || !timely_idle(sk))
		return;
	timely_restart(ca);
	timely_restart_window(sk);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	timely_changed(sk, ca, TIMELY_IDLE);
}

CLOSNET_TX_START(timely_tx_start)

/* ---- losses ---- */

/*
 * Mode swift: change the window, and with it the rate, as the RTT stays the same.
 * @timeouts: retransmission timeouts in a row
 */
static void timely_swift_change(struct timely *ca, enum timely_cause cause, unsigned int timeouts)
{
	const struct swift_params *p = &ca->config->swift;
	struct timely_limits l = timely_limits(ca);
	struct swift_limits sl = timely_swift_limits(ca, 0);
	u32 before = swift_cwnd(&ca->swift);
	u64 rate_Bps;

	if (cause == TIMELY_UNDO)
		swift_undo(&ca->swift, p, &sl);
	else if (timeouts > 1)
		swift_timeout(&ca->swift, p, timeouts);
	else
		swift_cut(&ca->swift, p);
	rate_Bps = mul_u64_u32_div(ca->swift.rate_Bps, swift_cwnd(&ca->swift), before);
	ca->swift.rate_Bps = clamp_t(u64, rate_Bps, l.min_Bps, l.max_Bps);
}

/* Change the rate after a loss. A SYN may be lost before timely_init(). */
static void timely_change(struct sock *sk, enum timely_cause cause, unsigned int timeouts)
{
	struct timely *ca = timely_ca(sk);
	struct timely_limits l;

	if (!ca->config)
		return;
	l = timely_limits(ca);
	if (ca->config->use_swift)
		timely_swift_change(ca, cause, timeouts);
	else if (cause == TIMELY_UNDO)
		timely_undo(&ca->vars, &l);
	else
		timely_cut(&ca->vars, &l);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	timely_changed(sk, ca, cause);
}

/* Called once per loss episode and for the first retransmission timeout in a row */
static u32 timely_ssthresh(struct sock *sk)
{
	timely_change(sk, TIMELY_LOSS, 1);
	return tcp_sk(sk)->snd_ssthresh;
}

/* The loss was spurious. */
static u32 timely_undo_cwnd(struct sock *sk)
{
	timely_change(sk, TIMELY_UNDO, 0);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* Mode swift reduces its window at each timeout. TCP counts one after this call. */
static void timely_set_state(struct sock *sk, u8 state)
{
	const struct timely *ca = timely_ca(sk);
	unsigned int timeouts = inet_csk(sk)->icsk_retransmits + 1;

	if (state == TCP_CA_Loss && timeouts > 1 && ca->config && ca->config->use_swift)
		timely_change(sk, TIMELY_LOSS, timeouts);
}

/* ---- start and end of a connection ---- */

static void timely_init(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);
	const struct closnet_cc_net *cn = net_generic(sock_net(sk), timely_net_id);

	BUILD_BUG_ON(sizeof(struct timely) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(offsetof(struct timely, vars.rate_Bps) !=
		     offsetof(struct timely, swift.rate_Bps));
	memset(ca, 0, sizeof(*ca));
	ca->config = container_of(closnet_cc_config_get(cn), struct timely_config, cc);
	ca->use_swift = ca->config->use_swift;
	closnet_cc_start(sk, &ca->cc, &ca->config->cc);
	timely_set_inv_mss(ca);
	timely_restart(ca);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	timely_count(ca, TIMELY_N_CONNECTIONS);
}

static void timely_release(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);

	if (!ca->config)
		return;
	if (ca->sw_stamps)
		net_disable_timestamp();
	closnet_cc_stop(sk, &ca->cc);
	closnet_cc_config_put(&ca->config->cc);
	ca->config = NULL;
}

/*
 * ss(8) shows the last RTT as the mrtt of BBR, and the window of mode swift as its cwnd_gain.
 * Called without the socket's lock: the state may belong to another congestion control by now,
 * so no pointer in it is followed.
 */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely *ca = timely_ca(sk);
	size_t size = closnet_cc_get_info(&ca->cc, READ_ONCE(ca->vars.rate_Bps), ext, attr, info);

	/* if the bit changes meanwhile, the numbers are wrong, but the memory is ours */
	if (size && data_race(!!ca->use_swift)) {
		info->bbr.bbr_min_rtt = READ_ONCE(ca->swift.fabric_ns) / NSEC_PER_USEC;
		/* ss(8) does not show 0. */
		info->bbr.bbr_cwnd_gain = swift_cwnd(&ca->swift) >> (SWIFT_CWND_SHIFT - 8) ?: 1;
	} else if (size) {
		info->bbr.bbr_min_rtt = READ_ONCE(ca->vars.prev_rtt_ns) / NSEC_PER_USEC;
	}
	return size;
}

struct tcp_congestion_ops timely_ops __read_mostly = {
	.name		= "timely",
	.owner		= THIS_MODULE,
	.init		= timely_init,
	.release	= timely_release,
	CLOSNET_CONG_CONTROL_OPS(timely_cong_control),
	CLOSNET_TX_START_OPS(timely_tx_start),
	.ssthresh	= timely_ssthresh,
	.undo_cwnd	= timely_undo_cwnd,
	.set_state	= timely_set_state,
	.get_info	= timely_get_info,
};

/* ---- module ---- */

static int __init timely_register(void)
{
	int err;

	err = timely_net_register();
	if (err)
		return err;
	err = timely_probe_register();
	if (err)
		goto out_net;
	err = tcp_register_congestion_control(&timely_ops);
	if (err)
		goto out_probe;
	return 0;

out_probe:
	timely_probe_unregister();
out_net:
	timely_net_unregister();
	return err;
}

static void __exit timely_unregister(void)
{
	tcp_unregister_congestion_control(&timely_ops);
	timely_probe_unregister();
	timely_net_unregister();
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP TIMELY: RTT-gradient congestion control");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
