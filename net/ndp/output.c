// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: sendmsg(), and the memory of queued messages
 *
 * A message is copied into chunks of whole pages, to which packets refer. Short messages share the
 * task's page, as TCP's do. The flow gets the message when its first chunk is copied, and sends it
 * while sendmsg() copies further chunks. It frees a chunk when the peer has acknowledged its bytes,
 * so a message may be longer than SO_SNDBUF.
 *
 * Until all of it is copied, a message belongs to sendmsg() (@copying). If it ends before that,
 * sendmsg() frees it and returns the error. After that it belongs to the flow, and errors go to the
 * socket's error queue:
 *
 *	alloc -> chunk .. chunk -> submit -> chunk, more -> ... -> more: the flow's
 *	  |                                      |                   |
 *	  +---- error: free     ended, error: cancel, free         ended: free
 *
 * As with UDP, memory may grow while it is less than SO_SNDBUF. A message whose first chunk is
 * copied may always have a packet and a chunk more. Otherwise several threads could wait for each
 * other's memory.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "ndp.h"

/* interval at which memory of other sockets is looked for */
#define NDP_SEND_POLL	(HZ / 20)
#define NDP_SEND_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT)

/* ---- chunks ---- */

/* Bytes of a message with its gaps */
static u64 ndp_msg_bytes(const struct ndp_msg *m)
{
	return ndp_msg_place(m, m->core.len - 1) + 1;
}

/* Memory of a whole message; less than 4 GiB, as SO_SNDBUF is less than 2 */
static u32 ndp_msg_memory(const struct ndp_msg *m)
{
	u64 bytes = ndp_msg_bytes(m);
	u64 whole = bytes >> m->chunk_shift << m->chunk_shift, rest = bytes - whole;

	return (u32)whole + (rest ? ndp_chunk_memory(m, rest) : 0);
}

/*
 * Chunks are as large as the message, but not larger than is cheap, and at most a quarter of
 * SO_SNDBUF.
 */
static u8 ndp_chunk_shift(const struct sock *sk, size_t len)
{
	u32 most = (u32)max_t(int, READ_ONCE(sk->sk_sndbuf) / 4, PAGE_SIZE);
	u32 shift = min_t(u32, ilog2(most), NDP_CHUNK_SHIFT_MAX);

	shift = min_t(u32, shift, PAGE_SHIFT + get_order(len));
	return (u8)max_t(u32, shift, PAGE_SHIFT);
}

/* Lay out a message of more packets than a batch with separate headers can have. */
static void ndp_msg_lay_gaps(struct ndp_msg *m, const struct ndp_net *nn)
{
	const u64 apart = (u64)m->core.payload * NDP_BATCH_APART;
	struct ndp_snd_msg *core = &m->core;
	u32 gap = ndp_net_hlen(nn);

	if (READ_ONCE(nn->conf.gso_packets) <= NDP_BATCH_APART || core->len <= apart ||
	    apart >= NDP_BATCH_BYTES)
		return;
	m->gap = (u8)gap;
	core->payload = (u16)min_t(u32, core->payload, (1U << m->chunk_shift) - gap);
}

static struct ndp_msg *ndp_msg_alloc(struct sock *sk, size_t len, u16 payload)
{
	struct ndp_msg *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->core.len = len;
	m->core.prio = (u8)min_t(u32, READ_ONCE(sk->sk_priority), NDP_PRIOS - 1);
	m->sk = sk;
	m->copying = true;
	m->chunk_shift = ndp_chunk_shift(sk, len);
	/* so the first chunk has a packet, or all of the message */
	m->core.payload = (u16)min_t(u32, payload, 1U << m->chunk_shift);
	ndp_msg_lay_gaps(m, ndp_net(sock_net(sk)));
	xa_init_flags(&m->chunks, XA_FLAGS_LOCK_BH);
	return m;
}

/* ---- copying ---- */

/**
 * struct ndp_tx_copy - a call of sendmsg()
 * @sk: socket
 * @m: message
 * @tx: flow of the message, counted; NULL before
 * @addrs: addresses
 * @port: the peer's
 * @ifindex: device of the route
 * @copied: bytes of the message that are copied
 * @place: their memory, with gaps
 * @timeo: time that it may wait, jiffies
 */
struct ndp_tx_copy {
	struct sock *sk;
	struct ndp_msg *m;
	struct ndp_tx *tx;
	struct ndp_addrs addrs;
	u16 port;
	int ifindex;
	u64 copied;
	u64 place;
	long timeo;
};

/* May the message have more memory? */
static bool ndp_copy_may(const struct ndp_tx_copy *cp)
{
	const struct ndp_msg *m = cp->m;
	u64 least = m->gap + m->core.payload + (1ULL << m->chunk_shift);

	if (cp->place && cp->place - READ_ONCE(m->freed) < least)
		return true;
	return atomic64_read(&ndp_sk(cp->sk)->snd_bytes) < READ_ONCE(cp->sk->sk_sndbuf);
}

/*
 * Must sendmsg() stop waiting? A message may have ended only to be sent on a new flow:
 * ndp_tx_more() looks under the lock. Return: 0: no; or its result
 */
static int ndp_copy_stop(const struct ndp_tx_copy *cp)
{
	int err = 0;

	if (READ_ONCE(cp->m->core.ended))
		err = ndp_tx_more(cp->tx, cp->m, cp->copied);
	if (err)
		return err;
	if (READ_ONCE(cp->sk->sk_shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	if (!cp->timeo)
		return -EAGAIN;
	return signal_pending(current) ? sock_intr_errno(cp->timeo) : 0;
}

/* Return: false if there is no memory; *@poll: because of other sockets, so look again soon */
static bool ndp_copy_take(const struct ndp_tx_copy *cp, u32 bytes, bool *poll)
{
	*poll = ndp_copy_may(cp);
	if (!*poll || !ndp_mem_charge_send(cp->sk, bytes))
		return false;
	atomic64_add(bytes, &ndp_sk(cp->sk)->snd_bytes);
	cp->m->reserved += bytes;
	return true;
}

static void ndp_copy_sleep(struct ndp_tx_copy *cp, struct wait_queue_entry *wait, bool poll)
{
	long most = poll ? min_t(long, cp->timeo, NDP_SEND_POLL) : cp->timeo;
	long left = wait_woken(wait, TASK_INTERRUPTIBLE, most);

	if (cp->timeo != MAX_SCHEDULE_TIMEOUT)
		cp->timeo -= most - left;
}

static int ndp_copy_wait_memory(struct ndp_tx_copy *cp, u32 bytes)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	bool poll;
	int err = 0;

	add_wait_queue(sk_sleep(cp->sk), &wait);
	while (!ndp_copy_take(cp, bytes, &poll)) {
		err = ndp_copy_stop(cp);
		if (err)
			break;
		ndp_copy_sleep(cp, &wait, poll);
	}
	remove_wait_queue(sk_sleep(cp->sk), &wait);
	return err == -EAGAIN && poll ? -ENOBUFS : err;
}

static int ndp_copy_reserve(struct ndp_tx_copy *cp, u32 bytes)
{
	bool poll;

	if (cp->m->reserved >= bytes || ndp_copy_take(cp, bytes, &poll))
		return 0;
	return ndp_copy_wait_memory(cp, bytes);
}

/* Copy @bytes of the message's memory: payload, between gaps. Return: false: a fault */
static bool ndp_copy_payload(struct ndp_tx_copy *cp, struct page *page, u32 begin, u32 bytes,
			     struct iov_iter *from)
{
	const struct ndp_msg *m = cp->m;
	u32 gap = m->gap, whole = gap ? gap + m->core.payload : 1U << m->chunk_shift, at, part;

	div_u64_rem(cp->place, whole, &at);
	for (; bytes; bytes -= part, begin += part) {
		part = min(bytes, (at < gap ? gap : whole) - at);
		if (at >= gap) {
			if (copy_page_from_iter(page, begin, part, from) != part)
				return false;
			cp->copied += part;
		}
		at = at + part < whole ? at + part : 0;
	}
	return true;
}

/* Copy the only chunk of a message into a page that several messages share. */
static struct page *ndp_copy_shared(struct ndp_tx_copy *cp, u32 bytes, struct iov_iter *from)
{
	unsigned int space = ALIGN(bytes, L1_CACHE_BYTES);
	struct page_frag *frag = &current->task_frag;

	if (!skb_page_frag_refill(space, frag, cp->sk->sk_allocation))
		return ERR_PTR(-ENOMEM);
	if (!ndp_copy_payload(cp, frag->page, frag->offset, bytes, from))
		return ERR_PTR(-EFAULT);
	cp->m->begin = frag->offset;
	frag->offset += space;
	get_page(frag->page);
	return frag->page;
}

/* Copy a chunk into pages of its own, of @memory bytes. */
static struct page *ndp_copy_own(struct ndp_tx_copy *cp, u32 bytes, u32 memory,
				 struct iov_iter *from)
{
	struct page *page = alloc_pages(cp->sk->sk_allocation | __GFP_COMP, get_order(memory));

	if (!page)
		return ERR_PTR(-ENOMEM);
	if (ndp_copy_payload(cp, page, 0, bytes, from))
		return page;
	put_page(page);
	return ERR_PTR(-EFAULT);
}

/* Add a copied chunk, @index, to a message. The first one is there before the flow has it. */
static int ndp_copy_store(struct ndp_msg *m, u64 index, struct page *page)
{
	if (index)
		return xa_err(xa_store_bh(&m->chunks, (unsigned long)index, page, GFP_KERNEL));
	m->first = page;
	return 0;
}

/* Copy the next chunk. */
static int ndp_copy_chunk(struct ndp_tx_copy *cp, struct iov_iter *from)
{
	struct ndp_msg *m = cp->m;
	u64 left = ndp_msg_bytes(m) - cp->place;
	u32 bytes = (u32)min_t(u64, left, 1ULL << m->chunk_shift);
	u32 memory = ndp_chunk_memory(m, left);
	struct page *page;
	int err;

	err = ndp_copy_reserve(cp, memory);
	if (err)
		return err;
	page = ndp_msg_shares(m) ? ndp_copy_shared(cp, bytes, from) :
				   ndp_copy_own(cp, bytes, memory, from);
	if (IS_ERR(page))
		return PTR_ERR(page);
	err = ndp_copy_store(m, cp->place >> m->chunk_shift, page);
	if (err) {
		put_page(page);
		return err;
	}
	m->reserved -= memory;
	cp->place += bytes;
	return 0;
}

static int ndp_copy_try_submit(struct ndp_tx_copy *cp)
{
	struct ndp_tx *tx;
	int err;

	do {
		tx = ndp_tx_get(cp->sk, &cp->addrs, cp->port);
		if (IS_ERR(tx))
			return PTR_ERR(tx);
		err = ndp_tx_submit(tx, cp->m, cp->ifindex);
		if (err)
			ndp_tx_put(tx);
	} while (err == -ESTALE);
	if (!err)
		cp->tx = tx;
	return err;
}

/* SOCK_SEQPACKET: wait until another thread has copied its message. */
static int ndp_copy_wait_turn(struct ndp_tx_copy *cp)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	add_wait_queue(sk_sleep(cp->sk), &wait);
	while ((err = ndp_copy_try_submit(cp)) == -EBUSY) {
		err = ndp_copy_stop(cp);
		if (err)
			break;
		ndp_copy_sleep(cp, &wait, false);
	}
	remove_wait_queue(sk_sleep(cp->sk), &wait);
	return err;
}

/* Give the message, with its first chunk, to a flow. */
static int ndp_copy_submit(struct ndp_tx_copy *cp)
{
	int err;

	cp->m->core.ready = cp->copied;
	err = ndp_copy_try_submit(cp);
	return err == -EBUSY ? ndp_copy_wait_turn(cp) : err;
}

/* Copy a message. Return: 0: it is the flow's; or an error: it was freed */
static int ndp_copy(struct ndp_tx_copy *cp, struct iov_iter *from)
{
	const u64 len = cp->m->core.len;
	int err = 0;

	if (!cp->timeo)
		err = ndp_copy_reserve(cp, ndp_msg_memory(cp->m));
	while (!err && cp->copied < len) {
		err = ndp_copy_chunk(cp, from);
		if (!err)
			err = cp->tx ? ndp_tx_more(cp->tx, cp->m, cp->copied) :
				       ndp_copy_submit(cp);
	}
	if (err && cp->tx) {
		ndp_tx_cancel(cp->tx, cp->m, ECANCELED);
		if (cp->m->core.error != ECANCELED)
			err = -cp->m->core.error;
	}
	if (err) {
		ndp_msg_free(cp->m);
		/* other threads may wait for that memory */
		ndp_sock_writable(cp->sk);
	}
	if (cp->tx)
		ndp_tx_put(cp->tx);
	return err;
}

/* ---- sendmsg() ---- */

static int ndp_send_check(struct sock *sk, const struct msghdr *msg, size_t len)
{
	if (msg->msg_flags & ~NDP_SEND_FLAGS || msg->msg_controllen)
		return -EOPNOTSUPP;
	if (!len)
		return -EINVAL;
	if (len > INT_MAX || (msg->msg_flags & MSG_DONTWAIT && len > READ_ONCE(sk->sk_sndbuf)))
		return -EMSGSIZE;
	if (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	return sock_error(sk);
}

/* Get the destination: msg_name, or the connected peer. */
static int ndp_send_to(struct sock *sk, const struct msghdr *msg, struct ndp_tx_copy *cp,
		       int *ifindex)
{
	const struct inet_sock *inet = inet_sk(sk);

	*ifindex = 0;
	if (msg->msg_name)
		return ndp_addr_read(sk, msg->msg_name, msg->msg_namelen, &cp->addrs.remote,
				     &cp->port, ifindex);
	if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
		return -EDESTADDRREQ;
	if (sk->sk_family == AF_INET6)
		cp->addrs.remote = sk->sk_v6_daddr;
	else
		ipv6_addr_set_v4mapped(inet->inet_daddr, &cp->addrs.remote);
	cp->port = ntohs(inet->inet_dport);
	return 0;
}

/*
 * Get the route of the socket's last message, if it went to the same peer from the address to which
 * the socket is bound: so its packets have the route that this message would have. A device may
 * have got another VRF since.
 */
static bool ndp_send_again(struct sock *sk, const struct in6_addr *bound, int ifindex,
			   const struct ndp_tx_copy *cp, struct ndp_route *route)
{
	const struct ndp_tx *tx;
	bool same = false;

	rcu_read_lock();
	tx = rcu_dereference(ndp_sk(sk)->recent);
	if (tx && ipv6_addr_equal(&tx->to.addrs.remote, &cp->addrs.remote) &&
	    ipv6_addr_equal(&tx->to.addrs.local, bound) && !ifindex && !tx->to.addrs.ifindex &&
	    !tx->peer->key.oif && !READ_ONCE(sk->sk_bound_dev_if))
		same = ndp_peer_route(tx->peer, route);
	rcu_read_unlock();
	return same;
}

static int ndp_send_route(struct sock *sk, const struct msghdr *msg, struct ndp_tx_copy *cp,
			  u16 *payload)
{
	struct in6_addr bound = ndp_bound(sk);
	struct ndp_route route;
	int err, ifindex;

	err = ndp_send_to(sk, msg, cp, &ifindex);
	if (err)
		return err;
	if (!ndp_send_again(sk, &bound, ifindex, cp, &route))
		err = ndp_route(sk, &bound, &cp->addrs.remote, ifindex, &route);
	if (err)
		return err;
	cp->addrs.local = route.local;
	cp->addrs.ifindex = route.ifindex;
	cp->ifindex = route.dev;
	*payload = ndp_route_payload(ndp_net(sock_net(sk)), &cp->addrs, route.mtu);
	return *payload < NDP_SND_PAYLOAD_MIN ? -EMSGSIZE : 0;
}

/**
 * ndp_sendmsg() - send a message: struct proto_ops' sendmsg()
 * @sock: socket
 * @msg: message and, unless the socket is connected, its destination
 * @len: bytes, 1 or more
 *
 * The message is sent while it is copied, and after that; if it fails after that, it is in the
 * error queue. MSG_DONTWAIT: the message is kept whole, or refused.
 *
 * Return: @len; -EAGAIN: SO_SNDBUF is used up; -EMSGSIZE: longer than that with MSG_DONTWAIT, or
 * the MTU is too small; -EINVAL: no bytes; -EOPNOTSUPP: a flag, or control data; -EDESTADDRREQ;
 * -ENETUNREACH, ... of ndp_route(); -EPIPE: after shutdown(); -ENOBUFS: the sockets together have
 * too much memory, with MSG_DONTWAIT; -ENOMEM; -ETIMEDOUT, -ECONNREFUSED, ...: the message failed
 * before all of it was copied.
 */
int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct ndp_tx_copy cp = { .sk = sk };
	u16 payload;
	int err;

	err = ndp_send_check(sk, msg, len);
	if (!err)
		err = ndp_autobind(sk);
	if (!err)
		err = ndp_send_route(sk, msg, &cp, &payload);
	if (err)
		return err;
	cp.m = ndp_msg_alloc(sk, len, payload);
	if (!cp.m)
		return -ENOMEM;
	cp.timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	err = ndp_copy(&cp, &msg->msg_iter);
	return err ?: (int)len;
}
