// SPDX-License-Identifier: GPL-2.0-only
/*
 * nicclock: NIC timestamps in the host's time
 *
 * nicclock_core.c learns the clocks. This file supplies it with packets and uses its
 * maps: one struct nicclock for each network device of each namespace, created and
 * removed by netdevice notifications, found by ifindex.
 *
 * To convert a timestamp, the map is read under a sequence counter and compared with
 * its bounds. Only the few packets that may change the state take the lock; if another
 * CPU holds it, they are ignored. Counters are per CPU.
 *
 * The clock is learnt from the packets of its users and, while a device has users, from
 * a sample of all received packets: a netfilter hook at the ingress of the device
 * examines a packet every NICCLOCK_SAMPLE_NS. Any other packet costs an indirect call
 * and a comparison. A worker registers the hook after the first use of a device, as
 * registration may sleep.
 */
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <closnet/cc_link.h>
#include <closnet/nicclock.h>
#include "nicclock_map.h"

/* Minimum time between two samples at the ingress, by the NIC's clock */
#define NICCLOCK_SAMPLE_NS	(100 * NSEC_PER_USEC)

/* Time without users after which the hook is removed */
#define NICCLOCK_UNUSED		(600 * HZ)

/**
 * enum nicclock_hook_state - state of the hook at a device's ingress
 * @NICCLOCK_UNHOOKED: the device has no users
 * @NICCLOCK_HOOK_WANTED: the device is in use, nicclock_hook_work is scheduled
 * @NICCLOCK_HOOKED: the hook is registered
 * @NICCLOCK_HOOK_FAILED: no memory: only packets of users are observed
 */
enum nicclock_hook_state {
	NICCLOCK_UNHOOKED,
	NICCLOCK_HOOK_WANTED,
	NICCLOCK_HOOKED,
	NICCLOCK_HOOK_FAILED,
};

/**
 * struct nicclock_stats - counters of a CPU
 * @stamps: timestamps to convert
 * @refused: timestamps without an answer
 * @clamped: timestamps that were in the future by the map
 */
struct nicclock_stats {
	u64 stamps;
	u64 refused;
	u64 clamped;
};

/**
 * struct nicclock - clock of a NIC
 * @node: in nicclock_nics
 * @net: network namespace of the device
 * @ifindex: index of the device in @net
 * @dev: device; valid as long as the clock can be found
 * @stats: counters
 * @map: copy of @core.map for readers
 * @seq: for @map
 * @hook_state: enum nicclock_hook_state; RTNL protects changes, except for the one
 *	to NICCLOCK_HOOK_WANTED
 * @used: time of the last nicclock_rx_time_slow(), jiffies
 * @sampled: last timestamp that the hook has observed
 * @hook: hook at the ingress
 * @lock: for @core and for writing @map
 * @core: state of the clock
 * @rcu: frees the clock
 */
struct nicclock {
	struct hlist_node node;
	const struct net *net;
	int ifindex;
	struct net_device *dev;
	struct nicclock_stats __percpu *stats;
	struct nicclock_map map;
	seqcount_spinlock_t seq;
	u32 hook_state;
	unsigned long used;
	u64 sampled;
	struct nf_hook_ops hook;

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct nicclock_core core;
	struct rcu_head rcu;
};

#define NICCLOCK_HASH_BITS	8

/*
 * Clocks of all namespaces, by namespace and ifindex. A hash table, as there is a
 * look-up for each ACK. RTNL protects changes.
 */
static DEFINE_HASHTABLE(nicclock_nics, NICCLOCK_HASH_BITS);

/* ---- timestamps ---- */

static struct nicclock_map nicclock_get_map(const struct nicclock *nc)
{
	struct nicclock_map map;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&nc->seq);
		map = nc->map;
	} while (read_seqcount_retry(&nc->seq, seq));
	return map;
}

/* Learn from a packet; returns whether the map may have changed. */
static noinline bool nicclock_learn(struct nicclock *nc, u64 now_ns, u64 stamp)
{
	bool changed;

	if (!spin_trylock_bh(&nc->lock))
		return false;
	changed = nicclock_core_observe(&nc->core, now_ns, stamp);
	if (changed) {
		write_seqcount_begin(&nc->seq);
		nc->map = nc->core.map;
		write_seqcount_end(&nc->seq);
	}
	spin_unlock_bh(&nc->lock);
	return changed;
}

/*
 * Get the lateness of a packet by the map. @answers: the map is trusted; @wanted: the
 * packet may change the state of the clock
 */
static __always_inline s64 nicclock_look_up(const struct nicclock *nc,
					    u64 now_ns, u64 stamp,
					    bool *answers, bool *wanted)
{
	const struct nicclock_map *map = &nc->map;
	unsigned int seq;
	s64 late_ns;

	do {
		seq = read_seqcount_begin(&nc->seq);
		late_ns = nicclock_map_late(map, now_ns, stamp);
		*answers = nicclock_map_answers(map, now_ns, late_ns);
		*wanted = nicclock_core_wants(&nc->core, map, now_ns, late_ns);
	} while (read_seqcount_retry(&nc->seq, seq));
	return late_ns;
}

static struct work_struct nicclock_hook_work;

/*
 * Note that the device is in use. It need not be called for each timestamp: the first
 * timestamps of a bucket are observed, and a bucket may end after 10 ms.
 */
static void nicclock_note_use(struct nicclock *nc)
{
	unsigned long now = jiffies;

	if (READ_ONCE(nc->used) != now)
		WRITE_ONCE(nc->used, now);
	if (unlikely(READ_ONCE(nc->hook_state) == NICCLOCK_UNHOOKED) &&
	    cmpxchg(&nc->hook_state, NICCLOCK_UNHOOKED,
		    NICCLOCK_HOOK_WANTED) == NICCLOCK_UNHOOKED)
		schedule_work(&nicclock_hook_work);
}

/* The packet is to be observed, the map is not trusted, or the answer is in the future. */
static noinline s64 nicclock_rx_time_slow(struct nicclock *nc, u64 now_ns, u64 stamp,
					  s64 late_ns, bool answers, bool wanted)
{
	nicclock_note_use(nc);
	if (wanted && nicclock_learn(nc, now_ns, stamp))
		late_ns = nicclock_look_up(nc, now_ns, stamp, &answers, &wanted);
	if (!answers) {
		this_cpu_inc(nc->stats->refused);
		return -EAGAIN;
	}
	if (late_ns < 0) {
		this_cpu_inc(nc->stats->clamped);
		late_ns = 0;
	}
	return now_ns - late_ns;
}

s64 nicclock_rx_time(struct nicclock *nc, u64 stamp, u64 now_ns)
{
	bool answers, wanted;
	s64 late_ns;

	this_cpu_inc(nc->stats->stamps);
	late_ns = nicclock_look_up(nc, now_ns, stamp, &answers, &wanted);
	if (wanted || !answers || late_ns < 0)
		return nicclock_rx_time_slow(nc, now_ns, stamp, late_ns, answers, wanted);
	return now_ns - late_ns;
}
EXPORT_SYMBOL_GPL(nicclock_rx_time);

/* ---- ingress ---- */

static bool nicclock_used(const struct nicclock *nc)
{
	return time_before(jiffies, READ_ONCE(nc->used) + NICCLOCK_UNUSED);
}

/*
 * Observe a sample of the received packets. The timestamp itself shows whether the next
 * sample is due, without reading the host's clock.
 */
static unsigned int nicclock_ingress(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	u64 stamp = nicclock_stamp(skb), now_ns;
	struct nicclock *nc = priv;
	bool answers, wanted;

	if (!stamp || stamp - READ_ONCE(nc->sampled) < NICCLOCK_SAMPLE_NS)
		return NF_ACCEPT;
	WRITE_ONCE(nc->sampled, stamp);
	if (!nicclock_used(nc)) {
		schedule_work(&nicclock_hook_work);
		return NF_ACCEPT;
	}
	now_ns = ktime_get_ns();
	nicclock_look_up(nc, now_ns, stamp, &answers, &wanted);
	if (wanted)
		nicclock_learn(nc, now_ns, stamp);
	return NF_ACCEPT;
}

/* Remove the hook, under RTNL. Its last calls end within an RCU grace period. */
static void nicclock_unhook(struct nicclock *nc)
{
	if (nc->hook_state == NICCLOCK_HOOKED)
		nf_unregister_net_hook(dev_net(nc->dev), &nc->hook);
	WRITE_ONCE(nc->hook_state, NICCLOCK_UNHOOKED);
}

static void nicclock_hook(struct nicclock *nc)
{
	int err;

	nc->hook = (struct nf_hook_ops) {
		.hook = nicclock_ingress,
		.priv = nc,
		.dev = nc->dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MIN,
	};
	err = nf_register_net_hook(dev_net(nc->dev), &nc->hook);
	WRITE_ONCE(nc->hook_state, err ? NICCLOCK_HOOK_FAILED : NICCLOCK_HOOKED);
}

/*
 * Hook the devices in use, and unhook the remaining devices. The loop is bounded by
 * the number of devices. Runs on the first use of a device, and when its use has ended.
 */
static void nicclock_update_hooks(struct work_struct *work)
{
	struct nicclock *nc;
	unsigned int bucket;

	rtnl_lock();
	hash_for_each(nicclock_nics, bucket, nc, node) {
		if (!nicclock_used(nc))
			nicclock_unhook(nc);
		else if (READ_ONCE(nc->hook_state) <= NICCLOCK_HOOK_WANTED)
			nicclock_hook(nc);
	}
	rtnl_unlock();
}

static DECLARE_WORK(nicclock_hook_work, nicclock_update_hooks);

/* ---- devices ---- */

static u32 nicclock_key_of(const struct net *net, int ifindex)
{
	return (u32)((unsigned long)net >> L1_CACHE_SHIFT) ^ ifindex;
}

static __always_inline struct nicclock *nicclock_find_nic(const struct net *net, int ifindex)
{
	struct nicclock *nc;

	hash_for_each_possible_rcu(nicclock_nics, nc, node, nicclock_key_of(net, ifindex),
				   lockdep_rtnl_is_held())
		if (nc->ifindex == ifindex && net_eq(nc->net, net))
			return nc;
	return NULL;
}

struct nicclock *nicclock_find(struct net *net, int ifindex)
{
	return nicclock_find_nic(net, ifindex);
}
EXPORT_SYMBOL_GPL(nicclock_find);

static void nicclock_free(struct nicclock *nc)
{
	free_percpu(nc->stats);
	kfree(nc);
}

static void nicclock_free_rcu(struct rcu_head *rcu)
{
	nicclock_free(container_of(rcu, struct nicclock, rcu));
}

/* Without memory there is no clock, and its users use other timestamps. */
static void nicclock_add(struct net_device *dev)
{
	struct nicclock *nc = kzalloc(sizeof(*nc), GFP_KERNEL);

	if (!nc)
		return;
	nc->net = dev_net(dev);
	nc->ifindex = dev->ifindex;
	nc->dev = dev;
	spin_lock_init(&nc->lock);
	seqcount_spinlock_init(&nc->seq, &nc->lock);
	nc->stats = alloc_percpu(struct nicclock_stats);
	if (!nc->stats) {
		kfree(nc);
		return;
	}
	nc->used = jiffies - NICCLOCK_UNUSED;
	hash_add_rcu(nicclock_nics, &nc->node, nicclock_key_of(nc->net, nc->ifindex));
}

/*
 * An unregistered device is notified again while it waits for references, when its
 * ifindex may already belong to another device.
 */
static struct nicclock *nicclock_of(const struct net_device *dev)
{
	struct nicclock *nc = nicclock_find_nic(dev_net(dev), dev->ifindex);

	return nc && nc->dev == dev ? nc : NULL;
}

static void nicclock_remove(struct net_device *dev)
{
	struct nicclock *nc = nicclock_of(dev);

	if (!nc)
		return;
	nicclock_unhook(nc);
	hash_del_rcu(&nc->node);
	call_rcu(&nc->rcu, nicclock_free_rcu);
}

/* A device that moves to another namespace unregisters there and registers here. */
static int nicclock_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_REGISTER)
		nicclock_add(dev);
	else if (event == NETDEV_UNREGISTER)
		nicclock_remove(dev);
	return NOTIFY_DONE;
}

static struct notifier_block nicclock_notifier = {
	.notifier_call = nicclock_event,
};

/* ---- /proc/net/closnet/nicclock ---- */

static const char *nicclock_state_name(const struct nicclock_map *map)
{
	static const char * const names[] = {
		[NICCLOCK_NO_STAMPS]	= "no_stamps",
		[NICCLOCK_LEARNING]	= "learning",
		[NICCLOCK_NOISY]	= "noisy",
		[NICCLOCK_DOUBT]	= "doubt",
		[NICCLOCK_ANCHORED]	= "anchored",
		[NICCLOCK_SYNCHRONISED]	= "synchronised",
	};

	if (map->state >= NICCLOCK_ANCHORED &&
	    !nicclock_map_answers(map, ktime_get_ns(), 0))
		return "idle";
	return names[map->state];
}

static struct nicclock_stats nicclock_sum(const struct nicclock *nc)
{
	struct nicclock_stats sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct nicclock_stats *stats = per_cpu_ptr(nc->stats, cpu);

		sum.stamps += READ_ONCE(stats->stamps);
		sum.refused += READ_ONCE(stats->refused);
		sum.clamped += READ_ONCE(stats->clamped);
	}
	return sum;
}

static void nicclock_show_one(struct seq_file *seq, const struct nicclock *nc)
{
	struct nicclock_map map = nicclock_get_map(nc);
	struct nicclock_stats stats = nicclock_sum(nc);

	if (!stats.stamps)
		return;
	seq_printf(seq, "%s %d %u %s %lld %lld %llu %llu %llu %llu\n",
		   netdev_name(nc->dev), nc->ifindex,
		   closnet_cc_link_Mbps(nc->net, nc->ifindex), nicclock_state_name(&map),
		   (s64)(map.now_ns - map.stamp),
		   map.skew * NSEC_PER_SEC >> NICCLOCK_SKEW_SHIFT,
		   stats.stamps, stats.refused, READ_ONCE(nc->core.steps),
		   stats.clamped);
}

static int nicclock_show(struct seq_file *seq, void *v)
{
	const struct net *net = seq_file_single_net(seq);
	struct nicclock *nc;
	unsigned int bucket;

	seq_puts(seq, "device ifindex rate_Mbps state offset_ns skew_ppb stamps refused steps clamped\n");
	rcu_read_lock();
	hash_for_each_rcu(nicclock_nics, bucket, nc, node)
		if (net_eq(nc->net, net))
			nicclock_show_one(seq, nc);
	rcu_read_unlock();
	return 0;
}

static int __net_init nicclock_net_init(struct net *net)
{
	if (IS_ENABLED(CONFIG_PROC_FS) &&
	    !proc_create_net_single("closnet/nicclock", 0444, net->proc_net, nicclock_show, NULL))
		return -ENOMEM;
	return 0;
}

static void __net_exit nicclock_net_exit(struct net *net)
{
	remove_proc_entry("closnet/nicclock", net->proc_net);
}

static struct pernet_operations nicclock_net_ops = {
	.init = nicclock_net_init,
	.exit = nicclock_net_exit,
};

static int __init nicclock_module_init(void)
{
	int err;

	err = register_pernet_subsys(&nicclock_net_ops);
	if (err)
		return err;
	/* also notifies of the present devices */
	err = register_netdevice_notifier(&nicclock_notifier);
	if (err)
		unregister_pernet_subsys(&nicclock_net_ops);
	return err;
}

static void __exit nicclock_module_exit(void)
{
	/* also notifies of the removal of each device */
	unregister_netdevice_notifier(&nicclock_notifier);
	cancel_work_sync(&nicclock_hook_work);
	unregister_pernet_subsys(&nicclock_net_ops);
	/* Wait for running hooks, then for the memory of the clocks. */
	synchronize_net();
	rcu_barrier();
}

module_init(nicclock_module_init);
module_exit(nicclock_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("NIC timestamps in the host's time");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
