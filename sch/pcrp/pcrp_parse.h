/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse a packet: flow, kind and payload
 */
#ifndef _PCRP_PARSE_H
#define _PCRP_PARSE_H

#include <linux/skbuff.h>
#include "pcrp_key.h"

/**
 * enum pcrp_kind - kind of a packet
 * @PCRP_KIND_REST: not in a flow: multicast, a fragment, or truncated headers
 * @PCRP_KIND_TOP: a TCP ACK without data, neighbour discovery, or not IP
 * @PCRP_KIND_CONTROL: a PCRP control packet, by its ports
 * @PCRP_KIND_SIGNAL: a TCP SYN, FIN or RST without data
 * @PCRP_KIND_FLOW: data of a flow
 */
enum pcrp_kind {
	PCRP_KIND_REST,
	PCRP_KIND_TOP,
	PCRP_KIND_CONTROL,
	PCRP_KIND_SIGNAL,
	PCRP_KIND_FLOW,
};

/**
 * struct pcrp_pkt - result of pcrp_parse()
 * @key: valid from PCRP_KIND_CONTROL on, and for PCRP_KIND_TOP of IP
 * @l3_off: offset of the IP header from skb->data
 * @l4_off: offset of the IP payload
 * @bytes: payload of TCP or UDP, else of IP
 * @seq: TCP: sequence number of the first byte of data
 * @ip_hlen: CLOSNET_IPV4_HLEN or CLOSNET_IPV6_HLEN; 0: not IP
 * @dsfield: DSCP and ECN bits
 * @fin: TCP: FIN, which takes a sequence number after the data
 * @syn: TCP: SYN
 * @kind: kind of the packet
 */
struct pcrp_pkt {
	struct pcrp_key key;
	u32 l3_off;
	u32 l4_off;
	u32 bytes;
	u32 seq;
	u8 ip_hlen;
	u8 dsfield;
	bool fin;
	bool syn;
	enum pcrp_kind kind;
};

bool pcrp_parse_linear(const struct sk_buff *skb, const u8 *data, u32 avail, u16 ethertype,
		       struct pcrp_pkt *pkt);
void pcrp_parse_fragments(const struct sk_buff *skb, u16 ethertype, struct pcrp_pkt *pkt);

/**
 * pcrp_parse() - parse a packet
 * @skb: the packet; its headers may lie in fragments
 * @l3_off: offset of its L3 header from skb->data; within the packet if @ethertype is known
 * @ethertype: protocol of the L3 header, host byte order; 0: unknown
 * @pkt: result; only the fields that the kind of the packet has are set
 */
static inline void pcrp_parse(const struct sk_buff *skb, u32 l3_off, u16 ethertype,
			      struct pcrp_pkt *pkt)
{
	u32 linear = skb_headlen(skb);

	pkt->l3_off = l3_off;
	if (unlikely(!pcrp_parse_linear(skb, skb->data + l3_off,
					linear > l3_off ? linear - l3_off : 0, ethertype, pkt)) &&
	    skb_is_nonlinear(skb))
		pcrp_parse_fragments(skb, ethertype, pkt);
}

#endif /* _PCRP_PARSE_H */
