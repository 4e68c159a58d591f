/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of flow sizes in a sliding window of periods, and their quartiles
 *
 * The thresholds are the quartiles of the distribution of flow sizes, weighted
 * by flows (K. Wu et al., "PCRP", ICPP 2019: the CDF in equal parts). A class of
 * the histogram covers a factor of two in size; sizes are assumed to be
 * uniformly distributed within a class.
 */
#ifndef _PCRPD_HISTOGRAM_H
#define _PCRPD_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/pcrp.h>

#define PCRP_THRESHOLD_MAX	(1ULL << 40)	/* the kernel's limit */

/* Least number of flows for quartiles */
#define SAMPLES_MIN	64

/*
 * Limit of a class's count in a period. The sum of all classes and periods, times
 * three, stays below 2^63.
 */
#define COUNT_MAX	(1ULL << 46)

#define PERIODS_MAX	1024

/**
 * thresholds_of() - compute the largest flow sizes with P0, P1 and P2
 * @sizes: flows by class, in total below 2^62
 * @thresholds: result: strictly ascending, 1 to PCRP_THRESHOLD_MAX
 *
 * With fewer than SAMPLES_MIN flows, sizes are not distinguished: all flows of more
 * than one byte have P1. If the first and the third quartile are in the same class,
 * the class is not divided, because the distribution inside of it is unknown:
 * smaller flows have P0, flows of the class P1, larger flows P3.
 *
 * Return: number of flows
 */
uint64_t thresholds_of(const uint64_t sizes[PCRP_SIZE_CLASSES],
		       uint64_t thresholds[PCRP_THRESHOLDS]);

/**
 * struct window - flows of the last periods
 * @periods: number of periods, the current one included
 * @age: periods that have ended since the start, limited to @periods
 * @at: index of the current period
 * @counts: flows by period and class
 * @sum: flows of all periods, by class
 */
struct window {
	unsigned int periods;
	unsigned int age;
	unsigned int at;
	uint64_t (*counts)[PCRP_SIZE_CLASSES];
	uint64_t sum[PCRP_SIZE_CLASSES];
};

/**
 * window_init() - make an empty window
 * @w: window
 * @periods: 1 to PERIODS_MAX
 *
 * Return: false if out of memory
 */
bool window_init(struct window *w, unsigned int periods);

void window_free(struct window *w);

/* Add ended flows to the current period; a count stops at COUNT_MAX. */
void window_add(struct window *w, const uint64_t sizes[PCRP_SIZE_CLASSES]);

/**
 * window_turn() - advance the window
 * @w: window
 * @turns: number of periods that have ended
 */
void window_turn(struct window *w, uint64_t turns);

/**
 * window_thresholds() - compute thresholds_of() all flows in the window
 * @w: window
 * @thresholds: result, see thresholds_of()
 * @flows: result: number of flows
 *
 * Return: false if there are fewer than SAMPLES_MIN flows and the window is not
 * full yet
 */
bool window_thresholds(const struct window *w, uint64_t thresholds[PCRP_THRESHOLDS],
		       uint64_t *flows);

#endif /* _PCRPD_HISTOGRAM_H */
