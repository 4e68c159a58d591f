// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: memory of sockets, and of all sockets together
 */
#include <net/sock.h>
#include "ndp.h"

/* Bytes that a socket may send from, whatever others have: several chunks */
#define NDP_MEMORY_SEND		(4 << NDP_CHUNK_SHIFT_MAX)
/* Bytes that flows of a socket may have, whatever others have */
#define NDP_MEMORY_FLOWS	131072

/* Memory of all sockets, pages: below the first limit all may have what they want. */
atomic_long_t ndp_memory_allocated;
DEFINE_PER_CPU(int, ndp_memory_fw_alloc);
long ndp_memory_limits[3];
/* What a socket gets nevertheless */
int ndp_memory_min = PAGE_SIZE;

/* May all sockets together have so many bytes more, if @limit pages are the most? */
static bool ndp_mem_has(u32 bytes, long limit)
{
	return atomic_long_read(&ndp_memory_allocated) + (long)PFN_UP(bytes) <= limit;
}

/*
 * What is sent may take half of the memory: who sends waits for the receiver to take what
 * comes, and if that had none left for it, since it sends, too, both would wait for ever.
 * But each socket may have as much as a message needs that is sent while it is copied.
 */
static bool ndp_mem_may_send(const struct sock *sk, u32 bytes)
{
	return ndp_mem_has(bytes, ndp_memory_limits[0] / 2) ||
	       atomic64_read(&ndp_sk(sk)->snd_bytes) + bytes <= NDP_MEMORY_SEND;
}

/**
 * ndp_mem_is_short() - have all sockets so much that a packet would find no memory?
 * @bytes: that it takes
 *
 * Return: true if so.
 */
bool ndp_mem_is_short(u32 bytes)
{
	return !ndp_mem_has(bytes, ndp_memory_limits[0]);
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
 * ndp_mem_charge() - a socket takes memory
 * @sk: socket
 * @bytes: of it
 * @kind: SK_MEM_SEND or SK_MEM_RECV
 *
 * In any context but hard interrupts.
 *
 * Return: false if all sockets together have too much.
 */
bool ndp_mem_charge(struct sock *sk, u32 bytes, int kind)
{
	bool ok;

	if (kind == SK_MEM_SEND && !ndp_mem_may_send(sk, bytes))
		return false;
	ok = ndp_mem_schedule(sk, bytes, kind);
	if (ok && kind == SK_MEM_RECV)
		atomic_add(bytes, &sk->sk_rmem_alloc);
	return ok;
}

/**
 * ndp_mem_uncharge() - a socket gives memory back
 * @sk: socket
 * @bytes: of it
 * @kind: as when it took it
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
 * ndp_mem_charge_flow() - charge a flow's state to its socket
 * @sk: socket
 * @bytes: of the flow, its ring or its peer
 *
 * It counts in the memory of all sockets and of the socket's control group, but neither in
 * SO_SNDBUF nor in SO_RCVBUF: these are for messages. As what is sent, flows may take half of
 * the memory of all. In any context but hard interrupts.
 *
 * Return: false if there is too much.
 */
bool ndp_mem_charge_flow(struct sock *sk, u32 bytes)
{
	atomic64_t *flow_bytes = &ndp_sk(sk)->flow_bytes;

	if (!ndp_mem_has(bytes, ndp_memory_limits[0] / 2) &&
	    atomic64_read(flow_bytes) + bytes > NDP_MEMORY_FLOWS)
		return false;
	if (!ndp_mem_schedule(sk, bytes, SK_MEM_RECV))
		return false;
	atomic64_add(bytes, flow_bytes);
	return true;
}

/**
 * ndp_mem_uncharge_flow() - take back ndp_mem_charge_flow()
 * @sk: socket
 * @bytes: as they were charged
 */
void ndp_mem_uncharge_flow(struct sock *sk, u32 bytes)
{
	atomic64_sub(bytes, &ndp_sk(sk)->flow_bytes);
	ndp_mem_uncharge(sk, bytes, SK_MEM_SEND);
}

/**
 * ndp_mem_init() - set the limits: an eighth of the memory, as UDP has it
 */
void __init ndp_mem_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 8, 128UL);

	ndp_memory_limits[0] = limit / 4 * 3;
	ndp_memory_limits[1] = limit;
	ndp_memory_limits[2] = ndp_memory_limits[0] * 2;
}
