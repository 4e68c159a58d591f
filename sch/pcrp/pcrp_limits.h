/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of sch_pcrp's options
 *
 * Not part of the netlink interface: they may change, and errors name them. Digits, for
 * the messages.
 */
#ifndef _CLOSNET_PCRP_LIMITS_H
#define _CLOSNET_PCRP_LIMITS_H

#define PCRP_LIMIT_MIN		1	/* packets */
#define PCRP_LIMIT_MAX		1000000
#define PCRP_FLOWS_MIN		16
#define PCRP_FLOWS_MAX		65536
#define PCRP_CHAIN_MIN		256	/* bytes */
#define PCRP_CHAIN_MAX		1073741824
#define PCRP_GRANTS_MIN		1
#define PCRP_GRANTS_MAX		64
#define PCRP_MFWT_MAX		10000000	/* us */
#define PCRP_HOLD_MIN		1000	/* us */
#define PCRP_HOLD_MAX		10000000
#define PCRP_WINDOW_MAX		1000	/* us */
#define PCRP_SPEC_MAX		1099511627776	/* bytes */
#define PCRP_RATE_MIN		125	/* bytes per second */
#define PCRP_RATE_MAX		1099511627776
#define PCRP_OVERHEAD_MAX	256	/* bytes */

#define PCRP_MAP_LEAVE		255	/* no DSCP: a packet's is left as it is */

#endif /* _CLOSNET_PCRP_LIMITS_H */
