// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: which ones can be balanced, and the hash of their flow
 *
 * The hash is over addresses, protocol and ports. RoCEv2 uses one UDP port for all queue pairs of a
 * host, and the source port is the same for a queue pair, or for all: so the hash also
 * covers the destination queue pair. Fragments have the hash of addresses and protocol, since only
 * the first one has ports.
 *
 * The key is secret, because senders can choose headers: they cannot fill one bucket of the table.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_netdev.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/xfrm.h>
#include "lb_action.h"

#define LB_ROCE_PORT	4791

/* ---- checks ---- */

#ifdef CONFIG_NETFILTER
/*
 * Are there rules after routing? AppArmor has a hook of its own in each namespace. It decides on
 * packets of sockets, and accepts forwarded ones.
 */
static bool lb_has_rules_after(const struct nf_hook_entries *entries)
{
	const struct nf_hook_ops *ops;

	if (!entries || entries->num_hook_entries > 1)
		return entries;
	ops = nf_hook_entries_get_hook_ops(entries)[0];
	return ops->hook_ops_type != NF_HOOK_OP_UNDEFINED ||
	       ops->priority != NF_IP_PRI_SELINUX_FIRST;
}
#endif

/* Do forwarded packets meet rules of netfilter or IPsec, which would be skipped? */
static bool lb_has_policy(const struct net *net, const struct sk_buff *skb, bool ipv6)
{
#ifdef CONFIG_NETFILTER
	struct nf_hook_entries __rcu * const *hooks = ipv6 ? net->nf.hooks_ipv6 :
								   net->nf.hooks_ipv4;

	if (rcu_access_pointer(hooks[NF_INET_PRE_ROUTING]) ||
	    rcu_access_pointer(hooks[NF_INET_FORWARD]) ||
	    lb_has_rules_after(rcu_dereference(hooks[NF_INET_POST_ROUTING])))
		return true;
	/* rules of the device come after tc */
	if (nf_hook_ingress_active(skb))
		return true;
#endif
#ifdef CONFIG_XFRM
	if (net->xfrm.policy_count[XFRM_POLICY_FWD] || net->xfrm.policy_count[XFRM_POLICY_OUT] ||
	    READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_FWD]) == XFRM_USERPOLICY_BLOCK ||
	    READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) == XFRM_USERPOLICY_BLOCK)
		return true;
#endif
	return false;
}

/* Does the length match the header? Padding of short frames is removed. */
static bool lb_has_length(struct sk_buff *skb, u32 len)
{
	if (skb->len < len)
		return false;
	return skb->len == len || (!skb_is_gso(skb) && !skb_shared(skb) &&
				   !pskb_trim_rcsum(skb, len));
}

static int lb_check4(struct sk_buff *skb)
{
	const struct iphdr *iph;

	if (!pskb_may_pull(skb, sizeof(*iph)))
		return TCA_LB_STATS_PASS_HEADER;
	iph = ip_hdr(skb);
	if (iph->version != 4 || iph->ihl != sizeof(*iph) / 4 || ip_fast_csum(iph, iph->ihl))
		return TCA_LB_STATS_PASS_HEADER;
	if (!lb_has_length(skb, iph_totlen(skb, iph)))
		return TCA_LB_STATS_PASS_HEADER;
	return ip_hdr(skb)->ttl > 1 ? 0 : TCA_LB_STATS_PASS_TTL;
}

static int lb_check6(struct sk_buff *skb)
{
	const struct ipv6hdr *hdr;

	if (!pskb_may_pull(skb, sizeof(*hdr)))
		return TCA_LB_STATS_PASS_HEADER;
	hdr = ipv6_hdr(skb);
	if (hdr->version != 6 || hdr->nexthdr == NEXTHDR_HOP)
		return TCA_LB_STATS_PASS_HEADER;
	/* 0: a GSO packet above 64 KB, or a jumbogram, which has a hop-by-hop option */
	if (hdr->payload_len ? !lb_has_length(skb, sizeof(*hdr) + ntohs(hdr->payload_len)) :
			       !skb_is_gso(skb))
		return TCA_LB_STATS_PASS_HEADER;
	return ipv6_hdr(skb)->hop_limit > 1 ? 0 : TCA_LB_STATS_PASS_TTL;
}

/**
 * lb_check_packet() - check whether a packet is one that a router forwards
 * @skb: the packet
 * @net: its namespace
 *
 * Return: 0, or the reason to leave it to the stack, an attribute of TCA_LB_STATS_PASS.
 */
int lb_check_packet(struct sk_buff *skb, struct net *net)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);

	if (unlikely(!skb_at_tc_ingress(skb)) || netif_is_bridge_port(skb->dev) ||
	    netif_is_lag_port(skb->dev) || netif_is_ovs_port(skb->dev))
		return TCA_LB_STATS_PASS_HOOK;
	if ((!ipv6 && skb->protocol != htons(ETH_P_IP)) || skb_vlan_tag_present(skb))
		return TCA_LB_STATS_PASS_PROTOCOL;
	if (skb->pkt_type != PACKET_HOST)
		return TCA_LB_STATS_PASS_ADDRESS;
	/* a socket that a program has assigned; otherwise, in veth(4), it is the sender's */
	if (lb_has_policy(net, skb, ipv6) || skb_sk_is_prefetched(skb) || skb_sec_path(skb))
		return TCA_LB_STATS_PASS_POLICY;
	if (skb_is_gso(skb) && !skb_shinfo(skb)->gso_type)	/* LRO */
		return TCA_LB_STATS_PASS_HEADER;
	return ipv6 ? lb_check6(skb) : lb_check4(skb);
}

/* ---- hash ---- */

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
 * @lb: the action, which has the key
 * @skb: the packet, with a valid header
 *
 * Return: 64 bits.
 */
u64 lb_hash4(const struct tcf_lb *lb, const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	u64 ports = (u64)iph->protocol << 56;

	if (!ip_is_fragment(iph))
		ports = lb_ports_of(skb, iph->protocol, skb_network_offset(skb) + sizeof(*iph));
	return siphash_2u64((u64)(__force u32)iph->saddr << 32 | (__force u32)iph->daddr, ports,
			    &lb->key);
}

/**
 * lb_hash6() - compute the hash of an IPv6 packet's flow
 * @lb: the action, which has the key
 * @skb: the packet, with a valid header
 *
 * Return: 64 bits.
 */
u64 lb_hash6(const struct tcf_lb *lb, const struct sk_buff *skb)
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
	return siphash(&tuple, sizeof(tuple), &lb->key);
}
