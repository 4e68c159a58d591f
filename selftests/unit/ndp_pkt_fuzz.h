/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target for sch/ndp_pkt_core.h: its input, its entry
 */
#ifndef _CLOSNET_UNIT_NDP_PKT_FUZZ_H
#define _CLOSNET_UNIT_NDP_PKT_FUZZ_H

#include <stddef.h>

#include "../../sch/ndp_pkt_core.h"

#define FUZZ_NO_L2	0x01	/* the frame starts with its IP header, */
#define FUZZ_IPV6	0x02	/* ... which the device says is IPv6 */
#define FUZZ_TAG	0x04	/* a VLAN tag is offloaded */
#define FUZZ_MATCH	0x30	/* enum tc_ndp_match, modulo their number */

/**
 * struct fuzz_input - any bytes are an input, if they are this many
 * @flags: FUZZ_*
 * @trim_size: less 64, modulo the range
 * @dscp_trimmed: modulo 64
 * @dscp_returned: modulo 64; the next one if it is the same
 * @udp_port: 0 means 1
 * @dscp_mask: as in TCA_NDP_DSCP_MASK
 * @linear: bytes of the frame that are at hand at first
 * @frame: the frame, up to the end of the input
 *
 * Numbers of several bytes are big-endian.
 */
struct fuzz_input {
	u8 flags;
	u8 trim_size[2];
	u8 dscp_trimmed;
	u8 dscp_returned;
	u8 udp_port[2];
	u8 dscp_mask[8];
	u8 linear;
	u8 frame[];
};

/**
 * struct fuzz_met - how often the target came by
 * @kind: a packet of a kind; by enum ndp_kind
 * @trimmed: a trim
 * @turned: a packet turned round
 * @refused: a turned packet that may not go to the address that sent it
 */
struct fuzz_met {
	unsigned long kind[NDP_KIND_RETURNED + 1];
	unsigned long trimmed;
	unsigned long turned;
	unsigned long refused;
};

extern struct fuzz_met fuzz_met;

/**
 * ndp_pkt_fuzz_one() - one run, as the module does it; aborts if it is wrong
 * @data: struct fuzz_input
 * @size: of it, bytes
 *
 * libFuzzer has its own name for it, which the Makefile gives it there.
 *
 * Return: 0
 */
int ndp_pkt_fuzz_one(const u8 *data, size_t size);

#endif /* _CLOSNET_UNIT_NDP_PKT_FUZZ_H */
