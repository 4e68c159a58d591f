/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_ndp, the NDP (SIGCOMM'17) switch queue.
 *
 * Attribute numbers are private to the qdisc kind "ndp". Structures only
 * grow at their end: a reader takes min(its size, the payload's size).
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
 * @TCA_NDP_LIMIT: u32, data queue, packets, 1..65535
 * @TCA_NDP_LIMIT_BYTES: u32, data queue, bytes, 0 (no limit) or 64..2^30
 * @TCA_NDP_HLIMIT: u32, header queue, bytes, 64..2^30
 * @TCA_NDP_RATIO: u32, headers for each data packet while both wait,
 *	1..100000
 * @TCA_NDP_TRIM_SIZE: u32, bytes that a trimmed packet keeps, counted from
 *	the L2 header, VLAN tags included, FCS not, 64..9216
 * @TCA_NDP_MODE: u8, enum tc_ndp_mode
 * @TCA_NDP_MATCH: u8, enum tc_ndp_match
 * @TCA_NDP_DSCP_MASK: u64, bit n set: DSCP n is trimmable; with
 *	TC_NDP_MATCH_DSCP only, not 0
 * @TCA_NDP_UDP_PORT: u16, host byte order, 1..65535; with
 *	TC_NDP_MATCH_UDP_PORT only
 * @TCA_NDP_DSCP_TRIMMED: u8, DSCP that a trimmed packet gets, 0..63
 * @TCA_NDP_RTS: u8, 1: return a trimmed packet to its sender when the header
 *	queue is full; 0: drop it
 * @TCA_NDP_DSCP_RETURNED: u8, DSCP that a returned packet gets, 0..63, not
 *	TCA_NDP_DSCP_TRIMMED
 * @TCA_NDP_RATE: u64, bytes per second of the built-in shaper, 0: none, or
 *	125..2^40
 * @TCA_NDP_OVERHEAD: u32, bytes that the shaper adds to each packet's length,
 *	0..256
 * @TCA_NDP_OTHER_LIMIT: u32, queue of other traffic, bytes, 64..2^30
 * @TCA_NDP_OTHER_ECN: u32, bytes in the queue of other traffic from which on
 *	ECT packets are marked CE, 0 (never) or 1..2^30
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
 * struct tc_ndp_queue_xstats - one of the queues
 * @qlen_packets: packets in it now
 * @backlog_bytes: bytes in it now
 * @peak_packets: most packets seen in it
 * @peak_bytes: most bytes seen in it
 * @sent_packets: packets that left it towards the wire
 * @sent_bytes: bytes that left it towards the wire
 */
struct tc_ndp_queue_xstats {
	__u64 qlen_packets;
	__u64 backlog_bytes;
	__u64 peak_packets;
	__u64 peak_bytes;
	__u64 sent_packets;
	__u64 sent_bytes;
};

/**
 * struct tc_ndp_xstats - statistics of sch_ndp (TCA_STATS_APP)
 *
 * In modes cp and droptail the packets of @data and @header stand in one FIFO
 * and are counted by their kind.
 *
 * @data: the data queue
 * @header: the header queue: NDP packets that trimming would not shorten:
 *	trimmed ones, and those of at most trim_size bytes
 * @other: what is not NDP's
 * @trimmed_arrival_packets: arriving packets trimmed
 * @trimmed_tail_packets: packets trimmed at the data queue's tail
 * @trimmed_bytes: bytes cut off in both cases
 * @returned_packets: trimmed packets sent back to their sender
 * @ecn_marked_packets: packets of other traffic marked CE
 * @dropped_data_packets: data packets dropped: FIFO full (droptail), or
 *	limit made smaller
 * @dropped_header_packets: headers dropped: header queue full, and not
 *	returned: norts is set, it was never trimmed (control packets), its
 *	source is a group, the device is no Ethernet's, or the stack's input
 *	queue is full
 * @dropped_returned_packets: headers dropped: header queue full, and
 *	returned once already
 * @dropped_other_packets: other traffic dropped: its queue full
 * @dropped_nomem_packets: dropped for want of memory while trimming,
 *	returning or segmenting
 */
struct tc_ndp_xstats {
	struct tc_ndp_queue_xstats data;
	struct tc_ndp_queue_xstats header;
	struct tc_ndp_queue_xstats other;
	__u64 trimmed_arrival_packets;
	__u64 trimmed_tail_packets;
	__u64 trimmed_bytes;
	__u64 returned_packets;
	__u64 ecn_marked_packets;
	__u64 dropped_data_packets;
	__u64 dropped_header_packets;
	__u64 dropped_returned_packets;
	__u64 dropped_other_packets;
	__u64 dropped_nomem_packets;
};

#endif /* _UAPI_LINUX_PKT_SCHED_NDP_H */
