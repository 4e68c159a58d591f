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
 *				finds the burst, and when the ACK came
 *	cong_control()		decides if that is a good RTT, and sets the rate
 *
 * A burst is known by its departure time: TCP gives the same to all packets of
 * a burst, also when it splits them later. An ACK in the middle of a burst is
 * for no completed burst, and no RTT is taken, except if it completes the one
 * before: then it is measured with the bytes that it covers of the later.
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

#include <linux/inet_diag.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/tracepoint.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include <closnet/nicclock.h>
#include "timely.h"
#include "timely_config.h"
#include "timely_stats.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/* Of devices that do not know it; the paper's testbed had that. */
#define TIMELY_LINE_MBPS	10000

/* Ethernet: header, FCS, preamble, and the gap between frames */
#define TIMELY_FRAME_BYTES	(ETH_HLEN + ETH_FCS_LEN + 8 + 12)

/*
 * An RTT of a single packet from there on is a delayed ACK's: TCP delays for
 * 40 ms at least, and a timer may be a tick early.
 */
#define TIMELY_DELAYED_NS	(36 * NSEC_PER_MSEC)

/* An ACK that has waited longer in the host has no stamp of that host's clock. */
#define TIMELY_SW_AGE_MAX_NS	NSEC_PER_SEC

/* The reverse path's delay is the least of this time, up to twice as much. */
#define TIMELY_REVERSE_TIME	(HZ / 10)

/**
 * enum timely_probe_result - what the tracepoint found out about an ACK
 * @TIMELY_NO_PROBE: it was not called: the connection is not established
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
 * @ack_ns: for source TIMELY_SW and TIMELY_HW: when its ACK came, after
 *	@burst_ns; may be negative if clocks are wrong
 * @wire_ns: how long the acknowledged part of it was on the line
 * @bytes: the acknowledged part of it
 * @line_Mbps: line rate that @cap_segs goes by
 * @cap_segs: most packets outstanding
 * @inv_mss: 2^32 / @mss, rounded up
 * @reverse_us: least delay of the reverse path, of this time and the last one
 * @reverse_end: when this time ends, jiffies
 * @mss: payload of a packet that the three below go by
 * @seg_segs: most packets of a burst
 * @probe: enum timely_probe_result
 * @acked_by: source of @ack_ns, enum timely_source
 * @source: of the last RTT that was used
 * @sw_stamps: this connection has switched software stamps on
 * @reverse_known: @reverse_us is valid
 */
struct timely {
	struct timely_vars vars;
	struct timely_config *config;
	struct timely_stats __percpu *stats;
	u64 burst_ns;
	u32 burst_seq;
	s32 ack_ns;
	u32 wire_ns;
	u32 bytes;
	u32 line_Mbps;
	u32 cap_segs;
	u32 inv_mss;
	u32 reverse_us[2];
	u32 reverse_end;
	u16 mss;
	u16 seg_segs;
	u8 probe:2,
	   acked_by:2,
	   sw_stamps:1,
	   reverse_known:1;
	u8 source;
};

static struct tcp_congestion_ops timely_ops;

static struct timely *timely_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* ---- the line */

static struct timely_limits timely_limits(const struct timely *ca)
{
	const struct timely_config *c = ca->config;
	u64 mbps = BITS_TO_BYTES(1000000);
	struct timely_limits l;

	l.max_Bps = (c->max_Mbps ?: ca->line_Mbps) * mbps;
	/* 1000 bits are 125 bytes */
	l.delta_Bps = c->delta_Mbps ? c->delta_Mbps * mbps : ca->line_Mbps * (mbps / 1000);
	l.min_Bps = min(c->min_Mbps ? c->min_Mbps * mbps : l.delta_Bps, l.max_Bps);
	return l;
}

/*
 * What follows from the payload of a packet and the line rate. Both change
 * seldom.
 */
static void timely_set_sizes(struct sock *sk, struct timely *ca, u32 mss, u32 line_Mbps)
{
	const struct timely_config *c = ca->config;
	u64 cap = c->cap_bytes;

	if (!cap)
		cap = div_u64((u64)line_Mbps * (c->params.t_high_ns + c->params.min_rtt_ns), 8000);
	ca->line_Mbps = line_Mbps;
	ca->mss = mss;
	ca->inv_mss = U32_MAX / mss + 1;
	/* Receivers acknowledge each second packet: an even number has no rest. */
	ca->seg_segs = max(c->seg_bytes / mss & ~1U, 1U);
	ca->cap_segs = min_t(u64, max_t(u64, div_u64(cap, mss), 2 * ca->seg_segs),
			     tcp_sk(sk)->snd_cwnd_clamp);
}

/* Packets of the stack's choice are at most a burst. */
static void timely_limit_burst(struct sock *sk, struct timely *ca)
{
	if (sk->sk_gso_max_segs > ca->seg_segs)
		sk->sk_gso_max_segs = ca->seg_segs;
}

/* The NIC that a connection's data leaves by; RCU. @nc: that of @ifindex */
static struct nicclock *timely_egress(struct sock *sk, struct nicclock *nc, int ifindex)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	int egress = dst ? dst_dev_rcu(dst)->ifindex : ifindex;

	return egress == ifindex ? nc : nicclock_find(sock_net(sk), egress);
}

static u32 timely_line_Mbps(const struct timely *ca, const struct nicclock *nc)
{
	u32 mbps = ca->config->line_Mbps;

	if (!mbps && nc)
		mbps = nicclock_rate_Mbps(nc);
	return mbps ?: TIMELY_LINE_MBPS;
}

/* How long a burst's bytes are on the line, with all that a frame has */
static u32 timely_wire_ns(const struct sock *sk, const struct timely *ca, u64 byte_time, u32 bytes)
{
	u32 headers = tcp_sk(sk)->tcp_header_len + inet_csk(sk)->icsk_af_ops->net_header_len +
		      TIMELY_FRAME_BYTES;
	u32 packets = ((u64)(bytes + ca->mss - 1) * ca->inv_mss) >> 32;

	return min_t(u64, ((bytes + packets * headers) * byte_time) >> NICCLOCK_BYTE_SHIFT,
		     U32_MAX);
}

/* ---- the probe: finds the burst that an ACK completes, and when it came */

/*
 * The last burst that @ack covers bytes of. Returns whether a burst has been
 * completed. The walk is over what the stack is about to free.
 */
static enum timely_probe_result timely_find_burst(const struct sock *sk, struct timely *ca, u32 ack)
{
	bool completed = false, resent = false;
	struct sk_buff *skb, *first;
	u32 end = ack;

	first = tcp_rtx_queue_head(sk);
	for (skb = first; skb && before(TCP_SKB_CB(skb)->seq, ack); skb = skb_rb_next(skb)) {
		if (skb->skb_mstamp_ns != ca->burst_ns) {
			completed |= skb != first;
			ca->burst_ns = skb->skb_mstamp_ns;
			ca->burst_seq = TCP_SKB_CB(skb)->seq;
		}
		end = TCP_SKB_CB(skb)->end_seq;
		resent |= TCP_SKB_CB(skb)->sacked & (TCPCB_TAGBITS | TCPCB_EVER_RETRANS);
	}
	ca->bytes = ack - ca->burst_seq;
	if (resent)
		return TIMELY_RESENT;
	completed |= !before(ack, end) && (!skb || skb->skb_mstamp_ns != ca->burst_ns);
	return completed ? TIMELY_BURST : TIMELY_NO_BURST;
}

/* When the driver handed @skb over, CLOCK_MONOTONIC; it is kept in real time */
static bool timely_sw_time(const struct sk_buff *skb, u64 now_ns, u64 *rx_ns)
{
	u64 age_ns;

	if (!skb->tstamp)
		return false;
	age_ns = ktime_get_real_ns() - ktime_to_ns(skb->tstamp);
	*rx_ns = now_ns - age_ns;
	return age_ns < TIMELY_SW_AGE_MAX_NS;
}

/* From its first need on, so that hosts whose NICs stamp never pay for it */
static void timely_want_sw_stamps(struct timely *ca)
{
	if (!ca->sw_stamps) {
		ca->sw_stamps = 1;
		net_enable_timestamp();
	}
}

/* When an ACK came that no NIC has stamped: the best that is allowed and there */
static enum timely_source timely_host_time(struct timely *ca, const struct sk_buff *skb,
					   u64 now_ns, u64 *rx_ns)
{
	enum timely_source allowed = ca->config->source;

	if (allowed != TIMELY_SW && allowed != TIMELY_AUTO)
		return TIMELY_RTT;
	timely_want_sw_stamps(ca);
	return timely_sw_time(skb, now_ns, rx_ns) ? TIMELY_SW : TIMELY_RTT;
}

/* The time on the line of what an ACK covers of its burst; RCU */
static void timely_set_wire_ns(struct sock *sk, struct timely *ca, struct nicclock *egress)
{
	u32 line_Mbps = timely_line_Mbps(ca, egress);
	u64 byte_time = ca->config->byte_time;

	if (line_Mbps != ca->line_Mbps || tcp_sk(sk)->mss_cache != ca->mss)
		timely_set_sizes(sk, ca, tcp_sk(sk)->mss_cache, line_Mbps);
	if (!byte_time && egress)
		byte_time = nicclock_rate_byte_time(egress);
	if (!byte_time)
		byte_time = nicclock_byte_time(TIMELY_LINE_MBPS);
	ca->wire_ns = timely_wire_ns(sk, ca, byte_time, ca->bytes);
}

/*
 * nicclock gets to see each ACK, so that it finds those that the host was quick
 * to process: the last one of a burst may always come late in the same way.
 */
static void timely_probe_ack(struct sock *sk, struct timely *ca, const struct sk_buff *skb)
{
	struct nicclock *nc = nicclock_find(sock_net(sk), skb->skb_iif);
	enum timely_source source = TIMELY_RTT;
	u64 now_ns = ktime_get_ns();
	u64 rx_ns;

	if (ca->config->source >= TIMELY_HW && nc && !nicclock_rx_time(nc, skb, now_ns, &rx_ns))
		source = TIMELY_HW;
	ca->probe = timely_find_burst(sk, ca, TCP_SKB_CB(skb)->ack_seq);
	if (ca->probe != TIMELY_BURST)
		return;
	if (source != TIMELY_HW)
		source = timely_host_time(ca, skb, now_ns, &rx_ns);
	if (source != TIMELY_RTT)
		ca->ack_ns = clamp_t(s64, rx_ns - ca->burst_ns, 0, S32_MAX);
	ca->acked_by = source;
	timely_set_wire_ns(sk, ca, timely_egress(sk, nc, skb->skb_iif));
}

/* ICSK_ACK_NOW for a packet with a burst's end: TCP sets PSH on it */
static void timely_ack_promptly(struct sock *sk, const struct sk_buff *skb)
{
	if (tcp_hdr(skb)->psh && TCP_SKB_CB(skb)->end_seq != TCP_SKB_CB(skb)->seq)
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
}

/*
 * Called for each packet to an established connection, before the stack has
 * done anything with it. The socket is locked.
 */
static void timely_probe(void *unused, struct sock *sk, closnet_tcp_probe_skb *skb)
{
	u32 ack = TCP_SKB_CB(skb)->ack_seq;
	struct timely *ca = timely_ca(sk);

	if (inet_csk(sk)->icsk_ca_ops != &timely_ops || !ca->config)
		return;
	if (ca->config->prompt_ack)
		timely_ack_promptly(sk, skb);
	ca->probe = TIMELY_NO_BURST;
	if (!after(ack, tcp_sk(sk)->snd_una) || after(ack, tcp_sk(sk)->snd_nxt))
		return;
	rcu_read_lock();
	timely_probe_ack(sk, ca, skb);
	rcu_read_unlock();
}

/* ---- the decision */

/*
 * signal=owd: the RTT as if the ACKs had found their path empty. The peer's
 * time stamp says when it sent the ACK, in its own clock:
 *
 *	forward = t(peer's stamp) - t_send = one-way delay + offset
 *	reverse = t_ack - t(peer's stamp)  = one-way delay - offset
 *
 * The offset is not known, but the same in both. So forward + min(reverse) is
 * an RTT whose reverse path has the least delay that was seen lately; and if
 * that path had a queue all the time, its least length is left in. It is never
 * less than the forward path's part, whatever the clocks' drift in that time.
 */
static bool timely_owd(const struct sock *sk, struct timely *ca, u32 *rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 forward, reverse;

	if (!closnet_tcp_usec_ts(tp) || !tp->rx_opt.saw_tstamp)
		return false;
	forward = tp->rx_opt.rcv_tsval - (u32)div_u64(ca->burst_ns, NSEC_PER_USEC);
	reverse = *rtt_us - forward;
	if (!ca->reverse_known || time_after32(tcp_jiffies32, ca->reverse_end)) {
		ca->reverse_us[1] = ca->reverse_known ? ca->reverse_us[0] : reverse;
		ca->reverse_us[0] = reverse;
		ca->reverse_end = tcp_jiffies32 + TIMELY_REVERSE_TIME;
		ca->reverse_known = 1;
	}
	if (before(reverse, ca->reverse_us[0]))
		ca->reverse_us[0] = reverse;
	reverse = before(ca->reverse_us[1], ca->reverse_us[0]) ? ca->reverse_us[1] :
								 ca->reverse_us[0];
	*rtt_us = forward + reverse;
	return true;
}

/*
 * The RTT of the ACK that is being processed, ns, with the time on the line.
 * Returns its source.
 */
static enum timely_source timely_raw_rtt(const struct sock *sk, struct timely *ca,
					 const struct rate_sample *rs, s64 *raw_ns)
{
	enum timely_source source = ca->acked_by;
	u32 rtt_us;

	*raw_ns = source == TIMELY_RTT ? rs->rtt_us * NSEC_PER_USEC : ca->ack_ns;
	if (ca->config->owd && *raw_ns > 0) {
		rtt_us = div_u64(*raw_ns, NSEC_PER_USEC);
		if (timely_owd(sk, ca, &rtt_us)) {
			*raw_ns = rtt_us * NSEC_PER_USEC;
			source = TIMELY_OWD;
		}
	}
	return source;
}

/*
 * An ACK to a connection that is being closed: nobody has seen its skb. Takes
 * the bytes that it acknowledged for the burst.
 */
static void timely_unprobed(const struct sock *sk, struct timely *ca, const struct rate_sample *rs)
{
	u32 segs = clamp_t(s32, rs->acked_sacked, 1, ca->seg_segs);

	ca->acked_by = TIMELY_RTT;
	ca->bytes = segs * ca->mss;
	ca->burst_ns = (tcp_sk(sk)->tcp_mstamp - rs->rtt_us) * NSEC_PER_USEC;
	ca->burst_seq = tcp_sk(sk)->snd_una - ca->bytes;
	ca->wire_ns = timely_wire_ns(sk, ca, nicclock_byte_time(ca->line_Mbps), ca->bytes);
}

/* Does the receiver's timer show in the RTT? */
static bool timely_delayed(const struct rate_sample *rs, s64 rtt_ns)
{
	return rs->is_ack_delayed || (rs->acked_sacked <= 1 && rtt_ns >= TIMELY_DELAYED_NS);
}

/*
 * Is there an RTT that the algorithm can use? Counts what there is instead.
 */
static bool timely_rtt(const struct sock *sk, struct timely *ca, const struct rate_sample *rs,
		       u32 *rtt_ns, enum timely_source *source)
{
	enum timely_probe_result probe = ca->probe;
	s64 raw_ns;

	ca->probe = TIMELY_NO_PROBE;
	if (probe == TIMELY_NO_BURST) {
		timely_count(ca->stats, TIMELY_N_PARTIAL);
		return false;
	}
	if (probe == TIMELY_RESENT || rs->rtt_us < 0) {
		timely_count(ca->stats, TIMELY_N_RETRANS);
		return false;
	}
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery) {
		timely_count(ca->stats, TIMELY_N_RECOVERY);
		return false;
	}
	if (probe == TIMELY_NO_PROBE)
		timely_unprobed(sk, ca, rs);
	*source = timely_raw_rtt(sk, ca, rs, &raw_ns);
	if (timely_delayed(rs, raw_ns)) {
		timely_count(ca->stats, TIMELY_N_DELAYED);
		return false;
	}
	if (raw_ns <= ca->wire_ns) {
		timely_count(ca->stats, TIMELY_N_NEGATIVE);
		return false;
	}
	*rtt_ns = raw_ns - ca->wire_ns;
	return true;
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
	used = (u64)rs->delivered * ca->mss * (USEC_PER_SEC / 4 * 5);
	return used < ca->vars.rate_Bps * rs->interval_us;
}

static void timely_sample(struct sock *sk, struct timely *ca, const struct rate_sample *rs)
{
	struct timely_limits l = timely_limits(ca);
	enum timely_source source;
	enum timely_cause cause;
	u32 rtt_ns;

	if (!timely_rtt(sk, ca, rs, &rtt_ns, &source))
		return;
	timely_count(ca->stats, TIMELY_N_SAMPLES + source);
	trace_timely_sample(sk, source, rtt_ns, ca->burst_ns, ca->wire_ns, ca->bytes);
	if (source != ca->source && ca->vars.prev_rtt_ns) {
		timely_count(ca->stats, TIMELY_N_SOURCE_CHANGES);
		ca->vars.prev_rtt_ns = 0;
	}
	ca->source = source;
	cause = timely_update(&ca->vars, &ca->config->params, &l, rtt_ns,
			      tcp_sk(sk)->tcp_clock_cache, timely_hold(sk, ca, rs));
	timely_count(ca->stats, TIMELY_N_CAUSES + cause);
	trace_timely_rate(sk, &ca->vars, &ca->config->params, cause);
}

static void timely_pace(struct sock *sk, const struct timely *ca)
{
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, ca->vars.rate_Bps, sk->sk_max_pacing_rate));
}

/* The window grows to the cap on data outstanding, and stays there. */
static void timely_grow_window(struct sock *sk, const struct timely *ca, s32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (cwnd != ca->cap_segs)
		tcp_snd_cwnd_set(tp, min_t(u32, cwnd + max(acked, 0), ca->cap_segs));
}

static void timely_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct timely *ca = timely_ca(sk);

	/* The ACK of a SYN comes before timely_init(). */
	if (!ca->config)
		return;
	timely_limit_burst(sk, ca);
	timely_grow_window(sk, ca, rs->acked_sacked);
	timely_sample(sk, ca, rs);
	timely_pace(sk, ca);
}

CLOSNET_CONG_CONTROL(timely_cong_control)

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
	timely_pace(sk, ca);
	timely_count(ca->stats, TIMELY_N_CAUSES + cause);
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
	struct tcp_sock *tp = tcp_sk(sk);

	BUILD_BUG_ON(sizeof(struct timely) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	ca->config = timely_config_get();
	ca->stats = timely_stats_of(sk);
	rcu_read_lock();
	timely_set_sizes(sk, ca, tp->mss_cache,
			 timely_line_Mbps(ca, timely_egress(sk, NULL, 0)));
	rcu_read_unlock();
	ca->vars.rate_Bps = timely_limits(ca).max_Bps;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	timely_limit_burst(sk, ca);
	timely_pace(sk, ca);
	timely_count(ca->stats, TIMELY_N_CONNECTIONS);
}

/* The device's own limit again, for the next congestion control */
static void timely_unlimit_burst(struct sock *sk)
{
	const struct dst_entry *dst;
	u32 segs = GSO_MAX_SEGS;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst)
		segs = max_t(u32, READ_ONCE(dst_dev_rcu(dst)->gso_max_segs), 1);
	rcu_read_unlock();
	sk->sk_gso_max_segs = segs;
}

static void timely_release(struct sock *sk)
{
	struct timely *ca = timely_ca(sk);

	if (!ca->config)
		return;
	if (ca->sw_stamps)
		net_disable_timestamp();
	timely_unlimit_burst(sk);
	timely_config_put(ca->config);
	ca->config = NULL;
}

/*
 * There is no struct for TIMELY, and ss(8) knows only some. It shows that of
 * BBR as bbr:(bw:RATE,mrtt:LAST_RTT,pacing_gain:RATE/LINE_RATE).
 */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely *ca = timely_ca(sk);
	u64 rate_Bps = READ_ONCE(ca->vars.rate_Bps);
	u64 line_Bps = (u64)ca->line_Mbps * BITS_TO_BYTES(1000000);

	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))) || !line_Bps)
		return 0;
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = lower_32_bits(rate_Bps);
	info->bbr.bbr_bw_hi = upper_32_bits(rate_Bps);
	info->bbr.bbr_min_rtt = READ_ONCE(ca->vars.prev_rtt_ns) / NSEC_PER_USEC;
	info->bbr.bbr_pacing_gain = div64_u64(rate_Bps << 8, line_Bps);
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

static struct tcp_congestion_ops timely_ops __read_mostly = {
	.name		= "timely",
	.owner		= THIS_MODULE,
	.init		= timely_init,
	.release	= timely_release,
	CLOSNET_CONG_CONTROL_OPS(timely_cong_control),
	.ssthresh	= timely_ssthresh,
	.undo_cwnd	= timely_undo_cwnd,
	.get_info	= timely_get_info,
};

/* ---- module */

static void __init timely_match_tracepoint(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "tcp_probe"))
		*(struct tracepoint **)found = tp;
}

static struct tracepoint *timely_tracepoint;

/* The kernel does not export this tracepoint, but lets us look for it. */
static int __init timely_probe_register(void)
{
	check_trace_callback_type_tcp_probe(timely_probe);
	for_each_kernel_tracepoint(timely_match_tracepoint, &timely_tracepoint);
	if (!timely_tracepoint) {
		pr_err("this kernel has no tracepoint tcp_probe\n");
		return -ENOENT;
	}
	return tracepoint_probe_register(timely_tracepoint, timely_probe, NULL);
}

static void timely_probe_unregister(void)
{
	tracepoint_probe_unregister(timely_tracepoint, timely_probe, NULL);
	tracepoint_synchronize_unregister();
}

static int __init timely_register(void)
{
	int err;

	err = timely_config_init();
	if (err)
		return err;
	err = register_pernet_subsys(&timely_net_ops);
	if (err)
		goto out_config;
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
	unregister_pernet_subsys(&timely_net_ops);
out_config:
	timely_config_exit();
	return err;
}

static void __exit timely_unregister(void)
{
	tcp_unregister_congestion_control(&timely_ops);
	timely_probe_unregister();
	unregister_pernet_subsys(&timely_net_ops);
	timely_config_exit();
}

module_init(timely_register);
module_exit(timely_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP TIMELY: RTT-gradient congestion control");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
