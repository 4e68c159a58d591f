/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch's shared buffer: which packets are admitted, and which ports are paused
 *
 * The memory management unit of a switch without its packets: plain C, no
 * kernel types but atomic64_t, so that the unit tests run the very code of the
 * module.
 *
 *	buffer
 *	+--------------------------------------+-----------------------------+
 *	| shared                               | headroom of each ingress    |
 *	| first come, first served             | port and lossless priority  |
 *	+--------------------------------------+-----------------------------+
 *
 * An arriving packet of a lossless priority is charged to the ingress, the
 * (port, priority) by which it came in:
 *
 *	within the threshold t_PFC, and while there is room ----> shared
 *	above it: the ingress is paused (XOFF) -----------------> its headroom
 *	beyond the headroom ------------------------------------> dropped
 *
 * A packet of any other sort takes of the shared part while that lasts.
 *
 *	              more than t_PFC
 *	     +------+ -------XOFF-------------> +--------+
 *	     | goes |                           | paused |
 *	     +------+ <------XON--------------- +--------+
 *	              headroom empty, and t_PFC - 2 MTU or less, or empty at all
 *
 * A packet that leaves gives back its ingress's headroom first, wherever its own
 * bytes were counted.
 *
 * t_PFC, with the symbols of the paper (section 4; B: buffer, n: ports, 8
 * lossless priorities, s: bytes in the shared part):
 *
 *	auto	(B - 8 n t_flight) / (8 n)
 *	static	the value that is set
 *	dynamic	beta (B - 8 n t_flight - s) / 8
 *
 * Concurrency. Each struct dcqcnq_ingress is protected by a lock of its own,
 * which the caller holds. All ingresses share one atomic64_t, the fill: bytes
 * in the shared part and in the headrooms, 32 bits each. An admission checks
 * both and adds to one of them in a single compare-and-exchange. So
 *
 *	shared part + headrooms <= B, shared part <= B - 8 n t_flight
 *
 * hold after each admission exactly, with any number of CPUs, and an ingress's
 * part of the shared part is at most t_PFC as it was when the admission began.
 * A dynamic t_PFC may be older than the exchange by as many packets as other
 * CPUs admit meanwhile.
 *
 * The limits are written while admissions read them, value by value: each CPU
 * uses the new ones when it next takes a lock that the writer had after it.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion Control for
 * Large-Scale RDMA Deployments", SIGCOMM 2015, sections 2.2 and 4. The
 * thresholds' formulas are in closnet/dcqcn_buffers.h.
 *
 * Differences from the paper:
 * - Ports may have headrooms of different sizes, and less than eight
 *   priorities may be lossless.
 * - A threshold that is set too high for the buffer does not let a port into
 *   the headroom of other ports: it is paused when the shared part is full.
 * - An ingress without waiting packets is never paused, even if t_PFC is less
 *   than 2 MTU: no packet would leave that could lift the pause.
 */
#ifndef _CLOSNET_DCQCN_POOL_CORE_H
#define _CLOSNET_DCQCN_POOL_CORE_H

#include <closnet/core.h>
#include <closnet/dcqcn_buffers.h>
#include <linux/pkt_sched_dcqcn.h>

#define DCQCNQ_PRIOS		8

/**
 * struct dcqcnq_pool_params - settings of a pool
 * @buffer: bytes of the shared buffer
 * @headroom: bytes for packets that still arrive at a paused ingress; 0:
 *	computed from the port's rate, cable and MTU
 * @cable_ns: delay of the longest cable
 * @xoff: bytes, for TC_DCQCN_XOFF_STATIC
 * @beta: for TC_DCQCN_XOFF_DYNAMIC
 * @xoff_mode: enum tc_dcqcn_xoff
 * @pfc: lossless priorities, a bit each
 */
struct dcqcnq_pool_params {
	u32 buffer;
	u32 headroom;
	u32 cable_ns;
	u32 xoff;
	u32 beta;
	u32 xoff_mode;
	u32 pfc;
};

/**
 * enum dcqcnq_verdict - what becomes of a packet that arrives at an egress
 * @DCQCNQ_LOSSY: admitted; PFC does not protect it
 * @DCQCNQ_LOSSLESS: admitted; PFC protects it
 * @DCQCNQ_NO_ROOM: to be dropped, not protected: no room in the buffer, or
 *	beyond the limit
 * @DCQCNQ_NO_HEADROOM: to be dropped although protected
 */
enum dcqcnq_verdict {
	DCQCNQ_LOSSY,
	DCQCNQ_LOSSLESS,
	DCQCNQ_NO_ROOM,
	DCQCNQ_NO_HEADROOM,
};

/**
 * struct dcqcnq_ingress - packets that came in by a port with a priority and wait
 * @shared_bytes: of them, in the shared part
 * @headroom_bytes: in the headroom
 * @headroom: bytes reserved for it
 * @xon_gap: XON is given so many bytes below the threshold: 2 MTU
 * @lossless: PFC protects it
 * @paused: it is to be paused
 * @peak_bytes: most bytes seen
 * @headroom_peak_bytes: most seen in the headroom
 * @dropped_packets: dropped although protected
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
 * @buffer: its size in bytes
 * @shared: bytes of the shared part
 * @xoff: the threshold in the auto and static modes
 * @beta: factor of the dynamic mode; 0: another mode
 * @prios: number of lossless priorities, at least 1
 * @fill: bytes in the shared part, and in headrooms times 2^32
 * @peak_bytes: most bytes seen; of two CPUs that see a new one at the same time,
 *	either may be kept
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
 * dcqcnq_mmu_bytes() - count the bytes that wait
 * @m: the buffer
 *
 * Return: bytes in the shared part and the headrooms.
 */
static inline u64 dcqcnq_mmu_bytes(const struct dcqcnq_mmu *m)
{
	return dcqcnq_fill_bytes(atomic64_read(&m->fill));
}

/**
 * dcqcnq_mmu_fits() - decide whether the buffer holds more than all headrooms
 * @p: settings
 * @headroom_sum: sum over all ports, for one priority
 *
 * Return: true if so.
 */
static inline bool dcqcnq_mmu_fits(const struct dcqcnq_pool_params *p,
				   u64 headroom_sum)
{
	return hweight8(p->pfc) * headroom_sum < p->buffer;
}

/**
 * dcqcnq_mmu_set() - set the limits
 * @m: the buffer; each ingress needs dcqcnq_mmu_review() then
 * @p: settings
 * @ports: members
 * @headroom_sum: bytes of all members, for one priority
 */
static inline void dcqcnq_mmu_set(struct dcqcnq_mmu *m,
				  const struct dcqcnq_pool_params *p, u32 ports,
				  u64 headroom_sum)
{
	u64 reserved = hweight8(p->pfc) * headroom_sum;
	u32 prios = max_t(u32, hweight8(p->pfc), 1);
	u32 shared = p->buffer - min_t(u64, reserved, p->buffer);
	bool is_static = p->xoff_mode == TC_DCQCN_XOFF_STATIC;

	WRITE_ONCE(m->buffer, p->buffer);
	WRITE_ONCE(m->shared, shared);
	WRITE_ONCE(m->prios, prios);
	WRITE_ONCE(m->xoff, is_static ? p->xoff :
		   dcqcnq_pfc_static(shared, max_t(u32, ports, 1), prios));
	WRITE_ONCE(m->beta, p->xoff_mode == TC_DCQCN_XOFF_DYNAMIC ? p->beta : 0);
}

/* Bytes that the shared part can still take */
static inline u32 dcqcnq_mmu_free(const struct dcqcnq_mmu *m, u64 fill)
{
	u32 shared = READ_ONCE(m->shared), buffer = READ_ONCE(m->buffer);
	u32 in_shared = dcqcnq_fill_shared(fill);
	u64 bytes = dcqcnq_fill_bytes(fill);

	if (in_shared >= shared || bytes >= buffer)
		return 0;
	return min_t(u64, shared - in_shared, buffer - bytes);
}

/* The threshold t_PFC with so many bytes free */
static inline u32 dcqcnq_mmu_xoff_of(const struct dcqcnq_mmu *m, u32 free)
{
	u32 beta = READ_ONCE(m->beta);

	if (likely(!beta))
		return READ_ONCE(m->xoff);
	return min_t(u64, READ_ONCE(m->buffer),
		     dcqcnq_pfc_dynamic(free, beta, READ_ONCE(m->prios)));
}

/**
 * dcqcnq_mmu_xoff() - compute the threshold t_PFC
 * @m: the buffer
 *
 * Return: bytes, as it is now.
 */
static inline u32 dcqcnq_mmu_xoff(const struct dcqcnq_mmu *m)
{
	return dcqcnq_mmu_xoff_of(m, dcqcnq_mmu_free(m, atomic64_read(&m->fill)));
}

/* Bytes of the shared part that an ingress can still take */
static inline u32 dcqcnq_mmu_room(const struct dcqcnq_mmu *m,
				  const struct dcqcnq_ingress *in, u64 fill)
{
	u32 free = dcqcnq_mmu_free(m, fill);
	u32 xoff = dcqcnq_mmu_xoff_of(m, free);

	if (in->shared_bytes >= xoff)
		return 0;
	return min_t(u32, xoff - in->shared_bytes, free);
}

static inline void dcqcnq_mmu_peak(struct dcqcnq_mmu *m, u64 fill)
{
	u32 bytes = dcqcnq_fill_bytes(fill);

	if (unlikely(bytes > READ_ONCE(m->peak_bytes)))
		WRITE_ONCE(m->peak_bytes, bytes);
}

/*
 * Take bytes of the shared part, for an ingress or without one. Each round but the
 * last means that another CPU has admitted or released a packet meanwhile.
 */
static inline bool dcqcnq_mmu_take_shared(struct dcqcnq_mmu *m,
					  const struct dcqcnq_ingress *in, u32 len)
{
	s64 fill = atomic64_read(&m->fill);
	u32 room;

	do {
		room = in ? dcqcnq_mmu_room(m, in, fill) : dcqcnq_mmu_free(m, fill);
		if (unlikely(len > room))
			return false;
	} while (unlikely(!atomic64_try_cmpxchg(&m->fill, &fill, fill + len)));
	dcqcnq_mmu_peak(m, fill + len);
	return true;
}

/* Take bytes of an ingress's headroom. Rounds: see dcqcnq_mmu_take_shared(). */
static inline bool dcqcnq_mmu_take_headroom(struct dcqcnq_mmu *m,
					    const struct dcqcnq_ingress *in, u32 len)
{
	s64 fill = atomic64_read(&m->fill), add = (s64)len << DCQCNQ_HEADROOM_SHIFT;

	if ((u64)in->headroom_bytes + len > in->headroom)
		return false;
	do {
		if (dcqcnq_fill_bytes(fill) + len > READ_ONCE(m->buffer))
			return false;
	} while (!atomic64_try_cmpxchg(&m->fill, &fill, fill + add));
	dcqcnq_mmu_peak(m, fill + add);
	return true;
}

static inline void dcqcnq_ingress_peak(struct dcqcnq_ingress *in)
{
	in->peak_bytes = max_t(u32, in->peak_bytes,
			       in->shared_bytes + in->headroom_bytes);
}

/* A protected packet for which the shared part has no room */
static inline enum dcqcnq_verdict
dcqcnq_mmu_admit_above(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len)
{
	bool taken = dcqcnq_mmu_take_headroom(m, in, len);

	if (taken) {
		in->headroom_bytes += len;
		in->headroom_peak_bytes = max_t(u32, in->headroom_peak_bytes,
						in->headroom_bytes);
		dcqcnq_ingress_peak(in);
	} else {
		in->dropped_packets++;
	}
	if (in->shared_bytes || in->headroom_bytes)
		in->paused = true;
	return taken ? DCQCNQ_LOSSLESS : DCQCNQ_NO_HEADROOM;
}

/**
 * dcqcnq_mmu_admit_other() - admit a packet that came in by no port of the pool
 * @m: the buffer
 * @len: bytes, less than 2^30
 * @fits: it is within the egress's limit
 *
 * Return: DCQCNQ_LOSSY or DCQCNQ_NO_ROOM.
 */
static inline enum dcqcnq_verdict
dcqcnq_mmu_admit_other(struct dcqcnq_mmu *m, u32 len, bool fits)
{
	return fits && dcqcnq_mmu_take_shared(m, NULL, len) ? DCQCNQ_LOSSY : DCQCNQ_NO_ROOM;
}

/**
 * dcqcnq_mmu_admit() - admit a packet
 * @m: the buffer
 * @in: where it came in, locked; may become paused
 * @len: bytes, less than 2^30
 * @fits: if it is not protected: it is within the egress's limit
 *
 * Return: what becomes of it.
 */
static inline enum dcqcnq_verdict
dcqcnq_mmu_admit(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len, bool fits)
{
	if (unlikely(!in->lossless)) {
		if (!fits || !dcqcnq_mmu_take_shared(m, NULL, len))
			return DCQCNQ_NO_ROOM;
	} else if (unlikely(!dcqcnq_mmu_take_shared(m, in, len))) {
		return dcqcnq_mmu_admit_above(m, in, len);
	}
	in->shared_bytes += len;
	dcqcnq_ingress_peak(in);
	return in->lossless ? DCQCNQ_LOSSLESS : DCQCNQ_LOSSY;
}

/* Decide whether a paused ingress may go on. */
static inline bool dcqcnq_mmu_may_go(const struct dcqcnq_mmu *m,
				     const struct dcqcnq_ingress *in)
{
	if (!in->lossless)
		return true;
	return !in->headroom_bytes &&
	       (!in->shared_bytes ||
		dcqcnq_mmu_room(m, in, atomic64_read(&m->fill)) >= in->xon_gap);
}

/**
 * dcqcnq_mmu_release_other() - release a packet of dcqcnq_mmu_admit_other()
 * @m: the buffer
 * @len: as when it was admitted
 */
static inline void dcqcnq_mmu_release_other(struct dcqcnq_mmu *m, u32 len)
{
	atomic64_sub(len, &m->fill);
}

/**
 * dcqcnq_mmu_release() - release an admitted packet
 * @m: the buffer
 * @in: as when it was admitted, locked; may be paused no more
 * @len: as when it was admitted
 */
static inline void dcqcnq_mmu_release(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in,
				      u32 len)
{
	u32 part = min_t(u32, len, in->headroom_bytes);

	in->headroom_bytes -= part;
	in->shared_bytes -= len - part;
	atomic64_sub(((s64)part << DCQCNQ_HEADROOM_SHIFT) + (len - part), &m->fill);
	if (unlikely(in->paused) && dcqcnq_mmu_may_go(m, in))
		in->paused = false;
}

/*
 * Count bytes of the headroom to the shared part, as many as it has room for; if
 * PFC no longer protects the ingress, all of them. Rounds: see
 * dcqcnq_mmu_take_shared().
 */
static inline void dcqcnq_mmu_move(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in)
{
	s64 fill = atomic64_read(&m->fill);
	u32 bytes;
	s64 moved;

	do {
		bytes = in->headroom_bytes;
		if (in->lossless)
			bytes = min_t(u32, bytes, dcqcnq_mmu_room(m, in, fill));
		moved = ((s64)bytes << DCQCNQ_HEADROOM_SHIFT) - bytes;
	} while (!atomic64_try_cmpxchg(&m->fill, &fill, fill - moved));
	in->headroom_bytes -= bytes;
	in->shared_bytes += bytes;
}

/**
 * dcqcnq_mmu_review() - decide anew whether an ingress is paused
 * @m: the buffer, after a change
 * @in: the ingress, locked
 */
static inline void dcqcnq_mmu_review(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in)
{
	dcqcnq_mmu_move(m, in);
	if (in->headroom_bytes || in->shared_bytes > dcqcnq_mmu_xoff(m))
		in->paused = true;
	if (dcqcnq_mmu_may_go(m, in))
		in->paused = false;
}

#endif /* _CLOSNET_DCQCN_POOL_CORE_H */
