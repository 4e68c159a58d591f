// SPDX-License-Identifier: GPL-2.0-only
/*
 * nf_drop: a netfilter chain that drops all packets
 *
 * nf_drop [-n NS] 4|6|DEV HOOK
 *	Adds a chain with policy drop at a hook of IPv4 or IPv6 (prerouting, forward or
 *	postrouting), or at the ingress of a device. Prints "ready"; the kernel removes
 *	the chain when the program ends.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/rtnl.h"

#define TABLE "nf_drop"

static struct nlmsghdr *put(struct mnl_nlmsg_batch *batch, uint16_t type, uint16_t flags,
			    uint8_t family, uint16_t subsystem)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(mnl_nlmsg_batch_current(batch));
	struct nfgenmsg *nfg;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = 1;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = family;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(subsystem);
	return nlh;
}

static void put_chain(struct nlmsghdr *nlh, uint32_t hook, const char *dev)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, TABLE);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, "drop");
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, "filter");
	mnl_attr_put_u32(nlh, NFTA_CHAIN_POLICY, htonl(NF_DROP));
	nest = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	mnl_attr_put_u32(nlh, NFTA_HOOK_HOOKNUM, htonl(hook));
	mnl_attr_put_u32(nlh, NFTA_HOOK_PRIORITY, 0);
	if (dev)
		mnl_attr_put_strz(nlh, NFTA_HOOK_DEV, dev);
	mnl_attr_nest_end(nlh, nest);
}

static uint32_t hook_number(const char *name)
{
	if (!strcmp(name, "prerouting"))
		return NF_INET_PRE_ROUTING;
	if (!strcmp(name, "forward"))
		return NF_INET_FORWARD;
	if (!strcmp(name, "postrouting"))
		return NF_INET_POST_ROUTING;
	if (!strcmp(name, "ingress"))
		return NF_NETDEV_INGRESS;
	errx(2, "unknown hook \"%s\"", name);
}

static void add_chain(uint8_t family, uint32_t hook, const char *dev)
{
	char buf[8192];
	struct mnl_nlmsg_batch *batch = mnl_nlmsg_batch_start(buf, sizeof(buf));
	struct mnl_socket *nf = mnl_socket_open(NETLINK_NETFILTER);
	struct nlmsghdr *nlh;
	ssize_t n;

	if (!nf || mnl_socket_bind(nf, 0, MNL_SOCKET_AUTOPID) < 0)
		err(2, "netlink socket");
	put(batch, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	mnl_nlmsg_batch_next(batch);
	nlh = put(batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE, NLM_F_CREATE, family, 0);
	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, TABLE);
	mnl_attr_put_u32(nlh, NFTA_TABLE_FLAGS, htonl(NFT_TABLE_F_OWNER));
	mnl_nlmsg_batch_next(batch);
	nlh = put(batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_ACK,
		  family, 0);
	put_chain(nlh, hook, dev);
	mnl_nlmsg_batch_next(batch);
	put(batch, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	mnl_nlmsg_batch_next(batch);
	if (mnl_socket_sendto(nf, buf, mnl_nlmsg_batch_size(batch)) < 0)
		err(2, "netlink send");
	n = mnl_socket_recvfrom(nf, buf, sizeof(buf));
	if (n < 0 || mnl_cb_run(buf, (size_t)n, 1, mnl_socket_get_portid(nf), NULL, NULL) < 0)
		err(1, "cannot add the chain");
}

int main(int argc, char **argv)
{
	const char *where, *dev = NULL;
	uint8_t family;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) == 'n')
		enter_ns(optarg);
	if (argc != optind + 2)
		errx(2, "usage: nf_drop [-n NS] 4|6|DEV HOOK");
	where = argv[optind];
	if (!strcmp(where, "4")) {
		family = NFPROTO_IPV4;
	} else if (!strcmp(where, "6")) {
		family = NFPROTO_IPV6;
	} else {
		family = NFPROTO_NETDEV;
		dev = where;
	}
	add_chain(family, hook_number(argv[optind + 1]), dev);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
