// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP receiver: packets of a flow and their answers; described in rcv.h
 */
#include "rcv.h"

/* Older packets are not answered. */
#define NDP_RCV_OLD		65536
/*
 * Bytes and packets that one answer may cover. As many are pulled at once, so that a message with
 * short packets has as few answers as one with long packets.
 */
#define NDP_RCV_DEFER_BYTES	NDP_PULL_QUANTUM
#define NDP_RCV_DEFER_MAX	16U
/*
 * Pulls beyond the packets that arrived whole, until the sender has returned the token. Pulls
 * without an arrival, if the sender may have no packet because its only message was refused
 */
#define NDP_RCV_CAUTIOUS	8U

/* ---- flows ---- */

/**
 * ndp_rcv_admit() - decide about a packet of an unknown flow
 * @l: limits
 * @h: header: DATA or PROBE
 * @flows: present number of flows
 * @peer_flows: present number of this peer's flows
 * @token: valid tokens: the present one and the previous one; not 0
 *
 * Return: action.
 */
enum ndp_rcv_admit ndp_rcv_admit(const struct ndp_rcv_limits *l, const struct ndp_hdr *h,
				 u32 flows, u32 peer_flows, const u32 token[2])
{
	if (h->is_short)
		return NDP_ADMIT_BARE;
	if (!(h->flags & NDP_DATA_SYN))
		return NDP_ADMIT_NO_FLOW;
	if (flows >= l->flows_max || peer_flows >= l->peer_flows_max)
		return NDP_ADMIT_DROP;
	if (flows < l->cookie_flows || h->data.token == token[0] || h->data.token == token[1])
		return NDP_ADMIT_OPEN;
	return NDP_ADMIT_COOKIE;
}

/**
 * ndp_rcv_open() - begin a flow
 * @f: flow
 * @h: DATA that opens it, which then has to go to ndp_rcv_packet()
 * @secret: random number
 * @now_ns: time
 */
void ndp_rcv_open(struct ndp_rcv_flow *f, const struct ndp_hdr *h, u32 secret, u64 now_ns)
{
	const struct ndp_data *d = &h->data;

	*f = (struct ndp_rcv_flow) {
		.last_ns = now_ns, .secret = secret | 1, .end = d->base, .newest_id = d->msg_base,
		.msg_base = d->msg_base, .scan_id = d->msg_base, .turn_id = d->msg_base,
		.next_id = d->msg_base, .sport = h->sport, .dport = h->dport,
	};
	f->arrived.base = d->base;
}

/**
 * ndp_rcv_close() - end a flow without messages
 * @r: socket
 * @f: flow, for the caller to free
 */
void ndp_rcv_close(struct ndp_rcv *r, struct ndp_rcv_flow *f)
{
	ndp_rmem_end(&r->mem, &f->promise);
}

/**
 * ndp_rcv_has_all() - has everything arrived that the sender has?
 * @f: flow
 *
 * Return: true if the flow has no packet to pull.
 */
bool ndp_rcv_has_all(const struct ndp_rcv_flow *f)
{
	return f->last && f->arrived.base == f->end;
}

/* ---- packets ---- */

static void ndp_rcv_seen(struct ndp_rcv_flow *f, const struct ndp_hdr *h)
{
	if (ndp_before(f->end, h->seq + 1))
		f->end = h->seq + 1;
	if (f->end == h->seq + 1)
		f->last = h->flags & NDP_DATA_LAST;
}

static void ndp_rcv_mark(struct ndp_rcv_flow *f, const struct ndp_hdr *h, enum ndp_rcv_verdict v)
{
	if (v == NDP_RCV_TRIMMED) {
		ndp_bits_set(f->nack, h->seq);
		f->trimmed++;
		ndp_rcv_seen(f, h);
	} else if (v <= NDP_RCV_DUPLICATE) {
		ndp_bits_clear(f->nack, h->seq);
		ndp_window_add(&f->arrived, h->seq);
		ndp_rcv_seen(f, h);
	}
}

/* A sender is at most a window ahead of its receiver, or two if it has given up one meanwhile. */
static bool ndp_rcv_is_near(u32 theirs, u32 ours)
{
	return !ndp_before(ours + 2 * NDP_RCV_WINDOW, theirs);
}

/*
 * May a packet be from the flow's sender? A stranger has to guess that and flow_id. Old packets are
 * harmless, because they change nothing.
 */
static bool ndp_rcv_is_plausible(const struct ndp_rcv_flow *f, const struct ndp_data *d)
{
	return ndp_rcv_is_near(d->base, f->arrived.base) &&
	       ndp_rcv_is_near(d->msg_base, f->newest_id) &&
	       (!d->msg_len || ndp_rcv_is_near(d->msg_id, f->newest_id));
}

/* Statements of a packet about its flow */
static void ndp_rcv_learn_flow(struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_hdr *h)
{
	if (ndp_before(f->arrived.base, h->data.base))
		ndp_window_skip(&f->arrived, f->nack, h->data.base);
	ndp_rcv_told_base(r, f, h->data.msg_base);
	f->is_verified |= h->data.token == f->token;
}

static enum ndp_rcv_verdict ndp_rcv_judge(struct ndp_rcv *r, struct ndp_rcv_flow *f,
					  const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg)
{
	const struct ndp_hdr *h = p->h;
	enum ndp_rcv_verdict v = NDP_RCV_TRIMMED;

	if (!h->is_short) {
		if (h->sport != f->sport || h->dport != f->dport)
			return NDP_RCV_BAD_PORT;
		if (!ndp_rcv_is_plausible(f, &h->data))
			return NDP_RCV_OUT_OF_WINDOW;
		ndp_rcv_learn_flow(r, f, h);
	}
	if (h->type == NDP_PROBE)
		return NDP_RCV_PROBED;
	if (!ndp_window_fits(&f->arrived, h->seq) || (s32)(f->arrived.base - h->seq) > NDP_RCV_OLD)
		return NDP_RCV_OUT_OF_WINDOW;
	if (ndp_window_has(&f->arrived, h->seq))
		return NDP_RCV_DUPLICATE;
	if (!h->is_short)
		v = ndp_rcv_msg_packet(r, f, p, msg);
	ndp_rcv_mark(f, h, v);
	return v;
}

/**
 * ndp_rcv_packet() - process DATA or PROBE of a flow
 * @r: socket
 * @f: flow
 * @p: packet
 * @msg: in: memory for a message, or NULL. Result: with NDP_RCV_PART, NDP_RCV_WHOLE,
 *	NDP_RCV_FULL and NDP_RCV_TRIMMED: the message of the packet, or NULL; the memory was used
 *	if it is that.
 *	With NDP_RCV_WHOLE, the message is the caller's, unless messages are delivered in order
 *
 * Return: verdict; below NDP_RCV_OUT_OF_WINDOW it is to be answered.
 */
enum ndp_rcv_verdict ndp_rcv_packet(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				    const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg)
{
	struct ndp_rcv_msg *m = *msg;
	enum ndp_rcv_verdict v;

	*msg = NULL;
	v = ndp_rcv_judge(r, f, p, &m);
	if (v <= NDP_RCV_WHOLE || v == NDP_RCV_FULL || (v == NDP_RCV_TRIMMED && !p->h->is_short))
		*msg = m;
	WRITE_ONCE(r->verdicts[v], r->verdicts[v] + 1);
	if (v < NDP_RCV_OUT_OF_WINDOW)
		f->last_ns = p->now_ns;
	return v;
}

/*
 * Has no packet of a batch arrived, and are all among those that one answer describes? That is so
 * if ack_base moves over them.
 */
static bool ndp_rcv_is_batch_new(const struct ndp_rcv_flow *f, const struct ndp_rcv_pkt *p)
{
	u32 base = f->arrived.base, seq = p->h->seq, count = ndp_rcv_packets(p);

	if (seq != base && seq - base + count > NDP_MAP_BITS)
		return false;
	while (count--)
		if (ndp_window_has(&f->arrived, seq++))
			return false;
	return true;
}

static void ndp_rcv_mark_batch(struct ndp_rcv_flow *f, const struct ndp_rcv_pkt *p)
{
	ndp_bits_clear_many(f->nack, p->h->seq, ndp_rcv_packets(p));
	ndp_window_add_many(&f->arrived, p->h->seq, ndp_rcv_packets(p));
	ndp_rcv_seen(f, p->last);
}

/**
 * ndp_rcv_batch() - process the packets of a batch at once, if all of them are new and find room
 * @r: socket
 * @f: flow
 * @p: batch of at most NDP_MAP_BITS packets
 * @msg: as for ndp_rcv_packet()
 *
 * Return: verdict about the last packet, NDP_RCV_PART or NDP_RCV_WHOLE; NDP_RCV_PART holds for the
 * others. NDP_RCV_VERDICTS: the packets are to be processed one by one.
 */
enum ndp_rcv_verdict ndp_rcv_batch(struct ndp_rcv *r, struct ndp_rcv_flow *f,
				   const struct ndp_rcv_pkt *p, struct ndp_rcv_msg **msg)
{
	const struct ndp_hdr *last = p->last;
	struct ndp_rcv_msg *m = *msg;
	enum ndp_rcv_verdict v;

	*msg = NULL;
	if (last->sport != f->sport || last->dport != f->dport ||
	    !ndp_rcv_is_plausible(f, &last->data))
		return NDP_RCV_VERDICTS;
	ndp_rcv_learn_flow(r, f, last);
	if (!ndp_rcv_is_batch_new(f, p))
		return NDP_RCV_VERDICTS;
	v = ndp_rcv_msg_batch(r, f, p, &m);
	if (v == NDP_RCV_VERDICTS)
		return v;
	*msg = m;
	ndp_rcv_mark_batch(f, p);
	f->last_ns = p->now_ns;
	WRITE_ONCE(r->verdicts[NDP_RCV_PART],
		   r->verdicts[NDP_RCV_PART] + ndp_rcv_packets(p) - 1);
	WRITE_ONCE(r->verdicts[v], r->verdicts[v] + 1);
	return v;
}

/**
 * ndp_rcv_allow() - limit the pulls of a flow
 * @f: flow; ndp_pull_arrived() or ndp_pull_update() has to follow
 * @held: the flow is not pulled, because there is no room
 */
void ndp_rcv_allow(struct ndp_rcv_flow *f, bool held)
{
	bool waits = f->need && !f->msgs;
	u32 most = f->is_verified && !waits ? NDP_PULL_UNLIMITED : NDP_RCV_CAUTIOUS;

	f->pull.unverified = !f->is_verified;
	ndp_pull_allow(&f->pull, held ? 0 : most);
}

/**
 * ndp_rcv_demand() - pass a packet that is to be answered to the pull queue
 * @q: pull queue of the device
 * @f: flow
 * @h: header
 * @v: verdict
 * @held: the flow is not pulled, because there is no room
 * @now_ns: time
 *
 * Return: true if the answer pulls.
 */
bool ndp_rcv_demand(struct ndp_pull *q, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		    enum ndp_rcv_verdict v, bool held, u64 now_ns)
{
	/* if all had arrived, a sender whose packets are refused announces more by a PROBE only */
	if (v == NDP_RCV_PROBED && ndp_rcv_has_all(f) &&
	    ndp_before(f->pull.granted, h->data.pull_target))
		f->last = false;
	ndp_rcv_allow(f, held);
	if (v <= NDP_RCV_WHOLE || v == NDP_RCV_FULL)
		f->pull.full = v == NDP_RCV_FULL;
	if (v <= NDP_RCV_WHOLE)
		ndp_pull_whole(&f->pull);
	ndp_pull_arrived(q, &f->pull, h, f->ip_more, v == NDP_RCV_TRIMMED, now_ns);
	if (ndp_rcv_has_all(f))
		ndp_pull_flush(q, &f->pull);
	else if (v != NDP_RCV_REFUSED)
		return ndp_pull_at_once(q, &f->pull, now_ns);
	return false;
}

/**
 * ndp_rcv_demand_batch() - pass a batch that was accepted to the pull queue
 * @q: pull queue of the device
 * @f: flow
 * @p: batch
 * @held: the flow is not pulled, because there is no room
 *
 * Return: true if the answer pulls.
 */
bool ndp_rcv_demand_batch(struct ndp_pull *q, struct ndp_rcv_flow *f,
			  const struct ndp_rcv_pkt *p, bool held)
{
	u32 count = ndp_rcv_packets(p), i;
	bool pull = false;
	struct ndp_hdr h;

	ndp_rcv_allow(f, held);
	f->pull.full = false;
	for (i = 0; i < count; i++) {
		h = ndp_hdr_nth(p->h, p->last, i);
		ndp_pull_whole(&f->pull);
		ndp_pull_arrived(q, &f->pull, &h, f->ip_more, false, p->now_ns);
	}
	if (ndp_rcv_has_all(f)) {
		ndp_pull_flush(q, &f->pull);
		return false;
	}
	while (count-- && ndp_pull_at_once(q, &f->pull, p->now_ns))
		pull = true;
	return pull;
}

/* ---- answers ---- */

/**
 * ndp_rcv_control() - state the flow in a CONTROL
 * @r: socket
 * @f: flow
 * @answer: result, without type, path, try_no, seq, flow_id and flags about a packet
 */
void ndp_rcv_control(const struct ndp_rcv *r, const struct ndp_rcv_flow *f, struct ndp_hdr *answer)
{
	answer->sport = f->dport;
	answer->dport = f->sport;
	/* an ERROR and a later packet that was accepted may have overtaken each other */
	if ((!f->need && !f->is_blocked) || answer->flags & NDP_CTL_PROBED)
		answer->flags |= NDP_CTL_ROOM;
	answer->ctl = (struct ndp_ctl) {
		.ack_base = f->arrived.base,
		.pull = READ_ONCE(f->pull.granted),
		.sack = ndp_bits_map(f->arrived.bits, f->arrived.base),
		.nack = ndp_bits_map(f->nack, f->arrived.base),
		.trimmed = f->trimmed,
		.token = f->token,
		.window = r->window,
	};
}

static u8 ndp_rcv_about(enum ndp_rcv_verdict v)
{
	switch (v) {
	case NDP_RCV_TRIMMED:
		return NDP_CTL_NACK;
	case NDP_RCV_PROBED:
		return NDP_CTL_PROBED;
	case NDP_RCV_FULL:
		return NDP_CTL_FULL;
	default:
		return NDP_CTL_ACK;
	}
}

/**
 * ndp_rcv_answer() - make the answer to a packet, and to all that were not answered yet
 * @r: socket
 * @f: flow
 * @h: packet
 * @v: verdict, below NDP_RCV_OUT_OF_WINDOW
 * @pull: the answer pulls
 * @dsfield: DSCP and ECN bits of the packet
 * @answer: result: CONTROL or ERROR
 */
void ndp_rcv_answer(const struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		    enum ndp_rcv_verdict v, bool pull, u8 dsfield, struct ndp_hdr *answer)
{
	if (v == NDP_RCV_REFUSED || v == NDP_RCV_GONE) {
		ndp_answer(h, NDP_ERROR, answer);
		answer->err.code = v == NDP_RCV_GONE ? NDP_CODE_GONE : NDP_CODE_REFUSED;
		answer->err.msg_id = h->data.msg_id;
		return;
	}
	f->deferred.count = 0;
	f->deferred.bytes = 0;
	ndp_answer(h, NDP_CONTROL, answer);
	answer->flags = ndp_rcv_about(v) | (pull ? NDP_CTL_PULL : 0);
	ndp_rcv_control(r, f, answer);
	answer->ctl.dsfield = dsfield;
	if (v == NDP_RCV_FULL)
		answer->ctl.window = 0;
}

/*
 * May the answer to a packet wait for further packets? The sender must learn the packet's fate
 * from the maps: so it is in their range, and was not sent before.
 */
static bool ndp_rcv_may_defer(const struct ndp_rcv_flow *f, const struct ndp_hdr *h,
			      enum ndp_rcv_verdict v)
{
	return (v == NDP_RCV_PART || v == NDP_RCV_TRIMMED) && !(h->flags & NDP_DATA_RTX) &&
	       ndp_before(h->seq, f->arrived.base + NDP_MAP_BITS) && !ndp_rcv_has_all(f) &&
	       f->deferred.bytes + 2 * h->payload_len <= NDP_RCV_DEFER_BYTES &&
	       f->deferred.count + 1U < NDP_RCV_DEFER_MAX;
}

static void ndp_rcv_defer(struct ndp_rcv_flow *f, const struct ndp_hdr *h,
			  enum ndp_rcv_verdict v, u8 dsfield)
{
	f->deferred = (struct ndp_rcv_deferred) {
		.bytes = f->deferred.bytes + h->payload_len,
		.seq = h->seq, .path = h->path, .try_no = h->try_no,
		.about = ndp_rcv_about(v), .dsfield = dsfield,
		.count = (u8)(f->deferred.count + 1),
	};
}

/**
 * ndp_rcv_settle() - make the answer to all packets that were not answered yet
 * @r: socket
 * @f: flow
 * @answer: result: CONTROL, without flow_id
 *
 * Return: false if all were answered.
 */
bool ndp_rcv_settle(const struct ndp_rcv *r, struct ndp_rcv_flow *f, struct ndp_hdr *answer)
{
	const struct ndp_rcv_deferred *d = &f->deferred;

	if (!d->count)
		return false;
	*answer = (struct ndp_hdr) {
		.type = NDP_CONTROL, .flags = d->about, .path = d->path, .try_no = d->try_no,
		.seq = d->seq,
	};
	ndp_rcv_control(r, f, answer);
	answer->ctl.dsfield = d->dsfield;
	f->deferred.count = 0;
	f->deferred.bytes = 0;
	return true;
}

/**
 * ndp_rcv_may_ride() - may DATA of the other direction carry the ACK of a packet?
 * @f: flow
 * @h: packet
 * @v: verdict
 * @dsfield: DSCP and ECN bits of the packet
 *
 * Such an ACK says only that all packets up to this one have arrived. So the sender must have
 * nothing else to learn: no token, no lost packet, no room.
 *
 * Return: true if so, provided that the last CONTROL stated the present pulls and NACKs.
 */
bool ndp_rcv_may_ride(const struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		      enum ndp_rcv_verdict v, u8 dsfield)
{
	if (f->deferred.count && (f->deferred.dsfield != dsfield ||
				  f->deferred.count + 1U >= NDP_RCV_DEFER_MAX))
		return false;
	return v == NDP_RCV_WHOLE && !(h->flags & NDP_DATA_RTX) && f->is_verified &&
	       ndp_rcv_has_all(f) && f->arrived.base == h->seq + 1 && !f->need && !f->is_blocked;
}

/**
 * ndp_rcv_ride() - defer the ACK of a packet, which DATA may carry meanwhile
 * @f: flow
 * @h: packet: ndp_rcv_may_ride()
 * @dsfield: DSCP and ECN bits of the packet
 *
 * ndp_rcv_rode() or ndp_rcv_settle() has to follow soon.
 */
void ndp_rcv_ride(struct ndp_rcv_flow *f, const struct ndp_hdr *h, u8 dsfield)
{
	ndp_rcv_defer(f, h, NDP_RCV_WHOLE, dsfield);
}

/**
 * ndp_rcv_rode() - DATA has carried the ACK of all packets that were not answered yet
 * @f: flow
 */
void ndp_rcv_rode(struct ndp_rcv_flow *f)
{
	f->deferred.count = 0;
	f->deferred.bytes = 0;
}

/**
 * ndp_rcv_reply() - answer a packet, or defer the answer
 * @r: socket
 * @f: flow
 * @h: packet
 * @v: verdict, below NDP_RCV_OUT_OF_WINDOW
 * @pull: the answer pulls
 * @dsfield: DSCP and ECN bits of the packet
 * @answer: result
 *
 * While @f's deferred.count is not 0, ndp_rcv_settle() has to follow soon.
 *
 * Return: true if @answer is to be sent.
 */
bool ndp_rcv_reply(const struct ndp_rcv *r, struct ndp_rcv_flow *f, const struct ndp_hdr *h,
		   enum ndp_rcv_verdict v, bool pull, u8 dsfield, struct ndp_hdr *answer)
{
	bool settled = false;

	if (pull || !ndp_rcv_may_defer(f, h, v)) {
		ndp_rcv_answer(r, f, h, v, pull, dsfield, answer);
		return true;
	}
	if (f->deferred.count && f->deferred.dsfield != dsfield) {
		settled = ndp_rcv_settle(r, f, answer);
		answer->flow_id = h->flow_id;
	}
	ndp_rcv_defer(f, h, v, dsfield);
	return settled;
}
