// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiving half of sch_pcrp: a hook at the device's ingress
 *
 * The qdiscs of a device (below mq, one for each TX queue) share it.
 *
 *	ingress -> taps, tc, nft -> hook
 *		control packet to this host:
 *			REQUEST, PROBE -> receiver -> GRANTs, sent at once
 *			GRANT -> inbox of its qdisc -> dequeue() -> sender
 *		other packet:
 *			[waiting window ->] receiver -> GRANTs, and on to the stack
 *
 * The hook is the device's last one, so that packets which a firewall drops there grant
 * nothing. It sees packets as NAPI delivers them: skb->data at the L3 header, a VLAN tag
 * in the skb, TCP segments merged by GRO. Control packets to this host end here;
 * forwarded ones pass, whatever their ports.
 *
 * Received flows are found by 5-tuple. All slots are allocated in advance: a packet never
 * allocates or frees one, so a flood of REQUESTs costs no memory. A packet of an unknown
 * flow costs a lockless look at its hash bucket.
 *
 * Locks: pcrp_ingress.lock protects the receiver, the lock of pcrp_ingress.inboxes the
 * GRANTs to our flows. Either may nest inside the root lock, never the other way round.
 * Hence a GRANT waits for dequeue(), which runs under the lock of the right root. GRANTs to
 * other hosts are sent without a lock.
 *
 * Differences from the paper: see pcrp_receiver.c and pcrp_window.c.
 */

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/netfilter.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/rtnetlink.h>
#include <linux/siphash.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <closnet/qdisc.h>
#include "pcrp_ctl.h"
#include "pcrp_ingress.h"
#include "pcrp_net.h"
#include "pcrp_parse.h"
#include "pcrp_receiver.h"
#include "pcrp_window.h"

/* Received flows, at most; flows of one chain do not count */
#define PCRP_INGRESS_FLOWS	4096
#define PCRP_INGRESS_BUCKETS	PCRP_INGRESS_FLOWS
/* Flows of one source, at most: it takes 16 hosts to leave no slot for others. */
#define PCRP_FLOWS_PER_SOURCE	(PCRP_INGRESS_FLOWS / 16)
/* Sources are indexed by a hash; two of them share an index with probability 1 / 4096. */
#define PCRP_SOURCES		4096
/* Shortest time to the timer, if there is more to expire */
#define PCRP_INGRESS_PAUSE_NS	(50 * NSEC_PER_USEC)

/**
 * struct pcrp_ingress_flow - a received flow
 * @rx: slot of the receiver
 * @key: key of the flow
 * @node: in its hash bucket
 * @path: headers of its GRANTs
 */
struct pcrp_ingress_flow {
	struct pcrp_rx_flow rx;
	struct pcrp_key key;
	struct hlist_node node;
	struct pcrp_path path;
};

/**
 * struct pcrp_ingress - the receiving half
 * @dev: the device
 * @pn: its namespace
 * @hook: at the device's ingress
 * @cookie_key: key of the cookies of our own flows
 * @seed: seed of the hash
 * @window: waiting window
 * @inboxes: inboxes of the qdiscs, by number; its lock protects their GRANTs
 * @lock: protects all fields below
 * @chains: inboxes by the length of their chains, the longest one first
 * @dscp: DSCP of GRANTs
 * @params: parameters of @receiver
 * @receiver: decides which flows are granted
 * @timer: expires flows; armed while there are any
 * @armed: @timer is armed
 * @malformed: malformed control packets
 * @refused: GRANTs with a wrong cookie
 * @nomem: GRANTs lost for lack of memory, or of room in an inbox
 * @buckets: hash buckets of @flows
 * @flows: received flows
 * @sources: their sources
 */
struct pcrp_ingress {
	struct net_device *dev;
	struct pcrp_net *pn;
	struct nf_hook_ops hook;
	siphash_key_t cookie_key;
	u64 seed;
	struct pcrp_window window;
	struct xarray inboxes;

	spinlock_t lock;	/* protects all fields below */
	struct rb_root_cached chains;
	u8 dscp;
	struct pcrp_rx_params params;
	struct pcrp_receiver receiver;
	struct hrtimer timer;
	bool armed;
	u64 malformed;
	u64 refused;
	u64 nomem;
	struct hlist_head buckets[PCRP_INGRESS_BUCKETS];
	struct pcrp_ingress_flow flows[PCRP_INGRESS_FLOWS];
	struct pcrp_source sources[PCRP_SOURCES];
};

/* Count an event when no lock is held. */
static void pcrp_ingress_count(struct pcrp_ingress *in, u64 *counter, u32 n)
{
	spin_lock(&in->lock);
	closnet_add(counter, n);
	spin_unlock(&in->lock);
}

/* ---- flows ---- */

static struct hlist_head *pcrp_ingress_bucket(struct pcrp_ingress *in, const struct pcrp_key *key)
{
	return &in->buckets[pcrp_key_hash(key, in->seed) % PCRP_INGRESS_BUCKETS];
}

/* The hash has a secret seed, so no sender can make a bucket long. */
static struct pcrp_ingress_flow *pcrp_ingress_find(const struct hlist_head *bucket,
						   const struct pcrp_key *key)
{
	struct pcrp_ingress_flow *f;

	hlist_for_each_entry(f, bucket, node)
		if (pcrp_key_equal(&f->key, key))
			return f;
	return NULL;
}

/* ---- GRANTs to other hosts ---- */

/* Under the lock. Later changes need no earlier time: places and flows last longer. */
static void pcrp_ingress_arm(struct pcrp_ingress *in, u64 now)
{
	u64 ns;

	if (in->armed || !in->receiver.used)
		return;
	ns = clamp(pcrp_rx_next_ns(&in->receiver), now + PCRP_INGRESS_PAUSE_NS,
		   now + PCRP_PLACE_NS);
	in->armed = true;
	hrtimer_start(&in->timer, ns_to_ktime(ns), HRTIMER_MODE_ABS_SOFT);
}

static void pcrp_ingress_put_grant(struct pcrp_ingress *in, const struct pcrp_path *path,
				   const struct pcrp_msg *msg, struct sk_buff_head *list)
{
	struct sk_buff *skb = pcrp_ctl_build(in->dev, path, msg, in->dscp);

	if (likely(skb))
		__skb_queue_tail(list, skb);
	else
		closnet_add(&in->nomem, 1);
}

/*
 * Do what the receiver decides, except for sending. Under the lock, after each call of
 * the receiver, so that there are at most PCRP_GRANTS_MAX GRANTs and 64 ends to do.
 */
static void pcrp_ingress_act(struct pcrp_ingress *in, struct sk_buff_head *list)
{
	enum pcrp_rx_action action;
	struct pcrp_ingress_flow *f;
	struct pcrp_rx_flow *rx;
	struct pcrp_msg msg;

	while ((action = pcrp_rx_next_action(&in->receiver, &rx)) != PCRP_RX_NOTHING) {
		f = container_of(rx, struct pcrp_ingress_flow, rx);
		switch (action) {
		case PCRP_RX_FINISHED:
			pcrp_net_count(in->pn, rx->size);
			fallthrough;
		case PCRP_RX_EXPIRED:
			hlist_del(&f->node);
			break;
		default:
			pcrp_rx_build_grant(rx, &msg);
			pcrp_ingress_put_grant(in, &f->path, &msg, list);
		}
	}
}

/* Without a lock */
static void pcrp_ingress_send(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list)))
		dev_queue_xmit(skb);
}

static enum hrtimer_restart pcrp_ingress_timer(struct hrtimer *timer)
{
	struct pcrp_ingress *in = container_of(timer, struct pcrp_ingress, timer);
	struct sk_buff_head list;
	u64 now;

	__skb_queue_head_init(&list);
	spin_lock(&in->lock);
	now = ktime_get_ns();
	in->armed = false;
	pcrp_rx_expire(&in->receiver, now);
	pcrp_ingress_act(in, &list);
	pcrp_ingress_arm(in, now);
	spin_unlock(&in->lock);
	pcrp_ingress_send(&list);
	return HRTIMER_NORESTART;
}

/* ---- GRANTs to this host ---- */

/**
 * pcrp_ingress_cookie() - compute the cookie of a flow's REQUESTs and PROBEs
 * @in: receiving half
 * @slot: slot of the flow
 * @flow_no: number of the flow
 *
 * Return: the cookie, without which a GRANT is refused.
 */
u64 pcrp_ingress_cookie(const struct pcrp_ingress *in, u32 slot, u32 flow_no)
{
	return siphash_2u32(slot, flow_no, &in->cookie_key);
}

/* Queue a GRANT for the qdisc of its flow. Return: the counter of lost GRANTs, or NULL */
static u64 *pcrp_ingress_put_inbox(struct pcrp_ingress *in, const struct pcrp_msg *msg, u64 now)
{
	const struct pcrp_ingress_grant grant = { .msg = *msg, .now = now };
	struct pcrp_inbox *inbox = xa_load(&in->inboxes, msg->slot >> PCRP_SLOT_BITS);
	bool queued;

	if (unlikely(!inbox))
		return &in->refused;
	queued = kfifo_put(&inbox->grants, grant);
	WRITE_ONCE(inbox->pending, true);
	__netif_schedule(qdisc_root(inbox->sch));
	return likely(queued) ? NULL : &in->nomem;
}

static void pcrp_ingress_take_grant(struct pcrp_ingress *in, const struct pcrp_msg *msg, u64 now)
{
	u64 *lost = &in->refused;

	if (msg->cookie == pcrp_ingress_cookie(in, msg->slot, msg->flow_no)) {
		xa_lock(&in->inboxes);
		lost = pcrp_ingress_put_inbox(in, msg, now);
		xa_unlock(&in->inboxes);
	}
	if (unlikely(lost))
		pcrp_ingress_count(in, lost, 1);
}

/**
 * pcrp_ingress_next_grant() - take the next GRANT to a flow of ours, in dequeue()
 * @in: receiving half
 * @inbox: inbox of the qdisc, if @inbox->pending is set
 * @grant: result
 *
 * Return: false: there is no GRANT.
 */
bool pcrp_ingress_next_grant(struct pcrp_ingress *in, struct pcrp_inbox *inbox,
			     struct pcrp_ingress_grant *grant)
{
	bool taken;

	xa_lock(&in->inboxes);
	taken = kfifo_get(&inbox->grants, grant);
	if (!taken)
		WRITE_ONCE(inbox->pending, false);
	xa_unlock(&in->inboxes);
	return taken;
}

/* ---- packets ---- */

/* Under the lock. Return: false: there is no slot for the flow */
static bool pcrp_ingress_take_request(struct pcrp_ingress *in, const struct pcrp_key *key,
				      const struct pcrp_path *path, const struct pcrp_msg *msg,
				      u64 now)
{
	u32 source = pcrp_addr_hash(&key->src, in->seed) % PCRP_SOURCES;
	struct hlist_head *bucket = pcrp_ingress_bucket(in, key);
	struct pcrp_ingress_flow *f = pcrp_ingress_find(bucket, key);
	bool known = f;
	struct pcrp_rx_flow *rx;

	rx = pcrp_rx_request(&in->receiver, known ? &f->rx : NULL, &in->sources[source], msg, now);
	if (!rx)
		return false;
	f = container_of(rx, struct pcrp_ingress_flow, rx);
	if (!known) {
		f->key = *key;
		hlist_add_head(&f->node, bucket);
	}
	if (rx->flow_no == msg->flow_no)	/* not an earlier flow's */
		f->path = *path;
	return true;
}

static void pcrp_ingress_request(struct pcrp_ingress *in, const struct pcrp_pkt *pkt,
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
	spin_lock(&in->lock);
	if (!pcrp_ingress_take_request(in, &key, path, msg, now)) {
		pcrp_rx_refuse(msg, &answer);
		pcrp_ingress_put_grant(in, path, &answer, &list);
	}
	pcrp_ingress_act(in, &list);
	pcrp_ingress_arm(in, now);
	spin_unlock(&in->lock);
	pcrp_ingress_send(&list);
}

static void pcrp_ingress_control(struct pcrp_ingress *in, const struct sk_buff *skb,
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
			pcrp_ingress_take_grant(in, &msg, now);
		else
			pcrp_ingress_request(in, pkt, &path, &msg, now);
	}
	if (unlikely(!good || good != count))
		pcrp_ingress_count(in, &in->malformed, max(count, 1U) - good);
}

/* Account for a packet that goes to the stack. */
static void pcrp_ingress_data(struct pcrp_ingress *in, const struct pcrp_pkt *pkt)
{
	const struct hlist_head *bucket;
	struct pcrp_ingress_flow *f;
	struct sk_buff_head list;

	if (pkt->kind != PCRP_KIND_FLOW || !READ_ONCE(in->receiver.used))
		return;
	bucket = pcrp_ingress_bucket(in, &pkt->key);
	if (hlist_empty(bucket))
		return;
	__skb_queue_head_init(&list);
	spin_lock(&in->lock);
	f = pcrp_ingress_find(bucket, &pkt->key);
	if (f) {
		pcrp_rx_data(&in->receiver, &f->rx, pkt->bytes, pkt->seq, ktime_get_ns());
		pcrp_ingress_act(in, &list);
	}
	spin_unlock(&in->lock);
	pcrp_ingress_send(&list);
}

/* A packet leaves the waiting window. */
static void pcrp_ingress_waited(void *arg, struct sk_buff *skb)
{
	struct pcrp_pkt pkt;

	pcrp_parse(skb, 0, ntohs(skb->protocol), &pkt);
	pcrp_ingress_data(arg, &pkt);
}

static unsigned int pcrp_ingress_hook(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	struct pcrp_ingress *in = priv;
	struct pcrp_pkt pkt;

	pcrp_parse(skb, 0, ntohs(skb->protocol), &pkt);
	if (unlikely(pkt.kind == PCRP_KIND_CONTROL) && pcrp_ctl_for_us(skb, &pkt)) {
		pcrp_ingress_control(in, skb, &pkt, ktime_get_ns());
		consume_skb(skb);
		return NF_STOLEN;
	}
	if (pcrp_window_take(&in->window, skb, &pkt))
		return NF_STOLEN;
	pcrp_ingress_data(in, &pkt);
	return NF_ACCEPT;
}

/* ---- configuration ---- */

/**
 * pcrp_ingress_set() - set the parameters
 * @in: receiving half
 * @params: parameters
 */
void pcrp_ingress_set(struct pcrp_ingress *in, const struct pcrp_ingress_params *params)
{
	spin_lock_bh(&in->lock);
	in->params.grants = params->grants;
	in->params.evict = params->evict;
	in->params.paper = params->paper;
	in->dscp = params->map[0] == PCRP_MAP_LEAVE ? 0 : params->map[0];
	if (in->receiver.used) {	/* there may be more places: expire now */
		in->armed = true;
		hrtimer_start(&in->timer, 0, HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&in->lock);
	pcrp_window_set(&in->window, params->window_us, params->map);
}

static bool pcrp_inbox_longer(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct pcrp_inbox, chain)->chain_bytes >
	       rb_entry(b, struct pcrp_inbox, chain)->chain_bytes;
}

/**
 * pcrp_ingress_set_chain() - set the length of a qdisc's chains
 * @in: receiving half
 * @inbox: inbox of the qdisc
 * @chain_bytes: the length; 0: the qdisc leaves
 *
 * The receiver grants the longest chains of the qdiscs: their rates may differ. A change of options
 * sets those of all TX queues, so the longest one is found in logarithmic time.
 */
void pcrp_ingress_set_chain(struct pcrp_ingress *in, struct pcrp_inbox *inbox, u32 chain_bytes)
{
	const struct rb_node *longest;

	spin_lock_bh(&in->lock);
	if (inbox->chain_bytes)
		rb_erase_cached(&inbox->chain, &in->chains);
	inbox->chain_bytes = chain_bytes;
	if (chain_bytes)
		rb_add_cached(&inbox->chain, &in->chains, pcrp_inbox_longer);
	longest = rb_first_cached(&in->chains);
	if (longest)
		in->params.chain_bytes = rb_entry(longest, struct pcrp_inbox, chain)->chain_bytes;
	spin_unlock_bh(&in->lock);
}

/* ---- life ---- */

static int pcrp_ingress_setup(struct pcrp_ingress *in, struct net_device *dev)
{
	u32 i;

	in->dev = dev;
	in->pn = pcrp_net_of(dev_net(dev));
	in->seed = get_random_u64();
	get_random_bytes(&in->cookie_key, sizeof(in->cookie_key));
	spin_lock_init(&in->lock);
	xa_init_flags(&in->inboxes, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	hrtimer_setup(&in->timer, pcrp_ingress_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	in->params = (struct pcrp_rx_params) { .chain_bytes = PCRP_CHAIN_MIN, .grants = 1 };
	pcrp_rx_init(&in->receiver, &in->params, PCRP_FLOWS_PER_SOURCE);
	for (i = 0; i < PCRP_INGRESS_FLOWS; i++)
		pcrp_rx_add_slot(&in->receiver, &in->flows[i].rx);
	in->hook = (struct nf_hook_ops) {
		.hook = pcrp_ingress_hook,
		.priv = in,
		.dev = dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	return pcrp_window_init(&in->window, pcrp_ingress_waited, in);
}

/**
 * pcrp_ingress_create() - hook a device's ingress
 * @dev: the device
 * @extack: error report
 *
 * Return: the receiving half, which needs pcrp_ingress_set(); or a negative error.
 */
struct pcrp_ingress *pcrp_ingress_create(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct pcrp_ingress *in;
	int err;

	if (!closnet_l2_len(dev) && dev->hard_header_len) {
		NL_SET_ERR_MSG(extack, "the device must have Ethernet headers, or none");
		return ERR_PTR(-EOPNOTSUPP);
	}
	in = kvzalloc(sizeof(*in), GFP_KERNEL_ACCOUNT);
	if (!in)
		return ERR_PTR(-ENOMEM);
	err = pcrp_ingress_setup(in, dev);
	if (!err)
		err = nf_register_net_hook(dev_net(dev), &in->hook);
	if (err) {
		pcrp_window_free(&in->window);
		kvfree(in);
		return ERR_PTR(err);
	}
	return in;
}

/**
 * pcrp_ingress_destroy() - unhook the ingress, when all qdiscs have left
 * @in: receiving half
 */
void pcrp_ingress_destroy(struct pcrp_ingress *in)
{
	nf_unregister_net_hook(dev_net(in->dev), &in->hook);
	synchronize_net();	/* the hook has returned on all CPUs */
	hrtimer_cancel(&in->timer);
	pcrp_window_free(&in->window);
	xa_destroy(&in->inboxes);
	kvfree(in);
}

/**
 * pcrp_ingress_join() - add a qdisc to those that get GRANTs, in init()
 * @in: receiving half
 * @inbox: inbox of the qdisc, zeroed
 * @sch: the qdisc
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
int pcrp_ingress_join(struct pcrp_ingress *in, struct pcrp_inbox *inbox, struct Qdisc *sch,
		      struct netlink_ext_ack *extack)
{
	int err;

	inbox->sch = sch;
	INIT_KFIFO(inbox->grants);
	err = xa_alloc_bh(&in->inboxes, &inbox->number, inbox, XA_LIMIT(0, PCRP_SLOT_MASK),
			  GFP_KERNEL);
	if (err)
		NL_SET_ERR_MSG(extack, "the device has too many pcrp qdiscs, or memory ran out");
	return err;
}

/**
 * pcrp_ingress_leave() - undo pcrp_ingress_join(), in destroy() before anything else
 * @in: receiving half
 * @inbox: inbox of the qdisc
 *
 * Afterwards the receiving half uses neither inbox nor qdisc.
 */
void pcrp_ingress_leave(struct pcrp_ingress *in, struct pcrp_inbox *inbox)
{
	xa_erase_bh(&in->inboxes, inbox->number);
	pcrp_ingress_set_chain(in, inbox, 0);
}

/**
 * pcrp_ingress_stats() - add the receiving half to the statistics
 * @in: receiving half
 * @to: result
 */
void pcrp_ingress_stats(struct pcrp_ingress *in, struct pcrp_stats *to)
{
	to->tx.grants_refused += READ_ONCE(in->refused);
	to->dropped_nomem_packets += READ_ONCE(in->nomem);
	to->rx_malformed = READ_ONCE(in->malformed);
	to->rx_flows = READ_ONCE(in->receiver.used);
	to->rx_granted = READ_ONCE(in->receiver.granted);
	pcrp_copy_counters(&to->rx, &in->receiver.stats, sizeof(to->rx));
	pcrp_window_stats(&in->window, to);
}
