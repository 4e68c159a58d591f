// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiver's half of sch_pcrp: a hook at the device's ingress
 *
 *	ingress -> taps, tc, nft -> hook
 *		control, to us: REQUEST, PROBE -> receiver's core -> GRANTs, sent at once
 *				GRANT -> ring -> dequeue() -> sender's core
 *		anything else:	[waiting window ->] receiver's core -> GRANTs; stack
 *
 * The hook is the last one of the device's, so that a firewall there is obeyed. It
 * sees packets as NAPI hands them up: skb->data at the L3 header, a VLAN tag in the
 * skb, TCP segments put together by GRO. Control packets end here; what is
 * forwarded passes, whatever its ports are.
 *
 * Flows that are being received are found by 5-tuple. All of them have their place
 * from the start, so that nothing is allocated or freed for a packet, and a host
 * that sends REQUESTs of many flows gets no memory by that. A look at the hash's
 * bucket, without a lock, is all that a packet of no such flow costs.
 *
 * Locks: pcrp_rx.lock is the receiver's core's, pcrp_ring.lock the ring's. The root
 * lock may be held around either, never taken inside. GRANTs are sent when no lock
 * is held.
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: see pcrp_receiver.h, pcrp_window.c.
 */

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/netfilter.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/siphash.h>
#include <net/net_namespace.h>
#include <closnet/qdisc.h>
#include "pcrp_ctl.h"
#include "pcrp_flow.h"
#include "pcrp_net.h"
#include "pcrp_receiver.h"
#include "pcrp_rx.h"
#include "pcrp_window.h"

/* Flows that are received at a time, at most; of one chain ones, none is */
#define PCRP_RX_FLOWS		4096
#define PCRP_RX_BUCKETS		PCRP_RX_FLOWS
/* The timer does not come again at once when there is more to end. */
#define PCRP_RX_PAUSE_NS	(50 * NSEC_PER_USEC)
/* Of a source, at most: 16 hosts have to conspire to leave no room for others */
#define PCRP_RX_FLOWS_OF_ONE	(PCRP_RX_FLOWS / 16)
/* Sources are told apart by a hash: two share a number with a probability of 1 to 4096. */
#define PCRP_RX_SOURCES		4096

/**
 * struct pcrp_rx_flow - a flow that is being received
 * @key: who it is
 * @node: in its bucket
 * @path: of its GRANTs
 */
struct pcrp_rx_flow {
	struct pcrp_key key;
	struct hlist_node node;
	struct pcrp_path path;
};

/**
 * struct pcrp_rx - the receiver's half
 * @sch: the qdisc
 * @pn: of its namespace
 * @all: in pcrp_rx_all
 * @hook: at the device's ingress
 * @cookie_key: for our own flows' cookies
 * @seed: of the hash
 * @window: the waiting window
 * @ring: GRANTs
 * @lock: protects all below
 * @dscp: of GRANTs
 * @params: of the core
 * @core: which flows are granted
 * @timer: ends those that are silent; armed while there are flows
 * @armed: it is
 * @malformed: control packets dropped
 * @refused: GRANTs of no flow of ours
 * @nomem: GRANTs not sent, or not handed on
 * @buckets: of @flows
 * @flows: what is known here of the core's flows, same indices
 * @core_flows: the core's
 * @node: the core's
 * @place: the core's
 * @sources: the core's
 */
struct pcrp_rx {
	struct Qdisc *sch;
	struct pcrp_net *pn;
	struct list_head all;
	struct nf_hook_ops hook;
	siphash_key_t cookie_key;
	u64 seed;
	struct pcrp_window window;
	struct pcrp_ring ring;

	spinlock_t lock;	/* protects all below */
	u8 dscp;
	struct pcrp_rcv_params params;
	struct pcrp_receiver core;
	struct hrtimer timer;
	bool armed;
	u64 malformed;
	u64 refused;
	u64 nomem;
	struct hlist_head buckets[PCRP_RX_BUCKETS];
	struct pcrp_rx_flow flows[PCRP_RX_FLOWS];
	struct pcrp_rcv_flow core_flows[PCRP_RX_FLOWS];
	struct heap_node node[PCRP_RX_FLOWS];
	u32 place[PCRP_RX_FLOWS];
	struct pcrp_source sources[PCRP_RX_SOURCES];
};

/* Of all devices; under RTNL */
static LIST_HEAD(pcrp_rx_all);

/* ---- flows ---- */

static struct hlist_head *pcrp_rx_bucket(struct pcrp_rx *rx, const struct pcrp_key *key)
{
	return &rx->buckets[pcrp_key_hash(key, rx->seed) % PCRP_RX_BUCKETS];
}

/* The hash is keyed, so that a sender cannot make a bucket long. */
static u32 pcrp_rx_find(struct pcrp_rx *rx, const struct hlist_head *bucket,
			const struct pcrp_key *key)
{
	const struct pcrp_rx_flow *f;

	hlist_for_each_entry(f, bucket, node)
		if (pcrp_key_equal(&f->key, key))
			return f - rx->flows;
	return PCRP_RCV_NONE;
}

/* ---- GRANTs to others ---- */

/* Under the lock */
static void pcrp_rx_arm(struct pcrp_rx *rx, u64 now)
{
	u64 ns;

	if (rx->armed || !rx->core.used)
		return;
	/* a flow that comes into the table later is silent later, too; others have their turn */
	ns = clamp(pcrp_rcv_next_ns(&rx->core), now + PCRP_RX_PAUSE_NS, now + PCRP_PLACE_NS);
	rx->armed = true;
	hrtimer_start(&rx->timer, ns_to_ktime(ns), HRTIMER_MODE_ABS_SOFT);
}

static void pcrp_rx_put_grant(struct pcrp_rx *rx, const struct pcrp_path *path,
			      const struct pcrp_msg *msg, struct sk_buff_head *list)
{
	struct sk_buff *skb = pcrp_ctl_build(qdisc_dev(rx->sch), path, msg, rx->dscp);

	if (likely(skb))
		__skb_queue_tail(list, skb);
	else
		closnet_add(&rx->nomem, 1);
}

/*
 * Does what the core wants done, but for sending. Under the lock, after each of its calls:
 * that is PCRP_GRANTS_MAX GRANTs and PCRP_RCV_ENDS ends at most.
 */
static void pcrp_rx_collect(struct pcrp_rx *rx, struct sk_buff_head *list)
{
	enum pcrp_rcv_out out;
	struct pcrp_msg msg;
	u32 idx;

	while ((out = pcrp_rcv_collect(&rx->core, &idx)) != PCRP_RCV_NOTHING) {
		switch (out) {
		case PCRP_RCV_FINISHED:
			pcrp_net_count(rx->pn, rx->core_flows[idx].size);
			fallthrough;
		case PCRP_RCV_EXPIRED:
			hlist_del(&rx->flows[idx].node);
			break;
		default:
			pcrp_rcv_grant(&rx->core, idx, &msg);
			pcrp_rx_put_grant(rx, &rx->flows[idx].path, &msg, list);
		}
	}
}

/* Without a lock */
static void pcrp_rx_send(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		dev_queue_xmit(skb);
}

static enum hrtimer_restart pcrp_rx_timer(struct hrtimer *timer)
{
	struct pcrp_rx *rx = container_of(timer, struct pcrp_rx, timer);
	struct sk_buff_head list;
	u64 now;

	__skb_queue_head_init(&list);
	spin_lock(&rx->lock);
	now = ktime_get_ns();
	rx->armed = false;
	pcrp_rcv_expire(&rx->core, &rx->params, now);
	pcrp_rx_collect(rx, &list);
	pcrp_rx_arm(rx, now);
	spin_unlock(&rx->lock);
	pcrp_rx_send(&list);
	return HRTIMER_NORESTART;
}

/* ---- GRANTs to us ---- */

/* A forged GRANT can do no more than take a look at the ring: the cookie is ours. */
static void pcrp_rx_take_grant(struct pcrp_rx *rx, const struct pcrp_msg *msg, u64 now)
{
	struct pcrp_ring *ring = &rx->ring;
	bool room;

	if (msg->cookie != pcrp_rx_cookie(rx, msg->slot, msg->flow_no)) {
		spin_lock(&rx->lock);
		closnet_add(&rx->refused, 1);
		spin_unlock(&rx->lock);
		return;
	}
	spin_lock(&ring->lock);
	room = ring->head - ring->tail < PCRP_RX_GRANTS;
	if (room) {
		ring->slots[ring->head % PCRP_RX_GRANTS] = (struct pcrp_rx_grant) {
			.msg = *msg, .now = now,
		};
		WRITE_ONCE(ring->head, ring->head + 1);
	}
	spin_unlock(&ring->lock);
	if (unlikely(!room)) {
		spin_lock(&rx->lock);
		closnet_add(&rx->nomem, 1);
		spin_unlock(&rx->lock);
	}
	__netif_schedule(qdisc_root(rx->sch));
}

/**
 * pcrp_rx_ring() - GRANTs for our own flows
 * @rx: receiver's half
 *
 * Return: the ring, as long as @rx is there.
 */
const struct pcrp_ring *pcrp_rx_ring(const struct pcrp_rx *rx)
{
	return &rx->ring;
}

/**
 * pcrp_rx_next_grant() - the next GRANT for a flow of ours
 * @rx: receiver's half
 * @grant: result
 *
 * To be called until there is none, or PCRP_RX_GRANTS times, in dequeue(): each that comes
 * schedules the qdisc again.
 *
 * Return: false: there is none.
 */
bool pcrp_rx_next_grant(struct pcrp_rx *rx, struct pcrp_rx_grant *grant)
{
	struct pcrp_ring *ring = &rx->ring;

	if (!pcrp_ring_has_grants(ring))
		return false;
	spin_lock(&ring->lock);
	*grant = ring->slots[ring->tail++ % PCRP_RX_GRANTS];
	spin_unlock(&ring->lock);
	return true;
}

/**
 * pcrp_rx_cookie() - what proves that a GRANT is for a flow of ours
 * @rx: receiver's half
 * @slot: the flow's
 * @flow_no: the flow's
 *
 * Return: the cookie, which its REQUESTs and PROBEs are to carry.
 */
u64 pcrp_rx_cookie(const struct pcrp_rx *rx, u32 slot, u32 flow_no)
{
	return siphash_2u32(slot, flow_no, &rx->cookie_key);
}

/* ---- packets ---- */

/* Under the lock. Return: the flow, or PCRP_RCV_NONE: there is no place for it */
static u32 pcrp_rx_told(struct pcrp_rx *rx, const struct pcrp_key *key,
			const struct pcrp_path *path, const struct pcrp_msg *msg, u64 now)
{
	struct hlist_head *bucket = pcrp_rx_bucket(rx, key);
	u32 source = pcrp_addr_hash(&key->src, rx->seed) % PCRP_RX_SOURCES;
	u32 known = pcrp_rx_find(rx, bucket, key), idx;

	idx = pcrp_rcv_request(&rx->core, &rx->params, known, source, msg, now);
	if (idx == PCRP_RCV_NONE)
		return idx;
	if (known == PCRP_RCV_NONE) {
		rx->flows[idx].key = *key;
		hlist_add_head(&rx->flows[idx].node, bucket);
	}
	if (rx->core_flows[idx].flow_no == msg->flow_no)	/* not an older one */
		rx->flows[idx].path = *path;
	return idx;
}

static void pcrp_rx_request(struct pcrp_rx *rx, const struct pcrp_pkt *pkt,
			    const struct pcrp_path *path, const struct pcrp_msg *msg, u64 now)
{
	struct pcrp_key key = {
		.src = pkt->key.src,
		.dst = pkt->key.dst,
		.sport = htons(msg->sport),
		.dport = htons(msg->dport),
		.proto = msg->proto,
	};
	struct sk_buff_head list;
	struct pcrp_msg answer;

	__skb_queue_head_init(&list);
	spin_lock(&rx->lock);
	if (pcrp_rx_told(rx, &key, path, msg, now) == PCRP_RCV_NONE) {
		pcrp_rcv_refuse(msg, &answer);
		pcrp_rx_put_grant(rx, path, &answer, &list);
	}
	pcrp_rx_collect(rx, &list);
	pcrp_rx_arm(rx, now);
	spin_unlock(&rx->lock);
	pcrp_rx_send(&list);
}

static void pcrp_rx_control(struct pcrp_rx *rx, const struct sk_buff *skb,
			    const struct pcrp_pkt *pkt, u64 now)
{
	u32 count = pcrp_ctl_count(skb, pkt), good = 0, i;
	struct pcrp_path path;
	struct pcrp_msg msg;

	if (!pcrp_path_back(&path, skb, pkt))
		count = 0;
	for (i = 0; i < count; i++) {
		if (!pcrp_ctl_read(skb, pkt, i, &msg))
			continue;
		good++;
		if (msg.type == PCRP_GRANT)
			pcrp_rx_take_grant(rx, &msg, now);
		else
			pcrp_rx_request(rx, pkt, &path, &msg, now);
	}
	if (likely(good && good == count))
		return;
	spin_lock(&rx->lock);
	closnet_add(&rx->malformed, max(count, 1U) - good);
	spin_unlock(&rx->lock);
}

/* A packet goes to the stack. */
static void pcrp_rx_data(struct pcrp_rx *rx, const struct pcrp_pkt *pkt)
{
	const struct hlist_head *bucket;
	struct sk_buff_head list;
	u32 idx;

	if (pkt->kind != PCRP_KIND_FLOW || !READ_ONCE(rx->core.used))
		return;
	bucket = pcrp_rx_bucket(rx, &pkt->key);
	if (hlist_empty(bucket))
		return;
	__skb_queue_head_init(&list);
	spin_lock(&rx->lock);
	idx = pcrp_rx_find(rx, bucket, &pkt->key);
	if (idx != PCRP_RCV_NONE) {
		pcrp_rcv_data(&rx->core, &rx->params, idx, pkt->bytes, pkt->seq,
			      ktime_get_ns());
		pcrp_rx_collect(rx, &list);
	}
	spin_unlock(&rx->lock);
	pcrp_rx_send(&list);
}

/* A packet that has waited in the window goes to the stack. */
static void pcrp_rx_waited(void *arg, struct sk_buff *skb)
{
	struct pcrp_pkt pkt;

	pcrp_parse(skb, 0, ntohs(skb->protocol), &pkt);
	pcrp_rx_data(arg, &pkt);
}

static unsigned int pcrp_rx_hook(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	struct pcrp_rx *rx = priv;
	struct pcrp_pkt pkt;

	pcrp_parse(skb, 0, ntohs(skb->protocol), &pkt);
	if (unlikely(pkt.kind == PCRP_KIND_CONTROL) && pcrp_ctl_for_us(skb, &pkt)) {
		pcrp_rx_control(rx, skb, &pkt, ktime_get_ns());
		consume_skb(skb);
		return NF_STOLEN;
	}
	if (pcrp_window_take(&rx->window, skb, &pkt))
		return NF_STOLEN;
	pcrp_rx_data(rx, &pkt);
	return NF_ACCEPT;
}

/* ---- life ---- */

/**
 * pcrp_rx_set() - configure
 * @rx: receiver's half
 * @params: configuration
 *
 * More flows than before may be granted at a time: the timer will see to it.
 */
void pcrp_rx_set(struct pcrp_rx *rx, const struct pcrp_rx_params *params)
{
	spin_lock_bh(&rx->lock);
	rx->params = (struct pcrp_rcv_params) {
		.chain_bytes = params->chain_bytes,
		.grants = params->grants,
		.evict = params->evict,
	};
	rx->dscp = params->map[0] == PCRP_MAP_LEAVE ? 0 : params->map[0];
	if (rx->core.used) {
		rx->armed = true;
		hrtimer_start(&rx->timer, 0, HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&rx->lock);
	pcrp_window_set(&rx->window, params->window_us, params->map);
}

/**
 * pcrp_rx_set_chain() - a chain has another length from now on
 * @rx: receiver's half
 * @chain_bytes: that
 */
void pcrp_rx_set_chain(struct pcrp_rx *rx, u32 chain_bytes)
{
	spin_lock_bh(&rx->lock);
	rx->params.chain_bytes = chain_bytes;
	spin_unlock_bh(&rx->lock);
}

/* Can there be control packets, and only one who takes them? */
static int pcrp_rx_check(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	const struct net_device *dev = qdisc_dev(sch);
	const struct pcrp_rx *rx;

	if (!closnet_l2_len(dev) && dev->hard_header_len) {
		NL_SET_ERR_MSG(extack, "the device must have Ethernet headers, or none");
		return -EOPNOTSUPP;
	}
	if (sch->parent == TC_H_ROOT)	/* what is there will make room */
		return 0;
	list_for_each_entry(rx, &pcrp_rx_all, all) {
		if (qdisc_dev(rx->sch) != dev || rx->sch->parent == sch->parent)
			continue;
		NL_SET_ERR_MSG(extack, "the device has a pcrp already");
		return -EBUSY;
	}
	return 0;
}

static int pcrp_rx_setup(struct pcrp_rx *rx, struct Qdisc *sch)
{
	rx->sch = sch;
	rx->pn = pcrp_net_of(dev_net(qdisc_dev(sch)));
	rx->seed = get_random_u64();
	get_random_bytes(&rx->cookie_key, sizeof(rx->cookie_key));
	spin_lock_init(&rx->lock);
	spin_lock_init(&rx->ring.lock);
	hrtimer_setup(&rx->timer, pcrp_rx_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	rx->params = (struct pcrp_rcv_params) { .chain_bytes = PCRP_CHAIN_MIN, .grants = 1 };
	pcrp_rcv_init(&rx->core, rx->core_flows, rx->node, rx->place, PCRP_RX_FLOWS, rx->sources,
		      PCRP_RX_FLOWS_OF_ONE);
	rx->hook = (struct nf_hook_ops) {
		.hook = pcrp_rx_hook,
		.priv = rx,
		.dev = qdisc_dev(sch),
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	return pcrp_window_init(&rx->window, pcrp_rx_waited, rx);
}

/**
 * pcrp_rx_create() - hook a device's ingress, in init()
 * @sch: the qdisc
 * @extack: error report
 *
 * A qdisc that another one is to replace is there until after that one's init():
 * for that time the newer one gets the control packets.
 *
 * Return: the receiver's half, which needs pcrp_rx_set(); or a negative error.
 */
struct pcrp_rx *pcrp_rx_create(struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct pcrp_rx *rx;
	int err;

	err = pcrp_rx_check(sch, extack);
	if (err)
		return ERR_PTR(err);
	rx = kvzalloc(sizeof(*rx), GFP_KERNEL);
	if (!rx)
		return ERR_PTR(-ENOMEM);
	err = pcrp_rx_setup(rx, sch);
	if (!err)
		err = nf_register_net_hook(dev_net(qdisc_dev(sch)), &rx->hook);
	if (err) {
		pcrp_window_free(&rx->window);
		kvfree(rx);
		return ERR_PTR(err);
	}
	list_add(&rx->all, &pcrp_rx_all);
	return rx;
}

/**
 * pcrp_rx_destroy() - leave the ingress, in destroy() before anything else
 * @rx: receiver's half; NULL or an error: there is none
 */
void pcrp_rx_destroy(struct pcrp_rx *rx)
{
	if (IS_ERR_OR_NULL(rx))
		return;
	list_del(&rx->all);
	nf_unregister_net_hook(dev_net(qdisc_dev(rx->sch)), &rx->hook);
	synchronize_net();	/* the hook runs nowhere any more */
	hrtimer_cancel(&rx->timer);
	pcrp_window_free(&rx->window);
	kvfree(rx);
}

/**
 * pcrp_rx_stats() - add the receiver's half to the statistics
 * @rx: receiver's half
 * @to: result
 */
void pcrp_rx_stats(struct pcrp_rx *rx, struct pcrp_stats *to)
{
	const struct pcrp_rcv_stats *st = &rx->core.stats;

	to->grants_refused += READ_ONCE(rx->refused);
	to->dropped_nomem_packets += READ_ONCE(rx->nomem);
	to->rx_malformed = READ_ONCE(rx->malformed);
	to->rx_flows = READ_ONCE(rx->core.used);
	to->rx_granted = READ_ONCE(rx->core.granted);
	to->rx_granted_peak = READ_ONCE(st->granted_peak);
	to->rx_requests = READ_ONCE(st->requests);
	to->rx_probes = READ_ONCE(st->probes);
	to->rx_overflow = READ_ONCE(st->overflow);
	to->rx_expired = READ_ONCE(st->expired);
	to->rx_evicted = READ_ONCE(st->evicted);
	to->rx_revoked = READ_ONCE(st->revoked);
	to->rx_finished = READ_ONCE(st->finished);
	to->grants_sent = READ_ONCE(st->grants);
	to->answers_sent = READ_ONCE(st->answers);
	pcrp_window_stats(&rx->window, to);
}
