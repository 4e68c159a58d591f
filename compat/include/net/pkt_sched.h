/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_PKT_SCHED_H
#define _CLOSNET_COMPAT_NET_PKT_SCHED_H

#include_next <net/pkt_sched.h>

/* Kernels without the macro load a qdisc by the name of its module, as in sch_ndp. */
#ifndef MODULE_ALIAS_NET_SCH
#define MODULE_ALIAS_NET_SCH(id)	MODULE_ALIAS("net-sch-" id)
#endif

#endif /* _CLOSNET_COMPAT_NET_PKT_SCHED_H */
