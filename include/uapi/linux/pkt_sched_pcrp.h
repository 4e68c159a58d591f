/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Netlink interface of sch_pcrp, packet-chain reservation on a host
 */
#ifndef _UAPI_LINUX_PKT_SCHED_PCRP_H
#define _UAPI_LINUX_PKT_SCHED_PCRP_H

#include <linux/types.h>

#define TC_PCRP_PRIOS		8	/* P0, the highest, to P7 */
#define TC_PCRP_SPEC_PRIOS	4	/* P0..P3: of first chains */
#define TC_PCRP_MAP_LEAVE	255	/* a DSCP that is left as it is */

#define TC_PCRP_LIMIT_MIN	1	/* packets */
#define TC_PCRP_LIMIT_MAX	1000000
#define TC_PCRP_FLOWS_MIN	16
#define TC_PCRP_FLOWS_MAX	65536
#define TC_PCRP_CHAIN_MIN	256	/* bytes */
#define TC_PCRP_CHAIN_MAX	(1 << 30)
#define TC_PCRP_GRANTS_MIN	1
#define TC_PCRP_GRANTS_MAX	64
#define TC_PCRP_MFWT_MAX	10000000	/* us */
#define TC_PCRP_HOLD_MIN	1000	/* us */
#define TC_PCRP_HOLD_MAX	10000000
#define TC_PCRP_WINDOW_MAX	1000	/* us */
#define TC_PCRP_SPEC_MAX	(1ULL << 40)	/* bytes */
#define TC_PCRP_RATE_MIN	125ULL	/* bytes per second */
#define TC_PCRP_RATE_MAX	(1ULL << 40)
#define TC_PCRP_OVERHEAD_MAX	256

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
 * enum - attributes of sch_pcrp
 * @TCA_PCRP_UNSPEC: unused
 * @TCA_PCRP_LIMIT: u32, most packets of data that wait, and most ACKs and control
 *	packets that do, 1..1000000
 * @TCA_PCRP_FLOWS: u32, flows that are told apart, 16..65536; at the qdisc's
 *	creation only
 * @TCA_PCRP_CHAIN: u32, bytes of a chain, as sender and as receiver, 0: what the
 *	line carries in one base RTT, but two of the device's largest packets at
 *	least, or 256..2^30
 * @TCA_PCRP_FIRST: u32, bytes of a flow's first, speculative chain, 0: a chain, if
 *	that is given, else what the line carries in one base RTT, or 256..2^30
 * @TCA_PCRP_GRANTS: u32, flows that the receiver grants at a time, 1..64
 * @TCA_PCRP_EVICT: u8, 1: a shorter flow takes the place of a longer one that has
 *	no grant outstanding
 * @TCA_PCRP_MFWT_MODE: u8, enum tc_pcrp_mfwt
 * @TCA_PCRP_MFWT: u32, us, 1..10000000; with TC_PCRP_MFWT_TIME only
 * @TCA_PCRP_EU: u8, 1: the earliest unfinished flow goes first
 * @TCA_PCRP_SRPT: u8, 1: the shortest remaining flow goes first, 0: the one that
 *	has waited longest
 * @TCA_PCRP_HOLD: u32, us that a flow waits for a grant at most, 1000..10000000
 * @TCA_PCRP_WINDOW: u32, us that the receiver lets packets wait for more urgent
 *	ones, 0: not at all, or 1..1000
 * @TCA_PCRP_SPEC: 3 times u64, sizes in bytes up to which a flow's first chain has
 *	P0, P1, P2, ascending, up to 2^40; all 0: those of the network namespace
 * @TCA_PCRP_MAP: 8 times u8, DSCP of P0..P7, or 255: left as it is
 * @TCA_PCRP_RATE: u64, bytes per second of the built-in shaper, 0: none, or
 *	125..2^40
 * @TCA_PCRP_OVERHEAD: u32, bytes that the shaper adds to each packet's length,
 *	0..256
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
 * struct tc_pcrp_xstats - statistics of sch_pcrp (TCA_STATS_APP)
 * @chain_bytes: a chain, as it is now
 * @base_rtt_ns: least REQUEST to GRANT time of any peer in the last ten seconds
 * @rate_Bps: of the line
 * @spec_bytes: sizes up to which a first chain has P0, P1, P2, as they are now
 * @flows_ready: flows that have a packet they may send
 * @flows_waiting: flows whose packets wait for a grant
 * @flows_idle: flows with nothing to send, remembered
 * @flows_started: flows that began
 * @flows_finished: flows that have sent all they had
 * @flows_ungated: of those started, to a peer that has not answered
 * @flows_overflow: packets of flows for which the table had no place; ungated
 * @chains_speculative: first chains sent
 * @chains_granted: chains that a grant activated
 * @chains_overdue: chains sent without a grant, for `hold` was over
 * @promotions: packets sent early since their flow had waited `mfwt`
 * @eu_packets: packets that the earliest unfinished flow sent
 * @requests_sent: REQUESTs, with a chain's first packet
 * @probes_sent: PROBEs, since a grant stayed away
 * @grants_received: GRANTs that activated a chain
 * @grants_late: GRANTs for a flow that had finished, or gone on without
 * @grants_idle: GRANTs that said nothing new
 * @grants_refused: GRANTs of no flow of ours: forged, or very old
 * @peers: hosts that we send to, remembered
 * @peers_answering: of those, with sch_pcrp
 * @peers_silent: of those, that did not answer
 * @prio_packets: packets sent with P0..P7
 * @top_packets: ACKs and control packets sent
 * @ungated_packets: packets sent whose DSCP was left as it was
 * @dropped_limit_packets: packets of data dropped, for no more of them may wait, or
 *	their flow has as many as there are places left
 * @dropped_top_packets: ACKs and control packets dropped, for `limit` of them wait
 * @dropped_nomem_packets: packets dropped, or control packets not sent, for want
 *	of memory
 * @dropped_forged_packets: control packets dropped that a user of this host made
 * @rx_requests: REQUESTs received
 * @rx_probes: PROBEs received
 * @rx_malformed: control packets dropped: length, version, type or values
 * @rx_overflow: REQUESTs and PROBEs of flows that could not be remembered; granted in full
 * @rx_expired: flows whose sender fell silent
 * @rx_flows: flows of more than one chain that are being received
 * @rx_granted: of those, in the table
 * @rx_granted_peak: most of them
 * @rx_evicted: flows that lost their place to a shorter one
 * @rx_revoked: flows that lost a place which they did not use, or could not pay for
 * @rx_finished: flows received whole
 * @grants_sent: GRANTs that activate a chain
 * @answers_sent: GRANTs that do not: answers to a REQUEST or PROBE
 * @window_packets: packets that waited in the window
 * @window_early: times that it was closed early, being full
 */
struct tc_pcrp_xstats {
	__u64 chain_bytes;
	__u64 base_rtt_ns;
	__u64 rate_Bps;
	__u64 spec_bytes[TC_PCRP_SPEC_PRIOS - 1];
	__u64 flows_ready;
	__u64 flows_waiting;
	__u64 flows_idle;
	__u64 flows_started;
	__u64 flows_finished;
	__u64 flows_ungated;
	__u64 flows_overflow;
	__u64 chains_speculative;
	__u64 chains_granted;
	__u64 chains_overdue;
	__u64 promotions;
	__u64 eu_packets;
	__u64 requests_sent;
	__u64 probes_sent;
	__u64 grants_received;
	__u64 grants_late;
	__u64 grants_idle;
	__u64 grants_refused;
	__u64 peers;
	__u64 peers_answering;
	__u64 peers_silent;
	__u64 prio_packets[TC_PCRP_PRIOS];
	__u64 top_packets;
	__u64 ungated_packets;
	__u64 dropped_limit_packets;
	__u64 dropped_top_packets;
	__u64 dropped_nomem_packets;
	__u64 dropped_forged_packets;
	__u64 rx_requests;
	__u64 rx_probes;
	__u64 rx_malformed;
	__u64 rx_overflow;
	__u64 rx_expired;
	__u64 rx_flows;
	__u64 rx_granted;
	__u64 rx_granted_peak;
	__u64 rx_evicted;
	__u64 rx_revoked;
	__u64 rx_finished;
	__u64 grants_sent;
	__u64 answers_sent;
	__u64 window_packets;
	__u64 window_early;
};

#endif /* _UAPI_LINUX_PKT_SCHED_PCRP_H */
