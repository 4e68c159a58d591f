/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: which path the next packet takes
 *
 * Plain C, no kernel types; the time and random numbers are arguments, so that
 * the unit test runs the very code that the module runs.
 *
 * A path is an entropy: a UDP source port, of which switches make their choice
 * among equal routes. The sender has a number of them to each peer, and shuffles them:
 * each is used once, then they are shuffled again. So no two packets of a round meet
 * in the network by bad luck of the sender's, as they would with a random choice.
 *
 *	order   | used | not yet used in this round | avoided |
 *	        0     next                         live     count
 *
 * The shuffle is that of Fisher and Yates, one step a packet. What is known of a path
 * moves it, or has it passed over:
 *
 *	NACK	the path is to be passed over a few times: skip += 3 * 2^level, level += 1
 *	ACK	skip -= 1, level -= 1
 *	next	it is passed over, and skip -= 1, if skip > 1.25 mean(skip). For packets that
 *		are trimmed near the receiver come back as NACKs of all paths alike
 *	lost	the path is avoided for 4 ms, 8 ms .. 1 s, then one packet may try it; of eight
 *		packets no more than one tries one. For who sends little, as after a timeout,
 *		would find one to be tried each time, and lose each packet
 *	ACK	of such a path: it works
 *
 * Reference: M. Handley et al., "Re-architecting datacenter networks and stacks
 * for low latency and high performance", SIGCOMM 2017, sections 3.1.1, 3.2.3.
 * V. Olteanu et al., "An edge-queued datagram service for all datacenter traffic",
 * NSDI 2022: paths that are passed over.
 *
 * Differences from the papers:
 * - NDP compares the NACKs of a path with the mean, over 100 packets, and leaves the
 *   worst out of the permutation. EQDS passes a path over once for each NACK. This is
 *   EQDS's way, with the mean of NDP's, and with more for NACKs in a row: passed over
 *   once at a time, a path that trims everything would still have half its share. And a
 *   hash spreads ports unevenly, so that some links get a tenth more than others: of what
 *   they trim each NACK moves three packets, not one, to the others.
 *   How often ACKs, NACKs and losses came is counted for people to read.
 * - Avoiding a path that loses packets is a matter of timeouts, which both leave open.
 */
#ifndef _NDP_PATH_H
#define _NDP_PATH_H

#include <linux/ndp.h>
#include <closnet/core.h>

#define NDP_PATH_NONE		NDP_PATHS_MAX
/* Source ports: 2^13 of the dynamic ones (RFC 6335), without NDP_UDP_PORT */
#define NDP_PATH_PORT_FIRST	49152U
#define NDP_PATH_PORT_MASK	0x1fffU
/* The authors' simulator, htsim: bad is a path with more than 1.25 of the mean's NACKs. */
#define NDP_PATH_MEAN_NUM	5
#define NDP_PATH_MEAN_DEN	4
/* UEC's simulator has 15, too */
#define NDP_PATH_SKIP_MAX	15
#define NDP_PATH_LEVEL_MAX	3
/* Times that a path is passed over for the first NACK */
#define NDP_PATH_NACK_SKIP	3U
/* So many paths are passed over for one packet at most. */
#define NDP_PATH_LOOKS		16
#define NDP_PATH_AVOID_NS	4000000ULL
#define NDP_PATH_AVOID_MAX	8	/* doublings: 1.024 s */
#define NDP_PATH_TRY_EVERY	8	/* packets */

/**
 * enum ndp_outcome - what became of a packet on a path
 * @NDP_OUTCOME_ACK: it came
 * @NDP_OUTCOME_NACK: it came trimmed
 * @NDP_OUTCOME_RETURNED: a switch sent it back
 * @NDP_OUTCOME_LOST: nothing was heard of it in time
 * @NDP_OUTCOMES: how many there are
 */
enum ndp_outcome {
	NDP_OUTCOME_ACK,
	NDP_OUTCOME_NACK,
	NDP_OUTCOME_RETURNED,
	NDP_OUTCOME_LOST,
	NDP_OUTCOMES,
};

/**
 * struct ndp_path - what is known of a path
 * @retry_ns: avoided: when a packet may try it
 * @packets: by enum ndp_outcome, modulo 2^32
 * @skip: times that it is still to be passed over
 * @level: what the next NACK adds to @skip: NDP_PATH_NACK_SKIP times 2 to the power of it
 * @lost: losses since something came, NDP_PATH_AVOID_MAX at most
 * @place: its place in the order
 */
struct ndp_path {
	u64 retry_ns;
	u32 packets[NDP_OUTCOMES];
	u8 skip;
	u8 level;
	u8 lost;
	u8 place;
};

/**
 * struct ndp_paths - paths to a peer
 * @path: paths
 * @order: places
 * @count: paths, 1..NDP_PATHS_MAX
 * @next: paths used in this round
 * @live: paths not avoided
 * @look: which of the avoided was looked at last, modulo their number
 * @since: packets since one tried an avoided path, modulo 2^32
 * @skips: sum of all paths' skip
 */
struct ndp_paths {
	struct ndp_path *path;
	u8 *order;
	u32 count;
	u32 next;
	u32 live;
	u32 look;
	u32 since;
	u32 skips;
};

/**
 * ndp_paths_init() - paths of which nothing is known
 * @p: paths
 * @path: memory of @count paths
 * @order: memory of @count places
 * @count: 1..NDP_PATHS_MAX
 */
static inline void ndp_paths_init(struct ndp_paths *p, struct ndp_path *path,
				  u8 *order, u32 count)
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

/**
 * ndp_path_port() - UDP source port of a path
 * @base: any number, the same for all paths of a peer
 * @path: which one
 *
 * Return: the port, host byte order.
 */
static inline u16 ndp_path_port(u16 base, u32 path)
{
	return (u16)(NDP_PATH_PORT_FIRST + ((base + path) & NDP_PATH_PORT_MASK));
}

static inline void ndp_path_swap(struct ndp_paths *p, u32 a, u32 b)
{
	u8 tmp = p->order[a];

	p->order[a] = p->order[b];
	p->order[b] = tmp;
	p->path[p->order[a]].place = (u8)a;
	p->path[p->order[b]].place = (u8)b;
}

static inline bool ndp_path_avoided(const struct ndp_paths *p, u32 path)
{
	return p->path[path].place >= p->live;
}

/* From the avoided to those not used yet */
static inline void ndp_path_admit(struct ndp_paths *p, u32 path)
{
	ndp_path_swap(p, p->path[path].place, p->live);
	p->live++;
}

static inline void ndp_path_unskip(struct ndp_paths *p, struct ndp_path *path, u32 times)
{
	path->skip -= (u8)times;
	p->skips -= times;
}

static inline void ndp_path_avoid(struct ndp_paths *p, u32 path)
{
	u32 place = p->path[path].place;

	if (place < p->next) {
		p->next--;
		ndp_path_swap(p, place, p->next);
		place = p->next;
	}
	p->live--;
	ndp_path_swap(p, place, p->live);
	ndp_path_unskip(p, &p->path[path], p->path[path].skip);
}

/*
 * One of the avoided, another one each time. If it is its time, or if all are
 * avoided, a packet may try it, and no other before that is answered or lost.
 * Return: NDP_PATH_NONE if it is not.
 */
static inline u32 ndp_path_try(struct ndp_paths *p, u32 unlike, u64 now)
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

/* The next one of the shuffled; rnd: a random number, then another one */
static inline u32 ndp_path_next(struct ndp_paths *p, u32 *rnd)
{
	u32 place;

	if (p->next >= p->live)
		p->next = 0;
	place = p->next + (u32)((u64)*rnd * (p->live - p->next) >> 32);
	/* D. Knuth's linear congruential generator for 32 bits */
	*rnd = *rnd * 1664525 + 1013904223;
	ndp_path_swap(p, p->next, place);
	return p->order[p->next++];
}

/* Is a path passed over, this time? */
static inline bool ndp_path_passed(struct ndp_paths *p, struct ndp_path *path)
{
	if (path->skip * p->live * NDP_PATH_MEAN_DEN <= p->skips * NDP_PATH_MEAN_NUM)
		return false;
	ndp_path_unskip(p, path, 1);
	return true;
}

/**
 * ndp_path_pick() - the path of the next packet
 * @p: paths
 * @unlike: a path that it is not to be unless all others are avoided, as that of a
 *	packet to be retransmitted; NDP_PATH_NONE: any
 * @now: the time, ns
 * @rnd: a random number
 *
 * Return: the path.
 */
static inline u32 ndp_path_pick(struct ndp_paths *p, u32 unlike, u64 now, u32 rnd)
{
	u32 path = NDP_PATH_NONE, looks = NDP_PATH_LOOKS;

	if (++p->since >= NDP_PATH_TRY_EVERY || !p->live)
		path = ndp_path_try(p, unlike, now);
	if (path != NDP_PATH_NONE) {
		p->since = 0;
		return path;
	}
	do {
		path = ndp_path_next(p, &rnd);
		/* twice at most: the last of a round, the first of the next */
		while (path == unlike && p->live > 1)
			path = ndp_path_next(p, &rnd);
	} while (ndp_path_passed(p, &p->path[path]) && --looks);
	return path;
}

static inline void ndp_path_penalize(struct ndp_paths *p, struct ndp_path *path)
{
	u32 skip = min_t(u32, path->skip + (NDP_PATH_NACK_SKIP << path->level),
			 NDP_PATH_SKIP_MAX);

	p->skips += skip - path->skip;
	path->skip = (u8)skip;
	path->level = (u8)min_t(u32, path->level + 1U, NDP_PATH_LEVEL_MAX);
}

static inline void ndp_path_pardon(struct ndp_paths *p, struct ndp_path *path)
{
	if (path->skip)
		ndp_path_unskip(p, path, 1);
	if (path->level)
		path->level--;
}

/**
 * ndp_path_outcome() - something was heard of a packet, or nothing in time
 * @p: paths
 * @path: which one it took, as the peer says it; any number
 * @outcome: what became of it
 * @now: the time, ns
 */
static inline void ndp_path_outcome(struct ndp_paths *p, u32 path,
				    enum ndp_outcome outcome, u64 now)
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
	/* trimmed, but not lost: that is no dead path */
	this->lost = 0;
	if (ndp_path_avoided(p, path))
		ndp_path_admit(p, path);
	if (outcome != NDP_OUTCOME_ACK)
		ndp_path_penalize(p, this);
	else
		ndp_path_pardon(p, this);
}

#endif /* _NDP_PATH_H */
