/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Socket interface of NDP, a receiver-driven transport of messages (SIGCOMM'17)
 *
 *	socket(AF_INET or AF_INET6, SOCK_RDM or SOCK_SEQPACKET, IPPROTO_NDP)
 *
 * Structures grow only at their end. A program must not read more than the length
 * that getsockopt() returns.
 */
#ifndef _UAPI_LINUX_NDP_H
#define _UAPI_LINUX_NDP_H

#include <linux/types.h>

/*
 * For socket() only: on the wire, NDP runs over UDP. Like IPPROTO_MPTCP (262), the
 * number is outside of IANA's range, 0..255. No other protocol of AF_INET uses
 * SOCK_RDM. SCTP uses SOCK_SEQPACKET, with a protocol number of its own.
 */
#define IPPROTO_NDP	259
/* Level of socket options; the kernel's levels end at 287. */
#define SOL_NDP		400

#define NDP_MSG_MAX	((1ULL << 40) - 1)	/* bytes; minimum 1 */
#define NDP_PRIOS	8	/* SO_PRIORITY, 0..7; 7 is pulled first */
#define NDP_PATHS_MAX	256

#define NDP_WINDOW_MAX	1024	/* packets */
/* Shorter than receivers remember delivered messages, so none is delivered twice. */
#define NDP_TIMEOUT_MIN	1	/* ms */
#define NDP_TIMEOUT_MAX	5000

/**
 * enum - socket options, level SOL_NDP
 * @NDP_INFO: get: struct ndp_info
 * @NDP_INITIAL_WINDOW: u32, packets that a flow sends before its first PULL,
 *	1..1024; 0: use the namespace's sysctl
 * @NDP_TIMEOUT: u32, ms, 1..5000; 0: use the namespace's sysctl. A message fails
 *	with ETIMEDOUT if no packet about it arrives for that long
 * @NDP_REGION: set: u64, bytes of receive memory for mmap(), a multiple of the page
 *	size up to NDP_REGION_MAX; 0: remove it. If the region has space for a message
 *	when its first packet arrives, the message is placed there; recvmsg() returns
 *	NDP_CMSG_PLACED
 * @NDP_REGION_FREE: set: u64, offset of a placed message whose space is to be freed
 */
enum {
	NDP_INFO = 1,
	NDP_INITIAL_WINDOW,
	NDP_TIMEOUT,
	NDP_REGION,
	NDP_REGION_FREE,
};

#define NDP_REGION_MAX	(1U << 30)
/* Alignment of messages in the region, and unit of their space, in bytes */
#define NDP_REGION_UNIT	4096U

/**
 * enum - control data, level SOL_NDP
 * @NDP_CMSG_PART: recvmsg(): struct ndp_part, with each part of a message that is
 *	larger than the buffer
 * @NDP_CMSG_FAILED: recvmsg() with MSG_ERRQUEUE: struct ndp_failed; msg_name is the
 *	peer's address
 * @NDP_CMSG_PLACED: recvmsg(): struct ndp_placed; the whole message is in the region
 */
enum {
	NDP_CMSG_PART = 1,
	NDP_CMSG_FAILED,
	NDP_CMSG_PLACED,
};

/**
 * struct ndp_part - position of a part in its message
 * @msg: number of the message on this socket, from 1
 * @msg_bytes: length of the message
 * @offset_bytes: offset of this part in the message
 */
struct ndp_part {
	__u64 msg;
	__u64 msg_bytes;
	__u64 offset_bytes;
};

/**
 * struct ndp_failed - a message that failed
 * @msg: number of the call of sendmsg() on this socket, from 1
 * @error: ECONNREFUSED, EHOSTUNREACH, EMSGSIZE, ETIMEDOUT, ...
 * @reserved: 0
 */
struct ndp_failed {
	__u64 msg;
	__u32 error;
	__u32 reserved;
};

/**
 * struct ndp_placed - a message in the region
 * @msg: number of the message on this socket, from 1
 * @msg_bytes: length of the message
 * @offset_bytes: offset of the message in the region; argument of NDP_REGION_FREE
 */
struct ndp_placed {
	__u64 msg;
	__u64 msg_bytes;
	__u64 offset_bytes;
};

/**
 * struct ndp_info - state and counters of a socket
 * @peers: number of flows, sending and receiving
 * @flows_sending: flows with messages to send
 * @flows_receiving: flows with incomplete messages
 * @msgs_sending: messages not completely acknowledged
 * @msgs_sent: messages acknowledged completely
 * @msgs_failed: messages that failed
 * @msgs_receiving: incomplete messages
 * @msgs_received: messages received completely
 * @bytes_sent: payload bytes sent, without retransmissions
 * @bytes_received: payload bytes received, without duplicates
 * @packets_sent: data packets sent, with retransmissions
 * @packets_unasked: those sent without a PULL
 * @packets_rtx: retransmissions
 * @packets_rtx_timeout: packets that timed out
 * @acks_received: packets acknowledged
 * @nacks_received: data packets that were trimmed
 * @returned_received: data packets that a switch returned
 * @pulls_received: packets pulled by receivers
 * @probes_sent: PROBE packets sent
 * @packets_received: data packets received whole, without duplicates
 * @trimmed_received: data packets received trimmed
 * @duplicates_received: data packets received again
 * @pulls_sent: packets pulled from senders
 * @rtt_ns: smoothed round-trip time, the longest of all flows
 * @rtt_min_ns: shortest round trip to one of its peers, measured by any socket
 * @rto_ns: retransmission timeout with backoff, the longest of its sending flows
 * @paths: number of paths of its sending flows
 * @paths_avoided: paths avoided because of loss
 * @msgs_placed: messages received into the region, included in @msgs_received
 * @region_bytes: size of the region in bytes
 * @region_used: bytes of the region in use: messages being received or not freed
 */
struct ndp_info {
	__u64 peers;
	__u64 flows_sending;
	__u64 flows_receiving;
	__u64 msgs_sending;
	__u64 msgs_sent;
	__u64 msgs_failed;
	__u64 msgs_receiving;
	__u64 msgs_received;
	__u64 bytes_sent;
	__u64 bytes_received;
	__u64 packets_sent;
	__u64 packets_unasked;
	__u64 packets_rtx;
	__u64 packets_rtx_timeout;
	__u64 acks_received;
	__u64 nacks_received;
	__u64 returned_received;
	__u64 pulls_received;
	__u64 probes_sent;
	__u64 packets_received;
	__u64 trimmed_received;
	__u64 duplicates_received;
	__u64 pulls_sent;
	__u64 rtt_ns;
	__u64 rtt_min_ns;
	__u64 rto_ns;
	__u64 paths;
	__u64 paths_avoided;
	__u64 msgs_placed;
	__u64 region_bytes;
	__u64 region_used;
};

#endif /* _UAPI_LINUX_NDP_H */
