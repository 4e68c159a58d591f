/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_NETLINK_H
#define _CLOSNET_COMPAT_NET_NETLINK_H

#include_next <net/netlink.h>

/* In 6.1, the pointer to the range of a policy is not const. */
#ifndef CLOSNET_HAVE_CONST_RANGE
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, _range) {				\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),			\
	.validation_type = NLA_VALIDATE_RANGE_PTR,			\
	.range = (struct netlink_range_validation *)(_range),		\
}
#endif

/* new in 6.13 */
#ifndef CLOSNET_HAVE_NLA_GET_DEFAULT
#define closnet_nla_get_default(type)						\
static inline type nla_get_##type##_default(const struct nlattr *nla, type val)	\
{										\
	return nla ? nla_get_##type(nla) : val;					\
}

closnet_nla_get_default(u8)
closnet_nla_get_default(u16)
closnet_nla_get_default(u32)
closnet_nla_get_default(u64)
closnet_nla_get_default(s32)
closnet_nla_get_default(s64)
#endif

#endif /* _CLOSNET_COMPAT_NET_NETLINK_H */
