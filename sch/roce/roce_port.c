// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ingress half of sch_roce, of a device
 *
 *	ingress -> taps, tc, nft -> hook
 *		CNP for a known queue pair -> ring of its qdisc -> dequeue() -> RP
 *		data with CE -> NP -> CNP, sent at once
 *
 * The qdiscs of a device (below mq, one for each TX queue) share a port: its hook, the
 * flows seen in both directions, and their state as NP. The hook is the last one at the
 * device's ingress, so that a firewall there is obeyed. It sees packets as NAPI hands
 * them up, with skb->data at the IP header and the VLAN tag in the skb.
 *
 * Flows are in shards by their pair of addresses, so that both directions of a queue
 * pair are in the same one. A remote host can add flows, so their number is bounded for
 * the port and for each shard. At the bound, a new flow replaces an idle one of its shard.
 * Some flows of each shard do not count for the port's bound, so that a host which adds
 * flows to a few shards does not keep the others empty.
 *
 * A flow names the qdisc that sends it by number: a qdisc that leaves need not search the
 * flows. If another qdisc gets the number, it ignores CNPs for flows that it does not know.
 *
 * Locks: the root lock may be held around a shard's lock, and that around a ring's. A ring
 * is used under a shard's lock: one that leaves waits for them. No lock is held while a CNP
 * is sent.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion Control for Large-Scale
 * RDMA Deployments", SIGCOMM 2015, section 3.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <closnet/qdisc.h>
#include "roce_cnp.h"
#include "roce_port.h"
#include "roce_trace.h"

/* Flows of a shard at most, those that it may always have, and further ones of a device */
#define ROCE_SHARD_FLOWS	4096U
#define ROCE_SHARD_OWN		256U
#define ROCE_FLOWS		16384
/* Time between two searches for idle flows */
#define ROCE_SWEEP_JIFFIES	HZ

static struct roce_shard *roce_shard_of(struct roce_port *port, const struct roce_key *key)
{
	return &port->shard[roce_pair_hash(key, port->seed) % ROCE_SHARDS];
}

/* ---- flows ---- */

/* Get memory for a flow, or NULL. */
static struct roce_flow *roce_flow_alloc(struct roce_port *port, struct roce_shard *shard)
{
	struct mem_cgroup *before;
	struct roce_flow *f;

	if (shard->flows.count >= ROCE_SHARD_FLOWS ||
	    (shard->flows.count >= ROCE_SHARD_OWN && atomic_read(&port->flows) >= ROCE_FLOWS))
		return roce_flows_evict(&shard->flows);
	before = set_active_memcg(port->memcg);
	f = kmalloc(sizeof(*f), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(before);
	if (f && atomic_inc_return(&port->flows) == 1)
		schedule_delayed_work(&port->sweep, ROCE_SWEEP_JIFFIES);
	return f;
}

/* Get the flow of a packet, under the shard's lock. Return: NULL: no memory */
static struct roce_flow *roce_flow_get(struct roce_port *port, struct roce_shard *shard,
				       const struct roce_key *key)
{
	struct roce_flow *f = roce_flows_find(&shard->flows, key);

	if (likely(f))
		return f;
	f = roce_flow_alloc(port, shard);
	if (f)
		roce_flows_add(&shard->flows, f, key);
	else
		closnet_add(&shard->stats.nomem_packets, 1);
	return f;
}

static void roce_flows_free(struct roce_port *port, struct roce_flow *list)
{
	struct roce_flow *next;

	for (; list; list = next) {
		next = list->next;
		kfree(list);
		atomic_dec(&port->flows);
	}
}

/* Bounded by ROCE_SHARD_FLOWS under each lock */
static void roce_port_sweep(struct work_struct *work)
{
	struct roce_port *port = container_of(to_delayed_work(work), struct roce_port, sweep);
	struct roce_shard *shard;
	struct roce_flow *idle;
	u64 now_ns;

	for (shard = port->shard; shard < port->shard + ROCE_SHARDS; shard++) {
		spin_lock_bh(&shard->lock);
		now_ns = ktime_get_ns();
		now_ns -= min(now_ns, shard->params.idle_ns);
		idle = roce_flows_expire(&shard->flows, now_ns);
		spin_unlock_bh(&shard->lock);
		roce_flows_free(port, idle);
	}
	if (atomic_read(&port->flows))
		schedule_delayed_work(&port->sweep, ROCE_SWEEP_JIFFIES);
}

/**
 * roce_port_sent() - learn from a packet that leaves
 * @port: ingress half
 * @ring: ring of the qdisc that limits the packet's queue pair
 * @pkt: headers, of ROCE_KIND_QP
 * @now_ns: present time
 *
 * Context: root lock held, softirqs off.
 */
void roce_port_sent(struct roce_port *port, const struct roce_ring *ring,
		    const struct roce_pkt *pkt, u64 now_ns)
{
	struct roce_shard *shard = roce_shard_of(port, &pkt->key);
	struct roce_flow *f;

	spin_lock(&shard->lock);
	f = roce_flow_get(port, shard, &pkt->key);
	if (likely(f)) {
		f->owner = ring->number;
		roce_flows_learn(&shard->flows, f, pkt, now_ns);
	}
	spin_unlock(&shard->lock);
}

/* ---- CNPs to us ---- */

/* Return: false if the ring is full */
static bool roce_ring_put(struct roce_ring *ring, const struct roce_key *key, u64 now_ns)
{
	bool room;

	spin_lock(&ring->lock);
	room = ring->head - ring->tail < ROCE_EVENTS;
	if (room) {
		ring->slots[ring->head % ROCE_EVENTS] = (struct roce_event) {
			.key = *key, .now_ns = now_ns,
		};
		WRITE_ONCE(ring->head, ring->head + 1);
	}
	spin_unlock(&ring->lock);
	__netif_schedule(qdisc_root(ring->sch));
	return room;
}

/**
 * roce_ring_take() - take the oldest CNP
 * @ring: ring
 * @event: result
 *
 * To be called in dequeue(), until the ring is empty or ROCE_EVENTS times.
 *
 * Return: false if the ring is empty.
 */
bool roce_ring_take(struct roce_ring *ring, struct roce_event *event)
{
	if (!roce_ring_has_events(ring))
		return false;
	spin_lock(&ring->lock);
	*event = ring->slots[ring->tail++ % ROCE_EVENTS];
	spin_unlock(&ring->lock);
	return true;
}

/* Hand a CNP to the qdisc of its queue pair. Locks are held. Return: false: it is ignored */
static bool roce_rx_hand_on(struct roce_ring *ring, struct roce_flow *f, u64 now_ns)
{
	/* the RP would ignore it; so a flood of CNPs does not schedule the qdisc */
	if (f->cnp_ns && now_ns - f->cnp_ns < READ_ONCE(ring->monitor_ns) / 2)
		return false;
	if (!roce_ring_put(ring, &f->key, now_ns))
		return false;
	f->cnp_ns = now_ns;
	return true;
}

/* Take a CNP, under the shard's lock. Return: false: its queue pair is unknown */
static bool roce_rx_notify(struct roce_port *port, struct roce_shard *shard,
			   const struct roce_key *cnp, u64 now_ns)
{
	struct roce_flow *f = roce_flows_notified(&shard->flows, cnp, now_ns);
	struct roce_ring *ring;

	ring = f && f->owner ? xa_load(&port->rings, f->owner) : NULL;
	if (!ring) {
		closnet_add(&shard->stats.cnp_unmatched, 1);
		return false;
	}
	trace_roce_cnp_received(cnp, f->key.qpn);
	if (!roce_rx_hand_on(ring, f, now_ns))
		closnet_add(&shard->stats.cnp_ignored, 1);
	return true;
}

static unsigned int roce_rx_cnp(struct roce_port *port, struct sk_buff *skb,
				const struct roce_pkt *pkt)
{
	struct roce_shard *shard = roce_shard_of(port, &pkt->key);
	bool valid = roce_skb_cnp_valid(skb, pkt), consume = false;

	spin_lock(&shard->lock);
	if (valid)
		consume = roce_rx_notify(port, shard, &pkt->key, ktime_get_ns()) &&
			  shard->params.consume;
	else
		closnet_add(&shard->stats.cnp_malformed, 1);
	spin_unlock(&shard->lock);
	if (!consume)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

/* ---- CNPs to senders ---- */

/* Run the NP for a data packet, under the shard's lock. Return: true: send @cnp */
static bool roce_rx_np(struct roce_shard *shard, struct roce_flow *f, const struct roce_pkt *pkt,
		       u32 packets, u64 now_ns, struct roce_cnp *cnp)
{
	bool ce = roce_pkt_ecn(pkt) == ROCE_CE;

	if (ce) {
		closnet_add(&shard->stats.marked_packets, packets);
		f->marked_packets += packets;
	}
	if (f->peer_qpn == ROCE_QPN_NONE) {
		f->np.pending |= ce;
		if (ce)
			closnet_add(&shard->stats.unpaired_packets, packets);
		return false;
	}
	if (!dcqcn_np_packet(&f->np, &shard->params.dcqcn, now_ns, ce))
		return false;
	f->cnps++;
	*cnp = (struct roce_cnp) {
		.key = { .src = pkt->key.dst, .dst = pkt->key.src, .qpn = f->peer_qpn },
		.sport = pkt->sport,
		.dscp = shard->params.dscp,
		.ipv6 = pkt->ipv6,
	};
	return true;
}

static void roce_rx_answer(struct roce_shard *shard, const struct sk_buff *data,
			   const struct roce_cnp *cnp, u8 prio)
{
	struct sk_buff *skb = roce_skb_cnp(data, cnp, prio);

	spin_lock(&shard->lock);
	closnet_add(skb ? &shard->stats.cnp_sent : &shard->stats.nomem_packets, 1);
	spin_unlock(&shard->lock);
	if (!skb)
		return;
	trace_roce_cnp_sent(&cnp->key);
	dev_queue_xmit(skb);
}

static void roce_rx_qp(struct roce_port *port, struct sk_buff *skb, const struct roce_pkt *pkt)
{
	u32 packets = max_t(u32, skb_shinfo(skb)->gso_segs, 1);
	struct roce_shard *shard = roce_shard_of(port, &pkt->key);
	bool answer = false, clear;
	u64 now_ns = ktime_get_ns();
	struct roce_flow *f;
	struct roce_cnp cnp;
	u8 prio;

	spin_lock(&shard->lock);
	clear = shard->params.clear;
	prio = shard->params.prio;
	f = roce_flow_get(port, shard, &pkt->key);
	if (likely(f)) {
		roce_flows_learn(&shard->flows, f, pkt, now_ns);
		if (pkt->data && shard->params.np)
			answer = roce_rx_np(shard, f, pkt, packets, now_ns, &cnp);
	}
	spin_unlock(&shard->lock);
	if (answer)
		roce_rx_answer(shard, skb, &cnp, prio);
	/* without memory, the mark stays: another CNP does no harm */
	if (clear && pkt->data && roce_pkt_ecn(pkt) == ROCE_CE)
		roce_skb_set_ecn(skb, pkt, ROCE_ECT_0);
}

static unsigned int roce_rx_hook(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	struct roce_port *port = priv;
	struct roce_pkt pkt;

	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_OTHERHOST)
		return NF_ACCEPT;
	switch (roce_skb_parse(skb, 0, &pkt)) {
	case ROCE_KIND_CNP:
		return roce_rx_cnp(port, skb, &pkt);
	case ROCE_KIND_QP:
		roce_rx_qp(port, skb, &pkt);
		return NF_ACCEPT;
	default:
		return NF_ACCEPT;
	}
}

/* ---- life ---- */

static void roce_port_setup(struct roce_port *port, struct net_device *dev)
{
	u32 i;

	xa_init_flags(&port->rings, XA_FLAGS_ALLOC1);
	port->seed = get_random_u64();
	port->memcg = get_mem_cgroup_from_mm(current->mm);
	INIT_DELAYED_WORK(&port->sweep, roce_port_sweep);
	for (i = 0; i < ROCE_SHARDS; i++) {
		spin_lock_init(&port->shard[i].lock);
		port->shard[i].flows.seed = port->seed;
	}
	port->hook = (struct nf_hook_ops) {
		.hook = roce_rx_hook,
		.priv = port,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
}

static void roce_port_free(struct roce_port *port)
{
	mem_cgroup_put(port->memcg);
	kvfree(port);
}

/**
 * roce_port_create() - hook a device's ingress, in init()
 * @dev: the device
 * @extack: error report
 *
 * A qdisc that another one replaces exists until after that one's init(). For that
 * time, both have a hook.
 *
 * Return: the ingress half, which needs roce_port_set(); or a negative error.
 */
struct roce_port *roce_port_create(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct roce_port *port;
	int err;

	if (!closnet_l2_len(dev) && dev->hard_header_len) {
		NL_SET_ERR_MSG(extack, "the device must have Ethernet headers, or none");
		return ERR_PTR(-EOPNOTSUPP);
	}
	port = kvzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return ERR_PTR(-ENOMEM);
	roce_port_setup(port, dev);
	err = nf_register_net_hook(dev_net(dev), &port->hook);
	if (err) {
		roce_port_free(port);
		return ERR_PTR(err);
	}
	closnet_port_add(&port->base, dev);
	return port;
}

/**
 * roce_port_add_ring() - add a ring to those that get CNPs, in init()
 * @port: ingress half
 * @ring: ring of the qdisc
 *
 * Return: 0 or a negative error.
 */
int roce_port_add_ring(struct roce_port *port, struct roce_ring *ring)
{
	return xa_alloc(&port->rings, &ring->number, ring, xa_limit_32b, GFP_KERNEL_ACCOUNT);
}

/**
 * roce_port_del_ring() - undo roce_port_add_ring(), first in destroy()
 * @port: ingress half
 * @ring: ring of the qdisc, which the ingress half does not use any longer
 */
void roce_port_del_ring(struct roce_port *port, const struct roce_ring *ring)
{
	struct roce_shard *shard;

	xa_erase(&port->rings, ring->number);
	for (shard = port->shard; shard < port->shard + ROCE_SHARDS; shard++) {
		spin_lock_bh(&shard->lock);	/* a hook that has found the ring returns */
		spin_unlock_bh(&shard->lock);
	}
}

/**
 * roce_port_put() - undo roce_port_create() if the device has no qdisc
 * @port: ingress half
 */
void roce_port_put(struct roce_port *port)
{
	u32 i;

	if (!closnet_port_del(&port->base))
		return;
	nf_unregister_net_hook(dev_net(port->base.dev), &port->hook);
	synchronize_net();	/* wait until the hook has returned on all CPUs */
	cancel_delayed_work_sync(&port->sweep);
	for (i = 0; i < ROCE_SHARDS; i++)
		roce_flows_free(port, roce_flows_expire(&port->shard[i].flows, U64_MAX));
	roce_port_free(port);
}

/**
 * roce_port_set() - configure
 * @port: ingress half
 * @params: parameters
 */
void roce_port_set(struct roce_port *port, const struct roce_rx_params *params)
{
	struct roce_shard *shard;

	for (shard = port->shard; shard < port->shard + ROCE_SHARDS; shard++) {
		spin_lock_bh(&shard->lock);
		shard->params = *params;
		spin_unlock_bh(&shard->lock);
	}
}

/* ---- dumps ---- */

/**
 * roce_port_get_stats() - get the counters
 * @port: ingress half
 * @to: result
 */
void roce_port_get_stats(const struct roce_port *port, struct roce_port_stats *to)
{
	const struct roce_port_stats *st;
	u32 i;

	*to = (struct roce_port_stats) { .flows = atomic_read(&port->flows) };
	for (i = 0; i < ROCE_SHARDS; i++) {
		st = &port->shard[i].stats;
		to->cnp_ignored += READ_ONCE(st->cnp_ignored);
		to->cnp_unmatched += READ_ONCE(st->cnp_unmatched);
		to->cnp_malformed += READ_ONCE(st->cnp_malformed);
		to->marked_packets += READ_ONCE(st->marked_packets);
		to->cnp_sent += READ_ONCE(st->cnp_sent);
		to->unpaired_packets += READ_ONCE(st->unpaired_packets);
		to->nomem_packets += READ_ONCE(st->nomem_packets);
	}
}

/* Dump a shard's flows from number @index on, under its lock. */
static int roce_shard_dump(struct roce_shard *shard, u32 *index,
			   int (*put)(void *arg, const struct roce_flow *f), void *arg)
{
	const struct roce_flow *f;
	u32 n, i = 0;
	int err;

	for (n = 0; n < ROCE_FLOW_BUCKETS; n++) {
		for (f = shard->flows.bucket[n]; f; f = f->next, i++) {
			if (i < *index)
				continue;
			err = put(arg, f);
			if (err)
				return err;
			*index = i + 1;
		}
	}
	return 0;
}

/**
 * roce_port_dump() - dump the flows
 * @port: ingress half
 * @shard: shard to continue with; 0 at first
 * @index: number of the flow to continue with; 0 at first
 * @put: called for each flow, under a lock; an error other than 0 ends the dump
 * @arg: for @put
 *
 * Return: 0, or the error of @put; then the next call continues with the same flow.
 */
int roce_port_dump(struct roce_port *port, u32 *shard, u32 *index,
		   int (*put)(void *arg, const struct roce_flow *f), void *arg)
{
	int err;

	for (; *shard < ROCE_SHARDS; (*shard)++, *index = 0) {
		spin_lock_bh(&port->shard[*shard].lock);
		err = roce_shard_dump(&port->shard[*shard], index, put, arg);
		spin_unlock_bh(&port->shard[*shard].lock);
		if (err)
			return err;
	}
	return 0;
}
