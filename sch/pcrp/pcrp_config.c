// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration of sch_pcrp: conditions between options, thresholds and the map of DSCPs
 *
 * A change is made to a copy of the configuration, checked as a whole, and then applied under the
 * root lock, so that a wrong option leaves it unchanged.
 */
#include <linux/pkt_sched_pcrp.h>
#include <closnet/netlink.h>
#include "pcrp_config.h"

#define PCRP_DSCP_MAX		63
#define PCRP_SPEC_MESSAGE	"spec must be three ascending sizes, 1 to 2^40 bytes, or none"

static const struct netlink_range_validation pcrp_spec_range = {
	.min = PCRP_SPEC_MIN,
	.max = PCRP_SPEC_MAX,
};

static const struct nla_policy pcrp_spec_policy[TCA_PCRP_SPEC_P2 + 1] = {
	[TCA_PCRP_SPEC_P0 ... TCA_PCRP_SPEC_P2] =
		NLA_POLICY_FULL_RANGE(NLA_U64, &pcrp_spec_range),
};

static const char * const pcrp_spec_messages[TCA_PCRP_SPEC_P2 + 1] = {
	[TCA_PCRP_SPEC_P0 ... TCA_PCRP_SPEC_P2] = PCRP_SPEC_MESSAGE,
};

static const struct nla_policy pcrp_map_policy[TCA_PCRP_MAP_P7 + 1] = {
	[TCA_PCRP_MAP_P0 ... TCA_PCRP_MAP_P7] = NLA_POLICY_MAX(NLA_U32, PCRP_DSCP_MAX),
};

static const char * const pcrp_map_messages[TCA_PCRP_MAP_P7 + 1] = {
	[TCA_PCRP_MAP_P0 ... TCA_PCRP_MAP_P7] = "map must hold DSCPs of 0 to 63",
};

/**
 * pcrp_config_init() - set the defaults
 * @cfg: configuration
 */
void pcrp_config_init(struct pcrp_config *cfg)
{
	*cfg = (struct pcrp_config) {
		/* CS7 to CS1, then LE (RFC 8622); DSCP 0 is unmarked traffic */
		.map = { 56, 48, 40, 32, 24, 16, 8, 1 },
	};
	pcrp_options_init(&cfg->options);
}

/**
 * pcrp_config_share() - take over the options that the qdiscs of a device share
 * @to: configuration of a qdisc
 * @from: configuration of another one
 *
 * Queue and shaper belong to each qdisc. The other options follow from the network, or
 * belong to the receiver, and a device has one receiver.
 */
void pcrp_config_share(struct pcrp_config *to, const struct pcrp_config *from)
{
	const struct pcrp_options own = to->options;

	*to = *from;
	to->options.limit = own.limit;
	to->options.flows = own.flows;
	to->options.rate_Bps = own.rate_Bps;
	to->options.overhead = own.overhead;
}

/* Set the options of a profile that the message selects, but not those that it sets itself. */
static void pcrp_config_profile(struct pcrp_options *o, struct nlattr **tb)
{
	bool paper = o->profile == TC_PCRP_PROFILE_PAPER;

	if (!tb[TCA_PCRP_PROFILE])
		return;
	if (!tb[TCA_PCRP_EVICT])
		o->evict = !paper;
	if (!tb[TCA_PCRP_EU])
		o->eu = paper;
}

static int pcrp_config_spec(struct pcrp_config *cfg, const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PCRP_SPEC_P2 + 1];
	u64 least = 1;
	int err;
	u32 i;

	if (!attr)
		return 0;
	err = closnet_nla_parse_nested(tb, TCA_PCRP_SPEC_P2, attr, pcrp_spec_policy,
				       pcrp_spec_messages, extack);
	if (err)
		return err;
	memset(cfg->spec_bytes, 0, sizeof(cfg->spec_bytes));
	if (!nla_len(attr))
		return 0;
	for (i = 0; i < ARRAY_SIZE(cfg->spec_bytes); i++) {
		cfg->spec_bytes[i] = nla_get_u64_default(tb[TCA_PCRP_SPEC_P0 + i], 0);
		if (cfg->spec_bytes[i] < least) {
			NL_SET_ERR_MSG_ATTR(extack, attr, PCRP_SPEC_MESSAGE);
			return -ERANGE;
		}
		least = cfg->spec_bytes[i];
	}
	return 0;
}

static int pcrp_config_map(struct pcrp_config *cfg, const struct nlattr *attr,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PCRP_MAP_P7 + 1];
	u32 prio;
	int err;

	if (!attr)
		return 0;
	err = closnet_nla_parse_nested(tb, TCA_PCRP_MAP_P7, attr, pcrp_map_policy,
				       pcrp_map_messages, extack);
	if (err)
		return err;
	for (prio = 0; prio < TC_PCRP_PRIOS; prio++)
		cfg->map[prio] = nla_get_u32_default(tb[TCA_PCRP_MAP_P0 + prio], PCRP_MAP_LEAVE);
	return 0;
}

/**
 * pcrp_config_parse() - take over the options of a message
 * @cfg: configuration; undefined after an error
 * @opt: TCA_OPTIONS
 * @fixed_flows: the number of flows cannot change
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
int pcrp_config_parse(struct pcrp_config *cfg, const struct nlattr *opt, bool fixed_flows,
		      struct netlink_ext_ack *extack)
{
	struct pcrp_options *o = &cfg->options;
	struct nlattr *tb[TCA_PCRP_MAX + 1];
	u32 flows = o->flows;
	int err;

	err = pcrp_options_parse(o, tb, opt, extack);
	if (err)
		return err;
	if (fixed_flows && o->flows != flows) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_PCRP_FLOWS],
				    "flows is fixed when the qdisc is created");
		return -EINVAL;
	}
	if (o->mfwt_mode == TC_PCRP_MFWT_TIME && !o->mfwt_us) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_PCRP_MFWT_MODE], "mfwt_mode time needs mfwt");
		return -EINVAL;
	}
	pcrp_config_profile(o, tb);
	err = pcrp_config_spec(cfg, tb[TCA_PCRP_SPEC], extack);
	return err ?: pcrp_config_map(cfg, tb[TCA_PCRP_MAP], extack);
}

/**
 * pcrp_config_dump_spec() - put thresholds into a message
 * @skb: message
 * @type: type of the nest
 * @bytes: thresholds of P0, P1 and P2; all 0 for an empty nest
 *
 * Return: 0 or -EMSGSIZE.
 */
int pcrp_config_dump_spec(struct sk_buff *skb, int type, const u64 *bytes)
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

static int pcrp_config_dump_map(struct sk_buff *skb, const u8 *map)
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
 * pcrp_config_dump() - put the options into a message
 * @skb: message
 * @cfg: configuration
 *
 * Return: 0 or -EMSGSIZE.
 */
int pcrp_config_dump(struct sk_buff *skb, const struct pcrp_config *cfg)
{
	if (pcrp_options_dump(skb, &cfg->options) ||
	    pcrp_config_dump_spec(skb, TCA_PCRP_SPEC, cfg->spec_bytes) ||
	    pcrp_config_dump_map(skb, cfg->map))
		return -EMSGSIZE;
	return 0;
}
