/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of ip(8) for plug-ins of link types
 *
 * ip loads link_KIND.so from its plug-in directory, IP_LIB_DIR, and looks up the symbol
 * KIND_link_util.
 */
#ifndef _CLOSNET_IP_PLUGIN_H
#define _CLOSNET_IP_PLUGIN_H

#include "plugin.h"

/**
 * struct link_util - functions that ip calls in a plug-in
 * @next: ip's own list
 * @id: kind of the link
 * @maxattr: highest attribute of IFLA_INFO_DATA
 * @parse_opt: parse words of the command line into attributes; returns not 0
 *	after an error message
 * @print_opt: print the attributes, which may be NULL
 * @print_xstats: print IFLA_INFO_XSTATS
 * @print_help: print the help text
 * @parse_ifla_xstats: for "ip link xstats"
 * @print_ifla_xstats: for "ip link xstats"
 */
struct link_util {
	struct link_util *next;
	const char *id;
	int maxattr;
	int (*parse_opt)(struct link_util *lu, int argc, char **argv,
			 struct nlmsghdr *n);
	void (*print_opt)(struct link_util *lu, FILE *f, struct rtattr *tb[]);
	void (*print_xstats)(struct link_util *lu, FILE *f,
			     struct rtattr *xstats);
	void (*print_help)(struct link_util *lu, int argc, char **argv,
			   FILE *f);
	int (*parse_ifla_xstats)(struct link_util *lu, int argc, char **argv);
	int (*print_ifla_xstats)(struct nlmsghdr *n, void *arg);
};

/* ip looks up KIND_link_util */
extern struct link_util closfab_link_util PLUGIN_EXPORT;
extern struct link_util closwire_link_util PLUGIN_EXPORT;

/**
 * struct iplink_req - a request of ip; parse_opt() gets its start
 * @n: header of netlink
 * @i: header of rtnetlink
 * @buf: attributes
 */
struct iplink_req {
	struct nlmsghdr n;
	struct ifinfomsg i;
	char buf[1024];
};

/**
 * iplink_parse() - parse the options that every link has into attributes of @req
 * @argc: count of words
 * @argv: words
 * @req: request; its &struct ifinfomsg is written to as well
 * @type: set to the word after "type", which ends parsing
 *
 * Return: number of words parsed. Exits after an error.
 */
int iplink_parse(int argc, char **argv, struct iplink_req *req, char **type);

#endif /* _CLOSNET_IP_PLUGIN_H */
