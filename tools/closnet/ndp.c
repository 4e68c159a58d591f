// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet ndp: print NDP's sockets, peers and flows of this network namespace
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/ndp_nl.h>

#include "closnet.h"
#include "dump.h"

static const struct dump_table tables[] = {
	{ "sockets", NDP_NL_CMD_SOCKETS },
	{ "peers", NDP_NL_CMD_PEERS },
	{ "sending", NDP_NL_CMD_SENDING },
	{ "receiving", NDP_NL_CMD_RECEIVING },
};

/* Counters of a socket, u64; unknown ones of later modules are ignored */
static const char * const info_names[] = {
	[NDP_NL_INFO_PEERS] = "peers",
	[NDP_NL_INFO_FLOWS_SENDING] = "flows_sending",
	[NDP_NL_INFO_FLOWS_RECEIVING] = "flows_receiving",
	[NDP_NL_INFO_MSGS_SENDING] = "msgs_sending",
	[NDP_NL_INFO_MSGS_SENT] = "msgs_sent",
	[NDP_NL_INFO_MSGS_FAILED] = "msgs_failed",
	[NDP_NL_INFO_MSGS_RECEIVING] = "msgs_receiving",
	[NDP_NL_INFO_MSGS_RECEIVED] = "msgs_received",
	[NDP_NL_INFO_BYTES_SENT] = "bytes_sent",
	[NDP_NL_INFO_BYTES_RECEIVED] = "bytes_received",
	[NDP_NL_INFO_PACKETS_SENT] = "packets_sent",
	[NDP_NL_INFO_PACKETS_UNASKED] = "packets_unasked",
	[NDP_NL_INFO_PACKETS_RTX] = "packets_rtx",
	[NDP_NL_INFO_PACKETS_RTX_TIMEOUT] = "packets_rtx_timeout",
	[NDP_NL_INFO_ACKS_RECEIVED] = "acks_received",
	[NDP_NL_INFO_NACKS_RECEIVED] = "nacks_received",
	[NDP_NL_INFO_RETURNED_RECEIVED] = "returned_received",
	[NDP_NL_INFO_PULLS_RECEIVED] = "pulls_received",
	[NDP_NL_INFO_PROBES_SENT] = "probes_sent",
	[NDP_NL_INFO_PACKETS_RECEIVED] = "packets_received",
	[NDP_NL_INFO_TRIMMED_RECEIVED] = "trimmed_received",
	[NDP_NL_INFO_DUPLICATES_RECEIVED] = "duplicates_received",
	[NDP_NL_INFO_PULLS_SENT] = "pulls_sent",
	[NDP_NL_INFO_RTT_NS] = "rtt_ns",
	[NDP_NL_INFO_RTT_MIN_NS] = "rtt_min_ns",
	[NDP_NL_INFO_RTO_NS] = "rto_ns",
	[NDP_NL_INFO_PATHS] = "paths",
	[NDP_NL_INFO_PATHS_AVOIDED] = "paths_avoided",
	[NDP_NL_INFO_MSGS_PLACED] = "msgs_placed",
	[NDP_NL_INFO_REGION_BYTES] = "region_bytes",
	[NDP_NL_INFO_REGION_USED] = "region_used",
};

/* Packets of a path by outcome, u32; unknown ones of later modules are ignored */
static const char * const outcome_names[] = {
	[NDP_NL_PATH_ACKED] = "acked",
	[NDP_NL_PATH_TRIMMED] = "trimmed",
	[NDP_NL_PATH_RETURNED] = "returned",
	[NDP_NL_PATH_LOST] = "lost",
};

#define PATHS_MAX	1024

/* Numeric attributes; text output omits zeros */
static const struct dump_field numbers[NDP_NL_A_MAX + 1] = {
	[NDP_NL_A_IFINDEX] = { "ifindex", 4, false },
	[NDP_NL_A_LOCAL_PORT] = { "local_port", 4, true },
	[NDP_NL_A_REMOTE_PORT] = { "remote_port", 4, true },
	[NDP_NL_A_INODE] = { "inode", 8, false },
	[NDP_NL_A_PATHS] = { "paths", 8, true },
	[NDP_NL_A_AVOIDED] = { "avoided", 8, false },
	[NDP_NL_A_FLOW_ID] = { "flow_id", 4, true },
	[NDP_NL_A_MSGS] = { "msgs", 8, true },
	[NDP_NL_A_UNSENT] = { "unsent", 8, false },
	[NDP_NL_A_FLIGHT] = { "flight", 8, false },
	[NDP_NL_A_LOST] = { "lost", 8, false },
	[NDP_NL_A_CREDIT] = { "credit", 8, false },
	[NDP_NL_A_EXPECTED] = { "expected", 8, false },
	[NDP_NL_A_WINDOW] = { "window", 8, false },
	[NDP_NL_A_RTO_NS] = { "rto_ns", 8, false },
	[NDP_NL_A_RTT_NS] = { "rtt_ns", 8, false },
	[NDP_NL_A_RTT_MIN_NS] = { "rtt_min_ns", 8, false },
	[NDP_NL_A_PACKETS] = { "packets", 8, false },
	[NDP_NL_A_RTX] = { "rtx", 8, false },
	[NDP_NL_A_TIMEOUTS] = { "timeouts", 8, false },
	[NDP_NL_A_TRIMMED] = { "trimmed", 8, false },
	[NDP_NL_A_RETURNED] = { "returned", 8, false },
	[NDP_NL_A_WISHED] = { "demand", 8, false },
	[NDP_NL_A_HELD] = { "held", 8, false },
	[NDP_NL_A_DEVICE] = { "device", 8, false },
	[NDP_NL_A_IDLE_NS] = { "idle_ns", 8, false },
	[NDP_NL_A_ORDERED] = { "ordered", 8, false },
	[NDP_NL_A_WAITING] = { "waiting", 8, false },
};

/**
 * struct view - state of the output
 * @dump: common part
 * @paths: number of paths of this object, up to PATHS_MAX
 * @outcomes: packets of each path by outcome
 */
struct view {
	struct dump dump;
	unsigned int paths;
	uint32_t outcomes[PATHS_MAX][COUNT(outcome_names)];
};

/* ---- output ---- */

static int print_info(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (type < COUNT(info_names) && info_names[type] &&
	    !mnl_attr_validate(attr, MNL_TYPE_U64))
		dump_number(data, info_names[type], mnl_attr_get_u64(attr), false);
	return MNL_CB_OK;
}

static int take_outcome(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);
	struct view *v = data;

	if (type < COUNT(outcome_names) && outcome_names[type] &&
	    !mnl_attr_validate(attr, MNL_TYPE_U32))
		v->outcomes[v->paths][type] = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void take_path(struct view *v, const struct nlattr *attr)
{
	if (v->paths == PATHS_MAX)
		return;
	memset(v->outcomes[v->paths], 0, sizeof(v->outcomes[0]));
	mnl_attr_parse_nested(attr, take_outcome, v);
	v->paths++;
}

/* Text has the sums of all paths, JSON an array with each path. */
static void print_outcomes(struct view *v)
{
	unsigned int i, k;
	uint64_t sum;

	for (k = NDP_NL_PATH_ACKED; v->paths && k < COUNT(outcome_names); k++) {
		for (i = 0, sum = 0; i < v->paths; i++)
			sum += v->outcomes[i][k];
		if (!v->dump.json) {
			dump_number(&v->dump, outcome_names[k], sum, false);
			continue;
		}
		dump_name(&v->dump, outcome_names[k]);
		for (i = 0; i < v->paths; i++)
			printf("%s%" PRIu32, i ? ", " : "[", v->outcomes[i][k]);
		printf("]");
	}
}

static int print_attr(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	switch (type) {
	case NDP_NL_A_LOCAL:
		dump_address(data, "local", attr);
		break;
	case NDP_NL_A_REMOTE:
		dump_address(data, "remote", attr);
		break;
	case NDP_NL_A_INFO:
		mnl_attr_parse_nested(attr, print_info, data);
		break;
	case NDP_NL_A_PATH:
		take_path(data, attr);
		break;
	default:
		if (type <= NDP_NL_A_MAX)
			dump_attr(data, &numbers[type], attr);
	}
	return MNL_CB_OK;
}

static void print_object(struct dump *d, const struct nlmsghdr *nlh)
{
	struct view *v = (struct view *)d;

	v->paths = 0;
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), print_attr, v);
	print_outcomes(v);
}

/* ---- command line ---- */

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet ndp [sockets | peers | sending | receiving] [OPTION]\n"
		    "  sockets      bound sockets and their counters\n"
		    "  peers        pairs of addresses, and the packets of their paths by outcome\n"
		    "  sending      flows from sockets of this network namespace\n"
		    "  receiving    flows to sockets of this network namespace\n"
		    "  -j, --json   print JSON\n");
}

int ndp(int argc, char **argv)
{
	static struct view v = {
		.dump = {
			.command = "ndp", .name = NDP_GENL_NAME, .module = "ndp",
			.version = NDP_GENL_VERSION, .tables = tables, .count = COUNT(tables),
			.print_object = print_object,
		},
	};

	return dump_run(&v.dump, argc, argv, help);
}
