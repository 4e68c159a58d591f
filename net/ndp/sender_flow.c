// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sending flows: tables, messages, begin and end
 *
 * A socket has a flow to each socket that it sends to. sendmsg() finds it by the two (@to), and
 * answers find it by the sender's name of it (@flow_id).
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
 * A dead flow takes no message (-ESTALE), and the caller looks for another one. So a flow with
 * messages is never dead. A flow keeps its socket, and the socket its network namespace.
 */
#include "ndp.h"
#include "tx_table.h"

/* largest scoreboard, in initial windows */
#define NDP_TX_RING_WINDOWS	16
#define NDP_TX_ABORT_BATCH	64
/* idle time after which a flow frees its scoreboard */
#define NDP_TX_RING_NS		NSEC_PER_SEC

/* ---- begin and end ---- */

/* Initial window for a message of @packets of @payload bytes that leaves by @ifindex */
static u16 ndp_tx_window(const struct ndp_tx *tx, u64 packets, u16 payload, int ifindex)
{
	u32 window = READ_ONCE(ndp_sk(tx->sk)->initial_window);

	if (!window)
		window = (u32)READ_ONCE(ndp_tx_net(tx)->conf.initial_window);
	if (!window)
		window = ndp_snd_auto_window(ndp_nic_of_Mbps(tx->peer->nn, ifindex), payload,
					     READ_ONCE(tx->peer->rtt_min_ns), packets);
	return (u16)window;
}

/*
 * Apply options and sysctls. That a flow has failed is noticed when its timer expires, so the
 * timeout is at most an eighth of timeout_ms.
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
	tx->peer = ndp_peer_get(ndp_net(sock_net(to->sk)), &to->addrs,
				READ_ONCE(to->sk->sk_bound_dev_if));
	if (!tx->peer)
		goto free;
	tx->charged = (u32)sizeof(*tx) + ndp_peer_memory(tx->peer);
	if (!ndp_mem_charge_flow(to->sk, tx->charged))
		goto put;
	sock_hold(to->sk);
	tx->sk = to->sk;
	tx->to = *to;
	refcount_set(&tx->refs, 2);	/* tables and caller */
	spin_lock_init(&tx->lock);
	INIT_LIST_HEAD(&tx->msgs);
	INIT_LIST_HEAD(&tx->nicq.age);
	hrtimer_setup(&tx->timer, ndp_tx_timeout, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	ndp_tx_configure(tx, NDP_SND_WINDOW_MIN);
	return tx;
put:
	ndp_peer_put(tx->peer);
free:
	kfree(tx);
	return NULL;
}

/*
 * Insert a flow into all tables, under its lock, because gc may find it in the first one.
 * Return: 0; -EEXIST: there is such a flow; or another errno. After an error, it is freed.
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
	tx = ndp_tx_lookup(to);
	if (tx && !refcount_inc_not_zero(&tx->refs))
		tx = NULL;
	rcu_read_unlock();
	return tx;
}

/**
 * ndp_tx_get() - find or create the flow to a socket
 * @sk: our socket, bound
 * @addrs: addresses
 * @port: the peer's, host byte order
 *
 * May sleep.
 *
 * Return: flow, counted; or ERR_PTR(-ENOMEM).
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

/* A flow sends by the device of its route when it was idle last. */
static void ndp_tx_set_link(struct ndp_tx *tx, int ifindex)
{
	struct ndp_pacer *old = tx->link;

	tx->link = ndp_pacer_find(tx->peer->nn, ifindex);
	if (old)
		ndp_pacer_put(old);
}

/*
 * Prepare a flow for a message. Its window, and so its ring, change only if it is idle.
 * Return: 0; -EAGAIN: it needs a ring of @packets; -ESTALE: it is dead; -ENOMEM
 */
static int ndp_tx_prepare(struct ndp_tx *tx, struct ndp_tx_work *w, u16 window, int ifindex,
			  struct ndp_tx_ring *ring, u32 packets)
{
	struct ndp_scoreboard *sb = &tx->f.sb;
	struct ndp_tx_ring old;

	if (tx->dead)
		return -ESTALE;
	if (ndp_snd_is_idle(&tx->f)) {
		if (!sb->pkt || sb->mask + 1 < packets) {
			if (!ring->mem)
				return -EAGAIN;
			old = ndp_tx_take_ring(tx);
			ndp_sb_attach(sb, ring->mem, ring->packets);
			*ring = old;
		}
		ndp_tx_configure(tx, window);
		ndp_tx_set_link(tx, ifindex);
	}
	if ((tx->f.error || ndp_snd_is_old(&w->c, &tx->f)) && !ndp_tx_renew(tx, w))
		return -ENOMEM;
	return 0;
}

/*
 * If all of a message is copied, it is the flow's from now on. Otherwise, on SOCK_SEQPACKET, other
 * calls of sendmsg() wait.
 */
static void ndp_tx_own(struct ndp_tx *tx, struct ndp_tx_work *w, struct ndp_msg *m)
{
	if (m->core.ready < m->core.len) {
		if (ndp_is_ordered(tx->sk))
			tx->copying = m;
		return;
	}
	ndp_tx_copied(tx, w, m);
	m->no = atomic64_inc_return(&ndp_sk(tx->sk)->sent_no);
	m->copying = false;
}

static int ndp_tx_try_submit(struct ndp_tx *tx, struct ndp_msg *m, u16 window, int ifindex,
			     struct ndp_tx_ring *ring, u32 packets)
{
	struct ndp_tx_work w;
	int err;

	ndp_tx_enter(tx, &w);
	if (tx->copying) {
		WRITE_ONCE(ndp_sk(tx->sk)->turn_denied, true);
		err = -EBUSY;
	} else {
		err = ndp_tx_prepare(tx, &w, window, ifindex, ring, packets);
	}
	if (!err && !ndp_snd_submit(&w.c, &tx->f, &m->core))
		err = -EINVAL;
	if (!err) {
		list_add_tail(&m->node, &tx->msgs);
		rcu_assign_pointer(ndp_sk(tx->sk)->recent, tx);
		atomic_inc(&ndp_sk(tx->sk)->tx_busy);
		ndp_tx_own(tx, &w, m);
	}
	ndp_tx_leave(tx, &w);
	return err;
}

/*
 * Size of the ring for a message of @packets: 16 initial windows, since one packet may wait on a
 * slow path while later packets arrive by other paths; but at most the packets of the message.
 */
static u32 ndp_tx_ring_packets(u64 packets, u16 window)
{
	packets = min_t(u64, packets, NDP_TX_RING_WINDOWS * window);
	return (u32)roundup_pow_of_two(clamp_t(u64, packets, NDP_RING_MIN, NDP_RING_MAX));
}

/**
 * ndp_tx_submit() - a message is to be sent
 * @tx: flow, counted
 * @m: message; @feeding is set. Enough of it is there for a packet, or all of it: then
 *	it is the flow's
 * @ifindex: device of the route
 *
 * May sleep.
 *
 * Return: 0; -ESTALE: ndp_tx_get() gives another flow by now; -EBUSY: messages are in order,
 * and another sendmsg() is at one; or another errno. If not 0, the message is still the
 * caller's.
 */
int ndp_tx_submit(struct ndp_tx *tx, struct ndp_msg *m, int ifindex)
{
	u64 packets = div_u64(m->core.len - 1, m->core.payload) + 1;
	u16 window = ndp_tx_window(tx, packets, m->core.payload, ifindex);
	u32 ring_packets = ndp_tx_ring_packets(packets, window);
	struct ndp_tx_ring ring = {};
	int err;

	do {
		err = ndp_tx_try_submit(tx, m, window, ifindex, &ring, ring_packets);
		if (err != -EAGAIN)
			break;
		ring = ndp_tx_alloc_ring(tx->sk, ring_packets);
	} while (ring.mem);
	ndp_tx_free_ring(tx->sk, ring);
	return err == -EAGAIN ? -ENOMEM : err;
}

/**
 * ndp_tx_more() - more of a message is copied
 * @tx: its flow, counted
 * @m: message, the caller's
 * @ready: bytes that are copied; if that is all, it is the flow's
 *
 * Return: 0; or the error with which the message has ended: it is the caller's.
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

/* Give up messages. Return: their number, at most NDP_TX_ABORT_BATCH */
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
 * ndp_tx_cancel() - give up a message that sendmsg() copies
 * @tx: its flow, counted
 * @m: message; it remains the caller's
 * @error: reason
 */
void ndp_tx_cancel(struct ndp_tx *tx, struct ndp_msg *m, u8 error)
{
	struct ndp_tx_work w;

	ndp_tx_enter(tx, &w);
	if (!m->core.ended && ndp_snd_cancel(&w.c, &tx->f, &m->core, error))
		ndp_tx_abort(tx, &w, m);
	ndp_tx_leave(tx, &w);
}

/* ---- close(), garbage collection ---- */

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
 * ndp_tx_close() - close a socket's sending flows
 * @sk: socket
 * @abort: give up all messages; else they continue for at most NDP_ORPHAN_MS
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
	idle = list_empty(&tx->msgs) && ndp_snd_is_idle(&tx->f);
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
 * ndp_tx_gc() - free scoreboards and flows that are not used
 * @nn: namespace
 *
 * May sleep.
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

/* ---- NDP_INFO ---- */

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
	info->returned_received = s->returned_packets;
	info->pulls_received = s->pulls;
	info->probes_sent = s->probes;
}

static void ndp_tx_info_flow(const struct ndp_tx *tx, struct ndp_info *info)
{
	const struct ndp_paths *paths = &tx->peer->paths;
	u32 least_ns = READ_ONCE(tx->peer->rtt_min_ns);

	info->peers++;
	info->flows_sending += !list_empty(&tx->msgs);
	info->paths += paths->count;
	info->paths_avoided += paths->count - READ_ONCE(paths->live);
	info->rtt_ns = max_t(u64, info->rtt_ns, READ_ONCE(tx->rtt_ns));
	info->rto_ns = max_t(u64, info->rto_ns, READ_ONCE(tx->params.rto_ns));
	if (least_ns && (!info->rtt_min_ns || least_ns < info->rtt_min_ns))
		info->rtt_min_ns = least_ns;
}

/**
 * ndp_tx_info() - get the sending counters of a socket
 * @sk: socket
 * @info: result
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
		ndp_snd_stats_add(&sum, &tx->stats);
		ndp_tx_info_flow(tx, info);
	}
	spin_unlock_bh(&ns->tx_lock);
	ndp_tx_info_stats(&sum, info);
}

/* ---- namespaces ---- */

/**
 * ndp_tx_init() - initialize the tables of a namespace
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
 * ndp_tx_exit() - free the tables, which are empty
 * @nn: namespace
 */
void ndp_tx_exit(struct ndp_net *nn)
{
	WARN_ON_ONCE(atomic_read(&nn->tx.nelems));
	rhashtable_destroy(&nn->tx_by_to);
	rhashtable_destroy(&nn->tx);
}
