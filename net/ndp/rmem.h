/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP receiver: memory policy of a socket
 *
 * This is the only place that decides whether something finds room. A message is admitted with a
 * reservation when its first packet arrives, whole or trimmed, or it is refused:
 *
 *	1 packet		the packet's memory
 *	up to half of the limit	all of the message; its packets then always find room
 *	longer			a window of a quarter of the limit, which moves as the reader reads
 *
 * A reservation becomes smaller as the message is read, and when the message is whole the unused
 * part ends. So each admitted message can complete and be read, and no two messages wait for each
 * other's memory.
 *
 *	+--------------------- limit: SO_RCVBUF, at least four packets ----------------------+
 *	| messages of more than 1/16: at most 3/4                | short messages            |
 *	+--------------------------------------------------------+---------------------------+
 *
 * - Flows that were refused wait in a queue. While it is not empty, other messages of more than
 *   1/16 of the limit are refused as well, so that they do not overtake.
 * - On a socket that delivers in order, messages that wait for an earlier one reserve at most half
 *   of the limit, and do not count in the 3/4. So the earlier one finds room when all other
 *   messages are read.
 * - Packets are charged to the total memory of NDP sockets and to the memory cgroup (@charge) when
 *   they arrive, some in advance. Those behind a hole leave memory to the next packet in order. If
 *   that fails, the message is read as it arrives, like those with a window. Its sender waits until
 *   all that has arrived was read. Then the next packet may use what is left of the total for such
 *   cases (NDP_RMEM_MUST). So may packets of messages that cannot be read in parts, unless an
 *   earlier one has not begun, and the first packet of a message if all others of its socket wait
 *   for an earlier one, or there are none.
 * - Each reservation has a deadline: if flows wait and its sender is silent, see receiver.c. Its
 *   unused part ends, and the kept packets are set aside: they do not count in the limit, but in
 *   all at most another limit is set aside. When the sender returns, the reservation counts again.
 *   Then, or if packets take more memory than expected, it grows. One message at a time may exceed
 *   the limit, so incomplete messages cannot fill the memory for good: this one becomes whole, and
 *   when it was read, it is another one's turn.
 */
#ifndef _NDP_RMEM_H
#define _NDP_RMEM_H

#include <closnet/core.h>

struct ndp_claim;

/* Flags of ndp_rmem_reserve() */
#define NDP_RESERVE_EARLY	0x1	/* an earlier message has not begun */
#define NDP_RESERVE_FIRST	0x2	/* the flow is the first one that waits */

/**
 * enum ndp_rmem_share - how much of the total memory may be used, from little to all of it
 * @NDP_RMEM_LONG: for a new message whose reservation is more than 1 MB
 * @NDP_RMEM_SHORT: for a new shorter one
 * @NDP_RMEM_MORE: for a message in progress
 * @NDP_RMEM_MUST: for one for which other messages would wait for good
 */
enum ndp_rmem_share {
	NDP_RMEM_LONG,
	NDP_RMEM_SHORT,
	NDP_RMEM_MORE,
	NDP_RMEM_MUST,
};

/**
 * struct ndp_rmem - memory of a receiving socket
 * @charge: charge @most bytes, or else @least; returns the bytes, or 0: there is no memory
 * @uncharge: take back @charge
 * @limit: bytes
 * @used: bytes reserved
 * @aside: bytes of silent senders, not in @used
 * @big: reserved by messages of more than a 16th of the limit
 * @early: reserved by messages that wait for an earlier one
 * @unit: bytes of the largest packet
 * @waiting: flows wait for room
 * @exceeds: reservation that may exceed the limit; NULL: none
 */
struct ndp_rmem {
	u32 (*charge)(struct ndp_rmem *r, u32 least, u32 most, enum ndp_rmem_share share);
	void (*uncharge)(struct ndp_rmem *r, u32 bytes);
	u64 limit;
	u64 used;
	u64 aside;
	u64 big;
	u64 early;
	u32 unit;
	bool waiting;
	const struct ndp_claim *exceeds;
};

/**
 * struct ndp_claim - a reservation; zeros if unset
 * @bytes: bytes reserved
 * @size: its full size; more than @bytes after ndp_rcv_lapse() or reading
 * @charged: bytes of it that are charged
 * @is_big: it counts in struct ndp_rmem's @big
 * @is_early: it counts in @early
 * @is_aside: it counts in @aside only
 * @is_window: it may be less than the message needs, which is read in parts
 * @is_scarce: the last packet could not be charged
 */
struct ndp_claim {
	u32 bytes;
	u32 size;
	u32 charged;
	bool is_big;
	bool is_early;
	bool is_aside;
	bool is_window;
	bool is_scarce;
};

void ndp_rmem_set_limit(struct ndp_rmem *r, u64 limit, u32 packet);
bool ndp_rmem_reserve(struct ndp_rmem *r, struct ndp_claim *c, u64 need, u32 now, u32 flags);
bool ndp_rmem_hold(struct ndp_rmem *r, struct ndp_claim *c, u32 kept, bool must);
void ndp_rmem_release(struct ndp_rmem *r, struct ndp_claim *c, u32 kept);
bool ndp_rmem_grow(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes, bool exceed);
void ndp_rmem_shrink(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes);
void ndp_rmem_set_aside(struct ndp_rmem *r, struct ndp_claim *c, bool aside);
void ndp_rmem_end(struct ndp_rmem *r, struct ndp_claim *c);
void ndp_rmem_in_turn(struct ndp_rmem *r, struct ndp_claim *c);

#endif /* _NDP_RMEM_H */
