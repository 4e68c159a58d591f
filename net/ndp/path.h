/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: paths to a peer
 *
 * A path is an entropy: a UDP source port by which switches choose among equal routes. The
 * sender has up to 256 of them to each peer. It sends by paths that have just carried a packet
 * whole (REPS, [2]):
 *
 *	ACK	the path is added to the clean ones, unless there are NDP_PATH_CLEAN
 *	pick	the oldest clean path, which is no longer clean then; without clean paths, the next
 *		one of the shuffle
 *	NACK	no effect: the path is not clean. So one packet more explores
 *	lost	the path is avoided for 4 ms, 8 ms .. 1 s, then one packet may try it, at most one
 *		of eight packets of the peer
 *	answer	to a packet on an avoided path: the path is used again
 *
 * So a path gets packets at the rate at which it carries them, slow or fast, and however uneven the
 * hash is. If all paths trim, as in an incast, the shuffle remains: it has each path once in random
 * order, then begins anew, so that a sender's own packets do not meet in the network ([1] section
 * 3.1.1):
 *
 *	order   | used | not yet used in this round | avoided |
 *	        0     next                         live     count
 *
 * The shuffle is Fisher and Yates', one step a packet.
 *
 * [1] M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 *     high performance", SIGCOMM 2017, sections 3.1.1 and 3.2.3.
 * [2] T. Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
 *     Failure Mitigation", arXiv 2407.21625.
 *
 * Differences from the papers: [1] leaves paths with more than 1.25 of the mean's NACKs over 100
 * packets out of a permutation. [2] explores by random entropies, and after a timeout uses old ones
 * again; neither treats single paths that lose packets.
 */
#ifndef _NDP_PATH_H
#define _NDP_PATH_H

#include <linux/ndp.h>
#include <closnet/core.h>

#define NDP_PATH_NONE		NDP_PATHS_MAX
/* Entropies are privileged ports, which users without privileges cannot send from. */
#define NDP_PATH_PORT_FIRST	512U
#define NDP_PATH_PORT_COUNT	512U
/* Clean paths that are remembered: as many as packets in flight on most networks */
#define NDP_PATH_CLEAN		64U
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
 * @lost: timeouts since the last answer, at most NDP_PATH_AVOID_MAX
 * @place: its place in the order
 */
struct ndp_path {
	u64 retry_ns;
	u32 packets[NDP_OUTCOMES];
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
 * @clean: paths whose last packets arrived whole, first in first out
 * @first: the oldest one
 * @cleans: their number
 */
struct ndp_paths {
	struct ndp_path *path;
	u8 *order;
	u32 count;
	u32 next;
	u32 live;
	u32 look;
	u32 since;
	u8 clean[NDP_PATH_CLEAN];
	u32 first;
	u32 cleans;
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
