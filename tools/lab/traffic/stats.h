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
 * summarize() - mean, percentiles and maximum
 * @values: values, sorted by this function
 * @count: number of values, at least 1
 */
struct summary summarize(double *values, size_t count);

/**
 * percentile() - percentile by nearest rank
 * @sorted: values in ascending order
 * @count: number of values, at least 1
 * @percent: above 0, up to 100
 *
 * Return: the least value that @percent of the values does not exceed
 */
double percentile(const double *sorted, size_t count, double percent);

/* Jain's fairness index: 1 if all values are equal, 1/count if one has everything */
double jain(const double *values, size_t count);

#endif /* _TRAFFIC_STATS_H */
