// SPDX-License-Identifier: GPL-2.0-only
/*
 * act_lb: load balancing over the next hops of a route, as a tc action
 *
 * At the ingress of a router's port, the action works like the load-balancing engine of a switch
 * ASIC: it looks the packet up in the FIB, and where the route has several next hops, it chooses
 * one by hash, flowlet, spraying, DRILL or measured quality, and sends the packet. All else goes on
 * to the stack, counted by reason. Filters select the action of a packet; all actions of a
 * namespace share the load of its ports.
 *
 *	tc filter add dev swp1 ingress matchall action lb granularity packet select quality
 *
 *	lb_main.c	this file: netlink, life and death
 *	lb_forward.c	the way of a packet
 *	lb_packet.c	which packets; the hash of a flow
 *	lb_fib.c	next hops of a route
 *	lb_port.c	devices of next hops, samples of their load
 *	lb_glb.c	adverts to and from neighbours
 *	lb_load.c	load becomes quality		\
 *	lb_flow.c	table of flows			 > cores, without skb and netlink
 *	lb_select.c	choice of a member		 |
 *	lb_remote.c	quality beyond the next hop	/
 *	lb_options.c	generated from tc-lb.yaml
 *
 * Locks. A packet takes the lock of its flow's bucket. Inside it, a new flow or flowlet samples
 * ports and may create them. A sample is taken under the port's lock, by the CPU that gets it at
 * once; others do not wait. The xarray's lock guards the table of ports. Neither lock has another
 * one inside it. rate_mutex guards the rates of ports, and the mutex of struct lb_glb its keys and
 * users; they are taken inside RTNL and apply_mutex, and no other inside them. Parameters are
 * replaced by RCU as a whole, under apply_mutex.
 *
 * References: see lb_load.c, lb_flow.c and lb_select.c.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <closnet/netlink.h>
#include <net/netns/generic.h>
#include <net/pkt_cls.h>
#include "lb_action.h"

#define CREATE_TRACE_POINTS
#include "lb_trace.h"

/* Number of the action among all kinds; the kernel's own end far below */
#define LB_TCA_ID	200

/* Rates that an action sets */
#define LB_RATES_MAX	32
/* Ports in a dump, which has to fit into a page with the filter */
#define LB_DUMP_PORTS	32
#define LB_FLOW_GAP_US	(10 * USEC_PER_SEC)
#define LB_FLOWLET_GAP_US	256

static struct tc_action_ops lb_ops;

/* State of a namespace */
struct lb_net {
	struct tc_action_net actions;	/* the first member: the kernel looks for it by net_id */
	struct lb_ports ports;
	struct lb_glb glb;
	struct mutex apply_mutex;	/* one replacement of parameters at a time */
};

static struct lb_net *lb_net_of(const struct net *net)
{
	return net_generic(net, lb_ops.net_id);
}

static struct lb_ports *lb_ports_of(const struct net *net)
{
	return &lb_net_of(net)->ports;
}

/* ---- packets ---- */

static int lb_act(struct sk_buff *skb, const struct tc_action *a, struct tcf_result *res)
{
	struct tcf_lb *lb = to_lb(a);
	const struct lb_params *p;
	int reason, verdict;

	tcf_lastuse_update(&lb->common.tcfa_tm);
	tcf_action_update_bstats(&lb->common, skb);
	verdict = READ_ONCE(lb->common.tcfa_action);
	p = rcu_dereference_bh(lb->params);

	reason = lb_forward(lb, p, lb->ports, skb);
	if (!reason)
		return TC_ACT_CONSUMED;
	trace_lb_pass(a, skb, reason);
	this_cpu_inc(lb->stats->pass[reason]);
	return verdict;
}

/* ---- parameters ---- */

static struct lb_table *lb_table_alloc(u32 flows)
{
	u32 count = roundup_pow_of_two(DIV_ROUND_UP(flows, LB_WAYS)), i;
	struct lb_table *table;

	table = kvzalloc(struct_size(table, buckets, count), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->count = count;
	for (i = 0; i < count; i++)
		spin_lock_init(&table->buckets[i].lock);
	return table;
}

static u32 lb_util(u32 share)
{
	return (u64)share * LB_UTIL_ONE / U32_MAX;
}

/* Compute values that depend on the options */
static void lb_params_finish(struct lb_params *p)
{
	const struct lb_options *o = &p->options;
	const struct lb_weights weights = {
		.interval_ns = o->interval_ns, .band_ns = o->band_ns,
		.queue_weight = o->queue_weight, .util_weight = o->utilization_weight,
		.util_low = lb_util(o->utilization_low), .util_high = lb_util(o->utilization_high),
		.charge = o->charge,
	};
	u32 gap_us = o->gap_us;

	if (!gap_us)
		gap_us = o->granularity == TC_LB_GRANULARITY_FLOW ? LB_FLOW_GAP_US :
								    LB_FLOWLET_GAP_US;
	p->gap_ns = (u64)gap_us * NSEC_PER_USEC;
	p->select.policy = (enum lb_policy)o->select;
	p->select.choices = o->choices;
	p->select.memory = o->memory;
	lb_grading_init(&p->select.grading, &weights);
}

/* Does the action store flows? Packets need no memory, and the hash of a flow is constant. */
static bool lb_needs_table(const struct lb_options *o)
{
	return o->granularity != TC_LB_GRANULARITY_PACKET && o->select != TC_LB_SELECT_HASH;
}

static int lb_check_options(const struct lb_options *o, const struct nlattr *key,
			    struct netlink_ext_ack *extack)
{
	if (!o->queue_weight && !o->utilization_weight) {
		NL_SET_ERR_MSG(extack, "queue_weight and utilization_weight must not both be 0");
		return -EINVAL;
	}
	if (key && o->glb == TC_LB_GLB_OFF) {
		NL_SET_ERR_MSG_ATTR(extack, key, "key needs glb");
		return -EINVAL;
	}
	if (o->utilization_low > o->utilization_high) {
		NL_SET_ERR_MSG(extack, "utilization_low must not be above utilization_high");
		return -EINVAL;
	}
	return 0;
}

static const struct nla_policy lb_rate_policy[TCA_LB_RATE_MAX + 1] = {
	[TCA_LB_RATE_IFINDEX]	= { .type = NLA_U32 },
	[TCA_LB_RATE_RATE]	= { .type = NLA_U64 },
};

/* Parse an attribute TCA_LB_RATE; the rate is not set yet. */
static int lb_parse_rate(struct lb_ports *ports, struct lb_rate *rate, const struct nlattr *nest,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_LB_RATE_MAX + 1];
	int err;

	err = nla_parse_nested(tb, TCA_LB_RATE_MAX, nest, lb_rate_policy, extack);
	if (err)
		return err;
	if (!tb[TCA_LB_RATE_IFINDEX] || !tb[TCA_LB_RATE_RATE]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "rate needs a device and a rate");
		return -EINVAL;
	}
	rate->rate_Bps = nla_get_u64(tb[TCA_LB_RATE_RATE]);
	if (rate->rate_Bps < LB_RATE_MIN || rate->rate_Bps > LB_RATE_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_LB_RATE_RATE],
				    "rate must be 1kbit to 2^40 bytes per second");
		return -ERANGE;
	}
	rate->port = lb_port_hold(ports, nla_get_u32(tb[TCA_LB_RATE_IFINDEX]), extack);
	return PTR_ERR_OR_ZERO(rate->port);
}

/* Parse all attributes TCA_LB_RATE. */
static int lb_parse_rates(struct lb_ports *ports, struct lb_params *p, const struct nlattr *nest,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem, err;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != TCA_LB_RATE)
			continue;
		err = lb_parse_rate(ports, &p->rates[p->rate_count], attr, extack);
		if (err)
			return err;
		p->rate_count++;
	}
	return 0;
}

static u32 lb_count_rates(const struct nlattr *nest)
{
	const struct nlattr *attr;
	u32 count = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		count += nla_type(attr) == TCA_LB_RATE;
	return count;
}

static bool lb_tells(const struct lb_options *o)
{
	return o->glb == TC_LB_GLB_TELL || o->glb == TC_LB_GLB_BOTH;
}

static bool lb_chooses(const struct lb_options *o)
{
	return o->glb == TC_LB_GLB_CHOOSE || o->glb == TC_LB_GLB_BOTH;
}

/* Free parameters that new packets cannot see, after a grace period. */
static void lb_params_free(struct lb_params *p)
{
	u32 i;

	if (!p)
		return;
	for (i = 0; i < p->rate_count; i++)
		lb_port_put(p->rates[i].port);
	if (p->teller)
		lb_teller_destroy(p->teller);
	if (p->store)
		lb_glb_leave(p->glb);
	if (p->uses_key)
		lb_glb_drop_key(p->glb);
	kfree(p->keys);
	if (p->table)
		kvfree_rcu(p->table, rcu);
	kfree_rcu(p, rcu);
}

/* Join global load balancing in the role of the options. */
static int lb_join_glb(struct lb_params *p, struct lb_net *ln, struct tcf_lb *lb,
		       const struct nlattr *key)
{
	if (p->options.glb == TC_LB_GLB_OFF)
		return 0;
	p->glb = &ln->glb;
	if (key) {
		p->keys = lb_keys_create(nla_data(key));
		if (!p->keys)
			return -ENOMEM;
	}
	if (lb_chooses(&p->options)) {
		if (lb_glb_join(p->glb))
			return -ENOMEM;
		/* not freed before the namespace */
		p->store = rcu_dereference_protected(ln->glb.store, 1);
	}
	if (lb_tells(&p->options)) {
		p->teller = lb_teller_create(&ln->ports, &ln->glb, &p->select.grading,
					     &lb->stats->counters[TCA_LB_STATS_TOLD_MESSAGES],
					     &lb->stats->counters[TCA_LB_STATS_DELAYED_MESSAGES]);
		if (!p->teller)
			return -ENOMEM;
	}
	return 0;
}

/* Make parameters from attributes. Return: an error pointer if it fails */
static struct lb_params *lb_params_create(struct lb_net *ln, struct tcf_lb *lb,
					  const struct lb_options *o, struct nlattr **tb,
					  const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	u32 rates = lb_count_rates(nest);
	struct lb_params *p;
	int err;

	if (rates > LB_RATES_MAX) {
		NL_SET_ERR_MSG(extack,
			       "rate is given more than " __stringify(LB_RATES_MAX) " times");
		return ERR_PTR(-E2BIG);
	}
	p = kzalloc(struct_size(p, rates, rates), GFP_KERNEL_ACCOUNT);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->options = *o;
	lb_params_finish(p);
	err = lb_parse_rates(&ln->ports, p, nest, extack);
	if (!err)
		err = lb_join_glb(p, ln, lb, tb[TCA_LB_KEY]);
	if (!err && lb_needs_table(o)) {
		p->table = lb_table_alloc(o->flows);
		err = p->table ? 0 : -ENOMEM;
	}
	if (!err)
		return p;
	lb_params_free(p);
	return ERR_PTR(err);
}

/* ---- netlink ---- */

/* Results of lb_find_action(): ACT_P_CREATED, and for an action that was there before */
#define LB_REPLACE	0
#define LB_BIND		2

/* Find or create the action that a request means. Return: one of the above, or a negative error */
static int lb_find_action(struct tc_action_net *tn, u32 index, struct nlattr *est,
			  struct tc_action **a, u32 flags)
{
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	struct tcf_lb *lb;
	int err, cpu;

	err = tcf_idr_check_alloc(tn, &index, a, bind);
	if (err < 0)
		return err;
	if (err) {
		if (bind)
			return LB_BIND;
		if (flags & TCA_ACT_FLAGS_REPLACE)
			return LB_REPLACE;
		tcf_idr_release(*a, bind);
		return -EEXIST;
	}
	err = tcf_idr_create_from_flags(tn, index, est, a, &lb_ops, bind, flags);
	if (err) {
		tcf_idr_cleanup(tn, index);
		return err;
	}
	lb = to_lb(*a);
	get_random_bytes(&lb->key, sizeof(lb->key));
	lb->ports = lb_ports_of(lb->common.idrinfo->net);
	lb->stats = alloc_percpu_gfp(struct lb_stats, GFP_KERNEL_ACCOUNT);
	if (!lb->stats) {
		tcf_idr_release(*a, bind);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(lb->stats, cpu)->random = get_random_u64();
	return ACT_P_CREATED;
}

static void lb_params_use_key(struct lb_params *p)
{
	if (!p->glb)
		return;
	lb_glb_use_key(p->glb, p->keys);
	p->keys = NULL;
	p->uses_key = true;
}

/* Put new parameters in place, or change nothing. Return: 0 or a negative error */
static int lb_apply(struct tcf_lb *lb, struct lb_net *ln, struct lb_params *p, int action,
		    struct tcf_chain **chain, struct netlink_ext_ack *extack)
{
	struct lb_params *old;
	int err;

	mutex_lock(&ln->apply_mutex);
	old = rcu_dereference_protected(lb->params, lockdep_is_held(&ln->apply_mutex));
	err = !p->glb ? 0 : lb_glb_check_key(p->glb, p->keys, old && old->glb, extack);
	if (!err)
		err = lb_port_change_rates(&ln->ports, old ? old->rates : NULL,
					   old ? old->rate_count : 0, p->rates, p->rate_count,
					   extack);
	if (!err) {
		lb_params_use_key(p);
		spin_lock_bh(&lb->common.tcfa_lock);
		*chain = tcf_action_set_ctrlact(&lb->common, action, *chain);
		rcu_assign_pointer(lb->params, p);
		spin_unlock_bh(&lb->common.tcfa_lock);
	}
	mutex_unlock(&ln->apply_mutex);
	if (!err)
		lb_params_free(old);
	return err;
}

static int lb_init(struct net *net, struct nlattr *nla, struct nlattr *est, struct tc_action **a,
		   struct tcf_proto *tp, u32 flags, struct netlink_ext_ack *extack)
{
	struct lb_net *ln = net_generic(net, lb_ops.net_id);
	struct nlattr *tb[TCA_LB_MAX + 1];
	struct tcf_chain *chain = NULL;
	struct lb_options options;
	struct lb_params *p;
	struct tc_lb *parm;
	int ret, err;

	if (!nla)
		return -EINVAL;
	lb_options_init(&options);
	err = lb_options_parse(&options, tb, nla, extack);
	if (!err)
		err = lb_check_options(&options, tb[TCA_LB_KEY], extack);
	if (err)
		return err;
	if (!tb[TCA_LB_PARMS]) {
		NL_SET_ERR_MSG(extack, "TCA_LB_PARMS is missing");
		return -EINVAL;
	}
	parm = nla_data(tb[TCA_LB_PARMS]);
	ret = lb_find_action(&ln->actions, parm->index, est, a, flags);
	if (ret < 0 || ret == LB_BIND)
		return min(ret, 0);

	err = tcf_action_check_ctrlact(parm->action, tp, &chain, extack);
	if (err)
		goto release;
	p = lb_params_create(ln, to_lb(*a), &options, tb, nla, extack);
	err = PTR_ERR_OR_ZERO(p);
	if (!err) {
		err = lb_apply(to_lb(*a), ln, p, parm->action, &chain, extack);
		if (err)
			lb_params_free(p);
	}
	if (chain)
		tcf_chain_put_by_act(chain);
	if (!err)
		return ret;
release:
	tcf_idr_release(*a, flags & TCA_ACT_FLAGS_BIND);
	return err;
}

static void lb_cleanup(struct tc_action *a)
{
	struct tcf_lb *lb = to_lb(a);
	struct lb_params *p = rcu_dereference_protected(lb->params, 1);

	if (p)
		lb_port_change_rates(lb_ports_of(a->idrinfo->net), p->rates, p->rate_count, NULL, 0,
				     NULL);
	lb_params_free(p);
	free_percpu(lb->stats);
}

/* ---- dump ---- */

static u64 lb_sum(const struct tcf_lb *lb, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*(u64 *)((u8 *)per_cpu_ptr(lb->stats, cpu) + offset));
	return sum;
}

static int lb_dump_pass(struct sk_buff *skb, const struct tcf_lb *lb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_LB_STATS_PASS);
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= TCA_LB_STATS_PASS_PORTS; i++)
		if (nla_put_u64_64bit(skb, i, lb_sum(lb, offsetof(struct lb_stats, pass[i])),
				      TCA_LB_STATS_PASS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Add up what an action sent by a port */
static struct lb_port_stats lb_port_sum(const struct tcf_lb *lb, const struct lb_port *port)
{
	struct lb_port_stats sum = { .ifindex = port->ifindex };
	const struct lb_port_stats *s;
	int cpu;

	for_each_possible_cpu(cpu) {
		s = &per_cpu_ptr(lb->stats, cpu)->ports[port->slot];
		if (READ_ONCE(s->ifindex) != port->ifindex)
			continue;
		sum.packets += READ_ONCE(s->packets);
		sum.bytes += READ_ONCE(s->bytes);
	}
	return sum;
}

/* The share that netlink shows of a utilization in the core's units */
static u32 lb_share(u32 util)
{
	return min_t(u64, (u64)util * U32_MAX / LB_UTIL_ONE, U32_MAX);
}

static int lb_dump_port(struct sk_buff *skb, const struct lb_port_stats *sum,
			struct lb_port *port, const struct lb_grading *g)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_LB_STATS_PORT);

	if (!nest ||
	    nla_put_u32(skb, TCA_LB_STATS_PORT_IFINDEX, sum->ifindex) ||
	    nla_put_u64_64bit(skb, TCA_LB_STATS_PORT_PACKETS, sum->packets,
			      TCA_LB_STATS_PORT_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LB_STATS_PORT_BYTES, sum->bytes, TCA_LB_STATS_PORT_PAD) ||
	    nla_put_u32(skb, TCA_LB_STATS_PORT_QUALITY, lb_load_quality(&port->load, g)) ||
	    nla_put_u32(skb, TCA_LB_STATS_PORT_UTILIZATION,
			lb_share(READ_ONCE(port->load.util))) ||
	    nla_put_u64_64bit(skb, TCA_LB_STATS_PORT_DRAIN, lb_load_drain_ns(&port->load, g),
			      TCA_LB_STATS_PORT_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LB_STATS_PORT_RATE, lb_port_rate_Bps(port),
			      TCA_LB_STATS_PORT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Dump the ports that the action has used, with a new sample if one is due: any user may dump, and
 * samples in quick succession would find no packets. Called under RCU.
 */
static int lb_dump_ports(struct sk_buff *skb, const struct tcf_lb *lb, struct lb_ports *ports,
			 const struct lb_grading *g)
{
	u64 now_ns = ktime_get_ns();
	struct lb_port_stats sum;
	struct net_device *dev;
	struct lb_port *port;
	unsigned long index;
	u32 count = 0;

	xa_for_each(&ports->by_ifindex, index, port) {
		sum = lb_port_sum(lb, port);
		if (!sum.packets)
			continue;
		dev = dev_get_by_index_rcu(ports->net, port->ifindex);
		if (dev && lb_load_is_due(&port->load, g, now_ns)) {
			local_bh_disable();
			lb_port_sample(port, dev, g, now_ns);
			local_bh_enable();
		}
		if (lb_dump_port(skb, &sum, port, g))
			return -EMSGSIZE;
		if (++count == LB_DUMP_PORTS)
			break;
	}
	return 0;
}

static int lb_dump_stats(struct sk_buff *skb, const struct tcf_lb *lb, struct lb_net *ln,
			 const struct lb_grading *g)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_LB_STATS);
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 1; i <= TCA_LB_STATS_DELAYED_MESSAGES; i++)
		if (nla_put_u64_64bit(skb, i, lb_sum(lb, offsetof(struct lb_stats, counters[i])),
				      TCA_LB_STATS_PAD))
			return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, TCA_LB_STATS_HEARD_MESSAGES, READ_ONCE(ln->glb.heard),
			      TCA_LB_STATS_PAD) ||
	    nla_put_u64_64bit(skb, TCA_LB_STATS_REFUSED_MESSAGES, READ_ONCE(ln->glb.refused),
			      TCA_LB_STATS_PAD) ||
	    lb_dump_pass(skb, lb) || lb_dump_ports(skb, lb, &ln->ports, g))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lb_dump_rates(struct sk_buff *skb, const struct lb_params *p)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < p->rate_count; i++) {
		/* another device may have its index now */
		if (READ_ONCE(p->rates[i].port->gone))
			continue;
		nest = nla_nest_start(skb, TCA_LB_RATE);
		if (!nest ||
		    nla_put_u32(skb, TCA_LB_RATE_IFINDEX, p->rates[i].port->ifindex) ||
		    nla_put_u64_64bit(skb, TCA_LB_RATE_RATE, p->rates[i].rate_Bps, TCA_LB_RATE_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int lb_dump(struct sk_buff *skb, struct tc_action *a, int bind, int ref)
{
	unsigned char *start = skb_tail_pointer(skb);
	struct tcf_lb *lb = to_lb(a);
	struct tc_lb parm = {
		.index = lb->common.tcfa_index,
		.refcnt = refcount_read(&lb->common.tcfa_refcnt) - ref,
		.bindcnt = atomic_read(&lb->common.tcfa_bindcnt) - bind,
		.action = READ_ONCE(lb->common.tcfa_action),
	};
	const struct lb_params *p;
	struct tcf_t tm;

	tcf_tm_dump(&tm, &lb->common.tcfa_tm);
	rcu_read_lock();
	p = rcu_dereference(lb->params);
	if (nla_put(skb, TCA_LB_PARMS, sizeof(parm), &parm) || lb_options_dump(skb, &p->options) ||
	    lb_dump_rates(skb, p) ||
	    lb_dump_stats(skb, lb, lb_net_of(a->idrinfo->net), &p->select.grading) ||
	    nla_put_64bit(skb, TCA_LB_TM, sizeof(tm), &tm, TCA_LB_PAD)) {
		rcu_read_unlock();
		nlmsg_trim(skb, start);
		return -1;
	}
	rcu_read_unlock();
	return skb->len;
}

static size_t lb_fill_size(const struct tc_action *a)
{
	const size_t port = nla_total_size(0) + 3 * nla_total_size(sizeof(u32)) +
			    4 * nla_total_size_64bit(sizeof(u64));
	const size_t rate = nla_total_size(0) + nla_total_size(sizeof(u32)) +
			    nla_total_size_64bit(sizeof(u64));

	return nla_total_size(sizeof(struct tc_lb)) + TCA_LB_MAX * nla_total_size(sizeof(u32)) +
	       LB_RATES_MAX * rate + LB_DUMP_PORTS * port + nla_total_size(0) +
	       (TCA_LB_STATS_MAX + TCA_LB_STATS_PASS_MAX) * nla_total_size_64bit(sizeof(u64));
}

static void lb_stats_update(struct tc_action *a, u64 bytes, u64 packets, u64 drops, u64 lastuse,
			    bool hw)
{
	tcf_action_update_stats(a, bytes, packets, drops, hw);
	a->tcfa_tm.lastuse = max_t(u64, a->tcfa_tm.lastuse, lastuse);
}

static struct tc_action_ops lb_ops = {
	.kind		= "lb",
	.id		= LB_TCA_ID,
	.owner		= THIS_MODULE,
	.act		= lb_act,
	.dump		= lb_dump,
	.init		= lb_init,
	.cleanup	= lb_cleanup,
	.stats_update	= lb_stats_update,
	.get_fill_size	= lb_fill_size,
	.size		= sizeof(struct tcf_lb),
};

/* ---- namespaces and devices ---- */

/* Takes the adverts of all namespaces. */
static int lb_receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		      struct net_device *orig_dev)
{
	struct lb_net *ln = lb_net_of(dev_net(dev));

	if (lb_glb_receive(&ln->glb, &ln->ports, skb))
		kfree_skb(skb);
	else
		consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type lb_packet_type = {
	.type	= htons(LB_ETHERTYPE),
	.func	= lb_receive,
};

static int lb_device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct lb_ports *ports = lb_ports_of(dev_net(dev));

	switch (event) {
	case NETDEV_UP:
	case NETDEV_CHANGE:
		lb_port_device_changed(ports, dev);
		break;
	case NETDEV_UNREGISTER:
		lb_port_device_gone(ports, dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block lb_notifier = {
	.notifier_call	= lb_device_event,
};

static int __net_init lb_net_init(struct net *net)
{
	struct lb_net *ln = net_generic(net, lb_ops.net_id);

	lb_ports_init(&ln->ports, net);
	lb_glb_init(&ln->glb);
	mutex_init(&ln->apply_mutex);
	return tc_action_net_init(net, &ln->actions, &lb_ops);
}

static void __net_exit lb_net_exit(struct list_head *nets)
{
	struct net *net;

	tc_action_net_exit(nets, lb_ops.net_id);
	list_for_each_entry(net, nets, exit_list) {
		lb_ports_exit(lb_ports_of(net));
		lb_glb_exit(&lb_net_of(net)->glb);
	}
}

static struct pernet_operations lb_net_ops = {
	.init		= lb_net_init,
	.exit_batch	= lb_net_exit,
	.id		= &lb_ops.net_id,
	.size		= sizeof(struct lb_net),
};

static int __init lb_module_init(void)
{
	int err;

	BUILD_BUG_ON((int)LB_HASH != TC_LB_SELECT_HASH);
	BUILD_BUG_ON((int)LB_DRILL != TC_LB_SELECT_DRILL);

	err = tcf_register_action(&lb_ops, &lb_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&lb_notifier);
	if (err) {
		tcf_unregister_action(&lb_ops, &lb_net_ops);
		return err;
	}
	dev_add_pack(&lb_packet_type);
	return 0;
}

static void __exit lb_module_exit(void)
{
	dev_remove_pack(&lb_packet_type);
	unregister_netdevice_notifier(&lb_notifier);
	tcf_unregister_action(&lb_ops, &lb_net_ops);
}

module_init(lb_module_init);
module_exit(lb_module_exit);

MODULE_ALIAS("net-act-lb");
MODULE_DESCRIPTION("Load balancing over the next hops of a route");
MODULE_LICENSE("GPL");
MODULE_VERSION(CLOSNET_VERSION);
