// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_dcqcn: DCQCN for TCP
 *
 * The algorithm and its paper are in net/lib/dcqcn.c. This file is the host's part: the
 * sender is the reaction point (RP), the receiver the notification point (NP). A
 * CNP is an ACK with ECE.
 *
 *	            data          CE                CE
 *	sender  ------>  switch  ------>  receiver
 *	  RP               CP                NP: a CNP for the first marked packet,
 *	   ^                                 |   then at most one per time N
 *	   +------ ACK with ECE (CNP) -------+
 *
 * Receiver: RFC 3168 makes it repeat ECE until the sender has reduced its window. To
 * make exactly one ACK a CNP, the module hides the marks from the stack:
 *
 *	tcp_probe tracepoint	changes CE to ECT(0), and remembers the mark
 *	cwnd_event(ECN_NO_CE)	called for each data packet with ECT when it is
 *				queued: runs the NP, sends the CNP, an ACK of
 *				the data so far
 *
 * Sender: an ACK with ECE is a CNP. A receiver without this module repeats ECE, and
 * one of these ACKs per rate_reduce_monitor_period is effective.
 * With Accurate ECN (Linux 7.x) no ECE is needed: the receiver reports the number of
 * marked packets, ACKs included, and the sender runs its own NP.
 *
 * Lossless networks drop no packets, and windows do not limit their hosts: TCP's
 * window is only a cap. The rate of an idle sender grows, as in the paper, since the
 * timer runs on. The increases are applied when transmission restarts.
 *
 * Differences from the paper:
 *  - The byte counter counts payload, including retransmissions.
 *  - Marks that arrive outside of state ESTABLISHED, after one side has closed the
 *    connection for its direction, cause no CNP: the stack follows RFC 3168.
 *  - The rate counts payload; the rate of a NIC counts whole frames.
 *  - R_AI is proportional to the link rate: 40 Mbit/s in the paper were for 40 Gbit/s.
 *  - With profile tuned, window and burst follow the rate, and T is at least RTT / F.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include "dcqcn_tcp.h"

#define CREATE_TRACE_POINTS
#include "dcqcn_trace.h"

/**
 * struct dcqcn - state of a connection
 * @vars: state of the RP
 * @np: state of the NP; with Accurate ECN, the sender runs the peer's NP
 * @config: configuration; NULL before dcqcn_init()
 * @bytes_sent: bytes that the byte counter has counted
 * @delivered_ce: marked packets that the NP has seen, with Accurate ECN
 * @cc: common state
 * @ce: the packet being received was marked
 * @ece: the last ACK had ECE
 */
struct dcqcn {
	struct dcqcn_vars vars;
	struct dcqcn_np np;
	struct dcqcn_config *config;
	u32 bytes_sent;
	u32 delivered_ce;
	struct closnet_cc cc;
	u8 ce:1,
	   ece:1;
};

static struct tcp_congestion_ops dcqcn_ops;

static struct dcqcn *dcqcn_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static void dcqcn_count(const struct dcqcn *ca, unsigned int counter)
{
	closnet_count(ca->config->cc.counters, counter);
}

/* ---- receiver (NP) ---- */

/*
 * Probe at tcp_probe: see closnet_closnet_cc_probe_register(). Hides the mark of a data
 * packet and has it counted as ECT(0), so that cwnd_event() runs the NP. With
 * Accurate ECN it only counts the mark. Some kernels declare @skb const, but the
 * stack itself writes to the control block afterwards.
 */
static void dcqcn_probe(void *unused, struct sock *sk, closnet_tcp_probe_skb *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct dcqcn *ca = dcqcn_ca(sk);
	bool ce;

	if (likely(inet_csk(sk)->icsk_ca_ops != &dcqcn_ops) || !ca->config)
		return;
	ce = INET_ECN_is_ce(cb->ip_dsfield);
	if (!ce && !ca->np.pending)
		return;
	/* Pure ACKs cause no CNP. TCP drops packets outside the window. */
	if (cb->seq == cb->end_seq || !closnet_cc_in_window(sk, skb))
		return;
	if (ce)
		closnet_count_add(ca->config->cc.counters, DCQCN_N_CE,
				  max_t(u32, skb_shinfo(skb)->gso_segs, 1));
	if (closnet_tcp_accecn(tcp_sk(sk)))
		return;
	ca->ce |= ce;
	cb->ip_dsfield = (cb->ip_dsfield & ~INET_ECN_MASK) | INET_ECN_ECT_0;
}

static noinline void dcqcn_send_cnp(struct sock *sk, struct dcqcn *ca, u64 wait_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	closnet_tcp_send_ack(sk);
	tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	dcqcn_count(ca, DCQCN_N_CNP_SENT);
	trace_dcqcn_cnp(sk, wait_ns);
}

/* ECN_NO_CE: a data packet with ECT has been queued, after dcqcn_probe(). */
static void dcqcn_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct dcqcn *ca = dcqcn_ca(sk);
	u64 now_ns = tcp_sk(sk)->tcp_clock_cache, last_ns = ca->np.cnp_ns;
	bool ce = ca->ce;

	if (event != CA_EVENT_ECN_NO_CE || !ca->config || closnet_tcp_accecn(tcp_sk(sk)))
		return;
	ca->ce = 0;
	if (dcqcn_np_packet(&ca->np, &ca->config->params, now_ns, ce))
		dcqcn_send_cnp(sk, ca, last_ns ? now_ns - last_ns : 0);
}

/* ---- sender (RP) ---- */

static struct dcqcn_limits dcqcn_limits(const struct sock *sk, const struct dcqcn *ca)
{
	const struct dcqcn_config *c = ca->config;
	u64 rtt_us = max_t(u32, tcp_sk(sk)->srtt_us >> 3, tcp_sk(sk)->rack.rtt_us);
	struct dcqcn_limits l;

	dcqcn_limits_set(&l, &c->rates, ca->cc.link_Mbps * CLOSNET_CC_MBPS,
			 closnet_cc_max_Bps(&ca->cc, &c->cc));
	/* Profile tuned: fast recovery lasts a round trip, even one that has just grown. */
	if (c->burst_ns)
		l.timer_ns = div_u64(rtt_us * NSEC_PER_USEC, c->params.threshold);
	return l;
}

/* Adapt to a change of the link rate or of the MSS. */
static void dcqcn_check_link(struct sock *sk, struct dcqcn *ca)
{
	const struct closnet_cc_config *c = &ca->config->cc;
	u32 link_Mbps;

	rcu_read_lock();
	link_Mbps = READ_ONCE(closnet_cc_link_rate(sk, &ca->cc, c)->Mbps);
	rcu_read_unlock();
	if (closnet_cc_resized(sk, &ca->cc, link_Mbps))
		closnet_cc_set_sizes(sk, &ca->cc, c, link_Mbps);
	closnet_cc_limit_burst(sk, &ca->cc);
}

/*
 * Profile tuned: the window is that of the line rate, cap_bytes or cap_ns, times R_C over the
 * line rate; a burst is what the connection sends in burst_ns. Such a window keeps the flows
 * of an incast from filling the buffer: a flow that waits there gets few CNPs. It does not
 * depend on the lowest RTT, as the RTTs of an incast's start include the queue. Bursts have
 * an even number of packets, or one packet if the connection sends fewer than one in T: each
 * packet can cause a CNP, and the rate would increase several times between two bursts.
 */
static void dcqcn_set_sizes(struct sock *sk, struct dcqcn *ca)
{
	const struct dcqcn_config *c = ca->config;
	u64 rate_Bps = ca->vars.rate_Bps, window;
	u32 segs = 1;

	if (!c->burst_ns)
		return;
	if (c->cc.cap_bytes)
		window = div_u64(mul_u64_u32_div(rate_Bps, c->cc.cap_bytes, ca->cc.link_Mbps),
				 CLOSNET_CC_MBPS);
	else
		window = div_u64(rate_Bps * c->cc.cap_ns, NSEC_PER_SEC);
	ca->cc.cap_segs = min_t(u64, max_t(u64, div_u64(window, ca->cc.mss), 4),
				tcp_sk(sk)->snd_cwnd_clamp);
	if (rate_Bps >= div_u64((u64)ca->cc.mss * NSEC_PER_SEC, c->params.timer_ns)) {
		segs = (u32)div_u64(rate_Bps * c->burst_ns, NSEC_PER_SEC) / ca->cc.mss;
		segs = clamp_t(u32, segs & ~1U, 2, ca->cc.seg_segs);
	}
	if (sk->sk_gso_max_segs != segs)
		closnet_cc_set_burst(sk, segs);
}

static void dcqcn_changed(struct sock *sk, struct dcqcn *ca, enum dcqcn_cause cause)
{
	closnet_cc_pace(sk, ca->vars.rate_Bps);
	dcqcn_set_sizes(sk, ca);
	dcqcn_count(ca, DCQCN_N_CAUSE(cause));
	trace_dcqcn_rate(sk, &ca->vars, &ca->config->params, cause);
}

/* Apply the timer and byte counter events that are due. Not inline: few ACKs need it. */
static noinline void dcqcn_catch_up(struct sock *sk, struct dcqcn *ca)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 bytes = (u32)tp->bytes_sent - ca->bytes_sent;
	struct dcqcn_limits l;
	enum dcqcn_cause cause;

	dcqcn_check_link(sk, ca);
	l = dcqcn_limits(sk, ca);
	ca->bytes_sent += bytes;
	cause = dcqcn_advance(&ca->vars, &ca->config->params, &l, tp->tcp_clock_cache, bytes);
	if (cause != DCQCN_NONE)
		dcqcn_changed(sk, ca, cause);
}

/* Is a timer or byte counter event due? */
static bool dcqcn_due(const struct sock *sk, const struct dcqcn *ca)
{
	const struct dcqcn_params *p = &ca->config->params;
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->tcp_clock_cache - ca->vars.timer_ns >= p->timer_ns ||
	       ca->vars.bytes + ((u32)tp->bytes_sent - ca->bytes_sent) >= p->byte_reset;
}

/* Process a CNP; @fresh: as for dcqcn_cnp() */
static noinline void dcqcn_notified(struct sock *sk, struct dcqcn *ca, bool fresh)
{
	struct dcqcn_limits l;

	dcqcn_catch_up(sk, ca);
	l = dcqcn_limits(sk, ca);
	if (dcqcn_cnp(&ca->vars, &ca->config->params, &l, tcp_sk(sk)->tcp_clock_cache, fresh))
		dcqcn_changed(sk, ca, DCQCN_CNP);
	else
		dcqcn_count(ca, DCQCN_N_IGNORED);
}

/* Called for each ACK, even without outstanding data. The ACK of a SYN precedes dcqcn_init(). */
static void dcqcn_in_ack_event(struct sock *sk, u32 flags)
{
	struct dcqcn *ca = dcqcn_ca(sk);
	bool ece = flags & CA_ACK_ECE, repeated = ca->ece;

	ca->ece = ece;
	if (ece && ca->config && !closnet_tcp_accecn(tcp_sk(sk)))
		dcqcn_notified(sk, ca, !repeated);
}

/* Accurate ECN: run the receiver's NP here. */
static void dcqcn_count_marks(struct sock *sk, struct dcqcn *ca)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	bool ce = tp->delivered_ce != ca->delivered_ce;

	ca->delivered_ce = tp->delivered_ce;
	if (dcqcn_np_packet(&ca->np, &ca->config->params, tp->tcp_clock_cache, ce))
		dcqcn_notified(sk, ca, true);
}

static void dcqcn_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (!ca->config)
		return;
	closnet_cc_grow_window(sk, ca->cc.cap_segs, rs->acked_sacked);
	if (closnet_tcp_accecn(tcp_sk(sk)))
		dcqcn_count_marks(sk, ca);
	if (dcqcn_due(sk, ca))
		dcqcn_catch_up(sk, ca);
}

CLOSNET_CONG_CONTROL(dcqcn_cong_control)

static void dcqcn_tx_start(struct sock *sk)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (ca->config && dcqcn_due(sk, ca))
		dcqcn_catch_up(sk, ca);
}

CLOSNET_CWND_EVENT(dcqcn_cwnd_event, dcqcn_tx_start)

/* ---- losses ---- */

/*
 * Cut the rate once per loss episode, which may pass through states Recovery, Loss or
 * both. ssthresh() does not indicate a loss: TCP calls it for ACKs with ECE as well.
 */
static void dcqcn_set_state(struct sock *sk, u8 state)
{
	struct dcqcn *ca = dcqcn_ca(sk);
	struct dcqcn_limits l;

	if (!ca->config || state < TCP_CA_Recovery ||
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return;
	dcqcn_catch_up(sk, ca);
	l = dcqcn_limits(sk, ca);
	dcqcn_cut(&ca->vars, &ca->config->params, &l, tcp_sk(sk)->tcp_clock_cache);
	dcqcn_changed(sk, ca, DCQCN_LOSS);
}

static u32 dcqcn_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The loss was spurious. */
static u32 dcqcn_undo_cwnd(struct sock *sk)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (ca->config && dcqcn_undo(&ca->vars))
		dcqcn_changed(sk, ca, DCQCN_UNDO);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* ---- start and end of a connection ---- */

/* Operations of connections without ECN */
static struct tcp_congestion_ops dcqcn_reno __read_mostly = {
	.name		= "dcqcn-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static void dcqcn_init(struct sock *sk)
{
	const struct closnet_cc_net *cn = net_generic(sock_net(sk), dcqcn_net_id);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dcqcn *ca = dcqcn_ca(sk);
	struct dcqcn_limits l;

	BUILD_BUG_ON(sizeof(struct dcqcn) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	if (!closnet_tcp_ecn(tp)) {
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &dcqcn_reno);
		closnet_count(cn->counters.values, DCQCN_N_ECN_MISSING);
		return;
	}
	ca->config = container_of(closnet_cc_config_get(cn), struct dcqcn_config, cc);
	ca->bytes_sent = tp->bytes_sent;
	ca->delivered_ce = tp->delivered_ce;
	closnet_cc_start(sk, &ca->cc, &ca->config->cc);
	l = dcqcn_limits(sk, ca);
	dcqcn_start(&ca->vars, &ca->config->params, &l, tcp_clock_ns());
	dcqcn_changed(sk, ca, DCQCN_START);
	if (closnet_tcp_accecn(tp))
		dcqcn_count(ca, DCQCN_N_ACCECN);
}

static void dcqcn_release(struct sock *sk)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (!ca->config)
		return;
	closnet_cc_stop(sk, &ca->cc);
	closnet_cc_config_put(&ca->config->cc);
	ca->config = NULL;
}

/* ss(8) shows alpha after the last CNP as the cwnd_gain of BBR. */
static size_t dcqcn_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct dcqcn *ca = dcqcn_ca(sk);
	size_t size = closnet_cc_get_info(&ca->cc, READ_ONCE(ca->vars.rate_Bps), ext, attr, info);

	if (size)
		info->bbr.bbr_cwnd_gain = READ_ONCE(ca->vars.alpha) >> (DCQCN_SHIFT - 8);
	return size;
}

static struct tcp_congestion_ops dcqcn_ops __read_mostly = {
	.name		= "dcqcn",
	.owner		= THIS_MODULE,
	.flags		= TCP_CONG_NEEDS_ECN,
	.init		= dcqcn_init,
	.release	= dcqcn_release,
	.in_ack_event	= dcqcn_in_ack_event,
	CLOSNET_CONG_CONTROL_OPS(dcqcn_cong_control),
	CLOSNET_CWND_EVENT_OPS(dcqcn_cwnd_event, dcqcn_tx_start),
	.set_state	= dcqcn_set_state,
	.ssthresh	= dcqcn_ssthresh,
	.undo_cwnd	= dcqcn_undo_cwnd,
	.get_info	= dcqcn_get_info,
};

/* ---- module ---- */

static int __init dcqcn_register(void)
{
	int err;

	check_trace_callback_type_tcp_probe(dcqcn_probe);
	err = dcqcn_net_register();
	if (err)
		return err;
	err = closnet_cc_probe_register(dcqcn_probe);
	if (err)
		goto out_net;
	err = tcp_register_congestion_control(&dcqcn_ops);
	if (err)
		goto out_probe;
	return 0;

out_probe:
	closnet_cc_probe_unregister(dcqcn_probe);
out_net:
	dcqcn_net_unregister();
	return err;
}

static void __exit dcqcn_unregister(void)
{
	tcp_unregister_congestion_control(&dcqcn_ops);
	closnet_cc_probe_unregister(dcqcn_probe);
	dcqcn_net_unregister();
}

module_init(dcqcn_register);
module_exit(dcqcn_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP DCQCN: congestion control by congestion notifications");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
