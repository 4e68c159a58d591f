/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reproducible pseudo-random numbers
 *
 * xoshiro256**: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number
 * Generators", 2021; seeded by SplitMix64, as they recommend.
 */
#ifndef _TRAFFIC_RNG_H
#define _TRAFFIC_RNG_H

#include <math.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

static inline uint64_t rng_splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * rng_seed() - initialize a generator
 * @rng: generator
 * @seed: seed of the run
 * @stream: selects one of 2^64 sequences of that seed
 */
static inline void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed;
	int i;

	x = rng_splitmix(&x) ^ stream;
	for (i = 0; i < 4; i++)
		rng->s[i] = rng_splitmix(&x);
}

static inline uint64_t rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t rng_u64(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rng_rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotl(s[3], 45);
	return result;
}

/* Return: 0 to n - 1, uniformly distributed */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	uint64_t odd_lot = -n % n, r;

	do {
		r = rng_u64(rng);
	} while (r < odd_lot);
	return r % n;
}

/* Return: uniformly distributed in [0, 1) */
static inline double rng_unit(struct rng *rng)
{
	return (double)(rng_u64(rng) >> 11) / (1ULL << 53);
}

/**
 * rng_log() - natural logarithm
 * @x: positive and finite
 *
 * The C library's result depends on the library and on the host's processor. This one has the same
 * bits everywhere: x is m * 2^e, and log(m) is 2 * atanh((m - 1) / (m + 1)), whose series has an
 * error below 2^-56 after 12 terms.
 *
 * Return: logarithm of @x
 */
static inline double rng_log(double x)
{
	double s, square, sum = 0;
	int e, k;

	x = frexp(x, &e);
	if (x < 0.70710678118654752) {
		x *= 2;
		e--;
	}
	s = (x - 1) / (x + 1);
	square = s * s;
	for (k = 23; k > 0; k -= 2)
		sum = sum * square + 1.0 / k;
	return 2 * s * sum + e * 0.69314718055994531;
}

/* Return: exponentially distributed, as the gaps of a Poisson process */
static inline double rng_exponential(struct rng *rng, double mean)
{
	return -mean * rng_log(1 - rng_unit(rng));
}

#endif /* _TRAFFIC_RNG_H */
