// SPDX-License-Identifier: GPL-2.0-only
/*
 * ConWeave at the source leaf: when a flow is rerouted
 *
 *   Cha Hwan Song, Xin Zhe Khooi, Raj Joshi, Inho Choi, Jialin Li, Mun Choon Chan: "Network Load
 *   Balancing with In-network Reordering Support for RDMA", SIGCOMM 2023, sections 3.2 and 3.4.
 *
 * The first packet of an epoch asks the destination leaf for RTT_REPLY. If the reply is not there
 * at
 *
 *	theta_reply = base RTT + reply_ns
 *
 * the path is congested, and the next packet is TAIL, the last one on this path. All later ones are
 * REROUTED, on a path that is not busy, until the destination leaf sends CLEAR: all packets of the
 * old path have arrived. So a flow is on two paths at most, and one FIFO puts it in order.
 *
 *	             idle > theta_inactive, or the path is gone: FRESH
 *	                 |
 *	                 v        RTT_REPLY in time
 *	   RTT_REQUEST [wait] ------------------------> [stable] --- next packet: EPOCH ---+
 *	      ^          |  cutoff passed: TAIL             ^                              |
 *	      |          v                                  | CLEAR, or theta_inactive     |
 *	      |       [rerouted] ---------------------------+ since TAIL                   |
 *	      +----------------------------------------------------------------------------+
 *
 * Only packets change the state; there is no timer. NOTIFY marks a path busy for theta_path_busy.
 *
 * Differences from the paper:
 *  - If no sampled path is good, the paper aborts the reroute. As in both artifacts, TAIL is sent
 *    all the same and the flow keeps its path: CLEAR then begins the next epoch.
 *  - If CLEAR is lost and the flow never pauses, the paper's flow stays in its epoch for good.
 *    Here, an epoch begins theta_inactive after TAIL, the time in which TAIL and CLEAR arrive.
 *  - The base RTT is measured for each peer: the minimum of 10 to 20 s. Replies after the cutoff
 *    also count, so that it follows a path that has become longer. Before the first RTT_REPLY, the
 *    cutoff is theta_inactive.
 *  - Flows are those of a hash bucket, so that each one has a place. Flows of one bucket
 *    are rerouted together. With more flows than places, the paper falls back to ECMP.
 */
#include "fab_source.h"

static u32 fab_us(u64 now_ns)
{
	return (u32)div_u64(now_ns, 1000);
}

/* ---- NOTIFY table ---- */

static u32 fab_busy_slot(u16 path)
{
	return (path * 0x9e3779b1U) >> 24;
}

/**
 * fab_busy_set() - mark a path busy
 * @b: table
 * @path: the path
 * @p: parameters
 * @now_ns: present time
 */
void fab_busy_set(struct fab_busy *b, u16 path, const struct fab_source_params *p, u64 now_ns)
{
	/* 0 is for "never" */
	WRITE_ONCE(b->until_us[fab_busy_slot(path)], fab_us(now_ns + p->busy_ns) | 1);
}

/**
 * fab_busy_test() - check whether a path is busy
 * @b: table
 * @path: the path
 * @now_ns: present time
 *
 * Return: true if it is, or if another path with the same slot is. A slot that was not used for
 * half of the clock's period, 36 minutes, may be taken for busy for the other half;
 * fab_busy_set() ends this.
 */
bool fab_busy_test(const struct fab_busy *b, u16 path, u64 now_ns)
{
	u32 until_us = READ_ONCE(b->until_us[fab_busy_slot(path)]);

	return until_us && (s32)(until_us - fab_us(now_ns)) > 0;
}

/* ---- flows ---- */

/* May the flow take any path? Then none of its packets are in the fabric, or their path is gone. */
static bool fab_is_fresh(const struct fab_source *s, const struct fab_source_params *p,
			 bool has_path, u64 now_ns)
{
	return !has_path || !s->active_ns || s->active_ns + p->inactive_ns < now_ns;
}

static bool fab_clear_is_overdue(const struct fab_source *s, const struct fab_source_params *p,
				 u64 now_ns)
{
	return s->rerouted && s->tail_ns + p->inactive_ns < now_ns;
}

/**
 * fab_source_begin() - decide what a packet does
 * @s: flow
 * @p: parameters
 * @has_path: the flow's path exists
 * @rtt_ns: base RTT to the peer; 0: not known
 * @now_ns: present time, above 0
 *
 * Return: the step. For FAB_FRESH and FAB_TAIL, the caller samples paths. Then it calls
 * fab_source_finish().
 */
enum fab_step fab_source_begin(struct fab_source *s, const struct fab_source_params *p,
			       bool has_path, u32 rtt_ns, u64 now_ns)
{
	bool fresh = fab_is_fresh(s, p, has_path, now_ns);
	bool opens = fresh || s->stable || fab_clear_is_overdue(s, p, now_ns);

	s->active_ns = now_ns;
	if (opens) {
		s->deadline_ns = now_ns + (rtt_ns ? (u64)rtt_ns + p->reply_ns : p->inactive_ns);
		return fresh ? FAB_FRESH : FAB_EPOCH;
	}
	return s->deadline_ns < now_ns ? FAB_TAIL : FAB_STAY;
}

/**
 * fab_source_finish() - make the step, and write it into the packet's header
 * @s: flow
 * @step: from fab_source_begin()
 * @good: a path that is not busy, or FAB_NO_PATH; for FAB_FRESH and FAB_TAIL
 * @any: a path that exists; for FAB_FRESH
 * @now_ns: present time
 * @h: header; path, epoch, flags, clocks are set
 */
void fab_source_finish(struct fab_source *s, enum fab_step step, int good, u16 any, u64 now_ns,
		       struct fab_header *h)
{
	h->tx_us = fab_us(now_ns);
	if (step == FAB_FRESH)
		s->path = good == FAB_NO_PATH ? any : good;
	h->path = s->path;
	switch (step) {
	case FAB_FRESH:
	case FAB_EPOCH:
		s->epoch++;
		s->rerouted = false;
		s->stable = false;
		s->tail_us = 0;
		s->request_us[s->epoch & 1] = h->tx_us;
		h->flags |= FAB_F_RTT_REQUEST;
		break;
	case FAB_TAIL:
		s->deadline_ns = U64_MAX;
		s->rerouted = true;
		s->tail_ns = now_ns;
		s->tail_us = h->tx_us;
		h->flags |= FAB_F_TAIL;
		if (good != FAB_NO_PATH)
			s->path = good;
		break;
	case FAB_STAY:
		if (s->rerouted)
			h->flags |= FAB_F_REROUTED;
		break;
	}
	h->epoch = s->epoch;
	h->tail_us = s->tail_us;
}

/**
 * fab_source_reply() - RTT_REPLY has arrived
 * @s: flow
 * @epoch: its epoch
 * @now_ns: present time
 *
 * Return: false if it is late, or of another epoch, and so ignored.
 */
bool fab_source_reply(struct fab_source *s, u16 epoch, u64 now_ns)
{
	if (epoch != s->epoch || s->rerouted || s->stable || now_ns > s->deadline_ns)
		return false;
	s->stable = true;
	s->deadline_ns = U64_MAX;
	return true;
}

/**
 * fab_source_clear() - CLEAR has arrived
 * @s: flow
 * @epoch: its epoch
 *
 * Return: false if it is a duplicate, or of another epoch, and so ignored.
 */
bool fab_source_clear(struct fab_source *s, u16 epoch)
{
	if (epoch != s->epoch || !s->rerouted || s->stable)
		return false;
	s->stable = true;
	s->deadline_ns = U64_MAX;
	return true;
}

/* ---- base RTT ---- */

/**
 * fab_source_rtt_ns() - compute the RTT that a RTT_REPLY shows
 * @s: flow
 * @epoch: the reply's epoch
 * @tx_us: clock that it echoes
 * @now_ns: present time
 *
 * A late reply of this epoch or the previous one counts. It must echo the clock of its request:
 * a peer can make the RTT longer, by its delay, but not shorter.
 *
 * Return: the RTT, at least 1; 0: the reply is no sample.
 */
u32 fab_source_rtt_ns(const struct fab_source *s, u16 epoch, u32 tx_us, u64 now_ns)
{
	u32 rtt_us = fab_us(now_ns) - tx_us;

	if ((u16)(s->epoch - epoch) > 1 || tx_us != s->request_us[epoch & 1] ||
	    rtt_us > FAB_RTT_MAX_US)
		return 0;
	return max_t(u32, rtt_us * 1000, 1);
}

/**
 * fab_rtt_add() - add a sample to the base RTT
 * @r: base RTT of the peer
 * @rtt_ns: sample, above 0
 * @now_ns: present time; another CPU may have added a later sample
 */
void fab_rtt_add(struct fab_rtt *r, u32 rtt_ns, u64 now_ns)
{
	if ((s64)(now_ns - r->since_ns) >= (s64)FAB_RTT_PERIOD_NS) {
		WRITE_ONCE(r->ns, r->next_ns);
		r->next_ns = 0;
		r->since_ns = now_ns;
	}
	if (!r->next_ns || rtt_ns < r->next_ns)
		r->next_ns = rtt_ns;
	if (!r->ns || rtt_ns < r->ns)
		WRITE_ONCE(r->ns, rtt_ns);
}
