// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: messages that came, and recvmsg()
 *
 *	                 part                  part read
 *	          +-----------------+      +-------------------+
 *	          v    it may be    |      v                   |
 *	 packet  in its flow ----> partial ----> reading <-----+
 *	   |      |   read by and by               ^  |
 *	   |      | whole            whole         |  | all read: gone
 *	   |      +--------------> whole ----------+  v
 *	   +-- all of it ----------^
 *
 * A message is read whole, in the order in which messages become whole. Only one that is
 * longer than half of what its socket may have is read as it comes, and only if none is
 * whole; once a part of it was taken, recvmsg() goes on with that message until its end.
 * There are exceptions, or a reader might wait for a packet for which there is no room
 * because of messages that he does not read. If packets of that message's flow were
 * refused, or nothing of the message came for 1 s, as its sender may be dead, and nothing of it
 * can be read, the next message has its turn. And if that which
 * all others wait for is refused, and nothing is whole, short messages are read by and by,
 * too: ndp_rx_refused().
 *
 * Readers hold the socket's lock, so that there is one at a time, and packets can be
 * copied without a lock that softirqs take: these only add packets behind those that a
 * reader sees. The message that is read (@reading) is freed by readers alone.
 *
 * Memory: packets count with what they take (truesize), and the first one with its
 * message. It is charged to the socket when a packet is kept, and given back when all of it
 * was read. A message that is placed in the socket's region (ndp_region.c) has no packets,
 * and is read only when it is whole.
 */

#include <linux/errqueue.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "ndp.h"

/* Packets until rcv_lock is taken again */
#define NDP_RECV_BATCH	64U
/* A message of which nothing came for so long, and whose reader waits, keeps nobody waiting. */
#define NDP_RECV_STALL_NS	NSEC_PER_SEC

/* ---- messages ---- */

/**
 * ndp_got_alloc() - a message begins
 * @p: its first packet, of the namespace
 * @port: the sender's
 *
 * Return: the message, or NULL.
 */
struct ndp_got *ndp_got_alloc(const struct ndp_packet *p, u16 port)
{
	struct ndp_got *got = kzalloc(sizeof(*got), GFP_ATOMIC | __GFP_NOWARN);

	if (!got)
		return NULL;
	INIT_LIST_HEAD(&got->node);
	got->addrs = p->addrs;
	got->port = port;
	__skb_queue_head_init(&got->skbs);
	got->ahead = RB_ROOT;
	return got;
}

static void ndp_got_append(struct ndp_got *got, struct sk_buff *skb)
{
	__skb_queue_tail(&got->skbs, skb);
	got->next += ndp_part_cb(skb)->len;
}

static void ndp_got_insert(struct ndp_got *got, struct sk_buff *skb)
{
	struct rb_node **at = &got->ahead.rb_node, *parent = NULL;
	u64 offset = ndp_part_cb(skb)->offset;

	while (*at) {
		parent = *at;
		at = offset < ndp_part_cb(rb_to_skb(parent))->offset ? &parent->rb_left :
								       &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, at);
	rb_insert_color(&skb->rbnode, &got->ahead);
}

/* A packet of @ahead; the pointer to a device is where its place in the tree was */
static void ndp_got_remove(struct ndp_got *got, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &got->ahead);
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
}

/**
 * ndp_got_add() - a part of a message, that was not there yet
 * @got: message
 * @skb: payload; it becomes the message's
 * @part: what there is to know of it
 *
 * Under rcv_lock, if others know the message.
 */
void ndp_got_add(struct ndp_got *got, struct sk_buff *skb, struct ndp_part_cb part)
{
	*ndp_part_cb(skb) = part;
	got->memory += part.memory;
	if (part.offset != got->next)
		return ndp_got_insert(got, skb);
	ndp_got_append(got, skb);
	while ((skb = skb_rb_first(&got->ahead)) && ndp_part_cb(skb)->offset == got->next) {
		ndp_got_remove(got, skb);
		ndp_got_append(got, skb);
	}
}

/**
 * ndp_got_free() - a message is over
 * @sk: socket, to which its memory is charged
 * @got: the message, in no list, which the core does not know
 *
 * Without locks.
 */
void ndp_got_free(struct sock *sk, struct ndp_got *got)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct sk_buff *skb;

	if (got->memory)
		ndp_mem_uncharge(sk, (u32)got->memory, SK_MEM_RECV);
	/* nobody else may change it then */
	if (READ_ONCE(ns->lent) == got)
		WRITE_ONCE(ns->lent, NULL);
	if (got->slots) {
		spin_lock_bh(&ns->rcv_lock);
		ndp_region_return(ns, got);
		spin_unlock_bh(&ns->rcv_lock);
	}
	while ((skb = skb_rb_first(&got->ahead))) {
		ndp_got_remove(got, skb);
		__skb_queue_tail(&got->skbs, skb);
	}
	__skb_queue_purge(&got->skbs);
	kfree(got);
}

/* Under rcv_lock. May a message be read before it is whole? It takes half of the memory. */
static bool ndp_got_is_long(const struct ndp_sock *ns, const struct ndp_got *got)
{
	u64 half = ndp_rcvbuf(&ns->inet.sk) / 2;

	return got->core.read || got->core.len > half || got->memory > half;
}

/* Under rcv_lock. Is there something to tell of a message? */
static bool ndp_got_has_news(const struct ndp_got *got)
{
	return !got->rx || !skb_queue_empty(&got->skbs);
}

/**
 * ndp_got_queue() - there may be news of a message
 * @ns: socket
 * @got: message
 * @any: also one that is short may be read before it is whole
 *
 * Under rcv_lock.
 *
 * Return: true if it is for readers.
 */
bool ndp_got_queue(struct ndp_sock *ns, struct ndp_got *got, bool any)
{
	if (!ndp_turn_has(&got->turn))
		return false;
	if (got == ns->reading)
		return ndp_got_has_news(got);
	if (!got->rx)
		list_move_tail(&got->node, &ns->whole);
	else if (list_empty(&got->node) && ndp_got_has_news(got) &&
		 (any || ndp_got_is_long(ns, got)))
		list_add_tail(&got->node, &ns->partial);
	else
		return false;
	if (!got->no)
		got->no = ++ns->got_no;
	return true;
}

/**
 * ndp_got_next() - the message that recvmsg() would be about
 * @ns: socket
 *
 * Under rcv_lock.
 *
 * Return: the message; NULL: there is nothing to be read.
 */
struct ndp_got *ndp_got_next(struct ndp_sock *ns)
{
	struct ndp_got *got = ns->reading;

	if (got && ndp_got_has_news(got))
		return got;
	/* it waits for packets, and not in vain */
	if (got && list_empty(&got->rx->held_node) &&
	    ktime_get_ns() - got->core.last_ns < NDP_RECV_STALL_NS)
		return NULL;
	if (!list_empty(&ns->whole))
		return list_first_entry(&ns->whole, struct ndp_got, node);
	return list_first_entry_or_null(&ns->partial, struct ndp_got, node);
}

/**
 * ndp_got_readable() - is there something to be read?
 * @ns: socket
 *
 * Return: true if so.
 */
bool ndp_got_readable(struct ndp_sock *ns)
{
	bool readable;

	spin_lock_bh(&ns->rcv_lock);
	readable = ndp_got_next(ns);
	spin_unlock_bh(&ns->rcv_lock);
	return readable;
}

/* ---- what is read ---- */

/* The message to be read, which then is ns->reading; NULL: none */
static struct ndp_got *ndp_recv_pick(struct ndp_sock *ns)
{
	struct ndp_got *got;

	spin_lock_bh(&ns->rcv_lock);
	got = ndp_got_next(ns);
	if (got && got != ns->reading) {
		/* the other one comes back to a list when there is news of it */
		list_del_init(&got->node);
		ns->reading = got;
	}
	spin_unlock_bh(&ns->rcv_lock);
	return got;
}

/* Return: 0: look again, or the socket is shut down */
static int ndp_recv_wait(struct sock *sk, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, timeo, ndp_got_readable(ndp_sk(sk)) || READ_ONCE(sk->sk_err) ||
		      READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return 0;
}

/* Return: 0 and a message, or NULL, as nothing will come any more */
static int ndp_recv_get(struct sock *sk, int flags, struct ndp_got **got)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int err;

	for (;;) {
		err = sock_error(sk);
		if (err)
			return err;
		*got = ndp_recv_pick(ndp_sk(sk));
		if (*got || READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
			return 0;
		err = ndp_recv_wait(sk, &timeo);
		if (err)
			return err;
	}
}

/*
 * The packets behind @after, NULL: from the first on, that are there without a hole, until
 * they have @want bytes. They stay where they are as long as the socket is locked.
 */
static u32 ndp_recv_packets(struct ndp_sock *ns, struct ndp_got *got,
			    struct sk_buff *after, u64 want, struct sk_buff **packets)
{
	struct sk_buff *skb;
	u32 count = 0;

	spin_lock_bh(&ns->rcv_lock);
	skb = after ? skb_peek_next(after, &got->skbs) : skb_peek(&got->skbs);
	while (skb && want && count < NDP_RECV_BATCH) {
		packets[count++] = skb;
		want -= min_t(u64, want, ndp_part_cb(skb)->len);
		skb = skb_peek_next(skb, &got->skbs);
	}
	spin_unlock_bh(&ns->rcv_lock);
	return count;
}

static u64 ndp_part_end(const struct sk_buff *skb)
{
	return ndp_part_cb(skb)->offset + ndp_part_cb(skb)->len;
}

/* Up to @pos all was read: what was read to its end is given back. */
static void ndp_recv_consume(struct sock *sk, struct ndp_got *got, u64 pos)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct sk_buff_head done;
	struct sk_buff *skb;
	u32 memory = 0;

	__skb_queue_head_init(&done);
	spin_lock_bh(&ns->rcv_lock);
	while ((skb = skb_peek(&got->skbs)) && ndp_part_end(skb) <= pos) {
		__skb_unlink(skb, &got->skbs);
		__skb_queue_tail(&done, skb);
		memory += ndp_part_cb(skb)->memory;
		if (!ndp_part_cb(skb)->memory)
			WRITE_ONCE(ns->lent, NULL);
	}
	got->memory -= memory;
	if (got->rx) {
		ndp_rcv_read(&ns->rcv, &got->core, pos - got->core.read, memory);
	} else {
		got->core.read = pos;
		if (!got->failed)
			ndp_rcv_release(&ns->rcv, memory);
	}
	spin_unlock_bh(&ns->rcv_lock);
	if (memory)
		ndp_mem_uncharge(sk, memory, SK_MEM_RECV);
	__skb_queue_purge(&done);
}

/* From *pos on, in a packet, or a run */
static int ndp_recv_copy_part(struct msghdr *msg, const struct sk_buff *skb, u64 end, u64 *pos)
{
	const struct ndp_part_cb *part = ndp_part_cb(skb);
	u32 at, within, len;

	end = min(end, ndp_part_end(skb));
	while (*pos < end) {
		at = (u32)(*pos - part->offset);
		within = at % part->seg;
		len = (u32)min_t(u64, part->seg - within, end - *pos);
		at += at / part->seg * NDP_HLEN;
		if (skb_copy_datagram_iter(skb, (int)at, &msg->msg_iter, (int)len))
			return -EFAULT;
		*pos += len;
	}
	return 0;
}

/* Return: 0, and *pos is behind what was copied; -EFAULT */
static int ndp_recv_copy_packets(struct msghdr *msg, struct sk_buff **packets, u32 count,
				 u64 end, u64 *pos)
{
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++)
		err = ndp_recv_copy_part(msg, packets[i], end, pos);
	return err;
}

/* Copies what is there, up to @end. Return: where that ended */
static u64 ndp_recv_copy(struct sock *sk, struct ndp_got *got, struct msghdr *msg, u64 end,
			 bool peek)
{
	struct sk_buff *packets[NDP_RECV_BATCH], *last = NULL;
	u64 pos = got->core.read;
	u32 count;
	int err;

	do {
		count = ndp_recv_packets(ndp_sk(sk), got, peek ? last : NULL, end - pos, packets);
		if (!count)
			break;
		err = ndp_recv_copy_packets(msg, packets, count, end, &pos);
		if (peek)
			last = packets[count - 1];
		else
			ndp_recv_consume(sk, got, pos);
	} while (!err && pos < end);
	return pos;
}

/* ns->reading is no more. */
static void ndp_recv_end(struct sock *sk, struct ndp_got *got)
{
	struct ndp_sock *ns = ndp_sk(sk);

	spin_lock_bh(&ns->rcv_lock);
	ns->reading = NULL;
	ndp_line_done(ns, got);
	spin_unlock_bh(&ns->rcv_lock);
	ndp_got_free(sk, got);
}

/* ---- recvmsg() ---- */

/* From @pos to @end was read. */
static void ndp_recv_tell(struct sock *sk, const struct ndp_got *got, struct msghdr *msg,
			  u64 pos, u64 end)
{
	struct ndp_part part = {
		.msg = got->no, .msg_bytes = got->core.len, .offset_bytes = pos,
	};

	if (msg->msg_name)
		msg->msg_namelen = ndp_addr_write(sk, &got->addrs.remote, got->port,
						  got->addrs.ifindex, msg->msg_name);
	if (end == got->core.len)
		msg->msg_flags |= MSG_EOR;
	if (pos || end < got->core.len)
		put_cmsg(msg, SOL_NDP, NDP_CMSG_PART, sizeof(part), &part);
}

/* A message that is in the region: who reads it is told where. */
static int ndp_recv_placed(struct sock *sk, struct ndp_got *got, struct msghdr *msg, int flags)
{
	const struct ndp_placed placed = {
		.msg = got->no, .msg_bytes = got->core.len,
		.offset_bytes = (u64)got->slot * NDP_REGION_UNIT,
	};
	struct ndp_sock *ns = ndp_sk(sk);
	int err;

	err = put_cmsg(msg, SOL_NDP, NDP_CMSG_PLACED, sizeof(placed), (void *)&placed);
	/* its space would be lost */
	if (!err && msg->msg_flags & MSG_CTRUNC)
		err = -EINVAL;
	if (err)
		return err;
	ndp_recv_tell(sk, got, msg, 0, placed.msg_bytes);
	if (!(flags & MSG_PEEK)) {
		spin_lock_bh(&ns->rcv_lock);
		ndp_rcv_release(&ns->rcv, got->memory);
		ndp_region_deliver(ns, got);
		spin_unlock_bh(&ns->rcv_lock);
		ndp_recv_end(sk, got);
	}
	return flags & MSG_TRUNC ? (int)placed.msg_bytes : 0;
}

static int ndp_recv_message(struct sock *sk, struct ndp_got *got, struct msghdr *msg, size_t len,
			    int flags)
{
	u64 pos = got->core.read, end, left = got->core.len - pos;
	bool peek = flags & MSG_PEEK;
	int err = READ_ONCE(got->failed);

	if (err) {
		ndp_recv_end(sk, got);
		return -err;
	}
	if (got->slots)
		return ndp_recv_placed(sk, got, msg, flags);
	end = ndp_recv_copy(sk, got, msg, pos + min_t(u64, len, left), peek);
	if (end == pos && len)
		return -EFAULT;
	ndp_recv_tell(sk, got, msg, pos, end);
	if (!peek && end == got->core.len)
		ndp_recv_end(sk, got);
	return (int)min_t(u64, flags & MSG_TRUNC ? left : end - pos, INT_MAX);
}

/*
 * The next failed message in the error queue. IP, IPsec and qdiscs (sch_etf) queue errors of
 * their own there, about packets: these are freed, as they say nothing about messages.
 */
static struct sk_buff *ndp_recv_dequeue_failed(struct sock *sk)
{
	struct sk_buff *skb;

	while ((skb = sock_dequeue_err_skb(sk)) &&
	       SKB_EXT_ERR(skb)->ee.ee_origin != NDP_EE_ORIGIN)
		kfree_skb(skb);
	return skb;
}

/* recvmsg() with MSG_ERRQUEUE: a message that we sent, and that failed */
static int ndp_recv_failed(struct sock *sk, struct msghdr *msg)
{
	struct sk_buff *skb = ndp_recv_dequeue_failed(sk);
	struct ndp_failure *failure;

	if (!skb)
		return -EAGAIN;
	failure = (struct ndp_failure *)skb->data;
	if (msg->msg_name)
		msg->msg_namelen = ndp_addr_write(sk, &failure->remote, failure->port,
						  failure->ifindex, msg->msg_name);
	msg->msg_flags |= MSG_ERRQUEUE;
	put_cmsg(msg, SOL_NDP, NDP_CMSG_FAILED, sizeof(failure->failed), &failure->failed);
	consume_skb(skb);
	return 0;
}

/**
 * ndp_recvmsg() - struct proto_ops' recvmsg()
 * @sock: socket
 * @msg: where to
 * @len: for how much there is room
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_ERRQUEUE; others do nothing
 *
 * A message is taken as far as there is room, and the next call goes on. The part that
 * is its end has MSG_EOR; if it was not all in one part, each has NDP_CMSG_PART. Of one
 * that is in the region, nothing is copied: NDP_CMSG_PLACED says where it is.
 *
 * Return: bytes; with MSG_TRUNC, those that the message had left before; 0: shut down, or in
 * the region; -EAGAIN, -EINTR, -ERESTARTSYS, -EFAULT; -EINVAL: no room for NDP_CMSG_PLACED; an
 * error of the socket; the rest of a message of which a part was read will not come:
 * -ECONNRESET: its sender has given it up, -ETIMEDOUT: nothing came of it any more.
 */
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct ndp_got *got;
	int ret;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (flags & MSG_ERRQUEUE)
		return ndp_recv_failed(sk, msg);
	lock_sock(sk);
	ret = ndp_recv_get(sk, flags, &got);
	if (!ret && got) {
		ret = ndp_recv_message(sk, got, msg, len, flags);
		ndp_rx_room(sk);
	}
	release_sock(sk);
	return ret;
}
