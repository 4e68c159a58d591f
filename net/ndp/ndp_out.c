// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: from header to IP
 *
 * Routes are looked up by address alone, and kept with the peer: marks, TOS and devices
 * of sockets do not matter. A host with several routes to a peer takes one of them on
 * each CPU; paths differ from the first switch on, or from the bonding device.
 */

#include <linux/netfilter.h>
#include <linux/pkt_sched.h>
#include <net/dst_cache.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp.h>
#include "ndp.h"
#include "ndp_trace.h"

/* Headers of IP, UDP and NDP */
static u32 ndp_out_overhead(bool ipv4)
{
	return (ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
	       sizeof(struct udphdr) + NDP_HLEN;
}

/* ---- routes ---- */

static struct rtable *ndp_out_lookup4(struct net *net, const struct sock *sk, struct flowi4 *fl4)
{
	fl4->flowi4_proto = IPPROTO_UDP;
	fl4->fl4_dport = htons(NDP_UDP_PORT);
	return ip_route_output_flow(net, fl4, sk);
}

static struct dst_entry *ndp_out_lookup6(struct net *net, const struct sock *sk,
					 struct flowi6 *fl6)
{
	fl6->flowi6_proto = IPPROTO_UDP;
	fl6->fl6_dport = htons(NDP_UDP_PORT);
	return ip6_dst_lookup_flow(net, sk, fl6, NULL);
}

static int ndp_out_route4(const struct sock *sk, __be32 local, __be32 remote,
			  struct ndp_route *route)
{
	struct flowi4 fl4 = {
		.flowi4_oif = READ_ONCE(sk->sk_bound_dev_if), .saddr = local, .daddr = remote,
	};
	struct rtable *rt;
	int err = 0;

	rt = ndp_out_lookup4(sock_net(sk), sk, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST))
		err = -EACCES;
	ipv6_addr_set_v4mapped(fl4.saddr, &route->local);
	route->mtu = dst_mtu(&rt->dst);
	ip_rt_put(rt);
	return err;
}

static int ndp_out_route6(const struct sock *sk, const struct in6_addr *local,
			  const struct in6_addr *remote, struct ndp_route *route)
{
	struct flowi6 fl6 = {
		.flowi6_oif = route->ifindex ?: READ_ONCE(sk->sk_bound_dev_if),
		.saddr = *local, .daddr = *remote,
	};
	struct dst_entry *dst;

	dst = ndp_out_lookup6(sock_net(sk), sk, &fl6);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	route->local = fl6.saddr;
	route->mtu = dst_mtu(dst);
	dst_release(dst);
	return 0;
}

/* Are both, if @local is given, of one family? And is @remote one host? */
static int ndp_out_addrs_valid(const struct in6_addr *local, const struct in6_addr *remote)
{
	const bool ipv4 = ipv6_addr_v4mapped(remote);

	if (!ipv6_addr_any(local) && ipv6_addr_v4mapped(local) != ipv4)
		return -EINVAL;
	if (ipv4 ? !remote->s6_addr32[3] : ipv6_addr_any(remote))
		return -EINVAL;
	return ipv6_addr_is_multicast(remote) ? -EACCES : 0;
}

/**
 * ndp_out_route() - find out how to get to a peer
 * @sk: socket that asks
 * @local: address that packets have to come from; the unspecified one: any
 * @remote: address of the peer; IPv4: mapped
 * @ifindex: link of @remote if it is link-local; 0: that to which @sk is bound
 * @route: result
 *
 * Process context.
 *
 * Return: 0; -EINVAL: these addresses do not go together, or a link-local one is of no
 * link; -EACCES: @remote is a group; -EMSGSIZE: the route's MTU is too small;
 * -ENETUNREACH, -EHOSTUNREACH, ...: there is no route.
 */
int ndp_out_route(struct sock *sk, const struct in6_addr *local, const struct in6_addr *remote,
		  int ifindex, struct ndp_route *route)
{
	int err = ndp_out_addrs_valid(local, remote);

	if (err)
		return err;
	*route = (struct ndp_route) {};
	if (ipv6_addr_v4mapped(remote)) {
		err = ndp_out_route4(sk, local->s6_addr32[3], remote->s6_addr32[3], route);
	} else {
		if (ipv6_addr_type(remote) & IPV6_ADDR_LINKLOCAL) {
			route->ifindex = ifindex ?: READ_ONCE(sk->sk_bound_dev_if);
			if (!route->ifindex)
				return -EINVAL;
		}
		err = ndp_out_route6(sk, local, remote, route);
	}
	if (!err && route->mtu < ndp_out_overhead(ipv6_addr_v4mapped(remote)) + NDP_SND_PAYLOAD_MIN)
		err = -EMSGSIZE;
	return err;
}

/**
 * ndp_out_payload() - how much of a message fits in a packet
 * @addrs: of the peer
 * @mtu: of the route: see ndp_out_route()
 *
 * Return: bytes, NDP_SND_PAYLOAD_MIN..NDP_PAYLOAD_MAX.
 */
u16 ndp_out_payload(const struct ndp_addrs *addrs, u32 mtu)
{
	return (u16)min_t(u32, mtu - ndp_out_overhead(ndp_is_ipv4(addrs)), NDP_PAYLOAD_MAX);
}

/* ---- packets ---- */

/* Of what is sent, all is there. */
static void ndp_out_trace(const struct ndp_peer *peer, const struct ndp_hdr *h)
{
	struct ndp_hdr whole;

	if (!trace_ndp_sent_enabled())
		return;
	whole = *h;
	whole.here = h->payload_len;
	trace_ndp_sent(&peer->addrs, &whole, 0);
}

/* The header of a packet that is sent now */
static void ndp_out_header(const struct ndp_peer *peer, const struct ndp_hdr *h, void *to)
{
	static const u8 counters[] = {
		[NDP_DATA] = NDP_N_OUT_DATA, [NDP_CONTROL] = NDP_N_OUT_CONTROL,
		[NDP_PROBE] = NDP_N_OUT_PROBE, [NDP_ERROR] = NDP_N_OUT_ERROR,
		[NDP_COOKIE] = NDP_N_OUT_COOKIE,
	};
	const struct ndp_net *nn = peer->nn;

	ndp_count(nn, counters[h->type]);
	if (h->type == NDP_DATA && h->flags & NDP_DATA_RTX)
		ndp_count(nn, NDP_N_OUT_RTX);
	/* what answers a packet has more flags, even if it brings a pull along */
	if (h->type == NDP_CONTROL && h->flags == NDP_CTL_PULL)
		ndp_count(nn, NDP_N_OUT_PULL);
	ndp_out_trace(peer, h);
	ndp_hdr_write(h, to);
}

/**
 * ndp_out_skb() - begin a packet
 * @peer: to whom
 * @h: its header
 *
 * Any context. The packet has room for headers of lower layers; whoever sends DATA
 * adds the payload as fragments.
 *
 * Return: the packet; NULL: there is no memory, which has been counted.
 */
struct sk_buff *ndp_out_skb(const struct ndp_peer *peer, const struct ndp_hdr *h)
{
	const u32 room = MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(room + NDP_HLEN, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb) {
		ndp_count(peer->nn, NDP_N_OUT_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, room);
	skb->priority = h->type == NDP_DATA ? TC_PRIO_BESTEFFORT : TC_PRIO_CONTROL;
	ndp_out_header(peer, h, skb_put(skb, NDP_HLEN));
	return skb;
}

/**
 * ndp_out_more() - begin one more packet of a batch
 * @peer: to whom
 * @skb: the batch, with all of the payload of its packets
 * @h: header of the next one, DATA
 *
 * Any context but hard interrupts. The header is a fragment; of the payload, see
 * ndp_out_skb().
 *
 * Return: false if there is no memory, which has been counted.
 */
bool ndp_out_more(const struct ndp_peer *peer, struct sk_buff *skb, const struct ndp_hdr *h)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	void *head = netdev_alloc_frag(NDP_HLEN);
	struct page *page;

	if (!head) {
		ndp_count(peer->nn, NDP_N_OUT_NO_MEMORY);
		return false;
	}
	page = virt_to_head_page(head);
	ndp_out_header(peer, h, head);
	if (!info->gso_size) {
		info->gso_size = (u16)skb->len;
		info->gso_type = SKB_GSO_UDP_L4;
		info->gso_segs = 1;
	}
	info->gso_segs++;
	skb_add_rx_frag(skb, info->nr_frags, page, (int)(head - page_address(page)), NDP_HLEN,
			SKB_DATA_ALIGN(NDP_HLEN));
	return true;
}

/* The checksum that lower layers complete: of each packet of a batch */
static struct udphdr *ndp_out_udp(struct sk_buff *skb, u16 sport)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	*uh = (struct udphdr) {
		.source = htons(sport), .dest = htons(NDP_UDP_PORT), .len = htons(skb->len),
	};
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = (u16)(skb_transport_header(skb) - skb->head);
	skb->csum_offset = offsetof(struct udphdr, check);
	return uh;
}

/* Return: false if there is no route */
static bool ndp_out_ipv4(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, struct sock *sk)
{
	struct flowi4 fl4 = {
		.saddr = peer->addrs.local.s6_addr32[3],
		.daddr = peer->addrs.remote.s6_addr32[3],
	};
	const __be32 saddr = fl4.saddr, daddr = fl4.daddr;
	struct net *net = peer->nn->net;
	struct udphdr *uh;
	struct iphdr *iph;
	struct rtable *rt;

	rt = dst_cache_get_ip4(&peer->dst, &fl4.saddr);
	if (!rt) {
		fl4.fl4_sport = htons(sport);
		rt = ndp_out_lookup4(net, NULL, &fl4);
		if (IS_ERR(rt))
			return false;
		dst_cache_set_ip4(&peer->dst, &rt->dst, saddr);
	}
	uh = ndp_out_udp(skb, sport);
	uh->check = ~udp_v4_check((int)skb->len, saddr, daddr, 0);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	/* ip_local_out() sets tot_len and check; without fragments, the id does not matter */
	*iph = (struct iphdr) {
		.version = 4, .ihl = sizeof(*iph) / 4, .frag_off = htons(IP_DF),
		.ttl = (u8)ip4_dst_hoplimit(&rt->dst), .protocol = IPPROTO_UDP,
		.saddr = saddr, .daddr = daddr,
	};
	skb_dst_set(skb, &rt->dst);
	ip_local_out(net, sk, skb);
	return true;
}

/* Return: false if there is no route */
static bool ndp_out_ipv6(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, struct sock *sk)
{
	const struct ndp_addrs *a = &peer->addrs;
	struct net *net = peer->nn->net;
	struct in6_addr saddr;
	struct dst_entry *dst;
	struct ipv6hdr *iph;
	struct udphdr *uh;

	dst = dst_cache_get_ip6(&peer->dst, &saddr);
	if (!dst) {
		struct flowi6 fl6 = {
			.flowi6_oif = a->ifindex, .saddr = a->local, .daddr = a->remote,
			.fl6_sport = htons(sport),
		};

		dst = ndp_out_lookup6(net, NULL, &fl6);
		if (IS_ERR(dst))
			return false;
		dst_cache_set_ip6(&peer->dst, dst, &a->local);
	}
	uh = ndp_out_udp(skb, sport);
	uh->check = ~udp_v6_check((int)skb->len, &a->local, &a->remote, 0);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	/* a path is one for switches, too, that look at the label and not at ports */
	ip6_flow_hdr(iph, 0, IPV6_FLOWLABEL_STATELESS_FLAG | htonl(sport));
	/* ip6_local_out() sets payload_len */
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = (u8)ip6_dst_hoplimit(dst);
	iph->saddr = a->local;
	iph->daddr = a->remote;
	skb_dst_set(skb, dst);
	ip6_local_out(net, sk, skb);
	return true;
}

/**
 * ndp_out_xmit() - send a packet, or a batch
 * @peer: to whom
 * @skb: of ndp_out_skb() and ndp_out_more(), with the payload; it is taken over
 * @sport: UDP source port: ndp_path_port()
 * @sk: DATA: the socket, to which @skb is charged; else NULL
 *
 * Any context, but no lock is held that who receives may take: it may be us.
 */
void ndp_out_xmit(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, struct sock *sk)
{
	u64 __percpu *counters = peer->nn->counters.values;
	const u16 packets = skb_shinfo(skb)->gso_segs;
	const bool ipv4 = ndp_is_ipv4(&peer->addrs);
	bool sent;

	if (packets) {
		closnet_count(counters, NDP_N_OUT_BATCHES);
		closnet_count_add(counters, NDP_N_OUT_BATCHED, packets);
	}
	local_bh_disable();
	rcu_read_lock();
	/* by this, ndp_guard.c knows it as ours */
	if (!sk)
		sk = ndp_udp_sk(peer->nn, ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	if (ipv4)
		sent = ndp_out_ipv4(peer, skb, sport, sk);
	else
		sent = ndp_out_ipv6(peer, skb, sport, sk);
	rcu_read_unlock();
	local_bh_enable();
	if (sent)
		return;
	closnet_count_add(counters, NDP_N_OUT_NO_ROUTE, packets ?: 1);
	kfree_skb(skb);
}

/**
 * ndp_out_answer() - send a packet without payload, by the next path
 * @peer: to whom
 * @h: its header
 *
 * As ndp_out_xmit().
 */
void ndp_out_answer(struct ndp_peer *peer, const struct ndp_hdr *h)
{
	struct sk_buff *skb = ndp_out_skb(peer, h);
	u32 path;

	if (!skb)
		return;
	path = (u32)atomic_inc_return(&peer->answers) % peer->paths.count;
	ndp_out_xmit(peer, skb, ndp_path_port(peer->port_base, path), NULL);
}

/**
 * ndp_out_reply() - answer a packet of no flow
 * @p: packet
 * @h: header of the answer
 *
 * Nothing is kept of those that we have no flow of, not even a route. As ndp_out_xmit().
 */
void ndp_out_reply(const struct ndp_packet *p, const struct ndp_hdr *h)
{
	struct ndp_peer stranger = { .addrs = p->addrs, .nn = p->nn };
	struct sk_buff *skb = ndp_out_skb(&stranger, h);

	if (skb)
		ndp_out_xmit(&stranger, skb, ndp_path_port(get_random_u16(), 0), NULL);
}
