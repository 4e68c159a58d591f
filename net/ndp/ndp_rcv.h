/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP's receiver: the packets of a flow, and the messages that they make up
 *
 * Plain C, no kernel types, for the module, unit tests and fuzzers; time and
 * randomness are arguments. A flow comes from one socket of one peer. Of its
 * packets, by seq, it is known which came, within a window of W = 1024:
 *
 *	   all came             came, or not             not yet, else dropped
 *	----------------+----------------------------+-------------------------->
 *	           ack_base                    ack_base + W
 *
 *	a packet came	before ack_base, or marked:	ACK, nothing else
 *			trimmed:			mark in nack, trimmed++, NACK
 *			whole, and its message takes it: mark, move ack_base, ACK
 *	its base is ahead of ack_base:			what is between was given up
 *
 * A packet is told once, and so is its part of the message: a retransmission
 * has the seq it had before. That is what at-most-once rests on, as long as the
 * flow is remembered; and it is remembered (time-wait) for longer than a sender
 * goes on sending a packet. What a sender that lies cannot do is told in
 * ndp_rcv_msg.h.
 *
 * Ids of messages count up in the order of their first packets' seq. Of the last W
 * of them, it is known which have begun: one that is over does not begin again.
 *
 * Memory is the socket's (struct ndp_rcv): bytes of messages that are not whole,
 * and of those that are and were not read yet; and a number of messages that are
 * not whole. What does not fit is not taken, and the answer says window 0. An
 * eighth is only for the packets at ack_base: for these, all others of their flow
 * may wait. If all that is whole was read, then it is messages that are not which
 * keep each other from becoming whole. So no more flows are pulled than those of which
 * all that is missing will find room: each has reserved twice what it still has to send
 * of its message, but no more than half of all memory. The others are held, until a
 * message is whole and read. What was sent unasked may fill the memory nevertheless;
 * then one flow at a time (first), of those that are not held, may go on,
 * until a message of it is whole: up to one and a half of what there may be
 * otherwise, and with the packet at ack_base up to twice.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, section 3.2.
 *
 * Differences from the paper:
 * - There a connection is one transfer; here a flow carries messages without end.
 * - The window, limits of memory, cookies, and a sender that is not believed.
 */
#ifndef _NDP_RCV_H
#define _NDP_RCV_H

#include "ndp_pull.h"
#include "ndp_rcv_msg.h"

/* Packets that are this old are not answered any more. */
#define NDP_RCV_OLD		65536U
/* So long may the flow that goes on without room bring nothing. */
#define NDP_RCV_FIRST_NS	100000000ULL
/* A reservation of a flow of which nothing finds room for so long ends. */
#define NDP_RCV_RESERVE_NS	1000000000ULL
/* Lists in which a flow's messages are found by their id: 2^5 */
#define NDP_RCV_BUCKET_BITS	5
#define NDP_RCV_BUCKETS		32U

/**
 * enum ndp_rcv_admit - what to do with a packet of a flow that is not known
 * @NDP_ADMIT_OPEN: ndp_rcv_open()
 * @NDP_ADMIT_COOKIE: answer with COOKIE; keep nothing
 * @NDP_ADMIT_BARE: answer with a NACK without state (NDP_CTL_BARE)
 * @NDP_ADMIT_NO_FLOW: answer with ERROR, NDP_CODE_NO_FLOW
 * @NDP_ADMIT_DROP: there are as many flows as there may be
 */
enum ndp_rcv_admit {
	NDP_ADMIT_OPEN,
	NDP_ADMIT_COOKIE,
	NDP_ADMIT_BARE,
	NDP_ADMIT_NO_FLOW,
	NDP_ADMIT_DROP,
};

/**
 * struct ndp_rcv_owed - packets of a flow that have not been answered yet
 * @seq: of the last one
 * @path: of the last one
 * @try_no: of the last one
 * @about: NDP_CTL_ACK or NDP_CTL_NACK: what the last one gets
 * @dsfield: DSCP and ECN bits of all of them
 * @count: how many they are
 * @pull: a pull goes with the answer
 */
struct ndp_rcv_owed {
	u32 seq;
	u8 path;
	u8 try_no;
	u8 about;
	u8 dsfield;
	u8 count;
	bool pull;
};

/**
 * struct ndp_rcv_flow - what is known of a flow: ndp_rcv_open()
 * @pull: in the pull queue of its interface, whose lock protects it
 * @bucket: messages that are not whole, by a hash of their id
 * @last_ns: when something came
 * @missing: bytes of messages that have begun and are not whole
 * @skipped_ns: when packets were given up last; 0: never
 * @kept_ns: when something of it found room; at first, when it began
 * @ahead: bytes of the message of its newest packet, if nothing of it was kept yet
 * @reserved: bytes of memory, so that it may be pulled
 * @secret: random, odd: who does not know it cannot choose ids for one list
 * @end: behind the newest packet of which something came
 * @trimmed: NACKs sent since the flow began, modulo 2^32
 * @newest_id: newest message that began; before, the first of which a packet came
 * @sport: the sender's
 * @dport: ours
 * @msgs: messages in @bucket
 * @ip_more: bytes that its packets' IP header has more than IPv4's
 * @last: the packet before @end says LAST
 * @owed: packets not answered yet
 * @got: packets that came whole, or were given up; its base is ack_base
 * @nack: packets that came trimmed and not whole since; as @got's bits
 * @begun: of the last NDP_RCV_WINDOW ids, those that have begun; as @got's bits
 */
struct ndp_rcv_flow {
	struct ndp_pull_node pull;
	struct ndp_rcv_msg *bucket[NDP_RCV_BUCKETS];
	u64 last_ns;
	u64 missing;
	u64 skipped_ns;
	u64 kept_ns;
	u32 ahead;
	u32 reserved;
	u32 secret;
	u32 end;
	u32 trimmed;
	u32 newest_id;
	u16 sport;
	u16 dport;
	u16 msgs;
	u8 ip_more;
	bool last;
	struct ndp_rcv_owed owed;
	struct ndp_window got;
	u64 nack[NDP_RCV_WORDS];
	u64 begun[NDP_RCV_WORDS];
};

/**
 * struct ndp_rcv_params - what is set
 * @memory_max: bytes of a socket's messages; at least those of the largest packet.
 *	A longer message has to be read by and by
 * @time_wait_ns: silence after which a flow is forgotten; longer than a sender goes on
 *	sending a packet
 * @msgs_max: a socket's messages that are not whole; more than a sender interleaves, and
 *	below 2^15
 * @flows_max: flows of all peers
 * @peer_flows_max: flows of a peer
 * @cookie_flows: so many flows, and a new one needs a cookie
 * @window: packets that a sender may send unasked
 */
struct ndp_rcv_params {
	u64 memory_max;
	u64 time_wait_ns;
	u32 msgs_max;
	u32 flows_max;
	u32 peer_flows_max;
	u32 cookie_flows;
	u32 window;
};

/**
 * struct ndp_rcv - a socket that receives; zeros at first, but @p
 * @p: parameters
 * @first: the flow that may go on though memory is used up; NULL: none
 * @first_ns: when it last did
 * @partial: bytes of messages that are not whole
 * @unread: bytes of messages that are, and were not read yet
 * @reserved: bytes that flows which are pulled have reserved
 * @kept_ns: when something found room last
 * @freed: a reservation has ended: flows that are held may go on; for the caller to take back
 * @msgs: messages that are not whole
 * @verdicts: counters: packets by enum ndp_rcv_verdict; read without a lock
 */
struct ndp_rcv {
	const struct ndp_rcv_params *p;
	const struct ndp_rcv_flow *first;
	u64 first_ns;
	u64 partial;
	u64 unread;
	u64 reserved;
	u64 kept_ns;
	bool freed;
	u32 msgs;
	u64 verdicts[NDP_RCV_VERDICTS];
};

/* ---- flows */

/**
 * ndp_rcv_admit() - a packet came of a flow that is not known
 * @p: parameters
 * @h: its header: DATA or PROBE
 * @flows: flows there are
 * @peer_flows: of this peer
 * @cookie: the cookies that are good for this peer: the newest, and the one before;
 *	not 0
 *
 * Return: what to do with it.
 */
static inline enum ndp_rcv_admit ndp_rcv_admit(const struct ndp_rcv_params *p,
					       const struct ndp_hdr *h, u32 flows,
					       u32 peer_flows, const u64 cookie[2])
{
	if (h->is_short)
		return NDP_ADMIT_BARE;
	if (!(h->flags & NDP_DATA_SYN))
		return NDP_ADMIT_NO_FLOW;
	if (flows >= p->flows_max || peer_flows >= p->peer_flows_max)
		return NDP_ADMIT_DROP;
	if (flows < p->cookie_flows || h->data.cookie == cookie[0] ||
	    h->data.cookie == cookie[1])
		return NDP_ADMIT_OPEN;
	return NDP_ADMIT_COOKIE;
}

/**
 * ndp_rcv_open() - a flow begins
 * @f: the flow
 * @h: the packet that opens it, which has then to go to ndp_rcv_packet()
 * @secret: a random number
 * @now_ns: the time
 */
static inline void ndp_rcv_open(struct ndp_rcv_flow *f, const struct ndp_hdr *h, u32 secret,
				u64 now_ns)
{
	*f = (struct ndp_rcv_flow) {
		.last_ns = now_ns, .kept_ns = now_ns, .secret = secret | 1, .end = h->data.base,
		.newest_id = h->data.msg_id, .sport = h->sport, .dport = h->dport,
	};
	f->got.base = h->data.base;
}

/**
 * ndp_rcv_is_silent() - is a flow to be forgotten?
 * @p: parameters
 * @f: the flow
 * @now_ns: the time
 *
 * Return: true if so: its messages are to be taken from it by ndp_rcv_pop(), it
 * from the pull queue by ndp_pull_flush(), and then ndp_rcv_close().
 */
static inline bool ndp_rcv_is_silent(const struct ndp_rcv_params *p,
				     const struct ndp_rcv_flow *f, u64 now_ns)
{
	return now_ns - f->last_ns >= p->time_wait_ns;
}

static inline void ndp_rcv_reserve(struct ndp_rcv *r, struct ndp_rcv_flow *f, u32 memory)
{
	r->freed |= f->reserved && !memory;
	r->reserved += (u64)memory - f->reserved;
	f->reserved = memory;
}

/**
 * ndp_rcv_lapse() - end a flow's reservation if nothing of the flow finds room any more
 * @r: socket
 * @f: the flow
 * @now_ns: the time
 *
 * Its sender may be dead, or may have sent but headers.
 */
static inline void ndp_rcv_lapse(struct ndp_rcv *r, struct ndp_rcv_flow *f, u64 now_ns)
{
	if (now_ns - f->kept_ns >= NDP_RCV_RESERVE_NS)
		ndp_rcv_reserve(r, f, 0);
}

/**
 * ndp_rcv_close() - a flow is over; it has no messages any more
 * @r: socket
 * @f: the flow, for the caller to free
 */
static inline void ndp_rcv_close(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	ndp_rcv_reserve(r, f, 0);
	if (r->first == f)
		r->first = NULL;
}

/* Packets before @base, of which one at least did not come, are no longer waited for. */
static inline void ndp_rcv_give_up(struct ndp_rcv_flow *f, u32 base, u64 now_ns)
{
	u32 from = f->got.base;

	if (!ndp_before(from, base))
		return;
	f->skipped_ns = now_ns;
	ndp_bits_clear_many(f->got.bits, from, base - from);
	ndp_bits_clear_many(f->nack, from, base - from);
	f->got.base = base;
	ndp_window_slide(&f->got);
}

/* Something of packet @seq came, within the window. */
static inline void ndp_rcv_seen(struct ndp_rcv_flow *f, const struct ndp_hdr *h)
{
	if (ndp_before(f->end, h->seq + 1))
		f->end = h->seq + 1;
	if (f->end == h->seq + 1)
		f->last = h->flags & NDP_DATA_LAST;
}

/**
 * ndp_rcv_has_all() - has all come that the sender has?
 * @f: the flow
 *
 * Return: true if so: there is nothing to pull, ndp_pull_flush().
 */
static inline bool ndp_rcv_has_all(const struct ndp_rcv_flow *f)
{
	return f->last && f->got.base == f->end;
}

/* ---- messages of a flow */

/* Multiplicative hashing by a secret factor */
static inline struct ndp_rcv_msg **ndp_rcv_bucket(struct ndp_rcv_flow *f, u32 id)
{
	return &f->bucket[id * f->secret >> (32 - NDP_RCV_BUCKET_BITS)];
}

/**
 * ndp_rcv_find() - a message that is not whole yet
 * @f: its flow
 * @id: its id
 *
 * Return: the message; NULL: none.
 */
static inline struct ndp_rcv_msg *ndp_rcv_find(struct ndp_rcv_flow *f, u32 id)
{
	struct ndp_rcv_msg *m = *ndp_rcv_bucket(f, id);

	while (m && m->id != id)
		m = m->chain;
	return m;
}

static inline void ndp_rcv_link(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				struct ndp_rcv_msg *m)
{
	struct ndp_rcv_msg **bucket = ndp_rcv_bucket(f, m->id);

	m->chain = *bucket;
	*bucket = m;
	m->missing = m->len;
	f->missing += m->len;
	f->msgs++;
	r->msgs++;
}

/* It is the caller's, and so are its parts. */
static inline void ndp_rcv_unlink(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				  struct ndp_rcv_msg *m)
{
	struct ndp_rcv_msg **at = ndp_rcv_bucket(f, m->id);

	while (*at != m)
		at = &(*at)->chain;
	*at = m->chain;
	m->chain = NULL;
	f->missing -= m->missing;
	f->msgs--;
	r->msgs--;
	r->partial -= m->memory;
}

/**
 * ndp_rcv_abort() - the sender gives up a message
 * @r: socket
 * @f: the flow
 * @id: the message
 *
 * Return: the message and its parts, for the caller to free; NULL: there is none.
 */
static inline struct ndp_rcv_msg *ndp_rcv_abort(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						u32 id)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(f, id);

	if (m)
		ndp_rcv_unlink(r, f, m);
	return m;
}

/**
 * ndp_rcv_dead_ns() - which messages of a flow will never be whole
 * @p: parameters
 * @f: the flow
 * @now_ns: the time
 *
 * All, if the flow is to be forgotten. A sender that gives up packets says ABORT of
 * their messages; since that may be lost, those are over of which nothing came
 * since, for so long that nothing can.
 *
 * Return: for ndp_rcv_pop(): of which nothing came since.
 */
static inline u64 ndp_rcv_dead_ns(const struct ndp_rcv_params *p,
				  const struct ndp_rcv_flow *f, u64 now_ns)
{
	if (ndp_rcv_is_silent(p, f, now_ns))
		return U64_MAX;
	return now_ns - f->skipped_ns >= p->time_wait_ns ? f->skipped_ns : 0;
}

/**
 * ndp_rcv_pop() - take a message from a flow
 * @r: socket
 * @f: the flow
 * @dead_ns: one of which nothing came since then
 *
 * Return: the message and its parts, for the caller to free; NULL: no more.
 */
static inline struct ndp_rcv_msg *ndp_rcv_pop(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					      u64 dead_ns)
{
	struct ndp_rcv_msg *m;
	u32 i;

	for (i = 0; i < NDP_RCV_BUCKETS && f->msgs; i++) {
		for (m = f->bucket[i]; m; m = m->chain) {
			if (m->last_ns < dead_ns) {
				ndp_rcv_unlink(r, f, m);
				return m;
			}
		}
	}
	return NULL;
}

/* Ids from the newest back: has it begun? Those that are too old have. */
static inline bool ndp_rcv_has_begun(const struct ndp_rcv_flow *f, u32 id)
{
	if (ndp_before(f->newest_id, id))
		return false;
	return f->newest_id - id >= NDP_RCV_WINDOW || ndp_bits_has(f->begun, id);
}

static inline void ndp_rcv_begin(struct ndp_rcv_flow *f, u32 id)
{
	if (ndp_before(f->newest_id, id)) {
		ndp_bits_clear_many(f->begun, f->newest_id + 1, id - f->newest_id);
		f->newest_id = id;
	}
	ndp_bits_set(f->begun, id);
}

static inline void ndp_rcv_add(struct ndp_rcv *r, struct ndp_rcv_flow *f,
			       struct ndp_rcv_msg *m, const struct ndp_hdr *h, u32 memory)
{
	m->missing -= h->payload_len;
	f->missing -= h->payload_len;
	m->memory += memory;
	r->partial += memory;
	if (ndp_rcv_is_tail(h)) {
		m->has_tail = true;
		m->tail_offset = h->data.offset;
	} else {
		ndp_window_add(&m->got, ndp_rcv_index(&m->cut, h->data.offset));
	}
}

/* ---- memory */

/*
 * Is there room for a packet, and for @msgs messages? The packet that all others of
 * the flow may wait for has the last eighth for itself. If there is none, then
 * one flow at a time has some: it changes if that flow does not go on.
 */
static inline bool ndp_rcv_room(struct ndp_rcv *r, const struct ndp_rcv_flow *f,
				const struct ndp_hdr *h, u32 memory, u32 msgs, u64 now_ns)
{
	u64 all = r->partial + r->unread + memory, max = r->p->memory_max;
	bool next = h->seq == f->got.base;

	if (msgs)
		msgs += r->msgs;
	if (all <= max - (next ? 0 : max / 8) && msgs <= r->p->msgs_max)
		return true;
	if (r->unread)
		return false;
	if (r->first ? now_ns - r->first_ns >= NDP_RCV_FIRST_NS : f->reserved || !r->reserved) {
		r->first = f;
		r->first_ns = now_ns;
	}
	if (r->first != f || all > max + (next ? max : max / 2) ||
	    msgs > r->p->msgs_max + (next ? r->p->msgs_max : r->p->msgs_max / 2))
		return false;
	r->first_ns = now_ns;
	return true;
}

/**
 * ndp_rcv_read() - the first bytes of a message that is not whole were read
 * @r: socket
 * @m: the message
 * @bytes: of payload, no more than ndp_rcv_prefix() says beyond @m->read
 * @memory: that they took
 */
static inline void ndp_rcv_read(struct ndp_rcv *r, struct ndp_rcv_msg *m, u64 bytes,
				u64 memory)
{
	m->read += bytes;
	m->memory -= memory;
	r->partial -= memory;
}

/**
 * ndp_rcv_release() - messages that are whole were read, or thrown away
 * @r: socket
 * @memory: that they took
 */
static inline void ndp_rcv_release(struct ndp_rcv *r, u64 memory)
{
	r->unread -= memory;
}

/* ---- packets */

/* A message that is one packet; it must not have begun. */
static inline enum ndp_rcv_verdict ndp_rcv_single(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						  const struct ndp_hdr *h, u32 memory,
						  u64 now_ns)
{
	if (!ndp_rcv_room(r, f, h, memory, 0, now_ns))
		return NDP_RCV_NO_ROOM;
	r->unread += memory;
	return NDP_RCV_WHOLE;
}

/* The first packet of a message that has more */
static inline enum ndp_rcv_verdict ndp_rcv_fresh(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						 const struct ndp_hdr *h, u32 memory,
						 u64 now_ns, struct ndp_rcv_msg *m)
{
	enum ndp_rcv_verdict v;

	if (!m || !ndp_rcv_room(r, f, h, memory, 1, now_ns))
		return NDP_RCV_NO_ROOM;
	*m = (struct ndp_rcv_msg) { .id = h->data.msg_id, .len = h->data.msg_len };
	v = ndp_rcv_fits(m, h);
	if (v == NDP_RCV_PART) {
		ndp_rcv_link(r, f, m);
		ndp_rcv_add(r, f, m, h, memory);
	}
	return v;
}

static inline enum ndp_rcv_verdict ndp_rcv_further(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						   const struct ndp_hdr *h, u32 memory,
						   u64 now_ns, struct ndp_rcv_msg *m)
{
	enum ndp_rcv_verdict v = ndp_rcv_fits(m, h);

	if (v != NDP_RCV_PART)
		return v;
	if (!ndp_rcv_room(r, f, h, memory, 0, now_ns))
		return NDP_RCV_NO_ROOM;
	ndp_rcv_add(r, f, m, h, memory);
	if (!ndp_rcv_is_whole(m))
		return NDP_RCV_PART;
	r->unread += m->memory;
	ndp_rcv_unlink(r, f, m);
	return NDP_RCV_WHOLE;
}

/* A packet that is whole, and did not come before */
static inline enum ndp_rcv_verdict ndp_rcv_data(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						const struct ndp_hdr *h, u32 memory,
						u64 now_ns, struct ndp_rcv_msg **msg)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(f, h->data.msg_id), *spare = *msg;
	enum ndp_rcv_verdict v;

	*msg = m;
	if (m) {
		v = ndp_rcv_further(r, f, h, memory, now_ns, m);
	} else if (ndp_rcv_has_begun(f, h->data.msg_id)) {
		v = NDP_RCV_BAD_ID;
	} else if (h->payload_len == h->data.msg_len) {
		v = ndp_rcv_single(r, f, h, memory, now_ns);
	} else {
		v = ndp_rcv_fresh(r, f, h, memory, now_ns, spare);
		*msg = spare;
	}
	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE) {
		ndp_rcv_begin(f, h->data.msg_id);
		ndp_bits_clear(f->nack, h->seq);
		ndp_window_add(&f->got, h->seq);
		ndp_rcv_seen(f, h);
	}
	if (v == NDP_RCV_WHOLE && r->first == f)
		r->first = NULL;
	return v;
}

static inline enum ndp_rcv_verdict ndp_rcv_trimmed(struct ndp_rcv_flow *f,
						   const struct ndp_hdr *h)
{
	ndp_bits_set(f->nack, h->seq);
	f->trimmed++;
	ndp_rcv_seen(f, h);
	return NDP_RCV_TRIMMED;
}

static inline enum ndp_rcv_verdict ndp_rcv_judge(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						 const struct ndp_hdr *h, u32 memory,
						 u64 now_ns, struct ndp_rcv_msg **msg)
{
	if (!h->is_short) {
		if (h->sport != f->sport || h->dport != f->dport)
			return NDP_RCV_BAD_PORT;
		ndp_rcv_give_up(f, h->data.base, now_ns);
	}
	if (h->type == NDP_PROBE)
		return NDP_RCV_PROBED;
	if (!ndp_window_fits(&f->got, h->seq) ||
	    (s32)(f->got.base - h->seq) > (s32)NDP_RCV_OLD)
		return NDP_RCV_FAR;
	if (ndp_window_has(&f->got, h->seq))
		return NDP_RCV_AGAIN;
	if (ndp_is_trimmed(h))
		return ndp_rcv_trimmed(f, h);
	return ndp_rcv_data(r, f, h, memory, now_ns, msg);
}

/**
 * ndp_rcv_packet() - a DATA or PROBE of a flow came
 * @r: socket
 * @f: the flow
 * @h: its header, of ndp_hdr_read()
 * @memory: bytes that it takes if it is kept
 * @now_ns: the time
 * @msg: in: memory for a message, or NULL: there is none. Result: the message that
 *	the packet is a part of; NULL: none. With NDP_RCV_WHOLE it is the caller's, and
 *	NULL if the packet is all of it
 *
 * If @msg is what it was, with NDP_RCV_PART, then the memory was used.
 *
 * Return: what it was; below NDP_RCV_FAR it is to be answered.
 */
static inline enum ndp_rcv_verdict ndp_rcv_packet(struct ndp_rcv *r, struct ndp_rcv_flow *f,
						  const struct ndp_hdr *h, u32 memory,
						  u64 now_ns, struct ndp_rcv_msg **msg)
{
	struct ndp_rcv_msg *m = *msg;
	enum ndp_rcv_verdict v = ndp_rcv_judge(r, f, h, memory, now_ns, &m);

	*msg = v == NDP_RCV_PART || v == NDP_RCV_WHOLE ? m : NULL;
	if (*msg)
		m->last_ns = now_ns;
	WRITE_ONCE(r->verdicts[v], r->verdicts[v] + 1);
	if (v < NDP_RCV_FAR)
		f->last_ns = now_ns;
	return v;
}

/* But for the eighth that is for packets at ack_base, memory is used up. */
static inline bool ndp_rcv_is_short(const struct ndp_rcv *r)
{
	return r->partial + r->unread > r->p->memory_max - r->p->memory_max / 8;
}

/*
 * What is missing of a flow's messages may take twice as much: of those that have begun, and
 * one that has not; and at least what it wishes.
 */
static inline u64 ndp_rcv_needs(const struct ndp_rcv *r, const struct ndp_rcv_flow *f)
{
	const struct ndp_pull_node *n = &f->pull;
	u64 wished = (u64)(n->target - n->answered) * n->bytes;

	if (ndp_rcv_has_all(f))
		return 0;
	return min_t(u64, 2 * max_t(u64, f->missing + f->ahead, wished), r->p->memory_max);
}

/**
 * ndp_rcv_may_go_on() - is there room for what is missing of a flow, or has nobody else any?
 * @r: socket
 * @f: the flow
 * @now_ns: the time
 *
 * Return: true if so; then it has reserved that, and may be pulled.
 */
static inline bool ndp_rcv_may_go_on(struct ndp_rcv *r, struct ndp_rcv_flow *f, u64 now_ns)
{
	u64 needs = ndp_rcv_needs(r, f), others = r->reserved - f->reserved;

	if (r->first == f || f->reserved || !needs || !others ||
	    r->partial + r->unread + others + needs <= r->p->memory_max ||
	    now_ns - r->kept_ns >= NDP_RCV_FIRST_NS) {
		/* half is left, for short messages */
		needs = min_t(u64, needs, r->p->memory_max / 2);
		ndp_rcv_reserve(r, f, (u32)min_t(u64, needs, 0xffffffff));
		return true;
	}
	return false;
}

/**
 * ndp_rcv_yields() - is a flow to wait, as others have reserved what room there is?
 * @r: socket
 * @f: the flow, of which something came
 * @h: the packet
 * @v: what it was, to be answered
 * @now_ns: the time
 *
 * Return: true if so: for ndp_rcv_wish().
 */
static inline bool ndp_rcv_yields(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				  const struct ndp_hdr *h, enum ndp_rcv_verdict v, u64 now_ns)
{
	if (h->type == NDP_DATA && !h->is_short)
		f->ahead = ndp_rcv_has_begun(f, h->data.msg_id) ?
			   0 : (u32)min_t(u64, h->data.msg_len, 0xffffffff);
	if (v == NDP_RCV_NO_ROOM || v == NDP_RCV_WHOLE)
		ndp_rcv_reserve(r, f, 0);
	if (v <= NDP_RCV_WHOLE) {
		r->kept_ns = now_ns;
		f->kept_ns = now_ns;
	}
	if (v == NDP_RCV_NO_ROOM ||
	    (v > NDP_RCV_WHOLE && f->pull.held && ndp_rcv_is_short(r)))
		return true;
	return !ndp_rcv_may_go_on(r, f, now_ns);
}

/**
 * ndp_rcv_wish() - tell the pull queue what came, if the packet is to be answered
 * @q: pull queue of the interface
 * @f: the flow
 * @h: the packet
 * @v: what it was
 * @yields: ndp_rcv_yields()
 * @now_ns: the time
 *
 * What a sender was asked for and finds no room would be asked for in vain: the flow
 * is held, until one does, or ndp_pull_hold(). A sender that was told of no room may
 * have nothing but a PROBE to say that it has more to send, after all had come.
 *
 * Return: true if the answer is to say PULL.
 */
static inline bool ndp_rcv_wish(struct ndp_pull *q, struct ndp_rcv_flow *f,
				const struct ndp_hdr *h, enum ndp_rcv_verdict v, bool yields,
				u64 now_ns)
{
	if (v == NDP_RCV_PROBED && ndp_rcv_has_all(f) &&
	    ndp_before(f->pull.granted, h->data.pull_target))
		f->last = false;
	f->pull.held = yields;
	ndp_pull_arrived(q, &f->pull, h, f->ip_more, v == NDP_RCV_TRIMMED, now_ns);
	if (!ndp_rcv_has_all(f))
		return ndp_pull_at_once(q, &f->pull, now_ns);
	ndp_pull_flush(q, &f->pull);
	return false;
}

/**
 * ndp_rcv_control() - say all that is known of a flow
 * @r: socket
 * @f: the flow
 * @answer: result, but for type, flags, flow_id, and what names a packet in question
 */
static inline void ndp_rcv_control(const struct ndp_rcv *r, const struct ndp_rcv_flow *f,
				   struct ndp_hdr *answer)
{
	bool full = r->partial + r->unread >= r->p->memory_max;

	answer->sport = f->dport;
	answer->dport = f->sport;
	answer->ctl = (struct ndp_ctl) {
		.ack_base = f->got.base,
		.pull = READ_ONCE(f->pull.granted),
		.sack = ndp_bits_map(f->got.bits, f->got.base),
		.nack = ndp_bits_map(f->nack, f->got.base),
		.trimmed = f->trimmed,
		.window = full ? 0 : r->p->window,
	};
}

/* What an answer says of the packet that it names */
static inline u8 ndp_rcv_about(enum ndp_rcv_verdict v)
{
	static const u8 about[] = {
		[NDP_RCV_PART] = NDP_CTL_ACK,
		[NDP_RCV_WHOLE] = NDP_CTL_ACK,
		[NDP_RCV_AGAIN] = NDP_CTL_ACK,
		[NDP_RCV_TRIMMED] = NDP_CTL_NACK,
		[NDP_RCV_PROBED] = NDP_CTL_PROBED,
		[NDP_RCV_NO_ROOM] = 0,
	};

	return about[v];
}

/**
 * ndp_rcv_answer() - the answer to a packet
 * @r: socket
 * @f: its flow; nothing is owed to it after that, as the answer has all of its state
 * @h: the packet
 * @v: what it was, below NDP_RCV_FAR
 * @pull: a pull goes with it
 * @dsfield: the packet's DSCP and ECN bits
 * @answer: result: CONTROL
 */
static inline void ndp_rcv_answer(const struct ndp_rcv *r, struct ndp_rcv_flow *f,
				  const struct ndp_hdr *h, enum ndp_rcv_verdict v, bool pull,
				  u8 dsfield, struct ndp_hdr *answer)
{
	u8 about = ndp_rcv_about(v);

	pull |= f->owed.count && f->owed.pull;
	f->owed.count = 0;
	ndp_answer(h, NDP_CONTROL, answer);
	ndp_rcv_control(r, f, answer);
	answer->flags = about | (pull ? NDP_CTL_PULL : 0);
	if (about) {
		answer->ctl.dsfield = dsfield;
	} else {
		answer->seq = 0;
		answer->path = 0;
		answer->try_no = 0;
		answer->ctl.window = 0;
	}
}

#endif /* _NDP_RCV_H */
