// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_timely: TIMELY for TCP
 *
 * The algorithm is in timely.h, with its papers. This file measures RTTs as
 * it needs them, and makes the stack send at its rate. Of a burst (what TCP
 * hands to the NIC at once, up to seg_kb),
 *
 *	rtt = t(ACK at the NIC) - t(burst handed to the NIC) - bytes / line rate
 *
 *	                 t_send                                  t_ack
 *	sender's NIC  ----+=== bytes ===+--------------------------+------>
 *	                   \             \                        /
 *	receiver      ------\-------------+======= burst ========+ ------->
 *	                     |<- on the line ->|<----- rtt ----->|
 *
 * t_send is TCP's departure time of the burst (skb_mstamp_ns), so that waiting
 * in the host's own NIC is a part of the signal, as section 3 wants it. t_ack
 * is the hardware stamp of the ACK, in CLOCK_MONOTONIC as module nicclock
 * knows it; else the time when its driver handed it over; else when TCP saw
 * it. A gradient is only taken of two RTTs of the same source.
 *
 *	tcp_probe tracepoint	the only place with the socket and the ACK's skb:
 *				finds the burst, and keeps the ACK's stamps
 *	cong_control()		decides if that is a good RTT, and sets the rate
 *
 * A burst is known by its departure time: TCP gives the same to all packets of
 * a burst, also when it splits them later. An ACK that ends in the middle of what
 * the NIC was given at once completes no burst, and no RTT is taken, except if it
 * completes the one before: then it is measured with the bytes that it covers of
 * the later.
 *
 * The rate is TCP's pacing rate, by fq or by TCP itself. The window only caps
 * the data outstanding, as in section 4.1.
 *
 * Differences from the paper:
 *  - TCP has no completion by the receiver's NIC. So the time until the
 *    receiver's stack answers is a part of the RTT. prompt_ack keeps it short.
 *  - Bytes on the line are those of whole frames: headers, preamble, gap.
 *  - A connection begins with TCP's initial window, which grows by what is
 *    acknowledged up to the cap, and paces at line rate from the start.
 *  - The paper's rule that a rate does not grow unless 80% of it were used is
 *    applied when TCP knows that not the network was what held it up: the
 *    application, the receive window, or the send buffer.
 *  - signal=owd, which is future work in section 7: see timely_owd().
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <closnet/nicclock.h>
#include "probe.h"
#include "rate_cc.h"
#include "timely.h"
#include "timely_config.h"
#include "timely_stats.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/*
 * A longer RTT of a single packet is a delayed ACK's: TCP delays ACKs by 40 ms
 * or more, and a timer may be a tick early.
 */
#define TIMELY_DELAYED_NS	(30 * NSEC_PER_MSEC)

/* An ACK that has waited longer in the host has no stamp of that host's clock. */
#define TIMELY_SW_AGE_MAX_NS	NSEC_PER_SEC

/* Two hosts' clocks differ by 100 ppm at most: 1 us in so many ms. */
#define TIMELY_DRIFT_MS		10

/**
 * enum timely_probe_result - what the tracepoint found out about an ACK
 * @TIMELY_NO_PROBE: it was not called: the connection is not in state
 *	ESTABLISHED; one side may have closed it for its direction
 * @TIMELY_NO_BURST: no burst was completed
 * @TIMELY_RESENT: bytes were sent twice, or had been received before
 * @TIMELY_BURST: a burst was completed
 */
enum timely_probe_result {
	TIMELY_NO_PROBE,
	TIMELY_NO_BURST,
	TIMELY_RESENT,
	TIMELY_BURST,
};

/**
 * struct timely - of a connection
 * @vars: the algorithm's state
 * @config: parameters, NULL before timely_init()
 * @stats: counters of its namespace
 * @burst_ns: departure of the burst that was acknowledged last
 * @burst_seq: its first byte
 * @stamp: of its ACK: the NIC's, or 0
 * @iif: of its ACK: the device that received it
 * @sw_ns: of its ACK: when its driver handed it over, after @burst_ns; 0: not
 *	known
 * @inv_mss: 2^32 / @rate.mss, rounded up
 * @reverse_us: least delay of the reverse path, by the peer's clock
 * @reverse_at: when it was seen, jiffies
 * @rate: how it is made to send at its rate
 * @probe: enum timely_probe_result
 * @source: of the last RTT that was used
 * @no_hw: the NIC's clock was not known when it was last asked
 * @sw_stamps: this connection has switched software stamps on
 * @reverse_known: @reverse_us is valid
 */
struct timely {
	struct timely_vars vars;
	struct timely_config *config;
	u64 __percpu *stats;
	u64 burst_ns;
	u64 stamp;
	u32 burst_seq;
	int iif;
	u32 sw_ns;
	u32 inv_mss;
	u32 reverse_us;
	u32 reverse_at;
	struct rate_cc rate;
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

/* ---- the line */

/* Inline, as each RTT needs it */
static __always_inline struct timely_limits timely_limits(const struct timely *ca)
{
	const struct timely_config *c = ca->config;
	struct timely_limits l;

	l.max_Bps = rate_cc_max_Bps(&ca->rate, &c->rate);
	/* 1000 bits are 125 bytes */
	l.delta_Bps = c->delta_Mbps ? c->delta_Mbps * RATE_CC_MBPS :
				      ca->rate.line_Mbps * (RATE_CC_MBPS / 1000);
	l.min_Bps = min(c->min_Mbps ? c->min_Mbps * RATE_CC_MBPS : l.delta_Bps, l.max_Bps);
	return l;
}

static void timely_set_inv_mss(struct timely *ca)
{
	ca->inv_mss = U32_MAX / ca->rate.mss + 1;
}

/* How long a burst's bytes are on the line, with all that a frame has */
static u32 timely_wire_ns(const struct sock *sk, const struct timely *ca, u64 byte_time, u32 bytes)
{
	u32 packets = ((u64)(bytes + ca->rate.mss - 1) * ca->inv_mss) >> 32;
	u64 on_line = bytes + packets * rate_cc_headers(sk);

	return min_t(u64, (on_line * byte_time) >> NICCLOCK_BYTE_SHIFT, U32_MAX);
}

/* ---- the probe: finds the burst that an ACK completes, and when it came */

/*
 * The last burst that @ack covers bytes of. The walk is over what the stack is
 * about to free, and it stops at @ack.
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

/* From its first need on, so that hosts whose NICs stamp never pay for it */
static void timely_want_sw_stamps(struct timely *ca)
{
	if (!ca->sw_stamps) {
		ca->sw_stamps = 1;
		net_enable_timestamp();
	}
}

/* When the driver handed @skb over; the stack keeps that in real time */
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
 * An ACK of new data. nicclock gets to see the stamp of each, so that it finds
 * those that the host was quick to process: the last one of a burst may always
 * come late in the same way. While stamps make good RTTs, no other are kept.
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

/* ICSK_ACK_NOW for a packet with a burst's end: TCP sets PSH on it */
static noinline void timely_ack_promptly(struct sock *sk, const struct sk_buff *skb)
{
	if (tcp_hdr(skb)->psh && TCP_SKB_CB(skb)->end_seq != TCP_SKB_CB(skb)->seq)
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
}

/*
 * Called for each packet to an established connection, of all congestion
 * controls, before the stack has done anything with it. The socket is locked.
 */
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

/* ---- the decision */

/**
 * struct timely_rtt - an RTT
 * @raw_ns: with the time on the line
 * @wire_ns: how long its bytes were on the line
 * @bytes: of the burst, as far as they are acknowledged
 * @source: what it was measured with
 */
struct timely_rtt {
	s64 raw_ns;
	u32 wire_ns;
	u32 bytes;
	enum timely_source source;
};

/*
 * signal=owd: the RTT as if the ACKs had found their path empty. The peer's
 * time stamp says when it sent the ACK, in its own clock:
 *
 *	forward = t(peer's stamp) - t_send = one-way delay + offset
 *	reverse = t_ack - t(peer's stamp)  = one-way delay - offset
 *
 * The offset is not known, but the same in both. So forward + min(reverse) is
 * an RTT whose reverse path has the least delay that was seen. Clocks drift:
 * the least delay is taken to grow with time until there is a lower one.
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
 * The RTT of the ACK that is being processed, by the best source that is allowed
 * and there. @hw_ns: when it came by the NIC, or negative
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
 * An ACK to a connection that one side has closed, at least for its direction:
 * the probe has not seen it. Takes the bytes that it acknowledged for the burst.
 */
static void timely_unprobed(const struct sock *sk, struct timely *ca, const struct rate_sample *rs)
{
	u32 segs = clamp_t(s32, rs->acked_sacked, 1, ca->rate.seg_segs);

	ca->sw_ns = 0;
	ca->burst_ns = (tcp_sk(sk)->tcp_mstamp - rs->rtt_us) * NSEC_PER_USEC;
	ca->burst_seq = tcp_sk(sk)->snd_una - segs * ca->rate.mss;
}

/*
 * What the NICs say: when the ACK came by the one, and how long the burst was on
 * the line of the other
 */
static s64 timely_ask_nics(struct sock *sk, struct timely *ca, struct timely_rtt *rtt)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct nicclock_line *line;
	s64 hw_ns = -ENODATA;
	struct nicclock *nc;
	u32 rate_Mbps;

	rcu_read_lock();
	nc = nicclock_find(sock_net(sk), ca->iif);
	if (ca->stamp) {
		if (nc)
			hw_ns = nicclock_rx_time(nc, ca->stamp, tp->tcp_clock_cache);
		ca->no_hw = hw_ns < 0;
		/* Not to be shown again: there are ACKs that the probe does not see. */
		ca->stamp = 0;
	}
	if (ca->probe != TIMELY_NO_BURST) {
		line = rate_cc_line(&ca->config->rate, rate_cc_egress(sk, nc, ca->iif));
		rate_Mbps = READ_ONCE(line->rate_Mbps);
		if (rate_cc_resized(sk, &ca->rate, rate_Mbps)) {
			rate_cc_set_sizes(sk, &ca->rate, &ca->config->rate, tp->mss_cache,
					  rate_Mbps);
			timely_set_inv_mss(ca);
		}
		rtt->bytes = tp->snd_una - ca->burst_seq;
		rtt->wire_ns = timely_wire_ns(sk, ca, READ_ONCE(line->byte_time), rtt->bytes);
	}
	rcu_read_unlock();
	return hw_ns;
}

/*
 * Was the path empty? It was if the RTT is below T_low, or within minRTT of the
 * least that this connection has seen: paths may be longer than T_low.
 */
static bool timely_path_empty(const struct sock *sk, const struct timely *ca,
			      const struct rate_sample *rs, const struct timely_rtt *rtt)
{
	const struct timely_params *p = &ca->config->params;
	s64 above_us = rs->rtt_us - (s64)tcp_min_rtt(tcp_sk(sk));

	return rtt->raw_ns - rtt->wire_ns < p->t_low_ns ||
	       above_us * NSEC_PER_USEC <= p->min_rtt_ns;
}

/* Does the receiver's timer show in the RTT? */
static bool timely_delayed(const struct rate_sample *rs, s64 raw_ns)
{
	return rs->acked_sacked <= 1 && raw_ns >= TIMELY_DELAYED_NS;
}

/*
 * May the receiver's application show in the RTT? A receiver acknowledges a lone
 * packet shorter than an MSS with its answer. Such an RTT is an upper bound of the
 * path's. If it is below T_low, so is the path's; otherwise it must not lower a rate.
 */
static bool timely_is_bound(const struct timely *ca, const struct rate_sample *rs, u32 rtt_ns)
{
	return rs->is_ack_delayed && rtt_ns >= ca->config->params.t_low_ns;
}

/* What is wrong with an ACK: a counter, or 0 */
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

/* Is there an RTT that the algorithm can use? Counts what there is instead. */
static bool timely_get_rtt(struct sock *sk, struct timely *ca, const struct rate_sample *rs,
			   struct timely_rtt *rtt)
{
	enum timely_counter useless = timely_useless(sk, ca->probe, rs);
	s64 hw_ns;

	if (ca->probe == TIMELY_NO_PROBE && !useless)
		timely_unprobed(sk, ca, rs);
	hw_ns = timely_ask_nics(sk, ca, rtt);
	ca->probe = TIMELY_NO_PROBE;
	if (!useless) {
		timely_measure(sk, ca, rs, hw_ns, rtt);
		if (rtt->raw_ns <= rtt->wire_ns)
			useless = TIMELY_N_NEGATIVE;
		else if (timely_delayed(rs, rtt->raw_ns))
			useless = TIMELY_N_DELAYED;
	}
	if (useless)
		closnet_count(ca->stats, useless);
	return !useless;
}

/*
 * Section 5: a rate may only grow if 80% of it have been used. What counts is
 * when the network was not what kept it from being used.
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
	used = (u64)rs->delivered * ca->rate.mss * (USEC_PER_SEC / 4 * 5);
	return used < ca->vars.rate_Bps * rs->interval_us;
}

/*
 * Has the application written nothing more than the burst that was just
 * acknowledged, and did that find the path empty? Then it need not wait for the
 * pacer with the next one.
 */
static bool timely_lone_burst(const struct sock *sk, struct timely *ca,
			      const struct timely_limits *l, const struct rate_sample *rs,
			      const struct timely_rtt *rtt)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq == tp->snd_una && timely_path_empty(sk, ca, rs, rtt) &&
	       timely_lone(&ca->vars, l, max_t(u32, rtt->bytes, ca->rate.mss),
			   min_t(s64, rtt->raw_ns, TIMELY_RTT_MAX_NS));
}

static void timely_changed(struct sock *sk, struct timely *ca, enum timely_cause cause)
{
	closnet_count(ca->stats, TIMELY_N_CAUSES + cause);
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
		closnet_count(ca->stats, TIMELY_N_DELAYED);
		if (timely_lone_burst(sk, ca, &l, rs, &rtt))
			timely_changed(sk, ca, TIMELY_LONE);
		return;
	}
	closnet_count(ca->stats, TIMELY_N_SAMPLES + rtt.source);
	trace_timely_sample(sk, rtt.source, rtt_ns, ca->burst_ns, rtt.wire_ns, rtt.bytes);
	if (rtt.source != ca->source && ca->vars.prev_rtt_ns) {
		closnet_count(ca->stats, TIMELY_N_SOURCE_CHANGES);
		ca->vars.prev_rtt_ns = 0;
	}
	ca->source = rtt.source;
	cause = timely_update(&ca->vars, &ca->config->params, &l, rtt_ns,
			      tcp_sk(sk)->tcp_clock_cache, timely_hold(sk, ca, rs));
	if (timely_lone_burst(sk, ca, &l, rs, &rtt))
		cause = TIMELY_LONE;
	timely_changed(sk, ca, cause);
}

static void timely_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct timely *ca = timely_ca(sk);

	/* The ACK of a SYN comes before timely_init(). */
	if (!ca->config)
		return;
	rate_cc_limit_burst(sk, &ca->rate);
	rate_cc_grow_window(sk, &ca->rate, rs->acked_sacked);
	timely_sample(sk, ca, rs);
	rate_cc_pace(sk, ca->vars.rate_Bps);
}

CLOSNET_CONG_CONTROL(timely_cong_control)

/*
 * A window that nobody has used for a retransmission time-out says nothing of
 * the path any more (RFC 5681, section 4.1). Asked when transmission starts again.
 */
static bool timely_idle(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->app_limited && tcp_jiffies32 - tp->lsndtime > inet_csk(sk)->icsk_rto;
}

/* The restart window of RFC 5681: at most the initial one */
static void timely_restart_window(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 initial = dst ? dst_metric(dst, RTAX_INITCWND) : 0;
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, min(tcp_snd_cwnd(tp), initial ?: TCP_INIT_CWND));
}

/* Nothing was in flight. After an idle period, the connection starts as a new one does. */
static void timely_tx_start(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);
	struct timely_limits l;

	if (!ca->config || !timely_idle(sk))
		return;
	l = timely_limits(ca);
	timely_start(&ca->vars, &l);
	timely_restart_window(sk);
	rate_cc_pace(sk, ca->vars.rate_Bps);
	timely_changed(sk, ca, TIMELY_IDLE);
}

CLOSNET_TX_START(timely_tx_start)

/* ---- losses */

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
	rate_cc_pace(sk, ca->vars.rate_Bps);
	closnet_count(ca->stats, TIMELY_N_CAUSES + cause);
	trace_timely_rate(sk, &ca->vars, &ca->config->params, cause);
}

/* Asked for once in each episode of losses, and for each time-out */
static u32 timely_ssthresh(struct sock *sk)
{
	timely_change(sk, TIMELY_LOSS, timely_cut);
	return tcp_sk(sk)->snd_ssthresh;
}

/* Nothing had been lost. */
static u32 timely_undo_cwnd(struct sock *sk)
{
	timely_change(sk, TIMELY_UNDO, timely_undo);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* ---- beginning and end */

static void timely_init(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);
	const struct rate_net *rn = net_generic(sock_net(sk), timely_net_id);
	struct timely_limits l;

	BUILD_BUG_ON(sizeof(struct timely) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	ca->config = container_of(rate_config_get(rn), struct timely_config, rate);
	ca->stats = rn->counters.values;
	rate_cc_start(sk, &ca->rate, &ca->config->rate);
	timely_set_inv_mss(ca);
	l = timely_limits(ca);
	timely_start(&ca->vars, &l);
	rate_cc_pace(sk, ca->vars.rate_Bps);
	closnet_count(ca->stats, TIMELY_N_CONNECTIONS);
}

static void timely_release(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);

	if (!ca->config)
		return;
	if (ca->sw_stamps)
		net_disable_timestamp();
	rate_cc_stop(sk);
	rate_config_put(&ca->config->rate);
	ca->config = NULL;
}

/* ss(8) shows the last RTT as BBR's mrtt. */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely *ca = timely_ca(sk);
	size_t size = rate_cc_get_info(&ca->rate, READ_ONCE(ca->vars.rate_Bps), ext, attr, info);

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

/* ---- module */

static int __init timely_register(void)
{
	int err;

	check_trace_callback_type_tcp_probe(timely_probe);
	err = register_pernet_subsys(&timely_net_ops);
	if (err)
		return err;
	err = cc_probe_register(timely_probe);
	if (err)
		goto out_net;
	err = tcp_register_congestion_control(&timely_ops);
	if (err)
		goto out_probe;
	return 0;

out_probe:
	cc_probe_unregister(timely_probe);
out_net:
	unregister_pernet_subsys(&timely_net_ops);
	return err;
}

static void __exit timely_unregister(void)
{
	tcp_unregister_congestion_control(&timely_ops);
	cc_probe_unregister(timely_probe);
	unregister_pernet_subsys(&timely_net_ops);
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP TIMELY: RTT-gradient congestion control");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
