/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_FLOW_H
#define _CLOSNET_COMPAT_NET_FLOW_H

#include_next <net/flow.h>
#include <net/inet_dscp.h>

/* Set the traffic class of a route lookup, as the kernel's input routing does. */
static inline void closnet_flowi4_set_tos(struct flowi4 *fl4, u8 tos)
{
#if defined(CLOSNET_HAVE_FLOWI4_DSCP)
	fl4->flowi4_dscp = inet_dsfield_to_dscp(tos);
#elif defined(CLOSNET_HAVE_FIB_DSCP_MASKED_MATCH)
	fl4->flowi4_tos = tos & INET_DSCP_MASK;
#else
	fl4->flowi4_tos = tos & 0x1c;	/* IPTOS_RT_MASK */
#endif
}

#endif /* _CLOSNET_COMPAT_NET_FLOW_H */
