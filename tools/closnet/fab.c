// SPDX-License-Identifier: GPL-2.0-only
/*
 * closnet fab: print the peers of closfab's devices, and the flow buckets that come from them
 */
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/closfab.h>
#include <linux/genetlink.h>

#include "closnet.h"
#include "dump.h"

static const struct dump_table tables[] = {
	{ "peers", CLOSFAB_CMD_PEERS },
	{ "flows", CLOSFAB_CMD_FLOWS },
};

/* Numeric attributes; text output omits zeros */
static const struct dump_field numbers[CLOSFAB_A_MAX + 1] = {
	[CLOSFAB_A_IFINDEX] = { "ifindex", 4, true },
	[CLOSFAB_A_PATHS] = { "paths", 4, true },
	[CLOSFAB_A_RTT_NS] = { "rtt_ns", 4, false },
	[CLOSFAB_A_SKEW_NS] = { "skew_ns", 4, false },
	[CLOSFAB_A_WAIT_NS] = { "wait_ns", 4, true },
	[CLOSFAB_A_IDLE_MS] = { "idle_ms", 4, true },
	[CLOSFAB_A_BUCKET] = { "bucket", 4, true },
	[CLOSFAB_A_INSTANCE] = { "instance", 4, false },
	[CLOSFAB_A_NEXT] = { "next", 4, false },
	[CLOSFAB_A_EPOCH] = { "epoch", 4, false },
	[CLOSFAB_A_HELD_PACKETS] = { "held_packets", 4, true },
	[CLOSFAB_A_HELD_BYTES] = { "held_bytes", 4, false },
};

static int print_attr(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (type == CLOSFAB_A_PEER)
		dump_address(data, "peer", attr);
	else if (type <= CLOSFAB_A_MAX)
		dump_attr(data, &numbers[type], attr);
	return MNL_CB_OK;
}

static void print_object(struct dump *d, const struct nlmsghdr *nlh)
{
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), print_attr, d);
}

static void help(FILE *to)
{
	fprintf(to, "Usage: closnet fab [peers | flows] [OPTION]\n"
		    "  peers        other leaves: paths to them, base RTT, skew of the paths from them\n"
		    "  flows        flow buckets that come from them, with the packets that wait\n"
		    "  -j, --json   print JSON\n");
}

int fab(int argc, char **argv)
{
	struct dump d = {
		.command = "fab", .name = CLOSFAB_GENL_NAME, .module = "closfab",
		.version = CLOSFAB_GENL_VERSION, .tables = tables, .count = COUNT(tables),
		.print_object = print_object,
	};

	return dump_run(&d, argc, argv, help);
}
