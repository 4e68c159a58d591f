/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink interface of PCRP's central statistics unit: sizes of the flows
 * that a network namespace has seen end, and the thresholds made of them
 */
#ifndef _UAPI_LINUX_PCRP_H
#define _UAPI_LINUX_PCRP_H

#define PCRP_GENL_NAME		"closnet_pcrp"
#define PCRP_GENL_VERSION	1

/* Class I holds flows of 2^(I-1) up to 2^I - 1 bytes; the last one longer ones, too. */
#define PCRP_SIZE_CLASSES	42
#define PCRP_THRESHOLDS		3
#define PCRP_THRESHOLD_MAX	(1ULL << 40)

/**
 * enum pcrp_cmd - commands
 * @PCRP_CMD_UNSPEC: unused
 * @PCRP_CMD_GET: no attribute; the answer has all of them
 * @PCRP_CMD_SET: PCRP_A_THRESHOLDS; CAP_NET_ADMIN in the namespace
 * @PCRP_CMD_RESET: no attribute: the kernel's own thresholds again;
 *	CAP_NET_ADMIN
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
 * @PCRP_A_SIZES: 42 times u64, flows that ended, by class of size. Those of one
 *	chain are counted by their sender, whose receiver never hears of them, longer
 *	ones by their receiver
 * @PCRP_A_BYTES: u64, bytes of all of them
 * @PCRP_A_THRESHOLDS: 3 times u64, sizes in bytes up to which a flow's first chain
 *	has P0, P1, P2; ascending, 1..2^40. Absent in an answer: each qdisc has
 *	its own, a quarter of a chain, a chain, and four chains
 * @PCRP_A_UPDATES: u32, times that thresholds were set or reset
 * @PCRP_A_PAD: for alignment
 */
enum pcrp_attr {
	PCRP_A_UNSPEC,
	PCRP_A_SIZES,
	PCRP_A_BYTES,
	PCRP_A_THRESHOLDS,
	PCRP_A_UPDATES,
	PCRP_A_PAD,
	/* private: */
	__PCRP_A_MAX,
};

#define PCRP_A_MAX	(__PCRP_A_MAX - 1)

#endif /* _UAPI_LINUX_PCRP_H */
