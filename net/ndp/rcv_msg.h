/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP receiver: messages of a flow
 *
 * All parts of a message but the tail have the same length, seg. They are marked by offset / seg,
 * in a window from the first missing one:
 *
 *	           seg       seg       seg          rest
 *	message	+---------+---------+---------+-------------+
 *	        |   0     |   1     |   2     | tail        |	1 <= rest <= seg
 *	        +---------+---------+---------+-------------+
 *
 * A part that arrives again under another seq is a duplicate. A sender that lies about lengths
 * cannot leave holes in a message that counts as whole: they would show kernel memory. seg is
 * learnt from the first packet that is not the tail.
 *
 * Ids of messages count up in the order of their first packets. Bitmaps of the last W ids
 * show which have begun, and which are gone: given up. A message is delivered at most once while
 * the flow is remembered, which is longer than senders retransmit. A message that was refused has
 * not begun: it begins when there is room, whichever transmission of its packets arrives then.
 *
 * In-order delivery: each packet carries msg_base, before which all messages are over at the
 * sender. So the first id is known, and messages that it gave up are waited for no longer.
 *
 * Memory: rmem.h.
 */
#ifndef _NDP_RCV_MSG_H
#define _NDP_RCV_MSG_H

#include <linux/list.h>
#include "pull.h"
#include "rmem.h"
#include "window.h"

/* Lists in which a flow's messages are found by id: 2^5 */
#define NDP_RCV_BUCKET_BITS	5
#define NDP_RCV_BUCKETS		32U

/**
 * enum ndp_rcv_verdict - result of a packet
 * @NDP_RCV_PART: a part of a message: keep it, ACK
 * @NDP_RCV_WHOLE: the last missing part: keep it, ACK
 * @NDP_RCV_DUPLICATE: arrived before: ACK
 * @NDP_RCV_TRIMMED: NACK
 * @NDP_RCV_PROBED: a PROBE: answer it
 * @NDP_RCV_FULL: no room for the packet: FULL
 * @NDP_RCV_REFUSED: no room for the message: ERROR
 * @NDP_RCV_GONE: the message was given up: ERROR
 * @NDP_RCV_OUT_OF_WINDOW: drop
 * @NDP_RCV_BAD_PORT: not the flow's sockets: drop
 * @NDP_RCV_BAD_ID: a message that is too old: drop
 * @NDP_RCV_BAD_PART: contradicts its message: drop
 * @NDP_RCV_VERDICTS: number of verdicts
 */
enum ndp_rcv_verdict {
	NDP_RCV_PART,
	NDP_RCV_WHOLE,
	NDP_RCV_DUPLICATE,
	NDP_RCV_TRIMMED,
	NDP_RCV_PROBED,
	NDP_RCV_FULL,
	NDP_RCV_REFUSED,
	NDP_RCV_GONE,
	NDP_RCV_OUT_OF_WINDOW,
	NDP_RCV_BAD_PORT,
	NDP_RCV_BAD_ID,
	NDP_RCV_BAD_PART,
	NDP_RCV_VERDICTS,
};

/**
 * struct ndp_rcv_cut - how a message is cut; zeros: unknown
 * @fulls: parts before the tail
 * @seg: their bytes
 */
struct ndp_rcv_cut {
	u32 fulls;
	u16 seg;
};

/**
 * struct ndp_rcv_msg - a message
 * @chain: in the flow's bucket
 * @len: bytes
 * @last_ns: arrival of the last part
 * @read: bytes from the beginning that were read
 * @kept: memory of its packets and its descriptor
 * @tail_offset: offset of the tail, if that arrived
 * @id: msg_id
 * @claim: its reservation
 * @cut: how it is cut
 * @has_tail: the tail arrived
 * @is_whole: all of it arrived
 * @arrived: parts before the tail that arrived
 */
struct ndp_rcv_msg {
	struct hlist_node chain;
	u64 len;
	u64 last_ns;
	u64 read;
	u64 kept;
	u64 tail_offset;
	u32 id;
	struct ndp_claim claim;
	struct ndp_rcv_cut cut;
	bool has_tail;
	bool is_whole;
	struct ndp_window arrived;
};

/**
 * struct ndp_rcv_deferred - packets that were not answered yet
 * @bytes: their payload
 * @seq: the last packet's
 * @path: the last packet's
 * @try_no: the last packet's
 * @about: NDP_CTL_ACK or NDP_CTL_NACK, for the last one
 * @dsfield: their common DSCP and ECN bits
 * @count: their number
 */
struct ndp_rcv_deferred {
	u32 bytes;
	u32 seq;
	u8 path;
	u8 try_no;
	u8 about;
	u8 dsfield;
	u8 count;
};

/**
 * struct ndp_rcv_flow - a flow: ndp_rcv_open()
 * @pull: in the pull queue of its device, whose lock protects it
 * @bucket: messages in progress, by a hash of their id
 * @last_ns: last arrival
 * @promise: reservation for the next message, after the flow has waited
 * @need: bytes for which the flow waits; 0: it does not wait
 * @secret: random, odd: keeps a peer from forcing collisions
 * @token: proves that the sender receives answers
 * @end: after the newest packet that arrived, whole or trimmed
 * @newest_id: the newest message that is known
 * @msg_base: before this message, all are over at the sender
 * @scan_id: before this message, those over at the sender were dropped
 * @turn_id: before this message, all are known
 * @next_id: in-order delivery: the next message
 * @trimmed: NACKs since the flow began, modulo 2^16
 * @sport: the sender's port
 * @dport: our port
 * @msgs: messages in @bucket
 * @windows: messages in @bucket that are read in parts
 * @ip_more: bytes by which its packets' headers exceed those of IPv4 without a tag
 * @last: the packet before @end has LAST
 * @is_verified: the sender has returned the token
 * @is_blocked: a message waits for the end of another one of the flow that is read in parts
 * @deferred: packets not answered yet
 * @arrived: packets that arrived whole or were given up; base is ack_base
 * @nack: packets that arrived trimmed and not whole since; as @arrived's bits
 * @begun: messages among the last NDP_RCV_WINDOW ids that have begun
 * @gone: messages that will not be delivered: they were given up
 */
struct ndp_rcv_flow {
	struct ndp_pull_node pull;
	struct hlist_head bucket[NDP_RCV_BUCKETS];
	u64 last_ns;
	struct ndp_claim promise;
	u32 need;
	u32 secret;
	u32 token;
	u32 end;
	u32 newest_id;
	u32 msg_base;
	u32 scan_id;
	u32 turn_id;
	u32 next_id;
	u16 trimmed;
	u16 sport;
	u16 dport;
	u16 msgs;
	u16 windows;
	u8 ip_more;
	bool last;
	bool is_verified;
	bool is_blocked;
	struct ndp_rcv_deferred deferred;
	struct ndp_window arrived;
	u64 nack[NDP_RCV_WORDS];
	u64 begun[NDP_RCV_WORDS];
	u64 gone[NDP_RCV_WORDS];
};

/**
 * struct ndp_rcv - a receiving socket; zeros at first, but @mem's functions and the parameters
 * @mem: memory
 * @time_wait_ns: parameter: silence after which a flow is forgotten
 * @msgs_max: parameter: messages in progress, below 2^15
 * @overhead: parameter: memory of a packet without payload, bytes
 * @window: parameter: packets that a sender may push
 * @in_order: parameter: messages of each sender are delivered in order
 * @msgs: messages in progress
 * @usual_len: payload of the last packet before a tail; 0: unknown
 * @usual_extra: its memory beyond that
 * @verdicts: packets by enum ndp_rcv_verdict; read without a lock
 */
struct ndp_rcv {
	struct ndp_rmem mem;
	u64 time_wait_ns;
	u32 msgs_max;
	u32 overhead;
	u16 window;
	bool in_order;
	u32 msgs;
	u32 usual_len;
	u32 usual_extra;
	u64 verdicts[NDP_RCV_VERDICTS];
};

/**
 * struct ndp_rcv_pkt - a packet, or a batch that is processed as one, and what belongs to it
 * @h: header; of a batch, the first packet's
 * @last: header of the last packet of a batch; NULL: a single packet
 * @memory: memory of the packet or batch if it is kept; 0: unset
 * @descriptor: memory of a message that begins with it; 0: unset
 * @now_ns: time
 * @first: its flow is the first one that waits for room
 * @placed: its message needs no memory, because it has space elsewhere
 */
struct ndp_rcv_pkt {
	const struct ndp_hdr *h;
	const struct ndp_hdr *last;
	u32 memory;
	u32 descriptor;
	u64 now_ns;
	bool first;
	bool placed;
};

/* Number of packets of a batch */
static inline u32 ndp_rcv_packets(const struct ndp_rcv_pkt *p)
{
	return p->last ? p->last->seq - p->h->seq + 1 : 1;
}

/* Memory of one packet; those of a batch share its memory. */
static inline u32 ndp_rcv_memory(const struct ndp_rcv_pkt *p)
{
	u32 packets = ndp_rcv_packets(p);

	return (p->memory + packets - 1) / packets;
}

struct ndp_rcv_msg *ndp_rcv_find(struct ndp_rcv_flow *f, u32 id);
enum ndp_rcv_verdict ndp_rcv_msg_packet(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg);
enum ndp_rcv_verdict ndp_rcv_msg_batch(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				       const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg);
u64 ndp_rcv_prefix(const struct ndp_rcv_msg *m);
void ndp_rcv_read(struct ndp_rcv *r, struct ndp_rcv_msg *m, u64 bytes, u32 memory);
void ndp_rcv_lapse(struct ndp_rcv *r, struct ndp_rcv_flow *f);
bool ndp_rcv_is_narrow(const struct ndp_rcv *r, const struct ndp_rcv_msg *m);
void ndp_rcv_told_base(struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 msg_base);
struct ndp_rcv_msg *ndp_rcv_take_over(struct ndp_rcv *r, struct ndp_rcv_flow *f);
struct ndp_rcv_msg *ndp_rcv_take_next(struct ndp_rcv *r, struct ndp_rcv_flow *f);
void ndp_rcv_take(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m);
struct ndp_rcv_msg *ndp_rcv_take_any(struct ndp_rcv *r, struct ndp_rcv_flow *f);
void ndp_rcv_drop(struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_rcv_msg *m);
struct ndp_rcv_msg *ndp_rcv_abort(struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 id);

#endif /* _NDP_RCV_MSG_H */
