// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: the timer, by which packets without an answer are lost; described in snd.h
 */
#include <linux/errno.h>
#include "snd.h"

/* doublings of the timeout, which rto_max_ns also limits */
#define NDP_SND_SHIFT_MAX	10

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
