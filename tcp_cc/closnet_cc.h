/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closnet_cc: interface of the common part of rate-based congestion controls
 *
 *	cc_main.c	module, /proc/net/closnet, tracepoint tcp_probe
 *	cc_link.c	link rates (<closnet/cc_link.h>)
 *	cc_config.c	sysctls of a network namespace, configuration of a connection
 *	cc_rate.c	pacing, window and burst size of a connection
 */
#ifndef _CLOSNET_CC_H
#define _CLOSNET_CC_H

#include <linux/if_ether.h>
#include <linux/inet_diag.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <net/inet_connection_sock.h>
#include <net/netns/generic.h>
#include <net/tcp.h>
#include <closnet/cc_link.h>
#include <closnet/counters.h>

/* ---- sysctls and configuration ---- */

/**
 * struct closnet_cc_option - sysctl: a number, a fraction with three decimals, or a word
 * @name: file name
 * @value: default; of a fraction in thousandths, of a word its index in @words
 * @min: lowest value
 * @max: highest value; of a word the last index
 * @unit: unit for messages, with a leading space
 * @fraction: the value is a fraction, as in 0.875
 * @words: names of the values 0 to @max; NULL: the value is a number
 */
struct closnet_cc_option {
	const char *name;
	u32 value;
	u32 min;
	u32 max;
	const char *unit;
	bool fraction;
	const char * const *words;
};

/* Each congestion control has this option. */
#define CLOSNET_CC_OPTION_LINK_RATE \
	{ "line_rate", .value = 0, .min = 0, .max = 1000000, .unit = " Mbit/s" }

/**
 * struct closnet_cc_config - configuration of connections, the first member of the
 *	congestion control's own
 * @rate: link rate, if @fixed or if that of the device is unknown
 * @fixed: @rate replaces the link rate of the device
 * @max_Mbps: highest rate; 0: payload rate of the link
 * @seg_bytes: maximum size of a burst
 * @cap_bytes: maximum of outstanding bytes; 0: @cap_ns at link rate
 * @cap_ns: time that replaces @cap_bytes
 * @counters: counters of the network namespace
 * @users: number of connections, plus one while it is the current configuration
 * @rcu: frees the configuration
 *
 * A connection keeps the configuration that its namespace has when it starts. A
 * write to a sysctl makes a new configuration, which later connections share. The
 * last connection that uses a replaced configuration frees it.
 */
struct closnet_cc_config {
	struct closnet_cc_rate rate;
	bool fixed;
	u32 max_Mbps;
	u32 seg_bytes;
	u32 cap_bytes;
	u32 cap_ns;
	u64 __percpu *counters;
	refcount_t users;
	struct rcu_head rcu;
};

/**
 * struct closnet_cc_kind - congestion control
 * @path: directory of its sysctls below /proc/sys
 * @options: sysctls
 * @count: number of @options
 * @link_rate: index of CLOSNET_CC_OPTION_LINK_RATE in @options
 * @net_id: net_generic() index of its struct closnet_cc_net
 * @new_config: allocate a configuration for the sysctls' values with kzalloc() and
 *	fill its sizes and the congestion control's own part; may return an ERR_PTR()
 *	and then logs the reason
 */
struct closnet_cc_kind {
	const char *path;
	const struct closnet_cc_option *options;
	unsigned int count;
	unsigned int link_rate;
	unsigned int *net_id;
	struct closnet_cc_config *(*new_config)(const u32 *values);
};

/**
 * struct closnet_cc_net - state of a congestion control in a network namespace
 * @counters: counters
 * @kind: congestion control
 * @lock: serialises writers of @values and @config
 * @values: values of the sysctls, in the order of the options
 * @header: registration of the sysctls
 * @config: configuration of new connections
 */
struct closnet_cc_net {
	struct closnet_counters counters;
	const struct closnet_cc_kind *kind;
	struct mutex lock;	/* serialises writers of @values and @config */
	u32 *values;
	struct ctl_table_header *header;
	struct closnet_cc_config __rcu *config;
};

int closnet_cc_net_init(struct net *net, const struct closnet_cc_kind *kind);
void closnet_cc_net_exit(struct net *net, const struct closnet_cc_kind *kind);
struct closnet_cc_config *closnet_cc_config_get(const struct closnet_cc_net *cn);
void closnet_cc_config_put(struct closnet_cc_config *c);

/* ---- tracepoint ---- */

int closnet_cc_probe_register(void *probe);
void closnet_cc_probe_unregister(void *probe);

/*
 * Will TCP accept the sequence number of a received packet, by the rule of its
 * tcp_sequence()? The probe also sees forged packets, whose sender needs to know only
 * the addresses and ports of a connection.
 */
static inline bool closnet_cc_in_window(const struct sock *sk, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = (const struct tcp_skb_cb *)skb->cb;
	const struct tcp_sock *tp = tcp_sk(sk);

	return !before(cb->end_seq, tp->rcv_wup) &&
	       !after(cb->seq, tp->rcv_nxt + tcp_receive_window(tp));
}

/* ---- rate of a connection ---- */

/* Overhead of an Ethernet frame on the link: header, FCS, preamble, gap */
#define CLOSNET_CC_FRAME_BYTES	(ETH_HLEN + ETH_FCS_LEN + 8 + 12)

/* Bytes per second */
#define CLOSNET_CC_MBPS		((u64)BITS_TO_BYTES(1000000))

/**
 * struct closnet_cc - common state of a connection
 * @link: link of its route; NULL: unknown or not needed
 * @link_Mbps: link rate from which the other members are derived
 * @cap_segs: maximum of outstanding packets
 * @mss: payload of a packet from which the other members are derived
 * @seg_segs: maximum of packets in a burst
 * @payload: share of payload on a full link, Q.16
 *
 * Packed, as a congestion control has 104 bytes only.
 */
struct closnet_cc {
	struct closnet_cc_link *link;
	u32 link_Mbps;
	u32 cap_segs;
	u16 mss;
	u16 seg_segs;
	u16 payload;
} __packed __aligned(2);

void closnet_cc_start(struct sock *sk, struct closnet_cc *cc, const struct closnet_cc_config *c);
void closnet_cc_stop(struct sock *sk, struct closnet_cc *cc);
void closnet_cc_set_burst(struct sock *sk, u32 segs);
void closnet_cc_set_sizes(struct sock *sk, struct closnet_cc *cc, const struct closnet_cc_config *c,
			  u32 link_Mbps);
size_t closnet_cc_get_info(const struct closnet_cc *cc, u64 rate_Bps, u32 ext, int *attr,
			   union tcp_cc_info *info);

/*
 * The functions below run for each ACK: selftests/bench/acks.sh counts their
 * instructions.
 */

/* Rate of payload on a busy link, bytes per second */
static __always_inline u64 closnet_cc_link_Bps(const struct closnet_cc *cc)
{
	return (cc->link_Mbps * CLOSNET_CC_MBPS * cc->payload) >> 16;
}

/*
 * Highest rate of the payload, bytes per second. TCP paces payload; with the link's
 * own rate, a connection would fill the queue of its NIC.
 */
static __always_inline u64 closnet_cc_max_Bps(const struct closnet_cc *cc,
					      const struct closnet_cc_config *c)
{
	return c->max_Mbps ? c->max_Mbps * CLOSNET_CC_MBPS :
			     closnet_cc_link_Bps(cc);
}

/* Bytes of a frame on the link without its payload */
static inline u32 closnet_cc_overhead(const struct sock *sk)
{
	return tcp_sk(sk)->tcp_header_len + inet_csk(sk)->icsk_af_ops->net_header_len +
	       CLOSNET_CC_FRAME_BYTES;
}

/* Rate of the link by which the connection's data leaves; under RCU */
static __always_inline const struct closnet_cc_rate *
closnet_cc_link_rate(struct sock *sk, struct closnet_cc *cc, const struct closnet_cc_config *c)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	int ifindex;

	if (unlikely(c->fixed))
		return &c->rate;
	if (dst) {
		ifindex = dst_dev_rcu(dst)->ifindex;
		if (unlikely(!cc->link || READ_ONCE(cc->link->ifindex) != ifindex))
			cc->link = closnet_cc_link_replace(cc->link, sock_net(sk), ifindex);
	}
	return cc->link && READ_ONCE(cc->link->rate.Mbps) ? &cc->link->rate : &c->rate;
}

/* Whether the sizes must change. A link that has just gone down has no rate. */
static __always_inline bool closnet_cc_resized(const struct sock *sk, const struct closnet_cc *cc,
					       u32 link_Mbps)
{
	return link_Mbps && (link_Mbps != cc->link_Mbps || tcp_sk(sk)->mss_cache != cc->mss);
}

/* Limit the packets that the stack hands to the NIC at once. */
static inline void closnet_cc_limit_burst(struct sock *sk, const struct closnet_cc *cc)
{
	if (sk->sk_gso_max_segs > cc->seg_segs)
		sk->sk_gso_max_segs = cc->seg_segs;
}

/* The window grows by the acknowledged packets up to @segs, where it remains. */
static inline void closnet_cc_grow_window(struct sock *sk, u32 segs, s32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (cwnd != segs)
		tcp_snd_cwnd_set(tp, min_t(u32, cwnd + max(acked, 0), segs));
}

static inline void closnet_cc_pace(struct sock *sk, u64 rate_Bps)
{
	u64 max_Bps = READ_ONCE(sk->sk_max_pacing_rate);

	WRITE_ONCE(sk->sk_pacing_rate, min(rate_Bps, max_Bps));
}

#endif /* _CLOSNET_CC_H */
