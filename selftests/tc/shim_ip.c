// SPDX-License-Identifier: GPL-2.0-only
/*
 * link_closwire.so in the clothes of link_bridge.so: lets a real ip(8) and a
 * real kernel without closwire carry the settings of closwire
 *
 * As shim.c: "ip link add w0 type bridge SETTINGS" comes here, link_closwire.c
 * reads the SETTINGS, the attributes go into the file $CLOSWIRE_ATTRS, and the
 * kernel gets a bridge without settings. "ip -d link show" comes here with a
 * bridge's settings, and link_closwire.c prints those of the file.
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
		fprintf(stderr, "the plug-in left another request's header\n");
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

struct link_util bridge_link_util = {
	.id = "bridge",
	.maxattr = IFLA_CLOSWIRE_MAX,
	.parse_opt = shim_parse,
	.print_opt = shim_print,
};
