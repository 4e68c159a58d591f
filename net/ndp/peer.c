// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: pairs of addresses with their routes and paths, and packets to IP
 *
 * A peer exists as long as it is counted. The last ndp_peer_put() takes it out of the table; until
 * then, other callers may find it without references, and remove it themselves.
 *
 * Routes are looked up by address, VRF and the socket's device, and cached per peer and CPU.
 */
#include <linux/netfilter.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/dst_cache.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/udp.h>
#include "ndp.h"
#include "trace.h"

static const struct rhashtable_params ndp_peer_params = {
	.head_offset = offsetof(struct ndp_peer, node),
	.key_offset = offsetof(struct ndp_peer, key),
	.key_len = sizeof(struct ndp_peer_key),
	.automatic_shrinking = true,
};

static_assert(sizeof(struct ndp_peer_key) == 2 * sizeof(struct in6_addr) + 2 * sizeof(int),
	      "no holes in a key");

/* ---- peers ---- */

static void ndp_peer_free(struct ndp_peer *peer)
{
	dst_cache_destroy(&peer->dst);
	kfree(peer->paths.order);
	kfree(peer->paths.path);
	kfree(peer);
}

static void ndp_peer_free_rcu(struct rcu_head *rcu)
{
	ndp_peer_free(container_of(rcu, struct ndp_peer, rcu));
}

static struct ndp_peer *ndp_peer_new(struct ndp_net *nn, const struct ndp_peer_key *key)
{
	u32 count = (u32)READ_ONCE(nn->conf.paths);
	struct ndp_peer *peer;
	struct ndp_path *path;
	u8 *order;

	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	path = kmalloc_array(count, sizeof(*path), GFP_ATOMIC | __GFP_NOWARN);
	order = kmalloc(count, GFP_ATOMIC | __GFP_NOWARN);
	if (!path || !order) {
		kfree(order);
		kfree(path);
		kfree(peer);
		return NULL;
	}
	/* optional: the per-CPU allocator refuses the later ones of some hundred peers in a row */
	dst_cache_init(&peer->dst, GFP_ATOMIC | __GFP_NOWARN);
	peer->key = *key;
	peer->nn = nn;
	refcount_set(&peer->refs, 1);
	peer->port_base = get_random_u16();
	spin_lock_init(&peer->lock);
	ndp_paths_init(&peer->paths, path, order, count);
	return peer;
}

/* Insert a peer. Return: the peer in the table, counted; NULL: no memory */
static struct ndp_peer *ndp_peer_insert(struct ndp_net *nn, struct ndp_peer *peer)
{
	struct ndp_peer *old;

	for (;;) {
		old = rhashtable_lookup_get_insert_fast(&nn->peers, &peer->node,
							ndp_peer_params);
		if (!old)
			return peer;
		if (IS_ERR(old))
			return NULL;
		if (refcount_inc_not_zero(&old->refs))
			return old;
		rhashtable_remove_fast(&nn->peers, &old->node, ndp_peer_params);
	}
}

/**
 * ndp_peer_find() - find a peer
 * @nn: namespace
 * @addrs: addresses
 * @oif: device of the socket; 0: any
 *
 * Under RCU.
 *
 * Return: the peer, not counted, or NULL.
 */
struct ndp_peer *ndp_peer_find(struct ndp_net *nn, const struct ndp_addrs *addrs, int oif)
{
	const struct ndp_peer_key key = { .addrs = *addrs, .oif = oif };

	return rhashtable_lookup(&nn->peers, &key, ndp_peer_params);
}

/**
 * ndp_peer_get() - find or create a peer
 * @nn: namespace
 * @addrs: addresses
 * @oif: device of the socket; 0: any
 *
 * Any context.
 *
 * Return: the peer, counted; NULL: no memory.
 */
struct ndp_peer *ndp_peer_get(struct ndp_net *nn, const struct ndp_addrs *addrs, int oif)
{
	const struct ndp_peer_key key = { .addrs = *addrs, .oif = oif };
	struct ndp_peer *peer, *fresh;

	rcu_read_lock();
	peer = ndp_peer_find(nn, addrs, oif);
	if (peer && refcount_inc_not_zero(&peer->refs))
		goto out;
	fresh = ndp_peer_new(nn, &key);
	peer = fresh ? ndp_peer_insert(nn, fresh) : NULL;
	if (fresh && peer != fresh)
		ndp_peer_free(fresh);
out:
	rcu_read_unlock();
	return peer;
}

/**
 * ndp_peer_memory() - get the memory of a peer, which each of its flows is charged
 * @peer: peer
 *
 * Return: bytes.
 */
u32 ndp_peer_memory(const struct ndp_peer *peer)
{
	return (u32)(sizeof(*peer) + peer->paths.count * (sizeof(*peer->paths.path) + 1));
}

/**
 * ndp_peer_put() - drop a reference
 * @peer: peer
 *
 * Any context.
 */
void ndp_peer_put(struct ndp_peer *peer)
{
	if (!refcount_dec_and_test(&peer->refs))
		return;
	/* fails if ndp_peer_insert() has removed it */
	rhashtable_remove_fast(&peer->nn->peers, &peer->node, ndp_peer_params);
	call_rcu(&peer->rcu, ndp_peer_free_rcu);
}

/**
 * ndp_peers_init() - initialize the table of a namespace
 * @nn: namespace
 *
 * Return: 0 or a negative error.
 */
int ndp_peers_init(struct ndp_net *nn)
{
	return rhashtable_init(&nn->peers, &ndp_peer_params);
}

/**
 * ndp_peers_exit() - free the table, which is empty
 * @nn: namespace
 */
void ndp_peers_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->peers.nelems));
	rhashtable_destroy(&nn->peers);
}

/* ---- routes ---- */

/**
 * ndp_net_hlen() - get the length of headers with their tags
 * @nn: namespace with sockets
 *
 * Return: bytes, which do not change.
 */
u32 ndp_net_hlen(const struct ndp_net *nn)
{
	return nn->keyed ? NDP_HLEN_MAX : NDP_HLEN;
}

/* Bytes of the headers of IP, UDP and NDP */
static u32 ndp_overhead(const struct ndp_net *nn, bool ipv4)
{
	return (ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
	       sizeof(struct udphdr) + ndp_net_hlen(nn);
}

static struct rtable *ndp_lookup4(struct net *net, const struct sock *sk, struct flowi4 *fl4)
{
	fl4->flowi4_proto = IPPROTO_UDP;
	fl4->fl4_dport = htons(NDP_UDP_PORT);
	return ip_route_output_flow(net, fl4, sk);
}

static struct dst_entry *ndp_lookup6(struct net *net, const struct sock *sk, struct flowi6 *fl6)
{
	fl6->flowi6_proto = IPPROTO_UDP;
	fl6->fl6_dport = htons(NDP_UDP_PORT);
	return ip6_dst_lookup_flow(net, sk, fl6, NULL);
}

static int ndp_route4(const struct sock *sk, __be32 local, __be32 remote, struct ndp_route *route)
{
	struct flowi4 fl4 = {
		.flowi4_oif = READ_ONCE(sk->sk_bound_dev_if), .saddr = local, .daddr = remote,
	};
	struct rtable *rt;
	int err = 0;

	rt = ndp_lookup4(sock_net(sk), sk, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST))
		err = -EACCES;
	ipv6_addr_set_v4mapped(fl4.saddr, &route->local);
	route->mtu = dst_mtu(&rt->dst);
	route->dev = rt->dst.dev->ifindex;
	ip_rt_put(rt);
	return err;
}

/* Has this host an address, even if it is not yet known to be unique? */
static bool ndp_has_addr6(struct net *net, const struct in6_addr *addr)
{
	return ipv6_chk_addr_and_flags(net, addr, NULL, true, 0, 0);
}

/*
 * Unlike IPv4's, the lookup takes a source address of another host, to which programs may be bound
 * (IPV6_FREEBIND).
 */
static int ndp_route6(const struct sock *sk, const struct in6_addr *local,
		      const struct in6_addr *remote, struct ndp_route *route)
{
	struct flowi6 fl6 = {
		.flowi6_oif = route->ifindex ?: READ_ONCE(sk->sk_bound_dev_if),
		.saddr = *local, .daddr = *remote,
	};
	struct dst_entry *dst;

	if (!ipv6_addr_any(local) && !ndp_has_addr6(sock_net(sk), local))
		return -EADDRNOTAVAIL;
	dst = ndp_lookup6(sock_net(sk), sk, &fl6);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	route->local = fl6.saddr;
	route->mtu = dst_mtu(dst);
	route->dev = dst->dev->ifindex;
	dst_release(dst);
	return 0;
}

/* Are both addresses, if @local is given, of one family, and is @remote one host? */
static int ndp_check_addrs(const struct in6_addr *local, const struct in6_addr *remote)
{
	const bool ipv4 = ipv6_addr_v4mapped(remote);

	if (!ipv6_addr_any(local) && ipv6_addr_v4mapped(local) != ipv4)
		return -EINVAL;
	if (ipv4 ? !remote->s6_addr32[3] : ipv6_addr_any(remote))
		return -EINVAL;
	return ipv6_addr_is_multicast(remote) ? -EACCES : 0;
}

/**
 * ndp_route() - find the route to a peer
 * @sk: socket
 * @local: source address; unspecified: any
 * @remote: address of the peer
 * @ifindex: device of a link-local @remote; 0: the socket's
 * @route: result
 *
 * Process context.
 *
 * Return: 0; -EINVAL: the addresses do not match, or a link-local one lacks a device; -EACCES:
 * @remote is a group; -EADDRNOTAVAIL: @local is not this host's; -EMSGSIZE: the MTU is too small;
 * -ENETUNREACH, -EHOSTUNREACH, ...: no route.
 */
int ndp_route(struct sock *sk, const struct in6_addr *local, const struct in6_addr *remote,
	      int ifindex, struct ndp_route *route)
{
	int err = ndp_check_addrs(local, remote), dev = READ_ONCE(sk->sk_bound_dev_if);

	if (err)
		return err;
	*route = (struct ndp_route) {};
	if (dev)
		route->ifindex = l3mdev_master_ifindex_by_index(sock_net(sk), dev);
	if (ipv6_addr_v4mapped(remote)) {
		err = ndp_route4(sk, local->s6_addr32[3], remote->s6_addr32[3], route);
	} else {
		if (ipv6_addr_type(remote) & IPV6_ADDR_LINKLOCAL) {
			route->ifindex = ifindex ?: dev;
			if (!route->ifindex)
				return -EINVAL;
		}
		err = ndp_route6(sk, local, remote, route);
	}
	if (!err && route->mtu < ndp_overhead(ndp_net(sock_net(sk)), ipv6_addr_v4mapped(remote)) +
				   NDP_SND_PAYLOAD_MIN)
		err = -EMSGSIZE;
	return err;
}

/**
 * ndp_peer_route() - get the route to a peer if its packets have one
 * @peer: peer
 * @route: result
 *
 * It is what ndp_route() finds for the source address of @peer. Under RCU, process context.
 *
 * Return: false if ndp_route() has to look for it.
 */
bool ndp_peer_route(struct ndp_peer *peer, struct ndp_route *route)
{
	const bool ipv4 = ndp_is_ipv4(&peer->key.addrs);
	struct dst_entry *dst;
	bool group = false;

	local_bh_disable();
	dst = dst_cache_get(&peer->dst);
	local_bh_enable();
	if (!dst)
		return false;
	*route = (struct ndp_route) {
		.local = peer->key.addrs.local, .ifindex = peer->key.addrs.ifindex,
		.mtu = dst_mtu(dst), .dev = dst->dev->ifindex,
	};
	if (ipv4)
		group = container_of(dst, struct rtable, dst)->rt_flags &
			(RTCF_BROADCAST | RTCF_MULTICAST);
	dst_release(dst);
	return !group && route->mtu >= ndp_overhead(peer->nn, ipv4) + NDP_SND_PAYLOAD_MIN;
}

/**
 * ndp_route_payload() - get the payload of a packet
 * @nn: namespace
 * @addrs: addresses
 * @mtu: the route's
 *
 * Return: bytes, NDP_SND_PAYLOAD_MIN..NDP_PAYLOAD_MAX.
 */
u16 ndp_route_payload(const struct ndp_net *nn, const struct ndp_addrs *addrs, u32 mtu)
{
	u32 most = NDP_PAYLOAD_MAX - (ndp_net_hlen(nn) - NDP_HLEN);

	return (u16)min_t(u32, mtu - ndp_overhead(nn, ndp_is_ipv4(addrs)), most);
}

/* ---- packets ---- */

static void ndp_out_trace(const struct ndp_peer *peer, const struct ndp_hdr *h)
{
	struct ndp_hdr whole;

	if (!trace_ndp_sent_enabled())
		return;
	whole = *h;
	whole.here = h->payload_len;
	trace_ndp_sent(&peer->key.addrs, &whole, 0);
}

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
	if (ndp_carries_ack(h))
		ndp_count(nn, NDP_N_OUT_DATA_ACK);
	/* pulls that are no part of the answer to a packet */
	if (h->type == NDP_CONTROL && h->flags & NDP_CTL_PULL && !(h->flags & NDP_CTL_ABOUT))
		ndp_count(nn, NDP_N_OUT_PULL);
	ndp_out_trace(peer, h);
	ndp_hdr_write(h, to);
	if (nn->keyed)
		ndp_auth_sign(peer, to);
}

/**
 * ndp_out_skb() - begin a packet
 * @peer: destination
 * @h: header
 *
 * Any context. The payload of DATA is to be added as fragments.
 *
 * Return: the packet, with room for lower headers; NULL: no memory, which was counted.
 */
struct sk_buff *ndp_out_skb(const struct ndp_peer *peer, const struct ndp_hdr *h)
{
	const u32 room = MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	const u32 len = ndp_net_hlen(peer->nn);
	struct sk_buff *skb = alloc_skb(room + len, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb) {
		ndp_count(peer->nn, NDP_N_OUT_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, room);
	skb->priority = h->type == NDP_DATA ? TC_PRIO_BESTEFFORT : TC_PRIO_CONTROL;
	ndp_out_header(peer, h, skb_put(skb, len));
	return skb;
}

/* Add a header in memory of its own to a batch. Return: its memory; NULL: there is none */
static u8 *ndp_out_head(struct sk_buff *skb, u32 len)
{
	u8 *head = netdev_alloc_frag(len);
	struct page *page;

	if (!head)
		return NULL;
	page = virt_to_head_page(head);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			(int)(head - (u8 *)page_address(page)), (int)len, SKB_DATA_ALIGN(len));
	return head;
}

/**
 * ndp_out_more() - begin one more packet of a batch
 * @peer: destination
 * @skb: batch with the payload of its packets
 * @h: header of the next packet, DATA
 * @head: memory of the header, which the caller adds to @skb with the payload; or NULL
 *
 * Any context but hard interrupts.
 *
 * Return: false if there is no memory, which was counted.
 */
bool ndp_out_more(const struct ndp_peer *peer, struct sk_buff *skb, const struct ndp_hdr *h,
		  u8 *head)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	u32 segment = skb->len;

	if (!head)
		head = ndp_out_head(skb, ndp_net_hlen(peer->nn));
	if (!head) {
		ndp_count(peer->nn, NDP_N_OUT_NO_MEMORY);
		return false;
	}
	ndp_out_header(peer, h, head);
	if (!info->gso_size) {
		info->gso_size = (u16)segment;
		info->gso_type = SKB_GSO_UDP_L4;
		info->gso_segs = 1;
	}
	info->gso_segs++;
	return true;
}

/* Add a UDP header; lower layers complete the checksum, of each packet of a batch. */
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

/*
 * Must a packet, which begins with its IP header, leave as IP fragments? Its message began when the
 * MTU was larger. Otherwise it has DF.
 */
static bool ndp_out_fragments(struct sk_buff *skb, const struct dst_entry *dst)
{
	const u32 mtu = dst_mtu(dst);

	skb->ignore_df = skb_is_gso(skb) ? !skb_gso_validate_network_len(skb, mtu) :
					   skb->len > mtu;
	return skb->ignore_df;
}

/* Return: false if there is no route */
static bool ndp_out_ipv4(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, u8 dsfield,
			 struct sock *sk)
{
	const struct ndp_addrs *a = &peer->key.addrs;
	struct flowi4 fl4 = {
		.flowi4_oif = peer->key.oif ?: a->ifindex,
		.saddr = a->local.s6_addr32[3], .daddr = a->remote.s6_addr32[3],
	};
	const __be32 saddr = fl4.saddr, daddr = fl4.daddr;
	struct net *net = peer->nn->net;
	struct udphdr *uh;
	struct iphdr *iph;
	struct rtable *rt;

	rt = dst_cache_get_ip4(&peer->dst, &fl4.saddr);
	if (!rt) {
		fl4.fl4_sport = htons(sport);
		rt = ndp_lookup4(net, NULL, &fl4);
		if (IS_ERR(rt))
			return false;
		dst_cache_set_ip4(&peer->dst, &rt->dst, saddr);
	}
	if (!skb->sk)
		ndp_nic_control(peer->nn, rt->dst.dev->ifindex, skb->len);
	uh = ndp_out_udp(skb, sport);
	uh->check = ~udp_v4_check((int)skb->len, saddr, daddr, 0);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	/* ip_local_out() sets tot_len and check */
	*iph = (struct iphdr) {
		.version = 4, .ihl = sizeof(*iph) / 4, .tos = dsfield, .frag_off = htons(IP_DF),
		.ttl = (u8)ip4_dst_hoplimit(&rt->dst), .protocol = IPPROTO_UDP,
		.saddr = saddr, .daddr = daddr,
	};
	if (ndp_out_fragments(skb, &rt->dst))
		__ip_select_ident(net, iph, skb_shinfo(skb)->gso_segs ?: 1);
	skb_dst_set(skb, &rt->dst);
	ip_local_out(net, sk, skb);
	return true;
}

/* Return: false if there is no route */
static bool ndp_out_ipv6(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, u8 dsfield,
			 struct sock *sk)
{
	const struct ndp_addrs *a = &peer->key.addrs;
	struct net *net = peer->nn->net;
	struct in6_addr saddr;
	struct dst_entry *dst;
	struct ipv6hdr *iph;
	struct udphdr *uh;

	dst = dst_cache_get_ip6(&peer->dst, &saddr);
	if (!dst) {
		struct flowi6 fl6 = {
			.flowi6_oif = peer->key.oif ?: a->ifindex, .saddr = a->local,
			.daddr = a->remote, .fl6_sport = htons(sport),
		};

		dst = ndp_lookup6(net, NULL, &fl6);
		if (IS_ERR(dst))
			return false;
		dst_cache_set_ip6(&peer->dst, dst, &a->local);
	}
	if (!skb->sk)
		ndp_nic_control(peer->nn, dst->dev->ifindex, skb->len);
	uh = ndp_out_udp(skb, sport);
	uh->check = ~udp_v6_check((int)skb->len, &a->local, &a->remote, 0);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	/* for switches that choose by the label instead of ports */
	ip6_flow_hdr(iph, dsfield, IPV6_FLOWLABEL_STATELESS_FLAG | htonl(sport));
	/* ip6_local_out() sets payload_len */
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = (u8)ip6_dst_hoplimit(dst);
	iph->saddr = a->local;
	iph->daddr = a->remote;
	ndp_out_fragments(skb, dst);
	skb_dst_set(skb, dst);
	ip6_local_out(net, sk, skb);
	return true;
}

/**
 * ndp_out_xmit() - send a packet or a batch
 * @peer: destination
 * @skb: made by ndp_out_skb() and ndp_out_more(), with payload; it is consumed
 * @sport: UDP source port: ndp_path_port()
 * @dsfield: DSCP, without ECN bits
 * @sk: DATA: the socket, to which @skb is charged; else NULL
 *
 * Any context, without locks that a receiver may take, because that may be this host.
 */
void ndp_out_xmit(struct ndp_peer *peer, struct sk_buff *skb, u16 sport, u8 dsfield,
		  struct sock *sk)
{
	u64 __percpu *counters = peer->nn->counters.values;
	const u16 packets = skb_shinfo(skb)->gso_segs;
	const bool ipv4 = ndp_is_ipv4(&peer->key.addrs);
	bool sent;

	if (packets) {
		closnet_count(counters, NDP_N_OUT_BATCHES);
		closnet_count_add(counters, NDP_N_OUT_BATCHED, packets);
	}
	local_bh_disable();
	rcu_read_lock();
	/* input.c drops packets of other sockets at LOCAL_OUT */
	if (!sk)
		sk = ndp_udp_sk(peer->nn, ipv4);
	if (ipv4)
		sent = ndp_out_ipv4(peer, skb, sport, dsfield, sk);
	else
		sent = ndp_out_ipv6(peer, skb, sport, dsfield, sk);
	rcu_read_unlock();
	local_bh_enable();
	if (sent)
		return;
	closnet_count_add(counters, NDP_N_OUT_NO_ROUTE, packets ?: 1);
	kfree_skb(skb);
}

/**
 * ndp_out_answer() - send a packet without payload by the next path
 * @peer: destination
 * @h: header
 *
 * Context: as ndp_out_xmit().
 */
void ndp_out_answer(struct ndp_peer *peer, const struct ndp_hdr *h)
{
	struct sk_buff *skb = ndp_out_skb(peer, h);
	u32 path;

	if (!skb)
		return;
	path = (u32)atomic_inc_return(&peer->answers) % peer->paths.count;
	ndp_out_xmit(peer, skb, ndp_path_port(peer->port_base, path), 0, NULL);
}

/**
 * ndp_out_reply() - answer a packet that belongs to no flow
 * @p: packet
 * @h: header of the answer
 *
 * No state is kept, not even a route. Context: as ndp_out_xmit().
 */
void ndp_out_reply(const struct ndp_packet *p, const struct ndp_hdr *h)
{
	struct ndp_peer stranger = { .key.addrs = p->addrs, .nn = p->nn };
	struct sk_buff *skb = ndp_out_skb(&stranger, h);

	if (skb)
		ndp_out_xmit(&stranger, skb, ndp_path_port(get_random_u16(), 0), 0, NULL);
}
