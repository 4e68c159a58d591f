/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of NDP: sockets, peers and flows of a network namespace, read-only
 *
 * Each command is a dump without attributes, with one message per object. Objects that appear
 * or disappear during the dump may be missing or duplicated. Programs must ignore unknown
 * attributes, in messages and in nests.
 */
#ifndef _UAPI_LINUX_NDP_NL_H
#define _UAPI_LINUX_NDP_NL_H

#define NDP_GENL_NAME	"closnet_ndp"
#define NDP_GENL_VERSION	1

/**
 * enum ndp_nl_cmd - commands
 * @NDP_NL_CMD_UNSPEC: unused
 * @NDP_NL_CMD_SOCKETS: bound sockets
 * @NDP_NL_CMD_PEERS: pairs of addresses, with their paths
 * @NDP_NL_CMD_SENDING: sending flows of local sockets
 * @NDP_NL_CMD_RECEIVING: receiving flows of local sockets
 */
enum ndp_nl_cmd {
	NDP_NL_CMD_UNSPEC,
	NDP_NL_CMD_SOCKETS,
	NDP_NL_CMD_PEERS,
	NDP_NL_CMD_SENDING,
	NDP_NL_CMD_RECEIVING,
	/* private: */
	__NDP_NL_CMD_MAX,
};

#define NDP_NL_CMD_MAX	(__NDP_NL_CMD_MAX - 1)

/**
 * enum ndp_nl_attr - attributes
 * @NDP_NL_A_UNSPEC: unused
 * @NDP_NL_A_PAD: for alignment
 * @NDP_NL_A_LOCAL: 16 times u8, local address, IPv4-mapped if IPv4; 0: any address
 * @NDP_NL_A_REMOTE: 16 times u8, the peer's address; sockets: only if connected
 * @NDP_NL_A_IFINDEX: u32, device of a link-local @NDP_NL_A_REMOTE; sockets: the device that
 *	the socket is bound to; otherwise absent
 * @NDP_NL_A_LOCAL_PORT: u32, host byte order
 * @NDP_NL_A_REMOTE_PORT: u32, host byte order
 * @NDP_NL_A_INODE: u64, sockets: inode number
 * @NDP_NL_A_INFO: nest of enum ndp_nl_info, sockets: counters
 * @NDP_NL_A_PATHS: u64, peers: number of paths
 * @NDP_NL_A_AVOIDED: u64, peers: number of paths avoided because of loss
 * @NDP_NL_A_PATH: nest of enum ndp_nl_path, peers: one per path
 * @NDP_NL_A_FLOW_ID: u32, flows: the sender's id of the flow; only with CAP_NET_ADMIN, because
 *	a program that knows it can forge packets of the flow
 * @NDP_NL_A_MSGS: u64, flows: messages in progress
 * @NDP_NL_A_UNSENT: u64, sending: packets not sent
 * @NDP_NL_A_FLIGHT: u64, sending: packets in flight
 * @NDP_NL_A_LOST: u64, sending: packets to be retransmitted
 * @NDP_NL_A_CREDIT: u64, sending: unused pulls, in packets
 * @NDP_NL_A_EXPECTED: u64, sending: pulls not received yet, in packets
 * @NDP_NL_A_WINDOW: u64, sending: packets that the receiver allows without a PULL
 * @NDP_NL_A_RTO_NS: u64, sending: retransmission timeout
 * @NDP_NL_A_RTT_NS: u64, sending: smoothed round-trip time, 0: not measured
 * @NDP_NL_A_RTT_MIN_NS: u64, sending: minimum round-trip time
 * @NDP_NL_A_PACKETS: u64, sending: packets sent, without retransmissions
 * @NDP_NL_A_RTX: u64, sending: retransmissions
 * @NDP_NL_A_TIMEOUTS: u64, sending: packets that timed out
 * @NDP_NL_A_TRIMMED: u64, flows: data packets that were trimmed
 * @NDP_NL_A_RETURNED: u64, sending: data packets that a switch returned
 * @NDP_NL_A_WISHED: u64, receiving: demand: packets that the sender requests to be pulled
 * @NDP_NL_A_HELD: u64, receiving: 1: not pulled, because receive memory is short
 * @NDP_NL_A_DEVICE: u64, receiving: index of the receiving device
 * @NDP_NL_A_IDLE_NS: u64, receiving: time since the last packet
 * @NDP_NL_A_ORDERED: u64, sockets: 1: SOCK_SEQPACKET
 * @NDP_NL_A_WAITING: u64, receiving, SOCK_SEQPACKET: messages received or in progress that
 *	were not read
 */
enum ndp_nl_attr {
	NDP_NL_A_UNSPEC,
	NDP_NL_A_PAD,
	NDP_NL_A_LOCAL,
	NDP_NL_A_REMOTE,
	NDP_NL_A_IFINDEX,
	NDP_NL_A_LOCAL_PORT,
	NDP_NL_A_REMOTE_PORT,
	NDP_NL_A_INODE,
	NDP_NL_A_INFO,
	NDP_NL_A_PATHS,
	NDP_NL_A_AVOIDED,
	NDP_NL_A_PATH,
	NDP_NL_A_FLOW_ID,
	NDP_NL_A_MSGS,
	NDP_NL_A_UNSENT,
	NDP_NL_A_FLIGHT,
	NDP_NL_A_LOST,
	NDP_NL_A_CREDIT,
	NDP_NL_A_EXPECTED,
	NDP_NL_A_WINDOW,
	NDP_NL_A_RTO_NS,
	NDP_NL_A_RTT_NS,
	NDP_NL_A_RTT_MIN_NS,
	NDP_NL_A_PACKETS,
	NDP_NL_A_RTX,
	NDP_NL_A_TIMEOUTS,
	NDP_NL_A_TRIMMED,
	NDP_NL_A_RETURNED,
	NDP_NL_A_WISHED,
	NDP_NL_A_HELD,
	NDP_NL_A_DEVICE,
	NDP_NL_A_IDLE_NS,
	NDP_NL_A_ORDERED,
	NDP_NL_A_WAITING,
	/* private: */
	__NDP_NL_A_MAX,
};

#define NDP_NL_A_MAX	(__NDP_NL_A_MAX - 1)

/**
 * enum ndp_nl_path - packets of a path by outcome, modulo 2^32
 * @NDP_NL_PATH_UNSPEC: unused
 * @NDP_NL_PATH_ACKED: u32, acknowledged
 * @NDP_NL_PATH_TRIMMED: u32, trimmed
 * @NDP_NL_PATH_RETURNED: u32, returned by a switch
 * @NDP_NL_PATH_LOST: u32, lost
 */
enum ndp_nl_path {
	NDP_NL_PATH_UNSPEC,
	NDP_NL_PATH_ACKED,
	NDP_NL_PATH_TRIMMED,
	NDP_NL_PATH_RETURNED,
	NDP_NL_PATH_LOST,
	/* private: */
	__NDP_NL_PATH_MAX,
};

#define NDP_NL_PATH_MAX	(__NDP_NL_PATH_MAX - 1)

/**
 * enum ndp_nl_info - counters of a socket, as in struct ndp_info
 * @NDP_NL_INFO_UNSPEC: unused
 * @NDP_NL_INFO_PAD: for alignment
 * @NDP_NL_INFO_PEERS: u64, number of flows, sending and receiving
 * @NDP_NL_INFO_FLOWS_SENDING: u64, flows with messages to send
 * @NDP_NL_INFO_FLOWS_RECEIVING: u64, flows with incomplete messages
 * @NDP_NL_INFO_MSGS_SENDING: u64, messages not completely acknowledged
 * @NDP_NL_INFO_MSGS_SENT: u64, messages acknowledged completely
 * @NDP_NL_INFO_MSGS_FAILED: u64, messages that failed
 * @NDP_NL_INFO_MSGS_RECEIVING: u64, incomplete messages
 * @NDP_NL_INFO_MSGS_RECEIVED: u64, messages received completely
 * @NDP_NL_INFO_BYTES_SENT: u64, payload bytes sent, without retransmissions
 * @NDP_NL_INFO_BYTES_RECEIVED: u64, payload bytes received, without duplicates
 * @NDP_NL_INFO_PACKETS_SENT: u64, data packets sent, with retransmissions
 * @NDP_NL_INFO_PACKETS_UNASKED: u64, those sent without a PULL
 * @NDP_NL_INFO_PACKETS_RTX: u64, retransmissions
 * @NDP_NL_INFO_PACKETS_RTX_TIMEOUT: u64, packets that timed out
 * @NDP_NL_INFO_ACKS_RECEIVED: u64, packets acknowledged
 * @NDP_NL_INFO_NACKS_RECEIVED: u64, data packets that were trimmed
 * @NDP_NL_INFO_RETURNED_RECEIVED: u64, data packets that a switch returned
 * @NDP_NL_INFO_PULLS_RECEIVED: u64, packets pulled by receivers
 * @NDP_NL_INFO_PROBES_SENT: u64, PROBE packets sent
 * @NDP_NL_INFO_PACKETS_RECEIVED: u64, data packets received whole, without duplicates
 * @NDP_NL_INFO_TRIMMED_RECEIVED: u64, data packets received trimmed
 * @NDP_NL_INFO_DUPLICATES_RECEIVED: u64, data packets received again
 * @NDP_NL_INFO_PULLS_SENT: u64, packets pulled from senders
 * @NDP_NL_INFO_RTT_NS: u64, smoothed round-trip time, the longest of all flows
 * @NDP_NL_INFO_RTT_MIN_NS: u64, minimum round-trip time
 * @NDP_NL_INFO_RTO_NS: u64, retransmission timeout with backoff, the longest of its sending
 *	flows
 * @NDP_NL_INFO_PATHS: u64, number of paths of its sending flows
 * @NDP_NL_INFO_PATHS_AVOIDED: u64, paths avoided because of loss
 * @NDP_NL_INFO_MSGS_PLACED: u64, messages received into the region, included in
 *	@NDP_NL_INFO_MSGS_RECEIVED
 * @NDP_NL_INFO_REGION_BYTES: u64, size of the region in bytes
 * @NDP_NL_INFO_REGION_USED: u64, bytes of the region in use: messages being received
 *	or not freed
 */
enum ndp_nl_info {
	NDP_NL_INFO_UNSPEC,
	NDP_NL_INFO_PAD,
	NDP_NL_INFO_PEERS,
	NDP_NL_INFO_FLOWS_SENDING,
	NDP_NL_INFO_FLOWS_RECEIVING,
	NDP_NL_INFO_MSGS_SENDING,
	NDP_NL_INFO_MSGS_SENT,
	NDP_NL_INFO_MSGS_FAILED,
	NDP_NL_INFO_MSGS_RECEIVING,
	NDP_NL_INFO_MSGS_RECEIVED,
	NDP_NL_INFO_BYTES_SENT,
	NDP_NL_INFO_BYTES_RECEIVED,
	NDP_NL_INFO_PACKETS_SENT,
	NDP_NL_INFO_PACKETS_UNASKED,
	NDP_NL_INFO_PACKETS_RTX,
	NDP_NL_INFO_PACKETS_RTX_TIMEOUT,
	NDP_NL_INFO_ACKS_RECEIVED,
	NDP_NL_INFO_NACKS_RECEIVED,
	NDP_NL_INFO_RETURNED_RECEIVED,
	NDP_NL_INFO_PULLS_RECEIVED,
	NDP_NL_INFO_PROBES_SENT,
	NDP_NL_INFO_PACKETS_RECEIVED,
	NDP_NL_INFO_TRIMMED_RECEIVED,
	NDP_NL_INFO_DUPLICATES_RECEIVED,
	NDP_NL_INFO_PULLS_SENT,
	NDP_NL_INFO_RTT_NS,
	NDP_NL_INFO_RTT_MIN_NS,
	NDP_NL_INFO_RTO_NS,
	NDP_NL_INFO_PATHS,
	NDP_NL_INFO_PATHS_AVOIDED,
	NDP_NL_INFO_MSGS_PLACED,
	NDP_NL_INFO_REGION_BYTES,
	NDP_NL_INFO_REGION_USED,
	/* private: */
	__NDP_NL_INFO_MAX,
};

#define NDP_NL_INFO_MAX	(__NDP_NL_INFO_MAX - 1)

#endif /* _UAPI_LINUX_NDP_NL_H */
