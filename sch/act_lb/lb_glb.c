// SPDX-License-Identifier: GPL-2.0-only
/*
 * Global load balancing: telling neighbours, and listening to them
 *
 * lb_remote.c has the protocol and the store. This file has frames, timers and trust.
 *
 * A teller belongs to an action at the ingress of the port to a neighbour. It notes for each prefix that
 * this neighbour sends packets to: the neighbour's MAC address, the egress ports, and what was told last.
 * The packet that finds a change sends the message. A timer looks after prefixes without packets; it
 * runs only while a prefix is in use. With several egress ports the quality is that of the best one.
 *
 * Who is believed. Messages are link-local frames, which no router or bridge forwards if they have
 * another host's MAC address. They are accepted from a port that is a next hop of balanced
 * packets: a host at another port cannot say anything about a path. With a key, the sender must know
 * it, too. What a neighbour can do at worst is to pull traffic to itself or to send it away, as it can by
 * its routes. Memory is fixed: LB_REMOTE_WAYS << LB_STORE_BITS places for a namespace, and
 * LB_REMOTE_WAYS << LB_TELLER_BITS for an action that tells.
 *
 * Locks. The teller's lock guards its places; it is taken for packets that have something to tell, and
 * by its timer; inside it those of ports. Frames are sent without it.
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include "lb_glb.h"

/* ---- prefixes ---- */

/* The part of a message that names the prefix of a route */
static void lb_set_prefix(struct lb_msg *m, const struct lb_route *r)
{
	memset(m->prefix, 0, sizeof(m->prefix));
	m->ipv6 = r->ipv6;
	if (r->ipv6) {
		m->prefix_len = r->v6.f6i->fib6_dst.plen;
		memcpy(m->prefix, &r->v6.f6i->fib6_dst.addr, sizeof(struct in6_addr));
	} else {
		m->prefix_len = r->v4.prefixlen;
		memcpy(m->prefix, &r->v4.prefix, sizeof(r->v4.prefix));
	}
}

static u64 lb_msg_hash(const siphash_key_t *key, const struct lb_msg *m)
{
	u64 high, low;

	memcpy(&high, m->prefix, sizeof(high));
	memcpy(&low, m->prefix + sizeof(high), sizeof(low));
	return siphash_3u64(high, low, (u64)m->prefix_len << 1 | m->ipv6, key);
}

/* Tag of a port and the hash of a prefix: different for different ports, and not 0 */
static u64 lb_tag(u64 hash, u32 ifindex)
{
	return (hash + ifindex) * GOLDEN_RATIO_64 | 1;
}

static struct lb_remote *lb_bucket(struct lb_remote *store, u64 tag)
{
	return store + (tag >> (64 - LB_STORE_BITS)) * LB_REMOTE_WAYS;
}

/**
 * lb_glb_prefix_hash() - compute the hash of a route's prefix
 * @glb: state of the namespace
 * @r: the route
 *
 * Return: the hash, for lb_glb_quality().
 */
u64 lb_glb_prefix_hash(const struct lb_glb *glb, const struct lb_route *r)
{
	struct lb_msg m;

	lb_set_prefix(&m, r);
	return lb_msg_hash(&glb->hash_key, &m);
}

/**
 * lb_glb_quality() - look up what was told of a prefix behind a port
 * @store: the store
 * @hash: hash of the prefix
 * @ifindex: the port
 * @now_ns: present time
 *
 * Return: 0 to LB_BEST, which is that of an unknown path, too.
 */
u8 lb_glb_quality(const struct lb_remote *store, u64 hash, u32 ifindex, u64 now_ns)
{
	u64 tag = lb_tag(hash, ifindex);

	return lb_remote_quality(lb_bucket((struct lb_remote *)store, tag), tag, now_ns);
}

/* ---- the namespace ---- */

/**
 * lb_glb_init() - begin without users
 * @glb: state of a namespace
 */
void lb_glb_init(struct lb_glb *glb)
{
	spin_lock_init(&glb->lock);
	mutex_init(&glb->mutex);
	get_random_bytes(&glb->hash_key, sizeof(glb->hash_key));
}

/**
 * lb_glb_exit() - free the store
 * @glb: state of a namespace that nobody uses any more
 */
void lb_glb_exit(struct lb_glb *glb)
{
	kvfree(rcu_dereference_protected(glb->store, 1));
}

static int lb_glb_set_key(struct lb_glb *glb, const u8 *key, struct netlink_ext_ack *extack)
{
	siphash_key_t new = { };

	if (key)
		memcpy(&new, key, LB_KEY_LEN);
	if (glb->users && (glb->keyed != !!key || memcmp(&glb->key, &new, sizeof(new)))) {
		NL_SET_ERR_MSG(extack, "key must be that of the namespace's other lb actions with glb");
		return -EBUSY;
	}
	glb->key = new;
	WRITE_ONCE(glb->keyed, key);
	return 0;
}

static int lb_glb_make_store(struct lb_glb *glb)
{
	struct lb_remote *store;

	if (rcu_access_pointer(glb->store))
		return 0;
	store = kvcalloc(LB_REMOTE_WAYS << LB_STORE_BITS, sizeof(*store), GFP_KERNEL_ACCOUNT);
	if (!store)
		return -ENOMEM;
	rcu_assign_pointer(glb->store, store);
	return 0;
}

/**
 * lb_glb_join() - count an action with global load balancing
 * @glb: state of its namespace
 * @choose: it chooses by what neighbours tell
 * @key: LB_KEY_LEN bytes, or NULL for no authentication
 * @extack: error report
 *
 * Context: process; may sleep.
 *
 * Return: 0, -EBUSY if other actions have another key, -ENOMEM.
 */
int lb_glb_join(struct lb_glb *glb, bool choose, const u8 *key, struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&glb->mutex);
	err = lb_glb_set_key(glb, key, extack);
	if (!err && choose)
		err = lb_glb_make_store(glb);
	if (!err) {
		glb->users++;
		WRITE_ONCE(glb->choosers, glb->choosers + choose);
	}
	mutex_unlock(&glb->mutex);
	return err;
}

/**
 * lb_glb_leave() - take back lb_glb_join()
 * @glb: state of the namespace
 * @choose: as in lb_glb_join()
 *
 * Context: process; may sleep.
 */
void lb_glb_leave(struct lb_glb *glb, bool choose)
{
	mutex_lock(&glb->mutex);
	glb->users--;
	WRITE_ONCE(glb->choosers, glb->choosers - choose);
	mutex_unlock(&glb->mutex);
}

/* ---- listening ---- */

/* Is the message from somebody who may say something, and intact? */
static bool lb_is_believed(const struct lb_glb *glb, struct lb_ports *ports,
			   const struct sk_buff *skb, const u8 *buf)
{
	u64 auth;

	if (skb->pkt_type != PACKET_HOST || !xa_load(&ports->by_ifindex, skb->dev->ifindex))
		return false;
	auth = READ_ONCE(glb->keyed) ? siphash(buf, LB_MSG_AUTH, &glb->key) : 0;
	return get_unaligned_be64(buf + LB_MSG_AUTH) == auth;
}

/**
 * lb_glb_receive() - take a message
 * @glb: state of the namespace
 * @ports: its ports
 * @skb: the frame, without its Ethernet header; is not changed
 *
 * Context: softirq, RCU.
 *
 * Return: 0, or -ENOENT if nobody listens, or -EINVAL if it does not count.
 */
int lb_glb_receive(struct lb_glb *glb, struct lb_ports *ports, const struct sk_buff *skb)
{
	struct lb_remote *store = rcu_dereference(glb->store);
	u8 buf[LB_MSG_LEN] __aligned(8);
	bool heard = false;
	struct lb_msg m;
	u64 tag;

	if (!READ_ONCE(glb->choosers) || !store)
		return -ENOENT;
	spin_lock(&glb->lock);
	if (skb->len >= LB_MSG_LEN && !skb_copy_bits(skb, 0, buf, LB_MSG_LEN) &&
	    lb_is_believed(glb, ports, skb, buf) && lb_msg_read(&m, buf, LB_MSG_LEN)) {
		tag = lb_tag(lb_msg_hash(&glb->hash_key, &m), skb->dev->ifindex);
		heard = lb_remote_set(lb_bucket(store, tag), tag, m.stamp, m.quality,
				      ktime_get_ns()) == LB_HEARD;
	}
	WRITE_ONCE(glb->heard, glb->heard + heard);
	WRITE_ONCE(glb->refused, glb->refused + !heard);
	spin_unlock(&glb->lock);
	return heard ? 0 : -EINVAL;
}

/* ---- telling ---- */

/**
 * struct lb_listener - a neighbour that uses a prefix
 * @tag: hash of prefix and port; 0: the place is free
 * @told: what it was told
 * @msg: the prefix
 * @ifindex: the neighbour's port
 * @mac: its MAC address
 * @egress_count: number of @egress
 * @egress: devices that lead to the prefix
 */
struct lb_listener {
	u64 tag;
	struct lb_told told;
	struct lb_msg msg;
	u32 ifindex;
	u8 mac[ETH_ALEN];
	u8 egress_count;
	u32 egress[LB_EGRESS_MAX];
};

/**
 * struct lb_teller - an action that tells
 * @lock: guards @listeners, @running and @dead
 * @timer: looks after prefixes without packets
 * @running: the timer runs
 * @dead: nothing may start the timer any more
 * @ports: ports of the namespace
 * @glb: state of the namespace
 * @grading: how load becomes quality
 * @told: counter of messages
 * @rcu: for freeing
 * @listeners: in buckets of LB_REMOTE_WAYS
 */
struct lb_teller {
	spinlock_t lock;
	struct hrtimer timer;
	bool running;
	bool dead;
	struct lb_ports *ports;
	struct lb_glb *glb;
	struct lb_grading grading;
	u64 __percpu *told;
	struct rcu_head rcu;
	struct lb_listener listeners[LB_REMOTE_WAYS << LB_TELLER_BITS];
};

static u8 lb_device_quality(struct lb_teller *t, struct net_device *dev, u64 now_ns)
{
	struct lb_port *port;

	if (!netif_running(dev) || !netif_carrier_ok(dev))
		return 0;
	port = lb_port_get(t->ports, dev);
	if (!port)
		return LB_BEST;
	if (lb_load_is_due(&port->load, &t->grading, now_ns))
		lb_port_sample(port, dev, &t->grading, now_ns);
	return lb_load_quality(&port->load, &t->grading);
}

/* Quality of the best egress port now; at most LB_EGRESS_MAX */
static u8 lb_egress_quality(struct lb_teller *t, const u32 *egress, u32 count, u64 now_ns)
{
	struct net_device *dev;
	u8 best = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		dev = dev_get_by_index_rcu(t->ports->net, egress[i]);
		if (dev)
			best = max(best, lb_device_quality(t, dev, now_ns));
	}
	return best;
}

/* Send a message to a neighbour. */
static void lb_send_message(struct lb_teller *t, u32 ifindex, const u8 *mac, const struct lb_msg *m)
{
	struct net_device *dev = dev_get_by_index_rcu(t->ports->net, ifindex);
	struct sk_buff *skb;
	u8 *buf;

	if (!dev || !netif_running(dev) || dev->type != ARPHRD_ETHER)
		return;
	skb = alloc_skb(LL_RESERVED_SPACE(dev) + LB_MSG_LEN + dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	buf = skb_put(skb, LB_MSG_LEN);
	lb_msg_write(buf, m);
	if (READ_ONCE(t->glb->keyed))
		put_unaligned_be64(siphash(buf, LB_MSG_AUTH, &t->glb->key), buf + LB_MSG_AUTH);
	skb->dev = dev;
	skb->protocol = htons(LB_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	if (dev_hard_header(skb, dev, LB_ETHERTYPE, mac, dev->dev_addr, skb->len) < 0) {
		kfree_skb(skb);
		return;
	}
	this_cpu_inc(*t->told);
	dev_queue_xmit(skb);
}

/* Note what is told now. Return: the message to send; the lock is held */
static struct lb_msg lb_note_told(struct lb_listener *l, u8 quality, u64 now_ns)
{
	l->told.told_ns = now_ns;
	l->told.quality = quality;
	l->msg.quality = quality;
	l->msg.stamp = ktime_get_real_ns();
	return l->msg;
}

/* Find the place of a tag, or one that is free or idle. Return: NULL if there is none; the lock is held */
static struct lb_listener *lb_find_listener(struct lb_teller *t, u64 tag, u64 now_ns)
{
	struct lb_listener *l = t->listeners + (tag >> (64 - LB_TELLER_BITS)) * LB_REMOTE_WAYS;
	struct lb_listener *end = l + LB_REMOTE_WAYS, *place = NULL;

	for (; l < end; l++) {
		if (l->tag == tag)
			return l;
		if (!l->tag || lb_told_is_idle(&l->told, now_ns))
			place = l;
	}
	if (place)
		*place = (struct lb_listener) { .tag = tag };
	return place;
}

/* Egress devices of a route. Return: number of them */
static u32 lb_route_egress(const struct lb_route *r, u32 *egress)
{
	u32 count = min_t(u32, r->count, LB_EGRESS_MAX), i;

	for (i = 0; i < count; i++)
		egress[i] = r->hops[i].nhc->nhc_dev->ifindex;
	return count;
}

/* Bring a neighbour's place up to date. Return: true if @m is to be sent; the lock is held */
static bool lb_update_listener(struct lb_teller *t, struct lb_listener *l, const struct lb_route *r,
			       const struct sk_buff *skb, u64 now_ns, struct lb_msg *m)
{
	u8 quality;

	l->told.used_ns = now_ns;
	l->ifindex = skb->dev->ifindex;
	ether_addr_copy(l->mac, eth_hdr(skb)->h_source);
	lb_set_prefix(&l->msg, r);
	l->egress_count = lb_route_egress(r, l->egress);
	quality = lb_egress_quality(t, l->egress, l->egress_count, now_ns);
	if (!lb_told_is_due(&l->told, quality, t->grading.w.interval_ns, now_ns))
		return false;
	*m = lb_note_told(l, quality, now_ns);
	return true;
}

/**
 * lb_tell() - tell a neighbour the quality of the egress for a packet that it sent
 * @t: the teller
 * @r: route of the packet, with at least one next hop
 * @skb: the packet, at the ingress of the neighbour's port
 * @now_ns: present time
 *
 * Context: RCU, BH off.
 */
void lb_tell(struct lb_teller *t, const struct lb_route *r, const struct sk_buff *skb, u64 now_ns)
{
	u64 tag = lb_tag(lb_glb_prefix_hash(t->glb, r), skb->dev->ifindex);
	struct lb_listener *l;
	struct lb_msg m;
	bool due = false;

	if (skb->dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb))
		return;
	spin_lock(&t->lock);
	l = t->dead ? NULL : lb_find_listener(t, tag, now_ns);
	if (l)
		due = lb_update_listener(t, l, r, skb, now_ns, &m);
	if (l && !t->running) {
		t->running = true;
		hrtimer_start(&t->timer, ns_to_ktime(LB_CHECK_NS), HRTIMER_MODE_REL_SOFT);
	}
	spin_unlock(&t->lock);
	if (due)
		lb_send_message(t, skb->dev->ifindex, eth_hdr(skb)->h_source, &m);
}

/* Look after a neighbour. Return: is the prefix in use? */
static bool lb_check_listener(struct lb_teller *t, struct lb_listener *l, u64 now_ns)
{
	u8 mac[ETH_ALEN], quality;
	struct lb_msg m;
	bool due, used;
	u32 ifindex;

	spin_lock(&t->lock);
	used = l->tag && !lb_told_is_idle(&l->told, now_ns);
	due = false;
	if (used) {
		quality = lb_egress_quality(t, l->egress, l->egress_count, now_ns);
		due = lb_told_is_due(&l->told, quality, t->grading.w.interval_ns, now_ns);
	}
	if (due) {
		m = lb_note_told(l, quality, now_ns);
		ifindex = l->ifindex;
		ether_addr_copy(mac, l->mac);
	}
	spin_unlock(&t->lock);
	if (due)
		lb_send_message(t, ifindex, mac, &m);
	return used;
}

/* Bounded by the number of places. */
static enum hrtimer_restart lb_teller_timer(struct hrtimer *timer)
{
	struct lb_teller *t = container_of(timer, struct lb_teller, timer);
	u64 now_ns = ktime_get_ns();
	bool used = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(t->listeners); i++)
		if (READ_ONCE(t->listeners[i].tag))
			used |= lb_check_listener(t, &t->listeners[i], now_ns);
	rcu_read_unlock();

	spin_lock(&t->lock);
	t->running = used && !t->dead;
	if (t->running)
		hrtimer_forward_now(timer, ns_to_ktime(LB_CHECK_NS));
	used = t->running;
	spin_unlock(&t->lock);
	return used ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/**
 * lb_teller_create() - create the teller of an action
 * @ports: ports of the namespace
 * @glb: state of the namespace
 * @grading: how load becomes quality
 * @told: counter of messages
 *
 * Return: the teller, or NULL if there is no memory.
 */
struct lb_teller *lb_teller_create(struct lb_ports *ports, struct lb_glb *glb,
				   const struct lb_grading *grading, u64 __percpu *told)
{
	struct lb_teller *t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	spin_lock_init(&t->lock);
	hrtimer_setup(&t->timer, lb_teller_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	t->ports = ports;
	t->glb = glb;
	t->grading = *grading;
	t->told = told;
	return t;
}

/**
 * lb_teller_destroy() - stop a teller and free it after a grace period
 * @t: the teller
 *
 * Context: process; may sleep.
 */
void lb_teller_destroy(struct lb_teller *t)
{
	spin_lock_bh(&t->lock);
	t->dead = true;
	spin_unlock_bh(&t->lock);
	hrtimer_cancel(&t->timer);
	kvfree_rcu(t, rcu);
}
