// SPDX-License-Identifier: GPL-2.0-only
/*
 * qdisc_bench: instructions that a qdisc executes for one packet
 *
 * A test module for a guest whose clock counts instructions (bench.h). It calls
 * the functions of a device's root qdisc, which has been set up with tc(8), so
 * that each qdisc is measured in the same way:
 *
 *	echo "DEVICE PACKET STANDING COUNT" >/sys/module/qdisc_bench/parameters/run
 *	cat /sys/module/qdisc_bench/parameters/run
 *
 * The module enqueues STANDING packets. Then it enqueues one packet and dequeues
 * one, COUNT times, so that the queue length stays the same. PACKET is a name in
 * bench_packets[]. The result has a line "same" for the steps in which the
 * enqueued packet itself was dequeued, and a line "other" for the other steps:
 *
 *	same|other LENGTH enqueue MEDIAN dequeue MEDIAN
 *
 * LENGTH is the length of the last dequeued packet in bytes; a trimmed packet is
 * shorter. If the standing packets fill the data queue of sch_ndp, each enqueue
 * trims the arriving packet (line "same") or the tail (line "other").
 *
 * A measurement covers one call of enqueue() or dequeue(), including the call
 * itself and the set-up of its arguments. Each packet is allocated before the
 * measurement and freed after it. Nearly all steps of a line cost the same. The
 * median excludes steps in which the allocator or the random number generator
 * refills its stock; their number depends on the rest of the guest.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "bench.h"

#define BENCH_WARM_UP		64
#define BENCH_STANDING_MAX	1000
#define BENCH_NDP_PORT		61199
#define BENCH_ROCE_PORT		4791
#define BENCH_BTH_OPCODE	0x0a	/* RC RDMA WRITE only */
#define BENCH_BTH_PKEY		0xffff
#define BENCH_BTH_QPN		0x11	/* of the first flow */

/**
 * struct bench_packet - a kind of packet
 * @name: as written to the parameter
 * @len: bytes of the frame, including the Ethernet header
 * @port: destination port; BENCH_ROCE_PORT: RoCEv2
 * @ipv6: IPv6, else IPv4
 * @tcp: TCP, else UDP
 * @partial: the device is to complete the checksum
 * @frags: payload in a page, as most drivers with header split deliver it
 * @cloned: a clone exists, as of a packet socket
 * @ect: ECN-capable
 * @spread: DSCPs CS0 to CS7 in turn
 * @flows: number of flows or queue pairs, in turn; 0: one
 */
struct bench_packet {
	const char *name;
	u16 len;
	u16 port;
	bool ipv6;
	bool tcp;
	bool partial;
	bool frags;
	bool cloned;
	bool ect;
	bool spread;
	u16 flows;
};

static const struct bench_packet bench_packets[] = {
	{ .name = "udp4", .len = 1514, .port = BENCH_NDP_PORT },
	{ .name = "udp6", .len = 1514, .port = BENCH_NDP_PORT, .ipv6 = true },
	{ .name = "tcp4", .len = 1514, .port = BENCH_NDP_PORT, .tcp = true },
	{ .name = "tcp4-partial", .len = 1514, .port = BENCH_NDP_PORT, .tcp = true,
	  .partial = true },
	{ .name = "udp4-partial", .len = 1514, .port = BENCH_NDP_PORT, .partial = true },
	{ .name = "udp4-frags", .len = 1514, .port = BENCH_NDP_PORT, .frags = true },
	{ .name = "udp4-cloned", .len = 1514, .port = BENCH_NDP_PORT, .cloned = true },
	{ .name = "udp4-local", .len = 1514, .port = BENCH_NDP_PORT, .partial = true,
	  .frags = true },
	{ .name = "tcp4-local", .len = 1514, .port = BENCH_NDP_PORT, .tcp = true, .partial = true,
	  .frags = true, .cloned = true },
	{ .name = "udp4-short", .len = 106, .port = BENCH_NDP_PORT },
	{ .name = "udp4-port9", .len = 1514, .port = 9 },
	{ .name = "udp4-ect", .len = 1514, .port = 9, .ect = true },
	{ .name = "udp4-spread", .len = 1514, .port = 9, .ect = true, .spread = true },
	{ .name = "udp4-flows", .len = 1514, .port = 9, .flows = 1000 },
	{ .name = "roce4", .len = 1514, .port = BENCH_ROCE_PORT },
	{ .name = "roce4-qps", .len = 1514, .port = BENCH_ROCE_PORT, .flows = 1000 },
};

/**
 * struct bench_line - costs of the steps of one kind
 * @steps: number of steps
 * @len: bytes of the last dequeued packet
 * @enqueue: instructions of each enqueue
 * @dequeue: instructions of each dequeue
 */
struct bench_line {
	u32 steps;
	u32 len;
	u32 *enqueue;
	u32 *dequeue;
};

/**
 * struct bench - one run
 * @dev: the device
 * @q: its root qdisc
 * @packet: kind of the packets
 * @made: number of packets allocated
 * @originals: originals of cloned packets, kept until the end
 * @same: steps that dequeued the packet just enqueued
 * @other: steps that dequeued another packet
 */
struct bench {
	struct net_device *dev;
	struct Qdisc *q;
	const struct bench_packet *packet;
	u32 made;
	struct sk_buff_head originals;
	struct bench_line same;
	struct bench_line other;
};

static void bench_put_ip(struct sk_buff *skb, const struct bench_packet *p, u32 number)
{
	u8 tos = (p->ect ? INET_ECN_ECT_0 : 0) | (p->spread ? number % 8 << 5 : 0);
	u16 len = p->len - ETH_HLEN;
	u8 proto = p->tcp ? IPPROTO_TCP : IPPROTO_UDP;

	skb_set_network_header(skb, ETH_HLEN);
	if (p->ipv6) {
		struct ipv6hdr *ip6h = ipv6_hdr(skb);

		*ip6h = (struct ipv6hdr) {
			.version = 6,
			.payload_len = htons(len - sizeof(*ip6h)),
			.nexthdr = proto,
			.hop_limit = 63,
		};
		ip6h->saddr.s6_addr32[0] = htonl(0xfd000001);
		ip6h->daddr.s6_addr32[0] = htonl(0xfd000002);
		skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip6h));
	} else {
		struct iphdr *iph = ip_hdr(skb);

		*iph = (struct iphdr) {
			.version = 4,
			.ihl = 5,
			.tos = tos,
			.tot_len = htons(len),
			.ttl = 63,
			.protocol = proto,
			.saddr = htonl(0x0a000001),
			.daddr = htonl(0x0a000002),
		};
		ip_send_check(iph);
		skb_set_transport_header(skb, ETH_HLEN + sizeof(*iph));
	}
}

/* Write the transport header. Return: length of all headers */
static u32 bench_put_l4(struct sk_buff *skb, const struct bench_packet *p, u32 flow)
{
	u32 off = skb_transport_offset(skb);

	if (p->tcp) {
		*tcp_hdr(skb) = (struct tcphdr) {
			.source = htons(1024 + flow),
			.dest = htons(p->port),
			.doff = 5,
			.ack = 1,
		};
		return off + sizeof(struct tcphdr);
	}
	*udp_hdr(skb) = (struct udphdr) {
		.source = htons(1024 + flow),
		.dest = htons(p->port),
		.len = htons(p->len - off),
		.check = htons(0xbeef),	/* never verified */
	};
	return off + sizeof(struct udphdr);
}

/* Write RoCEv2's base transport header for the queue pair of this flow. */
static void bench_put_bth(struct sk_buff *skb, u32 off, u32 flow, u32 number)
{
	__be32 *bth = (__be32 *)(skb->data + off);

	bth[0] = htonl(BENCH_BTH_OPCODE << 24 | BENCH_BTH_PKEY);
	bth[1] = htonl(BENCH_BTH_QPN + flow);
	bth[2] = htonl(number & 0xffffff);
}

/* Move the payload into a page. */
static int bench_split(struct sk_buff *skb, u32 hlen)
{
	struct page *page = alloc_page(GFP_ATOMIC);
	u32 len = skb->len - hlen;

	if (!page)
		return -ENOMEM;
	skb_trim(skb, hlen);
	skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
	return 0;
}

/* Allocate a packet as the stack forwards it, but with the device's own source address. */
static struct sk_buff *bench_new_packet(struct bench *b)
{
	const struct bench_packet *p = b->packet;
	u32 number = b->made++, flow = p->flows ? number % p->flows : 0;
	struct sk_buff *skb, *clone;
	u32 hlen;

	skb = alloc_skb(NET_SKB_PAD + p->len, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	memset(skb_put(skb, p->len), 0, p->len);
	skb_reset_mac_header(skb);
	eth_hdr(skb)->h_dest[0] = 0x02;
	ether_addr_copy(eth_hdr(skb)->h_source, b->dev->dev_addr);
	skb->protocol = p->ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	eth_hdr(skb)->h_proto = skb->protocol;
	bench_put_ip(skb, p, number);
	hlen = bench_put_l4(skb, p, flow);
	if (p->port == BENCH_ROCE_PORT)
		bench_put_bth(skb, hlen, flow, number);
	skb->dev = b->dev;
	skb->skb_iif = b->dev->ifindex;
	/* NICs supply a hash; without it, fq and fq_codel would have to compute one. */
	skb_set_hash(skb, 0x12345678 + flow, PKT_HASH_TYPE_L4);
	qdisc_skb_cb(skb)->pkt_len = skb->len;

	if (p->partial && !skb_partial_csum_set(skb, skb_transport_offset(skb), p->tcp ?
						offsetof(struct tcphdr, check) :
						offsetof(struct udphdr, check)))
		goto free;
	if (p->frags && bench_split(skb, hlen))
		goto free;
	if (!p->cloned)
		return skb;
	clone = skb_clone(skb, GFP_ATOMIC);
	if (!clone)
		goto free;
	__skb_queue_tail(&b->originals, skb);
	return clone;

free:
	kfree_skb(skb);
	return NULL;
}

static noinline u32 bench_enqueue(struct Qdisc *q, struct sk_buff *skb,
				  struct sk_buff **to_free, int *ret)
{
	return BENCH_CYCLES(*ret = q->enqueue(skb, q, to_free));
}

static noinline u32 bench_dequeue(struct Qdisc *q, struct sk_buff **skb)
{
	return BENCH_CYCLES(*skb = q->dequeue(q));
}

static int bench_fill(struct bench *b, u32 standing)
{
	struct sk_buff *to_free = NULL;

	while (standing--) {
		struct sk_buff *skb = bench_new_packet(b);

		if (!skb)
			return -ENOMEM;
		if (b->q->enqueue(skb, b->q, &to_free) != NET_XMIT_SUCCESS) {
			kfree_skb_list(to_free);
			pr_err("a standing packet was dropped\n");
			return -ENOBUFS;
		}
	}
	return 0;
}

static int bench_step(struct bench *b, bool record)
{
	struct sk_buff *skb = bench_new_packet(b), *out, *to_free = NULL;
	struct bench_line *line;
	unsigned long flags;
	u32 in_cycles, out_cycles;
	int ret;

	if (!skb)
		return -ENOMEM;
	local_irq_save(flags);
	in_cycles = bench_enqueue(b->q, skb, &to_free, &ret);
	out_cycles = bench_dequeue(b->q, &out);
	local_irq_restore(flags);

	if (record && out) {
		line = out == skb ? &b->same : &b->other;
		line->len = out->len;
		line->enqueue[line->steps] = in_cycles;
		line->dequeue[line->steps++] = out_cycles;
	}
	kfree_skb(out);
	if (ret == NET_XMIT_SUCCESS && !to_free && out)
		return 0;
	kfree_skb_list(to_free);
	pr_err("a packet was dropped or not dequeued\n");
	return -ENOBUFS;
}

/* Called with the root lock, which excludes other users of the qdisc. */
static int bench_steps(struct bench *b, u32 standing, u32 count)
{
	struct sk_buff *skb;
	int i, err;

	if (b->q->q.qlen)
		return -EBUSY;
	err = bench_fill(b, standing);
	for (i = 0; !err && i < BENCH_WARM_UP + count; i++)
		err = bench_step(b, i >= BENCH_WARM_UP);
	while ((skb = b->q->dequeue(b->q)))
		kfree_skb(skb);
	__skb_queue_purge(&b->originals);
	return err;
}

static int bench_device(struct bench *b, const char *name, u32 standing, u32 count)
{
	int err;

	b->dev = __dev_get_by_name(&init_net, name);
	if (!b->dev) {
		pr_err("unknown device \"%s\"\n", name);
		return -ENODEV;
	}
	b->q = rtnl_dereference(b->dev->qdisc);
	if (b->q->flags & (TCQ_F_BUILTIN | TCQ_F_NOLOCK | TCQ_F_MQROOT) ||
	    rcu_access_pointer(netdev_get_tx_queue(b->dev, 0)->qdisc) != b->q) {
		pr_err("%s is down, or its root qdisc has no lock\n", name);
		return -EOPNOTSUPP;
	}
	spin_lock_bh(qdisc_lock(b->q));
	err = bench_steps(b, standing, count);
	spin_unlock_bh(qdisc_lock(b->q));
	return err;
}

static int bench_print(char *buf, size_t size, const char *name, struct bench_line *l)
{
	if (!l->steps)
		return 0;
	return scnprintf(buf, size, "%s %u enqueue %u dequeue %u\n", name, l->len,
			 bench_median(l->enqueue, l->steps),
			 bench_median(l->dequeue, l->steps));
}

static int bench_run(struct bench *b, const char *device, u32 standing, u32 count)
{
	size_t size = sizeof(bench_result);
	u32 *costs = kvmalloc_array(count, 4 * sizeof(*costs), GFP_KERNEL);
	int err, len;

	if (!costs)
		return -ENOMEM;
	b->same.enqueue = costs;
	b->same.dequeue = costs + count;
	b->other.enqueue = costs + 2 * count;
	b->other.dequeue = costs + 3 * count;
	__skb_queue_head_init(&b->originals);

	rtnl_lock();
	err = bench_device(b, device, standing, count);
	rtnl_unlock();
	len = bench_print(bench_result, size, "same", &b->same);
	bench_print(bench_result + len, size - len, "other", &b->other);
	kvfree(costs);
	return err;
}

static int bench_set(const char *val, const struct kernel_param *kp)
{
	struct bench b = {};
	char device[IFNAMSIZ], packet[16];
	u32 standing, count;
	int i;

	bench_result[0] = '\0';
	if (sscanf(val, "%15s %15s %u %u", device, packet, &standing, &count) != 4 ||
	    standing > BENCH_STANDING_MAX || !count || count > BENCH_COUNT_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bench_packets); i++)
		if (!strcmp(packet, bench_packets[i].name))
			b.packet = &bench_packets[i];
	if (!b.packet) {
		pr_err("unknown packet \"%s\"\n", packet);
		return -EINVAL;
	}
	return bench_run(&b, device, standing, count);
}

BENCH_PARAM(bench_set, "DEVICE PACKET STANDING COUNT");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instruction counts of qdiscs");
