// SPDX-License-Identifier: GPL-2.0-only
/*
 * enqueue() and dequeue() of sch_pcrp: see pcrp_main.c
 *
 * Accounting: a parent adds one packet for each that enqueue() accepts, and subtracts
 * one for each that dequeue() returns. dequeue() also returns REQUESTs and PROBEs, which
 * were not enqueued, so it first adds them to the parents' backlog.
 */

#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <closnet/qdisc.h>
#include <closnet/skb_ip.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "pcrp.h"
#include "pcrp_ctl.h"
#include "pcrp_parse.h"

/* Control packets that a call of dequeue() may try to build before it returns one */
#define PCRP_TRIES		8

/* An Ethernet header with the largest number of VLAN tags */
#define PCRP_L2_MAX		(ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN)

/**
 * struct pcrp_skb_cb - control block of a queued packet
 * @queued_ns: when it was queued; 0: unknown, as its flow did not wait for GRANTs then
 * @bytes: bytes that are new to its flow
 * @l3_off: offset of the IP header
 * @ip_hlen: as in struct pcrp_pkt
 * @dsfield: as in struct pcrp_pkt
 */
struct pcrp_skb_cb {
	u64 queued_ns;
	u32 bytes;
	u16 l3_off;
	u8 ip_hlen;
	u8 dsfield;
};

static struct pcrp_skb_cb *pcrp_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct pcrp_skb_cb));
	return (struct pcrp_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* ---- a flow's FIFO ---- */

static inline void pcrp_fifo_push(struct pcrp_entry *e, struct sk_buff *skb)
{
	if (e->head)
		e->tail->next = skb;
	else
		e->head = skb;
	e->tail = skb;
	skb->next = NULL;
}

/* Insert a retransmission behind earlier ones and before new data. */
static void pcrp_fifo_push_retrans(struct pcrp_entry *e, struct sk_buff *skb)
{
	struct sk_buff **link = e->retrans_tail ? &e->retrans_tail->next : &e->head;

	skb->next = *link;
	*link = skb;
	if (!skb->next)
		e->tail = skb;
	e->retrans_tail = skb;
}

static struct sk_buff *pcrp_fifo_pop(struct pcrp_entry *e)
{
	struct sk_buff *skb = e->head;

	e->head = skb->next;
	if (e->retrans_tail == skb)
		e->retrans_tail = NULL;
	skb_mark_not_on_list(skb);
	return skb;
}

/* ---- packets ---- */

/* Offset and protocol of a packet's L3 header */
struct pcrp_l3 {
	u32 off;
	u16 proto;
	bool multicast;
};

/* Find the L3 header if the L2 header lies in fragments, or is missing. */
static noinline struct pcrp_l3 pcrp_find_l3(const struct sk_buff *skb, u32 l2_len)
{
	struct pcrp_l3 l3;
	u8 to = 0;

	l3.multicast = l2_len && (skb_copy_bits(skb, 0, &to, sizeof(to)) || to & 1);
	l3.proto = closnet_skb_l3(skb, l2_len, &l3.off);
	return l3;
}

static __always_inline void pcrp_classify(const struct pcrp_sched_data *q,
					  const struct sk_buff *skb, struct pcrp_pkt *pkt)
{
	struct pcrp_skb_cb *cb = pcrp_skb_cb(skb);
	struct pcrp_l3 l3 = { .off = ETH_HLEN };

	if (likely(q->l2_len && skb_headlen(skb) >= PCRP_L2_MAX)) {
		closnet_find_l3(skb->data, PCRP_L2_MAX, &l3.off, &l3.proto);
		l3.multicast = skb->data[0] & 1;
	} else {
		l3 = pcrp_find_l3(skb, q->l2_len);
	}
	pcrp_parse(skb, l3.off, l3.proto, pkt);
	cb->l3_off = l3.off;
	cb->ip_hlen = pkt->ip_hlen;
	cb->dsfield = pkt->dsfield;
	if (unlikely(l3.multicast) && pkt->kind >= PCRP_KIND_SIGNAL)
		pkt->kind = PCRP_KIND_REST;	/* a subnet's broadcast address */
}

/* Does a frame have the device's own source address? */
static inline bool pcrp_is_own_l2(const struct sk_buff *skb, const struct net_device *dev)
{
	struct ethhdr buffer __uninitialized;
	const struct ethhdr *eth;

	eth = skb_header_pointer(skb, 0, sizeof(buffer), &buffer);
	return eth && ether_addr_equal(eth->h_source, dev->dev_addr);
}

/*
 * Do GRANTs for a packet from @src come back to this device? Packets that a router
 * forwards, or a bridge or macvlan passes on, have another source address in L3 or L2.
 */
static inline bool pcrp_is_own(struct pcrp_sched_data *q, const struct sk_buff *skb,
			       const struct in6_addr *src, u32 src_hash)
{
	const struct net_device *dev = qdisc_dev(q->user.sch);

	return (!q->l2_len || pcrp_is_own_l2(skb, dev)) &&
	       pcrp_locals_have(&q->locals, dev, src, src_hash);
}

static bool pcrp_pkt_is_own(struct pcrp_sched_data *q, const struct sk_buff *skb,
			    const struct pcrp_pkt *pkt)
{
	const struct in6_addr *src = &pkt->key.src;

	return pcrp_is_own(q, skb, src, pcrp_addr_hash(src, q->flows.seed));
}

/* Set DSCP and skb->priority. Without memory for a writable header, the DSCP stays. */
static void pcrp_mark(const struct pcrp_sched_data *q, struct sk_buff *skb, u32 prio)
{
	const struct pcrp_skb_cb *cb = pcrp_skb_cb(skb);
	u8 dscp = q->cfg.map[prio];

	skb->priority = TC_PCRP_PRIOS - 1 - prio;
	if (dscp == PCRP_MAP_LEAVE || !cb->ip_hlen || cb->dsfield >> 2 == dscp ||
	    skb_ensure_writable(skb, cb->l3_off + cb->ip_hlen))
		return;
	if (cb->ip_hlen == CLOSNET_IPV4_HLEN)
		ipv4_change_dsfield((struct iphdr *)(skb->data + cb->l3_off),
				    INET_ECN_MASK, dscp << 2);
	else
		ipv6_change_dsfield((struct ipv6hdr *)(skb->data + cb->l3_off),
				    INET_ECN_MASK, dscp << 2);
}

/* Count the bytes that a flow's TCP socket holds beyond those queued here. */
static inline u32 pcrp_unsent(const struct pcrp_entry *e, const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!sk || e->key.proto != IPPROTO_TCP || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return 0;
	return pcrp_seq_unsent(&e->seq, READ_ONCE(tcp_sk(sk)->write_seq),
			       READ_ONCE(tcp_sk(sk)->snd_nxt),
			       READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN);
}

/* ---- enqueue ---- */

static int pcrp_queued(struct Qdisc *sch, const struct sk_buff *skb)
{
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

static int pcrp_drop(struct Qdisc *sch, struct sk_buff *skb, struct sk_buff **to_free,
		     u64 *counter)
{
	closnet_add(counter, 1);
	return qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_OVERLIMIT);
}

/*
 * A FIN or RST has the priority of its flow's last chain. With a higher priority it would
 * overtake data in the network, and a receiver drops data that follows a RST.
 */
static u8 pcrp_signal_prio(const struct pcrp_entry *e, const struct pcrp_pkt *pkt)
{
	return e && !pkt->syn ? e->tx.prio : 0;
}

/* Top queue and data have a limit each, so neither can displace the other. */
static int pcrp_enqueue_top(struct Qdisc *sch, struct sk_buff *skb, const struct pcrp_pkt *pkt,
			    u8 prio, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (unlikely(q->top.qlen >= q->cfg.options.limit))
		return pcrp_drop(sch, skb, to_free, &q->dropped_top_packets);
	if (prio != PCRP_PRIO_UNGATED && pkt->ip_hlen && pcrp_pkt_is_own(q, skb, pkt))
		pcrp_mark(q, skb, prio);
	__qdisc_enqueue_tail(skb, &q->top);
	return pcrp_queued(sch, skb);
}

/*
 * Only the module may send control packets for the host, and its GRANTs have neither socket nor
 * skb_iif. Drop those of a user, who may bind a socket to the IPv6 address of another host, and
 * others with the host's address, which may come from a container.
 */
static int pcrp_enqueue_control(struct Qdisc *sch, struct sk_buff *skb,
				const struct pcrp_pkt *pkt, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (unlikely(closnet_is_users(skb) ||
		     ((skb->sk || skb->skb_iif) && pcrp_pkt_is_own(q, skb, pkt))))
		return pcrp_drop(sch, skb, to_free, &q->dropped_forged_packets);
	return pcrp_enqueue_top(sch, skb, pkt, 0, to_free);
}

/*
 * Is there room for another data packet of a flow? Dynamic thresholds (Choudhury and
 * Hahne, 1998): a flow may have as many packets as there are free places. A flow alone
 * gets half of the limit, n flows get a part of n + 1 each, and a new flow finds room.
 */
static bool pcrp_has_room(struct Qdisc *sch, u32 flow_packets)
{
	const struct pcrp_sched_data *q = qdisc_priv(sch);

	return likely(sch->q.qlen - q->top.qlen + flow_packets < q->cfg.options.limit);
}

/* Queue a packet without a flow. It may end within its L2 header. */
static int pcrp_enqueue_rest(struct Qdisc *sch, struct sk_buff *skb, u32 l3_off,
			     struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_entry *e = pcrp_flows_rest(&q->flows);
	u32 bytes = skb->len > l3_off ? skb->len - l3_off : 0;
	u64 now = ktime_get_ns();

	if (!pcrp_has_room(sch, e->tx.packets))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	pcrp_skb_cb(skb)->queued_ns = now;
	pcrp_skb_cb(skb)->bytes = bytes;
	pcrp_fifo_push(e, skb);
	pcrp_tx_queue(&q->tx, &e->tx, bytes, 0, PCRP_GATE_NONE, now);
	return pcrp_queued(sch, skb);
}

/* Get an entry for a new flow. NULL: all of them have unfinished flows */
static noinline struct pcrp_entry *pcrp_claim(struct pcrp_sched_data *q,
					      const struct pcrp_key *key, u64 now)
{
	struct pcrp_entry *e, *rest = pcrp_flows_rest(&q->flows);
	struct pcrp_tx_flow *f = pcrp_tx_claim(&q->tx, now);

	if (f == &rest->tx) {	/* the entry of packets without a flow is never reused */
		pcrp_tx_defer_claim(&q->tx, f);
		f = pcrp_tx_claim(&q->tx, now);
	}
	if (!f || f == &rest->tx)
		return NULL;
	e = container_of(f, struct pcrp_entry, tx);
	pcrp_flows_assign(&q->flows, e, key);
	return e;
}

/* Does the gate of the entry's last flow hold for one that begins now? */
static inline bool pcrp_gate_holds(const struct pcrp_sched_data *q, const struct pcrp_entry *e)
{
	return time_before(jiffies, e->gate_until) &&
	       e->gate_changes == (u32)atomic_read(&q->port->peers.changes);
}

/* Choose the gate of a flow that begins. GRANTs for forwarded packets do not come here. */
static noinline enum pcrp_gate pcrp_choose_gate(struct pcrp_sched_data *q, struct pcrp_entry *e,
						const struct sk_buff *skb)
{
	struct pcrp_peers *peers = &q->port->peers;

	e->gate_changes = atomic_read(&peers->changes);
	e->gate_until = jiffies + PCRP_HOST_JIFFIES;
	if (!pcrp_is_own(q, skb, &e->key.src, e->src_hash))
		e->gate = PCRP_GATE_NONE;
	else if (pcrp_peers_answers(peers, &e->key.dst, e->dst_hash))
		e->gate = PCRP_GATE_GRANT;
	else
		e->gate = PCRP_GATE_DISCOVER;
	return e->gate;
}

static noinline int pcrp_enqueue_retrans(struct Qdisc *sch, struct sk_buff *skb,
					 struct pcrp_entry *e, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	pcrp_skb_cb(skb)->bytes = 0;
	pcrp_fifo_push_retrans(e, skb);
	pcrp_tx_queue_retrans(&q->tx, &e->tx, pcrp_unsent(e, skb), now);
	return pcrp_queued(sch, skb);
}

/*
 * Queue a packet of a flow. @bytes, @seq and @fin are as in struct pcrp_pkt. @now may be 0
 * if the flow is READY and ungated.
 */
static __always_inline int pcrp_enqueue_flow(struct Qdisc *sch, struct sk_buff *skb,
					     struct pcrp_entry *e, u32 bytes, u32 seq, bool fin,
					     u64 now)
{
	bool tcp = e->key.proto == IPPROTO_TCP, starts = pcrp_tx_finished(&e->tx);
	struct pcrp_sched_data *q = qdisc_priv(sch);
	enum pcrp_gate gate = PCRP_GATE_NONE;
	u32 unsent;

	pcrp_skb_cb(skb)->queued_ns = now;
	if (tcp && (fin || !pcrp_seq_continue(&e->seq, seq, bytes, starts && bytes))) {
		if (pcrp_seq_is_retrans(&e->seq, seq, bytes, fin))
			return pcrp_enqueue_retrans(sch, skb, e, now);
		bytes = pcrp_seq_add(&e->seq, seq, bytes, fin, starts);
	}
	if (starts)
		gate = pcrp_gate_holds(q, e) ? e->gate : pcrp_choose_gate(q, e, skb);
	pcrp_skb_cb(skb)->bytes = bytes;
	pcrp_fifo_push(e, skb);
	unsent = pcrp_unsent(e, skb);
	if (starts && gate != PCRP_GATE_GRANT && pcrp_tx_may_start(&e->tx))
		pcrp_tx_start_ungated(&q->tx, &e->tx, bytes, unsent, gate,
				      q->tx.count[PCRP_TX_READY], now);
	else
		pcrp_tx_queue(&q->tx, &e->tx, bytes, unsent, gate, now);
	return pcrp_queued(sch, skb);
}

/* Queue the first packet of a flow that has no entry. Arguments as for pcrp_enqueue_flow() */
static noinline int pcrp_enqueue_first(struct Qdisc *sch, struct sk_buff *skb,
				       const struct pcrp_key *key, u32 bytes, u32 seq, bool fin,
				       struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct pcrp_entry *e;

	if (!pcrp_has_room(sch, 0))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	e = pcrp_claim(q, key, now);
	if (unlikely(!e)) {
		closnet_add(&q->flows_overflow, 1);
		return pcrp_enqueue_rest(sch, skb, pcrp_skb_cb(skb)->l3_off, to_free);
	}
	return pcrp_enqueue_flow(sch, skb, e, bytes, seq, fin, now);
}

/* Queue any packet. */
static noinline int pcrp_enqueue_any(struct sk_buff *skb, struct Qdisc *sch,
				     struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_pkt pkt __uninitialized;	/* pcrp_parse() sets the fields in use */
	struct pcrp_entry *e;

	pcrp_classify(q, skb, &pkt);
	if (pkt.kind == PCRP_KIND_TOP)
		return pcrp_enqueue_top(sch, skb, &pkt, 0, to_free);
	if (unlikely(pkt.kind == PCRP_KIND_CONTROL))
		return pcrp_enqueue_control(sch, skb, &pkt, to_free);
	if (pkt.kind == PCRP_KIND_REST)
		return pcrp_enqueue_rest(sch, skb, pkt.l3_off, to_free);

	e = pcrp_flows_find(&q->flows, &pkt.key);
	if (unlikely(e && pkt.syn))
		pcrp_seq_forget(&e->seq);
	if (pkt.kind == PCRP_KIND_SIGNAL && (!e || !e->head)) /* no data to overtake here */
		return pcrp_enqueue_top(sch, skb, &pkt, pcrp_signal_prio(e, &pkt), to_free);
	if (unlikely(!e))
		return pcrp_enqueue_first(sch, skb, &pkt.key, pkt.bytes, pkt.seq, pkt.fin, to_free);
	if (!pcrp_has_room(sch, e->tx.packets))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	return pcrp_enqueue_flow(sch, skb, e, pkt.bytes, pkt.seq, pkt.fin, ktime_get_ns());
}

/* Queue a plain packet. @e: its flow's entry; NULL: it is to be looked up */
static noinline int pcrp_enqueue_plain(struct Qdisc *sch, struct sk_buff *skb,
				       struct pcrp_entry *e, u32 bytes, u32 seq,
				       struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_key key __uninitialized;
	u64 now = 0;

	if (!e) {
		if (!pcrp_plain_key(skb->data, pcrp_skb_cb(skb)->ip_hlen, &key))
			return pcrp_enqueue_any(skb, sch, to_free);
		e = pcrp_flows_find(&q->flows, &key);
		if (unlikely(!e))
			return pcrp_enqueue_first(sch, skb, &key, bytes, seq, false, to_free);
	}
	if (!pcrp_has_room(sch, e->tx.packets))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	/* to read the clock takes as long as to parse the packet */
	if (e->tx.state != PCRP_TX_READY || e->tx.gate == PCRP_GATE_GRANT || e->tx.retrans_only)
		now = ktime_get_ns();
	return pcrp_enqueue_flow(sch, skb, e, bytes, seq, false, now);
}

/*
 * Queue a plain packet of the previous packet's flow, or of the next flow with its key, if the
 * flow is ungated and alone. Return: false: nothing was done; use pcrp_enqueue_plain()
 */
static __always_inline bool pcrp_enqueue_alone(struct Qdisc *sch, struct sk_buff *skb,
					       struct pcrp_entry *e, u32 bytes, u32 seq)
{
	bool tcp = e->key.proto == IPPROTO_TCP, starts = false;
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (!pcrp_tx_may_continue_alone(&q->tx, &e->tx)) {
		starts = pcrp_tx_may_start(&e->tx) && !q->tx.count[PCRP_TX_READY] &&
			 pcrp_gate_holds(q, e) && e->gate != PCRP_GATE_GRANT;
		if (!starts)
			return false;
	}
	if (tcp && !pcrp_seq_continue(&e->seq, seq, bytes, starts))
		return false;
	pcrp_skb_cb(skb)->queued_ns = 0;
	pcrp_skb_cb(skb)->bytes = bytes;
	pcrp_fifo_push(e, skb);
	if (starts)
		pcrp_tx_start_ungated(&q->tx, &e->tx, bytes, pcrp_unsent(e, skb), e->gate,
				      0, 0);
	else
		pcrp_tx_continue_alone(&e->tx, bytes, pcrp_unsent(e, skb));
	return true;
}

/**
 * pcrp_enqueue() - enqueue a packet
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: list of packets to drop
 *
 * Return: NET_XMIT code.
 */
int pcrp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_skb_cb *cb = pcrp_skb_cb(skb);
	struct pcrp_plain pkt __uninitialized;
	struct pcrp_entry *e = q->flows.last;

	if (!q->l2_len || !pcrp_plain_parse(skb->data, skb_headlen(skb), skb->len, &pkt))
		return pcrp_enqueue_any(skb, sch, to_free);
	cb->l3_off = ETH_HLEN;
	cb->ip_hlen = pkt.ip_hlen;
	cb->dsfield = pkt.dsfield;
	if (!pcrp_plain_has_key(skb->data, &pkt, &e->key, e->ip_hlen))
		e = NULL;
	else if (pcrp_has_room(sch, e->tx.packets) &&
		 pcrp_enqueue_alone(sch, skb, e, pkt.bytes, pkt.seq))
		return pcrp_queued(sch, skb);
	return pcrp_enqueue_plain(sch, skb, e, pkt.bytes, pkt.seq, to_free);
}

/* ---- dequeue ---- */

static void pcrp_take_grant(struct pcrp_sched_data *q, const struct pcrp_ingress_grant *g)
{
	const struct pcrp_grant grant = {
		.granted = g->msg.offset,
		.flow_no = g->msg.flow_no,
		.request_no = g->msg.request_no,
		.prio = g->msg.prio,
	};
	u32 index = g->msg.slot & PCRP_SLOT_MASK;
	struct pcrp_entry *e = NULL;
	u64 rtt_ns;

	if (index <= q->flows.count)
		e = &q->flows.entries[index];
	if (e && e->tx.flow_no == grant.flow_no)
		pcrp_peers_answered(&q->port->peers, &e->key.dst, e->dst_hash);
	pcrp_tx_grant(&q->tx, e ? &e->tx : NULL, &grant, g->now, &rtt_ns);
	if (rtt_ns && pcrp_port_rtt_sample(q->port, rtt_ns, g->now) != q->rtt_ns)
		pcrp_refresh(q, g->now);
}

/* GRANTs may come faster than they are taken, and the root lock is held: bounded. */
static noinline void pcrp_take_grants(struct pcrp_sched_data *q)
{
	struct pcrp_ingress *in = q->port->ingress;
	struct pcrp_ingress_grant grant;
	u32 n;

	for (n = 0; n < PCRP_INGRESS_GRANTS && pcrp_ingress_next_grant(in, &q->inbox, &grant); n++)
		pcrp_take_grant(q, &grant);
}

static inline struct sk_buff *pcrp_leave(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (closnet_shaper_on(&q->shaper)) {
		if (q->slept)	/* idle time earns no credit */
			q->shaper.next_ns = max(q->shaper.next_ns, now);
		closnet_shaper_charge(&q->shaper, qdisc_pkt_len(skb), now);
		q->slept = false;
	}
	qdisc_bstats_update(sch, skb);
	return skb;
}

static inline void pcrp_unqueued(struct Qdisc *sch, const struct sk_buff *skb)
{
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
}

static inline struct sk_buff *pcrp_send(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	pcrp_unqueued(sch, skb);
	return pcrp_leave(sch, skb, now);
}

/* Count the size of a flow if it has ended. The receiver counts the flows that it knows. */
static inline void pcrp_count_ended(struct pcrp_sched_data *q, const struct pcrp_entry *e)
{
	if (pcrp_tx_ended(&e->tx) && !e->tx.known && e->tx.gate != PCRP_GATE_NONE)
		pcrp_net_count(q->pn, e->tx.size);
}

static __always_inline struct sk_buff *pcrp_send_data(struct Qdisc *sch, struct pcrp_entry *e,
						      u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = pcrp_fifo_pop(e);
	u64 head_ns = e->head ? pcrp_skb_cb(e->head)->queued_ns : 0;
	u32 bytes = pcrp_skb_cb(skb)->bytes, unsent = pcrp_unsent(e, skb);

	if (!pcrp_tx_end_ungated(&q->tx, &e->tx, bytes, unsent))
		pcrp_tx_sent(&q->tx, &e->tx, bytes, unsent, head_ns, now);
	if (e->tx.prio != PCRP_PRIO_UNGATED)
		pcrp_mark(q, skb, e->tx.prio);
	pcrp_count_ended(q, e);
	return pcrp_send(sch, skb, now);
}

/* Build a flow's REQUEST or PROBE. NULL: no memory; a later PROBE replaces it */
static struct sk_buff *pcrp_build_request(struct pcrp_sched_data *q, const struct pcrp_entry *e,
					  enum pcrp_tx_action action)
{
	const struct pcrp_tx_flow *f = &e->tx;
	u32 slot = q->inbox.number << PCRP_SLOT_BITS | (e - q->flows.entries);
	struct pcrp_msg msg = {
		.type = action == PCRP_TX_PROBE ? PCRP_PROBE : PCRP_REQUEST,
		.prio = f->prio == PCRP_PRIO_UNGATED ? PCRP_PRIO_LAST : f->prio,
		.proto = e->key.proto,
		.sport = ntohs(e->key.sport),
		.dport = ntohs(e->key.dport),
		.slot = slot,
		.flow_no = f->flow_no,
		.cookie = pcrp_ingress_cookie(q->port->ingress, slot, f->flow_no),
		.size = f->size,
		.offset = f->sent,
		.chain_no = max(f->chain_no, 1U),
		.first_bytes = q->params.first_bytes,
		.chain_bytes = q->params.chain_bytes,
		.request_no = f->request_no,
	};
	u8 dscp = q->cfg.map[0];
	struct pcrp_pkt pkt;

	if (e->key.proto == IPPROTO_TCP)
		msg.tcp_seq = pcrp_seq_at(&e->seq, f->sent);
	pcrp_classify(q, e->head, &pkt);
	return pcrp_ctl_beside(e->head, &pkt, &msg, dscp == PCRP_MAP_LEAVE ? 0 : dscp);
}

/* Send a REQUEST or PROBE. NULL: the flow was ungated instead, or no memory */
static noinline struct sk_buff *pcrp_send_request(struct Qdisc *sch, struct pcrp_entry *e,
						  enum pcrp_tx_action action, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (!pcrp_peers_request(&q->port->peers, &e->key.dst, e->dst_hash,
				e->tx.gate == PCRP_GATE_GRANT, now)) {
		pcrp_tx_ungate(&q->tx, &e->tx, now);
		return NULL;
	}
	pcrp_tx_request_sent(&q->tx, &e->tx, action, now);
	skb = pcrp_build_request(q, e, action);
	if (!skb) {
		closnet_add(&q->dropped_nomem_packets, 1);
		return NULL;
	}
	closnet_add(&q->top_packets, 1);
	qdisc_tree_reduce_backlog(sch, -1, -qdisc_pkt_len(skb));
	return pcrp_leave(sch, skb, now);
}

/* No packet may be sent now. */
static struct sk_buff *pcrp_sleep(struct pcrp_sched_data *q)
{
	u64 next_ns = pcrp_tx_next_ns(&q->tx);

	q->slept = true;
	if (next_ns != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->shaper.watchdog, next_ns);
	return NULL;
}

/* Act on the decision to send no data, and on the next ones. A REQUEST may lead to no packet. */
static noinline struct sk_buff *pcrp_send_control(struct Qdisc *sch, struct pcrp_tx_pick pick,
						  u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_entry *e;
	struct sk_buff *skb;
	u32 tries;

	for (tries = 0; tries < PCRP_TRIES; tries++) {
		if (pick.action == PCRP_TX_SLEEP)
			return pcrp_sleep(q);
		e = container_of(pick.flow, struct pcrp_entry, tx);
		if (pick.action == PCRP_TX_DATA)
			return pcrp_send_data(sch, e, now);
		skb = pcrp_send_request(sch, e, pick.action, now);
		if (skb)
			return skb;
		pick = pcrp_tx_pick_slow(&q->tx, now);
	}
	qdisc_watchdog_schedule_ns(&q->shaper.watchdog, now + NSEC_PER_USEC);
	return NULL;
}

/* Act on the sender's decision. */
static inline struct sk_buff *pcrp_send_next(struct Qdisc *sch, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_tx_pick pick = pcrp_tx_pick(&q->tx, now);

	if (likely(pick.action == PCRP_TX_DATA))
		return pcrp_send_data(sch, container_of(pick.flow, struct pcrp_entry, tx), now);
	return pcrp_send_control(sch, pick, now);
}

/* Dequeue any packet. */
static noinline struct sk_buff *pcrp_dequeue_any(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now;

	if (unlikely(READ_ONCE(q->inbox.pending)))
		pcrp_take_grants(q);
	if (!sch->q.qlen) {
		q->slept = true;
		return NULL;
	}
	now = ktime_get_ns();
	if (closnet_shaper_holds(&q->shaper, sch, now))
		return NULL;
	if (unlikely(time_after_eq(jiffies, q->refresh_at)))
		pcrp_refresh(q, now);
	skb = __qdisc_dequeue_head(&q->top);
	if (!skb)
		return pcrp_send_next(sch, now);
	closnet_add(&q->top_packets, 1);
	return pcrp_send(sch, skb, now);
}

/* Dequeue a packet of an ungated flow that is alone. NULL: use pcrp_dequeue_any() */
static __always_inline struct sk_buff *pcrp_dequeue_alone(struct Qdisc *sch,
							  struct pcrp_entry *e)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = e->head;

	if (!pcrp_tx_sent_alone(&q->tx, &e->tx, pcrp_skb_cb(skb)->bytes, pcrp_unsent(e, skb)))
		return NULL;
	e->head = skb->next;
	skb_mark_not_on_list(skb);
	pcrp_count_ended(q, e);
	pcrp_unqueued(sch, skb);
	qdisc_bstats_update(sch, skb);
	return skb;
}

/**
 * pcrp_dequeue() - dequeue a packet
 * @sch: the qdisc
 *
 * Return: the packet; NULL: no packet may be sent now.
 */
struct sk_buff *pcrp_dequeue(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_tx_flow *f = pcrp_tx_alone(&q->tx);
	struct sk_buff *skb;

	/* ... and there is nothing else to do, for which the time is needed */
	if (!f || q->top.head || closnet_shaper_on(&q->shaper) ||
	    READ_ONCE(q->inbox.pending) || unlikely(time_after_eq(jiffies, q->refresh_at)))
		return pcrp_dequeue_any(sch);
	skb = pcrp_dequeue_alone(sch, container_of(f, struct pcrp_entry, tx));
	return skb ?: pcrp_dequeue_any(sch);
}
