// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: packets of a flow that come as one
 *
 *	UDP_L4 --> ndp_in_run() --> ndp_rx_run() --> ndp_rcv_run() --> one skb is kept
 *	                |                |                   |
 *	                +----------------+-------------------+--> cut: one by one
 *
 * The skb is kept as it is, with the headers between the parts of its message, and charged
 * as a whole. So all of it is read before its memory is given back; and if a part of it
 * cannot be kept, it is cut.
 */

#include <linux/filter.h>
#include <linux/slab.h>
#include "ndp.h"

/* Filters of sockets look at each packet; others may look at all of it, as with TCP. */
static bool ndp_rx_run_wanted(struct sock *sk, struct sk_buff *skb)
{
	u32 headers = (u32)-skb_transport_offset(skb);
	bool wanted;

	if (rcu_access_pointer(sk->sk_filter))
		return false;
	__skb_push(skb, headers);
	wanted = !sk_filter_trim_cap(sk, skb, skb->len);
	__skb_pull(skb, headers);
	return wanted;
}

/* Does the skb take more than twice of what it has to say, and memory is short? */
static bool ndp_rx_run_wastes(const struct ndp_sock *ns, const struct sk_buff *skb, u32 bytes)
{
	return 2 * (ns->rcv.partial + ns->rcv.unread) >= ndp_rcvbuf(&ns->inet.sk) &&
	       skb->truesize > 2 * SKB_TRUESIZE(bytes);
}

/* The message, be it a new one, which has no flow yet. NULL: this is not that simple */
static struct ndp_got *ndp_rx_run_msg(struct ndp_rx *rx, const struct ndp_packet *p)
{
	struct ndp_rcv_msg *m = ndp_rcv_find(&rx->f, p->h.data.msg_id);
	struct ndp_sock *ns = ndp_sk(rx->sk);
	struct ndp_got *got;

	if (!m)
		return ns->region ? NULL : ndp_got_alloc(p, p->h.sport);
	got = container_of(m, struct ndp_got, core);
	return got->slots ? NULL : got;
}

/* The run is a part of @got, or all of it. Return: is that news for readers? */
static bool ndp_rx_run_keep(struct ndp_rx *rx, struct ndp_packet *p, const struct ndp_run *run,
			    struct ndp_got *got, enum ndp_rcv_verdict v, u32 memory)
{
	const struct ndp_part_cb part = {
		.offset = run->first.data.offset, .memory = memory,
		.len = ndp_run_bytes(run), .seg = run->first.payload_len,
	};
	struct ndp_sock *ns = ndp_sk(rx->sk);

	got->core.len = run->first.data.msg_len;
	got->rx = v == NDP_RCV_WHOLE ? NULL : rx;
	ndp_got_add(got, p->skb, part);
	p->skb = NULL;
	ns->bytes_received += part.len;
	ns->msgs_received += v == NDP_RCV_WHOLE;
	return ndp_got_queue(ns, got, false);
}

/* What is wished to be pulled, packet by packet, but for the last; then is seen who waits. */
static bool ndp_rx_run_wish(struct ndp_rx *rx, const struct ndp_run *run, u64 now)
{
	bool waits = !list_empty(&rx->held_node), pull = false;
	struct ndp_hdr h = run->first;
	u32 i;

	for (i = 1; i < run->count; i++) {
		pull |= ndp_host_wish(rx->host, &rx->f, &h, NDP_RCV_PART, waits, now);
		h.seq++;
		h.data.offset += h.payload_len;
	}
	return pull;
}

/*
 * The answer is to the last packet; it may wait for further ones, if it says of all of the run
 * that it came, and they are not too many.
 */
static void ndp_rx_run_respond(struct ndp_rx *rx, struct ndp_packet *p, const struct ndp_run *run,
			       enum ndp_rcv_verdict v, u64 now, bool news,
			       struct ndp_hdr *answer)
{
	struct ndp_rcv_owed *owed = &rx->f.owed;
	bool many = owed->count + run->count >= NDP_RCV_SHARE_MAX;
	bool pull = ndp_rx_run_wish(rx, run, now);

	p->h = run->last;
	ndp_rx_respond(rx, p, v, now, news || many, answer);
	if (owed->count) {
		owed->count += (u8)(run->count - 1);
		owed->pull |= pull;
	} else if (pull) {
		answer->flags |= NDP_CTL_PULL;
	}
}

/* Under rcv_lock. Return: false: nothing was taken */
static bool ndp_rx_run_take(struct ndp_rx *rx, struct ndp_packet *p, const struct ndp_run *run,
			    struct ndp_hdr *answer, bool *news)
{
	struct ndp_sock *ns = ndp_sk(rx->sk);
	u64 now = ktime_get_ns();
	enum ndp_rcv_verdict v = NDP_RCV_VERDICTS;
	struct ndp_rcv_msg *m;
	struct ndp_got *got;
	bool fresh;
	u32 memory;

	if (rx->dead || rx->line || ndp_rx_run_wastes(ns, p->skb, ndp_run_bytes(run)))
		return false;
	got = ndp_rx_run_msg(rx, p);
	if (!got)
		return false;
	fresh = !got->rx;
	m = fresh ? &got->core : NULL;
	memory = p->skb->truesize + (fresh ? sizeof(*got) : 0);
	if (ndp_mem_charge(rx->sk, memory, SK_MEM_RECV)) {
		ndp_rx_limit(ns, rx, 0);
		v = ndp_rcv_run(&ns->rcv, &rx->f, run, memory, now, &m);
		if (v == NDP_RCV_VERDICTS)
			ndp_mem_uncharge(rx->sk, memory, SK_MEM_RECV);
	}
	if (v == NDP_RCV_VERDICTS) {
		if (fresh)
			kfree(got);
		return false;
	}
	*news = ndp_rx_run_keep(rx, p, run, got, v, memory);
	ndp_rx_run_respond(rx, p, run, v, now, *news, answer);
	return true;
}

/* If the last packet is answered, those that its answer does not reach are, too. */
static void ndp_rx_run_answer(struct ndp_rx *rx, const struct ndp_run *run,
			      const struct ndp_hdr *answer)
{
	u32 end = answer->ctl.ack_base + NDP_MAP_BITS;
	struct ndp_hdr h = *answer;

	h.flags &= (u8)~NDP_CTL_PULL;
	for (h.seq = run->first.seq; h.seq != run->last.seq; h.seq++)
		if (!ndp_before(h.seq, end))
			ndp_out_answer(rx->peer, &h);
	ndp_out_answer(rx->peer, answer);
}

/**
 * ndp_rx_run() - a run came
 * @p: its first packet; its skb, which begins with the first payload, has all of them, each behind
 *	its header; it is taken over if it is taken
 * @run: 2 packets or more
 *
 * Under RCU, with bottom halves off, without locks.
 *
 * Return: false: it was not taken, and each packet has to go to ndp_rx_input().
 */
bool ndp_rx_run(struct ndp_packet *p, const struct ndp_run *run)
{
	struct ndp_hdr answer = { .type = 0 };
	struct ndp_rx *rx = ndp_rx_lookup(p);
	bool taken, freed, news = false;

	if (!rx || !ndp_rx_run_wanted(rx->sk, p->skb))
		return false;
	spin_lock(&ndp_sk(rx->sk)->rcv_lock);
	taken = ndp_rx_run_take(rx, p, run, &answer, &news);
	freed = ndp_rx_freed(ndp_sk(rx->sk));
	spin_unlock(&ndp_sk(rx->sk)->rcv_lock);
	if (freed)
		ndp_rx_room(rx->sk);
	if (!taken)
		return false;
	if (answer.type)
		ndp_rx_run_answer(rx, run, &answer);
	ndp_owed_run(news);
	if (news)
		rx->sk->sk_data_ready(rx->sk);
	return true;
}
