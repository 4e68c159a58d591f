/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family of closfab: peers and flow buckets of the devices in a network namespace
 *
 * Both commands are dumps, and require CAP_NET_ADMIN in the namespace. Addresses are IPv6 ones;
 * IPv4 is mapped. Numbers are in host byte order.
 */
#ifndef _UAPI_LINUX_CLOSFAB_H
#define _UAPI_LINUX_CLOSFAB_H

#define CLOSFAB_GENL_NAME	"closnet_fab"
#define CLOSFAB_GENL_VERSION	1

/**
 * enum closfab_cmd - commands
 * @CLOSFAB_CMD_UNSPEC: unused
 * @CLOSFAB_CMD_PEERS: dump the peers
 * @CLOSFAB_CMD_FLOWS: dump the flow buckets that come from the peers
 */
enum closfab_cmd {
	CLOSFAB_CMD_UNSPEC,
	CLOSFAB_CMD_PEERS,
	CLOSFAB_CMD_FLOWS,
	/* private: */
	__CLOSFAB_CMD_MAX,
};

#define CLOSFAB_CMD_MAX	(__CLOSFAB_CMD_MAX - 1)

/**
 * enum closfab_attr - attributes
 * @CLOSFAB_A_UNSPEC: unused
 * @CLOSFAB_A_IFINDEX: u32, index of the device
 * @CLOSFAB_A_PEER: 16 times u8, address of the peer
 * @CLOSFAB_A_PATHS: u32, next hops to the peer; with CLOSFAB_CMD_PEERS, as the next four
 * @CLOSFAB_A_RTT_NS: u32, base RTT to the peer; 0: not measured
 * @CLOSFAB_A_SKEW_NS: u32, skew of the paths from the peer; 0: not measured
 * @CLOSFAB_A_WAIT_NS: u32, how long packets wait for a missing one
 * @CLOSFAB_A_IDLE_MS: u32, time since the last packet
 * @CLOSFAB_A_BUCKET: u32, number of the bucket; with CLOSFAB_CMD_FLOWS, as all that follow
 * @CLOSFAB_A_INSTANCE: u32, instance of the numbers
 * @CLOSFAB_A_NEXT: u32, next sequence number
 * @CLOSFAB_A_EPOCH: u32, epoch of ConWeave
 * @CLOSFAB_A_HELD_PACKETS: u32, packets that are held
 * @CLOSFAB_A_HELD_BYTES: u32, their memory
 */
enum closfab_attr {
	CLOSFAB_A_UNSPEC,
	CLOSFAB_A_IFINDEX,
	CLOSFAB_A_PEER,
	CLOSFAB_A_PATHS,
	CLOSFAB_A_RTT_NS,
	CLOSFAB_A_SKEW_NS,
	CLOSFAB_A_WAIT_NS,
	CLOSFAB_A_IDLE_MS,
	CLOSFAB_A_BUCKET,
	CLOSFAB_A_INSTANCE,
	CLOSFAB_A_NEXT,
	CLOSFAB_A_EPOCH,
	CLOSFAB_A_HELD_PACKETS,
	CLOSFAB_A_HELD_BYTES,
	/* private: */
	__CLOSFAB_A_MAX,
};

#define CLOSFAB_A_MAX	(__CLOSFAB_A_MAX - 1)

#endif /* _UAPI_LINUX_CLOSFAB_H */
