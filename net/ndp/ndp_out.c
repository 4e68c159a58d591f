// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: from header to IP
 *
 * Routes are looked up by address alone, and kept with the peer: marks, TOS and devices
 * of sockets do not matter. A host with several routes to a peer takes one of them on
 * each CPU; paths differ from the first switch on, or from the bonding device.
 */

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

/**
 * ndp_out_skb() - begin a packet
 * @nn: namespace
 * @h: its header
 *
 * Any context. The packet has room for headers of lower layers; whoever sends DATA
 * adds the payload as fragments.
 *
 * Return: the packet; NULL: there is no memory, which has been counted.
 */
struct sk_buff *ndp_out_skb(struct ndp_net *nn, const struct ndp_hdr *h)
{
	const u32 room = MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	struct sk_buff *skb = alloc_skb(room + NDP_HLEN, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb) {
		ndp_count(nn, NDP_N_OUT_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, room);
	ndp_hdr_write(h, skb_put(skb, NDP_HLEN));
	return skb;
}

/* @skb->data is at the header of NDP. Return: its type */
static u8 ndp_out_count(struct ndp_net *nn, const struct sk_buff *skb)
{
	static const u8 counters[] = {
		[NDP_DATA] = NDP_N_OUT_DATA, [NDP_CONTROL] = NDP_N_OUT_CONTROL,
		[NDP_PROBE] = NDP_N_OUT_PROBE, [NDP_ERROR] = NDP_N_OUT_ERROR,
		[NDP_COOKIE] = NDP_N_OUT_COOKIE,
	};
	const struct ndp_wire *w = (const struct ndp_wire *)skb->data;
	u8 type = w->ver_type & 0x0f;

	ndp_count(nn, counters[type]);
	if (type == NDP_DATA && w->flags & NDP_DATA_RTX)
		ndp_count(nn, NDP_N_OUT_RTX);
	/* what answers a packet has more flags, even if it brings a pull along */
	if (type == NDP_CONTROL && w->flags == NDP_CTL_PULL)
		ndp_count(nn, NDP_N_OUT_PULL);
	return type;
}

/* @skb->data is at the header of NDP. */
static void ndp_out_trace(const struct ndp_peer *peer, const struct sk_buff *skb)
{
	struct ndp_hdr h;

	if (trace_ndp_sent_enabled() && !ndp_hdr_read(skb->data, skb->len, &h))
		trace_ndp_sent(&peer->addrs, &h);
}

static struct udphdr *ndp_out_udp(struct sk_buff *skb, u16 sport)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	*uh = (struct udphdr) {
		.source = htons(sport), .dest = htons(NDP_UDP_PORT), .len = htons(skb->len),
	};
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
	ndp_out_udp(skb, sport);
	udp_set_csum(false, skb, saddr, daddr, skb->len);
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
	ndp_out_udp(skb, sport);
	udp6_set_csum(false, skb, &a->local, &a->remote, skb->len);
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
 * ndp_out_xmit() - send a packet
 * @peer: to whom
 * @skb: as ndp_out_skb() has made it, with the payload; it is taken over
 * @sport: UDP source port: ndp_path_port()
 * @sk: DATA: the socket, to which @skb is charged; else NULL
 *
 * Any context, but no lock is held that who receives may take: it may be us.
 */
void ndp_out_xmit(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, struct sock *sk)
{
	u8 type = ndp_out_count(peer->nn, skb);
	bool sent;

	ndp_out_trace(peer, skb);
	skb->priority = type == NDP_DATA ? TC_PRIO_BESTEFFORT : TC_PRIO_CONTROL;
	local_bh_disable();
	rcu_read_lock();
	if (ndp_is_ipv4(&peer->addrs))
		sent = ndp_out_ipv4(peer, skb, sport, sk);
	else
		sent = ndp_out_ipv6(peer, skb, sport, sk);
	rcu_read_unlock();
	local_bh_enable();
	if (sent)
		return;
	ndp_count(peer->nn, NDP_N_OUT_NO_ROUTE);
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
	struct sk_buff *skb = ndp_out_skb(peer->nn, h);
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
	struct sk_buff *skb = ndp_out_skb(p->nn, h);

	if (skb)
		ndp_out_xmit(&stranger, skb, ndp_path_port(get_random_u16(), 0), NULL);
}
