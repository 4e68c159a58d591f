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
 * - The glue charges each reservation to the total memory of NDP sockets and to the memory cgroup
 *   (@charge). If that fails for 100 ms and the socket has no other reservation, the message gets
 *   a window of two packets. It is slow, and the reader reads no other message before its end.
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

/**
 * struct ndp_rmem - memory of a receiving socket
 * @charge: charge bytes; false: there is no memory
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
	bool (*charge)(struct ndp_rmem *r, u32 bytes);
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
 * @is_big: it counts in struct ndp_rmem's @big
 * @is_early: it counts in @early
 * @is_aside: it counts in @aside only
 * @is_window: it is less than the message needs, which is read in parts
 */
struct ndp_claim {
	u32 bytes;
	u32 size;
	bool is_big;
	bool is_early;
	bool is_aside;
	bool is_window;
};

void ndp_rmem_set_limit(struct ndp_rmem *r, u64 limit, u32 packet);
bool ndp_rmem_reserve(struct ndp_rmem *r, struct ndp_claim *c, u64 need, bool early, bool first,
		      bool any);
bool ndp_rmem_grow(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes, bool exceed);
void ndp_rmem_shrink(struct ndp_rmem *r, struct ndp_claim *c, u32 bytes);
void ndp_rmem_set_aside(struct ndp_rmem *r, struct ndp_claim *c, bool aside);
void ndp_rmem_end(struct ndp_rmem *r, struct ndp_claim *c);
void ndp_rmem_in_turn(struct ndp_rmem *r, struct ndp_claim *c);

#endif /* _NDP_RMEM_H */
