/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses in the trace events of the congestion controls
 */
#ifndef _CLOSNET_CC_TRACE_H
#define _CLOSNET_CC_TRACE_H

#include <linux/ipv6.h>
#include <net/inet_sock.h>
#include <trace/events/net_probe_common.h>

/* Store addresses and ports of a connection in the format of the kernel's tcp_probe. */
#define CLOSNET_CC_STORE_ADDRS(socket)					\
	do {								\
		const struct sock *_sk = (socket);			\
		const struct inet_sock *inet = inet_sk(_sk);		\
									\
		memset(__entry->saddr, 0, sizeof(struct sockaddr_in6));	\
		memset(__entry->daddr, 0, sizeof(struct sockaddr_in6));	\
		TP_STORE_ADDR_PORTS(__entry, inet, _sk);			\
	} while (0)

#endif /* _CLOSNET_CC_TRACE_H */
