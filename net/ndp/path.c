// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: choose paths; the algorithm is described in path.h
 */
#include "path.h"

/**
 * ndp_paths_init() - initialize paths without a history
 * @p: paths
 * @path: memory for @count paths
 * @order: memory for @count numbers
 * @count: 1..NDP_PATHS_MAX
 */
void ndp_paths_init(struct ndp_paths *p, struct ndp_path *path, u8 *order, u32 count)
{
	u32 i;

	*p = (struct ndp_paths) {
		.path = path, .order = order, .count = count, .live = count,
	};
	for (i = 0; i < count; i++) {
		path[i] = (struct ndp_path) { .place = (u8)i };
		order[i] = (u8)i;
	}
}

static void ndp_path_swap(struct ndp_paths *p, u32 a, u32 b)
{
	u8 tmp = p->order[a];

	p->order[a] = p->order[b];
	p->order[b] = tmp;
	p->path[p->order[a]].place = (u8)a;
	p->path[p->order[b]].place = (u8)b;
}

/* Move a path from the avoided ones to those not used yet. */
static void ndp_path_admit(struct ndp_paths *p, u32 path)
{
	ndp_path_swap(p, p->path[path].place, p->live);
	p->live++;
}

static void ndp_path_avoid(struct ndp_paths *p, u32 path)
{
	u32 place = p->path[path].place;

	if (place < p->next) {
		p->next--;
		ndp_path_swap(p, place, p->next);
		place = p->next;
	}
	p->live--;
	ndp_path_swap(p, place, p->live);
}

/*
 * Choose one of the avoided paths, another one each time. No second packet tries it before
 * the first one is answered or lost. Return: NDP_PATH_NONE if it is too early for it
 */
static u32 ndp_path_try(struct ndp_paths *p, u32 unlike, u64 now)
{
	u32 avoided = p->count - p->live, path;

	if (!avoided)
		return NDP_PATH_NONE;
	p->look = (p->look + 1) % avoided;
	path = p->order[p->live + p->look];
	if (path == unlike && p->count > 1) {
		if (p->live)
			return NDP_PATH_NONE;
		p->look = (p->look + 1) % avoided;
		path = p->order[p->look];
	}
	if (p->live && now < p->path[path].retry_ns)
		return NDP_PATH_NONE;
	p->path[path].retry_ns = now + (NDP_PATH_AVOID_NS << NDP_PATH_AVOID_MAX);
	return path;
}

/* The next path of the shuffle; *@rnd: a random number, replaced by another one */
static u32 ndp_path_next(struct ndp_paths *p, u32 *rnd)
{
	u32 place;

	if (p->next >= p->live)
		p->next = 0;
	place = p->next + (u32)((u64)*rnd * (p->live - p->next) >> 32);
	/* D. Knuth's linear congruential generator */
	*rnd = *rnd * 1664525 + 1013904223;
	ndp_path_swap(p, p->next, place);
	return p->order[p->next++];
}

/* Take the oldest clean path. Return: NDP_PATH_NONE: there is none but @unlike */
static u32 ndp_path_recycle(struct ndp_paths *p, u32 unlike)
{
	u32 path;

	while (p->cleans) {
		path = p->clean[p->first];
		p->first = (p->first + 1) % NDP_PATH_CLEAN;
		p->cleans--;
		if (path != unlike && !ndp_path_avoided(p, path))
			return path;
	}
	return NDP_PATH_NONE;
}

/**
 * ndp_path_pick() - choose the path of the next packet
 * @p: paths
 * @unlike: path of the last transmission, to be avoided unless there is no other one;
 *	NDP_PATH_NONE: any path
 * @now: time, ns
 * @rnd: random number
 *
 * Return: number of the path.
 */
u32 ndp_path_pick(struct ndp_paths *p, u32 unlike, u64 now, u32 rnd)
{
	u32 path = NDP_PATH_NONE;

	if (++p->since >= NDP_PATH_TRY_EVERY || !p->live)
		path = ndp_path_try(p, unlike, now);
	if (path != NDP_PATH_NONE) {
		p->since = 0;
		return path;
	}
	path = ndp_path_recycle(p, unlike);
	if (path != NDP_PATH_NONE)
		return path;
	path = ndp_path_next(p, &rnd);
	/* at most twice: the last path of a round, the first one of the next */
	while (path == unlike && p->live > 1)
		path = ndp_path_next(p, &rnd);
	return path;
}

/**
 * ndp_path_outcome() - record the outcome of a packet
 * @p: paths
 * @path: path of the packet as the peer reports it; any number
 * @outcome: outcome
 * @now: time, ns
 */
void ndp_path_outcome(struct ndp_paths *p, u32 path, enum ndp_outcome outcome, u64 now)
{
	struct ndp_path *this;

	if (path >= p->count)
		return;
	this = &p->path[path];
	this->packets[outcome]++;
	if (outcome == NDP_OUTCOME_LOST) {
		if (!ndp_path_avoided(p, path))
			ndp_path_avoid(p, path);
		this->retry_ns = now + (NDP_PATH_AVOID_NS << this->lost);
		this->lost = (u8)min_t(u32, this->lost + 1U, NDP_PATH_AVOID_MAX);
		return;
	}
	/* a path that trims is not dead */
	this->lost = 0;
	if (ndp_path_avoided(p, path))
		ndp_path_admit(p, path);
	if (outcome != NDP_OUTCOME_ACK || p->cleans == NDP_PATH_CLEAN)
		return;
	p->clean[(p->first + p->cleans) % NDP_PATH_CLEAN] = (u8)path;
	p->cleans++;
}
