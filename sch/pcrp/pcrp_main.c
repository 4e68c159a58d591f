// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_pcrp: packet-chain reservation as a qdisc
 *
 * For the egress of a host. It cuts what TCP, UDP and others send into flows, and
 * those into chains of what the line carries in one round trip. A flow's first
 * chain is sent at once; each later one when the receiver's qdisc, its peer, has
 * granted it. Short flows go first, and what is sent says in its DSCP how urgent
 * it is.
 *
 *	enqueue(): what is on top (ACKs, control packets) has a FIFO of its own. A
 *	  packet with data goes to its flow's FIFO (pcrp_flow.c). Whether that waits
 *	  for GRANTs depends on its source (pcrp_own.h) and its peer (pcrp_peers.h).
 *
 *	dequeue(): GRANTs that have come are taken in; then the top; then what the
 *	  sender's core says (pcrp_sender.h): a flow's next packet, or its REQUEST
 *	  or PROBE. If no flow may send, a timer asks again when one will have
 *	  waited too long.
 *
 *	ingress: the receiver's half (pcrp_rx.c) sees all that the device receives.
 *
 *	            +------------------------- sch_pcrp --------------------------+
 *	 stack ---> | top ------------------------------------------------+       |
 *	            | flow 1 --+                                          v       |
 *	            | flow 2 --+-> EU, SRPT, MFWT --> P0..P7 in DSCP --> rate --> | device
 *	            | ...    --+        ^                                         |
 *	            +-------------------|-----------------------------------------+
 *	 stack <------------------ GRANTs, tables, window <------------------------ device
 *
 * Offsets. A flow's bytes are counted by TCP's sequence numbers, at both ends; so
 * a retransmission is nothing new. It needs no GRANT, goes before what does, and
 * starts no flow. What remains of a flow is what is queued here and what its socket
 * has not sent yet.
 *
 * Accounting. A parent adds one packet for each that enqueue() takes, and
 * subtracts one for each that dequeue() gives. A REQUEST or PROBE is given without
 * having been taken: the parents are told of it just before.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: see pcrp_sender.h, pcrp_receiver.h, pcrp_peer.h and
 * pcrp_wire.h, and:
 * - The paper's sender is a network interface of its own kind, with flows that are
 *   given to it whole. Here flows are what TCP and UDP send, and ACKs, which it
 *   does not have, go before all else.
 * - A GSO packet is sent whole: a chain may be longer by one.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <closnet/link_rate.h>
#include <closnet/qdisc.h>
#include <closnet/skb_ip.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "pcrp.h"
#include "pcrp_config.h"
#include "pcrp_ctl.h"
#include "pcrp_dump.h"

/* How often it is looked at what the parameters follow from */
#define PCRP_REFRESH_NS		(10 * NSEC_PER_MSEC)
/* What a line is taken for that does not say its rate, bytes per second */
#define PCRP_LINE_UNKNOWN	1250000000ULL
/* More than this the stack makes of one packet only for lines that are faster (BIG TCP). */
#define PCRP_PACKET_MAX		65536U
/* Control packets that one call of dequeue() makes, at most, without sending one */
#define PCRP_TRIES		8

/* An Ethernet header with all the tags that there can be */
#define PCRP_L2_MAX		(ETH_HLEN + CLOSNET_VLAN_DEPTH * CLOSNET_VLAN_HLEN)

static LIST_HEAD(pcrp_all);	/* under RTNL */

/**
 * struct pcrp_skb_cb - for the time in the queue
 * @queued_ns: when that began, for a flow's packets
 * @bytes: what is new of the flow
 * @l3_off: where the IP header is
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

/* ---- packets ---- */

/* Where a packet's L3 header is, and what */
struct pcrp_l3 {
	u32 off;
	u16 proto;
	bool multicast;
};

/* The L2 header when it is in fragments, or when there is none */
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

/* Do GRANTs for a packet from @src come back to this device? @hash: pcrp_addr_hash() of that */
static inline bool pcrp_is_own(struct pcrp_sched_data *q, const struct sk_buff *skb,
			       const struct in6_addr *src, u32 hash)
{
	const struct net_device *dev = qdisc_dev(q->sch);

	return (!q->l2_len || pcrp_own_l2(skb, dev)) && pcrp_own_has(q->own, dev, src, hash);
}

static struct pcrp_peer *pcrp_peer_of(struct pcrp_sched_data *q, const struct pcrp_entry *e)
{
	return pcrp_peers_get(q->peers, &e->key.dst, e->dst_hash);
}

/* A packet that cannot be written to for want of memory is left as it is. */
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

/* What a flow's socket has beyond what was queued here */
static inline u32 pcrp_unsent(const struct pcrp_entry *e, const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!sk || e->key.proto != IPPROTO_TCP || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return 0;
	return pcrp_seq_unsent(&e->seq, READ_ONCE(tcp_sk(sk)->write_seq),
			       READ_ONCE(tcp_sk(sk)->snd_nxt),
			       READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN);
}

/* ---- parameters ---- */

static u64 pcrp_mfwt_ns(const struct pcrp_sched_data *q, u32 chain_bytes)
{
	switch (q->cfg.options.mfwt_mode) {
	case TC_PCRP_MFWT_OFF:
		return U64_MAX;
	case TC_PCRP_MFWT_TIME:
		return (u64)q->cfg.options.mfwt_us * NSEC_PER_USEC;
	default:
		return pcrp_mfwt_auto(q->rate_Bps, chain_bytes);
	}
}

/* Thresholds are the qdisc's, else the namespace's, else those that follow from a chain. */
static void pcrp_refresh_spec(struct pcrp_sched_data *q, u32 chain_bytes)
{
	u64 *to = q->params.spec_bytes;

	if (q->cfg.spec_bytes[0]) {
		memcpy(to, q->cfg.spec_bytes, sizeof(q->params.spec_bytes));
		return;
	}
	pcrp_net_changed(q->pn, &q->seen);
	if (pcrp_net_thresholds(q->pn, to))
		return;
	to[0] = chain_bytes / 4;
	to[1] = chain_bytes;
	to[2] = 4ULL * chain_bytes;
}

/*
 * The largest packet that the stack makes. A receiver sees none of it before it has
 * all of it, so that a chain has to hold more than one, if it is not to wait for
 * its GRANT each time.
 */
static u32 pcrp_packet_max(const struct net_device *dev)
{
	u32 mtu = READ_ONCE(dev->mtu);

	if (!(dev->features & NETIF_F_GSO))
		return mtu;
	return max(mtu, min3(READ_ONCE(dev->gso_max_size), READ_ONCE(dev->gso_max_segs) * mtu,
			     PCRP_PACKET_MAX));
}

/* Works out what follows from the configuration, the line and the peers. */
static noinline void pcrp_refresh(struct pcrp_sched_data *q, u64 now)
{
	const struct net_device *dev = qdisc_dev(q->sch);
	struct pcrp_params *p = &q->params;
	u32 chain_bytes;

	q->refresh_ns = now + PCRP_REFRESH_NS;
	WRITE_ONCE(q->rtt_ns, pcrp_rtt_ns(&q->rtt, now));
	WRITE_ONCE(q->rate_Bps, q->cfg.options.rate_Bps ?: q->line_Bps ?: PCRP_LINE_UNKNOWN);
	chain_bytes = q->cfg.options.chain_bytes ?:
		      pcrp_chain_auto(q->rate_Bps, q->rtt_ns, pcrp_packet_max(dev));
	p->first_bytes = q->cfg.options.first_bytes ?: q->cfg.options.chain_bytes ?:
			 pcrp_chain_auto(q->rate_Bps, q->rtt_ns, READ_ONCE(dev->mtu));
	p->mfwt_ns = pcrp_mfwt_ns(q, chain_bytes);
	p->hold_ns = (u64)q->cfg.options.hold_us * NSEC_PER_USEC;
	p->probe_ns = pcrp_probe_ns(q->rtt_ns, q->rate_Bps, chain_bytes);
	p->probe_gap_ns = pcrp_probe_gap_ns(q->rate_Bps);
	p->eu = q->cfg.options.eu;
	p->srpt = q->cfg.options.srpt;
	pcrp_refresh_spec(q, chain_bytes);
	if (chain_bytes == p->chain_bytes)
		return;
	WRITE_ONCE(p->chain_bytes, chain_bytes);
	if (q->rx)
		pcrp_rx_set_chain(q->rx, chain_bytes);
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
 * A flow's end has the priority of what the flow sent last. With another it would overtake
 * that in the network: a RST takes from the receiver what comes after it.
 */
static u8 pcrp_signal_prio(const struct pcrp_sched_data *q, const struct pcrp_entry *e,
			   const struct pcrp_pkt *pkt)
{
	return e && !pkt->syn ? q->snd.flow[e->slot].prio : 0;
}

/* What is on top is dropped for its own like only, and data for data. */
static int pcrp_enqueue_top(struct Qdisc *sch, struct sk_buff *skb, const struct pcrp_pkt *pkt,
			    u8 prio, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (unlikely(q->top.qlen >= q->cfg.options.limit))
		return pcrp_drop(sch, skb, to_free, &q->dropped_top_packets);
	if (prio != PCRP_PRIO_UNGATED && pkt->ip_hlen &&
	    pcrp_is_own(q, skb, &pkt->key.src, pcrp_addr_hash(&pkt->key.src, q->flows.seed)))
		pcrp_mark(q, skb, prio);
	__qdisc_enqueue_tail(skb, &q->top);
	return pcrp_queued(sch, skb);
}

/*
 * Control packets of this host are the module's, and no user's: those that have a socket
 * are dropped, and those that come from elsewhere (a container) and were given this host's
 * address. The module makes its GRANTs without either.
 */
static bool pcrp_is_forged(struct pcrp_sched_data *q, const struct sk_buff *skb,
			   const struct pcrp_pkt *pkt)
{
	return (skb->sk || skb->skb_iif) &&
	       pcrp_is_own(q, skb, &pkt->key.src, pcrp_addr_hash(&pkt->key.src, q->flows.seed));
}

static int pcrp_enqueue_control(struct Qdisc *sch, struct sk_buff *skb,
				const struct pcrp_pkt *pkt, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (unlikely(pcrp_is_forged(q, skb, pkt)))
		return pcrp_drop(sch, skb, to_free, &q->dropped_forged_packets);
	return pcrp_enqueue_top(sch, skb, pkt, 0, to_free);
}

/*
 * Is there room for another packet of data? A flow may have as many as there are free
 * places (dynamic thresholds, Choudhury and Hahne, 1998): one alone gets half of them,
 * n get an n+1-th each, and a place remains for one that has none.
 */
static bool pcrp_has_room(struct Qdisc *sch, u32 flow_packets)
{
	const struct pcrp_sched_data *q = qdisc_priv(sch);

	return likely(sch->q.qlen - q->top.qlen + flow_packets < q->cfg.options.limit);
}

/* The flow of what has no flow. A frame may be cut short behind its VLAN tag. */
static int pcrp_enqueue_rest(struct Qdisc *sch, struct sk_buff *skb, u32 l3_off,
			     struct sk_buff **to_free, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	u32 slot = pcrp_flows_rest(&q->flows);
	u32 bytes = skb->len > l3_off ? skb->len - l3_off : 0;

	if (!pcrp_has_room(sch, q->snd.flow[slot].packets))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	pcrp_skb_cb(skb)->queued_ns = now;
	pcrp_skb_cb(skb)->bytes = bytes;
	pcrp_flow_push(&q->flows.entries[slot], skb);
	pcrp_snd_queued(&q->snd, &q->params, slot, bytes, 0, PCRP_GATE_NONE, now);
	return pcrp_queued(sch, skb);
}

/* A slot for a flow that has none. NULL: there is none but that of the rest. */
static noinline struct pcrp_entry *pcrp_claim(struct pcrp_sched_data *q,
					      const struct pcrp_key *key, u64 now)
{
	u32 rest = pcrp_flows_rest(&q->flows), slot;

	slot = pcrp_snd_claim(&q->snd, &q->params, now);
	if (slot == rest) {	/* it stays idle, behind the others */
		pcrp_snd_pass(&q->snd, rest);
		slot = pcrp_snd_claim(&q->snd, &q->params, now);
	}
	if (slot == PCRP_NONE || slot == rest)
		return NULL;
	return pcrp_flows_give(&q->flows, slot, key);
}

/* A flow begins. Others' GRANTs do not come here: they are not ours to hold back. */
static enum pcrp_gate pcrp_gate_of(struct pcrp_sched_data *q, const struct pcrp_entry *e,
				   const struct sk_buff *skb)
{
	if (!pcrp_is_own(q, skb, &e->key.src, e->src_hash))
		return PCRP_GATE_NONE;
	return pcrp_peer_of(q, e)->state == PCRP_PEER_ANSWERING ? PCRP_GATE_GRANT :
								  PCRP_GATE_ASK;
}

/* A packet that was sent before. Return: false: it was not, nothing is done. */
static bool pcrp_enqueue_again(struct pcrp_sched_data *q, struct sk_buff *skb,
			       struct pcrp_entry *e, const struct pcrp_pkt *pkt, u64 now)
{
	if (pkt->key.proto != IPPROTO_TCP ||
	    !pcrp_seq_again(&e->seq, pkt->seq, pkt->bytes, pkt->fin))
		return false;
	pcrp_skb_cb(skb)->bytes = 0;
	pcrp_flow_push_again(e, skb);
	pcrp_snd_again(&q->snd, &q->params, e->slot, pcrp_unsent(e, skb), now);
	return true;
}

static int pcrp_enqueue_flow(struct Qdisc *sch, struct sk_buff *skb,
			     struct pcrp_entry *e, const struct pcrp_pkt *pkt, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	u32 bytes = pkt->bytes;
	bool starts;
	u8 gate;

	pcrp_skb_cb(skb)->queued_ns = now;
	if (unlikely(pcrp_enqueue_again(q, skb, e, pkt, now)))
		return pcrp_queued(sch, skb);
	starts = pcrp_snd_starts(&q->snd, e->slot);
	gate = starts ? pcrp_gate_of(q, e, skb) : 0;
	if (pkt->key.proto == IPPROTO_TCP)
		bytes = pcrp_seq_add(&e->seq, pkt->seq, pkt->bytes, pkt->fin, starts);
	pcrp_skb_cb(skb)->bytes = bytes;
	pcrp_flow_push(e, skb);
	pcrp_snd_queued(&q->snd, &q->params, e->slot, bytes, pcrp_unsent(e, skb), gate, now);
	return pcrp_queued(sch, skb);
}

static int pcrp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_pkt pkt __uninitialized;	/* what is not set is not read: pcrp_parse() */
	struct pcrp_entry *e;
	u64 now;

	pcrp_classify(q, skb, &pkt);
	if (pkt.kind == PCRP_KIND_TOP)
		return pcrp_enqueue_top(sch, skb, &pkt, 0, to_free);
	if (unlikely(pkt.kind == PCRP_KIND_CONTROL))
		return pcrp_enqueue_control(sch, skb, &pkt, to_free);
	now = ktime_get_ns();
	if (pkt.kind == PCRP_KIND_REST)
		return pcrp_enqueue_rest(sch, skb, pkt.l3_off, to_free, now);

	e = pcrp_flows_find(&q->flows, &pkt.key);
	if (unlikely(e && pkt.syn))
		pcrp_seq_forget(&e->seq);
	if (pkt.kind == PCRP_KIND_SIGNAL && (!e || !e->head)) /* nothing to overtake here */
		return pcrp_enqueue_top(sch, skb, &pkt, pcrp_signal_prio(q, e, &pkt), to_free);
	if (!pcrp_has_room(sch, e ? q->snd.flow[e->slot].packets : 0))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	if (unlikely(!e))
		e = pcrp_claim(q, &pkt.key, now);
	if (unlikely(!e)) {
		closnet_add(&q->flows_overflow, 1);
		return pcrp_enqueue_rest(sch, skb, pkt.l3_off, to_free, now);
	}
	return pcrp_enqueue_flow(sch, skb, e, &pkt, now);
}

/* The qdisc of one TX queue: all packets are on top. */
static int pcrp_enqueue_fifo(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (unlikely(q->top.qlen >= q->cfg.options.limit))
		return pcrp_drop(sch, skb, to_free, &q->dropped_limit_packets);
	__qdisc_enqueue_tail(skb, &q->top);
	return pcrp_queued(sch, skb);
}

/* ---- dequeue ---- */

static void pcrp_take_grant(struct pcrp_sched_data *q, const struct pcrp_rx_grant *got)
{
	const struct pcrp_grant grant = {
		.granted = got->msg.offset,
		.slot = got->msg.slot,
		.flow_no = got->msg.flow_no,
		.ask = got->msg.ask,
		.prio = got->msg.prio,
	};
	u32 slot = got->msg.slot;
	u64 rtt_ns;

	if (slot < q->snd.slots && q->snd.flow[slot].flow_no == grant.flow_no)
		pcrp_peer_answered(pcrp_peer_of(q, &q->flows.entries[slot]));
	pcrp_snd_grant(&q->snd, &q->params, &grant, got->now, &rtt_ns);
	if (!rtt_ns)
		return;
	pcrp_rtt_sample(&q->rtt, rtt_ns, got->now);
	if (pcrp_rtt_ns(&q->rtt, got->now) != q->rtt_ns)
		pcrp_refresh(q, got->now);
}

/* No more than were there, though others may come meanwhile: the root lock is held */
static noinline void pcrp_take_grants(struct pcrp_sched_data *q)
{
	struct pcrp_rx_grant grant;
	u32 n;

	for (n = 0; n < PCRP_RX_GRANTS && pcrp_rx_next_grant(q->rx, &grant); n++)
		pcrp_take_grant(q, &grant);
}

static inline struct sk_buff *pcrp_leave(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	if (closnet_shaper_on(&q->shaper)) {
		if (q->slept)	/* time in which nothing could be sent is not made up for */
			q->shaper.next_ns = max(q->shaper.next_ns, now);
		closnet_shaper_charge(&q->shaper, qdisc_pkt_len(skb), now);
	}
	q->slept = false;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static struct sk_buff *pcrp_send(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
	return pcrp_leave(sch, skb, now);
}

static struct sk_buff *pcrp_send_data(struct Qdisc *sch, u32 slot, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_entry *e = &q->flows.entries[slot];
	const struct pcrp_flow *f = &q->snd.flow[slot];
	struct sk_buff *skb = pcrp_flow_pop(e);
	u64 head_ns = e->head ? pcrp_skb_cb(e->head)->queued_ns : now;
	u8 prio;

	prio = pcrp_snd_sent(&q->snd, &q->params, slot, pcrp_skb_cb(skb)->bytes,
			     pcrp_unsent(e, skb), head_ns, now);
	if (prio != PCRP_PRIO_UNGATED)
		pcrp_mark(q, skb, prio);
	/* a longer one is counted by who receives it, if that one knows of it */
	if (pcrp_flow_ended(f) && !f->heard && f->gate != PCRP_GATE_NONE)
		pcrp_net_count(q->pn, f->size);
	return pcrp_send(sch, skb, now);
}

/* A REQUEST or PROBE, from a flow as it is. NULL: no memory; a later PROBE makes up for it. */
static struct sk_buff *pcrp_build(struct pcrp_sched_data *q, u32 slot,
				  enum pcrp_action action)
{
	const struct pcrp_entry *e = &q->flows.entries[slot];
	const struct pcrp_flow *f = &q->snd.flow[slot];
	struct pcrp_msg msg = {
		.type = action == PCRP_ACTION_PROBE ? PCRP_PROBE : PCRP_REQUEST,
		.prio = f->prio == PCRP_PRIO_UNGATED ? PCRP_PRIO_LAST : f->prio,
		.proto = e->key.proto,
		.sport = ntohs(e->key.sport),
		.dport = ntohs(e->key.dport),
		.slot = slot,
		.flow_no = f->flow_no,
		.cookie = pcrp_rx_cookie(q->rx, slot, f->flow_no),
		.size = f->size,
		.offset = f->sent,
		.chain_no = max(f->chain_no, 1U),
		.first_bytes = q->params.first_bytes,
		.chain_bytes = q->params.chain_bytes,
		.ask = f->ask_no,
	};
	u8 dscp = q->cfg.map[0];
	struct pcrp_pkt pkt;

	if (e->key.proto == IPPROTO_TCP)
		msg.tcp_seq = pcrp_seq_at(&e->seq, f->sent);
	pcrp_classify(q, e->head, &pkt);
	return pcrp_ctl_beside(e->head, &pkt, &msg, dscp == PCRP_MAP_LEAVE ? 0 : dscp);
}

/* Asks a flow's receiver. NULL: it is not to be asked, or there is no memory. */
static noinline struct sk_buff *pcrp_send_ask(struct Qdisc *sch, u32 slot,
					      enum pcrp_action action, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_peer *peer;
	struct sk_buff *skb;

	peer = pcrp_peer_of(q, &q->flows.entries[slot]);
	if (!pcrp_peer_ask(peer, q->snd.flow[slot].gate == PCRP_GATE_GRANT, now)) {
		pcrp_snd_ungate(&q->snd, &q->params, slot, now);
		return NULL;
	}
	pcrp_snd_asked(&q->snd, &q->params, slot, action, now);
	skb = pcrp_build(q, slot, action);
	if (!skb) {
		closnet_add(&q->dropped_nomem_packets, 1);
		return NULL;
	}
	closnet_add(&q->top_packets, 1);
	qdisc_tree_reduce_backlog(sch, -1, -qdisc_pkt_len(skb));
	return pcrp_leave(sch, skb, now);
}

/* Nothing may be sent now. */
static struct sk_buff *pcrp_sleep(struct pcrp_sched_data *q)
{
	u64 next_ns = pcrp_snd_next_ns(&q->snd);

	q->slept = true;
	if (next_ns != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->shaper.watchdog, next_ns);
	return NULL;
}

/* What the sender's core wants; bounded, for a flow may turn out to have nothing to ask. */
static struct sk_buff *pcrp_send_next(struct Qdisc *sch, u64 now)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	enum pcrp_action action;
	struct sk_buff *skb;
	u32 tries, slot;

	for (tries = 0; tries < PCRP_TRIES; tries++) {
		action = pcrp_snd_pick(&q->snd, &q->params, now, &slot);
		if (action == PCRP_ACTION_SLEEP)
			return pcrp_sleep(q);
		if (action == PCRP_ACTION_DATA)
			return pcrp_send_data(sch, slot, now);
		skb = pcrp_send_ask(sch, slot, action, now);
		if (skb)
			return skb;
	}
	qdisc_watchdog_schedule_ns(&q->shaper.watchdog, now + NSEC_PER_USEC);
	return NULL;
}

static struct sk_buff *pcrp_dequeue(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now;

	if (unlikely(pcrp_ring_has_grants(q->grants)))
		pcrp_take_grants(q);
	if (!sch->q.qlen) {
		q->slept = true;
		return NULL;
	}
	now = ktime_get_ns();
	if (closnet_shaper_holds(&q->shaper, sch, now))
		return NULL;
	if (unlikely(now >= q->refresh_ns))
		pcrp_refresh(q, now);
	skb = __qdisc_dequeue_head(&q->top);
	if (!skb)
		return pcrp_send_next(sch, now);
	closnet_add(&q->top_packets, 1);
	return pcrp_send(sch, skb, now);
}

static void pcrp_reset(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	closnet_shaper_reset(&q->shaper);
	__qdisc_reset_queue(&q->top);
	if (!q->snd.flow)	/* init() has failed */
		return;
	pcrp_flows_clear(&q->flows);
	pcrp_snd_reset(&q->snd);
}

/* ---- configuration ---- */

/* Under the root lock, or before anyone can see the qdisc; @rx is set already */
static void pcrp_apply(struct pcrp_sched_data *q, const struct pcrp_config *cfg)
{
	q->cfg = *cfg;
	closnet_shaper_set(&q->shaper, cfg->options.rate_Bps, cfg->options.overhead);
	pcrp_refresh(q, ktime_get_ns());
}

static void pcrp_apply_rx(struct pcrp_sched_data *q)
{
	struct pcrp_rx_params params = {
		.chain_bytes = q->params.chain_bytes,
		.grants = q->cfg.options.grants,
		.evict = q->cfg.options.evict,
		.window_us = q->cfg.options.window_us,
	};

	memcpy(params.map, q->cfg.map, sizeof(params.map));
	if (q->rx)
		pcrp_rx_set(q->rx, &params);
}

static int pcrp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct pcrp_config cfg = q->cfg;
	int err;

	err = pcrp_config_parse(&cfg, opt, true, extack);
	if (err)
		return err;
	sch_tree_lock(sch);
	pcrp_apply(q, &cfg);
	pcrp_apply_rx(q);
	if (sch->q.qlen)
		closnet_shaper_kick(&q->shaper);
	sch_tree_unlock(sch);
	return 0;
}

static int pcrp_init_tables(struct pcrp_sched_data *q, u32 flows)
{
	u32 slots = flows + 1;	/* and what has no flow */
	struct heap_node *node;
	struct pcrp_flow *flow;
	u32 *place;

	q->peers = kvzalloc(sizeof(*q->peers), GFP_KERNEL);
	q->own = kvzalloc(sizeof(*q->own), GFP_KERNEL);
	flow = kvcalloc(slots + PCRP_SND_LISTS, sizeof(*flow), GFP_KERNEL);
	node = kvcalloc(slots, PCRP_SND_HEAPS * sizeof(*node), GFP_KERNEL);
	place = kvcalloc(slots, PCRP_SND_HEAPS * sizeof(*place), GFP_KERNEL);
	if (!q->peers || !q->own || !flow || !node || !place || pcrp_flows_init(&q->flows, flows)) {
		kvfree(flow);
		kvfree(node);
		kvfree(place);
		return -ENOMEM;
	}
	pcrp_snd_init(&q->snd, flow, node, place, slots, get_random_u32());
	return 0;
}

/*
 * Is the qdisc that of one TX queue: mq's or mqprio's child? What comes in by the device
 * cannot be told by TX queues, so each such qdisc would be a receiver of all flows. They
 * are FIFOs instead: as net.core.default_qdisc, pcrp must not leave a device without any.
 * A child that mq itself makes has no handle.
 */
static bool pcrp_is_queue(const struct Qdisc *sch)
{
	if (sch->parent == TC_H_ROOT || !netif_is_multiqueue(qdisc_dev(sch)))
		return false;
	return !sch->handle || qdisc_root_sleeping(sch)->flags & TCQ_F_ONETXQUEUE;
}

/* No packet waits for a GRANT here: nobody takes them. */
static const struct pcrp_ring pcrp_no_grants;

static int pcrp_init_fifo(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	sch->enqueue = pcrp_enqueue_fifo;
	q->grants = &pcrp_no_grants;
	NL_SET_ERR_MSG(extack,
		       "below mq, pcrp is a FIFO; for reservations, make it the root qdisc");
	return 0;
}

/* What a qdisc of a whole device needs */
static int pcrp_init_device(struct Qdisc *sch, const struct pcrp_config *cfg,
			    struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	int err;

	err = pcrp_init_tables(q, cfg->options.flows);
	if (err)
		return err;
	q->rx = pcrp_rx_create(sch, extack);
	if (IS_ERR(q->rx))
		return PTR_ERR(q->rx);
	q->grants = pcrp_rx_ring(q->rx);
	return 0;
}

static int pcrp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct pcrp_config cfg;
	int err;

	/* first of all: destroy() follows an error */
	q->sch = sch;
	INIT_LIST_HEAD(&q->node);
	closnet_shaper_init(&q->shaper, sch);
	q->l2_len = closnet_l2_len(dev);
	q->pn = pcrp_net_of(dev_net(dev));
	q->line_Bps = closnet_link_Mbps(dev) * 125000ULL;

	pcrp_config_init(&cfg);
	if (opt) {
		err = pcrp_config_parse(&cfg, opt, false, extack);
		if (err)
			return err;
	}
	err = pcrp_is_queue(sch) ? pcrp_init_fifo(sch, extack) :
				   pcrp_init_device(sch, &cfg, extack);
	if (err)
		return err;
	pcrp_apply(q, &cfg);
	pcrp_apply_rx(q);
	list_add(&q->node, &pcrp_all);
	return 0;
}

static void pcrp_destroy(struct Qdisc *sch)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);

	pcrp_rx_destroy(q->rx);	/* before what it is about */
	list_del(&q->node);
	closnet_shaper_reset(&q->shaper);
	pcrp_flows_free(&q->flows);
	kvfree(q->snd.flow);
	kvfree(q->snd.shortest.node);	/* and that of the other heaps */
	kvfree(q->snd.shortest.place);
	kvfree(q->peers);
	kvfree(q->own);
}

/* The line's rate may have changed. */
static int pcrp_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct pcrp_sched_data *q;
	u64 line_Bps;

	if (event != NETDEV_UP && event != NETDEV_CHANGE)
		return NOTIFY_DONE;
	list_for_each_entry(q, &pcrp_all, node) {
		if (qdisc_dev(q->sch) != dev)
			continue;
		line_Bps = closnet_link_Mbps(dev) * 125000ULL;
		sch_tree_lock(q->sch);
		q->line_Bps = line_Bps;
		pcrp_refresh(q, ktime_get_ns());
		sch_tree_unlock(q->sch);
	}
	return NOTIFY_DONE;
}

static struct notifier_block pcrp_netdev_notifier = {
	.notifier_call = pcrp_netdev_event,
};

/* ---- dump ---- */

static int pcrp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct pcrp_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (pcrp_config_dump(skb, &q->cfg)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

static struct Qdisc_ops pcrp_qdisc_ops __read_mostly = {
	.id		= "pcrp",
	.priv_size	= sizeof(struct pcrp_sched_data),
	.enqueue	= pcrp_enqueue,
	.dequeue	= pcrp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= pcrp_init,
	.reset		= pcrp_reset,
	.destroy	= pcrp_destroy,
	.change		= pcrp_change,
	.dump		= pcrp_dump,
	.dump_stats	= pcrp_dump_stats,
	.owner		= THIS_MODULE,
};
MODULE_ALIAS_NET_SCH("pcrp");

static int __init pcrp_module_init(void)
{
	int err;

	err = pcrp_net_init();
	if (err)
		return err;
	err = register_netdevice_notifier(&pcrp_netdev_notifier);
	if (err)
		goto no_notifier;
	err = register_qdisc(&pcrp_qdisc_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	unregister_netdevice_notifier(&pcrp_netdev_notifier);
no_notifier:
	pcrp_net_exit();
	return err;
}

static void __exit pcrp_module_exit(void)
{
	unregister_qdisc(&pcrp_qdisc_ops);
	unregister_netdevice_notifier(&pcrp_netdev_notifier);
	pcrp_net_exit();
}

module_init(pcrp_module_init);
module_exit(pcrp_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("Packet-chain reservation: grants, SRPT and priorities for a host's traffic");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
