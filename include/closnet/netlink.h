/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink attributes with error messages that name attribute and range
 */
#ifndef _CLOSNET_NETLINK_H
#define _CLOSNET_NETLINK_H

#include <net/netlink.h>

/**
 * closnet_set_msg() - set the error message
 * @extack: error report, or NULL
 * @msg: static text
 */
static inline void closnet_set_msg(struct netlink_ext_ack *extack, const char *msg)
{
	if (extack)
		extack->_msg = msg;
}

int closnet_nla_parse_nested(struct nlattr **tb, int maxtype, const struct nlattr *nest,
			     const struct nla_policy *policy, const char * const *messages,
			     struct netlink_ext_ack *extack);
int closnet_nla_check(struct nlattr **tb, int maxtype, const struct nla_policy *policy,
		      const char * const *messages, struct netlink_ext_ack *extack);
bool closnet_nla_in_gap(const struct nlattr *attr, u64 min, const char * const *messages,
			struct netlink_ext_ack *extack);

#endif /* _CLOSNET_NETLINK_H */
