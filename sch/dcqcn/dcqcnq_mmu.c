// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shared buffer of a switch: admission of packets, and PFC decisions
 *
 * The memory management unit (MMU) of a switch, without packets: plain C,
 * compiled into sch_dcqcn and into its unit tests.
 *
 *	buffer
 *	+--------------------------------------+-----------------------------+
 *	| shared                               | headroom of each ingress    |
 *	| first come, first served             | port and lossless priority  |
 *	+--------------------------------------+-----------------------------+
 *
 * An arriving packet of a lossless priority is charged to its ingress, the
 * (port, priority) by which it came in:
 *
 *	within the threshold t_PFC, and while there is room ----> shared
 *	above t_PFC: the ingress is paused (XOFF) --------------> its headroom
 *	above the headroom -------------------------------------> dropped
 *
 * Any other packet takes room in the shared part, while there is some.
 *
 *	               above t_PFC
 *	     +------+ -------XOFF-------------> +--------+
 *	     | open |                           | paused |
 *	     +------+ <------XON--------------- +--------+
 *	      headroom empty, and at most t_PFC - 2 MTU or no bytes in shared
 *
 * A packet that leaves frees headroom of its ingress first, wherever its own
 * bytes were counted.
 *
 * t_PFC, with the symbols of the paper (section 4; B: buffer, n: ports, 8
 * lossless priorities, s: bytes in the shared part):
 *
 *	auto	(B - 8 n t_flight) / (8 n)
 *	static	the configured value
 *	dynamic	beta (B - 8 n t_flight - s) / 8
 *
 * Concurrency. The caller holds a lock for each struct dcqcnq_ingress. All
 * ingresses share one atomic64_t, the fill: bytes in the shared part and in the
 * headrooms, 32 bits each. An admission checks both and adds to one of them in a
 * single compare-and-exchange. So
 *
 *	shared part + headrooms <= B, shared part <= B - 8 n t_flight
 *
 * hold after each admission exactly, with any number of CPUs. An ingress's bytes
 * in the shared part are at most t_PFC as it was when the admission began. A
 * dynamic t_PFC may be older than the exchange by as many packets as other CPUs
 * admit meanwhile.
 *
 * The limits are written one by one while admissions read them. A CPU uses the
 * new limits from the next time it takes a lock that the writer had after it.
 *
 * Reference: Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron,
 * J. Padhye, S. Raindel, M. H. Yahia, M. Zhang: "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015, sections 2.2 and 4. The formulas
 * of the thresholds are in dcqcnq_buffers.c.
 *
 * Differences from the paper:
 * - Ports may have headrooms of different sizes, and fewer than eight
 *   priorities may be lossless.
 * - A threshold that is too high for the buffer does not give a port the
 *   headroom of other ports: the port is paused when the shared part is full.
 * - An ingress without waiting packets is never paused, even if t_PFC is less
 *   than 2 MTU, since no departure would resume it.
 */
#include "dcqcnq_buffers.h"
#include "dcqcnq_mmu.h"

/**
 * dcqcnq_mmu_fits() - check that the buffer exceeds the headrooms
 * @p: settings
 * @headroom_sum: sum of all ports' headrooms for one priority, bytes
 *
 * Return: true if some shared buffer remains.
 */
bool dcqcnq_mmu_fits(const struct dcqcnq_pool_options *p, u64 headroom_sum)
{
	return hweight8(p->pfc) * headroom_sum < p->buffer;
}

/**
 * dcqcnq_mmu_set() - set the limits
 * @m: the buffer; call dcqcnq_mmu_review() for each ingress afterwards
 * @p: settings
 * @ports: number of ports
 * @headroom_sum: sum of all ports' headrooms for one priority, bytes
 */
void dcqcnq_mmu_set(struct dcqcnq_mmu *m, const struct dcqcnq_pool_options *p, u32 ports,
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

/* Compute the free bytes of the shared part. */
static u32 dcqcnq_mmu_free(const struct dcqcnq_mmu *m, u64 fill)
{
	u32 shared = READ_ONCE(m->shared), buffer = READ_ONCE(m->buffer);
	u32 in_shared = dcqcnq_fill_shared(fill);
	u64 bytes = dcqcnq_fill_bytes(fill);

	if (in_shared >= shared || bytes >= buffer)
		return 0;
	return min_t(u64, shared - in_shared, buffer - bytes);
}

/* Compute the threshold t_PFC for @free bytes of the shared part. */
static u32 dcqcnq_mmu_xoff_of(const struct dcqcnq_mmu *m, u32 free)
{
	u32 beta = READ_ONCE(m->beta);

	if (likely(!beta))
		return READ_ONCE(m->xoff);
	return min_t(u64, READ_ONCE(m->buffer),
		     dcqcnq_pfc_dynamic(free, beta, READ_ONCE(m->prios)));
}

/**
 * dcqcnq_mmu_xoff() - compute the current threshold t_PFC
 * @m: the buffer
 *
 * Return: bytes.
 */
u32 dcqcnq_mmu_xoff(const struct dcqcnq_mmu *m)
{
	return dcqcnq_mmu_xoff_of(m, dcqcnq_mmu_free(m, atomic64_read(&m->fill)));
}

/* Compute the bytes of the shared part that an ingress can still take. */
static __always_inline u32 dcqcnq_mmu_room(const struct dcqcnq_mmu *m,
					   const struct dcqcnq_ingress *in, u64 fill)
{
	u32 free = dcqcnq_mmu_free(m, fill);
	u32 xoff = dcqcnq_mmu_xoff_of(m, free);

	if (in->shared_bytes >= xoff)
		return 0;
	return min_t(u32, xoff - in->shared_bytes, free);
}

static void dcqcnq_mmu_peak(struct dcqcnq_mmu *m, u64 fill)
{
	u32 bytes = dcqcnq_fill_bytes(fill);

	if (unlikely(bytes > READ_ONCE(m->peak_bytes)))
		WRITE_ONCE(m->peak_bytes, bytes);
}

/*
 * Take bytes of the shared part, for an ingress or (NULL) without one. Each
 * round but the last means that another CPU has admitted or released a packet.
 */
static __always_inline bool dcqcnq_mmu_take_shared(struct dcqcnq_mmu *m,
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
static bool dcqcnq_mmu_take_headroom(struct dcqcnq_mmu *m, const struct dcqcnq_ingress *in,
				     u32 len)
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

static void dcqcnq_ingress_peak(struct dcqcnq_ingress *in)
{
	in->peak_bytes = max_t(u32, in->peak_bytes,
			       in->shared_bytes + in->headroom_bytes);
}

/* Admit a protected packet for which the shared part has no room. */
static noinline enum dcqcnq_verdict dcqcnq_mmu_admit_above(struct dcqcnq_mmu *m,
							   struct dcqcnq_ingress *in, u32 len)
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
 * @len: length of the packet, bytes, less than 2^30
 * @fits: the packet is within the egress's limit
 *
 * Return: DCQCNQ_LOSSY or DCQCNQ_NO_ROOM.
 */
enum dcqcnq_verdict dcqcnq_mmu_admit_other(struct dcqcnq_mmu *m, u32 len, bool fits)
{
	return fits && dcqcnq_mmu_take_shared(m, NULL, len) ? DCQCNQ_LOSSY : DCQCNQ_NO_ROOM;
}

/**
 * dcqcnq_mmu_admit() - admit a packet
 * @m: the buffer
 * @in: its ingress, locked; may become paused
 * @len: length of the packet, bytes, less than 2^30
 * @fits: the packet is within the egress's limit, which applies if PFC does not
 *	protect it
 *
 * Return: enum dcqcnq_verdict.
 */
enum dcqcnq_verdict dcqcnq_mmu_admit(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len,
				     bool fits)
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

/* May a paused ingress resume? */
static bool dcqcnq_mmu_may_resume(const struct dcqcnq_mmu *m, const struct dcqcnq_ingress *in)
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
void dcqcnq_mmu_release_other(struct dcqcnq_mmu *m, u32 len)
{
	atomic64_sub(len, &m->fill);
}

/**
 * dcqcnq_mmu_release() - release an admitted packet
 * @m: the buffer
 * @in: its ingress, locked; may resume
 * @len: as when it was admitted
 */
void dcqcnq_mmu_release(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in, u32 len)
{
	u32 part = min_t(u32, len, in->headroom_bytes);

	in->headroom_bytes -= part;
	in->shared_bytes -= len - part;
	atomic64_sub(((s64)part << DCQCNQ_HEADROOM_SHIFT) + (len - part), &m->fill);
	if (unlikely(in->paused) && dcqcnq_mmu_may_resume(m, in))
		in->paused = false;
}

/*
 * Move bytes from the headroom to the shared part: as many as there is room for,
 * or all of them if PFC no longer protects the ingress. Rounds: see
 * dcqcnq_mmu_take_shared().
 */
static void dcqcnq_mmu_move(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in)
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
 * dcqcnq_mmu_review() - decide again whether an ingress is paused
 * @m: the buffer, whose limits or fill may have changed
 * @in: the ingress, locked
 */
void dcqcnq_mmu_review(struct dcqcnq_mmu *m, struct dcqcnq_ingress *in)
{
	dcqcnq_mmu_move(m, in);
	if (in->headroom_bytes || in->shared_bytes > dcqcnq_mmu_xoff(m))
		in->paused = true;
	if (dcqcnq_mmu_may_resume(m, in))
		in->paused = false;
}
