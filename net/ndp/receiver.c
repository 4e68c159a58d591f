// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: receiving flows: packets, answers, and flows that wait for room
 *
 *	DATA, PROBE -> ndp_rcv_packet() -> ndp_pacer_demand() -> ndp_rcv_reply() -> CONTROL
 *	                    |                     |                   |               ^
 *	                    v                     v                   v               |
 *	              message's packets     pull queue of the    deferred answers ----+
 *	                    |               device
 *	                    v
 *	                 recvmsg() -> room: flows that wait
 *
 * rx_ride.c: ACKs that need no CONTROL.
 *
 * Room (rmem.h). A flow that was refused waits, if its sender is verified:
 *
 *	            refused              room                    its message begins
 *	+--------+ --------> +---------+ ------> +----------+ --------------------> +--------+
 *	| active |           | waiting |         | promised |                       | active |
 *	+--------+           +---------+         +----------+ --------------------> +--------+
 *	                                              3 RTO without its message
 *
 * When there is room for the first waiting flow, it gets a reservation (promise) and a CONTROL with
 * ROOM. While flows wait, a timer runs once per RTO. It sends a PING, which demands a PROBE, to
 * flows with messages in progress that were silent for an RTO; for longer if they have answered
 * PINGs and sent no part of a message, because they may wait for a reader or a pull. Three RTO
 * after a PING without an answer, the unused part of the reservations ends, and the kept packets
 * are set aside; after NDP_RX_EVICT_NS and as many PINGs as NDP_RX_PINGS_MIN the messages end. So a
 * dead sender does not block other senders, and a lost PING or PROBE does no harm. The same timer
 * lets a reader leave the message of a silent sender. Until its sender is verified, a flow counts
 * as silent whatever it sends.
 */
#include <linux/filter.h>
#include "ndp.h"
#include "rx_ride.h"

/*
 * Silence after which incomplete messages are given up if flows wait for their memory: twice the
 * longest timeout of a sender. A busy host may stall for 100 ms.
 */
#define NDP_RX_EVICT_NS		NSEC_PER_SEC
/* PINGs before that: a host that has stalled sends them first */
#define NDP_RX_PINGS_MIN	16
/* doublings of the time until a flow that has answered gets the next PING: 32 ms */
#define NDP_RX_CALM_MAX		5
/* longest interval of the timer, without changes */
#define NDP_RX_TICK_MAX_NS	(32 * NSEC_PER_MSEC)

/* larger SO_RCVBUF has no effect: struct ndp_claim has 32 bits */
#define NDP_RCVBUF_MAX		536870912

/* ---- packets ---- */

static u32 ndp_rcvbuf(const struct sock *sk)
{
	return min_t(u32, READ_ONCE(sk->sk_rcvbuf), NDP_RCVBUF_MAX);
}

/*
 * Would memory be short with a packet, and does it take much more than its payload? One in tiny
 * fragments may take megabytes, and the limit is at least four of the largest packets.
 */
static bool ndp_rx_is_wasteful(const struct ndp_sock *ns, const struct ndp_packet *p)
{
	return 2 * (ns->rcv.mem.used + p->skb->truesize) >= ns->rcv.mem.limit &&
	       p->skb->truesize > 2 * SKB_TRUESIZE(p->skb->len);
}

/* Copy a wasteful packet. Return: false if there is no memory */
static bool ndp_rx_shrink(const struct ndp_sock *ns, struct ndp_packet *p)
{
	u32 len = p->skb->len;
	struct sk_buff *copy;

	if (!ndp_rx_is_wasteful(ns, p))
		return true;
	copy = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return false;
	if (skb_copy_bits(p->skb, 0, skb_put(copy, (int)len), (int)len)) {
		kfree_skb(copy);
		return false;
	}
	consume_skb(p->skb);
	p->skb = copy;
	return true;
}

/*
 * Do the filters of the socket, its cgroup and security modules accept a packet? They see it from
 * its UDP header on. Packets are kept whole, whatever length a filter returns.
 */
static bool ndp_rx_is_wanted(struct sock *sk, struct ndp_packet *p)
{
	struct sk_buff *skb = p->skb;
	bool wanted;
	u32 headers;

	if (p->h.type != NDP_DATA || ndp_is_trimmed(&p->h))
		return true;
	headers = (u32)-skb_transport_offset(skb);
	__skb_push(skb, headers);
	wanted = !sk_filter_trim_cap(sk, skb, skb->len);
	__skb_pull(skb, headers);
	/* packets of a batch are asked about again */
	if (!wanted && !p->packets) {
		atomic_inc(&sk->sk_drops);
		ndp_count(p->nn, NDP_N_IN_FILTERED);
	}
	return wanted;
}

static void ndp_rx_unused(struct ndp_sock *ns, struct ndp_rx_msg *rm)
{
	if (rm->slots)
		ndp_region_return(ns, rm);
	kfree(rm);
}

/*
 * The message of a packet, or memory for a new one. Return: NULL: not needed; -ENOMEM
 */
static struct ndp_rx_msg *ndp_rx_prepare(struct ndp_rx *rx, struct ndp_packet *p)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m;
	struct ndp_rx_msg *rm;

	if (p->h.is_short || p->h.type != NDP_DATA)
		return NULL;
	m = ndp_rcv_find(&rx->f, p->h.data.msg_id);
	if (m)
		return container_of(m, struct ndp_rx_msg, core);
	if (ndp_is_trimmed(&p->h) && p->h.payload_len == p->h.data.msg_len)
		return NULL;
	rm = ndp_rx_msg_alloc(p);
	if (!rm)
		return ERR_PTR(-ENOMEM);
	ndp_region_take(ns, rm, p->h.data.msg_len);
	return rm;
}

/* Keep the payload of a packet or a batch. */
static void ndp_rx_keep(struct ndp_rx *rx, struct ndp_packet *p, struct ndp_rx_msg *rm)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_part_cb part = {
		.offset = p->h.data.offset, .memory = p->skb->truesize, .len = ndp_packet_len(p),
	};

	if (p->packets) {
		part.segment = p->h.payload_len;
		part.hlen = (u16)ndp_hdr_len(&p->h);
		__skb_pull(p->skb, sizeof(struct udphdr) + part.hlen);
	}
	ns->bytes_received += part.len;
	if (rm->slots) {
		ndp_region_copy(ns, rm, p->skb, &part);
		return;
	}
	ndp_rx_msg_add(rm, p->skb, part);
	p->skb = NULL;
}

/* A packet was kept. @whole: all of its message is there */
static void ndp_rx_kept(struct ndp_rx *rx, struct ndp_packet *p, struct ndp_rx_msg *rm, bool whole)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);

	ndp_rx_keep(rx, p, rm);
	rx->calm = 0;
	if (!whole)
		return;
	ns->msgs_received++;
	ns->msgs_placed += rm->slots > 0;
	if (!ndp_is_ordered(rx->sk))
		rm->rx = NULL;
}

/* More of a message can be read, or it is read in parts from now on. Return: is it news? */
static bool ndp_rx_publish(struct ndp_rx *rx, struct ndp_rx_msg *rm, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);

	if (!ndp_is_ordered(rx->sk))
		return ndp_rx_msg_queue(ns, rm);
	ndp_rx_deliver(rx, garbage);
	return ndp_rx_msg_next(ns);
}

/* Pass a packet or a batch to the core. Return: verdict; NDP_RCV_VERDICTS: not as a batch */
static enum ndp_rcv_verdict ndp_rx_judge(struct ndp_rx *rx, const struct ndp_packet *p,
					 const struct ndp_rcv_pkt *pkt, struct ndp_rcv_msg **m)
{
	struct ndp_rcv *r = &ndp_sk(rx->sk)->rcv;

	/* single packets are copied */
	if (pkt->last && pkt->memory && ndp_rx_is_wasteful(ndp_sk(rx->sk), p)) {
		*m = NULL;
		return NDP_RCV_VERDICTS;
	}
	ndp_rmem_set_limit(&r->mem, ndp_rcvbuf(rx->sk),
			   ndp_rcv_memory(pkt) + pkt->descriptor);
	return pkt->last ? ndp_rcv_batch(r, &rx->f, pkt, m) : ndp_rcv_packet(r, &rx->f, pkt, m);
}

/*
 * Process DATA or PROBE. *@news: for readers. Return: verdict; NDP_RCV_VERDICTS: no memory, or the
 * packets of a batch are to be processed one by one
 */
static enum ndp_rcv_verdict ndp_rx_process(struct ndp_rx *rx, struct ndp_packet *p, u64 now,
					   bool *news, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rx_msg *rm = ndp_rx_prepare(rx, p);
	struct ndp_rcv_pkt pkt = {
		.h = &p->h, .last = p->packets ? &p->last : NULL, .now_ns = now,
	};
	bool fresh, whole = !ndp_is_trimmed(&p->h) && p->h.type == NDP_DATA;
	struct ndp_rcv_msg *m;
	enum ndp_rcv_verdict v;

	if (IS_ERR(rm)) {
		ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
		return NDP_RCV_VERDICTS;
	}
	fresh = rm && !rm->rx;
	if (whole && !rm->slots) {
		if (!p->packets && !ndp_rx_shrink(ns, p)) {
			ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
			if (fresh)
				ndp_rx_unused(ns, rm);
			return NDP_RCV_VERDICTS;
		}
		pkt.memory = p->skb->truesize;
	}
	if (fresh)
		pkt.descriptor = sizeof(*rm);
	pkt.placed = rm && rm->slots;
	pkt.first = !list_empty(&rx->wait_node) &&
		    list_first_entry_or_null(&ns->waiting, struct ndp_rx, wait_node) == rx;
	m = fresh ? &rm->core : NULL;
	v = ndp_rx_judge(rx, p, &pkt, &m);
	if (m && fresh && m == &rm->core)
		rm->rx = rx;
	if (v <= NDP_RCV_WHOLE)
		ndp_rx_kept(rx, p, rm, v == NDP_RCV_WHOLE);
	if (v <= NDP_RCV_WHOLE || (v == NDP_RCV_FULL && m))
		*news = ndp_rx_publish(rx, rm, garbage);
	else if (fresh && !rm->rx)
		ndp_rx_unused(ns, rm);
	return v;
}

/* Packets arrive by another device: the flow is pulled there. */
static void ndp_rx_move(struct ndp_rx *rx, const struct ndp_packet *p)
{
	struct ndp_pacer *old = rx->pacer, *pacer;

	if (likely(rx->ifindex == p->ifindex && !READ_ONCE(old->dead)))
		return;
	pacer = ndp_pacer_get(p->nn, p->ifindex);
	if (!pacer)
		return;
	rx->ifindex = p->ifindex;
	ndp_pacer_leave(old, rx, false);
	ndp_pacer_join(pacer, rx);
	ndp_pacer_put(old);
}

/* A CONTROL is sent. The messages of a flow that is second wait for the token, so ask for it. */
static void ndp_rx_told(struct ndp_rx *rx, struct ndp_hdr *answer)
{
	if (ndp_rx_is_second(rx))
		answer->flags |= NDP_CTL_PING;
	ndp_sk(rx->sk)->pulls_sent += answer->ctl.pull - rx->reported;
	rx->reported = answer->ctl.pull;
	rx->reported_trimmed = answer->ctl.trimmed;
	rx->reported_room = answer->ctl.window && answer->flags & NDP_CTL_ROOM;
}

/* May a flow not be pulled? Its next packets would find no room. */
static bool ndp_rx_is_held(struct ndp_rx *rx)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m;
	u32 i;

	if (!rx->f.windows)
		return false;
	for (i = 0; i < NDP_RCV_BUCKETS; i++)
		hlist_for_each_entry(m, &rx->f.bucket[i], chain)
			if (ndp_rcv_is_narrow(&ns->rcv, m))
				return true;
	return false;
}

/*
 * Move a flow between the lists @waiting and @promised of its socket. An unverified sender may not
 * exist; one that does returns the token with the PROBE that it sends after a timeout.
 */
static void ndp_rx_wait(struct ndp_rx *rx, u64 now)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	bool promised = rx->f.promise.bytes;

	/* one that needed more than its promise waits again, at the end */
	if (rx->f.need && rx->f.is_verified && !promised &&
	    (rx->promised_ns || list_empty(&rx->wait_node)))
		list_move_tail(&rx->wait_node, &ns->waiting);
	else if (!rx->f.need && !promised)
		list_del_init(&rx->wait_node);
	if (!promised)
		rx->promised_ns = 0;
	WRITE_ONCE(ns->rcv.mem.waiting, !list_empty(&ns->waiting));
	if (!list_empty(&rx->wait_node))
		ndp_rx_watch(ns);
}

/* Answer a batch at once. */
static void ndp_rx_respond_batch(struct ndp_rx *rx, const struct ndp_packet *p,
				 enum ndp_rcv_verdict v, u64 now, struct ndp_hdr *answer)
{
	const struct ndp_rcv_pkt pkt = { .h = &p->h, .last = &p->last, .now_ns = now };
	bool pull = ndp_pacer_demand_batch(rx, &pkt, ndp_rx_is_held(rx));

	ndp_rx_set_missing(rx, !ndp_rcv_has_all(&rx->f));
	ndp_rcv_answer(&ndp_sk(rx->sk)->rcv, &rx->f, &p->last, v, pull, p->dsfield, answer);
	ndp_rx_told(rx, answer);
}

/* Answer a packet, or defer the answer: then @answer has no type. */
static void ndp_rx_respond(struct ndp_rx *rx, const struct ndp_packet *p, enum ndp_rcv_verdict v,
			   u64 now, struct ndp_hdr *answer)
{
	const struct ndp_rcv *r = &ndp_sk(rx->sk)->rcv;
	bool pull;

	if (rx->f.is_verified)
		rx->asked_ns = 0;
	ndp_rx_move(rx, p);
	ndp_rx_wait(rx, now);
	if (p->packets) {
		ndp_rx_respond_batch(rx, p, v, now, answer);
		return;
	}
	pull = ndp_pacer_demand(rx, &p->h, v, ndp_rx_is_held(rx), now);
	ndp_rx_set_missing(rx, !ndp_rcv_has_all(&rx->f));
	if (ndp_ride_offer(rx, p, v, now))
		return;
	if (ndp_rcv_reply(r, &rx->f, &p->h, v, pull, p->dsfield, answer) &&
	    answer->type == NDP_CONTROL)
		ndp_rx_told(rx, answer);
	if (rx->f.deferred.count)
		ndp_pacer_defer(rx, NDP_DEFER_MORE, false, now);
}

/* Under rx_lock. *@news: for readers. Return: verdict, as ndp_rx_process() */
static enum ndp_rcv_verdict ndp_rx_take(struct ndp_rx *rx, struct ndp_packet *p,
					struct ndp_hdr *answer, bool *news,
					struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m;
	u64 now = ktime_get_ns();
	enum ndp_rcv_verdict v;
	bool ended = false, verified = rx->f.is_verified;

	v = ndp_rx_process(rx, p, now, news, garbage);
	while ((m = ndp_rcv_take_over(&ns->rcv, &rx->f))) {
		ndp_rx_fail(ns, container_of(m, struct ndp_rx_msg, core), ECONNRESET, garbage);
		ended = true;
	}
	if (v < NDP_RCV_OUT_OF_WINDOW)
		ndp_rx_respond(rx, p, v, now, answer);
	ended |= rx->f.is_verified != verified;
	if (ended && ndp_is_ordered(rx->sk))
		ndp_rx_deliver(rx, garbage);
	*news = *news || (ended && ndp_rx_msg_next(ns));
	return v;
}

/* Free messages, whose room others may wait for. */
static void ndp_rx_forget(struct sock *sk, struct list_head *garbage)
{
	if (list_empty(garbage))
		return;
	ndp_rx_free_all(sk, garbage);
	ndp_rx_room(sk);
}

/* Return: the flow, or NULL. *@news: for the readers of its socket */
static struct ndp_rx *ndp_rx_packet(struct ndp_packet *p, struct ndp_hdr *answer, bool *news)
{
	LIST_HEAD(garbage);
	struct ndp_rx *rx;
	bool dead;

	do {
		rx = ndp_rx_find(p, answer);
		if (!rx || !ndp_rx_is_wanted(rx->sk, p))
			return rx;
		spin_lock(&ndp_sk(rx->sk)->rx_lock);
		/* the next lookup does not find a dead one */
		dead = rx->dead;
		if (!dead)
			ndp_rx_take(rx, p, answer, news, &garbage);
		spin_unlock(&ndp_sk(rx->sk)->rx_lock);
	} while (unlikely(dead));
	ndp_rx_forget(rx->sk, &garbage);
	return rx;
}

/**
 * ndp_rx_input() - process DATA or PROBE
 * @p: packet; its skb is consumed
 *
 * Under RCU, with softirqs disabled, without locks.
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
	if (news)
		rx->sk->sk_data_ready(rx->sk);
	if (rx && ndp_carries_ack(&p->h))
		ndp_tx_carried(p, rx->sk);
}

/**
 * ndp_rx_input_batch() - process a batch of DATA at once
 * @p: batch whose packets join each other, see ndp_hdr_join(); the first header is linear
 *
 * A socket filter decides about each packet, so a socket with one gets single packets. Under RCU,
 * with softirqs disabled, without locks.
 *
 * Return: true if its skb was consumed; false: the packets are to be processed one by one.
 */
bool ndp_rx_input_batch(struct ndp_packet *p)
{
	enum ndp_rcv_verdict v = NDP_RCV_VERDICTS;
	struct ndp_rx *rx = ndp_rx_lookup(p);
	struct ndp_hdr answer = { .type = 0 };
	bool news = false;
	LIST_HEAD(garbage);

	if (!rx || rcu_access_pointer(rx->sk->sk_filter) || !ndp_rx_is_wanted(rx->sk, p))
		return false;
	spin_lock(&ndp_sk(rx->sk)->rx_lock);
	if (!rx->dead)
		v = ndp_rx_take(rx, p, &answer, &news, &garbage);
	spin_unlock(&ndp_sk(rx->sk)->rx_lock);
	ndp_rx_forget(rx->sk, &garbage);
	if (answer.type)
		ndp_out_answer(rx->peer, &answer);
	if (news)
		rx->sk->sk_data_ready(rx->sk);
	if (v == NDP_RCV_VERDICTS)
		return false;
	consume_skb(p->skb);
	if (ndp_carries_ack(&p->h))
		ndp_tx_carried(p, rx->sk);
	return true;
}

/* ---- CONTROL without a packet ---- */

/**
 * ndp_rx_say() - send the state of a flow and its deferred answer
 * @rx: flow
 * @flags: reason: NDP_CTL_PULL, NDP_CTL_PING, or NDP_CTL_ROOM; 0: only a deferred answer is sent
 *
 * Under RCU, without locks.
 */
void ndp_rx_say(struct ndp_rx *rx, u8 flags)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_hdr h = { .type = NDP_CONTROL };
	bool say = false;

	spin_lock_bh(&ns->rx_lock);
	if (!rx->dead) {
		ndp_ride_end(rx, !flags);
		say = ndp_rcv_settle(&ns->rcv, &rx->f, &h);
		if (!say && flags) {
			ndp_rcv_control(&ns->rcv, &rx->f, &h);
			say = true;
		}
	}
	if (say) {
		h.flags |= flags & (NDP_CTL_PULL | NDP_CTL_PING);
		h.flow_id = rx->key.flow_id;
		ndp_rx_told(rx, &h);
	}
	spin_unlock_bh(&ns->rx_lock);
	if (say)
		ndp_out_answer(rx->peer, &h);
}

/* ---- room ---- */

/* Promise room to flows that wait, the first one first. Return: number of flows in @woken */
static u32 ndp_rx_promise(struct ndp_sock *ns, struct ndp_rx **woken, u64 now)
{
	struct ndp_rmem *mem = &ns->rcv.mem;
	struct ndp_rx *rx;
	u32 count = 0;

	while (count < NDP_RX_BATCH) {
		rx = list_first_entry_or_null(&ns->waiting, struct ndp_rx, wait_node);
		if (!rx)
			break;
		ndp_rmem_end(mem, &rx->f.promise);
		if (!ndp_rmem_reserve(mem, &rx->f.promise, rx->f.need, 0, NDP_RESERVE_FIRST))
			break;
		rx->f.need = 0;
		rx->promised_ns = now;
		list_move_tail(&rx->wait_node, &ns->promised);
		ndp_pacer_resume(rx);
		woken[count++] = rx;
	}
	WRITE_ONCE(mem->waiting, !list_empty(&ns->waiting));
	return count;
}

/* The flow of the message that is read may be pulled again. */
static struct ndp_rx *ndp_rx_reopen(struct ndp_sock *ns)
{
	struct ndp_rx *rx = ns->reading ? ns->reading->rx : NULL;

	if (!rx || !rx->f.windows || READ_ONCE(rx->f.pull.allowed) || ndp_rx_is_held(rx))
		return NULL;
	ndp_pacer_resume(rx);
	return rx;
}

static void ndp_rx_make_room(struct ndp_sock *ns)
{
	struct ndp_rx *woken[NDP_RX_BATCH + 1];
	struct ndp_rx *rx;
	u32 i, count;

	do {
		rcu_read_lock();
		spin_lock_bh(&ns->rx_lock);
		count = ndp_rx_promise(ns, woken, ktime_get_ns());
		rx = ndp_rx_reopen(ns);
		if (rx)
			woken[count++] = rx;
		spin_unlock_bh(&ns->rx_lock);
		for (i = 0; i < count; i++)
			ndp_rx_say(woken[i], NDP_CTL_ROOM);
		rcu_read_unlock();
	} while (count >= NDP_RX_BATCH);
}

/**
 * ndp_rx_room() - messages of a socket were read or dropped
 * @sk: socket
 *
 * Promises room to flows that wait. Without locks; @sk's rx_lock was held since then.
 */
void ndp_rx_room(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);

	/* distributions' kernels initialize arrays of a function on entry */
	if (READ_ONCE(ns->rcv.mem.waiting) || READ_ONCE(ns->reading))
		ndp_rx_make_room(ns);
}

/* ---- silent senders ---- */

/* Is a sender silent? Return: true if it is to get a PING */
static bool ndp_rx_check(struct ndp_rx *rx, u64 now, struct list_head *garbage)
{
	u64 heard_ns = rx->f.is_verified ? rx->f.last_ns : rx->opened_ns;
	struct ndp_sock *ns = ndp_sk(rx->sk);

	if (!rx->f.msgs || now - heard_ns < ndp_rx_rto(ns) << rx->calm)
		return false;
	if (!rx->asked_ns) {
		rx->asked_ns = now;
		rx->pings = 0;
		rx->calm = min(rx->calm + 1, NDP_RX_CALM_MAX);
	}
	if (!list_empty(&ns->waiting) && ndp_rx_is_silent(rx))
		ndp_rcv_lapse(&ns->rcv, &rx->f);
	if (now - rx->asked_ns < NDP_RX_EVICT_NS || rx->pings < NDP_RX_PINGS_MIN) {
		rx->pings = min(rx->pings + 1, NDP_RX_PINGS_MIN);
		return true;
	}
	if (!list_empty(&ns->waiting)) {
		ndp_count(rx->peer->nn, NDP_N_RX_EVICTED);
		ndp_rx_evict(rx, ETIMEDOUT, garbage);
		ndp_rx_deliver_newer(rx, garbage);
	}
	return false;
}

/*
 * Check a batch of flows, and the next batch the next time; those of a closed socket end in their
 * order. Return: number of flows in @pinged
 */
static u32 ndp_rx_check_some(struct ndp_sock *ns, struct ndp_rx **pinged, u64 now,
			     struct list_head *garbage)
{
	struct ndp_rx *rx;
	u32 i, count = 0;

	for (i = 0; i < min(ns->flows, NDP_RX_BATCH) && !ns->closed; i++) {
		rx = list_first_entry(&ns->rx_list, struct ndp_rx, sock_node);
		list_move_tail(&rx->sock_node, &ns->rx_list);
		if (ndp_rx_check(rx, now, garbage))
			pinged[count++] = rx;
	}
	return count;
}

/* End promises that were not used, a batch at a time. */
static void ndp_rx_check_promises(struct ndp_sock *ns, u64 now)
{
	u64 most = NDP_RX_SILENT_RTOS * ndp_rx_rto(ns);
	struct ndp_rx *rx;
	u32 i;

	for (i = 0; i < NDP_RX_BATCH; i++) {
		rx = list_first_entry_or_null(&ns->promised, struct ndp_rx, wait_node);
		if (!rx || now - rx->promised_ns < most)
			break;
		ndp_rmem_end(&ns->rcv.mem, &rx->f.promise);
		list_del_init(&rx->wait_node);
		rx->promised_ns = 0;
		ndp_count(rx->peer->nn, NDP_N_RX_LAPSED);
	}
}

/* Under rx_lock. Return: true if the timer continues */
static bool ndp_rx_tick_again(struct ndp_sock *ns, bool changed)
{
	u64 rto = ndp_rx_rto(ns);

	if (ns->closed || (list_empty(&ns->waiting) && list_empty(&ns->promised) &&
			   !ndp_rx_reader_waits(ns))) {
		ns->tick_ns = 0;
		return false;
	}
	ns->tick_ns = changed || !list_empty(&ns->promised) ? rto :
		      min_t(u64, 2 * ns->tick_ns, max_t(u64, rto, NDP_RX_TICK_MAX_NS));
	hrtimer_forward_now(&ns->tick, ns_to_ktime(ns->tick_ns));
	return true;
}

/* Check promises and silent senders: struct ndp_sock's @tick */
static enum hrtimer_restart ndp_rx_tick(struct hrtimer *timer)
{
	struct ndp_sock *ns = container_of(timer, struct ndp_sock, tick);
	struct ndp_rx *pinged[NDP_RX_BATCH], *woken[NDP_RX_BATCH];
	u32 i, n_pinged = 0, n_woken = 0;
	struct sock *sk = &ns->inet.sk;
	u64 now = ktime_get_ns();
	LIST_HEAD(garbage);
	bool again, readable;

	rcu_read_lock();
	spin_lock(&ns->rx_lock);
	ndp_rx_check_promises(ns, now);
	n_pinged = ndp_rx_check_some(ns, pinged, now, &garbage);
	n_woken = ndp_rx_promise(ns, woken, now);
	readable = ndp_rx_msg_next(ns);
	again = ndp_rx_tick_again(ns, n_pinged || n_woken);
	spin_unlock(&ns->rx_lock);
	for (i = 0; i < n_pinged; i++)
		ndp_rx_say(pinged[i], NDP_CTL_PING);
	for (i = 0; i < n_woken; i++)
		ndp_rx_say(woken[i], NDP_CTL_ROOM);
	rcu_read_unlock();
	ndp_rx_free_all(sk, &garbage);
	if (readable)
		sk->sk_data_ready(sk);
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ---- ABORT, close(), garbage collection ---- */

/*
 * Is an ABORT from the flow's sender? Its seq is the sender's base, at most a window from ours. A
 * stranger has to guess that and flow_id.
 */
static bool ndp_rx_may_abort(const struct ndp_rx *rx, const struct ndp_hdr *h)
{
	return rx->f.sport == h->sport && rx->f.dport == h->dport &&
	       h->seq - rx->f.arrived.base + NDP_RCV_WINDOW <= 2 * NDP_RCV_WINDOW;
}

/* After messages of a socket were dropped */
static void ndp_rx_dropped(struct sock *sk, struct list_head *garbage)
{
	ndp_rx_free_all(sk, garbage);
	ndp_rx_room(sk);
	if (ndp_rx_msg_readable(ndp_sk(sk)))
		sk->sk_data_ready(sk);
}

/**
 * ndp_rx_error() - process an ERROR of a sender: it has given up a message
 * @p: ERROR, NDP_CODE_ABORT; its skb is freed
 *
 * Under RCU, with softirqs disabled, without locks.
 */
void ndp_rx_error(struct ndp_packet *p)
{
	struct ndp_rx *rx = ndp_rx_lookup(p);
	struct ndp_rcv_msg *m = NULL;
	bool valid = false;
	LIST_HEAD(garbage);
	struct ndp_sock *ns;

	consume_skb(p->skb);
	if (!rx)
		return;
	ns = ndp_sk(rx->sk);
	spin_lock(&ns->rx_lock);
	if (!rx->dead)
		valid = ndp_rx_may_abort(rx, &p->h);
	if (valid) {
		m = ndp_rcv_abort(&ns->rcv, &rx->f, p->h.err.msg_id);
		if (m)
			ndp_rx_fail(ns, ndp_rx_msg_of(m), ECONNRESET, &garbage);
		if (ndp_is_ordered(rx->sk))
			ndp_rx_deliver(rx, &garbage);
	}
	spin_unlock(&ns->rx_lock);
	if (!valid)
		ndp_count(p->nn, NDP_N_IN_NO_FLOW);
	else
		ndp_rx_dropped(rx->sk, &garbage);
}

/* Send deferred answers: otherwise messages that have arrived would fail at their senders. */
static void ndp_rx_settle(struct ndp_sock *ns)
{
	struct ndp_rx *rx, *due[NDP_RX_BATCH];
	u32 i, flows = 0, count = 0;

	rcu_read_lock();
	spin_lock_bh(&ns->rx_lock);
	WRITE_ONCE(ns->closed, true);
	list_for_each_entry(rx, &ns->rx_list, sock_node) {
		if (rx->f.deferred.count)
			due[count++] = rx;
		if (++flows == NDP_RX_BATCH)
			break;
	}
	spin_unlock_bh(&ns->rx_lock);
	for (i = 0; i < count; i++)
		ndp_rx_say(due[i], 0);
	rcu_read_unlock();
}

/**
 * ndp_rx_close() - close the receiving flows of a socket
 * @sk: socket without readers
 *
 * Process context.
 */
void ndp_rx_close(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	LIST_HEAD(garbage);
	bool more;
	u32 i;

	do {
		/* ends offers of ACKs for the flows that end below */
		ndp_rx_settle(ns);
		spin_lock_bh(&ns->rx_lock);
		for (i = 0; i < NDP_RX_BATCH && !list_empty(&ns->rx_list); i++)
			ndp_rx_end(list_first_entry(&ns->rx_list, struct ndp_rx, sock_node),
				   ECONNRESET, &garbage);
		more = !list_empty(&ns->rx_list);
		if (!more) {
			list_splice_tail_init(&ns->ready, &garbage);
			if (ns->reading)
				list_add_tail(&ns->reading->node, &garbage);
			ns->reading = NULL;
		}
		spin_unlock_bh(&ns->rx_lock);
		ndp_rx_free_all(sk, &garbage);
		cond_resched();
	} while (more);
	hrtimer_cancel(&ns->tick);
}

/* End a silent flow. Under RCU */
static void ndp_rx_age(struct ndp_rx *rx)
{
	struct sock *sk = rx->sk;
	struct ndp_sock *ns = ndp_sk(sk);
	LIST_HEAD(garbage);
	bool ended = false;

	spin_lock_bh(&ns->rx_lock);
	if (!rx->dead && ktime_get_ns() - rx->f.last_ns >= ns->rcv.time_wait_ns) {
		ndp_rx_end(rx, ETIMEDOUT, &garbage);
		ndp_rx_deliver_newer(rx, &garbage);
		ended = true;
	}
	spin_unlock_bh(&ns->rx_lock);
	if (ended)
		ndp_rx_dropped(sk, &garbage);
}

/**
 * ndp_rx_gc() - end silent flows
 * @nn: namespace
 *
 * Process context.
 *
 * Return: true if there are flows.
 */
bool ndp_rx_gc(struct ndp_net *nn)
{
	struct rhashtable_iter iter;
	struct ndp_rx *rx;
	u32 count = 0;

	rhashtable_walk_enter(&nn->rx, &iter);
	rhashtable_walk_start(&iter);
	while ((rx = rhashtable_walk_next(&iter))) {
		/* the table was resized, and the walk begins anew */
		if (IS_ERR(rx))
			continue;
		ndp_rx_age(rx);
		if (++count % NDP_RX_BATCH)
			continue;
		rhashtable_walk_stop(&iter);
		cond_resched();
		rhashtable_walk_start(&iter);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return atomic_read(&nn->rx_flows);
}

/* ---- sockets ---- */

/**
 * ndp_rx_info() - get the receiving counters of a socket
 * @sk: socket
 * @info: result, after ndp_tx_info()
 */
void ndp_rx_info(struct sock *sk, struct ndp_info *info)
{
	struct ndp_sock *ns = ndp_sk(sk);
	const u64 *verdicts = ns->rcv.verdicts;

	spin_lock_bh(&ns->rx_lock);
	info->peers += ns->flows;
	info->flows_receiving = ns->missing;
	info->msgs_receiving = ns->rcv.msgs;
	info->msgs_received = ns->msgs_received;
	info->bytes_received = ns->bytes_received;
	info->packets_received = verdicts[NDP_RCV_PART] + verdicts[NDP_RCV_WHOLE];
	info->trimmed_received = verdicts[NDP_RCV_TRIMMED];
	info->duplicates_received = verdicts[NDP_RCV_DUPLICATE];
	info->pulls_sent = ns->pulls_sent;
	ndp_region_info(ns, info);
	spin_unlock_bh(&ns->rx_lock);
}

/**
 * ndp_rx_init_sock() - initialize the receiving side of a socket
 * @ns: socket
 */
void ndp_rx_init_sock(struct ndp_sock *ns)
{
	INIT_LIST_HEAD(&ns->rx_list);
	INIT_LIST_HEAD(&ns->waiting);
	INIT_LIST_HEAD(&ns->promised);
	hash_init(ns->senders);
	INIT_LIST_HEAD(&ns->ready);
	INIT_LIST_HEAD(&ns->partial);
	hrtimer_setup(&ns->tick, ndp_rx_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}
