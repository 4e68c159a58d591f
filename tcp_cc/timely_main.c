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
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include <closnet/nicclock.h>
#include "timely_tcp.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/*
 * A longer RTT of a single packet is due to a delayed ACK: TCP delays ACKs by at
 * least 40 ms, and a timer may be a tick early.
 */
#define TIMELY_DELAYED_NS	(30 * NSEC_PER_MSEC)

/* An older software timestamp is invalid, as the host's clock has been set. */
#define TIMELY_SW_AGE_MAX_NS	NSEC_PER_SEC

/* Maximum drift between two hosts, 100 ppm: 1 us in this many ms */
#define TIMELY_DRIFT_MS		10

/**
 * enum timely_probe_result - result of the tracepoint for an ACK
 * @TIMELY_NO_PROBE: the probe did not see the ACK, as the connection is not in state
 *	ESTABLISHED; one side may have closed it for its direction
 * @TIMELY_NO_BURST: the ACK completed no burst
 * @TIMELY_RESENT: acknowledged data was retransmitted, or was SACKed before
 * @TIMELY_BURST: the ACK completed a burst
 */
enum timely_probe_result {
	TIMELY_NO_PROBE,
	TIMELY_NO_BURST,
	TIMELY_RESENT,
	TIMELY_BURST,
};

/**
 * struct timely - state of a connection
 * @vars: state of the algorithm
 * @config: configuration; NULL before timely_init()
 * @burst_ns: departure time of the last acknowledged burst
 * @stamp: NIC timestamp of its ACK; 0: unknown
 * @burst_seq: first sequence number of the burst
 * @iif: device that received its ACK
 * @sw_ns: time from @burst_ns until the driver delivered its ACK; 0: unknown
 * @inv_mss: 2^32 / MSS, rounded up
 * @reverse_us: minimum delay of the reverse path, by the peer's clock
 * @reverse_at: time when it was measured, jiffies
 * @cc: common state
 * @probe: enum timely_probe_result of the present ACK
 * @source: enum timely_source of the last used RTT
 * @no_hw: the NIC's clock was unknown when it was last needed
 * @sw_stamps: this connection has enabled software timestamps
 * @reverse_known: @reverse_us is valid
 */
struct timely {
	struct timely_vars vars;
	struct timely_config *config;
	u64 burst_ns;
	u64 stamp;
	u32 burst_seq;
	int iif;
	u32 sw_ns;
	u32 inv_mss;
	u32 reverse_us;
	u32 reverse_at;
	struct closnet_cc cc;
	u8 probe;
	u8 source:2,
	   no_hw:1,
	   sw_stamps:1,
	   reverse_known:1;
};

static struct tcp_congestion_ops timely_ops;

static struct timely *timely_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

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
	l.min_Bps = min(c->min_Mbps ? c->min_Mbps * CLOSNET_CC_MBPS : l.delta_Bps, l.max_Bps);
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

/* ---- probe: find the burst that an ACK completes, and the ACK's arrival time ---- */

/*
 * Find the last burst of which @ack covers bytes. The loop visits packets that the
 * stack is about to free, and ends at @ack.
 */
static enum timely_probe_result timely_find_burst(const struct sock *sk, struct timely *ca, u32 ack)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	bool completed = false, resent = false;

	while (skb) {
		const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		if (skb->skb_mstamp_ns != ca->burst_ns) {
			ca->burst_ns = skb->skb_mstamp_ns;
			ca->burst_seq = cb->seq;
		}
		resent |= cb->sacked & (TCPCB_TAGBITS | TCPCB_EVER_RETRANS);
		if (after(cb->end_seq, ack))
			break;
		completed = true;
		if (cb->end_seq == ack)
			break;
		skb = skb_rb_next(skb);
	}
	if (resent)
		return TIMELY_RESENT;
	return completed ? TIMELY_BURST : TIMELY_NO_BURST;
}

/* Enabled on first use: hosts whose NICs provide timestamps never pay for them. */
static void timely_want_sw_stamps(struct timely *ca)
{
	if (!ca->sw_stamps) {
		ca->sw_stamps = 1;
		net_enable_timestamp();
	}
}

/* Keep the time when the driver delivered @skb; the stack has it in real time. */
static noinline void timely_keep_sw_time(struct timely *ca, const struct sk_buff *skb)
{
	s64 age_ns;

	timely_want_sw_stamps(ca);
	if (!skb->tstamp)
		return;
	age_ns = ktime_get_real_ns() - ktime_to_ns(skb->tstamp);
	if (age_ns >= 0 && age_ns < TIMELY_SW_AGE_MAX_NS)
		ca->sw_ns = clamp_t(s64, ktime_get_ns() - age_ns - ca->burst_ns, 0, S32_MAX);
}

/*
 * Process an ACK of new data. nicclock sees the timestamp of every ACK and can
 * select those that the host processed quickly: the last ACK of a burst may always
 * have the same delay. Software timestamps are kept only while hardware timestamps
 * give no RTTs.
 */
static void timely_probe_ack(struct sock *sk, struct timely *ca, const struct sk_buff *skb)
{
	enum timely_source allowed = ca->config->source;

	ca->sw_ns = 0;
	if (allowed >= TIMELY_HW) {
		ca->stamp = nicclock_stamp(skb);
		ca->iif = skb->skb_iif;
	}
	ca->probe = timely_find_burst(sk, ca, TCP_SKB_CB(skb)->ack_seq);
	if (ca->probe != TIMELY_BURST || allowed == TIMELY_HW || allowed == TIMELY_RTT)
		return;
	if (!ca->stamp || ca->no_hw)
		timely_keep_sw_time(ca, skb);
}

/* Acknowledge the end of a burst at once. TCP marks it with PSH. */
static noinline void timely_ack_promptly(struct sock *sk, const struct sk_buff *skb)
{
	if (tcp_hdr(skb)->psh && TCP_SKB_CB(skb)->end_seq != TCP_SKB_CB(skb)->seq)
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
}

/* Probe at tcp_probe: see closnet_cc_probe_register(). */
static void timely_probe(void *unused, struct sock *sk, closnet_tcp_probe_skb *skb)
{
	struct timely *ca = timely_ca(sk);
	u32 ack;

	if (likely(inet_csk(sk)->icsk_ca_ops != &timely_ops) || !ca->config)
		return;
	if (ca->config->prompt_ack)
		timely_ack_promptly(sk, skb);
	ack = TCP_SKB_CB(skb)->ack_seq;
	if (after(ack, tcp_sk(sk)->snd_una) && !after(ack, tcp_sk(sk)->snd_nxt)) {
		timely_probe_ack(sk, ca, skb);
	} else {
		ca->probe = TIMELY_NO_BURST;
		ca->stamp = 0;
	}
}

/* ---- decision ---- */

/**
 * struct timely_rtt - RTT of a burst
 * @raw_ns: RTT, serialisation time included
 * @wire_ns: serialisation time of the burst
 * @bytes: acknowledged bytes of the burst
 * @source: clock that it was measured with
 */
struct timely_rtt {
	s64 raw_ns;
	u32 wire_ns;
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
	if (hw_ns >= 0) {
		rtt->source = TIMELY_HW;
		rtt->raw_ns = hw_ns - ca->burst_ns;
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
}

/* Does the receiver's timer for delayed ACKs show in the RTT? */
static bool timely_delayed(const struct rate_sample *rs, s64 raw_ns)
{
	return rs->acked_sacked <= 1 && raw_ns >= TIMELY_DELAYED_NS;
}

/*
 * Is the RTT only an upper bound of the path's? A receiver acknowledges a single
 * packet shorter than an MSS with its answer, so that the RTT may include the time of
 * its application. Such an RTT must not lower the rate. Below T_low it is usable,
 * as the RTT of the path is then below T_low as well.
 */
static bool timely_is_bound(const struct timely *ca, const struct rate_sample *rs, u32 rtt_ns)
{
	return rs->is_ack_delayed && rtt_ns >= ca->config->params.t_low_ns;
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
 * Was the path empty? Its RTT is then below T_low, or at most minRTT above the lowest
 * RTT of this connection: the RTT of an empty path may exceed T_low.
 */
static bool timely_path_empty(const struct sock *sk, const struct timely *ca,
			      const struct rate_sample *rs, u32 rtt_ns)
{
	const struct timely_params *p = &ca->config->params;
	s64 above_us = rs->rtt_us - (s64)tcp_min_rtt(tcp_sk(sk));

	return rtt_ns < p->t_low_ns || above_us * NSEC_PER_USEC <= p->min_rtt_ns;
}

/*
 * Raise the rate if the application has written no more than the burst that is now
 * acknowledged, and the path was empty: the pacer must not delay the next burst.
 * The first two tests fail for bulk transfers and at line rate, that is, mostly.
 */
static __always_inline bool timely_lone_burst(const struct sock *sk, struct timely *ca,
					      const struct timely_limits *l,
					      const struct rate_sample *rs,
					      const struct timely_rtt *rtt, u32 rtt_ns)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq == tp->snd_una && ca->vars.rate_Bps < l->max_Bps &&
	       timely_path_empty(sk, ca, rs, rtt_ns) &&
	       timely_lone(&ca->vars, l, max_t(u32, rtt->bytes, ca->cc.mss),
			   min_t(s64, rtt->raw_ns, TIMELY_RTT_MAX_NS));
}

static void timely_changed(struct sock *sk, struct timely *ca, enum timely_cause cause)
{
	timely_count(ca, TIMELY_N_CAUSES + cause);
	trace_timely_rate(sk, &ca->vars, &ca->config->params, cause);
}

static void timely_sample(struct sock *sk, struct timely *ca, const struct rate_sample *rs)
{
	enum timely_cause cause;
	struct timely_limits l;
	struct timely_rtt rtt;
	u32 rtt_ns;

	if (!timely_get_rtt(sk, ca, rs, &rtt))
		return;
	rtt_ns = min_t(s64, rtt.raw_ns - rtt.wire_ns, TIMELY_RTT_MAX_NS);
	l = timely_limits(ca);
	if (timely_is_bound(ca, rs, rtt_ns)) {
		timely_count(ca, TIMELY_N_DELAYED);
		if (timely_lone_burst(sk, ca, &l, rs, &rtt, rtt_ns))
			timely_changed(sk, ca, TIMELY_LONE);
		return;
	}
	timely_count(ca, TIMELY_N_SAMPLES + rtt.source);
	trace_timely_sample(sk, rtt.source, rtt_ns, ca->burst_ns, rtt.wire_ns, rtt.bytes);
	if (rtt.source != ca->source && ca->vars.prev_rtt_ns) {
		timely_count(ca, TIMELY_N_SOURCE_CHANGES);
		ca->vars.prev_rtt_ns = 0;
	}
	ca->source = rtt.source;
	cause = timely_update(&ca->vars, &ca->config->params, &l, rtt_ns,
			      tcp_sk(sk)->tcp_clock_cache, timely_hold(sk, ca, rs));
	if (timely_lone_burst(sk, ca, &l, rs, &rtt, rtt_ns))
		cause = TIMELY_LONE;
	timely_changed(sk, ca, cause);
}

static void timely_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct timely *ca = timely_ca(sk);

	/* The ACK of a SYN precedes timely_init(). */
	if (!ca->config)
		return;
	closnet_cc_limit_burst(sk, &ca->cc);
	closnet_cc_grow_window(sk, &ca->cc, rs->acked_sacked);
	timely_sample(sk, ca, rs);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
}

CLOSNET_CONG_CONTROL(timely_cong_control)

/*
 * A window that was not used for a retransmission timeout does not describe the path
 * any longer (RFC 5681, section 4.1). Called when transmission restarts.
 */
static bool timely_idle(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->app_limited && tcp_jiffies32 - tp->lsndtime > inet_csk(sk)->icsk_rto;
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
	struct timely_limits l;

	if (!ca->config || !timely_idle(sk))
		return;
	l = timely_limits(ca);
	timely_start(&ca->vars, &l);
	timely_restart_window(sk);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	timely_changed(sk, ca, TIMELY_IDLE);
}

CLOSNET_TX_START(timely_tx_start)

/* ---- losses ---- */

/* @change: timely_cut() or timely_undo(). A SYN may be lost before timely_init(). */
static void timely_change(struct sock *sk, enum timely_cause cause,
			  void (*change)(struct timely_vars *v, const struct timely_limits *l))
{
	struct timely *ca = timely_ca(sk);
	struct timely_limits l;

	if (!ca->config)
		return;
	l = timely_limits(ca);
	change(&ca->vars, &l);
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	timely_changed(sk, ca, cause);
}

/* Called once per loss episode and for each retransmission timeout */
static u32 timely_ssthresh(struct sock *sk)
{
	timely_change(sk, TIMELY_LOSS, timely_cut);
	return tcp_sk(sk)->snd_ssthresh;
}

/* The loss was spurious. */
static u32 timely_undo_cwnd(struct sock *sk)
{
	timely_change(sk, TIMELY_UNDO, timely_undo);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* ---- start and end of a connection ---- */

static void timely_init(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);
	const struct closnet_cc_net *cn = net_generic(sock_net(sk), timely_net_id);
	struct timely_limits l;

	BUILD_BUG_ON(sizeof(struct timely) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	ca->config = container_of(closnet_cc_config_get(cn), struct timely_config, cc);
	closnet_cc_start(sk, &ca->cc, &ca->config->cc);
	timely_set_inv_mss(ca);
	l = timely_limits(ca);
	timely_start(&ca->vars, &l);
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

/* ss(8) shows the last RTT as the mrtt of BBR. */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely *ca = timely_ca(sk);
	size_t size = closnet_cc_get_info(&ca->cc, READ_ONCE(ca->vars.rate_Bps), ext, attr, info);

	if (size)
		info->bbr.bbr_min_rtt = READ_ONCE(ca->vars.prev_rtt_ns) / NSEC_PER_USEC;
	return size;
}

static struct tcp_congestion_ops timely_ops __read_mostly = {
	.name		= "timely",
	.owner		= THIS_MODULE,
	.init		= timely_init,
	.release	= timely_release,
	CLOSNET_CONG_CONTROL_OPS(timely_cong_control),
	CLOSNET_TX_START_OPS(timely_tx_start),
	.ssthresh	= timely_ssthresh,
	.undo_cwnd	= timely_undo_cwnd,
	.get_info	= timely_get_info,
};

/* ---- module ---- */

static int __init timely_register(void)
{
	int err;

	check_trace_callback_type_tcp_probe(timely_probe);
	err = timely_net_register();
	if (err)
		return err;
	err = closnet_cc_probe_register(timely_probe);
	if (err)
		goto out_net;
	err = tcp_register_congestion_control(&timely_ops);
	if (err)
		goto out_probe;
	return 0;

out_probe:
	closnet_cc_probe_unregister(timely_probe);
out_net:
	timely_net_unregister();
	return err;
}

static void __exit timely_unregister(void)
{
	tcp_unregister_congestion_control(&timely_ops);
	closnet_cc_probe_unregister(timely_probe);
	timely_net_unregister();
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP TIMELY: RTT-gradient congestion control");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
