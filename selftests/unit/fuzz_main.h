/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzz target without libFuzzer: main(), and inputs that are the same in each run
 *
 *	TARGET			its own inputs; says whether they reach everything
 *	TARGET FILE...		inputs from files, as libFuzzer leaves them
 *	TARGET --seeds DIR	write some inputs for libFuzzer to start from
 */
#ifndef _CLOSNET_UNIT_FUZZ_MAIN_H
#define _CLOSNET_UNIT_FUZZ_MAIN_H

#include <stddef.h>
#include <stdio.h>

#include "rng.h"

/**
 * struct fuzz_target - what a target's own inputs are
 * @seed: of @rng
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
 * fuzz_show() - print counts
 * @name: what they count
 * @n: counts
 * @count: how many
 * @least: what each has to be
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
