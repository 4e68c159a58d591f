/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: paths to a peer
 *
 * A path is an entropy: a UDP source port by which switches choose among equal routes. The
 * sender has up to 256 of them to each peer. It uses each once in random order, then shuffles
 * them again, so that its own packets do not meet in the network ([1] section 3.1.1):
 *
 *	order   | used | not yet used in this round | avoided |
 *	        0     next                         live     count
 *
 * The shuffle is Fisher and Yates', one step a packet. Outcomes of packets change it:
 *
 *	NACK	skip += 3 * 2^level, level += 1
 *	ACK	skip -= 1, level -= 1
 *	pick	if skip > 1.25 mean(skip): skip -= 1, and the next path is tried. So NACKs that
 *		come from all paths alike, as in an incast, have no effect
 *	lost	the path is avoided for 4 ms, 8 ms .. 1 s, then one packet may try it, at most one
 *		of eight packets of the peer
 *	answer	to a packet on an avoided path: the path is used again
 *
 * [1] M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 *     high performance", SIGCOMM 2017, sections 3.1.1 and 3.2.3.
 * [2] V. Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022.
 *
 * Differences from the papers: [1] leaves paths with more than 1.25 of the mean's NACKs over 100
 * packets out of a permutation. [2] skips a path once for each NACK. This combines [2]'s skips
 * with [1]'s mean. A NACK skips three times, because a hash spreads ports unevenly, and more for
 * NACKs in a row: with one skip each, a path that trims all packets would get half of its share.
 * Neither paper treats paths that lose packets.
 */
#ifndef _NDP_PATH_H
#define _NDP_PATH_H

#include <linux/ndp.h>
#include <closnet/core.h>

#define NDP_PATH_NONE		NDP_PATHS_MAX
/* Entropies are privileged ports, which users without privileges cannot send from. */
#define NDP_PATH_PORT_FIRST	512U
#define NDP_PATH_PORT_COUNT	512U
/* htsim, the simulator of [1]: a path is bad above 1.25 of the mean's NACKs */
#define NDP_PATH_MEAN_NUM	5
#define NDP_PATH_MEAN_DEN	4
/* as in UEC's simulator */
#define NDP_PATH_SKIP_MAX	15
#define NDP_PATH_LEVEL_MAX	3
/* skips for the first NACK */
#define NDP_PATH_NACK_SKIP	3U
/* bound of the paths that are skipped for one packet */
#define NDP_PATH_LOOKS		16
#define NDP_PATH_AVOID_NS	4000000ULL
#define NDP_PATH_AVOID_MAX	8	/* doublings: 1.024 s */
#define NDP_PATH_TRY_EVERY	8	/* packets */

/**
 * enum ndp_outcome - outcome of a packet on a path
 * @NDP_OUTCOME_ACK: arrived whole
 * @NDP_OUTCOME_NACK: arrived trimmed
 * @NDP_OUTCOME_RETURNED: a switch returned it
 * @NDP_OUTCOME_LOST: timed out
 * @NDP_OUTCOMES: number of outcomes
 */
enum ndp_outcome {
	NDP_OUTCOME_ACK,
	NDP_OUTCOME_NACK,
	NDP_OUTCOME_RETURNED,
	NDP_OUTCOME_LOST,
	NDP_OUTCOMES,
};

/**
 * struct ndp_path - a path
 * @retry_ns: if avoided: when a packet may try it
 * @packets: by enum ndp_outcome, modulo 2^32
 * @skip: times that it is still to be skipped
 * @level: log2 of the factor by which the next NACK adds to @skip
 * @lost: timeouts since the last answer, at most NDP_PATH_AVOID_MAX
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
 * @order: numbers of paths in the order described above
 * @count: paths, 1..NDP_PATHS_MAX
 * @next: paths used in this round
 * @live: paths that are not avoided
 * @look: avoided path that was considered last
 * @since: packets since one tried an avoided path, modulo 2^32
 * @skips: sum of @skip
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
 * ndp_path_port() - UDP source port of a path
 * @base: random, the same for all paths of a peer
 * @path: number of the path
 *
 * Return: the port in host byte order, 512..1023.
 */
static inline u16 ndp_path_port(u16 base, u32 path)
{
	return (u16)(NDP_PATH_PORT_FIRST + ((base + path) % NDP_PATH_PORT_COUNT));
}

/* Is a UDP source port a path's? */
static inline bool ndp_path_is_port(u16 port)
{
	return port - NDP_PATH_PORT_FIRST < NDP_PATH_PORT_COUNT;
}

/* Is a path avoided because of timeouts? */
static inline bool ndp_path_avoided(const struct ndp_paths *p, u32 path)
{
	return p->path[path].place >= p->live;
}

void ndp_paths_init(struct ndp_paths *p, struct ndp_path *path, u8 *order, u32 count);
u32 ndp_path_pick(struct ndp_paths *p, u32 unlike, u64 now, u32 rnd);
void ndp_path_outcome(struct ndp_paths *p, u32 path, enum ndp_outcome outcome, u64 now);

#endif /* _NDP_PATH_H */
