// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a User-Mode Linux kernel in virtual time: replaces the host's
 * randomness by a seeded generator. The kernel takes its first key from
 * getrandom() (os_getrandom() in arch/um); see patches/10-random-seed.patch.
 *
 * Environment: CLOSNET_SEED, a number.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* SplitMix64 (Steele, Lea, Flood: OOPSLA 2014) */
static uint64_t next(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t z;

	if (!seeded) {
		const char *seed = getenv("CLOSNET_SEED");

		if (!seed)
			abort();
		state = strtoull(seed, NULL, 0);
		seeded = 1;
	}
	state += 0x9e3779b97f4a7c15ULL;
	z = state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	size_t done, n;
	uint64_t word;

	(void)flags;
	for (done = 0; done < length; done += n) {
		word = next();
		n = length - done < sizeof(word) ? length - done : sizeof(word);
		memcpy((char *)buffer + done, &word, n);
	}
	return length;
}
