// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCRP's parameters that follow from link rate R and base round-trip time RTT
 *
 *	C     = R * RTT			length of a chain; at least 2 packets, at most 4 MiB
 *	MFWT  = 8 * C / R		wait after which a ready flow is promoted
 *	probe = 2 * RTT + C / R		wait for a GRANT before a PROBE; 50 µs to 10 ms
 *	gap   = 150 bytes / (R / 100)	mean time between PROBEs: 1 % of the link
 *
 * Reference: K. Wu, D. Dong, C. Li, S. Huang, Y. Dai, "Network Congestion
 * Avoidance through Packet-chaining Reservation", ICPP 2019.
 *
 * Differences from the paper: C is the only one of them that it defines.
 */

#include "pcrp_auto.h"
#include "pcrp_sender.h"

/* Bounds of C: a receiver sees a packet only when it is complete. */
#define PCRP_AUTO_CHAIN_PACKETS	2
#define PCRP_AUTO_CHAIN_MAX	(4U << 20)
/* MFWT in chains */
#define PCRP_AUTO_MFWT_CHAINS	8
/* A PROBE on the wire, bytes, and the inverse of the PROBEs' share of the link */
#define PCRP_AUTO_PROBE_BYTES	150
#define PCRP_AUTO_PROBE_SHARE	100

static u64 pcrp_auto_ns(u64 bytes, u64 rate_Bps)
{
	return div64_u64(NSEC_PER_SEC * bytes, rate_Bps);
}

/**
 * pcrp_auto_chain() - compute the length of a chain
 * @rate_Bps: link rate, bytes per second, up to 2^40
 * @rtt_ns: base round-trip time, up to 1 ms
 * @packet: length of the largest packet, bytes
 *
 * Return: bytes.
 */
u32 pcrp_auto_chain(u64 rate_Bps, u32 rtt_ns, u32 packet)
{
	u64 bytes = div_u64(rate_Bps * rtt_ns, NSEC_PER_SEC);

	bytes = min_t(u64, bytes, PCRP_AUTO_CHAIN_MAX);
	return max_t(u64, bytes, PCRP_AUTO_CHAIN_PACKETS * (u64)packet);
}

/**
 * pcrp_auto_mfwt() - compute MFWT, the wait after which a ready flow is promoted
 * @rate_Bps: link rate, bytes per second; not 0
 * @chain_bytes: length of a chain
 *
 * Return: ns.
 */
u64 pcrp_auto_mfwt(u64 rate_Bps, u32 chain_bytes)
{
	return pcrp_auto_ns(PCRP_AUTO_MFWT_CHAINS * (u64)chain_bytes, rate_Bps);
}

/**
 * pcrp_auto_probe_ns() - compute the wait for a GRANT before the first PROBE
 * @rtt_ns: base round-trip time, up to 1 ms
 * @rate_Bps: link rate, bytes per second; not 0
 * @chain_bytes: length of a chain
 *
 * Two round trips, after the chain that has left the qdisc has left the host.
 *
 * Return: ns.
 */
u32 pcrp_auto_probe_ns(u32 rtt_ns, u64 rate_Bps, u32 chain_bytes)
{
	u64 ns = 2 * rtt_ns + pcrp_auto_ns(chain_bytes, rate_Bps);

	return min_t(u64, max_t(u64, ns, PCRP_PROBE_MIN_NS), PCRP_PROBE_MAX_NS);
}

/**
 * pcrp_auto_probe_gap_ns() - compute the mean time between PROBEs of all flows
 * @rate_Bps: link rate, bytes per second; not 0
 *
 * Return: ns.
 */
u64 pcrp_auto_probe_gap_ns(u64 rate_Bps)
{
	return pcrp_auto_ns(PCRP_AUTO_PROBE_BYTES * PCRP_AUTO_PROBE_SHARE, rate_Bps);
}
