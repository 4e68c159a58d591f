// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: a clock with an offset and a drift
 *
 * The clock of a port counts the ticks of an oscillator with a rate error (drift). A
 * servo can change the length of a tick (adj). True time is CLOCK_MONOTONIC_RAW, which
 * is neither stepped nor slewed:
 *
 *	rate = (1 + drift) * (1 + adj)
 *	t(raw) = base + (raw - base_raw) * rate
 *
 * rate is Q1.63: a timestamp takes a multiplication and no division. A change of the
 * rate moves the base to the time of the change. The base includes its fraction of a
 * nanosecond, so that frequent changes lose no time by rounding. The rate is rounded
 * up, to keep exact ns exact: the clock gains about 1 ns in 50 years.
 *
 * Times before the base follow the present rate and step as well. They occur for
 * frames whose timestamp is taken just after a change.
 */
#include "closwire_clock.h"

/* part / whole, Q1.63, rounded up, by long division; part < 2 * whole, whole < 2^63 */
static u64 closwire_clock_ratio(u64 part, u64 whole)
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

/* n * rate, with a fraction in Q.63 */
static u64 closwire_clock_mul(u64 n, u64 rate, u64 *frac)
{
	*frac = (n * rate) & (((u64)1 << CLOSWIRE_CLOCK_SHIFT) - 1);
	return mul_u64_u64_shr(n, rate, CLOSWIRE_CLOCK_SHIFT);
}

/**
 * closwire_clock_at() - read the clock at a given time
 * @clock: clock
 * @raw_ns: time, CLOCK_MONOTONIC_RAW
 *
 * Return: time of the clock, whole ns.
 */
s64 closwire_clock_at(const struct closwire_clock *clock, u64 raw_ns)
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
 * closwire_clock_set() - set the clock
 * @clock: clock
 * @raw_ns: present CLOCK_MONOTONIC_RAW
 * @ns: new time of the clock
 */
void closwire_clock_set(struct closwire_clock *clock, u64 raw_ns, s64 ns)
{
	clock->base_raw_ns = raw_ns;
	clock->base_ns = ns;
	clock->base_frac = 0;
}

/**
 * closwire_clock_step() - step the clock
 * @clock: clock
 * @ns: step, may be negative
 */
void closwire_clock_step(struct closwire_clock *clock, s64 ns)
{
	clock->base_ns += ns;
}

/**
 * closwire_clock_set_rate() - set the rate from now on
 * @clock: clock
 * @raw_ns: present CLOCK_MONOTONIC_RAW; not before the last change
 * @drift_ppb: drift of the oscillator, above -10^9; with adj, below 10^9
 * @scaled_ppm: rate adjustment by the servo, at most 65.536 times CLOSWIRE_ADJ_MAX_PPB
 */
void closwire_clock_set_rate(struct closwire_clock *clock,
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
 * closwire_clock_init() - initialise a clock without drift
 * @clock: clock
 * @raw_ns: present CLOCK_MONOTONIC_RAW
 * @ns: time of the clock
 */
void closwire_clock_init(struct closwire_clock *clock, u64 raw_ns, s64 ns)
{
	clock->rate = (u64)1 << CLOSWIRE_CLOCK_SHIFT;
	clock->drift_ppb = 0;
	clock->scaled_ppm = 0;
	closwire_clock_set(clock, raw_ns, ns);
}
