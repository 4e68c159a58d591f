// SPDX-License-Identifier: GPL-2.0-only
/* Model of sch_ndp's configuration, written from pkt_sched_ndp.h and tc-ndp(8) */
#include <linux/pkt_sched_ndp.h>

#include "qdisc_netlink.h"

#define BYTES_MAX (1U << 30)

static const struct range ndp_ranges[TCA_NDP_MAX + 1] = {
	[TCA_NDP_LIMIT] = { "limit", 1, 65535, 8, 4, false, false },
	[TCA_NDP_LIMIT_BYTES] = { "limit_bytes", 64, BYTES_MAX, 0, 4, true, false },
	[TCA_NDP_HLIMIT] = { "hlimit", 64, BYTES_MAX, 0, 4, true, false },
	[TCA_NDP_RATIO] = { "ratio", 1, 100000, 10, 4, false, false },
	[TCA_NDP_TRIM_SIZE] = { "trim_size", 64, 9216, 128, 4, false, false },
	[TCA_NDP_MODE] = { "mode", 0, TC_NDP_MODE_MAX, TC_NDP_MODE_NDP, 4, false, false },
	[TCA_NDP_MATCH] = { "match", 0, TC_NDP_MATCH_MAX, TC_NDP_MATCH_UDP_PORT, 4, false, false },
	[TCA_NDP_DSCP_MASK] = { "dscp", 1, UINT64_MAX, 0, 8, false, false },
	[TCA_NDP_UDP_PORT] = { "udp_port", 1, 65535, NDP_UDP_PORT, 4, false, false },
	[TCA_NDP_DSCP_TRIMMED] = { "dscp_trimmed", 0, 63, 48, 4, false, false },
	[TCA_NDP_RTS] = { "rts", 0, 1, 0, 4, false, false },
	[TCA_NDP_DSCP_RETURNED] = { "dscp_returned", 0, 63, 49, 4, false, false },
	[TCA_NDP_RATE] = { "rate", 125, 1ULL << 40, 0, 8, true, false },
	[TCA_NDP_OVERHEAD] = { "overhead", 0, 256, 0, 4, false, false },
	[TCA_NDP_OTHER_LIMIT] = { "other_limit", 64, BYTES_MAX, 0, 4, true, false },
	[TCA_NDP_OTHER_ECN] = { "other_ecn", 0, BYTES_MAX, 0, 4, false, false },
};

static bool ndp_consistent(const struct model *m)
{
	uint64_t trimmed = m->v[TCA_NDP_DSCP_TRIMMED], returned = m->v[TCA_NDP_DSCP_RETURNED];
	uint64_t match = m->v[TCA_NDP_MATCH], mask = m->v[TCA_NDP_DSCP_MASK];

	if (trimmed == returned)
		return false;
	if (m->given[TCA_NDP_UDP_PORT] && match != TC_NDP_MATCH_UDP_PORT)
		return false;
	if (match != TC_NDP_MATCH_DSCP)
		return !m->given[TCA_NDP_DSCP_MASK];
	return mask && !(mask & (1ULL << trimmed | 1ULL << returned));
}

static bool ndp_shows(const struct model *m, unsigned int type)
{
	if (type == TCA_NDP_UDP_PORT)
		return m->v[TCA_NDP_MATCH] == TC_NDP_MATCH_UDP_PORT;
	if (type == TCA_NDP_DSCP_MASK)
		return m->v[TCA_NDP_MATCH] == TC_NDP_MATCH_DSCP;
	return true;
}

const struct kind ndp_kind = {
	.name = "ndp",
	.ranges = ndp_ranges,
	.last = TCA_NDP_OTHER_ECN,
	.unknown = TCA_NDP_PAD + 1,
	.rate = TCA_NDP_RATE,
	.consistent = ndp_consistent,
	.shows = ndp_shows,
};
