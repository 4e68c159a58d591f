/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_dcqcn, DCQCN's congestion point
 */
#ifndef _UAPI_LINUX_PKT_SCHED_DCQCN_H
#define _UAPI_LINUX_PKT_SCHED_DCQCN_H

#include <linux/types.h>

#define TC_DCQCN_PRIOS		8
#define TC_DCQCN_MAP_LEN	64
#define TC_DCQCN_POOL_NAME_MAX	15

/* Sizes of queues and buffers, bytes */
#define TC_DCQCN_SIZE_MIN	64
#define TC_DCQCN_SIZE_MAX	(1 << 30)
#define TC_DCQCN_QUANTUM_MAX	(1 << 20)
#define TC_DCQCN_RATE_MIN	125ULL
#define TC_DCQCN_RATE_MAX	(1ULL << 40)
#define TC_DCQCN_OVERHEAD_MAX	256
#define TC_DCQCN_STALL_MIN	1000	/* us */
#define TC_DCQCN_STALL_MAX	60000000
#define TC_DCQCN_CABLE_MAX	10000000	/* ns */
#define TC_DCQCN_BETA_MAX	128

/**
 * enum tc_dcqcn_trust - what tells a packet's priority
 * @TC_DCQCN_TRUST_DSCP: its DSCP, through the map; what is not IP: priority 0
 * @TC_DCQCN_TRUST_PCP: the PCP of its VLAN tag, through the map; without a tag: 0
 * @TC_DCQCN_TRUST_PRIORITY: skb->priority, if below 8; else 0. No map
 */
enum tc_dcqcn_trust {
	TC_DCQCN_TRUST_DSCP,
	TC_DCQCN_TRUST_PCP,
	TC_DCQCN_TRUST_PRIORITY,
};

/**
 * enum tc_dcqcn_sched - how priorities share the port
 * @TC_DCQCN_SCHED_STRICT: the highest that has a packet
 * @TC_DCQCN_SCHED_DRR: deficit round robin, by quantum
 */
enum tc_dcqcn_sched {
	TC_DCQCN_SCHED_STRICT,
	TC_DCQCN_SCHED_DRR,
};

/**
 * enum tc_dcqcn_xoff - from how many bytes on an ingress port is paused, t_PFC
 * @TC_DCQCN_XOFF_AUTO: an equal share of the buffer without headroom for each
 *	port and lossless priority (section 4 of the paper, static)
 * @TC_DCQCN_XOFF_STATIC: TCA_DCQCN_POOL_XOFF
 * @TC_DCQCN_XOFF_DYNAMIC: beta times what is free of the buffer without
 *	headroom, for each lossless priority (section 4, dynamic)
 */
enum tc_dcqcn_xoff {
	TC_DCQCN_XOFF_AUTO,
	TC_DCQCN_XOFF_STATIC,
	TC_DCQCN_XOFF_DYNAMIC,
};

/**
 * enum - attributes within TCA_DCQCN_PRIO: one priority's own
 * @TCA_DCQCN_PRIO_UNSPEC: unused
 * @TCA_DCQCN_PRIO_INDEX: u8, 0..7
 * @TCA_DCQCN_PRIO_KMIN: u32, as TCA_DCQCN_KMIN
 * @TCA_DCQCN_PRIO_KMAX: u32, as TCA_DCQCN_KMAX
 * @TCA_DCQCN_PRIO_PMAX: u32, as TCA_DCQCN_PMAX
 * @TCA_DCQCN_PRIO_QUANTUM: u32, bytes a round with TC_DCQCN_SCHED_DRR,
 *	64..2^20
 */
enum {
	TCA_DCQCN_PRIO_UNSPEC,
	TCA_DCQCN_PRIO_INDEX,
	TCA_DCQCN_PRIO_KMIN,
	TCA_DCQCN_PRIO_KMAX,
	TCA_DCQCN_PRIO_PMAX,
	TCA_DCQCN_PRIO_QUANTUM,
	/* private: */
	__TCA_DCQCN_PRIO_MAX,
};

#define TCA_DCQCN_PRIO_MAX	(__TCA_DCQCN_PRIO_MAX - 1)

/**
 * enum - attributes of sch_dcqcn
 * @TCA_DCQCN_UNSPEC: unused
 * @TCA_DCQCN_LIMIT: u32, most bytes waiting that PFC does not protect, 64..2^30
 * @TCA_DCQCN_KMIN: u32, bytes up to which nothing is marked, 0..2^30, not
 *	above kmax; of all priorities but those with a value of their own
 * @TCA_DCQCN_KMAX: u32, bytes above which all is marked, 0..2^30
 * @TCA_DCQCN_PMAX: u32, probability of a mark at kmax, of 2^32 - 1
 * @TCA_DCQCN_NONECT: u8, a packet that cannot be marked is 0: passed,
 *	1: dropped instead
 * @TCA_DCQCN_TRUST: u8, enum tc_dcqcn_trust
 * @TCA_DCQCN_MAP: 64 times u8, priority of each DSCP; of each PCP in the
 *	first 8
 * @TCA_DCQCN_SCHED: u8, enum tc_dcqcn_sched
 * @TCA_DCQCN_RATE: u64, bytes per second of the built-in shaper, 0: none, or
 *	125..2^40
 * @TCA_DCQCN_OVERHEAD: u32, bytes that the shaper adds to each packet's
 *	length, 0..256
 * @TCA_DCQCN_STALL: u32, us without a departure after which a priority counts as
 *	stalled, 0: never, or 1000..60000000
 * @TCA_DCQCN_STALL_DROP: u8, 1: drop what a stalled priority holds and gets
 * @TCA_DCQCN_PRIO: nest, TCA_DCQCN_PRIO_*; any number of them. What it does not
 *	have is as the port has it, whatever the priority had before
 * @TCA_DCQCN_POOL: string, 1..15 characters: the switch that the port is of. The
 *	next seven are the switch's: given for one port, they hold for all
 * @TCA_DCQCN_POOL_BUFFER: u32, bytes of the shared buffer, 64..2^30
 * @TCA_DCQCN_POOL_HEADROOM: u32, bytes for what still arrives at a paused
 *	(port, priority), 0: by rate, cable and MTU, or 64..2^30
 * @TCA_DCQCN_POOL_CABLE: u32, ns that the longest cable delays, 0..10000000
 * @TCA_DCQCN_POOL_XOFF_MODE: u8, enum tc_dcqcn_xoff
 * @TCA_DCQCN_POOL_XOFF: u32, bytes, 64..2^30; with TC_DCQCN_XOFF_STATIC only
 * @TCA_DCQCN_POOL_BETA: u32, 1..128; for TC_DCQCN_XOFF_DYNAMIC
 * @TCA_DCQCN_POOL_PFC: u8, lossless priorities, a bit each
 */
enum {
	TCA_DCQCN_UNSPEC,
	TCA_DCQCN_LIMIT,
	TCA_DCQCN_KMIN,
	TCA_DCQCN_KMAX,
	TCA_DCQCN_PMAX,
	TCA_DCQCN_NONECT,
	TCA_DCQCN_TRUST,
	TCA_DCQCN_MAP,
	TCA_DCQCN_SCHED,
	TCA_DCQCN_RATE,
	TCA_DCQCN_OVERHEAD,
	TCA_DCQCN_STALL,
	TCA_DCQCN_STALL_DROP,
	TCA_DCQCN_PRIO,
	TCA_DCQCN_POOL,
	TCA_DCQCN_POOL_BUFFER,
	TCA_DCQCN_POOL_HEADROOM,
	TCA_DCQCN_POOL_CABLE,
	TCA_DCQCN_POOL_XOFF_MODE,
	TCA_DCQCN_POOL_XOFF,
	TCA_DCQCN_POOL_BETA,
	TCA_DCQCN_POOL_PFC,
	/* private: */
	TCA_DCQCN_PAD,
	__TCA_DCQCN_MAX,
};

#define TCA_DCQCN_MAX	(__TCA_DCQCN_MAX - 1)

/**
 * struct tc_dcqcn_prio_xstats - a priority of the port
 * @qlen_packets: packets that wait
 * @backlog_bytes: bytes that wait: the queue that marks are drawn by
 * @peak_bytes: most bytes seen waiting
 * @sent_packets: packets that left towards the wire
 * @sent_bytes: their bytes
 * @marked_packets: packets marked CE here
 * @dropped_limit_packets: packets that PFC does not protect, dropped for want of
 *	room: limit, or the pool's buffer
 * @dropped_nonect_packets: dropped, since they were to be marked and are not ECT
 * @dropped_stalled_packets: dropped by stall_drop
 * @stalls: times that it was found stalled
 * @paused_ns: how long the port at the cable's other end has paused it; closwire
 *	only
 * @ingress_bytes: in the pool: bytes that came in by this port and wait at any
 * @ingress_peak_bytes: most of them
 * @headroom_bytes: of @ingress_bytes, those above the threshold
 * @headroom_peak_bytes: most of them
 * @xoff_frames: pause frames sent that pause it, refreshed ones included
 * @xon_frames: pause frames sent that let it go on
 * @dropped_headroom_packets: came in by this port and dropped: headroom full
 */
struct tc_dcqcn_prio_xstats {
	__u64 qlen_packets;
	__u64 backlog_bytes;
	__u64 peak_bytes;
	__u64 sent_packets;
	__u64 sent_bytes;
	__u64 marked_packets;
	__u64 dropped_limit_packets;
	__u64 dropped_nonect_packets;
	__u64 dropped_stalled_packets;
	__u64 stalls;
	__u64 paused_ns;
	__u64 ingress_bytes;
	__u64 ingress_peak_bytes;
	__u64 headroom_bytes;
	__u64 headroom_peak_bytes;
	__u64 xoff_frames;
	__u64 xon_frames;
	__u64 dropped_headroom_packets;
};

/**
 * struct tc_dcqcn_xstats - statistics of sch_dcqcn (TCA_STATS_APP)
 * @prio: of each priority
 * @dropped_nomem_packets: dropped for want of memory while segmenting or marking
 * @pool_ports: ports of the pool; 0: none
 * @pool_bytes: bytes that wait at all its ports
 * @pool_peak_bytes: most of them
 * @pool_xoff_bytes: the threshold t_PFC, as it is now
 * @pool_headroom_bytes: headroom of this port and a lossless priority
 */
struct tc_dcqcn_xstats {
	struct tc_dcqcn_prio_xstats prio[TC_DCQCN_PRIOS];
	__u64 dropped_nomem_packets;
	__u64 pool_ports;
	__u64 pool_bytes;
	__u64 pool_peak_bytes;
	__u64 pool_xoff_bytes;
	__u64 pool_headroom_bytes;
};

#endif /* _UAPI_LINUX_PKT_SCHED_DCQCN_H */
