/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What congestion controls by rate share: how the stack is made to send at a
 * rate, and what that has to do with the line
 *
 * The rate is TCP's pacing rate, by fq or by TCP itself. The window only caps
 * the data outstanding: it grows from TCP's initial one by what is acknowledged,
 * up to the cap, and stays there. What the stack hands to the NIC at once, a
 * burst, is limited, too.
 *
 * For a module's only source file.
 */
#ifndef _RATE_CC_H
#define _RATE_CC_H

#include <linux/if_ether.h>
#include <linux/inet_diag.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "rate_config.h"

/* Of devices that do not know it; the testbed of TIMELY had that. */
#define RATE_CC_LINE_MBPS	10000

/* Ethernet: header, FCS, preamble, and the gap between frames */
#define RATE_CC_FRAME_BYTES	(ETH_HLEN + ETH_FCS_LEN + 8 + 12)

/* Bytes per second */
#define RATE_CC_MBPS		((u64)BITS_TO_BYTES(1000000))

/**
 * struct rate_cc - of a connection
 * @line_Mbps: line rate that @cap_segs goes by
 * @cap_segs: most packets outstanding
 * @mss: payload of a packet that the others go by
 * @seg_segs: most packets of a burst
 * @payload: share of payload in what a full line carries, Q.16
 *
 * Packed, as every byte counts of the 104 that a congestion control has.
 */
struct rate_cc {
	u32 line_Mbps;
	u32 cap_segs;
	u16 mss;
	u16 seg_segs;
	u16 payload;
} __packed __aligned(2);

/*
 * TCP paces payload. At the rate of the line itself a connection would fill its
 * own NIC's queue. Inline, as it is needed often.
 */
static __always_inline u64 rate_cc_max_Bps(const struct rate_cc *rc, const struct rate_config *c)
{
	return c->max_Mbps ? c->max_Mbps * RATE_CC_MBPS :
			     (rc->line_Mbps * RATE_CC_MBPS * rc->payload) >> 16;
}

/* What a frame on the line has besides payload, bytes */
static u32 rate_cc_headers(const struct sock *sk)
{
	return tcp_sk(sk)->tcp_header_len + inet_csk(sk)->icsk_af_ops->net_header_len +
	       RATE_CC_FRAME_BYTES;
}

/*
 * What follows from the payload of a packet and the line rate. Both change
 * seldom.
 */
static void rate_cc_set_sizes(struct sock *sk, struct rate_cc *rc, const struct rate_config *c,
			      u32 mss, u32 line_Mbps)
{
	u64 cap = c->cap_bytes ?: div_u64((u64)line_Mbps * c->cap_ns, 8000);

	rc->line_Mbps = line_Mbps;
	rc->mss = mss;
	rc->payload = (mss << 16) / (mss + rate_cc_headers(sk));
	/* Receivers acknowledge each second packet: an even number has no rest. */
	rc->seg_segs = max(c->seg_bytes / mss & ~1U, 2U);
	rc->cap_segs = min_t(u64, max_t(u64, div_u64(cap, mss), 2 * rc->seg_segs),
			     tcp_sk(sk)->snd_cwnd_clamp);
}

/* Are the sizes to be set? The link may have gone down just now: not then. */
static __always_inline bool rate_cc_resized(const struct sock *sk, const struct rate_cc *rc,
					    u32 line_Mbps)
{
	return line_Mbps && (line_Mbps != rc->line_Mbps || tcp_sk(sk)->mss_cache != rc->mss);
}

/* The NIC that a connection's data leaves by; RCU. @nc: that of @ifindex */
static struct nicclock *rate_cc_egress(struct sock *sk, struct nicclock *nc, int ifindex)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	int egress = dst ? dst_dev_rcu(dst)->ifindex : ifindex;

	return egress == ifindex ? nc : nicclock_find(sock_net(sk), egress);
}

/* The parameter's, that of the NIC, or what is taken for it */
static const struct nicclock_line *rate_cc_line(const struct rate_config *c,
						const struct nicclock *nc)
{
	static const struct nicclock_line unknown = {
		.rate_Mbps = RATE_CC_LINE_MBPS,
		.byte_time = NICCLOCK_BYTE_TIME_MBPS / RATE_CC_LINE_MBPS,
	};

	if (c->line.rate_Mbps)
		return &c->line;
	return nc && READ_ONCE(nc->line.rate_Mbps) ? &nc->line : &unknown;
}

/* Packets of the stack's choice are at most a burst. */
static void rate_cc_limit_burst(struct sock *sk, const struct rate_cc *rc)
{
	if (sk->sk_gso_max_segs > rc->seg_segs)
		sk->sk_gso_max_segs = rc->seg_segs;
}

/* The window grows to the cap on data outstanding, and stays there. */
static void rate_cc_grow_window(struct sock *sk, const struct rate_cc *rc, s32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (cwnd != rc->cap_segs)
		tcp_snd_cwnd_set(tp, min_t(u32, cwnd + max(acked, 0), rc->cap_segs));
}

static void rate_cc_pace(struct sock *sk, u64 rate_Bps)
{
	u64 max_Bps = READ_ONCE(sk->sk_max_pacing_rate);

	WRITE_ONCE(sk->sk_pacing_rate, min(rate_Bps, max_Bps));
}

/* A connection begins: sizes by its route's device, and pacing */
static void rate_cc_start(struct sock *sk, struct rate_cc *rc, const struct rate_config *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 line_Mbps;

	rcu_read_lock();
	line_Mbps = READ_ONCE(rate_cc_line(c, rate_cc_egress(sk, NULL, 0))->rate_Mbps);
	/* The link may have gone down just now. */
	rate_cc_set_sizes(sk, rc, c, tp->mss_cache, line_Mbps ?: RATE_CC_LINE_MBPS);
	rcu_read_unlock();
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	rate_cc_limit_burst(sk, rc);
}

/*
 * It ends: the device's own limit of bursts again, for the next congestion
 * control; as in sk_setup_caps(), which sets 1 for sockets that must not use GSO.
 */
static void rate_cc_stop(struct sock *sk)
{
	const struct dst_entry *dst;
	u32 segs = 1;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst && sk_can_gso(sk))
		segs = max_t(u32, READ_ONCE(dst_dev_rcu(dst)->gso_max_segs), 1);
	rcu_read_unlock();
	sk->sk_gso_max_segs = segs;
}

/*
 * For get_info(). There is no struct for a rate, and ss(8) knows only some. It
 * shows that of BBR as bbr:(bw:RATE,mrtt:...,pacing_gain:RATE/LINE_RATE).
 */
static size_t rate_cc_get_info(const struct rate_cc *rc, u64 rate_Bps, u32 ext, int *attr,
			       union tcp_cc_info *info)
{
	u64 line_Bps = READ_ONCE(rc->line_Mbps) * RATE_CC_MBPS;

	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1))) || !line_Bps)
		return 0;
	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = lower_32_bits(rate_Bps);
	info->bbr.bbr_bw_hi = upper_32_bits(rate_Bps);
	info->bbr.bbr_pacing_gain = div64_u64(rate_Bps << 8, line_Bps);
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

#endif /* _RATE_CC_H */
