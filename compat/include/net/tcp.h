/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CLOSNET_COMPAT_NET_TCP_H
#define _CLOSNET_COMPAT_NET_TCP_H

#include_next <net/tcp.h>

/* Since 6.10, cong_control() receives the ACK's sequence number and flags. */
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

/* In 7.x, an operation replaces event CA_EVENT_TX_START of cwnd_event(). */
#ifdef CLOSNET_HAVE_CWND_EVENT_TX_START

#define CLOSNET_CWND_EVENT(function, tx_start)
#define CLOSNET_CWND_EVENT_OPS(function, tx_start) \
	.cwnd_event = function,			   \
	.cwnd_event_tx_start = tx_start

#define CLOSNET_TX_START(function)
#define CLOSNET_TX_START_OPS(function) \
	.cwnd_event_tx_start = function

#else

#define CLOSNET_CWND_EVENT(function, tx_start)				\
static void function##_compat(struct sock *sk, enum tcp_ca_event event)	\
{									\
	if (event == CA_EVENT_TX_START)					\
		tx_start(sk);						\
	else								\
		function(sk, event);					\
}

#define CLOSNET_CWND_EVENT_OPS(function, tx_start) \
	.cwnd_event = function##_compat

/* for congestion controls that use no other event */
#define CLOSNET_TX_START(function)					\
static void function##_compat(struct sock *sk, enum tcp_ca_event event)	\
{									\
	if (event == CA_EVENT_TX_START)					\
		function(sk);						\
}

#define CLOSNET_TX_START_OPS(function) \
	.cwnd_event = function##_compat

#endif /* CLOSNET_HAVE_CWND_EVENT_TX_START */

/* The flags are new in 6.12-stable. */
static inline void closnet_tcp_send_ack(struct sock *sk)
{
#ifdef CLOSNET_HAVE_TCP_SEND_ACK_FLAGS
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt, 0);
#else
	__tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
#endif
}

/* Accurate ECN is new in 7.0; TCP_ECN_OK is then one of two modes. */
static inline bool closnet_tcp_ecn(const struct tcp_sock *tp)
{
#ifdef CLOSNET_HAVE_TCP_ACCECN
	return tcp_ecn_mode_any(tp);
#else
	return tp->ecn_flags & TCP_ECN_OK;
#endif
}

static inline bool closnet_tcp_accecn(const struct tcp_sock *tp)
{
#ifdef CLOSNET_HAVE_TCP_ACCECN
	return tcp_ecn_mode_accecn(tp);
#else
	return false;
#endif
}

/* Timestamps in microseconds are new in 6.7. */
static inline bool closnet_tcp_usec_ts(const struct tcp_sock *tp)
{
#ifdef CLOSNET_HAVE_TCP_USEC_TS
	return tp->tcp_usec_ts;
#else
	return false;
#endif
}

#endif /* _CLOSNET_COMPAT_NET_TCP_H */
