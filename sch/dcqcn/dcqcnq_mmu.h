/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared buffer of a switch: admission of packets, and PFC decisions
 *
 * The interface of dcqcnq_mmu.c, which explains the algorithm.
 */
#ifndef _CLOSNET_DCQCNQ_MMU_H
#define _CLOSNET_DCQCNQ_MMU_H

#include <closnet/core.h>
#include "dcqcnq_options.h"
#include <linux/pkt_sched_dcqcn.h>

#define DCQCNQ_PRIOS		8

/**
 * enum dcqcnq_verdict - result of an admission
 * @DCQCNQ_LOSSY: admitted; PFC does not protect the packet
 * @DCQCNQ_LOSSLESS: admitted; PFC protects the packet
 * @DCQCNQ_NO_ROOM: to be dropped, not protected: no room in the buffer, or
 *	above the limit
 * @DCQCNQ_NO_HEADROOM: to be dropped although protected
 */
enum dcqcnq_verdict {
	DCQCNQ_LOSSY,
	DCQCNQ_LOSSLESS,
	DCQCNQ_NO_ROOM,
	DCQCNQ_NO_HEADROOM,
};

/**
 * struct dcqcnq_ingress - waiting packets that came in by a port with a priority
 * @shared_bytes: bytes counted in the shared part
 * @headroom_bytes: bytes counted in the headroom
 * @headroom: size of the headroom, bytes
 * @xon_gap: distance of XON below the threshold, bytes: 2 MTU
 * @lossless: PFC protects the ingress
 * @paused: the peer is to be paused
 * @peak_bytes: maximum of @shared_bytes + @headroom_bytes
 * @headroom_peak_bytes: maximum of @headroom_bytes
 * @dropped_packets: packets dropped although protected
 */
struct dcqcnq_ingress {
	u32 shared_bytes;
	u32 headroom_bytes;
	u32 headroom;
	u32 xon_gap;
	bool lossless;
	bool paused;
	u32 peak_bytes;
	u32 headroom_peak_bytes;
	u64 dropped_packets;
};

/**
 * struct dcqcnq_mmu - a switch's buffer
 * @buffer: size of the buffer, bytes
 * @shared: size of the shared part, bytes
 * @xoff: threshold in the auto and static modes, bytes
 * @beta: factor of the dynamic mode; 0: another mode
 * @prios: number of lossless priorities, at least 1
 * @peak_bytes: maximum of dcqcnq_mmu_bytes(). If two CPUs see a new maximum at
 *	the same time, either may be kept.
 * @fill: bytes in the shared part, plus bytes in headrooms times 2^32
 */
struct dcqcnq_mmu {
	u32 buffer;
	u32 shared;
	u32 xoff;
	u32 beta;
	u32 prios;
	u32 peak_bytes;
	atomic64_t fill;
};

#define DCQCNQ_HEADROOM_SHIFT	32

/* Bytes in the shared part */
static inline u32 dcqcnq_fill_shared(u64 fill)
{
	return (u32)fill;
}

/* Bytes in the headrooms */
static inline u32 dcqcnq_fill_headroom(u64 fill)
{
	return fill >> DCQCNQ_HEADROOM_SHIFT;
}

/* Bytes in both */
static inline u64 dcqcnq_fill_bytes(u64 fill)
{
	return (u64)dcqcnq_fill_shared(fill) + dcqcnq_fill_headroom(fill);
}

/**
 * dcqcnq_mmu_bytes() - count the waiting bytes
 * @m: the buffer
 *
 * Return: bytes in the shared part and the headrooms.
 */
static inline u64 dcqcnq_mmu_bytes(const struct dcqcnq_mmu *m)
{
	return dcqcnq_fill_bytes(atomic64_read(&m->fill));
}

bool dcqcnq_mmu_fits(const struct dcqcnq_pool_options *p, u64 headroom_sum);
void dcqcnq_mmu_set(struct dcqcnq_mmu *m, const struct dcqcnq_pool_options *p, u32 ports,
		    u64 headroom_sum);
u32 dcqcnq_mmu_xoff(const struct dcqcnq_mmu *m);
enum dcqcnq_verdict dcqcnq_mmu_admit(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len,
				     bool fits);
enum dcqcnq_verdict dcqcnq_mmu_admit_other(struct dcqcnq_mmu *m, u32 len, bool fits);
void dcqcnq_mmu_release(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len);
void dcqcnq_mmu_release_other(struct dcqcnq_mmu *m, u32 len);
void dcqcnq_mmu_review(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in);

#endif /* _CLOSNET_DCQCNQ_MMU_H */
