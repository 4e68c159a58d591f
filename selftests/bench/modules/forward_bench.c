// SPDX-License-Identifier: GPL-2.0-only
/*
 * forward_bench: instructions that a router executes to forward one packet
 *
 * A test module for a guest whose clock counts instructions (bench.h). It creates the
 * Ethernet devices bench0, where packets arrive, and bench1 to bench4. Routes, filters and
 * sysctls are set up with ip(8) and tc(8), so that each way of forwarding is measured alike:
 *
 *	echo "PACKET COUNT" >/sys/module/forward_bench/parameters/run
 *	cat /sys/module/forward_bench/parameters/run
 *
 * PACKET is a name in bench_packets[]. The packets belong to BENCH_FLOWS flows in turn. The result
 * is a line
 *
 *	LENGTH median MEDIAN mean MEAN used DEVICES
 *
 * A measurement begins with netif_receive_skb() and ends where the egress driver's transmit
 * function begins; GRO and drivers are not in it. DEVICES is the number of egress devices that have
 * sent packets. The mean includes the samples that act_lb takes now and then, which the median
 * excludes.
 */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "bench.h"

#define BENCH_WARM_UP		512
#define BENCH_DEVICES		5
#define BENCH_FLOWS		256
#define BENCH_PORT		9

/**
 * struct bench_packet - a kind of packet
 * @name: as written to the parameter
 * @len: bytes of the frame, including the Ethernet header
 * @ipv6: IPv6, else IPv4
 * @hash: the NIC supplies a hash of addresses and ports
 */
struct bench_packet {
	const char *name;
	u16 len;
	bool ipv6;
	bool hash;
};

static const struct bench_packet bench_packets[] = {
	{ .name = "udp4", .len = 1514 },
	{ .name = "udp6", .len = 1514, .ipv6 = true },
	{ .name = "udp4-hashed", .len = 1514, .hash = true },
	{ .name = "udp6-hashed", .len = 1514, .ipv6 = true, .hash = true },
};

static const u8 bench_neighbour[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 0x01 };

static struct net_device *bench_devs[BENCH_DEVICES];

/* The last packet: time of its transmission, length, and device */
static u64 bench_sent_at;
static u32 bench_sent_len;
static u32 bench_sent_dev;
/* Packets of the measurement, and not others that the kernel sends, by device */
static u32 bench_sent_by[BENCH_DEVICES];

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	u64 now = get_cycles();

	/* adverts of act_lb leave by bench0 */
	if (dev != bench_devs[0]) {
		bench_sent_at = now;
		bench_sent_len = skb->len;
		bench_sent_dev = dev->dev_port;
	}
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops bench_netdev_ops = {
	.ndo_start_xmit = bench_xmit,
};

static int bench_link(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_100000;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops bench_ethtool_ops = {
	.get_link_ksettings = bench_link,
};

static void bench_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &bench_netdev_ops;
	dev->ethtool_ops = &bench_ethtool_ops;
}

/* ---- packets */

static void bench_put_ip4(struct sk_buff *skb, u32 flow)
{
	struct iphdr *iph = skb_put(skb, sizeof(*iph));

	*iph = (struct iphdr) {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.tot_len = htons(skb_tailroom(skb) + sizeof(*iph)),
		.saddr = htonl(0x0a000002 + flow / 8 % 16), .daddr = htonl(0x0a630001 + flow % 8),
	};
	ip_send_check(iph);
}

static void bench_put_ip6(struct sk_buff *skb, u32 flow)
{
	struct ipv6hdr *hdr = skb_put(skb, sizeof(*hdr));

	*hdr = (struct ipv6hdr) {
		.version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP,
		.payload_len = htons(skb_tailroom(skb)),
		.saddr.s6_addr32 = { htonl(0xfd000000), 0, 0, htonl(2 + flow / 8 % 16) },
		.daddr.s6_addr32 = { htonl(0xfd630000), 0, 0, htonl(1 + flow % 8) },
	};
}

/* Allocate a packet as a driver without GRO hands it to the stack. */
static struct sk_buff *bench_new_packet(const struct bench_packet *p, u32 number)
{
	u32 flow = number % BENCH_FLOWS;
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + p->len, GFP_ATOMIC);
	struct udphdr *udp;

	if (!skb)
		return NULL;
	/* what alloc_skb() has rounded up belongs to the headroom */
	skb_reserve(skb, skb_tailroom(skb) - p->len);
	ether_addr_copy(skb_put(skb, ETH_ALEN), bench_devs[0]->dev_addr);
	/* act_lb sends adverts to this address */
	ether_addr_copy(skb_put(skb, ETH_ALEN), bench_neighbour);
	*(__be16 *)skb_put(skb, 2) = htons(p->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	if (p->ipv6)
		bench_put_ip6(skb, flow);
	else
		bench_put_ip4(skb, flow);
	udp = skb_put(skb, sizeof(*udp));
	*udp = (struct udphdr) {
		.source = htons(1024 + flow), .dest = htons(BENCH_PORT),
		.len = htons(skb_tailroom(skb) + sizeof(*udp)),
	};
	skb_put_zero(skb, skb_tailroom(skb));
	skb->protocol = eth_type_trans(skb, bench_devs[0]);
	if (p->hash)
		skb_set_hash(skb, hash_32(flow, 32), PKT_HASH_TYPE_L4);
	return skb;
}

/* ---- measurement */

/* Return: instructions from arrival to transmission; 0: the packet was not sent */
static noinline u32 bench_forward(struct sk_buff *skb)
{
	u64 start, call;

	bench_sent_at = 0;
	start = get_cycles();
	call = get_cycles();
	netif_receive_skb(skb);
	return bench_sent_at ? bench_sent_at - call - (call - start) : 0;
}

static int bench_step(const struct bench_packet *p, u32 number, u32 *cost)
{
	struct sk_buff *skb = bench_new_packet(p, number);
	unsigned long flags;

	if (!skb)
		return -ENOMEM;
	local_bh_disable();
	local_irq_save(flags);
	*cost = bench_forward(skb);
	local_irq_restore(flags);
	local_bh_enable();
	bench_sent_by[bench_sent_dev]++;
	if (*cost && bench_sent_len == p->len)
		return 0;
	pr_err("packet %u was not forwarded\n", number);
	return -EIO;
}

static int bench_run(const struct bench_packet *p, u32 count)
{
	u32 *costs = kvmalloc_array(count, sizeof(*costs), GFP_KERNEL);
	u32 i, used = 0, discard;
	u64 sum = 0;
	int err = 0;

	if (!costs)
		return -ENOMEM;
	memset(bench_sent_by, 0, sizeof(bench_sent_by));
	for (i = 0; !err && i < BENCH_WARM_UP; i++)
		err = bench_step(p, i, &discard);
	for (i = 0; !err && i < count; i++) {
		err = bench_step(p, i, &costs[i]);
		sum += costs[i];
		/* bounds the time without a pass of the scheduler: softirqs of timers run */
		cond_resched();
	}
	for (i = 0; i < BENCH_DEVICES; i++)
		used += bench_sent_by[i] > 0;
	if (!err)
		scnprintf(bench_result, sizeof(bench_result), "%u median %u mean %llu used %u\n",
			  p->len, bench_median(costs, count), div_u64(sum, count), used);
	kvfree(costs);
	return err;
}

static int bench_set(const char *val, const struct kernel_param *kp)
{
	char packet[16];
	u32 count;
	int i;

	bench_result[0] = '\0';
	if (sscanf(val, "%15s %u", packet, &count) != 2 || !count || count > BENCH_COUNT_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bench_packets); i++)
		if (!strcmp(packet, bench_packets[i].name))
			return bench_run(&bench_packets[i], count);
	pr_err("unknown packet \"%s\"\n", packet);
	return -EINVAL;
}

BENCH_PARAM(bench_set, "PACKET COUNT");

/* ---- devices */

static void bench_delete(int count)
{
	while (count--) {
		unregister_netdev(bench_devs[count]);
		free_netdev(bench_devs[count]);
	}
}

static int bench_create(int number)
{
	struct net_device *dev = alloc_netdev(0, "bench%d", NET_NAME_ENUM, bench_setup);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->dev_port = number;
	err = register_netdev(dev);
	if (err)
		free_netdev(dev);
	else
		bench_devs[number] = dev;
	return err;
}

static int __init bench_init(void)
{
	int i, err;

	for (i = 0; i < BENCH_DEVICES; i++) {
		err = bench_create(i);
		if (err) {
			bench_delete(i);
			return err;
		}
	}
	return 0;
}

static void __exit bench_exit(void)
{
	bench_delete(BENCH_DEVICES);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instruction counts of forwarding");
