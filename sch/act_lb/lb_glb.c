// SPDX-License-Identifier: GPL-2.0-only
/*
 * Global load balancing: adverts to and from neighbours
 *
 * lb_remote.c has the protocol and the store. This file has frames, timers and trust.
 *
 * A teller belongs to an action at the ingress of the port to a neighbour. For each prefix to
 * which this neighbour sends packets, it stores the neighbour's MAC address, the egress ports, and
 * the last advert. The packet that finds a change sends the advert. A timer checks prefixes
 * without packets; it runs only while a prefix is in use. With several egress ports the quality is
 * the best one.
 *
 * Trust. Adverts are link-local frames, which no router or bridge forwards if they have
 * another host's MAC address. They are accepted from a port after an action that chooses has looked
 * up its remote quality: it is one of several next hops of a route. A host at another port can
 * neither change the quality of a path nor take places in the store. A port that is only the
 * egress of advertised prefixes does not count. With a key, the sender needs the key. A neighbour
 * can at worst attract traffic or send it away, as it can by its routes. Memory is fixed:
 * LB_REMOTE_WAYS << LB_STORE_BITS places for a namespace, and LB_TELLER_PLACES for an action that
 * sends adverts.
 *
 * Locks. The teller's lock guards its places. Packets and the timer take it; inside it, they take
 * the locks of ports. Frames are sent without it.
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>
#include "lb_glb.h"

/* ---- prefixes ---- */

/* The prefix of a route in an advert */
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
 * lb_glb_quality() - look up the remote quality of a prefix behind a port
 * @store: the store
 * @hash: hash of the prefix
 * @port: the port, one of several next hops; adverts of its neighbour are accepted from now on
 * @now_ns: present time
 *
 * Return: 0 to LB_BEST; LB_BEST of an unknown path.
 */
u8 lb_glb_quality(const struct lb_remote *store, u64 hash, struct lb_port *port, u64 now_ns)
{
	u64 tag = lb_tag(hash, port->ifindex);

	if (unlikely(!READ_ONCE(port->heard)))
		WRITE_ONCE(port->heard, true);
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
 * lb_glb_exit() - free the store and the keys
 * @glb: state of a namespace that ends
 */
void lb_glb_exit(struct lb_glb *glb)
{
	kvfree(rcu_dereference_protected(glb->store, 1));
	kfree(rcu_dereference_protected(glb->keys, 1));
}

/**
 * lb_keys_create() - make keys
 * @key: LB_KEY_LEN bytes
 *
 * Return: the keys, for lb_glb_use_key() or kfree(), or NULL if there is no memory.
 */
struct lb_keys *lb_keys_create(const u8 *key)
{
	struct lb_keys *keys = kzalloc(sizeof(*keys), GFP_KERNEL_ACCOUNT);

	if (!keys)
		return NULL;
	keys->count = 1;
	keys->key[0].key[0] = get_unaligned_le64(key);
	keys->key[0].key[1] = get_unaligned_le64(key + sizeof(u64));
	return keys;
}

static struct lb_keys *lb_present_keys(struct lb_glb *glb)
{
	return rcu_dereference_protected(glb->keys, lockdep_is_held(&glb->mutex));
}

static bool lb_keys_are_same(const struct lb_keys *a, const struct lb_keys *b)
{
	return a && b ? !memcmp(&a->key[0], &b->key[0], sizeof(a->key[0])) : a == b;
}

/**
 * lb_glb_check_key() - may an action use this key?
 * @glb: state of its namespace
 * @keys: the key; NULL: no authentication
 * @change: it replaces an action that uses the key of the namespace
 * @extack: error report
 *
 * A change cannot end the authentication, so that no one does it by an option left out.
 *
 * Return: 0, or -EBUSY if other actions have another key.
 */
int lb_glb_check_key(struct lb_glb *glb, const struct lb_keys *keys, bool change,
		     struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&glb->mutex);
	if (glb->users && !(change && keys) && !lb_keys_are_same(lb_present_keys(glb), keys)) {
		NL_SET_ERR_MSG(extack,
			       "key must be that of the namespace's other lb actions with glb");
		err = -EBUSY;
	}
	mutex_unlock(&glb->mutex);
	return err;
}

/**
 * lb_glb_use_key() - count an action that uses the key, and put a new key in place
 * @glb: state of its namespace
 * @keys: the key, which lb_glb_check_key() has accepted; is taken over
 *
 * The key before it is accepted until the next change, so that neighbours can follow.
 */
void lb_glb_use_key(struct lb_glb *glb, struct lb_keys *keys)
{
	struct lb_keys *old;

	mutex_lock(&glb->mutex);
	old = lb_present_keys(glb);
	if (glb->users && lb_keys_are_same(old, keys)) {
		kfree(keys);
	} else {
		if (glb->users && old) {
			keys->key[1] = old->key[0];
			keys->count = LB_KEYS;
		}
		rcu_assign_pointer(glb->keys, keys);
		if (old)
			kfree_rcu(old, rcu);
	}
	glb->users++;
	mutex_unlock(&glb->mutex);
}

/**
 * lb_glb_drop_key() - take back lb_glb_use_key()
 * @glb: state of the namespace
 */
void lb_glb_drop_key(struct lb_glb *glb)
{
	mutex_lock(&glb->mutex);
	glb->users--;
	mutex_unlock(&glb->mutex);
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
 * lb_glb_join() - count an action that uses remote qualities
 * @glb: state of its namespace
 *
 * Context: process; may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int lb_glb_join(struct lb_glb *glb)
{
	int err;

	mutex_lock(&glb->mutex);
	err = lb_glb_make_store(glb);
	if (!err)
		WRITE_ONCE(glb->choosers, glb->choosers + 1);
	mutex_unlock(&glb->mutex);
	return err;
}

/**
 * lb_glb_leave() - take back lb_glb_join()
 * @glb: state of the namespace
 *
 * Context: process; may sleep.
 */
void lb_glb_leave(struct lb_glb *glb)
{
	mutex_lock(&glb->mutex);
	WRITE_ONCE(glb->choosers, glb->choosers - 1);
	mutex_unlock(&glb->mutex);
}

/* ---- adverts from neighbours ---- */

static bool lb_has_tag(const struct lb_keys *keys, const u8 *buf)
{
	u64 auth = get_unaligned_be64(buf + LB_MSG_AUTH);
	u32 i;

	if (!keys)
		return !auth;
	for (i = 0; i < keys->count; i++)
		if (siphash(buf, LB_MSG_AUTH, &keys->key[i]) == auth)
			return true;
	return false;
}

/* Is the port one of several next hops, and the authenticator right? */
static bool lb_is_authentic(const struct lb_glb *glb, struct lb_ports *ports,
			    const struct sk_buff *skb, const u8 *buf)
{
	const struct lb_port *port = xa_load(&ports->by_ifindex, skb->dev->ifindex);

	return skb->pkt_type == PACKET_HOST && port && READ_ONCE(port->heard) &&
	       lb_has_tag(rcu_dereference(glb->keys), buf);
}

/**
 * lb_glb_receive() - take an advert
 * @glb: state of the namespace
 * @ports: its ports
 * @skb: the frame, without its Ethernet header; is not changed
 *
 * Context: softirq, RCU.
 *
 * Return: 0, -ENOENT if no action uses remote qualities, or -EINVAL if it is refused.
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
	    lb_is_authentic(glb, ports, skb, buf) && lb_msg_read(&m, buf, LB_MSG_LEN)) {
		tag = lb_tag(lb_msg_hash(&glb->hash_key, &m), skb->dev->ifindex);
		heard = lb_remote_set(lb_bucket(store, tag), tag, m.stamp, m.quality,
				      ktime_get_ns()) == LB_RECEIVED;
	}
	WRITE_ONCE(glb->heard, glb->heard + heard);
	WRITE_ONCE(glb->refused, glb->refused + !heard);
	spin_unlock(&glb->lock);
	return heard ? 0 : -EINVAL;
}

/* ---- adverts to neighbours ---- */

/**
 * struct lb_listener - a neighbour that uses a prefix
 * @tag: hash of prefix and port; 0: the place is free
 * @advert: the last advert
 * @msg: the prefix
 * @ifindex: the neighbour's port
 * @mac: its MAC address
 * @egress_count: number of @egress
 * @egress: devices that lead to the prefix
 */
struct lb_listener {
	u64 tag;
	struct lb_advert advert;
	struct lb_msg msg;
	u32 ifindex;
	u8 mac[ETH_ALEN];
	u8 egress_count;
	u32 egress[LB_EGRESS_MAX];
};

/**
 * struct lb_teller - an action that sends adverts
 * @lock: guards @listeners, @budget, @running and @dead
 * @timer: checks prefixes without packets
 * @next: place at which the timer begins: the first one that waits for the budget
 * @budget: adverts that may be sent
 * @running: the timer runs
 * @dead: the timer must not start again
 * @ports: ports of the namespace
 * @glb: state of the namespace
 * @grading: how load becomes quality
 * @sent: counter of adverts
 * @delayed: counter of adverts that wait for the budget
 * @rcu: for freeing
 * @listeners: in buckets of LB_REMOTE_WAYS
 */
struct lb_teller {
	spinlock_t lock;	/* guards @listeners, @budget, @running and @dead */
	struct hrtimer timer;
	u32 next;
	struct lb_budget budget;
	bool running;
	bool dead;
	struct lb_ports *ports;
	struct lb_glb *glb;
	struct lb_grading grading;
	u64 __percpu *sent;
	u64 __percpu *delayed;
	struct rcu_head rcu;
	struct lb_listener listeners[LB_TELLER_PLACES];
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

/* Send an advert to a neighbour. */
static void lb_send_message(struct lb_teller *t, u32 ifindex, const u8 *mac, const struct lb_msg *m)
{
	struct net_device *dev = dev_get_by_index_rcu(t->ports->net, ifindex);
	const struct lb_keys *keys = rcu_dereference(t->glb->keys);
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
	if (keys)
		put_unaligned_be64(siphash(buf, LB_MSG_AUTH, &keys->key[0]), buf + LB_MSG_AUTH);
	skb->dev = dev;
	skb->protocol = htons(LB_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	if (dev_hard_header(skb, dev, LB_ETHERTYPE, mac, dev->dev_addr, skb->len) < 0) {
		kfree_skb(skb);
		return;
	}
	this_cpu_inc(*t->sent);
	dev_queue_xmit(skb);
}

/* Advertise a change, or again. Return: true if @m is to be sent; the lock is held */
static bool lb_advertise(struct lb_teller *t, struct lb_listener *l, u64 now_ns, struct lb_msg *m)
{
	u8 quality = lb_egress_quality(t, l->egress, l->egress_count, now_ns);
	bool waits = l->advert.delayed;

	if (!lb_advert_is_due(&l->advert, quality, t->grading.w.interval_ns, now_ns)) {
		l->advert.delayed = false;
		return false;
	}
	if (!lb_advert_send(&l->advert, &t->budget, quality, now_ns)) {
		if (!waits)
			this_cpu_inc(*t->delayed);
		return false;
	}
	l->msg.quality = quality;
	l->msg.stamp = ktime_get_real_ns();
	*m = l->msg;
	return true;
}

/* Find the place of a tag, or one that is free or idle. Return: NULL if all are in use */
static struct lb_listener *lb_find_listener(struct lb_teller *t, u64 tag, u64 now_ns)
{
	struct lb_listener *l = t->listeners + (tag >> (64 - LB_TELLER_BITS)) * LB_REMOTE_WAYS;
	struct lb_listener *end = l + LB_REMOTE_WAYS, *place = NULL;

	for (; l < end; l++) {
		if (l->tag == tag)
			return l;
		if (!l->tag || lb_advert_is_idle(&l->advert, now_ns))
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
	l->advert.used_ns = now_ns;
	l->ifindex = skb->dev->ifindex;
	ether_addr_copy(l->mac, eth_hdr(skb)->h_source);
	lb_set_prefix(&l->msg, r);
	l->egress_count = lb_route_egress(r, l->egress);
	return lb_advertise(t, l, now_ns, m);
}

/**
 * lb_tell() - advertise the quality of the egress to the sender of a packet, if it is due
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

	if (skb->dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb) ||
	    !is_valid_ether_addr(eth_hdr(skb)->h_source))
		return;
	/* a packet does not wait for other CPUs: the next one will do */
	if (!spin_trylock(&t->lock))
		return;
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

/* Check a place. @waits: its advert waits for the budget. Return: is its prefix in use? */
static bool lb_check_listener(struct lb_teller *t, struct lb_listener *l, u64 now_ns, bool *waits)
{
	u8 mac[ETH_ALEN];
	struct lb_msg m;
	bool due, used;
	u32 ifindex;

	spin_lock(&t->lock);
	used = l->tag && !lb_advert_is_idle(&l->advert, now_ns);
	due = used && lb_advertise(t, l, now_ns, &m);
	if (due) {
		ifindex = l->ifindex;
		ether_addr_copy(mac, l->mac);
	}
	*waits = used && l->advert.delayed;
	spin_unlock(&t->lock);
	if (due)
		lb_send_message(t, ifindex, mac, &m);
	return used;
}

/* Bounded by the number of places. */
static enum hrtimer_restart lb_teller_timer(struct hrtimer *timer)
{
	struct lb_teller *t = container_of(timer, struct lb_teller, timer);
	u32 first = t->next, waiting = LB_TELLER_PLACES, i;
	u64 now_ns = ktime_get_ns();
	bool used = false, waits;
	struct lb_listener *l;

	rcu_read_lock();
	for (i = 0; i < LB_TELLER_PLACES; i++) {
		l = &t->listeners[(first + i) % LB_TELLER_PLACES];
		if (!READ_ONCE(l->tag))
			continue;
		used |= lb_check_listener(t, l, now_ns, &waits);
		if (waits)
			waiting = min(waiting, i);
	}
	rcu_read_unlock();
	t->next = (first + waiting) % LB_TELLER_PLACES;

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
 * @sent: counter of adverts
 * @delayed: counter of adverts that have to wait
 *
 * Return: the teller, or NULL if there is no memory.
 */
struct lb_teller *lb_teller_create(struct lb_ports *ports, struct lb_glb *glb,
				   const struct lb_grading *grading, u64 __percpu *sent,
				   u64 __percpu *delayed)
{
	struct lb_teller *t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	spin_lock_init(&t->lock);
	hrtimer_setup(&t->timer, lb_teller_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	t->ports = ports;
	t->glb = glb;
	t->grading = *grading;
	t->sent = sent;
	t->delayed = delayed;
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
