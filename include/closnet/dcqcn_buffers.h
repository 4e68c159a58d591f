/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thresholds of a switch whose ports share a buffer: PFC and ECN, in plain C
 *
 * A switch of n ports and k lossless priorities has B bytes. What came in by a
 * port with a priority waits somewhere in it. If that is more than t_PFC, the port
 * sends a pause frame (XOFF); until that takes effect, t_flight bytes more come in.
 * They are set aside for each port and priority, the rest is shared:
 *
 *	  0                                         t_PFC        + t_flight
 *	  |---- shared: B - k n t_flight -------------|---- headroom ----|
 *	                               XON <- 2 MTU ->|-> XOFF           |-> drop
 *
 *	static:		t_PFC <= (B - k n t_flight) / (k n)
 *	dynamic:	t_PFC  = beta (B - k n t_flight - s) / k, s bytes are in use
 *
 * Senders shall slow down before anybody is paused. In the worst case all that
 * waits of a priority came in by the same port, and there are t_ECN bytes, of
 * which none is marked yet, in each of the n queues where it goes out. In the
 * dynamic case the other priorities have as much, s = k n t_ECN. It follows
 *
 *	static:		t_ECN < t_PFC / n
 *	dynamic:	t_ECN < beta (B - k n t_flight) / (k n (beta + 1))
 *
 *   Yibo Zhu et al.: "Congestion Control for Large-Scale RDMA Deployments",
 *   SIGCOMM 2015, section 4. There k is 8, and t_ECN is Kmin.
 *
 * t_flight is, as in Annex N of IEEE 802.1Q (802.1Qbb's Annex O),
 *
 *	the frame that is just leaving the port and holds up the pause frame
 *	+ the pause frame + the cable, there and back
 *	+ the peer's time to react + the frame that it has just begun
 *
 * The paper has 22.4 KB for 40 Gbit/s and does not say of what. Here it is
 * 25720 bytes with an MTU of 1500 and a cable of 1.5 us, 300 m: 7552 of them are
 * the time that 802.3 gives a peer at 40 Gbit/s. With that of 10 Gbit/s, 3840,
 * it is 22008. Delays in MAC and PHY are not part of it: they belong to the
 * cable's, if they matter.
 */
#ifndef _CLOSNET_DCQCN_BUFFERS_H
#define _CLOSNET_DCQCN_BUFFERS_H

#include <closnet/core.h>

/* On the line: header, VLAN tag, FCS, preamble, and the gap between frames */
#define DCQCNQ_FRAME_BYTES	(14 + 4 + 4 + 8 + 12)
/* The least frame, preamble, gap */
#define DCQCNQ_PAUSE_BYTES	(64 + 8 + 12)
/* 512 bit times, the unit of pause frames */
#define DCQCNQ_QUANTUM_BYTES	64

/*
 * Time that a peer may take until it starts no new frame, bytes: pause quanta
 * of IEEE 802.3, 31B.3.7. A rate that it does not have gets the next one's.
 */
static inline u32 dcqcnq_response_bytes(u64 rate_Bps)
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

/* What fits on the cable in one direction */
static inline u64 dcqcnq_cable_bytes(u64 rate_Bps, u32 cable_ns)
{
	return mul_u64_u32_div(rate_Bps, cable_ns, 1000000000);
}

/**
 * dcqcnq_flight_bytes() - t_flight: what comes in after a threshold was crossed
 * @rate_Bps: the line's rate, bytes per second, up to 2^38
 * @cable_ns: delay of the cable in one direction
 * @mtu: most bytes of a packet in a frame
 *
 * Return: bytes.
 */
static inline u64 dcqcnq_flight_bytes(u64 rate_Bps, u32 cable_ns, u32 mtu)
{
	return 2 * ((u64)mtu + DCQCNQ_FRAME_BYTES) + DCQCNQ_PAUSE_BYTES +
	       2 * dcqcnq_cable_bytes(rate_Bps, cable_ns) + dcqcnq_response_bytes(rate_Bps);
}

/**
 * dcqcnq_pfc_static() - t_PFC that holds whatever the other ports do
 * @shared: the buffer without the headrooms, bytes
 * @ports: n, not 0
 * @prios: k, 1 to 8
 *
 * Return: bytes; more is too much.
 */
static inline u64 dcqcnq_pfc_static(u64 shared, u32 ports, u32 prios)
{
	return div64_u64(shared, (u64)ports * prios);
}

/**
 * dcqcnq_pfc_dynamic() - t_PFC by what is free now
 * @free: bytes of the shared buffer that are not in use
 * @beta: share of it, up to 2^16
 * @prios: k, 1 to 8
 *
 * Return: bytes.
 */
static inline u64 dcqcnq_pfc_dynamic(u64 free, u32 beta, u32 prios)
{
	return div_u64(free * beta, prios);
}

/**
 * dcqcnq_ecn_static() - t_ECN that is reached before a static t_PFC is
 * @shared: the buffer without the headrooms, bytes
 * @ports: n, not 0
 * @prios: k, 1 to 8
 *
 * Return: t_ECN has to be less.
 */
static inline u64 dcqcnq_ecn_static(u64 shared, u32 ports, u32 prios)
{
	return div_u64(dcqcnq_pfc_static(shared, ports, prios), ports);
}

/**
 * dcqcnq_ecn_dynamic() - t_ECN that is reached before a dynamic t_PFC is
 * @shared: the buffer without the headrooms, bytes, up to 2^47
 * @ports: n, not 0, up to 2^16
 * @beta: of dcqcnq_pfc_dynamic()
 * @prios: k, 1 to 8
 *
 * Return: t_ECN has to be less.
 */
static inline u64 dcqcnq_ecn_dynamic(u64 shared, u32 ports, u32 beta, u32 prios)
{
	return div64_u64(shared * beta, (u64)ports * prios * (beta + 1));
}

#endif /* _CLOSNET_DCQCN_BUFFERS_H */
