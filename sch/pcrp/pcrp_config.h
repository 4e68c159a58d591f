/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_pcrp: defaults, ranges and error messages
 *
 * Part of pcrp_main.c. A configuration is made aside, checked as a whole, and then
 * taken over under the root lock: an error changes nothing.
 */
#ifndef _CLOSNET_PCRP_CONFIG_H
#define _CLOSNET_PCRP_CONFIG_H

#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "pcrp.h"
#include "pcrp_limits.h"

#define PCRP_DSCP_MAX		63

#define PCRP_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

PCRP_RANGE(pcrp_limit_range, PCRP_LIMIT_MIN, PCRP_LIMIT_MAX);
PCRP_RANGE(pcrp_flows_range, PCRP_FLOWS_MIN, PCRP_FLOWS_MAX);
PCRP_RANGE(pcrp_chain_range, 0, PCRP_CHAIN_MAX);
PCRP_RANGE(pcrp_mfwt_range, 1, PCRP_MFWT_MAX);
PCRP_RANGE(pcrp_hold_range, PCRP_HOLD_MIN, PCRP_HOLD_MAX);
PCRP_RANGE(pcrp_rate_range, 0, PCRP_RATE_MAX);
PCRP_RANGE(pcrp_spec_range, 1, PCRP_SPEC_MAX);

static const struct nla_policy pcrp_policy[TCA_PCRP_MAX + 1] = {
	[TCA_PCRP_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_limit_range),
	[TCA_PCRP_FLOWS]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_flows_range),
	[TCA_PCRP_CHAIN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_chain_range),
	[TCA_PCRP_FIRST]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_chain_range),
	[TCA_PCRP_GRANTS]	= NLA_POLICY_RANGE(NLA_U32, PCRP_GRANTS_MIN, PCRP_GRANTS_MAX),
	[TCA_PCRP_EVICT]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_PCRP_MFWT_MODE]	= NLA_POLICY_MAX(NLA_U32, TC_PCRP_MFWT_TIME),
	[TCA_PCRP_MFWT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_mfwt_range),
	[TCA_PCRP_EU]		= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_PCRP_SRPT]		= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_PCRP_HOLD]		= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_hold_range),
	[TCA_PCRP_WINDOW]	= NLA_POLICY_MAX(NLA_U32, PCRP_WINDOW_MAX),
	[TCA_PCRP_SPEC]		= { .type = NLA_NESTED },
	[TCA_PCRP_MAP]		= { .type = NLA_NESTED },
	[TCA_PCRP_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &pcrp_rate_range),
	[TCA_PCRP_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, PCRP_OVERHEAD_MAX),
};

/* In TCA_PCRP_SPEC */
static const struct nla_policy pcrp_spec_policy[TCA_PCRP_SPEC_P2 + 1] = {
	[TCA_PCRP_SPEC_P0 ... TCA_PCRP_SPEC_P2] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &pcrp_spec_range),
};

/* In TCA_PCRP_MAP */
static const struct nla_policy pcrp_map_policy[TCA_PCRP_MAP_P7 + 1] = {
	[TCA_PCRP_MAP_P0 ... TCA_PCRP_MAP_P7] = NLA_POLICY_MAX(NLA_U32, PCRP_DSCP_MAX),
};

#define PCRP_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define PCRP_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)

static const char * const pcrp_wanted[TCA_PCRP_MAX + 1] = {
	[TCA_PCRP_LIMIT]	= "limit" PCRP_TO(PCRP_LIMIT_MIN, PCRP_LIMIT_MAX) " packets",
	[TCA_PCRP_FLOWS]	= "flows" PCRP_TO(PCRP_FLOWS_MIN, PCRP_FLOWS_MAX),
	[TCA_PCRP_CHAIN]	= "chain" PCRP_0_OR(PCRP_CHAIN_MIN, PCRP_CHAIN_MAX) " bytes",
	[TCA_PCRP_FIRST]	= "first" PCRP_0_OR(PCRP_CHAIN_MIN, PCRP_CHAIN_MAX) " bytes",
	[TCA_PCRP_GRANTS]	= "grants" PCRP_TO(PCRP_GRANTS_MIN, PCRP_GRANTS_MAX) " flows",
	[TCA_PCRP_EVICT]	= "evict" PCRP_TO(0, 1),
	[TCA_PCRP_MFWT_MODE]	= "mfwt must be auto, off or a time",
	[TCA_PCRP_MFWT]		= "mfwt" PCRP_TO(1, PCRP_MFWT_MAX) " us",
	[TCA_PCRP_EU]		= "eu" PCRP_TO(0, 1),
	[TCA_PCRP_SRPT]		= "srpt" PCRP_TO(0, 1),
	[TCA_PCRP_HOLD]		= "hold" PCRP_TO(PCRP_HOLD_MIN, PCRP_HOLD_MAX) " us",
	[TCA_PCRP_WINDOW]	= "window" PCRP_0_OR(1, PCRP_WINDOW_MAX) " us",
	[TCA_PCRP_RATE]		= "rate must be 0 or 125 to " __stringify(PCRP_RATE_MAX)
				  " bytes per second",
	[TCA_PCRP_OVERHEAD]	= "overhead" PCRP_TO(0, PCRP_OVERHEAD_MAX) " bytes",
};

#define PCRP_SPEC_WANTED	"spec must be three ascending sizes, 1 to " \
				__stringify(PCRP_SPEC_MAX) " bytes, or none"

static const char * const pcrp_spec_wanted[TCA_PCRP_SPEC_P2 + 1] = {
	[TCA_PCRP_SPEC_P0 ... TCA_PCRP_SPEC_P2] = PCRP_SPEC_WANTED,
};

static const char * const pcrp_map_wanted[TCA_PCRP_MAP_P7 + 1] = {
	[TCA_PCRP_MAP_P0 ... TCA_PCRP_MAP_P7] = "map must hold DSCPs" PCRP_TO(0, PCRP_DSCP_MAX),
};

/**
 * pcrp_config_default() - what holds if nothing is given
 * @cfg: result
 */
static inline void pcrp_config_default(struct pcrp_config *cfg)
{
	*cfg = (struct pcrp_config) {
		.limit = 10000,		/* sch_fq's */
		.flows = 16384,		/* more than a host has sockets that send at once */
		.grants = 8,		/* twice the priorities of granted chains */
		/*
		 * The paper has no eviction. With it, the p99 slowdown of flows of 10 to
		 * 100 KB falls from 55.7 to 8.1 (Documentation/experiments/pcrp-evict.rst).
		 */
		.evict = true,
		.mfwt_mode = TC_PCRP_MFWT_AUTO,
		/* the paper has the EU rule, too, but it makes short flows wait for long ones */
		.srpt = true,
		.hold_us = 100000,	/* half of TCP's least RTO: none ends because of us */
		/* CS7 to CS1, then LE (RFC 8622); DSCP 0 is what nobody has marked */
		.map = { 56, 48, 40, 32, 24, 16, 8, 1 },
	};
}

/* Reports an attribute that is out of its range. */
static inline int pcrp_config_range(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	NL_SET_BAD_ATTR(extack, attr);
	closnet_set_msg(extack, pcrp_wanted[nla_type(attr)]);
	return -ERANGE;
}

static inline int pcrp_config_mfwt(struct pcrp_config *cfg, struct nlattr **tb,
				   struct netlink_ext_ack *extack)
{
	cfg->mfwt_mode = nla_get_u32_default(tb[TCA_PCRP_MFWT_MODE], cfg->mfwt_mode);
	cfg->mfwt_us = nla_get_u32_default(tb[TCA_PCRP_MFWT], cfg->mfwt_us);
	if (tb[TCA_PCRP_MFWT] && cfg->mfwt_mode != TC_PCRP_MFWT_TIME) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_PCRP_MFWT],
				    "a time for mfwt needs the mode that takes one");
		return -EINVAL;
	}
	if (cfg->mfwt_mode == TC_PCRP_MFWT_TIME && !cfg->mfwt_us) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_PCRP_MFWT_MODE], "mfwt needs its time");
		return -EINVAL;
	}
	return 0;
}

static inline int pcrp_config_spec(struct pcrp_config *cfg, const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PCRP_SPEC_P2 + 1];
	u64 least = 1;
	int err;
	u32 i;

	if (!attr)
		return 0;
	err = closnet_nla_parse_nested(tb, TCA_PCRP_SPEC_P2, attr, pcrp_spec_policy,
				       pcrp_spec_wanted, extack);
	if (err)
		return err;
	memset(cfg->spec_bytes, 0, sizeof(cfg->spec_bytes));
	if (!nla_len(attr))
		return 0;
	for (i = 0; i < ARRAY_SIZE(cfg->spec_bytes); i++) {
		cfg->spec_bytes[i] = nla_get_u64_default(tb[TCA_PCRP_SPEC_P0 + i], 0);
		if (cfg->spec_bytes[i] < least) {
			NL_SET_ERR_MSG_ATTR(extack, attr, PCRP_SPEC_WANTED);
			return -ERANGE;
		}
		least = cfg->spec_bytes[i];
	}
	return 0;
}

static inline int pcrp_config_map(struct pcrp_config *cfg, const struct nlattr *attr,
				  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PCRP_MAP_P7 + 1];
	u32 prio;
	int err;

	if (!attr)
		return 0;
	err = closnet_nla_parse_nested(tb, TCA_PCRP_MAP_P7, attr, pcrp_map_policy,
				       pcrp_map_wanted, extack);
	if (err)
		return err;
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
		cfg->map[prio] = nla_get_u32_default(tb[TCA_PCRP_MAP_P0 + prio], PCRP_MAP_LEAVE);
	return 0;
}

/* What may be 0, and else has a minimum of its own */
static inline int pcrp_config_sizes(struct pcrp_config *cfg, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	cfg->chain_bytes = nla_get_u32_default(tb[TCA_PCRP_CHAIN], cfg->chain_bytes);
	cfg->first_bytes = nla_get_u32_default(tb[TCA_PCRP_FIRST], cfg->first_bytes);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_PCRP_RATE], cfg->rate_Bps);
	if (cfg->chain_bytes && cfg->chain_bytes < PCRP_CHAIN_MIN)
		return pcrp_config_range(tb[TCA_PCRP_CHAIN], extack);
	if (cfg->first_bytes && cfg->first_bytes < PCRP_CHAIN_MIN)
		return pcrp_config_range(tb[TCA_PCRP_FIRST], extack);
	if (cfg->rate_Bps && cfg->rate_Bps < PCRP_RATE_MIN)
		return pcrp_config_range(tb[TCA_PCRP_RATE], extack);
	return 0;
}

/**
 * pcrp_config_parse() - overwrite what netlink gives
 * @cfg: configuration; undefined after an error
 * @opt: TCA_OPTIONS
 * @fixed_flows: the number of flows is settled
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
static inline int pcrp_config_parse(struct pcrp_config *cfg, struct nlattr *opt,
				    bool fixed_flows, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PCRP_MAX + 1];
	u32 flows;
	int err;

	err = closnet_nla_parse_nested(tb, TCA_PCRP_MAX, opt, pcrp_policy, pcrp_wanted, extack);
	if (err)
		return err;
	flows = nla_get_u32_default(tb[TCA_PCRP_FLOWS], cfg->flows);
	if (fixed_flows && flows != cfg->flows) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_PCRP_FLOWS],
				    "flows is settled when the qdisc is created");
		return -EINVAL;
	}
	cfg->flows = flows;
	cfg->limit = nla_get_u32_default(tb[TCA_PCRP_LIMIT], cfg->limit);
	cfg->grants = nla_get_u32_default(tb[TCA_PCRP_GRANTS], cfg->grants);
	cfg->evict = nla_get_u32_default(tb[TCA_PCRP_EVICT], cfg->evict);
	cfg->eu = nla_get_u32_default(tb[TCA_PCRP_EU], cfg->eu);
	cfg->srpt = nla_get_u32_default(tb[TCA_PCRP_SRPT], cfg->srpt);
	cfg->hold_us = nla_get_u32_default(tb[TCA_PCRP_HOLD], cfg->hold_us);
	cfg->window_us = nla_get_u32_default(tb[TCA_PCRP_WINDOW], cfg->window_us);
	cfg->overhead_bytes = nla_get_u32_default(tb[TCA_PCRP_OVERHEAD], cfg->overhead_bytes);
	err = pcrp_config_mfwt(cfg, tb, extack);
	if (!err)
		err = pcrp_config_sizes(cfg, tb, extack);
	if (!err)
		err = pcrp_config_spec(cfg, tb[TCA_PCRP_SPEC], extack);
	if (!err)
		err = pcrp_config_map(cfg, tb[TCA_PCRP_MAP], extack);
	return err;
}

/**
 * pcrp_put_spec() - put thresholds into a message
 * @skb: the message
 * @type: of the nest
 * @bytes: of P0, P1, P2; all 0: none
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int pcrp_put_spec(struct sk_buff *skb, int type, const u64 *bytes)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < TC_PCRP_SPEC_PRIOS - 1 && bytes[i]; i++)
		if (nla_put_u64_64bit(skb, TCA_PCRP_SPEC_P0 + i, bytes[i], TCA_PCRP_SPEC_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static inline int pcrp_put_map(struct sk_buff *skb, const u8 *map)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_PCRP_MAP);
	u32 prio;

	if (!nest)
		return -EMSGSIZE;
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
		if (map[prio] != PCRP_MAP_LEAVE &&
		    nla_put_u32(skb, TCA_PCRP_MAP_P0 + prio, map[prio]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * pcrp_config_dump() - put into a message what pcrp_config_parse() takes
 * @skb: the message
 * @cfg: configuration
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int pcrp_config_dump(struct sk_buff *skb, const struct pcrp_config *cfg)
{
	if (nla_put_u32(skb, TCA_PCRP_LIMIT, cfg->limit) ||
	    nla_put_u32(skb, TCA_PCRP_FLOWS, cfg->flows) ||
	    nla_put_u32(skb, TCA_PCRP_CHAIN, cfg->chain_bytes) ||
	    nla_put_u32(skb, TCA_PCRP_FIRST, cfg->first_bytes) ||
	    nla_put_u32(skb, TCA_PCRP_GRANTS, cfg->grants) ||
	    nla_put_u32(skb, TCA_PCRP_EVICT, cfg->evict) ||
	    nla_put_u32(skb, TCA_PCRP_MFWT_MODE, cfg->mfwt_mode) ||
	    (cfg->mfwt_mode == TC_PCRP_MFWT_TIME &&
	     nla_put_u32(skb, TCA_PCRP_MFWT, cfg->mfwt_us)) ||
	    nla_put_u32(skb, TCA_PCRP_EU, cfg->eu) ||
	    nla_put_u32(skb, TCA_PCRP_SRPT, cfg->srpt) ||
	    nla_put_u32(skb, TCA_PCRP_HOLD, cfg->hold_us) ||
	    nla_put_u32(skb, TCA_PCRP_WINDOW, cfg->window_us) ||
	    pcrp_put_spec(skb, TCA_PCRP_SPEC, cfg->spec_bytes) ||
	    pcrp_put_map(skb, cfg->map) ||
	    nla_put_u64_64bit(skb, TCA_PCRP_RATE, cfg->rate_Bps, TCA_PCRP_PAD) ||
	    nla_put_u32(skb, TCA_PCRP_OVERHEAD, cfg->overhead_bytes))
		return -EMSGSIZE;
	return 0;
}

#endif /* _CLOSNET_PCRP_CONFIG_H */
