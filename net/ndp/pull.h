/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP receiver: pull queue of a device
 *
 * Plain C; time is an argument. All flows that arrive by one device share one queue, so that
 * together they are pulled at the rate of the link. A flow has three serial numbers of packets:
 *
 *	target		demand: the sender's largest pull_target, and 1 for each NACK since
 *	granted		pulled: CONTROL's pull; at most target
 *	seen		granted when a packet of the flow last arrived. Until the sender is
 *			verified: packets that arrived whole
 *
 *	             target > granted, granted - seen < allowed
 *	+---------+ ----------------------------------------------> +--------+
 *	|  idle   |                                                 | queued |
 *	+---------+ <---------------------------------------------- +--------+
 *	                granted = target; allowed reached; flushed
 *
 * A pull is for packets of at most NDP_PULL_QUANTUM bytes, at least one. They take the link
 *
 *	t = bytes / (share * 0.99 * line rate)
 *
 * and the next pull is due t later: next = max(next, now - late) + t. The answer to a packet of the
 * flow that is first pulls at once, at most a packet time early, so most pulls need no CONTROL of
 * their own. The sender chooses the packets: mostly NACKed ones first, whose lengths are known.
 * Other packets count with the mean length of the flow's packets. When a pulled packet arrives,
 * the next pull moves by the difference.
 *
 * Short messages take the link without a pull. With pulls at 99 % of its rate, more than 1 % of
 * them would keep the last port's queue full, so they delay the next pull by their time. An
 * unpulled packet that arrived while that queue was full displaced a pulled one, which arrives
 * trimmed: the latter gives its time back, once for each. First windows on an idle link are exempt:
 * packets for which pulls leave meanwhile arrive after them. So the rule begins with the first
 * pulled packet. It ends while the network carries less than the link (rate backoff), which has
 * room then.
 *
 * Order, by one rbtree: strict by priority, 7 first. Within a priority:
 *
 *	fair	least turns first: packets pulled, and packets that arrived unasked, since the link
 *		became busy. So flows that begin together have received the same when the first one
 *		is complete, however many packets of each first window a switch has trimmed. A
 *		flow that begins later starts with the turns of the present round
 *	fifo	first come, first served, until it has no demand
 *	srpt	least remaining bytes: demand or, if larger, the unsent rest of the message. Flows
 *		whose last packet found no room are behind those that hold the room. Each
 *		NDP_PULL_OLDEST-th turn is of the flow that has waited longest, so that long
 *		messages do not starve
 *
 * Until its sender is verified, a flow's first pull is in order, so that the sender can return the
 * token. After it the flow has priority 0 and, in srpt, is last. The rate backoff ignores it.
 *
 * Rate backoff: if the network carries less than the link, pulls at line rate are trimmed, pulled
 * and trimmed again. The share is set anew after each epoch of 16 pulled packets, w of them whole:
 *
 *	more than 1/4 trimmed and the link idle for 1/4 of it	share * max(w / 16, 1/2) + 1/32
 *	at most 1/8 trimmed					share * 5/4 + 1/32
 *	otherwise						share + 1/32
 *
 * at most 1. It settles where a quarter of the pulled packets is trimmed. If the link is busy, it
 * is the link that trims, as in an incast, because of packets that were not pulled.
 *
 * Reference: M. Handley, C. Raiciu, A. Agache, A. Voinescu, A. W. Moore, G. Antichi, M. Wojcik,
 * "Re-architecting datacenter networks and stacks for low latency and high performance",
 * SIGCOMM 2017, section 3.2.
 *
 * Differences from the paper: the paper's queue has an entry for each packet that arrived; this one
 * has flows and their demand, so lost packets take no demand with them. Pulls count bytes, and make
 * room for packets that nobody pulled. A silent flow is not pulled forever. Rate backoff; fifo and
 * srpt.
 */
#ifndef _NDP_PULL_H
#define _NDP_PULL_H

#include "wire.h"
#include <linux/list.h>
#include <linux/rbtree.h>

/* Bytes of one pull, with NDP_PULL_OVERHEAD: four packets at MTU 1500 */
#define NDP_PULL_QUANTUM	6200U
/* Ethernet, IPv4, UDP and NDP headers, FCS, preamble and gap */
#define NDP_PULL_OVERHEAD	(14U + 20 + 8 + NDP_HLEN + 4 + 20)
/* srpt: turns, of which one is of the flow that has waited longest */
#define NDP_PULL_OLDEST		16U
/* Pulls of a flow without an arrival: as many as a sender may have in flight */
#define NDP_PULL_UNLIMITED	1024U
/*
 * Unpulled packets that may delay a pull, so that they cannot stop pulls, whatever the true rate of
 * the link is; and pulled packets that may then give time back
 */
#define NDP_PULL_DELAYS		64U
/* Lengths of packets of a flow that are remembered; a power of two */
#define NDP_PULL_LENGTHS	16U

/**
 * enum ndp_pull_policy - order of flows of one priority
 * @NDP_PULL_FAIR: the fewest packets received first
 * @NDP_PULL_FIFO: first come, first served
 * @NDP_PULL_SRPT: the fewest bytes remaining first
 */
enum ndp_pull_policy {
	NDP_PULL_FAIR,
	NDP_PULL_FIFO,
	NDP_PULL_SRPT,
};

/**
 * struct ndp_pull_lengths - payload lengths of packets, first in first out
 * @len: ring
 * @first: the oldest one
 * @count: number; the lengths of further packets are not remembered
 */
struct ndp_pull_lengths {
	u16 len[NDP_PULL_LENGTHS];
	u8 first;
	u8 count;
};

/**
 * struct ndp_pull_node - a flow in the pull queue; zeros at first
 * @rb: in the queue
 * @age: in the queue, by the time of the last turn; empty if the flow was unverified then
 * @key: order within its priority
 * @tie: order among equal keys
 * @more: unsent bytes of the message of its newest packet
 * @round: fair: turns
 * @target: demand since the flow began, modulo 2^32
 * @granted: packets pulled, modulo 2^32
 * @seen: @granted at the last arrival; if @unverified, packets that arrived whole, maybe more
 * @answered: pulled packets that arrived
 * @allowed: pulls ahead of @seen; 0: the flow is held
 * @bytes: mean length of its packets on the link; 0: unknown
 * @nacked: packets NACKed and not pulled since
 * @due: packets pulled that did not arrive yet
 * @prio: 0..7; 7 is first
 * @unverified: the sender's address may be forged
 * @full: its last packet found no room
 * @queued: it is in the queue
 * @keeps: fifo: it keeps its place although it is not in the queue
 */
struct ndp_pull_node {
	struct rb_node rb;
	struct list_head age;
	u64 key;
	u64 tie;
	u64 more;
	u64 round;
	u32 target;
	u32 granted;
	u32 seen;
	u32 answered;
	u32 allowed;
	u32 bytes;
	struct ndp_pull_lengths nacked;
	struct ndp_pull_lengths due;
	u8 prio;
	bool unverified;
	bool full;
	bool queued;
	bool keeps;
};

/**
 * struct ndp_pull_stats - counters; read without a lock
 * @pulls: packets pulled
 * @at_once: packets pulled by the answer to a packet
 * @flushed: demand dropped because everything had arrived
 * @silent: flows that were not pulled further because they were silent
 * @cut: demands above the limit
 */
struct ndp_pull_stats {
	u64 pulls;
	u64 at_once;
	u64 flushed;
	u64 silent;
	u64 cut;
};

/**
 * struct ndp_pull_share - rate backoff of a device
 * @since_ns: begin of the epoch
 * @busy_ns: link time of arrivals in the epoch
 * @arrived: pulled packets that arrived in the epoch
 * @trimmed: pulled packets that arrived trimmed
 * @share: share of the line rate, in 1/1024
 * @stretch: 1 / share, times 2^16
 */
struct ndp_pull_share {
	u64 since_ns;
	u64 busy_ns;
	u32 arrived;
	u32 trimmed;
	u32 share;
	u32 stretch;
};

/**
 * struct ndp_pull - a pull queue: ndp_pull_init()
 * @flows: queued flows, the first one next
 * @ages: verified ones by priority, the one that has waited longest first
 * @share: rate backoff
 * @round: fair, by priority: turns that each waiting flow had at least
 * @begin: fair, by priority: @round when the link became busy
 * @next_ns: time of the next pull
 * @frac: fraction of a ns, times 2^20
 * @byte_time: ns per byte, times 2^20
 * @late_ns: delay of a pull that is made up for
 * @delays: unpulled packets that may delay the next pull
 * @displaced: unpulled packets that have delayed pulls, less pulled ones that gave time back; at
 *	most NDP_PULL_DELAYS
 * @flowing: a pulled packet has arrived since the link became busy
 * @arrivals: flows queued
 * @turns: turns of flows
 * @queued: flows in @flows
 * @longest: longest packet of late on the link, bytes
 * @len_max: longest payload of the link; a trimmed packet may claim more
 * @policy: enum ndp_pull_policy
 * @stats: counters
 */
struct ndp_pull {
	struct rb_root_cached flows;
	struct list_head ages[NDP_PRIOS];
	struct ndp_pull_share share;
	u64 round[NDP_PRIOS];
	u64 begin[NDP_PRIOS];
	u64 next_ns;
	u64 frac;
	u64 byte_time;
	u64 late_ns;
	u64 arrivals;
	u32 turns;
	u32 queued;
	u32 longest;
	u32 len_max;
	u8 delays;
	u8 displaced;
	bool flowing;
	u8 policy;
	struct ndp_pull_stats stats;
};

/* Demand that was not granted yet, packets */
static inline u32 ndp_pull_wanted(const struct ndp_pull_node *n)
{
	return n->target - n->granted;
}

void ndp_pull_init(struct ndp_pull *q, u64 late_ns, u64 now_ns);
void ndp_pull_rate(struct ndp_pull *q, u64 rate_Bps);
void ndp_pull_mtu(struct ndp_pull *q, u32 mtu);
void ndp_pull_policy(struct ndp_pull *q, enum ndp_pull_policy policy);
void ndp_pull_allow(struct ndp_pull_node *n, u32 pulls);
void ndp_pull_whole(struct ndp_pull_node *n);
void ndp_pull_arrived(struct ndp_pull *q, struct ndp_pull_node *n, const struct ndp_hdr *h,
		      u8 more, bool nacked, u64 now_ns);
void ndp_pull_update(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns);
void ndp_pull_flush(struct ndp_pull *q, struct ndp_pull_node *n);
void ndp_pull_leave(struct ndp_pull *q, struct ndp_pull_node *n);
u64 ndp_pull_next_ns(const struct ndp_pull *q);
struct ndp_pull_node *ndp_pull_next(struct ndp_pull *q, u64 now_ns);
bool ndp_pull_at_once(struct ndp_pull *q, struct ndp_pull_node *n, u64 now_ns);

#endif /* _NDP_PULL_H */
