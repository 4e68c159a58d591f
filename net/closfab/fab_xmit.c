// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending: number, and choose a path
 *
 * The device takes no GSO packets, since each packet needs a header of its own; the stack
 * segments them. Locks are held while a packet gets its number or its place in an epoch, not
 * while it is sent: two CPUs that send packets of one bucket at the same time have no order
 * between them anyway.
 *
 * The outer header has the DSCP and ECN of the packet (RFC 6040, RFC 2983's uniform model),
 * unless the route sets them: priority and PFC work in the fabric as for the packet itself. DF is
 * set for IPv6 packets and for IPv4 packets that have it.
 */
#include <linux/icmpv6.h>
#include <linux/random.h>
#include <net/dst_metadata.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include "../../sch/act_lb/lb_hash.h"
#include "fab.h"

/* ---- modes ---- */

static u32 fab_flow(const struct fab_dev *fab, const struct sk_buff *skb)
{
	u64 hash = skb->protocol == htons(ETH_P_IP) ? lb_hash4(&fab->hash_key, skb) :
						      lb_hash6(&fab->hash_key, skb);

	return (u64)(u32)hash * READ_ONCE(fab->options.flows) >> 32;
}

/* Choose a path for a packet or cell of this length. Return: NULL if all are down */
static const struct fab_path *fab_spread(struct fab_out *out, u32 bytes)
{
	u32 entropy = READ_ONCE(out->fab->options.entropy);
	u64 now_ns = ktime_get_ns();
	int i = fab_path_select(out->peer, out->paths, bytes + FAB_OVERHEAD + ETH_HLEN, now_ns);

	if (i < 0)
		return NULL;
	out->h.path = fab_path_id(&out->paths->path[i],
				  entropy > 1 ? get_random_u32_below(entropy) : 0);
	out->h.tx_us = (u32)div_u64(now_ns, 1000);
	return &out->paths->path[i];
}

static void fab_spread_packet(struct fab_out *out, struct sk_buff *skb)
{
	const struct fab_path *path = fab_spread(out, skb->len);

	if (path)
		fab_send(out, path, skb);
	else
		fab_drop(out->fab, skb, FAB_CNT_tx_no_path);
}

static u32 fab_take_numbers(struct fab_bucket *b, u32 count)
{
	u32 seq;

	spin_lock(&b->lock);
	seq = b->seq;
	b->seq += count;
	spin_unlock(&b->lock);
	return seq;
}

static void fab_send_ordered(struct fab_out *out, struct fab_bucket *b, struct sk_buff *skb)
{
	out->h.op = FAB_ORDERED;
	out->h.seq = fab_take_numbers(b, 1);
	fab_count(out->fab, FAB_CNT_tx_ordered);
	fab_spread_packet(out, skb);
}

/* Copy a part of a packet. Return: NULL if there is no memory */
static struct sk_buff *fab_cell_copy(struct sk_buff *skb, u32 offset, u32 len)
{
	u32 headroom = LL_MAX_HEADER + FAB_OVERHEAD;
	struct sk_buff *cell = alloc_skb(headroom + len, GFP_ATOMIC | __GFP_NOWARN);

	if (!cell)
		return NULL;
	skb_reserve(cell, headroom);
	skb_copy_bits(skb, offset, skb_put(cell, len), len);
	cell->dev = skb->dev;
	cell->protocol = skb->protocol;
	cell->priority = skb->priority;
	cell->mark = skb->mark;
	skb_reset_network_header(cell);
	return cell;
}

/* Cells: at most the longest packet over CLOSFAB_CELL_SIZE_MIN */
static void fab_send_cells(struct fab_out *out, struct fab_bucket *b, struct sk_buff *skb)
{
	u32 size = min_t(u32, READ_ONCE(out->fab->options.cell_size),
			 max_t(u32, out->mtu, CLOSFAB_CELL_SIZE_MIN));
	u32 at, len;
	struct sk_buff *cell;

	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) {
		fab_drop(out->fab, skb, FAB_CNT_tx_nomem);
		return;
	}
	out->h.op = FAB_CELL;
	out->h.seq = fab_take_numbers(b, DIV_ROUND_UP(skb->len, size));
	for (at = 0; at < skb->len; at += len, out->h.seq++) {
		len = fab_cell_cut(skb->len, at, size, &out->h.flags);
		cell = fab_cell_copy(skb, at, len);
		if (!cell) {
			fab_drop(out->fab, skb, FAB_CNT_tx_nomem);
			return;
		}
		fab_count(out->fab, FAB_CNT_tx_cells);
		fab_spread_packet(out, cell);
	}
	consume_skb(skb);
}

/* Sample two paths. Return: one that is not busy, or FAB_NO_PATH; @any: the last one */
static int fab_sample(const struct fab_out *out, u16 *any, u64 now_ns)
{
	u32 entropy = READ_ONCE(out->fab->options.entropy), i;
	int drawn[2];

	if (!fab_path_draw(out->fab, out->paths, drawn, ARRAY_SIZE(drawn)))
		return FAB_NO_PATH;
	for (i = 0; i < ARRAY_SIZE(drawn); i++) {
		*any = fab_path_id(&out->paths->path[drawn[i]],
				   entropy > 1 ? get_random_u32_below(entropy) : 0);
		if (!fab_busy_test(&out->peer->busy, *any, now_ns))
			return *any;
	}
	return FAB_NO_PATH;
}

static void fab_count_step(const struct fab_out *out, enum fab_step step, bool moved, bool refused)
{
	if (step == FAB_EPOCH || step == FAB_FRESH)
		fab_count(out->fab, FAB_CNT_tx_epochs);
	if (step == FAB_TAIL)
		fab_count(out->fab, FAB_CNT_tx_tails);
	if (step == FAB_TAIL && refused)
		fab_count(out->fab, FAB_CNT_tx_refused);
	if (moved)
		fab_count(out->fab, FAB_CNT_tx_moves);
}

/* Let ConWeave decide on a packet. */
static void fab_weave(struct fab_out *out, struct fab_bucket *b)
{
	const struct closfab_options *o = &out->fab->options;
	struct fab_source_params p = {
		.reply_ns = READ_ONCE(o->theta_reply_ns),
		.busy_ns = READ_ONCE(o->theta_path_busy_ns),
		.inactive_ns = READ_ONCE(o->theta_inactive_ns),
	};
	u64 now_ns = ktime_get_ns();
	u16 any = fab_path_id(&out->paths->path[0], 0), old;
	enum fab_step step;
	int good = FAB_NO_PATH;
	bool refused;

	spin_lock(&b->lock);
	old = b->source.path;
	step = fab_source_begin(&b->source, &p, fab_path_find(out->paths, old) >= 0,
				READ_ONCE(out->peer->rtt.ns), now_ns);
	refused = READ_ONCE(out->peer->refused_ns) > now_ns;
	if (step == FAB_FRESH || (step == FAB_TAIL && !refused))
		good = fab_sample(out, &any, now_ns);
	fab_source_finish(&b->source, step, good, any, now_ns, &out->h);
	fab_count_step(out, step, step != FAB_STAY && b->source.path != old, refused);
	spin_unlock(&b->lock);
}

static void fab_send_weave(struct fab_out *out, struct fab_bucket *b, struct sk_buff *skb)
{
	int i;

	out->h.op = FAB_CONWEAVE;
	fab_weave(out, b);
	fab_count(out->fab, FAB_CNT_tx_conweave);
	i = fab_path_find(out->paths, out->h.path);
	if (i >= 0)
		fab_send(out, &out->paths->path[i], skb);
	else
		fab_drop(out->fab, skb, FAB_CNT_tx_no_path);
}

/* ---- the device ---- */

static void fab_send_data(struct fab_out *out, struct sk_buff *skb)
{
	u32 bucket = fab_flow(out->fab, skb);
	struct fab_bucket *b = fab_bucket_get(out->peer, bucket);

	out->h.proto = ntohs(skb->protocol);
	out->h.cookie = fab_cookie(out->peer->instance, bucket);
	if (unlikely(!b)) {
		out->h.op = FAB_DATA;
		fab_count(out->fab, FAB_CNT_tx_unordered);
		fab_spread_packet(out, skb);
		return;
	}
	switch (READ_ONCE(out->fab->options.mode)) {
	case CLOSFAB_MODE_REORDER:
		fab_send_ordered(out, b, skb);
		break;
	case CLOSFAB_MODE_CELL:
		fab_send_cells(out, b, skb);
		break;
	default:
		fab_send_weave(out, b, skb);
		break;
	}
}

/*
 * Address of the peer that the route or option "remote" names. Return: false if there is no
 * address
 */
static bool fab_destination(const struct fab_dev *fab, const struct ip_tunnel_info *info,
			    struct in6_addr *addr)
{
	if (!info || !(info->mode & IP_TUNNEL_INFO_TX)) {
		*addr = fab->remote;
		return !ipv6_addr_any(addr);
	}
	if (ip_tunnel_info_af(info) == AF_INET6) {
		*addr = info->key.u.ipv6.dst;
		return !ipv6_addr_any(addr) && !ipv6_addr_is_multicast(addr) &&
		       !ipv6_addr_v4mapped(addr);
	}
	ipv6_addr_set_v4mapped(info->key.u.ipv4.dst, addr);
	return info->key.u.ipv4.dst && !ipv4_is_multicast(info->key.u.ipv4.dst);
}

/* Smallest path MTU, less the outer headers */
static u32 fab_path_mtu(const struct fab_out *out)
{
	u32 len = FAB_HLEN + sizeof(struct udphdr), mtu = U32_MAX, i;

	len += out->fab->keyed ? FAB_MAC_LEN : 0;
	len += ipv6_addr_v4mapped(&out->peer->addr) ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	for (i = 0; i < out->paths->count; i++)
		mtu = min(mtu, dst_mtu(out->paths->path[i].dst));
	return mtu > len ? mtu - len : 0;
}

/*
 * A packet that is too long and must not be fragmented is answered by ICMP, as routers do. IPv6
 * packets of IPV6_MIN_MTU must pass: those that do not fit are fragmented outside (RFC 2473,
 * 7.1). Cells fit.
 */
static bool fab_fits(struct fab_out *out, struct sk_buff *skb)
{
	if (skb->len <= out->mtu || READ_ONCE(out->fab->options.mode) == CLOSFAB_MODE_CELL)
		return true;
	if (skb->protocol == htons(ETH_P_IPV6) && skb->len <= IPV6_MIN_MTU)
		out->df = 0;
	if (!out->df)
		return true;
	skb_dst_update_pmtu_no_confirm(skb, out->mtu);
	if (skb->protocol == htons(ETH_P_IPV6))
		icmpv6_ndo_send(skb, ICMPV6_PKT_TOOBIG, 0, max_t(u32, out->mtu, IPV6_MIN_MTU));
	else
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(out->mtu));
	return false;
}

/* @info: metadata of the route, or NULL */
static void fab_set_outer(struct fab_out *out, const struct ip_tunnel_info *info,
			  const struct sk_buff *skb)
{
	bool v4 = skb->protocol == htons(ETH_P_IP);
	u8 inner = v4 ? ip_hdr(skb)->tos : ipv6_get_dsfield(ipv6_hdr(skb));

	out->tos = INET_ECN_encapsulate(info && info->key.tos ? info->key.tos : inner, inner);
	out->ttl = info && info->key.ttl ? info->key.ttl : READ_ONCE(out->fab->options.ttl);
	out->df = v4 ? ip_hdr(skb)->frag_off & htons(IP_DF) : htons(IP_DF);
}

static void fab_xmit_rcu(struct fab_dev *fab, struct sk_buff *skb)
{
	const struct ip_tunnel_info *info = skb_tunnel_info(skb);
	struct fab_out out = { .fab = fab };
	struct in6_addr addr;

	if (!fab_destination(fab, info, &addr) || !pskb_inet_may_pull(skb) ||
	    (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))) {
		fab_drop(fab, skb, FAB_CNT_tx_no_peer);
		return;
	}
	out.peer = fab_peer_get(fab, &addr, true);
	if (!out.peer) {
		fab_drop(fab, skb, FAB_CNT_tx_nomem);
		return;
	}
	out.paths = fab_paths_get(out.peer);
	if (!out.paths) {
		dst_link_failure(skb);
		fab_drop(fab, skb, FAB_CNT_tx_no_path);
		return;
	}
	fab_set_outer(&out, info, skb);
	out.mtu = fab_path_mtu(&out);
	if (fab_fits(&out, skb))
		fab_send_data(&out, skb);
	else
		fab_drop(fab, skb, FAB_CNT_tx_too_big);
}

/**
 * fab_xmit() - send a packet
 * @skb: IP packet
 * @dev: the device
 *
 * Return: NETDEV_TX_OK, always.
 */
netdev_tx_t fab_xmit(struct sk_buff *skb, struct net_device *dev)
{
	rcu_read_lock();
	fab_xmit_rcu(netdev_priv(dev), skb);
	rcu_read_unlock();
	return NETDEV_TX_OK;
}
