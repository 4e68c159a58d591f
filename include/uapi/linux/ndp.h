/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Socket interface of NDP, a receiver-driven transport of messages (SIGCOMM'17)
 *
 *	socket(AF_INET or AF_INET6, SOCK_RDM or SOCK_SEQPACKET, IPPROTO_NDP)
 *
 * Structures only grow at their end: a reader takes min(its size, the length that
 * getsockopt() says).
 */
#ifndef _UAPI_LINUX_NDP_H
#define _UAPI_LINUX_NDP_H

#include <linux/types.h>

/*
 * For socket(), never in a packet: there NDP is in UDP. Not of IANA's 0..255, like
 * IPPROTO_MPTCP, 262; of AF_INET's types of sockets nobody else has SOCK_RDM;
 * SOCK_SEQPACKET is SCTP's, too, but that is asked for by its own number.
 */
#define IPPROTO_NDP	261
/* Level of the options; the kernel's own end at 287. */
#define SOL_NDP		400

#define NDP_MSG_MAX	((1ULL << 40) - 1)	/* bytes; at least 1 */
#define NDP_PRIOS	8	/* SO_PRIORITY, 0..7; pulls of 7 go first */
#define NDP_PATHS_MAX	256

#define NDP_WINDOW_MAX	1024	/* packets */
/* Less than receivers remember what they have delivered: no message comes twice. */
#define NDP_TIMEOUT_MIN	1	/* ms */
#define NDP_TIMEOUT_MAX	5000

/**
 * enum - options of sockets, level SOL_NDP
 * @NDP_INFO: get: struct ndp_info
 * @NDP_INITIAL_WINDOW: u32, packets that a flow sends before its receiver asks for
 *	any, 1..1024; 0: as the network namespace has it
 * @NDP_TIMEOUT: u32, ms, 1..5000; 0: as the network namespace has it. A message
 *	of which nothing was heard for so long fails with ETIMEDOUT
 * @NDP_REGION: set: u64, bytes of memory, a multiple of the page size, up to
 *	NDP_REGION_MAX, for mmap(); 0: the socket is to have none. A message for which it
 *	has space when its first packet comes is placed there, with NDP_CMSG_PLACED
 * @NDP_REGION_FREE: set: u64, where a message is in the region that was placed, and
 *	whose space is not needed any more
 */
enum {
	NDP_INFO = 1,
	NDP_INITIAL_WINDOW,
	NDP_TIMEOUT,
	NDP_REGION,
	NDP_REGION_FREE,
};

#define NDP_REGION_MAX	(1U << 30)
/* Messages begin at a multiple of that, and take multiples of it. */
#define NDP_REGION_UNIT	4096U

/**
 * enum - control data, level SOL_NDP
 * @NDP_CMSG_PART: recvmsg(): struct ndp_part. It comes with each part of a message
 *	that did not fit whole
 * @NDP_CMSG_FAILED: recvmsg() with MSG_ERRQUEUE: struct ndp_failed; the address is that
 *	of the peer
 * @NDP_CMSG_PLACED: recvmsg(): struct ndp_placed: the message is in the region, all of it
 */
enum {
	NDP_CMSG_PART = 1,
	NDP_CMSG_FAILED,
	NDP_CMSG_PLACED,
};

/**
 * struct ndp_part - which part of which message it is
 * @msg: number of the message on this socket, from 1 on
 * @msg_bytes: its length
 * @offset_bytes: of this part in the message
 */
struct ndp_part {
	__u64 msg;
	__u64 msg_bytes;
	__u64 offset_bytes;
};

/**
 * struct ndp_failed - a message that did not arrive
 * @msg: its number: which call of sendmsg() on this socket it was, from 1 on
 * @error: ECONNREFUSED, EHOSTUNREACH, EMSGSIZE, ETIMEDOUT, ...
 * @reserved: 0
 */
struct ndp_failed {
	__u64 msg;
	__u32 error;
	__u32 reserved;
};

/**
 * struct ndp_placed - where a message is
 * @msg: number of the message on this socket, from 1 on
 * @msg_bytes: its length
 * @offset_bytes: of its begin in the region; for NDP_REGION_FREE
 */
struct ndp_placed {
	__u64 msg;
	__u64 msg_bytes;
	__u64 offset_bytes;
};

/**
 * struct ndp_info - a socket and what it has done
 * @peers: flows: sockets it sends to, and those it receives from
 * @flows_sending: flows that have something to send
 * @flows_receiving: flows of which something is missing
 * @msgs_sending: messages not acknowledged whole
 * @msgs_sent: messages acknowledged whole
 * @msgs_failed: messages given up
 * @msgs_receiving: messages of which something is missing
 * @msgs_received: messages that came whole
 * @bytes_sent: payload sent, each byte once
 * @bytes_received: payload that came, each byte once
 * @packets_sent: data packets, with retransmissions
 * @packets_unasked: of those, sent without a PULL
 * @packets_rtx: of those, retransmissions
 * @packets_rtx_timeout: packets that timed out, and so are sent again
 * @acks_received: packets acknowledged
 * @nacks_received: packets of which the payload was trimmed on the way
 * @returned_received: packets that a switch sent back
 * @pulls_received: packets asked for
 * @probes_sent: PROBEs
 * @packets_received: data packets that came whole, and were new
 * @trimmed_received: data packets that came without their payload
 * @duplicates_received: data packets that had come before
 * @pulls_sent: packets asked for
 * @rtt_ns: mean round-trip time, of late, of the flow of which it is longest
 * @rtt_min_ns: least round-trip time
 * @rto_ns: retransmission timeout, the longest of the flows it sends; it doubles each time
 * @paths: paths of all flows it sends
 * @paths_avoided: of those, avoided since they lose packets
 * @msgs_placed: of @msgs_received, those that came in the region
 * @region_bytes: size of the region
 * @region_used: of these, taken by messages that come, or were not freed yet
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
