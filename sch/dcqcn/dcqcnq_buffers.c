// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFC and ECN thresholds of a switch with a shared buffer
 *
 * The formulas of sch_dcqcn and of `closnet buffers`: plain C, compiled into
 * both and into the unit test.
 *
 * A switch has a buffer of B bytes, n ports and k lossless priorities. If the
 * packets that came in by a port with a priority occupy more than t_PFC bytes,
 * the port sends a pause frame (XOFF). Until that takes effect, t_flight bytes
 * more arrive. They are reserved for each port and priority as headroom, and the
 * remaining buffer is shared:
 *
 *	  0                                         t_PFC        + t_flight
 *	  |---- shared: B - k n t_flight -------------|---- headroom ----|
 *	                               XON <- 2 MTU ->|-> XOFF           |-> drop
 *
 *	static:		t_PFC <= (B - k n t_flight) / (k n)
 *	dynamic:	t_PFC  = beta (B - k n t_flight - s) / k,
 *			with s bytes of the shared buffer in use
 *
 * Senders should slow down (ECN) before a port is paused (PFC). In the worst
 * case, all waiting packets of a priority came in by the same port, and each of
 * the n egress queues holds t_ECN bytes, none of them marked yet. In the dynamic
 * case, the other priorities have as much, s = k n t_ECN. It follows that
 *
 *	static:		t_ECN < t_PFC / n
 *	dynamic:	t_ECN < beta (B - k n t_flight) / (k n (beta + 1))
 *
 * t_flight is, as in Annex N of IEEE 802.1Q (802.1Qbb's Annex O),
 *
 *	the frame that is just leaving the port and delays the pause frame
 *	+ the pause frame + the round trip of the cable
 *	+ the peer's response time + the frame that the peer has just begun
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, section 4, with k = 8 and
 * t_ECN = Kmin.
 *
 * Differences from the paper:
 * - The paper's t_flight is 22.4 KB for 40 Gbit/s, without its parts. Here it is
 *   25720 bytes with an MTU of 1500 and a cable of 1.5 us (300 m). This includes
 *   7552 bytes for the response time that 802.3 allows a peer at 40 Gbit/s. With
 *   that of 10 Gbit/s, 3840 bytes, the sum is 22008.
 * - Delays in MAC and PHY are not included. If they matter, add them to the
 *   delay of the cable.
 */
#include "dcqcnq_buffers.h"

/* On the line: header, VLAN tag, FCS, preamble, and the gap between frames */
#define DCQCNQ_FRAME_BYTES	(14 + 4 + 4 + 8 + 12)
/* The shortest frame, preamble, gap */
#define DCQCNQ_PAUSE_BYTES	(64 + 8 + 12)

/*
 * Compute the time after which a paused peer starts no new frame, in bytes: the
 * pause quanta of IEEE 802.3, 31B.3.7. A rate between two of the standard's gets
 * the value of the higher rate.
 */
static u32 dcqcnq_response_bytes(u64 rate_Bps)
{
	u64 Gbps = 1000000000 / 8;

	if (rate_Bps <= 10 * Gbps)
		return 60 * DCQCNQ_QUANTUM_BYTES;
	if (rate_Bps <= 25 * Gbps)
		return 80 * DCQCNQ_QUANTUM_BYTES;
	if (rate_Bps <= 40 * Gbps)
		return 118 * DCQCNQ_QUANTUM_BYTES;
	if (rate_Bps <= 100 * Gbps)
		return 394 * DCQCNQ_QUANTUM_BYTES;
	return 905 * DCQCNQ_QUANTUM_BYTES;
}

/* Compute the bytes on the cable in one direction. */
static u64 dcqcnq_cable_bytes(u64 rate_Bps, u32 cable_ns)
{
	return mul_u64_u32_div(rate_Bps, cable_ns, 1000000000);
}

/**
 * dcqcnq_flight_bytes() - compute t_flight, the bytes that arrive after XOFF
 * @rate_Bps: line rate, bytes per second, up to 2^38
 * @cable_ns: delay of the cable in one direction, ns
 * @mtu: MTU, bytes
 *
 * Return: bytes.
 */
u64 dcqcnq_flight_bytes(u64 rate_Bps, u32 cable_ns, u32 mtu)
{
	return 2 * ((u64)mtu + DCQCNQ_FRAME_BYTES) + DCQCNQ_PAUSE_BYTES +
	       2 * dcqcnq_cable_bytes(rate_Bps, cable_ns) + dcqcnq_response_bytes(rate_Bps);
}

/**
 * dcqcnq_pfc_static() - compute the highest static t_PFC
 * @shared: buffer without headrooms, bytes
 * @ports: n, not 0
 * @prios: k, 1 to 8
 *
 * Return: bytes.
 */
u64 dcqcnq_pfc_static(u64 shared, u32 ports, u32 prios)
{
	return div64_u64(shared, (u64)ports * prios);
}

/**
 * dcqcnq_ecn_static() - compute the bound of t_ECN for a static t_PFC
 * @shared: buffer without headrooms, bytes
 * @ports: n, not 0
 * @prios: k, 1 to 8
 *
 * Return: bytes. With a lower t_ECN, ECN marks before PFC pauses.
 */
u64 dcqcnq_ecn_static(u64 shared, u32 ports, u32 prios)
{
	return div_u64(dcqcnq_pfc_static(shared, ports, prios), ports);
}

/**
 * dcqcnq_ecn_dynamic() - compute the bound of t_ECN for a dynamic t_PFC
 * @shared: buffer without headrooms, bytes, up to 2^47
 * @ports: n, not 0, up to 2^16
 * @beta: as for dcqcnq_pfc_dynamic()
 * @prios: k, 1 to 8
 *
 * Return: bytes. With a lower t_ECN, ECN marks before PFC pauses.
 */
u64 dcqcnq_ecn_dynamic(u64 shared, u32 ports, u32 beta, u32 prios)
{
	return div64_u64(shared * beta, (u64)ports * prios * (beta + 1));
}
