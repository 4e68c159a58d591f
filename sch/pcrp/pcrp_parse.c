// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a packet: flow, kind and payload
 *
 * A flow is identified by addresses, protocol and ports, not by its socket: a socket
 * that is not connected has many flows, and the memory of a freed socket is reused.
 */

#include <linux/icmpv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <closnet/pkt_core.h>
#include "pcrp_parse.h"
#include "pcrp_wire.h"

/* Bytes copied if headers lie in fragments. Headers that end later are not found. */
#define PCRP_HEADERS_MAX	256

/**
 * struct pcrp_headers - a packet from its L3 header on
 * @data: linear bytes
 * @avail: number of linear bytes
 * @len: length of the packet
 * @missing: a header ends beyond @avail
 */
struct pcrp_headers {
	const u8 *data;
	u32 avail;
	u32 len;
	bool missing;
};

static const void *pcrp_header(struct pcrp_headers *h, u32 off, u32 len)
{
	if (likely(off + len <= h->avail))
		return h->data + off;
	h->missing = true;
	return NULL;
}

/* @pkt->bytes counts the L4 header and its payload. */
static const void *pcrp_l4_header(struct pcrp_headers *h, const struct pcrp_pkt *pkt, u32 len)
{
	if (unlikely(pkt->bytes < len))
		return NULL;
	return pcrp_header(h, pkt->l4_off - pkt->l3_off, len);
}

static void pcrp_parse_tcp(struct pcrp_headers *h, struct pcrp_pkt *pkt)
{
	const struct tcphdr *th = pcrp_l4_header(h, pkt, sizeof(*th));

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

static void pcrp_parse_udp(struct pcrp_headers *h, struct pcrp_pkt *pkt)
{
	const struct udphdr *uh = pcrp_l4_header(h, pkt, sizeof(*uh));

	if (unlikely(!uh))
		return;
	pkt->key.sport = uh->source;
	pkt->key.dport = uh->dest;
	pkt->bytes -= sizeof(*uh);
	pkt->kind = uh->source == htons(PCRP_UDP_PORT) && uh->dest == htons(PCRP_UDP_PORT) ?
		    PCRP_KIND_CONTROL : PCRP_KIND_FLOW;
}

/* Neighbour discovery is to IPv6 what ARP is to IPv4. */
static bool pcrp_is_ndisc(struct pcrp_headers *h, const struct pcrp_pkt *pkt)
{
	const struct icmp6hdr *icmp = pcrp_l4_header(h, pkt, sizeof(*icmp));

	return icmp && icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
	       icmp->icmp6_type <= NDISC_REDIRECT;
}

static void pcrp_parse_l4(struct pcrp_headers *h, struct pcrp_pkt *pkt)
{
	pkt->key.sport = 0;
	pkt->key.dport = 0;
	switch (pkt->key.proto) {
	case IPPROTO_TCP:
		pcrp_parse_tcp(h, pkt);
		break;
	case IPPROTO_UDP:
		pcrp_parse_udp(h, pkt);
		break;
	case IPPROTO_ICMPV6:
		pkt->kind = pcrp_is_ndisc(h, pkt) ? PCRP_KIND_TOP : PCRP_KIND_FLOW;
		break;
	default:
		pkt->kind = PCRP_KIND_FLOW;
	}
}

/*
 * Set the length of the IP payload. The length in the IP header excludes the padding of
 * a short frame; that of a GSO packet may not fit into it.
 */
static bool pcrp_find_payload(const struct sk_buff *skb, const struct pcrp_headers *h,
			      struct pcrp_pkt *pkt, u32 ip_len)
{
	u32 len = h->len, hlen = pkt->l4_off - pkt->l3_off;

	if (ip_len && ip_len < len && !skb_is_gso(skb))
		len = ip_len;
	if (len < hlen)
		return false;
	pkt->bytes = len - hlen;
	return true;
}

/* Return: true if the L4 header is to be parsed, like pcrp_parse_ipv6(). */
static bool pcrp_parse_ipv4(const struct sk_buff *skb, struct pcrp_headers *h,
			    struct pcrp_pkt *pkt)
{
	const struct iphdr *iph = pcrp_header(h, 0, sizeof(*iph));
	u32 hlen;

	if (unlikely(!iph))
		return false;
	hlen = iph->ihl * 4;
	if (unlikely(hlen < sizeof(*iph)))
		return false;
	pkt->ip_hlen = CLOSNET_IPV4_HLEN;
	pkt->dsfield = iph->tos;
	pkt->l4_off = pkt->l3_off + hlen;
	if (ip_is_fragment(iph) || ipv4_is_multicast(iph->daddr) ||
	    ipv4_is_lbcast(iph->daddr) ||
	    !pcrp_find_payload(skb, h, pkt, ntohs(iph->tot_len)))
		return false;
	ipv6_addr_set_v4mapped(iph->saddr, &pkt->key.src);
	ipv6_addr_set_v4mapped(iph->daddr, &pkt->key.dst);
	pkt->key.proto = iph->protocol;
	return true;
}

/* Skip extension headers. Return: false: there is no transport header */
static noinline bool pcrp_skip_extensions(const struct sk_buff *skb, struct pcrp_pkt *pkt, u8 next)
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

static bool pcrp_parse_ipv6(const struct sk_buff *skb, struct pcrp_headers *h,
			    struct pcrp_pkt *pkt)
{
	const struct ipv6hdr *iph = pcrp_header(h, 0, sizeof(*iph));
	u32 payload;

	if (unlikely(!iph))
		return false;
	pkt->ip_hlen = CLOSNET_IPV6_HLEN;
	pkt->dsfield = ipv6_get_dsfield(iph);
	pkt->l4_off = pkt->l3_off + sizeof(*iph);
	pkt->key.proto = iph->nexthdr;
	if (iph->nexthdr != IPPROTO_TCP && iph->nexthdr != IPPROTO_UDP &&
	    !pcrp_skip_extensions(skb, pkt, iph->nexthdr))
		return false;
	payload = ntohs(iph->payload_len);
	if (!pcrp_find_payload(skb, h, pkt, payload ? payload + sizeof(*iph) : 0))
		return false;
	pkt->key.src = iph->saddr;
	pkt->key.dst = iph->daddr;
	if (!ipv6_addr_is_multicast(&iph->daddr))
		return true;
	if (pkt->key.proto == IPPROTO_ICMPV6 && pcrp_is_ndisc(h, pkt))
		pkt->kind = PCRP_KIND_TOP;
	return false;
}

/**
 * pcrp_parse_linear() - parse the headers of a packet from linear bytes
 * @skb: the packet
 * @data: its bytes from the L3 header on
 * @avail: number of the bytes
 * @ethertype: as for pcrp_parse()
 * @pkt: result; @pkt->l3_off is set
 *
 * Return: false: a header ends behind @avail.
 */
bool pcrp_parse_linear(const struct sk_buff *skb, const u8 *data, u32 avail, u16 ethertype,
		       struct pcrp_pkt *pkt)
{
	struct pcrp_headers h = {
		.data = data,
		.avail = avail,
		.len = skb->len - pkt->l3_off,
	};
	bool more = false;

	pkt->ip_hlen = 0;
	pkt->dsfield = 0;
	pkt->fin = false;
	pkt->syn = false;
	pkt->bytes = 0;
	pkt->kind = PCRP_KIND_REST;
	if (likely(ethertype == ETH_P_IP))
		more = pcrp_parse_ipv4(skb, &h, pkt);
	else if (ethertype == ETH_P_IPV6)
		more = pcrp_parse_ipv6(skb, &h, pkt);
	else if (ethertype)
		pkt->kind = PCRP_KIND_TOP;
	if (more)
		pcrp_parse_l4(&h, pkt);
	return !h.missing;
}

/**
 * pcrp_parse_fragments() - parse the headers of a packet that lie in fragments
 * @skb: the packet
 * @ethertype: as for pcrp_parse()
 * @pkt: result; @pkt->l3_off is set
 */
void pcrp_parse_fragments(const struct sk_buff *skb, u16 ethertype, struct pcrp_pkt *pkt)
{
	u8 buffer[PCRP_HEADERS_MAX] __uninitialized;
	u32 len = min_t(u32, skb->len - pkt->l3_off, sizeof(buffer));

	if (skb_copy_bits(skb, pkt->l3_off, buffer, len))
		len = 0;
	pcrp_parse_linear(skb, buffer, len, ethertype, pkt);
}
