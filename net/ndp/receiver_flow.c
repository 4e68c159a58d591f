// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: receiving flows: table, begin and end
 *
 * A flow is found by its addresses and the sender's name of it (flow_id), under RCU. It begins with
 * a packet that ndp_rcv_admit() accepts; other packets leave no state. It ends with its
 * socket, or after a silence that is longer than its sender retransmits. After finding a
 * flow, take its socket's rx_lock and check @dead.
 *
 * The token of a flow is a keyed hash of its addresses, its name and the time. A sender that
 * returns it receives the answers of this host, so its address is not forged.
 *
 * SOCK_SEQPACKET: a sender begins a new flow only when all messages of the old one have ended. So
 * when a flow of the same sender is verified, whole messages of older ones are delivered, and the
 * older flows end. Before that, its messages wait for those of the older ones, and a PING asks for
 * the token. If that is lost, they wait until the older flows are forgotten.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "ndp.h"
#include "rx_ride.h"

/* bytes by which an IPv6 header is longer than IPv4's */
#define NDP_RX_IP6_MORE		20
/* a token is valid for 2^33 to 2^34 ns, 8.6 s to 17 s; senders give up after 5 s */
#define NDP_RX_TOKEN_SHIFT	33
/* share of flows_max of one peer; and number from which on new flows need a token */
#define NDP_RX_PEER_SHARE	4
#define NDP_RX_COOKIE_SHARE	2
/* SOCK_SEQPACKET: number of flows of a peer from which on a new one needs a token: short lists */
#define NDP_RX_COOKIE_PEER	32

static const struct rhashtable_params ndp_rx_params = {
	.head_offset = offsetof(struct ndp_rx, node),
	.key_offset = offsetof(struct ndp_rx, key),
	.key_len = sizeof(struct ndp_rx_key),
	.automatic_shrinking = true,
};

static_assert(sizeof(struct ndp_rx_key) == sizeof(struct ndp_addrs) + sizeof(u32),
	      "no holes in a key");

/* ---- messages that end ---- */

/**
 * ndp_rx_set_missing() - a flow has, or has no, incomplete messages
 * @rx: flow
 * @missing: it has
 *
 * Under rx_lock.
 */
void ndp_rx_set_missing(struct ndp_rx *rx, bool missing)
{
	ndp_sk(rx->sk)->missing += missing - rx->missing;
	rx->missing = missing;
}

/**
 * ndp_rx_fail() - a message will not become whole
 * @ns: its socket
 * @rm: message, which the core has dropped
 * @error: reason
 * @garbage: result: the message, if no reader has begun it
 *
 * A reader of a part of it gets the error. Under rx_lock.
 */
void ndp_rx_fail(struct ndp_sock *ns, struct ndp_rx_msg *rm, u8 error, struct list_head *garbage)
{
	rm->rx = NULL;
	if (rm != ns->reading && !rm->core.read) {
		list_move(&rm->node, garbage);
		return;
	}
	WRITE_ONCE(rm->failed, error);
	ndp_rx_msg_queue(ns, rm);
}

static u32 ndp_rx_sender_hash(const struct ndp_rx *rx)
{
	return ndp_sender_hash(rx->peer->nn, &rx->key.addrs, rx->f.sport);
}

static bool ndp_rx_is_older(const struct ndp_rx *old, const struct ndp_rx *rx)
{
	return old != rx && old->opened_ns <= rx->opened_ns && old->f.sport == rx->f.sport &&
	       !memcmp(&old->key.addrs, &rx->key.addrs, sizeof(rx->key.addrs));
}

/**
 * ndp_rx_is_second() - do messages of an older flow of the same sender come first?
 * @rx: flow
 *
 * Under rx_lock.
 *
 * Return: true if so, until @rx is verified.
 */
bool ndp_rx_is_second(const struct ndp_rx *rx)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	const struct ndp_rx *old;

	if (!ndp_is_ordered(rx->sk) || rx->f.is_verified)
		return false;
	hash_for_each_possible(ns->senders, old, sender_node, ndp_rx_sender_hash(rx))
		if (old->f.msgs && ndp_rx_is_older(old, rx))
			return true;
	return false;
}

/* End older flows of the sender of @rx, once, when @rx is verified. Under rx_lock */
static void ndp_rx_succeed(struct ndp_rx *rx, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct hlist_node *next;
	struct ndp_rx *old;

	if (rx->succeeded || !rx->f.is_verified)
		return;
	rx->succeeded = true;
	hash_for_each_possible_safe(ns->senders, old, next, sender_node, ndp_rx_sender_hash(rx))
		if (ndp_rx_is_older(old, rx))
			ndp_rx_end(old, ETIMEDOUT, garbage);
}

/**
 * ndp_rx_deliver() - deliver messages in order
 * @rx: flow of a SOCK_SEQPACKET socket
 * @garbage: result: messages to be freed
 *
 * Under rx_lock.
 */
void ndp_rx_deliver(struct ndp_rx *rx, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m;

	ndp_rx_succeed(rx, garbage);
	if (ndp_rx_is_second(rx))
		return;
	while ((m = ndp_rcv_take_next(&ns->rcv, &rx->f))) {
		ndp_rx_msg_of(m)->rx = NULL;
		ndp_rx_msg_queue(ns, ndp_rx_msg_of(m));
	}
	/* the next one may be read in parts */
	m = ndp_rcv_find(&rx->f, rx->f.next_id);
	if (m)
		ndp_rx_msg_queue(ns, ndp_rx_msg_of(m));
}

/**
 * ndp_rx_deliver_newer() - messages of a flow have ended: deliver those that waited for them
 * @old: flow, which may have ended
 * @garbage: result: messages to be freed
 *
 * Under rx_lock.
 */
void ndp_rx_deliver_newer(const struct ndp_rx *old, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(old->sk);
	struct hlist_node *next;
	struct ndp_rx *rx;

	if (!ndp_is_ordered(old->sk))
		return;
	hash_for_each_possible_safe(ns->senders, rx, next, sender_node, ndp_rx_sender_hash(old))
		if (ndp_rx_is_older(old, rx))
			ndp_rx_deliver(rx, garbage);
}

/**
 * ndp_rx_evict() - end all messages in progress of a flow; whole ones are delivered
 * @rx: flow
 * @error: reason
 * @garbage: result: messages to be freed
 *
 * Under rx_lock.
 */
void ndp_rx_evict(struct ndp_rx *rx, u8 error, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rcv_msg *m;

	while ((m = ndp_rcv_take_any(&ns->rcv, &rx->f))) {
		if (!m->is_whole) {
			ndp_rx_fail(ns, ndp_rx_msg_of(m), error, garbage);
			continue;
		}
		ndp_rx_msg_of(m)->rx = NULL;
		ndp_rx_msg_queue(ns, ndp_rx_msg_of(m));
	}
}

/**
 * ndp_rx_free_all() - free messages
 * @sk: their socket
 * @garbage: messages by @node; empty afterwards
 *
 * Without locks.
 */
void ndp_rx_free_all(struct sock *sk, struct list_head *garbage)
{
	struct ndp_rx_msg *rm, *next;

	list_for_each_entry_safe(rm, next, garbage, node)
		ndp_rx_msg_free(sk, rm);
	INIT_LIST_HEAD(garbage);
}

/**
 * ndp_rx_end() - end a flow
 * @rx: flow; callers that found it under RCU may still use it
 * @error: reason, for readers of its messages
 * @garbage: result: messages to be freed
 *
 * Under rx_lock.
 */
void ndp_rx_end(struct ndp_rx *rx, u8 error, struct list_head *garbage)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_net *nn = rx->peer->nn;

	ndp_rx_evict(rx, error, garbage);
	ndp_pacer_leave(rx->pacer, rx, true);
	ndp_rcv_close(&ns->rcv, &rx->f);
	ndp_rx_set_missing(rx, false);
	list_del(&rx->sock_node);
	hlist_del_init(&rx->sender_node);
	list_del_init(&rx->wait_node);
	WRITE_ONCE(ns->rcv.mem.waiting, !list_empty(&ns->waiting));
	ns->flows--;
	rx->dead = true;
	rhashtable_remove_fast(&nn->rx, &rx->node, ndp_rx_params);
	atomic_dec(&nn->rx_flows);
	atomic_dec(&rx->peer->rx_flows);
	/* callers that found the flow under RCU may still use both */
	ndp_pacer_put(rx->pacer);
	ndp_peer_put(rx->peer);
	ndp_mem_uncharge_flow(rx->sk, rx->charged);
	kfree_rcu(rx, rcu);
}

/* ---- begin ---- */

/* Tokens of now, and of before; not 0 */
static void ndp_rx_tokens(const struct ndp_packet *p, u32 token[2])
{
	struct {
		struct ndp_addrs addrs;
		u32 flow_id;
		u32 epoch;
	} key = { p->addrs, p->h.flow_id, (u32)(ktime_get_ns() >> NDP_RX_TOKEN_SHIFT) };
	u32 i;

	static_assert(sizeof(key) == sizeof(key.addrs) + 2 * sizeof(u32), "no holes");
	for (i = 0; i < 2; i++, key.epoch--)
		token[i] = (u32)siphash(&key, sizeof(key), &p->nn->token_key) ?: 1;
}

/* Create a flow in no table. Return: NULL: no memory, or no device */
static struct ndp_rx *ndp_rx_alloc(const struct ndp_packet *p, struct sock *sk, u32 token)
{
	struct ndp_rx *rx = kzalloc(sizeof(*rx), GFP_ATOMIC | __GFP_NOWARN);
	struct ndp_pacer *pacer;

	if (!rx)
		return NULL;
	rx->peer = ndp_peer_get(p->nn, &p->addrs, READ_ONCE(sk->sk_bound_dev_if));
	if (!rx->peer)
		goto free;
	rx->charged = (u32)sizeof(*rx) + ndp_peer_memory(rx->peer);
	if (!ndp_mem_charge_flow(sk, rx->charged))
		goto put;
	pacer = ndp_pacer_get(p->nn, p->ifindex);
	if (!pacer)
		goto uncharge;
	rx->key = (struct ndp_rx_key) { .addrs = p->addrs, .flow_id = p->h.flow_id };
	rx->sk = sk;
	rx->ifindex = p->ifindex;
	INIT_LIST_HEAD(&rx->wait_node);
	INIT_LIST_HEAD(&rx->deferred_node);
	rx->opened_ns = ktime_get_ns();
	ndp_rcv_open(&rx->f, &p->h, get_random_u32(), rx->opened_ns);
	rx->f.token = token;
	if (!ndp_is_ipv4(&p->addrs))
		rx->f.ip_more = NDP_RX_IP6_MORE;
	if (p->h.keyed)
		rx->f.ip_more += NDP_TAG_LEN;
	ndp_pacer_join(pacer, rx);
	return rx;
uncharge:
	ndp_mem_uncharge_flow(sk, rx->charged);
put:
	ndp_peer_put(rx->peer);
free:
	kfree(rx);
	return NULL;
}

static void ndp_rx_free(struct ndp_rx *rx)
{
	ndp_pacer_leave(rx->pacer, rx, true);
	ndp_pacer_put(rx->pacer);
	ndp_peer_put(rx->peer);
	ndp_mem_uncharge_flow(rx->sk, rx->charged);
	kfree(rx);
}

/* Insert a flow. Return: NULL; the flow that exists; -ECONNREFUSED: socket closed; -ENOMEM, ... */
static struct ndp_rx *ndp_rx_insert(struct ndp_net *nn, struct ndp_rx *rx)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_rx *other = ERR_PTR(-ECONNREFUSED);

	spin_lock(&ns->rx_lock);
	if (!ns->closed)
		other = rhashtable_lookup_get_insert_fast(&nn->rx, &rx->node, ndp_rx_params);
	if (!other) {
		if (ndp_is_ordered(rx->sk))
			hash_add(ns->senders, &rx->sender_node, ndp_rx_sender_hash(rx));
		list_add_tail(&rx->sock_node, &ns->rx_list);
		ns->flows++;
		ndp_rx_set_missing(rx, true);
		atomic_inc(&nn->rx_flows);
		atomic_inc(&rx->peer->rx_flows);
	}
	spin_unlock(&ns->rx_lock);
	return other;
}

/* Return: the flow; -ECONNREFUSED: no socket; -ENOMEM, ... */
static struct ndp_rx *ndp_rx_open(const struct ndp_packet *p, struct sock *sk, u32 token)
{
	struct ndp_rx *rx = ndp_rx_alloc(p, sk, token), *other;

	if (!rx)
		return ERR_PTR(-ENOMEM);
	other = ndp_rx_insert(p->nn, rx);
	if (other) {
		ndp_rx_free(rx);
		return other;
	}
	ndp_count(p->nn, NDP_N_RX_FLOWS);
	ndp_gc_start(p->nn);
	return rx;
}

/* While flows wait for room, a flow without the token would get none, but for a single packet. */
static bool ndp_rx_would_wait(const struct ndp_packet *p, const struct ndp_sock *ns)
{
	return READ_ONCE(ns->rcv.mem.waiting) && p->h.data.msg_len > p->h.payload_len;
}

static enum ndp_rcv_admit ndp_rx_admit(const struct ndp_packet *p, const struct sock *sk,
				       const u32 token[2])
{
	int oif = sk ? READ_ONCE(sk->sk_bound_dev_if) : 0;
	const struct ndp_peer *peer = ndp_peer_find(p->nn, &p->addrs, oif);
	u32 peer_flows = peer ? (u32)atomic_read(&peer->rx_flows) : 0;
	u32 flows_max = (u32)READ_ONCE(p->nn->conf.flows_max);
	bool cookie = sk && (ndp_rx_would_wait(p, ndp_sk(sk)) ||
			     (peer_flows >= NDP_RX_COOKIE_PEER && ndp_is_ordered(sk)));
	const struct ndp_rcv_limits limits = {
		.flows_max = flows_max,
		.peer_flows_max = DIV_ROUND_UP(flows_max, NDP_RX_PEER_SHARE),
		.cookie_flows = cookie ? 0 : flows_max / NDP_RX_COOKIE_SHARE,
	};

	return ndp_rcv_admit(&limits, &p->h, (u32)atomic_read(&p->nn->rx_flows),
			     peer_flows, token);
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

/* A packet of an unknown flow. Return: the flow, or NULL */
static struct ndp_rx *ndp_rx_new(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	/* the ports of a short packet are unknown */
	struct sock *sk = p->h.is_short ? NULL : ndp_sock_lookup(p->nn, p);
	struct ndp_rx *rx = ERR_PTR(-ECONNREFUSED);
	u32 token[2];

	if (sk || p->h.is_short) {
		ndp_rx_tokens(p, token);
		switch (ndp_rx_admit(p, sk, token)) {
		case NDP_ADMIT_OPEN:
			rx = ndp_rx_open(p, sk, token[0]);
			break;
		case NDP_ADMIT_COOKIE:
			ndp_answer(&p->h, NDP_COOKIE, answer);
			answer->token = token[0];
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
 * ndp_rx_lookup() - find the flow of a packet
 * @p: packet of a sender
 *
 * Under RCU.
 *
 * Return: flow, or NULL.
 */
struct ndp_rx *ndp_rx_lookup(const struct ndp_packet *p)
{
	const struct ndp_rx_key key = { .addrs = p->addrs, .flow_id = p->h.flow_id };

	return rhashtable_lookup(&p->nn->rx, &key, ndp_rx_params);
}

/**
 * ndp_rx_find() - find or open the flow of a packet
 * @p: DATA or PROBE
 * @answer: result, if there is no flow: the answer, or unchanged
 *
 * Under RCU, with softirqs disabled, without locks.
 *
 * Return: flow, or NULL.
 */
struct ndp_rx *ndp_rx_find(const struct ndp_packet *p, struct ndp_hdr *answer)
{
	return ndp_rx_lookup(p) ?: ndp_rx_new(p, answer);
}

/* ---- namespaces, NDP_INFO ---- */

/**
 * ndp_rx_init() - initialize the table of a namespace
 * @nn: namespace
 *
 * Return: 0 or a negative error.
 */
int ndp_rx_init(struct ndp_net *nn)
{
	atomic_set(&nn->rx_flows, 0);
	return rhashtable_init(&nn->rx, &ndp_rx_params);
}

/**
 * ndp_rx_exit() - free the table, which is empty
 * @nn: namespace
 */
void ndp_rx_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->rx_flows));
	rhashtable_destroy(&nn->rx);
}
