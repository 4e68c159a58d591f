/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_ndp, the NDP (SIGCOMM'17) switch queue.
 *
 * Attribute numbers are private to the qdisc kind "ndp". Readers skip
 * attributes that they do not know. tc-ndp(8) has units, ranges and defaults.
 */
#ifndef _UAPI_LINUX_PKT_SCHED_NDP_H
#define _UAPI_LINUX_PKT_SCHED_NDP_H

#include <linux/types.h>

/**
 * NDP_UDP_PORT - UDP destination port of closnet's NDP transport
 *
 * Trimmable by default. From the dynamic range (RFC 6335), above Linux's
 * own ephemeral range, so that no local socket gets it by chance.
 */
#define NDP_UDP_PORT	61199

/**
 * enum tc_ndp_mode - what a full data queue does (TCA_NDP_MODE)
 * @TC_NDP_MODE_NDP: trim; header queue with priority; return to sender
 * @TC_NDP_MODE_CP: Cut Payload: trim the arriving packet into the one FIFO
 * @TC_NDP_MODE_DROPTAIL: drop the arriving packet; never trim
 */
enum tc_ndp_mode {
	TC_NDP_MODE_NDP,
	TC_NDP_MODE_CP,
	TC_NDP_MODE_DROPTAIL,
	/* private: */
	__TC_NDP_MODE_MAX,
};

#define TC_NDP_MODE_MAX	(__TC_NDP_MODE_MAX - 1)

/**
 * enum tc_ndp_match - which IP unicast packets are NDP's (TCA_NDP_MATCH)
 * @TC_NDP_MATCH_UDP_PORT: UDP with destination port TCA_NDP_UDP_PORT
 * @TC_NDP_MATCH_DSCP: DSCP in the set TCA_NDP_DSCP_MASK
 * @TC_NDP_MATCH_ALL: every one
 *
 * A packet that carries dscp_trimmed or dscp_returned is NDP's too, if its
 * UDP source port is TCA_NDP_UDP_PORT, or, with TC_NDP_MATCH_DSCP, if it is
 * no longer than trim_size: the mark has replaced the DSCP that matched.
 */
enum tc_ndp_match {
	TC_NDP_MATCH_UDP_PORT,
	TC_NDP_MATCH_DSCP,
	TC_NDP_MATCH_ALL,
	/* private: */
	__TC_NDP_MATCH_MAX,
};

#define TC_NDP_MATCH_MAX	(__TC_NDP_MATCH_MAX - 1)

/**
 * enum - attributes in TCA_OPTIONS of a qdisc of kind "ndp"
 * @TCA_NDP_UNSPEC: unused
 * @TCA_NDP_LIMIT: u32, data queue, packets
 * @TCA_NDP_LIMIT_BYTES: u32, data queue, bytes; 0: no limit
 * @TCA_NDP_HLIMIT: u32, header queue, bytes; 0: the memory of the data queue
 * @TCA_NDP_RATIO: u32, headers for each data packet while both wait
 * @TCA_NDP_TRIM_SIZE: u32, bytes that a trimmed packet keeps, counted from
 *	the L2 header, VLAN tags included, FCS not
 * @TCA_NDP_MODE: u32, enum tc_ndp_mode
 * @TCA_NDP_MATCH: u32, enum tc_ndp_match
 * @TCA_NDP_DSCP_MASK: u64, bit n set: DSCP n is trimmable; with
 *	TC_NDP_MATCH_DSCP only
 * @TCA_NDP_UDP_PORT: u32, host byte order; with TC_NDP_MATCH_UDP_PORT only
 * @TCA_NDP_DSCP_TRIMMED: u32, DSCP that a trimmed packet gets
 * @TCA_NDP_RTS: u32, 1: return a trimmed packet to its sender when the header
 *	queue is full; 0: drop it
 * @TCA_NDP_DSCP_RETURNED: u32, DSCP that a returned packet gets, not
 *	TCA_NDP_DSCP_TRIMMED
 * @TCA_NDP_RATE: u64, bytes per second of the built-in shaper; 0: none
 * @TCA_NDP_OVERHEAD: u32, bytes that the shaper adds to each packet's length
 * @TCA_NDP_OTHER_LIMIT: u32, queue of other traffic, bytes; 0: 1000 frames
 * @TCA_NDP_OTHER_ECN: u32, bytes in the queue of other traffic from which on
 *	ECT packets are marked CE; 0: never
 */
enum {
	TCA_NDP_UNSPEC,
	TCA_NDP_LIMIT,
	TCA_NDP_LIMIT_BYTES,
	TCA_NDP_HLIMIT,
	TCA_NDP_RATIO,
	TCA_NDP_TRIM_SIZE,
	TCA_NDP_MODE,
	TCA_NDP_MATCH,
	TCA_NDP_DSCP_MASK,
	TCA_NDP_UDP_PORT,
	TCA_NDP_DSCP_TRIMMED,
	TCA_NDP_RTS,
	TCA_NDP_DSCP_RETURNED,
	TCA_NDP_RATE,
	TCA_NDP_OVERHEAD,
	TCA_NDP_OTHER_LIMIT,
	TCA_NDP_OTHER_ECN,
	/* private: */
	TCA_NDP_PAD,
	__TCA_NDP_MAX,
};

#define TCA_NDP_MAX	(__TCA_NDP_MAX - 1)

/**
 * enum - statistics of a queue, in a nest of TCA_NDP_STATS_*
 * @TCA_NDP_STATS_QUEUE_UNSPEC: unused
 * @TCA_NDP_STATS_QUEUE_QLEN_PACKETS: u64, packets in it now
 * @TCA_NDP_STATS_QUEUE_BACKLOG_BYTES: u64, bytes in it now
 * @TCA_NDP_STATS_QUEUE_PEAK_PACKETS: u64, most packets seen in it
 * @TCA_NDP_STATS_QUEUE_PEAK_BYTES: u64, most bytes seen in it
 * @TCA_NDP_STATS_QUEUE_SENT_PACKETS: u64, packets that left it towards the wire
 * @TCA_NDP_STATS_QUEUE_SENT_BYTES: u64, bytes that left it towards the wire
 */
enum {
	TCA_NDP_STATS_QUEUE_UNSPEC,
	TCA_NDP_STATS_QUEUE_QLEN_PACKETS,
	TCA_NDP_STATS_QUEUE_BACKLOG_BYTES,
	TCA_NDP_STATS_QUEUE_PEAK_PACKETS,
	TCA_NDP_STATS_QUEUE_PEAK_BYTES,
	TCA_NDP_STATS_QUEUE_SENT_PACKETS,
	TCA_NDP_STATS_QUEUE_SENT_BYTES,
	/* private: */
	TCA_NDP_STATS_QUEUE_PAD,
	__TCA_NDP_STATS_QUEUE_MAX,
};

#define TCA_NDP_STATS_QUEUE_MAX	(__TCA_NDP_STATS_QUEUE_MAX - 1)

/**
 * enum - statistics of a qdisc of kind "ndp", in TCA_STATS_APP
 * @TCA_NDP_STATS_UNSPEC: unused
 * @TCA_NDP_STATS_DATA: nest, TCA_NDP_STATS_QUEUE_*, the data queue
 * @TCA_NDP_STATS_HEADER: nest, TCA_NDP_STATS_QUEUE_*, the header queue: NDP
 *	packets that trimming would not shorten: trimmed ones, and those of at
 *	most trim_size bytes
 * @TCA_NDP_STATS_OTHER: nest, TCA_NDP_STATS_QUEUE_*, the queue of other traffic
 * @TCA_NDP_STATS_TRIMMED_ARRIVAL_PACKETS: u64, arriving packets trimmed
 * @TCA_NDP_STATS_TRIMMED_TAIL_PACKETS: u64, packets trimmed at the data queue's
 *	tail
 * @TCA_NDP_STATS_TRIMMED_BYTES: u64, bytes cut off in both cases
 * @TCA_NDP_STATS_RETURNED_PACKETS: u64, trimmed packets sent back to their sender
 * @TCA_NDP_STATS_ECN_MARKED_PACKETS: u64, packets of other traffic marked CE
 * @TCA_NDP_STATS_DROPPED_DATA_PACKETS: u64, data packets dropped: FIFO full
 *	(droptail), or limit made smaller
 * @TCA_NDP_STATS_DROPPED_HEADER_PACKETS: u64, headers dropped: header queue
 *	full, and not returned: rts is not set, the packet was never trimmed
 *	(control packets), its source is a group, its TTL is used up, the device
 *	has no Ethernet header, or the stack's input queue is full
 * @TCA_NDP_STATS_DROPPED_RETURNED_PACKETS: u64, headers dropped: header queue
 *	full, and returned once already
 * @TCA_NDP_STATS_DROPPED_OTHER_PACKETS: u64, other traffic dropped: its queue
 *	full
 * @TCA_NDP_STATS_DROPPED_GSO_PACKETS: u64, GSO packets dropped because they
 *	cannot be segmented
 * @TCA_NDP_STATS_DROPPED_NOMEM_PACKETS: u64, dropped because memory ran out
 *	while trimming, returning or segmenting
 *
 * In modes cp and droptail the packets of the data and the header queue stand
 * in one FIFO and are counted by their kind.
 */
enum {
	TCA_NDP_STATS_UNSPEC,
	TCA_NDP_STATS_DATA,
	TCA_NDP_STATS_HEADER,
	TCA_NDP_STATS_OTHER,
	TCA_NDP_STATS_TRIMMED_ARRIVAL_PACKETS,
	TCA_NDP_STATS_TRIMMED_TAIL_PACKETS,
	TCA_NDP_STATS_TRIMMED_BYTES,
	TCA_NDP_STATS_RETURNED_PACKETS,
	TCA_NDP_STATS_ECN_MARKED_PACKETS,
	TCA_NDP_STATS_DROPPED_DATA_PACKETS,
	TCA_NDP_STATS_DROPPED_HEADER_PACKETS,
	TCA_NDP_STATS_DROPPED_RETURNED_PACKETS,
	TCA_NDP_STATS_DROPPED_OTHER_PACKETS,
	TCA_NDP_STATS_DROPPED_GSO_PACKETS,
	TCA_NDP_STATS_DROPPED_NOMEM_PACKETS,
	/* private: */
	TCA_NDP_STATS_PAD,
	__TCA_NDP_STATS_MAX,
};

#define TCA_NDP_STATS_MAX	(__TCA_NDP_STATS_MAX - 1)

#endif /* _UAPI_LINUX_PKT_SCHED_NDP_H */
