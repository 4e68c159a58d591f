// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: packets of flows that are received, and what is answered
 *
 *	DATA, PROBE --> ndp_rcv_packet() --> ndp_rcv_wish() --> ndp_rcv_reply() --> CONTROL
 *	                    |                     |                   |                ^
 *	                    v                     v                   v                |
 *	              message's packets     pull queue of the    ndp_owed.c: further packets,
 *	                    |               device               then ndp_rx_settle()
 *	                    v
 *	                 recvmsg() ---> room: flows that are held are asked again
 *
 * Memory is the socket's SO_RCVBUF, and what all sockets have together. The flow of the
 * message that a reader is in the middle of may use half as much again, while there are
 * others to be read: these wait until that message ends, and must not stop it. If there is
 * no room nevertheless, the reader goes on with other messages: ndp_got_next().
 *
 * If all sockets together have too much, a socket may have less than it has. Then messages that
 * are not whole may keep each other from becoming whole, and none of their readers can make room.
 * So each socket may keep one packet (@lent) that no memory was found for, if it is the one that
 * its flow waits for, and can be read at once; when it was, the next one. So one message after
 * the other is read by and by, as little memory as there may be.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore,
 * G. Antichi, M. Wojcik, "Re-architecting datacenter networks and stacks for
 * low latency and high performance", SIGCOMM 2017, section 3.2.
 */

#include <linux/filter.h>
#include "ndp.h"

/* Flows that are dealt with until a lock is dropped */
#define NDP_RX_BATCH		64U
/* No longer is a flow held because of what others have reserved. */
#define NDP_RX_HELD_NS		NSEC_PER_SEC

/* ---- packets ---- */

/*
 * What the messages of a socket may take; they have room for two packets at least. If all sockets
 * have no memory left, it is less than they take now, so that flows are held.
 */
static u64 ndp_rx_memory(const struct ndp_sock *ns)
{
	u64 all = ns->rcv.partial + ns->rcv.unread, max = ndp_rcvbuf(&ns->inet.sk);

	if (ndp_mem_is_short(ns->packet_memory))
		max = min(max, all - all / 8);
	return max_t(u64, max, 2ULL * ns->packet_memory);
}

/**
 * ndp_rx_limit() - before the core is asked about a flow
 * @ns: its socket
 * @rx: flow
 * @memory: what a packet takes that came; 0: none did
 *
 * Of messages that are not whole there is never more than one and a half of what there may be,
 * and what fills a gap: so that a packet that all others wait for finds room, as the core
 * lends twice, in the end. Under rcv_lock.
 */
void ndp_rx_limit(struct ndp_sock *ns, const struct ndp_rx *rx, u32 memory)
{
	u64 max;

	ns->packet_memory = max(ns->packet_memory, memory);
	max = ndp_rx_memory(ns);
	if (ns->rcv.unread && ns->reading && ns->reading->rx == rx)
		max += max / 2;
	ns->rcv_params.memory_max = max;
}

/*
 * A packet that takes more than it has to say: what is kept of it may be a copy. It
 * matters when memory is short.
 */
static void ndp_rx_shrink(const struct ndp_sock *ns, struct ndp_packet *p)
{
	u32 len = p->skb->len;
	struct sk_buff *copy;

	if (2 * (ns->rcv.partial + ns->rcv.unread) < ndp_rcvbuf(&ns->inet.sk) ||
	    p->skb->truesize <= 2 * SKB_TRUESIZE(len))
		return;
	copy = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return;
	if (skb_copy_bits(p->skb, 0, skb_put(copy, (int)len), (int)len)) {
		kfree_skb(copy);
		return;
	}
	consume_skb(p->skb);
	p->skb = copy;
}

/*
 * Does the socket want a packet: its filter, the programs of its control group, security
 * modules? They see it from its UDP header on, as with UDP. All of it is kept, whatever
 * length a filter returns: what is missing of it would never come.
 */
static bool ndp_rx_wanted(struct sock *sk, struct ndp_packet *p)
{
	struct sk_buff *skb = p->skb;
	u32 headers = (u32)-skb_transport_offset(skb);
	bool wanted;

	if (p->h.type != NDP_DATA || ndp_is_trimmed(&p->h))
		return true;
	__skb_push(skb, headers);
	wanted = !sk_filter_trim_cap(sk, skb, skb->len);
	__skb_pull(skb, headers);
	if (!wanted) {
		atomic_inc(&sk->sk_drops);
		ndp_count(p->nn, NDP_N_IN_FILTERED);
	}
	return wanted;
}

/* A message does not begin after all. */
static void ndp_rx_undo(struct ndp_sock *ns, struct ndp_got *got)
{
	if (got->slots)
		ndp_region_return(ns, got);
	kfree(got);
}

/*
 * All sockets together have too much. May a packet be kept nevertheless? One of a socket may, if
 * nothing else can be read whole: it is the one that all others of its flow wait for, and
 * continues what can be read of the message that is being read, or would be next.
 */
static bool ndp_rx_may_lend(const struct ndp_rx *rx, const struct ndp_packet *p,
			    const struct ndp_got *got)
{
	const struct ndp_sock *ns = ndp_sk(rx->sk);

	if (READ_ONCE(ns->lent) || ns->rcv.unread || (ns->reading && ns->reading->rx != rx) ||
	    got->slots || p->h.seq != rx->f.got.base || p->h.data.offset != got->next)
		return false;
	if (rx->line && !got->turn.turns)
		return ndp_turns_have_none(&rx->line->turns, p->h.data.prio);
	return ndp_turn_has(&got->turn);
}

/*
 * Before a packet is kept: the message it is of, be it a new one, which has no flow yet; what
 * the packet takes, *@memory, is charged; 0: it may be lent. Return: NULL: all sockets together
 * have too much; -ENOMEM: the packet is lost. To be told that there is no room is for what only
 * readers can change: it may let them have messages that are not whole.
 */
static struct ndp_got *ndp_rx_prepare(struct ndp_rx *rx, struct ndp_packet *p, u32 *memory)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(&rx->f, p->h.data.msg_id);
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_got *got;

	got = m ? container_of(m, struct ndp_got, core) : ndp_got_alloc(p, p->h.sport);
	if (!got)
		return ERR_PTR(-ENOMEM);
	if (!m) {
		*memory = sizeof(*got);
		ndp_region_take(ns, got, p->h.data.msg_len);
	}
	if (!got->slots) {
		ndp_rx_shrink(ns, p);
		*memory += p->skb->truesize;
	}
	if (!*memory || ndp_mem_charge(rx->sk, *memory, SK_MEM_RECV))
		return got;
	*memory = 0;
	if (ndp_rx_may_lend(rx, p, got))
		return got;
	if (!m)
		ndp_rx_undo(ns, got);
	return NULL;
}

/*
 * A packet is a part of @got, or all of it. Without @memory it is lent, if it is not placed.
 * Return: is that news for readers?
 */
static bool ndp_rx_keep(struct ndp_rx *rx, struct ndp_packet *p, struct ndp_got *got,
			enum ndp_rcv_verdict v, u32 memory)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);

	got->core.len = p->h.data.msg_len;
	got->rx = v == NDP_RCV_WHOLE ? NULL : rx;
	if (got->slots) {
		got->memory += memory;
		ndp_region_copy(ns, got, p);
	} else {
		ndp_got_add(got, p->skb, (struct ndp_part_cb) {
			.offset = p->h.data.offset, .memory = memory,
			.len = p->skb->len, .seg = p->skb->len,
		});
		p->skb = NULL;
		if (!memory)
			WRITE_ONCE(ns->lent, got);
	}
	ns->bytes_received += p->h.payload_len;
	if (v == NDP_RCV_WHOLE) {
		ns->msgs_received++;
		ns->msgs_placed += got->slots > 0;
	}
	if (rx->line)
		ndp_line_add(rx, got, &p->h);
	/* what is lent is to be read at once */
	return ndp_got_queue(ns, got, ns->lent == got);
}

/*
 * A packet that is whole. Return: what it was; NDP_RCV_VERDICTS: it is lost;
 * *@news: something for readers
 */
static enum ndp_rcv_verdict ndp_rx_data(struct ndp_rx *rx, struct ndp_packet *p, u64 now,
					bool *news)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	u32 memory = 0;
	struct ndp_got *got = ndp_rx_prepare(rx, p, &memory);
	bool fresh = !IS_ERR_OR_NULL(got) && !got->rx;
	struct ndp_rcv_msg *m = fresh ? &got->core : NULL;
	enum ndp_rcv_verdict v;
	u64 max;

	if (IS_ERR(got)) {
		ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
		return NDP_RCV_VERDICTS;
	}
	ndp_rx_limit(ns, rx, memory);
	max = ns->rcv_params.memory_max;
	if (!got) {
		/* then there is no room */
		ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
		max = 0;
	}
	/* what is placed has its room already, and what is lent is not asked for it */
	ns->rcv_params.memory_max = got && (got->slots || !memory) ? U64_MAX / 4 : max;
	v = ndp_rcv_packet(&ns->rcv, &rx->f, &p->h, got ? memory : 1, now, &m);
	ns->rcv_params.memory_max = max;
	if (v == NDP_RCV_PART || v == NDP_RCV_WHOLE) {
		*news = ndp_rx_keep(rx, p, got, v, memory);
		return v;
	}
	if (memory)
		ndp_mem_uncharge(rx->sk, memory, SK_MEM_RECV);
	if (fresh)
		ndp_rx_undo(ns, got);
	return v;
}

/* Packets come by another device than before: there they are pulled from now on. */
static void ndp_rx_move(struct ndp_rx *rx, const struct ndp_packet *p)
{
	struct ndp_host *old = rx->host, *host;
	int id;

	if (likely(old->ifindex == p->ifindex && !READ_ONCE(old->dead)))
		return;
	host = ndp_rx_host(p, &id);
	if (!host)
		return;
	ndp_host_leave(old, &rx->f.pull, false);
	ndp_host_put(old);
	rx->host = host;
	ndp_host_join(host, &rx->f.pull, id);
}

static void ndp_rx_told(struct ndp_sock *ns, struct ndp_rx *rx, const struct ndp_hdr *answer)
{
	ns->pulls_sent += answer->ctl.pull - rx->told;
	rx->told = answer->ctl.pull;
}

/*
 * Is a flow to wait for others of its socket? Not that of the message that is being read, nor
 * those of which nobody knows what memory they need: what is placed in a region takes none.
 */
static bool ndp_rx_yields(struct ndp_rx *rx, const struct ndp_hdr *h, enum ndp_rcv_verdict v,
			  u64 now)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	bool yields;

	if (ns->region)
		return v == NDP_RCV_NO_ROOM ||
		       (v > NDP_RCV_WHOLE && !list_empty(&rx->held_node));
	yields = ndp_rcv_yields(&ns->rcv, &rx->f, h, v, now);
	/* a message of it is whole: those that wait are next, when that is read */
	if (v == NDP_RCV_WHOLE && rx->f.reserved && !list_empty(&ns->held) &&
	    ndp_got_next(ns)) {
		ndp_rcv_reserve(&ns->rcv, &rx->f, 0);
		yields = true;
	}
	return yields && (v == NDP_RCV_NO_ROOM || !ns->reading || ns->reading->rx != rx);
}

/**
 * ndp_rx_respond() - a packet is to be answered
 * @rx: flow
 * @p: packet
 * @v: what it was
 * @now: the time
 * @at_once: with all that was not answered yet
 * @answer: result, if it goes out now; else it goes with that to packets that are right behind,
 *	and ndp_owed_run() has to follow
 *
 * Under rcv_lock.
 */
void ndp_rx_respond(struct ndp_rx *rx, const struct ndp_packet *p, enum ndp_rcv_verdict v, u64 now,
		    bool at_once, struct ndp_hdr *answer)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	bool yields = ndp_rx_yields(rx, &p->h, v, now), pull;

	ndp_rx_move(rx, p);
	pull = ndp_host_wish(rx->host, &rx->f, &p->h, v, yields, now);
	if (!yields) {
		list_del_init(&rx->held_node);
	} else if (list_empty(&rx->held_node)) {
		rx->held_ns = now;
		list_add_tail(&rx->held_node, &ns->held);
	}
	ndp_rx_set_missing(rx, !ndp_rcv_has_all(&rx->f));
	if (at_once)
		ndp_rcv_answer(&ns->rcv, &rx->f, &p->h, v, pull, p->dsfield, answer);
	else
		ndp_rcv_reply(&ns->rcv, &rx->f, &p->h, v, pull, p->dsfield, answer);
	if (answer->type)
		ndp_rx_told(ns, rx, answer);
	if (rx->f.owed.count)
		ndp_owed_add(rx);
}

/*
 * There was no room for a packet. A reader who waits for this flow may go on with another
 * message. And if all others of the flow wait for this packet, and there is nothing to be
 * read, then messages that are not whole have all the memory: they are read by and by, be
 * they short. If they are in order, the one that others wait for may have to make room.
 * Return: is there something to be read now?
 */
static bool ndp_rx_refused(struct ndp_rx *rx, const struct ndp_hdr *h,
			   struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	bool readable = ndp_got_next(ns);
	struct ndp_rcv_msg *m;
	u32 i;

	if (ns->reading ? ns->reading->rx != rx : readable)
		return false;
	if (h->seq == rx->f.got.base && !readable)
		for (i = 0; i < NDP_RCV_BUCKETS; i++)
			for (m = rx->f.bucket[i]; m; m = m->chain)
				ndp_got_queue(ns, container_of(m, struct ndp_got, core), true);
	if (h->seq == rx->f.got.base && rx->line && !ndp_got_next(ns) &&
	    ns->rcv.first == &rx->f && ns->rcv.partial > ndp_rx_memory(ns))
		ndp_line_yield(rx, garbage);
	return ndp_got_next(ns);
}

/* A packet of a message that was given up by us, or by its sender */
static void ndp_rx_deny(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	ndp_answer(&p->h, NDP_ERROR, answer);
	answer->err.code = NDP_CODE_MSG_SIZE;
	answer->err.msg_id = p->h.data.msg_id;
}

/* Under rcv_lock. Return: is there news for readers? */
static bool ndp_rx_take(struct ndp_rx *rx, struct ndp_packet *p, struct ndp_hdr *answer,
			struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m = NULL;
	u64 now = ktime_get_ns();
	enum ndp_rcv_verdict v;
	bool news = false;

	if (p->h.type == NDP_DATA && !ndp_is_trimmed(&p->h)) {
		v = ndp_rx_data(rx, p, now, &news);
	} else {
		ndp_rx_limit(ns, rx, 0);
		v = ndp_rcv_packet(&ns->rcv, &rx->f, &p->h, 0, now, &m);
	}
	if (v < NDP_RCV_FAR)
		/* now, if readers are to be woken: softirqs may have to wait for them then */
		ndp_rx_respond(rx, p, v, now, news, answer);
	else if (v == NDP_RCV_BAD_ID && rx->line)
		ndp_rx_deny(p, answer);
	if (rx->line)
		news |= ndp_line_run(rx, garbage);
	return v == NDP_RCV_NO_ROOM ? ndp_rx_refused(rx, &p->h, garbage) : news;
}

/**
 * ndp_rx_freed() - has a reservation ended, so that ndp_rx_room() has to follow?
 * @ns: socket
 *
 * Under rcv_lock; it is told once.
 *
 * Return: true if so.
 */
bool ndp_rx_freed(struct ndp_sock *ns)
{
	bool freed = ns->rcv.freed && !list_empty(&ns->held);

	ns->rcv.freed = false;
	return freed;
}

/* Return: the flow; NULL: none. *@news: there is some for the readers of its socket */
static struct ndp_rx *ndp_rx_packet(struct ndp_packet *p, struct ndp_hdr *answer, bool *news)
{
	LIST_HEAD(garbage);
	struct ndp_rx *rx;
	bool dead, freed;

	do {
		rx = ndp_rx_find(p, answer);
		if (!rx || !ndp_rx_wanted(rx->sk, p))
			return rx;
		spin_lock(&ndp_sk(rx->sk)->rcv_lock);
		/* the next look does not find it any more */
		dead = rx->dead;
		if (!dead)
			*news = ndp_rx_take(rx, p, answer, &garbage);
		freed = ndp_rx_freed(ndp_sk(rx->sk));
		spin_unlock(&ndp_sk(rx->sk)->rcv_lock);
	} while (unlikely(dead));
	if (!list_empty(&garbage)) {
		ndp_rx_free_all(rx->sk, &garbage);
		freed = true;
	}
	if (freed)
		ndp_rx_room(rx->sk);
	return rx;
}

/**
 * ndp_rx_input() - DATA or PROBE came
 * @p: packet; its skb is taken over
 *
 * Under RCU, with bottom halves off, without locks.
 */
void ndp_rx_input(struct ndp_packet *p)
{
	struct ndp_hdr answer = { .type = 0 };
	struct ndp_rx *rx;
	bool news = false;

	rx = ndp_rx_packet(p, &answer, &news);
	if (answer.type && rx)
		ndp_out_answer(rx->peer, &answer);
	else if (answer.type)
		ndp_out_reply(p, &answer);
	consume_skb(p->skb);
	ndp_owed_run(news);
	if (news)
		rx->sk->sk_data_ready(rx->sk);
}

/**
 * ndp_rx_settle() - no more packets are there to be looked at
 * @rx: flow, which its CPU does not have in its list any more
 *
 * Those that have not been answered are. Under RCU, with bottom halves off, without locks.
 */
void ndp_rx_settle(struct ndp_rx *rx)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_hdr h;
	bool owed = false;

	spin_lock(&ns->rcv_lock);
	rx->owed_at = NULL;
	if (!rx->dead) {
		ndp_rx_limit(ns, rx, 0);
		owed = ndp_rcv_settle(&ns->rcv, &rx->f, &h);
	}
	if (owed) {
		h.flow_id = rx->key.flow_id;
		ndp_rx_told(ns, rx, &h);
	}
	spin_unlock(&ns->rcv_lock);
	if (owed)
		ndp_out_answer(rx->peer, &h);
}

/* ---- on our own ---- */

/*
 * A CONTROL that answers nothing, unless there are packets that have not been answered. Under
 * RCU, without locks
 */
static void ndp_rx_say(struct ndp_rx *rx, u8 flags)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_hdr h = { .type = NDP_CONTROL };
	bool dead;

	spin_lock_bh(&ns->rcv_lock);
	dead = rx->dead;
	if (!dead) {
		ndp_rx_limit(ns, rx, 0);
		if (!ndp_rcv_settle(&ns->rcv, &rx->f, &h))
			ndp_rcv_control(&ns->rcv, &rx->f, &h);
		h.flags |= flags;
		h.flow_id = rx->key.flow_id;
		ndp_rx_told(ns, rx, &h);
	}
	spin_unlock_bh(&ns->rcv_lock);
	if (!dead)
		ndp_out_answer(rx->peer, &h);
}

/**
 * ndp_rx_pull() - a flow was pulled by the pacer
 * @rx: flow
 *
 * Under RCU, without locks.
 */
void ndp_rx_pull(struct ndp_rx *rx)
{
	ndp_rx_say(rx, NDP_CTL_PULL);
}

static void ndp_rx_resume(struct ndp_rx *rx)
{
	list_del_init(&rx->held_node);
	ndp_host_resume(rx->host, &rx->f.pull);
}

/*
 * Flows that are held may send again: the one whose message is being read; if there is room to
 * speak of, those for which there is enough, and that which waits for longest when it has waited
 * for too long; if nothing else will make some, all. Return: how many
 */
static u32 ndp_rx_resume_some(struct ndp_sock *ns, struct ndp_rx **some)
{
	struct ndp_rx *rx = ns->reading ? ns->reading->rx : NULL;
	u64 max = ndp_rx_memory(ns), now = ktime_get_ns();
	bool room = ns->rcv.partial + ns->rcv.unread <= max - max / 4;
	bool all = room || (!ns->rcv.unread && !ns->reading);
	u32 count = 0;

	if (rx && !list_empty(&rx->held_node)) {
		ndp_rx_resume(rx);
		some[count++] = rx;
	}
	while (all && count < NDP_RX_BATCH && !list_empty(&ns->held)) {
		rx = list_first_entry(&ns->held, struct ndp_rx, held_node);
		ndp_rx_limit(ns, rx, 0);
		if (room && !ns->region && now - rx->held_ns < NDP_RX_HELD_NS &&
		    !ndp_rcv_may_go_on(&ns->rcv, &rx->f, now))
			break;
		ndp_rx_resume(rx);
		some[count++] = rx;
	}
	return count;
}

/**
 * ndp_rx_room() - messages were read, or thrown away
 * @sk: socket
 *
 * Senders that were told that there is no room are told that there is. Not under locks
 * that softirqs take.
 */
void ndp_rx_room(struct sock *sk)
{
	struct ndp_rx *some[NDP_RX_BATCH];
	struct ndp_sock *ns = ndp_sk(sk);
	u32 i, count;

	if (list_empty(&ns->held))
		return;
	do {
		rcu_read_lock();
		spin_lock_bh(&ns->rcv_lock);
		count = ndp_rx_resume_some(ns, some);
		spin_unlock_bh(&ns->rcv_lock);
		for (i = 0; i < count; i++)
			ndp_rx_say(some[i], 0);
		rcu_read_unlock();
	} while (count == NDP_RX_BATCH);
}
