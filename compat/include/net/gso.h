/* SPDX-License-Identifier: GPL-2.0-only */
/* <net/gso.h> is new in 6.5; before, its content was in netdevice.h. */
#ifndef _CLOSNET_COMPAT_NET_GSO_H
#define _CLOSNET_COMPAT_NET_GSO_H

#ifdef CLOSNET_HAVE_NET_GSO_H
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* _CLOSNET_COMPAT_NET_GSO_H */
