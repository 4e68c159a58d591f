/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the trace events of congestion controls share
 */
#ifndef _CC_TRACE_H
#define _CC_TRACE_H

#include <linux/ipv6.h>
#include <net/inet_sock.h>
#include <trace/events/net_probe_common.h>

/* A connection's addresses and ports, as the kernel's tcp_probe has them */
#define CC_STORE_ADDRS(of)						\
	do {								\
		const struct sock *_sk = (of);				\
		const struct inet_sock *inet = inet_sk(_sk);		\
									\
		memset(__entry->saddr, 0, sizeof(struct sockaddr_in6));	\
		memset(__entry->daddr, 0, sizeof(struct sockaddr_in6));	\
		TP_STORE_ADDR_PORTS(__entry, inet, _sk);			\
	} while (0)

#endif /* _CC_TRACE_H */
