/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closwire: interface of the histogram of delays in closwire_delay.c
 */
#ifndef _CLOSWIRE_DELAY_H
#define _CLOSWIRE_DELAY_H

#include <closnet/core.h>

/* Buckets per octave, and in total: any u64 has a bucket */
#define CLOSWIRE_DELAY_PARTS	16
#define CLOSWIRE_DELAY_BUCKETS	(61 * CLOSWIRE_DELAY_PARTS)

/* Format of struct closwire_delays, as of struct ethtool_dump.version */
#define CLOSWIRE_DELAY_VERSION	1

/**
 * struct closwire_delays - histogram of delays; data of ethtool --get-dump
 * @min_ns: smallest delay; U64_MAX if there is none
 * @max_ns: largest delay
 * @frames: number of delays in each bucket
 */
struct closwire_delays {
	u64 min_ns;
	u64 max_ns;
	u64 frames[CLOSWIRE_DELAY_BUCKETS];
};

void closwire_delay_init(struct closwire_delays *delays);
u32 closwire_delay_bucket(u64 ns);
void closwire_delay_add(struct closwire_delays *delays, u64 ns);

#endif /* _CLOSWIRE_DELAY_H */
