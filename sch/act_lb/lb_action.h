/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The action: its parameters, tables and counters
 */
#ifndef _CLOSNET_LB_ACTION_H
#define _CLOSNET_LB_ACTION_H

#include <linux/siphash.h>
#include <linux/tc_act/tc_lb.h>
#include <net/act_api.h>
#include "lb_fib.h"
#include "lb_flow.h"
#include "lb_glb.h"
#include "lb_hash.h"
#include "lb_options.h"
#include "lb_port.h"
#include "lb_select.h"

/* Memories of groups: groups that share one take each other's turns, which does little harm */
#define LB_MEMORY_BITS	6

/**
 * struct lb_bucket - a bucket of the table of flows
 * @lock: guards @flows
 * @flows: the flows
 */
struct lb_bucket {
	spinlock_t lock;	/* guards @flows */
	struct lb_flow flows[LB_WAYS];
} ____cacheline_aligned_in_smp;

/**
 * struct lb_table - the table of flows
 * @rcu: for freeing
 * @count: number of buckets, a power of two
 * @buckets: the buckets
 */
struct lb_table {
	struct rcu_head rcu;
	u32 count;
	struct lb_bucket buckets[];
};

/**
 * struct lb_params - parameters of an action, replaced as a whole
 * @rcu: for freeing
 * @options: as the user set them
 * @select: computed from @options
 * @gap_ns: idle time after which a flow may move
 * @teller: sends adverts to the port's neighbour, or NULL
 * @store: remote qualities, or NULL
 * @glb: state of the namespace, or NULL if the action has no role
 * @keys: key of adverts, until the parameters are in place
 * @uses_key: counted by lb_glb_use_key()
 * @table: flows; NULL if the granularity is a packet, or the hash selects
 * @rate_count: number of @rates
 * @rates: rates of devices
 */
struct lb_params {
	struct rcu_head rcu;
	struct lb_options options;
	struct lb_select_params select;
	u64 gap_ns;
	struct lb_teller *teller;
	const struct lb_remote *store;
	struct lb_glb *glb;
	struct lb_keys *keys;
	bool uses_key;
	struct lb_table *table;
	u32 rate_count;
	struct lb_rate rates[];
};

/**
 * struct lb_port_stats - what an action sent by a port
 * @ifindex: the device; another one begins at 0 again
 * @packets: packets
 * @bytes: their bytes
 */
struct lb_port_stats {
	u32 ifindex;
	u64 packets;
	u64 bytes;
};

/**
 * struct lb_stats - what an action has on each CPU
 * @counters: indexed by TCA_LB_STATS_*
 * @pass: indexed by TCA_LB_STATS_PASS_*
 * @ports: indexed by the slot of the port
 * @random: state of lb_draw()
 * @sources: valid source addresses
 */
struct lb_stats {
	u64 counters[TCA_LB_STATS_DELAYED_MESSAGES + 1];
	u64 pass[TCA_LB_STATS_PASS_PORTS + 1];
	struct lb_port_stats ports[LB_PORTS_MAX];
	u64 random;
	struct lb_source sources[LB_SOURCES];
};

/**
 * struct tcf_lb - the action
 * @common: what all actions have
 * @params: parameters
 * @ports: ports of the action's namespace, which is that of its packets
 * @stats: counters
 * @key: key of the flows' hash
 * @memory: what groups remember, by a hash of the route
 */
struct tcf_lb {
	struct tc_action common;
	struct lb_params __rcu *params;
	struct lb_ports *ports;
	struct lb_stats __percpu *stats;
	siphash_key_t key;
	struct lb_memory memory[1 << LB_MEMORY_BITS];
};

#define to_lb(a)	((struct tcf_lb *)(a))

/* Return: 32 random bits, which need not be secret, by a linear congruential generator */
static inline u32 lb_draw(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32;
}

/* Add 1 to a counter of an action. */
static inline void lb_count(const struct tcf_lb *lb, u32 counter)
{
	this_cpu_inc(lb->stats->counters[counter]);
}

int lb_forward(struct tcf_lb *lb, const struct lb_params *p, struct lb_ports *ports,
	       struct sk_buff *skb);
int lb_check_packet(struct sk_buff *skb, struct net *net);

#endif /* _CLOSNET_LB_ACTION_H */
