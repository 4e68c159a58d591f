// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_ndp.so in the clothes of q_pfifo.so: lets a real tc(8) and a real kernel
 * without sch_ndp carry the options and statistics of ndp
 *
 * tc takes a plug-in over the code that it has built in. So "tc qdisc replace
 * dev lo root pfifo OPTIONS" comes here: q_ndp.c reads the OPTIONS, the
 * attributes go into the file $NDP_ATTRS, and the kernel gets a valid pfifo
 * instead. "tc qdisc show" comes here with pfifo's options, and q_ndp.c prints
 * those of the file; or, if $NDP_XSTATS is set, the statistics that are in that
 * file. The test makes these files as it likes.
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

	if (ndp_qdisc_util.parse_qopt(&ndp_qdisc_util, argc, argv, n, dev))
		return -1;
	if (options->rta_type != (TCA_OPTIONS | NLA_F_NESTED)) {
		fprintf(stderr, "the plug-in sent no nested TCA_OPTIONS\n");
		return -1;
	}
	if (save(getenv("NDP_ATTRS"), RTA_DATA(options), RTA_PAYLOAD(options)))
		return -1;
	n->nlmsg_len = start;
	return addattr_l(n, 1024, TCA_OPTIONS, &pfifo, sizeof(pfifo));
}

static int shim_print(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	const char *xstats = getenv("NDP_XSTATS");

	if (xstats)
		return ndp_qdisc_util.print_xstats(&ndp_qdisc_util, f,
						   load(xstats, TCA_STATS_APP));
	return ndp_qdisc_util.print_qopt(&ndp_qdisc_util, f,
					 load(getenv("NDP_ATTRS"), TCA_OPTIONS));
}

struct qdisc_util pfifo_qdisc_util = {
	.id = "pfifo",
	.parse_qopt = shim_parse,
	.print_qopt = shim_print,
};
