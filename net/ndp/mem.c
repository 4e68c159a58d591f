// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: memory of sockets, charged to all NDP sockets together and to memory cgroups,
 * and the chunks of messages that are sent (output.c)
 *
 * The total is 3/16 of the host's memory, as with UDP. It is used up to a share:
 *
 *	1/8	flows
 *	2/8	messages to be sent
 *	5/8	new received messages of more than 1 MB
 *	6/8	shorter ones
 *	7/8	messages in progress
 *	8/8	packets for which other messages would wait for good
 *
 * A sender waits for its receiver to make room, and if senders left no room to receivers, both
 * would wait forever. Up to the total, each socket has a minimum: several chunks of messages that
 * are sent, since a receiver on this host may wait for them, and a packet that is received.
 */
#include <net/sock.h>
#include "ndp.h"

/* bytes of queued messages that a socket may have up to the total: several chunks */
#define NDP_MEMORY_SEND		(4 << NDP_CHUNK_SHIFT_MAX)
/* bytes of flows that a socket may always have */
#define NDP_MEMORY_FLOWS	131072

/*
 * Pages of the sockets, and the total at both ends: no request below it is refused. The limit
 * between them, -1, refuses SO_RESERVE_MEM: Linux 6.1 would ignore the shares above, and change
 * sk_forward_alloc without @mem_lock.
 */
atomic_long_t ndp_memory_allocated;
DEFINE_PER_CPU(int, ndp_memory_fw_alloc);
long ndp_memory_limits[3];
/* bytes that a socket may always receive */
int ndp_memory_min = PAGE_SIZE;
/* sum of the flows' bytes */
static atomic64_t ndp_memory_flows;

static bool ndp_mem_has(u32 bytes, u32 eighths)
{
	return atomic_long_read(&ndp_memory_allocated) + (long)PFN_UP(bytes) <=
	       ndp_memory_limits[0] / 8 * eighths;
}

static bool ndp_mem_schedule(struct sock *sk, u32 bytes, int kind)
{
	struct ndp_sock *ns = ndp_sk(sk);
	int missing;
	bool ok;

	spin_lock_bh(&ns->mem_lock);
	missing = bytes - sk->sk_forward_alloc;
	ok = missing <= 0 || __sk_mem_schedule(sk, missing, kind);
	if (ok)
		sk_mem_charge(sk, bytes);
	spin_unlock_bh(&ns->mem_lock);
	return ok;
}

/**
 * ndp_mem_charge_send() - charge chunks of messages that are sent to a socket
 * @sk: socket
 * @bytes: bytes
 *
 * Return: false if the total limit or the cgroup's is reached.
 */
bool ndp_mem_charge_send(struct sock *sk, u32 bytes)
{
	if (!ndp_mem_has(bytes, 2) &&
	    atomic64_read(&ndp_sk(sk)->snd_bytes) + bytes > NDP_MEMORY_SEND)
		return false;
	return ndp_mem_schedule(sk, bytes, SK_MEM_SEND);
}

/**
 * ndp_mem_charge_receive() - charge packets that were received to a socket
 * @sk: socket
 * @bytes: bytes
 * @share: share of the total memory
 *
 * Under rx_lock.
 *
 * Return: false if the share or the cgroup's limit is reached.
 */
bool ndp_mem_charge_receive(struct sock *sk, u32 bytes, enum ndp_rmem_share share)
{
	static const u8 eighths[] = {
		[NDP_RMEM_LONG] = 5, [NDP_RMEM_SHORT] = 6, [NDP_RMEM_MORE] = 7, [NDP_RMEM_MUST] = 8,
	};

	if (!ndp_mem_has(bytes, eighths[share]))
		return false;
	if (!ndp_mem_schedule(sk, bytes, SK_MEM_RECV))
		return false;
	atomic_add(bytes, &sk->sk_rmem_alloc);
	return true;
}

/**
 * ndp_mem_uncharge() - take back ndp_mem_charge_send() or ndp_mem_charge_receive()
 * @sk: socket
 * @bytes: bytes
 * @kind: as charged
 */
void ndp_mem_uncharge(struct sock *sk, u32 bytes, int kind)
{
	struct ndp_sock *ns = ndp_sk(sk);

	if (kind == SK_MEM_RECV)
		atomic_sub(bytes, &sk->sk_rmem_alloc);
	spin_lock_bh(&ns->mem_lock);
	sk_mem_uncharge(sk, bytes);
	spin_unlock_bh(&ns->mem_lock);
}

/**
 * ndp_mem_charge_flow() - charge a flow, scoreboard or peer to a socket
 * @sk: socket
 * @bytes: bytes
 *
 * They count in neither SO_SNDBUF nor SO_RCVBUF. Any context but hard interrupts.
 *
 * Return: false if a limit is reached.
 */
bool ndp_mem_charge_flow(struct sock *sk, u32 bytes)
{
	s64 eighth = (s64)ndp_memory_limits[0] / 8 << PAGE_SHIFT;
	atomic64_t *flow_bytes = &ndp_sk(sk)->flow_bytes;

	if (atomic64_read(&ndp_memory_flows) + bytes > eighth &&
	    atomic64_read(flow_bytes) + bytes > NDP_MEMORY_FLOWS)
		return false;
	if (!ndp_mem_schedule(sk, bytes, SK_MEM_RECV))
		return false;
	atomic64_add(bytes, flow_bytes);
	atomic64_add(bytes, &ndp_memory_flows);
	return true;
}

/**
 * ndp_mem_uncharge_flow() - take back ndp_mem_charge_flow()
 * @sk: socket
 * @bytes: as charged
 */
void ndp_mem_uncharge_flow(struct sock *sk, u32 bytes)
{
	atomic64_sub(bytes, &ndp_memory_flows);
	atomic64_sub(bytes, &ndp_sk(sk)->flow_bytes);
	ndp_mem_uncharge(sk, bytes, SK_MEM_SEND);
}

/* ---- messages that are sent ---- */

/**
 * ndp_chunk_memory() - get the memory of the chunk with the next bytes of a message
 * @m: message
 * @bytes: bytes that are left, with gaps
 *
 * Return: bytes.
 */
u32 ndp_chunk_memory(const struct ndp_msg *m, u64 bytes)
{
	if (ndp_msg_shares(m))
		return (u32)(ALIGN(m->core.len, L1_CACHE_BYTES) + sizeof(*m));
	return (u32)PAGE_SIZE << get_order(min_t(u64, bytes, 1UL << m->chunk_shift));
}

static void ndp_msg_uncharge(struct ndp_msg *m, u32 bytes)
{
	if (!bytes)
		return;
	ndp_mem_uncharge(m->sk, bytes, SK_MEM_SEND);
	atomic64_sub(bytes, &ndp_sk(m->sk)->snd_bytes);
}

/* The chunk of a place; most packets are in that of the packet before. Under the flow's lock */
static struct page *ndp_msg_page(struct ndp_msg *m, u64 place)
{
	u64 index = place >> m->chunk_shift;

	if (!index)
		return m->first;
	if (!m->page || m->page_index != index) {
		m->page = xa_load(&m->chunks, (unsigned long)index);
		m->page_index = index;
	}
	return m->page;
}

/**
 * ndp_msg_header() - get the memory of a header in the gap before the payload
 * @m: message, under its flow's lock
 * @offset: offset of the packet
 *
 * Packets with an earlier header may still wait at a NIC or a receiver of this host, so each gap is
 * used once. Nobody but the kernel can write to it.
 *
 * Return: memory; NULL: there is no gap, it was used, or it is in two chunks.
 */
u8 *ndp_msg_header(struct ndp_msg *m, u64 offset)
{
	u32 size = 1U << m->chunk_shift, begin;
	struct page *page;
	u64 place;

	if (!m->gap || offset < m->written)
		return NULL;
	place = ndp_msg_place(m, offset) - m->gap;
	begin = (u32)place & (size - 1);
	page = ndp_msg_page(m, place);
	if (begin + m->gap > size || !page)
		return NULL;
	m->written = offset + 1;
	return (u8 *)page_address(page) + m->begin + begin;
}

/* Add memory of a chunk to a packet. Return: false if it cannot have so many fragments */
static bool ndp_msg_add_frag(struct sk_buff *skb, struct page *page, u32 begin, u32 len)
{
	int frag = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, frag, page, (int)begin)) {
		skb_coalesce_rx_frag(skb, frag - 1, (int)len, len);
		return true;
	}
	if (WARN_ON_ONCE(frag == MAX_SKB_FRAGS))
		return false;
	get_page(page);
	skb_add_rx_frag(skb, frag, page, (int)begin, (int)len, len);
	return true;
}

/**
 * ndp_msg_add() - add a part of a message to a packet
 * @m: message
 * @skb: packet; or a batch, whose last packet gets the payload
 * @offset: the part's offset, bytes
 * @len: bytes
 * @header: it begins with the header in its gap, see ndp_msg_header()
 *
 * Return: false if the packet cannot have so many fragments.
 */
bool ndp_msg_add(struct ndp_msg *m, struct sk_buff *skb, u64 offset, u32 len, bool header)
{
	u32 size = 1U << m->chunk_shift, begin, part;
	u64 place = ndp_msg_place(m, offset);
	struct page *page;

	if (header) {
		place -= m->gap;
		len += m->gap;
	}
	for (; len; len -= part, place += part) {
		page = ndp_msg_page(m, place);
		begin = (u32)place & (size - 1);
		part = min(len, size - begin);
		if (WARN_ON_ONCE(!page) || !ndp_msg_add_frag(skb, page, m->begin + begin, part))
			return false;
	}
	return true;
}

/* Free a chunk. Return: its memory, to be uncharged */
static u32 ndp_chunk_free(const struct ndp_msg *m, struct page *page)
{
	u32 bytes = ndp_msg_shares(m) ? ndp_chunk_memory(m, m->core.len) : (u32)page_size(page);

	put_page(page);
	return bytes;
}

/* Take a chunk out of a message. Under the flow's lock */
static struct page *ndp_msg_take_chunk(struct ndp_msg *m, u64 index)
{
	struct page *page = m->first;

	if (index)
		return xa_erase_bh(&m->chunks, (unsigned long)index);
	m->first = NULL;
	return page;
}

/**
 * ndp_msg_done() - free the acknowledged chunks of a message
 * @m: message, under its flow's lock
 *
 * Return: true if memory was freed.
 */
bool ndp_msg_done(struct ndp_msg *m)
{
	/* all before the gap of the first packet that is not acknowledged */
	u64 done = ndp_msg_place(m, m->core.done) - m->gap;
	u64 freed = m->freed, size = 1ULL << m->chunk_shift;
	u32 bytes = 0;

	if (freed + size <= done)
		m->page = NULL;
	for (; freed + size <= done; freed += size)
		bytes += ndp_chunk_free(m, ndp_msg_take_chunk(m, freed >> m->chunk_shift));
	WRITE_ONCE(m->freed, freed);
	ndp_msg_uncharge(m, bytes);
	return bytes;
}

/**
 * ndp_msg_free() - free a message
 * @m: message without a flow
 */
void ndp_msg_free(struct ndp_msg *m)
{
	u32 bytes = m->reserved;
	unsigned long index;
	struct page *page;

	if (m->first)
		bytes += ndp_chunk_free(m, m->first);
	if (!xa_empty(&m->chunks)) {
		xa_for_each(&m->chunks, index, page)
			bytes += ndp_chunk_free(m, page);
		xa_destroy(&m->chunks);
	}
	ndp_msg_uncharge(m, bytes);
	kfree(m);
}

/* ---- module ---- */

/**
 * ndp_mem_init() - set the limits
 */
void __init ndp_mem_init(void)
{
	long most = (long)max(nr_free_buffer_pages() / 16 * 3, 256UL);

	ndp_memory_limits[0] = most;
	ndp_memory_limits[1] = -1;
	ndp_memory_limits[2] = most;
}
