/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of flow sizes: those of the last periods, and the thresholds that
 * come of them
 *
 * The thresholds are the quartiles of the sizes' distribution, counted in flows
 * (K. Wu et al., "PCRP", ICPP 2019: the CDF in equal parts). A class of the
 * histogram holds sizes of a factor of two; inside of it, sizes are taken to be
 * spread evenly.
 */
#ifndef _PCRPD_HISTOGRAM_H
#define _PCRPD_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

#define PCRP_THRESHOLD_MAX	(1ULL << 40)	/* the kernel takes no larger one */

/* Fewer flows say nothing about quartiles. */
#define SAMPLES_MIN	64

/*
 * The most that a class counts in a period, so that the sum of all classes and
 * periods, times three, is below 2^63.
 */
#define COUNT_MAX	(1ULL << 46)

#define PERIODS_MAX	1024

/**
 * thresholds_of() - sizes up to which flows have P0, P1 and P2
 * @sizes: flows by class, together less than 2^62
 * @thresholds: strictly ascending, 1 to PCRP_THRESHOLD_MAX
 *
 * If there are fewer than SAMPLES_MIN flows, nothing is to be told apart: all have
 * P1, but for those of one byte. If the first and the third quartile are in the same
 * class, it is not cut in parts, of which nobody knows anything: flows before it have
 * P0, those in it P1, and larger ones P3, but for its end.
 *
 * Return: number of flows
 */
uint64_t thresholds_of(const uint64_t sizes[PCRP_SIZE_CLASSES],
		       uint64_t thresholds[PCRP_THRESHOLDS]);

/**
 * struct window - flows of the last periods
 * @periods: number of them, the current one included
 * @age: periods that have ended since the start, up to @periods
 * @at: the current one
 * @counts: of each
 * @sum: of all
 */
struct window {
	unsigned int periods;
	unsigned int age;
	unsigned int at;
	uint64_t (*counts)[PCRP_SIZE_CLASSES];
	uint64_t sum[PCRP_SIZE_CLASSES];
};

/**
 * window_init() - start with no flows
 * @w: window
 * @periods: 1 to PERIODS_MAX
 *
 * Return: false if there is no memory
 */
bool window_init(struct window *w, unsigned int periods);

void window_free(struct window *w);

/* Flows that ended; those above COUNT_MAX in a class and period are left out. */
void window_add(struct window *w, const uint64_t sizes[PCRP_SIZE_CLASSES]);

/**
 * window_turn() - some periods are over
 * @w: window
 * @turns: their number
 */
void window_turn(struct window *w, uint64_t turns);

/**
 * window_thresholds() - thresholds_of() all flows in the window
 * @w: window
 * @thresholds: see there
 * @flows: their number
 *
 * Return: false if it is too early to tell: few flows, but a window has not yet
 * gone by since the start
 */
bool window_thresholds(const struct window *w, uint64_t thresholds[PCRP_THRESHOLDS],
		       uint64_t *flows);

#endif /* _PCRPD_HISTOGRAM_H */
