// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a plug-in, q_KIND.so, into tc(8) as q_pfifo.so, so that a real tc and a real kernel without
 * sch_KIND carry its options and statistics. Built with -DPLUGIN=KIND_qdisc_util.
 *
 * tc prefers a plug-in to its built-in code. So "tc qdisc replace dev lo root pfifo OPTIONS" calls
 * this file: q_KIND.c parses the OPTIONS, the attributes are written to file $SHIM_ATTRS, and the
 * kernel gets a valid pfifo instead. "tc qdisc show" calls this file with pfifo's options, and
 * q_KIND.c prints the options in that file; or, if $SHIM_XSTATS is set, the statistics in file
 * $SHIM_XSTATS. The test can write these files itself.
 */
#include <stdlib.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>

#include "../../tools/tc/tc_plugin.h"
#include "shim_file.h"

static int shim_parse(const struct qdisc_util *qu, int argc, char **argv,
		      struct nlmsghdr *n, const char *dev)
{
	struct tc_fifo_qopt pfifo = { .limit = 7 };
	__u32 start = NLMSG_ALIGN(n->nlmsg_len);
	struct rtattr *options = (struct rtattr *)((char *)n + start);

	if (PLUGIN.parse_qopt(&PLUGIN, argc, argv, n, dev))
		return -1;
	if (options->rta_type != (TCA_OPTIONS | NLA_F_NESTED)) {
		fprintf(stderr, "plug-in sent no nested TCA_OPTIONS\n");
		return -1;
	}
	if (save(getenv("SHIM_ATTRS"), RTA_DATA(options), RTA_PAYLOAD(options)))
		return -1;
	n->nlmsg_len = start;
	return addattr_l(n, 1024, TCA_OPTIONS, &pfifo, sizeof(pfifo));
}

static int shim_print(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	const char *xstats = getenv("SHIM_XSTATS");

	if (xstats)
		return PLUGIN.print_xstats(&PLUGIN, f,
					   load(xstats, TCA_STATS_APP));
	return PLUGIN.print_qopt(&PLUGIN, f,
				 load(getenv("SHIM_ATTRS"), TCA_OPTIONS));
}

struct qdisc_util pfifo_qdisc_util PLUGIN_EXPORT = {
	.id = "pfifo",
	.parse_qopt = shim_parse,
	.print_qopt = shim_print,
};
