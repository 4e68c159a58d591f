/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PFC and ECN thresholds of a switch with a shared buffer
 *
 * The interface of dcqcnq_buffers.c, which explains the formulas.
 */
#ifndef _CLOSNET_DCQCNQ_BUFFERS_H
#define _CLOSNET_DCQCNQ_BUFFERS_H

#include <closnet/core.h>

/* 512 bit times, the unit of pause frames */
#define DCQCNQ_QUANTUM_BYTES	64

u64 dcqcnq_flight_bytes(u64 rate_Bps, u32 cable_ns, u32 mtu);
u64 dcqcnq_pfc_static(u64 shared, u32 ports, u32 prios);
u64 dcqcnq_ecn_static(u64 shared, u32 ports, u32 prios);
u64 dcqcnq_ecn_dynamic(u64 shared, u32 ports, u32 beta, u32 prios);

/**
 * dcqcnq_pfc_dynamic() - compute t_PFC from the free buffer
 * @free: unused bytes of the shared buffer
 * @beta: factor, up to 2^16
 * @prios: k, 1 to 8
 *
 * Return: bytes.
 */
static inline u64 dcqcnq_pfc_dynamic(u64 free, u32 beta, u32 prios)
{
	return div_u64(free * beta, prios);
}

#endif /* _CLOSNET_DCQCNQ_BUFFERS_H */
