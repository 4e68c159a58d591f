// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: a socket's region, memory of a program in which messages are placed
 *
 *	                take                     whole, recvmsg()
 *	+------+ ------------> +---------+ --------------------> +-------+
 *	| free |   its first   | pending |                       | given |
 *	+------+    packet     +---------+                       +-------+
 *	   ^                        | it will not become whole       | NDP_REGION_FREE
 *	   +------------------------+---------------------------------+
 *
 * A message takes contiguous space for all of it when it begins. Each packet's payload is copied to
 * its place at once, and the packet freed. So packets out of order take no memory, and the reader
 * does not copy: direct data placement as in RDMA, by the CPU.
 *
 * A message for which there is no space is received without the region, within SO_RCVBUF.
 *
 * The kernel only writes to the region, so a program harms no other one by changing it. A mapping
 * keeps its file open, so the region is freed after the last one is gone. Pages are charged to
 * the memory cgroup and to RLIMIT_MEMLOCK.
 */
#include <linux/align.h>
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "ndp.h"

/**
 * struct ndp_region - a region
 * @base: memory
 * @slots: number of slots of NDP_REGION_UNIT bytes; the members below are under rx_lock
 * @free: free slots
 * @taken: bitmap of slots
 * @given: slots of a delivered message that begins there; else 0
 * @pending: messages with space that were not delivered
 * @mapped: mappings; atomic
 * @pin: charge to RLIMIT_MEMLOCK
 */
struct ndp_region {
	void *base;
	u32 slots;
	u32 free;
	unsigned long *taken;
	u32 *given;
	u32 pending;
	atomic_t mapped;
	struct mmpin pin;
};

static size_t ndp_region_bytes(const struct ndp_region *r)
{
	return (size_t)r->slots * NDP_REGION_UNIT;
}

/* ---- messages ---- */

/**
 * ndp_region_take() - take space for a message
 * @ns: socket
 * @rm: new message; its @slots is 0 afterwards if there is no space
 * @len: its length
 *
 * Under rx_lock. First fit, O(slots / 64).
 */
void ndp_region_take(struct ndp_sock *ns, struct ndp_rx_msg *rm, u64 len)
{
	u64 slots = DIV_ROUND_UP_ULL(len, NDP_REGION_UNIT);
	struct ndp_region *r = ns->region;
	unsigned long slot;

	if (!r || !slots || slots > r->free)
		return;
	slot = bitmap_find_next_zero_area(r->taken, r->slots, 0, (u32)slots, 0);
	if (slot >= r->slots)
		return;
	bitmap_set(r->taken, (u32)slot, (u32)slots);
	r->free -= (u32)slots;
	rm->slot = (u32)slot;
	rm->slots = (u32)slots;
	r->pending++;
}

static void ndp_region_give(struct ndp_region *r, u32 slot, u32 slots)
{
	bitmap_clear(r->taken, slot, slots);
	r->free += slots;
}

/* Make data visible to the program where caches have aliases. */
static void ndp_region_flush(void *to, u32 len)
{
	flush_kernel_vmap_range(to, (int)len);
	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE) {
		void *at = PTR_ALIGN_DOWN(to, PAGE_SIZE);

		for (; at < to + len; at += PAGE_SIZE)
			flush_dcache_page(vmalloc_to_page(at));
	}
}

/**
 * ndp_region_copy() - copy the payload of a packet or a batch to its place
 * @ns: socket
 * @rm: message with space
 * @skb: packet or batch
 * @part: its part of the message
 *
 * Under rx_lock.
 */
void ndp_region_copy(struct ndp_sock *ns, const struct ndp_rx_msg *rm, const struct sk_buff *skb,
		     const struct ndp_part_cb *part)
{
	void *to = ns->region->base + (u64)rm->slot * NDP_REGION_UNIT + part->offset;
	u32 at, len, from;

	for (at = 0; at < part->len; at += len) {
		len = part->len - at;
		from = ndp_part_piece(part, at, &len);
		skb_copy_bits(skb, (int)from, to + at, (int)len);
	}
	ndp_region_flush(to, part->len);
}

/**
 * ndp_region_deliver() - give the space of a message to the program
 * @ns: socket
 * @rm: whole message, whose space it takes
 *
 * Under rx_lock.
 */
void ndp_region_deliver(struct ndp_sock *ns, struct ndp_rx_msg *rm)
{
	struct ndp_region *r = ns->region;

	r->given[rm->slot] = rm->slots;
	rm->slots = 0;
	r->pending--;
}

/**
 * ndp_region_return() - free the space of a message that will not be delivered
 * @ns: socket
 * @rm: message, whose space it takes
 *
 * Under rx_lock.
 */
void ndp_region_return(struct ndp_sock *ns, struct ndp_rx_msg *rm)
{
	struct ndp_region *r = ns->region;

	ndp_region_give(r, rm->slot, rm->slots);
	rm->slots = 0;
	r->pending--;
}

/* NDP_REGION_FREE */
static int ndp_region_give_back(struct ndp_sock *ns, u64 offset)
{
	u64 slot = div_u64(offset, NDP_REGION_UNIT);
	struct ndp_region *r;
	int err = -EINVAL;

	spin_lock_bh(&ns->rx_lock);
	r = ns->region;
	if (r && slot * NDP_REGION_UNIT == offset && slot < r->slots && r->given[slot]) {
		ndp_region_give(r, (u32)slot, r->given[slot]);
		r->given[slot] = 0;
		err = 0;
	}
	spin_unlock_bh(&ns->rx_lock);
	return err;
}

/* ---- the region ---- */

static void ndp_region_free(struct ndp_region *r)
{
	if (!r)
		return;
	kvfree(r->given);
	kvfree(r->taken);
	vfree(r->base);
	mm_unaccount_pinned_pages(&r->pin);
	kfree(r);
}

/* Return: -ENOBUFS: RLIMIT_MEMLOCK; -ENOMEM */
static int ndp_region_fill(struct ndp_region *r, u32 bytes)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	int err;

	err = mm_account_pinned_pages(&r->pin, bytes);
	if (err)
		return err;
	r->slots = bytes / NDP_REGION_UNIT;
	r->base = __vmalloc(bytes, gfp | __GFP_ZERO);
	r->given = kvcalloc(r->slots, sizeof(*r->given), gfp);
	r->taken = kvcalloc(BITS_TO_LONGS(r->slots), sizeof(*r->taken), gfp);
	r->free = r->slots;
	return r->base && r->given && r->taken ? 0 : -ENOMEM;
}

static int ndp_region_add(struct ndp_sock *ns, u64 bytes)
{
	struct ndp_region *r;
	int err;

	if (bytes > NDP_REGION_MAX || !PAGE_ALIGNED(bytes))
		return -EINVAL;
	if (ns->region)
		return -EBUSY;
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	err = ndp_region_fill(r, (u32)bytes);
	if (err) {
		ndp_region_free(r);
		return err;
	}
	spin_lock_bh(&ns->rx_lock);
	ns->region = r;
	spin_unlock_bh(&ns->rx_lock);
	return 0;
}

static int ndp_region_remove(struct ndp_sock *ns)
{
	struct ndp_region *r = ns->region;

	spin_lock_bh(&ns->rx_lock);
	if (r && (r->pending || atomic_read(&r->mapped))) {
		spin_unlock_bh(&ns->rx_lock);
		return -EBUSY;
	}
	ns->region = NULL;
	spin_unlock_bh(&ns->rx_lock);
	ndp_region_free(r);
	return 0;
}

/**
 * ndp_region_setsockopt() - set an option of the region
 * @sk: socket
 * @name: NDP_REGION or NDP_REGION_FREE
 * @optval: u64
 * @len: its length
 *
 * Return: 0; -EINVAL: bad size, or no message there; -EBUSY: there is a region, or it is in use;
 * -ENOBUFS: more than RLIMIT_MEMLOCK; -ENOMEM, -EFAULT.
 */
int ndp_region_setsockopt(struct sock *sk, int name, sockptr_t optval, unsigned int len)
{
	struct ndp_sock *ns = ndp_sk(sk);
	u64 value;
	int err;

	if (len < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;
	if (name == NDP_REGION_FREE)
		return ndp_region_give_back(ns, value);
	mutex_lock(&ns->region_lock);
	err = value ? ndp_region_add(ns, value) : ndp_region_remove(ns);
	mutex_unlock(&ns->region_lock);
	return err;
}

/**
 * ndp_region_close() - free the region of a closed socket
 * @sk: socket, after ndp_rx_close()
 */
void ndp_region_close(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_region *r = ns->region;

	spin_lock_bh(&ns->rx_lock);
	ns->region = NULL;
	spin_unlock_bh(&ns->rx_lock);
	ndp_region_free(r);
}

/**
 * ndp_region_info() - get the size of the region and its use
 * @ns: socket
 * @info: result; members about the region
 *
 * Under rx_lock.
 */
void ndp_region_info(const struct ndp_sock *ns, struct ndp_info *info)
{
	const struct ndp_region *r = ns->region;

	info->msgs_placed = ns->msgs_placed;
	if (!r)
		return;
	info->region_bytes = ndp_region_bytes(r);
	info->region_used = (u64)(r->slots - r->free) * NDP_REGION_UNIT;
}

/* ---- mmap() ---- */

static void ndp_region_vm_open(struct vm_area_struct *vma)
{
	struct ndp_region *r = vma->vm_private_data;

	atomic_inc(&r->mapped);
}

static void ndp_region_vm_close(struct vm_area_struct *vma)
{
	struct ndp_region *r = vma->vm_private_data;

	atomic_dec(&r->mapped);
}

/* The program has dropped a page (MADV_DONTNEED) and accesses it again. */
static vm_fault_t ndp_region_vm_fault(struct vm_fault *vmf)
{
	struct ndp_region *r = vmf->vma->vm_private_data;

	if (vmf->pgoff >= ndp_region_bytes(r) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(r->base + (vmf->pgoff << PAGE_SHIFT));
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct ndp_region_vm_ops = {
	.open	= ndp_region_vm_open,
	.close	= ndp_region_vm_close,
	.fault	= ndp_region_vm_fault,
};

static int ndp_region_map(struct ndp_region *r, struct vm_area_struct *vma)
{
	size_t at;
	int err;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (at = 0; at < ndp_region_bytes(r); at += PAGE_SIZE) {
		err = vm_insert_page(vma, vma->vm_start + at, vmalloc_to_page(r->base + at));
		if (err)
			return err;
	}
	atomic_inc(&r->mapped);
	vma->vm_private_data = r;
	vma->vm_ops = &ndp_region_vm_ops;
	return 0;
}

/**
 * ndp_region_mmap() - struct proto_ops' mmap()
 * @file: the socket's, which the mapping holds
 * @sock: socket
 * @vma: shared mapping of the whole region
 *
 * Return: 0; -EINVAL: no region, or another size; -ENOMEM.
 */
int ndp_region_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	struct ndp_sock *ns = ndp_sk(sock->sk);
	struct ndp_region *r;
	int err = -EINVAL;

	mutex_lock(&ns->region_lock);
	r = ns->region;
	if (r && vma->vm_flags & VM_SHARED && !vma->vm_pgoff &&
	    vma->vm_end - vma->vm_start == ndp_region_bytes(r))
		err = ndp_region_map(r, vma);
	mutex_unlock(&ns->region_lock);
	return err;
}
