/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_SOCK_H
#define _CLOSNET_COMPAT_NET_SOCK_H

#include_next <net/sock.h>

/* Since 6.6, a protocol sets the offset of ipv6_pinfo; before, it was at the end. */
static inline void closnet_set_ipv6_pinfo_offset(struct proto *prot, unsigned int offset)
{
#ifdef CLOSNET_HAVE_IPV6_PINFO_OFFSET
	prot->ipv6_pinfo_offset = offset;
#endif
}

#endif /* _CLOSNET_COMPAT_NET_SOCK_H */
