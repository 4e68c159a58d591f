// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink attributes with error messages that name attribute and range
 */
#include <closnet/netlink.h>

/**
 * closnet_nla_parse_nested() - parse strictly, with a message of each attribute
 * @tb: attributes by type, @maxtype + 1 of them
 * @maxtype: highest type
 * @nest: the attribute that holds them
 * @policy: their policy, by type
 * @messages: static text for a value out of range, by type: "limit must be 1 to
 *	65535 packets"; NULL: the kernel's "integer out of range"
 * @extack: error report
 *
 * Return: 0 or a negative error.
 */
int closnet_nla_parse_nested(struct nlattr **tb, int maxtype, const struct nlattr *nest,
			     const struct nla_policy *policy, const char * const *messages,
			     struct netlink_ext_ack *extack)
{
	int err = nla_parse_nested(tb, maxtype, nest, policy, extack);
	int type;

	if (err != -ERANGE || !extack || !extack->bad_attr || extack->bad_attr == nest)
		return err;
	type = nla_type(extack->bad_attr);
	if (type <= maxtype && messages[type])
		closnet_set_msg(extack, messages[type]);
	return err;
}
