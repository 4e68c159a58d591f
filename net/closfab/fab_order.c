// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of a flow bucket, put back in order
 *
 * The sender numbers the packets of each bucket and sends them by several paths. The receiver
 * delivers number n when all smaller ones were delivered, or when it no longer expects them:
 *
 *	              next                        next + FAB_AHEAD
 *	  -------------|------------------------------|------------->  number
 *	   delivered   |  held: tree, bits in @seen   |  stray
 *	   or skipped  |                              |
 *	   (bit clear: skipped, may still come late)
 *
 * A missing packet is a hole. The packets behind it wait until it is filled, at most
 *
 *	wait = clamp(2 * skew, min, max)
 *
 * after the oldest of them arrived. skew is measured: a hole that is filled after t is a sample t,
 * also if the wait was over. The estimate is the largest sample of this second and the last one. A
 * hole that ends without a packet, a loss, takes 1/64 off the last one, so that losses on a fabric
 * with small skew soon cost little. The first estimate needs 20 ms and 64 samples, or a second;
 * until then, the wait is max.
 *
 * Memory: when FAB_HELD_MAX packets wait, the first hole is given up. The caller bounds bytes. A
 * packet for which there is no room is delivered out of order; its number counts as received, so
 * that later packets do not wait.
 *
 * Numbers that lie: a number outside the window is delivered and leaves the window alone. Only
 * when FAB_STRAYS_MAX packets in a row are outside, near each other, the window moves (as RFC
 * 3550, appendix A.1, does). So a forged packet cannot stop a bucket, and a receiver that missed
 * a long series catches up. Each call has a bounded cost: a search in a tree of FAB_HELD_MAX
 * packets, and FAB_AHEAD steps of the window at most, amortized one a packet.
 *
 * The service is that of ENA Express, whose algorithm is not public: packets of one flow by many
 * paths, in order at the far end.
 */
#include "fab_order.h"

/* A loss takes 1/64 off the estimate of skew */
#define FAB_SKEW_SHIFT		6
/* Period of its maximum filter */
#define FAB_SKEW_PERIOD_US	(1000 * 1000)
/* The first estimate: so long after the first sample, and from so many */
#define FAB_SKEW_FIRST_US	(20 * 1000)
#define FAB_SKEW_FIRST		64

static u32 fab_us(u64 now_ns)
{
	return (u32)div_u64(now_ns, 1000);
}

/* ---- skew ---- */

/* Wait in units of skew: 2 covers a skew that doubles from one packet to the next */
static u32 fab_clamp(u64 val, u32 min, u32 max)
{
	return (u32)max_t(u64, min, min_t(u64, val, max));
}

/**
 * fab_skew_wait_ns() - compute how long packets wait for a missing one
 * @skew: estimate
 * @w: bounds
 *
 * Return: ns within the bounds.
 */
u32 fab_skew_wait_ns(const struct fab_skew *skew, const struct fab_wait *w)
{
	u32 ns = READ_ONCE(skew->ns);

	return ns ? fab_clamp(2ULL * ns, w->min_ns, w->max_ns) : w->max_ns;
}

/* Begin a period if it is time: the largest sample of the last one is the estimate. */
static void fab_skew_roll(struct fab_skew *skew, u32 now_us)
{
	if (now_us - READ_ONCE(skew->since_us) < FAB_SKEW_PERIOD_US)
		return;
	if (skew->next_ns)
		WRITE_ONCE(skew->ns, skew->next_ns);
	WRITE_ONCE(skew->next_ns, 0);
	WRITE_ONCE(skew->since_us, now_us);
}

/* Does @skew have enough samples for its first estimate? A few ones may be too small. */
static bool fab_skew_is_known(struct fab_skew *skew, u32 now_us)
{
	u32 samples = READ_ONCE(skew->samples) + 1;

	if (READ_ONCE(skew->ns))
		return true;
	WRITE_ONCE(skew->samples, samples);
	return samples >= FAB_SKEW_FIRST &&
	       now_us - READ_ONCE(skew->since_us) >= FAB_SKEW_FIRST_US;
}

/* CPUs that race here lose a sample, which costs a little accuracy and no more. */
static void fab_skew_add(struct fab_skew *skew, u32 sample_us, u32 now_us)
{
	u32 sample = (u32)max_t(u64, min_t(u64, sample_us * 1000ULL, 1U << 31), 1);

	fab_skew_roll(skew, now_us);
	if (sample > READ_ONCE(skew->next_ns))
		WRITE_ONCE(skew->next_ns, sample);
	if (fab_skew_is_known(skew, now_us) && READ_ONCE(skew->next_ns) > READ_ONCE(skew->ns))
		WRITE_ONCE(skew->ns, READ_ONCE(skew->next_ns));
}

/* A packet was lost, not late. Without a sample, the estimate stays unknown. */
static void fab_skew_lost(struct fab_skew *skew, u32 now_us)
{
	u32 ns = READ_ONCE(skew->ns);

	fab_skew_roll(skew, now_us);
	ns -= ns >> FAB_SKEW_SHIFT;
	if (ns > READ_ONCE(skew->next_ns))
		WRITE_ONCE(skew->ns, ns);
}

/* ---- window ---- */

static bool fab_was_seen(const struct fab_order *o, u32 seq)
{
	return o->seen[seq % FAB_WINDOW / 64] >> seq % 64 & 1;
}

static void fab_set_seen(struct fab_order *o, u32 seq)
{
	o->seen[seq % FAB_WINDOW / 64] |= 1ULL << seq % 64;
}

/* The next number takes the place of the oldest one in the window. */
static void fab_step(struct fab_order *o)
{
	u32 enters = o->next + FAB_AHEAD;

	o->seen[enters % FAB_WINDOW / 64] &= ~(1ULL << enters % 64);
	o->next++;
}

/* Step over packets that were delivered out of order; at most FAB_AHEAD. */
static void fab_step_over_seen(struct fab_order *o)
{
	const struct rb_node *first = rb_first(&o->tree);
	u32 held = first ? rb_entry(first, struct fab_held, node)->seq : o->next + FAB_AHEAD;

	while (o->next != held && fab_was_seen(o, o->next))
		fab_step(o);
}

/* ---- held packets ---- */

static struct fab_held *fab_first(const struct fab_order *o)
{
	struct rb_node *node = rb_first(&o->tree);

	return node ? rb_entry(node, struct fab_held, node) : NULL;
}

static const struct fab_held *fab_oldest(const struct fab_order *o)
{
	return list_first_entry(&o->arrivals, struct fab_held, arrival);
}

static void fab_hold(struct fab_order *o, struct fab_held *held, u32 seq, u32 now_us)
{
	struct rb_node **link = &o->tree.rb_node, *parent = NULL;

	held->seq = seq;
	held->since_us = now_us;
	while (*link) {
		parent = *link;
		if ((s32)(seq - rb_entry(parent, struct fab_held, node)->seq) < 0)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&held->node, parent, link);
	rb_insert_color(&held->node, &o->tree);
	list_add_tail(&held->arrival, &o->arrivals);
	o->count++;
}

static struct fab_held *fab_take(struct fab_order *o, struct fab_held *held)
{
	rb_erase(&held->node, &o->tree);
	list_del(&held->arrival);
	o->count--;
	return held;
}

/* ---- interface ---- */

/**
 * fab_order_init() - begin
 * @o: order, which holds no packets
 * @next: first number that is expected
 */
void fab_order_init(struct fab_order *o, u32 next)
{
	*o = (struct fab_order){ .tree = RB_ROOT, .next = next };
	INIT_LIST_HEAD(&o->arrivals);
}

/* A number outside the window. Is it time to move the window? */
static enum fab_verdict fab_stray(struct fab_order *o, u32 seq)
{
	bool near = seq - o->stray + FAB_AHEAD < FAB_WINDOW;

	o->strays = o->strays && near ? o->strays + 1 : 1;
	o->stray = seq;
	return o->strays < FAB_STRAYS_MAX ? FAB_STRAY : FAB_RESTART;
}

/* A number before the next one, whose turn was given up, or which was delivered */
static enum fab_verdict fab_late(struct fab_order *o, u32 seq, struct fab_skew *skew, u32 now_us)
{
	if (fab_was_seen(o, seq))
		return FAB_DUPLICATE;
	fab_set_seen(o, seq);
	if (o->skipped)
		fab_skew_add(skew, now_us - o->skipped_us, now_us);
	return FAB_LATE;
}

/**
 * fab_order_receive() - receive a packet
 * @o: order of its bucket
 * @held: place to hold it, or NULL if there is no room
 * @seq: its number
 * @skew: estimate of the peer
 * @now_ns: present time
 *
 * After FAB_HOLD, fab_order_skip() may be due at once. After FAB_UNHELD, fab_order_pop() may give
 * packets.
 *
 * Return: what to do with it.
 */
enum fab_verdict fab_order_receive(struct fab_order *o, struct fab_held *held, u32 seq,
				   struct fab_skew *skew, u64 now_ns)
{
	u32 ahead = seq - o->next, now_us = fab_us(now_ns);

	if (ahead + FAB_AHEAD >= FAB_WINDOW)
		return fab_stray(o, seq);
	o->strays = 0;
	if ((s32)ahead < 0)
		return fab_late(o, seq, skew, now_us);
	if (fab_was_seen(o, seq))
		return FAB_DUPLICATE;
	fab_set_seen(o, seq);
	if (!ahead) {
		if (o->count)
			fab_skew_add(skew, now_us - fab_oldest(o)->since_us, now_us);
		fab_step(o);
		return FAB_PASS;
	}
	if (!held)
		return FAB_UNHELD;
	fab_hold(o, held, seq, now_us);
	return FAB_HOLD;
}

/**
 * fab_order_pop() - take the next packet in order
 * @o: order
 *
 * Return: it, or NULL if there is none.
 */
struct fab_held *fab_order_pop(struct fab_order *o)
{
	struct fab_held *first;

	fab_step_over_seen(o);
	first = fab_first(o);
	if (!first || first->seq != o->next)
		return NULL;
	fab_step(o);
	return fab_take(o, first);
}

/**
 * fab_order_flush() - take the first packet, whatever is missing before it
 * @o: order, which needs fab_order_init() before it is used again
 *
 * Return: it, or NULL if there is none.
 */
struct fab_held *fab_order_flush(struct fab_order *o)
{
	struct fab_held *first = fab_first(o);

	return first ? fab_take(o, first) : NULL;
}

/**
 * fab_order_wait_ns() - compute how long packets still wait
 * @o: order
 * @skew: estimate of the peer
 * @w: bounds of the wait
 * @now_ns: present time
 *
 * Return: ns; 0 if fab_order_skip() is due; U64_MAX if no packet waits.
 */
u64 fab_order_wait_ns(const struct fab_order *o, const struct fab_skew *skew,
		      const struct fab_wait *w, u64 now_ns)
{
	u64 waited_ns, wait_ns = fab_skew_wait_ns(skew, w);

	if (!o->count)
		return U64_MAX;
	if (o->count >= FAB_HELD_MAX)
		return 0;
	waited_ns = (u64)(u32)(fab_us(now_ns) - fab_oldest(o)->since_us) * 1000;
	return waited_ns < wait_ns ? wait_ns - waited_ns : 0;
}

/**
 * fab_order_skip() - give up the first hole
 * @o: order
 * @skew: estimate of the peer
 * @now_ns: present time
 *
 * After this, fab_order_pop() gives the packets behind the hole. It takes a step for each missing
 * number, at most FAB_AHEAD.
 *
 * Return: false if no packet waits.
 */
bool fab_order_skip(struct fab_order *o, struct fab_skew *skew, u64 now_ns)
{
	const struct fab_held *first = fab_first(o);

	if (!first)
		return false;
	o->skipped = true;
	o->skipped_us = fab_oldest(o)->since_us;
	fab_skew_lost(skew, fab_us(now_ns));
	while (o->next != first->seq)
		fab_step(o);
	return true;
}
