// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared buffer of a switch, and PFC: pools, ports, pause frames
 *
 * Who may take how much and who is paused is decided in dcqcn_pool_core.h. Here
 * is the rest: which pools there are, which port a packet came in by, what
 * happens when devices come, change and go, and how a pause frame gets out.
 *
 * A pause frame has to tell what is decided last. A closwire port takes it at
 * once, under the pool's lock, which keeps the order. Another NIC's driver
 * cannot be called there, as a root lock is held: the port's timer, which fires
 * at once, sends what is the case then.
 *
 * A pause ends by itself after 65535 quanta of 512 bit times. While something
 * is paused, the port's timer says so again when half of that has passed, and
 * looks anew whether it must be: a dynamic threshold may have risen.
 *
 * A port lives until it has left and all packets that it brought in have been
 * released, at whichever port they wait. The pool needs no count: a packet waits
 * at a port of the pool.
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>
#include <closnet/link_rate.h>
#include <closnet/pfc.h>
#include "dcqcn_pool.h"

/* The longest pause, in quanta and in bytes of the line */
#define DCQCN_QUANTA		65535
#define DCQCN_QUANTA_BYTES	((u64)DCQCN_QUANTA * DCQCN_QUANTUM_BYTES)
/* When a pause frame that could not be sent is tried again */
#define DCQCN_RETRY_NS		(10 * NSEC_PER_USEC)
/* A line of which the rate is not known */
#define DCQCN_RATE_MBPS		10000

#define DCQCN_HASH_BITS		6

/**
 * struct dcqcn_pool - a switch
 * @node: in struct dcqcn_net.pools; under RTNL
 * @name: of the pool
 * @ports: members; changed under RTNL and @lock
 * @lock: protects all below; softirqs off
 * @mmu: the buffer
 * @by_ifindex: members
 */
struct dcqcn_pool {
	struct list_head node;
	char name[TC_DCQCN_POOL_NAME_MAX + 1];
	struct list_head ports;
	spinlock_t lock;	/* protects all below */
	struct dcqcn_mmu mmu;
	struct hlist_head by_ifindex[1 << DCQCN_HASH_BITS];
};

/**
 * struct dcqcn_port - a device in a pool
 * @pool: the pool
 * @dev: the device; valid until the port has left
 * @node: in struct dcqcn_pool.ports
 * @hash: in struct dcqcn_pool.by_ifindex
 * @users: qdiscs of the device that share the port; under RTNL
 * @rate_Mbps: of the line; under RTNL
 * @closwire_xmit: how a closwire port sends; NULL: another device
 * @refs: packets that came in by it and wait, and one until it has left
 * @mmu: what is charged to it
 * @unsent: priorities of which the peer has yet to be told, a bit each
 * @armed: @timer will fire, and has not got the lock yet
 * @refresh_ns: half of the longest pause
 * @timer: sends again
 * @xoff_frames: sent, by priority
 * @xon_frames: sent, by priority
 */
struct dcqcn_port {
	struct dcqcn_pool *pool;
	struct net_device *dev;
	struct list_head node;
	struct hlist_node hash;
	u32 users;
	u32 rate_Mbps;
	int (*closwire_xmit)(struct net_device *dev, u8 enable, const u16 quanta[PFC_PRIOS]);

	/* under the pool's lock */
	u32 refs;
	struct dcqcn_mmu_port mmu;
	u8 unsent;
	bool armed;
	u64 refresh_ns;
	struct hrtimer timer;
	u64 xoff_frames[TC_DCQCN_PRIOS];
	u64 xon_frames[TC_DCQCN_PRIOS];
};

/* The pools of a network namespace; under RTNL */
struct dcqcn_net {
	struct list_head pools;
};

static unsigned int dcqcn_net_id;

/* ---- pause frames ---- */

/* Under the pool's lock */
static void dcqcn_arm(struct dcqcn_port *port, u64 ns)
{
	port->armed = true;
	hrtimer_start(&port->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* The frame for some priorities, as things are. Under the pool's lock */
static void dcqcn_fill_quanta(const struct dcqcn_port *port, u16 quanta[PFC_PRIOS])
{
	u32 prio;

	for (prio = 0; prio < PFC_PRIOS; prio++)
		quanta[prio] = port->mmu.paused & BIT(prio) ? DCQCN_QUANTA : 0;
}

/*
 * What became of a frame. If the port cannot take it just now, it is to be
 * tried again; if it is down, the peer is as well. Under the pool's lock
 */
static void dcqcn_frame_done(struct dcqcn_port *port, u8 enable,
			     const u16 quanta[PFC_PRIOS], int err)
{
	u32 prio;

	if (err) {
		if (err == -ENETDOWN)
			return;
		port->unsent |= enable;
		return dcqcn_arm(port, DCQCN_RETRY_NS);
	}
	for (prio = 0; prio < PFC_PRIOS; prio++) {
		if (!(enable & BIT(prio)))
			continue;
		if (quanta[prio])
			port->xoff_frames[prio]++;
		else
			port->xon_frames[prio]++;
	}
}

/* Has a closwire port tell its peer how things are. Under the pool's lock */
static void dcqcn_tell(struct dcqcn_port *port, u8 enable)
{
	u16 quanta[PFC_PRIOS];

	port->unsent &= ~enable;
	dcqcn_fill_quanta(port, quanta);
	dcqcn_frame_done(port, enable, quanta,
			 port->closwire_xmit(port->dev, enable, quanta));
}

/* Some priorities' pauses have changed. Under the pool's lock */
static void dcqcn_changed(struct dcqcn_port *port, u8 changed)
{
	if (likely(!changed))
		return;
	if (!port->closwire_xmit) {
		port->unsent |= changed;
		return dcqcn_arm(port, 0);
	}
	dcqcn_tell(port, changed);
	if (port->mmu.paused && !port->armed)
		dcqcn_arm(port, port->refresh_ns);
}

/* A queue that takes a frame; the last one that does serves high priorities. */
static u16 dcqcn_pause_queue(const struct net_device *dev)
{
	u32 queue = dev->real_num_tx_queues - 1;

	while (queue && netif_xmit_stopped(netdev_get_tx_queue(dev, queue)))
		queue--;
	return queue;
}

/* Sends a pause frame through a driver. Under no lock */
static int dcqcn_xmit(struct net_device *dev, u8 enable, const u16 quanta[PFC_PRIOS])
{
	struct sk_buff *skb;
	int err;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	pfc_frame_fill(skb_put_zero(skb, ETH_ZLEN), dev->dev_addr, enable, quanta);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(PFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	err = dev_direct_xmit(skb, dcqcn_pause_queue(dev));
	if (err == NETDEV_TX_BUSY)
		return -EBUSY;
	return err == NET_XMIT_DROP ? -ENETDOWN : 0;
}

static enum hrtimer_restart dcqcn_port_timer(struct hrtimer *timer)
{
	struct dcqcn_port *port = container_of(timer, struct dcqcn_port, timer);
	struct dcqcn_pool *pool = port->pool;
	u16 quanta[PFC_PRIOS];
	u8 enable;
	int err;

	spin_lock_bh(&pool->lock);
	port->armed = false;
	enable = port->mmu.paused | port->unsent;
	dcqcn_mmu_review(&pool->mmu, &port->mmu);
	enable |= port->mmu.paused;
	if (!enable)
		goto out;
	if (port->mmu.paused)
		dcqcn_arm(port, port->refresh_ns);
	if (port->closwire_xmit) {
		dcqcn_tell(port, enable);
		goto out;
	}
	port->unsent = 0;
	dcqcn_fill_quanta(port, quanta);
	spin_unlock_bh(&pool->lock);
	/* nothing overtakes: only this timer sends, and not twice at a time */
	err = dcqcn_xmit(port->dev, enable, quanta);
	spin_lock_bh(&pool->lock);
	dcqcn_frame_done(port, enable, quanta, err);
out:
	spin_unlock_bh(&pool->lock);
	return HRTIMER_NORESTART;
}

/* ---- packets ---- */

static struct hlist_head *dcqcn_bucket(struct dcqcn_pool *pool, int ifindex)
{
	return &pool->by_ifindex[hash_32(ifindex, DCQCN_HASH_BITS)];
}

static struct dcqcn_port *dcqcn_find_ifindex(struct dcqcn_pool *pool, int ifindex)
{
	struct dcqcn_port *port;

	hlist_for_each_entry(port, dcqcn_bucket(pool, ifindex), hash)
		if (port->dev->ifindex == ifindex)
			return port;
	return NULL;
}

/* The member that a packet came in by; that of a VLAN is its real device. */
static struct dcqcn_port *dcqcn_ingress(struct dcqcn_pool *pool, const struct sk_buff *skb)
{
	struct dcqcn_port *port = dcqcn_find_ifindex(pool, skb->skb_iif);
	struct net_device *dev;

	if (likely(port) || !skb->skb_iif)
		return port;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(dev_net(skb->dev), skb->skb_iif);
	if (dev && is_vlan_dev(dev)) {
		dev = vlan_dev_real_dev(dev);
		port = dcqcn_find_ifindex(pool, dev->ifindex);
		if (port && port->dev != dev)
			port = NULL;
	}
	rcu_read_unlock();
	return port;
}

enum dcqcn_verdict dcqcn_pool_admit(struct dcqcn_port *egress,
				    const struct sk_buff *skb, u8 prio, u32 len,
				    bool fits, struct dcqcn_charge *charge)
{
	struct dcqcn_pool *pool = egress->pool;
	enum dcqcn_verdict verdict;
	struct dcqcn_port *port;
	u8 paused = 0;

	*charge = (struct dcqcn_charge){ .len = len, .prio = prio };
	/* a packet is enqueued with softirqs off */
	spin_lock(&pool->lock);
	port = dcqcn_ingress(pool, skb);
	if (port)
		paused = port->mmu.paused;
	verdict = dcqcn_mmu_admit(&pool->mmu, port ? &port->mmu : NULL, prio, len, fits);
	if (verdict == DCQCN_LOSSY || verdict == DCQCN_LOSSLESS) {
		charge->ingress = port;
		charge->lossless = verdict == DCQCN_LOSSLESS;
		charge->charged = true;
		if (port)
			port->refs++;
	}
	if (port)
		dcqcn_changed(port, paused ^ port->mmu.paused);
	spin_unlock(&pool->lock);
	return verdict;
}

/* Under the pool's lock */
static void dcqcn_put_port(struct dcqcn_port *port)
{
	if (!--port->refs)
		kfree(port);
}

void dcqcn_pool_release(struct dcqcn_port *egress, struct dcqcn_charge *charge)
{
	struct dcqcn_port *port = charge->ingress;
	struct dcqcn_pool *pool;
	u8 paused;

	if (!charge->charged)
		return;
	charge->charged = false;
	pool = egress->pool;
	spin_lock(&pool->lock);
	if (port) {
		paused = port->mmu.paused;
		dcqcn_mmu_release(&pool->mmu, &port->mmu, charge->prio, charge->len);
		dcqcn_changed(port, paused ^ port->mmu.paused);
		dcqcn_put_port(port);
	} else {
		dcqcn_mmu_release(&pool->mmu, NULL, charge->prio, charge->len);
	}
	spin_unlock(&pool->lock);
}

/* ---- thresholds ---- */

/* All defaults of a pool */
static void dcqcn_params_init(struct dcqcn_pool_params *p)
{
	*p = (struct dcqcn_pool_params){
		.buffer = 12 << 20,	/* the paper's switch: 12 MB (section 4) */
		.headroom = 0,		/* as each port needs it */
		.cable_ns = 1500,	/* the paper's: 300 m (section 4) */
		.xoff_mode = TC_DCQCN_XOFF_AUTO,
		.beta = 8,		/* the paper's (section 4) */
		.pfc = 0xff,		/* a lossless fabric, as the paper's */
	};
}

static void dcqcn_params_merge(struct dcqcn_pool_params *p,
			       const struct dcqcn_pool_params *from, u32 given)
{
	if (given & DCQCN_POOL_GIVEN(BUFFER))
		p->buffer = from->buffer;
	if (given & DCQCN_POOL_GIVEN(HEADROOM))
		p->headroom = from->headroom;
	if (given & DCQCN_POOL_GIVEN(CABLE))
		p->cable_ns = from->cable_ns;
	if (given & DCQCN_POOL_GIVEN(XOFF_MODE))
		p->xoff_mode = from->xoff_mode;
	if (given & DCQCN_POOL_GIVEN(XOFF))
		p->xoff = from->xoff;
	if (given & DCQCN_POOL_GIVEN(BETA))
		p->beta = from->beta;
	if (given & DCQCN_POOL_GIVEN(PFC))
		p->pfc = from->pfc;
}

static u32 dcqcn_headroom(const struct dcqcn_pool_params *p, const struct dcqcn_port *port)
{
	u64 bytes = p->headroom;

	if (!bytes)
		bytes = dcqcn_flight_bytes(port->rate_Mbps * 125000ULL, p->cable_ns,
					   READ_ONCE(port->dev->mtu));
	return min_t(u64, bytes, TC_DCQCN_SIZE_MAX);
}

/* Headroom of all ports, for one priority. Under RTNL */
static u64 dcqcn_headroom_sum(const struct dcqcn_pool *pool,
			      const struct dcqcn_pool_params *p)
{
	struct dcqcn_port *port;
	u64 sum = 0;

	list_for_each_entry(port, &pool->ports, node)
		sum += dcqcn_headroom(p, port);
	return sum;
}

static int dcqcn_params_check(const struct dcqcn_pool_params *p, u32 given,
			      u64 headroom_sum, struct netlink_ext_ack *extack)
{
	if (p->xoff_mode == TC_DCQCN_XOFF_STATIC) {
		if (!p->xoff) {
			NL_SET_ERR_MSG(extack, "a static xoff needs a size");
			return -EINVAL;
		}
	} else if (given & DCQCN_POOL_GIVEN(XOFF)) {
		NL_SET_ERR_MSG(extack, "a size of xoff is for the static mode only");
		return -EINVAL;
	}
	if (!dcqcn_mmu_fits(p, headroom_sum)) {
		NL_SET_ERR_MSG(extack, "buffer must be more than the headroom of all ports");
		return -EINVAL;
	}
	return 0;
}

/* Looks at all ports, after something has changed. Under RTNL and the pool's lock */
static void dcqcn_review(struct dcqcn_pool *pool)
{
	struct dcqcn_port *port;
	u8 paused;

	dcqcn_mmu_update(&pool->mmu);
	list_for_each_entry(port, &pool->ports, node) {
		paused = port->mmu.paused;
		dcqcn_mmu_review(&pool->mmu, &port->mmu);
		dcqcn_changed(port, paused ^ port->mmu.paused);
	}
}

/* What the port's line demands. Under RTNL and the pool's lock */
static void dcqcn_set_line(struct dcqcn_port *port)
{
	struct dcqcn_mmu *mmu = &port->pool->mmu;

	dcqcn_mmu_set_port(mmu, &port->mmu, dcqcn_headroom(&mmu->params, port),
			   READ_ONCE(port->dev->mtu));
	port->refresh_ns = div_u64(DCQCN_QUANTA_BYTES / 2 * NSEC_PER_MSEC,
				   port->rate_Mbps * 125);
}

int dcqcn_pool_change(struct dcqcn_port *port,
		      const struct dcqcn_pool_params *params, u32 given,
		      struct netlink_ext_ack *extack)
{
	struct dcqcn_pool *pool = port->pool;
	struct dcqcn_pool_params new = pool->mmu.params;
	int err;

	ASSERT_RTNL();
	dcqcn_params_merge(&new, params, given);
	err = dcqcn_params_check(&new, given, dcqcn_headroom_sum(pool, &new), extack);
	if (err)
		return err;
	spin_lock_bh(&pool->lock);
	pool->mmu.params = new;
	list_for_each_entry(port, &pool->ports, node)
		dcqcn_set_line(port);
	dcqcn_review(pool);
	spin_unlock_bh(&pool->lock);
	return 0;
}

/* ---- pools and ports ---- */

static struct dcqcn_pool *dcqcn_find_pool(const struct dcqcn_net *dn, const char *name)
{
	struct dcqcn_pool *pool;

	list_for_each_entry(pool, &dn->pools, node)
		if (!strcmp(pool->name, name))
			return pool;
	return NULL;
}

static struct dcqcn_port *dcqcn_find_port(const struct dcqcn_pool *pool,
					  const struct net_device *dev)
{
	struct dcqcn_port *port;

	list_for_each_entry(port, &pool->ports, node)
		if (port->dev == dev)
			return port;
	return NULL;
}

static struct dcqcn_pool *dcqcn_new_pool(const char *name)
{
	struct dcqcn_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	if (!pool)
		return NULL;
	strscpy(pool->name, name, sizeof(pool->name));
	INIT_LIST_HEAD(&pool->node);
	INIT_LIST_HEAD(&pool->ports);
	spin_lock_init(&pool->lock);
	dcqcn_params_init(&pool->mmu.params);
	return pool;
}

static void dcqcn_free_pool(struct dcqcn_pool *pool)
{
	WARN_ON_ONCE(pool->mmu.bytes);
	list_del(&pool->node);
	kfree(pool);
}

static void dcqcn_update_rate(struct dcqcn_port *port)
{
	u32 mbps = 0;

	if (netif_running(port->dev) && netif_device_present(port->dev))
		mbps = closnet_link_Mbps(port->dev);
	port->rate_Mbps = mbps ?: DCQCN_RATE_MBPS;
}

static struct dcqcn_port *dcqcn_new_port(struct dcqcn_pool *pool, struct net_device *dev)
{
	struct dcqcn_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->pool = pool;
	port->dev = dev;
	port->users = 1;
	port->refs = 1;
	hrtimer_setup(&port->timer, dcqcn_port_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	dcqcn_update_rate(port);
	return port;
}

/* A closwire port exists, so its module does; and stays as long as it is a member. */
static void dcqcn_get_closwire(struct dcqcn_port *port)
{
	const struct rtnl_link_ops *ops = port->dev->rtnl_link_ops;

	if (ops && !strcmp(ops->kind, "closwire"))
		port->closwire_xmit = symbol_get(closwire_pfc_xmit);
}

static void dcqcn_add_port(struct dcqcn_pool *pool, struct dcqcn_port *port,
			   const struct dcqcn_pool_params *params)
{
	struct dcqcn_port *each;

	dcqcn_get_closwire(port);
	spin_lock_bh(&pool->lock);
	pool->mmu.params = *params;
	list_add_tail(&port->node, &pool->ports);
	hlist_add_head(&port->hash, dcqcn_bucket(pool, port->dev->ifindex));
	dcqcn_mmu_join(&pool->mmu, &port->mmu);
	list_for_each_entry(each, &pool->ports, node)
		dcqcn_set_line(each);
	dcqcn_review(pool);
	spin_unlock_bh(&pool->lock);
}

/* Another port, in a pool that may have none yet */
static struct dcqcn_port *dcqcn_join_as_new(struct dcqcn_pool *pool, struct net_device *dev,
					    const struct dcqcn_pool_params *params,
					    u32 given, struct netlink_ext_ack *extack)
{
	struct dcqcn_pool_params new = pool->mmu.params;
	struct dcqcn_port *port;
	int err;

	port = dcqcn_new_port(pool, dev);
	if (!port)
		return ERR_PTR(-ENOMEM);
	dcqcn_params_merge(&new, params, given);
	err = dcqcn_params_check(&new, given,
				 dcqcn_headroom_sum(pool, &new) + dcqcn_headroom(&new, port),
				 extack);
	if (err) {
		kfree(port);
		return ERR_PTR(err);
	}
	dcqcn_add_port(pool, port, &new);
	return port;
}

struct dcqcn_port *dcqcn_pool_join(struct net_device *dev, const char *name,
				   const struct dcqcn_pool_params *params,
				   u32 given, struct netlink_ext_ack *extack)
{
	struct dcqcn_net *dn = net_generic(dev_net(dev), dcqcn_net_id);
	struct dcqcn_port *port;
	struct dcqcn_pool *pool;
	int err;

	ASSERT_RTNL();
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "the ports of a pool are Ethernet devices");
		return ERR_PTR(-EOPNOTSUPP);
	}
	pool = dcqcn_find_pool(dn, name);
	port = pool ? dcqcn_find_port(pool, dev) : NULL;
	if (port) {
		err = dcqcn_pool_change(port, params, given, extack);
		if (err)
			return ERR_PTR(err);
		port->users++;
		return port;
	}
	if (!pool) {
		pool = dcqcn_new_pool(name);
		if (!pool)
			return ERR_PTR(-ENOMEM);
	}
	port = dcqcn_join_as_new(pool, dev, params, given, extack);
	if (!IS_ERR(port) && list_empty(&pool->node))
		list_add_tail(&pool->node, &dn->pools);
	else if (list_empty(&pool->ports))
		dcqcn_free_pool(pool);
	return port;
}

/* No packet finds the port any more, and nobody stays paused through it. */
static void dcqcn_remove_port(struct dcqcn_pool *pool, struct dcqcn_port *port)
{
	u16 quanta[PFC_PRIOS];
	u8 enable;

	spin_lock_bh(&pool->lock);
	list_del(&port->node);
	hlist_del(&port->hash);
	enable = port->mmu.paused | port->unsent;
	dcqcn_mmu_leave(&pool->mmu, &port->mmu);
	if (port->closwire_xmit && enable)
		dcqcn_tell(port, enable);
	port->unsent = 0;
	dcqcn_fill_quanta(port, quanta);
	dcqcn_review(pool);
	spin_unlock_bh(&pool->lock);
	/* it might be about to send a pause */
	hrtimer_cancel(&port->timer);
	if (port->closwire_xmit)
		symbol_put(closwire_pfc_xmit);
	else if (enable)
		dcqcn_xmit(port->dev, enable, quanta);
}

void dcqcn_pool_leave(struct dcqcn_port *port)
{
	struct dcqcn_pool *pool = port->pool;

	ASSERT_RTNL();
	if (--port->users)
		return;
	dcqcn_remove_port(pool, port);
	spin_lock_bh(&pool->lock);
	dcqcn_put_port(port);
	spin_unlock_bh(&pool->lock);
	if (list_empty(&pool->ports))
		dcqcn_free_pool(pool);
}

const char *dcqcn_pool_get(const struct dcqcn_port *port,
			   struct dcqcn_pool_params *params)
{
	*params = port->pool->mmu.params;
	return port->pool->name;
}

void dcqcn_pool_stats(struct dcqcn_port *port, struct tc_dcqcn_xstats *stats)
{
	struct dcqcn_pool *pool = port->pool;
	u32 prio;

	spin_lock_bh(&pool->lock);
	stats->pool_ports = pool->mmu.ports;
	stats->pool_bytes = pool->mmu.bytes;
	stats->pool_peak_bytes = pool->mmu.peak_bytes;
	stats->pool_xoff_bytes = dcqcn_mmu_xoff(&pool->mmu);
	stats->pool_headroom_bytes = port->mmu.headroom;
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		const struct dcqcn_mmu_prio *q = &port->mmu.prio[prio];
		struct tc_dcqcn_prio_xstats *s = &stats->prio[prio];

		s->ingress_bytes = q->shared_bytes + q->headroom_bytes;
		s->ingress_peak_bytes = q->peak_bytes;
		s->headroom_bytes = q->headroom_bytes;
		s->headroom_peak_bytes = q->headroom_peak_bytes;
		s->dropped_headroom_packets = q->dropped_packets;
		s->xoff_frames = port->xoff_frames[prio];
		s->xon_frames = port->xon_frames[prio];
	}
	spin_unlock_bh(&pool->lock);
}

/* ---- devices ---- */

static void dcqcn_line_changed(struct dcqcn_port *port, bool rate)
{
	struct dcqcn_pool *pool = port->pool;

	if (rate)
		dcqcn_update_rate(port);
	spin_lock_bh(&pool->lock);
	dcqcn_set_line(port);
	dcqcn_review(pool);
	spin_unlock_bh(&pool->lock);
}

/* Only UP and CHANGE come with the device's own lock, if it has one. */
static int dcqcn_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct dcqcn_net *dn = net_generic(dev_net(dev), dcqcn_net_id);
	struct dcqcn_pool *pool;
	struct dcqcn_port *port;

	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	list_for_each_entry(pool, &dn->pools, node) {
		port = dcqcn_find_port(pool, dev);
		if (port)
			dcqcn_line_changed(port, event != NETDEV_CHANGEMTU);
	}
	return NOTIFY_DONE;
}

static struct notifier_block dcqcn_notifier = {
	.notifier_call = dcqcn_netdev_event,
};

static int __net_init dcqcn_net_init(struct net *net)
{
	struct dcqcn_net *dn = net_generic(net, dcqcn_net_id);

	INIT_LIST_HEAD(&dn->pools);
	return 0;
}

/* Its devices have gone before, and their qdiscs with them. */
static void __net_exit dcqcn_net_exit(struct net *net)
{
	struct dcqcn_net *dn = net_generic(net, dcqcn_net_id);

	WARN_ON_ONCE(!list_empty(&dn->pools));
}

static struct pernet_operations dcqcn_net_ops = {
	.init = dcqcn_net_init,
	.exit = dcqcn_net_exit,
	.id = &dcqcn_net_id,
	.size = sizeof(struct dcqcn_net),
};

int __init dcqcn_pool_init(void)
{
	int err;

	err = register_pernet_subsys(&dcqcn_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&dcqcn_notifier);
	if (err)
		unregister_pernet_subsys(&dcqcn_net_ops);
	return err;
}

void dcqcn_pool_exit(void)
{
	unregister_netdevice_notifier(&dcqcn_notifier);
	unregister_pernet_subsys(&dcqcn_net_ops);
}
