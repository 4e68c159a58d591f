/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_dcqcn: defaults, netlink's ranges and errors
 *
 * Part of dcqcn_main.c. A configuration is made aside, checked as a whole, and
 * then taken over under the root lock: an error changes nothing.
 */
#ifndef _CLOSNET_DCQCN_CONFIG_H
#define _CLOSNET_DCQCN_CONFIG_H

#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "dcqcn_pool.h"
#include "dcqcn_queue.h"

/**
 * struct dcqcn_line - a marking line, as it was given
 * @kmin: bytes up to which nothing is marked
 * @kmax: bytes above which everything is
 * @pmax: probability at @kmax, of 2^32 - 1
 */
struct dcqcn_line {
	u32 kmin;
	u32 kmax;
	u32 pmax;
};

/**
 * struct dcqcn_config - all that netlink sets for the port
 * @params: the queues
 * @line: of the priorities that have no line of their own
 * @own: which values of @params are a priority's own, not those of @line: for
 *	each priority BIT(TCA_DCQCN_PRIO_*)
 * @map: priority of each DSCP, or of each PCP in the first 8
 * @trust: enum tc_dcqcn_trust
 * @nonect_drop: what is to be marked and cannot be is dropped
 * @stall_drop: what a stalled priority holds and gets is dropped
 * @overhead_bytes: what the shaper adds to each packet
 * @stall_us: when a priority counts as stalled; 0: never
 * @rate_Bps: built-in shaper, bytes per second; 0: none
 */
struct dcqcn_config {
	struct dcqcn_params params;
	struct dcqcn_line line;
	u8 own[TC_DCQCN_PRIOS];
	u8 map[TC_DCQCN_MAP_LEN];
	u8 trust;
	bool nonect_drop;
	bool stall_drop;
	u16 overhead_bytes;
	u32 stall_us;
	u64 rate_Bps;
};

/**
 * struct dcqcn_pool_wish - what was asked of the pool
 * @name: of the pool; empty: not given
 * @given: which values were, DCQCN_POOL_GIVEN() bits
 * @params: the values
 */
struct dcqcn_pool_wish {
	char name[TC_DCQCN_POOL_NAME_MAX + 1];
	u32 given;
	struct dcqcn_pool_params params;
};

/* The ranges: the interface's numbers, as digits for the messages. */
#define DCQCN_BYTES_MAX		1073741824
#define DCQCN_QUANTUM_MAX	1048576
#define DCQCN_RATE_MAX		1099511627776
static_assert(DCQCN_BYTES_MAX == TC_DCQCN_SIZE_MAX);
static_assert(DCQCN_QUANTUM_MAX == TC_DCQCN_QUANTUM_MAX);
static_assert(DCQCN_RATE_MAX == TC_DCQCN_RATE_MAX);

#define DCQCN_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

DCQCN_RANGE(dcqcn_bytes_range, TC_DCQCN_SIZE_MIN, TC_DCQCN_SIZE_MAX);
DCQCN_RANGE(dcqcn_opt_bytes_range, 0, TC_DCQCN_SIZE_MAX);
DCQCN_RANGE(dcqcn_quantum_range, TC_DCQCN_SIZE_MIN, TC_DCQCN_QUANTUM_MAX);
DCQCN_RANGE(dcqcn_rate_range, 0, TC_DCQCN_RATE_MAX);
DCQCN_RANGE(dcqcn_stall_range, 0, TC_DCQCN_STALL_MAX);
DCQCN_RANGE(dcqcn_cable_range, 0, TC_DCQCN_CABLE_MAX);

static const struct nla_policy dcqcn_policy[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_bytes_range),
	[TCA_DCQCN_KMIN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_opt_bytes_range),
	[TCA_DCQCN_KMAX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_opt_bytes_range),
	[TCA_DCQCN_PMAX]	= { .type = NLA_U32 },
	[TCA_DCQCN_NONECT]	= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_DCQCN_TRUST]	= NLA_POLICY_MAX(NLA_U8, TC_DCQCN_TRUST_PRIORITY),
	[TCA_DCQCN_MAP]		= NLA_POLICY_EXACT_LEN(TC_DCQCN_MAP_LEN),
	[TCA_DCQCN_SCHED]	= NLA_POLICY_MAX(NLA_U8, TC_DCQCN_SCHED_DRR),
	[TCA_DCQCN_RATE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &dcqcn_rate_range),
	[TCA_DCQCN_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, TC_DCQCN_OVERHEAD_MAX),
	[TCA_DCQCN_STALL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_stall_range),
	[TCA_DCQCN_STALL_DROP]	= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_DCQCN_PRIO]	= { .type = NLA_NESTED },
	[TCA_DCQCN_POOL]	= { .type = NLA_STRING },
	[TCA_DCQCN_POOL_BUFFER]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_bytes_range),
	[TCA_DCQCN_POOL_HEADROOM] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_opt_bytes_range),
	[TCA_DCQCN_POOL_CABLE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_cable_range),
	[TCA_DCQCN_POOL_XOFF_MODE] = NLA_POLICY_MAX(NLA_U8, TC_DCQCN_XOFF_DYNAMIC),
	[TCA_DCQCN_POOL_XOFF]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_bytes_range),
	[TCA_DCQCN_POOL_BETA]	= NLA_POLICY_RANGE(NLA_U32, 1, TC_DCQCN_BETA_MAX),
	[TCA_DCQCN_POOL_PFC]	= { .type = NLA_U8 },
};

static const struct nla_policy dcqcn_prio_policy[TCA_DCQCN_PRIO_MAX + 1] = {
	[TCA_DCQCN_PRIO_INDEX]	= NLA_POLICY_MAX(NLA_U8, TC_DCQCN_PRIOS - 1),
	[TCA_DCQCN_PRIO_KMIN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_opt_bytes_range),
	[TCA_DCQCN_PRIO_KMAX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_opt_bytes_range),
	[TCA_DCQCN_PRIO_PMAX]	= { .type = NLA_U32 },
	[TCA_DCQCN_PRIO_QUANTUM] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcn_quantum_range),
};

#define DCQCN_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define DCQCN_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)
#define DCQCN_SIZE	DCQCN_TO(TC_DCQCN_SIZE_MIN, DCQCN_BYTES_MAX) " bytes"
#define DCQCN_OPT_SIZE	DCQCN_TO(0, DCQCN_BYTES_MAX) " bytes"

static const char * const dcqcn_wanted[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT]	= "limit" DCQCN_SIZE,
	[TCA_DCQCN_KMIN]	= "kmin" DCQCN_OPT_SIZE,
	[TCA_DCQCN_KMAX]	= "kmax" DCQCN_OPT_SIZE,
	[TCA_DCQCN_NONECT]	= "nonect must be pass or drop",
	[TCA_DCQCN_TRUST]	= "trust must be dscp, pcp or priority",
	[TCA_DCQCN_MAP]		= "map must hold 64 priorities" DCQCN_TO(0, 7),
	[TCA_DCQCN_SCHED]	= "sched must be strict or drr",
	[TCA_DCQCN_RATE]	= "rate must be 0 or 125 to " __stringify(DCQCN_RATE_MAX)
				  " bytes per second",
	[TCA_DCQCN_OVERHEAD]	= "overhead" DCQCN_TO(0, TC_DCQCN_OVERHEAD_MAX) " bytes",
	[TCA_DCQCN_STALL]	= "stall" DCQCN_0_OR(TC_DCQCN_STALL_MIN, TC_DCQCN_STALL_MAX) " us",
	[TCA_DCQCN_STALL_DROP]	= "stall_drop" DCQCN_TO(0, 1),
	[TCA_DCQCN_POOL]	= "pool must have a name of 1 to "
				  __stringify(TC_DCQCN_POOL_NAME_MAX) " characters",
	[TCA_DCQCN_POOL_BUFFER]	= "buffer" DCQCN_SIZE,
	[TCA_DCQCN_POOL_HEADROOM] = "headroom" DCQCN_0_OR(TC_DCQCN_SIZE_MIN, DCQCN_BYTES_MAX)
				    " bytes",
	[TCA_DCQCN_POOL_CABLE]	= "cable" DCQCN_TO(0, TC_DCQCN_CABLE_MAX) " ns",
	[TCA_DCQCN_POOL_XOFF_MODE] = "xoff must be auto, dynamic or a size",
	[TCA_DCQCN_POOL_XOFF]	= "xoff" DCQCN_SIZE,
	[TCA_DCQCN_POOL_BETA]	= "beta" DCQCN_TO(1, TC_DCQCN_BETA_MAX),
};

static const char * const dcqcn_prio_wanted[TCA_DCQCN_PRIO_MAX + 1] = {
	[TCA_DCQCN_PRIO_INDEX]	= "prio" DCQCN_TO(0, 7),
	[TCA_DCQCN_PRIO_KMIN]	= "a priority's kmin" DCQCN_OPT_SIZE,
	[TCA_DCQCN_PRIO_KMAX]	= "a priority's kmax" DCQCN_OPT_SIZE,
	[TCA_DCQCN_PRIO_QUANTUM] = "quantum" DCQCN_TO(TC_DCQCN_SIZE_MIN, DCQCN_QUANTUM_MAX)
				   " bytes",
};

#define DCQCN_QUANTUM_DEFAULT	3028

/* What a DSCP, or a PCP, means if nothing else is said */
static inline void dcqcn_config_default_map(u8 *map, u8 trust)
{
	u32 i;

	for (i = 0; i < TC_DCQCN_MAP_LEN; i++) {
		if (trust == TC_DCQCN_TRUST_DSCP)
			map[i] = i >> 3;	/* the class selector, RFC 2474 */
		else
			map[i] = i < TC_DCQCN_PRIOS ? i : 0;	/* 802.1Q: itself */
	}
}

/**
 * dcqcn_config_default() - what holds if nothing is given
 * @cfg: result; to be finished by dcqcn_config_parse() or _finish()
 */
static inline void dcqcn_config_default(struct dcqcn_config *cfg)
{
	u32 prio;

	*cfg = (struct dcqcn_config) {
		.params = {
			.limit = 4 << 20,	/* a third of the paper's shared buffer */
			.sched = TC_DCQCN_SCHED_STRICT, /* 802.1Q's default */
		},
		.line = {	/* the paper's values for 40 Gbit/s, section 5 */
			.kmin = 5 << 10,
			.kmax = 200 << 10,
			.pmax = (U32_MAX + 50ULL) / 100,
		},
		.trust = TC_DCQCN_TRUST_DSCP,	/* outlives a routed hop; a VLAN tag does not */
		.stall_us = 100000,	/* some 30 times the longest pause at 10 Gbit/s */
	};
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++)	/* two full Ethernet frames */
		cfg->params.quantum[prio] = DCQCN_QUANTUM_DEFAULT;
	dcqcn_config_default_map(cfg->map, cfg->trust);
}

/* Reports an attribute that is out of its range. */
static inline int dcqcn_config_range(const struct nlattr *attr, const char *wanted,
				     struct netlink_ext_ack *extack)
{
	NL_SET_BAD_ATTR(extack, attr);
	closnet_set_msg(extack, wanted);
	return -ERANGE;
}

static inline int dcqcn_config_map(struct dcqcn_config *cfg, struct nlattr **tb,
				   struct netlink_ext_ack *extack)
{
	u8 trust = nla_get_u8_default(tb[TCA_DCQCN_TRUST], cfg->trust);
	const struct nlattr *attr = tb[TCA_DCQCN_MAP];
	const u8 *map;
	u32 i;

	if (trust != cfg->trust)
		dcqcn_config_default_map(cfg->map, trust);
	cfg->trust = trust;
	if (!attr)
		return 0;
	if (trust == TC_DCQCN_TRUST_PRIORITY) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a map needs trust dscp or pcp");
		return -EINVAL;
	}
	map = nla_data(attr);
	for (i = 0; i < TC_DCQCN_MAP_LEN; i++) {
		if (map[i] >= TC_DCQCN_PRIOS)
			return dcqcn_config_range(attr, dcqcn_wanted[TCA_DCQCN_MAP], extack);
		cfg->map[i] = trust == TC_DCQCN_TRUST_DSCP || i < TC_DCQCN_PRIOS ? map[i] : 0;
	}
	return 0;
}

/* What is not the queues' and has nothing to check but its range */
static inline int dcqcn_config_port(struct dcqcn_config *cfg, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	cfg->params.limit = nla_get_u32_default(tb[TCA_DCQCN_LIMIT], cfg->params.limit);
	cfg->params.sched = nla_get_u8_default(tb[TCA_DCQCN_SCHED], cfg->params.sched);
	cfg->nonect_drop = nla_get_u8_default(tb[TCA_DCQCN_NONECT], cfg->nonect_drop);
	cfg->stall_drop = nla_get_u8_default(tb[TCA_DCQCN_STALL_DROP], cfg->stall_drop);
	cfg->overhead_bytes = nla_get_u32_default(tb[TCA_DCQCN_OVERHEAD], cfg->overhead_bytes);
	cfg->stall_us = nla_get_u32_default(tb[TCA_DCQCN_STALL], cfg->stall_us);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_DCQCN_RATE], cfg->rate_Bps);
	if (cfg->stall_us && cfg->stall_us < TC_DCQCN_STALL_MIN)
		return dcqcn_config_range(tb[TCA_DCQCN_STALL], dcqcn_wanted[TCA_DCQCN_STALL],
					  extack);
	if (cfg->rate_Bps && cfg->rate_Bps < TC_DCQCN_RATE_MIN)
		return dcqcn_config_range(tb[TCA_DCQCN_RATE], dcqcn_wanted[TCA_DCQCN_RATE],
					  extack);
	return 0;
}

/* A value of a priority's own, if it is given */
static inline void dcqcn_config_own(struct dcqcn_config *cfg, u32 prio, u32 *value,
				    struct nlattr **tb, int type)
{
	if (!tb[type])
		return;
	*value = nla_get_u32(tb[type]);
	cfg->own[prio] |= BIT(type);
}

static inline int dcqcn_config_prio(struct dcqcn_config *cfg, const struct nlattr *nest,
				    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_PRIO_MAX + 1];
	struct dcqcn_marking *m;
	u32 prio;
	int err;

	err = closnet_nla_parse_nested(tb, TCA_DCQCN_PRIO_MAX, nest, dcqcn_prio_policy,
				       dcqcn_prio_wanted, extack);
	if (err)
		return err;
	if (!tb[TCA_DCQCN_PRIO_INDEX]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "prio needs its index");
		return -EINVAL;
	}
	prio = nla_get_u8(tb[TCA_DCQCN_PRIO_INDEX]);
	m = &cfg->params.marking[prio];
	/* As a map is: what is not given is the priority's own no more. */
	cfg->own[prio] = 0;
	cfg->params.quantum[prio] = DCQCN_QUANTUM_DEFAULT;
	dcqcn_config_own(cfg, prio, &m->kmin, tb, TCA_DCQCN_PRIO_KMIN);
	dcqcn_config_own(cfg, prio, &m->kmax, tb, TCA_DCQCN_PRIO_KMAX);
	dcqcn_config_own(cfg, prio, &m->pmax, tb, TCA_DCQCN_PRIO_PMAX);
	dcqcn_config_own(cfg, prio, &cfg->params.quantum[prio], tb, TCA_DCQCN_PRIO_QUANTUM);
	return 0;
}

/**
 * dcqcn_config_finish() - work out each priority's marking line
 * @cfg: configuration; its lines may be out of order
 * @extack: error report
 *
 * Return: 0, or -EINVAL: a kmin is above its kmax.
 */
static inline int dcqcn_config_finish(struct dcqcn_config *cfg,
				      struct netlink_ext_ack *extack)
{
	u32 prio;

	if (cfg->line.kmin > cfg->line.kmax) {
		NL_SET_ERR_MSG(extack, "kmin must not be above kmax");
		return -EINVAL;
	}
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		struct dcqcn_marking *m = &cfg->params.marking[prio];

		if (!(cfg->own[prio] & BIT(TCA_DCQCN_PRIO_KMIN)))
			m->kmin = cfg->line.kmin;
		if (!(cfg->own[prio] & BIT(TCA_DCQCN_PRIO_KMAX)))
			m->kmax = cfg->line.kmax;
		if (!(cfg->own[prio] & BIT(TCA_DCQCN_PRIO_PMAX)))
			m->pmax = cfg->line.pmax;
		if (m->kmin > m->kmax) {
			NL_SET_ERR_MSG(extack,
				       "a priority's kmin must not be above its kmax");
			return -EINVAL;
		}
		dcqcn_marking_finish(m);
	}
	return 0;
}

/* A value for the pool, if it is given */
#define dcqcn_config_wish(wish, tb, attr, type, member) \
do { \
	if ((tb)[TCA_DCQCN_POOL_##attr]) { \
		(wish)->params.member = nla_get_##type((tb)[TCA_DCQCN_POOL_##attr]); \
		(wish)->given |= DCQCN_POOL_GIVEN(attr); \
	} \
} while (0)

static inline int dcqcn_config_pool(struct dcqcn_pool_wish *wish, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *headroom = tb[TCA_DCQCN_POOL_HEADROOM];

	memset(wish, 0, sizeof(*wish));
	if (tb[TCA_DCQCN_POOL] &&
	    nla_strscpy(wish->name, tb[TCA_DCQCN_POOL], sizeof(wish->name)) <= 0)
		return dcqcn_config_range(tb[TCA_DCQCN_POOL], dcqcn_wanted[TCA_DCQCN_POOL],
					  extack);
	dcqcn_config_wish(wish, tb, BUFFER, u32, buffer);
	dcqcn_config_wish(wish, tb, HEADROOM, u32, headroom);
	dcqcn_config_wish(wish, tb, CABLE, u32, cable_ns);
	dcqcn_config_wish(wish, tb, XOFF_MODE, u8, xoff_mode);
	dcqcn_config_wish(wish, tb, XOFF, u32, xoff);
	dcqcn_config_wish(wish, tb, BETA, u32, beta);
	dcqcn_config_wish(wish, tb, PFC, u8, pfc);
	if (headroom && wish->params.headroom && wish->params.headroom < TC_DCQCN_SIZE_MIN)
		return dcqcn_config_range(headroom, dcqcn_wanted[TCA_DCQCN_POOL_HEADROOM], extack);
	return 0;
}

/**
 * dcqcn_config_parse() - overwrite what netlink gives
 * @cfg: configuration; undefined after an error
 * @wish: result: what is asked of the pool
 * @opt: TCA_OPTIONS
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
static inline int dcqcn_config_parse(struct dcqcn_config *cfg, struct dcqcn_pool_wish *wish,
				     struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_MAX + 1], *attr;
	int err, rem;

	err = closnet_nla_parse_nested(tb, TCA_DCQCN_MAX, opt, dcqcn_policy, dcqcn_wanted,
				       extack);
	if (!err)
		err = dcqcn_config_port(cfg, tb, extack);
	if (!err)
		err = dcqcn_config_map(cfg, tb, extack);
	if (!err)
		err = dcqcn_config_pool(wish, tb, extack);
	if (err)
		return err;
	cfg->line.kmin = nla_get_u32_default(tb[TCA_DCQCN_KMIN], cfg->line.kmin);
	cfg->line.kmax = nla_get_u32_default(tb[TCA_DCQCN_KMAX], cfg->line.kmax);
	cfg->line.pmax = nla_get_u32_default(tb[TCA_DCQCN_PMAX], cfg->line.pmax);
	nla_for_each_nested(attr, opt, rem) {	/* there may be several */
		if (nla_type(attr) != TCA_DCQCN_PRIO)
			continue;
		err = dcqcn_config_prio(cfg, attr, extack);
		if (err)
			return err;
	}
	return dcqcn_config_finish(cfg, extack);
}

static inline int dcqcn_dump_prio(struct sk_buff *skb, const struct dcqcn_config *cfg,
				  u32 prio)
{
	const struct dcqcn_marking *m = &cfg->params.marking[prio];
	u8 own = cfg->own[prio];
	struct nlattr *nest;

	if (!own)
		return 0;
	nest = nla_nest_start(skb, TCA_DCQCN_PRIO);
	if (!nest || nla_put_u8(skb, TCA_DCQCN_PRIO_INDEX, prio))
		return -EMSGSIZE;
	if ((own & BIT(TCA_DCQCN_PRIO_KMIN) &&
	     nla_put_u32(skb, TCA_DCQCN_PRIO_KMIN, m->kmin)) ||
	    (own & BIT(TCA_DCQCN_PRIO_KMAX) &&
	     nla_put_u32(skb, TCA_DCQCN_PRIO_KMAX, m->kmax)) ||
	    (own & BIT(TCA_DCQCN_PRIO_PMAX) &&
	     nla_put_u32(skb, TCA_DCQCN_PRIO_PMAX, m->pmax)) ||
	    (own & BIT(TCA_DCQCN_PRIO_QUANTUM) &&
	     nla_put_u32(skb, TCA_DCQCN_PRIO_QUANTUM, cfg->params.quantum[prio])))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static inline int dcqcn_dump_pool(struct sk_buff *skb, const char *name,
				  const struct dcqcn_pool_params *p)
{
	if (nla_put_string(skb, TCA_DCQCN_POOL, name) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_BUFFER, p->buffer) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_HEADROOM, p->headroom) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_CABLE, p->cable_ns) ||
	    nla_put_u8(skb, TCA_DCQCN_POOL_XOFF_MODE, p->xoff_mode) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_BETA, p->beta) ||
	    nla_put_u8(skb, TCA_DCQCN_POOL_PFC, p->pfc))
		return -EMSGSIZE;
	if (p->xoff_mode == TC_DCQCN_XOFF_STATIC)
		return nla_put_u32(skb, TCA_DCQCN_POOL_XOFF, p->xoff);
	return 0;
}

/**
 * dcqcn_config_dump() - put into a message what dcqcn_config_parse() takes
 * @skb: the message
 * @cfg: configuration
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int dcqcn_config_dump(struct sk_buff *skb, const struct dcqcn_config *cfg)
{
	u32 prio;

	if (nla_put_u32(skb, TCA_DCQCN_LIMIT, cfg->params.limit) ||
	    nla_put_u32(skb, TCA_DCQCN_KMIN, cfg->line.kmin) ||
	    nla_put_u32(skb, TCA_DCQCN_KMAX, cfg->line.kmax) ||
	    nla_put_u32(skb, TCA_DCQCN_PMAX, cfg->line.pmax) ||
	    nla_put_u8(skb, TCA_DCQCN_NONECT, cfg->nonect_drop) ||
	    nla_put_u8(skb, TCA_DCQCN_TRUST, cfg->trust) ||
	    (cfg->trust != TC_DCQCN_TRUST_PRIORITY &&
	     nla_put(skb, TCA_DCQCN_MAP, sizeof(cfg->map), cfg->map)) ||
	    nla_put_u8(skb, TCA_DCQCN_SCHED, cfg->params.sched) ||
	    nla_put_u64_64bit(skb, TCA_DCQCN_RATE, cfg->rate_Bps, TCA_DCQCN_PAD) ||
	    nla_put_u32(skb, TCA_DCQCN_OVERHEAD, cfg->overhead_bytes) ||
	    nla_put_u32(skb, TCA_DCQCN_STALL, cfg->stall_us) ||
	    nla_put_u8(skb, TCA_DCQCN_STALL_DROP, cfg->stall_drop))
		return -EMSGSIZE;
	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		if (dcqcn_dump_prio(skb, cfg, prio))
			return -EMSGSIZE;
	}
	return 0;
}

#endif /* _CLOSNET_DCQCN_CONFIG_H */
