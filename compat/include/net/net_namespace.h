/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_NET_NAMESPACE_H
#define _CLOSNET_COMPAT_NET_NET_NAMESPACE_H

#include_next <net/net_namespace.h>

/* register_net_sysctl_sz() is new in 6.6; before, a table ends with an empty entry. */
#ifndef CLOSNET_HAVE_REGISTER_NET_SYSCTL_SZ
static inline struct ctl_table_header *register_net_sysctl_sz(struct net *net, const char *path,
							      struct ctl_table *table,
							      size_t size)
{
	return register_net_sysctl(net, path, table);
}
#endif

#endif /* _CLOSNET_COMPAT_NET_NET_NAMESPACE_H */
