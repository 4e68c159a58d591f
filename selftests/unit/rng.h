/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pseudo-random numbers that are the same on every machine, in every run
 *
 * That holds with each compiler only if no two are drawn in the arguments of
 * one call: C does not say which is drawn first.
 *
 * xorshift64*: G. Marsaglia, "Xorshift RNGs", 2003; multiplier by S. Vigna.
 */
#ifndef _CLOSNET_UNIT_RNG_H
#define _CLOSNET_UNIT_RNG_H

#include <closnet/core.h>

struct rng {
	u64 state;
};

/**
 * rng_seed() - start a sequence
 * @rng: generator
 * @seed: any number; neighbours give unrelated sequences
 */
static inline void rng_seed(struct rng *rng, u64 seed)
{
	rng->state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	if (!rng->state)
		rng->state = 1;
}

/**
 * rng_u32() - 32 random bits
 * @rng: generator
 */
static inline u32 rng_u32(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return (rng->state * 0x2545f4914f6cdd1dULL) >> 32;
}

/**
 * rng_in() - a number of a range
 * @rng: generator
 * @low: least
 * @high: greatest, at least @low, not both 0 and UINT32_MAX
 */
static inline u32 rng_in(struct rng *rng, u32 low, u32 high)
{
	return low + rng_u32(rng) % (high - low + 1);
}

/**
 * rng_percent() - true in some of a hundred cases
 * @rng: generator
 * @percent: 0..100
 */
static inline bool rng_percent(struct rng *rng, u32 percent)
{
	return rng_u32(rng) % 100 < percent;
}

/**
 * rng_log() - a number of a range, each power of two as likely as the others
 * @rng: generator
 * @low: least, not 0
 * @high: greatest
 */
static inline u64 rng_log(struct rng *rng, u64 low, u64 high)
{
	unsigned int bits = 1, shift;
	u64 n;

	while (high >> bits)
		bits++;
	do {
		shift = rng_in(rng, 0, bits - 1);
		n = (u64)rng_u32(rng) << 32;
		n = (n | rng_u32(rng) | 1ULL << 63) >> shift >> (64 - bits);
	} while (n < low || n > high);
	return n;
}

#endif /* _CLOSNET_UNIT_RNG_H */
