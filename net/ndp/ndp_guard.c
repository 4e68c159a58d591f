// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: drop forged packets of this host's users
 *
 * NDP's packets are UDP datagrams, which every user may send. At LOCAL_OUT, behind all other
 * hooks there, every UDP packet to or from NDP's port is dropped unless this module made it:
 *
 *	NDP socket, answers --> ndp_out_xmit() --+
 *	                                         v
 *	UDP and raw sockets, tunnels -------> LOCAL_OUT --> [dropped, EPERM]
 *
 * The socket that is passed to ip_local_out() makes the difference: an NDP socket for DATA, the
 * kernel's UDP socket that has the port for all else. User space cannot transmit through either:
 * the former sends only through ndp_out_xmit(), and the latter has no file.
 *
 * AF_PACKET sockets, tc and XDP programs transmit without LOCAL_OUT, and packets that are
 * forwarded do not pass it. These need CAP_NET_RAW or CAP_NET_ADMIN in a network namespace,
 * which is as far as a remote host is from here: see "Threats" in
 * Documentation/concepts/ndp.rst.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "ndp.h"

static bool ndp_guard_is_own(const struct nf_hook_state *state)
{
	const struct sock *sk = state->sk;

	return sk && (ndp_is_sock(sk) || sk == ndp_udp_sk(ndp_net(state->net), state->pf));
}

/* A datagram, or the first of its fragments; UDP's header is @off bytes behind skb->data. */
static unsigned int ndp_guard(const struct sk_buff *skb, int off, const struct nf_hook_state *state)
{
	__be16 buffer[2];
	const __be16 *ports = skb_header_pointer(skb, off, sizeof(buffer), buffer);

	if (!ports || (ports[0] != htons(NDP_UDP_PORT) && ports[1] != htons(NDP_UDP_PORT)) ||
	    ndp_guard_is_own(state))
		return NF_ACCEPT;
	ndp_count(ndp_net(state->net), NDP_N_OUT_FORGED);
	return NF_DROP;
}

static unsigned int ndp_guard_ipv4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);

	/* of the fragments that a raw socket sends, the first has the ports */
	if (iph->protocol != IPPROTO_UDP || iph->frag_off & htons(IP_OFFSET))
		return NF_ACCEPT;
	return ndp_guard(skb, skb_network_offset(skb) + (int)ip_hdrlen(skb), state);
}

/* A user may put a routing header before UDP's. */
static unsigned int ndp_guard_ipv6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	unsigned int off = 0;

	if (ipv6_hdr(skb)->nexthdr == IPPROTO_TCP ||
	    ipv6_find_hdr(skb, &off, IPPROTO_UDP, NULL, NULL) != IPPROTO_UDP)
		return NF_ACCEPT;
	return ndp_guard(skb, (int)off, state);
}

static const struct nf_hook_ops ndp_guard_hooks[] = {
	{
		.hook = ndp_guard_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = ndp_guard_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
};

/**
 * ndp_guard_init() - begin to drop forged packets
 * @nn: namespace
 *
 * Return: 0 or a negative error.
 */
int ndp_guard_init(struct ndp_net *nn)
{
	return nf_register_net_hooks(nn->net, ndp_guard_hooks, ARRAY_SIZE(ndp_guard_hooks));
}

/**
 * ndp_guard_exit() - take back ndp_guard_init()
 * @nn: namespace
 */
void ndp_guard_exit(struct ndp_net *nn)
{
	nf_unregister_net_hooks(nn->net, ndp_guard_hooks, ARRAY_SIZE(ndp_guard_hooks));
}
