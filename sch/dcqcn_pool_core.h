/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch's shared buffer: who may take how much, and who is paused for it
 *
 * The memory management unit of a switch without its packets: plain C, no
 * kernel types, so that the unit test runs the very code that the module runs.
 *
 *	buffer
 *	+--------------------------------------+-----------------------------+
 *	| shared                               | headroom of each ingress    |
 *	| first come, first served             | port and lossless priority  |
 *	+--------------------------------------+-----------------------------+
 *
 * An arriving packet of a lossless priority is charged to the (port, priority)
 * by which it came in:
 *
 *	within the threshold t_PFC, and within what is free ----> shared
 *	above it: the port is paused (XOFF) --------------------> its headroom
 *	beyond the headroom ------------------------------------> dropped
 *
 * A packet of any other sort takes of the shared part while that lasts.
 *
 *	              more than t_PFC
 *	     +------+ -------XOFF-------------> +--------+
 *	     | goes |                           | paused |
 *	     +------+ <------XON--------------- +--------+
 *	              headroom empty, and t_PFC - 2 MTU or less, or nothing at all
 *
 * What leaves gives back its (port, priority)'s headroom first: bytes are
 * not told apart.
 *
 * t_PFC, with the symbols of the paper (section 4; B: buffer, n: ports, 8
 * lossless priorities, s: bytes in the shared part):
 *
 *	auto	(B - 8 n t_flight) / (8 n)
 *	static	what was set
 *	dynamic	beta (B - 8 n t_flight - s) / 8
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
 *   the others' headroom: it is paused when the shared part is full.
 * - A (port, priority) of which nothing waits is never paused, be t_PFC less
 *   than 2 MTU: nothing would leave that could lift the pause.
 */
#ifndef _CLOSNET_DCQCN_POOL_CORE_H
#define _CLOSNET_DCQCN_POOL_CORE_H

#include <closnet/core.h>
#include <closnet/dcqcn_buffers.h>
#include <linux/pkt_sched_dcqcn.h>

/**
 * struct dcqcn_pool_params - what is set for a pool
 * @buffer: bytes of the shared buffer
 * @headroom: bytes for what still arrives at a paused (port, priority); 0: by
 *	the port's rate, cable and MTU
 * @cable_ns: delay of the longest cable
 * @xoff: bytes, for TC_DCQCN_XOFF_STATIC
 * @beta: for TC_DCQCN_XOFF_DYNAMIC
 * @xoff_mode: enum tc_dcqcn_xoff
 * @pfc: lossless priorities, a bit each
 */
struct dcqcn_pool_params {
	u32 buffer;
	u32 headroom;
	u32 cable_ns;
	u32 xoff;
	u32 beta;
	u8 xoff_mode;
	u8 pfc;
};

/**
 * enum dcqcn_verdict - what becomes of a packet that arrives at an egress
 * @DCQCN_LOSSY: admitted; PFC does not protect it
 * @DCQCN_LOSSLESS: admitted; PFC protects it
 * @DCQCN_NO_ROOM: to be dropped, not protected: no room in the buffer, or
 *	beyond the limit
 * @DCQCN_NO_HEADROOM: to be dropped although protected; counted at the ingress
 */
enum dcqcn_verdict {
	DCQCN_LOSSY,
	DCQCN_LOSSLESS,
	DCQCN_NO_ROOM,
	DCQCN_NO_HEADROOM,
};

/**
 * struct dcqcn_mmu_prio - what came in by a port with a priority and waits
 * @shared_bytes: of it, in the shared part
 * @headroom_bytes: in the headroom
 * @peak_bytes: most of both seen
 * @headroom_peak_bytes: most seen in the headroom
 * @dropped_packets: dropped although protected
 */
struct dcqcn_mmu_prio {
	u32 shared_bytes;
	u32 headroom_bytes;
	u32 peak_bytes;
	u32 headroom_peak_bytes;
	u64 dropped_packets;
};

/**
 * struct dcqcn_mmu_port - an ingress port
 * @headroom: bytes reserved for each lossless priority
 * @mtu: bytes; XON is given 2 MTU below the threshold
 * @paused: priorities that are to be paused, a bit each
 * @member: has not left
 * @prio: of each priority
 */
struct dcqcn_mmu_port {
	u32 headroom;
	u32 mtu;
	u8 paused;
	bool member;
	struct dcqcn_mmu_prio prio[TC_DCQCN_PRIOS];
};

/**
 * struct dcqcn_mmu - a switch's buffer
 * @params: what is set
 * @ports: members
 * @headroom_sum: of all members, for one priority
 * @prios: lossless priorities; 1 if there are none
 * @shared: bytes of the shared part
 * @xoff_auto: the threshold of TC_DCQCN_XOFF_AUTO
 * @shared_bytes: taken of the shared part; may be more than @shared for a
 *	while when that becomes smaller
 * @bytes: all that wait
 * @peak_bytes: most of them seen
 */
struct dcqcn_mmu {
	struct dcqcn_pool_params params;
	u32 ports;
	u64 headroom_sum;
	u32 prios;
	u32 shared;
	u32 xoff_auto;
	u32 shared_bytes;
	u32 bytes;
	u32 peak_bytes;
};

/**
 * dcqcn_mmu_fits() - does the buffer hold the headroom of all ports, and more?
 * @p: what is to be set
 * @headroom_sum: of all ports, for one priority
 *
 * Return: true if so.
 */
static inline bool dcqcn_mmu_fits(const struct dcqcn_pool_params *p,
				  u64 headroom_sum)
{
	return hweight8(p->pfc) * headroom_sum < p->buffer;
}

/**
 * dcqcn_mmu_update() - compute what follows from parameters and ports
 * @m: the buffer; each port needs dcqcn_mmu_review() then
 */
static inline void dcqcn_mmu_update(struct dcqcn_mmu *m)
{
	u64 reserved = hweight8(m->params.pfc) * m->headroom_sum;

	m->prios = max_t(u32, hweight8(m->params.pfc), 1);
	m->shared = m->params.buffer - min_t(u64, reserved, m->params.buffer);
	m->xoff_auto = dcqcn_pfc_static(m->shared, max_t(u32, m->ports, 1), m->prios);
}

/* Bytes that the shared part can still take */
static inline u32 dcqcn_mmu_free(const struct dcqcn_mmu *m)
{
	if (m->shared_bytes >= m->shared || m->bytes >= m->params.buffer)
		return 0;
	return min_t(u32, m->shared - m->shared_bytes, m->params.buffer - m->bytes);
}

/**
 * dcqcn_mmu_xoff() - the threshold t_PFC
 * @m: the buffer
 *
 * Return: bytes, as it is now.
 */
static inline u32 dcqcn_mmu_xoff(const struct dcqcn_mmu *m)
{
	switch (m->params.xoff_mode) {
	case TC_DCQCN_XOFF_STATIC:
		return m->params.xoff;
	case TC_DCQCN_XOFF_DYNAMIC:
		return min_t(u64, m->params.buffer,
			     dcqcn_pfc_dynamic(dcqcn_mmu_free(m), m->params.beta, m->prios));
	default:
		return m->xoff_auto;
	}
}

/* Bytes of the shared part that a (port, priority) can still take */
static inline u32 dcqcn_mmu_room(const struct dcqcn_mmu *m,
				 const struct dcqcn_mmu_prio *q)
{
	u32 xoff = dcqcn_mmu_xoff(m);

	if (q->shared_bytes >= xoff)
		return 0;
	return min_t(u32, xoff - q->shared_bytes, dcqcn_mmu_free(m));
}

static inline bool dcqcn_mmu_lossless(const struct dcqcn_mmu *m,
				      const struct dcqcn_mmu_port *port, u32 prio)
{
	return port && port->member && m->params.pfc >> prio & 1;
}

/* May a paused (port, priority) go on? */
static inline bool dcqcn_mmu_may_go(const struct dcqcn_mmu *m,
				    const struct dcqcn_mmu_port *port, u32 prio)
{
	const struct dcqcn_mmu_prio *q = &port->prio[prio];

	if (!dcqcn_mmu_lossless(m, port, prio))
		return true;
	return !q->headroom_bytes &&
	       (!q->shared_bytes || dcqcn_mmu_room(m, q) >= 2 * port->mtu);
}

static inline void dcqcn_mmu_take(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port,
				  u32 prio, u32 len, bool shared)
{
	struct dcqcn_mmu_prio *q;
	u32 bytes;

	m->bytes += len;
	m->peak_bytes = max_t(u32, m->peak_bytes, m->bytes);
	if (shared)
		m->shared_bytes += len;
	if (!port)
		return;
	q = &port->prio[prio];
	if (shared)
		q->shared_bytes += len;
	else
		q->headroom_bytes += len;
	bytes = q->shared_bytes + q->headroom_bytes;
	q->peak_bytes = max_t(u32, q->peak_bytes, bytes);
	q->headroom_peak_bytes = max_t(u32, q->headroom_peak_bytes, q->headroom_bytes);
}

/* A protected packet for which the shared part has no room */
static inline enum dcqcn_verdict
dcqcn_mmu_admit_above(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port, u32 prio,
		      u32 len)
{
	struct dcqcn_mmu_prio *q = &port->prio[prio];
	bool taken;

	taken = (u64)q->headroom_bytes + len <= port->headroom &&
		(u64)m->bytes + len <= m->params.buffer;
	if (taken)
		dcqcn_mmu_take(m, port, prio, len, false);
	else
		q->dropped_packets++;
	if (q->shared_bytes || q->headroom_bytes)
		port->paused |= 1 << prio;
	return taken ? DCQCN_LOSSLESS : DCQCN_NO_HEADROOM;
}

/**
 * dcqcn_mmu_admit() - a packet arrives
 * @m: the buffer
 * @port: where it came in; NULL: elsewhere. Its @paused may become more
 * @prio: its priority
 * @len: bytes, less than 2^30
 * @fits: if it is not protected: is it within the egress's limit?
 *
 * Return: what becomes of it.
 */
static inline enum dcqcn_verdict
dcqcn_mmu_admit(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port, u32 prio, u32 len,
		bool fits)
{
	if (!dcqcn_mmu_lossless(m, port, prio)) {
		if (!fits || len > dcqcn_mmu_free(m))
			return DCQCN_NO_ROOM;
		dcqcn_mmu_take(m, port, prio, len, true);
		return DCQCN_LOSSY;
	}
	if (unlikely(len > dcqcn_mmu_room(m, &port->prio[prio])))
		return dcqcn_mmu_admit_above(m, port, prio, len);
	dcqcn_mmu_take(m, port, prio, len, true);
	return DCQCN_LOSSLESS;
}

/**
 * dcqcn_mmu_release() - an admitted packet leaves
 * @m: the buffer
 * @port: as when it was admitted; its @paused may become less
 * @prio: as when it was admitted
 * @len: as when it was admitted
 */
static inline void dcqcn_mmu_release(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port,
				     u32 prio, u32 len)
{
	struct dcqcn_mmu_prio *q;
	u32 part;

	m->bytes -= len;
	if (!port) {
		m->shared_bytes -= len;
		return;
	}
	q = &port->prio[prio];
	part = min_t(u32, len, q->headroom_bytes);
	q->headroom_bytes -= part;
	q->shared_bytes -= len - part;
	m->shared_bytes -= len - part;
	if (unlikely(port->paused >> prio & 1) && dcqcn_mmu_may_go(m, port, prio))
		port->paused &= ~(1 << prio);
}

/* Part of what lies in the headroom belongs to the shared part now. */
static inline void dcqcn_mmu_move(struct dcqcn_mmu *m, struct dcqcn_mmu_prio *q,
				  u32 bytes)
{
	bytes = min_t(u32, bytes, q->headroom_bytes);
	q->headroom_bytes -= bytes;
	q->shared_bytes += bytes;
	m->shared_bytes += bytes;
}

/**
 * dcqcn_mmu_review() - decide anew what is paused, after something has changed
 * @m: the buffer
 * @port: the port
 */
static inline void dcqcn_mmu_review(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port)
{
	u32 prio;

	for (prio = 0; prio < TC_DCQCN_PRIOS; prio++) {
		struct dcqcn_mmu_prio *q = &port->prio[prio];

		if (dcqcn_mmu_lossless(m, port, prio)) {
			dcqcn_mmu_move(m, q, dcqcn_mmu_room(m, q));
			if (q->headroom_bytes || q->shared_bytes > dcqcn_mmu_xoff(m))
				port->paused |= 1 << prio;
		} else {
			dcqcn_mmu_move(m, q, q->headroom_bytes);
		}
		if (dcqcn_mmu_may_go(m, port, prio))
			port->paused &= ~(1 << prio);
	}
}

/**
 * dcqcn_mmu_set_port() - set what a member's line demands
 * @m: the buffer
 * @port: the port
 * @headroom: bytes for each lossless priority
 * @mtu: bytes
 *
 * dcqcn_mmu_update() and dcqcn_mmu_review() are to follow.
 */
static inline void dcqcn_mmu_set_port(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port,
				      u32 headroom, u32 mtu)
{
	m->headroom_sum += headroom;
	m->headroom_sum -= port->headroom;
	port->headroom = headroom;
	port->mtu = mtu;
}

/**
 * dcqcn_mmu_join() - a port comes; dcqcn_mmu_set_port() is to follow
 * @m: the buffer
 * @port: the port, zeroed
 */
static inline void dcqcn_mmu_join(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port)
{
	port->member = true;
	m->ports++;
}

/**
 * dcqcn_mmu_leave() - a port goes; what it brought in stays until it is released
 * @m: the buffer
 * @port: the port; none of its priorities is paused then
 *
 * dcqcn_mmu_update(), and dcqcn_mmu_review() of the others, are to follow.
 */
static inline void dcqcn_mmu_leave(struct dcqcn_mmu *m, struct dcqcn_mmu_port *port)
{
	dcqcn_mmu_set_port(m, port, 0, port->mtu);
	port->member = false;
	m->ports--;
	dcqcn_mmu_review(m, port);
}

#endif /* _CLOSNET_DCQCN_POOL_CORE_H */
