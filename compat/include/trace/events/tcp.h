/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_TRACE_EVENTS_TCP_H
#define _CLOSNET_COMPAT_TRACE_EVENTS_TCP_H

#include_next <trace/events/tcp.h>

/* Packet argument of a tcp_probe handler, const in 7.x */
#ifdef CLOSNET_HAVE_TCP_PROBE_CONST
typedef const struct sk_buff closnet_tcp_probe_skb;
#else
typedef struct sk_buff closnet_tcp_probe_skb;
#endif

#endif /* _CLOSNET_COMPAT_TRACE_EVENTS_TCP_H */
