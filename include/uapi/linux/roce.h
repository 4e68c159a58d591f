/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of sch_roce: rate limiters of queue pairs, and the
 * directions of queue pairs that are known at a device
 *
 * Programs must ignore unknown attributes. closnet(8) documents them.
 */
#ifndef _UAPI_LINUX_ROCE_H
#define _UAPI_LINUX_ROCE_H

#define ROCE_GENL_NAME		"closnet_roce"
#define ROCE_GENL_VERSION	1

/**
 * enum roce_cmd - commands; all are dumps that need CAP_NET_ADMIN in the namespace
 * @ROCE_CMD_UNSPEC: unused
 * @ROCE_CMD_QPS: rate limiters of all qdiscs of the namespace
 * @ROCE_CMD_FLOWS: directions of queue pairs at all devices of the namespace with a qdisc
 */
enum roce_cmd {
	ROCE_CMD_UNSPEC,
	ROCE_CMD_QPS,
	ROCE_CMD_FLOWS,
	/* private: */
	__ROCE_CMD_MAX,
};

#define ROCE_CMD_MAX	(__ROCE_CMD_MAX - 1)

/**
 * enum roce_attr - attributes
 * @ROCE_A_UNSPEC: unused
 * @ROCE_A_IFINDEX: u32, index of the device
 * @ROCE_A_HANDLE: u32, handle of the qdisc; with ROCE_CMD_QPS
 * @ROCE_A_SRC: 16 times u8, source address, IPv4 mapped
 * @ROCE_A_DST: 16 times u8, destination address, IPv4 mapped
 * @ROCE_A_QPN: u32, queue pair at the destination
 * @ROCE_A_PEER_QPN: u32, queue pair at the source; absent if it is unknown; with
 *	ROCE_CMD_FLOWS, as the next three
 * @ROCE_A_MARKED_PACKETS: u64, data packets received with CE
 * @ROCE_A_CNP_SENT: u64, CNPs sent for them
 * @ROCE_A_IDLE_NS: u64, time since the last packet
 * @ROCE_A_RATE_BPS: u64, current rate R_C, bytes per second; with ROCE_CMD_QPS, as all
 *	that follow
 * @ROCE_A_TARGET_BPS: u64, target rate R_T, bytes per second
 * @ROCE_A_ALPHA: u32, alpha in thousandths
 * @ROCE_A_TIMER_STAGE: u32, timer events since the last CNP
 * @ROCE_A_BYTE_STAGE: u32, byte counter events since the last CNP
 * @ROCE_A_QLEN_PACKETS: u64, packets queued
 * @ROCE_A_BACKLOG_BYTES: u64, bytes queued
 * @ROCE_A_SENT_PACKETS: u64, packets sent
 * @ROCE_A_SENT_BYTES: u64, bytes sent
 * @ROCE_A_DROPPED_PACKETS: u64, packets dropped because qp_limit was reached
 * @ROCE_A_CNP_HANDLED: u64, CNPs that cut the rate
 * @ROCE_A_PAD: for alignment
 */
enum roce_attr {
	ROCE_A_UNSPEC,
	ROCE_A_IFINDEX,
	ROCE_A_HANDLE,
	ROCE_A_SRC,
	ROCE_A_DST,
	ROCE_A_QPN,
	ROCE_A_PEER_QPN,
	ROCE_A_MARKED_PACKETS,
	ROCE_A_CNP_SENT,
	ROCE_A_IDLE_NS,
	ROCE_A_RATE_BPS,
	ROCE_A_TARGET_BPS,
	ROCE_A_ALPHA,
	ROCE_A_TIMER_STAGE,
	ROCE_A_BYTE_STAGE,
	ROCE_A_QLEN_PACKETS,
	ROCE_A_BACKLOG_BYTES,
	ROCE_A_SENT_PACKETS,
	ROCE_A_SENT_BYTES,
	ROCE_A_DROPPED_PACKETS,
	ROCE_A_CNP_HANDLED,
	ROCE_A_PAD,
	/* private: */
	__ROCE_A_MAX,
};

#define ROCE_A_MAX	(__ROCE_A_MAX - 1)

#endif /* _UAPI_LINUX_ROCE_H */
