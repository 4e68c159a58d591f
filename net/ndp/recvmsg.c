// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: received messages, and recvmsg()
 *
 *	                 part, and it is longer than     part read
 *	          +-------- half of SO_RCVBUF ------+  +-------------+
 *	          v                                 |  v             |
 *	 packet  in its flow --------------------> partial --> reading
 *	   |      |                                              ^ | all read
 *	   |      +-----------> ready ---------------------------+ v
 *	   +-- all of it -------^                                freed
 *
 * Messages are read whole, in the order in which they become whole. A message that is longer than
 * half of SO_RCVBUF is read as it arrives, if no other one is whole; recvmsg() then continues it to
 * its end. If its sender is silent (receiver.c), the reader continues with other messages
 * meanwhile.
 *
 * Readers hold the socket's lock, so there is one at a time, and packets are copied without
 * rx_lock: softirqs only add packets behind the reader's. Readers alone free
 * the message that is read (@reading).
 *
 * A placed message (region.c) has no packets, and is read only when it is whole.
 */
#include <linux/errqueue.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "ndp.h"

/* packets that are copied until rx_lock is taken again */
#define NDP_RECV_BATCH	64U

/* ---- reading ---- */

/* Choose the message to read; it becomes ns->reading. */
static struct ndp_rx_msg *ndp_recv_pick(struct ndp_sock *ns)
{
	struct ndp_rx_msg *rm;

	spin_lock_bh(&ns->rx_lock);
	rm = ndp_rx_msg_next(ns);
	if (rm && rm != ns->reading) {
		/* the other one returns to a list when it has news */
		list_del_init(&rm->node);
		ns->reading = rm;
	}
	spin_unlock_bh(&ns->rx_lock);
	return rm;
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
	sk_wait_event(sk, timeo, ndp_rx_msg_readable(ndp_sk(sk)) || READ_ONCE(sk->sk_err) ||
		      READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return 0;
}

/* Return: 0 and a message, or NULL after shutdown(); or an error */
static int ndp_recv_get(struct sock *sk, int flags, struct ndp_rx_msg **rm)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int err;

	for (;;) {
		err = sock_error(sk);
		if (err)
			return err;
		*rm = ndp_recv_pick(ndp_sk(sk));
		if (*rm || READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
			return 0;
		err = ndp_recv_wait(sk, &timeo);
		if (err)
			return err;
	}
}

/*
 * Get the packets without a hole behind @after (NULL: from the beginning). They remain, and so does
 * @next of all but *@last, as long as the socket is locked. Return: the first one, or NULL
 */
static struct sk_buff *ndp_recv_packets(struct ndp_sock *ns, struct ndp_rx_msg *rm,
					struct sk_buff *after, struct sk_buff **last)
{
	struct sk_buff *skb;

	spin_lock_bh(&ns->rx_lock);
	skb = after ? skb_peek_next(after, &rm->skbs) : skb_peek(&rm->skbs);
	*last = skb_peek_tail(&rm->skbs);
	spin_unlock_bh(&ns->rx_lock);
	return skb;
}

static u64 ndp_part_end(const struct sk_buff *skb)
{
	return ndp_part_cb(skb)->offset + ndp_part_cb(skb)->len;
}

/* All before @pos was read: free its packets. At its end, the message is the caller's to free. */
static void ndp_recv_consume(struct sock *sk, struct ndp_rx_msg *rm, u64 pos)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct sk_buff_head done;
	struct sk_buff *skb;
	u32 memory = 0;

	__skb_queue_head_init(&done);
	spin_lock_bh(&ns->rx_lock);
	while ((skb = skb_peek(&rm->skbs)) && ndp_part_end(skb) <= pos) {
		__skb_unlink(skb, &rm->skbs);
		__skb_queue_tail(&done, skb);
		memory += ndp_part_cb(skb)->memory;
	}
	if (pos == rm->core.len) {
		/* in order: another message may have become the next one since this one began */
		if (rm->rx)
			ndp_rcv_take(&ns->rcv, &rm->rx->f, &rm->core);
		ndp_rmem_end(&ns->rcv.mem, &rm->core.claim);
		ns->reading = NULL;
	} else if (rm->failed) {
		rm->core.read = pos;
	} else {
		ndp_rcv_read(&ns->rcv, &rm->core, pos - rm->core.read, memory);
	}
	spin_unlock_bh(&ns->rx_lock);
	__skb_queue_purge(&done);
}

/* Copy a packet up to @end; *@pos moves behind the copied bytes. Return: false: a fault */
static bool ndp_recv_copy_packet(struct msghdr *msg, struct sk_buff *skb, u64 end, u64 *pos)
{
	const struct ndp_part_cb *part = ndp_part_cb(skb);
	u32 len, at;

	for (end = min(end, ndp_part_end(skb)); *pos < end; *pos += len) {
		len = (u32)(end - *pos);
		at = ndp_part_piece(part, (u32)(*pos - part->offset), &len);
		if (skb_copy_datagram_iter(skb, (int)at, &msg->msg_iter, (int)len))
			return false;
	}
	return true;
}

/* Copy packets from @skb to @last, up to @end. Return: the last one copied; NULL: a fault */
static struct sk_buff *ndp_recv_copy_packets(struct msghdr *msg, struct sk_buff *skb,
					     const struct sk_buff *last, u64 end, u64 *pos)
{
	u32 count = 1;

	while (ndp_recv_copy_packet(msg, skb, end, pos)) {
		if (skb == last || *pos == end || count++ == NDP_RECV_BATCH)
			return skb;
		skb = skb->next;
	}
	return NULL;
}

/* Copy the packets that are present, up to @end. Return: the end of the copied bytes */
static u64 ndp_recv_copy(struct sock *sk, struct ndp_rx_msg *rm, struct msghdr *msg, u64 end,
			 bool peek)
{
	struct sk_buff *skb = NULL, *last;
	u64 pos = rm->core.read;

	do {
		skb = ndp_recv_packets(ndp_sk(sk), rm, peek ? skb : NULL, &last);
		if (!skb)
			break;
		skb = ndp_recv_copy_packets(msg, skb, last, end, &pos);
		if (!peek)
			ndp_recv_consume(sk, rm, pos);
	} while (skb && pos < end);
	return pos;
}

/* ns->reading ends. */
static void ndp_recv_end(struct sock *sk, struct ndp_rx_msg *rm)
{
	struct ndp_sock *ns = ndp_sk(sk);

	spin_lock_bh(&ns->rx_lock);
	ns->reading = NULL;
	spin_unlock_bh(&ns->rx_lock);
	ndp_rx_msg_free(sk, rm);
}

/* ---- recvmsg() ---- */

/* Describe the part from @pos to @end that was read. */
static void ndp_recv_tell(struct sock *sk, const struct ndp_rx_msg *rm, struct msghdr *msg,
			  u64 pos, u64 end)
{
	struct ndp_part part = {
		.msg = rm->no, .msg_bytes = rm->core.len, .offset_bytes = pos,
	};

	if (msg->msg_name)
		msg->msg_namelen = ndp_addr_write(sk, &rm->addrs.remote, rm->port,
						  rm->addrs.ifindex, msg->msg_name);
	if (end == rm->core.len)
		msg->msg_flags |= MSG_EOR;
	if (pos || end < rm->core.len)
		put_cmsg(msg, SOL_NDP, NDP_CMSG_PART, sizeof(part), &part);
}

/* A placed message: the program gets its place. */
static int ndp_recv_placed(struct sock *sk, struct ndp_rx_msg *rm, struct msghdr *msg, int flags)
{
	const struct ndp_placed placed = {
		.msg = rm->no, .msg_bytes = rm->core.len,
		.offset_bytes = (u64)rm->slot * NDP_REGION_UNIT,
	};
	struct ndp_sock *ns = ndp_sk(sk);
	int err;

	err = put_cmsg(msg, SOL_NDP, NDP_CMSG_PLACED, sizeof(placed), (void *)&placed);
	/* its space would be lost */
	if (!err && msg->msg_flags & MSG_CTRUNC)
		err = -EINVAL;
	if (err)
		return err;
	ndp_recv_tell(sk, rm, msg, 0, placed.msg_bytes);
	if (!(flags & MSG_PEEK)) {
		spin_lock_bh(&ns->rx_lock);
		ndp_region_deliver(ns, rm);
		spin_unlock_bh(&ns->rx_lock);
		ndp_recv_end(sk, rm);
	}
	return flags & MSG_TRUNC ? (int)placed.msg_bytes : 0;
}

static int ndp_recv_message(struct sock *sk, struct ndp_rx_msg *rm, struct msghdr *msg, size_t len,
			    int flags)
{
	u64 pos = rm->core.read, end, left = rm->core.len - pos;
	bool peek = flags & MSG_PEEK;
	int err = READ_ONCE(rm->failed);

	if (err) {
		ndp_recv_end(sk, rm);
		return -err;
	}
	if (rm->slots)
		return ndp_recv_placed(sk, rm, msg, flags);
	end = ndp_recv_copy(sk, rm, msg, pos + min_t(u64, len, left), peek);
	if (end == pos && len)
		return -EFAULT;
	ndp_recv_tell(sk, rm, msg, pos, end);
	if (!peek && end == rm->core.len)
		kfree(rm);
	return (int)min_t(u64, flags & MSG_TRUNC ? left : end - pos, INT_MAX);
}

/*
 * Take the next failed message from the error queue. Entries of IP, IPsec and qdiscs are about
 * packets; they are freed.
 */
static struct sk_buff *ndp_recv_dequeue_failed(struct sock *sk)
{
	struct sk_buff *skb;

	while ((skb = sock_dequeue_err_skb(sk)) &&
	       SKB_EXT_ERR(skb)->ee.ee_origin != NDP_EE_ORIGIN)
		kfree_skb(skb);
	return skb;
}

/* MSG_ERRQUEUE: return a message that was sent and has failed. */
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
 * ndp_recvmsg() - read a message or a part of it: struct proto_ops' recvmsg()
 * @sock: socket
 * @msg: result
 * @len: room in bytes
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_ERRQUEUE; further flags have no effect
 *
 * If the room is shorter than the message, the next call continues. The last part has MSG_EOR; if
 * there are several parts, each has NDP_CMSG_PART. A placed message is not copied;
 * NDP_CMSG_PLACED has its place.
 *
 * Return: bytes; with MSG_TRUNC, the unread bytes; 0: shut down, or placed; -EAGAIN, -EINTR,
 * -ERESTARTSYS, -EFAULT; -EINVAL: no room for NDP_CMSG_PLACED; an error of the socket; a message
 * will not become whole: -ECONNRESET: its sender has given it up, -ETIMEDOUT: it was silent.
 */
int ndp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct ndp_rx_msg *rm;
	int ret;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (flags & MSG_ERRQUEUE)
		return ndp_recv_failed(sk, msg);
	lock_sock(sk);
	ret = ndp_recv_get(sk, flags, &rm);
	if (!ret && rm) {
		ret = ndp_recv_message(sk, rm, msg, len, flags);
		ndp_rx_room(sk);
	}
	release_sock(sk);
	return ret;
}
