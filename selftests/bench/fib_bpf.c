// SPDX-License-Identifier: GPL-2.0-only
/*
 * fib_bpf: forward a packet at tc ingress as BPF programs do: bpf_fib_lookup(), bpf_redirect()
 *
 * Built by selftests/bench/run without libbpf's headers, and loaded by tc(8), which needs no BTF.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>

#define SECTION(name)	__attribute__((section(name), used))
#define swab16(x)	__builtin_bswap16(x)

static long (*bpf_fib_lookup)(void *ctx, struct bpf_fib_lookup *params, int size,
			      __u32 flags) = (void *)BPF_FUNC_fib_lookup;
static long (*bpf_redirect)(__u32 ifindex, __u64 flags) = (void *)BPF_FUNC_redirect;

/* Look up the route, write the Ethernet header, and send. */
static __attribute__((always_inline)) int redirect(struct __sk_buff *skb, struct ethhdr *eth,
						   struct bpf_fib_lookup *fib)
{
	if (bpf_fib_lookup(skb, fib, sizeof(*fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return TC_ACT_OK;
	__builtin_memcpy(eth->h_dest, fib->dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, fib->smac, ETH_ALEN);
	return bpf_redirect(fib->ifindex, 0);
}

SECTION("classifier")
int forward(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct bpf_fib_lookup fib = { .ifindex = skb->ingress_ifindex };
	struct ethhdr *eth = data;
	struct iphdr *iph = data + sizeof(*eth);
	struct ipv6hdr *hdr = data + sizeof(*eth);
	__u32 sum;

	if ((void *)(hdr + 1) > end)
		return TC_ACT_OK;
	if (eth->h_proto == swab16(ETH_P_IPV6)) {
		if (hdr->hop_limit <= 1)
			return TC_ACT_OK;
		fib.family = 10;	/* AF_INET6 */
		fib.l4_protocol = hdr->nexthdr;
		fib.tot_len = swab16(hdr->payload_len) + sizeof(*hdr);
		__builtin_memcpy(fib.ipv6_src, &hdr->saddr, sizeof(fib.ipv6_src));
		__builtin_memcpy(fib.ipv6_dst, &hdr->daddr, sizeof(fib.ipv6_dst));
		hdr->hop_limit--;
		return redirect(skb, eth, &fib);
	}
	if (eth->h_proto != swab16(ETH_P_IP) || iph->ttl <= 1)
		return TC_ACT_OK;
	fib.family = 2;	/* AF_INET */
	fib.tos = iph->tos;
	fib.l4_protocol = iph->protocol;
	fib.tot_len = swab16(iph->tot_len);
	fib.ipv4_src = iph->saddr;
	fib.ipv4_dst = iph->daddr;
	sum = iph->check + swab16(0x0100);
	iph->check = sum + (sum >= 0xffff);
	iph->ttl--;
	return redirect(skb, eth, &fib);
}

char program_license[] SECTION("license") = "GPL";
