// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP: messages to be sent: sendmsg(), and their memory
 *
 * A message's bytes are in chunks of whole pages; packets refer to the pages. Those of a
 * short one are in pages that the task shares among all of them, as TCP's are. The flow
 * gets the message when its first chunk is there, and sends it while the rest is copied.
 * When the peer has a chunk's bytes, the flow frees it, so that a message may be longer
 * than the socket has memory.
 *
 * Until all of it is there, the message belongs to sendmsg() (@feeding): if it ends before
 * that, the flow lets go of it, and sendmsg() sees that, frees it, and returns the error.
 * After that it belongs to the flow; if it fails then, the socket's error queue has it.
 *
 *	alloc -> chunk .. chunk -> submit -> chunk, more -> ... -> more: the flow's
 *	  |                                      |                   |
 *	  +---- error: free     ended, error: cancel, free         ended: free
 *
 * Memory: as with UDP, what is kept may grow as long as it is less than SO_SNDBUF. A message
 * of which the first chunk is there may always have a packet and a chunk: or several
 * threads could each wait for the others' memory, with less than a packet.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "ndp.h"

/* How soon to look again for memory that other sockets have */
#define NDP_SEND_POLL	(HZ / 20)
#define NDP_SEND_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT)

/* ---- chunks ---- */

/* Does a message share pages with others? Then it is one chunk, which it never frees early. */
static bool ndp_msg_shares(const struct ndp_msg *m)
{
	return m->core.len <= PAGE_SIZE / 2;
}

/*
 * Memory of the chunk that has so many bytes of the message at most. Only with a short one
 * the message itself matters.
 */
static u32 ndp_chunk_memory(const struct ndp_msg *m, u64 bytes)
{
	if (ndp_msg_shares(m))
		return (u32)(ALIGN(m->core.len, L1_CACHE_BYTES) + sizeof(*m));
	return (u32)PAGE_SIZE << get_order(min_t(u64, bytes, 1UL << m->chunk_shift));
}

/* Of a message of which nothing is done. Less than 4 GiB, as SO_SNDBUF is less than 2 */
static u32 ndp_msg_memory(const struct ndp_msg *m)
{
	u64 whole = m->core.len >> m->chunk_shift << m->chunk_shift, rest = m->core.len - whole;

	return (u32)whole + (rest ? ndp_chunk_memory(m, rest) : 0);
}

static void ndp_msg_uncharge(struct ndp_msg *m, u32 bytes)
{
	if (!bytes)
		return;
	ndp_mem_uncharge(m->sk, bytes, SK_MEM_SEND);
	atomic64_sub(bytes, &ndp_sk(m->sk)->snd_bytes);
}

/**
 * ndp_msg_add() - a part of a message becomes a packet's payload
 * @m: message
 * @skb: packet; or a batch, of which the packet is the last
 * @offset: of the part, bytes
 * @len: bytes; all of them are there
 *
 * Return: false if the packet cannot have so many fragments.
 */
bool ndp_msg_add(struct ndp_msg *m, struct sk_buff *skb, u64 offset, u32 len)
{
	u32 size = 1U << m->chunk_shift, begin, part;
	struct page *page;
	int frag;

	for (frag = skb_shinfo(skb)->nr_frags; len; frag++) {
		page = xa_load(&m->chunks, (unsigned long)(offset >> m->chunk_shift));
		if (WARN_ON_ONCE(!page || frag == MAX_SKB_FRAGS))
			return false;
		begin = (u32)offset & (size - 1);
		part = min(len, size - begin);
		get_page(page);
		skb_add_rx_frag(skb, frag, page, (int)(m->begin + begin), (int)part, part);
		offset += part;
		len -= part;
	}
	return true;
}

/**
 * ndp_msg_done() - more of a message was acknowledged
 * @m: message, under its flow's lock
 *
 * Return: true if there is less of its memory now.
 */
bool ndp_msg_done(struct ndp_msg *m)
{
	u64 freed = m->freed, size = 1ULL << m->chunk_shift;
	struct page *page;
	u32 bytes = 0;

	for (; freed + size <= m->core.done; freed += size) {
		page = xa_erase_bh(&m->chunks, (unsigned long)(freed >> m->chunk_shift));
		bytes += page_size(page);
		put_page(page);
	}
	WRITE_ONCE(m->freed, freed);
	ndp_msg_uncharge(m, bytes);
	return bytes;
}

/**
 * ndp_msg_free() - free a message
 * @m: message; no flow has it
 */
void ndp_msg_free(struct ndp_msg *m)
{
	u32 bytes = m->reserved;
	unsigned long index;
	struct page *page;

	xa_for_each(&m->chunks, index, page) {
		bytes += ndp_msg_shares(m) ? ndp_chunk_memory(m, m->core.len) : page_size(page);
		put_page(page);
	}
	xa_destroy(&m->chunks);
	ndp_msg_uncharge(m, bytes);
	kfree(m);
}

/*
 * Chunks: as large as the message, but not larger than is cheap, and so that the socket's
 * memory is several.
 */
static u8 ndp_chunk_shift(const struct sock *sk, size_t len)
{
	u32 most = (u32)max_t(int, READ_ONCE(sk->sk_sndbuf) / 4, PAGE_SIZE);
	u32 shift = min_t(u32, ilog2(most), NDP_CHUNK_SHIFT_MAX);

	shift = min_t(u32, shift, PAGE_SHIFT + get_order(len));
	return (u8)max_t(u32, shift, PAGE_SHIFT);
}

static struct ndp_msg *ndp_msg_alloc(struct sock *sk, size_t len, u16 payload)
{
	struct ndp_msg *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->core.len = len;
	m->core.prio = (u8)min_t(u32, READ_ONCE(sk->sk_priority), NDP_PRIOS - 1);
	m->sk = sk;
	m->feeding = true;
	m->chunk_shift = ndp_chunk_shift(sk, len);
	/* the first chunk is a packet, then, or all */
	m->core.payload = (u16)min_t(u32, payload, 1U << m->chunk_shift);
	xa_init_flags(&m->chunks, XA_FLAGS_LOCK_BH);
	return m;
}

/* ---- sendmsg() at work ---- */

/**
 * struct ndp_feed - a sendmsg() at work
 * @sk: its socket
 * @m: its message
 * @tx: the message's flow, counted; NULL: it has none yet
 * @addrs: addresses
 * @port: of the peer
 * @copied: bytes of the message that are there
 * @timeo: how long it may still wait, jiffies; 0: not at all
 */
struct ndp_feed {
	struct sock *sk;
	struct ndp_msg *m;
	struct ndp_tx *tx;
	struct ndp_addrs addrs;
	u16 port;
	u64 copied;
	long timeo;
};

/* May the message have more memory? */
static bool ndp_feed_may(const struct ndp_feed *fd)
{
	const struct ndp_msg *m = fd->m;
	u64 least = m->core.payload + (1ULL << m->chunk_shift);

	if (fd->copied && fd->copied - READ_ONCE(m->freed) < least)
		return true;
	return atomic64_read(&ndp_sk(fd->sk)->snd_bytes) < READ_ONCE(fd->sk->sk_sndbuf);
}

/*
 * Has it to stop? 0: no. A message may have ended only to be sent again on a new flow:
 * ndp_tx_more() looks under the lock, and says why it has ended.
 */
static int ndp_feed_stop(const struct ndp_feed *fd)
{
	int err = 0;

	if (READ_ONCE(fd->m->core.ended))
		err = ndp_tx_more(fd->tx, fd->m, fd->copied);
	if (err)
		return err;
	if (READ_ONCE(fd->sk->sk_shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	if (!fd->timeo)
		return -EAGAIN;
	return signal_pending(current) ? sock_intr_errno(fd->timeo) : 0;
}

/*
 * If all sockets together have too much, nobody tells when that has changed.
 * Return: false if there is no memory; *@poll: look again soon
 */
static bool ndp_feed_take(const struct ndp_feed *fd, u32 bytes, bool *poll)
{
	*poll = ndp_feed_may(fd);
	if (!*poll || !ndp_mem_charge(fd->sk, bytes, SK_MEM_SEND))
		return false;
	atomic64_add(bytes, &ndp_sk(fd->sk)->snd_bytes);
	fd->m->reserved += bytes;
	return true;
}

static void ndp_feed_sleep(struct ndp_feed *fd, struct wait_queue_entry *wait, bool poll)
{
	long most = poll ? min_t(long, fd->timeo, NDP_SEND_POLL) : fd->timeo;
	long left = wait_woken(wait, TASK_INTERRUPTIBLE, most);

	if (fd->timeo != MAX_SCHEDULE_TIMEOUT)
		fd->timeo -= most - left;
}

static int ndp_feed_reserve(struct ndp_feed *fd, u32 bytes)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	bool poll;
	int err = 0;

	if (fd->m->reserved >= bytes)
		return 0;
	add_wait_queue(sk_sleep(fd->sk), &wait);
	while (!ndp_feed_take(fd, bytes, &poll)) {
		err = ndp_feed_stop(fd);
		if (err)
			break;
		ndp_feed_sleep(fd, &wait, poll);
	}
	remove_wait_queue(sk_sleep(fd->sk), &wait);
	return err == -EAGAIN && poll ? -ENOBUFS : err;
}

/* A message's only chunk, in a page that others share. */
static struct page *ndp_feed_shared(struct ndp_feed *fd, size_t len, struct iov_iter *from)
{
	unsigned int space = (unsigned int)ALIGN(len, L1_CACHE_BYTES);
	struct page_frag *frag = &current->task_frag;

	if (!skb_page_frag_refill(space, frag, fd->sk->sk_allocation))
		return ERR_PTR(-ENOMEM);
	if (!copy_from_iter_full(page_address(frag->page) + frag->offset, len, from))
		return ERR_PTR(-EFAULT);
	fd->m->begin = frag->offset;
	frag->offset += space;
	get_page(frag->page);
	return frag->page;
}

/* A chunk of its own, of so many bytes of @memory */
static struct page *ndp_feed_own(struct ndp_feed *fd, size_t len, u32 memory,
				 struct iov_iter *from)
{
	struct page *page = alloc_pages(fd->sk->sk_allocation | __GFP_COMP, get_order(memory));

	if (!page)
		return ERR_PTR(-ENOMEM);
	if (copy_from_iter_full(page_address(page), len, from))
		return page;
	put_page(page);
	return ERR_PTR(-EFAULT);
}

/* Copy the next chunk. */
static int ndp_feed_chunk(struct ndp_feed *fd, struct iov_iter *from)
{
	struct ndp_msg *m = fd->m;
	u64 left = m->core.len - fd->copied;
	size_t part = min_t(u64, left, 1ULL << m->chunk_shift);
	u32 memory = ndp_chunk_memory(m, left);
	struct page *page;
	int err;

	err = ndp_feed_reserve(fd, memory);
	if (err)
		return err;
	page = ndp_msg_shares(m) ? ndp_feed_shared(fd, part, from) :
				   ndp_feed_own(fd, part, memory, from);
	if (IS_ERR(page))
		return PTR_ERR(page);
	err = xa_err(xa_store_bh(&m->chunks, (unsigned long)(fd->copied >> m->chunk_shift), page,
				 GFP_KERNEL));
	if (err) {
		put_page(page);
		return err;
	}
	m->reserved -= memory;
	fd->copied += part;
	return 0;
}

static int ndp_feed_try_submit(struct ndp_feed *fd)
{
	struct ndp_tx *tx;
	int err;

	do {
		tx = ndp_tx_get(fd->sk, &fd->addrs, fd->port);
		if (IS_ERR(tx))
			return PTR_ERR(tx);
		err = ndp_tx_submit(tx, fd->m);
		if (err)
			ndp_tx_put(tx);
	} while (err == -ESTALE);
	if (!err)
		fd->tx = tx;
	return err;
}

/* Messages are in order, and another thread is at one. */
static int ndp_feed_wait_turn(struct ndp_feed *fd)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	add_wait_queue(sk_sleep(fd->sk), &wait);
	while ((err = ndp_feed_try_submit(fd)) == -EBUSY) {
		err = ndp_feed_stop(fd);
		if (err)
			break;
		ndp_feed_sleep(fd, &wait, false);
	}
	remove_wait_queue(sk_sleep(fd->sk), &wait);
	return err;
}

/* The flow gets the message, with its first chunk. */
static int ndp_feed_submit(struct ndp_feed *fd)
{
	int err;

	fd->m->core.ready = fd->copied;
	err = ndp_feed_try_submit(fd);
	return err == -EBUSY ? ndp_feed_wait_turn(fd) : err;
}

/* Return: 0: the message is the flow's; or why it was freed. */
static int ndp_feed(struct ndp_feed *fd, struct iov_iter *from)
{
	const u64 len = fd->m->core.len;
	int err = 0;

	if (!fd->timeo)
		err = ndp_feed_reserve(fd, ndp_msg_memory(fd->m));
	while (!err && fd->copied < len) {
		err = ndp_feed_chunk(fd, from);
		if (!err)
			err = fd->tx ? ndp_tx_more(fd->tx, fd->m, fd->copied) :
				       ndp_feed_submit(fd);
	}
	if (err && fd->tx) {
		ndp_tx_cancel(fd->tx, fd->m, ECANCELED);
		if (fd->m->core.error != ECANCELED)
			err = -fd->m->core.error;
	}
	if (err) {
		ndp_msg_free(fd->m);
		/* other threads may wait for that memory */
		ndp_sock_writable(fd->sk);
	}
	if (fd->tx)
		ndp_tx_put(fd->tx);
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

/* Where to: what is said there, or what the socket is connected with */
static int ndp_send_to(struct sock *sk, const struct msghdr *msg, struct ndp_feed *fd,
		       int *ifindex)
{
	const struct inet_sock *inet = inet_sk(sk);

	*ifindex = 0;
	if (msg->msg_name)
		return ndp_addr_read(sk, msg->msg_name, msg->msg_namelen, &fd->addrs.remote,
				     &fd->port, ifindex);
	if (READ_ONCE(sk->sk_state) != TCP_ESTABLISHED)
		return -EDESTADDRREQ;
	if (sk->sk_family == AF_INET6)
		fd->addrs.remote = sk->sk_v6_daddr;
	else
		ipv6_addr_set_v4mapped(inet->inet_daddr, &fd->addrs.remote);
	fd->port = ntohs(inet->inet_dport);
	return 0;
}

static int ndp_send_route(struct sock *sk, const struct msghdr *msg, struct ndp_feed *fd,
			  u16 *payload)
{
	struct in6_addr bound = ndp_bound(sk);
	struct ndp_route route;
	int err, ifindex;

	err = ndp_send_to(sk, msg, fd, &ifindex);
	if (err)
		return err;
	err = ndp_out_route(sk, &bound, &fd->addrs.remote, ifindex, &route);
	if (err)
		return err;
	fd->addrs.local = route.local;
	fd->addrs.ifindex = route.ifindex;
	*payload = ndp_out_payload(&fd->addrs, route.mtu);
	return *payload < NDP_SND_PAYLOAD_MIN ? -EMSGSIZE : 0;
}

/**
 * ndp_sendmsg() - send a message
 * @sock: socket
 * @msg: the message and, unless the socket is connected, to whom
 * @len: its bytes, 1 or more
 *
 * The message is sent while it is copied, and after that; if it fails after that, it is in
 * the error queue. MSG_DONTWAIT: the message is kept whole, or refused.
 *
 * Return: @len; -EAGAIN: SO_SNDBUF is used up; -EMSGSIZE: it is longer than that and may not
 * wait, or the MTU is too small; -EINVAL: no bytes; -EOPNOTSUPP: a flag, or control data;
 * -EDESTADDRREQ; -ENETUNREACH, ... of ndp_out_route(); -EPIPE: after shutdown(); -ENOBUFS:
 * all sockets together have too much memory, and it may not wait; -ENOMEM; -ETIMEDOUT,
 * -ECONNREFUSED, ...: the message failed before all of it was copied.
 */
int ndp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct ndp_feed fd = { .sk = sk };
	u16 payload;
	int err;

	err = ndp_send_check(sk, msg, len);
	if (!err)
		err = ndp_autobind(sk);
	if (!err)
		err = ndp_send_route(sk, msg, &fd, &payload);
	if (err)
		return err;
	fd.m = ndp_msg_alloc(sk, len, payload);
	if (!fd.m)
		return -ENOMEM;
	fd.timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	err = ndp_feed(&fd, &msg->msg_iter);
	return err ?: (int)len;
}
