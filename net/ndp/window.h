/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NDP receiver: windows of numbers that arrived
 *
 * Packets from ack_base on, parts of a message from the first missing one, ids of messages. A
 * number modulo 2^32 has its bit at its place modulo NDP_RCV_WINDOW, so nothing moves when the
 * window does.
 */
#ifndef _NDP_WINDOW_H
#define _NDP_WINDOW_H

#include "wire.h"

/* Numbers in a window; a power of 2 */
#define NDP_RCV_WINDOW		1024U
#define NDP_RCV_WORDS		(NDP_RCV_WINDOW / 64)

/**
 * struct ndp_window - numbers that arrived
 * @base: the first one that did not, modulo 2^32
 * @bits: a bit for each of NDP_RCV_WINDOW numbers from @base on
 */
struct ndp_window {
	u32 base;
	u64 bits[NDP_RCV_WORDS];
};

static inline u64 ndp_bit(u32 n)
{
	return 1ULL << (n % 64);
}

static inline u32 ndp_word(u32 n)
{
	return n / 64 % NDP_RCV_WORDS;
}

/**
 * ndp_bits_has() - get a bit
 * @bits: a bit for each of NDP_RCV_WINDOW numbers
 * @n: number
 *
 * Return: true if it is set.
 */
static inline bool ndp_bits_has(const u64 *bits, u32 n)
{
	return bits[ndp_word(n)] & ndp_bit(n);
}

/**
 * ndp_bits_set() - set a bit
 * @bits: a bit for each of NDP_RCV_WINDOW numbers
 * @n: number
 */
static inline void ndp_bits_set(u64 *bits, u32 n)
{
	bits[ndp_word(n)] |= ndp_bit(n);
}

/**
 * ndp_bits_clear() - clear a bit
 * @bits: a bit for each of NDP_RCV_WINDOW numbers
 * @n: number
 */
static inline void ndp_bits_clear(u64 *bits, u32 n)
{
	bits[ndp_word(n)] &= ~ndp_bit(n);
}

/**
 * ndp_window_fits() - check that a number is not after the window
 * @w: window
 * @n: number
 *
 * Return: true if so.
 */
static inline bool ndp_window_fits(const struct ndp_window *w, u32 n)
{
	return (s32)(n - w->base) < (s32)NDP_RCV_WINDOW;
}

/**
 * ndp_window_has() - check whether a number arrived
 * @w: window
 * @n: number that fits
 *
 * Return: true if so.
 */
static inline bool ndp_window_has(const struct ndp_window *w, u32 n)
{
	return ndp_before(n, w->base) || ndp_bits_has(w->bits, n);
}

void ndp_window_add(struct ndp_window *w, u32 n);
void ndp_window_add_many(struct ndp_window *w, u32 n, u32 count);
void ndp_window_skip(struct ndp_window *w, u64 *bits, u32 base);
u64 ndp_bits_map(const u64 *bits, u32 n);
void ndp_bits_clear_many(u64 *bits, u32 n, u32 count);

#endif /* _NDP_WINDOW_H */
