// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads link_closwire.so into ip(8) as link_bridge.so, so that a real ip and a real kernel without
 * closwire carry closwire's settings
 *
 * Like shim.c: "ip link add w0 type bridge SETTINGS" calls this file. link_closwire.c parses the
 * SETTINGS, the attributes are written to file $CLOSWIRE_ATTRS, and the kernel gets a bridge
 * without settings. "ip -d link show" calls this file with a bridge's settings, and link_closwire.c
 * prints the settings in that file.
 */
#include <stdlib.h>

#include <linux/if_closwire.h>

#include "../../tools/tc/ip_plugin.h"
#include "shim_file.h"

static int shim_parse(struct link_util *lu, int argc, char **argv,
		      struct nlmsghdr *n)
{
	const struct ifinfomsg before = *(struct ifinfomsg *)NLMSG_DATA(n);
	__u32 start = NLMSG_ALIGN(n->nlmsg_len);

	if (closwire_link_util.parse_opt(&closwire_link_util, argc, argv, n))
		return -1;
	if (memcmp(&before, NLMSG_DATA(n), sizeof(before))) {
		fprintf(stderr, "plug-in did not restore the request's header\n");
		return -1;
	}
	if (save(getenv("CLOSWIRE_ATTRS"), (char *)n + start,
		 n->nlmsg_len - start))
		return -1;
	n->nlmsg_len = start;
	return 0;
}

static void shim_print(struct link_util *lu, FILE *f, struct rtattr *unused[])
{
	struct rtattr *attrs = load(getenv("CLOSWIRE_ATTRS"), IFLA_INFO_DATA);
	struct rtattr *tb[IFLA_CLOSWIRE_MAX + 1];

	if (attrs)
		parse_rtattr(tb, closwire_link_util.maxattr, RTA_DATA(attrs),
			     RTA_PAYLOAD(attrs));
	closwire_link_util.print_opt(&closwire_link_util, f, attrs ? tb : NULL);
}

struct link_util bridge_link_util PLUGIN_EXPORT = {
	.id = "bridge",
	.maxattr = IFLA_CLOSWIRE_MAX,
	.parse_opt = shim_parse,
	.print_opt = shim_print,
};
