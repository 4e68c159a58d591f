/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of PCRP's central statistics unit: sizes of the flows
 * that ended in a network namespace, and the thresholds derived from them
 *
 * Programs must ignore unknown attributes. closnet(8) documents units and ranges.
 */
#ifndef _UAPI_LINUX_PCRP_H
#define _UAPI_LINUX_PCRP_H

#define PCRP_GENL_NAME		"closnet_pcrp"
#define PCRP_GENL_VERSION	1

/* Class I: flows of 2^(I-1) to 2^I - 1 bytes; the last class has no upper limit. */
#define PCRP_SIZE_CLASSES	42
#define PCRP_THRESHOLDS		3

/**
 * enum pcrp_cmd - commands
 * @PCRP_CMD_UNSPEC: unused
 * @PCRP_CMD_GET: no attribute; the reply has all of them
 * @PCRP_CMD_SET: PCRP_A_THRESHOLDS; CAP_NET_ADMIN in the namespace
 * @PCRP_CMD_RESET: no attribute; restore the qdiscs' default thresholds;
 *	CAP_NET_ADMIN in the namespace
 */
enum pcrp_cmd {
	PCRP_CMD_UNSPEC,
	PCRP_CMD_GET,
	PCRP_CMD_SET,
	PCRP_CMD_RESET,
	/* private: */
	__PCRP_CMD_MAX,
};

#define PCRP_CMD_MAX	(__PCRP_CMD_MAX - 1)

/**
 * enum pcrp_attr - attributes
 * @PCRP_A_UNSPEC: unused
 * @PCRP_A_SIZE: nest, enum pcrp_size_attr, one per class with ended flows. The sender
 *	counts flows of one chain, which the receiver does not know; the receiver counts longer
 *	flows
 * @PCRP_A_BYTES: u64, sum of the bytes of ended flows
 * @PCRP_A_THRESHOLDS: nest, enum pcrp_threshold_attr. Absent in a reply: each qdisc
 *	uses its defaults, a quarter of a chain, a chain, and four chains
 * @PCRP_A_UPDATES: u32, number of times that thresholds were set or reset
 * @PCRP_A_PAD: for alignment
 */
enum pcrp_attr {
	PCRP_A_UNSPEC,
	PCRP_A_SIZE,
	PCRP_A_BYTES,
	PCRP_A_THRESHOLDS,
	PCRP_A_UPDATES,
	PCRP_A_PAD,
	/* private: */
	__PCRP_A_MAX,
};

#define PCRP_A_MAX	(__PCRP_A_MAX - 1)

/**
 * enum pcrp_size_attr - flows of a size class
 * @PCRP_A_SIZE_UNSPEC: unused
 * @PCRP_A_SIZE_CLASS: u32, the class, less than PCRP_SIZE_CLASSES
 * @PCRP_A_SIZE_FLOWS: u64, flows that ended
 * @PCRP_A_SIZE_PAD: for alignment
 */
enum pcrp_size_attr {
	PCRP_A_SIZE_UNSPEC,
	PCRP_A_SIZE_CLASS,
	PCRP_A_SIZE_FLOWS,
	PCRP_A_SIZE_PAD,
	/* private: */
	__PCRP_A_SIZE_MAX,
};

#define PCRP_A_SIZE_MAX	(__PCRP_A_SIZE_MAX - 1)

/**
 * enum pcrp_threshold_attr - largest flow size of a priority of first chains, in bytes
 * @PCRP_A_THRESHOLD_UNSPEC: unused
 * @PCRP_A_THRESHOLD_P0: u64, P0
 * @PCRP_A_THRESHOLD_P1: u64, P1; at least P0's
 * @PCRP_A_THRESHOLD_P2: u64, P2; at least P1's
 * @PCRP_A_THRESHOLD_PAD: for alignment
 */
enum pcrp_threshold_attr {
	PCRP_A_THRESHOLD_UNSPEC,
	PCRP_A_THRESHOLD_P0,
	PCRP_A_THRESHOLD_P1,
	PCRP_A_THRESHOLD_P2,
	PCRP_A_THRESHOLD_PAD,
	/* private: */
	__PCRP_A_THRESHOLD_MAX,
};

#define PCRP_A_THRESHOLD_MAX	(__PCRP_A_THRESHOLD_MAX - 1)

#endif /* _UAPI_LINUX_PCRP_H */
