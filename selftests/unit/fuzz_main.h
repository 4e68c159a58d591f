/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzz target without libFuzzer: main(), and inputs that are the same in each run
 *
 *	TARGET			its own inputs; checks that they reach everything
 *	TARGET FILE...		inputs from files, as libFuzzer leaves them
 *	TARGET --seeds DIR	write some inputs for libFuzzer to start from
 */
#ifndef _CLOSNET_UNIT_FUZZ_MAIN_H
#define _CLOSNET_UNIT_FUZZ_MAIN_H

#include <stddef.h>
#include <stdio.h>

#include "rng.h"

/**
 * struct fuzz_target - the own inputs of a target
 * @seed: seed of @rng
 * @rng: its random numbers
 * @inputs: how many to run
 * @seeds: how many to write for libFuzzer
 * @input_max: longest input, bytes
 * @make: writes an input, returns its length
 * @mutate: NULL, or makes something wrong in what @make wrote, returns its length;
 *	seeds stay as they are
 * @reached: prints how often the target came by where, returns whether that is
 *	enough everywhere
 */
struct fuzz_target {
	u64 seed;
	struct rng *rng;
	u32 inputs;
	u32 seeds;
	size_t input_max;
	size_t (*make)(u8 *input);
	size_t (*mutate)(u8 *input, size_t size);
	bool (*reached)(void);
};

/* Each target defines these two. */
extern const struct fuzz_target fuzz_target;
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/**
 * fuzz_mutate_bytes() - replace some bytes by random ones, for struct fuzz_target's @mutate
 * @rng: random numbers
 * @input: input
 * @size: its length, above 0
 *
 * Return: its length.
 */
static inline size_t fuzz_mutate_bytes(struct rng *rng, u8 *input, size_t size)
{
	u32 i, count = rng_in(rng, 1, 4);

	for (i = 0; i < count; i++)
		input[rng_u32(rng) % size] = (u8)rng_u32(rng);
	return size;
}

/**
 * fuzz_show() - print counts
 * @name: their name
 * @n: counts
 * @count: how many
 * @least: least value of each
 *
 * Return: are they?
 */
static inline bool fuzz_show(const char *name, const unsigned long *n, int count,
			     unsigned long least)
{
	bool all = true;
	int i;

	printf("# %s", name);
	for (i = 0; i < count; i++) {
		printf(" %lu", n[i]);
		all = all && n[i] >= least;
	}
	printf("\n");
	return all;
}

#endif /* _CLOSNET_UNIT_FUZZ_MAIN_H */
