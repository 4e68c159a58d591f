// SPDX-License-Identifier: GPL-2.0-only
/*
 * From packets to flows: see pcrp_flow.h
 */

#include <linux/icmpv6.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <closnet/pkt_core.h>
#include "pcrp_flow.h"
#include "pcrp_wire.h"

/* ---- packets ---- */

/* A copy on the stack is made only of headers that lie in fragments. */
#define pcrp_header(skb, off, buffer) \
	((const typeof(buffer) *)skb_header_pointer(skb, off, sizeof(buffer), &(buffer)))

static void pcrp_parse_tcp(const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	const struct tcphdr *th;
	struct tcphdr buffer;

	th = pcrp_header(skb, pkt->l4_off, buffer);
	if (unlikely(!th || th->doff * 4 < sizeof(*th) || th->doff * 4 > pkt->bytes))
		return;
	pkt->key.sport = th->source;
	pkt->key.dport = th->dest;
	pkt->bytes -= th->doff * 4;
	pkt->seq = ntohl(th->seq) + th->syn;
	pkt->fin = th->fin;
	pkt->syn = th->syn;
	if (pkt->bytes)
		pkt->kind = PCRP_KIND_FLOW;
	else
		pkt->kind = th->syn || th->fin || th->rst ? PCRP_KIND_SIGNAL :
							    PCRP_KIND_TOP;
}

static void pcrp_parse_udp(const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	const struct udphdr *uh;
	struct udphdr buffer;

	uh = pcrp_header(skb, pkt->l4_off, buffer);
	if (unlikely(!uh || pkt->bytes < sizeof(*uh)))
		return;
	pkt->key.sport = uh->source;
	pkt->key.dport = uh->dest;
	pkt->bytes -= sizeof(*uh);
	pkt->kind = uh->source == htons(PCRP_UDP_PORT) && uh->dest == htons(PCRP_UDP_PORT) ?
		    PCRP_KIND_CONTROL : PCRP_KIND_FLOW;
}

/* Neighbour discovery is to IPv6 what ARP is to IPv4. */
static bool pcrp_is_ndisc(const struct sk_buff *skb, const struct pcrp_pkt *pkt)
{
	const struct icmp6hdr *icmp;
	struct icmp6hdr buffer;

	icmp = pcrp_header(skb, pkt->l4_off, buffer);
	return icmp && icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
	       icmp->icmp6_type <= NDISC_REDIRECT;
}

static void pcrp_parse_l4(const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	pkt->key.sport = 0;
	pkt->key.dport = 0;
	switch (pkt->key.proto) {
	case IPPROTO_TCP:
		pcrp_parse_tcp(skb, pkt);
		break;
	case IPPROTO_UDP:
		pcrp_parse_udp(skb, pkt);
		break;
	case IPPROTO_ICMPV6:
		pkt->kind = pcrp_is_ndisc(skb, pkt) ? PCRP_KIND_TOP : PCRP_KIND_FLOW;
		break;
	default:
		pkt->kind = PCRP_KIND_FLOW;
	}
}

/*
 * What follows the headers up to @l4_off. The length in the header is that without
 * what pads a short frame; a GSO packet's may be too long to be said in it.
 */
static bool pcrp_find_payload(const struct sk_buff *skb, struct pcrp_pkt *pkt, u32 said)
{
	u32 len = skb->len - pkt->l3_off;

	if (said && said < len && !skb_is_gso(skb))
		len = said;
	if (len < pkt->l4_off - pkt->l3_off)
		return false;
	pkt->bytes = len - (pkt->l4_off - pkt->l3_off);
	return true;
}

static void pcrp_parse_ipv4(const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	const struct iphdr *iph;
	struct iphdr buffer;

	iph = pcrp_header(skb, pkt->l3_off, buffer);
	if (unlikely(!iph || iph->ihl * 4 < sizeof(*iph)))
		return;
	pkt->ip_hlen = CLOSNET_IPV4_HLEN;
	pkt->dsfield = iph->tos;
	pkt->l4_off = pkt->l3_off + iph->ihl * 4;
	if (ip_is_fragment(iph) || ipv4_is_multicast(iph->daddr) ||
	    ipv4_is_lbcast(iph->daddr) ||
	    !pcrp_find_payload(skb, pkt, ntohs(iph->tot_len)))
		return;
	ipv6_addr_set_v4mapped(iph->saddr, &pkt->key.src);
	ipv6_addr_set_v4mapped(iph->daddr, &pkt->key.dst);
	pkt->key.proto = iph->protocol;
	pcrp_parse_l4(skb, pkt);
}

/* Passes over extension headers. Return: false: there is no transport header. */
static bool pcrp_skip_extensions(const struct sk_buff *skb, struct pcrp_pkt *pkt, u8 next)
{
	__be16 fragment = 0;
	int off;

	off = ipv6_skip_exthdr(skb, pkt->l4_off, &next, &fragment);
	if (off < 0 || fragment)
		return false;
	pkt->l4_off = off;
	pkt->key.proto = next;
	return true;
}

static void pcrp_parse_ipv6(const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	const struct ipv6hdr *iph;
	struct ipv6hdr buffer;
	u32 said;

	iph = pcrp_header(skb, pkt->l3_off, buffer);
	if (unlikely(!iph))
		return;
	pkt->ip_hlen = CLOSNET_IPV6_HLEN;
	pkt->dsfield = ipv6_get_dsfield(iph);
	pkt->l4_off = pkt->l3_off + sizeof(*iph);
	pkt->key.proto = iph->nexthdr;
	if (iph->nexthdr != IPPROTO_TCP && iph->nexthdr != IPPROTO_UDP &&
	    !pcrp_skip_extensions(skb, pkt, iph->nexthdr))
		return;
	said = ntohs(iph->payload_len);
	if (!pcrp_find_payload(skb, pkt, said ? said + sizeof(*iph) : 0))
		return;
	if (ipv6_addr_is_multicast(&iph->daddr)) {
		if (pkt->key.proto == IPPROTO_ICMPV6 && pcrp_is_ndisc(skb, pkt))
			pkt->kind = PCRP_KIND_TOP;
		return;
	}
	pkt->key.src = iph->saddr;
	pkt->key.dst = iph->daddr;
	pcrp_parse_l4(skb, pkt);
}

/**
 * pcrp_parse() - find out what a packet is
 * @skb: the packet; its headers may lie in fragments
 * @l3_off: where its L3 header is, from skb->data on
 * @ethertype: protocol of that, host byte order; 0: not known
 * @pkt: result
 */
void pcrp_parse(const struct sk_buff *skb, u32 l3_off, u16 ethertype,
		struct pcrp_pkt *pkt)
{
	pkt->l3_off = l3_off;
	pkt->ip_hlen = 0;
	pkt->bytes = 0;
	pkt->fin = false;
	pkt->syn = false;
	pkt->kind = PCRP_KIND_REST;
	if (likely(ethertype == ETH_P_IP))
		pcrp_parse_ipv4(skb, pkt);
	else if (ethertype == ETH_P_IPV6)
		pcrp_parse_ipv6(skb, pkt);
	else if (ethertype)
		pkt->kind = PCRP_KIND_TOP;
}

/**
 * pcrp_key_hash() - hash of a flow's key
 * @key: the flow
 * @seed: nobody else's
 *
 * Return: 32 bits.
 */
u32 pcrp_key_hash(const struct pcrp_key *key, u32 seed)
{
	u32 ports = (__force u32)key->sport << 16 | (__force u32)key->dport;

	if (!ipv6_addr_v4mapped(&key->dst))
		seed = jhash2((__force const u32 *)key->src.s6_addr32, 8, seed);
	return jhash_3words((__force u32)key->src.s6_addr32[3],
			    (__force u32)key->dst.s6_addr32[3], ports,
			    seed ^ key->proto);
}

/* ---- flows ---- */

/**
 * pcrp_flows_init() - make the table
 * @t: the table
 * @count: flows that it tells apart
 *
 * Return: 0 or -ENOMEM.
 */
int pcrp_flows_init(struct pcrp_flows *t, u32 count)
{
	u32 buckets = roundup_pow_of_two(count);

	t->count = count;
	t->mask = buckets - 1;
	t->seed = get_random_u32();
	t->entries = kvcalloc(count + 1, sizeof(*t->entries), GFP_KERNEL);
	t->buckets = kvcalloc(buckets, sizeof(*t->buckets), GFP_KERNEL);
	if (!t->entries || !t->buckets)
		return -ENOMEM;
	return 0;
}

/**
 * pcrp_flows_clear() - drop all packets, forget all flows; RTNL is held
 * @t: the table
 */
void pcrp_flows_clear(struct pcrp_flows *t)
{
	u32 slot;

	for (slot = 0; slot <= t->count; slot++)
		rtnl_kfree_skbs(t->entries[slot].head, t->entries[slot].tail);
	memset(t->entries, 0, (t->count + 1) * sizeof(*t->entries));
	memset(t->buckets, 0, (t->mask + 1) * sizeof(*t->buckets));
}

/**
 * pcrp_flows_free() - undo pcrp_flows_init(), also after its error
 * @t: the table, without packets
 */
void pcrp_flows_free(struct pcrp_flows *t)
{
	kvfree(t->buckets);
	kvfree(t->entries);
}

/**
 * pcrp_flows_find() - find a flow
 * @t: the table
 * @key: the flow
 * @hash: pcrp_key_hash() of @key
 *
 * Return: its entry, or NULL.
 */
struct pcrp_entry *pcrp_flows_find(const struct pcrp_flows *t, const struct pcrp_key *key,
				   u32 hash)
{
	struct pcrp_entry *e;

	hlist_for_each_entry(e, &t->buckets[hash & t->mask], node) {
		if (pcrp_key_equal(&e->key, key))
			return e;
	}
	return NULL;
}

/**
 * pcrp_flows_give() - give a slot to another flow
 * @t: the table
 * @slot: the slot, without packets
 * @key: a flow that has none
 * @hash: pcrp_key_hash() of @key
 *
 * Return: its entry.
 */
struct pcrp_entry *pcrp_flows_give(struct pcrp_flows *t, u32 slot,
				   const struct pcrp_key *key, u32 hash)
{
	struct pcrp_entry *e = &t->entries[slot];

	if (!hlist_unhashed(&e->node))
		hlist_del(&e->node);
	e->key = *key;
	e->seq = (struct pcrp_seq) {};
	hlist_add_head(&e->node, &t->buckets[hash & t->mask]);
	return e;
}
