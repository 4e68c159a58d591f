// SPDX-License-Identifier: GPL-2.0-only
/*
 * ack_bench: instructions that TCP executes for one ACK, by congestion control
 *
 * A test module for a guest whose clock counts instructions (bench.h). It opens
 * a connection with the congestion control CONTROL, sends bursts of 10 full
 * segments through it and acknowledges them:
 *
 *	echo "CONTROL PATTERN COUNT" >/sys/module/ack_bench/parameters/run
 *	cat /sys/module/ack_bench/parameters/run
 *
 * PATTERN is a name in bench_patterns[], COUNT the number of measured bursts.
 * The result has a line for each kind of ACK:
 *
 *	burst|part|rest|dup|ece|data|marked STEPS median CYCLES mean CYCLES
 *
 * burst	acknowledges a whole burst
 * part		acknowledges two segments of a burst, but not its last two
 * rest		acknowledges the last two segments of a burst
 * dup		duplicate ACK while a burst is outstanding
 * ece		acknowledges a whole burst, and carries ECE
 * data, marked	received data segment without and with a CE mark
 *
 * The connection uses the kernel's own stack from sendmsg() to the device, which
 * frees the packets. The module plays the network and the receiver. The path has
 * a bottleneck of BENCH_RATE_MBPS with its own queue, so that every congestion
 * control finds its own operating point. Each ACK carries a hardware and a
 * software timestamp, as if the NIC had received it when it was due.
 *
 * A measurement covers tcp_v4_do_rcv() with the ACK, under the socket's lock and
 * with interrupts off. Congestion controls differ in their own callbacks, in the
 * work of the stack for them (window reduction, a default pacing rate) and in the
 * handlers of the tracepoint tcp_probe. The stack transmits no packet meanwhile:
 * a burst is written when the previous one has left and the window has room. To
 * keep TCP from treating the sender as application-limited, the module marks the
 * window as used up and keeps bytes accounted to the device.
 *
 * The congestion control "bench_none" has an empty callback. It shows the cost of
 * the stack alone.
 */

#include <linux/bvec.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/in.h>
#include <linux/inet_diag.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "bench.h"

#define BENCH_WARM_UP		96	/* bursts */
#define BENCH_PEER		0x0a000002
#define BENCH_PORT		9
#define BENCH_MSS		1448
#define BENCH_BURST		10	/* segments */
#define BENCH_BYTES		(BENCH_BURST * BENCH_MSS)
#define BENCH_PAIR		(2 * BENCH_MSS)
#define BENCH_BURSTS		16	/* outstanding, at most */
#define BENCH_RATE_MBPS		1000
#define BENCH_DELAY_NS		20000	/* round trip without queues */
#define BENCH_SPIN_NS		15000
/* Upper bound of the time to send a burst. A later ACK would mislead nicclock. */
#define BENCH_SEND_NS		15000
/* The NIC's clock is an hour ahead and 20 ppm fast. */
#define BENCH_NIC_AHEAD_NS	(3600ULL * NSEC_PER_SEC)
#define BENCH_NIC_FAST		50000

/* One burst in BENCH_MARKED is marked. */
#define BENCH_MARKED		8

enum {
	BENCH_ACK_BURST, BENCH_ACK_PART, BENCH_ACK_REST, BENCH_ACK_DUP, BENCH_ACK_ECE,
	BENCH_DATA, BENCH_DATA_MARKED,
	BENCH_ACKS
};

static const char * const bench_acks[BENCH_ACKS] = {
	"burst", "part", "rest", "dup", "ece", "data", "marked",
};

/* The device, with the papers' link speed of 10 Gbit/s */
static struct net_device *bench_dev;

/**
 * struct bench_pattern - ACKs or data of the simulated peer
 * @name: as written to the parameter
 * @bytes: acknowledged by one ACK, or carried by one segment
 * @dup: a duplicate ACK precedes each ACK
 * @marks: one in BENCH_MARKED carries ECE (an ACK) or CE (a segment)
 * @data: the peer sends data instead of ACKs
 */
struct bench_pattern {
	const char *name;
	u32 bytes;
	bool dup;
	bool marks;
	bool data;
};

static const struct bench_pattern bench_patterns[] = {
	{ .name = "burst", .bytes = BENCH_BYTES },
	{ .name = "pair", .bytes = BENCH_PAIR },
	{ .name = "dup", .bytes = BENCH_BYTES, .dup = true },
	{ .name = "ece", .bytes = BENCH_BYTES, .marks = true },
	{ .name = "data", .bytes = BENCH_MSS, .data = true },
	{ .name = "marked", .bytes = BENCH_MSS, .data = true, .marks = true },
};

/**
 * struct bench_line - costs of the ACKs of one kind
 * @steps: number of ACKs
 * @cycles: instructions of each
 */
struct bench_line {
	u32 steps;
	u32 *cycles;
};

/**
 * struct bench - one run
 * @control: name of the congestion control
 * @pattern: ACKs or data of the simulated peer
 * @sock: the connection
 * @page: payload of every burst
 * @serve_ns: start of each outstanding burst's transmission at the bottleneck
 * @free_ns: end of the last one's transmission
 * @sent: bursts sent
 * @acked: bursts acknowledged
 * @part: bytes acknowledged of the next burst
 * @lines: costs by kind of ACK
 */
struct bench {
	char control[TCP_CA_NAME_MAX];
	const struct bench_pattern *pattern;
	struct socket *sock;
	struct page *page;
	u64 serve_ns[BENCH_BURSTS];
	u64 free_ns;
	u32 sent;
	u32 acked;
	u32 part;
	struct bench_line lines[BENCH_ACKS];
};

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops bench_netdev_ops = {
	.ndo_start_xmit = bench_xmit,
};

static int bench_link(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = SPEED_10000;
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
	dev->flags |= IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_GSO_SOFTWARE;
	dev->hw_features = dev->features;
}

static void bench_none_control(struct sock *sk, u32 ack, int flag,
			       const struct rate_sample *rs)
{
}

static struct tcp_congestion_ops bench_none __read_mostly = {
	.name		= "bench_none",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_control	= bench_none_control,
};

static u64 bench_path_ns(u32 bytes)
{
	return div_u64((u64)bytes * 8000, BENCH_RATE_MBPS);
}

/* Sleep, then spin for the last BENCH_SPIN_NS: a timer interrupt is not exact enough. */
static void bench_wait_until(u64 ns)
{
	ktime_t t = ns_to_ktime(ns - BENCH_SPIN_NS);

	if (ktime_get_ns() < ns - BENCH_SPIN_NS) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_ABS);
	}
	while (ktime_get_ns() < ns)
		cpu_relax();
}

/* Write the options of a SYN-ACK or an ACK. Return: their length */
static u32 bench_put_options(const struct tcp_sock *tp, __be32 *to, bool syn)
{
	__be32 *p = to;

	if (syn) {
		*p++ = htonl(TCPOPT_MSS << 24 | TCPOLEN_MSS << 16 | (BENCH_MSS + 12));
		*p++ = htonl(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 |
			     TCPOPT_SACK_PERM << 8 | TCPOLEN_SACK_PERM);
		*p++ = htonl(TCPOPT_NOP << 24 | TCPOPT_WINDOW << 16 |
			     TCPOLEN_WINDOW << 8 | TCP_MAX_WSCALE);
	}
	*p++ = htonl(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 |
		     TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP);
	*p++ = htonl(tcp_clock_ts(tp->tcp_usec_ts));
	*p++ = htonl(tcp_clock_ts(tp->tcp_usec_ts) + tp->tsoffset);
	return (p - to) * sizeof(*p);
}

/* Allocate a packet of the peer, as a driver passes it to the IP layer. */
static struct sk_buff *bench_new_packet(struct bench *b, u32 ack, bool syn)
{
	const struct inet_sock *inet = inet_sk(b->sock->sk);
	const struct tcp_sock *tp = tcp_sk(b->sock->sk);
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + 128, GFP_KERNEL);
	struct tcphdr *th;
	struct iphdr *iph;

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	iph = skb_put_zero(skb, sizeof(*iph));
	skb_set_transport_header(skb, sizeof(*iph));
	th = skb_put_zero(skb, sizeof(*th));
	*th = (struct tcphdr) {
		.source = inet->inet_dport,
		.dest = inet->inet_sport,
		.seq = htonl(tp->rcv_nxt),
		.ack_seq = htonl(ack),
		.syn = syn,
		.ack = 1,
		.ece = syn,	/* the receiver can do ECN */
		.window = htons(U16_MAX),
	};
	th->doff = (sizeof(*th) + bench_put_options(tp, (__be32 *)(th + 1), syn)) / 4;
	skb_put(skb, th->doff * 4 - sizeof(*th));
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(skb->len),
		.ttl = 64,
		.protocol = IPPROTO_TCP,
		.saddr = inet->inet_daddr,
		.daddr = inet->inet_saddr,
	};
	ip_send_check(iph);
	skb->protocol = htons(ETH_P_IP);
	skb->dev = bench_dev;
	skb->skb_iif = skb->dev->ifindex;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return skb;
}

/* Allocate an ACK as IP passes it to TCP, with a hardware timestamp of @rx_ns. */
static struct sk_buff *bench_new_ack(struct bench *b, u32 ack, u64 rx_ns)
{
	struct sk_buff *skb = bench_new_packet(b, ack, false);

	if (!skb)
		return NULL;
	__skb_pull(skb, sizeof(struct iphdr));
	skb->tstamp = ktime_get_real();
	skb_hwtstamps(skb)->hwtstamp =
		ns_to_ktime(rx_ns + div_u64(rx_ns, BENCH_NIC_FAST) + BENCH_NIC_AHEAD_NS);
	*TCP_SKB_CB(skb) = (struct tcp_skb_cb) {
		.seq = ntohl(tcp_hdr(skb)->seq),
		.end_seq = ntohl(tcp_hdr(skb)->seq),
		.ack_seq = ack,
		.tcp_flags = TCPHDR_ACK,
		.has_rxtstamp = true,
	};
	return skb;
}

static noinline u32 bench_receive(struct sock *sk, struct sk_buff *skb)
{
	return BENCH_CYCLES(tcp_v4_do_rcv(sk, skb));
}

/* Pass @skb to TCP. Record the cost in @line, unless it is NULL. */
static void bench_arrive(struct sock *sk, struct sk_buff *skb, struct bench_line *line)
{
	unsigned long flags;
	u32 cycles;

	lock_sock(sk);
	tcp_sk(sk)->is_cwnd_limited = true;
	local_irq_save(flags);
	cycles = bench_receive(sk, skb);
	local_irq_restore(flags);
	release_sock(sk);
	if (line)
		line->cycles[line->steps++] = cycles;
}

/* Deliver an ACK up to @ack. */
static int bench_ack(struct bench *b, u32 ack, u64 rx_ns, bool ece, struct bench_line *line)
{
	struct sk_buff *skb = bench_new_ack(b, ack, rx_ns);
	struct sock *sk = b->sock->sk;

	if (!skb)
		return -ENOMEM;
	if (ece) {
		tcp_hdr(skb)->ece = 1;
		TCP_SKB_CB(skb)->tcp_flags |= TCPHDR_ECE;
	}
	bench_arrive(sk, skb, line);
	if (tcp_sk(sk)->snd_una != ack) {
		pr_err("TCP did not accept an ACK\n");
		return -EPROTO;
	}
	return 0;
}

/* Deliver the next data segment and read it. */
static int bench_data(struct bench *b, bool marked, struct bench_line *line)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_TRUNC };
	struct sock *sk = b->sock->sk;
	struct kvec none = {};
	struct sk_buff *skb;

	skb = bench_new_ack(b, tcp_sk(sk)->snd_una, ktime_get_ns());
	if (!skb)
		return -ENOMEM;
	skb_add_rx_frag(skb, 0, b->page, 0, BENCH_MSS, BENCH_MSS);
	get_page(b->page);
	TCP_SKB_CB(skb)->end_seq += BENCH_MSS;
	TCP_SKB_CB(skb)->ip_dsfield = marked ? INET_ECN_CE : INET_ECN_ECT_0;
	bench_arrive(sk, skb, line);
	if (kernel_recvmsg(b->sock, &msg, &none, 0, BENCH_MSS, msg.msg_flags) == BENCH_MSS)
		return 0;
	pr_err("TCP did not accept a segment\n");
	return -EPROTO;
}

/* Deliver data segments at the rate of the path. @count is in segments here. */
static int bench_segments(struct bench *b, u32 count)
{
	u64 due = ktime_get_ns();
	u32 i;
	int err = 0;

	for (i = 0; !err && i < BENCH_WARM_UP + count; i++) {
		bool marked = b->pattern->marks && i % BENCH_MARKED == 0;
		struct bench_line *line = &b->lines[marked ? BENCH_DATA_MARKED : BENCH_DATA];

		due += bench_path_ns(BENCH_MSS);
		bench_wait_until(due);
		err = bench_data(b, marked, i >= BENCH_WARM_UP ? line : NULL);
	}
	return err;
}

/* Time at which the next ACK reaches the NIC */
static u64 bench_due(const struct bench *b)
{
	return b->serve_ns[b->acked % BENCH_BURSTS] + BENCH_DELAY_NS +
	       bench_path_ns(b->part + b->pattern->bytes);
}

static int bench_next_ack(struct bench *b, bool record)
{
	u32 ack = tcp_sk(b->sock->sk)->snd_una + b->pattern->bytes;
	u64 rx_ns = bench_due(b);
	int kind = BENCH_ACK_BURST;
	bool ece = false;

	b->part += b->pattern->bytes;
	if (b->part < BENCH_BYTES) {
		kind = BENCH_ACK_PART;
	} else {
		if (b->pattern->bytes < BENCH_BYTES)
			kind = BENCH_ACK_REST;
		b->part = 0;
		ece = b->pattern->marks && b->acked % BENCH_MARKED == 0;
		if (ece)
			kind = BENCH_ACK_ECE;
		b->acked++;
	}
	return bench_ack(b, ack, rx_ns, ece, record ? &b->lines[kind] : NULL);
}

/* Queue the burst that was just written at the bottleneck. */
static int bench_forward(struct bench *b)
{
	struct sock *sk = b->sock->sk;
	struct sk_buff *skb;
	u64 *serve_ns = &b->serve_ns[b->sent++ % BENCH_BURSTS];
	int err = 0;

	lock_sock(sk);
	skb = tcp_rtx_queue_tail(sk);
	if (skb && tcp_skb_pcount(skb) == BENCH_BURST) {
		*serve_ns = max(b->free_ns, skb->skb_mstamp_ns);
		b->free_ns = *serve_ns + bench_path_ns(BENCH_BYTES);
	} else {
		pr_err("%s did not send a burst as one packet\n", b->control);
		err = -EPROTO;
	}
	release_sock(sk);
	return err;
}

static int bench_send(struct bench *b)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_SPLICE_PAGES };
	struct bio_vec bv;
	int ret;

	bvec_set_page(&bv, b->page, BENCH_BYTES, 0);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bv, 1, BENCH_BYTES);
	ret = sock_sendmsg(b->sock, &msg);
	if (ret != BENCH_BYTES) {
		pr_err("sock_sendmsg() returned %d, not %d\n", ret, BENCH_BYTES);
		return ret < 0 ? ret : -ENOBUFS;
	}
	return bench_forward(b);
}

/*
 * Is there room for a burst that TCP sends at once and as one packet? TCP defers
 * a packet if less than a third of the window is free, and splits one that is
 * larger than half of the window.
 */
static bool bench_room(const struct bench *b)
{
	const struct tcp_sock *tp = tcp_sk(b->sock->sk);
	u32 window = tcp_snd_cwnd(tp), out = tcp_packets_in_flight(tp);

	return b->sent - b->acked < BENCH_BURSTS && out <= window / 3 * 2 &&
	       out + 2 * BENCH_BURST <= window;
}

/* Deliver ACKs until there is room for a burst and pacing allows it. */
static int bench_wait_turn(struct bench *b, bool record)
{
	u64 turn, due;
	int err;

	for (;;) {
		turn = bench_room(b) ? tcp_sk(b->sock->sk)->tcp_wstamp_ns : U64_MAX;
		due = b->sent == b->acked ? U64_MAX : bench_due(b);
		if (turn < due && due - turn > BENCH_SEND_NS)
			break;
		if (due == U64_MAX) {
			pr_err("%s leaves no window for a burst\n", b->control);
			return -ENOBUFS;
		}
		bench_wait_until(due);
		err = bench_next_ack(b, record);
		if (err)
			return err;
	}
	bench_wait_until(turn);
	return 0;
}

static int bench_bursts(struct bench *b, u32 count)
{
	const struct tcp_sock *tp = tcp_sk(b->sock->sk);
	u32 i;
	int err = 0;

	for (i = 0; !err && i < BENCH_WARM_UP + count; i++) {
		bool record = i >= BENCH_WARM_UP;

		err = bench_wait_turn(b, record && !b->pattern->dup);
		if (!err)
			err = bench_send(b);
		if (!err && b->pattern->dup)
			err = bench_ack(b, tp->snd_una, ktime_get_ns(), false,
					record ? &b->lines[BENCH_ACK_DUP] : NULL);
	}
	return err;
}

/* Check that the congestion control is unchanged, and BBR past its start-up phases. */
static int bench_check(struct bench *b)
{
	const struct tcp_congestion_ops *ops = inet_csk(b->sock->sk)->icsk_ca_ops;
	union tcp_cc_info info;
	int attr;

	if (strcmp(ops->name, b->control)) {
		pr_err("congestion control is %s, not %s\n", ops->name, b->control);
		return -EPROTO;
	}
	if (strcmp(ops->name, "bbr"))
		return 0;
	ops->get_info(b->sock->sk, 1 << (INET_DIAG_BBRINFO - 1), &attr, &info);
	if (info.bbr.bbr_cwnd_gain == 2 << 8)
		return 0;
	pr_err("bbr is not in PROBE_BW: cwnd_gain %u/256\n", info.bbr.bbr_cwnd_gain);
	return -EPROTO;
}

/* Deliver the SYN-ACK. */
static int bench_establish(struct bench *b)
{
	struct sock *sk = b->sock->sk;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = bench_new_packet(b, tp->snd_nxt, true);

	if (!skb)
		return -ENOMEM;
	local_bh_disable();
	netif_receive_skb(skb);
	local_bh_enable();
	if (sk->sk_state != TCP_ESTABLISHED || tp->mss_cache != BENCH_MSS) {
		pr_err("no connection with segments of %u bytes\n", BENCH_MSS);
		return -EPROTO;
	}
	/* an ACK with a scaled window */
	return bench_ack(b, tp->snd_una, ktime_get_ns(), false, NULL);
}

static int bench_connect(struct bench *b)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(BENCH_PEER),
		.sin_port = htons(BENCH_PORT),
	};
	struct socket *sock = b->sock;
	int err;

	err = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION,
				    KERNEL_SOCKPTR(b->control), strlen(b->control));
	if (err) {
		pr_err("unknown congestion control \"%s\"\n", b->control);
		return err;
	}
	sock_no_linger(sock->sk);
	sock->sk->sk_userlocks |= SOCK_SNDBUF_LOCK;
	WRITE_ONCE(sock->sk->sk_sndbuf, 4 * BENCH_BURSTS * BENCH_BYTES);
	err = kernel_connect(sock, (struct sockaddr *)&to, sizeof(to), O_NONBLOCK);
	if (err != -EINPROGRESS) {
		pr_err("cannot connect to %pI4: %d\n", &to.sin_addr, err);
		return err ?: -EISCONN;
	}
	return bench_establish(b);
}

/*
 * Measure with a window for all outstanding bursts, above the slow start threshold. A
 * congestion control without pacing gets 98 % of the path's rate.
 */
static int bench_measure(struct bench *b, u32 count)
{
	struct sock *sk = b->sock->sk;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = (BENCH_BURSTS + 1) * BENCH_BURST;
	int err;

	lock_sock(sk);
	tp->snd_ssthresh = window / 2;
	tp->snd_cwnd_clamp = window;
	tcp_snd_cwnd_set(tp, window);
	if (cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED) == SK_PACING_NONE) {
		sk->sk_max_pacing_rate = BENCH_RATE_MBPS * 125000ULL / 50 * 49;
		sk->sk_pacing_rate = sk->sk_max_pacing_rate;
	}
	refcount_add(SKB_TRUESIZE(1), &sk->sk_wmem_alloc);
	release_sock(sk);
	err = (b->pattern->data ? bench_segments(b, count) : bench_bursts(b, count)) ?:
	      bench_check(b);
	WARN_ON(refcount_sub_and_test(SKB_TRUESIZE(1), &sk->sk_wmem_alloc));
	return err;
}

static int bench_connection(struct bench *b, u32 count)
{
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &b->sock);
	if (err)
		return err;
	b->page = alloc_pages(GFP_KERNEL | __GFP_COMP | __GFP_ZERO, get_order(BENCH_BYTES));
	if (b->page) {
		err = bench_connect(b) ?: bench_measure(b, count);
		put_page(b->page);
	} else {
		err = -ENOMEM;
	}
	sock_release(b->sock);
	return err;
}

static void bench_print(struct bench *b)
{
	u32 i, j, len = 0;

	for (i = 0; i < BENCH_ACKS; i++) {
		struct bench_line *l = &b->lines[i];
		u64 sum = 0;

		if (!l->steps)
			continue;
		for (j = 0; j < l->steps; j++)
			sum += l->cycles[j];
		len += scnprintf(bench_result + len, sizeof(bench_result) - len,
				 "%s %u median %u mean %llu\n", bench_acks[i], l->steps,
				 bench_median(l->cycles, l->steps),
				 div_u64(sum, l->steps));
	}
}

static int bench_run(struct bench *b, u32 count)
{
	/* includes the ACKs of bursts that are outstanding at the end of the warm-up */
	u32 room = (count + BENCH_BURSTS) * BENCH_BYTES / b->pattern->bytes;
	u32 *cycles = kvmalloc_array(room, BENCH_ACKS * sizeof(*cycles), GFP_KERNEL);
	int i, err;

	if (!cycles)
		return -ENOMEM;
	for (i = 0; i < BENCH_ACKS; i++)
		b->lines[i].cycles = cycles + i * room;
	err = bench_connection(b, count);
	if (!err)
		bench_print(b);
	kvfree(cycles);
	return err;
}

static int bench_set(const char *val, const struct kernel_param *kp)
{
	struct bench b = {};
	char pattern[16];
	u32 count;
	int i;

	bench_result[0] = '\0';
	if (sscanf(val, "%15s %15s %u", b.control, pattern, &count) != 3 ||
	    !count || count > BENCH_COUNT_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bench_patterns); i++)
		if (!strcmp(pattern, bench_patterns[i].name))
			b.pattern = &bench_patterns[i];
	if (!b.pattern) {
		pr_err("unknown pattern \"%s\"\n", pattern);
		return -EINVAL;
	}
	return bench_run(&b, count);
}

BENCH_PARAM(bench_set, "CONTROL PATTERN COUNT");

static int __init bench_init(void)
{
	int err;

	bench_dev = alloc_netdev(0, "bench0", NET_NAME_USER, bench_setup);
	if (!bench_dev)
		return -ENOMEM;
	err = register_netdev(bench_dev);
	if (err)
		goto err_free;
	err = tcp_register_congestion_control(&bench_none);
	if (!err)
		return 0;
	unregister_netdev(bench_dev);
err_free:
	free_netdev(bench_dev);
	return err;
}

static void __exit bench_exit(void)
{
	tcp_unregister_congestion_control(&bench_none);
	unregister_netdev(bench_dev);
	free_netdev(bench_dev);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instruction counts of congestion controls");
