/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of NDP: a network namespace's sockets, peers and flows, to be
 * looked at
 *
 * Each command is a dump without attributes, of one message for each. What comes and goes
 * meanwhile may be missing, or come twice. Attributes only grow in number.
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
 * @NDP_NL_A_LOCAL_PORT: u16, host byte order
 * @NDP_NL_A_REMOTE_PORT: u16, host byte order
 * @NDP_NL_A_INODE: u64, sockets
 * @NDP_NL_A_INFO: 28 times u64, struct ndp_info, sockets
 * @NDP_NL_A_PATHS: u64, peers: paths
 * @NDP_NL_A_AVOIDED: u64, peers: of these, avoided since they lose packets
 * @NDP_NL_A_OUTCOMES: 4 times u32 for each path, peers: packets of which was heard: came,
 *	trimmed, returned, lost
 * @NDP_NL_A_FLOW_ID: u32, flows: the sender's name
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
	NDP_NL_A_OUTCOMES,
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

#endif /* _UAPI_LINUX_NDP_NL_H */
