/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP, sender: the packets of a flow that are not acknowledged yet
 *
 * The scoreboard of net/ndp/ndp_snd_flow.h, see there. Plain C, no kernel types. A packet
 * that is sent for the first time gets the next serial number (seq) and what it
 * carries; a retransmission carries the same. The packets stand in a ring, packet
 * seq in slot seq modulo its size:
 *
 *	        base                                 next     base + ring size
 *	+--------+------------------------------------+----------------+
 *	| done   | in flight, lost, done              | may be sent    |
 *	+--------+------------------------------------+----------------+
 *
 *	          sent                NACK, bounce, timeout
 *	(next) ---------> +--------+ ----------------------> +------+
 *	                  | FLIGHT |                         | LOST |
 *	                  +--------+ <---------------------- +------+
 *	                       |           sent again           |
 *	                       | ACK, cumulative or selective   |
 *	                       v                                |
 *	                  +--------+                            |
 *	                  |  DONE  | <--------------------------+
 *	                  +--------+
 *
 * Two lists run through the ring: packets in flight in the order in which they were
 * sent, of which the first is the one that times out next; and those lost in the
 * order in which they are to be sent again. A bounced one goes to its front: it
 * is the one that waited longest. Each change of state is O(1).
 *
 * Two maps have a bit for each slot: `done`, and `again`, of packets whose first
 * transmission is known not to have come whole. They make what the maps of a CONTROL
 * say comparable with what is known, 64 packets at once: only news is looked at, so
 * that a map costs as much as it has news.
 */
#ifndef _NDP_SND_BOARD_H
#define _NDP_SND_BOARD_H

#include "ndp_wire.h"

#define NDP_RING_MIN	64U	/* packets; as many as a word of the maps has bits */
#define NDP_RING_MAX	1024U	/* packets; the receiver takes none further from base */
#define NDP_RING_NONE	0xffffU	/* no slot */

struct ndp_snd_msg;

/**
 * enum ndp_pkt_state - what has become of a packet
 * @NDP_PKT_DONE: it is acknowledged or given up
 * @NDP_PKT_FLIGHT: it was sent, and nothing is known about it
 * @NDP_PKT_LOST: it is to be sent again
 */
enum ndp_pkt_state {
	NDP_PKT_DONE,
	NDP_PKT_FLIGHT,
	NDP_PKT_LOST,
};

/**
 * struct ndp_snd_pkt - a packet
 * @msg: whose part it is
 * @offset: of the part in the message, bytes
 * @sent_ns: when it was sent last
 * @len: bytes of the part
 * @next: slot of the one behind it in its list; NDP_RING_NONE: none
 * @prev: slot of the one before it
 * @sibling: slot of the message's next packet; NDP_RING_NONE: none yet
 * @state: enum ndp_pkt_state
 * @path: by which it was sent last
 * @try_no: how often it was sent before, modulo 256
 * @timeouts: how often it timed out
 * @mark: for whoever transmits it; the core does not look at it
 */
struct ndp_snd_pkt {
	struct ndp_snd_msg *msg;
	u64 offset;
	u64 sent_ns;
	u16 len;
	u16 next;
	u16 prev;
	u16 sibling;
	u8 state;
	u8 path;
	u8 try_no;
	u8 timeouts;
	u32 mark;
};

/**
 * struct ndp_pkt_list - a list of packets
 * @head: slot of the first, NDP_RING_NONE: none
 * @tail: slot of the last
 * @count: how many there are
 */
struct ndp_pkt_list {
	u16 head;
	u16 tail;
	u16 count;
};

/**
 * struct ndp_board - a flow's scoreboard
 * @pkt: the ring; NULL: the flow has none, as it is idle
 * @done: a bit for each slot
 * @again: a bit for each slot
 * @mask: slots less one
 * @base: the oldest packet that is not done; @next if all are
 * @next: seq of the next new packet
 * @flight: packets in flight, in the order of sending
 * @lost: packets to be sent again, in that order
 */
struct ndp_board {
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
 * ndp_board_bytes() - memory that a ring takes
 * @ring: packets; a power of two, NDP_RING_MIN..NDP_RING_MAX
 *
 * Return: bytes.
 */
static inline u32 ndp_board_bytes(u32 ring)
{
	return ring * (u32)sizeof(struct ndp_snd_pkt) + 2 * (ring / 8);
}

/**
 * ndp_board_init() - an empty scoreboard without a ring
 * @b: scoreboard
 * @seq: of the first packet
 */
static inline void ndp_board_init(struct ndp_board *b, u32 seq)
{
	*b = (struct ndp_board) {
		.base = seq, .next = seq,
		.flight = { .head = NDP_RING_NONE, .tail = NDP_RING_NONE },
		.lost = { .head = NDP_RING_NONE, .tail = NDP_RING_NONE },
	};
}

/**
 * ndp_board_attach() - give an empty scoreboard its ring
 * @b: scoreboard
 * @mem: ndp_board_bytes() of zeros
 * @ring: packets
 */
static inline void ndp_board_attach(struct ndp_board *b, void *mem, u32 ring)
{
	b->pkt = mem;
	b->done = (u64 *)(b->pkt + ring);
	b->again = b->done + ring / 64;
	b->mask = ring - 1;
}

/* ---- maps ---- */

static inline bool ndp_map_has(const u64 *map, u32 slot)
{
	return map[slot >> 6] >> (slot & 63) & 1;
}

static inline void ndp_map_set(u64 *map, u32 slot)
{
	map[slot >> 6] |= 1ULL << (slot & 63);
}

static inline void ndp_map_clear(u64 *map, u32 slot)
{
	map[slot >> 6] &= ~(1ULL << (slot & 63));
}

/**
 * ndp_board_map() - the bits of 64 packets from base on
 * @b: scoreboard
 * @map: which of its maps
 *
 * Return: bit i: of packet base + i; 0 if that was not sent.
 */
static inline u64 ndp_board_map(const struct ndp_board *b, const u64 *map)
{
	u32 slot = b->base & b->mask, shift = slot & 63;
	u64 bits = map[slot >> 6] >> shift;

	if (shift)
		bits |= map[((slot + 64) & b->mask) >> 6] << (64 - shift);
	return bits;
}

/* ---- lists ---- */

static inline void ndp_pkt_add(struct ndp_board *b, struct ndp_pkt_list *list, u32 slot)
{
	b->pkt[slot].next = NDP_RING_NONE;
	b->pkt[slot].prev = list->tail;
	if (list->tail == NDP_RING_NONE)
		list->head = (u16)slot;
	else
		b->pkt[list->tail].next = (u16)slot;
	list->tail = (u16)slot;
	list->count++;
}

static inline void ndp_pkt_add_front(struct ndp_board *b, struct ndp_pkt_list *list,
				     u32 slot)
{
	b->pkt[slot].next = list->head;
	b->pkt[slot].prev = NDP_RING_NONE;
	if (list->head == NDP_RING_NONE)
		list->tail = (u16)slot;
	else
		b->pkt[list->head].prev = (u16)slot;
	list->head = (u16)slot;
	list->count++;
}

static inline void ndp_pkt_del(struct ndp_board *b, struct ndp_pkt_list *list, u32 slot)
{
	const struct ndp_snd_pkt *pkt = &b->pkt[slot];

	if (pkt->prev == NDP_RING_NONE)
		list->head = pkt->next;
	else
		b->pkt[pkt->prev].next = pkt->next;
	if (pkt->next == NDP_RING_NONE)
		list->tail = pkt->prev;
	else
		b->pkt[pkt->next].prev = pkt->prev;
	list->count--;
}

/* ---- packets ---- */

/**
 * ndp_board_room() - new packets for which there is room
 * @b: scoreboard, with a ring
 *
 * Return: how many.
 */
static inline u32 ndp_board_room(const struct ndp_board *b)
{
	return b->mask + 1 - (b->next - b->base);
}

/**
 * ndp_board_seq() - which packet stands in a slot
 * @b: scoreboard
 * @slot: of a packet that is in flight or lost
 *
 * Return: its seq.
 */
static inline u32 ndp_board_seq(const struct ndp_board *b, u32 slot)
{
	return b->base + ((slot - b->base) & b->mask);
}

/**
 * ndp_board_find() - find a packet
 * @b: scoreboard
 * @seq: of the packet
 *
 * Return: it; NULL if it is done, or was never sent.
 */
static inline struct ndp_snd_pkt *ndp_board_find(const struct ndp_board *b, u32 seq)
{
	if (seq - b->base >= b->next - b->base || ndp_map_has(b->done, seq & b->mask))
		return NULL;
	return &b->pkt[seq & b->mask];
}

/**
 * ndp_board_add() - a new packet is in flight
 * @b: scoreboard, with room
 *
 * Return: it, what it carries is not set yet; its seq is what @next was.
 */
static inline struct ndp_snd_pkt *ndp_board_add(struct ndp_board *b)
{
	u32 slot = b->next++ & b->mask;

	b->pkt[slot] = (struct ndp_snd_pkt) {
		.state = NDP_PKT_FLIGHT, .sibling = NDP_RING_NONE,
	};
	ndp_pkt_add(b, &b->flight, slot);
	return &b->pkt[slot];
}

static inline struct ndp_pkt_list *ndp_board_list(struct ndp_board *b,
						  const struct ndp_snd_pkt *pkt)
{
	return pkt->state == NDP_PKT_FLIGHT ? &b->flight : &b->lost;
}

/**
 * ndp_board_done() - a packet is acknowledged or given up
 * @b: scoreboard; ndp_board_advance() has to follow
 * @pkt: the packet; in flight or lost
 */
static inline void ndp_board_done(struct ndp_board *b, struct ndp_snd_pkt *pkt)
{
	u32 slot = (u32)(pkt - b->pkt);

	ndp_pkt_del(b, ndp_board_list(b, pkt), slot);
	pkt->state = NDP_PKT_DONE;
	ndp_map_set(b->done, slot);
}

/**
 * ndp_board_advance() - base moves on to the first packet that is not done
 * @b: scoreboard
 */
static inline void ndp_board_advance(struct ndp_board *b)
{
	while (b->base != b->next && ndp_map_has(b->done, b->base & b->mask)) {
		ndp_map_clear(b->done, b->base & b->mask);
		ndp_map_clear(b->again, b->base & b->mask);
		b->base++;
	}
}

/**
 * ndp_board_lose() - a packet has to be sent again
 * @b: scoreboard
 * @pkt: the packet; in flight
 * @first: before all others
 */
static inline void ndp_board_lose(struct ndp_board *b, struct ndp_snd_pkt *pkt, bool first)
{
	u32 slot = (u32)(pkt - b->pkt);

	ndp_pkt_del(b, &b->flight, slot);
	pkt->state = NDP_PKT_LOST;
	ndp_map_set(b->again, slot);
	if (first)
		ndp_pkt_add_front(b, &b->lost, slot);
	else
		ndp_pkt_add(b, &b->lost, slot);
}

/**
 * ndp_board_resend() - a lost packet is in flight again
 * @b: scoreboard
 * @slot: of the packet
 *
 * Return: it.
 */
static inline struct ndp_snd_pkt *ndp_board_resend(struct ndp_board *b, u32 slot)
{
	struct ndp_snd_pkt *pkt = &b->pkt[slot];

	ndp_pkt_del(b, &b->lost, slot);
	pkt->state = NDP_PKT_FLIGHT;
	pkt->try_no++;
	ndp_pkt_add(b, &b->flight, slot);
	return pkt;
}

/* ---- what a CONTROL says ---- */

/**
 * ndp_board_covers() - can what a CONTROL says be true?
 * @b: scoreboard
 * @ctl: what it says
 *
 * Return: false if it speaks of packets that were never sent.
 */
static inline bool ndp_board_covers(const struct ndp_board *b, const struct ndp_ctl *ctl)
{
	u32 sent = b->next - ctl->ack_base;

	if (ndp_before(b->next, ctl->ack_base))
		return false;
	return sent >= NDP_MAP_BITS || !((ctl->sack | ctl->nack) >> sent);
}

/**
 * ndp_board_news() - what of a CONTROL's map was not known
 * @b: scoreboard; it covers the CONTROL, and its base is not before @ack_base
 * @ack_base: of the CONTROL
 * @map: of the CONTROL: bit i is about packet @ack_base + i
 * @known: bit i: it is known of packet base + i
 *
 * Return: bit i: news about packet base + i.
 */
static inline u64 ndp_board_news(const struct ndp_board *b, u32 ack_base, u64 map,
				 u64 known)
{
	u32 behind = b->base - ack_base;

	return behind < NDP_MAP_BITS ? map >> behind & ~known : 0;
}

#endif /* _NDP_SND_BOARD_H */
