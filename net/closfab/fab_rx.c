// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving: check headers, find the peer, take control packets
 *
 * All packets come from the network and may be forged. Without a key, a header is only checked
 * for sense, as with other tunnels. "Threats" in the documentation has the bounds of the damage
 * then. Data goes on to the stream of its bucket (fab_stream.c).
 */
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/udp.h>
#include <closnet/pkt_core.h>
#include "fab.h"
#include "fab_trace.h"

static void fab_addresses(const struct sk_buff *skb, struct in6_addr *from, struct in6_addr *to)
{
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, from);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, to);
		return;
	}
	*from = ipv6_hdr(skb)->saddr;
	*to = ipv6_hdr(skb)->daddr;
}

/* skb->data is at the UDP header. */
static bool fab_is_authentic(const struct fab_dev *fab, const struct sk_buff *skb,
			     const struct fab_header *h, const struct in6_addr *from,
			     const struct in6_addr *to, u32 hlen)
{
	const u8 *header = skb->data + sizeof(struct udphdr);
	u32 len = skb->len - sizeof(struct udphdr) - hlen;

	if (!fab->keyed)
		return !(h->flags & FAB_F_KEYED);
	return h->flags & FAB_F_KEYED &&
	       fab_mac(fab, from, to, header, len) == closnet_get(header + FAB_HLEN, FAB_MAC_LEN);
}

/* Read the header. Return: its length with the MAC; 0: it is not valid */
static u32 fab_read(struct sk_buff *skb, struct fab_header *h)
{
	const u32 udp = sizeof(struct udphdr);

	/* closfab sends no GSO packets; the inner packet would keep the fields of a forged one */
	if (skb_is_gso(skb))
		return 0;
	if (!pskb_may_pull(skb, min_t(u32, skb->len, udp + FAB_HLEN + FAB_MAC_LEN)))
		return 0;
	return fab_header_read(h, skb->data + udp, skb->len - udp);
}

/* ---- control packets ---- */

static void fab_notified(struct fab_peer *peer, u16 path, u64 now_ns)
{
	struct fab_source_params p = {
		.busy_ns = READ_ONCE(peer->fab->options.theta_path_busy_ns),
	};

	fab_busy_set(&peer->busy, path, &p, now_ns);
}

static bool fab_take_reply(struct fab_peer *peer, struct fab_bucket *b, const struct fab_header *h,
			   u64 now_ns)
{
	u32 rtt_ns;
	bool taken;

	if (h->flags & FAB_F_CE_ECHO)
		fab_notified(peer, h->path, now_ns);
	spin_lock(&b->lock);
	taken = fab_source_reply(&b->source, h->epoch, now_ns);
	rtt_ns = fab_source_rtt_ns(&b->source, h->epoch, h->tx_us, now_ns);
	spin_unlock(&b->lock);
	if (rtt_ns) {
		spin_lock(&peer->rtt_lock);
		fab_rtt_add(&peer->rtt, rtt_ns, now_ns);
		spin_unlock(&peer->rtt_lock);
	}
	return taken;
}

static bool fab_take_clear(struct fab_bucket *b, const struct fab_header *h)
{
	bool taken;

	spin_lock(&b->lock);
	taken = fab_source_clear(&b->source, h->epoch);
	spin_unlock(&b->lock);
	return taken;
}

/* Take a control packet. Return: the counter that counts it */
static enum fab_counter fab_take_control(struct fab_dev *fab, const struct in6_addr *from,
					 const struct fab_header *h)
{
	struct fab_peer *peer = fab_peer_find(fab, from);
	u64 now_ns = ktime_get_ns();
	struct fab_bucket *b;

	if (!peer || fab_cookie_instance(h->cookie) != peer->instance)
		return FAB_CNT_rx_ignored;
	b = fab_bucket_find(peer, fab_cookie_bucket(h->cookie));
	if (!b)
		return FAB_CNT_rx_ignored;
	if (h->flags & FAB_F_REFUSE)
		WRITE_ONCE(peer->refused_ns, now_ns + READ_ONCE(fab->options.theta_inactive_ns));
	switch (h->op) {
	case FAB_REPLY:
		return fab_take_reply(peer, b, h, now_ns) ? FAB_CNT_rx_replies : FAB_CNT_rx_ignored;
	case FAB_CLEAR:
		return fab_take_clear(b, h) ? FAB_CNT_rx_clears : FAB_CNT_rx_ignored;
	default:
		fab_notified(peer, h->path, now_ns);
		return FAB_CNT_rx_notifies;
	}
}

/* ---- data ---- */

/* skb->data is at the UDP header, and stays there until the packet is delivered. */
static void fab_take_data(struct fab_dev *fab, struct sk_buff *skb, const struct fab_header *h,
			  const struct in6_addr *from)
{
	struct fab_peer *peer = NULL;
	bool ce;

	ce = ip_hdr(skb)->version == 4 ? INET_ECN_is_ce(ip_hdr(skb)->tos) :
					 INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	/* the packet may be held longer than this read section and its device last */
	skb_scrub_packet(skb, !net_eq(fab->net, dev_net(fab->dev)));
	skb_orphan(skb);
	skb->dev = fab->dev;
	if (h->op != FAB_DATA)
		peer = fab_peer_get(fab, from, false);
	if (peer) {
		fab_stream_receive(peer, skb, h, ce);
		return;
	}
	fab_count(fab, FAB_CNT_rx_unordered);
	fab_deliver(fab, skb, h, h->cookie);
}

static void fab_refuse(struct fab_dev *fab, struct sk_buff *skb, enum fab_counter counter)
{
	fab_count(fab, counter);
	DEV_STATS_INC(fab->dev, rx_errors);
	kfree_skb(skb);
}

/**
 * fab_receive() - receive a packet of the UDP port
 * @sk: the socket
 * @skb: the packet; data is at the UDP header
 *
 * Context: RCU, BH off.
 *
 * Return: 0: it is taken.
 */
int fab_receive(struct sock *sk, struct sk_buff *skb)
{
	struct fab_dev *fab = rcu_dereference_sk_user_data(sk);
	struct in6_addr from, to;
	struct fab_header h;
	u32 hlen;

	if (!fab) {
		kfree_skb(skb);
		return 0;
	}
	hlen = fab_read(skb, &h);
	if (!hlen) {
		fab_refuse(fab, skb, FAB_CNT_rx_malformed);
		return 0;
	}
	fab_addresses(skb, &from, &to);
	if (!fab_is_authentic(fab, skb, &h, &from, &to, hlen)) {
		fab_refuse(fab, skb, FAB_CNT_rx_not_authentic);
		return 0;
	}
	trace_fab_receive(fab, &h, skb->len, atomic_read(&fab->held_bytes));
	if (fab_op_is_control(h.op)) {
		fab_count(fab, fab_take_control(fab, &from, &h));
		consume_skb(skb);
	} else {
		fab_take_data(fab, skb, &h, &from);
	}
	return 0;
}
