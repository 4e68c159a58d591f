// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration of sch_ndp: conditions between options, and parameters of the cores
 *
 * A change is made to a copy of the configuration, checked as a whole, and then applied under the
 * root lock. An error leaves the old configuration.
 */
#include <linux/netdevice.h>
#include <linux/pkt_sched_ndp.h>
#include <closnet/netlink.h>
#include "ndpq_config.h"

/* Frames in the data queue: they suffice for over 95 % of the capacity (section 3) */
#define NDPQ_DATA_FRAMES	8
/* Frames in the queue of other traffic, as in sch_pfifo */
#define NDPQ_OTHER_FRAMES	1000

static int ndpq_config_check(const struct ndpq_options *o, struct netlink_ext_ack *extack)
{
	u64 marks = BIT_ULL(o->dscp_trimmed) | BIT_ULL(o->dscp_returned);

	if (o->dscp_trimmed == o->dscp_returned) {
		NL_SET_ERR_MSG(extack, "dscp_trimmed and dscp_returned must differ");
		return -EINVAL;
	}
	if (o->match != TC_NDP_MATCH_DSCP)
		return 0;
	if (!o->dscp_mask) {
		NL_SET_ERR_MSG(extack, "match dscp must list at least one DSCP");
		return -EINVAL;
	}
	if (o->dscp_mask & marks) {
		NL_SET_ERR_MSG(extack,
			       "match dscp must not list dscp_trimmed or dscp_returned");
		return -EINVAL;
	}
	return 0;
}

/**
 * ndpq_config_parse() - take over the options of a message
 * @cfg: configuration; undefined after an error, else ndpq_config_derive() completes it
 * @opt: TCA_OPTIONS
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
int ndpq_config_parse(struct ndpq_config *cfg, const struct nlattr *opt,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_NDP_MAX + 1];
	int err;

	err = ndpq_options_parse(&cfg->options, tb, opt, extack);
	return err ?: ndpq_config_check(&cfg->options, extack);
}

/* Short packets take less of the port's memory, unless the user counts packets as in the paper. */
static u32 ndpq_config_bytes(const struct ndpq_options *o, u64 frame)
{
	if (o->limit_bytes || o->limit)
		return o->limit_bytes;
	return clamp_t(u64, NDPQ_DATA_FRAMES * frame, NDPQ_LIMIT_BYTES_MIN, NDPQ_LIMIT_BYTES_MAX);
}

/* The header queue has the memory of the data queue (section 3.1). */
static u32 ndpq_config_hlimit(const struct ndpq_options *o, u64 frame, u32 limit_bytes)
{
	u64 bytes = min_not_zero(o->limit * frame, (u64)limit_bytes);

	return o->hlimit ?: clamp_t(u64, bytes, NDPQ_HLIMIT_MIN, NDPQ_HLIMIT_MAX);
}

/**
 * ndpq_config_derive() - compute the parameters of the cores
 * @cfg: configuration, with options
 * @dev: the port, whose MTU counts
 */
void ndpq_config_derive(struct ndpq_config *cfg, const struct net_device *dev)
{
	u64 frame = (u64)READ_ONCE(dev->mtu) + dev->hard_header_len;
	const struct ndpq_options *o = &cfg->options;
	u32 limit_bytes = ndpq_config_bytes(o, frame);

	cfg->params = (struct ndpq_params) {
		.limit = o->limit ?: U32_MAX,
		.limit_bytes = limit_bytes ?: U32_MAX,
		.hlimit = ndpq_config_hlimit(o, frame, limit_bytes),
		.ratio = o->ratio,
		.other_limit = o->other_limit ?:
			       clamp_t(u64, NDPQ_OTHER_FRAMES * frame,
				       NDPQ_OTHER_LIMIT_MIN, NDPQ_OTHER_LIMIT_MAX),
		.other_ecn = o->other_ecn,
		.mode = o->mode,
		.bands = o->mode == TC_NDP_MODE_NDP ? (u8)o->bands : 1,
		.rts = o->rts,
	};
	cfg->match = (struct ndpq_match) {
		.dscp_mask = o->dscp_mask,
		.trim_size = o->trim_size,
		.udp_port = o->udp_port,
		.mode = o->match,
		.dscp_trimmed = o->dscp_trimmed,
		.dscp_returned = o->dscp_returned,
	};
}
