/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: interface of the drifting clock in closwire_clock.c
 */
#ifndef _CLOSWIRE_CLOCK_H
#define _CLOSWIRE_CLOCK_H

#include <closnet/core.h>
#include "closwire_options.h"

/* Fraction bits of the rate and of the base */
#define CLOSWIRE_CLOCK_SHIFT	63

#define CLOSWIRE_PPB		1000000000
/* 1 in units of adjfine, 2^-16 ppm */
#define CLOSWIRE_SCALED_PPM	(1000000LL << 16)

/* Range of adjfine: 10 %, as in some NICs */
#define CLOSWIRE_ADJ_MAX_PPB	100000000

/**
 * struct closwire_clock - clock of a port
 * @base_raw_ns: time of the last change, CLOCK_MONOTONIC_RAW
 * @base_ns: time of this clock at @base_raw_ns
 * @base_frac: fraction of @base_ns, Q.63
 * @rate: rate of the clock, Q1.63
 * @scaled_ppm: rate adjustment by the servo, 2^-16 ppm
 * @drift_ppb: drift of the oscillator
 */
struct closwire_clock {
	u64 base_raw_ns;
	u64 base_ns;
	u64 base_frac;
	u64 rate;
	s64 scaled_ppm;
	s32 drift_ppb;
};

s64 closwire_clock_at(const struct closwire_clock *clock, u64 raw_ns);
void closwire_clock_set(struct closwire_clock *clock, u64 raw_ns, s64 ns);
void closwire_clock_step(struct closwire_clock *clock, s64 ns);
void closwire_clock_set_rate(struct closwire_clock *clock, u64 raw_ns, s32 drift_ppb,
			     s64 scaled_ppm);
void closwire_clock_init(struct closwire_clock *clock, u64 raw_ns, s64 ns);

#endif /* _CLOSWIRE_CLOCK_H */
