/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_TCP_H
#define _CLOSNET_COMPAT_NET_TCP_H

#include_next <net/tcp.h>

/* cong_control() got the ACK's number and flags with 6.10. */
#ifdef CLOSNET_HAVE_CONG_CONTROL_ACK

#define CLOSNET_CONG_CONTROL(function)
#define CLOSNET_CONG_CONTROL_OPS(function) \
	.cong_control = function

#else

#define CLOSNET_CONG_CONTROL(function)					\
static void function##_compat(struct sock *sk, const struct rate_sample *rs) \
{									\
	function(sk, 0, 0, rs);						\
}

#define CLOSNET_CONG_CONTROL_OPS(function) \
	.cong_control = function##_compat

#endif /* CLOSNET_HAVE_CONG_CONTROL_ACK */

/* Time stamps in microseconds came with 6.7. */
static inline bool closnet_tcp_usec_ts(const struct tcp_sock *tp)
{
#ifdef CLOSNET_HAVE_TCP_USEC_TS
	return tp->tcp_usec_ts;
#else
	return false;
#endif
}

#endif /* _CLOSNET_COMPAT_NET_TCP_H */
