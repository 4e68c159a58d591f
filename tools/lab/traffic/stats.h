/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _TRAFFIC_STATS_H
#define _TRAFFIC_STATS_H

#include <stddef.h>

struct summary {
	double mean;
	double p50;
	double p99;
	double max;
};

/**
 * summarize() - mean, percentiles and greatest of some values
 * @values: at least one; they come out sorted
 * @count: of the values
 */
struct summary summarize(double *values, size_t count);

/**
 * percentile() - by nearest rank: the least value that P percent do not exceed
 * @sorted: values, in ascending order
 * @count: at least one
 * @percent: more than 0, at most 100
 */
double percentile(const double *sorted, size_t count, double percent);

/* Jain's index of fairness: 1 if all are equal, 1/count if one has all. */
double jain(const double *values, size_t count);

#endif /* _TRAFFIC_STATS_H */
