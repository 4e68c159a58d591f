// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared buffer of a switch, and PFC: pools, ports, pause frames
 *
 * dcqcnq_pool_core.h decides which packets are admitted and which ports are
 * paused. This file finds the port by which a packet came in, follows devices
 * that come, change and go, and sends the pause frames.
 *
 * Locks. A (port, priority) has a lock of its own, taken for each packet that
 * came in by it. Ports share only an atomic counter (dcqcnq_pool_core.h). Pools,
 * their settings and their lists of ports are under RTNL; packets find a port
 * by RCU.
 *
 * Pause frames. A decision sets a bit in the port's @paused, then one in @unsent,
 * and schedules the port's tasklet. The tasklet clears @unsent, then reads
 * @paused, and sends one frame with the state of the priorities that it took and
 * of those that are paused: so each frame carries the latest decisions, and a later
 * decision sends a later frame. It runs under no lock, and not on two CPUs at a
 * time.
 *
 *	decision --> tasklet --> frame --> refresh timer, while paused
 *	                 ^         |
 *	                 +---------+ NIC busy: retry timer, twice as long each time
 *
 * A pause ends by itself after 65535 quanta of 512 bit times of the peer's line.
 * While a priority is paused, the port's timer sends again when half of that has
 * passed, and reviews whether it must be: a dynamic threshold may have risen. A
 * frame that a NIC does not take is tried again until the pauses that it should
 * lift have ended by themselves. While the link is down, no frame is tried.
 *
 * A port that leaves is kept until no packet that came in by it waits.
 */
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>
#include <closnet/link_rate.h>
#include <closnet/pfc.h>
#include "dcqcnq_pool.h"

/* The longest pause, in quanta and in bytes of the line */
#define DCQCNQ_QUANTA		65535
#define DCQCNQ_QUANTA_BYTES	((u64)DCQCNQ_QUANTA * DCQCNQ_QUANTUM_BYTES)
/* When a pause frame that a NIC does not take is first tried again */
#define DCQCNQ_RETRY_NS		(10 * NSEC_PER_USEC)
/* Assumed for a line of unknown rate */
#define DCQCNQ_RATE_MBPS		10000

#define DCQCNQ_HASH_BITS		6

/**
 * struct dcqcnq_pool - a switch
 * @mmu: the buffer; without a lock
 * @by_ifindex: members; RCU
 * @node: in struct dcqcnq_net.pools; this and all below under RTNL
 * @name: name of the pool
 * @params: settings
 * @ports: members
 * @count: number of members
 * @departed: ports that have left while packets that came in by them waited
 */
struct dcqcnq_pool {
	struct dcqcnq_mmu mmu ____cacheline_aligned_in_smp;
	struct hlist_head by_ifindex[1 << DCQCNQ_HASH_BITS] ____cacheline_aligned_in_smp;

	struct list_head node;
	char name[DCQCNQ_POOL_NAME_MAX + 1];
	struct dcqcnq_pool_params params;
	struct list_head ports;
	u32 count;
	struct list_head departed;
};

/**
 * struct dcqcnq_pg - a priority group: a port and a priority, as an ingress
 * @lock: protects @ingress; softirqs off
 * @ingress: the packets charged to it
 * @port: the port
 * @prio: the priority
 * @xoff_frames: sent; written by the port's tasklet
 * @xon_frames: sent; written by the port's tasklet
 */
struct dcqcnq_pg {
	spinlock_t lock;	/* protects @ingress */
	struct dcqcnq_ingress ingress;
	struct dcqcnq_port *port;
	u32 prio;
	u64 xoff_frames;
	u64 xon_frames;
} ____cacheline_aligned_in_smp;

/**
 * struct dcqcnq_port - a device in a pool
 * @pool: the pool
 * @ifindex: number of the device
 * @dev: the device; valid until the port has left
 * @hash: in struct dcqcnq_pool.by_ifindex
 * @pg: its priority groups
 * @paused: priorities that are to be paused, a bit each
 * @unsent: priorities whose last decision has not been sent, a bit each
 * @gone: the port leaves: its timer is armed no more
 * @tasklet: sends a pause frame
 * @timer: schedules @tasklet; armed by it alone
 * @retry_ns: how long @tasklet waits if the NIC does not take a frame
 * @closwire_xmit: how a closwire port sends; NULL: another device
 * @closwire_peer_Mbps: a closwire port's peer's rate
 * @rate_Mbps: line rate; written under RTNL
 * @node: in struct dcqcnq_pool.ports or .departed; under RTNL
 * @users: qdiscs of the device that share the port; under RTNL
 * @grace: RCU state when the port left; afterwards no packet finds it
 * @rcu: frees it
 */
struct dcqcnq_port {
	struct dcqcnq_pool *pool;
	int ifindex;
	struct net_device *dev;
	struct hlist_node hash;
	struct dcqcnq_pg pg[DCQCNQ_PRIOS];

	unsigned long paused;
	unsigned long unsent;
	bool gone;
	struct tasklet_struct tasklet;
	struct hrtimer timer;
	u64 retry_ns;
	int (*closwire_xmit)(struct net_device *dev, u8 enable, const u16 quanta[CLOSNET_PFC_PRIOS]);
	u32 (*closwire_peer_Mbps)(struct net_device *dev);
	u32 rate_Mbps;

	struct list_head node;
	u32 users;
	unsigned long grace;
	struct rcu_head rcu;
};

static_assert(DCQCNQ_PRIOS == CLOSNET_PFC_PRIOS);

/* The pools of a network namespace; under RTNL */
struct dcqcnq_net {
	struct list_head pools;
};

static unsigned int dcqcnq_net_id;

/* ---- pause frames ---- */

/* Have a decision sent to the peer. Under the group's lock */
static void dcqcnq_decided(struct dcqcnq_pg *pg)
{
	struct dcqcnq_port *port = pg->port;

	if (pg->ingress.paused)
		set_bit(pg->prio, &port->paused);
	else
		clear_bit(pg->prio, &port->paused);
	smp_mb__after_atomic();	/* before @unsent; see dcqcnq_port_send() */
	set_bit(pg->prio, &port->unsent);
	tasklet_schedule(&port->tasklet);
}

/* Half of the longest pause, as the peer counts it */
static u64 dcqcnq_refresh_ns(const struct dcqcnq_port *port)
{
	u32 mbps = 0;

	if (port->closwire_peer_Mbps)
		mbps = port->closwire_peer_Mbps(port->dev);
	if (!mbps)
		mbps = READ_ONCE(port->rate_Mbps);
	return div_u64(DCQCNQ_QUANTA_BYTES / 2 * 8000, mbps);
}

/* The highest TX queue that takes a frame; high priorities use the last ones. */
static u16 dcqcnq_pause_queue(const struct net_device *dev)
{
	u32 queue = dev->real_num_tx_queues - 1;

	while (queue && netif_xmit_stopped(netdev_get_tx_queue(dev, queue)))
		queue--;
	return queue;
}

/* Send a pause frame through a driver. */
static int dcqcnq_xmit(struct net_device *dev, u8 enable, const u16 quanta[CLOSNET_PFC_PRIOS])
{
	struct sk_buff *skb;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_ZLEN, GFP_ATOMIC);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_mac_header(skb);
	closnet_pfc_fill(skb_put_zero(skb, ETH_ZLEN), dev->dev_addr, enable, quanta);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(CLOSNET_PFC_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	if (dev_direct_xmit(skb, dcqcnq_pause_queue(dev)) == NETDEV_TX_OK)
		return 0;
	return netif_running(dev) && netif_carrier_ok(dev) ? -EBUSY : -ENETDOWN;
}

static void dcqcnq_count_frame(struct dcqcnq_port *port, u8 enable,
			       const u16 quanta[CLOSNET_PFC_PRIOS])
{
	u32 prio;

	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		if (!(enable & BIT(prio)))
			continue;
		if (quanta[prio])
			WRITE_ONCE(pg->xoff_frames, pg->xoff_frames + 1);
		else
			WRITE_ONCE(pg->xon_frames, pg->xon_frames + 1);
	}
}

/*
 * When the tasklet is to run again after a frame: ns, 0: not. A frame that was
 * not sent is forgotten when the pauses that it should lift have ended; those
 * that it should set are tried at the next refresh.
 */
static u64 dcqcnq_frame_done(struct dcqcnq_port *port, u8 enable, int err)
{
	u64 refresh_ns = dcqcnq_refresh_ns(port), ns = port->retry_ns;
	u32 prio;

	if (err == -ENETDOWN)	/* dcqcnq_line_changed() sends when it is up */
		return 0;
	if (!err || ns > 2 * refresh_ns) {
		port->retry_ns = err ? ns : DCQCNQ_RETRY_NS;
		return READ_ONCE(port->paused) ? refresh_ns : 0;
	}
	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++) {
		if (enable & BIT(prio))
			set_bit(prio, &port->unsent);
	}
	port->retry_ns = 2 * ns;
	return ns;
}

static void dcqcnq_port_send(struct tasklet_struct *tasklet)
{
	struct dcqcnq_port *port = from_tasklet(port, tasklet, tasklet);
	/* full barrier: @paused is read after @unsent was cleared */
	u8 unsent = xchg(&port->unsent, 0), paused = READ_ONCE(port->paused);
	u8 enable = unsent | paused;
	u16 quanta[CLOSNET_PFC_PRIOS];
	u32 prio;
	u64 ns;
	int err;

	if (!enable)
		return;
	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++)
		quanta[prio] = paused & BIT(prio) ? DCQCNQ_QUANTA : 0;
	if (port->closwire_xmit)
		err = port->closwire_xmit(port->dev, enable, quanta);
	else
		err = dcqcnq_xmit(port->dev, enable, quanta);
	if (!err)
		dcqcnq_count_frame(port, enable, quanta);
	ns = dcqcnq_frame_done(port, enable, err);
	if (ns && !READ_ONCE(port->gone))
		hrtimer_start(&port->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* Decide anew whether a group is paused. With softirqs off */
static void dcqcnq_review_pg(struct dcqcnq_pg *pg)
{
	bool paused;

	spin_lock(&pg->lock);
	paused = pg->ingress.paused;
	dcqcnq_mmu_review(&pg->port->pool->mmu, &pg->ingress);
	if (pg->ingress.paused != paused)
		dcqcnq_decided(pg);
	spin_unlock(&pg->lock);
}

static enum hrtimer_restart dcqcnq_port_timer(struct hrtimer *timer)
{
	struct dcqcnq_port *port = container_of(timer, struct dcqcnq_port, timer);
	u32 prio;

	for (prio = 0; prio < CLOSNET_PFC_PRIOS; prio++)
		dcqcnq_review_pg(&port->pg[prio]);
	if (!READ_ONCE(port->gone))
		tasklet_schedule(&port->tasklet);
	return HRTIMER_NORESTART;
}

/* ---- packets ---- */

static struct hlist_head *dcqcnq_bucket(struct dcqcnq_pool *pool, int ifindex)
{
	return &pool->by_ifindex[hash_32(ifindex, DCQCNQ_HASH_BITS)];
}

/* Bounded by the ports of the pool */
static struct dcqcnq_port *dcqcnq_find_ifindex(struct dcqcnq_pool *pool, int ifindex)
{
	struct dcqcnq_port *port;

	hlist_for_each_entry_rcu(port, dcqcnq_bucket(pool, ifindex), hash)
		if (port->ifindex == ifindex)
			return port;
	return NULL;
}

/* The member below a VLAN device */
static noinline struct dcqcnq_port *dcqcnq_find_vlan(struct dcqcnq_pool *pool,
						     const struct sk_buff *skb)
{
	struct net_device *dev = dev_get_by_index_rcu(dev_net(skb->dev), skb->skb_iif);

	if (!dev || !is_vlan_dev(dev))
		return NULL;
	dev = vlan_dev_real_dev(dev);
	/* it may be in another namespace, with a number that is a member's here */
	return net_eq(dev_net(dev), dev_net(skb->dev)) ?
	       dcqcnq_find_ifindex(pool, dev->ifindex) : NULL;
}

/* The member that a packet came in by. With softirqs off, which is an RCU reader */
static struct dcqcnq_port *dcqcnq_find_ingress(struct dcqcnq_pool *pool,
					       const struct sk_buff *skb)
{
	struct dcqcnq_port *port;

	if (!skb->skb_iif)
		return NULL;
	port = dcqcnq_find_ifindex(pool, skb->skb_iif);
	return likely(port) ? port : dcqcnq_find_vlan(pool, skb);
}

enum dcqcnq_verdict dcqcnq_pool_admit(struct dcqcnq_port *egress,
				      const struct sk_buff *skb, u32 len, bool fits,
				      struct dcqcnq_charge *charge)
{
	struct dcqcnq_pool *pool = egress->pool;
	enum dcqcnq_verdict verdict;
	struct dcqcnq_port *port;
	struct dcqcnq_pg *pg;
	bool paused;

	rcu_read_lock();
	port = dcqcnq_find_ingress(pool, skb);
	pg = port ? &port->pg[charge->prio] : NULL;
	if (pg) {
		spin_lock(&pg->lock);
		paused = pg->ingress.paused;
		verdict = dcqcnq_mmu_admit(&pool->mmu, &pg->ingress, len, fits);
		if (unlikely(pg->ingress.paused != paused))
			dcqcnq_decided(pg);
		spin_unlock(&pg->lock);
	} else {
		verdict = dcqcnq_mmu_admit_other(&pool->mmu, len, fits);
	}
	rcu_read_unlock();
	charge->from = pg;
	charge->lossless = verdict == DCQCNQ_LOSSLESS;
	charge->charged = verdict == DCQCNQ_LOSSLESS || verdict == DCQCNQ_LOSSY;
	return verdict;
}

void dcqcnq_pool_release(struct dcqcnq_port *egress, u32 len,
			 const struct dcqcnq_charge *charge)
{
	struct dcqcnq_mmu *mmu = &egress->pool->mmu;
	struct dcqcnq_pg *pg = charge->from;
	bool paused;

	if (!pg)
		return dcqcnq_mmu_release_other(mmu, len);
	spin_lock(&pg->lock);
	paused = pg->ingress.paused;
	dcqcnq_mmu_release(mmu, &pg->ingress, len);
	if (unlikely(pg->ingress.paused != paused))
		dcqcnq_decided(pg);
	spin_unlock(&pg->lock);
}

/* ---- thresholds; all under RTNL ---- */

static void dcqcnq_params_init(struct dcqcnq_pool_params *p)
{
	*p = (struct dcqcnq_pool_params){
		.buffer = 12 << 20,	/* the paper's switch: 12 MB (section 4) */
		.headroom = 0,		/* as each port needs it */
		.cable_ns = 1500,	/* the paper's: 300 m (section 4) */
		.xoff_mode = TC_DCQCN_XOFF_AUTO,
		.beta = 8,		/* the paper's (section 4) */
		.pfc = 0xff,		/* a lossless fabric, as the paper's */
	};
}

static void dcqcnq_params_merge(struct dcqcnq_pool_params *p,
				const struct dcqcnq_pool_params *from, u32 given)
{
	if (given & DCQCNQ_POOL_GIVEN(BUFFER))
		p->buffer = from->buffer;
	if (given & DCQCNQ_POOL_GIVEN(HEADROOM))
		p->headroom = from->headroom;
	if (given & DCQCNQ_POOL_GIVEN(CABLE))
		p->cable_ns = from->cable_ns;
	if (given & DCQCNQ_POOL_GIVEN(XOFF_MODE))
		p->xoff_mode = from->xoff_mode;
	if (given & DCQCNQ_POOL_GIVEN(XOFF))
		p->xoff = from->xoff;
	if (given & DCQCNQ_POOL_GIVEN(BETA))
		p->beta = from->beta;
	if (given & DCQCNQ_POOL_GIVEN(PFC))
		p->pfc = from->pfc;
}

static u32 dcqcnq_headroom(const struct dcqcnq_pool_params *p, const struct dcqcnq_port *port)
{
	u64 bytes = p->headroom;

	if (!bytes)
		bytes = dcqcnq_flight_bytes(port->rate_Mbps * 125000ULL, p->cable_ns,
					    READ_ONCE(port->dev->mtu));
	return min_t(u64, bytes, S32_MAX);
}

/* Sum of the ports' headrooms, for one priority */
static u64 dcqcnq_headroom_sum(const struct dcqcnq_pool *pool,
			       const struct dcqcnq_pool_params *p)
{
	struct dcqcnq_port *port;
	u64 sum = 0;

	list_for_each_entry(port, &pool->ports, node)
		sum += dcqcnq_headroom(p, port);
	return sum;
}

static int dcqcnq_params_check(const struct dcqcnq_pool_params *p, u32 given,
			       u64 headroom_sum, struct netlink_ext_ack *extack)
{
	if (p->xoff_mode == TC_DCQCN_XOFF_STATIC) {
		if (!p->xoff) {
			NL_SET_ERR_MSG(extack, "a static xoff needs a size");
			return -EINVAL;
		}
	} else if (given & DCQCNQ_POOL_GIVEN(XOFF)) {
		NL_SET_ERR_MSG(extack, "a size of xoff is for the static mode only");
		return -EINVAL;
	}
	if (!dcqcnq_mmu_fits(p, headroom_sum)) {
		NL_SET_ERR_MSG(extack, "buffer must be more than the headroom of all ports");
		return -EINVAL;
	}
	return 0;
}

/* Set the limits of a port's groups, by the pool's settings and the port's line. */
static void dcqcnq_set_port(struct dcqcnq_port *port, bool member)
{
	const struct dcqcnq_pool_params *p = &port->pool->params;
	u32 headroom = member ? dcqcnq_headroom(p, port) : 0;
	u32 prio;

	local_bh_disable();
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		spin_lock(&pg->lock);
		pg->ingress.headroom = headroom;
		pg->ingress.xon_gap = 2 * READ_ONCE(port->dev->mtu);
		pg->ingress.lossless = member && p->pfc & BIT(prio);
		spin_unlock(&pg->lock);
		dcqcnq_review_pg(pg);
	}
	local_bh_enable();
}

/* Compute the limits anew, after a setting, a port or a line has changed. */
static void dcqcnq_update(struct dcqcnq_pool *pool)
{
	struct dcqcnq_port *port;

	dcqcnq_mmu_set(&pool->mmu, &pool->params, pool->count,
		       dcqcnq_headroom_sum(pool, &pool->params));
	list_for_each_entry(port, &pool->ports, node)
		dcqcnq_set_port(port, true);
}

int dcqcnq_pool_change(struct dcqcnq_port *port,
		       const struct dcqcnq_pool_params *params, u32 given,
		       struct netlink_ext_ack *extack)
{
	struct dcqcnq_pool *pool = port->pool;
	struct dcqcnq_pool_params new = pool->params;
	int err;

	ASSERT_RTNL();
	dcqcnq_params_merge(&new, params, given);
	err = dcqcnq_params_check(&new, given, dcqcnq_headroom_sum(pool, &new), extack);
	if (err)
		return err;
	pool->params = new;
	dcqcnq_update(pool);
	return 0;
}

/* ---- pools and ports; all under RTNL ---- */

static struct dcqcnq_pool *dcqcnq_find_pool(const struct dcqcnq_net *dn, const char *name)
{
	struct dcqcnq_pool *pool;

	list_for_each_entry(pool, &dn->pools, node)
		if (!strcmp(pool->name, name))
			return pool;
	return NULL;
}

static struct dcqcnq_port *dcqcnq_find_port(const struct dcqcnq_pool *pool,
					    const struct net_device *dev)
{
	struct dcqcnq_port *port;

	list_for_each_entry(port, &pool->ports, node)
		if (port->dev == dev)
			return port;
	return NULL;
}

static struct dcqcnq_pool *dcqcnq_new_pool(const char *name)
{
	struct dcqcnq_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	strscpy(pool->name, name, sizeof(pool->name));
	INIT_LIST_HEAD(&pool->node);
	INIT_LIST_HEAD(&pool->ports);
	INIT_LIST_HEAD(&pool->departed);
	dcqcnq_params_init(&pool->params);
	return pool;
}

/* Does no packet wait that came in by the port? */
static bool dcqcnq_is_idle(struct dcqcnq_port *port)
{
	bool idle = true;
	u32 prio;

	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		struct dcqcnq_pg *pg = &port->pg[prio];

		spin_lock_bh(&pg->lock);
		idle &= !pg->ingress.shared_bytes && !pg->ingress.headroom_bytes;
		spin_unlock_bh(&pg->lock);
	}
	return idle;
}

/* Free ports that have left and are idle; or all, if no packet waits in the pool. */
static void dcqcnq_free_departed(struct dcqcnq_pool *pool, bool all)
{
	struct dcqcnq_port *port, *next;

	list_for_each_entry_safe(port, next, &pool->departed, node) {
		if (!all && !(poll_state_synchronize_rcu(port->grace) && dcqcnq_is_idle(port)))
			continue;
		list_del(&port->node);
		kfree_rcu(port, rcu);
	}
}

static void dcqcnq_free_pool(struct dcqcnq_pool *pool)
{
	WARN_ON_ONCE(dcqcnq_mmu_bytes(&pool->mmu));
	dcqcnq_free_departed(pool, true);
	list_del(&pool->node);
	kfree(pool);
}

static void dcqcnq_update_rate(struct dcqcnq_port *port)
{
	u32 mbps = 0;

	if (netif_running(port->dev) && netif_device_present(port->dev))
		mbps = closnet_link_Mbps(port->dev);
	WRITE_ONCE(port->rate_Mbps, mbps ?: DCQCNQ_RATE_MBPS);
}

static bool dcqcnq_is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

/* Module closwire stays as long as its device does, so its code needs no reference. */
static void dcqcnq_find_closwire(struct dcqcnq_port *port)
{
	if (!dcqcnq_is_kind(port->dev, "closwire"))
		return;
	port->closwire_xmit = symbol_get(closwire_pfc_xmit);
	if (port->closwire_xmit)
		symbol_put(closwire_pfc_xmit);
	port->closwire_peer_Mbps = symbol_get(closwire_pfc_peer_Mbps);
	if (port->closwire_peer_Mbps)
		symbol_put(closwire_pfc_peer_Mbps);
}

static struct dcqcnq_port *dcqcnq_new_port(struct dcqcnq_pool *pool, struct net_device *dev)
{
	struct dcqcnq_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	u32 prio;

	if (!port)
		return NULL;
	port->pool = pool;
	port->dev = dev;
	port->ifindex = dev->ifindex;
	port->users = 1;
	port->retry_ns = DCQCNQ_RETRY_NS;
	for (prio = 0; prio < DCQCNQ_PRIOS; prio++) {
		spin_lock_init(&port->pg[prio].lock);
		port->pg[prio].port = port;
		port->pg[prio].prio = prio;
	}
	tasklet_setup(&port->tasklet, dcqcnq_port_send);
	hrtimer_setup(&port->timer, dcqcnq_port_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	dcqcnq_update_rate(port);
	dcqcnq_find_closwire(port);
	return port;
}

/* Add a port to a pool, which may be new */
static struct dcqcnq_port *dcqcnq_join_as_new(struct dcqcnq_pool *pool, struct net_device *dev,
					      const struct dcqcnq_pool_params *params,
					      u32 given, struct netlink_ext_ack *extack)
{
	struct dcqcnq_pool_params new = pool->params;
	struct dcqcnq_port *port;
	int err;

	port = dcqcnq_new_port(pool, dev);
	if (!port)
		return ERR_PTR(-ENOMEM);
	dcqcnq_params_merge(&new, params, given);
	err = dcqcnq_params_check(&new, given,
				  dcqcnq_headroom_sum(pool, &new) + dcqcnq_headroom(&new, port),
				  extack);
	if (err) {
		kfree(port);
		return ERR_PTR(err);
	}
	pool->params = new;
	pool->count++;
	list_add_tail(&port->node, &pool->ports);
	dcqcnq_update(pool);
	hlist_add_head_rcu(&port->hash, dcqcnq_bucket(pool, port->ifindex));
	return port;
}

/*
 * A pause frame holds the peer at the other end of a cable. So a port is a
 * device with queues of its own: no VLAN, bridge, bond, macvlan, tunnel or lo.
 * veth is a cable without queues; dummy is for tests.
 */
static int dcqcnq_check_dev(const struct net_device *dev, struct netlink_ext_ack *extack)
{
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "the ports of a pool are Ethernet devices");
		return -EOPNOTSUPP;
	}
	if (dev->priv_flags & IFF_NO_QUEUE && !dcqcnq_is_kind(dev, "veth") &&
	    !dcqcnq_is_kind(dev, "dummy")) {
		NL_SET_ERR_MSG(extack, "the ports of a pool have a cable: use the device below");
		return -EOPNOTSUPP;
	}
	return 0;
}

struct dcqcnq_port *dcqcnq_pool_join(struct net_device *dev, const char *name,
				     const struct dcqcnq_pool_params *params,
				     u32 given, struct netlink_ext_ack *extack)
{
	struct dcqcnq_net *dn = net_generic(dev_net(dev), dcqcnq_net_id);
	struct dcqcnq_port *port;
	struct dcqcnq_pool *pool;
	int err;

	ASSERT_RTNL();
	err = dcqcnq_check_dev(dev, extack);
	if (err)
		return ERR_PTR(err);
	pool = dcqcnq_find_pool(dn, name);
	port = pool ? dcqcnq_find_port(pool, dev) : NULL;
	if (port) {
		err = dcqcnq_pool_change(port, params, given, extack);
		if (err)
			return ERR_PTR(err);
		port->users++;
		return port;
	}
	if (pool) {
		dcqcnq_free_departed(pool, false);
	} else {
		pool = dcqcnq_new_pool(name);
		if (!pool)
			return ERR_PTR(-ENOMEM);
	}
	port = dcqcnq_join_as_new(pool, dev, params, given, extack);
	if (!IS_ERR(port) && list_empty(&pool->node))
		list_add_tail(&pool->node, &dn->pools);
	else if (list_empty(&pool->ports))
		dcqcnq_free_pool(pool);
	return port;
}

/* After the first kill no run arms the timer; after the second no run is left. */
static void dcqcnq_stop_port(struct dcqcnq_port *port)
{
	WRITE_ONCE(port->gone, true);
	tasklet_kill(&port->tasklet);
	hrtimer_cancel(&port->timer);
	tasklet_kill(&port->tasklet);
}

void dcqcnq_pool_leave(struct dcqcnq_port *port)
{
	struct dcqcnq_pool *pool = port->pool;

	ASSERT_RTNL();
	if (--port->users)
		return;
	hlist_del_rcu(&port->hash);
	port->grace = get_state_synchronize_rcu();
	list_move(&port->node, &pool->departed);
	pool->count--;
	dcqcnq_set_port(port, false);
	dcqcnq_update(pool);
	dcqcnq_stop_port(port);
	if (list_empty(&pool->ports))
		dcqcnq_free_pool(pool);
	else
		dcqcnq_free_departed(pool, false);
}

const char *dcqcnq_pool_get(const struct dcqcnq_port *port,
			    struct dcqcnq_pool_params *params)
{
	*params = port->pool->params;
	return port->pool->name;
}

void dcqcnq_pool_get_stats(const struct dcqcnq_port *port, struct dcqcnq_pool_stats *stats)
{
	const struct dcqcnq_pool *pool = port->pool;

	*stats = (struct dcqcnq_pool_stats) {
		.ports = READ_ONCE(pool->count),
		.bytes = dcqcnq_mmu_bytes(&pool->mmu),
		.peak_bytes = READ_ONCE(pool->mmu.peak_bytes),
		.xoff_bytes = dcqcnq_mmu_xoff(&pool->mmu),
		.headroom_bytes = READ_ONCE(port->pg[0].ingress.headroom),
	};
}

void dcqcnq_pool_get_prio_stats(struct dcqcnq_port *port, u32 prio,
				struct dcqcnq_prio_stats *stats)
{
	struct dcqcnq_pg *pg = &port->pg[prio];

	spin_lock_bh(&pg->lock);
	stats->ingress = pg->ingress;
	spin_unlock_bh(&pg->lock);
	stats->xoff_frames = READ_ONCE(pg->xoff_frames);
	stats->xon_frames = READ_ONCE(pg->xon_frames);
}

/* ---- devices ---- */

/* Also sends what could not be sent while the link was down. */
static void dcqcnq_line_changed(struct dcqcnq_port *port, bool rate)
{
	if (rate)
		dcqcnq_update_rate(port);
	dcqcnq_update(port->pool);
	tasklet_schedule(&port->tasklet);
}

/* Only UP and CHANGE come with the device's own lock, if it has one. */
static int dcqcnq_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct dcqcnq_net *dn = net_generic(dev_net(dev), dcqcnq_net_id);
	struct dcqcnq_pool *pool;
	struct dcqcnq_port *port;

	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	list_for_each_entry(pool, &dn->pools, node) {
		port = dcqcnq_find_port(pool, dev);
		if (port)
			dcqcnq_line_changed(port, event != NETDEV_CHANGEMTU);
	}
	return NOTIFY_DONE;
}

static struct notifier_block dcqcnq_notifier = {
	.notifier_call = dcqcnq_netdev_event,
};

static int __net_init dcqcnq_net_init(struct net *net)
{
	struct dcqcnq_net *dn = net_generic(net, dcqcnq_net_id);

	INIT_LIST_HEAD(&dn->pools);
	return 0;
}

/* Its devices have gone before, and their qdiscs with them. */
static void __net_exit dcqcnq_net_exit(struct net *net)
{
	struct dcqcnq_net *dn = net_generic(net, dcqcnq_net_id);

	WARN_ON_ONCE(!list_empty(&dn->pools));
}

static struct pernet_operations dcqcnq_net_ops = {
	.init = dcqcnq_net_init,
	.exit = dcqcnq_net_exit,
	.id = &dcqcnq_net_id,
	.size = sizeof(struct dcqcnq_net),
};

int __init dcqcnq_pool_init(void)
{
	int err;

	err = register_pernet_subsys(&dcqcnq_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&dcqcnq_notifier);
	if (err)
		unregister_pernet_subsys(&dcqcnq_net_ops);
	return err;
}

void dcqcnq_pool_exit(void)
{
	unregister_netdevice_notifier(&dcqcnq_notifier);
	unregister_pernet_subsys(&dcqcnq_net_ops);
}
