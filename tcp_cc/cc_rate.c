// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet_cc: make the stack send at a rate
 *
 * The rate becomes TCP's pacing rate, enforced by fq or by TCP itself. The window is
 * only a cap on outstanding data: it grows from TCP's initial window by the
 * acknowledged packets up to the cap. Bursts, that is, the packets that the stack
 * hands to the NIC at once, have a maximum size.
 */
#include <linux/module.h>
#include "closnet_cc.h"

/**
 * closnet_cc_set_sizes() - derive window cap and burst size from MSS and link rate
 * @sk: socket
 * @cc: common state of the connection
 * @c: configuration of the connection
 * @link_Mbps: link rate, not 0
 */
void closnet_cc_set_sizes(struct sock *sk, struct closnet_cc *cc,
			  const struct closnet_cc_config *c, u32 link_Mbps)
{
	u64 cap = c->cap_bytes ?: div_u64((u64)link_Mbps * c->cap_ns, 8000);
	u32 mss = tcp_sk(sk)->mss_cache;

	cc->link_Mbps = link_Mbps;
	cc->mss = mss;
	cc->payload = (mss << 16) / (mss + closnet_cc_overhead(sk));
	/* Receivers acknowledge every second packet: use an even number. */
	cc->seg_segs = max(c->seg_bytes / mss & ~1U, 2U);
	cc->cap_segs = min_t(u64, max_t(u64, div_u64(cap, mss), 2 * cc->seg_segs),
			     tcp_sk(sk)->snd_cwnd_clamp);
}
EXPORT_SYMBOL_GPL(closnet_cc_set_sizes);

/**
 * closnet_cc_start() - initialise a connection: sizes, pacing, burst limit
 * @sk: socket
 * @cc: common state of the connection, zeroed
 * @c: configuration of the connection
 */
void closnet_cc_start(struct sock *sk, struct closnet_cc *cc, const struct closnet_cc_config *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 link_Mbps;

	rcu_read_lock();
	link_Mbps = READ_ONCE(closnet_cc_link_rate(sk, cc, c)->Mbps);
	rcu_read_unlock();
	/* The link may have gone down meanwhile. */
	closnet_cc_set_sizes(sk, cc, c, link_Mbps ?: c->rate.Mbps);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	closnet_cc_limit_burst(sk, cc);
}
EXPORT_SYMBOL_GPL(closnet_cc_start);

/**
 * closnet_cc_set_burst() - set the maximum of packets in a burst
 * @sk: socket
 * @segs: packets, not 0; the device's limit applies if it is lower
 *
 * As in sk_setup_caps(), a socket that must not use GSO gets a limit of 1.
 */
void closnet_cc_set_burst(struct sock *sk, u32 segs)
{
	const struct dst_entry *dst;
	u32 most = 1;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst && sk_can_gso(sk))
		most = max_t(u32, READ_ONCE(dst_dev_rcu(dst)->gso_max_segs), 1);
	rcu_read_unlock();
	sk->sk_gso_max_segs = min(segs, most);
}
EXPORT_SYMBOL_GPL(closnet_cc_set_burst);

/**
 * closnet_cc_stop() - release a connection and restore its device's burst limit
 * @sk: socket
 * @cc: common state of the connection
 */
void closnet_cc_stop(struct sock *sk, struct closnet_cc *cc)
{
	closnet_cc_set_burst(sk, U32_MAX);
	closnet_cc_link_put(cc->link);
	cc->link = NULL;
}
EXPORT_SYMBOL_GPL(closnet_cc_stop);

/**
 * closnet_cc_get_info() - implement get_info() of a congestion control
 * @cc: common state of the connection
 * @rate_Bps: rate, bytes per second
 * @ext: requested extensions, as for get_info()
 * @attr: set to the attribute, as for get_info()
 * @info: filled
 *
 * INET_DIAG has no attribute for a rate. ss(8) shows that of BBR as
 * bbr:(bw:RATE,mrtt:...,pacing_gain:RATE/LINK_RATE).
 *
 * Return: size of @info, 0 if it was not requested.
 */
size_t closnet_cc_get_info(const struct closnet_cc *cc, u64 rate_Bps, u32 ext, int *attr,
			   union tcp_cc_info *info)
{
	u64 link_Bps = READ_ONCE(cc->link_Mbps) * CLOSNET_CC_MBPS;

	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))) || !link_Bps)
		return 0;
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = lower_32_bits(rate_Bps);
	info->bbr.bbr_bw_hi = upper_32_bits(rate_Bps);
	info->bbr.bbr_pacing_gain = div64_u64(rate_Bps << 8, link_Bps);
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}
EXPORT_SYMBOL_GPL(closnet_cc_get_info);
