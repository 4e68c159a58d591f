// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: which ones can be balanced
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_netdev.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/xfrm.h>
#include "lb_action.h"

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
	u32 len;

	if (!pskb_may_pull(skb, sizeof(*iph)))
		return TCA_LB_STATS_PASS_HEADER;
	iph = ip_hdr(skb);
	if (iph->version != 4 || iph->ihl != sizeof(*iph) / 4 || ip_fast_csum(iph, iph->ihl))
		return TCA_LB_STATS_PASS_HEADER;
	len = iph_totlen(skb, iph);
	if (len < sizeof(*iph) || !lb_has_length(skb, len))
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
#ifdef CONFIG_NET_SWITCHDEV
	if (skb->offload_l3_fwd_mark)	/* the switch has forwarded it; this is the stack's copy */
		return TCA_LB_STATS_PASS_HOOK;
#endif
	if (skb_is_gso(skb) && !skb_shinfo(skb)->gso_type)	/* LRO */
		return TCA_LB_STATS_PASS_HEADER;
	return ipv6 ? lb_check6(skb) : lb_check4(skb);
}
