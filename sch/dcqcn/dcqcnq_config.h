/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of sch_dcqcn: defaults, ranges and error messages
 *
 * Part of dcqcnq_main.c. A new configuration is built aside, checked as a whole,
 * and then taken over under the root lock: after an error the old one holds.
 */
#ifndef _CLOSNET_DCQCNQ_CONFIG_H
#define _CLOSNET_DCQCNQ_CONFIG_H

#include <linux/stringify.h>
#include <closnet/netlink.h>
#include "dcqcnq_pool.h"
#include "dcqcnq_queue.h"

/**
 * struct dcqcnq_config - settings of a queue
 * @marking: the marking line
 * @limit: most bytes waiting that PFC does not protect
 * @prio: 0 to 7, or TC_DCQCN_PRIO_PACKET
 * @nonect_drop: a packet to be marked that is not ECT is dropped
 * @stall_drop: packets of a stalled queue are dropped
 * @overhead_bytes: added to each packet's length by the shaper
 * @stall_us: when a held queue counts as stalled; 0: never
 * @rate_Bps: rate of the built-in shaper in bytes per second; 0: unlimited
 */
struct dcqcnq_config {
	struct dcqcnq_marking marking;
	u32 limit;
	u32 prio;
	bool nonect_drop;
	bool stall_drop;
	u16 overhead_bytes;
	u32 stall_us;
	u64 rate_Bps;
};

/**
 * struct dcqcnq_pool_request - the contents of TCA_DCQCN_POOL
 * @name: name of the pool; empty: not given
 * @given: the values that were given, DCQCNQ_POOL_GIVEN() bits
 * @params: the values
 */
struct dcqcnq_pool_request {
	char name[DCQCNQ_POOL_NAME_MAX + 1];
	u32 given;
	struct dcqcnq_pool_params params;
};

/* Ranges: bytes, bytes per second, us, ns. Digits only: messages show them. */
#define DCQCNQ_SIZE_MIN		64
#define DCQCNQ_SIZE_MAX		1073741824
#define DCQCNQ_RATE_MIN		125
#define DCQCNQ_RATE_MAX		1099511627776
#define DCQCNQ_OVERHEAD_MAX	256
#define DCQCNQ_STALL_MIN		1000
#define DCQCNQ_STALL_MAX		60000000
#define DCQCNQ_CABLE_MAX		10000000
#define DCQCNQ_BETA_MAX		128

#define DCQCNQ_RANGE(name, lo, hi)	\
	static const struct netlink_range_validation name = { .min = lo, .max = hi }

DCQCNQ_RANGE(dcqcnq_bytes_range, DCQCNQ_SIZE_MIN, DCQCNQ_SIZE_MAX);
DCQCNQ_RANGE(dcqcnq_opt_bytes_range, 0, DCQCNQ_SIZE_MAX);
DCQCNQ_RANGE(dcqcnq_rate_range, 0, DCQCNQ_RATE_MAX);
DCQCNQ_RANGE(dcqcnq_stall_range, 0, DCQCNQ_STALL_MAX);
DCQCNQ_RANGE(dcqcnq_cable_range, 0, DCQCNQ_CABLE_MAX);

static const struct nla_policy dcqcnq_policy[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_bytes_range),
	[TCA_DCQCN_KMIN]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_opt_bytes_range),
	[TCA_DCQCN_KMAX]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_opt_bytes_range),
	[TCA_DCQCN_PMAX]	= { .type = NLA_U32 },
	[TCA_DCQCN_NONECT]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_DCQCN_PRIO]	= NLA_POLICY_MAX(NLA_U32, TC_DCQCN_PRIO_PACKET),
	[TCA_DCQCN_RATE]	= NLA_POLICY_FULL_RANGE(NLA_U64, &dcqcnq_rate_range),
	[TCA_DCQCN_OVERHEAD]	= NLA_POLICY_MAX(NLA_U32, DCQCNQ_OVERHEAD_MAX),
	[TCA_DCQCN_STALL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_stall_range),
	[TCA_DCQCN_STALL_DROP]	= NLA_POLICY_MAX(NLA_U32, 1),
	[TCA_DCQCN_POOL]	= { .type = NLA_NESTED },
};

static const struct nla_policy dcqcnq_pool_policy[TCA_DCQCN_POOL_MAX + 1] = {
	[TCA_DCQCN_POOL_NAME]	= { .type = NLA_STRING },
	[TCA_DCQCN_POOL_BUFFER]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_bytes_range),
	[TCA_DCQCN_POOL_HEADROOM] = NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_opt_bytes_range),
	[TCA_DCQCN_POOL_CABLE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_cable_range),
	[TCA_DCQCN_POOL_XOFF_MODE] = NLA_POLICY_MAX(NLA_U32, TC_DCQCN_XOFF_DYNAMIC),
	[TCA_DCQCN_POOL_XOFF]	= NLA_POLICY_FULL_RANGE(NLA_U32, &dcqcnq_bytes_range),
	[TCA_DCQCN_POOL_BETA]	= NLA_POLICY_RANGE(NLA_U32, 1, DCQCNQ_BETA_MAX),
	[TCA_DCQCN_POOL_PFC]	= NLA_POLICY_MAX(NLA_U32, 255),
};

#define DCQCNQ_TO(min, max) " must be " __stringify(min) " to " __stringify(max)
#define DCQCNQ_0_OR(min, max) " must be 0 or " __stringify(min) " to " __stringify(max)
#define DCQCNQ_SIZE	DCQCNQ_TO(DCQCNQ_SIZE_MIN, DCQCNQ_SIZE_MAX) " bytes"
#define DCQCNQ_OPT_SIZE	DCQCNQ_TO(0, DCQCNQ_SIZE_MAX) " bytes"

static const char * const dcqcnq_wanted[TCA_DCQCN_MAX + 1] = {
	[TCA_DCQCN_LIMIT]	= "limit" DCQCNQ_SIZE,
	[TCA_DCQCN_KMIN]	= "kmin" DCQCNQ_OPT_SIZE,
	[TCA_DCQCN_KMAX]	= "kmax" DCQCNQ_OPT_SIZE,
	[TCA_DCQCN_NONECT]	= "nonect must be pass or drop",
	[TCA_DCQCN_PRIO]	= "prio must be 0 to 7, or packet",
	[TCA_DCQCN_RATE]	= "rate" DCQCNQ_0_OR(DCQCNQ_RATE_MIN, DCQCNQ_RATE_MAX)
				  " bytes per second",
	[TCA_DCQCN_OVERHEAD]	= "overhead" DCQCNQ_TO(0, DCQCNQ_OVERHEAD_MAX) " bytes",
	[TCA_DCQCN_STALL]	= "stall" DCQCNQ_0_OR(DCQCNQ_STALL_MIN, DCQCNQ_STALL_MAX) " us",
	[TCA_DCQCN_STALL_DROP]	= "stall_drop" DCQCNQ_TO(0, 1),
};

static const char * const dcqcnq_pool_wanted[TCA_DCQCN_POOL_MAX + 1] = {
	[TCA_DCQCN_POOL_NAME]	= "pool must have a name of 1 to "
				  __stringify(DCQCNQ_POOL_NAME_MAX) " characters",
	[TCA_DCQCN_POOL_BUFFER]	= "buffer" DCQCNQ_SIZE,
	[TCA_DCQCN_POOL_HEADROOM] = "headroom" DCQCNQ_0_OR(DCQCNQ_SIZE_MIN, DCQCNQ_SIZE_MAX)
				    " bytes",
	[TCA_DCQCN_POOL_CABLE]	= "cable" DCQCNQ_TO(0, DCQCNQ_CABLE_MAX) " ns",
	[TCA_DCQCN_POOL_XOFF_MODE] = "xoff must be auto, dynamic or a size",
	[TCA_DCQCN_POOL_XOFF]	= "xoff" DCQCNQ_SIZE,
	[TCA_DCQCN_POOL_BETA]	= "beta" DCQCNQ_TO(1, DCQCNQ_BETA_MAX),
	[TCA_DCQCN_POOL_PFC]	= "pfc must be a mask of 8 priorities",
};

/**
 * dcqcnq_config_default() - set the defaults
 * @cfg: result; complete
 */
static inline void dcqcnq_config_default(struct dcqcnq_config *cfg)
{
	*cfg = (struct dcqcnq_config) {
		.marking = {
			/* the paper's values for 40 Gbit/s, section 5 */
			.kmin = 5 << 10,
			.kmax = 200 << 10,
			/*
			 * 20 %, as in HPCC's simulator. With the paper's 1 %, more than a
			 * few flows need more marks than the slope gives: rates swing, and
			 * 5 to 14 % of the line is lost (Documentation/experiments/dcqcn.rst).
			 */
			.pmax = U32_MAX / 5,
		},
		.limit = 4 << 20,	/* a third of the paper's shared buffer */
		.prio = TC_DCQCN_PRIO_PACKET,
		.stall_us = 100000,	/* some 30 times the longest pause at 10 Gbit/s */
	};
	dcqcnq_marking_finish(&cfg->marking);
}

/* Report an attribute that is out of its range. */
static inline int dcqcnq_config_range(const struct nlattr *attr, const char *wanted,
				      struct netlink_ext_ack *extack)
{
	NL_SET_BAD_ATTR(extack, attr);
	closnet_set_msg(extack, wanted);
	return -ERANGE;
}

/* A value for the pool, if it is given */
#define dcqcnq_config_request(req, tb, attr, member) \
do { \
	if ((tb)[TCA_DCQCN_POOL_##attr]) { \
		(req)->params.member = nla_get_u32((tb)[TCA_DCQCN_POOL_##attr]); \
		(req)->given |= DCQCNQ_POOL_GIVEN(attr); \
	} \
} while (0)

static inline int dcqcnq_config_pool(struct dcqcnq_pool_request *req,
				     const struct nlattr *nest,
				     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_POOL_MAX + 1], *name, *headroom;
	int err;

	memset(req, 0, sizeof(*req));
	if (!nest)
		return 0;
	err = closnet_nla_parse_nested(tb, TCA_DCQCN_POOL_MAX, nest, dcqcnq_pool_policy,
				       dcqcnq_pool_wanted, extack);
	if (err)
		return err;
	name = tb[TCA_DCQCN_POOL_NAME];
	if (name && nla_strscpy(req->name, name, sizeof(req->name)) <= 0)
		return dcqcnq_config_range(name, dcqcnq_pool_wanted[TCA_DCQCN_POOL_NAME],
					   extack);
	dcqcnq_config_request(req, tb, BUFFER, buffer);
	dcqcnq_config_request(req, tb, HEADROOM, headroom);
	dcqcnq_config_request(req, tb, CABLE, cable_ns);
	dcqcnq_config_request(req, tb, XOFF_MODE, xoff_mode);
	dcqcnq_config_request(req, tb, XOFF, xoff);
	dcqcnq_config_request(req, tb, BETA, beta);
	dcqcnq_config_request(req, tb, PFC, pfc);
	headroom = tb[TCA_DCQCN_POOL_HEADROOM];
	if (headroom && req->params.headroom && req->params.headroom < DCQCNQ_SIZE_MIN)
		return dcqcnq_config_range(headroom,
					   dcqcnq_pool_wanted[TCA_DCQCN_POOL_HEADROOM], extack);
	return 0;
}

static inline int dcqcnq_config_marking(struct dcqcnq_marking *m, struct nlattr **tb,
					struct netlink_ext_ack *extack)
{
	m->kmin = nla_get_u32_default(tb[TCA_DCQCN_KMIN], m->kmin);
	m->kmax = nla_get_u32_default(tb[TCA_DCQCN_KMAX], m->kmax);
	m->pmax = nla_get_u32_default(tb[TCA_DCQCN_PMAX], m->pmax);
	if (m->kmin > m->kmax) {
		NL_SET_ERR_MSG(extack, "kmin must not be above kmax");
		return -EINVAL;
	}
	dcqcnq_marking_finish(m);
	return 0;
}

/**
 * dcqcnq_config_parse() - overwrite what netlink gives
 * @cfg: configuration; undefined after an error
 * @req: result: the request for the pool
 * @opt: TCA_OPTIONS
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
static inline int dcqcnq_config_parse(struct dcqcnq_config *cfg,
				      struct dcqcnq_pool_request *req, struct nlattr *opt,
				      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_DCQCN_MAX + 1];
	int err;

	err = closnet_nla_parse_nested(tb, TCA_DCQCN_MAX, opt, dcqcnq_policy, dcqcnq_wanted,
				       extack);
	if (err)
		return err;
	cfg->limit = nla_get_u32_default(tb[TCA_DCQCN_LIMIT], cfg->limit);
	cfg->nonect_drop = nla_get_u32_default(tb[TCA_DCQCN_NONECT], cfg->nonect_drop);
	cfg->prio = nla_get_u32_default(tb[TCA_DCQCN_PRIO], cfg->prio);
	cfg->rate_Bps = nla_get_u64_default(tb[TCA_DCQCN_RATE], cfg->rate_Bps);
	cfg->overhead_bytes = nla_get_u32_default(tb[TCA_DCQCN_OVERHEAD], cfg->overhead_bytes);
	cfg->stall_us = nla_get_u32_default(tb[TCA_DCQCN_STALL], cfg->stall_us);
	cfg->stall_drop = nla_get_u32_default(tb[TCA_DCQCN_STALL_DROP], cfg->stall_drop);
	if (cfg->stall_us && cfg->stall_us < DCQCNQ_STALL_MIN)
		return dcqcnq_config_range(tb[TCA_DCQCN_STALL], dcqcnq_wanted[TCA_DCQCN_STALL],
					   extack);
	if (cfg->rate_Bps && cfg->rate_Bps < DCQCNQ_RATE_MIN)
		return dcqcnq_config_range(tb[TCA_DCQCN_RATE], dcqcnq_wanted[TCA_DCQCN_RATE],
					   extack);
	err = dcqcnq_config_marking(&cfg->marking, tb, extack);
	return err ?: dcqcnq_config_pool(req, tb[TCA_DCQCN_POOL], extack);
}

/**
 * dcqcnq_config_dump() - put into a message what dcqcnq_config_parse() takes
 * @skb: the message
 * @cfg: configuration
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int dcqcnq_config_dump(struct sk_buff *skb, const struct dcqcnq_config *cfg)
{
	if (nla_put_u32(skb, TCA_DCQCN_LIMIT, cfg->limit) ||
	    nla_put_u32(skb, TCA_DCQCN_KMIN, cfg->marking.kmin) ||
	    nla_put_u32(skb, TCA_DCQCN_KMAX, cfg->marking.kmax) ||
	    nla_put_u32(skb, TCA_DCQCN_PMAX, cfg->marking.pmax) ||
	    nla_put_u32(skb, TCA_DCQCN_NONECT, cfg->nonect_drop) ||
	    nla_put_u32(skb, TCA_DCQCN_PRIO, cfg->prio) ||
	    nla_put_u64_64bit(skb, TCA_DCQCN_RATE, cfg->rate_Bps, TCA_DCQCN_PAD) ||
	    nla_put_u32(skb, TCA_DCQCN_OVERHEAD, cfg->overhead_bytes) ||
	    nla_put_u32(skb, TCA_DCQCN_STALL, cfg->stall_us) ||
	    nla_put_u32(skb, TCA_DCQCN_STALL_DROP, cfg->stall_drop))
		return -EMSGSIZE;
	return 0;
}

/**
 * dcqcnq_config_dump_pool() - put a pool's settings into a message
 * @skb: the message
 * @name: name of the pool
 * @p: its settings
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int dcqcnq_config_dump_pool(struct sk_buff *skb, const char *name,
					  const struct dcqcnq_pool_params *p)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_DCQCN_POOL);

	if (!nest ||
	    nla_put_string(skb, TCA_DCQCN_POOL_NAME, name) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_BUFFER, p->buffer) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_HEADROOM, p->headroom) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_CABLE, p->cable_ns) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_XOFF_MODE, p->xoff_mode) ||
	    (p->xoff_mode == TC_DCQCN_XOFF_STATIC &&
	     nla_put_u32(skb, TCA_DCQCN_POOL_XOFF, p->xoff)) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_BETA, p->beta) ||
	    nla_put_u32(skb, TCA_DCQCN_POOL_PFC, p->pfc))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

#endif /* _CLOSNET_DCQCNQ_CONFIG_H */
