/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_pcrp, packet-chain reservation on a host
 *
 * Readers skip attributes that they do not know. tc-pcrp(8) has units, ranges and
 * defaults.
 */
#ifndef _UAPI_LINUX_PKT_SCHED_PCRP_H
#define _UAPI_LINUX_PKT_SCHED_PCRP_H

#include <linux/types.h>

#define TC_PCRP_PRIOS		8	/* P0, the highest, to P7 */
#define TC_PCRP_SPEC_PRIOS	4	/* P0..P3: of first chains */

/**
 * enum tc_pcrp_mfwt - how long a ready flow waits before it is promoted
 * @TC_PCRP_MFWT_AUTO: as long as eight chains take on the line
 * @TC_PCRP_MFWT_OFF: never promoted
 * @TC_PCRP_MFWT_TIME: TCA_PCRP_MFWT
 */
enum tc_pcrp_mfwt {
	TC_PCRP_MFWT_AUTO,
	TC_PCRP_MFWT_OFF,
	TC_PCRP_MFWT_TIME,
};

/**
 * enum - sizes of flows, in TCA_PCRP_SPEC and TCA_PCRP_STATS_SPEC_BYTES
 * @TCA_PCRP_SPEC_UNSPEC: unused
 * @TCA_PCRP_SPEC_P0: u64, bytes up to which a first chain has P0
 * @TCA_PCRP_SPEC_P1: u64, bytes up to which a first chain has P1
 * @TCA_PCRP_SPEC_P2: u64, bytes up to which a first chain has P2
 */
enum {
	TCA_PCRP_SPEC_UNSPEC,
	TCA_PCRP_SPEC_P0,
	TCA_PCRP_SPEC_P1,
	TCA_PCRP_SPEC_P2,
	/* private: */
	TCA_PCRP_SPEC_PAD,
	__TCA_PCRP_SPEC_MAX,
};

#define TCA_PCRP_SPEC_MAX	(__TCA_PCRP_SPEC_MAX - 1)

/**
 * enum - DSCPs, in TCA_PCRP_MAP
 * @TCA_PCRP_MAP_UNSPEC: unused
 * @TCA_PCRP_MAP_P0: u32, DSCP of P0
 * @TCA_PCRP_MAP_P1: u32, DSCP of P1
 * @TCA_PCRP_MAP_P2: u32, DSCP of P2
 * @TCA_PCRP_MAP_P3: u32, DSCP of P3
 * @TCA_PCRP_MAP_P4: u32, DSCP of P4
 * @TCA_PCRP_MAP_P5: u32, DSCP of P5
 * @TCA_PCRP_MAP_P6: u32, DSCP of P6
 * @TCA_PCRP_MAP_P7: u32, DSCP of P7
 */
enum {
	TCA_PCRP_MAP_UNSPEC,
	TCA_PCRP_MAP_P0,
	TCA_PCRP_MAP_P1,
	TCA_PCRP_MAP_P2,
	TCA_PCRP_MAP_P3,
	TCA_PCRP_MAP_P4,
	TCA_PCRP_MAP_P5,
	TCA_PCRP_MAP_P6,
	TCA_PCRP_MAP_P7,
	/* private: */
	TCA_PCRP_MAP_PAD,
	__TCA_PCRP_MAP_MAX,
};

#define TCA_PCRP_MAP_MAX	(__TCA_PCRP_MAP_MAX - 1)

/**
 * enum - packets, in TCA_PCRP_STATS_PRIO_PACKETS
 * @TCA_PCRP_STATS_PRIO_UNSPEC: unused
 * @TCA_PCRP_STATS_PRIO_P0: u64, sent with P0
 * @TCA_PCRP_STATS_PRIO_P1: u64, sent with P1
 * @TCA_PCRP_STATS_PRIO_P2: u64, sent with P2
 * @TCA_PCRP_STATS_PRIO_P3: u64, sent with P3
 * @TCA_PCRP_STATS_PRIO_P4: u64, sent with P4
 * @TCA_PCRP_STATS_PRIO_P5: u64, sent with P5
 * @TCA_PCRP_STATS_PRIO_P6: u64, sent with P6
 * @TCA_PCRP_STATS_PRIO_P7: u64, sent with P7
 */
enum {
	TCA_PCRP_STATS_PRIO_UNSPEC,
	TCA_PCRP_STATS_PRIO_P0,
	TCA_PCRP_STATS_PRIO_P1,
	TCA_PCRP_STATS_PRIO_P2,
	TCA_PCRP_STATS_PRIO_P3,
	TCA_PCRP_STATS_PRIO_P4,
	TCA_PCRP_STATS_PRIO_P5,
	TCA_PCRP_STATS_PRIO_P6,
	TCA_PCRP_STATS_PRIO_P7,
	/* private: */
	TCA_PCRP_STATS_PRIO_PAD,
	__TCA_PCRP_STATS_PRIO_MAX,
};

#define TCA_PCRP_STATS_PRIO_MAX	(__TCA_PCRP_STATS_PRIO_MAX - 1)

/**
 * enum - attributes of sch_pcrp
 * @TCA_PCRP_UNSPEC: unused
 * @TCA_PCRP_LIMIT: u32, most packets of data that wait, and most ACKs and control
 *	packets that do
 * @TCA_PCRP_FLOWS: u32, flows that are told apart; at the qdisc's creation only
 * @TCA_PCRP_CHAIN: u32, bytes of a chain, as sender and as receiver; 0: what the
 *	line carries in one base RTT, but two of the device's largest packets at least
 * @TCA_PCRP_FIRST: u32, bytes of a flow's first, speculative chain; 0: a chain, if
 *	that is given, else what the line carries in one base RTT
 * @TCA_PCRP_GRANTS: u32, flows that the receiver grants at a time
 * @TCA_PCRP_EVICT: u32, 1 (default): a shorter flow takes the place of a longer
 *	one that has no grant outstanding
 * @TCA_PCRP_MFWT_MODE: u32, enum tc_pcrp_mfwt
 * @TCA_PCRP_MFWT: u32, us; with TC_PCRP_MFWT_TIME only
 * @TCA_PCRP_EU: u32, 1: the earliest unfinished flow goes first
 * @TCA_PCRP_SRPT: u32, 1: the shortest remaining flow goes first, 0: the one that
 *	has waited longest
 * @TCA_PCRP_HOLD: u32, us that a flow waits for a grant at most
 * @TCA_PCRP_WINDOW: u32, us that the receiver lets packets wait for more urgent
 *	ones; 0: not at all
 * @TCA_PCRP_SPEC: nest, TCA_PCRP_SPEC_*, all three, ascending; empty: those of the
 *	network namespace
 * @TCA_PCRP_MAP: nest, TCA_PCRP_MAP_*; where one is absent, a packet's DSCP is left as it is
 * @TCA_PCRP_RATE: u64, bytes per second of the built-in shaper; 0: none
 * @TCA_PCRP_OVERHEAD: u32, bytes that the shaper adds to each packet's length
 */
enum {
	TCA_PCRP_UNSPEC,
	TCA_PCRP_LIMIT,
	TCA_PCRP_FLOWS,
	TCA_PCRP_CHAIN,
	TCA_PCRP_FIRST,
	TCA_PCRP_GRANTS,
	TCA_PCRP_EVICT,
	TCA_PCRP_MFWT_MODE,
	TCA_PCRP_MFWT,
	TCA_PCRP_EU,
	TCA_PCRP_SRPT,
	TCA_PCRP_HOLD,
	TCA_PCRP_WINDOW,
	TCA_PCRP_SPEC,
	TCA_PCRP_MAP,
	TCA_PCRP_RATE,
	TCA_PCRP_OVERHEAD,
	/* private: */
	TCA_PCRP_PAD,
	__TCA_PCRP_MAX,
};

#define TCA_PCRP_MAX	(__TCA_PCRP_MAX - 1)

/**
 * enum - statistics, in TCA_STATS_APP
 * @TCA_PCRP_STATS_UNSPEC: unused
 * @TCA_PCRP_STATS_CHAIN_BYTES: u64, a chain, as it is now
 * @TCA_PCRP_STATS_BASE_RTT_NS: u64, least REQUEST to GRANT time of any peer in the last
 *	ten seconds
 * @TCA_PCRP_STATS_RATE_BPS: u64, of the line
 * @TCA_PCRP_STATS_SPEC_BYTES: nest, TCA_PCRP_SPEC_*, as they are now
 * @TCA_PCRP_STATS_FLOWS_READY: u64, flows that have a packet they may send
 * @TCA_PCRP_STATS_FLOWS_WAITING: u64, flows whose packets wait for a grant
 * @TCA_PCRP_STATS_FLOWS_IDLE: u64, flows with nothing to send, remembered
 * @TCA_PCRP_STATS_FLOWS_STARTED: u64, flows that began
 * @TCA_PCRP_STATS_FLOWS_FINISHED: u64, flows that have sent all they had
 * @TCA_PCRP_STATS_FLOWS_UNGATED: u64, of those started, to a peer that has not answered
 * @TCA_PCRP_STATS_FLOWS_OVERFLOW: u64, packets of flows for which the table had no place;
 *	ungated
 * @TCA_PCRP_STATS_CHAINS_SPECULATIVE: u64, first chains sent
 * @TCA_PCRP_STATS_CHAINS_GRANTED: u64, chains that a grant activated
 * @TCA_PCRP_STATS_CHAINS_OVERDUE: u64, chains sent without a grant, for `hold` was over
 * @TCA_PCRP_STATS_PROMOTIONS: u64, packets sent early since their flow had waited `mfwt`
 * @TCA_PCRP_STATS_EU_PACKETS: u64, packets that the earliest unfinished flow sent
 * @TCA_PCRP_STATS_REQUESTS_SENT: u64, REQUESTs, with a chain's first packet
 * @TCA_PCRP_STATS_PROBES_SENT: u64, PROBEs, since a grant stayed away
 * @TCA_PCRP_STATS_GRANTS_RECEIVED: u64, GRANTs that activated a chain
 * @TCA_PCRP_STATS_GRANTS_LATE: u64, GRANTs for a flow that had finished, or gone on
 *	without
 * @TCA_PCRP_STATS_GRANTS_IDLE: u64, GRANTs that said nothing new
 * @TCA_PCRP_STATS_GRANTS_REFUSED: u64, GRANTs of no flow of ours: forged, or very old
 * @TCA_PCRP_STATS_PEERS: u64, hosts that we send to, remembered
 * @TCA_PCRP_STATS_PEERS_ANSWERING: u64, of those, with sch_pcrp
 * @TCA_PCRP_STATS_PEERS_SILENT: u64, of those, that did not answer
 * @TCA_PCRP_STATS_PRIO_PACKETS: nest, TCA_PCRP_STATS_PRIO_*
 * @TCA_PCRP_STATS_TOP_PACKETS: u64, ACKs and control packets sent
 * @TCA_PCRP_STATS_UNGATED_PACKETS: u64, packets sent whose DSCP was left as it was
 * @TCA_PCRP_STATS_DROPPED_LIMIT_PACKETS: u64, packets of data dropped, for no more of
 *	them may wait, or their flow has as many as there are places left
 * @TCA_PCRP_STATS_DROPPED_TOP_PACKETS: u64, ACKs and control packets dropped, for `limit`
 *	of them wait
 * @TCA_PCRP_STATS_DROPPED_NOMEM_PACKETS: u64, packets dropped, or control packets not
 *	sent, for want of memory
 * @TCA_PCRP_STATS_DROPPED_FORGED_PACKETS: u64, control packets dropped that a user of
 *	this host made
 * @TCA_PCRP_STATS_RX_REQUESTS: u64, REQUESTs received
 * @TCA_PCRP_STATS_RX_PROBES: u64, PROBEs received
 * @TCA_PCRP_STATS_RX_MALFORMED: u64, control packets dropped: length, version, type or
 *	values
 * @TCA_PCRP_STATS_RX_OVERFLOW: u64, REQUESTs and PROBEs of flows that could not be
 *	remembered; granted in full
 * @TCA_PCRP_STATS_RX_EXPIRED: u64, flows whose sender fell silent
 * @TCA_PCRP_STATS_RX_FLOWS: u64, flows of more than one chain that are being received
 * @TCA_PCRP_STATS_RX_GRANTED: u64, of those, in the table
 * @TCA_PCRP_STATS_RX_GRANTED_PEAK: u64, most of them
 * @TCA_PCRP_STATS_RX_EVICTED: u64, flows that lost their place to a shorter one
 * @TCA_PCRP_STATS_RX_REVOKED: u64, flows that lost a place which they did not use, or
 *	could not pay for
 * @TCA_PCRP_STATS_RX_FINISHED: u64, flows received whole
 * @TCA_PCRP_STATS_GRANTS_SENT: u64, GRANTs that activate a chain
 * @TCA_PCRP_STATS_ANSWERS_SENT: u64, GRANTs that do not: answers to a REQUEST or PROBE
 * @TCA_PCRP_STATS_WINDOW_PACKETS: u64, packets that waited in the window
 * @TCA_PCRP_STATS_WINDOW_EARLY: u64, times that it was closed early, being full
 * @TCA_PCRP_STATS_FIFO: u64, 1: a FIFO, since it is below mq; of the others there are only
 *	@TCA_PCRP_STATS_TOP_PACKETS and @TCA_PCRP_STATS_DROPPED_LIMIT_PACKETS
 */
enum {
	TCA_PCRP_STATS_UNSPEC,
	TCA_PCRP_STATS_CHAIN_BYTES,
	TCA_PCRP_STATS_BASE_RTT_NS,
	TCA_PCRP_STATS_RATE_BPS,
	TCA_PCRP_STATS_SPEC_BYTES,
	TCA_PCRP_STATS_FLOWS_READY,
	TCA_PCRP_STATS_FLOWS_WAITING,
	TCA_PCRP_STATS_FLOWS_IDLE,
	TCA_PCRP_STATS_FLOWS_STARTED,
	TCA_PCRP_STATS_FLOWS_FINISHED,
	TCA_PCRP_STATS_FLOWS_UNGATED,
	TCA_PCRP_STATS_FLOWS_OVERFLOW,
	TCA_PCRP_STATS_CHAINS_SPECULATIVE,
	TCA_PCRP_STATS_CHAINS_GRANTED,
	TCA_PCRP_STATS_CHAINS_OVERDUE,
	TCA_PCRP_STATS_PROMOTIONS,
	TCA_PCRP_STATS_EU_PACKETS,
	TCA_PCRP_STATS_REQUESTS_SENT,
	TCA_PCRP_STATS_PROBES_SENT,
	TCA_PCRP_STATS_GRANTS_RECEIVED,
	TCA_PCRP_STATS_GRANTS_LATE,
	TCA_PCRP_STATS_GRANTS_IDLE,
	TCA_PCRP_STATS_GRANTS_REFUSED,
	TCA_PCRP_STATS_PEERS,
	TCA_PCRP_STATS_PEERS_ANSWERING,
	TCA_PCRP_STATS_PEERS_SILENT,
	TCA_PCRP_STATS_PRIO_PACKETS,
	TCA_PCRP_STATS_TOP_PACKETS,
	TCA_PCRP_STATS_UNGATED_PACKETS,
	TCA_PCRP_STATS_DROPPED_LIMIT_PACKETS,
	TCA_PCRP_STATS_DROPPED_TOP_PACKETS,
	TCA_PCRP_STATS_DROPPED_NOMEM_PACKETS,
	TCA_PCRP_STATS_DROPPED_FORGED_PACKETS,
	TCA_PCRP_STATS_RX_REQUESTS,
	TCA_PCRP_STATS_RX_PROBES,
	TCA_PCRP_STATS_RX_MALFORMED,
	TCA_PCRP_STATS_RX_OVERFLOW,
	TCA_PCRP_STATS_RX_EXPIRED,
	TCA_PCRP_STATS_RX_FLOWS,
	TCA_PCRP_STATS_RX_GRANTED,
	TCA_PCRP_STATS_RX_GRANTED_PEAK,
	TCA_PCRP_STATS_RX_EVICTED,
	TCA_PCRP_STATS_RX_REVOKED,
	TCA_PCRP_STATS_RX_FINISHED,
	TCA_PCRP_STATS_GRANTS_SENT,
	TCA_PCRP_STATS_ANSWERS_SENT,
	TCA_PCRP_STATS_WINDOW_PACKETS,
	TCA_PCRP_STATS_WINDOW_EARLY,
	TCA_PCRP_STATS_FIFO,
	/* private: */
	TCA_PCRP_STATS_PAD,
	__TCA_PCRP_STATS_MAX,
};

#define TCA_PCRP_STATS_MAX	(__TCA_PCRP_STATS_MAX - 1)

#endif /* _UAPI_LINUX_PKT_SCHED_PCRP_H */
