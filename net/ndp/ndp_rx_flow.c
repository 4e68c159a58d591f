// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: flows that are received, from their begin to their end
 *
 * A flow is found by its addresses and its name (flow_id), under RCU; it begins with a packet
 * that may open it (ndp_rcv_admit()): before that, nothing is kept of who sent it. It ends
 *	- with its socket,
 *	- when nothing has come of it for longer than its sender would go on.
 * Whoever has found it takes its socket's rcv_lock, and then sees whether it is @dead.
 * The socket itself is freed after an RCU grace period, too.
 */

#include <linux/random.h>
#include <linux/slab.h>
#include "ndp.h"

/* Flows that are dealt with until a lock is dropped */
#define NDP_RX_BATCH		64U
/* What the header of IPv6 has more than that of IPv4 */
#define NDP_RX_IP6_MORE		20
/* A cookie is good for 2^33 to 2^34 ns, 8.6 s to 17 s: senders give up after 5 s. */
#define NDP_RX_COOKIE_SHIFT	33
/* A peer may have a quarter of all flows; with half of all, new ones need a cookie. */
#define NDP_RX_PEER_SHARE	4
#define NDP_RX_COOKIE_SHARE	2

static const struct rhashtable_params ndp_rx_params = {
	.head_offset = offsetof(struct ndp_rx, node),
	.key_offset = offsetof(struct ndp_rx, key),
	.key_len = sizeof(struct ndp_rx_key),
	.automatic_shrinking = true,
};

static_assert(sizeof(struct ndp_rx_key) == sizeof(struct ndp_addrs) + sizeof(u32),
	      "a key, without holes");

/* ---- how a flow ends ---- */

/**
 * ndp_rx_fail() - a message will never be whole; the core does not know it any more
 * @ns: its socket
 * @m: the message
 * @error: why
 * @garbage: result: the message, if nobody knows of it
 *
 * A reader who has a part of it is told. Under rcv_lock.
 */
void ndp_rx_fail(struct ndp_sock *ns, struct ndp_rcv_msg *m, u8 error, struct list_head *garbage)
{
	struct ndp_got *got = container_of(m, struct ndp_got, core);

	got->rx = NULL;
	if (got != ns->reading && !got->core.read) {
		if (got->turn.turns)
			ndp_turn_leave(&got->turn);
		list_move(&got->node, garbage);
		return;
	}
	WRITE_ONCE(got->failed, error);
	ndp_line_fail(got);
	ndp_got_queue(ns, got, false);
}

static void ndp_rx_end(struct ndp_sock *ns, struct ndp_rx *rx, u8 error,
		       struct list_head *garbage)
{
	struct ndp_net *nn = rx->peer->nn;
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_pop(&ns->rcv, &rx->f, U64_MAX)))
		ndp_rx_fail(ns, m, error, garbage);
	if (rx->line)
		ndp_line_leave(rx);
	ndp_host_leave(rx->host, &rx->f.pull, true);
	ndp_rcv_close(&ns->rcv, &rx->f);
	ndp_rx_set_missing(rx, false);
	list_del(&rx->sock_node);
	ns->flows--;
	list_del_init(&rx->held_node);
	ndp_owed_del(rx);
	rx->dead = true;
	rhashtable_remove_fast(&nn->rx, &rx->node, ndp_rx_params);
	atomic_dec(&nn->rx_flows);
	atomic_dec(&rx->peer->rx_flows);
	/* who has found the flow under RCU may use both of them still */
	ndp_host_put(rx->host);
	ndp_peer_put(rx->peer);
	ndp_mem_uncharge_flow(rx->sk, rx->charged);
	kfree_rcu(rx, rcu);
}

/**
 * ndp_rx_free_all() - free messages that nobody knows
 * @sk: their socket
 * @garbage: the messages, by @node; none after that
 *
 * Without locks.
 */
void ndp_rx_free_all(struct sock *sk, struct list_head *garbage)
{
	struct ndp_got *got, *next;

	list_for_each_entry_safe(got, next, garbage, node)
		ndp_got_free(sk, got);
	INIT_LIST_HEAD(garbage);
}

/* ---- how it begins ---- */

/**
 * ndp_rx_host() - the device by which a packet came, with a place for one more flow
 * @p: packet
 * @id: result: for ndp_host_join()
 *
 * Return: the device, counted; NULL: none.
 */
struct ndp_host *ndp_rx_host(const struct ndp_packet *p, int *id)
{
	struct ndp_host *host = ndp_host_get(p->nn, p->ifindex);

	if (!host)
		return NULL;
	*id = ndp_host_reserve(host);
	if (*id >= 0)
		return host;
	ndp_host_put(host);
	return NULL;
}

/* In no table yet. NULL: no memory, or no device */
static struct ndp_rx *ndp_rx_alloc(const struct ndp_packet *p, struct sock *sk)
{
	struct ndp_rx *rx = kzalloc(sizeof(*rx), GFP_ATOMIC | __GFP_NOWARN);
	int id;

	if (!rx)
		return NULL;
	if (!ndp_line_alloc(sk, p, &rx->line))
		goto free;
	rx->peer = ndp_peer_get(p->nn, &p->addrs);
	if (!rx->peer)
		goto free;
	rx->charged = (u32)sizeof(*rx) + ndp_peer_memory(rx->peer);
	if (!ndp_mem_charge_flow(sk, rx->charged))
		goto put;
	rx->host = ndp_rx_host(p, &id);
	if (!rx->host)
		goto uncharge;
	rx->key = (struct ndp_rx_key) { .addrs = p->addrs, .flow_id = p->h.flow_id };
	rx->sk = sk;
	INIT_LIST_HEAD(&rx->held_node);
	ndp_rcv_open(&rx->f, &p->h, get_random_u32(), ktime_get_ns());
	if (!ndp_is_ipv4(&p->addrs))
		rx->f.ip_more = NDP_RX_IP6_MORE;
	ndp_host_join(rx->host, &rx->f.pull, id);
	return rx;
uncharge:
	ndp_mem_uncharge_flow(sk, rx->charged);
put:
	ndp_peer_put(rx->peer);
free:
	kfree(rx->line);
	kfree(rx);
	return NULL;
}

static void ndp_rx_free(struct ndp_rx *rx)
{
	ndp_host_leave(rx->host, &rx->f.pull, true);
	ndp_host_put(rx->host);
	ndp_peer_put(rx->peer);
	ndp_mem_uncharge_flow(rx->sk, rx->charged);
	kfree(rx->line);
	kfree(rx);
}

/* Return: NULL: it is; the flow that is already; -ECONNREFUSED: no socket; -ENOMEM, ... */
static struct ndp_rx *ndp_rx_insert(struct ndp_net *nn, struct ndp_rx *rx,
				    const struct ndp_hdr *h)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rx *other;
	int err = 0;

	spin_lock(&ns->rcv_lock);
	if (ns->closed)
		err = -ECONNREFUSED;
	else if (rx->line)
		err = ndp_line_find(rx);
	if (err)
		other = ERR_PTR(err);
	else
		other = rhashtable_lookup_get_insert_fast(&nn->rx, &rx->node, ndp_rx_params);
	if (!err && rx->line && other) {
		ndp_line_put(rx->line);
		rx->line = NULL;
	}
	if (!other) {
		if (rx->line)
			ndp_line_join(rx, h);
		list_add_tail(&rx->sock_node, &ns->rx_list);
		ns->flows++;
		ndp_rx_set_missing(rx, true);
		atomic_inc(&nn->rx_flows);
		atomic_inc(&rx->peer->rx_flows);
	}
	spin_unlock(&ns->rcv_lock);
	return other;
}

/* Return: the flow; -ECONNREFUSED: no socket; -ENOMEM, ... */
static struct ndp_rx *ndp_rx_open(const struct ndp_packet *p, struct sock *sk)
{
	struct ndp_rx *rx = ndp_rx_alloc(p, sk), *other;

	if (!rx)
		return ERR_PTR(-ENOMEM);
	other = ndp_rx_insert(p->nn, rx, &p->h);
	if (other) {
		ndp_rx_free(rx);
		return other;
	}
	ndp_count(p->nn, NDP_N_RX_FLOWS);
	ndp_gc_start(p->nn);
	return rx;
}

/* Of now, and of before; never 0, which says that there is none */
static void ndp_rx_cookies(const struct ndp_packet *p, u64 cookie[2])
{
	struct {
		struct ndp_addrs addrs;
		u32 epoch;
	} key = { p->addrs, (u32)(ktime_get_ns() >> NDP_RX_COOKIE_SHIFT) };
	u32 i;

	static_assert(sizeof(key) == sizeof(key.addrs) + sizeof(key.epoch), "no holes");
	for (i = 0; i < 2; i++, key.epoch--)
		cookie[i] = siphash(&key, sizeof(key), &p->nn->cookie_key) ?: 1;
}

static enum ndp_rcv_admit ndp_rx_judge_new(const struct ndp_packet *p, const u64 cookie[2])
{
	const struct ndp_peer *peer = ndp_peer_find(p->nn, &p->addrs);
	u32 flows_max = (u32)READ_ONCE(p->nn->conf.flows_max);
	const struct ndp_rcv_params limits = {
		.flows_max = flows_max,
		.peer_flows_max = DIV_ROUND_UP(flows_max, NDP_RX_PEER_SHARE),
		.cookie_flows = flows_max / NDP_RX_COOKIE_SHARE,
	};

	return ndp_rcv_admit(&limits, &p->h, (u32)atomic_read(&p->nn->rx_flows),
			     peer ? (u32)atomic_read(&peer->rx_flows) : 0, cookie);
}

static void ndp_rx_refuse(const struct ndp_packet *p, enum ndp_code code,
			  enum ndp_counter counter, struct ndp_hdr *answer)
{
	ndp_count(p->nn, counter);
	ndp_answer(&p->h, NDP_ERROR, answer);
	answer->err.code = (u8)code;
}

static void ndp_rx_answer_bare(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	ndp_answer(&p->h, NDP_CONTROL, answer);
	answer->flags = NDP_CTL_NACK | NDP_CTL_BARE;
	answer->sport = 0;
	answer->dport = 0;
}

/* A packet of a flow that is not known. Return: the flow; NULL: none */
static struct ndp_rx *ndp_rx_new(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	/* of a packet of which little is left, nobody knows whose it is */
	struct sock *sk = p->h.is_short ? NULL : ndp_sock_lookup(p->nn, p);
	struct ndp_rx *rx = ERR_PTR(-ECONNREFUSED);
	u64 cookie[2];

	if (sk || p->h.is_short) {
		ndp_rx_cookies(p, cookie);
		switch (ndp_rx_judge_new(p, cookie)) {
		case NDP_ADMIT_OPEN:
			rx = ndp_rx_open(p, sk);
			break;
		case NDP_ADMIT_COOKIE:
			ndp_answer(&p->h, NDP_COOKIE, answer);
			answer->cookie = cookie[0];
			return NULL;
		case NDP_ADMIT_BARE:
			ndp_rx_answer_bare(p, answer);
			return NULL;
		case NDP_ADMIT_NO_FLOW:
			ndp_rx_refuse(p, NDP_CODE_NO_FLOW, NDP_N_IN_NO_FLOW, answer);
			return NULL;
		case NDP_ADMIT_DROP:
			ndp_count(p->nn, NDP_N_IN_FLOWS_MAX);
			return NULL;
		}
	}
	if (!IS_ERR(rx))
		return rx;
	if (PTR_ERR(rx) == -ECONNREFUSED)
		ndp_rx_refuse(p, NDP_CODE_NO_PORT, NDP_N_IN_NO_SOCKET, answer);
	else
		ndp_count(p->nn, NDP_N_IN_NO_MEMORY);
	return NULL;
}

/**
 * ndp_rx_lookup() - the flow of a packet
 * @p: packet of a sender
 *
 * Under RCU.
 *
 * Return: the flow; NULL: it is not known.
 */
struct ndp_rx *ndp_rx_lookup(const struct ndp_packet *p)
{
	const struct ndp_rx_key key = { .addrs = p->addrs, .flow_id = p->h.flow_id };

	return rhashtable_lookup(&p->nn->rx, &key, ndp_rx_params);
}

/**
 * ndp_rx_find() - the flow of a packet, be it a new one
 * @p: packet: DATA or PROBE
 * @answer: result, if there is none: what is to be answered; else as it was
 *
 * Under RCU, with bottom halves off, without locks.
 *
 * Return: the flow; NULL: none.
 */
struct ndp_rx *ndp_rx_find(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	return ndp_rx_lookup(p) ?: ndp_rx_new(p, answer);
}

/* ---- how it is aborted, forgotten, closed ---- */

/*
 * Does an ABORT come from the flow's sender? Its seq is the oldest packet that the sender keeps,
 * which is at most a window away from ours: a stranger has to guess flow_id and that.
 */
static bool ndp_rx_may_abort(const struct ndp_rx *rx, const struct ndp_hdr *h)
{
	return rx->f.sport == h->sport && rx->f.dport == h->dport &&
	       h->seq - rx->f.got.base + NDP_RCV_WINDOW <= 2 * NDP_RCV_WINDOW;
}

/* Under rcv_lock. Return: has anything changed? */
static bool ndp_rx_abort(struct ndp_rx *rx, u32 id, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m = ndp_rcv_abort(&ns->rcv, &rx->f, id);

	if (m)
		ndp_rx_fail(ns, m, ECONNRESET, garbage);
	else if (rx->line)
		ndp_turns_skip(&rx->line->turns, &rx->f, id);
	if (rx->line)
		ndp_line_run(rx, garbage);
	return m || rx->line;
}

/**
 * ndp_rx_error() - a sender says that it has given up a message
 * @p: packet: ERROR, NDP_CODE_ABORT; its skb is taken over
 *
 * Under RCU, with bottom halves off, without locks.
 */
void ndp_rx_error(struct ndp_packet *p)
{
	struct ndp_rx *rx = ndp_rx_lookup(p);
	LIST_HEAD(garbage);
	struct ndp_sock *ns;
	bool valid = false, over = false;

	consume_skb(p->skb);
	if (!rx)
		return;
	ns = ndp_sk(rx->sk);
	spin_lock(&ns->rcv_lock);
	if (!rx->dead)
		valid = ndp_rx_may_abort(rx, &p->h);
	if (valid)
		over = ndp_rx_abort(rx, p->h.err.msg_id, &garbage);
	spin_unlock(&ns->rcv_lock);
	if (!valid)
		ndp_count(p->nn, NDP_N_IN_NO_FLOW);
	if (!over)
		return;
	ndp_rx_free_all(rx->sk, &garbage);
	ndp_rx_room(rx->sk);
	if (ndp_got_readable(ns))
		rx->sk->sk_data_ready(rx->sk);
}

/**
 * ndp_rx_close() - a socket receives no more
 * @sk: socket, that is being closed: nobody reads from it any more
 *
 * What has come is thrown away. In process context.
 */
void ndp_rx_close(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	LIST_HEAD(garbage);
	bool more;
	u32 i;

	do {
		spin_lock_bh(&ns->rcv_lock);
		ns->closed = true;
		for (i = 0; i < NDP_RX_BATCH && !list_empty(&ns->rx_list); i++)
			ndp_rx_end(ns, list_first_entry(&ns->rx_list, struct ndp_rx, sock_node),
				   ECONNRESET, &garbage);
		more = !list_empty(&ns->rx_list);
		/* as long as packets come, lines know of what they show */
		if (!more) {
			list_splice_tail_init(&ns->whole, &garbage);
			if (ns->reading)
				list_add_tail(&ns->reading->node, &garbage);
			ns->reading = NULL;
			more = ndp_line_purge(ns, &garbage, NDP_RX_BATCH);
		}
		spin_unlock_bh(&ns->rcv_lock);
		ndp_rx_free_all(sk, &garbage);
		cond_resched();
	} while (more);
}

/*
 * Is a flow silent, or a message dead? And does it hold up others, or is it held? Whatever it
 * is held for, somebody looks after it once a second. Under RCU
 */
static void ndp_rx_age(struct ndp_rx *rx)
{
	struct sock *sk = rx->sk;
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_rcv_msg *m;
	LIST_HEAD(garbage);
	bool over = false;
	u64 now, dead_ns;

	spin_lock_bh(&ns->rcv_lock);
	/* not before the last packet came */
	now = ktime_get_ns();
	if (!rx->dead) {
		dead_ns = ndp_rcv_dead_ns(&ns->rcv_params, &rx->f, now);
		while ((m = ndp_rcv_pop(&ns->rcv, &rx->f, dead_ns))) {
			ndp_rx_fail(ns, m, ETIMEDOUT, &garbage);
			over = true;
		}
		over |= !!rx->line;
		if (rx->line)
			ndp_line_age(rx, now, &garbage);
		over |= !list_empty(&rx->held_node) || (ns->reading && ns->reading->rx == rx);
		ndp_rcv_lapse(&ns->rcv, &rx->f, now);
		if (ndp_rcv_is_silent(&ns->rcv_params, &rx->f, now))
			ndp_rx_end(ns, rx, ETIMEDOUT, &garbage);
	}
	over |= ndp_rx_freed(ns);
	spin_unlock_bh(&ns->rcv_lock);
	if (!over)
		return;
	ndp_rx_free_all(sk, &garbage);
	ndp_rx_room(sk);
	if (ndp_got_readable(ns))
		sk->sk_data_ready(sk);
}

/**
 * ndp_rx_gc() - forget flows that are silent
 * @nn: namespace
 *
 * In process context.
 *
 * Return: true if there are flows, so that it is to be called again.
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

/**
 * ndp_rx_info() - what a socket has received
 * @sk: socket
 * @info: result: what is about that is set, or added to what flows that send have put there
 */
void ndp_rx_info(struct sock *sk, struct ndp_info *info)
{
	struct ndp_sock *ns = ndp_sk(sk);
	const u64 *verdicts = ns->rcv.verdicts;

	spin_lock_bh(&ns->rcv_lock);
	info->peers += ns->flows;
	info->flows_receiving = ns->missing;
	info->msgs_receiving = ns->rcv.msgs;
	info->msgs_received = ns->msgs_received;
	info->bytes_received = ns->bytes_received;
	info->packets_received = verdicts[NDP_RCV_PART] + verdicts[NDP_RCV_WHOLE];
	info->trimmed_received = verdicts[NDP_RCV_TRIMMED];
	info->duplicates_received = verdicts[NDP_RCV_AGAIN];
	info->pulls_sent = ns->pulls_sent;
	ndp_region_info(ns, info);
	spin_unlock_bh(&ns->rcv_lock);
}

/**
 * ndp_rx_init() - for a new namespace
 * @nn: it
 *
 * Return: 0 or a negative error.
 */
int ndp_rx_init(struct ndp_net *nn)
{
	atomic_set(&nn->rx_flows, 0);
	return rhashtable_init(&nn->rx, &ndp_rx_params);
}

/**
 * ndp_rx_exit() - take back ndp_rx_init(); no socket is left, and no packet comes
 * @nn: namespace
 */
void ndp_rx_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->rx_flows));
	rhashtable_destroy(&nn->rx);
}
