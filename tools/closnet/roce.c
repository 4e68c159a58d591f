// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet roce: print sch_roce's rate limiters and flows of this network namespace
 */
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/roce.h>

#include "closnet.h"
#include "dump.h"

static const struct dump_table tables[] = {
	{ "qps", ROCE_CMD_QPS },
	{ "flows", ROCE_CMD_FLOWS },
};

/* Numeric attributes; text output omits zeros */
static const struct dump_field numbers[ROCE_A_MAX + 1] = {
	[ROCE_A_IFINDEX] = { "ifindex", 4, true },
	[ROCE_A_HANDLE] = { "handle", 4, false },
	[ROCE_A_QPN] = { "qpn", 4, true },
	[ROCE_A_PEER_QPN] = { "peer_qpn", 4, true },
	[ROCE_A_MARKED_PACKETS] = { "np_ecn_marked_roce_packets", 8, false },
	[ROCE_A_CNP_SENT] = { "np_cnp_sent", 8, false },
	[ROCE_A_IDLE_NS] = { "idle_ns", 8, false },
	[ROCE_A_RATE_BPS] = { "rate_Bps", 8, true },
	[ROCE_A_TARGET_BPS] = { "target_Bps", 8, true },
	[ROCE_A_ALPHA] = { "alpha", 4, true },
	[ROCE_A_TIMER_STAGE] = { "timer_stage", 4, false },
	[ROCE_A_BYTE_STAGE] = { "byte_stage", 4, false },
	[ROCE_A_QLEN_PACKETS] = { "qlen_packets", 8, false },
	[ROCE_A_BACKLOG_BYTES] = { "backlog_bytes", 8, false },
	[ROCE_A_SENT_PACKETS] = { "sent_packets", 8, false },
	[ROCE_A_SENT_BYTES] = { "sent_bytes", 8, false },
	[ROCE_A_DROPPED_PACKETS] = { "dropped_packets", 8, false },
	[ROCE_A_CNP_HANDLED] = { "rp_cnp_handled", 8, false },
};

static int print_attr(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (type == ROCE_A_SRC)
		dump_address(data, "src", attr);
	else if (type == ROCE_A_DST)
		dump_address(data, "dst", attr);
	else if (type <= ROCE_A_MAX)
		dump_attr(data, &numbers[type], attr);
	return MNL_CB_OK;
}

static void print_object(struct dump *d, const struct nlmsghdr *nlh)
{
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), print_attr, d);
}

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet roce [qps | flows] [OPTION]\n"
		    "  qps          rate limiters of queue pairs\n"
		    "  flows        directions of queue pairs known at a device\n"
		    "  -j, --json   print JSON\n");
}

int roce(int argc, char **argv)
{
	struct dump d = {
		.command = "roce", .name = ROCE_GENL_NAME, .module = "sch_roce",
		.version = ROCE_GENL_VERSION, .tables = tables, .count = COUNT(tables),
		.print_object = print_object,
	};

	return dump_run(&d, argc, argv, help);
}
