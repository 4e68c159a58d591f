/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_pcrp: defaults, netlink's ranges and errors
 *
 * Part of pcrp_main.c. A configuration is made aside, checked as a whole, and then
 * taken over under the root lock: an error changes nothing.
 */
#ifndef _CLOSNET_PCRP_CONFIG_H
#define _CLOSNET_PCRP_CONFIG_H

#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "pcrp.h"

/* The ranges: the interface's numbers, as digits for the messages. */
#define PCRP_CHAIN_MAX		1073741824
#define PCRP_SPEC_MAX		1099511627776
#define PCRP_RATE_MAX		1099511627776
static_assert(PCRP_CHAIN_MAX == TC_PCRP_CHAIN_MAX);
static_assert(PCRP_SPEC_MAX == TC_PCRP_SPEC_MAX);
static_assert(PCRP_RATE_MAX == TC_PCRP_RATE_MAX);

#define PCRP_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

PCRP_RANGE(pcrp_limit_range, TC_PCRP_LIMIT_MIN, TC_PCRP_LIMIT_MAX);
PCRP_RANGE(pcrp_flows_range, TC_PCRP_FLOWS_MIN, TC_PCRP_FLOWS_MAX);
PCRP_RANGE(pcrp_chain_range, 0, TC_PCRP_CHAIN_MAX);
PCRP_RANGE(pcrp_mfwt_range, 1, TC_PCRP_MFWT_MAX);
PCRP_RANGE(pcrp_hold_range, TC_PCRP_HOLD_MIN, TC_PCRP_HOLD_MAX);
PCRP_RANGE(pcrp_rate_range, 0, TC_PCRP_RATE_MAX);

static const struct nla_policy pcrp_policy[TCA_PCRP_MAX + 1] = {
	[TCA_PCRP_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_limit_range),
	[TCA_PCRP_FLOWS]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_flows_range),
	[TCA_PCRP_CHAIN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_chain_range),
	[TCA_PCRP_FIRST]	= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_chain_range),
	[TCA_PCRP_GRANTS]	= NLA_POLICY_RANGE(NLA_U32, TC_PCRP_GRANTS_MIN, TC_PCRP_GRANTS_MAX),
	[TCA_PCRP_EVICT]	= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_PCRP_MFWT_MODE]	= NLA_POLICY_MAX(NLA_U8, TC_PCRP_MFWT_TIME),
	[TCA_PCRP_MFWT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_mfwt_range),
	[TCA_PCRP_EU]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_PCRP_SRPT]		= NLA_POLICY_MAX(NLA_U8, 1),
	[TCA_PCRP_HOLD]		= NLA_POLICY_FULL_RANGE(NLA_U32, &pcrp_hold_range),
	[TCA_PCRP_WINDOW]	= NLA_POLICY_MAX(NLA_U32, TC_PCRP_WINDOW_MAX),
	[TCA_PCRP_SPEC]		= NLA_POLICY_EXACT_LEN((TC_PCRP_SPEC_PRIOS - 1) * sizeof(u64)),
	[TCA_PCRP_MAP]		= NLA_POLICY_EXACT_LEN(TC_PCRP_PRIOS),
	[TCA_PCRP_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &pcrp_rate_range),
	[TCA_PCRP_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, TC_PCRP_OVERHEAD_MAX),
};

#define PCRP_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define PCRP_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)

static const char * const pcrp_wanted[TCA_PCRP_MAX + 1] = {
	[TCA_PCRP_LIMIT]	= "limit" PCRP_TO(TC_PCRP_LIMIT_MIN, TC_PCRP_LIMIT_MAX) " packets",
	[TCA_PCRP_FLOWS]	= "flows" PCRP_TO(TC_PCRP_FLOWS_MIN, TC_PCRP_FLOWS_MAX),
	[TCA_PCRP_CHAIN]	= "chain" PCRP_0_OR(TC_PCRP_CHAIN_MIN, PCRP_CHAIN_MAX) " bytes",
	[TCA_PCRP_FIRST]	= "first" PCRP_0_OR(TC_PCRP_CHAIN_MIN, PCRP_CHAIN_MAX) " bytes",
	[TCA_PCRP_GRANTS]	= "grants" PCRP_TO(TC_PCRP_GRANTS_MIN, TC_PCRP_GRANTS_MAX) " flows",
	[TCA_PCRP_EVICT]	= "evict" PCRP_TO(0, 1),
	[TCA_PCRP_MFWT_MODE]	= "mfwt must be auto, off or a time",
	[TCA_PCRP_MFWT]		= "mfwt" PCRP_TO(1, TC_PCRP_MFWT_MAX) " us",
	[TCA_PCRP_EU]		= "eu" PCRP_TO(0, 1),
	[TCA_PCRP_SRPT]		= "srpt" PCRP_TO(0, 1),
	[TCA_PCRP_HOLD]		= "hold" PCRP_TO(TC_PCRP_HOLD_MIN, TC_PCRP_HOLD_MAX) " us",
	[TCA_PCRP_WINDOW]	= "window" PCRP_0_OR(1, TC_PCRP_WINDOW_MAX) " us",
	[TCA_PCRP_SPEC]		= "spec must be three ascending sizes, 1 to "
				  __stringify(PCRP_SPEC_MAX) " bytes, or all 0",
	[TCA_PCRP_MAP]		= "map must hold 8 DSCPs, 0 to 63, or 255 for none",
	[TCA_PCRP_RATE]		= "rate must be 0 or 125 to " __stringify(PCRP_RATE_MAX)
				  " bytes per second",
	[TCA_PCRP_OVERHEAD]	= "overhead" PCRP_TO(0, TC_PCRP_OVERHEAD_MAX) " bytes",
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
		.mfwt_mode = TC_PCRP_MFWT_AUTO,
		/* eu is the paper's, too; but of long flows it makes short ones wait */
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
	cfg->mfwt_mode = nla_get_u8_default(tb[TCA_PCRP_MFWT_MODE], cfg->mfwt_mode);
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
	u32 i;

	if (!attr)
		return 0;
	nla_memcpy(cfg->spec_bytes, attr, sizeof(cfg->spec_bytes));
	if (!cfg->spec_bytes[0] && !cfg->spec_bytes[1] && !cfg->spec_bytes[2])
		return 0;
	for (i = 0; i < ARRAY_SIZE(cfg->spec_bytes); i++) {
		u64 least = i ? cfg->spec_bytes[i - 1] : 1;

		if (cfg->spec_bytes[i] < least || cfg->spec_bytes[i] > TC_PCRP_SPEC_MAX)
			return pcrp_config_range(attr, extack);
	}
	return 0;
}

static inline int pcrp_config_map(struct pcrp_config *cfg, const struct nlattr *attr,
				  struct netlink_ext_ack *extack)
{
	u32 prio;

	if (!attr)
		return 0;
	nla_memcpy(cfg->map, attr, sizeof(cfg->map));
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++) {
		if (cfg->map[prio] > 63 && cfg->map[prio] != TC_PCRP_MAP_LEAVE)
			return pcrp_config_range(attr, extack);
	}
	return 0;
}

/* What may be 0, and else has a minimum of its own */
static inline int pcrp_config_sizes(struct pcrp_config *cfg, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	cfg->chain_bytes = nla_get_u32_default(tb[TCA_PCRP_CHAIN], cfg->chain_bytes);
	cfg->first_bytes = nla_get_u32_default(tb[TCA_PCRP_FIRST], cfg->first_bytes);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_PCRP_RATE], cfg->rate_Bps);
	if (cfg->chain_bytes && cfg->chain_bytes < TC_PCRP_CHAIN_MIN)
		return pcrp_config_range(tb[TCA_PCRP_CHAIN], extack);
	if (cfg->first_bytes && cfg->first_bytes < TC_PCRP_CHAIN_MIN)
		return pcrp_config_range(tb[TCA_PCRP_FIRST], extack);
	if (cfg->rate_Bps && cfg->rate_Bps < TC_PCRP_RATE_MIN)
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
	cfg->evict = nla_get_u8_default(tb[TCA_PCRP_EVICT], cfg->evict);
	cfg->eu = nla_get_u8_default(tb[TCA_PCRP_EU], cfg->eu);
	cfg->srpt = nla_get_u8_default(tb[TCA_PCRP_SRPT], cfg->srpt);
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
	    nla_put_u8(skb, TCA_PCRP_EVICT, cfg->evict) ||
	    nla_put_u8(skb, TCA_PCRP_MFWT_MODE, cfg->mfwt_mode) ||
	    (cfg->mfwt_mode == TC_PCRP_MFWT_TIME &&
	     nla_put_u32(skb, TCA_PCRP_MFWT, cfg->mfwt_us)) ||
	    nla_put_u8(skb, TCA_PCRP_EU, cfg->eu) ||
	    nla_put_u8(skb, TCA_PCRP_SRPT, cfg->srpt) ||
	    nla_put_u32(skb, TCA_PCRP_HOLD, cfg->hold_us) ||
	    nla_put_u32(skb, TCA_PCRP_WINDOW, cfg->window_us) ||
	    nla_put(skb, TCA_PCRP_SPEC, sizeof(cfg->spec_bytes), cfg->spec_bytes) ||
	    nla_put(skb, TCA_PCRP_MAP, sizeof(cfg->map), cfg->map) ||
	    nla_put_u64_64bit(skb, TCA_PCRP_RATE, cfg->rate_Bps, TCA_PCRP_PAD) ||
	    nla_put_u32(skb, TCA_PCRP_OVERHEAD, cfg->overhead_bytes))
		return -EMSGSIZE;
	return 0;
}

#endif /* _CLOSNET_PCRP_CONFIG_H */
