// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: flows that send: what they send, and what they hear
 *
 * Whatever happens to a flow (a message comes, or more of it, an answer, the timer) is
 * between ndp_tx_enter() and ndp_tx_leave(), under its lock. ndp_tx_leave() does what
 * follows from it: messages that have ended go, packets leave, by and by, as the lock is
 * dropped for that, and the timer is set:
 *
 *	enter -> core ... -> leave: reap -> collect -> unlock -> send, free, wake
 *	                              ^                             |
 *	                              +--------- more to send ------+
 *
 * So when the lock is free, the core has no news, and all it may send is sent, unless the
 * NIC has enough of the socket's packets. Then ndp_tx_write_space() has the flow's timer
 * expire at once when half of them have left. It runs where no lock may be taken; so it
 * only starts the timer, and the flow's @nic_waits and the socket's say who has to.
 *
 * The timer is soft, so it is cancelled only where it cannot be running on the same CPU:
 * when the flow is freed, after RCU's grace period.
 */
#include "ndp.h"
#include "ndp_trace.h"

/* Packets that are collected under the lock */
#define NDP_TX_BATCH	64
/* Packets of a flow that may be under way whatever its socket has at the NIC */
#define NDP_TX_ALWAYS	2

/* ---- sending ---- */

/*
 * Has the NIC enough of the socket's packets? Then one of these has yet to leave, and
 * ndp_tx_write_space() sees what is said here. So the flow goes on without waiting if
 * there is not even half of it left. What waits there may be for neighbours that do not
 * answer, for seconds; so that this does not stop a socket, each flow may have a little.
 */
static bool ndp_tx_nic_full(struct ndp_tx *tx)
{
	const struct sock *sk = tx->sk;

	if (refcount_read(&sk->sk_wmem_alloc) <= NDP_NIC_BYTES ||
	    tx->f.board.flight.count < NDP_TX_ALWAYS)
		return false;
	WRITE_ONCE(tx->nic_waits, true);
	atomic_set(&ndp_sk(tx->sk)->nic_waits, 1);
	/* first say so, then look: ndp_tx_write_space() does it the other way round */
	smp_mb();
	if (refcount_read(&sk->sk_wmem_alloc) > NDP_NIC_BYTES / 2)
		return true;
	WRITE_ONCE(tx->nic_waits, false);
	return false;
}

static u8 ndp_tx_path(struct ndp_tx *tx, u32 unlike, u64 now)
{
	struct ndp_peer *peer = tx->peer;
	u32 path;

	spin_lock(&peer->lock);
	path = ndp_path_pick(&peer->paths, unlike, now, get_random_u32());
	spin_unlock(&peer->lock);
	return (u8)path;
}

static void ndp_tx_outcome(struct ndp_tx *tx, u8 path, enum ndp_outcome outcome, u64 now)
{
	struct ndp_peer *peer = tx->peer;

	spin_lock(&peer->lock);
	ndp_path_outcome(&peer->paths, path, outcome, now);
	spin_unlock(&peer->lock);
}

/*
 * A packet that waits at the NIC is not late yet. Which packets of the socket have left is
 * known by their sum, as those that were there first leave first: a packet's mark is the sum
 * up to it. It is even, and 0 is none; odd: the packet was postponed.
 */
static void ndp_tx_mark(struct ndp_tx *tx, const struct ndp_snd_pkt *pkt, u32 truesize)
{
	u32 mark = (u32)atomic_add_return((int)truesize, &ndp_sk(tx->sk)->nic_bytes) & ~1U;

	tx->f.board.pkt[pkt - tx->f.board.pkt].mark = mark ?: 2;
}

/*
 * Packets that had not left when this was looked at last may have left just now, or not
 * yet: as if they were sent now. They are the last ones of those in flight.
 */
static void ndp_tx_postpone(struct ndp_tx *tx, u64 now)
{
	u32 nic_bytes = (u32)atomic_read(&ndp_sk(tx->sk)->nic_bytes);
	struct ndp_board *b = &tx->f.board;
	struct ndp_snd_pkt *pkt;
	u16 slot;

	for (slot = b->flight.tail; slot != NDP_RING_NONE; slot = pkt->prev) {
		pkt = &b->pkt[slot];
		if (!pkt->mark)
			continue;
		if (!ndp_before(tx->nic_left, pkt->mark & ~1U))
			break;
		ndp_snd_postpone(&tx->f, pkt, now);
		pkt->mark |= 1;
	}
	/* read in this order, what is sent meanwhile has not left */
	smp_rmb();
	tx->nic_left = nic_bytes - (refcount_read(&tx->sk->sk_wmem_alloc) - 1);
}

/* What leaves as one, as long as it waits to be sent */
static struct ndp_batch *ndp_tx_batch(struct sk_buff *skb)
{
	return (struct ndp_batch *)skb->cb;
}

static void ndp_tx_queue(struct ndp_tx_work *w, struct sk_buff *skb, struct ndp_batch b)
{
	*ndp_tx_batch(skb) = b;
	__skb_queue_tail(&w->out, skb);
}

/* What was sent last, if a new packet may go with it; else NULL */
static struct sk_buff *ndp_tx_open(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	u32 most = (u32)READ_ONCE(tx->peer->nn->conf.gso_packets);
	struct sk_buff *skb = skb_peek_tail(&w->out);

	if (most > 1 && skb &&
	    ndp_batch_takes(ndp_tx_batch(skb), ndp_snd_next_len(&tx->f),
			    MAX_SKB_FRAGS - skb_shinfo(skb)->nr_frags, most))
		return skb;
	return NULL;
}

/*
 * Payload, for which the socket accounts, as for the header; of the skb it has @charged so
 * far. Return: false if the skb can only be dropped.
 */
static bool ndp_tx_fill(struct ndp_tx *tx, struct sk_buff *skb, const struct ndp_snd_pkt *pkt,
			u32 charged)
{
	struct ndp_msg *m = container_of(pkt->msg, struct ndp_msg, core);
	bool added = ndp_msg_add(m, skb, pkt->offset, pkt->len);

	if (charged)
		refcount_add((int)(skb->truesize - charged), &tx->sk->sk_wmem_alloc);
	else
		skb_set_owner_w(skb, tx->sk);
	ndp_tx_mark(tx, pkt, skb->truesize - charged);
	return added;
}

/* A new packet goes with those before it. */
static void ndp_tx_append(struct ndp_tx *tx, struct ndp_tx_work *w, struct sk_buff *skb,
			  const struct ndp_snd_pkt *pkt, const struct ndp_hdr *h)
{
	u32 charged = skb->truesize;

	if (!ndp_out_more(tx->peer, skb, h))
		return;
	ndp_batch_add(ndp_tx_batch(skb), pkt->len);
	if (!ndp_tx_fill(tx, skb, pkt, charged)) {
		__skb_unlink(skb, &w->out);
		kfree_skb(skb);
	}
}

/* A packet; @more: others may go with it. */
static void ndp_tx_start(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_snd_pkt *pkt,
			 const struct ndp_hdr *h, bool more)
{
	struct sk_buff *skb = ndp_out_skb(tx->peer, h);

	if (!skb)
		return;
	if (pkt && !ndp_tx_fill(tx, skb, pkt, 0))
		kfree_skb(skb);
	else
		ndp_tx_queue(w, skb, ndp_batch_begin(h->path, more ? pkt->len : 0));
}

/* One packet. If there is no memory for it, it is as if it were lost. */
static void ndp_tx_send(struct ndp_tx *tx, struct ndp_tx_work *w, enum ndp_snd_action action)
{
	struct sk_buff *open = action == NDP_SND_NEW ? ndp_tx_open(tx, w) : NULL;
	u32 unlike = action == NDP_SND_RTX ? ndp_snd_avoid(&tx->f) : NDP_PATH_NONE;
	const struct ndp_snd_pkt *pkt;
	struct ndp_hdr h;
	u8 path;

	path = open ? ndp_tx_batch(open)->path : ndp_tx_path(tx, unlike, w->c.now);
	pkt = ndp_snd_send(&w->c, &tx->f, action, path, &h);
	if (open)
		ndp_tx_append(tx, w, open, pkt, &h);
	else
		ndp_tx_start(tx, w, pkt, &h, action == NDP_SND_NEW);
}

/* Return: false if all that may be sent is in the queue. */
static bool ndp_tx_collect(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	enum ndp_snd_action action;
	u32 count;

	WRITE_ONCE(tx->nic_waits, false);
	for (count = 0; count < NDP_TX_BATCH; count++) {
		action = ndp_snd_pick(&tx->f, &tx->params);
		if (action == NDP_SND_WAIT)
			return false;
		if (action != NDP_SND_PROBE && ndp_tx_nic_full(tx))
			return false;
		ndp_tx_send(tx, w, action);
	}
	return true;
}

/**
 * ndp_tx_abort() - tell the receiver that a message was given up
 * @tx: flow; locked
 * @w: work
 * @m: message; a part of it was sent
 */
void ndp_tx_abort(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m)
{
	const struct ndp_snd_flow *f = &tx->f;
	struct ndp_hdr h = {
		.type = NDP_ERROR, .flow_id = f->flow_id, .seq = f->board.base,
		.sport = f->sport, .dport = f->dport,
		.err = { .code = NDP_CODE_ABORT, .msg_id = m->core.id },
	};
	struct sk_buff *skb;

	h.path = ndp_tx_path(tx, NDP_PATH_NONE, w->c.now);
	skb = ndp_out_skb(tx->peer, &h);
	if (skb)
		ndp_tx_queue(w, skb, ndp_batch_begin(h.path, 0));
}

/* ---- before and after ---- */

/**
 * ndp_tx_enter() - begin to do something to a flow
 * @tx: flow; counted, or found under RCU
 * @w: result
 *
 * Takes the flow's lock, in any context but that of hard interrupts.
 */
void ndp_tx_enter(struct ndp_tx *tx, struct ndp_tx_work *w)
	__acquires(RCU) __acquires(&tx->lock)
{
	__skb_queue_head_init(&w->out);
	INIT_LIST_HEAD(&w->ended);
	w->wake = false;
	w->gone = false;
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&tx->lock);
	w->c = (struct ndp_snd_call) {
		.p = &tx->params, .stats = &tx->stats, .now = ktime_get_ns(),
	};
}

/* A message has ended: who frees it? If that is sendmsg(), it may do so from now on. */
static void ndp_tx_ended(struct ndp_tx *tx, struct ndp_tx_work *w, struct ndp_msg *m)
{
	/* this says more than that nothing was heard */
	if (m->core.error == ETIMEDOUT && tx->icmp_error)
		m->core.error = tx->icmp_error;
	trace_ndp_msg_ended(tx, m);
	w->wake = true;
	ndp_tx_fed(tx, w, m);
	atomic_dec(&ndp_sk(tx->sk)->tx_busy);
	if (m->feeding)
		list_del_init(&m->node);
	else
		list_move_tail(&m->node, &w->ended);
}

static void ndp_tx_reap(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	struct ndp_snd_msg *core;

	while ((core = ndp_snd_reap(&tx->f))) {
		struct ndp_msg *m = container_of(core, struct ndp_msg, core);

		if (core->ended)
			ndp_tx_ended(tx, w, m);
		else if (ndp_msg_done(m))
			w->wake = true;
	}
}

/*
 * The core's timer: mostly what is due moves away, so it is set anew only if it would
 * expire too late. What ndp_tx_write_space() has set must not be lost by that: if it
 * takes the socket's nic_waits back before we look at it, we set the timer as it does.
 */
static void ndp_tx_arm(struct ndp_tx *tx, u64 now)
{
	u64 due = ndp_snd_due_ns(&tx->f, &tx->params);

	if (tx->dead || due == U64_MAX)
		return;
	if (hrtimer_is_queued(&tx->timer) &&
	    ktime_to_ns(hrtimer_get_expires(&tx->timer)) <= (s64)due)
		return;
	hrtimer_start(&tx->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
	/* ndp_tx_write_space() takes nic_waits back before it starts the timer */
	smp_mb();
	if (tx->nic_waits && !atomic_read(&ndp_sk(tx->sk)->nic_waits))
		hrtimer_start(&tx->timer, ns_to_ktime(now), HRTIMER_MODE_ABS_SOFT);
}

static void ndp_tx_finish_msgs(struct ndp_tx *tx, struct list_head *ended)
{
	struct ndp_msg *m, *next;

	list_for_each_entry_safe(m, next, ended, node) {
		list_del(&m->node);
		if (m->core.error)
			ndp_sock_failed(tx->sk, &tx->to.addrs, (u16)tx->to.port, m->no,
					m->core.error);
		ndp_msg_free(m);
	}
}

/* What may be done only when no lock is held */
static void ndp_tx_flush(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	struct sk_buff *skb;
	u16 sport;

	while ((skb = __skb_dequeue(&w->out))) {
		sport = ndp_path_port(tx->peer->port_base, ndp_tx_batch(skb)->path);
		*ndp_tx_batch(skb) = (struct ndp_batch) {};
		ndp_out_xmit(tx->peer, skb, sport, skb->sk);
	}
	ndp_tx_finish_msgs(tx, &w->ended);
	if (w->wake)
		ndp_sock_writable(tx->sk);
	w->wake = false;
}

/**
 * ndp_tx_leave() - what has been done to a flow has its consequences
 * @tx: flow; locked by ndp_tx_enter()
 * @w: work
 *
 * Drops the lock. Messages that have ended may be freed by this.
 */
void ndp_tx_leave(struct ndp_tx *tx, struct ndp_tx_work *w)
	__releases(&tx->lock) __releases(RCU)
{
	bool more;

	for (;;) {
		ndp_tx_reap(tx, w);
		more = ndp_tx_collect(tx, w);
		if (!more) {
			ndp_tx_arm(tx, w->c.now);
			if (tx->close_ns && list_empty(&tx->msgs))
				ndp_tx_kill(tx, w);
		}
		spin_unlock(&tx->lock);
		ndp_tx_flush(tx, w);
		if (!more)
			break;
		spin_lock(&tx->lock);
		w->c.now = ktime_get_ns();
	}
	if (w->gone)
		ndp_tx_unlink(tx);
	rcu_read_unlock();
	local_bh_enable();
}

/* ---- answers ---- */

/* The flow that a packet is about, which must be from where the flow's go to */
static struct ndp_tx *ndp_tx_find(const struct ndp_packet *p)
{
	struct ndp_tx *tx;

	tx = rhashtable_lookup(&p->nn->tx, &p->h.flow_id, ndp_tx_params);
	if (tx && !memcmp(&tx->to.addrs, &p->addrs, sizeof(p->addrs)))
		return tx;
	return NULL;
}

/* Of a BARE one, ports are not known. */
static bool ndp_tx_fits(const struct ndp_tx *tx, const struct ndp_hdr *h, bool returned)
{
	u16 ours = returned ? h->sport : h->dport, theirs = returned ? h->dport : h->sport;

	if (tx->dead || tx->f.flow_id != h->flow_id)
		return false;
	return (!ours && !theirs) || (ours == tx->f.sport && theirs == tx->f.dport);
}

/* Round-trip time, of a packet of which is known when it was sent */
static void ndp_tx_sample(struct ndp_tx *tx, const struct ndp_hdr *h, u64 now)
{
	const struct ndp_snd_pkt *pkt;
	u32 rtt_ns;

	if (!tx->f.board.pkt || !(h->flags & (NDP_CTL_ACK | NDP_CTL_NACK)))
		return;
	pkt = ndp_board_find(&tx->f.board, h->seq);
	if (!pkt || pkt->state != NDP_PKT_FLIGHT || pkt->try_no != h->try_no || pkt->mark & 1)
		return;
	rtt_ns = (u32)min_t(u64, now - pkt->sent_ns, U32_MAX);
	if (!tx->rtt_ns || rtt_ns < tx->rtt_min_ns)
		WRITE_ONCE(tx->rtt_min_ns, rtt_ns);
	if (tx->rtt_ns)
		rtt_ns = tx->rtt_ns - tx->rtt_ns / 8 + rtt_ns / 8;
	WRITE_ONCE(tx->rtt_ns, rtt_ns);
	ndp_tx_set_rto(tx);
}

static void ndp_tx_control(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h)
{
	struct ndp_peer *peer = tx->peer;

	ndp_tx_sample(tx, h, w->c.now);
	spin_lock(&peer->lock);
	w->c.paths = &peer->paths;
	ndp_snd_control(&w->c, &tx->f, h);
	w->c.paths = NULL;
	spin_unlock(&peer->lock);
}

/*
 * The receiver has forgotten the flow: all messages have failed. Those of which it has
 * taken nothing go again, in the same order, on a new flow.
 */
static void ndp_tx_again(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	struct ndp_msg *m, *next;
	bool alive;

	while (ndp_snd_reap(&tx->f))
		;
	alive = ndp_tx_renew(tx, w);
	list_for_each_entry_safe(m, next, &tx->msgs, node) {
		if (!alive || m->core.acked || !ndp_snd_submit(&w->c, &tx->f, &m->core))
			ndp_tx_ended(tx, w, m);
		else
			WRITE_ONCE(tx->stats.msgs_failed, tx->stats.msgs_failed - 1);
	}
}

/* Only a flow that the receiver did know can be forgotten: so this has an end. */
static void ndp_tx_error(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h)
{
	bool heard = tx->f.heard;

	if (ndp_snd_error(&w->c, &tx->f, h) == NDP_SND_NEWS && tx->f.error == ECONNRESET &&
	    heard)
		ndp_tx_again(tx, w);
}

static void ndp_tx_answer(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h,
			  bool returned)
{
	tx->icmp_error = 0;
	if (returned) {
		if (ndp_snd_returned(&w->c, &tx->f, h) == NDP_SND_NEWS)
			ndp_tx_outcome(tx, h->path, NDP_OUTCOME_RETURNED, w->c.now);
	} else if (h->type == NDP_CONTROL) {
		ndp_tx_control(tx, w, h);
	} else if (h->type == NDP_COOKIE) {
		if (ndp_snd_cookie(&w->c, &tx->f, h) == NDP_SND_NEWS)
			ndp_tx_outcome(tx, h->path, NDP_OUTCOME_ACK, w->c.now);
	} else {
		ndp_tx_error(tx, w, h);
	}
}

static void ndp_tx_take(struct ndp_packet *p, bool returned)
{
	struct ndp_tx *tx = ndp_tx_find(p);
	struct ndp_tx_work w;
	bool fits = false;

	if (tx) {
		ndp_tx_enter(tx, &w);
		fits = ndp_tx_fits(tx, &p->h, returned);
		if (fits)
			ndp_tx_answer(tx, &w, &p->h, returned);
		ndp_tx_leave(tx, &w);
	}
	if (!fits)
		ndp_count(p->nn, NDP_N_IN_NO_FLOW);
	consume_skb(p->skb);
}

/**
 * ndp_tx_input() - a receiver has answered
 * @p: CONTROL, COOKIE, or ERROR, but not ABORT; its skb is freed
 *
 * Under RCU, bottom halves off.
 */
void ndp_tx_input(struct ndp_packet *p)
{
	ndp_tx_take(p, false);
}

/**
 * ndp_tx_returned() - a switch has sent back what is left of one of our packets
 * @p: DATA, with addresses as those of an answer; its skb is freed
 *
 * As ndp_tx_input().
 */
void ndp_tx_returned(struct ndp_packet *p)
{
	ndp_tx_take(p, true);
}

/*
 * That there is nobody who takes the packet, or that it is too large for a link, is as if the
 * receiver had said so; all else may pass.
 */
static void ndp_tx_unreachable(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h,
			       u8 error)
{
	struct ndp_hdr said = { .type = NDP_ERROR, .seq = h->seq };

	tx->icmp_error = error;
	if (error == ECONNREFUSED || error == ENOPROTOOPT)
		said.err.code = NDP_CODE_NO_PORT;
	else if (error == EMSGSIZE && h->type == NDP_DATA && !h->is_short)
		said.err = (struct ndp_error) { NDP_CODE_MSG_SIZE, h->data.msg_id };
	else
		return;
	ndp_snd_error(&w->c, &tx->f, &said);
}

/**
 * ndp_tx_icmp() - ICMP came about one of our packets
 * @p: the packet: @nn, @addrs and @h
 * @error: what it says: errno
 *
 * Under RCU.
 */
void ndp_tx_icmp(const struct ndp_packet *p, u8 error)
{
	struct ndp_tx *tx = ndp_tx_find(p);
	struct ndp_tx_work w;

	if (!tx || (p->h.type != NDP_DATA && p->h.type != NDP_PROBE))
		return;
	ndp_tx_enter(tx, &w);
	if (ndp_tx_fits(tx, &p->h, true))
		ndp_tx_unreachable(tx, &w, &p->h, error);
	ndp_tx_leave(tx, &w);
}

/* ---- time ---- */

/**
 * ndp_tx_timeout() - a flow's timer has expired
 * @timer: it
 *
 * It may be early: the NIC has room again, or something came since it was set.
 *
 * Return: HRTIMER_NORESTART; it is started under the flow's lock.
 */
enum hrtimer_restart ndp_tx_timeout(struct hrtimer *timer)
{
	struct ndp_tx *tx = container_of(timer, struct ndp_tx, timer);
	enum ndp_snd_expiry e = NDP_SND_QUIET;
	struct ndp_tx_work w;
	u8 path;

	ndp_tx_enter(tx, &w);
	ndp_tx_postpone(tx, w.c.now);
	do {
		if (!tx->dead)
			e = ndp_snd_expire(&w.c, &tx->f, get_random_u32(), &path);
		if (e == NDP_SND_LOST) {
			trace_ndp_timeout(tx, path);
			ndp_tx_outcome(tx, path, NDP_OUTCOME_LOST, w.c.now);
		}
	} while (e == NDP_SND_LOST);
	ndp_tx_leave(tx, &w);
	return HRTIMER_NORESTART;
}

/**
 * ndp_tx_write_space() - the NIC is done with a packet of a socket
 * @sk: socket
 *
 * Its sk_write_space: sock_wfree() calls it, with whatever locks held.
 */
void ndp_tx_write_space(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_tx *tx;

	/* after what sock_wfree() has taken off sk_wmem_alloc, see ndp_tx_nic_full() */
	smp_mb__after_atomic();
	if (!atomic_read(&ns->nic_waits) ||
	    refcount_read(&sk->sk_wmem_alloc) > NDP_NIC_BYTES / 2)
		return;
	if (!atomic_xchg(&ns->nic_waits, 0))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(tx, &ns->tx_list, sock_node)
		if (READ_ONCE(tx->nic_waits))
			hrtimer_start(&tx->timer, ktime_get(), HRTIMER_MODE_ABS_SOFT);
	rcu_read_unlock();
}
