/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_ndp: defaults, ranges and error messages
 *
 * Part of sch_ndp.c. A change is made to a copy, checked as a whole, and then
 * taken over under the root lock: an error changes nothing.
 */
#ifndef _CLOSNET_NDP_CONFIG_H
#define _CLOSNET_NDP_CONFIG_H

#include <linux/netdevice.h>
#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "ndp_pkt_core.h"
#include "ndp_queue.h"

/**
 * struct ndp_config - all that netlink sets, and the limits that follow from it
 * @params: the queues
 * @match: the classifier
 * @rate_Bps: built-in shaper, bytes per second; 0: none
 * @hlimit: header queue, bytes; 0: params.hlimit follows the data queue's memory
 * @other_limit: queue of other traffic, bytes; 0: params.other_limit follows
 *	the MTU
 * @overhead_bytes: what the shaper adds to each packet
 */
struct ndp_config {
	struct ndp_params params;
	struct ndp_match match;
	u64 rate_Bps;
	u32 hlimit;
	u32 other_limit;
	u16 overhead_bytes;
};

/* The ranges: once for the policy, once for the message. */
#define NDP_LIMIT_MAX		65535
#define NDP_BYTES_MIN		64
#define NDP_BYTES_MAX		1073741824
#define NDP_RATIO_MAX		100000
#define NDP_TRIM_MAX		9216
#define NDP_DSCP_MAX		63
#define NDP_PORT_MAX		65535
#define NDP_RATE_MIN		125
#define NDP_RATE_MAX		1099511627776
#define NDP_OVERHEAD_MAX	256

#define NDP_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

NDP_RANGE(ndp_limit_range, 1, NDP_LIMIT_MAX);
NDP_RANGE(ndp_opt_bytes_range, 0, NDP_BYTES_MAX);
NDP_RANGE(ndp_trim_range, NDP_BYTES_MIN, NDP_TRIM_MAX);
NDP_RANGE(ndp_ratio_range, 1, NDP_RATIO_MAX);
NDP_RANGE(ndp_port_range, 1, NDP_PORT_MAX);
NDP_RANGE(ndp_rate_range, 0, NDP_RATE_MAX);

static const struct nla_policy ndp_policy[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_limit_range),
	[TCA_NDP_LIMIT_BYTES]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
	[TCA_NDP_HLIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
	[TCA_NDP_RATIO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_ratio_range),
	[TCA_NDP_TRIM_SIZE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_trim_range),
	[TCA_NDP_MODE]		= NLA_POLICY_MAX(NLA_U32, TC_NDP_MODE_MAX),
	[TCA_NDP_MATCH]		= NLA_POLICY_MAX(NLA_U32, TC_NDP_MATCH_MAX),
	[TCA_NDP_DSCP_MASK]	= NLA_POLICY_MIN(NLA_U64, 1),
	[TCA_NDP_UDP_PORT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_port_range),
	[TCA_NDP_DSCP_TRIMMED]	= NLA_POLICY_MAX(NLA_U32, NDP_DSCP_MAX),
	[TCA_NDP_RTS]		= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_NDP_DSCP_RETURNED]	= NLA_POLICY_MAX(NLA_U32, NDP_DSCP_MAX),
	[TCA_NDP_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &ndp_rate_range),
	[TCA_NDP_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, NDP_OVERHEAD_MAX),
	[TCA_NDP_OTHER_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
	[TCA_NDP_OTHER_ECN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndp_opt_bytes_range),
};

#define NDP_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define NDP_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)
#define NDP_AUTO_OR(min, max) " must be auto (0) or " __stringify(min) " to " __stringify(max)

static const char * const ndp_range_text[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= "limit" NDP_TO(1, NDP_LIMIT_MAX) " packets",
	[TCA_NDP_LIMIT_BYTES]	= "limit_bytes" NDP_0_OR(NDP_BYTES_MIN, NDP_BYTES_MAX),
	[TCA_NDP_HLIMIT]	= "hlimit" NDP_AUTO_OR(NDP_BYTES_MIN, NDP_BYTES_MAX) " bytes",
	[TCA_NDP_RATIO]		= "ratio" NDP_TO(1, NDP_RATIO_MAX) " headers",
	[TCA_NDP_TRIM_SIZE]	= "trim_size" NDP_TO(NDP_BYTES_MIN, NDP_TRIM_MAX) " bytes",
	[TCA_NDP_MODE]		= "mode must be ndp, cp or droptail",
	[TCA_NDP_MATCH]		= "match must be udp_port, dscp or all",
	[TCA_NDP_DSCP_MASK]	= "match dscp must list at least one DSCP",
	[TCA_NDP_UDP_PORT]	= "match udp_port" NDP_TO(1, NDP_PORT_MAX),
	[TCA_NDP_DSCP_TRIMMED]	= "dscp_trimmed" NDP_TO(0, NDP_DSCP_MAX),
	[TCA_NDP_RTS]		= "rts" NDP_TO(0, 1),
	[TCA_NDP_DSCP_RETURNED]	= "dscp_returned" NDP_TO(0, NDP_DSCP_MAX),
	[TCA_NDP_RATE]		= "rate" NDP_0_OR(NDP_RATE_MIN, NDP_RATE_MAX) " bytes per second",
	[TCA_NDP_OVERHEAD]	= "overhead" NDP_TO(0, NDP_OVERHEAD_MAX) " bytes",
	[TCA_NDP_OTHER_LIMIT]	= "other_limit" NDP_AUTO_OR(NDP_BYTES_MIN, NDP_BYTES_MAX) " bytes",
	[TCA_NDP_OTHER_ECN]	= "other_ecn" NDP_TO(0, NDP_BYTES_MAX) " bytes",
};

/**
 * ndp_config_default() - what holds if nothing is given
 * @cfg: result; ndp_config_derive() completes it
 */
static inline void ndp_config_default(struct ndp_config *cfg)
{
	*cfg = (struct ndp_config) {
		.params = {
			.limit = 8,		/* section 3: 8 packets suffice */
			.ratio = 10,		/* section 3.1 */
			.mode = TC_NDP_MODE_NDP,
			.rts = false,		/* it reflects to spoofed sources */
		},
		.match = {
			.trim_size = 128,	/* SAI's; holds IPv6, UDP, NDP */
			.mode = TC_NDP_MATCH_UDP_PORT, /* who knows NDP */
			.udp_port = NDP_UDP_PORT,
			.dscp_trimmed = 48,	/* SONiC's example: CS6 */
			.dscp_returned = 49,	/* next to it: same precedence */
		},
	};
}

/**
 * ndp_config_derive() - work out the limits that are not set
 * @cfg: configuration
 * @dev: the port
 *
 * Section 3.1: equal memory for data and header queue.
 */
static inline void ndp_config_derive(struct ndp_config *cfg,
				     const struct net_device *dev)
{
	u64 frame = (u64)READ_ONCE(dev->mtu) + dev->hard_header_len;
	struct ndp_params *p = &cfg->params;

	p->hlimit = cfg->hlimit;
	if (!p->hlimit) {
		p->hlimit = clamp_t(u64, p->limit * frame, NDP_BYTES_MIN, NDP_BYTES_MAX);
		p->hlimit = min_not_zero(p->hlimit, p->limit_bytes);
	}
	p->other_limit = cfg->other_limit;
	if (!p->other_limit)	/* as many as pfifo holds */
		p->other_limit = clamp_t(u64, 1000 * frame,
					 NDP_BYTES_MIN, NDP_BYTES_MAX);
}

static inline void ndp_config_queues(struct ndp_params *p, struct ndp_config *cfg,
				     struct nlattr **tb)
{
	p->limit = nla_get_u32_default(tb[TCA_NDP_LIMIT], p->limit);
	p->limit_bytes = nla_get_u32_default(tb[TCA_NDP_LIMIT_BYTES], p->limit_bytes);
	cfg->hlimit = nla_get_u32_default(tb[TCA_NDP_HLIMIT], cfg->hlimit);
	p->ratio = nla_get_u32_default(tb[TCA_NDP_RATIO], p->ratio);
	p->mode = nla_get_u32_default(tb[TCA_NDP_MODE], p->mode);
	p->rts = nla_get_u32_default(tb[TCA_NDP_RTS], p->rts);
	cfg->other_limit = nla_get_u32_default(tb[TCA_NDP_OTHER_LIMIT], cfg->other_limit);
	p->other_ecn = nla_get_u32_default(tb[TCA_NDP_OTHER_ECN], p->other_ecn);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_NDP_RATE], cfg->rate_Bps);
	cfg->overhead_bytes = nla_get_u32_default(tb[TCA_NDP_OVERHEAD], cfg->overhead_bytes);
}

static inline void ndp_config_match(struct ndp_match *m, struct nlattr **tb)
{
	m->trim_size = nla_get_u32_default(tb[TCA_NDP_TRIM_SIZE], m->trim_size);
	m->mode = nla_get_u32_default(tb[TCA_NDP_MATCH], m->mode);
	m->dscp_mask = nla_get_u64_default(tb[TCA_NDP_DSCP_MASK], m->dscp_mask);
	m->udp_port = nla_get_u32_default(tb[TCA_NDP_UDP_PORT], m->udp_port);
	m->dscp_trimmed = nla_get_u32_default(tb[TCA_NDP_DSCP_TRIMMED], m->dscp_trimmed);
	m->dscp_returned = nla_get_u32_default(tb[TCA_NDP_DSCP_RETURNED], m->dscp_returned);
}

/* 0 or at least @min? A policy has no gap. */
static inline int ndp_config_above(u64 val, u64 min, int type, struct nlattr **tb,
				   struct netlink_ext_ack *extack)
{
	if (!val || val >= min)
		return 0;
	NL_SET_BAD_ATTR(extack, tb[type]);
	closnet_set_msg(extack, ndp_range_text[type]);
	return -ERANGE;
}

/* What the policy cannot say */
static inline int ndp_config_check(const struct ndp_config *cfg, struct nlattr **tb,
				   struct netlink_ext_ack *extack)
{
	const struct ndp_match *m = &cfg->match;
	u64 marks = BIT_ULL(m->dscp_trimmed) | BIT_ULL(m->dscp_returned);

	if (ndp_config_above(cfg->params.limit_bytes, NDP_BYTES_MIN, TCA_NDP_LIMIT_BYTES,
			     tb, extack) ||
	    ndp_config_above(cfg->hlimit, NDP_BYTES_MIN, TCA_NDP_HLIMIT, tb, extack) ||
	    ndp_config_above(cfg->other_limit, NDP_BYTES_MIN, TCA_NDP_OTHER_LIMIT, tb,
			     extack) ||
	    ndp_config_above(cfg->rate_Bps, NDP_RATE_MIN, TCA_NDP_RATE, tb, extack))
		return -ERANGE;
	if (m->dscp_trimmed == m->dscp_returned) {
		NL_SET_ERR_MSG(extack, "dscp_trimmed and dscp_returned must differ");
		return -EINVAL;
	}
	if (tb[TCA_NDP_UDP_PORT] && m->mode != TC_NDP_MATCH_UDP_PORT) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_NDP_UDP_PORT],
				    "a UDP port needs match udp_port");
		return -EINVAL;
	}
	if (m->mode != TC_NDP_MATCH_DSCP) {
		if (!tb[TCA_NDP_DSCP_MASK])
			return 0;
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_NDP_DSCP_MASK],
				    "a list of DSCPs needs match dscp");
		return -EINVAL;
	}
	if (!m->dscp_mask) {
		closnet_set_msg(extack, ndp_range_text[TCA_NDP_DSCP_MASK]);
		return -EINVAL;
	}
	if (m->dscp_mask & marks) {
		NL_SET_ERR_MSG(extack,
			       "match dscp must not list dscp_trimmed or dscp_returned");
		return -EINVAL;
	}
	return 0;
}

/**
 * ndp_config_parse() - overwrite what netlink gives
 * @cfg: configuration; undefined after an error
 * @opt: TCA_OPTIONS
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
static inline int ndp_config_parse(struct ndp_config *cfg, struct nlattr *opt,
				   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	int err;

	err = closnet_nla_parse_nested(tb, TCA_NDP_MAX, opt, ndp_policy, ndp_range_text,
				       extack);
	if (err)
		return err;
	ndp_config_queues(&cfg->params, cfg, tb);
	ndp_config_match(&cfg->match, tb);
	return ndp_config_check(cfg, tb, extack);
}

#endif /* _CLOSNET_NDP_CONFIG_H */
