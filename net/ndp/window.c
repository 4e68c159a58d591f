// SPDX-License-Identifier: GPL-2.0-only
/*
 * NDP receiver: windows of numbers that arrived; described in window.h
 */
#include "window.h"

/**
 * ndp_bits_clear_many() - clear several bits, a word at a time, each at most once
 * @bits: a bit for each of NDP_RCV_WINDOW numbers
 * @n: the first number
 * @count: their number
 */
void ndp_bits_clear_many(u64 *bits, u32 n, u32 count)
{
	u32 step;

	for (count = min_t(u32, count, NDP_RCV_WINDOW); count; count -= step, n += step) {
		step = min_t(u32, count, 64 - n % 64);
		bits[ndp_word(n)] &= ~((~0ULL >> (64 - step)) << (n % 64));
	}
}

/**
 * ndp_bits_map() - get 64 bits
 * @bits: a bit for each of NDP_RCV_WINDOW numbers
 * @n: the first number
 *
 * Return: bit i is number @n + i's.
 */
u64 ndp_bits_map(const u64 *bits, u32 n)
{
	u64 low = bits[ndp_word(n)] >> (n % 64);

	if (!(n % 64))
		return low;
	return low | bits[ndp_word(n + 64)] << (64 - n % 64);
}

/* Move base over the numbers that arrived, by whole words where possible. */
static void ndp_window_slide(struct ndp_window *w)
{
	while (ndp_bits_has(w->bits, w->base)) {
		if (!(w->base % 64) && !~w->bits[ndp_word(w->base)]) {
			w->bits[ndp_word(w->base)] = 0;
			w->base += 64;
		} else {
			ndp_bits_clear(w->bits, w->base);
			w->base++;
		}
	}
}

/**
 * ndp_window_add() - a number arrived
 * @w: window
 * @n: number that fits and had not arrived
 */
void ndp_window_add(struct ndp_window *w, u32 n)
{
	ndp_bits_set(w->bits, n);
	ndp_window_slide(w);
}

/**
 * ndp_window_add_many() - numbers arrived, of which none was there
 * @w: window
 * @n: the first one; all fit
 * @count: their number
 */
void ndp_window_add_many(struct ndp_window *w, u32 n, u32 count)
{
	if (n == w->base) {
		/* their bits are clear */
		w->base += count;
		ndp_window_slide(w);
		return;
	}
	while (count--)
		ndp_window_add(w, n++);
}

/**
 * ndp_window_skip() - numbers before a base are waited for no longer
 * @w: window
 * @bits: another bitmap of the same numbers
 * @base: new base, after the present one
 */
void ndp_window_skip(struct ndp_window *w, u64 *bits, u32 base)
{
	ndp_bits_clear_many(w->bits, w->base, base - w->base);
	ndp_bits_clear_many(bits, w->base, base - w->base);
	w->base = base;
	ndp_window_slide(w);
}
