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

/**
 * closnet_nla_check() - check parsed attributes, with a message of each attribute
 * @tb: attributes by type, @maxtype + 1 of them
 * @maxtype: highest type
 * @policy: their policy, by type
 * @messages: static text for a value out of range, by type
 * @extack: error report
 *
 * For attributes that the kernel has parsed without this policy.
 *
 * Return: 0 or a negative error.
 */
int closnet_nla_check(struct nlattr **tb, int maxtype, const struct nla_policy *policy,
		      const char * const *messages, struct netlink_ext_ack *extack)
{
	int err, type;

	for (type = 1; type <= maxtype; type++) {
		if (!tb[type])
			continue;
		err = nla_validate_deprecated(tb[type], tb[type]->nla_len, maxtype, policy, extack);
		if (err == -ERANGE && messages[type])
			closnet_set_msg(extack, messages[type]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * closnet_nla_in_gap() - refuse a number between 0 and a minimum
 * @attr: attribute, u32 or u64, or NULL
 * @min: smallest number above 0 that is allowed
 * @messages: static text for a value out of range, by type
 * @extack: error report
 *
 * A policy cannot describe a range of "0 or 64 to 1000".
 *
 * Return: whether the number is refused.
 */
bool closnet_nla_in_gap(const struct nlattr *attr, u64 min, const char * const *messages,
			struct netlink_ext_ack *extack)
{
	u64 value;

	if (!attr)
		return false;
	value = nla_len(attr) < sizeof(u64) ? nla_get_u32(attr) : nla_get_u64(attr);
	if (!value || value >= min)
		return false;
	NL_SET_BAD_ATTR(extack, attr);
	closnet_set_msg(extack, messages[nla_type(attr)]);
	return true;
}
