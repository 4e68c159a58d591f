// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP receiver: memory policy of a socket; described in rmem.h
 */
#include "rmem.h"

/* Shares of the limit */
#define NDP_RMEM_WHOLE(limit)	((limit) / 2)	/* longest message that is kept whole */
#define NDP_RMEM_WINDOW(limit)	((limit) / 4)	/* window of a longer one */
#define NDP_RMEM_SMALL(limit)	((limit) / 16)	/* longest message that does not wait */
#define NDP_RMEM_BIG(limit)	(3 * (limit) / 4)	/* bytes of longer ones */
#define NDP_RMEM_EARLY(limit)	((limit) / 2)	/* bytes of messages that wait for another one */
/* packets of the least limit and of the least window */
#define NDP_RMEM_LIMIT_UNITS	4ULL
#define NDP_RMEM_WINDOW_UNITS	2ULL
/* longest reservation of a message that may use all of the total memory */
#define NDP_RMEM_SHORT_MAX	1048576U
/* bytes that are charged in advance */
#define NDP_RMEM_AHEAD		65536U

/**
 * ndp_rmem_set_limit() - set the limit of a socket
 * @r: memory
 * @limit: bytes
 * @packet: memory of a packet that arrived, or 0
 *
 * The limit is at least four of the largest packets.
 */
void ndp_rmem_set_limit(struct ndp_rmem *r, u64 limit, u32 packet)
{
	r->unit = max_t(u32, r->unit, packet);
	r->limit = max_t(u64, limit, NDP_RMEM_LIMIT_UNITS * r->unit);
}

static bool ndp_rmem_fits(const struct ndp_rmem *r, u64 bytes, u32 flags)
{
	bool big = bytes > NDP_RMEM_SMALL(r->limit);

	if (r->used + bytes > r->limit || (big && r->waiting && !(flags & NDP_RESERVE_FIRST)))
		return false;
	if (flags & NDP_RESERVE_EARLY)
		return r->early + bytes <= NDP_RMEM_EARLY(r->limit);
	return !big || r->big + bytes <= NDP_RMEM_BIG(r->limit);
}

/* Count bytes that a reservation gets, or has less if negative. */
static void ndp_rmem_count(struct ndp_rmem *r, const struct ndp_claim *c, s64 bytes)
{
	if (c->is_aside) {
		r->aside += bytes;
		return;
	}
	r->used += bytes;
	r->big += c->is_big ? bytes : 0;
	r->early += c->is_early ? bytes : 0;
}

/* Charge a reservation up to @least, @most is better. */
static bool ndp_rmem_charge(struct ndp_rmem *r, struct ndp_claim *c, u32 least, u32 most,
			    enum ndp_rmem_share share)
{
	u32 bytes;

	if (least <= c->charged)
		return true;
	bytes = r->charge(r, least - c->charged, most - c->charged, share);
	c->charged += bytes;
	return bytes;
}

static void ndp_rmem_uncharge(struct ndp_rmem *r, struct ndp_claim *c, u32 most)
{
	if (c->charged <= most)
		return;
	r->uncharge(r, c->charged - most);
	c->charged = most;
}

/**
 * ndp_rmem_reserve() - reserve memory for a message
 * @r: memory
 * @c: result: the reservation
 * @need: bytes that all of the message will take
 * @now: those that have arrived, and are charged; at least a packet is
 * @flags: NDP_RESERVE_*
 *
 * Return: false if there is no room.
 */
bool ndp_rmem_reserve(struct ndp_rmem *r, struct ndp_claim *c, u64 need, u32 now, u32 flags)
{
	struct ndp_claim claim = { .is_early = flags & NDP_RESERVE_EARLY };
	enum ndp_rmem_share share = NDP_RMEM_MUST;
	u64 bytes = need;

	if (need > NDP_RMEM_WHOLE(r->limit))
		bytes = max_t(u64, NDP_RMEM_WINDOW(r->limit), NDP_RMEM_WINDOW_UNITS * r->unit);
	now = (u32)min_t(u64, bytes, max_t(u32, now, r->unit));
	if (r->used > (claim.is_early ? 0 : r->early))
		share = bytes > NDP_RMEM_SHORT_MAX ? NDP_RMEM_LONG : NDP_RMEM_SHORT;
	if (!ndp_rmem_fits(r, bytes, flags) ||
	    !ndp_rmem_charge(r, &claim, now, now, share))
		return false;
	claim.bytes = (u32)bytes;
	claim.size = (u32)bytes;
	claim.is_big = !claim.is_early && bytes > NDP_RMEM_SMALL(r->limit);
	claim.is_window = bytes < need;
	*c = claim;
	ndp_rmem_count(r, c, (s64)bytes);
	return true;
}

/**
 * ndp_rmem_hold() - charge the packets of a message
 * @r: memory
 * @c: reservation
 * @kept: bytes that they take now, at most the reservation
 * @must: even if the total memory is used up
 *
 * Return: false if there is no memory.
 */
bool ndp_rmem_hold(struct ndp_rmem *r, struct ndp_claim *c, u32 kept, bool must)
{
	u32 most = (u32)min_t(u64, c->bytes, (u64)kept + NDP_RMEM_AHEAD);

	return ndp_rmem_charge(r, c, kept, must ? kept : most,
			       must ? NDP_RMEM_MUST : NDP_RMEM_MORE);
}

/**
 * ndp_rmem_release() - packets of a message were read, which continues
 * @r: memory
 * @c: reservation, which remains
 * @kept: bytes that its packets take now
 */
void ndp_rmem_release(struct ndp_rmem *r, struct ndp_claim *c, u32 kept)
{
	if (c->charged - kept > 2 * NDP_RMEM_AHEAD)
		ndp_rmem_uncharge(r, c, kept + NDP_RMEM_AHEAD);
}

/**
 * ndp_rmem_set_aside() - take a reservation out of the limit, or back into it
 * @r: memory
 * @c: reservation; not @is_early
 * @aside: take it out, unless as much as the limit would be set aside
 */
void ndp_rmem_set_aside(struct ndp_rmem *r, struct ndp_claim *c, bool aside)
{
	if (c->is_aside == aside || (aside && r->aside + c->bytes > r->limit))
		return;
	ndp_rmem_count(r, c, -(s64)c->bytes);
	c->is_aside = aside;
	ndp_rmem_count(r, c, c->bytes);
}

/**
 * ndp_rmem_grow() - enlarge a reservation
 * @r: memory
 * @c: reservation, not set aside
 * @bytes: bytes to add
 * @exceed: its message is read as soon as it is whole: it may exceed the limit, if no other one
 *	does
 *
 * Return: false if there is no room.
 */
bool ndp_rmem_grow(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes, bool exceed)
{
	if (r->used <= r->limit)
		r->exceeds = NULL;
	if (r->used + bytes > r->limit && (!exceed || (r->exceeds && r->exceeds != c)))
		return false;
	if (r->used + bytes > r->limit)
		r->exceeds = c;
	c->bytes += bytes;
	ndp_rmem_count(r, c, bytes);
	return true;
}

/**
 * ndp_rmem_shrink() - give back a part of a reservation
 * @r: memory
 * @c: reservation
 * @bytes: bytes to give back, at most all
 */
void ndp_rmem_shrink(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes)
{
	if (!bytes)
		return;
	ndp_rmem_count(r, c, -(s64)bytes);
	c->bytes -= bytes;
	ndp_rmem_uncharge(r, c, c->bytes);
}

/**
 * ndp_rmem_end() - end a reservation
 * @r: memory
 * @c: reservation; zeros after that
 */
void ndp_rmem_end(struct ndp_rmem *r, struct ndp_claim *c)
{
	ndp_rmem_shrink(r, c, c->bytes);
	if (r->exceeds == c)
		r->exceeds = NULL;
	*c = (struct ndp_claim) {};
}

/**
 * ndp_rmem_in_turn() - all earlier messages have begun
 * @r: memory
 * @c: reservation
 */
void ndp_rmem_in_turn(struct ndp_rmem *r, struct ndp_claim *c)
{
	if (c->is_early)
		r->early -= c->bytes;
	c->is_early = false;
}
