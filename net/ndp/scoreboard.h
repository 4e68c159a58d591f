/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP sender: scoreboard of a flow, its packets that are not acknowledged yet
 *
 * A packet that is sent for the first time gets the next serial number (seq); a retransmission
 * repeats it. The packets stand in a ring, packet seq in slot seq modulo the ring's size:
 *
 *	        base                                 next     base + ring size
 *	+--------+------------------------------------+----------------+
 *	| done   | in flight, lost, done              | may be sent    |
 *	+--------+------------------------------------+----------------+
 *
 *	          sent                NACK, returned, timeout
 *	(next) ---------> +--------+ ----------------------> +------+
 *	                  | FLIGHT |                         | LOST |
 *	                  +--------+ <---------------------- +------+
 *	                       |         retransmitted          |
 *	                       | acknowledged, given up         |
 *	                       v                                |
 *	                  +--------+                            |
 *	                  |  DONE  | <--------------------------+
 *	                  +--------+
 *
 * Two lists run through the ring: packets in flight in the order in which they were sent, so that
 * the first one times out next; and lost packets in the order of retransmission. Each change of
 * state is O(1).
 *
 * Two bitmaps have a bit for each slot: `done`, and `again` for packets whose first transmission
 * is known not to have arrived whole. They make a CONTROL's maps comparable with the scoreboard,
 * 64 packets at a time, so that a map costs as much as it has news.
 */
#ifndef _NDP_SCOREBOARD_H
#define _NDP_SCOREBOARD_H

#include "wire.h"

#define NDP_RING_MIN	64U	/* packets; as many as a word of the maps has bits */
#define NDP_RING_MAX	1024U	/* packets; receivers drop packets beyond */
#define NDP_RING_NONE	0xffffU	/* no slot */

struct ndp_snd_msg;

/**
 * enum ndp_pkt_state - state of a packet
 * @NDP_PKT_DONE: acknowledged or given up
 * @NDP_PKT_FLIGHT: sent, fate unknown
 * @NDP_PKT_LOST: to be retransmitted
 */
enum ndp_pkt_state {
	NDP_PKT_DONE,
	NDP_PKT_FLIGHT,
	NDP_PKT_LOST,
};

/**
 * struct ndp_snd_pkt - a packet
 * @msg: its message
 * @offset: its payload's offset in the message, bytes
 * @sent_ns: time of the last transmission
 * @len: bytes of payload
 * @next: slot of the next one in its list; NDP_RING_NONE at the end
 * @prev: slot of the previous one
 * @sibling: slot of the message's next packet; NDP_RING_NONE at the end
 * @state: enum ndp_pkt_state
 * @below: bands above its own
 * @postponed: @sent_ns is later than the last transmission
 * @reorder: lowest bit of the flow's @reorder at the last transmission
 * @path: path of the last transmission
 * @try_no: retransmissions, modulo 256
 * @timeouts: timeouts
 * @mark: for the glue
 */
struct ndp_snd_pkt {
	struct ndp_snd_msg *msg;
	u64 offset;
	u64 sent_ns;
	u16 len;
	u16 next;
	u16 prev;
	u16 sibling;
	u8 state : 2;
	u8 below : 4;
	u8 postponed : 1;
	u8 reorder : 1;
	u8 path;
	u8 try_no;
	u8 timeouts;
	u32 mark;
};

/**
 * struct ndp_pkt_list - a list of packets
 * @head: slot of the first one; NDP_RING_NONE: empty
 * @tail: slot of the last one
 * @count: number of packets
 */
struct ndp_pkt_list {
	u16 head;
	u16 tail;
	u16 count;
};

/**
 * struct ndp_scoreboard - packets of a flow
 * @pkt: ring; NULL: the flow is idle
 * @done: bitmap of slots
 * @again: bitmap of slots
 * @mask: slots less one
 * @base: the oldest packet that is not done, or @next
 * @next: seq of the next new packet
 * @flight: packets in flight, in the order of transmission
 * @lost: packets to be retransmitted, in that order
 */
struct ndp_scoreboard {
	struct ndp_snd_pkt *pkt;
	u64 *done;
	u64 *again;
	u32 mask;
	u32 base;
	u32 next;
	struct ndp_pkt_list flight;
	struct ndp_pkt_list lost;
};

/**
 * ndp_sb_bytes() - memory of a ring
 * @ring: packets; a power of two, NDP_RING_MIN..NDP_RING_MAX
 *
 * Return: bytes.
 */
static inline u32 ndp_sb_bytes(u32 ring)
{
	return ring * (u32)sizeof(struct ndp_snd_pkt) + 2 * (ring / 8);
}

/* New packets for which the ring has room */
static inline u32 ndp_sb_room(const struct ndp_scoreboard *sb)
{
	return sb->mask + 1 - (sb->next - sb->base);
}

/* Serial number of a packet in flight or lost */
static inline u32 ndp_sb_seq(const struct ndp_scoreboard *sb, u32 slot)
{
	return sb->base + ((slot - sb->base) & sb->mask);
}

static inline bool ndp_sb_is_empty(const struct ndp_scoreboard *sb)
{
	return sb->base == sb->next;
}

void ndp_sb_init(struct ndp_scoreboard *sb, u32 seq);
void ndp_sb_attach(struct ndp_scoreboard *sb, void *mem, u32 ring);
u64 ndp_sb_map(const struct ndp_scoreboard *sb, const u64 *map);
struct ndp_snd_pkt *ndp_sb_find(const struct ndp_scoreboard *sb, u32 seq);
struct ndp_snd_pkt *ndp_sb_add(struct ndp_scoreboard *sb);
void ndp_sb_done(struct ndp_scoreboard *sb, struct ndp_snd_pkt *pkt);
void ndp_sb_advance(struct ndp_scoreboard *sb);
void ndp_sb_lose(struct ndp_scoreboard *sb, struct ndp_snd_pkt *pkt, bool first);
struct ndp_snd_pkt *ndp_sb_resend(struct ndp_scoreboard *sb, u32 slot);
bool ndp_sb_covers(const struct ndp_scoreboard *sb, const struct ndp_ctl *ctl);
u64 ndp_sb_news(const struct ndp_scoreboard *sb, u32 ack_base, u64 map, u64 known);

#endif /* _NDP_SCOREBOARD_H */
