// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double percentile(const double *sorted, size_t count, double percent)
{
	size_t rank = (size_t)ceil(percent * (double)count / 100);

	return sorted[rank ? rank - 1 : 0];
}

struct summary summarize(double *values, size_t count)
{
	struct summary s = { };
	size_t i;

	qsort(values, count, sizeof(*values), by_value);
	for (i = 0; i < count; i++)
		s.mean += values[i];
	s.mean /= (double)count;
	s.p50 = percentile(values, count, 50);
	s.p99 = percentile(values, count, 99);
	s.max = values[count - 1];
	return s;
}

double jain(const double *values, size_t count)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	return squares > 0 ? sum * sum / ((double)count * squares) : 1;
}
