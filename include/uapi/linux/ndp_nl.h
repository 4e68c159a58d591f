/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of NDP: a network namespace's sockets, peers and flows, to be
 * looked at
 *
 * Each command is a dump without attributes, of one message for each. What comes and goes
 * meanwhile may be missing, or come twice. A reader ignores attributes that it does not know,
 * in messages and in nests: later kernels have more.
 */
#ifndef _UAPI_LINUX_NDP_NL_H
#define _UAPI_LINUX_NDP_NL_H

#define NDP_GENL_NAME	"closnet_ndp"
#define NDP_GENL_VERSION	1

/**
 * enum ndp_nl_cmd - commands
 * @NDP_NL_CMD_UNSPEC: unused
 * @NDP_NL_CMD_SOCKETS: sockets that have a port
 * @NDP_NL_CMD_PEERS: pairs of addresses, with their paths
 * @NDP_NL_CMD_SENDING: flows from our sockets
 * @NDP_NL_CMD_RECEIVING: flows to our sockets
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
 * @NDP_NL_A_LOCAL: 16 times u8, our address, IPv4 mapped; of sockets that take all, 0
 * @NDP_NL_A_REMOTE: 16 times u8, the peer's; of sockets, if they are connected
 * @NDP_NL_A_IFINDEX: u32, of a link-local @NDP_NL_A_REMOTE; of sockets, the device that they
 *	are bound to; else it is missing
 * @NDP_NL_A_LOCAL_PORT: u32, host byte order
 * @NDP_NL_A_REMOTE_PORT: u32, host byte order
 * @NDP_NL_A_INODE: u64, sockets
 * @NDP_NL_A_INFO: nest of enum ndp_nl_info, sockets
 * @NDP_NL_A_PATHS: u64, peers: paths
 * @NDP_NL_A_AVOIDED: u64, peers: of these, avoided since they lose packets
 * @NDP_NL_A_PATH: nest of enum ndp_nl_path, one for each path, peers
 * @NDP_NL_A_FLOW_ID: u32, flows: the sender's name; only with CAP_NET_ADMIN, as it lets forge
 *	packets of the flow
 * @NDP_NL_A_MSGS: u64, flows: messages that have begun and not ended
 * @NDP_NL_A_UNSENT: u64, sending: packets that were never sent
 * @NDP_NL_A_FLIGHT: u64, sending: packets on their way
 * @NDP_NL_A_LOST: u64, sending: packets to be sent again
 * @NDP_NL_A_CREDIT: u64, sending: pulls not used yet
 * @NDP_NL_A_EXPECTED: u64, sending: pulls that will come
 * @NDP_NL_A_WINDOW: u64, sending: packets that the receiver allows unasked
 * @NDP_NL_A_RTO_NS: u64, sending: timeout
 * @NDP_NL_A_RTT_NS: u64, sending: mean round-trip time, 0: none was measured
 * @NDP_NL_A_RTT_MIN_NS: u64, sending: least
 * @NDP_NL_A_PACKETS: u64, sending: packets sent, each once
 * @NDP_NL_A_RTX: u64, sending: packets sent again
 * @NDP_NL_A_TIMEOUTS: u64, sending: packets of which nothing was heard in time
 * @NDP_NL_A_TRIMMED: u64, flows: packets that were trimmed
 * @NDP_NL_A_RETURNED: u64, sending: packets that a switch sent back
 * @NDP_NL_A_WISHED: u64, receiving: packets that the sender wants to be pulled
 * @NDP_NL_A_HELD: u64, receiving: 1: not pulled, for want of memory
 * @NDP_NL_A_DEVICE: u64, receiving: index of the device by which it comes
 * @NDP_NL_A_IDLE_NS: u64, receiving: time since something came
 * @NDP_NL_A_ORDERED: u64, sockets: 1: SOCK_SEQPACKET
 * @NDP_NL_A_WAITING: u64, receiving, of SOCK_SEQPACKET: messages that have come, or begun to,
 *	and were not read
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
 * enum ndp_nl_path - what became of the packets that a path carried, modulo 2^32
 * @NDP_NL_PATH_UNSPEC: unused
 * @NDP_NL_PATH_ACKED: u32, acknowledged
 * @NDP_NL_PATH_TRIMMED: u32, trimmed
 * @NDP_NL_PATH_RETURNED: u32, sent back by a switch
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
 * enum ndp_nl_info - what a socket has done, as struct ndp_info
 * @NDP_NL_INFO_UNSPEC: unused
 * @NDP_NL_INFO_PAD: for alignment
 * @NDP_NL_INFO_PEERS: u64, flows: sockets it sends to, and those it receives from
 * @NDP_NL_INFO_FLOWS_SENDING: u64, flows that have something to send
 * @NDP_NL_INFO_FLOWS_RECEIVING: u64, flows of which something is missing
 * @NDP_NL_INFO_MSGS_SENDING: u64, messages not acknowledged whole
 * @NDP_NL_INFO_MSGS_SENT: u64, messages acknowledged whole
 * @NDP_NL_INFO_MSGS_FAILED: u64, messages given up
 * @NDP_NL_INFO_MSGS_RECEIVING: u64, messages of which something is missing
 * @NDP_NL_INFO_MSGS_RECEIVED: u64, messages that came whole
 * @NDP_NL_INFO_BYTES_SENT: u64, payload sent, each byte once
 * @NDP_NL_INFO_BYTES_RECEIVED: u64, payload that came, each byte once
 * @NDP_NL_INFO_PACKETS_SENT: u64, data packets, with retransmissions
 * @NDP_NL_INFO_PACKETS_UNASKED: u64, of those, sent without a PULL
 * @NDP_NL_INFO_PACKETS_RTX: u64, of those, retransmissions
 * @NDP_NL_INFO_PACKETS_RTX_TIMEOUT: u64, packets that timed out, and so are sent again
 * @NDP_NL_INFO_ACKS_RECEIVED: u64, packets acknowledged
 * @NDP_NL_INFO_NACKS_RECEIVED: u64, packets of which the payload was trimmed on the way
 * @NDP_NL_INFO_RETURNED_RECEIVED: u64, packets that a switch sent back
 * @NDP_NL_INFO_PULLS_RECEIVED: u64, packets asked for
 * @NDP_NL_INFO_PROBES_SENT: u64, PROBEs
 * @NDP_NL_INFO_PACKETS_RECEIVED: u64, data packets that came whole, and were new
 * @NDP_NL_INFO_TRIMMED_RECEIVED: u64, data packets that came without their payload
 * @NDP_NL_INFO_DUPLICATES_RECEIVED: u64, data packets that had come before
 * @NDP_NL_INFO_PULLS_SENT: u64, packets asked for
 * @NDP_NL_INFO_RTT_NS: u64, mean round-trip time, of late, of the flow of which it is longest
 * @NDP_NL_INFO_RTT_MIN_NS: u64, least round-trip time
 * @NDP_NL_INFO_RTO_NS: u64, retransmission timeout, the longest of the flows it sends; it
 *	doubles each time
 * @NDP_NL_INFO_PATHS: u64, paths of all flows it sends
 * @NDP_NL_INFO_PATHS_AVOIDED: u64, of those, avoided since they lose packets
 * @NDP_NL_INFO_MSGS_PLACED: u64, of @msgs_received, those that came in the region
 * @NDP_NL_INFO_REGION_BYTES: u64, size of the region
 * @NDP_NL_INFO_REGION_USED: u64, of these, taken by messages that come, or were not freed yet
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
