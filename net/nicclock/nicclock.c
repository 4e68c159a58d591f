// SPDX-License-Identifier: GPL-2.0-only
/*
 * nicclock: NIC time stamps in the host's time
 *
 * nicclock_core.h has the learning. This file feeds it, and answers from it: one
 * struct nicclock for each network device of each namespace, created and removed
 * by netdevice notifications, found by ifindex.
 *
 * A packet's stamp takes a copy of the map, under a sequence counter, and some
 * comparisons. Only the few packets that teach something take the lock; if
 * another CPU has it, they do not teach. Counters are per CPU.
 *
 * The packets of users teach, and, while a device has users, a sample of all that
 * it receives: a netfilter hook at the device's ingress looks at one packet each
 * NICCLOCK_SAMPLE_NS. Each other packet costs an indirect call and a comparison.
 * A worker sets the hook after the first use of a device, as that may sleep.
 *
 * The directory /proc/net/closnet is made here, too.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <closnet/cc_link.h>
#include <closnet/nicclock.h>
#include "nicclock_core.h"

/* Least time between two packets that teach at the ingress, by the NIC's clock */
#define NICCLOCK_SAMPLE_NS	(100 * NSEC_PER_USEC)

/* The hook is removed if the device has had no users for so long. */
#define NICCLOCK_UNUSED		(600 * HZ)

/**
 * enum nicclock_hook_state - of a device's ingress
 * @NICCLOCK_UNHOOKED: the device has no users
 * @NICCLOCK_HOOK_WANTED: it has one, and nicclock_hook_work is scheduled
 * @NICCLOCK_HOOKED: a sample of the packets teaches
 * @NICCLOCK_HOOK_FAILED: out of memory: only the packets of users teach
 */
enum nicclock_hook_state {
	NICCLOCK_UNHOOKED,
	NICCLOCK_HOOK_WANTED,
	NICCLOCK_HOOKED,
	NICCLOCK_HOOK_FAILED,
};

/**
 * struct nicclock_stats - counters of a CPU
 * @stamps: packets that had one
 * @refused: of these, those whose time was not known
 * @clamped: those whose time, by the map, was yet to come
 */
struct nicclock_stats {
	u64 stamps;
	u64 refused;
	u64 clamped;
};

/**
 * struct nicclock - a NIC
 * @node: in nicclock_nics
 * @net: namespace of the device
 * @ifindex: of the device, there
 * @dev: the device; lives as long as this can be found
 * @stats: counters
 * @map: copy of @core.map for readers
 * @seq: for @map
 * @hook_state: enum nicclock_hook_state; RTNL protects changes, but for that to
 *	NICCLOCK_HOOK_WANTED
 * @asked: time of the last nicclock_rx_time_slow(), jiffies
 * @sampled: the last stamp that the hook has learnt from
 * @hook: at the ingress
 * @lock: for @core and for writing @map
 * @core: what is known of the clock
 * @rcu: to free it
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
	unsigned long asked;
	u64 sampled;
	struct nf_hook_ops hook;

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct nicclock_core core;
	struct rcu_head rcu;
};

#define NICCLOCK_HASH_BITS	8

/*
 * The NICs of all namespaces, by namespace and ifindex: with each ACK one is
 * looked up. RTNL protects changes.
 */
static struct hlist_head nicclock_nics[1 << NICCLOCK_HASH_BITS];

/* ---- stamps ---- */

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

/* Returns whether the map may be another one. */
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
 * What the map says of a stamp: the packet's lateness, whether that is to be
 * believed, and whether something is to be learnt from it
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
 * Not called for each stamp: while a device has users, a bucket ends every 10 ms
 * or more, and its first stamps teach.
 */
static void nicclock_note_use(struct nicclock *nc)
{
	unsigned long now = jiffies;

	if (READ_ONCE(nc->asked) != now)
		WRITE_ONCE(nc->asked, now);
	if (unlikely(READ_ONCE(nc->hook_state) == NICCLOCK_UNHOOKED) &&
	    cmpxchg(&nc->hook_state, NICCLOCK_UNHOOKED,
		    NICCLOCK_HOOK_WANTED) == NICCLOCK_UNHOOKED)
		schedule_work(&nicclock_hook_work);
}

/* Something to learn, no answer, or one that is in the future */
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

/* ---- the ingress ---- */

static bool nicclock_used(const struct nicclock *nc)
{
	return time_before(jiffies, READ_ONCE(nc->asked) + NICCLOCK_UNUSED);
}

/*
 * Look at a received packet. The stamp itself shows whether the next sample is
 * due, without reading the clock.
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

/* Remove the hook, under RTNL. Its last calls end within a grace period. */
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
 * Hook the devices in use, and unhook all other devices. Bounded by the number of
 * devices; runs when a device is first used, and when it is no longer.
 */
static void nicclock_update_hooks(struct work_struct *work)
{
	struct nicclock *nc;
	unsigned int i;

	rtnl_lock();
	for (i = 0; i < ARRAY_SIZE(nicclock_nics); i++) {
		hlist_for_each_entry(nc, &nicclock_nics[i], node) {
			if (!nicclock_used(nc))
				nicclock_unhook(nc);
			else if (READ_ONCE(nc->hook_state) <= NICCLOCK_HOOK_WANTED)
				nicclock_hook(nc);
		}
	}
	rtnl_unlock();
}

static DECLARE_WORK(nicclock_hook_work, nicclock_update_hooks);

/* ---- NICs ---- */

static struct hlist_head *nicclock_bucket_of(const struct net *net, int ifindex)
{
	u32 key = (u32)((unsigned long)net >> L1_CACHE_SHIFT) ^ ifindex;

	return &nicclock_nics[hash_32(key, NICCLOCK_HASH_BITS)];
}

static __always_inline struct nicclock *
nicclock_find_nic(const struct net *net, int ifindex)
{
	struct nicclock *nc;

	hlist_for_each_entry_rcu(nc, nicclock_bucket_of(net, ifindex), node,
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

/* Without memory there is no NIC: its users do without. */
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
	nc->asked = jiffies - NICCLOCK_UNUSED;
	hlist_add_head_rcu(&nc->node, nicclock_bucket_of(nc->net, nc->ifindex));
}

/*
 * A device that has been unregistered is told of again while it waits for
 * references; another one may have its ifindex by then.
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
	hlist_del_rcu(&nc->node);
	call_rcu(&nc->rcu, nicclock_free_rcu);
}

/*
 * Of the notifications, these three come with the device's own lock held, if
 * it has one: REGISTER, UP, CHANGE. A device that moves to another namespace
 * unregisters there and registers here.
 */
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
	unsigned int i;

	seq_puts(seq, "device ifindex rate_Mbps state offset_ns skew_ppb stamps refused steps clamped\n");
	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(nicclock_nics); i++)
		hlist_for_each_entry_rcu(nc, &nicclock_nics[i], node)
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
	/* tells of the devices that are there already */
	err = register_netdevice_notifier(&nicclock_notifier);
	if (err)
		unregister_pernet_subsys(&nicclock_net_ops);
	return err;
}

static void __exit nicclock_module_exit(void)
{
	/* tells of all devices that they go */
	unregister_netdevice_notifier(&nicclock_notifier);
	cancel_work_sync(&nicclock_hook_work);
	unregister_pernet_subsys(&nicclock_net_ops);
	/* wait for running hooks, then for the memory of devices */
	synchronize_net();
	rcu_barrier();
}

module_init(nicclock_module_init);
module_exit(nicclock_module_exit);
MODULE_AUTHOR("The closnet authors");
MODULE_DESCRIPTION("NIC time stamps in the host's time");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
