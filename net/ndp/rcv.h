/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP receiver: packets of a flow
 *
 * Plain C; time and randomness are arguments. Bitmaps show which packets of a flow arrived,
 * within a window of W = 1024:
 *
 *	   all arrived       arrived, or not            beyond the window: dropped
 *	----------------+----------------------------+-------------------------->
 *	           ack_base                    ack_base + W
 *
 *	arrived before, or the message is over	ACK
 *	trimmed					NACK; marked in nack
 *	whole, and there is room		ACK; its part of the message is marked
 *	whole, no room				FULL: the sender retransmits it later
 *	message refused				ERROR: the sender begins it again later
 *	its base is after ack_base		packets between were given up
 *
 * The messages that they make up: rcv_msg.h.
 *
 * A batch is DATA packets that arrive as one, each the successor of the one before
 * (ndp_hdr_join()). All of it is accepted, with one reservation and one answer, or its packets are
 * processed one by one.
 *
 * Answers to several packets are one CONTROL: struct ndp_rcv_deferred. The ACK of a message may
 * ride on DATA of the other direction instead: ndp_rcv_may_ride().
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 * "Re-architecting datacenter networks and stacks for low latency and high performance",
 * SIGCOMM 2017, section 3.2.
 *
 * Differences from the paper: a flow carries any number of messages; windows and limits of
 * memory; senders are not trusted; one answer to several packets.
 */
#ifndef _NDP_RCV_H
#define _NDP_RCV_H

#include "rcv_msg.h"

/**
 * enum ndp_rcv_admit - action for a packet of an unknown flow
 * @NDP_ADMIT_OPEN: ndp_rcv_open()
 * @NDP_ADMIT_COOKIE: answer with COOKIE
 * @NDP_ADMIT_BARE: answer with a NACK without state
 * @NDP_ADMIT_NO_FLOW: answer with ERROR, NDP_CODE_NO_FLOW
 * @NDP_ADMIT_DROP: too many flows: drop
 */
enum ndp_rcv_admit {
	NDP_ADMIT_OPEN,
	NDP_ADMIT_COOKIE,
	NDP_ADMIT_BARE,
	NDP_ADMIT_NO_FLOW,
	NDP_ADMIT_DROP,
};

/**
 * struct ndp_rcv_limits - limits of flows
 * @flows_max: flows, whatever their peers
 * @peer_flows_max: flows of a peer
 * @cookie_flows: from this number on, a new flow needs a token
 */
struct ndp_rcv_limits {
	u32 flows_max;
	u32 peer_flows_max;
	u32 cookie_flows;
};

enum ndp_rcv_admit ndp_rcv_admit(const struct ndp_rcv_limits *l, const struct ndp_hdr *h,
				 u32 flows, u32 peer_flows, const u32 token[2]);
void ndp_rcv_open(struct ndp_rcv_flow *f, const struct ndp_hdr *h, u32 secret, u64 now_ns);
void ndp_rcv_close(struct ndp_rcv *r, struct ndp_rcv_flow *f);
bool ndp_rcv_has_all(const struct ndp_rcv_flow *f);
enum ndp_rcv_verdict ndp_rcv_packet(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				    const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg);
enum ndp_rcv_verdict ndp_rcv_batch(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				   const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg);
void ndp_rcv_allow(struct ndp_rcv_flow *f, bool held);
bool ndp_rcv_demand(struct ndp_pull *q, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		    enum ndp_rcv_verdict v, bool held, u64 now_ns);
bool ndp_rcv_demand_batch(struct ndp_pull *q, struct ndp_rcv_flow *f,
			  const struct ndp_rcv_pkt *p, bool held);
void ndp_rcv_control(const struct ndp_rcv *r, const struct ndp_rcv_flow *f,
		     struct ndp_hdr *answer);
void ndp_rcv_answer(const struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		    enum ndp_rcv_verdict v, bool pull, u8 dsfield, struct ndp_hdr *answer);
bool ndp_rcv_reply(const struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		   enum ndp_rcv_verdict v, bool pull, u8 dsfield, struct ndp_hdr *answer);
bool ndp_rcv_may_ride(const struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		      enum ndp_rcv_verdict v, u8 dsfield);
void ndp_rcv_ride(struct ndp_rcv_flow *f, const struct ndp_hdr *h, u8 dsfield);
void ndp_rcv_rode(struct ndp_rcv_flow *f);
bool ndp_rcv_settle(const struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_hdr *answer);

#endif /* _NDP_RCV_H */
