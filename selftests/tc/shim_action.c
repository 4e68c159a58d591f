// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the plug-in of an action, m_KIND.so, into tc(8) as q_pfifo.so, as shim.c does it for
 * plug-ins of qdiscs. Built with -DPLUGIN=KIND_action_util.
 *
 * "tc qdisc replace dev lo root pfifo OPTIONS" sends the words OPTIONS through m_KIND.c, as behind
 * "action KIND"; "tc -s qdisc show" prints the attributes in file $SHIM_ATTRS with statistics.
 */
#include <stdlib.h>
#include <linux/pkt_sched.h>

#include "../../tools/tc/tc_plugin.h"
#include "shim_file.h"

static int shim_parse(const struct qdisc_util *qu, int argc, char **argv,
		      struct nlmsghdr *n, const char *dev)
{
	struct tc_fifo_qopt pfifo = { .limit = 7 };
	__u32 start = NLMSG_ALIGN(n->nlmsg_len);
	struct rtattr *options = (struct rtattr *)((char *)n + start);

	/* the word before the options is the kind */
	argc++;
	argv--;
	if (PLUGIN.parse_aopt(&PLUGIN, &argc, &argv, TCA_OPTIONS, n))
		return -1;
	if (argc > 0) {
		fprintf(stderr, "left to tc: \"%s\"\n", *argv);
		return -1;
	}
	if (options->rta_type != (TCA_OPTIONS | NLA_F_NESTED)) {
		fprintf(stderr, "plug-in sent no nested options\n");
		return -1;
	}
	if (save(getenv("SHIM_ATTRS"), RTA_DATA(options), RTA_PAYLOAD(options)))
		return -1;
	n->nlmsg_len = start;
	return addattr_l(n, 1024, TCA_OPTIONS, &pfifo, sizeof(pfifo));
}

static int shim_print(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	return PLUGIN.print_aopt(&PLUGIN, f, load(getenv("SHIM_ATTRS"), TCA_OPTIONS));
}

struct qdisc_util pfifo_qdisc_util PLUGIN_EXPORT = {
	.id = "pfifo",
	.parse_qopt = shim_parse,
	.print_qopt = shim_print,
};
