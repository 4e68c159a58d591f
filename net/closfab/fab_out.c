// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encapsulation: outer header, MAC and path of packets and control packets
 */
#include <net/pkt_sched.h>
#include <net/udp_tunnel.h>
#include <closnet/pkt_core.h>
#include "fab.h"
#include "fab_trace.h"

/* UDP source ports: the dynamic ones (RFC 6335) */
#define FAB_SPORT_MIN	0xc000U
#define FAB_TOS_CONTROL	0xc0	/* CS6 */

/**
 * fab_drop() - drop a packet that cannot be sent
 * @fab: device
 * @skb: packet
 * @counter: reason
 */
void fab_drop(const struct fab_dev *fab, struct sk_buff *skb, enum fab_counter counter)
{
	fab_count(fab, counter);
	DEV_STATS_INC(fab->dev, tx_dropped);
	kfree_skb(skb);
}

/**
 * fab_mac() - compute the MAC of a packet
 * @fab: device, which has the key
 * @from: source address of the outer header; IPv4 is mapped
 * @to: destination address
 * @header: FAB_HLEN bytes
 * @len: length of the packet behind the header and the MAC
 *
 * Return: 64 bits.
 */
u64 fab_mac(const struct fab_dev *fab, const struct in6_addr *from, const struct in6_addr *to,
	    const u8 *header, u32 len)
{
	struct {
		struct in6_addr from;
		struct in6_addr to;
		u8 header[FAB_HLEN];
		u32 len;
	} __aligned(SIPHASH_ALIGNMENT) data = { .from = *from, .to = *to, .len = len };

	memcpy(data.header, header, FAB_HLEN);
	return siphash(&data, sizeof(data), &fab->key);
}

static void fab_push_mac(const struct fab_out *out, const struct fab_path *path,
			 struct sk_buff *skb, u32 len)
{
	struct in6_addr from;

	if (ipv6_addr_v4mapped(&out->peer->addr))
		ipv6_addr_set_v4mapped(path->saddr4, &from);
	else
		from = path->saddr6;
	closnet_put(skb->data + FAB_HLEN, FAB_MAC_LEN,
		    fab_mac(out->fab, &from, &out->peer->addr, skb->data, len));
}

/* Put the header before a packet. Return: false if there is no memory */
static bool fab_push_header(struct fab_out *out, const struct fab_path *path, struct sk_buff *skb)
{
	struct net_device *under = path->dst->dev;
	u32 headroom = LL_RESERVED_SPACE(under) + path->dst->header_len + FAB_OVERHEAD;
	u32 len = skb->len;

	/* udp_tunnel6_xmit_skb() does not drop the route */
	skb_scrub_packet(skb, !net_eq(out->fab->net, dev_net(out->fab->dev)));
	skb->ignore_df = !out->df;
	if (skb_cow_head(skb, headroom) || iptunnel_handle_offloads(skb, 0))
		return false;
	if (out->fab->keyed)
		out->h.flags |= FAB_F_KEYED;
	fab_header_write(skb_push(skb, FAB_HLEN + (out->fab->keyed ? FAB_MAC_LEN : 0)), &out->h);
	if (out->fab->keyed)
		fab_push_mac(out, path, skb, len);
	return true;
}

static __be16 fab_sport(const struct fab_peer *peer, u16 path)
{
	/* any port that stays, and differs between paths of a next hop */
	return htons(FAB_SPORT_MIN | ((peer->instance + (path & 0xff) * 0x9e5U) & 0x3fff));
}

/**
 * fab_send() - encapsulate a packet, and send it
 * @out: its peer and header
 * @path: path
 * @skb: packet; it is taken
 *
 * Context: RCU, BH off.
 */
void fab_send(struct fab_out *out, const struct fab_path *path, struct sk_buff *skb)
{
	const struct fab_peer *peer = out->peer;
	struct fab_dev *fab = out->fab;
	bool v4 = ipv6_addr_v4mapped(&peer->addr), xnet = !net_eq(fab->net, dev_net(fab->dev));
	struct sock *sk = v4 ? rcu_dereference(fab->sk4) : rcu_dereference(fab->sk6);
	__be16 sport = fab_sport(peer, out->h.path), dport = htons(fab->options.port);
	struct in6_addr from = path->saddr6, to = peer->addr;

	if (unlikely(!sk || !fab_push_header(out, path, skb))) {
		fab_drop(fab, skb, FAB_CNT_tx_nomem);
		return;
	}
	trace_fab_send(fab, &out->h, skb->len, 0);
	dst_hold(path->dst);
	if (v4)
		closnet_udp_tunnel_xmit((struct rtable *)path->dst, sk, skb, path->saddr4,
					peer->addr.s6_addr32[3], out->tos, out->ttl, out->df, sport,
					dport, xnet, true);
	else
		closnet_udp_tunnel6_xmit(path->dst, sk, skb, skb->dev, &from, &to, out->tos,
					 out->ttl, 0, sport, dport, false);
}

/* Plain ECMP, as for the paper's control packets, among links that are up if there are any */
static const struct fab_path *fab_control_path(const struct fab_paths *paths, u32 hash)
{
	u32 first = hash % paths->count, i;

	for (i = 0; i < paths->count; i++)
		if (fab_path_is_up(&paths->path[(first + i) % paths->count]))
			return &paths->path[(first + i) % paths->count];
	return &paths->path[first];
}

/**
 * fab_control() - send a control packet
 * @peer: peer
 * @h: header, without FAB_F_KEYED
 *
 * Control packets have the highest priority of the fabric, so that the queues of data do not
 * delay them.
 *
 * Context: RCU, BH off.
 */
void fab_control(struct fab_peer *peer, const struct fab_header *h)
{
	struct fab_out out = {
		.fab = peer->fab, .peer = peer, .h = *h, .tos = FAB_TOS_CONTROL,
		.ttl = READ_ONCE(peer->fab->options.ttl), .df = htons(IP_DF),
	};
	const u32 headroom = LL_MAX_HEADER + FAB_OVERHEAD;
	struct sk_buff *skb;

	out.paths = fab_paths_get(peer);
	if (!out.paths)
		return;
	skb = alloc_skb(headroom, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		fab_count(peer->fab, FAB_CNT_tx_nomem);
		return;
	}
	skb_reserve(skb, headroom);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	skb->priority = TC_PRIO_CONTROL;
	fab_send(&out, fab_control_path(out.paths, h->cookie), skb);
}
