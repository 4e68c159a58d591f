/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: what a flow sends, when, and what it does about what comes back
 *
 * Plain C, no kernel types: time and randomness are arguments. A flow goes from one
 * socket to another and carries messages, cut into packets; its scoreboard is in
 * net/ndp/ndp_snd_flow.h, and which message is next in net/ndp/ndp_snd_order.h.
 *
 * Each packet that leaves has a licence, one of these, looked for in this order:
 *
 *	push	a lost packet, at once: it timed out, or was bounced, and no PULL will
 *		come for it; or a new one, to see whether there is room for it
 *	credit	a PULL, cumulative: pull heard - pulls used. It is for the lost ones
 *		first, then for new ones
 *	spec	new packets only: the initial window, when the flow begins to send
 *
 * The receiver pulls as many packets as it was told that the sender needs:
 *
 *	need     = lost + new packets	(that there is room for)
 *	expected = told - pull		pulls on their way, or in the receiver's queue
 *	told    += need - (credit + expected + spec), if that is more than 0; but for
 *		   new packets, once half of an initial window is on its way, 2 at most; 1
 *		   if credit is left, and 0 if that is more than half of a window
 *
 * told goes out as pull_target with each packet. A receiver counts a NACK to it by
 * itself, and so does the sender when it hears of that (trimmed). Until the flow is idle,
 * or begins again, told never falls, so that what is lost or reordered cannot take
 * pulls away. It may have gone out only with packets that did not arrive (untold): then
 * nobody can know how many pulls are really expected.
 *
 *	spec	initial window - in flight, as long as no pull is expected, no credit is
 *		left and nothing is lost; what is left of that when one is
 *
 * So a flow that begins pushes its initial window, and only then is pulled; one whose
 * messages come in one at a time goes on being clocked by its ACKs. It begins again
 * when all is acknowledged up to a packet that said LAST: then nothing is expected.
 *
 *	            submit                       all acknowledged
 *	+------+ ------------> +--------------+ -----------------> +------+
 *	| idle |               | busy         |                    | idle |
 *	+------+               |  a licence:  |                    +------+
 *	                       |  send; none: |  no answer, ERROR
 *	                       |  wait        | -----------------> (dead)
 *	                       +--------------+
 *
 * The timer runs only while the flow is busy, or a message has begun. If a packet is in
 * flight, it is for the one that was sent first: all that are as old as that are
 * lost. The first of the lost packets is pushed, and tells the receiver to pull the
 * others; so each has its turn, even if no pull ever comes. To a receiver that had no
 * room, it is the oldest, which it may have room for nevertheless. If no packet is in
 * flight, pulls are waited for in vain: a PROBE asks for the flow's state. If that does
 * not help, the next time a lost packet is pushed; or, to a receiver that had no room,
 * a new one: it may be the one of all messages' that it has room for. Each time
 * the timeout doubles, until there is progress. A flow fails when nothing was heard for
 * too long, or when one packet does not come through in many tries, unless its
 * receiver says now and then that it has no room: others may be faster when it has some.
 *
 * A packet that was bounced (returned to sender) goes first. It is pushed at once if
 * nothing is in flight and no pull expected, or the receiver may not know that one is;
 * or if of the last 12 answers more than a quarter were ACKs: then it is a path that is
 * bad, not the receiver that is busy. Otherwise it waits for a pull, which makes the
 * window smaller by one.
 *
 * A receiver that lies gets nothing by it: an ACK of what was never sent is refused,
 * credit is never more than the initial window, and packets that are not done never
 * more than the ring.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, sections 3.2 and 3.2.4.
 *
 * Differences from the paper:
 * - The sender says how many pulls it needs (pull_target), as in EQDS; the receiver
 *   does not pull what is not there.
 * - Of packets that time out together one is pushed, not all.
 * - PROBE, COOKIE, selective and cumulative ACKs; many messages on a flow.
 */
#ifndef _NDP_SND_H
#define _NDP_SND_H

#include <linux/errno.h>
#include "ndp_snd_flow.h"

/* Answers that tell a bad path from a busy receiver (section 3.2.4; HIST_LEN in htsim) */
#define NDP_SND_ANSWERS		12
/*
 * Pushes, as nothing else would happen, between two signs of life of the receiver. In an incast
 * through a short header queue each is returned at once, several times, while the port that
 * returns them sends some others: there must be enough to outlast that.
 */
#define NDP_SND_STALLS_MAX	16
/* 2^10 timeouts: the longest, unless rto_max_ns is less */
#define NDP_SND_SHIFT_MAX	10

/**
 * enum ndp_snd_action - what a flow is to send
 * @NDP_SND_WAIT: nothing, until something comes, or the timer expires
 * @NDP_SND_RTX: the first of the lost packets; by another path than before
 * @NDP_SND_NEW: a new packet
 * @NDP_SND_PROBE: a PROBE
 */
enum ndp_snd_action {
	NDP_SND_WAIT,
	NDP_SND_RTX,
	NDP_SND_NEW,
	NDP_SND_PROBE,
};

/**
 * enum ndp_snd_verdict - what an answer did
 * @NDP_SND_NEWS: it was news
 * @NDP_SND_STALE: it said nothing new
 * @NDP_SND_REFUSED: it cannot be true; nothing has changed
 */
enum ndp_snd_verdict {
	NDP_SND_NEWS,
	NDP_SND_STALE,
	NDP_SND_REFUSED,
};

/**
 * enum ndp_snd_expiry - what ndp_snd_expire() did
 * @NDP_SND_QUIET: that was all
 * @NDP_SND_LOST: a packet is lost, its path suspect; call again
 * @NDP_SND_FAILED: the flow is dead
 */
enum ndp_snd_expiry {
	NDP_SND_QUIET,
	NDP_SND_LOST,
	NDP_SND_FAILED,
};

/* ---- sending ---- */

static inline bool ndp_snd_may_stall(const struct ndp_snd_flow *f)
{
	return f->stalls < NDP_SND_STALLS_MAX && ndp_snd_stalled(f);
}

/**
 * ndp_snd_pick() - what a flow is to send next
 * @f: flow
 * @p: configuration
 *
 * It remains so until ndp_snd_send() tells that it is done. O(1).
 *
 * Return: what it is.
 */
static inline enum ndp_snd_action ndp_snd_pick(const struct ndp_snd_flow *f,
					       const struct ndp_snd_params *p)
{
	if (f->board.lost.count && (f->push || f->credit || ndp_snd_may_stall(f)))
		return NDP_SND_RTX;
	if (ndp_snd_busy(f) && ndp_snd_sendable(f)) {
		if (f->credit || ndp_snd_spec(f, p) || f->push)
			return NDP_SND_NEW;
		if (!f->board.lost.count && !ndp_snd_expected(f) && ndp_snd_may_stall(f))
			return NDP_SND_PROBE;
	}
	return f->probe ? NDP_SND_PROBE : NDP_SND_WAIT;
}

/*
 * Which of the lost packets is sent first. A receiver without room takes the oldest at most, as
 * others wait for it.
 */
static inline u32 ndp_snd_lost_slot(const struct ndp_snd_flow *f)
{
	u32 oldest = f->board.base & f->board.mask;

	if (!f->window && f->board.pkt[oldest].state == NDP_PKT_LOST)
		return oldest;
	return f->board.lost.head;
}

/**
 * ndp_snd_avoid() - the path that the next packet is not to take
 * @f: flow; ndp_snd_pick() says NDP_SND_RTX
 *
 * Return: by which it was sent last.
 */
static inline u8 ndp_snd_avoid(const struct ndp_snd_flow *f)
{
	return f->board.pkt[ndp_snd_lost_slot(f)].path;
}

static inline struct ndp_snd_pkt *ndp_snd_take_lost(const struct ndp_snd_call *c,
						    struct ndp_snd_flow *f)
{
	ndp_snd_count(&c->stats->rtx_packets, 1);
	if (f->push) {
		f->push = false;
		ndp_snd_count(&c->stats->pushed_packets, 1);
	} else if (f->credit) {
		f->credit--;
	} else {
		f->stalls++;
		ndp_snd_count(&c->stats->pushed_packets, 1);
		ndp_snd_count(&c->stats->stalls, 1);
	}
	return ndp_board_resend(&f->board, ndp_snd_lost_slot(f));
}

/* Bytes of the next packet of a message */
static inline u16 ndp_snd_cut_len(const struct ndp_snd_msg *m)
{
	return (u16)min_t(u64, m->payload, m->len - m->sent);
}

/**
 * ndp_snd_next_len() - how long the next new packet is
 * @f: flow; ndp_snd_pick() says NDP_SND_NEW
 *
 * Return: bytes of payload.
 */
static inline u16 ndp_snd_next_len(const struct ndp_snd_flow *f)
{
	return ndp_snd_cut_len(ndp_order_first(&f->order));
}

/* The next packet of a message */
static inline struct ndp_snd_pkt *ndp_snd_cut_packet(struct ndp_snd_flow *f,
						     struct ndp_snd_msg *m)
{
	struct ndp_snd_pkt *pkt = ndp_board_add(&f->board);
	u16 slot = (u16)(pkt - f->board.pkt);

	pkt->msg = m;
	pkt->offset = m->sent;
	pkt->len = ndp_snd_cut_len(m);
	if (!m->sent) {
		m->id = f->msg_next++;
		f->begun++;
	}
	if (m->oldest == NDP_RING_NONE)
		m->oldest = slot;
	else
		f->board.pkt[m->newest].sibling = slot;
	m->newest = slot;
	m->sent += pkt->len;
	m->pending++;
	f->new_packets--;
	return pkt;
}

static inline struct ndp_snd_pkt *ndp_snd_take_new(const struct ndp_snd_call *c,
						   struct ndp_snd_flow *f, bool *spec)
{
	struct ndp_snd_msg *m = ndp_order_first(&f->order);
	struct ndp_snd_pkt *pkt;

	*spec = !f->credit;
	if (*spec) {
		if (!f->push)
			f->spec = ndp_snd_spec(f, c->p) - 1;
		f->push = false;
		ndp_snd_count(&c->stats->spec_packets, 1);
	} else {
		f->credit--;
	}
	pkt = ndp_snd_cut_packet(f, m);
	ndp_order_served(&f->order, m);
	if (m->sent < m->len && !ndp_msg_has_packet(m))
		ndp_ring_add(&f->dry, m);
	ndp_snd_count(&c->stats->new_packets, 1);
	ndp_snd_count(&c->stats->new_bytes, pkt->len);
	return pkt;
}

static inline void ndp_snd_probe(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				 struct ndp_hdr *h)
{
	if (!f->probe)
		f->stalls++;
	ndp_snd_count(&c->stats->probes, 1);
	h->type = NDP_PROBE;
	h->seq = f->board.base - 1;
	h->try_no = f->probe_no++;
}

static inline void ndp_snd_data(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt,
				struct ndp_hdr *h)
{
	h->type = NDP_DATA;
	h->seq = ndp_board_seq(&f->board, (u32)(pkt - f->board.pkt));
	h->try_no = pkt->try_no;
	h->payload_len = pkt->len;
	if (!f->heard)
		h->flags |= NDP_DATA_SYN;
	if (h->seq + 1 == f->board.next) {
		f->said_last &= pkt->try_no > 0;
		if (!f->new_packets) {
			f->said_last = true;
			h->flags |= NDP_DATA_LAST;
		}
	}
	h->data.prio = pkt->msg->prio;
	h->data.msg_id = pkt->msg->id;
	h->data.offset = pkt->offset;
	h->data.msg_len = pkt->msg->len;
	h->data.cookie = f->cookie;
}

/**
 * ndp_snd_send() - a flow sends what ndp_snd_pick() says
 * @c: call
 * @f: flow
 * @action: what ndp_snd_pick() said; not NDP_SND_WAIT
 * @path: by which
 * @h: result: the header; ports and flow_id are set, too
 *
 * O(1), but O(log n), amortized, with SRPT and a message's last packet.
 *
 * Return: the packet; NULL: a PROBE.
 */
static inline const struct ndp_snd_pkt *ndp_snd_send(const struct ndp_snd_call *c,
						     struct ndp_snd_flow *f,
						     enum ndp_snd_action action, u8 path,
						     struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = NULL;
	bool spec = false;

	*h = (struct ndp_hdr) {
		.path = path, .flow_id = f->flow_id, .sport = f->sport, .dport = f->dport,
	};
	f->quiet_ns = c->now;
	if (!f->unanswered)
		f->silent_ns = c->now;
	f->unanswered = true;
	if (action == NDP_SND_PROBE) {
		ndp_snd_probe(c, f, h);
	} else {
		if (action == NDP_SND_RTX)
			pkt = ndp_snd_take_lost(c, f);
		else
			pkt = ndp_snd_take_new(c, f, &spec);
		pkt->path = path;
		pkt->sent_ns = c->now;
		h->flags = action == NDP_SND_RTX ? NDP_DATA_RTX : spec ? NDP_DATA_SPEC : 0;
		ndp_snd_data(f, pkt, h);
	}
	f->probe = false;
	ndp_snd_tell(c, f);
	h->data.base = f->board.base;
	h->data.pull_target = f->told;
	return pkt;
}

/* ---- answers ---- */

static inline void ndp_snd_answer(struct ndp_snd_flow *f, bool ack)
{
	f->answers = (u16)(f->answers << 1 | ack);
	if (f->answers_count < NDP_SND_ANSWERS)
		f->answers_count++;
}

/* Most packets come through, so that those which do not take a bad path. */
static inline bool ndp_snd_path_is_bad(const struct ndp_snd_flow *f)
{
	u16 last = f->answers & ((1U << NDP_SND_ANSWERS) - 1);

	return f->answers_count == NDP_SND_ANSWERS &&
	       4 * (hweight8((u8)last) + hweight8((u8)(last >> 8))) > NDP_SND_ANSWERS;
}

/* The packet that an answer is about; NULL unless it is about its last transmission */
static inline struct ndp_snd_pkt *ndp_snd_about(const struct ndp_snd_call *c,
						const struct ndp_snd_flow *f,
						const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_board_find(&f->board, h->seq);

	if (pkt && pkt->state == NDP_PKT_FLIGHT && pkt->try_no == h->try_no)
		return pkt;
	ndp_snd_count(&c->stats->answers_stale, 1);
	return NULL;
}

/* What a packet tells of the path that it took */
static inline void ndp_snd_judge(const struct ndp_snd_call *c, u8 path, enum ndp_outcome outcome)
{
	if (c->paths)
		ndp_path_outcome(c->paths, path, outcome, c->now);
}

/*
 * A packet came, or came trimmed: a map, or ack_base, says so of one that the CONTROL does not
 * name. If it was sent more than once, nobody knows which transmission it was.
 */
static inline void ndp_snd_implied(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   const struct ndp_snd_pkt *pkt, bool ack)
{
	if (pkt->try_no)
		return;
	ndp_snd_answer(f, ack);
	ndp_snd_judge(c, pkt->path, ack ? NDP_OUTCOME_ACK : NDP_OUTCOME_NACK);
	ndp_snd_reached(f, pkt);
}

/*
 * The packet that a CONTROL names. That of a first transmission may have been told before, by
 * another CONTROL's maps: then its path is not judged twice. Any answer shows that a path is not
 * dead.
 */
static inline void ndp_snd_named(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				 const struct ndp_hdr *h)
{
	const struct ndp_snd_pkt *pkt = ndp_board_find(&f->board, h->seq);
	bool ack = h->flags & NDP_CTL_ACK, last = pkt && pkt->try_no == h->try_no;

	ndp_snd_answer(f, ack);
	if (last)
		ndp_snd_reached(f, pkt);
	if (h->try_no || (ack ? !!pkt : last && pkt->state == NDP_PKT_FLIGHT) ||
	    (c->paths && h->path < c->paths->count && ndp_path_avoided(c->paths, h->path)))
		ndp_snd_judge(c, h->path, ack ? NDP_OUTCOME_ACK : NDP_OUTCOME_NACK);
}

static inline void ndp_snd_nacked(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				  struct ndp_snd_pkt *pkt)
{
	ndp_snd_count(&c->stats->nacked_packets, 1);
	ndp_board_lose(&f->board, pkt, false);
}

/* A packet before ack_base, or in the map of those that came */
static inline void ndp_snd_acked(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u32 seq,
				 const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_board_find(&f->board, seq);

	if (!pkt)
		return;
	if (seq != h->seq || !(h->flags & NDP_CTL_ACK))
		ndp_snd_implied(c, f, pkt, true);
	ndp_snd_done(c, f, pkt);
}

/* ACKs, cumulative and selective. Return: was any news? */
static inline bool ndp_snd_acks(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				const struct ndp_hdr *h)
{
	struct ndp_board *b = &f->board;
	struct ndp_snd_pkt *pkt;
	u32 seq = b->base;
	bool news = false;
	u64 map;

	for (; ndp_before(seq, h->ctl.ack_base); seq++) {
		ndp_snd_acked(c, f, seq, h);
		news = true;
	}
	ndp_board_advance(b);
	map = ndp_board_news(b, h->ctl.ack_base, h->ctl.sack, ndp_board_map(b, b->done));
	for (; map; map &= map - 1) {
		ndp_snd_acked(c, f, b->base + __ffs64(map), h);
		news = true;
	}
	pkt = h->flags & NDP_CTL_ACK ? ndp_board_find(b, h->seq) : NULL;
	if (pkt) {
		ndp_snd_done(c, f, pkt);
		news = true;
	}
	ndp_board_advance(b);
	return news;
}

/*
 * NACKs: the packet that it is about, and those that its map has of which only the
 * first transmission was made. Return: was any news?
 */
static inline bool ndp_snd_nacks(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				 const struct ndp_hdr *h)
{
	struct ndp_board *b = &f->board;
	struct ndp_snd_pkt *pkt;
	bool news = false;
	u64 map;

	pkt = h->flags & NDP_CTL_NACK ? ndp_snd_about(c, f, h) : NULL;
	if (pkt) {
		ndp_snd_nacked(c, f, pkt);
		news = true;
	}
	map = ndp_board_news(b, h->ctl.ack_base, h->ctl.nack,
			     ndp_board_map(b, b->done) | ndp_board_map(b, b->again));
	for (; map; map &= map - 1) {
		pkt = ndp_board_find(b, b->base + __ffs64(map));
		ndp_snd_implied(c, f, pkt, false);
		ndp_snd_nacked(c, f, pkt);
		news = true;
	}
	return news;
}

/*
 * Counters of NACKs and PULLs. An honest receiver pulls no more than it was told and
 * has NACKed. Of what goes beyond that, a ring's packets are believed, each time: so
 * the two agree again in the end, whatever was wrong. Return: were there pulls?
 */
static inline bool ndp_snd_pulls(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				 const struct ndp_ctl *ctl)
{
	u32 ring = f->board.mask + 1, most, pulls, room;

	if (ndp_before(f->trimmed, ctl->trimmed)) {
		room = 2 * ring - min_t(u32, ndp_snd_expected(f), 2 * ring);
		f->told += min_t(u32, ctl->trimmed - f->trimmed, room);
		f->trimmed = ctl->trimmed;
	}
	if (!ndp_before(f->pull, ctl->pull))
		return false;
	pulls = ctl->pull - f->pull;
	most = ndp_snd_expected(f) + ring;
	if (pulls > most) {
		ndp_snd_count(&c->stats->pulls_refused, pulls - most);
		pulls = most;
	}
	f->pull += pulls;
	if (ndp_before(f->told, f->pull))
		f->told = f->pull;
	room = c->p->initial_window - min_t(u32, f->credit, c->p->initial_window);
	ndp_snd_count(&c->stats->pulls, pulls);
	ndp_snd_count(&c->stats->pulls_unused, pulls - min_t(u32, pulls, room));
	f->credit += min_t(u32, pulls, room);
	return true;
}

/*
 * The receiver has room or, 0, has none: then it drops what comes. When it has again, no
 * timeout is waited for that was long because of that.
 */
static inline void ndp_snd_window(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				  u32 window)
{
	if (!f->window && window) {
		ndp_snd_progress(c, f);
		if (f->board.flight.count)
			f->board.pkt[f->board.flight.head].timeouts = 0;
	}
	f->window = window;
	if (!window)
		f->full_ns = c->now;
}

/* A NACK of a receiver that keeps no state, so that it will not pull the packet */
static inline enum ndp_snd_verdict ndp_snd_bare(const struct ndp_snd_call *c,
						struct ndp_snd_flow *f,
						const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt = ndp_snd_about(c, f, h);

	ndp_snd_judge(c, h->path, NDP_OUTCOME_NACK);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_answer(f, false);
	ndp_snd_count(&c->stats->nacked_packets, 1);
	ndp_board_lose(&f->board, pkt, false);
	return NDP_SND_NEWS;
}

static inline enum ndp_snd_verdict ndp_snd_refuse(const struct ndp_snd_call *c)
{
	ndp_snd_count(&c->stats->answers_refused, 1);
	return NDP_SND_REFUSED;
}

/**
 * ndp_snd_control() - a CONTROL came
 * @c: call
 * @f: flow
 * @h: what it says; its flow_id and the addresses are the flow's
 *
 * O(1) and O(1) for each packet that it acknowledges. Messages may have ended:
 * ndp_snd_reap(), and the flow may have something to send: ndp_snd_pick(). What is said of a
 * packet is said of its path, too, be it named or not.
 *
 * Return: what it did.
 */
static inline enum ndp_snd_verdict ndp_snd_control(const struct ndp_snd_call *c,
						   struct ndp_snd_flow *f,
						   const struct ndp_hdr *h)
{
	u8 about = h->flags & (NDP_CTL_ACK | NDP_CTL_NACK);
	bool news;

	if (!f->board.pkt || f->error)
		return NDP_SND_STALE;
	if (about && !ndp_before(h->seq, f->board.next))
		return ndp_snd_refuse(c);
	if (h->flags & NDP_CTL_BARE)
		return ndp_snd_bare(c, f, h);
	if (!ndp_board_covers(&f->board, &h->ctl))
		return ndp_snd_refuse(c);

	f->unanswered = false;
	f->stalls = 0;
	f->heard = true;
	ndp_snd_window(c, f, h->ctl.window);
	if (about)
		ndp_snd_named(c, f, h);
	else if (h->flags & NDP_CTL_PROBED)
		ndp_snd_judge(c, h->path, NDP_OUTCOME_ACK);
	news = ndp_snd_acks(c, f, h);
	news |= ndp_snd_nacks(c, f, h);
	news |= ndp_snd_pulls(c, f, &h->ctl);
	if (news)
		ndp_snd_progress(c, f);
	ndp_snd_settle(c, f);
	return news ? NDP_SND_NEWS : NDP_SND_STALE;
}

/**
 * ndp_snd_returned() - a packet was bounced: a switch has returned its header
 * @c: call
 * @f: flow
 * @h: its header
 *
 * Return: NDP_SND_NEWS if it is to be sent again; its path is suspect then.
 */
static inline enum ndp_snd_verdict ndp_snd_returned(const struct ndp_snd_call *c,
						    struct ndp_snd_flow *f,
						    const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->board.pkt || f->error || h->type != NDP_DATA)
		return NDP_SND_STALE;
	pkt = ndp_snd_about(c, f, h);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_count(&c->stats->bounced_packets, 1);
	ndp_snd_answer(f, false);
	ndp_board_lose(&f->board, pkt, true);
	if (ndp_snd_path_is_bad(f))
		f->push = true;
	return NDP_SND_NEWS;
}

/**
 * ndp_snd_cookie() - a COOKIE came: the receiver is short of memory
 * @c: call
 * @f: flow
 * @h: what it says
 *
 * Packets carry the cookie from now on. The one that it is about was dropped.
 *
 * Return: what it did.
 */
static inline enum ndp_snd_verdict ndp_snd_cookie(const struct ndp_snd_call *c,
						  struct ndp_snd_flow *f,
						  const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->board.pkt || f->error)
		return NDP_SND_STALE;
	pkt = ndp_snd_about(c, f, h);
	if (!pkt)
		return NDP_SND_STALE;
	ndp_snd_count(&c->stats->cookies, 1);
	ndp_board_lose(&f->board, pkt, false);
	if (f->cookie != h->cookie && f->stalls < NDP_SND_STALLS_MAX) {
		f->stalls++;
		f->push = true;
	}
	f->cookie = h->cookie;
	return NDP_SND_NEWS;
}

/**
 * ndp_snd_error() - an ERROR came
 * @c: call
 * @f: flow
 * @h: what it says
 *
 * It has to name a packet that is not done, or the last one before: who cannot see
 * the flow's packets can hardly guess that, nor flow_id.
 *
 * Return: NDP_SND_NEWS if the flow or a message has failed.
 */
static inline enum ndp_snd_verdict ndp_snd_error(const struct ndp_snd_call *c,
						 struct ndp_snd_flow *f,
						 const struct ndp_hdr *h)
{
	struct ndp_snd_pkt *pkt;

	if (!f->board.pkt || f->error || (!ndp_snd_busy(f) && !f->begun))
		return NDP_SND_STALE;
	pkt = ndp_board_find(&f->board, h->seq);
	if (!pkt && h->seq + 1 != f->board.base)
		return ndp_snd_refuse(c);
	if (h->err.code == NDP_CODE_NO_PORT) {
		ndp_snd_fail(c, f, ECONNREFUSED);
	} else if (h->err.code == NDP_CODE_NO_FLOW) {
		ndp_snd_fail(c, f, ECONNRESET);
	} else {
		if (h->err.code != NDP_CODE_MSG_SIZE || !pkt || pkt->msg->id != h->err.msg_id)
			return ndp_snd_refuse(c);
		ndp_snd_cancel(c, f, pkt->msg, EMSGSIZE);
	}
	return NDP_SND_NEWS;
}

/* ---- the timer ---- */

/**
 * ndp_snd_due_ns() - when ndp_snd_expire() has something to do
 * @f: flow
 * @p: configuration
 *
 * Mostly, it moves away as packets come: a timer need be set anew only when it fires.
 *
 * Return: time, ns; U64_MAX: never, the flow is idle, and no message has begun.
 */
static inline u64 ndp_snd_due_ns(const struct ndp_snd_flow *f, const struct ndp_snd_params *p)
{
	const struct ndp_snd_pkt *first;
	u64 rto_ns;

	if (!ndp_snd_busy(f) && !f->begun)
		return U64_MAX;
	if (!ndp_snd_busy(f) && !f->unanswered)
		return f->quiet_ns + p->renew_ns;
	if (!f->board.flight.count)
		return f->quiet_ns + f->rto_ns;
	first = &f->board.pkt[f->board.flight.head];
	rto_ns = (u64)p->rto_ns << min_t(u8, first->timeouts, NDP_SND_SHIFT_MAX);
	return first->sent_ns + max_t(u64, f->rto_ns, min_t(u64, rto_ns, p->rto_max_ns));
}

/* The timeout doubles, and up to a quarter is added, so that flows do not stay in step. */
static inline void ndp_snd_back_off(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				    u32 random)
{
	u64 rto_ns = 2ULL * f->rto_ns;

	rto_ns += rto_ns * random >> 34;
	f->rto_ns = (u32)min_t(u64, rto_ns, c->p->rto_max_ns);
	f->quiet_ns = c->now;
}

/* Nothing is in flight, and no pull came; or it did, but the packet has not left yet. */
static inline enum ndp_snd_expiry ndp_snd_ask(const struct ndp_snd_call *c,
					      struct ndp_snd_flow *f, u32 random)
{
	if (ndp_snd_pick(f, c->p) != NDP_SND_WAIT) {
		f->quiet_ns = c->now;
		return NDP_SND_QUIET;
	}
	if (f->board.lost.count)
		f->push = f->probed || ndp_snd_stalled(f);
	else
		f->push = f->probed && !f->window && ndp_snd_sendable(f);
	f->probe = !f->push;
	f->probed = true;
	ndp_snd_back_off(c, f, random);
	return NDP_SND_QUIET;
}

/**
 * ndp_snd_expire() - the timer has expired
 * @c: call
 * @f: flow
 * @random: random number
 * @path: NDP_SND_LOST: by which the packet was sent
 *
 * To be called until it returns something else than NDP_SND_LOST.
 *
 * Return: what it did.
 */
static inline enum ndp_snd_expiry ndp_snd_expire(const struct ndp_snd_call *c,
						 struct ndp_snd_flow *f, u32 random, u8 *path)
{
	bool late = ndp_snd_due_ns(f, c->p) <= c->now;
	struct ndp_snd_pkt *pkt;

	if (f->overdue && !(late && f->board.flight.count)) {
		f->overdue = false;
		ndp_snd_back_off(c, f, random);
		return NDP_SND_QUIET;
	}
	if (!late)
		return NDP_SND_QUIET;
	if (f->unanswered && c->now - f->silent_ns >= c->p->timeout_ns) {
		ndp_snd_fail(c, f, ETIMEDOUT);
		return NDP_SND_FAILED;
	}
	if (!f->board.flight.count)
		return ndp_snd_ask(c, f, random);
	pkt = &f->board.pkt[f->board.flight.head];
	if (pkt->timeouts < c->p->max_tries) {
		pkt->timeouts++;
	} else if (!f->full_ns || c->now - f->full_ns >= c->p->timeout_ns) {
		ndp_snd_fail(c, f, ETIMEDOUT);
		return NDP_SND_FAILED;
	}
	*path = pkt->path;
	ndp_snd_count(&c->stats->timeouts, 1);
	ndp_board_lose(&f->board, pkt, false);
	f->push = true;
	f->overdue = true;
	return NDP_SND_LOST;
}

#endif /* _NDP_SND_H */
