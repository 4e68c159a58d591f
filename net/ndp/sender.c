// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sending flows: packets, answers, timers
 *
 * Each event of a flow (a message, more of it, an answer, the timer) is processed between
 * ndp_tx_enter() and ndp_tx_leave(), under its lock. ndp_tx_leave() performs the consequences:
 *
 *	enter -> core ... -> leave: reap -> collect -> unlock -> send, free, wake
 *	                              ^                             |
 *	                              +--------- more to send ------+
 *
 * So while the lock is free, the core has no news and has sent all that it may, unless the socket
 * has NDP_NIC_BYTES at the NIC. Then ndp_tx_write_space() starts the timers of its flows when half
 * of them have left. It may be called with any lock held, so it only does that.
 *
 * The timer is soft, so it is cancelled only where it cannot be running on the same CPU: when the
 * flow is freed, after an RCU grace period.
 */
#include <net/inet_ecn.h>
#include "ndp.h"
#include "rx_ride.h"
#include "trace.h"
#include "tx_table.h"

/* packets that are collected before the lock is dropped */
#define NDP_TX_BATCH	64
/* packets of a flow in flight whatever its socket has at the NIC */
#define NDP_TX_ALWAYS	2
#define NDP_TX_ID_TRIES	8
/* place of the IP precedence in the DS field */
#define NDP_TX_PRECEDENCE	5

/* ---- names ---- */

const struct rhashtable_params ndp_tx_params = {
	.head_offset = offsetof(struct ndp_tx, node),
	.key_offset = offsetof(struct ndp_tx, flow_id),
	.key_len = sizeof_field(struct ndp_tx, flow_id),
	.automatic_shrinking = true,
};

const struct rhashtable_params ndp_tx_to_params = {
	.head_offset = offsetof(struct ndp_tx, to_node),
	.key_offset = offsetof(struct ndp_tx, to),
	.key_len = sizeof_field(struct ndp_tx, to),
	.automatic_shrinking = true,
};

/**
 * ndp_tx_name() - insert a flow under a random name
 * @tx: flow
 *
 * Return: 0 or errno.
 */
int ndp_tx_name(struct ndp_tx *tx)
{
	struct ndp_net *nn = ndp_tx_net(tx);
	int err, tries = NDP_TX_ID_TRIES;

	do {
		/* ndp_tx_find() may read it meanwhile */
		WRITE_ONCE(tx->flow_id, get_random_u32());
		tx->f.flow_id = tx->flow_id;
		err = rhashtable_lookup_insert_fast(&nn->tx, &tx->node, ndp_tx_params);
	} while (err == -EEXIST && --tries);
	if (!err)
		ndp_count(nn, NDP_N_TX_FLOWS);
	return err;
}

/**
 * ndp_tx_begin() - initialize the core of a flow
 * @tx: flow
 * @now: time
 */
void ndp_tx_begin(struct ndp_tx *tx, u64 now)
{
	/* SOCK_SEQPACKET: interleaved messages would wait for each other at the receiver */
	ndp_snd_init(&tx->f, &tx->params, ndp_is_ordered(tx->sk), tx->flow_id, get_random_u32());
	tx->f.sport = inet_sk(tx->sk)->inet_num;
	tx->f.dport = (u16)tx->to.port;
	tx->f.quiet_ns = now;
}

/**
 * ndp_tx_kill() - end a flow
 * @tx: flow; locked, without messages
 * @w: work; ndp_tx_leave() completes it
 */
void ndp_tx_kill(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	if (tx->dead)
		return;
	tx->dead = true;
	w->gone = true;
	/* another flow may become the recent one meanwhile, but this one may not any more */
	unrcu_pointer(cmpxchg(&ndp_sk(tx->sk)->recent, RCU_INITIALIZER(tx), NULL));
	rhashtable_remove_fast(&ndp_tx_net(tx)->tx_by_to, &tx->to_node, ndp_tx_to_params);
}

/**
 * ndp_tx_renew() - continue a flow that has failed, or is old, under a new name
 * @tx: flow; locked, without messages in the core
 * @w: work
 *
 * Return: false if that failed: the flow is dead.
 */
bool ndp_tx_renew(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	const struct ndp_scoreboard *sb = &tx->f.sb;
	u32 ring = sb->mask + 1;
	void *mem = sb->pkt;

	rhashtable_remove_fast(&ndp_tx_net(tx)->tx, &tx->node, ndp_tx_params);
	if (ndp_tx_name(tx)) {
		ndp_tx_kill(tx, w);
		return false;
	}
	if (!tx->f.error) {
		ndp_snd_renew(&tx->f, tx->flow_id);
		return true;
	}
	/* the ring is empty, so its bitmaps are 0 */
	ndp_tx_begin(tx, w->c.now);
	if (mem)
		ndp_sb_attach(&tx->f.sb, mem, ring);
	return true;
}

/* ---- end ---- */

static void ndp_tx_free_rcu(struct rcu_head *rcu)
{
	struct ndp_tx *tx = container_of(rcu, struct ndp_tx, rcu);

	hrtimer_cancel(&tx->timer);
	WARN_ON_ONCE(!list_empty(&tx->msgs));
	ndp_tx_free_ring(tx->sk, ndp_tx_take_ring(tx));
	ndp_peer_put(tx->peer);
	if (tx->link)
		ndp_pacer_put(tx->link);
	ndp_mem_uncharge_flow(tx->sk, tx->charged);
	sock_put(tx->sk);
	kfree(tx);
}

/**
 * ndp_tx_put() - drop a reference
 * @tx: flow
 */
void ndp_tx_put(struct ndp_tx *tx)
{
	if (refcount_dec_and_test(&tx->refs))
		call_rcu(&tx->rcu, ndp_tx_free_rcu);
}

/**
 * ndp_tx_unlink() - remove a dead flow from the tables that ndp_tx_kill() did not change
 * @tx: flow
 */
void ndp_tx_unlink(struct ndp_tx *tx)
{
	struct ndp_sock *ns = ndp_sk(tx->sk);
	struct ndp_net *nn = ndp_tx_net(tx);

	rhashtable_remove_fast(&nn->tx, &tx->node, ndp_tx_params);
	spin_lock_bh(&ns->tx_lock);
	list_del_rcu(&tx->sock_node);
	ndp_snd_stats_add(&ns->snd_totals, &tx->stats);
	spin_unlock_bh(&ns->tx_lock);
	spin_lock_bh(&nn->totals_lock);
	ndp_snd_stats_add(&nn->snd_totals, &tx->stats);
	spin_unlock_bh(&nn->totals_lock);
	ndp_tx_put(tx);
}

/* ---- timeout ---- */

/**
 * ndp_tx_set_rto() - set the timeout of a flow: the namespace's, but at least that of RFC 6298
 * @tx: flow; locked, or in no table yet
 *
 * The latter bounds the reordering of packets as well.
 */
void ndp_tx_set_rto(struct ndp_tx *tx)
{
	u32 least_ns = (u32)READ_ONCE(ndp_tx_net(tx)->conf.rto_us) * NSEC_PER_USEC;

	tx->params.reorder_ns = (u32)min_t(u64, tx->rtt_ns + 4ULL * tx->rttvar_ns,
					   tx->params.rto_max_ns);
	WRITE_ONCE(tx->params.rto_ns, max_t(u32, least_ns, tx->params.reorder_ns));
}

/**
 * ndp_tx_copied() - sendmsg() has copied a message, or it has ended
 * @tx: its flow, locked
 * @w: work
 * @m: message
 */
void ndp_tx_copied(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m)
{
	if (tx->copying != m)
		return;
	tx->copying = NULL;
	/* perhaps for another flow: then that sendmsg() waits again */
	WRITE_ONCE(ndp_sk(tx->sk)->turn_denied, false);
	w->wake = true;
}

/* ---- sending ---- */

/*
 * Has the socket enough packets at the NIC? Packets there may wait for a silent neighbour for
 * seconds; so each flow may always have NDP_TX_ALWAYS packets in flight.
 */
static bool ndp_tx_nic_full(struct ndp_tx *tx)
{
	const struct sock *sk = tx->sk;

	if (refcount_read(&sk->sk_wmem_alloc) <= NDP_NIC_BYTES ||
	    tx->f.sb.flight.count < NDP_TX_ALWAYS)
		return false;
	WRITE_ONCE(tx->nic_waits, true);
	atomic_set(&ndp_sk(tx->sk)->nic_waits, 1);
	/* pairs with ndp_tx_write_space() */
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
 * Packets that wait at the NIC must not time out. Packets leave in order, so a sum shows which have
 * left: a packet's mark is the truesize of the packets up to it; 0: unset.
 */
static void ndp_tx_mark(struct ndp_tx *tx, const struct ndp_snd_pkt *pkt, u32 truesize)
{
	u32 mark = (u32)atomic_add_return((int)truesize, &ndp_sk(tx->sk)->nic_bytes);

	tx->f.sb.pkt[pkt - tx->f.sb.pkt].mark = mark ?: 1;
}

/*
 * Packets that had not left the NIC at the last look may have left only now: they count as sent
 * now. They are the last packets in flight.
 */
static void ndp_tx_postpone(struct ndp_tx *tx, u64 now)
{
	u32 nic_bytes = (u32)atomic_read(&ndp_sk(tx->sk)->nic_bytes);
	struct ndp_scoreboard *sb = &tx->f.sb;
	struct ndp_snd_pkt *pkt;
	u16 slot;

	for (slot = sb->flight.tail; slot != NDP_RING_NONE; slot = pkt->prev) {
		pkt = &sb->pkt[slot];
		if (!pkt->mark)
			continue;
		if (!ndp_before(tx->nic_left, pkt->mark))
			break;
		ndp_snd_postpone(&tx->f, pkt, now);
	}
	/* read in this order, packets that are sent meanwhile have not left */
	smp_rmb();
	tx->nic_left = nic_bytes - (refcount_read(&tx->sk->sk_wmem_alloc) - 1);
}

/* Batch of a packet that waits to be sent */
static struct ndp_batch *ndp_tx_batch(struct sk_buff *skb)
{
	return (struct ndp_batch *)skb->cb;
}

static void ndp_tx_queue(struct ndp_tx_work *w, struct sk_buff *skb, struct ndp_batch b)
{
	*ndp_tx_batch(skb) = b;
	__skb_queue_tail(&w->out, skb);
}

/* IP_TOS or IPV6_TCLASS without the ECN bits; 0 if the program has set none */
static u8 ndp_tx_tos(const struct ndp_tx *tx)
{
	const struct sock *sk = tx->sk;
	u8 tos = READ_ONCE(inet_sk(sk)->tos);

	if (!ndp_is_ipv4(&tx->to.addrs))
		tos = READ_ONCE(inet6_sk(sk)->tclass);
	return tos & ~INET_ECN_MASK;
}

/* Bands by which the flow's messages are sent */
static u32 ndp_tx_bands(const struct ndp_tx *tx)
{
	return ndp_tx_tos(tx) ? 1 : (u32)READ_ONCE(tx->peer->nn->conf.bands);
}

/* DSCP of DATA: the program's; else the level is the precedence. */
static u8 ndp_tx_dsfield(const struct ndp_tx *tx, u8 level)
{
	return ndp_tx_tos(tx) ?: (u8)(level << NDP_TX_PRECEDENCE);
}

/* The last collected packet, if a new one may join it; else NULL */
static struct sk_buff *ndp_tx_open(const struct ndp_tx *tx, const struct ndp_tx_work *w,
				   const struct ndp_snd_next *next)
{
	u32 most = (u32)READ_ONCE(tx->peer->nn->conf.gso_packets);
	struct sk_buff *skb = skb_peek_tail(&w->out);

	if (most > 1 && skb && ndp_tx_batch(skb)->level == next->level &&
	    ndp_batch_takes(ndp_tx_batch(skb), next->len,
			    MAX_SKB_FRAGS - skb_shinfo(skb)->nr_frags, most))
		return skb;
	return NULL;
}

/*
 * Add the payload and charge it to the socket; @charged: truesize charged before; @header: with
 * the header in the payload's gap. Return: false if the packet must be dropped.
 */
static bool ndp_tx_fill(struct ndp_tx *tx, struct sk_buff *skb, const struct ndp_snd_pkt *pkt,
			u32 charged, bool header)
{
	struct ndp_msg *m = container_of(pkt->msg, struct ndp_msg, core);
	bool added = ndp_msg_add(m, skb, pkt->offset, pkt->len, header);

	if (charged)
		refcount_add((int)(skb->truesize - charged), &tx->sk->sk_wmem_alloc);
	else
		skb_set_owner_w(skb, tx->sk);
	ndp_tx_mark(tx, pkt, skb->truesize - charged);
	return added;
}

/* Add a new packet to a batch. */
static void ndp_tx_append(struct ndp_tx *tx, struct ndp_tx_work *w, struct sk_buff *skb,
			  const struct ndp_snd_pkt *pkt, const struct ndp_hdr *h)
{
	struct ndp_msg *m = container_of(pkt->msg, struct ndp_msg, core);
	u8 *head = ndp_msg_header(m, pkt->offset);
	u32 charged = skb->truesize;

	if (!ndp_out_more(tx->peer, skb, h, head))
		return;
	ndp_batch_add(ndp_tx_batch(skb), pkt->len);
	if (!ndp_tx_fill(tx, skb, pkt, charged, head)) {
		__skb_unlink(skb, &w->out);
		kfree_skb(skb);
	}
}

/* Begin a packet; @more: further packets may join it. */
static void ndp_tx_start(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_snd_pkt *pkt,
			 const struct ndp_hdr *h, bool more)
{
	struct sk_buff *skb = ndp_out_skb(tx->peer, h);
	u8 level = 0;

	if (!skb)
		return;
	if (pkt)
		level = (u8)(w->c.bands - 1 - pkt->below);
	if (pkt && !ndp_tx_fill(tx, skb, pkt, 0, false))
		kfree_skb(skb);
	else
		ndp_tx_queue(w, skb, ndp_batch_begin(h->path, level, more ? pkt->len : 0));
}

/* Send one packet. @open: it joins it; or NULL. Without memory it counts as lost on the way. */
static void ndp_tx_send(struct ndp_tx *tx, struct ndp_tx_work *w, enum ndp_snd_action action,
			struct sk_buff *open)
{
	u32 unlike = action == NDP_SND_RTX ? ndp_snd_avoid(&tx->f) : NDP_PATH_NONE;
	const struct ndp_snd_pkt *pkt;
	struct ndp_hdr h;
	u8 path;

	path = open ? ndp_tx_batch(open)->path : ndp_tx_path(tx, unlike, w->c.now);
	pkt = ndp_snd_send(&w->c, &tx->f, action, path, &h);
	if (action == NDP_SND_RTX)
		ndp_ride_lost(tx, w, &h);
	/* the headers of further packets of a batch match */
	else if (action == NDP_SND_NEW && !open)
		ndp_ride_take(tx, &h, w->c.now);
	if (open)
		ndp_tx_append(tx, w, open, pkt, &h);
	else
		ndp_tx_start(tx, w, pkt, &h, action == NDP_SND_NEW);
}

/* Is it the flow's turn at its link? *@open: packet that the next one joins; or NULL */
static bool ndp_tx_take(struct ndp_tx *tx, const struct ndp_tx_work *w,
			enum ndp_snd_action action, struct sk_buff **open)
{
	const struct ndp_snd_next next = ndp_snd_next(&tx->f, action, w->c.bands);

	if (action == NDP_SND_NEW)
		*open = ndp_tx_open(tx, w, &next);
	return ndp_nic_take(tx, &next, *open, w->c.now);
}

/* Collect packets. Return: false if the flow may send no more now */
static bool ndp_tx_collect(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	enum ndp_snd_action action;
	struct sk_buff *open;
	u32 count;

	WRITE_ONCE(tx->nic_waits, false);
	for (count = 0; count < NDP_TX_BATCH; count++) {
		open = NULL;
		action = ndp_snd_pick(&tx->f, &tx->params);
		if (action == NDP_SND_WAIT ||
		    (action != NDP_SND_PROBE && ndp_tx_nic_full(tx))) {
			ndp_nic_leave(tx);
			return false;
		}
		if (action != NDP_SND_PROBE && !ndp_tx_take(tx, w, action, &open))
			return false;
		ndp_tx_send(tx, w, action, open);
	}
	return true;
}

/**
 * ndp_tx_abort() - send ABORT: a message was given up
 * @tx: flow; locked
 * @w: work
 * @m: message that has begun
 */
void ndp_tx_abort(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m)
{
	const struct ndp_snd_flow *f = &tx->f;
	struct ndp_hdr h = {
		.type = NDP_ERROR, .flow_id = f->flow_id, .seq = f->sb.base,
		.sport = f->sport, .dport = f->dport,
		.err = { .code = NDP_CODE_ABORT, .msg_id = m->core.id },
	};
	struct sk_buff *skb;

	h.path = ndp_tx_path(tx, NDP_PATH_NONE, w->c.now);
	skb = ndp_out_skb(tx->peer, &h);
	if (skb)
		ndp_tx_queue(w, skb, ndp_batch_begin(h.path, 0, 0));
}

/* ---- enter and leave ---- */

/**
 * ndp_tx_enter() - begin to change a flow
 * @tx: flow; counted, or found under RCU
 * @w: result
 *
 * Takes the flow's lock. Any context but hard interrupts.
 */
void ndp_tx_enter(struct ndp_tx *tx, struct ndp_tx_work *w)
	__acquires(RCU) __acquires(&tx->lock)
{
	__skb_queue_head_init(&w->out);
	INIT_LIST_HEAD(&w->ended);
	w->repeat = 0;
	w->wake = false;
	w->gone = false;
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&tx->lock);
	w->c = (struct ndp_snd_call) {
		.p = &tx->params, .stats = &tx->stats, .now = ktime_get_ns(),
		.bands = ndp_tx_bands(tx),
	};
}

/* A message has ended. If sendmsg() still copies it, sendmsg() frees it. */
static void ndp_tx_ended(struct ndp_tx *tx, struct ndp_tx_work *w, struct ndp_msg *m)
{
	/* the ICMP error is more specific */
	if (m->core.error == ETIMEDOUT && tx->icmp_error)
		m->core.error = tx->icmp_error;
	trace_ndp_msg_ended(tx, m);
	w->wake = true;
	ndp_tx_copied(tx, w, m);
	atomic_dec(&ndp_sk(tx->sk)->tx_busy);
	if (m->copying)
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
 * Start the core's timer, unless it expires earlier. ndp_tx_write_space() may have started it
 * meanwhile, which must not be undone.
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
	/* ndp_tx_write_space() clears nic_waits before it starts the timer */
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

/* Do what requires that no lock is held. */
static void ndp_tx_flush(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	struct sk_buff *skb;
	u8 dsfield;
	u16 sport;

	while ((skb = __skb_dequeue(&w->out))) {
		sport = ndp_path_port(tx->peer->port_base, ndp_tx_batch(skb)->path);
		/* packets without payload have no socket */
		dsfield = skb->sk ? ndp_tx_dsfield(tx, ndp_tx_batch(skb)->level) : 0;
		*ndp_tx_batch(skb) = (struct ndp_batch) {};
		ndp_out_xmit(tx->peer, skb, sport, dsfield, skb->sk);
	}
	if (w->repeat)
		ndp_ride_repeat(tx, w->repeat);
	w->repeat = 0;
	ndp_tx_finish_msgs(tx, &w->ended);
	if (w->wake)
		ndp_sock_writable(tx->sk);
	w->wake = false;
}

/**
 * ndp_tx_leave() - perform the consequences of changes
 * @tx: flow; locked by ndp_tx_enter()
 * @w: work
 *
 * Drops the lock. Messages that have ended may be freed.
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

/*
 * Find the flow of an answer in a packet; its addresses must match. @recent: probably that flow, or
 * NULL
 */
static struct ndp_tx *ndp_tx_find(const struct ndp_packet *p, u32 flow_id, struct ndp_tx *recent)
{
	struct ndp_tx *tx = recent;

	if (!tx || READ_ONCE(tx->flow_id) != flow_id)
		tx = rhashtable_lookup(&p->nn->tx, &flow_id, ndp_tx_params);
	if (tx && !memcmp(&tx->to.addrs, &p->addrs, sizeof(p->addrs)))
		return tx;
	return NULL;
}

/* Do the ports match? With BARE they are unknown. */
static bool ndp_tx_fits(const struct ndp_tx *tx, const struct ndp_hdr *h, bool returned)
{
	u16 ours = returned ? h->sport : h->dport, theirs = returned ? h->dport : h->sport;

	if (tx->dead || tx->f.flow_id != h->flow_id)
		return false;
	return (!ours && !theirs) || (ours == tx->f.sport && theirs == tx->f.dport);
}

/* Measure the round-trip time by a packet. @heard: time of its answer, less the answer's delay */
static void ndp_tx_sample(struct ndp_tx *tx, const struct ndp_hdr *h, u64 heard)
{
	const struct ndp_snd_pkt *pkt;
	u32 rtt_ns, diff_ns, least_ns = READ_ONCE(tx->peer->rtt_min_ns);

	if (!tx->f.sb.pkt || !(h->flags & (NDP_CTL_ACK | NDP_CTL_NACK)))
		return;
	pkt = ndp_sb_find(&tx->f.sb, h->seq);
	if (!pkt || pkt->state != NDP_PKT_FLIGHT || pkt->try_no != h->try_no || pkt->postponed ||
	    heard < pkt->sent_ns)
		return;
	rtt_ns = (u32)min_t(u64, heard - pkt->sent_ns, U32_MAX);
	if (!least_ns || rtt_ns < least_ns)
		WRITE_ONCE(tx->peer->rtt_min_ns, rtt_ns);
	if (tx->rtt_ns) {
		diff_ns = max_t(u32, rtt_ns, tx->rtt_ns) - min_t(u32, rtt_ns, tx->rtt_ns);
		tx->rttvar_ns += diff_ns / 4 - tx->rttvar_ns / 4;
		rtt_ns = tx->rtt_ns - tx->rtt_ns / 8 + rtt_ns / 8;
	} else {
		tx->rttvar_ns = rtt_ns / 2;
	}
	WRITE_ONCE(tx->rtt_ns, rtt_ns);
	ndp_tx_set_rto(tx);
}

static void ndp_tx_control(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h,
			   u64 heard)
{
	struct ndp_peer *peer = tx->peer;

	ndp_tx_sample(tx, h, heard);
	spin_lock(&peer->lock);
	w->c.paths = &peer->paths;
	ndp_snd_control(&w->c, &tx->f, h);
	w->c.paths = NULL;
	spin_unlock(&peer->lock);
}

/*
 * The receiver has forgotten the flow, and all messages have failed. Those without an acknowledged
 * packet are sent again, in the same order, by a new flow.
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

/* A flow that the receiver never knew fails; so repeated ERRORs have an end. */
static void ndp_tx_error(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h)
{
	bool known = tx->f.known;

	if (ndp_snd_error(&w->c, &tx->f, h) == NDP_SND_NEWS && tx->f.error == ECONNRESET &&
	    known)
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
		ndp_tx_control(tx, w, h, w->c.now);
	} else if (h->type == NDP_COOKIE) {
		if (ndp_snd_cookie(&w->c, &tx->f, h) == NDP_SND_NEWS)
			ndp_tx_outcome(tx, h->path, NDP_OUTCOME_ACK, w->c.now);
	} else {
		ndp_tx_error(tx, w, h);
	}
}

/**
 * ndp_tx_input() - process an answer, or DATA that a switch has returned
 * @p: CONTROL, COOKIE, or ERROR except ABORT; its skb is freed
 * @returned: DATA, with the addresses of an answer
 *
 * Under RCU, bottom halves off.
 */
void ndp_tx_input(struct ndp_packet *p, bool returned)
{
	struct ndp_tx *tx = ndp_tx_find(p, p->h.flow_id, NULL);
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
 * ndp_tx_carried() - process an ACK that DATA of the other direction has carried
 * @p: DATA of a known flow; its skb may be gone
 * @sk: its socket
 *
 * Under RCU, bottom halves off.
 */
void ndp_tx_carried(const struct ndp_packet *p, const struct sock *sk)
{
	const struct ndp_hdr said = {
		.flow_id = p->h.data.ack_flow_id, .sport = p->h.sport, .dport = p->h.dport,
	};
	struct ndp_tx *tx = ndp_tx_find(p, said.flow_id, rcu_dereference(ndp_sk(sk)->recent));
	struct ndp_tx_work w;
	struct ndp_hdr h;
	bool fits = false;

	ndp_count(p->nn, NDP_N_IN_DATA_ACK);
	if (tx && tx->sk == sk) {
		ndp_tx_enter(tx, &w);
		fits = ndp_tx_fits(tx, &said, false);
		if (fits && ndp_snd_carried(&w.c, &tx->f, p->h.data.ack_seq, &h))
			ndp_tx_control(tx, &w, &h, ndp_ride_heard(&p->h.data, w.c.now));
		ndp_tx_leave(tx, &w);
	}
	if (!fits)
		ndp_count(p->nn, NDP_N_IN_NO_FLOW);
}

/*
 * A closed port counts as an ERROR of the receiver. Other errors may be transient, and packets that
 * are too large for a link leave as IP fragments, once the route has learnt its MTU.
 */
static void ndp_tx_unreachable(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_hdr *h,
			       u8 error)
{
	const struct ndp_hdr said = {
		.type = NDP_ERROR, .seq = h->seq, .err.code = NDP_CODE_NO_PORT,
	};

	tx->icmp_error = error;
	if (error == ECONNREFUSED || error == ENOPROTOOPT)
		ndp_snd_error(&w->c, &tx->f, &said);
}

/**
 * ndp_tx_icmp() - process an ICMP error
 * @p: packet of this host: @nn, @addrs and @h
 * @error: errno
 *
 * Under RCU.
 */
void ndp_tx_icmp(const struct ndp_packet *p, u8 error)
{
	struct ndp_tx *tx = ndp_tx_find(p, p->h.flow_id, NULL);
	struct ndp_tx_work w;

	if (!tx || (p->h.type != NDP_DATA && p->h.type != NDP_PROBE))
		return;
	ndp_tx_enter(tx, &w);
	if (ndp_tx_fits(tx, &p->h, true))
		ndp_tx_unreachable(tx, &w, &p->h, error);
	ndp_tx_leave(tx, &w);
}

/* ---- timers ---- */

/**
 * ndp_tx_timeout() - process the timer of a flow
 * @timer: timer; it may be early
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
 * ndp_tx_go() - let a flow send that has waited for its link
 * @tx: flow
 *
 * Under RCU.
 */
void ndp_tx_go(struct ndp_tx *tx)
{
	struct ndp_tx_work w;

	ndp_tx_enter(tx, &w);
	ndp_tx_leave(tx, &w);
}

/**
 * ndp_tx_write_space() - a packet has left the NIC: sk_write_space of a socket
 * @sk: socket
 *
 * sock_wfree() calls it, with any locks held.
 */
void ndp_tx_write_space(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_tx *tx;

	/* after the change of sk_wmem_alloc; pairs with ndp_tx_nic_full() */
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
