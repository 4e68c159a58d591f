/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink attributes with error messages that say what is wanted
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

/**
 * closnet_nla_parse_nested() - parse strictly, and name what is out of range
 * @tb: attributes by their type, @maxtype + 1 of them
 * @maxtype: highest type
 * @nest: the attribute that holds them
 * @policy: their policy, by type
 * @wanted: what each may be, by type: "limit must be 1 to 65535 packets"
 * @extack: error report
 *
 * The kernel's own message is "integer out of range", whatever the attribute.
 * @wanted must be static: the message is read after the caller has returned.
 *
 * Return: 0 or a negative error.
 */
static inline int closnet_nla_parse_nested(struct nlattr **tb, int maxtype,
					   const struct nlattr *nest,
					   const struct nla_policy *policy,
					   const char * const *wanted,
					   struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(tb, maxtype, nest, policy, extack);
	int type;

	if (err != -ERANGE || !extack || !extack->bad_attr || extack->bad_attr == nest)
		return err;
	type = nla_type(extack->bad_attr);
	if (type <= maxtype && wanted[type])
		closnet_set_msg(extack, wanted[type]);
	return err;
}

#endif /* _CLOSNET_NETLINK_H */
