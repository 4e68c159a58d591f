// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_dcqcn: DCQCN for TCP
 *
 * The algorithm is in dcqcn.h, with its paper. This file is a host's part in
 * it: the sender is the reaction point (RP), the receiver the notification
 * point (NP). A CNP is an ACK with ECE.
 *
 *	            data          CE                CE
 *	sender  ------>  switch  ------>  receiver
 *	  RP               CP                NP: the first marked packet: at once,
 *	   ^                                 |   then one in N at most
 *	   +------ ACK with ECE (CNP) -------+
 *
 * Receiver: RFC 3168 has it repeat ECE until the sender has reduced its window.
 * So that exactly one ACK is a CNP, the stack must not see the marks. There is
 * one place before it looks:
 *
 *	tcp_probe tracepoint	makes ECT(0) of CE, and remembers that
 *	cwnd_event(ECN_NO_CE)	for each packet of data with ECT, when it is queued:
 *				asks the NP, sends the CNP, an ACK of all so far
 *
 * Sender: an ACK with ECE is a CNP. A receiver without this module latches ECE,
 * so of a row of such ACKs, one in rate_reduce_monitor_period counts. With
 * Accurate ECN (Linux 7.x) no ECE is needed: the receiver counts the marks,
 * those of ACKs, too, and the sender is its own NP.
 *
 * Lossless networks lose nothing, and hosts are not limited by windows there:
 * TCP's window is only a cap. A sender that has nothing to send gains rate, as
 * in the paper: the timer goes on. What it gained is found when transmission
 * starts again.
 *
 * Differences from the paper:
 *  - The byte counter counts payload, also of what is sent again.
 *  - Marks that come when one side has closed the connection for its direction,
 *    outside state ESTABLISHED, have no CNP: the stack does as in RFC 3168.
 *  - The rate is that of payload: a NIC's is that of whole frames.
 *  - R_AI follows the line rate: the paper's 40 Mbit/s were for 40 Gbit/s.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include "dcqcn.h"
#include "dcqcn_config.h"
#include "dcqcn_stats.h"
#include "probe.h"
#include "rate_cc.h"

#define CREATE_TRACE_POINTS
#include "dcqcn_trace.h"

/**
 * struct dcqcn - of a connection
 * @vars: the RP's state
 * @np: the NP's; with Accurate ECN for what is sent, else for what is received
 * @config: parameters, NULL before dcqcn_init()
 * @stats: counters of its namespace
 * @bytes_sent: that the byte counter has counted
 * @delivered_ce: marked packets that the NP has seen, with Accurate ECN
 * @rate: how it is made to send at its rate
 * @ce: the packet that is being received was marked
 * @ece: the last ACK had ECE
 */
struct dcqcn {
	struct dcqcn_vars vars;
	struct dcqcn_np np;
	struct dcqcn_config *config;
	u64 __percpu *stats;
	u32 bytes_sent;
	u32 delivered_ce;
	struct rate_cc rate;
	u8 ce:1,
	   ece:1;
};

static struct tcp_congestion_ops dcqcn_ops;

static struct dcqcn *dcqcn_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* ---- the receiver (NP) */

/*
 * Called for each packet to an established connection, of all congestion
 * controls, before the stack has done anything with it. Hides the mark, and
 * sees to it that the NP is asked; with Accurate ECN it only counts. In some
 * kernels @skb is const, but only for those who look: the stack goes on to
 * write its control block, too.
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
	/* ACKs are not answered. */
	if (cb->seq == cb->end_seq)
		return;
	if (ce)
		closnet_count_add(ca->stats, DCQCN_N_CE, max_t(u32, skb_shinfo(skb)->gso_segs, 1));
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
	closnet_count(ca->stats, DCQCN_N_CNP_SENT);
	trace_dcqcn_cnp(sk, wait_ns);
}

/* ECN_NO_CE: a packet of data with ECT has been queued, after dcqcn_probe() */
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

/* ---- the sender (RP) */

static struct dcqcn_limits dcqcn_limits(const struct dcqcn *ca)
{
	const struct dcqcn_config *c = ca->config;
	struct dcqcn_limits l;

	l.max_Bps = rate_cc_max_Bps(&ca->rate, &c->rate);
	l.ai_Bps = c->ai_Mbps ? c->ai_Mbps * RATE_CC_MBPS :
				div_u64(ca->rate.line_Mbps * RATE_CC_MBPS, c->ai_share);
	l.hai_Bps = c->hai_Mbps ? c->hai_Mbps * RATE_CC_MBPS : 10 * l.ai_Bps;
	l.min_Bps = min(c->min_Mbps ? c->min_Mbps * RATE_CC_MBPS : l.ai_Bps, l.max_Bps);
	return l;
}

/* The line and the payload of a packet may change. */
static void dcqcn_check_line(struct sock *sk, struct dcqcn *ca)
{
	const struct rate_config *c = &ca->config->rate;
	u32 line_Mbps;

	rcu_read_lock();
	line_Mbps = READ_ONCE(rate_cc_line(c, rate_cc_egress(sk, NULL, 0))->rate_Mbps);
	if (rate_cc_resized(sk, &ca->rate, line_Mbps))
		rate_cc_set_sizes(sk, &ca->rate, c, tcp_sk(sk)->mss_cache, line_Mbps);
	rcu_read_unlock();
	rate_cc_limit_burst(sk, &ca->rate);
}

static void dcqcn_changed(struct sock *sk, struct dcqcn *ca, enum dcqcn_cause cause)
{
	rate_cc_pace(sk, ca->vars.rate_Bps);
	closnet_count(ca->stats, DCQCN_N_CAUSE(cause));
	trace_dcqcn_rate(sk, &ca->vars, &ca->config->params, cause);
}

/* What timer and byte counter had to do until now. Not inline, as most ACKs do without. */
static noinline void dcqcn_catch_up(struct sock *sk, struct dcqcn *ca)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 bytes = (u32)tp->bytes_sent - ca->bytes_sent;
	struct dcqcn_limits l;
	enum dcqcn_cause cause;

	dcqcn_check_line(sk, ca);
	l = dcqcn_limits(ca);
	ca->bytes_sent += bytes;
	cause = dcqcn_advance(&ca->vars, &ca->config->params, &l, tp->tcp_clock_cache, bytes);
	if (cause != DCQCN_NONE)
		dcqcn_changed(sk, ca, cause);
}

/* Has the timer or the byte counter something to do? */
static bool dcqcn_due(const struct sock *sk, const struct dcqcn *ca)
{
	const struct dcqcn_params *p = &ca->config->params;
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->tcp_clock_cache - ca->vars.timer_ns >= p->timer_ns ||
	       ca->vars.bytes + ((u32)tp->bytes_sent - ca->bytes_sent) >= p->byte_reset;
}

/* @fresh: as for dcqcn_cnp() */
static noinline void dcqcn_notified(struct sock *sk, struct dcqcn *ca, bool fresh)
{
	struct dcqcn_limits l;

	dcqcn_catch_up(sk, ca);
	l = dcqcn_limits(ca);
	if (dcqcn_cnp(&ca->vars, &ca->config->params, &l, tcp_sk(sk)->tcp_clock_cache, fresh))
		dcqcn_changed(sk, ca, DCQCN_CNP);
	else
		closnet_count(ca->stats, DCQCN_N_IGNORED);
}

/* For each ACK, also when nothing is outstanding. That of a SYN comes before dcqcn_init(). */
static void dcqcn_in_ack_event(struct sock *sk, u32 flags)
{
	struct dcqcn *ca = dcqcn_ca(sk);
	bool ece = flags & CA_ACK_ECE, repeated = ca->ece;

	ca->ece = ece;
	if (ece && ca->config && !closnet_tcp_accecn(tcp_sk(sk)))
		dcqcn_notified(sk, ca, !repeated);
}

/* Accurate ECN: as the receiver's NP would do it */
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
	rate_cc_grow_window(sk, &ca->rate, rs->acked_sacked);
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

/* ---- losses */

/*
 * ssthresh() is no sign of a loss: TCP asks for it at each ACK with ECE, too.
 * An episode of losses has one cut, be it in states Recovery, Loss or both.
 */
static void dcqcn_set_state(struct sock *sk, u8 state)
{
	struct dcqcn *ca = dcqcn_ca(sk);
	struct dcqcn_limits l;

	if (!ca->config || state < TCP_CA_Recovery ||
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return;
	dcqcn_catch_up(sk, ca);
	l = dcqcn_limits(ca);
	dcqcn_cut(&ca->vars, &ca->config->params, &l, tcp_sk(sk)->tcp_clock_cache);
	dcqcn_changed(sk, ca, DCQCN_LOSS);
}

static u32 dcqcn_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* Nothing had been lost. */
static u32 dcqcn_undo_cwnd(struct sock *sk)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (ca->config && dcqcn_undo(&ca->vars))
		dcqcn_changed(sk, ca, DCQCN_UNDO);
	return tcp_snd_cwnd(tcp_sk(sk));
}

/* ---- beginning and end */

/* Of connections without ECN */
static struct tcp_congestion_ops dcqcn_reno __read_mostly = {
	.name		= "dcqcn-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static void dcqcn_init(struct sock *sk)
{
	const struct rate_net *rn = net_generic(sock_net(sk), dcqcn_net_id);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dcqcn *ca = dcqcn_ca(sk);
	struct dcqcn_limits l;

	BUILD_BUG_ON(sizeof(struct dcqcn) > ICSK_CA_PRIV_SIZE);
	memset(ca, 0, sizeof(*ca));
	if (!closnet_tcp_ecn(tp)) {
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &dcqcn_reno);
		closnet_count(rn->counters.values, DCQCN_N_ECN_MISSING);
		return;
	}
	ca->config = container_of(rate_config_get(rn), struct dcqcn_config, rate);
	ca->stats = rn->counters.values;
	ca->bytes_sent = tp->bytes_sent;
	ca->delivered_ce = tp->delivered_ce;
	rate_cc_start(sk, &ca->rate, &ca->config->rate);
	l = dcqcn_limits(ca);
	dcqcn_start(&ca->vars, &ca->config->params, &l, tcp_clock_ns());
	dcqcn_changed(sk, ca, DCQCN_START);
	if (closnet_tcp_accecn(tp))
		closnet_count(ca->stats, DCQCN_N_ACCECN);
}

static void dcqcn_release(struct sock *sk)
{
	struct dcqcn *ca = dcqcn_ca(sk);

	if (!ca->config)
		return;
	rate_cc_stop(sk);
	rate_config_put(&ca->config->rate);
	ca->config = NULL;
}

/* ss(8) shows alpha, as the last CNP left it, as BBR's cwnd_gain. */
static size_t dcqcn_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct dcqcn *ca = dcqcn_ca(sk);
	size_t size = rate_cc_get_info(&ca->rate, READ_ONCE(ca->vars.rate_Bps), ext, attr, info);

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

/* ---- module */

static int __init dcqcn_register(void)
{
	int err;

	check_trace_callback_type_tcp_probe(dcqcn_probe);
	err = register_pernet_subsys(&dcqcn_net_ops);
	if (err)
		return err;
	err = cc_probe_register(dcqcn_probe);
	if (err)
		goto out_net;
	err = tcp_register_congestion_control(&dcqcn_ops);
	if (err)
		goto out_probe;
	return 0;

out_probe:
	cc_probe_unregister(dcqcn_probe);
out_net:
	unregister_pernet_subsys(&dcqcn_net_ops);
	return err;
}

static void __exit dcqcn_unregister(void)
{
	tcp_unregister_congestion_control(&dcqcn_ops);
	cc_probe_unregister(dcqcn_probe);
	unregister_pernet_subsys(&dcqcn_net_ops);
}

module_init(dcqcn_register);
module_exit(dcqcn_unregister);

MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("TCP DCQCN: congestion control by congestion notifications");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
