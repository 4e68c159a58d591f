/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: a flow, its messages, and what it may send
 *
 * The part of net/ndp/ndp_snd.h, see there, that is about a flow's state: what it was
 * given to send, what the receiver owes it, and how messages and flows end. Plain C,
 * no kernel types.
 *
 *	                           more
 *	 submit     +-------+ <-------------- +-----+
 *	----------> | order | --------------> | dry |
 *	            +-------+   all that is   +-----+
 *	                |       ready is sent    |
 *	                | all sent               | cancel, fail
 *	                v                        v
 *	            +-------+ all acknowledged +-------+
 *	            | sent  | ---------------> | ended |
 *	            +-------+                  +-------+
 *
 * A message may be longer than what its sender has room for: it becomes ready bit by
 * bit, and what is done of it tells which bytes can be forgotten. In a flow with a
 * message of which a part was sent, the receiver must not forget the flow: if nothing
 * else is sent, it is a PROBE now and then.
 *
 * A flow that is idle needs no more than its struct: the scoreboard's ring is for
 * as long as it is busy. Nobody is called when there is news of a message: it is put
 * into a list, from which ndp_snd_reap() takes it.
 */
#ifndef _NDP_SND_FLOW_H
#define _NDP_SND_FLOW_H

#include "ndp_path.h"
#include "ndp_snd_board.h"
#include "ndp_snd_order.h"

#define NDP_SND_PAYLOAD_MIN	256	/* so that a message has less than 2^32 packets */

/**
 * struct ndp_snd_params - configuration
 * @rto_ns: after which a packet that nothing is heard of is sent again
 * @rto_max_ns: greatest that doubling makes of it; below 2^31
 * @timeout_ns: after which a flow has failed, of whose receiver nothing was heard
 *	though something was sent
 * @initial_window: packets that are sent unasked; at most a ring
 * @max_tries: timeouts of one packet after which the flow has failed, whatever was
 *	heard; unless the receiver has said within @timeout_ns that it has no room
 * @renew_ns: a flow that was idle for longer goes on under a new name; or, in the
 *	middle of a message, shows that it is alive
 */
struct ndp_snd_params {
	u64 renew_ns;
	u64 timeout_ns;
	u32 rto_ns;
	u32 rto_max_ns;
	u16 initial_window;
	u8 max_tries;
};

/*
 * SIGCOMM 2017: section 3.2 has the timeout of a packet, section 6.2 the window. A
 * receiver that forgets a flow after 10 s of silence knows it as long as anything of
 * it may come: after 5 s it is given up, and after 4 s without a packet it is renewed.
 */
#define NDP_SND_DEFAULTS { .rto_ns = 1000000, .rto_max_ns = 500000000, \
			   .renew_ns = 4000000000ULL, .timeout_ns = 5000000000ULL, \
			   .initial_window = 30, .max_tries = 20 }

/**
 * struct ndp_snd_stats - what senders count
 * @new_packets: sent for the first time
 * @new_bytes: payload of these
 * @spec_packets: of these, without a PULL
 * @rtx_packets: sent again
 * @pushed_packets: of these, without a PULL
 * @stalls: of these, as nothing else would have happened
 * @probes: PROBEs sent
 * @acked_packets: acknowledged
 * @nacked_packets: NACKs, each of a packet that was in flight
 * @bounced_packets: returned to sender
 * @timeouts: packets in flight of which nothing was heard in time
 * @cookies: COOKIEs received
 * @pulls: packets pulled
 * @pulls_unused: pulls for which there was no use
 * @answers_stale: about a transmission that another one has followed, or is done
 * @answers_refused: that cannot be true
 * @pulls_refused: pulls beyond all that were asked for
 * @msgs_done: messages acknowledged
 * @msgs_failed: messages that ended with an error
 */
struct ndp_snd_stats {
	u64 new_packets;
	u64 new_bytes;
	u64 spec_packets;
	u64 rtx_packets;
	u64 pushed_packets;
	u64 stalls;
	u64 probes;
	u64 acked_packets;
	u64 nacked_packets;
	u64 bounced_packets;
	u64 timeouts;
	u64 cookies;
	u64 pulls;
	u64 pulls_unused;
	u64 answers_stale;
	u64 answers_refused;
	u64 pulls_refused;
	u64 msgs_done;
	u64 msgs_failed;
};

/**
 * struct ndp_snd_call - what each call comes with
 * @p: configuration
 * @stats: where to count; any CPU's own
 * @now: the time, ns
 * @paths: ndp_snd_control(): the peer's, which are judged; NULL: they are not
 */
struct ndp_snd_call {
	const struct ndp_snd_params *p;
	struct ndp_snd_stats *stats;
	u64 now;
	struct ndp_paths *paths;
};

/**
 * struct ndp_snd_flow - a flow
 * @board: packets not done
 * @order: messages with bytes to send
 * @dry: messages of which all that is ready was sent; a ring
 * @news: messages of which there is news; first
 * @news_tail: last
 * @new_packets: packets that @order's messages make
 * @cookie: the receiver's, 0: none
 * @quiet_ns: when something was sent, or there was progress, last
 * @told_ns: when @told grew last
 * @silent_ns: @unanswered: since when
 * @full_ns: when the receiver said last that it has no room; 0: never
 * @rto_ns: the present timeout
 * @flow_id: our name of the flow
 * @sport: our socket's port
 * @dport: the receiver's
 * @arrivals: messages submitted
 * @msg_next: id of the next message that begins
 * @begun: messages that have begun and not ended
 * @pull: cumulative, as heard
 * @told: pull_target, as sent, and NACKs heard of since
 * @trimmed: NACKs that the receiver sent, cumulative, as heard
 * @window: initial window that the receiver allows
 * @credit: pulls not used
 * @spec: what is left of the initial window
 * @answers: last answers, the latest in bit 0; 1: an ACK
 * @answers_count: how many of them there were
 * @push: the first of the lost packets is sent without a pull
 * @probe: a PROBE is sent
 * @overdue: packets are being given up on, ndp_snd_expire() is not through
 * @untold: no packet that said @told has been answered: the receiver may not know of it
 * @said_last: the last packet said LAST, in one of its transmissions
 * @probed: a PROBE was sent since there was progress
 * @heard: the receiver knows the flow
 * @unanswered: something was sent, and nothing was heard since
 * @stalls: packets pushed, as nothing else would have happened, in vain
 * @probe_no: of the next PROBE
 * @error: why it is dead; 0: it is not
 */
struct ndp_snd_flow {
	struct ndp_board board;
	struct ndp_order order;
	struct ndp_snd_msg *dry;
	struct ndp_snd_msg *news;
	struct ndp_snd_msg *news_tail;
	u64 new_packets;
	u64 cookie;
	u64 quiet_ns;
	u64 told_ns;
	u64 silent_ns;
	u64 full_ns;
	u32 rto_ns;
	u32 flow_id;
	u16 sport;
	u16 dport;
	u32 arrivals;
	u32 msg_next;
	u32 begun;
	u32 pull;
	u32 told;
	u32 trimmed;
	u32 window;
	u32 credit;
	u32 spec;
	u16 answers;
	u8 answers_count;
	bool push;
	bool probe;
	bool overdue;
	bool untold;
	bool said_last;
	bool probed;
	bool heard;
	bool unanswered;
	u8 stalls;
	u8 probe_no;
	u8 error;
};

/* Statistics are read without a lock. */
static inline void ndp_snd_count(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/* ---- what is owed, and what is needed ---- */

static inline u32 ndp_snd_expected(const struct ndp_snd_flow *f)
{
	return f->told - f->pull;
}

/*
 * Nothing would make the receiver send anything: it has answered all, and owes nothing, or
 * does not know that it does, as what told it has not reached it.
 */
static inline bool ndp_snd_stalled(const struct ndp_snd_flow *f)
{
	return !f->board.flight.count && !f->credit &&
	       (!ndp_snd_expected(f) || f->untold);
}

/* New packets that may be sent without a pull */
static inline u32 ndp_snd_spec(const struct ndp_snd_flow *f, const struct ndp_snd_params *p)
{
	u32 window = min_t(u32, p->initial_window, f->window), flight = f->board.flight.count;
	u32 left = window > flight ? window - flight : 0;

	if (ndp_snd_expected(f) || f->credit || f->board.lost.count)
		return min_t(u32, left, f->spec);
	return left;
}

/* New packets that may be sent, if there is a licence */
static inline u32 ndp_snd_sendable(const struct ndp_snd_flow *f)
{
	return min_t(u64, f->new_packets, ndp_board_room(&f->board));
}

/*
 * New packets for which a packet may ask to be pulled. Half of an initial window is on its way
 * at least. Beyond that, a sender that uses each pull at once is pulled twice as fast a round
 * trip later; one that has some left, as its link is busy with other flows, as often as it
 * sends, and not at all if these are many: what is pulled in vain is lost to others.
 */
static inline u32 ndp_snd_appetite(const struct ndp_snd_flow *f, u32 covered, u32 least)
{
	if (covered < least)
		return max_t(u32, least - covered, 2);
	return f->credit > least ? 0 : f->credit ? 1 : 2;
}

/* Before a header goes out: what the receiver has to know of to pull enough */
static inline void ndp_snd_tell(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	u32 fresh = ndp_snd_sendable(f), spec = ndp_snd_spec(f, c->p);
	u32 lost = f->board.lost.count, covered = f->credit + ndp_snd_expected(f);
	u32 need = lost + fresh - min_t(u32, fresh, spec), more;

	if (need <= covered)
		return;
	more = max_t(u32, ndp_snd_appetite(f, covered, c->p->initial_window / 2),
		     lost > covered ? lost - covered : 0);
	if (!more)
		return;
	f->told += min_t(u32, need - covered, more);
	f->told_ns = c->now;
	f->untold = true;
}

/* ---- messages that end ---- */

static inline void ndp_snd_news(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	if (m->listed)
		return;
	m->listed = true;
	m->news = NULL;
	if (f->news)
		f->news_tail->news = m;
	else
		f->news = m;
	f->news_tail = m;
}

static inline void ndp_snd_end(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
			       struct ndp_snd_msg *m, u8 error)
{
	m->ended = true;
	m->error = error;
	if (m->sent)
		f->begun--;
	ndp_snd_news(f, m);
	ndp_snd_count(error ? &c->stats->msgs_failed : &c->stats->msgs_done, 1);
}

/**
 * ndp_snd_reap() - take a message of which there is news
 * @f: flow
 *
 * Return: the message: it has @ended, or more of it is @done; NULL: no more news.
 */
static inline struct ndp_snd_msg *ndp_snd_reap(struct ndp_snd_flow *f)
{
	struct ndp_snd_msg *m = f->news;

	if (m) {
		f->news = m->news;
		m->listed = false;
	}
	return m;
}

/* Packets that what is ready of a message, and was not sent yet, makes */
static inline u64 ndp_snd_packets(const struct ndp_snd_msg *m)
{
	u64 bytes = m->ready - m->sent;

	if (m->ready == m->len)
		bytes += m->payload - 1;
	return div_u64(bytes, m->payload);
}

/**
 * ndp_snd_busy() - has a flow anything that is not done?
 * @f: flow
 *
 * Return: true if so; else, and if no message has @begun, its ring may be taken away.
 */
static inline bool ndp_snd_busy(const struct ndp_snd_flow *f)
{
	return f->new_packets || f->board.base != f->board.next;
}

/*
 * After a change: a flow that is idle is owed nothing. Nor is one of which all is
 * acknowledged that was said to be all there is (LAST): the receiver has thrown away the
 * flow's pulls. What came since is pushed, as in the paper.
 */
static inline void ndp_snd_settle(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	if (!f->board.lost.count)
		f->push = false;
	if (f->board.base != f->board.next)
		return;
	if (f->said_last)
		f->told = f->pull;
	f->said_last = false;
	if (f->new_packets)
		return;
	ndp_snd_count(&c->stats->pulls_unused, f->credit);
	f->credit = 0;
	f->spec = 0;
	f->told = f->pull;
	f->overdue = false;
	if (f->begun)
		return;
	f->probe = false;
	f->heard = false;
}

static inline void ndp_snd_progress(const struct ndp_snd_call *c, struct ndp_snd_flow *f)
{
	f->rto_ns = c->p->rto_ns;
	f->quiet_ns = c->now;
	f->probed = false;
}

/* A message's oldest packet is done: up to where are they all? */
static inline void ndp_snd_move_done(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	const struct ndp_snd_pkt *pkt = f->board.pkt;

	while (m->oldest != NDP_RING_NONE && pkt[m->oldest].state == NDP_PKT_DONE)
		m->oldest = pkt[m->oldest].sibling;
	m->done = m->oldest == NDP_RING_NONE ? m->sent : pkt[m->oldest].offset;
	ndp_snd_news(f, m);
}

/* The receiver has seen a packet's last transmission, and what that told. */
static inline void ndp_snd_reached(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt)
{
	if (pkt->state == NDP_PKT_FLIGHT && pkt->sent_ns >= f->told_ns)
		f->untold = false;
}

/**
 * ndp_snd_postpone() - a packet has not left yet, or only just
 * @f: flow
 * @pkt: a packet in flight; of several, the one that was sent last goes first
 * @now: the time: it is as if it were sent now
 *
 * It remains known which packets told the receiver what is wished, and which ones were sent
 * before these.
 */
static inline void ndp_snd_postpone(struct ndp_snd_flow *f, struct ndp_snd_pkt *pkt, u64 now)
{
	if (pkt->sent_ns >= f->told_ns) {
		pkt->sent_ns = now;
	} else {
		pkt->sent_ns = now - 1;
		f->told_ns = now;
	}
}

/* A packet is done; its message may be, too. */
static inline void ndp_snd_done(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				struct ndp_snd_pkt *pkt)
{
	struct ndp_snd_msg *m = pkt->msg;

	ndp_board_done(&f->board, pkt);
	ndp_snd_count(&c->stats->acked_packets, 1);
	m->acked++;
	if (pkt == &f->board.pkt[m->oldest])
		ndp_snd_move_done(f, m);
	if (!--m->pending && m->sent == m->len)
		ndp_snd_end(c, f, m, 0);
}

/*
 * All packets of a message, or of all messages, are given up: none of them has
 * anything to send. O(ring size)
 */
static inline void ndp_snd_give_up(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   const struct ndp_snd_msg *which, u8 error)
{
	struct ndp_board *b = &f->board;
	u32 seq;

	for (seq = b->base; seq != b->next; seq++) {
		struct ndp_snd_pkt *pkt = ndp_board_find(b, seq);
		struct ndp_snd_msg *m = pkt ? pkt->msg : NULL;

		if (!m || (which && m != which))
			continue;
		ndp_board_done(b, pkt);
		if (!--m->pending)
			ndp_snd_end(c, f, m, error);
	}
	ndp_board_advance(b);
}

/* What a message has not sent yet is not sent any more. */
static inline void ndp_snd_cut(struct ndp_snd_flow *f, struct ndp_snd_msg *m)
{
	f->new_packets -= ndp_snd_packets(m);
	if (ndp_msg_has_packet(m))
		ndp_order_del(&f->order, m);
	else
		ndp_ring_del(&f->dry, m);
}

/**
 * ndp_snd_cancel() - give up a message
 * @c: call
 * @f: flow
 * @m: a message of it that has not ended; it ends with this
 * @error: with this error
 *
 * O(ring size). Packets of it that are in flight are waited for no longer.
 *
 * Return: true if the receiver is to be told (NDP_CODE_ABORT), as it may know of it.
 */
static inline bool ndp_snd_cancel(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				  struct ndp_snd_msg *m, u8 error)
{
	bool known = m->sent;

	if (m->sent < m->len)
		ndp_snd_cut(f, m);
	if (m->pending)
		ndp_snd_give_up(c, f, m, error);
	else
		ndp_snd_end(c, f, m, error);
	ndp_snd_progress(c, f);
	ndp_snd_settle(c, f);
	return known;
}

/**
 * ndp_snd_fail() - a flow fails, with all messages that have not ended
 * @c: call
 * @f: flow
 * @error: why
 *
 * A message of which nothing was @acked may be sent as one of another flow.
 */
static inline void ndp_snd_fail(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				u8 error)
{
	struct ndp_snd_msg *m;

	f->error = error;
	while ((m = f->dry ? f->dry : ndp_order_first(&f->order))) {
		ndp_snd_cut(f, m);
		if (!m->pending)
			ndp_snd_end(c, f, m, error);
	}
	ndp_snd_give_up(c, f, NULL, error);
	ndp_snd_settle(c, f);
}

/* ---- flows ---- */

/**
 * ndp_snd_init() - a flow without messages
 * @f: flow
 * @p: configuration
 * @policy: enum ndp_policy
 * @flow_id: our name of it; not one that the receiver may still know
 * @seq: of its first packet, random
 */
static inline void ndp_snd_init(struct ndp_snd_flow *f, const struct ndp_snd_params *p,
				enum ndp_policy policy, u32 flow_id, u32 seq)
{
	*f = (struct ndp_snd_flow) {
		.flow_id = flow_id, .window = NDP_RING_MAX, .rto_ns = p->rto_ns,
		.order.policy = (u8)policy,
	};
	ndp_board_init(&f->board, seq);
}

/**
 * ndp_snd_is_old() - may the receiver have forgotten a flow?
 * @c: call
 * @f: flow
 *
 * Return: true if so: ndp_snd_renew(), before a message is submitted.
 */
static inline bool ndp_snd_is_old(const struct ndp_snd_call *c, const struct ndp_snd_flow *f)
{
	return !ndp_snd_busy(f) && !f->begun && c->now - f->quiet_ns >= c->p->renew_ns;
}

/**
 * ndp_snd_renew() - an idle flow goes on as a new one
 * @f: flow
 * @flow_id: our name of it from now on
 */
static inline void ndp_snd_renew(struct ndp_snd_flow *f, u32 flow_id)
{
	f->window = NDP_RING_MAX;
	f->full_ns = 0;
	f->flow_id = flow_id;
	f->pull = 0;
	f->told = 0;
	f->trimmed = 0;
	f->cookie = 0;
}

/* A message waits for its turn, or for more of it. */
static inline void ndp_snd_queue(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				 struct ndp_snd_msg *m)
{
	if (!ndp_msg_has_packet(m)) {
		ndp_ring_add(&f->dry, m);
		return;
	}
	if (!ndp_snd_busy(f)) {
		f->unanswered = false;
		f->stalls = 0;
		ndp_snd_progress(c, f);
	}
	f->new_packets += ndp_snd_packets(m);
	ndp_order_add(&f->order, m);
}

/**
 * ndp_snd_submit() - a message is to be sent
 * @c: call
 * @f: flow; its board has a ring
 * @m: message; @len, @ready, @payload and @prio are set
 *
 * The flow may have something to send then: ndp_snd_pick(). O(1).
 *
 * Return: false if the flow is dead, or there is no such message.
 */
static inline bool ndp_snd_submit(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				  struct ndp_snd_msg *m)
{
	if (f->error || !m->len || m->len > NDP_MSG_MAX || m->ready > m->len ||
	    m->prio >= NDP_PRIOS || m->payload < NDP_SND_PAYLOAD_MIN ||
	    m->payload > NDP_PAYLOAD_MAX)
		return false;
	m->sent = 0;
	m->done = 0;
	m->pending = 0;
	m->acked = 0;
	m->oldest = NDP_RING_NONE;
	m->error = 0;
	m->ended = false;
	m->listed = false;
	m->arrival = f->arrivals++;
	ndp_snd_queue(c, f, m);
	return true;
}

/**
 * ndp_snd_more() - more of a message is ready
 * @c: call
 * @f: flow; its board has a ring
 * @m: message of it
 * @ready: bytes, not less than before
 *
 * As ndp_snd_submit().
 *
 * Return: false if the message has ended, or there is no such part of it.
 */
static inline bool ndp_snd_more(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				struct ndp_snd_msg *m, u64 ready)
{
	if (m->ended || ready < m->ready || ready > m->len)
		return false;
	if (m->ready == m->len)
		return true;
	if (ndp_msg_has_packet(m)) {
		f->new_packets -= ndp_snd_packets(m);
		m->ready = ready;
		f->new_packets += ndp_snd_packets(m);
	} else {
		ndp_ring_del(&f->dry, m);
		m->ready = ready;
		ndp_snd_queue(c, f, m);
	}
	return true;
}

#endif /* _NDP_SND_FLOW_H */
