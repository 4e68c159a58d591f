// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: flows that send: their tables, their begin and their end
 *
 * A socket has a flow for each socket that it sends to, found by the two (@to) when a
 * message comes, and by our name of it (@flow_id) when an answer does.
 *
 *	        sendmsg                  socket closed and no message left,
 *	(none) ---------> +------+       or not used for long            +------+
 *	                  | live | ------------------------------------> | dead |
 *	                  +------+                                       +------+
 *	                   |    ^  new flow_id, counters                     | last reference,
 *	                   +----+                                            | RCU
 *	              failed, or the receiver                                v
 *	              may have forgotten it                               (freed)
 *
 * Who makes it dead, under its lock, takes it out of the tables. A flow that was found just
 * before takes no message (-ESTALE): whoever has one looks again. So a flow with messages is
 * never dead. As long as a flow lives, so does its socket, with its network namespace.
 */
#include "ndp.h"

#define NDP_TX_ID_TRIES		8
/* A ring has place for so many initial windows, if messages are that long. */
#define NDP_TX_RING_WINDOWS	16
#define NDP_TX_ABORT_BATCH	64
/* A flow that is idle for so long gives its scoreboard back. */
#define NDP_TX_RING_NS		NSEC_PER_SEC

const struct rhashtable_params ndp_tx_params = {
	.head_offset = offsetof(struct ndp_tx, node),
	.key_offset = offsetof(struct ndp_tx, flow_id),
	.key_len = sizeof_field(struct ndp_tx, flow_id),
	.automatic_shrinking = true,
};

static const struct rhashtable_params ndp_tx_to_params = {
	.head_offset = offsetof(struct ndp_tx, to_node),
	.key_offset = offsetof(struct ndp_tx, to),
	.key_len = sizeof_field(struct ndp_tx, to),
	.automatic_shrinking = true,
};

static struct ndp_net *ndp_tx_net(const struct ndp_tx *tx)
{
	return ndp_net(sock_net(tx->sk));
}

/* ---- names ---- */

/* Into the table of flows, under a random name. Return: 0 or errno. */
static int ndp_tx_name(struct ndp_tx *tx)
{
	struct ndp_net *nn = ndp_tx_net(tx);
	int err, tries = NDP_TX_ID_TRIES;

	do {
		tx->flow_id = get_random_u32();
		tx->f.flow_id = tx->flow_id;
		err = rhashtable_lookup_insert_fast(&nn->tx, &tx->node, ndp_tx_params);
	} while (err == -EEXIST && --tries);
	if (!err)
		ndp_count(nn, NDP_N_TX_FLOWS);
	return err;
}

static void ndp_tx_begin(struct ndp_tx *tx, u64 now)
{
	/* in order, packets between those of another message would only wait for that */
	enum ndp_policy policy = ndp_is_ordered(tx->sk) ? NDP_POLICY_FIFO : NDP_POLICY_FAIR;

	ndp_snd_init(&tx->f, &tx->params, policy, tx->flow_id, get_random_u32());
	tx->f.sport = inet_sk(tx->sk)->inet_num;
	tx->f.dport = (u16)tx->to.port;
	tx->f.quiet_ns = now;
}

/**
 * ndp_tx_renew() - a flow that has failed, or is old, goes on under a new name
 * @tx: flow; locked, and no message of it is in the core
 * @w: work
 *
 * Return: false if that cannot be: it is dead.
 */
bool ndp_tx_renew(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	struct ndp_board *b = &tx->f.board;
	u32 ring = b->mask + 1;
	void *mem = b->pkt;

	rhashtable_remove_fast(&ndp_tx_net(tx)->tx, &tx->node, ndp_tx_params);
	if (ndp_tx_name(tx)) {
		ndp_tx_kill(tx, w);
		return false;
	}
	if (!tx->f.error) {
		ndp_snd_renew(&tx->f, tx->flow_id);
		return true;
	}
	/* nothing is left in the ring: its maps are 0 */
	ndp_tx_begin(tx, w->c.now);
	if (mem)
		ndp_board_attach(b, mem, ring);
	return true;
}

/* ---- rings ---- */

/**
 * struct ndp_tx_ring - memory of a scoreboard, charged to the flow's socket
 * @mem: ndp_board_bytes(); NULL: none
 * @packets: that it has place for
 */
struct ndp_tx_ring {
	void *mem;
	u32 packets;
};

/* Return: one without memory if there is too little */
static struct ndp_tx_ring ndp_tx_alloc_ring(struct sock *sk, u32 packets)
{
	struct ndp_tx_ring ring = { .packets = packets };
	u32 bytes = ndp_board_bytes(packets);

	if (!ndp_mem_charge_flow(sk, bytes))
		return ring;
	ring.mem = kvzalloc(bytes, GFP_KERNEL);
	if (!ring.mem)
		ndp_mem_uncharge_flow(sk, bytes);
	return ring;
}

static void ndp_tx_free_ring(struct sock *sk, struct ndp_tx_ring ring)
{
	if (!ring.mem)
		return;
	kvfree(ring.mem);
	ndp_mem_uncharge_flow(sk, ndp_board_bytes(ring.packets));
}

/* From an idle flow, or one that nobody knows */
static struct ndp_tx_ring ndp_tx_take_ring(struct ndp_tx *tx)
{
	struct ndp_board *b = &tx->f.board;
	struct ndp_tx_ring ring = { .mem = b->pkt, .packets = b->mask + 1 };

	b->pkt = NULL;
	return ring;
}

/* ---- begin and end ---- */

static void ndp_tx_free_rcu(struct rcu_head *rcu)
{
	struct ndp_tx *tx = container_of(rcu, struct ndp_tx, rcu);

	hrtimer_cancel(&tx->timer);
	WARN_ON_ONCE(!list_empty(&tx->msgs));
	ndp_tx_free_ring(tx->sk, ndp_tx_take_ring(tx));
	ndp_peer_put(tx->peer);
	ndp_mem_uncharge_flow(tx->sk, tx->charged);
	sock_put(tx->sk);
	kfree(tx);
}

/**
 * ndp_tx_put() - a flow is not used any more by the caller
 * @tx: flow
 */
void ndp_tx_put(struct ndp_tx *tx)
{
	if (refcount_dec_and_test(&tx->refs))
		call_rcu(&tx->rcu, ndp_tx_free_rcu);
}

/**
 * ndp_tx_kill() - a flow ends
 * @tx: flow; locked, without messages
 * @w: work; ndp_tx_leave() does the rest
 */
void ndp_tx_kill(struct ndp_tx *tx, struct ndp_tx_work *w)
{
	if (tx->dead)
		return;
	tx->dead = true;
	w->gone = true;
	rhashtable_remove_fast(&ndp_tx_net(tx)->tx_by_to, &tx->to_node, ndp_tx_to_params);
}

/**
 * ndp_tx_unlink() - a flow goes out of all tables but that of ndp_tx_kill()
 * @tx: flow; dead, or never used
 *
 * Once only.
 */
void ndp_tx_unlink(struct ndp_tx *tx)
{
	struct ndp_sock *ns = ndp_sk(tx->sk);
	struct ndp_net *nn = ndp_tx_net(tx);

	rhashtable_remove_fast(&nn->tx, &tx->node, ndp_tx_params);
	spin_lock_bh(&ns->tx_lock);
	list_del_rcu(&tx->sock_node);
	ndp_stats_add(&ns->snd_totals, &tx->stats);
	spin_unlock_bh(&ns->tx_lock);
	spin_lock_bh(&nn->totals_lock);
	ndp_stats_add(&nn->snd_totals, &tx->stats);
	spin_unlock_bh(&nn->totals_lock);
	ndp_tx_put(tx);
}

static u16 ndp_tx_window(const struct ndp_tx *tx)
{
	u32 window = READ_ONCE(ndp_sk(tx->sk)->initial_window);

	return (u16)(window ?: (u32)READ_ONCE(ndp_tx_net(tx)->conf.initial_window));
}

/**
 * ndp_tx_set_rto() - a flow's timeout
 * @tx: flow; locked, or not known to anybody yet
 *
 * It is what the namespace says, but at least two round trips: on slow links, and if answers
 * wait for long at the peer's NIC, that may be more.
 */
void ndp_tx_set_rto(struct ndp_tx *tx)
{
	u64 rto_ns = (u64)READ_ONCE(ndp_tx_net(tx)->conf.rto_us) * NSEC_PER_USEC;

	rto_ns = max_t(u64, rto_ns, min_t(u64, 2ULL * tx->rtt_ns, tx->params.rto_max_ns));
	WRITE_ONCE(tx->params.rto_ns, (u32)rto_ns);
}

/*
 * Of what a socket and its namespace are told to do. A message fails when nothing was
 * heard for timeout_ms; that is seen when the timer expires, so that must be now and then.
 */
static void ndp_tx_configure(struct ndp_tx *tx, u16 window)
{
	const struct ndp_conf *conf = &ndp_tx_net(tx)->conf;
	u32 timeout_ms = READ_ONCE(ndp_sk(tx->sk)->timeout_ms);
	struct ndp_snd_params *p = &tx->params;

	*p = (struct ndp_snd_params)NDP_SND_DEFAULTS;
	p->initial_window = window;
	p->timeout_ns = (u64)(timeout_ms ?: (u32)READ_ONCE(conf->timeout_ms)) * NSEC_PER_MSEC;
	p->rto_max_ns = (u32)min_t(u64, p->rto_max_ns, p->timeout_ns / 8);
	ndp_tx_set_rto(tx);
	p->rto_max_ns = max(p->rto_max_ns, p->rto_ns);
}

static struct ndp_tx *ndp_tx_alloc(const struct ndp_tx_to *to)
{
	struct ndp_tx *tx = kzalloc(sizeof(*tx), GFP_KERNEL);

	if (!tx)
		return NULL;
	tx->peer = ndp_peer_get(ndp_net(sock_net(to->sk)), &to->addrs);
	if (!tx->peer)
		goto free;
	tx->charged = (u32)sizeof(*tx) + ndp_peer_memory(tx->peer);
	if (!ndp_mem_charge_flow(to->sk, tx->charged))
		goto put;
	sock_hold(to->sk);
	tx->sk = to->sk;
	tx->to = *to;
	refcount_set(&tx->refs, 2);	/* the tables', the caller's */
	spin_lock_init(&tx->lock);
	INIT_LIST_HEAD(&tx->msgs);
	hrtimer_setup(&tx->timer, ndp_tx_timeout, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	ndp_tx_configure(tx, ndp_tx_window(tx));
	return tx;
put:
	ndp_peer_put(tx->peer);
free:
	kfree(tx);
	return NULL;
}

/*
 * Into all tables: under the lock, as gc may find it in the first one.
 * Return: 0; -EEXIST: there is such a flow by now; or another errno: it is freed.
 */
static int ndp_tx_add(struct ndp_tx *tx)
{
	struct ndp_sock *ns = ndp_sk(tx->sk);
	int err;

	spin_lock_bh(&tx->lock);
	ndp_tx_begin(tx, ktime_get_ns());
	spin_lock(&ns->tx_lock);
	list_add_tail_rcu(&tx->sock_node, &ns->tx_list);
	spin_unlock(&ns->tx_lock);
	err = ndp_tx_name(tx);
	if (!err)
		err = rhashtable_lookup_insert_fast(&ndp_tx_net(tx)->tx_by_to, &tx->to_node,
						    ndp_tx_to_params);
	tx->dead = err;
	spin_unlock_bh(&tx->lock);
	if (err) {
		ndp_tx_unlink(tx);
		ndp_tx_put(tx);
	}
	return err;
}

static struct ndp_tx *ndp_tx_by_to(const struct ndp_tx_to *to)
{
	struct ndp_tx *tx;

	rcu_read_lock();
	tx = rhashtable_lookup(&ndp_net(sock_net(to->sk))->tx_by_to, to, ndp_tx_to_params);
	if (tx && !refcount_inc_not_zero(&tx->refs))
		tx = NULL;
	rcu_read_unlock();
	return tx;
}

/**
 * ndp_tx_get() - the flow to a socket, a new one if need be
 * @sk: ours; bound
 * @addrs: addresses
 * @port: the peer's, host byte order
 *
 * May sleep.
 *
 * Return: it, counted; or ERR_PTR(-ENOMEM).
 */
struct ndp_tx *ndp_tx_get(struct sock *sk, const struct ndp_addrs *addrs, u16 port)
{
	struct ndp_tx_to to = { .sk = sk, .addrs = *addrs, .port = port };
	struct ndp_tx *tx;
	int err;

	do {
		tx = ndp_tx_by_to(&to);
		if (tx)
			return tx;
		tx = ndp_tx_alloc(&to);
		err = tx ? ndp_tx_add(tx) : -ENOMEM;
	} while (err == -EEXIST);
	if (err)
		return ERR_PTR(-ENOMEM);
	ndp_gc_start(ndp_tx_net(tx));
	return tx;
}

/* ---- messages ---- */

/**
 * ndp_tx_fed() - sendmsg() is at a message no longer
 * @tx: its flow, locked
 * @w: work
 * @m: message
 */
void ndp_tx_fed(struct ndp_tx *tx, struct ndp_tx_work *w, const struct ndp_msg *m)
{
	if (tx->fed != m)
		return;
	tx->fed = NULL;
	/* of another flow, perhaps: then who is told to try is denied once more */
	WRITE_ONCE(ndp_sk(tx->sk)->turn_denied, false);
	w->wake = true;
}

static bool ndp_tx_idle(const struct ndp_tx *tx)
{
	return !ndp_snd_busy(&tx->f) && !tx->f.begun;
}

/*
 * Before a message comes. Only if the flow is idle may its window change, and so its ring.
 * Return: 0; -EAGAIN: it needs a ring, of so many packets; -ESTALE: another flow is needed;
 * -ENOMEM.
 */
static int ndp_tx_prepare(struct ndp_tx *tx, struct ndp_tx_work *w, u16 window,
			  struct ndp_tx_ring *ring, u32 packets)
{
	struct ndp_board *b = &tx->f.board;
	struct ndp_tx_ring old;

	if (tx->dead)
		return -ESTALE;
	if (ndp_tx_idle(tx)) {
		if (!b->pkt || b->mask + 1 < packets) {
			if (!ring->mem)
				return -EAGAIN;
			old = ndp_tx_take_ring(tx);
			ndp_board_attach(b, ring->mem, ring->packets);
			*ring = old;
		}
		ndp_tx_configure(tx, window);
	}
	if ((tx->f.error || ndp_snd_is_old(&w->c, &tx->f)) && !ndp_tx_renew(tx, w))
		return -ENOMEM;
	return 0;
}

/*
 * Is all of the message there? Then it is the flow's from now on. Else, if messages are in
 * order, others have to wait for it.
 */
static void ndp_tx_own(struct ndp_tx *tx, struct ndp_tx_work *w, struct ndp_msg *m)
{
	if (m->core.ready < m->core.len) {
		if (ndp_is_ordered(tx->sk))
			tx->fed = m;
		return;
	}
	ndp_tx_fed(tx, w, m);
	m->no = atomic64_inc_return(&ndp_sk(tx->sk)->sent_no);
	m->feeding = false;
}

static int ndp_tx_try_submit(struct ndp_tx *tx, struct ndp_msg *m, u16 window,
			     struct ndp_tx_ring *ring, u32 packets)
{
	struct ndp_tx_work w;
	int err;

	ndp_tx_enter(tx, &w);
	if (tx->fed) {
		WRITE_ONCE(ndp_sk(tx->sk)->turn_denied, true);
		err = -EBUSY;
	} else {
		err = ndp_tx_prepare(tx, &w, window, ring, packets);
	}
	if (!err && !ndp_snd_submit(&w.c, &tx->f, &m->core))
		err = -EINVAL;
	if (!err) {
		list_add_tail(&m->node, &tx->msgs);
		atomic_inc(&ndp_sk(tx->sk)->tx_busy);
		ndp_tx_own(tx, &w, m);
	}
	ndp_tx_leave(tx, &w);
	return err;
}

/*
 * Packets of a flow's ring, for a message: 16 initial windows, for one packet may wait long
 * on a slow path, while others come by others; but not more than the message has, however large
 * a window the socket's user has set.
 */
static u32 ndp_tx_ring_packets(const struct ndp_snd_msg *m, u16 window)
{
	u64 packets = div_u64(m->len - 1, m->payload) + 1;

	packets = min_t(u64, packets, NDP_TX_RING_WINDOWS * window);
	return (u32)roundup_pow_of_two(clamp_t(u64, packets, NDP_RING_MIN, NDP_RING_MAX));
}

/**
 * ndp_tx_submit() - a message is to be sent
 * @tx: flow, counted
 * @m: message; @feeding is set. Enough of it is there for a packet, or all of it: then
 *	it is the flow's
 *
 * May sleep.
 *
 * Return: 0; -ESTALE: ndp_tx_get() gives another flow by now; -EBUSY: messages are in order,
 * and another sendmsg() is at one; or another errno. If not 0, the message is still the
 * caller's.
 */
int ndp_tx_submit(struct ndp_tx *tx, struct ndp_msg *m)
{
	u16 window = ndp_tx_window(tx);
	u32 packets = ndp_tx_ring_packets(&m->core, window);
	struct ndp_tx_ring ring = {};
	int err;

	do {
		err = ndp_tx_try_submit(tx, m, window, &ring, packets);
		if (err != -EAGAIN)
			break;
		ring = ndp_tx_alloc_ring(tx->sk, packets);
	} while (ring.mem);
	ndp_tx_free_ring(tx->sk, ring);
	return err == -EAGAIN ? -ENOMEM : err;
}

/**
 * ndp_tx_more() - more of a message is there
 * @tx: its flow, counted
 * @m: message, the caller's
 * @ready: bytes that are there; if that is all of it, it is the flow's
 *
 * Return: 0; or why the message has ended: it is still the caller's.
 */
int ndp_tx_more(struct ndp_tx *tx, struct ndp_msg *m, u64 ready)
{
	struct ndp_tx_work w;
	int err = 0;

	ndp_tx_enter(tx, &w);
	if (ndp_snd_more(&w.c, &tx->f, &m->core, ready))
		ndp_tx_own(tx, &w, m);
	else
		err = -m->core.error;
	ndp_tx_leave(tx, &w);
	return err;
}

/* Return: messages that were given up. */
static u32 ndp_tx_cancel_some(struct ndp_tx *tx, struct ndp_tx_work *w, u8 error)
{
	struct ndp_msg *m;
	u32 count = 0;

	list_for_each_entry(m, &tx->msgs, node) {
		if (ndp_snd_cancel(&w->c, &tx->f, &m->core, error))
			ndp_tx_abort(tx, w, m);
		if (++count == NDP_TX_ABORT_BATCH)
			break;
	}
	return count;
}

/**
 * ndp_tx_cancel() - sendmsg() gives its message up
 * @tx: its flow, counted
 * @m: message, the caller's, and remains so
 * @error: why
 */
void ndp_tx_cancel(struct ndp_tx *tx, struct ndp_msg *m, u8 error)
{
	struct ndp_tx_work w;

	ndp_tx_enter(tx, &w);
	if (!m->core.ended && ndp_snd_cancel(&w.c, &tx->f, &m->core, error))
		ndp_tx_abort(tx, &w, m);
	ndp_tx_leave(tx, &w);
}

/* ---- the end of a socket, and of what nobody uses ---- */

static void ndp_tx_shut(struct ndp_tx *tx, bool abort)
{
	struct ndp_tx_work w;
	u32 count = 0;

	do {
		ndp_tx_enter(tx, &w);
		if (!tx->close_ns)
			tx->close_ns = w.c.now;
		if (abort)
			count = ndp_tx_cancel_some(tx, &w, ECANCELED);
		ndp_tx_leave(tx, &w);
	} while (count == NDP_TX_ABORT_BATCH);
}

/**
 * ndp_tx_close() - a socket is closed
 * @sk: socket; sendmsg() is not called any more
 * @abort: give up all messages; else they go on, for NDP_ORPHAN_MS at most
 */
void ndp_tx_close(struct sock *sk, bool abort)
{
	struct ndp_tx *tx;

	rcu_read_lock();
	list_for_each_entry_rcu(tx, &ndp_sk(sk)->tx_list, sock_node)
		ndp_tx_shut(tx, abort);
	rcu_read_unlock();
}

static void ndp_tx_age(struct ndp_tx *tx)
{
	struct ndp_tx_ring ring = {};
	bool orphan = false, idle;
	struct ndp_tx_work w;

	ndp_tx_enter(tx, &w);
	idle = list_empty(&tx->msgs) && ndp_tx_idle(tx);
	if (tx->close_ns)
		orphan = w.c.now - tx->close_ns >= (u64)NDP_ORPHAN_MS * NSEC_PER_MSEC;
	if (idle && ndp_snd_is_old(&w.c, &tx->f))
		ndp_tx_kill(tx, &w);
	else if (idle && w.c.now - tx->f.quiet_ns >= NDP_TX_RING_NS)
		ring = ndp_tx_take_ring(tx);
	ndp_tx_leave(tx, &w);
	ndp_tx_free_ring(tx->sk, ring);
	if (orphan)
		ndp_tx_shut(tx, true);
}

/**
 * ndp_tx_gc() - take back what flows do not need any more
 * @nn: namespace
 *
 * Once a second; may sleep. Flows that the receiver may have forgotten go, too: as new ones
 * they would have another name.
 *
 * Return: true if there are flows.
 */
bool ndp_tx_gc(struct ndp_net *nn)
{
	struct rhashtable_iter iter;
	struct ndp_tx *tx;
	bool any = false;

	rhashtable_walk_enter(&nn->tx, &iter);
	rhashtable_walk_start(&iter);
	while ((tx = rhashtable_walk_next(&iter))) {
		any = true;
		if (IS_ERR(tx) || !refcount_inc_not_zero(&tx->refs))
			continue;
		rhashtable_walk_stop(&iter);
		ndp_tx_age(tx);
		ndp_tx_put(tx);
		cond_resched();
		rhashtable_walk_start(&iter);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return any;
}

/* ---- for people ---- */

static void ndp_tx_info_stats(const struct ndp_snd_stats *s, struct ndp_info *info)
{
	info->msgs_sent = s->msgs_done;
	info->msgs_failed = s->msgs_failed;
	info->bytes_sent = s->new_bytes;
	info->packets_sent = s->new_packets + s->rtx_packets;
	info->packets_unasked = s->spec_packets + s->pushed_packets;
	info->packets_rtx = s->rtx_packets;
	info->packets_rtx_timeout = s->timeouts;
	info->acks_received = s->acked_packets;
	info->nacks_received = s->nacked_packets;
	info->returned_received = s->bounced_packets;
	info->pulls_received = s->pulls;
	info->probes_sent = s->probes;
}

static void ndp_tx_info_flow(const struct ndp_tx *tx, struct ndp_info *info)
{
	const struct ndp_paths *paths = &tx->peer->paths;
	u32 rtt_ns = READ_ONCE(tx->rtt_ns), least_ns = READ_ONCE(tx->rtt_min_ns);

	info->peers++;
	info->flows_sending += !list_empty(&tx->msgs);
	info->paths += paths->count;
	info->paths_avoided += paths->count - READ_ONCE(paths->live);
	info->rtt_ns = max_t(u64, info->rtt_ns, rtt_ns);
	info->rto_ns = max_t(u64, info->rto_ns, READ_ONCE(tx->params.rto_ns));
	if (rtt_ns && (!info->rtt_min_ns || least_ns < info->rtt_min_ns))
		info->rtt_min_ns = least_ns;
}

/**
 * ndp_tx_info() - what a socket has sent
 * @sk: socket
 * @info: result: what is about sending is added
 */
void ndp_tx_info(struct sock *sk, struct ndp_info *info)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_snd_stats sum;
	struct ndp_tx *tx;

	info->msgs_sending = (u32)atomic_read(&ns->tx_busy);
	info->rto_ns = (u64)READ_ONCE(ndp_net(sock_net(sk))->conf.rto_us) * NSEC_PER_USEC;
	spin_lock_bh(&ns->tx_lock);
	sum = ns->snd_totals;
	list_for_each_entry(tx, &ns->tx_list, sock_node) {
		ndp_stats_add(&sum, &tx->stats);
		ndp_tx_info_flow(tx, info);
	}
	spin_unlock_bh(&ns->tx_lock);
	ndp_tx_info_stats(&sum, info);
}

/* ---- namespaces ---- */

/**
 * ndp_tx_init() - a namespace begins
 * @nn: namespace
 *
 * Return: 0 or errno.
 */
int ndp_tx_init(struct ndp_net *nn)
{
	int err = rhashtable_init(&nn->tx, &ndp_tx_params);

	if (err)
		return err;
	err = rhashtable_init(&nn->tx_by_to, &ndp_tx_to_params);
	if (err)
		rhashtable_destroy(&nn->tx);
	return err;
}

/**
 * ndp_tx_exit() - a namespace ends
 * @nn: namespace; its sockets are gone, and so are their flows
 */
void ndp_tx_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->tx.nelems));
	rhashtable_destroy(&nn->tx_by_to);
	rhashtable_destroy(&nn->tx);
}
