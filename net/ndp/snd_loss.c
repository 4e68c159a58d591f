// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: packets that are lost without a word: RACK and the timer; described in snd.h
 */
#include <linux/errno.h>
#include "snd.h"

/* doublings of the timeout, which rto_max_ns also limits */
#define NDP_SND_SHIFT_MAX	10

/* limits of the flow's bits; RFC 8985, section 6.2: reo_wnd_persist is 16 */
#define NDP_SND_REORDER_MAX	7
#define NDP_SND_PERSIST		15

/* ---- overtaken packets ---- */

/**
 * ndp_snd_slow() - a packet that counted as lost has arrived: it was only slow
 * @f: flow
 * @pkt: packet
 *
 * The reordering time doubles, unless it has doubled since the packet was sent.
 */
void ndp_snd_slow(struct ndp_snd_flow *f, const struct ndp_snd_pkt *pkt)
{
	if (pkt->reorder != (f->reorder & 1) || f->reorder == NDP_SND_REORDER_MAX)
		return;
	f->reorder++;
	f->persist = NDP_SND_PERSIST;
}

/**
 * ndp_snd_vain() - an ACK names a packet: was it retransmitted in vain?
 * @f: flow
 * @h: ACK
 *
 * That is so if an earlier transmission has arrived, before the last one or after it. The slot of a
 * packet that is done remains until the ring has turned.
 */
void ndp_snd_vain(struct ndp_snd_flow *f, const struct ndp_hdr *h)
{
	const struct ndp_snd_pkt *pkt = &f->sb.pkt[h->seq & f->sb.mask];

	if (f->sb.next - h->seq <= f->sb.mask + 1 && pkt->try_no != h->try_no)
		ndp_snd_slow(f, pkt);
}

/* The reordering time: doubled while it is much shorter than a timeout, which must come later */
static u64 ndp_snd_reorder_ns(const struct ndp_snd_call *c, const struct ndp_snd_flow *f)
{
	u32 most = max_t(u32, c->p->reorder_ns, c->p->rto_ns - c->p->rto_ns / 4);

	return min_t(u64, (u64)c->p->reorder_ns << f->reorder, most);
}

/* Packets were lost, maybe: a reordering time that is not needed any more becomes shorter. */
static void ndp_snd_persist(struct ndp_snd_flow *f)
{
	if (!f->reorder || --f->persist)
		return;
	f->reorder--;
	f->persist = NDP_SND_PERSIST;
}

/**
 * ndp_snd_overtake() - a packet was answered: earlier ones that were not are lost
 * @c: call
 * @f: flow
 * @sent_ns: time of its transmission; 0: unknown
 * @below: bands above its own
 *
 * Packets of its band or a higher one that were sent earlier by the reordering time are lost. Those
 * behind one of a lower band are not examined.
 */
void ndp_snd_overtake(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u64 sent_ns, u8 below)
{
	u64 reorder_ns = ndp_snd_reorder_ns(c, f);
	struct ndp_scoreboard *sb = &f->sb;
	struct ndp_snd_pkt *pkt;
	bool any = false;

	while (sb->flight.count) {
		pkt = &sb->pkt[sb->flight.head];
		if (pkt->below > below || pkt->sent_ns + reorder_ns >= sent_ns)
			break;
		any = true;
		ndp_snd_judge(c, pkt->path, NDP_OUTCOME_LOST);
		ndp_snd_count(&c->stats->overtaken_packets, 1);
		ndp_sb_lose(sb, pkt, false);
	}
	if (any)
		ndp_snd_persist(f);
}

/* ---- timer ---- */

/**
 * ndp_snd_due_ns() - get the time when ndp_snd_expire() has something to do
 * @f: flow
 * @p: configuration
 *
 * Return: time, ns; U64_MAX: never, the flow is idle.
 */
u64 ndp_snd_due_ns(const struct ndp_snd_flow *f, const struct ndp_snd_params *p)
{
	const struct ndp_snd_pkt *first;
	u64 rto_ns;

	if (ndp_snd_is_idle(f))
		return U64_MAX;
	if (!ndp_snd_is_busy(f) && !f->unanswered)
		return f->quiet_ns + p->renew_ns;
	if (!f->sb.flight.count)
		return f->quiet_ns + f->rto_ns;
	first = &f->sb.pkt[f->sb.flight.head];
	rto_ns = (u64)p->rto_ns << min_t(u32, first->timeouts + first->below, NDP_SND_SHIFT_MAX);
	return first->sent_ns + max_t(u64, f->rto_ns, min_t(u64, rto_ns, p->rto_max_ns));
}

/* Double the timeout and add up to a quarter, so that flows do not stay in step. */
static void ndp_snd_back_off(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u32 random)
{
	u64 rto_ns = 2ULL * f->rto_ns;

	rto_ns += rto_ns * random >> 34;
	f->rto_ns = (u32)min_t(u64, rto_ns, c->p->rto_max_ns);
	f->quiet_ns = c->now;
}

/* No packet is in flight, and no pull arrived; or one did, but its packet has not left yet. */
static void ndp_snd_ask(const struct ndp_snd_call *c, struct ndp_snd_flow *f, u32 random)
{
	if (ndp_snd_pick(f, c->p) != NDP_SND_WAIT) {
		f->quiet_ns = c->now;
		return;
	}
	if (f->sb.lost.count)
		f->push = f->probed || ndp_snd_is_stalled(f);
	else
		f->push = f->probed && !f->window && ndp_snd_has_new(f);
	f->probe = !f->push;
	f->probed = true;
	ndp_snd_back_off(c, f, random);
}

/**
 * ndp_snd_expire() - process the timer
 * @c: call
 * @f: flow
 * @random: random number
 * @path: with NDP_SND_LOST: path of the packet
 *
 * To be called until the result is not NDP_SND_LOST.
 *
 * Return: effect.
 */
enum ndp_snd_expiry ndp_snd_expire(const struct ndp_snd_call *c, struct ndp_snd_flow *f,
				   u32 random, u8 *path)
{
	bool late = ndp_snd_due_ns(f, c->p) <= c->now;
	struct ndp_snd_pkt *pkt;

	if (f->overdue && !(late && f->sb.flight.count)) {
		f->overdue = false;
		ndp_snd_back_off(c, f, random);
		return NDP_SND_QUIET;
	}
	if (!late)
		return NDP_SND_QUIET;
	if (f->unanswered && c->now - f->silent_ns >= c->p->timeout_ns) {
		ndp_snd_fail(c, f, ETIMEDOUT);
		return NDP_SND_FAILED;
	}
	if (!f->sb.flight.count) {
		ndp_snd_ask(c, f, random);
		return NDP_SND_QUIET;
	}
	pkt = &f->sb.pkt[f->sb.flight.head];
	if (pkt->timeouts < c->p->max_tries) {
		pkt->timeouts++;
	} else if (!f->full_ns || c->now - f->full_ns >= c->p->timeout_ns) {
		ndp_snd_fail(c, f, ETIMEDOUT);
		return NDP_SND_FAILED;
	}
	*path = pkt->path;
	ndp_snd_count(&c->stats->timeouts, 1);
	ndp_sb_lose(&f->sb, pkt, false);
	f->push = true;
	f->overdue = true;
	return NDP_SND_LOST;
}
