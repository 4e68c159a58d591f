/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_dcqcn, DCQCN's congestion point
 */
#ifndef _UAPI_LINUX_PKT_SCHED_DCQCN_H
#define _UAPI_LINUX_PKT_SCHED_DCQCN_H

#include <linux/types.h>

/* TCA_DCQCN_PRIO: each packet's skb->priority if below 8, else 0 */
#define TC_DCQCN_PRIO_PACKET	8

/**
 * enum tc_dcqcn_xoff - from how many bytes on an ingress port is paused, t_PFC
 * @TC_DCQCN_XOFF_AUTO: an equal share of the buffer without headroom for each
 *	port and lossless priority (section 4 of the paper, static)
 * @TC_DCQCN_XOFF_STATIC: TCA_DCQCN_POOL_XOFF
 * @TC_DCQCN_XOFF_DYNAMIC: beta times the free part of the buffer without
 *	headroom, for each lossless priority (section 4, dynamic)
 */
enum tc_dcqcn_xoff {
	TC_DCQCN_XOFF_AUTO,
	TC_DCQCN_XOFF_STATIC,
	TC_DCQCN_XOFF_DYNAMIC,
};

/**
 * enum - attributes of sch_dcqcn
 * @TCA_DCQCN_UNSPEC: unused
 * @TCA_DCQCN_LIMIT: u32, most bytes waiting that PFC does not protect
 * @TCA_DCQCN_KMIN: u32, bytes up to which no packet is marked; not above kmax
 * @TCA_DCQCN_KMAX: u32, bytes above which every packet is marked
 * @TCA_DCQCN_PMAX: u32, probability of a mark at kmax, of 2^32 - 1; default: 20 %
 * @TCA_DCQCN_NONECT: u32, a packet that cannot be marked is 0: passed,
 *	1: dropped instead
 * @TCA_DCQCN_PRIO: u32, the queue's priority: its packets leave and are accounted in
 *	this priority, and its pauses hold them; or TC_DCQCN_PRIO_PACKET
 * @TCA_DCQCN_RATE: u64, bytes per second of the built-in shaper; 0: unlimited
 * @TCA_DCQCN_OVERHEAD: u32, bytes that the shaper adds to each packet's length
 * @TCA_DCQCN_STALL: u32, us without a departure after which a queue that is
 *	held counts as stalled; 0: never
 * @TCA_DCQCN_STALL_DROP: u32, 1: drop the packets of a stalled queue
 * @TCA_DCQCN_POOL: nest, the switch that the port belongs to,
 *	TCA_DCQCN_POOL_*
 */
enum {
	TCA_DCQCN_UNSPEC,
	TCA_DCQCN_LIMIT,
	TCA_DCQCN_KMIN,
	TCA_DCQCN_KMAX,
	TCA_DCQCN_PMAX,
	TCA_DCQCN_NONECT,
	TCA_DCQCN_PRIO,
	TCA_DCQCN_RATE,
	TCA_DCQCN_OVERHEAD,
	TCA_DCQCN_STALL,
	TCA_DCQCN_STALL_DROP,
	TCA_DCQCN_POOL,
	/* private: */
	TCA_DCQCN_PAD,
	__TCA_DCQCN_MAX,
};

#define TCA_DCQCN_MAX	(__TCA_DCQCN_MAX - 1)

/**
 * enum - attributes within TCA_DCQCN_POOL: a switch's shared buffer
 * @TCA_DCQCN_POOL_UNSPEC: unused
 * @TCA_DCQCN_POOL_NAME: string, the switch; the other settings, given for one
 *	port, hold for all its ports
 * @TCA_DCQCN_POOL_BUFFER: u32, bytes of the shared buffer
 * @TCA_DCQCN_POOL_HEADROOM: u32, bytes for packets that still arrive at a paused
 *	(port, priority); 0: computed from rate, cable and MTU
 * @TCA_DCQCN_POOL_CABLE: u32, delay of the longest cable in ns
 * @TCA_DCQCN_POOL_XOFF_MODE: u32, enum tc_dcqcn_xoff
 * @TCA_DCQCN_POOL_XOFF: u32, bytes; with TC_DCQCN_XOFF_STATIC only
 * @TCA_DCQCN_POOL_BETA: u32, for TC_DCQCN_XOFF_DYNAMIC
 * @TCA_DCQCN_POOL_PFC: u32, lossless priorities, a bit each
 */
enum {
	TCA_DCQCN_POOL_UNSPEC,
	TCA_DCQCN_POOL_NAME,
	TCA_DCQCN_POOL_BUFFER,
	TCA_DCQCN_POOL_HEADROOM,
	TCA_DCQCN_POOL_CABLE,
	TCA_DCQCN_POOL_XOFF_MODE,
	TCA_DCQCN_POOL_XOFF,
	TCA_DCQCN_POOL_BETA,
	TCA_DCQCN_POOL_PFC,
	/* private: */
	__TCA_DCQCN_POOL_MAX,
};

#define TCA_DCQCN_POOL_MAX	(__TCA_DCQCN_POOL_MAX - 1)

/**
 * enum - statistics of sch_dcqcn, attributes within TCA_STATS_APP
 * @TCA_DCQCN_STATS_UNSPEC: unused
 * @TCA_DCQCN_STATS_PEAK_BYTES: u64, most bytes seen waiting
 * @TCA_DCQCN_STATS_MARKED_PACKETS: u64, packets marked CE here
 * @TCA_DCQCN_STATS_DROPPED_LIMIT_PACKETS: u64, packets that PFC does not protect,
 *	dropped because the limit or the pool's buffer was full
 * @TCA_DCQCN_STATS_DROPPED_NONECT_PACKETS: u64, packets to be marked that are
 *	not ECT, dropped instead
 * @TCA_DCQCN_STATS_DROPPED_HEADROOM_PACKETS: u64, packets that PFC protects,
 *	dropped because their ingress port's headroom was full
 * @TCA_DCQCN_STATS_DROPPED_STALLED_PACKETS: u64, packets dropped by stall_drop
 * @TCA_DCQCN_STATS_DROPPED_NOMEM_PACKETS: u64, packets to be marked for which
 *	there was no memory
 * @TCA_DCQCN_STATS_DROPPED_GSO_PACKETS: u64, GSO packets that could not be
 *	segmented
 * @TCA_DCQCN_STATS_STALLS: u64, times that the queue was found stalled
 * @TCA_DCQCN_STATS_POOL: nest, TCA_DCQCN_STATS_POOL_*; with a pool only
 * @TCA_DCQCN_STATS_PRIO: nest, TCA_DCQCN_STATS_PRIO_*: a priority of the port.
 *	One for each priority that the queue accounts in; only with a pool or
 *	on closwire
 */
enum {
	TCA_DCQCN_STATS_UNSPEC,
	TCA_DCQCN_STATS_PEAK_BYTES,
	TCA_DCQCN_STATS_MARKED_PACKETS,
	TCA_DCQCN_STATS_DROPPED_LIMIT_PACKETS,
	TCA_DCQCN_STATS_DROPPED_NONECT_PACKETS,
	TCA_DCQCN_STATS_DROPPED_HEADROOM_PACKETS,
	TCA_DCQCN_STATS_DROPPED_STALLED_PACKETS,
	TCA_DCQCN_STATS_DROPPED_NOMEM_PACKETS,
	TCA_DCQCN_STATS_DROPPED_GSO_PACKETS,
	TCA_DCQCN_STATS_STALLS,
	TCA_DCQCN_STATS_POOL,
	TCA_DCQCN_STATS_PRIO,
	/* private: */
	TCA_DCQCN_STATS_PAD,
	__TCA_DCQCN_STATS_MAX,
};

#define TCA_DCQCN_STATS_MAX	(__TCA_DCQCN_STATS_MAX - 1)

/**
 * enum - attributes within TCA_DCQCN_STATS_POOL
 * @TCA_DCQCN_STATS_POOL_UNSPEC: unused
 * @TCA_DCQCN_STATS_POOL_PORTS: u64, ports of the pool
 * @TCA_DCQCN_STATS_POOL_BYTES: u64, bytes that wait at all its ports
 * @TCA_DCQCN_STATS_POOL_PEAK_BYTES: u64, most of them seen
 * @TCA_DCQCN_STATS_POOL_XOFF_BYTES: u64, the threshold t_PFC, as it is now
 * @TCA_DCQCN_STATS_POOL_HEADROOM_BYTES: u64, headroom of this port and a
 *	lossless priority
 */
enum {
	TCA_DCQCN_STATS_POOL_UNSPEC,
	TCA_DCQCN_STATS_POOL_PORTS,
	TCA_DCQCN_STATS_POOL_BYTES,
	TCA_DCQCN_STATS_POOL_PEAK_BYTES,
	TCA_DCQCN_STATS_POOL_XOFF_BYTES,
	TCA_DCQCN_STATS_POOL_HEADROOM_BYTES,
	/* private: */
	TCA_DCQCN_STATS_POOL_PAD,
	__TCA_DCQCN_STATS_POOL_MAX,
};

#define TCA_DCQCN_STATS_POOL_MAX	(__TCA_DCQCN_STATS_POOL_MAX - 1)

/**
 * enum - attributes within TCA_DCQCN_STATS_PRIO: a priority of the port. All but
 * the first two are there with a pool only
 * @TCA_DCQCN_STATS_PRIO_UNSPEC: unused
 * @TCA_DCQCN_STATS_PRIO_INDEX: u32, the priority
 * @TCA_DCQCN_STATS_PRIO_PAUSED_NS: u64, how long the peer has paused it;
 *	closwire only
 * @TCA_DCQCN_STATS_PRIO_INGRESS_BYTES: u64, bytes that came in by this port and
 *	wait at any port of the pool
 * @TCA_DCQCN_STATS_PRIO_INGRESS_PEAK_BYTES: u64, most of them seen
 * @TCA_DCQCN_STATS_PRIO_HEADROOM_BYTES: u64, those of them above the threshold
 * @TCA_DCQCN_STATS_PRIO_HEADROOM_PEAK_BYTES: u64, most of these seen
 * @TCA_DCQCN_STATS_PRIO_XOFF_FRAMES: u64, pause frames sent that pause the
 *	priority, refreshed ones included
 * @TCA_DCQCN_STATS_PRIO_XON_FRAMES: u64, pause frames sent that resume it
 * @TCA_DCQCN_STATS_PRIO_DROPPED_PACKETS: u64, packets that came in by this port
 *	and were dropped at any port of the pool, since the headroom was full
 */
enum {
	TCA_DCQCN_STATS_PRIO_UNSPEC,
	TCA_DCQCN_STATS_PRIO_INDEX,
	TCA_DCQCN_STATS_PRIO_PAUSED_NS,
	TCA_DCQCN_STATS_PRIO_INGRESS_BYTES,
	TCA_DCQCN_STATS_PRIO_INGRESS_PEAK_BYTES,
	TCA_DCQCN_STATS_PRIO_HEADROOM_BYTES,
	TCA_DCQCN_STATS_PRIO_HEADROOM_PEAK_BYTES,
	TCA_DCQCN_STATS_PRIO_XOFF_FRAMES,
	TCA_DCQCN_STATS_PRIO_XON_FRAMES,
	TCA_DCQCN_STATS_PRIO_DROPPED_PACKETS,
	/* private: */
	TCA_DCQCN_STATS_PRIO_PAD,
	__TCA_DCQCN_STATS_PRIO_MAX,
};

#define TCA_DCQCN_STATS_PRIO_MAX	(__TCA_DCQCN_STATS_PRIO_MAX - 1)

#endif /* _UAPI_LINUX_PKT_SCHED_DCQCN_H */
