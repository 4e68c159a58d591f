// SPDX-License-Identifier: GPL-2.0-only
/*
 * closwire: log-linear histogram of delays
 *
 * Delays below CLOSWIRE_DELAY_PARTS ns have a bucket each. Above, an octave has
 * CLOSWIRE_DELAY_PARTS buckets of equal width, so a bucket is at most 1/16 wide,
 * relative to its delays:
 *
 *	bucket	0	1	...	15	16	17	...	32	33
 *	from	0	1	...	15	16	17	...	32	34	ns
 */
#include "closwire_delay.h"

#define CLOSWIRE_DELAY_SHIFT	4	/* ilog2(CLOSWIRE_DELAY_PARTS) */

/**
 * closwire_delay_init() - initialise a histogram
 * @delays: zeroed histogram
 */
void closwire_delay_init(struct closwire_delays *delays)
{
	delays->min_ns = U64_MAX;
}

/**
 * closwire_delay_bucket() - find the bucket of a delay
 * @ns: delay
 *
 * Return: index of the bucket.
 */
u32 closwire_delay_bucket(u64 ns)
{
	u32 octave;

	if (ns < CLOSWIRE_DELAY_PARTS)
		return ns;
	octave = fls64(ns) - 1 - CLOSWIRE_DELAY_SHIFT;
	return octave * CLOSWIRE_DELAY_PARTS + (u32)(ns >> octave);
}

/**
 * closwire_delay_add() - add a delay
 * @delays: histogram; has one writer at a time, and readers without a lock
 * @ns: delay
 */
void closwire_delay_add(struct closwire_delays *delays, u64 ns)
{
	u64 *frames = &delays->frames[closwire_delay_bucket(ns)];

	WRITE_ONCE(*frames, *frames + 1);
	if (ns < delays->min_ns)
		WRITE_ONCE(delays->min_ns, ns);
	if (ns > delays->max_ns)
		WRITE_ONCE(delays->max_ns, ns);
}
