// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_timely: tracepoint tcp_probe: find the burst that an ACK completes, and the
 * ACK's arrival time
 */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>
#include <closnet/nicclock.h>
#include "timely_tcp.h"

/* An older software timestamp is invalid, as the host's clock has been set. */
#define TIMELY_SW_AGE_MAX_NS	NSEC_PER_SEC

/*
 * Find the last burst with bytes that @ack covers. The loop visits packets that the
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

/* Hops of a received packet, if its sender started with a usual TTL */
static u8 timely_hops(const struct sk_buff *skb)
{
	u8 ttl = skb->protocol == htons(ETH_P_IPV6) ? ipv6_hdr(skb)->hop_limit : ip_hdr(skb)->ttl;

	return (ttl > 128 ? 255 : ttl > 64 ? 128 : 64) - ttl;
}

/*
 * Process an ACK of new data. nicclock sees the timestamp of every ACK and can
 * select the ones that the host processed quickly: the last ACK of a burst may always
 * have the same delay. Software timestamps are kept only while hardware timestamps
 * give no RTTs.
 */
static void timely_probe_ack(struct sock *sk, struct timely *ca, const struct sk_buff *skb)
{
	enum timely_source allowed = ca->config->source;

	ca->sw_ns = 0;
	if (ca->config->use_swift && ca->config->swift.hop_ns)
		ca->hops = timely_hops(skb);
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

	if (likely(inet_csk(sk)->icsk_ca_ops != &timely_ops) || !ca->config ||
	    !closnet_cc_in_window(sk, skb))
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

/**
 * timely_probe_register() - begin to look at ACKs
 *
 * Return: 0 or a negative error.
 */
int timely_probe_register(void)
{
	check_trace_callback_type_tcp_probe(timely_probe);
	return closnet_cc_probe_register(timely_probe);
}

/**
 * timely_probe_unregister() - undo timely_probe_register()
 */
void timely_probe_unregister(void)
{
	closnet_cc_probe_unregister(timely_probe);
}
