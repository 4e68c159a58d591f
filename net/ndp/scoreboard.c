// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP sender: scoreboard of a flow; the structure is described in scoreboard.h
 */
#include "scoreboard.h"

/* ---- bitmaps ---- */

static bool ndp_sb_bit(const u64 *map, u32 slot)
{
	return map[slot >> 6] >> (slot & 63) & 1;
}

static void ndp_sb_set_bit(u64 *map, u32 slot)
{
	map[slot >> 6] |= 1ULL << (slot & 63);
}

static void ndp_sb_clear_bit(u64 *map, u32 slot)
{
	map[slot >> 6] &= ~(1ULL << (slot & 63));
}

/**
 * ndp_sb_map() - get the bits of 64 packets from base on
 * @sb: scoreboard
 * @map: one of its bitmaps
 *
 * Return: bit i is packet base + i's; 0 if it was not sent.
 */
u64 ndp_sb_map(const struct ndp_scoreboard *sb, const u64 *map)
{
	u32 slot = sb->base & sb->mask, shift = slot & 63;
	u64 bits = map[slot >> 6] >> shift;

	if (shift)
		bits |= map[((slot + 64) & sb->mask) >> 6] << (64 - shift);
	return bits;
}

/* ---- lists ---- */

static void ndp_pkt_add(struct ndp_scoreboard *sb, struct ndp_pkt_list *list, u32 slot)
{
	sb->pkt[slot].next = NDP_RING_NONE;
	sb->pkt[slot].prev = list->tail;
	if (list->tail == NDP_RING_NONE)
		list->head = (u16)slot;
	else
		sb->pkt[list->tail].next = (u16)slot;
	list->tail = (u16)slot;
	list->count++;
}

static void ndp_pkt_add_first(struct ndp_scoreboard *sb, struct ndp_pkt_list *list, u32 slot)
{
	sb->pkt[slot].next = list->head;
	sb->pkt[slot].prev = NDP_RING_NONE;
	if (list->head == NDP_RING_NONE)
		list->tail = (u16)slot;
	else
		sb->pkt[list->head].prev = (u16)slot;
	list->head = (u16)slot;
	list->count++;
}

static void ndp_pkt_del(struct ndp_scoreboard *sb, struct ndp_pkt_list *list, u32 slot)
{
	const struct ndp_snd_pkt *pkt = &sb->pkt[slot];

	if (pkt->prev == NDP_RING_NONE)
		list->head = pkt->next;
	else
		sb->pkt[pkt->prev].next = pkt->next;
	if (pkt->next == NDP_RING_NONE)
		list->tail = pkt->prev;
	else
		sb->pkt[pkt->next].prev = pkt->prev;
	list->count--;
}

static struct ndp_pkt_list *ndp_sb_list(struct ndp_scoreboard *sb, const struct ndp_snd_pkt *pkt)
{
	return pkt->state == NDP_PKT_FLIGHT ? &sb->flight : &sb->lost;
}

static u32 ndp_sb_slot(const struct ndp_scoreboard *sb, const struct ndp_snd_pkt *pkt)
{
	return (u32)(pkt - sb->pkt);
}

/* ---- packets ---- */

/**
 * ndp_sb_init() - initialize an empty scoreboard without a ring
 * @sb: scoreboard
 * @seq: the first packet's
 */
void ndp_sb_init(struct ndp_scoreboard *sb, u32 seq)
{
	*sb = (struct ndp_scoreboard) {
		.base = seq, .next = seq,
		.flight = { .head = NDP_RING_NONE, .tail = NDP_RING_NONE },
		.lost = { .head = NDP_RING_NONE, .tail = NDP_RING_NONE },
	};
}

/**
 * ndp_sb_attach() - give an empty scoreboard a ring
 * @sb: scoreboard
 * @mem: ndp_sb_bytes() of zeros
 * @ring: packets
 */
void ndp_sb_attach(struct ndp_scoreboard *sb, void *mem, u32 ring)
{
	sb->pkt = mem;
	sb->done = (u64 *)(sb->pkt + ring);
	sb->again = sb->done + ring / 64;
	sb->mask = ring - 1;
}

/**
 * ndp_sb_find() - find a packet
 * @sb: scoreboard
 * @seq: its serial number
 *
 * Return: the packet; NULL: done, or never sent.
 */
struct ndp_snd_pkt *ndp_sb_find(const struct ndp_scoreboard *sb, u32 seq)
{
	if (seq - sb->base >= sb->next - sb->base || ndp_sb_bit(sb->done, seq & sb->mask))
		return NULL;
	return &sb->pkt[seq & sb->mask];
}

/**
 * ndp_sb_add() - add a new packet in flight
 * @sb: scoreboard with room
 *
 * Return: the packet, without contents; its seq is the former @next.
 */
struct ndp_snd_pkt *ndp_sb_add(struct ndp_scoreboard *sb)
{
	u32 slot = sb->next++ & sb->mask;

	sb->pkt[slot] = (struct ndp_snd_pkt) {
		.state = NDP_PKT_FLIGHT, .sibling = NDP_RING_NONE,
	};
	ndp_pkt_add(sb, &sb->flight, slot);
	return &sb->pkt[slot];
}

/**
 * ndp_sb_done() - a packet is acknowledged or given up
 * @sb: scoreboard; ndp_sb_advance() has to follow
 * @pkt: packet in flight or lost
 */
void ndp_sb_done(struct ndp_scoreboard *sb, struct ndp_snd_pkt *pkt)
{
	u32 slot = ndp_sb_slot(sb, pkt);

	ndp_pkt_del(sb, ndp_sb_list(sb, pkt), slot);
	pkt->state = NDP_PKT_DONE;
	ndp_sb_set_bit(sb->done, slot);
}

/**
 * ndp_sb_advance() - move base to the first packet that is not done
 * @sb: scoreboard
 */
void ndp_sb_advance(struct ndp_scoreboard *sb)
{
	while (!ndp_sb_is_empty(sb) && ndp_sb_bit(sb->done, sb->base & sb->mask)) {
		ndp_sb_clear_bit(sb->done, sb->base & sb->mask);
		ndp_sb_clear_bit(sb->again, sb->base & sb->mask);
		sb->base++;
	}
}

/**
 * ndp_sb_lose() - a packet has to be retransmitted
 * @sb: scoreboard
 * @pkt: packet in flight
 * @first: before all other lost packets
 */
void ndp_sb_lose(struct ndp_scoreboard *sb, struct ndp_snd_pkt *pkt, bool first)
{
	u32 slot = ndp_sb_slot(sb, pkt);

	ndp_pkt_del(sb, &sb->flight, slot);
	pkt->state = NDP_PKT_LOST;
	ndp_sb_set_bit(sb->again, slot);
	if (first)
		ndp_pkt_add_first(sb, &sb->lost, slot);
	else
		ndp_pkt_add(sb, &sb->lost, slot);
}

/**
 * ndp_sb_resend() - a lost packet is in flight again
 * @sb: scoreboard
 * @slot: slot of the packet
 *
 * Return: the packet.
 */
struct ndp_snd_pkt *ndp_sb_resend(struct ndp_scoreboard *sb, u32 slot)
{
	struct ndp_snd_pkt *pkt = &sb->pkt[slot];

	ndp_pkt_del(sb, &sb->lost, slot);
	pkt->state = NDP_PKT_FLIGHT;
	pkt->try_no++;
	ndp_pkt_add(sb, &sb->flight, slot);
	return pkt;
}

/* ---- CONTROL ---- */

/**
 * ndp_sb_covers() - can the statements of a CONTROL be true?
 * @sb: scoreboard
 * @ctl: statements
 *
 * Return: false if they are about packets that were never sent, or more than a window old.
 */
bool ndp_sb_covers(const struct ndp_scoreboard *sb, const struct ndp_ctl *ctl)
{
	u32 sent = sb->next - ctl->ack_base;

	if (sent > 2 * NDP_RING_MAX)
		return false;
	return sent >= NDP_MAP_BITS || !((ctl->sack | ctl->nack) >> sent);
}

/**
 * ndp_sb_news() - get the news of a CONTROL's map
 * @sb: scoreboard; it covers the CONTROL, and its base is not before @ack_base
 * @ack_base: the CONTROL's
 * @map: the CONTROL's; bit i: packet @ack_base + i
 * @known: bit i: known about packet base + i
 *
 * Return: bit i: news about packet base + i.
 */
u64 ndp_sb_news(const struct ndp_scoreboard *sb, u32 ack_base, u64 map, u64 known)
{
	u32 behind = sb->base - ack_base;

	return behind < NDP_MAP_BITS ? map >> behind & ~known : 0;
}
