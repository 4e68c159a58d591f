// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directions of queue pairs seen at a device, and which two belong together
 *
 * The decisions of sch_roce's ingress half, without packets and locks: plain C,
 * compiled into the module and into its unit test.
 *
 * A flow is one direction of a queue pair: its packets carry the number of the queue
 * pair at their destination only. A CNP, however, carries the number at the data's
 * source. So the device has to learn which two flows belong together:
 *
 *	flow L -> R:  requests to QP r, PSN 100..107  --->
 *	flow R -> L:                          <---  responses to QP l, PSN 103
 *
 * An ACK, and the first packet of a READ response, have the PSN of a request. If
 * exactly one flow in the opposite direction has sent such a request, and its other
 * half is unknown, the two are joined. If several have, the UDP source port decides,
 * as Linux's drivers compute it from the queue pairs' numbers. If it does not, a later
 * response will: the flow with the most advanced requests is unique, and then the next.
 * Datagrams (UD) carry both numbers.
 *
 * Each later response is checked. If its PSN is not among its requests', the two are
 * separated, and learned anew: a queue pair's number was given to another one.
 *
 * A search looks at flows with the same hash of both addresses, and not more often than
 * each ROCE_SEARCH_NS. So packets of one host cost little, and hardly ever delay what is
 * learned of another one.
 *
 * Reference: InfiniBand Architecture Specification, volume 1, sections 9.7.3 (PSNs)
 * and 9.7.5.1 (responses).
 *
 * Limits:
 *  - Unreliable connections (UC) have no responses. Their halves stay unknown.
 *  - Queue pairs between the same hosts that begin with the same PSN and send the same
 *    requests at the same time stay unknown unless their source ports decide.
 */
#include "roce_flows.h"

/* A response may follow later ones, when the network has delayed it. */
#define ROCE_PSN_LATE		4096
/* A request that is further ahead begins anew. A READ request counts its response. */
#define ROCE_PSN_AHEAD		0x100000

/* Difference of two PSNs, which have 24 bits */
static s32 roce_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static bool roce_addr_equal(const struct roce_addr *a, const struct roce_addr *b)
{
	u32 i, differ = 0;

	for (i = 0; i < sizeof(a->b); i += 4)
		differ |= closnet_get32(a->b + i) ^ closnet_get32(b->b + i);
	return !differ;
}

static bool roce_key_equal(const struct roce_key *a, const struct roce_key *b)
{
	return a->qpn == b->qpn && roce_addr_equal(&a->src, &b->src) &&
	       roce_addr_equal(&a->dst, &b->dst);
}

/* Does @f lead from the destination of @key to its source? */
static bool roce_is_opposite(const struct roce_flow *f, const struct roce_key *key)
{
	return roce_addr_equal(&f->key.src, &key->dst) && roce_addr_equal(&f->key.dst, &key->src);
}

static struct roce_key roce_opposite(const struct roce_key *key, u32 qpn)
{
	return (struct roce_key) { .src = key->dst, .dst = key->src, .qpn = qpn };
}

static u32 roce_bucket(const struct roce_flows *t, const struct roce_key *key)
{
	return roce_key_hash(key, t->seed) % ROCE_FLOW_BUCKETS;
}

static struct roce_pairs *roce_pairs_of(struct roce_flows *t, const struct roce_key *key)
{
	return &t->pairs[roce_pair_hash(key, t->seed) >> (32 - ROCE_PAIR_BITS)];
}

/* ---- the table ---- */

/**
 * roce_flows_find() - find a flow
 * @t: flows
 * @key: identity
 *
 * Return: the flow, or NULL.
 */
struct roce_flow *roce_flows_find(const struct roce_flows *t, const struct roce_key *key)
{
	struct roce_flow *f = t->bucket[roce_bucket(t, key)];

	while (f && !roce_key_equal(&f->key, key))
		f = f->next;
	return f;
}

/**
 * roce_flows_add() - add a flow
 * @t: flows
 * @f: memory of a flow
 * @key: identity, which no flow has
 */
void roce_flows_add(struct roce_flows *t, struct roce_flow *f, const struct roce_key *key)
{
	struct roce_pairs *pairs = roce_pairs_of(t, key);
	u32 bucket = roce_bucket(t, key);

	*f = (struct roce_flow) {
		.next = t->bucket[bucket],
		.pair_next = pairs->first,
		.pair_at = &pairs->first,
		.key = *key,
		.peer_qpn = ROCE_QPN_NONE,
	};
	t->bucket[bucket] = f;
	if (pairs->first)
		pairs->first->pair_at = &f->pair_next;
	pairs->first = f;
	t->count++;
}

static void roce_unlink(struct roce_flows *t, struct roce_flow **at)
{
	struct roce_flow *f = *at;

	*at = f->next;
	*f->pair_at = f->pair_next;
	if (f->pair_next)
		f->pair_next->pair_at = f->pair_at;
	t->count--;
}

/**
 * roce_flows_evict() - remove a flow that was idle for long
 * @t: flows
 *
 * The longest idle of ROCE_EVICT_TRIES flows goes. The next call continues behind them.
 *
 * Return: the flow; NULL if the table is empty.
 */
struct roce_flow *roce_flows_evict(struct roce_flows *t)
{
	struct roce_flow **at, **oldest = NULL, *f;
	u32 tries = 0, n;

	for (n = 0; n < ROCE_FLOW_BUCKETS && tries < ROCE_EVICT_TRIES; n++) {
		at = &t->bucket[t->hand++ % ROCE_FLOW_BUCKETS];
		for (; *at && tries < ROCE_EVICT_TRIES; at = &(*at)->next, tries++)
			if (!oldest || (*at)->seen_ns < (*oldest)->seen_ns)
				oldest = at;
	}
	if (!oldest)
		return NULL;
	f = *oldest;
	roce_unlink(t, oldest);
	return f;
}

/**
 * roce_flows_expire() - remove all flows without a packet since some time
 * @t: flows
 * @before_ns: the time
 *
 * Bounded by the number of flows.
 *
 * Return: list of the flows, linked by @next.
 */
struct roce_flow *roce_flows_expire(struct roce_flows *t, u64 before_ns)
{
	struct roce_flow *list = NULL, **at, *f;
	u32 n;

	for (n = 0; n < ROCE_FLOW_BUCKETS; n++) {
		at = &t->bucket[n];
		while ((f = *at)) {
			if (f->seen_ns >= before_ns) {
				at = &f->next;
				continue;
			}
			roce_unlink(t, at);
			f->next = list;
			list = f;
		}
	}
	return list;
}

/* ---- which two belong together ---- */

static void roce_join(struct roce_flow *a, struct roce_flow *b)
{
	a->peer_qpn = b->key.qpn;
	b->peer_qpn = a->key.qpn;
}

static void roce_learn_request(struct roce_flow *f, u32 psn)
{
	s32 ahead = roce_psn_diff(psn, f->psn_high);

	if (!f->has_psn || ahead > ROCE_PSN_AHEAD || ahead < -ROCE_PSN_AHEAD) {
		f->has_psn = true;
		f->psn_low = psn;
		f->psn_high = psn;
	} else if (ahead > 0) {
		f->psn_high = psn;
	} else if (roce_psn_diff(psn, f->psn_low) < 0) {
		f->psn_low = psn;	/* a retransmission of a packet that was not seen */
	}
}

/* May a response with this PSN answer a request of the flow? @late: PSNs before the last answer */
static bool roce_may_answer(const struct roce_flow *f, u32 psn, s32 late)
{
	return f->has_psn && roce_psn_diff(psn, f->psn_low) >= -late &&
	       roce_psn_diff(psn, f->psn_high) <= 0;
}

/* Limits the searches, as each takes time for all flows of the list. */
static bool roce_may_search(struct roce_pairs *pairs, u64 now_ns)
{
	if (pairs->search_ns && now_ns - pairs->search_ns < ROCE_SEARCH_NS)
		return false;
	pairs->search_ns = now_ns;
	return true;
}

/* Find the flow to which a response of @f belongs. Bounded by the number of flows. */
static struct roce_flow *roce_search(const struct roce_pairs *pairs, const struct roce_flow *f,
				     u32 psn)
{
	struct roce_flow *r, *by_psn = NULL, *by_port = NULL;
	u32 psns = 0, ports = 0;

	for (r = pairs->first; r; r = r->pair_next) {
		if (r->peer_qpn != ROCE_QPN_NONE || !roce_may_answer(r, psn, 0) ||
		    !roce_is_opposite(r, &f->key))
			continue;
		psns++;
		by_psn = r;
		if (!roce_sport_fits(r->sport, f->key.qpn, r->key.qpn))
			continue;
		ports++;
		by_port = r;
	}
	if (psns == 1)
		return by_psn;
	return ports == 1 ? by_port : NULL;
}

static void roce_learn_response(struct roce_flows *t, struct roce_flow *f, u32 psn, u64 now_ns)
{
	struct roce_pairs *pairs = roce_pairs_of(t, &f->key);
	struct roce_flow *r = NULL;
	struct roce_key key;

	if (f->peer_qpn != ROCE_QPN_NONE) {
		key = roce_opposite(&f->key, f->peer_qpn);
		r = roce_flows_find(t, &key);
	}
	if (r && r->has_psn && !roce_may_answer(r, psn, ROCE_PSN_LATE)) {
		if (r->peer_qpn == f->key.qpn)
			r->peer_qpn = ROCE_QPN_NONE;
		f->peer_qpn = ROCE_QPN_NONE;
		r = NULL;
	}
	if (f->peer_qpn == ROCE_QPN_NONE && roce_may_search(pairs, now_ns)) {
		r = roce_search(pairs, f, psn);
		if (r)
			roce_join(f, r);
	}
	if (r && r->has_psn && roce_psn_diff(psn, r->psn_low) > 0)
		r->psn_low = psn;
}

/* A number that a datagram named is not believed: anybody can send datagrams. */
static void roce_learn_connection(struct roce_flow *f)
{
	f->connected = true;
	if (f->datagrams)
		f->peer_qpn = ROCE_QPN_NONE;
	f->datagrams = false;
}

static void roce_learn_datagram(struct roce_flow *f, u32 sqpn)
{
	if (f->connected)
		return;
	f->datagrams = true;
	f->peer_qpn = sqpn;
}

/**
 * roce_flows_learn() - learn from a packet
 * @t: flows
 * @f: its flow
 * @pkt: its headers, of ROCE_KIND_QP
 * @now_ns: present time
 */
void roce_flows_learn(struct roce_flows *t, struct roce_flow *f, const struct roce_pkt *pkt,
		      u64 now_ns)
{
	f->seen_ns = now_ns;
	f->sport = pkt->sport;
	if (pkt->request || pkt->response)
		roce_learn_connection(f);
	if (pkt->request)
		roce_learn_request(f, pkt->psn);
	else if (pkt->response)
		roce_learn_response(t, f, pkt->psn, now_ns);
	else if (pkt->sqpn != ROCE_QPN_NONE)
		roce_learn_datagram(f, pkt->sqpn);
}

/* Find the flow from the queue pair to which a CNP is addressed. Bounded by the number of flows. */
static struct roce_flow *roce_search_sender(const struct roce_pairs *pairs,
					    const struct roce_key *cnp)
{
	struct roce_flow *f;

	for (f = pairs->first; f; f = f->pair_next)
		if (f->peer_qpn == cnp->qpn && roce_is_opposite(f, cnp))
			return f;
	return NULL;
}

/**
 * roce_flows_notified() - find the flow that a CNP is about
 * @t: flows
 * @cnp: addresses of the CNP, and the queue pair to which it is addressed
 * @now_ns: present time
 *
 * Return: the flow from that queue pair; NULL if it is unknown.
 */
struct roce_flow *roce_flows_notified(struct roce_flows *t, const struct roce_key *cnp, u64 now_ns)
{
	const struct roce_flow *back = roce_flows_find(t, cnp);
	struct roce_pairs *pairs = roce_pairs_of(t, cnp);
	struct roce_key key;

	if (back && back->peer_qpn != ROCE_QPN_NONE) {
		key = roce_opposite(cnp, back->peer_qpn);
		return roce_flows_find(t, &key);
	}
	return roce_may_search(pairs, now_ns) ? roce_search_sender(pairs, cnp) : NULL;
}
