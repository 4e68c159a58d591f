/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A clock that is off and drifts, in plain C
 *
 * A port's clock counts the ticks of an oscillator that is a little too fast
 * or too slow (drift), and whose ticks a servo can make longer or shorter
 * (adj). True time is CLOCK_MONOTONIC_RAW, which nobody steps or slews:
 *
 *	rate = (1 + drift) * (1 + adj)
 *	t(raw) = base + (raw - base_raw) * rate
 *
 * rate is Q1.63, so that a stamp takes one multiplication and no division. A
 * new rate moves the base to the moment of the change. The base carries its
 * fraction of a nanosecond along: a servo may change the rate as often as it
 * likes, and no time is lost to rounding. The rate is rounded up, so that what
 * should be whole ns is: the clock is ahead by 1 ns in 50 years or so.
 *
 * Moments before the base go by the present rate and step, too. They are those
 * of frames that are stamped just after a change.
 */
#ifndef _CLOSWIRE_CLOCK_CORE_H
#define _CLOSWIRE_CLOCK_CORE_H

#include <closnet/core.h>
#include "closwire_options.h"

/* Fraction bits of the rate and of the base */
#define CLOSWIRE_CLOCK_SHIFT	63

#define CLOSWIRE_PPB		1000000000
/* 1 in adjfine's unit: 2^-16 ppm */
#define CLOSWIRE_SCALED_PPM	(1000000LL << 16)

/* What adjfine may ask for: 10%, as much as some NICs do */
#define CLOSWIRE_ADJ_MAX_PPB	100000000

/**
 * struct closwire_clock - a port's clock
 * @base_raw_ns: moment of the last change, CLOCK_MONOTONIC_RAW
 * @base_ns: what the clock showed then
 * @base_frac: the fraction of that, Q.63
 * @rate: how fast it runs, Q1.63
 * @scaled_ppm: the servo's part of the rate, in 2^-16 ppm
 * @drift_ppb: the oscillator's part of the rate
 */
struct closwire_clock {
	u64 base_raw_ns;
	u64 base_ns;
	u64 base_frac;
	u64 rate;
	s64 scaled_ppm;
	s32 drift_ppb;
};

/*
 * part / whole in Q1.63, rounded up, by long division; part < 2 * whole,
 * whole < 2^63
 */
static inline u64 closwire_clock_ratio(u64 part, u64 whole)
{
	u64 ratio = part >= whole;
	u64 rest = part - ratio * whole;
	u32 bit;

	for (bit = 0; bit < CLOSWIRE_CLOCK_SHIFT; bit++) {
		ratio <<= 1;
		rest <<= 1;
		if (rest >= whole) {
			rest -= whole;
			ratio++;
		}
	}
	return ratio + !!rest;
}

/* n * rate; its fraction is Q.63, too */
static inline u64 closwire_clock_mul(u64 n, u64 rate, u64 *frac)
{
	*frac = (n * rate) & (((u64)1 << CLOSWIRE_CLOCK_SHIFT) - 1);
	return mul_u64_u64_shr(n, rate, CLOSWIRE_CLOCK_SHIFT);
}

/**
 * closwire_clock_at() - what the clock shows at a moment
 * @clock: the clock
 * @raw_ns: the moment, CLOCK_MONOTONIC_RAW
 *
 * Return: its time, whole ns.
 */
static inline s64 closwire_clock_at(const struct closwire_clock *clock,
				    u64 raw_ns)
{
	s64 since_ns = raw_ns - clock->base_raw_ns;
	u64 ns, frac;

	if (likely(since_ns >= 0)) {
		ns = closwire_clock_mul(since_ns, clock->rate, &frac);
		frac += clock->base_frac;
		return clock->base_ns + ns + (frac >> CLOSWIRE_CLOCK_SHIFT);
	}
	ns = closwire_clock_mul(clock->base_raw_ns - raw_ns, clock->rate, &frac);
	return clock->base_ns - ns - (frac > clock->base_frac);
}

/**
 * closwire_clock_set() - set the time
 * @clock: the clock
 * @raw_ns: now, CLOCK_MONOTONIC_RAW
 * @ns: what it shall show
 */
static inline void closwire_clock_set(struct closwire_clock *clock, u64 raw_ns,
				      s64 ns)
{
	clock->base_raw_ns = raw_ns;
	clock->base_ns = ns;
	clock->base_frac = 0;
}

/**
 * closwire_clock_step() - put the clock forward
 * @clock: the clock
 * @ns: by how much; negative: back
 */
static inline void closwire_clock_step(struct closwire_clock *clock, s64 ns)
{
	clock->base_ns += ns;
}

/**
 * closwire_clock_set_rate() - set how fast it runs from now on
 * @clock: the clock
 * @raw_ns: now, CLOCK_MONOTONIC_RAW; not before the last change
 * @drift_ppb: the oscillator's part, more than -10^9, less than 10^9 with adj
 * @scaled_ppm: the servo's part, up to 65.536 times CLOSWIRE_ADJ_MAX_PPB
 */
static inline void closwire_clock_set_rate(struct closwire_clock *clock,
					   u64 raw_ns, s32 drift_ppb,
					   s64 scaled_ppm)
{
	u64 drift = closwire_clock_ratio(CLOSWIRE_PPB + drift_ppb,
					 CLOSWIRE_PPB);
	u64 adj = closwire_clock_ratio(CLOSWIRE_SCALED_PPM + scaled_ppm,
				       CLOSWIRE_SCALED_PPM);
	u64 frac;

	clock->base_ns += closwire_clock_mul(raw_ns - clock->base_raw_ns,
					     clock->rate, &frac);
	frac += clock->base_frac;
	clock->base_ns += frac >> CLOSWIRE_CLOCK_SHIFT;
	clock->base_frac = frac & (((u64)1 << CLOSWIRE_CLOCK_SHIFT) - 1);
	clock->base_raw_ns = raw_ns;

	clock->rate = closwire_clock_mul(drift, adj, &frac) + !!frac;
	clock->drift_ppb = drift_ppb;
	clock->scaled_ppm = scaled_ppm;
}

/**
 * closwire_clock_init() - start a clock that runs true
 * @clock: the clock
 * @raw_ns: now, CLOCK_MONOTONIC_RAW
 * @ns: what it shall show
 */
static inline void closwire_clock_init(struct closwire_clock *clock, u64 raw_ns,
				       s64 ns)
{
	clock->rate = (u64)1 << CLOSWIRE_CLOCK_SHIFT;
	clock->drift_ppb = 0;
	clock->scaled_ppm = 0;
	closwire_clock_set(clock, raw_ns, ns);
}

#endif /* _CLOSWIRE_CLOCK_CORE_H */
