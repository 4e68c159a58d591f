// SPDX-License-Identifier: GPL-2.0-only
/*
 * tunnel_bench: instructions that two leaves execute to carry a packet by a tunnel
 *
 * A test module for a guest whose clock counts instructions (bench.h). It creates the Ethernet
 * devices bench0 to bench9; the user moves bench5 to bench9 to another network namespace:
 *
 *	namespace 1: bench0 -> route, tunnel -> bench1 to bench4
 *	namespace 2: bench5 to bench8 -> tunnel, route -> bench9
 *
 * Packets that bench1 to bench4 send arrive at bench5 to bench8, and the other way round, all of
 * them after the sending function has returned. Routes and tunnels are set up with ip(8):
 *
 *	echo "PACKET COUNT" >/sys/module/tunnel_bench/parameters/run
 *	cat /sys/module/tunnel_bench/parameters/run
 *
 * PACKET is udp4 or udp6, of 256 flows in turn. The result is a line
 *
 *	send MEDIAN MEAN receive MEDIAN MEAN used DEVICES
 *
 * "send" begins with netif_receive_skb() and ends where the last of bench1 to bench4 begins to
 * transmit. "receive" begins with netif_receive_skb() and ends where bench9 begins to transmit; it
 * includes the softirq in which the tunnel gives packets to the stack. DEVICES is the number of
 * devices among bench1 to bench4 that have sent packets.
 */

#include <linux/etherdevice.h>
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

#define BENCH_WARM_UP		1024
#define BENCH_PATHS		4
#define BENCH_LAST		(2 * BENCH_PATHS + 1)
#define BENCH_DEVICES		(BENCH_LAST + 1)
#define BENCH_FLOWS		256
#define BENCH_PORT		9
/* fits the MTU of vxlan, and closfab's, over IPv6 */
#define BENCH_LEN		1400

static struct net_device *bench_devs[BENCH_DEVICES];
/* Packets from bench1 to bench4, and from bench5 to bench8 */
static struct sk_buff_head bench_forth, bench_back;
static u64 bench_sent_at;
static u32 bench_sent_by[BENCH_DEVICES];

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	u32 port = dev->dev_port;

	/* answers of a tunnel do not end the measurement of its data */
	if (port <= BENCH_PATHS || port == BENCH_LAST)
		bench_sent_at = get_cycles();
	bench_sent_by[port]++;
	if (!port || port == BENCH_LAST) {
		dev_kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	skb->dev = bench_devs[port <= BENCH_PATHS ? port + BENCH_PATHS : port - BENCH_PATHS];
	__skb_queue_tail(port <= BENCH_PATHS ? &bench_forth : &bench_back, skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops bench_netdev_ops = {
	.ndo_start_xmit = bench_xmit,
};

static void bench_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &bench_netdev_ops;
	/* as NICs have: tunnels leave checksums to them */
	dev->features |= NETIF_F_HW_CSUM;
	dev->hw_features |= NETIF_F_HW_CSUM;
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
static struct sk_buff *bench_new_packet(bool ipv6, u32 number)
{
	u32 flow = number % BENCH_FLOWS, headroom = NET_SKB_PAD + LL_MAX_HEADER;
	struct sk_buff *skb = alloc_skb(headroom + ETH_HLEN + BENCH_LEN, GFP_ATOMIC);
	struct udphdr *udp;

	if (!skb)
		return NULL;
	skb_reserve(skb, skb_tailroom(skb) - ETH_HLEN - BENCH_LEN);
	ether_addr_copy(skb_put(skb, ETH_ALEN), bench_devs[0]->dev_addr);
	eth_zero_addr(skb_put(skb, ETH_ALEN));
	*(__be16 *)skb_put(skb, 2) = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	if (ipv6)
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
	return skb;
}

/* ---- measurement */

/* Return: instructions from the first arrival to the last transmission; 0: no transmission */
static noinline u32 bench_receive(struct sk_buff_head *packets)
{
	struct sk_buff *skb;
	u64 start, call;

	bench_sent_at = 0;
	local_bh_disable();
	start = get_cycles();
	call = get_cycles();
	while ((skb = __skb_dequeue(packets)))
		netif_receive_skb(skb);
	/* softirqs run */
	local_bh_enable();
	return bench_sent_at ? bench_sent_at - call - (call - start) : 0;
}

/* Let frames arrive at the peer. */
static void bench_wire(struct sk_buff_head *packets)
{
	struct sk_buff *skb;

	skb_queue_walk(packets, skb) {
		ether_addr_copy(((struct ethhdr *)skb->data)->h_dest, skb->dev->dev_addr);
		skb->protocol = eth_type_trans(skb, skb->dev);
		/* the NIC has computed the checksum, and the peer's has checked it */
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 1;
		skb->encapsulation = 0;
		skb_clear_hash(skb);
	}
}

static int bench_step(bool ipv6, u32 number, u32 *send, u32 *receive)
{
	struct sk_buff *skb = bench_new_packet(ipv6, number);
	struct sk_buff_head packets;

	if (!skb)
		return -ENOMEM;
	__skb_queue_head_init(&packets);
	__skb_queue_tail(&packets, skb);
	*send = bench_receive(&packets);
	skb_queue_splice_init(&bench_forth, &packets);
	bench_wire(&packets);
	*receive = bench_receive(&packets);
	skb_queue_splice_init(&bench_back, &packets);
	bench_wire(&packets);
	bench_receive(&packets);
	if (*send && *receive)
		return 0;
	pr_err("packet %u was not %s\n", number, *send ? "received" : "sent");
	return -EIO;
}

static int bench_run(bool ipv6, u32 count)
{
	u32 *costs = kvmalloc_array(2 * count, sizeof(*costs), GFP_KERNEL);
	u32 i, used = 0, discard[2];
	u64 sum[2] = { };
	int err = 0;

	if (!costs)
		return -ENOMEM;
	memset(bench_sent_by, 0, sizeof(bench_sent_by));
	for (i = 0; !err && i < BENCH_WARM_UP; i++)
		err = bench_step(ipv6, i, &discard[0], &discard[1]);
	for (i = 0; !err && i < count; i++) {
		err = bench_step(ipv6, i, &costs[i], &costs[count + i]);
		sum[0] += costs[i];
		sum[1] += costs[count + i];
		cond_resched();
	}
	for (i = 1; i <= BENCH_PATHS; i++)
		used += bench_sent_by[i] > 0;
	if (!err)
		scnprintf(bench_result, sizeof(bench_result),
			  "send %u %llu receive %u %llu used %u\n", bench_median(costs, count),
			  div_u64(sum[0], count), bench_median(costs + count, count),
			  div_u64(sum[1], count), used);
	kvfree(costs);
	return err;
}

static int bench_set(const char *val, const struct kernel_param *kp)
{
	char packet[16];
	u32 count;

	bench_result[0] = '\0';
	if (sscanf(val, "%15s %u", packet, &count) != 2 || !count || count > BENCH_COUNT_MAX)
		return -EINVAL;
	if (strcmp(packet, "udp4") && strcmp(packet, "udp6"))
		return -EINVAL;
	return bench_run(!strcmp(packet, "udp6"), count);
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

	__skb_queue_head_init(&bench_forth);
	__skb_queue_head_init(&bench_back);
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
	__skb_queue_purge(&bench_forth);
	__skb_queue_purge(&bench_back);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instruction counts of tunnels");
