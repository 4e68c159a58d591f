// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NDP transport: a socket's region, where messages are placed
 *
 *	                take                     whole, recvmsg()
 *	+------+ ------------> +---------+ --------------------> +-------+
 *	| free |   its first   | pending |                       | given |
 *	+------+    packet     +---------+                       +-------+
 *	   ^                        | it will never be whole          | NDP_REGION_FREE
 *	   +------------------------+---------------------------------+
 *
 * A program maps the region into its memory. A message that begins takes space for all of
 * it, in a row; each packet's payload is copied to its place at once, and the packet freed:
 * no packet waits for another one, in whatever order they come, and the reader copies
 * nothing. It is RDMA's direct data placement, by the CPU.
 *
 * A message for which there is no space comes the ordinary way, against SO_RCVBUF. To
 * refuse its packets would not do: a flow's packets are within a window of the first one
 * that is missing, so those of a message that has its space would not come either, and
 * perhaps none ever becomes whole.
 *
 * The kernel only writes to the region: what a program does there harms nobody else. A
 * mapping keeps its file open, so the socket is closed, and the region freed, after the
 * last one is gone. Pages are accounted to the memory cgroup and, as pinned ones are, to
 * RLIMIT_MEMLOCK; what tells which are free is a hundredth of it, and is not.
 */

#include <linux/align.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "ndp.h"
#include "ndp_space.h"

/**
 * struct ndp_region - a region
 * @base: its memory
 * @slots: of NDP_REGION_UNIT bytes; the rest is under the socket's rcv_lock
 * @space: which of them are free
 * @given: how many a message has that begins there and was delivered; else 0
 * @pending: messages that have space and were not delivered
 * @mapped: mappings; atomic
 * @pin: what it counts against RLIMIT_MEMLOCK
 */
struct ndp_region {
	void *base;
	u32 slots;
	struct ndp_space space;
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
 * ndp_region_take() - a message begins
 * @ns: socket
 * @got: the message, new
 * @len: its length
 *
 * Under rcv_lock. If there is space, the message has it: its @slots is not 0.
 */
void ndp_region_take(struct ndp_sock *ns, struct ndp_got *got, u64 len)
{
	u64 slots = DIV_ROUND_UP_ULL(len, NDP_REGION_UNIT);
	struct ndp_region *r = ns->region;
	u32 slot;

	if (!r || !slots || slots > r->slots)
		return;
	slot = ndp_space_take(&r->space, (u32)slots);
	if (slot == NDP_SPACE_NONE)
		return;
	got->slot = slot;
	got->slots = (u32)slots;
	r->pending++;
}

/* Where caches have aliases, or code is not seen otherwise, the program sees it, too. */
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
 * ndp_region_copy() - a part of a message came
 * @ns: socket
 * @got: the message, that has space
 * @p: packet: a part of it, by its header
 *
 * Under rcv_lock.
 */
void ndp_region_copy(struct ndp_sock *ns, const struct ndp_got *got, const struct ndp_packet *p)
{
	u64 at = (u64)got->slot * NDP_REGION_UNIT + p->h.data.offset;
	void *to = ns->region->base + at;

	/* all of it is there: its checksum was right */
	skb_copy_bits(p->skb, 0, to, p->h.payload_len);
	ndp_region_flush(to, p->h.payload_len);
}

/**
 * ndp_region_deliver() - a message is the program's
 * @ns: socket
 * @got: the message, whole, that has space; then its space is not its own any more
 *
 * Under rcv_lock.
 */
void ndp_region_deliver(struct ndp_sock *ns, struct ndp_got *got)
{
	struct ndp_region *r = ns->region;

	r->given[got->slot] = got->slots;
	got->slots = 0;
	r->pending--;
}

/**
 * ndp_region_return() - a message will not be delivered
 * @ns: socket
 * @got: the message, that has space; then it has none
 *
 * Under rcv_lock.
 */
void ndp_region_return(struct ndp_sock *ns, struct ndp_got *got)
{
	struct ndp_region *r = ns->region;

	ndp_space_give(&r->space, got->slot, got->slots);
	got->slots = 0;
	r->pending--;
}

/* NDP_REGION_FREE */
static int ndp_region_give_back(struct ndp_sock *ns, u64 offset)
{
	u64 slot = div_u64(offset, NDP_REGION_UNIT);
	struct ndp_region *r;
	int err = -EINVAL;

	spin_lock_bh(&ns->rcv_lock);
	r = ns->region;
	if (r && slot * NDP_REGION_UNIT == offset && slot < r->slots && r->given[slot]) {
		ndp_space_give(&r->space, (u32)slot, r->given[slot]);
		r->given[slot] = 0;
		err = 0;
	}
	spin_unlock_bh(&ns->rcv_lock);
	return err;
}

/* ---- the region ---- */

static void ndp_region_free(struct ndp_region *r)
{
	if (!r)
		return;
	kvfree(r->given);
	kvfree(r->space.node);
	vfree(r->base);
	mm_unaccount_pinned_pages(&r->pin);
	kfree(r);
}

/* Return: -ENOBUFS: RLIMIT_MEMLOCK; -ENOMEM */
static int ndp_region_fill(struct ndp_region *r, u32 bytes)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct ndp_space_node *node;
	int err;

	err = mm_account_pinned_pages(&r->pin, bytes);
	if (err)
		return err;
	r->slots = bytes / NDP_REGION_UNIT;
	r->base = __vmalloc(bytes, gfp | __GFP_ZERO);
	r->given = kvcalloc(r->slots, sizeof(*r->given), gfp);
	node = kvmalloc_array(ndp_space_nodes(r->slots), sizeof(*node), gfp);
	r->space.node = node;
	if (!r->base || !r->given || !node)
		return -ENOMEM;
	ndp_space_init(&r->space, node, r->slots);
	return 0;
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
	spin_lock_bh(&ns->rcv_lock);
	ns->region = r;
	spin_unlock_bh(&ns->rcv_lock);
	return 0;
}

static int ndp_region_remove(struct ndp_sock *ns)
{
	struct ndp_region *r = ns->region;

	spin_lock_bh(&ns->rcv_lock);
	if (r && (r->pending || atomic_read(&r->mapped))) {
		spin_unlock_bh(&ns->rcv_lock);
		return -EBUSY;
	}
	ns->region = NULL;
	spin_unlock_bh(&ns->rcv_lock);
	ndp_region_free(r);
	return 0;
}

/**
 * ndp_region_setsockopt() - options that are about the region
 * @sk: socket
 * @name: NDP_REGION or NDP_REGION_FREE
 * @optval: u64
 * @len: of it
 *
 * Return: 0; -EINVAL: no such size, or nothing to be freed there; -EBUSY: there is a region,
 * or it is in use; -ENOBUFS: more than RLIMIT_MEMLOCK; -ENOMEM, -EFAULT.
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
 * ndp_region_close() - a socket receives no more
 * @sk: socket, after ndp_rx_close()
 */
void ndp_region_close(struct sock *sk)
{
	struct ndp_sock *ns = ndp_sk(sk);
	struct ndp_region *r = ns->region;

	spin_lock_bh(&ns->rcv_lock);
	ns->region = NULL;
	spin_unlock_bh(&ns->rcv_lock);
	ndp_region_free(r);
}

/**
 * ndp_region_info() - how large it is, and how full
 * @ns: socket
 * @info: result; only what is about the region
 *
 * Under rcv_lock.
 */
void ndp_region_info(const struct ndp_sock *ns, struct ndp_info *info)
{
	const struct ndp_region *r = ns->region;

	info->msgs_placed = ns->msgs_placed;
	if (!r)
		return;
	info->region_bytes = ndp_region_bytes(r);
	info->region_used = (u64)(r->slots - r->space.free) * NDP_REGION_UNIT;
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

/* The program has let go of a page (MADV_DONTNEED), and wants it back. */
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
 * @file: the socket's, which the mapping keeps
 * @sock: socket
 * @vma: shared, and all of the region
 *
 * Return: 0; -EINVAL: no region, or not that; -ENOMEM.
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
