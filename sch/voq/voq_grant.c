// SPDX-License-Identifier: GPL-2.0-only
/*
 * Credit of an egress port
 *
 * Plain C, compiled into the module and into its unit test. Sources are VOQs at ingress leaves
 * that have demand for the port. They get credit in turn, one credit each, at the rate at which
 * the port sends:
 *
 *	next_ns = max(next_ns, now - 2 T) + T,   T = time of a credit at the port's rate
 *
 * So the packets that arrive exceed the packets that leave only by the jitter of the fabric. Three
 * things bound the port's queue and the credit that is not used:
 *
 *  - Backlog. While the queue holds VOQ_BACKLOG_CREDITS credits, grants pause: other traffic of
 *    the port and the overhead of packets need their share too. One grant in VOQ_HOLD_MAX + 1 is
 *    given in any case, so that other traffic cannot stop the sources.
 *  - Window. Credit that was granted and whose use no request has reported is at most the window,
 *    about the bandwidth-delay product. Less than a quarter of a credit is not counted, since no
 *    source reports it.
 *  - Stalled sources. A source that has not used its credit for VOQ_STALL_RETRIES * retry_ns gets
 *    no more, and its credit does not count any longer, so that it does not block other sources.
 *    It goes on with its next request that reports use of credit.
 *
 * State is soft. A source that waits repeats its requests. One that does not for
 * VOQ_FORGET_RETRIES * retry_ns is forgotten. An unknown source reports in its request how much it
 * was granted, so a port that has lost its state goes on where it was.
 *
 * A request is good for VOQ_REQUEST_CREDITS. A source that sends reports each credit that it uses,
 * so this delays only its first round trips. A stranger that forges a request causes no more
 * grants, and holds no more of the window, however large that is.
 */
#include "voq_grant.h"

/* ---- places ---- */

/**
 * voq_grant_init() - initialise without sources
 * @g: granter, with parameters
 * @place: @places entries
 * @bucket: @buckets entries
 * @buckets: a power of two
 * @places: number of places, at least 1
 */
void voq_grant_init(struct voq_granter *g, struct voq_source *place, u32 *bucket, u32 buckets,
		    u32 places)
{
	u32 i;

	g->place = place;
	g->bucket = bucket;
	g->mask = buckets - 1;
	g->places = places;
	for (i = 0; i < buckets; i++)
		bucket[i] = VOQ_NO_SOURCE;
	for (i = 0; i < VOQ_SOURCE_LISTS; i++)
		INIT_LIST_HEAD(&g->lists[i]);
	INIT_LIST_HEAD(&g->holders);
	for (i = 0; i < places; i++) {
		place[i] = (struct voq_source) { .where = VOQ_SOURCE_FREE };
		list_add_tail(&place[i].node, &g->lists[VOQ_SOURCE_FREE]);
	}
}

static void voq_source_move(struct voq_granter *g, struct voq_source *s,
			    enum voq_source_where where)
{
	g->waiting -= s->where == VOQ_SOURCE_WAITING;
	g->waiting += where == VOQ_SOURCE_WAITING;
	s->where = where;
	list_move_tail(&s->node, &g->lists[where]);
}

static bool voq_source_is(const struct voq_source *s, const struct voq_source_key *key)
{
	u32 differ = (s->key.id ^ key->id) | (s->key.cookie ^ key->cookie), i;

	for (i = 0; i < VOQ_ADDR_LEN; i++)
		differ |= (u32)(s->key.addr[i] ^ key->addr[i]);
	return !differ;
}

static struct voq_source *voq_source_find(struct voq_granter *g, const struct voq_source_key *key,
					  u32 hash)
{
	u32 i = g->bucket[hash & g->mask];

	while (i != VOQ_NO_SOURCE && !voq_source_is(&g->place[i], key))
		i = g->place[i].hash_next;
	return i == VOQ_NO_SOURCE ? NULL : &g->place[i];
}

/* Change the credit of a source that counts as unused. */
static void voq_source_count(struct voq_granter *g, struct voq_source *s, u64 unused)
{
	if (unused <= g->params.credit / 4 || s->stalled)
		unused = 0;
	if (s->unused && !unused)
		list_del(&s->hold);
	if (!s->unused && unused)
		list_add_tail(&s->hold, &g->holders);
	g->unused += unused - s->unused;
	s->unused = unused;
}

/* A forged message may claim any numbers. With the bound, the sum of all sources does not wrap. */
static u64 voq_source_unused(const struct voq_source *s)
{
	return s->granted > s->sent ? min_t(u64, s->granted - s->sent, VOQ_DEMAND_MAX) : 0;
}

static void voq_source_forget(struct voq_granter *g, struct voq_source *s)
{
	u32 *at = &g->bucket[s->hash & g->mask];

	while (*at != s - g->place)
		at = &g->place[*at].hash_next;
	*at = s->hash_next;
	voq_source_count(g, s, 0);
	voq_source_move(g, s, VOQ_SOURCE_FREE);
	g->count--;
}

/* Return: a free place, after the longest quiet source has left it if need be; NULL: no place */
static struct voq_source *voq_source_place(struct voq_granter *g)
{
	struct list_head *quiet = &g->lists[VOQ_SOURCE_QUIET];

	if (list_empty(&g->lists[VOQ_SOURCE_FREE]) && !list_empty(quiet))
		voq_source_forget(g, list_first_entry(quiet, struct voq_source, node));
	return list_first_entry_or_null(&g->lists[VOQ_SOURCE_FREE], struct voq_source, node);
}

static struct voq_source *voq_source_add(struct voq_granter *g, const struct voq_source_key *key,
					 u32 hash, const struct voq_msg *m, u64 now_ns)
{
	struct voq_source *s = voq_source_place(g);
	struct list_head node;

	if (!s) {
		g->stats.no_place++;
		return NULL;
	}
	node = s->node;
	*s = (struct voq_source) {
		.node = node, .key = *key, .hash = hash, .hash_next = g->bucket[hash & g->mask],
		.granted = m->granted, .sent = m->sent, .used_ns = now_ns,
		.where = VOQ_SOURCE_FREE,
	};
	g->bucket[hash & g->mask] = s - g->place;
	g->count++;
	voq_source_move(g, s, VOQ_SOURCE_QUIET);
	voq_source_count(g, s, voq_source_unused(s));
	return s;
}

/* ---- requests ---- */

/* Note that credit was used. */
static void voq_source_used(struct voq_granter *g, struct voq_source *s, u64 sent, u64 now_ns)
{
	s->sent = sent;
	s->stalled = false;
	s->used_ns = now_ns;
	voq_source_count(g, s, voq_source_unused(s));
	if (s->unused)
		list_move_tail(&s->hold, &g->holders);
}

/* Has the source demand that its last request is good for? */
static bool voq_source_waits(const struct voq_granter *g, const struct voq_source *s)
{
	return s->queued > s->granted && !s->stalled &&
	       s->granted - s->asked < (u64)VOQ_REQUEST_CREDITS * g->params.credit;
}

static void voq_source_update(struct voq_granter *g, struct voq_source *s, const struct voq_msg *m,
			      u64 now_ns)
{
	enum voq_source_where where;

	s->seen_ns = now_ns;
	if (m->queued > s->queued)
		s->queued = m->queued;
	if (m->granted > s->granted) {	/* this port has lost its state, or the VOQ was open */
		s->granted = m->granted;
		s->used_ns = s->unused ? s->used_ns : now_ns;
		voq_source_count(g, s, voq_source_unused(s));
	}
	if (m->sent > s->sent)
		voq_source_used(g, s, m->sent, now_ns);
	s->asked = s->granted;
	where = voq_source_waits(g, s) ? VOQ_SOURCE_WAITING : VOQ_SOURCE_QUIET;
	if (where != s->where)
		voq_source_move(g, s, where);
}

/**
 * voq_grant_request() - take a request
 * @g: granter
 * @key: its source
 * @hash: keyed hash of @key
 * @m: the request
 * @now_ns: present time
 * @answer: answer to be sent at once
 *
 * Return: true if there is one.
 */
bool voq_grant_request(struct voq_granter *g, const struct voq_source_key *key, u32 hash,
		       const struct voq_msg *m, u64 now_ns, struct voq_msg *answer)
{
	struct voq_source *s = voq_source_find(g, key, hash);

	if (m->queued - m->granted > VOQ_DEMAND_MAX)
		return false;
	if (!s)
		s = voq_source_add(g, key, hash, m, now_ns);
	if (!s)
		return false;
	voq_source_update(g, s, m, now_ns);
	g->stats.requests++;
	g->stats.retries += m->retry;
	if (!m->retry)
		return false;
	*answer = *m;
	answer->op = VOQ_GRANT;
	answer->granted = min_t(u64, s->granted, m->queued);
	return true;
}

/* ---- grants ---- */

/* Find sources that do not use their credit. At most VOQ_AGE_MAX */
static void voq_grant_age(struct voq_granter *g, u64 now_ns)
{
	struct voq_source *s;
	u32 i;

	for (i = 0; i < VOQ_AGE_MAX && !list_empty(&g->holders); i++) {
		s = list_first_entry(&g->holders, struct voq_source, hold);
		if (now_ns < s->used_ns + VOQ_STALL_RETRIES * g->params.retry_ns)
			break;
		g->stats.stalled++;
		s->stalled = true;
		voq_source_count(g, s, 0);
		voq_source_move(g, s, VOQ_SOURCE_QUIET);
	}
}

/* Return: the source whose turn it is, or NULL. Forgets at most VOQ_AGE_MAX that are gone. */
static struct voq_source *voq_grant_turn(struct voq_granter *g, u64 now_ns)
{
	struct list_head *waiting = &g->lists[VOQ_SOURCE_WAITING];
	struct voq_source *s;
	u32 i;

	for (i = 0; i < VOQ_AGE_MAX && !list_empty(waiting); i++) {
		s = list_first_entry(waiting, struct voq_source, node);
		if (now_ns < s->seen_ns + VOQ_FORGET_RETRIES * g->params.retry_ns)
			return s;
		g->stats.forgotten++;
		voq_source_forget(g, s);
	}
	return NULL;
}

static u64 voq_grant_time(const struct voq_granter *g, u64 bytes)
{
	bytes += (u64)g->params.overhead * div_u64(bytes + VOQ_PACKET - 1, VOQ_PACKET);
	return div64_u64(bytes * NSEC_PER_SEC, g->params.rate_Bps);
}

/* Does the port's queue, or the window, withhold the grant? */
static bool voq_grant_is_held(struct voq_granter *g, u64 backlog)
{
	if (backlog >= (u64)VOQ_BACKLOG_CREDITS * g->params.credit && g->held < VOQ_HOLD_MAX) {
		g->held++;
		g->stats.held++;
		return true;
	}
	if (g->unused && g->unused + g->params.credit > g->params.window) {
		g->stats.window_full++;
		return true;
	}
	g->held = 0;
	return false;
}

static void voq_grant_give(struct voq_granter *g, struct voq_source *s, u64 amount, u64 now_ns,
			   struct voq_msg *m)
{
	bool had = s->unused;

	s->granted += amount;
	if (!had)
		s->used_ns = now_ns;
	voq_source_count(g, s, voq_source_unused(s));
	voq_source_move(g, s, voq_source_waits(g, s) ? VOQ_SOURCE_WAITING : VOQ_SOURCE_QUIET);
	g->stats.grants++;
	g->stats.granted_bytes += amount;
	*m = (struct voq_msg) {
		.op = VOQ_GRANT, .id = s->key.id, .cookie = s->key.cookie, .queued = s->queued,
		.granted = s->granted, .sent = s->sent,
	};
}

/**
 * voq_grant_next() - give credit, if it is time
 * @g: granter
 * @backlog: bytes that wait in the port's queue
 * @now_ns: present time
 * @to: source that gets it
 * @m: grant
 *
 * To be called until it returns false, and again at voq_grant_ns(). A grant advances that time by
 * at least 1 ns, and there are VOQ_REQUEST_CREDITS for a request at most. A grant that is withheld
 * advances it by VOQ_HOLD_NS at least, whatever rate and credit are.
 *
 * Return: true if there is a grant to be sent.
 */
bool voq_grant_next(struct voq_granter *g, u64 backlog, u64 now_ns, struct voq_source_key *to,
		    struct voq_msg *m)
{
	u64 credit_ns = voq_grant_time(g, g->params.credit), amount;
	struct voq_source *s;

	if (!g->waiting || now_ns < g->next_ns)
		return false;
	voq_grant_age(g, now_ns);
	s = voq_grant_turn(g, now_ns);
	if (!s || voq_grant_is_held(g, backlog)) {
		g->next_ns = now_ns + max_t(u64, credit_ns + 1, VOQ_HOLD_NS);
		return false;
	}
	amount = min_t(u64, s->queued - s->granted, g->params.credit);
	g->next_ns = max_t(u64, g->next_ns, now_ns > 2 * credit_ns ? now_ns - 2 * credit_ns : 0) +
		     voq_grant_time(g, amount) + 1;
	*to = s->key;
	voq_grant_give(g, s, amount, now_ns, m);
	return true;
}
