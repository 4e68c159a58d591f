/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_ndp: defaults, ranges and error messages
 *
 * Part of ndpq_main.c. A change is applied to a copy, which is checked as a whole
 * and then installed under the root lock. So an error changes nothing.
 */
#ifndef _CLOSNET_NDPQ_CONFIG_H
#define _CLOSNET_NDPQ_CONFIG_H

#include <linux/netdevice.h>
#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "ndpq_pkt.h"
#include "ndpq_queue.h"

/**
 * struct ndpq_config - options of the qdisc, and the limits derived from them
 * @params: the queues
 * @match: the classifier
 * @rate_Bps: rate of the built-in shaper, bytes per second; 0: unlimited
 * @hlimit: option hlimit, bytes; 0: params.hlimit follows the data queue's memory
 * @other_limit: option other_limit, bytes; 0: params.other_limit follows the MTU
 * @overhead_bytes: added to each packet's length by the shaper
 */
struct ndpq_config {
	struct ndpq_params params;
	struct ndpq_match match;
	u64 rate_Bps;
	u32 hlimit;
	u32 other_limit;
	u16 overhead_bytes;
};

/* The ranges, for policy and messages. Digits only, since messages show them. */
#define NDPQ_LIMIT_MAX		65535
#define NDPQ_BYTES_MIN		64
#define NDPQ_BYTES_MAX		1073741824
#define NDPQ_RATIO_MAX		100000
#define NDPQ_TRIM_MAX		9216
#define NDPQ_DSCP_MAX		63
#define NDPQ_PORT_MAX		65535
#define NDPQ_RATE_MIN		125
#define NDPQ_RATE_MAX		1099511627776
#define NDPQ_OVERHEAD_MAX	256

#define NDPQ_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

NDPQ_RANGE(ndpq_limit_range, 1, NDPQ_LIMIT_MAX);
NDPQ_RANGE(ndpq_opt_bytes_range, 0, NDPQ_BYTES_MAX);
NDPQ_RANGE(ndpq_trim_range, NDPQ_BYTES_MIN, NDPQ_TRIM_MAX);
NDPQ_RANGE(ndpq_ratio_range, 1, NDPQ_RATIO_MAX);
NDPQ_RANGE(ndpq_port_range, 1, NDPQ_PORT_MAX);
NDPQ_RANGE(ndpq_rate_range, 0, NDPQ_RATE_MAX);

static const struct nla_policy ndpq_policy[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_limit_range),
	[TCA_NDP_LIMIT_BYTES]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_opt_bytes_range),
	[TCA_NDP_HLIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_opt_bytes_range),
	[TCA_NDP_RATIO]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_ratio_range),
	[TCA_NDP_TRIM_SIZE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_trim_range),
	[TCA_NDP_MODE]		= NLA_POLICY_MAX(NLA_U32, TC_NDP_MODE_MAX),
	[TCA_NDP_MATCH]		= NLA_POLICY_MAX(NLA_U32, TC_NDP_MATCH_MAX),
	[TCA_NDP_DSCP_MASK]	= NLA_POLICY_MIN(NLA_U64, 1),
	[TCA_NDP_UDP_PORT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_port_range),
	[TCA_NDP_DSCP_TRIMMED]	= NLA_POLICY_MAX(NLA_U32, NDPQ_DSCP_MAX),
	[TCA_NDP_RTS]		= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_NDP_DSCP_RETURNED]	= NLA_POLICY_MAX(NLA_U32, NDPQ_DSCP_MAX),
	[TCA_NDP_RATE]		= NLA_POLICY_FULL_RANGE(NLA_U64, &ndpq_rate_range),
	[TCA_NDP_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, NDPQ_OVERHEAD_MAX),
	[TCA_NDP_OTHER_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_opt_bytes_range),
	[TCA_NDP_OTHER_ECN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &ndpq_opt_bytes_range),
};

#define NDPQ_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define NDPQ_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)
#define NDPQ_AUTO_OR(min, max) " must be auto (0) or " __stringify(min) " to " __stringify(max)

static const char * const ndpq_range_text[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT]		= "limit" NDPQ_TO(1, NDPQ_LIMIT_MAX) " packets",
	[TCA_NDP_LIMIT_BYTES]	= "limit_bytes" NDPQ_0_OR(NDPQ_BYTES_MIN, NDPQ_BYTES_MAX),
	[TCA_NDP_HLIMIT]	= "hlimit" NDPQ_AUTO_OR(NDPQ_BYTES_MIN, NDPQ_BYTES_MAX) " bytes",
	[TCA_NDP_RATIO]		= "ratio" NDPQ_TO(1, NDPQ_RATIO_MAX) " headers",
	[TCA_NDP_TRIM_SIZE]	= "trim_size" NDPQ_TO(NDPQ_BYTES_MIN, NDPQ_TRIM_MAX) " bytes",
	[TCA_NDP_MODE]		= "mode must be ndp, cp or droptail",
	[TCA_NDP_MATCH]		= "match must be udp_port, dscp or all",
	[TCA_NDP_DSCP_MASK]	= "match dscp must list at least one DSCP",
	[TCA_NDP_UDP_PORT]	= "match udp_port" NDPQ_TO(1, NDPQ_PORT_MAX),
	[TCA_NDP_DSCP_TRIMMED]	= "dscp_trimmed" NDPQ_TO(0, NDPQ_DSCP_MAX),
	[TCA_NDP_RTS]		= "rts" NDPQ_TO(0, 1),
	[TCA_NDP_DSCP_RETURNED]	= "dscp_returned" NDPQ_TO(0, NDPQ_DSCP_MAX),
	[TCA_NDP_RATE]		= "rate" NDPQ_0_OR(NDPQ_RATE_MIN, NDPQ_RATE_MAX)
				  " bytes per second",
	[TCA_NDP_OVERHEAD]	= "overhead" NDPQ_TO(0, NDPQ_OVERHEAD_MAX) " bytes",
	[TCA_NDP_OTHER_LIMIT]	= "other_limit" NDPQ_AUTO_OR(NDPQ_BYTES_MIN, NDPQ_BYTES_MAX)
				  " bytes",
	[TCA_NDP_OTHER_ECN]	= "other_ecn" NDPQ_TO(0, NDPQ_BYTES_MAX) " bytes",
};

/**
 * ndpq_config_default() - set the defaults
 * @cfg: result; ndpq_config_derive() completes it
 */
static inline void ndpq_config_default(struct ndpq_config *cfg)
{
	*cfg = (struct ndpq_config) {
		.params = {
			.limit = 8,		/* section 3: 8 packets are enough */
			.ratio = 10,		/* section 3.1 */
			.mode = TC_NDP_MODE_NDP,
			.rts = false,		/* reflects to spoofed sources */
		},
		.match = {
			.trim_size = 128,	/* SAI's default; holds IPv6, UDP, NDP */
			.mode = TC_NDP_MATCH_UDP_PORT, /* hosts with NDP only */
			.udp_port = NDP_UDP_PORT,
			.dscp_trimmed = 48,	/* SONiC's example: CS6 */
			.dscp_returned = 49,	/* the next DSCP: same precedence */
		},
	};
}

/**
 * ndpq_config_derive() - compute the limits that are not set
 * @cfg: configuration
 * @dev: the port
 *
 * Section 3.1: equal memory for data and header queue.
 */
static inline void ndpq_config_derive(struct ndpq_config *cfg,
				      const struct net_device *dev)
{
	u64 frame = (u64)READ_ONCE(dev->mtu) + dev->hard_header_len;
	struct ndpq_params *p = &cfg->params;

	p->hlimit = cfg->hlimit;
	if (!p->hlimit) {
		p->hlimit = clamp_t(u64, p->limit * frame, NDPQ_BYTES_MIN, NDPQ_BYTES_MAX);
		p->hlimit = min_not_zero(p->hlimit, p->limit_bytes);
	}
	p->other_limit = cfg->other_limit;
	if (!p->other_limit)	/* 1000 frames, as pfifo's limit */
		p->other_limit = clamp_t(u64, 1000 * frame,
					 NDPQ_BYTES_MIN, NDPQ_BYTES_MAX);
}

static inline void ndpq_config_queues(struct ndpq_params *p, struct ndpq_config *cfg,
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

static inline void ndpq_config_match(struct ndpq_match *m, struct nlattr **tb)
{
	m->trim_size = nla_get_u32_default(tb[TCA_NDP_TRIM_SIZE], m->trim_size);
	m->mode = nla_get_u32_default(tb[TCA_NDP_MATCH], m->mode);
	m->dscp_mask = nla_get_u64_default(tb[TCA_NDP_DSCP_MASK], m->dscp_mask);
	m->udp_port = nla_get_u32_default(tb[TCA_NDP_UDP_PORT], m->udp_port);
	m->dscp_trimmed = nla_get_u32_default(tb[TCA_NDP_DSCP_TRIMMED], m->dscp_trimmed);
	m->dscp_returned = nla_get_u32_default(tb[TCA_NDP_DSCP_RETURNED], m->dscp_returned);
}

/* Check for 0 or at least @min, a gap that a policy cannot express. */
static inline int ndpq_config_above(u64 val, u64 min, int type, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	if (!val || val >= min)
		return 0;
	NL_SET_BAD_ATTR(extack, tb[type]);
	closnet_set_msg(extack, ndpq_range_text[type]);
	return -ERANGE;
}

/* Check the combinations that a policy cannot express. */
static inline int ndpq_config_check(const struct ndpq_config *cfg, struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	const struct ndpq_match *m = &cfg->match;
	u64 marks = BIT_ULL(m->dscp_trimmed) | BIT_ULL(m->dscp_returned);

	if (ndpq_config_above(cfg->params.limit_bytes, NDPQ_BYTES_MIN, TCA_NDP_LIMIT_BYTES,
			      tb, extack) ||
	    ndpq_config_above(cfg->hlimit, NDPQ_BYTES_MIN, TCA_NDP_HLIMIT, tb, extack) ||
	    ndpq_config_above(cfg->other_limit, NDPQ_BYTES_MIN, TCA_NDP_OTHER_LIMIT, tb,
			      extack) ||
	    ndpq_config_above(cfg->rate_Bps, NDPQ_RATE_MIN, TCA_NDP_RATE, tb, extack))
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
		closnet_set_msg(extack, ndpq_range_text[TCA_NDP_DSCP_MASK]);
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
 * ndpq_config_parse() - apply the options in a message
 * @cfg: configuration; undefined after an error
 * @opt: TCA_OPTIONS
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
static inline int ndpq_config_parse(struct ndpq_config *cfg, struct nlattr *opt,
				    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	int err;

	err = closnet_nla_parse_nested(tb, TCA_NDP_MAX, opt, ndpq_policy, ndpq_range_text,
				       extack);
	if (err)
		return err;
	ndpq_config_queues(&cfg->params, cfg, tb);
	ndpq_config_match(&cfg->match, tb);
	return ndpq_config_check(cfg, tb, extack);
}

#endif /* _CLOSNET_NDPQ_CONFIG_H */
