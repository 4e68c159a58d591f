/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distributions of flow sizes, as points of the cumulative distribution
 *
 * A file has lines "BYTES PROBABILITY", both ascending, the last probability 1,
 * and comments after #. Between two points the size is linear in the
 * probability, as in the generators of HPCC (custom_rand.py), ConWeave and
 * pFabric. A first probability P above 0 means: with probability P, a flow has
 * exactly the first size.
 */
#ifndef _TRAFFIC_CDF_H
#define _TRAFFIC_CDF_H

#include <stdio.h>

#include "rng.h"
#include "util.h"

struct cdf_point {
	double bytes;
	double probability;
};

struct cdf {
	struct cdf_point *points;
	unsigned int count;
};

/**
 * cdf_read() - read a distribution
 * @in: the file
 * @name: name of the file, for messages
 * @cdf: result, to be freed by cdf_free()
 * @e: message with file and line, if false is returned
 */
bool cdf_read(FILE *in, const char *name, struct cdf *cdf, struct error *e);

void cdf_free(struct cdf *cdf);

/* Return: the size that a share @probability of the flows does not exceed, in bytes, at least 1 */
uint64_t cdf_quantile(const struct cdf *cdf, double probability);

/* Mean size, in bytes */
double cdf_mean(const struct cdf *cdf);

#endif /* _TRAFFIC_CDF_H */
