// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hash of a packet's flow
 *
 * The hash is over addresses, protocol and ports. RoCEv2 uses one UDP port for all queue pairs of a
 * host, and the source port is the same for a queue pair, or for all: so the hash also
 * covers the destination queue pair. Fragments have the hash of addresses and protocol, since only
 * the first one has ports.
 *
 * The key is secret, because senders can choose headers: they cannot fill one bucket of a table.
 */
#include <net/ip.h>
#include <net/ipv6.h>
#include "lb_hash.h"

#define LB_ROCE_PORT	4791

/*
 * Protocol, with the ports of TCP, UDP and their like, and RoCEv2's destination queue pair:
 * 8, 24 and 32 bits
 */
static u64 lb_ports_of(const struct sk_buff *skb, u8 protocol, int offset)
{
	struct {
		__be16 source;
		__be16 dest;
		__be32 unused[2];	/* rest of UDP's header; first word of the BTH */
		__be32 dest_qp;
	} buf, *h;

	switch (protocol) {
	case IPPROTO_UDP:
		h = skb_header_pointer(skb, offset, sizeof(buf), &buf);
		if (h && h->dest == htons(LB_ROCE_PORT))
			return (u64)protocol << 56 | (u64)(ntohl(h->dest_qp) & 0xffffff) << 32 |
			       (u32)ntohs(h->source) << 16 | LB_ROCE_PORT;
		fallthrough;
	case IPPROTO_TCP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		h = skb_header_pointer(skb, offset, 4, &buf);
		if (h)
			return (u64)protocol << 56 | (u32)ntohs(h->source) << 16 | ntohs(h->dest);
	}
	return (u64)protocol << 56;
}

/**
 * lb_hash4() - compute the hash of an IPv4 packet's flow
 * @key: secret of the hash
 * @skb: the packet, with a valid header
 *
 * Return: 64 bits.
 */
u64 lb_hash4(const siphash_key_t *key, const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	u64 addrs = (u64)(__force u32)iph->saddr << 32 | (__force u32)iph->daddr;
	u64 ports = (u64)iph->protocol << 56;

	if (!ip_is_fragment(iph))
		ports = lb_ports_of(skb, iph->protocol, skb_network_offset(skb) + sizeof(*iph));
	return siphash_2u64(addrs, ports, key);
}

/**
 * lb_hash6() - compute the hash of an IPv6 packet's flow
 * @key: secret of the hash
 * @skb: the packet, with a valid header
 *
 * Return: 64 bits.
 */
u64 lb_hash6(const siphash_key_t *key, const struct sk_buff *skb)
{
	const struct ipv6hdr *hdr = ipv6_hdr(skb);
	struct {
		struct in6_addr saddr;
		struct in6_addr daddr;
		u64 ports;
	} __aligned(SIPHASH_ALIGNMENT) tuple = { .saddr = hdr->saddr, .daddr = hdr->daddr };
	u8 protocol = hdr->nexthdr;
	__be16 fragment = 0;
	int offset;

	offset = skb_network_offset(skb) + sizeof(*hdr);
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		offset = ipv6_skip_exthdr(skb, offset, &protocol, &fragment);
	if (offset > 0 && !fragment)
		tuple.ports = lb_ports_of(skb, protocol, offset);
	else
		tuple.ports = (u64)(fragment ? NEXTHDR_FRAGMENT : protocol) << 56;
	return siphash(&tuple, sizeof(tuple), key);
}
